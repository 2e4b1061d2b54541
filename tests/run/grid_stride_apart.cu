// Twins of grid_stride.cu: what one iteration hands to the next, what an iteration needs of others, and loops that are not one over the
// whole grid, stay as they are written.
//
// expect: 36 launches -> 36
// expect-missed: shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape copy_between shape
#include <cstdio>
#include <vector>

constexpr int n = 9000, grid = 8, block = 128, threads = grid * block;

__global__ void scale(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

#define LOOP(i, end) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (end); i += gridDim.x * blockDim.x)

// The loop carries a sum.
__global__ void carried(float *z, const float *y) {
    float sum = 0;
    LOOP(i, n) z[i] = sum += y[i];
}

// It carries an array, in memory of the thread.
__global__ void kept(float *z, const float *y) {
    float last[4] = {0, 0, 0, 0};
    LOOP(i, n) {
        z[i] = last[(int)y[i] & 3];
        last[(int)y[i] & 3] = y[i];
    }
}

// It carries a field of its argument.
struct Field {
    float *to;
    const float *from;
    float last;
};
__global__ void in_argument(Field field) {
    LOOP(i, n) {
        field.to[i] = field.last;
        field.last = field.from[i];
    }
}

// An iteration reads what those of neighbours' elements get.
__global__ void neighbour(float *z, const float *y) {
    LOOP(i, n) z[i] = y[i] + (i + 1 < n ? y[i + 1] : 0);
}

// It begins elsewhere.
__global__ void from_one(float *z, const float *y) {
    for (int i = 1 + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] = y[i] + 1;
}

// It takes steps of other lengths.
__global__ void by_halves(float *z, const float *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 2 * gridDim.x * blockDim.x) z[i] = y[i] + 1;
}

// Of two loops the second reads what the first wrote for another element.
__global__ void two_loops(float *z, float *w, const float *y) {
    LOOP(i, n) w[i] = y[i];
    LOOP(i, n) z[i] = i >= threads ? w[i - threads] : 0;
}

// An iteration reads what the thread's next one writes, or writes what its last one wrote.
__global__ void from_next(float *y) {
    LOOP(i, n) y[i] += i + threads < n ? y[i + threads] : 0;
}
__global__ void bins(float *z, const float *y) {
    LOOP(i, n) z[i % threads] = z[i % threads] * 0.5f + y[i];
}

// An iteration ends the loop.
__global__ void until(float *z, const float *y) {
    LOOP(i, n) {
        if (y[i] > 20) break;
        z[i] = y[i];
    }
}

// An iteration knows its thread, or how many there are.
__global__ void of_thread(float *z, const float *y) {
    LOOP(i, n) z[i] = y[i] + threadIdx.x;
}
__global__ void of_grid(float *z, const float *y) {
    LOOP(i, n) z[i] = y[i] + gridDim.x;
}

// Something is done once for each thread.
__global__ void once_each(int *count, float *z, const float *y) {
    atomicAdd(count, 1);
    LOOP(i, n) z[i] = y[i];
}

// Threads leave before the loop.
__global__ void leaving(float *z, const float *y) {
    if (blockIdx.x * blockDim.x + threadIdx.x > 100) return;
    LOOP(i, n) z[i] = y[i];
}

// Another end for each element.
__global__ void to_ends(float *z, const float *y, const int *ends) {
    LOOP(i, ends[i]) z[i] = y[i];
}

// A plain one, with two rows of threads.
__global__ void plain(float *z, const float *y) {
    LOOP(i, n) z[i] = y[i];
}

static int wrong = 0;

template <typename Expected>
static void expect(const char *what, const float *device, Expected expected) {
    std::vector<float> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (host[i] != expected(i) && wrong++ < 5)
            std::printf("%s: element %d is %f and not %f\n", what, i, host[i], expected(i));
    host.assign(n, 0);
    cudaMemcpy(const_cast<float *>(device), host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}

int main() {
    std::vector<float> host(n), a(n);
    std::vector<int> ends(n);
    for (int i = 0; i < n; i++) {
        host[i] = i % 13;
        a[i] = 2 * host[i];
        ends[i] = i % 3001 < 2000 ? n : 0;
    }
    float *x, *y, *z, *w;
    int *count, *device_ends, counted;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    cudaMalloc(&w, n * sizeof(float));
    cudaMalloc(&device_ends, n * sizeof(int));
    cudaMalloc(&count, sizeof(int));
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_ends, ends.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(z, 0, n * sizeof(float));
    cudaMemset(count, 0, sizeof(int));
    cudaDeviceSynchronize();
    const int blocks = (n + 255) / 256;

    scale<<<blocks, 256>>>(y, x);
    carried<<<grid, block>>>(z, y);
    std::vector<float> sums(threads), sum(n);
    for (int i = 0; i < n; i++) sum[i] = sums[i % threads] += a[i];
    expect("carried", z, [&](int i) { return sum[i]; });

    scale<<<blocks, 256>>>(y, x);
    kept<<<grid, block>>>(z, y);
    std::vector<float> lasts(4 * threads);
    for (int i = 0; i < n; i++) {
        float &last = lasts[4 * (i % threads) + ((int)a[i] & 3)];
        sum[i] = last;
        last = a[i];
    }
    expect("kept", z, [&](int i) { return sum[i]; });

    scale<<<blocks, 256>>>(y, x);
    in_argument<<<grid, block>>>(Field{z, y, 0});
    expect("in argument", z, [&](int i) { return i >= threads ? a[i - threads] : 0; });

    scale<<<blocks, 256>>>(y, x);
    neighbour<<<grid, block>>>(z, y);
    expect("neighbour", z, [&](int i) { return a[i] + (i + 1 < n ? a[i + 1] : 0); });

    scale<<<blocks, 256>>>(y, x);
    from_one<<<grid, block>>>(z, y);
    expect("from one", z, [&](int i) { return i > 0 ? a[i] + 1 : 0; });

    scale<<<blocks, 256>>>(y, x);
    by_halves<<<grid, block>>>(z, y);
    expect("by halves", z, [&](int i) { return i / threads % 2 == 0 ? a[i] + 1 : 0; });

    scale<<<blocks, 256>>>(y, x);
    two_loops<<<grid, block>>>(z, w, y);
    expect("two loops", z, [&](int i) { return i >= threads ? a[i - threads] : 0; });

    scale<<<blocks, 256>>>(y, x);
    from_next<<<grid, block>>>(y);
    expect("from next", y, [&](int i) { return a[i] + (i + threads < n ? a[i + threads] : 0); });

    scale<<<blocks, 256>>>(y, x);
    bins<<<grid, block>>>(z, y);
    std::vector<float> bin(n);
    for (int i = 0; i < n; i++) bin[i % threads] = bin[i % threads] * 0.5f + a[i];
    expect("bins", z, [&](int i) { return bin[i]; });

    scale<<<blocks, 256>>>(y, x);
    until<<<grid, block>>>(z, y);
    std::vector<bool> ended(threads);
    for (int i = 0; i < n; i++) {
        if (a[i] > 20) ended[i % threads] = true;
        sum[i] = ended[i % threads] ? 0 : a[i];
    }
    expect("until", z, [&](int i) { return sum[i]; });

    scale<<<blocks, 256>>>(y, x);
    of_thread<<<grid, block>>>(z, y);
    expect("of thread", z, [&](int i) { return a[i] + i % block; });

    scale<<<blocks, 256>>>(y, x);
    of_grid<<<grid, block>>>(z, y);
    expect("of grid", z, [&](int i) { return a[i] + grid; });

    scale<<<blocks, 256>>>(y, x);
    once_each<<<grid, block>>>(count, z, y);
    expect("once each", z, [&](int i) { return a[i]; });
    cudaMemcpy(&counted, count, sizeof counted, cudaMemcpyDeviceToHost);
    wrong += counted != threads;

    scale<<<blocks, 256>>>(y, x);
    leaving<<<grid, block>>>(z, y);
    expect("leaving", z, [&](int i) { return i % threads <= 100 ? a[i] : 0; });

    scale<<<blocks, 256>>>(y, x);
    to_ends<<<grid, block>>>(z, y, device_ends);
    std::fill(ended.begin(), ended.end(), false);
    for (int i = 0; i < n; i++) {
        if (i >= ends[i]) ended[i % threads] = true;
        sum[i] = ended[i % threads] ? 0 : a[i];
    }
    expect("to ends", z, [&](int i) { return sum[i]; });

    scale<<<blocks, 256>>>(y, x);
    plain<<<dim3(grid, 2), block>>>(z, y);
    expect("two rows", z, [&](int i) { return a[i]; });

    // Of two loops with other grids one needs what another element of the other got, or hands something on.
    plain<<<grid, block>>>(y, x);
    neighbour<<<5, 96>>>(z, y);
    expect("neighbour of a loop", z, [&](int i) { return host[i] + (i + 1 < n ? host[i + 1] : 0); });
    carried<<<grid, block>>>(y, x);
    plain<<<5, 96>>>(z, y);
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (int i = 0; i < n; i++) sum[i] = sums[i % threads] += host[i];
    expect("behind a sum", z, [&](int i) { return sum[i]; });

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
