// test: launch
// A helper with launches that is too large to be inlined is cloned for each context it is called in: its
// launches are of one buffer each. Calls with the same arguments share a clone, and so do the calls in a
// loop; recursion stays one function for all its callers.
__global__ void scale(float *x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

#define TEN(x) x x x x x x x x x x
#define WORK(x) TEN(TEN(TEN(x x x)))
static unsigned state = 1;

static void large(float *x, float *y, int n) {
    scale<<<(n + 255) / 256, 256>>>(x, 2.0f, n);
    WORK(state = state * 1664525u ^ 1013904223u;)
    scale<<<(n + 255) / 256, 256>>>(y, 3.0f, n);
}

// Larger still, and called twice: the calls in it are contexts of contexts.
static void larger(float *x, float *y, int n) {
    large(x, y, n);
    WORK(state = state * 22695477u ^ 1u;)
    cudaGetLastError();
}

static void again(float *x, int depth, int n) {
    scale<<<4, 256>>>(x, 4.0f, n);
    if (depth > 0) again(x, depth - 1, n);
}

int main(int count, char **) {
    int n = 1000 * count;
    float *a, *b, *c, *d;
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    cudaMalloc(&c, n * 4);
    cudaMalloc(&d, n * 4);
    large(a, b, n);
    for (int step = 0; step < count; ++step) large(a, b, n);
    larger(c, b, n);
    larger(d, b, n);
    again(a, count, n);
    again(b, count, n);
    return state == 0;
}

//> buffer b0 a Device unique
//> buffer b1 b Device unique
//> buffer b2 c Device unique
//> buffer b3 d Device unique
//> value v0 = 4 from L0.grid0
//> value v1 = 1 from L0.grid1
//> value v2 = 256 from L0.block0
//> value v3 = 0 from L0.shared
//> value v4 from L0.argument0+0:s64
//> value v5 = 1082130432 from L0.argument1+0:s32
//> value v6 from L0.argument2+0:s32
//> value v7 from L1.grid0
//> value v8 from L1.argument0+0:s64
//> value v9 = 1073741824 from L1.argument1+0:s32
//> value v10 from L1.argument2+0:s32
//> value v11 from L2.argument0+0:s64
//> value v12 = 1077936128 from L2.argument1+0:s32
//> value v13 from L3.grid0
//> value v14 from L3.argument0+0:s64
//> value v15 from L3.argument2+0:s32
//> value v16 from L4.argument0+0:s64
//> value v17 from L5.grid0
//> value v18 from L5.argument0+0:s64
//> value v19 from L5.argument2+0:s32
//> value v20 from L6.argument0+0:s64
//> value v21 varies in loop0
//> value v22
//> loop0 header=block1 counter=v21 passes max(v22, 0) at block1
//> function main
//> block0 -> block1
//>   n0 allocation b0 @35
//>   n1 allocation b1 @36
//>   n2 allocation b2 @37
//>   n3 allocation b3 @38
//>   n4 opaque _ZL5largePfS_i.context.4 @39
//> block1 in loop0 -> block2 block3
//> block2 in loop0 -> block1
//>   n5 opaque _ZL5largePfS_i.context.4 @40
//> block3 -> 
//>   n6 opaque _ZL6largerPfS_i.context.1 @41
//>   n7 opaque _ZL6largerPfS_i.context.0 @42
//>   n8 opaque _ZL5againPfii @43
//>   n9 opaque _ZL5againPfii @44
//> function _ZL5againPfii repeated
//> block4 -> block5 block6
//>   n10 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=*v4{b0,b1}, v5, v6) @28
//> block5 -> block6
//>   n11 opaque _ZL5againPfii @29
//> block6 -> 
//> function _ZL6largerPfS_i.context.0
//> block7 -> 
//>   n12 opaque _ZL5largePfS_i.context.2 @22
//>   n13 check @24
//> function _ZL6largerPfS_i.context.1
//> block8 -> 
//>   n14 opaque _ZL5largePfS_i.context.3 @22
//>   n15 check @24
//> function _ZL5largePfS_i.context.2
//> block9 -> 
//>   n16 launch L1 kernel0 <<<(v7,v1,v1),(v2,v1,v1),v3,stream=default>>>(v8=b3, v9, v10) @15
//>   n17 launch L2 kernel0 <<<(v7,v1,v1),(v2,v1,v1),v3,stream=default>>>(v11=b1, v12, v10) @17
//> function _ZL5largePfS_i.context.3
//> block10 -> 
//>   n18 launch L3 kernel0 <<<(v13,v1,v1),(v2,v1,v1),v3,stream=default>>>(v14=b2, v9, v15) @15
//>   n19 launch L4 kernel0 <<<(v13,v1,v1),(v2,v1,v1),v3,stream=default>>>(v16=b1, v12, v15) @17
//> function _ZL5largePfS_i.context.4 repeated
//> block11 -> 
//>   n20 launch L5 kernel0 <<<(v17,v1,v1),(v2,v1,v1),v3,stream=default>>>(v18=b0, v9, v19) @15
//>   n21 launch L6 kernel0 <<<(v17,v1,v1),(v2,v1,v1),v3,stream=default>>>(v20=b1, v12, v19) @17
