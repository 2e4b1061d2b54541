/* Launches that wait for their batches. This text, `graphs.c`, `phases.c` and `queue.c`, in this order, are compiled into
 * the host module of a program whose plan has regions; one queue a thread.
 *
 * Invariant: a record's batch is later than that of every earlier record that touches a common byte,
 * one of the two writing it. Batches are issued in order on one stream, so conflicting launches run in
 * the order in which the program issued them. Whatever does not fit into the tables issues what waits
 * first, and is then launched as it is.
 *
 * A launch that replaces a range of the program's memory, without reading any of it, need not wait for those
 * that still use what was there: it may get other memory for the range, a version. From then on the
 * argument of every record that leads into the range, and nowhere else, leads to the version. A launch of
 * which that cannot be said issues all that waits first. What is left of versions when the queue is issued
 * is copied to where the program has it, behind all launches. So outside of the queue there are no versions,
 * and inside a record's ranges are those of the memory that it really touches. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct dim3 { unsigned x, y, z; };
int SIRIUS_LAUNCH(const void *, struct dim3, struct dim3, void **, size_t, void *);
int SIRIUS_LAUNCH_TOGETHER(const void *, struct dim3, struct dim3, void **, size_t, void *);
int cudaFuncGetAttributes(void *, const void *);
int cudaGetLastError(void);
int cudaDeviceSynchronize(void);
int SIRIUS_WAIT(void *);
int SIRIUS_COPY(void *, const void *, size_t, int, void *);
int SIRIUS_IS_CAPTURING(void *, int *);
#ifdef SIRIUS_ANNOUNCE
void SIRIUS_ANNOUNCE(unsigned);
#endif
#ifdef SIRIUS_CPU_DEVICE
void *__sirius_version_allocate(size_t);
void __sirius_version_free(void *);
#else
int SIRIUS_ALLOCATE(void **, size_t, void *);
int SIRIUS_FREE(void *, void *);
int cudaMalloc(void **, size_t);
int cudaThreadExchangeStreamCaptureMode(int *);
#endif

/* A kernel of several codes. Its parameter: up to SLOTS slots, then records. */
struct sirius_heterogeneous {
    const void *kernel;
    unsigned blocks[32]; /* that a device holds at once, by the warps of a block from 1 to 32 */
    int threads;         /* most threads a block, 0: not asked yet */
};

/* A kernel that runs launches one after the other in the same blocks. Its parameter: their number, at
 * `records_offset` the record of the first, at `first_row` a row for each with what varies. */
struct sirius_persistent {
    const void *kernel;
    unsigned capacity;   /* launches that it takes */
    unsigned row_bytes;  /* 0: nothing varies */
    unsigned first_row;
    unsigned period;         /* after so many launches pointers are back where they were */
    unsigned cooperative;    /* its blocks, and those of a single launch, wait for each other */
    const unsigned *offsets; /* of each argument in a row; UINT32_MAX: it does not vary */
    const unsigned *sources; /* by launch of a period, by argument: which one of the record it has */
};

/* A kernel that runs batches one after the other. Its parameters: where it is told what they are, and their number. */
struct sirius_phases {
    const void *kernel;
    unsigned rounds; /* so many blocks of a batch are one block's at most */
    unsigned shared; /* so much shared memory a launch may bring along */
};

/* The code of a statement; made by the compiler. */
struct sirius_batch_kernel {
    const void *single;     /* the kernel for one record; null: a batch of one */
    const void *batch;      /* (struct { unsigned grid_z; record[capacity] }): blocks along z */
    unsigned capacity;      /* records that a batch takes; below 2 there is no batch kernel */
    unsigned record_bytes;  /* size of a record */
    unsigned arguments, argument_bytes; /* of a launch that waits, at their offsets */
    const unsigned *offsets, *sizes;
    unsigned pieces;        /* of these that a record has */
    const struct piece { unsigned from, to, bytes; } *piece;
    unsigned records_offset; /* of the first record within a batch's parameter */
    int batch_threads;       /* most threads a block of the batch kernel, 0: not asked yet */
    struct sirius_heterogeneous *heterogeneous; /* in which it may stand beside other code; may be null */
    unsigned code;           /* its number there */
    const struct sirius_persistent *persistent; /* its launches follow each other in this; else null */
    const struct sirius_phases *phases; /* in which batches with it may follow each other; may be null */
    unsigned phase_code;     /* its number there */
};

/* Bytes that a launch may touch. Where `pitch` is positive, they lie in columns of a matrix: each is less than `column_bytes` behind
 * the address `column` plus a multiple of the pitch. */
struct sirius_batch_range {
    int64_t low, high;
    int64_t how;      /* WRITES, REPLACES */
    int64_t argument; /* of the record, which leads there; -1: not one that may lead elsewhere */
    int64_t segment;  /* of the kernel; a thread runs those with lower numbers first */
    int64_t pitch, column, column_bytes;
};

enum { WRITES = 1, REPLACES = 2 };

/* A launch that replaces a range is only right while earlier segments have another place for it, which could
 * not be had: nothing was launched. */
enum { SIRIUS_NOT_LAUNCHED = -1 };

struct record {
    const struct sirius_batch_kernel *kernel;
    struct dim3 grid, block;
    size_t shared;
    unsigned batch, site;
    size_t arguments; /* offset of its arguments in the queue's bytes */
    unsigned order;
#ifdef SIRIUS_GRAPHS
    unsigned first_before, befores; /* records that it comes after, in the list of all */
    unsigned stamp;                 /* the last record that was found to come after it */
    unsigned unit, next_of_unit;    /* the launch that it is part of, and the next record of that, from 1 on */
#endif
};

/* A part of memory whose bytes were touched by the same records. */
struct span {
    int64_t low, high;
    unsigned written, read; /* latest batches, 0: never */
#ifdef SIRIUS_GRAPHS
    unsigned writer, readers; /* the last record that writes it, and those that read it since, from 1 on */
#endif
};

/* Columns of a matrix that records touched. No span tells of them. */
struct columns { struct sirius_batch_range range; unsigned batch; };

/* Memory for versions. What a capture records keeps its memory, since it runs later, and perhaps again. */
struct block { char *memory; size_t bytes; int taken, kept; };

/* A range of the program's memory whose bytes are that much further at present. */
struct version { int64_t low, high, distance; unsigned block; };

enum { MOST_BLOCKS = 256, MOST_COLUMNS = 128, ALIGNMENT = 256 };
static const size_t MOST_VERSION_BYTES = (size_t)1 << 28;
/* All captures of a program keep at most so much. */
static const size_t MOST_KEPT_BYTES = (size_t)1 << 26;

struct queue {
    void *stream;
    unsigned versions, blocks;
    size_t version_bytes;
    struct version version[MOST_BLOCKS];
    struct block block[MOST_BLOCKS];
    unsigned count, batches, room;
    struct record *records;
    size_t bytes, bytes_room;
    char *arguments;
    size_t spans, spans_room;
    struct span *span;
    unsigned columns;
    struct columns column[MOST_COLUMNS];
};

enum { MOST_RECORDS = 1 << 14, MOST_SPANS = 1 << 14, PROBATION = 1 << 13, ARGUMENTS = 256, MOST_RANGES = 256,
       BATCH_BYTES = 4096 };

static _Thread_local struct queue queue;

/* Launches that follow each other in one kernel. They wait alone: the queue is empty meanwhile. */
struct sequence {
    const struct sirius_batch_kernel *kernel;
    struct dim3 grid, block;
    size_t shared;
    void *stream;
    unsigned count, site;
    int64_t since; /* when the first came, in nanoseconds */
    _Alignas(16) char parameter[BATCH_BYTES];
};

static _Thread_local struct sequence sequence;

/* Waits of the host since something waits here: they have come back at once, and are made up for when it is
 * issued. Those for one stream are for that of the launches. */
static _Thread_local struct { int device, stream; } owed;

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
    SIRIUS_ANNOUNCE(site);
#else
    (void)site;
#endif
}

/* A host that takes long for an iteration does not keep the device waiting. The CPU device has no such hurry, and the same
 * launches each time. */
static int64_t now(void) {
#ifdef SIRIUS_CPU_DEVICE
    return 0;
#else
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time)) return 0;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#endif
}

