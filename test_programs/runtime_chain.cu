// Two chains of linear algebra whose matrix has a size that only the command line tells: the
// correlation of a table's columns, and a product of a matrix and a vector with what follows it.
//
// Shows: subscripts such as `row * columns + column` with `columns` known only at run time. A
// thread of the first two kernels owns a column and finds its mean, then its deviation: thread
// width. Standardising the table gives every element a thread and needs the deviation that another
// block found: global width, and so does the product of the columns. In the second chain a thread
// owns a row throughout.
//
// usage: runtime_chain [rows [columns]]
//
// expect: 7 launches -> 4
// arguments:
// arguments: 17 130
// arguments: 1 1
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void column_mean(const float *table, float *mean, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row) sum += table[row * columns + column];
    mean[column] = sum / (float)rows;
}

__global__ void column_deviation(const float *table, const float *mean, float *deviation, int rows,
                                 int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row) {
        float distance = table[row * columns + column] - mean[column];
        sum += distance * distance;
    }
    deviation[column] = sqrtf(sum / (float)rows) + 0.1f;
}

__global__ void standardise(float *table, const float *mean, const float *deviation, int rows,
                            int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows) return;
    float distance = table[row * columns + column] - mean[column];
    table[row * columns + column] = distance / deviation[column];
}

__global__ void correlate(const float *table, float *correlation, int rows, int columns) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int second = blockIdx.y * blockDim.y + threadIdx.y;
    if (first >= columns || second >= columns) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row)
        sum += table[row * columns + first] * table[row * columns + second];
    correlation[second * columns + first] = sum / (float)rows;
}

__global__ void row_product(const float *matrix, const float *x, float *y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int column = 0; column < columns; ++column) sum += matrix[row * columns + column] * x[column];
    y[row] = sum;
}

__global__ void blend(float *y, const float *z, float alpha, float beta, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) y[row] = alpha * y[row] + beta * z[row];
}

// Divides each row by its element of y.
__global__ void scale_rows(float *matrix, const float *y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int column = 0; column < columns; ++column) matrix[row * columns + column] *= y[row];
}

static bool close(float found, double expected) {
    return std::fabs(found - expected) <= 1e-3 * (1.0 + std::fabs(expected));
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 50;
    const int columns = argc > 2 ? atoi(argv[2]) : 40;
    if (rows < 1 || columns < 1 || rows > 4096 || columns > 4096) {
        fprintf(stderr, "usage: %s [rows [columns]]\n", argv[0]);
        return 2;
    }
    const int cells = rows * columns;
    std::vector<float> table(cells), x(columns), z(rows);
    for (int i = 0; i < cells; ++i) table[i] = (float)((i * 37 + i / 7) % 101) / 50.0f - 1.0f;
    for (int i = 0; i < columns; ++i) x[i] = (float)(i % 13) / 6.0f - 1.0f;
    for (int i = 0; i < rows; ++i) z[i] = (float)(i % 11) / 5.0f - 1.0f;

    float *matrix, *mean, *deviation, *correlation, *in, *out, *other;
    cudaMalloc(&matrix, cells * sizeof(float));
    cudaMalloc(&mean, columns * sizeof(float));
    cudaMalloc(&deviation, columns * sizeof(float));
    cudaMalloc(&correlation, columns * columns * sizeof(float));
    cudaMalloc(&in, columns * sizeof(float));
    cudaMalloc(&out, rows * sizeof(float));
    cudaMalloc(&other, rows * sizeof(float));
    cudaMemcpy(matrix, table.data(), cells * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(in, x.data(), columns * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(other, z.data(), rows * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 64;
    const dim3 tile(16, 8);
    const int over_columns = (columns + threads - 1) / threads;
    const int over_rows = (rows + threads - 1) / threads;
    const dim3 over_table((columns + 15) / 16, (rows + 7) / 8);
    const dim3 over_pairs((columns + 15) / 16, (columns + 7) / 8);
    column_mean<<<over_columns, threads>>>(matrix, mean, rows, columns);
    column_deviation<<<over_columns, threads>>>(matrix, mean, deviation, rows, columns);
    standardise<<<over_table, tile>>>(matrix, mean, deviation, rows, columns);
    correlate<<<over_pairs, tile>>>(matrix, correlation, rows, columns);

    row_product<<<over_rows, threads>>>(matrix, in, out, rows, columns);
    blend<<<over_rows, threads>>>(out, other, 1.5f, 0.5f, rows);
    scale_rows<<<over_rows, threads>>>(matrix, out, rows, columns);

    std::vector<float> found(columns * columns), scaled(cells);
    cudaMemcpy(found.data(), correlation, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(scaled.data(), matrix, cells * sizeof(float), cudaMemcpyDeviceToHost);
    for (float *buffer : {matrix, mean, deviation, correlation, in, out, other}) cudaFree(buffer);

    std::vector<double> standard(cells);
    for (int column = 0; column < columns; ++column) {
        double sum = 0.0, squares = 0.0;
        for (int row = 0; row < rows; ++row) sum += table[row * columns + column];
        const double average = sum / rows;
        for (int row = 0; row < rows; ++row)
            squares += std::pow(table[row * columns + column] - average, 2.0);
        const double spread = std::sqrt(squares / rows) + 0.1;
        for (int row = 0; row < rows; ++row)
            standard[row * columns + column] = (table[row * columns + column] - average) / spread;
    }
    int wrong = 0;
    for (int second = 0; second < columns; ++second)
        for (int first = 0; first < columns; ++first) {
            double sum = 0.0;
            for (int row = 0; row < rows; ++row)
                sum += standard[row * columns + first] * standard[row * columns + second];
            wrong += !close(found[second * columns + first], sum / rows);
        }
    for (int row = 0; row < rows; ++row) {
        double sum = 0.0;
        for (int column = 0; column < columns; ++column)
            sum += standard[row * columns + column] * x[column];
        const double factor = 1.5 * sum + 0.5 * z[row];
        for (int column = 0; column < columns; ++column)
            wrong += !close(scaled[row * columns + column], standard[row * columns + column] * factor);
    }
    printf(wrong ? "FAIL: %d values differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
