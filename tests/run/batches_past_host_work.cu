// Launches that wait for batches while the host works with its own memory, looks into containers that may throw, and passes
// by switches that are usually off; beside twins in which the host looks at what they do.
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 4
// arguments: 7
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    int columns, rows, depth;
};

__global__ void bottom(double *field, Shape shape) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, column = i % shape.columns, row = i / shape.columns;
    if (row < shape.depth)
        field[row * shape.columns + column] = field[(2 * shape.depth - 1 - row) * shape.columns + column] + 1;
}

__global__ void top(double *field, Shape shape) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, column = i % shape.columns, row = i / shape.columns;
    if (row < shape.depth)
        field[(shape.rows - 1 - row) * shape.columns + column] =
            field[(shape.rows - 2 * shape.depth + row) * shape.columns + column] + 2;
}

__global__ void left(double *field, Shape shape) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / shape.depth, column = i % shape.depth;
    if (row < shape.rows)
        field[row * shape.columns + column] = field[row * shape.columns + 2 * shape.depth - 1 - column] + 3;
}

static const int FIELDS = 5, COLUMNS = 60, ROWS = 50, BYTES = COLUMNS * ROWS * sizeof(double);
static std::map<std::string, int> blocks;
static std::map<int, double *> fields;
static std::map<std::string, double *> managed;
static bool profiled;
static cudaEvent_t event;
static int thrown_at = -1;
static std::vector<std::string> seen;

static void profile() {
    if (profiled) {
        cudaEventRecord(event);
        cudaEventSynchronize(event);
        printf("event\n");
    }
}

// What a host does for each face: it looks up sizes and pointers, and may fail to find them.
static void face(void (*)(double *, Shape), const char *name, int field) {
    profile();
    seen.push_back(name);
    if (field == thrown_at) throw std::out_of_range(name);
}

static __attribute__((noinline)) void update(const int *wanted, Shape shape) {
    for (int field = 0; field < FIELDS; ++field) {
        if (!wanted[field]) continue;
        face(bottom, "bottom", field);
        bottom<<<blocks.at("bottom"), 64>>>(fields.at(field), shape);
        face(top, "top", -2);
        top<<<blocks.at("top"), 64>>>(fields.at(field), shape);
        face(left, "left", -2);
        left<<<blocks.at("left"), 64>>>(fields.at(field), shape);
    }
}

// Twin: the memory is the host's too, and the host looks at it.
static __attribute__((noinline)) double update_managed(const int *wanted, Shape shape) {
    double sum = 0;
    for (int field = 0; field < 2; ++field) {
        double *own = managed.at(field ? "one" : "two");
        if (wanted[field]) bottom<<<blocks.at("bottom"), 64>>>(own, shape);
        if (wanted[field]) left<<<blocks.at("left"), 64>>>(own, shape);
        cudaDeviceSynchronize();
        sum += own[3] + own[COLUMNS * 7];
    }
    return sum;
}

// Written out, behind one another.
static __attribute__((noinline)) void written_out(const int *wanted, Shape shape) {
    if (wanted[0]) bottom<<<blocks["bottom"], 64>>>(fields[0], shape);
    profile();
    if (wanted[0]) top<<<blocks["top"], 64>>>(fields[0], shape);
    profile();
    if (wanted[1]) bottom<<<blocks["bottom"], 64>>>(fields[1], shape);
    profile();
    if (wanted[1]) top<<<blocks["top"], 64>>>(fields[1], shape);
    profile();
    if (wanted[2]) bottom<<<blocks["bottom"], 64>>>(fields[2], shape);
    profile();
    if (wanted[2]) left<<<blocks["left"], 64>>>(fields[2], shape);
}

static double first_of(int field) {
    double value;
    cudaMemcpy(&value, fields[field] + 1, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

int main(int argc, char **argv) {
    int flags = argc > 1 ? atoi(argv[1]) : 7;
    Shape shape{COLUMNS, ROWS, 2};
    blocks["bottom"] = blocks["top"] = (COLUMNS * 2 + 63) / 64;
    blocks["left"] = (ROWS * 2 + 63) / 64;
    std::vector<double> host(COLUMNS * ROWS);
    for (int field = 0; field < FIELDS; ++field) {
        for (size_t i = 0; i < host.size(); ++i) host[i] = (i * (field + 3)) % 17;
        cudaMalloc(&fields[field], BYTES);
        cudaMemcpy(fields[field], host.data(), BYTES, cudaMemcpyHostToDevice);
    }
    for (const char *name : {"one", "two"}) {
        cudaMallocManaged(&managed[name], BYTES);
        for (size_t i = 0; i < host.size(); ++i) managed[name][i] = i % 13;
    }
    cudaEventCreate(&event);
    for (int step = 0; step < 4; ++step) {
        profiled = flags & 1 && step == 2;
        thrown_at = flags & 2 && step == 1 ? 3 : -1;
        int wanted[FIELDS];
        for (int field = 0; field < FIELDS; ++field) wanted[field] = (flags + step + field) % 3 != 0;
        try {
            update(wanted, shape);
        } catch (const std::exception &error) {
            printf("%s %g\n", error.what(), first_of(0) + first_of(1) + first_of(2));
        }
        written_out(wanted, shape);
        printf("%g\n", update_managed(wanted, shape));
        if (flags & 4) printf("%g\n", first_of(step));
    }
    double sum = 0;
    for (int field = 0; field < FIELDS; ++field) {
        cudaMemcpy(host.data(), fields[field], BYTES, cudaMemcpyDeviceToHost);
        for (size_t i = 0; i < host.size(); ++i) sum += host[i] * (i % 7 + 1);
    }
    printf("%zu %.17g\nPASS\n", seen.size(), sum);
}
