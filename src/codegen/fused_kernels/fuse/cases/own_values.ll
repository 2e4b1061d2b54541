; Values that a thread stores and loads again behind barriers. Parameters: a in an allocation of its own, b and c anywhere
; else, and a number.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

; Each thread has an element.
define ptx_kernel void @own(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; Two barriers, and a store to another allocation.
define ptx_kernel void @own_twice(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 1, ptr %q
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; Others write behind all that threads of a block have.
define ptx_kernel void @beyond_all(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = add nuw nsw i32 %t, 1024
  %z = zext nneg i32 %o to i64
  %e = getelementptr i32, ptr %a, i64 %z
  store i32 7, ptr %e
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; Each thread has two elements, and changes the other one.
define ptx_kernel void @of_two_words(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t2 = shl nuw nsw i32 %t, 1
  %x = zext nneg i32 %t2 to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = or disjoint i32 %t2, 1
  %z = zext nneg i32 %o to i64
  %e = getelementptr i32, ptr %a, i64 %z
  store i32 7, ptr %e
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; An element in a row of n.
define ptx_kernel void @own_in_rows(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ny = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %fx = mul i32 %bx, %nx
  %column = add i32 %fx, %t
  %fy = mul i32 %by, %ny
  %row = add i32 %fy, %y
  %start = mul nsw i32 %row, %n
  %i = add nsw i32 %start, %column
  %x = sext i32 %i to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %column, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; Nothing keeps threads from the next row.
define ptx_kernel void @rows_meet(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ny = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %fx = mul i32 %bx, %nx
  %column = add i32 %fx, %t
  %fy = mul i32 %by, %ny
  %row = add i32 %fy, %y
  %start = mul nsw i32 %row, %n
  %i = add nsw i32 %start, %column
  %x = sext i32 %i to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %row, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; Another thread writes it before the barrier.
define ptx_kernel void @others_before(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  %o = sub i32 63, %t
  %z = zext nneg i32 %o to i64
  %e = getelementptr i32, ptr %a, i64 %z
  store i32 7, ptr %e
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; Another thread writes it between two barriers.
define ptx_kernel void @others_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = sub i32 63, %t
  %z = zext nneg i32 %o to i64
  %e = getelementptr i32, ptr %a, i64 %z
  store i32 7, ptr %e
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; The neighbour may write it behind the barrier.
define ptx_kernel void @others_after(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = add nuw nsw i32 %t, 1
  %z = zext nneg i32 %o to i64
  %e = getelementptr i32, ptr %a, i64 %z
  store i32 7, ptr %e
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; What c leads to may be what b leads to, and never a: the value is the thread's.
define ptx_kernel void @through_alias(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 5, ptr %c
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; All threads have one element.
define ptx_kernel void @all_have_one(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = sext i32 %n to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; Two threads have one element.
define ptx_kernel void @every_second(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %h = lshr i32 %t, 1
  %x = zext nneg i32 %h to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; All threads update the first element.
define ptx_kernel void @updated(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %old = atomicrmw add ptr %a, i32 1 monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; A store reaches into the next thread's element.
define ptx_kernel void @wide_store(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i64 7, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i64, ptr %p
  store i64 %w, ptr %q
  br label %end
end:
  ret void
}

; A place that only a run knows.
define ptx_kernel void @anywhere(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %z0 = load i64, ptr %b
  %e = getelementptr i32, ptr %a, i64 %z0
  store i32 3, ptr %e
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; A volatile store of another thread.
define ptx_kernel void @volatile_store(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = sub i32 63, %t
  %z = zext nneg i32 %o to i64
  %e = getelementptr i32, ptr %a, i64 %z
  store volatile i32 3, ptr %e
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  ret void
}

; The partner writes it when nobody reads it any more.
define ptx_kernel void @given_later(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = sub i32 63, %t
  %z = zext nneg i32 %o to i64
  %e = getelementptr i32, ptr %a, i64 %z
  store i32 7, ptr %e
  ret void
}

; The partner writes it and the block begins anew.
define ptx_kernel void @given_in_a_loop(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext nneg i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %x
  %q = getelementptr i32, ptr %b, i64 %x
  %in = icmp slt i32 %t, %n
  br label %again
again:
  br i1 %in, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %in, label %reads, label %end
reads:
  %w = load i32, ptr %p
  store i32 %w, ptr %q
  br label %end
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = sub i32 63, %t
  %z = zext nneg i32 %o to i64
  %e = getelementptr i32, ptr %a, i64 %z
  store i32 7, ptr %e
  %v = load volatile i32, ptr %b
  %more = icmp ne i32 %v, 0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %more, label %again, label %over
over:
  ret void
}
