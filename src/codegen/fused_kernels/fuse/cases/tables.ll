; Two loops that add up parts of a model, each followed by an atomic addition to another part. Parameters: a table of
; pointers, of which the one at byte 8 leads to memory of its own, the model, and something else.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @parts_of_one(ptr %table, ptr %model, ptr %other) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() "sirius-below"="64"
  %tx = sext i32 %t to i64
  %input = getelementptr i8, ptr %table, i64 8
  %r0 = getelementptr i8, ptr %model, i64 4096
  %e0 = getelementptr float, ptr %r0, i64 %tx
  %e1 = getelementptr float, ptr %other, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 256
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %w0 = getelementptr i8, ptr %model, i64 0
  %p0 = getelementptr float, ptr %w0, i64 %x0
  %v0 = load float, ptr %p0
  %i0 = load ptr, ptr %input
  %q0 = getelementptr float, ptr %i0, i64 %x0
  %u0 = load float, ptr %q0
  %m0 = fmul float %u0, %v0
  %f0 = fadd float %s0, %m0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %o0 = atomicrmw fadd ptr %e0, float %s0 seq_cst
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 256
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %w1 = getelementptr i8, ptr %model, i64 1024
  %p1 = getelementptr float, ptr %w1, i64 %x1
  %v1 = load float, ptr %p1
  %i1 = load ptr, ptr %input
  %q1 = getelementptr float, ptr %i1, i64 %x1
  %u1 = load float, ptr %q1
  %m1 = fmul float %u1, %v1
  %f1 = fadd float %s1, %m1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %o1 = atomicrmw fadd ptr %e1, float %s1 seq_cst
  ret void
}

define ptx_kernel void @next_to_each_other(ptr %table, ptr %model, ptr %other) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() "sirius-below"="64"
  %tx = sext i32 %t to i64
  %input = getelementptr i8, ptr %table, i64 8
  %r0 = getelementptr i8, ptr %model, i64 2304
  %e0 = getelementptr float, ptr %r0, i64 %tx
  %e1 = getelementptr float, ptr %other, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 256
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %w0 = getelementptr i8, ptr %model, i64 0
  %p0 = getelementptr float, ptr %w0, i64 %x0
  %v0 = load float, ptr %p0
  %i0 = load ptr, ptr %input
  %q0 = getelementptr float, ptr %i0, i64 %x0
  %u0 = load float, ptr %q0
  %m0 = fmul float %u0, %v0
  %f0 = fadd float %s0, %m0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %o0 = atomicrmw fadd ptr %e0, float %s0 seq_cst
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 256
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %w1 = getelementptr i8, ptr %model, i64 1024
  %p1 = getelementptr float, ptr %w1, i64 %x1
  %v1 = load float, ptr %p1
  %i1 = load ptr, ptr %input
  %q1 = getelementptr float, ptr %i1, i64 %x1
  %u1 = load float, ptr %q1
  %m1 = fmul float %u1, %v1
  %f1 = fadd float %s1, %m1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %o1 = atomicrmw fadd ptr %e1, float %s1 seq_cst
  ret void
}

define ptx_kernel void @parts_meet(ptr %table, ptr %model, ptr %other) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() "sirius-below"="64"
  %tx = sext i32 %t to i64
  %input = getelementptr i8, ptr %table, i64 8
  %r0 = getelementptr i8, ptr %model, i64 1792
  %e0 = getelementptr float, ptr %r0, i64 %tx
  %e1 = getelementptr float, ptr %other, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 256
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %w0 = getelementptr i8, ptr %model, i64 0
  %p0 = getelementptr float, ptr %w0, i64 %x0
  %v0 = load float, ptr %p0
  %i0 = load ptr, ptr %input
  %q0 = getelementptr float, ptr %i0, i64 %x0
  %u0 = load float, ptr %q0
  %m0 = fmul float %u0, %v0
  %f0 = fadd float %s0, %m0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %o0 = atomicrmw fadd ptr %e0, float %s0 seq_cst
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 256
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %w1 = getelementptr i8, ptr %model, i64 1024
  %p1 = getelementptr float, ptr %w1, i64 %x1
  %v1 = load float, ptr %p1
  %i1 = load ptr, ptr %input
  %q1 = getelementptr float, ptr %i1, i64 %x1
  %u1 = load float, ptr %q1
  %m1 = fmul float %u1, %v1
  %f1 = fadd float %s1, %m1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %o1 = atomicrmw fadd ptr %e1, float %s1 seq_cst
  ret void
}

define ptx_kernel void @meets_the_first(ptr %table, ptr %model, ptr %other) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() "sirius-below"="64"
  %tx = sext i32 %t to i64
  %input = getelementptr i8, ptr %table, i64 8
  %r0 = getelementptr i8, ptr %model, i64 0
  %e0 = getelementptr float, ptr %r0, i64 %tx
  %e1 = getelementptr float, ptr %other, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 256
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %w0 = getelementptr i8, ptr %model, i64 0
  %p0 = getelementptr float, ptr %w0, i64 %x0
  %v0 = load float, ptr %p0
  %i0 = load ptr, ptr %input
  %q0 = getelementptr float, ptr %i0, i64 %x0
  %u0 = load float, ptr %q0
  %m0 = fmul float %u0, %v0
  %f0 = fadd float %s0, %m0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %o0 = atomicrmw fadd ptr %e0, float %s0 seq_cst
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 256
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %w1 = getelementptr i8, ptr %model, i64 1024
  %p1 = getelementptr float, ptr %w1, i64 %x1
  %v1 = load float, ptr %p1
  %i1 = load ptr, ptr %input
  %q1 = getelementptr float, ptr %i1, i64 %x1
  %u1 = load float, ptr %q1
  %m1 = fmul float %u1, %v1
  %f1 = fadd float %s1, %m1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %o1 = atomicrmw fadd ptr %e1, float %s1 seq_cst
  ret void
}

define ptx_kernel void @meets_itself(ptr %table, ptr %model, ptr %other) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() "sirius-below"="64"
  %tx = sext i32 %t to i64
  %input = getelementptr i8, ptr %table, i64 8
  %r0 = getelementptr i8, ptr %model, i64 1020
  %e0 = getelementptr float, ptr %r0, i64 %tx
  %e1 = getelementptr float, ptr %other, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 256
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %w0 = getelementptr i8, ptr %model, i64 0
  %p0 = getelementptr float, ptr %w0, i64 %x0
  %v0 = load float, ptr %p0
  %i0 = load ptr, ptr %input
  %q0 = getelementptr float, ptr %i0, i64 %x0
  %u0 = load float, ptr %q0
  %m0 = fmul float %u0, %v0
  %f0 = fadd float %s0, %m0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %o0 = atomicrmw fadd ptr %e0, float %s0 seq_cst
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 256
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %w1 = getelementptr i8, ptr %model, i64 1280
  %p1 = getelementptr float, ptr %w1, i64 %x1
  %v1 = load float, ptr %p1
  %i1 = load ptr, ptr %input
  %q1 = getelementptr float, ptr %i1, i64 %x1
  %u1 = load float, ptr %q1
  %m1 = fmul float %u1, %v1
  %f1 = fadd float %s1, %m1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %o1 = atomicrmw fadd ptr %e1, float %s1 seq_cst
  ret void
}

define ptx_kernel void @other_pointer(ptr %table, ptr %model, ptr %other) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() "sirius-below"="64"
  %tx = sext i32 %t to i64
  %input = getelementptr i8, ptr %table, i64 0
  %r0 = getelementptr i8, ptr %model, i64 4096
  %e0 = getelementptr float, ptr %r0, i64 %tx
  %e1 = getelementptr float, ptr %other, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 256
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %w0 = getelementptr i8, ptr %model, i64 0
  %p0 = getelementptr float, ptr %w0, i64 %x0
  %v0 = load float, ptr %p0
  %i0 = load ptr, ptr %input
  %q0 = getelementptr float, ptr %i0, i64 %x0
  %u0 = load float, ptr %q0
  %m0 = fmul float %u0, %v0
  %f0 = fadd float %s0, %m0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %o0 = atomicrmw fadd ptr %e0, float %s0 seq_cst
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 256
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %w1 = getelementptr i8, ptr %model, i64 1024
  %p1 = getelementptr float, ptr %w1, i64 %x1
  %v1 = load float, ptr %p1
  %i1 = load ptr, ptr %input
  %q1 = getelementptr float, ptr %i1, i64 %x1
  %u1 = load float, ptr %q1
  %m1 = fmul float %u1, %v1
  %f1 = fadd float %s1, %m1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %o1 = atomicrmw fadd ptr %e1, float %s1 seq_cst
  ret void
}

define ptx_kernel void @threads_of_any_number(ptr %table, ptr %model, ptr %other) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %input = getelementptr i8, ptr %table, i64 8
  %r0 = getelementptr i8, ptr %model, i64 4096
  %e0 = getelementptr float, ptr %r0, i64 %tx
  %e1 = getelementptr float, ptr %other, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 256
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %w0 = getelementptr i8, ptr %model, i64 0
  %p0 = getelementptr float, ptr %w0, i64 %x0
  %v0 = load float, ptr %p0
  %i0 = load ptr, ptr %input
  %q0 = getelementptr float, ptr %i0, i64 %x0
  %u0 = load float, ptr %q0
  %m0 = fmul float %u0, %v0
  %f0 = fadd float %s0, %m0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %o0 = atomicrmw fadd ptr %e0, float %s0 seq_cst
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 256
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %w1 = getelementptr i8, ptr %model, i64 1024
  %p1 = getelementptr float, ptr %w1, i64 %x1
  %v1 = load float, ptr %p1
  %i1 = load ptr, ptr %input
  %q1 = getelementptr float, ptr %i1, i64 %x1
  %u1 = load float, ptr %q1
  %m1 = fmul float %u1, %v1
  %f1 = fadd float %s1, %m1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %o1 = atomicrmw fadd ptr %e1, float %s1 seq_cst
  ret void
}

define ptx_kernel void @result_is_used(ptr %table, ptr %model, ptr %other) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() "sirius-below"="64"
  %tx = sext i32 %t to i64
  %input = getelementptr i8, ptr %table, i64 8
  %r0 = getelementptr i8, ptr %model, i64 4096
  %e0 = getelementptr float, ptr %r0, i64 %tx
  %e1 = getelementptr float, ptr %other, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 256
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %w0 = getelementptr i8, ptr %model, i64 0
  %p0 = getelementptr float, ptr %w0, i64 %x0
  %v0 = load float, ptr %p0
  %i0 = load ptr, ptr %input
  %q0 = getelementptr float, ptr %i0, i64 %x0
  %u0 = load float, ptr %q0
  %m0 = fmul float %u0, %v0
  %f0 = fadd float %s0, %m0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %o0 = atomicrmw fadd ptr %e0, float %s0 seq_cst
  store float %o0, ptr %e1
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 256
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %w1 = getelementptr i8, ptr %model, i64 1024
  %p1 = getelementptr float, ptr %w1, i64 %x1
  %v1 = load float, ptr %p1
  %i1 = load ptr, ptr %input
  %q1 = getelementptr float, ptr %i1, i64 %x1
  %u1 = load float, ptr %q1
  %m1 = fmul float %u1, %v1
  %f1 = fadd float %s1, %m1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %o1 = atomicrmw fadd ptr %e1, float %s1 seq_cst
  ret void
}
