; test: launch
; Copies to a device variable, between launches, and from one allocation to another.
; kernel: scale_stub
; kernel: add_stub
; variable: coefficients 64 constant

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

@coefficients = internal global [16 x float] zeroinitializer
define i32 @main(i32 %n, ptr %argv) {
  %d_x = alloca ptr
  %d_y = alloca ptr
  %host = alloca [16 x float]
  %m0 = call i32 @cudaMalloc(ptr %d_x, i64 4096)
  %m1 = call i32 @cudaMalloc(ptr %d_y, i64 4096)
  %x = load ptr, ptr %d_x
  %y = load ptr, ptr %d_y
  %l0 = call i32 @sirius.launch.0(i32 0, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %n)
  %c0 = call i32 @cudaMemcpyToSymbol(ptr @coefficients, ptr %host, i64 64, i64 0, i32 1)
  %tail = getelementptr inbounds i8, ptr %y, i64 256
  %c1 = call i32 @cudaMemcpy(ptr %tail, ptr %x, i64 128, i32 3)
  %c2 = call i32 @cudaMemset(ptr %y, i32 0, i64 64)
  %l1 = call i32 @sirius.launch.0(i32 1, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %n)
  ret i32 0
}

;> buffer b0 d_x Device bytes=4096 unique
;> buffer b1 d_y Device bytes=4096 unique
;> buffer b2 coefficients Constant bytes=64 unique
;> value v0 = 16 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64
;> value v5 = 1073741824 from L0.argument1+0:s32
;> value v6 from L0.argument2+0:s32
;> function main
;> block0 -> 
;>   n0 allocation b0
;>   n1 allocation b1
;>   n2 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6)
;>   n3 copy stream=default writes b2 bytes=64 host
;>   n4 copy stream=default reads b0 bytes=128 writes b1+256 bytes=128 host
;>   n5 set stream=default writes b1 bytes=64
;>   n6 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6)
