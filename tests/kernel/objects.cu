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

//> kernel array_of_structs
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (bx) * p0
//>   must read arg0[16tx + 16q0 + 4 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must read arg0[16tx + 16q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[16tx + 16q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[16tx + 16q0 + 12 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(16*arg1, 16*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel by_value
//>   p0 = arg0.8
//>   p1 = blockDim.x
//>   p2 = arg0.12
//>   p3 = arg0.16
//>   q0 = (bx) * p1
//>   q1 = (by) * p3
//>   must write arg0[4tx + 4q0 + 4q1 .. +4] : -by + p0 - 1 >= 0 and -tx - q0 + p2 - 1 >= 0
//>   writes arg0 within [0, min(4*arg0.8*arg0.16 + 4*arg0.12 - 4*arg0.16, 4*gridDim.x*blockDim.x + 4*arg0.8*arg0.16 - 4*arg0.16)), columns [0, min(4*arg0.12, 4*gridDim.x*blockDim.x)) of rows of 4*arg0.16
//>   requires 0 <= arg0.16
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel mutated
//>   p0 = arg0.12
//>   p1 = arg1
//>   must write arg0[4tx + 4p1 .. +4] : -tx + p0 - p1 - 1 >= 0
//>   writes arg0 within [4*arg1, min(4*arg0.12, 4*blockDim.x + 4*arg1))
//>
//> kernel through_reference
//>   p0 = arg0.16
//>   q0 = (ty) * p0
//>   must write arg0[4tx + 4q0 .. +4] : true
//>   writes arg0 within [0, 4*blockDim.x + 4*blockDim.y*arg0.16 - 4*arg0.16), columns [0, 4*blockDim.x) of rows of 4*arg0.16
//>   requires 0 <= arg0.16
//>
//> kernel whole_vectors
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg1[16tx + 16q0 .. +16] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[16tx + 16q0 .. +16] : -tx - q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(16*arg2, 16*gridDim.x*blockDim.x))
//>   reads arg1 within [0, min(16*arg2, 16*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel as_vectors
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg1[16tx + 16q0 .. +16] : -4tx - 4q0 + p1 - 1 >= 0
//>   must write arg0[16tx + 16q0 .. +16] : -4tx - 4q0 + p1 - 1 >= 0
//>   writes arg0 within [0, min(4*arg2 + 12, 16*gridDim.x*blockDim.x))
//>   reads arg1 within [0, min(4*arg2 + 12, 16*gridDim.x*blockDim.x))
//>   requires 4*gridDim.x*blockDim.x - 4 <= 2147483647
//>
//> kernel local_array
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   loop i0 uniform
//>   loop i1 uniform
//>   must read arg1[32tx + 4i0 + 32q0 .. +4] : -i0 + 7 >= 0 in i0
//>   must write arg0[32tx + 4i1 + 32q0 .. +4] : -i1 + p1 - 1 >= 0 in i1
//>   writes arg0 within [0, 32*gridDim.x*blockDim.x + 4*arg2 - 32), columns [0, 4*arg2) of rows of 32
//>   reads arg1 within [0, 32*gridDim.x*blockDim.x)
//>   requires 8*gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel cube
//>   p0 = blockDim.x
//>   p1 = arg1
//>   p2 = blockDim.y
//>   p3 = arg2
//>   p4 = blockDim.z
//>   p5 = arg3
//>   q0 = (bx) * p0
//>   q1 = (by) * p2
//>   q2 = (bz) * p4
//>   q3 = (tz + q2) * p3
//>   q4 = (ty + q1 + q3) * p1
//>   must write arg0[4tx + 4q0 + 4q4 .. +4] : -tx - q0 + p1 - 1 >= 0 and -ty - q1 + p3 - 1 >= 0 and -tz - q2 + p5 - 1 >= 0
//>   writes arg0 within [0, min(4*gridDim.z*blockDim.z*arg1*arg2, 4*gridDim.x*blockDim.x + 4*gridDim.z*blockDim.z*arg1*arg2 - 4*arg1)), columns [0, min(4*arg1, 4*gridDim.x*blockDim.x)) of rows of 4*arg1
//>   requires 0 <= arg2
//>   requires 0 <= arg1
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel flat_thread
//>   p0 = gridDim.x
//>   p1 = blockDim.x
//>   p2 = blockDim.x*blockDim.y
//>   q0 = (by) * p0
//>   q1 = (bx + q0) * p2
//>   q2 = (ty) * p1
//>   must write arg0[4tx + 4q1 + 4q2 .. +4] : true
//>   writes arg0 within [0, 4*gridDim.x*gridDim.y*blockDim.x*blockDim.y)
//>   requires gridDim.x*gridDim.y*blockDim.x*blockDim.y - 1 <= 4294967295
//>
//> kernel local_offsets
//>   loop i0 uniform
//>   may write arg0[*] : -i0 + 3 >= 0 in i0 (it is read from a local array)
//>   writes arg0 within [?, ?)
//>
//> kernel indirect
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read @table[4tx + 4q0 - 16*floor((tx + q0)/4) .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must read arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   may write arg0[*] : -tx - q0 + p1 - 1 >= 0 (it is read from memory)
//>   writes arg0 within [?, ?)
//>   reads arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads @table within [max(0, -16*floor((arg2 - 1)/4)), min(16, 4*arg2)), columns [0, min(4*arg2, 4*gridDim.x*blockDim.x)) of rows of 16
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel data_dependent
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   may write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0 (its condition is not affine)
//>   writes arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   reads arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>
//> kernel pointer_table
//>   must read arg0[8bx .. +8] : true
//>   may write anywhere[*] : true (it is read from memory)
//>   reads arg0 within [0, 8*gridDim.x)
//>   writes anywhere within [?, ?)
//>
//> kernel bounded_rows
//>   p0 = blockDim.x
//>   p1 = arg3
//>   q0 = (i0) * p0
//>   q1 = (bx) * p1
//>   loop i0 divergent
//>   must read arg1[4tx + 4q0 + 4q1 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0
//>   must write arg0[4tx + 4q0 + 4q1 .. +4] : -tx - q0 + p1 - 1 >= 0 in i0
//>   writes arg0 within [0, 4*gridDim.x*arg3)
//>   reads arg1 within [0, 4*gridDim.x*arg3)
//>   requires 0 <= arg3
//>   requires blockDim.x + arg3 - 1 <= 2147483647
//>
//> kernel warp_rows
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = arg3
//>   q0 = (bx) * p0
//>   q1 = (floor((tx + q0)/32)) * p2
//>   loop i0 divergent
//>   must read arg1[4tx + 128i0 + 4q1 - 128*floor((tx)/32) .. +4] : p1 - floor((tx + q0)/32) - 1 >= 0 and -tx - 32i0 + p2 + 32*floor((tx)/32) - 1 >= 0 in i0
//>   must write arg0[4tx + 128i0 + 4q1 - 128*floor((tx)/32) .. +4] : p1 - floor((tx + q0)/32) - 1 >= 0 and -tx - 32i0 + p2 + 32*floor((tx)/32) - 1 >= 0 in i0
//>   writes arg0 within [max(0, -128*floor((blockDim.x - 1)/32)), min(4*arg2*arg3, 4*arg2*arg3 + 128*floor((blockDim.x - 1)/32) + 124)), columns [max(0, -128*floor((blockDim.x - 1)/32)), min(4*arg3, 4*arg3 + 128*floor((blockDim.x - 1)/32) + 124)) of rows of 4*arg3
//>   reads arg1 within [max(0, -128*floor((blockDim.x - 1)/32)), min(4*arg2*arg3, 4*arg2*arg3 + 128*floor((blockDim.x - 1)/32) + 124)), columns [max(0, -128*floor((blockDim.x - 1)/32)), min(4*arg3, 4*arg3 + 128*floor((blockDim.x - 1)/32) + 124)) of rows of 4*arg3
//>   requires 0 <= arg3
//>   requires gridDim.x*blockDim.x - 1 <= 4294967295
//>
//> kernel chunks
//>   p0 = blockDim.x
//>   p1 = arg2
//>   p2 = arg1
//>   q0 = (bx) * p0
//>   q1 = (tx + q0) * p1
//>   loop i0 divergent
//>   must write arg0[4i0 + 4q1 .. +4] : -i0 + p1 - 1 >= 0 and -i0 - q1 + p2 - 1 >= 0 in i0
//>   writes arg0 within [0, min(4*arg1, 4*arg1 + 4*arg2 - 4)), columns [0, min(4*arg1, 4*arg2)) of rows of 4*arg2
//>   requires 0 <= arg2
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
