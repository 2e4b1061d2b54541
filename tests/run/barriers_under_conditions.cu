// Launches that need what other blocks made: under one condition all are phases of one launch. Under conditions of their own, each
// of which asks again for its stream, only two can be: of more, some may not be reached, and then nothing compares their streams.
//
// built with: --sirius-boundaries=grid-barrier
// expect: 6 launches -> 3
// arguments:
// arguments: 1
#include <cstdio>
#include <cstdlib>

constexpr int N = 1000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

__global__ void fill(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) x[i] = i % 13;
}

__global__ void mirror(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = x[N - 1 - i] + 1;
}

__global__ void shift(float *x, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) x[i] = y[(i + 200) % N] * 2;
}

struct State {
    cudaStream_t stream;
    bool done;
};

// What is in the state may be another stream each time.
__attribute__((noinline)) static void look(State *state) {
    if (getenv("SIRIUS_NEVER_SET")) state->stream = nullptr, state->done = true;
}

int main(int argc, char **) {
    State *state = new State{nullptr, argc > 1};
    cudaStreamCreate(&state->stream);
    float *x, *y, host[N], want[N], other[N];
    cudaMalloc(&x, sizeof host), cudaMalloc(&y, sizeof host);
    cudaMemset(x, 0, sizeof host), cudaMemset(y, 0, sizeof host);
    bool right = true;
    for (int i = 0; i < N; ++i) want[i] = 0;
    const auto expect = [&](bool done) {
        if (!done) {
            for (int i = 0; i < N; ++i) want[i] = i % 13;
            for (int i = 0; i < N; ++i) other[i] = want[N - 1 - i] + 1;
            for (int i = 0; i < N; ++i) want[i] = other[(i + 200) % N] * 2;
        }
        cudaStreamSynchronize(state->stream);
        cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; ++i) right &= host[i] == want[i];
    };

    look(state);
    if (!state->done) {
        const cudaStream_t stream = state->stream;
        fill<<<BLOCKS, THREADS, 0, stream>>>(x);
        mirror<<<BLOCKS, THREADS, 0, stream>>>(y, x);
        shift<<<BLOCKS, THREADS, 0, stream>>>(x, y);
    }
    expect(state->done);

    look(state);
    if (!state->done) fill<<<BLOCKS, THREADS, 0, state->stream>>>(x);
    look(state);
    if (!state->done) mirror<<<BLOCKS, THREADS, 0, state->stream>>>(y, x);
    look(state);
    if (!state->done) shift<<<BLOCKS, THREADS, 0, state->stream>>>(x, y);
    expect(state->done);
    printf(right ? "PASS\n" : "FAIL\n");
    return !right;
}
