//! When a unit registers its kernels and variables: before anything of the program runs.
//!
//! clang lets the constructors of a unit's static objects run first, so that what they launch or copy would
//! meet a runtime that knows none of it, and their destructors one that has forgotten it. nvcc registers
//! first. Here registration comes before all initialisation that a program can ask for, but
//! behind that of the runtime itself, so that a constructor may use the kernels of other units,
//! too, and may have any priority from [`REGISTRATION_PRIORITY`] on.

use crate::llvm::{Type, Value, replace_list};
use inkwell::module::Module;

/// The priority of registration among a program's constructors. CUDA's static runtime has 150 for its own.
pub(in crate::program) const REGISTRATION_PRIORITY: u64 = 151;

/// Lets a host module register before it initialises anything.
pub(in crate::program) fn register_first(host: &Module<'_>) {
    let is_list = |global: &Value| global.name() == "llvm.global_ctors";
    let Some(list) = Value::globals(host).into_iter().find(is_list) else {
        return;
    };
    let entries = list.initializer().map(Value::operands).unwrap_or_default();
    let earlier = entries.iter().map(|&entry| {
        let [_, function, data] = entry.operands()[..] else {
            return entry;
        };
        match function.name() == REGISTRATION {
            true => {
                let priority = Type::integer(host, 32).constant(REGISTRATION_PRIORITY);
                Value::structure(host, &[priority, function, data])
            }
            false => entry,
        }
    });
    replace_list(host, list, earlier.collect());
}

/// clang's function that registers a unit.
const REGISTRATION: &str = "__cuda_module_ctor";
