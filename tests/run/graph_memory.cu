// Memory that graphs allocate: what is counted as used and reserved, in pieces of 32 MiB that are kept until they are
// trimmed, and memory that outlives its graph. A stream that a capture came to may end before the capture does.
//
// expect: 3 launches -> 2
#include <cstdint>
#include <cstdio>

static int failures = 0;

static void same(const char *what, unsigned long long got, unsigned long long expected) {
    if (got != expected && failures++ < 20) printf("%s: %llu instead of %llu\n", what, got, expected);
}
static void succeed(const char *what, cudaError_t error) {
    if (error != cudaSuccess && failures++ < 20) printf("%s: %s\n", what, cudaGetErrorName(error));
}

__global__ void fill(int *values, int with) { values[threadIdx.x] = with + threadIdx.x; }
__global__ void doubled(int *values) { values[threadIdx.x] *= 2; }

static void footprint(const char *what, uint64_t used, uint64_t most_used, uint64_t reserved, uint64_t most_reserved) {
    uint64_t value;
    const uint64_t expected[] = {used, most_used, reserved, most_reserved};
    const cudaGraphMemAttributeType attributes[] = {cudaGraphMemAttrUsedMemCurrent, cudaGraphMemAttrUsedMemHigh,
                                                    cudaGraphMemAttrReservedMemCurrent, cudaGraphMemAttrReservedMemHigh};
    for (int i = 0; i < 4; i++) {
        succeed("attribute", cudaDeviceGetGraphMemAttribute(0, attributes[i], &value));
        same(what, value, expected[i]);
    }
}

// Memory of a graph that frees it, or does not.
static cudaGraphExec_t made(size_t bytes, bool frees, int **memory) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t given, freed;
    cudaMemAllocNodeParams parameters = {};
    parameters.bytesize = bytes;
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location.type = cudaMemLocationTypeDevice;
    succeed("graph", cudaGraphCreate(&graph, 0));
    succeed("allocate", cudaGraphAddMemAllocNode(&given, graph, nullptr, 0, &parameters));
    *memory = (int *)parameters.dptr;
    if (frees) succeed("free", cudaGraphAddMemFreeNode(&freed, graph, &given, 1, parameters.dptr));
    succeed("instantiate", cudaGraphInstantiate(&executable, graph, 0));
    succeed("destroy", cudaGraphDestroy(graph));
    return executable;
}

int main() {
    const uint64_t bytes = 1 << 20, piece = 32 << 20;
    uint64_t zero = 0, one = 1;
    int *freed, *kept, *other;
    cudaStream_t stream, branch;
    succeed("stream", cudaStreamCreate(&stream));
    footprint("nothing", 0, 0, 0, 0);
    cudaGraphExec_t frees = made(bytes, true, &freed), keeps = made(2 * bytes, false, &kept);
    footprint("made", 0, 0, 0, 0);
    succeed("launch", cudaGraphLaunch(frees, stream));
    footprint("used and freed", piece, piece, piece, piece);
    succeed("launch", cudaGraphLaunch(frees, stream));
    footprint("again", piece, piece, piece, piece);
    succeed("launch", cudaGraphLaunch(keeps, stream));
    footprint("not freed", piece, piece, piece, piece);
    same("in its own way", cudaGraphLaunch(keeps, stream), cudaErrorInvalidValue);
    cudaGetLastError();
    succeed("trim", cudaDeviceGraphMemTrim(0));
    footprint("in use", piece, piece, piece, piece);
    // The memory is there without its graph.
    succeed("destroy", cudaGraphExecDestroy(keeps));
    fill<<<1, 64, 0, stream>>>(kept, 5);
    doubled<<<1, 64, 0, stream>>>(kept);
    int host[64];
    succeed("copy", cudaMemcpyAsync(host, kept, sizeof host, cudaMemcpyDeviceToHost, stream));
    succeed("wait", cudaStreamSynchronize(stream));
    same("written", host[63], 136);
    succeed("free", cudaFree(kept));
    footprint("freed", piece, piece, piece, piece);
    succeed("trim", cudaDeviceGraphMemTrim(0));
    footprint("trimmed", 0, piece, 0, piece);
    succeed("reset", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
    succeed("reset", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &zero));
    footprint("reset", 0, 0, 0, 0);
    same("not zero", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &one), cudaErrorInvalidValue);
    same("not the most", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero), cudaErrorInvalidValue);
    same("another device", cudaDeviceGraphMemTrim(1), cudaErrorInvalidDevice);
    cudaGetLastError();
    succeed("destroy", cudaGraphExecDestroy(frees));
    cudaGraphExec_t large = made(piece + 1, true, &freed);
    succeed("launch", cudaGraphLaunch(large, stream));
    footprint("large", 2 * piece, 2 * piece, 2 * piece, 2 * piece);
    succeed("destroy", cudaGraphExecDestroy(large));

    // A branch that is waited for ends within the capture; one that is not makes it fail.
    for (bool joins : {true, false}) {
        cudaEvent_t forks, joined;
        cudaGraph_t graph;
        succeed("event", cudaEventCreate(&forks));
        succeed("event", cudaEventCreate(&joined));
        succeed("stream", cudaStreamCreate(&branch));
        succeed("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        succeed("fork", cudaEventRecord(forks, stream));
        succeed("fork", cudaStreamWaitEvent(branch, forks, 0));
        succeed("memory", cudaMallocAsync(&other, sizeof host, branch));
        fill<<<1, 64, 0, branch>>>(other, 7);
        succeed("copy", cudaMemcpyAsync(host, other, sizeof host, cudaMemcpyDeviceToHost, branch));
        succeed("free", cudaFreeAsync(other, branch));
        if (joins) {
            succeed("join", cudaEventRecord(joined, branch));
            succeed("join", cudaStreamWaitEvent(stream, joined, 0));
        }
        succeed("end of the branch", cudaStreamDestroy(branch));
        same("end", cudaStreamEndCapture(stream, &graph), joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
        if (joins) {
            cudaGraphExec_t executable;
            succeed("instantiate", cudaGraphInstantiate(&executable, graph, 0));
            succeed("destroy", cudaGraphDestroy(graph));
            succeed("launch", cudaGraphLaunch(executable, stream));
            succeed("wait", cudaStreamSynchronize(stream));
            same("by the branch", host[63], 70);
            succeed("destroy", cudaGraphExecDestroy(executable));
        }
        cudaGetLastError();
        succeed("event", cudaEventDestroy(forks));
        succeed("event", cudaEventDestroy(joined));
    }
    succeed("stream", cudaStreamDestroy(stream));
    printf(failures ? "FAIL\n" : "PASS\n");
    return failures != 0;
}
