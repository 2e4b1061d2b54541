// Threads that wait in loops until others write: locks, flags and counters, without barriers between.
//
// A solver takes what is ready and looks again at the rest.
//
// Shows: the loops end although threads of a block take turns on one core; loops that try a comparing
// exchange again with what they found are no such loops.
//
// expect: 6 launches -> 6
#include <cstdio>

static int failures = 0;

static void check(const char *what, int got, int expected) {
    if (got != expected) {
        printf("%s: %d instead of %d\n", what, got, expected);
        failures++;
    }
}

// The lower threads wait for higher ones.
__global__ void hand_down(volatile int *flags, int *values, int n) {
    int i = threadIdx.x;
    if (i == n - 1) {
        values[i] = 1;
    } else {
        while (flags[i + 1] == 0) {
        }
        values[i] = values[i + 1] + 1;
    }
    __threadfence();
    flags[i] = 1;
}

// Who finds the lock open has it until its store.
__global__ void locked(int *lock, int *sum, int rounds) {
    for (int round = 0; round < rounds; round++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
                *(volatile int *)sum = *(volatile int *)sum + 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
}

__global__ void exchanged(int *lock, int *sum) {
    while (atomicExch(lock, 1) != 0) {
    }
    *(volatile int *)sum = *(volatile int *)sum + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Each waits until all have come.
__global__ void counted(int *arrived, int *seen) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < (int)blockDim.x) {
    }
    atomicAdd(seen, 1);
}

// No waiting: an addition by comparing exchanges.
__global__ void added(int *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int before = *sum, expected;
        do {
            expected = before;
            before = atomicCAS(sum, expected, expected + i);
        } while (before != expected);
    }
}

// Rows of a triangular system, one a thread: a row takes the columns that are ready, one after the other.
__device__ int peek(const int *place) {
    int found = *(const volatile int *)place;
    __threadfence();
    return found;
}

__global__ void solve(const int *column, int *ready, int n, int *x) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    int sum = 0, at = row ? 2 * row - 1 : 0, end = 2 * row + 1;
    while (at < end) {
        int wanted = column[at];
        if (peek(&ready[wanted]) == 1) {
            sum += x[wanted];
            at++;
            wanted = column[at];
        }
        if (wanted == row) {
            x[row] = 1 + sum;
            __threadfence();
            *(volatile int *)&ready[row] = 1;
            at++;
        }
    }
}

int main() {
    const int n = 96;
    int *memory, host[2 * n + 8] = {};
    cudaMalloc(&memory, sizeof host);
    cudaMemset(memory, 0, sizeof host);
    int *flags = memory, *values = memory + n, *words = memory + 2 * n;
    hand_down<<<1, n>>>(flags, values, n);
    locked<<<1, 64>>>(words, words + 1, 3);
    exchanged<<<1, 64>>>(words, words + 2);
    counted<<<1, 128>>>(words + 3, words + 4);
    added<<<8, 64>>>(words + 5, 500);
    int *columns, *ready, *x, solved[n], of_rows[2 * n + 1];
    for (int row = 0; row < n; row++) {
        if (row) of_rows[2 * row - 1] = row - 1;
        of_rows[2 * row] = row;
    }
    of_rows[2 * n - 1] = of_rows[2 * n] = -1;
    cudaMalloc(&columns, sizeof of_rows);
    cudaMalloc(&ready, n * sizeof(int));
    cudaMalloc(&x, n * sizeof(int));
    cudaMemcpy(columns, of_rows, sizeof of_rows, cudaMemcpyHostToDevice);
    cudaMemset(ready, 0, n * sizeof(int));
    solve<<<1, 128>>>(columns, ready, n, x);
    cudaMemcpy(solved, x, sizeof solved, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) check("solved", solved[i], i + 1);
    cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) check("handed down", host[n + i], n - i);
    check("locked", host[2 * n + 1], 3 * 64);
    check("exchanged", host[2 * n + 2], 64);
    check("counted", host[2 * n + 4], 128);
    check("added", host[2 * n + 5], 500 * 499 / 2);
    printf(failures ? "FAIL\n" : "PASS\n");
    return failures != 0;
}
