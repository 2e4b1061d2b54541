// Loads a file of kernels and runs `case`: FILE THREADS INPUTS OUTPUTS WORD…, words of 32 bits in hexadecimal, those of
// a thread one after another. Prints the outputs, a line for each thread.
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        CUresult result = call;                                                      \
        if (result != CUDA_SUCCESS) printf("%s: %d\n", #call, (int)result), exit(1); \
    } while (0)

int main(int, char **words) {
    int threads = atoi(words[2]), inputs = atoi(words[3]), outputs = atoi(words[4]);
    std::vector<unsigned> in, out(threads * outputs, 0xcccccccc);
    for (char **word = words + 5; *word; word++) in.push_back(strtoul(*word, nullptr, 16));
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr from, to;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, words[1]));
    CHECK(cuModuleGetFunction(&function, module, "case"));
    CHECK(cuMemAlloc(&from, 4 * in.size() + 4));
    CHECK(cuMemAlloc(&to, 4 * out.size()));
    CHECK(cuMemcpyHtoD(from, in.data(), 4 * in.size()));
    CHECK(cuMemcpyHtoD(to, out.data(), 4 * out.size()));
    void *arguments[] = {&from, &to};
    CHECK(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(cuMemcpyDtoH(out.data(), to, 4 * out.size()));
    for (int thread = 0; thread < threads; thread++)
        for (int word = 0; word < outputs; word++)
            printf("%08x%s", out[thread * outputs + word], word + 1 < outputs ? " " : "\n");
}
