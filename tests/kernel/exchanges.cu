// test: kernel
// What lanes of a warp hand to each other with no barrier between, and what looks like it and is none.
__global__ void tail(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int half = 16; half > 0; half >>= 1)
        if (t < half) s[t] += s[t + half];
    x[t] = s[t];
}
// The same with a barrier of the warp in each round, and a second one, since what is read is written.
__global__ void tail_in_order(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int half = 16; half > 0; half >>= 1) {
        float sum = s[t] + s[t + half];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
    }
    x[t] = s[t];
}
// All rounds of one number, which is the same for all.
__global__ void halves(float *x) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) x[0] = s[0];
}
// What all read behind the last round is no exchange either: the lanes of a barrier all go on or all stop.
__global__ void halves_for_all(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    x[t] = s[0];
}
// Here it is one: the last round has no barrier.
__global__ void halves_without_the_last(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        if (half > 1) __syncthreads();
    }
    x[t] = s[0];
}
// No constraint tells the threads apart; computing the addresses does.
__global__ void interleaved(float *x) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) x[0] = s[0];
}
__global__ void sorted(float *x) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            __syncthreads();
            if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
                float kept = s[t];
                s[t] = s[other];
                s[other] = kept;
            }
        }
    __syncthreads();
    x[t] = s[t];
}
// The partners of a butterfly both read and write.
__global__ void butterfly(float *x) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int j = 16; j > 0; j /= 2) s[t] += s[t ^ j];
    x[t] = s[t];
}
// Where the data lead is not known.
__global__ void scattered(float *x, const int *to) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[to[t]] = x[t];
    x[t] = s[t];
}

// A table of pointers that the host made leads to nobody's shared memory.
struct Table {
    float *rows[4];
};
__global__ void rows_of_a_table(float *x, Table table, int row) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    float y = table.rows[row][t];
    __syncthreads();
    x[t] = s[31 - t] + y;
}
// That of a kernel which stores an address of its own may.
__global__ void rows_of_its_own(float **table, float *x) {
    __shared__ float s[32];
    int t = threadIdx.x;
    table[t] = s;
    s[t] = x[t];
    float y = table[t ^ 1][t];
    __syncthreads();
    x[t] = s[31 - t] + y;
}

//> kernel tail
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ4tailPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ4tailPfE1s[4tx + 4i1 .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 16 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may read shared @_ZZ4tailPfE1s[4tx .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 16 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may write shared @_ZZ4tailPfE1s[4tx .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 16 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   must read shared @_ZZ4tailPfE1s[4tx .. +4] : true in interval 1
//>   must write arg0[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 4 in one interval
//>   lanes exchange what access 4 writes by access 2
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 256 bytes
//>
//> kernel tail_in_order
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ13tail_in_orderPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ13tail_in_orderPfE1s[4tx .. +4] : i1 - 1 >= 0 and i1 >= 0 and -i1 + 16 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may read shared @_ZZ13tail_in_orderPfE1s[4tx + 4i1 .. +4] : i1 - 1 >= 0 and i1 >= 0 and -i1 + 16 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may write shared @_ZZ13tail_in_orderPfE1s[4tx .. +4] : i1 - 1 >= 0 and i1 >= 0 and -i1 + 16 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   must read shared @_ZZ13tail_in_orderPfE1s[4tx .. +4] : true in interval 1
//>   must write arg0[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   anti from access 0 to access 6 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 3 across barrier 0
//>   output from access 1 to access 4 across barrier 0
//>   flow from access 1 to access 5 across barrier 0
//>   anti from access 2 to access 4 in one interval
//>   anti from access 3 to access 4 in one interval
//>   output from access 4 to access 4 in one interval
//>   flow from access 4 to access 5 in one interval
//>   output from access 6 to access 6 in one interval
//>   writes arg0 within [0, 4*blockDim.x)
//>   warp operations
//>   static shared 256 bytes
//>
//> kernel halves
//>   p0 = blockDim.x
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ6halvesPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ6halvesPfE1s[4tx + 4*floor((i1)/2) .. +4] : floor((i1)/2) - 1 >= 0 and -tx + floor((i1)/2) - 1 >= 0 and i1 >= 0 and -i1 + p0 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   may read shared @_ZZ6halvesPfE1s[4tx .. +4] : floor((i1)/2) - 1 >= 0 and -tx + floor((i1)/2) - 1 >= 0 and i1 >= 0 and -i1 + p0 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   may write shared @_ZZ6halvesPfE1s[4tx .. +4] : floor((i1)/2) - 1 >= 0 and -tx + floor((i1)/2) - 1 >= 0 and i1 >= 0 and -i1 + p0 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   must read shared @_ZZ6halvesPfE1s[0 .. +4] : -tx = 0 in interval 1,2
//>   must write arg0[0 .. +4] : -tx = 0 in interval 1,2
//>   barrier uniform
//>   barrier uniform in i0
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 4 across barrier 1
//>   anti from access 2 to access 4 in one interval
//>   flow from access 4 to access 2 across barrier 1
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 4096 bytes
//>
//> kernel halves_for_all
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ14halves_for_allPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ14halves_for_allPfE1s[4tx + 4i1 .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 32 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   may read shared @_ZZ14halves_for_allPfE1s[4tx .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 32 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   may write shared @_ZZ14halves_for_allPfE1s[4tx .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 32 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   must read shared @_ZZ14halves_for_allPfE1s[0 .. +4] : true in interval 1,2
//>   must write arg0[4tx .. +4] : true in interval 1,2
//>   barrier uniform
//>   barrier uniform in i0
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 5 across barrier 0
//>   anti from access 2 to access 4 across barrier 1
//>   anti from access 2 to access 4 in one interval
//>   flow from access 4 to access 2 across barrier 1
//>   flow from access 4 to access 5 across barrier 1
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 256 bytes
//>
//> kernel halves_without_the_last
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ23halves_without_the_lastPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ23halves_without_the_lastPfE1s[4tx + 4i1 .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 32 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   may read shared @_ZZ23halves_without_the_lastPfE1s[4tx .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 32 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   may write shared @_ZZ23halves_without_the_lastPfE1s[4tx .. +4] : i1 - 1 >= 0 and -tx + i1 - 1 >= 0 and i1 >= 0 and -i1 + 32 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   must read shared @_ZZ23halves_without_the_lastPfE1s[0 .. +4] : true in interval 1,2
//>   must write arg0[4tx .. +4] : true in interval 1,2
//>   barrier uniform
//>   barrier uniform in i0
//>   flow from access 1 to access 2 across barrier 0
//>   flow from access 1 to access 5 across barrier 0
//>   anti from access 2 to access 4 across barrier 1
//>   anti from access 2 to access 4 in one interval
//>   flow from access 4 to access 2 across barrier 1
//>   flow from access 4 to access 5 across barrier 1
//>   flow from access 4 to access 5 in one interval
//>   lanes exchange what access 4 writes by access 2
//>   lanes exchange what access 4 writes by access 5
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 256 bytes
//>
//> kernel interleaved
//>   p0 = blockDim.x
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ11interleavedPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ11interleavedPfE1s[4tx + 4i1 + 4 .. +4] : -i1 + p0 - 2 >= 0 and i1 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   may read shared @_ZZ11interleavedPfE1s[4tx .. +4] : -i1 + p0 - 2 >= 0 and i1 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   may write shared @_ZZ11interleavedPfE1s[4tx .. +4] : -i1 + p0 - 2 >= 0 and i1 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1,2
//>   must read shared @_ZZ11interleavedPfE1s[0 .. +4] : -tx = 0 in interval 1,2
//>   must write arg0[0 .. +4] : -tx = 0 in interval 1,2
//>   barrier uniform
//>   barrier uniform in i0
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 4 across barrier 1
//>   anti from access 2 to access 4 in one interval
//>   flow from access 4 to access 2 across barrier 1
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 4096 bytes
//>
//> kernel sorted
//>   loop i0 uniform
//>   loop i1 in i0 uniform
//>   loop i2 divergent
//>   loop i3 divergent
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ6sortedPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ6sortedPfE1s[4tx .. +4] : -i2 + 254 >= 0 and floor((i3)/2) - 1 >= 0 and i2 >= 0 and i3 >= 0 in i0,i1,i2,i3 (only bounds of a number in it are known) in interval 1
//>   may read shared @_ZZ6sortedPfE1s[*] : -i2 + 254 >= 0 and floor((i3)/2) - 1 >= 0 and i2 >= 0 and i3 >= 0 in i0,i1,i2,i3 (it is a bitwise combination) in interval 1
//>   may write shared @_ZZ6sortedPfE1s[4tx .. +4] : -i2 + 254 >= 0 and floor((i3)/2) - 1 >= 0 and i2 >= 0 and i3 >= 0 in i0,i1,i2,i3 (only bounds of a number in it are known) in interval 1
//>   may write shared @_ZZ6sortedPfE1s[*] : -i2 + 254 >= 0 and floor((i3)/2) - 1 >= 0 and i2 >= 0 and i3 >= 0 in i0,i1,i2,i3 (it is a bitwise combination) in interval 1
//>   must read shared @_ZZ6sortedPfE1s[4tx .. +4] : true in interval 2
//>   must write arg0[4tx .. +4] : true in interval 2
//>   barrier uniform in i0,i1
//>   barrier uniform
//>   flow from access 1 to access 3 across barrier 0
//>   output from access 1 to access 5 across barrier 0
//>   anti from access 2 to access 5 across barrier 0
//>   anti from access 2 to access 5 in one interval
//>   anti from access 3 to access 4 across barrier 0
//>   anti from access 3 to access 4 in one interval
//>   anti from access 3 to access 5 across barrier 0
//>   anti from access 3 to access 5 in one interval
//>   flow from access 4 to access 3 across barrier 0
//>   output from access 4 to access 5 across barrier 0
//>   output from access 4 to access 5 in one interval
//>   flow from access 5 to access 2 across barrier 0
//>   flow from access 5 to access 3 across barrier 0
//>   output from access 5 to access 4 across barrier 0
//>   output from access 5 to access 5 across barrier 0
//>   output from access 5 to access 5 in one interval
//>   flow from access 5 to access 6 across barrier 1
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 1024 bytes
//>
//> kernel butterfly
//>   loop i0 uniform
//>   loop i1 divergent
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ9butterflyPfE1s[4tx .. +4] : true in interval 0
//>   may read shared @_ZZ9butterflyPfE1s[*] : i1 - 1 >= 0 and i1 >= 0 and -i1 + 16 >= 0 in i0,i1 (it is a bitwise combination) in interval 1
//>   may read shared @_ZZ9butterflyPfE1s[4tx .. +4] : i1 - 1 >= 0 and i1 >= 0 and -i1 + 16 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   may write shared @_ZZ9butterflyPfE1s[4tx .. +4] : i1 - 1 >= 0 and i1 >= 0 and -i1 + 16 >= 0 in i0,i1 (only bounds of a number in it are known) in interval 1
//>   must read shared @_ZZ9butterflyPfE1s[4tx .. +4] : true in interval 1
//>   must write arg0[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   flow from access 1 to access 2 across barrier 0
//>   anti from access 2 to access 4 in one interval
//>   lanes may exchange what access 4 writes by access 2
//>   writes arg0 within [0, 4*blockDim.x)
//>   static shared 128 bytes
//>
//> kernel scattered
//>   must read arg0[4tx .. +4] : true
//>   must read arg1[4tx .. +4] : true
//>   may write shared @_ZZ9scatteredPfPKiE1s[*] : true (it is read from memory)
//>   must read shared @_ZZ9scatteredPfPKiE1s[4tx .. +4] : true
//>   must write arg0[4tx .. +4] : true
//>   lanes may exchange what access 2 writes by access 3
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads arg1 within [0, 4*blockDim.x)
//>   static shared 1024 bytes
//>
//> kernel rows_of_a_table
//>   must read arg0[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ15rows_of_a_tablePf5TableiE1s[4tx .. +4] : true in interval 0
//>   may read anywhere[*] : true (it is read from memory) in interval 0
//>   must read shared @_ZZ15rows_of_a_tablePf5TableiE1s[-4tx + 124 .. +4] : true in interval 1
//>   must write arg0[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   flow from access 1 to access 3 across barrier 0
//>   anti from access 2 to access 4 across barrier 0
//>   writes arg0 within [0, 4*blockDim.x)
//>   reads anywhere within [?, ?)
//>   static shared 128 bytes
//>
//> kernel rows_of_its_own
//>   must write arg0[8tx .. +8] : true in interval 0
//>   must read arg1[4tx .. +4] : true in interval 0
//>   must write shared @_ZZ15rows_of_its_ownPPfS_E1s[4tx .. +4] : true in interval 0
//>   must read arg0[-8tx + 32*floor((tx)/2) + 8 .. +8] : true in interval 0
//>   may read anywhere[*] : true (it is read from memory) in interval 0
//>   may read shared anywhere[*] : true (it is read from memory) in interval 0
//>   must read shared @_ZZ15rows_of_its_ownPPfS_E1s[-4tx + 124 .. +4] : true in interval 1
//>   must write arg1[4tx .. +4] : true in interval 1
//>   barrier uniform
//>   flow from access 0 to access 1 in one interval
//>   flow from access 0 to access 3 in one interval
//>   flow from access 0 to access 4 in one interval
//>   output from access 0 to access 7 across barrier 0
//>   flow from access 2 to access 5 in one interval
//>   flow from access 2 to access 6 across barrier 0
//>   anti from access 3 to access 7 across barrier 0
//>   anti from access 4 to access 7 across barrier 0
//>   lanes may exchange what access 2 writes by access 5
//>   writes arg0 within [min(0, max(-8, -8*blockDim.x + 16)), max(8*blockDim.x, min(8*blockDim.x + 8, 32*floor((blockDim.x - 1)/2) + 16))), columns [min(0, -8*blockDim.x + 16), max(8*blockDim.x, 16)) of rows of 32
//>   writes arg1 within [0, 4*blockDim.x)
//>   reads anywhere within [?, ?)
//>   static shared 128 bytes
