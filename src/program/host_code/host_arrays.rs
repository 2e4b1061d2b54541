//! `const` variables of the host that clang gives the device too.
//!
//! For clang every `const` variable at namespace scope with external linkage and a constant initial value
//! (`extern const int table[]; const int table[] = {…};`) is a device constant, which it emits in case that
//! another unit wants it. For nvcc it is none: code of the device that names one does not compile. A table of
//! the host may be larger than all constant memory, so those that no device code refers to are left out.
//!
//! Invariant: what the host registers stays, as does whatever is declared `__constant__` or `__device__`
//! without `const`, used or not: a program may ask the runtime for it by name.

use super::super::names;
use crate::llvm::{Value, shorten_list};
use inkwell::module::Module;
use std::collections::BTreeSet;

/// Deletes a device module's constants that only the host refers to; `host` is the same unit's.
pub(in crate::program) fn leave_out(device: &Module<'_>, host: &Module<'_>) {
    let mut unused: BTreeSet<Value> = Value::globals(device)
        .into_iter()
        .filter(|global| global.is_constant_memory() && !global.is_declaration())
        .collect();
    if unused.is_empty() {
        return;
    }
    let list = used_by_host(device);
    let registered = names::registrations(host).variables;
    unused.retain(|global| {
        let name = global.name();
        registered.iter().all(|variable| variable.name != name)
    });
    // One may be used by another alone, which may turn out to be used itself.
    loop {
        let used: Vec<Value> = unused
            .iter()
            .copied()
            .filter(|global| is_used(*global, (&unused, list)))
            .collect();
        if used.is_empty() {
            break;
        }
        for global in used {
            unused.remove(&global);
        }
    }
    let listed = |element: Value| {
        let inner = element.operands().first().copied();
        unused.contains(&element) || inner.is_some_and(|inner| unused.contains(&inner))
    };
    if let Some(list) = list {
        shorten_list(device, list, |element| !listed(element));
    }
    for global in unused {
        // Constant expressions that nothing uses may hang on it.
        global.replace_uses_with(global.ty().zero());
        global.delete_global();
    }
}

/// clang's list of what the host side of the unit refers to, which holds these variables as well.
fn used_by_host<'ctx>(device: &Module<'ctx>) -> Option<Value<'ctx>> {
    let mut globals = Value::globals(device).into_iter();
    globals.find(|global| global.name() == "llvm.compiler.used")
}

/// Whether a constant is part of anything but variables that are unused themselves, and the host's list.
fn is_used(constant: Value, nothing: (&BTreeSet<Value>, Option<Value>)) -> bool {
    let (unused, list) = nothing;
    constant.users().into_iter().any(|user| {
        if user.is_global_variable() {
            return !unused.contains(&user) && Some(user) != list;
        }
        user.is_instruction() || user.is_global() || is_used(user, nothing)
    })
}
