/* Allocations of which only the addresses are taken before somebody needs the memory. This file is
 * compiled into the host module of a program for the CUDA device that has such allocations.
 *
 * Invariant: an address range in the list is reserved with the driver and, where `memory` is not 0, backed
 * by physical memory of its device for all its length. Whatever the driver cannot do makes an ordinary
 * allocation, which is in no list. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaDeviceSynchronize(void);
int cudaGetDevice(int *);
int cudaGetDeviceCount(int *);
int cudaMemGetInfo(size_t *, size_t *);
int cudaThreadExchangeStreamCaptureMode(int *);

/* CUmemLocation, CUmemAllocationProp and CUmemAccessDesc of the driver. */
struct location { int type, id; };
struct properties {
    int type, handles;
    struct location location;
    void *security;
    unsigned char flags[8];
};
struct access { struct location location; int flags; };
enum { PINNED = 1, ON_DEVICE = 1, READ_AND_WRITE = 3, OUT_OF_MEMORY = 2, RELAXED = 2 };

static int (*granularity_of)(size_t *, const struct properties *, int);
static int (*reserve)(uint64_t *, size_t, size_t, uint64_t, uint64_t);
static int (*unreserve)(uint64_t, size_t);
static int (*create)(uint64_t *, size_t, const struct properties *, uint64_t);
static int (*release)(uint64_t);
static int (*map)(uint64_t, size_t, size_t, uint64_t, uint64_t);
static int (*unmap)(uint64_t, size_t);
static int (*set_access)(uint64_t, size_t, const struct access *, size_t);

struct range {
    struct range *next;
    uint64_t start, bytes, memory;
    int device;
};

static struct range *ranges;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Finds the driver's functions, once; 0 where one is missing. Under the lock. */
static int has_driver(void) {
    static int state;
    if (state) return state > 0;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    state = -1;
    if (!driver) return 0;
    int found = 1;
#define FIND(function, name) found &= (*(void **)&function = dlsym(driver, name)) != NULL
    FIND(granularity_of, "cuMemGetAllocationGranularity");
    FIND(reserve, "cuMemAddressReserve");
    FIND(unreserve, "cuMemAddressFree");
    FIND(create, "cuMemCreate");
    FIND(release, "cuMemRelease");
    FIND(map, "cuMemMap");
    FIND(unmap, "cuMemUnmap");
    FIND(set_access, "cuMemSetAccess");
    if (found) state = 1;
    return found;
}

static struct properties on(int device) {
    struct properties properties = {0};
    properties.type = PINNED;
    properties.location.type = ON_DEVICE;
    properties.location.id = device;
    return properties;
}

/* Takes addresses for so many bytes; NULL where that cannot be or is not worth while. */
static struct range *reserved(size_t bytes) {
    int device, devices;
    size_t unit = 0, left, total;
    /* Other devices might be let into an ordinary allocation. */
    if (cudaGetDevice(&device) || cudaGetDeviceCount(&devices) || devices != 1) return NULL;
    /* What cannot be allocated now is refused by who knows the error for it. */
    if (cudaMemGetInfo(&left, &total) || bytes > left) return NULL;
    pthread_mutex_lock(&lock);
    int known = has_driver();
    pthread_mutex_unlock(&lock);
    if (!known) return NULL;
    struct properties properties = on(device);
    /* Less than a unit shares one with others where it is an ordinary allocation. */
    if (granularity_of(&unit, &properties, 0) || !unit || bytes < unit) return NULL;
    struct range *range = calloc(1, sizeof *range);
    if (!range) return NULL;
    range->bytes = (bytes + unit - 1) / unit * unit;
    range->device = device;
    if (!reserve(&range->start, range->bytes, 0, 0, 0)) return range;
    free(range);
    return NULL;
}

int sirius_reserve(void **pointer, size_t bytes) {
    struct range *range = pointer && bytes ? reserved(bytes) : NULL;
    if (!range) return cudaMalloc(pointer, bytes);
    pthread_mutex_lock(&lock);
    range->next = ranges;
    ranges = range;
    pthread_mutex_unlock(&lock);
    *pointer = (void *)range->start;
    return 0;
}

static int back(struct range *range) {
    struct properties properties = on(range->device);
    struct access access = {properties.location, READ_AND_WRITE};
    uint64_t memory;
    if (create(&memory, range->bytes, &properties, 0)) return 0;
    if (map(range->start, range->bytes, 0, memory, 0)) {
        release(memory);
        return 0;
    }
    if (set_access(range->start, range->bytes, &access, 1)) {
        unmap(range->start, range->bytes);
        release(memory);
        return 0;
    }
    range->memory = memory;
    return 1;
}

static struct range **holding(uint64_t address) {
    struct range **at = &ranges;
    while (*at && address - (*at)->start >= (*at)->bytes) at = &(*at)->next;
    return at;
}

int sirius_make_real(void *pointer) {
    pthread_mutex_lock(&lock);
    struct range *range = *holding((uint64_t)pointer);
    int real = 1;
    if (range && !range->memory) {
        int mode = RELAXED;
        int exchanged = !cudaThreadExchangeStreamCaptureMode(&mode);
        real = back(range);
        if (exchanged) cudaThreadExchangeStreamCaptureMode(&mode);
    }
    pthread_mutex_unlock(&lock);
    if (real) return 0;
    /* So that the program finds the error where it looks for it. */
    void *nothing;
    cudaMalloc(&nothing, SIZE_MAX / 2);
    return OUT_OF_MEMORY;
}

int sirius_release(void *pointer) {
    pthread_mutex_lock(&lock);
    struct range **at = holding((uint64_t)pointer);
    struct range *range = *at && (*at)->start == (uint64_t)pointer ? *at : NULL;
    if (range) *at = range->next;
    pthread_mutex_unlock(&lock);
    if (!range) return cudaFree(pointer);
    /* `cudaFree` waits, too. */
    int status = cudaDeviceSynchronize();
    if (range->memory) {
        unmap(range->start, range->bytes);
        release(range->memory);
    }
    unreserve(range->start, range->bytes);
    free(range);
    return status;
}
