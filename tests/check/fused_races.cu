// Threads that hand each other shared memory in kernels that fuse: with a barrier, and, as an argument says, with none,
// over a block or within a warp. Comments at ends of lines name the places that messages have.
#include <cstdio>
#include <cstring>

static const int threads = 64;

__global__ void twice(const int *in, int *out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

__global__ void turn(const int *in, int *out) {
    __shared__ int turned[threads];
    turned[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = turned[threads - 1 - threadIdx.x];
}

__global__ void turn_without(const int *in, int *out) {
    __shared__ int turned[threads];
    turned[threadIdx.x] = in[threadIdx.x]; // turned
    out[threadIdx.x] = turned[threads - 1 - threadIdx.x]; // turned read
}

__global__ void swap_pairs(const int *in, int *out) {
    __shared__ int pairs[threads];
    pairs[threadIdx.x] = in[threadIdx.x]; // pair
    out[threadIdx.x] = pairs[threadIdx.x ^ 1]; // pair read
}

int main(int argc, char **argv) {
    const char *race = argc > 1 ? argv[1] : "";
    int *in, *doubled, *out, host[threads], wrong = 0;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&doubled, sizeof host);
    cudaMalloc(&out, sizeof host);
    for (int i = 0; i < threads; i++) host[i] = i;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    if (strcmp(race, "block") == 0) {
        twice<<<1, threads>>>(in, doubled);
        turn_without<<<1, threads>>>(doubled, out);
    } else if (strcmp(race, "warp") == 0) {
        twice<<<1, threads>>>(in, doubled);
        swap_pairs<<<1, threads>>>(doubled, out);
    } else {
        twice<<<1, threads>>>(in, doubled);
        turn<<<1, threads>>>(doubled, out);
    }
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < threads; i++) wrong += host[i] != 2 * (threads - 1 - i);
    printf(wrong ? "FAIL\n" : "PASS\n");
}
