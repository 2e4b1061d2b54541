//! Who sees a function or a variable, and what may be made of that.

use super::*;
use inkwell::llvm_sys::comdat::{LLVMGetComdat, LLVMSetComdat};
use inkwell::llvm_sys::{LLVMUnnamedAddr, LLVMVisibility};

/// A group of sections, told from others of its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SectionGroup(usize);

impl<'ctx> Value<'ctx> {
    /// The aliases of a module.
    pub(crate) fn aliases(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
        // SAFETY: the module is alive.
        iterate(
            unsafe { Self::checked(LLVMGetFirstGlobalAlias(module.as_mut_ptr())) },
            |at| unsafe { Self::checked(LLVMGetNextGlobalAlias(at.0)) },
        )
    }

    /// What an alias stands for.
    pub(crate) fn aliasee(self) -> Value<'ctx> {
        // SAFETY: the handle is alive by the invariant of this module (so below); callers pass aliases.
        Value::new(unsafe { LLVMAliasGetAliasee(self.0) })
    }

    /// Whether a module resolves a symbol when the program is loaded.
    pub(crate) fn any_resolver(module: &Module) -> bool {
        // SAFETY: the module is alive.
        unsafe { !LLVMGetFirstGlobalIFunc(module.as_mut_ptr()).is_null() }
    }

    /// Whether a module has assembly of its own, outside functions.
    pub(crate) fn has_assembly(module: &Module) -> bool {
        let mut length = 0;
        // SAFETY: the module is alive; only the length is looked at.
        unsafe { LLVMGetModuleInlineAsm(module.as_mut_ptr(), &mut length) };
        length > 0
    }

    /// Whether it is a function, a variable or an alias.
    pub(crate) fn is_global(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAGlobalValue(self.0).is_null() }
    }

    /// Whether it is the address of a block.
    pub(crate) fn is_block_address(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsABlockAddress(self.0).is_null() }
    }

    /// Whether nobody compares its address with others'.
    pub(crate) fn is_address_unnamed(self) -> bool {
        // SAFETY: as above; callers pass global values.
        unsafe { LLVMGetUnnamedAddress(self.0) == LLVMUnnamedAddr::LLVMGlobalUnnamedAddr }
    }

    /// The group of sections, of which the linker keeps one, that a function or variable belongs to.
    pub(crate) fn section_group(self) -> Option<SectionGroup> {
        // SAFETY: as above; callers pass functions and variables.
        let group = unsafe { LLVMGetComdat(self.0) };
        (!group.is_null()).then_some(SectionGroup(group as usize))
    }

    /// Takes a function or variable out of its group of sections, of which the linker keeps one; an alias is in none of
    /// its own.
    pub(crate) fn leave_section_group(self) {
        if self.is_function() || self.is_global_variable() {
            // SAFETY: as above; functions and variables may be in no group.
            unsafe { LLVMSetComdat(self.0, std::ptr::null_mut()) }
        }
    }

    /// Who sees it when modules are linked.
    pub(crate) fn linkage(self) -> LLVMLinkage {
        // SAFETY: as above.
        unsafe { LLVMGetLinkage(self.0) }
    }

    /// Changes who sees it; what only its module sees is in no group of sections.
    pub(crate) fn set_linkage(self, linkage: LLVMLinkage) {
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

    /// Lets nobody outside of the program or shared library see it.
    pub(crate) fn set_hidden(self) {
        // SAFETY: as above.
        unsafe {
            LLVMSetVisibility(self.0, LLVMVisibility::LLVMHiddenVisibility);
        }
    }

    /// Whether only its module sees it.
    pub(crate) fn is_local(self) -> bool {
        matches!(
            self.linkage(),
            LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
        )
    }

    /// Whether it is another name for a function or variable.
    pub(crate) fn is_alias(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAGlobalAlias(self.0).is_null() }
    }

    /// Whether nothing needs to define it.
    pub(crate) fn is_weak_reference(self) -> bool {
        self.linkage() == LLVMLinkage::LLVMExternalWeakLinkage
    }

    /// True when another definition may take its place at link time.
    pub(crate) fn is_interposable(self) -> bool {
        matches!(
            self.linkage(),
            LLVMLinkage::LLVMWeakAnyLinkage
                | LLVMLinkage::LLVMLinkOnceAnyLinkage
                | LLVMLinkage::LLVMExternalWeakLinkage
                | LLVMLinkage::LLVMCommonLinkage
        )
    }

    /// Makes it an ordinary external definition without a comdat.
    pub(crate) fn make_external(self) {
        self.leave_section_group();
        self.set_linkage(LLVMLinkage::LLVMExternalLinkage);
    }
}
