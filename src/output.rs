//! What the compiler writes to its own standard streams.
//!
//! Invariant: a reader who has gone, or a file that is full, ends nothing by a panic. Of messages what nobody reads is
//! lost; a result that cannot be written is an error.

use std::fmt::Arguments;
use std::io::Write;

/// Writes to standard error, where what nobody reads is lost.
pub(crate) fn tell(text: Arguments<'_>) {
    // There is nobody else to tell of a failure.
    let _ = std::io::stderr().lock().write_fmt(text);
}

/// Writes a result to standard output.
///
/// # Errors
/// When it cannot be written whole, as where the reader has gone.
pub(crate) fn give(text: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}
