// Launches a kernel from a constructor of its own, and has a library that does so, too: linked, or with LOADED loaded later.
#include <cstdio>
#include <dlfcn.h>
#ifndef LOADED
extern "C" int of_library();
#endif
__constant__ int factor = 3;
__global__ void in_program(int *to) { to[threadIdx.x] = threadIdx.x * factor; }
static int found[32];
struct Early {
    Early() {
        int *to;
        cudaMalloc(&to, sizeof found);
        in_program<<<1, 32>>>(to);
        cudaMemcpy(found, to, sizeof found, cudaMemcpyDeviceToHost);
        cudaFree(to);
    }
};
static Early early;
int main(int, char **words) {
#ifdef LOADED
    void *library = dlopen(words[1], RTLD_NOW);
    int (*of_library)() = (int (*)())dlsym(library, "of_library");
#endif
    bool right = found[31] == 93 && of_library() == 36;
    printf(right ? "PASS\n" : "FAIL: %d %d\n", found[31], of_library());
    return !right;
}
