//! What the functions that host code calls do: the CUDA runtime, the CUDA driver, CUDA's libraries, and
//! the C and C++ libraries.
//!
//! Tables only. A function that is in none of them is unknown: a fence that may read and write
//! everything that ever left the module's sight.
//!
//! Here stands which node of the launch graph a call of the CUDA runtime is. What LLVM may assume of it,
//! and whether the host sees what kernels write after it, stands in `program::runtime_effects`.

mod device_library;
mod driver;
mod host_library;
mod neural_library;
mod runtime;
mod sparse_library;
mod standard_library;

pub use device_library::{
    DeviceLibraryCall, Extent, Part, device_library_call, hides_memory, is_device_library,
    library_of, sets_stream,
};
pub use host_library::{LibraryCall, is_library_name, is_stream, library_call};
pub use standard_library::{STRING_BUFFER_OFFSET, STRING_BYTES};

use super::MemoryKind;

/// A number of bytes, by position of the arguments that tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The value of an argument.
    Argument(usize),
    /// The value of an argument times so many bytes.
    Elements(usize, i64),
    /// Not told.
    Unknown,
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// By an argument of type `cudaMemcpyKind`.
    Argument(usize),
    /// Always host to device.
    HostToDevice,
    /// Always device to host.
    DeviceToHost,
    /// Always device to device.
    DeviceToDevice,
    /// Not told.
    Unknown,
}

/// Which stream a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStream {
    /// The default one, and the host waits.
    Waits,
    /// The one in an argument.
    Argument(usize),
}

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// All work of the device.
    Device,
    /// The work of the stream in an argument.
    Stream(usize),
    /// An event.
    Event,
}

/// What a call of the CUDA runtime does; numbers are positions of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Writes a pointer to new memory into a slot.
    Allocate {
        /// What memory.
        memory: MemoryKind,
        /// Address of the slot.
        slot: usize,
        /// Size.
        bytes: Size,
    },
    /// Frees.
    Free {
        /// The pointer.
        pointer: usize,
    },
    /// Copies.
    Copy {
        /// Where to.
        destination: usize,
        /// Where from.
        source: usize,
        /// How much.
        bytes: Size,
        /// Which way.
        direction: Direction,
        /// Which stream.
        stream: OnStream,
    },
    /// Copies to or from a device variable.
    SymbolCopy {
        /// The variable's shadow.
        symbol: usize,
        /// The other side.
        other: usize,
        /// How much.
        bytes: Size,
        /// Offset in the variable.
        offset: usize,
        /// It writes the variable.
        to_symbol: bool,
        /// Which way.
        direction: Direction,
        /// Which stream.
        stream: OnStream,
    },
    /// Fills.
    Set {
        /// Where.
        pointer: usize,
        /// How much.
        bytes: Size,
        /// Which stream.
        stream: OnStream,
    },
    /// Writes the device address of a variable into a slot.
    SymbolAddress {
        /// Address of the slot.
        slot: usize,
        /// The variable's shadow.
        symbol: usize,
    },
    /// Writes the device's address of pinned memory into a slot.
    DeviceAddress {
        /// Address of the slot.
        slot: usize,
        /// The host's address.
        host: usize,
    },
    /// Writes the handle of a kernel into a slot.
    Handle {
        /// Address of the slot.
        slot: usize,
        /// The kernel's stub, or another handle of it.
        kernel: usize,
    },
    /// Launches a kernel that is not known at this place.
    Launch {
        /// What leads to the kernel's arguments: an array of their addresses, or a list that names a
        /// parameter buffer.
        arguments: &'static [usize],
    },
    /// Waits.
    Synchronise(Waiting),
    /// Asks.
    Check,
    /// Handles streams and events.
    StreamOperation,
    /// Something that nothing may be moved across, with no effect on host memory but its outputs.
    Fence,
}

/// A call of the CUDA runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeCall {
    /// What it does.
    pub action: Action,
    /// Arguments through which it writes, other than its slot, and how many bytes (0: unknown).
    pub outputs: &'static [(usize, u64)],
}

/// The effect of a function of the CUDA runtime or driver; `None` when the tables do not have it.
pub fn runtime_call(name: &str) -> Option<RuntimeCall> {
    // Host code has many other functions, and is gone through often.
    if !name.starts_with("cu") {
        return None;
    }
    runtime::call(name).or_else(|| driver::call(name))
}

/// The prefix of a folded launch.
pub const FOLDED_LAUNCH: &str = "sirius.launch.";

/// Arguments of a folded launch before those of the kernel: site, stub, grid x and y, grid z, block
/// x and y, block z, shared bytes, stream.
pub const FOLDED_LAUNCH_HEAD: usize = 8;

/// True for functions of the CUDA runtime and driver, known or not.
pub fn is_cuda(name: &str) -> bool {
    let after = |prefix: &str| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.chars().next())
            .is_some_and(|first| first.is_ascii_uppercase())
    };
    name.starts_with(FOLDED_LAUNCH)
        || after("cuda")
        || after("cu")
        || name.starts_with("__cudaPush")
        || name.starts_with("__cudaPop")
}
