//! Who sees a function or a variable, and what may be made of that.

use super::*;
use inkwell::llvm_sys::comdat::LLVMSetComdat;
use inkwell::llvm_sys::{LLVMUnnamedAddr, LLVMVisibility};

impl Value {
    /// The aliases of a module.
    pub(in crate::codegen) fn aliases(module: &Module) -> Vec<Value> {
        // SAFETY: the module is alive.
        iterate(
            unsafe { Self::checked(LLVMGetFirstGlobalAlias(module.as_mut_ptr())) },
            |at| unsafe { Self::checked(LLVMGetNextGlobalAlias(at.0)) },
        )
    }

    /// What an alias stands for.
    pub(in crate::codegen) fn aliasee(self) -> Value {
        // SAFETY: the handle is alive by the invariant of `ir` (so below); callers pass aliases.
        Value(unsafe { LLVMAliasGetAliasee(self.0) })
    }

    /// Whether a module resolves a symbol when the program is loaded.
    pub(in crate::codegen) fn any_resolver(module: &Module) -> bool {
        // SAFETY: the module is alive.
        unsafe { !LLVMGetFirstGlobalIFunc(module.as_mut_ptr()).is_null() }
    }

    /// Whether a module has assembly of its own, outside functions.
    pub(in crate::codegen) fn has_assembly(module: &Module) -> bool {
        let mut length = 0;
        // SAFETY: the module is alive; only the length is looked at.
        unsafe { LLVMGetModuleInlineAsm(module.as_mut_ptr(), &mut length) };
        length > 0
    }

    /// Whether it is a function, a variable or an alias.
    pub(in crate::codegen) fn is_global(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAGlobalValue(self.0).is_null() }
    }

    /// Whether it is the address of a block.
    pub(in crate::codegen) fn is_block_address(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsABlockAddress(self.0).is_null() }
    }

    /// Whether nobody compares its address with others'.
    pub(in crate::codegen) fn is_address_unnamed(self) -> bool {
        // SAFETY: as above; callers pass global values.
        unsafe { LLVMGetUnnamedAddress(self.0) == LLVMUnnamedAddr::LLVMGlobalUnnamedAddr }
    }

    /// Takes a function or variable out of its group of sections, of which the linker keeps one; an alias is in none of
    /// its own.
    pub(in crate::codegen) fn leave_section_group(self) {
        if self.is_function() || self.is_global_variable() {
            // SAFETY: as above; functions and variables may be in no group.
            unsafe { LLVMSetComdat(self.0, std::ptr::null_mut()) }
        }
    }

    pub(in crate::codegen) fn linkage(self) -> LLVMLinkage {
        // SAFETY: as above.
        unsafe { LLVMGetLinkage(self.0) }
    }

    pub(in crate::codegen) fn set_linkage(self, linkage: LLVMLinkage) {
        // SAFETY: as above. A local symbol must have default visibility.
        unsafe {
            if matches!(
                linkage,
                LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
            ) {
                LLVMSetVisibility(self.0, LLVMVisibility::LLVMDefaultVisibility);
                self.leave_section_group();
            }
            LLVMSetLinkage(self.0, linkage);
        }
    }

    pub(in crate::codegen) fn set_hidden(self) {
        // SAFETY: as above.
        unsafe {
            LLVMSetVisibility(self.0, LLVMVisibility::LLVMHiddenVisibility);
        }
    }

    pub(in crate::codegen) fn is_local(self) -> bool {
        matches!(
            self.linkage(),
            LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
        )
    }
}
