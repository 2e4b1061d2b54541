; Kernels whose barriers and whose values for the whole block are looked at.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@partial = internal addrspace(3) global [64 x float] undef, align 4
@other = internal addrspace(3) global [64 x float] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @unknown()

define ptx_kernel void @shared_result(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %v, ptr %place
  br label %all
all:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %found = getelementptr float, ptr %sums, i64 %b64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @own_result(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %t.f, ptr %place
  br label %all
all:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %found = getelementptr float, ptr %sums, i64 %b64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @second_thread(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %t, 1
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %v, ptr %place
  br label %all
all:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %found = getelementptr float, ptr %sums, i64 %b64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @never_waits(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %v, ptr %place
  br label %all
all:
  %found = getelementptr float, ptr %sums, i64 %b64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @other_place(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %v, ptr %place
  br label %all
all:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %found = getelementptr float, ptr %sums, i64 %t64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @changed_meanwhile(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %v, ptr %place
  br label %all
all:
  %last = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 2.0, ptr %last
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %found = getelementptr float, ptr %sums, i64 %b64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @changed_before(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %last = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 2.0, ptr %last
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %v, ptr %place
  br label %all
all:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %found = getelementptr float, ptr %sums, i64 %b64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @second_writer(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %v, ptr %place
  br label %all
all:
  %again = getelementptr float, ptr %sums, i64 %t64
  store float 2.0, ptr %again
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %found = getelementptr float, ptr %sums, i64 %b64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @writer_through_alias(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %v, ptr %place
  br label %all
all:
  %again = getelementptr float, ptr %far, i64 %t64
  store float 2.0, ptr %again
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %found = getelementptr float, ptr %sums, i64 %b64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @calls_unknown(ptr %out, ptr %sums, ptr %far) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t64 = zext i32 %t to i64
  %b64 = zext i32 %b to i64
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %all
one:
  %v = load float, ptr addrspacecast (ptr addrspace(3) @partial to ptr)
  %t.f = uitofp i32 %t to float
  %place = getelementptr float, ptr %sums, i64 %b64
  store float %v, ptr %place
  br label %all
all:
  call void @unknown()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %found = getelementptr float, ptr %sums, i64 %b64
  %s = load float, ptr %found
  %to = getelementptr float, ptr %out, i64 %t64
  store float %s, ptr %to
  ret void
}

define ptx_kernel void @adjacent(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = load float, ptr %near
  ret void
}

define ptx_kernel void @needed(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = load float, ptr %near
  ret void
}

define ptx_kernel void @anti(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  %x = load float, ptr %near
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 1.0, ptr %mine
  ret void
}

define ptx_kernel void @two_loads(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  %x = load float, ptr %near
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %y = load float, ptr %mine
  ret void
}

define ptx_kernel void @other_variable(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = load float, ptr %theirs
  ret void
}

define ptx_kernel void @disjoint(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  store float 1.0, ptr %a.mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = load float, ptr %b.near
  ret void
}

define ptx_kernel void @one_allocation(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  store float 1.0, ptr %a.mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = load float, ptr %a.near
  ret void
}

define ptx_kernel void @chain_of_three(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = load float, ptr %theirs
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %y = load float, ptr %near
  ret void
}

define ptx_kernel void @around(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = load float, ptr %near
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = add i32 %i, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

define ptx_kernel void @named(ptr %a, ptr %b, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  %next = xor i64 %t64, 1
  %mine = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %t64
  %near = getelementptr float, ptr addrspacecast (ptr addrspace(3) @partial to ptr), i64 %next
  %theirs = getelementptr float, ptr addrspacecast (ptr addrspace(3) @other to ptr), i64 %next
  %a.mine = getelementptr float, ptr %a, i64 %t64
  %a.near = getelementptr float, ptr %a, i64 %next
  %b.near = getelementptr float, ptr %b, i64 %next
  store float 1.0, ptr %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  %x = load float, ptr %theirs
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

