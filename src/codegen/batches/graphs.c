/* Launches that wait, issued as CUDA graphs.
 *
 * A launch that the queue issues is a unit: one record, or several that a kernel runs at once. Units that
 * are issued one behind the other, up to NODES of them, make a window. Windows of equal code in an equal order, with
 * equal dependences, are launched by one executable graph, from the second one on.
 *
 * Invariants. Of two records that touch a common byte, one of the two writing it, the later one's unit comes
 * after that of the earlier one: by edges of the graph, or since it is in a later window, and windows are issued in
 * order on one stream. What a graph launches is equal in code, order and edges to what it was made of, each compared;
 * grids, blocks, shared memory and arguments are set before each launch where they differ. A graph runs on the
 * stream that it was made for alone, by the number that no other stream has while the program runs: never in
 * another context, and never in one that a reset has ended. Whatever cannot be had of a graph, the units are launched one by
 * one, and with the errors of that. */
#ifdef SIRIUS_GRAPHS
struct node_parameters {
    const void *function;
    struct dim3 grid, block;
    unsigned shared;
    void **arguments, **extra;
};

int cudaGraphCreate(void **, unsigned);
int cudaGraphDestroy(void *);
int cudaGraphAddKernelNode(void **, void *, void *const *, size_t, const struct node_parameters *);
int cudaGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cudaGraphExecKernelNodeSetParams(void *, void *, const struct node_parameters *);
int cudaGraphExecDestroy(void *);
int cudaPeekAtLastError(void);
int cudaThreadExchangeStreamCaptureMode(int *);
int SIRIUS_GRAPH_LAUNCH(void *, void *);
int SIRIUS_STREAM_NUMBER(void *, unsigned long long *);
int SIRIUS_STREAM_PRIORITY(void *, int *);

/* A launch to be made. */
struct unit {
    const void *function;
    const struct sirius_batch_kernel *layout; /* of its arguments; null: they are one block of memory */
    struct dim3 grid, block;
    size_t shared, arguments, bytes; /* its arguments, in the bytes of all units */
    unsigned site, first_record;     /* of its records, from 1 on */
};

enum { NODES = 128, LEAST_NODES = 2, WORDS = NODES / 64, GRAPHS = 16, MOST_EXECUTABLES = 64 };

/* A record that reads a span, and the one that did so before it. */
struct reader { unsigned record, earlier; };

/* What a node is: what has to be equal. `edges` go to earlier nodes, those of all nodes one after the other. */
struct node { const void *function; const struct sirius_batch_kernel *layout; unsigned edges; };

/* What it launches at present. */
struct launched { struct dim3 grid, block; size_t shared, bytes, arguments; };

enum { MEASURED, USED, LEFT };

/* Launches that were met, and the graph of them. */
struct graph {
    unsigned long long stream, context; /* context: the number of its default stream, 0 where that is not known */
    uint64_t hash;
    unsigned count, edges, met;
    int state, is_timed;
    int64_t direct, updated; /* nanoseconds that the host took at best, without and with it; -1: never */
    uint64_t used;
    struct node *node;
    unsigned *edge;
    struct launched *launched;
    char *arguments;
    void **handle, *graph, *executable;
};

/* Units of the queue while it is issued, and what is noted for them while it fills. */
static _Thread_local struct {
    int active, incomplete;
    size_t units, units_room, bytes, bytes_room, befores, befores_room, readers, readers_room;
    struct unit *unit;
    char *arguments;
    unsigned *before;
    struct reader *reader;
    int64_t since, spent; /* the first record came, and so long the host took to put the records there */
    int *patience;        /* of the region that all records are of, where graphs are all that it waits for; else null */
} collected;

/* There are no triangles among the edges that no others imply, and so no more than these. */
static _Thread_local struct { struct node node[NODES]; unsigned edge[NODES * NODES / 4], edges; } window;
static _Thread_local struct graph *graphs[GRAPHS];
static _Thread_local uint64_t graphs_used;
static _Thread_local unsigned graphs_timed;
static unsigned executables;

enum { GRAPHS_OFF = 1, GRAPHS_AUTO, GRAPHS_ALWAYS };

/* What SIRIUS_GRAPHS says. */
static int graph_mode(void) {
    static int known;
    int mode = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (mode) return mode;
    const char *text = getenv("SIRIUS_GRAPHS");
    mode = !text ? GRAPHS_AUTO : !strcmp(text, "off") ? GRAPHS_OFF : !strcmp(text, "always") ? GRAPHS_ALWAYS : GRAPHS_AUTO;
    if (text && *text && mode == GRAPHS_AUTO && strcmp(text, "auto"))
        fprintf(stderr, "sirius: SIRIUS_GRAPHS is '%s', not auto, always or off; it is taken for auto\n", text);
    __atomic_store_n(&known, mode, __ATOMIC_RELAXED);
    return mode;
}

/* `patience` of regions whose launches wait for graphs alone, and how often in turn no graph may come of it. */
enum { WAITS_FOR_GRAPHS = 2, LOST_PATIENCE = WAITS_FOR_GRAPHS + 32 };

/* A host that looks for iterations of equal launches ends the queue behind so many, or else behind NODES. */
enum { LEAST_CHUNK = 32 };

/* The record that is being put into the queue comes after another one, from 1 on. */
static void comes_after(unsigned earlier) {
    unsigned own = queue.count + 1;
    if (!earlier || earlier == own || collected.incomplete) return;
    struct record *record = &queue.records[earlier - 1];
    if (record->stamp == own) return;
    record->stamp = own;
    if (!grow((void **)&collected.before, sizeof *collected.before, collected.befores + 1, &collected.befores_room))
        collected.incomplete = 1;
    else collected.before[collected.befores++] = earlier - 1;
}

/* It touches a span. */
static void touch(struct span *span, int writes) {
    unsigned own = queue.count + 1;
    if (graph_mode() == GRAPHS_OFF || collected.incomplete) return;
    comes_after(span->writer);
    if (writes) {
        for (unsigned at = span->readers; at; at = collected.reader[at - 1].earlier)
            comes_after(collected.reader[at - 1].record);
        span->writer = own;
        span->readers = 0;
        return;
    }
    if (span->readers && collected.reader[span->readers - 1].record == own) return;
    if (!grow((void **)&collected.reader, sizeof *collected.reader, collected.readers + 1, &collected.readers_room)) {
        collected.incomplete = 1;
        return;
    }
    struct reader reader = {own, span->readers};
    collected.reader[collected.readers++] = reader;
    span->readers = (unsigned)collected.readers;
}

/* A record of the next unit. */
static void belongs(const struct record *record) {
    if (!collected.active) return;
    struct record *own = &queue.records[record->order];
    own->unit = (unsigned)collected.units;
}

/* Keeps a launch for later; 0 when there is no memory. */
static int collect(const struct unit *unit, void **arguments) {
    size_t start = (collected.bytes + 15) & ~(size_t)15;
    if (!grow((void **)&collected.unit, sizeof *collected.unit, collected.units + 1, &collected.units_room) ||
        !grow((void **)&collected.arguments, 1, start + unit->bytes, &collected.bytes_room))
        return 0;
    char *own = collected.arguments + start;
    const struct sirius_batch_kernel *layout = unit->layout;
    memset(own, 0, unit->bytes);
    if (!layout) memcpy(own, arguments[0], unit->bytes);
    for (unsigned i = 0; layout && i < layout->arguments; ++i)
        memcpy(own + layout->offsets[i], arguments[i], layout->sizes[i]);
    struct unit *kept = &collected.unit[collected.units++];
    *kept = *unit;
    kept->arguments = start;
    collected.bytes = start + unit->bytes;
    return 1;
}

/* Where CUDA finds the arguments of a unit; `whole` has room for one block of memory. */
static void point(const struct unit *unit, void **pointers, char *whole) {
    char *own = collected.arguments + unit->arguments;
    const struct sirius_batch_kernel *layout = unit->layout;
    for (unsigned i = 0; layout && i < layout->arguments; ++i) pointers[i] = own + layout->offsets[i];
    if (layout) return;
    memcpy(whole, own, unit->bytes);
    memset(whole + unit->bytes, 0, BATCH_BYTES - unit->bytes);
    pointers[0] = whole;
}

/* Launches units one by one. */
static int launch_units(size_t first, size_t count) {
    int status = 0;
    for (size_t i = first; i < first + count; ++i) {
        const struct unit *unit = &collected.unit[i];
        _Alignas(16) char whole[BATCH_BYTES];
        void *pointers[ARGUMENTS];
        point(unit, pointers, whole);
        announce(unit->site);
        int one = SIRIUS_LAUNCH(unit->function, unit->grid, unit->block, pointers, unit->shared, queue.stream);
        status = status ? status : one;
    }
    return status;
}

/* Launches a kernel, now or with the others that are collected. */
static int launch(const void *function, const struct sirius_batch_kernel *layout, size_t bytes, struct dim3 grid,
                  struct dim3 block, void **arguments, size_t shared, void *stream, unsigned site) {
    int status = 0;
    if (collected.active) {
        struct unit unit = {function, layout, grid, block, shared, 0, bytes, site, 0};
        if (collect(&unit, arguments)) return 0;
        collected.active = 0;
        status = launch_units(0, collected.units);
        collected.units = 0;
    }
    announce(site);
    int one = SIRIUS_LAUNCH(function, grid, block, arguments, shared, stream);
    return status ? status : one;
}

/* Calls of ours leave no error behind: there was none before. */
static int failed(int status) {
    if (status) cudaGetLastError();
    return status != 0;
}

/* Captures of other threads neither forbid what graphs are made of nor end by it. */
static int exchange_capture_mode(int mode) {
    failed(cudaThreadExchangeStreamCaptureMode(&mode));
    return mode;
}

enum { RELAXED = 2 };

/* Whether the queue's stream may have graphs, and its number. */
static int stream_number(unsigned long long *number) {
    int status = 0;
    if (cudaPeekAtLastError() || failed(SIRIUS_IS_CAPTURING(queue.stream, &status)) || status) return 0;
    return !failed(SIRIUS_STREAM_NUMBER(queue.stream, number));
}

/* The number of the default stream of this thread's context; 0 where a capture forbids to ask. */
static unsigned long long context_number(void) {
    void *legacy = (void *)1;
    unsigned long long number = 0;
    int status = 0;
    if (failed(SIRIUS_IS_CAPTURING(legacy, &status)) || status || failed(SIRIUS_STREAM_NUMBER(legacy, &number))) return 0;
    return number;
}

static uint64_t mixed(uint64_t hash, uint64_t value) { return (hash ^ value) * 1099511628211u; }

/* What the units of a window are, and their edges to earlier ones but for those that others imply; a hash of it. */
static uint64_t describe(size_t first, unsigned count) {
    uint64_t after[NODES][WORDS], hash = mixed(14695981039346656037u, count);
    window.edges = 0;
    for (unsigned i = 0; i < count; ++i) {
        const struct unit *unit = &collected.unit[first + i];
        uint64_t met[WORDS] = {0}, reached[WORDS] = {0};
        for (unsigned at = unit->first_record; at; at = queue.records[at - 1].next_of_unit) {
            const struct record *record = &queue.records[at - 1];
            for (unsigned b = 0; b < record->befores; ++b) {
                unsigned before = queue.records[collected.before[record->first_before + b]].unit;
                if (before < first || before >= first + i) continue;
                met[(before - first) / 64] |= (uint64_t)1 << (before - first) % 64;
            }
        }
        hash = mixed(mixed(hash, (uintptr_t)unit->function), (uintptr_t)unit->layout);
        unsigned edges = window.edges;
        for (unsigned word = WORDS; word-- > 0;)
            while (met[word]) {
                unsigned bit = 63 - (unsigned)__builtin_clzll(met[word]), before = word * 64 + bit;
                met[word] &= ~((uint64_t)1 << bit);
                if (reached[word] >> bit & 1) continue;
                reached[word] |= (uint64_t)1 << bit;
                for (unsigned w = 0; w < WORDS; ++w) reached[w] |= after[before][w];
                window.edge[window.edges++] = before;
                hash = mixed(hash, before);
            }
        memcpy(after[i], reached, sizeof reached);
        struct node node = {unit->function, unit->layout, window.edges - edges};
        window.node[i] = node;
        hash = mixed(hash, node.edges);
    }
    return hash;
}

/* Ends the graph of some launches, if there is one. */
static void end_graph(struct graph *graph) {
    if (graph->is_timed) --graphs_timed;
    graph->is_timed = 0;
    graph->state = LEFT;
    if (graph->executable) {
        failed(cudaGraphExecDestroy(graph->executable));
        __atomic_sub_fetch(&executables, 1, __ATOMIC_RELAXED);
    }
    if (graph->graph) failed(cudaGraphDestroy(graph->graph));
    graph->graph = graph->executable = 0;
}

/* Forgets launches. A graph of a context that may have ended stays. */
static void forget(struct graph *graph) {
    if (graph->context && graph->context == context_number()) end_graph(graph);
    else if (graph->is_timed) --graphs_timed;
    free(graph->node);
    free(graph->edge);
    free(graph->launched);
    free(graph->arguments);
    free(graph->handle);
    free(graph);
}

static int is_described(const struct graph *graph, uint64_t hash, unsigned count, unsigned long long stream) {
    if (graph->hash != hash || graph->count != count || graph->stream != stream || graph->edges != window.edges) return 0;
    for (unsigned i = 0; i < count; ++i)
        if (graph->node[i].function != window.node[i].function || graph->node[i].layout != window.node[i].layout ||
            graph->node[i].edges != window.node[i].edges)
            return 0;
    return !memcmp(graph->edge, window.edge, window.edges * sizeof *window.edge);
}

/* The launches of the window, as they are known or from now on; null where there is no memory. */
static struct graph *graph_of(uint64_t hash, unsigned count, unsigned long long stream) {
    struct graph **place = &graphs[0];
    for (unsigned i = 0; i < GRAPHS; ++i) {
        if (!graphs[i]) {
            place = &graphs[i];
            break;
        }
        if (is_described(graphs[i], hash, count, stream)) return graphs[i];
        if (graphs[i]->used < (*place)->used) place = &graphs[i];
    }
    struct graph *graph = calloc(1, sizeof *graph);
    struct node *node = malloc(count * sizeof *node);
    unsigned *edge = malloc((window.edges + 1) * sizeof *edge);
    if (!graph || !node || !edge) {
        free(graph);
        free(node);
        free(edge);
        return 0;
    }
    memcpy(node, window.node, count * sizeof *node);
    memcpy(edge, window.edge, window.edges * sizeof *edge);
    if (*place) forget(*place);
    *place = graph;
    graph->stream = stream;
    graph->hash = hash;
    graph->count = count;
    graph->edges = window.edges;
    graph->direct = graph->updated = -1;
    graph->node = node;
    graph->edge = edge;
    return graph;
}

/* What a node launches from now on. */
static void note_launched(struct graph *graph, unsigned index, const struct unit *unit) {
    struct launched *launched = &graph->launched[index];
    launched->grid = unit->grid;
    launched->block = unit->block;
    launched->shared = unit->shared;
    launched->bytes = unit->bytes;
    memcpy(graph->arguments + launched->arguments, collected.arguments + unit->arguments, unit->bytes);
}

static int is_launched(const struct graph *graph, unsigned index, const struct unit *unit) {
    const struct launched *launched = &graph->launched[index];
    return !memcmp(&launched->grid, &unit->grid, sizeof unit->grid) &&
           !memcmp(&launched->block, &unit->block, sizeof unit->block) && launched->shared == unit->shared &&
           launched->bytes == unit->bytes &&
           !memcmp(graph->arguments + launched->arguments, collected.arguments + unit->arguments, unit->bytes);
}

/* Makes the node of a unit, or sets what it launches; the status of that. */
static int set_node(struct graph *graph, unsigned index, const struct unit *unit, const unsigned *edge) {
    _Alignas(16) char whole[BATCH_BYTES];
    void *pointers[ARGUMENTS], *before[NODES];
    struct node_parameters parameters = {unit->function, unit->grid, unit->block, (unsigned)unit->shared, pointers, 0};
    point(unit, pointers, whole);
    announce(unit->site);
    if (graph->executable) return cudaGraphExecKernelNodeSetParams(graph->executable, graph->handle[index], &parameters);
    unsigned edges = graph->node[index].edges;
    for (unsigned i = 0; i < edges; ++i) before[i] = graph->handle[edge[i]];
    return cudaGraphAddKernelNode(&graph->handle[index], graph->graph, before, edges, &parameters);
}

/* Makes the graph of units; 0 when it cannot be had. */
static int make_graph(struct graph *graph, const struct unit *unit) {
    int priority = 0;
    size_t bytes = 0;
    /* Nodes would not have it. */
    if (failed(SIRIUS_STREAM_PRIORITY(queue.stream, &priority)) || priority) return 0;
    if (__atomic_add_fetch(&executables, 1, __ATOMIC_RELAXED) > MOST_EXECUTABLES) {
        __atomic_sub_fetch(&executables, 1, __ATOMIC_RELAXED);
        return 0;
    }
    graph->launched = calloc(graph->count, sizeof *graph->launched);
    graph->handle = calloc(graph->count, sizeof *graph->handle);
    for (unsigned i = 0; graph->launched && i < graph->count; ++i) {
        graph->launched[i].arguments = bytes;
        bytes += unit[i].layout ? unit[i].layout->argument_bytes : BATCH_BYTES;
    }
    graph->arguments = malloc(bytes + 1);
    int made = graph->launched && graph->handle && graph->arguments && !failed(cudaGraphCreate(&graph->graph, 0));
    const unsigned *edge = graph->edge;
    for (unsigned i = 0; made && i < graph->count; ++i) {
        made = !failed(set_node(graph, i, &unit[i], edge));
        if (made) note_launched(graph, i, &unit[i]);
        edge += graph->node[i].edges;
    }
    void *executable = 0;
    made = made && !failed(cudaGraphInstantiateWithFlags(&executable, graph->graph, 0));
    graph->context = context_number();
    if (made) graph->executable = executable;
    else __atomic_sub_fetch(&executables, 1, __ATOMIC_RELAXED);
    return made;
}

/* Launches units by their graph; 0 when nothing was launched. */
static int launch_graph(struct graph *graph, const struct unit *unit) {
    int mode = exchange_capture_mode(RELAXED), done = graph->executable || make_graph(graph, unit);
    for (unsigned i = 0; done && i < graph->count; ++i) {
        if (is_launched(graph, i, &unit[i])) continue;
        done = !failed(set_node(graph, i, &unit[i], 0));
        if (done) note_launched(graph, i, &unit[i]);
    }
    done = done && !failed(SIRIUS_GRAPH_LAUNCH(graph->executable, queue.stream));
    if (!done) end_graph(graph);
    exchange_capture_mode(mode);
    return done;
}

/* Rounds in which launches are measured, without and with their graph by turns. Before these they are met for the first
 * time, and their graph is made. */
enum { FIRST_MEASURED = 3, LAST_MEASURED = 8 };

/* Whether launches are to be made by their graph this time. */
static int takes_graph(const struct graph *graph) {
    if (graph->state == LEFT || graph->met < 2) return 0;
    if (graph->state == USED || graph_mode() == GRAPHS_ALWAYS || graph->met == 2) return 1;
    return graph->met % 2 == 0;
}

static void keep_least(int64_t *least, int64_t time) {
    if (*least < 0 || time < *least) *least = time;
}

/* Chooses, once both ways were measured. */
static void judge(struct graph *graph) {
    if (graph->state != MEASURED || graph->met < LAST_MEASURED || graph_mode() == GRAPHS_ALWAYS) return;
    if (graph->is_timed) --graphs_timed;
    graph->is_timed = 0;
    if (graph->updated <= graph->direct) graph->state = USED;
    else {
        int mode = exchange_capture_mode(RELAXED);
        end_graph(graph);
        exchange_capture_mode(mode);
    }
}

/* Whether a region may go on waiting for graphs. */
static void note_gain(int *patience, int gained) {
    if (!patience || graph_mode() == GRAPHS_ALWAYS || *patience < WAITS_FOR_GRAPHS) return;
    if (gained) *patience = WAITS_FOR_GRAPHS;
    else if (++*patience > LOST_PATIENCE) *patience = 1;
}

/* Issues a window. `spent`: so long the host took for its records where they wait for a graph alone. */
static int issue_window(size_t first, unsigned count, unsigned long long stream, int64_t spent) {
    if (count < LEAST_NODES) return launch_units(first, count);
    int64_t start = now();
    struct graph *graph = graph_of(describe(first, count), count, stream);
    if (!graph) return launch_units(first, count);
    graph->used = ++graphs_used;
    ++graph->met;
    if (graph->met == 2 && graph_mode() == GRAPHS_AUTO) {
        graph->is_timed = 1;
        ++graphs_timed;
    }
    int takes = takes_graph(graph), status = 0, is_measured = graph->state == MEASURED && graph->met >= FIRST_MEASURED;
    int64_t described = now();
    if (takes && launch_graph(graph, &collected.unit[first])) {
        int64_t time = now() - described;
        /* Without a graph nobody would have to look for one. */
        if (collected.patience) time += spent + described - start;
        if (is_measured) keep_least(&graph->updated, time);
    } else {
        takes = 0;
        described = now();
        status = launch_units(first, count);
        if (is_measured) keep_least(&graph->direct, now() - described);
    }
    judge(graph);
    if (graph->state == LEFT || graph->met == 1) note_gain(collected.patience, 0);
    else if (takes) note_gain(collected.patience, 1);
    return status;
}

/* Gets ready for the units of all that waits. */
static void begin_collecting(void) {
    collected.units = collected.bytes = 0;
    collected.active = queue.count >= LEAST_NODES && !collected.incomplete && graph_mode() != GRAPHS_OFF;
}

/* Launches what was collected. */
static int end_collecting(int64_t start) {
    int status = 0;
    if (collected.active) {
        unsigned long long stream = 0;
        int may = collected.units >= LEAST_NODES && stream_number(&stream);
        collected.active = 0;
        for (size_t i = 0; i < collected.units; ++i) collected.unit[i].first_record = 0;
        for (unsigned i = queue.count; may && i-- > 0;) {
            struct unit *unit = &collected.unit[queue.records[i].unit];
            queue.records[i].next_of_unit = unit->first_record;
            unit->first_record = i + 1;
        }
        int64_t spent = start ? collected.spent + now() - start : 0;
        for (size_t first = 0; first < collected.units; first += NODES) {
            unsigned count = collected.units - first < NODES ? (unsigned)(collected.units - first) : NODES;
            int one = may ? issue_window(first, count, stream, spent) : launch_units(first, count);
            status = status ? status : one;
        }
    }
    collected.units = collected.bytes = collected.befores = collected.readers = 0;
    collected.incomplete = 0;
    collected.spent = 0;
    collected.patience = 0;
    return status;
}

/* Whether all that waits is to be issued before a launch comes, where launches wait for graphs alone: what waits ends
 * where an iteration does, as it began, so that the next ones are like it. */
static int is_chunk(const struct sirius_batch_kernel *kernel, unsigned site, const int *patience) {
    if (!queue.count || *patience < WAITS_FOR_GRAPHS) return 0;
    const struct record *first = &queue.records[0];
    if (queue.count >= NODES) return 1;
    if (queue.count >= LEAST_CHUNK && first->kernel == kernel && first->site == site) return 1;
    /* The device has nothing to do meanwhile. */
    enum { ASKED = 8, LONGEST = 1000000 };
    return queue.count % ASKED == 0 && now() - collected.since > LONGEST;
}

/* A region whose launches wait for graphs alone waits for nothing where there are none. */
static void look_for_graphs(int *patience) {
    if (*patience >= WAITS_FOR_GRAPHS && graph_mode() == GRAPHS_OFF) *patience = 1;
}

/* Whether a region lets its launches wait. */
static int is_patient(const int *patience) { return !*patience || *patience >= WAITS_FOR_GRAPHS; }

/* Launches that all depend on each other may still make graphs. */
static int later_patience(void) { return graph_mode() == GRAPHS_OFF ? 1 : WAITS_FOR_GRAPHS; }

/* When the host begins to put a record there; 0 where nobody asks. */
static int64_t begin_record(void) { return graphs_timed ? now() : 0; }

/* A record is there. */
static void end_record(struct record *record, int *patience, int64_t since) {
    record->befores = (unsigned)collected.befores - record->first_before;
    int waits = *patience >= WAITS_FOR_GRAPHS;
    if (!queue.count) {
        collected.patience = waits ? patience : 0;
        if (waits) collected.since = now();
    } else if (!waits || collected.patience != patience) collected.patience = 0;
    if (since) collected.spent += now() - since;
}

static void begin_befores(struct record *record) { record->first_before = (unsigned)collected.befores; }
#else
static void touch(struct span *span, int writes) { (void)span, (void)writes; }
static void belongs(const struct record *record) { (void)record; }
static int launch(const void *function, const struct sirius_batch_kernel *layout, size_t bytes, struct dim3 grid,
                  struct dim3 block, void **arguments, size_t shared, void *stream, unsigned site) {
    (void)layout, (void)bytes;
    announce(site);
    return SIRIUS_LAUNCH(function, grid, block, arguments, shared, stream);
}
static void begin_collecting(void) {}
static int end_collecting(int64_t start) { return (void)start, 0; }
static int is_chunk(const struct sirius_batch_kernel *kernel, unsigned site, const int *patience) {
    return (void)kernel, (void)site, (void)patience, 0;
}
static void look_for_graphs(int *patience) { (void)patience; }
static int is_patient(const int *patience) { return !*patience; }
static int later_patience(void) { return 1; }
static int64_t begin_record(void) { return 0; }
static void begin_befores(struct record *record) { (void)record; }
static void end_record(struct record *record, int *patience, int64_t since) { (void)record, (void)patience, (void)since; }
#endif

