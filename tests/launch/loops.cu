// test: launch
// Loops as data: counters, domains with run-time and triangular bounds, arguments and pointers that
// are functions of the counters, pointers that change places.

#include <cstddef>
#include <utility>

__global__ void row(float *a, int k, int n) { a[k * n + threadIdx.x] += 1; }
__global__ void step(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void scale(float *a, float s) { a[threadIdx.x] *= s; }

static void triangular(float *a, int n) {
    for (int k = 0; k < n - 1; k++)
        for (int j = n - 1; j > k; j -= 2)
            row<<<1, 64>>>(a + k * 16, j, n);
}

static void slices(float *a, size_t slices, size_t stride) {
    for (size_t t = 0; t < slices; t += 1) scale<<<1, 64>>>(a + t * stride, 2.0f);
    float *at = a;
    unsigned done = 0;
    while (done < 40u) {
        scale<<<1, 64>>>(at, 3.0f);
        at += 64;
        done += 5;
    }
}

static void sweeps(float *&from, float *&to, int times) {
    int left = times;
    do {
        step<<<1, 64>>>(from, to);
        std::swap(from, to);
    } while (--left > 0);
}

struct Field {
    float *now, *before, *oldest;
    int steps;
    void advance() {
        for (int t = 1; t <= steps; ++t) {
            step<<<1, 64>>>(now, oldest);
            float *last = oldest;
            oldest = before;
            before = now;
            now = last;
            if (cudaGetLastError() != cudaSuccess) break;
        }
    }
};

// The bound changes in the loop; the step depends on data; a pointer does not always change places.
static void unclear(float *a, float *b, int *limit, int n) {
    for (int i = 0; i < *limit; ++i) {
        scale<<<1, 64>>>(a + i, 1.0f);
        *limit += n;
    }
    for (int i = 1; i < n; i *= 2) scale<<<1, 64>>>(a, float(i));
    for (int i = 0; i < n; ++i) {
        step<<<1, 64>>>(a, b);
        if (limit[i]) std::swap(a, b);
    }
    for (unsigned i = 3; i != 2u + unsigned(n); i += 3) scale<<<1, 64>>>(a + i, 1.0f);
}

int main(int argc, char **argv) {
    float *a, *b, *c;
    cudaMalloc(&a, 4096 * argc);
    cudaMalloc(&b, 4096 * argc);
    cudaMalloc(&c, 4096 * argc);
    triangular(a, argc);
    slices(a, argc, 1024);
    sweeps(a, b, argc);
    Field field{a, b, c, argc};
    field.advance();
    int limit[64] = {argc};
    unclear(a, b, limit, argc);
    cudaDeviceSynchronize();
    return 0;
}

//> buffer b0 a Device bytes=(v5 * 4096) unique
//> buffer b1 b Device bytes=(v5 * 4096) unique
//> buffer b2 c Device bytes=(v5 * 4096) unique
//> value v0 = 1 from L0.grid0
//> value v1 = 64 from L0.block0
//> value v2 = 0 from L0.shared
//> value v3 from L0.argument0+0:s64 varies in loop0
//> value v4 from L0.argument1+0:s32 varies in loop2
//> value v5 from L0.argument2+0:s32
//> value v6 from L1.argument0+0:s64 varies in loop3
//> value v7 = 1073741824 from L1.argument1+0:s32
//> value v8 from L2.argument0+0:s64 varies in loop4
//> value v9 = 1077936128 from L2.argument1+0:s32
//> value v10 from L3.argument0+0:s64 varies in loop9
//> value v11 from L3.argument1+0:s64 varies in loop9
//> value v12 from L4.argument0+0:s64 varies in loop1
//> value v13 from L4.argument1+0:s64 varies in loop1
//> value v14 from L5.argument0+0:s64 varies in loop5
//> value v15 = 1065353216 from L5.argument1+0:s32
//> value v16 from L6.argument0+0:s64
//> value v17 from L6.argument1+0:s32 varies in loop6
//> value v18 from L7.argument0+0:s64 varies in loop7
//> value v19 from L7.argument1+0:s64 varies in loop7
//> value v20 from L8.argument0+0:s64 varies in loop8
//> value v21 varies in loop0
//> value v22 varies in loop1
//> value v23 varies in loop2
//> value v24 varies in loop3
//> value v25 varies in loop4
//> value v26 varies in loop5
//> value v27 varies in loop6
//> value v28 varies in loop7
//> value v29 varies in loop8
//> value v30 varies in loop9
//> value v31
//> value v32 varies in loop6
//> value v33 varies in loop8
//> value v34
//> value v35
//> value v36
//> value v37 varies in loop8
//> value v38
//> v4 is ((v5 + -1) + (v23 * -2))
//> v8 is (v35 + (v25 * 256))
//> *v3 is b0+((v21 * 16) * 4)
//> *v6 is b0+(v24 * 4096)
//> *v8 is b0+(v25 * 256)
//> *v10 is b0+0 then b1+0 in turns of loop9
//> *v11 is b1+0 then b0+0 in turns of loop9
//> *v12 is *v16+0 then b2+0 then *v36+0 in turns of loop1
//> *v13 is b2+0 then *v36+0 then *v16+0 in turns of loop1
//> *v14 is *v16+(v26 * 4)
//> *v20 is *v38+(v37 * 4)
//> loop0 header=block1 counter=v21 passes max((v5 + -1), 0) at block1
//> loop1 header=block15 counter=v22 passes at most max(((v5 - 1) + 1), 0) at block15
//> loop2 header=block3 in loop0 counter=v23 passes max(((((v5 + -1) - v21) + 1) / 2), 0) at block3
//> loop3 header=block7 counter=v24 passes max(v31, 0) at block7
//> loop4 header=block10 trip=8 counter=v25 passes 8 at block10
//> loop5 header=block19 counter=v26
//> loop6 header=block22 counter=v27
//> loop7 header=block25 counter=v28 passes max(v5, 0) at block25
//> loop8 header=block28 counter=v29
//> loop9 header=block13 counter=v30 passes max((v5 - 1), 0) at block13
//> function main
//> block0 -> block1
//>   n0 allocation b0 @68
//>   n1 allocation b1 @69
//>   n2 allocation b2 @70
//> block1 in loop0 -> block2 block6
//> block2 in loop0 -> block3
//> block3 in loop2 -> block4 block5
//> block4 in loop2 -> block3
//>   n3 launch L0 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=b0+?, v4, v5) @15
//> block5 in loop0 -> block1
//> block6 -> block7
//> block7 in loop3 -> block8 block9
//> block8 in loop3 -> block7
//>   n4 launch L1 kernel2 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v6=b0+?, v7) @19
//> block9 -> block10
//> block10 in loop4 -> block11 block12
//> block11 in loop4 -> block10
//>   n5 launch L2 kernel2 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v8=*v8{b0,b1}, v9) @23
//> block12 -> block13
//> block13 in loop9 -> block13 block14
//>   n6 launch L3 kernel1 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v10=*v10{b0,b1}, v11=*v11{b0,b1}) @32
//> block14 -> block15
//> block15 in loop1 -> block18 block16
//> block16 in loop1 -> block17 block18
//>   n7 launch L4 kernel1 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v12=*v12{b0,b1,b2}, v13=*v13{b0,b1,b2}) @42
//>   n8 check @47
//> block17 in loop1 -> block15
//> block18 -> block19
//> block19 in loop5 -> block20 block21
//> block20 in loop5 -> block19
//>   n9 launch L5 kernel2 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v14=*v14{b0,b1}, v15) @55
//> block21 -> block22
//> block22 in loop6 -> block23 block24
//> block23 in loop6 -> block22
//>   n10 launch L6 kernel2 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v16=*v16{b0,b1}, v17) @58
//> block24 -> block25
//> block25 in loop7 -> block26 block27
//> block26 in loop7 -> block25
//>   n11 launch L7 kernel1 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v18=*v18{b0,b1}, v19=*v19{b0,b1}) @60
//> block27 -> block28
//> block28 in loop8 -> block30 block29
//> block29 in loop8 -> block28
//>   n12 launch L8 kernel2 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v20=*v20{b0,b1}, v15) @63
//> block30 -> 
//>   n13 synchronise @78
