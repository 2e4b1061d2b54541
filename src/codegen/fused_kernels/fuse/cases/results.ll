; A loop that writes what shared memory holds to rows, and a loop behind it that goes over the same rows by
; other numbers. Parameters: a in an allocation of its own, b and c anywhere else, the length.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x [64 x float]] undef

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare void @llvm.nvvm.cp.async.wait.all()
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)

define ptx_kernel void @same_rows(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl nuw nsw i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add nuw nsw i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl nuw nsw i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add nuw nsw i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @copies_end_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl nuw nsw i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add nuw nsw i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  call void @llvm.nvvm.cp.async.wait.all()
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl nuw nsw i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add nuw nsw i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @an_element_on(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl nuw nsw i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add nuw nsw i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl nuw nsw i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 1
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add nuw nsw i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @counters_stay_below(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() "sirius-below"="12"
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @rows_may_wrap(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() "sirius-below"="65535"
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @two_rows_on(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl nuw nsw i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add nuw nsw i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl nuw nsw i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 2048
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add nuw nsw i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @rows_of_another_block(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 15
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl nuw nsw i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add nuw nsw i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl nuw nsw i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add nuw nsw i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @copy_begins_inside(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %a3 = ptrtoint ptr addrspace(3) %p0 to i32
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4;", "r,l,~{memory}"(i32 %a3, ptr %b)
  %r0 = shl nuw nsw i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add nuw nsw i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl nuw nsw i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add nuw nsw i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @effect_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl nuw nsw i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add nuw nsw i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  call void asm sideeffect "griddepcontrol.wait;", ""()
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl nuw nsw i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add nuw nsw i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @threads_meet_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl nuw nsw i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add nuw nsw i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %lane0 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %t, i32 0, i32 31)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl nuw nsw i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add nuw nsw i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @threads_meet_inside(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  br label %head0
head0:
  %c0 = phi i32 [ %row, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, 64
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl nuw nsw i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add nuw nsw i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %first, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %last
  br i1 %below1, label %body1, label %end1
body1:
  %lane1 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %t, i32 0, i32 31)
  %r1 = shl nuw nsw i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add nuw nsw i32 %c1, 2
  br label %head1
end1:
  ret void
}

define ptx_kernel void @counter_may_wrap(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %own = alloca i32
  call void @llvm.lifetime.start.p0(ptr %own)
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row = lshr i32 %t, 6
  %column = and i32 %t, 63
  %columnx = zext nneg i32 %column to i64
  %start = shl nuw nsw i32 %y, 16
  %startx = zext nneg i32 %start to i64
  %base = getelementptr i16, ptr %a, i64 %startx
  %end = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %n, i32 0, i32 31)
  %n64 = add i32 %n, 64
  %end64 = add i32 %end, 64
  br label %head0
head0:
  %c0 = phi i32 [ %n, %entry ], [ %d0, %body0 ]
  %below0 = icmp ult i32 %c0, %end
  br i1 %below0, label %body0, label %end0
body0:
  %x0 = zext nneg i32 %c0 to i64
  %p0 = getelementptr [64 x float], ptr addrspace(3) @tile, i64 %x0, i64 %columnx
  %v0 = load float, ptr addrspace(3) %p0
  %h0 = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %v0)
  %r0 = shl i32 %c0, 10
  %i0 = or disjoint i32 %r0, %column
  %q0 = zext nneg i32 %i0 to i64
  %s0 = getelementptr i16, ptr %base, i64 %q0
  store i16 %h0, ptr %s0
  %d0 = add i32 %c0, 2
  br label %head0
end0:
  call void @llvm.lifetime.end.p0(ptr %own)
  %origin = shl nuw nsw i32 %y, 6
  %first = or disjoint i32 %origin, %row
  %last = add nuw nsw i32 %origin, 64
  br label %head1
head1:
  %c1 = phi i32 [ %n64, %end0 ], [ %d1, %body1 ]
  %below1 = icmp slt i32 %c1, %end64
  br i1 %below1, label %body1, label %end1
body1:
  %r1 = shl i32 %c1, 10
  %i1 = or disjoint i32 %r1, %column
  %q1 = zext nneg i32 %i1 to i64
  %e1 = getelementptr i16, ptr %a, i64 %q1
  %s1 = getelementptr i16, ptr %e1, i64 0
  %v1 = load i16, ptr %s1
  %h1 = call i16 asm "{add.f16 $0,$1,$1;\0A}", "=h,h"(i16 %v1)
  store i16 %h1, ptr %s1
  %d1 = add i32 %c1, 2
  br label %head1
end1:
  ret void
}
