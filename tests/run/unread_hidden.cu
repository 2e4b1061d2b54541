// test: run
// expect: 5 launches -> 2
// The host gets at an intermediate in ways that no analysis follows, so it must be written.
#include "unread.h"

// Keeps the address of its argument where the host finds it.
__global__ void keep(float *x, float **place) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *place = x;
}

// The host gets the address from a kernel.
void kept() {
    float *x = from(1, 1), *t = room(), *y = room(), **place, *found;
    cudaMalloc(&place, sizeof(float *));
    keep<<<1, 32>>>(t, place);
    twice<<<3, 128>>>(x, t, n);
    plus<<<3, 128>>>(t, y, n, 1.0f);
    cudaMemcpy(&found, place, sizeof found, cudaMemcpyDeviceToHost);
    expect("kept", read(found), 2, 2);
    // Addresses differ from run to run.
    cudaMemset(place, 0, sizeof(float *));
    cudaFree(x), cudaFree(t), cudaFree(y), cudaFree(place);
}

// The address goes through a number, and through bytes.
void hidden() {
    float *x = from(1, 1), *t = room(), *y = room();
    unsigned long long number = reinterpret_cast<unsigned long long>(t) ^ 0x5a5aULL;
    char spelled[32];
    snprintf(spelled, sizeof spelled, "%llu", number);
    twice<<<3, 128>>>(x, t, n);
    plus<<<3, 128>>>(t, y, n, 1.0f);
    unsigned long long back = 0;
    sscanf(spelled, "%llu", &back);
    expect("hidden", read(reinterpret_cast<float *>(back ^ 0x5a5aULL)), 2, 2);
    cudaFree(x), cudaFree(t), cudaFree(y);
}

int main() {
    kept();
    hidden();
    puts(failures ? "FAIL" : "PASS");
    return failures != 0;
}
