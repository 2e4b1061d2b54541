// test: launch
// Helpers with launches that are inlined late: `inner` is small enough once its own code is clean, `outer` once
// `inner` is in it and its code is clean, too. Each is called twice, so that one round marks as many calls as the
// round before; none that is marked may be left for the step that clones what is too large.
__global__ void scale(float *x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

#define TEN(x) x x x x x x x x x x
#define WORK(x) TEN(TEN(TEN(x x)))

static void inner(float *x, int n) {
    unsigned state = 1;
    WORK(state = state * 1664525u ^ 1013904223u;)
    scale<<<(n + 255) / 256, 256>>>(x, state & 1 ? 2.0f : 3.0f, n);
}

static void outer(float *x, float *y, int n) {
    unsigned state = 1;
    WORK(state = state * 22695477u ^ 1u;)
    if (state & 1) n -= 2;
    inner(x, n);
    inner(y, n);
}

int main(int count, char **) {
    int n = 1000 * count;
    float *a, *b, *c;
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    cudaMalloc(&c, n * 4);
    outer(a, b, n);
    outer(b, c, n);
    return 0;
}

//> buffer b0 a Device unique
//> buffer b1 b Device unique
//> buffer b2 c Device unique
//> value v0 from L0.grid0
//> value v1 = 1 from L0.grid1
//> value v2 = 256 from L0.block0
//> value v3 = 0 from L0.shared
//> value v4 from L0.argument0+0:s64
//> value v5 = 1073741824 from L0.argument1+0:s32
//> value v6 from L0.argument2+0:s32
//> value v7 from L1.argument0+0:s64
//> value v8 from L3.argument0+0:s64
//> function main
//> block0 ->
//>   n0 allocation b0 @30
//>   n1 allocation b1 @31
//>   n2 allocation b2 @32
//>   n3 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6) @16
//>   n4 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=b1, v5, v6) @16
//>   n5 launch L2 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=b1, v5, v6) @16
//>   n6 launch L3 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v8=b2, v5, v6) @16
