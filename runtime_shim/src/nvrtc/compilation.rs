//! One run of the compiler.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::{CompilerError, CompilerResult};
use crate::api::driver::loaded;
use crate::compiler::{self, Folder};
use crate::termination;

/// What is to be compiled.
pub(super) struct Source {
    pub(super) text: Vec<u8>,
    /// What messages call it; relative to its folder it includes others.
    pub(super) name: String,
    /// Names and texts.
    pub(super) headers: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) expressions: Vec<Vec<u8>>,
}

/// What came of it; texts end with a zero.
pub(super) struct Compiled {
    pub(super) succeeded: bool,
    pub(super) log: Vec<u8>,
    pub(super) ptx: Vec<u8>,
    pub(super) machine_code: Vec<u8>,
    /// For each name expression the name in the compiled program.
    pub(super) names: Vec<CString>,
}

impl Compiled {
    /// Of a program that has not been compiled.
    pub(super) const NOTHING: Self = Self {
        succeeded: false,
        log: Vec::new(),
        ptx: Vec::new(),
        machine_code: Vec::new(),
        names: Vec::new(),
    };
}

/// Begins the names of the variables that stand for name expressions.
const EXPRESSION: &str = "sirius_expression_";

/// Options of NVRTC's that change nothing in what is compiled here.
const WITHOUT_EFFECT: [&str; 22] = [
    "--builtin-initializer-list",
    "-builtin-initializer-list",
    "--builtin-move-forward",
    "-builtin-move-forward",
    "--create-pch",
    "--device-float128",
    "-device-float128",
    "--device-int128",
    "-device-int128",
    "--disable-pch-verification",
    "--fast-compile",
    "--minimal",
    "-minimal",
    "--no-cache",
    "-no-cache",
    "--no-source-include",
    "-no-source-include",
    "--pch",
    "-pch",
    "--pch-dir",
    "--use-pch",
    "--version-ident",
];

/// Options that ask for what is not made for this device.
const REFUSED: [&str; 6] = [
    "--device-as-default-execution-space",
    "-default-device",
    "--dlink-time-opt",
    "-dlto",
    "--optix-ir",
    "-optix-ir",
];

/// Compiles a source.
///
/// # Errors
/// An option asks for what is not there, no compiler can be run, or files cannot be written.
pub(super) fn compile(source: &Source, options: &[Vec<u8>]) -> CompilerResult<Compiled> {
    let options = understood(options)?;
    let folder = Folder::new("nvrtc").map_err(|_| CompilerError::INTERNAL)?;
    let arguments = written(source, folder.path()).map_err(|_| CompilerError::INTERNAL)?;
    let result = folder.path().join("kernels.ptx");
    let made = compiler::command()
        .args(["--sirius-device=cpu", "-ptx"])
        .args(options.iter().map(|option| OsStr::from_bytes(option)))
        .args(arguments)
        .arg("-o")
        .arg(&result)
        .output();
    let made = made.map_err(|error| {
        termination::notice(&format!(
            "NVRTC needs the compiler, which SIRIUS_COMPILER can name: {} cannot be run ({error})",
            compiler::path().display()
        ));
        CompilerError::INTERNAL
    })?;
    let mut log = made.stderr;
    log.push(0);
    if !made.status.success() {
        return Ok(Compiled {
            log,
            ..Compiled::NOTHING
        });
    }
    let mut ptx = std::fs::read(&result).map_err(|_| CompilerError::INTERNAL)?;
    let is_real = |option: &Vec<u8>| option.windows(4).any(|part| part == b"=sm_");
    let machine_code = match options.iter().any(is_real) {
        true => loaded::library_in(&ptx).ok_or(CompilerError::INTERNAL)?,
        false => Vec::new(),
    };
    let names = (0..source.expressions.len()).map(|index| name_in(&ptx, index));
    let names = names
        .collect::<Option<_>>()
        .ok_or(CompilerError::INTERNAL)?;
    ptx.push(0);
    Ok(Compiled {
        succeeded: true,
        log,
        ptx,
        machine_code,
        names,
    })
}

/// The options that go to the compiler, with `=` between an architecture's option and its value.
fn understood(options: &[Vec<u8>]) -> CompilerResult<Vec<Vec<u8>>> {
    let mut taken: Vec<Vec<u8>> = Vec::new();
    for option in options {
        let name = option
            .split(|byte| *byte == b'=')
            .next()
            .unwrap_or_default();
        let is = |known: &&str| known.as_bytes() == name;
        if REFUSED.iter().any(is) {
            termination::notice(&format!(
                "NVRTC on the CPU device does not know {}",
                String::from_utf8_lossy(option)
            ));
            return Err(CompilerError::INVALID_OPTION);
        }
        if WITHOUT_EFFECT.iter().any(is) {
            continue;
        }
        let awaits = |last: &Vec<u8>| [&b"-arch"[..], b"--gpu-architecture"].contains(&&last[..]);
        match taken.last_mut() {
            Some(last) if awaits(last) => {
                last.push(b'=');
                last.extend(option);
            }
            _ if name == b"--pre-include" || name == b"-include" => {
                taken.push([b"-include", &option[name.len()..]].concat());
            }
            _ => taken.push(option.clone()),
        }
    }
    Ok(taken)
}

/// Writes the source and its headers, and gives the arguments that name them.
fn written(source: &Source, folder: &Path) -> io::Result<Vec<OsString>> {
    let headers = folder.join("headers");
    std::fs::create_dir(&headers)?;
    for (name, text) in &source.headers {
        let place = headers.join(within(Path::new(OsStr::from_bytes(name))));
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(place, text)?;
    }
    // NVRTC has these without a header: `assert`, `NV_IF_TARGET`, `std::move` and `std::forward`, and
    // `std::initializer_list`.
    let before = "#include <assert.h>\n\
                  #include <nv/target>\n\
                  #include <utility>\n\
                  #include <initializer_list>\n\
                  #define __CUDACC_RTC__ 1\n";
    let mut text = format!("{before}#line 1 {:?}\n", source.name).into_bytes();
    text.extend(&source.text);
    text.extend(b"\n#line 1 \"name expressions\"\n");
    for (index, expression) in source.expressions.iter().enumerate() {
        let begin = format!(
            "extern \"C\" __device__ __attribute__((used)) const void *const {EXPRESSION}{index} = (const void *)("
        );
        text.extend([begin.as_bytes(), expression, b");\n"].concat());
    }
    let place = folder.join("source.cu");
    std::fs::write(&place, text)?;
    let beside = Path::new(&source.name).parent().unwrap_or(Path::new(""));
    let beside = if beside.as_os_str().is_empty() {
        Path::new(".")
    } else {
        beside
    };
    let mut arguments: Vec<OsString> = Vec::new();
    for included in [headers.as_path(), beside] {
        arguments.extend(["-I".into(), included.into()]);
    }
    arguments.push(place.into());
    Ok(arguments)
}

/// A header's name without what would lead out of its folder.
fn within(name: &Path) -> PathBuf {
    let parts = name.components();
    parts
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect()
}

/// The name that the variable of a name expression is initialised with, where PTX has it.
fn name_in(ptx: &[u8], index: usize) -> Option<CString> {
    let text = String::from_utf8_lossy(ptx);
    let variable = format!("{EXPRESSION}{index}");
    let of_name = |letter: char| letter.is_ascii_alphanumeric() || "_$.%".contains(letter);
    let line = text.lines().find(|line| {
        let (before, after) = line.split_once(&variable).unwrap_or(("", "0"));
        before.contains(".u64") && !after.starts_with(of_name)
    })?;
    let value = line.split_once('=')?.1;
    let mut words = value
        .split(|letter| !of_name(letter))
        .filter(|word| !word.is_empty());
    CString::new(words.find(|word| *word != "generic")?).ok()
}
