// Subscripts that are computed in 64 bits and cut to 32, one quotient and one remainder: the conditions that
// nothing wraps around stand at the ends of what 64 bits hold, and differences of their sides beyond.
//
// expect: 2 launches -> 1
// arguments: 1
// executes: 4
#include <cstdio>

struct Range {
    long from_x, from_y, size_x, size_y;
};

struct Field {
    size_t width;
    float *data;
    __host__ __device__ float &operator()(size_t x, size_t y) const { return data[x + y * width]; }
};

struct Double {
    Field from, to;
    __device__ void operator()(int x, int y) const { to(x, y) = 2 * from(x, y); }
};

struct Increase {
    Field from, to;
    __device__ void operator()(int x, int y) const { to(x, y) = from(x, y) + 1; }
};

template <typename F> __global__ void over(Range range, F f) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= range.size_x * range.size_y) return;
    f(range.from_x + i % range.size_x, range.from_y + i / range.size_x);
}

int main(int argc, char **) {
    const size_t width = 20 + argc, height = 10, bytes = width * height * sizeof(float);
    Field a{width}, b{width}, c{width};
    for (Field *field : {&a, &b, &c}) {
        cudaMalloc(&field->data, bytes);
        cudaMemset(field->data, 0, bytes);
    }
    const Range inner{1, 1, long(width) - 2, long(height) - 2};
    for (int step = 0; step < 2 * argc; step++) {
        over<<<3, 64>>>(inner, Double{a, b});
        over<<<3, 64>>>(inner, Increase{a, c});
    }
    float result[400];
    cudaMemcpy(result, c.data, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const bool inside = x >= 1 && y >= 1 && x + 1 < width && y + 1 < height;
            wrong += result[y * width + x] != (inside ? 1 : 0);
        }
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
