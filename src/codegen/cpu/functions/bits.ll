; Operations on bits in inline PTX: fields, counts, permutations, tables of three operands.
define internal i32 @sirius.asm.bfe.u32(ptr %c, i32 %a, i32 %p, i32 %l) alwaysinline {
  %p8 = and i32 %p, 255
  %l8 = and i32 %l, 255
  %pm = call i32 @llvm.umin.i32(i32 %p8, i32 63)
  %lm = call i32 @llvm.umin.i32(i32 %l8, i32 32)
  %pw = zext i32 %pm to i64
  %lw = zext i32 %lm to i64
  %aw = zext i32 %a to i64
  %x = lshr i64 %aw, %pw
  %one = shl i64 1, %lw
  %m = sub i64 %one, 1
  %y = and i64 %x, %m
  %r = trunc i64 %y to i32
  ret i32 %r
}
define internal i32 @sirius.asm.bfe.s32(ptr %c, i32 %a, i32 %p, i32 %l) alwaysinline {
  %p8 = and i32 %p, 255
  %l8 = and i32 %l, 255
  %pm = call i32 @llvm.umin.i32(i32 %p8, i32 63)
  %lm = call i32 @llvm.umin.i32(i32 %l8, i32 32)
  %pw = zext i32 %pm to i64
  %lw = zext i32 %lm to i64
  %aw = sext i32 %a to i64
  %x = ashr i64 %aw, %pw
  %none = icmp eq i64 %lw, 0
  %some = select i1 %none, i64 1, i64 %lw
  %over = sub i64 64, %some
  %up = shl i64 %x, %over
  %down = ashr i64 %up, %over
  %y = select i1 %none, i64 0, i64 %down
  %r = trunc i64 %y to i32
  ret i32 %r
}
define internal i32 @sirius.asm.bfi.b32(ptr %c, i32 %a, i32 %b, i32 %p, i32 %l) alwaysinline {
  %p8 = and i32 %p, 255
  %l8 = and i32 %l, 255
  %pm = call i32 @llvm.umin.i32(i32 %p8, i32 63)
  %lm = call i32 @llvm.umin.i32(i32 %l8, i32 32)
  %pw = zext i32 %pm to i64
  %lw = zext i32 %lm to i64
  %one = shl i64 1, %lw
  %low = sub i64 %one, 1
  %m = shl i64 %low, %pw
  %aw = zext i32 %a to i64
  %bw = zext i32 %b to i64
  %at = shl i64 %aw, %pw
  %new = and i64 %at, %m
  %not = xor i64 %m, -1
  %old = and i64 %bw, %not
  %y = or i64 %old, %new
  %r = trunc i64 %y to i32
  ret i32 %r
}
define internal i32 @sirius.asm.brev.b32(ptr %c, i32 %a) alwaysinline {
  %r = call i32 @llvm.bitreverse.i32(i32 %a)
  ret i32 %r
}
define internal i32 @sirius.asm.popc.b32(ptr %c, i32 %a) alwaysinline {
  %n = call i32 @llvm.ctpop.i32(i32 %a)
  ret i32 %n
}
define internal i32 @sirius.asm.clz.b32(ptr %c, i32 %a) alwaysinline {
  %n = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  ret i32 %n
}
define internal i32 @sirius.asm.bfind.u32(ptr %c, i32 %a) alwaysinline {
  %z = icmp eq i32 %a, 0
  %n = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  %f = sub i32 31, %n
  %q = select i1 %z, i32 -1, i32 %f
  ret i32 %q
}
define internal i32 @sirius.asm.bfind.s32(ptr %c, i32 %a) alwaysinline {
  %s = ashr i32 %a, 31
  %v = xor i32 %a, %s
  %z = icmp eq i32 %v, 0
  %n = call i32 @llvm.ctlz.i32(i32 %v, i1 false)
  %f = sub i32 31, %n
  %q = select i1 %z, i32 -1, i32 %f
  ret i32 %q
}
define internal i32 @sirius.asm.bfind.shiftamt.s32(ptr %c, i32 %a) alwaysinline {
  %s = ashr i32 %a, 31
  %v = xor i32 %a, %s
  %z = icmp eq i32 %v, 0
  %n = call i32 @llvm.ctlz.i32(i32 %v, i1 false)
  %q = select i1 %z, i32 -1, i32 %n
  ret i32 %q
}
; Of 64 bits, all bits of a place and a length count, as what NVIDIA makes of these instructions has it; of 32 bits,
; the lowest eight.
define internal i64 @sirius.asm.bfe.u64(ptr %c, i64 %a, i32 %p, i32 %l) alwaysinline {
  %pm = call i32 @llvm.umin.i32(i32 %p, i32 127)
  %lm = call i32 @llvm.umin.i32(i32 %l, i32 64)
  %pw = zext i32 %pm to i128
  %lw = zext i32 %lm to i128
  %aw = zext i64 %a to i128
  %x = lshr i128 %aw, %pw
  %one = shl i128 1, %lw
  %m = sub i128 %one, 1
  %y = and i128 %x, %m
  %r = trunc i128 %y to i64
  ret i64 %r
}
define internal i64 @sirius.asm.bfe.s64(ptr %c, i64 %a, i32 %p, i32 %l) alwaysinline {
  %pm = call i32 @llvm.umin.i32(i32 %p, i32 127)
  %lm = call i32 @llvm.umin.i32(i32 %l, i32 64)
  %pw = zext i32 %pm to i128
  %lw = zext i32 %lm to i128
  %aw = sext i64 %a to i128
  %x = ashr i128 %aw, %pw
  %none = icmp eq i128 %lw, 0
  %some = select i1 %none, i128 1, i128 %lw
  %over = sub i128 128, %some
  %up = shl i128 %x, %over
  %down = ashr i128 %up, %over
  %y = select i1 %none, i128 0, i128 %down
  %r = trunc i128 %y to i64
  ret i64 %r
}
define internal i64 @sirius.asm.bfi.b64(ptr %c, i64 %a, i64 %b, i32 %p, i32 %l) alwaysinline {
  %pm = call i32 @llvm.umin.i32(i32 %p, i32 127)
  %lm = call i32 @llvm.umin.i32(i32 %l, i32 64)
  %pw = zext i32 %pm to i128
  %lw = zext i32 %lm to i128
  %one = shl i128 1, %lw
  %low = sub i128 %one, 1
  %m = shl i128 %low, %pw
  %aw = zext i64 %a to i128
  %bw = zext i64 %b to i128
  %at = shl i128 %aw, %pw
  %new = and i128 %at, %m
  %not = xor i128 %m, -1
  %old = and i128 %bw, %not
  %y = or i128 %old, %new
  %r = trunc i128 %y to i64
  ret i64 %r
}
define internal i64 @sirius.asm.brev.b64(ptr %c, i64 %a) alwaysinline {
  %r = call i64 @llvm.bitreverse.i64(i64 %a)
  ret i64 %r
}
define internal i32 @sirius.asm.popc.b64(ptr %c, i64 %a) alwaysinline {
  %n = call i64 @llvm.ctpop.i64(i64 %a)
  %r = trunc i64 %n to i32
  ret i32 %r
}
define internal i32 @sirius.asm.clz.b64(ptr %c, i64 %a) alwaysinline {
  %n = call i64 @llvm.ctlz.i64(i64 %a, i1 false)
  %r = trunc i64 %n to i32
  ret i32 %r
}
define internal i32 @sirius.asm.bfind.u64(ptr %c, i64 %a) alwaysinline {
  %z = icmp eq i64 %a, 0
  %n = call i64 @llvm.ctlz.i64(i64 %a, i1 false)
  %f = sub i64 63, %n
  %q = select i1 %z, i64 -1, i64 %f
  %r = trunc i64 %q to i32
  ret i32 %r
}
define internal i32 @sirius.asm.bfind.shiftamt.u64(ptr %c, i64 %a) alwaysinline {
  %z = icmp eq i64 %a, 0
  %n = call i64 @llvm.ctlz.i64(i64 %a, i1 false)
  %q = select i1 %z, i64 -1, i64 %n
  %r = trunc i64 %q to i32
  ret i32 %r
}
define internal i32 @sirius.asm.bfind.s64(ptr %c, i64 %a) alwaysinline {
  %s = ashr i64 %a, 63
  %v = xor i64 %a, %s
  %z = icmp eq i64 %v, 0
  %n = call i64 @llvm.ctlz.i64(i64 %v, i1 false)
  %f = sub i64 63, %n
  %q = select i1 %z, i64 -1, i64 %f
  %r = trunc i64 %q to i32
  ret i32 %r
}
define internal i32 @sirius.asm.bfind.shiftamt.s64(ptr %c, i64 %a) alwaysinline {
  %s = ashr i64 %a, 63
  %v = xor i64 %a, %s
  %z = icmp eq i64 %v, 0
  %n = call i64 @llvm.ctlz.i64(i64 %v, i1 false)
  %q = select i1 %z, i64 -1, i64 %n
  %r = trunc i64 %q to i32
  ret i32 %r
}
define internal i16 @sirius.asm.abs.s16(ptr %c, i16 %a) alwaysinline {
  %r = call i16 @llvm.abs.i16(i16 %a, i1 false)
  ret i16 %r
}
define internal i16 @sirius.asm.sad.u16(ptr %c, i16 %a, i16 %b, i16 %s) alwaysinline {
  %x = call i16 @llvm.umax.i16(i16 %a, i16 %b)
  %y = call i16 @llvm.umin.i16(i16 %a, i16 %b)
  %t = sub i16 %x, %y
  %r = add i16 %t, %s
  ret i16 %r
}
define internal i16 @sirius.asm.sad.s16(ptr %c, i16 %a, i16 %b, i16 %s) alwaysinline {
  %x = call i16 @llvm.smax.i16(i16 %a, i16 %b)
  %y = call i16 @llvm.smin.i16(i16 %a, i16 %b)
  %t = sub i16 %x, %y
  %r = add i16 %t, %s
  ret i16 %r
}
define internal i32 @sirius.asm.abs.s32(ptr %c, i32 %a) alwaysinline {
  %r = call i32 @llvm.abs.i32(i32 %a, i1 false)
  ret i32 %r
}
define internal i32 @sirius.asm.sad.u32(ptr %c, i32 %a, i32 %b, i32 %s) alwaysinline {
  %x = call i32 @llvm.umax.i32(i32 %a, i32 %b)
  %y = call i32 @llvm.umin.i32(i32 %a, i32 %b)
  %t = sub i32 %x, %y
  %r = add i32 %t, %s
  ret i32 %r
}
define internal i32 @sirius.asm.sad.s32(ptr %c, i32 %a, i32 %b, i32 %s) alwaysinline {
  %x = call i32 @llvm.smax.i32(i32 %a, i32 %b)
  %y = call i32 @llvm.smin.i32(i32 %a, i32 %b)
  %t = sub i32 %x, %y
  %r = add i32 %t, %s
  ret i32 %r
}
define internal i64 @sirius.asm.abs.s64(ptr %c, i64 %a) alwaysinline {
  %r = call i64 @llvm.abs.i64(i64 %a, i1 false)
  ret i64 %r
}
define internal i64 @sirius.asm.sad.u64(ptr %c, i64 %a, i64 %b, i64 %s) alwaysinline {
  %x = call i64 @llvm.umax.i64(i64 %a, i64 %b)
  %y = call i64 @llvm.umin.i64(i64 %a, i64 %b)
  %t = sub i64 %x, %y
  %r = add i64 %t, %s
  ret i64 %r
}
define internal i64 @sirius.asm.sad.s64(ptr %c, i64 %a, i64 %b, i64 %s) alwaysinline {
  %x = call i64 @llvm.smax.i64(i64 %a, i64 %b)
  %y = call i64 @llvm.smin.i64(i64 %a, i64 %b)
  %t = sub i64 %x, %y
  %r = add i64 %t, %s
  ret i64 %r
}
define internal i32 @sirius.asm.add.sat.s32(ptr %c, i32 %a, i32 %b) alwaysinline {
  %r = call i32 @llvm.sadd.sat.i32(i32 %a, i32 %b)
  ret i32 %r
}
define internal i32 @sirius.asm.sub.sat.s32(ptr %c, i32 %a, i32 %b) alwaysinline {
  %r = call i32 @llvm.ssub.sat.i32(i32 %a, i32 %b)
  ret i32 %r
}
define internal i32 @sirius.asm.mul24.lo.u32(ptr %c, i32 %a, i32 %b) alwaysinline {
  %au = shl i32 %a, 8
  %an = lshr i32 %au, 8
  %bu = shl i32 %b, 8
  %bn = lshr i32 %bu, 8
  %r = mul i32 %an, %bn
  ret i32 %r
}
define internal i32 @sirius.asm.mad24.lo.u32(ptr %c, i32 %a, i32 %b, i32 %s) alwaysinline {
  %au = shl i32 %a, 8
  %an = lshr i32 %au, 8
  %bu = shl i32 %b, 8
  %bn = lshr i32 %bu, 8
  %x = mul i32 %an, %bn
  %r = add i32 %x, %s
  ret i32 %r
}
define internal i32 @sirius.asm.mul24.lo.s32(ptr %c, i32 %a, i32 %b) alwaysinline {
  %au = shl i32 %a, 8
  %an = ashr i32 %au, 8
  %bu = shl i32 %b, 8
  %bn = ashr i32 %bu, 8
  %r = mul i32 %an, %bn
  ret i32 %r
}
define internal i32 @sirius.asm.mad24.lo.s32(ptr %c, i32 %a, i32 %b, i32 %s) alwaysinline {
  %au = shl i32 %a, 8
  %an = ashr i32 %au, 8
  %bu = shl i32 %b, 8
  %bn = ashr i32 %bu, 8
  %x = mul i32 %an, %bn
  %r = add i32 %x, %s
  ret i32 %r
}
define internal i32 @sirius.asm.prmt.b32(ptr %c, i32 %a, i32 %b, i32 %s) alwaysinline {
  %r = call i32 @sirius.llvm.nvvm.prmt(ptr %c, i32 %a, i32 %b, i32 %s)
  ret i32 %r
}
define internal i32 @sirius.asm.lop3.b32(ptr %c, i32 %x, i32 %y, i32 %z, i32 %table) alwaysinline {
  %na = xor i32 %x, -1
  %nb = xor i32 %y, -1
  %nc = xor i32 %z, -1
  %p0 = and i32 %na, %nb
  %q0 = and i32 %p0, %nc
  %s0 = shl i32 %table, 31
  %t0 = ashr i32 %s0, 31
  %u0 = and i32 %q0, %t0
  %p1 = and i32 %na, %nb
  %q1 = and i32 %p1, %z
  %s1 = shl i32 %table, 30
  %t1 = ashr i32 %s1, 31
  %u1 = and i32 %q1, %t1
  %v1 = or i32 %u0, %u1
  %p2 = and i32 %na, %y
  %q2 = and i32 %p2, %nc
  %s2 = shl i32 %table, 29
  %t2 = ashr i32 %s2, 31
  %u2 = and i32 %q2, %t2
  %v2 = or i32 %v1, %u2
  %p3 = and i32 %na, %y
  %q3 = and i32 %p3, %z
  %s3 = shl i32 %table, 28
  %t3 = ashr i32 %s3, 31
  %u3 = and i32 %q3, %t3
  %v3 = or i32 %v2, %u3
  %p4 = and i32 %x, %nb
  %q4 = and i32 %p4, %nc
  %s4 = shl i32 %table, 27
  %t4 = ashr i32 %s4, 31
  %u4 = and i32 %q4, %t4
  %v4 = or i32 %v3, %u4
  %p5 = and i32 %x, %nb
  %q5 = and i32 %p5, %z
  %s5 = shl i32 %table, 26
  %t5 = ashr i32 %s5, 31
  %u5 = and i32 %q5, %t5
  %v5 = or i32 %v4, %u5
  %p6 = and i32 %x, %y
  %q6 = and i32 %p6, %nc
  %s6 = shl i32 %table, 25
  %t6 = ashr i32 %s6, 31
  %u6 = and i32 %q6, %t6
  %v6 = or i32 %v5, %u6
  %p7 = and i32 %x, %y
  %q7 = and i32 %p7, %z
  %s7 = shl i32 %table, 24
  %t7 = ashr i32 %s7, 31
  %u7 = and i32 %q7, %t7
  %v7 = or i32 %v6, %u7
  ret i32 %v7
}
; The place of the bit that is so many set ones away from a base, itself the first of them; none: all ones.
define internal i32 @sirius.llvm.nvvm.fns(ptr %c, i32 %mask, i32 %base, i32 %offset) {
start:
  %is.here = icmp eq i32 %offset, 0
  %is.up = icmp sgt i32 %offset, 0
  %opposite = sub i32 0, %offset
  %size = select i1 %is.up, i32 %offset, i32 %opposite
  %before = sub i32 %size, 1
  %first.left = select i1 %is.here, i32 0, i32 %before
  %direction = select i1 %is.up, i32 1, i32 -1
  %step = select i1 %is.here, i32 32, i32 %direction
  br label %look
look:
  %at = phi i32 [ %base, %start ], [ %next, %more ]
  %left = phi i32 [ %first.left, %start ], [ %left.behind, %more ]
  %is.inside = icmp ult i32 %at, 32
  br i1 %is.inside, label %inside, label %nowhere
inside:
  %shifted = lshr i32 %mask, %at
  %bit = and i32 %shifted, 1
  %is.set = icmp ne i32 %bit, 0
  %is.last = icmp eq i32 %left, 0
  %is.found = and i1 %is.set, %is.last
  br i1 %is.found, label %found, label %more
more:
  %left.behind = sub i32 %left, %bit
  %next = add i32 %at, %step
  br label %look
found:
  ret i32 %at
nowhere:
  ret i32 -1
}
