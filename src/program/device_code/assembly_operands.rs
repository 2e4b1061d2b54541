//! Operands of `asm` in device code that clang lets through and nvcc does not, or takes otherwise:
//! clang gives the bytes of an object where nvcc gives what the object converts to, computes no object
//! for an operand that has to be a number, and knows constraints that PTX has no place for.
//!
//! They are found in the code that clang made, where a location is all that is left of the source.

use crate::llvm::{Opcode, TypeKind, Value};
use crate::tools::ToolError;
use inkwell::context::Context;
use inkwell::module::Module;
use std::path::Path;

/// What clang says where it sees an operand that has to be a number and is none, which [`super::super::source_repairs`] mends.
pub(in crate::program) const NO_NUMBER: &str =
    "constraint 'n' expects an integer constant expression";

/// What nvcc says of an object that does not convert to one scalar; [`super::super::source_repairs`] writes the conversion where there is one.
pub(in crate::program) const NO_SCALAR: &str = "an asm operand must have scalar type";

/// Letters that clang takes in code for every machine, and nvcc in no function for the device.
const NOT_IN_PTX: [&str; 9] = ["i", "s", "m", "o", "V", "p", "X", "E", "F"];

/// Whether nvcc takes all operands in files of bitcode, and for what they are there.
///
/// # Errors
/// An error as clang's would be, with a line for each statement that has another.
pub(in crate::program) fn are_as_nvcc_takes_them<'a>(
    device: impl Iterator<Item = &'a Path>,
) -> Result<(), ToolError> {
    let mut stderr = String::new();
    for path in device {
        let context = Context::create();
        // What cannot be read is reported where it is used.
        let Ok(module) = Module::parse_bitcode_from_path(path, &context) else {
            continue;
        };
        for function in Value::functions(&module) {
            for call in function.instructions() {
                let Some(message) = refusal(&module, call) else {
                    continue;
                };
                let line = format!("{}: error: {message}\n", place(call));
                if !stderr.contains(&line) {
                    stderr += &line;
                }
            }
        }
    }
    if stderr.is_empty() {
        return Ok(());
    }
    Err(ToolError::Failed {
        program: "clang".to_owned(),
        status: Some(1),
        stderr,
    })
}

/// What is wrong with the operands of a call that executes assembly.
fn refusal(module: &Module<'_>, call: Value) -> Option<String> {
    if !call.is_call() {
        return None;
    }
    let operands = call.operands();
    let (_, constraints) = call.called_assembly()?;
    let constraints: Vec<&str> = constraints
        .split(',')
        .filter(|constraint| !constraint.starts_with(['~', '!']))
        .collect();
    if let Some(message) = constraints
        .iter()
        .find_map(|constraint| not_in_ptx(constraint))
    {
        return Some(message);
    }
    let inputs = constraints
        .into_iter()
        .filter(|constraint| !constraint.starts_with('=') || constraint.contains('*'));
    inputs.zip(operands).find_map(|(constraint, operand)| {
        if constraint == "n" {
            return (!operand.is_integer_constant()).then(|| NO_NUMBER.to_owned());
        }
        let is_object = constraint.starts_with('*') || is_object(module, call, operand);
        is_object.then(|| NO_SCALAR.to_owned())
    })
}

/// What nvcc says of a constraint that it does not take.
fn not_in_ptx(constraint: &str) -> Option<String> {
    let letters = constraint.trim_start_matches(['=', '&', '%', '*']);
    // What LLVM makes of `g`.
    let letters = if letters == "imr" { "g" } else { letters };
    if letters == "g" || NOT_IN_PTX.contains(&letters) {
        return Some(format!(
            "asm constraint letter '{letters}' is not allowed inside a __device__/__global__ function"
        ));
    }
    let several = letters.len() > 1 && letters.bytes().all(|letter| letter.is_ascii_alphabetic());
    several.then(|| {
        "an asm operand may specify only one constraint letter in a __device__/__global__ function"
            .to_owned()
    })
}

/// Whether an operand is the bytes of an object. clang loads them as a number where the statement stands, and tells nothing of their type; it tells
/// the type of each load that the source asks for, and where in the source that is.
fn is_object(module: &Module<'_>, call: Value, operand: Value) -> bool {
    if operand.opcode() != Some(Opcode::LLVMLoad)
        || operand.ty().kind() != TypeKind::LLVMIntegerTypeKind
        || operand.has_metadata("tbaa")
    {
        return false;
    }
    call.has_place_of(operand) && tells_types(module)
}

/// Whether clang tells the types of loads in a module: not where it was told that they say nothing (`-fno-strict-aliasing`).
fn tells_types(module: &Module<'_>) -> bool {
    let functions = Value::functions(module);
    let mut instructions = functions
        .iter()
        .flat_map(|function| function.instructions());
    instructions.any(|instruction| instruction.has_metadata("tbaa"))
}

/// Where a call is written, as clang says it.
fn place(call: Value) -> String {
    let [folder, file] = call.source_file();
    let innermost = call.source_places().next().unwrap_or_default();
    let (line, column) = (innermost.line, innermost.column);
    let path = Path::new(&folder).join(file);
    format!("{}:{line}:{column}", path.display())
}
