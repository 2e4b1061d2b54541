// Host loops that run inside their kernel, with other launches before and behind them: neither waits for the other, and
// no launch moves over a loop that the host always comes to. An argument is the number of the case.
//
// executes: 2 3 15 2 3 1 15 4 15
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
// arguments: 6
// arguments: 7
// arguments: 8
#include <cstdio>
#include <cstdlib>
#include <vector>

const int ROWS = 16, COLUMNS = 1024, THREADS = 128, BLOCKS = COLUMNS / THREADS;

__global__ void begin(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int row = 0; row < ROWS; ++row) x[row * COLUMNS + i] += float(i % 5);
}

__global__ void halve(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] *= 0.5f;
}

__global__ void add_row_before(float *x, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[row * COLUMNS + i] -= x[(row - 1) * COLUMNS + i] * 0.5f;
}

__global__ void add_next_of_row_before(float *x, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[row * COLUMNS + i] -= x[(row - 1) * COLUMNS + (i + 1) % COLUMNS] * 0.5f;
}

__global__ void finish(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[(ROWS - 1) * COLUMNS + i] += 1;
}

// The row may be counted by steps of which 32 bits hold no second one: then it is right only because the index wraps.
__global__ void add_to_row_behind(float *x, unsigned row) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    x[(row + 1) * COLUMNS + i] -= x[row * COLUMNS + i] * 0.5f;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) std::printf("FAIL %s\n", cudaGetErrorString(status)), std::exit(1);
}

// One function for each case, so that nothing of one is planned beside another.
__attribute__((noinline)) static void loop_and_launch(float *x) {
    for (int row = 1; row < ROWS; ++row) add_row_before<<<BLOCKS, THREADS>>>(x, row);
    finish<<<BLOCKS, THREADS>>>(x);
}

// The first two are one launch, the loop is one, the last is one.
__attribute__((noinline)) static void launches_around(float *x, int rows) {
    begin<<<BLOCKS, THREADS>>>(x);
    check(cudaDeviceSynchronize());
    halve<<<BLOCKS, THREADS>>>(x);
    check(cudaDeviceSynchronize());
    for (int row = 1; row < rows; ++row) {
        add_row_before<<<BLOCKS, THREADS>>>(x, row);
        check(cudaDeviceSynchronize());
    }
    finish<<<BLOCKS, THREADS>>>(x);
    check(cudaDeviceSynchronize());
}

// What a step reads another block has written: the loop stays. Its last launch runs with the one behind it.
__attribute__((noinline)) static void neighbours(float *x) {
    for (int row = 1; row < ROWS; ++row) add_next_of_row_before<<<BLOCKS, THREADS>>>(x, row);
    finish<<<BLOCKS, THREADS>>>(x);
}

__attribute__((noinline)) static void launch_and_loop(float *x) {
    halve<<<BLOCKS, THREADS>>>(x);
    for (int row = 1; row < ROWS; ++row) add_row_before<<<BLOCKS, THREADS>>>(x, row);
}

// Two loops over one buffer, with a launch between.
__attribute__((noinline)) static void two_loops(float *x) {
    for (int row = 1; row < ROWS; ++row) add_row_before<<<BLOCKS, THREADS>>>(x, row);
    add_next_of_row_before<<<BLOCKS, THREADS>>>(x, ROWS - 1);
    for (int row = 1; row < ROWS; ++row) add_row_before<<<BLOCKS, THREADS>>>(x, row);
}

// Each launch is asked whether its indices wrap.
__attribute__((noinline)) static void in_steps(float *x, unsigned step) {
    for (unsigned row = 0; row + 1 < ROWS; ++row) add_to_row_behind<<<BLOCKS, THREADS>>>(x, row * step);
}

// The host looks in at some of the steps; an error is told, and goes on.
__attribute__((noinline)) static void looks(float *x, int every) {
    for (int row = 1; row < ROWS; ++row) {
        add_row_before<<<BLOCKS, THREADS>>>(x, row);
        cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorName(error));
        if (row % every == 0) {
            float value;
            check(cudaMemcpy(&value, x + row * COLUMNS + 7, sizeof value, cudaMemcpyDeviceToHost));
            std::printf("%d: %.9g\n", row, value);
        }
    }
}

int main(int argc, char **argv) {
    int which = argc > 1 ? std::atoi(argv[1]) : 0;
    std::vector<float> host(ROWS * COLUMNS);
    for (size_t i = 0; i < host.size(); ++i) host[i] = float(i % 11) * 0.125f;
    float *x;
    check(cudaMalloc(&x, host.size() * sizeof(float)));
    check(cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    switch (which) {
    case 0: loop_and_launch(x); break;
    case 1: launches_around(x, argc + ROWS - 2); break;
    case 2: neighbours(x); break;
    case 3: launch_and_loop(x); break;
    case 4: two_loops(x); break;
    case 5: in_steps(x, unsigned(argc - 1)); break;
    case 6: in_steps(x, unsigned(argc - 1) + (1u << 22)); break;
    case 7: looks(x, argc + 2); break;
    case 8: looks(x, argc - 1); break;
    }
    check(cudaMemcpy(host.data(), x, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (size_t i = 0; i < host.size(); ++i) sum += double(host[i]) * double(i % 97 + 1);
    std::printf("%.9g\nPASS\n", sum);
}
