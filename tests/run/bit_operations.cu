// Operations on bits in inline PTX, against what they are on the host.
//
// expect: 2 launches -> 1
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int N = 4096, RESULTS = 28;

struct Numbers {
    uint32_t a, b, p, l;
    uint64_t wide, other;
};

__global__ void fill(Numbers *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t state = 0x9e3779b97f4a7c15ull * (i + 1);
    auto next = [&] {
        state ^= state >> 29, state *= 0xbf58476d1ce4e5b9ull, state ^= state >> 32;
        return state;
    };
    Numbers n;
    n.wide = next(), n.other = next(), n.a = next(), n.b = next();
    // Places and lengths inside, at the ends and outside; small numbers, too.
    n.p = next() % 70, n.l = next() % 70;
    if (i % 5 == 0) n.p = next() % 300, n.l = next() % 300;
    if (i % 7 == 0) n.a >>= next() % 33 % 32, n.wide >>= next() % 64;
    if (i % 97 == 0) n.a = 0, n.wide = 0;
    if (i % 89 == 0) n.a = ~0u, n.wide = ~0ull;
    in[i] = n;
}

__global__ void operate(const Numbers *in, uint64_t *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Numbers n = in[i];
    uint64_t *r = out + i * RESULTS;
    uint32_t w;
    uint64_t d;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(w) : "r"(n.a), "r"(n.p), "r"(n.l)); *r++ = w;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(w) : "r"(n.a), "r"(n.p), "r"(n.l)); *r++ = w;
    asm("bfe.u64 %0, %1, %2, %3;" : "=l"(d) : "l"(n.wide), "r"(n.p), "r"(n.l)); *r++ = d;
    asm("bfe.s64 %0, %1, %2, %3;" : "=l"(d) : "l"(n.wide), "r"(n.p), "r"(n.l)); *r++ = d;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(w) : "r"(n.a), "r"(n.b), "r"(n.p), "r"(n.l)); *r++ = w;
    asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(d) : "l"(n.wide), "l"(n.other), "r"(n.p), "r"(n.l)); *r++ = d;
    asm("brev.b32 %0, %1;" : "=r"(w) : "r"(n.a)); *r++ = w;
    asm("brev.b64 %0, %1;" : "=l"(d) : "l"(n.wide)); *r++ = d;
    asm("popc.b32 %0, %1;" : "=r"(w) : "r"(n.a)); *r++ = w;
    asm("popc.b64 %0, %1;" : "=r"(w) : "l"(n.wide)); *r++ = w;
    asm("clz.b32 %0, %1;" : "=r"(w) : "r"(n.a)); *r++ = w;
    asm("clz.b64 %0, %1;" : "=r"(w) : "l"(n.wide)); *r++ = w;
    asm("bfind.u32 %0, %1;" : "=r"(w) : "r"(n.a)); *r++ = w;
    asm("bfind.s32 %0, %1;" : "=r"(w) : "r"(n.a)); *r++ = w;
    asm("bfind.u64 %0, %1;" : "=r"(w) : "l"(n.wide)); *r++ = w;
    asm("bfind.shiftamt.s64 %0, %1;" : "=r"(w) : "l"(n.wide)); *r++ = w;
    asm("abs.s32 %0, %1;" : "=r"(w) : "r"(n.a)); *r++ = w;
    asm("sad.u32 %0, %1, %2, %3;" : "=r"(w) : "r"(n.a), "r"(n.b), "r"(n.p)); *r++ = w;
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(w) : "r"(n.a), "r"(n.b), "r"(n.p)); *r++ = w;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(w) : "r"(n.a), "r"(n.b)); *r++ = w;
    asm("sub.sat.s32 %0, %1, %2;" : "=r"(w) : "r"(n.a), "r"(n.b)); *r++ = w;
    asm("mul24.lo.u32 %0, %1, %2;" : "=r"(w) : "r"(n.a), "r"(n.b)); *r++ = w;
    asm("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(w) : "r"(n.a), "r"(n.b), "r"(n.p)); *r++ = w;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(w) : "r"(n.a), "r"(n.b), "r"((uint32_t)n.other)); *r++ = w;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(w) : "r"(n.a), "r"(n.b), "r"((uint32_t)n.wide)); *r++ = w;
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(w) : "r"(n.a), "r"(n.b), "r"((uint32_t)n.wide)); *r++ = w;
    asm("{ .reg .u32 t; bfe.u32 t, %1, 8, 4; add.u32 %0, t, 1; }" : "=r"(w) : "r"(n.a)); *r++ = w;
    asm("lop3.b32 %0, %1, %2, %3, 0x1d;" : "=r"(w) : "r"(n.a), "r"(n.b), "r"((uint32_t)n.wide)); *r++ = w;
}

// As the manual of PTX has them, bit by bit.
// Of 64 bits, GPUs have no such instructions: there more than the lowest eight bits of places and lengths count.
template <typename T> T field(T a, unsigned p, unsigned l, bool is_signed) {
    const unsigned last = 8 * sizeof(T) - 1;
    if (sizeof(T) == 4) p &= 255, l &= 255;
    T sign = 0, result = 0;
    if (is_signed && l > 0) sign = a >> (p + l - 1 < last ? p + l - 1 : last) & 1;
    for (unsigned i = 0; i <= last; ++i) result |= (i < l && p + i <= last ? a >> (p + i) & 1 : sign) << i;
    return result;
}

template <typename T> T inserted(T a, T b, unsigned p, unsigned l) {
    const unsigned last = 8 * sizeof(T) - 1;
    if (sizeof(T) == 4) p &= 255, l &= 255;
    for (unsigned i = 0; i < l && p + i <= last; ++i) b = (b & ~((T)1 << (p + i))) | (a >> i & 1) << (p + i);
    return b;
}

template <typename T> T turned(T a) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) result = result << 1 | (a >> i & 1);
    return result;
}

template <typename T> uint32_t highest(T a, bool is_signed) {
    if (is_signed && a >> (8 * sizeof(T) - 1)) a = ~a;
    for (int i = 8 * sizeof(T) - 1; i >= 0; --i)
        if (a >> i & 1) return i;
    return ~0u;
}

static uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
        uint32_t how = selector >> (4 * i) & 15, byte = bytes >> (8 * (how & 7)) & 255;
        if (how & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

static uint32_t limited(int64_t value) {
    return (uint32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

int main() {
    Numbers *in;
    uint64_t *out;
    cudaMalloc(&in, N * sizeof(Numbers)), cudaMalloc(&out, N * RESULTS * sizeof(uint64_t));
    fill<<<N / 128, 128>>>(in);
    operate<<<N / 128, 128>>>(in, out);
    std::vector<Numbers> numbers(N);
    std::vector<uint64_t> results(N * RESULTS);
    cudaMemcpy(numbers.data(), in, N * sizeof(Numbers), cudaMemcpyDeviceToHost);
    cudaMemcpy(results.data(), out, results.size() * sizeof(uint64_t), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < N; ++i) {
        const Numbers &n = numbers[i];
        const int32_t a = n.a, b = n.b;
        const uint32_t w = n.wide, both = n.a ^ n.b ^ w, most = (n.a & n.b) | (n.a & w) | (n.b & w);
        uint32_t table = 0;
        for (int bit = 0; bit < 32; ++bit)
            table |= (0x1du >> ((n.a >> bit & 1) * 4 + (n.b >> bit & 1) * 2 + (w >> bit & 1)) & 1) << bit;
        const uint32_t high = highest(n.wide, true);
        auto small = [](int32_t value) { return (int32_t)((uint32_t)value << 8) >> 8; };
        const uint64_t wanted[RESULTS] = {
            field(n.a, n.p, n.l, false), field(n.a, n.p, n.l, true),
            field(n.wide, n.p, n.l, false), field(n.wide, n.p, n.l, true),
            inserted(n.a, n.b, n.p, n.l), inserted(n.wide, n.other, n.p, n.l),
            turned(n.a), turned(n.wide),
            (uint32_t)__builtin_popcount(n.a), (uint32_t)__builtin_popcountll(n.wide),
            31 - highest(n.a, false) & 63, 63 - highest(n.wide, false) & 127,
            highest(n.a, false), highest(n.a, true), highest(n.wide, false), high == ~0u ? high : 63 - high,
            a < 0 ? 0u - n.a : n.a,
            (n.a > n.b ? n.a - n.b : n.b - n.a) + n.p,
            (uint32_t)(a > b ? n.a - n.b : n.b - n.a) + n.p,
            limited((int64_t)a + b), limited((int64_t)a - b),
            (n.a & 0xffffff) * (n.b & 0xffffff), (uint32_t)small(a) * (uint32_t)small(b) + n.p,
            permuted(n.a, n.b, n.other), both, most, (n.a >> 8 & 15) + 1, table,
        };
        for (int k = 0; k < RESULTS; ++k)
            if (results[i * RESULTS + k] != wanted[k] && wrong++ < 10)
                printf("operation %d of %d: %llx, not %llx\n", k, i, (unsigned long long)results[i * RESULTS + k],
                       (unsigned long long)wanted[k]);
    }
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
