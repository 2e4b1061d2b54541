// Structs by value: fused kernels take the fields that they read, each by itself, unless a kernel does more with a
// struct than to read and write fields of it. What members are given is never mixed up: structs that differ in one
// field, copies that a kernel changes, unions, padding, arrays, views of one allocation, launches in batches.
//
// expect: 36 launches -> 21
// executes: 31 32
// arguments:
// arguments: 3
// options: --sirius-opt=-argument-promotion
// options: --sirius-opt=argument-promotion
// options: --sirius-opt=-host-constants,-pointer-rebasing
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>

constexpr int rows = 24, columns = 40, elements = rows * columns, threads = 64, blocks = elements / threads;

struct Matrix {
    float *data;
    int rows, columns, stride;
};

__global__ void scale(Matrix in, Matrix out, float factor) {
    for (int c = threadIdx.x; c < in.columns; c += blockDim.x)
        if (blockIdx.x < in.rows) out.data[blockIdx.x * out.stride + c] = factor * in.data[blockIdx.x * in.stride + c];
}

__global__ void add(Matrix a, Matrix b, Matrix out) {
    for (int c = threadIdx.x; c < out.columns; c += blockDim.x)
        if (blockIdx.x < out.rows)
            out.data[blockIdx.x * out.stride + c] = a.data[blockIdx.x * a.stride + c] + b.data[blockIdx.x * b.stride + c];
}

__global__ void clip(Matrix a) {
    for (int c = threadIdx.x; c < a.columns; c += blockDim.x)
        if (blockIdx.x < a.rows) a.data[blockIdx.x * a.stride + c] = fmaxf(0, a.data[blockIdx.x * a.stride + c]);
}

// The same matrix as a pointer and numbers.
__global__ void shift(float *data, int stride, int columns, float by) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x) data[blockIdx.x * stride + c] += by;
}

// Changes its own copy, by and by.
__global__ void walk(Matrix view, float by) {
    view.data += blockIdx.x * view.stride + threadIdx.x;
    view.columns -= threadIdx.x;
    while (view.columns > 0) {
        *view.data += by;
        view.data += blockDim.x;
        view.columns -= blockDim.x;
    }
}

// Exchanges two fields.
struct Pair {
    float *one, *other;
    int n;
    bool turned;
};

__global__ void hand_over(Pair pair) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair.turned) {
        float *first = pair.one;
        pair.one = pair.other;
        pair.other = first;
    }
    if (i < pair.n) pair.one[i] = pair.other[i] + 1;
}

// Fields of all sizes, with padding between, in structs in structs.
struct Small {
    signed char a;
    short b;
    bool c;
    long long d;
    __half e;
};

struct alignas(16) Mixed {
    char tag;
    Small small[2];
    float4 four;
    double wide;
    struct {
        float *out;
        unsigned char low;
    } inner;
    uchar3 three;
};

__global__ void blend(Mixed mixed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = mixed.tag + mixed.small[0].a + mixed.small[1].b + (mixed.small[1].c ? 1000 : 0) + mixed.small[0].d;
    sum += __half2float(mixed.small[1].e) + mixed.four.x * i + mixed.four.w + (float)mixed.wide;
    sum += mixed.inner.low + mixed.three.x * mixed.three.z;
    mixed.inner.out[i] += sum;
}

// Two types at one place; which one counts is told by another field.
struct Number {
    union {
        int whole;
        float part;
        unsigned char bytes[4];
    };
    int kind;
    union {
        float *pointer;
        unsigned long long address;
    };
};

__global__ void add_number(Number number, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) number.pointer[i] += number.kind == 0 ? number.whole : number.part;
}

__global__ void add_bytes(Number number, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) ((float *)number.address)[i] += number.whole + number.bytes[1];
}

// Arrays: by numbers that are known, and by others.
struct List {
    float *data[3];
    int sizes[3];
    int count;
};

__global__ void known_places(List list) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < list.sizes[0]) list.data[0][i] = list.data[1][i] + list.data[2][i] * list.count;
}

__global__ void any_place(List list, int which) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < list.sizes[which]) list.data[which][i] += list.sizes[(which + 1) % 3];
}

__global__ void copied_list(List list, int which) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    List own = list;
    own.sizes[which] /= 2;
    if (i < own.sizes[which]) own.data[which][i] += own.sizes[(which + 1) % 3];
}

// Chooses between two structs by their addresses.
__global__ void choose(const __grid_constant__ Matrix a, const __grid_constant__ Matrix b, bool second) {
    const Matrix *chosen = second ? &b : &a;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < chosen->rows * chosen->columns) chosen->data[i] *= 3;
}

// Two numbers of one access.
struct Twice {
    float *out;
    int a, b;
};

__global__ void both_at_once(Twice twice, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long both;
    memcpy(&both, &twice.a, sizeof both);
    if (i < n) twice.out[i] += (float)(both >> 33) + twice.a;
}

template <class Function> __global__ void apply(float *data, int n, Function function) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = function(data[i], i);
}

struct Polynomial {
    float a, b, c;
    const float *x;
    __device__ float operator()(float value, int i) const { return a * value + b * x[i] + c; }
};

// A step of a recurrence, as for one cell of a network: reads one row, writes another one.
struct Cell {
    const float *input, *state;
    float *next;
    int width;
    float decay;
};

__global__ void advance(Cell cell) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cell.width) cell.next[i] = cell.decay * cell.state[i] + cell.input[i];
}

// The same row by a pointer.
__global__ void bound(float *row, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < width) row[i] = fminf(fmaxf(row[i], -20), 20);
}

static int wrong = 0;

static Matrix make(int start) {
    Matrix matrix{nullptr, rows, columns, columns};
    std::vector<float> host(elements);
    for (int i = 0; i < elements; i++) host[i] = (float)((i * 7 + start) % 31) - 15;
    cudaMalloc(&matrix.data, elements * sizeof(float));
    cudaMemcpy(matrix.data, host.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    return matrix;
}

static float first(int start, int i) { return (float)((i * 7 + start) % 31) - 15; }

template <class Expected> static void check(const char *what, const float *device, Expected expected) {
    std::vector<float> host(elements);
    cudaMemcpy(host.data(), device, elements * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < elements; i++)
        if (host[i] != expected(i)) {
            printf("%s: element %d is %g, not %g\n", what, i, host[i], (float)expected(i));
            wrong++;
            return;
        }
}

static void chains(int more) {
    // Through a matrix that nobody reads afterwards.
    {
        Matrix a = make(1), b = make(2), between = make(3), out = make(4);
        scale<<<rows, 32>>>(a, between, 3);
        add<<<rows, 32>>>(between, b, out);
        clip<<<rows, 32>>>(out);
        check("chain", out.data, [](int i) { return fmaxf(0, 3 * first(1, i) + first(2, i)); });
    }
    // Structs that differ in one field from one launch to the next, and sizes that only the run knows.
    {
        Matrix a = make(5), b = make(6), out = make(7);
        a.columns = columns - more;
        scale<<<rows, 32>>>(a, b, 2);
        a.rows = rows - more;
        a.data += more;
        scale<<<rows, 32>>>(b, out, 5);
        clip<<<rows, 32>>>(a);
        check("changed structs", out.data, [&](int i) {
            return i % columns < columns - more ? 10 * first(5, i) : 5 * first(6, i);
        });
        a.data -= more;
        check("moved structs", a.data, [&](int i) {
            int from = i - more;
            bool inside = from >= 0 && from / columns < rows - more && from % columns < columns - more;
            return inside ? fmaxf(0, first(5, i)) : first(5, i);
        });
    }
    // One matrix as a struct and as plain arguments.
    {
        Matrix a = make(8), b = make(9);
        scale<<<rows, 32>>>(a, b, 2);
        shift<<<rows, 32>>>(b.data, b.stride, b.columns, 1);
        clip<<<rows, 32>>>(b);
        check("fields and arguments", b.data, [](int i) { return fmaxf(0, 2 * first(8, i) + 1); });
    }
    // Two views of one allocation that share rows.
    {
        Matrix all = make(10), upper = all, lower = all;
        upper.rows = rows / 2 + more;
        lower.rows = rows / 2;
        lower.data += rows / 2 * columns;
        scale<<<rows, 32>>>(upper, upper, 2);
        scale<<<rows, 32>>>(lower, lower, 3);
        check("views of one", all.data, [&](int i) {
            float value = first(10, i);
            if (i / columns < rows / 2 + more) value *= 2;
            return i / columns >= rows / 2 ? 3 * value : value;
        });
    }
}

static void own_copies(int more) {
    {
        Matrix a = make(11);
        walk<<<rows, 32>>>(a, 1);
        walk<<<rows, 32>>>(a, 2);
        clip<<<rows, 32>>>(a);
        check("walks", a.data, [](int i) { return fmaxf(0, first(11, i) + 3); });
    }
    {
        Matrix a = make(12), b = make(13);
        Pair pair{a.data, b.data, elements, more > 0};
        hand_over<<<blocks, threads>>>(pair);
        pair.turned = !pair.turned;
        hand_over<<<blocks, threads>>>(pair);
        check("one of two", a.data, [&](int i) { return more > 0 ? first(12, i) + 2 : first(13, i) + 1; });
        check("other of two", b.data, [&](int i) { return more > 0 ? first(12, i) + 1 : first(13, i) + 2; });
    }
}

static void fields(int more) {
    {
        Matrix a = make(14);
        Mixed mixed;
        memset(&mixed, 0x5a, sizeof mixed);
        mixed.tag = 'a';
        mixed.small[0].a = -3;
        mixed.small[0].d = -5 - more;
        mixed.small[1].b = 300;
        mixed.small[1].c = more > 0;
        mixed.small[1].e = __float2half(0.5f);
        mixed.four = make_float4(2, -1, -1, 4);
        mixed.wide = 0.25;
        mixed.inner.out = a.data;
        mixed.inner.low = 200;
        mixed.three = make_uchar3(3, 0, 5);
        blend<<<blocks, threads>>>(mixed, elements);
        const auto sum = [&](int i) { return 97 - 3 + 300 + (more > 0 ? 1000 : 0) - 5 - more + 0.5f + 2 * i + 4 + 0.25f + 200 + 15; };
        mixed.small[1].c = !mixed.small[1].c;
        mixed.tag = 'b';
        blend<<<blocks, threads>>>(mixed, elements);
        check("mixed", a.data, [&](int i) { return first(14, i) + sum(i) + sum(i) + 1 + (more > 0 ? -1000 : 1000); });
    }
    {
        Matrix a = make(15);
        Number number;
        number.kind = 0;
        number.whole = 7 + more;
        number.pointer = a.data;
        add_number<<<blocks, threads>>>(number, elements);
        number.kind = 1;
        number.part = 0.5f;
        add_number<<<blocks, threads>>>(number, elements);
        number.whole = 0x300 + more;
        add_bytes<<<blocks, threads>>>(number, elements);
        check("unions", a.data, [&](int i) { return first(15, i) + 7 + more + 0.5f + 0x300 + more + 3; });
    }
    {
        Matrix a = make(16), b = make(17), c = make(18);
        List list{{a.data, b.data, c.data}, {elements, elements, elements}, 2 + more};
        known_places<<<blocks, threads>>>(list);
        any_place<<<blocks, threads>>>(list, more % 3);
        copied_list<<<blocks, threads>>>(list, more % 3);
        known_places<<<blocks, threads>>>(list);
        check("lists", a.data, [&](int i) { return first(17, i) + first(18, i) * (2 + more); });
        any_place<<<blocks, threads>>>(list, 1);
        list.count = more;
        known_places<<<blocks, threads>>>(list);
        check("more of lists", a.data, [&](int i) { return first(17, i) + elements + first(18, i) * more; });
    }
    {
        Matrix a = make(19), b = make(20);
        choose<<<blocks, threads>>>(a, b, more > 0);
        choose<<<blocks, threads>>>(b, a, more > 0);
        check("chosen", a.data, [](int i) { return 3 * first(19, i); });
        check("chosen too", b.data, [](int i) { return 3 * first(20, i); });
        Twice twice{a.data, 5, 6 + more};
        both_at_once<<<blocks, threads>>>(twice, elements);
        twice.b = 4;
        both_at_once<<<blocks, threads>>>(twice, elements);
        check("two at once", a.data, [&](int i) { return 3 * first(19, i) + (6 + more) / 2 + 5 + 2 + 5; });
    }
    {
        Matrix a = make(21), b = make(22);
        Polynomial one{2, 3, 4.0f + more, b.data}, other{-1, 2, 1, b.data};
        apply<<<blocks, threads>>>(a.data, elements, one);
        apply<<<blocks, threads>>>(a.data, elements, other);
        one.x = nullptr;
        other.a = 0;
        check("functors", a.data, [&](int i) {
            return -(2 * first(21, i) + 3 * first(22, i) + 4 + more) + 2 * first(22, i) + 1;
        });
    }
}

// Layers over time: cells of one batch are launched together, as groups of two launches or each by itself.
static void batches(int more, Matrix input) {
    constexpr int layers = 3, steps = 4;
    Matrix states[layers], bounded[layers];
    for (int layer = 0; layer < layers; layer++)
        for (Matrix *matrix : {&states[layer], &bounded[layer]}) {
            *matrix = make(24 + layer);
            cudaMemset(matrix->data, 0, elements * sizeof(float));
        }
    for (int step = 0; step < steps; step++)
        for (int layer = 0; layer < layers; layer++) {
            const float *from = layer ? states[layer - 1].data + (step + 1) * columns : input.data + step * columns;
            Cell cell{from, states[layer].data + step * columns, states[layer].data + (step + 1) * columns, columns, 0.5f};
            cell.decay += more;
            advance<<<1, columns>>>(cell);
        }
    cudaDeviceSynchronize();
    for (int step = 0; step < steps; step++)
        for (int layer = 0; layer < layers; layer++) {
            const float *from = layer ? bounded[layer - 1].data + (step + 1) * columns : input.data + step * columns;
            Cell cell{from, bounded[layer].data + step * columns, bounded[layer].data + (step + 1) * columns, columns, 0.5f};
            cell.decay += more;
            advance<<<1, columns>>>(cell);
            bound<<<1, columns>>>(cell.next, columns);
        }
    for (bool bounds : {false, true}) {
        std::vector<float> before, rows_of(elements);
        for (int layer = 0; layer < layers; layer++) {
            std::vector<float> expected(elements, 0);
            for (int step = 0; step < steps; step++)
                for (int i = 0; i < columns; i++) {
                    float in = layer ? before[(step + 1) * columns + i] : first(23, step * columns + i);
                    float next = (0.5f + more) * expected[step * columns + i] + in;
                    expected[(step + 1) * columns + i] = bounds ? fminf(fmaxf(next, -20), 20) : next;
                }
            check(bounds ? "bounded cells" : "cells", (bounds ? bounded : states)[layer].data,
                  [&](int i) { return expected[i]; });
            before = expected;
        }
    }
}

int main(int count, char **arguments) {
    int more = count > 1 ? atoi(arguments[1]) : 0;
    chains(more);
    own_copies(more);
    fields(more);
    batches(more, make(23));
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
