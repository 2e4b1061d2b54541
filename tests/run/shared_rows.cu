// A launch writes one row of a cache, and others read its rows: which row only the host knows, and how far one is from the next.
// What needs its own column runs with it, whichever rows these are. What comes to the next row at the end of its own, or
// has rows of another length, stays apart: there another block finds what was written. One launch may multiply the distance
// out of two numbers that the other is told as one, which the run compares.
//
// expect: 16 launches -> 10
// expect-missed: copy_between copy_between copy_between copy_between global_dependence copy_between global_dependence copy_between copy_between
// executes: 11 11 11
// arguments:
// arguments: 300 2
// arguments: 301 0
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ROWS = 6;

__global__ void put(float *cache, const float *values, int width, int row) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < width) cache[row * width + c] = values[c] + row;
}

__global__ void put_some(float *cache, const float *values, int width, int first) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < width)
        for (int r = 0; r < 2; ++r) cache[(first + r) * width + c] = values[c] - r;
}

__global__ void turn(float *cache, int rows, int width) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < width)
        for (int r = 0; r < rows; ++r) cache[r * width + c] = cache[r * width + c] * 0.5f + r;
}

__global__ void twice(float *cache, int row, int width) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < width) cache[row * width + c] *= 2;
}

// The last column's right neighbour is the first one of the next row.
__global__ void with_next(const float *cache, float *out, int rows, int width) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= width) return;
    float sum = 0;
    for (int r = 0; r < rows; ++r) sum += cache[r * width + c] + cache[r * width + c + 1];
    out[c] = sum;
}

__global__ void sums(const float *cache, float *out, int rows, int length) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= length) return;
    float sum = 0;
    for (int r = 0; r < rows; ++r) sum += cache[r * length + c];
    out[c] = sum;
}

// A pair of columns for each thread, in parts of a row of which none goes over the end of its part.
__global__ void put_pairs(float *cache, const float *values, int part, int parts, int row) {
    int c = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (c < parts * part && c % part < part - 1) {
        float *own = cache + row * (parts * part);
        own[c] = values[c] + row;
        own[c + 1] = values[c + 1] - row;
    }
}

__global__ void turn_pairs(float *cache, int rows, int width, int part) {
    int c = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (c < width)
        for (int r = 0; r < rows; ++r)
            if (c % part < part - 1) {
                float *own = cache + r * width, first = own[c], second = own[c + 1];
                own[c] = first - second;
                own[c + 1] = first + second;
            }
}

struct Cache {
    int width, row, rows, length;
    float *cache, *values, *out;
    std::vector<float> expected;

    void fill() {
        for (size_t i = 0; i < expected.size(); ++i) expected[i] = i % 7;
        cudaMemcpy(cache, expected.data(), expected.size() * sizeof(float), cudaMemcpyHostToDevice);
    }
    float &at(int r, int c) { return expected[r * width + c]; }
    bool is_right(const char *what) {
        std::vector<float> found(expected.size());
        cudaMemcpy(found.data(), cache, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
        if (found != expected) printf("wrong: %s\n", what);
        return found == expected;
    }
    bool sums_are_right(const char *what, int length, bool next) {
        std::vector<float> found(length);
        cudaMemcpy(found.data(), out, length * sizeof(float), cudaMemcpyDeviceToHost);
        for (int c = 0; c < length; ++c) {
            float sum = 0;
            for (int r = 0; r < rows; ++r) {
                const float *own = &expected[r * length + c];
                sum += next ? own[0] + own[1] : own[0];
            }
            if (found[c] != sum) return printf("wrong: %s at %d: %g, not %g\n", what, c, found[c], sum) == 0;
        }
        return true;
    }
};

int main(int argc, char **argv) {
    Cache now;
    now.width = argc > 1 ? atoi(argv[1]) : 200, now.row = argc > 2 ? atoi(argv[2]) : 3;
    now.rows = ROWS - 2, now.length = now.width - 1;
    const int width = now.width, row = now.row, rows = now.rows, blocks = (width + 63) / 64;
    now.expected.resize(ROWS * width + 1);
    std::vector<float> values(width);
    for (int c = 0; c < width; ++c) values[c] = c % 11;
    cudaMalloc(&now.cache, now.expected.size() * sizeof(float));
    cudaMalloc(&now.values, width * sizeof(float));
    cudaMalloc(&now.out, width * sizeof(float));
    cudaMemcpy(now.values, values.data(), width * sizeof(float), cudaMemcpyHostToDevice);
    bool right = true;

    now.fill();
    put<<<blocks, 64>>>(now.cache, now.values, width, row);
    turn<<<blocks, 64>>>(now.cache, rows, width);
    for (int c = 0; c < width; ++c) now.at(row, c) = values[c] + row;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < width; ++c) now.at(r, c) = now.at(r, c) * 0.5f + r;
    right &= now.is_right("a row and a loop over rows");

    now.fill();
    put<<<blocks, 64>>>(now.cache, now.values, width, row);
    twice<<<blocks, 64>>>(now.cache, argc, width);
    for (int c = 0; c < width; ++c) now.at(row, c) = values[c] + row;
    for (int c = 0; c < width; ++c) now.at(argc, c) *= 2;
    right &= now.is_right("two rows");

    now.fill();
    put_some<<<blocks, 64>>>(now.cache, now.values, width, row);
    turn<<<blocks, 64>>>(now.cache, rows, width);
    for (int r = 0; r < 2; ++r)
        for (int c = 0; c < width; ++c) now.at(row + r, c) = values[c] - r;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < width; ++c) now.at(r, c) = now.at(r, c) * 0.5f + r;
    right &= now.is_right("rows behind one and a loop over rows");

    now.fill();
    put<<<blocks, 64>>>(now.cache + row * width, now.values, width, 1);
    turn<<<blocks, 64>>>(now.cache, rows, width);
    for (int c = 0; c < width; ++c) now.at(row + 1, c) = values[c] + 1;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < width; ++c) now.at(r, c) = now.at(r, c) * 0.5f + r;
    right &= now.is_right("a pointer to a row");

    now.fill();
    put<<<blocks, 64>>>(now.cache, now.values, width, row);
    with_next<<<blocks, 64>>>(now.cache, now.out, rows, width);
    for (int c = 0; c < width; ++c) now.at(row, c) = values[c] + row;
    right &= now.sums_are_right("the next column", width, true);

    now.fill();
    put<<<blocks, 64>>>(now.cache, now.values, width, row);
    sums<<<blocks, 64>>>(now.cache, now.out, rows, now.length);
    for (int c = 0; c < width; ++c) now.at(row, c) = values[c] + row;
    right &= now.sums_are_right("rows of another length", now.length, false);

    // Rows of three parts, as long as the others or not.
    const int parts = argc > 3 ? atoi(argv[3]) : 3;
    auto pairs = [&](int part, int whole) {
        now.fill();
        put_pairs<<<blocks, 64>>>(now.cache, now.values, part, parts, row);
        turn_pairs<<<blocks, 64>>>(now.cache, rows, whole, part);
        for (int c = 0; c < 3 * part; c += 2)
            if (c % part < part - 1) {
                now.expected[row * 3 * part + c] = values[c] + row;
                now.expected[row * 3 * part + c + 1] = values[c + 1] - row;
            }
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < whole; c += 2)
                if (c % part < part - 1) {
                    float *own = &now.expected[r * whole + c];
                    const float first = own[0], second = own[1];
                    own[0] = first - second;
                    own[1] = first + second;
                }
        right &= now.is_right("pairs of columns in parts of a row");
    };
    pairs(width / 3, width / 3 * 3);
    pairs(width / 3, width / 3 * 2);

    printf(right ? "PASS\n" : "FAIL\n");
    return !right;
}
