//! Passes over one function.

use super::{Value, c_string};
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPassesOnFunction,
};
use inkwell::targets::TargetMachine;
use std::ffi::CStr;

impl Value {
    /// Runs passes over a function for a machine, or as for no device in particular: some do nothing where
    /// threads of a warp may part.
    ///
    /// # Errors
    /// LLVM's message.
    pub(in crate::codegen) fn run_passes(
        self,
        passes: &str,
        machine: Option<&TargetMachine>,
    ) -> Result<(), String> {
        let passes = c_string(passes);
        let machine = machine.map_or(std::ptr::null_mut(), TargetMachine::as_mut_ptr);
        // SAFETY: callers pass a function with a body; no machine means no device; options and message
        // are disposed of once.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let error = LLVMRunPassesOnFunction(self.0, passes.as_ptr(), machine, options);
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
