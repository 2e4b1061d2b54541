/* Warp operations under divergence and early return; exits 0 and prints "ok" when all is right. */
#include "image.h"

/* Lanes from 20 up return first; the others' operations still name the whole warp. */
static void early(ThreadContext *t, void *const *a) {
    uint32_t *out = *(uint32_t **)a[0];
    if (t->lane >= 20) return;
    uint32_t in_range = 7;
    uint32_t ballot = __sirius_vote(t, FULL, 1, 3);
    uint32_t gone = __sirius_shuffle(t, FULL, t->lane + 1, 5, 0x1f, 1, &in_range);
    out[t->linear_index * 3] = ballot;
    out[t->linear_index * 3 + 1] = gone;
    out[t->linear_index * 3 + 2] = in_range;
}

/* The usual warp-aggregated counter: whoever is there adds for all. */
static void aggregate(ThreadContext *t, void *const *a) {
    uint32_t *counter = *(uint32_t **)a[0];
    uint32_t *adds = *(uint32_t **)a[1];
    uint32_t i = t->linear_index;
    if (i % 3 == 0) {
        uint32_t mask = __sirius_active_mask(t);
        int leader = __builtin_ctz(mask);
        uint32_t base = 0;
        if ((int)t->lane == leader) {
            base = __atomic_fetch_add(counter, (uint32_t)__builtin_popcount(mask), __ATOMIC_RELAXED);
            __atomic_fetch_add(adds, 1, __ATOMIC_RELAXED);
        }
        base = __sirius_shuffle(t, mask, base, (uint32_t)leader, 0x1f, 3, 0);
        (void)base;
    } else if (i % 3 == 1) {
        uint32_t mask = __sirius_active_mask(t);
        if (t->lane == (uint32_t)__builtin_ctz(mask))
            __atomic_fetch_add(counter, 1000 * (uint32_t)__builtin_popcount(mask), __ATOMIC_RELAXED);
        __sirius_warp_barrier(t, mask);
    }
}

/* Both halves of a warp synchronise on their own, in different numbers. */
static void halves(ThreadContext *t, void *const *a) {
    int *out = *(int **)a[0];
    int *shared = (int *)t->block->shared;
    uint32_t lane = t->lane, mask = lane < 16 ? 0xffffu : 0xffff0000u;
    shared[lane] = (int)lane;
    for (uint32_t round = 0; round < (lane < 16 ? 2u : 5u); round++) {
        __sirius_warp_barrier(t, mask);
        int next = shared[(lane & 16) | ((lane + 1) & 15)];
        __sirius_warp_barrier(t, mask);
        shared[lane] = next;
    }
    __sirius_warp_barrier(t, FULL);
    out[lane] = shared[lane];
}

/* Order of threads before and after a barrier, with one worker. */
static void order(ThreadContext *t, void *const *a) {
    uint32_t *next = *(uint32_t **)a[0];
    uint32_t *out = *(uint32_t **)a[1];
    out[t->linear_index] = (*next)++;
    __sirius_barrier(t);
    out[t->block->block_size[0] + t->linear_index] = (*next)++;
}

/* A frame of 300 KiB below a barrier. */
static void large_frame(ThreadContext *t, void *const *a) {
    int *out = *(int **)a[0];
    volatile char frame[300 << 10];
    for (size_t i = 0; i < sizeof frame; i += 4096) frame[i] = (char)t->linear_index;
    __sirius_barrier(t);
    int sum = 0;
    for (size_t i = 0; i < sizeof frame; i += 4096) sum += frame[i];
    out[t->linear_index] = sum;
}

static const Kernel kernels[] = {
    KERNEL(early, 0, 0, WARP_OPERATIONS),   KERNEL(aggregate, 0, 0, WARP_OPERATIONS),
    KERNEL(halves, 0, 128, WARP_OPERATIONS), KERNEL(order, 0, 0, BARRIERS),
    KERNEL(large_frame, 0, 0, BARRIERS),
};

int main(void) {
    register_image(kernels, sizeof kernels / sizeof *kernels, 0, 0);
    uint32_t *out, *other, host[1024];
    CHECK(cudaMalloc((void **)&out, sizeof host) == 0 && cudaMalloc((void **)&other, 8) == 0);

    CHECK(LAUNCH(early, D1(1), D1(64), 0, &out) == 0);
    cudaMemcpy(host, out, sizeof host, 2);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t lane = i % 32;
        if (lane >= 20) continue;
        CHECK(host[i * 3] == 0xfffff);
        CHECK(host[i * 3 + 1] == (lane < 15 ? lane + 6 : 0));
        CHECK(host[i * 3 + 2] == 1);
    }

    cudaMemset(out, 0, 4), cudaMemset(other, 0, 4);
    CHECK(LAUNCH(aggregate, D1(1), D1(96), 0, &out, &other) == 0);
    cudaMemcpy(host, out, 4, 2);
    CHECK(host[0] == 32 + 1000 * 32);
    cudaMemcpy(host, other, 4, 2);
    CHECK(host[0] == 3);

    CHECK(LAUNCH(halves, D1(1), D1(32), 0, &out) == 0);
    cudaMemcpy(host, out, 128, 2);
    for (uint32_t i = 0; i < 32; i++)
        CHECK(host[i] == (i < 16 ? (i + 2) % 16 : 16 + (i + 5) % 16));

    cudaMemset(other, 0, 4);
    CHECK(LAUNCH(order, D1(1), D1(96), 0, &other, &out) == 0);
    cudaMemcpy(host, out, 192 * 4, 2);
    for (uint32_t i = 0; i < 192; i++) CHECK(host[i] == i);

    CHECK(LAUNCH(large_frame, D1(2), D1(100), 0, &out) == 0);
    cudaMemcpy(host, out, 400, 2);
    for (uint32_t i = 0; i < 100; i++) CHECK(host[i] == 75 * i);
    puts("ok");
    return 0;
}
