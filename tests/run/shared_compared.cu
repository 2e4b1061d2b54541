// Members with much shared memory of which an address is looked at as a number.
//
// Shows: three of them would have to use storage in turn, which is not done where not every use of a variable
// is known. What fits side by side still becomes one.
//
// expect: 3 launches -> 2
// expect-missed: resources
#include <cstdio>
#include <vector>

constexpr int THREADS = 128, BLOCKS = 6, COUNT = THREADS * BLOCKS, ROOM = 5000;

// Turns each block around, through the end of a large tile.
template <int STEP>
__global__ void turn(float *x) {
    __shared__ float tile[ROOM];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    float *own = &tile[ROOM - 1 - threadIdx.x];
    *own = x[i];
    __syncthreads();
    // No thread's place lies there.
    const bool nowhere = (unsigned)__cvta_generic_to_shared(own) == 0xffffffffu;
    x[i] = tile[ROOM - THREADS + threadIdx.x] + STEP + (nowhere ? 1.0f : 0.0f);
}

int main() {
    std::vector<float> values(COUNT), got(COUNT);
    for (int i = 0; i < COUNT; ++i) values[i] = (float)(i * 7 % 101);
    float *x;
    cudaMalloc(&x, COUNT * sizeof(float));
    cudaMemcpy(x, values.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    turn<1><<<BLOCKS, THREADS>>>(x);
    turn<2><<<BLOCKS, THREADS>>>(x);
    turn<3><<<BLOCKS, THREADS>>>(x);
    cudaMemcpy(got.data(), x, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
    int wrong = 0;
    for (int i = 0; i < COUNT; ++i) {
        const int turned = i / THREADS * THREADS + THREADS - 1 - i % THREADS;
        wrong += got[i] != values[turned] + 6.0f;
    }
    printf(wrong ? "FAIL: %d elements differ\n" : "PASS\n", wrong);
    return wrong != 0;
}
