// Numbers that are none, with what their text says.
//
// expect: 1 launches -> 1
#include <cmath>
#include <cstdio>
#include <cstring>

__global__ void make(double *doubles, float *floats) {
    doubles[0] = nan("");
    doubles[1] = std::nan("0x1F");
    doubles[2] = nan("017");
    doubles[3] = nan("1234x");
    doubles[4] = nan("99999999999999999999999");
    floats[0] = nanf("");
    floats[1] = nanf("12");
}

int main() {
    double *doubles, host[5];
    float *floats, small[2];
    cudaMalloc(&doubles, sizeof host);
    cudaMalloc(&floats, sizeof small);
    make<<<1, 1>>>(doubles, floats);
    cudaMemcpy(host, doubles, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(small, floats, sizeof small, cudaMemcpyDeviceToHost);
    const unsigned long long expected[5] = {
        0x7ff8000000000000, 0x7ff800000000001f, 0x7ff800000000000f, 0x7ff8000000000000, 0x7fffffffffffffff,
    };
    const unsigned of_floats[2] = {0x7fc00000, 0x7fc0000c};
    const bool right = memcmp(host, expected, sizeof host) == 0 && memcmp(small, of_floats, sizeof small) == 0;
    for (double number : host) {
        printf("%g ", std::isnan(number) ? 0.0 : number);
    }
    printf(right ? "PASS\n" : "FAIL\n");
    cudaFree(doubles);
    cudaFree(floats);
    return right ? 0 : 1;
}
