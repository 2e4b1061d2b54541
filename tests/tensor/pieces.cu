// One call of each definition but the last, and two of the one that the launcher chooses for.
#include "pieces.tc.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
template <typename T> static T *sent(const std::vector<T> &host)
{
    T *made;
    cudaMalloc((void **)&made, host.size() * sizeof(T));
    cudaMemcpy(made, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return made;
}
template <typename T> static std::vector<T> fetched(const T *device, size_t count)
{
    std::vector<T> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
}
static int wrong = 0;
static void expect(const char *what, double found, double wanted, double bound)
{
    if (std::fabs(found - wanted) > bound)
        wrong += printf("%s: %g, not %g\n", what, found, wanted);
}
static float at(size_t i) { return float(i * 2654435761u % 1000) / 1000 - 0.4f; }
static void columns(int N, int M)
{
    std::vector<float> a(size_t(N) * M), s(M, 1.5f);
    std::vector<double> sums(M, 1.5), absolute(M, 0);
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = at(i);
        sums[i % M] += a[i];
        absolute[i % M] += std::fabs(a[i]);
    }
    float *A = sent(a), *S = sent(s);
    pieces_columns(0, N, M, A, S);
    const std::vector<float> found = fetched(S, M);
    for (int j = 0; j < M; ++j)
        expect("columns", found[j], sums[j], 1000 * 6e-8 * absolute[j]);
}
static void tiles()
{
    const int M = 40, N = 36, K = 8200;
    std::vector<float> a(size_t(M) * K), b(size_t(K) * N);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = at(i);
    for (size_t i = 0; i < b.size(); ++i)
        b[i] = at(i + 5);
    float *A = sent(a), *B = sent(b), *C = sent(std::vector<float>(M * N));
    pieces_of_tiles(0, A, B, C);
    const std::vector<float> found = fetched(C, M * N);
    for (int m = 0; m < M; ++m)
        for (int n = 0; n < N; ++n) {
            double sum = 0, absolute = 0;
            for (int k = 0; k < K; ++k) {
                const double term = double(a[m * K + k]) * b[k * N + n];
                sum += term, absolute += std::fabs(term);
            }
            expect("tiles", found[m * N + n], sum, 600 * 6e-8 * absolute);
        }
}
static void triangle()
{
    const int L = 9, M = 37, N = 35, K = 22;
    std::vector<float> a(L * M * K), w(K * N);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = at(i);
    for (size_t i = 0; i < w.size(); ++i)
        w[i] = at(i + 3);
    float *A = sent(a), *W = sent(w), *C = sent(std::vector<float>(L * M * N, 7));
    pieces_triangle(0, L, M, K, N, A, W, C);
    const std::vector<float> found = fetched(C, L * M * N);
    for (int i = 0; i < L * M * N; ++i) {
        const int b = i / N / M, m = i / N % M, n = i % N;
        double sum = 0, absolute = 0;
        for (int k = b; k < std::min(3 * b + 2, K); ++k) {
            const double term = double(a[(b * M + m) * K + k]) * w[k * N + n];
            sum += term, absolute += std::fabs(term);
        }
        expect("triangle", found[i], sum, 30 * 6e-8 * absolute);
    }
}
int main()
{
    tiles();
    triangle();
    std::vector<float> a(262144), two(1);
    double sum = 0, largest = -1e30, absolute = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = at(i);
        sum += a[i];
        absolute += std::fabs(a[i]);
        largest = std::fmax(largest, a[i] * 2);
    }
    float *A = sent(a), *s = sent(two), *l = sent(two);
    pieces_whole(0, A, s, l);
    expect("whole", fetched(s, 1)[0], sum, 100 * 6e-8 * absolute);
    expect("largest", fetched(l, 1)[0], largest, 0);
    pieces_over_time(0, A, s);
    double steps = 0.5;
    for (int i = 0; i < 3 * 65536; ++i)
        steps += a[i];
    expect("over time", fetched(s, 1)[0], steps, 100 * 6e-8 * absolute);
    columns(10000, 3);
    columns(100, 3);
    const int K = 16384;
    std::vector<__half> x(4 * K), y(K * 3), z(12);
    for (int i = 0; i < 4 * K; ++i)
        x[i] = __float2half(at(i));
    for (int i = 0; i < K * 3; ++i)
        y[i] = __float2half(at(i + 7));
    __half *X = sent(x), *Y = sent(y), *Z = sent(z);
    pieces_product(0, X, Y, Z);
    const std::vector<__half> found = fetched(Z, 12);
    for (int m = 0; m < 4; ++m)
        for (int n = 0; n < 3; ++n) {
            double wanted = 0;
            for (int k = 0; k < K; ++k)
                wanted += double(__half2float(x[m * K + k])) * __half2float(y[k * 3 + n]);
            expect("product", __half2float(found[m * 3 + n]), wanted, std::fabs(wanted) / 1024 + 0.1);
        }
    printf(wrong ? "FAIL\n" : "PASS\n");
    return wrong != 0;
}
