//! Shared memory through which lanes of a warp hand each other values with nothing that orders them.
//!
//! What code takes for granted there is that of `volatile` accesses: each is done where it stands, and the lanes of a
//! warp go in lockstep. So they are made such, in all copies of the kernel.

use crate::llvm::{Opcode, Value};
use inkwell::module::Module;
use std::collections::{BTreeSet, HashSet};

/// Metadata of accesses that are `volatile` only because lanes exchange values by them.
pub const EXCHANGED: &str = "sirius.exchanged";

/// Address space of shared memory.
const SHARED: u32 = 3;

/// Makes the loads and stores of these shared variables in a kernel of a device module, and in what it calls,
/// `volatile`.
pub(in crate::program) fn make_volatile(
    device: &Module<'_>,
    kernel: &str,
    variables: &BTreeSet<String>,
) {
    let Some(kernel) = Value::function(device, kernel) else {
        return;
    };
    let mut seen = HashSet::from([kernel]);
    let mut work = vec![kernel];
    while let Some(function) = work.pop() {
        for instruction in function.instructions() {
            if instruction.is_call() {
                let called = instruction.called_function();
                work.extend(called.filter(|called| seen.insert(*called)));
                continue;
            }
            let pointer = match instruction.opcode() {
                Some(Opcode::LLVMLoad) => instruction.operands()[0],
                Some(Opcode::LLVMStore) => instruction.operands()[1],
                _ => continue,
            };
            if leads_to(pointer, Some(variables), function != kernel) {
                // A program's own `volatile` says that it relies on lockstep; this one is still a race to look for.
                if !instruction.is_volatile() {
                    instruction.make_volatile();
                    instruction.add_metadata(device, EXCHANGED);
                }
            }
        }
    }
}

/// Whether a function, which calls nothing of the program's, may store to shared memory.
pub(in crate::program) fn stores_to_shared(analysis: &Module<'_>, kernel: &str) -> bool {
    let instructions = Value::function(analysis, kernel).map_or(Vec::new(), Value::instructions);
    instructions.into_iter().any(|instruction| {
        instruction.opcode() == Some(Opcode::LLVMStore)
            && leads_to(instruction.operands()[1], None, false)
    })
}

/// The name of a variable without what a link of modules has added to it.
pub(in crate::program) fn plain_name(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Whether a pointer may lead to one of these variables, or any (`None`). Of what is loaded or called for, only a pointer to shared memory
/// is taken to; with `parameters` one that is a function's parameter is, too.
fn leads_to(pointer: Value, variables: Option<&BTreeSet<String>>, parameters: bool) -> bool {
    let mut seen = HashSet::new();
    let mut pending = vec![pointer];
    while let Some(at) = pending.pop() {
        if !seen.insert(at) {
            continue;
        }
        let is_shared = at.ty().address_space() == SHARED;
        if at.is_global_variable() {
            let meant = |names: &BTreeSet<String>| names.contains(plain_name(&at.name()));
            if is_shared && variables.is_none_or(meant) {
                return true;
            }
            continue;
        }
        let operands = at.operands();
        match at.operation() {
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => {
                pending.push(operands[0])
            }
            Some(Opcode::LLVMSelect) => pending.extend(&operands[1..]),
            Some(Opcode::LLVMPHI) => pending.extend(operands),
            _ if at.is_parameter() && parameters || is_shared => return true,
            _ => {}
        }
    }
    false
}
