; Conversions to bfloat that LLVM calls by these names on processors without them, and that older
; compiler libraries lack. Round to nearest, ties to even; a NaN stays one.
define weak hidden bfloat @__truncsfbf2(float %value) nounwind {
  %bits = bitcast float %value to i32
  %kept = lshr i32 %bits, 16
  %odd = and i32 %kept, 1
  %bias = add nuw nsw i32 %odd, 32767
  %sum = add i32 %bits, %bias
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %kept, 64
  %nan = fcmp uno float %value, 0.0
  %word = select i1 %nan, i32 %quiet, i32 %rounded
  %half = trunc i32 %word to i16
  %result = bitcast i16 %half to bfloat
  ret bfloat %result
}

; Rounding to odd first keeps the second rounding from being one of a tie that was none.
define weak hidden bfloat @__truncdfbf2(double %value) nounwind {
  %near = fptrunc double %value to float
  %back = fpext float %near to double
  %bits = bitcast float %near to i32
  %inexact = fcmp one double %back, %value
  %back.size = call double @llvm.fabs.f64(double %back)
  %size = call double @llvm.fabs.f64(double %value)
  %above = fcmp ogt double %back.size, %size
  %step = zext i1 %above to i32
  %toward.zero = sub i32 %bits, %step
  %sticky = zext i1 %inexact to i32
  %odd = or i32 %toward.zero, %sticky
  %float = bitcast i32 %odd to float
  %result = call bfloat @__truncsfbf2(float %float)
  ret bfloat %result
}

declare double @llvm.fabs.f64(double)
