// Divisions of integers by zero, and of the least number by -1: a GPU goes on, with ones in all bits, or wraps around.
// Of a remainder by zero nvcc makes a difference where the quotient is there as well: then it is the dividend.
//
// expect: 2 launches -> 1
#include <climits>
#include <cstdio>

template <class Number> __device__ void both(Number *out, Number dividend, Number divisor) {
    out[0] = dividend / divisor;
    out[1] = dividend % divisor;
}

template <class Number> struct results {
    Number by_zero[2], least[2], plain[2];
};
struct everything {
    results<int> i;
    results<unsigned> u;
    results<long long> l;
    results<unsigned long long> ul;
    results<short> s;
    results<unsigned char> c;
};

template <class Number> __device__ void divide(results<Number> *out, Number zero, Number least) {
    both<Number>(out->by_zero, 17, zero);
    both<Number>(out->least, least, zero - 1);
    both<Number>(out->plain, 17, zero + 5);
}

__global__ void signed_numbers(everything *out, int zero) {
    divide<int>(&out->i, zero, INT_MIN);
    divide<long long>(&out->l, zero, LLONG_MIN);
    divide<short>(&out->s, zero, SHRT_MIN);
}

__global__ void unsigned_numbers(everything *out, int zero) {
    divide<unsigned>(&out->u, zero, 9);
    divide<unsigned long long>(&out->ul, zero, 9);
    divide<unsigned char>(&out->c, zero, 9);
}

static int wrong = 0;

template <class Number> static void check(const char *what, const results<Number> &got, Number least, Number by_one[2]) {
    const Number ones = static_cast<Number>(-1);
    bool right = got.by_zero[0] == ones && (got.by_zero[1] == ones || got.by_zero[1] == 17) && got.least[0] == by_one[0] && got.least[1] == by_one[1]
        && got.plain[0] == 3 && got.plain[1] == 2;
    if (!right) {
        wrong++;
        printf("%s: %lld %lld %lld %lld\n", what, (long long)got.by_zero[0], (long long)got.by_zero[1], (long long)got.least[0], (long long)got.least[1]);
    }
}

int main() {
    everything *out, host;
    cudaMalloc(&out, sizeof(everything));
    signed_numbers<<<1, 1>>>(out, 0);
    unsigned_numbers<<<1, 1>>>(out, 0);
    cudaMemcpy(&host, out, sizeof(everything), cudaMemcpyDeviceToHost);
    int i[] = {INT_MIN, 0};
    long long l[] = {LLONG_MIN, 0};
    short s[] = {SHRT_MIN, 0};
    unsigned u[] = {0, 9};
    unsigned long long ul[] = {0, 9};
    unsigned char c[] = {0, 9};
    check<int>("int", host.i, INT_MIN, i);
    check<long long>("long long", host.l, LLONG_MIN, l);
    check<short>("short", host.s, SHRT_MIN, s);
    check<unsigned>("unsigned", host.u, 9, u);
    check<unsigned long long>("unsigned long long", host.ul, 9, ul);
    check<unsigned char>("unsigned char", host.c, 9, c);
    printf("%s\n", wrong == 0 && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
    return wrong;
}
