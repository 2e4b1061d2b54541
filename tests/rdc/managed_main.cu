// A managed variable of another unit, which the host side here uses.
#include <cstdio>
extern __managed__ unsigned n;
void launch();
int main() {
    n = 1;
    launch();
    cudaDeviceSynchronize();
    printf("%u %s\n", n, n == 8 ? "PASS" : "FAIL");
    return n != 8;
}
