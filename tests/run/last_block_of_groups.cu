// Launches that fuse, and a sum behind them of which only the run knows that it has one block. Where it has, the last block
// runs it; where it has not, or is not launched, those in front run as one launch all the same, and the sum follows as it is
// written. Arguments are the number of the part, and of the elements.
//
// executes: 1 2 2 3 2 2 1 4 1 2 3 6 1 1 2
// arguments: 0 3000
// arguments: 0 40000
// arguments: 1 3000
// arguments: 1 40000
// arguments: 2 3000
// arguments: 3 3000
// arguments: 4 3000
// arguments: 5 3000
// arguments: 6 100
// arguments: 6 3000
// arguments: 6 40000
// arguments: 7 3000
// arguments: 8 3000
// arguments: 9 3000
// arguments: 10 3000
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

const int THREADS = 128;

static int blocks_of(int n) { return (n + THREADS - 1) / THREADS; }

__global__ void square(const float *v, float *to, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) to[i] = v[i] * v[i];
}

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

struct Program {
    int n, blocks, more;
    float *v, *squares, *a, *b;

    explicit Program(int n) : n(n), blocks(blocks_of(n)), more(blocks_of(blocks)) {
        std::vector<float> host(n);
        for (int i = 0; i < n; ++i) host[i] = float(i % 3);
        for (float **each : {&v, &squares, &a, &b}) {
            cudaMalloc(each, n * sizeof(float));
            cudaMemset(*each, 0, n * sizeof(float));
        }
        cudaMemcpy(v, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    }

    float look(const float *at, int count) const {
        std::vector<float> values(count);
        cudaMemcpy(values.data(), at, count * sizeof(float), cudaMemcpyDeviceToHost);
        float sum = 0;
        for (float value : values) sum += value;
        return sum;
    }

    float expected() const {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += float(i % 3) * float(i % 3);
        return sum;
    }
};

static bool one_or_more_blocks(Program &p) {
    square<<<p.blocks, THREADS>>>(p.v, p.squares, p.n);
    sums<<<p.blocks, THREADS>>>(p.squares, p.a, p.n);
    sums<<<p.more, THREADS>>>(p.a, p.b, p.blocks);
    return p.look(p.b, p.more) == p.expected();
}

// Those in front do not fuse: a block needs what the next one made.
static bool front_does_not_fuse(Program &p) {
    square<<<p.blocks, THREADS>>>(p.v, p.squares, p.n);
    sums<<<p.blocks, THREADS>>>(p.squares + 1, p.a, p.n - 1);
    sums<<<p.more, THREADS>>>(p.a, p.b, p.blocks);
    return p.look(p.b, p.more) == p.expected();
}

// While their stream is captured, blocks are not counted.
static bool captured(Program &p) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    square<<<p.blocks, THREADS, 0, stream>>>(p.v, p.squares, p.n);
    sums<<<p.blocks, THREADS, 0, stream>>>(p.squares, p.a, p.n);
    sums<<<p.more, THREADS, 0, stream>>>(p.a, p.b, p.blocks);
    cudaGraph_t graph;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    return p.look(p.b, p.more) == p.expected();
}

// The host looks at what those in front made.
static bool looks_between(Program &p) {
    square<<<p.blocks, THREADS>>>(p.v, p.squares, p.n);
    sums<<<p.blocks, THREADS>>>(p.squares, p.a, p.n);
    float before = p.look(p.a, p.blocks);
    sums<<<p.more, THREADS>>>(p.a, p.b, p.blocks);
    return before == p.expected() && p.look(p.b, p.more) == p.expected();
}

// The sum is launched with too many threads: those in front have run, and the host learns of it.
static bool fails(Program &p) {
    square<<<p.blocks, THREADS>>>(p.v, p.squares, p.n);
    sums<<<p.blocks, THREADS>>>(p.squares, p.a, p.n);
    sums<<<p.more, THREADS * p.n>>>(p.a, p.b, p.blocks);
    bool failed = cudaGetLastError() != cudaSuccess;
    return failed && p.look(p.b, p.more) == 0 && p.look(p.a, p.blocks) == p.expected();
}

// On a stream that may be any.
static bool on_streams(Program &p) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaDeviceSynchronize();
    for (cudaStream_t each : {stream, cudaStream_t(0)}) {
        square<<<p.blocks, THREADS, 0, each>>>(p.v, p.squares, p.n);
        sums<<<p.blocks, THREADS, 0, each>>>(p.squares, p.a, p.n);
        sums<<<p.more, THREADS, 0, each>>>(p.a, p.b, p.blocks);
        cudaDeviceSynchronize();
    }
    return p.look(p.b, p.more) == p.expected();
}

// Sums until one number is left, if there are several: the host may not come to a sum at all.
static bool until_one(Program &p) {
    square<<<p.blocks, THREADS>>>(p.v, p.squares, p.n);
    sums<<<p.blocks, THREADS>>>(p.squares, p.a, p.n);
    int length = p.blocks;
    float *from = p.a, *to = p.b;
    while (length > 1) {
        int blocks = ceil(length / (double)THREADS);
        sums<<<blocks, THREADS>>>(from, to, length);
        std::swap(from, to);
        length = blocks;
    }
    return p.look(from, 1) == p.expected();
}

// The same in a loop of the host, with one block in every other iteration.
static bool until_one_again(Program &p) {
    bool right = true;
    for (int step = 0; step < 4; ++step) {
        Program own(step % 2 ? p.n : THREADS - step);
        right = until_one(own) && right;
    }
    return right;
}

// A sum under a condition, behind two that fuse, on streams that may differ.
static bool under_a_condition(Program &p, bool sum, cudaStream_t stream) {
    square<<<p.blocks, THREADS>>>(p.v, p.squares, p.n);
    sums<<<p.blocks, THREADS>>>(p.squares, p.a, p.n);
    if (sum) sums<<<p.more, THREADS, 0, stream>>>(p.a, p.b, p.blocks);
    cudaDeviceSynchronize();
    return p.look(p.b, p.more) == (sum ? p.expected() : 0) && p.look(p.a, p.blocks) == p.expected();
}

static bool left_out(Program &p) { return under_a_condition(p, p.n < 0, 0); }
static bool not_left_out(Program &p) { return under_a_condition(p, p.n > 0, 0); }
static bool elsewhere(Program &p) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    return under_a_condition(p, p.n > 0, stream);
}

int main(int count, char **words) {
    int part = count > 1 ? atoi(words[1]) : 0;
    Program p(count > 2 ? atoi(words[2]) : 3000);
    bool (*parts[])(Program &) = {one_or_more_blocks, front_does_not_fuse, captured, looks_between, fails, on_streams,
                                until_one, until_one_again, left_out, not_left_out, elsewhere};
    if (!parts[part](p)) return puts("wrong"), 1;
    puts(cudaDeviceSynchronize() == cudaSuccess ? "PASS" : "FAIL");
    return 0;
}
