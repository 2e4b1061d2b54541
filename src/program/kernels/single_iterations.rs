//! Loops of kernels that run once at most, taken apart into a test and their body.
//!
//! `for (int i = threadIdx.x; i < 128; i += 128)` is how a block of 128 threads walks over rows of 128. LLVM finds
//! out that `i` is below the step wherever it is added, so that the next `i` becomes `threadIdx.x | 128`, which no
//! longer says that a counter advances. That there is no next `i` it says nowhere. So this is asked before.
//!
//! Invariant: nothing stands twice afterwards that touches memory or waits, since all that is written out twice is
//! the test at the head of such a loop. Whether a loop runs once is for LLVM to prove.

use super::super::loops::{Loop, loops};
use super::super::{ProgramError, passes};
use crate::llvm::IntegerPredicate::{LLVMIntSLE, LLVMIntSLT, LLVMIntULE, LLVMIntULT};
use crate::llvm::{Block, ControlFlow, Opcode, Value};
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

/// Writes out loops that enter their head twice at most.
const WRITE_OUT: &str = "loop-simplify,lcssa,\
    loop-unroll<O3;full-unroll-max=2;upperbound;no-partial;no-peeling;no-profile-peeling;no-runtime>";

/// Takes such loops of all functions apart.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses the pipeline.
pub(in crate::program) fn take_apart(
    device: &Module<'_>,
    machine: &TargetMachine,
) -> Result<(), ProgramError> {
    for function in Value::functions(device) {
        let Some(flow) = ControlFlow::of(function) else {
            continue;
        };
        let chosen: Vec<Loop> = loops(&flow).into_iter().filter(seems_to_run_once).collect();
        if chosen.is_empty() {
            continue;
        }
        for (latch, header) in flow.back_edges() {
            let Some(end) = latch.terminator() else {
                continue;
            };
            // `#pragma unroll 4` would write a body out four times, and `#pragma unroll 1` keep a loop.
            match chosen.iter().any(|of| of.header == header) {
                true => end.remove_metadata("llvm.loop"),
                false => end.hold_unrolling(device, false),
            }
        }
        let written = passes::run_on_function(function, WRITE_OUT, machine);
        for end in function.blocks().into_iter().filter_map(Block::terminator) {
            end.release_unrolling(device);
        }
        written?;
    }
    Ok(())
}

/// Whether a loop is left at its head, where nothing else happens, once a counter has reached a constant that a
/// step from anywhere above zero passes.
fn seems_to_run_once(of: &Loop) -> bool {
    let Some(end) = of.header.terminator() else {
        return false;
    };
    let stays = |block: &Block| of.blocks.contains(block);
    let leaves_at_head =
        matches!(end.successors()[..], [inside, outside] if stays(&inside) && !stays(&outside));
    let is_plain = |at: &Value| {
        let opcode = at.opcode();
        *at == end
            || matches!(
                opcode,
                Some(Opcode::LLVMPHI | Opcode::LLVMICmp | Opcode::LLVMZExt | Opcode::LLVMSExt)
            )
    };
    leaves_at_head
        && of.header.instructions().iter().all(is_plain)
        && end
            .operands()
            .first()
            .is_some_and(|test| is_passed(of, *test))
}

/// Whether the counter is past the end of the test after one step, if it was zero or more before.
fn is_passed(of: &Loop, test: Value) -> bool {
    let above = match test.integer_predicate() {
        Some(LLVMIntSLT | LLVMIntULT) => 0,
        Some(LLVMIntSLE | LLVMIntULE) => 1,
        _ => return false,
    };
    let [mut counter, bound] = test.operands()[..] else {
        return false;
    };
    if let Some(Opcode::LLVMZExt | Opcode::LLVMSExt) = counter.opcode() {
        counter = counter.operands()[0];
    }
    if !of.is_own_phi(counter) {
        return false;
    }
    let step = of.incoming(counter).and_then(|(_, next)| {
        let is_sum = next.opcode() == Some(Opcode::LLVMAdd);
        match next.operands()[..] {
            [from, step] if is_sum && from == counter => step.signed_integer(),
            _ => None,
        }
    });
    match (step, bound.signed_integer()) {
        (Some(step), Some(bound)) => step > 0 && step >= bound.saturating_add(above),
        _ => false,
    }
}
