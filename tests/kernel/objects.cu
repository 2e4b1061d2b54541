// test: kernel
struct Point { float x, y, z; int tag; };
struct View { float *data; int rows, columns, pitch; };
__global__ void array_of_structs(Point *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { p[i].x += p[i].y; p[i].tag = i; }
}
__global__ void by_value(View v) {
    int r = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < v.rows && c < v.columns) v.data[r * v.pitch + c] = 0;
}
__global__ void mutated(View v, int shift) {
    v.data += shift;
    v.columns -= shift;
    int c = threadIdx.x;
    if (c < v.columns) v.data[c] = 0;
}
__device__ float &cell(View &v, int r, int c) { return v.data[r * v.pitch + c]; }
__global__ void through_reference(View v) {
    int r = threadIdx.y, c = threadIdx.x;
    cell(v, r, c) = 1;
}
__global__ void whole_vectors(float4 *o, const float4 *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[i];
}
__global__ void as_vectors(float *o, const float *a, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i < n) *reinterpret_cast<float4 *>(o + i) = *reinterpret_cast<const float4 *>(a + i);
}
__global__ void local_array(float *o, const float *a, int n) {
    float w[8];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; k++) w[k] = a[t * 8 + k];
    for (int k = 0; k < n; k++) o[t * 8 + k] = w[k & 7];
}
__global__ void cube(float *o, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) o[(z * ny + y) * nx + x] = 0;
}
__global__ void flat_thread(float *o) {
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int b = blockIdx.y * gridDim.x + blockIdx.x;
    o[b * blockDim.x * blockDim.y + t] = 0;
}
__global__ void local_offsets(float *o, int n) {
    int d[4] = {-1, 1, -n, n};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++) o[i + d[k]] = 0;
}
__constant__ int table[4];
__global__ void indirect(float *o, const int *ix, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[ix[i]] = table[i & 3];
}
__global__ void data_dependent(float *o, const float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 0) o[i] = a[i];
}
__global__ void pointer_table(float **rows, int n) { rows[blockIdx.x][threadIdx.x] = 0; }
__global__ void bounded_rows(float *o, const float *a, int rows, int columns) {
    int r = blockIdx.x;
    const float *x = a + r * columns;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) o[r * columns + c] = x[c];
}
__global__ void warp_rows(float *o, const float *a, int rows, int columns) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= rows) return;
    for (int c = lane; c < columns; c += 32) o[warp * columns + c] = a[warp * columns + c];
}
__global__ void chunks(float *o, int n, int per) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int first = t * per, last = min(first + per, n);
    for (int i = first; i < last; i++) o[i] = 0;
}
