//! Headers in place of larger ones of clang and the host's library, most of which hardly any source needs.
//!
//! Invariant: code that would need what a lean header lacks calls a function of one name, which nothing else has; what
//! clang makes of other code is the same without them.

use crate::tools::Toolchain;
use memchr::memmem;
use std::ffi::OsString;
use std::path::Path;

/// The function that stands for all that lean headers lack.
const LACKING: &[u8] = b"sirius_lean_header_lacks";

/// A command over a CUDA source (`-x cuda ...`) that finds lean headers before the others.
pub(in crate::program) fn in_front(arguments: &[OsString], toolchain: &Toolchain) -> Vec<OsString> {
    let (language, rest) = arguments.split_at(arguments.len().min(2));
    let folder = [OsString::from("-isystem"), toolchain.lean_headers().into()];
    [language, &folder, rest].concat()
}

/// Whether code that clang made needs what lean headers lack; it is taken for such where it cannot be read.
pub(in crate::program) fn are_too_lean(made: &Path) -> bool {
    std::fs::read(made).map_or(true, |code| memmem::find(&code, LACKING).is_some())
}
