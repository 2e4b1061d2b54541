//! What LLVM keeps as text: constant strings, places in the source.

use crate::diagnostics::Location;
use crate::llvm::Value;

/// The bytes of a constant that is a text, and that nobody replaces.
pub(super) fn constant_text(global: Value) -> Option<Vec<u8>> {
    let value = global.initializer()?;
    if !global.is_constant_global() {
        return None;
    }
    match value.is_null_constant() {
        true => Some(Vec::new()),
        false => value.string_bytes(),
    }
}

/// The user's place: out of the CUDA headers' own wrappers, along the inlining.
pub(super) fn location(instruction: Value) -> Location {
    let mut found = Location::default();
    for place in instruction.source_places() {
        if !place.file.is_empty() {
            found = place;
        }
        let name = found.file.rsplit('/').next().unwrap_or_default();
        if !name.starts_with("cuda_runtime") {
            break;
        }
    }
    found
}
