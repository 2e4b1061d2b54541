//! Integer arithmetic in inline PTX beyond LLVM's own operations: products' halves, sums with a carry,
//! shifts, the smaller and the larger.
//!
//! Invariant: the carry is that of the template or of one before it ([`super::super::carries`]); where there is none, an
//! instruction that wants it is not understood.

use super::super::statements::{Lowering, width};
use crate::kernel::ptx::{Instruction, Operand};
use crate::llvm::{IntegerPredicate, Opcode, Value};

/// What an instruction computes of integers.
#[derive(Clone, Copy, Debug)]
pub(in crate::codegen::cpu) struct Arithmetic {
    operation: Operation,
    bits: u32,
    signed: bool,
    /// Adds the carry, or subtracts the borrow, of the one before.
    takes_carry: bool,
    /// Leaves a carry or borrow.
    leaves_carry: bool,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add,
    Subtract,
    /// One half of a product, and a third operand if there is one.
    Multiply {
        high: bool,
    },
    ShiftLeft,
    ShiftRight,
    Smaller,
    Larger,
    Not,
    Negate,
}

impl Arithmetic {
    /// Whether it adds the carry of the one before.
    pub(in crate::codegen::cpu) fn takes_carry(self) -> bool {
        self.takes_carry
    }

    /// Whether it changes the carry flag, which a predicate may not decide about here.
    pub(in crate::codegen::cpu) fn leaves_carry(self) -> bool {
        self.leaves_carry
    }
}

/// The computation of an instruction, where it is understood.
pub(in crate::codegen::cpu) fn arithmetic(instruction: &Instruction) -> Option<Arithmetic> {
    let (ty, words) = instruction.opcode.split_last()?;
    if !ty.starts_with(['u', 's', 'b']) || ty.starts_with("bf") {
        return None;
    }
    let (bits, signed) = width(ty)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (words, leaves_carry) = match words.as_slice() {
        [words @ .., "cc"] => (words, true),
        words => (words, false),
    };
    let (operation, takes_carry, operands) = match words {
        ["add"] if leaves_carry => (Operation::Add, false, 3),
        ["addc"] => (Operation::Add, true, 3),
        ["sub"] if leaves_carry => (Operation::Subtract, false, 3),
        ["subc"] => (Operation::Subtract, true, 3),
        ["mul", "hi"] if !leaves_carry => (Operation::Multiply { high: true }, false, 3),
        ["mad", half @ ("lo" | "hi")] => (
            Operation::Multiply {
                high: *half == "hi",
            },
            false,
            4,
        ),
        ["madc", half @ ("lo" | "hi")] => (
            Operation::Multiply {
                high: *half == "hi",
            },
            true,
            4,
        ),
        ["shl"] if !leaves_carry => (Operation::ShiftLeft, false, 3),
        ["shr"] if !leaves_carry => (Operation::ShiftRight, false, 3),
        ["min"] if !leaves_carry => (Operation::Smaller, false, 3),
        ["max"] if !leaves_carry => (Operation::Larger, false, 3),
        ["not"] if !leaves_carry => (Operation::Not, false, 2),
        ["neg"] if !leaves_carry => (Operation::Negate, false, 2),
        _ => return None,
    };
    (matches!(bits, 16 | 32 | 64) && instruction.operands.len() == operands).then_some(Arithmetic {
        operation,
        bits,
        signed,
        takes_carry,
        leaves_carry,
    })
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// Emits integer arithmetic; `None`: an operand is not what it should be.
    pub(in crate::codegen::cpu) fn compute_integers(
        &mut self,
        arithmetic: Arithmetic,
        operands: &[Operand],
    ) -> Option<()> {
        let Arithmetic { bits, signed, .. } = arithmetic;
        let ty = self.integer(bits);
        let [result, operands @ ..] = operands else {
            return None;
        };
        // How far to shift has 32 bits whatever is shifted.
        let of = |position: usize, bits: u32| -> Option<Value<'ctx>> {
            self.fit(
                self.value(operands.get(position)?, bits)?,
                self.integer(bits),
            )
        };
        let first = of(0, bits)?;
        // The flag is the carry; after a difference that is whether nothing was borrowed.
        let subtracts = matches!(arithmetic.operation, Operation::Subtract);
        let turned = |this: &Self, flag: Value<'ctx>| match subtracts {
            true => this.inverse(flag),
            false => flag,
        };
        let carry = match arithmetic.takes_carry {
            true => {
                let taken = turned(self, self.carry()?);
                Some((self.builder).cast(Opcode::LLVMZExt, taken, ty))
            }
            false => None,
        };
        let (value, left) = match arithmetic.operation {
            Operation::Add => self.add(first, of(1, bits)?, carry),
            Operation::Subtract => self.subtract(first, of(1, bits)?, carry),
            Operation::Multiply { high } => {
                let half = self.half_of_product(first, of(1, bits)?, high, arithmetic);
                match operands.len() {
                    2 => (half, None),
                    _ => self.add(half, of(2, bits)?, carry),
                }
            }
            Operation::ShiftLeft => (self.shift(Opcode::LLVMShl, first, of(1, 32)?, bits), None),
            Operation::ShiftRight if signed => {
                (self.shift(Opcode::LLVMAShr, first, of(1, 32)?, bits), None)
            }
            Operation::ShiftRight => (self.shift(Opcode::LLVMLShr, first, of(1, 32)?, bits), None),
            Operation::Smaller | Operation::Larger => {
                let second = of(1, bits)?;
                let below = match signed {
                    true => IntegerPredicate::LLVMIntSLT,
                    false => IntegerPredicate::LLVMIntULT,
                };
                let is_below = self.builder.compare(below, first, second);
                let (yes, no) = match arithmetic.operation {
                    Operation::Smaller => (first, second),
                    _ => (second, first),
                };
                (self.builder.select(is_below, yes, no), None)
            }
            Operation::Not => {
                let ones = ty.constant(u64::MAX);
                (self.builder.binary(Opcode::LLVMXor, first, ones), None)
            }
            Operation::Negate => {
                let zero = ty.zero();
                (self.builder.binary(Opcode::LLVMSub, zero, first), None)
            }
        };
        if arithmetic.leaves_carry {
            let left = turned(self, left?);
            self.carry = Some(left);
            if let Some(variable) = self.carry_variable {
                self.builder.store_aligned(left, variable, 1);
            }
        }
        self.assign(result, value)
    }

    /// What the last instruction left, here or in a template before.
    fn carry(&self) -> Option<Value<'ctx>> {
        let bit = self.integer(1);
        let before = || Some(self.builder.load_aligned(bit, self.carry_variable?, 1));
        self.carry.or_else(before)
    }

    /// The sum, and whether it went over.
    fn add(
        &self,
        left: Value,
        right: Value,
        carry: Option<Value>,
    ) -> (Value<'ctx>, Option<Value<'ctx>>) {
        let sum = self.builder.binary(Opcode::LLVMAdd, left, right);
        let over = self.builder.is_below(sum, left);
        let Some(carry) = carry else {
            return (sum, Some(over));
        };
        let whole = self.builder.binary(Opcode::LLVMAdd, sum, carry);
        let again = self.builder.is_below(whole, sum);
        let over = self.builder.binary(Opcode::LLVMOr, over, again);
        (whole, Some(over))
    }

    /// The difference, and whether it borrowed.
    fn subtract(
        &self,
        left: Value,
        right: Value,
        borrow: Option<Value>,
    ) -> (Value<'ctx>, Option<Value<'ctx>>) {
        let difference = self.builder.binary(Opcode::LLVMSub, left, right);
        let under = self.builder.is_below(left, right);
        let Some(borrow) = borrow else {
            return (difference, Some(under));
        };
        let whole = self.builder.binary(Opcode::LLVMSub, difference, borrow);
        let again = self.builder.is_below(difference, borrow);
        let under = self.builder.binary(Opcode::LLVMOr, under, again);
        (whole, Some(under))
    }

    fn half_of_product(
        &self,
        left: Value,
        right: Value,
        high: bool,
        arithmetic: Arithmetic,
    ) -> Value<'ctx> {
        if !high {
            return self.builder.binary(Opcode::LLVMMul, left, right);
        }
        let bits = arithmetic.bits;
        let wide = self.integer(2 * bits);
        let widen = match arithmetic.signed {
            true => Opcode::LLVMSExt,
            false => Opcode::LLVMZExt,
        };
        let [left, right] = [left, right].map(|factor| self.builder.cast(widen, factor, wide));
        let product = self.builder.binary(Opcode::LLVMMul, left, right);
        let places = wide.constant(bits.into());
        let half = self.builder.binary(Opcode::LLVMLShr, product, places);
        (self.builder).cast(Opcode::LLVMTrunc, half, self.integer(bits))
    }

    /// A shift; by as many places as there are or more, nothing is left but the sign.
    fn shift(&self, operation: Opcode, value: Value, places: Value, bits: u32) -> Value<'ctx> {
        let ty = self.integer(bits);
        let word = self.integer(32);
        let last = word.constant(u64::from(bits) - 1);
        let inside = (self.builder).is_below(places, word.constant(bits.into()));
        let places = self.builder.select(inside, places, last);
        let places = self.resize(places, bits);
        let shifted = self.builder.binary(operation, value, places);
        match operation {
            Opcode::LLVMAShr => shifted,
            _ => self.builder.select(inside, shifted, ty.zero()),
        }
    }
}
