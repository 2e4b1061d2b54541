//! Bitcode of which little is needed.

use inkwell::context::AsContextRef;
#[expect(
    deprecated,
    reason = "the newer one ends the process where bitcode is damaged"
)]
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext;
use inkwell::llvm_sys::core::LLVMDisposeMessage;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::ffi::CStr;

/// A module whose functions have no bodies to look into: each is read where the module is linked into another one that needs
/// it, so that it is for linking alone.
///
/// # Errors
/// What LLVM says of bitcode that it cannot read.
pub(crate) fn read_for_linking<'ctx>(
    bitcode: MemoryBuffer<'static>,
    context: impl AsContextRef<'ctx>,
) -> Result<Module<'ctx>, String> {
    let mut module = std::ptr::null_mut();
    let mut message = std::ptr::null_mut();
    // SAFETY: context and buffer are alive, and the results have places.
    #[expect(deprecated, reason = "as above")]
    let failed = unsafe {
        LLVMGetBitcodeModuleInContext(
            context.as_ctx_ref(),
            bitcode.as_mut_ptr(),
            &mut module,
            &mut message,
        ) != 0
    };
    if failed {
        // SAFETY: where it fails LLVM gives a text, which is ours to dispose of.
        return Err(unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeMessage(message);
            text
        });
    }
    // The module has the buffer now, which it reads the rest from.
    std::mem::forget(bitcode);
    // SAFETY: it is a module of this context that nobody else has.
    Ok(unsafe { Module::new(module) })
}
