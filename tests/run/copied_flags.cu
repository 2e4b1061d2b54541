// Breadth-first searches that copy a flag to the device, launch, and copy it back: a set does the same, and runs in the kernel.
// Beside them stand copies that have to stay. An argument is the number of the part.
//
// expect: 20 launches -> 11, 5 host loops inside their kernels
// built with: --sirius-boundaries=grid-barrier
// executes: 1 1 1 1 7 7 1 7 14 7
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
// arguments: 6
// arguments: 7
// arguments: 8
// arguments: 9
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

// A tree in which node i has the children 4 i + 1 to 4 i + 4.
const int NODES = 5000, THREADS = 128, BLOCKS = (NODES + THREADS - 1) / THREADS;

template <typename Flag> __global__ void visit(char *now, char *next, const char *seen, int *depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NODES || !now[i]) return;
    now[i] = 0;
    for (int child = 4 * i + 1; child <= 4 * i + 4 && child < NODES; child++) {
        if (seen[child]) continue;
        depth[child] = depth[i] + 1;
        next[child] = 1;
    }
}

template <typename Flag> __global__ void advance(char *now, char *next, char *seen, Flag *more) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NODES || !next[i]) return;
    now[i] = 1;
    seen[i] = 1;
    next[i] = 0;
    *more = 1;
}

__global__ void count(const char *seen, int *counted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NODES && seen[i]) atomicAdd(counted, 1);
}

int main(int, char **arguments) {
    int part = atoi(arguments[1]);
    char *now, *next, *seen, *byte, flag;
    int *depth, *word, *counted, number, rounds = 0;
    cudaMalloc(&now, NODES);
    cudaMalloc(&next, NODES);
    cudaMalloc(&seen, NODES);
    cudaMalloc(&depth, NODES * sizeof(int));
    cudaMalloc(&byte, 1);
    cudaMalloc(&word, sizeof(int));
    cudaMalloc(&counted, sizeof(int));
    cudaMemset(now, 0, NODES);
    cudaMemset(next, 0, NODES);
    cudaMemset(seen, 0, NODES);
    cudaMemset(depth, 0, NODES * sizeof(int));
    cudaMemset(now, 1, 1);
    cudaMemset(seen, 1, 1);
    cudaMemset(counted, 0, sizeof(int));
    switch (part) {
    case 0:
        do {
            flag = 0;
            cudaMemcpy(byte, &flag, 1, cudaMemcpyHostToDevice);
            visit<char><<<BLOCKS, THREADS>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, byte);
            cudaMemcpy(&flag, byte, 1, cudaMemcpyDeviceToHost);
            rounds++;
        } while (flag);
        break;
    case 1:
        do {
            number = 0;
            cudaMemcpy(word, &number, sizeof(int), cudaMemcpyHostToDevice);
            visit<int><<<BLOCKS, THREADS>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, word);
            cudaMemcpy(&number, word, sizeof(int), cudaMemcpyDeviceToHost);
            rounds++;
        } while (number);
        break;
    case 2:
        // All bits are one.
        do {
            number = -1;
            cudaMemcpy(word, &number, sizeof(int), cudaMemcpyHostToDevice);
            visit<int><<<BLOCKS, THREADS>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, word);
            cudaMemcpy(&number, word, sizeof(int), cudaMemcpyDeviceToHost);
            rounds++;
        } while (number == 1);
        break;
    case 3: {
        // The copy comes from another variable than the one that is copied to.
        const int none = 0;
        do {
            cudaMemcpy(word, &none, sizeof(int), cudaMemcpyHostToDevice);
            visit<int><<<BLOCKS, THREADS>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, word);
            cudaMemcpy(&number, word, sizeof(int), cudaMemcpyDeviceToHost);
            rounds++;
        } while (number);
        break;
    }
    case 4:
        // Bytes that differ: no set does the same.
        do {
            number = 256;
            cudaMemcpy(word, &number, sizeof(int), cudaMemcpyHostToDevice);
            visit<int><<<BLOCKS, THREADS>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, word);
            cudaMemcpy(&number, word, sizeof(int), cudaMemcpyDeviceToHost);
            rounds++;
        } while (number == 1);
        break;
    case 5:
        // What is copied is another number each time.
        do {
            number = rounds - 100;
            cudaMemcpy(word, &number, sizeof(int), cudaMemcpyHostToDevice);
            visit<int><<<BLOCKS, THREADS>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, word);
            cudaMemcpy(&number, word, sizeof(int), cudaMemcpyDeviceToHost);
            rounds++;
        } while (number == 1);
        break;
    case 6:
        // The host changes the flag behind the copy, which has read it.
        do {
            number = 0;
            cudaMemcpy(word, &number, sizeof(int), cudaMemcpyHostToDevice);
            number = 7;
            visit<int><<<BLOCKS, THREADS>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, word);
            rounds += number;
            cudaMemcpy(&number, word, sizeof(int), cudaMemcpyDeviceToHost);
            rounds -= 6;
        } while (number);
        break;
    case 7:
        // A part of what is copied is no constant.
        do {
            number = 0;
            memcpy(&number, &rounds, 1);
            cudaMemcpy(word, &number, sizeof(int), cudaMemcpyHostToDevice);
            visit<int><<<BLOCKS, THREADS>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, word);
            cudaMemcpy(&number, word, sizeof(int), cudaMemcpyDeviceToHost);
            rounds++;
        } while (number == 1 && rounds != 1 || rounds == 1);
        break;
    case 8: {
        // A launch on another stream does not wait for what it waits for now.
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        do {
            number = 0;
            cudaMemcpy(word, &number, sizeof(int), cudaMemcpyHostToDevice);
            visit<int><<<BLOCKS, THREADS, 0, stream>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, word);
            cudaMemcpy(&number, word, sizeof(int), cudaMemcpyDeviceToHost);
            rounds++;
        } while (number);
        cudaStreamDestroy(stream);
        break;
    }
    case 9: {
        // The host looks at what the device made before the copy.
        int *looked_at;
        cudaMallocManaged(&looked_at, sizeof(int));
        cudaMemset(looked_at, 0, sizeof(int));
        do {
            number = 0;
            cudaMemcpy(word, &number, sizeof(int), cudaMemcpyHostToDevice);
            rounds += 1 + *looked_at;
            visit<int><<<BLOCKS, THREADS>>>(now, next, seen, depth);
            advance<<<BLOCKS, THREADS>>>(now, next, seen, word);
            cudaMemcpy(&number, word, sizeof(int), cudaMemcpyDeviceToHost);
        } while (number);
        break;
    }
    }
    std::vector<int> depths(NODES);
    cudaMemcpy(depths.data(), depth, NODES * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0, deepest = 0;
    for (int i = 0; i < NODES; i++) {
        int right = 0;
        for (int at = i; at > 0; at = (at - 1) / 4) right++;
        wrong += depths[i] != right;
        deepest = depths[i] > deepest ? depths[i] : deepest;
    }
    printf("part %d: %d rounds, depth %d, %d wrong\n", part, rounds, deepest, wrong);
    puts(wrong == 0 && deepest == 6 ? "PASS" : "FAIL");
    return wrong != 0;
}
