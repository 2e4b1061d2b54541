//! Sizes and places of what lies in memory, by a module's data layout.

use super::*;
use inkwell::llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement,
    LLVMStoreSizeOfType, LLVMTargetDataRef,
};

/// How a module lays out its types.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'m>(LLVMTargetDataRef, PhantomData<&'m ()>);

impl<'m> Layout<'m> {
    fn new(raw: LLVMTargetDataRef) -> Self {
        Self(raw, PhantomData)
    }

    /// That of a module.
    pub(crate) fn of(module: &'m Module) -> Self {
        // SAFETY: the module is alive.
        Self::new(unsafe { LLVMGetModuleDataLayout(module.as_mut_ptr()) })
    }

    /// That of the module that a function is in.
    pub(crate) fn of_function(function: Value<'m>) -> Self {
        // SAFETY: the function is alive, and in a module.
        Self::new(unsafe { LLVMGetModuleDataLayout(LLVMGetGlobalParent(function.0)) })
    }

    /// Bytes that an object of a type takes in an array.
    pub(crate) fn allocation_bytes(self, ty: Type) -> u64 {
        // SAFETY: module and type are alive (so below).
        unsafe { LLVMABISizeOfType(self.0, ty.0) }
    }

    /// Bytes that a load or store of a type touches.
    pub(crate) fn access_bytes(self, ty: Type) -> u64 {
        // SAFETY: as above.
        unsafe { LLVMStoreSizeOfType(self.0, ty.0) }
    }

    /// Natural alignment in bytes.
    pub(crate) fn alignment(self, ty: Type) -> u32 {
        // SAFETY: as above.
        unsafe { LLVMABIAlignmentOfType(self.0, ty.0) }
    }

    /// How many bytes behind its start a struct has a field; callers stay below its length.
    pub(crate) fn field_offset(self, ty: Type, field: u32) -> u64 {
        // SAFETY: as above.
        unsafe { LLVMOffsetOfElement(self.0, ty.0, field) }
    }
}

impl<'ctx> Type<'ctx> {
    /// Bytes that an object of this type takes in an array.
    pub(crate) fn allocation_bytes(self, module: &Module) -> u64 {
        Layout::of(module).allocation_bytes(self)
    }

    /// Bytes that a load or store of this type touches.
    pub(crate) fn access_bytes(self, module: &Module) -> u64 {
        Layout::of(module).access_bytes(self)
    }

    /// Whether it is a number, a pointer or a vector of such, and no struct or array.
    pub(crate) fn is_passed_in_registers(self) -> bool {
        use LLVMTypeKind::*;
        let kind = self.kind();
        matches!(
            kind,
            LLVMIntegerTypeKind
                | LLVMHalfTypeKind
                | LLVMBFloatTypeKind
                | LLVMFloatTypeKind
                | LLVMDoubleTypeKind
                | LLVMPointerTypeKind
                | LLVMVectorTypeKind
        )
    }

    /// Natural alignment in bytes.
    pub(crate) fn alignment(self, module: &Module) -> u32 {
        Layout::of(module).alignment(self)
    }
}

impl<'ctx> Value<'ctx> {
    /// How many bytes behind its base an address is that a `getelementptr` computes from constants alone.
    pub(crate) fn constant_distance(self, module: &Module) -> Option<i64> {
        let mut shape = self.element_pointer_source_type();
        let mut distance = 0_i64;
        for (position, index) in self.operands().into_iter().skip(1).enumerate() {
            let constant = index.constant_integer()?;
            if position > 0 && shape.kind() == LLVMTypeKind::LLVMStructTypeKind {
                let field = u32::try_from(constant).ok()?;
                let bytes = Layout::of(module).field_offset(shape, field);
                distance = distance.checked_add(i64::try_from(bytes).ok()?)?;
                shape = shape.field(field);
                continue;
            }
            if position > 0 {
                shape = shape.element();
            }
            let stride = i64::try_from(shape.allocation_bytes(module)).ok()?;
            let index = index.signed_integer()?;
            distance = distance.checked_add(index.checked_mul(stride)?)?;
        }
        Some(distance)
    }
}
