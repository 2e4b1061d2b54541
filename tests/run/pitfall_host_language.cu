// What C++ does around launches: constructors, destructors, static objects, exceptions, goto,
// switch, recursion, lambdas, virtual calls, templates, threads, signals, atexit.
//
// expect: 51 launches -> 25
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

constexpr int count = 256, threads = 64, blocks = count / threads;
constexpr size_t bytes = count * sizeof(int);

__global__ void fill(int *y, int value) { y[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add(int *y, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += value;
}

__global__ void twice(int *y, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}

template <class T, int By> __global__ void times(T *y) { y[blockIdx.x * blockDim.x + threadIdx.x] *= By; }

static int wrong = 0;

static int first_of(const int *device) {
    int host[count];
    cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    for (int i = 1; i < count; i++)
        if (host[i] != host[0]) wrong++;
    return host[0];
}

static void expect(const int *device, int value, const char *what) {
    int found = first_of(device);
    if (found != value) {
        printf("%s: %d, not %d\n", what, found, value);
        wrong++;
    }
}

// Destroyed after main.
struct Early {
    int *memory = nullptr;
    void start() {
        cudaMalloc(&memory, bytes);
        fill<<<blocks, threads>>>(memory, 5);
        add<<<blocks, threads>>>(memory, 6);
    }
    ~Early() {
        add<<<blocks, threads>>>(memory, 1);
        add<<<blocks, threads>>>(memory, 1);
        printf("destroyed at %d\n", first_of(memory));
        cudaFree(memory);
    }
};
static Early early;

static void at_exit() {
    add<<<blocks, threads>>>(early.memory, 100);
    times<int, 2><<<blocks, threads>>>(early.memory);
    printf("at exit: %d\n", first_of(early.memory));
}

struct Scope {
    int *y;
    int by;
    Scope(int *y, int by) : y(y), by(by) { add<<<blocks, threads>>>(y, by); }
    ~Scope() { times<int, 3><<<blocks, threads>>>(y); }
};

static void maybe_throw(int *y, int way) {
    Scope outer(y, 1);
    {
        Scope inner(y, 2);
        if (way == 1) throw std::runtime_error("inner");
        add<<<blocks, threads>>>(y, 10);
    }
    if (way == 2) throw 7;
    add<<<blocks, threads>>>(y, 20);
}

static void down(int *y, int depth) {
    add<<<blocks, threads>>>(y, depth);
    if (depth > 0) down(y, depth - 1);
    times<int, 2><<<blocks, threads>>>(y);
}

struct Operation {
    virtual void run(int *y) const { add<<<blocks, threads>>>(y, 1); }
    virtual ~Operation() = default;
};
struct Doubling : Operation {
    void run(int *y) const override {
        add<<<blocks, threads>>>(y, 3);
        times<int, 2><<<blocks, threads>>>(y);
    }
};

static volatile sig_atomic_t signals = 0;
static void on_signal(int) { signals = signals + 1; }

int main(int argc, char **) {
    atexit(at_exit);
    early.start();
    expect(early.memory, 11, "static object");
    int *y, *z;
    cudaMalloc(&y, bytes);
    cudaMalloc(&z, bytes);

    int results[] = {((1 + 2 + 10) * 3 + 20) * 3, (1 + 2) * 3 * 3, (1 + 2 + 10) * 3 * 3};
    for (int way = 0; way < 3; way++) {
        fill<<<blocks, threads>>>(y, 0);
        try {
            maybe_throw(y, way * argc);
        } catch (const std::exception &) {
            if (way != 1) wrong++;
        } catch (int code) {
            if (way != 2 || code != 7) wrong++;
        }
        expect(y, results[way], "exceptions");
    }

    fill<<<blocks, threads>>>(y, 1);
    down(y, 3 * argc);
    expect(y, (1 + 3 + 2 + 1) * 16, "recursion");

    // A loop made of goto.
    int round = argc - 1;
    fill<<<blocks, threads>>>(y, 0);
again:
    add<<<blocks, threads>>>(y, 1);
    if (round == 2) goto out;
    times<int, 2><<<blocks, threads>>>(y);
    if (++round < 4) goto again;
out:
    expect(y, 7, "goto");

    for (int from = 0; from < 5; from++) {
        fill<<<blocks, threads>>>(y, 1);
        switch (from * argc) {
        case 0: add<<<blocks, threads>>>(y, 1);
        case 1: times<int, 3><<<blocks, threads>>>(y); break;
        case 2: add<<<blocks, threads>>>(y, 5);
        default: times<int, 2><<<blocks, threads>>>(y);
        case 3: add<<<blocks, threads>>>(y, 7);
        }
        int values[] = {6, 3, 19, 8, 9};
        expect(y, values[from], "switch");
    }

    std::unique_ptr<Operation> operations[] = {std::make_unique<Operation>(), std::make_unique<Doubling>()};
    fill<<<blocks, threads>>>(y, 0);
    for (auto &operation : operations) operation->run(y);
    operations[argc - 1]->run(y);
    expect(y, 9, "virtual");

    // Two launches with a signal between.
    signal(SIGUSR1, on_signal);
    fill<<<blocks, threads>>>(y, 1);
    raise(SIGUSR1);
    twice<<<blocks, threads>>>(z, y);
    if (signals != 1) wrong++;
    expect(z, 2, "signal");

    // Threads of the host on the default stream, each with memory of its own.
    std::vector<std::thread> workers;
    int *memory[4];
    for (int k = 0; k < 4; k++) {
        cudaMalloc(&memory[k], bytes);
        workers.emplace_back([k, p = memory[k]] {
            fill<<<blocks, threads>>>(p, k);
            for (int round = 0; round < 10; round++) {
                add<<<blocks, threads>>>(p, 1);
                add<<<blocks, threads>>>(p, k);
            }
        });
    }
    for (auto &worker : workers) worker.join();
    for (int k = 0; k < 4; k++) expect(memory[k], 10 + 11 * k, "threads");
    // One after the other on the same memory.
    fill<<<blocks, threads>>>(y, 3);
    std::thread([y] { times<int, 5><<<blocks, threads>>>(y); }).join();
    add<<<blocks, threads>>>(y, 1);
    expect(y, 16, "a thread between");

    // Lambdas that launch lambdas, and short circuits.
    auto both = [&](auto first, auto second) {
        first();
        second();
    };
    fill<<<blocks, threads>>>(y, 1);
    both([&] { add<<<blocks, threads>>>(y, 1); }, [&] { both([&] { times<int, 7><<<blocks, threads>>>(y); }, [] {}); });
    auto launched = [&](int by) { return add<<<blocks, threads>>>(y, by), cudaPeekAtLastError() == cudaSuccess; };
    if (!(launched(1) && launched(2)) || (argc > 5 && launched(1000))) wrong++;
    expect(y, 17, "lambdas");
    long long *wide = (long long *)z;
    cudaMemset(z, 0, bytes);
    fill<<<blocks / 2, threads>>>((int *)wide, 0);
    times<long long, 9><<<blocks / 2, threads>>>(wide);
    times<int, 9><<<blocks / 2, threads>>>((int *)wide);
    expect(z, 0, "templates");
    puts(wrong == 0 ? "PASS" : "FAIL");
    fflush(stdout);
    return wrong != 0;
}
