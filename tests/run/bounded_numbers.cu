// Numbers that are not affine but stay within bounds, values that take turns in a loop, borders that
// are clamped, loops that end at `!=`: each kernel before and behind one that reads or writes the
// same memory thread by thread.
//
// expect: 21 launches -> 12
#include <algorithm>
#include <cstdio>

constexpr int threads = 256, blocks = 4, count = threads * blocks, width = 32, height = 32;

__global__ void fill(int *x, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = (i * factor + 7) % 1009;
}

__global__ void add(int *y, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += x[i];
}

// In global memory, so that what a block touches is known by the bounds of the stride alone.
__global__ void tree(int *x) {
    int *own = x + blockIdx.x * 256;
    for (int h = 128; h > 0; h >>= 1) {
        __syncthreads();
        if (threadIdx.x < h) own[threadIdx.x] += own[threadIdx.x + h];
    }
}

// The stride crosses into the next block's part.
__global__ void crossing(int *y, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (unsigned h = blockDim.x; h > 0; h /= 2)
        if (i + h < n) sum += x[i + h];
    y[i] = sum;
}

__global__ void scan(int *x, int n) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 256 + t];
    for (int h = 1; h < n; h *= 2) {
        __syncthreads();
        int more = t >= h ? part[t - h] : 0;
        __syncthreads();
        part[t] += more;
    }
    x[blockIdx.x * 256 + t] = part[t];
}

// Digits of data: within the block's own part, and anywhere.
__global__ void own_digits(int *y, const int *x) {
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = x[blockIdx.x * 256 + (x[i] & 255)];
}

__global__ void all_digits(int *y, const int *x) {
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = x[x[i] & 1023] + x[abs(x[i] % 512)];
}

__global__ void exchange(int *x) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned k = 2; k <= 256; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned other = t ^ j;
            if (other > t && ((t & k) == 0) == (part[t] > part[other])) {
                int kept = part[t];
                part[t] = part[other];
                part[other] = kept;
            }
            __syncthreads();
        }
    x[blockIdx.x * 256 + t] = part[t];
}

__global__ void take_turns(int *a, int *b, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *from = a, *to = b;
    for (int s = 0; s < steps; s++) {
        to[i] = from[i] + s;
        int *other = from;
        from = to;
        to = other;
    }
}

__global__ void flip(int *x, int steps) {
    int p = 0, stage = 0;
    for (int s = 0; s < steps; s++) {
        x[p * 512 + blockIdx.x % 2 * 256 + threadIdx.x] += stage;
        p ^= 1;
        stage = (stage + 1) % 3;
    }
}

__global__ void clamped(int *y, const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, column = i % width, row = i / width;
    int left = min(max(column - 1, 0), width - 1), up = min(max(row - 1, 0), height - 1);
    y[i] = x[row * width + left] - x[up * width + column] + x[i + (i != count - 1)];
}

__global__ void until_end(int *y, const int *x, int n) {
    const int *own = x + blockIdx.x * 256, *end = own + n;
    int sum = 0;
    for (const int *p = own; p != end; p++) sum += *p;
    for (int k = n; k != 0; k--) sum ^= own[k - 1];
    y[blockIdx.x * 256 + threadIdx.x] = sum;
}

static int a[count], b[count], wrong = 0;

static void expect(const char *what, const int *device, const int *host) {
    static int found[count];
    cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        if (found[i] != host[i] && wrong++ < 5)
            printf("%s: %d is %d, not %d\n", what, i, found[i], host[i]);
}

static void host_fill(int *to, int factor) {
    for (int i = 0; i < count; i++) to[i] = (i * factor + 7) % 1009;
}

static void host_add(int *to, const int *from) {
    for (int i = 0; i < count; i++) to[i] += from[i];
}

int main() {
    int *x, *y;
    cudaMalloc(&x, sizeof(int) * count);
    cudaMalloc(&y, sizeof(int) * count);
    cudaMemset(y, 0, sizeof(int) * count);

    fill<<<blocks, threads>>>(x, 3);
    tree<<<blocks, threads>>>(x);
    add<<<blocks, threads>>>(y, x);
    host_fill(a, 3);
    for (int block = 0; block < count; block += 256)
        for (int h = 128; h > 0; h /= 2)
            for (int t = 0; t < h; t++) a[block + t] += a[block + t + h];
    host_add(b, a);
    expect("tree", y, b);

    fill<<<blocks, threads>>>(x, 5);
    crossing<<<blocks, threads>>>(y, x, count);
    host_fill(a, 5);
    for (int i = 0; i < count; i++) {
        b[i] = 0;
        for (int h = 256; h > 0; h /= 2)
            if (i + h < count) b[i] += a[i + h];
    }
    expect("crossing", y, b);

    fill<<<blocks, threads>>>(x, 11);
    scan<<<blocks, threads>>>(x, 256);
    add<<<blocks, threads>>>(y, x);
    host_fill(a, 11);
    for (int i = 0; i < count; i++)
        if (i % 256) a[i] += a[i - 1];
    host_add(b, a);
    expect("scan", y, b);

    fill<<<blocks, threads>>>(x, 13);
    own_digits<<<blocks, threads>>>(y, x);
    host_fill(a, 13);
    for (int i = 0; i < count; i++) b[i] = a[i / 256 * 256 + (a[i] & 255)];
    expect("own digits", y, b);

    fill<<<blocks, threads>>>(x, 17);
    all_digits<<<blocks, threads>>>(y, x);
    host_fill(a, 17);
    for (int i = 0; i < count; i++) b[i] = a[a[i] & 1023] + a[a[i] % 512];
    expect("all digits", y, b);

    exchange<<<blocks, threads>>>(x);
    add<<<blocks, threads>>>(y, x);
    for (int block = 0; block < count; block += 256) std::sort(a + block, a + block + 256);
    host_add(b, a);
    expect("exchange", y, b);

    take_turns<<<blocks, threads>>>(x, y, 5);
    add<<<blocks, threads>>>(y, x);
    for (int i = 0; i < count; i++)
        for (int s = 0; s < 5; s++) (s % 2 ? a : b)[i] = (s % 2 ? b : a)[i] + s;
    host_add(b, a);
    expect("turns", y, b);

    flip<<<2, threads>>>(x, 7);
    fill<<<blocks, threads>>>(y, 19);
    for (int i = 0; i < count; i++)
        for (int s = 0; s < 7; s++) a[i] += i / 512 == s % 2 ? s % 3 : 0;
    expect("flip", x, a);
    clamped<<<blocks, threads>>>(x, y);
    host_fill(b, 19);
    for (int i = 0; i < count; i++) {
        int column = i % width, row = i / width;
        int left = column > 0 ? i - 1 : i, up = row > 0 ? i - width : i;
        a[i] = b[left] - b[up] + b[i + 1 < count ? i + 1 : i];
    }
    expect("clamped", x, a);

    until_end<<<blocks, threads>>>(y, x, 100);
    add<<<blocks, threads>>>(x, y);
    for (int block = 0; block < count; block += 256) {
        int sum = 0;
        for (int k = 0; k < 100; k++) sum += a[block + k];
        for (int k = 100; k != 0; k--) sum ^= a[block + k - 1];
        for (int t = 0; t < 256; t++) b[block + t] = sum;
    }
    host_add(a, b);
    expect("until the end", x, a);
    printf(wrong ? "FAIL\n" : "PASS\n");
    return 0;
}
