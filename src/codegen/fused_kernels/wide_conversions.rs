//! Conversions between integers of 128 bits and floats: LLVM has calls of a library for them, of which GPUs have none.

use super::super::CodegenError;
use crate::llvm::{Builder, Linkage, Opcode, Type, Value};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// The functions that convert; what they give is what C's conversions give. Each module has its own.
const LIBRARY: &str = include_str!("wide_conversions.ll");

/// Makes such conversions calls of functions, which come with them.
///
/// # Errors
/// [`CodegenError::Llvm`] when LLVM does not take the functions.
pub(in crate::codegen) fn lower_wide_conversions(module: &Module) -> Result<(), CodegenError> {
    let functions = Value::functions(module).into_iter();
    let instructions = functions.flat_map(Value::instructions);
    let found: Vec<(Value, &str)> = instructions
        .filter_map(|instruction| Some((instruction, function_of(module, instruction)?)))
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    let failed = |message: inkwell::support::LLVMString| CodegenError::Llvm(message.to_string());
    let text = MemoryBuffer::create_from_memory_range_copy(
        format!("{LIBRARY}\0").as_bytes(),
        "wide conversions",
    );
    let library = module
        .get_context()
        .create_module_from_ir(text)
        .map_err(failed)?;
    library.set_triple(&module.get_triple());
    library.set_data_layout(&module.get_data_layout());
    let defined = Value::functions(&library).into_iter();
    let defined = defined.filter(|function| !function.is_declaration());
    let defined: Vec<String> = defined.map(Value::name).collect();
    module.link_in_module(library).map_err(failed)?;
    for function in defined
        .iter()
        .filter_map(|name| Value::function(module, name))
    {
        function.set_linkage(Linkage::LLVMInternalLinkage);
    }
    for (conversion, name) in found {
        let function = Value::function(module, name)
            .ok_or_else(|| CodegenError::Inconsistent(format!("{name} is not linked")))?;
        let builder = Builder::before(conversion);
        let given = conversion.operand(0);
        let wanted = function.value_type().parameters()[0];
        let given = match given.ty() == wanted {
            true => given,
            false => builder.cast(Opcode::LLVMFPExt, given, wanted),
        };
        let converted = builder.call(function.value_type(), function, &[given]);
        conversion.replace_uses_with(converted);
        conversion.erase();
    }
    Ok(())
}

/// The function of [`LIBRARY`] that does what an instruction does. Narrower floats become doubles before.
fn function_of(module: &Module, instruction: Value) -> Option<&'static str> {
    let is_wide = |ty: Type| ty.is_integer() && ty.integer_bits() == 128;
    let [float, double] = [false, true].map(|double| Type::float(module, double));
    let opcode = instruction.opcode()?;
    match opcode {
        Opcode::LLVMUIToFP | Opcode::LLVMSIToFP if is_wide(instruction.operand(0).ty()) => {
            match (opcode == Opcode::LLVMSIToFP, instruction.ty()) {
                (true, ty) if ty == double => Some("__sirius_f64_of_i128"),
                (true, ty) if ty == float => Some("__sirius_f32_of_i128"),
                (false, ty) if ty == double => Some("__sirius_f64_of_u128"),
                (false, ty) if ty == float => Some("__sirius_f32_of_u128"),
                _ => None,
            }
        }
        Opcode::LLVMFPToUI if is_wide(instruction.ty()) => Some("__sirius_u128_of_f64"),
        Opcode::LLVMFPToSI if is_wide(instruction.ty()) => Some("__sirius_i128_of_f64"),
        _ => None,
    }
}
