// A buffer that is overwritten in each step, read by launches that nothing else ties to the next step: with
// other memory for what is replaced all steps are a few batches. Beside that, whatever speaks against it: a
// range that is not replaced as a whole, a launch that reads what it replaces, a reader of parts of two
// versions, kernels that look at addresses, a copy between the steps, and more versions than there is room for.
//
// arguments: 6 0
// arguments: 6 1
// expect: 20 launches -> 16
// executes: 76 76
#include <cstdio>
#include <cstdlib>

constexpr int N = 64, THREADS = 32, MANY = 300;

__global__ void fill(float *out, float base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = base + i;
}

// Only every other element.
__global__ void fill_half(float *out, float base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * i] = base - i;
}

// Each thread reads what all others of the launch before wrote.
__global__ void turn(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += in[k] * ((k ^ i) & 7);
    out[i] = sum;
}

__global__ void grow(float *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] += 1.0f;
}

__global__ void which(const float *in, const float *other, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in == other ? 1.0f : in[(i * i) % N];
}

// What this thread's element was, moved, and a new value in its own place.
__global__ void shift(const float *in, float *out, float base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + base;
}

int main(int argc, char **argv) {
    const int steps = argc > 1 ? atoi(argv[1]) : 6;
    const bool same = argc > 2 && atoi(argv[2]);
    const dim3 grid(N / THREADS), block(THREADS);
    float *scratch, *out, *two, *many, *state;
    cudaMalloc(&scratch, N * sizeof(float));
    cudaMalloc(&out, 8 * steps * N * sizeof(float));
    cudaMalloc(&two, 2 * N * sizeof(float));
    cudaMalloc(&many, MANY * N * sizeof(float));
    cudaMalloc(&state, N * sizeof(float));
    cudaMemset(scratch, 0, N * sizeof(float));
    cudaMemset(two, 0, 2 * N * sizeof(float));
    cudaMemset(many, 0, MANY * N * sizeof(float));
    cudaMemset(state, 0, N * sizeof(float));

    // A version for each step.
    for (int t = 0; t < steps; ++t) {
        fill<<<grid, block>>>(scratch, 100.0f * t);
        turn<<<grid, block>>>(scratch, out + t * N);
    }
    cudaDeviceSynchronize();

    // What is not overwritten stays.
    for (int t = 0; t < steps; ++t) {
        fill_half<<<1, N / 2>>>(scratch, 10.0f * t);
        turn<<<grid, block>>>(scratch, out + (steps + t) * N);
    }
    cudaDeviceSynchronize();

    // A chain through the versions, and one that is changed in place.
    for (int t = 0; t < steps; ++t) {
        fill<<<grid, block>>>(scratch, 7.0f * t);
        grow<<<grid, block>>>(scratch);
        turn<<<grid, block>>>(scratch, out + (2 * steps + t) * N);
    }
    cudaDeviceSynchronize();

    // Whole ranges side by side, and a reader of a part of both.
    for (int t = 0; t < steps; ++t) {
        fill<<<grid, block>>>(two, t);
        fill<<<grid, block>>>(two + N, 2.0f * t);
        turn<<<grid, block>>>(two + N / 2, out + (3 * steps + t) * N);
        turn<<<grid, block>>>(two, out + (4 * steps + t) * N);
    }
    cudaDeviceSynchronize();

    // Whether two pointers are equal must not depend on where a version is.
    for (int t = 0; t < steps; ++t) {
        fill<<<grid, block>>>(scratch, 3.0f * t);
        which<<<grid, block>>>(scratch, same ? scratch : state, out + (5 * steps + t) * N);
    }
    cudaDeviceSynchronize();

    // What is replaced may be what is read.
    for (int t = 0; t < steps; ++t) {
        shift<<<grid, block>>>(same ? scratch : state, scratch, 1.0f);
        turn<<<grid, block>>>(scratch, out + (6 * steps + t) * N);
    }
    cudaDeviceSynchronize();

    // The host looks on.
    float sum = 0, row[N];
    for (int t = 0; t < steps; ++t) {
        fill<<<grid, block>>>(scratch, 5.0f * t);
        turn<<<grid, block>>>(scratch, out + (7 * steps + t) * N);
        fill<<<grid, block>>>(scratch, 6.0f * t);
        cudaMemcpy(row, scratch, sizeof row, cudaMemcpyDeviceToHost);
        sum += row[t];
    }

    // More versions than there is memory for them.
    for (int t = 0; t < 2; ++t)
        for (int k = 0; k < MANY; ++k) {
            fill<<<grid, block>>>(many + k * N, t + k);
            turn<<<grid, block>>>(many + k * N, state);
        }
    cudaDeviceSynchronize();
    bool good = true;
    const auto check = [&](const float *from, float base, bool changed) {
        float found[N];
        cudaMemcpy(found, from, sizeof found, cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; ++i) {
            float expected = 0;
            for (int k = 0; k < N; ++k) expected += (base + k + (changed ? 1.0f : 0.0f)) * ((k ^ i) & 7);
            good = good && found[i] == expected;
        }
    };
    for (int t = 0; t < steps; ++t) {
        check(out + t * N, 100.0f * t, false);
        check(out + (2 * steps + t) * N, 7.0f * t, true);
        check(out + (4 * steps + t) * N, t, false);
        check(out + (7 * steps + t) * N, 5.0f * t, false);
    }
    check(state, MANY, false);
    printf("%g %s\n", sum, good && cudaGetLastError() == cudaSuccess ? "PASS" : "FAIL");
    for (float *memory : {scratch, out, two, many, state}) cudaFree(memory);
    return good ? 0 : 1;
}
