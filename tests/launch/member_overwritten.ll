; test: launch
; What must not look equal: a member that is written between the launches, on one path only or
; through a pointer that may be to it; a slot that is allocated again; a load in an inner loop whose
; last value is used after it.
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
  %s = call ptr @_Znwm(i64 64)
  %m0 = call i32 @cudaMalloc(ptr %s, i64 4096)
  %count = getelementptr inbounds i8, ptr %s, i64 16
  store i32 %n, ptr %count
  %x = load ptr, ptr %s
  %l0 = call i32 @sirius.launch.0(i32 0, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %n)
  %odd = trunc i32 %n to i1
  br i1 %odd, label %change, label %join
change:
  store i32 7, ptr %count
  br label %join
join:
  %n1 = load i32, ptr %count
  %l1 = call i32 @sirius.launch.0(i32 1, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %n1)
  %wide = sext i32 %n to i64
  %somewhere = getelementptr inbounds i32, ptr %s, i64 %wide
  store i32 9, ptr %somewhere
  %n2 = load i32, ptr %count
  %l2 = call i32 @sirius.launch.0(i32 2, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %n2)
  %m1 = call i32 @cudaMalloc(ptr %s, i64 8192)
  %again = load ptr, ptr %s
  %l3 = call i32 @sirius.launch.1(i32 3, ptr @add_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %again, ptr %x, i32 %n)
  br label %loop
loop:
  %i = phi i32 [ 0, %join ], [ %next, %loop ]
  store i32 %i, ptr %count
  %n3 = load i32, ptr %count
  %l4 = call i32 @sirius.launch.0(i32 4, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %again, float 2.0, i32 %n3)
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 10
  br i1 %more, label %loop, label %done
done:
  %n4 = load i32, ptr %count
  %l5 = call i32 @sirius.launch.0(i32 5, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %again, float 2.0, i32 %n4)
  ret i32 0
}

;> buffer b0 s Device bytes=4096 unique
;> buffer b1 s Device bytes=8192 unique
;> value v0 = 16 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64
;> value v5 = 1073741824 from L0.argument1+0:s32
;> value v6 from L0.argument2+0:s32
;> value v7 from L1.argument2+0:s32
;> value v8 from L2.argument2+0:s32
;> value v9 from L3.argument0+0:s64
;> value v10 from L4.argument2+0:s32 varies in loop0
;> value v11 from L5.argument2+0:s32
;> value v12 varies in loop0
;> v10 is v12
;> loop0 header=block3 trip=10 counter=v12 passes 9 at block3
;> function main
;> block0 -> block1 block2
;>   n0 allocation b0
;>   n1 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6)
;> block1 -> block2
;> block2 -> block3
;>   n2 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v7)
;>   n3 launch L2 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v8)
;>   n4 allocation b1
;>   n5 launch L3 kernel1 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v9=b1, v4=b0, v6)
;> block3 in loop0 -> block3 block4
;>   n6 launch L4 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v9=b1, v5, v10)
;> block4 -> 
;>   n7 launch L5 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v9=b1, v5, v11)
