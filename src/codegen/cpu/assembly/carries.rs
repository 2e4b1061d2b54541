//! The carry flag between templates of inline PTX: a sum of large numbers whose words are added by an `asm` each.
//!
//! PTX keeps the flag in straight code, not across calls. It is a variable of the function here, where some template
//! takes it from one before; that has to stand in the same block, or in blocks that nothing else leads into. All have
//! to be `volatile` or to change memory, since others may have been moved or taken for the same; the program stage
//! makes them so in a source that hands on a carry.

use super::super::functions::PREFIX;
use super::super::integers::arithmetic;
use crate::kernel::ptx::{Statement, read_template};
use crate::llvm::{Block, Builder, Opcode, Type, Value};
use inkwell::module::Module;

/// What functions of the runtime begin with that are called where nothing was in the source.
const OWN: &str = "__sirius_";

/// What a template does to the flag.
#[derive(Default)]
struct Use {
    /// It takes what one before left.
    takes: bool,
    leaves: bool,
    /// It stays where the source has it.
    in_place: bool,
}

/// Makes the variable, where every template of the function that takes the flag finds one before that leaves it. Others
/// stay without, and are not understood.
pub(in crate::codegen::cpu) fn variable<'ctx>(
    module: &Module<'ctx>,
    function: Value<'ctx>,
) -> Option<Value<'ctx>> {
    let mut takers: Vec<Value> = Vec::new();
    let mut in_place = true;
    for instruction in function.instructions() {
        if let Some(of) = use_of(instruction).filter(|of| of.takes || of.leaves) {
            in_place = in_place && of.in_place;
            takers.extend(of.takes.then_some(instruction));
        }
    }
    let found = in_place && !takers.is_empty() && takers.into_iter().all(is_after_another);
    found.then(|| {
        let first = function.blocks()[0].instructions()[0];
        Builder::before(first).alloca(Type::integer(module, 1))
    })
}

/// Whether a template that leaves the flag stands before this one with no call between.
fn is_after_another(taker: Value) -> bool {
    let mut block = taker.block();
    let mut instructions = block.instructions();
    let place = instructions.iter().position(|each| *each == taker);
    instructions.truncate(place.unwrap_or(0));
    let mut seen: Vec<Block> = Vec::new();
    loop {
        for instruction in instructions.into_iter().rev() {
            if use_of(instruction).is_some_and(|of| of.leaves) {
                return true;
            }
            if calls_function(instruction) {
                return false;
            }
        }
        seen.push(block);
        match block.predecessors().as_slice() {
            [before] if !seen.contains(before) => block = *before,
            _ => return false,
        }
        instructions = block.instructions();
    }
}

/// Whether an instruction calls something that is neither inline PTX nor an intrinsic of LLVM's or a count of ours.
fn calls_function(instruction: Value) -> bool {
    instruction.opcode() == Some(Opcode::LLVMCall) && {
        let callee = instruction.called();
        let is_inner = callee.is_function()
            && ["llvm.", PREFIX, OWN]
                .iter()
                .any(|start| callee.name().starts_with(start));
        callee.inline_assembly().is_none() && !is_inner
    }
}

/// What a call of inline PTX does to the flag.
fn use_of(call: Value) -> Option<Use> {
    if call.opcode() != Some(Opcode::LLVMCall) {
        return None;
    }
    let (template, _) = call.called().inline_assembly()?;
    let mut of = Use {
        in_place: call.called().assembly_has_effects(),
        ..Use::default()
    };
    for statement in read_template(&template)? {
        let Statement::Instruction(instruction) = statement else {
            continue;
        };
        if let Some(arithmetic) = arithmetic(&instruction) {
            of.takes |= arithmetic.takes_carry() && !of.leaves;
            of.leaves |= arithmetic.leaves_carry();
        }
    }
    Some(of)
}
