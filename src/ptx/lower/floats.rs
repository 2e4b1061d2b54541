//! Arithmetic of floats and doubles.
//!
//! Invariant: no instruction has a flag that would let LLVM contract or reorder. A rounding that is not the nearest
//! and a flush of small numbers are calls of the intrinsic of that meaning.

use super::function::Body;
use super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Operand, Scalar};

impl Body<'_> {
    /// Lowers an instruction on floats or doubles; `false`: it is none of those, or inline assembly knows it.
    pub(super) fn floats(&mut self, instruction: &Instruction) -> Result<bool, PtxError> {
        let Some(scalar) = self.last_type(instruction).filter(|scalar| scalar.is_float()) else {
            return Ok(false);
        };
        let Some((result, operands)) = instruction.operands.split_first() else {
            return Ok(false);
        };
        let mut words: Vec<&str> = instruction.opcode[1..].iter().map(String::as_str).collect();
        words.pop();
        let take = |words: &mut Vec<&str>, wanted: &str| {
            let before = words.len();
            words.retain(|word| *word != wanted);
            words.len() < before
        };
        let flushes = take(&mut words, "ftz");
        let saturates = take(&mut words, "sat");
        let ty = Type::of(scalar);
        let name = instruction.opcode[0].as_str();
        let Some(value) = self.float_value(name, &words, operands, (scalar, flushes))? else {
            return Ok(false);
        };
        let value = match saturates {
            true if ty == Type::Float => self.intrinsic(ty, "llvm.nvvm.saturate.f", &[&value]),
            true => return Ok(false),
            false => value,
        };
        self.set(result, value, false)?;
        Ok(true)
    }

    fn float_value(
        &mut self,
        name: &str,
        words: &[&str],
        operands: &[Operand],
        (scalar, flushes): (Scalar, bool),
    ) -> Result<Option<Value>, PtxError> {
        let ty = Type::of(scalar);
        let (letter, suffix) = match ty {
            Type::Double => ('d', "f64"),
            _ => ('f', "f32"),
        };
        let flush = if flushes { ".ftz" } else { "" };
        let nearest = matches!(words, [] | ["rn"]) && !flushes;
        let directed = match words {
            [] => Some("rn"),
            [rounding @ ("rn" | "rz" | "rm" | "rp")] => Some(*rounding),
            _ => None,
        };
        let mut values = Vec::new();
        let count = match name {
            "add" | "sub" | "mul" | "div" | "min" | "max" | "copysign" => 2,
            "fma" | "mad" => 3,
            "sqrt" | "rcp" | "neg" | "abs" | "rsqrt" => 1,
            _ => return Ok(None),
        };
        if operands.len() != count {
            return Ok(None);
        }
        for operand in operands {
            values.push(self.operand(operand, scalar)?);
        }
        let all: Vec<&Value> = values.iter().collect();
        Ok(Some(match (name, words) {
            ("add" | "sub" | "mul", _) if nearest => {
                self.op(ty, &format!("f{name} {}, {}", all[0], all[1].text))
            }
            ("sub", _) => {
                // The same as the sum with the opposite number, signs of zero and of NaN included.
                let Some(rounding) = directed else {
                    return Ok(None);
                };
                let opposite = self.op(ty, &format!("fneg {}", all[1]));
                let function = format!("llvm.nvvm.add.{rounding}{flush}.{letter}");
                self.intrinsic(ty, &function, &[all[0], &opposite])
            }
            ("fma", ["rn"]) if nearest => self.intrinsic(ty, &format!("llvm.fma.{suffix}"), &all),
            ("mad", [] | ["rn"]) if nearest => {
                self.intrinsic(ty, &format!("llvm.fma.{suffix}"), &all)
            }
            ("mad", _) => {
                let Some(rounding) = directed else {
                    return Ok(None);
                };
                self.intrinsic(ty, &format!("llvm.nvvm.fma.{rounding}{flush}.{letter}"), &all)
            }
            ("div", ["rn"]) if nearest => self.op(ty, &format!("fdiv {}, {}", all[0], all[1].text)),
            ("div", ["approx"]) => {
                self.intrinsic(ty, &format!("llvm.nvvm.div.approx{flush}.f"), &all)
            }
            ("div", ["full"]) => self.intrinsic(ty, &format!("llvm.nvvm.div.full{flush}"), &all),
            ("rcp", ["rn"]) if nearest => {
                let one = Value::new(ty, "1.0");
                self.op(ty, &format!("fdiv {one}, {}", all[0].text))
            }
            ("sqrt", ["rn"]) if nearest => self.intrinsic(ty, &format!("llvm.sqrt.{suffix}"), &all),
            ("sqrt" | "rcp" | "rsqrt", ["approx"]) => {
                if ty == Type::Double && (name == "rcp" && !flushes || name == "sqrt") {
                    return Ok(None);
                }
                let function = format!("llvm.nvvm.{name}.approx{flush}.{letter}");
                self.intrinsic(ty, &function, &all)
            }
            ("add" | "mul" | "div" | "fma" | "sqrt" | "rcp", _) => {
                let Some(rounding) = directed else {
                    return Ok(None);
                };
                let function = format!("llvm.nvvm.{name}.{rounding}{flush}.{letter}");
                self.intrinsic(ty, &function, &all)
            }
            ("neg", []) if !flushes => self.op(ty, &format!("fneg {}", all[0])),
            ("abs", []) if !flushes => self.intrinsic(ty, &format!("llvm.fabs.{suffix}"), &all),
            ("neg", []) => {
                let small = self.flushed(all[0]);
                self.op(ty, &format!("fneg {small}"))
            }
            ("abs", []) => {
                let small = self.flushed(all[0]);
                self.intrinsic(ty, &format!("llvm.fabs.{suffix}"), &[&small])
            }
            // The number where the other is none, and -0 below 0.
            ("min" | "max", []) => {
                let (left, right) = match flushes {
                    true => (self.flushed(all[0]), self.flushed(all[1])),
                    false => (all[0].clone(), all[1].clone()),
                };
                let function = match name {
                    "min" => format!("llvm.minimumnum.{suffix}"),
                    _ => format!("llvm.maximumnum.{suffix}"),
                };
                self.intrinsic(ty, &function, &[&left, &right])
            }
            ("min" | "max", ["NaN"]) => {
                let (left, right) = match flushes {
                    true => (self.flushed(all[0]), self.flushed(all[1])),
                    false => (all[0].clone(), all[1].clone()),
                };
                let function = match name {
                    "min" => format!("llvm.minimum.{suffix}"),
                    _ => format!("llvm.maximum.{suffix}"),
                };
                self.intrinsic(ty, &function, &[&left, &right])
            }
            // The sign is the first operand's.
            ("copysign", []) => {
                self.intrinsic(ty, &format!("llvm.copysign.{suffix}"), &[all[1], all[0]])
            }
            _ => return Ok(None),
        }))
    }

    /// Zero of the same sign for a float below the least normal one.
    pub(super) fn flushed(&mut self, value: &Value) -> Value {
        if value.ty != Type::Float {
            return value.clone();
        }
        let size = self.intrinsic(value.ty, "llvm.fabs.f32", &[value]);
        let small = self.op(
            Type::Int(1),
            &format!("fcmp olt {size}, 0x3810000000000000"),
        );
        let zero = Value::new(value.ty, "0.0");
        let zero = self.intrinsic(value.ty, "llvm.copysign.f32", &[&zero, value]);
        self.op(value.ty, &format!("select {small}, {zero}, {value}"))
    }
}
