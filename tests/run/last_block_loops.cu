// Sums that go on until one number is left: in host loops, and over launches of which only the run knows that they have one
// block. Beside each stands a twin that has to stay apart. Arguments are the number of the part, and of the elements.
//
// built with: --sirius-boundaries=last-block
// executes: 1 2 2 2 2 1 1 2 3 1 1 2 3 6 3 3 1 2 12 4 2 4 1 1 2
// arguments: 0 3000
// arguments: 0 40000
// arguments: 1 3000
// arguments: 1 40000
// arguments: 2 40000
// arguments: 3 100
// arguments: 3 3000
// arguments: 3 40000
// arguments: 3 4000000
// arguments: 4 100
// arguments: 4 3000
// arguments: 4 40000
// arguments: 5 3000
// arguments: 5 40000
// arguments: 6 40000
// arguments: 7 40000
// arguments: 8 3000
// arguments: 8 40000
// arguments: 9 3000
// arguments: 10 3000
// arguments: 11 40000
// arguments: 12 40000
// arguments: 13 3000
// arguments: 14 3000
// arguments: 15 3000
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

const int THREADS = 128;

static int blocks_of(int n) { return (n + THREADS - 1) / THREADS; }

// The sum of each block.
__global__ void sums(const float *v, float *sum, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] : 0;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sum[blockIdx.x] = part[0];
}

// The sum of all products of each block.
__global__ void products(const float *v, const float *w, float *sum, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] * w[i] : 0;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sum[blockIdx.x] = part[0];
}

__global__ void square(float *v, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) v[i] *= v[i];
}

// Each block a neighbour's.
__global__ void shift(const float *v, float *to, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) to[i] = v[(i + THREADS) % n];
}

struct Program {
    int n, blocks;
    float *v, *w, *a, *b, *c;

    explicit Program(int n) : n(n), blocks(blocks_of(n)) {
        std::vector<float> host(n);
        for (int i = 0; i < n; ++i) host[i] = float(i % 3);
        for (float **each : {&v, &w, &a, &b, &c}) {
            cudaMalloc(each, n * sizeof(float));
            cudaMemcpy(*each, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
        }
    }

    float look(const float *at) const {
        float value;
        cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost);
        return value;
    }

    // The sum of the first elements, and of their squares.
    float expected(int of_squares) const {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += of_squares ? float(i % 3) * float(i % 3) : float(i % 3);
        return sum;
    }
};

// Two launches, of which the second has one block or more.
static bool two(Program &p) {
    int more = blocks_of(p.blocks);
    sums<<<p.blocks, THREADS>>>(p.v, p.a, p.n);
    sums<<<more, THREADS>>>(p.a, p.b, p.blocks);
    float sum = 0;
    for (int i = 0; i < more; ++i) sum += p.look(p.b + i);
    return sum == p.expected(0);
}

// Three, of which the last has one block.
static bool three(Program &p) {
    int more = blocks_of(p.blocks);
    sums<<<p.blocks, THREADS>>>(p.v, p.a, p.n);
    sums<<<more, THREADS>>>(p.a, p.b, p.blocks);
    sums<<<1, THREADS>>>(p.b, p.c, more);
    return p.look(p.c) == p.expected(0);
}

// The same, where others fuse with those in front.
static bool three_groups(Program &p) {
    int more = blocks_of(p.blocks);
    square<<<p.blocks, THREADS>>>(p.v, p.n);
    sums<<<p.blocks, THREADS>>>(p.v, p.a, p.n);
    square<<<more, THREADS>>>(p.a, p.blocks);
    sums<<<more, THREADS>>>(p.a, p.b, p.blocks);
    sums<<<1, THREADS>>>(p.b, p.c, more);
    return std::isfinite(p.look(p.c));
}

// Until one number is left.
static bool until_one(Program &p) {
    products<<<p.blocks, THREADS>>>(p.v, p.w, p.a, p.n);
    int length = p.blocks;
    float *from = p.a, *to = p.b;
    while (length > 1) {
        int blocks = ceil(length / (double)THREADS);
        sums<<<blocks, THREADS>>>(from, to, length);
        std::swap(from, to);
        length = blocks;
    }
    return p.look(from) == p.expected(1);
}

// The same in a loop that tests at its end.
static bool at_its_end(Program &p) {
    int length = p.n;
    float *from = p.v, *to = p.b, *other = p.a;
    do {
        int blocks = (length + THREADS - 1) / THREADS;
        sums<<<blocks, THREADS>>>(from, to, length);
        from = to;
        std::swap(to, other);
        length = blocks;
    } while (length != 1);
    return p.look(from) == p.expected(0);
}

// Several times, of which the host looks at each result.
static bool again(Program &p) {
    bool right = true;
    for (int step = 0; step < 3; ++step) right = until_one(p) && right;
    return right;
}

// The host looks at what each iteration made.
static bool looks(Program &p) {
    sums<<<p.blocks, THREADS>>>(p.v, p.a, p.n);
    float *from = p.a, *to = p.b, first = 0;
    for (int length = p.blocks; length > 1;) {
        int blocks = blocks_of(length);
        sums<<<blocks, THREADS>>>(from, to, length);
        first = p.look(to);
        std::swap(from, to);
        length = blocks;
    }
    return first == p.expected(0);
}

// Two launches in each iteration.
static bool two_in_loop(Program &p) {
    sums<<<p.blocks, THREADS>>>(p.v, p.a, p.n);
    float *from = p.a, *to = p.b;
    for (int length = p.blocks; length > 1;) {
        int blocks = blocks_of(length);
        shift<<<blocks_of(length), THREADS>>>(from, p.c, length);
        sums<<<blocks, THREADS>>>(p.c, to, length);
        std::swap(from, to);
        length = blocks;
    }
    return p.look(from) == p.expected(0);
}

// Left with as many numbers as two blocks make.
static bool until_few(Program &p) {
    sums<<<p.blocks, THREADS>>>(p.v, p.a, p.n);
    int length = p.blocks;
    float *from = p.a, *to = p.b;
    while (length > 2) {
        int blocks = blocks_of(length);
        sums<<<blocks, THREADS>>>(from, to, length);
        std::swap(from, to);
        length = blocks;
    }
    return p.look(from) + (length > 1 ? p.look(from + 1) : 0) == p.expected(0);
}

// Sums that need nothing of each other wait, and run side by side.
static bool independent(Program &p) {
    const int count = 6;
    float *parts, *all;
    cudaMalloc(&parts, count * p.n * sizeof(float));
    cudaMalloc(&all, count * p.n * sizeof(float));
    for (int i = 0; i < count; ++i) {
        sums<<<p.blocks, THREADS>>>(p.v, parts + i * p.n, p.n);
        sums<<<1, THREADS>>>(parts + i * p.n, all + i * p.n, p.blocks);
    }
    float sum = 0;
    for (int i = 0; i < count; ++i) sum += p.look(all + i * p.n);
    return sum == count * p.expected(0);
}

// In a graph they stay apart.
static bool captured(Program &p) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    sums<<<p.blocks, THREADS, 0, stream>>>(p.v, p.a, p.n);
    sums<<<blocks_of(p.blocks), THREADS, 0, stream>>>(p.a, p.b, p.blocks);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&runs, graph, 0);
    cudaGraphLaunch(runs, stream);
    cudaGraphLaunch(runs, stream);
    cudaStreamSynchronize(stream);
    return p.look(p.b) == p.expected(0);
}

// On a stream, with a check behind each launch.
static bool checked(Program &p) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    sums<<<p.blocks, THREADS, 0, stream>>>(p.v, p.a, p.n);
    int length = p.blocks;
    float *from = p.a, *to = p.b;
    while (length > 1) {
        int blocks = blocks_of(length);
        sums<<<blocks, THREADS, 0, stream>>>(from, to, length);
        if (cudaGetLastError() != cudaSuccess) {
            std::puts("error");
            std::exit(1);
        }
        std::swap(from, to);
        length = blocks;
    }
    cudaStreamSynchronize(stream);
    return p.look(from) == p.expected(0);
}

// The grid is the same each time: the loop counts steps.
static bool steps(Program &p) {
    float *from = p.v, *to = p.a;
    for (int step = 0; step < 4; ++step) {
        shift<<<p.blocks, THREADS>>>(from, to, p.n);
        std::swap(from, to);
    }
    return p.look(from) == float(4 * THREADS % p.n % 3);
}

// Something may end the loop before one number is left.
static bool stops(Program &p, int most) {
    sums<<<p.blocks, THREADS>>>(p.v, p.a, p.n);
    int length = p.blocks;
    float *from = p.a, *to = p.b;
    for (int step = 0; step < most && length > 1; ++step) {
        int blocks = blocks_of(length);
        sums<<<blocks, THREADS>>>(from, to, length);
        std::swap(from, to);
        length = blocks;
    }
    float sum = 0;
    for (int i = 0; i < length; ++i) sum += p.look(from + i);
    return sum == p.expected(0);
}

// A sum by halves, each in the branch of the half before.
template <int HALF> struct Halves {
    static __device__ void run(float *part, float *sum) {
        if (HALF > 16) __syncthreads();
        if (threadIdx.x < HALF) {
            part[threadIdx.x] += part[threadIdx.x + HALF];
            Halves<HALF / 2>::run(part, sum);
        }
    }
};

template <> struct Halves<0> {
    static __device__ void run(float *part, float *sum) { sum[blockIdx.x] = part[0]; }
};

__global__ void distances(const float *v, const float *w, float *sum, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? fabsf(v[i] - 2 * w[i]) : 0;
    Halves<THREADS / 2>::run(part, sum);
}

__global__ void halves(float *v, int n) {
    __shared__ float part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] : 0;
    Halves<THREADS / 2>::run(part, v);
}

// Between the sums of blocks and theirs stands a profiler, which is off or on.
static bool profiled(Program &p, bool on) {
    cudaEvent_t begin, end;
    float taken = 0;
    if (on) {
        cudaEventCreate(&begin);
        cudaEventCreate(&end);
        cudaEventRecord(begin);
    }
    distances<<<p.blocks, THREADS>>>(p.v, p.w, p.a, p.n);
    if (on) {
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&taken, begin, end);
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
    }
    for (int length = p.blocks; length > 1;) {
        int blocks = ceil(length / (double)THREADS);
        halves<<<blocks, THREADS>>>(p.a, length);
        length = blocks;
    }
    return p.look(p.a) == p.expected(0) && taken >= 0;
}

int main(int argc, char **argv) {
    int part = argc > 1 ? atoi(argv[1]) : 0;
    Program p(argc > 2 ? atoi(argv[2]) : 3000);
    bool right = false;
    switch (part) {
    case 0: right = two(p); break;
    case 1: right = three(p); break;
    case 2: right = three_groups(p); break;
    case 3: right = until_one(p); break;
    case 4: right = at_its_end(p); break;
    case 5: right = again(p); break;
    case 6: right = looks(p); break;
    case 7: right = two_in_loop(p); break;
    case 8: right = until_few(p); break;
    case 9: right = independent(p); break;
    case 10: right = captured(p); break;
    case 11: right = checked(p); break;
    case 12: right = steps(p); break;
    case 13: right = stops(p, argc > 3 ? 1 : 5); break;
    case 14: right = profiled(p, argc > 3); break;
    case 15: right = profiled(p, argc <= 3); break;
    }
    puts(right ? "PASS" : "FAIL");
}
