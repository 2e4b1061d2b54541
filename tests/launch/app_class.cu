// test: launch
// A class with buffers as members, launches in methods, a macro that checks errors, a lambda and a
// host loop: through the whole front end.
#include <cstdio>
#include <cstdlib>
#define CHECK(call)                                            \
  do {                                                         \
    cudaError_t error = (call);                                \
    if (error != cudaSuccess) {                                \
      fprintf(stderr, "%s\n", cudaGetErrorString(error));      \
      exit(1);                                                 \
    }                                                          \
  } while (0)

__global__ void scale(float *x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
__global__ void add(float *y, const float *__restrict__ x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

struct App {
  float *x, *y;
  int n;
  explicit App(int count) : n(count) {
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * sizeof(float)));
  }
  ~App() {
    cudaFree(x);
    cudaFree(y);
  }
  dim3 grid() const { return dim3((n + 255) / 256); }
  void run() {
    scale<<<grid(), 256>>>(x, 2.0f, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    add<<<grid(), 256>>>(y, x, n);
    CHECK(cudaGetLastError());
  }
};

int main(int argc, char **argv) {
  App app(atoi(argv[1]));
  app.run();
  for (int step = 0; step < 10; ++step) {
    auto again = [&](float factor) { scale<<<app.grid(), 256>>>(app.y, factor, app.n); };
    again(1.5f);
    app.run();
  }
  float first;
  CHECK(cudaMemcpy(&first, app.y, sizeof(float), cudaMemcpyDeviceToHost));
  printf("%f\n", first);
}

//> buffer b0 app Device unique
//> buffer b1 y Device bytes=(v6 * 4) unique
//> value v0 from L0.grid0
//> value v1 = 1 from L0.grid1
//> value v2 = 256 from L0.block0
//> value v3 = 0 from L0.shared
//> value v4 from L0.argument0+0:s64
//> value v5 = 1073741824 from L0.argument1+0:s32
//> value v6 from L0.argument2+0:s32
//> value v7 from L1.argument0+0:s64
//> value v8 = 1069547520 from L2.argument1+0:s32
//> value v9 varies in loop0
//> loop0 header=block6 counter=v9 passes at most 10 at block6
//> function main
//> block0 -> block1 block23
//>   n0 allocation b0 @28
//> block1 -> block2 block22
//>   n1 allocation b1 @29
//> block2 -> block3 block21
//>   n2 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6) @37
//>   n3 check @38
//> block3 -> block4 block20
//>   n4 synchronise @39
//> block4 -> block5 block19
//>   n5 launch L1 kernel1 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=b1, v4=b0, v6) @40
//>   n6 check @41
//> block5 -> block6
//> block6 in loop0 -> block7 block11
//> block7 in loop0 -> block8 block16
//>   n7 launch L2 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=b1, v8, v6) @49
//>   n8 launch L3 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6) @37
//>   n9 check @38
//> block8 in loop0 -> block9 block17
//>   n10 synchronise @39
//> block9 in loop0 -> block10 block18
//>   n11 launch L4 kernel1 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=b1, v4=b0, v6) @40
//>   n12 check @41
//> block10 in loop0 -> block6
//> block11 -> block12 block15
//>   n13 copy stream=default reads b1 bytes=4 host waits @54
//> block12 -> block13 block14
//>   n14 output printf @55
//> block13 ->
//>   n15 free b0 @32
//>   n16 free b1 @33
//> block14 ->
//>   n17 free b0 @32
//>   n18 free b1 @33
//> block15 ->
//>   n19 check @54
//>   n20 output fprintf @54
//>   n21 opaque exit @54
//> block16 ->
//>   n22 check @38
//>   n23 output fprintf @38
//>   n24 opaque exit @38
//> block17 ->
//>   n25 check @39
//>   n26 output fprintf @39
//>   n27 opaque exit @39
//> block18 ->
//>   n28 check @41
//>   n29 output fprintf @41
//>   n30 opaque exit @41
//> block19 ->
//>   n31 check @41
//>   n32 output fprintf @41
//>   n33 opaque exit @41
//> block20 ->
//>   n34 check @39
//>   n35 output fprintf @39
//>   n36 opaque exit @39
//> block21 ->
//>   n37 check @38
//>   n38 output fprintf @38
//>   n39 opaque exit @38
//> block22 ->
//>   n40 check @29
//>   n41 output fprintf @29
//>   n42 opaque exit @29
//> block23 ->
//>   n43 check @28
//>   n44 output fprintf @28
//>   n45 opaque exit @28
