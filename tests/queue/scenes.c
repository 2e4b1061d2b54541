/* What the queue does with graphs, a function for each thing that is shown. Behind `device.c`. */

/* A loop whose iterations are launches that all need the one before: `rounds` queues of `length` launches. */
static void serial_rounds(unsigned rounds, unsigned length, int *patience, int varies) {
    for (unsigned round = 0; round < rounds; ++round) {
        for (unsigned i = 0; i < length; ++i) submit(i % 2 * 2, 0, 8, 4, varies ? round * 7 + i : 1, i, 0, patience);
        sirius_batch_drain();
    }
}

static void costs(long launch, long graph_launch, long set) {
    device.launch = launch;
    device.graph_launch = graph_launch;
    device.set = set;
    device.make = 1000;
}

static void cheap_graphs_stay(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 300);
    serial_rounds(20, 10, &patience, 1);
    compare_cells("graphs that pay: other results");
    /* One round without, then one with, then three of each by turns, then graphs. */
    check(device.graphs_launched == 20 - 4 && device.launched == 4 * 10, "not the rounds that are measured");
    check(device.graphs_made == 1 && device.graphs_ended == 0, "a graph is made again");
    check(patience == WAITS_FOR_GRAPHS, "a region that gains loses its patience");
}

static void dear_graphs_end(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 3000);
    serial_rounds(60, 10, &patience, 1);
    compare_cells("graphs that do not pay: other results");
    check(device.graphs_launched == 4 && device.graphs_ended == 1, "graphs that do not pay are used");
    check(patience == 1, "the region goes on waiting");
    long calls = device.calls;
    serial_rounds(5, 10, &patience, 1);
    check(device.calls == calls, "calls about graphs where they do not pay");
    check(queue.count == 0, "launches wait where nothing comes of it");
}

static void equal_arguments_set_nothing(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 300);
    serial_rounds(20, 10, &patience, 0);
    compare_cells("equal rounds: other results");
    check(device.sets == 0 && device.graphs_launched == 16, "what is equal is set");
}

/* The region that needs no graph may have its waves all the same. */
static void dear_graphs_leave_waves(void) {
    int patience = 0;
    costs(3000, 40000, 3000);
    for (unsigned round = 0; round < 30; ++round) {
        for (unsigned i = 0; i < 4; ++i) submit(0, i * 2, 12, 2, round, 0, 0, &patience);
        for (unsigned i = 0; i < 4; ++i) submit(1, i * 2, 14, 2, round, 1, 0, &patience);
        sirius_batch_drain();
    }
    compare_cells("waves: other results");
    check(device.graphs_launched == 4 && patience == 0, "waves end with their graphs");
    check(device.launched == 2 * 26, "what may run together does not");
}

static void iterations_are_alike(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 300);
    /* 7 launches an iteration, 100 iterations in one queue: it ends behind 35 launches, 20 times. */
    for (unsigned i = 0; i < 700; ++i) submit(i % 7 % 3, i % 7 % 2, 8, 4, i, i % 7, 0, &patience);
    sirius_batch_drain();
    compare_cells("iterations: other results");
    check(device.graphs_made == 1 && device.graphs_launched == 16, "iterations of a loop are not alike");
}

static void slow_hosts_wait_for_nothing(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 300);
    for (unsigned i = 0; i < 64; ++i) {
        submit(0, 0, 8, 4, i, 0, 0, &patience);
        device.time += 200000;
        check(queue.count <= 8, "the device waits for more than a millisecond");
    }
    sirius_batch_drain();
    compare_cells("a slow host: other results");
}

static void a_programs_error_stays(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 300);
    serial_rounds(4, 10, &patience, 1);
    long launched = device.graphs_launched;
    device.error = 77;
    serial_rounds(3, 10, &patience, 1);
    check(device.error == 77 && device.graphs_launched == launched, "an error of the program is lost or passed");
    device.error = 0;
    device.fails_one_in = 1;
    serial_rounds(3, 10, &patience, 1);
    check(device.error == 0, "an error of a graph is left");
    compare_cells("errors: other results");
}

static void captures_have_no_graphs(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 300);
    serial_rounds(4, 10, &patience, 1);
    long calls = device.calls;
    device.capturing = 1;
    serial_rounds(5, 10, &patience, 1);
    check(device.calls == calls, "calls about graphs while a stream is captured");
    compare_cells("captures: other results");
}

static void ended_contexts_are_left_alone(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 300);
    for (unsigned i = 0; i < 40; ++i) {
        serial_rounds(6, 10 + i, &patience, 1);
        reset_device();
    }
    compare_cells("resets: other results");
    check(device.graphs_made == 40, "a graph outlives its context");
}

/* As many nodes and edges, and perhaps one hash: other edges, then other edges of each node, then other kernels. */
static void launches_that_look_alike(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 300);
    /* Each is a node of its own. */
    for (unsigned i = 0; i < KERNELS; ++i) kernels[i].capacity = 1;
    for (unsigned round = 0; round < 60; ++round) {
        unsigned second = round % 4 == 1 ? 8 : 4, third = round % 4 == 2 ? 4 : 8, kernel = round % 4 == 3;
        submit(0, 0, 20, 2, round, 0, 0, &patience);
        submit(2, 4, 20, 2, round, 1, 0, &patience);
        submit(kernel, 8, 0, 2, round, 2, 0, &patience);
        submit(0, second, 14, 2, round, 3, 0, &patience);
        submit(0, 12, third, 2, round, 4, 0, &patience);
        sirius_batch_drain();
        compare_cells("launches that look alike: other results");
    }
    check(device.graphs_made == 4 && device.graphs_launched == 4 * 11, "launches that look alike are taken for equal, or are not");
}

/* As many nodes, and the same list of edges: the first one of the last two nodes has two of them, or one. */
static void edges_of_other_nodes(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 4000, 300);
    for (unsigned i = 0; i < KERNELS; ++i) kernels[i].capacity = 1;
    for (unsigned round = 0; round < 40; ++round) {
        for (unsigned i = 0; i < 3; ++i) submit(0, i * 4, 20, 2, round, i, 0, &patience);
        submit(0, 8, round % 2 ? 4 : 20, 2, round, 3, 0, &patience);
        submit(0, 0, round % 2 ? 20 : 4, 2, round, 4, 0, &patience);
        sirius_batch_drain();
        compare_cells("edges of other nodes: other results");
    }
    check(device.graphs_made == 2, "edges of other nodes are taken for equal, or are not");
}

/* As many launches at once, of another kernel. */
static void waves_of_other_kernels(void) {
    int patience = 0;
    costs(3000, 4000, 300);
    for (unsigned round = 0; round < 40; ++round) {
        for (unsigned i = 0; i < 3; ++i) submit(round % 2, i * 2, 12, 2, round, 0, 0, &patience);
        submit(2, 8, 0, 2, round, 1, 0, &patience);
        sirius_batch_drain();
        compare_cells("waves of other kernels: other results");
    }
    check(device.graphs_made == 2, "waves of other kernels are taken for equal, or are not");
}

static void switched_off(void) {
    int patience = WAITS_FOR_GRAPHS, waves = 0;
    serial_rounds(20, 10, &patience, 1);
    check(patience == 1, "a region waits for graphs that there are none of");
    serial_rounds(20, 10, &waves, 1);
    compare_cells("switched off: other results");
    check(device.calls == 0 && device.graphs_launched == 0, "calls about graphs");
}

static void always(void) {
    int patience = WAITS_FOR_GRAPHS;
    costs(3000, 40000, 3000);
    serial_rounds(60, 10, &patience, 1);
    compare_cells("always: other results");
    check(device.graphs_launched == 59 && patience == WAITS_FOR_GRAPHS, "not always");
}

/* Any launches over any cells, in rounds that mostly are those of before, among calls that fail, captures, resets, other
 * streams, and errors of the program. */
static void random_programs(uint64_t seed) {
    struct { unsigned kernel, to, from, count, site; } launches[3][300];
    unsigned lengths[3];
    random_state = seed;
    /* Those of contexts that have ended are never given back. */
    executables = 0;
    int patience[2] = {any(2) ? WAITS_FOR_GRAPHS : 0, any(2) ? WAITS_FOR_GRAPHS : 0};
    costs(3000, any(8000), any(4000));
    for (unsigned p = 0; p < 3; ++p) {
        lengths[p] = 1 + any(any(4) ? 30 : 299);
        unsigned spread = 1 + any(CELLS - LARGEST);
        for (unsigned i = 0; i < lengths[p]; ++i) {
            launches[p][i].kernel = any(KERNELS);
            launches[p][i].count = 1 + any(any(3) ? 2 : LARGEST);
            launches[p][i].to = any(spread);
            launches[p][i].from = any(spread);
            launches[p][i].site = i;
        }
    }
    unsigned rounds = 5 + any(25), stream = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        unsigned p = any(4) ? 0 : any(3);
        device.fails_one_in = any(6) ? 0 : 1 + (int)any(2000);
        device.capturing = !any(12);
        int error = any(12) ? 0 : 77;
        if (!any(20)) reset_device();
        if (!any(6)) stream = any(3) & 2;
        device.error = error;
        int moves = !any(3);
        for (unsigned i = 0; i < lengths[p]; ++i) {
            /* Sometimes one that leads elsewhere: another dependence, or none. */
            unsigned moved = !moves || any(40) ? 0 : any(CELLS - LARGEST);
            unsigned to = (launches[p][i].to + moved) % (CELLS - LARGEST);
            submit(launches[p][i].kernel, to, launches[p][i].from, launches[p][i].count, any(3), launches[p][i].site,
                   (void *)(uintptr_t)stream, &patience[i % 5 == 0]);
        }
        sirius_batch_drain();
        compare_cells("a random program: other results");
        check(device.error == error, "a random program: another error");
    }
}

int main(int count, char **arguments) {
    make_kernels();
    reset_device();
    for (unsigned i = 0; i < CELLS; ++i) cells[i] = reference[i] = i * i;
    if (count == 4 && !strcmp(arguments[1], "random")) {
        long graphs = 0, nodes = 0;
        for (uint64_t seed = strtoull(arguments[2], 0, 10); seed < strtoull(arguments[3], 0, 10); ++seed) {
            device.graphs_launched = device.nodes = 0;
            random_programs(seed);
            graphs += device.graphs_launched;
            nodes += device.nodes;
        }
        printf("%ld graphs of %ld nodes\n", graphs, nodes);
        return graphs == 0;
    }
    static const struct { const char *name; void (*show)(void); } scenes[] = {
        {"cheap_graphs_stay", cheap_graphs_stay},
        {"dear_graphs_end", dear_graphs_end},
        {"equal_arguments_set_nothing", equal_arguments_set_nothing},
        {"dear_graphs_leave_waves", dear_graphs_leave_waves},
        {"iterations_are_alike", iterations_are_alike},
        {"slow_hosts_wait_for_nothing", slow_hosts_wait_for_nothing},
        {"a_programs_error_stays", a_programs_error_stays},
        {"captures_have_no_graphs", captures_have_no_graphs},
        {"ended_contexts_are_left_alone", ended_contexts_are_left_alone},
        {"launches_that_look_alike", launches_that_look_alike},
        {"edges_of_other_nodes", edges_of_other_nodes},
        {"waves_of_other_kernels", waves_of_other_kernels},
        {"switched_off", switched_off},
        {"always", always},
    };
    for (unsigned i = 0; i < sizeof scenes / sizeof *scenes; ++i)
        if (count == 2 && !strcmp(arguments[1], scenes[i].name)) {
            scenes[i].show();
            return 0;
        }
    printf("no scene of this name\n");
    return 1;
}
