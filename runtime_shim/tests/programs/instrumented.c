/* A kernel whose accesses are reported as the compiler's instrumentation does. */
#include "image.h"

static int one = 1;

static void exchange(ThreadContext *t, void *const *a) {
    int *in = *(int **)a[0], *out = *(int **)a[1];
    int *shared = (int *)t->block->shared;
    uint32_t i = t->thread_index[0], n = t->block->block_size[0];
    uint32_t global = t->block->block_index[0] * n + i;
    int local = 0;
    t->block->counters[0] += 10;
    __sirius_access(t, &one, 4, LOAD);
    __sirius_access(t, &in[global], 4, LOAD);
    local = in[global] + one;
    __sirius_access(t, &local, 4, STORE);
    __sirius_access(t, &shared[i], 4, STORE);
    shared[i] = local;
    __sirius_barrier(t);
    __sirius_access(t, &shared[n - 1 - i], 4, LOAD);
    __sirius_access(t, &out[global], 4, STORE);
    out[global] = shared[n - 1 - i];
}

static const Kernel kernels[] = {KERNEL(exchange, 0, 16, BARRIERS)};
static const Variable variables[] = {{"one", &one, sizeof one, 1, 0}};

int main(void) {
    register_image(kernels, 1, variables, 1);
    int host[8] = {0, 1, 2, 3, 4, 5, 6, 7}, *in, *out;
    cudaMalloc((void **)&in, sizeof host);
    cudaMalloc((void **)&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, 1);
    cudaMemset(out, 0xff, sizeof host);
    __sirius_launch_site(5);
    CHECK(LAUNCH(exchange, D1(2), D1(4), 0, &in, &out) == 0);
    CHECK(LAUNCH(exchange, D1(2), D1(4), 0, &in, &out) == 0);
    CHECK(cudaDeviceSynchronize() == 0);
    cudaMemcpy(host, out, sizeof host, 2);
    for (int i = 0; i < 8; i++) CHECK(host[i] == (i / 4) * 4 + 3 - i % 4 + 1);
    cudaFree(out);
    return 0;
}
