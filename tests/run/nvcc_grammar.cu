// What nvcc takes and clang does not, each as nvcc reads it.
//
// expect: 9 launches -> 4
#include <cstdio>
#include <cstring>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#if !__CUDACC__
#error the compiler of CUDA is no number
#endif

#if __CUDA_API_VER_MAJOR__ < 12
#error the runtime has no version
#endif

// A name that clang knows and g++ does not.
static unsigned long long inline __rdtsc() { return 5; }

// Headers for what reads sources in editors declare these again.
extern const dim3 blockDim;
extern const uint3 threadIdx;

// Never a constant, which g++ and nvcc find out when one is asked for.
__device__ constexpr int bits() {
    const short two[] = {1, 0};
    return *reinterpret_cast<const int *>(two);
}

#define WORD "of"
static const char *const words = "two"WORD"them";

// Member templates of what is known later, without `template`.
template <class To, class From> struct converted {
    template <int count> __device__ static void all(To *to, const From *from) {
        for (int i = 0; i < count; i++) to[i] = static_cast<To>(from[i]) + count;
    }
    template <class Other> using pointer = Other *;
    using result = To;
    template <int more> __device__ static To one(From from) { return static_cast<To>(from) + more; }
};
template <int count, class To, class From> __device__ void convert(To *to, const From *from) {
    using Pointer = typename converted<To, From>::pointer<const From>;
    Pointer source = from;
    converted<To, From>::all<count>(to, source);
    to[count] = converted<To, From>::one<count>(from[count]);
    to[count] = converted<To, From>::result(!!from[count]) - 1 + to[count];
}
__global__ void conversions(float *to, const int *from) { convert<3>(to, from + bits() - 1); }

#pragma unroll
// Pragmas for loops where no loop follows, several before one, and macros that become one.
#define UNROLL #pragma unroll
#define NOT_UNROLLED # pragma nounroll
__global__ void pragmas(float *x, int n) {
    constexpr int twice = 2;
    #pragma unroll
    float sum = 0;
    #pragma unroll 4
    #pragma unroll
    for (int i = 0; i < n; i++) sum += x[i];
    #pragma unroll twice + 1
    for (int i = 0; i < n; i++) {
        sum += x[i];
        #pragma unroll
    }
    UNROLL
    for (int i = 0; i < 2; i++) sum += x[i] - x[i + 2];
    [&] {
        NOT_UNROLLED
        for (int i = 0; i < 2; i++) sum += x[i + 2] - x[i];
    }();
    x[n] = sum;
    #pragma unroll
}

// Packed zeros.
__global__ void zeros(float *x) {
    __half2 half = __floats2half2_rn(3.0f, 4.0f);
    half = {};
    __nv_bfloat162 other = __floats2bfloat162_rn(3.0f, 4.0f);
    other = {};
    x[0] = __low2float(half) + __high2float(other);
}

// Numbers in braces that may not fit.
__global__ void narrow(int n, double wide, float *x) {
    float numbers[] = {wide, 1.0};
    unsigned counts[] = {n, threadIdx.x};
    x[0] = numbers[0] + counts[0];
}

// Operands without commas between them.
__device__ int sums(int *place, int a, int b) {
    int sum, difference;
    asm volatile("{ add.s32 %0, %2, %3; sub.s32 %1, %2, %3; }" : "=r"(sum) "=r"(difference) : "r"(a), "r"(b) : "memory");
    asm volatile("st.global.s32 [%1], %0;" ::"r"(difference) "l"(place)
                 : "memory");
    return sum;
}

// Shared variables with constructors, which do not run.
struct Complex {
    float real, imaginary;
    __host__ __device__ Complex(float real = 0, float imaginary = 0) : real(real), imaginary(imaginary) {}
};
template <class Number> __global__ void turned(Number *numbers) {
    __shared__ Number tile[8][4], first;
    static __shared__ cuda::barrier<cuda::thread_scope_block> all;
    int i = threadIdx.x;
    if (i == 0) {
        init(&all, blockDim.x);
        first = numbers[0];
    }
    tile[i / 4][i % 4] = numbers[i];
    __syncthreads();
    all.arrive_and_wait();
    numbers[i] = tile[7 - i / 4][3 - i % 4];
    if (i == 0) numbers[32] = first;
    if (i == 0) numbers[33].real = sums(reinterpret_cast<int *>(&numbers[33].imaginary), 7, 4);
}

// Copies of indices, which have nvcc's types and are written to.
template <class Vector> __device__ Vector moved(Vector vector) {
    vector.x += 1;
    return vector;
}
__global__ void copies(uint3 *places) {
    auto thread = threadIdx;
    const auto size = blockDim, grid = gridDim;
    uint3 *place = &places[thread.x];
    thread.y = size.x + grid.x;
    *place = moved(thread);
    place->z = moved(blockIdx).x + sizeof moved(threadIdx);
}

__global__ void count(int *places) { atomicAdd(places + threadIdx.x + blockDim.x * threadIdx.y, 1); }

// Less than the type's own alignment, as programs ask for a CUtensorMap, whose alignment has grown.
struct alignas(128) Wide {
    int value;
};
static int aligned() {
    alignas(64) Wide wide{7};
    alignas (16) static Wide other = {8};
    return reinterpret_cast<size_t>(&wide) % 128 + reinterpret_cast<size_t>(&other) % 128 + wide.value + other.value;
}

// Arrays whose length is no constant, and what they begin with.
static int listed(int n) {
    int ones[n] = {1, 2, 3};
    double rows[2][n] = {{0.5, 1}, {2}};
    int nothing[n + 1] = {};
    int sum = nothing[n];
    for (int i = 0; i < n; i++) sum += ones[i] + int(2 * (rows[0][i] + 10 * rows[1][i]));
    return sum;
}

int main() {
    float *x;
    int *from, *places;
    Complex *numbers;
    uint3 *copied;
    cudaMallocManaged(&copied, 2 * sizeof(uint3));
    cudaMallocManaged(&x, 16 * sizeof(float));
    cudaMallocManaged(&from, 4 * sizeof(int));
    cudaMallocManaged(&places, 6 * sizeof(int));
    cudaMallocManaged(&numbers, 34 * sizeof(Complex));
    for (int i = 0; i < 4; i++) from[i] = i;
    for (int i = 0; i < 6; i++) places[i] = 0;
    for (int i = 0; i < 34; i++) numbers[i] = Complex(i, -i);
    conversions << <1, 1 >> >(x, from);
    pragmas<<<1, 1>> > (x, 4);
    zeros <<<1, 1>> >(x + 5);
    narrow<<<1, 1>>>(3, 0.5, x + 6);
    turned<<<1, 32>>>(numbers);
    count<<<1, {3, 2}>>>(places);
    count<<<{1, 1}, {2, 1}, 0>>>(places);
    count<<<{1}, 1>>>(places);
    copies<<<1, 2>>>(copied);
    cudaDeviceSynchronize();
    bool right = x[0] == 3 && x[1] == 4 && x[2] == 5 && x[3] == 6 && x[4] == 36 && x[5] == 0 && x[6] == 3.5f;
    for (int i = 0; i < 32; i++) right = right && numbers[i].real == 31 - i;
    right = right && numbers[32].imaginary == 0 && numbers[33].real == 11 && places[0] == 3 && places[1] == 2 && places[5] == 1;
    right = right && copied[1].x == 2 && copied[1].y == 3 && copied[1].z == 13 && copied[0].x == 1;
    int difference;
    memcpy(&difference, &numbers[33].imaginary, sizeof difference);
    right = right && difference == 3 && __rdtsc() == 5 && listed(from[3] + 1) == 49 && aligned() == 15;
    printf("%s: %g %g %g, %s\n", words, x[0], x[4], x[6], right ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
