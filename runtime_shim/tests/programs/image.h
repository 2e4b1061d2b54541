/* The tables that the compiler makes, by hand: see src/abi.rs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct BlockContext {
    uint32_t block_index[3], grid_size[3], block_size[3], dynamic_shared_bytes;
    uint8_t *shared, *dynamic_shared;
    uint64_t *counters;
    void *runtime;
} BlockContext;

typedef struct ThreadContext {
    uint32_t thread_index[3], lane;
    BlockContext *block;
    uint32_t linear_index, reserved;
} ThreadContext;

typedef void (*ThreadFunction)(ThreadContext *, void *const *);
typedef void (*BlockFunction)(BlockContext *, void *const *);

typedef struct Kernel {
    const char *name, *display_name;
    ThreadFunction thread, thread_instrumented;
    BlockFunction block_loop;
    uint64_t static_shared_bytes;
    uint32_t shared_align, max_threads, argument_count, flags;
    const uint32_t *argument_sizes;
    uint64_t stack_bytes;
    const uint32_t *argument_offsets;
} Kernel;

typedef struct Variable {
    const char *name;
    void *address;
    uint64_t bytes;
    uint32_t constant, managed;
} Variable;

typedef struct Image {
    uint64_t magic;
    uint32_t version, kernel_count;
    const Kernel *kernels;
    uint64_t variable_count;
    const Variable *variables;
    uint32_t architecture;
    uint32_t toolkit_version;
} Image;

typedef struct Wrapper {
    uint32_t magic, version;
    const void *data;
    void *unused;
} Wrapper;

typedef struct { uint32_t x, y, z; } dim3;

#define IMAGE_MAGIC 0x4d49535549524953ull /* "SIRIUSIM" */
#define KERNEL(function, loop, shared, flags) \
    { #function, #function, function, function, loop, shared, 16, 1024, 0, flags, 0, 0, 0 }
enum { BARRIERS = 1, WARP_OPERATIONS = 2, PRINTS_OR_TRAPS = 4 };
#define FULL 0xffffffffu

void **__cudaRegisterFatBinary(const Wrapper *);
void __cudaRegisterFatBinaryEnd(void **);
int __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *, void *,
                           void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
int cudaFuncSetAttribute(const void *, int, int);
const char *cudaGetErrorName(int);
void __sirius_launch_site(uint32_t);

void __sirius_barrier(ThreadContext *);
uint32_t __sirius_barrier_reduce(ThreadContext *, uint32_t, uint32_t, uint32_t, uint32_t);
void __sirius_named_barrier(ThreadContext *, uint32_t, uint32_t);
void __sirius_warp_barrier(ThreadContext *, uint32_t);
uint32_t __sirius_shuffle(ThreadContext *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t *);
uint32_t __sirius_vote(ThreadContext *, uint32_t, uint32_t, uint32_t);
uint32_t __sirius_match(ThreadContext *, uint32_t, uint64_t, uint32_t, uint32_t *);
uint32_t __sirius_active_mask(ThreadContext *);
void __sirius_trap(ThreadContext *);
void __sirius_assert_fail(ThreadContext *, const char *, const char *, uint32_t, const char *);
int __sirius_vprintf(ThreadContext *, const char *, const void *);
void __sirius_access(ThreadContext *, const void *, uint64_t, uint32_t);
enum { LOAD, STORE, ATOMIC };

/* Registers an image whose stubs are the kernels' thread functions. */
static void **register_image(const Kernel *kernels, uint32_t count, const Variable *variables,
                             uint64_t variable_count) {
    Image *image = malloc(sizeof *image);
    *image = (Image){IMAGE_MAGIC, ABI_VERSION, count, kernels, variable_count, variables, 80, 13000};
    Wrapper *wrapper = malloc(sizeof *wrapper);
    *wrapper = (Wrapper){0x466243b1, 1, image, 0};
    void **handle = __cudaRegisterFatBinary(wrapper);
    for (uint32_t i = 0; i < count; i++)
        __cudaRegisterFunction(handle, kernels[i].thread, 0, kernels[i].name, -1, 0, 0, 0, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    return handle;
}

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            printf("line %d: %s does not hold\n", __LINE__, #condition);              \
            exit(3);                                                                  \
        }                                                                             \
    } while (0)

#define LAUNCH(function, grid, block, shared, ...) \
    cudaLaunchKernel((void *)function, grid, block, (void *[]){__VA_ARGS__}, shared, 0)
#define D1(n) ((dim3){n, 1, 1})
