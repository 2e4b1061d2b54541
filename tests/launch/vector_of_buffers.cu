// test: launch
// Buffers in a vector: any of them. A struct by value: its fields are pieces.
#include <vector>

struct Pair {
  float *data;
  int n;
};
__global__ void scale(float *x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
__global__ void scale_pair(Pair pair) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pair.n) pair.data[i] *= 2.0f;
}

int main(int argc, char **argv) {
  std::vector<float *> layers(4);
  for (auto &layer : layers) cudaMalloc(&layer, 1024 * sizeof(float));
  for (size_t i = 0; i + 1 < layers.size(); ++i) {
    scale<<<4, 256>>>(layers[i], 2.0f, 1024);
    scale<<<4, 256>>>(layers[i + 1], 3.0f, 1024);
  }
  float *single;
  cudaMalloc(&single, argc * sizeof(float));
  Pair pair{single, argc};
  scale_pair<<<4, 256>>>(pair);
  scale<<<4, 256>>>(single, 2.0f, argc);
  for (auto layer : layers) cudaFree(layer);
}

//> buffer b0 buffer0 Device bytes=4096
//> buffer b1 single Device bytes=(v10 * 4) unique
//> value v0 = 4 from L0.grid0
//> value v1 = 1 from L0.grid1
//> value v2 = 256 from L0.block0
//> value v3 = 0 from L0.shared
//> value v4 from L0.argument0+0:s64 varies in loop1
//> value v5 = 1073741824 from L0.argument1+0:s32
//> value v6 = 1024 from L0.argument2+0:s32
//> value v7 from L1.argument0+0:s64 varies in loop1
//> value v8 = 1077936128 from L1.argument1+0:s32
//> value v9 from L2.argument0+0:s64
//> value v10 from L2.argument0+8:s32
//> value v11 varies in loop2
//> value v12 varies in loop0
//> value v13 varies in loop1
//> value v14 varies in loop2
//> value v15
//> value v16
//> value v17
//> loop0 header=block1 counter=v12
//> loop1 header=block4 counter=v13 passes max((v17 - 1), 0) at block4
//> loop2 header=block7 counter=v14
//> function main
//> block0 -> block1
//> block1 in loop0 -> block3 block2
//> block2 in loop0 -> block1
//>   n0 allocation b0 @20
//> block3 -> block4
//> block4 in loop1 -> block5 block6
//> block5 in loop1 -> block4
//>   n1 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=*v4{b0}, v5, v6) @22
//>   n2 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=*v7{b0}, v8, v6) @23
//> block6 -> block7
//>   n3 allocation b1 @26
//>   n4 launch L2 kernel1 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>([v9=b1 @8 v10]) @28
//>   n5 launch L3 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v9=b1, v5, v10) @29
//> block7 in loop2 -> block9 block8
//> block8 in loop2 -> block7
//>   n6 free *v11{b0} by v11 @30
//> block9 -> block11 block10
//> block10 -> block11
//> block11 -> 
