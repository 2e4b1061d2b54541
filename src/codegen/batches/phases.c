/* Batches that follow each other, as phases of one cooperative launch, between which all blocks wait for each other.
 *
 * Invariants. Each batch of such a launch is one that the queue would issue by itself, whole and in its place: what is issued
 * before it runs before it, and what comes behind runs behind. Its blocks are counted through, those of launches of equal
 * code and grid, a slot, one after the other. The kernel reads all of that in memory of the device that nobody else has:
 * it is filled and given back in the order of the stream, so that it is there for as long as the launch runs. The host's text
 * of it is pageable, which is why the copy has read it when it returns. The launch has no more blocks than the device
 * holds at once, as it says just before. Where any of that cannot be had, and while the stream is captured, batches are
 * issued one by one. */
#ifdef SIRIUS_PHASES
int cudaGetDevice(int *);
int cudaDeviceGetAttribute(int *, int, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);

/* What the kernel is told of a batch, and of launches of equal code and grid in it. */
struct phase { unsigned slots_at, slots, blocks, unused; };
struct phase_slot { unsigned first_block, code, grid[3], records_at, unused[2]; };

enum { MOST_PHASE_BLOCKS = 1 << 30, MOST_PHASE_BYTES = 1 << 30 };

/* Batches from one record on, up to the record `end`. */
struct phase_run { unsigned end, phases, slots, blocks; size_t record_bytes, shared; };

static unsigned end_of_equal(const struct record *const *records, unsigned at, unsigned count);
static void pack(const struct sirius_batch_kernel *kernel, char *record, const char *arguments);
static int is_recorded(void *stream);
static void *allocate(size_t bytes, void *stream, int kept);

static unsigned end_of_batch(const struct record *const *records, unsigned at, unsigned count) {
    unsigned end = at + 1;
    while (end < count && records[end]->batch == records[at]->batch) ++end;
    return end;
}

/* So many blocks of a kernel are on the device at once; 0 where these cannot wait for each other. The device and what
 * the program asks of it may be others each time. */
static uint64_t resident_blocks(const void *kernel, unsigned threads, size_t shared) {
    enum { MULTIPROCESSORS = 16, COOPERATIVE_LAUNCH = 95 };
    int device = 0, multiprocessors = 0, able = 0, blocks = 0;
    if (cudaGetDevice(&device) || cudaDeviceGetAttribute(&able, COOPERATIVE_LAUNCH, device) ||
        cudaDeviceGetAttribute(&multiprocessors, MULTIPROCESSORS, device) ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)threads, shared)) {
        cudaGetLastError();
        return 0;
    }
    return able && blocks > 0 && multiprocessors > 0 ? (uint64_t)blocks * (uint64_t)multiprocessors : 0;
}

/* The batches from `at` on that one kernel may run, with blocks of one shape, none of them with more than `most` of these or
 * with more shared memory that the launch brings along. */
static struct phase_run gather(const struct record *const *records, unsigned at, unsigned count, uint64_t most, size_t shared) {
    const struct record *first = records[at];
    struct phase_run run = {at, 0, 0, 1, 0, 0};
    if (!first->kernel->phases) return run;
    while (run.end < count) {
        struct phase_run next = run;
        uint64_t blocks = 0;
        next.end = end_of_batch(records, run.end, count);
        for (unsigned own = run.end, end; own < next.end; own = end) {
            const struct record *record = records[own];
            const struct dim3 *grid = &record->grid;
            end = end_of_equal(records, own, next.end);
            uint64_t plane = (uint64_t)grid->x * grid->y;
            if (record->kernel->phases != first->kernel->phases || record->shared > shared ||
                memcmp(&record->block, &first->block, sizeof record->block) || plane > most ||
                plane * grid->z > (most - blocks) / (end - own))
                return run;
            blocks += plane * grid->z * (end - own);
            ++next.slots;
            if (record->shared > next.shared) next.shared = record->shared;
            next.record_bytes += (size_t)(end - own) * record->kernel->record_bytes;
        }
        ++next.phases;
        if (blocks > next.blocks) next.blocks = (unsigned)blocks;
        if (next.phases * sizeof(struct phase) + next.slots * sizeof(struct phase_slot) + next.record_bytes >
            MOST_PHASE_BYTES)
            return run;
        run = next;
    }
    return run;
}

/* The batches from `at` on that one launch runs; fewer than two: none does. The device is asked for the shared memory of the
 * first two; what brings more begins another launch. */
static struct phase_run find_run(const struct record *const *records, unsigned at, unsigned count) {
    const struct record *first = records[at];
    const struct sirius_phases *phases = first->kernel->phases;
    unsigned second = end_of_batch(records, at, count);
    if (second < count) second = end_of_batch(records, second, count);
    struct phase_run run = gather(records, at, second, MOST_PHASE_BLOCKS, phases ? phases->shared : 0);
    if (run.phases < 2) return run;
    uint64_t threads = (uint64_t)first->block.x * first->block.y * first->block.z;
    uint64_t resident = threads && threads <= 1024 ? resident_blocks(phases->kernel, (unsigned)threads, run.shared) : 0;
    uint64_t most = resident * phases->rounds;
    run = gather(records, at, count, most < MOST_PHASE_BLOCKS ? most : MOST_PHASE_BLOCKS, run.shared);
    if (run.blocks > resident) run.blocks = (unsigned)resident;
    return run;
}

/* Whether some of all that waits is issued so. */
static int are_phases(const struct record *const *records, unsigned count) {
    if (queue.batches < 2 || is_recorded(queue.stream)) return 0;
    for (unsigned at = 0; at < count;) {
        struct phase_run run = find_run(records, at, count);
        if (run.phases > 1) return 1;
        at = run.end > at ? run.end : end_of_batch(records, at, count);
    }
    return 0;
}

/* Writes what the kernel is told. */
static void describe_phases(const struct record *const *records, unsigned at, const struct phase_run *run, char *text) {
    struct phase *phase = (struct phase *)text;
    struct phase_slot *slot = (struct phase_slot *)(phase + run->phases);
    size_t bytes = run->phases * sizeof *phase + run->slots * sizeof *slot;
    for (unsigned end; at < run->end; at = end, ++phase) {
        end = end_of_batch(records, at, run->end);
        phase->slots_at = (unsigned)((char *)slot - text);
        for (unsigned own = at, last; own < end; own = last, ++slot) {
            const struct record *record = records[own];
            last = end_of_equal(records, own, end);
            struct phase_slot fresh = {phase->blocks, record->kernel->phase_code,
                                       {record->grid.x, record->grid.y, record->grid.z}, (unsigned)bytes, {0, 0}};
            *slot = fresh;
            ++phase->slots;
            phase->blocks += record->grid.x * record->grid.y * record->grid.z * (last - own);
            for (unsigned i = own; i < last; ++i) {
                pack(record->kernel, text + bytes, queue.arguments + records[i]->arguments);
                bytes += record->kernel->record_bytes;
            }
        }
    }
}

static void give_phases_back(void *memory) {
#ifdef SIRIUS_CPU_DEVICE
    __sirius_version_free(memory);
#else
    SIRIUS_FREE(memory, queue.stream);
#endif
}

/* Issues batches from `at` on as one launch, whose status is told; the record behind these, or `at` where none were. */
static unsigned issue_phases(const struct record *const *records, unsigned at, unsigned count, int *status) {
    enum { TO_DEVICE = 1 };
    struct phase_run run = find_run(records, at, count);
    if (run.phases < 2) return at;
    size_t bytes = run.phases * sizeof(struct phase) + run.slots * sizeof(struct phase_slot) + run.record_bytes;
    char *text = calloc(1, bytes);
    void *memory = text ? allocate(bytes, queue.stream, 0) : 0;
    if (!memory) {
        free(text);
        return at;
    }
    describe_phases(records, at, &run, text);
    int failed = SIRIUS_COPY(memory, text, bytes, TO_DEVICE, queue.stream);
    free(text);
    if (failed) {
        cudaGetLastError();
        give_phases_back(memory);
        return at;
    }
    const struct record *first = records[at];
    struct dim3 grid = {run.blocks, 1, 1};
    void *arguments[2] = {&memory, &run.phases};
    announce(first->site);
    *status = SIRIUS_LAUNCH_TOGETHER(first->kernel->phases->kernel, grid, first->block, arguments, run.shared, queue.stream);
    give_phases_back(memory);
    return run.end;
}
#else
static int are_phases(const struct record *const *records, unsigned count) { return (void)records, (void)count, 0; }
static unsigned issue_phases(const struct record *const *records, unsigned at, unsigned count, int *status) {
    return (void)records, (void)count, (void)status, at;
}
#endif
