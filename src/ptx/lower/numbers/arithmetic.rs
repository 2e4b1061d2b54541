//! Arithmetic of integers.
//!
//! Invariant: what LLVM leaves open has PTX's value: a shift by the width or more gives zeros or signs, and a division
//! by zero, or of the least number by -1, is nothing that LLVM may conclude from.

use super::super::function::Body;
use super::super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Kind, Operand, Scalar};

/// The name of the function that hides what integers are divided by until LLVM's optimiser is done; the width follows.
const DIVISOR: &str = "__sirius_divisor_i";

impl Body<'_> {
    /// Lowers an instruction on integers; `false`: it is none of those.
    pub(in crate::ptx::lower) fn integers(
        &mut self,
        instruction: &Instruction,
    ) -> Result<bool, PtxError> {
        if let Some((ty @ ("u16x2" | "s16x2"), words)) =
            (instruction.opcode.split_last()).map(|(ty, words)| (ty.as_str(), words))
        {
            return self.pair_of_integers(ty, words, &instruction.operands);
        }
        let Some(scalar) = self
            .last_type(instruction)
            .filter(|scalar| scalar.is_integer())
        else {
            return Ok(false);
        };
        if !matches!(scalar.bits, 16 | 32 | 64) {
            return Ok(false);
        }
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let words = &words[..words.len() - 1];
        let ty = Type::Int(scalar.bits);
        let signed = scalar.is_signed();
        let Some((result, operands)) = instruction.operands.split_first() else {
            return Ok(false);
        };
        if result.name().is_none() {
            return Ok(false);
        }
        let value = match (words, operands) {
            ([name @ ("add" | "sub" | "and" | "or" | "xor")], [left, right])
            | ([name @ "mul", "lo"], [left, right]) => {
                let left = self.operand(left, scalar)?;
                let right = self.operand(right, scalar)?;
                self.op(ty, &format!("{name} {left}, {}", right.text))
            }
            (["mul", "hi"], [left, right]) => self.high(left, right, scalar)?,
            (["mul", "wide"], [left, right]) => self.wide(left, right, scalar)?,
            (["mad", "lo"], [left, right, addend]) => {
                let left = self.operand(left, scalar)?;
                let right = self.operand(right, scalar)?;
                let addend = self.operand(addend, scalar)?;
                let product = self.op(ty, &format!("mul {left}, {}", right.text));
                self.op(ty, &format!("add {product}, {}", addend.text))
            }
            (["mad", "hi"], [left, right, addend]) => {
                let product = self.high(left, right, scalar)?;
                let addend = self.operand(addend, scalar)?;
                self.op(ty, &format!("add {product}, {}", addend.text))
            }
            (["mad", "wide"], [left, right, addend]) => {
                let product = self.wide(left, right, scalar)?;
                let addend = self.operand(addend, Scalar::of_bits(2 * scalar.bits))?;
                self.op(product.ty, &format!("add {product}, {}", addend.text))
            }
            (["div"], [left, right]) => self.divide("div", left, right, scalar)?,
            (["rem"], [left, right]) => self.divide("rem", left, right, scalar)?,
            (["not"], [source]) => {
                let source = self.operand(source, scalar)?;
                self.op(ty, &format!("xor {source}, -1"))
            }
            (["cnot"], [source]) => {
                let source = self.operand(source, scalar)?;
                let zero = self.op(Type::Int(1), &format!("icmp eq {source}, 0"));
                self.op(ty, &format!("zext {zero} to {ty}"))
            }
            (["neg"], [source]) => {
                let source = self.operand(source, scalar)?;
                self.op(ty, &format!("sub {ty} 0, {}", source.text))
            }
            (["abs"], [source]) => {
                let source = self.operand(source, scalar)?;
                let kept = Value::constant(1, 0);
                self.intrinsic(ty, &format!("llvm.abs.{ty}"), &[&source, &kept])
            }
            ([name @ ("min" | "max")], [left, right]) => {
                let left = self.operand(left, scalar)?;
                let right = self.operand(right, scalar)?;
                let letter = if signed { 's' } else { 'u' };
                self.intrinsic(ty, &format!("llvm.{letter}{name}.{ty}"), &[&left, &right])
            }
            ([name @ ("min" | "max"), "relu"], [left, right]) if signed => {
                let left = self.operand(left, scalar)?;
                let right = self.operand(right, scalar)?;
                let value = self.intrinsic(ty, &format!("llvm.s{name}.{ty}"), &[&left, &right]);
                let zero = Value::constant(scalar.bits, 0);
                self.intrinsic(ty, &format!("llvm.smax.{ty}"), &[&value, &zero])
            }
            ([name @ ("shl" | "shr")], [source, places]) => {
                let source = self.operand(source, scalar)?;
                let places = self.operand(places, Scalar::of_bits(32))?;
                self.shift(name, source, places, signed)
            }
            (["popc"], [source]) => {
                let source = self.operand(source, scalar)?;
                self.intrinsic(ty, &format!("llvm.ctpop.{ty}"), &[&source])
            }
            (["clz"], [source]) => {
                let source = self.operand(source, scalar)?;
                let kept = Value::constant(1, 0);
                self.intrinsic(ty, &format!("llvm.ctlz.{ty}"), &[&source, &kept])
            }
            (["brev"], [source]) => {
                let source = self.operand(source, scalar)?;
                self.intrinsic(ty, &format!("llvm.bitreverse.{ty}"), &[&source])
            }
            (
                [
                    name @ ("mul24" | "mad24"),
                    half @ ("lo" | "hi"),
                    saturates @ ..,
                ],
                [left, right, addend @ ..],
            ) if scalar.bits == 32 && addend.len() == usize::from(*name == "mad24") => {
                let product = self.product_of_24(half, left, right, scalar)?;
                match (addend, saturates) {
                    ([], []) => product,
                    ([addend], []) => {
                        let addend = self.operand(addend, scalar)?;
                        self.op(ty, &format!("add {product}, {}", addend.text))
                    }
                    ([addend], ["sat"]) if signed => {
                        let addend = self.operand(addend, scalar)?;
                        self.intrinsic(ty, "llvm.sadd.sat.i32", &[&product, &addend])
                    }
                    _ => return Ok(false),
                }
            }
            (["mad", "hi", "sat"], [left, right, addend]) if signed && scalar.bits == 32 => {
                let product = self.high(left, right, scalar)?;
                let addend = self.operand(addend, scalar)?;
                self.intrinsic(ty, "llvm.sadd.sat.i32", &[&product, &addend])
            }
            (["szext", mode @ ("clamp" | "wrap")], [source, width]) if scalar.bits == 32 => {
                let source = self.operand(source, scalar)?;
                let width = self.operand(width, Scalar::of_bits(32))?;
                self.of_width(mode, source, width, signed)
            }
            (["fns"], [mask, base, offset]) => {
                let mask = self.operand(mask, scalar)?;
                let base = self.operand(base, scalar)?;
                let offset = self.operand(offset, scalar)?;
                self.intrinsic(ty, "llvm.nvvm.fns", &[&mask, &base, &offset])
            }
            (words, operands) => match self.with_carry(words, operands, scalar)? {
                Some(value) => value,
                None => return Ok(false),
            },
        };
        // Counts of bits fill 32 bits, whatever they count.
        let value = match words[0] {
            "popc" | "clz" => self.resized(value, 32),
            _ => value,
        };
        self.set(result, value, signed)?;
        Ok(true)
    }

    /// The lower 32 of a product's 48 bits, or the upper ones.
    fn product_of_24(
        &mut self,
        half: &str,
        left: &Operand,
        right: &Operand,
        scalar: Scalar,
    ) -> Result<Value, PtxError> {
        let word = Type::Int(32);
        let shift = if scalar.is_signed() { "ashr" } else { "lshr" };
        let long = Type::Int(64);
        let mut factors = Vec::new();
        for operand in [left, right] {
            let value = self.operand(operand, scalar)?;
            let high = self.op(word, &format!("shl {value}, 8"));
            let value = self.op(word, &format!("{shift} {high}, 8"));
            factors.push(self.extended(value, long, scalar.is_signed()));
        }
        let product = self.op(long, &format!("mul {}, {}", factors[0], factors[1].text));
        let moved = match half {
            "hi" => self.op(long, &format!("lshr {product}, 16")),
            _ => product,
        };
        Ok(self.resized(moved, 32))
    }

    /// `szext`: the lowest bits of a number, with their sign or zeros above. Of 32 bits or more nothing changes, of none
    /// nothing is left.
    fn of_width(&mut self, mode: &str, source: Value, width: Value, is_signed: bool) -> Value {
        let word = Type::Int(32);
        let width = match mode {
            "wrap" => self.op(word, &format!("and {width}, 31")),
            _ => self.intrinsic(word, "llvm.umin.i32", &[&width, &Value::constant(32, 32)]),
        };
        let above = self.op(word, &format!("sub i32 32, {}", width.text));
        let left = self.shift("shl", source, above.clone(), false);
        let back = self.shift("shr", left, above, is_signed);
        let none = self.op(Type::Int(1), &format!("icmp eq {width}, 0"));
        self.op(word, &format!("select {none}, i32 0, {back}"))
    }

    /// `add.u16x2`, `min.s16x2`, `max.relu.s16x2`: an operation on both halves.
    fn pair_of_integers(
        &mut self,
        ty: &str,
        words: &[String],
        operands: &[Operand],
    ) -> Result<bool, PtxError> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let [result, left, right] = operands else {
            return Ok(false);
        };
        let letter = if ty == "s16x2" { 's' } else { 'u' };
        let mut halves = Vec::new();
        for operand in [left, right] {
            let word = self.operand(operand, Scalar::of_bits(32))?;
            let pair = self.op(word.ty, &format!("bitcast {word} to <2 x i16>"));
            halves.push(pair.text);
        }
        let word = Type::Int(32);
        let list = format!("<2 x i16> {}, <2 x i16> {}", halves[0], halves[1]);
        let mut pair = match words.as_slice() {
            ["add"] => self.op(word, &format!("add <2 x i16> {}, {}", halves[0], halves[1])),
            [name @ ("min" | "max")] | [name @ ("min" | "max"), "relu"] => {
                let function = format!("llvm.{letter}{name}.v2i16");
                self.made.declare(format!(
                    "declare <2 x i16> @{function}(<2 x i16>, <2 x i16>)"
                ));
                self.op(word, &format!("call <2 x i16> @{function}({list})"))
            }
            _ => return Ok(false),
        };
        if words.contains(&"relu") {
            let function = "llvm.smax.v2i16";
            self.made.declare(format!(
                "declare <2 x i16> @{function}(<2 x i16>, <2 x i16>)"
            ));
            let list = format!("<2 x i16> {}, <2 x i16> zeroinitializer", pair.text);
            pair = self.op(word, &format!("call <2 x i16> @{function}({list})"));
        }
        let value = self.op(word, &format!("bitcast <2 x i16> {} to i32", pair.text));
        self.set(result, value, false)?;
        Ok(true)
    }

    /// The upper half of a product.
    fn high(&mut self, left: &Operand, right: &Operand, scalar: Scalar) -> Result<Value, PtxError> {
        let product = self.wide(left, right, scalar)?;
        let moved = self.op(product.ty, &format!("lshr {product}, {}", scalar.bits));
        Ok(self.resized(moved, scalar.bits))
    }

    /// A whole product.
    fn wide(&mut self, left: &Operand, right: &Operand, scalar: Scalar) -> Result<Value, PtxError> {
        let wide = Type::Int(2 * scalar.bits);
        let left = self.operand(left, scalar)?;
        let right = self.operand(right, scalar)?;
        let left = self.extended(left, wide, scalar.is_signed());
        let right = self.extended(right, wide, scalar.is_signed());
        Ok(self.op(wide, &format!("mul {left}, {}", right.text)))
    }

    fn divide(
        &mut self,
        name: &str,
        left: &Operand,
        right: &Operand,
        scalar: Scalar,
    ) -> Result<Value, PtxError> {
        let ty = Type::Int(scalar.bits);
        let left = self.operand(left, scalar)?;
        let is_known =
            matches!(right, Operand::Integer(value) if *value != 0 && *value as i64 != -1);
        let mut right = self.operand(right, scalar)?;
        if !is_known {
            let function = format!("{DIVISOR}{}", scalar.bits);
            self.made.declare(format!(
                "declare {ty} @{function}({ty}) nounwind willreturn nosync nofree nocallback speculatable memory(none)"
            ));
            right = self.op(ty, &format!("call {ty} @{function}({right})"));
        }
        let letter = if scalar.is_signed() { 's' } else { 'u' };
        Ok(self.op(ty, &format!("{letter}{name} {left}, {}", right.text)))
    }

    /// A shift, of which places beyond the width take all.
    pub(in crate::ptx::lower) fn shift(
        &mut self,
        name: &str,
        source: Value,
        places: Value,
        is_signed: bool,
    ) -> Value {
        let ty = source.ty;
        let bits = ty.bits();
        let last = Value::constant(32, u64::from(bits) - 1);
        let within = self.intrinsic(Type::Int(32), "llvm.umin.i32", &[&places, &last]);
        let within = self.resized(within, bits);
        let operation = match name {
            "shl" => "shl",
            _ if is_signed => "ashr",
            _ => "lshr",
        };
        let shifted = self.op(ty, &format!("{operation} {source}, {}", within.text));
        if operation == "ashr" {
            return shifted;
        }
        let fits = self.op(Type::Int(1), &format!("icmp ult {places}, {bits}"));
        self.op(ty, &format!("select {fits}, {shifted}, {ty} 0"))
    }

    /// Arithmetic that takes the carry flag or leaves it.
    fn with_carry(
        &mut self,
        words: &[&str],
        operands: &[Operand],
        scalar: Scalar,
    ) -> Result<Option<Value>, PtxError> {
        let (words, leaves) = match words {
            [words @ .., "cc"] => (words, true),
            words => (words, false),
        };
        let (takes, subtracts, product) = match words {
            ["add"] if leaves => (false, false, None),
            ["addc"] => (true, false, None),
            ["sub"] if leaves => (false, true, None),
            ["subc"] => (true, true, None),
            ["mad", half @ ("lo" | "hi")] if leaves => (false, false, Some(*half)),
            ["madc", half @ ("lo" | "hi")] => (true, false, Some(*half)),
            _ => return Ok(None),
        };
        self.uses_carry = true;
        let ty = Type::Int(scalar.bits);
        let wide = Type::Int(2 * scalar.bits);
        let (left, right) = match (product, operands) {
            (None, [left, right]) => (self.operand(left, scalar)?, self.operand(right, scalar)?),
            (Some(half), [left, right, addend]) => {
                let product = match half {
                    "hi" => self.high(left, right, scalar)?,
                    _ => {
                        let left = self.operand(left, scalar)?;
                        let right = self.operand(right, scalar)?;
                        self.op(ty, &format!("mul {left}, {}", right.text))
                    }
                };
                (product, self.operand(addend, scalar)?)
            }
            _ => return Ok(None),
        };
        let left = self.extended(left, wide, false);
        let right = self.extended(right, wide, false);
        let operation = if subtracts { "sub" } else { "add" };
        let mut sum = self.op(wide, &format!("{operation} {left}, {}", right.text));
        if takes {
            let flag = self.op(Type::Int(1), "load i1, ptr %carry");
            let flag = self.op(wide, &format!("zext {flag} to {wide}"));
            sum = self.op(wide, &format!("{operation} {sum}, {}", flag.text));
        }
        if leaves {
            let above = self.op(wide, &format!("lshr {sum}, {}", scalar.bits));
            let flag = self.op(Type::Int(1), &format!("icmp ne {above}, 0"));
            self.emit(&format!("store {flag}, ptr %carry"));
        }
        Ok(Some(self.resized(sum, scalar.bits)))
    }

    /// Whether a type is one of integers that LLVM has arithmetic for.
    pub(in crate::ptx::lower) fn is_whole(scalar: Scalar) -> bool {
        matches!(scalar.kind, Kind::Bits | Kind::Unsigned | Kind::Signed)
    }
}
