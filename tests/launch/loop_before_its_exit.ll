; test: launch
; A loop whose header names its exit first: what follows the loop still stands after its body, though
; a reverse postorder of the blocks alone would put the body last.
; kernel: scale_stub

declare i32 @cudaMalloc(ptr, i64)
declare void @scale_stub(ptr, float, i32)
declare i32 @sirius.launch.0(i32, ptr, i64, i32, i64, i32, i64, ptr, ptr, float, i32)

define i32 @main(i32 %n, ptr %argv) {
entry:
  %d_a = alloca ptr
  %m0 = call i32 @cudaMalloc(ptr %d_a, i64 4096)
  %a = load ptr, ptr %d_a
  br label %header
header:
  %i = phi i32 [ 0, %entry ], [ %next, %join ]
  %done = icmp uge i32 %i, %n
  br i1 %done, label %after, label %body
body:
  %odd = trunc i32 %i to i1
  br i1 %odd, label %left, label %right
left:
  %l0 = call i32 @sirius.launch.0(i32 0, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %a, float 2.0, i32 %n)
  br label %join
right:
  %failed = icmp eq i32 %i, 77
  br i1 %failed, label %after, label %join
join:
  %l1 = call i32 @sirius.launch.0(i32 1, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %a, float 2.0, i32 %n)
  %next = add nuw nsw i32 %i, 1
  br label %header
after:
  %l2 = call i32 @sirius.launch.0(i32 2, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %a, float 2.0, i32 %n)
  ret i32 0
}

;> buffer b0 d_a Device bytes=4096 unique
;> value v0 = 16 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64
;> value v5 = 1073741824 from L0.argument1+0:s32
;> value v6 from L0.argument2+0:s32
;> value v7 varies in loop0
;> value v8
;> loop0 header=block1 counter=v7 passes at most max(v8, 0) at block1
;> function main
;> block0 -> block1
;>   n0 allocation b0
;> block1 in loop0 -> block6 block2
;> block2 in loop0 -> block3 block4
;> block3 in loop0 -> block5
;>   n1 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6)
;> block4 in loop0 -> block6 block5
;> block5 in loop0 -> block1
;>   n2 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6)
;> block6 -> 
;>   n3 launch L2 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6)
