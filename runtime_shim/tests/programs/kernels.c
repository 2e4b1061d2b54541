/* Kernels of each kind; exits 0 and prints "ok" when all results are right. */
#include "image.h"

static uint32_t global_index(ThreadContext *t) {
    return t->block->block_index[0] * t->block->block_size[0] + t->thread_index[0];
}

static void scale(ThreadContext *t, void *const *a) {
    float *x = *(float **)a[0];
    int n = *(int *)a[1];
    uint32_t i = global_index(t);
    if (i < (uint32_t)n) x[i] *= 2;
}

static void scale_loop(BlockContext *b, void *const *a) {
    ThreadContext t = {.block = b};
    for (uint32_t i = 0; i < b->block_size[0]; i++) {
        t.thread_index[0] = t.linear_index = i;
        scale(&t, a);
    }
}

/* Sum of a block by halving, with threads that return before the first barrier. */
static void block_sum(ThreadContext *t, void *const *a) {
    int *in = *(int **)a[0], *out = *(int **)a[1];
    int n = *(int *)a[2];
    int *shared = (int *)t->block->dynamic_shared;
    uint32_t i = t->thread_index[0];
    if ((int)i >= n) return;
    shared[i] = in[i];
    __sirius_barrier(t);
    for (int half = n / 2; half > 0; half /= 2) {
        if ((int)i < half) shared[i] += shared[i + half];
        __sirius_barrier(t);
    }
    if (i == 0) *out = shared[0];
}

static void warp_sum(ThreadContext *t, void *const *a) {
    int *out = *(int **)a[0];
    int value = (int)t->linear_index;
    for (int delta = 16; delta > 0; delta /= 2)
        value += (int)__sirius_shuffle(t, FULL, (uint32_t)value, delta, 0x1f, 1, 0);
    if (t->lane == 0) out[t->linear_index / 32] = value;
}

static void votes(ThreadContext *t, void *const *a) {
    uint32_t *out = *(uint32_t **)a[0];
    uint32_t i = t->linear_index, predicate = 0;
    uint32_t ballot = __sirius_vote(t, FULL, i % 2, 3);
    uint32_t any = __sirius_vote(t, FULL, i == 7, 1), all = __sirius_vote(t, FULL, i == 7, 0);
    uint32_t same = __sirius_match(t, FULL, i % 4, 0, 0);
    uint32_t whole = __sirius_match(t, FULL, 5, 1, &predicate);
    uint32_t count = __sirius_barrier_reduce(t, 0, 0, i < 10, 0);
    uint32_t both = __sirius_barrier_reduce(t, 0, 0, i < 40, 1), either = __sirius_barrier_reduce(t, 0, 0, i == 40, 2);
    uint32_t odd = 0;
    if (i % 2) odd = __sirius_active_mask(t);
    __sirius_warp_barrier(t, FULL);
    if (i == 1) {
        uint32_t values[] = {ballot, any, all, same, whole, predicate, count, both, either, odd};
        memcpy(out, values, sizeof values);
    }
}

/* Two groups of 32 and 64 threads that synchronise among themselves only. */
static void named(ThreadContext *t, void *const *a) {
    int *out = *(int **)a[0];
    int *shared = (int *)t->block->shared;
    uint32_t i = t->linear_index;
    if (i < 32) {
        shared[i] = (int)i;
        __sirius_named_barrier(t, 1, 32);
        out[i] = shared[31 - i];
    } else {
        shared[i] = (int)i;
        for (int round = 0; round < 3; round++) __sirius_named_barrier(t, 2, 64);
        out[i] = shared[127 - i];
    }
}

static void count_blocks(ThreadContext *t, void *const *a) {
    unsigned long *total = *(unsigned long **)a[0];
    BlockContext *b = t->block;
    if (t->linear_index == 0)
        __atomic_fetch_add(total, b->block_index[0] + 10ul * b->block_index[1] + 100ul * b->block_index[2] + 1,
                           __ATOMIC_RELAXED);
}

static void shape(ThreadContext *t, void *const *a) {
    int *out = *(int **)a[0];
    uint32_t *s = t->block->block_size;
    uint32_t linear = (t->thread_index[2] * s[1] + t->thread_index[1]) * s[0] + t->thread_index[0];
    __sirius_barrier(t);
    out[linear] = linear == t->linear_index && t->lane == linear % 32;
}

static int weights[4];
static void weigh(ThreadContext *t, void *const *a) {
    int *out = *(int **)a[0];
    out[t->thread_index[0]] = weights[t->thread_index[0]];
}

static const Kernel kernels[] = {
    KERNEL(scale, scale_loop, 0, 0),        KERNEL(block_sum, 0, 0, BARRIERS),
    KERNEL(warp_sum, 0, 0, WARP_OPERATIONS), KERNEL(votes, 0, 0, BARRIERS | WARP_OPERATIONS),
    KERNEL(named, 0, 4 * 96, BARRIERS),     KERNEL(count_blocks, 0, 0, 0),
    KERNEL(shape, 0, 0, BARRIERS),          KERNEL(weigh, 0, 0, 0),
};
static const Variable variables[] = {{"weights", weights, sizeof weights, 1, 0}};
static char weights_shadow;

int main(void) {
    void **handle = register_image(kernels, sizeof kernels / sizeof *kernels, variables, 1);
    __cudaRegisterVar(handle, &weights_shadow, "weights", "weights", 0, sizeof weights, 1, 0);

    int n = 1000;
    float host[1000], *x;
    for (int i = 0; i < n; i++) host[i] = (float)i;
    CHECK(cudaMalloc((void **)&x, sizeof host) == 0);
    CHECK(cudaMemcpy(x, host, sizeof host, 1) == 0);
    __sirius_launch_site(17);
    CHECK(LAUNCH(scale, D1(8), D1(128), 0, &x, &n) == 0);
    CHECK(cudaMemcpy(host, x, sizeof host, 2) == 0);
    for (int i = 0; i < n; i++) CHECK(host[i] == 2.0f * (float)i);

    int values[1024], *in, *out;
    for (int i = 0; i < 1024; i++) values[i] = i;
    cudaMalloc((void **)&in, sizeof values);
    cudaMalloc((void **)&out, sizeof values);
    cudaMemcpy(in, values, sizeof values, 1);
    int half = 512;
    CHECK(LAUNCH(block_sum, D1(1), D1(1024), 4096, &in, &out, &half) == 0);
    cudaMemcpy(values, out, 4, 2);
    CHECK(values[0] == 511 * 512 / 2);

    CHECK(LAUNCH(warp_sum, D1(1), D1(96), 0, &out) == 0);
    cudaMemcpy(values, out, 12, 2);
    CHECK(values[0] == 496 && values[1] == 496 + 1024 && values[2] == 496 + 2048);

    CHECK(LAUNCH(votes, D1(1), D1(32), 0, &out) == 0);
    uint32_t found[10], expected[10] = {0xaaaaaaaa, 1, 0, 0x22222222, FULL, 1, 10, 1, 0, 0xaaaaaaaa};
    cudaMemcpy(found, out, sizeof found, 2);
    for (int i = 0; i < 10; i++) CHECK(found[i] == expected[i]);

    CHECK(LAUNCH(named, D1(5), D1(96), 0, &out) == 0);
    cudaMemcpy(values, out, 96 * 4, 2);
    for (int i = 0; i < 96; i++) CHECK(values[i] == (i < 32 ? 31 - i : 127 - i));

    unsigned long *total, sum = 0, wanted = 0;
    cudaMalloc((void **)&total, 8);
    CHECK(LAUNCH(count_blocks, ((dim3){7, 5, 3}), D1(2), 0, &total) == 0);
    for (unsigned z = 0; z < 3; z++)
        for (unsigned y = 0; y < 5; y++)
            for (unsigned i = 0; i < 7; i++) wanted += i + 10 * y + 100 * z + 1;
    cudaMemcpy(&sum, total, 8, 2);
    CHECK(sum == wanted);
    cudaMemset(total, 0, 8);

    CHECK(LAUNCH(shape, D1(1), ((dim3){5, 7, 3}), 0, &out) == 0);
    cudaMemcpy(values, out, 105 * 4, 2);
    for (int i = 0; i < 105; i++) CHECK(values[i] == 1);

    int constant[4] = {4, 3, 2, 1};
    CHECK(cudaMemcpyToSymbol(&weights_shadow, constant, sizeof constant, 0, 1) == 0);
    CHECK(cudaMemcpyToSymbol(&weights_shadow, constant, sizeof constant, 4, 1) == 1);
    CHECK(LAUNCH(weigh, D1(1), D1(4), 0, &out) == 0);
    cudaMemcpy(values, out, 16, 2);
    CHECK(memcmp(values, constant, 16) == 0);

    /* Launches that CUDA refuses. */
    CHECK(LAUNCH(scale, D1(0), D1(1), 0, &x, &n) == 1);
    CHECK(cudaGetLastError() == 1 && cudaGetLastError() == 0);
    CHECK(LAUNCH(scale, D1(1), D1(1025), 0, &x, &n) == 1);
    CHECK(LAUNCH(scale, ((dim3){1, 65536, 1}), D1(1), 0, &x, &n) == 1);
    CHECK(LAUNCH(scale, D1(1), D1(1), 49153, &x, &n) == 1);
    CHECK(cudaFuncSetAttribute((void *)scale, 8, 232449) == 1);
    CHECK(cudaFuncSetAttribute((void *)scale, 8, 232448) == 0);
    CHECK(LAUNCH(scale, D1(1), D1(1), 232448, &x, &n) == 0);
    CHECK(LAUNCH(main, D1(1), D1(1), 0, &x) == 400);
    CHECK(cudaMemcpy(x, host, sizeof host + 1, 1) == 1);
    CHECK(cudaMemcpy(host, host, 4, 1) == 1);
    CHECK(cudaFree(x) == 0 && cudaFree(x) == 1 && cudaFree(0) == 0);
    CHECK(cudaGetLastError() == 1);
    CHECK(cudaDeviceSynchronize() == 0);
    puts("ok");
    return 0;
}
