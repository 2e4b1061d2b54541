// Functions that are for both sides only where device code is read, or are there only then: nvcc looks neither at the
// sides of what kernels call where it reads the host's code, nor into kernels that are templates.
//
// expect: 2 launches -> 1
#include <cstdio>

#ifdef __CUDA_ARCH__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

struct Level {
    int level;
    BOTH Level(int level) : level(level) {}
    BOTH int first() const { return (1 << level) - 1; }
    BOTH int operator[](int i) const { return level + i; }
    BOTH static const int &same(const int &i) { return i; }
};
BOTH inline int twice(int x) { return 2 * x; }
template <class T> BOTH inline auto thrice(const T &x) { return 3 * x; }

// A specialisation for one side of a template for both.
template <class T> BOTH float rounded(T x);
#ifdef __CUDA_ARCH__
template <> inline __device__ float rounded(int x) { return __int2float_rz(x); }
inline __device__ void add(float *to, float x) { *to += x; }
#endif

// And for both sides of a template for one.
template <class T> inline __device__ T second(T, T) { return T(); }
template <> inline __host__ __device__ int second(int, int y) { return y; }

// Its operator stands outside, and a device function that is a template calls it.
template <class T> struct Less {
    BOTH bool operator()(T a, T b) const;
};
template <class T> BOTH bool Less<T>::operator()(T a, T b) const { return a < b; }
template <class T, class Order> __device__ __forceinline__ T least(T a, T b, Order order) {
    if (order(a, b)) {
        return a;
    }
    return b;
}

// A member of a base that depends on a parameter, whose call nvcc looks up where the parameter is known.
template <class T> struct Base {
    __host__ __device__ int get(T x) const { return 7 + x; }
};
template <class T> struct Derived : Base<T> {
    T x;
    __host__ __device__ int all() const { return get(x); }
};

__global__ void plain(int *out) {
    int i = threadIdx.x;
    out[i] = twice(Level(i).first()) + Level(2)[i] + Level::same(i) + thrice(i) + Derived<int>{{}, i}.all();
}

template <class T> __global__ void generic(const int *in, T *out) {
    int i = threadIdx.x;
    auto t = thrice(in[i]);
    out[i] = Level(i)[t];
    add(&out[i], rounded(least(in[i], second(i, 30), Less<int>())));
}

int main() {
    const int n = 4;
    int *numbers, whole[n];
    float *results, host[n];
    cudaMalloc(&numbers, sizeof whole);
    cudaMalloc(&results, sizeof host);
    plain<<<1, n>>>(numbers);
    generic<<<1, n>>>(numbers, results);
    cudaMemcpy(whole, numbers, sizeof whole, cudaMemcpyDeviceToHost);
    cudaMemcpy(host, results, sizeof host, cudaMemcpyDeviceToHost);
    bool passes = true;
    for (int i = 0; i < n; i++) {
        int wanted = twice(Level(i).first()) + 2 + i + i + thrice(i) + 7 + i;
        float result = i + 3 * wanted + (wanted < 30 ? wanted : second(i, 30));
        passes = passes && whole[i] == wanted && host[i] == result;
    }
    puts(passes ? "PASS" : "FAIL");
    return passes ? 0 : 1;
}
