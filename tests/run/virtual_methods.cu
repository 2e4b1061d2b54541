// Launches of objects: what they work on is known through virtual methods, tables of functions, vectors of structs and
// pointers in memory of the device, as all code of the program is here; where a function is handed to somebody else, it
// may be called with anything.
//
// expect: 15 launches -> 13
// arguments: 5
// arguments: 5 swapped
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

constexpr int count = 1024, threads = 128;

static float *memory(int n = count) {
    float *pointer = nullptr;
    if (cudaMalloc(&pointer, n * sizeof(float)) != cudaSuccess) exit(1);
    cudaMemset(pointer, 0, n * sizeof(float));
    return pointer;
}

__global__ void add(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + by;
}

__global__ void multiply(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * by;
}

// Of a neighbour: it only stands behind what is complete.
__global__ void shift(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[(i + 1) % count];
}

class Layer {
public:
    virtual ~Layer() { cudaFree(output_); }
    virtual void forward(const float *input) = 0;
    virtual float *output() { return output_; }

protected:
    float *output_ = memory();
};

class Add : public Layer {
public:
    explicit Add(float by) : by_(by) {}
    void forward(const float *input) override {
        add<<<count / threads, threads>>>(output_, input, by_);
        add<<<count / threads, threads>>>(output_, output_, 1.0f);
    }

private:
    float by_;
};

// Its result is its input's place.
class InPlace : public Layer {
public:
    void forward(const float *input) override {
        place_ = const_cast<float *>(input);
        multiply<<<count / threads, threads>>>(place_, input, 2.0f);
        multiply<<<count / threads, threads>>>(output_, place_, 1.0f);
    }
    float *output() override { return place_; }

private:
    float *place_ = nullptr;
};

// A vector's elements, each with places of its own.
struct Cell {
    float *state;
    const float *input;
    const char *name;
};

struct Table {
    float *to;
    const float *from;
};

__global__ void behind(const Table *table, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    table->to[i] = table->from[i] + by;
}

// What is called back later, by somebody else.
static float *called_back_with = nullptr;
static int compare(const void *one, const void *other) {
    // It changes what the next launch reads.
    add<<<count / threads, threads>>>(called_back_with, called_back_with, 1.0f);
    return *(const int *)one - *(const int *)other;
}

typedef void (*Step)(float *y, const float *x, float by);
static void run_add(float *y, const float *x, float by) { add<<<count / threads, threads>>>(y, x, by); }
static void run_multiply(float *y, const float *x, float by) { multiply<<<count / threads, threads>>>(y, x, by); }
static Step steps[2] = {run_add, run_multiply};

static void expect(const char *what, const float *found, float (*wanted)(int)) {
    std::vector<float> host(count);
    cudaMemcpy(host.data(), found, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        if (host[i] != wanted(i)) {
            printf("%s: %d is %g, not %g\n", what, i, host[i], wanted(i));
            exit(1);
        }
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1;
    if (argc > 2 && !strcmp(argv[2], "swapped")) std::swap(steps[0], steps[1]);
    std::vector<float> host(count);
    for (int i = 0; i < count; i++) host[i] = i;
    float *input = memory(), *other = memory(), *result = memory();
    cudaMemcpy(input, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    // Which layer is which, the compiler does not see.
    std::vector<std::unique_ptr<Layer>> layers;
    for (int i = 0; i < n; i++)
        if (i % 2 == 0)
            layers.push_back(std::make_unique<Add>(i));
        else
            layers.push_back(std::make_unique<InPlace>());
    float *at = input;
    for (auto &layer : layers) {
        layer->forward(at);
        at = layer->output();
    }
    shift<<<count / threads, threads>>>(result, at);
    if (n == 5) expect("layers", result, [](int i) { return 2.0f * (2.0f * ((i + 1) % count + 1) + 3.0f) + 5.0f; });

    // Cells of a vector, by pointers that kernels find in memory of the device.
    std::vector<Cell> cells;
    for (int i = 0; i < n; i++) {
        Cell cell = {memory(), i ? cells[i - 1].state : input, "cell"};
        cells.push_back(cell);
    }
    std::vector<Table> tables;
    for (const Cell &cell : cells) tables.push_back(Table{cell.state, cell.input});
    Table *on_device;
    cudaMalloc(&on_device, n * sizeof(Table));
    cudaMemcpy(on_device, tables.data(), n * sizeof(Table), cudaMemcpyHostToDevice);
    for (int i = 0; i < n; i++) {
        behind<<<count / threads, threads>>>(on_device + i, 1.0f);
        add<<<count / threads, threads>>>(cells[i].state, cells[i].state, 1.0f);
    }
    // What is compared at the end are no addresses.
    cudaMemset(on_device, 0, n * sizeof(Table));
    if (n == 5) expect("cells", cells[n - 1].state, [](int i) { return i + 10.0f; });

    // A table of functions.
    for (int i = 0; i < 4; i++) steps[i % 2](other, i ? other : input, 3.0f);
    if (argc > 2)
        expect("steps, swapped", other, [](int i) { return (i * 3.0f + 3.0f) * 3.0f + 3.0f; });
    else
        expect("steps", other, [](int i) { return ((i + 3.0f) * 3.0f + 3.0f) * 3.0f; });

    // The library calls back between two launches that could be one.
    called_back_with = other;
    multiply<<<count / threads, threads>>>(other, input, 2.0f);
    int pair[2] = {2, 1};
    qsort(pair, 2, sizeof(int), compare);
    multiply<<<count / threads, threads>>>(result, other, 2.0f);
    expect("called back", result, [](int i) { return (2.0f * i + 1.0f) * 2.0f; });

    // Another thread.
    add<<<count / threads, threads>>>(other, input, 1.0f);
    std::thread([other] {
        multiply<<<count / threads, threads>>>(other, other, 3.0f);
        cudaDeviceSynchronize();
    }).join();
    add<<<count / threads, threads>>>(result, other, 1.0f);
    expect("thread", result, [](int i) { return (i + 1.0f) * 3.0f + 1.0f; });
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
    puts("PASS");
}
