// As `recomputation_captured.cu`, but what is captured stands in a function whose address others have: a thread begins with it. All
// code is seen, and the libraries capture nothing around it: a norm and the product behind it are one.
//
// expect: 4 launches -> 2
// executes: 6
// built with: -O2 -std=c++17
#include "captured_norm.h"
#include <functional>
#include <thread>

struct Recorder : Graph {
    void wrap(std::function<void()> record, cudaStream_t stream);
    void add_or_update(std::string key, cudaKernelNodeParams parameters, cudaStream_t stream);
};

void Recorder::wrap(std::function<void()> record, cudaStream_t stream) {
    if (is_created) {
        record();
        return;
    }
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    record();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    is_created = true;
}

void Recorder::add_or_update(std::string key, cudaKernelNodeParams parameters, cudaStream_t stream) {
    if (is_created) {
        CHECK(cudaGraphExecKernelNodeSetParams(executable, nodes[key], &parameters));
        return;
    }
    cudaStreamCaptureStatus status;
    cudaGraph_t current;
    const cudaGraphNode_t *behind;
    size_t count;
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &current, &behind, nullptr, &count));
#else
    CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &current, &behind, &count));
#endif
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, current, behind, count, &parameters));
    nodes[key] = node;
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
#else
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies));
#endif
}

struct State {
    float *table, *x, *xb, *a, *out;
    int n, rows;
};

static void record_or_update(Recorder &own, State &state, int token, cudaStream_t stream) {
    own.wrap(
        [&]() {
            void *arguments[] = {&state.table, &state.n, &token, &state.x};
            cudaKernelNodeParams parameters = {};
            parameters.func = (void *)embedding;
            parameters.gridDim = dim3(1), parameters.blockDim = dim3(128);
            parameters.kernelParams = arguments;
            own.add_or_update("embedding", parameters, stream);
            if (!own.is_created) norm<<<1, 128, 0, stream>>>(state.x, state.n, state.xb);
            if (!own.is_created) {
                int blocks = (state.rows + 31) / 32;
                product<<<blocks, 32, 0, stream>>>(state.a, state.xb, state.n, state.rows, state.out);
            }
        },
        stream);
}

static void step(Recorder &own, State &state, int token, cudaStream_t stream) {
    std::thread([&]() { record_or_update(own, state, token, stream); }).join();
    CHECK(cudaGraphLaunch(own.executable, stream));
}

int main(int argc, char **) {
    State state;
    state.n = N + argc - 1;
    state.rows = ROWS + argc - 1;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    std::vector<float> host(N * ROWS);
    for (int i = 0; i < N * ROWS; ++i) host[i] = (i * 37 % 101 - 50) / 50.0f;
    CHECK(cudaMalloc(&state.table, N * TABLE * sizeof(float)));
    CHECK(cudaMalloc(&state.x, N * sizeof(float)));
    CHECK(cudaMalloc(&state.xb, N * sizeof(float)));
    CHECK(cudaMalloc(&state.a, N * ROWS * sizeof(float)));
    CHECK(cudaMalloc(&state.out, ROWS * sizeof(float)));
    CHECK(cudaMemcpy(state.table, host.data() + 7, N * TABLE * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(state.a, host.data(), N * ROWS * sizeof(float), cudaMemcpyHostToDevice));
    Recorder own;
    double all = 0;
    for (int token = 0; token < 3; ++token) {
        step(own, state, token, stream);
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(host.data(), state.out, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < ROWS; ++i) all += host[i] * (1 + i % 7);
    }
    printf("%.9g\nPASS\n", all);
}
