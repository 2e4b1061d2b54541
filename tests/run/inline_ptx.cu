// Inline PTX that the models read: cache hints, half-precision blocks, shared addresses and
// asynchronous copies, which a fused kernel waits for before the next member overwrites their source.
//
// expect: 6 launches -> 1
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void twice(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value;
    asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i));
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
    // Shifts by more places than there are.
    unsigned places = threadIdx.x % 40, right, left;
    int sign;
    asm("shr.b32 %0, %1, %2;" : "=r"(right) : "r"(pair), "r"(places));
    asm("shl.b32 %0, %1, %2;" : "=r"(left) : "r"(pair), "r"(places));
    asm("shr.s32 %0, %1, %2;" : "=r"(sign) : "r"(~pair), "r"(places));
    bool shifted = places < 32 ? right == pair >> places && left == pair << places && sign == (int)~pair >> places
                               : right == 0 && left == 0 && sign == -1;
    // Masks of so many bits from a place on.
    unsigned clamped, wrapped;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(clamped) : "r"(places), "r"(threadIdx.x / 3));
    asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(wrapped) : "r"(places), "r"(threadIdx.x / 3));
    unsigned wide = threadIdx.x / 3;
    unsigned bits = wide >= 32 ? 0xffffffffu : (1u << wide) - 1, few = (1u << wide % 32) - 1;
    shifted = shifted && clamped == (places < 32 ? bits << places : 0) && wrapped == few << places % 32;
    out[2 * i] = shifted ? sums : 0;
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

// Sums over the rest of the warp, as device libraries write them, of floats, integers and doubles.
__global__ void warp_sums(const float *w, float *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = w[i];
    unsigned count = 1;
    double wide = w[i];
    for (int offset = 1; offset < 32; offset *= 2) {
        asm volatile("{ .reg .f32 r0; .reg .pred p; shfl.sync.down.b32 r0|p, %1, %2, %3, %5; @p add.f32 r0, r0, %4; mov.f32 %0, r0; }"
                     : "=f"(sum) : "f"(sum), "r"(offset), "r"(31), "f"(sum), "r"(0xffffffff));
        asm volatile("{ .reg .u32 r0; .reg .pred p; shfl.down.sync.b32 r0|p, %1, %2, %3, %5; @!p mov.u32 r0, 0; add.u32 %0, r0, %4; }"
                     : "=r"(count) : "r"(count), "r"(offset), "r"(31), "r"(count), "r"(0xffffffff));
        asm volatile("{ .reg .u32 lo; .reg .u32 hi; .reg .pred p; .reg .f64 r0; mov.b64 %0, %1; mov.b64 {lo, hi}, %1;"
                     " shfl.sync.down.b32 lo|p, lo, %2, %3, %4; shfl.sync.down.b32 hi|p, hi, %2, %3, %4;"
                     " mov.b64 r0, {lo, hi}; @p add.f64 %0, %0, r0; }"
                     : "=d"(wide) : "d"(wide), "r"(offset), "r"(31), "r"(0xffffffff));
    }
    sums[i] = (float)(wide - sum) + count;
}

int main()
{
    constexpr int blocks = 3, threads = 128, count = blocks * threads;
    std::vector<float> x(count), y(count), z(count), w(count);
    std::vector<unsigned> pairs(count, 0x40003c00u), out(2 * count);
    for (int i = 0; i < count; i++) x[i] = 0.5f * i;
    float *dx, *dy, *dz, *dw, *dsums;
    unsigned *din, *dout;
    cudaMalloc(&dx, count * sizeof(float));
    cudaMalloc(&dy, count * sizeof(float));
    cudaMalloc(&dz, count * sizeof(float));
    cudaMalloc(&dw, count * sizeof(float));
    cudaMalloc(&dsums, count * sizeof(float));
    cudaMalloc(&din, count * sizeof(unsigned));
    cudaMalloc(&dout, 2 * count * sizeof(unsigned));
    cudaMemcpy(dx, x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(din, pairs.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice);
    twice<<<blocks, threads>>>(dx, dy);
    reversed<<<blocks, threads>>>(dy, dz);
    overwrite<<<blocks, threads>>>(dy, dz);
    halves<<<blocks, threads>>>(din, dout);
    hidden<<<blocks, threads>>>(dy, dw);
    warp_sums<<<blocks, threads>>>(dw, dsums);
    cudaMemcpy(y.data(), dy, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(z.data(), dz, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(w.data(), dw, count * sizeof(float), cudaMemcpyDeviceToHost);
    std::vector<float> sums(count);
    cudaMemcpy(sums.data(), dsums, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(out.data(), dout, 2 * count * sizeof(unsigned), cudaMemcpyDeviceToHost);
    bool good = true;
    for (int i = 0; i < count; i++) {
        float wanted = 4.0f * x[i / threads * threads + threads - 1 - i % threads];
        good = good && z[i] == wanted && y[i] == wanted - 1.0f && w[i] == y[i];
        good = good && sums[i] == 32 - i % 32;
        good = good && out[2 * i] == 0x42004200u && out[2 * i + 1] == 0xbc004000u;
    }
    std::printf("%s\n", good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
