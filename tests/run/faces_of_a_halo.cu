// Faces of a halo, each a kernel of its own that is given all fields: those that the flags of a step choose wait together,
// and are one launch a step, whose blocks have the code, the grid and the fields of their own. Twins: the fields are one,
// so that all of one face wait for each other; and it is so low that its faces do, too.
//
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// executes: 6 4 30 60 1
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int FIELDS = 5, COLUMNS = 150, DEPTH = 2, THREADS = 64;

struct Field {
    int columns, rows;
    unsigned *data;
};

// Each kernel takes all of it, and reads little.
struct Fields {
    Field field[FIELDS];
    union {
        double whole;
        unsigned parts[2];
    } spare[100];
};

__host__ __device__ unsigned mixed(unsigned value) {
    value ^= value >> 15;
    value *= 0x2c1b3c6du;
    return value ^ value >> 12;
}

// Without the neighbour of the thread, and with a part of the structure that is the thread's own.
template <int FIELD> __global__ void bottom(Fields fields, int depth) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, columns = fields.field[FIELD].columns;
    fields.field[FIELD].data += i;
    unsigned *data = fields.field[FIELD].data;
    if (i < columns)
        for (int row = 0; row < depth; ++row)
            data[row * columns] = mixed(data[row * columns] + data[(depth + row) * columns] + FIELD + gridDim.x);
}

// A block adds its columns in shared memory.
template <> __global__ void bottom<3>(Fields fields, int depth) {
    __shared__ unsigned sums[THREADS];
    const Field field = fields.field[3];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < field.columns ? field.data[depth * field.columns + i] : 0;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (i < field.columns) field.data[i] = mixed(field.data[i] + sums[0]);
}

template <int FIELD> __global__ void top(Fields fields, int depth) {
    const Field field = fields.field[FIELD];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < field.columns)
        for (int row = 0; row < depth; ++row) {
            unsigned *edge = field.data + (field.rows - 1 - row) * field.columns + i;
            *edge = mixed(*edge + edge[-depth * field.columns] * (FIELD + 2));
        }
}

// A part of the structure is read as one and in parts, so that a launch is given all of it.
__global__ void top_of(Fields fields, int depth, double factor) {
    const Field field = fields.field[4];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < field.columns)
        for (int row = 0; row < depth; ++row) {
            unsigned *edge = field.data + (field.rows - 1 - row) * field.columns + i;
            const unsigned more = (unsigned)fields.spare[0].whole + fields.spare[0].parts[1];
            *edge = mixed(*edge + edge[-depth * field.columns] * (unsigned)(factor * 4) + more);
        }
}

static __attribute__((noinline)) void update(const std::vector<Fields> &tiles, const int *chosen) {
    const int blocks = (COLUMNS + THREADS - 1) / THREADS;
    for (size_t step = 0; step < tiles.size(); ++step) {
        const Fields &fields = tiles[step];
        const int flags = chosen[step];
        if (flags & 1) bottom<0><<<blocks, THREADS>>>(fields, DEPTH);
        if (flags & 2) top<0><<<blocks, THREADS>>>(fields, DEPTH);
        if (flags & 4) bottom<1><<<blocks + 1, THREADS>>>(fields, DEPTH);
        if (flags & 8) top<1><<<blocks, THREADS>>>(fields, DEPTH);
        if (flags & 16) bottom<2><<<blocks, THREADS>>>(fields, DEPTH);
        if (flags & 32) top<2><<<blocks + 2, THREADS>>>(fields, DEPTH);
        if (flags & 64) bottom<3><<<blocks, THREADS>>>(fields, DEPTH);
        if (flags & 128) top<3><<<blocks, THREADS>>>(fields, DEPTH);
        if (flags & 256) bottom<4><<<blocks, THREADS>>>(fields, DEPTH);
        if (flags & 512) top_of<<<blocks, THREADS>>>(fields, DEPTH, 1.5);
    }
}

// The same on the host.
static void update_on_host(std::vector<unsigned> *fields, const int *order, int rows, const int *chosen, int steps) {
    const int blocks = (COLUMNS + THREADS - 1) / THREADS;
    const unsigned more = 0x401d0000;  // The upper half of 7.25.
    for (int step = 0; step < steps; ++step)
        for (int face = 0; face < 2 * FIELDS; ++face) {
            if (!(chosen[step] >> face & 1)) continue;
            const int number = face / 2;
            std::vector<unsigned> &field = fields[order[number]];
            const std::vector<unsigned> before(field);
            for (int i = 0; i < COLUMNS; ++i) {
                if (face == 6) {
                    unsigned sum = 0;
                    for (int k = i / THREADS * THREADS; k < i / THREADS * THREADS + THREADS && k < COLUMNS; ++k)
                        sum += before[DEPTH * COLUMNS + k];
                    field[i] = mixed(before[i] + sum);
                    continue;
                }
                for (int row = 0; row < DEPTH; ++row) {
                    const int edge = (face % 2 ? rows - 1 - row : row) * COLUMNS + i;
                    const int inside = edge + (face % 2 ? -DEPTH : DEPTH) * COLUMNS;
                    if (face == 9) field[edge] = mixed(before[edge] + before[inside] * 6 + 7 + more);
                    else if (face % 2) field[edge] = mixed(before[edge] + before[inside] * (number + 2));
                    else field[edge] = mixed(before[edge] + before[inside] + number + blocks + (face == 2));
                }
            }
        }
}

int main(int argc, char **argv) {
    const int which = argc > 1 ? atoi(argv[1]) : 0, rows = which == 3 ? 2 * DEPTH : 20;
    const bool one = which == 2 || which == 3;
    const int steps = which == 4 ? 1 : 6;
    int chosen[6] = {1023, 1023, 1023, 1023, 1023, 1023};
    if (which == 1)
        for (int step = 0; step < steps; ++step) chosen[step] = 0x155 << step % 2 | 7 << step;
    Fields fields{};
    fields.spare[0].whole = 7.25;
    std::vector<unsigned> expected[FIELDS], found(rows * COLUMNS);
    int order[FIELDS];
    for (int number = 0; number < FIELDS; ++number) {
        order[number] = one ? 0 : number;
        expected[number].resize(rows * COLUMNS);
        for (int i = 0; i < rows * COLUMNS; ++i) expected[number][i] = mixed(i * (number + 3));
        Field &field = fields.field[number];
        field = {COLUMNS, rows, nullptr};
        if (one && number) field.data = fields.field[0].data;
        else cudaMalloc(&field.data, found.size() * sizeof(unsigned));
        cudaMemcpy(field.data, expected[order[number]].data(), found.size() * sizeof(unsigned), cudaMemcpyHostToDevice);
    }
    update(std::vector<Fields>(steps, fields), chosen);
    update_on_host(expected, order, rows, chosen, steps);
    bool right = true;
    for (int number = 0; number < FIELDS; ++number) {
        cudaMemcpy(found.data(), fields.field[number].data, found.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
        right = right && found == expected[order[number]];
    }
    printf("%s\n", right && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
