__managed__ unsigned n;
__device__ unsigned seen;
__global__ void k() { n += 7; }
__global__ void first() { seen = n; }
__global__ void second() { seen = 100 * seen + n; }
void launch() { k<<<1, 1>>>(); }
void before() { first<<<1, 1>>>(); }
void behind() { second<<<1, 1>>>(); }
unsigned result() {
    unsigned value = 0;
    cudaMemcpyFromSymbol(&value, seen, sizeof value);
    return value;
}
