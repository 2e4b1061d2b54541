// The method of conjugate gradients for a sparse system: a heat equation in one dimension with a
// tridiagonal matrix, solved until the residual is small or after a number of steps.
//
// Shows: what of an iterative solver can run as one. The matrix times the direction reads
// neighbours of the direction, but writes an element a thread, which the dot product behind it
// reads in the same thread: one kernel. The same holds for the update of solution and residual and
// the dot product behind that. The sums of all blocks and what every block does with them are
// dependences of global width. A copy within the device is part of the launch that uses it.
//
// usage: conjugate_gradient [unknowns]
//
// expect: 10 launches -> 4
// arguments:
// arguments: 129
// arguments: 1
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int THREADS = 128;
constexpr int STEPS = 25;

// x = 0, r = b, p = b.
__global__ void start(const double *b, double *x, double *r, double *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = 0.0;
    r[i] = b[i];
    p[i] = b[i];
}

// q = A p, with 3 on the diagonal and -1 beside it.
__global__ void times_matrix(const double *p, double *q, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double left = i > 0 ? p[i - 1] : 0.0;
    double right = i + 1 < n ? p[i + 1] : 0.0;
    q[i] = 3.0 * p[i] - left - right;
}

// The dot product of each block's elements.
__global__ void dot(const double *a, const double *b, double *partial, int n) {
    __shared__ double sum[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[threadIdx.x] = i < n ? a[i] * b[i] : 0.0;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sum[threadIdx.x] += sum[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sum[0];
}

// One thread adds the blocks' sums, in order.
__global__ void add_up(const double *partial, double *total, int blocks) {
    if (threadIdx.x != 0) return;
    double sum = 0.0;
    for (int i = 0; i < blocks; ++i) sum += partial[i];
    *total = sum;
}

// x += alpha p and r -= alpha q, where alpha = (r, r) / (p, q).
__global__ void update(double *x, double *r, const double *p, const double *q, const double *rr,
                       const double *pq, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double alpha = *rr / *pq;
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
}

// p = r + beta p, where beta = (r, r) / (old r, old r).
__global__ void turn(double *p, const double *r, const double *rr, const double *old_rr, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = r[i] + *rr / *old_rr * p[i];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000;
    if (n < 1) {
        fprintf(stderr, "usage: %s [unknowns]\n", argv[0]);
        return 2;
    }
    std::vector<double> right_side(n), solution(n);
    for (int i = 0; i < n; ++i) right_side[i] = (i * 37) % 64 - 31.5;

    const size_t bytes = n * sizeof(double);
    const int blocks = (n + THREADS - 1) / THREADS;
    double *b, *x, *r, *p, *q, *partial, *rr, *old_rr, *pq;
    cudaMalloc(&b, bytes);
    cudaMalloc(&x, bytes);
    cudaMalloc(&r, bytes);
    cudaMalloc(&p, bytes);
    cudaMalloc(&q, bytes);
    cudaMalloc(&partial, blocks * sizeof(double));
    cudaMalloc(&rr, sizeof(double));
    cudaMalloc(&old_rr, sizeof(double));
    cudaMalloc(&pq, sizeof(double));
    cudaMemcpy(b, right_side.data(), bytes, cudaMemcpyHostToDevice);

    start<<<blocks, THREADS>>>(b, x, r, p, n);
    dot<<<blocks, THREADS>>>(r, r, partial, n);
    add_up<<<1, THREADS>>>(partial, rr, blocks);
    double error = 1.0;
    for (int step = 0; step < STEPS && error > 1e-16; ++step) {
        times_matrix<<<blocks, THREADS>>>(p, q, n);
        dot<<<blocks, THREADS>>>(p, q, partial, n);
        add_up<<<1, THREADS>>>(partial, pq, blocks);
        update<<<blocks, THREADS>>>(x, r, p, q, rr, pq, n);
        cudaMemcpy(old_rr, rr, sizeof(double), cudaMemcpyDeviceToDevice);
        dot<<<blocks, THREADS>>>(r, r, partial, n);
        add_up<<<1, THREADS>>>(partial, rr, blocks);
        turn<<<blocks, THREADS>>>(p, r, rr, old_rr, n);
        cudaMemcpy(&error, rr, sizeof(double), cudaMemcpyDeviceToHost);
    }
    cudaMemcpy(solution.data(), x, bytes, cudaMemcpyDeviceToHost);
    for (double *buffer : {b, x, r, p, q, partial, rr, old_rr, pq}) cudaFree(buffer);

    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        double left = i > 0 ? solution[i - 1] : 0.0;
        double right = i + 1 < n ? solution[i + 1] : 0.0;
        largest = std::fmax(largest, std::fabs(3.0 * solution[i] - left - right - right_side[i]));
    }
    printf("the largest residual is below 1e-6: %s\n", largest < 1e-6 ? "yes" : "no");
    printf(largest < 1e-6 ? "PASS\n" : "FAIL: %g\n", largest);
    return largest >= 1e-6;
}
