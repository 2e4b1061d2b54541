// test: launch
//
// Copies, sets and frees in loops have their places as functions of the counters, as launches have:
// parts of one allocation, a pointer that is advanced, buffers that change places.
#include <utility>

__global__ void twice(float *data) { data[threadIdx.x] *= 2.0f; }

int main(int count, char **words) {
    float host[64] = {};
    float *all, *other;
    cudaMalloc(&all, 65536);
    cudaMalloc(&other, 65536);
    for (int i = 0; i < count; ++i) {
        cudaMemcpy(all + 64 * i, host, 256, cudaMemcpyHostToDevice);
        twice<<<1, 64>>>(all + 64 * i);
    }
    float *at = all;
    for (int i = 0; i < 8; ++i) {
        cudaMemset(at, 0, 256);
        at += 64;
    }
    float *from = all, *to = other;
    for (int i = 0; i < count; ++i) {
        cudaMemcpy(to, from, 65536, cudaMemcpyDeviceToDevice);
        std::swap(from, to);
    }
    float *many[40];
    for (int i = 0; i < 40; ++i) cudaMalloc(&many[i], 256);
    for (int i = 0; i < 40; ++i) cudaFree(many[i]);
    cudaFree(all);
    cudaFree(other);
    return 0;
}

//> buffer b0 all Device bytes=65536 unique
//> buffer b1 other Device bytes=65536 unique
//> buffer b2 many[…] Device bytes=256
//> value v0 = 1 from L0.grid0
//> value v1 = 64 from L0.block0
//> value v2 = 0 from L0.shared
//> value v3 from L0.argument0+0:s64 varies in loop0
//> value v4 varies in loop1
//> value v5 varies in loop2
//> value v6 varies in loop2
//> value v7 varies in loop4
//> value v8 varies in loop0
//> value v9 varies in loop1
//> value v10 varies in loop2
//> value v11 varies in loop3
//> value v12 varies in loop4
//> value v13
//> value v14
//> v4 is (v14 + (v9 * 256))
//> *v3 is b0+((v8 * 64) * 4)
//> *v4 is b0+(v9 * 256)
//> *v5 is b0+0 then b1+0 in turns of loop2
//> *v6 is b1+0 then b0+0 in turns of loop2
//> loop0 header=block1 counter=v8 passes max(v13, 0) at block1
//> loop1 header=block4 trip=8 counter=v9 passes 8 at block4
//> loop2 header=block7 counter=v10 passes max(v13, 0) at block7
//> loop3 header=block10 trip=40 counter=v11 passes 40 at block10
//> loop4 header=block13 trip=40 counter=v12 passes 40 at block13
//> function main
//> block0 -> block1
//>   n0 allocation b0 @12
//>   n1 allocation b1 @13
//> block1 in loop0 -> block2 block3
//> block2 in loop0 -> block1
//>   n2 copy stream=default writes b0+? bytes=256 host by v3 @15
//>   n3 launch L0 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=b0+?) @16
//> block3 -> block4
//> block4 in loop1 -> block5 block6
//> block5 in loop1 -> block4
//>   n4 set stream=default writes b0+? bytes=256 by v4 @20
//> block6 -> block7
//> block7 in loop2 -> block8 block9
//> block8 in loop2 -> block7
//>   n5 copy stream=default reads *v5{b0,b1} bytes=65536 writes *v6{b0,b1} bytes=65536 host by v5 by v6 @25
//> block9 -> block10
//> block10 in loop3 -> block11 block12
//> block11 in loop3 -> block10
//>   n6 allocation b2 @29
//> block12 -> block13
//> block13 in loop4 -> block14 block15
//> block14 in loop4 -> block13
//>   n7 free *v7{b2} by v7 @30
//> block15 ->
//>   n8 free b0 @31
//>   n9 free b1 @32
