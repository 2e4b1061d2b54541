// The twin of `recomputation_captured.cu`: it takes a captured node's handle from behind what the next node comes, and changes
// that node's arguments later. So each kernel stays a node of its own, those that it adds by itself among them.
//
// expect: 4 launches -> 3
// executes: 12
// built with: -O1
#include "captured_norm.h"

static void add_or_update(Graph &own, const std::string &key, cudaKernelNodeParams parameters, cudaStream_t stream) {
    if (own.is_created) {
        CHECK(cudaGraphExecKernelNodeSetParams(own.executable, own.nodes[key], &parameters));
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
    // What was captured last.
    if (count == 1) own.nodes["last"] = behind[0];
    cudaGraphNode_t node;
    CHECK(cudaGraphAddKernelNode(&node, current, behind, count, &parameters));
    own.nodes[key] = node;
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
#else
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies));
#endif
}

int main(int argc, char **) {
    int rows = ROWS + argc - 1;
    float *table, *x, *xb, *a, *out;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    std::vector<float> host(N * ROWS);
    for (int i = 0; i < N * ROWS; ++i) host[i] = (i * 37 % 101 - 50) / 50.0f;
    CHECK(cudaMalloc(&table, N * TABLE * sizeof(float)));
    CHECK(cudaMalloc(&x, N * sizeof(float)));
    CHECK(cudaMalloc(&xb, N * sizeof(float)));
    CHECK(cudaMalloc(&a, N * ROWS * sizeof(float)));
    CHECK(cudaMalloc(&out, ROWS * sizeof(float)));
    CHECK(cudaMemcpy(table, host.data() + 7, N * TABLE * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(a, host.data(), N * ROWS * sizeof(float), cudaMemcpyHostToDevice));
    Graph own;
    double all = 0;
    for (int token = 0; token < 3; ++token) {
        if (!own.is_created) CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        int n = N;
        void *arguments[] = {&table, &n, &token, &x};
        cudaKernelNodeParams parameters = {};
        parameters.func = (void *)embedding;
        parameters.gridDim = dim3(1), parameters.blockDim = dim3(128);
        parameters.kernelParams = arguments;
        add_or_update(own, "embedding", parameters, stream);
        if (!own.is_created) norm<<<1, 128, 0, stream>>>(x, N, xb);
        if (!own.is_created) product<<<(rows + 31) / 32, 32, 0, stream>>>(a, xb, N, rows, out);
        float *to = out;
        // From the second token on the captured product takes what was not normalised.
        void *others[] = {&a, &x, &n, &rows, &to};
        parameters.func = (void *)product;
        parameters.gridDim = dim3(token == 0 ? 2 : 1), parameters.blockDim = dim3(32);
        parameters.kernelParams = others;
        if (!own.is_created) add_or_update(own, "copy", parameters, stream);
        else add_or_update(own, "last", parameters, stream);
        if (!own.is_created) {
            CHECK(cudaStreamEndCapture(stream, &own.graph));
            CHECK(cudaGraphInstantiate(&own.executable, own.graph, 0));
            own.is_created = true;
        }
        CHECK(cudaGraphLaunch(own.executable, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(host.data(), out, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < ROWS; ++i) all += host[i] * (1 + i % 7);
    }
    printf("%.9g\nPASS\n", all);
}
