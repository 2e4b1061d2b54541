// Host loops whose iterations end with a launch that can run together with the one that the next iteration begins with.
// Beside them stand twins in which it cannot. An argument is the number of the case.
//
// executes: 17 24 24 13 1 0 16 17 17 17 11 14 13 24
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
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

const int N = 2048, THREADS = 128, BLOCKS = N / THREADS, STEPS = 8;

__global__ void square(float *squares, const float *x) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    squares[i] = x[i] * x[i];
}

__global__ void square_of_next(float *squares, const float *x) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    squares[i] = x[(i + 1) % N] * x[(i + 1) % N];
}

__global__ void scaled(float *c, const float *x, float q) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    c[i] = q / (1 + x[i] * x[i] + x[i > 0 ? i - 1 : 0]);
}

__global__ void update(float *x, const float *c) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    x[i] += 0.1f * (c[i] + c[i < N - 1 ? i + 1 : i]);
}

__global__ void sum(float *out, const float *in, const float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 0.5f + c[i] + 0.1f * c[(i + 7) % N];
}

struct Program {
    float *x, *squares, *c;
    std::vector<float> host = std::vector<float>(N), q;

    Program() {
        cudaMalloc(&x, N * sizeof(float));
        cudaMalloc(&squares, N * sizeof(float));
        cudaMalloc(&c, N * sizeof(float));
        for (int i = 0; i < N; ++i) host[i] = 0.01f * float(i % 91);
        cudaMemcpy(x, host.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    }

    float mean() {
        cudaMemcpy(host.data(), squares, N * sizeof(float), cudaMemcpyDeviceToHost);
        float sum = 0;
        for (float each : host) sum += each;
        q.push_back(sum / N);
        return sum / N;
    }
};

// As image filters do it: the host needs a number of all elements in each iteration.
static void plain(Program &p, int steps) {
    for (int step = 0; step < steps; ++step) {
        square<<<BLOCKS, THREADS>>>(p.squares, p.x);
        scaled<<<BLOCKS, THREADS>>>(p.c, p.x, p.mean());
        update<<<BLOCKS, THREADS>>>(p.x, p.c);
    }
}

// The first launch reads what other blocks have just written.
static void neighbours(Program &p) {
    for (int step = 0; step < STEPS; ++step) {
        square_of_next<<<BLOCKS, THREADS>>>(p.squares, p.x);
        scaled<<<BLOCKS, THREADS>>>(p.c, p.x, p.mean());
        update<<<BLOCKS, THREADS>>>(p.x, p.c);
    }
}

// The host looks at what the last launch wrote.
static void looks(Program &p) {
    for (int step = 0; step < STEPS; ++step) {
        square<<<BLOCKS, THREADS>>>(p.squares, p.x);
        scaled<<<BLOCKS, THREADS>>>(p.c, p.x, p.mean());
        update<<<BLOCKS, THREADS>>>(p.x, p.c);
        cudaMemcpy(p.host.data(), p.x, N * sizeof(float), cudaMemcpyDeviceToHost);
        p.q.push_back(p.host[step]);
    }
}

// Left in the middle, by what the host finds.
static void left_early(Program &p) {
    for (int step = 0; step < STEPS; ++step) {
        square<<<BLOCKS, THREADS>>>(p.squares, p.x);
        float mean = p.mean();
        if (step == 6 && mean > 0) break;
        scaled<<<BLOCKS, THREADS>>>(p.c, p.x, mean);
        update<<<BLOCKS, THREADS>>>(p.x, p.c);
    }
}

// Tested at its end, with a bound that the loop finds.
static void at_its_end(Program &p) {
    float mean, before = 1e9f;
    int step = 0;
    do {
        square<<<BLOCKS, THREADS>>>(p.squares, p.x);
        mean = p.mean();
        scaled<<<BLOCKS, THREADS>>>(p.c, p.x, mean);
        update<<<BLOCKS, THREADS>>>(p.x, p.c);
        before = mean;
    } while (before > 0 && ++step < STEPS);
}

// The last launch comes in some iterations only.
static void at_times(Program &p) {
    for (int step = 0; step < STEPS; ++step) {
        square<<<BLOCKS, THREADS>>>(p.squares, p.x);
        scaled<<<BLOCKS, THREADS>>>(p.c, p.x, p.mean());
        if (step % 2 == 0) update<<<BLOCKS, THREADS>>>(p.x, p.c);
    }
}

// Other memory each time, and it is not known that there is any.
static void other_memory(Program &p, float **pieces) {
    for (int step = 0; step < STEPS; ++step) {
        square<<<BLOCKS, THREADS>>>(p.squares, pieces[step % 2]);
        scaled<<<BLOCKS, THREADS>>>(p.c, p.x, p.mean());
        update<<<BLOCKS, THREADS>>>(p.x, p.c);
    }
}

// What is in front of the launch throws, at some time.
static int checked(int step, int last) {
    if (step == last) throw std::runtime_error("enough");
    return step;
}
static void throws(Program &p, int last) {
    std::vector<int> done;
    try {
        for (int step = 0; step < STEPS; ++step) {
            done.push_back(checked(step, last));
            square<<<BLOCKS, THREADS>>>(p.squares, p.x);
            scaled<<<BLOCKS, THREADS>>>(p.c, p.x, p.mean());
            update<<<BLOCKS, THREADS>>>(p.x, p.c);
        }
    } catch (const std::exception &) {
        p.q.push_back(-float(done.size()));
    }
}

// A loop in a loop.
static void nested(Program &p) {
    for (int outer = 0; outer < 2; ++outer) {
        plain(p, 2 + outer);
        square_of_next<<<BLOCKS, THREADS>>>(p.squares, p.x);
        p.mean();
    }
}

// Layers of a network: each begins with what the one before has made, the first one with something else.
static void layers(Program &p, int count) {
    float *made, *in = p.x;
    cudaMalloc(&made, count * N * sizeof(float));
    cudaMemset(made, 0, count * N * sizeof(float));
    for (int layer = 0; layer < count; ++layer) {
        in = layer == 0 ? p.x : made + (layer - 1) * N;
        float *out = made + layer * N;
        square<<<BLOCKS, THREADS>>>(p.squares, in);
        scaled<<<BLOCKS, THREADS>>>(p.c, p.squares, p.mean());
        sum<<<BLOCKS, THREADS>>>(out, in, p.c);
    }
    cudaMemcpy(p.x, made + (count - 1) * N, N * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(made);
}

// What stands before the launch cannot be written twice, since it may have labels.
static void assembled(Program &p) {
    for (int step = 0; step < STEPS; ++step) {
        asm volatile("" ::: "memory");
        square<<<BLOCKS, THREADS>>>(p.squares, p.x);
        scaled<<<BLOCKS, THREADS>>>(p.c, p.x, p.mean());
        update<<<BLOCKS, THREADS>>>(p.x, p.c);
    }
}

int main(int argc, char **argv) {
    int number = argc > 1 ? std::atoi(argv[1]) : 0;
    Program p;
    float *pieces[2] = {p.x, p.c};
    switch (number) {
    case 0: plain(p, STEPS); break;
    case 1: neighbours(p); break;
    case 2: looks(p); break;
    case 3: left_early(p); break;
    case 4: plain(p, argc > 2 ? 2 : 0); square<<<BLOCKS, THREADS>>>(p.squares, p.x); break;
    case 5: plain(p, argc > 2 ? 2 : 0); break;
    case 6: at_times(p); break;
    case 7: at_its_end(p); break;
    case 8: other_memory(p, pieces); break;
    case 9: throws(p, STEPS); break;
    case 10: throws(p, 5); break;
    case 11: nested(p); break;
    case 12: layers(p, 6); break;
    case 13: assembled(p); break;
    }
    std::vector<float> x(N), squares(N), c(N);
    cudaMemcpy(x.data(), p.x, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(squares.data(), p.squares, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(c.data(), p.c, N * sizeof(float), cudaMemcpyDeviceToHost);
    double sums[3] = {0, 0, 0}, means = 0;
    for (int i = 0; i < N; ++i) {
        sums[0] += x[i] * (i % 7 + 1);
        sums[1] += squares[i] * (i % 5 + 1);
        sums[2] += c[i] * (i % 3 + 1);
    }
    for (size_t i = 0; i < p.q.size(); ++i) means += p.q[i] * double(i + 1);
    std::printf("%.9g %.9g %.9g %.9g %s\n", sums[0], sums[1], sums[2], means,
                cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
}
