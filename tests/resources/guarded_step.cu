// Two launches that become one behind every kind of guard: shapes, ranges of pointers that nobody
// knows, sizes. A driver with a runtime that launches nothing calls it many times.
__global__ void scale(float *out, const float *in, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * factor;
}

__global__ void add(float *out, const float *in, const float *other, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + other[i];
}

extern "C" void step(float *a, const float *b, const float *c, float *d, int n, int threads) {
    scale<<<(n + threads - 1) / threads, threads>>>(a, b, 2.0f, n);
    add<<<(n + threads - 1) / threads, threads>>>(d, a, c, n);
}
