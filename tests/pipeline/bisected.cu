// One of each that `--sirius-max-fusions=N` counts: a chain, a set that joins a launch, launches side by
// side, a nest of loops that becomes batches. The host looks at memory in between, so that they stay unfused.
#include <cstdio>

constexpr int N = 512, THREADS = 64, BLOCKS = N / THREADS, STEPS = 4, CELLS = 3;

__global__ void add(int *y, const int *x, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += x[i] * by;
}

static void show(const char *what, const int *device) {
    int host[N];
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (int i = 0; i < N; ++i) sum = sum * 31 + (unsigned)host[i];
    printf("%s %u\n", what, sum);
}

int main() {
    int host[N];
    for (int i = 0; i < N; ++i) host[i] = i % 23;
    int *a, *b, *c, *rows;
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMalloc(&c, sizeof host);
    cudaMalloc(&rows, (STEPS + 1) * (CELLS + 1) * sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(c, host, sizeof host, cudaMemcpyHostToDevice);
    for (int row = 0; row < (STEPS + 1) * (CELLS + 1); ++row)
        cudaMemcpy(rows + row * N, host, sizeof host, cudaMemcpyHostToDevice);

    add<<<BLOCKS, THREADS>>>(b, a, 2);
    add<<<BLOCKS, THREADS>>>(c, b, 3);
    show("chain", c);

    cudaMemset(b, 0, sizeof host);
    add<<<BLOCKS, THREADS>>>(b, c, 5);
    show("set", b);

    add<<<BLOCKS, THREADS>>>(a, a, 7);
    add<<<BLOCKS / 2, THREADS>>>(c, c, 11);
    show("beside", a);

    for (int step = 1; step <= STEPS; ++step)
        for (int cell = 1; cell <= CELLS; ++cell) {
            int *own = rows + (step * (CELLS + 1) + cell) * N;
            add<<<BLOCKS, THREADS>>>(own, own - (CELLS + 1) * N, step);
            add<<<BLOCKS, THREADS>>>(own, own - N, cell);
        }
    show("batches", rows + (STEPS * (CELLS + 1) + CELLS) * N);
    for (int *buffer : {a, b, c, rows}) cudaFree(buffer);
}
