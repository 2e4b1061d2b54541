// Tables of pointers in memory of the device of which not all is known: a kernel writes to one, others are set, copied
// within the device, filled by a function in a stream before an asynchronous copy, or hold pointers that were numbers
// before. One is written anew between two launches. Each
// has kernels of its own: what is not known of one launch's pointers is not known of any launch of the kernel.
//
// expect: 15 launches -> 14
// expect-missed: shape
// expect-missed: may_alias
// expect-missed: copy_between
// expect-missed: may_alias
// expect-missed: copy_between
// expect-missed: may_alias
// expect-missed: copy_between
// expect-missed: may_alias
// expect-missed: copy_between
// expect-missed: may_alias
// expect-missed: copy_between
// expect-missed: copy_between
// expect-missed: copy_between
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int count = 512, threads = 64, blocks = count / threads;

struct Cell {
    const float *in;
    const float *more;
};

template <int table>
__global__ void scale(const Cell *cell, float *out, float *kept, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[i] = by;
    out[i] = by * cell->in[i];
}

// Reads what another block may have written, if the table leads there.
template <int table>
__global__ void turn(const Cell *cell, float *out, const float *kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = cell->in[count - 1 - i] + kept[i];
}

__global__ void give(Cell *cell, const float *in) {
    cell->in = in;
}

static int wrong = 0;
static float *kept, *x, *a, *b;

static void start() {
    float host[count];
    for (int i = 0; i < count; i++) host[i] = i;
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    for (int i = 0; i < count; i++) host[i] = -1;
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
}

// The second one reads what the first one wrote.
static void expect_chain(const char *what, float by) {
    float found[count];
    cudaMemcpy(found, b, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        float value = by * (count - 1 - i) + by;
        if (found[i] != value) {
            printf("%s: %g at %d instead of %g\n", what, found[i], i, value);
            wrong = 1;
            return;
        }
    }
}

static Cell *cells() {
    Cell *memory;
    cudaMalloc(&memory, 2 * sizeof(Cell));
    return memory;
}

static Cell *pinned;

static void fill(void *) {
    pinned[0] = {x, x};
    pinned[1] = {a, x};
}

int main() {
    cudaMalloc(&kept, count * sizeof(float));
    cudaMalloc(&x, count * sizeof(float));
    cudaMalloc(&a, count * sizeof(float));
    cudaMalloc(&b, count * sizeof(float));
    Cell apart[2] = {{x, x}, {x, x}}, chained[2] = {{x, x}, {a, x}};

    // By a kernel.
    start();
    Cell *given = cells();
    cudaMemcpy(given, apart, sizeof apart, cudaMemcpyHostToDevice);
    give<<<1, 1>>>(given + 1, a);
    scale<1><<<blocks, threads>>>(given, a, kept, 2.0f);
    turn<1><<<blocks, threads>>>(given + 1, b, kept);
    expect_chain("by a kernel", 2.0f);

    // To the same bytes, and back by a copy within the device.
    start();
    Cell *within = cells(), *other = cells();
    cudaMemcpy(other, chained, sizeof chained, cudaMemcpyHostToDevice);
    cudaMemcpy(within, apart, sizeof apart, cudaMemcpyHostToDevice);
    cudaMemcpy(within, other, sizeof chained, cudaMemcpyDeviceToDevice);
    scale<2><<<blocks, threads>>>(within, a, kept, 3.0f);
    turn<2><<<blocks, threads>>>(within + 1, b, kept);
    expect_chain("within the device", 3.0f);

    // Byte by byte.
    start();
    Cell *set = cells();
    cudaMemcpy(set, apart, sizeof apart, cudaMemcpyHostToDevice);
    for (size_t i = 0; i < sizeof a; i++) {
        cudaMemset((char *)&set[1].in + i, ((unsigned char *)&chained[1].in)[i], 1);
    }
    scale<3><<<blocks, threads>>>(set, a, kept, 4.0f);
    turn<3><<<blocks, threads>>>(set + 1, b, kept);
    expect_chain("byte by byte", 4.0f);

    // When the copy reads it.
    start();
    Cell *late = cells();
    cudaMallocHost(&pinned, 2 * sizeof(Cell));
    pinned[0] = {x, x};
    pinned[1] = {x, x};
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaLaunchHostFunc(stream, fill, nullptr);
    cudaMemcpyAsync(late, pinned, 2 * sizeof(Cell), cudaMemcpyHostToDevice, stream);
    scale<4><<<blocks, threads, 0, stream>>>(late, a, kept, 5.0f);
    turn<4><<<blocks, threads, 0, stream>>>(late + 1, b, kept);
    cudaStreamSynchronize(stream);
    expect_chain("late", 5.0f);

    // From numbers.
    start();
    Cell *numbers = cells();
    char text[64];
    snprintf(text, sizeof text, "%llx", (unsigned long long)a);
    Cell of_numbers[2] = {{x, x}, {(float *)strtoull(text, nullptr, 16), x}};
    cudaMemcpy(numbers, of_numbers, sizeof of_numbers, cudaMemcpyHostToDevice);
    scale<5><<<blocks, threads>>>(numbers, a, kept, 6.0f);
    turn<5><<<blocks, threads>>>(numbers + 1, b, kept);
    expect_chain("numbers", 6.0f);

    // Between the launches.
    start();
    Cell *anew = cells();
    cudaMemcpy(anew, apart, sizeof apart, cudaMemcpyHostToDevice);
    scale<6><<<blocks, threads>>>(anew, a, kept, 7.0f);
    cudaMemcpy(anew, chained, sizeof chained, cudaMemcpyHostToDevice);
    turn<6><<<blocks, threads>>>(anew + 1, b, kept);
    expect_chain("anew", 7.0f);

    // None of that.
    start();
    Cell *known = cells();
    cudaMemcpy(known, apart, sizeof apart, cudaMemcpyHostToDevice);
    scale<7><<<blocks, threads>>>(known, a, kept, 8.0f);
    turn<7><<<blocks, threads>>>(known + 1, b, kept);
    float found[count];
    cudaMemcpy(found, b, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) wrong |= found[i] != count - 1 - i + 8.0f;
    // What is compared at the end are no addresses.
    const Cell none[2] = {};
    for (Cell *table : {given, within, other, set, late, numbers, anew, known}) {
        cudaMemcpy(table, none, sizeof none, cudaMemcpyHostToDevice);
    }
    cudaFreeHost(pinned);
    puts(wrong ? "FAIL" : "PASS");
    return wrong;
}
