// Divisions of integers by zero, and of the least number by -1: a GPU goes on, with ones in all bits, or wraps around.
// Of 64 bits a number that fits in 32 is divided with 32, unless it looks like a hash. Where LLVM sees that both numbers
// are extended ones, it divides the short ones, as nvcc does not. Of a remainder by zero LLVM and nvcc make a difference
// where the quotient is there as well: then it is the dividend. So remainders without quotients are not launched beside quotients.
//
// expect: 4 launches -> 3
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

__global__ void signed_numbers(everything *out, int zero, long long wide) {
    divide<int>(&out->i, zero, INT_MIN);
    divide<long long>(&out->l, wide, LLONG_MIN);
    divide<short>(&out->s, zero, SHRT_MIN);
}

__global__ void unsigned_numbers(everything *out, int zero) {
    divide<unsigned>(&out->u, zero, 9);
    divide<unsigned long long>(&out->ul, zero, 9);
    divide<unsigned char>(&out->c, zero, 9);
}

// Quotients, and remainders without one, by zero: of numbers that fit in 32 bits and of others.
__global__ void short_and_long(long long *out, int zero, const long long *numbers) {
    const long long a = numbers[threadIdx.x], divisor = zero + numbers[4];
    const unsigned long long b = a, hash = numbers[threadIdx.x] ^ numbers[5];
    out[threadIdx.x] = a / divisor;
    out[4 + threadIdx.x] = b / (unsigned long long)divisor;
    out[8 + threadIdx.x] = hash / (unsigned long long)divisor;
}
__global__ void remainders(long long *out, int zero, const long long *numbers) {
    const long long a = numbers[threadIdx.x], divisor = zero + numbers[4];
    out[threadIdx.x] = a % divisor;
    out[4 + threadIdx.x] = (unsigned long long)a % (unsigned long long)divisor;
}

static int wrong = 0;

template <class Number> static void check(const char *what, const results<Number> &got, Number least, Number by_one[2]) {
    const Number ones = static_cast<Number>(-1), short_ones = static_cast<Number>(0xffffffff);
    bool right = (got.by_zero[0] == ones || got.by_zero[0] == short_ones) && (got.by_zero[1] == ones || got.by_zero[1] == 17) && got.least[0] == by_one[0] && got.least[1] == by_one[1]
        && got.plain[0] == 3 && got.plain[1] == 2;
    if (!right) {
        wrong++;
        printf("%s: %lld %lld %lld %lld\n", what, (long long)got.by_zero[0], (long long)got.by_zero[1], (long long)got.least[0], (long long)got.least[1]);
    }
}

int main() {
    everything *out, host;
    cudaMalloc(&out, sizeof(everything));
    signed_numbers<<<1, 1>>>(out, 0, 0);
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
    const long long numbers[] = {17, -17, 1ll << 40, 0xffffffff, 0, 1}, half = 0xffffffff;
    const long long signs[] = {half, -1, -1, half}, no_signs[] = {half, -1, -1, half};
    long long *in, *results, found[20];
    cudaMalloc(&in, sizeof numbers);
    cudaMalloc(&results, sizeof found);
    cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    short_and_long<<<1, 4>>>(results, 0, in);
    cudaMemcpy(found, results, 12 * sizeof *found, cudaMemcpyDeviceToHost);
    remainders<<<1, 4>>>(results + 12, 0, in);
    cudaMemcpy(found + 12, results + 12, 8 * sizeof *found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; i++)
        if (found[i] != signs[i] || found[4 + i] != no_signs[i] || found[8 + i] != -1 || found[12 + i] != signs[i]
            || found[16 + i] != no_signs[i]) {
            wrong++;
            printf("64 bits, %d: %lld %lld %lld %lld %lld\n", i, found[i], found[4 + i], found[8 + i], found[12 + i], found[16 + i]);
        }
    printf("%s\n", wrong == 0 && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
    return wrong;
}
