// Times the launches of a program that links the CUDA runtime as a shared library: a library for LD_PRELOAD.
//
// While the program runs, each launch is kept with its arguments, and no memory is freed. After `main` all launches run once more,
// on one stream in the order in which they were issued, without the copies that were between them: $LAUNCH_SAMPLES times, in turn
// one by one and as a graph. The times go into $LAUNCH_TIMES, as `time plain US` and `time graph US`. What cannot be repeated so
// (launches through the driver's functions, graphs of the program's own, captured launches, other attributes than cooperative and
// programmatic ones) is said there in one line, `untimed REASON`.
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM = 3, MOST_LAUNCHES = 20000, MOST_STUBS = 4096 };
static const double MOST_MILLISECONDS = 2000;

typedef struct {
    cudaLaunchConfig_t configuration;
    cudaLaunchAttribute attribute;
    const void *stub;
    // Where the arguments are.
    struct cudaKernelNodeParams node;
} Launch;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static cudaGraph_t graph;
static Launch *launches;
static size_t count;
static const char *untimed;
static int measures;
static struct {
    const void *kernel, *stub;
} stubs[MOST_STUBS];
static size_t stub_count;

// The function of this name behind this library.
static void *next(const char *name) {
    void *const found = dlsym(RTLD_NEXT, name);
    if (found) return found;
    fprintf(stderr, "launch_times: the CUDA runtime has no %s\n", name);
    _exit(127);
}

#define CALL(result, name, parameters, ...)                                                                                    \
    ({                                                                                                                         \
        static result(*function) parameters;                                                                                   \
        if (!function) function = next(#name);                                                                                 \
        function(__VA_ARGS__);                                                                                                 \
    })

static void keep(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream, const cudaLaunchAttribute *attributes,
                 unsigned attribute_count) {
    if (measures || untimed) return;
    pthread_mutex_lock(&guard);
    enum cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    CALL(cudaError_t, cudaStreamIsCapturing, (cudaStream_t, enum cudaStreamCaptureStatus *), stream, &capturing);
    if (capturing != cudaStreamCaptureStatusNone)
        untimed = "it captures its launches into graphs";
    else if (count == MOST_LAUNCHES)
        untimed = "it launches too often";
    else {
        launches = realloc(launches, (count + 1) * sizeof *launches);
        Launch *const launch = &launches[count];
        memset(launch, 0, sizeof *launch);
        for (unsigned index = 0; index < attribute_count; ++index) {
            const cudaLaunchAttribute *const attribute = &attributes[index];
            if (attribute->id == cudaLaunchAttributeIgnore) continue;
            if ((attribute->id != cudaLaunchAttributeCooperative && attribute->id != cudaLaunchAttributeProgrammaticStreamSerialization) ||
                launch->configuration.numAttrs)
                untimed = "a launch has attributes that are not repeated";
            launch->attribute = *attribute;
            launch->configuration.numAttrs = 1;
        }
        launch->stub = stub;
        launch->configuration.gridDim = grid;
        launch->configuration.blockDim = block;
        launch->configuration.dynamicSmemBytes = shared_bytes;
        const struct cudaKernelNodeParams parameters = {(void *)stub, grid, block, (unsigned)shared_bytes, arguments, NULL};
        cudaGraphNode_t node;
        if (!graph) CALL(cudaError_t, cudaGraphCreate, (cudaGraph_t *, unsigned), &graph, 0);
        // The node keeps a copy of the arguments.
        if (CALL(cudaError_t, cudaGraphAddKernelNode,
                 (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const struct cudaKernelNodeParams *), &node, graph, NULL, 0,
                 &parameters) ||
            CALL(cudaError_t, cudaGraphKernelNodeGetParams, (cudaGraphNode_t, struct cudaKernelNodeParams *), node, &launch->node)) {
            untimed = "the arguments of a launch cannot be kept";
            CALL(cudaError_t, cudaGetLastError, (void));
        } else
            ++count;
    }
    pthread_mutex_unlock(&guard);
}

cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream) {
    const cudaError_t status = CALL(cudaError_t, cudaLaunchKernel, (const void *, dim3, dim3, void **, size_t, cudaStream_t), stub, grid, block,
                                    arguments, shared_bytes, stream);
    if (!status) keep(stub, grid, block, arguments, shared_bytes, stream, NULL, 0);
    return status;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub) {
    const cudaError_t status = CALL(cudaError_t, __cudaGetKernel, (cudaKernel_t *, const void *), kernel, stub);
    pthread_mutex_lock(&guard);
    if (!status && stub_count < MOST_STUBS) {
        stubs[stub_count].kernel = *kernel;
        stubs[stub_count++].stub = stub;
    }
    pthread_mutex_unlock(&guard);
    return status;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream) {
    const cudaError_t status = CALL(cudaError_t, __cudaLaunchKernel, (cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t), kernel, grid, block,
                                    arguments, shared_bytes, stream);
    if (status) return status;
    const void *stub = NULL;
    for (size_t index = 0; index < stub_count; ++index)
        if (stubs[index].kernel == kernel) stub = stubs[index].stub;
    if (stub)
        keep(stub, grid, block, arguments, shared_bytes, stream, NULL, 0);
    else
        untimed = "a kernel is launched by a handle";
    return status;
}

cudaError_t cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream) {
    const cudaError_t status = CALL(cudaError_t, cudaLaunchCooperativeKernel, (const void *, dim3, dim3, void **, size_t, cudaStream_t), stub, grid,
                                    block, arguments, shared_bytes, stream);
    const cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative, .val.cooperative = 1};
    if (!status) keep(stub, grid, block, arguments, shared_bytes, stream, &attribute, 1);
    return status;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *configuration, const void *stub, void **arguments) {
    const cudaError_t status =
        CALL(cudaError_t, cudaLaunchKernelExC, (const cudaLaunchConfig_t *, const void *, void **), configuration, stub, arguments);
    if (!status)
        keep(stub, configuration->gridDim, configuration->blockDim, arguments, configuration->dynamicSmemBytes, configuration->stream,
             configuration->attrs, configuration->numAttrs);
    return status;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t whole, cudaStream_t stream) {
    if (!measures) untimed = "it launches graphs";
    return CALL(cudaError_t, cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t), whole, stream);
}

// Launches are repeated with the memory that they had.
#define KEPT(name, ...)                                                                                                        \
    cudaError_t name(__VA_ARGS__) { return cudaSuccess; }
KEPT(cudaFree, void *memory)
KEPT(cudaFreeAsync, void *memory, cudaStream_t stream)
KEPT(cudaFreeHost, void *memory)
KEPT(cudaHostUnregister, void *memory)
KEPT(cudaDeviceReset, void)

static cudaError_t launch_all(cudaStream_t stream) {
    cudaError_t status = cudaSuccess;
    for (size_t index = 0; index < count && !status; ++index) {
        Launch *const launch = &launches[index];
        launch->configuration.attrs = &launch->attribute;
        launch->configuration.stream = stream;
        status = CALL(cudaError_t, cudaLaunchKernelExC, (const cudaLaunchConfig_t *, const void *, void **), &launch->configuration, launch->stub,
                      launch->node.kernelParams);
    }
    return status;
}

// Times all launches; whether that worked.
static int take_times(FILE *out, int samples) {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraph_t captured;
    cudaGraphExec_t whole;
    cudaError_t status = CALL(cudaError_t, cudaDeviceSynchronize, (void));
    if (!status) status = CALL(cudaError_t, cudaStreamCreate, (cudaStream_t *), &stream);
    if (!status) status = CALL(cudaError_t, cudaEventCreate, (cudaEvent_t *), &begin);
    if (!status) status = CALL(cudaError_t, cudaEventCreate, (cudaEvent_t *), &end);
    if (!status) status = CALL(cudaError_t, cudaStreamBeginCapture, (cudaStream_t, enum cudaStreamCaptureMode), stream, cudaStreamCaptureModeRelaxed);
    if (!status) status = launch_all(stream);
    if (!status) status = CALL(cudaError_t, cudaStreamEndCapture, (cudaStream_t, cudaGraph_t *), stream, &captured);
    if (!status) status = CALL(cudaError_t, cudaGraphInstantiate, (cudaGraphExec_t *, cudaGraph_t, unsigned long long), &whole, captured, 0);
    double spent = 0;
    for (int sample = samples < WARM ? -1 : -WARM; sample < samples && spent < MOST_MILLISECONDS && !status; ++sample)
        for (int graphed = 0; graphed < 2 && !status; ++graphed) {
            float milliseconds = 0;
            status = CALL(cudaError_t, cudaEventRecord, (cudaEvent_t, cudaStream_t), begin, stream);
            if (!status) status = graphed ? CALL(cudaError_t, cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t), whole, stream) : launch_all(stream);
            if (!status) status = CALL(cudaError_t, cudaEventRecord, (cudaEvent_t, cudaStream_t), end, stream);
            if (!status) status = CALL(cudaError_t, cudaEventSynchronize, (cudaEvent_t), end);
            if (!status) status = CALL(cudaError_t, cudaEventElapsedTime, (float *, cudaEvent_t, cudaEvent_t), &milliseconds, begin, end);
            if (!status && sample >= 0) fprintf(out, "time %s %.3f\n", graphed ? "graph" : "plain", 1e3 * milliseconds);
            spent += milliseconds;
        }
    if (status) fprintf(out, "untimed CUDA's error %d when its launches run again\n", status);
    return !status;
}

static int (*program)(int, char **, char **);
static char *path, *samples;

// What the program starts, such as a compiler of its kernels, is not timed.
__attribute__((constructor)) static void take_environment(void) {
    const char *const asked = getenv("LAUNCH_TIMES"), *const times = getenv("LAUNCH_SAMPLES");
    path = asked ? strdup(asked) : NULL;
    samples = strdup(times ? times : "20");
    unsetenv("LD_PRELOAD");
    unsetenv("LAUNCH_TIMES");
}

static int run_and_measure(int argc, char **argv, char **environment) {
    const int status = program(argc, argv, environment);
    FILE *const out = path ? fopen(path, "w") : NULL;
    if (!out) return status;
    measures = 1;
    fprintf(out, "launches %zu\n", count);
    if (untimed)
        fprintf(out, "untimed %s\n", untimed);
    else if (!count)
        fprintf(out, "untimed no launch went through the runtime\n");
    else
        take_times(out, atoi(samples));
    fclose(out);
    return status;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*begin)(void), void (*end)(void), void (*unload)(void),
                      void *stack) {
    program = main;
    return CALL(int, __libc_start_main, (int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *),
                run_and_measure, argc, argv, begin, end, unload, stack);
}
