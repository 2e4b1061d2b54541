// Calls of cuBLAS and cuFFT on captured streams: they run when the graph does, with the scalars of the capture.
//
// expect: 2 launches -> 2
#include <cstdio>
#include <cublas_v2.h>
#include <cufft.h>
#include <vector>

static int wrong = 0;

#define EXPECT(what)                                                        \
    do {                                                                    \
        if (!(what)) printf("line %d: not %s\n", __LINE__, #what), wrong++; \
    } while (0)

constexpr int n = 64;

__global__ void increase(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

static cudaGraph_t captured(cudaStream_t stream, cublasHandle_t blas, cufftHandle plan, float *x, float *y,
                            cufftComplex *z) {
    float factor = 3;
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    increase<<<1, n, 0, stream>>>(x);
    EXPECT(cublasSaxpy(blas, n, &factor, x, 1, y, 1) == CUBLAS_STATUS_SUCCESS);
    factor = 1000;  // that of the call stays
    increase<<<1, n, 0, stream>>>(y);
    EXPECT(cufftExecC2C(plan, z, z, CUFFT_FORWARD) == CUFFT_SUCCESS);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    return graph;
}

int main() {
    float *x, *y;
    cufftComplex *z;
    cudaMalloc(&x, n * sizeof(float)), cudaMalloc(&y, n * sizeof(float)), cudaMalloc(&z, n * sizeof(cufftComplex));
    std::vector<float> host(n, 2.0f);
    std::vector<cufftComplex> signal(n, cufftComplex{1, 0});
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(z, signal.data(), n * sizeof(cufftComplex), cudaMemcpyHostToDevice);
    cudaMemset(y, 0, n * sizeof(float));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cublasHandle_t blas;
    cublasCreate(&blas), cublasSetStream(blas, stream);
    cufftHandle plan;
    cufftPlan1d(&plan, n, CUFFT_C2C, 1), cufftSetStream(plan, stream);
    cudaGraph_t graph = captured(stream, blas, plan, x, y, z);
    cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    EXPECT(host[5] == 0);
    size_t nodes = 0;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    EXPECT(nodes == 4);
    cudaGraphExec_t steps;
    cudaGraphInstantiate(&steps, graph, 0);
    for (int k = 0; k < 2; ++k) EXPECT(cudaGraphLaunch(steps, stream) == cudaSuccess);
    cudaStreamSynchronize(stream);
    cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float value : host) EXPECT(value == 3 * 3 + 1 + 3 * 4 + 1);
    // Twice: the constant becomes an impulse, and that a constant again.
    cudaMemcpy(signal.data(), z, n * sizeof(cufftComplex), cudaMemcpyDeviceToHost);
    for (cufftComplex value : signal) EXPECT(value.x == n && value.y == 0);

    // A result for the host cannot wait for the graph.
    float sum = 0;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    EXPECT(cublasSasum(blas, n, x, 1, &sum) != CUBLAS_STATUS_SUCCESS);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    EXPECT(cublasSasum(blas, n, x, 1, &sum) == CUBLAS_STATUS_SUCCESS && sum == 4 * n);
    cublasDestroy(blas), cufftDestroy(plan);
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
