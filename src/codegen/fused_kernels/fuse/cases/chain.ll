; y = x * a; z = y + y; pad: a block-wide exchange; sum: adds into a device variable.
target triple = "nvptx64-nvidia-cuda"

@total = dso_local addrspace(1) externally_initialized global float 0.0, align 4
@table = internal addrspace(1) constant [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @hidden to ptr)], align 8
@hidden = internal addrspace(1) global float 0.0, align 4
@scratch = internal addrspace(3) global [64 x float] undef, align 4

define dso_local ptx_kernel void @scale(ptr noalias %y, ptr noalias %x, float %a, i32 %n) #0 {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = mul i32 %b, %d
  %i = add i32 %m, %t
  %c = icmp sge i32 %i, %n
  br i1 %c, label %early, label %work
early:
  ret void
work:
  %w = sext i32 %i to i64
  %px = getelementptr inbounds float, ptr %x, i64 %w
  %v = load float, ptr %px, align 4
  %r = fmul float %v, %a
  %py = getelementptr inbounds float, ptr %y, i64 %w
  store float %r, ptr %py, align 4
  ret void
}

define dso_local ptx_kernel void @twice(ptr noalias %z, ptr noalias %y, i32 %n) #0 {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = mul i32 %b, %d
  %i = add i32 %m, %t
  %c = icmp slt i32 %i, %n
  br i1 %c, label %work, label %end
work:
  %w = sext i32 %i to i64
  %py = getelementptr inbounds float, ptr %y, i64 %w
  %v = load float, ptr %py, align 4, !invariant.load !0
  %e = call float @__nv_expf(float %v)
  %r = fadd float %v, %e
  %pz = getelementptr inbounds float, ptr %z, i64 %w
  store float %r, ptr %pz, align 4
  br label %end
end:
  ret void
}

define dso_local ptx_kernel void @exchange(ptr %y) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %py = getelementptr inbounds float, ptr %y, i64 %w
  %v = load float, ptr %py, align 4
  %s = getelementptr inbounds [64 x float], ptr addrspacecast (ptr addrspace(3) @scratch to ptr), i64 0, i64 %w
  store float %v, ptr %s, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %o = xor i64 %w, 1
  %q = getelementptr inbounds [64 x float], ptr addrspacecast (ptr addrspace(3) @scratch to ptr), i64 0, i64 %o
  %u = load float, ptr %q, align 4
  store float %u, ptr %py, align 4
  ret void
}

define dso_local ptx_kernel void @sum(ptr %y) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %py = getelementptr inbounds float, ptr %y, i64 %w
  %v = load float, ptr %py, align 4
  %o = atomicrmw fadd ptr addrspacecast (ptr addrspace(1) @total to ptr), float %v monotonic
  ret void
}

; Reaches a variable through a constant table.
define dso_local ptx_kernel void @follow(ptr %y) #0 {
  %p = load ptr, ptr addrspacecast (ptr addrspace(1) @table to ptr), align 8
  %v = load float, ptr %p, align 4
  store float %v, ptr %y, align 4
  ret void
}

; Only reads.
define dso_local ptx_kernel void @watch(ptr %y) #2 {
  %v = load volatile float, ptr %y, align 4
  ret void
}

declare float @__nv_expf(float) #1
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #1

attributes #0 = { convergent noinline norecurse nounwind "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #1 = { convergent nounwind }
!0 = !{}
attributes #2 = { convergent nofree norecurse nosync nounwind willreturn memory(argmem: read) }
