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
        let Some(scalar) = self
            .last_type(instruction)
            .filter(|scalar| scalar.is_float())
        else {
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
            true if ty == Type::Float => self.saturated(&value),
            true => return Ok(false),
            false => value,
        };
        self.set(result, value, false)?;
        Ok(true)
    }

    /// From 0 to 1; NaN and -0 give 0.
    fn saturated(&mut self, value: &Value) -> Value {
        let zero = Value::new(value.ty, "0.0");
        let one = Value::new(value.ty, "1.0");
        let above = self.intrinsic(value.ty, "llvm.maximumnum.f32", &[value, &zero]);
        self.intrinsic(value.ty, "llvm.minimumnum.f32", &[&above, &one])
    }

    fn float_value(
        &mut self,
        name: &str,
        words: &[&str],
        operands: &[Operand],
        (scalar, flushes): (Scalar, bool),
    ) -> Result<Option<Value>, PtxError> {
        let count = match name {
            "add" | "sub" | "mul" | "div" | "min" | "max" | "copysign" => 2,
            "fma" | "mad" => 3,
            "sqrt" | "rcp" | "neg" | "abs" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" => 1,
            _ => return Ok(None),
        };
        // Of doubles only approximations are flushed.
        if operands.len() != count || flushes && Type::of(scalar) == Type::Double {
            return self.double_approximation(name, words, operands, scalar);
        }
        let mut values = Vec::new();
        for operand in operands {
            let value = self.operand(operand, scalar)?;
            values.push(match flushes {
                true => self.flushed(&value),
                false => value,
            });
        }
        let value = self.float_operation(name, words, &values, Type::of(scalar));
        // What only takes or leaves a sign needs no more.
        let is_exact = matches!(name, "neg" | "abs" | "min" | "max" | "copysign");
        Ok(value.map(|value| match flushes && !is_exact {
            true => self.flushed(&value),
            false => value,
        }))
    }

    /// `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`.
    fn double_approximation(
        &mut self,
        name: &str,
        words: &[&str],
        operands: &[Operand],
        scalar: Scalar,
    ) -> Result<Option<Value>, PtxError> {
        match (name, words, operands) {
            ("rcp" | "rsqrt", ["approx"], [operand]) => {
                let value = self.operand(operand, scalar)?;
                let function = format!("llvm.nvvm.{name}.approx.ftz.d");
                Ok(Some(self.intrinsic(Type::Double, &function, &[&value])))
            }
            _ => Ok(None),
        }
    }

    /// The operation without a flush.
    fn float_operation(
        &mut self,
        name: &str,
        words: &[&str],
        values: &[Value],
        ty: Type,
    ) -> Option<Value> {
        let (letter, suffix) = match ty {
            Type::Double => ('d', "f64"),
            _ => ('f', "f32"),
        };
        let all: Vec<&Value> = values.iter().collect();
        let rounding = match words {
            [] => "rn",
            [rounding @ ("rn" | "rz" | "rm" | "rp")] => rounding,
            _ => "",
        };
        let is_single = ty == Type::Float;
        Some(match (name, words, rounding) {
            ("add" | "sub" | "mul", _, "rn") => {
                self.op(ty, &format!("f{name} {}, {}", all[0], all[1].text))
            }
            // The same as the sum with the opposite number, signs of zero and of NaN included.
            ("sub", _, "rz" | "rm" | "rp") => {
                let opposite = self.op(ty, &format!("fneg {}", all[1]));
                let function = format!("llvm.nvvm.add.{rounding}.{letter}");
                self.intrinsic(ty, &function, &[all[0], &opposite])
            }
            ("fma" | "mad", _, "rn") => self.intrinsic(ty, &format!("llvm.fma.{suffix}"), &all),
            ("mad", _, "rz" | "rm" | "rp") => {
                self.intrinsic(ty, &format!("llvm.nvvm.fma.{rounding}.{letter}"), &all)
            }
            ("div", ["rn"], _) => self.op(ty, &format!("fdiv {}, {}", all[0], all[1].text)),
            ("div", ["approx"], _) => self.intrinsic(ty, "llvm.nvvm.div.approx.f", &all),
            ("div", ["full"], _) => self.intrinsic(ty, "llvm.nvvm.div.full", &all),
            ("rcp", ["rn"], _) => {
                let one = Value::new(ty, "1.0");
                self.op(ty, &format!("fdiv {one}, {}", all[0].text))
            }
            ("sqrt", ["rn"], _) => self.intrinsic(ty, &format!("llvm.sqrt.{suffix}"), &all),
            ("sqrt" | "rcp", ["approx"], _) if is_single => {
                self.intrinsic(ty, &format!("llvm.nvvm.{name}.approx.f"), &all)
            }
            ("rsqrt", ["approx"], _) => {
                self.intrinsic(ty, &format!("llvm.nvvm.rsqrt.approx.{letter}"), &all)
            }
            ("ex2" | "lg2" | "sin" | "cos", ["approx"], _) if is_single => {
                let text = format!(
                    "call float asm \"{name}.approx.f32 $0, $1;\", \"=f,f\"({}) #3",
                    all[0]
                );
                self.op(ty, &text)
            }
            ("add" | "mul" | "div" | "fma" | "sqrt" | "rcp", _, "rz" | "rm" | "rp") => {
                self.intrinsic(ty, &format!("llvm.nvvm.{name}.{rounding}.{letter}"), &all)
            }
            ("neg", [], _) => self.op(ty, &format!("fneg {}", all[0])),
            ("abs", [], _) => self.intrinsic(ty, &format!("llvm.fabs.{suffix}"), &all),
            // The number where the other is none, and -0 below 0.
            ("min", [], _) => self.intrinsic(ty, &format!("llvm.minimumnum.{suffix}"), &all),
            ("max", [], _) => self.intrinsic(ty, &format!("llvm.maximumnum.{suffix}"), &all),
            ("min", ["NaN"], _) => self.intrinsic(ty, &format!("llvm.minimum.{suffix}"), &all),
            ("max", ["NaN"], _) => self.intrinsic(ty, &format!("llvm.maximum.{suffix}"), &all),
            // The sign is the first operand's.
            ("copysign", [], _) => {
                self.intrinsic(ty, &format!("llvm.copysign.{suffix}"), &[all[1], all[0]])
            }
            _ => return None,
        })
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
