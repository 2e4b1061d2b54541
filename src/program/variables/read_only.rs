//! Device variables of one source that nothing ever writes, such as the tables of `curand_kernel.h`.
//!
//! Invariant: a variable is said to be constant only if the host cannot name it and every use of its address in the
//! module is a load, so that it holds its initial value whenever it is read; a copy of it in another image does
//! then as well.

use super::super::ir::{self, Value};
use inkwell::module::Module;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::{LLVMGetConstOpcode, LLVMIsExternallyInitialized, LLVMIsThreadLocal};

/// Marks such variables of a device module, in place.
pub(in crate::program) fn settle_read_only_variables(device: &Module<'_>) {
    for variable in ir::globals(device) {
        if variable.is_local()
            && variable.initializer().is_some()
            && !is_set_elsewhere(variable)
            && is_only_read(variable)
        {
            variable.make_constant();
        }
    }
}

/// The host may set it before kernels run, or each thread has its own.
fn is_set_elsewhere(variable: Value) -> bool {
    // SAFETY: a live variable.
    unsafe { LLVMIsExternallyInitialized(variable.0) != 0 || LLVMIsThreadLocal(variable.0) != 0 }
}

fn is_only_read(address: Value) -> bool {
    address.users().into_iter().all(|user| {
        let opcode = match user.is_constant_expression() {
            // SAFETY: a live constant expression.
            true => Some(unsafe { LLVMGetConstOpcode(user.0) }),
            false => user.opcode(),
        };
        match opcode {
            Some(LLVMOpcode::LLVMLoad) => !user.is_volatile(),
            Some(
                LLVMOpcode::LLVMGetElementPtr
                | LLVMOpcode::LLVMAddrSpaceCast
                | LLVMOpcode::LLVMBitCast,
            ) => is_only_read(user),
            _ => false,
        }
    })
}
