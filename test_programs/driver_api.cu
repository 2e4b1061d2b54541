// A whole program through the driver's interface: contexts, memory, copies and launches.
//
// Shows: functions that are kept in members of a class, sub-buffers of one allocation, arguments behind
// an array of addresses and in a parameter buffer. Both forms are launch sites like any other: the three
// steps of a layer touch one element a thread and run as one launch, and so do the two of the loop, for all
// of its iterations at once. Two more are on ways that end the program; they join nothing.
//
// usage: driver_api [elements]
//
// expect: 7 launches -> 4
// executes: 2
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CU_CHECK(call)                                                                  \
    do {                                                                                \
        CUresult status = (call);                                                       \
        if (status != CUDA_SUCCESS) {                                                   \
            const char *name = nullptr;                                                 \
            cuGetErrorName(status, &name);                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, name);                   \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

// Calls again for the message, as many a program's macro does: a launch on a way that ends the program.
#define CU_REQUIRE(call)                                                                \
    if ((call) != CUDA_SUCCESS) {                                                       \
        fprintf(stderr, "%s:%d: %d\n", __FILE__, __LINE__, (int)(call));                \
        exit(1);                                                                        \
    }

#define CUDA_CHECK(call)                                                                \
    do {                                                                                \
        cudaError_t status = (call);                                                    \
        if (status != cudaSuccess) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorName(status)); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

__global__ void scale(const float *in, float *out, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}

__global__ void add_bias(float *x, const float *bias, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += bias[i];
}

__global__ void rectify(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

// The parameters of add_bias as they lie in a parameter buffer.
struct AddBiasParameters {
    CUdeviceptr x;
    CUdeviceptr bias;
    int n;
    // Without what pads the struct at its end: a driver takes a longer buffer for too many parameters.
    static constexpr size_t bytes = 2 * sizeof(CUdeviceptr) + sizeof(int);
};

template <class T>
static CUresult launch(CUfunction function, unsigned blocks, unsigned threads, const T &parameters) {
    size_t size = T::bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<T *>(&parameters),
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, nullptr, extra);
}

class Layer {
public:
    explicit Layer(int n) : n_(n) {
        CU_CHECK(cuInit(0));
        CU_CHECK(cuDeviceGet(&device_, 0));
        CU_CHECK(cuDevicePrimaryCtxRetain(&context_, device_));
        CU_CHECK(cuCtxSetCurrent(context_));
        CUDA_CHECK(cudaGetFuncBySymbol(&scale_, (const void *)scale));
        CUDA_CHECK(cudaGetFuncBySymbol(&add_bias_, (const void *)add_bias));
        CUDA_CHECK(cudaGetFuncBySymbol(&rectify_, (const void *)rectify));
        // Input, bias and output are parts of one allocation.
        const size_t bytes = n * sizeof(float);
        CU_CHECK(cuMemAlloc(&memory_, 3 * bytes));
        input_ = memory_;
        bias_ = memory_ + bytes;
        output_ = memory_ + 2 * bytes;
    }

    ~Layer() {
        CU_CHECK(cuMemFree(memory_));
        CU_CHECK(cuDevicePrimaryCtxRelease(device_));
    }

    void load(const std::vector<float> &input, const std::vector<float> &bias) {
        CU_CHECK(cuMemcpyHtoD(input_, input.data(), n_ * sizeof(float)));
        CU_CHECK(cuMemcpyHtoD(bias_, bias.data(), n_ * sizeof(float)));
        CU_CHECK(cuMemsetD32(output_, 0, n_));
    }

    void forward() {
        float factor = 0.5f;
        void *scale_arguments[] = {&input_, &output_, &factor, &n_};
        CU_REQUIRE(cuLaunchKernel(scale_, blocks(), 1, 1, kThreads, 1, 1, 0, nullptr, scale_arguments,
                                nullptr));
        CU_CHECK(launch(add_bias_, blocks(), kThreads, AddBiasParameters{output_, bias_, n_}));
        void *rectify_arguments[] = {&output_, &n_};
        CU_REQUIRE(cuLaunchKernel(rectify_, blocks(), 1, 1, kThreads, 1, 1, 0, nullptr,
                                rectify_arguments, nullptr));
    }

    void again(int times) {
        for (int i = 0; i < times; ++i) {
            CU_CHECK(launch(add_bias_, blocks(), kThreads, AddBiasParameters{output_, bias_, n_}));
            void *arguments[] = {&output_, &n_};
            CU_CHECK(cuLaunchKernel(rectify_, blocks(), 1, 1, kThreads, 1, 1, 0, nullptr, arguments,
                                    nullptr));
        }
    }

    void fetch(std::vector<float> &output) {
        CU_CHECK(cuCtxSynchronize());
        CU_CHECK(cuMemcpyDtoH(output.data(), output_, n_ * sizeof(float)));
    }

private:
    enum { kThreads = 128 };
    unsigned blocks() const { return (n_ + kThreads - 1) / kThreads; }

    int n_;
    CUdevice device_;
    CUcontext context_;
    CUfunction scale_, add_bias_, rectify_;
    CUdeviceptr memory_, input_, bias_, output_;
};

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 5000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [elements]\n", argv[0]);
        return 2;
    }
    std::vector<float> input(n), bias(n), output(n);
    for (int i = 0; i < n; ++i) {
        input[i] = float(i % 61) - 30.0f;
        bias[i] = float(i % 7) - 3.0f;
    }

    const int times = 3;
    Layer layer(n);
    layer.load(input, bias);
    layer.forward();
    layer.again(times);
    layer.fetch(output);

    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        float expected = 0.5f * input[i] + bias[i];
        if (!(expected > 0.0f)) expected = 0.0f;
        for (int step = 0; step < times; ++step) {
            expected += bias[i];
            if (!(expected > 0.0f)) expected = 0.0f;
        }
        wrong += output[i] != expected;
    }
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
