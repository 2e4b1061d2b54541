// What nvcc checks only where a template is instantiated, or not at all, and clang where it is written.
//
// options: -std=c++20
// expect: 6 launches -> 1
#if __cplusplus >= 202002L
#include <concepts>
#endif
#include <cstdio>

using Communicator = void *;

// Members of a class that is incomplete here, and complete where the template is used.
struct Later;
template <class T> __host__ __device__ T sum_of(Later *first, T more) {
    return first->value + first[1].next(2) + (first + 1)->value + more;
}
template <class T> struct Holder {
    Later *later;
    __host__ __device__ T get() { return later->value; }
    __host__ __device__ T taken(Holder &other) { return this->later->next(1) + other.later->value; }
    // Nobody uses what the class does not have.
    T absent() { return this->missing + other(*this); }
    static T other(Holder &other) { return other.absent_too(3); }
};
template <class T> __device__ int converted(Later &later) { return later; }
struct Later {
    int value;
    __host__ __device__ int next(int by) const { return value + by; }
    __host__ __device__ operator int() const { return 100 * value; }
};

// What a class keeps for itself, in templates that nobody instantiates.
class Own {
    int x;
    static int all;
    explicit Own(int x) : x(x) {}
};
template <class T> int peek(Own &own, T) { return own.x + Own::all; }
template <class T> void make(T) { Own own(3); }

__global__ void known_later(Later *first, int *out) {
    Holder<int> holder{first};
    *out = sum_of(first, 1) + holder.get() + holder.taken(holder) + converted<int>(*first);
}

// Member templates of an object that depends on a parameter.
struct Steps {
    template <int n> __host__ __device__ int at(int x) const { return x + n; }
    template <int n, int m> __device__ int by(int x) const { return x * n + m; }
};
template <class T, int n> __device__ int stepped(T x, T *p) {
    return x.at<3>(1) * 100 + p->at<n>(2) + p->by<2, n>(4);
}
__global__ void steps(int *out) {
    Steps steps;
    *out = stepped<Steps, 5>(steps, &steps);
}

// Members behind whose names their own parameters stand.
template <class A, class B> struct Pair {
    A a;
    template <class C> __host__ __device__ C plus(C c);
    template <class C, int n> static __device__ C times(C c);
};
template <class A, class B> template <class C> __host__ __device__ C Pair<A, B>::plus<C>(C c) { return c + a; }
template <class A, class B> template <class C, int n> __device__ C Pair<A, B>::times<C, n>(C c) { return c * n; }
__global__ void pairs(int *out) {
    Pair<int, float> pair{4};
    *out = pair.plus(3) + Pair<int, int>::times<int, 10>(2);
}

#if __cplusplus >= 202002L
// Requirements that name functions of one side.
__device__ inline void twice(Later &to, const Later &from) { to.value = 2 * from.value; }
inline void on_host(Later &) {}
template <class T>
concept Doubled = requires(T &to, const T &from) {
    twice(to, from);
    { from.value } -> std::convertible_to<int>;
};
template <class T> concept Hosted = requires(T &t) { on_host(t); };
template <Doubled T> __global__ void doubled(T *to, const T *from) { twice(*to, *from); }
template <Hosted T> __global__ void raised(T *to) { to->value += 1; }
template <class T> requires Doubled<T> && Hosted<T> void both(T *to, T *from) {
    doubled<T><<<1, 1>>>(to, from);
    raised<<<1, 1>>>(to);
}
#endif

// Default arguments that name what their parameters hide.
constexpr int width = 3;
static __device__ int filled(int x, int width = width + 1) { return x * width; }
#ifdef __CUDA_ARCH__
template <int bits> struct Limbs {
    static const int n = (bits + 31) / 32;
    static __device__ int cleared(int x, int n = n) { return x + n; }
};
#endif
extern "C"__global__ void defaults(int *out) {
    int x = filled(5);
#ifdef __CUDA_ARCH__
    x += Limbs<96>::cleared(100);
#endif
    *out = x;
}

// Shared variables that are `extern` and have a size: definitions, but for the array without a bound.
struct Point {
    int x, y;
};
extern __shared__ int whole[4];
template <class T> __global__ void shared(T *out) {
    extern __shared__ Point point;
    extern __shared__ T scalar, of_launch[], bounded[32];
    of_launch[threadIdx.x] = 1;
    bounded[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        point.y = 7;
        scalar = 20;
        whole[3] = 300;
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = point.y + scalar + of_launch[31] + bounded[31] + whole[3] + sizeof bounded;
}

// A text in an instruction, and a number that an object becomes.
template <bool wide> struct Mode {
    static constexpr char text[] = ".wide";
};
template <> struct Mode<false> {
    static constexpr char text[] = ".lo";
};
template <int n> struct Number {
    constexpr __host__ __device__ operator int() const { return n; }
};
template <int n> __device__ int plus(int a, Number<n> number) {
    int sum;
    asm("add.s32 %0, %1, %2;" : "=r"(sum) : "r"(a), "n"(number));
    return sum;
}
template <bool wide> __device__ long long product(int a, int b) {
    long long result;
    asm("{ .reg .s32 %%low; mul%1.s32 %%low, %2, %3; cvt.s64.s32 %0, %%low; }"
        : "=l"(result)
        : "C"(Mode<wide>::text), "r"(a), "r"(b));
    return result;
}
// Objects in registers are what they convert to, which their bytes are not.
template <class T> struct Less {
    T value;
    __device__ operator T() const { return value - 1; }
};
template <class T> __device__ int moved(T value) {
    int result;
    asm("mov.b32 %0, %1;" : "=r"(result) : "r"(value));
    return result;
}
__device__ int converted(Less<short> a, Less<long long> b, Less<float> c, Less<int *> d) {
    short half;
    long long wide, place;
    float single;
    asm("mov.b16 %0, %1;" : "=h"(half) : "h"(a));
    asm("mov.b64 %0, %2;\n\tmov.b64 %1, %3;" : "=l"(wide), "=l"(place) : "l"(b), "l"(d));
    asm("mov.f32 %0, %1;" : "=f"(single) : "f"(c));
    return half + int(wide) + int(single) + (place == (long long)(d.value - 1)) + moved(Less<int>{31}) + moved(2);
}
__global__ void instructions(int *out) {
    *out = plus(product<false>(6, 7), Number<3>()) + converted({501}, {601}, {701.0f}, {out});
}

// Addresses of the runtime's templates.
template <class T> T *allocated(size_t count) {
    T *p = nullptr;
    auto function = &cudaMalloc<T>;
    return function(&p, count * sizeof(T)) == cudaSuccess ? p : nullptr;
}

main(int argc, char **argv, Communicator communicator, int more) {
    int *out = allocated<int>(8);
    Later *later = allocated<Later>(2), values[2] = {{10}, {20}};
    cudaMemcpy(later, values, sizeof values, cudaMemcpyHostToDevice);
    known_later<<<1, 1>>>(later, out);
    steps<<<1, 1>>>(out + 1);
    pairs<<<1, 1>>>(out + 2);
#if __cplusplus >= 202002L
    both(later, later + 1);
#endif
    defaults<<<1, 1>>>(out + 3);
    shared<<<1, 32, 128>>>(out + 4);
    instructions<<<1, 1>>>(out + 5);
    int results[6];
    cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost);
    cudaMemcpy(values, later, sizeof values, cudaMemcpyDeviceToHost);
    const int expected[] = {10 + 22 + 20 + 1 + 10 + 21 + 1000, 400 + 7 + 13, 7 + 20, 20 + 103, 7 + 20 + 1 + 31 + 300 + 128, 45 + 500 + 600 + 700 + 1 + 30 + 2};
    bool passes = values[0].value == (__cplusplus >= 202002L ? 41 : 10);
    for (int i = 0; i < 6; i++) {
        if (results[i] != expected[i]) printf("%d: %d, not %d\n", i, results[i], expected[i]);
        passes = passes && results[i] == expected[i];
    }
    puts(passes ? "PASS" : "FAIL");
    if (!passes) return 1;
}
