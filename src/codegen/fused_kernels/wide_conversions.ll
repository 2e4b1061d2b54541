; Conversions between integers of 128 bits and floats, which NVPTX has no instructions and no library for.

declare i128 @llvm.ctlz.i128(i128, i1)

; The 64 highest bits, of which the last one also stands for all that follow: rounded as all bits would be.
define double @__sirius_f64_of_u128(i128 %x) {
  %is.zero = icmp eq i128 %x, 0
  %zeros = call i128 @llvm.ctlz.i128(i128 %x, i1 false)
  %by = select i1 %is.zero, i128 0, i128 %zeros
  %top = shl i128 %x, %by
  %high.wide = lshr i128 %top, 64
  %high = trunc i128 %high.wide to i64
  %low = trunc i128 %top to i64
  %has.more = icmp ne i64 %low, 0
  %sticky = zext i1 %has.more to i64
  %bits = or i64 %high, %sticky
  %number = uitofp i64 %bits to double
  %count = trunc i128 %by to i64
  %exponent = sub i64 1087, %count
  %scale.bits = shl i64 %exponent, 52
  %scale = bitcast i64 %scale.bits to double
  %result = fmul double %number, %scale
  ret double %result
}

define float @__sirius_f32_of_u128(i128 %x) {
  %is.zero = icmp eq i128 %x, 0
  %zeros = call i128 @llvm.ctlz.i128(i128 %x, i1 false)
  %by = select i1 %is.zero, i128 0, i128 %zeros
  %top = shl i128 %x, %by
  %high.wide = lshr i128 %top, 64
  %high = trunc i128 %high.wide to i64
  %low = trunc i128 %top to i64
  %has.more = icmp ne i64 %low, 0
  %sticky = zext i1 %has.more to i64
  %bits = or i64 %high, %sticky
  %number = uitofp i64 %bits to float
  %count = trunc i128 %by to i32
  %exponent = sub i32 191, %count
  %scale.bits = shl i32 %exponent, 23
  %scale = bitcast i32 %scale.bits to float
  %result = fmul float %number, %scale
  ret float %result
}

define double @__sirius_f64_of_i128(i128 %x) {
  %is.negative = icmp slt i128 %x, 0
  %opposite = sub i128 0, %x
  %size = select i1 %is.negative, i128 %opposite, i128 %x
  %number = call double @__sirius_f64_of_u128(i128 %size)
  %negative = fneg double %number
  %result = select i1 %is.negative, double %negative, double %number
  ret double %result
}

define float @__sirius_f32_of_i128(i128 %x) {
  %is.negative = icmp slt i128 %x, 0
  %opposite = sub i128 0, %x
  %size = select i1 %is.negative, i128 %opposite, i128 %x
  %number = call float @__sirius_f32_of_u128(i128 %size)
  %negative = fneg float %number
  %result = select i1 %is.negative, float %negative, float %number
  ret float %result
}

; Its upper half, and what is left of the number without that, which is exact.
define i128 @__sirius_u128_of_f64(double %x) {
  %scaled = fmul double %x, 0x3BF0000000000000
  %high = fptoui double %scaled to i64
  %back = uitofp i64 %high to double
  %part = fmul double %back, 0x43F0000000000000
  %rest = fsub double %x, %part
  %low = fptoui double %rest to i64
  %high.wide = zext i64 %high to i128
  %upper = shl i128 %high.wide, 64
  %lower = zext i64 %low to i128
  %result = or i128 %upper, %lower
  ret i128 %result
}

define i128 @__sirius_i128_of_f64(double %x) {
  %is.negative = fcmp olt double %x, 0.0
  %opposite = fneg double %x
  %size = select i1 %is.negative, double %opposite, double %x
  %number = call i128 @__sirius_u128_of_f64(double %size)
  %negative = sub i128 0, %number
  %result = select i1 %is.negative, i128 %negative, i128 %number
  ret i128 %result
}
