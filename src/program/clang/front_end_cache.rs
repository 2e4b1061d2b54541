//! What clang made of sources, kept for builds that ask for the same again: `SIRIUS_FRONT_END_CACHE`
//! names the folder, without it nothing is kept.
//!
//! For whoever builds the same sources several ways, with fusion off and on, say: reading CUDA's headers
//! is most of a small build.
//!
//! Invariant: an entry counts only for the same command of the same clang in the same folder, while
//! every file that clang read has the size and time of change that it had. What cannot be told so is
//! not kept: a command that asks for dependencies itself, files that change while clang runs.

use super::super::precompiled_headers::run_with_precompiled;
use crate::build::Build;
use crate::files::read_regular;
use crate::tools::{Listener, Output, ToolError, Toolchain};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Runs clang, or takes what an earlier run of the same command made. `temporary` are the arguments that
/// differ from build to build and mean the same, the last of them the file that clang makes. `listener` hears what
/// clang says.
///
/// # Errors
/// As [`run_with_precompiled`]; what fails to be kept is no error.
pub(in crate::program) fn run_front_end(
    toolchain: &Toolchain,
    arguments: &[OsString],
    temporary: &[&Path],
    build: &Build,
    listener: &mut dyn Listener,
) -> Result<Output, ToolError> {
    let folder = std::env::var_os("SIRIUS_FRONT_END_CACHE").filter(|folder| !folder.is_empty());
    // Sources that are read otherwise than they stand have other texts under the same names.
    let folder = folder.filter(|_| !arguments.iter().any(|argument| argument == "-ivfsoverlay"));
    let command = folder
        .as_ref()
        .and_then(|_| Command::new(&toolchain.clang, arguments, temporary));
    let (Some(folder), Some(command), Some(made)) = (folder, command, temporary.last()) else {
        return run_with_precompiled(toolchain, arguments, build, listener);
    };
    let cache = Cache {
        folder: folder.into(),
        command,
    };
    if let Some(mut output) = cache.take(made) {
        // It is said each time.
        listener.hear(output.stderr.as_bytes());
        output.stderr = listener.heard();
        return Ok(output);
    }
    let listed = made.with_extension("d");
    let mut asking = arguments.to_vec();
    asking.extend(["-MD".into(), "-MF".into(), listed.clone().into_os_string()]);
    let started = SystemTime::now();
    let output = run_with_precompiled(toolchain, &asking, build, listener)?;
    // A folder that cannot be written only costs time.
    let _kept = cache.keep(&output, made, &listed, started);
    Ok(output)
}

/// Everything but files that a run of clang depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Command {
    clang: Stamp,
    folder: PathBuf,
    arguments: Vec<String>,
    environment: Vec<Option<String>>,
}

/// Variables that say where clang looks for headers, and what it does.
pub(in crate::program) const ENVIRONMENT: [&str; 5] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "SOURCE_DATE_EPOCH",
];

impl Command {
    /// `None` where it asks for dependencies itself, or is no text.
    fn new(clang: &Path, arguments: &[OsString], temporary: &[&Path]) -> Option<Self> {
        let lasting = arguments
            .iter()
            .filter(|argument| !temporary.iter().any(|path| path.as_os_str() == *argument));
        let lasting: Option<Vec<String>> = lasting
            .map(|argument| argument.to_str().map(str::to_owned))
            .collect();
        let arguments = lasting?;
        let asks = |argument: &String| argument.starts_with("-M") || argument.starts_with("-Wp,");
        if arguments.iter().any(asks) {
            return None;
        }
        let variable = |name| std::env::var(name).ok();
        Some(Self {
            clang: Stamp::of(clang)?,
            folder: std::env::current_dir().ok()?,
            arguments,
            environment: ENVIRONMENT.into_iter().map(variable).collect(),
        })
    }
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::program) struct Stamp {
    pub(in crate::program) path: PathBuf,
    bytes: u64,
    pub(in crate::program) changed: SystemTime,
}

impl Stamp {
    pub(in crate::program) fn of(path: &Path) -> Option<Self> {
        let known = std::fs::metadata(path).ok()?;
        Some(Self {
            path: path.to_owned(),
            bytes: known.len(),
            changed: known.modified().ok()?,
        })
    }

    pub(in crate::program) fn is_unchanged(&self) -> bool {
        Self::of(&self.path).as_ref() == Some(self)
    }
}

/// An entry, beside its bitcode.
#[derive(Serialize, Deserialize)]
struct Entry {
    command: Command,
    inputs: Vec<Stamp>,
    warnings: String,
    /// Its file in the folder.
    bitcode: PathBuf,
}

struct Cache {
    folder: PathBuf,
    command: Command,
}

/// How much earlier a file's time of change may be than the change.
const CLOCK_STEP: Duration = Duration::from_millis(10);

impl Cache {
    fn entry(&self) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        self.command.hash(&mut hasher);
        self.folder.join(format!("{:016x}.json", hasher.finish()))
    }

    /// Puts what is kept where clang would.
    fn take(&self, made: &Path) -> Option<Output> {
        let (_, text) = read_regular(&self.entry()).ok()?;
        let entry: Entry = serde_json::from_slice(&text).ok()?;
        let valid = entry.command == self.command && entry.inputs.iter().all(Stamp::is_unchanged);
        if !valid {
            return None;
        }
        let (_, bitcode) = read_regular(&self.folder.join(entry.bitcode)).ok()?;
        std::fs::write(made, bitcode).ok()?;
        Some(Output {
            stdout: Vec::new(),
            stderr: entry.warnings,
        })
    }

    /// Keeps what clang made. An entry and its bitcode appear whole, since builds may share a folder.
    fn keep(&self, output: &Output, made: &Path, listed: &Path, started: SystemTime) -> Option<()> {
        let inputs = settled_inputs(listed, started)?;
        std::fs::create_dir_all(&self.folder).ok()?;
        let file = |ending: &str| {
            let mut name = tempfile::Builder::new();
            name.suffix(ending).tempfile_in(&self.folder).ok()
        };
        let bitcode = file(".bc")?;
        std::fs::copy(made, bitcode.path()).ok()?;
        let (_, bitcode) = bitcode.keep().ok()?;
        let entry = Entry {
            command: self.command.clone(),
            inputs,
            warnings: output.stderr.clone(),
            bitcode: bitcode.file_name()?.into(),
        };
        let description = file(".new")?;
        serde_json::to_writer(&description, &entry).ok()?;
        description.persist(self.entry()).ok()?;
        Some(())
    }
}

/// The files of a rule for make that clang wrote in a run; `None` where one may have changed since clang read it.
pub(in crate::program) fn settled_inputs(rule: &Path, started: SystemTime) -> Option<Vec<Stamp>> {
    let rule = std::fs::read_to_string(rule).ok()?;
    let inputs = inputs_of(&rule)?.map(|path| Stamp::of(Path::new(path)));
    let inputs = inputs.collect::<Option<Vec<Stamp>>>()?;
    let is_settled = |input: &Stamp| input.changed + CLOCK_STEP < started;
    (!inputs.is_empty() && inputs.iter().all(is_settled)).then_some(inputs)
}

/// The files of a rule for make; `None` where one has a name that make would not take as it is.
fn inputs_of(rule: &str) -> Option<impl Iterator<Item = &str>> {
    let (_, inputs) = rule.split_once(": ")?;
    let words = || inputs.split_whitespace().filter(|word| *word != "\\");
    let plain = !words().any(|word| word.contains(['\\', '$', ':']));
    plain.then(words)
}
