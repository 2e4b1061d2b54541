//! Sets, and copies within the device, that a kernel could do.

use super::*;
use crate::program::operation_call;

/// The calls of operations by function and instruction, numbered in the order of the module.
pub(super) fn operation_calls(
    host: &HostModule,
) -> HashMap<(usize, usize), (usize, OperationKind)> {
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

/// What a node touches that a kernel could touch, written first.
pub(super) fn operation_touches(node: &NodeKind) -> Option<Vec<Touch>> {
    match node {
        NodeKind::Set { writes, .. } => Some(vec![writes.clone()]),
        NodeKind::Copy { reads, writes, .. } => match (reads.as_slice(), writes.as_slice()) {
            ([read], [write]) => Some(vec![write.clone(), read.clone()]),
            _ => None,
        },
        _ => None,
    }
}
