// How long the launches of a model take, with -DTIMED. With -DCOUNTED a model ends behind them and compares nothing.
#pragma once
#include <cstdio>

#ifdef TIMED
#include <algorithm>
#include <cstdlib>

// The default stream cannot be captured.
static cudaStream_t stream_of_launches() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    return stream;
}

// Prints how many microseconds the launches of a model take, in turn issued one by one and as a captured graph: 20 times, or as
// often as MODEL_SAMPLES says.
template <class Launches>
static void measure(cudaStream_t stream, Launches launches) {
    const char *const asked = std::getenv("MODEL_SAMPLES");
    const int samples = asked ? std::atoi(asked) : 20, warm = std::min(samples, 5);
    if (samples == 0) return;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaGraphExec_t whole = nullptr;
    for (int sample = -warm - 1; sample < samples; ++sample) {
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
    // Whoever wants the times alone need not wait for the check.
    std::fflush(stdout);
}
#else
#ifdef COUNTED
#include <cstdlib>
#endif

static cudaStream_t stream_of_launches() { return nullptr; }

template <class Launches>
static void measure(cudaStream_t, Launches) {
#ifdef COUNTED
    std::exit(0);
#endif
}
#endif
