/* Launches that wait for their waves. This file is compiled into the host module of a program whose
 * plan has regions; one queue a thread.
 *
 * Invariant: a record's wave is later than that of every earlier record that touches a common byte,
 * one of the two writing it. Waves are issued in order on one stream, so conflicting launches run in
 * the order in which the program issued them. Whatever does not fit into the tables issues what waits
 * first, and is then launched as it is. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct dim3 { unsigned x, y, z; };
int SIRIUS_LAUNCH(const void *, struct dim3, struct dim3, void **, size_t, void *);
int cudaFuncGetAttributes(void *, const void *);
int cudaGetLastError(void);
#ifdef SIRIUS_ANNOUNCE
void __sirius_launch_site(unsigned);
#endif

/* The code of a statement; made by the compiler. */
struct sirius_wave_kernel {
    const void *single;     /* the kernel for one record; null: a batch of one */
    const void *batch;      /* (struct { unsigned grid_z; record[capacity] }): blocks along z */
    unsigned capacity;      /* records that a batch takes; below 2 there is no batch kernel */
    unsigned record_bytes;  /* size of a record, its arguments at their offsets */
    unsigned arguments;
    const unsigned *offsets, *sizes;
    unsigned records_offset; /* of the first record within a batch's parameter */
    int batch_threads;       /* most threads a block of the batch kernel, 0: not asked yet */
};

struct sirius_wave_range { int64_t low, high, writes; };

struct record {
    const struct sirius_wave_kernel *kernel;
    struct dim3 grid, block;
    size_t shared;
    unsigned wave, site;
    size_t arguments; /* offset of its arguments in the queue's bytes */
    unsigned order;
};

/* A part of memory whose bytes were touched by the same records. */
struct span { int64_t low, high; unsigned written, read; /* latest waves, 0: never */ };

struct queue {
    void *stream;
    unsigned count, waves, room;
    struct record *records;
    size_t bytes, bytes_room;
    char *arguments;
    size_t spans, spans_room;
    struct span *span;
};

enum { MOST_RECORDS = 1 << 14, MOST_SPANS = 1 << 14, PROBATION = 1 << 13, ARGUMENTS = 64, BATCH_BYTES = 4096 };

static _Thread_local struct queue queue;

/* Makes room for one more element of an array; 0 when there is no memory. */
static int grow(void **array, size_t element, size_t needed, size_t *room) {
    if (needed <= *room) return 1;
    size_t more = *room ? *room * 2 : 256;
    while (more < needed) more *= 2;
    void *moved = realloc(*array, more * element);
    if (!moved) return 0;
    *array = moved;
    *room = more;
    return 1;
}

static void announce(unsigned site) {
#ifdef SIRIUS_ANNOUNCE
    __sirius_launch_site(site);
#else
    (void)site;
#endif
}

/* Launches a batch of some records, whose arguments lie in the parameter. */
static int launch_batch(const struct sirius_wave_kernel *kernel, struct dim3 grid, struct dim3 block,
                        unsigned number, char *parameter, size_t shared, void *stream, unsigned site) {
    memcpy(parameter, &grid.z, sizeof grid.z);
    grid.z *= number;
    void *pointers[1] = {parameter};
    announce(site);
    return SIRIUS_LAUNCH(kernel->batch, grid, block, pointers, shared, stream);
}

/* Launches one record, whose arguments lie anywhere. */
static int launch_single(const struct sirius_wave_kernel *kernel, struct dim3 grid, struct dim3 block,
                         void **arguments, size_t shared, void *stream, unsigned site) {
    if (kernel->single) {
        announce(site);
        return SIRIUS_LAUNCH(kernel->single, grid, block, arguments, shared, stream);
    }
    _Alignas(16) char parameter[BATCH_BYTES];
    memset(parameter, 0, sizeof parameter);
    for (unsigned i = 0; i < kernel->arguments; ++i)
        memcpy(parameter + kernel->records_offset + kernel->offsets[i], arguments[i], kernel->sizes[i]);
    return launch_batch(kernel, grid, block, 1, parameter, shared, stream, site);
}

static int issue_single(const struct record *record) {
    const struct sirius_wave_kernel *kernel = record->kernel;
    void *pointers[ARGUMENTS];
    for (unsigned i = 0; i < kernel->arguments; ++i)
        pointers[i] = queue.arguments + record->arguments + kernel->offsets[i];
    return launch_single(kernel, record->grid, record->block, pointers, record->shared, queue.stream, record->site);
}

/* The most threads a block with which a batch kernel runs: registers may allow fewer. */
static int batch_threads(struct sirius_wave_kernel *kernel) {
    if (!kernel->batch_threads) {
        struct { size_t bytes[3]; int threads, rest[254]; } attributes;
        memset(&attributes, 0, sizeof attributes);
        if (cudaFuncGetAttributes(&attributes, kernel->batch)) {
            cudaGetLastError();
            attributes.threads = 0;
        }
        kernel->batch_threads = attributes.threads > 0 ? attributes.threads : -1;
    }
    return kernel->batch_threads;
}

/* Records of one wave with equal code and shape. */
static int issue_equal(const struct record *const *records, unsigned count) {
    int status = 0;
    struct sirius_wave_kernel *kernel = (struct sirius_wave_kernel *)records[0]->kernel;
    const struct record *first = records[0];
    unsigned most = kernel->capacity;
    if (first->grid.z && most > 65535u / first->grid.z) most = 65535u / first->grid.z;
    int threads = first->block.x * first->block.y * first->block.z;
    if (count > 1 && most > 1 && batch_threads(kernel) < threads) most = 1;
    for (unsigned at = 0; at < count;) {
        unsigned number = count - at < most ? count - at : most;
        if (number < 2) {
            int one = issue_single(records[at++]);
            status = status ? status : one;
            continue;
        }
        _Alignas(16) char parameter[BATCH_BYTES];
        memset(parameter, 0, sizeof parameter);
        for (unsigned i = 0; i < number; ++i)
            memcpy(parameter + kernel->records_offset + (size_t)i * kernel->record_bytes,
                   queue.arguments + records[at + i]->arguments, kernel->record_bytes);
        int one = launch_batch(kernel, first->grid, first->block, number, parameter, first->shared, queue.stream,
                               first->site);
        status = status ? status : one;
        at += number;
    }
    return status;
}

static int same_shape(const struct record *a, const struct record *b) {
    return a->kernel == b->kernel && a->shared == b->shared && !memcmp(&a->grid, &b->grid, sizeof a->grid) &&
           !memcmp(&a->block, &b->block, sizeof a->block);
}

/* By wave, then code and shape, then the program's order. */
static int compare(const void *left, const void *right) {
    const struct record *a = *(const struct record *const *)left, *b = *(const struct record *const *)right;
    if (a->wave != b->wave) return a->wave < b->wave ? -1 : 1;
    if (a->kernel != b->kernel) return a->kernel < b->kernel ? -1 : 1;
    if (a->shared != b->shared) return a->shared < b->shared ? -1 : 1;
    int shape = memcmp(&a->grid, &b->grid, sizeof a->grid);
    if (!shape) shape = memcmp(&a->block, &b->block, sizeof a->block);
    if (shape) return shape;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Issues all that waits; the status of the first launch that failed. */
int sirius_wave_drain(void) {
    unsigned count = queue.count;
    int status = 0;
    if (!count) return 0;
    const struct record **order = malloc(count * sizeof *order);
    if (!order) {
        /* In the program's order every dependence is kept as well. */
        for (unsigned i = 0; i < count; ++i) {
            int one = issue_single(&queue.records[i]);
            status = status ? status : one;
        }
    } else {
        for (unsigned i = 0; i < count; ++i) order[i] = &queue.records[i];
        qsort(order, count, sizeof *order, compare);
        for (unsigned at = 0; at < count;) {
            unsigned end = at + 1;
            while (end < count && order[end]->wave == order[at]->wave && same_shape(order[at], order[end])) ++end;
            int one = issue_equal(order + at, end - at);
            status = status ? status : one;
            at = end;
        }
        free(order);
    }
    queue.count = 0;
    queue.waves = 0;
    queue.bytes = 0;
    queue.spans = 0;
    return status;
}

/* The first span that ends after `low`. */
static size_t find(int64_t low) {
    size_t begin = 0, end = queue.spans;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (queue.span[middle].high <= low) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

/* The latest wave that a launch which touches the range has to come after. */
static unsigned latest(const struct sirius_wave_range *range) {
    unsigned wave = 0;
    for (size_t at = find(range->low); at < queue.spans && queue.span[at].low < range->high; ++at) {
        const struct span *span = &queue.span[at];
        if (span->written > wave) wave = span->written;
        if (range->writes && span->read > wave) wave = span->read;
    }
    return wave;
}

static void insert(size_t at, struct span span) {
    memmove(queue.span + at + 1, queue.span + at, (queue.spans - at) * sizeof *queue.span);
    queue.span[at] = span;
    ++queue.spans;
}

/* Notes that a range is touched in a wave. There is room for two spans for each one that is met, and
 * one more. */
static void note(const struct sirius_wave_range *range, unsigned wave) {
    int64_t low = range->low;
    size_t at = find(low);
    while (low < range->high) {
        if (at == queue.spans || queue.span[at].low > low) {
            int64_t end = at < queue.spans && queue.span[at].low < range->high ? queue.span[at].low : range->high;
            struct span fresh = {low, end, range->writes ? wave : 0, range->writes ? 0 : wave};
            insert(at++, fresh);
            low = end;
            continue;
        }
        struct span *span = &queue.span[at];
        if (span->low < low) {
            struct span before = *span;
            before.high = low;
            span->low = low;
            insert(at++, before);
            span = &queue.span[at];
        }
        if (span->high > range->high) {
            struct span after = *span;
            after.low = range->high;
            span->high = range->high;
            insert(at + 1, after);
            span = &queue.span[at];
        }
        if (range->writes) span->written = wave > span->written ? wave : span->written;
        else span->read = wave > span->read ? wave : span->read;
        low = span->high;
        ++at;
    }
}

/* Spans that noting all ranges may add. */
static size_t spans_needed(const struct sirius_wave_range *ranges, unsigned count) {
    size_t needed = 0;
    for (unsigned i = 0; i < count; ++i) {
        size_t met = 0;
        for (size_t at = find(ranges[i].low); at < queue.spans && queue.span[at].low < ranges[i].high; ++at) ++met;
        needed += met + 3 + 2 * count;
    }
    return needed;
}

/* Puts off one launch whose configuration is valid and that touches the ranges at most. `patience` is
 * a word of the region: 0 at first, 1 when waiting has been found to save nothing. */
int sirius_wave_submit(struct sirius_wave_kernel *kernel, uint64_t grid_xy, unsigned grid_z, uint64_t block_xy,
                       unsigned block_z, uint64_t shared, void *stream, void **arguments,
                       const struct sirius_wave_range *ranges, unsigned range_count, unsigned site,
                       int *patience) {
    struct record record = {kernel,
                            {(unsigned)grid_xy, (unsigned)(grid_xy >> 32), grid_z},
                            {(unsigned)block_xy, (unsigned)(block_xy >> 32), block_z},
                            shared, 0, site, 0, 0};
    if (queue.count && queue.stream != stream) sirius_wave_drain();
    if (queue.count >= MOST_RECORDS || queue.spans >= MOST_SPANS) sirius_wave_drain();
    size_t needed = spans_needed(ranges, range_count);
    size_t room = queue.room;
    int fits = kernel->arguments <= ARGUMENTS && !*patience &&
               grow((void **)&queue.records, sizeof *queue.records, queue.count + 1, &room);
    queue.room = (unsigned)room;
    fits = fits && grow((void **)&queue.arguments, 1, queue.bytes + kernel->record_bytes, &queue.bytes_room) &&
           grow((void **)&queue.span, sizeof *queue.span, queue.spans + needed, &queue.spans_room);
    if (!fits) {
        sirius_wave_drain();
        return launch_single(kernel, record.grid, record.block, arguments, shared, stream, site);
    }
    queue.stream = stream;
    for (unsigned i = 0; i < range_count; ++i) {
        unsigned wave = latest(&ranges[i]);
        if (wave > record.wave) record.wave = wave;
    }
    ++record.wave;
    for (unsigned i = 0; i < range_count; ++i)
        if (ranges[i].low < ranges[i].high) note(&ranges[i], record.wave);
    if (record.wave > queue.waves) queue.waves = record.wave;
    record.arguments = queue.bytes;
    record.order = queue.count;
    for (unsigned i = 0; i < kernel->arguments; ++i)
        memcpy(queue.arguments + queue.bytes + kernel->offsets[i], arguments[i], kernel->sizes[i]);
    queue.bytes += kernel->record_bytes;
    queue.records[queue.count++] = record;
    /* Launches that all depend on each other gain nothing from waiting. What runs beside them may only come
     * after the whole of a long inner loop, so that is asked late. */
    if (queue.count == PROBATION && queue.waves == queue.count) {
        *patience = 1;
        return sirius_wave_drain();
    }
    return 0;
}
