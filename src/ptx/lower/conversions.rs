//! `cvt` among integers, and those between integers and floats that programs are full of; the table of inline
//! assembly has the others.

use super::function::Body;
use super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Scalar};

impl Body<'_> {
    /// Lowers a conversion; `false`: it is none, or inline assembly knows it.
    pub(super) fn conversion(&mut self, instruction: &Instruction) -> Result<bool, PtxError> {
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let (rounding, to, from) = match words.as_slice() {
            ["cvt", to, from] => ("", *to, *from),
            ["cvt", rounding, to, from] => (*rounding, *to, *from),
            _ => return Ok(false),
        };
        let [result, source] = instruction.operands.as_slice() else {
            return Ok(false);
        };
        let (Some(to), Some(from)) = (Scalar::named(to), Scalar::named(from)) else {
            return Ok(false);
        };
        let value = match (rounding, to.is_integer(), from.is_integer()) {
            ("", true, true) => {
                let value = self.operand(source, from)?;
                self.extended(value, Type::of(to), from.is_signed())
            }
            ("rn", false, true) if to.is_float() => {
                let value = self.operand(source, from)?;
                let letter = if from.is_signed() { 's' } else { 'u' };
                self.op(
                    Type::of(to),
                    &format!("{letter}itofp {value} to {}", Type::of(to)),
                )
            }
            ("", false, false) if (from.bits, to.bits) == (32, 64) && both_floats(from, to) => {
                let value = self.operand(source, from)?;
                self.op(Type::Double, &format!("fpext {value} to double"))
            }
            ("rn", false, false) if (from.bits, to.bits) == (64, 32) && both_floats(from, to) => {
                let value = self.operand(source, from)?;
                self.op(Type::Float, &format!("fptrunc {value} to float"))
            }
            ("rzi", true, false) if from.is_float() && matches!(to.bits, 32 | 64) => {
                let value = self.operand(source, from)?;
                self.whole_part(&value, to)
            }
            _ => return Ok(false),
        };
        self.set(result, value, to.is_signed())?;
        Ok(true)
    }

    /// The nearest integer towards zero that the type holds. Of NaN it is zero where both have 32 bits, else the
    /// highest bit.
    fn whole_part(&mut self, value: &Value, to: Scalar) -> Value {
        let ty = Type::Int(to.bits);
        let suffix = if value.ty == Type::Double {
            "f64"
        } else {
            "f32"
        };
        let letter = if to.is_signed() { 's' } else { 'u' };
        let function = format!("llvm.fpto{letter}i.sat.{ty}.{suffix}");
        let number = self.intrinsic(ty, &function, &[value]);
        if to.bits == 32 && value.ty == Type::Float {
            return number;
        }
        let none = self.op(Type::Int(1), &format!("fcmp uno {value}, 0.0"));
        let highest = Value::constant(to.bits, 1 << (to.bits - 1));
        self.op(ty, &format!("select {none}, {highest}, {number}"))
    }
}

fn both_floats(one: Scalar, other: Scalar) -> bool {
    one.is_float() && other.is_float()
}
