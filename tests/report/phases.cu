// Launches with barriers across the grid between them. What neighbours of a block have stored is worth keeping in shared memory where little
// is done with it, and not where instructions take longest.
constexpr int N = 2048, BLOCK = 128;

__global__ void scale(float *y, const float *x) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    y[i] = 2.0f * x[i] + 1.0f;
}

__global__ void mean(float *out, const float *y) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i > 0 && i + 1 < N) out[i] = 0.5f * (y[i - 1] + y[i + 1]);
}

__global__ void relax(float *out, const float *y, int rounds) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i == 0 || i + 1 >= N) return;
    float left = y[i - 1], right = y[i + 1], here = 0.0f;
    for (int round = 0; round < rounds; ++round)
        for (int step = 0; step <= round; ++step) here = 0.5f * (left - right) + 0.25f * here * (left + step);
    out[i] = here;
}

__global__ void halve(float *v) { v[blockIdx.x * BLOCK + threadIdx.x] *= 0.5f; }

int main(int count, char **) {
    static float host[N];
    float *x, *y, *z, *result;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMalloc(&z, sizeof host);
    cudaMalloc(&result, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    scale<<<N / BLOCK, BLOCK>>>(y, x);
    mean<<<N / BLOCK, BLOCK>>>(result, y);
    halve<<<N / BLOCK, BLOCK>>>(result);
    cudaMemcpy(host, result, sizeof host, cudaMemcpyDeviceToHost);
    scale<<<N / BLOCK, BLOCK>>>(z, x);
    relax<<<N / BLOCK, BLOCK>>>(result, z, count);
    cudaMemcpy(host, result, sizeof host, cudaMemcpyDeviceToHost);
    return host[N / 2] < 0.0f;
}
