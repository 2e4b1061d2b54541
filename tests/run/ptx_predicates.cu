// Inline PTX with predicates, votes and carries: what sorts of cub write, what is loaded and stored only
// where a comparison holds, and sums of numbers that take several registers.
//
// expect: 5 launches -> 2
#include <cmath>
#include <cstdio>

constexpr int threads = 64;

// The lanes whose bit of the label is the same as one's own.
__global__ void matching(const unsigned *label, unsigned *same) {
    unsigned all = 0xffffffff;
    for (int bit = 0; bit < 3; bit++) {
        unsigned mask, one = 1u << bit;
        asm("{\n\t.reg .pred p;\n\tand.b32 %0, %1, %2;\n\tsetp.ne.u32 p, %0, 0;\n\t"
            "vote.ballot.sync.b32 %0, p, 0xffffffff;\n\t@!p not.b32 %0, %0;\n\t}\n"
            : "=r"(mask) : "r"(label[threadIdx.x]), "r"(one));
        all &= mask;
    }
    unsigned any, every;
    asm volatile("{ .reg .pred p, q, r; .reg .u32 lane; mov.u32 lane, %%laneid; setp.ge.u32 p, lane, 30; setp.eq.s32 q, %2, %2; and.pred r, p, q;\n"
                 "vote.sync.any.pred p, r, -1; vote.sync.all.pred q, r, -1; selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }"
                 : "=r"(any), "=r"(every) : "r"(threadIdx.x));
    same[threadIdx.x] = any == 1 && every == 0 ? all : 0;
}

// Loads, stores and adds only where a comparison holds; elsewhere the address leads nowhere.
__global__ void guarded(const float *x, float *y, int *count) {
    int i = threadIdx.x;
    const float *from = x[i] < 20.0f ? x + i : nullptr;
    float *to = i % 3 ? y + i : nullptr;
    float value = -1.0f;
    asm volatile("{ .reg .pred %%p; setp.lt.f32 %%p, %2, 0f41a00000; @%%p ld.global.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(from), "f"(x[i]) : "memory");
    asm volatile("{ .reg .pred p; setp.eq.u64 p, %0, 0; @!p st.global.f32 [%0], %1; }" ::"l"(to), "f"(value) : "memory");
    int before = 7;
    asm volatile("{ .reg .pred p; setp.nan.f64 p, %2, %2; @!p atom.global.add.s32 %0, [%1], 1; }"
                 : "+r"(before) : "l"(count), "d"(i < 10 ? double(NAN) : 1.0) : "memory");
    if (i < 10 && before != 7) y[0] = NAN;
}

// A sum and a difference of 96 bits, and a product of 64 bits by 32.
__global__ void carried(const unsigned *a, unsigned *out) {
    unsigned i = threadIdx.x, *o = out + 12 * i;
    unsigned x = a[i], y = a[(i + 1) % threads], z = a[(i + 2) % threads];
    asm("add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %4, %5; addc.u32 %2, %5, 0;" : "=&r"(o[0]), "=&r"(o[1]), "=&r"(o[2]) : "r"(x), "r"(y), "r"(z));
    asm("sub.cc.u32 %0, %3, %4; subc.cc.u32 %1, %4, %5; subc.u32 %2, %5, 1;" : "=&r"(o[3]), "=&r"(o[4]), "=&r"(o[5]) : "r"(x), "r"(y), "r"(z));
    asm("{ mul.lo.u32 %0, %3, %5; mul.hi.u32 %1, %3, %5; mad.lo.cc.u32 %1, %4, %5, %1; madc.hi.u32 %2, %4, %5, 0; }"
        : "=&r"(o[6]), "=&r"(o[7]), "=&r"(o[8]) : "r"(x), "r"(y), "r"(z));
    asm("{ .reg .s32 t; min.s32 t, %3, %4; max.u32 %0, %3, %4; neg.s32 %1, t; shr.s32 t, t, 40; shl.b32 %2, %3, 32; add.s32 %2, %2, t; }"
        : "=&r"(o[9]), "=&r"(o[10]), "=&r"(o[11]) : "r"(x), "r"(y));
}

__global__ void doubled(float *y) { y[threadIdx.x] *= 2; }

// Half of the threads end before the barrier; the kernel stays alone.
__global__ void ends_early(float *y) {
    if (threadIdx.x % 2) {
        y[threadIdx.x] += 1;
        asm volatile("exit;");
    }
    __syncthreads();
    y[threadIdx.x] += 2;
}

int main() {
    unsigned label[threads], same[threads], a[threads], out[12 * threads];
    float x[threads], y[threads] = {};
    for (int i = 0; i < threads; i++) {
        label[i] = i * i % 7, a[i] = i * 2654435761u, x[i] = i * 0.75f;
    }
    unsigned *d_label, *d_same, *d_a, *d_out;
    float *d_x, *d_y;
    int *d_count, count = 0;
    cudaMalloc(&d_label, sizeof label), cudaMalloc(&d_same, sizeof same), cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_out, sizeof out), cudaMalloc(&d_x, sizeof x), cudaMalloc(&d_y, sizeof y), cudaMalloc(&d_count, 4);
    cudaMemcpy(d_label, label, sizeof label, cudaMemcpyHostToDevice);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemset(d_y, 0, sizeof y), cudaMemset(d_count, 0, 4);
    matching<<<1, threads>>>(d_label, d_same);
    guarded<<<1, threads>>>(d_x, d_y, d_count);
    carried<<<1, threads>>>(d_a, d_out);
    doubled<<<1, threads>>>(d_y);
    ends_early<<<1, threads>>>(d_y);
    cudaMemcpy(same, d_same, sizeof same, cudaMemcpyDeviceToHost);
    cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaMemcpy(&count, d_count, 4, cudaMemcpyDeviceToHost);
    int wrong = count != threads - 10;
    for (int i = 0; i < threads; i++) {
        unsigned alike = 0;
        for (int other = i / 32 * 32; other < i / 32 * 32 + 32; other++) alike |= unsigned(label[other] == label[i]) << other % 32;
        wrong += same[i] != alike;
        wrong += y[i] != (i % 3 ? 2 * (x[i] < 20 ? x[i] : -1.0f) : 0) + (i % 2 ? 1 : 2);
        using Wide = unsigned __int128;
        unsigned u = a[i], v = a[(i + 1) % threads], w = a[(i + 2) % threads];
        auto number = [](unsigned low, unsigned middle, unsigned high) { return low | Wide(middle) << 32 | Wide(high) << 64; };
        auto has = [&](int at, Wide value) {
            unsigned *o = out + 12 * i + at;
            return o[0] == unsigned(value) && o[1] == unsigned(value >> 32) && o[2] == unsigned(value >> 64);
        };
        wrong += !has(0, number(u, v, w) + number(v, w, 0));
        wrong += !has(3, number(u, v, w) - number(v, w, 1));
        wrong += !has(6, number(u, v, 0) * w);
        int less = int(u) < int(v) ? int(u) : int(v);
        unsigned *o = out + 12 * i + 9;
        wrong += o[0] != (u > v ? u : v) || o[1] != 0u - less || o[2] != unsigned(less < 0 ? -1 : 0);
    }
    printf("%s, %d wrong\n", wrong ? "FAIL" : "PASS", wrong);
    return wrong != 0;
}
