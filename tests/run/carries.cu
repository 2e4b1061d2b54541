// The carry flag from one `asm` to the next: sums, differences and products of numbers of four words.
//
// expect: 2 launches -> 1
#include <cstdint>
#include <cstdio>
#include <cstring>

struct Number {
    uint64_t word[4];
};

// Each instruction in a function of its own, as libraries for large numbers have them.
__device__ __forceinline__ uint64_t add_first(uint64_t a, uint64_t b)
{
    uint64_t sum;
    asm volatile("add.cc.u64 %0, %1, %2;" : "=l"(sum) : "l"(a), "l"(b) : "memory");
    return sum;
}

__device__ __forceinline__ uint64_t add_next(uint64_t a, uint64_t b)
{
    uint64_t sum;
    asm volatile("addc.cc.u64 %0, %1, %2;" : "=l"(sum) : "l"(a), "l"(b) : "memory");
    return sum;
}

__device__ Number sum(const Number &a, const Number &b)
{
    Number c;
    c.word[0] = add_first(a.word[0], b.word[0]);
    for (int i = 1; i < 3; i++) c.word[i] = add_next(a.word[i], b.word[i]);
    asm volatile("addc.u64 %0, %1, %2;" : "=l"(c.word[3]) : "l"(a.word[3]), "l"(b.word[3]));
    return c;
}

__device__ Number difference(const Number &a, const Number &b)
{
    Number c = a;
    asm volatile("sub.cc.u64 %0, %0, %1;" : "+l"(c.word[0]) : "l"(b.word[0]) : "memory");
    asm volatile("subc.cc.u64 %0, %0, %1;" : "+l"(c.word[1]) : "l"(b.word[1]) : "memory");
    asm volatile("subc.cc.u64 %0, %0, %1;" : "+l"(c.word[2]) : "l"(b.word[2]) : "memory");
    asm volatile("subc.u64 %0, %0, %1;" : "+l"(c.word[3]) : "l"(b.word[3]));
    return c;
}

// A number and the product of two, its lowest words.
__device__ Number with_product(Number c, const Number &a, uint64_t b)
{
    asm volatile("mad.lo.cc.u64 %0, %1, %2, %0;" : "+l"(c.word[0]) : "l"(a.word[0]), "l"(b));
    asm volatile("madc.lo.cc.u64 %0, %1, %2, %0;" : "+l"(c.word[1]) : "l"(a.word[1]), "l"(b));
    asm volatile("madc.lo.u64 %0, %1, %2, %0;" : "+l"(c.word[2]) : "l"(a.word[2]), "l"(b));
    asm volatile("mad.hi.cc.u64 %0, %1, %2, %0;" : "+l"(c.word[1]) : "l"(a.word[0]), "l"(b));
    asm volatile("madc.hi.u64 %0, %1, %2, %0;" : "+l"(c.word[2]) : "l"(a.word[1]), "l"(b));
    return c;
}

__global__ void sums(const Number *a, const Number *b, Number *c)
{
    int i = threadIdx.x;
    c[i] = sum(a[i], b[i]);
}

__global__ void others(const Number *a, const Number *c, Number *d)
{
    int i = threadIdx.x;
    d[i] = with_product(difference(c[i], a[i]), a[i], 0x9e3779b97f4a7c15ull);
}

int main()
{
    const int n = 64;
    static Number a[n], b[n], c[n], d[n];
    uint64_t state = 7;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            // Words of ones, so that carries go on.
            a[i].word[k] = i % 3 ? state : ~0ull;
            b[i].word[k] = i % 5 ? ~state >> 1 : k == 0;
        }
    Number *da, *db, *dc, *dd;
    cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof a), cudaMalloc(&dc, sizeof a), cudaMalloc(&dd, sizeof a);
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
    sums<<<1, n>>>(da, db, dc);
    others<<<1, n>>>(da, dc, dd);
    cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
    cudaMemcpy(d, dd, sizeof d, cudaMemcpyDeviceToHost);
    bool good = true;
    for (int i = 0; i < n; i++) {
        unsigned __int128 carry = 0, low, middle, high, factor = 0x9e3779b97f4a7c15ull;
        for (int k = 0; k < 4; k++) {
            carry += (unsigned __int128)a[i].word[k] + b[i].word[k];
            good = good && c[i].word[k] == (uint64_t)carry;
            carry >>= 64;
        }
        // The lowest words of b and of the product; carries of the first row go into the third word.
        low = factor * a[i].word[0];
        middle = factor * a[i].word[1];
        high = factor * a[i].word[2];
        unsigned __int128 first = (unsigned __int128)(uint64_t)low + b[i].word[0];
        unsigned __int128 second = (unsigned __int128)(uint64_t)middle + b[i].word[1] + (uint64_t)(first >> 64);
        uint64_t third = (uint64_t)high + b[i].word[2] + (uint64_t)(second >> 64);
        unsigned __int128 again = (unsigned __int128)(uint64_t)second + (uint64_t)(low >> 64);
        third += (uint64_t)(middle >> 64) + (uint64_t)(again >> 64);
        uint64_t wanted[] = {(uint64_t)first, (uint64_t)again, third, b[i].word[3]};
        good = good && !memcmp(wanted, d[i].word, sizeof wanted);
    }
    std::printf("%s\n", good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
