/* A device that the queue of waiting launches (`src/codegen/batches/`) runs on by itself: memory of a few cells, kernels that
 * change it, graphs that run their nodes in any order that their edges allow, a clock that goes on by what each
 * call is said to take, and calls that fail when they are told to. The queue's text comes before this one. */
#include <stdio.h>

enum { CELLS = 24, KERNELS = 3, MOST_NODES = 256, LARGEST = 8 };

static unsigned cells[CELLS], reference[CELLS];

/* By what is taken from the seed. */
static uint64_t random_state;
static unsigned any(unsigned below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

static struct {
    long time, launch, graph_launch, set, make; /* now, and what calls take, in nanoseconds */
    int fails_one_in; /* of so many calls about graphs; 0: none */
    int error, capturing;
    unsigned long long context, streams[3];
    long launched, nodes, graphs_launched, graphs_made, graphs_ended, sets, calls, unknown;
} device;

int clock_gettime(clockid_t clock, struct timespec *time) {
    (void)clock;
    time->tv_sec = device.time / 1000000000;
    time->tv_nsec = device.time % 1000000000;
    return 0;
}

/* dst[i] = 3 dst[i] + src[i] + value, or dst[i] = src[i] + value; a record is dst, src, value, count. */
struct arguments { unsigned *dst; const unsigned *src; unsigned value, count; };
static char single_keys[KERNELS], batch_keys[KERNELS];
static const unsigned offsets[4] = {0, 8, 16, 20}, sizes[4] = {8, 8, 4, 4};
static const struct piece whole_record = {0, 0, 32};
static struct sirius_batch_kernel kernels[KERNELS];

static void run_record(unsigned kernel, const struct arguments *record) {
    for (unsigned i = 0; i < record->count; ++i)
        record->dst[i] = (kernel == 1 ? 0 : record->dst[i] * (kernel + 3)) + record->src[i] + record->value;
}

static void run_kernel(const void *function, struct dim3 grid, void **arguments) {
    const char *key = function;
    if (key >= single_keys && key < single_keys + KERNELS) {
        struct arguments record;
        memcpy(&record.dst, arguments[0], 8);
        memcpy(&record.src, arguments[1], 8);
        memcpy(&record.value, arguments[2], 4);
        memcpy(&record.count, arguments[3], 4);
        run_record((unsigned)(key - single_keys), &record);
        return;
    }
    const char *memory = arguments[0];
    unsigned depth;
    memcpy(&depth, memory, sizeof depth);
    for (unsigned i = 0; i < grid.z / depth; ++i) {
        struct arguments record;
        memcpy(&record, memory + 16 + i * 32, sizeof record);
        run_record((unsigned)(key - batch_keys), &record);
    }
}

int cudaPeekAtLastError(void) { return device.error; }
int cudaGetLastError(void) {
    int error = device.error;
    device.error = 0;
    return error;
}
int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                     void *stream) {
    (void)block, (void)shared, (void)stream;
    device.time += device.launch;
    ++device.launched;
    run_kernel(function, grid, arguments);
    return 0;
}
int cudaLaunchCooperativeKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
                                size_t shared, void *stream) {
    return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}
int cudaFuncGetAttributes(void *attributes, const void *function) {
    int threads = 1024;
    (void)function;
    memcpy((char *)attributes + 3 * sizeof(size_t), &threads, sizeof threads);
    return 0;
}
int cudaDeviceSynchronize(void) { return 0; }
int cudaStreamSynchronize(void *stream) { return (void)stream, 0; }
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int how, void *stream) {
    (void)how, (void)stream;
    memcpy(to, from, bytes);
    return 0;
}
int cudaMallocAsync(void **memory, size_t bytes, void *stream) { return (void)stream, *memory = malloc(bytes), 0; }
int cudaMalloc(void **memory, size_t bytes) { return *memory = malloc(bytes), 0; }
int cudaFreeAsync(void *memory, void *stream) { return (void)stream, free(memory), 0; }
int cudaStreamIsCapturing(void *stream, int *status) {
    (void)stream;
    *status = device.capturing;
    return 0;
}

/* Handles stand for one thing for ever; what has ended is known. */
struct mock_node { const void *function; struct dim3 grid; void *arguments[4]; unsigned before[MOST_NODES], befores, graph; char *bytes; };
struct mock_graph { struct mock_node node[MOST_NODES]; unsigned nodes; int there, is_executable; unsigned long long context, stream; };
static struct mock_graph *made[1 << 16];
static unsigned graphs_so_far;

static int fails(void) {
    ++device.calls;
    if (!device.fails_one_in || any((unsigned)device.fails_one_in)) return 0;
    return device.error = 999;
}
static struct mock_graph *graph_at(void *handle) {
    uintptr_t number = (uintptr_t)handle >> 12;
    struct mock_graph *graph = number && number <= graphs_so_far ? made[number] : 0;
    if (!graph || !graph->there || graph->context != device.context) {
        ++device.unknown;
        printf("a graph that is not there\n");
        exit(1);
    }
    return graph;
}
int cudaGraphCreate(void **graph, unsigned flags) {
    (void)flags;
    if (fails()) return 999;
    struct mock_graph *fresh = calloc(1, sizeof *fresh);
    fresh->there = 1;
    fresh->context = device.context;
    made[++graphs_so_far] = fresh;
    *graph = (void *)((uintptr_t)graphs_so_far << 12);
    return 0;
}
static void set_mock(struct mock_node *node, const struct node_parameters *parameters) {
    const char *key = parameters->function;
    int is_single = key >= single_keys && key < single_keys + KERNELS;
    node->function = parameters->function;
    node->grid = parameters->grid;
    if (!node->bytes) node->bytes = malloc(BATCH_BYTES);
    if (!is_single) memcpy(node->bytes, parameters->arguments[0], BATCH_BYTES);
    for (unsigned i = 0; is_single && i < 4; ++i) memcpy(node->bytes + i * 16, parameters->arguments[i], sizes[i]);
    for (unsigned i = 0; i < 4; ++i) node->arguments[i] = node->bytes + i * 16;
}
int cudaGraphAddKernelNode(void **node, void *handle, void *const *before, size_t count,
                           const struct node_parameters *parameters) {
    struct mock_graph *graph = graph_at(handle);
    device.time += device.make;
    if (fails()) return 999;
    struct mock_node *fresh = &graph->node[graph->nodes];
    for (size_t i = 0; i < count; ++i) fresh->before[fresh->befores++] = ((uintptr_t)before[i] & 4095) - 1;
    set_mock(fresh, parameters);
    *node = (void *)((uintptr_t)handle | ++graph->nodes);
    return 0;
}
int cudaGraphInstantiateWithFlags(void **executable, void *handle, unsigned long long flags) {
    (void)flags;
    struct mock_graph *graph = graph_at(handle);
    if (fails()) return 999;
    struct mock_graph *copy = malloc(sizeof *copy);
    *copy = *graph;
    for (unsigned i = 0; i < copy->nodes; ++i) {
        char *bytes = malloc(BATCH_BYTES);
        memcpy(bytes, graph->node[i].bytes, BATCH_BYTES);
        copy->node[i].bytes = bytes;
        for (unsigned j = 0; j < 4; ++j) copy->node[i].arguments[j] = bytes + j * 16;
    }
    copy->is_executable = 1;
    made[++graphs_so_far] = copy;
    *executable = (void *)((uintptr_t)graphs_so_far << 12);
    ++device.graphs_made;
    return 0;
}
int cudaGraphExecKernelNodeSetParams(void *handle, void *node, const struct node_parameters *parameters) {
    struct mock_graph *graph = graph_at(handle);
    graph_at((void *)((uintptr_t)node & ~(uintptr_t)4095));
    device.time += device.set;
    ++device.sets;
    if (fails()) return 999;
    struct mock_node *own = &graph->node[((uintptr_t)node & 4095) - 1];
    if (own->function != parameters->function) printf("a node of another kernel\n"), exit(1);
    set_mock(own, parameters);
    return 0;
}
int cudaGraphLaunch(void *handle, void *stream) {
    struct mock_graph *graph = graph_at(handle);
    unsigned long long number = device.streams[(uintptr_t)stream];
    if (graph->stream && graph->stream != number) printf("a graph of another stream\n"), exit(1);
    if (device.capturing) printf("a graph while a stream is captured\n"), exit(1);
    graph->stream = number;
    device.time += device.graph_launch;
    if (fails()) return 999;
    ++device.graphs_launched;
    char done[MOST_NODES] = {0};
    for (unsigned left = graph->nodes; left--;) {
        unsigned ready[MOST_NODES], count = 0;
        for (unsigned i = 0; i < graph->nodes; ++i) {
            int may = !done[i];
            for (unsigned b = 0; b < graph->node[i].befores; ++b) may &= done[graph->node[i].before[b]];
            if (may) ready[count++] = i;
        }
        struct mock_node *node = &graph->node[ready[any(count)]];
        done[node - graph->node] = 1;
        ++device.nodes;
        run_kernel(node->function, node->grid, node->arguments);
    }
    return 0;
}
static int end_mock(void *handle) {
    struct mock_graph *graph = graph_at(handle);
    for (unsigned i = 0; i < graph->nodes; ++i) free(graph->node[i].bytes);
    device.graphs_ended += graph->is_executable;
    made[(uintptr_t)handle >> 12] = 0;
    free(graph);
    return 0;
}
int cudaGraphDestroy(void *handle) { return end_mock(handle); }
int cudaGraphExecDestroy(void *handle) { return end_mock(handle); }
int cudaThreadExchangeStreamCaptureMode(int *mode) {
    static int own;
    int before = own;
    own = *mode;
    *mode = before;
    return 0;
}
int cudaStreamGetId(void *stream, unsigned long long *number) {
    *number = (uintptr_t)stream == 1 ? device.context : device.streams[(uintptr_t)stream];
    return 0;
}
int cudaStreamGetPriority(void *stream, int *priority) { return (void)stream, *priority = 0, 0; }

/* All is forgotten but what the queue keeps: another context, other streams. */
static void reset_device(void) {
    static unsigned long long numbers = 10;
    device.context = numbers++;
    for (unsigned i = 0; i < 3; ++i) device.streams[i] = numbers++;
}

static void make_kernels(void) {
    for (unsigned i = 0; i < KERNELS; ++i) {
        struct sirius_batch_kernel kernel = {.single = &single_keys[i], .batch = &batch_keys[i], .capacity = 100,
                                             .record_bytes = 32, .arguments = 4, .argument_bytes = 32,
                                             .offsets = offsets, .sizes = sizes, .pieces = 1, .piece = &whole_record,
                                             .records_offset = 16};
        kernels[i] = kernel;
    }
}

/* Submits a launch, and does it at once elsewhere. */
static int submit(unsigned kernel, unsigned to, unsigned from, unsigned count, unsigned value, unsigned site, void *stream,
                  int *patience) {
    struct arguments record = {cells + to, cells + from, value, count}, expected = {reference + to, reference + from, value,
                                                                                    count};
    void *arguments[4] = {&record.dst, &record.src, &record.value, &record.count};
    struct sirius_batch_range ranges[2] = {
        {(intptr_t)record.src, (intptr_t)(record.src + count), 0, 1, 0},
        {(intptr_t)record.dst, (intptr_t)(record.dst + count), WRITES, 0, 0},
    };
    run_record(kernel, &expected);
    return sirius_batch_submit(&kernels[kernel], 1 | (uint64_t)1 << 32, 1, 32 | (uint64_t)1 << 32, 1, 0, stream, arguments, ranges,
                               2, site, patience, 0);
}

static void check(int holds, const char *what) {
    if (holds) return;
    printf("%s\n", what);
    exit(1);
}

static void compare_cells(const char *what) { check(!memcmp(cells, reference, sizeof cells), what); }
