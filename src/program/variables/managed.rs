//! `__managed__` variables: one variable that host and device see.
//!
//! clang knows the attribute for AMD's devices only and would give each side a variable of its own. The
//! compatibility header puts such variables in a section of this name instead, which both modules keep.
//! In the host module the variable becomes a pointer, registered as managed, that the runtime sets when
//! the program starts, and each use loads it, as nvcc's host code does; in the device module it gets the
//! mark from which the code generator makes PTX's `.attribute(.managed)`.
//!
//! Invariant: afterwards no module has the section, and the host has no storage of such a variable.

use super::super::ProgramError;
use crate::llvm::{self, Builder, Type, Value, shorten_list};
use inkwell::module::Module;
use std::collections::BTreeSet;
use std::path::Path;

/// Makes pointers of a host module's managed variables.
///
/// # Errors
/// [`ProgramError::ManagedAddress`] when the initial value of another variable is the address of one,
/// which is not known before the program starts.
pub(in crate::program) fn settle_host(
    module: &Module<'_>,
    source: &Path,
) -> Result<(), ProgramError> {
    let managed: Vec<Value> = marked(module);
    if !managed.is_empty() {
        forget_used(module);
    }
    for &variable in &managed {
        let pointer_type = Type::pointer(module, 0);
        let name = variable.name();
        let pointer = Value::add_global(module, "", pointer_type, 0);
        if !variable.is_declaration() {
            pointer.set_initializer(Some(pointer_type.zero()));
        }
        pointer.set_linkage(variable.linkage());
        for call in registrations(variable) {
            register_as_managed(module, call, pointer);
        }
        if !replace(variable, &|builder| {
            Some(builder.load(pointer_type, pointer))
        }) {
            return Err(ProgramError::ManagedAddress {
                source_file: source.to_owned(),
                variable: name,
            });
        }
        // Constant expressions that nothing uses any more hang on it.
        variable.replace_uses_with(pointer);
        variable.delete_global();
        pointer.set_name(&name);
    }
    if !managed.is_empty() {
        initialise_at_start(module);
    }
    Ok(())
}

/// Takes away clang's list of the other units' variables that the host side uses, for its own linker.
fn forget_used(module: &Module<'_>) {
    const USED: &str = "__clang_gpu_used_external";
    let globals = Value::globals(module);
    let named = |name: &str| globals.iter().copied().find(|global| global.name() == name);
    let Some(used) = named(USED) else { return };
    if let Some(list) = named("llvm.compiler.used") {
        shorten_list(module, list, |element| element != used);
    }
    used.delete_global();
}

/// Marks a device module's managed variables for the code generator.
pub(in crate::program) fn settle_device(module: &Module<'_>) {
    for variable in marked(module) {
        variable.set_section("");
        variable.annotate(module, "managed");
    }
}

/// Where the compatibility header puts managed variables.
const SECTION: &str = "sirius_managed";

fn marked<'ctx>(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
    Value::globals(module)
        .into_iter()
        .filter(|global| global.section() == SECTION)
        .collect()
}

/// The calls that register a variable as one of the device's own.
fn registrations(variable: Value) -> Vec<Value> {
    let users = variable.users().into_iter();
    users
        .filter(|user| user.is_call() && user.called_name().as_deref() == Some("__cudaRegisterVar"))
        .collect()
}

/// Handle, pointer, initial value, name, external, bytes, constant, global.
fn register_as_managed<'ctx>(module: &Module<'ctx>, call: Value<'ctx>, pointer: Value<'ctx>) {
    let old = call.call_arguments();
    let kinds: Vec<Type> = old.iter().map(|argument| argument.ty()).collect();
    const REGISTER: &str = "__cudaRegisterManagedVar";
    // clang declares it for itself, with AMD's parameters, and does not call it.
    if let Some(unused) = Value::function(module, REGISTER)
        && unused.users().is_empty()
    {
        unused.delete_function();
    }
    let register = llvm::declare(module, REGISTER, Type::function(Type::void(module), &kinds));
    let mut arguments = old;
    arguments[1] = pointer;
    arguments[2] = pointer;
    Builder::before(call).call_function(register, &arguments);
    call.erase();
}

/// Replaces the uses of a constant by what `make` builds at each; false when one of them is in the
/// initial value of something else.
fn replace<'ctx>(
    constant: Value<'ctx>,
    make: &dyn Fn(&Builder<'ctx>) -> Option<Value<'ctx>>,
) -> bool {
    let users: BTreeSet<Value> = constant.users().into_iter().collect();
    users.into_iter().all(|user| {
        // The initial value of a variable that is gone.
        if user.is_constant() && !user.is_global() && user.users().is_empty() {
            return true;
        }
        if user.is_constant_expression() {
            return replace(user, &|builder| {
                let operands = user.operands().into_iter().map(|operand| {
                    if operand == constant {
                        make(builder)
                    } else {
                        Some(operand)
                    }
                });
                builder.expression(user, &operands.collect::<Option<Vec<_>>>()?)
            });
        }
        user.is_instruction()
            && user
                .operands()
                .into_iter()
                .enumerate()
                .all(|(index, operand)| {
                    if operand != constant {
                        return true;
                    }
                    let place = user
                        .incoming_block(index as u32)
                        .and_then(|block| block.terminator());
                    let made = make(&Builder::before(place.unwrap_or(user)));
                    made.map(|made| user.set_operand(index as u32, made))
                        .is_some()
                })
    })
}

/// Lets the runtime set the pointers before anything of the program reads them.
fn initialise_at_start(module: &Module<'_>) {
    let Some(end) = Value::function(module, "__cudaRegisterFatBinaryEnd") else {
        return;
    };
    let pointer = Type::pointer(module, 0);
    let initialise = llvm::declare(
        module,
        "__cudaInitModule",
        Type::function(Type::integer(module, 8), &[pointer]),
    );
    for call in end.users() {
        if call.is_call() {
            let handle = call.call_arguments()[0];
            Builder::after(call).call_function(initialise, &[handle]);
        }
    }
}
