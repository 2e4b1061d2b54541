// Barriers behind which only some threads of a block are left: those that have ended wait there too, so that the launches run
// as one. Beside them stand kernels in which they cannot. Arguments are the number of the part, and of the elements.
//
// executes: 1 1 1 1 1 1 1 2 2 2 1 1
// arguments: 0 1000
// arguments: 1 1000
// arguments: 1 1024
// arguments: 2 1000
// arguments: 3 1000
// arguments: 4 1000
// arguments: 5 1000
// arguments: 6 1000
// arguments: 7 1000
// arguments: 8 1000
// arguments: 9 1000
// arguments: 10 1000
#include <cstdio>
#include <cstdlib>
#include <vector>

const int THREADS = 128;

__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

// A sum by halves, each in the branch of the half before.
template <int HALF> struct Sum {
    static __device__ void run(float *part, float *out) {
        __syncthreads();
        if (threadIdx.x < HALF) {
            part[threadIdx.x] += part[threadIdx.x + HALF];
            Sum<HALF / 2>::run(part, out);
        }
    }
};

template <> struct Sum<0> {
    static __device__ void run(float *part, float *out) { out[blockIdx.x] = part[0]; }
};

__global__ void sums(const float *in, float *out, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    Sum<THREADS / 2>::run(part, out);
}

// Those without an element end first.
__global__ void turn(const float *in, float *out, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = 5;
    __syncthreads();
    if (i >= n) return;
    part[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = part[threadIdx.x ^ 1] + 1;
}

// What they store before they end is there for the others, and one value is taken past a barrier.
__global__ void left_behind(const float *in, float *out, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float own = i < n ? in[i] : -1;
    if (t >= 96) {
        part[t] = own * 3;
        if (i < n) out[i] = own;
        return;
    }
    part[t] = own;
    float sum = own + t;
    __syncthreads();
    sum += part[t + 32];
    if (t >= 40) {
        if (i < n) out[i] = sum;
        return;
    }
    float more = part[t + 64];
    __syncthreads();
    part[t] = sum;
    if (i < n) out[i] = sum + more + part[t];
}

// A switch decides for each warp, and the end is one place for all.
__global__ void by_cases(const float *in, float *out, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float own = i < n ? in[i] : 0, result = own;
    part[t] = own;
    switch (t / 32) {
    case 0: result += 1; break;
    case 1: result *= 2; break;
    default:
        __syncthreads();
        result = part[t ^ 3] + part[t];
    }
    if (i < n) out[i] = result;
}

// Between barriers stands a loop of each thread's own length.
__global__ void loops_between(const float *in, float *out, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    part[t] = i < n ? in[i] : 0;
    if (t >= 64) return;
    __syncthreads();
    float sum = 0;
    for (int k = t; k < 128; k += 1 + t % 3) {
        sum += part[k];
        if (sum > 300) return;
    }
    __syncthreads();
    part[t] = sum;
    __syncthreads();
    if (i < n) out[i] = part[t ^ 1];
}

// Which threads end, what they load decides.
__global__ void by_values(const float *in, float *out, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    if (part[(t * 7) % THREADS] < 4) return;
    float own = part[t ^ 1];
    __syncthreads();
    if (i < n) out[i] = own;
}

// Barriers that all threads come to, or none, stand in front of those of the sum.
__global__ void turned_sums(const float *in, float *out, int n, int turns) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    part[t] = i < n ? in[i] : 0;
    if (turns > 0) {
        __syncthreads();
        float other = part[THREADS - 1 - t];
        __syncthreads();
        part[t] = other + t;
    }
    Sum<THREADS / 2>::run(part, out);
}

// A lane that waited at the barrier would not answer the others of its warp.
__global__ void lanes(const float *in, float *out, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    part[t] = i < n ? in[i] : 0;
    if (t % 32 >= 16) return;
    __syncthreads();
    float sum = part[t] + __shfl_down_sync(0xffff, part[t + 16], 1);
    if (i < n) out[i] = sum;
}

// The barrier counts those that come.
__global__ void counted(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (t >= 100) return;
    int count = __syncthreads_count(i < n && in[i] > 3);
    if (i < n) out[i] = in[i] + count;
}

// How often they wait, each thread's own element decides; those of a block have equal ones.
__global__ void in_a_loop(const float *in, float *out, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    part[t] = i < n ? in[i] : 0;
    if (t >= 64) return;
    for (int k = 0; k < 3; ++k) {
        __syncthreads();
        float next = part[(t + 1) % 64];
        __syncthreads();
        part[t] = next;
    }
    if (i < n) out[i] = part[t];
}

int main(int argc, char **argv) {
    const int part = std::atoi(argv[1]), n = std::atoi(argv[2]), blocks = (n + THREADS - 1) / THREADS;
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = float((i * 7) % 11);
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(float));
    cudaDeviceSynchronize();
    switch (part) {
    case 0:
        twice<<<blocks, THREADS>>>(in, n);
        sums<<<blocks, THREADS>>>(in, out, n);
        break;
    case 1:
        turn<<<blocks, THREADS>>>(in, out, n);
        twice<<<blocks, THREADS>>>(out, n);
        break;
    case 2:
        left_behind<<<blocks, THREADS>>>(in, out, n);
        twice<<<blocks, THREADS>>>(out, n);
        break;
    case 3:
        by_cases<<<blocks, THREADS>>>(in, out, n);
        twice<<<blocks, THREADS>>>(out, n);
        break;
    case 4:
        loops_between<<<blocks, THREADS>>>(in, out, n);
        twice<<<blocks, THREADS>>>(out, n);
        break;
    case 5:
        by_values<<<blocks, THREADS>>>(in, out, n);
        twice<<<blocks, THREADS>>>(out, n);
        break;
    case 6:
        lanes<<<blocks, THREADS>>>(in, out, n);
        twice<<<blocks, THREADS>>>(out, n);
        break;
    case 7:
        counted<<<blocks, THREADS>>>(in, out, n);
        twice<<<blocks, THREADS>>>(out, n);
        break;
    case 9:
    case 10:
        twice<<<blocks, THREADS>>>(in, n);
        turned_sums<<<blocks, THREADS>>>(in, out, n, part - 9);
        break;
    default:
        in_a_loop<<<blocks, THREADS>>>(in, out, n);
        twice<<<blocks, THREADS>>>(out, n);
    }
    cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += host[i] * (i % 13);
    std::printf("%.9g\nPASS\n", sum);
}
