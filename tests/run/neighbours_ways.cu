// Ways that a kernel says nobody goes and numbers that it says never come bind that kernel alone: what others
// compute of the same numbers stays right, before it and after it. What such a kernel itself makes of numbers that
// never come is nobody's business: another compiler leaves it out.
//
// options: --sirius-layout=v
// arguments: -5
// arguments: 2
// expect: 17 launches -> 6
#include <cstdio>
#include <cstdlib>

constexpr int threads = 64, blocks = 3, count = threads * blocks;

__device__ int index() { return blockIdx.x * threads + threadIdx.x; }

__global__ void describe(int *out, int x) { out[index()] = x / 2 + (x >> 31) * 1000 + (x < -1 ? 5 : 0); }

__global__ void not_negative(int *out, int x) {
    if (x < 0) __builtin_unreachable();
    out[index()] = index();
}

__global__ void assumed(int *out, int x) {
    __builtin_assume(x >= 0);
    out[index()] = 2 * index();
}

// The end of a function with a result that nobody is to come to.
enum Kind { first, second, third };
__device__ float weight(Kind kind) {
    switch (kind) {
    case first: return 1;
    case second: return 2;
    case third: return 3;
    }
    __builtin_unreachable();
}
__global__ void weigh(int *out, Kind kind) { out[index()] = weight(kind) != weight(kind) ? 4 : 5; }
__global__ void known_kind(int *out, Kind kind) { out[index()] = unsigned(kind) < 3 ? 11 : 12; }

// What is stored is not what the reader may find there. What is not zero is true, as with nvcc.
__global__ void bytes(char *out, int *large, const int *in) {
    char value = char(in[index()]);
    out[index()] = value;
    large[index()] = value > 1 ? 10 : value;
}
__global__ void read_as_truth(int *out, const bool *in) { out[index()] = in[index()] ? 3 : 4; }

struct Place {
    float &at;
};
__global__ void addresses(float **out, int *known, float *at) {
    out[index()] = at;
    known[index()] = at == nullptr;
}
__global__ void read_as_place(int *out, const Place *in) {
    float *at = &in[index()].at;
    out[index()] = at == nullptr ? 7 : 7;
}

// A number that some never set, and that decides about a way.
__global__ void seldom_set(int *out, const int *in, int x) {
    int chosen;
    for (int k = 0; k < 4; k++)
        if (in[index()] + k < x) chosen = k;
    if (chosen > 2) out[index()] = 1;
    out[index()] = 2;
}

template <class T> static T *allocate() {
    void *at;
    cudaMalloc(&at, 8 * count);
    cudaMemset(at, 0, 8 * count);
    return (T *)at;
}

static int wrong = 0;

template <class Expected> static void expect(const char *what, const int *device, Expected expected) {
    int host[count];
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        if (host[i] != expected(i)) {
            printf("%s: element %d is %d\n", what, i, host[i]);
            wrong++;
            return;
        }
    }
}

int main(int argc, char **arguments) {
    int x = argc > 1 ? atoi(arguments[1]) : -1000;
    int *before = allocate<int>(), *own = allocate<int>(), *after = allocate<int>(), *in = allocate<int>();
    auto described = [=](int) { return x / 2 + (x < 0 ? -1000 : 0) + (x < -1 ? 5 : 0); };

    describe<<<blocks, threads>>>(before, x);
    not_negative<<<blocks, threads>>>(own, x);
    describe<<<blocks, threads>>>(after, x);
    expect("before an end", before, described);
    if (x >= 0) expect("with an end", own, [](int i) { return i; });
    expect("after it", after, described);

    describe<<<blocks, threads>>>(before, x);
    assumed<<<blocks, threads>>>(own, x);
    describe<<<blocks, threads>>>(after, x);
    expect("before a promise", before, described);
    if (x >= 0) expect("with a promise", own, [](int i) { return 2 * i; });
    expect("after it", after, described);

    Kind kind = Kind(x < 0 ? 6 : 2);
    auto known = [=](int) { return x < 0 ? 12 : 11; };
    known_kind<<<blocks, threads>>>(before, kind);
    weigh<<<blocks, threads>>>(own, kind);
    known_kind<<<blocks, threads>>>(after, kind);
    expect("before a switch", before, known);
    if (x >= 0) expect("with a switch", own, [](int) { return 5; });
    expect("after it", after, known);
    cudaMemset(own, 0, 8 * count);

    describe<<<blocks, threads>>>(in, 16);
    cudaDeviceSynchronize();
    bytes<<<blocks, threads>>>((char *)own, before, in);
    read_as_truth<<<blocks, threads>>>(after, (bool *)own);
    expect("bytes as truth", after, [](int) { return 3; });
    expect("which of the bytes are large", before, [](int) { return 10; });
    expect("bytes", own, [](int i) { return i < count / 4 ? 0x08080808 : 0; });
    cudaMemset(after, 0, 8 * count);

    float **pointers = allocate<float *>();
    addresses<<<blocks, threads>>>(pointers, before, x < 0 ? nullptr : (float *)in);
    read_as_place<<<blocks, threads>>>(own, (Place *)pointers);
    expect("which are null", before, [=](int) { return x < 0; });
    expect("of places", own, [](int) { return 7; });
    cudaMemset(pointers, 0, 8 * count), cudaMemset(own, 0, 8 * count);

    describe<<<blocks, threads>>>(before, x);
    seldom_set<<<blocks, threads>>>(own, in, x);
    describe<<<blocks, threads>>>(after, x);
    expect("before what is not set", before, described);
    expect("with it", own, [](int) { return 2; });
    expect("after it", after, described);
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
