/* Launches that are timed. This file is compiled into the host module of a program that is built to be
 * measured: each launch stands between two events, and when the program ends, the file that
 * SIRIUS_TUNE_TIMES names gets what each launch site took. Without that variable nothing is timed.
 *
 * Invariant: the launches are those of the program, in its order, with its status. Nobody waits for one
 * before it would be done anyway, so that the device is as busy as without events.
 *
 * A launch that is captured gets two nodes of the graph that record events, before it and behind it. What
 * they say when the program ends is how long it took when the graph ran last; where the graph never ran they
 * say nothing. Their events live as long as the program, as the graph may. A program that may look into its
 * graphs is not to find such nodes there: the compiler names the sites (SIRIUS_SEEN) that are left alone
 * while they are captured. With SIRIUS_TUNE_GRAPHS=off all are.
 *
 * What has to be done while a thread captures is done in the mode that leaves captures alone.
 *
 * A program that does the same again finds its inputs in the cache where the last time left them, which
 * programs that only repeat themselves to be measured have no right to. So before a launch site that was met
 * since the caches were last emptied, a buffer of more than the second-level cache is written over: what
 * one launch leaves for the next one stays there, what one repetition leaves for the next one does not. In
 * a graph a node does that, and before each graph the program does.
 * With SIRIUS_TUNE_CACHES=kept nothing is emptied; on the CPU device something is only with =emptied. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dim3 { unsigned x, y, z; };
int SIRIUS_LAUNCH(const void *, struct dim3, struct dim3, void **, size_t, void *);
int SIRIUS_RECORD(void *, void *);
int SIRIUS_RECORD_AS(void *, void *, unsigned);
int SIRIUS_IS_CAPTURING(void *, int *);
int cudaEventCreate(void **);
int cudaEventDestroy(void *);
int cudaEventSynchronize(void *);
int cudaEventElapsedTime(float *, void *, void *);
int cudaFuncGetAttributes(void *, const void *);
int cudaGetDevice(int *);
int cudaGetDeviceProperties(void *, int);
int cudaDeviceGetAttribute(int *, int, int);
int cudaDriverGetVersion(int *);
int cudaDeviceReset(void);
int cudaMalloc(void **, size_t);
int SIRIUS_MEMSET(void *, int, size_t, void *);
int cudaPeekAtLastError(void);
int cudaGetLastError(void);
int cudaThreadExchangeStreamCaptureMode(int *);
#ifdef SIRIUS_CPU_DEVICE
void __sirius_launch_site(unsigned);
#endif

/* What the launches of a site took. */
struct site { unsigned number, count; double nanoseconds; };

/* A launch that may not be done. */
struct timed { unsigned site; void *begin, *end; };

enum { MOST_PENDING = 1 << 11, MOST_CAPTURED = 1 << 16, MOST_LOADED = 1 << 12, MOST_MET = 1 << 16 };
enum { RELAXED = 2, EXTERNAL = 1 };
enum way { NOT_TIMED, ISSUED, CAPTURED };

/* Launches that are not to be timed where they are captured. */
static const unsigned seen[] = {SIRIUS_SEEN ~0u};

static atomic_flag taken = ATOMIC_FLAG_INIT;
static struct timed pending[MOST_PENDING], captured[MOST_CAPTURED];
static unsigned pending_count, captured_count, site_count, site_room;
static struct site *sites;
static const void *loaded[MOST_LOADED];
static char device[1024];
static int is_ready, is_on, times_captured, scratch_device;
static void *scratch;
static size_t scratch_bytes;
/* How often the caches were emptied, and for each site how often when it was met last. */
static unsigned emptied, met[MOST_MET];
static _Thread_local unsigned next_site;
static _Thread_local int mode_of_capture;

static void lock(void) {
    while (atomic_flag_test_and_set(&taken)) {}
    mode_of_capture = RELAXED;
    cudaThreadExchangeStreamCaptureMode(&mode_of_capture);
}

static void unlock(void) {
    cudaThreadExchangeStreamCaptureMode(&mode_of_capture);
    atomic_flag_clear(&taken);
}

static void add(unsigned number, double nanoseconds) {
    unsigned at = 0;
    while (at < site_count && sites[at].number != number) ++at;
    if (at == site_count) {
        if (site_count == site_room) {
            unsigned room = site_room ? 2 * site_room : 64;
            struct site *more = realloc(sites, room * sizeof *more);
            if (!more) return;
            sites = more, site_room = room;
        }
        sites[site_count++] = (struct site){number, 0, 0};
    }
    ++sites[at].count;
    sites[at].nanoseconds += nanoseconds;
}

/* Waits for the launches that began first, so that at most so many are left. */
static void settle(unsigned left) {
    unsigned gone = 0;
    for (; gone + left < pending_count; ++gone) {
        struct timed *at = &pending[gone];
        float milliseconds = 0;
        if (!cudaEventSynchronize(at->end) && !cudaEventElapsedTime(&milliseconds, at->begin, at->end))
            add(at->site, milliseconds * 1e6);
        cudaEventDestroy(at->begin);
        cudaEventDestroy(at->end);
    }
    pending_count -= gone;
    memmove(pending, pending + gone, pending_count * sizeof *pending);
}

/* Takes all times that there are, before what they are taken from is gone. */
static void finish(void) {
    int failed = cudaPeekAtLastError();
    settle(0);
    for (unsigned i = 0; i < captured_count; ++i) {
        struct timed *at = &captured[i];
        float milliseconds = -1;
        /* A graph that is run again at this moment may have begun anew and not ended anew. */
        if (!cudaEventSynchronize(at->end) && !cudaEventElapsedTime(&milliseconds, at->begin, at->end) &&
            milliseconds >= 0)
            add(at->site, milliseconds * 1e6);
    }
    captured_count = 0;
    scratch = 0;
    if (!failed) cudaGetLastError();
}

static void write_times(void) {
    const char *path = getenv("SIRIUS_TUNE_TIMES");
    lock();
    finish();
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file >= 0) {
        dprintf(file, "device %s\nemptied %u\n", device, emptied - 1);
        for (unsigned i = 0; i < site_count; ++i)
            dprintf(file, "site %u %u %.0f\n", sites[i].number, sites[i].count, sites[i].nanoseconds);
        close(file);
    }
    unlock();
}

/* What is measured on: compute capability, multiprocessors, driver and name. */
static void describe_device(void) {
    enum { MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76 };
    static char properties[1 << 14]; /* begins with the name */
    int number = 0, major = 0, minor = 0, multiprocessors = 0, driver = 0;
    cudaGetDevice(&number);
    cudaDeviceGetAttribute(&major, MAJOR, number);
    cudaDeviceGetAttribute(&minor, MINOR, number);
    cudaDeviceGetAttribute(&multiprocessors, MULTIPROCESSORS, number);
    cudaDriverGetVersion(&driver);
    if (cudaGetDeviceProperties(properties, number)) properties[0] = 0;
    properties[255] = 0;
    for (char *at = properties; *at; ++at)
        if (*at < ' ' || *at == '"' || *at == '\\' || *at > '~') *at = ' ';
    snprintf(device, sizeof device, "%d %d %d %s", 10 * major + minor, multiprocessors, driver, properties);
}

/* Memory for emptying the caches, twice as much as they hold; none where that is not wanted, or not to be
 * had, of which the program is to hear nothing. */
static void prepare_scratch(void) {
    enum { L2_BYTES = 38 };
    const char *asked = getenv("SIRIUS_TUNE_CACHES");
    int number = 0, bytes = 0;
#ifdef SIRIUS_CPU_DEVICE
    if (!asked || strcmp(asked, "emptied")) return;
#else
    if (asked && !strcmp(asked, "kept")) return;
#endif
    if (cudaPeekAtLastError() || cudaGetDevice(&number) || cudaDeviceGetAttribute(&bytes, L2_BYTES, number) || bytes <= 0)
        return;
    if (cudaMalloc(&scratch, 2 * (size_t)bytes)) {
        scratch = 0;
        cudaGetLastError();
        return;
    }
    scratch_bytes = 2 * (size_t)bytes;
    scratch_device = number;
}

/* Empties the caches of the device that the memory for that is on. */
static void empty(void *stream) {
    int number = 0;
    if (!scratch || cudaGetDevice(&number) || number != scratch_device) return;
    ++emptied;
    SIRIUS_MEMSET(scratch, (int)emptied, scratch_bytes, stream);
}

/* Empties the caches where a site comes again. */
static void meet(unsigned site, void *stream) {
    unsigned *last = &met[site % MOST_MET];
    if (*last == emptied) empty(stream);
    *last = emptied;
}

/* A kernel is loaded when it is launched first, which is no part of its time. */
static void load(const void *function) {
    static char attributes[1024];
    size_t at = ((uintptr_t)function >> 4) % MOST_LOADED;
    if (loaded[at] == function) return;
    int failed = cudaPeekAtLastError();
    if (cudaFuncGetAttributes(attributes, function) && !failed) cudaGetLastError();
    loaded[at] = function;
}

static int is_seen(unsigned site) {
    for (const unsigned *at = seen; *at != ~0u; ++at)
        if (*at == (site & ~(1u << 31))) return 1;
    return 0;
}

/* Events for a launch on a stream, the first of them recorded. */
static enum way begin(struct timed *timed, const void *function, void *stream) {
    int capturing = 0;
    if (SIRIUS_IS_CAPTURING(stream, &capturing) || capturing > 1) return NOT_TIMED;
    lock();
    if (!is_ready) {
        const char *graphs = getenv("SIRIUS_TUNE_GRAPHS");
        is_ready = 1;
        is_on = getenv("SIRIUS_TUNE_TIMES") != NULL;
        times_captured = !graphs || strcmp(graphs, "off");
        emptied = 1;
        if (is_on) {
            describe_device();
            prepare_scratch();
            atexit(write_times);
        }
    }
    int wanted = is_on && (!capturing || (times_captured && captured_count < MOST_CAPTURED && !is_seen(timed->site)));
    if (wanted) {
        load(function);
        meet(timed->site, stream);
    }
    unlock();
    if (!wanted || cudaEventCreate(&timed->begin)) return NOT_TIMED;
    if (!cudaEventCreate(&timed->end)) {
        if (!capturing && !SIRIUS_RECORD(timed->begin, stream)) return ISSUED;
        if (capturing && !SIRIUS_RECORD_AS(timed->begin, stream, EXTERNAL)) return CAPTURED;
        cudaEventDestroy(timed->end);
    }
    cudaEventDestroy(timed->begin);
    return NOT_TIMED;
}

/* A launch that ended with this status is over. */
static void end(struct timed timed, enum way way, void *stream, int status) {
    switch (way) {
    case NOT_TIMED: return;
    case CAPTURED:
        /* The graph knows the event now, whatever follows. */
        if (status || SIRIUS_RECORD_AS(timed.end, stream, EXTERNAL)) return;
        lock();
        if (captured_count < MOST_CAPTURED) captured[captured_count++] = timed;
        unlock();
        return;
    case ISSUED:
        if (status || SIRIUS_RECORD(timed.end, stream)) {
            cudaEventDestroy(timed.begin);
            cudaEventDestroy(timed.end);
            return;
        }
        lock();
        if (pending_count == MOST_PENDING) settle(MOST_PENDING / 2);
        pending[pending_count++] = timed;
        unlock();
    }
}

void sirius_timed_site(unsigned site) {
    next_site = site;
#ifdef SIRIUS_CPU_DEVICE
    __sirius_launch_site(site);
#endif
}

int SIRIUS_TIMED(const void *function, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                 void *stream) {
    struct timed timed = {next_site, 0, 0};
    enum way way = begin(&timed, function, stream);
    int status = SIRIUS_LAUNCH(function, grid, block, arguments, shared, stream);
    end(timed, way, stream, status);
    return status;
}

#ifdef SIRIUS_COOPERATIVE_LAUNCH
int SIRIUS_COOPERATIVE_LAUNCH(const void *, struct dim3, struct dim3, void **, size_t, void *);

int SIRIUS_TIMED_COOPERATIVE(const void *function, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                             void *stream) {
    struct timed timed = {next_site, 0, 0};
    enum way way = begin(&timed, function, stream);
    int status = SIRIUS_COOPERATIVE_LAUNCH(function, grid, block, arguments, shared, stream);
    end(timed, way, stream, status);
    return status;
}
#endif

#ifdef SIRIUS_DRIVER_LAUNCH
int SIRIUS_DRIVER_LAUNCH(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                         void **, void **);

/* The runtime knows the kernel as `function`, the driver by its handle. */
int SIRIUS_TIMED_DRIVER_LAUNCH(const void *function, void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
                               void **arguments, void **extra) {
    struct timed timed = {next_site, 0, 0};
    enum way way = begin(&timed, function, stream);
    int status = SIRIUS_DRIVER_LAUNCH(handle, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,
                                      arguments, extra);
    end(timed, way, stream, status);
    return status;
}
#endif

/* A graph finds the caches empty, as a launch does that comes again. */
static void before_graph(void *stream) {
    int capturing = 0;
    if (!is_on || SIRIUS_IS_CAPTURING(stream, &capturing) || capturing) return;
    lock();
    empty(stream);
    unlock();
}

/* The functions of the program that run graphs. */
#define GRAPH_LAUNCH(NAME)                                                                         \
    int NAME(void *, void *);                                                                      \
    int sirius_timed_##NAME(void *graph, void *stream) {                                           \
        before_graph(stream);                                                                      \
        return NAME(graph, stream);                                                                \
    }
SIRIUS_GRAPH_LAUNCHES

/* The functions of the program that end a device or a context: events and memory do not outlive it. */
#define END(NAME, TYPE)                                                                            \
    int NAME(TYPE);                                                                                \
    int sirius_timed_##NAME(TYPE what) {                                                           \
        lock();                                                                                    \
        finish();                                                                                  \
        unlock();                                                                                  \
        return NAME(what);                                                                         \
    }
SIRIUS_ENDS

#ifdef SIRIUS_RESETS
int sirius_timed_cudaDeviceReset(void) {
    lock();
    finish();
    unlock();
    return cudaDeviceReset();
}
#endif
