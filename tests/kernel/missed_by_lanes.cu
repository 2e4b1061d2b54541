// test: kernel
// Operations of warps that lanes may wait for in vain once threads that have returned go on in a fused kernel.
#define ALL 0xffffffffu

__global__ void early_return(const unsigned *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = __shfl_xor_sync(ALL, a[i], 1);
}

__global__ void all_come(const unsigned *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned own = i < n ? a[i] : 0;
    unsigned other = __shfl_xor_sync(ALL, own, 1);
    if (i < n) out[i] = other;
}

__global__ void first_warp(const unsigned *a, unsigned *out) {
    unsigned own = a[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x < 32) {
        for (int off = 16; off > 0; off /= 2) own += __shfl_down_sync(ALL, own, off);
        if (threadIdx.x == 0) out[blockIdx.x] = own;
    }
}

__global__ void last_warps(const unsigned *a, unsigned *out) {
    int warp = threadIdx.x / 32;
    if (warp < 2) return;
    out[blockIdx.x * blockDim.x + threadIdx.x] = __shfl_xor_sync(ALL, a[threadIdx.x], 1);
}

__global__ void half_a_warp(const unsigned *a, unsigned *out) {
    if (threadIdx.x >= 48) return;
    out[threadIdx.x] = __shfl_xor_sync(ALL, a[threadIdx.x], 1);
}

__global__ void a_row_each(const unsigned *a, unsigned *out, int rows) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    unsigned own = a[row * blockDim.x + threadIdx.x];
    for (int off = 16; off > 0; off /= 2) own += __shfl_down_sync(ALL, own, off);
    if (threadIdx.x == 0) out[row] = own;
}

__global__ void who_is_there(const unsigned *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = __shfl_xor_sync(__activemask(), a[i], 1);
}

__global__ void who_was_there(const unsigned *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __activemask();
    if (i >= n) return;
    out[i] = __shfl_xor_sync(mask, a[i], 1);
}

__global__ void lane_alone(unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __syncwarp();
    out[i] = __ballot_sync(ALL, out[i] > 3);
}

__global__ void a_warp_each(const unsigned *a, unsigned *out, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    out[row] = __shfl_xor_sync(ALL, a[row * 32 + threadIdx.x % 32], 1);
}

__global__ void warps_in_turn(const unsigned *a, unsigned *out, int rows) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int row = thread / 32; row < rows; row += gridDim.x * blockDim.x / 32)
        out[row] = __shfl_xor_sync(ALL, a[row * 32 + threadIdx.x % 32], 1);
}

__global__ void threads_in_turn(const unsigned *a, unsigned *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = __shfl_xor_sync(ALL, a[i], 1);
}

__global__ void warps_that_differ(const unsigned *a, unsigned *out, int rows) {
    int row = threadIdx.x / 32;
    if (a[threadIdx.x] > 7) row += 1;
    if (row >= rows) return;
    out[threadIdx.x] = __shfl_xor_sync(ALL, a[threadIdx.x], 1);
}

__global__ void left_at_different_times(const unsigned *a, unsigned *out, int rows) {
    int row = threadIdx.x / 32;
    while (a[row + threadIdx.x] > 7) row += 1;
    if (row >= rows) return;
    out[threadIdx.x] = __shfl_xor_sync(ALL, a[threadIdx.x], 1);
}

__global__ void half_of_each_warp(const unsigned *a, unsigned *out) {
    unsigned own = a[threadIdx.x];
    if (threadIdx.x % 32 < 16) out[threadIdx.x] = own + __shfl_xor_sync(0x0000ffffu, own, 8);
    else out[threadIdx.x] = own;
}

__global__ void more_than_half(const unsigned *a, unsigned *out) {
    unsigned own = a[threadIdx.x];
    if (threadIdx.x % 32 < 16) out[threadIdx.x] = own + __shfl_xor_sync(0x0001ffffu, own, 8);
}

__global__ void half_of_those_left(const unsigned *a, unsigned *out, int n) {
    if (blockIdx.x * blockDim.x + threadIdx.x >= n) return;
    unsigned own = a[threadIdx.x];
    if (threadIdx.x % 32 < 16) out[threadIdx.x] = own + __shfl_xor_sync(0x0000ffffu, own, 8);
}

__global__ void those_for_whom_it_holds(const unsigned *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned living = __ballot_sync(ALL, i < n);
    if (i >= n) return;
    out[i] = __shfl_down_sync(living, a[i], 1);
}

__global__ void those_for_whom_another_holds(const unsigned *a, unsigned *out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned living = __ballot_sync(ALL, i < m);
    if (i >= n) return;
    out[i] = __shfl_down_sync(living, a[i], 1);
}

__global__ void warps_of_a_group(const unsigned *a, unsigned *out, int rows) {
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int row = blockIdx.x * (blockDim.x * blockDim.y * blockDim.z / 32u) + (unsigned)thread / 32;
    if (row >= rows) return;
    out[row] = __shfl_xor_sync(ALL, a[row * 32 + threadIdx.x % 32], 1);
}

//> kernel early_return
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   lanes may wait in vain, not if gridDim.x*blockDim.x - 1 <= 2147483647, not if gridDim.x*blockDim.x - arg2 - 1 <= -1
//>   reads arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   warp operations
//>
//> kernel all_come
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   reads arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   warp operations
//>
//> kernel first_warp
//>   p0 = blockDim.x
//>   q0 = (bx) * p0
//>   loop i0 divergent
//>   must read arg0[4tx + 4q0 .. +4] : -tx + 31 >= 0
//>   must write arg1[4bx .. +4] : -tx + 31 >= 0 and -tx = 0
//>   lanes may wait in vain, not if blockDim.x = floor((blockDim.x)/32)*32
//>   reads arg0 within [0, min(4*gridDim.x*blockDim.x, 4*gridDim.x*blockDim.x - 4*blockDim.x + 128))
//>   writes arg1 within [0, 4*gridDim.x)
//>   requires gridDim.x*blockDim.x - 1 <= 4294967295 or gridDim.x*blockDim.x - blockDim.x + 31 <= 4294967295
//>   warp operations
//>
//> kernel last_warps
//>   p0 = blockDim.x
//>   q0 = (bx) * p0
//>   must read arg0[4tx .. +4] : tx - 64 >= 0
//>   must write arg1[4tx + 4q0 .. +4] : tx - 64 >= 0
//>   lanes may wait in vain, not if blockDim.x = floor((blockDim.x)/32)*32
//>   reads arg0 within [256, 4*blockDim.x)
//>   writes arg1 within [256, 4*gridDim.x*blockDim.x)
//>   requires gridDim.x*blockDim.x - 1 <= 4294967295
//>   warp operations
//>
//> kernel half_a_warp
//>   must read arg0[4tx .. +4] : -tx + 47 >= 0
//>   must write arg1[4tx .. +4] : -tx + 47 >= 0
//>   lanes may wait in vain, not if blockDim.x - 49 <= -1
//>   reads arg0 within [0, min(192, 4*blockDim.x))
//>   writes arg1 within [0, min(192, 4*blockDim.x))
//>   warp operations
//>
//> kernel a_row_each
//>   p0 = blockDim.y
//>   p1 = arg2
//>   p2 = blockDim.x
//>   q0 = (bx) * p0
//>   q1 = (ty + q0) * p2
//>   loop i0 divergent
//>   must read arg0[4tx + 4q1 .. +4] : -ty - q0 + p1 - 1 >= 0
//>   must write arg1[4ty + 4q0 .. +4] : -ty - q0 + p1 - 1 >= 0 and -tx = 0
//>   lanes may wait in vain, not if blockDim.x = floor((blockDim.x)/32)*32
//>   reads arg0 within [0, 4*blockDim.x*arg2)
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.y))
//>   requires gridDim.x*blockDim.y - 1 <= 2147483647
//>   requires blockDim.x*arg2 - 1 <= 4294967295
//>   warp operations
//>
//> kernel who_is_there
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   reads arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   warp operations
//>
//> kernel who_was_there
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   lanes may wait in vain, not if gridDim.x*blockDim.x - 1 <= 2147483647, not if gridDim.x*blockDim.x - arg2 - 1 <= -1
//>   reads arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   warp operations
//>
//> kernel lane_alone
//>   p0 = blockDim.x
//>   p1 = arg1
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   lanes may wait in vain, not if gridDim.x*blockDim.x - 1 <= 2147483647, not if gridDim.x*blockDim.x - arg1 - 1 <= -1
//>   lanes may wait in vain, not if gridDim.x*blockDim.x - 1 <= 2147483647, not if gridDim.x*blockDim.x - arg1 - 1 <= -1
//>   writes arg0 within [0, min(4*arg1, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   warp operations
//>
//> kernel a_warp_each
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg0[4tx - 128*floor((tx)/32) + 128*floor((tx + q0)/32) .. +4] : p1 - floor((tx + q0)/32) - 1 >= 0
//>   must write arg1[4*floor((tx + q0)/32) .. +4] : p1 - floor((tx + q0)/32) - 1 >= 0
//>   lanes may wait in vain, not if blockDim.x = floor((blockDim.x)/32)*32
//>   reads arg0 within [max(0, -128*floor((blockDim.x - 1)/32)), min(128*arg2, 128*floor((gridDim.x*blockDim.x - 1)/32) + 128)), columns [0, 4*blockDim.x) of rows of 128
//>   writes arg1 within [0, min(4*arg2, 4*floor((gridDim.x*blockDim.x - 1)/32) + 4))
//>   requires gridDim.x*blockDim.x - 1 <= 4294967295
//>   requires 32*arg2 - 1 <= 4294967295 or gridDim.x*blockDim.x + 30 <= 4294967295 or 32*floor((gridDim.x*blockDim.x - 1)/32) + 31 <= 4294967295
//>   warp operations
//>
//> kernel warps_in_turn
//>   p0 = blockDim.x
//>   p1 = floor((gridDim.x*blockDim.x)/32)
//>   p2 = arg2
//>   q0 = (bx) * p0
//>   q1 = (i0) * p1
//>   loop i0 divergent
//>   must read arg0[4tx + 128q1 - 128*floor((tx)/32) + 128*floor((tx + q0)/32) .. +4] : -q1 + p2 - floor((tx + q0)/32) - 1 >= 0 in i0
//>   must write arg1[4q1 + 4*floor((tx + q0)/32) .. +4] : -q1 + p2 - floor((tx + q0)/32) - 1 >= 0 in i0
//>   lanes may wait in vain, not if blockDim.x = floor((blockDim.x)/32)*32, not if gridDim.x*blockDim.x <= 2147483648
//>   reads arg0 within [max(0, -128*floor((blockDim.x - 1)/32)), min(128*arg2, 4*gridDim.x*blockDim.x + 128*arg2 - 4)), columns [0, 4*blockDim.x) of rows of 128
//>   writes arg1 within [0, 4*arg2)
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires floor((gridDim.x*blockDim.x - 1)/32) <= 2147483647
//>   requires arg2 + floor((gridDim.x*blockDim.x)/32) - 1 <= 2147483647
//>   requires 32*arg2 - 1 <= 4294967295 or gridDim.x*blockDim.x + 30 <= 4294967295 or 32*floor((gridDim.x*blockDim.x - 1)/32) + 31 <= 4294967295
//>   requires 32*arg2 - 1 <= 4294967295 or gridDim.x*blockDim.x + 32*arg2 - 2 <= 4294967295 or blockDim.x + 32*arg2 - 33 <= 4294967295
//>   warp operations
//>
//> kernel threads_in_turn
//>   p0 = blockDim.x
//>   p1 = gridDim.x*blockDim.x
//>   p2 = arg2
//>   q0 = (bx) * p0
//>   q1 = (i0) * p1
//>   loop i0 divergent
//>   must read arg0[4tx + 4q0 + 4q1 .. +4] : -tx - q0 - q1 + p2 - 1 >= 0 and -q0 - p0 + p1 >= 0 in i0
//>   must write arg1[4tx + 4q0 + 4q1 .. +4] : -tx - q0 - q1 + p2 - 1 >= 0 and -q0 - p0 + p1 >= 0 in i0
//>   lanes may wait in vain
//>   reads arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x + 4*arg2 - 4*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x + 4*arg2 - 4*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires gridDim.x*blockDim.x + arg2 - 1 <= 2147483647
//>   warp operations
//>
//> kernel warps_that_differ
//>   p0 = arg2
//>   must read arg0[4tx .. +4] : true
//>   may write arg1[4tx .. +4] : p0 - floor((tx)/32) - 2 >= 0 or p0 - floor((tx)/32) - 1 >= 0 (its condition is not affine)
//>   lanes may wait in vain, not if floor((blockDim.x - 1)/32) - arg2 + 1 <= -1, not if floor((blockDim.x - 1)/32) - arg2 <= -1
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   warp operations
//>
//> kernel left_at_different_times
//>   p0 = arg2
//>   loop i0 divergent
//>   loop i1 divergent
//>   may read arg0[*] : true in i0 (it may wrap around)
//>   may read arg0[4tx .. +4] : -i1 + p0 - floor((tx)/32) - 1 >= 0 and i1 >= 0 in i1 (only bounds of a number in it are known)
//>   may write arg1[4tx .. +4] : -i1 + p0 - floor((tx)/32) - 1 >= 0 and i1 >= 0 in i1 (only bounds of a number in it are known)
//>   lanes may wait in vain
//>   reads arg0 within [?, ?)
//>   writes arg1 within [0, 4*blockDim.x)
//>   warp operations
//>
//> kernel half_of_each_warp
//>   must read arg0[4tx .. +4] : true
//>   must write arg1[4tx .. +4] : -16*floor((tx)/16) + 32*floor((tx)/32) = 0
//>   must write arg1[4tx .. +4] : -floor((tx)/16) + 2*floor((tx)/32) - 1 >= 0 or floor((tx)/16) - 2*floor((tx)/32) - 1 >= 0
//>   lanes may wait in vain, not if blockDim.x = floor((blockDim.x)/32)*32
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   warp operations
//>
//> kernel more_than_half
//>   must read arg0[4tx .. +4] : -16*floor((tx)/16) + 32*floor((tx)/32) = 0
//>   must write arg1[4tx .. +4] : -16*floor((tx)/16) + 32*floor((tx)/32) = 0
//>   lanes may wait in vain, not if 2*floor((blockDim.x - 1)/32) - 1 <= -1, not if floor((blockDim.x - 1)/16) - 1 <= -1
//>   reads arg0 within [0, 4*blockDim.x)
//>   writes arg1 within [0, 4*blockDim.x)
//>   warp operations
//>
//> kernel half_of_those_left
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg0[4tx .. +4] : -tx - q0 + p1 - 1 >= 0 and -16*floor((tx)/16) + 32*floor((tx)/32) = 0
//>   must write arg1[4tx .. +4] : -tx - q0 + p1 - 1 >= 0 and -16*floor((tx)/16) + 32*floor((tx)/32) = 0
//>   lanes may wait in vain, not if gridDim.x*blockDim.x - 1 <= 2147483647, not if 0 <= arg2, not if gridDim.x*blockDim.x - arg2 - 1 <= -1, not if arg2 - 1 <= -1
//>   reads arg0 within [0, min(4*arg2, 4*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   requires 0 <= arg2
//>   warp operations
//>
//> kernel those_for_whom_it_holds
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   reads arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   warp operations
//>
//> kernel those_for_whom_another_holds
//>   p0 = blockDim.x
//>   p1 = arg2
//>   q0 = (bx) * p0
//>   must read arg0[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   must write arg1[4tx + 4q0 .. +4] : -tx - q0 + p1 - 1 >= 0
//>   lanes may wait in vain, not if gridDim.x*blockDim.x - 1 <= 2147483647, not if gridDim.x*blockDim.x - arg2 - 1 <= -1
//>   reads arg0 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*blockDim.x))
//>   requires gridDim.x*blockDim.x - 1 <= 2147483647
//>   warp operations
//>
//> kernel warps_of_a_group
//>   p0 = blockDim.x
//>   p1 = blockDim.y
//>   p2 = floor((blockDim.x*blockDim.y*blockDim.z)/32)
//>   p3 = arg2
//>   q0 = (bx) * p2
//>   q1 = (tz) * p1
//>   q2 = (ty + q1) * p0
//>   must read arg0[4tx + 128q0 - 128*floor((tx)/32) + 128*floor((tx + q2)/32) .. +4] : -q0 + p3 - floor((tx + q2)/32) - 1 >= 0
//>   must write arg1[4q0 + 4*floor((tx + q2)/32) .. +4] : -q0 + p3 - floor((tx + q2)/32) - 1 >= 0
//>   lanes may wait in vain, not if blockDim.x = floor((blockDim.x)/32)*32
//>   reads arg0 within [max(0, -128*floor((blockDim.x - 1)/32)), min(128*arg2, 4*blockDim.x + 128*arg2 - 128)), columns [0, 4*blockDim.x) of rows of 128
//>   writes arg1 within [0, min(4*arg2, 4*gridDim.x*floor((blockDim.x*blockDim.y*blockDim.z)/32) + 4*floor((blockDim.x*blockDim.y*blockDim.z - 1)/32) - 4*floor((blockDim.x*blockDim.y*blockDim.z)/32) + 4))
//>   requires gridDim.x*floor((blockDim.x*blockDim.y*blockDim.z)/32) + floor((blockDim.x*blockDim.y*blockDim.z - 1)/32) - floor((blockDim.x*blockDim.y*blockDim.z)/32) <= 2147483647
//>   requires 32*arg2 - 1 <= 4294967295 or blockDim.x + 32*arg2 - 33 <= 4294967295 or blockDim.x*blockDim.y*blockDim.z + 32*arg2 - 2 <= 4294967295
//>   warp operations
