// A kernel makes an element of each thread, and the next one reads it on both sides of its barriers: it stays in a register, with no
// word about pointers in the source. Beside that stand kernels of which another thread writes the element, before the barrier,
// between two, or under another name, where each load behind the barrier sees it. An argument is the number of the case.
//
// expect: 14 launches -> 7
// executes: 1 1 1 1 1 1 1
// loads: 2028 9600 2028 4056 4056 6052 4056
// arguments: 0
// arguments: 1
// arguments: 2
// arguments: 3
// arguments: 4
// arguments: 5
// arguments: 6
#include <cstdio>
#include <cstdlib>
#include <vector>

const int BLOCK = 64, N = 8 * BLOCK - 5, WIDTH = 100, HEIGHT = 24;

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + 1.0f;
}

__global__ void scale_rows(float *y, const float *x, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height) y[row * width + column] = 2.0f * x[row * width + column] + 1.0f;
}

// What a block holds without its mean: y is read before the barriers and behind them.
__global__ void centre(float *out, const float *y, int n) {
    __shared__ float sums[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? y[i] : 0.0f;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    if (i < n) out[i] = y[i] - sums[0] / BLOCK;
}

// The same in blocks of two dimensions.
__global__ void centre_rows(float *out, const float *y, int width, int height) {
    __shared__ float tile[8][16];
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    bool inside = column < width && row < height;
    tile[threadIdx.y][threadIdx.x] = inside ? y[row * width + column] : 0.0f;
    __syncthreads();
    float beside = tile[threadIdx.y ^ 1][threadIdx.x ^ 1];
    if (inside) out[row * width + column] = y[row * width + column] - beside;
}

// In place: the thread's own element changes, and is read again.
__global__ void centre_in_place(float *out, float *y, int n) {
    __shared__ float sums[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? y[i] : 0.0f;
    if (i < n) y[i] = y[i] * y[i];
    __syncthreads();
    float other = sums[threadIdx.x ^ 1];
    __syncthreads();
    if (i < n) out[i] = y[i] + other;
}

// Twin: a thread writes its partner's element before the barrier.
__global__ void give_to_partner(float *out, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ 1;
    float own = i < n ? y[i] : 0.0f;
    __syncthreads();
    if (partner < n) y[partner] = own + 100.0f;
    __syncthreads();
    if (i < n) out[i] = y[i];
}

// Twin: one thread of the block writes an element between two barriers.
__global__ void first_writes(float *out, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = i < n ? y[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x == 0 && i + 7 < n) y[i + 7] = -1.0f;
    __syncthreads();
    if (i < n) out[i] = y[i] + own;
}

// Twin: the element is written by an atomic operation of the next thread.
__global__ void add_to_next(float *out, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = i < n ? y[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x + 1 < blockDim.x && i + 1 < n) atomicAdd(&y[i + 1], 0.5f);
    __syncthreads();
    if (i < n) out[i] = y[i] + own;
}

// Twin: another name of the same memory, a byte further.
__global__ void by_another_name(float *out, const float *y, float *same, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = i < n ? y[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x + 1 < blockDim.x && i + 1 < n) same[i + 1] = own;
    __syncthreads();
    if (i < n) out[i] = y[i] + own;
}

int main(int argc, char **argv) {
    int part = argc > 1 ? atoi(argv[1]) : 0;
    const int all = WIDTH * HEIGHT;
    std::vector<float> input(all), made(all), expected(all, 0.0f);
    for (int i = 0; i < all; i++) input[i] = i % 37;
    float *x, *y, *out;
    cudaMalloc(&x, all * sizeof(float));
    cudaMalloc(&y, all * sizeof(float));
    cudaMalloc(&out, all * sizeof(float));
    cudaMemcpy(x, input.data(), all * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, all * sizeof(float));
    const int blocks = (N + BLOCK - 1) / BLOCK;
    auto value = [&](int i) { return 2.0f * input[i] + 1.0f; };
    auto inside = [&](int i) { return i < N ? value(i) : 0.0f; };
    switch (part) {
    case 0:
        scale<<<blocks, BLOCK>>>(y, x, N);
        centre<<<blocks, BLOCK>>>(out, y, N);
        for (int i = 0; i < N; i++) {
            float sum = 0.0f;
            for (int j = i / BLOCK * BLOCK; j < (i / BLOCK + 1) * BLOCK; j++) sum += inside(j);
            expected[i] = value(i) - sum / BLOCK;
        }
        break;
    case 1: {
        dim3 block(16, 8), grid((WIDTH + 15) / 16, HEIGHT / 8);
        scale_rows<<<grid, block>>>(y, x, WIDTH, HEIGHT);
        centre_rows<<<grid, block>>>(out, y, WIDTH, HEIGHT);
        for (int row = 0; row < HEIGHT; row++)
            for (int column = 0; column < WIDTH; column++) {
                float beside = (column ^ 1) < WIDTH ? value((row ^ 1) * WIDTH + (column ^ 1)) : 0.0f;
                expected[row * WIDTH + column] = value(row * WIDTH + column) - beside;
            }
        break;
    }
    case 2:
        scale<<<blocks, BLOCK>>>(y, x, N);
        centre_in_place<<<blocks, BLOCK>>>(out, y, N);
        for (int i = 0; i < N; i++) expected[i] = value(i) * value(i) + inside(i ^ 1);
        break;
    case 3:
        scale<<<blocks, BLOCK>>>(y, x, N);
        give_to_partner<<<blocks, BLOCK>>>(out, y, N);
        for (int i = 0; i < N; i++) expected[i] = inside(i ^ 1) + 100.0f;
        break;
    case 4:
        scale<<<blocks, BLOCK>>>(y, x, N);
        first_writes<<<blocks, BLOCK>>>(out, y, N);
        for (int i = 0; i < N; i++) expected[i] = (i % BLOCK == 7 ? -1.0f : value(i)) + value(i);
        break;
    case 5:
        scale<<<blocks, BLOCK>>>(y, x, N);
        add_to_next<<<blocks, BLOCK>>>(out, y, N);
        for (int i = 0; i < N; i++) expected[i] = 2.0f * value(i) + (i % BLOCK ? 0.5f : 0.0f);
        break;
    default:
        scale<<<blocks, BLOCK>>>(y, x, N);
        by_another_name<<<blocks, BLOCK>>>(out, y, y, N);
        for (int i = 0; i < N; i++) expected[i] = (i % BLOCK ? value(i - 1) : value(i)) + value(i);
    }
    cudaMemcpy(made.data(), out, all * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < all; i++)
        if (made[i] != expected[i]) return printf("FAIL %d: %g, not %g\n", i, made[i], expected[i]), 1;
    printf("PASS %g\n", made[3]);
}
