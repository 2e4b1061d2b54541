//! What clang writes into a module of the way in which it read a source, and nothing of the program: the numbers by which
//! it finds places of inline assembly again (`srcloc`), which only the run that made them understands, and the order in
//! which it lists variables that stay (`llvm.compiler.used`).
//!
//! Invariant: afterwards the module is the same whether headers were precompiled or read.

use crate::llvm::Value;
use inkwell::context::Context;
use inkwell::module::Module;
use std::path::Path;

/// Leaves the numbers out of a file of bitcode, and puts the list in the order of names. A file that LLVM cannot read stays
/// as it is, for who reads it next to say so.
///
/// # Errors
/// The file cannot be written.
pub(in crate::program) fn leave_out(path: &Path) -> std::io::Result<()> {
    // Types of this reading must not be in the way of those of the next.
    let context = Context::create();
    let Ok(module) = Module::parse_bitcode_from_path(path, &context) else {
        return Ok(());
    };
    match settle(&module) {
        // LLVM ends the whole run where it cannot write.
        true => std::fs::write(path, module.write_bitcode_to_memory().as_slice()),
        false => Ok(()),
    }
}

/// Leaves the numbers out of a module, and puts the list in the order of names. Returns whether there was anything to do.
pub(in crate::program) fn settle(module: &Module<'_>) -> bool {
    let mut changed = false;
    for function in Value::functions(module) {
        for call in function.instructions() {
            if call.is_call() && call.has_metadata("srcloc") {
                call.remove_metadata("srcloc");
                changed = true;
            }
        }
    }
    let mut globals = Value::globals(module).into_iter();
    if let Some(list) = globals.find(|global| global.name() == "llvm.compiler.used") {
        let elements = list.initializer().map(Value::operands).unwrap_or_default();
        let mut sorted = elements.clone();
        sorted.sort_by_cached_key(|element| variable_of(*element).name());
        if sorted != elements {
            list.set_initializer(Some(Value::constant_array(&sorted)));
            changed = true;
        }
    }
    changed
}

/// The variable that an element of the list is; one of an address space of its own is the operand of a cast.
fn variable_of(element: Value) -> Value {
    match element.is_global_variable() {
        true => element,
        false => element.operands().first().copied().unwrap_or(element),
    }
}
