//! Variables for a debugger: with `-G` those of the user's own device code stay in memory as long as they are in scope.
//!
//! The passes that turn a thread's memory into values, and those after them, keep what they cannot see through: a call of
//! `llvm.fake.use` takes the address of each such variable, and makes no code. Variables of headers of the toolkit and
//! of the system become values as ever, since their code counts on that.

use super::super::builder::Builder;
use super::super::ir::{self, Value};
use crate::cli::{Build, Device, Toolchain};
use crate::diagnostics::source_path;
use inkwell::module::Module;
use llvm_sys::LLVMDbgRecordKind;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDIVariableGetFile};
use llvm_sys::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// Keeps the variables of a device module in memory, where the build asks for that.
pub(in crate::program) fn keep_variables(
    device: &Module<'_>,
    build: &Build,
    toolchain: &Toolchain,
) {
    if !build.device_debug || build.device != Device::Cpu {
        return;
    }
    let clang = toolchain.clang.canonicalize();
    let clang = clang
        .as_deref()
        .ok()
        .and_then(|clang| clang.parent()?.parent());
    let system: Vec<&Path> = [
        Some(toolchain.toolkit.as_path()),
        toolchain.compatibility_header.parent(),
        clang,
        Some(Path::new("/usr")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let is_users = |file: &str| {
        !system
            .iter()
            .any(|folder| Path::new(file).starts_with(folder))
    };
    let kept: BTreeSet<Value> = ir::functions(device)
        .into_iter()
        .flat_map(Value::instructions)
        .flat_map(|instruction| described(instruction, &is_users))
        .filter(|variable| variable.opcode() == Some(LLVMOpcode::LLVMAlloca))
        .collect();
    if kept.is_empty() {
        return;
    }
    let keeper = keeper(device);
    for variable in kept {
        Builder::after(variable).call(keeper, &[variable]);
    }
}

/// The variables that debug information at an instruction declares, in files of the user.
fn described(instruction: Value, is_users: &impl Fn(&str) -> bool) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: walks the records of an instruction of a live module; texts are read with the length that LLVM gives.
    unsafe {
        let mut record = LLVMGetFirstDbgRecord(instruction.0);
        while !record.is_null() {
            if matches!(
                LLVMDbgRecordGetKind(record),
                LLVMDbgRecordKind::LLVMDbgRecordDeclare
            ) {
                let file = LLVMDIVariableGetFile(LLVMDbgVariableRecordGetVariable(record));
                let value = LLVMDbgVariableRecordGetValue(record, 0);
                if !file.is_null() && !value.is_null() && is_users(&path_of(file)) {
                    found.push(Value(value));
                }
            }
            record = LLVMGetNextDbgRecord(record);
        }
    }
    found
}

/// # Safety
/// The file is one of a live module.
unsafe fn path_of(file: LLVMMetadataRef) -> String {
    let text = |characters: *const std::ffi::c_char, length: u32| {
        // LLVM has no address for an empty text.
        if characters.is_null() {
            return String::new();
        }
        // SAFETY: LLVM gives both.
        let bytes = unsafe { std::slice::from_raw_parts(characters.cast(), length as usize) };
        String::from_utf8_lossy(bytes).into_owned()
    };
    let mut length = 0;
    // SAFETY: as promised.
    unsafe {
        let name = LLVMDIFileGetFilename(file, &mut length);
        let name = text(name, length);
        let directory = LLVMDIFileGetDirectory(file, &mut length);
        source_path(&text(directory, length), &name)
    }
}

/// The function that takes addresses.
fn keeper(device: &Module<'_>) -> Value {
    let name = c"llvm.fake.use";
    // SAFETY: a live module; a function of the same name there has the same type, which LLVM says.
    unsafe {
        let module = device.as_mut_ptr();
        let known = LLVMGetNamedFunction(module, name.as_ptr());
        if !known.is_null() {
            return Value(known);
        }
        let void = LLVMVoidTypeInContext(LLVMGetModuleContext(module));
        let any = LLVMFunctionType(void, std::ptr::null_mut(), 0, 1);
        Value(LLVMAddFunction(module, name.as_ptr(), any))
    }
}
