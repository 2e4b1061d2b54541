//! What LLVM has to say while it works on a module.

use crate::output::tell;
use inkwell::context::AsContextRef;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription,
    LLVMGetDiagInfoSeverity,
};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::module::Module;
use std::ffi::{CStr, c_void};

/// Lets LLVM say errors only, from a module's context: of loops that it does not unroll and the like, of which it would
/// warn once for each copy of a kernel, nvcc says nothing either.
pub(crate) fn hear_errors_only(module: &Module<'_>) {
    let context = module.get_context().as_ctx_ref();
    // SAFETY: the context is alive, and the handler needs nothing that could end before it.
    unsafe { LLVMContextSetDiagnosticHandler(context, Some(hear), std::ptr::null_mut()) };
}

/// After an error LLVM has no result to go on with, so that its own handler ends the process, too.
extern "C" fn hear(said: LLVMDiagnosticInfoRef, _: *mut c_void) {
    // SAFETY: LLVM passes what it says now.
    if unsafe { LLVMGetDiagInfoSeverity(said) } != LLVMDiagnosticSeverity::LLVMDSError {
        return;
    }
    // SAFETY: as above; the text is ours to dispose of, which is done once.
    let text = unsafe {
        let description = LLVMGetDiagInfoDescription(said);
        let text = CStr::from_ptr(description).to_string_lossy().into_owned();
        LLVMDisposeMessage(description);
        text
    };
    tell(format_args!("error: {text}\n"));
    std::process::exit(1);
}
