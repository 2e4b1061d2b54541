//! `cvt` among integers, and those between integers and floats that programs are full of; the table of inline
//! assembly has the others.

use super::super::function::Body;
use super::super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Operand, Scalar};

impl Body<'_> {
    /// Lowers a conversion; `false`: it is none, or inline assembly knows it.
    pub(in crate::ptx::lower) fn conversion(
        &mut self,
        instruction: &Instruction,
    ) -> Result<bool, PtxError> {
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        match (words.as_slice(), instruction.operands.as_slice()) {
            (["cvt", "rz", to @ ("f16x2" | "bf16x2"), "f32"], [result, high, low]) => {
                return self.pair_towards_zero(to, result, [low, high]);
            }
            (["cvt", "rn", "bf16x2", from @ ("e4m3x2" | "e5m2x2")], [result, source]) => {
                return self.eight_bits_to_bfloats(from, result, source);
            }
            (
                [
                    "cvt",
                    "rn",
                    "satfinite",
                    to @ ("e4m3x2" | "e5m2x2"),
                    "bf16x2",
                ],
                [result, source],
            ) => {
                let word = self.operand(source, Scalar::of_bits(32))?;
                let mut floats = Vec::new();
                for mask in [0xffff_0000u32, 0x0000_ffff] {
                    let half = self.op(Type::Int(32), &format!("and {word}, {mask}"));
                    let places = if mask == 0xffff { 16 } else { 0 };
                    let bits = self.op(Type::Int(32), &format!("shl {half}, {places}"));
                    floats.push(self.as_type(bits, Type::Float));
                }
                let call = format!(
                    "call i16 asm \"cvt.rn.satfinite.{to}.f32 $0, $1, $2;\", \"=h,f,f\"({}, {}) #3",
                    floats[0], floats[1]
                );
                let narrow = self.op(Type::Int(16), &call);
                self.set(result, narrow, false)?;
                return Ok(true);
            }
            (["cvt", to, from] | ["cvt", "rn", to, from], [result, source])
                if matches!((*to, *from), ("bf16", "f16") | ("f16", "bf16")) =>
            {
                let half = self.operand(source, Scalar::of_bits(16))?;
                let float = self.widened_half(&half, from);
                let narrow = self.op(
                    Type::Int(16),
                    &format!("call i16 asm \"cvt.rn.{to}.f32 $0, $1;\", \"=h,f\"({float}) #3"),
                );
                self.set(result, narrow, false)?;
                return Ok(true);
            }
            _ => {}
        }
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

    /// Numbers of eight bits are halves as they are, and bfloats, too.
    fn eight_bits_to_bfloats(
        &mut self,
        from: &str,
        result: &Operand,
        source: &Operand,
    ) -> Result<bool, PtxError> {
        let word = Type::Int(32);
        let source = self.operand(source, Scalar::of_bits(16))?;
        let halves = self.op(
            word,
            &format!("call i32 asm \"cvt.rn.f16x2.{from} $0, $1;\", \"=r,h\"({source}) #3"),
        );
        let mut both = Value::constant(32, 0);
        for places in [0, 16] {
            let moved = self.op(word, &format!("lshr {halves}, {places}"));
            let half = self.resized(moved, 16);
            let float = self.widened_half(&half, "f16");
            let bits = self.as_type(float, word);
            let high = self.op(word, &format!("lshr {bits}, 16"));
            let part = self.op(word, &format!("shl {high}, {places}"));
            both = self.op(word, &format!("or {both}, {}", part.text));
        }
        self.set(result, both, false)?;
        Ok(true)
    }

    /// `cvt.rz.f16x2.f32 d, high, low`.
    fn pair_towards_zero(
        &mut self,
        to: &str,
        result: &Operand,
        operands: [&Operand; 2],
    ) -> Result<bool, PtxError> {
        let word = Type::Int(32);
        let kind = to.trim_end_matches("x2");
        let mut both = Value::constant(32, 0);
        for (operand, places) in operands.into_iter().zip([0, 16]) {
            let Some(float) = Scalar::named("f32") else {
                return Ok(false);
            };
            let value = self.operand(operand, float)?;
            let narrow = self.op(
                Type::Int(16),
                &format!("call i16 asm \"cvt.rz.{kind}.f32 $0, $1;\", \"=h,f\"({value}) #3"),
            );
            let wide = self.resized(narrow, 32);
            let moved = self.op(word, &format!("shl {wide}, {places}"));
            both = self.op(word, &format!("or {both}, {}", moved.text));
        }
        self.set(result, both, false)?;
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
