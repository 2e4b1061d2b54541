// cuSOLVER's factors that are taken apart and made again for other values, compared with products written out.
//
// expect: 0 launches -> 0
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <cusolverRf.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <vector>

static int failures = 0;

static void same(const char *what, long long got, long long expected) {
    if (got != expected && failures++ < 20) printf("%s: %lld instead of %lld\n", what, got, expected);
}
static void close(const char *what, double got, double expected, double tolerance) {
    if (!(std::fabs(got - expected) <= tolerance) && failures++ < 20) printf("%s: %g instead of %g\n", what, got, expected);
}

template <typename T>
static T *on_device(const std::vector<T> &values) {
    T *data;
    cudaMalloc(&data, values.size() * sizeof(T));
    cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return data;
}

const int N = 60;
static std::vector<int> offsets{0}, columns;
static std::vector<double> values;

// Without a diagonal that could be divided by.
static void make() {
    for (int r = 0; r < N; r++) {
        int at[] = {(r + 7) % N, (r * 11 + 3) % N, r, N - 1 - r};
        for (int i = 0; i < 4; i++) {
            bool known = false;
            for (int j = 0; j < i; j++) known = known || at[j] == at[i];
            if (known) continue;
            columns.push_back(at[i]);
            values.push_back(i == 2 ? 0.0 : std::cos(r * 1.3 + i) * (i + 1));
        }
        offsets.push_back((int)columns.size());
    }
}

static std::vector<double> times(const std::vector<double> &of, const std::vector<double> &x) {
    std::vector<double> out(N);
    for (int r = 0; r < N; r++)
        for (int e = offsets[r]; e < offsets[r + 1]; e++) out[r] += of[e] * x[columns[e]];
    return out;
}

int main() {
    make();
    const int count = (int)values.size();
    std::vector<double> expected(N), x(N);
    for (int i = 0; i < N; i++) expected[i] = std::sin(i) + i % 4;
    std::vector<double> right = times(values, expected);
    cusolverSpHandle_t handle;
    cusparseMatDescr_t described, from_one;
    csrluInfoHost_t held;
    size_t kept, work;
    int at = 7, in_lower, in_upper;
    cusolverSpCreate(&handle);
    cusparseCreateMatDescr(&described);
    cusparseCreateMatDescr(&from_one);
    cusparseSetMatIndexBase(from_one, CUSPARSE_INDEX_BASE_ONE);
    same("create", cusolverSpCreateCsrluInfoHost(&held), 0);
    same("analysis", cusolverSpXcsrluAnalysisHost(handle, N, count, described, offsets.data(), columns.data(), held), 0);
    same("nothing yet", cusolverSpXcsrluNnzHost(handle, &in_lower, &in_upper, held), CUSOLVER_STATUS_INVALID_VALUE);
    same("sizes", cusolverSpDcsrluBufferInfoHost(handle, N, count, described, values.data(), offsets.data(), columns.data(), held, &kept, &work), 0);
    same("factors", cusolverSpDcsrluFactorHost(handle, N, count, described, values.data(), offsets.data(), columns.data(), held, 1.0, nullptr), 0);
    same("pivots", cusolverSpDcsrluZeroPivotHost(handle, held, 1e-14, &at), 0);
    same("all", at, -1);
    same("solve", cusolverSpDcsrluSolveHost(handle, N, right.data(), x.data(), held, nullptr), 0);
    for (int i = 0; i < N; i++) close("x", x[i], expected[i], 1e-9);

    // P * A * Q' = L * U, of which L counts from one here and has no ones.
    same("how many", cusolverSpXcsrluNnzHost(handle, &in_lower, &in_upper, held), 0);
    std::vector<int> rows(N), order(N), lower_offsets(N + 1), lower_columns(in_lower), upper_offsets(N + 1), upper_columns(in_upper);
    std::vector<double> lower(in_lower), upper(in_upper);
    same("extract", cusolverSpDcsrluExtractHost(handle, rows.data(), order.data(), from_one, lower.data(), lower_offsets.data(), lower_columns.data(),
                                                described, upper.data(), upper_offsets.data(), upper_columns.data(), held, nullptr), 0);
    same("ends", lower_offsets[N], in_lower + 1);
    same("ends", upper_offsets[N], in_upper);
    std::vector<double> left(N * N), product(N * N);
    for (int r = 0; r < N; r++) {
        left[r * N + r] = 1;
        for (int e = lower_offsets[r] - 1; e < lower_offsets[r + 1] - 1; e++) {
            same("below", lower_columns[e] - 1 < r, 1);
            same("at most one", std::fabs(lower[e]) <= 1, 1);
            left[r * N + lower_columns[e] - 1] = lower[e];
        }
    }
    for (int r = 0; r < N; r++)
        for (int k = 0; k < N; k++)
            for (int e = upper_offsets[k]; e < upper_offsets[k + 1]; e++) {
                same("above", upper_columns[e] >= k, 1);
                product[r * N + upper_columns[e]] += left[r * N + k] * upper[e];
            }
    for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++) {
            double element = 0;
            for (int e = offsets[rows[r]]; e < offsets[rows[r] + 1]; e++)
                if (columns[e] == order[c]) element += values[e];
            close("product", product[r * N + c], element, 1e-12);
        }

    // Other values in the same order.
    cusolverRfHandle_t again;
    cusolverRfMatrixFormat_t format;
    cusolverRfUnitDiagonal_t diagonal;
    same("create", cusolverRfCreate(&again), 0);
    same("by columns", cusolverRfSetMatrixFormat(again, CUSOLVERRF_MATRIX_FORMAT_CSC, CUSOLVERRF_UNIT_DIAGONAL_STORED_L), CUSOLVER_STATUS_NOT_SUPPORTED);
    same("by rows", cusolverRfSetMatrixFormat(again, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L), 0);
    same("format", cusolverRfGetMatrixFormat(again, &format, &diagonal), 0);
    same("kept", format == CUSOLVERRF_MATRIX_FORMAT_CSR && diagonal == CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L, 1);
    same("ways", cusolverRfSetAlgs(again, CUSOLVERRF_FACTORIZATION_ALG0, CUSOLVERRF_TRIANGULAR_SOLVE_ALG2), 0);
    same("fast", cusolverRfSetResetValuesFastMode(again, CUSOLVERRF_RESET_VALUES_FAST_MODE_ON), 0);
    same("nothing yet", cusolverRfAnalyze(again), CUSOLVER_STATUS_INVALID_VALUE);
    for (int &offset : lower_offsets) offset--;
    for (int &column : lower_columns) column--;
    same("setup", cusolverRfSetupHost(N, count, offsets.data(), columns.data(), values.data(), in_lower, lower_offsets.data(), lower_columns.data(), lower.data(),
                                      in_upper, upper_offsets.data(), upper_columns.data(), upper.data(), rows.data(), order.data(), again), 0);
    same("analyse", cusolverRfAnalyze(again), 0);
    int *d_offsets = on_device(offsets), *d_columns = on_device(columns), *d_rows = on_device(rows), *d_order = on_device(order);
    double *work_space = on_device(std::vector<double>(2 * N));
    for (int turn = 0; turn < 3; turn++) {
        if (turn > 0) {
            std::vector<double> changed = values;
            for (double &value : changed) value *= 1 + 0.05 * turn * std::sin(value);
            double *d_values = on_device(changed);
            same("values", cusolverRfResetValues(N, count, d_offsets, d_columns, d_values, d_rows, d_order, again), 0);
            right = times(changed, expected);
            cudaFree(d_values);
        }
        same("factors", cusolverRfRefactor(again), 0);
        // Two systems at once, the second behind a gap.
        std::vector<double> both(2 * N + 5, -1.0);
        for (int i = 0; i < N; i++) both[i] = right[i], both[N + 5 + i] = -2 * right[i];
        double *d_both = on_device(both);
        same("solve", cusolverRfSolve(again, d_rows, d_order, 2, work_space, N, d_both, N + 5), 0);
        cudaMemcpy(both.data(), d_both, both.size() * sizeof(double), cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; i++) {
            close("first", both[i], expected[i], 1e-6);
            close("second", both[N + 5 + i], -2 * expected[i], 1e-6);
        }
        for (int i = N; i < N + 5; i++) close("between", both[i], -1, 0);
        cudaFree(d_both);
    }
    // In the order of the matrix itself there is no first pivot, unless another number stands for it.
    for (int i = 0; i < N; i++) rows[i] = order[i] = i;
    same("setup", cusolverRfSetupHost(N, count, offsets.data(), columns.data(), values.data(), 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                      rows.data(), order.data(), again), 0);
    same("no pivot", cusolverRfRefactor(again), CUSOLVER_STATUS_ZERO_PIVOT);
    same("a number", cusolverRfSetNumericProperties(again, 1e-13, 1e-3), 0);
    same("factors", cusolverRfRefactor(again), 0);
    same("destroy", cusolverRfDestroy(again), 0);
    same("destroy", cusolverSpDestroyCsrluInfoHost(held), 0);
    cudaFree(d_offsets), cudaFree(d_columns), cudaFree(d_rows), cudaFree(d_order), cudaFree(work_space);
    cusparseDestroyMatDescr(described);
    cusparseDestroyMatDescr(from_one);
    cusolverSpDestroy(handle);
    printf(failures ? "FAIL\n" : "PASS\n");
    return failures != 0;
}
