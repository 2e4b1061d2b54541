//! Stores to allocations that nobody reads after the group.
//!
//! The plan says of an allocation that only the group's own members may read it after they wrote it.
//! Once values are forwarded from segment to segment, a fused kernel may have no load of it left;
//! then its stores are seen by nobody and go. That no load is left is read off the kernel itself: by
//! the models every access to the allocation goes through known parameters, and all that is done
//! with these is to compute addresses and to store there.

use super::super::Built;
use crate::kernel::{KernelModel, Target};
use crate::launch::{BufferId, Launch};
use crate::llvm::{Opcode, Value};

/// For each allocation, the parameters of the fused kernel through which the members reach it;
/// without those that are reached in another way too. `place` tells which parameter of the fused
/// kernel the pointer is that begins so many bytes into a member's argument.
pub(in crate::codegen::fused_kernels::fuse) fn parameters_into(
    buffers: &[BufferId],
    members: &[(&Launch, &KernelModel)],
    place: impl Fn(usize, usize, u32) -> Option<usize>,
) -> Vec<(BufferId, Vec<usize>)> {
    buffers
        .iter()
        .filter_map(|buffer| {
            let mut parameters = Vec::new();
            for (position, (launch, model)) in members.iter().enumerate() {
                for access in &model.accesses {
                    match reached(launch, &access.target) {
                        Reached::Elsewhere => {}
                        Reached::Anything => return None,
                        Reached::Allocations {
                            candidates,
                            argument,
                            offset_bytes,
                        } if candidates.contains(buffer) => {
                            if candidates.len() > 1 {
                                return None;
                            }
                            parameters.push(place(position, argument, offset_bytes)?);
                        }
                        Reached::Allocations { .. } => {}
                    }
                }
            }
            parameters.sort_unstable();
            parameters.dedup();
            Some((*buffer, parameters))
        })
        .collect()
}

/// Leaves stores out whose values nobody reads, in all versions of a kernel, of which the first calls
/// the others. Notes the allocations that they went to, and those that no version touches any more.
pub(in crate::codegen::fused_kernels::fuse) fn leave_out(versions: &[Value], kernel: &mut Built) {
    for (leading, parameters) in &kernel.facts.unread {
        let stores: Vec<Option<usize>> = versions
            .iter()
            .map(|version| remove_stores(*version, versions, parameters))
            .collect();
        if stores.iter().flatten().any(|removed| *removed > 0) {
            kernel.unwritten.push(leading.clone());
        }
        if stores.iter().all(Option::is_some) {
            kernel.untouched.push(leading.clone());
        }
    }
}

/// Removes the stores through `parameters` when nothing else is done with them, and returns how many there
/// were: no access is left then. `None` when something else is done. They may be passed on to `versions` of
/// the kernel, which are looked at by themselves.
fn remove_stores(kernel: Value, versions: &[Value], parameters: &[usize]) -> Option<usize> {
    let all = kernel.parameters();
    let mut stores = Vec::new();
    for parameter in parameters {
        if !only_stored_to(*all.get(*parameter)?, versions, &mut stores) {
            return None;
        }
    }
    for store in &stores {
        store.erase();
    }
    Some(stores.len())
}

/// Where an access goes.
enum Reached<'a> {
    /// Shared memory or a device variable.
    Elsewhere,
    Allocations {
        candidates: &'a [BufferId],
        argument: usize,
        offset_bytes: u32,
    },
    Anything,
}

fn reached<'a>(launch: &'a Launch, target: &Target) -> Reached<'a> {
    match target {
        Target::Shared(_) | Target::UnknownShared | Target::Global(_) => Reached::Elsewhere,
        Target::Unknown => Reached::Anything,
        Target::Argument {
            argument,
            offset_bytes,
        } => {
            let pieces = launch.arguments.get(*argument).map(|known| &known.pieces);
            let piece = pieces.and_then(|pieces| {
                let mut pieces = pieces.iter();
                pieces.find(|piece| piece.offset_bytes == *offset_bytes && piece.bits == 64)
            });
            let pointer = piece.and_then(|piece| piece.pointer.as_ref());
            match pointer.and_then(|pointer| pointer.may_point_to.as_deref()) {
                Some(candidates) => Reached::Allocations {
                    candidates,
                    argument: *argument,
                    offset_bytes: *offset_bytes,
                },
                None => Reached::Anything,
            }
        }
    }
}

/// Whether a pointer, and whatever is computed from it, is only used as the address of plain
/// stores, which are collected.
fn only_stored_to<'ctx>(
    pointer: Value<'ctx>,
    versions: &[Value<'ctx>],
    stores: &mut Vec<Value<'ctx>>,
) -> bool {
    pointer.users().into_iter().all(|user| {
        if !user.is_instruction() {
            return false;
        }
        match user.opcode() {
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast) => {
                only_stored_to(user, versions, stores)
            }
            Some(Opcode::LLVMCall) => versions.contains(&user.called()),
            Some(Opcode::LLVMStore) => {
                let plain = !user.is_volatile() && !user.is_atomic();
                let address_only = user.operand(0) != pointer;
                if plain && address_only && !stores.contains(&user) {
                    stores.push(user);
                }
                plain && address_only
            }
            _ => false,
        }
    })
}
