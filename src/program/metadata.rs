//! What is attached to instructions.

use super::ir::Value;
use inkwell::module::Module;
use llvm_sys::core::*;

impl Value {
    /// Whether an instruction has metadata of a kind.
    pub(super) fn has_metadata(self, module: &Module<'_>, kind: &str) -> bool {
        // SAFETY: a live instruction.
        unsafe { !LLVMGetMetadata(self.0, metadata_kind(module, kind)).is_null() }
    }

    /// Removes the metadata of a kind from an instruction.
    pub(super) fn remove_metadata(self, module: &Module<'_>, kind: &str) {
        // SAFETY: a live instruction; a null node removes.
        unsafe {
            LLVMSetMetadata(self.0, metadata_kind(module, kind), std::ptr::null_mut());
        }
    }

    /// Gives an instruction empty metadata of a kind.
    pub(super) fn add_metadata(self, module: &Module<'_>, kind: &str) {
        // SAFETY: a live instruction; the empty node belongs to its context.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let node = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
            let id = metadata_kind(module, kind);
            LLVMSetMetadata(self.0, id, LLVMMetadataAsValue(context, node));
        }
    }
}

fn metadata_kind(module: &Module<'_>, name: &str) -> u32 {
    // SAFETY: a live module, and a text of that length.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32)
    }
}
