; Stores what the calling block has computed where it belongs, if it is the first block of the launch.

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z() nounwind

define void @$NAME(ptr %to, ptr %from, i32 %bytes) nounwind alwaysinline {
entry:
  %column = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %row = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %layer = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %some = or i32 %column, %row
  %any = or i32 %some, %layer
  %first = icmp eq i32 %any, 0
  br i1 %first, label %begin, label %done

begin:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %height = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %depth = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %layers = mul i32 %z, %height
  %rows = add i32 %layers, %y
  %before = mul i32 %rows, %width
  %thread = add i32 %before, %x
  %area = mul i32 %width, %height
  %threads = mul i32 %area, %depth
  %count = udiv i32 %bytes, $UNIT
  br label %next

next:
  %at = phi i32 [ %thread, %begin ], [ %further, %store ]
  %more = icmp ult i32 %at, %count
  br i1 %more, label %store, label %done

store:
  %index = zext i32 %at to i64
  %source = getelementptr i$BITS, ptr %from, i64 %index
  %target = getelementptr i$BITS, ptr %to, i64 %index
  %value = load i$BITS, ptr %source, align $UNIT
  store i$BITS %value, ptr %target, align $UNIT
  %further = add i32 %at, %threads
  br label %next

done:
  ret void
}
