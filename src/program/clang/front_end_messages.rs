//! What clang says of a source, passed on while it says it.
//!
//! clang may run several times over one source (a change that mends an error, another variant of the program), and
//! the user is to read everything once: lines are passed on as they come, up to the first error, which a change may
//! mend, and lines that an earlier run began with are not said again.
//!
//! Invariant: no source makes the compiler keep more than a bounded part of what clang says of it.

use super::super::precompiled_headers::names_leading;
use super::super::source_repairs::without_colours;
use crate::output::tell;
use crate::tools::Listener;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Messages are passed on while clang runs from now on. Before that they come with what is made of a source.
pub fn pass_on_messages() {
    PASSES_ON.store(true, Ordering::Relaxed);
}

/// Whether they are.
pub(in crate::program) fn passes_on() -> bool {
    PASSES_ON.load(Ordering::Relaxed)
}

static PASSES_ON: AtomicBool = AtomicBool::new(false);

/// What was passed on of each source, as far as it is kept.
static SAID: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

fn all_said() -> MutexGuard<'static, BTreeMap<PathBuf, String>> {
    // Text is right after any panic.
    SAID.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What of a text about a source was not passed on yet.
pub(in crate::program) fn unsaid(source: &Path, text: String) -> String {
    let text = without_leading_lists(text);
    let all = all_said();
    let said = all.get(source).map_or("", String::as_str);
    let mut said = said.split_inclusive('\n');
    let same = text.split_inclusive('\n');
    let same = same.take_while(|line| said.next() == Some(*line));
    let begin: usize = same.map(str::len).sum();
    text[begin..].to_owned()
}

/// Hears a run of clang over a source, and passes on what it says.
pub(in crate::program) struct Speaker<'a> {
    source: &'a Path,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// Lines that say where the file of the next message is included.
    includes: String,
    /// What this run has said, unless that is too long; from `held_from` on it is not passed on.
    text: String,
    held_from: Option<usize>,
    /// How much of what was said before this run has said as well; `None` once it says something else.
    same: Option<usize>,
    /// Too much was said to wait for what follows.
    passes_everything: bool,
}

/// More is kept of no text.
const MOST_BYTES: usize = 1 << 20;

impl<'a> Speaker<'a> {
    pub(in crate::program) fn of(source: &'a Path) -> Self {
        Self {
            source,
            line: Vec::new(),
            includes: String::new(),
            text: String::new(),
            held_from: None,
            same: Some(0),
            passes_everything: false,
        }
    }

    fn take_line(&mut self) {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        if self.passes_everything {
            tell(format_args!("{line}"));
            return;
        }
        let plain = without_colours(&line);
        if names_include(&plain) && names_leading(&plain) {
            // The user has no such file: the source includes what comes now.
            self.includes.clear();
            self.text.truncate(without_includes(&self.text));
            return;
        }
        if self.held_from.is_none() {
            if names_include(&plain) {
                self.includes += &line;
                return;
            }
            if is_error(&plain) {
                self.held_from = Some(self.text.len());
            }
        }
        let message = std::mem::take(&mut self.includes) + &line;
        self.text += &message;
        match self.held_from {
            None => self.pass_on(&message),
            Some(begin) if self.text.len() > MOST_BYTES => {
                let held = self.text.split_off(begin);
                tell(format_args!("{held}"));
                self.passes_everything = true;
            }
            Some(_) => {}
        }
        if self.text.len() > MOST_BYTES {
            self.text.clear();
        }
    }

    /// Says a message, unless an earlier run has.
    fn pass_on(&mut self, message: &str) {
        let mut all = all_said();
        let said = all.entry(self.source.to_owned()).or_default();
        match self.same {
            Some(same) if said[same..].starts_with(message) => {
                self.same = Some(same + message.len());
                return;
            }
            Some(same) if same == said.len() && same + message.len() <= MOST_BYTES => {
                said.push_str(message);
                self.same = Some(said.len());
            }
            _ => self.same = None,
        }
        drop(all);
        tell(format_args!("{message}"));
    }
}

impl Listener for Speaker<'_> {
    fn hear(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.line.push(byte);
            if byte == b'\n' || self.line.len() > MOST_BYTES {
                self.take_line();
            }
        }
    }

    fn heard(&mut self) -> String {
        if !self.line.is_empty() || !self.includes.is_empty() {
            self.take_line();
        }
        std::mem::take(&mut self.text)
    }
}

/// Whether a line says where the file of the next message is included.
fn names_include(plain: &str) -> bool {
    let begins = ["In file included from ", "                 from "];
    begins.iter().any(|begin| plain.starts_with(begin))
}

/// A text without the lines that lead to what a list of leading headers includes.
fn without_leading_lists(text: String) -> String {
    if !names_leading(&text) {
        return text;
    }
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        let plain = without_colours(line);
        match names_include(&plain) && names_leading(&plain) {
            true => kept.truncate(without_includes(&kept)),
            false => kept += line,
        }
    }
    kept
}

/// How long a text is without such lines at its end.
fn without_includes(text: &str) -> usize {
    let lines = text.split_inclusive('\n').rev();
    let includes = lines.take_while(|line| names_include(&without_colours(line)));
    text.len() - includes.map(str::len).sum::<usize>()
}

/// Whether a line is an error of clang's.
fn is_error(plain: &str) -> bool {
    ["error: ", "fatal error: "]
        .iter()
        .any(|kind| plain.starts_with(kind) || plain.contains(&format!(": {kind}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_the_first_error_is_said_once() {
        let source = Path::new("said-once.cu");
        let early = "In file included from a.h:1:\nx.cu:1:2: warning: odd\n";
        let late = "In file included from b.h:1:\nx.cu:2:2: error: wrong\nx.cu:3:2: warning: odd\n";
        let run = |text: &str| {
            let mut speaker = Speaker::of(source);
            // In pieces as they come.
            for piece in text.as_bytes().chunks(7) {
                speaker.hear(piece);
            }
            speaker.heard()
        };
        let heard = run(&format!("{early}{late}"));
        assert_eq!(heard, format!("{early}{late}"));
        assert_eq!(all_said()[source], early);
        assert_eq!(unsaid(source, heard), late);
        // A change has mended it.
        let mended = format!("{early}x.cu:3:2: warning: odd\n");
        assert_eq!(unsaid(source, mended.clone()), "x.cu:3:2: warning: odd\n");
        assert_eq!(run(&mended), mended);
        assert_eq!(unsaid(source, mended), "");
    }

    #[test]
    fn lists_of_leading_headers_are_not_named() {
        let heard = |begin: &str| {
            let mut speaker = Speaker::of(Path::new("leading.cu"));
            let list = "In file included from x.cu:1:\nIn file included from /c/0123456789abcdef.leading.h:3:\n";
            let inner = "In file included from b.h:1:\nl.h:2:2: warning: odd\n";
            speaker.hear(format!("{begin}{list}{inner}{list}y.h:2:2: warning: odd\n").as_bytes());
            let whole = format!("{begin}{list}{inner}{list}y.h:2:2: warning: odd\n");
            assert_eq!(
                unsaid(Path::new("unheard.cu"), whole),
                format!("{begin}{inner}y.h:2:2: warning: odd\n")
            );
            assert_eq!(
                speaker.heard(),
                format!("{begin}{inner}y.h:2:2: warning: odd\n")
            );
        };
        heard("");
        heard("x.cu:2:2: error: wrong\n");
        assert!(!names_leading("In file included from /c/own.leading.h:3:"));
    }

    #[test]
    fn what_never_ends_is_not_kept() {
        let mut speaker = Speaker::of(Path::new("endless.cu"));
        // Nobody is to read this.
        speaker.same = Some(0);
        all_said().insert("endless.cu".into(), "odd\n".repeat(MOST_BYTES / 2));
        for _ in 0..MOST_BYTES / 2 {
            speaker.hear(b"odd\n");
        }
        assert!(speaker.text.len() <= MOST_BYTES);
    }
}
