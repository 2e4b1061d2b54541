// Functions whose declarations are for different sides are functions of both, as nvcc reads them.
//
// expect: 1 launches -> 1
#include <cstdio>

struct Sum {
    int value;
    Sum();
    ~Sum();
    Sum &operator+=(int more);
    volatile Sum &operator+=(volatile Sum &more) volatile;
    static int twice(int x);
    int plus(int x) const;
    __host__ __device__ int minus(int x) const;
    __device__ int times(int x) const;
};
inline __device__ __host__ Sum::Sum() { value = 1; }
inline __device__ __host__ Sum::~Sum() {}
inline __device__ __host__ Sum &Sum::operator+=(int more) {
    value += more;
    return *this;
}
inline __device__ __host__ volatile Sum &Sum::operator+=(volatile Sum &more) volatile {
    value += more.value;
    return *this;
}
__host__ __device__ int Sum::twice(int x) { return 2 * x; }
__device__ int Sum::plus(int x) const { return value + x; }
int Sum::minus(int x) const { return value - x; }
__device__ __host__ int Sum::times(int x) const { return value * x; }

int thrice(int x);
__host__ __device__ int thrice(int x) { return 3 * x; }

namespace pairs {
template <class T, class U> struct Pair {
    T first;
    U second;
    T both() const;
    template <class V> V scaled(V by) const;
};
template <class T, class U> __host__ __device__ T Pair<T, U>::both() const { return first + T(second); }
template <class T, class U> template <class V> __host__ __device__ V Pair<T, U>::scaled(V by) const {
    return V(first) * by;
}
}

// Two functions, not one of both sides: clang reads them as nvcc does.
struct Sides {
    int where(int) const { return 1; }
    __device__ int where(float) const { return 2; }
};

template <class Out> __host__ __device__ void work(Out *out) {
    Sum sum;
    sum += 5;
    volatile Sum other;
    other += sum;
    pairs::Pair<float, int> pair = {1.5f, 2};
    out[0] = Sum::twice(sum.value) + thrice(2) + other.value;
    out[1] = sum.minus(1) * 100 + sum.times(7) * 1000;
    out[2] = int(pair.both() * 2) + int(pair.scaled(4.0)) * 100;
}

__global__ void onDevice(int *out) {
    work(out);
    out[3] = Sides().where(1.0f) + Sum().plus(3);
}

int main() {
    int *found, expected[4];
    cudaMallocManaged(&found, sizeof expected);
    onDevice<<<1, 1>>>(found);
    cudaDeviceSynchronize();
    work(expected);
    expected[3] = Sides().where(1) + 1 + 4;
    int wrong = 0;
    for (int i = 0; i < 4; ++i)
        if (found[i] != expected[i]) printf("%d: %d instead of %d\n", i, found[i], expected[i]), wrong++;
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
