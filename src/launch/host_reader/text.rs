//! What LLVM keeps as text: names, constant strings, places in the source.

use crate::diagnostics::{Location, source_path};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

/// The bytes of a constant that is a text, and that nobody replaces.
pub(super) unsafe fn constant_text(global: LLVMValueRef) -> Option<Vec<u8>> {
    // SAFETY: called for globals only; the bytes live as long as the initialiser.
    unsafe {
        let value = LLVMGetInitializer(global);
        if LLVMIsGlobalConstant(global) == 0 || value.is_null() {
            return None;
        }
        if LLVMIsNull(value) != 0 {
            return Some(Vec::new());
        }
        if LLVMIsAConstantDataSequential(value).is_null() || LLVMIsConstantString(value) == 0 {
            return None;
        }
        let mut length = 0;
        let bytes = LLVMGetAsString(value, &raw mut length);
        Some(std::slice::from_raw_parts(bytes.cast::<u8>(), length).to_vec())
    }
}

/// The name of a function or global.
pub(super) unsafe fn value_name(value: LLVMValueRef) -> String {
    // SAFETY: the name lives as long as the value and `length` bytes of it are readable.
    unsafe {
        let mut length = 0;
        let name = LLVMGetValueName2(value, &raw mut length);
        if name.is_null() || length == 0 {
            return String::new();
        }
        let bytes = std::slice::from_raw_parts(name.cast::<u8>(), length);
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// The user's place: out of the CUDA headers' own wrappers, along the inlining.
pub(super) unsafe fn location(instruction: LLVMValueRef) -> Location {
    // SAFETY: debug metadata lives as long as its module; every file name is a C string or null.
    unsafe {
        let mut place = LLVMInstructionGetDebugLoc(instruction);
        let mut found = Location::default();
        while !place.is_null() {
            let scope = LLVMDILocationGetScope(place);
            let file = if scope.is_null() {
                std::ptr::null_mut()
            } else {
                LLVMDIScopeGetFile(scope)
            };
            if !file.is_null() {
                let mut length = 0;
                let text = |start: *const libc::c_char, length: u32| {
                    if length == 0 {
                        return String::new();
                    }
                    let bytes = std::slice::from_raw_parts(start.cast::<u8>(), length as usize);
                    String::from_utf8_lossy(bytes).into_owned()
                };
                let name = LLVMDIFileGetFilename(file, &raw mut length);
                let name = text(name, length);
                let directory = LLVMDIFileGetDirectory(file, &raw mut length);
                found = Location {
                    file: source_path(&text(directory, length), &name),
                    line: LLVMDILocationGetLine(place),
                    column: LLVMDILocationGetColumn(place),
                };
            }
            let name = found.file.rsplit('/').next().unwrap_or_default();
            if !name.starts_with("cuda_runtime") {
                break;
            }
            place = LLVMDILocationGetInlinedAt(place);
        }
        found
    }
}
