// Two names for one buffer that only the host knows of: through structs, vectors, pointers to
// pointers, integers, conditional expressions, swaps, functions, overlapping sub-ranges.
//
// expect: 25 launches -> 20
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

constexpr int count = 512, threads = 64, blocks = count / threads;

__global__ void scale(float *y, const float *x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = by * x[i];
}

// Reads what another block may have written; of a buffer that is surely another one, in reversed blocks.
__global__ void turn(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[count - 1 - i] + 1.0f;
}

__global__ void add(float *z, const float *x, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    z[i] = x[i] + y[i];
}

struct Views {
    float *in;
    float *out;
    Views *next;
};

struct Tensor {
    std::shared_ptr<float> data;
    int offset;
    float *pointer() const { return data.get() + offset; }
    explicit Tensor(int n) : offset(0) {
        float *raw;
        cudaMalloc(&raw, n * sizeof(float));
        data.reset(raw, [](float *p) { cudaFree(p); });
    }
    Tensor view(int by) const {
        Tensor result(*this);
        result.offset += by;
        return result;
    }
};

static int wrong = 0;
static float host[2 * count];

static void fill(float *device, int n) {
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);
}

template <class Expected> static void expect(const float *device, Expected value, const char *what) {
    std::vector<float> found(count);
    cudaMemcpy(found.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) {
        if (found[i] != value(i)) {
            printf("%s: element %d is %g, not %g\n", what, i, found[i], (float)value(i));
            wrong++;
            return;
        }
    }
}

__attribute__((noinline)) static float *same(float *p) { return p; }
__attribute__((noinline)) static void store(float **where, float *what) { *where = what; }
__attribute__((noinline)) static void step(float *y, const float *x, float *z) {
    scale<<<blocks, threads>>>(y, x, 2.0f);
    turn<<<blocks, threads>>>(z, y);
}

int main(int argc, char **) {
    float *a, *b, *c;
    cudaMalloc(&a, 2 * count * sizeof(float));
    cudaMalloc(&b, 2 * count * sizeof(float));
    cudaMalloc(&c, 2 * count * sizeof(float));
    auto turned = [](int i) { return 2.0f * (count - 1 - i) + 1.0f; };

    // Disjoint, but for the second call.
    fill(a, count);
    step(b, a, c);
    expect(c, turned, "disjoint");
    fill(a, count);
    scale<<<blocks, threads>>>(b, a, 3.0f);
    add<<<blocks, threads>>>(same(b), a, b);
    expect(b, [](int i) { return 4.0f * i; }, "in place");

    // Through structs and lists.
    Views second{b, c, nullptr}, first{a, b, &second};
    second.next = argc > 1 ? &first : nullptr;
    fill(a, count);
    scale<<<blocks, threads>>>(first.out, first.in, 2.0f);
    turn<<<blocks, threads>>>(first.next->out, first.next->in);
    expect(c, turned, "list");

    // Through bytes, integers, and a pointer to a pointer.
    uintptr_t bits = (uintptr_t)a ^ 0x55;
    float *through_bits = (float *)(bits ^ 0x55), *through_bytes, *through_pointer = c;
    memcpy(&through_bytes, &b, sizeof b);
    store(&through_pointer, b);
    fill(a, count);
    scale<<<blocks, threads>>>(through_bytes, through_bits, 2.0f);
    turn<<<blocks, threads>>>(c, through_pointer);
    expect(c, turned, "bits and bytes");

    // One of two, chosen at run time.
    float *chosen = argc > 1 ? c : b;
    fill(a, count);
    scale<<<blocks, threads>>>(b, a, 2.0f);
    turn<<<blocks, threads>>>(c, chosen);
    expect(c, turned, "chosen");

    // Sub-ranges that overlap in part: element i of one is element i + 1 of the other.
    fill(a, 2 * count);
    float *later = a + argc;
    scale<<<blocks, threads>>>(b, later, 1.0f);
    scale<<<blocks, threads>>>(later, b, 2.0f);
    scale<<<blocks, threads>>>(c, a, 1.0f);
    expect(c, [](int i) { return i == 0 ? 0.0f : 2.0f * i; }, "overlap");
    fill(a, 2 * count);
    scale<<<blocks, threads>>>(a + count, a, 2.0f);
    scale<<<blocks, threads>>>(b, a + count / 2, 1.0f);
    scale<<<blocks, threads>>>(c, b + argc - 1, 1.0f);
    expect(c, [](int i) { return i < count / 2 ? i + count / 2 : 2.0f * (i - count / 2); }, "halves");

    // Ping-pong.
    fill(a, count);
    float *from = a, *to = b;
    for (int round = 0; round < 3; round++) {
        turn<<<blocks, threads>>>(to, from);
        std::swap(from, to);
        scale<<<blocks, threads>>>(to, from, 2.0f);
        std::swap(from, to);
    }
    expect(from, [](int i) {
        float value[2] = {(float)i, (float)(count - 1 - i)};
        for (int round = 0; round < 3; round++) {
            float old = value[0];
            value[0] = 2.0f * (value[1] + 1.0f);
            value[1] = 2.0f * (old + 1.0f);
        }
        return value[0];
    }, "ping-pong");

    // Containers and closures.
    std::vector<float *> list{a, b, c};
    std::map<int, float *> map{{1, b}, {2, a}, {3, b}};
    fill(a, count);
    scale<<<blocks, threads>>>(list[1], map[2], 2.0f);
    turn<<<blocks, threads>>>(list[2], map[2 + argc]);
    expect(c, turned, "containers");
    std::function<void(float *, const float *)> twice = [](float *y, const float *x) { scale<<<blocks, threads>>>(y, x, 2.0f); };
    std::function<void(float *, const float *)> other = [](float *y, const float *x) { turn<<<blocks, threads>>>(y, x); };
    fill(a, count);
    twice(b, a);
    other(c, b);
    expect(c, turned, "closures");

    // Views that share ownership.
    {
        Tensor whole(2 * count);
        Tensor half = whole.view(count), overlapping = whole.view(count / 2);
        fill(whole.pointer(), 2 * count);
        scale<<<blocks, threads>>>(half.pointer(), whole.pointer(), 2.0f);
        scale<<<blocks, threads>>>(c, overlapping.pointer(), 1.0f);
        expect(c, [](int i) { return i < count / 2 ? i + count / 2 : 2.0f * (i - count / 2); }, "views");
    }

    puts(wrong == 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
