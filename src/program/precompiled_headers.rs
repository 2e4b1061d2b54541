//! What each CUDA source begins with, kept as clang's precompiled header: clang's own wrapper, the compatibility header
//! and what these include, `cuda_runtime.h` among it. Most of a small source's compile is clang reading them, once for
//! each side.
//!
//! A precompiled header is made for one set of options, and only when that is met for the second time. The folder that
//! `SIRIUS_PRECOMPILED_HEADERS` names keeps it, or the cache's.
//!
//! Invariant: clang makes the same of a source with it as without, but for the numbers by which it finds places of inline
//! assembly again (`srcloc`). It counts only while the files that it was made from
//! are as they were, and while the folders that the options name have the same files by the names of these. Where clang
//! fails with it, the source is compiled without it, so that no message is about it.

use super::front_end_cache::{ENVIRONMENT, Stamp, settled_inputs};
use crate::cache::{self, Entry};
use crate::cli::{Bounded, Build, Listener, Output, ToolError, run_tool, run_tool_heard};
use crate::files::private_folder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Runs clang's front end, with a precompiled header where there is one for the command.
///
/// # Errors
/// As [`run_tool_heard`]; what fails to be kept is no error.
pub(super) fn run_with_precompiled(
    clang: &Path,
    arguments: &[OsString],
    build: &Build,
    listener: &mut dyn Listener,
) -> Result<Output, ToolError> {
    let precompiled = Asked::of(arguments).and_then(|asked| {
        let place = private_folder().ok()?;
        let inputs = asked.precompile((clang, build), place.path())?;
        Some((asked, place, inputs))
    });
    let Some((asked, place, inputs)) = precompiled else {
        return run_tool_heard(clang, arguments, build, listener);
    };
    let header = header_in(place.path());
    let output = run_tool_heard(clang, &asked.with(&header), build, listener);
    match output {
        Ok(output) if list_inputs(asked.rule, &header, &inputs).is_some() => Ok(output),
        // Whatever was wrong, what the user reads about it comes from a run over the headers themselves.
        _ => run_tool_heard(clang, arguments, build, &mut Bounded::default()),
    }
}

fn header_in(place: &Path) -> PathBuf {
    place.join("headers.pch")
}

/// Puts the files that a precompiled header was made from in its place in a rule for make, if one was asked for.
fn list_inputs(rule: Option<&Path>, header: &Path, inputs: &[Stamp]) -> Option<()> {
    let Some(rule) = rule else { return Some(()) };
    let text = std::fs::read_to_string(rule).ok()?;
    let (before, behind) = text.split_once(header.to_str()?)?;
    let names: Option<Vec<&str>> = inputs.iter().map(|input| input.path.to_str()).collect();
    let text = format!("{before}{}{behind}", names?.join(" \\\n  "));
    std::fs::write(rule, text).ok()
}

/// A command that compiles a CUDA source.
struct Asked<'a> {
    arguments: &'a [OsString],
    /// Where our header stands among them.
    header: usize,
    /// Those that a precompiled header depends on.
    lasting: Vec<&'a str>,
    /// The folders that it names for headers.
    folders: Vec<&'a Path>,
    /// That of the toolkit.
    toolkit: &'a Path,
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
const KNOWN: [&str; 6] = ["-MD", "-MF", "-MT", "-MQ", "-include", "-gline-tables-only"];

impl<'a> Asked<'a> {
    /// `None` where it does something else, or headers may come from elsewhere.
    fn of(arguments: &'a [OsString]) -> Option<Self> {
        let searches = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];
        if searches.iter().any(|name| std::env::var_os(name).is_some()) {
            return None;
        }
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
            folders: Vec::new(),
            toolkit: path(
                words
                    .iter()
                    .find_map(|word| word.strip_prefix("--cuda-path="))?,
            ),
            rule: behind("-MF").map(|(_, file)| path(file)),
        };
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
                asked.folders.push(path(folder));
                continue;
            }
            match word {
                // What a user has included so comes behind our header.
                "-MF" | "-MT" | "-MQ" | "-include" => drop(rest.next()?),
                // The output and the source.
                "-o" => drop((rest.next()?, rest.next()?)),
                "-MD" | "-emit-llvm" | "-c" | "-fcolor-diagnostics" => {}
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

    /// Puts the precompiled header into a folder, and gives what it was made from; `None` where there is none.
    fn precompile(&self, (clang, build): (&Path, &Build), place: &Path) -> Option<Vec<Stamp>> {
        let entry = Entry::within(folder()?, SORT, self.key(clang)?);
        let kept = entry.take();
        let Some(kept) = kept else {
            // Most options are met once.
            entry.keep(&[]);
            return None;
        };
        let header = header_in(place);
        if let [made_from, bytes] = kept.as_slice() {
            let made_from: MadeFrom = serde_json::from_slice(made_from).ok()?;
            let is_unchanged = made_from.inputs.iter().all(Stamp::is_unchanged)
                && made_from.beside == self.beside(&made_from.inputs);
            if is_unchanged {
                std::fs::write(&header, bytes).ok()?;
                return Some(made_from.inputs);
            }
        } else if !kept.is_empty() {
            return None;
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
        let made_from = MadeFrom { inputs, beside };
        let description = serde_json::to_vec(&made_from).ok()?;
        entry.keep(&[&description, &std::fs::read(&header).ok()?]);
        Some(made_from.inputs)
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

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("SIRIUS_PRECOMPILED_HEADERS").filter(|name| !name.is_empty());
    match named {
        Some(name) if name == "off" => None,
        Some(name) => Some(name.into()),
        None => cache::folder(),
    }
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
            ("-include theirs.h", "-MD -MF rule.d -MT x.o"),
            (image, "-fcolor-diagnostics"),
        ] {
            assert_eq!(lasting(before, behind).as_deref(), Some(ALL));
        }
        let kept = lasting("-gline-tables-only -idirafter late", "-DFACTOR=3");
        let kept = kept.as_deref().and_then(|kept| kept.strip_prefix(ALL));
        assert_eq!(kept, Some(" -gline-tables-only -idirafter late -DFACTOR=3"));
    }

    #[test]
    fn other_uses_of_clang_are_left_alone() {
        for option in [
            "-g",
            "-ggdb",
            "-MMD",
            "-MP",
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
