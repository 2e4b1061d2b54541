// Memory that kernels reach through structs alone, large and small ones: none of it is needed where they run as one,
// and all of it is there where a launch is refused and the others run as they were written.
//
// arguments:
// arguments: refused
// expect: 6 launches -> 3
// executes: 3 3
// allocates: 32768 49152
// allocates: 81920 0
// options: --sirius-opt=-argument-promotion
#include <cstdio>
#include <vector>

constexpr int count = 4096, threads = 128, blocks = count / threads;

struct Large {
    float *data;
    long long first;
    int n, stride;
};

struct Small {
    float *data;
    int n;
};

struct Handle {
    float *data;
};

__global__ void twice(Large out, Large in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < in.n) out.data[i * out.stride] = 2 * in.data[i * in.stride];
}

__global__ void shifted(Large out, Large in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < in.n) out.data[i * out.stride] = in.data[i * in.stride] + 1;
}

__global__ void half_of(Small out, Small in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < in.n) out.data[i] = in.data[i] / 2;
}

__global__ void lowered(Small out, Small in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < in.n) out.data[i] = in.data[i] - 3;
}

__global__ void negated(Handle out, Handle in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out.data[i] = -in.data[i];
}

__global__ void added(Handle out, Handle in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out.data[i] += in.data[i];
}

int main(int argc, char **) {
    const int last = argc > 1 ? 0 : blocks;
    std::vector<float> host(count);
    for (int i = 0; i < count; i++) host[i] = i;
    float *x, *large, *small, *handle, *out;
    cudaMalloc(&x, count * sizeof(float));
    cudaMalloc(&large, count * sizeof(float));
    cudaMalloc(&small, count * sizeof(float));
    cudaMalloc(&handle, count * sizeof(float));
    cudaMalloc(&out, count * sizeof(float));
    cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, count * sizeof(float));

    int wrong = 0;
    const auto check = [&](const char *name, auto expected) {
        std::vector<float> found(count);
        cudaMemcpy(found.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < count; i++)
            if (found[i] != expected(i)) {
                printf("%s: element %d is %g, not %g\n", name, i, found[i], (float)expected(i));
                wrong++;
                return;
            }
    };
    const bool all = last > 0;
    twice<<<blocks, threads>>>(Large{large, 0, count, 1}, Large{x, 0, count, 1});
    shifted<<<last, threads>>>(Large{out, 0, count, 1}, Large{large, 0, count, 1});
    printf("large: %s\n", cudaGetErrorString(cudaGetLastError()));
    check("large", [&](int i) { return all ? 2 * i + 1 : 0; });

    half_of<<<blocks, threads>>>(Small{small, count}, Small{x, count});
    lowered<<<last, threads>>>(Small{out, count}, Small{small, count});
    printf("small: %s\n", cudaGetErrorString(cudaGetLastError()));
    check("small", [&](int i) { return all ? i / 2.0f - 3 : 0; });

    negated<<<blocks, threads>>>(Handle{handle}, Handle{x});
    added<<<last, threads>>>(Handle{out}, Handle{handle});
    printf("handle: %s\n", cudaGetErrorString(cudaGetLastError()));
    check("handle", [&](int i) { return all ? i / 2.0f - 3 - i : 0; });
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
