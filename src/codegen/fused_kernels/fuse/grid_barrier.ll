; All threads of all blocks of a cooperative launch wait for each other, as often as there is a copy of this function.
;
; The driver gives each such launch a workspace of its own, whose second word is 0 at first. One thread a block adds to
; it: block 0 so much that all of them together add 2^31. So the sign of the word turns once all have come, and the rest
; of it is as before: the next barrier finds what this one found. What a block wrote before is seen by all behind: its threads
; come together, one of them puts a fence before what it adds, and one behind what it finds.

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent nounwind
declare void @llvm.nvvm.membar.gl() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.envreg1() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.envreg2() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x() nounwind

define void @$NAME() convergent nounwind alwaysinline {
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
  %upper = call i32 @llvm.nvvm.read.ptx.sreg.envreg1()
  %lower = call i32 @llvm.nvvm.read.ptx.sreg.envreg2()
  %upper.wide = zext i32 %upper to i64
  %lower.wide = zext i32 %lower to i64
  %upper.half = shl i64 %upper.wide, 32
  %workspace = or i64 %upper.half, %lower.wide
  %behind.size = add i64 %workspace, 4
  %count = inttoptr i64 %behind.size to ptr
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %others = sub i32 %blocks, 1
  %rest = sub i32 -2147483648, %others
  %is.zero = icmp eq i32 %block, 0
  %own = select i1 %is.zero, i32 %rest, i32 1
  call void @llvm.nvvm.membar.gl()
  %before = atomicrmw add ptr %count, i32 %own syncscope("device") monotonic, align 4
  br label %look

look:
  %now = load volatile i32, ptr %count, align 4
  %difference = xor i32 %before, %now
  %turned = icmp slt i32 %difference, 0
  br i1 %turned, label %go, label %look

go:
  call void @llvm.nvvm.membar.gl()
  br label %meet

meet:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) convergent
  ret void
}
