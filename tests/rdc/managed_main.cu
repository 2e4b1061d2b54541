// A managed variable of another unit, which the host side here uses, between launches of the other unit too.
#include <cstdio>
extern __managed__ unsigned n;
void launch();
void before();
void behind();
unsigned result();
int main() {
    n = 1;
    launch();
    cudaDeviceSynchronize();
    bool right = n == 8;
    before();
    cudaDeviceSynchronize();
    n = 9;
    behind();
    cudaDeviceSynchronize();
    right = right && result() == 809;
    printf("%u %s\n", n, right ? "PASS" : "FAIL");
    return !right;
}
