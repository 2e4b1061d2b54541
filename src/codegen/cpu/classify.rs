//! Which features of a GPU a kernel uses, over everything that it may call.

use super::in_step::distinguished_axes;
use crate::codegen::device::is_block_barrier;
use crate::codegen::expansion::constants_in;
use crate::llvm::{Opcode, Value};
use std::collections::HashSet;

/// What decides how a kernel runs on the CPU device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Features {
    /// Has block barriers, barriers in shared memory, or loops that wait for other threads.
    pub(super) block_barriers: bool,
    /// Has warp operations.
    pub(super) warp_operations: bool,
    /// Prints, asserts or traps.
    pub(super) prints: bool,
    /// For x, y and z: threads that differ only in this index may do different things.
    pub(super) distinguishes_threads: [bool; 3],
    /// `__launch_bounds__` maximum of threads a block.
    pub(super) max_threads: Option<u32>,
    /// `__cluster_dims__`.
    pub(super) cluster: Option<[u32; 3]>,
}

impl Features {
    /// Looks through a kernel of a device module and everything that it may call.
    pub(super) fn of(kernel: Value) -> Self {
        let mut features = Self {
            max_threads: crate::codegen::device::max_threads(kernel),
            distinguishes_threads: distinguished_axes(kernel),
            cluster: cluster_of(kernel),
            ..Self::default()
        };
        let mut seen = HashSet::from([kernel]);
        let mut work = vec![kernel];
        while let Some(function) = work.pop() {
            for found in constants_in(function) {
                if found.is_function() && seen.insert(found) {
                    if found.is_declaration() {
                        features.note(&found.name());
                    } else {
                        work.push(found);
                    }
                }
            }
            for instruction in function.instructions() {
                if instruction.opcode() == Some(Opcode::LLVMCall)
                    && let Some((template, _)) = instruction.called().inline_assembly()
                {
                    features.block_barriers |=
                        template.contains("griddepcontrol.wait") && waits_for_launch(function);
                    features.note_assembly(&template);
                }
            }
        }
        features
    }

    fn note(&mut self, name: &str) {
        let warp = [
            "shfl",
            "vote",
            "match",
            "bar.warp",
            "activemask",
            "redux",
            "elect",
            // Others run meanwhile.
            "nanosleep",
        ];
        // They rest on the block's state as one of a cluster.
        let of_clusters = [
            "llvm.nvvm.barrier.cluster.",
            "llvm.nvvm.mapa",
            "llvm.nvvm.getctarank",
            "llvm.nvvm.isspacep.shared.cluster",
        ];
        if name == super::spins::GIVE_WAY {
            // Others have to run meanwhile.
            self.block_barriers = true;
        } else if name == super::tiles::MULTIPLY || name == super::lockstep::KEEP_STEP {
            self.warp_operations = true;
        } else if is_block_barrier(name)
            || name.starts_with("llvm.nvvm.mbarrier.")
            || of_clusters.iter().any(|start| name.starts_with(start))
        {
            self.block_barriers = true;
        } else if name
            .strip_prefix("llvm.nvvm.")
            .is_some_and(|rest| warp.iter().any(|word| rest.starts_with(word)))
        {
            self.warp_operations = true;
        } else if matches!(
            name,
            "vprintf" | "__assertfail" | "llvm.trap" | "llvm.debugtrap"
        ) {
            self.prints = true;
        }
    }

    fn note_assembly(&mut self, template: &str) {
        let has = |words: &[&str]| words.iter().any(|word| template.contains(word));
        self.block_barriers |= has(&[
            "bar.sync",
            "bar.red",
            "bar.arrive",
            "barrier.",
            "mapa.",
            "getctarank.",
        ]);
        self.warp_operations |= has(&[
            "shfl.",
            "vote.",
            "match.",
            "activemask",
            "redux.",
            "bar.warp",
            "elect.",
            "mma.",
            "matrix.",
        ]);
        self.prints |= has(&["trap", "exit", "brkpt"]);
    }
}

/// `__cluster_dims__`, of which axes that are not named have one block.
fn cluster_of(kernel: Value) -> Option<[u32; 3]> {
    let text = kernel.string_attribute("nvvm.cluster_dim")?;
    let mut extents = text.split(',').map(|extent| extent.trim().parse().ok());
    let mut next = || extents.next().unwrap_or(Some(1));
    Some([next()?, next()?, next()?])
}

/// Whether a wait for the launch before is one of ours: the runtime runs what stands before it early. In kernels of the
/// user it does nothing, as launches run one after another.
pub(super) fn waits_for_launch(function: Value) -> bool {
    function.name().contains(sirius_abi::FUSED_KERNEL)
}
