// Rows that are walked beyond their end go on at their beginning, and some of them leave something out: whether a place is of
// the block's own row takes many cases one by one.
//
// expect: 2 launches -> 1
// arguments: abcdefghijkl
// arguments: abcd
#include <cstdio>
#include <cstring>
#include <vector>

__device__ static int around(int i, int n) { return i >= n ? i - n : i; }

__global__ void gather(int reach, int n, const float *table, float *sums) {
    for (int row = blockIdx.x; row < n; row += gridDim.x) {
        int end = row + reach + 1, last = around(end, n);
        if (last < row && row - last <= 3) continue;
        float sum = 0;
        for (int k = row + 1; k < end - 1; k++)
            if (k != n - 1) sum += table[row * n + around(k, n)];
        sums[row] += sum;
    }
}

__global__ void enter(int reach, int n, float *table, float *sums) {
    for (int row = blockIdx.x; row < n; row += gridDim.x) {
        int last = around(row + reach + 1, n);
        if (last < row && row - last <= 3) continue;
        table[row * n + last] += row + 1;
        sums[row] += 1;
    }
}

int main(int, char **argv) {
    int n = strlen(argv[1]);
    std::vector<float> table(n * n), sums(n), found(n);
    float *device_table, *device_sums;
    cudaMalloc(&device_table, n * n * sizeof(float));
    cudaMalloc(&device_sums, n * sizeof(float));
    cudaMemset(device_table, 0, n * n * sizeof(float));
    cudaMemset(device_sums, 0, n * sizeof(float));
    for (int reach = 0; reach < n - 1; reach++) {
        gather<<<n, 1>>>(reach, n, device_table, device_sums);
        enter<<<n, 1>>>(reach, n, device_table, device_sums);
        for (int row = 0; row < n; row++) {
            int end = row + reach + 1, last = end % n;
            if (last < row && row - last <= 3) continue;
            float sum = 0;
            for (int k = row + 1; k < end - 1; k++)
                if (k != n - 1) sum += table[row * n + k % n];
            sums[row] += sum;
            table[row * n + last] += row + 1;
            sums[row] += 1;
        }
    }
    cudaMemcpy(found.data(), device_sums, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < n; row++) wrong += found[row] != sums[row];
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
