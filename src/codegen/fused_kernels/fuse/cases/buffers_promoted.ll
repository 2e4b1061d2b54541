; Kernels of blocks of 64 threads whose threads hand values to each other through a buffer. Parameters: a and b in
; allocations of their own, c anywhere, the length of a row. Of those whose names begin with `kept` the buffer's
; accesses have shared ones beside them.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

@window = internal addrspace(3) global [256 x i8] poison, align 16

define ptx_kernel void @reversed(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %cp = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @no_barrier(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %cp = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @next_block(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %i, 1
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %cp = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @written_by_some(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %some = fcmp ogt float %v, 0.0
  br i1 %some, label %yes, label %on
yes:
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  br label %on
on:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %cp = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @written_by_half(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %some = icmp ult i32 %t, 32
  br i1 %some, label %yes, label %on
yes:
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  br label %on
on:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %cp = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @overwritten(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %some = icmp ult i32 %t, 32
  br i1 %some, label %yes, label %on
yes:
  %bq = getelementptr float, ptr %b, i32 %i
  store float 2.0, ptr %bq
  br label %on
on:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %cp = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @second_writer(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %cq = getelementptr float, ptr %c, i32 %i
  store float 3.0, ptr %cq
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %cr = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @other_sizes(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %h = load half, ptr %lp
  %l = fpext half %h to float
  %cp = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @place_in_memory(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %cq = getelementptr float, ptr %c, i32 %i
  %k = load i32, ptr %cq
  %k7 = and i32 %k, 7
  %kb = add i32 %base, %k7
  %bq = getelementptr float, ptr %b, i32 %kb
  store float 1.0, ptr %bq
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %cp = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @of_rows(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %row = mul i32 %block, %n
  %half = lshr i32 %n, 1
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %i0 = add i32 %row, %c0
  %x0 = sext i32 %i0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %ap0
  %bp0 = getelementptr float, ptr %b, i64 %x0
  store float %v0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %head1
head1:
  %c1 = phi i32 [ 0, %end0 ], [ %d1, %body1 ]
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %i1 = add i32 %row, %c1
  %x1 = sext i32 %i1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %x1
  %v1 = load float, ptr %bp1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 1
  br label %head1
end1:
  %ot = mul i32 %block, 64
  %oi = add i32 %ot, %t
  %op = getelementptr float, ptr %a, i32 %oi
  store float %s1, ptr %op
  ret void
}

define ptx_kernel void @of_half_rows(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %row = mul i32 %block, %n
  %half = lshr i32 %n, 1
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %half
  br i1 %below0, label %body0, label %end0
body0:
  %i0 = add i32 %row, %c0
  %x0 = sext i32 %i0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %ap0
  %bp0 = getelementptr float, ptr %b, i64 %x0
  store float %v0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %head1
head1:
  %c1 = phi i32 [ 0, %end0 ], [ %d1, %body1 ]
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %below1 = icmp slt i32 %c1, %n
  br i1 %below1, label %body1, label %end1
body1:
  %i1 = add i32 %row, %c1
  %x1 = sext i32 %i1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %x1
  %v1 = load float, ptr %bp1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 1
  br label %head1
end1:
  %ot = mul i32 %block, 64
  %oi = add i32 %ot, %t
  %op = getelementptr float, ptr %a, i32 %oi
  store float %s1, ptr %op
  ret void
}

define ptx_kernel void @beyond_rows(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %row = mul i32 %block, %n
  %half = lshr i32 %n, 1
  br label %head0
head0:
  %c0 = phi i32 [ %t, %entry ], [ %d0, %body0 ]
  %below0 = icmp slt i32 %c0, %n
  br i1 %below0, label %body0, label %end0
body0:
  %i0 = add i32 %row, %c0
  %x0 = sext i32 %i0 to i64
  %ap0 = getelementptr float, ptr %a, i64 %x0
  %v0 = load float, ptr %ap0
  %bp0 = getelementptr float, ptr %b, i64 %x0
  store float %v0, ptr %bp0
  %d0 = add nuw nsw i32 %c0, 64
  br label %head0
end0:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %head1
head1:
  %c1 = phi i32 [ 0, %end0 ], [ %d1, %body1 ]
  %s1 = phi float [ 0.0, %end0 ], [ %f1, %body1 ]
  %below1 = icmp slt i32 %c1, 65
  br i1 %below1, label %body1, label %end1
body1:
  %i1 = add i32 %row, %c1
  %x1 = sext i32 %i1 to i64
  %bp1 = getelementptr float, ptr %b, i64 %x1
  %v1 = load float, ptr %bp1
  %f1 = fadd float %s1, %v1
  %d1 = add nuw nsw i32 %c1, 1
  br label %head1
end1:
  %ot = mul i32 %block, 64
  %oi = add i32 %ot, %t
  %op = getelementptr float, ptr %a, i32 %oi
  store float %s1, ptr %op
  ret void
}

define ptx_kernel void @kept(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %t
  store float %v, ptr addrspace(3) %wp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %back
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @kept_elsewhere(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %t
  store float %v, ptr addrspace(3) %wp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %t
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @kept_without_barrier(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %t
  store float %v, ptr addrspace(3) %wp
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %back
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @kept_by_some(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %some = fcmp ogt float %v, 0.0
  br i1 %some, label %yes, label %on
yes:
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %t
  store float %v, ptr addrspace(3) %wp
  br label %on
on:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %back
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @kept_by_half(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %some = icmp ult i32 %t, 32
  br i1 %some, label %yes, label %on
yes:
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %t
  store float %v, ptr addrspace(3) %wp
  br label %on
on:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %back
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @kept_not_always(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %some = fcmp ogt float %v, 0.0
  br i1 %some, label %yes, label %on
yes:
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %t
  store float %v, ptr addrspace(3) %wp
  br label %on
on:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %back
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @kept_and_written(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %t
  store float %v, ptr addrspace(3) %wp
  %bq = getelementptr float, ptr %b, i32 %i
  store float 3.0, ptr %bq
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %back
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @kept_and_written_through_alias(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %t
  store float %v, ptr addrspace(3) %wp
  %cq = getelementptr float, ptr %c, i32 %i
  store float 3.0, ptr %cq
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %back
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @kept_and_touched(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %t
  store float %v, ptr addrspace(3) %wp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %back
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  store float 3.0, ptr addrspace(3) %lw
  ret void
}

define ptx_kernel void @kept_folded(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i = add i32 %base, %t
  %back = sub i32 63, %t
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %tf = and i32 %t, 31
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %tf
  store float %v, ptr addrspace(3) %wp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %bf = and i32 %back, 31
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %bf
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @kept_by_two(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i0 = lshr i32 %t, 1
  %i = add i32 %base, %i0
  %back = sub i32 31, %i0
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  %wp = getelementptr float, ptr addrspace(3) @window, i32 %i0
  store float %v, ptr addrspace(3) %wp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %lw = getelementptr float, ptr addrspace(3) @window, i32 %back
  %m = load float, ptr addrspace(3) %lw
  %l2 = fadd float %l, %m
  store float %l2, ptr %ap
  ret void
}

define ptx_kernel void @written_by_two(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 64
  %i0 = lshr i32 %t, 1
  %i = add i32 %base, %i0
  %back = sub i32 31, %i0
  %ap = getelementptr float, ptr %a, i32 %i
  %v = load float, ptr %ap
  %bp = getelementptr float, ptr %b, i32 %i
  store float %v, ptr %bp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %base, %back
  %lp = getelementptr float, ptr %b, i32 %j
  %l = load float, ptr %lp
  %cp = getelementptr float, ptr %c, i32 %i
  %l2 = fadd float %l, 1.0
  store float %l2, ptr %ap
  ret void
}
