/* Invariants. A graph that is launched does what the program's nodes say that were given parameters last. In an executable graph
 * a chain's nodes come one behind the other, each behind the one before alone. So whatever the launches of the whole chain
 * become, in order, may stand in its first nodes, with the others switched off. Where anything about a chain is not as
 * expected, its nodes get their own parameters back and are the program's from then on.
 *
 * A node's new parameters are put off until the graph is launched. So they are looked at here: what the runtime might refuse is
 * passed on at once. */
struct parameters {
    const void *function;
    struct dim3 grid, block;
    unsigned shared;
    void **arguments, **extra;
};

int SIRIUS_LAUNCH(const void *, struct dim3, struct dim3, void **, size_t, void *);
int cudaGraphAddKernelNode(void **, void *, void *const *, size_t, const struct parameters *);
int cudaGraphExecKernelNodeSetParams(void *, void *, const struct parameters *);
int cudaGraphNodeSetEnabled(void *, void *, unsigned);
int cudaFuncGetAttributes(void *, const void *);
int cudaGetLastError(void);
#ifdef SIRIUS_CPU_DEVICE
void __sirius_launch_site(unsigned);
#endif

enum { MOST_KERNELS = 8, MOST_ARGUMENTS = 256, MOST_BLOCK = 1024 };

/* A node that the program added. */
struct node {
    void *handle, *graph, *behind;
    const struct kernel *kernel;
    struct record *record;
    struct node *next;
};

/* The nodes of a chain in an executable graph. */
struct instance {
    void *executable;
    const struct chain *chain;
    void *handle[MOST_KERNELS];
    struct record *record[MOST_KERNELS];
    char enabled[MOST_KERNELS];
    /* Its nodes have the parameters of the records, and some have been given others since. */
    int is_own, is_changed;
    /* So many of its nodes have been given launches, and whether one was not taken. */
    unsigned given;
    int failed;
    struct instance *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct node *nodes;
static struct instance *instances;
/* Whose launches are recorded in this thread. */
static _Thread_local struct instance *recorded;

static const struct kernel *kernel_of(const void *function) {
    for (size_t i = 0; i < sizeof chains / sizeof *chains; ++i)
        for (unsigned k = 0; k < chains[i].kernels; ++k)
            if (chains[i].kernel[k].function == function) return &chains[i].kernel[k];
    return 0;
}

/* Whether CUDA launches kernels of this shape, as far as that hangs on the shape; `known` is a block that it takes. */
static int is_valid(const struct parameters *parameters, const struct dim3 *known) {
    struct dim3 grid = parameters->grid, block = parameters->block;
    size_t threads = (size_t)block.x * block.y * block.z;
    if (!grid.x || grid.x > 0x7fffffffu || !grid.y || grid.y > 65535 || !grid.z || grid.z > 65535) return 0;
    if (block.x > MOST_BLOCK || block.y > MOST_BLOCK || block.z > 64 || !threads || threads > MOST_BLOCK) return 0;
    if (!memcmp(&block, known, sizeof block)) return 1;
    struct { size_t bytes[3]; int threads, rest[254]; } attributes;
    memset(&attributes, 0, sizeof attributes);
    if (cudaFuncGetAttributes(&attributes, parameters->function)) {
        cudaGetLastError();
        return 0;
    }
    return attributes.threads > 0 && threads <= (size_t)attributes.threads;
}

static void fill(struct record *record, const struct kernel *kernel, const struct parameters *parameters) {
    record->grid = parameters->grid;
    record->block = parameters->block;
    record->shared = parameters->shared;
    for (unsigned i = 0; i < kernel->arguments; ++i)
        memcpy(record->arguments + kernel->argument[i].offset, parameters->arguments[i], kernel->argument[i].bytes);
}

static struct record *new_record(const struct kernel *kernel) {
    return calloc(1, sizeof(struct record) + kernel->bytes + 16);
}

static void added(void *handle, void *graph, void *const *behind, size_t count, const struct parameters *parameters) {
    const struct kernel *kernel = kernel_of(parameters->function);
    if (!kernel || parameters->extra || kernel->arguments > MOST_ARGUMENTS) return;
    struct node *node = calloc(1, sizeof *node);
    struct record *record = new_record(kernel);
    if (!node || !record) {
        free(node);
        free(record);
        return;
    }
    *node = (struct node){handle, graph, count == 1 ? behind[0] : 0, kernel, record, 0};
    fill(record, kernel, parameters);
    pthread_mutex_lock(&mutex);
    node->next = nodes;
    nodes = node;
    pthread_mutex_unlock(&mutex);
}

/* The node of a graph that has a kernel and comes behind another one alone; null where there are several. */
static struct node *node_behind(const struct node *before, const void *function) {
    struct node *found = 0;
    for (struct node *node = nodes; node; node = node->next)
        if (node->graph == before->graph && node->behind == before->handle && node->kernel->function == function) {
            if (found) return 0;
            found = node;
        }
    return found;
}

static int is_taken(const void *executable, const void *handle) {
    for (struct instance *each = instances; each; each = each->next)
        for (unsigned k = 0; each->executable == executable && k < each->chain->kernels; ++k)
            if (each->handle[k] == handle) return 1;
    return 0;
}

/* Finds a chain that begins with a node. */
static void find_chain(void *executable, const struct chain *chain, struct node *first) {
    struct node *found[MOST_KERNELS] = {first};
    if (chain->kernels > MOST_KERNELS || first->kernel->function != chain->kernel[0].function) return;
    for (unsigned k = 1; k < chain->kernels; ++k)
        if (!(found[k] = node_behind(found[k - 1], chain->kernel[k].function))) return;
    struct instance *instance = calloc(1, sizeof *instance);
    if (!instance) return;
    instance->executable = executable;
    instance->chain = chain;
    instance->is_own = instance->is_changed = 1;
    int is_whole = 1;
    for (unsigned k = 0; k < chain->kernels; ++k) {
        const struct kernel *kernel = &chain->kernel[k];
        is_whole &= !is_taken(executable, found[k]->handle);
        instance->handle[k] = found[k]->handle;
        instance->enabled[k] = 1;
        instance->record[k] = new_record(kernel);
        if (instance->record[k])
            memcpy(instance->record[k], found[k]->record, sizeof(struct record) + kernel->bytes);
        else
            is_whole = 0;
    }
    if (is_whole) {
        instance->next = instances;
        instances = instance;
        return;
    }
    for (unsigned k = 0; k < chain->kernels; ++k) free(instance->record[k]);
    free(instance);
}

static void instantiated(void *executable, void *graph) {
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; ++i)
        for (struct node *node = nodes; node; node = node->next)
            if (node->graph == graph) find_chain(executable, &chains[i], node);
    pthread_mutex_unlock(&mutex);
}

static int set_enabled(struct instance *instance, unsigned k, int enabled) {
    if (instance->enabled[k] == enabled) return 0;
    instance->enabled[k] = (char)enabled;
    return cudaGraphNodeSetEnabled(instance->executable, instance->handle[k], (unsigned)enabled);
}

/* Gives each node its own parameters. */
static int give_back(struct instance *instance) {
    int status = 0;
    for (unsigned k = 0; k < instance->chain->kernels; ++k) {
        const struct kernel *kernel = &instance->chain->kernel[k];
        struct record *record = instance->record[k];
        void *arguments[MOST_ARGUMENTS];
        for (unsigned i = 0; i < kernel->arguments; ++i) arguments[i] = record->arguments + kernel->argument[i].offset;
        struct parameters own = {kernel->function, record->grid, record->block, (unsigned)record->shared, arguments, 0};
        int one = cudaGraphExecKernelNodeSetParams(instance->executable, instance->handle[k], &own);
        int other = set_enabled(instance, k, 1);
        status = status ? status : one ? one : other;
    }
    instance->is_own = 1;
    return status;
}

static void forget(struct instance **at) {
    struct instance *instance = *at;
    *at = instance->next;
    for (unsigned k = 0; k < instance->chain->kernels; ++k) free(instance->record[k]);
    free(instance);
}

/* Makes the nodes of a chain what its launches become. */
static int apply(struct instance *instance, void *stream) {
    const struct chain *chain = instance->chain;
    int are_equal = 1;
    for (unsigned i = 0; i < chain->equals; ++i) {
        const struct equal *equal = &chain->equal[i];
        are_equal &= !memcmp((const char *)instance->record[equal->kernel] + equal->offset,
                             (const char *)instance->record[equal->other] + equal->of_other, equal->bytes);
    }
    for (unsigned i = 0; i < chain->constants; ++i) {
        const struct constant *constant = &chain->constant[i];
        are_equal &= !memcmp((const char *)instance->record[constant->kernel] + constant->offset, &constant->value,
                             sizeof constant->value);
    }
    instance->is_changed = 0;
    if (are_equal) {
        instance->given = 0;
        instance->failed = 0;
        recorded = instance;
        chain->run(stream, instance->record);
        recorded = 0;
        for (unsigned k = 0; !instance->failed && k < chain->kernels; ++k)
            instance->failed = set_enabled(instance, k, k < instance->given);
        instance->is_own = 0;
        if (!instance->failed && instance->given) return 0;
        cudaGetLastError();
    }
    return instance->is_own ? 0 : give_back(instance);
}

/* What a thread launches: into a chain's nodes while these are made. */
int SIRIUS_UPDATED_LAUNCH(const void *function, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                          void *stream) {
    struct instance *instance = recorded;
    if (!instance) return SIRIUS_LAUNCH(function, grid, block, arguments, shared, stream);
    if (instance->failed || instance->given >= instance->chain->kernels) {
        instance->failed = 1;
        return 0;
    }
    struct parameters parameters = {function, grid, block, (unsigned)shared, arguments, 0};
    instance->failed = cudaGraphExecKernelNodeSetParams(instance->executable, instance->handle[instance->given], &parameters);
    instance->given += 1;
#ifdef SIRIUS_CPU_DEVICE
    __sirius_launch_site(~0u);
#endif
    return 0;
}

static int before_launch(void *executable, void *stream) {
    int status = 0;
    pthread_mutex_lock(&mutex);
    for (struct instance *each = instances; each; each = each->next)
        if (each->executable == executable && each->is_changed) {
            int one = apply(each, stream);
            status = status ? status : one;
        }
    pthread_mutex_unlock(&mutex);
    return status;
}

static int update(void *executable, void *handle, const struct parameters *parameters) {
    pthread_mutex_lock(&mutex);
    for (struct instance **at = &instances; *at; at = &(*at)->next) {
        struct instance *instance = *at;
        unsigned k = 0, kernels = instance->chain->kernels;
        if (instance->executable != executable) continue;
        while (k < kernels && instance->handle[k] != handle) ++k;
        if (k == kernels) continue;
        const struct kernel *kernel = &instance->chain->kernel[k];
        if (parameters && parameters->function == kernel->function && !parameters->extra &&
            parameters->shared == instance->record[k]->shared && is_valid(parameters, &instance->record[k]->block)) {
            fill(instance->record[k], kernel, parameters);
            instance->is_changed = 1;
            instance->is_own = 0;
            pthread_mutex_unlock(&mutex);
            return 0;
        }
        give_back(instance);
        forget(at);
        break;
    }
    pthread_mutex_unlock(&mutex);
    return cudaGraphExecKernelNodeSetParams(executable, handle, parameters);
}

/* Of one executable graph, or of all where there is none. */
static void end_executable(const void *executable) {
    pthread_mutex_lock(&mutex);
    for (struct instance **at = &instances; *at;)
        if (!executable || (*at)->executable == executable)
            forget(at);
        else
            at = &(*at)->next;
    pthread_mutex_unlock(&mutex);
}

/* As above. */
static void end_graph(const void *graph) {
    pthread_mutex_lock(&mutex);
    for (struct node **at = &nodes; *at;) {
        struct node *node = *at;
        if (!graph || node->graph == graph) {
            *at = node->next;
            free(node->record);
            free(node);
        } else {
            at = &node->next;
        }
    }
    pthread_mutex_unlock(&mutex);
}

#define ADDS(NAME)                                                                                              \
    int sirius_updated_##NAME(void **node, void *graph, void *const *behind, size_t count,                      \
                              const struct parameters *parameters) {                                            \
        int status = NAME(node, graph, behind, count, parameters);                                              \
        if (!status) added(*node, graph, behind, count, parameters);                                            \
        return status;                                                                                          \
    }
#define UPDATES(NAME)                                                                                           \
    int sirius_updated_##NAME(void *executable, void *node, const struct parameters *parameters) {              \
        return update(executable, node, parameters);                                                            \
    }
/* Toolkits differ in what comes behind the graph, all of which is passed on. */
#define INSTANTIATES(NAME)                                                                                      \
    int NAME(void **, void *, void *, void *, size_t);                                                          \
    int sirius_updated_##NAME(void **executable, void *graph, void *one, void *other, size_t bytes) {           \
        int status = NAME(executable, graph, one, other, bytes);                                                \
        if (!status) instantiated(*executable, graph);                                                          \
        return status;                                                                                          \
    }
#define LAUNCHES(NAME)                                                                                          \
    int NAME(void *, void *);                                                                                   \
    int sirius_updated_##NAME(void *executable, void *stream) {                                                 \
        int status = before_launch(executable, stream);                                                         \
        return status ? status : NAME(executable, stream);                                                      \
    }
#define ENDS_EXECUTABLE(NAME)                                                                                   \
    int NAME(void *);                                                                                           \
    int sirius_updated_##NAME(void *executable) {                                                               \
        end_executable(executable);                                                                             \
        return NAME(executable);                                                                                \
    }
#define ENDS_GRAPH(NAME)                                                                                        \
    int NAME(void *);                                                                                           \
    int sirius_updated_##NAME(void *graph) {                                                                    \
        end_graph(graph);                                                                                       \
        return NAME(graph);                                                                                     \
    }
#define RESETS(NAME)                                                                                            \
    int NAME(void);                                                                                             \
    int sirius_updated_##NAME(void) {                                                                           \
        end_executable(0);                                                                                      \
        end_graph(0);                                                                                           \
        return NAME();                                                                                          \
    }
SIRIUS_CALLS
