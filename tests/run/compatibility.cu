// What programs may rely on although clang and CUDA 13 do not give it: the compatibility header.
//
// expect: 2 launches -> 2
#include <cmath>
#include <cstdio>

struct Results {
    unsigned left, left_clamped, right, right_clamped;
    float hinted;
    float4 hinted_vector;
    double mixed;
    int finite;
    double power;
    unsigned types;
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
    results->power = pow(input->z - 2.9f, 3);
    results->types = sizeof pow(input->x, 2) + sizeof std::pow(input->x, 2) + sizeof pow(input->x, 2.0f) + sizeof clock();
}

// nvcc's built-in atomic functions, and the older ones of another scope.
__global__ void meet(unsigned *words, unsigned long long *wide, float *numbers) {
    __nv_atomic_fetch_add(words, 2u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_add(wide, 1ULL << 33, __NV_ATOMIC_RELAXED);
    __nv_atomic_add(numbers, 0.5f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_max(words + 1, threadIdx.x, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
    unsigned now = __nv_atomic_load_n(words + 2, __NV_ATOMIC_RELAXED), next;
    do next = now * 2 + 1;
    while (!__nv_atomic_compare_exchange_n(words + 2, &now, next, false, __NV_ATOMIC_SEQ_CST,
                                           __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE));
    float one = 1, before;
    __nv_atomic_exchange(numbers + 1, &one, &before, __NV_ATOMIC_RELAXED);
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    atomicInc_system(words + 3, 5);
    atomicAdd_system(words + 4, 3u);
    atomicCAS_system(words + 5, 0u, 9u);
    atomicOr_block(words + 6, 1u << threadIdx.x);
}

static int meet_wrongly() {
    unsigned *words, found[7];
    unsigned long long *wide, found_wide;
    float *numbers, found_numbers[2];
    cudaMalloc(&words, sizeof found);
    cudaMalloc(&wide, sizeof found_wide);
    cudaMalloc(&numbers, sizeof found_numbers);
    cudaMemset(words, 0, sizeof found);
    cudaMemset(wide, 0, sizeof found_wide);
    cudaMemset(numbers, 0, sizeof found_numbers);
    meet<<<1, 20>>>(words, wide, numbers);
    cudaMemcpy(found, words, sizeof found, cudaMemcpyDeviceToHost);
    cudaMemcpy(&found_wide, wide, sizeof found_wide, cudaMemcpyDeviceToHost);
    cudaMemcpy(found_numbers, numbers, sizeof found_numbers, cudaMemcpyDeviceToHost);
    cudaFree(words);
    cudaFree(wide);
    cudaFree(numbers);
    return (found[0] != 40) + (found[1] != 19) + (found[2] != 0xfffff) + (found[3] != 20 % 6) +
           (found[4] != 60) + (found[5] != 9) + (found[6] != 0xfffff) + (found_wide != 20ULL << 33) +
           (found_numbers[0] != 10) + (found_numbers[1] != 1);
}

int main() {
    int wrong = meet_wrongly();
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
    wrong += fabs(results.power - pow(3.0f - 2.9f, 3)) > 1e-17;
    wrong += results.types != 8 + 8 + 4 + 8;

    // The overloads of min and max that nvcc gives to host code.
    unsigned three = 3;
    size_t four = 4;
    float nan_value = nanf("");
    wrong += max(-1, three) != 0xffffffffu;
    wrong += min(2.0f, 1.5) != 1.5;
    wrong += max(four, (size_t)2) != 4;
    wrong += min(7ll, 5ll) != 5;
    wrong += max(nan_value, 1.0f) != 1.0f;
    wrong += umin(3, -1) != 3 || llmax(-1, 3) != 3 || ullmax(3, -1) != ~0ull;

    // What is of float with nvcc, and of double with the host's headers alone.
    float half = 0.5f, sine, cosine;
    sincos(half, &sine, &cosine);
    wrong += sine != sinf(half) || cosine != cosf(half);
    wrong += sizeof exp10(half) + sizeof j0(half) + sizeof j1(half) + sizeof jn(2, half) + sizeof y0(half) + sizeof y1(half) +
                 sizeof yn(2, half) + sizeof erfinv(half) !=
             8 * sizeof half;
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
