//! The host functions of kernels, under the kernels' own names.
//!
//! Of a kernel clang's host module has the *stub*: the function that a launch calls, and whose address is the
//! kernel's for the runtime. clang calls it `__device_stub__` and the kernel's name, nvcc as the kernel
//! (`_Z3addPii`), and so does whoever takes the kernel's address in an object of another compiler, or has it in a
//! template's arguments. Like nvcc's (since CUDA 13), stubs are hidden from other shared libraries, and those
//! of templates from other units, each of which has its own device code.
//!
//! Invariant: afterwards no name in the module has clang's mark.

use crate::build::KernelSymbols;
use crate::llvm::{Linkage, Value};
use inkwell::module::Module;

/// Names the stubs of a host module. `relocatable`: its device code is linked with that of others; `toolkit`: the
/// version of CUDA.
pub(in crate::program) fn settle_names(
    host: &Module<'_>,
    symbols: KernelSymbols,
    (relocatable, toolkit): (bool, (u32, u32)),
) {
    /// From which on nvcc hides them.
    const HIDES: (u32, u32) = (13, 0);
    let hidden = symbols.hidden.unwrap_or(toolkit >= HIDES);
    let local_templates = symbols.local_templates.unwrap_or(toolkit >= HIDES) && !relocatable;
    for stub in Value::functions(host) {
        let Some(name) = without_mark(&stub.name()) else {
            continue;
        };
        stub.rename_with_comdat(host, &name);
        if stub.is_local() {
            continue;
        }
        let is_template = matches!(
            stub.linkage(),
            Linkage::LLVMLinkOnceODRLinkage | Linkage::LLVMWeakODRLinkage
        );
        if is_template && local_templates {
            stub.set_linkage(Linkage::LLVMInternalLinkage);
        } else if hidden {
            stub.set_hidden();
        }
    }
}

/// What clang puts before a kernel's name.
const MARK: &str = "__device_stub__";

/// The name without the mark, by which the identifier that begins with it is shorter; `None` for other names.
fn without_mark(name: &str) -> Option<String> {
    let Some(encoding) = name.strip_prefix("_Z") else {
        return name.strip_prefix(MARK).map(str::to_owned);
    };
    let mut rest = encoding.strip_prefix('N').unwrap_or(encoding);
    // The namespaces around it come first.
    loop {
        rest = rest.strip_prefix("St").unwrap_or(rest);
        rest = rest.strip_prefix('L').unwrap_or(rest);
        let scopes = &name[..name.len() - rest.len()];
        let named = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let length: usize = rest[..rest.len() - named.len()].parse().ok()?;
        if let Some(own) = named.strip_prefix(MARK) {
            let length = length.checked_sub(MARK.len())?;
            return Some(format!("{scopes}{length}{own}"));
        }
        rest = named.get(length..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::without_mark;

    #[test]
    fn names_as_nvcc_has_them() {
        for (name, plain) in [
            ("_Z18__device_stub__addPii", "_Z3addPii"),
            ("_ZL18__device_stub__locPi", "_ZL3locPi"),
            ("__device_stub__cname", "cname"),
            (
                "_ZN12_GLOBAL__N_119__device_stub__anonEPi",
                "_ZN12_GLOBAL__N_14anonEPi",
            ),
            ("_ZN1n16__device_stub__qENS_1SEPi", "_ZN1n1qENS_1SEPi"),
            (
                "_Z18__device_stub__k12IXadL_Z3visPiEEEvv",
                "_Z3k12IXadL_Z3visPiEEEvv",
            ),
        ] {
            assert_eq!(without_mark(name).as_deref(), Some(plain));
        }
        assert_eq!(without_mark("_Z3addPii"), None);
    }
}
