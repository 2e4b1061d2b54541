/* A program that knows nothing of CUDA loads two libraries, as Python loads its extensions. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **paths) {
    void *one = dlopen(paths[1], RTLD_NOW | RTLD_LOCAL), *two = dlopen(paths[2], RTLD_NOW | RTLD_LOCAL);
    if (count != 3 || !one || !two) return puts(dlerror()), 1;
    int *(*memory)(void) = (int *(*)(void))dlsym(one, "memory_of_1");
    int (*add_1)(int *, int) = (int (*)(int *, int))dlsym(one, "add_1");
    int (*add_2)(int *, int) = (int (*)(int *, int))dlsym(two, "add_2");
    int *at = memory();
    printf("%d %d", add_1(at, 10), add_2(at, 100));
    /* What is closed is still there for who has its memory. */
    dlclose(one);
    one = dlopen(paths[1], RTLD_NOW | RTLD_LOCAL);
    add_1 = (int (*)(int *, int))dlsym(one, "add_1");
    printf(" %d\n", add_1(at, 1000));
    return 0;
}
