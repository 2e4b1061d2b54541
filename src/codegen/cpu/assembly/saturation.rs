//! `cvt` between whole numbers in inline PTX, and what `.sat` adds to conversions: what does not fit becomes the nearest
//! number that does, which conversions from numbers with a point to whole ones do anyway; of numbers with a point the
//! nearest from 0 to 1, and 0 for what is no number.

use super::super::statements::{Lowering, width};
use crate::codegen::CodegenError;
use crate::kernel::ptx::{Instruction, Operand};
use crate::llvm::{IntegerPredicate, Opcode, RealPredicate, Type, Value};

/// A conversion between whole numbers.
#[derive(Clone, Copy, Debug)]
pub(in crate::codegen::cpu) struct IntegerConversion {
    /// Bits, signed.
    to: (u32, bool),
    from: (u32, bool),
    saturates: bool,
}

/// The conversion between whole numbers that an instruction is.
pub(in crate::codegen::cpu) fn integer_conversion(
    instruction: &Instruction,
) -> Option<IntegerConversion> {
    let (to, from, saturates) = match instruction.opcode.as_slice() {
        [_, to, from] => (to, from, false),
        [_, saturates, to, from] if saturates == "sat" => (to, from, true),
        _ => return None,
    };
    Some(IntegerConversion {
        to: integer(to)?,
        from: integer(from)?,
        saturates,
    })
}

fn integer(name: &str) -> Option<(u32, bool)> {
    let kind = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    ["u", "s", "b"]
        .contains(&kind)
        .then(|| width(name))
        .flatten()
}

/// A conversion from a number with a point that has `.sat`, without it.
pub(in crate::codegen::cpu) fn without_saturation(
    instruction: &Instruction,
) -> Option<Instruction> {
    let [family, .., from] = instruction.opcode.as_slice() else {
        return None;
    };
    // Two numbers at once are no matter of this.
    let is_one = !from.contains('x') && instruction.operands.len() == 2;
    if family != "cvt" || !instruction.has("sat") || !is_one {
        return None;
    }
    let mut plain = instruction.clone();
    plain.opcode.retain(|part| part != "sat");
    Some(plain)
}

/// Whether a conversion changes nothing: `cvt.f32.f32`.
pub(in crate::codegen::cpu) fn is_identity(conversion: &Instruction) -> bool {
    matches!(conversion.opcode.as_slice(), [_, to, from] if to == from)
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// Emits a conversion between whole numbers. Wider registers get the number's sign.
    pub(in crate::codegen::cpu) fn convert(
        &mut self,
        conversion: IntegerConversion,
        result: &Operand,
        source: &Operand,
    ) -> Option<()> {
        let IntegerConversion {
            to: (to, to_signed),
            from: (from, from_signed),
            saturates,
        } = conversion;
        let ty = self.integer(from);
        let mut value = self.fit(self.value(source, from)?, ty)?;
        if saturates {
            value = self.clamped(value, (to, to_signed), (from, from_signed));
        }
        let value = match to > from {
            true => self.extended(value, to, from_signed),
            false => self.resize(value, to),
        };
        let value = self.extended(value, REGISTER_BITS, to_signed);
        self.assign(result, value)
    }

    /// The nearest number to a whole one that has so many bits and, unless it may be signed, no sign.
    fn clamped(
        &self,
        value: Value<'ctx>,
        (to, to_signed): (u32, bool),
        (from, from_signed): (u32, bool),
    ) -> Value<'ctx> {
        let ones = |bits: u32| u64::MAX >> (64 - bits);
        let ty = value.ty();
        let mut value = value;
        let (below, above) = match from_signed {
            true => (IntegerPredicate::LLVMIntSLT, IntegerPredicate::LLVMIntSGT),
            false => (IntegerPredicate::LLVMIntULT, IntegerPredicate::LLVMIntUGT),
        };
        let mut limit = |predicate, limit: u64| {
            let limit = ty.constant(limit & ones(from));
            let is_beyond = self.builder.compare(predicate, value, limit);
            value = self.builder.select(is_beyond, limit, value);
        };
        if from_signed {
            match to_signed {
                false => limit(below, 0),
                true if to < from => limit(below, u64::MAX << (to - 1)),
                true => {}
            }
        }
        let largest = ones(to - u32::from(to_signed));
        if largest < ones(from - u32::from(from_signed)) {
            limit(above, largest);
        }
        value
    }

    fn extended(&self, value: Value<'ctx>, bits: u32, signed: bool) -> Value<'ctx> {
        let is_wider = value.ty().integer_bits() < bits;
        match signed && is_wider {
            true => (self.builder).cast(Opcode::LLVMSExt, value, self.integer(bits)),
            false if is_wider => self.resize(value, bits),
            false => value,
        }
    }

    /// Emits a conversion with `.sat` from a number with a point, given without it.
    pub(in crate::codegen::cpu) fn convert_saturating(
        &mut self,
        plain: &Instruction,
        result: &Operand,
        source: &Operand,
    ) -> Result<Option<()>, CodegenError> {
        let Some(name) = plain.opcode.iter().rev().nth(1) else {
            return Ok(None);
        };
        if is_identity(plain) {
            let Some(value) = self.value(source, REGISTER_BITS) else {
                return Ok(None);
            };
            self.assign(result, value);
        } else if self
            .defined(plain, result, std::slice::from_ref(source))?
            .is_none()
        {
            return Ok(None);
        }
        if integer(name).is_some() {
            return Ok(Some(()));
        }
        let Some(value) = self.value(result, REGISTER_BITS) else {
            return Ok(None);
        };
        let limited = match name.as_str() {
            "f16" => self
                .fit(value, self.integer(16))
                .map(|half| self.limited_half(half)),
            "f32" | "f64" => {
                let ty = Type::float(self.module, name == "f64");
                self.fit(value, ty).and_then(|number| self.limited(number))
            }
            _ => None,
        };
        Ok(limited.and_then(|limited| self.assign(result, limited)))
    }

    /// The nearest number from 0 to 1.
    fn limited(&self, number: Value<'ctx>) -> Option<Value<'ctx>> {
        let ty = number.ty();
        let is_double = ty == Type::float(self.module, true);
        let (bits, one) = match is_double {
            true => (64, 1.0_f64.to_bits()),
            false => (32, 1.0_f32.to_bits().into()),
        };
        let (zero, one) = (ty.zero(), self.fit(self.integer(bits).constant(one), ty)?);
        let predicate = RealPredicate::LLVMRealOGT;
        let is_positive = self.builder.compare_floats(predicate, number, zero);
        let number = self.builder.select(is_positive, number, zero);
        let is_beyond = self.builder.compare_floats(predicate, number, one);
        Some(self.builder.select(is_beyond, one, number))
    }

    /// The same of the bits of a half: those beyond the infinite one's have a sign or are no number.
    fn limited_half(&self, half: Value) -> Value<'ctx> {
        const INFINITE: u64 = 0x7c00;
        const ONE: u64 = 0x3c00;
        let ty = half.ty();
        let is_above = |half, bits| {
            let predicate = IntegerPredicate::LLVMIntUGT;
            self.builder.compare(predicate, half, ty.constant(bits))
        };
        let half = (self.builder).select(is_above(half, INFINITE), ty.zero(), half);
        (self.builder).select(is_above(half, ONE), ty.constant(ONE), half)
    }
}

/// Bits of the widest register.
const REGISTER_BITS: u32 = 64;
