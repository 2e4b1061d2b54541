; Kernels with shared variables, of which some are in use one after the other.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @unknown(i64)

@in_turn_a = internal addrspace(3) global [64 x float] undef, align 4
@in_turn_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @in_turn(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @in_turn_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @in_turn_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @in_turn_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @in_turn_b to ptr), i64 %t64
  %v4 = load float, ptr %p4
  %o4 = getelementptr float, ptr %out, i64 %t64
  store float %v4, ptr %o4
  ret void
}

@no_barrier_between_a = internal addrspace(3) global [64 x float] undef, align 4
@no_barrier_between_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @no_barrier_between(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @no_barrier_between_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @no_barrier_between_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @no_barrier_between_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @no_barrier_between_b to ptr), i64 %t64
  %v4 = load float, ptr %p4
  %o4 = getelementptr float, ptr %out, i64 %t64
  store float %v4, ptr %o4
  ret void
}

@every_second_a = internal addrspace(3) global [64 x float] undef, align 4
@every_second_b = internal addrspace(3) global [64 x float] undef, align 4
@every_second_c = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @every_second(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @every_second_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @every_second_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @every_second_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @every_second_b to ptr), i64 %t64
  %v4 = load float, ptr %p4
  %o4 = getelementptr float, ptr %out, i64 %t64
  store float %v4, ptr %o4
  %p5 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @every_second_c to ptr), i64 %t64
  store float 1.0, ptr %p5
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p6 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @every_second_c to ptr), i64 %t64
  %v6 = load float, ptr %p6
  %o6 = getelementptr float, ptr %out, i64 %t64
  store float %v6, ptr %o6
  ret void
}

@around_again_a = internal addrspace(3) global [64 x float] undef, align 4
@around_again_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @around_again(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  br label %loop0
loop0:
  %i0 = phi i32 [ 0, %entry ], [ %next0, %loop0 ]
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @around_again_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @around_again_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @around_again_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @around_again_b to ptr), i64 %t64
  %v4 = load float, ptr %p4
  %o4 = getelementptr float, ptr %out, i64 %t64
  store float %v4, ptr %o4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next0 = add i32 %i0, 1
  %more0 = icmp slt i32 %next0, %n
  br i1 %more0, label %loop0, label %end0
end0:
  ret void
}

@loop_after_loop_a = internal addrspace(3) global [64 x float] undef, align 4
@loop_after_loop_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @loop_after_loop(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  br label %loop0
loop0:
  %i0 = phi i32 [ 0, %entry ], [ %next0, %loop0 ]
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @loop_after_loop_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @loop_after_loop_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next0 = add i32 %i0, 1
  %more0 = icmp slt i32 %next0, %n
  br i1 %more0, label %loop0, label %end0
end0:
  br label %loop1
loop1:
  %i1 = phi i32 [ 0, %end0 ], [ %next1, %loop1 ]
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @loop_after_loop_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @loop_after_loop_b to ptr), i64 %t64
  %v4 = load float, ptr %p4
  %o4 = getelementptr float, ptr %out, i64 %t64
  store float %v4, ptr %o4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next1 = add i32 %i1, 1
  %more1 = icmp slt i32 %next1, %n
  br i1 %more1, label %loop1, label %end1
end1:
  ret void
}

@loop_meets_loop_a = internal addrspace(3) global [64 x float] undef, align 4
@loop_meets_loop_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @loop_meets_loop(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  br label %loop0
loop0:
  %i0 = phi i32 [ 0, %entry ], [ %next0, %loop0 ]
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @loop_meets_loop_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @loop_meets_loop_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  %next0 = add i32 %i0, 1
  %more0 = icmp slt i32 %next0, %n
  br i1 %more0, label %loop0, label %end0
end0:
  br label %loop1
loop1:
  %i1 = phi i32 [ 0, %end0 ], [ %next1, %loop1 ]
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @loop_meets_loop_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @loop_meets_loop_b to ptr), i64 %t64
  %v4 = load float, ptr %p4
  %o4 = getelementptr float, ptr %out, i64 %t64
  store float %v4, ptr %o4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next1 = add i32 %i1, 1
  %more1 = icmp slt i32 %next1, %n
  br i1 %more1, label %loop1, label %end1
end1:
  ret void
}

@threads_apart_a = internal addrspace(3) global [64 x float] undef, align 4
@threads_apart_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @threads_apart(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %c = icmp slt i32 %t, 32
  br i1 %c, label %yes, label %no
yes:
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @threads_apart_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  br label %end
no:
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @threads_apart_b to ptr), i64 %t64
  store float 1.0, ptr %p2
  br label %end
end:
  ret void
}

@read_at_the_end_a = internal addrspace(3) global [64 x float] undef, align 4
@read_at_the_end_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @read_at_the_end(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @read_at_the_end_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @read_at_the_end_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @read_at_the_end_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @read_at_the_end_b to ptr), i64 %t64
  %v4 = load float, ptr %p4
  %o4 = getelementptr float, ptr %out, i64 %t64
  store float %v4, ptr %o4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p5 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @read_at_the_end_a to ptr), i64 %t64
  %v5 = load float, ptr %p5
  %o5 = getelementptr float, ptr %out, i64 %t64
  store float %v5, ptr %o5
  ret void
}

@address_leaves_a = internal addrspace(3) global [64 x float] undef, align 4
@address_leaves_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @address_leaves(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @address_leaves_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @address_leaves_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @address_leaves_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @address_leaves_b to ptr), i64 %t64
  %v4 = load float, ptr %p4
  %o4 = getelementptr float, ptr %out, i64 %t64
  store float %v4, ptr %o4
  call void @unknown(i64 ptrtoint (ptr addrspace(3) @address_leaves_a to i64))
  ret void
}

@either_a = internal addrspace(3) global [64 x float] undef, align 4
@either_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @either(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @either_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %c = icmp slt i32 %n, 32
  %s = select i1 %c, ptr addrspace(3) @either_a, ptr addrspace(3) @either_b
  store float 2.0, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @either_b to ptr), i64 %t64
  store float 1.0, ptr %p2
  ret void
}

@part_waits_a = internal addrspace(3) global [64 x float] undef, align 4
@part_waits_b = internal addrspace(3) global [64 x float] undef, align 4

define ptx_kernel void @part_waits(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @part_waits_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @part_waits_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  %c = icmp slt i32 %t, 5
  br i1 %c, label %yes, label %end
yes:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @part_waits_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @part_waits_b to ptr), i64 %t64
  %v4 = load float, ptr %p4
  %o4 = getelementptr float, ptr %out, i64 %t64
  store float %v4, ptr %o4
  ret void
}

@two_in_one_a = internal addrspace(3) global [64 x float] undef, align 4
@two_in_one_b = internal addrspace(3) global [24 x float] undef, align 4
@two_in_one_c = internal addrspace(3) global [32 x float] undef, align 4

define ptx_kernel void @two_in_one(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_in_one_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_in_one_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_in_one_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_in_one_c to ptr), i64 %t64
  store float 1.0, ptr %p4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p5 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_in_one_c to ptr), i64 %t64
  %v5 = load float, ptr %p5
  %o5 = getelementptr float, ptr %out, i64 %t64
  store float %v5, ptr %o5
  %p6 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_in_one_b to ptr), i64 %t64
  %v6 = load float, ptr %p6
  %o6 = getelementptr float, ptr %out, i64 %t64
  store float %v6, ptr %o6
  ret void
}

@two_too_large_a = internal addrspace(3) global [64 x float] undef, align 4
@two_too_large_b = internal addrspace(3) global [40 x float] undef, align 4
@two_too_large_c = internal addrspace(3) global [32 x float] undef, align 4

define ptx_kernel void @two_too_large(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_too_large_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_too_large_a to ptr), i64 %t64
  %v2 = load float, ptr %p2
  %o2 = getelementptr float, ptr %out, i64 %t64
  store float %v2, ptr %o2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_too_large_b to ptr), i64 %t64
  store float 1.0, ptr %p3
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_too_large_c to ptr), i64 %t64
  store float 1.0, ptr %p4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p5 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_too_large_c to ptr), i64 %t64
  %v5 = load float, ptr %p5
  %o5 = getelementptr float, ptr %out, i64 %t64
  store float %v5, ptr %o5
  %p6 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @two_too_large_b to ptr), i64 %t64
  %v6 = load float, ptr %p6
  %o6 = getelementptr float, ptr %out, i64 %t64
  store float %v6, ptr %o6
  ret void
}

@beside_a = internal addrspace(3) global [64 x float] undef, align 4
@beside_b = internal addrspace(3) global [48 x float] undef, align 4
@beside_c = internal addrspace(3) global [32 x float] undef, align 4
@beside_d = internal addrspace(3) global [40 x float] undef, align 4

; The first blocks use a; the others b, then c and d, or c and d.
define ptx_kernel void @beside(ptr %out, i32 %n, i32 %m) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %c = icmp ult i32 %b, %n
  br i1 %c, label %first, label %rest
first:
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @beside_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  ret void
rest:
  %c2 = icmp ult i32 %b, %m
  br i1 %c2, label %second, label %third
second:
  %i = phi i64 [ 0, %rest ], [ %j, %second ]
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @beside_b to ptr), i64 %i
  store float 1.0, ptr %p2
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %t64
  br i1 %more, label %second, label %end
third:
  %p3 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @beside_c to ptr), i64 %t64
  store float 1.0, ptr %p3
  %p4 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @beside_d to ptr), i64 %t64
  %v4 = load float, ptr %p4
  store float %v4, ptr %out
  br label %end
end:
  ret void
}

@parted_a = internal addrspace(3) global [64 x float] undef, align 4
@parted_b = internal addrspace(3) global [64 x float] undef, align 4

; Threads of one block go different ways.
define ptx_kernel void @parted(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %c = icmp ult i32 %t, %n
  br i1 %c, label %first, label %second
first:
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @parted_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  ret void
second:
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @parted_b to ptr), i64 %t64
  store float 1.0, ptr %p2
  ret void
}

@meets_again_a = internal addrspace(3) global [64 x float] undef, align 4
@meets_again_b = internal addrspace(3) global [64 x float] undef, align 4

; The first blocks use both.
define ptx_kernel void @meets_again(ptr %out, i32 %n) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %c = icmp ult i32 %b, %n
  br i1 %c, label %first, label %second
first:
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @meets_again_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  br label %second
second:
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @meets_again_b to ptr), i64 %t64
  store float 1.0, ptr %p2
  ret void
}

@in_rounds_a = internal addrspace(3) global [64 x float] undef, align 4
@in_rounds_b = internal addrspace(3) global [64 x float] undef, align 4

; A block goes one way and then the other.
define ptx_kernel void @in_rounds(ptr %out, i32 %n) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  br label %round
round:
  %i = phi i32 [ %b, %entry ], [ %next, %again ]
  %c = icmp ult i32 %i, %n
  br i1 %c, label %first, label %second
first:
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @in_rounds_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  br label %again
second:
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @in_rounds_b to ptr), i64 %t64
  store float 1.0, ptr %p2
  br label %again
again:
  %next = add i32 %i, 7
  %more = icmp ult i32 %next, 100
  br i1 %more, label %round, label %end
end:
  ret void
}

@fixed_rounds_a = internal addrspace(3) global [64 x float] undef, align 4
@fixed_rounds_b = internal addrspace(3) global [64 x float] undef, align 4

; The block's number decides in each round, and the round does besides.
define ptx_kernel void @fixed_rounds(ptr %out, i32 %n) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %again ]
  %c = icmp ult i32 %b, %i
  br i1 %c, label %first, label %second
first:
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @fixed_rounds_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  br label %again
second:
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @fixed_rounds_b to ptr), i64 %t64
  store float 1.0, ptr %p2
  br label %again
again:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 100
  br i1 %more, label %round, label %end
end:
  ret void
}

@reads_choice_a = internal addrspace(3) global [64 x float] undef, align 4
@reads_choice_b = internal addrspace(3) global [64 x float] undef, align 4

; What decides may change between the threads of a block.
define ptx_kernel void @reads_choice(ptr %out, ptr %choice) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %n = load i32, ptr %choice
  %c = icmp ult i32 %n, 5
  br i1 %c, label %first, label %second
first:
  %p1 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @reads_choice_a to ptr), i64 %t64
  store float 1.0, ptr %p1
  ret void
second:
  %p2 = getelementptr float, ptr addrspacecast (ptr addrspace(3) @reads_choice_b to ptr), i64 %t64
  store float 1.0, ptr %p2
  ret void
}
