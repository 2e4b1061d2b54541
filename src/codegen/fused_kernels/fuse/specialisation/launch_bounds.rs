//! `__launch_bounds__` of a fused kernel.
//!
//! Invariant: every launch that the guards admit can be made. The most threads of a block are always
//! told, since ptxas may else give a thread more registers than that many threads have. The other bounds
//! are demands of the user about registers, and each member's own is kept: so many of its threads at once
//! on a multiprocessor (`minctasm` times `maxntid`), which is the same number of registers a thread
//! however large the fused block is, and so many registers (`maxnreg`). Where that makes the fused
//! kernel spill, ptxas says so, and the group is cut.

use crate::codegen::device::max_threads;
use crate::llvm::Value;
use crate::schedule::Variant;

/// What a member's kernel asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::codegen::fused_kernels::fuse) struct Demand {
    /// Threads that a multiprocessor holds at once.
    resident_threads: Option<u32>,
    /// Registers a thread, at most.
    registers: Option<u32>,
}

impl Demand {
    /// What a kernel's attributes say.
    pub(in crate::codegen::fused_kernels::fuse) fn of(kernel: Value) -> Self {
        let number = |name: &str| kernel.string_attribute(name)?.trim().parse::<u32>().ok();
        let resident_threads = number(MINIMUM_BLOCKS).and_then(|blocks| {
            let threads = max_threads(kernel).unwrap_or(MOST_THREADS);
            blocks.checked_mul(threads)
        });
        Self {
            resident_threads,
            registers: number(MOST_REGISTERS),
        }
    }

    /// What a variant of the kernel asks for.
    pub(in crate::codegen::fused_kernels::fuse) fn of_variant(variant: &Variant) -> Self {
        Self {
            resident_threads: variant.resident_threads,
            registers: None,
        }
    }

    /// Both demands.
    pub(in crate::codegen::fused_kernels::fuse) fn and(self, other: Self) -> Self {
        Self {
            resident_threads: self.resident_threads.max(other.resident_threads),
            registers: match (self.registers, other.registers) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
        }
    }

    /// Gives a kernel these bounds, with blocks of at most so many threads, and of so many bytes of
    /// static shared memory.
    pub(in crate::codegen::fused_kernels::fuse) fn bound(
        self,
        kernel: Value,
        most_threads: u32,
        static_shared_bytes: u64,
    ) {
        kernel.set_string_attribute(MOST_THREADS_OF_BLOCK, &most_threads.to_string());
        let blocks = self.resident_threads.map(|threads| {
            let by_threads = threads / most_threads.max(1);
            // More blocks than shared memory has room for would cost registers for nothing.
            let by_memory = LARGEST_SHARED_BYTES / static_shared_bytes.max(1);
            u64::from(by_threads.min(LEAST_ROOM_FOR_BLOCKS)).min(by_memory)
        });
        if let Some(blocks) = blocks.filter(|blocks| *blocks > 0) {
            kernel.set_string_attribute(MINIMUM_BLOCKS, &blocks.to_string());
        }
        if let Some(registers) = self.registers {
            kernel.set_string_attribute(MOST_REGISTERS, &registers.to_string());
        }
    }
}

/// Moves the bounds of a kernel, which becomes a plain function, to another one.
pub(in crate::codegen::fused_kernels::fuse) fn hand_over(from: Value, to: Value) {
    for name in OF_FUSED {
        if let Some(bound) = from.string_attribute(name) {
            to.set_string_attribute(name, &bound);
        }
    }
    take_away(from);
}

/// Takes all that only a kernel has from a function.
pub(in crate::codegen::fused_kernels::fuse) fn take_away(function: Value) {
    for name in OF_KERNELS {
        function.remove_string_attribute(name);
    }
}

const MOST_THREADS_OF_BLOCK: &str = "nvvm.maxntid";
const MINIMUM_BLOCKS: &str = "nvvm.minctasm";
const MOST_REGISTERS: &str = "nvvm.maxnreg";

/// The bounds that a fused kernel may have.
const OF_FUSED: [&str; 3] = [MOST_THREADS_OF_BLOCK, MINIMUM_BLOCKS, MOST_REGISTERS];

/// Attributes that only a kernel has.
const OF_KERNELS: [&str; 6] = [
    MOST_THREADS_OF_BLOCK,
    "nvvm.reqntid",
    MINIMUM_BLOCKS,
    MOST_REGISTERS,
    "nvvm.cluster_dim",
    "nvvm.maxclusterrank",
];

/// Threads of a block that has no bound.
pub(in crate::codegen::fused_kernels::fuse) const MOST_THREADS: u32 = 1024;

/// Every multiprocessor has room for so many blocks; of more ptxas would warn.
const LEAST_ROOM_FOR_BLOCKS: u32 = 16;

/// Shared memory of the largest multiprocessor, in bytes.
const LARGEST_SHARED_BYTES: u64 = 228 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::Type;
    use inkwell::context::Context;

    /// The bounds of a fused kernel with members that have these, and this many threads and bytes.
    fn bounds(members: &[&[(&str, &str)]], threads: u32, bytes: u64) -> [Option<String>; 3] {
        let context = Context::create();
        let module = context.create_module("bounds");
        let function = |name: &str| {
            let ty = Type::function(Type::void(&module), &[]);
            Value::add_function(&module, name, ty)
        };
        let demands = members.iter().map(|attributes| {
            let kernel = function("member");
            for (name, value) in *attributes {
                kernel.set_string_attribute(name, value);
            }
            Demand::of(kernel)
        });
        let demand = demands.fold(Demand::default(), Demand::and);
        let fused = function("fused");
        demand.bound(fused, threads, bytes);
        let moved = function("moved");
        hand_over(fused, moved);
        assert!(
            OF_FUSED
                .iter()
                .all(|name| fused.string_attribute(name).is_none())
        );
        OF_FUSED.map(|name| moved.string_attribute(name))
    }

    #[test]
    fn every_demand_is_kept() {
        let text = |bounds: [Option<&str>; 3]| bounds.map(|bound| bound.map(str::to_owned));
        let bounded: &[(&str, &str)] = &[("nvvm.maxntid", "256"), ("nvvm.minctasm", "4")];
        let plane: &[(&str, &str)] = &[("nvvm.maxntid", "16,8"), ("nvvm.minctasm", "2")];
        let few: &[(&str, &str)] = &[("nvvm.maxnreg", "40")];
        let fewer: &[(&str, &str)] = &[("nvvm.maxnreg", "32")];
        assert_eq!(
            bounds(&[&[], &[]], 1024, 0),
            text([Some("1024"), None, None])
        );
        assert_eq!(
            bounds(&[bounded, plane], 128, 0),
            text([Some("128"), Some("8"), None])
        );
        assert_eq!(
            bounds(&[plane, &[]], 64, 0),
            text([Some("64"), Some("4"), None])
        );
        // No block of the fused kernel has so few threads that one would be asked for.
        assert_eq!(bounds(&[plane], 512, 0), text([Some("512"), None, None]));
        assert_eq!(
            bounds(&[bounded], 32, 0),
            text([Some("32"), Some("16"), None])
        );
        assert_eq!(
            bounds(&[bounded], 64, 40 << 10),
            text([Some("64"), Some("5"), None])
        );
        assert_eq!(
            bounds(&[few, fewer], 64, 0),
            text([Some("64"), None, Some("32")])
        );
    }
}
