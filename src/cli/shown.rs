//! What `-v` and `-dryrun` show besides the commands of tools: nvcc's variables, and a run of the
//! compiler as lines for a shell.
//!
//! Build systems read both. CMake takes the toolkit's root, headers and libraries, the default
//! architecture (`-arch compute_N`) and, from the line that holds the text of `LIBRARIES`, the program
//! that links; compiler caches refuse a line that does not begin with `#$ `. Invariant: every line can be
//! run as it stands, and the lines of `-dryrun` together make the same files as the command itself.

use super::command::{command_line, quoted};
use super::spelling::{Argument, split_arguments, split_words};
use super::toolchain::{self, find_toolkit};
use super::{Build, Language, Phase, Toolchain};
use std::path::{Path, PathBuf};

/// nvcc's variables, where a command line has `-v` or `-dryrun`, as lines that begin with `#$ `; else
/// nothing.
pub fn variables(
    arguments: &[std::ffi::OsString],
    environment: &dyn Fn(&str) -> Option<String>,
) -> String {
    const SHOWING: [&str; 4] = ["-v", "--verbose", "-dryrun", "--dryrun"];
    let flags = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"];
    let flags = flags.map(|name| (name, environment(name).unwrap_or_default()));
    let asked = flags.iter().flat_map(|(_, text)| split_words(text));
    let mut asked = asked.chain(
        arguments
            .iter()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    if !asked.any(|word| SHOWING.contains(&word.as_str())) {
        return String::new();
    }
    let mut lines = Vec::new();
    for (name, text) in flags {
        if !text.is_empty() {
            lines.push(format!("{name}={}", in_quotes(&text)));
        }
    }
    if let Ok(top) = find_toolkit(environment) {
        let path = [top.join("nvvm/bin"), top.join("bin")];
        let rest = environment("PATH").unwrap_or_default();
        let path = std::env::join_paths(path.into_iter().chain(std::env::split_paths(&rest)));
        let path = path.unwrap_or_default();
        let include = toolchain::toolkit_include(&top).unwrap_or_default();
        let lib = toolchain::toolkit_lib(&top).unwrap_or_default();
        lines.extend([
            format!("TOP={}", quoted(&top.to_string_lossy())),
            format!(
                "NVVMIR_LIBRARY_DIR={}",
                quoted(&top.join("nvvm/libdevice").to_string_lossy())
            ),
            format!("PATH={}", quoted(&path.to_string_lossy())),
            format!(
                "INCLUDES={}",
                in_quotes(&format!("-I{}", include.display()))
            ),
            format!("LIBRARIES={}", library_folder(&lib)),
        ]);
    }
    lines.extend(["CUDAFE_FLAGS=".to_owned(), "PTXAS_FLAGS=".to_owned()]);
    lines.iter().map(|line| format!("#$ {line}\n")).collect()
}

/// What a build amounts to: the architectures, and a run of this program for each file that is made.
/// `outputs` are those files, one for each source where each source gives one.
pub fn steps(build: &Build, toolchain: &Toolchain, outputs: &[PathBuf]) -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("sirius-rs"));
    let architectures = build.architectures.iter();
    let architectures: Vec<String> = architectures
        .map(|architecture| format!("-arch compute_{}", architecture.number))
        .collect();
    let architectures = in_quotes(&architectures.join(" "));
    let architectures = format!("#$ ARCHITECTURES={architectures}\n");
    let mut lines = Vec::new();
    let is_source = |language| language != Language::Object;
    let inputs = build.inputs.iter();
    let alone = !matches!(
        build.phase,
        Phase::Link | Phase::Library | Phase::DeviceLink
    );
    let groups: Vec<Vec<&Path>> = match alone {
        true => inputs
            .filter(|input| is_source(input.language))
            .map(|input| vec![input.path.as_path()])
            .collect(),
        false => vec![inputs.map(|input| input.path.as_path()).collect()],
    };
    for (index, inputs) in groups.iter().enumerate() {
        let mut words = build.options.clone();
        words.extend(inputs.iter().map(|path| path.display().to_string()));
        if let Some(output) = outputs.get(index) {
            words.extend(["-o".to_owned(), output.display().to_string()]);
        }
        let mut line = command_line(&program, &words);
        if build.phase == Phase::Link {
            line = format!("{line} {}", library_folder(&toolchain.toolkit_lib));
            let cudart = if build.shared_cudart {
                "cudart"
            } else {
                "cudart_static"
            };
            line.push_str(&format!(" -lcudadevrt -l{cudart} -lrt -lpthread -ldl"));
        }
        lines.push(line);
    }
    let lines = lines.iter().map(|line| format!("#$ {line}\n"));
    // CMake takes the variables away and then `#$ ` only at the beginning of a line that is not the first.
    let before = if build.dry_run { "" } else { "\n" };
    lines.fold(architectures, |text, line| text + before + &line)
}

/// The options of a command line, spelled out, without inputs, the output, and what only shows or keeps
/// commands.
pub(super) fn options_given(words: &[String]) -> Vec<String> {
    const LEFT_OUT: [&str; 7] = [
        "output-file",
        "output-directory",
        "dryrun",
        "verbose",
        "keep",
        "save-temps",
        "keep-dir",
    ];
    let mut options = Vec::new();
    for argument in split_arguments(words).unwrap_or_default() {
        match argument {
            Argument::Option { row, .. } if LEFT_OUT.contains(&row.long) => {}
            Argument::Option { row, value } => {
                options.push(format!("--{}", row.long));
                options.extend(value);
            }
            Argument::Unknown(text) => options.push(text.to_owned()),
            Argument::Input(_) => {}
        }
    }
    options
}

/// The text of `LIBRARIES`, which CMake looks for in the line that links.
fn library_folder(lib: &Path) -> String {
    in_quotes(&format!("-L{}", lib.display()))
}

/// A word in double quotes, as nvcc writes it and a shell reads it.
fn in_quotes(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        if "\\\"$`".contains(character) {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted + "\""
}
