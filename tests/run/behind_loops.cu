// Loops that go on where one of another length has ended, as those do that read in groups: where it has is known by bounds
// alone, which the tests behind it complete. Not where nothing bounds it from above, and where rows overlap at run time.
//
// expect: 6 launches -> 4
// executes: 4 6 4 6
// arguments:
// arguments: 64 40
// arguments: 3 5
// arguments: 100 90
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ROWS = 6;

// Makes the rows, a block a row. Blocks whose rows overlap write the same.
__global__ void make(float *x, int n, int pitch) {
    for (int t = threadIdx.x; t < n; t += blockDim.x) x[blockIdx.x * pitch + t] = (blockIdx.x * pitch + t) * 3 % 11;
}

// Sums of rows by threads, read by four, and then one by one.
__global__ void in_groups(const float *x, float *sums, int n, int pitch) {
    const float *row = x + blockIdx.x * pitch;
    float a = 0, b = 0, c = 0, d = 0;
    int sum = 0, step = blockDim.x, t = threadIdx.x;
    for (int k = 0; k < n / step - 3; t += step, k++) {
        if (k % 4 == 0) a = row[t], b = row[t + step], c = row[t + 2 * step], d = row[t + 3 * step];
        float next;
        switch (k % 4) {
        case 0: next = a; break;
        case 1: next = b; break;
        case 2: next = c; break;
        case 3: next = d; break;
        }
        sum = (sum * 3 + (int)next) % 1009;
    }
    for (; t < n; t += step) sum = (sum * 3 + (int)row[t]) % 1009;
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The first element of each thread that is `sought`, and what comes after it.
__global__ void search(const float *x, float *sums, int n, int pitch, float sought) {
    const float *row = x + blockIdx.x * pitch;
    int t = threadIdx.x, step = blockDim.x;
    for (; t < n; t += step)
        if (row[t] == sought) break;
    float after = -1;
    if (t + 1 < n) after = row[t + 1];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = after * 1000 + t;
}

// The same, where what comes after it may be the next row's.
__global__ void search_on(const float *x, float *sums, int n, int pitch, float sought) {
    const float *row = x + blockIdx.x * pitch;
    int t = threadIdx.x, step = blockDim.x;
    for (; t < n; t += step)
        if (row[t] == sought) break;
    sums[blockIdx.x * blockDim.x + threadIdx.x] = row[t];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 53, pitch = argc > 2 ? atoi(argv[2]) : 64, threads = 4;
    const size_t size = ROWS * pitch + n + threads;
    std::vector<float> elements(size), sums(ROWS * threads);
    for (size_t i = 0; i < (size_t)(ROWS - 1) * pitch + n; ++i) elements[i] = (int)i % pitch < n ? i * 3 % 11 : 0;
    float *x, *out;
    cudaMalloc(&x, size * sizeof(float));
    cudaMalloc(&out, sums.size() * sizeof(float));
    bool right = true;
    auto check = [&](const char *name, auto expected) {
        cudaMemcpy(sums.data(), out, sums.size() * sizeof(float), cudaMemcpyDeviceToHost);
        for (int r = 0; r < ROWS; ++r)
            for (int i = 0; i < threads; ++i) {
                const float is = sums[r * threads + i], should = expected(&elements[r * pitch], i);
                if (is == should) continue;
                printf("%s: row %d, thread %d: %g in place of %g\n", name, r, i, is, should);
                right = false;
                return;
            }
    };
    const float sought = 7;
    auto place = [&](const float *row, int i) {
        while (i < n && row[i] != sought) i += threads;
        return i;
    };

    cudaMemset(x, 0, size * sizeof(float));
    make<<<ROWS, 32>>>(x, n, pitch);
    in_groups<<<ROWS, threads>>>(x, out, n, pitch);
    check("in groups", [&](const float *row, int i) {
        int sum = 0;
        for (; i < n; i += threads) sum = (sum * 3 + (int)row[i]) % 1009;
        return (float)sum;
    });

    cudaMemset(x, 0, size * sizeof(float));
    make<<<ROWS, threads>>>(x, n, pitch);
    search<<<ROWS, threads>>>(x, out, n, pitch, sought);
    check("a search", [&](const float *row, int i) {
        const int t = place(row, i);
        return (t + 1 < n ? row[t + 1] : -1) * 1000 + t;
    });

    cudaMemset(x, 0, size * sizeof(float));
    make<<<ROWS, threads>>>(x, n, pitch);
    search_on<<<ROWS, threads>>>(x, out, n, pitch, sought);
    check("a search that finds nothing", [&](const float *row, int i) { return row[place(row, i)]; });

    printf(right ? "PASS\n" : "FAIL\n");
    return !right;
}
