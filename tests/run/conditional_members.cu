// Launches under conditions of their own: they run as one where all conditions hold, and as written elsewhere.
// Bits of the argument are the conditions.
//
// expect: 19 launches -> 12
// executes: 6 9 11 11 13 14
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 5
// arguments: 7
// arguments: 15
#include <cstdio>
#include <cstdlib>
#include <vector>

const int N = 3000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

__global__ void left(float *field, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) field[2 * i] = field[2 * i] + 1.0f;
}

__global__ void right(float *field, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) field[2 * i + 1] = field[2 * i + 1] * 2.0f;
}

__global__ void scale(float *y, const float *x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

__global__ void add(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

__global__ void negate(float *z, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = -y[i];
}

static float *x, *y, *z, *field;
static int wrong = 0;

static void expect(const float *device, int n, float value, const char *what) {
    std::vector<float> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        if (host[i] != value) {
            printf("%s: element %d is %f, not %f\n", what, i, host[i], value);
            wrong++;
            return;
        }
    }
}

static void fill(float *device, int n, float value) {
    std::vector<float> host(n, value);
    cudaMemcpy(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}

// Two faces, each where its bit is set.
static __attribute__((noinline)) void faces(unsigned flags) {
    if (flags & 1) left<<<BLOCKS, THREADS>>>(field, N);
    if (flags & 2) right<<<BLOCKS, THREADS>>>(field, N);
}

// The one in the middle may be left out.
static __attribute__((noinline)) void chain(unsigned flags) {
    scale<<<BLOCKS, THREADS>>>(y, x, 3.0f, N);
    if (flags & 1) add<<<BLOCKS, THREADS>>>(y, x, N);
    negate<<<BLOCKS, THREADS>>>(z, y, N);
}

// The first may be left out, and each iteration decides anew; some leave early.
static __attribute__((noinline)) int rounds(unsigned flags, int count) {
    int done = 0;
    for (int round = 0; round < count; round++) {
        if (flags >> (round & 3) & 1) scale<<<BLOCKS, THREADS>>>(y, x, 1.0f + round, N);
        if ((flags & 8) && round == 2) continue;
        if (flags >> (round & 1) & 2) add<<<BLOCKS, THREADS>>>(y, x, N);
        if ((flags & 4) && round == 5) return done;
        done++;
    }
    return done;
}

// Only one of both runs: nothing to fuse.
static __attribute__((noinline)) void alternatives(unsigned flags) {
    if (flags & 1)
        scale<<<BLOCKS, THREADS>>>(y, x, 5.0f, N);
    else
        add<<<BLOCKS, THREADS>>>(y, x, N);
}

// What the first writes, the host looks at on one way to the second.
static __attribute__((noinline)) float looked_at(unsigned flags) {
    float seen = 0;
    if (flags & 1) scale<<<BLOCKS, THREADS>>>(y, x, 7.0f, N);
    if (flags & 2) cudaMemcpy(&seen, y, sizeof seen, cudaMemcpyDeviceToHost);
    if (flags & 4) add<<<BLOCKS, THREADS>>>(y, x, N);
    return seen;
}

// What the second writes, another launch reads on one way to it.
static __attribute__((noinline)) void read_between(unsigned flags) {
    if (flags & 1) scale<<<BLOCKS, THREADS>>>(y, x, 9.0f, N);
    if (flags & 2)
        negate<<<1, 1>>>(z, y, 1);
    else
        cudaMemset(y, 0, sizeof(float));
    if (flags & 4) add<<<BLOCKS, THREADS>>>(y, x, N);
}

// A switch that is off runs all as one; where it is on, all that came before it has been issued.
static __attribute__((noinline)) float switched(unsigned flags, cudaEvent_t event) {
    float seen = 0;
    scale<<<BLOCKS, THREADS>>>(y, x, 11.0f, N);
    if (flags & 8) {
        cudaEventRecord(event);
        cudaEventSynchronize(event);
    }
    add<<<BLOCKS, THREADS>>>(y, x, N);
    if (flags & 8) cudaMemcpy(&seen, y + N - 1, sizeof seen, cudaMemcpyDeviceToHost);
    negate<<<BLOCKS, THREADS>>>(z, y, N);
    return seen;
}

// No switch: the host looks each time.
static __attribute__((noinline)) float always_looked_at(unsigned flags) {
    float seen[2];
    scale<<<BLOCKS, THREADS>>>(y, x, 13.0f, N);
    if (flags & 8)
        cudaMemcpy(&seen[0], y, sizeof(float), cudaMemcpyDeviceToHost);
    else
        cudaMemcpy(&seen[0], y + 1, sizeof(float), cudaMemcpyDeviceToHost);
    add<<<BLOCKS, THREADS>>>(y, x, N);
    return seen[0];
}

int main(int argc, char **argv) {
    unsigned flags = argc > 1 ? atoi(argv[1]) : 7;
    for (float **buffer : {&x, &y, &z}) cudaMalloc(buffer, N * sizeof(float));
    cudaMalloc(&field, 2 * N * sizeof(float));
    fill(x, N, 1.0f);
    fill(y, N, 0.0f);
    fill(z, N, 0.0f);

    fill(field, 2 * N, 4.0f);
    faces(flags);
    std::vector<float> host(2 * N);
    cudaMemcpy(host.data(), field, 2 * N * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) {
        float expected[2] = {flags & 1 ? 5.0f : 4.0f, flags & 2 ? 8.0f : 4.0f};
        if (host[2 * i] != expected[0] || host[2 * i + 1] != expected[1]) {
            printf("faces: %d\n", i);
            wrong++;
            break;
        }
    }

    chain(flags);
    expect(z, N, flags & 1 ? -4.0f : -3.0f, "chain");

    fill(y, N, 0.0f);
    float value = 0;
    int done = 0;
    for (int round = 0; round < 7; round++) {
        if (flags >> (round & 3) & 1) value = 1.0f + round;
        if ((flags & 8) && round == 2) continue;
        if (flags >> (round & 1) & 2) value += 1.0f;
        if ((flags & 4) && round == 5) break;
        done++;
    }
    if (rounds(flags, 7) != done) wrong++, printf("rounds: not %d\n", done);
    expect(y, N, value, "rounds");

    fill(y, N, 2.0f);
    alternatives(flags);
    expect(y, N, flags & 1 ? 5.0f : 3.0f, "alternatives");

    fill(y, N, 2.0f);
    float seen = looked_at(flags);
    float written = flags & 1 ? 7.0f : 2.0f;
    if (seen != (flags & 2 ? written : 0.0f)) wrong++, printf("looked at: %f\n", seen);
    expect(y, N, written + (flags & 4 ? 1.0f : 0.0f), "looked at");

    fill(y, N, 2.0f);
    fill(z, N, 0.0f);
    read_between(flags);
    float before = flags & 1 ? 9.0f : 2.0f;
    expect(z, 1, flags & 2 ? -before : 0.0f, "read between");
    expect(y, 1, (flags & 2 ? before : 0.0f) + (flags & 4 ? 1.0f : 0.0f), "read between");
    expect(y + 1, N - 1, before + (flags & 4 ? 1.0f : 0.0f), "read between");

    cudaEvent_t event;
    cudaEventCreate(&event);
    seen = switched(flags, event);
    if (seen != (flags & 8 ? 12.0f : 0.0f)) wrong++, printf("switched: %f\n", seen);
    expect(z, N, -12.0f, "switched");

    seen = always_looked_at(flags);
    if (seen != 13.0f) wrong++, printf("always looked at: %f\n", seen);
    expect(y, N, 14.0f, "always looked at");

    printf(wrong ? "FAIL\n" : "PASS\n");
    return wrong != 0;
}
