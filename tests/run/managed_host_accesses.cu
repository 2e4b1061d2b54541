// Between two launches, behind a wait, the host reads or writes a managed variable without calling anything: no
// launch crosses that. Where it touches its own memory only, the two run as one.
//
// expect: 32 launches -> 31
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

struct Part {
    int first;
    int rest[3];
};
struct Reference {
    Part *part;
    int &number;
};

__device__ __managed__ int number = 1;
__managed__ int table[4] = {1, 2, 3, 4};
static __managed__ Part part = {1, {2, 3, 4}};
__device__ int result[32];

__device__ int sum() { return number + table[1] + part.rest[1]; }
__global__ void first() { result[threadIdx.x] = sum(); }
__global__ void second() { result[threadIdx.x] = 1000 * result[threadIdx.x] + sum(); }
__global__ void raise() { number += 1; }

static int own = 0;
static int *volatile anywhere = &own;

__attribute__((noinline)) static void write_through(int *to, int value) { *to = value; }
static inline int &named() { return table[1]; }

static int wrong = 0;
// What the two launches saw, before and after.
static void check(int before, int after, const char *what) {
    int seen[32];
    cudaMemcpyFromSymbol(seen, result, sizeof seen);
    if (seen[5] != 1000 * before + after) {
        wrong++;
        printf("wrong: %s: %d, not %d\n", what, seen[5], 1000 * before + after);
    }
}

// One pair of launches with an access between them that adds `more` to the sum.
#define PAIR(access, more, what)                                                                                       \
    {                                                                                                                  \
        first<<<1, 32>>>();                                                                                            \
        cudaDeviceSynchronize();                                                                                       \
        access;                                                                                                        \
        second<<<1, 32>>>();                                                                                           \
        cudaDeviceSynchronize();                                                                                       \
        check(now, now + (more), what);                                                                                \
        now += (more);                                                                                                 \
    }

int main() {
    int now = 1 + 2 + 3;
    PAIR(number = 2, 1, "a scalar")
    PAIR(table[1] = 7, 5, "an element")
    PAIR(part.rest[1] = 5, 2, "a member")
    PAIR(Part &reference = part; reference.rest[1] += 1, 1, "a reference")
    Reference both = {&part, number};
    PAIR(both.part->rest[1]++, 1, "a pointer in a structure")
    PAIR(both.number++, 1, "a reference in a structure")
    PAIR(__atomic_fetch_add(&number, 1, __ATOMIC_RELAXED), 1, "an atomic operation")
    PAIR((*(volatile int *)&number) = number + 1, 1, "a volatile access")
    Part other = {1, {1, 1, 1}};
    int before = part.rest[1];
    PAIR(__builtin_memcpy(&part, &other, sizeof part), 1 - before, "a copy of bytes")
    PAIR(part = (Part{2, {2, 2, 2}}), 1, "an assignment of the whole")
    int values[4] = {3, 3, 3, 3};
    before = table[1];
    PAIR(std::copy(values, values + 4, table), 3 - before, "std::copy")
    PAIR(write_through(&table[1], 5), 2, "a function that is not inlined")
    PAIR(named() = 6, 1, "a reference that a function returns")
    before = number;
    PAIR(std::swap(number, values[0]), 3 - before, "std::swap")

    // The host reads what the first has written.
    raise<<<1, 1>>>();
    cudaDeviceSynchronize();
    int read = number;
    raise<<<1, 1>>>();
    cudaDeviceSynchronize();
    if (read != 4 || number != 5) {
        wrong++;
        printf("wrong: a read: %d and %d\n", read, number);
    }

    // The two can be one.
    now += 2;
    PAIR(own = 3, 0, "its own memory")
    wrong += *anywhere != 3;
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
