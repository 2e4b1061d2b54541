// test: launch
//
// With managed memory in the program, the host's reads and writes of what it allocated for both are
// accesses; those of its own globals and of its arguments are not, though others can reach them too.
#include <cstdio>

int rounds;
float *table[2];
float *shared;

__global__ void twice(float *data) { data[threadIdx.x] *= 2.0f; }

int main(int count, char **words) {
    cudaMallocManaged(&shared, 256);
    cudaMalloc(&table[0], 256);
    printf("%s\n", words[0]);
    twice<<<1, 64>>>(shared);
    rounds = count;
    twice<<<1, 64>>>(table[count & 1]);
    rounds += 2;
    twice<<<1, 64>>>(table[0]);
    cudaDeviceSynchronize();
    shared[3] = 1.0f;
    twice<<<1, 64>>>(shared);
    cudaDeviceSynchronize();
    return rounds + (shared[3] > 0.0f);
}

//> buffer b0 shared Managed bytes=256 unique
//> buffer b1 table Device bytes=256 unique
//> value v0 = 1 from L0.grid0
//> value v1 = 64 from L0.block0
//> value v2 = 0 from L0.shared
//> value v3 from L0.argument0+0:s64
//> value v4 from L1.argument0+0:s64
//> value v5 from L2.argument0+0:s64
//> function main
//> block0 ->
//>   n0 allocation b0 @14
//>   n1 allocation b1 @15
//>   n2 host access @16
//>   n3 launch L0 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=b0 host?) @17
//>   n4 launch L1 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v4=b1) @19
//>   n5 launch L2 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v5=b1) @21
//>   n6 synchronise @22
//>   n7 host access @23
//>   n8 launch L3 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=b0 host?) @24
//>   n9 synchronise @25
//>   n10 host access @26
