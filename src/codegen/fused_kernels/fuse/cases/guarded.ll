; Values stored under conditions. Parameters: a in an allocation of its own, b and c anywhere else, and a number.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @same_condition(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @one_of_two(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %both, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @both_ways(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %others
writes:
  store float %v, ptr %p
  br label %between
others:
  store float 3.0, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %more, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @through_disjoint(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  store float 1.0, ptr %q
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @loop_elsewhere(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br label %head
head:
  %i = phi i32 [ 0, %between ], [ %j, %body ]
  %below = icmp slt i32 %i, %n
  br i1 %below, label %body, label %rest
body:
  %xi = sext i32 %i to i64
  %pi = getelementptr float, ptr %b, i64 %xi
  store float 1.0, ptr %pi
  %j = add nuw nsw i32 %i, 1
  br label %head
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @made_twice(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %x2 = zext nneg i32 %t4 to i64
  %p2 = getelementptr float, ptr %a, i64 %x2
  %w = load float, ptr %p2
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @leaves_early(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br i1 %more, label %leaves, label %rest
leaves:
  ret void
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @other_condition(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %more, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @more_conditions(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %both, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @negated(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %end, label %reads
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @overwritten_through_alias(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %q
  br label %between
between:
  store float 1.0, ptr %c
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %q
  store float %w, ptr %p
  br label %end
end:
  ret void
}

define ptx_kernel void @overwritten_anywhere(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  %y = sext i32 %n to i64
  %py = getelementptr float, ptr %a, i64 %y
  store float 1.0, ptr %py
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @overwritten_in_part(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  %py = getelementptr i8, ptr %p, i64 -4
  store double 1.0, ptr %py
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @overwritten_by_a_loop(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br label %head
head:
  %i = phi i32 [ 0, %between ], [ %j, %body ]
  %below = icmp slt i32 %i, %n
  br i1 %below, label %body, label %rest
body:
  %xi = sext i32 %i to i64
  %pi = getelementptr float, ptr %a, i64 %xi
  store float 1.0, ptr %pi
  %j = add nuw nsw i32 %i, 1
  br label %head
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @other_type(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store i32 %n, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @other_place(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %p4 = getelementptr i8, ptr %p, i64 4
  %w = load float, ptr %p4
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @waits(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @atomic_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  %old = atomicrmw add ptr %p, i32 1 monotonic
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @volatile_load(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store float %v, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load volatile float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @volatile_store(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  br i1 %first, label %writes, label %between
writes:
  store volatile float %v, ptr %p
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @place_loaded_again(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %v = sitofp i32 %n to float
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  %both = and i1 %first, %more
  %k = load i64, ptr %c
  br i1 %first, label %writes, label %between
writes:
  %pk = getelementptr float, ptr %a, i64 %k
  store float %v, ptr %pk
  br label %between
between:
  br i1 %more, label %writes2, label %rest
writes2:
  %t5 = or disjoint i32 %t4, 1
  %x5 = zext nneg i32 %t5 to i64
  %p5 = getelementptr float, ptr %a, i64 %x5
  store float 2.0, ptr %p5
  br label %rest
rest:
  br i1 %first, label %reads, label %end
reads:
  %k2 = load i64, ptr %c
  %pk2 = getelementptr float, ptr %a, i64 %k2
  %w = load float, ptr %pk2
  store float %w, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @same_iteration(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %v = sitofp i32 %n to float
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %x = zext nneg i32 %i to i64
  %p = getelementptr float, ptr %a, i64 %x
  %k = load i32, ptr %c
  %asks = icmp slt i32 %k, %i
  br i1 %asks, label %writes, label %next
writes:
  store float %v, ptr %p
  br label %next
next:
  %odd = trunc i32 %i to i1
  br i1 %odd, label %other, label %again
other:
  store float %v, ptr %b
  br label %again
again:
  br i1 %asks, label %reads, label %latch
reads:
  %w = load float, ptr %p
  %q = getelementptr float, ptr %b, i64 %x
  store float %w, ptr %q
  br label %latch
latch:
  %j = add nuw nsw i32 %i, 1
  %go = icmp slt i32 %j, %n
  br i1 %go, label %head, label %end
end:
  ret void
}

define ptx_kernel void @earlier_iteration(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %v = sitofp i32 %n to float
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %was = phi i1 [ false, %entry ], [ %asks, %latch ]
  br i1 %was, label %reads, label %next
reads:
  %w = load float, ptr %a
  %x = zext nneg i32 %i to i64
  %q = getelementptr float, ptr %b, i64 %x
  store float %w, ptr %q
  br label %next
next:
  %k = load i32, ptr %c
  %asks = icmp slt i32 %k, %i
  br i1 %asks, label %writes, label %latch
writes:
  store float %v, ptr %a
  br label %latch
latch:
  %j = add nuw nsw i32 %i, 1
  %go = icmp slt i32 %j, %n
  br i1 %go, label %head, label %end
end:
  ret void
}

define ptx_kernel void @condition_of_a_loop(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %v = sitofp i32 %n to float
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %asks = icmp eq i32 %i, %n
  br i1 %asks, label %latch, label %writes
writes:
  store float %v, ptr %a
  br label %latch
latch:
  %j = add nuw nsw i32 %i, 1
  %go = icmp slt i32 %j, %n
  br i1 %go, label %head, label %end
end:
  br i1 %asks, label %done, label %reads
reads:
  %w = load float, ptr %a
  store float %w, ptr %b
  br label %done
done:
  ret void
}

define ptx_kernel void @condition_changes(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %v = sitofp i32 %n to float
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %asks = icmp slt i32 %i, 5
  br i1 %asks, label %writes, label %next
writes:
  %x = zext nneg i32 %i to i64
  %p = getelementptr float, ptr %a, i64 %x
  store float %v, ptr %p
  br label %next
next:
  br label %inner
inner:
  %m = phi i32 [ 0, %next ], [ %o, %inner ]
  %later = icmp slt i32 %m, 5
  %o = add nuw nsw i32 %m, 1
  %more = icmp slt i32 %o, %n
  br i1 %more, label %inner, label %again
again:
  br i1 %later, label %reads, label %latch
reads:
  %y = zext nneg i32 %m to i64
  %q = getelementptr float, ptr %a, i64 %y
  %w = load float, ptr %q
  store float %w, ptr %b
  br label %latch
latch:
  %j = add nuw nsw i32 %i, 1
  %go = icmp slt i32 %j, %n
  br i1 %go, label %head, label %end
end:
  ret void
}

define ptx_kernel void @bits_cleared_or_set(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %s = lshr i32 %t, 2
  %m = and i32 %s, 252
  %x = zext nneg i32 %m to i64
  %p = getelementptr float, ptr %a, i64 %x
  %o = or i32 %s, 3
  %y = zext nneg i32 %o to i64
  %q = getelementptr float, ptr %a, i64 %y
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %m, %n
  br i1 %first, label %writes, label %between
writes:
  store float 1.0, ptr %p
  br label %between
between:
  br i1 %more, label %others, label %again
others:
  store float 2.0, ptr %q
  br label %again
again:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %b
  br label %end
end:
  ret void
}

define ptx_kernel void @too_many_bits_cleared(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %s = lshr i32 %t, 2
  %m = and i32 %s, 248
  %x = zext nneg i32 %m to i64
  %p = getelementptr float, ptr %a, i64 %x
  %o = or i32 %s, 3
  %y = zext nneg i32 %o to i64
  %q = getelementptr float, ptr %a, i64 %y
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %m, %n
  br i1 %first, label %writes, label %between
writes:
  store float 1.0, ptr %p
  br label %between
between:
  br i1 %more, label %others, label %again
others:
  store float 2.0, ptr %q
  br label %again
again:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %b
  br label %end
end:
  ret void
}

define ptx_kernel void @beside_in_another_array(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %b, i64 %x
  %t5 = add nuw nsw i32 %t4, 1
  %y = zext nneg i32 %t5 to i64
  %q = getelementptr float, ptr %c, i64 %y
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  br i1 %first, label %writes, label %between
writes:
  store float 1.0, ptr %p
  br label %between
between:
  br i1 %more, label %others, label %again
others:
  store float 2.0, ptr %q
  br label %again
again:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %a
  br label %end
end:
  ret void
}

define ptx_kernel void @same_place_of_another_array(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  %x = zext nneg i32 %t4 to i64
  %p = getelementptr float, ptr %b, i64 %x
  %t5 = add nuw nsw i32 %t4, 0
  %y = zext nneg i32 %t5 to i64
  %q = getelementptr float, ptr %c, i64 %y
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %t4, %n
  br i1 %first, label %writes, label %between
writes:
  store float 1.0, ptr %p
  br label %between
between:
  br i1 %more, label %others, label %again
others:
  store float 2.0, ptr %q
  br label %again
again:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %a
  br label %end
end:
  ret void
}

define ptx_kernel void @a_block_further(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m = mul i32 %t, %n
  %x = sext i32 %m to i64
  %p = getelementptr float, ptr %a, i64 %x
  %s = add nsw i32 %m, %d
  %y = sext i32 %s to i64
  %q = getelementptr float, ptr %a, i64 %y
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %s, %n
  br i1 %first, label %writes, label %between
writes:
  store float 1.0, ptr %p
  br label %between
between:
  br i1 %more, label %others, label %again
others:
  store float 2.0, ptr %q
  br label %again
again:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %b
  br label %end
end:
  ret void
}

define ptx_kernel void @a_block_further_or_around(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m = mul i32 %t, %n
  %x = sext i32 %m to i64
  %p = getelementptr float, ptr %a, i64 %x
  %s = add i32 %m, %d
  %y = sext i32 %s to i64
  %q = getelementptr float, ptr %a, i64 %y
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %s, %n
  br i1 %first, label %writes, label %between
writes:
  store float 1.0, ptr %p
  br label %between
between:
  br i1 %more, label %others, label %again
others:
  store float 2.0, ptr %q
  br label %again
again:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %b
  br label %end
end:
  ret void
}

define ptx_kernel void @a_thread_further(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m = mul i32 %t, %n
  %x = sext i32 %m to i64
  %p = getelementptr float, ptr %a, i64 %x
  %s = add nsw i32 %m, %t
  %y = sext i32 %s to i64
  %q = getelementptr float, ptr %a, i64 %y
  %first = icmp slt i32 %t, %n
  %more = icmp slt i32 %s, %n
  br i1 %first, label %writes, label %between
writes:
  store float 1.0, ptr %p
  br label %between
between:
  br i1 %more, label %others, label %again
others:
  store float 2.0, ptr %q
  br label %again
again:
  br i1 %first, label %reads, label %end
reads:
  %w = load float, ptr %p
  store float %w, ptr %b
  br label %end
end:
  ret void
}
