//! `new` and `delete` in device code: nvcc makes calls of `malloc` and `free` of them, clang those of functions that only
//! its header `<new>` defines for devices.

use super::super::ProgramError;
use crate::llvm::{self, Value};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::path::Path;

/// The forms of `new`, and those of `delete`, with the size and without.
const ALLOCATIONS: [&str; 2] = ["_Znwm", "_Znam"];
const RELEASES: [&str; 4] = ["_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"];

/// Defines those that a device module calls and does not define.
///
/// # Errors
/// [`ProgramError::Bitcode`] when LLVM does not take the definitions.
pub(in crate::program) fn define(
    device: &Module<'_>,
    source_file: &Path,
) -> Result<(), ProgramError> {
    let declared: Vec<String> = Value::functions(device)
        .into_iter()
        .filter(|function| function.is_declaration())
        .map(llvm::Value::name)
        .collect();
    let is_declared = |name: &&&str| declared.iter().any(|declared| declared == **name);
    // Nothing is as long as one byte: what two calls give is disjoint.
    let allocations = ALLOCATIONS.iter().filter(is_declared).map(|name| {
        format!(
            "define linkonce_odr ptr @{name}(i64 %bytes) alwaysinline {{\n  \
             %none = icmp eq i64 %bytes, 0\n  %size = select i1 %none, i64 1, i64 %bytes\n  \
             %memory = call ptr @malloc(i64 %size)\n  ret ptr %memory\n}}\n"
        )
    });
    let releases = RELEASES.iter().filter(is_declared).map(|name| {
        let size = if name.ends_with('m') {
            ", i64 %bytes"
        } else {
            ""
        };
        format!(
            "define linkonce_odr void @{name}(ptr %memory{size}) alwaysinline {{\n  \
             call void @free(ptr %memory)\n  ret void\n}}\n"
        )
    });
    let definitions: String = allocations.chain(releases).collect();
    if definitions.is_empty() {
        return Ok(());
    }
    let failed = |message: inkwell::support::LLVMString| ProgramError::Bitcode {
        source_file: source_file.to_owned(),
        message: message.to_string(),
    };
    let text = format!("declare ptr @malloc(i64)\ndeclare void @free(ptr)\n{definitions}\0");
    let text = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "device allocation");
    let library = device
        .get_context()
        .create_module_from_ir(text)
        .map_err(failed)?;
    library.set_triple(&device.get_triple());
    library.set_data_layout(&device.get_data_layout());
    device.link_in_module(library).map_err(failed)
}
