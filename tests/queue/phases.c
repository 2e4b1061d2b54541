/* Batches that are phases of one cooperative launch: random programs, on a device that has room for more or fewer blocks, or
 * none, whose streams are captured, and whose calls fail. Launches are run as the kernel of the compiler does, which finds
 * phases, slots and records in memory of the device, and copies late: what it reads in memory of the host is what is there
 * when the call returns. What comes of the programs is what their order gives, and where nothing speaks against it each run of
 * batches is one launch. Behind the queue's text. */

enum { CELLS = 600, CODES = 12, KINDS = 2, LARGEST = 4, MOST_COPIES = 4096 };

static unsigned cells[CELLS], reference[CELLS];
static char single_keys[CODES], batch_keys[CODES], phase_keys[KINDS];
static struct sirius_phases kinds[KINDS];
static struct sirius_batch_kernel kernels[CODES];
static struct {
    int able, blocks, multiprocessors, capturing, fails_one_in, pending_error;
    size_t asked_shared;
    unsigned launched, together, phases, allocated, held;
    unsigned most_blocks; /* of a batch */
} device;

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

/* What a launch does, which knows its grid. It needs what its last argument says of shared memory. */
static void run(unsigned code, struct dim3 grid, size_t shared, struct packed packed) {
    unsigned added = code * 1009 + grid.x * 31 + grid.y * 7 + grid.z * 3 + packed.value;
    check(shared >= packed.value / 200 * 64, "too little shared memory");
    for (unsigned i = 0; i < packed.count; ++i) packed.to[i] = packed.to[i] * 5 + packed.from[i] + added;
}

/* Memory of the device, with what is to be copied there. */
static struct { char *memory; size_t bytes; int there; } block_of[MOST_COPIES];
static unsigned blocks_so_far;

static int fails(void) {
    if (!device.fails_one_in || any((unsigned)device.fails_one_in)) return 0;
    device.pending_error = 1;
    return 2;
}

int cudaMallocAsync(void **memory, size_t bytes, void *stream) {
    (void)stream;
    if (fails()) return 2;
    check(blocks_so_far < MOST_COPIES, "too much memory");
    *memory = block_of[blocks_so_far].memory = malloc(bytes);
    memset(*memory, 0xee, bytes);
    block_of[blocks_so_far].bytes = bytes;
    block_of[blocks_so_far++].there = 1;
    ++device.allocated;
    ++device.held;
    return 0;
}
int cudaFreeAsync(void *memory, void *stream) {
    (void)stream;
    for (unsigned i = 0; i < blocks_so_far; ++i)
        if (block_of[i].there && block_of[i].memory == memory) {
            memset(memory, 0xdd, block_of[i].bytes);
            block_of[i].there = 0;
            --device.held;
            free(memory);
            return 0;
        }
    check(0, "memory that is not there is given back");
    return 1;
}
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int how, void *stream) {
    (void)stream;
    check(how == 1, "not a copy to the device");
    check(!device.capturing, "a copy is captured");
    if (fails()) return 2;
    for (unsigned i = 0; i < blocks_so_far; ++i)
        if (block_of[i].there && block_of[i].memory == to) {
            check(bytes <= block_of[i].bytes, "more is copied than there is room for");
            memcpy(to, from, bytes);
            return 0;
        }
    check(0, "a copy to memory that is not there");
    return 1;
}

/* A cooperative launch: each of its blocks goes through those of its number, and on. */
static void run_phases(unsigned kind, unsigned blocks, size_t shared, const char *memory, unsigned count) {
    check(count >= 2, "one batch alone");
    size_t bytes = 0;
    for (unsigned i = 0; i < blocks_so_far; ++i)
        if (block_of[i].there && block_of[i].memory == memory) bytes = block_of[i].bytes;
    check(bytes, "a launch reads memory that is not there");
    check(blocks <= (unsigned)(device.blocks * device.multiprocessors) && device.able, "blocks that are not there at once");
    for (unsigned phase = 0; phase < count; ++phase) {
        const struct phase *own = (const struct phase *)memory + phase;
        check(own->slots && own->blocks, "an empty batch");
        check((own->blocks + blocks - 1) / blocks <= kinds[kind].rounds, "too many rounds");
        check(own->blocks <= (1u << 30), "too many blocks");
        if (own->blocks > device.most_blocks) device.most_blocks = own->blocks;
        unsigned met = 0;
        for (unsigned block = 0; block < blocks; ++block)
            for (unsigned linear = block; linear < own->blocks; linear += blocks) {
                unsigned low = 0, high = own->slots;
                const struct phase_slot *slots = (const struct phase_slot *)(memory + own->slots_at);
                do {
                    unsigned middle = (low + high) / 2;
                    if (linear >= slots[middle].first_block) low = middle;
                    else high = middle;
                } while (high - low > 1);
                const struct phase_slot *slot = &slots[low];
                unsigned rest = linear - slot->first_block, index[3];
                for (unsigned i = 0; i < 3; ++i) {
                    index[i] = rest % slot->grid[i];
                    rest /= slot->grid[i];
                }
                ++met;
                if (index[0] || index[1] || index[2]) continue;
                unsigned code = slot->code * KINDS + kind;
                check(code < CODES, "no such code");
                const char *record = memory + slot->records_at + (size_t)rest * kernels[code].record_bytes;
                check(record + kernels[code].record_bytes <= memory + bytes, "records that do not fit");
                struct dim3 grid = {slot->grid[0], slot->grid[1], slot->grid[2]};
                run(code, grid, shared, packed_of(code, record));
            }
        check(met == own->blocks, "other blocks");
    }
    device.phases += count;
    ++device.together;
}

int cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared, void *stream) {
    const char *key = kernel, *memory = arguments[0];
    (void)stream, (void)block;
    ++device.launched;
    check(!(key >= phase_keys && key < phase_keys + KINDS), "blocks that cannot wait for each other");
    if (key >= single_keys && key < single_keys + CODES) {
        struct whole whole;
        memcpy(&whole, memory, sizeof whole);
        struct packed packed = {whole.to, whole.from, whole.value, whole.count};
        run((unsigned)(key - single_keys), grid, shared, packed);
        return 0;
    }
    unsigned code = (unsigned)(key - batch_keys), depth;
    memcpy(&depth, memory, sizeof depth);
    struct dim3 own = {grid.x, grid.y, depth};
    for (unsigned i = 0; i < grid.z / depth; ++i)
        run(code, own, shared, packed_of(code, memory + 16 + i * kernels[code].record_bytes));
    return 0;
}
int cudaLaunchCooperativeKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                                void *stream) {
    const char *key = kernel;
    (void)stream;
    ++device.launched;
    check(key >= phase_keys && key < phase_keys + KINDS, "not a kernel of phases");
    check(grid.y == 1 && grid.z == 1 && shared <= kinds[key - phase_keys].shared && !device.capturing, "not a launch of phases");
    check(block.x * block.y * block.z <= 1024, "too many threads");
    check(shared <= device.asked_shared, "other blocks than were asked for");
    unsigned phases;
    const char *memory;
    memcpy(&memory, arguments[0], sizeof memory);
    memcpy(&phases, arguments[1], sizeof phases);
    run_phases((unsigned)(key - phase_keys), grid.x, shared, memory, phases);
    return 0;
}
int cudaFuncGetAttributes(void *attributes, const void *kernel) {
    int threads = 1024;
    (void)kernel;
    memcpy((char *)attributes + 3 * sizeof(size_t), &threads, sizeof threads);
    return 0;
}
int cudaGetDevice(int *number) { return *number = 3, fails(); }
int cudaDeviceGetAttribute(int *value, int which, int number) {
    check(number == 3, "another device");
    *value = which == 95 ? device.able : which == 16 ? device.multiprocessors : -1;
    return fails();
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t shared) {
    check(kernel == &phase_keys[0] || kernel == &phase_keys[1], "another kernel is asked for");
    check(threads >= 1 && threads <= 1024, "other blocks are asked for");
    device.asked_shared = shared;
    *blocks = device.blocks;
    return fails();
}
int cudaGetLastError(void) { return device.pending_error = 0; }
int cudaDeviceSynchronize(void) { return 0; }
int cudaStreamSynchronize(void *stream) { return (void)stream, 0; }
int cudaMalloc(void **memory, size_t bytes) { return *memory = malloc(bytes), 0; }
int cudaThreadExchangeStreamCaptureMode(int *mode) { return (void)mode, 0; }
int cudaStreamIsCapturing(void *stream, int *status) { return (void)stream, *status = device.capturing, 0; }

/* `few`: some codes take no part. */
static void make_kernels(int few) {
    for (unsigned kind = 0; kind < KINDS; ++kind) {
        struct sirius_phases fresh = {&phase_keys[kind], 1 + any(8), any(2) ? 64 : 128};
        kinds[kind] = fresh;
    }
    for (unsigned code = 0; code < CODES; ++code) {
        int packs = code % 3 != 0;
        unsigned bytes = packs ? 32 : sizeof(struct whole);
        struct sirius_batch_kernel kernel = {
            .single = code % 7 ? &single_keys[code] : 0, .batch = &batch_keys[code], .capacity = (BATCH_BYTES - 16) / bytes,
            .record_bytes = bytes, .arguments = 1, .argument_bytes = sizeof(struct whole), .offsets = no_offset,
            .sizes = all_bytes, .pieces = packs ? 3 : 1, .piece = packs ? few_pieces : all_pieces, .records_offset = 16,
            .phases = few && !any(3) ? 0 : &kinds[code % KINDS], .phase_code = code / KINDS};
        kernels[code] = kernel;
    }
}

/* How many batches the queue has found, and whether all of them can be one launch. */
struct outcome { unsigned batches, launched, together; };

static struct outcome program(uint64_t seed, int plain) {
    random_state = seed;
    int patience = 0;
    memset(&device, 0, sizeof device);
    blocks_so_far = 0;
    int free_of_trouble = plain || any(2);
    device.able = free_of_trouble || any(4);
    device.blocks = plain ? 100 : (int)any(9);
    device.multiprocessors = plain ? 100 : 1 + (int)any(12);
    device.capturing = !free_of_trouble && !any(6);
    device.fails_one_in = free_of_trouble ? 0 : 2 + (int)any(30);
    make_kernels(!plain && any(2));
    unsigned count = 2 + any(any(3) ? 60 : 600), codes = 1 + any(CODES), most = any(2) ? 3 : 24;
    unsigned threads = 32 * (1 + any(32)), spread = any(2) ? CELLS : 96, alike = plain || any(2), brings = !plain && !any(3);
    unsigned of_one_kind = plain || any(2);
    for (unsigned i = 0; i < CELLS; ++i) cells[i] = reference[i] = i * i;
    for (unsigned i = 0; i < count; ++i) {
        unsigned code = of_one_kind ? any(codes) / KINDS * KINDS : any(codes), length = 1 + any(LARGEST);
        unsigned to = any(spread - LARGEST), from = any(spread - LARGEST);
        struct whole argument = {{any(9), any(9), any(9)}, cells + to, any(9), cells + from, any(100), any(9), length, any(9)};
        struct packed expected = {reference + to, reference + from, argument.value, length};
        struct dim3 grid = {1 + any(most), 1 + any(2) * any(3), 1 + any(2) * any(4)};
        unsigned own = alike || any(9) ? threads : 96;
        void *arguments[1] = {&argument};
        struct sirius_batch_range ranges[2] = {
            {(intptr_t)argument.from, (intptr_t)(argument.from + length), 0, -1, 0, 0, 0, 0},
            {(intptr_t)argument.to, (intptr_t)(argument.to + length), WRITES, -1, 0, 0, 0, 0}};
        size_t shared = brings && !any(15) ? 64 * (1 + any(3)) : 0;
        argument.value += (unsigned)shared / 64 * 200;
        expected.value = argument.value;
        run(code, grid, shared, expected);
        sirius_batch_submit(&kernels[code], grid.x | (uint64_t)grid.y << 32, grid.z, own | (uint64_t)1 << 32, 1,
                            shared, 0, arguments, ranges, 2, i, &patience, 0);
    }
    struct outcome outcome = {queue.batches, 0, 0};
    check(!sirius_batch_drain(), "a launch fails");
    check(!memcmp(cells, reference, sizeof cells), "other results");
    check(!device.held, "memory is kept");
    check(!device.pending_error, "an error is left");
    outcome.launched = device.launched;
    outcome.together = device.together;
    return outcome;
}

int main(int count, char **arguments) {
    (void)count;
    unsigned together = 0, phases = 0, most = 0, apart = 0;
    for (uint64_t seed = strtoull(arguments[1], 0, 10); seed < strtoull(arguments[2], 0, 10); ++seed) {
        struct outcome own = program(seed, 0);
        together += device.together;
        phases += device.phases;
        apart += !own.together;
        if (device.most_blocks > most) most = device.most_blocks;
        own = program(seed, 1);
        check(own.batches < 2 || (own.together == 1 && own.launched == 1), "more launches than one");
    }
    check(together && apart, "nothing is tried");
    printf("%u launches of %u batches, of %u blocks at most; %u programs without one\n", together, phases, most, apart);
    return 0;
}
