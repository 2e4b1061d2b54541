// Launches that need what other blocks made before, again and again: they wait in a queue, and come out of it as graphs when
// they are met again. What changes from round to round changes in the graph; where kernels, order or dependences are others,
// it is another graph. An argument is the number of the part.
//
// expect: 61 launches -> 44
// built with: --sirius-boundaries=graph
// executes: 400 400 400 104 48 320 1000 1200 144 144 600 240 480
// graphs: 8 8 8 16 4 12 3 3 8 5 5 8 12
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
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

const int N = 200, THREADS = 64;

// Each element needs its neighbours, which other blocks have.
__global__ void spread(const float *from, float *to, int n, float weight) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] * 0.5f + weight * from[(i + 1) % n] + 0.125f * from[(i + n - 1) % n];
}
__global__ void turn(const float *from, float *to, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[(i + by) % n] * 0.75f;
}
// Of two fields.
__global__ void join(const float *a, const float *b, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 0.5f * a[n - 1 - i] + 0.5f * b[(i + 3) % n];
}
// Each block has what another one had, in shared memory of any size.
__global__ void swap_blocks(const float *from, float *to, int n) {
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
    part[threadIdx.x] = other < n ? from[other] : 1.0f;
    __syncthreads();
    if (i < n) to[i] = part[blockDim.x - 1 - threadIdx.x] * 0.5f + from[i] * 0.25f;
}
__global__ void add(float *to, int n, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += value;
}

__global__ void say(const float *from) { printf("%g\n", from[N - 1]); }

static void check(cudaError_t status, int line) {
    if (status != cudaSuccess) std::printf("FAIL %d: %s\n", line, cudaGetErrorString(status)), std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

static int blocks(int n) { return (n + THREADS - 1) / THREADS; }

static float *field(int number) {
    std::vector<float> host(N);
    float *made;
    for (int i = 0; i < N; ++i) host[i] = float((i * 7 + number * 3) % 11);
    CHECK(cudaMalloc(&made, N * sizeof(float)));
    CHECK(cudaMemcpy(made, host.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    return made;
}

static void tell(const float *told, const char *name) {
    std::vector<float> host(N);
    double sum = 0;
    CHECK(cudaMemcpy(host.data(), told, N * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; ++i) sum += (i % 13 + 1) * host[i];
    std::printf("%s: %.6g\n", name, sum);
}

// A solver: its sweeps alternate between two fields.
static void sweeps(float *a, float *b, int rounds, cudaStream_t stream) {
    for (int i = 0; i < rounds; ++i) {
        spread<<<blocks(N), THREADS, 0, stream>>>(a, b, N, 0.25f + 0.001f * i);
        turn<<<blocks(N), THREADS, 0, stream>>>(b, a, N, i);
    }
}

// Two branches of several launches each, and what needs both.
#define BRANCHES(n, round, stream) \
    do { \
        spread<<<blocks(n), THREADS, 0, stream>>>(a, b, n, 0.25f); \
        turn<<<blocks(n), THREADS, 0, stream>>>(c, d, n, round); \
        swap_blocks<<<blocks(n), THREADS, THREADS * sizeof(float), stream>>>(b, e, n); \
        spread<<<blocks(n), THREADS, 0, stream>>>(d, f, n, 0.125f); \
        join<<<blocks(n), THREADS, 0, stream>>>(e, f, a, n); \
        turn<<<blocks(n), THREADS, 0, stream>>>(a, c, n, 1); \
    } while (0)
#define FIELDS() float *a = field(0), *b = field(1), *c = field(2), *d = field(3), *e = field(4), *f = field(5)
#define TELL() (tell(a, "a"), tell(b, "b"), tell(c, "c"), tell(d, "d"), tell(e, "e"), tell(f, "f"))

// Of which fields only the run tells whose they are.
__attribute__((noinline)) static void pairs(float *a, float *b, float *c, float *d, int round) {
    spread<<<blocks(N), THREADS>>>(a, b, N, 0.25f);
    swap_blocks<<<blocks(N), THREADS, THREADS * sizeof(float)>>>(b, a, N);
    turn<<<blocks(N), THREADS>>>(c, d, N, round);
    join<<<blocks(N), THREADS>>>(d, b, c, N);
    swap_blocks<<<blocks(N), THREADS, THREADS * sizeof(float)>>>(a, b, N);
}

static void dependences_change() {
    FIELDS();
    for (int round = 0; round < 24; ++round) {
        pairs(a, b, round % 3 == 2 ? a : c, d, round);
        float first;
        CHECK(cudaMemcpy(&first, d, sizeof first, cudaMemcpyDeviceToHost));
    }
    TELL();
}

static void captured(cudaStream_t stream) {
    FIELDS();
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    for (int round = 0; round < 4; ++round) {
        if (round == 2) CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        for (int i = 0; i < 2; ++i) BRANCHES(N, round, stream);
        if (round == 2) {
            CHECK(cudaStreamEndCapture(stream, &graph));
            CHECK(cudaGraphInstantiate(&executable, graph, 0));
            for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(executable, stream));
        }
        CHECK(cudaStreamSynchronize(stream));
    }
    TELL();
}

static void in_threads(cudaStream_t *streams) {
    float *own[4] = {field(0), field(1), field(2), field(3)};
    auto work = [](float *a, float *b, float first, int rounds, cudaStream_t stream) {
        for (int round = 0; round < rounds; ++round) {
            spread<<<blocks(N), THREADS, 0, stream>>>(a, b, N, first + 0.001f * round);
            join<<<blocks(N), THREADS, 0, stream>>>(b, b, a, N);
        }
        CHECK(cudaStreamSynchronize(stream));
    };
    std::thread one(work, own[0], own[1], 0.25f, 200, streams[0]), two(work, own[2], own[3], 0.125f, 300, streams[1]);
    one.join();
    two.join();
    for (float *told : own) tell(told, "of a thread");
}

static void begin_anew() {
    float *a = field(0), *b = field(1);
    sweeps(a, b, 200, 0);
    tell(a, "a");
    CHECK(cudaDeviceReset());
}

int main(int argc, char **argv) {
    int which = argc > 1 ? std::atoi(argv[1]) : 0;
    cudaStream_t streams[2];
    for (auto &stream : streams) CHECK(cudaStreamCreate(&stream));
    if (which == 3) dependences_change();
    if (which == 4) captured(streams[0]);
    if (which == 6) in_threads(streams);
    for (int i = 0; which == 7 && i < 3; ++i) begin_anew();
    FIELDS();
    switch (which) {
    case 0: // Arguments change in each round.
        sweeps(a, b, 200, 0);
        break;
    case 1: // Branches run side by side.
        for (int round = 0; round < 100; ++round) BRANCHES(N, round, streams[0]);
        break;
    case 2: // Grids change.
        for (int round = 0; round < 100; ++round) {
            int n = N - 64 * (round % 3);
            BRANCHES(n, round, 0);
        }
        break;
    case 5: // Two streams by turns.
        for (int round = 0; round < 20; ++round) {
            for (int i = 0; i < 4; ++i) BRANCHES(N, round, streams[round % 2]);
            CHECK(cudaStreamSynchronize(streams[round % 2]));
        }
        break;
    case 8: // The device is chosen once more.
        for (int round = 0; round < 12; ++round) {
            for (int i = 0; i < 3; ++i) BRANCHES(N, i, 0);
            CHECK(cudaSetDevice(0));
        }
        break;
    case 9: // A launch that cannot be among them, and an error that nobody has looked at.
        for (int round = 0; round < 12; ++round) {
            for (int i = 0; i < 3; ++i) {
                BRANCHES(N, i, 0);
                if (round == 7 && i == 1) add<<<1, 5000>>>(a, N, 1.0f);
            }
            CHECK(cudaMemcpy(f, e, 64, cudaMemcpyDeviceToDevice));
            if (round == 9) std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
        }
        break;
    case 10: // A stream for each round.
        for (int round = 0; round < 5; ++round) {
            cudaStream_t stream;
            CHECK(cudaStreamCreate(&stream));
            for (int i = 0; i < 30; ++i) BRANCHES(N, i, stream);
            CHECK(cudaStreamSynchronize(stream));
            CHECK(cudaStreamDestroy(stream));
        }
        break;
    case 11: // The host looks at what came of each round.
        for (int round = 0; round < 12; ++round) {
            sweeps(a, b, 10, 0);
            float first;
            CHECK(cudaMemcpy(&first, a, sizeof first, cudaMemcpyDeviceToHost));
            std::printf("%.6g\n", first);
        }
        break;
    case 12: // A launch that is not made each time, and one that prints and so waits for nothing.
        for (int round = 0; round < 160; ++round) {
            spread<<<blocks(N), THREADS>>>(a, b, N, 0.25f);
            swap_blocks<<<blocks(N), THREADS, THREADS * sizeof(float)>>>(b, c, N);
            if (round % 10 == 9) add<<<blocks(N), THREADS>>>(c, N, 1.0f);
            if (round % 50 == 49) say<<<1, 1>>>(c);
            join<<<blocks(N), THREADS>>>(b, c, a, N);
        }
        break;
    }
    TELL();
    std::printf("PASS\n");
}
