// Sets and copies that were captured behind a host function wait for it whenever the graph runs, also where it takes its time.
// expect: 1 launches -> 1
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

static void CUDART_CB writes_late(void *at) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    memset(at, 7, 16);
}

__global__ void add_one(unsigned char *bytes) { ++bytes[threadIdx.x]; }

int main() {
    unsigned char *bytes, *pinned;
    cudaMallocManaged(&bytes, 64);
    cudaMallocHost(&pinned, 64);
    memset(bytes, 0, 64);
    memset(pinned, 0, 64);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    add_one<<<1, 64, 0, stream>>>(bytes);
    cudaLaunchHostFunc(stream, writes_late, bytes);
    cudaMemsetAsync(bytes, 1, 4, stream);
    cudaMemset2DAsync(bytes + 4, 4, 2, 4, 1, stream);
    cudaLaunchHostFunc(stream, writes_late, bytes + 16);
    cudaMemcpyAsync(pinned, bytes, 64, cudaMemcpyDefault, stream);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    bool passes = true;
    for (int round = 1; round <= 2; ++round) {
        cudaGraphLaunch(ready, stream);
        cudaStreamSynchronize(stream);
        for (int i = 0; i < 64; ++i) {
            int expected = i < 4 ? 1 : i < 8 ? 2 : i < 32 ? 7 : round;
            if (bytes[i] != expected || pinned[i] != expected) {
                printf("round %d, byte %d: %d and %d, not %d\n", round, i, bytes[i], pinned[i], expected);
                passes = false;
            }
        }
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFreeHost(pinned);
    cudaFree(bytes);
    printf(passes ? "PASS\n" : "FAIL\n");
}
