// Kernels that find their operands by pointers in memory of the device, where the host has put them: entries that
// lead into allocations of their own, into one allocation at known distances, to places that only the run tells, which
// are the same, overlap or are apart, and tables that are written anew, entry by entry or in halves of pointers.
//
// expect: 12 launches -> 6
// arguments: 0
// arguments: 1
// arguments: 2
// executes: 13 14 14
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int count = 512, threads = 64, blocks = count / threads;

struct Cell {
    const float *in;
    float *out;
};

__global__ void scale(const Cell *cell, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cell->out[i] = by * cell->in[i];
}

// Reads what another block may have written.
__global__ void turn(const Cell *cell, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cell->out[i] = cell->in[count - 1 - i] + by;
}

// The same, with something that each thread passes on.
__global__ void scale_and_keep(const Cell *cell, float *kept, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[i] = by;
    cell->out[i] = by * cell->in[i];
}

__global__ void turn_and_add(const Cell *cell, const float *kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cell->out[i] = cell->in[count - 1 - i] + kept[i];
}

__global__ void add(float *sum, const Cell *cell, const float *kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] += cell->in[i] + kept[i];
}

static int wrong = 0;

static void expect(const char *what, const float *device, float (*value)(int)) {
    static float found[count];
    cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        if (found[i] != value(i)) {
            printf("%s: %g at %d instead of %g\n", what, found[i], i, value(i));
            wrong = 1;
            return;
        }
    }
}

static float *floats(int n) {
    float *memory;
    cudaMalloc(&memory, n * sizeof(float));
    static float start[4 * count];
    for (int i = 0; i < n; i++) start[i] = i % count;
    cudaMemcpy(memory, start, n * sizeof(float), cudaMemcpyHostToDevice);
    return memory;
}

static Cell *cells(int n) {
    Cell *memory;
    cudaMalloc(&memory, n * sizeof(Cell));
    return memory;
}

int main(int argc, char **argv) {
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    float *kept = floats(count);
    float *x = floats(count), *a = floats(count), *b = floats(count);

    // Allocations of their own.
    Cell *own = cells(2);
    Cell own_host[2] = {{x, a}, {x, b}};
    cudaMemcpy(own, own_host, sizeof own_host, cudaMemcpyHostToDevice);
    scale<<<blocks, threads>>>(own, 2.0f);
    turn<<<blocks, threads>>>(own + 1, 1.0f);
    expect("own scale", a, [](int i) { return 2.0f * i; });
    expect("own turn", b, [](int i) { return count - 1 - i + 1.0f; });

    // Parts of one allocation at known distances.
    float *c = floats(4 * count);
    Cell *parts = cells(2);
    Cell parts_host[2] = {{c, c + count}, {c + 2 * count, c + 3 * count}};
    cudaMemcpy(parts, parts_host, sizeof parts_host, cudaMemcpyHostToDevice);
    scale<<<blocks, threads>>>(parts, 3.0f);
    turn<<<blocks, threads>>>(parts + 1, 2.0f);
    expect("parts scale", c + count, [](int i) { return 3.0f * i; });
    expect("parts turn", c + 3 * count, [](int i) { return count - 1 - i + 2.0f; });

    // The one reads what the other writes.
    Cell *chain = cells(2);
    Cell chain_host[2] = {{x, a}, {a, b}};
    cudaMemcpy(chain, chain_host, sizeof chain_host, cudaMemcpyHostToDevice);
    scale<<<blocks, threads>>>(chain, 4.0f);
    turn<<<blocks, threads>>>(chain + 1, 3.0f);
    expect("chain", b, [](int i) { return 4.0f * (count - 1 - i) + 3.0f; });

    // The run tells where they lead: apart, one of the other's output, overlapping in part.
    float *d = floats(4 * count);
    const int starts[] = {2 * count, count, count + count / 2};
    Cell *found = cells(2);
    std::vector<Cell> found_host = {{d, d + count}, {d + starts[mode], d + 3 * count}};
    cudaMemcpy(found, found_host.data(), 2 * sizeof(Cell), cudaMemcpyHostToDevice);
    scale_and_keep<<<blocks, threads>>>(found, kept, 5.0f);
    turn_and_add<<<blocks, threads>>>(found + 1, kept);
    if (mode == 0) expect("apart", d + 3 * count, [](int i) { return count - 1 - i + 5.0f; });
    if (mode == 1) expect("same", d + 3 * count, [](int i) { return 5.0f * (count - 1 - i) + 5.0f; });
    if (mode == 2) {
        expect("overlapping", d + 3 * count, [](int i) {
            int at = count - 1 - i;
            return (at < count / 2 ? 5.0f * (at + count / 2) : at - count / 2) + 5.0f;
        });
    }

    // Each thread goes on with what it wrote by another entry, or with something else.
    float *e = floats(2 * count);
    float *sum = floats(count);
    Cell *followed = cells(2);
    Cell followed_host[2] = {{x, e}, {mode ? e + count : e, nullptr}};
    cudaMemcpy(followed, followed_host, sizeof followed_host, cudaMemcpyHostToDevice);
    scale_and_keep<<<blocks, threads>>>(followed, kept, 6.0f);
    add<<<blocks, threads>>>(sum, followed + 1, kept);
    if (mode == 0) expect("followed", sum, [](int i) { return 7.0f * i + 6.0f; });
    else expect("not followed", sum, [](int i) { return 2.0f * i + 6.0f; });

    // Written anew before each pair: entry by entry, the second one in two halves; some pairs overlap.
    float *f = floats(4 * count);
    Cell *anew = cells(2);
    Cell anew_host[2] = {{f, f + count}, {f, f + 3 * count}};
    cudaMemcpy(anew, anew_host, sizeof(Cell), cudaMemcpyHostToDevice);
    for (int step = 0; step < 6; ++step) {
        anew_host[1].in = f + (step % 3 == mode ? count : 0);
        const char *bytes = (const char *)&anew_host[1];
        cudaMemcpy((char *)(anew + 1), bytes, 4, cudaMemcpyHostToDevice);
        cudaMemcpy((char *)(anew + 1) + 4, bytes + 4, sizeof(Cell) - 4, cudaMemcpyHostToDevice);
        scale_and_keep<<<blocks, threads>>>(anew, kept, 1.0f + step);
        turn_and_add<<<blocks, threads>>>(anew + 1, kept);
        static float got[count];
        cudaMemcpy(got, f + 3 * count, sizeof got, cudaMemcpyDeviceToHost);
        for (int i = 0; i < count; i++) {
            int at = count - 1 - i;
            float value = (step % 3 == mode ? (1.0f + step) * at : at) + 1.0f + step;
            if (got[i] != value) {
                printf("anew %d: %g at %d instead of %g\n", step, got[i], i, value);
                wrong = 1;
                break;
            }
        }
    }
    // What is compared at the end are no addresses.
    const Cell none[2] = {};
    for (Cell *table : {own, parts, chain, found, followed, anew}) {
        cudaMemcpy(table, none, sizeof none, cudaMemcpyHostToDevice);
    }
    puts(wrong ? "FAIL" : "PASS");
    return wrong;
}
