; What the CPU device puts in the place of device intrinsics and built-in functions.
;
; A call of NAME in device code becomes a call of sirius.NAME with the thread's context as an
; additional first argument. Everything is inlined; what is not defined here is reported by name
; when it is executed. The compiler puts in front what the crate sirius_abi has: declarations of the
; runtime's functions; in the place of $STRUCTURE.FIELD where that field lies, in bytes ($STRUCTURE.FIELD+4 is
; where the second element of an array lies); and in the place of $STRUCTURE how many bytes it has.

; The block of a thread. All fields of a block but its counters are fixed while it runs.
define internal ptr @sirius.block(ptr %context) alwaysinline nounwind {
  %at = getelementptr inbounds i8, ptr %context, i64 $ThreadContext.block
  %block = load ptr, ptr %at, align 8
  ret ptr %block
}
define internal ptr @sirius.shared(ptr %context) alwaysinline nounwind {
  %block = call ptr @sirius.block(ptr %context)
  %at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.shared
  %shared = load ptr, ptr %at, align 8, !invariant.load !0
  ret ptr %shared
}
define internal ptr @sirius.dynamic_shared(ptr %context) alwaysinline nounwind {
  %block = call ptr @sirius.block(ptr %context)
  %at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.dynamic_shared
  %shared = load ptr, ptr %at, align 8, !invariant.load !0
  ret ptr %shared
}

; Runs a body for each thread of a block. The access group says that what the body touches in
; one iteration is not touched in another: threads without barriers are not ordered. Code
; generation withdraws it where that does not follow (private arrays, atomics).
define internal void @sirius.run_block(ptr noalias %block, ptr %body, ptr %frame, i1 %once.x, i1 %once.y, i1 %once.z) alwaysinline {
entry:
  %context = alloca [$ThreadContext x i8], align 8
  %y.at = getelementptr inbounds i8, ptr %context, i64 $ThreadContext.thread_index+4
  %z.at = getelementptr inbounds i8, ptr %context, i64 $ThreadContext.thread_index+8
  %lane.at = getelementptr inbounds i8, ptr %context, i64 $ThreadContext.lane
  %block.at = getelementptr inbounds i8, ptr %context, i64 $ThreadContext.block
  %linear.at = getelementptr inbounds i8, ptr %context, i64 $ThreadContext.linear_index
  %reserved.at = getelementptr inbounds i8, ptr %context, i64 $ThreadContext.reserved
  store ptr %block, ptr %block.at, align 8
  store i32 0, ptr %reserved.at, align 4
  %width.at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.block_size
  %height.at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.block_size+4
  %depth.at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.block_size+8
  %width = load i32, ptr %width.at, align 4, !range !4, !invariant.load !0
  %height = load i32, ptr %height.at, align 4, !range !4, !invariant.load !0
  %depth = load i32, ptr %depth.at, align 4, !range !4, !invariant.load !0
  %end.x = select i1 %once.x, i32 1, i32 %width
  %end.y = select i1 %once.y, i32 1, i32 %height
  %end.z = select i1 %once.z, i32 1, i32 %depth
  br label %slice
slice:
  %z = phi i32 [ 0, %entry ], [ %z.next, %slice.end ]
  %slice.base = mul nuw nsw i32 %z, %height
  store i32 %z, ptr %z.at, align 4
  br label %row
row:
  %y = phi i32 [ 0, %slice ], [ %y.next, %row.end ]
  %row.number = add nuw nsw i32 %slice.base, %y
  %row.base = mul nuw nsw i32 %row.number, %width
  store i32 %y, ptr %y.at, align 4
  br label %thread
thread:
  %x = phi i32 [ 0, %row ], [ %x.next, %thread ]
  %linear = add nuw nsw i32 %row.base, %x
  %lane = and i32 %linear, 31
  store i32 %x, ptr %context, align 4, !llvm.access.group !3
  store i32 %lane, ptr %lane.at, align 4, !llvm.access.group !3
  store i32 %linear, ptr %linear.at, align 4, !llvm.access.group !3
  call void %body(ptr %context, ptr %frame), !llvm.access.group !3
  %x.next = add nuw nsw i32 %x, 1
  %more.x = icmp ult i32 %x.next, %end.x
  br i1 %more.x, label %thread, label %row.end, !llvm.loop !1
row.end:
  %y.next = add nuw nsw i32 %y, 1
  %more.y = icmp ult i32 %y.next, %end.y
  br i1 %more.y, label %row, label %slice.end
slice.end:
  %z.next = add nuw nsw i32 %z, 1
  %more.z = icmp ult i32 %z.next, %end.z
  br i1 %more.z, label %slice, label %done
done:
  ret void
}
!0 = !{}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.parallel_accesses", !3}
!3 = distinct !{}
!4 = !{i32 1, i32 1025}

; Instrumentation.
define internal void @sirius.__sirius_count(ptr %context, i64 %instructions) alwaysinline nounwind {
  %block = call ptr @sirius.block(ptr %context)
  %at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.counters
  %counters = load ptr, ptr %at, align 8
  %count = getelementptr inbounds i8, ptr %counters, i64 $Counters.instructions
  %old = load i64, ptr %count, align 8
  %new = add i64 %old, %instructions
  store i64 %new, ptr %count, align 8
  ret void
}
define internal void @sirius.__sirius_access(ptr %context, ptr %address, i64 %bytes, i32 %kind) alwaysinline {
  call void @__sirius_access(ptr %context, ptr %address, i64 %bytes, i32 %kind)
  ret void
}

; Special registers.
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.tid.x(ptr %c) alwaysinline {
  %p = getelementptr inbounds i8, ptr %c, i64 $ThreadContext.thread_index
  %v = load i32, ptr %p, align 4, !range !5
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.tid.y(ptr %c) alwaysinline {
  %p = getelementptr inbounds i8, ptr %c, i64 $ThreadContext.thread_index+4
  %v = load i32, ptr %p, align 4, !range !5
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.tid.z(ptr %c) alwaysinline {
  %p = getelementptr inbounds i8, ptr %c, i64 $ThreadContext.thread_index+8
  %v = load i32, ptr %p, align 4, !range !5
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.ctaid.x(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.block_index
  %v = load i32, ptr %p, align 4, !invariant.load !0
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.ctaid.y(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.block_index+4
  %v = load i32, ptr %p, align 4, !invariant.load !0
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.ctaid.z(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.block_index+8
  %v = load i32, ptr %p, align 4, !invariant.load !0
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.nctaid.x(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.grid_size
  %v = load i32, ptr %p, align 4, !invariant.load !0
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.nctaid.y(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.grid_size+4
  %v = load i32, ptr %p, align 4, !invariant.load !0
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.nctaid.z(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.grid_size+8
  %v = load i32, ptr %p, align 4, !invariant.load !0
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.ntid.x(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.block_size
  %v = load i32, ptr %p, align 4, !invariant.load !0, !range !4
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.ntid.y(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.block_size+4
  %v = load i32, ptr %p, align 4, !invariant.load !0, !range !4
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.ntid.z(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.block_size+8
  %v = load i32, ptr %p, align 4, !invariant.load !0, !range !4
  ret i32 %v
}
!5 = !{i32 0, i32 1024}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.laneid(ptr %c) alwaysinline {
  %p = getelementptr inbounds i8, ptr %c, i64 $ThreadContext.lane
  %v = load i32, ptr %p, align 4
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.warpsize(ptr %c) alwaysinline {
  ret i32 32
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.warpid(ptr %c) alwaysinline {
  %p = getelementptr inbounds i8, ptr %c, i64 $ThreadContext.linear_index
  %v = load i32, ptr %p, align 4
  %r = lshr i32 %v, 5
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.dynamic.smem.size(ptr %c) alwaysinline {
  %b = call ptr @sirius.block(ptr %c)
  %p = getelementptr inbounds i8, ptr %b, i64 $BlockContext.dynamic_shared_bytes
  %v = load i32, ptr %p, align 4
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.lanemask.eq(ptr %c) alwaysinline {
  %l = call i32 @sirius.llvm.nvvm.read.ptx.sreg.laneid(ptr %c)
  %m = shl i32 1, %l
  %lt = sub i32 %m, 1
  %le = or i32 %lt, %m
  %gt = xor i32 %le, -1
  %ge = xor i32 %lt, -1
  ret i32 %m
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.lanemask.lt(ptr %c) alwaysinline {
  %l = call i32 @sirius.llvm.nvvm.read.ptx.sreg.laneid(ptr %c)
  %m = shl i32 1, %l
  %lt = sub i32 %m, 1
  %le = or i32 %lt, %m
  %gt = xor i32 %le, -1
  %ge = xor i32 %lt, -1
  ret i32 %lt
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.lanemask.le(ptr %c) alwaysinline {
  %l = call i32 @sirius.llvm.nvvm.read.ptx.sreg.laneid(ptr %c)
  %m = shl i32 1, %l
  %lt = sub i32 %m, 1
  %le = or i32 %lt, %m
  %gt = xor i32 %le, -1
  %ge = xor i32 %lt, -1
  ret i32 %le
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.lanemask.gt(ptr %c) alwaysinline {
  %l = call i32 @sirius.llvm.nvvm.read.ptx.sreg.laneid(ptr %c)
  %m = shl i32 1, %l
  %lt = sub i32 %m, 1
  %le = or i32 %lt, %m
  %gt = xor i32 %le, -1
  %ge = xor i32 %lt, -1
  ret i32 %gt
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.lanemask.ge(ptr %c) alwaysinline {
  %l = call i32 @sirius.llvm.nvvm.read.ptx.sreg.laneid(ptr %c)
  %m = shl i32 1, %l
  %lt = sub i32 %m, 1
  %le = or i32 %lt, %m
  %gt = xor i32 %le, -1
  %ge = xor i32 %lt, -1
  ret i32 %ge
}
define internal i64 @sirius.llvm.nvvm.read.ptx.sreg.clock64(ptr %c) alwaysinline {
  %v = call i64 @__sirius_clock(ptr %c)
  ret i64 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.clock(ptr %c) alwaysinline {
  %v = call i64 @__sirius_clock(ptr %c)
  %r = trunc i64 %v to i32
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.read.ptx.sreg.globaltimer(ptr %c) alwaysinline {
  %v = call i64 @__sirius_global_timer(ptr %c)
  ret i64 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.globaltimer.lo(ptr %c) alwaysinline {
  %v = call i64 @__sirius_global_timer(ptr %c)
  %r = trunc i64 %v to i32
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.smid(ptr %c) alwaysinline {
  ret i32 0
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.nsmid(ptr %c) alwaysinline {
  ret i32 1
}
; Of a block it is always the same, so that it is asked of the block: of a thread's own context nobody else would
; read which block that is.
; The driver hands a cooperative launch the address of its workspace in these: upper half, lower half.
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.envreg1(ptr %c) alwaysinline {
  %block = call ptr @sirius.block(ptr %c)
  %all = call i64 @__sirius_grid_workspace(ptr %block)
  %upper = lshr i64 %all, 32
  %v = trunc i64 %upper to i32
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.envreg2(ptr %c) alwaysinline {
  %block = call ptr @sirius.block(ptr %c)
  %all = call i64 @__sirius_grid_workspace(ptr %block)
  %v = trunc i64 %all to i32
  ret i32 %v
}
; Clusters of blocks.
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.x(ptr %c) alwaysinline {
  %block = call ptr @sirius.block(ptr %c)
  %at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.cluster_size
  %v = load i32, ptr %at, align 4, !invariant.load !0
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.ctaid.x(ptr %c) alwaysinline {
  %index = call i32 @sirius.llvm.nvvm.read.ptx.sreg.ctaid.x(ptr %c)
  %extent = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.x(ptr %c)
  %v = urem i32 %index, %extent
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.clusterid.x(ptr %c) alwaysinline {
  %index = call i32 @sirius.llvm.nvvm.read.ptx.sreg.ctaid.x(ptr %c)
  %extent = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.x(ptr %c)
  %v = udiv i32 %index, %extent
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.nclusterid.x(ptr %c) alwaysinline {
  %all = call i32 @sirius.llvm.nvvm.read.ptx.sreg.nctaid.x(ptr %c)
  %extent = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.x(ptr %c)
  %v = udiv i32 %all, %extent
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.y(ptr %c) alwaysinline {
  %block = call ptr @sirius.block(ptr %c)
  %at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.cluster_size+4
  %v = load i32, ptr %at, align 4, !invariant.load !0
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.ctaid.y(ptr %c) alwaysinline {
  %index = call i32 @sirius.llvm.nvvm.read.ptx.sreg.ctaid.y(ptr %c)
  %extent = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.y(ptr %c)
  %v = urem i32 %index, %extent
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.clusterid.y(ptr %c) alwaysinline {
  %index = call i32 @sirius.llvm.nvvm.read.ptx.sreg.ctaid.y(ptr %c)
  %extent = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.y(ptr %c)
  %v = udiv i32 %index, %extent
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.nclusterid.y(ptr %c) alwaysinline {
  %all = call i32 @sirius.llvm.nvvm.read.ptx.sreg.nctaid.y(ptr %c)
  %extent = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.y(ptr %c)
  %v = udiv i32 %all, %extent
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.z(ptr %c) alwaysinline {
  %block = call ptr @sirius.block(ptr %c)
  %at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.cluster_size+8
  %v = load i32, ptr %at, align 4, !invariant.load !0
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.ctaid.z(ptr %c) alwaysinline {
  %index = call i32 @sirius.llvm.nvvm.read.ptx.sreg.ctaid.z(ptr %c)
  %extent = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.z(ptr %c)
  %v = urem i32 %index, %extent
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.clusterid.z(ptr %c) alwaysinline {
  %index = call i32 @sirius.llvm.nvvm.read.ptx.sreg.ctaid.z(ptr %c)
  %extent = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.z(ptr %c)
  %v = udiv i32 %index, %extent
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.nclusterid.z(ptr %c) alwaysinline {
  %all = call i32 @sirius.llvm.nvvm.read.ptx.sreg.nctaid.z(ptr %c)
  %extent = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.z(ptr %c)
  %v = udiv i32 %all, %extent
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.ctarank(ptr %c) alwaysinline {
  %x = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.ctaid.x(ptr %c)
  %y = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.ctaid.y(ptr %c)
  %z = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.ctaid.z(ptr %c)
  %width = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.x(ptr %c)
  %height = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.y(ptr %c)
  %slice = mul i32 %z, %height
  %row = add i32 %slice, %y
  %begin = mul i32 %row, %width
  %v = add i32 %begin, %x
  ret i32 %v
}
define internal i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctarank(ptr %c) alwaysinline {
  %width = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.x(ptr %c)
  %height = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.y(ptr %c)
  %depth = call i32 @sirius.llvm.nvvm.read.ptx.sreg.cluster.nctaid.z(ptr %c)
  %area = mul i32 %width, %height
  %v = mul i32 %area, %depth
  ret i32 %v
}
define internal i1 @sirius.llvm.nvvm.is_explicit_cluster(ptr %c) alwaysinline {
  %block = call ptr @sirius.block(ptr %c)
  %at = getelementptr inbounds i8, ptr %block, i64 $BlockContext.cluster_is_explicit
  %told = load i32, ptr %at, align 4, !invariant.load !0
  %v = icmp ne i32 %told, 0
  ret i1 %v
}
define internal void @sirius.llvm.nvvm.barrier.cluster.arrive(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.llvm.nvvm.barrier.cluster.arrive.aligned(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.llvm.nvvm.barrier.cluster.arrive.relaxed(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.llvm.nvvm.barrier.cluster.arrive.relaxed.aligned(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.llvm.nvvm.barrier.cluster.wait(ptr %c) alwaysinline {
  call void @__sirius_cluster_wait(ptr %c)
  ret void
}
define internal void @sirius.llvm.nvvm.barrier.cluster.wait.aligned(ptr %c) alwaysinline {
  call void @__sirius_cluster_wait(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.arrive(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.arrive.aligned(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.arrive.relaxed(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.arrive.relaxed.aligned(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.arrive.release(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.arrive.release.aligned(ptr %c) alwaysinline {
  call void @__sirius_cluster_arrive(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.wait(ptr %c) alwaysinline {
  call void @__sirius_cluster_wait(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.wait.aligned(ptr %c) alwaysinline {
  call void @__sirius_cluster_wait(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.wait.acquire(ptr %c) alwaysinline {
  call void @__sirius_cluster_wait(ptr %c)
  ret void
}
define internal void @sirius.asm.barrier.cluster.wait.acquire.aligned(ptr %c) alwaysinline {
  call void @__sirius_cluster_wait(ptr %c)
  ret void
}
define internal ptr @sirius.llvm.nvvm.mapa(ptr %c, ptr %a, i32 %rank) alwaysinline {
  %address = ptrtoint ptr %a to i64
  %there = call i64 @__sirius_map_shared(ptr %c, i64 %address, i32 %rank)
  %v = inttoptr i64 %there to ptr
  ret ptr %v
}
; Of an address of 32 bits the upper half is that of the block's own shared memory.
@sirius.far.shared = internal constant [72 x i8] c"shared memory of a cluster that 32 bits of an address do not tell apart\00"
define internal i32 @"sirius.asm.mapa.shared::cluster.u32"(ptr %c, i32 %a, i32 %rank) alwaysinline {
  %shared = call ptr @sirius.shared(ptr %c)
  %start = ptrtoint ptr %shared to i64
  %low = trunc i64 %start to i32
  %distance = sub i32 %a, %low
  %wide = sext i32 %distance to i64
  %address = add i64 %start, %wide
  %there = call i64 @__sirius_map_shared(ptr %c, i64 %address, i32 %rank)
  %v = trunc i64 %there to i32
  %further = sub i64 %there, %start
  %short = trunc i64 %further to i32
  %again = sext i32 %short to i64
  %fits = icmp eq i64 %again, %further
  br i1 %fits, label %near, label %far
far:
  call void @__sirius_unsupported(ptr %c, ptr @sirius.far.shared)
  unreachable
near:
  ret i32 %v
}
define internal i64 @sirius.asm.mapa.u64(ptr %c, i64 %address, i32 %rank) alwaysinline {
  %there = call i64 @__sirius_map_shared(ptr %c, i64 %address, i32 %rank)
  ret i64 %there
}
define internal i32 @sirius.llvm.nvvm.getctarank(ptr %c, ptr %a) alwaysinline {
  %address = ptrtoint ptr %a to i64
  %v = call i32 @__sirius_shared_rank(ptr %c, i64 %address)
  ret i32 %v
}
define internal i32 @sirius.asm.getctarank.u64(ptr %c, i64 %address) alwaysinline {
  %v = call i32 @__sirius_shared_rank(ptr %c, i64 %address)
  ret i32 %v
}
define internal i1 @sirius.llvm.nvvm.isspacep.shared.cluster(ptr %c, ptr %a) alwaysinline {
  %address = ptrtoint ptr %a to i64
  %rank = call i32 @__sirius_shared_rank(ptr %c, i64 %address)
  %v = icmp ne i32 %rank, -1
  ret i1 %v
}
; Barriers.
define internal void @sirius.llvm.nvvm.barrier.cta.sync.aligned.all(ptr %c, i32 %id) alwaysinline {
  %zero = icmp eq i32 %id, 0
  br i1 %zero, label %block, label %named
  block:
  call void @__sirius_barrier(ptr %c)
  ret void
  named:
  call void @__sirius_named_barrier(ptr %c, i32 %id, i32 0)
  ret void
}
define internal void @sirius.llvm.nvvm.barrier.cta.sync.all(ptr %c, i32 %id) alwaysinline {
  call void @sirius.llvm.nvvm.barrier.cta.sync.aligned.all(ptr %c, i32 %id)
  ret void
}
define internal void @sirius.llvm.nvvm.barrier.cta.sync.aligned.count(ptr %c, i32 %id, i32 %n) alwaysinline {
  call void @__sirius_named_barrier(ptr %c, i32 %id, i32 %n)
  ret void
}
define internal void @sirius.llvm.nvvm.barrier.cta.arrive.count(ptr %c, i32 %id, i32 %n) alwaysinline {
  call void @__sirius_barrier_arrive(ptr %c, i32 %id, i32 %n)
  ret void
}
define internal void @sirius.llvm.nvvm.barrier.cta.arrive.aligned.count(ptr %c, i32 %id, i32 %n) alwaysinline {
  call void @__sirius_barrier_arrive(ptr %c, i32 %id, i32 %n)
  ret void
}
define internal i32 @sirius.llvm.nvvm.barrier.cta.red.popc.aligned.all(ptr %c, i32 %id, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 0, i32 %v, i32 0)
  ret i32 %r
}
define internal i1 @sirius.llvm.nvvm.barrier.cta.red.and.aligned.all(ptr %c, i32 %id, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 0, i32 %v, i32 1)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal i1 @sirius.llvm.nvvm.barrier.cta.red.or.aligned.all(ptr %c, i32 %id, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 0, i32 %v, i32 2)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal void @sirius.llvm.nvvm.barrier.cta.sync.count(ptr %c, i32 %id, i32 %n) alwaysinline {
  call void @__sirius_named_barrier(ptr %c, i32 %id, i32 %n)
  ret void
}
define internal i32 @sirius.llvm.nvvm.barrier.cta.red.popc.all(ptr %c, i32 %id, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 0, i32 %v, i32 0)
  ret i32 %r
}
define internal i1 @sirius.llvm.nvvm.barrier.cta.red.and.all(ptr %c, i32 %id, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 0, i32 %v, i32 1)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal i1 @sirius.llvm.nvvm.barrier.cta.red.or.all(ptr %c, i32 %id, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 0, i32 %v, i32 2)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal i32 @sirius.llvm.nvvm.barrier.cta.red.popc.aligned.count(ptr %c, i32 %id, i32 %n, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 %n, i32 %v, i32 0)
  ret i32 %r
}
define internal i1 @sirius.llvm.nvvm.barrier.cta.red.and.aligned.count(ptr %c, i32 %id, i32 %n, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 %n, i32 %v, i32 1)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal i1 @sirius.llvm.nvvm.barrier.cta.red.or.aligned.count(ptr %c, i32 %id, i32 %n, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 %n, i32 %v, i32 2)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal i32 @sirius.llvm.nvvm.barrier.cta.red.popc.count(ptr %c, i32 %id, i32 %n, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 %n, i32 %v, i32 0)
  ret i32 %r
}
define internal i1 @sirius.llvm.nvvm.barrier.cta.red.and.count(ptr %c, i32 %id, i32 %n, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 %n, i32 %v, i32 1)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal i1 @sirius.llvm.nvvm.barrier.cta.red.or.count(ptr %c, i32 %id, i32 %n, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_barrier_reduce(ptr %c, i32 %id, i32 %n, i32 %v, i32 2)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal void @sirius.llvm.nvvm.bar.warp.sync(ptr %c, i32 %m) alwaysinline {
  call void @__sirius_warp_barrier(ptr %c, i32 %m)
  ret void
}
; Shifts by as many places as a register has, or more, leave nothing but the sign.
define internal i16 @sirius.asm.shr.b16(ptr %c, i16 %a, i32 %n) alwaysinline {
  %w = trunc i32 %n to i16
  %all = icmp ugt i32 %n, 15
  %v = lshr i16 %a, %w
  %r = select i1 %all, i16 0, i16 %v
  ret i16 %r
}
define internal i16 @sirius.asm.shr.u16(ptr %c, i16 %a, i32 %n) alwaysinline {
  %w = trunc i32 %n to i16
  %all = icmp ugt i32 %n, 15
  %v = lshr i16 %a, %w
  %r = select i1 %all, i16 0, i16 %v
  ret i16 %r
}
define internal i16 @sirius.asm.shr.s16(ptr %c, i16 %a, i32 %n) alwaysinline {
  %w = trunc i32 %n to i16
  %sign = ashr i16 %a, 15
  %all = icmp ugt i32 %n, 15
  %v = ashr i16 %a, %w
  %r = select i1 %all, i16 %sign, i16 %v
  ret i16 %r
}
define internal i16 @sirius.asm.shl.b16(ptr %c, i16 %a, i32 %n) alwaysinline {
  %w = trunc i32 %n to i16
  %all = icmp ugt i32 %n, 15
  %v = shl i16 %a, %w
  %r = select i1 %all, i16 0, i16 %v
  ret i16 %r
}
define internal i32 @sirius.asm.shr.b32(ptr %c, i32 %a, i32 %n) alwaysinline {
  %all = icmp ugt i32 %n, 31
  %v = lshr i32 %a, %n
  %r = select i1 %all, i32 0, i32 %v
  ret i32 %r
}
define internal i32 @sirius.asm.shr.u32(ptr %c, i32 %a, i32 %n) alwaysinline {
  %all = icmp ugt i32 %n, 31
  %v = lshr i32 %a, %n
  %r = select i1 %all, i32 0, i32 %v
  ret i32 %r
}
define internal i32 @sirius.asm.shr.s32(ptr %c, i32 %a, i32 %n) alwaysinline {
  %sign = ashr i32 %a, 31
  %all = icmp ugt i32 %n, 31
  %v = ashr i32 %a, %n
  %r = select i1 %all, i32 %sign, i32 %v
  ret i32 %r
}
define internal i32 @sirius.asm.shl.b32(ptr %c, i32 %a, i32 %n) alwaysinline {
  %all = icmp ugt i32 %n, 31
  %v = shl i32 %a, %n
  %r = select i1 %all, i32 0, i32 %v
  ret i32 %r
}
define internal i64 @sirius.asm.shr.b64(ptr %c, i64 %a, i32 %n) alwaysinline {
  %w = zext i32 %n to i64
  %all = icmp ugt i32 %n, 63
  %v = lshr i64 %a, %w
  %r = select i1 %all, i64 0, i64 %v
  ret i64 %r
}
define internal i64 @sirius.asm.shr.u64(ptr %c, i64 %a, i32 %n) alwaysinline {
  %w = zext i32 %n to i64
  %all = icmp ugt i32 %n, 63
  %v = lshr i64 %a, %w
  %r = select i1 %all, i64 0, i64 %v
  ret i64 %r
}
define internal i64 @sirius.asm.shr.s64(ptr %c, i64 %a, i32 %n) alwaysinline {
  %w = zext i32 %n to i64
  %sign = ashr i64 %a, 63
  %all = icmp ugt i32 %n, 63
  %v = ashr i64 %a, %w
  %r = select i1 %all, i64 %sign, i64 %v
  ret i64 %r
}
define internal i64 @sirius.asm.shl.b64(ptr %c, i64 %a, i32 %n) alwaysinline {
  %w = zext i32 %n to i64
  %all = icmp ugt i32 %n, 63
  %v = shl i64 %a, %w
  %r = select i1 %all, i64 0, i64 %v
  ret i64 %r
}
; Barriers in shared memory; runtime_shim::execution::shared_barrier says what is in their words. A
; phase is over when its bit has changed.
define internal void @sirius.mbarrier.init(ptr %c, ptr %b, i32 %n) alwaysinline {
  %count = zext i32 %n to i64
  %later = shl i64 %count, 20
  %word = or i64 %count, %later
  store i64 %word, ptr %b, align 1
  ret void
}
define internal void @sirius.mbarrier.inval(ptr %c, ptr %b) alwaysinline {
  store i64 0, ptr %b, align 1
  ret void
}
define internal i64 @sirius.mbarrier.arrive(ptr %c, ptr %b, i32 %n) alwaysinline {
  %state = call i64 @__sirius_shared_barrier_arrive(ptr %c, ptr %b, i32 %n, i32 0, i32 0)
  ret i64 %state
}
define internal i64 @sirius.mbarrier.arrive_drop(ptr %c, ptr %b, i32 %n) alwaysinline {
  %state = call i64 @__sirius_shared_barrier_arrive(ptr %c, ptr %b, i32 %n, i32 1, i32 0)
  ret i64 %state
}
; Bytes that are to come, with an arrival or without one, and bytes that have come.
define internal i64 @sirius.mbarrier.arrive.expect(ptr %c, ptr %b, i32 %bytes) alwaysinline {
  %state = call i64 @__sirius_shared_barrier_arrive(ptr %c, ptr %b, i32 1, i32 0, i32 %bytes)
  ret i64 %state
}
define internal i64 @sirius.mbarrier.arrive_drop.expect(ptr %c, ptr %b, i32 %bytes) alwaysinline {
  %state = call i64 @__sirius_shared_barrier_arrive(ptr %c, ptr %b, i32 1, i32 1, i32 %bytes)
  ret i64 %state
}
define internal void @sirius.mbarrier.expect(ptr %c, ptr %b, i32 %bytes) alwaysinline {
  %state = call i64 @__sirius_shared_barrier_arrive(ptr %c, ptr %b, i32 0, i32 0, i32 %bytes)
  ret void
}
define internal void @sirius.mbarrier.complete(ptr %c, ptr %b, i32 %bytes) alwaysinline {
  %fewer = sub i32 0, %bytes
  %state = call i64 @__sirius_shared_barrier_arrive(ptr %c, ptr %b, i32 0, i32 0, i32 %fewer)
  ret void
}
define internal i1 @sirius.mbarrier.wait(ptr %c, ptr %b, i64 %state) alwaysinline {
  %bit = lshr i64 %state, 63
  %phase = trunc i64 %bit to i32
  %over = call i32 @__sirius_shared_barrier_wait(ptr %c, ptr %b, i32 %phase)
  %r = icmp ne i32 %over, 0
  ret i1 %r
}
define internal i1 @sirius.mbarrier.wait.parity(ptr %c, ptr %b, i32 %phase) alwaysinline {
  %over = call i32 @__sirius_shared_barrier_wait(ptr %c, ptr %b, i32 %phase)
  %r = icmp ne i32 %over, 0
  ret i1 %r
}
define internal i32 @sirius.mbarrier.pending_count(ptr %c, i64 %state) alwaysinline {
  %low = and i64 %state, 1048575
  %r = trunc i64 %low to i32
  ret i32 %r
}
define internal void @sirius.llvm.nvvm.mbarrier.init(ptr %c, ptr %b, i32 %n) alwaysinline {
  call void @sirius.mbarrier.init(ptr %c, ptr %b, i32 %n)
  ret void
}
define internal void @sirius.llvm.nvvm.mbarrier.inval(ptr %c, ptr %b) alwaysinline {
  call void @sirius.mbarrier.inval(ptr %c, ptr %b)
  ret void
}
define internal i1 @sirius.llvm.nvvm.mbarrier.test.wait(ptr %c, ptr %b, i64 %state) alwaysinline {
  %r = call i1 @sirius.mbarrier.wait(ptr %c, ptr %b, i64 %state)
  ret i1 %r
}
define internal i64 @sirius.llvm.nvvm.mbarrier.arrive(ptr %c, ptr %b) alwaysinline {
  %r = call i64 @sirius.mbarrier.arrive(ptr %c, ptr %b, i32 1)
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.mbarrier.arrive.noComplete(ptr %c, ptr %b, i32 %n) alwaysinline {
  %r = call i64 @sirius.mbarrier.arrive(ptr %c, ptr %b, i32 %n)
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.mbarrier.arrive.drop(ptr %c, ptr %b) alwaysinline {
  %r = call i64 @sirius.mbarrier.arrive_drop(ptr %c, ptr %b, i32 1)
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.mbarrier.arrive.drop.noComplete(ptr %c, ptr %b, i32 %n) alwaysinline {
  %r = call i64 @sirius.mbarrier.arrive_drop(ptr %c, ptr %b, i32 %n)
  ret i64 %r
}
define internal void @sirius.llvm.nvvm.mbarrier.init.shared(ptr %c, ptr %b, i32 %n) alwaysinline {
  call void @sirius.mbarrier.init(ptr %c, ptr %b, i32 %n)
  ret void
}
define internal void @sirius.llvm.nvvm.mbarrier.inval.shared(ptr %c, ptr %b) alwaysinline {
  call void @sirius.mbarrier.inval(ptr %c, ptr %b)
  ret void
}
define internal i1 @sirius.llvm.nvvm.mbarrier.test.wait.shared(ptr %c, ptr %b, i64 %state) alwaysinline {
  %r = call i1 @sirius.mbarrier.wait(ptr %c, ptr %b, i64 %state)
  ret i1 %r
}
define internal i64 @sirius.llvm.nvvm.mbarrier.arrive.shared(ptr %c, ptr %b) alwaysinline {
  %r = call i64 @sirius.mbarrier.arrive(ptr %c, ptr %b, i32 1)
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.mbarrier.arrive.noComplete.shared(ptr %c, ptr %b, i32 %n) alwaysinline {
  %r = call i64 @sirius.mbarrier.arrive(ptr %c, ptr %b, i32 %n)
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.mbarrier.arrive.drop.shared(ptr %c, ptr %b) alwaysinline {
  %r = call i64 @sirius.mbarrier.arrive_drop(ptr %c, ptr %b, i32 1)
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.mbarrier.arrive.drop.noComplete.shared(ptr %c, ptr %b, i32 %n) alwaysinline {
  %r = call i64 @sirius.mbarrier.arrive_drop(ptr %c, ptr %b, i32 %n)
  ret i64 %r
}
define internal i32 @sirius.llvm.nvvm.mbarrier.pending.count(ptr %c, i64 %state) alwaysinline {
  %r = call i32 @sirius.mbarrier.pending_count(ptr %c, i64 %state)
  ret i32 %r
}
; Fences. Threads of a block run on one core; blocks on several.
define internal void @sirius.llvm.nvvm.membar.cta(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.llvm.nvvm.membar.gl(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.llvm.nvvm.membar.sys(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.llvm.nvvm.fence.sc.cluster(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.llvm.nvvm.nanosleep(ptr %c, i32 %n) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  ret void
}
; Asynchronous copies, made at once: there is nothing to wait for.
define internal void @sirius.llvm.nvvm.cp.async.commit.group(ptr %c) alwaysinline {
  ret void
}
define internal void @sirius.llvm.nvvm.cp.async.wait.group(ptr %c, i32 %n) alwaysinline {
  ret void
}
define internal void @sirius.llvm.nvvm.cp.async.wait.all(ptr %c) alwaysinline {
  ret void
}
define internal void @sirius.llvm.nvvm.cp.async.ca.shared.global.4(ptr %c, ptr %to, ptr %from) alwaysinline {
  %v = load i32, ptr %from, align 1
  store i32 %v, ptr %to, align 1
  ret void
}
define internal void @sirius.llvm.nvvm.cp.async.ca.shared.global.8(ptr %c, ptr %to, ptr %from) alwaysinline {
  %v = load i64, ptr %from, align 1
  store i64 %v, ptr %to, align 1
  ret void
}
define internal void @sirius.llvm.nvvm.cp.async.ca.shared.global.16(ptr %c, ptr %to, ptr %from) alwaysinline {
  %v = load i128, ptr %from, align 1
  store i128 %v, ptr %to, align 1
  ret void
}
define internal void @sirius.llvm.nvvm.cp.async.cg.shared.global.16(ptr %c, ptr %to, ptr %from) alwaysinline {
  %v = load i128, ptr %from, align 1
  store i128 %v, ptr %to, align 1
  ret void
}
; An asynchronous copy of `size` bytes, of which the first `told` come from the source and the rest are zeros.
define internal void @sirius.copy.partly(ptr %c, ptr %to, ptr %from, i64 %size, i64 %told) alwaysinline {
  entry:
  %known = call i64 @llvm.umin.i64(i64 %told, i64 %size)
  br label %head
  head:
  %i = phi i64 [ 0, %entry ], [ %next, %written ]
  %more = icmp ult i64 %i, %size
  br i1 %more, label %byte, label %done
  byte:
  %place = getelementptr i8, ptr %to, i64 %i
  %inside = icmp ult i64 %i, %known
  br i1 %inside, label %copied, label %zeroed
  copied:
  %source = getelementptr i8, ptr %from, i64 %i
  %v = load i8, ptr %source, align 1
  store i8 %v, ptr %place, align 1
  br label %written
  zeroed:
  store i8 0, ptr %place, align 1
  br label %written
  written:
  %next = add i64 %i, 1
  br label %head
  done:
  ret void
}
; A copy of many bytes.
define internal void @sirius.copy.bulk(ptr %c, ptr %to, ptr %from, i64 %size) alwaysinline {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  ret void
}
; Before a thread looks again at what another one may write.
define internal void @sirius.give_way(ptr %c) alwaysinline {
  call void @__sirius_give_way(ptr %c)
  ret void
}
; Before a thread does what a warp is taken to do in lockstep.
define internal void @sirius.keep_step(ptr %c, i32 %step) alwaysinline {
  call void @__sirius_keep_step(ptr %c, i32 %step)
  ret void
}

; Textures and surfaces: what instrumented code reports stands where these are called.
define internal void @sirius.note_place(ptr %c) alwaysinline {
  call void @__sirius_note_place(ptr %c)
  ret void
}
define internal { i64, i64 } @sirius.texture(ptr %c, i64 %object, i32 %request, ptr %words) alwaysinline {
  %texel = call { i64, i64 } @__sirius_texture(ptr %c, i64 %object, i32 %request, ptr %words)
  ret { i64, i64 } %texel
}
define internal { i64, i64 } @sirius.surface_read(ptr %c, i64 %object, i32 %request, ptr %words) alwaysinline {
  %value = call { i64, i64 } @__sirius_surface_read(ptr %c, i64 %object, i32 %request, ptr %words)
  ret { i64, i64 } %value
}
define internal void @sirius.surface_write(ptr %c, i64 %object, i32 %request, ptr %words, i64 %low, i64 %high) alwaysinline {
  call void @__sirius_surface_write(ptr %c, i64 %object, i32 %request, ptr %words, i64 %low, i64 %high)
  ret void
}

define internal void @sirius.__sirius_multiply_tiles(ptr %context, ptr %a, ptr %b, ptr %c, ptr %d, i32 %shape, i32 %form, i32 %held) alwaysinline {
  call void @__sirius_multiply_tiles(ptr %context, ptr %a, ptr %b, ptr %c, ptr %d, i32 %shape, i32 %form, i32 %held)
  ret void
}
; Shuffles: mode 0 up, 1 down, 2 bfly, 3 idx.
define internal i32 @sirius.llvm.nvvm.shfl.sync.up.i32(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k) alwaysinline {
  %x = add i32 %v, 0
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 0, ptr %in)
  %r = add i32 %s, 0
  ret i32 %r
}
define internal { i32, i1 } @sirius.llvm.nvvm.shfl.sync.up.i32p(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k) alwaysinline {
  %x = add i32 %v, 0
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 0, ptr %in)
  %r = add i32 %s, 0
  %p = load i32, ptr %in, align 4
  %b = icmp ne i32 %p, 0
  %a0 = insertvalue { i32, i1 } poison, i32 %r, 0
  %a1 = insertvalue { i32, i1 } %a0, i1 %b, 1
  ret { i32, i1 } %a1
}
define internal float @sirius.llvm.nvvm.shfl.sync.up.f32(ptr %c, i32 %m, float %v, i32 %o, i32 %k) alwaysinline {
  %x = bitcast float %v to i32
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 0, ptr %in)
  %r = bitcast i32 %s to float
  ret float %r
}
define internal { float, i1 } @sirius.llvm.nvvm.shfl.sync.up.f32p(ptr %c, i32 %m, float %v, i32 %o, i32 %k) alwaysinline {
  %x = bitcast float %v to i32
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 0, ptr %in)
  %r = bitcast i32 %s to float
  %p = load i32, ptr %in, align 4
  %b = icmp ne i32 %p, 0
  %a0 = insertvalue { float, i1 } poison, float %r, 0
  %a1 = insertvalue { float, i1 } %a0, i1 %b, 1
  ret { float, i1 } %a1
}
define internal i32 @sirius.llvm.nvvm.shfl.sync.down.i32(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k) alwaysinline {
  %x = add i32 %v, 0
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 1, ptr %in)
  %r = add i32 %s, 0
  ret i32 %r
}
define internal { i32, i1 } @sirius.llvm.nvvm.shfl.sync.down.i32p(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k) alwaysinline {
  %x = add i32 %v, 0
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 1, ptr %in)
  %r = add i32 %s, 0
  %p = load i32, ptr %in, align 4
  %b = icmp ne i32 %p, 0
  %a0 = insertvalue { i32, i1 } poison, i32 %r, 0
  %a1 = insertvalue { i32, i1 } %a0, i1 %b, 1
  ret { i32, i1 } %a1
}
define internal float @sirius.llvm.nvvm.shfl.sync.down.f32(ptr %c, i32 %m, float %v, i32 %o, i32 %k) alwaysinline {
  %x = bitcast float %v to i32
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 1, ptr %in)
  %r = bitcast i32 %s to float
  ret float %r
}
define internal { float, i1 } @sirius.llvm.nvvm.shfl.sync.down.f32p(ptr %c, i32 %m, float %v, i32 %o, i32 %k) alwaysinline {
  %x = bitcast float %v to i32
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 1, ptr %in)
  %r = bitcast i32 %s to float
  %p = load i32, ptr %in, align 4
  %b = icmp ne i32 %p, 0
  %a0 = insertvalue { float, i1 } poison, float %r, 0
  %a1 = insertvalue { float, i1 } %a0, i1 %b, 1
  ret { float, i1 } %a1
}
define internal i32 @sirius.llvm.nvvm.shfl.sync.bfly.i32(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k) alwaysinline {
  %x = add i32 %v, 0
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 2, ptr %in)
  %r = add i32 %s, 0
  ret i32 %r
}
define internal { i32, i1 } @sirius.llvm.nvvm.shfl.sync.bfly.i32p(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k) alwaysinline {
  %x = add i32 %v, 0
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 2, ptr %in)
  %r = add i32 %s, 0
  %p = load i32, ptr %in, align 4
  %b = icmp ne i32 %p, 0
  %a0 = insertvalue { i32, i1 } poison, i32 %r, 0
  %a1 = insertvalue { i32, i1 } %a0, i1 %b, 1
  ret { i32, i1 } %a1
}
define internal float @sirius.llvm.nvvm.shfl.sync.bfly.f32(ptr %c, i32 %m, float %v, i32 %o, i32 %k) alwaysinline {
  %x = bitcast float %v to i32
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 2, ptr %in)
  %r = bitcast i32 %s to float
  ret float %r
}
define internal { float, i1 } @sirius.llvm.nvvm.shfl.sync.bfly.f32p(ptr %c, i32 %m, float %v, i32 %o, i32 %k) alwaysinline {
  %x = bitcast float %v to i32
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 2, ptr %in)
  %r = bitcast i32 %s to float
  %p = load i32, ptr %in, align 4
  %b = icmp ne i32 %p, 0
  %a0 = insertvalue { float, i1 } poison, float %r, 0
  %a1 = insertvalue { float, i1 } %a0, i1 %b, 1
  ret { float, i1 } %a1
}
define internal i32 @sirius.llvm.nvvm.shfl.sync.idx.i32(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k) alwaysinline {
  %x = add i32 %v, 0
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 3, ptr %in)
  %r = add i32 %s, 0
  ret i32 %r
}
define internal { i32, i1 } @sirius.llvm.nvvm.shfl.sync.idx.i32p(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k) alwaysinline {
  %x = add i32 %v, 0
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 3, ptr %in)
  %r = add i32 %s, 0
  %p = load i32, ptr %in, align 4
  %b = icmp ne i32 %p, 0
  %a0 = insertvalue { i32, i1 } poison, i32 %r, 0
  %a1 = insertvalue { i32, i1 } %a0, i1 %b, 1
  ret { i32, i1 } %a1
}
define internal float @sirius.llvm.nvvm.shfl.sync.idx.f32(ptr %c, i32 %m, float %v, i32 %o, i32 %k) alwaysinline {
  %x = bitcast float %v to i32
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 3, ptr %in)
  %r = bitcast i32 %s to float
  ret float %r
}
define internal { float, i1 } @sirius.llvm.nvvm.shfl.sync.idx.f32p(ptr %c, i32 %m, float %v, i32 %o, i32 %k) alwaysinline {
  %x = bitcast float %v to i32
  %in = alloca i32, align 4
  %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %x, i32 %o, i32 %k, i32 3, ptr %in)
  %r = bitcast i32 %s to float
  %p = load i32, ptr %in, align 4
  %b = icmp ne i32 %p, 0
  %a0 = insertvalue { float, i1 } poison, float %r, 0
  %a1 = insertvalue { float, i1 } %a0, i1 %b, 1
  ret { float, i1 } %a1
}
; Votes: 0 all, 1 any, 2 uni, 3 ballot.
define internal i1 @sirius.llvm.nvvm.vote.all.sync(ptr %c, i32 %m, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_vote(ptr %c, i32 %m, i32 %v, i32 0)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal i1 @sirius.llvm.nvvm.vote.any.sync(ptr %c, i32 %m, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_vote(ptr %c, i32 %m, i32 %v, i32 1)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal i1 @sirius.llvm.nvvm.vote.uni.sync(ptr %c, i32 %m, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_vote(ptr %c, i32 %m, i32 %v, i32 2)
  %b = icmp ne i32 %r, 0
  ret i1 %b
}
define internal i32 @sirius.llvm.nvvm.vote.ballot.sync(ptr %c, i32 %m, i1 %p) alwaysinline {
  %v = zext i1 %p to i32
  %r = call i32 @__sirius_vote(ptr %c, i32 %m, i32 %v, i32 3)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.match.any.sync.i32(ptr %c, i32 %m, i32 %v) alwaysinline {
  %w = zext i32 %v to i64
  %p = alloca i32, align 4
  %r = call i32 @__sirius_match(ptr %c, i32 %m, i64 %w, i32 0, ptr %p)
  ret i32 %r
}
define internal { i32, i1 } @sirius.llvm.nvvm.match.all.sync.i32p(ptr %c, i32 %m, i32 %v) alwaysinline {
  %w = zext i32 %v to i64
  %p = alloca i32, align 4
  %r = call i32 @__sirius_match(ptr %c, i32 %m, i64 %w, i32 1, ptr %p)
  %q = load i32, ptr %p, align 4
  %b = icmp ne i32 %q, 0
  %a0 = insertvalue { i32, i1 } poison, i32 %r, 0
  %a1 = insertvalue { i32, i1 } %a0, i1 %b, 1
  ret { i32, i1 } %a1
}
define internal i32 @sirius.llvm.nvvm.match.any.sync.i64(ptr %c, i32 %m, i64 %v) alwaysinline {
  %w = add i64 %v, 0
  %p = alloca i32, align 4
  %r = call i32 @__sirius_match(ptr %c, i32 %m, i64 %w, i32 0, ptr %p)
  ret i32 %r
}
define internal { i32, i1 } @sirius.llvm.nvvm.match.all.sync.i64p(ptr %c, i32 %m, i64 %v) alwaysinline {
  %w = add i64 %v, 0
  %p = alloca i32, align 4
  %r = call i32 @__sirius_match(ptr %c, i32 %m, i64 %w, i32 1, ptr %p)
  %q = load i32, ptr %p, align 4
  %b = icmp ne i32 %q, 0
  %a0 = insertvalue { i32, i1 } poison, i32 %r, 0
  %a1 = insertvalue { i32, i1 } %a0, i1 %b, 1
  ret { i32, i1 } %a1
}
define internal i32 @sirius.llvm.nvvm.activemask(ptr %c) alwaysinline {
  %r = call i32 @__sirius_active_mask(ptr %c)
  ret i32 %r
}
; Operations that do not name their lanes, before sm_70: those that run in step take part.
define internal i1 @sirius.llvm.nvvm.vote.all(ptr %c, i1 %p) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call i1 @sirius.llvm.nvvm.vote.all.sync(ptr %c, i32 %m, i1 %p)
  ret i1 %r
}
define internal i1 @sirius.llvm.nvvm.vote.any(ptr %c, i1 %p) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call i1 @sirius.llvm.nvvm.vote.any.sync(ptr %c, i32 %m, i1 %p)
  ret i1 %r
}
define internal i1 @sirius.llvm.nvvm.vote.uni(ptr %c, i1 %p) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call i1 @sirius.llvm.nvvm.vote.uni.sync(ptr %c, i32 %m, i1 %p)
  ret i1 %r
}
define internal i32 @sirius.llvm.nvvm.vote.ballot(ptr %c, i1 %p) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call i32 @sirius.llvm.nvvm.vote.ballot.sync(ptr %c, i32 %m, i1 %p)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.shfl.up.i32(ptr %c, i32 %v, i32 %o, i32 %k) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call i32 @sirius.llvm.nvvm.shfl.sync.up.i32(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k)
  ret i32 %r
}
define internal float @sirius.llvm.nvvm.shfl.up.f32(ptr %c, float %v, i32 %o, i32 %k) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call float @sirius.llvm.nvvm.shfl.sync.up.f32(ptr %c, i32 %m, float %v, i32 %o, i32 %k)
  ret float %r
}
define internal i32 @sirius.llvm.nvvm.shfl.down.i32(ptr %c, i32 %v, i32 %o, i32 %k) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call i32 @sirius.llvm.nvvm.shfl.sync.down.i32(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k)
  ret i32 %r
}
define internal float @sirius.llvm.nvvm.shfl.down.f32(ptr %c, float %v, i32 %o, i32 %k) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call float @sirius.llvm.nvvm.shfl.sync.down.f32(ptr %c, i32 %m, float %v, i32 %o, i32 %k)
  ret float %r
}
define internal i32 @sirius.llvm.nvvm.shfl.bfly.i32(ptr %c, i32 %v, i32 %o, i32 %k) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call i32 @sirius.llvm.nvvm.shfl.sync.bfly.i32(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k)
  ret i32 %r
}
define internal float @sirius.llvm.nvvm.shfl.bfly.f32(ptr %c, float %v, i32 %o, i32 %k) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call float @sirius.llvm.nvvm.shfl.sync.bfly.f32(ptr %c, i32 %m, float %v, i32 %o, i32 %k)
  ret float %r
}
define internal i32 @sirius.llvm.nvvm.shfl.idx.i32(ptr %c, i32 %v, i32 %o, i32 %k) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call i32 @sirius.llvm.nvvm.shfl.sync.idx.i32(ptr %c, i32 %m, i32 %v, i32 %o, i32 %k)
  ret i32 %r
}
define internal float @sirius.llvm.nvvm.shfl.idx.f32(ptr %c, float %v, i32 %o, i32 %k) alwaysinline {
  %m = call i32 @__sirius_active_mask(ptr %c)
  %r = call float @sirius.llvm.nvvm.shfl.sync.idx.f32(ptr %c, i32 %m, float %v, i32 %o, i32 %k)
  ret float %r
}
; Reductions over the lanes of a mask, from shuffles by index.
define internal i32 @sirius.llvm.nvvm.redux.sync.add(ptr %c, i32 %v, i32 %m) alwaysinline {
  entry:
    %in = alloca i32, align 4
    br label %loop
  loop:
    %lane = phi i32 [ 0, %entry ], [ %next, %step ]
    %acc = phi i32 [ 0, %entry ], [ %new, %step ]
    %bit = shl i32 1, %lane
    %has = and i32 %m, %bit
    %member = icmp ne i32 %has, 0
    br i1 %member, label %take, label %step
  take:
    %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %v, i32 %lane, i32 31, i32 3, ptr %in)
    %n = add i32 %acc, %s
    br label %step
  step:
    %new = phi i32 [ %acc, %loop ], [ %n, %take ]
    %next = add i32 %lane, 1
    %more = icmp ult i32 %next, 32
    br i1 %more, label %loop, label %done
  done:
    ret i32 %new
}
define internal i32 @sirius.llvm.nvvm.redux.sync.min(ptr %c, i32 %v, i32 %m) alwaysinline {
  entry:
    %in = alloca i32, align 4
    br label %loop
  loop:
    %lane = phi i32 [ 0, %entry ], [ %next, %step ]
    %acc = phi i32 [ 2147483647, %entry ], [ %new, %step ]
    %bit = shl i32 1, %lane
    %has = and i32 %m, %bit
    %member = icmp ne i32 %has, 0
    br i1 %member, label %take, label %step
  take:
    %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %v, i32 %lane, i32 31, i32 3, ptr %in)
    %n = call i32 @llvm.smin.i32(i32 %acc, i32 %s)
    br label %step
  step:
    %new = phi i32 [ %acc, %loop ], [ %n, %take ]
    %next = add i32 %lane, 1
    %more = icmp ult i32 %next, 32
    br i1 %more, label %loop, label %done
  done:
    ret i32 %new
}
define internal i32 @sirius.llvm.nvvm.redux.sync.max(ptr %c, i32 %v, i32 %m) alwaysinline {
  entry:
    %in = alloca i32, align 4
    br label %loop
  loop:
    %lane = phi i32 [ 0, %entry ], [ %next, %step ]
    %acc = phi i32 [ -2147483648, %entry ], [ %new, %step ]
    %bit = shl i32 1, %lane
    %has = and i32 %m, %bit
    %member = icmp ne i32 %has, 0
    br i1 %member, label %take, label %step
  take:
    %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %v, i32 %lane, i32 31, i32 3, ptr %in)
    %n = call i32 @llvm.smax.i32(i32 %acc, i32 %s)
    br label %step
  step:
    %new = phi i32 [ %acc, %loop ], [ %n, %take ]
    %next = add i32 %lane, 1
    %more = icmp ult i32 %next, 32
    br i1 %more, label %loop, label %done
  done:
    ret i32 %new
}
define internal i32 @sirius.llvm.nvvm.redux.sync.umin(ptr %c, i32 %v, i32 %m) alwaysinline {
  entry:
    %in = alloca i32, align 4
    br label %loop
  loop:
    %lane = phi i32 [ 0, %entry ], [ %next, %step ]
    %acc = phi i32 [ -1, %entry ], [ %new, %step ]
    %bit = shl i32 1, %lane
    %has = and i32 %m, %bit
    %member = icmp ne i32 %has, 0
    br i1 %member, label %take, label %step
  take:
    %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %v, i32 %lane, i32 31, i32 3, ptr %in)
    %n = call i32 @llvm.umin.i32(i32 %acc, i32 %s)
    br label %step
  step:
    %new = phi i32 [ %acc, %loop ], [ %n, %take ]
    %next = add i32 %lane, 1
    %more = icmp ult i32 %next, 32
    br i1 %more, label %loop, label %done
  done:
    ret i32 %new
}
define internal i32 @sirius.llvm.nvvm.redux.sync.umax(ptr %c, i32 %v, i32 %m) alwaysinline {
  entry:
    %in = alloca i32, align 4
    br label %loop
  loop:
    %lane = phi i32 [ 0, %entry ], [ %next, %step ]
    %acc = phi i32 [ 0, %entry ], [ %new, %step ]
    %bit = shl i32 1, %lane
    %has = and i32 %m, %bit
    %member = icmp ne i32 %has, 0
    br i1 %member, label %take, label %step
  take:
    %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %v, i32 %lane, i32 31, i32 3, ptr %in)
    %n = call i32 @llvm.umax.i32(i32 %acc, i32 %s)
    br label %step
  step:
    %new = phi i32 [ %acc, %loop ], [ %n, %take ]
    %next = add i32 %lane, 1
    %more = icmp ult i32 %next, 32
    br i1 %more, label %loop, label %done
  done:
    ret i32 %new
}
define internal i32 @sirius.llvm.nvvm.redux.sync.and(ptr %c, i32 %v, i32 %m) alwaysinline {
  entry:
    %in = alloca i32, align 4
    br label %loop
  loop:
    %lane = phi i32 [ 0, %entry ], [ %next, %step ]
    %acc = phi i32 [ -1, %entry ], [ %new, %step ]
    %bit = shl i32 1, %lane
    %has = and i32 %m, %bit
    %member = icmp ne i32 %has, 0
    br i1 %member, label %take, label %step
  take:
    %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %v, i32 %lane, i32 31, i32 3, ptr %in)
    %n = and i32 %acc, %s
    br label %step
  step:
    %new = phi i32 [ %acc, %loop ], [ %n, %take ]
    %next = add i32 %lane, 1
    %more = icmp ult i32 %next, 32
    br i1 %more, label %loop, label %done
  done:
    ret i32 %new
}
define internal i32 @sirius.llvm.nvvm.redux.sync.or(ptr %c, i32 %v, i32 %m) alwaysinline {
  entry:
    %in = alloca i32, align 4
    br label %loop
  loop:
    %lane = phi i32 [ 0, %entry ], [ %next, %step ]
    %acc = phi i32 [ 0, %entry ], [ %new, %step ]
    %bit = shl i32 1, %lane
    %has = and i32 %m, %bit
    %member = icmp ne i32 %has, 0
    br i1 %member, label %take, label %step
  take:
    %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %v, i32 %lane, i32 31, i32 3, ptr %in)
    %n = or i32 %acc, %s
    br label %step
  step:
    %new = phi i32 [ %acc, %loop ], [ %n, %take ]
    %next = add i32 %lane, 1
    %more = icmp ult i32 %next, 32
    br i1 %more, label %loop, label %done
  done:
    ret i32 %new
}
define internal i32 @sirius.llvm.nvvm.redux.sync.xor(ptr %c, i32 %v, i32 %m) alwaysinline {
  entry:
    %in = alloca i32, align 4
    br label %loop
  loop:
    %lane = phi i32 [ 0, %entry ], [ %next, %step ]
    %acc = phi i32 [ 0, %entry ], [ %new, %step ]
    %bit = shl i32 1, %lane
    %has = and i32 %m, %bit
    %member = icmp ne i32 %has, 0
    br i1 %member, label %take, label %step
  take:
    %s = call i32 @__sirius_shuffle(ptr %c, i32 %m, i32 %v, i32 %lane, i32 31, i32 3, ptr %in)
    %n = xor i32 %acc, %s
    br label %step
  step:
    %new = phi i32 [ %acc, %loop ], [ %n, %take ]
    %next = add i32 %lane, 1
    %more = icmp ult i32 %next, 32
    br i1 %more, label %loop, label %done
  done:
    ret i32 %new
}
; Effects that the host sees.
define internal void @sirius.llvm.trap(ptr %c) alwaysinline {
  call void @__sirius_trap(ptr %c)
  unreachable
}
define internal void @sirius.llvm.debugtrap(ptr %c) alwaysinline {
  call void @__sirius_trap(ptr %c)
  unreachable
}
define internal i32 @sirius.vprintf(ptr %c, ptr %f, ptr %a) alwaysinline {
  %r = call i32 @__sirius_vprintf(ptr %c, ptr %f, ptr %a)
  ret i32 %r
}
define internal void @sirius.__assertfail(ptr %c, ptr %m, ptr %f, i32 %l, ptr %u, i64 %s) alwaysinline {
  call void @__sirius_assert_fail(ptr %c, ptr %m, ptr %f, i32 %l, ptr %u)
  unreachable
}
define internal ptr @sirius.malloc(ptr %c, i64 %n) alwaysinline {
  %r = call ptr @__sirius_device_malloc(ptr %c, i64 %n)
  ret ptr %r
}
define internal void @sirius.free(ptr %c, ptr %p) alwaysinline {
  call void @__sirius_device_free(ptr %c, ptr %p)
  ret void
}
; Address spaces are one on the CPU; only shared memory can be told apart.
define internal i1 @sirius.llvm.nvvm.isspacep.shared(ptr %c, ptr %p) alwaysinline {
  %s = call ptr @sirius.shared(ptr %c)
  %d = call ptr @sirius.dynamic_shared(ptr %c)
  %b = call ptr @sirius.block(ptr %c)
  %q = getelementptr inbounds i8, ptr %b, i64 $BlockContext.dynamic_shared_bytes
  %n = load i32, ptr %q, align 4
  %w = zext i32 %n to i64
  %e = getelementptr i8, ptr %d, i64 %w
  %ge = icmp uge ptr %p, %s
  %lt = icmp ult ptr %p, %e
  %r = and i1 %ge, %lt
  ret i1 %r
}
define internal i1 @sirius.llvm.nvvm.isspacep.global(ptr %c, ptr %p) alwaysinline {
  %s = call i1 @sirius.llvm.nvvm.isspacep.shared(ptr %c, ptr %p)
  %r = xor i1 %s, true
  ret i1 %r
}
define internal i1 @sirius.llvm.nvvm.isspacep.local(ptr %c, ptr %p) alwaysinline {
  ret i1 false
}
define internal i1 @sirius.llvm.nvvm.isspacep.const(ptr %c, ptr %p) alwaysinline {
  ret i1 false
}

; Fences, barriers and scoped atomics by other names. Scratch memory of tiles of several warps is
; not there: null, so that a use of it is found.
define internal void @sirius.asm.membar.gl(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.asm.membar.cta(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.asm.membar.sys(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.asm.fence.acq_rel.gpu(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.asm.fence.acq_rel.cta(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.asm.fence.acq_rel.sys(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.asm.fence.sc.gpu(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.asm.fence.sc.cta(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.asm.fence.sc.sys(ptr %c) alwaysinline {
  fence seq_cst
  ret void
}
define internal void @sirius.asm.block.barrier(ptr %c) alwaysinline {
  call void @__sirius_barrier(ptr %c)
  ret void
}
define internal void @sirius.asm.trap(ptr %c) alwaysinline {
  call void @__sirius_trap(ptr %c)
  unreachable
}
define internal i32 @sirius.llvm.nvvm.atomic.add.gen.i.cta.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw add ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.exch.gen.i.cta.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw xchg ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.and.gen.i.cta.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw and ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.or.gen.i.cta.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw or ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.xor.gen.i.cta.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw xor ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.cas.gen.i.cta.i32(ptr %c, ptr %p, i32 %e, i32 %v) alwaysinline {
  %x = cmpxchg ptr %p, i32 %e, i32 %v seq_cst seq_cst
  %r = extractvalue { i32, i1 } %x, 0
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.add.gen.i.cta.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw add ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.exch.gen.i.cta.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw xchg ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.and.gen.i.cta.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw and ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.or.gen.i.cta.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw or ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.xor.gen.i.cta.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw xor ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.cas.gen.i.cta.i64(ptr %c, ptr %p, i64 %e, i64 %v) alwaysinline {
  %x = cmpxchg ptr %p, i64 %e, i64 %v seq_cst seq_cst
  %r = extractvalue { i64, i1 } %x, 0
  ret i64 %r
}
define internal float @sirius.llvm.nvvm.atomic.add.gen.f.cta.f32(ptr %c, ptr %p, float %v) alwaysinline {
  %r = atomicrmw fadd ptr %p, float %v seq_cst
  ret float %r
}
define internal double @sirius.llvm.nvvm.atomic.add.gen.f.cta.f64(ptr %c, ptr %p, double %v) alwaysinline {
  %r = atomicrmw fadd ptr %p, double %v seq_cst
  ret double %r
}
define internal i32 @sirius.llvm.nvvm.atomic.add.gen.i.sys.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw add ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.exch.gen.i.sys.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw xchg ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.and.gen.i.sys.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw and ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.or.gen.i.sys.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw or ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.xor.gen.i.sys.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw xor ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.cas.gen.i.sys.i32(ptr %c, ptr %p, i32 %e, i32 %v) alwaysinline {
  %x = cmpxchg ptr %p, i32 %e, i32 %v seq_cst seq_cst
  %r = extractvalue { i32, i1 } %x, 0
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.add.gen.i.sys.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw add ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.exch.gen.i.sys.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw xchg ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.and.gen.i.sys.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw and ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.or.gen.i.sys.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw or ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.xor.gen.i.sys.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw xor ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.cas.gen.i.sys.i64(ptr %c, ptr %p, i64 %e, i64 %v) alwaysinline {
  %x = cmpxchg ptr %p, i64 %e, i64 %v seq_cst seq_cst
  %r = extractvalue { i64, i1 } %x, 0
  ret i64 %r
}
define internal float @sirius.llvm.nvvm.atomic.add.gen.f.sys.f32(ptr %c, ptr %p, float %v) alwaysinline {
  %r = atomicrmw fadd ptr %p, float %v seq_cst
  ret float %r
}
define internal double @sirius.llvm.nvvm.atomic.add.gen.f.sys.f64(ptr %c, ptr %p, double %v) alwaysinline {
  %r = atomicrmw fadd ptr %p, double %v seq_cst
  ret double %r
}
define internal i32 @sirius.llvm.nvvm.atomic.max.gen.i.cta.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw max ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.max.gen.i.cta.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw max ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.min.gen.i.cta.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw min ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.min.gen.i.cta.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw min ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.max.gen.i.sys.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw max ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.max.gen.i.sys.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw max ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.min.gen.i.sys.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw min ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.min.gen.i.sys.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw min ptr %p, i64 %v seq_cst
  ret i64 %r
}
