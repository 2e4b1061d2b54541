// Launches that are captured into a graph and run when the graph does.
//
// Shows: a pair of launches becomes one node of the graph, since nobody looks inside; what a captured
// launch reads stays written by a group that runs in between, although host code shows no reader after it.
//
// expect: 6 launches -> 4
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

static void show(const char *what, const float *device) {
    static float host[N];
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (float value : host) sum += value;
    printf("%s %g %g\n", what, sum, (double)host[N - 1]);
}

int main() {
    static float host[N];
    for (int i = 0; i < N; ++i) host[i] = (float)(i % 17);
    float *x, *between, *kept, *out;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&between, sizeof host);
    cudaMalloc(&kept, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(kept, 0, sizeof host);
    cudaStream_t stream;
    cudaStreamCreate(&stream);

    // Replayed three times: each adds to what the replay before left.
    cudaGraph_t graph;
    cudaGraphExec_t steps;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    scale<<<BLOCKS, THREADS, 0, stream>>>(between, x, 2.0f);
    shift<<<BLOCKS, THREADS, 0, stream>>>(x, between, 1.0f);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&steps, graph, 0);
    cudaGraphDestroy(graph);
    show("before", x);
    for (int step = 0; step < 3; ++step) cudaGraphLaunch(steps, stream);
    cudaStreamSynchronize(stream);
    show("after three", x);

    // Captured first, and run after the group that writes what it reads.
    cudaGraphExec_t reads;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    shift<<<BLOCKS, THREADS, 0, stream>>>(out, kept, 3.0f);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&reads, graph, 0);
    cudaGraphDestroy(graph);
    scale<<<BLOCKS, THREADS, 0, stream>>>(kept, x, 0.5f);
    shift<<<BLOCKS, THREADS, 0, stream>>>(between, kept, 4.0f);
    cudaGraphLaunch(reads, stream);
    cudaStreamSynchronize(stream);
    show("read later", out);
    show("between", between);

    // What waits cannot be captured, and what follows on the stream is not captured any more.
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(stream)));
    printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(stream, &graph)));
    cudaGetLastError();
    scale<<<BLOCKS, THREADS, 0, stream>>>(out, x, 7.0f);
    cudaStreamSynchronize(stream);
    show("alone", out);
    cudaGraphExecDestroy(steps);
    cudaGraphExecDestroy(reads);
    cudaStreamDestroy(stream);
    for (float *buffer : {x, between, kept, out}) cudaFree(buffer);
    printf("%s\n", cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
