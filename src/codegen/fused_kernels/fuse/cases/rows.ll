; Kernels that walk over rows. Parameters: a and b in allocations of their own, c anywhere, the length.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @twice(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @widened_otherwise(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = zext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  store float %av1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @other_step(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 128
  br label %head1
end1:
  ret void
}

define ptx_kernel void @narrow_step(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 32
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 32
  br label %head1
end1:
  ret void
}

define ptx_kernel void @step_of_the_block(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, %w
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, %w
  br label %head1
end1:
  ret void
}

define ptx_kernel void @other_begin(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ 0, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ 0, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @other_length(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 64
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @written_elsewhere(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  store float %av1, ptr %bp1
  %q1 = getelementptr float, ptr %a, i64 0
  store float 1.0, ptr %q1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @written_through_alias(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  %bv0 = load float, ptr %bp0
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  store float %bv0, ptr %ap0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ci1 = add i32 %r, %c1
  %cx1 = sext i32 %ci1 to i64
  %cp1 = getelementptr float, ptr %c, i64 %cx1
  store float 1.0, ptr %cp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  br label %head2
head2:
  %c2 = phi i32 [ %t, %end1 ], [ %d2, %body2 ]
  %below2 = icmp slt i32 %c2, %n
  br i1 %below2, label %body2, label %end2
body2:
  %bi2 = add i32 %r, %c2
  %bx2 = sext i32 %bi2 to i64
  %bp2 = getelementptr float, ptr %b, i64 %bx2
  %bv2 = load float, ptr %bp2
  %ai2 = add i32 %r, %c2
  %ax2 = sext i32 %ai2 to i64
  %ap2 = getelementptr float, ptr %a, i64 %ax2
  store float %bv2, ptr %ap2
  %d2 = add nuw nsw i32 %c2, 64
  br label %head2
end2:
  ret void
}

define ptx_kernel void @neighbour(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %near1 = xor i32 %c1, 1
  %ai1 = add i32 %r, %near1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  store float %av1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @constant(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 500
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 500
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @constant_too_long(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, 50000
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, 50000
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @neighbour_of_a_result(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %near1 = xor i32 %c1, 1
  %bi1 = add i32 %r, %near1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %ci1 = add i32 %r, %c1
  %cx1 = sext i32 %ci1 to i64
  %cp1 = getelementptr float, ptr %c, i64 %cx1
  store float %bv1, ptr %cp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @waits_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @waits_inside(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @written_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %bi0 = add i32 %r, %c0
  %bx0 = sext i32 %bi0 to i64
  %bp0 = getelementptr float, ptr %b, i64 %bx0
  store float %av0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float 3.0, ptr %b
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ai1 = add i32 %r, %c1
  %ax1 = sext i32 %ai1 to i64
  %ap1 = getelementptr float, ptr %a, i64 %ax1
  %av1 = load float, ptr %ap1
  %bi1 = add i32 %r, %c1
  %bx1 = sext i32 %bi1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %bx1
  %bv1 = load float, ptr %bp1
  %s1 = fadd float %av1, %bv1
  store float %s1, ptr %bp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @parts_of_an_element(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %qi0 = add i32 %r, %c0
  %qx0 = sext i32 %qi0 to i64
  %qe0 = getelementptr <4 x float>, ptr %b, i64 %qx0
  %qp0 = getelementptr i8, ptr %qe0, i64 4
  store float %av0, ptr %qp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %qi1 = add i32 %r, %c1
  %qx1 = sext i32 %qi1 to i64
  %qe1 = getelementptr <4 x float>, ptr %b, i64 %qx1
  %qp1 = getelementptr i8, ptr %qe1, i64 4
  %qv1 = load float, ptr %qp1
  %ui1 = add i32 %r, %c1
  %ux1 = sext i32 %ui1 to i64
  %ue1 = getelementptr <4 x float>, ptr %b, i64 %ux1
  %up1 = getelementptr i8, ptr %ue1, i64 8
  store float %qv1, ptr %up1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @beyond_an_element(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %qi0 = add i32 %r, %c0
  %qx0 = sext i32 %qi0 to i64
  %qe0 = getelementptr <4 x float>, ptr %b, i64 %qx0
  %qp0 = getelementptr i8, ptr %qe0, i64 16
  store float %av0, ptr %qp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %qi1 = add i32 %r, %c1
  %qx1 = sext i32 %qi1 to i64
  %qe1 = getelementptr <4 x float>, ptr %b, i64 %qx1
  %qp1 = getelementptr i8, ptr %qe1, i64 16
  %qv1 = load float, ptr %qp1
  %ci1 = add i32 %r, %c1
  %cx1 = sext i32 %ci1 to i64
  %cp1 = getelementptr float, ptr %c, i64 %cx1
  store float %qv1, ptr %cp1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  ret void
}

define ptx_kernel void @sum_of_the_first(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %f0 = fadd float %s0, %av0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ei1 = add i32 %r, %c1
  %ex1 = sext i32 %ei1 to i64
  %ep1 = getelementptr float, ptr %a, i64 %ex1
  %ev1 = load float, ptr %ep1
  %f1 = fadd float %s1, %s0
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %b
  ret void
}

define ptx_kernel void @sums_apart(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r = mul i32 %row, %n
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %ai0 = add i32 %r, %c0
  %ax0 = sext i32 %ai0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %ax0
  %av0 = load float, ptr %ap0
  %f0 = fadd float %s0, %av0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %ei1 = add i32 %r, %c1
  %ex1 = sext i32 %ei1 to i64
  %ep1 = getelementptr float, ptr %a, i64 %ex1
  %ev1 = load float, ptr %ep1
  %f1 = fadd float %s1, %ev1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %b
  ret void
}
