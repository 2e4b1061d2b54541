// cuSOLVER's systems with sparse matrices, on the host and on the device, compared with solutions that were there first.
//
// expect: 2 launches -> 1
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cuda_runtime.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <vector>

static int failures = 0;

static void same(const char *what, long long got, long long expected) {
    if (got != expected && failures++ < 20) printf("%s: %lld instead of %lld\n", what, got, expected);
}
template <typename T>
static void close(const char *what, T got, T expected, double tolerance) {
    if (!(std::abs(got - expected) <= tolerance) && failures++ < 20)
        printf("%s: %g %g\n", what, (double)std::abs(got), (double)std::abs(expected));
}

__global__ void add(double *x, double by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}

template <typename T>
struct Rows {
    int size, base;
    std::vector<int> offsets, columns;
    std::vector<T> values;
    std::vector<T> times(const std::vector<T> &x) const {
        std::vector<T> out(size);
        for (int r = 0; r < size; r++)
            for (int e = offsets[r] - base; e < offsets[r + 1] - base; e++) out[r] += values[e] * x[columns[e] - base];
        return out;
    }
};

// A grid of so many by so many points: symmetric and positive definite, or with a wind and rows exchanged.
template <typename T>
static Rows<T> grid(int side, bool symmetric, int base, T slant) {
    int n = side * side;
    std::vector<std::vector<std::pair<int, T>>> rows(n);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            int i = y * side + x, row = symmetric ? i : (i + 1) % n;
            auto put = [&](int column, T value) { rows[row].push_back({column, value}); };
            if (y > 0) put(i - side, T(-1));
            if (x > 0) put(i - 1, symmetric ? T(-1) - slant : T(-3));
            put(i, symmetric ? T(5) : T(0.01));
            // Of a Hermitian matrix the other side is conjugate.
            if (x + 1 < side) put(i + 1, symmetric ? T(-1) + slant : T(2) * slant + T(1));
            if (y + 1 < side) put(i + side, T(-1));
        }
    Rows<T> out{n, base, {base}, {}, {}};
    for (auto &row : rows) {
        for (auto &element : row) {
            out.columns.push_back(element.first + base);
            out.values.push_back(element.second);
        }
        out.offsets.push_back((int)out.columns.size() + base);
    }
    return out;
}

template <typename T>
static T *on_device(const std::vector<T> &values) {
    T *data;
    cudaMalloc(&data, values.size() * sizeof(T));
    cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return data;
}

template <typename T>
static std::vector<T> some(int n) {
    std::vector<T> x(n);
    for (int i = 0; i < n; i++) x[i] = T(std::sin(i * 0.9) + i % 3);
    return x;
}

static cusparseMatDescr_t settings(int base) {
    cusparseMatDescr_t made;
    cusparseCreateMatDescr(&made);
    cusparseSetMatIndexBase(made, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO);
    return made;
}

template <typename T, typename C, typename R, typename F, typename G>
static void solve(const char *what, F on_host, G on_the_device, const Rows<T> &a, R tolerance, double close_to) {
    cusolverSpHandle_t handle;
    same("create", cusolverSpCreate(&handle), 0);
    cusparseMatDescr_t described = settings(a.base);
    std::vector<T> expected = some<T>(a.size), right = a.times(expected), x(a.size);
    int singular = 7, count = (int)a.values.size();
    for (int reorder : {0, 1}) {
        std::fill(x.begin(), x.end(), T(0));
        same(what, on_host(handle, a.size, count, described, (const C *)a.values.data(), a.offsets.data(), a.columns.data(),
                           (const C *)right.data(), tolerance, reorder, (C *)x.data(), &singular), 0);
        same(what, singular, -1);
        for (int i = 0; i < a.size; i++) close(what, x[i], expected[i], close_to);
        T *values = on_device(a.values), *b = on_device(right), *out = on_device(std::vector<T>(a.size));
        int *offsets = on_device(a.offsets), *columns = on_device(a.columns);
        same(what, on_the_device(handle, a.size, count, described, (C *)values, offsets, columns, (C *)b, tolerance, reorder, (C *)out, &singular), 0);
        cudaMemcpy(x.data(), out, a.size * sizeof(T), cudaMemcpyDeviceToHost);
        same(what, singular, -1);
        for (int i = 0; i < a.size; i++) close(what, x[i], expected[i], close_to);
        cudaFree(values), cudaFree(b), cudaFree(out), cudaFree(offsets), cudaFree(columns);
    }
    cusparseDestroyMatDescr(described);
    same("destroy", cusolverSpDestroy(handle), 0);
}

static void singular() {
    cusolverSpHandle_t handle;
    cusolverSpCreate(&handle);
    cusparseMatDescr_t described = settings(0);
    // The third column is the sum of the first two; the second matrix is not definite from its second row on.
    int offsets[] = {0, 2, 4, 7}, columns[] = {0, 2, 1, 2, 0, 1, 2};
    double values[] = {1, 1, 2, 2, 3, 4, 7}, b[] = {1, 2, 3}, x[] = {9, 9, 9};
    int at = 7;
    same("singular", cusolverSpDcsrlsvluHost(handle, 3, 7, described, values, offsets, columns, b, 1e-12, 0, x, &at), 0);
    same("its column", at, 2);
    same("singular", cusolverSpDcsrlsvqrHost(handle, 3, 7, described, values, offsets, columns, b, 1e-12, 0, x, &at), 0);
    same("its column", at, 2);
    int few[] = {0, 2, 4}, pairs[] = {0, 1, 0, 1};
    double indefinite[] = {1, 2, 2, 1};
    same("indefinite", cusolverSpDcsrlsvcholHost(handle, 2, 4, described, indefinite, few, pairs, b, 1e-12, 0, x, &at), 0);
    same("its column", at, 1);
    same("not indefinite to others", cusolverSpDcsrlsvluHost(handle, 2, 4, described, indefinite, few, pairs, b, 1e-12, 0, x, &at), 0);
    same("none", at, -1);
    close("x", x[0], 1.0, 1e-15);
    close("y", x[1], 0.0, 1e-15);
    cusparseDestroyMatDescr(described);
    cusolverSpDestroy(handle);
}

static void orders() {
    const int side = 9, n = side * side;
    Rows<double> a = grid<double>(side, true, 1, 0);
    cusolverSpHandle_t handle;
    cusolverSpCreate(&handle);
    cusparseMatDescr_t described = settings(1);
    int symmetric = 7, count = (int)a.values.size();
    same("symmetric", cusolverSpXcsrissymHost(handle, n, count, described, a.offsets.data(), a.offsets.data() + 1, a.columns.data(), &symmetric), 0);
    same("it is", symmetric, 1);
    Rows<double> other = grid<double>(side, false, 1, 0);
    same("symmetric", cusolverSpXcsrissymHost(handle, n, count, described, other.offsets.data(), other.offsets.data() + 1, other.columns.data(), &symmetric), 0);
    same("it is not", symmetric, 0);
    // The rows in a bad order: the bandwidth comes back.
    std::vector<int> shuffled(n), order(n), numbers(count), offsets = a.offsets, columns = a.columns;
    for (int i = 0; i < n; i++) shuffled[i] = i * 37 % n;
    for (int i = 0; i < count; i++) numbers[i] = i;
    size_t bytes = 0;
    same("buffer", cusolverSpXcsrperm_bufferSizeHost(handle, n, n, count, described, offsets.data(), columns.data(), shuffled.data(), shuffled.data(), &bytes), 0);
    std::vector<char> buffer(bytes);
    same("permute", cusolverSpXcsrpermHost(handle, n, n, count, described, offsets.data(), columns.data(), shuffled.data(), shuffled.data(), numbers.data(), buffer.data()), 0);
    for (int r = 0; r < n; r++) {
        same("length", offsets[r + 1] - offsets[r], a.offsets[shuffled[r] + 1] - a.offsets[shuffled[r]]);
        for (int e = offsets[r] - 1; e < offsets[r + 1] - 1; e++) {
            same("sorted", e == offsets[r] - 1 || columns[e - 1] < columns[e], 1);
            same("from the column", a.columns[numbers[e]] - 1, shuffled[columns[e] - 1]);
            same("from the row", numbers[e] >= a.offsets[shuffled[r]] - 1 && numbers[e] < a.offsets[shuffled[r] + 1] - 1, 1);
        }
    }
    auto bandwidth = [&] {
        int widest = 0;
        for (int r = 0; r < n; r++)
            for (int e = offsets[r] - 1; e < offsets[r + 1] - 1; e++) widest = std::max(widest, std::abs(columns[e] - 1 - r));
        return widest;
    };
    same("wide", bandwidth() > 2 * side, 1);
    same("order", cusolverSpXcsrsymrcmHost(handle, n, count, described, offsets.data(), columns.data(), order.data()), 0);
    same("permute", cusolverSpXcsrpermHost(handle, n, n, count, described, offsets.data(), columns.data(), order.data(), order.data(), numbers.data(), buffer.data()), 0);
    same("narrow", bandwidth() <= side + 2, 1);
    std::vector<int> twice(n, 0);
    same("no order", cusolverSpXcsrpermHost(handle, n, n, count, described, offsets.data(), columns.data(), twice.data(), order.data(), nullptr, buffer.data()), CUSOLVER_STATUS_INVALID_VALUE);
    same("another", cusolverSpXcsrsymamdHost(handle, n, count, described, offsets.data(), columns.data(), order.data()), 0);
    same("another", cusolverSpXcsrmetisndHost(handle, n, count, described, offsets.data(), columns.data(), nullptr, order.data()), 0);
    std::sort(order.begin(), order.end());
    for (int i = 0; i < n; i++) same("an order", order[i], i);
    cusparseDestroyMatDescr(described);
    cusolverSpDestroy(handle);
}

static void step_by_step() {
    Rows<double> a = grid<double>(12, true, 0, 0), wind = grid<double>(12, false, 0, 0.3);
    const int n = a.size, count = (int)a.values.size();
    std::vector<double> expected = some<double>(n), right = a.times(expected), x(n);
    cusolverSpHandle_t handle;
    cusolverSpCreate(&handle);
    cusparseMatDescr_t described = settings(0);
    csrcholInfoHost_t held;
    size_t kept, work;
    int at = 7;
    same("create", cusolverSpCreateCsrcholInfoHost(&held), 0);
    same("analysis", cusolverSpXcsrcholAnalysisHost(handle, n, count, described, a.offsets.data(), a.columns.data(), held), 0);
    same("no factors yet", cusolverSpDcsrcholSolveHost(handle, n, right.data(), x.data(), held, nullptr), CUSOLVER_STATUS_INVALID_VALUE);
    same("sizes", cusolverSpDcsrcholBufferInfoHost(handle, n, count, described, a.values.data(), a.offsets.data(), a.columns.data(), held, &kept, &work), 0);
    std::vector<char> buffer(work);
    same("factors", cusolverSpDcsrcholFactorHost(handle, n, count, described, a.values.data(), a.offsets.data(), a.columns.data(), held, buffer.data()), 0);
    same("pivots", cusolverSpDcsrcholZeroPivotHost(handle, held, 1e-14, &at), 0);
    same("all", at, -1);
    for (int turn = 0; turn < 2; turn++) {
        same("solve", cusolverSpDcsrcholSolveHost(handle, n, right.data(), x.data(), held, buffer.data()), 0);
        for (int i = 0; i < n; i++) close("x", x[i], expected[i] * (1 << turn), 1e-12);
        for (double &value : right) value *= 2;
    }
    same("destroy", cusolverSpDestroyCsrcholInfoHost(held), 0);

    csrqrInfo_t on_the_device;
    right = wind.times(expected);
    double *values = on_device(wind.values), *b = on_device(right), *out = on_device(std::vector<double>(n));
    int *offsets = on_device(wind.offsets), *columns = on_device(wind.columns), m = (int)wind.values.size();
    same("create", cusolverSpCreateCsrqrInfo(&on_the_device), 0);
    same("analysis", cusolverSpXcsrqrAnalysis(handle, n, n, m, described, offsets, columns, on_the_device), 0);
    same("not square", cusolverSpXcsrqrAnalysis(handle, n, n - 1, m, described, offsets, columns, on_the_device), CUSOLVER_STATUS_INVALID_VALUE);
    same("sizes", cusolverSpDcsrqrBufferInfo(handle, n, n, m, described, values, offsets, columns, on_the_device, &kept, &work), 0);
    char *room;
    cudaMalloc(&room, work);
    same("setup", cusolverSpDcsrqrSetup(handle, n, n, m, described, values, offsets, columns, 0.0, on_the_device), 0);
    same("factors", cusolverSpDcsrqrFactor(handle, n, n, m, nullptr, nullptr, on_the_device, room), 0);
    same("pivots", cusolverSpDcsrqrZeroPivot(handle, on_the_device, 1e-14, &at), 0);
    same("all", at, -1);
    same("solve", cusolverSpDcsrqrSolve(handle, n, n, b, out, on_the_device, room), 0);
    add<<<(n + 63) / 64, 64>>>(out, 1, n);
    add<<<(n + 63) / 64, 64>>>(out, 2, n);
    cudaMemcpy(x.data(), out, n * sizeof(double), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) close("with a wind", x[i], expected[i] + 3, 1e-9);
    // The same less a multiple of the identity.
    for (int i = 0; i < n; i++) right[i] -= 0.7 * expected[i];
    cudaMemcpy(b, right.data(), n * sizeof(double), cudaMemcpyHostToDevice);
    same("setup", cusolverSpDcsrqrSetup(handle, n, n, m, described, values, offsets, columns, 0.7, on_the_device), 0);
    same("factors", cusolverSpDcsrqrFactor(handle, n, n, m, b, out, on_the_device, room), 0);
    cudaMemcpy(x.data(), out, n * sizeof(double), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) close("shifted", x[i], expected[i], 1e-9);
    same("destroy", cusolverSpDestroyCsrqrInfo(on_the_device), 0);
    // Nobody says what is left in it.
    cudaMemset(room, 0, work);
    cudaFree(room);
    cudaFree(values), cudaFree(b), cudaFree(out), cudaFree(offsets), cudaFree(columns);
    cusparseDestroyMatDescr(described);
    cusolverSpDestroy(handle);
}

int main() {
    using Float = std::complex<float>;
    using Double = std::complex<double>;
    solve<float, float>("float, LU", cusolverSpScsrlsvluHost, cusolverSpScsrlsvqr, grid<float>(6, true, 0, 0.2f), 1e-6f, 1e-4);
    solve<double, double>("LU", cusolverSpDcsrlsvluHost, cusolverSpDcsrlsvqr, grid<double>(15, false, 1, 0.3), 1e-12, 1e-7);
    solve<double, double>("QR", cusolverSpDcsrlsvqrHost, cusolverSpDcsrlsvqr, grid<double>(20, false, 0, 0.3), 1e-12, 1e-5);
    solve<double, double>("Cholesky", cusolverSpDcsrlsvcholHost, cusolverSpDcsrlsvchol, grid<double>(30, true, 0, 0), 1e-12, 1e-12);
    solve<Float, cuComplex>("complex, LU", cusolverSpCcsrlsvluHost, cusolverSpCcsrlsvqr, grid<Float>(6, true, 0, Float(0.1f, 0.5f)), 1e-6f, 1e-4);
    solve<Double, cuDoubleComplex>("complex, Cholesky", cusolverSpZcsrlsvcholHost, cusolverSpZcsrlsvchol, grid<Double>(10, true, 1, Double(0, 0.5)), 1e-12, 1e-12);
    singular();
    orders();
    step_by_step();
    printf(failures ? "FAIL\n" : "PASS\n");
    return failures != 0;
}
