/* Kernels that go wrong, by the program's first argument. */
#include "image.h"

static void wild(ThreadContext *t, void *const *a) {
    int *x = *(int **)a[0];
    x[t->thread_index[0] * 100] = 1; /* wild store */
}

static void wild_shared(ThreadContext *t, void *const *a) {
    (void)a;
    ((volatile int *)t->block->shared)[64 + t->thread_index[0]] = 1;
}

static void stuck(ThreadContext *t, void *const *a) {
    (void)a;
    if (t->thread_index[0] < 4)
        __sirius_barrier(t);
    else
        __sirius_shuffle(t, FULL, 0, 1, 0x1f, 1, 0);
}

static void outsider(ThreadContext *t, void *const *a) {
    (void)a;
    __sirius_warp_barrier(t, 1);
}

static void trapping(ThreadContext *t, void *const *a) {
    (void)a;
    if (t->thread_index[0] == 3) __sirius_trap(t);
}

static void trapping_among_fibers(ThreadContext *t, void *const *a) {
    (void)a;
    if (t->thread_index[0] == 3) __sirius_trap(t);
    __sirius_barrier(t);
}

static void asserting(ThreadContext *t, void *const *a) {
    (void)a;
    if (t->block->block_index[0] == 1 && t->thread_index[0] == 2)
        __sirius_assert_fail(t, "x < 2", "a.cu", 12, "void f(int)");
}

static int deep(volatile int *p, int depth) {
    volatile char frame[4096];
    frame[depth % 4096] = (char)*p;
    return depth <= 0 ? 0 : deep(p, depth - 1) + frame[depth % 4096];
}

static void overflow(ThreadContext *t, void *const *a) {
    (void)a;
    volatile int x = 0;
    deep(&x, 1 << 20);
    __sirius_barrier(t);
}

static void division(ThreadContext *t, void *const *a) {
    volatile int zero = (int)t->thread_index[0];
    **(int **)a[0] = 7 / zero;
}

static void lying(ThreadContext *t, void *const *a) {
    (void)a;
    __sirius_barrier(t);
}

static void printing(ThreadContext *t, void *const *a) {
    (void)a;
    struct { int thread; double half; const char *text; } arguments = {
        (int)t->thread_index[0], t->thread_index[0] / 2.0, "text"};
    __sirius_vprintf(t, "thread %d %.1f %s\n", &arguments);
}

static const Kernel kernels[] = {
    KERNEL(wild, 0, 0, 0),
    KERNEL(wild_shared, 0, 256, BARRIERS),
    KERNEL(stuck, 0, 0, BARRIERS | WARP_OPERATIONS),
    KERNEL(outsider, 0, 0, WARP_OPERATIONS),
    KERNEL(trapping, 0, 0, PRINTS_OR_TRAPS),
    KERNEL(trapping_among_fibers, 0, 0, PRINTS_OR_TRAPS | BARRIERS),
    KERNEL(asserting, 0, 0, PRINTS_OR_TRAPS),
    KERNEL(overflow, 0, 0, BARRIERS),
    KERNEL(division, 0, 0, 0),
    KERNEL(lying, 0, 0, 0),
    KERNEL(printing, 0, 0, PRINTS_OR_TRAPS),
};

int main(int count, char **arguments) {
    CHECK(count == 2);
    uint32_t kernel_count = sizeof kernels / sizeof *kernels;
    register_image(kernels, kernel_count, 0, 0);
    int *x;
    CHECK(cudaMalloc((void **)&x, 1024) == 0);
    if (strcmp(arguments[1], "host") == 0) {
        *(volatile int *)8 = 1;
        return 0;
    }
    if (strcmp(arguments[1], "freed") == 0) {
        cudaFree(x);
        LAUNCH(wild, D1(1), D1(1), 0, &x);
        return 0;
    }
    for (uint32_t i = 0; i < kernel_count; i++) {
        if (strcmp(kernels[i].name, arguments[1]) != 0) continue;
        printf("before\n");
        dim3 grid = D1(2), block = D1(32);
        if (kernels[i].thread == printing) grid = D1(1), block = D1(2);
        int launched = cudaLaunchKernel((void *)kernels[i].thread, grid, block, (void *[]){&x}, 0, 0);
        int finished = cudaDeviceSynchronize();
        printf("launch %d, synchronise %s", launched, cudaGetErrorName(finished));
        printf(", malloc %s\n", cudaGetErrorName(cudaMalloc((void **)&x, 8)));
        return 0;
    }
    return 4;
}
