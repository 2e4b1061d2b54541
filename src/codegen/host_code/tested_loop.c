/* Iterations of host loops that have run ahead on the device. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dim3 { unsigned x, y, z; };
int SIRIUS_LAUNCH_TOGETHER(const void *, struct dim3, struct dim3, void **, size_t, void *);
int SIRIUS_WAIT(void *);
int SIRIUS_COPY(void *, const void *, size_t, int, void *);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
#ifdef SIRIUS_CPU_DEVICE
void *__sirius_version_allocate(size_t);
void __sirius_version_free(void *);
#else
int SIRIUS_ALLOCATE(void **, size_t, void *);
int SIRIUS_FREE(void *, void *);
#endif

/* What a host function knows of a loop. */
struct sirius_ahead {
    /* The launches of this iteration have been made. */
    int live;
    /* So many iterations behind this one have run, too. */
    unsigned left;
    /* This iteration, among those that ran. */
    unsigned number;
    unsigned unused;
    /* What the copies of each iteration bring. */
    unsigned char rows[];
};

enum { ROWS_OFFSET = 16, TO_HOST = 2 };

static void *allocate(size_t bytes, void *stream) {
#ifdef SIRIUS_CPU_DEVICE
    (void)stream;
    return __sirius_version_allocate(bytes);
#else
    void *memory = 0;
    if (SIRIUS_ALLOCATE(&memory, bytes, stream)) {
        cudaGetLastError();
        return 0;
    }
    return memory;
#endif
}

static void give_back(void *memory, void *stream) {
#ifdef SIRIUS_CPU_DEVICE
    (void)stream;
    __sirius_version_free(memory);
#else
    SIRIUS_FREE(memory, stream);
#endif
}

/* An iteration begins: whether it has been run. */
int sirius_ahead_next(struct sirius_ahead *state) {
    state->live = state->left > 0;
    if (!state->live) return 0;
    --state->left;
    ++state->number;
    return 1;
}

/* Runs iterations from this one on, as far as the kernel goes. Where that cannot be, nothing has been done, but for what a
 * program finds that is lost anyway. */
void sirius_ahead_run(struct sirius_ahead *state, const void *kernel, uint64_t grid, unsigned grid_z, uint64_t block,
                      unsigned block_z, void **arguments, unsigned rows_argument, size_t shared, void *stream,
                      unsigned row_bytes, unsigned most) {
    /* An error that waits to be looked at is looked at in the loop, maybe. */
    if (cudaPeekAtLastError()) return;
    void *rows = allocate(ROWS_OFFSET + (size_t)row_bytes * most, stream);
    if (!rows) return;
    arguments[rows_argument] = &rows;
    struct dim3 blocks = {(unsigned)grid, (unsigned)(grid >> 32), grid_z};
    struct dim3 threads = {(unsigned)block, (unsigned)(block >> 32), block_z};
    if (SIRIUS_LAUNCH_TOGETHER(kernel, blocks, threads, arguments, shared, stream)) {
        cudaGetLastError();
        give_back(rows, stream);
        return;
    }
    /* Errors from here on stay with the context, and whatever follows gives them. */
    unsigned count = 0;
    if (SIRIUS_COPY(&count, rows, sizeof count, TO_HOST, stream) || SIRIUS_WAIT(stream)) return;
    if (!count || count > most) return;
    if (SIRIUS_COPY(state->rows, (char *)rows + ROWS_OFFSET, (size_t)row_bytes * count, TO_HOST, stream) ||
        SIRIUS_WAIT(stream))
        return;
    give_back(rows, stream);
    state->live = 1;
    state->left = count - 1;
    state->number = 0;
}

/* The place where what a copy brings stands, `offset` bytes into a row. */
const void *sirius_ahead_row(const struct sirius_ahead *state, unsigned row_bytes, unsigned offset) {
    return state->rows + (size_t)state->number * row_bytes + offset;
}
