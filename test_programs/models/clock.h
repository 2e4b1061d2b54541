// How long the launches of a model take, with -DTIMED.
#pragma once
#include <cstdio>

#ifdef TIMED
// The default stream cannot be captured.
static cudaStream_t stream_of_launches() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    return stream;
}

// Prints how many microseconds the launches of a model take, in turn issued one by one and as a captured graph.
template <class Launches>
static void measure(cudaStream_t stream, Launches launches) {
    constexpr int WARM = 5, SAMPLES = 20;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaGraphExec_t whole = nullptr;
    for (int sample = -WARM - 1; sample < SAMPLES; ++sample) {
        const bool captures = !whole;
        if (captures)
            cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
        else
            cudaEventRecord(begin, stream);
        launches();
        if (captures) {
            cudaGraph_t graph;
            cudaStreamEndCapture(stream, &graph);
            cudaGraphInstantiate(&whole, graph, 0);
            continue;
        }
        float plain, graphed;
        cudaEventRecord(end, stream);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&plain, begin, end);
        cudaEventRecord(begin, stream);
        cudaGraphLaunch(whole, stream);
        cudaEventRecord(end, stream);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&graphed, begin, end);
        if (sample >= 0) printf("time plain %.3f\ntime graph %.3f\n", 1e3 * plain, 1e3 * graphed);
    }
    if (cudaGetLastError() != cudaSuccess) printf("FAIL: a call failed\n");
}
#else
static cudaStream_t stream_of_launches() { return nullptr; }

template <class Launches>
static void measure(cudaStream_t, Launches) {}
#endif
