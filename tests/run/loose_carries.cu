// The carry flag between `asm` without `volatile`, which stay in the order of the source all the same: a sum twice,
// whose parts have equal operands, and the highest word of a product and a sum. Some use of each result there is: nvcc
// leaves out what nobody uses, with the carry.
//
// expect: 2 launches -> 1
#include <cstdint>
#include <cstdio>

__device__ __forceinline__ uint64_t add_first(uint64_t a, uint64_t b)
{
    uint64_t sum;
    asm("add.cc.u64 %0, %1, %2;" : "=l"(sum) : "l"(a), "l"(b));
    return sum;
}

__device__ __forceinline__ uint64_t add_next(uint64_t a, uint64_t b)
{
    uint64_t sum;
    asm("addc.cc.u64 %0, %1, %2;" : "=l"(sum) : "l"(a), "l"(b));
    return sum;
}

__device__ __forceinline__ uint64_t add_last(uint64_t a, uint64_t b)
{
    uint64_t sum;
    asm("addc.u64 %0, %1, %2;" : "=l"(sum) : "l"(a), "l"(b));
    return sum;
}

// How often the sum of two numbers of 128 bits leaves them, for a and b and for b and a.
__global__ void carries(const uint64_t *a, const uint64_t *b, uint64_t *count, uint64_t *low)
{
    int i = threadIdx.x;
    uint64_t sum = add_first(a[i], b[i]);
    uint64_t again = add_last(0, 0);
    uint64_t negative = add_first(~a[i], 1);
    uint64_t next = add_next(b[i], 0);
    count[i] = again + 2 * add_last(0, 0);
    low[i] = sum ^ negative ^ next;
}

// The highest of three words of a * b + c, c of two words.
__global__ void products(const uint64_t *a, const uint64_t *b, const uint64_t *count, uint64_t *high, uint64_t *low)
{
    int i = threadIdx.x;
    uint64_t first, middle, top;
    asm("mad.lo.cc.u64 %0, %1, %2, %3;" : "=l"(first) : "l"(a[i]), "l"(b[i]), "l"(a[i]));
    asm("madc.hi.cc.u64 %0, %1, %2, %3;" : "=l"(middle) : "l"(a[i]), "l"(b[i]), "l"(~count[i]));
    asm("addc.u64 %0, %1, %2;" : "=l"(top) : "l"(count[i]), "l"(0ull));
    high[i] = top;
    low[i] ^= first ^ middle;
}

int main()
{
    const int n = 96;
    static uint64_t a[n], b[n], count[n], high[n], low[n];
    uint64_t state = 11;
    for (int i = 0; i < n; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        a[i] = i % 4 ? state : 0;
        b[i] = i % 3 ? ~state >> i % 2 : ~0ull;
    }
    uint64_t *da, *db, *dc, *dh, *dl;
    cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof a), cudaMalloc(&dc, sizeof a), cudaMalloc(&dh, sizeof a), cudaMalloc(&dl, sizeof a);
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, sizeof a, cudaMemcpyHostToDevice);
    carries<<<1, n>>>(da, db, dc, dl);
    products<<<1, n>>>(da, db, dc, dh, dl);
    cudaMemcpy(count, dc, sizeof a, cudaMemcpyDeviceToHost);
    cudaMemcpy(high, dh, sizeof a, cudaMemcpyDeviceToHost);
    cudaMemcpy(low, dl, sizeof a, cudaMemcpyDeviceToHost);
    bool good = true;
    for (int i = 0; i < n; i++) {
        typedef unsigned __int128 Wide;
        uint64_t wanted = (uint64_t)(((Wide)a[i] + b[i]) >> 64);
        Wide next = (((Wide)(uint64_t)~a[i] + 1) >> 64) + b[i];
        wanted += 2 * (uint64_t)(next >> 64);
        good = good && count[i] == wanted;
        Wide product = (Wide)a[i] * b[i], first = (Wide)(uint64_t)product + a[i];
        Wide middle = (product >> 64) + (uint64_t)~wanted + (first >> 64);
        uint64_t lower = (a[i] + b[i]) ^ (~a[i] + 1) ^ (uint64_t)next ^ (uint64_t)first ^ (uint64_t)middle;
        good = good && low[i] == lower && high[i] == wanted + (uint64_t)(middle >> 64);
    }
    std::printf("%s\n", good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
