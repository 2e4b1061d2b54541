; Arithmetic of the device.

; What approximate division and square roots are written as under -prec-div=false, -prec-sqrt=false
; and -use_fast_math. A CPU's own are exact to within what the device promises.
define internal float @sirius.llvm.nvvm.div.full(ptr %c, float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.div.full.ftz(ptr %c, float %a, float %b) alwaysinline {
  %r = fdiv float %a, %b
  ret float %r
}
define internal float @sirius.llvm.nvvm.sqrt.approx.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}
define internal float @sirius.llvm.nvvm.sqrt.approx.ftz.f(ptr %c, float %a) alwaysinline {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}
