// cuBLAS's functions of vectors and of matrices that are symmetric, Hermitian, triangular, banded or packed,
// real and complex, compared with sums written out.
//
// expect: 0 launches -> 0
// options: -O0
#include <cmath>
#include <complex>
#include <cstdio>
#include <cublas_api.h>
#include <cublas_v2.h>
#include <vector>

typedef std::complex<double> W;
static int failures = 0, calls = 0;
static cublasHandle_t handle;

static W wide(float x) { return x; }
static W wide(double x) { return x; }
static W wide(cuComplex x) { return W(x.x, x.y); }
static W wide(cuDoubleComplex x) { return W(x.x, x.y); }
static void narrow(W w, float &x) { x = (float)w.real(); }
static void narrow(W w, double &x) { x = w.real(); }
static void narrow(W w, cuComplex &x) { x = make_cuComplex((float)w.real(), (float)w.imag()); }
static void narrow(W w, cuDoubleComplex &x) { x = make_cuDoubleComplex(w.real(), w.imag()); }
template <class T> static T as(W w) {
    T x;
    narrow(w, x);
    return x;
}
template <class T> constexpr bool is_complex() { return false; }
template <> constexpr bool is_complex<cuComplex>() { return true; }
template <> constexpr bool is_complex<cuDoubleComplex>() { return true; }

// What is common to all types is no template and stays a function, for the compiler's time.
#define APART __attribute__((noinline))

// Numbers on the device and here.
struct Values {
    std::vector<W> here;
    double tolerance;
    W operator[](int i) const { return here[i]; }
    APART virtual std::vector<W> now() const = 0;
    APART void fill(int seed) {
        for (size_t i = 0; i < here.size(); i++) here[i] = W(std::sin(i * 1.7 + seed) + 0.2 * (i % 3), std::cos(i * 0.6 + seed));
    }
};
template <class T> struct Numbers : Values {
    T *there;
    APART explicit Numbers(int count, int seed = 1) {
        here.resize(count);
        tolerance = sizeof(T) == 4 || sizeof(T) == 8 && is_complex<T>() ? 2e-4 : 1e-11;
        fill(seed);
        cudaMalloc(&there, count * sizeof(T));
        send();
    }
    APART void send() {
        std::vector<T> narrowed(here.size());
        for (size_t i = 0; i < here.size(); i++) narrow(here[i], narrowed[i]), here[i] = wide(narrowed[i]);
        cudaMemcpy(there, narrowed.data(), here.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    APART std::vector<W> now() const override {
        std::vector<T> got(here.size());
        cudaMemcpy(got.data(), there, got.size() * sizeof(T), cudaMemcpyDeviceToHost);
        std::vector<W> out;
        for (T x : got) out.push_back(wide(x));
        return out;
    }
};

APART static void same(const char *what, cublasStatus_t status, const Values &got, const std::vector<W> &expected) {
    calls++;
    const std::vector<W> now = got.now();
    for (size_t i = 0; i < now.size(); i++)
        if (status || !(std::abs(now[i] - expected[i]) <= got.tolerance * (1 + std::abs(expected[i])))) {
            if (failures++ < 20)
                printf("%s: status %d, [%d] is %g %g, not %g %g\n", what, status, (int)i, now[i].real(), now[i].imag(),
                       expected[i].real(), expected[i].imag());
            return;
        }
}
APART static void close(const char *what, W got, W expected) {
    calls++;
    if (!(std::abs(got - expected) <= 2e-4 * (1 + std::abs(expected))) && failures++ < 20)
        printf("%s: %g %g, not %g %g\n", what, got.real(), got.imag(), expected.real(), expected.imag());
}
static std::vector<W> all(const Values &numbers) { return numbers.here; }

struct Dense {
    int rows, columns;
    std::vector<W> of;
    Dense(int rows, int columns) : rows(rows), columns(columns), of(rows * columns) {}
    W &operator()(int i, int j) { return of[i + j * rows]; }
    W operator()(int i, int j) const { return of[i + j * rows]; }
    APART Dense under(int operation) const {
        if (!operation) return *this;
        Dense turned(columns, rows);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) turned(j, i) = operation == 2 ? std::conj((*this)(i, j)) : (*this)(i, j);
        return turned;
    }
};
APART static Dense operator*(const Dense &a, const Dense &b) {
    Dense c(a.rows, b.columns);
    for (int i = 0; i < a.rows; i++)
        for (int j = 0; j < b.columns; j++)
            for (int k = 0; k < a.columns; k++) c(i, j) += a(i, k) * b(k, j);
    return c;
}
APART static Dense whole(const Values &a, int rows, int columns, int leading) {
    Dense d(rows, columns);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) d(i, j) = a[i + j * leading];
    return d;
}

const int N = 6, L = 8, K = 2, LB = 4;
enum Form { FULL, BAND, PACKED };
static int place(Form form, int upper, int i, int j) {
    if (form == FULL) return i + j * L;
    if (form == BAND) return (upper ? K + i - j : i - j) + j * LB;
    return upper ? i + j * (j + 1) / 2 : i + j * (2 * N - j - 1) / 2;
}
static bool is_stored(Form form, int upper, int i, int j) {
    return (upper ? i <= j : i >= j) && (form != BAND || std::abs(i - j) <= K);
}
// Kind 0: triangular, 1: with ones on the diagonal, 2: symmetric, 3: Hermitian.
APART static Dense formed(const Values &a, Form form, int upper, int kind) {
    Dense d(N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (is_stored(form, upper, i, j)) {
                W value = a[place(form, upper, i, j)];
                if (i == j && kind == 3) value = value.real();
                if (i == j && kind == 1) value = 1;
                d(i, j) = value;
                if (kind > 1 && i != j) d(j, i) = kind == 3 ? std::conj(value) : value;
            }
    return d;
}
static int size_of(Form form) { return form == FULL ? L * N : form == BAND ? LB * N : N * (N + 1) / 2; }

// y = alpha * A * x + beta * y with increments of 2 and -1.
APART static std::vector<W> product(const Dense &a, const Values &x, const Values &y, W alpha, W beta) {
    std::vector<W> out = all(y);
    for (int i = 0; i < a.rows; i++) {
        W sum = 0;
        for (int j = 0; j < a.columns; j++) sum += a(i, j) * x[2 * j];
        out[a.rows - 1 - i] = alpha * sum + beta * out[a.rows - 1 - i];
    }
    return out;
}

static const W ALPHA(1.5, -0.5), BETA(0.25, 0.75);
template <class T> static W real_if(W w) { return is_complex<T>() ? w : w.real(); }

typedef cublasStatus_t Status;
template <class T>
static void symmetric(const char *what, Form form, int kind, Status (*multiply)(int, T, T *, T *, T, T *),
                      Status (*raise)(int, W, T *, T *), Status (*raise_by_two)(int, T, T *, T *, T *)) {
    const W alpha = real_if<T>(ALPHA), beta = real_if<T>(BETA);
    for (int upper = 0; upper < 2; upper++) {
        Numbers<T> a(size_of(form)), x(2 * N, 3), y(N, 5);
        same(what, multiply(upper, as<T>(alpha), a.there, x.there, as<T>(beta), y.there), y,
             product(formed(a, form, upper, kind), x, y, alpha, beta));
        if (form == BAND) continue;
        const W factor = kind == 3 ? W(alpha.real()) : alpha;
        std::vector<W> once = all(a), twice = once;
        auto turned = [&](W w) { return kind == 3 ? std::conj(w) : w; };
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (is_stored(form, upper, i, j)) {
                    const int at = place(form, upper, i, j);
                    const W xi = x[2 * i], xj = x[2 * j], yi = y[N - 1 - i], yj = y[N - 1 - j];
                    once[at] += factor * xi * turned(xj);
                    twice[at] += alpha * xi * turned(yj) + turned(alpha) * yi * turned(xj);
                    if (kind == 3 && i == j) once[at] = once[at].real(), twice[at] = twice[at].real();
                }
        Numbers<T> b = a;
        cudaMalloc(&b.there, size_of(form) * sizeof(T));
        b.send();
        same(what, raise(upper, factor, x.there, a.there), a, once);
        y.send();
        same(what, raise_by_two(upper, as<T>(alpha), x.there, y.there, b.there), b, twice);
    }
}

template <class T>
static void triangular(const char *what, Form form, Status (*multiply)(int, int, int, T *, T *), Status (*solve)(int, int, int, T *, T *)) {
    for (int upper = 0; upper < 2; upper++)
        for (int operation = 0; operation < 3; operation++)
            for (int ones = 0; ones < 2; ones++) {
                Numbers<T> a(size_of(form)), x(2 * N, 3);
                for (int i = 0; i < N; i++) a.here[place(form, upper, i, i)] += W(4, 1);
                a.send();
                const std::vector<W> before = all(x);
                const Dense d = formed(a, form, upper, ones).under(operation);
                std::vector<W> expected = before;
                for (int i = 0; i < N; i++) {
                    expected[2 * i] = 0;
                    for (int j = 0; j < N; j++) expected[2 * i] += d(i, j) * before[2 * j];
                }
                same(what, multiply(upper, operation, ones, a.there, x.there), x, expected);
                same(what, solve(upper, operation, ones, a.there, x.there), x, before);
            }
}

#define FILL(upper) ((cublasFillMode_t)(upper))
#define OP(operation) ((cublasOperation_t)(operation))
#define DIAG(ones) ((cublasDiagType_t)(ones))

// What all four types have.
#define LEVELS(P, T)                                                                                                    \
    static void levels_##P() {                                                                                         \
        symmetric<T>(#P "symv", FULL, 2,                                                                               \
            [](int u, T al, T *a, T *x, T be, T *y) { return cublas##P##symv(handle, FILL(u), N, &al, a, L, x, 2, &be, y, -1); }, \
            [](int u, W al, T *x, T *a) { T f = as<T>(al); return cublas##P##syr(handle, FILL(u), N, &f, x, 2, a, L); }, \
            [](int u, T al, T *x, T *y, T *a) { return cublas##P##syr2(handle, FILL(u), N, &al, x, 2, y, -1, a, L); }); \
        triangular<T>(#P "tr", FULL,                                                                                   \
            [](int u, int o, int d, T *a, T *x) { return cublas##P##trmv(handle, FILL(u), OP(o), DIAG(d), N, a, L, x, 2); }, \
            [](int u, int o, int d, T *a, T *x) { return cublas##P##trsv(handle, FILL(u), OP(o), DIAG(d), N, a, L, x, 2); }); \
        triangular<T>(#P "tb", BAND,                                                                                   \
            [](int u, int o, int d, T *a, T *x) { return cublas##P##tbmv(handle, FILL(u), OP(o), DIAG(d), N, K, a, LB, x, 2); }, \
            [](int u, int o, int d, T *a, T *x) { return cublas##P##tbsv(handle, FILL(u), OP(o), DIAG(d), N, K, a, LB, x, 2); }); \
        triangular<T>(#P "tp", PACKED,                                                                                 \
            [](int u, int o, int d, T *a, T *x) { return cublas##P##tpmv(handle, FILL(u), OP(o), DIAG(d), N, a, x, 2); }, \
            [](int u, int o, int d, T *a, T *x) { return cublas##P##tpsv(handle, FILL(u), OP(o), DIAG(d), N, a, x, 2); }); \
        band<T>([](int o, int m, int n, T al, T *a, T *x, T be, T *y) {                                                \
            return cublas##P##gbmv(handle, OP(o), m, n, 2, 1, &al, a, 5, x, 2, &be, y, -1); });                        \
        products<T, T>(false, #P "sy",                                                                                 \
            [](int s, int u, int m, int n, T al, T *a, T *b, T be, T *c) {                                             \
                return cublas##P##symm(handle, (cublasSideMode_t)s, FILL(u), m, n, &al, a, L, b, L, &be, c, L); },      \
            [](int u, int o, int n, int k, W al, T *a, W be, T *c) { T f = as<T>(al), g = as<T>(be);                    \
                return cublas##P##syrk(handle, FILL(u), OP(o), n, k, &f, a, L, &g, c, L); },                           \
            [](int u, int o, int n, int k, T al, T *a, T *b, T be, T *c) {                                             \
                return cublas##P##syr2k(handle, FILL(u), OP(o), n, k, &al, a, L, b, L, &be, c, L); },                  \
            [](int u, int o, int n, int k, T al, T *a, T *b, T be, T *c) {                                             \
                return cublas##P##syrkx(handle, FILL(u), OP(o), n, k, &al, a, L, b, L, &be, c, L); });                 \
        triangle_products<T>([](int s, int u, int o, int d, int m, int n, T al, T *a, T *b, T *c) {                    \
            return cublas##P##trmm(handle, (cublasSideMode_t)s, FILL(u), OP(o), DIAG(d), m, n, &al, a, L, b, L, c, L); }); \
    }

// Small forms of symmetric or Hermitian matrices.
#define SMALL(P, T, F, kind, banded, packed, raise, raise_by_two)                                                       \
    symmetric<T>(#P #banded, BAND, kind,                                                                               \
        [](int u, T al, T *a, T *x, T be, T *y) { return cublas##P##banded(handle, FILL(u), N, K, &al, a, LB, x, 2, &be, y, -1); }, \
        nullptr, nullptr);                                                                                             \
    symmetric<T>(#P #packed, PACKED, kind,                                                                             \
        [](int u, T al, T *a, T *x, T be, T *y) { return cublas##P##packed(handle, FILL(u), N, &al, a, x, 2, &be, y, -1); }, \
        [](int u, W al, T *x, T *a) { F f = as<F>(al); return cublas##P##raise(handle, FILL(u), N, &f, x, 2, a); },     \
        [](int u, T al, T *x, T *y, T *a) { return cublas##P##raise_by_two(handle, FILL(u), N, &al, x, 2, y, -1, a); })

template <class T> static void band(Status (*multiply)(int, int, int, T, T *, T *, T, T *)) {
    const W alpha = real_if<T>(ALPHA), beta = real_if<T>(BETA);
    for (int operation = 0; operation < 3; operation++) {
        const int m = 5, n = N;
        Numbers<T> a(5 * n), x(2 * N, 3), y(operation ? n : m, 5);
        Dense d(m, n);
        for (int j = 0; j < n; j++)
            for (int i = std::max(0, j - 1); i <= std::min(m - 1, j + 2); i++) d(i, j) = a[1 + i - j + 5 * j];
        same("gbmv", multiply(operation, m, n, as<T>(alpha), a.there, x.there, as<T>(beta), y.there), y,
             product(d.under(operation), x, y, alpha, beta));
    }
}

template <class T, class B>
static void products(bool adjoint, const char *what, Status (*multiply)(int, int, int, int, T, T *, T *, T, T *),
                     Status (*raise)(int, int, int, int, W, T *, W, T *),
                     Status (*raise_by_two)(int, int, int, int, T, T *, T *, B, T *),
                     Status (*raise_by_product)(int, int, int, int, T, T *, T *, B, T *)) {
    const int m = N, n = 5, k = 4, other = adjoint ? 2 : 1;
    const W alpha = real_if<T>(ALPHA), beta = real_if<T>(BETA), by_two = real_if<B>(BETA);
    for (int upper = 0; upper < 2; upper++) {
        for (int side = 0; side < 2; side++) {
            Numbers<T> a(L * N), b(L * N, 3), c(L * N, 5);
            const Dense d = formed(a, FULL, upper, adjoint ? 3 : 2), e = whole(b, side ? n : m, side ? m : n, L);
            const Dense sum = side ? e * d : d * e;
            std::vector<W> expected = all(c);
            for (int i = 0; i < sum.rows; i++)
                for (int j = 0; j < sum.columns; j++)
                    expected[i + j * L] = alpha * sum(i, j) + beta * expected[i + j * L];
            same(what, multiply(side, upper, sum.rows, sum.columns, as<T>(alpha), a.there, b.there, as<T>(beta), c.there), c, expected);
        }
        for (int operation : {0, other}) {
            Numbers<T> a(L * N), b(L * N, 3), c(L * N, 5), c2(L * N, 5), c3(L * N, 5);
            const Dense left = whole(a, operation ? k : N, operation ? N : k, L).under(operation);
            const Dense right = whole(b, operation ? k : N, operation ? N : k, L).under(operation);
            const Dense own = left * left.under(other), mixed = left * right.under(other), back = right * left.under(other);
            std::vector<W> once = all(c), twice = once, product = once;
            const W factor = adjoint ? W(alpha.real()) : alpha, second = adjoint ? W(BETA.real()) : beta;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    if (upper ? i <= j : i >= j) {
                        const int at = i + j * L;
                        once[at] = factor * own(i, j) + second * once[at];
                        twice[at] = alpha * mixed(i, j) + (adjoint ? std::conj(alpha) : alpha) * back(i, j) + by_two * twice[at];
                        product[at] = alpha * mixed(i, j) + by_two * product[at];
                        if (adjoint && i == j)
                            for (auto *list : {&once, &twice, &product}) (*list)[at] = (*list)[at].real();
                    }
            same(what, raise(upper, operation, N, k, factor, a.there, second, c.there), c, once);
            same(what, raise_by_two(upper, operation, N, k, as<T>(alpha), a.there, b.there, as<B>(by_two), c2.there), c2, twice);
            same(what, raise_by_product(upper, operation, N, k, as<T>(alpha), a.there, b.there, as<B>(by_two), c3.there), c3, product);
        }
    }
}

template <class T> static void triangle_products(Status (*multiply)(int, int, int, int, int, int, T, T *, T *, T *)) {
    const W alpha = real_if<T>(ALPHA);
    for (int choice = 0; choice < 24; choice++) {
        const int side = choice % 2, upper = choice / 2 % 2, ones = choice / 4 % 2, operation = choice / 8, n = 5;
        Numbers<T> a(L * N), b(L * N, 3), c(L * N, 5);
        const Dense d = formed(a, FULL, upper, ones).under(operation), e = whole(b, side ? n : N, side ? N : n, L);
        const Dense result = side ? e * d : d * e;
        std::vector<W> expected = all(c);
        for (int i = 0; i < result.rows; i++)
            for (int j = 0; j < result.columns; j++) expected[i + j * L] = alpha * result(i, j);
        same("trmm", multiply(side, upper, operation, ones, result.rows, result.columns, as<T>(alpha), a.there, b.there, c.there), c, expected);
        // In place of the second matrix.
        std::vector<W> there = all(b);
        for (int i = 0; i < result.rows; i++)
            for (int j = 0; j < result.columns; j++) there[i + j * L] = alpha * result(i, j);
        same("trmm", multiply(side, upper, operation, ones, result.rows, result.columns, as<T>(alpha), a.there, b.there, b.there), b, there);
    }
}

// The other two types are made of the same code.
LEVELS(S, float)
LEVELS(Z, cuDoubleComplex)

#define COMPLEX(P, T, R, RP, low, half)                                                                                \
    static void complex_##P() {                                                                                        \
        SMALL(P, T, R, 3, hbmv, hpmv, hpr, hpr2);                                                                      \
        symmetric<T>(#P "hemv", FULL, 3,                                                                               \
            [](int u, T al, T *a, T *x, T be, T *y) { return cublas##P##hemv(handle, FILL(u), N, &al, a, L, x, 2, &be, y, -1); }, \
            [](int u, W al, T *x, T *a) { R f = as<R>(al); return cublas##P##her(handle, FILL(u), N, &f, x, 2, a, L); }, \
            [](int u, T al, T *x, T *y, T *a) { return cublas##P##her2(handle, FILL(u), N, &al, x, 2, y, -1, a, L); }); \
        products<T, R>(true, #P "he",                                                                                  \
            [](int s, int u, int m, int n, T al, T *a, T *b, T be, T *c) {                                             \
                return cublas##P##hemm(handle, (cublasSideMode_t)s, FILL(u), m, n, &al, a, L, b, L, &be, c, L); },      \
            [](int u, int o, int n, int k, W al, T *a, W be, T *c) { R f = as<R>(al), g = as<R>(be);                    \
                return cublas##P##herk(handle, FILL(u), OP(o), n, k, &f, a, L, &g, c, L); },                           \
            [](int u, int o, int n, int k, T al, T *a, T *b, R be, T *c) {                                             \
                return cublas##P##her2k(handle, FILL(u), OP(o), n, k, &al, a, L, b, L, &be, c, L); },                  \
            [](int u, int o, int n, int k, T al, T *a, T *b, R be, T *c) {                                             \
                return cublas##P##herkx(handle, FILL(u), OP(o), n, k, &al, a, L, b, L, &be, c, L); });                 \
        /* Vectors. */                                                                                                 \
        Numbers<T> x(2 * N, 3), y(N, 5), z(2 * N, 3);                                                                  \
        T al = as<T>(ALPHA), dot;                                                                                      \
        R norm, half_factor = 2;                                                                                       \
        int most, least;                                                                                               \
        W plain = 0, turned = 0;                                                                                       \
        double squares = 0, sum = 0;                                                                                   \
        std::vector<W> added = all(y), scaled = all(z), copied = all(y);                                               \
        int best = 0, worst = 0;                                                                                       \
        auto one = [&](int i) { return std::abs(x[2 * i].real()) + std::abs(x[2 * i].imag()); };                       \
        for (int i = 0; i < N; i++) {                                                                                  \
            plain += x[2 * i] * y[N - 1 - i], turned += std::conj(x[2 * i]) * y[N - 1 - i];                            \
            squares += std::norm(x[2 * i]), sum += one(i);                                                             \
            added[N - 1 - i] += ALPHA * x[2 * i], scaled[2 * i] *= ALPHA * 2.0, copied[N - 1 - i] = x[2 * i];          \
            if (one(i) > one(best)) best = i;                                                                          \
            if (one(i) < one(worst)) worst = i;                                                                        \
        }                                                                                                              \
        close(#P "dotu", (cublas##P##dotu(handle, N, x.there, 2, y.there, -1, &dot), wide(dot)), plain);                     \
        close(#P "dotc", (cublas##P##dotc(handle, N, x.there, 2, y.there, -1, &dot), wide(dot)), turned);                    \
        close(#P "nrm2", (cublas##RP##low##nrm2(handle, N, x.there, 2, &norm), norm), std::sqrt(squares));             \
        close(#P "asum", (cublas##RP##low##asum(handle, N, x.there, 2, &norm), norm), sum);                            \
        cublasI##low##amax(handle, N, x.there, 2, &most), cublasI##low##amin(handle, N, x.there, 2, &least);            \
        close(#P "amax", (double)most, best + 1), close(#P "amin", (double)least, worst + 1);                          \
        same(#P "axpy", cublas##P##axpy(handle, N, &al, x.there, 2, y.there, -1), y, added);                           \
        cublas##P##scal(handle, N, &al, z.there, 2);                                                                   \
        same(#P "scal", cublas##P##half##scal(handle, N, &half_factor, z.there, 2), z, scaled);                        \
        same(#P "copy", cublas##P##copy(handle, N, x.there, 2, y.there, -1), y, copied);                               \
        /* Matrices. */                                                                                                \
        for (int o = 0; o < 9; o++) {                                                                                  \
            const int p = o / 3, q = o % 3, m = 5, n = 4, k = 3;                                                       \
            Numbers<T> a(L * N), b(L * N, 3), c(L * N, 5), c3(L * N, 5), cs(2 * L * N, 5), g(L * N, 7), v(2 * N, 3), w(q ? m : n, 5); \
            const Dense d = whole(a, p ? k : m, p ? m : k, L).under(p), e = whole(b, q ? n : k, q ? k : n, L).under(q), f = d * e; \
            const Dense s = whole(a, p ? n : m, p ? m : n, L).under(p), t = whole(b, q ? n : m, q ? m : n, L).under(q); \
            std::vector<W> expected = all(c), strided = all(cs), added = all(g);                                       \
            for (int i = 0; i < m; i++)                                                                                \
                for (int j = 0; j < n; j++) {                                                                          \
                    expected[i + j * L] = ALPHA * f(i, j) + BETA * expected[i + j * L];                                \
                    strided[i + j * L] = ALPHA * f(i, j) + BETA * strided[i + j * L];                                  \
                    strided[i + j * L + L * N] = ALPHA * f(i, j) + BETA * strided[i + j * L + L * N];                  \
                    added[i + j * L] = ALPHA * s(i, j) + BETA * t(i, j);                                               \
                }                                                                                                      \
            T be = as<T>(BETA);                                                                                        \
            same(#P "gemm", cublas##P##gemm(handle, OP(p), OP(q), m, n, k, &al, a.there, L, b.there, L, &be, c.there, L), c, expected); \
            same(#P "gemm3m", cublas##P##gemm3m(handle, OP(p), OP(q), m, n, k, &al, a.there, L, b.there, L, &be, c3.there, L), c3, expected); \
            same(#P "gemmStridedBatched", cublas##P##gemmStridedBatched(handle, OP(p), OP(q), m, n, k, &al, a.there, L, 0, b.there, L, 0, &be, \
                                                                       cs.there, L, L * N, 2), cs, strided);           \
            same(#P "geam", cublas##P##geam(handle, OP(p), OP(q), m, n, &al, a.there, L, &be, b.there, L, g.there, L), g, added); \
            same(#P "gemv", cublas##P##gemv(handle, OP(q), q ? n : n, q ? m : m, &al, b.there, L, v.there, 2, &be, w.there, -1), w, \
                 product(whole(b, n, m, L).under(q), v, w, ALPHA, BETA));                                              \
        }                                                                                                              \
        for (int adjoint = 0; adjoint < 2; adjoint++) {                                                                \
            Numbers<T> a(L * N), v(2 * N, 3), w(N, 5);                                                                 \
            std::vector<W> raised = all(a);                                                                            \
            for (int i = 0; i < N; i++)                                                                                \
                for (int j = 0; j < N; j++)                                                                            \
                    raised[i + j * L] += ALPHA * v[2 * i] * (adjoint ? std::conj(w[N - 1 - j]) : w[N - 1 - j]);        \
            same(#P "ger", (adjoint ? cublas##P##gerc : cublas##P##geru)(handle, N, N, &al, v.there, 2, w.there, -1, a.there, L), a, raised); \
        }                                                                                                              \
        /* Rotations. */                                                                                               \
        T first = as<T>(W(3, 1)), second = as<T>(W(-2, 0.5)), sine;                                                    \
        const W before = wide(first), other = wide(second);                                                            \
        R cosine;                                                                                                      \
        cublas##P##rotg(handle, &first, &second, &cosine, &sine);                                                      \
        close(#P "rotg", wide(first), (double)cosine * before + wide(sine) * other);                                         \
        close(#P "rotg", (double)cosine * other - std::conj(wide(sine)) * before, 0);                           \
        rotated<T>(cosine, wide(sine), [&](T *x, T *y) { return cublas##P##rot(handle, N, x, 2, y, -1, &cosine, &sine); }); \
        R real_sine = (R)0.6, real_cosine = (R)0.8;                                                                    \
        rotated<T>(real_cosine, real_sine, [&](T *x, T *y) { return cublas##P##half##rot(handle, N, x, 2, y, -1, &real_cosine, &real_sine); }); \
    }

template <class T, class ROT> APART static void rotated(double cosine, W sine, ROT rotate) {
    Numbers<T> x(2 * N, 3), y(N, 5);
    std::vector<W> left = all(x), right = all(y);
    for (int i = 0; i < N; i++) {
        const W a = x[2 * i], b = y[N - 1 - i];
        left[2 * i] = cosine * a + sine * b, right[N - 1 - i] = cosine * b - std::conj(sine) * a;
    }
    same("rot", rotate(x.there, y.there), x, left);
    same("rot", CUBLAS_STATUS_SUCCESS, y, right);
}

COMPLEX(Z, cuDoubleComplex, double, D, z, d)

#define REAL(P, T)                                                                                                     \
    static void real_##P() {                                                                                           \
        SMALL(P, T, T, 2, sbmv, spmv, spr, spr2);                                                                      \
        for (T b : {T(4), T(-2), T(0)}) {                                                                              \
            T first = 3, second = b, cosine, sine;                                                                     \
            cublas##P##rotg(handle, &first, &second, &cosine, &sine);                                                  \
            close(#P "rotg", first, cosine * 3 + sine * b);                                                            \
            close(#P "rotg", cosine * b - sine * 3, 0);                                                                \
            close(#P "rotg", cosine * cosine + sine * sine, 1);                                                        \
            const T of = second;                                                                                       \
            close(#P "rotg", of == 1 ? T(0) : std::abs(of) < 1 ? std::sqrt(1 - of * of) : 1 / of, std::abs(of) < 1 ? std::abs(cosine) : cosine); \
            rotated<T>(cosine, sine, [&](T *x, T *y) { return cublas##P##rot(handle, N, x, 2, y, -1, &cosine, &sine); }); \
        }                                                                                                              \
        for (T d : {T(2), T(0.5), T(1e-9), T(3e8), T(0), T(-1)}) {                                                     \
            const T d2 = 3, x1 = 2, y1 = T(1.5);                                                                       \
            T a = d, b = d2, c = x1, matrix[5] = {9, 9, 9, 9, 9};                                                      \
            cublas##P##rotmg(handle, &a, &b, &c, &y1, matrix);                                                         \
            const T flag = matrix[0];                                                                                  \
            const T h11 = flag == 0 ? 1 : matrix[1], h21 = flag > 0 ? -1 : matrix[2];                                  \
            const T h12 = flag > 0 ? 1 : matrix[3], h22 = flag == 0 ? 1 : matrix[4];                                   \
            close(#P "rotmg", h21 * x1 + h22 * y1, 0);                                                                 \
            close(#P "rotmg", h11 * x1 + h12 * y1, d < 0 ? 0 : c);                                                     \
            /* What is turned stays as long. */                                                                        \
            if (d >= 0) close(#P "rotmg", T((double)a * c * c / ((double)d * x1 * x1 + d2 * y1 * y1)), 1);             \
            Numbers<T> x(2 * N, 3), y(N, 5);                                                                           \
            std::vector<W> left = all(x), right = all(y);                                                              \
            for (int i = 0; i < N; i++) {                                                                              \
                const W p = x[2 * i], q = y[N - 1 - i];                                                                \
                left[2 * i] = (double)h11 * p + (double)h12 * q, right[N - 1 - i] = (double)h21 * p + (double)h22 * q; \
            }                                                                                                          \
            same("rotm", cublas##P##rotm(handle, N, x.there, 2, y.there, -1, matrix), x, left);                        \
            same("rotm", CUBLAS_STATUS_SUCCESS, y, right);                                                             \
        }                                                                                                              \
    }
REAL(S, float)

// They are there.
static void *const others[] = {
    (void *)cublasDrot, (void *)cublasDrotg, (void *)cublasDrotm, (void *)cublasDrotmg, (void *)cublasDgbmv,
    (void *)cublasDsymv, (void *)cublasDsyr, (void *)cublasDsyr2, (void *)cublasDsbmv, (void *)cublasDspmv,
    (void *)cublasDspr, (void *)cublasDspr2, (void *)cublasDtrmv, (void *)cublasDtbmv, (void *)cublasDtpmv,
    (void *)cublasDtrsv, (void *)cublasDtbsv, (void *)cublasDtpsv, (void *)cublasDsymm, (void *)cublasDsyrk,
    (void *)cublasDsyr2k, (void *)cublasDsyrkx, (void *)cublasDtrmm, (void *)cublasCaxpy, (void *)cublasCscal,
    (void *)cublasCsscal, (void *)cublasCcopy, (void *)cublasCswap, (void *)cublasCdotu, (void *)cublasCdotc,
    (void *)cublasScnrm2, (void *)cublasScasum, (void *)cublasIcamax, (void *)cublasIcamin, (void *)cublasCgemv,
    (void *)cublasCgeru, (void *)cublasCgerc, (void *)cublasCgemm, (void *)cublasCgemm3m,
    (void *)cublasCgemmStridedBatched, (void *)cublasCgemmBatched, (void *)cublasCgeam, (void *)cublasCrot,
    (void *)cublasCsrot, (void *)cublasCrotg, (void *)cublasCgbmv, (void *)cublasCsymv, (void *)cublasCsyr,
    (void *)cublasCsyr2, (void *)cublasChemv, (void *)cublasCher, (void *)cublasCher2, (void *)cublasChbmv,
    (void *)cublasChpmv, (void *)cublasChpr, (void *)cublasChpr2, (void *)cublasCtrmv, (void *)cublasCtbmv,
    (void *)cublasCtpmv, (void *)cublasCtrsv, (void *)cublasCtbsv, (void *)cublasCtpsv, (void *)cublasCsymm,
    (void *)cublasCsyrk, (void *)cublasCsyr2k, (void *)cublasCsyrkx, (void *)cublasChemm, (void *)cublasCherk,
    (void *)cublasCher2k, (void *)cublasCherkx, (void *)cublasCtrmm, (void *)cublasDznrm2, (void *)cublasDzasum,
};

int main() {
    for (void *other : others) failures += !other;
    cublasCreate(&handle);
    levels_S(), levels_Z(), complex_Z(), real_S();
    // A band without room, a triangle that is neither, memory of the host.
    float one = 1, some[4] = {};
    failures += cublasSsbmv(handle, CUBLAS_FILL_MODE_LOWER, 2, 2, &one, some, 2, some, 1, &one, some, 1) != CUBLAS_STATUS_INVALID_VALUE;
    failures += cublasSsymv(handle, CUBLAS_FILL_MODE_FULL, 0, &one, some, 1, some, 1, &one, some, 1) != CUBLAS_STATUS_INVALID_VALUE;
    failures += cublasStrmv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 0, some, 1, some, 1) != CUBLAS_STATUS_SUCCESS;
    cublasDestroy(handle);
    printf("%s: %d results\n", failures ? "FAIL" : "PASS", calls);
    return failures != 0;
}
