// Launches that touch columns of one matrix, which lie in the same range of bytes. Those of columns beside each other wait for one
// launch batch. Beside them stand columns that share a place, rows of different lengths, and launches that touch whole rows. An
// argument is the number of the case.
//
// expect: 7 launches -> 7
// executes: 6 12 12 1 8 1 5 2
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
// arguments: 6
// arguments: 7
#include <cstdio>
#include <cstdlib>
#include <vector>

const int WIDTH = 52, HEIGHT = 37, HALO = 2, THREADS = 64, STEPS = 6, PARTS = 8, ROW = 96;

// The left and the right halo of a field, as TeaLeaf has them: `depth` columns become what lies behind them, in turn.
__global__ void left(int x, int y, int halo, int depth, double *field) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= y * depth) return;
    int flip = i % depth, lines = i / depth;
    int from = halo + lines * (x - depth) + i;
    field[from - (1 + flip * 2)] = field[from] + 1;
}
__global__ void right(int x, int y, int halo, int depth, double *field) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= y * depth) return;
    int flip = i % depth, lines = i / depth;
    int to = x - halo + lines * (x - depth) + i;
    field[to] = field[to - (1 + flip * 2)] + 2;
}

// Columns of a matrix, `at` and on.
__global__ void place(const float *part, float *all, int rows, int width, int pitch, int at) {
    int column = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row < rows && column < width) all[row * pitch + at + column] = all[row * pitch + at + column] * 2 + part[row * width + column];
}
__global__ void place_in_rows(const float *part, float *all, int rows, int width, int at) {
    int column = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row < rows && column < width) all[row * ROW + at + column] += part[row * width + column];
}
__global__ void halve(float *all, int count) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < count) all[i] *= 0.5f;
}

static std::vector<double> field(WIDTH * HEIGHT);
static std::vector<float> matrix_now(HEIGHT * ROW), part(HEIGHT * ROW);

static void on_host(bool is_left, int x, int y, int halo, int depth) {
    for (int i = 0; i < y * depth; ++i) {
        int flip = i % depth, lines = i / depth;
        int at = (is_left ? halo : x - halo) + lines * (x - depth) + i, other = at - (1 + flip * 2);
        if (is_left) field[other] = field[at] + 1;
        else field[at] = field[other] + 2;
    }
}
static void on_host(int width, int pitch, int at, float times) {
    for (int row = 0; row < HEIGHT; ++row)
        for (int column = 0; column < width; ++column)
            matrix_now[row * pitch + at + column] = matrix_now[row * pitch + at + column] * times + part[row * width + column];
}

int main(int argc, char **argv) {
    int which = argc > 1 ? std::atoi(argv[1]) : 0;
    for (size_t i = 0; i < field.size(); ++i) field[i] = double(i % 101);
    for (size_t i = 0; i < matrix_now.size(); ++i) matrix_now[i] = float(i % 7), part[i] = float(i % 13);
    double *fields;
    float *matrix, *parts;
    cudaMalloc(&fields, field.size() * sizeof(double));
    cudaMalloc(&matrix, matrix_now.size() * sizeof(float));
    cudaMalloc(&parts, part.size() * sizeof(float));
    cudaMemcpy(fields, field.data(), field.size() * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(matrix, matrix_now.data(), matrix_now.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(parts, part.data(), part.size() * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(16, 8), grid((HEIGHT + 7) / 8);
    int width = 10, apart = which == 4 ? 9 : 10;
    // Of a narrow field both touch all columns; in the third case the rows of the one are longer.
    int x = which == 1 ? 4 : WIDTH, other = which == 2 ? WIDTH - 3 : x, y = which == 2 ? HEIGHT - 1 : HEIGHT;
    switch (which) {
    case 0:
    case 1:
    case 2:
        for (int step = 0; step < STEPS; ++step) {
            int depth = 1 + step % 2, blocks = (y * depth + THREADS - 1) / THREADS;
            if (which == 1) depth = 2, blocks = (y * depth + THREADS - 1) / THREADS;
            right<<<blocks, THREADS>>>(x, y, HALO, depth, fields);
            left<<<blocks, THREADS>>>(other, y, HALO, depth, fields);
            on_host(false, x, y, HALO, depth);
            on_host(true, other, y, HALO, depth);
        }
        break;
    case 3:
    case 4: // Here each shares a column with the next.
        for (int k = 0; k < PARTS; ++k) {
            place<<<grid, block>>>(parts, matrix, HEIGHT, width, ROW, k * apart);
            on_host(width, ROW, k * apart, 2);
        }
        break;
    case 5:
        for (int k = 0; k < PARTS; ++k) {
            place_in_rows<<<grid, block>>>(parts, matrix, HEIGHT, width, k * apart);
            on_host(width, ROW, k * apart, 1);
        }
        break;
    case 6: // Every third time somebody wants whole rows.
        for (int k = 0; k < PARTS; ++k) {
            place<<<grid, block>>>(parts, matrix, HEIGHT, width, ROW, k * apart);
            on_host(width, ROW, k * apart, 2);
            if (k % 3 == 2) {
                halve<<<(HEIGHT * ROW + 127) / 128, 128>>>(matrix, HEIGHT * ROW);
                for (float &each : matrix_now) each *= 0.5f;
            }
        }
        break;
    case 7: // Columns of two lengths of rows, in the same memory.
        for (int k = 0; k < PARTS; ++k) {
            int pitch = k < PARTS / 2 ? ROW : ROW / 2;
            place<<<grid, block>>>(parts, matrix, HEIGHT, 5, pitch, k % (PARTS / 2) * 10);
            on_host(5, pitch, k % (PARTS / 2) * 10, 2);
        }
        break;
    }
    std::vector<double> fields_now(field.size());
    std::vector<float> now(matrix_now.size());
    cudaMemcpy(fields_now.data(), fields, field.size() * sizeof(double), cudaMemcpyDeviceToHost);
    cudaMemcpy(now.data(), matrix, matrix_now.size() * sizeof(float), cudaMemcpyDeviceToHost);
    bool right_bytes = fields_now == field && now == matrix_now;
    std::puts(right_bytes ? "PASS" : "FAIL");
    return !right_bytes;
}
