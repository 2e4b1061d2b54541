// Launches in coroutines, which stop between two of them and go on behind what others have launched meanwhile. Launches in
// front of and behind a stop do not become one; those between two stops do.
//
// built with: -std=c++20
// expect: 8 launches -> 3
#include <coroutine>
#include <cstdio>
#include <utility>
#include <vector>

__global__ void scale(float *y, const float *x, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = by * x[i];
}
__global__ void add(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}
__global__ void increase(float *y, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += by;
}

// A coroutine that hands out numbers.
struct Steps {
    struct promise_type {
        int value = 0;
        Steps get_return_object() { return Steps(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int next) {
            value = next;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    explicit Steps(std::coroutine_handle<promise_type> handle) : handle(handle) {}
    Steps(Steps &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    ~Steps() {
        if (handle) handle.destroy();
    }
    bool advance() {
        handle.resume();
        return !handle.done();
    }
    int value() const { return handle.promise().value; }
    std::coroutine_handle<promise_type> handle;
};

const int n = 400;

static Steps work(float *x, float *y, int count) {
    for (int step = 1; step < 6; step++) {
        increase<<<4, 128>>>(x, step, count);
        scale<<<4, 128>>>(y, x, 0.5f, count);
        co_yield 50 * step;
        add<<<4, 128>>>(x, y, count);
    }
}

// The same on the host.
static Steps expected(std::vector<float> &x, std::vector<float> &y, int count) {
    for (int step = 1; step < 6; step++) {
        for (int i = 0; i < count; i++) x[i] += step;
        for (int i = 0; i < count; i++) y[i] = 0.5f * x[i];
        co_yield 50 * step;
        for (int i = 0; i < count; i++) x[i] += y[i];
    }
}

int main() {
    std::vector<float> a(n), b(n), c(n), got(n);
    for (int i = 0; i < n; i++) a[i] = b[i] = c[i] = i % 7;
    float *x, *y, *z;
    for (float **memory : {&x, &y, &z}) {
        cudaMalloc(memory, n * sizeof(float));
        cudaMemcpy(*memory, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    }
    {
        Steps one = work(x, y, n), other = work(z, y, n / 2);
        Steps first = expected(a, b, n), second = expected(c, b, n / 2);
        while (one.advance() & first.advance()) {
            scale<<<4, 128>>>(y, y, 1.5f, one.value());
            for (int i = 0; i < first.value(); i++) b[i] *= 1.5f;
            if (other.advance() & second.advance()) {
                increase<<<4, 128>>>(z, 0.25f, other.value());
                for (int i = 0; i < second.value(); i++) c[i] += 0.25f;
            }
        }
    }
    int wrong = 0;
    const std::pair<float *, std::vector<float> *> all[] = {{x, &a}, {y, &b}, {z, &c}};
    for (auto [memory, values] : all) {
        cudaMemcpy(got.data(), memory, n * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) wrong += got[i] != (*values)[i];
        cudaFree(memory);
    }
    printf(wrong ? "FAIL: %d\n" : "PASS\n", wrong);
    return wrong != 0;
}
