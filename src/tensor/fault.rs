//! What is wrong with a text of definitions: where, what, and how it can be mended.
//!
//! Invariant: nothing here prints. A [`Fault`] speaks of bytes of the text; [`Fault::render`] makes lines and columns of
//! them, in the form that clang and the rest of this compiler give messages.

use std::fmt::Write;

/// A range of bytes of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// Behind the last one.
    pub end: usize,
}

impl Span {
    /// From the beginning of this one to the end of another.
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end.max(self.start),
        }
    }
}

/// An error of the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Where.
    pub span: Span,
    /// What is wrong, one sentence.
    pub message: String,
    /// How it can be mended, one sentence.
    pub mend: Option<String>,
    /// Other places that have to do with it.
    pub notes: Vec<(Span, String)>,
}

impl Fault {
    /// A fault without a mend.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            mend: None,
            notes: Vec::new(),
        }
    }

    /// The same with a mend.
    #[must_use]
    pub fn mend(self, mend: impl Into<String>) -> Self {
        Self {
            mend: Some(mend.into()),
            ..self
        }
    }

    /// The same with another place.
    #[must_use]
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.notes.push((span, text.into()));
        self
    }

    /// `file:line:column: error: …`, the line with its place underlined, the same for each note, and the mend.
    pub fn render(&self, file: &str, text: &str, coloured: bool) -> String {
        let paint = |code: &str, words: &str| match coloured {
            true => format!("\x1b[{code}m{words}\x1b[0m"),
            false => words.to_owned(),
        };
        let mut out = String::new();
        let error = ("error", "1;31");
        let rows = std::iter::once((self.span, &self.message, error)).chain(
            self.notes
                .iter()
                .map(|(span, words)| (*span, words, ("note", "1;36"))),
        );
        for (span, words, (kind, code)) in rows {
            let (line, column) = place(text, span.start);
            let at = paint("1", &format!("{file}:{line}:{column}:"));
            let kind = paint(code, &format!("{kind}:"));
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{at} {kind} {}", paint("1", words));
            out += &excerpt(text, span, &paint);
        }
        if let Some(mend) = &self.mend {
            let _ = writeln!(out, "      = {} {mend}", paint("1;32", "mend:"));
        }
        out
    }
}

/// Line and column of a byte, both counted from 1; columns are bytes, as clang counts them.
pub fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n');
    (
        line,
        before.len() - start.map_or(0, |newline| newline + 1) + 1,
    )
}

/// The first line of a span, underlined.
fn excerpt(text: &str, span: Span, paint: &dyn Fn(&str, &str) -> String) -> String {
    let (number, column) = place(text, span.start);
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let line_bytes = line.as_bytes();
    let before = (column - 1).min(line_bytes.len());
    let is_start = |byte: &u8| byte & 0xc0 != 0x80;
    let indent: String = line_bytes[..before]
        .iter()
        .filter(|byte| is_start(byte))
        .map(|byte| if *byte == b'\t' { '\t' } else { ' ' })
        .collect();
    let end = (before + span.end.saturating_sub(span.start)).min(line_bytes.len());
    let width = line_bytes[before..end.max(before)]
        .iter()
        .filter(|byte| is_start(byte))
        .count();
    let mark = format!("^{}", "~".repeat(width.saturating_sub(1)));
    format!(
        "{number:>5} | {line}\n      | {indent}{}\n",
        paint("1;32", &mark)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_underlined_with_its_note_and_mend() {
        let text = "def f\n\tO = Ä(i)\n";
        let start = text.find('Ä').unwrap();
        let span = Span {
            start,
            end: text.len() - 1,
        };
        let fault = Fault::new(span, "no")
            .mend("write B")
            .note(Span { start: 0, end: 3 }, "here");
        let expected = "n.tc:2:6: error: no\n    2 | \tO = Ä(i)\n      | \t    ^~~~\n\
                        n.tc:1:1: note: here\n    1 | def f\n      | ^~~\n      = mend: write B\n";
        assert_eq!(fault.render("n.tc", text, false), expected);
        assert!(
            fault
                .render("n.tc", text, true)
                .starts_with("\x1b[1mn.tc:2:6:\x1b[0m")
        );
    }
}
