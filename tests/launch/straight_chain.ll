; test: launch
; A chain of launches over two allocations, with a run-time size and a copy back.
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

define i32 @main(i32 %argc, ptr %argv) {
  %d_x = alloca ptr
  %d_y = alloca ptr
  %result = alloca float
  %n = add nsw i32 %argc, 1000
  %b4 = shl nsw i32 %n, 2
  %bytes = sext i32 %b4 to i64
  %m0 = call i32 @cudaMalloc(ptr %d_x, i64 %bytes)
  %m1 = call i32 @cudaMalloc(ptr %d_y, i64 %bytes)
  %x = load ptr, ptr %d_x
  %up = add nsw i32 %n, 255
  %blocks = sdiv i32 %up, 256
  %blocks64 = zext i32 %blocks to i64
  %grid = or disjoint i64 %blocks64, 4294967296
  %l0 = call i32 @sirius.launch.0(i32 0, ptr @scale_stub, i64 %grid, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %n)
  %s = call i32 @cudaDeviceSynchronize()
  %y = load ptr, ptr %d_y
  %x2 = load ptr, ptr %d_x
  %l1 = call i32 @sirius.launch.1(i32 1, ptr @add_stub, i64 %grid, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %y, ptr %x2, i32 %n)
  %y2 = load ptr, ptr %d_y
  %c = call i32 @cudaMemcpy(ptr %result, ptr %y2, i64 %bytes, i32 2)
  %f0 = call i32 @cudaFree(ptr %x)
  %f1 = call i32 @cudaFree(ptr %y)
  ret i32 0
}

;> buffer b0 d_x Device bytes=(v6 * 4) unique
;> buffer b1 d_y Device bytes=(v6 * 4) unique
;> value v0 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64
;> value v5 = 1073741824 from L0.argument1+0:s32
;> value v6 from L0.argument2+0:s32
;> value v7 from L1.argument0+0:s64
;> function main
;> block0 ->
;>   n0 allocation b0
;>   n1 allocation b1
;>   n2 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6)
;>   n3 synchronise
;>   n4 launch L1 kernel1 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=b1, v4=b0, v6)
;>   n5 copy stream=default reads b1 bytes=(v6 * 4) host waits
;>   n6 free b0
;>   n7 free b1
