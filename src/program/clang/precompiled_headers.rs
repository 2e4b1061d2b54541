//! What sources begin with, kept as clang's precompiled headers: for each CUDA source clang's own wrapper, the
//! compatibility header and what these include, `cuda_runtime.h` among it; for a source of C++ or CUDA what it
//! [includes first](super::super::leading_headers). Most of a small source's compile is clang reading them, once for each side.
//!
//! A precompiled header is made for one set of options and of headers, and only when that is met for the second time. The
//! folder that `SIRIUS_PRECOMPILED_HEADERS` names keeps it, or the cache's.
//!
//! Invariant: clang makes the same of a source with it as without, but for what [`source_places`](super::super::source_places)
//! leaves out. It counts only while the files that it was made from are as they were, and while the folders that the
//! options name have the same files by the names of these. Where clang fails with it, the source is compiled without it,
//! so that no message is about it.

use super::super::front_end_cache::{ENVIRONMENT, Stamp, settled_inputs};
use super::super::leading_headers::{Leading, leading_headers};
use super::super::lean_headers;
use crate::build::Build;
use crate::cache::{self, Entry};
use crate::files::{private_folder, write_whole};
use crate::tools::{Bounded, Listener, Output, ToolError, Toolchain, run_tool, run_tool_heard};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
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
    let asked = Asked::of(arguments).filter(|_| named_folder().is_none_or(|name| name != "off"));
    let Some(asked) = asked else {
        return run_tool_heard(clang, arguments, build, listener);
    };
    let attempt = match asked.header {
        Some(_) => {
            let lean = lean_headers::in_front(arguments, toolchain);
            match run_once((clang, build), &lean, true, listener) {
                Attempt::Lacking => {
                    run_once((clang, build), arguments, false, &mut Bounded::default())
                }
                done => done,
            }
        }
        None => run_once((clang, build), arguments, false, listener),
    };
    let failures = match attempt {
        Attempt::Done(output) => return Ok(output),
        Attempt::Lacking if asked.header.is_none() => {
            return run_tool_heard(clang, arguments, build, listener);
        }
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
    if asked.header.is_some() && asked.fails_too_often(clang) {
        return Attempt::Lacking;
    }
    let widest = asked.widest((clang, build), place.path());
    let output = match &widest {
        Some(used) => {
            let arguments = used.with(&header_in(place.path()));
            run_tool_heard(clang, &arguments, build, listener)
        }
        None if also_without => run_tool_heard(clang, arguments, build, listener),
        None => return Attempt::Lacking,
    };
    let used = widest.as_ref();
    match output {
        Ok(_) if lean_headers::are_too_lean(asked.output) => Attempt::Lacking,
        Ok(output) if used.is_none_or(|used| used.put_source_first().is_some()) => {
            Attempt::Done(output)
        }
        _ => Attempt::Failed(used.unwrap_or(&asked).failures(clang)),
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

/// A rule for make as clang writes it without a precompiled header, where it names the source before all others, and no
/// file that we `made`. With `-MP` it makes a target of each but the one that it names first.
fn with_source_first(rule: &str, source: &str, made: Option<&Path>) -> Option<String> {
    let (target, rest) = rule.split_once(": ")?;
    let end = rest.replace("\\\n", "  ").find('\n')?;
    let (listed, targets) = rest.split_at(end);
    let names: Vec<&str> = listed
        .split_whitespace()
        .filter(|name| *name != "\\")
        .collect();
    let first = names.first()?;
    let is_made = |name: &str| made == Some(Path::new(name));
    let mut sorted = names.clone();
    sorted.retain(|name| !is_made(name));
    sorted.sort_by_key(|name| *name != source);
    if sorted.first() != Some(&source) {
        return None;
    }
    // A blank within a name stands behind a stroke.
    let listed = sorted.join(" \\\n  ").replace("\\ \\\n  ", "\\ ");
    let old = format!("\n{source}:\n");
    let new = match is_made(first) {
        true => String::from("\n"),
        false => format!("\n{first}:\n"),
    };
    Some(format!(
        "{target}: {listed}{}",
        targets.replacen(&old, &new, 1)
    ))
}

/// A command that compiles a source of C++ or CUDA.
#[derive(Clone)]
struct Asked<'a> {
    arguments: &'a [OsString],
    /// Where our header stands among them, which CUDA sources have.
    header: Option<usize>,
    /// The headers that a precompiled one has beside ours, as includes name them.
    leading: Vec<String>,
    /// Those that the user has included before the source.
    included: Vec<&'a Path>,
    /// Those that a precompiled header depends on.
    lasting: Vec<&'a str>,
    /// The folders that it names for headers, and the environment does.
    folders: Vec<PathBuf>,
    /// Those for includes in quotes, and for all, whose headers may be the user's.
    own: [Vec<PathBuf>; 2],
    /// That of the toolkit, where it names one.
    toolkit: Option<&'a Path>,
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
        let is_cuda = words.starts_with(&["-x", "cuda"]);
        let is_known = is_cuda || words.starts_with(&["-x", "c++"]);
        if !is_known || words.iter().any(is_other) {
            return None;
        }
        let behind = |option: &str| {
            let at = words.iter().position(|word| *word == option)?;
            Some((at + 1, *words.get(at + 1)?))
        };
        let path = |word: &'a str| Path::new(word);
        let mut asked = Self {
            arguments,
            header: match is_cuda {
                true => Some(behind("-include")?.0),
                false => None,
            },
            leading: Vec::new(),
            included: Vec::new(),
            lasting: Vec::new(),
            folders: folders_of_environment(),
            own: [Vec::new(), Vec::new()],
            toolkit: words
                .iter()
                .find_map(|word| word.strip_prefix("--cuda-path="))
                .map(path),
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
                match *option {
                    "-iquote" => asked.own[0].push(folder.into()),
                    "-I" => asked.own[1].push(folder.into()),
                    _ => {}
                }
                continue;
            }
            match word {
                "-MF" | "-MT" | "-MQ" => drop(rest.next()?),
                // What a user has included so comes behind our header.
                "-include" => asked.included.push(path(rest.next()?)),
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
        // Ours, in which headers stand for those of the toolkit.
        if asked.own[1].is_empty() || (is_cuda && asked.included.is_empty()) {
            return None;
        }
        asked.own[1].remove(0);
        asked.own[1].extend(folders_of_environment());
        if is_cuda {
            asked.included.remove(0);
        }
        Some(asked)
    }

    /// Puts a precompiled header into a folder, that with the most headers in which the source begins; the command that
    /// such a one is for. `None` where there is none.
    fn widest(&self, (clang, build): (&Path, &Build), place: &Path) -> Option<Self> {
        let ours = match self.header {
            Some(_) => Some(self.precompile((clang, build), place)?),
            None => None,
        };
        let wider = self.begins_with();
        let mut wider = wider.into_iter();
        let used = wider.find_map(|leading| self.wider(leading, &ours, (clang, build), place));
        let used = used.or_else(|| {
            let ours = ours?;
            Some((self.clone(), ours))
        });
        let (asked, precompiled) = used?;
        std::fs::write(header_in(place), &precompiled.bytes).ok()?;
        Some(asked)
    }

    /// With headers that the source begins with, beside ours.
    fn wider(
        &self,
        leading: Leading,
        ours: &Option<Precompiled>,
        (clang, build): (&Path, &Build),
        place: &Path,
    ) -> Option<(Self, Precompiled)> {
        let Leading {
            mut headers,
            guards,
        } = leading;
        // One that the named folders have is another than ours has under its name.
        let is_named = |name: &String| {
            self.folders
                .iter()
                .any(|folder| folder.join(name).is_file())
        };
        headers.retain(|name| !ours.as_ref().is_some_and(|ours| ours.has(name)) || is_named(name));
        if headers.is_empty() {
            return None;
        }
        let wider = Self {
            leading: headers,
            ..self.clone()
        };
        if wider.fails_too_often(clang) {
            return None;
        }
        let precompiled = wider.precompile((clang, build), place)?;
        let knows = |name: &String| may_know(&precompiled.bytes, name);
        (!guards.iter().any(knows)).then_some((wider, precompiled))
    }

    /// What the source begins with: all of it, then what the command includes, which many sources may begin with.
    fn begins_with(&self) -> Vec<Leading> {
        let [quoted, all] = &self.own;
        let begin = |source| leading_headers(&self.included, source, (quoted, all));
        let whole = begin(Some(Path::new(self.source)));
        let included = begin(None);
        match included.headers == whole.headers {
            true => vec![whole],
            false => vec![whole, included],
        }
    }

    /// The precompiled header, made where that is worth it, by way of a folder.
    fn precompile(&self, (clang, build): (&Path, &Build), place: &Path) -> Option<Precompiled> {
        let entry = Entry::within(folder()?, SORT, self.key(clang)?);
        if let Taken::Whole(precompiled) = self.take(&entry)? {
            return Some(precompiled);
        }
        let _claim = entry.claim()?;
        // Whoever had it until now may have made one.
        if let Taken::Whole(precompiled) = self.take(&entry)? {
            return Some(precompiled);
        }
        let header = header_in(place);
        let made_from = self.source_of_header()?;
        let rule = place.join("rule.d");
        let mut arguments: Vec<OsString> = self.lasting.iter().map(OsString::from).collect();
        arguments.extend(["-emit-llvm", "-Xclang", "-emit-pch", "-MD", "-MF"].map(OsString::from));
        arguments.extend([rule.clone().into(), "-c".into(), "-o".into()]);
        arguments.extend([header.clone().into(), made_from.into_os_string()]);
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
        let bytes = std::fs::read(&header).ok()?;
        entry.keep(&[&serde_json::to_vec(&made_from).ok()?, &bytes]);
        Some(Precompiled { made_from, bytes })
    }

    /// What an entry has; `None` where there is none that can be used or is worth making.
    fn take(&self, entry: &Entry) -> Option<Taken> {
        let Some(mut kept) = entry.take() else {
            // Most options are met once.
            entry.keep(&[]);
            return None;
        };
        let bytes = kept.pop();
        match (bytes, kept.pop()) {
            (None, _) => Some(Taken::ToBeMade),
            (Some(bytes), Some(made_from)) => {
                let made_from: MadeFrom = serde_json::from_slice(&made_from).ok()?;
                let is_unchanged = made_from.inputs.iter().all(Stamp::is_unchanged)
                    && made_from.beside == self.beside(&made_from.inputs);
                Some(match is_unchanged {
                    true => Taken::Whole(Precompiled { made_from, bytes }),
                    false => Taken::ToBeMade,
                })
            }
            _ => None,
        }
    }

    /// The source that the precompiled header is made from, which stays: clang looks for it again.
    fn source_of_header(&self) -> Option<PathBuf> {
        let ours = self.header.map(|at| &self.arguments[at]);
        if let ([], Some(ours)) = (self.leading.as_slice(), ours) {
            return Some(ours.into());
        }
        let mut text = String::new();
        if let Some(ours) = ours {
            text += &format!("#include \"{}\"\n", ours.to_str()?);
        }
        for name in &self.leading {
            text += &format!("#include <{name}>\n");
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let folder = std::path::absolute(folder()?).ok()?;
        let place = folder.join(format!("{:016x}{LEADING}", hasher.finish()));
        let is_there = || std::fs::read(&place).is_ok_and(|found| found == text.as_bytes());
        if !is_there() || Stamp::of(&place)?.changed != LONG_AGO {
            std::fs::create_dir_all(&folder).ok()?;
            write_whole(&place, text.as_bytes()).ok()?;
            // One that is written anew is the same to clang.
            let file = std::fs::File::options().write(true).open(&place).ok()?;
            file.set_modified(LONG_AGO).ok()?;
        }
        Some(place)
    }

    /// Has the source stand first in the rule for make, if one was asked for; `None` where that fails.
    fn put_source_first(&self) -> Option<()> {
        let Some(rule) = self.rule else {
            return Some(());
        };
        let text = std::fs::read_to_string(rule).ok()?;
        let made = (!self.leading.is_empty())
            .then(|| self.source_of_header())
            .flatten();
        std::fs::write(
            rule,
            with_source_first(&text, self.source, made.as_deref())?,
        )
        .ok()
    }

    fn fails_too_often(&self, clang: &Path) -> bool {
        self.failures(clang)
            .is_some_and(|failures| failures.are_too_many())
    }

    /// Where it is counted how often this fails.
    fn failures(&self, clang: &Path) -> Option<Failures> {
        let mut of = self.key(clang)?;
        of.extend(b"\nfailures");
        Some(Failures(Entry::within(folder()?, SORT, of)))
    }

    /// All that a precompiled header depends on beside files.
    fn key(&self, clang: &Path) -> Option<Vec<u8>> {
        let ours = self.header.map(|at| Path::new(&self.arguments[at]));
        let mut key = cache::tools_as_text([Some(clang), ours].into_iter().flatten())?;
        for name in ENVIRONMENT {
            key += &format!("{name}={:?}\n", std::env::var_os(name));
        }
        if self.folders.iter().any(|folder| folder.is_relative()) {
            key += &format!("in {}\n", std::env::current_dir().ok()?.display());
        }
        key += &self.lasting.join("\n");
        for name in &self.leading {
            key += &format!("\n#include <{name}>");
        }
        Some(key.into_bytes())
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
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let include = [
            words(&["-Xclang", "-include-pch", "-Xclang"]),
            vec![header.into()],
        ]
        .concat();
        let (before, behind) = match self.header {
            Some(at) => (&self.arguments[..at - 1], &self.arguments[at + 1..]),
            None => self.arguments.split_at(2),
        };
        // Without its wrapper clang looks for headers in the toolkit no more; it did so last.
        let toolkit = self.toolkit.filter(|_| self.header.is_some());
        let toolkit = toolkit.map_or(Vec::new(), |toolkit| {
            let mut folder = words(&["-nocudainc", "-Xclang", "-internal-isystem", "-Xclang"]);
            folder.push(toolkit.join("include").into_os_string());
            folder
        });
        [before, &toolkit, &include, behind].concat()
    }
}

/// A precompiled header.
struct Precompiled {
    made_from: MadeFrom,
    bytes: Vec<u8>,
}

impl Precompiled {
    /// Whether it has a header, as an include names that.
    fn has(&self, name: &str) -> bool {
        let mut inputs = self.made_from.inputs.iter();
        inputs.any(|input| input.path.ends_with(name))
    }
}

/// What was found of a precompiled header.
enum Taken {
    Whole(Precompiled),
    ToBeMade,
}

/// What is kept beside a precompiled header.
#[derive(Serialize, Deserialize)]
struct MadeFrom {
    inputs: Vec<Stamp>,
    beside: BTreeSet<PathBuf>,
}

/// When the source of a precompiled header was changed, as far as clang is told.
const LONG_AGO: SystemTime = SystemTime::UNIX_EPOCH;

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

/// How the names of lists of leading headers end, behind a number.
const LEADING: &str = ".leading.h";

/// Whether a message names a list of leading headers.
pub(in crate::program) fn names_leading(message: &str) -> bool {
    message.match_indices(LEADING).any(|(end, _)| {
        let name = message[..end].rsplit(['/', ' ']).next();
        name.is_some_and(|name| name.len() == 16 && u64::from_str_radix(name, 16).is_ok())
    })
}

/// What the user has for a folder; `off` where clang is to read all headers as they stand.
fn named_folder() -> Option<OsString> {
    std::env::var_os("SIRIUS_PRECOMPILED_HEADERS").filter(|name| !name.is_empty())
}

/// Whether a precompiled header knows an identifier. clang writes each one that it met, with its length not far before it;
/// one that merely ends in this name has other letters there.
fn may_know(bytes: &[u8], name: &str) -> bool {
    let lengths = [name.len(), name.len() + 1];
    memmem::find_iter(bytes, name).any(|position| {
        let before = &bytes[position.saturating_sub(LENGTH_IS_WITHIN)..position];
        let is_longer = before
            .last()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        !is_longer
            || before
                .iter()
                .any(|byte| lengths.contains(&usize::from(*byte)))
    })
}

/// Bytes before an identifier among which its length is: that, and the length of what is known of it, in at most four each.
const LENGTH_IS_WITHIN: usize = 8;

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
        assert_eq!(
            with_source_first(rule, "x.cu", None).as_deref(),
            Some(expected)
        );
        let without = "x.o: x.cu \\\n  a\\ b/own.h \\\n  /last.h\n\na\\ b/own.h:\n\n\n/last.h:\n";
        let made = Some(Path::new("/ours.h"));
        assert_eq!(
            with_source_first(rule, "x.cu", made).as_deref(),
            Some(without)
        );
        assert_eq!(with_source_first(rule, "y.cu", None), None);
        assert_eq!(
            with_source_first(expected, "x.cu", None).as_deref(),
            Some(expected)
        );
    }

    #[test]
    fn an_identifier_that_ends_in_another_is_not_that() {
        for (bytes, known) in [
            (&b"\0\x10\x1c_BITS_TYPES_COMMON_H\0A"[..], false),
            // Its length, with the end and without, in one byte and in two, and a letter as what is known of it.
            (b"ab\x09\x10COMMON_H\0", true),
            (b"ab\x08\0A\0COMMON_H\0", true),
            (b"ab\x09ACOMMON_H\0", true),
            (b"ab\x09\0AACOMMON_H\0", true),
            // As text.
            (b"#define COMMON_H 1", true),
            (b"COMMON_H", true),
            (b"X_COMMON_H and COMMON_", false),
            (b"X_COMMON_H and COMMON_H", true),
        ] {
            assert_eq!(may_know(bytes, "COMMON_H"), known, "{bytes:?}");
        }
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
