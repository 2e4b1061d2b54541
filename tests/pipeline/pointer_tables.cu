// Device memory that holds addresses: of allocations, of what is freed before they are, of code and of what kernels allocate.
#include <cstdio>

struct Shape {
  __device__ virtual float area(float x) const { return x; }
  __device__ virtual ~Shape() {}
};

__global__ void scale(float *a, int n, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= k;
}

__global__ void swap_tables(float **table) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    float *first = table[0];
    table[0] = table[1];
    table[1] = first;
    table[2] = first + 1;
  }
}

__global__ void make(Shape **shape) { *shape = new Shape; }

int main() {
  const int n = 300;
  float *a, *b, **table;
  Shape **shape;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, 8 << 20);
  cudaMalloc(&table, 4 * sizeof(float *));
  cudaMalloc(&shape, sizeof(Shape *));
  cudaMemset(a, 1, n * sizeof(float));
  cudaMemset(b, 2, n * sizeof(float));
  float *addresses[4] = {a, b, nullptr, b + n};
  cudaMemcpy(table, addresses, sizeof addresses, cudaMemcpyHostToDevice);
  scale<<<3, 128>>>(a, n, 2);
  scale<<<3, 128>>>(a, n, 3);
  swap_tables<<<3, 128>>>(table);
  make<<<1, 1>>>(shape);
  cudaFree(b);
  puts(cudaDeviceSynchronize() == cudaSuccess ? "PASS" : "FAIL");
}
