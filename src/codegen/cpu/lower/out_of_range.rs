//! Conversions to integers and shifts whose results do not fit, as GPUs do them.
//!
//! LLVM leaves both open, and processors give their own answers: x86 the least number for what does not fit, and
//! shifts by as much as the lowest bits of the distance say. PTX says more, and programs see it, in the NaN of a simulation
//! that blew up as in `1 << lane`: `cvt` ends at the nearest number that there is and makes 0 of NaN, or the
//! highest bit where 64 bits are involved; `shl` and `shr` shift everything out.

use crate::llvm::{Builder, IntegerPredicate, Opcode, RealPredicate, Type, TypeKind, Value};
use inkwell::module::Module;

/// Makes a conversion of a number to an integer saturate, in place; those of vectors and of other types stay.
pub(in crate::codegen::cpu) fn settle_conversion<'ctx>(
    module: &Module<'ctx>,
    conversion: Value<'ctx>,
) {
    let to = conversion.ty();
    let mut number = conversion.operand(0);
    let builder = Builder::before(conversion);
    let is_double = match number.ty().kind() {
        TypeKind::LLVMDoubleTypeKind => true,
        TypeKind::LLVMFloatTypeKind => false,
        TypeKind::LLVMHalfTypeKind | TypeKind::LLVMBFloatTypeKind => {
            let float = Type::float(module, false);
            number = builder.cast(Opcode::LLVMFPExt, number, float);
            false
        }
        _ => return,
    };
    if !to.is_integer() || to.integer_bits() > 64 {
        return;
    }
    // `nvcc` converts to registers of 32 bits and stores the lowest of them.
    let bits = if to.integer_bits() > 32 { 64 } else { 32 };
    let wide = Type::integer(module, bits);
    let sign = match conversion.opcode() {
        Some(Opcode::LLVMFPToSI) => 's',
        _ => 'u',
    };
    let name = format!(
        "llvm.fpto{sign}i.sat.i{bits}.f{}",
        if is_double { 64 } else { 32 }
    );
    let ty = Type::function(wide, &[number.ty()]);
    let saturating =
        Value::function(module, &name).unwrap_or_else(|| Value::add_function(module, &name, ty));
    let mut result = builder.call(ty, saturating, &[number]);
    if is_double || bits == 64 {
        let is_nan = builder.compare_floats(RealPredicate::LLVMRealUNO, number, number);
        result = builder.select(is_nan, wide.constant(1 << (bits - 1)), result);
    }
    if to.integer_bits() < bits {
        result = builder.cast(Opcode::LLVMTrunc, result, to);
    }
    conversion.replace_uses_with(result);
    conversion.erase();
}

/// Makes a shift one that shifts everything out where its distance is the width or more, in place.
pub(in crate::codegen::cpu) fn settle_shift(shift: Value) {
    let ty = shift.ty();
    let [number, distance] = [0, 1].map(|side| shift.operand(side));
    // Of narrower integers LLVM makes shifts only where it knows the distance.
    if !ty.is_integer() || !matches!(ty.integer_bits(), 32 | 64) || distance.is_constant() {
        return;
    }
    let builder = Builder::before(shift);
    let last = ty.constant(u64::from(ty.integer_bits()) - 1);
    let is_beyond = builder.compare(IntegerPredicate::LLVMIntUGT, distance, last);
    let Some(opcode) = shift.opcode() else {
        return;
    };
    // The selection comes after a shift that is defined in any case: one beyond the width is anything, and what
    // promises no overflow would make it that again.
    let within = builder.select(is_beyond, last, distance);
    let mut result = builder.binary(opcode, number, within);
    if opcode != Opcode::LLVMAShr {
        result = builder.select(is_beyond, ty.zero(), result);
    }
    shift.replace_uses_with(result);
    shift.erase();
}
