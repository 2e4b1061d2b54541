// A copy to the host is a wait: launches that have moved below an allocation or a free are done behind it, so
// that calls nobody knows may follow. With nothing to copy, and where it fails, the host waits all the same.
//
// arguments: 500
// arguments: 0
// expect: 12 launches -> 8
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

constexpr int threads = 64, count = 500, blocks = (count + threads - 1) / threads;

__global__ void ramp(double *a, double start) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < count) a[i] = start + i;
}
__global__ void increase(const double *a, double *c) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < count) c[i] = a[i] + 1;
}

static std::function<void(const char *, double)> report;

// What is behind the call nobody can tell before the program runs.
static void nothing_known(int argc) {
    report = [](const char *what, double value) { printf("%s: %a\n", what, value); };
    if (argc > 5) report = [](const char *what, double value) { printf("other %s: %a\n", what, value); };
}

static std::vector<double> host(count);
static int wrong;

static void expect(double value, const char *what) {
    if (host[3] != value) wrong++, printf("%s: %g instead of %g\n", what, host[3], value);
}

// One launch: the copy of so many bytes waits.
static void allocates(size_t copied) {
    double *a, *c;
    cudaMalloc(&a, count * sizeof *a);
    ramp<<<blocks, threads>>>(a, 1);
    cudaMalloc(&c, count * sizeof *c);
    increase<<<blocks, threads>>>(a, c);
    cudaError_t status = cudaMemcpy(host.data(), c, copied * sizeof *c, cudaMemcpyDeviceToHost);
    report("allocates", host[3] + status);
    expect(copied ? 5 : 0, "allocates");
    cudaFree(a);
    cudaFree(c);
}

// One launch: the free in between waits, and so does the copy.
static void frees(size_t copied) {
    double *a, *c, *other;
    cudaMalloc(&a, count * sizeof *a);
    cudaMalloc(&c, count * sizeof *c);
    cudaMalloc(&other, 8);
    ramp<<<blocks, threads>>>(a, 2);
    cudaFree(other);
    increase<<<blocks, threads>>>(a, c);
    cudaError_t status = cudaMemcpy(host.data(), c, copied * sizeof *c, cudaMemcpyDeviceToHost);
    report("frees", host[3] + status);
    expect(copied ? 6 : 0, "frees");
    cudaFree(a);
    cudaFree(c);
}

// One launch: the copy fails.
static void fails(size_t copied) {
    double *a, *c;
    cudaMalloc(&a, count * sizeof *a);
    ramp<<<blocks, threads>>>(a, 3);
    cudaMalloc(&c, count * sizeof *c);
    increase<<<blocks, threads>>>(a, c);
    cudaError_t status = cudaMemcpy(host.data(), nullptr, 8 + copied, cudaMemcpyDeviceToHost);
    report(cudaGetErrorName(status), cudaGetLastError());
    cudaMemcpy(host.data(), c, count * sizeof *c, cudaMemcpyDeviceToHost);
    report("fails", host[3]);
    expect(7, "fails");
    cudaFree(a);
    cudaFree(c);
}

// Two launches: one way to the call nobody knows leads past the copy.
static void maybe(size_t copied) {
    double *a, *c;
    cudaMalloc(&a, count * sizeof *a);
    ramp<<<blocks, threads>>>(a, 4);
    cudaMalloc(&c, count * sizeof *c);
    increase<<<blocks, threads>>>(a, c);
    if (copied) cudaMemcpy(host.data(), c, count * sizeof *c, cudaMemcpyDeviceToHost);
    report("maybe", host[3]);
    expect(copied ? 8 : 7, "maybe");
    cudaFree(a);
    cudaFree(c);
}

// Two launches: the host does not wait for this copy.
static void asynchronous(size_t) {
    double *a, *c;
    cudaMalloc(&a, count * sizeof *a);
    ramp<<<blocks, threads>>>(a, 5);
    cudaMalloc(&c, count * sizeof *c);
    increase<<<blocks, threads>>>(a, c);
    cudaMemcpyAsync(host.data(), c, count * sizeof *c, cudaMemcpyDeviceToHost, 0);
    report("asynchronous", 0);
    cudaDeviceSynchronize();
    report("asynchronous", host[3]);
    expect(9, "asynchronous");
    cudaFree(a);
    cudaFree(c);
}

// One launch: on both ways stands a copy.
static void either(size_t copied) {
    double *a, *c;
    cudaMalloc(&a, count * sizeof *a);
    ramp<<<blocks, threads>>>(a, 6);
    cudaMalloc(&c, count * sizeof *c);
    increase<<<blocks, threads>>>(a, c);
    if (copied) {
        cudaMemcpy(host.data(), c, copied * sizeof *c, cudaMemcpyDeviceToHost);
        report("copied", host[3]);
        expect(10, "either");
    } else {
        cudaMemcpy(host.data(), a, copied * sizeof *c, cudaMemcpyDeviceToHost);
        report("not copied", host[3]);
        expect(9, "either");
    }
    cudaFree(a);
    cudaFree(c);
}

int main(int argc, char **argv) {
    size_t copied = argc > 1 ? atoi(argv[1]) : count;
    nothing_known(argc);
    allocates(copied);
    frees(copied);
    fails(copied);
    maybe(copied);
    asynchronous(copied);
    either(copied);
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
