// Launches in functions that are called through pointers fuse with those around the call: virtual methods of one class
// or of two, functions that a flag chose, a function's pointer that came from somewhere else. The twins change
// the object's class or the pointer on the way.
//
// expect: 44 launches -> 28
// arguments:
// arguments: other
// executes: 15 16
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

constexpr int count = 1024, threads = 128, blocks = count / threads;

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t error = (call);                                                  \
        if (error != cudaSuccess) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

__global__ void multiply(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * 3.0f;
}

__global__ void add(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + 5.0f;
}

__global__ void square(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * x[i];
}

static float *memory() {
    float *pointer = nullptr;
    CHECK(cudaMalloc(&pointer, count * sizeof(float)));
    CHECK(cudaMemset(pointer, 0, count * sizeof(float)));
    return pointer;
}

static float *input = nullptr, *middle = nullptr, *output = nullptr;

static void expect(const char *what, float (*wanted)(float)) {
    std::vector<float> host(count);
    CHECK(cudaMemcpy(host.data(), output, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        if (host[i] != wanted(float(i % 64))) {
            printf("%s: %d is %g, not %g\n", what, i, host[i], wanted(float(i % 64)));
            exit(1);
        }
    CHECK(cudaMemset(output, 0, count * sizeof(float)));
}

static float multiplied_and_added(float x) { return x * 3.0f + 5.0f; }
static float added_twice(float x) { return x + 5.0f + 5.0f; }
static float squared_and_added(float x) { return x * x + 5.0f; }

// One class.
struct Unit {
    virtual void run(float *y, const float *x) = 0;
    virtual ~Unit() {}
};
struct Only : Unit {
    void run(float *y, const float *x) override {
        multiply<<<blocks, threads>>>(y, x);
        CHECK(cudaGetLastError());
    }
};
struct Net {
    Only first;
    float *from, *between, *to;
    __attribute__((noinline)) void forward(Unit *unit) {
        unit->run(between, from);
        add<<<blocks, threads>>>(to, between);
        CHECK(cudaGetLastError());
    }
};

// Two classes, of which the program sees one at its start.
struct Layer {
    virtual void run(float *y, const float *x) = 0;
    virtual ~Layer() {}
};
struct Multiply : Layer {
    void run(float *y, const float *x) override { multiply<<<blocks, threads>>>(y, x); }
};
struct Square : Layer {
    void run(float *y, const float *x) override { square<<<blocks, threads>>>(y, x); }
};
static std::unique_ptr<Layer> make(bool other) {
    if (other) return std::make_unique<Square>();
    return std::make_unique<Multiply>();
}

// Functions.
typedef void (*Step)(float *y, const float *x);
static void run_multiply(float *y, const float *x) { multiply<<<blocks, threads>>>(y, x); }
static void run_add(float *y, const float *x) { add<<<blocks, threads>>>(y, x); }
static void run_square(float *y, const float *x) { square<<<blocks, threads>>>(y, x); }

struct Solver {
    Step first, second;
};
__attribute__((noinline)) static void configure(Solver &solver, bool other) {
    solver.first = other ? run_square : run_multiply;
    solver.second = run_add;
}

// A twin: the pointer is another one behind the first call.
struct Turning {
    Step now;
};
static Turning turning;
static void turn_and_multiply(float *y, const float *x);
static void turn_and_add(float *y, const float *x) {
    turning.now = turn_and_multiply;
    add<<<blocks, threads>>>(y, x);
}
static void turn_and_multiply(float *y, const float *x) {
    turning.now = turn_and_add;
    multiply<<<blocks, threads>>>(y, x);
}

// A twin: the object is of another class behind the first call.
struct Changing {
    virtual void run(float *y, const float *x) = 0;
};
struct Later : Changing {
    void run(float *y, const float *x) override { add<<<blocks, threads>>>(y, x); }
};
struct Before : Changing {
    void run(float *y, const float *x) override {
        multiply<<<blocks, threads>>>(y, x);
        new (this) Later;
    }
};

// A twin: a call through a pointer that the compiler cannot follow.
static void run_twice(float *y, const float *x) {
    add<<<blocks, threads>>>(y, x);
    add<<<blocks, threads>>>(y, y);
}
__attribute__((noinline)) static Step read_back(Step step) {
    char text[32];
    snprintf(text, sizeof(text), "%p", (void *)step);
    void *found = nullptr;
    sscanf(text, "%p", &found);
    return (Step)found;
}

// A class whose objects hold others of its kind: it may come to itself again.
struct Part {
    virtual void run(float *y, const float *x) = 0;
    virtual ~Part() {}
};
struct One : Part {
    void run(float *y, const float *x) override { add<<<blocks, threads>>>(y, x); }
};
struct Two : Part {
    std::unique_ptr<Part> first, second;
    void run(float *y, const float *x) override {
        first->run(y, x);
        second->run(y, y);
    }
};

// Kernels.
typedef void (*Kernel)(float *y, const float *x);
static Kernel kernels[] = {multiply, square};

int main(int argc, char **argv) {
    const bool other = argc > 1 && !strcmp(argv[1], "other");
    input = memory(), middle = memory(), output = memory();
    std::vector<float> host(count);
    for (int i = 0; i < count; i++) host[i] = float(i % 64);
    CHECK(cudaMemcpy(input, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    Net net;
    net.from = input, net.between = middle, net.to = output;
    for (int i = 0; i < 3; i++) net.forward(&net.first);
    expect("one class", multiplied_and_added);

    std::unique_ptr<Layer> layer = make(other);
    layer->run(middle, input);
    add<<<blocks, threads>>>(output, middle);
    expect("two classes", other ? squared_and_added : multiplied_and_added);

    Step step = other ? run_square : run_multiply;
    step(middle, input);
    run_add(output, middle);
    expect("a flag", other ? squared_and_added : multiplied_and_added);

    Solver solver;
    configure(solver, other);
    solver.first(middle, input);
    solver.second(output, middle);
    expect("fields", other ? squared_and_added : multiplied_and_added);

    turning.now = other ? turn_and_add : turn_and_multiply;
    turning.now(middle, input);
    turning.now(output, middle);
    expect("a pointer that changes", other ? [](float x) { return (x + 5.0f) * 3.0f; } : multiplied_and_added);

    alignas(Before) char place[sizeof(Before)];
    Changing *object = new (place) Before;
    if (other) object = new (place) Later;
    std::launder(object)->run(middle, input);
    std::launder(reinterpret_cast<Changing *>(place))->run(output, middle);
    expect("an object that changes", other ? added_twice : multiplied_and_added);

    Step unknown = read_back(other ? run_twice : run_multiply);
    unknown(middle, input);
    run_add(output, middle);
    expect("a pointer from elsewhere", other ? [](float x) { return x + 5.0f + 5.0f + 5.0f; } : multiplied_and_added);

    Two inner, whole;
    inner.first = std::make_unique<One>(), inner.second = std::make_unique<One>();
    whole.first = std::make_unique<One>();
    if (other)
        whole.second = std::make_unique<Two>(std::move(inner));
    else
        whole.second = std::make_unique<One>();
    Part *part = &whole;
    part->run(output, input);
    expect("parts of parts", other ? [](float x) { return x + 15.0f; } : added_twice);

    Kernel kernel = other ? square : multiply;
    kernel<<<blocks, threads>>>(middle, input);
    add<<<blocks, threads>>>(output, middle);
    expect("a kernel", other ? squared_and_added : multiplied_and_added);

    kernels[other]<<<blocks, threads>>>(middle, input);
    kernels[1 - other]<<<blocks, threads>>>(output, middle);
    expect("a table of kernels", other ? [](float x) { return x * x * 3.0f; } : [](float x) { return x * 3.0f * (x * 3.0f); });
    CHECK(cudaDeviceSynchronize());
    puts("PASS");
}
