//! Operands of `asm` in device code that have to be numbers and that clang did not compute: it lets objects of classes through, of which nvcc
//! takes what they convert to.

use super::ir::{self, Value};
use crate::cli::ToolError;
use inkwell::context::Context;
use inkwell::module::Module;
use llvm_sys::core::*;
use std::path::Path;

/// What clang says where it sees such an operand, which [`super::source_repairs`] mends.
pub(super) const MESSAGE: &str = "constraint 'n' expects an integer constant expression";

/// Whether all operands in files of bitcode are numbers that have to be.
///
/// # Errors
/// An error as clang's would be, with a line for each statement that has another.
pub(super) fn all_are_numbers<'a>(device: impl Iterator<Item = &'a Path>) -> Result<(), ToolError> {
    let mut stderr = String::new();
    for path in device {
        let context = Context::create();
        // What cannot be read is reported where it is used.
        let Ok(module) = Module::parse_bitcode_from_path(path, &context) else {
            continue;
        };
        for function in ir::functions(&module) {
            for call in function.instructions() {
                if call.is_call() && lacks_number(call) {
                    let line = format!("{}: error: {MESSAGE}\n", place(call));
                    if !stderr.contains(&line) {
                        stderr += &line;
                    }
                }
            }
        }
    }
    if stderr.is_empty() {
        return Ok(());
    }
    Err(ToolError::Failed {
        program: "clang".to_owned(),
        status: Some(1),
        stderr,
    })
}

/// Whether a call executes assembly of which an operand has to be a number and is none.
fn lacks_number(call: Value) -> bool {
    let operands = call.operands();
    let Some(constraints) = operands.last().and_then(|called| constraints_of(*called)) else {
        return false;
    };
    let inputs = constraints
        .split(',')
        .filter(|constraint| !constraint.starts_with(['~', '!']))
        .filter(|constraint| !constraint.starts_with('=') || constraint.contains('*'));
    inputs.zip(operands).any(|(constraint, operand)| {
        // SAFETY: an operand of a live call.
        constraint == "n" && unsafe { LLVMIsAConstantInt(operand.0).is_null() }
    })
}

/// The constraints of inline assembly.
fn constraints_of(called: Value) -> Option<String> {
    // SAFETY: what a live call calls; the text lives as long as the assembly, and is copied.
    unsafe {
        if LLVMIsAInlineAsm(called.0).is_null() {
            return None;
        }
        let mut length = 0;
        let constraints = LLVMGetInlineAsmConstraintString(called.0, &raw mut length);
        let text = std::slice::from_raw_parts(constraints.cast::<u8>(), length);
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// Where a call is written, as clang says it.
fn place(call: Value) -> String {
    let text = |begin: *const std::ffi::c_char, length: u32| {
        if begin.is_null() {
            return String::new();
        }
        // SAFETY: LLVM gives a text of this length that lives as long as the module.
        let bytes = unsafe { std::slice::from_raw_parts(begin.cast::<u8>(), length as usize) };
        String::from_utf8_lossy(bytes).into_owned()
    };
    // SAFETY: a live call.
    let (folder, file, line, column) = unsafe {
        let mut lengths = (0, 0);
        let folder = LLVMGetDebugLocDirectory(call.0, &raw mut lengths.0);
        let file = LLVMGetDebugLocFilename(call.0, &raw mut lengths.1);
        (
            text(folder, lengths.0),
            text(file, lengths.1),
            LLVMGetDebugLocLine(call.0),
            LLVMGetDebugLocColumn(call.0),
        )
    };
    let path = Path::new(&folder).join(file);
    format!("{}:{line}:{column}", path.display())
}
