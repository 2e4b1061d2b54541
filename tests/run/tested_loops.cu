// Host loops that end by numbers which they copy from the device: each runs in one launch, which computes what the host
// would compute. Beside them stand loops that have to stay. An argument is the number of the part.
//
// expect: 117 launches -> 36, 18 host loops inside their kernels
// built with: --sirius-boundaries=grid-barrier
// executes: 1 2 1 1 1 1 2 3 1 1 4 12 1 1 1 1 2 1 4 8 4 4 4 4 8 10 12 4
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
// arguments: 6
// arguments: 7
// arguments: 8
// arguments: 9
// arguments: 10
// arguments: 11
// arguments: 12
// arguments: 13
// arguments: 14
// arguments: 15
// arguments: 16
// arguments: 17
// arguments: 18
// arguments: 19
// arguments: 20
// arguments: 21
// arguments: 22
// arguments: 23
// arguments: 24
// arguments: 25
// arguments: 26
// arguments: 27
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <utility>
#include <vector>

const int N = 1500, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;
// In the one loop that takes many iterations.
const int FEW = 2 * THREADS - 20;

__global__ void smooth(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? from[i - 1] : 0, right = i + 1 < n ? from[i + 1] : 0;
    to[i] = left * 0.25f + from[i] * 0.5f + right * 0.25f;
}

// The sum of each block's squares.
__global__ void squares(const float *v, double *sum, int n) {
    __shared__ double part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? double(v[i]) * double(v[i]) : 0;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sum[blockIdx.x] = part[0];
}

__global__ void add_up(const double *sum, int blocks, double *total) {
    if (threadIdx.x != 0) return;
    double all = 0;
    for (int block = 0; block < blocks; ++block) all += sum[block];
    *total = all;
}

// How many are above a bound; the first word of two.
__global__ void count_above(const float *v, unsigned *count, int n, float bound) {
    if (threadIdx.x != 0) return;
    unsigned found = 0;
    for (int i = 0; i < n; ++i) found += v[i] > bound;
    count[0] = found;
    count[1] += 1;
}

__global__ void scale(float *v, int n, const double *by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = float(v[i] / (1 + *by * 1e-3));
}

__global__ void scale_by(float *v, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] *= by;
}

// The method of conjugate gradients, whose numbers the host computes.
__global__ void times_matrix(const double *p, double *q, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) q[i] = 3 * p[i] - (i > 0 ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0);
}
__global__ void products(const double *a, const double *b, double *sum, int n) {
    __shared__ double part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sum[blockIdx.x] = part[0];
}
__global__ void add_times(double *to, const double *from, double by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += by * from[i];
}
__global__ void turn(double *p, const double *r, double by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = r[i] + by * p[i];
}

__global__ void tell(const double *total) {
    if (threadIdx.x == 0 && *total < 0) printf("%g\n", *total);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) std::printf("FAIL %s\n", cudaGetErrorString(status)), std::exit(1);
}

int main(int argc, char **argv) {
    int which = argc > 1 ? std::atoi(argv[1]) : 0;
    double bound = argc > 2 ? std::atof(argv[2]) : 30.0;
    int most = argc > 3 ? std::atoi(argv[3]) : 40;
    std::vector<float> host(N);
    for (int i = 0; i < N; ++i) host[i] = float(i % 11) * 0.125f - 0.5f;
    const size_t bytes = N * sizeof(float);
    float *a, *b;
    double *sum, *total;
    unsigned *count;
    check(cudaMalloc(&a, bytes));
    check(cudaMalloc(&b, bytes));
    check(cudaMalloc(&sum, BLOCKS * sizeof(double)));
    check(cudaMalloc(&total, 2 * sizeof(double)));
    check(cudaMalloc(&count, 2 * sizeof(unsigned)));
    for (float *each : {a, b}) check(cudaMemcpy(each, host.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemset(sum, 0, BLOCKS * sizeof(double)));
    check(cudaMemset(total, 0, 2 * sizeof(double)));
    check(cudaMemset(count, 0, 2 * sizeof(unsigned)));
    double residual = 1e30;
    int rounds = 0;

    switch (which) {
    case 0: // Until the residual is small, or often enough.
        while (rounds < most && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            squares<<<BLOCKS, THREADS>>>(b, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            std::swap(a, b);
            ++rounds;
        }
        break;
    case 1: // Only often enough, which is more than one launch has room for.
        do {
            smooth<<<2, THREADS>>>(a, b, FEW);
            smooth<<<2, THREADS>>>(b, a, FEW);
            squares<<<2, THREADS>>>(a, sum, FEW);
            add_up<<<1, THREADS>>>(sum, 2, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
        } while (++rounds < 1100 && residual >= 0);
        break;
    case 2: { // In a stream, with a copy that does not wait.
        cudaStream_t stream;
        check(cudaStreamCreate(&stream));
        check(cudaDeviceSynchronize());
        do {
            smooth<<<BLOCKS, THREADS, 0, stream>>>(a, b, N);
            smooth<<<BLOCKS, THREADS, 0, stream>>>(b, a, N);
            squares<<<BLOCKS, THREADS, 0, stream>>>(a, sum, N);
            add_up<<<1, THREADS, 0, stream>>>(sum, BLOCKS, total);
            check(cudaMemcpyAsync(&residual, total, sizeof residual, cudaMemcpyDeviceToHost, stream));
            check(cudaStreamSynchronize(stream));
            ++rounds;
        } while (residual > bound);
        check(cudaStreamDestroy(stream));
        break;
    }
    case 3: { // By a norm, and how it changes.
        double before = 0, change = 1;
        while (change > 1e-3 * bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            double norm = std::sqrt(residual / N);
            change = std::fabs(norm - before) + 1e-9 * norm * norm;
            before = norm;
            ++rounds;
        }
        std::printf("%.17g %.17g\n", before, change);
        break;
    }
    case 4: { // Two whole numbers, of which the host keeps a sum.
        unsigned found[2] = {1, 0}, all = 0;
        while (found[0] > 200 || rounds < 3) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            count_above<<<1, THREADS>>>(a, count, N, 0.25f);
            check(cudaMemcpy(found, count, sizeof found, cudaMemcpyDeviceToHost));
            all += found[0] * found[1];
            if (rounds % 3 == 0 && found[1] < 100) std::cout << "round " << rounds << std::endl;
            if (++rounds == most) break;
        }
        std::printf("%u %u %u\n", found[0], found[1], all);
        break;
    }
    case 5: // What the host says of each iteration.
        while (rounds < most && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            std::printf("%d: %.17g\n", ++rounds, residual);
        }
        break;
    case 6: // The first launch of an iteration writes what the copy reads.
        squares<<<BLOCKS, THREADS>>>(a, sum, N);
        while (rounds < most && residual > bound) {
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            scale<<<BLOCKS, THREADS>>>(a, N, total);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 7: // A loop around.
        for (int outer = 0; outer < 3; ++outer) {
            residual = 1e30;
            int inner = 0;
            while (inner < 7 && residual > bound * (3 - outer)) {
                smooth<<<BLOCKS, THREADS>>>(a, b, N);
                smooth<<<BLOCKS, THREADS>>>(b, a, N);
                squares<<<BLOCKS, THREADS>>>(a, sum, N);
                add_up<<<1, THREADS>>>(sum, BLOCKS, total);
                check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
                ++inner;
            }
            rounds += inner;
        }
        break;
    case 8: // It never goes round twice.
        do {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        } while (!(residual == residual));
        break;
    case 9: // A bound of single precision.
        while (float(residual) > float(bound)) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 10: // An error that somebody looks at in the loop: all is launched as it is written.
        smooth<<<0, THREADS>>>(a, b, N);
        while (rounds < most && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            if (cudaGetLastError() != cudaSuccess) break;
            ++rounds;
        }
        break;
    case 11: // More blocks than the device has room for: as it is written.
        while (rounds < 3 && residual > bound) {
            smooth<<<2048, THREADS>>>(a, b, N);
            smooth<<<2048, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 12: // Blocks of several shapes and sizes.
        while (rounds < most && residual > bound) {
            smooth<<<2 * BLOCKS, THREADS / 2>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, 1>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 13: // The host ends it between launches.
        for (;;) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            squares<<<BLOCKS, THREADS>>>(b, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            if (++rounds > 3 || residual < bound) break;
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
        }
        break;
    case 14: // A number that is another one in each iteration.
        while (rounds < 4 && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            scale_by<<<BLOCKS, THREADS>>>(b, N, 1.0f / float(rounds + 1));
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 15: // A number that comes from the device.
        residual = 3;
        while (rounds < 4 && residual > 1e-9) {
            scale_by<<<BLOCKS, THREADS>>>(a, N, float(1 / (1 + residual)));
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            squares<<<BLOCKS, THREADS>>>(b, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 16: { // Numbers of which the host makes others in between.
        double *x, *r, *p, *q, rr, pq, more;
        check(cudaMalloc(&x, N * sizeof(double)));
        check(cudaMalloc(&r, N * sizeof(double)));
        check(cudaMalloc(&p, N * sizeof(double)));
        check(cudaMalloc(&q, N * sizeof(double)));
        std::vector<double> right(N);
        for (int i = 0; i < N; ++i) right[i] = (i * 37) % 64 - 31.5;
        check(cudaMemset(x, 0, N * sizeof(double)));
        check(cudaMemcpy(r, right.data(), N * sizeof(double), cudaMemcpyHostToDevice));
        check(cudaMemcpy(p, right.data(), N * sizeof(double), cudaMemcpyHostToDevice));
        products<<<BLOCKS, THREADS>>>(r, r, sum, N);
        add_up<<<1, THREADS>>>(sum, BLOCKS, total);
        check(cudaMemcpy(&rr, total, sizeof rr, cudaMemcpyDeviceToHost));
        while (rounds < most && rr > 1e-12) {
            times_matrix<<<BLOCKS, THREADS>>>(p, q, N);
            products<<<BLOCKS, THREADS>>>(p, q, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&pq, total, sizeof pq, cudaMemcpyDeviceToHost));
            double alpha = rr / pq;
            add_times<<<BLOCKS, THREADS>>>(x, p, alpha, N);
            add_times<<<BLOCKS, THREADS>>>(r, q, -alpha, N);
            products<<<BLOCKS, THREADS>>>(r, r, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&more, total, sizeof more, cudaMemcpyDeviceToHost));
            turn<<<BLOCKS, THREADS>>>(p, r, more / rr, N);
            rr = more;
            std::printf("%d: %.17g\n", ++rounds, rr);
        }
        check(cudaMemcpy(right.data(), x, N * sizeof(double), cudaMemcpyDeviceToHost));
        residual = 0;
        for (int i = 0; i < N; ++i) residual += right[i] * (i % 97 + 1);
        for (double *each : {x, r, p, q}) check(cudaFree(each));
        break;
    }
    case 17: // A whole number, and one that the device and the host change by turns.
        for (int left = most; left > 0 && residual > bound; left -= 3) {
            scale_by<<<BLOCKS, THREADS>>>(a, N, 1.0f - 1.0f / float(left));
            smooth<<<BLOCKS, THREADS>>>(a, b, N - (left & 3));
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    // Here begin those that stay.
    case 18: // The host looks at all of it.
        while (rounds < 4 && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            check(cudaMemcpy(host.data(), a, bytes, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 19: { // Another stream writes.
        cudaStream_t other;
        check(cudaStreamCreate(&other));
        while (rounds < 4 && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS, 0, other>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        check(cudaStreamDestroy(other));
        break;
    }
    case 20: // The host changes the number in between.
        while (rounds < 4 && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            scale<<<BLOCKS, THREADS>>>(b, N, total);
            squares<<<BLOCKS, THREADS>>>(b, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            double less = residual - 1;
            check(cudaMemcpy(total, &less, sizeof less, cudaMemcpyHostToDevice));
            ++rounds;
        }
        break;
    case 21: // The clock tells.
        while (rounds < 4 && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            if (std::time(nullptr) < 1000) break;
            ++rounds;
        }
        break;
    case 22: // A logarithm is another one on the device.
        while (rounds < 4 && std::log(residual) > 0.1 * bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 27: // A number that the device would compute in another way.
        while (rounds < 4 && residual > 1e-9) {
            scale_by<<<BLOCKS, THREADS>>>(a, N, std::exp(-float(rounds)));
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            squares<<<BLOCKS, THREADS>>>(b, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 23: // The host copies from another place in each iteration.
        while (rounds < 4 && residual > -1) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            std::swap(a, b);
            float first;
            check(cudaMemcpy(&first, a, sizeof first, cudaMemcpyDeviceToHost));
            residual = first;
            ++rounds;
        }
        break;
    case 24: // A kernel that prints.
        while (rounds < 4 && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            tell<<<1, THREADS>>>(total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 25: // A launch that is not in each iteration.
        while (rounds < 4 && residual > bound) {
            smooth<<<BLOCKS, THREADS>>>(a, b, N);
            if (rounds % 2) smooth<<<BLOCKS, THREADS>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(b, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    case 26: // Smaller blocks whose threads wait for each other.
        while (rounds < 4 && residual > bound) {
            smooth<<<(N + 255) / 256, 256>>>(a, b, N);
            smooth<<<(N + 255) / 256, 256>>>(b, a, N);
            squares<<<BLOCKS, THREADS>>>(a, sum, N);
            add_up<<<1, THREADS>>>(sum, BLOCKS, total);
            check(cudaMemcpy(&residual, total, sizeof residual, cudaMemcpyDeviceToHost));
            ++rounds;
        }
        break;
    }
    check(cudaDeviceSynchronize());

    std::vector<float> results(2 * N);
    check(cudaMemcpy(results.data(), a, bytes, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(results.data() + N, b, bytes, cudaMemcpyDeviceToHost));
    double check_sum = 0;
    for (size_t i = 0; i < results.size(); ++i) check_sum += double(results[i]) * double(i % 97 + 1);
    unsigned counted[2];
    check(cudaMemcpy(counted, count, sizeof counted, cudaMemcpyDeviceToHost));
    std::printf("%d rounds, %.17g, %.9g, %u %u\nPASS\n", rounds, residual, check_sum, counted[0], counted[1]);
}
