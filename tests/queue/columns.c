/* Launches that touch columns of matrices, whole ranges and single bytes, at random: each comes in a later batch than those before
 * it that share a byte with it, where one of the two writes. The bytes are told one by one. Behind the queue's text, without
 * graphs. */
#include <stdio.h>

enum { BYTES = 600, LAUNCHES = 40, RANGES = 3 };

int cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared, void *stream) {
    (void)kernel, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
    return 0;
}
int cudaLaunchCooperativeKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                                void *stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
int cudaFuncGetAttributes(void *attributes, const void *kernel) { return (void)attributes, (void)kernel, 1; }
int cudaGetLastError(void) { return 0; }
int cudaDeviceSynchronize(void) { return 0; }
int cudaStreamSynchronize(void *stream) { return (void)stream, 0; }
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    return (void)to, (void)from, (void)bytes, (void)kind, (void)stream, 0;
}
int cudaMallocAsync(void **memory, size_t bytes, void *stream) { return (void)memory, (void)bytes, (void)stream, 2; }
int cudaMalloc(void **memory, size_t bytes) { return (void)memory, (void)bytes, 2; }
int cudaThreadExchangeStreamCaptureMode(int *mode) { return (void)mode, 0; }
int cudaFreeAsync(void *memory, void *stream) { return (void)memory, (void)stream, 0; }
int cudaStreamIsCapturing(void *stream, int *status) { return (void)stream, *status = 0, 0; }

static uint64_t random_state;
static int any(int below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (unsigned)below);
}

struct touched { char reads[BYTES], writes[BYTES]; };

/* A range, with columns or without, and what it touches of the memory that begins at `base`. */
static struct sirius_batch_range random_range(int64_t base, struct touched *touched) {
    struct sirius_batch_range range = {.how = any(2), .argument = -1};
    int low = any(BYTES - 1), high = low + 1 + any(any(3) ? BYTES - low : 8 < BYTES - low ? 8 : BYTES - low);
    int pitch = any(4) ? 1 + any(3) * 20 + any(2) * 19 : 0, first = any(BYTES), bytes = pitch ? 1 + any(pitch + 2) : 0;
    range.low = base + low;
    range.high = base + high;
    range.pitch = any(20) ? pitch : -pitch;
    /* Of any row, also far in front. */
    range.column = base + first - any(3) * pitch;
    range.column_bytes = bytes;
    for (int at = low; at < high; ++at) {
        int behind = pitch ? (int)(((base + at - range.column) % pitch + pitch) % pitch) : 0;
        if (range.pitch > 0 && bytes < pitch && behind >= bytes) continue;
        (range.how & WRITES ? touched->writes : touched->reads)[at] = 1;
    }
    return range;
}

static int meet_by_bytes(const struct touched *a, const struct touched *b) {
    for (int at = 0; at < BYTES; ++at)
        if ((a->writes[at] && (b->writes[at] || b->reads[at])) || (a->reads[at] && b->writes[at])) return 1;
    return 0;
}

int main(int count, char **arguments) {
    long from = count > 1 ? atol(arguments[1]) : 0, to = count > 2 ? atol(arguments[2]) : 1000;
    static const unsigned none;
    static struct sirius_batch_kernel kernel = {.single = &none, .offsets = &none, .sizes = &none};
    static struct touched touched[LAUNCHES];
    long beside = 0, apart = 0;
    for (long seed = from; seed < to; ++seed) {
        random_state = (uint64_t)seed * 7919 + 1;
        int64_t base = 4096 + any(1000);
        memset(touched, 0, sizeof touched);
        int patience = 0;
        for (unsigned i = 0; i < LAUNCHES; ++i) {
            struct sirius_batch_range ranges[RANGES];
            unsigned own = 1 + (unsigned)any(RANGES);
            for (unsigned r = 0; r < own; ++r) ranges[r] = random_range(base, &touched[i]);
            sirius_batch_submit(&kernel, 1, 1, 1, 1, 0, 0, 0, ranges, own, 0, &patience, 0);
        }
        if (queue.count != LAUNCHES) return printf("seed %ld: a launch does not wait\n", seed), 1;
        for (unsigned i = 0; i < LAUNCHES; ++i)
            for (unsigned j = 0; j < i; ++j) {
                int meets = meet_by_bytes(&touched[j], &touched[i]);
                int later = queue.records[i].batch > queue.records[j].batch;
                if (meets && !later) return printf("seed %ld: launch %u does not come behind %u\n", seed, i, j), 1;
                beside += !meets && !later;
                apart += meets;
            }
        sirius_batch_drain();
    }
    printf("%ld pairs share bytes, %ld need not wait\n", apart, beside);
    return !apart || !beside;
}
