// Host loops whose last launch can run together with the one behind the loop. Beside them stand twins in which it cannot. An
// argument is the number of the case.
//
// executes: 6 1 1 7 7 3 1 4 6 4 6 4 6 4 6 6 13 13 1 12 6 7 7 6 9 11
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
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

const int N = 2048, THREADS = 128, BLOCKS = N / THREADS, STEPS = 6;

__global__ void diffuse(float *y, const float *x) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    y[i] = 0.5f * x[i] + 0.25f * (x[(i + 1) % N] + x[(i + N - 1) % N]);
}

__global__ void convert(float *out, const float *x) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = x[i] * 2 + 1;
}

__global__ void convert_neighbours(float *out, const float *x) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = x[(i + 7) % N] * 2 + 1;
}

__global__ void damp(float *x, float by) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    x[i] *= by;
}

__global__ void square(float *squares, const float *x) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    squares[i] = x[i] * x[i];
}

__global__ void mix(float *c, const float *x, float q) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    c[i] = q / (1 + x[i] * x[i] + x[i > 0 ? i - 1 : 0]);
}

__global__ void sum(float *out, const float *in, const float *c) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = in[i] * 0.5f + c[i] + 0.1f * c[(i + 7) % N];
}

struct Program {
    float *a, *b, *out;
    std::vector<float> host = std::vector<float>(N), seen;

    Program() {
        cudaMalloc(&a, N * sizeof(float));
        cudaMalloc(&b, N * sizeof(float));
        cudaMalloc(&out, N * sizeof(float));
        for (int i = 0; i < N; ++i) host[i] = 0.01f * float(i % 91);
        cudaMemcpy(a, host.data(), N * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemset(b, 0, N * sizeof(float));
        cudaMemset(out, 0, N * sizeof(float));
    }

    float look(const float *at) {
        float value;
        cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost);
        seen.push_back(value);
        return value;
    }

    void step() {
        diffuse<<<BLOCKS, THREADS>>>(b, a);
        std::swap(a, b);
    }
};

// Steps of a simulation, of which the last one's result is converted.
static void plain(Program &p, int steps) {
    for (int s = 0; s < steps; ++s) p.step();
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// What stands behind the loop needs what other threads made.
static void neighbours(Program &p) {
    for (int s = 0; s < STEPS; ++s) p.step();
    convert_neighbours<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// The host looks at it first.
static void looks(Program &p) {
    for (int s = 0; s < STEPS; ++s) p.step();
    p.look(p.a + 5);
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// Tested at its end.
static void at_its_end(Program &p, int steps) {
    int s = 0;
    do {
        p.step();
        s += 2;
    } while (s < steps);
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// Left in the middle, by what the host knows.
static void left_early(Program &p, int last) {
    for (int s = 0; s < STEPS; ++s) {
        if (s == last) break;
        p.step();
    }
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// Two ways out, of which one is behind the launch.
static void left_behind(Program &p, int last) {
    for (int s = 0; s < STEPS; ++s) {
        p.step();
        if (s == last) break;
    }
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// What a step made decides.
static void until_small(Program &p) {
    float largest = 1;
    while (largest > 0.6f) {
        p.step();
        largest = p.look(p.a + 90);
    }
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// A function decides, of which nobody knows what it does.
static int asked = 0;
__attribute__((noinline)) static bool goes_on(int s) { return (asked += s) < 12; }
static void asks(Program &p) {
    for (int s = 0; goes_on(s); ++s) p.step();
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// Something may throw behind the launch.
static void checked(Program &p, int s, int last) {
    p.seen.push_back(float(s));
    if (s == last) throw std::runtime_error("enough");
}
static void throws(Program &p, int last, int steps) {
    try {
        for (int s = 0; s < steps; ++s) {
            p.step();
            checked(p, s, last);
        }
        convert<<<BLOCKS, THREADS>>>(p.out, p.a);
    } catch (const std::exception &) {
        p.seen.push_back(-1);
    }
}

// A loop in a loop, of which each round writes a result.
static void nested(Program &p) {
    for (int round = 0; round < 3; ++round) {
        for (int s = 0; s < round + 1; ++s) p.step();
        convert<<<BLOCKS, THREADS>>>(p.out, p.a);
        p.look(p.out + round);
    }
}

// Layers of a network: each begins with what the one before has made, and so does what stands behind them.
template <typename T>
static void layers(Program &p, T count) {
    float *made, *squares = p.b, *in = p.a;
    cudaMalloc(&made, (count + 1) * N * sizeof(float));
    cudaMemset(made, 0, (count + 1) * N * sizeof(float));
    for (T layer = 0; layer < count; ++layer) {
        in = layer == 0 ? p.a : made + (layer - 1) * N;
        float *out = made + layer * N;
        square<<<BLOCKS, THREADS>>>(squares, in);
        mix<<<BLOCKS, THREADS>>>(p.out, squares, p.look(squares));
        sum<<<BLOCKS, THREADS>>>(out, in, p.out);
    }
    if (count > 0) in = made + (count - 1) * N;
    square<<<BLOCKS, THREADS>>>(squares, in);
}

// The same from the last to the first, and the first one in another place.
static void backwards(Program &p, int count) {
    float *made;
    cudaMalloc(&made, (count + 1) * N * sizeof(float));
    cudaMemset(made, 0, (count + 1) * N * sizeof(float));
    for (int layer = count; layer >= 1; --layer) {
        mix<<<BLOCKS, THREADS>>>(p.b, p.a, p.look(p.a));
        sum<<<BLOCKS, THREADS>>>(made + layer * N, p.a, p.b);
    }
    square<<<BLOCKS, THREADS>>>(p.out, made + N);
}

// Steps of another size, of which the last one need not meet the bound.
static void other_steps(Program &p, int count) {
    float *made;
    cudaMalloc(&made, (count + 4) * N * sizeof(float));
    cudaMemset(made, 0, (count + 4) * N * sizeof(float));
    int last = 0;
    for (int layer = 0; layer <= count; layer += 3) {
        mix<<<BLOCKS, THREADS>>>(p.b, p.a, p.look(p.a));
        sum<<<BLOCKS, THREADS>>>(made + layer * N, p.a, p.b);
        last = layer;
    }
    square<<<BLOCKS, THREADS>>>(p.out, made + last * N);
}

// What stands behind the launch cannot be written twice, since it may have labels.
static void assembled(Program &p) {
    for (int s = 0; s < STEPS; ++s) {
        p.step();
        asm volatile("" ::: "memory");
    }
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// The last launch comes in some iterations only.
static void at_times(Program &p, int steps) {
    for (int s = 0; s < steps; ++s) {
        p.look(p.a + s);
        if (s % 2 == 0) p.step();
    }
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// Two launches at the end of an iteration run as one, and so do two behind the loop.
static void groups(Program &p) {
    for (int s = 0; s < STEPS; ++s) {
        p.step();
        damp<<<BLOCKS, THREADS>>>(p.a, 0.99f);
    }
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
    damp<<<BLOCKS, THREADS>>>(p.out, 0.5f);
}

// What comes behind is a loop itself.
static void two_loops(Program &p) {
    for (int s = 0; s < STEPS; ++s) p.step();
    for (int s = 0; s < 3; ++s) {
        convert<<<BLOCKS, THREADS>>>(p.out, p.a);
        p.look(p.out + s);
    }
}

// The host asks for errors, and waits.
static void checks(Program &p) {
    for (int s = 0; s < STEPS; ++s) {
        p.step();
        cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) {
            printf("%s\n", cudaGetErrorString(error));
            exit(1);
        }
        cudaDeviceSynchronize();
    }
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

// Over the elements of a container, whose place decides.
static void elements(Program &p) {
    std::vector<float> by = {0.5f, 0.25f, 2.0f, 1.5f};
    for (float each : by) {
        p.look(p.a);
        damp<<<BLOCKS, THREADS>>>(p.a, each);
    }
    convert<<<BLOCKS, THREADS>>>(p.out, p.a);
}

int main(int argc, char **argv) {
    int number = argc > 1 ? std::atoi(argv[1]) : 0;
    int steps = argc > 2 ? 2 : STEPS, none = argc > 2 ? 2 : 0;
    Program p;
    switch (number) {
    case 0: plain(p, steps); break;
    case 1: plain(p, none); break;
    case 2: plain(p, none + 1); break;
    case 3: neighbours(p); break;
    case 4: looks(p); break;
    case 5: at_its_end(p, steps); break;
    case 6: at_its_end(p, none); break;
    case 7: left_early(p, none + 4); break;
    case 8: left_early(p, none + 8); break;
    case 9: left_behind(p, none + 3); break;
    case 10: left_behind(p, none + 8); break;
    case 11: until_small(p); break;
    case 12: asks(p); break;
    case 13: throws(p, none + 3, steps); break;
    case 14: throws(p, none + 8, steps); break;
    case 15: nested(p); break;
    case 16: layers<int>(p, steps); break;
    case 17: layers<size_t>(p, steps); break;
    case 18: layers<size_t>(p, none); break;
    case 19: backwards(p, steps); break;
    case 20: other_steps(p, steps + 2); break;
    case 21: assembled(p); break;
    case 22: at_times(p, steps - 1), at_times(p, steps); break;
    case 23: groups(p); break;
    case 24: two_loops(p); break;
    case 25: checks(p); elements(p); break;
    }
    std::vector<float> a(N), b(N), out(N);
    cudaMemcpy(a.data(), p.a, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), p.b, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(out.data(), p.out, N * sizeof(float), cudaMemcpyDeviceToHost);
    double sums[4] = {0, 0, 0, 0};
    for (int i = 0; i < N; ++i) {
        sums[0] += a[i] * (i % 7 + 1);
        sums[1] += b[i] * (i % 5 + 1);
        sums[2] += out[i] * (i % 3 + 1);
    }
    for (size_t i = 0; i < p.seen.size(); ++i) sums[3] += p.seen[i] * double(i + 1);
    std::printf("%.9g %.9g %.9g %.9g %s\n", sums[0], sums[1], sums[2], sums[3],
                cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
