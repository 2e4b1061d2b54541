//! Programs that may have one piece of memory at several addresses.
//!
//! There neither unequal pointers nor unequal places behind one pointer lead to different memory, so that nothing of
//! what is known about pointers holds. Invariant: a program whose own code can reach one of these functions, called or
//! asked for by its name, is one of them.

use crate::llvm::Value;
use inkwell::module::Module;

/// Functions that put memory at a further address.
const FUNCTIONS: [&str; 6] = [
    "cuMemMap",
    "cuMemMapArrayAsync",
    "cuMulticastBindMem",
    "cuMulticastBindAddr",
    "cudaExternalMemoryGetMappedBuffer",
    "cuExternalMemoryGetMappedBuffer",
];

/// The function by which host code may map memory at several addresses.
pub(in crate::program) fn mapping_function(host: &Module<'_>) -> Option<&'static str> {
    let called = Value::functions(host)
        .into_iter()
        .filter(|function| function.is_declaration() && !function.users().is_empty())
        .map(|function| function.name());
    let named = Value::globals(host)
        .into_iter()
        .filter_map(|global| global.c_string());
    let mut reached = called.chain(named).filter_map(|name| {
        let plain = name.strip_suffix("_ptsz").unwrap_or(&name);
        let plain = plain.split("_v").next().unwrap_or(plain);
        FUNCTIONS.into_iter().find(|function| plain == *function)
    });
    reached.next()
}
