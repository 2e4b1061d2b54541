//! Passes over one function that are to know nothing of a device.

use super::{Value, c_string};
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPassesOnFunction,
};
use std::ffi::CStr;

impl Value {
    /// Runs passes over a function as for no device in particular: some do nothing where threads of a
    /// warp may part.
    ///
    /// # Errors
    /// LLVM's message.
    pub(in crate::codegen) fn run_passes(self, passes: &str) -> Result<(), String> {
        let passes = c_string(passes);
        // SAFETY: callers pass a function with a body; no machine means no device; options and message
        // are disposed of once.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let none = std::ptr::null_mut();
            let error = LLVMRunPassesOnFunction(self.0, passes.as_ptr(), none, options);
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                return Ok(());
            }
            let message = LLVMGetErrorMessage(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(message);
            Err(text)
        }
    }
}
