; test: launch
; Members of a struct that a method gets by pointer are reloaded after launches, synchronisations
; and error checks: the same values. The error check leaves the program.
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

%App = type { ptr, ptr, i32 }
define i32 @main(i32 %argc, ptr %argv) {
  %app = alloca %App
  call void @setup(ptr %app, i32 %argc)
  call void @run(ptr %app)
  ret i32 0
}
define internal void @setup(ptr %this, i32 %n) noinline {
  %np = getelementptr inbounds %App, ptr %this, i32 0, i32 2
  store i32 %n, ptr %np
  %m0 = call i32 @cudaMalloc(ptr %this, i64 4096)
  %y = getelementptr inbounds %App, ptr %this, i32 0, i32 1
  %m1 = call i32 @cudaMalloc(ptr %y, i64 4096)
  ret void
}
define internal void @run(ptr %this) noinline {
  %np = getelementptr inbounds i8, ptr %this, i64 16
  %n = load i32, ptr %np
  %wide = zext i32 %n to i64
  %grid = or disjoint i64 %wide, 4294967296
  %x = load ptr, ptr %this
  %l0 = call i32 @sirius.launch.0(i32 0, ptr @scale_stub, i64 %grid, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %n)
  %e = call i32 @cudaGetLastError()
  %bad = icmp ne i32 %e, 0
  br i1 %bad, label %error, label %good
error:
  %t = call ptr @cudaGetErrorString(i32 %e)
  %p = call i32 (ptr, ...) @printf(ptr @fmt, ptr %t)
  call void @exit(i32 1)
  unreachable
good:
  %s = call i32 @cudaDeviceSynchronize()
  %n2 = load i32, ptr %np
  %wide2 = zext i32 %n2 to i64
  %grid2 = or disjoint i64 %wide2, 4294967296
  %yp = getelementptr inbounds i8, ptr %this, i64 8
  %y = load ptr, ptr %yp
  %x2 = load ptr, ptr %this
  %l1 = call i32 @sirius.launch.1(i32 1, ptr @add_stub, i64 %grid2, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %y, ptr %x2, i32 %n2)
  ret void
}

;> buffer b0 buffer0 Device bytes=4096 unique
;> buffer b1 y Device bytes=4096 unique
;> value v0 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64
;> value v5 = 1073741824 from L0.argument1+0:s32
;> value v6 from L0.argument2+0:s32
;> value v7 from L1.argument0+0:s64
;> function setup
;> block0 ->
;>   n0 allocation b0
;>   n1 allocation b1
;> function run
;> block1 -> block2 block3
;>   n2 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6)
;>   n3 check
;> block2 ->
;>   n4 check
;>   n5 output printf
;>   n6 opaque exit
;> block3 ->
;>   n7 synchronise
;>   n8 launch L1 kernel1 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=b1, v4=b0, v6)
