//! Why a kernel whose accesses are all known fuses with nothing nevertheless.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that a fused kernel could not be proven to keep. The kernel's accesses are complete, so
/// that its neighbours are ordered by what it really touches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Unfusable {
    /// Orders memory for threads of other blocks, which then communicate.
    MemoryFence,
    /// Volatile accesses to global memory: blocks may wait for each other.
    VolatileMemory,
    /// Atomic loads or stores, or atomics with an order.
    AtomicOrder,
    /// Reads a clock.
    Clock,
    /// Reads a register whose value the hardware chooses, or that fusion changes.
    HardwareRegister(String),
    /// It is compiled for clusters of blocks, which the grid has to be made of.
    Clusters,
    /// A barrier of part of the block.
    NamedBarrier,
    /// Sleeps, as threads do that wait for others.
    Sleep,
    /// Barriers in shared memory, and copies that signal them.
    SharedBarrier,
    /// Textures and surfaces, which are read through a path of their own.
    Texture,
    /// Allocates device memory.
    Allocation,
    /// The address of a local variable is kept somewhere.
    EscapingAddress,
    /// A cycle of its control flow has several entries.
    IrreducibleLoop,
}

impl Unfusable {
    /// The stable name of the reason.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MemoryFence => "memory_fence",
            Self::VolatileMemory => "volatile_memory",
            Self::AtomicOrder => "atomic_order",
            Self::Clock => "clock",
            Self::HardwareRegister(_) => "hardware_register",
            Self::Clusters => "clusters",
            Self::NamedBarrier => "named_barrier",
            Self::Sleep => "sleep",
            Self::SharedBarrier => "shared_barrier",
            Self::Texture => "texture",
            Self::Allocation => "allocation",
            Self::EscapingAddress => "escaping_address",
            Self::IrreducibleLoop => "irreducible_loop",
        }
    }
}

impl fmt::Display for Unfusable {
    /// A clause that follows the kernel's name.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clause = match self {
            Self::MemoryFence => "uses a memory fence",
            Self::VolatileMemory => "accesses volatile global memory",
            Self::AtomicOrder => "orders memory by atomics",
            Self::Clock => "reads a clock",
            Self::HardwareRegister(name) => {
                return write!(formatter, "reads the register %{name}");
            }
            Self::Clusters => "is compiled for clusters of blocks",
            Self::NamedBarrier => "uses a named barrier",
            Self::Sleep => "sleeps",
            Self::SharedBarrier => "uses barriers in shared memory",
            Self::Texture => "uses textures or surfaces",
            Self::Allocation => "allocates device memory",
            Self::EscapingAddress => "lets the address of a local variable escape",
            Self::IrreducibleLoop => "has a cycle with several entries",
        };
        formatter.write_str(clause)
    }
}
