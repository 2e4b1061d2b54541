; Sums over rows with something between them. Parameters: a in an allocation of its own, b and c anywhere else,
; the length.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.lifetime.start.p0(ptr)

define ptx_kernel void @stored_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @read_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  %r = load float, ptr %ct
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %z = fadd float %s1, %r
  store float %z, ptr %ct
  ret void
}

define ptx_kernel void @branch_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %first = icmp eq i32 %t, 0
  br i1 %first, label %then, label %join
then:
  store float %s0, ptr %bt
  br label %join
join:
  br label %head1
head1:
  %s1 = phi float [ 0.0, %join ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %join ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @number_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %twice = mul i32 %t, 2
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %o1 = add i32 %c1, %twice
  %x1 = sext i32 %o1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @three(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  br label %head2
head2:
  %s2 = phi float [ 0.0, %end1 ], [ %f2, %body2 ]
  %c2 = phi i32 [ %t, %end1 ], [ %d2, %body2 ]
  %below2 = icmp slt i32 %c2, %n
  br i1 %below2, label %body2, label %end2
body2:
  %x2 = sext i32 %c2 to i64
  %p2 = getelementptr float, ptr %a, i64 %x2
  %v2 = load float, ptr %p2
  %f2 = fadd float %s2, %v2
  %d2 = add nuw nsw i32 %c2, 64
  br label %head2
end2:
  store float %s2, ptr %bt
  ret void
}

define ptx_kernel void @read_behind(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %b, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @read_through_alias(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %ct
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %b, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @overwritten_behind(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %r = load float, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  store float 1.0, ptr %c
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %z = fadd float %s1, %r
  store float %z, ptr %ct
  ret void
}

define ptx_kernel void @begins_with_what_is_read(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %r = load float, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ %r, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @begins_with_the_sum(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ %s0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @number_of_the_first(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %last = add i32 %c0, 1
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %o1 = add i32 %c1, %last
  %x1 = sext i32 %o1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @atomic_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %o = atomicrmw fadd ptr %bt, float %s0 monotonic
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @volatile_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store volatile float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @leaves_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  %first = icmp eq i32 %t, 0
  br i1 %first, label %leave, label %join
leave:
  store float %s0, ptr %bt
  ret void
join:
  br label %head1
head1:
  %s1 = phi float [ 0.0, %join ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %join ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @own_memory_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  %own = alloca float
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %own
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %m1 = load float, ptr %own
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  %z = fadd float %s1, 1.0
  store float %z, ptr %ct
  ret void
}

define ptx_kernel void @lives_from_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  %own = alloca float
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  call void @llvm.lifetime.start.p0(ptr %own)
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  store float %f1, ptr %own
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @waits_behind_the_store(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @begins_elsewhere(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  %t5 = add i32 %t, 5
  %n5 = add nsw i32 %n, 5
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t5, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n5
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @bound_may_wrap(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  %t5 = add i32 %t, 5
  %n5 = add i32 %n, 5
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t5, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n5
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @one_more(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  %t5 = add i32 %t, 5
  %n6 = add nsw i32 %n, 6
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t5, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n6
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @other_element(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  %t64 = add i32 %t, 64
  %n64 = add nsw i32 %n, 64
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %z0 = getelementptr float, ptr %b, i64 %x0
  %v0 = load float, ptr %p0
  store float 1.0, ptr %z0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t64, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %n64
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %b, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  store float 0.0, ptr %p1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @bound_inside(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  %t5 = add i32 %t, 5
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t5, %end0 ], [ %d1, %body1 ]
  %n5 = add nsw i32 %n, 5
  %below1 = icmp slt i32 %c1, %n5
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}

define ptx_kernel void @bound_changes(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tx = sext i32 %t to i64
  %bt = getelementptr float, ptr %b, i64 %tx
  %ct = getelementptr float, ptr %c, i64 %tx
  %t5 = add i32 %t, 5
  br label %head0
head0:
  %s0 = phi float [ 0.0, %entry ], [ %f0, %body0 ]
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = sext i32 %c0 to i64
  %p0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %p0
  %f0 = fadd float %s0, %v0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  store float %s0, ptr %bt
  br label %head1
head1:
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %c1 = phi i32 [ %t5, %end0 ], [ %d1, %body1 ]
  %n5 = add nsw i32 %n, %c1
  %below1 = icmp slt i32 %c1, %n5
  br i1 %below1, label %body1, label %end1
body1:
  %x1 = sext i32 %c1 to i64
  %p1 = getelementptr float, ptr %a, i64 %x1
  %v1 = load float, ptr %p1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 64
  br label %head1
end1:
  store float %s1, ptr %ct
  ret void
}
