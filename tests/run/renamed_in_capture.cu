// Launches that wait for their batches while their stream is captured. What they replace is renamed, as it is outside of a capture, in
// memory that stays, since the graph runs later and again. The argument says how often the graph is launched; 0: nothing is
// captured.
//
// executes: 3 3 9
// arguments: 0
// arguments: 1
// arguments: 3
#include <cstdio>
#include <cstdlib>
#include <vector>

const int N = 1024, THREADS = 96, BLOCKS = (N + THREADS - 1) / THREADS, PARTS = 8;

__global__ void line(float *out, const float *in, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) out[i] = in[i > 0 ? i - 1 : 0] * scale + 1;
}

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::printf("%s\n", cudaGetErrorString(error));
    std::exit(1);
}

int main(int argc, char **argv) {
    int times = argc > 1 ? std::atoi(argv[1]) : 0;
    std::vector<float> host(PARTS * N);
    for (int i = 0; i < PARTS * N; ++i) host[i] = 0.01f * float(i % 91);
    float *parts, *from, *between;
    check(cudaMalloc(&parts, PARTS * N * sizeof(float)));
    check(cudaMalloc(&from, N * sizeof(float)));
    check(cudaMalloc(&between, N * sizeof(float)));
    check(cudaMemcpy(parts, host.data(), PARTS * N * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpy(from, host.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpy(between, host.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    if (times > 0) check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int part = 0; part < PARTS; ++part) line<<<BLOCKS, THREADS, 0, stream>>>(parts + part * N, from, 2.f + part);
    // Each step overwrites what lies between.
    for (int part = 0; part < PARTS / 2; ++part) {
        line<<<BLOCKS, THREADS, 0, stream>>>(between, parts + part * N, 0.5f);
        line<<<BLOCKS, THREADS, 0, stream>>>(parts + part * N, between, 0.25f);
    }
    if (times > 0) {
        cudaGraph_t graph;
        cudaGraphExec_t ready;
        check(cudaStreamEndCapture(stream, &graph));
        check(cudaGraphInstantiate(&ready, graph, 0));
        for (int time = 0; time < times; ++time) check(cudaGraphLaunch(ready, stream));
    }
    check(cudaStreamSynchronize(stream));
    check(cudaMemcpy(host.data(), parts, PARTS * N * sizeof(float), cudaMemcpyDeviceToHost));
    std::vector<float> last(N);
    check(cudaMemcpy(last.data(), between, N * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0, rest = 0;
    for (int i = 0; i < PARTS * N; ++i) sum += host[i] * (i % 7 + 1);
    for (int i = 0; i < N; ++i) rest += last[i] * (i % 5 + 1);
    std::printf("%.9g %.9g PASS\n", sum, rest);
}
