// Rows by single elements and by vectors of four: one launch where the length divides evenly, which only a run
// can tell, whether the host divides it or the kernel.
//
// arguments: 256
// arguments: 254
// arguments: 256 248
// expect: 10 launches -> 4
// expect-missed: copy_between, copy_between, copy_between
// executes: 4
// executes: 10
// executes: 8
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int rows = 20, threads = 128, most = 1024;

__global__ void scale(float *y, const float *x, int n) {
    for (int c = threadIdx.x; c < n; c += blockDim.x) y[blockIdx.x * n + c] = 2.0f * x[blockIdx.x * n + c];
}

__global__ void shift(float4 *z, const float4 *y, int vectors) {
    for (int c = threadIdx.x; c < vectors; c += blockDim.x) {
        float4 v = y[blockIdx.x * vectors + c];
        z[blockIdx.x * vectors + c] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
    }
}

__global__ void shift_by_four(float *z, const float *y, int n) {
    for (int c = threadIdx.x; c < n / 4; c += blockDim.x) {
        float4 v = reinterpret_cast<const float4 *>(y)[blockIdx.x * (n / 4) + c];
        reinterpret_cast<float4 *>(z)[blockIdx.x * (n / 4) + c] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
    }
}

static int wrong = 0;

static void expect(const char *what, const float *device, int n) {
    std::vector<float> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        if (host[i] == 2.0f * (i % 100) + 1) continue;
        printf("%s: element %d is %g\n", what, i, host[i]);
        wrong++;
        return;
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 256;
    if (n < 0 || n > most) return 1;
    constexpr int bytes = rows * most * sizeof(float);
    float *x, *y, *z, *w;
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMalloc(&z, bytes);
    cudaMalloc(&w, bytes);
    std::vector<float> host(rows * most);
    for (int i = 0; i < rows * most; i++) host[i] = i % 100;
    cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice);
    scale<<<rows, threads>>>(y, x, n);
    shift<<<rows, threads>>>((float4 *)z, (const float4 *)y, n / 4);
    expect("divided by the host", z, rows * (n / 4) * 4);
    cudaMemset(z, 0, bytes);
    scale<<<rows, threads>>>(y, x, n);
    shift_by_four<<<rows, threads>>>(z, y, n);
    expect("divided by the kernel", z, rows * (n / 4) * 4);
    // One length is four times another, and that is a fourth of a third one, of which only a run tells, too.
    int other = argc > 2 ? atoi(argv[2]) : n;
    shift_by_four<<<rows, threads>>>(y, x, other);
    shift<<<rows, threads>>>((float4 *)z, (const float4 *)y, n / 4);
    scale<<<rows, threads>>>(w, z, n);
    std::vector<float> scaled(rows * n);
    cudaMemcpy(scaled.data(), w, scaled.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < rows * (n / 4) * 4; i++) {
        float before = i < rows * (other / 4) * 4 ? i % 100 + 1.0f : 2.0f * (i % 100);
        if (scaled[i] == 2 * (before + 1)) continue;
        printf("divided by both: element %d is %g\n", i, scaled[i]);
        wrong++;
        break;
    }
    // Two fourths of one length, which only a run tells are equal.
    shift<<<rows, threads>>>((float4 *)y, (const float4 *)x, n / 4);
    scale<<<rows, threads>>>(z, y, n);
    shift<<<rows, threads>>>((float4 *)w, (const float4 *)z, other / 4);
    cudaMemcpy(scaled.data(), w, scaled.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < rows * (std::min(n, other) / 4) * 4; i++) {
        if (scaled[i] == 2 * (i % 100 + 1.0f) + 1) continue;
        printf("two fourths: element %d is %g\n", i, scaled[i]);
        wrong++;
        break;
    }
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
