// Kernels over the elements of one matrix, each in blocks of its own shape: tiles of a product with barriers, pixels by
// column and row, and a line that counts them. Whoever has a thread for an element runs all that is done to it.
//
// expect: 15 launches -> 7
// executes: 8 9 8
// arguments:
// arguments: 40 23 700
// arguments: 16 16
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int TILE = 16;

__global__ void product(float *c, const float *a, const float *b, int rows, int columns, int depth) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < depth; k += TILE) {
        const int across = k + threadIdx.x, down = k + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < rows && across < depth ? a[row * depth + across] : 0;
        right[threadIdx.y][threadIdx.x] = column < columns && down < depth ? b[down * columns + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}

__global__ void bias(float *c, const float *added, int rows, int columns) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns)
        c[i] = fmaxf(c[i] + added[i % columns] - i / columns, 0.0f);
}

__global__ void pixels(const float *in, float *out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    out[y * width + x] = 2 * in[y * width + x] + x;
}

__global__ void pixels_by_rows(const float *in, float *out, int width, int height) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < height && column < width)
        out[row * width + column] = in[row * width + column] + row;
}

__global__ void line(float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 3 - x[i];
}

// Rows that are further apart than they are long.
__global__ void pitched(const float *in, float *out, int width, int height, int pitch) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * pitch + x] = in[y * pitch + x] + 1;
}

static int blocks(int elements, int threads) { return (elements + threads - 1) / threads; }

struct Matrix {
    float *device;
    std::vector<float> host;

    Matrix(int elements, int seed) : host(elements) {
        for (int i = 0; i < elements; i++)
            host[i] = (i * 7 + seed) % 13;
        cudaMalloc(&device, elements * sizeof(float));
        cudaMemcpy(device, host.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    }

    std::vector<float> now() const {
        std::vector<float> found(host.size());
        cudaMemcpy(found.data(), device, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
        return found;
    }
};

static bool check(const char *what, const std::vector<float> &found, const std::vector<float> &expected) {
    for (size_t i = 0; i < found.size(); i++)
        if (found[i] != expected[i])
            return printf("FAIL %s at %d: %g, not %g\n", what, (int)i, found[i], expected[i]), false;
    return true;
}

int main(int argc, char **argv) {
    const int width = argc > 1 ? atoi(argv[1]) : 37, height = argc > 2 ? atoi(argv[2]) : 21, depth = 19;
    const int all = width * height, some = argc > 3 ? atoi(argv[3]) : all;
    bool right = true;
    const dim3 square(16, 16), flat(32, 8);
    const dim3 squares(blocks(width, 16), blocks(height, 16)), flats(blocks(width, 32), blocks(height, 8));
    {
        Matrix a(height * depth, 1), b(depth * width, 2), c(all, 3), added(width, 4);
        product<<<squares, square>>>(c.device, a.device, b.device, height, width, depth);
        bias<<<blocks(all, 256), 256>>>(c.device, added.device, height, width);
        for (int i = 0; i < all; i++) {
            float sum = 0;
            for (int k = 0; k < depth; k++)
                sum += a.host[i / width * depth + k] * b.host[k * width + i % width];
            c.host[i] = fmaxf(sum + added.host[i % width] - i / width, 0);
        }
        right &= check("product", c.now(), c.host);
    }
    {
        Matrix in(all, 5), out(all, 6);
        pixels<<<squares, square>>>(in.device, out.device, width, height);
        line<<<blocks(all, 128), 128>>>(out.device, all);
        for (int i = 0; i < all; i++)
            out.host[i] = 3 - (2 * in.host[i] + i % width);
        right &= check("pixels", out.now(), out.host);
    }
    {
        Matrix in(all, 7), out(all, 8);
        line<<<blocks(all, 128), 128>>>(in.device, all);
        pixels<<<flats, flat>>>(in.device, out.device, width, height);
        for (int i = 0; i < all; i++)
            out.host[i] = 2 * (3 - in.host[i]) + i % width;
        right &= check("line first", out.now(), out.host);
    }
    {
        Matrix in(all, 9), out(all, 10);
        pixels<<<squares, square>>>(in.device, out.device, width, height);
        pixels<<<flats, flat>>>(out.device, in.device, width, height);
        for (int i = 0; i < all; i++)
            in.host[i] = 2 * (2 * in.host[i] + i % width) + i % width;
        right &= check("other blocks", in.now(), in.host);
    }
    {
        Matrix in(all, 11), out(all, 12);
        pixels_by_rows<<<dim3(blocks(height, 16), blocks(width, 16)), square>>>(in.device, out.device, width, height);
        line<<<blocks(all, 128), 128>>>(out.device, all);
        pixels<<<flats, flat>>>(out.device, in.device, width, height);
        for (int i = 0; i < all; i++)
            in.host[i] = 2 * (3 - (in.host[i] + i / width)) + i % width;
        right &= check("rows along x", in.now(), in.host);
    }
    {
        // A part of the elements may be all of them, or it is counted by itself.
        Matrix in(all, 13), out(all, 14);
        pixels<<<squares, square>>>(in.device, out.device, width, height);
        line<<<blocks(some, 128), 128>>>(out.device, some);
        for (int i = 0; i < all; i++) {
            out.host[i] = 2 * in.host[i] + i % width;
            if (i < some)
                out.host[i] = 3 - out.host[i];
        }
        right &= check("some", out.now(), out.host);
    }
    {
        const int pitch = width + 3;
        Matrix in(pitch * height, 15), out(pitch * height, 16);
        pitched<<<squares, square>>>(in.device, out.device, width, height, pitch);
        line<<<blocks(pitch * height, 128), 128>>>(out.device, pitch * height);
        for (int i = 0; i < pitch * height; i++) {
            if (i % pitch < width)
                out.host[i] = in.host[i] + 1;
            out.host[i] = 3 - out.host[i];
        }
        right &= check("pitched", out.now(), out.host);
    }
    printf(right ? "PASS\n" : "FAIL\n");
    return !right;
}
