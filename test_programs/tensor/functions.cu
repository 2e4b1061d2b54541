// CUDA's mathematics in tensor definitions, against the host in double precision.
#include "functions.tc.h"
#include "check.h"
#include <algorithm>

const int N = 16, functions = 82;
const double pi = 3.14159265358979323846;

static double normal(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// The next function against a value of the host.
#define CHECK(name, value) \
    check(name, *next++, [](double a, double b, double c, double d, int n) { return static_cast<double>(value); })

// What all functions make of some numbers, in one of the types.
template <typename T> struct Check {
    Tensor<T> A{N, 1}, B{N, 2}, C{N, 3}, D{N, 4};
    Tensor<int> I = Tensor<int>::indices(N, 3, 5);
    std::vector<Tensor<T>> o;
    Tensor<T> *next;
    double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-11;

    Check()
    {
        for (int i = 0; i < functions; ++i)
            o.emplace_back(N);
        // Functions of one number are defined between 0 and 1, but for acosh.
        for (double &a : A.host)
            a = (a + 1.1) / 2.3;
        A.send();
        next = o.data();
    }

    template <typename Expected> void check(const char *name, Tensor<T> &made, Expected expected)
    {
        std::vector<T> values(N);
        cudaMemcpy(values.data(), made.device, N * sizeof(T), cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; ++i) {
            const double found = values[i], wanted = expected(A[i], B[i], C[i], D[i], static_cast<int>(I[i]));
            const bool same = std::isnan(wanted) ? std::isnan(found) : std::fabs(found - wanted) <= tolerance * (1 + std::fabs(wanted));
            if (!same && ++failures < 20)
                std::printf("%s[%d] of %g is %.9g and should be %.9g\n", name, i, A[i], found, wanted);
        }
    }

    template <typename Function> void inverse(const char *name, Tensor<T> &made, Function function)
    {
        std::vector<T> values(N);
        cudaMemcpy(values.data(), made.device, N * sizeof(T), cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; ++i)
            if (!(std::fabs(function(values[i]) - A[i]) <= tolerance) && ++failures < 20)
                std::printf("%s of %g is %.9g\n", name, A[i], static_cast<double>(values[i]));
    }

    void all()
    {
        CHECK("abs", std::fabs(a));
        CHECK("min", std::fmin(a, b));
        CHECK("max", std::fmax(a, b));
        CHECK("acos", std::acos(a));
        CHECK("acosh", std::acosh(a));
        CHECK("asin", std::asin(a));
        CHECK("asinh", std::asinh(a));
        CHECK("atan", std::atan(a));
        CHECK("atan2", std::atan2(a, b));
        CHECK("atanh", std::atanh(a));
        CHECK("cbrt", std::cbrt(a));
        CHECK("ceil", std::ceil(a));
        CHECK("copysign", std::copysign(a, b));
        CHECK("cos", std::cos(a));
        CHECK("cosh", std::cosh(a));
        CHECK("cospi", std::cos(pi * a));
        CHECK("cyl_bessel_i0", std::cyl_bessel_i(0, a));
        CHECK("cyl_bessel_i1", std::cyl_bessel_i(1, a));
        CHECK("erf", std::erf(a));
        CHECK("erfc", std::erfc(a));
        inverse("erfcinv", *next++, [](double x) { return std::erfc(x); });
        CHECK("erfcx", std::exp(a * a) * std::erfc(a));
        inverse("erfinv", *next++, [](double x) { return std::erf(x); });
        CHECK("exp", std::exp(a));
        CHECK("exp10", std::pow(10, a));
        CHECK("exp2", std::exp2(a));
        CHECK("expm1", std::expm1(a));
        CHECK("fabs", std::fabs(a));
        CHECK("fdim", std::fdim(a, b));
        CHECK("floor", std::floor(a));
        CHECK("fma", std::fma(a, b, c));
        CHECK("fmax", std::fmax(a, b));
        CHECK("fmin", std::fmin(a, b));
        CHECK("fmod", std::fmod(a, b));
        CHECK("hypot", std::hypot(a, b));
        CHECK("ilogb", std::ilogb(a));
        CHECK("isfinite", std::isfinite(a));
        CHECK("isinf", std::isinf(a));
        CHECK("isnan", std::isnan(a));
        CHECK("j0", ::j0(a));
        CHECK("j1", ::j1(a));
        CHECK("jn", ::jn(n, a));
        CHECK("ldexp", std::ldexp(a, n));
        CHECK("lgamma", std::lgamma(a));
        CHECK("llrint", std::llrint(a));
        CHECK("llround", std::llround(a));
        CHECK("log", std::log(a));
        CHECK("log10", std::log10(a));
        CHECK("log1p", std::log1p(a));
        CHECK("log2", std::log2(a));
        CHECK("logb", std::logb(a));
        CHECK("lrint", std::lrint(a));
        CHECK("lround", std::lround(a));
        CHECK("nearbyint", std::nearbyint(a));
        CHECK("nextafter", std::nextafter(a, b));
        CHECK("norm3d", std::sqrt(a * a + b * b + c * c));
        CHECK("norm4d", std::sqrt(a * a + b * b + c * c + d * d));
        CHECK("normcdf", std::erfc(-a / std::sqrt(2.0)) / 2);
        inverse("normcdfinv", *next++, [](double x) { return normal(x); });
        CHECK("pow", std::pow(a, b));
        CHECK("rcbrt", 1 / std::cbrt(a));
        CHECK("remainder", std::remainder(a, b));
        CHECK("rhypot", 1 / std::hypot(a, b));
        CHECK("rint", std::rint(a));
        CHECK("rnorm3d", 1 / std::sqrt(a * a + b * b + c * c));
        CHECK("rnorm4d", 1 / std::sqrt(a * a + b * b + c * c + d * d));
        CHECK("round", std::round(a));
        CHECK("rsqrt", 1 / std::sqrt(a));
        CHECK("scalbln", std::scalbln(a, n));
        CHECK("scalbn", std::scalbn(a, n));
        CHECK("signbit", std::signbit(a));
        CHECK("sin", std::sin(a));
        CHECK("sinh", std::sinh(a));
        CHECK("sinpi", std::sin(pi * a));
        CHECK("sqrt", std::sqrt(a));
        CHECK("tan", std::tan(a));
        CHECK("tanh", std::tanh(a));
        CHECK("tgamma", std::tgamma(a));
        CHECK("trunc", std::trunc(a));
        CHECK("y0", ::y0(a));
        CHECK("y1", ::y1(a));
        CHECK("yn", ::yn(n, a));
    }
};

int main()
{
    Check<float> single;
    {
        auto &o = single.o;
        all_float(0, N, single.A, single.B, single.C, single.D, single.I,
             o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9], o[10], o[11], o[12], o[13], o[14], o[15],
             o[16], o[17], o[18], o[19], o[20], o[21], o[22], o[23], o[24], o[25], o[26], o[27], o[28], o[29],
             o[30], o[31], o[32], o[33], o[34], o[35], o[36], o[37], o[38], o[39], o[40], o[41], o[42], o[43],
             o[44], o[45], o[46], o[47], o[48], o[49], o[50], o[51], o[52], o[53], o[54], o[55], o[56], o[57],
             o[58], o[59], o[60], o[61], o[62], o[63], o[64], o[65], o[66], o[67], o[68], o[69], o[70], o[71],
             o[72], o[73], o[74], o[75], o[76], o[77], o[78], o[79], o[80], o[81]);
    }
    single.all();
    Check<double> twice;
    {
        auto &o = twice.o;
        all_double(0, N, twice.A, twice.B, twice.C, twice.D, twice.I,
             o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9], o[10], o[11], o[12], o[13], o[14], o[15],
             o[16], o[17], o[18], o[19], o[20], o[21], o[22], o[23], o[24], o[25], o[26], o[27], o[28], o[29],
             o[30], o[31], o[32], o[33], o[34], o[35], o[36], o[37], o[38], o[39], o[40], o[41], o[42], o[43],
             o[44], o[45], o[46], o[47], o[48], o[49], o[50], o[51], o[52], o[53], o[54], o[55], o[56], o[57],
             o[58], o[59], o[60], o[61], o[62], o[63], o[64], o[65], o[66], o[67], o[68], o[69], o[70], o[71],
             o[72], o[73], o[74], o[75], o[76], o[77], o[78], o[79], o[80], o[81]);
    }
    twice.all();

    Tensor<int> A = Tensor<int>::indices(N, 19, 1), a(N), b(N);
    for (double &x : A.host)
        x -= 9;
    A.send();
    Tensor<unsigned> U = Tensor<unsigned>::indices(N, 50, 2), u(N), p(1);
    Tensor<long long> L = Tensor<long long>::indices(N, 40, 3), l(N), m(1);
    Tensor<unsigned char> B = Tensor<unsigned char>::indices(N, 250, 4);
    whole(0, N, A, U, L, B, a, u, l, b, m, p);
    a.compare("a", [&](size_t i) { return std::fmod(std::fmin(std::fabs(A[i]), 5), 3); });
    u.compare("u", [&](size_t i) { return std::floor(std::fmax(U[i], U[N - 1 - i]) / 2); });
    l.compare("l", [&](size_t i) { return std::fabs(L[i]) * 3e9; }, 0);
    b.compare("b", [&](size_t i) { return 2 * B[i]; });
    m.compare("m", [&](size_t) { return *std::min_element(L.host.begin(), L.host.end()); });
    p.compare("p", [&](size_t) {
        unsigned product = 1;
        for (double x : U.host)
            product *= static_cast<unsigned>(x) % 3 + 1;
        return static_cast<double>(product);
    }, 0);
    return verdict();
}
