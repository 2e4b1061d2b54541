//! Host code to objects, objects to programs.
//!
//! Invariant: what is linked is an ordinary program of the host compiler; everything of ours is in
//! ordinary objects and in the runtime library.

use super::{CodegenError, host_arithmetic, host_parts, shared_runtime};
use crate::build::{Build, Device, Input, Language, Phase};
use crate::files::private_file;
use crate::tools::Toolchain;
use crate::tools::command::{Output, run_tool};
use crate::tools::toolkit_folder::ToolkitFolder;
use inkwell::module::Module;
use object::Object;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Makes a host module what clang is to compile. Debug information that nobody has asked for is left out.
pub(super) fn prepare_host(module: &Module<'_>, build: &Build) {
    if build.lets_host_overflow_wrap() {
        host_arithmetic::let_overflow_wrap(module);
    }
    // `-Xcompiler -g` asks for it as well.
    let asks = |argument: &String| argument.starts_with("-g") && argument != "-g0";
    if !build.host_debug && !build.host_arguments.iter().any(asks) {
        module.strip_debug_info();
    }
}

/// Compiles a host module to an object file. The host compiler's own optimiser and
/// back end do it, so that every `-Xcompiler` option means what it says. Returns what clang said.
///
/// # Errors
/// When the module cannot be written or clang fails.
pub fn compile_host(
    module: &Module<'_>,
    build: &Build,
    toolchain: &Toolchain,
    folder: &Path,
    object: &Path,
) -> Result<String, CodegenError> {
    prepare_host(module, build);
    compile_prepared_host(module, (build, toolchain), folder, object)
}

/// [`compile_host`] of a module that is what clang is to compile.
///
/// # Errors
/// As there.
pub(super) fn compile_prepared_host(
    module: &Module<'_>,
    (build, toolchain): (&Build, &Toolchain),
    folder: &Path,
    object: &Path,
) -> Result<String, CodegenError> {
    let bitcode = folder.join("host.bc");
    // LLVM ends the whole run where it cannot write.
    let bytes = module.write_bitcode_to_memory();
    std::fs::write(&bitcode, bytes.as_slice()).map_err(CodegenError::write(&bitcode))?;
    compile_host_bitcode(&bitcode, build, toolchain, object)
}

/// Compiles a file of the host side's bitcode to an object file. Returns what clang said.
///
/// # Errors
/// When clang fails.
pub fn compile_host_bitcode(
    bitcode: &Path,
    build: &Build,
    toolchain: &Toolchain,
    object: &Path,
) -> Result<String, CodegenError> {
    let mut arguments = host_options(build);
    arguments.extend([bitcode.into(), "-o".into(), object.into()]);
    Ok(run_tool(&toolchain.clang, &arguments, build)?.stderr)
}

/// How clang is told to compile host code, without the names of files.
pub(super) fn host_options(build: &Build) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["-x".into(), "ir".into(), "-c".into()];
    arguments.push(format!("-O{}", build.optimisation).into());
    arguments.push("-Wno-unused-command-line-argument".into());
    // What a device link makes goes into programs and shared libraries alike.
    if build.shared || build.phase == Phase::DeviceLink {
        arguments.push("-fPIC".into());
    }
    arguments.extend(build.host_arguments.iter().map(OsString::from));
    arguments
}

/// Joins objects into one (`-c` for the CPU device).
///
/// # Errors
/// When the linker fails.
pub fn join_objects(
    build: &Build,
    toolchain: &Toolchain,
    objects: &[PathBuf],
    output: &Path,
) -> Result<(), CodegenError> {
    let mut arguments: Vec<OsString> = vec!["-r".into()];
    arguments.extend(objects.iter().map(OsString::from));
    arguments.extend(["-o".into(), output.into()]);
    // clang would start for nothing but to find it.
    if let Ok(linker) = which::which("ld")
        && run_tool(&linker, &arguments, build).is_ok()
    {
        return Ok(());
    }
    arguments.push("-nostdlib".into());
    run_tool(&toolchain.clang, &arguments, build)?;
    Ok(())
}

/// Makes an archive of objects and of the members of other archives (`-lib`).
///
/// # Errors
/// When there is no archiver, or it fails, or an old archive of that name cannot be removed.
pub fn archive(
    build: &Build,
    toolchain: &Toolchain,
    objects: &[PathBuf],
    output: &Path,
) -> Result<(), CodegenError> {
    let archiver = toolchain.archiver.as_ref();
    let archiver = archiver.ok_or(CodegenError::NoArchiver)?;
    if output.exists() {
        std::fs::remove_file(output).map_err(CodegenError::write(output))?;
    }
    let words = [OsString::from("qcsL"), output.into()];
    let objects = objects.iter().map(OsString::from);
    let arguments: Vec<OsString> = words.into_iter().chain(objects).collect();
    run_tool(archiver, &arguments, build)?;
    Ok(())
}

/// Links objects, the user's objects and libraries and the device's runtime into `output`. Returns what
/// the linker said.
///
/// # Errors
/// When the runtime library is missing or the linker fails.
pub fn link(
    build: &Build,
    toolchain: &Toolchain,
    objects: &[PathBuf],
    output: &Path,
) -> Result<String, CodegenError> {
    let own_path = own_path(build, objects)?;
    let own_path = own_path.iter().map(|file| file.path().to_owned());
    let objects: Vec<PathBuf> = objects.iter().cloned().chain(own_path).collect();
    Ok(run_linker(build, toolchain, &objects, output, &[])?.stderr)
}

/// Links `objects` and the objects and libraries of a build as they are into `output`, and returns what
/// the linker says it takes in: a line for each object and each member of an archive. What is undefined
/// (a device link, say, that comes later) stays so.
///
/// # Errors
/// As [`link`].
pub fn trace_link(
    build: &Build,
    toolchain: &Toolchain,
    objects: &[PathBuf],
    output: &Path,
) -> Result<String, CodegenError> {
    // GNU ld names members of archives only when it is asked twice.
    let trace = ["-Wl,-t", "-Wl,-t", "-Wl,--unresolved-symbols=ignore-all"];
    let said = run_linker(build, toolchain, objects, output, &trace)?;
    Ok(String::from_utf8_lossy(&said.stdout).into_owned())
}

fn run_linker(
    build: &Build,
    toolchain: &Toolchain,
    objects: &[PathBuf],
    output: &Path,
    others: &[&str],
) -> Result<Output, CodegenError> {
    let linker = build.host_compiler.as_ref().unwrap_or(&toolchain.clang);
    let mut arguments: Vec<OsString> = Vec::new();
    if build.shared {
        arguments.push("-shared".into());
    }
    let quick = (others.is_empty() && may_link_quickly(build))
        .then(|| toolchain.clang.with_file_name("ld.lld"))
        .filter(|quick| quick.is_file());
    let openmp = OpenmpLibrary::of(linker, build, toolchain)?;
    let mut uses_openmp = false;
    for argument in &build.host_arguments {
        match openmp.is_foreign && argument.starts_with("-fopenmp") {
            true => uses_openmp = true,
            false => arguments.push(argument.into()),
        }
    }
    arguments.extend(["-o".into(), output.into()]);
    arguments.extend(objects.iter().map(OsString::from));
    let inputs = build
        .inputs
        .iter()
        .filter(|input| input.language == Language::Object && !is_runtime(&input.path, build));
    arguments.extend(inputs.map(|input| {
        let is_openmp = input.path.to_str().is_some_and(is_openmp);
        if is_openmp {
            openmp.argument.clone()
        } else {
            input.path.clone().into_os_string()
        }
    }));
    arguments.extend(link_arguments(build).map(|argument| {
        if is_openmp(argument) {
            openmp.argument.clone()
        } else {
            argument.into()
        }
    }));
    if uses_openmp {
        arguments.extend([openmp.argument, "-pthread".into()]);
    }
    arguments.extend(runtime_arguments(build, toolchain, objects)?);
    arguments.extend(others.iter().map(OsString::from));
    // Who links objects with `-v` expects what a host compiler says then: CMake reads it.
    let is_object = |input: &Input| input.language == Language::Object || input.bitcode.is_some();
    if build.verbose && build.inputs.iter().all(is_object) {
        arguments.push("-v".into());
    }
    if let Some(quick) = quick {
        let mut option = OsString::from("--ld-path=");
        option.push(quick);
        let quickly = [&[option], &arguments[..]].concat();
        // Whatever is wrong, the usual linker says it in the words that users know.
        if let Ok(output) = run_tool(linker, &quickly, build) {
            return Ok(output);
        }
    }
    Ok(run_tool(linker, &arguments, build)?)
}

/// Whether lld makes the same of a program as the usual linker, in a third of the time: most of that goes into the CPU
/// device's runtime. Linkers differ in which members of archives they take, and in their options.
fn may_link_quickly(build: &Build) -> bool {
    let is_object = |input: &Input| {
        input.language != Language::Object || input.path.extension() == Some(OsStr::new("o"))
    };
    build.device == Device::Cpu
        && build.host_compiler.is_none()
        && !build.verbose
        && build.inputs.iter().all(is_object)
        && link_arguments(build).next().is_none()
        && host_parts::options_say_nothing_of_links(build)
}

/// The device's runtime and what it needs, for a link of these objects.
fn runtime_arguments(
    build: &Build,
    toolchain: &Toolchain,
    objects: &[PathBuf],
) -> Result<Vec<OsString>, CodegenError> {
    let mut arguments: Vec<OsString> = Vec::new();
    // The folder of a toolkit for the other device has nothing that fits.
    let of_device = ToolkitFolder::at(&toolchain.toolkit).map_or(Device::Cuda, |of| of.device);
    if build.device == of_device {
        for folder in [&toolchain.toolkit_lib, &toolchain.toolkit_lib.join("stubs")] {
            if folder.is_dir() {
                arguments.push(format!("-L{}", folder.display()).into());
            }
        }
    }
    match build.device {
        Device::Cuda => {
            arguments.push(match build.shared_cudart {
                true => shared_cudart(&toolchain.toolkit_lib),
                false => "-lcudart_static".into(),
            });
        }
        Device::Cpu => {
            let library = toolchain
                .runtime_library
                .as_ref()
                .ok_or(CodegenError::NoRuntime)?;
            let shared = library.with_extension("so");
            match shared_runtime::is_shared(build, objects) {
                true if !shared.is_file() => return Err(CodegenError::NoSharedRuntime(shared)),
                // It has no name of its own, so that the program looks for it where it is now.
                true => arguments.push(shared.into()),
                false => arguments.push(library.into()),
            }
        }
    }
    arguments.extend(["-lrt", "-lpthread", "-ldl", "-lm", "-lstdc++"].map(OsString::from));
    Ok(arguments)
}

/// What a linker finds the shared runtime of CUDA by: wheels have it under its versioned name alone.
fn shared_cudart(folder: &Path) -> OsString {
    const NAME: &str = "libcudart.so";
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = names.map(|entry| entry.file_name()).collect();
    names.sort();
    let versioned = |name: &&OsString| {
        let name = name.to_string_lossy();
        let version = name
            .strip_prefix(NAME)
            .and_then(|rest| rest.strip_prefix('.'));
        version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match names.iter().find(versioned) {
        Some(name) if !folder.join(NAME).is_file() => {
            let mut argument = OsString::from("-l:");
            argument.push(name);
            argument
        }
        _ => "-lcudart".into(),
    }
}

/// NVRTC, whose calls run the compiler.
const NVRTC: &str = "-lnvrtc";

/// Where a program for the CPU device uses NVRTC or loads kernels, a source in assembly by which it knows this compiler's path.
///
/// # Errors
/// It cannot be written.
fn own_path(
    build: &Build,
    objects: &[PathBuf],
) -> Result<Option<tempfile::NamedTempFile>, CodegenError> {
    let uses_it = || {
        build
            .link_arguments
            .iter()
            .any(|argument| argument.starts_with(NVRTC))
            || objects
                .iter()
                .any(|object| shared_runtime::loads_kernels(object))
    };
    let own = std::env::current_exe()
        .ok()
        .filter(|_| build.device == Device::Cpu && uses_it());
    let Some(own) = own else { return Ok(None) };
    let bytes: Vec<String> = own
        .as_os_str()
        .as_bytes()
        .iter()
        .map(u8::to_string)
        .collect();
    let text = format!(
        ".section .rodata,\"a\",@progbits\n.Lpath: .byte {},0\n.text\n.Lsay: lea .Lpath(%rip), %rdi\n\
         jmp __sirius_compiler_is@PLT\n.section .init_array,\"aw\",@init_array\n.balign 8\n.quad .Lsay\n\
         .section .note.GNU-stack,\"\",@progbits\n",
        bytes.join(",")
    );
    let written =
        private_file(".s").and_then(|file| std::fs::write(file.path(), text).map(|()| file));
    written
        .map(Some)
        .map_err(CodegenError::write(Path::new("own_path.s")))
}

/// Libraries of CUDA's that the CPU device's runtime stands for.
const RUNTIMES: [&str; 23] = [
    "-lcudart",
    "-lcudart_static",
    "-lcudadevrt",
    "-lcuda",
    "-lcublas",
    "-lcublas_static",
    "-lcublasLt",
    "-lcublasLt_static",
    "-lcurand",
    "-lcurand_static",
    "-lcufft",
    "-lcufft_static",
    "-lcufftw",
    "-lculibos",
    "-lcusolver",
    "-lcusolver_static",
    "-lnvidia-ml",
    "-lcusparse",
    "-lcusparse_static",
    NVRTC,
    "-lnvrtc_static",
    "-lnvrtc-builtins_static",
    // Other libraries of CUDA want it; so does what calls it by itself, by name.
    "-lnvJitLink",
];

/// Whether a path on the CPU device's command line names one of them: a link has one runtime.
fn is_runtime(path: &Path, build: &Build) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let library = name.strip_prefix("lib").and_then(|name| {
        let (name, _) = name.split_once(".so").or(name.rsplit_once(".a"))?;
        Some(format!("-l{name}"))
    });
    build.device == Device::Cpu && library.is_some_and(|name| RUNTIMES.contains(&name.as_str()))
}

/// The user's link arguments; the CPU device is its own CUDA runtime, driver and libraries.
fn link_arguments(build: &Build) -> impl Iterator<Item = &str> {
    build
        .link_arguments
        .iter()
        .map(String::as_str)
        .filter(|argument| build.device == Device::Cuda || !RUNTIMES.contains(argument))
}

/// The library that what clang makes of OpenMP wants; it has the functions of g++'s, too.
struct OpenmpLibrary {
    /// What a linker finds it by.
    argument: OsString,
    /// Whether the host compiler that links has another one, which `-fopenmp` would name.
    is_foreign: bool,
}

impl OpenmpLibrary {
    /// Only clang knows where its own is.
    fn of(linker: &Path, build: &Build, toolchain: &Toolchain) -> Result<Self, CodegenError> {
        const BY_NAME: &str = "-lomp";
        let name = linker.file_name().unwrap_or_default().to_string_lossy();
        let is_foreign = build.host_compiler.is_some() && !name.contains("clang");
        let mut argument = OsString::from(BY_NAME);
        if is_foreign && wants_openmp(build) {
            let question = [OsString::from("-print-file-name=libomp.so")];
            let said = run_tool(&toolchain.clang, &question, build)?.stdout;
            let path = said.trim_ascii_end();
            if path.starts_with(b"/") {
                argument = OsStr::from_bytes(path).into();
            }
        }
        Ok(Self {
            argument,
            is_foreign,
        })
    }
}

fn wants_openmp(build: &Build) -> bool {
    let switches_it_on = |argument: &String| argument.starts_with("-fopenmp");
    let inputs = build.inputs.iter();
    build.host_arguments.iter().any(switches_it_on)
        || build.link_arguments.iter().any(|word| is_openmp(word))
        || inputs
            .filter_map(|input| input.path.to_str())
            .any(is_openmp)
}

/// Whether an argument is g++'s OpenMP library, by its name or, as CMake has it, by its path.
fn is_openmp(argument: &str) -> bool {
    let name = argument.rsplit('/').next().unwrap_or(argument);
    argument == "-lgomp" || name == "libgomp.a" || name.starts_with("libgomp.so")
}

/// What to say of a program that needs clang's OpenMP library where it runs: the same program of nvcc needs g++'s,
/// which most machines have.
#[must_use]
pub fn note_on_openmp(build: &Build, program: &Path) -> Option<String> {
    if !wants_openmp(build) {
        return None;
    }
    let bytes = std::fs::read(program).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let needed = file.import_libraries().ok()?.filter_map(Result::ok);
    let names: Vec<_> = needed
        .map(|library| String::from_utf8_lossy(library.name()).into_owned())
        .collect();
    let name = names.iter().find(|name| name.starts_with("libomp.so"))?;
    Some(format!(
        "sirius-rs: note: the program needs clang's OpenMP library, {name}, where it runs, not g++'s\n"
    ))
}
