/* Launches of which some differ in nothing but where their argument leads. */
#include "image.h"

static void add(ThreadContext *t, void *const *a) {
    int *out = *(int **)a[0], number = *(int *)a[1];
    t->block->counters[0] += 3;
    __sirius_access(t, &out[t->thread_index[0]], 4, STORE);
    out[t->thread_index[0]] += number;
}

static Kernel kernels[] = {KERNEL(add, 0, 0, 0)};

int main(void) {
    static const uint32_t sizes[] = {sizeof(int *), sizeof(int)};
    kernels[0].argument_count = 2;
    kernels[0].argument_sizes = sizes;
    register_image(kernels, 1, NULL, 0);
    int *out[6];
    for (int i = 0; i < 6; i++) {
        cudaMalloc((void **)&out[i], 4 * sizeof(int));
        cudaMemset(out[i], 0, 4 * sizeof(int));
        /* Another number makes another launch, and so does other shared memory. */
        int number = i / 2 == 1 ? 2 : 1, shared = i < 4 ? 0 : 8 * (i - 3);
        CHECK(LAUNCH(add, D1(1), D1(4), shared, &out[i], &number) == 0);
    }
    CHECK(cudaDeviceSynchronize() == 0);
    for (int i = 0; i < 6; i++) {
        int host[4];
        cudaMemcpy(host, out[i], sizeof host, 2);
        printf("%d ", host[0]);
    }
    return 0;
}
