// Large structs by value, up to and beyond what two kernels may pass together, padding, empty
// structs, bit-fields, pointers inside of structs and arrays of them, references to host objects.
//
// expect: 24 launches -> 14
#include <cstdio>
#include <cstring>

constexpr int count = 256, threads = 64, blocks = count / threads;

template <int Words> struct Packet {
    int words[Words];
};

template <int Words> __global__ void apply(int *y, const int *x, Packet<Words> packet) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + packet.words[i % Words] + packet.words[Words - 1];
}

struct Nothing {};
struct Bits {
    unsigned low : 3, middle : 7;
    signed high : 5;
    bool flag;
    char name[3];
};
struct Buffers {
    short tag;
    int *out[3];
    const int *in;
    Bits bits;
};

__global__ void empty_and_bits(int *y, Nothing, const int *x, Bits bits, char small) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * (int)bits.low + bits.high + (bits.flag ? 1000 : 0) + bits.name[i % 3] + small;
}

__global__ void many_outputs(Buffers b, int which) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b.out[which][i] = b.in[i] + b.tag;
}

// Changes its own copy.
__global__ void own_copy(int *y, Packet<8> packet) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    packet.words[threadIdx.x % 8] += i;
    y[i] += packet.words[threadIdx.x % 8];
}

struct Functor {
    int by;
    __device__ int operator()(int value) const { return value * by; }
};

template <class Function> __global__ void map(int *y, const int *x, Function function) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = function(x[i]);
}

__global__ void scalars(int *y, bool a, signed char b, short c, int d, long long e, float f, double g, unsigned char h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = y[i] + a + b + c + d + (int)e + (int)f + (int)g + h;
}

static int wrong = 0;
static int host[count];

template <class Expected> static void expect(const int *device, Expected value, const char *what) {
    int found[count];
    cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        if (found[i] != value(i)) {
            printf("%s: element %d is %d, not %d\n", what, i, found[i], value(i));
            wrong++;
            return;
        }
    }
}

template <int Words> static void two(int *x, int *y, int *z, int by) {
    Packet<Words> packet;
    for (int k = 0; k < Words; k++) packet.words[k] = k * by;
    apply<Words><<<blocks, threads>>>(y, x, packet);
    packet.words[Words - 1] = 5;
    apply<Words><<<blocks, threads>>>(z, y, packet);
    memset(&packet, 0xff, sizeof packet);
    auto word = [=](int k) { return k * by; };
    expect(z, [&](int i) {
        int k = i % Words, last = Words - 1;
        return host[i] + word(k) + word(last) + (k == last ? 5 : word(k)) + 5;
    }, "packets");
}

int main(int argc, char **) {
    int *x, *y, *z;
    for (int i = 0; i < count; i++) host[i] = i;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMalloc(&z, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);

    two<1>(x, y, z, argc + 1);
    two<100>(x, y, z, argc + 1);
    two<400>(x, y, z, argc + 1);  // 3,2 KB together
    two<512>(x, y, z, argc + 1);  // just beyond 4 KB together
    two<900>(x, y, z, argc + 1);  // 7,2 KB together
    two<1000>(x, y, z, argc + 1); // 4,000 bytes each

    Bits bits = {5, 100, -3, argc == 1, {1, 2, 3}};
    empty_and_bits<<<blocks, threads>>>(y, Nothing(), x, bits, -7);
    bits.flag = false;
    bits.low++;
    empty_and_bits<<<blocks, threads>>>(z, {}, y, bits, 7);
    auto first = [](int i) { return 5 * i - 3 + 1000 + i % 3 + 1 - 7; };
    expect(z, [&](int i) { return 6 * first(i) - 3 + i % 3 + 1 + 7; }, "bits");

    Buffers buffers = {3, {x, y, z}, x, bits};
    many_outputs<<<blocks, threads>>>(buffers, argc);
    buffers.in = y;
    buffers.tag = -10;
    many_outputs<<<blocks, threads>>>(buffers, argc + 1);
    expect(z, [](int i) { return i - 7; }, "buffers");
    buffers.in = x;
    buffers.out[0] = z;
    many_outputs<<<blocks, threads>>>(buffers, 0);
    many_outputs<<<blocks, threads>>>(buffers, argc);
    expect(z, [](int i) { return i - 10; }, "buffers again");

    Packet<8> packet = {{1, 2, 3, 4, 5, 6, 7, 8}};
    cudaMemset(y, 0, sizeof host);
    own_copy<<<blocks, threads>>>(y, packet);
    own_copy<<<blocks, threads>>>(y, packet);
    expect(y, [](int i) { return 2 * (i + i % 8 + 1); }, "own copies");

    map<<<blocks, threads>>>(y, x, Functor{3});
    map<<<blocks, threads>>>(z, y, Functor{argc + 1});
    expect(z, [](int i) { return 6 * i; }, "functors");
    cudaMemset(y, 0, sizeof host);
    scalars<<<blocks, threads>>>(y, true, -1, -300, 70000, -5000000000ll, 2.5f, -3.75, 255);
    scalars<<<blocks, threads>>>(y, argc > 5, (signed char)(argc * 200), (short)(argc * 70000), argc, argc * 4294967297ll, 1e6f, 1e-3, (unsigned char)(argc * 511));
    int one = 1 - 1 - 300 + 70000 + (int)-5000000000ll + 2 - 3 + 255;
    int other = -56 + 4464 + 1 + 1 + 1000000 + 255;
    expect(y, [=](int) { return one + other; }, "scalars");
    if (cudaGetLastError() != cudaSuccess) wrong++;
    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
