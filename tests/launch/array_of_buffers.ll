; test: launch
; Pointers in an array with variable indices: any of the allocations, never proven distinct.
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
entry:
  %array = call ptr @_Znwm(i64 80)
  br label %fill
fill:
  %i = phi i64 [ 0, %entry ], [ %next, %fill ]
  %slot = getelementptr inbounds ptr, ptr %array, i64 %i
  %m0 = call i32 @cudaMalloc(ptr %slot, i64 4096)
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 10
  br i1 %more, label %fill, label %run
run:
  %j = phi i64 [ 0, %fill ], [ %jnext, %run ]
  %s0 = getelementptr inbounds ptr, ptr %array, i64 %j
  %jnext = add nuw nsw i64 %j, 1
  %s1 = getelementptr inbounds ptr, ptr %array, i64 %jnext
  %a = load ptr, ptr %s0
  %b = load ptr, ptr %s1
  %l0 = call i32 @sirius.launch.1(i32 0, ptr @add_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %a, ptr %b, i32 %n)
  %a2 = load ptr, ptr %s0
  %l1 = call i32 @sirius.launch.0(i32 1, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %a2, float 1.0, i32 %n)
  %jmore = icmp ult i64 %jnext, 9
  br i1 %jmore, label %run, label %done
done:
  ret i32 0
}

;> buffer b0 slot Device bytes=4096
;> value v0 = 16 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64 varies in loop1
;> value v5 from L0.argument1+0:s64 varies in loop1
;> value v6 from L0.argument2+0:s32
;> value v7 = 1065353216 from L1.argument1+0:s32
;> value v8 varies in loop0
;> value v9 varies in loop1
;> loop0 header=block1 trip=10 counter=v8 passes 9 at block1
;> loop1 header=block2 trip=9 counter=v9 passes 8 at block2
;> function main
;> block0 -> block1
;> block1 in loop0 -> block1 block2
;>   n0 allocation b0
;> block2 in loop1 -> block2 block3
;>   n1 launch L0 kernel1 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=*v4{b0}, v5=*v5{b0}, v6)
;>   n2 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=*v4{b0}, v7, v6)
;> block3 -> 
