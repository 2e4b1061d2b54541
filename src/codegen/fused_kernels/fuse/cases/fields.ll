; Kernels that take structs by value, which can be taken apart or not.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%view = type { ptr, i32, i32 }
%union = type { i32, i8, half, <4 x float> }
%list = type { [4 x ptr], i32 }
%tight = type <{ i8, i32 }>
%spaced = type <{ i8, [7 x i8], ptr, [16 x i8], <4 x float> }>

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @keep(ptr)

; Two structs with a number between; not all of their fields are read.
define ptx_kernel void @views(ptr byval(%view) align 8 %out, i32 %i, ptr byval(%view) align 8 %in) memory(write, argmem: read) {
  %po = load ptr, ptr %out, align 8
  %pn = getelementptr inbounds %view, ptr %out, i32 0, i32 1
  %n = load i32, ptr %pn, align 8
  %c = icmp slt i32 %i, %n
  br i1 %c, label %work, label %end
work:
  %pi = load ptr, ptr %in, align 8
  %ps = getelementptr inbounds i8, ptr %in, i64 12
  %s = load i32, ptr %ps, align 4
  %w = mul i32 %i, %s
  %a = getelementptr float, ptr %pi, i32 %w
  %v = load float, ptr %a, align 4
  %b = getelementptr float, ptr %po, i32 %i
  store float %v, ptr %b, align 4
  br label %end
end:
  ret void
}

; Walks along its own copy.
define ptx_kernel void @moves_on(ptr byval(%view) align 8 %view) {
entry:
  %pn = getelementptr inbounds %view, ptr %view, i32 0, i32 1
  br label %loop
loop:
  %n = load i32, ptr %pn, align 8
  %c = icmp sgt i32 %n, 0
  br i1 %c, label %work, label %end
work:
  %p = load ptr, ptr %view, align 8
  store float 1.0, ptr %p, align 4
  %next = getelementptr float, ptr %p, i64 1
  store ptr %next, ptr %view, align 8
  %left = sub i32 %n, 1
  store i32 %left, ptr %pn, align 8
  br label %loop
end:
  ret void
}

; What is only written is not passed either.
define ptx_kernel void @unread(ptr byval(%view) align 8 %view, ptr %out) {
  %pn = getelementptr inbounds %view, ptr %view, i32 0, i32 1
  store i32 7, ptr %pn, align 8
  store i32 7, ptr %out, align 4
  ret void
}

; Two types at one place, and fields of other sizes.
define ptx_kernel void @united(ptr byval(%union) align 16 %u) {
  %number = load i32, ptr %u, align 16
  %float = load float, ptr %u, align 16
  %p4 = getelementptr i8, ptr %u, i64 4
  %byte = load i8, ptr %p4, align 4
  %p6 = getelementptr %union, ptr %u, i32 0, i32 2
  %half = load half, ptr %p6, align 2
  %p8 = getelementptr i8, ptr %u, i64 16
  %back = getelementptr i8, ptr %p8, i64 0
  %vector = load <4 x float>, ptr %back, align 16
  ret void
}

define ptx_kernel void @indexed(ptr byval(%list) align 8 %list, i64 %i) {
  %place = getelementptr inbounds %list, ptr %list, i64 0, i32 0, i64 %i
  %p = load ptr, ptr %place, align 8
  store float 1.0, ptr %p, align 4
  ret void
}

define ptx_kernel void @escapes(ptr byval(%view) align 8 %view) {
  call void @keep(ptr %view)
  ret void
}

define ptx_kernel void @stored(ptr byval(%view) align 8 %view) {
  %p = load ptr, ptr %view, align 8
  store ptr %view, ptr %p, align 8
  ret void
}

define ptx_kernel void @chosen(ptr byval(%view) align 8 %one, ptr byval(%view) align 8 %other, i1 %c) {
  %view = select i1 %c, ptr %one, ptr %other
  %p = load ptr, ptr %view, align 8
  store float 1.0, ptr %p, align 4
  ret void
}

define ptx_kernel void @copied(ptr byval(%list) align 8 %list, i64 %i) {
  %copy = alloca %list, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %list, i64 40, i1 false)
  %place = getelementptr inbounds %list, ptr %copy, i64 0, i32 0, i64 %i
  %p = load ptr, ptr %place, align 8
  store float 1.0, ptr %p, align 4
  ret void
}

define ptx_kernel void @overlaps(ptr byval(%view) align 8 %view, ptr %out) {
  %p8 = getelementptr i8, ptr %view, i64 8
  %both = load i64, ptr %p8, align 8
  %p12 = getelementptr i8, ptr %view, i64 12
  %one = load i32, ptr %p12, align 4
  store i64 %both, ptr %out, align 8
  store i32 %one, ptr %out, align 4
  ret void
}

define ptx_kernel void @volatile(ptr byval(%view) align 8 %view, ptr %out) {
  %p = load volatile ptr, ptr %view, align 8
  store ptr %p, ptr %out, align 8
  ret void
}

define ptx_kernel void @packed(ptr byval(%tight) align 1 %tight, ptr %out) {
  %place = getelementptr %tight, ptr %tight, i32 0, i32 1
  %n = load i32, ptr %place, align 1
  store i32 %n, ptr %out, align 4
  ret void
}

; The type has no alignment, the parameter has.
define ptx_kernel void @spaced(ptr byval(%spaced) align 8 %spaced) {
  %p8 = getelementptr i8, ptr %spaced, i64 8
  %p = load ptr, ptr %p8, align 8
  store i32 1, ptr %p, align 4
  ret void
}

; Where a vector of 16 bytes stands may be no place for it on the host.
define ptx_kernel void @vector(ptr byval(%spaced) align 16 %spaced, ptr %out) {
  %p32 = getelementptr i8, ptr %spaced, i64 32
  %v = load <4 x float>, ptr %p32, align 16
  store <4 x float> %v, ptr %out, align 16
  ret void
}

define ptx_kernel void @outside(ptr byval(%view) align 8 %view, ptr %out) {
  %place = getelementptr i8, ptr %view, i64 16
  %n = load i32, ptr %place, align 4
  store i32 %n, ptr %out, align 4
  ret void
}
