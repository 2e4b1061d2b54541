/* Launches that are timed. This file is compiled into the host module of a program that is built to be
 * measured: each launch stands between two events, and when the program ends, the file that
 * SIRIUS_TUNE_TIMES names gets what each launch site took. Without that variable nothing is timed.
 *
 * Invariant: the launches are those of the program, in its order, with its status. Nobody waits for one
 * before it would be done anyway, so that the device is as busy, and its caches are as full, as without
 * events. What a graph is captured from is not timed. */
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
#ifdef SIRIUS_CPU_DEVICE
void __sirius_launch_site(unsigned);
#endif

/* What the launches of a site took. */
struct site { unsigned number, count; double nanoseconds; };

/* A launch that may not be done. */
struct timed { unsigned site; void *begin, *end; };

enum { MOST_PENDING = 1 << 11, MOST_LOADED = 1 << 12 };

static atomic_flag taken = ATOMIC_FLAG_INIT;
static struct timed pending[MOST_PENDING];
static unsigned pending_count, site_count, site_room;
static struct site *sites;
static const void *loaded[MOST_LOADED];
static char device[1024];
static int is_ready, is_on;
static _Thread_local unsigned next_site;

static void lock(void) {
    while (atomic_flag_test_and_set(&taken)) {}
}

static void unlock(void) {
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

static void write_times(void) {
    const char *path = getenv("SIRIUS_TUNE_TIMES");
    lock();
    settle(0);
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file >= 0) {
        dprintf(file, "device %s\n", device);
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

/* A kernel is loaded when it is launched first, which is no part of its time. */
static void load(const void *function) {
    static char attributes[1024];
    size_t at = ((uintptr_t)function >> 4) % MOST_LOADED;
    if (loaded[at] == function) return;
    cudaFuncGetAttributes(attributes, function);
    loaded[at] = function;
}

/* Events for a launch on a stream, the first of them recorded; 0 where there is none. */
static int begin(struct timed *timed, const void *function, void *stream) {
    int capturing = 0;
    if (SIRIUS_IS_CAPTURING(stream, &capturing) || capturing) return 0;
    lock();
    if (!is_ready) {
        is_ready = 1;
        is_on = getenv("SIRIUS_TUNE_TIMES") != NULL;
        if (is_on) {
            describe_device();
            atexit(write_times);
        }
    }
    if (is_on) load(function);
    unlock();
    if (!is_on || cudaEventCreate(&timed->begin)) return 0;
    if (!cudaEventCreate(&timed->end)) {
        if (!SIRIUS_RECORD(timed->begin, stream)) return 1;
        cudaEventDestroy(timed->end);
    }
    cudaEventDestroy(timed->begin);
    return 0;
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
    int is_timed = begin(&timed, function, stream);
    int status = SIRIUS_LAUNCH(function, grid, block, arguments, shared, stream);
    if (!is_timed) return status;
    if (status || SIRIUS_RECORD(timed.end, stream)) {
        cudaEventDestroy(timed.begin);
        cudaEventDestroy(timed.end);
        return status;
    }
    lock();
    if (pending_count == MOST_PENDING) settle(MOST_PENDING / 2);
    pending[pending_count++] = timed;
    unlock();
    return status;
}

/* Events do not outlive it. */
int sirius_timed_reset(void) {
    lock();
    settle(0);
    unlock();
    return cudaDeviceReset();
}
