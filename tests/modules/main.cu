// Loads the files of its command line, and runs what is in them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <fstream>
#include <iterator>
#include <string>

#define CHECK(call)                                                                     \
    do {                                                                                \
        CUresult result = call;                                                         \
        if (result != CUDA_SUCCESS) printf("%s: %d\n", #call, (int)result), exit(1);    \
    } while (0)

__global__ void start(float *values) { values[threadIdx.x] = (threadIdx.x + 1) * (threadIdx.x + 1) - 1; }

static void run(CUmodule module, int added) {
    CUfunction reverse, total, none;
    CUdeviceptr offset;
    size_t bytes;
    CHECK(cuModuleGetFunction(&reverse, module, "reverse"));
    CHECK(cuModuleGetFunction(&total, module, "total"));
    CHECK(cuModuleGetGlobal(&offset, &bytes, module, "offset"));
    int before, error = cuModuleGetFunction(&none, module, "none");
    CHECK(cuMemcpyDtoH(&before, offset, bytes));
    // Of what is added, two by the other variable.
    CUdeviceptr other, counted;
    int two = 2, rest = added - two, threads;
    CHECK(cuModuleGetGlobal(&other, nullptr, module, "added"));
    CHECK(cuModuleGetGlobal(&counted, nullptr, module, "last"));
    CHECK(cuMemcpyHtoD(offset, &rest, sizeof rest));
    CHECK(cuMemcpyHtoD(other, &two, sizeof two));
    float *values, *sum, last, all;
    int n = 32;
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&sum, sizeof(float));
    start<<<1, n>>>(values);
    void *arguments[] = {&values, &n}, *others[] = {&values, &sum};
    CHECK(cuLaunchKernel(reverse, 1, 1, 1, n, 1, 1, n * sizeof(float), nullptr, arguments, nullptr));
    CHECK(cuLaunchKernel(total, 1, 1, 1, n, 1, 1, 0, nullptr, others, nullptr));
    cudaMemcpy(&last, values + n - 1, sizeof last, cudaMemcpyDeviceToHost);
    cudaMemcpy(&all, sum, sizeof all, cudaMemcpyDeviceToHost);
    CHECK(cuMemcpyDtoH(&threads, counted, sizeof threads));
    printf("%zu bytes, %d before, none %d, last %g, sum %g, %d threads\n", bytes, before, error, last, all, threads);
    CHECK(cuModuleUnload(module));
    printf("afterwards %d\n", cuModuleGetFunction(&none, module, "reverse"));
}

int main(int count, char **files) {
    cudaFree(0);
    for (int index = 1; index < count; index++) {
        CUmodule module, other;
        CHECK(cuModuleLoad(&module, files[index]));
        std::ifstream file(files[index], std::ios::binary);
        std::string data((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        CHECK(cuModuleLoadData(&other, data.c_str()));
        run(module, 1);
        // The variables of another module of the same file are its own.
        run(other, 1);
    }
    // A link of one file is that file; one of several is not there.
    for (int index = 0; index < count - 1; index++) {
        CUlinkState state;
        void *linked;
        size_t bytes;
        CUmodule module;
        CHECK(cuLinkCreate(0, nullptr, nullptr, &state));
        printf("nothing to link: %d\n", cuLinkComplete(state, &linked, &bytes));
        CHECK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, files[1 + index], 0, nullptr, nullptr));
        printf("two files: %d\n", cuLinkAddFile(state, CU_JIT_INPUT_PTX, files[1], 0, nullptr, nullptr));
        CHECK(cuLinkComplete(state, &linked, &bytes));
        CHECK(cuModuleLoadData(&module, linked));
        CHECK(cuLinkDestroy(state));
        run(module, 1);
    }
    CUlibrary library;
    CUkernel kernel;
    CUmodule module;
    CHECK(cuLibraryLoadFromFile(&library, files[1], nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "total"));
    CHECK(cuLibraryGetModule(&module, library));
    CHECK(cuModuleLoad(&module, "nowhere.cubin") == CUDA_ERROR_FILE_NOT_FOUND ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
    printf("done\n");
}
