// Kernels that are one loop over the whole grid run beside launches of other grids and blocks, each iteration in the thread that
// has its element.
//
// expect: 33 launches -> 14
// executes: 17 17 18 16 18
// arguments: 29000 0
// arguments: 4096 0
// arguments: 1 0
// arguments: 29000 700
// arguments: 29000 -28999
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int width = 96, rows = 64, tile = 16;

__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

__global__ void add_one(float *y, const float *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i] + 1;
}

// The same in 64 bits, without signs, and written by hand.
__global__ void add_two(float *y, const float *x, size_t n) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        y[i] = x[i] + 2;
}

__global__ void add_three(float *y, const float *x, unsigned n) {
    const unsigned step = blockDim.x * gridDim.x;
    for (unsigned i = threadIdx.x + blockDim.x * blockIdx.x; i < n; i += step)
        y[i] = x[i] + 3;
}

__global__ void halve_in_place(float *y, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    while (n > i) {
        y[i] /= 2;
        i = i + blockDim.x * gridDim.x;
    }
}

// An iteration that goes on early, has a loop of its own, and reads what all iterations read.
__global__ void polynomial(float *y, const float *x, const float *terms, int count, int n) {
    const float first = terms[0];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (i % 3 == 0) {
            y[i] = first;
            continue;
        }
        float power = 1, sum = 0;
        for (int term = 0; term < count; term++, power *= x[i])
            sum += terms[term] * power;
        y[i] = sum;
    }
}

// Its end stands in a struct, is a product, or a quotient.
struct Packed {
    float *to;
    const float *from;
    float factor;
    int rows, columns;
};
__global__ void packed(Packed p) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.rows * p.columns; i += gridDim.x * blockDim.x)
        p.to[i] = p.factor * p.from[i];
}
__global__ void add_pairs(float2 *y, const float2 *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x)
        y[i] = make_float2(x[i].x + 1, x[i].y + 2);
}
__global__ void scale_pairs(float2 *y, const float2 *x, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) y[i] = make_float2(2 * x[i].x, 3 * x[i].y);
}

template <typename Function>
__global__ void for_each(int n, Function function) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        function(i);
}
struct AddFive {
    float *to;
    const float *from;
    __device__ void operator()(int i) const { to[i] = from[i] + 5; }
};

// Updates whose order does not matter, one for each iteration.
__global__ void count_large(int *count, const float *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] > 8) atomicAdd(count, 1);
}

__global__ void row_sums(float *sums, const float *x) {
    __shared__ float part[64];
    float sum = 0;
    for (int i = threadIdx.x; i < width; i += 64) sum += x[blockIdx.x * width + i];
    part[threadIdx.x] = sum;
    for (int step = 32; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// Each block turns its tile by way of shared memory.
__global__ void turn_tile(float *y, const float *x) {
    __shared__ float part[tile][tile];
    const int column = blockIdx.x * tile + threadIdx.x, row = blockIdx.y * tile + threadIdx.y;
    part[threadIdx.x][threadIdx.y] = x[row * width + column];
    __syncthreads();
    y[row * width + column] = part[threadIdx.y][threadIdx.x];
}

static std::vector<float> expected(30000);
static int wrong = 0;

static void expect(const char *what, const float *device, int n) {
    std::vector<float> host(expected.size());
    cudaMemcpy(host.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (host[i] != expected[i] && wrong++ < 5)
            std::printf("%s: element %d is %f and not %f\n", what, i, host[i], expected[i]);
}

static int blocks(int n) { return std::min((n + 255) / 256, 40); }

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 29000, more = argc > 2 ? atoi(argv[2]) : 0, most = expected.size();
    std::vector<float> host(most);
    for (int i = 0; i < most; i++) host[i] = i % 13;
    const float terms[] = {1, 0.5f, 0.25f};
    float *x, *y, *z, *w, *sums, *device_terms;
    int *count, processors;
    cudaMalloc(&x, most * sizeof(float));
    cudaMalloc(&y, most * sizeof(float));
    cudaMalloc(&z, most * sizeof(float));
    cudaMalloc(&w, most * sizeof(float));
    cudaMalloc(&sums, rows * sizeof(float));
    cudaMalloc(&device_terms, sizeof terms);
    cudaMalloc(&count, sizeof(int));
    cudaMemcpy(x, host.data(), most * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_terms, terms, sizeof terms, cudaMemcpyHostToDevice);
    cudaMemset(count, 0, sizeof(int));
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);

    // Behind a launch of one element a thread, and in front of one; grids by the processors there are, and capped.
    scale<<<(n + 255) / 256, 256>>>(y, x, n);
    add_one<<<16, 256>>>(z, y, n);
    for (int i = 0; i < n; i++) expected[i] = 2 * host[i] + 1;
    expect("behind", z, n);
    add_one<<<2 * processors, 128>>>(y, x, n);
    scale<<<(n + 255) / 256, 256>>>(z, y, n);
    for (int i = 0; i < n; i++) expected[i] = 2 * (host[i] + 1);
    expect("in front", z, n);
    scale<<<(n + 127) / 128, 128>>>(y, x, n);
    add_one<<<blocks(n), 256>>>(z, y, n);
    for (int i = 0; i < n; i++) expected[i] = 2 * host[i] + 1;
    expect("capped", z, n);

    // Several of them, of other grids each, around one launch.
    add_two<<<7, 96>>>(y, x, n);
    scale<<<(n + 255) / 256, 256>>>(z, y, n);
    add_three<<<processors, 64>>>(w, z, n);
    halve_in_place<<<9, 512>>>(w, n);
    for (int i = 0; i < n; i++) expected[i] = (2 * (host[i] + 2) + 3) / 2;
    expect("several", w, n);

    // More than the loads of an iteration.
    scale<<<(n + 255) / 256, 256>>>(y, x, n);
    polynomial<<<12, 128>>>(z, y, device_terms, 3, n);
    count_large<<<5, 256>>>(count, z, n);
    for (int i = 0; i < n; i++) {
        const float at = 2 * host[i];
        expected[i] = i % 3 == 0 ? 1 : 1 + 0.5f * at + 0.25f * at * at;
    }
    expect("polynomial", z, n);
    int counted, large = std::count_if(expected.begin(), expected.begin() + n, [](float at) { return at > 8; });
    cudaMemcpy(&counted, count, sizeof counted, cudaMemcpyDeviceToHost);
    wrong += counted != large;

    const int columns = n < 10 ? n : 10;
    scale<<<(n + 255) / 256, 256>>>(y, x, n);
    packed<<<13, 128>>>(Packed{z, y, 3, n / columns, columns});
    for (int i = 0; i < n; i++) expected[i] = 6 * host[i];
    expect("packed", z, n / columns * columns);
    scale_pairs<<<(n / 2 + 127) / 128 + 1, 128>>>((float2 *)y, (const float2 *)x, n / 2);
    add_pairs<<<6, 256>>>((float2 *)z, (const float2 *)y, n);
    for (int i = 0; i < n; i++) expected[i] = i % 2 ? 3 * host[i] + 2 : 2 * host[i] + 1;
    expect("pairs", z, n / 2 * 2);
    for_each<<<blocks(n), 128>>>(n, AddFive{y, x});
    scale<<<(n + 255) / 256, 256>>>(z, y, n);
    for (int i = 0; i < n; i++) expected[i] = 2 * (host[i] + 5);
    expect("functor", z, n);

    // Nobody has a thread for each element: one takes the turns of the other.
    add_one<<<2 * processors, 128>>>(y, x, n);
    add_three<<<17, 96>>>(z, y, n);
    halve_in_place<<<3, 256>>>(z, n);
    for (int i = 0; i < n; i++) expected[i] = (host[i] + 4) / 2;
    expect("loops alone", z, n);

    // Fewer threads than there are elements, or no element at all: as they are written.
    const int few = n + more;
    cudaMemset(y, 0, most * sizeof(float));
    scale<<<(few + 255) / 256, 256>>>(y, x, few);
    add_one<<<16, 256>>>(z, y, n);
    for (int i = 0; i < n; i++) expected[i] = i < few ? 2 * host[i] + 1 : 1;
    expect("few", z, std::min(n, most));
    scale<<<(n + 255) / 256, 256>>>(y, x, n);
    add_one<<<16, 256>>>(y, y, std::max(more, 0));
    for (int i = 0; i < n; i++) expected[i] = 2 * host[i] + (i < more);
    expect("none", y, n);

    // Rows and tiles: a block runs the iterations of its elements.
    add_one<<<11, 256>>>(y, x, rows * width);
    row_sums<<<rows, 64>>>(sums, y);
    halve_in_place<<<8, 256>>>(y, rows * width);
    for (int i = 0; i < rows * width; i++) expected[i] = (host[i] + 1) / 2;
    std::vector<float> sum(rows);
    for (int i = 0; i < rows * width; i++) sum[i / width] += host[i] + 1;
    expect("rows", y, rows * width);
    expected.swap(sum);
    expected.resize(rows);
    expect("sums", sums, rows);
    expected.swap(sum);
    turn_tile<<<dim3(width / tile, rows / tile), dim3(tile, tile)>>>(y, x);
    add_one<<<4, 256>>>(z, y, rows * width);
    for (int i = 0; i < rows * width; i++) {
        const int column = i % width, row = i / width;
        expected[i] = 1 + host[(row / tile * tile + column % tile) * width + column / tile * tile + row % tile];
    }
    expect("tiles", z, rows * width);

    // In a loop, in place.
    cudaMemcpy(y, host.data(), most * sizeof(float), cudaMemcpyHostToDevice);
    for (int step = 0; step < 3; step++) {
        scale<<<(n + 255) / 256, 256>>>(y, y, n);
        add_one<<<16, 256>>>(y, y, n);
    }
    for (int i = 0; i < n; i++) expected[i] = 8 * host[i] + 7;
    expect("loop", y, n);

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
