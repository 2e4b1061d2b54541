// Rows and columns by division with a width that only the run knows, neighbours by flipped bits, and
// a tail that begins where a loop ended.
//
// expect: 7 launches -> 2
#include <cstdio>
#include <cstdlib>
__global__ void scale_columns(float *o, const float *a, const float *s, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int row = i / width, column = i % width; o[row * width + column] = a[i] * s[column]; }
}
__global__ void add_rows(float *o, const float *r, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] += r[i / width];
}
__global__ void transposed(float *t, const float *o, int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < height * width) { int row = i / width, column = i % width; t[column * height + row] = o[row * width + column]; }
}
__global__ void swapped(float *o, const float *t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((i ^ 1) < n && i < n) o[i] = t[i ^ 1];
}
__global__ void swapped_back(float *t, const float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((i ^ 1) < n && i < n) t[i ^ 1] = o[i] + 1;
}
__global__ void tail(float *o, int n) {
    int i = 0;
    for (; i + 4 <= n; i += 4) if (i / 4 == threadIdx.x) o[i] += 1;
    if (threadIdx.x == 0) o[i] = n;
}
__global__ void tail_read(float *o, int n) {
    int i = 0;
    for (; i + 4 <= n; i += 4) if (i / 4 == threadIdx.x) o[i] += o[i + 1];
    if (threadIdx.x == 0) o[i] += 1;
}
int main(int argc, char **argv) {
    int width = argc > 1 ? atoi(argv[1]) : 37, height = 29, n = width * height;
    float *a, *o, *s, *r, *t;
    float *h = (float *)malloc(n * 4);
    cudaMalloc(&a, n * 4); cudaMalloc(&o, n * 4); cudaMalloc(&t, n * 4); cudaMalloc(&s, width * 4); cudaMalloc(&r, height * 4);
    for (int i = 0; i < n; i++) h[i] = i % 13;
    cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice); cudaMemcpy(s, h, width * 4, cudaMemcpyHostToDevice); cudaMemcpy(r, h, height * 4, cudaMemcpyHostToDevice);
    int g = (n + 127) / 128;
    scale_columns<<<g, 128>>>(o, a, s, n, width);
    add_rows<<<g, 128>>>(o, r, n, width);
    transposed<<<g, 128>>>(t, o, height, width);
    swapped<<<g, 128>>>(o, t, n);
    swapped_back<<<g, 128>>>(t, o, n);
    tail<<<1, 64>>>(o, 99);
    tail_read<<<1, 64>>>(o, 99);
    cudaMemcpy(h, t, n * 4, cudaMemcpyDeviceToHost);
    double sum = 0; for (int i = 0; i < n; i++) sum += h[i] * (i % 7 + 1);
    printf("%g\n", sum);
    for (int row = 0; row < height; row++) for (int c = 0; c < width; c++) { int i = row * width + c; float v = (i % 13) * (float)(c % 13) + (row % 13); int at = c * height + row; if ((at ^ 1) < n && h[at] != v + 1) { printf("wrong at %d\n", at); return 1; } }
    puts("PASS");
}
