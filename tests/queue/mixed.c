/* Launches of several codes and grids that meet in a batch: random programs, whose kernels of several codes find slots and
 * records as those of the compiler do. What comes of them is what the program's order gives, each launch runs once, and
 * none takes more launches than without such kernels. Behind the queue's text. */

enum { CELLS = 800, CODES = 80, KINDS = 2, LARGEST = 4 };

static unsigned cells[CELLS], reference[CELLS];
static char single_keys[CODES], batch_keys[CODES], mixed_keys[KINDS];
static struct sirius_heterogeneous kinds[KINDS];
static struct sirius_batch_kernel kernels[CODES];
static unsigned launched, mixed, most_slots;

/* By what is taken from the seed. */
static uint64_t random_state;
static unsigned any(unsigned below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

static void check(int holds, const char *what) {
    if (holds) return;
    printf("%s\n", what);
    exit(1);
}

/* The one argument of each kernel. Some have all of it in their records, some what they read. */
struct whole { uint64_t unread[3]; unsigned *to; uint64_t more; const unsigned *from; unsigned value, unread_as_well, count, end; };
struct packed { unsigned *to; const unsigned *from; unsigned value, count; };
static const unsigned no_offset[1] = {0}, all_bytes[1] = {sizeof(struct whole)};
static const struct piece all_pieces[1] = {{0, 0, sizeof(struct whole)}};
static const struct piece few_pieces[3] = {{24, 0, 8}, {40, 8, 12}, {56, 20, 4}};

static struct packed packed_of(unsigned code, const char *record) {
    struct packed packed;
    if (code % 3) memcpy(&packed, record, sizeof packed);
    else {
        const struct whole *whole = (const struct whole *)record;
        struct packed same = {whole->to, whole->from, whole->value, whole->count};
        packed = same;
    }
    return packed;
}

/* What a launch does, which knows its grid. */
static void run(unsigned code, struct dim3 grid, struct packed packed) {
    unsigned added = code * 1009 + grid.x * 31 + grid.y * 7 + grid.z * 3 + packed.value;
    for (unsigned i = 0; i < packed.count; ++i) packed.to[i] = packed.to[i] * 5 + packed.from[i] + added;
}

/* A kernel of several codes: each block finds its slot, its record and its place in the grid. */
static void run_mixed(unsigned kind, unsigned blocks, unsigned threads, const char *parameter) {
    unsigned slots = *(const unsigned *)(parameter + 24), met = 0;
    check(slots >= 2 && slots <= SLOTS, "not as many slots as there may be");
    check(blocks <= kinds[kind].blocks[(threads - 1) / 32], "more blocks than are held at once");
    if (slots > most_slots) most_slots = slots;
    for (unsigned block = 0; block < blocks; ++block) {
        unsigned at = 0;
        for (unsigned step = SLOTS / 2; step; step /= 2) {
            const struct slot *later = (const struct slot *)(parameter + (at + step) * 32);
            if (at + step < slots && block >= later->first_block) at += step;
        }
        const struct slot *slot = (const struct slot *)(parameter + at * 32);
        unsigned rest = block - slot->first_block, index[3];
        for (unsigned i = 0; i < 3; ++i) {
            index[i] = rest % slot->grid[i];
            rest /= slot->grid[i];
        }
        if (index[0] || index[1] || index[2]) continue;
        unsigned code = slot->code * KINDS + kind;
        const char *record = parameter + slot->records + rest * kernels[code].record_bytes;
        check(record + kernels[code].record_bytes <= parameter + BATCH_BYTES, "records that do not fit");
        struct dim3 grid = {slot->grid[0], slot->grid[1], slot->grid[2]};
        run(code, grid, packed_of(code, record));
        ++met;
    }
    check(met >= slots, "slots without launches");
    ++mixed;
}

int cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared, void *stream) {
    const char *key = kernel, *memory = arguments[0];
    (void)shared, (void)stream;
    ++launched;
    if (key >= mixed_keys && key < mixed_keys + KINDS) {
        check(grid.y == 1 && grid.z == 1 && !shared, "not a launch of several codes");
        run_mixed((unsigned)(key - mixed_keys), grid.x, block.x * block.y * block.z, memory);
        return 0;
    }
    if (key >= single_keys && key < single_keys + CODES) {
        struct whole whole;
        memcpy(&whole, memory, sizeof whole);
        struct packed packed = {whole.to, whole.from, whole.value, whole.count};
        run((unsigned)(key - single_keys), grid, packed);
        return 0;
    }
    unsigned code = (unsigned)(key - batch_keys), depth;
    memcpy(&depth, memory, sizeof depth);
    struct dim3 own = {grid.x, grid.y, depth};
    for (unsigned i = 0; i < grid.z / depth; ++i)
        run(code, own, packed_of(code, memory + 16 + i * kernels[code].record_bytes));
    return 0;
}
int cudaLaunchCooperativeKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                                void *stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
/* Of one kernel blocks have few threads. */
int cudaFuncGetAttributes(void *attributes, const void *kernel) {
    int threads = kernel == &mixed_keys[1] ? 128 : 1024;
    memcpy((char *)attributes + 3 * sizeof(size_t), &threads, sizeof threads);
    return 0;
}
int cudaGetLastError(void) { return 0; }
int cudaDeviceSynchronize(void) { return 0; }
int cudaStreamSynchronize(void *stream) { return (void)stream, 0; }
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int how, void *stream) {
    (void)how, (void)stream;
    memcpy(to, from, bytes);
    return 0;
}
int cudaMallocAsync(void **memory, size_t bytes, void *stream) { return (void)stream, *memory = malloc(bytes), 0; }
int cudaMalloc(void **memory, size_t bytes) { return *memory = malloc(bytes), 0; }
int cudaThreadExchangeStreamCaptureMode(int *mode) { return (void)mode, 0; }
int cudaFreeAsync(void *memory, void *stream) { return (void)stream, free(memory), 0; }
int cudaStreamIsCapturing(void *stream, int *status) { return (void)stream, *status = 0; }

static void make_kernels(int meet) {
    for (unsigned kind = 0; kind < KINDS; ++kind) {
        struct sirius_heterogeneous fresh = {.kernel = &mixed_keys[kind]};
        for (unsigned i = 0; i < 32; ++i) fresh.blocks[i] = 600 / (i + 1);
        kinds[kind] = fresh;
    }
    for (unsigned code = 0; code < CODES; ++code) {
        int few = code % 3 != 0;
        unsigned bytes = few ? 32 : sizeof(struct whole);
        struct sirius_batch_kernel kernel = {
            .single = code % 7 ? &single_keys[code] : 0, .batch = &batch_keys[code], .capacity = (BATCH_BYTES - 16) / bytes,
            .record_bytes = bytes, .arguments = 1, .argument_bytes = sizeof(struct whole), .offsets = no_offset,
            .sizes = all_bytes, .pieces = few ? 3 : 1, .piece = few ? few_pieces : all_pieces, .records_offset = 16,
            .heterogeneous = meet ? &kinds[code % KINDS] : 0, .code = code / KINDS};
        kernels[code] = kernel;
    }
}

/* Runs a program; how many launches it takes. */
static unsigned program(uint64_t seed, int meet) {
    random_state = seed;
    launched = 0;
    make_kernels(meet);
    int patience = 0;
    unsigned count = 1 + any(any(3) ? 60 : 900), codes = any(3) ? 1 + any(CODES) : 2 + any(4), free_ones = any(2), most = any(2) ? 3 : 24;
    unsigned threads = any(3) ? 32 : 32 * (1 + any(32)), spread = any(2) ? CELLS : 96, alike = any(2);
    for (unsigned i = 0; i < CELLS; ++i) cells[i] = reference[i] = i * i;
    for (unsigned i = 0; i < count; ++i) {
        unsigned code = any(codes), length = 1 + any(LARGEST), to = any(spread - LARGEST), from = any(spread - LARGEST);
        /* Sometimes most of them depend on nothing. */
        if (free_ones && any(20)) to = i * LARGEST % CELLS, from = to, length = LARGEST;
        struct whole argument = {{any(9), any(9), any(9)}, cells + to, any(9), cells + from, any(100), any(9), length, any(9)};
        struct packed expected = {reference + to, reference + from, argument.value, length};
        struct dim3 grid = {1 + any(most), 1 + any(2) * any(3), 1 + any(2) * any(4)};
        if (alike ? any(9) : any(2)) grid.x = 2, grid.y = grid.z = 1;
        unsigned own = any(9) ? threads : 96;
        void *arguments[1] = {&argument};
        struct sirius_batch_range ranges[2] = {
            {(intptr_t)argument.from, (intptr_t)(argument.from + length), 0, -1, 0, 0, 0, 0},
            {(intptr_t)argument.to, (intptr_t)(argument.to + length), WRITES, -1, 0, 0, 0, 0}};
        run(code, grid, expected);
        sirius_batch_submit(&kernels[code], grid.x | (uint64_t)grid.y << 32, grid.z, own | (uint64_t)1 << 32, 1,
                            any(15) ? 0 : 64, 0, arguments, ranges, 2, i, &patience, 0);
    }
    sirius_batch_drain();
    check(!memcmp(cells, reference, sizeof cells), "other results");
    return launched;
}

int main(int count, char **arguments) {
    (void)count;
    unsigned all = 0, alone = 0;
    for (uint64_t seed = strtoull(arguments[1], 0, 10); seed < strtoull(arguments[2], 0, 10); ++seed) {
        unsigned own = program(seed, 1), without = program(seed, 0);
        check(own <= without, "more launches than without kernels of several codes");
        all += own;
        alone += without;
    }
    check(mixed && most_slots > 32, "few launches meet");
    printf("%u launches in place of %u, %u of several codes, of %u slots at most\n", all, alone, mixed, most_slots);
    return 0;
}
