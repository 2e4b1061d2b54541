//! Device variables of one source that nothing ever writes, such as the tables of `curand_kernel.h`.
//!
//! Invariant: a variable is said to be constant only if the host cannot name it and every use of its address in the
//! module is a load, so that it holds its initial value whenever it is read; a copy of it in another image does
//! then as well.

use crate::llvm::{Opcode, Value};
use inkwell::module::Module;

/// Marks such variables of a device module, in place.
pub(in crate::program) fn settle_read_only_variables(device: &Module<'_>) {
    for variable in Value::globals(device) {
        if variable.is_local()
            && variable.initializer().is_some()
            && !variable.is_set_elsewhere()
            && is_only_read(variable)
        {
            variable.make_constant();
        }
    }
}

fn is_only_read(address: Value) -> bool {
    address
        .users()
        .into_iter()
        .all(|user| match user.operation() {
            Some(Opcode::LLVMLoad) => !user.is_volatile(),
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => {
                is_only_read(user)
            }
            _ => false,
        })
}
