// Launches that are captured by a program that counts the nodes of its graphs: they stay unfused in a
// capture, and run as one outside of it.
//
// expect: 6 launches -> 3
#include <cstdio>

constexpr int N = 1000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

__global__ void scale(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = by * x[i];
}

__global__ void shift(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = x[i] + by;
}

__attribute__((noinline)) static void step(float *x, float *y, cudaStream_t stream) {
    scale<<<BLOCKS, THREADS, 0, stream>>>(y, x, 3.0f);
    shift<<<BLOCKS, THREADS, 0, stream>>>(x, y, -1.0f);
}

int main() {
    static float host[N];
    for (int i = 0; i < N; ++i) host[i] = (float)(i % 13);
    float *x, *y;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    step(x, y, stream);
    cudaGraph_t graph;
    cudaGraphExec_t steps;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    step(x, y, stream);
    cudaStreamEndCapture(stream, &graph);
    size_t nodes = 0;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    printf("%zu nodes\n", nodes);
    cudaGraphInstantiate(&steps, graph, 0);
    step(y, x, stream);
    cudaGraphLaunch(steps, stream);
    cudaStreamSynchronize(stream);
    for (const float *buffer : {x, y}) {
        cudaMemcpy(host, buffer, sizeof host, cudaMemcpyDeviceToHost);
        double sum = 0;
        for (float value : host) sum += value;
        printf("%g\n", sum);
    }
    printf("%s\n", cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
