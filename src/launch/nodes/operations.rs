//! Sets, and copies within the device, that a kernel could do.

use super::*;
use crate::program::operation_call;

/// The calls of operations by function and instruction, numbered in the order of the module.
pub(super) fn operation_calls(host: &HostModule) -> HashMap<(usize, usize), (usize, OperationKind)> {
    let mut calls = HashMap::new();
    for (index, function) in host.functions.iter().enumerate() {
        for (at, instruction) in function.instructions.iter().enumerate() {
            if let Opcode::Call {
                callee: Some(callee),
                ..
            } = &instruction.opcode
                && let Some(operation) = operation_call(&host.functions[*callee].name)
            {
                let ordinal = calls.len();
                calls.insert((index, at), (ordinal, operation.kind));
            }
        }
    }
    calls
}

/// The operation, where its node touches what a kernel could touch.
pub(super) fn operation(node: &NodeKind, operation: Operation) -> Option<Operation> {
    match node {
        NodeKind::Set { .. } => Some(operation),
        NodeKind::Copy { reads, writes, .. } if reads.len() == 1 && writes.len() == 1 => {
            Some(operation)
        }
        _ => None,
    }
}
