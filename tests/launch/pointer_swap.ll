; test: launch
; Two buffers change places in every iteration: the pointers vary in the loop and may be either.
; What is launched after the loop sees the last ones, which are other values.
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
  %d_a = alloca ptr
  %d_b = alloca ptr
  %m0 = call i32 @cudaMalloc(ptr %d_a, i64 4096)
  %m1 = call i32 @cudaMalloc(ptr %d_b, i64 4096)
  %a = load ptr, ptr %d_a
  %b = load ptr, ptr %d_b
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from = phi ptr [ %a, %entry ], [ %to, %loop ]
  %to = phi ptr [ %b, %entry ], [ %from, %loop ]
  %l0 = call i32 @sirius.launch.1(i32 0, ptr @add_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %to, ptr %from, i32 %n)
  %l1 = call i32 @sirius.launch.0(i32 1, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %to, float 2.0, i32 %i)
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 10
  br i1 %more, label %loop, label %done
done:
  %l2 = call i32 @sirius.launch.0(i32 2, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %to, float 2.0, i32 %i)
  %l3 = call i32 @sirius.launch.0(i32 3, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %a, float 2.0, i32 %i)
  ret i32 0
}

;> buffer b0 d_a Device bytes=4096 unique
;> buffer b1 d_b Device bytes=4096 unique
;> value v0 = 16 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64 varies in loop0
;> value v5 from L0.argument1+0:s64 varies in loop0
;> value v6 from L0.argument2+0:s32
;> value v7 = 1073741824 from L1.argument1+0:s32
;> value v8 from L1.argument2+0:s32 varies in loop0
;> value v9 from L2.argument0+0:s64
;> value v10 from L2.argument2+0:s32
;> value v11 from L3.argument0+0:s64
;> value v12 varies in loop0
;> v8 is v12
;> *v4 is b1+0 then b0+0 in turns of loop0
;> *v5 is b0+0 then b1+0 in turns of loop0
;> loop0 header=block1 trip=10 counter=v12 passes 9 at block1
;> function main
;> block0 -> block1
;>   n0 allocation b0
;>   n1 allocation b1
;> block1 in loop0 -> block1 block2
;>   n2 launch L0 kernel1 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=*v4{b0,b1}, v5=*v5{b0,b1}, v6)
;>   n3 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=*v4{b0,b1}, v7, v8)
;> block2 -> 
;>   n4 launch L2 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v9=*v9{b0,b1}, v7, v10)
;>   n5 launch L3 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v11=b0, v7, v10)
