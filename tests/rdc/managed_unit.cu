__managed__ unsigned n;
__global__ void k() { n += 7; }
void launch() { k<<<1, 1>>>(); }
