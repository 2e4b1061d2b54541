; test: launch
; Two streams and an event between them.
; kernel: scale_stub
; kernel: add_stub

declare i32 @cudaMalloc(ptr, i64)
declare i32 @cudaMallocManaged(ptr, i64, i32)
declare i32 @cudaFree(ptr)
declare i32 @cudaMemcpy(ptr, ptr, i64, i32)
declare i32 @cudaMemcpyAsync(ptr, ptr, i64, i32, ptr)
declare i32 @cudaMemcpyToSymbol(ptr, ptr, i64, i64, i32)
declare i32 @cudaMemset(ptr, i32, i64)
declare i32 @cudaDeviceSynchronize()
declare i32 @cudaGetLastError()
declare ptr @cudaGetErrorString(i32)
declare i32 @cudaStreamCreate(ptr)
declare i32 @cudaEventCreate(ptr)
declare i32 @cudaEventRecord(ptr, ptr)
declare i32 @cudaStreamWaitEvent(ptr, ptr, i32)
declare i32 @printf(ptr, ...)
declare void @exit(i32) noreturn
declare ptr @_Znwm(i64)
declare ptr @malloc(i64)
declare void @unknown(ptr)
declare i32 @__gxx_personality_v0(...)
declare void @scale_stub(ptr, float, i32)
declare void @add_stub(ptr, ptr, i32)
declare i32 @sirius.launch.0(i32, ptr, i64, i32, i64, i32, i64, ptr, ptr, float, i32)
declare i32 @sirius.launch.1(i32, ptr, i64, i32, i64, i32, i64, ptr, ptr, ptr, i32)
@fmt = private unnamed_addr constant [4 x i8] c"%s\0A\00"

define i32 @main(i32 %n, ptr %argv) {
  %s0 = alloca ptr
  %s1 = alloca ptr
  %event = alloca ptr
  %d_x = alloca ptr
  %host = alloca [16 x float]
  %c0 = call i32 @cudaStreamCreate(ptr %s0)
  %c1 = call i32 @cudaStreamCreate(ptr %s1)
  %c2 = call i32 @cudaEventCreate(ptr %event)
  %m0 = call i32 @cudaMalloc(ptr %d_x, i64 4096)
  %x = load ptr, ptr %d_x
  %first = load ptr, ptr %s0
  %c3 = call i32 @cudaMemcpyAsync(ptr %x, ptr %host, i64 64, i32 1, ptr %first)
  %l0 = call i32 @sirius.launch.0(i32 0, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr %first, ptr %x, float 2.0, i32 %n)
  %e = load ptr, ptr %event
  %first2 = load ptr, ptr %s0
  %r = call i32 @cudaEventRecord(ptr %e, ptr %first2)
  %second = load ptr, ptr %s1
  %w = call i32 @cudaStreamWaitEvent(ptr %second, ptr %e, i32 0)
  %l1 = call i32 @sirius.launch.0(i32 1, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr %second, ptr %x, float 2.0, i32 %n)
  %first3 = load ptr, ptr %s0
  %l2 = call i32 @sirius.launch.0(i32 2, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr %first3, ptr %x, float 2.0, i32 %n)
  ret i32 0
}

;> buffer b0 d_x Device bytes=4096 unique
;> value v0 = 16 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.stream
;> value v5 from L0.argument0+0:s64
;> value v6 = 1073741824 from L0.argument1+0:s32
;> value v7 from L0.argument2+0:s32
;> value v8 from L1.stream
;> function main
;> block0 -> 
;>   n0 stream operation
;>   n1 stream operation
;>   n2 stream operation
;>   n3 allocation b0
;>   n4 copy stream=v4 writes b0 bytes=64 host
;>   n5 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=v4>>>(v5=b0, v6, v7)
;>   n6 stream operation
;>   n7 stream operation
;>   n8 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=v8>>>(v5=b0, v6, v7)
;>   n9 launch L2 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=v4>>>(v5=b0, v6, v7)
