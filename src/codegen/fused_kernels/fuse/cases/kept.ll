; Values that a thread keeps from iteration to iteration. Parameters: a in an allocation of its own, b and c anywhere else, and a number. Loads
; through a are those of which the verifier says that no other thread writes there in any iteration.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @wait() "sirius-waits-for-grid"
declare void @other_barrier()

define ptx_kernel void @state_in_place(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  %w = fadd float %v, 1.0
  store float %w, ptr %p
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @never_written(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %q
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @stored_behind_another_barrier(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %inside, label %body, label %rest
body:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %q
  br label %rest
rest:
  call void @wait()
  br i1 %inside, label %again, label %latch
again:
  %u = load float, ptr %q
  store float %u, ptr %p
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @stored_now_and_then(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  %odd = trunc i32 %i to i1
  br i1 %odd, label %stores, label %latch
stores:
  %w = fadd float %v, 1.0
  store float %w, ptr %p
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @loaded_in_a_loop(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %inner
inner:
  %j = phi i32 [ 0, %round ], [ %j1, %inner ]
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %q
  %j1 = add i32 %j, 1
  %on = icmp slt i32 %j1, 3
  br i1 %on, label %inner, label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @by_others(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %v = load float, ptr %p, !sirius.own_read !0
  %w = fadd float %v, 1.0
  store float %w, ptr %p
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @later_than_first(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %late = icmp slt i32 %t, %i
  br i1 %late, label %body, label %latch
body:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %q
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @another_condition(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %odd = trunc i32 %i to i1
  br i1 %odd, label %loads, label %latch
loads:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %q
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @another_place(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %at = zext nneg i32 %i to i64
  %s = getelementptr float, ptr %p, i64 %at
  %v = load float, ptr %s, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %q
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @overwritten(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %r
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @another_barrier(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %q
  call void @other_barrier()
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @two_iterations_before(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %third = icmp eq i32 %i, 2
  br i1 %third, label %body, label %rest
rest:
  %first = icmp eq i32 %i, 0
  br i1 %first, label %stores, label %latch
stores:
  store float 1.0, ptr %p
  br label %latch
body:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %q
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @no_loop(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %p = getelementptr float, ptr %a, i64 %x
  %q = getelementptr float, ptr %b, i64 %x
  %r = getelementptr float, ptr %a, i64 0
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  store float %v, ptr %q
  br label %end
end:
  ret void
}

define ptx_kernel void @stored_under_the_other_name(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %old = phi ptr [ %a, %entry ], [ %new, %latch ]
  %new = phi ptr [ %b, %entry ], [ %old, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %p = getelementptr float, ptr %old, i64 %x
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  %w = fadd float %v, 1.0
  %q = getelementptr float, ptr %new, i64 %x
  store float %w, ptr %q
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @stored_under_its_own_name(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %old = phi ptr [ %a, %entry ], [ %new, %latch ]
  %new = phi ptr [ %b, %entry ], [ %old, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %p = getelementptr float, ptr %old, i64 %x
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  %w = fadd float %v, 1.0
  store float %w, ptr %p
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @stored_beside_the_other_name(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %old = phi ptr [ %a, %entry ], [ %new, %latch ]
  %new = phi ptr [ %b, %entry ], [ %old, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %p = getelementptr float, ptr %old, i64 %x
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  %w = fadd float %v, 1.0
  %y = add i64 %x, 1
  %q = getelementptr float, ptr %new, i64 %y
  store float %w, ptr %q
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

define ptx_kernel void @stored_through_a_third_name(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() memory(none) nounwind willreturn
  %x = zext nneg i32 %t to i64
  %inside = icmp slt i32 %t, 60
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %old = phi ptr [ %a, %entry ], [ %new, %latch ]
  %new = phi ptr [ %b, %entry ], [ %old, %latch ]
  br i1 %inside, label %body, label %latch
body:
  %p = getelementptr float, ptr %old, i64 %x
  %v = load float, ptr %p, !sirius.own_read !0, !sirius.kept_read !0
  %w = fadd float %v, 1.0
  %q = getelementptr float, ptr %new, i64 %x
  store float %w, ptr %q
  store float %w, ptr %c
  br label %latch
latch:
  call void @wait()
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %round, label %end
end:
  ret void
}

!0 = !{}
