// Programs that wait for the device after every launch: launches of a batch pass the waits, which are made up for when the
// batch is issued. Beside them stand waits behind which the host looks at what kernels wrote. An argument is the number of
// the case.
//
// expect: 10 launches -> 6, 1 host loop
// executes: 1 1 6 1 8 1
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
#include <cstdio>
#include <cstdlib>
#include <vector>

const int N = 2000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS, FIELDS = 6;

__global__ void fill(float *field, int n, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) field[i] = field[i] * 0.5f + value;
}
__global__ void tell(int *told, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) told[i] = told[i] * 2 + value;
}

static void check(cudaError_t status, int line) {
    if (status != cudaSuccess) std::printf("FAIL %d: %s\n", line, cudaGetErrorString(status)), std::exit(1);
}
#define CHECK(call) check(call, __LINE__)
#define AFTER_LAUNCH() (CHECK(cudaGetLastError()), CHECK(cudaDeviceSynchronize()))

int main(int argc, char **argv) {
    int which = argc > 1 ? std::atoi(argv[1]) : 0;
    std::vector<float> host(N, 1.0f);
    float *fields[FIELDS];
    for (int f = 0; f < FIELDS; ++f) {
        CHECK(cudaMalloc(&fields[f], N * sizeof(float)));
        CHECK(cudaMemcpy(fields[f], host.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    }
    int *told;
    CHECK(cudaMallocManaged(&told, N * sizeof(int)));
    for (int i = 0; i < N; ++i) told[i] = i;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    switch (which) {
    case 0:
        for (int f = 0; f < FIELDS; ++f) {
            fill<<<BLOCKS, THREADS>>>(fields[f], N, float(f));
            AFTER_LAUNCH();
        }
        break;
    case 1:
        for (int f = 0; f < FIELDS; ++f) {
            fill<<<BLOCKS, THREADS, 0, stream>>>(fields[f], N, float(f));
            CHECK(cudaStreamSynchronize(stream));
        }
        break;
    case 2: // The host looks in.
        for (int f = 0; f < FIELDS; ++f) {
            fill<<<BLOCKS, THREADS>>>(fields[f], N, float(f));
            AFTER_LAUNCH();
            float last;
            CHECK(cudaMemcpy(&last, fields[f] + N - 1, sizeof last, cudaMemcpyDeviceToHost));
            std::printf("%g\n", last);
        }
        break;
    case 3: // Behind the last of the waits the host reads what the kernels wrote, with no other wait.
        for (int step = 0; step < 5; ++step) {
            tell<<<BLOCKS, THREADS>>>(told, N, step);
            AFTER_LAUNCH();
        }
        std::printf("%d %d\n", told[0], told[N - 1]);
        break;
    case 4: // So it does in each step.
        for (int step = 0; step < 8; ++step) {
            tell<<<BLOCKS, THREADS>>>(told, N, step);
            AFTER_LAUNCH();
            if (told[3] % 7 == 5) told[2] += 1;
        }
        break;
    case 5: // In a row, with waits of the device, of a stream and of another one.
        fill<<<BLOCKS, THREADS>>>(fields[0], N, 1);
        CHECK(cudaDeviceSynchronize());
        fill<<<BLOCKS, THREADS>>>(fields[1], N, 2);
        CHECK(cudaStreamSynchronize(0));
        fill<<<BLOCKS, THREADS>>>(fields[2], N / 2, 3);
        CHECK(cudaStreamSynchronize(stream));
        fill<<<BLOCKS, THREADS>>>(fields[0], N, 4);
        CHECK(cudaDeviceSynchronize());
        fill<<<BLOCKS, THREADS>>>(fields[1], N, 5);
        break;
    }
    double sum = 0;
    for (int f = 0; f < FIELDS; ++f) {
        CHECK(cudaMemcpy(host.data(), fields[f], N * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; ++i) sum += host[i] * (f + 1);
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; ++i) sum += told[i] % 1000;
    std::printf("%.9g\nPASS\n", sum);
}
