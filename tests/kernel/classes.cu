// test: kernel classes
//
// What planners take kernels for: each rule, and beside it a kernel that looks like it and is not.

__global__ void scale(float *out, const float *in, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * by;
}

// A loop over elements of its own is no reduction.
__global__ void strided_scale(float *out, const float *in, float by, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i] * by;
}

__global__ void stencil(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = in[i - 1] + in[i] + in[i + 1];
}

// Through shared memory, and each thread still makes its own element.
__global__ void staged(float *out, const float *in) {
  __shared__ float tile[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[255 - threadIdx.x];
}

__global__ void row_sums(float *out, const float *in, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < columns; k++) sum += in[row * columns + k];
  out[row] = sum;
}

__global__ void column_sums(float *out, const float *in, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < rows; k++) sum += in[k * columns + column];
  out[column] = sum;
}

// One block a row, a tree in shared memory.
__global__ void block_row_sums(float *out, const float *in) {
  __shared__ float part[256];
  part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int half = 128; half > 0; half >>= 1) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void warp_softmax(float *out, const float *in) {
  int i = blockIdx.x * 32 + threadIdx.x;
  float value = in[i], most = value;
  for (int step = 16; step > 0; step >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  float own = __expf(value - most), sum = own;
  for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, step);
  out[i] = own / sum;
}

__global__ void total(float *out, const float *in, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  atomicAdd(out, sum);
}

__global__ void bias_gradient(float *out, const float *in, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[column], in[blockIdx.y * columns + column]);
}

__global__ void product(float *c, const float *a, const float *b, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// One operand has no axis of its own: rows are summed up, with weights.
__global__ void matrix_times_vector(float *y, const float *a, const float *x, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < columns; k++) sum += a[row * columns + k] * x[k];
  y[row] = sum;
}

__global__ void tiled_product(float *c, const float *a, const float *b, int n) {
  __shared__ float of_a[16][16], of_b[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n / 16; tile++) {
    of_a[threadIdx.y][threadIdx.x] = a[row * n + tile * 16 + threadIdx.x];
    of_b[threadIdx.y][threadIdx.x] = b[(tile * 16 + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void batched_product(float *c, const float *a, const float *b) {
  int row = threadIdx.y, column = threadIdx.x, of = blockIdx.x * 256;
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += a[of + row * 16 + k] * b[of + k * 16 + column];
  c[of + row * 16 + column] = sum;
}

__global__ void spins(volatile int *flag) {
  while (*flag == 0) {}
}

//> scale: elementwise
//> strided_scale: elementwise
//> stencil: elementwise
//> staged: elementwise
//> row_sums: row_reduction
//> column_sums: column_reduction
//> block_row_sums: row_reduction
//> warp_softmax: row_reduction
//> total: scalar_reduction
//> bias_gradient: column_reduction
//> product: product
//> matrix_times_vector: row_reduction
//> tiled_product: product
//> batched_product: batched_product
//> spins: opaque
