/* Launches a batch of some records, whose arguments lie in the parameter. */
static int launch_batch(const struct sirius_batch_kernel *kernel, struct dim3 grid, struct dim3 block,
                        unsigned number, char *parameter, size_t shared, void *stream, unsigned site) {
    memcpy(parameter, &grid.z, sizeof grid.z);
    grid.z *= number;
    void *pointers[1] = {parameter};
    size_t bytes = kernel->records_offset + (size_t)number * kernel->record_bytes;
    return launch(kernel->batch, 0, bytes, grid, block, pointers, shared, stream, site);
}

/* Makes the record of a launch from its arguments. */
static void pack(const struct sirius_batch_kernel *kernel, char *record, const char *arguments) {
    for (unsigned i = 0; i < kernel->pieces; ++i) {
        const struct piece *piece = &kernel->piece[i];
        memcpy(record + piece->to, arguments + piece->from, piece->bytes);
    }
}

/* Launches one record, whose arguments lie anywhere. */
static int launch_single(const struct sirius_batch_kernel *kernel, struct dim3 grid, struct dim3 block,
                         void **arguments, size_t shared, void *stream, unsigned site) {
    if (kernel->single)
        return launch(kernel->single, kernel, kernel->argument_bytes, grid, block, arguments, shared, stream, site);
    _Alignas(16) char parameter[BATCH_BYTES], whole[BATCH_BYTES];
    memset(parameter, 0, sizeof parameter);
    memset(whole, 0, sizeof whole);
    for (unsigned i = 0; i < kernel->arguments; ++i)
        memcpy(whole + kernel->offsets[i], arguments[i], kernel->sizes[i]);
    pack(kernel, parameter + kernel->records_offset, whole);
    return launch_batch(kernel, grid, block, 1, parameter, shared, stream, site);
}

static int issue_single(const struct record *record) {
    const struct sirius_batch_kernel *kernel = record->kernel;
    void *pointers[ARGUMENTS];
    for (unsigned i = 0; i < kernel->arguments; ++i)
        pointers[i] = queue.arguments + record->arguments + kernel->offsets[i];
    belongs(record);
    return launch_single(kernel, record->grid, record->block, pointers, record->shared, queue.stream, record->site);
}

/* The most threads a block with which a kernel runs: registers may allow fewer. `known` is 0 at first. */
static int most_threads(const void *kernel, int *known) {
    if (!*known) {
        struct { size_t bytes[3]; int threads, rest[254]; } attributes;
        memset(&attributes, 0, sizeof attributes);
        if (cudaFuncGetAttributes(&attributes, kernel)) {
            cudaGetLastError();
            attributes.threads = 0;
        }
        *known = attributes.threads > 0 ? attributes.threads : -1;
    }
    return *known;
}

/* As many launches like this one are one at most. */
static unsigned most_records(const struct record *record) {
    unsigned most = record->kernel->capacity, depth = record->grid.z;
    return depth && most > 65535u / depth ? 65535u / depth : most;
}

/* Records of one batch with equal code and shape. */
static int issue_equal(const struct record *const *records, unsigned count) {
    int status = 0;
    struct sirius_batch_kernel *kernel = (struct sirius_batch_kernel *)records[0]->kernel;
    const struct record *first = records[0];
    unsigned most = most_records(first);
    int threads = first->block.x * first->block.y * first->block.z;
    if (count > 1 && most > 1 && most_threads(kernel->batch, &kernel->batch_threads) < threads) most = 1;
    for (unsigned at = 0; at < count;) {
        unsigned number = count - at < most ? count - at : most;
        if (number < 2) {
            int one = issue_single(records[at++]);
            status = status ? status : one;
            continue;
        }
        _Alignas(16) char parameter[BATCH_BYTES];
        memset(parameter, 0, sizeof parameter);
        for (unsigned i = 0; i < number; ++i) {
            pack(kernel, parameter + kernel->records_offset + (size_t)i * kernel->record_bytes,
                 queue.arguments + records[at + i]->arguments);
            belongs(records[at + i]);
        }
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

/* Launches of one code and grid within a heterogeneous kernel; the first slot tells how many there are. */
struct slot { unsigned first_block, code, grid[3], records, slots, unused; };

/* So many shapes are met at most that have no room beside others before these are launched. */
enum { SLOTS = SIRIUS_SLOTS, MOST_PASSED = 1024 };

static int may_meet(const struct record *a, const struct record *b) {
    return a->kernel->heterogeneous == b->kernel->heterogeneous && !a->shared && !b->shared &&
           !memcmp(&a->block, &b->block, sizeof a->block);
}

/* The end of the records at `at` that are of one code and shape. */
static unsigned end_of_equal(const struct record *const *records, unsigned at, unsigned count) {
    unsigned end = at + 1;
    while (end < count && records[end] && same_shape(records[at], records[end])) ++end;
    return end;
}

/* Launches some of a batch's records as one, from the first on: those that may meet it, and are of several codes or
 * grids. All of their blocks are held at once, so that each takes no longer than by itself. What is of one code
 * and grid goes along as far as it would need a launch that it does not fill. Those that were launched are null then. */
static int issue_heterogeneous(const struct record **records, unsigned count) {
    const struct record *first = records[0];
    struct sirius_heterogeneous *heterogeneous = first->kernel->heterogeneous;
    unsigned threads = first->block.x * first->block.y * first->block.z, slots = 0, passed = 0;
    if (!heterogeneous || !threads || threads > 32 * 32 || first->shared) return 0;
    uint64_t blocks = 0, most = heterogeneous->blocks[(threads - 1) / 32];
    struct { unsigned first, count; } own[SLOTS];
    struct slot slot[SLOTS];
    size_t bytes = 0;
    memset(slot, 0, sizeof slot);
    for (unsigned at = 0, end; at < count && slots < SLOTS && passed < MOST_PASSED; at = end) {
        const struct record *record = records[at];
        end = at + 1;
        if (!record) continue;
        end = end_of_equal(records, at, count);
        unsigned full = most_records(record), number = full ? (end - at) % full : 0;
        const struct dim3 *grid = &record->grid;
        uint64_t plane = (uint64_t)grid->x * grid->y;
        size_t needed = sizeof *slot + (size_t)number * record->kernel->record_bytes;
        int fits = number && may_meet(first, record) && plane <= most && plane * grid->z * number <= most - blocks &&
                   needed <= BATCH_BYTES - bytes;
        if (!fits && !at) return 0;
        passed += !fits;
        if (!fits) continue;
        struct slot fresh = {(unsigned)blocks, record->kernel->code, {grid->x, grid->y, grid->z}, 0, 0, 0};
        slot[slots] = fresh;
        own[slots].first = end - number;
        own[slots++].count = number;
        blocks += plane * grid->z * number;
        bytes += needed;
    }
    if (slots < 2 || most_threads(heterogeneous->kernel, &heterogeneous->threads) < (int)threads) return 0;
    _Alignas(16) char parameter[BATCH_BYTES];
    memset(parameter, 0, sizeof parameter);
    slot[0].slots = slots;
    bytes = slots * sizeof *slot;
    for (unsigned i = 0; i < slots; ++i) {
        slot[i].records = (unsigned)bytes;
        for (unsigned at = own[i].first; at < own[i].first + own[i].count; ++at) {
            const struct record *record = records[at];
            pack(record->kernel, parameter + bytes, queue.arguments + record->arguments);
            bytes += record->kernel->record_bytes;
            belongs(record);
        }
    }
    memcpy(parameter, slot, slots * sizeof *slot);
    struct dim3 grid = {(unsigned)blocks, 1, 1}, block = first->block;
    unsigned site = first->site;
    for (unsigned i = 0; i < slots; ++i)
        for (unsigned at = own[i].first; at < own[i].first + own[i].count; ++at) records[at] = 0;
    void *pointers[1] = {parameter};
    return launch(heterogeneous->kernel, 0, bytes, grid, block, pointers, 0, queue.stream, site);
}

/* Records of one batch, sorted. */
static int issue_batch(const struct record **records, unsigned count) {
    int status = 0;
    for (unsigned at = 0, end; at < count; at = end) {
        end = at + 1;
        if (!records[at]) continue;
        int one = issue_heterogeneous(records + at, count - at);
        status = status ? status : one;
        if (records[at]) end = end_of_equal(records, at, count);
    }
    for (unsigned at = 0, end; at < count; at = end) {
        end = at + 1;
        if (!records[at]) continue;
        end = end_of_equal(records, at, count);
        int one = issue_equal(records + at, end - at);
        status = status ? status : one;
    }
    return status;
}

/* By batch, then code and shape, then the program's order. */
static int compare(const void *left, const void *right) {
    const struct record *a = *(const struct record *const *)left, *b = *(const struct record *const *)right;
    if (a->batch != b->batch) return a->batch < b->batch ? -1 : 1;
    if (a->kernel != b->kernel) return a->kernel < b->kernel ? -1 : 1;
    if (a->shared != b->shared) return a->shared < b->shared ? -1 : 1;
    int shape = memcmp(&a->grid, &b->grid, sizeof a->grid);
    if (!shape) shape = memcmp(&a->block, &b->block, sizeof a->block);
    if (shape) return shape;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Whether what is issued on a stream is recorded, to run later and perhaps again. */
static int is_recorded(void *stream) {
    int status = 0;
    if (SIRIUS_IS_CAPTURING(stream, &status)) {
        cudaGetLastError();
        return 1;
    }
    return status != 0;
}

static _Atomic size_t kept_bytes;

/* Memory that is never given back: a graph may be launched as long as the program runs, and a node that allocates would forbid
 * to make the graph twice. 0: there is none, or too much is kept already. */
static void *allocate_for_good(size_t bytes) {
    if (bytes > MOST_KEPT_BYTES || kept_bytes > MOST_KEPT_BYTES - bytes) return 0;
    kept_bytes += bytes;
    void *memory = 0;
#ifdef SIRIUS_CPU_DEVICE
    memory = __sirius_version_allocate(bytes);
#else
    int relaxed = 2;
    int refused = cudaThreadExchangeStreamCaptureMode(&relaxed);
    if (refused || cudaMalloc(&memory, bytes)) {
        cudaGetLastError();
        memory = 0;
    }
    if (!refused && cudaThreadExchangeStreamCaptureMode(&relaxed)) cudaGetLastError();
#endif
    if (!memory) kept_bytes -= bytes;
    return memory;
}

static void *allocate(size_t bytes, void *stream, int kept) {
    if (kept) return allocate_for_good(bytes);
#ifdef SIRIUS_CPU_DEVICE
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

/* Copies versions to where the program has them and gives their memory back, all behind what was launched. What a capture keeps is
 * not used again: graphs may run at the same time. */
static int settle(void) {
    enum { WHEREVER_IT_IS = 4 };
    int status = 0;
    for (unsigned i = 0; i < queue.versions; ++i) {
        const struct version *version = &queue.version[i];
        int one = SIRIUS_COPY((void *)version->low, (const void *)(version->low + version->distance),
                              (size_t)(version->high - version->low), WHEREVER_IT_IS, queue.stream);
        status = status ? status : one;
    }
    for (unsigned i = 0; i < queue.blocks; ++i) {
        if (queue.block[i].kept) continue;
#ifdef SIRIUS_CPU_DEVICE
        __sirius_version_free(queue.block[i].memory);
#else
        SIRIUS_FREE(queue.block[i].memory, queue.stream);
#endif
    }
    queue.versions = 0;
    queue.blocks = 0;
    queue.version_bytes = 0;
    return status;
}

static int same_configuration(struct dim3 grid, struct dim3 block, size_t shared, void *stream) {
    return !memcmp(&grid, &sequence.grid, sizeof grid) && !memcmp(&block, &sequence.block, sizeof block) &&
           shared == sequence.shared && stream == sequence.stream;
}

/* Issues the launches that follow each other. */
static int issue_sequence(void) {
    const struct sirius_batch_kernel *kernel = sequence.kernel;
    const struct sirius_persistent *persistent = kernel->persistent;
    unsigned count = sequence.count;
    sequence.count = 0;
    int (*launch)(const void *, struct dim3, struct dim3, void **, size_t, void *) =
        persistent->cooperative ? SIRIUS_LAUNCH_TOGETHER : SIRIUS_LAUNCH;
    announce(sequence.site);
    if (count == 1 && kernel->single && kernel->arguments <= ARGUMENTS) {
        void *pointers[ARGUMENTS];
        for (unsigned i = 0; i < kernel->arguments; ++i)
            pointers[i] = sequence.parameter + (persistent->offsets[i] == UINT32_MAX
                                                    ? kernel->records_offset + kernel->offsets[i]
                                                    : persistent->first_row + persistent->offsets[i]);
        return launch(kernel->single, sequence.grid, sequence.block, pointers, sequence.shared, sequence.stream);
    }
    memcpy(sequence.parameter, &count, sizeof count);
    void *pointers[1] = {sequence.parameter};
    return launch(persistent->kernel, sequence.grid, sequence.block, pointers, sequence.shared, sequence.stream);
}

/* Does the waits of the host that are owed, when nothing waits any more. */
static int wait_owed(void *stream) {
    int status = 0;
    if (owed.device) status = cudaDeviceSynchronize();
    else if (owed.stream) status = SIRIUS_WAIT(stream);
    owed.device = owed.stream = 0;
    return status;
}

static int issue_records(void) {
    unsigned count = queue.count;
    int status = 0;
    if (!count) return settle();
    int64_t start = begin_record();
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
        int phases = are_phases(order, count);
        /* A cooperative launch is no node of a graph. */
        if (!phases) begin_collecting();
        for (unsigned at = 0, end; at < count; at = end) {
            int one = 0;
            end = phases ? issue_phases(order, at, count, &one) : at;
            if (end == at) {
                while (end < count && order[end]->batch == order[at]->batch) ++end;
                one = issue_batch(order + at, end - at);
            }
            status = status ? status : one;
        }
        free(order);
    }
    int collected_status = end_collecting(start);
    status = status ? status : collected_status;
    int settled = settle();
    status = status ? status : settled;
    queue.count = 0;
    queue.batches = 0;
    queue.bytes = 0;
    queue.spans = 0;
    queue.columns = 0;
    return status;
}

/* Issues all that waits; the status of the first launch that failed. */
int sirius_batch_drain(void) {
    void *stream = sequence.count ? sequence.stream : queue.stream;
    int status = sequence.count ? issue_sequence() : 0;
    int records = issue_records();
    int waits = wait_owed(stream);
    return status ? status : records ? records : waits;
}

/* The host is about to wait for the device, or for a stream of it. Launches that wait here are no part of what it
 * waits for, unless it does so once more behind them. */
void sirius_batch_owe_wait(int of_stream, void *stream) {
    if (!sequence.count && !queue.count) return;
    if (!of_stream) owed.device = 1;
    else if (stream == (sequence.count ? sequence.stream : queue.stream)) owed.stream = 1;
    else sirius_batch_drain();
}

enum { LONGEST_WAIT = 1000000 };

/* Puts off one launch whose configuration is valid and which may follow another one of its statement in one kernel, if
 * both agree in all that does not vary. */
int sirius_persistent_submit(struct sirius_batch_kernel *kernel, uint64_t grid_xy, unsigned grid_z, uint64_t block_xy,
                             unsigned block_z, uint64_t shared, void *stream, void **arguments, unsigned site) {
    const struct sirius_persistent *persistent = kernel->persistent;
    struct dim3 grid = {(unsigned)grid_xy, (unsigned)(grid_xy >> 32), grid_z};
    struct dim3 block = {(unsigned)block_xy, (unsigned)(block_xy >> 32), block_z};
    int status = 0;
    if (queue.count) status = sirius_batch_drain();
    int follows = sequence.count && sequence.kernel == kernel && sequence.count < persistent->capacity &&
                  same_configuration(grid, block, shared, stream) && now() - sequence.since < LONGEST_WAIT;
    const unsigned *sources = persistent->sources + sequence.count % persistent->period * kernel->arguments;
    for (unsigned i = 0; follows && i < kernel->arguments; ++i)
        if (persistent->offsets[i] == UINT32_MAX)
            follows = !memcmp(sequence.parameter + kernel->records_offset + kernel->offsets[sources[i]], arguments[i],
                              kernel->sizes[i]);
    if (!follows) {
        if (sequence.count) {
            int one = sirius_batch_drain();
            status = status ? status : one;
        }
        memset(sequence.parameter, 0, sizeof sequence.parameter);
        sequence.kernel = kernel;
        sequence.grid = grid;
        sequence.block = block;
        sequence.shared = shared;
        sequence.stream = stream;
        sequence.site = site;
        sequence.since = now();
        for (unsigned i = 0; i < kernel->arguments; ++i)
            if (persistent->offsets[i] == UINT32_MAX)
                memcpy(sequence.parameter + kernel->records_offset + kernel->offsets[i], arguments[i], kernel->sizes[i]);
    }
    char *row = sequence.parameter + persistent->first_row + (size_t)sequence.count * persistent->row_bytes;
    for (unsigned i = 0; i < kernel->arguments; ++i)
        if (persistent->offsets[i] != UINT32_MAX) memcpy(row + persistent->offsets[i], arguments[i], kernel->sizes[i]);
    ++sequence.count;
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

static int is_in_columns(const struct sirius_batch_range *range) {
#ifdef SIRIUS_GRAPHS
    /* Graphs are told what comes after what by spans. */
    (void)range;
    return 0;
#else
    return range->pitch > 0 && range->column_bytes > 0 && range->column_bytes < range->pitch;
#endif
}

/* Whether the columns of a range lie beside some bytes, in each row of its pitch. */
static int lie_beside(const struct sirius_batch_range *range, int64_t low, int64_t bytes) {
    int64_t behind = (low - range->column) % range->pitch;
    if (behind < 0) behind += range->pitch;
    return behind >= range->column_bytes && bytes <= range->pitch - behind;
}

/* The latest batch that a launch which touches the range has to come after. */
static unsigned latest(const struct sirius_batch_range *range) {
    unsigned batch = 0;
    int in_columns = is_in_columns(range);
    for (size_t at = find(range->low); at < queue.spans && queue.span[at].low < range->high; ++at) {
        const struct span *span = &queue.span[at];
        unsigned own = range->how & WRITES && span->read > span->written ? span->read : span->written;
        if (own <= batch) continue;
        if (!in_columns || !lie_beside(range, span->low, span->high - span->low)) batch = own;
    }
    for (unsigned i = 0; i < queue.columns; ++i) {
        const struct sirius_batch_range *other = &queue.column[i].range;
        if (queue.column[i].batch <= batch || !(range->how & WRITES || other->how & WRITES)) continue;
        if (range->low >= other->high || other->low >= range->high) continue;
        if (in_columns && range->pitch == other->pitch && lie_beside(range, other->column, other->column_bytes)) continue;
        if (lie_beside(other, range->low, range->high - range->low)) continue;
        batch = queue.column[i].batch;
    }
    return batch;
}

/* Notes that columns are touched in a batch; 0 where there is no room for that. */
static int note_columns(const struct sirius_batch_range *range, unsigned batch) {
    for (unsigned i = 0; i < queue.columns; ++i) {
        struct columns *known = &queue.column[i];
        const struct sirius_batch_range *other = &known->range;
        if (range->low != other->low || range->high != other->high || range->pitch != other->pitch ||
            range->column != other->column || range->column_bytes != other->column_bytes ||
            (range->how & WRITES) != (other->how & WRITES))
            continue;
        if (batch > known->batch) known->batch = batch;
        return 1;
    }
    if (queue.columns >= MOST_COLUMNS) return 0;
    struct columns fresh = {*range, batch};
    queue.column[queue.columns++] = fresh;
    return 1;
}

static void insert(size_t at, struct span span) {
    memmove(queue.span + at + 1, queue.span + at, (queue.spans - at) * sizeof *queue.span);
    queue.span[at] = span;
    ++queue.spans;
}

/* Notes that a range is touched in a batch. There is room for two spans for each one that is met, and
 * one more. */
static void note(const struct sirius_batch_range *range, unsigned batch) {
    int64_t low = range->low;
    size_t at = find(low);
    while (low < range->high) {
        if (at == queue.spans || queue.span[at].low > low) {
            int64_t end = at < queue.spans && queue.span[at].low < range->high ? queue.span[at].low : range->high;
            int writes = range->how & WRITES;
            struct span fresh = {.low = low, .high = end, .written = writes ? batch : 0, .read = writes ? 0 : batch};
            touch(&fresh, writes);
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
        if (range->how & WRITES) span->written = batch > span->written ? batch : span->written;
        else span->read = batch > span->read ? batch : span->read;
        touch(span, range->how & WRITES);
        low = span->high;
        ++at;
    }
}

/* Spans that noting all ranges may add. */
static size_t spans_needed(const struct sirius_batch_range *ranges, unsigned count) {
    size_t needed = 0;
    for (unsigned i = 0; i < count; ++i) {
        size_t met = 0;
        for (size_t at = find(ranges[i].low); at < queue.spans && queue.span[at].low < ranges[i].high; ++at) ++met;
        needed += met + 3 + 2 * count;
    }
    return needed;
}

static int meet(int64_t low, int64_t high, int64_t other_low, int64_t other_high) {
    return low < other_high && other_low < high;
}

static int is_replaced(const struct sirius_batch_range *range) {
    return range->how & REPLACES && range->low < range->high;
}

/* Where the ranges of a launch are at present, but for the replaced ones when these are to be moved, and how
 * far its arguments have to be moved for that. 0: not all of them can be. */
static int locate(const struct sirius_batch_range *ranges, unsigned count, int replacing,
                  struct sirius_batch_range *found, int64_t *distances) {
    char met[ARGUMENTS];
    for (unsigned i = 0; i < count; ++i)
        if (ranges[i].argument >= 0) met[ranges[i].argument] = 0, distances[ranges[i].argument] = 0;
    for (unsigned i = 0; i < count; ++i) {
        found[i] = ranges[i];
        if (ranges[i].low >= ranges[i].high || (replacing && is_replaced(&ranges[i]))) continue;
        int64_t distance = 0;
        for (unsigned v = 0; v < queue.versions; ++v) {
            const struct version *version = &queue.version[v];
            if (!meet(ranges[i].low, ranges[i].high, version->low, version->high)) continue;
            if (ranges[i].low < version->low || ranges[i].high > version->high || ranges[i].argument < 0) return 0;
            distance = version->distance;
        }
        if (ranges[i].argument >= 0) {
            size_t argument = (size_t)ranges[i].argument;
            if (met[argument] && distances[argument] != distance) return 0;
            met[argument] = 1;
            distances[argument] = distance;
        }
        found[i].low += distance;
        found[i].high += distance;
        found[i].column += distance;
    }
    return 1;
}

/* Whether the replaced ranges of a launch may be moved: an argument of its own leads to each, nothing that
 * runs with or after the writer touches it by another one, and no version would be left in part. */
static int may_replace(const struct sirius_batch_range *ranges, unsigned count) {
    int any = 0;
    for (unsigned i = 0; i < count; ++i) {
        const struct sirius_batch_range *range = &ranges[i];
        if (!is_replaced(range)) continue;
        any = 1;
        if (range->argument < 0) return 0;
        for (unsigned j = 0; j < count; ++j) {
            const struct sirius_batch_range *other = &ranges[j];
            if (j == i) continue;
            if (other->argument == range->argument) return 0;
            if (other->segment >= range->segment && other->low < other->high &&
                meet(range->low, range->high, other->low, other->high))
                return 0;
        }
        for (unsigned v = 0; v < queue.versions; ++v) {
            const struct version *version = &queue.version[v];
            if (meet(range->low, range->high, version->low, version->high) &&
                (version->low < range->low || version->high > range->high))
                return 0;
        }
    }
    return any;
}

/* How far a range is moved in a block: addresses stay alike in their last bits. */
static int64_t distance_to(unsigned block, const struct sirius_batch_range *range) {
    return (int64_t)(intptr_t)queue.block[block].memory + (range->low & (ALIGNMENT - 1)) - range->low;
}

/* The latest batch that a writer of a range, moved, has to come after. */
static unsigned latest_at(const struct sirius_batch_range *range, int64_t distance) {
    struct sirius_batch_range moved = *range;
    moved.low += distance;
    moved.high += distance;
    moved.how = WRITES;
    return latest(&moved);
}

/* A place for a range that is replaced behind a batch: the program's own where nobody uses it any more, else
 * a block that nobody does, else a new one, else what is free first. `distance` and the batch that it has to
 * come after; `block` is MOST_BLOCKS for the program's own place. 0: none. */
static int find_place(const struct sirius_batch_range *range, int own_is_free, unsigned batch, void *stream,
                      int64_t *distance, unsigned *block, unsigned *after) {
    size_t bytes = (size_t)(range->high - range->low) + ALIGNMENT;
    int found = 0;
    *after = 0;
    if (own_is_free) {
        found = 1;
        *block = MOST_BLOCKS;
        *distance = 0;
        *after = latest_at(range, 0);
    }
    for (unsigned i = 0; i < queue.blocks && (!found || *after > batch); ++i) {
        if (queue.block[i].taken || queue.block[i].bytes < bytes) continue;
        unsigned until = latest_at(range, distance_to(i, range));
        if (found && until >= *after) continue;
        found = 1;
        *block = i;
        *distance = distance_to(i, range);
        *after = until;
    }
    if (found && *after <= batch) return 1;
    if (queue.blocks >= MOST_BLOCKS || bytes > MOST_VERSION_BYTES - queue.version_bytes) return found;
    int kept = is_recorded(stream);
    char *memory = allocate(bytes, stream, kept);
    if (!memory) return found;
    struct block fresh = {memory, bytes, 0, kept};
    *block = queue.blocks;
    queue.block[queue.blocks++] = fresh;
    queue.version_bytes += bytes;
    *distance = distance_to(*block, range);
    *after = 0;
    return 1;
}

/* Whether a launch may write a replaced range in the program's own place: nothing of it is in use by the
 * launch itself. */
static int own_is_free(const struct sirius_batch_range *ranges, unsigned count, unsigned index) {
    const struct sirius_batch_range *range = &ranges[index];
    for (unsigned v = 0; v < queue.versions; ++v)
        if (queue.version[v].low == range->low && queue.version[v].high == range->high) return 1;
    for (unsigned j = 0; j < count; ++j)
        if (j != index && meet(range->low, range->high, ranges[j].low, ranges[j].high)) return 0;
    return 1;
}

/* Moves the replaced ranges of a launch to where it need not wait, as far as there is such memory. Returns
 * the batch that the launch has to come after, UINT32_MAX when there is none. */
static unsigned replace(const struct sirius_batch_range *ranges, unsigned count, unsigned batch, void *stream,
                        struct sirius_batch_range *found, int64_t *distances, unsigned *blocks) {
    unsigned latest_batch = batch;
    int whole = 1;
    for (unsigned i = 0; i < count; ++i) {
        blocks[i] = MOST_BLOCKS;
        if (!whole || !is_replaced(&ranges[i])) continue;
        unsigned after;
        int64_t distance;
        whole = find_place(&ranges[i], own_is_free(ranges, count, i), batch, stream, &distance, &blocks[i], &after);
        if (!whole) continue;
        if (blocks[i] < MOST_BLOCKS) queue.block[blocks[i]].taken = 1;
        distances[ranges[i].argument] = distance;
        found[i].low += distance;
        found[i].high += distance;
        if (after > latest_batch) latest_batch = after;
    }
    return whole ? latest_batch : UINT32_MAX;
}

static void give_back(const unsigned *blocks, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
        if (blocks[i] < MOST_BLOCKS) queue.block[blocks[i]].taken = 0;
}

/* Notes where replaced ranges are from now on. */
static void keep_versions(const struct sirius_batch_range *ranges, unsigned count,
                          const struct sirius_batch_range *found, const unsigned *blocks) {
    for (unsigned i = 0; i < count; ++i) {
        if (!is_replaced(&ranges[i])) continue;
        unsigned left = 0;
        for (unsigned v = 0; v < queue.versions; ++v) {
            struct version version = queue.version[v];
            if (meet(ranges[i].low, ranges[i].high, version.low, version.high))
                queue.block[version.block].taken = 0;
            else queue.version[left++] = version;
        }
        queue.versions = left;
        if (blocks[i] >= MOST_BLOCKS) continue;
        struct version version = {ranges[i].low, ranges[i].high, found[i].low - ranges[i].low, blocks[i]};
        queue.version[queue.versions++] = version;
    }
}

static unsigned latest_of(const struct sirius_batch_range *ranges, const struct sirius_batch_range *found,
                          unsigned count, int replacing) {
    unsigned batch = 0;
    for (unsigned i = 0; i < count; ++i) {
        if (replacing && is_replaced(&ranges[i])) continue;
        unsigned own = latest(&found[i]);
        if (own > batch) batch = own;
    }
    return batch;
}

/* Where a launch touches memory, how far its arguments are moved and which batch it comes after; UINT32_MAX
 * when it cannot wait beside what waits already. `must` move what it replaces out of its own way. `moved` says
 * whether what it replaces is moved, to `blocks`, which are taken then. */
static unsigned place(const struct sirius_batch_range *ranges, unsigned count, int must, void *stream,
                      struct sirius_batch_range *found, int64_t *distances, int *moved, unsigned *blocks) {
    unsigned kept = UINT32_MAX;
    *moved = 0;
    if (!must && locate(ranges, count, 0, found, distances)) kept = latest_of(ranges, found, count, 0);
    if (!may_replace(ranges, count) || !locate(ranges, count, 1, found, distances)) {
        if (kept != UINT32_MAX) locate(ranges, count, 0, found, distances);
        return kept;
    }
    unsigned batch = latest_of(ranges, found, count, 1);
    if (batch < kept) {
        batch = replace(ranges, count, batch, stream, found, distances, blocks);
        if (batch < kept) {
            *moved = 1;
            return batch;
        }
        give_back(blocks, count);
    }
    if (kept != UINT32_MAX) locate(ranges, count, 0, found, distances);
    return kept;
}

/* Puts off one launch whose configuration is valid and that touches the ranges at most. `patience` is
 * a word of the region: 0 at first, 1 when waiting has been found to save nothing. `must`: the launch is only
 * right where what it replaces is not where its earlier segments find it. */
int sirius_batch_submit(struct sirius_batch_kernel *kernel, uint64_t grid_xy, unsigned grid_z, uint64_t block_xy,
                       unsigned block_z, uint64_t shared, void *stream, void **arguments,
                       const struct sirius_batch_range *ranges, unsigned range_count, unsigned site,
                       int *patience, int must) {
    struct record record = {.kernel = kernel,
                            .grid = {(unsigned)grid_xy, (unsigned)(grid_xy >> 32), grid_z},
                            .block = {(unsigned)block_xy, (unsigned)(block_xy >> 32), block_z},
                            .shared = shared, .site = site};
    struct sirius_batch_range found[MOST_RANGES];
    int64_t distances[ARGUMENTS];
    unsigned blocks[MOST_RANGES];
    int moved = 0;
    if (sequence.count) sirius_batch_drain();
    if (queue.count && queue.stream != stream) sirius_batch_drain();
    if (queue.count >= MOST_RECORDS || queue.spans >= MOST_SPANS) sirius_batch_drain();
    look_for_graphs(patience);
    if (is_chunk(kernel, site, patience)) sirius_batch_drain();
    int64_t since = begin_record();
    int fits = kernel->arguments <= ARGUMENTS && range_count <= MOST_RANGES && (must || is_patient(patience));
    if (fits) {
        memset(distances, 0, kernel->arguments * sizeof *distances);
        queue.stream = stream;
        record.batch = place(ranges, range_count, must, stream, found, distances, &moved, blocks);
        if (record.batch == UINT32_MAX && queue.count) {
            sirius_batch_drain();
            record.batch = place(ranges, range_count, must, stream, found, distances, &moved, blocks);
        }
        fits = record.batch != UINT32_MAX;
    }
    size_t needed = fits ? spans_needed(found, range_count) : 0;
    size_t room = queue.room;
    fits = fits && grow((void **)&queue.records, sizeof *queue.records, queue.count + 1, &room);
    queue.room = (unsigned)room;
    fits = fits && grow((void **)&queue.arguments, 1, queue.bytes + kernel->argument_bytes, &queue.bytes_room) &&
           grow((void **)&queue.span, sizeof *queue.span, queue.spans + needed, &queue.spans_room);
    if (!fits) {
        if (moved) give_back(blocks, range_count);
        sirius_batch_drain();
        if (must) return SIRIUS_NOT_LAUNCHED;
        return launch_single(kernel, record.grid, record.block, arguments, shared, stream, site);
    }
    if (moved) keep_versions(ranges, range_count, found, blocks);
    ++record.batch;
    begin_befores(&record);
    for (unsigned i = 0; i < range_count; ++i)
        if (found[i].low < found[i].high && !(is_in_columns(&found[i]) && note_columns(&found[i], record.batch)))
            note(&found[i], record.batch);
    if (record.batch > queue.batches) queue.batches = record.batch;
    record.arguments = queue.bytes;
    record.order = queue.count;
    for (unsigned i = 0; i < kernel->arguments; ++i) {
        char *kept = queue.arguments + queue.bytes + kernel->offsets[i];
        memcpy(kept, arguments[i], kernel->sizes[i]);
        if (distances[i]) {
            int64_t address;
            memcpy(&address, kept, sizeof address);
            address += distances[i];
            memcpy(kept, &address, sizeof address);
        }
    }
    queue.bytes += kernel->argument_bytes;
    end_record(&record, patience, since);
    queue.records[queue.count++] = record;
    /* Launches that all depend on each other gain nothing from waiting. What runs beside them may only come
     * after the whole of a long inner loop, so that is asked late. */
    if (queue.count == PROBATION && queue.batches == queue.count) {
        *patience = later_patience();
        return sirius_batch_drain();
    }
    return 0;
}
