//! Which threads of a block cannot be told apart.
//!
//! Threads that differ only in an index that the kernel never reads do the same work, and a device
//! runs them in step: each loads before any of them stores. A fused kernel that tells them apart in
//! another member would lose that, so that members must agree.

use super::super::body::{BlockRef, Body, Operation};

/// For x, y and z: whether threads that differ only in this index may do different things. Effects
/// that count threads (atomics, assembly, volatile accesses, all that is not a plain barrier or
/// arithmetic) tell all of them apart.
pub(in crate::kernel) fn distinguished_axes(body: &Body, blocks: &[BlockRef]) -> [bool; 3] {
    let mut axes = [false; 3];
    for block in blocks {
        for value in &body.block(*block).instructions {
            match &body.value(*value).operation {
                Operation::AtomicUpdate { .. }
                | Operation::CompareExchange { .. }
                | Operation::Assembly { .. }
                | Operation::Fence
                | Operation::Other { effects: true, .. } => return [true; 3],
                Operation::Load {
                    volatile, atomic, ..
                }
                | Operation::Store {
                    volatile, atomic, ..
                } if *volatile || *atomic => return [true; 3],
                Operation::Call(call) => match &call.callee {
                    Some(name) => match thread_index_axis(name) {
                        Some(axis) => axes[axis] = true,
                        None if is_harmless(name, call.pure) => {}
                        None => return [true; 3],
                    },
                    None => return [true; 3],
                },
                _ => {}
            }
        }
    }
    axes
}

fn thread_index_axis(name: &str) -> Option<usize> {
    let axis = name.strip_prefix("llvm.nvvm.read.ptx.sreg.tid.")?;
    ["x", "y", "z"].iter().position(|each| *each == axis)
}

/// Whether a call has the same effect once as several times in step.
fn is_harmless(name: &str, pure: bool) -> bool {
    if let Some(register) = name.strip_prefix("llvm.nvvm.read.ptx.sreg.") {
        return ["ctaid.", "ntid.", "nctaid.", "warpsize"]
            .iter()
            .any(|each| register.starts_with(each));
    }
    if let Some(rest) = name.strip_prefix("llvm.nvvm.") {
        let works_together = [
            "shfl", "vote", "match", "redux", "elect", "mma", "wmma", "wgmma",
        ]
        .iter()
        .any(|each| rest.starts_with(each));
        return matches!(
            rest,
            "barrier0" | "barrier.cta.sync.aligned.all" | "barrier.cta.sync.all"
        ) || rest.starts_with("ldg.")
            || rest.starts_with("ldu.")
            || pure && !works_together;
    }
    if let Some(rest) = name.strip_prefix("llvm.") {
        return !["trap", "debugtrap", "ubsantrap", "read"]
            .iter()
            .any(|each| rest.starts_with(each));
    }
    pure || name.starts_with("__nv_")
}
