// expect: 2 launches -> 1
// The host's numbers make the loops of both kernels empty: nothing is touched, wherever the second one's subscript leads.
#include <cstdio>

__global__ void fill(long long n, float *t) {
    for (long long i = 0; i < n; ++i) t[i] = 1;
}
__global__ void scatter(long long n, long long m, const int *at, float *t) {
    for (long long i = 0; i < n; ++i)
        for (long long j = 0; j < m; ++j) t[at[i]] += 2;
}

int main() {
    float *t, host = 3;
    int *at;
    cudaMalloc(&t, 400);
    cudaMalloc(&at, 400);
    cudaMemset(at, 0, 400);
    cudaMemcpy(t, &host, 4, cudaMemcpyHostToDevice);
    fill<<<1, 1>>>(0, t);
    scatter<<<1, 1>>>(1, 0, at, t);
    host = 0;
    cudaMemcpy(&host, t, 4, cudaMemcpyDeviceToHost);
    puts(host == 3 ? "PASS" : "FAIL");
}
