// Inline PTX that the models read: cache hints, half-precision blocks, shared addresses and
// asynchronous copies, which a fused kernel waits for before the next member overwrites their source.
//
// expect: 5 launches -> 3
// expect-missed: not_similar runs_alone
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void twice(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value;
    asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(value) : "l"(x + i) : "memory");
    asm volatile("st.global.cg.f32 [%0], %1;" ::"l"(y + i), "f"(value + value) : "memory");
}

__global__ void reversed(const float *y, float *z)
{
    __shared__ float staged[128];
    unsigned to = (unsigned)__cvta_generic_to_shared(staged + threadIdx.x);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(y + i) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    float value, next;
    unsigned from = (unsigned)__cvta_generic_to_shared(staged + 127 - threadIdx.x);
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
    asm volatile("{ .reg .u32 base; mov.u32 base, %1; ld.shared.f32 %0, [base+0]; }" : "=f"(next) : "r"(from) : "memory");
    z[i] = value + next;
}

__global__ void overwrite(float *y, const float *z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = z[i] - 1.0f;
}

// The sum of a pair of halves, twice, and the halves exchanged.
__global__ void halves(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned pair = in[i], sums, other;
    asm("{.reg .f16 low,high,sum; mov.b32 {low,high}, %1; add.f16 sum, low, high; mov.b32 %0, {sum,sum};}"
        : "=r"(sums) : "r"(pair));
    asm("{.reg .b16 low,high; mov.b32 {low,high}, %1; xor.b16 low, low, 0x8000; mov.b32 %0, {high,low};}"
        : "=r"(other) : "r"(pair));
    out[2 * i] = sums;
    out[2 * i + 1] = other;
}

// Which of two paths the load takes is hidden from the compiler.
__global__ void hidden(const float *y, float *w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value;
    asm("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(y + i));
    w[i] = value;
}

int main()
{
    constexpr int blocks = 3, threads = 128, count = blocks * threads;
    std::vector<float> x(count), y(count), z(count), w(count);
    std::vector<unsigned> pairs(count, 0x40003c00u), out(2 * count);
    for (int i = 0; i < count; i++) x[i] = 0.5f * i;
    float *dx, *dy, *dz, *dw;
    unsigned *din, *dout;
    cudaMalloc(&dx, count * sizeof(float));
    cudaMalloc(&dy, count * sizeof(float));
    cudaMalloc(&dz, count * sizeof(float));
    cudaMalloc(&dw, count * sizeof(float));
    cudaMalloc(&din, count * sizeof(unsigned));
    cudaMalloc(&dout, 2 * count * sizeof(unsigned));
    cudaMemcpy(dx, x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(din, pairs.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice);
    twice<<<blocks, threads>>>(dx, dy);
    reversed<<<blocks, threads>>>(dy, dz);
    overwrite<<<blocks, threads>>>(dy, dz);
    halves<<<blocks, threads>>>(din, dout);
    hidden<<<blocks, threads>>>(dy, dw);
    cudaMemcpy(y.data(), dy, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(z.data(), dz, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(w.data(), dw, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(out.data(), dout, 2 * count * sizeof(unsigned), cudaMemcpyDeviceToHost);
    bool good = true;
    for (int i = 0; i < count; i++) {
        float wanted = 4.0f * x[i / threads * threads + threads - 1 - i % threads];
        good = good && z[i] == wanted && y[i] == wanted - 1.0f && w[i] == y[i];
        good = good && out[2 * i] == 0x42004200u && out[2 * i + 1] == 0xbc004000u;
    }
    std::printf("%s\n", good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
