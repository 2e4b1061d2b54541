// Runs the kernels of pointwise.cu as the CPU device's runtime would, one block, no fibers.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint64_t instructions, rest[5]; } Counters;
typedef struct {
  uint32_t block_index[3], grid_size[3], block_size[3], dynamic_shared_bytes;
  char *shared, *dynamic_shared;
  Counters *counters;
  void *runtime;
} Block;
typedef struct { uint32_t thread_index[3], lane; Block *block; uint32_t linear_index, reserved; } Thread;
typedef struct {
  const char *name, *display_name;
  void (*thread)(Thread *, const void **), (*instrumented)(Thread *, const void **);
  void (*block_loop)(Block *, const void **);
  uint64_t static_shared_bytes;
  uint32_t shared_align, max_threads, argument_count, flags;
  const uint32_t *argument_sizes;
  uint64_t stack_bytes;
  const uint32_t *argument_offsets;
} Kernel;
typedef struct { const char *name; void *address; uint64_t bytes; uint32_t constant, managed; } Variable;
typedef struct {
  uint64_t magic; uint32_t version, kernel_count; const Kernel *kernels;
  uint64_t variable_count; const Variable *variables; uint32_t architecture, toolkit_version;
} Image;
extern const Image image_under_test;

static uint64_t accessed[3];
void __sirius_access(Thread *t, void *p, uint64_t bytes, uint32_t kind) { (void)t; (void)p; accessed[kind] += bytes; }
static int barriers;
void __sirius_barrier(Thread *t) { (void)t; barriers++; }

#define CHECK(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); return 1; } } while (0)

static const Kernel *kernel(const char *name) {
  for (uint32_t n = 0; n < image_under_test.kernel_count; n++)
    if (!strcmp(image_under_test.kernels[n].display_name, name)) return &image_under_test.kernels[n];
  abort();
}

int main(void) {
  CHECK(image_under_test.magic == 0x4d49535549524953 && image_under_test.version == ABI_VERSION &&
        image_under_test.architecture == 80 && image_under_test.toolkit_version == 13000);
  CHECK(image_under_test.kernel_count == 2 && image_under_test.variable_count == 2);
  int *counter = 0; float *table = 0;
  for (int n = 0; n < 2; n++) {
    const Variable *v = &image_under_test.variables[n];
    if (!strcmp(v->name, "counter")) { counter = v->address; CHECK(v->bytes == 4 && !v->constant); }
    if (!strcmp(v->name, "table")) { table = v->address; CHECK(v->bytes == 16 && v->constant); }
  }
  CHECK(counter && table);
  for (int i = 0; i < 4; i++) table[i] = (float)i;

  Counters counters = {0};
  _Alignas(128) char shared[256];
  Block block = {{1, 0, 0}, {2, 1, 1}, {8, 2, 1}, 64, shared, shared + 128, &counters, 0};
  float storage[64], *x = storage; int n = 14; struct { int offset; float factor; } scale = {3, 2.0f};
  const void *arguments[] = {&x, &scale, &n};
  const Kernel *k = kernel("scale");
  CHECK(k->block_loop && k->argument_count == 3 && k->argument_sizes[1] == 8 && k->argument_offsets[2] == 16 && k->flags == 0);
  for (int i = 0; i < 64; i++) storage[i] = (float)i;
  block.block_size[1] = 1;
  k->block_loop(&block, arguments);
  for (int i = 0; i < 64; i++)
    CHECK(storage[i] == (i >= 8 && i < 14 ? i * 2.0f + (float)(i & 3) + 3.0f : (float)i));
  CHECK(*counter == 1);
  for (int i = 0; i < 64; i++) storage[i] = (float)i;
  for (uint32_t t = 0; t < 8; t++) {
    Thread thread = {{t, 0, 0}, t, &block, t, 0};
    k->instrumented(&thread, arguments);
  }
  CHECK(storage[13] == 13 * 2.0f + 1.0f + 3.0f && *counter == 2);
  // Six threads load x and the table and store x; one adds to the counter.
  CHECK(accessed[0] == 6 * 8 && accessed[1] == 6 * 4 && accessed[2] == 4 && counters.instructions > 8 * 4);

  k = kernel("reverse");
  CHECK(!k->block_loop && (k->flags & 9) == 9 && k->static_shared_bytes >= 4 && k->shared_align >= 4);
  storage[0] = 5.0f;
  block.block_size[0] = 1;
  Thread thread = {{0, 0, 0}, 0, &block, 0, 0};
  k->thread(&thread, arguments);
  CHECK(barriers == 1 && storage[0] == 10.0f);
  puts("PASS");
  return 0;
}
