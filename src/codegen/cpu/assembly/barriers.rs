//! Barriers of a block in inline PTX: `bar` and `barrier`, with a number and a count of threads.

use super::super::statements::Lowering;
use crate::codegen::CodegenError;
use crate::kernel::ptx::{Instruction, Operand};
use crate::llvm::Value;

/// What a thread does at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::cpu) enum Barrier {
    /// It waits.
    Sync,
    /// It is counted and goes on.
    Arrive,
    /// It waits, and gets the sum of all predicates.
    Count,
    /// It waits, and gets whether all of them hold.
    All,
    /// It waits, and gets whether one of them holds.
    Any,
}

/// What an instruction does at a barrier of its block, where it is understood.
pub(in crate::codegen::cpu) fn barrier(instruction: &Instruction) -> Option<Barrier> {
    let words = instruction.opcode.iter().skip(1).map(String::as_str);
    let words: Vec<&str> = words
        .filter(|word| !matches!(*word, "cta" | "aligned"))
        .collect();
    let operands = instruction.operands.len();
    match words.as_slice() {
        ["sync"] if matches!(operands, 1 | 2) => Some(Barrier::Sync),
        ["arrive"] if operands == 2 => Some(Barrier::Arrive),
        ["red", "popc", "u32"] if matches!(operands, 3 | 4) => Some(Barrier::Count),
        ["red", "and", "pred"] if matches!(operands, 3 | 4) => Some(Barrier::All),
        ["red", "or", "pred"] if matches!(operands, 3 | 4) => Some(Barrier::Any),
        _ => None,
    }
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// Emits a barrier of the block.
    pub(in crate::codegen::cpu) fn wait_at_barrier(
        &mut self,
        instruction: &Instruction,
    ) -> Result<Option<()>, CodegenError> {
        let operands = instruction.operands.as_slice();
        match (barrier(instruction), operands) {
            // The one that every kernel has, which the runtime does not look up.
            (Some(Barrier::Sync), [Operand::Literal(0)]) => {
                self.call_of_barrier("__sirius_barrier", &[])?;
                Ok(Some(()))
            }
            (Some(Barrier::Sync), [number, threads @ ..]) => {
                let Some(numbers) = self.number_and_threads(number, threads.first()) else {
                    return Ok(None);
                };
                self.call_of_barrier("__sirius_named_barrier", &numbers)?;
                Ok(Some(()))
            }
            (Some(Barrier::Arrive), [number, threads]) => {
                let Some(numbers) = self.number_and_threads(number, Some(threads)) else {
                    return Ok(None);
                };
                self.call_of_barrier("__sirius_barrier_arrive", &numbers)?;
                Ok(Some(()))
            }
            (Some(kind), [result, number, threads @ .., predicate]) => {
                let numbers = self.number_and_threads(number, threads.first());
                let (Some(numbers), Some(truth)) = (numbers, self.truth(predicate)) else {
                    return Ok(None);
                };
                let operation = match kind {
                    Barrier::Count => 0,
                    Barrier::All => 1,
                    _ => 2,
                };
                let truth = self.resize(truth, 32);
                let operation = self.integer(32).constant(operation);
                let [number, threads] = numbers;
                let value = self.call_of_barrier(
                    "__sirius_barrier_reduce",
                    &[number, threads, truth, operation],
                )?;
                let value = match kind {
                    Barrier::Count => value,
                    _ => self.resize(value, 1),
                };
                Ok(self.assign(result, value))
            }
            _ => Ok(None),
        }
    }

    /// The number of a barrier, and how many threads it waits for: 0 for all.
    fn number_and_threads(
        &self,
        number: &Operand,
        threads: Option<&Operand>,
    ) -> Option<[Value<'ctx>; 2]> {
        let threads = match threads {
            Some(threads) => self.word(threads)?,
            None => self.integer(32).zero(),
        };
        Some([self.word(number)?, threads])
    }

    fn call_of_barrier(
        &self,
        name: &str,
        arguments: &[Value<'ctx>],
    ) -> Result<Value<'ctx>, CodegenError> {
        let function = self.library.declare(self.module, name)?;
        let mut all = vec![self.context];
        all.extend(arguments);
        Ok(self.builder.call(function.value_type(), function, &all))
    }
}
