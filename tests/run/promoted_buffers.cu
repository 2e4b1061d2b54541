// What a block writes and other threads of it read, kept in shared memory: reversed, rotated, transposed within a tile,
// under a condition, of several sizes of elements, in rows of a length that only a run tells, and rows that are too
// long. And what must not be kept: values of another block, parts that nobody has written, stores whose place or
// condition lies in memory, a second writer.
//
// usage: promoted_buffers [length of a row]
//
// expect: 33 launches -> 16
// arguments:
// arguments: 1
// arguments: 20000
// options: --sirius-layout=h
// options: --sirius-opt=-dead-stores
// options: --sirius-opt=-redundant-barriers,-store-to-load-forwarding
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

constexpr int BLOCKS = 6, THREADS = 64, COUNT = BLOCKS * THREADS - 20;

template <typename T> __global__ void make(const T *x, T *t) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < COUNT) t[i] = x[i] + x[i];
}

template <typename T> __global__ void reverse(const T *t, T *y) {
    int i = blockIdx.x * THREADS + threadIdx.x, j = blockIdx.x * THREADS + (THREADS - 1 - threadIdx.x);
    if (i < COUNT && j < COUNT) y[i] = t[j] + T(1);
}

__global__ void rotate(const float *t, float *y) {
    int i = blockIdx.x * THREADS + threadIdx.x, j = blockIdx.x * THREADS + (threadIdx.x + 5) % THREADS;
    if (i < COUNT) y[i] = j < COUNT ? t[j] : 0.0f;
}

// Reads one element of the next block.
__global__ void shift(const float *t, float *y) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < COUNT) y[i] = i + 1 < COUNT ? t[i + 1] : 0.0f;
}

__global__ void make_tile(const float *x, float *t) {
    int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
    t[row * 24 + column] = x[row * 24 + column] * 3.0f;
}

__global__ void transpose_tile(const float *t, float *y) {
    int row = blockIdx.y * 8 + threadIdx.x, column = blockIdx.x * 8 + threadIdx.y;
    y[(blockIdx.y * 8 + threadIdx.y) * 24 + blockIdx.x * 8 + threadIdx.x] = t[row * 24 + column];
}

// Writes every second element, whatever stands in memory decides which.
__global__ void make_some(const float *x, const int *which, float *t) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < COUNT && which[i] % 2) t[i] = x[i];
}

__global__ void make_even(const float *x, float *t) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < COUNT && i % 2 == 0) t[i] = x[i] - 7.0f;
}

__global__ void scatter(const float *x, const int *which, float *t) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < COUNT) t[blockIdx.x * THREADS + (which[i] & 7)] = 4.0f + blockIdx.x;
}

// A third of a block, by the first warp.
__global__ void overwrite(float *t) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x < 20 && i < COUNT) t[i] = -1.0f;
}

__global__ void make_row(const float *x, float *t, int length) {
    for (int j = threadIdx.x; j < length; j += THREADS) t[blockIdx.x * length + j] = x[blockIdx.x * length + j] * 0.5f;
}

__global__ void reverse_row(const float *t, float *y, int length) {
    for (int j = threadIdx.x; j < length; j += THREADS)
        y[blockIdx.x * length + j] = t[blockIdx.x * length + length - 1 - j] + 2.0f;
}

// Half a row is written, the whole one read.
__global__ void make_half(const float *x, float *t, int length) {
    for (int j = threadIdx.x; j < length / 2; j += THREADS) t[blockIdx.x * length + j] = x[blockIdx.x * length + j] * 0.25f;
}

__global__ void sum_row(const float *t, double *sums, int length) {
    double sum = threadIdx.x;
    for (int j = 0; j < length; ++j) sum += t[blockIdx.x * length + j];
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}

template <typename T> struct Buffer {
    T *device;
    size_t count;
    explicit Buffer(size_t count) : count(count) {
        cudaMalloc(&device, count * sizeof(T));
    }
    explicit Buffer(const std::vector<T> &from) : Buffer(from.size()) {
        cudaMemcpy(device, from.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~Buffer() { cudaFree(device); }
    std::vector<T> read() const {
        std::vector<T> to(count);
        cudaMemcpy(to.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
        return to;
    }
};

int failures = 0;

template <typename T> void check(const char *what, const std::vector<T> &found, std::function<double(int)> expected) {
    for (size_t i = 0; i < found.size(); ++i)
        if (double(found[i]) != expected(int(i))) {
            printf("%s: %g at %zu, not %g\n", what, double(found[i]), i, expected(int(i)));
            ++failures;
            return;
        }
}

int block_of(int i) { return i / THREADS * THREADS; }
int reversed(int i) { return block_of(i) + THREADS - 1 - i % THREADS; }

template <typename T> void of_size(const char *what) {
    std::vector<T> x(COUNT);
    for (int i = 0; i < COUNT; ++i) x[i] = T(i % 50);
    Buffer<T> from(x), between(COUNT), to(std::vector<T>(COUNT, 0));
    make<T><<<BLOCKS, THREADS>>>(from.device, between.device);
    reverse<T><<<BLOCKS, THREADS>>>(between.device, to.device);
    check<T>(what, to.read(), [](int i) { return reversed(i) < COUNT ? 2.0 * (reversed(i) % 50) + 1 : 0.0; });
}

int main(int argc, char **argv) {
    int length = argc > 1 ? atoi(argv[1]) : 100;
    std::vector<float> x(COUNT), tiles(24 * 24), rows(BLOCKS * length);
    std::vector<int> which(COUNT);
    for (int i = 0; i < COUNT; ++i) x[i] = i % 97, which[i] = i * 7 % 11;
    for (int i = 0; i < 24 * 24; ++i) tiles[i] = i;
    for (int i = 0; i < BLOCKS * length; ++i) rows[i] = i % 1000;
    of_size<char>("char");
    of_size<short>("short");
    of_size<float>("float");
    of_size<double>("double");
    {
        Buffer<float> from(x), between(COUNT), to(std::vector<float>(COUNT, 0));
        make<float><<<BLOCKS, THREADS>>>(from.device, between.device);
        rotate<<<BLOCKS, THREADS>>>(between.device, to.device);
        check<float>("rotated", to.read(), [&](int i) {
            int j = block_of(i) + (i % THREADS + 5) % THREADS;
            return j < COUNT ? 2.0 * x[j] : 0.0;
        });
        // Read by the host, so that it has to be written.
        check<float>("still read", between.read(), [&](int i) { return 2.0 * x[i]; });
    }
    {
        Buffer<float> from(x), between(COUNT), to(std::vector<float>(COUNT, 0));
        make<float><<<BLOCKS, THREADS>>>(from.device, between.device);
        shift<<<BLOCKS, THREADS>>>(between.device, to.device);
        check<float>("next block", to.read(), [&](int i) { return i + 1 < COUNT ? 2.0 * x[i + 1] : 0.0; });
    }
    {
        Buffer<float> from(tiles), between(24 * 24), to(24 * 24);
        dim3 grid(3, 3), block(8, 8);
        make_tile<<<grid, block>>>(from.device, between.device);
        transpose_tile<<<grid, block>>>(between.device, to.device);
        check<float>("tiles", to.read(), [](int i) {
            int row = i / 24, column = i % 24;
            return 3.0 * ((row / 8 * 8 + column % 8) * 24 + column / 8 * 8 + row % 8);
        });
    }
    {
        Buffer<float> from(x), between(std::vector<float>(COUNT, 0)), to(std::vector<float>(COUNT, 0));
        Buffer<int> places(which);
        make_some<<<BLOCKS, THREADS>>>(from.device, places.device, between.device);
        reverse<float><<<BLOCKS, THREADS>>>(between.device, to.device);
        check<float>("some", to.read(), [&](int i) {
            int j = reversed(i);
            return j < COUNT ? (which[j] % 2 ? x[j] : 0.0) + 1 : 0.0;
        });
    }
    {
        Buffer<float> from(x), between(x), to(std::vector<float>(COUNT, 0));
        make_even<<<BLOCKS, THREADS>>>(from.device, between.device);
        reverse<float><<<BLOCKS, THREADS>>>(between.device, to.device);
        check<float>("every second", to.read(), [&](int i) {
            int j = reversed(i);
            return j < COUNT ? (j % 2 ? x[j] : x[j] - 7.0) + 1 : 0.0;
        });
    }
    {
        Buffer<float> from(x), between(COUNT), to(std::vector<float>(COUNT, 0));
        Buffer<int> places(which);
        make<float><<<BLOCKS, THREADS>>>(from.device, between.device);
        scatter<<<BLOCKS, THREADS>>>(from.device, places.device, between.device);
        reverse<float><<<BLOCKS, THREADS>>>(between.device, to.device);
        check<float>("scattered", to.read(), [&](int i) {
            int j = reversed(i);
            if (j >= COUNT) return 0.0;
            for (int k = block_of(j); k < block_of(j) + THREADS && k < COUNT; ++k)
                if ((which[k] & 7) == j % THREADS) return 5.0 + j / THREADS;
            return 2.0 * x[j] + 1;
        });
    }
    {
        Buffer<float> from(x), between(COUNT), to(std::vector<float>(COUNT, 0));
        make<float><<<BLOCKS, THREADS>>>(from.device, between.device);
        overwrite<<<BLOCKS, THREADS>>>(between.device);
        reverse<float><<<BLOCKS, THREADS>>>(between.device, to.device);
        check<float>("overwritten", to.read(), [&](int i) {
            int j = reversed(i);
            return j < COUNT ? (j % THREADS < 20 ? 0.0 : 2.0 * x[j] + 1) : 0.0;
        });
    }
    {
        Buffer<float> from(rows), between(rows.size()), to(rows.size());
        make_row<<<BLOCKS, THREADS>>>(from.device, between.device, length);
        reverse_row<<<BLOCKS, THREADS>>>(between.device, to.device, length);
        check<float>("rows", to.read(), [&](int i) {
            return rows[i / length * length + length - 1 - i % length] * 0.5 + 2.0;
        });
    }
    {
        Buffer<float> from(rows), between(rows), to(rows.size());
        make_half<<<BLOCKS, THREADS>>>(from.device, between.device, length);
        reverse_row<<<BLOCKS, THREADS>>>(between.device, to.device, length);
        check<float>("half rows", to.read(), [&](int i) {
            int j = length - 1 - i % length;
            return rows[i / length * length + j] * (j < length / 2 ? 0.25 : 1.0) + 2.0;
        });
    }
    {
        Buffer<float> from(rows), between(rows.size());
        Buffer<double> sums(BLOCKS * THREADS);
        make_row<<<BLOCKS, THREADS>>>(from.device, between.device, length);
        sum_row<<<BLOCKS, THREADS>>>(between.device, sums.device, length);
        check<double>("sums", sums.read(), [&](int i) {
            double sum = i % THREADS;
            for (int j = 0; j < length; ++j) sum += rows[i / THREADS * length + j] * 0.5f;
            return sum;
        });
    }
    {
        // Two rows between, one in terms of the other.
        Buffer<float> from(rows), first(rows.size()), second(rows.size());
        Buffer<double> sums(BLOCKS * THREADS);
        make_row<<<BLOCKS, THREADS>>>(from.device, first.device, length);
        reverse_row<<<BLOCKS, THREADS>>>(first.device, second.device, length);
        sum_row<<<BLOCKS, THREADS>>>(second.device, sums.device, length);
        check<double>("two rows", sums.read(), [&](int i) {
            double sum = i % THREADS;
            for (int j = length - 1; j >= 0; --j) sum += rows[i / THREADS * length + j] * 0.5f + 2.0f;
            return sum;
        });
    }
    puts(failures ? "FAIL" : "PASS");
    return failures != 0;
}
