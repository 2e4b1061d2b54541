//! Structs by value that kernels change: each thread has its own.
//!
//! `view.data += offset` changes the copy of the thread that runs it, in the memory that the struct came in. Taken
//! over into a variable of the thread first, fields become values like those of any variable, and what is known of
//! the arguments holds throughout.

use super::super::canonicalise_device::PTX_KERNEL;
use crate::llvm::{Builder, Opcode, Type, Value};
use inkwell::module::Module;

/// Gives the kernels of a module a variable for each struct by value that they change, in place. Returns whether there
/// was any.
pub(in crate::program) fn take_over_changed_structs(module: &Module<'_>) -> bool {
    let mut any = false;
    for kernel in Value::functions(module) {
        if kernel.is_declaration() || kernel.call_convention() != PTX_KERNEL {
            continue;
        }
        for (position, parameter) in (0..).zip(kernel.parameters()) {
            let mut changed = false;
            let Some((ty, align_bytes)) = kernel.by_value(position) else {
                continue;
            };
            if !only_accessed(parameter, &mut changed) || !changed {
                continue;
            }
            let entry = kernel.blocks().first().map(|entry| entry.instructions());
            let Some(first) = entry.and_then(|instructions| instructions.first().copied()) else {
                continue;
            };
            let builder = Builder::before(first);
            let alignment = align_bytes as u32;
            let own = builder.alloca(ty);
            own.set_alignment(alignment);
            parameter.replace_uses_with(own);
            let bytes = Type::integer(module, 64).constant(ty.access_bytes(module));
            builder.copy_aligned([(own, alignment), (parameter, alignment)], bytes);
            any = true;
        }
    }
    any
}

/// Whether nothing is done with an address but plain accesses; `changed` is set where one of them is a store.
fn only_accessed(address: Value, changed: &mut bool) -> bool {
    address.users().into_iter().all(|user| match user.opcode() {
        Some(Opcode::LLVMLoad) => !user.is_volatile(),
        Some(Opcode::LLVMStore) => {
            *changed = true;
            !user.is_volatile() && user.operands()[0] != address
        }
        Some(Opcode::LLVMGetElementPtr) => only_accessed(user, changed),
        _ => false,
    })
}
