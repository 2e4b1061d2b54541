// test: launch
//
// A kernel that is chosen at run time is launched through a pointer: a fence that says so. One that
// an array holds at a known place is an ordinary launch.
#include <cstdio>

__global__ void twice(float *data) { data[threadIdx.x] *= 2.0f; }
__global__ void half(float *data) { data[threadIdx.x] *= 0.5f; }

int main(int count, char **) {
    void (*const kernels[])(float *) = {twice, half};
    float *data;
    cudaMalloc(&data, 256);
    kernels[0]<<<1, 64>>>(data);
    kernels[count & 1]<<<1, 64>>>(data);
    kernels[1]<<<1, 64>>>(data);
    return cudaFree(data) != cudaSuccess;
}

//> buffer b0 data Device bytes=256 unique
//> value v0 = 1 from L0.grid0
//> value v1 = 64 from L0.block0
//> value v2 = 0 from L0.shared
//> value v3 from L0.argument0+0:s64
//> function main
//> block0 -> block1 block2
//>   n0 allocation b0 @13
//>   n1 launch L0 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=b0) @14
//>   n2 opaque __cudaPushCallConfiguration @15
//> block1 -> block2
//>   n3 opaque a launch of a kernel that only a pointer names @15
//> block2 -> 
//>   n4 launch L1 kernel1 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=b0) @16
//>   n5 free b0 @17
