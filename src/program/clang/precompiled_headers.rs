//! What each CUDA source begins with, kept as clang's precompiled header: clang's own wrapper, the compatibility header
//! and what these include, `cuda_runtime.h` among it. Most of a small source's compile is clang reading them, once for
//! each side.
//!
//! A precompiled header is made for one set of options, and only when that is met for the second time. The folder that
//! `SIRIUS_PRECOMPILED_HEADERS` names keeps it, or the cache's.
//!
//! Invariant: clang makes the same of a source with it as without, but for what [`source_places`](super::super::source_places)
//! leaves out. It counts only while the files that it was made from are as they were, and while the folders that the
//! options name have the same files by the names of these. Where clang fails with it, the source is compiled without it,
//! so that no message is about it.

use super::super::front_end_cache::{ENVIRONMENT, Stamp, settled_inputs};
use super::super::lean_headers;
use crate::build::Build;
use crate::cache::{self, Entry};
use crate::files::private_folder;
use crate::tools::{Bounded, Listener, Output, ToolError, Toolchain, run_tool, run_tool_heard};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Runs clang's front end, over lean headers where they will do, and with these precompiled where that was done for the
/// command's options.
///
/// # Errors
/// As [`run_tool_heard`]; what fails to be kept is no error.
pub(in crate::program) fn run_with_precompiled(
    toolchain: &Toolchain,
    arguments: &[OsString],
    build: &Build,
    listener: &mut dyn Listener,
) -> Result<Output, ToolError> {
    let clang = toolchain.clang.as_path();
    if named_folder().is_some_and(|name| name == "off") || Asked::of(arguments).is_none() {
        return run_tool_heard(clang, arguments, build, listener);
    }
    let lean = lean_headers::in_front(arguments, toolchain);
    let mut attempt = run_once((clang, build), &lean, true, listener);
    if matches!(attempt, Attempt::Lacking) {
        attempt = run_once((clang, build), arguments, false, &mut Bounded::default());
    }
    let failures = match attempt {
        Attempt::Done(output) => return Ok(output),
        Attempt::Lacking => None,
        Attempt::Failed(failures) => failures,
    };
    // Whatever was wrong, what the user reads about it comes from a run over the headers themselves.
    let output = run_tool_heard(clang, arguments, build, &mut Bounded::default());
    if let (Ok(_), Some(failures)) = (&output, failures) {
        failures.count_one();
    }
    output
}

/// What came of a run.
enum Attempt {
    Done(Output),
    /// There was none, or the code needs what its headers lacked.
    Lacking,
    /// It failed; where that is counted.
    Failed(Option<Failures>),
}

/// Runs a command over precompiled headers; without them where that is worth it.
fn run_once(
    (clang, build): (&Path, &Build),
    arguments: &[OsString],
    also_without: bool,
    listener: &mut dyn Listener,
) -> Attempt {
    let Some((asked, place)) = Asked::of(arguments).zip(private_folder().ok()) else {
        return Attempt::Lacking;
    };
    let failures = asked.failures(clang);
    if failures.as_ref().is_some_and(Failures::are_too_many) {
        return Attempt::Lacking;
    }
    let header = header_in(place.path());
    let is_there = asked.precompile((clang, build), place.path()).is_some();
    let output = match is_there {
        true => run_tool_heard(clang, &asked.with(&header), build, listener),
        false if also_without => run_tool_heard(clang, arguments, build, listener),
        false => return Attempt::Lacking,
    };
    match output {
        Ok(_) if lean_headers::are_too_lean(asked.output) => Attempt::Lacking,
        Ok(output) if !is_there || asked.put_source_first().is_some() => Attempt::Done(output),
        _ => Attempt::Failed(failures),
    }
}

/// How many sources clang compiled only otherwise than in a certain way, which several sources do not go with: that
/// costs more than it saves.
struct Failures(Entry);

impl Failures {
    fn count(&self) -> u8 {
        let kept = self.0.take().unwrap_or_default();
        kept.first()
            .and_then(|count| count.first().copied())
            .unwrap_or(0)
    }

    fn are_too_many(&self) -> bool {
        self.count() >= MOST_FAILURES
    }

    fn count_one(&self) {
        self.0.keep(&[&[self.count().saturating_add(1)]]);
    }
}

const MOST_FAILURES: u8 = 3;

fn header_in(place: &Path) -> PathBuf {
    place.join("headers.pch")
}

/// A rule for make as clang writes it without a precompiled header, where it names the source before all others. With
/// `-MP` it makes a target of each but the one that it names first.
fn with_source_first(rule: &str, source: &str) -> Option<String> {
    let (target, rest) = rule.split_once(": ")?;
    let end = rest.replace("\\\n", "  ").find('\n')?;
    let (listed, targets) = rest.split_at(end);
    let names: Vec<&str> = listed
        .split_whitespace()
        .filter(|name| *name != "\\")
        .collect();
    let first = names.first()?;
    let mut sorted = names.clone();
    sorted.sort_by_key(|name| *name != source);
    if sorted.first() != Some(&source) {
        return None;
    }
    // A blank within a name stands behind a stroke.
    let listed = sorted.join(" \\\n  ").replace("\\ \\\n  ", "\\ ");
    let (old, new) = (format!("\n{source}:\n"), format!("\n{first}:\n"));
    Some(format!(
        "{target}: {listed}{}",
        targets.replacen(&old, &new, 1)
    ))
}

/// A command that compiles a CUDA source.
struct Asked<'a> {
    arguments: &'a [OsString],
    /// Where our header stands among them.
    header: usize,
    /// Those that a precompiled header depends on.
    lasting: Vec<&'a str>,
    /// The folders that it names for headers, and the environment does.
    folders: Vec<PathBuf>,
    /// That of the toolkit.
    toolkit: &'a Path,
    source: &'a str,
    output: &'a Path,
    /// The file that is to have a rule for make.
    rule: Option<&'a Path>,
}

/// Options that name a folder of headers, in the next word or in their own; longer ones first.
const FOLDERS: [&str; 4] = ["-isystem", "-iquote", "-idirafter", "-I"];

/// Beginnings of options by which clang does something else, or reads otherwise, or lists what it reads in a way that
/// is not known here; all of those about headers (`-imacros`, `-ivfsoverlay`, `-includefirst.h`) are among them. To a
/// debugger clang describes less of what it takes from a precompiled header.
const OTHER: [&str; 10] = [
    "-E",
    "-g",
    "-M",
    "-i",
    "--i",
    "-fsyntax-only",
    "-fmodule",
    "-nostdinc",
    "-Wp,",
    "@",
];

/// Of those, the ones that are understood beside [`FOLDERS`].
const KNOWN: [&str; 9] = [
    "-MD",
    "-MMD",
    "-MP",
    "-MF",
    "-MT",
    "-MQ",
    "-include",
    "-gline-tables-only",
    "-gsrc-hash=none",
];

impl<'a> Asked<'a> {
    /// `None` where it does something else, or headers may come from elsewhere.
    fn of(arguments: &'a [OsString]) -> Option<Self> {
        let words: Option<Vec<&str>> = arguments.iter().map(|word| word.to_str()).collect();
        let words = words?;
        let begins = |word: &str, with: &[&str]| with.iter().any(|begin| word.starts_with(begin));
        let is_other =
            |word: &&str| begins(word, &OTHER) && !begins(word, &FOLDERS) && !KNOWN.contains(word);
        if !words.starts_with(&["-x", "cuda"]) || words.iter().any(is_other) {
            return None;
        }
        let behind = |option: &str| {
            let at = words.iter().position(|word| *word == option)?;
            Some((at + 1, *words.get(at + 1)?))
        };
        let path = |word: &'a str| Path::new(word);
        let mut asked = Self {
            arguments,
            header: behind("-include")?.0,
            lasting: Vec::new(),
            folders: folders_of_environment(),
            toolkit: path(
                words
                    .iter()
                    .find_map(|word| word.strip_prefix("--cuda-path="))?,
            ),
            source: words.get(behind("-o")?.0 + 1)?,
            output: path(behind("-o")?.1),
            rule: behind("-MF").map(|(_, file)| path(file)),
        };
        // Make would have to be told of it in other words.
        let is_plain = !asked.source.contains([' ', '\\', '#', '$', ':']);
        if asked.rule.is_some() && !is_plain {
            return None;
        }
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            if let Some(option) = FOLDERS.iter().find(|option| word.starts_with(*option)) {
                asked.lasting.push(word);
                let folder = match &word[option.len()..] {
                    "" => {
                        let folder = rest.next()?;
                        asked.lasting.push(folder);
                        folder
                    }
                    joined => joined,
                };
                asked.folders.push(folder.into());
                continue;
            }
            match word {
                // What a user has included so comes behind our header.
                "-MF" | "-MT" | "-MQ" | "-include" => drop(rest.next()?),
                // The output and the source.
                "-o" => drop((rest.next()?, rest.next()?)),
                "-MD" | "-MMD" | "-MP" | "-emit-llvm" | "-c" | "-fcolor-diagnostics" => {}
                "-Xclang" => match rest.next()? {
                    "-fcuda-include-gpubinary" => drop((rest.next()?, rest.next()?)),
                    option => asked.lasting.extend([word, option]),
                },
                word if word.starts_with("-cuid=") => {}
                word => asked.lasting.push(word),
            }
        }
        Some(asked)
    }

    /// Puts the precompiled header into a folder; `None` where there is none.
    fn precompile(&self, (clang, build): (&Path, &Build), place: &Path) -> Option<()> {
        let entry = Entry::within(folder()?, SORT, self.key(clang)?);
        let header = header_in(place);
        if self.take(&entry, &header)? {
            return Some(());
        }
        let _claim = entry.claim()?;
        // Whoever had it until now may have made one.
        if self.take(&entry, &header)? {
            return Some(());
        }
        let rule = place.join("rule.d");
        let mut arguments: Vec<OsString> = self.lasting.iter().map(OsString::from).collect();
        arguments.extend(["-emit-llvm", "-Xclang", "-emit-pch", "-MD", "-MF"].map(OsString::from));
        arguments.extend([rule.clone().into(), "-c".into(), "-o".into()]);
        arguments.extend([header.clone().into(), self.arguments[self.header].clone()]);
        let started = SystemTime::now();
        match run_tool(clang, &arguments, build) {
            Ok(output) if output.stderr.is_empty() => {}
            // What clang says of headers, it would say of each source.
            Ok(_)
            | Err(ToolError::Failed {
                status: Some(_), ..
            }) => {
                entry.keep(&[UNUSABLE]);
                return None;
            }
            // It was stopped, and may come to an end the next time.
            Err(_) => return None,
        }
        let inputs = settled_inputs(&rule, started)?;
        let beside = self.beside(&inputs);
        let made_from = serde_json::to_vec(&MadeFrom { inputs, beside }).ok()?;
        entry.keep(&[&made_from, &std::fs::read(&header).ok()?]);
        Some(())
    }

    /// Writes the header that an entry has; `Some(false)` where one is to be made.
    fn take(&self, entry: &Entry, header: &Path) -> Option<bool> {
        let Some(kept) = entry.take() else {
            // Most options are met once.
            entry.keep(&[]);
            return None;
        };
        match kept.as_slice() {
            [] => Some(false),
            [made_from, bytes] => {
                let made_from: MadeFrom = serde_json::from_slice(made_from).ok()?;
                let is_unchanged = made_from.inputs.iter().all(Stamp::is_unchanged)
                    && made_from.beside == self.beside(&made_from.inputs);
                if is_unchanged {
                    std::fs::write(header, bytes).ok()?;
                }
                Some(is_unchanged)
            }
            _ => None,
        }
    }

    /// Has the source stand first in the rule for make, if one was asked for; `None` where that fails.
    fn put_source_first(&self) -> Option<()> {
        let Some(rule) = self.rule else {
            return Some(());
        };
        let text = std::fs::read_to_string(rule).ok()?;
        std::fs::write(rule, with_source_first(&text, self.source)?).ok()
    }

    /// Where it is counted how often this fails.
    fn failures(&self, clang: &Path) -> Option<Failures> {
        let mut of = self.key(clang)?;
        of.extend(b"\nfailures");
        Some(Failures(Entry::within(folder()?, SORT, of)))
    }

    /// All that a precompiled header depends on beside files.
    fn key(&self, clang: &Path) -> Option<Vec<u8>> {
        let mut key = cache::tools_as_text([clang, Path::new(&self.arguments[self.header])])?;
        for name in ENVIRONMENT {
            key += &format!("{name}={:?}\n", std::env::var_os(name));
        }
        if self.folders.iter().any(|folder| folder.is_relative()) {
            key += &format!("in {}\n", std::env::current_dir().ok()?.display());
        }
        Some((key + &self.lasting.join("\n")).into_bytes())
    }

    /// What there is in the named folders by the names of these files, as a header that includes one may spell it.
    fn beside(&self, inputs: &[Stamp]) -> BTreeSet<PathBuf> {
        let mut names: BTreeSet<PathBuf> = BTreeSet::new();
        for input in inputs {
            let parts: Vec<_> = input.path.components().collect();
            let longest = parts.len().min(MOST_PARTS_OF_NAME);
            names.extend((1..=longest).map(|count| parts[parts.len() - count..].iter().collect()));
        }
        let mut found = BTreeSet::new();
        for folder in &self.folders {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let entries: BTreeSet<OsString> = entries.map(|entry| entry.file_name()).collect();
            let begins_here = |name: &&PathBuf| {
                let first = name.components().next();
                first.is_some_and(|first| entries.contains(first.as_os_str()))
            };
            let places = names
                .iter()
                .filter(begins_here)
                .map(|name| folder.join(name));
            found.extend(places.filter(|place| place.is_file()));
        }
        found
    }

    /// The command with a precompiled header in place of what it was made from.
    fn with(&self, header: &Path) -> Vec<OsString> {
        let mut arguments = self.arguments[..self.header - 1].to_vec();
        // Without its wrapper clang looks for headers in the toolkit no more; it did so last.
        let include = self.toolkit.join("include").into_os_string();
        arguments
            .extend(["-nocudainc", "-Xclang", "-internal-isystem", "-Xclang"].map(OsString::from));
        arguments.extend([include, "-Xclang".into(), "-include-pch".into()]);
        arguments.extend(["-Xclang".into(), header.into()]);
        arguments.extend_from_slice(&self.arguments[self.header + 1..]);
        arguments
    }
}

/// What is kept beside a precompiled header.
#[derive(Serialize, Deserialize)]
struct MadeFrom {
    inputs: Vec<Stamp>,
    beside: BTreeSet<PathBuf>,
}

/// Our sort of entries of the cache.
const SORT: &str = "headers";

/// What is kept where none can be made.
const UNUSABLE: &[u8] = b"unusable";

/// As `cuda/std/__type_traits/conditional.h` has them, and two more.
const MOST_PARTS_OF_NAME: usize = 6;

/// Where clang looks for headers beside the folders of its options.
fn folders_of_environment() -> Vec<PathBuf> {
    let searches = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];
    let values = searches.iter().filter_map(std::env::var_os);
    values
        .flat_map(|value| std::env::split_paths(&value).collect::<Vec<_>>())
        .collect()
}

fn folder() -> Option<PathBuf> {
    named_folder().map(PathBuf::from).or_else(cache::folder)
}

/// What the user has for a folder; `off` where clang is to read all headers as they stand.
fn named_folder() -> Option<OsString> {
    std::env::var_os("SIRIUS_PRECOMPILED_HEADERS").filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What of a command a precompiled header depends on, with more options in front of and behind the source.
    fn lasting(before: &str, behind: &str) -> Option<String> {
        let command = format!(
            "-x cuda -I own --cuda-path=/cuda -include ours.h -Xclang -target-feature -Xclang +ptx88 {before} \
             -emit-llvm -c -o out.bc x.cu {behind}"
        );
        let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
        Asked::of(&words).map(|asked| asked.lasting.join(" "))
    }

    #[test]
    fn what_differs_between_sources_is_left_out() {
        const ALL: &str = "-x cuda -I own --cuda-path=/cuda -Xclang -target-feature -Xclang +ptx88";
        let image = "-Xclang -fcuda-include-gpubinary -Xclang image -cuid=1";
        for (before, behind) in [
            ("", ""),
            ("-include theirs.h", "-MMD -MF rule.d -MT x.o -MP"),
            (image, "-fcolor-diagnostics"),
        ] {
            assert_eq!(lasting(before, behind).as_deref(), Some(ALL));
        }
        let kept = lasting("-gline-tables-only -idirafter late", "-DFACTOR=3");
        let kept = kept.as_deref().and_then(|kept| kept.strip_prefix(ALL));
        assert_eq!(kept, Some(" -gline-tables-only -idirafter late -DFACTOR=3"));
    }

    #[test]
    fn a_rule_names_its_source_first() {
        let rule = "x.o: /ours.h a\\ b/own.h \\\n  x.cu \\\n  /last.h\n\na\\ b/own.h:\n\nx.cu:\n\n/last.h:\n";
        let expected = "x.o: x.cu \\\n  /ours.h \\\n  a\\ b/own.h \\\n  /last.h\n\na\\ b/own.h:\n\n/ours.h:\n\n/last.h:\n";
        assert_eq!(with_source_first(rule, "x.cu").as_deref(), Some(expected));
        assert_eq!(with_source_first(rule, "y.cu"), None);
        assert_eq!(
            with_source_first(expected, "x.cu").as_deref(),
            Some(expected)
        );
    }

    #[test]
    fn other_uses_of_clang_are_left_alone() {
        for option in [
            "-g",
            "-ggdb",
            "-M",
            "-E",
            "-includefirst.h",
            "--include=first.h",
            "-imacros",
            "-ivfsoverlay",
            "-Wp,-MD",
            "-include-pch",
            "-nostdinc",
            "-fmodules",
            "@more",
        ] {
            assert_eq!(lasting(option, ""), None, "{option}");
        }
    }
}
