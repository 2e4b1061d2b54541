// Unsigned subscripts of shared memory that wrap around: shared memory has addresses of 32 bits, so that `~i` and
// `i - 2` lead to elements before the pointer once it is known to be shared, and `pointer - i` to elements behind it
// where `i` is a negative number read as unsigned. Barriers between such accesses stay.
//
// expect: 4 launches -> 1
#include <cstdio>

const unsigned N = 64, BLOCKS = 8;

__global__ void reverse(unsigned *out, const unsigned *in) {
    __shared__ unsigned tile[2 * N];
    unsigned *half = tile + N;
    half[~threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = tile[threadIdx.x];
}

__global__ void shift(unsigned *out, const unsigned *in) {
    __shared__ unsigned tile[N + 2];
    tile[threadIdx.x + 2] = in[blockIdx.x * N + threadIdx.x];
    if (threadIdx.x < 2) tile[threadIdx.x] = 7;
    __syncthreads();
    unsigned *inner = tile + 2;
    out[blockIdx.x * N + threadIdx.x] = inner[threadIdx.x - 2];
}

// The same with a pointer that is one of two, and dynamic shared memory.
__global__ void either(unsigned *out, const unsigned *in) {
    extern __shared__ unsigned rows[];
    rows[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
    rows[N + threadIdx.x] = ~rows[threadIdx.x];
    __syncthreads();
    const unsigned *row = threadIdx.x % 2 ? rows + N : rows + 2 * N;
    out[blockIdx.x * N + threadIdx.x] = row[-threadIdx.x - 1];
}

// A pointer less an unsigned number that was negative.
__global__ void onward(unsigned *out, const unsigned *in) {
    __shared__ unsigned tile[N];
    tile[N - 1 - threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    const unsigned *middle = tile + N / 2;
    unsigned back = N / 2 - threadIdx.x;
    out[blockIdx.x * N + threadIdx.x] = *(middle - back);
}

int main() {
    unsigned in[N * BLOCKS], reversed[N * BLOCKS], shifted[N * BLOCKS], out[N * BLOCKS],
        moved[N * BLOCKS];
    for (unsigned i = 0; i < N * BLOCKS; i++) in[i] = i * i % 1009;
    unsigned *a, *b, *c, *d, *e;
    cudaMalloc(&a, sizeof in);
    cudaMalloc(&b, sizeof in);
    cudaMalloc(&c, sizeof in);
    cudaMalloc(&d, sizeof in);
    cudaMalloc(&e, sizeof in);
    cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice);
    reverse<<<BLOCKS, N>>>(b, a);
    shift<<<BLOCKS, N>>>(c, b);
    either<<<BLOCKS, N, 2 * N * sizeof(unsigned)>>>(d, c);
    onward<<<BLOCKS, N>>>(e, d);
    cudaMemcpy(reversed, b, sizeof in, cudaMemcpyDeviceToHost);
    cudaMemcpy(shifted, c, sizeof in, cudaMemcpyDeviceToHost);
    cudaMemcpy(out, d, sizeof in, cudaMemcpyDeviceToHost);
    cudaMemcpy(moved, e, sizeof in, cudaMemcpyDeviceToHost);
    unsigned wrong = 0;
    for (unsigned block = 0; block < BLOCKS; block++) {
        const unsigned *from = in + block * N, *r = reversed + block * N, *s = shifted + block * N, *o = out + block * N;
        for (unsigned t = 0; t < N; t++) {
            wrong += r[t] != from[N - 1 - t];
            wrong += s[t] != (t < 2 ? 7 : r[t - 2]);
            wrong += o[t] != (t % 2 ? s[N - 1 - t] : ~s[N - 1 - t]);
            wrong += moved[block * N + t] != o[N - 1 - t];
        }
    }
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
