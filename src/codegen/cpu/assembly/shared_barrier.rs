//! Barriers in shared memory (`mbarrier`) in inline PTX.
//!
//! Those of other blocks of a cluster are words like any others: a cluster's blocks take turns. Bulk copies have been
//! made when they are asked for, and tell their barrier so at once.

use super::super::functions::PREFIX;
use super::super::statements::Lowering;
use crate::codegen::CodegenError;
use crate::kernel::ptx::{Instruction, Operand};
use crate::llvm::Value;

/// The definition (`sirius.mbarrier.NAME`) that an instruction is a call of, when it is understood.
pub(in crate::codegen::cpu) fn operation(instruction: &Instruction) -> Option<&'static str> {
    let expects = instruction.has("expect_tx");
    let count = instruction.operands.len();
    let parity = instruction.has("parity");
    match (instruction.opcode.get(1)?.as_str(), count) {
        ("init", 2) => Some("init"),
        ("inval", 1) => Some("inval"),
        ("expect_tx", 2) => Some("expect"),
        ("complete_tx", 2) => Some("complete"),
        ("arrive", 3) if expects => Some("arrive.expect"),
        ("arrive_drop", 3) if expects => Some("arrive_drop.expect"),
        (_, _) if expects => None,
        ("arrive", 2 | 3) => Some("arrive"),
        ("arrive_drop", 2 | 3) => Some("arrive_drop"),
        ("test_wait" | "try_wait", 3 | 4) if parity => Some("wait.parity"),
        ("test_wait" | "try_wait", 3 | 4) => Some("wait"),
        ("pending_count", 2) => Some("pending_count"),
        // Copies have been made when they were asked for. The arrival of one that counts itself in
        // first changes nothing.
        ("async", 1) if instruction.has("noinc") => Some("arrive"),
        _ => None,
    }
}

/// `cp.async.mbarrier.arrive`, with or without counting itself in.
pub(in crate::codegen::cpu) fn is_arrival_of_copies(instruction: &Instruction) -> bool {
    instruction.opcode[0] == "cp"
        && instruction.has("mbarrier")
        && instruction.has("arrive")
        && !instruction.has("shared::cluster")
        && instruction.operands.len() == 1
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// Emits an operation on a barrier in shared memory.
    pub(in crate::codegen::cpu) fn shared_barrier(
        &mut self,
        instruction: &Instruction,
    ) -> Result<Option<()>, CodegenError> {
        let Some(operation) = operation(instruction) else {
            // An arrival that counts itself in.
            return Ok(is_arrival_of_copies(instruction).then_some(()));
        };
        let operands = instruction.operands.as_slice();
        let (result, place, rest) = match (operation, operands) {
            ("init" | "inval" | "expect" | "complete", [place, rest @ ..]) => {
                (None, Some(place), rest)
            }
            ("pending_count", [result, rest @ ..]) => (Some(result), None, rest),
            (_, [place]) => (None, Some(place), &[] as &[Operand]),
            (_, [result, place, rest @ ..]) => (Some(result), Some(place), rest),
            _ => return Ok(None),
        };
        let mut arguments = vec![self.context];
        if let Some(place) = place {
            let Some(pointer) = self.pointer(place)? else {
                return Ok(None);
            };
            arguments.push(pointer);
        }
        let symbol = format!("{PREFIX}mbarrier.{operation}");
        let function = self.library.declare(self.module, &symbol)?;
        let ty = function.value_type();
        let wanted = ty.parameters();
        if let Some(wanted) = wanted.get(arguments.len()) {
            // An arrival without a count is one; a limit of time counts for nothing.
            let given = match rest.first() {
                Some(operand) => self.value(operand, wanted.integer_bits()),
                None => Some(wanted.constant(1)),
            };
            let given: Option<Value> = given.and_then(|given| self.fit(given, *wanted));
            let Some(given) = given else {
                return Ok(None);
            };
            arguments.push(given);
        }
        let value = self.builder.call(ty, function, &arguments);
        Ok(match result {
            Some(result) => self.assign(result, value),
            None => Some(()),
        })
    }

    /// `selp.TYPE result, one, other, predicate`.
    pub(in crate::codegen::cpu) fn select_by_predicate(
        &mut self,
        instruction: &Instruction,
        bits: u32,
    ) -> Option<()> {
        let [result, one, other, predicate] = instruction.operands.as_slice() else {
            return None;
        };
        let truth = self.value(predicate, 1)?;
        if !truth.ty().is_integer() || truth.ty().integer_bits() != 1 {
            return None;
        }
        let ty = self.integer(bits);
        let one = self.fit(self.value(one, bits)?, ty)?;
        let other = self.fit(self.value(other, bits)?, ty)?;
        let value = self.builder.select(truth, one, other);
        self.assign(result, value)
    }
}
