//! What the compiler writes to its own standard streams.
//!
//! Invariant: a reader who has gone, or a file that is full, ends nothing by a panic. Of messages what nobody reads is
//! lost; a result that cannot be written is an error.

use crate::diagnostics::{Location, Severity};
use std::fmt::Arguments;
use std::io::{IsTerminal, Write};

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

/// Whether messages are coloured: on a terminal, unless the user wants none (<https://no-color.org>).
pub(crate) fn colours() -> bool {
    let wants_none = std::env::var_os("NO_COLOR").is_some_and(|text| !text.is_empty());
    std::io::stderr().is_terminal() && !wants_none
}

/// A message about a place in a source, in clang's form: the place, how bad it is, the sentence, and where the source can be
/// read, its line with a mark under the column, where that is known.
pub(crate) fn located(location: &Location, severity: Severity, message: &str) -> String {
    let source = std::fs::read_to_string(&location.file).unwrap_or_default();
    let line = source.lines().nth((location.line as usize).wrapping_sub(1));
    rendered(location, severity, message, line, colours())
}

fn rendered(
    location: &Location,
    severity: Severity,
    message: &str,
    line: Option<&str>,
    coloured: bool,
) -> String {
    let paint = |code: &str, text: &str| match coloured {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_owned(),
    };
    let column = match location.column {
        0 => String::new(),
        column => format!(":{column}"),
    };
    let (code, name) = match severity {
        Severity::Warning => ("1;35", "warning"),
        Severity::Error => ("1;31", "error"),
    };
    let place = paint("1", &format!("{location}{column}:"));
    let name = paint(code, &format!("{name}:"));
    let mut text = format!("{place} {name} {}\n", paint("1", message));
    let Some(line) = line else { return text };
    text += &format!("{:>5} | {line}\n", location.line);
    if let Some(before) = (location.column as usize).checked_sub(1) {
        // The mark stands under its character where tabs are as wide as those before it.
        let blank = |byte: u8| if byte == b'\t' { '\t' } else { ' ' };
        let indent: String = line.bytes().take(before).map(blank).collect();
        text += &format!("      | {indent}{}\n", paint("1;32", "^"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_about_a_place_shows_the_place() {
        let location = Location {
            file: "a.cu".into(),
            line: 12,
            column: 4,
        };
        let line = Some("\tx  = y;");
        let plain = rendered(&location, Severity::Error, "no", line, false);
        assert_eq!(
            plain,
            "a.cu:12:4: error: no\n   12 | \tx  = y;\n      | \t  ^\n"
        );
        let coloured = rendered(&location, Severity::Warning, "no", None, true);
        assert_eq!(
            coloured,
            "\x1b[1ma.cu:12:4:\x1b[0m \x1b[1;35mwarning:\x1b[0m \x1b[1mno\x1b[0m\n"
        );
        let unknown = Location {
            column: 0,
            ..location
        };
        let plain = rendered(&unknown, Severity::Error, "no", line, false);
        assert_eq!(plain, "a.cu:12: error: no\n   12 | \tx  = y;\n");
    }
}
