// What programs may rely on although clang and CUDA 13 do not give it: the compatibility header.
//
// expect: 1 launches -> 1
#include <cstdio>

struct Results {
    unsigned left, left_clamped, right, right_clamped;
    float hinted;
    float4 hinted_vector;
    double mixed;
    int finite;
};

__global__ void device_side(Results *results, const float4 *input) {
    if (threadIdx.x != 0) return;
    __stcs(&results->left, __funnelshift_l(0x80000001u, 0x12345678u, 36));
    __stcg(&results->left_clamped, __funnelshift_lc(0x80000001u, 0x12345678u, 40));
    __stwb(&results->right, __funnelshift_r(0x80000001u, 0x12345678u, 36));
    __stwt(&results->right_clamped, __funnelshift_rc(0x80000001u, 0x12345678u, 40));
    __stcs(&results->hinted, __ldcs(&input->y) + __ldcg(&input->z));
    __stcg(&results->hinted_vector, __ldca(input));
    results->mixed = max(input->x, 2.5);
    results->finite = isfinite(input->w) ? 1 : 0;
}

int main() {
    int wrong = 0;
    float4 input = {1.0f, 2.0f, 3.0f, 4.0f};
    float4 *device_input;
    Results *device_results, results;
    cudaMalloc(&device_input, sizeof input);
    cudaMalloc(&device_results, sizeof results);
    cudaMemcpy(device_input, &input, sizeof input, cudaMemcpyHostToDevice);
    device_side<<<1, 32>>>(device_results, device_input);
    wrong += cudaThreadSynchronize() != cudaSuccess;
    cudaMemcpy(&results, device_results, sizeof results, cudaMemcpyDeviceToHost);
    wrong += results.left != 0x23456788u;
    wrong += results.left_clamped != 0x80000001u;
    wrong += results.right != 0x88000000u;
    wrong += results.right_clamped != 0x12345678u;
    wrong += results.hinted != 5.0f;
    wrong += results.hinted_vector.w != 4.0f;
    wrong += results.mixed != 2.5;
    wrong += results.finite != 1;

    // The overloads of min and max that nvcc gives to host code.
    unsigned three = 3;
    size_t four = 4;
    float nan_value = nanf("");
    wrong += max(-1, three) != 0xffffffffu;
    wrong += min(2.0f, 1.5) != 1.5;
    wrong += max(four, (size_t)2) != 4;
    wrong += min(7ll, 5ll) != 5;
    wrong += max(nan_value, 1.0f) != 1.0f;
    wrong += !isfinite(1.0f) || isfinite(1.0 / 0.0);
#if __CUDACC_VER_MAJOR__ < 11
    wrong++;
#endif
    printf(wrong ? "FAIL: %d values differ\n" : "PASS\n", wrong);
    cudaFree(device_input);
    cudaFree(device_results);
    cudaThreadExit();
    return wrong != 0;
}
