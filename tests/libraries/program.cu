// A program with a kernel and memory of its own is linked with one library and loads another.
#include <cstdio>
#include <dlfcn.h>

extern "C" int *memory_of_1();
extern "C" int add_1(int *, int);

__global__ void add(int *to, int value) { *to -= value; }

int main(int, char **arguments) {
    void *two = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!two) return puts(dlerror()), 1;
    auto add_2 = (int (*)(int *, int))dlsym(two, "add_2");
    int *own, host[2];
    cudaMalloc(&own, sizeof(int));
    cudaMemset(own, 0, sizeof(int));
    add_1(own, 10);
    add_2(own, 100);
    add<<<1, 1>>>(own, 1);
    add<<<1, 1>>>(memory_of_1(), 5);
    cudaMemcpy(host, own, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(host + 1, memory_of_1(), sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d\n", host[0], host[1]);
}
