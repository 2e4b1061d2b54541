//! Sizes and places of what lies in memory, by a module's data layout.

use super::*;
use inkwell::llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement,
    LLVMStoreSizeOfType,
};

impl Type {
    /// Bytes that an object of this type takes in an array.
    pub(in crate::codegen) fn allocation_bytes(self, module: &Module) -> u64 {
        // SAFETY: module and type are alive.
        unsafe { LLVMABISizeOfType(LLVMGetModuleDataLayout(module.as_mut_ptr()), self.0) }
    }

    /// Bytes that a load or store of this type touches.
    pub(in crate::codegen) fn access_bytes(self, module: &Module) -> u64 {
        // SAFETY: module and type are alive.
        unsafe { LLVMStoreSizeOfType(LLVMGetModuleDataLayout(module.as_mut_ptr()), self.0) }
    }

    /// Whether it is a number, a pointer or a vector of such, and no struct or array.
    pub(in crate::codegen) fn is_passed_in_registers(self) -> bool {
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
    pub(in crate::codegen) fn alignment(self, module: &Module) -> u32 {
        // SAFETY: module and type are alive.
        unsafe { LLVMABIAlignmentOfType(LLVMGetModuleDataLayout(module.as_mut_ptr()), self.0) }
    }
}

impl Value {
    /// How many bytes behind its base an address is that a `getelementptr` computes from constants alone.
    pub(in crate::codegen) fn constant_distance(self, module: &Module) -> Option<i64> {
        let mut shape = self.element_pointer_source_type();
        let mut distance = 0_i64;
        for (position, index) in self.operands().into_iter().skip(1).enumerate() {
            let constant = index.constant_integer()?;
            if position > 0 && shape.kind() == LLVMTypeKind::LLVMStructTypeKind {
                let field = u32::try_from(constant).ok()?;
                // SAFETY: module and type are alive, and the field is one of the struct.
                let (bytes, inner) = unsafe {
                    let layout = LLVMGetModuleDataLayout(module.as_mut_ptr());
                    let bytes = LLVMOffsetOfElement(layout, shape.0, field);
                    (bytes, LLVMStructGetTypeAtIndex(shape.0, field))
                };
                distance = distance.checked_add(i64::try_from(bytes).ok()?)?;
                shape = Type(inner);
                continue;
            }
            if position > 0 {
                // SAFETY: what is indexed and is no struct is an array or a vector.
                shape = Type(unsafe { LLVMGetElementType(shape.0) });
            }
            let stride = i64::try_from(shape.allocation_bytes(module)).ok()?;
            // SAFETY: the index is a constant integer.
            let index = unsafe { LLVMConstIntGetSExtValue(index.0) };
            distance = distance.checked_add(index.checked_mul(stride)?)?;
        }
        Some(distance)
    }
}
