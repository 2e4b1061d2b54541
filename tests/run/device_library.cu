// NVML on the CPU device: the device by number, identity and address, its name, memory and clocks as the runtime has
// them; what no processor tells, and calls outside of a session.
//
// expect: 1 launches -> 1
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <nvml.h>

static int wrong = 0;

#define EXPECT(condition)                                                               \
    do {                                                                                \
        if (!(condition)) printf("line %d: not so\n", __LINE__), wrong++;               \
    } while (0)

__global__ void set(int *x) { *x = 7; }

int main() {
    unsigned count = 9;
    EXPECT(nvmlDeviceGetCount(&count) == NVML_ERROR_UNINITIALIZED && count == 9);
    EXPECT(nvmlInit() == NVML_SUCCESS && nvmlInit() == NVML_SUCCESS && nvmlShutdown() == NVML_SUCCESS);
    EXPECT(nvmlDeviceGetCount(&count) == NVML_SUCCESS && count == 1);

    nvmlDevice_t device, same;
    EXPECT(nvmlDeviceGetHandleByIndex(1, &device) == NVML_ERROR_INVALID_ARGUMENT);
    EXPECT(nvmlDeviceGetHandleByIndex(0, &device) == NVML_SUCCESS);
    char name[NVML_DEVICE_NAME_BUFFER_SIZE], identity[NVML_DEVICE_UUID_BUFFER_SIZE], address[32];
    EXPECT(nvmlDeviceGetName(device, name, 3) == NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT(nvmlDeviceGetName(device, name, sizeof name) == NVML_SUCCESS);
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    EXPECT(!strcmp(name, properties.name));
    EXPECT(nvmlDeviceGetUUID(device, identity, sizeof identity) == NVML_SUCCESS && strlen(identity) == 40);
    EXPECT(nvmlDeviceGetHandleByUUID(identity, &same) == NVML_SUCCESS && same == device);
    EXPECT(nvmlDeviceGetHandleByUUID("GPU-0", &same) == NVML_ERROR_NOT_FOUND);
    cudaDeviceGetPCIBusId(address, sizeof address, 0);
    EXPECT(nvmlDeviceGetHandleByPciBusId(address, &same) == NVML_SUCCESS && same == device);
    nvmlPciInfo_t place;
    EXPECT(nvmlDeviceGetPciInfo(device, &place) == NVML_SUCCESS && !strcmp(place.busIdLegacy, address));
    int major = 0, minor = -1, version = 0, runtime = 0;
    EXPECT(nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == NVML_SUCCESS);
    EXPECT(major == properties.major && minor == properties.minor);
    EXPECT(nvmlSystemGetCudaDriverVersion(&version) == NVML_SUCCESS);
    EXPECT(cudaDriverGetVersion(&runtime) == cudaSuccess && version == runtime);

    nvmlMemory_t before, after;
    nvmlMemory_v2_t detailed;
    detailed.version = nvmlMemory_v2;
    EXPECT(nvmlDeviceGetMemoryInfo(device, &before) == NVML_SUCCESS);
    EXPECT(before.total == properties.totalGlobalMem && before.total == before.free + before.used);
    int *x, value = 0;
    cudaMalloc(&x, 1 << 20);
    EXPECT(nvmlDeviceGetMemoryInfo(device, &after) == NVML_SUCCESS && after.used >= before.used + (1 << 20));
    EXPECT(nvmlDeviceGetMemoryInfo_v2(device, &detailed) == NVML_SUCCESS && detailed.used == after.used);
    unsigned clock = 0;
    int rate = 0;
    cudaDeviceGetAttribute(&rate, cudaDevAttrClockRate, 0);
    EXPECT(nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &clock) == NVML_SUCCESS && int(clock) == rate / 1000);
    EXPECT(nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_MEM, &clock) == NVML_SUCCESS && clock > 0);
    EXPECT(nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &clock) == NVML_ERROR_NOT_SUPPORTED);
    EXPECT(nvmlDeviceGetPowerUsage(nullptr, &clock) == NVML_ERROR_INVALID_ARGUMENT);
    EXPECT(strstr(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "not available"));

    set<<<1, 1>>>(x);
    cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost);
    EXPECT(value == 7);
    EXPECT(nvmlShutdown() == NVML_SUCCESS && nvmlShutdown() == NVML_ERROR_UNINITIALIZED);
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
