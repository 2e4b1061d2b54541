// `new` and `delete` in kernels without a header for them, and the destructor that a virtual one brings along.
//
// expect: 2 launches -> 2
#include <cstdio>

struct Base {
    int value;
    __device__ Base(int v) : value(v) {}
    __device__ virtual ~Base() {}
    __device__ virtual int twice() const { return 2 * value; }
};

struct Derived : Base {
    __device__ Derived(int v) : Base(v) {}
    __device__ int twice() const override { return 3 * value; }
};

__global__ void one(int *out) {
    Base *made = threadIdx.x % 2 ? new Base(threadIdx.x) : new Derived(threadIdx.x);
    out[threadIdx.x] = made->twice();
    delete made;
}

__global__ void many(int *out) {
    int *own = new int[4];
    for (int i = 0; i < 4; ++i) own[i] = out[threadIdx.x] + i;
    out[threadIdx.x] = own[threadIdx.x % 4];
    delete[] own;
}

int main() {
    int *out, host[64];
    cudaMalloc(&out, sizeof host);
    one<<<1, 64>>>(out);
    many<<<1, 64>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < 64; ++i) right &= host[i] == (i % 2 ? 2 : 3) * i + i % 4;
    printf("%s\n", right ? "PASS" : "FAIL");
    return !right;
}
