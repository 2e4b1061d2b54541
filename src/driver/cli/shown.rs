//! What `-v` and `-dryrun` show besides the commands of tools: nvcc's variables, and a run of the
//! compiler as lines for a shell.
//!
//! Build systems read both. CMake takes the toolkit's root, headers and libraries, the default
//! architecture (`-arch compute_N`) and, from the line that holds the text of `LIBRARIES`, the program
//! that links (where this program is not in a folder that stands for a toolkit, one is made for CMake, whose libraries
//! are those of the device); compiler caches refuse a line that does not begin with `#$ `. Invariant: every line can be
//! run as it stands, and the lines of `-dryrun` together make the same files as the command itself.

use super::spelling::{Argument, split_arguments, split_words};
use crate::build::{Build, Device, Language, Phase};
use crate::tools::Toolchain;
use crate::tools::command::{command_line, quoted};
use crate::tools::toolchain::{self, find_toolkit};
use crate::tools::toolkit_folder::{self, ToolkitFolder};
use std::path::{Path, PathBuf};

/// nvcc's variables, where a command line has `-v` or `-dryrun`, as lines that begin with `#$ `; else
/// nothing.
pub fn variables(
    arguments: &[std::ffi::OsString],
    environment: &dyn Fn(&str) -> Option<String>,
) -> String {
    let flags = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"];
    let flags = flags.map(|name| (name, environment(name).unwrap_or_default()));
    let own_flags = environment("SIRIUS_FLAGS").unwrap_or_default();
    let asked = flags.iter().map(|(_, text)| text).chain([&own_flags]);
    let asked = asked.flat_map(|text| split_words(text));
    let words = arguments.iter();
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let asked: Vec<String> = asked.chain(words).collect();
    // `-Xptxas -v` asks ptxas, not us.
    let shows = |argument: &Argument<'_>| match argument {
        Argument::Option { row, .. } => ["verbose", "verbose2", "dryrun"].contains(&row.long),
        Argument::Input(_) | Argument::Unknown(_) => false,
    };
    let split = split_arguments(&asked).unwrap_or_default();
    if !split.iter().any(shows) {
        return String::new();
    }
    let named = split.iter().rev().find_map(|argument| match argument {
        Argument::Option { row, value } if row.long == "sirius-device" => value.clone(),
        _ => None,
    });
    let named = named.or_else(|| environment("SIRIUS_DEVICE"));
    let device = named.map_or(Some(Device::Cuda), |name| Device::named(&name));
    let mut lines = Vec::new();
    for (name, text) in flags {
        if !text.is_empty() {
            lines.push(format!("{name}={}", in_quotes(&text)));
        }
    }
    let asks_for_toolkit = asked.iter().any(|word| word == CMAKE_ASKS);
    let laid_out = device
        .filter(|device| asks_for_toolkit || has_own_libraries(*device))
        .and_then(|device| toolkit_folder::of_own(device, environment));
    if let Some(top) = laid_out.or_else(|| find_toolkit(environment).ok()) {
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

/// Whether nothing in a toolkit's library folder is for a device.
fn has_own_libraries(device: Device) -> bool {
    device == Device::Cpu
}

/// The input by which CMake asks where the toolkit is.
const CMAKE_ASKS: &str = "__cmake_determine_cuda";

/// What a build amounts to: the architectures, and a run of this program for each file that is made.
/// `outputs` are those files, one for each source where each source gives one.
///
/// In a folder of ours `-dryrun` shows two runs for each source, as nvcc does: one that preprocesses it,
/// and one of a program named `cicc` that compiles it. The second reads the source again and takes the
/// preprocessed text only as that by which sccache knows what it would find.
pub fn steps(build: &Build, toolchain: &Toolchain, outputs: &[PathBuf]) -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("sirius-rs"));
    let architectures = build.architectures.iter();
    let architectures: Vec<String> = architectures
        .map(|architecture| format!("-arch compute_{}", architecture.target()))
        .collect();
    let architectures = in_quotes(&architectures.join(" "));
    let architectures = format!("#$ ARCHITECTURES={architectures}\n");
    let mut lines = Vec::new();
    let cicc = ToolkitFolder::own()
        .filter(|_| build.dry_run && build.phase != Phase::Preprocess)
        .map(|folder| folder.compiler_of_preprocessed());
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
        if let (Some(cicc), [source], true) = (&cicc, inputs.as_slice(), alone) {
            let output = outputs.get(index).map_or(Path::new(""), PathBuf::as_path);
            lines.extend(preprocessed_steps(build, &program, cicc, source, output));
            continue;
        }
        let mut words = build.options.clone();
        words.extend(inputs.iter().map(|path| path.display().to_string()));
        let output = outputs.get(index).map(|path| path.display().to_string());
        let links = build.phase == Phase::Link;
        if let Some(output) = output.as_ref().filter(|_| !links) {
            words.extend(["-o".to_owned(), output.clone()]);
        }
        let mut line = command_line(&program, &words);
        if links {
            // Scripts look for the output in nvcc's double quotes, and take the libraries from what stands behind.
            let output = output.as_deref().map(in_quotes);
            line.extend(output.map(|output| format!(" -o {output}")));
            let environment = |name: &str| std::env::var(name).ok();
            let own = Some(build.device).filter(|device| has_own_libraries(*device));
            let own = own.and_then(|device| toolkit_folder::of_own(device, &environment));
            let own = own.and_then(|folder| toolchain::toolkit_lib(&folder));
            let libraries = own.as_deref().unwrap_or(&toolchain.toolkit_lib);
            line = format!("{line} {}", library_folder(libraries));
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

fn preprocessed_steps(
    build: &Build,
    program: &Path,
    cicc: &Path,
    source: &Path,
    output: &Path,
) -> [String; 2] {
    let here = std::env::current_dir().unwrap_or_default();
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}.cpp1.ii");
    let text = match &build.keep_directory {
        Some(folder) if folder == Path::new(".") => PathBuf::from(name),
        Some(folder) => folder.join(name),
        None => std::env::temp_dir().join(format!("sirius-{}-{name}", std::process::id())),
    };
    let word = |path: &Path| path.display().to_string();
    let mut first = options_without(&build.options, |long| {
        NOT_WHEN_PREPROCESSING.contains(&long)
    });
    first.extend(["-D__NVCC__".to_owned(), "-E".to_owned(), word(source)]);
    first.extend(["-o".to_owned(), word(&text)]);
    let mut second = build.options.clone();
    second.push(format!("--sirius-folder={}", here.display()));
    second.push(format!("--sirius-source={}", here.join(source).display()));
    second.extend([word(&text), "-o".to_owned(), word(&here.join(output))]);
    [command_line(program, &first), command_line(cicc, &second)]
}

/// Options that say what is made, or ask for a dependency file beside it.
const NOT_WHEN_PREPROCESSING: [&str; 13] = [
    "compile",
    "device-c",
    "device-w",
    "ptx",
    "cubin",
    "fatbin",
    "generate-dependencies-with-compile",
    "generate-nonsystem-dependencies-with-compile",
    "dependency-output",
    "dependency-target-name",
    "generate-dependency-targets",
    "run",
    "run-args",
];

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
    options_without(words, |long| LEFT_OUT.contains(&long))
}

fn options_without(words: &[String], is_left_out: impl Fn(&str) -> bool) -> Vec<String> {
    let mut options = Vec::new();
    for argument in split_arguments(words).unwrap_or_default() {
        match argument {
            Argument::Option { row, .. } if is_left_out(row.long) => {}
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
