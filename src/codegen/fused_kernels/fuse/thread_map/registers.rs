//! The registers that tell a thread its place, read once at the beginning of a fused kernel.
//!
//! Each segment reads them for itself, often in a loop. Where all use one value, the addresses of two
//! segments that are equal look alike, and nothing has to be carried around branches.

use super::super::memory::is_pure_call;
use crate::llvm::Value;
use std::collections::HashMap;

/// Lets all uses of a register that never changes share one read of it.
pub(in crate::codegen::fused_kernels::fuse) fn read_once(kernel: Value) {
    let Some(place) = kernel
        .blocks()
        .first()
        .and_then(|entry| entry.instructions().into_iter().next())
    else {
        return;
    };
    let mut kept: HashMap<String, Value> = HashMap::new();
    for instruction in kernel.instructions() {
        let Some(name) = instruction.called_name().filter(|name| is_fixed(name)) else {
            continue;
        };
        if !is_pure_call(instruction) || !instruction.call_arguments().is_empty() {
            continue;
        }
        match kept.get(&name) {
            Some(read) => {
                instruction.replace_uses_with(*read);
                instruction.erase();
            }
            None => {
                if instruction != place {
                    instruction.move_before(place);
                }
                kept.insert(name, instruction);
            }
        }
    }
}

fn is_fixed(name: &str) -> bool {
    let register = name.strip_prefix("llvm.nvvm.read.ptx.sreg.");
    register.is_some_and(|register| {
        ["tid.", "ntid.", "ctaid.", "nctaid."]
            .iter()
            .any(|each| register.starts_with(each))
    })
}
