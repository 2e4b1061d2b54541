// What `SIRIUS_CHECK` finds, one fault for each argument; without one everything is right.
#include <cstdio>
#include <cstring>

__global__ void read_at(float *out, const float *in, int at) {
    out[threadIdx.x] = in[threadIdx.x + at]; // global read
}

__global__ void write_at(float *out, int at) {
    out[(int)threadIdx.x + at] = 1; // global write
}

__global__ void turn(float *out, const float *in, int written) {
    __shared__ float tile[32];
    if (threadIdx.x < written) tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x]; // shared read
}

__global__ void turn_at_once(float *out, const float *in) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x]; // shared write
    out[threadIdx.x] = tile[63 - threadIdx.x]; // racing read
}

__global__ void exchange(float *out, const float *in) {
    __shared__ volatile float tile[32];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    float other = tile[31 - threadIdx.x];
    __syncwarp();
    tile[threadIdx.x] = other;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

// The same in inline PTX: four bytes, a pair of values, a copy that runs asynchronously.
__global__ void write_by_assembly(float *out, int at) {
    asm volatile("st.global.f32 [%0], %1;" ::"l"(out + (int)threadIdx.x + at), "f"(1.0f) : "memory"); // PTX write
}

__global__ void read_by_assembly(float *out, const float *in, int at) {
    float low, high;
    asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(low), "=f"(high) : "l"(in + 2 * threadIdx.x + at)); // PTX read
    out[threadIdx.x] = low + high;
}

__global__ void copy_by_assembly(float *out, const float *in, int at, int waits) {
    __shared__ float tile[32];
    unsigned place = __cvta_generic_to_shared(tile + threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place), "l"(in + threadIdx.x + at) : "memory"); // PTX copy
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (waits) __syncthreads();
    float value;
    unsigned other = __cvta_generic_to_shared(tile + 31 - threadIdx.x);
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(other) : "memory"); // PTX shared read
    out[threadIdx.x] = value;
}

__global__ void count(int *counter) { atomicAdd(counter, 1); }

// What a fused kernel is after its barrier was deleted, and with blocks that another launch ordered.
__device__ void twice(float *out, const float *in, int i) {
    out[i] = 2 * in[i]; // first segment
}

__device__ void shifted(float *out, const float *in, int i, int by, int n) {
    out[i] = in[(i + by) % n]; // second segment
}

__global__ void sirius_fused_0_twice_shifted(float *out, float *between, const float *in, int by, int waits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    twice(between, in, i);
    if (waits) __syncthreads();
    shifted(out, between, i, by, gridDim.x * blockDim.x);
}

// Threads that all set one flag need no order, unless one of them sets it to something else.
__global__ void set_flag(int *flag, int odd) {
    __shared__ int found;
    found = 1;
    *flag = 5 + (threadIdx.x == odd); // set once more
    __syncthreads();
    if (!found) *flag = 0;
}

#include <thread>

// Blocks of two host threads run at the same time, each with shared memory of its own.
static void turn_often(const float *in) {
    float *own;
    cudaStream_t stream;
    cudaMalloc(&own, 32 * sizeof(float));
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int round = 0; round < 800; ++round) turn<<<4, 32, 0, stream>>>(own, in, 32);
    cudaStreamSynchronize(stream);
    cudaFree(own);
}

int main(int argc, char **argv) {
    const char *fault = argc > 1 ? argv[1] : "";
    auto is = [&](const char *name) { return strcmp(fault, name) == 0; };
    float host[100];
    for (int i = 0; i < 100; ++i) host[i] = (float)i;
    float *in, *out;
    int *counter;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&counter, 2 * sizeof(int));
    cudaMemset(counter, 0, 2 * sizeof(int));
    if (!is("unwritten")) cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    if (is("copied")) {
        float *fresh;
        cudaMalloc(&fresh, sizeof host);
        cudaMemcpy(in, fresh, sizeof host, cudaMemcpyDeviceToDevice);
    }
    if (is("freed")) cudaFree(in);
    read_at<<<1, 32>>>(out, in, is("bounds") ? 69 : 0);
    write_at<<<1, 32>>>(out, is("write") ? -1 : 0);
    turn<<<1, 32>>>(out, in, is("shared") ? 31 : 32);
    if (is("race")) turn_at_once<<<1, 64>>>(out, in);
    exchange<<<1, 32>>>(out, in);
    write_by_assembly<<<1, 32>>>(out, is("assembly_write") ? 69 : 0);
    read_by_assembly<<<1, 32>>>(out, in, is("assembly_read") ? 38 : 0);
    copy_by_assembly<<<1, 32>>>(out, in, is("assembly_copy") ? -100 : 0, !is("assembly_race"));
    if (is("assembly_unwritten")) {
        float *fresh;
        cudaMalloc(&fresh, sizeof host);
        read_by_assembly<<<1, 32>>>(out, fresh, 0);
    }
    set_flag<<<4, 32>>>(counter + 1, is("flag") ? 31 : 32);
    count<<<4, 32>>>(counter);
    cudaDeviceSynchronize();
    if (!*fault) {
        std::thread other(turn_often, in);
        turn_often(in);
        other.join();
    }
    bool blocks = is("blocks"), deleted = is("deleted");
    sirius_fused_0_twice_shifted<<<blocks ? 2 : 1, 32>>>(out, in + 36, in, blocks ? 32 : 1, !deleted);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("PASS\n");
}
