; Half precision as inline PTX of cuda_fp16.h and cuda_bf16.h: values travel as 16-bit integers.
define internal float @sirius.asm.cvt.f32.f16(ptr %c, i16 %a) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  ret float %af
}
define internal i16 @sirius.asm.cvt.rn.f16.f32(ptr %c, float %a) alwaysinline {
  %h = fptrunc float %a to half
  %r = bitcast half %h to i16
  ret i16 %r
}
define internal i16 @sirius.asm.add.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = fadd float %af, %bf
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i16 @sirius.asm.add.rn.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = fadd float %af, %bf
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i32 @sirius.asm.add.f16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x half>
  %y = bitcast i32 %b to <2 x half>
  %u = fpext <2 x half> %x to <2 x float>
  %v = fpext <2 x half> %y to <2 x float>
  %s = fadd <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x half>
  %r = bitcast <2 x half> %t to i32
  ret i32 %r
}
define internal i32 @sirius.asm.add.rn.f16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x half>
  %y = bitcast i32 %b to <2 x half>
  %u = fpext <2 x half> %x to <2 x float>
  %v = fpext <2 x half> %y to <2 x float>
  %s = fadd <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x half>
  %r = bitcast <2 x half> %t to i32
  ret i32 %r
}
define internal i16 @sirius.asm.sub.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = fsub float %af, %bf
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i16 @sirius.asm.sub.rn.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = fsub float %af, %bf
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i32 @sirius.asm.sub.f16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x half>
  %y = bitcast i32 %b to <2 x half>
  %u = fpext <2 x half> %x to <2 x float>
  %v = fpext <2 x half> %y to <2 x float>
  %s = fsub <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x half>
  %r = bitcast <2 x half> %t to i32
  ret i32 %r
}
define internal i32 @sirius.asm.sub.rn.f16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x half>
  %y = bitcast i32 %b to <2 x half>
  %u = fpext <2 x half> %x to <2 x float>
  %v = fpext <2 x half> %y to <2 x float>
  %s = fsub <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x half>
  %r = bitcast <2 x half> %t to i32
  ret i32 %r
}
define internal i16 @sirius.asm.mul.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = fmul float %af, %bf
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i16 @sirius.asm.mul.rn.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = fmul float %af, %bf
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i32 @sirius.asm.mul.f16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x half>
  %y = bitcast i32 %b to <2 x half>
  %u = fpext <2 x half> %x to <2 x float>
  %v = fpext <2 x half> %y to <2 x float>
  %s = fmul <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x half>
  %r = bitcast <2 x half> %t to i32
  ret i32 %r
}
define internal i32 @sirius.asm.mul.rn.f16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x half>
  %y = bitcast i32 %b to <2 x half>
  %u = fpext <2 x half> %x to <2 x float>
  %v = fpext <2 x half> %y to <2 x float>
  %s = fmul <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x half>
  %r = bitcast <2 x half> %t to i32
  ret i32 %r
}
define internal i16 @sirius.asm.fma.rn.f16(ptr %c, i16 %a, i16 %b, i16 %e) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %eh = bitcast i16 %e to half
  %ef = fpext half %eh to float
  %ad = fpext float %af to double
  %bd = fpext float %bf to double
  %ed = fpext float %ef to double
  %m = fmul double %ad, %bd
  %x = fadd double %m, %ed
  %y = fptrunc double %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i32 @sirius.asm.fma.rn.f16x2(ptr %c, i32 %a, i32 %b, i32 %e) alwaysinline {
  %x = bitcast i32 %a to <2 x half>
  %y = bitcast i32 %b to <2 x half>
  %z = bitcast i32 %e to <2 x half>
  %u = fpext <2 x half> %x to <2 x double>
  %v = fpext <2 x half> %y to <2 x double>
  %q = fpext <2 x half> %z to <2 x double>
  %m = fmul <2 x double> %u, %v
  %s = fadd <2 x double> %m, %q
  %t = fptrunc <2 x double> %s to <2 x half>
  %r = bitcast <2 x half> %t to i32
  ret i32 %r
}
define internal i16 @sirius.asm.neg.f16(ptr %c, i16 %a) alwaysinline {
  %r = xor i16 %a, -32768
  ret i16 %r
}
define internal i16 @sirius.asm.abs.f16(ptr %c, i16 %a) alwaysinline {
  %r = and i16 %a, 32767
  ret i16 %r
}
define internal float @sirius.asm.cvt.f32.bf16(ptr %c, i16 %a) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  ret float %af
}
define internal i16 @sirius.asm.cvt.rn.bf16.f32(ptr %c, float %a) alwaysinline {
  %h = fptrunc float %a to bfloat
  %r = bitcast bfloat %h to i16
  ret i16 %r
}
define internal i16 @sirius.asm.add.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = fadd float %af, %bf
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i16 @sirius.asm.add.rn.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = fadd float %af, %bf
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i32 @sirius.asm.add.bf16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x bfloat>
  %y = bitcast i32 %b to <2 x bfloat>
  %u = fpext <2 x bfloat> %x to <2 x float>
  %v = fpext <2 x bfloat> %y to <2 x float>
  %s = fadd <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x bfloat>
  %r = bitcast <2 x bfloat> %t to i32
  ret i32 %r
}
define internal i32 @sirius.asm.add.rn.bf16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x bfloat>
  %y = bitcast i32 %b to <2 x bfloat>
  %u = fpext <2 x bfloat> %x to <2 x float>
  %v = fpext <2 x bfloat> %y to <2 x float>
  %s = fadd <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x bfloat>
  %r = bitcast <2 x bfloat> %t to i32
  ret i32 %r
}
define internal i16 @sirius.asm.sub.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = fsub float %af, %bf
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i16 @sirius.asm.sub.rn.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = fsub float %af, %bf
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i32 @sirius.asm.sub.bf16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x bfloat>
  %y = bitcast i32 %b to <2 x bfloat>
  %u = fpext <2 x bfloat> %x to <2 x float>
  %v = fpext <2 x bfloat> %y to <2 x float>
  %s = fsub <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x bfloat>
  %r = bitcast <2 x bfloat> %t to i32
  ret i32 %r
}
define internal i32 @sirius.asm.sub.rn.bf16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x bfloat>
  %y = bitcast i32 %b to <2 x bfloat>
  %u = fpext <2 x bfloat> %x to <2 x float>
  %v = fpext <2 x bfloat> %y to <2 x float>
  %s = fsub <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x bfloat>
  %r = bitcast <2 x bfloat> %t to i32
  ret i32 %r
}
define internal i16 @sirius.asm.mul.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = fmul float %af, %bf
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i16 @sirius.asm.mul.rn.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = fmul float %af, %bf
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i32 @sirius.asm.mul.bf16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x bfloat>
  %y = bitcast i32 %b to <2 x bfloat>
  %u = fpext <2 x bfloat> %x to <2 x float>
  %v = fpext <2 x bfloat> %y to <2 x float>
  %s = fmul <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x bfloat>
  %r = bitcast <2 x bfloat> %t to i32
  ret i32 %r
}
define internal i32 @sirius.asm.mul.rn.bf16x2(ptr %c, i32 %a, i32 %b) alwaysinline {
  %x = bitcast i32 %a to <2 x bfloat>
  %y = bitcast i32 %b to <2 x bfloat>
  %u = fpext <2 x bfloat> %x to <2 x float>
  %v = fpext <2 x bfloat> %y to <2 x float>
  %s = fmul <2 x float> %u, %v
  %t = fptrunc <2 x float> %s to <2 x bfloat>
  %r = bitcast <2 x bfloat> %t to i32
  ret i32 %r
}
define internal i16 @sirius.asm.fma.rn.bf16(ptr %c, i16 %a, i16 %b, i16 %e) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %eh = bitcast i16 %e to bfloat
  %ef = fpext bfloat %eh to float
  %ad = fpext float %af to double
  %bd = fpext float %bf to double
  %ed = fpext float %ef to double
  %m = fmul double %ad, %bd
  %x = fadd double %m, %ed
  %y = fptrunc double %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i32 @sirius.asm.fma.rn.bf16x2(ptr %c, i32 %a, i32 %b, i32 %e) alwaysinline {
  %x = bitcast i32 %a to <2 x bfloat>
  %y = bitcast i32 %b to <2 x bfloat>
  %z = bitcast i32 %e to <2 x bfloat>
  %u = fpext <2 x bfloat> %x to <2 x double>
  %v = fpext <2 x bfloat> %y to <2 x double>
  %q = fpext <2 x bfloat> %z to <2 x double>
  %m = fmul <2 x double> %u, %v
  %s = fadd <2 x double> %m, %q
  %t = fptrunc <2 x double> %s to <2 x bfloat>
  %r = bitcast <2 x bfloat> %t to i32
  ret i32 %r
}
define internal i16 @sirius.asm.neg.bf16(ptr %c, i16 %a) alwaysinline {
  %r = xor i16 %a, -32768
  ret i16 %r
}
define internal i16 @sirius.asm.abs.bf16(ptr %c, i16 %a) alwaysinline {
  %r = and i16 %a, 32767
  ret i16 %r
}
define internal i32 @sirius.asm.neg.f16x2(ptr %c, i32 %a) alwaysinline {
  %r = xor i32 %a, -2147450880
  ret i32 %r
}
define internal i16 @sirius.asm.setp.eq.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp oeq float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.ne.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp one float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.lt.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp olt float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.le.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp ole float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.gt.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp ogt float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.ge.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp oge float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.equ.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp ueq float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.neu.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp une float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.ltu.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp ult float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.leu.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp ule float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.gtu.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp ugt float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.geu.f16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to half
  %y = bitcast i16 %b to half
  %u = fpext half %x to float
  %v = fpext half %y to float
  %l = fcmp uge float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.eq.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp oeq float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.ne.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp one float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.lt.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp olt float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.le.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp ole float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.gt.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp ogt float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.ge.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp oge float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.equ.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp ueq float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.neu.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp une float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.ltu.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp ult float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.leu.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp ule float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.gtu.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp ugt float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i16 @sirius.asm.setp.geu.bf16(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = bitcast i16 %a to bfloat
  %y = bitcast i16 %b to bfloat
  %u = fpext bfloat %x to float
  %v = fpext bfloat %y to float
  %l = fcmp uge float %u, %v
  %r = zext i1 %l to i16
  ret i16 %r
}
define internal i32 @sirius.asm.pack(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = zext i16 %a to i32
  %y = zext i16 %b to i32
  %z = shl i32 %y, 16
  %r = or i32 %x, %z
  ret i32 %r
}
define internal i32 @sirius.asm.pack.high(ptr %c, i16 %a) alwaysinline {
  %y = zext i16 %a to i32
  %r = shl i32 %y, 16
  ret i32 %r
}
define internal float @sirius.asm.half2.low(ptr %c, i32 %a) alwaysinline {
  %t = trunc i32 %a to i16
  %h = bitcast i16 %t to half
  %r = fpext half %h to float
  ret float %r
}
define internal float @sirius.asm.half2.high(ptr %c, i32 %a) alwaysinline {
  %s = lshr i32 %a, 16
  %t = trunc i32 %s to i16
  %h = bitcast i16 %t to half
  %r = fpext half %h to float
  ret float %r
}
define internal i32 @sirius.asm.half2.splat(ptr %c, float %a) alwaysinline {
  %h = fptrunc float %a to half
  %b = bitcast half %h to i16
  %l = zext i16 %b to i32
  %u = shl i32 %l, 16
  %r = or i32 %u, %l
  ret i32 %r
}
define internal i32 @sirius.asm.half2.pair(ptr %c, float %a, float %b) alwaysinline {
  %h = fptrunc float %a to half
  %g = fptrunc float %b to half
  %x = bitcast half %h to i16
  %y = bitcast half %g to i16
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %x, i16 %y)
  ret i32 %r
}
define internal i32 @sirius.asm.cvt.rn.f16x2.f32(ptr %c, float %high, float %low) alwaysinline {
  %r = call i32 @sirius.asm.half2.pair(ptr %c, float %low, float %high)
  ret i32 %r
}
define internal i16 @sirius.asm.bfloat.add(ptr %c, i16 %a, i16 %b) alwaysinline {
  %r = call i16 @sirius.asm.add.bf16(ptr %c, i16 %a, i16 %b)
  ret i16 %r
}
define internal i16 @sirius.asm.bfloat.sub(ptr %c, i16 %a, i16 %b) alwaysinline {
  %r = call i16 @sirius.asm.sub.bf16(ptr %c, i16 %b, i16 %a)
  ret i16 %r
}
define internal float @sirius.asm.float.of.bf16(ptr %c, i16 %a) alwaysinline {
  %y = call i32 @sirius.asm.pack.high(ptr %c, i16 %a)
  %r = bitcast i32 %y to float
  ret float %r
}
define internal i16 @"sirius.asm.min.f16"(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = call float @llvm.minnum.f32(float %af, float %bf)
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i32 @"sirius.asm.min.f16x2"(ptr %c, i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %bl = trunc i32 %b to i16
  %as = lshr i32 %a, 16
  %bs = lshr i32 %b, 16
  %ah = trunc i32 %as to i16
  %bh = trunc i32 %bs to i16
  %l = call i16 @"sirius.asm.min.f16"(ptr %c, i16 %al, i16 %bl)
  %h = call i16 @"sirius.asm.min.f16"(ptr %c, i16 %ah, i16 %bh)
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %l, i16 %h)
  ret i32 %r
}
define internal i16 @"sirius.asm.max.f16"(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = call float @llvm.maxnum.f32(float %af, float %bf)
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i32 @"sirius.asm.max.f16x2"(ptr %c, i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %bl = trunc i32 %b to i16
  %as = lshr i32 %a, 16
  %bs = lshr i32 %b, 16
  %ah = trunc i32 %as to i16
  %bh = trunc i32 %bs to i16
  %l = call i16 @"sirius.asm.max.f16"(ptr %c, i16 %al, i16 %bl)
  %h = call i16 @"sirius.asm.max.f16"(ptr %c, i16 %ah, i16 %bh)
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %l, i16 %h)
  ret i32 %r
}
define internal i16 @"sirius.asm.min.NaN.f16"(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = call float @llvm.minimum.f32(float %af, float %bf)
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i32 @"sirius.asm.min.NaN.f16x2"(ptr %c, i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %bl = trunc i32 %b to i16
  %as = lshr i32 %a, 16
  %bs = lshr i32 %b, 16
  %ah = trunc i32 %as to i16
  %bh = trunc i32 %bs to i16
  %l = call i16 @"sirius.asm.min.NaN.f16"(ptr %c, i16 %al, i16 %bl)
  %h = call i16 @"sirius.asm.min.NaN.f16"(ptr %c, i16 %ah, i16 %bh)
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %l, i16 %h)
  ret i32 %r
}
define internal i16 @"sirius.asm.max.NaN.f16"(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to half
  %af = fpext half %ah to float
  %bh = bitcast i16 %b to half
  %bf = fpext half %bh to float
  %x = call float @llvm.maximum.f32(float %af, float %bf)
  %y = fptrunc float %x to half
  %r = bitcast half %y to i16
  ret i16 %r
}
define internal i32 @"sirius.asm.max.NaN.f16x2"(ptr %c, i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %bl = trunc i32 %b to i16
  %as = lshr i32 %a, 16
  %bs = lshr i32 %b, 16
  %ah = trunc i32 %as to i16
  %bh = trunc i32 %bs to i16
  %l = call i16 @"sirius.asm.max.NaN.f16"(ptr %c, i16 %al, i16 %bl)
  %h = call i16 @"sirius.asm.max.NaN.f16"(ptr %c, i16 %ah, i16 %bh)
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %l, i16 %h)
  ret i32 %r
}
define internal i16 @"sirius.asm.min.bf16"(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = call float @llvm.minnum.f32(float %af, float %bf)
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i32 @"sirius.asm.min.bf16x2"(ptr %c, i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %bl = trunc i32 %b to i16
  %as = lshr i32 %a, 16
  %bs = lshr i32 %b, 16
  %ah = trunc i32 %as to i16
  %bh = trunc i32 %bs to i16
  %l = call i16 @"sirius.asm.min.bf16"(ptr %c, i16 %al, i16 %bl)
  %h = call i16 @"sirius.asm.min.bf16"(ptr %c, i16 %ah, i16 %bh)
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %l, i16 %h)
  ret i32 %r
}
define internal i16 @"sirius.asm.max.bf16"(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = call float @llvm.maxnum.f32(float %af, float %bf)
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i32 @"sirius.asm.max.bf16x2"(ptr %c, i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %bl = trunc i32 %b to i16
  %as = lshr i32 %a, 16
  %bs = lshr i32 %b, 16
  %ah = trunc i32 %as to i16
  %bh = trunc i32 %bs to i16
  %l = call i16 @"sirius.asm.max.bf16"(ptr %c, i16 %al, i16 %bl)
  %h = call i16 @"sirius.asm.max.bf16"(ptr %c, i16 %ah, i16 %bh)
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %l, i16 %h)
  ret i32 %r
}
define internal i16 @"sirius.asm.min.NaN.bf16"(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = call float @llvm.minimum.f32(float %af, float %bf)
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i32 @"sirius.asm.min.NaN.bf16x2"(ptr %c, i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %bl = trunc i32 %b to i16
  %as = lshr i32 %a, 16
  %bs = lshr i32 %b, 16
  %ah = trunc i32 %as to i16
  %bh = trunc i32 %bs to i16
  %l = call i16 @"sirius.asm.min.NaN.bf16"(ptr %c, i16 %al, i16 %bl)
  %h = call i16 @"sirius.asm.min.NaN.bf16"(ptr %c, i16 %ah, i16 %bh)
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %l, i16 %h)
  ret i32 %r
}
define internal i16 @"sirius.asm.max.NaN.bf16"(ptr %c, i16 %a, i16 %b) alwaysinline {
  %ah = bitcast i16 %a to bfloat
  %af = fpext bfloat %ah to float
  %bh = bitcast i16 %b to bfloat
  %bf = fpext bfloat %bh to float
  %x = call float @llvm.maximum.f32(float %af, float %bf)
  %y = fptrunc float %x to bfloat
  %r = bitcast bfloat %y to i16
  ret i16 %r
}
define internal i32 @"sirius.asm.max.NaN.bf16x2"(ptr %c, i32 %a, i32 %b) alwaysinline {
  %al = trunc i32 %a to i16
  %bl = trunc i32 %b to i16
  %as = lshr i32 %a, 16
  %bs = lshr i32 %b, 16
  %ah = trunc i32 %as to i16
  %bh = trunc i32 %bs to i16
  %l = call i16 @"sirius.asm.max.NaN.bf16"(ptr %c, i16 %al, i16 %bl)
  %h = call i16 @"sirius.asm.max.NaN.bf16"(ptr %c, i16 %ah, i16 %bh)
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %l, i16 %h)
  ret i32 %r
}
define internal i32 @sirius.asm.cvt.rn.bf16x2.f32(ptr %c, float %high, float %low) alwaysinline {
  %x = fptrunc float %low to bfloat
  %y = fptrunc float %high to bfloat
  %l = bitcast bfloat %x to i16
  %h = bitcast bfloat %y to i16
  %r = call i32 @sirius.asm.pack(ptr %c, i16 %l, i16 %h)
  ret i32 %r
}
define internal i16 @sirius.asm.half.low(ptr %c, i32 %a) alwaysinline {
  %r = trunc i32 %a to i16
  ret i16 %r
}
define internal i16 @sirius.asm.half.high(ptr %c, i32 %a) alwaysinline {
  %s = lshr i32 %a, 16
  %r = trunc i32 %s to i16
  ret i16 %r
}
define internal i32 @sirius.asm.half.swap(ptr %c, i32 %a) alwaysinline {
  %l = shl i32 %a, 16
  %h = lshr i32 %a, 16
  %r = or i32 %l, %h
  ret i32 %r
}
define internal i16 @sirius.asm.bfloat.mul(ptr %c, i16 %a, i16 %b) alwaysinline {
  %r = call i16 @sirius.asm.mul.bf16(ptr %c, i16 %a, i16 %b)
  ret i16 %r
}
define internal i32 @sirius.asm.bfloat2.add(ptr %c, i32 %a, i32 %b) alwaysinline {
  %r = call i32 @sirius.asm.add.bf16x2(ptr %c, i32 %a, i32 %b)
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat2.mul(ptr %c, i32 %a, i32 %b) alwaysinline {
  %r = call i32 @sirius.asm.mul.bf16x2(ptr %c, i32 %a, i32 %b)
  ret i32 %r
}
define internal float @sirius.asm.div.approx.f32(ptr %c, float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}
define internal i16 @sirius.asm.atomic.add.f16(ptr %c, ptr %p, i16 %v) alwaysinline {
  %h = bitcast i16 %v to half
  %o = atomicrmw fadd ptr %p, half %h seq_cst
  %r = bitcast half %o to i16
  ret i16 %r
}
define internal i32 @sirius.asm.atomic.add.f16x2(ptr %c, ptr %p, i32 %v) alwaysinline {
  %h = bitcast i32 %v to <2 x half>
  %o = atomicrmw fadd ptr %p, <2 x half> %h seq_cst
  %r = bitcast <2 x half> %o to i32
  ret i32 %r
}
define internal i16 @sirius.asm.atomic.add.bf16(ptr %c, ptr %p, i16 %v) alwaysinline {
  %h = bitcast i16 %v to bfloat
  %o = atomicrmw fadd ptr %p, bfloat %h seq_cst
  %r = bitcast bfloat %o to i16
  ret i16 %r
}
define internal i32 @sirius.asm.atomic.add.bf16x2(ptr %c, ptr %p, i32 %v) alwaysinline {
  %h = bitcast i32 %v to <2 x bfloat>
  %o = atomicrmw fadd ptr %p, <2 x bfloat> %h seq_cst
  %r = bitcast <2 x bfloat> %o to i32
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.eq(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp oeq float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.ne(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp one float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.lt(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp olt float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.le(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp ole float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.gt(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp ogt float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.ge(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp oge float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.equ(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp ueq float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.neu(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp une float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.ltu(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp ult float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.leu(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp ule float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.gtu(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp ugt float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
define internal i32 @sirius.asm.bfloat.set.geu(ptr %c, i16 %a, i16 %b) alwaysinline {
  %x = call float @sirius.asm.float.of.bf16(ptr %c, i16 %a)
  %y = call float @sirius.asm.float.of.bf16(ptr %c, i16 %b)
  %l = fcmp uge float %x, %y
  %r = select i1 %l, i32 1065353216, i32 0
  ret i32 %r
}
