//! Folding, later: launches whose kernel is named by a handle (`CUfunction`) or a pointer in memory.
//!
//! Which kernel such a value stands for is found by the analysis of host memory; here the call becomes
//! one of `sirius.launch.N` by value, as other launches are. The runtime and the driver read the
//! arguments during the call; they are loaded right before it instead.
//!
//! Invariant: a call is folded only when its kernel's arguments are all understood, and a parameter
//! buffer only when it holds them all.

use super::super::launches::{self, KnownLaunch, calls_of};
use super::super::{HostVisibleMemory, Program, ProgramError, canonicalise_host, runtime_effects};
use crate::llvm::{Builder, Opcode, Type, Value};
use inkwell::module::Module;

/// Functions that launch a kernel that a value names, without what headers add to their names, and
/// where they have their operands.
pub const HANDLE_LAUNCHES: [HandleLaunch; 4] = [
    HandleLaunch {
        name: "cuLaunchKernel",
        kernel: 0,
        configuration: None,
        arguments: 9,
        extra: Some(10),
        by_driver: true,
    },
    HandleLaunch {
        name: "cuLaunchKernelEx",
        kernel: 1,
        configuration: Some(0),
        arguments: 2,
        extra: Some(3),
        by_driver: true,
    },
    HandleLaunch {
        name: "cudaLaunchKernel",
        kernel: 0,
        configuration: None,
        arguments: 5,
        extra: None,
        by_driver: false,
    },
    HandleLaunch {
        name: "cudaLaunchKernelExC",
        kernel: 1,
        configuration: Some(0),
        arguments: 2,
        extra: None,
        by_driver: false,
    },
];

/// Where the number of attributes stands in `CUlaunchConfig` and `cudaLaunchConfig_t`, in bytes.
pub const ATTRIBUTE_COUNT_OFFSET: i64 = 48;

/// A function that launches a kernel that a value names. Numbers are positions of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleLaunch {
    /// Its name.
    pub name: &'static str,
    /// The handle, or the stub's address.
    pub kernel: usize,
    /// A structure with grid, block and stream; `None`: they are operands.
    pub configuration: Option<usize>,
    /// The array of the arguments' addresses.
    pub arguments: usize,
    /// The list that names a parameter buffer.
    pub extra: Option<usize>,
    /// It is the driver's.
    pub by_driver: bool,
}

/// How a launch passes its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// No array and no buffer: the kernel has no parameters.
    Nothing,
    /// An array of addresses.
    Addresses,
    /// A buffer.
    Buffer {
        /// Which element of the list is the buffer's address.
        element: u64,
        /// Its size in bytes.
        bytes: u64,
    },
}

/// A launch whose kernel was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLaunch {
    /// Which one of the calls of [`HANDLE_LAUNCHES`], in the order of the host module.
    pub ordinal: usize,
    /// The kernel's stub.
    pub stub: String,
    /// How its arguments are passed.
    pub passing: Passing,
}

/// The function that launches by a handle under this name.
pub fn handle_launch(name: &str) -> Option<&'static HandleLaunch> {
    let plain = name.strip_suffix("_ptsz").unwrap_or(name);
    HANDLE_LAUNCHES.iter().find(|launch| launch.name == plain)
}

impl Program<'_> {
    /// Makes launches of known kernels of those calls; returns how many could be made. The functions
    /// that they are in are canonical again afterwards, and all launch sites have new numbers.
    ///
    /// # Errors
    /// [`ProgramError::Pass`] when LLVM refuses a pipeline or a step made an invalid module.
    pub fn fold_handles(&self, found: &[FoundLaunch]) -> Result<usize, ProgramError> {
        let host = &self.host;
        let mut calls = Vec::new();
        let mut launching = Value::functions(host);
        launching.retain(|function| handle_launch(&function.name()).is_some());
        for call in calls_of(host, launching) {
            let launch = call.called_name().and_then(|name| handle_launch(&name));
            if let Some(launch) = launch {
                calls.push((call.function_of_instruction(), call, launch));
            }
        }
        let mut changed: Vec<Value> = Vec::new();
        let mut folded = 0;
        for found in found {
            let Some((function, call, launch)) = calls.get(found.ordinal) else {
                continue;
            };
            if fold(host, *call, launch, found) {
                folded += 1;
                if !changed.contains(function) {
                    changed.push(*function);
                }
            }
        }
        if folded > 0 {
            let visible = self.host_visible_memory != HostVisibleMemory::Nothing;
            runtime_effects::declare(host, visible);
            canonicalise_host::canonicalise_again(host, &changed)?;
        }
        Ok(folded)
    }
}

/// Folds one call; false when its kernel's arguments are not understood.
fn fold<'ctx>(
    module: &Module<'ctx>,
    call: Value<'ctx>,
    launch: &HandleLaunch,
    found: &FoundLaunch,
) -> bool {
    let Some(stub) = Value::function(module, &found.stub) else {
        return false;
    };
    let Some(types) = launches::argument_types(stub) else {
        return false;
    };
    let operands = call.call_arguments();
    let builder = Builder::before(call);
    let pointer = Type::pointer(module, 0);
    let mut arguments = Vec::new();
    match found.passing {
        Passing::Nothing if types.is_empty() => {}
        Passing::Nothing => return false,
        Passing::Addresses => {
            for (index, (contents, _)) in types.iter().enumerate() {
                let array = operands[launch.arguments];
                let entry = builder.element(pointer, array, index as u64);
                let address = builder.load(pointer, entry);
                arguments.push(builder.load_aligned(*contents, address, 1));
            }
        }
        Passing::Buffer { element, bytes } => {
            let mut offsets = Vec::new();
            let mut end = 0_u64;
            for (contents, alignment) in &types {
                let start = end.next_multiple_of((*alignment).max(1));
                offsets.push(start);
                end = start + contents.access_bytes(module);
            }
            // A longer buffer is refused by the driver, which the launch has to find out.
            let Some(list) = launch.extra.filter(|_| end == bytes) else {
                return false;
            };
            let entry = builder.element(pointer, operands[list], element);
            let buffer = builder.load(pointer, entry);
            let byte = Type::integer(module, 8);
            for ((contents, _), offset) in types.iter().zip(offsets) {
                let address = builder.element(byte, buffer, offset);
                arguments.push(builder.load_aligned(*contents, address, 1));
            }
        }
    }
    let configuration = match launch.configuration {
        Some(structure) => structured(module, &builder, operands[structure], launch.by_driver),
        None if launch.by_driver => separate(module, &builder, &operands),
        None => [
            operands[1],
            operands[2],
            operands[3],
            operands[4],
            operands[6],
            operands[7],
        ],
    };
    drop(builder);
    let known = KnownLaunch {
        call,
        stub,
        configuration,
        arguments: &arguments,
        by_driver: launch.by_driver,
    };
    launches::replace(module, &known);
    true
}

/// The configuration of `cuLaunchKernel`.
fn separate<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    operands: &[Value<'ctx>],
) -> [Value<'ctx>; 6] {
    let long = Type::integer(module, 64);
    [
        packed(module, builder, operands[1], operands[2]),
        operands[3],
        packed(module, builder, operands[4], operands[5]),
        operands[6],
        builder.cast(Opcode::LLVMZExt, operands[7], long),
        operands[8],
    ]
}

/// The configuration in a `CUlaunchConfig` or `cudaLaunchConfig_t`: six extents, the shared bytes (32
/// bits for the driver, 64 for the runtime), the stream.
fn structured<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    structure: Value<'ctx>,
    by_driver: bool,
) -> [Value<'ctx>; 6] {
    const SHARED_BYTES_OFFSET: u64 = 24;
    const STREAM_OFFSET: u64 = 32;
    let (byte, int) = (Type::integer(module, 8), Type::integer(module, 32));
    let (long, pointer) = (Type::integer(module, 64), Type::pointer(module, 0));
    let field = |kind: Type, offset: u64| {
        let place = builder.element(byte, structure, offset);
        builder.load_aligned(kind, place, 1)
    };
    let extents: Vec<Value> = (0..6).map(|axis| field(int, 4 * axis)).collect();
    let shared_bytes = if by_driver {
        builder.cast(Opcode::LLVMZExt, field(int, SHARED_BYTES_OFFSET), long)
    } else {
        field(long, SHARED_BYTES_OFFSET)
    };
    [
        packed(module, builder, extents[0], extents[1]),
        extents[2],
        packed(module, builder, extents[3], extents[4]),
        extents[5],
        shared_bytes,
        field(pointer, STREAM_OFFSET),
    ]
}

/// Two 32-bit values as one of 64 bits, the first in the low half.
pub(super) fn packed<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    low: Value<'ctx>,
    high: Value<'ctx>,
) -> Value<'ctx> {
    let long = Type::integer(module, 64);
    let high = builder.binary(
        Opcode::LLVMShl,
        builder.cast(Opcode::LLVMZExt, high, long),
        long.constant(32),
    );
    builder.binary(
        Opcode::LLVMOr,
        high,
        builder.cast(Opcode::LLVMZExt, low, long),
    )
}
