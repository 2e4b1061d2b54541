; Whether the calling block is the last of its launch to come here. The threads of each block come together, once.
;
; One thread a block adds to a word that is 0 at first. Who finds that all others have come sets it back to 0, so that
; the next launch that counts by it finds what this one found. What a block wrote before is seen by the last one behind:
; its threads come together, one of them puts a fence before what it adds, and one behind what it finds. Nobody waits for
; another block.

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent nounwind
declare i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32, i1) convergent nounwind
declare void @llvm.nvvm.membar.gl() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.z() nounwind

define i1 @$NAME(ptr %count) convergent nounwind alwaysinline {
entry:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) convergent
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %xy = or i32 %x, %y
  %xyz = or i32 %xy, %z
  %first = icmp eq i32 %xyz, 0
  br i1 %first, label %come, label %meet

come:
  %width = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %height = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %depth = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
  %area = mul i32 %width, %height
  %blocks = mul i32 %area, %depth
  %others = sub i32 %blocks, 1
  call void @llvm.nvvm.membar.gl()
  %before = atomicrmw uinc_wrap ptr %count, i32 %others syncscope("device") monotonic, align 4
  call void @llvm.nvvm.membar.gl()
  %is.last = icmp eq i32 %before, %others
  br label %meet

meet:
  %own = phi i1 [ false, %entry ], [ %is.last, %come ]
  %last = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %own) convergent
  ret i1 %last
}
