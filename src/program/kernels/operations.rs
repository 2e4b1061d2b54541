//! Kernels that do what `cudaMemset` and copies within the device do, so that these can be segments
//! of a fused kernel.
//!
//! Each is a loop over elements of one size, from the thread's number in a line of blocks by the
//! number of all threads: it does the same in every launch shape that has one axis, provided that the
//! elements fill the bytes. They are part of no image; an operation that is not fused stays the call
//! that it was.

use super::super::{Kernel, KernelId, ProgramError, Unit};
use crate::llvm::Value;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// What an operation does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// Sets bytes: pointer, value, number of bytes.
    Set,
    /// Copies bytes within the device: destination, source, number of bytes.
    Copy,
}

/// A function of the runtime or the driver that is an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationCall {
    /// Its name without what headers add to it.
    pub name: &'static str,
    /// What it does.
    pub kind: OperationKind,
    /// The operand that says from where to where it copies, in the runtime's numbers.
    pub direction: Option<usize>,
    /// The operand that is its stream, else the default one.
    pub stream: Option<usize>,
}

/// The operations: all have the operands of their [`OperationKind`] first.
pub const OPERATIONS: [OperationCall; 6] = [
    OperationCall {
        name: "cudaMemset",
        kind: OperationKind::Set,
        direction: None,
        stream: None,
    },
    OperationCall {
        name: "cudaMemsetAsync",
        kind: OperationKind::Set,
        direction: None,
        stream: Some(3),
    },
    OperationCall {
        name: "cudaMemcpy",
        kind: OperationKind::Copy,
        direction: Some(3),
        stream: None,
    },
    OperationCall {
        name: "cudaMemcpyAsync",
        kind: OperationKind::Copy,
        direction: Some(3),
        stream: Some(4),
    },
    OperationCall {
        name: "cuMemcpyDtoD_v2",
        kind: OperationKind::Copy,
        direction: None,
        stream: None,
    },
    OperationCall {
        name: "cuMemcpyDtoDAsync_v2",
        kind: OperationKind::Copy,
        direction: None,
        stream: Some(3),
    },
];

/// `cudaMemcpyDeviceToDevice`.
pub const DEVICE_TO_DEVICE: u64 = 3;

/// The sizes of elements for which there are kernels, largest first.
pub const ELEMENT_BYTES: [u32; 4] = [8, 4, 2, 1];

/// The operation under a name of the host's.
pub fn operation_call(name: &str) -> Option<&'static OperationCall> {
    let plain = name
        .strip_suffix("_ptsz")
        .or_else(|| name.strip_suffix("_ptds"))
        .unwrap_or(name);
    OPERATIONS.iter().find(|operation| operation.name == plain)
}

/// The name of the kernel for elements of so many bytes.
pub fn operation_kernel(kind: OperationKind, element_bytes: u32) -> String {
    match kind {
        OperationKind::Set => format!("sirius.set.{element_bytes}"),
        OperationKind::Copy => format!("sirius.copy.{element_bytes}"),
    }
}

/// What the user calls an operation, by the name of its kernel.
pub fn operation_name(kernel: &str) -> Option<&'static str> {
    if kernel.starts_with("sirius.set.") {
        Some("cudaMemset")
    } else if kernel.starts_with("sirius.copy.") {
        Some("cudaMemcpy")
    } else {
        None
    }
}

/// The kernels for all operations that the host calls, and their entries after those of the units;
/// `None` where it calls none.
pub(in crate::program) fn kernels<'ctx>(
    context: &'ctx Context,
    host: &Module<'_>,
    units: &[Unit<'ctx>],
    kernels: &mut Vec<Kernel>,
) -> Result<Option<Module<'ctx>>, ProgramError> {
    let Some(unit) = units.first().filter(|_| !kernels.is_empty()) else {
        return Ok(None);
    };
    let mut text = String::new();
    for kind in [OperationKind::Set, OperationKind::Copy] {
        let is_called = Value::functions(host).into_iter().any(|function| {
            let operation = operation_call(&function.name());
            operation.is_some_and(|operation| operation.kind == kind)
                && !function.users().is_empty()
        });
        for element_bytes in ELEMENT_BYTES.into_iter().filter(|_| is_called) {
            let name = operation_kernel(kind, element_bytes);
            text += &kernel_text(kind, element_bytes, &name);
            kernels.push(Kernel {
                id: KernelId(kernels.len()),
                name: name.clone(),
                unique_name: name.clone(),
                stub: name,
                unit: units.len(),
                iteration_of: None,
                ended_threads_wait: false,
            });
        }
    }
    if text.is_empty() {
        return Ok(None);
    }
    for register in ["tid", "ntid", "ctaid", "nctaid"] {
        text += &format!("declare i32 @llvm.nvvm.read.ptx.sreg.{register}.x()\n");
    }
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "operations");
    let module = context
        .create_module_from_ir(buffer)
        .map_err(|error| ProgramError::Pass {
            pipeline: String::from("kernels for operations"),
            message: error.to_string(),
        })?;
    module.set_triple(&unit.device.get_triple());
    module.set_data_layout(&unit.device.get_data_layout());
    Ok(Some(module))
}

fn kernel_text(kind: OperationKind, element_bytes: u32, name: &str) -> String {
    let (bits, size) = (8 * element_bytes, element_bytes);
    let (parameters, value, element) = match kind {
        OperationKind::Set => (
            "ptr %to, i32 %value, i64 %bytes",
            format!(
                "%byte = trunc i32 %value to i8\n\
                 %wide = zext i8 %byte to i{bits}\n\
                 %element = mul i{bits} %wide, {}\n",
                0x0101_0101_0101_0101_u64 & (u64::MAX >> (64 - bits)),
            ),
            String::new(),
        ),
        OperationKind::Copy => (
            "ptr %to, ptr %from, i64 %bytes",
            String::new(),
            format!(
                "%source = getelementptr inbounds i8, ptr %from, i64 %at\n\
                 %element = load i{bits}, ptr %source, align {size}\n"
            ),
        ),
    };
    // A zero extension of the same width is none.
    let value = value
        .replace("%wide = zext i8 %byte to i8\n", "")
        .replace("mul i8 %wide", "mul i8 %byte");
    let read = |register: &str| {
        format!(
            "%{register} = call i32 @llvm.nvvm.read.ptx.sreg.{register}.x()\n\
             %{register}.wide = zext i32 %{register} to i64\n"
        )
    };
    format!(
        "define ptx_kernel void @\"{name}\"({parameters}) {{\nentry:\n{}{}{}{}{value}\
         %before = mul nuw nsw i64 %ctaid.wide, %ntid.wide\n\
         %first = add nuw nsw i64 %before, %tid.wide\n\
         %step = mul nuw nsw i64 %nctaid.wide, %ntid.wide\n\
         br label %header\nheader:\n\
         %i = phi i64 [ %first, %entry ], [ %next, %body ]\n\
         %at = mul nuw nsw i64 %i, {size}\n\
         %last = add nuw nsw i64 %at, {}\n\
         %more = icmp slt i64 %last, %bytes\n\
         br i1 %more, label %body, label %exit\nbody:\n{element}\
         %target = getelementptr inbounds i8, ptr %to, i64 %at\n\
         store i{bits} %element, ptr %target, align {size}\n\
         %next = add nuw nsw i64 %i, %step\n\
         br label %header\nexit:\nret void\n}}\n",
        read("tid"),
        read("ntid"),
        read("ctaid"),
        read("nctaid"),
        size - 1,
    )
}
