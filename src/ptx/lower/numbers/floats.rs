//! Arithmetic of floats and doubles.
//!
//! Invariant: no instruction has a flag that would let LLVM contract or reorder. A rounding that is not the nearest
//! and a flush of small numbers are calls of the intrinsic of that meaning.

use super::super::function::Body;
use super::super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Operand, Scalar};

impl Body<'_> {
    /// Lowers an instruction on floats or doubles; `false`: it is none of those, or inline assembly knows it.
    pub(in crate::ptx::lower) fn floats(
        &mut self,
        instruction: &Instruction,
    ) -> Result<bool, PtxError> {
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        match words.as_slice() {
            [name, modifiers @ .., "f32x2"] => {
                return self.pair_of_floats(name, modifiers, &instruction.operands);
            }
            [
                name @ ("add" | "sub" | "fma"),
                modifiers @ ..,
                "f32",
                narrow @ ("f16" | "bf16"),
            ] => {
                return self.with_narrow(name, (modifiers, narrow), &instruction.operands);
            }
            _ => {}
        }
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
        // The smallest or the largest of three.
        let of_three = matches!(name, "min" | "max") && operands.len() == 3;
        let count = count + usize::from(of_three);
        // Of doubles only approximations are flushed.
        if operands.len() != count || flushes && Type::of(scalar) == Type::Double {
            return self.double_approximation(name, words, operands, scalar);
        }
        let mut values = Vec::new();
        for operand in operands {
            values.push(self.operand(operand, scalar)?);
        }
        Ok(self.float_result(name, words, values, flushes))
    }

    /// The operation on values, which are flushed before and behind where it asks for that.
    fn float_result(
        &mut self,
        name: &str,
        words: &[&str],
        values: Vec<Value>,
        flushes: bool,
    ) -> Option<Value> {
        let ty = values.first()?.ty;
        let values: Vec<Value> = match flushes {
            true => values.iter().map(|value| self.flushed(value)).collect(),
            false => values,
        };
        let value = match name {
            "min" | "max" => self.extreme(name, words, &values),
            _ => self.float_operation(name, words, &values, ty),
        };
        // What only takes or leaves a sign needs no more.
        let is_exact = matches!(name, "neg" | "abs" | "min" | "max" | "copysign");
        value.map(|value| match flushes && !is_exact {
            true => self.flushed(&value),
            false => value,
        })
    }

    /// `min` and `max` of two or three; `.xorsign.abs` compares sizes and gives the product's sign.
    fn extreme(&mut self, name: &str, words: &[&str], values: &[Value]) -> Option<Value> {
        let [first, rest @ ..] = values else {
            return None;
        };
        let ty = first.ty;
        let (words, of_sizes, with_sign) = match words {
            [words @ .., "xorsign", "abs"] if rest.len() == 1 => (words, true, true),
            [words @ .., "abs"] if rest.len() == 2 => (words, true, false),
            words => (words, false, false),
        };
        let size = |this: &mut Self, value: &Value| match of_sizes {
            true => this.float_operation("abs", &[], std::slice::from_ref(value), ty),
            false => Some(value.clone()),
        };
        let mut best = size(self, first)?;
        for value in rest {
            let value = size(self, value)?;
            best = self.float_operation(name, words, &[best, value], ty)?;
        }
        if !with_sign {
            return Some(best);
        }
        let bits = Type::Int(ty.bits());
        let [left, right] = [first, &rest[0]].map(|value| self.as_type(value.clone(), bits));
        let sign = self.op(bits, &format!("xor {left}, {}", right.text));
        let sign = self.as_type(sign, ty);
        self.float_operation("copysign", &[], &[sign, best], ty)
    }

    /// An operation on both floats of 64 bits.
    fn pair_of_floats(
        &mut self,
        name: &str,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Result<bool, PtxError> {
        let Some((result, operands)) = operands.split_first() else {
            return Ok(false);
        };
        let words: Vec<&str> = (modifiers.iter().copied())
            .filter(|word| *word != "ftz")
            .collect();
        let flushes = words.len() < modifiers.len();
        let known = matches!(
            (name, operands.len()),
            ("add" | "sub" | "mul", 2) | ("fma", 3)
        );
        if !known {
            return Ok(false);
        }
        let long = Type::Int(64);
        let mut wholes = Vec::new();
        for operand in operands {
            wholes.push(self.operand(operand, Scalar::of_bits(64))?);
        }
        let mut parts = Vec::new();
        for place in [0, 32] {
            let mut values = Vec::new();
            for whole in &wholes {
                let moved = self.op(long, &format!("lshr {whole}, {place}"));
                let low = self.resized(moved, 32);
                values.push(self.as_type(low, Type::Float));
            }
            let Some(value) = self.float_result(name, &words, values, flushes) else {
                return Ok(false);
            };
            let bits = self.as_type(value, Type::Int(32));
            parts.push(self.resized(bits, 64));
        }
        let high = self.op(long, &format!("shl {}, 32", parts[1]));
        let both = self.op(long, &format!("or {high}, {}", parts[0].text));
        self.set(result, both, false)?;
        Ok(true)
    }

    /// A sum or a product of floats of which the first, or the factors, are halves.
    fn with_narrow(
        &mut self,
        name: &str,
        (modifiers, narrow): (&[&str], &str),
        operands: &[Operand],
    ) -> Result<bool, PtxError> {
        let words: Vec<&str> = (modifiers.iter().copied())
            .filter(|word| *word != "sat")
            .collect();
        let saturates = words.len() < modifiers.len();
        let Some((result, operands)) = operands.split_first() else {
            return Ok(false);
        };
        let narrows = match (name, operands.len()) {
            ("fma", 3) => 2,
            ("add" | "sub", 2) => 1,
            _ => return Ok(false),
        };
        let mut values = Vec::new();
        for (position, operand) in operands.iter().enumerate() {
            values.push(match position < narrows {
                true => {
                    let half = self.operand(operand, Scalar::of_bits(16))?;
                    self.widened_half(&half, narrow)
                }
                false => match Scalar::named("f32") {
                    Some(float) => self.operand(operand, float)?,
                    None => return Ok(false),
                },
            });
        }
        let Some(value) = self.float_result(name, &words, values, false) else {
            return Ok(false);
        };
        let value = match saturates {
            true => self.saturated(&value),
            false => value,
        };
        self.set(result, value, false)?;
        Ok(true)
    }

    /// The float of a half's bits.
    pub(in crate::ptx::lower) fn widened_half(&mut self, half: &Value, kind: &str) -> Value {
        if kind == "bf16" {
            let wide = self.resized(half.clone(), 32);
            let moved = self.op(Type::Int(32), &format!("shl {wide}, 16"));
            return self.as_type(moved, Type::Float);
        }
        let half = self.op(Type::Int(16), &format!("bitcast {half} to half"));
        self.op(Type::Float, &format!("fpext half {} to float", half.text))
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
    pub(in crate::ptx::lower) fn flushed(&mut self, value: &Value) -> Value {
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
