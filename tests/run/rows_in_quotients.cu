// Rows whose length one kernel divides by four and another takes as it is, by two numbers of the run that are equal where
// they run as one: a length is four times its own quotient, and four times the other's.
//
// expect: 4 launches -> 1
// arguments: 8
// arguments: 8 32
// arguments: 8 33
// arguments: 8 48
// executes: 1 1 4 4
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int rows = 9, threads = 128, elements = 4096;

struct alignas(16) Four {
    float at[4];
};

__global__ void by_elements(float *out, const float *in, int length) {
    for (int c = threadIdx.x; c < length; c += blockDim.x)
        out[blockIdx.x * length + c] = in[blockIdx.x * length + c] * 3.0f + c;
}

__global__ void in_fours(float *out, const float *in, int length) {
    for (int c = threadIdx.x; c < length / 4; c += blockDim.x) {
        Four v = ((const Four *)in)[blockIdx.x * (length / 4) + c];
        for (int k = 0; k < 4; ++k) v.at[k] = v.at[k] * 3.0f + (k + 2);
        ((Four *)out)[blockIdx.x * (length / 4) + c] = v;
    }
}

static float *memory() {
    float *pointer;
    if (cudaMalloc(&pointer, elements * sizeof(float)) != cudaSuccess) exit(1);
    cudaMemset(pointer, 0, elements * sizeof(float));
    return pointer;
}

static void on_host(std::vector<float> &out, const std::vector<float> &in, int length, bool fours) {
    for (int row = 0; row < rows; ++row)
        for (int c = 0; c < (fours ? length / 4 * 4 : length); ++c) {
            int at = row * (fours ? length / 4 * 4 : length) + c;
            out[at] = in[at] * 3.0f + (fours ? c % 4 + 2 : c);
        }
}

int main(int argc, char **argv) {
    int length = 4 * atoi(argv[1]), other = argc > 2 ? atoi(argv[2]) : length;
    float *first = memory(), *input = memory(), *result = memory(), *between = memory();
    by_elements<<<rows, threads>>>(between, input, other);
    in_fours<<<rows, threads>>>(between, between, other);
    by_elements<<<rows, threads>>>(first, between, other);
    in_fours<<<rows, threads>>>(result, first, length);

    std::vector<float> a(elements), b(elements), c(elements), found(elements);
    on_host(b, a, other, false);
    on_host(b, b, other, true);
    on_host(a, b, other, false);
    on_host(c, a, length, true);
    cudaMemcpy(found.data(), result, elements * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < elements; ++i)
        if (found[i] != c[i]) {
            printf("%d is %g, not %g\n", i, found[i], c[i]);
            return 1;
        }
    for (float *pointer : {first, input, result, between}) cudaFree(pointer);
    puts("PASS");
}
