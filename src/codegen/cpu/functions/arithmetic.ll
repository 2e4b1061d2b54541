; Divisors, out of the optimiser's sight: joined with a number that only the runtime knows to be zero.
@__sirius_zero = external constant i64
define internal i16 @sirius.__sirius_divisor_i16(ptr %c, i16 %d) alwaysinline {
  %z = load i16, ptr @__sirius_zero
  %r = or i16 %d, %z
  ret i16 %r
}
define internal i32 @sirius.__sirius_divisor_i32(ptr %c, i32 %d) alwaysinline {
  %z = load i32, ptr @__sirius_zero
  %r = or i32 %d, %z
  ret i32 %r
}
define internal i64 @sirius.__sirius_divisor_i64(ptr %c, i64 %d) alwaysinline {
  %z = load i64, ptr @__sirius_zero
  %r = or i64 %d, %z
  ret i64 %r
}
; Arithmetic of the device that LLVM has under another name. Approximations are computed exactly
; or by the C library: closer than the device's, and the same in every kernel.

define internal float @sirius.llvm.nvvm.add.rn.f(ptr %c, float %a, float %b) alwaysinline {
  %r = fadd float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.add.rn.ftz.f(ptr %c, float %a, float %b) alwaysinline {
  %r = fadd float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.mul.rn.f(ptr %c, float %a, float %b) alwaysinline {
  %r = fmul float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.mul.rn.ftz.f(ptr %c, float %a, float %b) alwaysinline {
  %r = fmul float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.div.rn.f(ptr %c, float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.div.rn.ftz.f(ptr %c, float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}
define internal float @sirius.asm.sub.rn.f32(ptr %c, float %a, float %b) alwaysinline {
  %r = fsub float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.fma.rn.f(ptr %c, float %a, float %b, float %e) alwaysinline {
  %r = call float @llvm.fma.f32(float %a, float %b, float %e)
  ret float %r
}
define internal float @sirius.llvm.nvvm.sqrt.rn.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.rcp.rn.f(ptr %c, float %a) alwaysinline {
  %r = fdiv float 1.0, %a
  ret float %r
}
define internal float @sirius.llvm.nvvm.floor.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.floor.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.ceil.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.ceil.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.trunc.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.trunc.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.round.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.roundeven.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fmin.f(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.minnum.f32(float %a, float %b)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fmax.f(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.maxnum.f32(float %a, float %b)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fmin.nan.f(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.minimum.f32(float %a, float %b)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fmax.nan.f(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.maximum.f32(float %a, float %b)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fabs.f32(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.fabs.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fabs.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.fabs.f32(float %a)
  ret float %r
}
define internal float @sirius.asm.sub.rn.ftz.f32(ptr %c, float %a, float %b) alwaysinline {
  %r = fsub float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.fma.rn.ftz.f(ptr %c, float %a, float %b, float %e) alwaysinline {
  %r = call float @llvm.fma.f32(float %a, float %b, float %e)
  ret float %r
}
define internal float @sirius.llvm.nvvm.sqrt.rn.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.rcp.rn.ftz.f(ptr %c, float %a) alwaysinline {
  %r = fdiv float 1.0, %a
  ret float %r
}
define internal float @sirius.llvm.nvvm.floor.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.floor.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.ceil.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.ceil.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.trunc.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.trunc.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.round.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.roundeven.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fmin.ftz.f(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.minnum.f32(float %a, float %b)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fmax.ftz.f(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.maxnum.f32(float %a, float %b)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fmin.ftz.nan.f(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.minimum.f32(float %a, float %b)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fmax.ftz.nan.f(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.maximum.f32(float %a, float %b)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fabs.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.fabs.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.fabs.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.fabs.f32(float %a)
  ret float %r
}
define internal double @sirius.llvm.nvvm.add.rn.d(ptr %c, double %a, double %b) alwaysinline {
  %r = fadd double %a, %b
  ret double %r
}
define internal double @sirius.llvm.nvvm.mul.rn.d(ptr %c, double %a, double %b) alwaysinline {
  %r = fmul double %a, %b
  ret double %r
}
define internal double @sirius.llvm.nvvm.div.rn.d(ptr %c, double %a, double %b) alwaysinline {
  %r = fdiv double %a, %b
  ret double %r
}
define internal double @sirius.asm.sub.rn.f64(ptr %c, double %a, double %b) alwaysinline {
  %r = fsub double %a, %b
  ret double %r
}
define internal double @sirius.asm.fma.rn.f64(ptr %c, double %a, double %b, double %e) alwaysinline {
  %r = call double @llvm.fma.f64(double %a, double %b, double %e)
  ret double %r
}
define internal double @sirius.llvm.nvvm.fma.rn.d(ptr %c, double %a, double %b, double %e) alwaysinline {
  %r = call double @llvm.fma.f64(double %a, double %b, double %e)
  ret double %r
}
define internal double @sirius.llvm.nvvm.sqrt.rn.d(ptr %c, double %a) alwaysinline {
  %r = call double @llvm.sqrt.f64(double %a)
  ret double %r
}
define internal double @sirius.llvm.nvvm.rcp.rn.d(ptr %c, double %a) alwaysinline {
  %r = fdiv double 1.0, %a
  ret double %r
}
define internal double @sirius.llvm.nvvm.floor.d(ptr %c, double %a) alwaysinline {
  %r = call double @llvm.floor.f64(double %a)
  ret double %r
}
define internal double @sirius.llvm.nvvm.ceil.d(ptr %c, double %a) alwaysinline {
  %r = call double @llvm.ceil.f64(double %a)
  ret double %r
}
define internal double @sirius.llvm.nvvm.trunc.d(ptr %c, double %a) alwaysinline {
  %r = call double @llvm.trunc.f64(double %a)
  ret double %r
}
define internal double @sirius.llvm.nvvm.round.d(ptr %c, double %a) alwaysinline {
  %r = call double @llvm.roundeven.f64(double %a)
  ret double %r
}
define internal double @sirius.llvm.nvvm.fmin.d(ptr %c, double %a, double %b) alwaysinline {
  %r = call double @llvm.minnum.f64(double %a, double %b)
  ret double %r
}
define internal double @sirius.llvm.nvvm.fmax.d(ptr %c, double %a, double %b) alwaysinline {
  %r = call double @llvm.maxnum.f64(double %a, double %b)
  ret double %r
}
define internal double @sirius.llvm.nvvm.fabs.f64(ptr %c, double %a) alwaysinline {
  %r = call double @llvm.fabs.f64(double %a)
  ret double %r
}
define internal double @sirius.llvm.nvvm.fabs.d(ptr %c, double %a) alwaysinline {
  %r = call double @llvm.fabs.f64(double %a)
  ret double %r
}
define internal float @sirius.llvm.nvvm.sin.approx.f(ptr %c, float %a) alwaysinline {
  %r = call float @sinf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.sin.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @sinf(float %a)
  ret float %r
}
define internal float @sirius.asm.sin.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @sinf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.cos.approx.f(ptr %c, float %a) alwaysinline {
  %r = call float @cosf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.cos.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @cosf(float %a)
  ret float %r
}
define internal float @sirius.asm.cos.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @cosf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.lg2.approx.f(ptr %c, float %a) alwaysinline {
  %r = call float @log2f(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.lg2.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @log2f(float %a)
  ret float %r
}
define internal float @sirius.asm.lg2.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @log2f(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.ex2.approx.f(ptr %c, float %a) alwaysinline {
  %r = call float @exp2f(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.ex2.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @exp2f(float %a)
  ret float %r
}
define internal float @sirius.asm.ex2.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @exp2f(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.tanh.approx.f(ptr %c, float %a) alwaysinline {
  %r = call float @tanhf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.tanh.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @tanhf(float %a)
  ret float %r
}
define internal float @sirius.asm.tanh.approx.f32(ptr %c, float %a) alwaysinline {
  %r = call float @tanhf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.sqrt.approx.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.rcp.approx.f(ptr %c, float %a) alwaysinline {
  %r = fdiv float 1.0, %a
  ret float %r
}
define internal float @sirius.asm.rcp.approx.f32(ptr %c, float %a) alwaysinline {
  %r = fdiv float 1.0, %a
  ret float %r
}
define internal float @sirius.llvm.nvvm.rsqrt.approx.f(ptr %c, float %a) alwaysinline {
  %s = call float @llvm.sqrt.f32(float %a)
  %r = fdiv float 1.0, %s
  ret float %r
}
define internal float @sirius.llvm.nvvm.div.approx.f(ptr %c, float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.div.full(ptr %c, float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.saturate.f(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.maxnum.f32(float %a, float 0.0)
  %r = call float @llvm.minnum.f32(float %x, float 1.0)
  ret float %r
}
define internal double @sirius.llvm.nvvm.rsqrt.approx.d(ptr %c, double %a) alwaysinline {
  %s = call double @llvm.sqrt.f64(double %a)
  %r = fdiv double 1.0, %s
  ret double %r
}
define internal float @sirius.llvm.nvvm.sin.approx.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @sinf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.sin.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @sinf(float %a)
  ret float %r
}
define internal float @sirius.asm.sin.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @sinf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.cos.approx.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @cosf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.cos.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @cosf(float %a)
  ret float %r
}
define internal float @sirius.asm.cos.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @cosf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.lg2.approx.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @log2f(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.lg2.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @log2f(float %a)
  ret float %r
}
define internal float @sirius.asm.lg2.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @log2f(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.ex2.approx.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @exp2f(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.ex2.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @exp2f(float %a)
  ret float %r
}
define internal float @sirius.asm.ex2.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @exp2f(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.tanh.approx.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @tanhf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.tanh.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @tanhf(float %a)
  ret float %r
}
define internal float @sirius.asm.tanh.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = call float @tanhf(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.sqrt.approx.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.rcp.approx.ftz.f(ptr %c, float %a) alwaysinline {
  %r = fdiv float 1.0, %a
  ret float %r
}
define internal float @sirius.asm.rcp.approx.ftz.f32(ptr %c, float %a) alwaysinline {
  %r = fdiv float 1.0, %a
  ret float %r
}
define internal float @sirius.llvm.nvvm.rsqrt.approx.ftz.f(ptr %c, float %a) alwaysinline {
  %s = call float @llvm.sqrt.f32(float %a)
  %r = fdiv float 1.0, %s
  ret float %r
}
define internal float @sirius.llvm.nvvm.div.approx.ftz.f(ptr %c, float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.div.full.ftz(ptr %c, float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.saturate.ftz.f(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.maxnum.f32(float %a, float 0.0)
  %r = call float @llvm.minnum.f32(float %x, float 1.0)
  ret float %r
}
define internal double @sirius.llvm.nvvm.rsqrt.approx.ftz.d(ptr %c, double %a) alwaysinline {
  %s = call double @llvm.sqrt.f64(double %a)
  %r = fdiv double 1.0, %s
  ret double %r
}
define internal float @sirius.llvm.nvvm.sqrt.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}
define internal double @sirius.llvm.nvvm.rcp.approx.ftz.d(ptr %c, double %a) alwaysinline {
  %r = fdiv double 1.0, %a
  ret double %r
}
define internal double @sirius.asm.rsqrt.approx.ftz.f64(ptr %c, double %a) alwaysinline {
  %s = call double @llvm.sqrt.f64(double %a)
  %r = fdiv double 1.0, %s
  ret double %r
}
define internal float @sirius.__nv_rsqrtf(ptr %c, float %a) alwaysinline {
  %s = call float @llvm.sqrt.f32(float %a)
  %r = fdiv float 1.0, %s
  ret float %r
}
define internal double @sirius.__nv_rsqrt(ptr %c, double %a) alwaysinline {
  %s = call double @llvm.sqrt.f64(double %a)
  %r = fdiv double 1.0, %s
  ret double %r
}
; Integers.
define internal i32 @sirius.llvm.nvvm.mulhi.i(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = sext i32 %a to i64
  %y = sext i32 %b to i64
  %m = mul i64 %x, %y
  %s = lshr i64 %m, 32
  %r = trunc i64 %s to i32
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.mulhi.ui(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = zext i32 %a to i64
  %y = zext i32 %b to i64
  %m = mul i64 %x, %y
  %s = lshr i64 %m, 32
  %r = trunc i64 %s to i32
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.mulhi.ll(ptr %c, i64 %a, i64 %b) alwaysinline {
  %x = sext i64 %a to i128
  %y = sext i64 %b to i128
  %m = mul i128 %x, %y
  %s = lshr i128 %m, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.mulhi.ull(ptr %c, i64 %a, i64 %b) alwaysinline {
  %x = zext i64 %a to i128
  %y = zext i64 %b to i128
  %m = mul i128 %x, %y
  %s = lshr i128 %m, 64
  %r = trunc i128 %s to i64
  ret i64 %r
}
define internal i32 @sirius.llvm.nvvm.mul24.i(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = shl i32 %a, 8
  %y = shl i32 %b, 8
  %u = ashr i32 %x, 8
  %v = ashr i32 %y, 8
  %r = mul i32 %u, %v
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.mul24.ui(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = shl i32 %a, 8
  %y = shl i32 %b, 8
  %u = lshr i32 %x, 8
  %v = lshr i32 %y, 8
  %r = mul i32 %u, %v
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.sad.i(ptr %c, i32 %a, i32 %b, i32 %e) alwaysinline {
  %l = icmp slt i32 %a, %b
  %x = sub i32 %b, %a
  %y = sub i32 %a, %b
  %s = select i1 %l, i32 %x, i32 %y
  %r = add i32 %s, %e
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.sad.ui(ptr %c, i32 %a, i32 %b, i32 %e) alwaysinline {
  %l = icmp ult i32 %a, %b
  %x = sub i32 %b, %a
  %y = sub i32 %a, %b
  %s = select i1 %l, i32 %x, i32 %y
  %r = add i32 %s, %e
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.prmt(ptr %c, i32 %a, i32 %b, i32 %s) alwaysinline {
  %al = zext i32 %a to i64
  %bl = zext i32 %b to i64
  %bh = shl i64 %bl, 32
  %w = or i64 %bh, %al
  %n0 = lshr i32 %s, 0
  %k0 = and i32 %n0, 7
  %h0 = shl i32 %k0, 3
  %z0 = zext i32 %h0 to i64
  %v0 = lshr i64 %w, %z0
  %t0 = trunc i64 %v0 to i8
  %g0 = ashr i8 %t0, 7
  %m0 = and i32 %n0, 8
  %p0 = icmp ne i32 %m0, 0
  %q0 = select i1 %p0, i8 %g0, i8 %t0
  %e0 = zext i8 %q0 to i32
  %f0 = shl i32 %e0, 0
  %o0 = or i32 0, %f0
  %n1 = lshr i32 %s, 4
  %k1 = and i32 %n1, 7
  %h1 = shl i32 %k1, 3
  %z1 = zext i32 %h1 to i64
  %v1 = lshr i64 %w, %z1
  %t1 = trunc i64 %v1 to i8
  %g1 = ashr i8 %t1, 7
  %m1 = and i32 %n1, 8
  %p1 = icmp ne i32 %m1, 0
  %q1 = select i1 %p1, i8 %g1, i8 %t1
  %e1 = zext i8 %q1 to i32
  %f1 = shl i32 %e1, 8
  %o1 = or i32 %o0, %f1
  %n2 = lshr i32 %s, 8
  %k2 = and i32 %n2, 7
  %h2 = shl i32 %k2, 3
  %z2 = zext i32 %h2 to i64
  %v2 = lshr i64 %w, %z2
  %t2 = trunc i64 %v2 to i8
  %g2 = ashr i8 %t2, 7
  %m2 = and i32 %n2, 8
  %p2 = icmp ne i32 %m2, 0
  %q2 = select i1 %p2, i8 %g2, i8 %t2
  %e2 = zext i8 %q2 to i32
  %f2 = shl i32 %e2, 16
  %o2 = or i32 %o1, %f2
  %n3 = lshr i32 %s, 12
  %k3 = and i32 %n3, 7
  %h3 = shl i32 %k3, 3
  %z3 = zext i32 %h3 to i64
  %v3 = lshr i64 %w, %z3
  %t3 = trunc i64 %v3 to i8
  %g3 = ashr i8 %t3, 7
  %m3 = and i32 %n3, 8
  %p3 = icmp ne i32 %m3, 0
  %q3 = select i1 %p3, i8 %g3, i8 %t3
  %e3 = zext i8 %q3 to i32
  %f3 = shl i32 %e3, 24
  %o3 = or i32 %o2, %f3
  ret i32 %o3
}
define internal i32 @sirius.asm.shf.l.wrap.b32(ptr %c, i32 %lo, i32 %hi, i32 %n) alwaysinline {
  %r = call i32 @llvm.fshl.i32(i32 %hi, i32 %lo, i32 %n)
  ret i32 %r
}
define internal i32 @sirius.asm.shf.r.wrap.b32(ptr %c, i32 %lo, i32 %hi, i32 %n) alwaysinline {
  %r = call i32 @llvm.fshr.i32(i32 %hi, i32 %lo, i32 %n)
  ret i32 %r
}
define internal i32 @sirius.asm.shf.l.clamp.b32(ptr %c, i32 %lo, i32 %hi, i32 %n) alwaysinline {
  %w = call i32 @llvm.umin.i32(i32 %n, i32 32)
  %a = zext i32 %hi to i64
  %b = shl i64 %a, 32
  %l = zext i32 %lo to i64
  %v = or i64 %b, %l
  %s = zext i32 %w to i64
  %x = shl i64 %v, %s
  %y = lshr i64 %x, 32
  %r = trunc i64 %y to i32
  ret i32 %r
}
define internal i32 @sirius.asm.shf.r.clamp.b32(ptr %c, i32 %lo, i32 %hi, i32 %n) alwaysinline {
  %w = call i32 @llvm.umin.i32(i32 %n, i32 32)
  %a = zext i32 %hi to i64
  %b = shl i64 %a, 32
  %l = zext i32 %lo to i64
  %v = or i64 %b, %l
  %s = zext i32 %w to i64
  %x = lshr i64 %v, %s
  %r = trunc i64 %x to i32
  ret i32 %r
}
define internal i32 @sirius.asm.bfind.shiftamt.u32(ptr %c, i32 %a) alwaysinline {
  %z = icmp eq i32 %a, 0
  %n = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  %r = select i1 %z, i32 -1, i32 %n
  ret i32 %r
}
define internal i32 @sirius.asm.bmsk.clamp.b32(ptr %c, i32 %from, i32 %wide) alwaysinline {
  %f = call i32 @llvm.umin.i32(i32 %from, i32 32)
  %w = call i32 @llvm.umin.i32(i32 %wide, i32 32)
  %s = zext i32 %f to i64
  %n = zext i32 %w to i64
  %p = shl i64 1, %n
  %m = sub i64 %p, 1
  %x = shl i64 %m, %s
  %r = trunc i64 %x to i32
  ret i32 %r
}
define internal i32 @sirius.asm.bmsk.wrap.b32(ptr %c, i32 %from, i32 %wide) alwaysinline {
  %f = and i32 %from, 31
  %w = and i32 %wide, 31
  %p = shl i32 1, %w
  %m = sub i32 %p, 1
  %r = shl i32 %m, %f
  ret i32 %r
}
define internal void @sirius.asm.nanosleep.u32(ptr %c, i32 %n) alwaysinline {
  ret void
}
define internal { i32, i32 } @sirius.asm.mad.wide.carry(ptr %c, i32 %a, i32 %b, i32 %e) alwaysinline {
  %x = zext i32 %a to i64
  %y = zext i32 %b to i64
  %z = zext i32 %e to i64
  %m = mul i64 %x, %y
  %s = add i64 %m, %z
  %l = trunc i64 %s to i32
  %h = lshr i64 %s, 32
  %u = trunc i64 %h to i32
  %p = insertvalue { i32, i32 } poison, i32 %l, 0
  %q = insertvalue { i32, i32 } %p, i32 %u, 1
  ret { i32, i32 } %q
}
define internal { i64, i64 } @sirius.asm.wide.add(ptr %c, i64 %a0, i64 %a1, i64 %b0, i64 %b1) alwaysinline {
  %al = zext i64 %a0 to i128
  %ah = zext i64 %a1 to i128
  %as = shl i128 %ah, 64
  %a = or i128 %al, %as
  %bl = zext i64 %b0 to i128
  %bh = zext i64 %b1 to i128
  %bs = shl i128 %bh, 64
  %b = or i128 %bl, %bs
  %o = add i128 %a, %b
  %ol = trunc i128 %o to i64
  %oh = lshr i128 %o, 64
  %ou = trunc i128 %oh to i64
  %p = insertvalue { i64, i64 } poison, i64 %ol, 0
  %q = insertvalue { i64, i64 } %p, i64 %ou, 1
  ret { i64, i64 } %q
}
define internal { i64, i64 } @sirius.asm.wide.sub(ptr %c, i64 %a0, i64 %a1, i64 %b0, i64 %b1) alwaysinline {
  %al = zext i64 %a0 to i128
  %ah = zext i64 %a1 to i128
  %as = shl i128 %ah, 64
  %a = or i128 %al, %as
  %bl = zext i64 %b0 to i128
  %bh = zext i64 %b1 to i128
  %bs = shl i128 %bh, 64
  %b = or i128 %bl, %bs
  %o = sub i128 %a, %b
  %ol = trunc i128 %o to i64
  %oh = lshr i128 %o, 64
  %ou = trunc i128 %oh to i64
  %p = insertvalue { i64, i64 } poison, i64 %ol, 0
  %q = insertvalue { i64, i64 } %p, i64 %ou, 1
  ret { i64, i64 } %q
}
define internal { i64, i64 } @sirius.asm.wide.mul(ptr %c, i64 %a, i64 %b) alwaysinline {
  %x = zext i64 %a to i128
  %y = zext i64 %b to i128
  %o = mul i128 %x, %y
  %ol = trunc i128 %o to i64
  %oh = lshr i128 %o, 64
  %ou = trunc i128 %oh to i64
  %p = insertvalue { i64, i64 } poison, i64 %ol, 0
  %q = insertvalue { i64, i64 } %p, i64 %ou, 1
  ret { i64, i64 } %q
}
define internal { i64, i64 } @sirius.asm.wide.mad(ptr %c, i64 %a, i64 %b, i64 %d) alwaysinline {
  %x = zext i64 %a to i128
  %y = zext i64 %b to i128
  %z = zext i64 %d to i128
  %m = mul i128 %x, %y
  %o = add i128 %m, %z
  %ol = trunc i128 %o to i64
  %oh = lshr i128 %o, 64
  %ou = trunc i128 %oh to i64
  %p = insertvalue { i64, i64 } poison, i64 %ol, 0
  %q = insertvalue { i64, i64 } %p, i64 %ou, 1
  ret { i64, i64 } %q
}
define internal i32 @sirius.asm.warp.size(ptr %c) alwaysinline {
  ret i32 32
}
define internal float @sirius.asm.min.f32(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.minnum.f32(float %a, float %b)
  ret float %r
}
define internal float @sirius.asm.max.f32(ptr %c, float %a, float %b) alwaysinline {
  %r = call float @llvm.maxnum.f32(float %a, float %b)
  ret float %r
}
; Atomics that have names of their own.
define internal i32 @sirius.llvm.nvvm.atomic.load.inc.32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw uinc_wrap ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.load.dec.32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw udec_wrap ptr %p, i32 %v seq_cst
  ret i32 %r
}
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.ceil.f32(float)
declare float @llvm.trunc.f32(float)
declare float @llvm.roundeven.f32(float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.minimum.f32(float, float)
declare float @llvm.maximum.f32(float, float)
declare float @llvm.fabs.f32(float)
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.trunc.f64(double)
declare double @llvm.roundeven.f64(double)
declare double @llvm.minnum.f64(double, double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.fabs.f64(double)
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare i32 @llvm.fptoui.sat.i32.f32(float)
declare i64 @llvm.fptosi.sat.i64.f32(float)
declare i64 @llvm.fptoui.sat.i64.f32(float)
declare i32 @llvm.fptosi.sat.i32.f64(double)
declare i32 @llvm.fptoui.sat.i32.f64(double)
declare i64 @llvm.fptosi.sat.i64.f64(double)
declare i64 @llvm.fptoui.sat.i64.f64(double)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.fshr.i32(i32, i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.ctlz.i32(i32, i1)

; Atomic operations of a block's or the system's scope: one order serves all.
define internal i32 @sirius.llvm.nvvm.atomic.inc.gen.i.cta.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw uinc_wrap ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.dec.gen.i.cta.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw udec_wrap ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.inc.gen.i.cta.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw uinc_wrap ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.dec.gen.i.cta.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw udec_wrap ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.inc.gen.i.sys.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw uinc_wrap ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.atomic.dec.gen.i.sys.i32(ptr %c, ptr %p, i32 %v) alwaysinline {
  %r = atomicrmw udec_wrap ptr %p, i32 %v seq_cst
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.inc.gen.i.sys.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw uinc_wrap ptr %p, i64 %v seq_cst
  ret i64 %r
}
define internal i64 @sirius.llvm.nvvm.atomic.dec.gen.i.sys.i64(ptr %c, ptr %p, i64 %v) alwaysinline {
  %r = atomicrmw udec_wrap ptr %p, i64 %v seq_cst
  ret i64 %r
}
