/* The driver's interface on the tables that the compiler makes; prints "ok" when all is right. */
#include "image.h"

int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuCtxSynchronize(void), cuCtxDestroy_v2(void *);
int cuMemAlloc_v2(size_t *, size_t), cuMemFree_v2(size_t), cuMemcpyDtoH_v2(void *, size_t, size_t);
int cuMemcpyHtoD_v2(size_t, const void *, size_t), cuMemsetD16_v2(size_t, unsigned short, size_t);
int cuMemAllocPitch_v2(size_t *, size_t *, size_t, size_t, unsigned), cuMemGetAddressRange_v2(size_t *, size_t *, size_t);
int cuPointerGetAttribute(void *, int, size_t), cuFuncGetAttribute(int *, int, const void *);
int cuOccupancyMaxPotentialBlockSize(int *, int *, const void *, void *, size_t, int);
int cuLaunchKernel(const void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void *, void **, void **);
int cudaGetFuncBySymbol(const void **, const void *);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cudaGetDriverEntryPoint(const char *, void **, uint64_t, int *);
typedef struct {
    size_t x, y;
    uint32_t memory;
    void *host;
    size_t device;
    void *array;
    size_t pitch;
} Side;
typedef struct { Side source, destination; size_t width, height; } Copy2D;
int cuMemcpy2D_v2(const Copy2D *);

/* x[i] = a * i + b, of a char, a double and a pointer: 0, 8 and 16 in a parameter buffer. */
static void line(ThreadContext *t, void *const *a) {
    char factor = *(char *)a[0];
    double constant = *(double *)a[1];
    double *x = *(double **)a[2];
    x[t->thread_index[0]] = factor * (double)t->thread_index[0] + constant;
}

int main(void) {
    static const uint32_t sizes[] = {1, 8, 8}, offsets[] = {0, 8, 16};
    Kernel kernel = KERNEL(line, 0, 0, 0);
    kernel.argument_count = 3;
    kernel.argument_sizes = sizes;
    kernel.argument_offsets = offsets;
    register_image(&kernel, 1, 0, 0);

    size_t x, total = 0;
    void *context;
    CHECK(cuMemAlloc_v2(&x, 8) == 3);
    CHECK(cuInit(0) == 0 && cuMemAlloc_v2(&x, 8) == 201);
    CHECK(cuCtxCreate_v2(&context, 0, 0) == 0);
    CHECK(cuMemAlloc_v2(&x, 32 * sizeof(double)) == 0);
    const void *function = 0;
    CHECK(cudaGetFuncBySymbol(&function, (void *)line) == 0 && function);

    struct { char factor; double constant; size_t x; } buffer = {3, 0.5, x};
    size_t bytes = sizeof buffer;
    void *list[] = {(void *)1, &buffer, (void *)2, &bytes, 0};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, 0, list) == 0);
    double values[32];
    CHECK(cuMemcpyDtoH_v2(values, x, sizeof values) == 0);
    for (int i = 0; i < 32; i++) CHECK(values[i] == 3 * i + 0.5);
    bytes = 16;
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, 0, list) == 1);
    void *unknown_key[] = {(void *)3, &buffer, 0};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, 0, unknown_key) == 1);
    CHECK(cuLaunchKernel(function, 1, 1, 1, 2000, 1, 1, 0, 0, 0, list) == 1);
    CHECK(cuLaunchKernel(&kernel, 1, 1, 1, 32, 1, 1, 0, 0, 0, list) == 400);
    CHECK(cudaGetLastError() == 0);

    /* Part of a matrix of 16-bit words to the host. */
    size_t pitched, pitch, base = 0;
    CHECK(cuMemAllocPitch_v2(&pitched, &pitch, 20, 4, 4) == 0 && pitch >= 20);
    CHECK(cuMemsetD16_v2(pitched, 0x0102, 4 * pitch / 2) == 0);
    CHECK(cuMemsetD16_v2(pitched + 1, 0, 1) == 1);
    CHECK(cuMemcpyHtoD_v2(pitched + 2 * pitch + 4, "ab", 2) == 0);
    unsigned char rows[2][8];
    memset(rows, 9, sizeof rows);
    Copy2D copy = {{4, 1, 2, 0, pitched, 0, pitch}, {1, 0, 1, rows, 0, 0, 8}, 4, 2};
    CHECK(cuMemcpy2D_v2(&copy) == 0);
    CHECK(rows[0][0] == 9 && rows[0][1] == 2 && rows[0][4] == 1 && rows[0][5] == 9);
    CHECK(rows[1][1] == 'a' && rows[1][2] == 'b' && rows[1][3] == 2);
    copy.source.memory = 3;
    /* No array is given. */
    CHECK(cuMemcpy2D_v2(&copy) == 400);
    CHECK(cuMemGetAddressRange_v2(&base, &total, pitched + 30) == 0 && base == pitched && total == 4 * pitch);
    unsigned kind = 0;
    CHECK(cuPointerGetAttribute(&kind, 2, pitched) == 0 && kind == 2);
    CHECK(cuPointerGetAttribute(&kind, 2, (size_t)rows) == 1);

    int value = 0, grid = 0;
    CHECK(cuFuncGetAttribute(&value, 0, function) == 0 && value == 1024);
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &value, function, 0, 0, 100) == 0);
    CHECK(grid >= 1 && value >= 1 && value <= 100);
    int (*synchronise)(void) = 0, status = 7;
    CHECK(cuGetProcAddress_v2("cuCtxSynchronize", (void **)&synchronise, 12000, 0, &status) == 0);
    CHECK(status == 0 && synchronise() == 0);
    CHECK(cuGetProcAddress_v2("cuNoSuch", (void **)&synchronise, 12000, 0, &status) == 500);
    CHECK(status == 1 && !synchronise);
    CHECK(cuMemFree_v2(x) == 0 && cuMemFree_v2(pitched) == 0 && cuMemFree_v2(pitched) == 1);
    CHECK(cuCtxDestroy_v2(context) == 0 && cuCtxSynchronize() == 201);
    /* From here on the runtime has a context of its own. */
    CHECK(cudaGetDriverEntryPoint("cuNoSuch", (void **)&synchronise, 0, &status) == 0 && status == 1);
    CHECK(cuCtxSynchronize() == 0);
    printf("ok\n");
    return 0;
}
