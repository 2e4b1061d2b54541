//! What inkwell leaves unsafe, or has no call for, for code that is written with its typed values.

use super::*;
use inkwell::builder::BuilderError;
use inkwell::types::{AnyTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::{GlobalValue, InstructionValue, IntValue, PointerValue};

/// The address so many elements behind another; callers keep to the object that this leads into.
pub(crate) fn element_address<'ctx>(
    builder: &inkwell::builder::Builder<'ctx>,
    element: impl BasicType<'ctx>,
    pointer: PointerValue<'ctx>,
    index: IntValue<'ctx>,
    name: &str,
) -> Result<PointerValue<'ctx>, BuilderError> {
    // SAFETY: the instruction only computes an address.
    unsafe { builder.build_gep(element, pointer, &[index], name) }
}

/// A copy of an instruction, to be put into the same function.
pub(crate) fn copied<'ctx>(instruction: InstructionValue<'ctx>) -> InstructionValue<'ctx> {
    // SAFETY: a live instruction; so is its copy.
    unsafe { InstructionValue::new(LLVMInstructionClone(instruction.as_value_ref())) }
}

/// Deletes a function that nothing refers to.
pub(crate) fn delete_function(function: FunctionValue<'_>) {
    // SAFETY: as callers promise.
    unsafe { function.delete() }
}

/// Deletes a variable that nothing refers to.
pub(crate) fn delete_global(global: GlobalValue<'_>) {
    // SAFETY: as callers promise.
    unsafe { global.delete() }
}

/// The type of a type attribute (`byval`) at one position of a function, when present.
pub(crate) fn type_attribute_of<'ctx>(
    function: FunctionValue<'ctx>,
    position: u32,
    name: &str,
) -> Option<BasicTypeEnum<'ctx>> {
    let found = Value::of_function(function).type_attribute(position, name)?;
    // SAFETY: the type is of the function's context.
    unsafe { AnyTypeEnum::new(found.0) }.try_into().ok()
}
