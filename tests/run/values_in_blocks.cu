// Launches with a barrier across the grid between them, of which a thread loads what another thread of its block stored in a launch
// before: where all blocks run at once, that comes from shared memory, and the rest, a rim of each block, from global memory. Beside these
// stand twins in which somebody else writes there, or in which the thread of the block has stored nothing, or somewhere else. An
// argument is the number of the part.
//
// expect: 51 launches -> 20
// built with: --sirius-boundaries=grid-barrier --sirius-opt=-launch-batches
// executes: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
// loads: 1068 2056 66092 1160 3008 3188 1068 2044 1560 4156 4160 1200 5076 4064 2548 4096 4064 3064 1068 4072
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
// arguments: 16 64
// arguments: 17
// arguments: 18 3
// arguments: 19 3
#include <cstdio>
#include <cstdlib>
#include <vector>

const int BLOCK = 64, N = 4 * BLOCK - 3, WIDTH = 24, HEIGHT = 13, MOST = 512;

__device__ int own() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void scale(float *y, const float *x, int n) {
    int i = own();
    if (i < n) y[i] = 2.0f * x[i] + 1.0f;
}
__global__ void stencil(float *out, const float *y, int n) {
    int i = own();
    if (i >= n) return;
    if (i > 0 && i + 1 < n) out[i] = 0.25f * (y[i - 1] + y[i + 1]) + 0.5f * y[i];
    else out[i] = y[i];
}
// The block's part the other way round, and an element of another block.
__global__ void reversed(float *out, const float *y, int n) {
    int i = own(), other = blockIdx.x * blockDim.x + blockDim.x - 1 - threadIdx.x;
    if (i < n) out[i] = (other < n ? y[other] : -1.0f) + y[n - 1 - i];
}
// A sum of the block's part for each thread, in a loop: that is in the first cache.
__global__ void summed(float *out, const float *y, int n) {
    int i = own(), first = blockIdx.x * blockDim.x;
    if (i >= n) return;
    float sum = y[(first + blockDim.x) % n];
    for (int each = 0; each < blockDim.x && first + each < n; ++each) sum += y[first + each];
    out[i] = sum;
}
// So many elements further, in the block and beyond.
__global__ void folded(float *out, const float *y, int distance, int n) {
    int i = own();
    if (i + distance < n) out[i] = y[i] + y[i + distance];
}
__global__ void scale_rows(float *y, const float *x, int width, int height) {
    int column = own(), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height) y[row * width + column] = 2.0f * x[row * width + column] + 1.0f;
}
__global__ void stencil_rows(float *out, const float *y, int width, int height) {
    int column = own(), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float sum = y[row * width + column];
    if (row > 0) sum += y[(row - 1) * width + column];
    if (row + 1 < height) sum += y[(row + 1) * width + column];
    if (column > 0) sum += y[row * width + column - 1];
    if (column + 1 < width) sum += y[row * width + column + 1];
    out[row * width + column] = 0.2f * sum;
}
__global__ void one(float *y, const float *from, int n) {
    if (own() == n - 1) y[0] = from[n / 2];
}
__global__ void added(float *y, const float *from, int n) {
    if (own() == 7) atomicAdd(&y[n - 2], from[3]);
}
__global__ void doubled(float *y, int n) {
    int i = own();
    if (i < n) y[i] = 2.0f * y[i];
}
// Only some elements: of others what was there before is read.
__global__ void some(float *y, const float *x, int n) {
    int i = own();
    if (i < n && x[i] > 11.0f) y[i] = 3.0f * x[i];
}
// Elements of other threads of the block, as a table says.
__global__ void scattered(float *y, const float *x, const int *table, int n) {
    int i = own();
    if (i < n) y[table[i]] = 3.0f * x[i];
}
__global__ void pairs(float *y, const float *x, int n) {
    int i = 2 * own();
    if (i < n) y[i] = 3.0f * x[i];
    if (i + 1 < n) y[i + 1] = 5.0f * x[i + 1];
}
__global__ void strided(float *y, const float *x, int n) {
    for (int i = own(); i < n; i += gridDim.x * blockDim.x) y[i] = 3.0f * x[i];
}
// Either of two values for one element.
__global__ void either(float *y, const float *x, int n) {
    int i = own();
    if (i >= n) return;
    if (x[i] > 11.0f) y[i] = 3.0f * x[i];
    else if (x[i] > 5.0f) y[i] = 7.0f;
}
// Of three elements a number that takes some time, or not.
template <bool LONG> __global__ void worked(float *out, const float *y, int rounds, int n) {
    int i = own();
    if (i >= n) return;
    float left = i > 0 ? y[i - 1] : 0.0f, right = i + 1 < n ? y[i + 1] : 0.0f, here = y[i];
    if (LONG)
        for (int round = 0; round < rounds; ++round)
            for (int step = 0; step <= round; ++step) here = 0.5f * (left - right) + 0.25f * here * (left + step);
    out[i] = here + left * right;
}
// All shared memory that a block may have.
__global__ void heavy(float *out, const float *y, int n) {
    __shared__ float all[12 * 1024 - 32];
    int i = own();
    for (int each = threadIdx.x; each < 12 * 1024 - 32; each += blockDim.x) all[each] = each;
    __syncthreads();
    if (i < n) out[i] = (i > 0 ? y[i - 1] : 0.0f) + all[12000 - threadIdx.x] + y[n - 1 - i];
}

int main(int argc, char **argv) {
    int part = argc > 1 ? atoi(argv[1]) : 0;
    std::vector<float> input(MOST), made(MOST);
    std::vector<int> turned(MOST);
    for (int i = 0; i < MOST; i++) input[i] = i * 31 % 37;
    for (int i = 0; i < MOST; i++) turned[i] = i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK;
    float *x, *y, *sums, *z;
    int *table;
    cudaMalloc(&table, MOST * sizeof(int));
    cudaMemcpy(table, turned.data(), MOST * sizeof(int), cudaMemcpyHostToDevice);
    for (float **each : {&x, &y, &sums, &z}) {
        cudaMalloc(each, MOST * sizeof(float));
        cudaMemcpy(*each, input.data(), MOST * sizeof(float), cudaMemcpyHostToDevice);
    }
    const int grid = (N + BLOCK - 1) / BLOCK;
    switch (part) {
    case 0:
        scale<<<grid, BLOCK>>>(y, x, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 1:
        scale<<<grid, BLOCK>>>(y, x, N);
        reversed<<<grid, BLOCK>>>(z, y, N);
        break;
    case 2:
        scale<<<grid, BLOCK>>>(y, x, N);
        summed<<<grid, BLOCK>>>(z, y, N);
        break;
    case 3:
        scale<<<grid, BLOCK>>>(y, x, N);
        folded<<<grid, BLOCK>>>(sums, y, atoi(argv[1]) + 2, N);
        folded<<<grid, BLOCK>>>(z, sums, 2, N - 5);
        break;
    case 4: {
        dim3 block(8, 4), tiles((WIDTH + 7) / 8, (HEIGHT + 3) / 4);
        scale_rows<<<tiles, block>>>(y, x, WIDTH, HEIGHT);
        stencil_rows<<<tiles, block>>>(sums, y, WIDTH, HEIGHT);
        stencil_rows<<<tiles, block>>>(z, sums, WIDTH, HEIGHT);
        break;
    }
    case 5:  // Steps of a method that goes from one array to the other, which a thread writes again.
        stencil<<<grid, BLOCK>>>(y, x, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        stencil<<<grid, BLOCK>>>(y, z, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 6:  // The store that comes last, in the launch that doubles.
        scale<<<grid, BLOCK>>>(y, x, N);
        doubled<<<grid, BLOCK>>>(y, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 7:  // Elements that nobody stores have to be looked for.
        some<<<grid, BLOCK>>>(y, x, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 8:
        either<<<grid, BLOCK>>>(y, x, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 9:  // Twin: one thread writes one element in between.
        scale<<<grid, BLOCK>>>(y, x, N);
        stencil<<<grid, BLOCK>>>(sums, y, N);
        one<<<grid, BLOCK>>>(y, sums, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 10:  // Twin: by an atomic operation.
        scale<<<grid, BLOCK>>>(y, x, N);
        stencil<<<grid, BLOCK>>>(sums, y, N);
        added<<<grid, BLOCK>>>(y, sums, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 11:  // Twin: under another name, an element further.
        scale<<<grid, BLOCK>>>(y, x, N);
        stencil<<<grid, BLOCK>>>(sums, y, N);
        stencil<<<grid, BLOCK>>>(y + 1, sums, N - 1);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 12:  // Twin: a table says where.
        scattered<<<grid, BLOCK>>>(y, x, table, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 13:  // Twin: several elements a thread.
        pairs<<<(grid + 1) / 2, BLOCK>>>(y, x, N);
        stencil<<<grid, BLOCK>>>(z, y, N);
        break;
    case 14:  // Twin: the same by strides.
        strided<<<2, BLOCK>>>(y, x, N);
        stencil<<<2, BLOCK>>>(z, y, 2 * BLOCK);
        break;
    case 16: {  // Twin: only the run knows how large a block is.
        int block = atoi(argv[2]);
        scale<<<(N + block - 1) / block, block>>>(y, x, N);
        stencil<<<(N + block - 1) / block, block>>>(z, y, N);
        break;
    }
    case 17:  // Twin: there is no room.
        scale<<<grid, BLOCK>>>(y, x, N);
        heavy<<<grid, BLOCK>>>(z, y, N);
        break;
    case 18:
        scale<<<grid, BLOCK>>>(y, x, N);
        worked<false><<<grid, BLOCK>>>(z, y, atoi(argv[2]), N);
        break;
    case 19:  // Twin: instructions take longest, of which slots would add some.
        scale<<<grid, BLOCK>>>(y, x, N);
        worked<true><<<grid, BLOCK>>>(z, y, atoi(argv[2]), N);
        break;
    default:  // Another grid: its blocks are those of a row of another length.
        scale<<<grid, BLOCK>>>(y, x, N);
        stencil<<<2 * grid, BLOCK / 2>>>(z, y, N);
    }
    cudaMemcpy(made.data(), z, MOST * sizeof(float), cudaMemcpyDeviceToHost);
    unsigned long long sum = 14695981039346656037ull;
    for (float each : made) sum = (sum ^ (long long)(each * 1024.0f)) * 1099511628211ull;
    printf("PASS %llx\n", sum);
}
