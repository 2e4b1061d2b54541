// A host side that is large enough to be compiled in parts, with all that such a cut may go through.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void add(int *sums, int value) { sums[threadIdx.x] += value; }

// Constructors run in this order.
struct Announced {
    const char *name;
    explicit Announced(const char *name);
    ~Announced();
    virtual int twice(int value) const;
};
static Announced first("first");

static int calls;
static thread_local int own_calls = 7;
static const int table[] = {3, 1, 4, 1, 5, 9, 2, 6};

inline int &shared_count() {
    static int count = 100;
    return count;
}

template <typename T> struct Registered {
    static std::string name;
};
template <typename T> std::string Registered<T>::name = std::string("registered ") + std::to_string(sizeof(T));

// The destructor of an object, and the one that also gives its memory back, are in one group of sections.
template <typename T> struct Held {
    T *value;
    explicit Held(T of) : value(new T(of)) {}
    virtual ~Held();
};
template <typename T> Held<T>::~Held() {
    std::printf("held %d\n", int(*value));
    delete value;
}
template struct Held<int>;

static int helper(int value) { return value + table[value & 7] + ++own_calls; }

#define STEP(n, k) value = value * 31 + n; value ^= value >> (k % 7 + 1); value += table[value & 7] << (k % 3);
#define WORK(n)                                                              \
    __attribute__((noinline)) int work##n(int value) {                       \
        ++calls;                                                             \
        STEP(n, 1) STEP(n, 2) STEP(n, 3) STEP(n, 4) STEP(n, 5) STEP(n, 6)    \
        if (value % 1000 == 999) throw std::runtime_error("number " #n);     \
        if (n % 5 == 0) value = helper(value);                               \
        if (n % 7 == 0) value += ++shared_count();                           \
        if (n % 11 == 0) std::printf("%s %d\n", __func__, value & 255);      \
        return value & 0xffff;                                               \
    }
#define TEN(n) WORK(n##0) WORK(n##1) WORK(n##2) WORK(n##3) WORK(n##4) WORK(n##5) WORK(n##6) WORK(n##7) WORK(n##8) WORK(n##9)
TEN(1) TEN(2)

Announced::Announced(const char *name) : name(name) { std::printf("begin %s, %d calls\n", name, calls); }
Announced::~Announced() { std::printf("end %s, %d calls\n", name, calls); }
int Announced::twice(int value) const { return 2 * value; }

static Announced second("second");

TEN(3) TEN(4) TEN(5)

__attribute__((weak)) int may_be_replaced(int value) { return value + 1; }
extern "C" int under_another_name(int value) { return value - 1; }
extern "C" int by_alias(int value) __attribute__((alias("under_another_name")));

#define NAME(n) work##n,
#define NAMES(n) NAME(n##0) NAME(n##1) NAME(n##2) NAME(n##3) NAME(n##4) NAME(n##5) NAME(n##6) NAME(n##7) NAME(n##8) NAME(n##9)
static int (*const workers[])(int) = {NAMES(1) NAMES(2) NAMES(3) NAMES(4) NAMES(5)};

static void launches(int *sums, int value) {
    add<<<1, 32>>>(sums, value);
    add<<<1, 32>>>(sums, value + 1);
}

TEN(6)

int main() {
    int *sums, value = 5;
    cudaMalloc(&sums, 32 * sizeof(int));
    cudaMemset(sums, 0, 32 * sizeof(int));
    for (auto work : workers) {
        try {
            value = work(value);
        } catch (const std::runtime_error &error) {
            std::printf("%s\n", error.what());
            value = 17;
        }
    }
    value = work60(work61(work10(value)));
    launches(sums, value);
    add<<<1, 32>>>(sums, calls);
    std::vector<int> copy(32);
    cudaMemcpy(copy.data(), sums, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    const Announced third("third");
    Held<int> *volatile held = new Held<int>(calls);
    delete held;
    std::printf("%d %d %d %d %d\n", value, copy[3], calls, own_calls, shared_count());
    std::printf("%s, %s, %d %d %d\n", Registered<int>::name.c_str(), Registered<char>::name.c_str(), third.twice(4),
                may_be_replaced(1), by_alias(1));
    return workers[3] == work13 ? 0 : 1;
}
