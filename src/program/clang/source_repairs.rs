//! What nvcc takes and clang refuses, written as clang takes it: a source that clang refuses is read once more
//! with a few places of it changed, where what was meant is beyond doubt.
//!
//! The places are those that clang's messages name. clang reads the changed text under the file's own name,
//! line by line as it was. What no change mends is refused with clang's message about what the user wrote, and
//! with a sentence of ours where the two compilers differ.
//!
//! Invariant: nothing that clang takes as it stands is changed.

mod code;
mod constraints;
mod declarations;
mod dependent;
mod operands;
mod places;
mod redeclarations;
mod shared_variables;
mod sides;
mod templates;
mod variable_arrays;

use crate::tools::ToolError;
use places::{Change, change_at, pragma_of_macro};
use redeclarations::Redeclared;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::string::FromUtf8Error;

/// How often a source is changed: clang may find more behind what it could not read before.
const MOST_ROUNDS: usize = 16;

/// Runs clang over changed sources until it takes them. `run` runs it with further arguments and gives its
/// warnings, to which nvcc's are added where `warns`; `error` is what the first run ended with, and files are
/// made in `folder`.
///
/// # Errors
/// Where no change helps, `error` with the sentences of [`EXPLANATIONS`].
pub(in crate::program) fn run_repaired(
    error: ToolError,
    folder: &Path,
    warns: bool,
    run: impl Fn(&[OsString]) -> Result<String, ToolError>,
) -> Result<String, ToolError> {
    let mut sources = Sources::default();
    let mut latest = said(&error);
    for round in 0..MOST_ROUNDS {
        if !sources.change(&findings(&latest)) {
            break;
        }
        let Some(overlay) = sources.write(folder, round) else {
            break;
        };
        let list = ["-ivfsoverlay".into(), overlay.into()];
        let others = ["-ferror-limit=0"]
            .into_iter()
            .chain(sides::ARGUMENTS)
            .chain(declarations::ARGUMENTS);
        let others = others.map(OsString::from);
        let renamed = sources.renamed.iter().map(OsString::from);
        let arguments: Vec<OsString> = list.into_iter().chain(others).chain(renamed).collect();
        match run(&arguments) {
            Ok(warnings) if warns => return Ok(warnings + &sources.warnings),
            Ok(warnings) => return Ok(warnings),
            Err(error) => latest = said(&error),
        }
    }
    Err(explained(error))
}

/// What clang printed.
fn said(error: &ToolError) -> String {
    match error {
        ToolError::Failed { stderr, .. } => without_colours(stderr),
        ToolError::NotStarted { .. } => String::new(),
    }
}

/// An error of clang's, or a note to it.
struct Complaint<'a> {
    file: &'a str,
    /// Both count from 1, the column in bytes.
    line: usize,
    column: usize,
    message: &'a str,
}

/// An error with the notes to it that say what may be changed.
struct Finding<'a> {
    error: Complaint<'a>,
    notes: Vec<Complaint<'a>>,
}

/// The errors in what clang printed.
fn findings(text: &str) -> Vec<Finding<'_>> {
    let mut found: Vec<Finding<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(error) = complaint(line, ": error: ") {
            let notes = Vec::new();
            found.push(Finding { error, notes });
        } else if let (Some(note), Some(last)) = (complaint(line, ": note: "), found.last_mut())
            && [
                sides::is_about_sides,
                sides::is_about_need,
                sides::is_about_attributes,
                redeclarations::is_about_declaration,
                is_about_builtin,
                is_about_macro,
                is_about_candidate,
                constraints::is_about_requirement,
            ]
            .iter()
            .any(|is_about| is_about(note.message))
        {
            last.notes.push(note);
        }
    }
    found
}

/// What a line says of a place.
fn complaint<'a>(line: &'a str, kind: &str) -> Option<Complaint<'a>> {
    let (place, message) = line.split_once(kind)?;
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    let file = parts.next()?;
    Some(Complaint {
        file,
        line,
        column,
        message,
    })
}

/// Whether a note says that clang knows a name by itself.
fn is_about_builtin(note: &str) -> bool {
    note.starts_with('\'') && note.contains("' is a builtin with type")
}

/// Whether a note says where a macro was defined.
fn is_about_macro(note: &str) -> bool {
    note.starts_with("expanded from macro '")
}

/// Whether a note is about one of several functions that an address may be of.
fn is_about_candidate(note: &str) -> bool {
    note.starts_with("candidate function [with ")
}

/// The header that declares functions of the runtime for device code under the names of those for the host, which nvcc keeps apart.
const DEVICE_RUNTIME: &str = "cuda_device_runtime_api.h";

/// What stands before the names in it, where the others' addresses are taken.
const OF_DEVICE: &str = "sirius_of_device_";

/// The macro that gives a source's own function another name, where g++ does not know the name as clang does
/// (`static uint64_t __rdtsc()`).
fn own_builtin(finding: &Finding<'_>) -> Option<String> {
    let rest = finding
        .error
        .message
        .strip_prefix("static declaration of '")?;
    let name = rest.strip_suffix("' follows non-static declaration")?;
    let known = finding
        .notes
        .iter()
        .any(|note| is_about_builtin(note.message));
    known.then(|| format!("-D{name}=__sirius_own_{name}"))
}

/// Files as they are read instead of what is written.
#[derive(Default)]
struct Sources {
    changed: BTreeMap<PathBuf, String>,
    /// Definitions of macros, by which functions have other names.
    renamed: BTreeSet<String>,
    /// What nvcc warns of where this reads on.
    warnings: String,
}

impl Sources {
    /// Changes the places that errors name; whether there is one.
    fn change(&mut self, findings: &[Finding<'_>]) -> bool {
        let mut changes: BTreeMap<PathBuf, Vec<Change>> = BTreeMap::new();
        for finding in findings {
            for (path, change) in self.changes(finding) {
                changes.entry(path).or_default().push(change);
            }
        }
        let known = self.renamed.len();
        self.renamed.extend(findings.iter().filter_map(own_builtin));
        let mut any = self.renamed.len() > known;
        for (path, mut changes) in changes {
            let Some(before) = self.text(&path) else {
                continue;
            };
            changes.sort_by_key(|change| change.range.start);
            let mut after = String::new();
            let mut end = 0;
            for change in changes {
                if change.range.start >= end {
                    after += &before[end..change.range.start];
                    after += &change.text;
                    end = change.range.end.max(change.range.start + 1);
                    after += &before[change.range.end..end];
                }
            }
            after += &before[end..];
            if after != before {
                any = true;
                self.changed.insert(path, after);
            }
        }
        any
    }

    /// What mends an error: a change where it is (a specialisation's is there too) or in the macro that it comes from, else a body that the
    /// host's side leaves out, else functions that become those of both sides.
    fn changes(&mut self, finding: &Finding<'_>) -> Vec<(PathBuf, Change)> {
        let Finding { error, notes } = finding;
        if error.message == templates::MESSAGE {
            let doubled = |place: &Complaint<'_>| {
                let (path, text, at) = self.place(place)?;
                Some((path, templates::doubled_signs(&text, at)?))
            };
            return notes
                .iter()
                .chain([error])
                .find_map(doubled)
                .into_iter()
                .collect();
        }
        if error
            .message
            .starts_with("address of overloaded function '")
        {
            return self.device_functions_apart(notes);
        }
        let required: Vec<_> = (notes.iter())
            .filter(|note| constraints::is_about_requirement(note.message))
            .filter_map(|note| {
                let (path, text, at) = self.place(note)?;
                let changes = constraints::for_both_sides(&text, at)?;
                Some(changes.map(|change| (path.clone(), change)))
            })
            .flatten()
            .collect();
        if !required.is_empty() {
            return required;
        }
        let macros = notes.iter().filter(|note| is_about_macro(note.message));
        let mut pragmas = macros.filter_map(|note| {
            let (path, text, at) = self.place(note)?;
            Some((path, pragma_of_macro(&text, at)?))
        });
        if let Some(change) = pragmas.next() {
            return vec![change];
        }
        if let Some((path, text, at)) = self.place(error)
            && let Some(change) = change_at(&text, at, error.message)
        {
            if let Some(warning) = change.warning {
                self.warn(error, warning);
            }
            return vec![(path, change)];
        }
        if let Some((path, text, at)) = self.place(error) {
            let changes = [
                declarations::declared(&text, at, error.message),
                operands::operand(&text, at, error.message),
            ];
            let changes = changes.into_iter().flatten();
            let changes: Vec<_> = changes.map(|change| (path.clone(), change)).collect();
            if !changes.is_empty() {
                return changes;
            }
        }
        if let Some(redeclared) = redeclarations::redeclared(error.message) {
            return self.for_both_sides(finding, redeclared);
        }
        if sides::is_specialisation(error.message) {
            let for_both = |place: &Complaint<'_>| {
                let (path, text, at) = self.place(place)?;
                Some((path, sides::specialisation_for_both(&text, at)?))
            };
            let mut templates =
                (notes.iter()).filter(|note| sides::is_about_attributes(note.message));
            let mended = match (templates.next(), templates.next()) {
                // One that is for both sides already leaves its template.
                (Some(template), None) => for_both(error).or_else(|| for_both(template)),
                (Some(_), Some(_)) => for_both(error),
                (None, _) => None,
            };
            return mended.into_iter().collect();
        }
        let (calls, needs): (Vec<_>, Vec<_>) = notes
            .iter()
            .partition(|note| sides::is_about_sides(note.message));
        let around = |place: &Complaint<'_>, known: bool| {
            let (path, text, at) = self.place(place)?;
            let changes = sides::for_device(&text, at, known)?;
            Some(changes.map(|change| (path.clone(), change)).into())
        };
        let body = around(error, !calls.is_empty());
        let mut needs = needs
            .into_iter()
            .filter(|note| sides::is_about_need(note.message));
        body.or_else(|| needs.find_map(|need| around(need, false)))
            .unwrap_or_else(|| {
                let function = |note: &Complaint<'_>| {
                    let (path, text, at) = self.place(note)?;
                    Some((path, sides::of_both_sides(&text, at)?))
                };
                calls.into_iter().filter_map(function).collect()
            })
    }

    /// What makes a function one of both sides whose declarations are for different ones.
    fn for_both_sides(
        &mut self,
        finding: &Finding<'_>,
        redeclared: Redeclared,
    ) -> Vec<(PathBuf, Change)> {
        let Finding { error, notes } = finding;
        let mut declarations = notes
            .iter()
            .filter(|note| redeclarations::is_about_declaration(note.message));
        let earlier = declarations.next();
        // Where several declarations are near, nobody says which one is meant.
        if declarations.next().is_some() {
            return Vec::new();
        }
        let later = matches!(redeclared, Redeclared::OtherSide { .. }).then_some(error);
        let change = |place: &Complaint<'_>| {
            let (path, text, at) = self.place(place)?;
            Some((path, redeclarations::for_both_sides(&text, at)?))
        };
        let changes: Vec<_> = earlier
            .into_iter()
            .chain(later)
            .filter_map(change)
            .collect();
        if !changes.is_empty() && redeclared.warns() {
            self.warn(error, redeclarations::WARNING);
        }
        changes
    }

    /// Gives functions of the runtime for device code other names.
    fn device_functions_apart(&self, notes: &[Complaint<'_>]) -> Vec<(PathBuf, Change)> {
        let candidates = notes.iter().filter(|note| is_about_candidate(note.message));
        let of_device = candidates.filter(|note| note.file.ends_with(DEVICE_RUNTIME));
        let renamed = of_device.filter_map(|note| {
            let (path, text, at) = self.place(note)?;
            let done = text[at..].starts_with(OF_DEVICE);
            (!done).then(|| (path, Change::insert(at, OF_DEVICE)))
        });
        renamed.collect()
    }

    /// Says once what nvcc warns of at a place.
    fn warn(&mut self, place: &Complaint<'_>, warning: &str) {
        let Complaint {
            file, line, column, ..
        } = place;
        let warning = format!("{file}:{line}:{column}: warning: {warning}\n");
        if !self.warnings.contains(&warning) {
            self.warnings += &warning;
        }
    }

    /// A file as it is read now: where it is not UTF-8, with a character for each byte.
    fn text(&self, path: &Path) -> Option<String> {
        if let Some(text) = self.changed.get(path) {
            return Some(text.clone());
        }
        let bytes = std::fs::read(path).ok()?;
        let by_bytes =
            |error: FromUtf8Error| error.into_bytes().into_iter().map(char::from).collect();
        Some(String::from_utf8(bytes).unwrap_or_else(by_bytes))
    }

    /// The file of a place, its text and where in it the place is.
    fn place(&self, of: &Complaint<'_>) -> Option<(PathBuf, String, usize)> {
        let path = absolute(of.file)?;
        let text = self.text(&path)?;
        let at = offset(&text, of.line, of.column, is_by_bytes(&path))?;
        Some((path, text, at))
    }

    /// Writes the changed files and the list by which clang finds them.
    fn write(&self, folder: &Path, round: usize) -> Option<PathBuf> {
        let mut roots = Vec::new();
        for (index, (path, text)) in self.changed.iter().enumerate() {
            let place = folder.join(format!("repaired_{round}_{index}"));
            let bytes: Option<Vec<u8>> = match is_by_bytes(path) {
                true => text.chars().map(|byte| u8::try_from(byte).ok()).collect(),
                false => Some(text.clone().into_bytes()),
            };
            std::fs::write(&place, bytes?).ok()?;
            roots.push(serde_json::json!({
                "type": "file",
                "name": path.to_str()?,
                "external-contents": place.to_str()?,
                "use-external-name": false,
            }));
        }
        let overlay = folder.join(format!("overlay_{round}.yaml"));
        let list = serde_json::json!({ "version": 0, "case-sensitive": "true", "roots": roots });
        std::fs::write(&overlay, list.to_string()).ok()?;
        Some(overlay)
    }
}

/// A path as clang looks it up in its list.
fn absolute(file: &str) -> Option<PathBuf> {
    let whole = std::env::current_dir().ok()?.join(file);
    let mut path = PathBuf::new();
    for component in whole.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            component => path.push(component),
        }
    }
    Some(path)
}

/// Whether each character of a file's text is one of its bytes.
fn is_by_bytes(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| std::str::from_utf8(&bytes).is_err())
}

/// Where a line's column is, of which clang counts a byte of the file each.
fn offset(text: &str, line: usize, column: usize, is_by_bytes: bool) -> Option<usize> {
    let begin = match line.checked_sub(1)? {
        0 => 0,
        before => text.match_indices('\n').nth(before - 1)?.0 + 1,
    };
    let before = column.checked_sub(1)?;
    let at = match is_by_bytes {
        true => begin + text[begin..].char_indices().nth(before)?.0,
        false => begin + before,
    };
    text.is_char_boundary(at).then_some(at)
}

pub(in crate::program) fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once('\u{1b}') {
        plain += before;
        rest = sequence
            .split_once(|last: char| last.is_ascii_alphabetic())
            .map_or("", |(_, after)| after);
    }
    plain + rest
}

/// What is said after clang's message where nvcc takes what clang refuses: a piece of the message, the sentence.
const EXPLANATIONS: [(&str, &str); 7] = [
    (
        "in __host__ __device__ function",
        "nvcc only warns where a __host__ __device__ function calls one of the other side, and a kernel that comes to \
         such a call does anything; put the call between #ifndef __CUDA_ARCH__ and #endif, or make what is called \
         __host__ __device__",
    ),
    (
        "initialization is not supported for __shared__ variables",
        "nvcc leaves a __shared__ variable whose constructor does something uninitialised, with a warning; this one \
         could not be read so: give it a declaration of its own in the function, without an initialiser",
    ),
    (
        "' cannot be 'extern'",
        "nvcc takes an extern __shared__ variable that has a size for a definition, one for all functions that declare it; define it once \
         without extern, outside of them",
    ),
    (
        super::super::assembly_operands::NO_SCALAR,
        "nvcc takes an object for an operand of asm where it converts to one scalar; where this is such an object, which could not be read so, \
         convert it: \"r\"(+(x))",
    ),
    (
        super::super::assembly_operands::NO_NUMBER,
        "nvcc takes an object for an operand \"n\" of asm where its conversion to a number is constant; where this is such an object, which could \
         not be read so, convert it: \"n\"(+(x))",
    ),
    (
        "cannot jump from switch statement to this case label",
        "nvcc only warns of this in device code; put braces around what follows the other case label",
    ),
    (
        "to follow '#pragma unroll'",
        "nvcc leaves a #pragma unroll aside that no loop follows; this one stands in a macro: take it out there",
    ),
];

/// An error with sentences about what nvcc does otherwise.
fn explained(error: ToolError) -> ToolError {
    match error {
        ToolError::Failed {
            program,
            status,
            mut stderr,
        } => {
            for (piece, sentence) in EXPLANATIONS {
                if without_colours(&stderr).contains(piece) {
                    stderr += &format!("sirius-rs note    : {sentence}\n");
                }
            }
            ToolError::Failed {
                program,
                status,
                stderr,
            }
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::{findings, offset, without_colours};

    #[test]
    fn errors_are_read_with_their_places() {
        let text = "\u{1b}[1ma:b/x.cu:3:14: \u{1b}[0m\u{1b}[0;1;31merror: \u{1b}[0mexpected expression\n\
                    x.cu:4:1: warning: odd\nno place: error: none\n\
                    x.cu:5:2: note: in instantiation of function 'f' requested here\n\
                    x.cu:6:2: note: in a call\n";
        let plain = without_colours(text);
        let found = findings(&plain);
        assert_eq!(found.len(), 1);
        let first = &found[0].error;
        assert_eq!(
            (first.file, first.line, first.column, first.message),
            ("a:b/x.cu", 3, 14, "expected expression")
        );
        let notes: Vec<usize> = found[0].notes.iter().map(|note| note.line).collect();
        assert_eq!(notes, [5]);
    }

    #[test]
    fn lines_and_columns_are_offsets() {
        let text = "ab\ncde\n";
        assert_eq!(offset(text, 1, 1, false), Some(0));
        assert_eq!(offset(text, 2, 3, false), Some(5));
        assert_eq!(offset(text, 9, 1, false), None);
        assert_eq!(offset("a\n\u{e9}\u{f1} b", 2, 4, true), Some(7));
    }
}
