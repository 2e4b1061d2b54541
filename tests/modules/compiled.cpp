// Compiles kernels when it runs, from source that it has as text.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <vector>

#define CHECK(call)                                                                                   \
    do {                                                                                              \
        CUresult result = call;                                                                       \
        if (result != CUDA_SUCCESS) printf("%s: %d\n", #call, (int)result), exit(1);                  \
    } while (0)
#define COMPILES(call)                                                                                \
    do {                                                                                              \
        nvrtcResult result = call;                                                                    \
        if (result != NVRTC_SUCCESS) printf("%s: %s\n", #call, nvrtcGetErrorString(result)), exit(1); \
    } while (0)

static const char *const source = R"(
#include "scale.h"
#include <cuda_fp16.h>
namespace kinds {
__constant__ int factor = 3;
template <typename T, int N> __global__ void scaled(T *values) {
    values[threadIdx.x] = scale(values[threadIdx.x], T(N)) * T(factor) + T(ADDED);
}
template <> __global__ void scaled<__half, 2>(__half *values) { values[threadIdx.x] = __float2half(threadIdx.x * 0.5f); }
}
extern "C" __global__ void plain(float *values, unsigned count) {
    __shared__ float all[32];
    assert(threadIdx.x < count);
    NV_IF_TARGET(NV_IS_DEVICE, (count = std::move(count);))
    all[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = sqrtf(all[count - 1 - threadIdx.x]);
}
)";

static std::string log_of(nvrtcProgram program) {
    size_t bytes;
    COMPILES(nvrtcGetProgramLogSize(program, &bytes));
    std::vector<char> log(bytes + 1);
    COMPILES(nvrtcGetProgramLog(program, log.data()));
    return log.data();
}

static void run(CUmodule module, const char *scaled, const char *factor) {
    CUfunction plain, instance;
    CUdeviceptr values, of_factor;
    size_t bytes;
    CHECK(cuModuleGetFunction(&plain, module, "plain"));
    CHECK(cuModuleGetFunction(&instance, module, scaled));
    CHECK(cuModuleGetGlobal(&of_factor, &bytes, module, factor));
    const int ten = 10;
    CHECK(cuMemcpyHtoD(of_factor, &ten, sizeof ten));
    float host[32];
    for (int i = 0; i < 32; i++) host[i] = i * i;
    unsigned count = 32;
    CHECK(cuMemAlloc(&values, sizeof host));
    CHECK(cuMemcpyHtoD(values, host, sizeof host));
    void *of_plain[] = {&values, &count}, *of_instance[] = {&values};
    CHECK(cuLaunchKernel(plain, 1, 1, 1, 32, 1, 1, 0, nullptr, of_plain, nullptr));
    CHECK(cuLaunchKernel(instance, 1, 1, 1, 32, 1, 1, 0, nullptr, of_instance, nullptr));
    CHECK(cuMemcpyDtoH(host, values, sizeof host));
    printf("%zu bytes, first %g, last %g\n", bytes, host[0], host[31]);
    CHECK(cuMemFree(values));
}

int main() {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    int major, minor, count;
    COMPILES(nvrtcVersion(&major, &minor));
    COMPILES(nvrtcGetNumSupportedArchs(&count));
    std::vector<int> architectures(count);
    COMPILES(nvrtcGetSupportedArchs(architectures.data()));
    printf("version %d, last architecture %d\n", major >= 12 && minor >= 0, architectures.back());

    const char *const headers[] = {"template <class T> __device__ T scale(T value, T by) { return value * by; }\n"};
    const char *const names[] = {"scale.h"};
    nvrtcProgram program;
    COMPILES(nvrtcCreateProgram(&program, source, "kernels/all.cu", 1, headers, names));
    COMPILES(nvrtcAddNameExpression(program, "kinds::scaled<float, 2>"));
    COMPILES(nvrtcAddNameExpression(program, "&kinds::factor"));
    COMPILES(nvrtcAddNameExpression(program, "kinds::scaled<__half, 2>"));
    const char *scaled, *factor, *half, *none;
    printf("before: %s\n", nvrtcGetErrorString(nvrtcGetLoweredName(program, "kinds::scaled<float, 2>", &scaled)));
    const char *const options[] = {"--gpu-architecture=sm_80", "-default-device", "-DADDED=1", "--no-cache"};
    printf("refused: %s\n", nvrtcGetErrorString(nvrtcCompileProgram(program, 2, options)));
    const char *const taken[] = {"--gpu-architecture=sm_80", "-DADDED=1", "--use_fast_math", "--minimal"};
    COMPILES(nvrtcCompileProgram(program, 4, taken));
    printf("log: '%s'\n", log_of(program).c_str());
    COMPILES(nvrtcGetLoweredName(program, "kinds::scaled<float, 2>", &scaled));
    COMPILES(nvrtcGetLoweredName(program, "&kinds::factor", &factor));
    COMPILES(nvrtcGetLoweredName(program, "kinds::scaled<__half, 2>", &half));
    printf("%s %s %s, other: %s\n", scaled, factor, half, nvrtcGetErrorString(nvrtcGetLoweredName(program, "other", &none)));
    size_t bytes;
    COMPILES(nvrtcGetCUBINSize(program, &bytes));
    std::vector<char> code(bytes);
    COMPILES(nvrtcGetCUBIN(program, code.data()));
    COMPILES(nvrtcGetPTXSize(program, &bytes));
    std::string ptx(bytes, ' ');
    COMPILES(nvrtcGetPTX(program, &ptx[0]));
    printf("PTX %d, ends with zero %d\n", ptx.find(".entry plain(") != std::string::npos, (int)(strlen(ptx.c_str()) == bytes - 1));
    CUmodule module;
    CHECK(cuModuleLoadData(&module, code.data()));
    run(module, scaled, factor);
    CHECK(cuModuleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr));
    run(module, scaled, factor);
    COMPILES(nvrtcDestroyProgram(&program));
    printf("destroyed %d, again: %s\n", program == nullptr, nvrtcGetErrorString(nvrtcDestroyProgram(&program)));

    // A real architecture has to be named for machine code.
    COMPILES(nvrtcCreateProgram(&program, "__global__ void empty() {}", nullptr, 0, nullptr, nullptr));
    const char *const is_virtual[] = {"-arch", "compute_80"};
    COMPILES(nvrtcCompileProgram(program, 2, is_virtual));
    COMPILES(nvrtcGetCUBINSize(program, &bytes));
    printf("machine code %zu\n", bytes);
    COMPILES(nvrtcDestroyProgram(&program));

    COMPILES(nvrtcCreateProgram(&program, "__global__ void broken() { none(); }", "broken.cu", 0, nullptr, nullptr));
    printf("broken: %s\n", nvrtcGetErrorString(nvrtcCompileProgram(program, 0, nullptr)));
    const std::string log = log_of(program);
    printf("%.*s\n", (int)log.find('\n'), log.c_str());
    printf("then: %s\n", nvrtcGetErrorString(nvrtcGetPTXSize(program, &bytes)));
    COMPILES(nvrtcDestroyProgram(&program));
    std::string type;
    COMPILES(nvrtcGetTypeName<const unsigned &>(&type));
    printf("type %s\n", type.c_str());
}
