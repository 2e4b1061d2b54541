//! Functions that device code calls and that nothing defines.
//!
//! Invariant: only what no device, no library of CUDA's and no code generator could bring is refused here; other names
//! are left to ptxas on GPUs, and on the CPU device to the run, which names them when they are reached.

use super::super::CodegenError;
use crate::diagnostics::source_name;
use crate::llvm::Value;
use inkwell::module::Module;
use std::path::Path;

/// Refuses final device code of a source that calls functions of a user's without a definition.
///
/// # Errors
/// [`CodegenError::UndefinedFunction`] with the first of them.
pub(in crate::codegen) fn refuse_undefined(
    module: &Module<'_>,
    source: &Path,
) -> Result<(), CodegenError> {
    let functions = Value::functions(module).into_iter();
    let mut missing = functions
        .filter(|function| function.is_declaration() && function.has_uses())
        .map(|function| function.name())
        .filter(|name| is_users(name));
    match missing.next() {
        Some(name) => Err(CodegenError::UndefinedFunction {
            function: source_name(&name),
            source_file: source.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Whether only a source can define a function of this name.
fn is_users(name: &str) -> bool {
    /// What CUDA brings for every kernel, or LLVM calls of itself.
    const BROUGHT: [&str; 8] = [
        "vprintf", "malloc", "free", "memcpy", "memmove", "memset", "memcmp", "printf",
    ];
    let is_plain = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let is_reserved =
        name.starts_with("__") || name.starts_with("cuda") || name.starts_with("sirius");
    name.starts_with("_Z") || (is_plain && !is_reserved && !BROUGHT.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::is_users;

    #[test]
    fn what_others_bring_is_no_users() {
        for name in ["_Z6helperi", "helper", "my_cuda_function"] {
            assert!(is_users(name), "{name}");
        }
        for name in [
            "llvm.nvvm.barrier0",
            "__nv_sinf",
            "__assertfail",
            "vprintf",
            "cudaDeviceSynchronize",
            "sirius.tile",
        ] {
            assert!(!is_users(name), "{name}");
        }
    }
}
