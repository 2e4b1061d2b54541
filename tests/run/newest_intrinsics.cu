// Functions of kernels that CUDA's newest headers have: fast functions of turns, sums of several numbers in memory, and
// arithmetic on two numbers. Launches that use them fuse.
//
// architecture: sm_100
// expect: 3 launches -> 1
#include <cmath>
#include <cstdio>

constexpr int n = 1000, threads = 128, blocks = (n + threads - 1) / threads;

__global__ void turns(const float *x, float4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sine, cosine;
    __sincos2pif(x[i], &sine, &cosine);
    y[i] = make_float4(__tanhf(x[i]), __sin2pif(x[i]), cosine, sine + __cos2pif(x[i]));
}

__global__ void pairs(float4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = y[i];
    float2 a = make_float2(v.x, v.y), b = make_float2(v.z, v.w);
    float2 sum = __fadd2_rn(a, b), product = __fmul2_rz(a, b), both = __ffma2_ru(a, b, sum);
    y[i] = make_float4(sum.x + product.x, sum.y + product.y, both.x, both.y);
}

__global__ void sums(const float *x, float4 *of_four, float2 *of_two) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float whole = i % 8;
    atomicAdd(of_four + i % 3, make_float4(whole, 1, 2 * whole, -1));
    atomicAdd_system(of_two + i % 2, make_float2(whole, 2));
    __shared__ float2 here;
    if (threadIdx.x == 0) here = make_float2(0, 0);
    __syncthreads();
    atomicAdd_block(&here.x, x[i] * 0);
}

static int wrong = 0;
static void near(double is, double should, int line) {
    if (!(std::fabs(is - should) <= 2e-3 * (1 + std::fabs(should)))) printf("line %d: %g is not %g\n", line, is, should), wrong++;
}
#define NEAR(is, should) near(is, should, __LINE__)

int main() {
    float *x;
    float4 *y, *four;
    float2 *two;
    cudaMallocManaged(&x, n * sizeof *x);
    cudaMallocManaged(&y, n * sizeof *y);
    cudaMallocManaged(&four, 3 * sizeof *four);
    cudaMallocManaged(&two, 2 * sizeof *two);
    for (int i = 0; i < n; i++) x[i] = (i - n / 2) * 0.013f;
    x[0] = 1e7f;
    cudaMemset(four, 0, 3 * sizeof *four);
    cudaMemset(two, 0, 2 * sizeof *two);
    turns<<<blocks, threads>>>(x, y);
    pairs<<<blocks, threads>>>(y);
    sums<<<blocks, threads>>>(x, four, two);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) {
        double turn = 2 * M_PI * std::fmod(x[i], 1.0), s = std::sin(turn), c = std::cos(turn), t = std::tanh(x[i]);
        NEAR(y[i].x, t + c + t * c);
        NEAR(y[i].y, s + (s + c) + s * (s + c));
        NEAR(y[i].z, t * c + t + c);
        NEAR(y[i].w, s * (s + c) + s + (s + c));
    }
    double each[3] = {}, even[2] = {};
    for (int i = 0; i < n; i++) each[i % 3] += i % 8, even[i % 2] += i % 8;
    for (int k = 0; k < 3; k++) {
        int count = (n - k + 2) / 3;
        NEAR(four[k].x, each[k]), NEAR(four[k].y, count), NEAR(four[k].z, 2 * each[k]), NEAR(four[k].w, -count);
    }
    for (int k = 0; k < 2; k++) NEAR(two[k].x, even[k]), NEAR(two[k].y, n);
    if (wrong == 0) puts("PASS");
    return wrong != 0;
}
