; Conversions: rounded as the name says, saturated; NaN becomes 0, or the sign bit where 64 bits are involved.
define internal i32 @sirius.llvm.nvvm.f2i.rn(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.roundeven.f32(float %a)
  %r = call i32 @llvm.fptosi.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2i.rn.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.roundeven.f32(float %a)
  %r = call i32 @llvm.fptosi.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2i.rz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.trunc.f32(float %a)
  %r = call i32 @llvm.fptosi.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2i.rz.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.trunc.f32(float %a)
  %r = call i32 @llvm.fptosi.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2i.rm(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.floor.f32(float %a)
  %r = call i32 @llvm.fptosi.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2i.rm.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.floor.f32(float %a)
  %r = call i32 @llvm.fptosi.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2i.rp(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.ceil.f32(float %a)
  %r = call i32 @llvm.fptosi.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2i.rp.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.ceil.f32(float %a)
  %r = call i32 @llvm.fptosi.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2ui.rn(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.roundeven.f32(float %a)
  %r = call i32 @llvm.fptoui.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2ui.rn.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.roundeven.f32(float %a)
  %r = call i32 @llvm.fptoui.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2ui.rz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.trunc.f32(float %a)
  %r = call i32 @llvm.fptoui.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2ui.rz.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.trunc.f32(float %a)
  %r = call i32 @llvm.fptoui.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2ui.rm(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.floor.f32(float %a)
  %r = call i32 @llvm.fptoui.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2ui.rm.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.floor.f32(float %a)
  %r = call i32 @llvm.fptoui.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2ui.rp(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.ceil.f32(float %a)
  %r = call i32 @llvm.fptoui.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.f2ui.rp.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.ceil.f32(float %a)
  %r = call i32 @llvm.fptoui.sat.i32.f32(float %x)
  ret i32 %r
}
define internal i64 @sirius.llvm.nvvm.f2ll.rn(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.roundeven.f32(float %a)
  %r = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ll.rn.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.roundeven.f32(float %a)
  %r = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ll.rz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.trunc.f32(float %a)
  %r = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ll.rz.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.trunc.f32(float %a)
  %r = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ll.rm(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.floor.f32(float %a)
  %r = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ll.rm.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.floor.f32(float %a)
  %r = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ll.rp(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.ceil.f32(float %a)
  %r = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ll.rp.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.ceil.f32(float %a)
  %r = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ull.rn(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.roundeven.f32(float %a)
  %r = call i64 @llvm.fptoui.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ull.rn.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.roundeven.f32(float %a)
  %r = call i64 @llvm.fptoui.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ull.rz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.trunc.f32(float %a)
  %r = call i64 @llvm.fptoui.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ull.rz.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.trunc.f32(float %a)
  %r = call i64 @llvm.fptoui.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ull.rm(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.floor.f32(float %a)
  %r = call i64 @llvm.fptoui.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ull.rm.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.floor.f32(float %a)
  %r = call i64 @llvm.fptoui.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ull.rp(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.ceil.f32(float %a)
  %r = call i64 @llvm.fptoui.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.f2ull.rp.ftz(ptr %c, float %a) alwaysinline {
  %x = call float @llvm.ceil.f32(float %a)
  %r = call i64 @llvm.fptoui.sat.i64.f32(float %x)
  %n = fcmp uno float %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal float @sirius.llvm.nvvm.i2f.rn(ptr %c, i32 %a) alwaysinline {
  %r = sitofp i32 %a to float
  ret float %r
}
define internal float @sirius.llvm.nvvm.ui2f.rn(ptr %c, i32 %a) alwaysinline {
  %r = uitofp i32 %a to float
  ret float %r
}
define internal float @sirius.llvm.nvvm.ll2f.rn(ptr %c, i64 %a) alwaysinline {
  %r = sitofp i64 %a to float
  ret float %r
}
define internal float @sirius.llvm.nvvm.ull2f.rn(ptr %c, i64 %a) alwaysinline {
  %r = uitofp i64 %a to float
  ret float %r
}
define internal i32 @sirius.llvm.nvvm.d2i.rn(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.roundeven.f64(double %a)
  %r = call i32 @llvm.fptosi.sat.i32.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i32 -2147483648, i32 %r
  ret i32 %q
}
define internal i32 @sirius.llvm.nvvm.d2i.rz(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.trunc.f64(double %a)
  %r = call i32 @llvm.fptosi.sat.i32.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i32 -2147483648, i32 %r
  ret i32 %q
}
define internal i32 @sirius.llvm.nvvm.d2i.rm(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.floor.f64(double %a)
  %r = call i32 @llvm.fptosi.sat.i32.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i32 -2147483648, i32 %r
  ret i32 %q
}
define internal i32 @sirius.llvm.nvvm.d2i.rp(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.ceil.f64(double %a)
  %r = call i32 @llvm.fptosi.sat.i32.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i32 -2147483648, i32 %r
  ret i32 %q
}
define internal i32 @sirius.llvm.nvvm.d2ui.rn(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.roundeven.f64(double %a)
  %r = call i32 @llvm.fptoui.sat.i32.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i32 -2147483648, i32 %r
  ret i32 %q
}
define internal i32 @sirius.llvm.nvvm.d2ui.rz(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.trunc.f64(double %a)
  %r = call i32 @llvm.fptoui.sat.i32.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i32 -2147483648, i32 %r
  ret i32 %q
}
define internal i32 @sirius.llvm.nvvm.d2ui.rm(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.floor.f64(double %a)
  %r = call i32 @llvm.fptoui.sat.i32.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i32 -2147483648, i32 %r
  ret i32 %q
}
define internal i32 @sirius.llvm.nvvm.d2ui.rp(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.ceil.f64(double %a)
  %r = call i32 @llvm.fptoui.sat.i32.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i32 -2147483648, i32 %r
  ret i32 %q
}
define internal i64 @sirius.llvm.nvvm.d2ll.rn(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.roundeven.f64(double %a)
  %r = call i64 @llvm.fptosi.sat.i64.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.d2ll.rz(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.trunc.f64(double %a)
  %r = call i64 @llvm.fptosi.sat.i64.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.d2ll.rm(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.floor.f64(double %a)
  %r = call i64 @llvm.fptosi.sat.i64.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.d2ll.rp(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.ceil.f64(double %a)
  %r = call i64 @llvm.fptosi.sat.i64.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.d2ull.rn(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.roundeven.f64(double %a)
  %r = call i64 @llvm.fptoui.sat.i64.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.d2ull.rz(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.trunc.f64(double %a)
  %r = call i64 @llvm.fptoui.sat.i64.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.d2ull.rm(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.floor.f64(double %a)
  %r = call i64 @llvm.fptoui.sat.i64.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal i64 @sirius.llvm.nvvm.d2ull.rp(ptr %c, double %a) alwaysinline {
  %x = call double @llvm.ceil.f64(double %a)
  %r = call i64 @llvm.fptoui.sat.i64.f64(double %x)
  %n = fcmp uno double %a, 0.0
  %q = select i1 %n, i64 -9223372036854775808, i64 %r
  ret i64 %q
}
define internal double @sirius.llvm.nvvm.i2d.rn(ptr %c, i32 %a) alwaysinline {
  %r = sitofp i32 %a to double
  ret double %r
}
define internal double @sirius.llvm.nvvm.ui2d.rn(ptr %c, i32 %a) alwaysinline {
  %r = uitofp i32 %a to double
  ret double %r
}
define internal double @sirius.llvm.nvvm.ll2d.rn(ptr %c, i64 %a) alwaysinline {
  %r = sitofp i64 %a to double
  ret double %r
}
define internal double @sirius.llvm.nvvm.ull2d.rn(ptr %c, i64 %a) alwaysinline {
  %r = uitofp i64 %a to double
  ret double %r
}
define internal float @sirius.llvm.nvvm.d2f.rn(ptr %c, double %a) alwaysinline {
  %r = fptrunc double %a to float
  ret float %r
}
define internal i16 @sirius.llvm.nvvm.f2h.rn(ptr %c, float %a) alwaysinline {
  %h = fptrunc float %a to half
  %r = bitcast half %h to i16
  ret i16 %r
}
define internal float @sirius.llvm.nvvm.d2f.rn.ftz(ptr %c, double %a) alwaysinline {
  %r = fptrunc double %a to float
  ret float %r
}
define internal i16 @sirius.llvm.nvvm.f2h.rn.ftz(ptr %c, float %a) alwaysinline {
  %h = fptrunc float %a to half
  %r = bitcast half %h to i16
  ret i16 %r
}
define internal i32 @sirius.llvm.nvvm.d2i.lo(ptr %c, double %a) alwaysinline {
  %b = bitcast double %a to i64
  %r = trunc i64 %b to i32
  ret i32 %r
}
define internal i32 @sirius.llvm.nvvm.d2i.hi(ptr %c, double %a) alwaysinline {
  %b = bitcast double %a to i64
  %s = lshr i64 %b, 32
  %r = trunc i64 %s to i32
  ret i32 %r
}
define internal double @sirius.llvm.nvvm.lohi.i2d(ptr %c, i32 %l, i32 %h) alwaysinline {
  %a = zext i32 %l to i64
  %b = zext i32 %h to i64
  %s = shl i64 %b, 32
  %o = or i64 %s, %a
  %r = bitcast i64 %o to double
  ret double %r
}
; To the nearest number of 10 bits behind the point, halves away from zero; what is no number becomes CUDA's.
define internal i32 @sirius.asm.cvt.rna.tf32.f32(ptr %c, float %a) alwaysinline {
  %bits = bitcast float %a to i32
  %magnitude = and i32 %bits, 2147483647
  %finite = icmp ult i32 %magnitude, 2139095040
  ; What is no number loses its lowest bits as infinity does.
  %half = select i1 %finite, i32 4096, i32 0
  %up = add i32 %bits, %half
  %short = and i32 %up, -8192
  ret i32 %short
}
