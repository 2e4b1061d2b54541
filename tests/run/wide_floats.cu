// Integers of 128 bits become floats and are made of them, also between two kernels that are one.
//
// expect: 2 launches -> 1
#include <cstdio>
#include <cstring>

struct Numbers {
    unsigned __int128 u[2];
    __int128 s[2];
    double d[4];
    float f[2];
};

__global__ void to_floats(Numbers *all) {
    all->d[0] = (double)all->u[0];
    all->d[1] = (double)all->s[0];
    all->f[0] = (float)all->u[0];
    all->f[1] = (float)all->s[0];
}

__global__ void from_floats(Numbers *all) {
    all->u[1] = (unsigned __int128)all->d[2] + (unsigned __int128)all->d[0];
    all->s[1] = (__int128)all->d[3];
}

int main() {
    Numbers host = {}, back, *all;
    host.u[0] = (unsigned __int128)0x123456789abcdefull << 60 | 0xfedcba987654321ull;
    host.s[0] = -(__int128)(host.u[0] / 3);
    host.d[2] = 1.5e30;
    host.d[3] = -2.25e25;
    cudaMalloc(&all, sizeof host);
    cudaMemcpy(all, &host, sizeof host, cudaMemcpyHostToDevice);
    to_floats<<<1, 1>>>(all);
    from_floats<<<1, 1>>>(all);
    cudaMemcpy(&back, all, sizeof back, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    right &= back.d[0] == (double)host.u[0] && back.d[1] == (double)host.s[0];
    right &= back.f[0] == (float)host.u[0] && back.f[1] == (float)host.s[0];
    right &= back.u[1] == (unsigned __int128)1.5e30 + (unsigned __int128)back.d[0];
    right &= back.s[1] == (__int128)-2.25e25;
    printf("%s\n", right ? "PASS" : "FAIL");
    return !right;
}
