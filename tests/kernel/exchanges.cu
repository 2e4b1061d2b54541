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
