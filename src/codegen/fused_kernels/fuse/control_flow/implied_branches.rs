//! Branches whose outcome is known on some of the ways that lead to them.
//!
//! Members that test alike whether an element is theirs ask one after the other. Where the first one's answer was
//! yes, so is the second's; but the ways have met in between, and the conditions need not be written in one order.
//! Such a branch is told by the way that led to it, which jump threading follows: then what the first member stores
//! there is seen to be overwritten.
//!
//! Invariant: the condition of a branch is replaced by one that has the same value on every way.

use super::super::control_flow::ControlFlow;
use super::super::guarded_values::{conditions_at, learn, outcome};
use crate::llvm::{Block, Builder, Opcode, Type, Value};
use inkwell::module::Module;

/// Lets branches be decided by where control comes from, as far as that tells. Returns how many.
pub(in crate::codegen::fused_kernels::fuse) fn tell_by_ways(
    module: &Module,
    kernel: Value,
) -> usize {
    let Some(flow) = ControlFlow::of(kernel) else {
        return 0;
    };
    let branches: Vec<Block> = flow.blocks().collect();
    let told = branches
        .into_iter()
        .filter(|block| tell(module, &flow, *block));
    told.count()
}

fn tell(module: &Module, flow: &ControlFlow, block: Block) -> bool {
    let from = flow.predecessors(block);
    let (Some(above), Some(end)) = (flow.immediate_dominator(block), block.terminator()) else {
        return false;
    };
    let once = |before: &Block| {
        let to = before.successors();
        to.iter().filter(|to| **to == block).count() == 1
    };
    let met = from.len() > 1 && from.iter().all(once);
    let Some(condition) = end.branch_condition().filter(|_| met) else {
        return false;
    };
    let outcomes: Vec<Option<bool>> = from
        .iter()
        .map(|before| outcome(condition, &known_on_way(flow, *before, block)))
        .collect();
    let (Some(place), true) = (above.terminator(), outcomes.iter().any(Option::is_some)) else {
        return false;
    };
    let Some(computed) = computed_in(block, condition) else {
        return false;
    };
    for instruction in computed {
        instruction.move_before(place);
    }
    let Some(first) = block.instructions().first().copied() else {
        return false;
    };
    let bit = Type::integer(module, 1);
    let phi = Builder::before(first).phi(bit);
    for (before, outcome) in from.iter().zip(outcomes) {
        let known = outcome.map(|outcome| bit.constant(u64::from(outcome)));
        phi.add_incoming(known.unwrap_or(condition), *before);
    }
    end.set_operand(0, phi);
    true
}

/// What is known of conditions on the way from one block to the next.
fn known_on_way<'ctx>(
    flow: &ControlFlow<'ctx>,
    before: Block<'ctx>,
    block: Block<'ctx>,
) -> Vec<(Value<'ctx>, bool)> {
    let mut known = conditions_at(flow, before);
    let asked = before.terminator().and_then(Value::branch_condition);
    if let (Some(condition), [yes, no]) = (asked, &before.successors()[..])
        && yes != no
    {
        learn(condition, *yes == block, &mut known);
    }
    known
}

/// What a block computes for a condition, in order; `None` where that is not free to be computed earlier.
fn computed_in<'ctx>(block: Block<'ctx>, condition: Value<'ctx>) -> Option<Vec<Value<'ctx>>> {
    let mut needed = vec![condition];
    let mut next = 0;
    while let Some(value) = needed.get(next).copied() {
        next += 1;
        if !value.is_instruction() || value.block() != block {
            continue;
        }
        if !value.opcode().is_some_and(|opcode| FREE.contains(&opcode)) {
            return None;
        }
        for operand in value.operands() {
            if !needed.contains(&operand) {
                needed.push(operand);
            }
        }
    }
    let mut own = block.instructions();
    own.retain(|instruction| needed.contains(instruction));
    Some(own)
}

/// What can be computed anywhere: it has no effect, and no operands that it must not have.
const FREE: [Opcode; 11] = [
    Opcode::LLVMICmp,
    Opcode::LLVMAnd,
    Opcode::LLVMOr,
    Opcode::LLVMXor,
    Opcode::LLVMAdd,
    Opcode::LLVMSub,
    Opcode::LLVMMul,
    Opcode::LLVMShl,
    Opcode::LLVMZExt,
    Opcode::LLVMSExt,
    Opcode::LLVMTrunc,
];
