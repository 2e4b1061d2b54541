//! Truth values in inline PTX: comparisons, votes of a warp, and instructions that are only executed where
//! a predicate holds.
//!
//! Invariant: a predicate is a register of one bit. What only computes is computed in any case and kept
//! where its predicate holds; what touches memory stands in a block of its own.

use super::super::functions::PREFIX;
use super::super::statements::{Lowering, parts};
use crate::codegen::CodegenError;
use crate::kernel::ptx::{Instruction, Operand};
use crate::llvm::{Block, IntegerPredicate, Opcode, RealPredicate, Type, Value};

/// What an instruction on predicates does.
#[derive(Clone, Copy, Debug)]
pub(in crate::codegen::cpu) enum Truth {
    /// `setp` of integers of so many bits.
    CompareIntegers(IntegerPredicate, u32),
    /// `setp` of floats, or doubles.
    CompareFloats(RealPredicate, bool),
    /// `and.pred`, `or.pred`, `xor.pred`.
    Combine(Opcode),
    /// `not.pred`.
    Not,
    /// `mov.pred`.
    Move,
    /// `vote.sync`: the definition, which gives a predicate or a word.
    Vote(&'static str),
}

/// The operation of an instruction, where it is understood.
pub(in crate::codegen::cpu) fn truth_operation(instruction: &Instruction) -> Option<Truth> {
    let opcode: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
    let operands = instruction.operands.len();
    match (opcode.as_slice(), operands) {
        (["setp", comparison, ty] | ["setp", comparison, "ftz", ty @ "f32"], 3) => {
            comparison_of(comparison, ty)
        }
        (["and", "pred"], 3) => Some(Truth::Combine(Opcode::LLVMAnd)),
        (["or", "pred"], 3) => Some(Truth::Combine(Opcode::LLVMOr)),
        (["xor", "pred"], 3) => Some(Truth::Combine(Opcode::LLVMXor)),
        (["not", "pred"], 2) => Some(Truth::Not),
        (["mov", "pred"], 2) => Some(Truth::Move),
        (["vote", words @ ..], 3) => match words {
            ["sync", "ballot", "b32"] | ["ballot", "sync", "b32"] => Some(Truth::Vote("ballot")),
            ["sync", "any", "pred"] | ["any", "sync", "pred"] => Some(Truth::Vote("any")),
            ["sync", "all", "pred"] | ["all", "sync", "pred"] => Some(Truth::Vote("all")),
            ["sync", "uni", "pred"] | ["uni", "sync", "pred"] => Some(Truth::Vote("uni")),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an instruction that has a predicate may stand in a block of its own: it touches memory and waits
/// for nobody.
pub(in crate::codegen::cpu) fn may_be_skipped(instruction: &Instruction) -> bool {
    match instruction.opcode[0].as_str() {
        "ld" | "st" | "atom" | "red" => true,
        "cp" => instruction.has("async") && (instruction.has("ca") || instruction.has("cg")),
        _ => false,
    }
}

fn comparison_of(comparison: &str, ty: &str) -> Option<Truth> {
    use IntegerPredicate as Integer;
    use RealPredicate as Real;
    if let "f32" | "f64" = ty {
        let predicate = match comparison {
            "eq" => Real::LLVMRealOEQ,
            "ne" => Real::LLVMRealONE,
            "lt" => Real::LLVMRealOLT,
            "le" => Real::LLVMRealOLE,
            "gt" => Real::LLVMRealOGT,
            "ge" => Real::LLVMRealOGE,
            "equ" => Real::LLVMRealUEQ,
            "neu" => Real::LLVMRealUNE,
            "ltu" => Real::LLVMRealULT,
            "leu" => Real::LLVMRealULE,
            "gtu" => Real::LLVMRealUGT,
            "geu" => Real::LLVMRealUGE,
            "num" => Real::LLVMRealORD,
            "nan" => Real::LLVMRealUNO,
            _ => return None,
        };
        return Some(Truth::CompareFloats(predicate, ty == "f64"));
    }
    let (kind, bits) = ty.split_at_checked(1)?;
    let bits = bits.parse().ok()?;
    if !matches!(bits, 16 | 32 | 64) {
        return None;
    }
    let predicate = match (comparison, kind) {
        ("eq", "b" | "u" | "s") => Integer::LLVMIntEQ,
        ("ne", "b" | "u" | "s") => Integer::LLVMIntNE,
        ("lt", "s") => Integer::LLVMIntSLT,
        ("le", "s") => Integer::LLVMIntSLE,
        ("gt", "s") => Integer::LLVMIntSGT,
        ("ge", "s") => Integer::LLVMIntSGE,
        ("lt" | "lo", "u") => Integer::LLVMIntULT,
        ("le" | "ls", "u") => Integer::LLVMIntULE,
        ("gt" | "hi", "u") => Integer::LLVMIntUGT,
        ("ge" | "hs", "u") => Integer::LLVMIntUGE,
        _ => return None,
    };
    Some(Truth::CompareIntegers(predicate, bits))
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// Emits an operation on predicates.
    pub(in crate::codegen::cpu) fn compute_truth(
        &mut self,
        truth: Truth,
        operands: &[Operand],
    ) -> Result<Option<()>, CodegenError> {
        let [result, operands @ ..] = operands else {
            return Ok(None);
        };
        let value = match (truth, operands) {
            (Truth::CompareIntegers(predicate, bits), [left, right]) => {
                let ty = self.integer(bits);
                match (self.fitted(left, bits, ty), self.fitted(right, bits, ty)) {
                    (Some(left), Some(right)) => self.builder.compare(predicate, left, right),
                    _ => return Ok(None),
                }
            }
            (Truth::CompareFloats(predicate, double), [left, right]) => {
                let ty = Type::float(self.module, double);
                let bits = 32 << u32::from(double);
                match (self.fitted(left, bits, ty), self.fitted(right, bits, ty)) {
                    (Some(left), Some(right)) => {
                        self.builder.compare_floats(predicate, left, right)
                    }
                    _ => return Ok(None),
                }
            }
            (Truth::Combine(operation), [left, right]) => {
                match (self.truth(left), self.truth(right)) {
                    (Some(left), Some(right)) => self.builder.binary(operation, left, right),
                    _ => return Ok(None),
                }
            }
            (Truth::Not, [one]) => match self.truth(one) {
                Some(one) => self.inverse(one),
                None => return Ok(None),
            },
            (Truth::Move, [one]) => match self.truth(one) {
                Some(one) => one,
                None => return Ok(None),
            },
            (Truth::Vote(name), [one, mask]) => {
                let word = self.integer(32);
                let (Some(one), Some(mask)) = (self.truth(one), self.fitted(mask, 32, word)) else {
                    return Ok(None);
                };
                let symbol = format!("{PREFIX}llvm.nvvm.vote.{name}.sync");
                let function = self.library.declare(self.module, &symbol)?;
                let arguments = [self.context, mask, one];
                (self.builder).call(function.value_type(), function, &arguments)
            }
            _ => return Ok(None),
        };
        Ok(self.assign(result, value))
    }

    /// Emits an instruction, or what it does to a block of its own, where a predicate holds.
    pub(in crate::codegen::cpu) fn execute_where(
        &mut self,
        predicate: Value,
        instruction: &Instruction,
    ) -> Result<Option<()>, CodegenError> {
        let results: Vec<Operand> = match instruction.opcode[0].as_str() {
            "ld" | "atom" => instruction.operands.first().map_or(vec![], |result| {
                parts(result).into_iter().cloned().collect()
            }),
            _ => Vec::new(),
        };
        let before: Vec<Option<Value>> =
            results.iter().map(|result| self.value(result, 1)).collect();
        // What stands before the template goes to a block of its own, which leads here or to the instruction.
        let rest = self.call.block();
        let emitted = rest.instructions();
        let count = emitted
            .iter()
            .position(|instruction| *instruction == self.call);
        let Some(count) = count else {
            return Ok(None);
        };
        let head = rest.split_head(count);
        let body = Block::append(self.function, "");
        if let Some(way) = head.terminator() {
            way.erase();
        }
        self.builder.continue_in(head);
        self.builder.branch_if(predicate, body, rest);
        self.builder.continue_in(body);
        let done = self.execute(instruction)?;
        let after: Vec<Option<Value>> =
            results.iter().map(|result| self.value(result, 1)).collect();
        let end = self.builder.block();
        self.builder.branch(rest);
        self.builder.continue_before(self.call);
        if done.is_none() {
            return Ok(None);
        }
        for ((result, before), after) in results.iter().zip(before).zip(after) {
            let Some(after) = after else {
                return Ok(None);
            };
            let ty = after.ty();
            self.builder.continue_in(head);
            if let Some(way) = head.terminator() {
                self.builder.continue_before(way);
            }
            let before = before.and_then(|before| self.fit(before, ty));
            let before = before.unwrap_or_else(|| ty.zero());
            self.builder.continue_before(self.call);
            let kept = self.builder.phi(ty);
            kept.add_incoming(before, head);
            kept.add_incoming(after, end);
            if self.assign(result, kept).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// The truth of a predicate, by its name; with a sign before it, the opposite.
    pub(in crate::codegen::cpu) fn truth(&self, operand: &Operand) -> Option<Value<'ctx>> {
        if let Operand::Negated(inner) = operand {
            return Some(self.inverse(self.truth(inner)?));
        }
        let value = self.value(operand, 1)?;
        (value.ty().is_integer() && value.ty().integer_bits() == 1).then_some(value)
    }

    pub(in crate::codegen::cpu) fn inverse(&self, truth: Value) -> Value<'ctx> {
        let one = self.integer(1).constant(1);
        self.builder.binary(Opcode::LLVMXor, truth, one)
    }

    fn fitted(&self, operand: &Operand, bits: u32, ty: Type<'ctx>) -> Option<Value<'ctx>> {
        self.fit(self.value(operand, bits)?, ty)
    }
}
