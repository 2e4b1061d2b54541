//! The headers of the system and of libraries that a source begins with: those that it includes before it says anything
//! else, itself or by way of the user's own headers.
//!
//! Invariant: nothing but includes, comments and guards against a second reading of a file stands in front of what is
//! listed, in all that clang reads of the source up to there. So clang makes the same of the source when it has read the
//! listed headers before, as long as none of them knows the name of such a guard.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a source begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::program) struct Leading {
    /// As includes name them, each once, in order.
    pub(in crate::program) headers: Vec<String>,
    /// The macros that keep the user's headers from being read twice.
    pub(in crate::program) guards: BTreeSet<String>,
}

/// Reads the beginning of a source, and of `included` before it, as the command includes them; without a source, of these
/// alone. `folders` are those that the command names for the user's headers: in quotes only, and for all.
pub(in crate::program) fn leading_headers(
    included: &[&Path],
    source: Option<&Path>,
    folders: (&[PathBuf], &[PathBuf]),
) -> Leading {
    let mut reader = Reader {
        quoted: folders.0,
        folders: folders.1,
        read_once: BTreeSet::new(),
        files: 0,
        leading: Leading::default(),
    };
    let here = Path::new("");
    let included = included.iter().try_for_each(|name| {
        let name = name.to_str()?;
        reader.include(here, name, true)
    });
    // Where it ends does not matter.
    let _ended = included.and_then(|()| reader.read(source?));
    reader.leading
}

struct Reader<'a> {
    quoted: &'a [PathBuf],
    folders: &'a [PathBuf],
    /// Those with `#pragma once`.
    read_once: BTreeSet<PathBuf>,
    files: usize,
    leading: Leading,
}

/// Files that are read for one source, so that an include without an end is one.
const MOST_FILES: usize = 128;

impl Reader<'_> {
    /// `None` where something else is said in a file, or it cannot be read.
    fn read(&mut self, path: &Path) -> Option<()> {
        self.files += 1;
        if self.files > MOST_FILES {
            return None;
        }
        // What is a pipe can be read once.
        if !path.is_file() {
            return None;
        }
        let text = std::fs::read_to_string(path).ok()?;
        let text = without_comments(&text);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let mut lines: &[&str] = &lines
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>();
        if let Some((guard, guarded)) = guarded(lines) {
            if !self.leading.guards.insert(guard.to_owned()) {
                return Some(());
            }
            lines = guarded;
        }
        for line in lines {
            let directive = line.strip_prefix('#')?.trim_start();
            if let Some(pragma) = directive.strip_prefix("pragma") {
                if pragma.trim() != "once" {
                    return None;
                }
                if !self.read_once.insert(path.canonicalize().ok()?) {
                    return Some(());
                }
                continue;
            }
            let name = directive.strip_prefix("include")?.trim_start();
            let quoted = name
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            let angled = name
                .strip_prefix('<')
                .and_then(|rest| rest.strip_suffix('>'));
            let name = quoted.or(angled)?;
            let is_plain =
                |letter: char| letter.is_ascii_alphanumeric() || "_./+-".contains(letter);
            if name.is_empty() || !name.chars().all(is_plain) {
                return None;
            }
            self.include(path.parent()?, name, quoted.is_some())?;
        }
        Some(())
    }

    fn include(&mut self, here: &Path, name: &str, is_quoted: bool) -> Option<()> {
        let quoted = std::iter::once(here).chain(self.quoted.iter().map(PathBuf::as_path));
        let quoted = quoted.filter(|_| is_quoted);
        let mut places = quoted
            .chain(self.folders.iter().map(PathBuf::as_path))
            .map(|folder| folder.join(name));
        if let Some(file) = places.find(|place| place.is_file()) {
            return self.read(&file);
        }
        if !self.leading.headers.iter().any(|header| header == name) {
            self.leading.headers.push(name.to_owned());
        }
        Some(())
    }
}

/// The macro that the whole of a file stands under, if it is not defined yet, and what that is.
fn guarded<'l, 't>(lines: &'l [&'t str]) -> Option<(&'t str, &'l [&'t str])> {
    let [first, second, inner @ .., last] = lines else {
        return None;
    };
    let directive = |line: &'t str| {
        let text = line.strip_prefix('#')?.trim_start();
        let end = text.find(|letter: char| !letter.is_ascii_alphabetic());
        let (name, rest) = text.split_at(end.unwrap_or(text.len()));
        Some((name, rest.trim()))
    };
    let (("ifndef", guard), ("define", definition)) = (directive(first)?, directive(second)?)
    else {
        return None;
    };
    let is_name = guard
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let is_defined = definition.split_whitespace().next() == Some(guard);
    if !is_name || !is_defined || directive(last)?.0 != "endif" {
        return None;
    }
    let mut depth = 1_usize;
    for (name, _) in inner.iter().filter_map(|line| directive(line)) {
        match name {
            "if" | "ifdef" | "ifndef" => depth += 1,
            "endif" => depth -= 1,
            "else" | "elif" | "elifdef" | "elifndef" if depth == 1 => return None,
            _ => {}
        }
        if depth == 0 {
            return None;
        }
    }
    (depth == 1).then_some((guard, inner))
}

/// A text with a blank in place of each comment.
fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("//") && !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if rest.starts_with("//") {
            kept.push(' ');
            end_of_line(rest)
        } else if let Some(inner) = rest.strip_prefix("/*") {
            kept.push(' ');
            inner.find("*/").map_or(rest.len(), |end| end + 4)
        } else if rest.starts_with('/') {
            kept.push('/');
            1
        } else {
            let end = end_of_literal(rest);
            kept.push_str(&rest[..end]);
            end
        };
        rest = &rest[end..];
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// The bytes of the line that a text begins with, which goes on in the next behind a stroke.
fn end_of_line(text: &str) -> usize {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    let mut ends = ends.filter(|at| !text[..*at].trim_end().ends_with('\\'));
    ends.next().unwrap_or(text.len())
}

/// The bytes of a literal that a text begins with, no further than its line goes.
fn end_of_literal(text: &str) -> usize {
    let mut letters = text.char_indices();
    let quote = letters.next().map(|(_, letter)| letter);
    while let Some((at, letter)) = letters.next() {
        if letter == '\n' {
            return at;
        }
        if Some(letter) == quote {
            return at + 1;
        }
        if letter == '\\' {
            letters.next();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `main.cu` begins with, among other files.
    fn leading(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("own")).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let own = [folder.path().join("own")];
        leading_headers(&[], Some(&folder.path().join("main.cu")), (&[], &own)).headers
    }

    #[test]
    fn includes_in_front_of_all_else_are_listed() {
        let guarded = "/* Ours. */\n#ifndef OWN_H\n#define OWN_H\n#include <map>\n#if 1\nint own;\n#endif\n#endif // OWN_H\n";
        let header = |text: &'static str| ("own/own.h", text);
        for (source, own, expected) in [
            (
                "#include <vector>\n# include <cstdio> // for printf\nint x;\n#include <map>\n",
                "",
                "vector cstdio",
            ),
            (
                "// A \"source\"\n/* of two\n lines */ #include <vector>\n#include <vector>\n",
                "",
                "vector",
            ),
            (
                "#include \"own.h\"\n#include <vector>\n",
                "#pragma once\n#include <map>\n",
                "map vector",
            ),
            (
                "#include <own.h>\n#include \"own.h\"\n#include <vector>\n",
                "#pragma once\n#include <map>\n",
                "map vector",
            ),
            ("#include <own.h>\n#include <vector>\n", guarded, "map"),
            ("#include \"thrust/sort.h\"\n", "", "thrust/sort.h"),
            (
                "// No end \\\n#include <map>\n#include <vector>\n",
                "",
                "vector",
            ),
            (
                "#include \"own.h\"\n#include <vector>\n",
                "#include \"own.h\"\n",
                "",
            ),
        ] {
            let files = [header(own), ("main.cu", source)];
            assert_eq!(leading(&files).join(" "), expected, "{source} {own}");
        }
    }

    #[test]
    fn what_may_change_a_header_ends_the_list() {
        for before in [
            "#define NDEBUG\n",
            "#undef NDEBUG\n",
            "#if 0\n#endif\n",
            "#ifndef NDEBUG\n#define NDEBUG\n#endif\n",
            "#pragma pack(1)\n",
            "#pragma once more\n",
            "#include MACRO\n",
            "#include_next <map>\n",
            "#include <a b>\n",
            "#include <map> int x;\n",
            "#include <map> \\\n\n",
            "int x;\n",
            "\"// no comment\"\n",
            "_Pragma(\"once\")\n",
        ] {
            let source = format!("#include <vector>\n{before}#include <list>\n");
            assert_eq!(leading(&[("main.cu", &source)]), ["vector"], "{before}");
        }
        // A file without an end of its guard, with another branch, or with more behind it.
        for text in [
            "#ifndef A\n#define A\n#include <map>\n",
            "#ifndef A\n#define A\n#include <map>\n#else\n#include <set>\n#endif\n",
            "#ifndef A\n#define A\n#endif\n#include <map>\n",
            "#ifndef A\n#define A\n#endif\n#if 1\n#include <map>\n#endif\n",
            "#ifndef A\n#define B\n#include <map>\n#endif\n",
        ] {
            assert_eq!(
                leading(&[("main.cu", text)]),
                Vec::<String>::new(),
                "{text}"
            );
        }
    }
}
