//! Device IR -> PTX, cubins and fat binaries, for every requested architecture.
//!
//! Invariants: libdevice is linked here and nowhere earlier on this path. No instruction carries a
//! flag that allows contraction, so that LLVM writes roundings out (`add.rn`) and ptxas keeps
//! multiply and add apart. What ptxas refuses is never packed.

mod usage;

use super::super::cpu::libdevice::link_libdevice;
use super::super::device;
use super::super::divisors::move_divisors;
use super::super::fuse::WAIT_FOR_COPIES;
use super::super::matrix_places::name_shared_matrices;
use super::super::pending::DeviceCode;
use super::super::wide_conversions::lower_wide_conversions;
use super::super::{CodegenError, DeviceImage};
use crate::build::{Build, Phase, Target};
use crate::cache::{Entry, put, tools_as_text};
use crate::llvm::{Builder, FUNCTION_ATTRIBUTES, Value};
use crate::schedule::occupancy::KernelUsage;
use crate::tools::Toolchain;
use crate::tools::command::run_tool;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::FileType;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An image, and what the tools said while they made it.
#[derive(Clone, Debug)]
pub struct MadeImage {
    /// The image.
    pub image: DeviceImage,
    /// ptxas' messages (`-Xptxas -v`) and warnings, for standard error.
    pub messages: String,
    /// What its kernels need.
    pub usage: Usage,
}

/// What kernels need, by architecture and name.
pub type Usage = BTreeMap<u32, BTreeMap<String, KernelUsage>>;

/// A cubin that ptxas made.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// Where it is.
    pub cubin: PathBuf,
    /// What ptxas said that the user wants to see.
    pub messages: String,
    /// What the kernels in it need, by name.
    pub usage: BTreeMap<String, KernelUsage>,
}

/// Compiles a module of final device IR to PTX text for `compute_<architecture>`.
///
/// # Errors
/// [`CodegenError::Llvm`] when LLVM refuses the module or does not know the architecture.
pub fn emit_ptx(
    module: &Module,
    architecture: Target,
    build: &Build,
    toolchain: &Toolchain,
) -> Result<String, CodegenError> {
    let mut copy = module.clone();
    let processor = format!("sm_{architecture}");
    let feature = isa_feature(architecture, toolchain.version);
    let machine = device::machine_with_feature(&processor, &feature)?;
    if !build.line_info && !build.device_debug && !build.host_debug {
        copy.strip_debug_info();
    } else if !build.device_debug {
        copy = with_directives(&copy)?;
    }
    lower_wide_conversions(&copy)?;
    retarget(&copy, &processor, &feature);
    let math = Value::functions(&copy).into_iter().any(|function| {
        function.is_declaration() && function.has_uses() && function.name().starts_with("__nv_")
    });
    if math {
        let before = device::count_barriers(&copy);
        link_libdevice(&copy, &toolchain.libdevice)?;
        retarget(&copy, &processor, &feature);
        device::run_passes(&copy, "globaldce", &machine)?;
        device::make_final(&copy, &machine, build)?;
        before.check_not_grown(&device::count_barriers(&copy))?;
    }
    move_divisors(&copy);
    if architecture.number < COPIES_SINCE {
        write_waits_out(&copy);
    }
    name_shared_matrices(&copy);
    let buffer = machine
        .write_to_memory_buffer(&copy, FileType::Assembly)
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;
    let text = buffer.as_slice();
    let text = text.strip_suffix(&[0]).unwrap_or(text);
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// The first architecture with asynchronous copies.
const COPIES_SINCE: u32 = 80;

/// Makes inline PTX of waits for asynchronous copies, which only members with inline PTX for them bring along: LLVM ends
/// the whole run over an instruction that an architecture lacks, ptxas names it with its line.
fn write_waits_out(module: &Module) {
    let Some(wait) = Value::function(module, WAIT_FOR_COPIES) else {
        return;
    };
    for call in wait.users() {
        let ty = call.called_type();
        let text = Value::assembly(ty, "cp.async.wait_all;", "~{memory}", true);
        Builder::before(call).call(ty, text, &[]);
        call.erase();
    }
}

/// The same module with lines of the source as directives alone: sections of debug information, which units
/// of ours ask for, are what ptxas takes without optimisation only.
fn with_directives<'ctx>(module: &Module<'ctx>) -> Result<Module<'ctx>, CodegenError> {
    const SECTIONS: &str = "emissionKind: LineTablesOnly";
    let mut text = module.print_to_string().to_string();
    if !text.contains(SECTIONS) {
        return Ok(module.clone());
    }
    text = text.replace(SECTIONS, "emissionKind: DebugDirectivesOnly");
    text.push('\0');
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "device module");
    module
        .get_context()
        .create_module_from_ir(buffer)
        .map_err(|message| CodegenError::Llvm(message.to_string()))
}

/// Assembles PTX text to a cubin for `sm_<architecture>`; intermediate files go to `folder`.
/// ptxas is always asked what kernels need; its answer is shown only to those who asked, too.
///
/// # Errors
/// [`CodegenError::Tool`] when ptxas is missing or refuses, [`CodegenError::Write`].
pub fn assemble(
    ptx: &str,
    architecture: Target,
    build: &Build,
    toolchain: &Toolchain,
    folder: &Path,
    stem: &str,
) -> Result<Assembled, CodegenError> {
    let source = ptx_place(architecture, build, folder, stem);
    let cubin = source.with_extension(format!("sm_{architecture}.cubin"));
    write(&source, ptx.as_bytes())?;
    let mut arguments = vec![
        "-m64".to_owned(),
        "--gpu-name".to_owned(),
        format!("sm_{architecture}"),
    ];
    let asks = |argument: &String| argument.starts_with("-O") || argument.contains("-opt-level");
    if !build.ptxas_arguments.iter().any(asks) {
        arguments.push(if build.device_optimised { "-O3" } else { "-O0" }.to_owned());
    }
    if build.device_debug {
        arguments.push("-g".to_owned());
    } else if build.line_info {
        arguments.push("-lineinfo".to_owned());
    }
    if let Some(registers) = build.maximum_registers {
        arguments.push(format!("--maxrregcount={registers}"));
    }
    arguments.extend(build.ptxas_arguments.iter().cloned());
    // The device code of one relocatable unit, which uses that of others.
    if build.relocatable && matches!(build.phase, Phase::Cubin | Phase::Fatbin) {
        arguments.push("-c".to_owned());
    }
    let shown = build
        .ptxas_arguments
        .iter()
        .any(|argument| argument == "-v" || argument == "--verbose");
    if !shown {
        arguments.push("-v".to_owned());
    }
    let ptxas = toolchain.ptxas.as_deref().unwrap_or(Path::new("ptxas"));
    let kept = kept_place(ptx, &arguments, ptxas, build);
    let said = match kept.as_ref().and_then(|kept| kept.take()).as_deref() {
        Some([said, code]) => {
            write(&cubin, code)?;
            String::from_utf8_lossy(said).into_owned()
        }
        _ => {
            let files = ["--output-file".into(), cubin.clone(), source.clone()];
            let arguments = arguments.iter().map(PathBuf::from).chain(files);
            let output = run_tool(ptxas, &arguments.collect::<Vec<_>>(), build)?;
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &output.stderr;
            // What names files of this run would be wrong in another.
            let names_files = said.contains(&*source.to_string_lossy());
            if let (Some(kept), Ok(code)) = (kept.filter(|_| !names_files), std::fs::read(&cubin)) {
                kept.keep(&[said.as_bytes(), &code]);
            }
            said
        }
    };
    let (usage, rest) = usage::read(&said);
    Ok(Assembled {
        cubin,
        messages: if shown { said } else { rest },
        usage,
    })
}

/// Compiles modules of final device IR for all architectures of a build and packs the results.
/// Intermediate files go to `folder` under names that begin with `stem`.
///
/// # Errors
/// As [`emit_ptx`] and [`assemble`], and when `fatbinary` is missing or fails.
pub fn emit_fatbin(
    code: &DeviceCode<'_>,
    build: &Build,
    toolchain: &Toolchain,
    folder: &Path,
    stem: &str,
) -> Result<MadeImage, CodegenError> {
    let packed = folder.join(format!("{stem}.fatbin"));
    let mut arguments = vec![
        "-64".to_owned(),
        "--create".to_owned(),
        packed.display().to_string(),
    ];
    let mut messages = String::new();
    let mut usage = Usage::new();
    for architecture in &build.architectures {
        let target = architecture.target();
        let ptx = emit_ptx(code.module_for(target), target, build, toolchain)?;
        // PTX that is only packed is assembled, too: an error shows now and not at a user's site.
        let assembled = assemble(&ptx, target, build, toolchain, folder, stem)?;
        messages += &assembled.messages;
        usage.insert(target.number, assembled.usage);
        if architecture.machine_code {
            arguments.push(format!(
                "--image3=kind=elf,sm={target},file={}",
                assembled.cubin.display()
            ));
        }
        if architecture.ptx {
            let source = ptx_place(target, build, folder, stem);
            arguments.push(format!(
                "--image3=kind=ptx,sm={target},file={}",
                source.display()
            ));
        }
    }
    let fatbinary = toolchain
        .fatbinary
        .as_deref()
        .unwrap_or(Path::new("fatbinary"));
    messages += &run_tool(fatbinary, &arguments, build)?.stderr;
    let bytes = std::fs::read(&packed).map_err(CodegenError::write(&packed))?;
    Ok(MadeImage {
        image: DeviceImage::Fatbin(bytes),
        messages,
        usage,
    })
}

/// Whether what ptxas makes may depend on more files than the PTX and on that file's name.
pub(in crate::codegen) fn names_files_of_run(build: &Build) -> bool {
    let names_file = |argument: &String| argument.contains("file") || argument.contains("optf");
    build.device_debug || build.line_info || build.ptxas_arguments.iter().any(names_file)
}

/// Where a cubin is kept for those who want the same again, which a link after `-c` does; `None` where the user
/// watches the tools, where debug information names the PTX file, or where an option of ptxas has another file read.
fn kept_place(ptx: &str, arguments: &[String], ptxas: &Path, build: &Build) -> Option<Entry> {
    if build.verbose || names_files_of_run(build) {
        return None;
    }
    let mut made_from = Vec::new();
    put(&mut made_from, tools_as_text([ptxas])?.as_bytes());
    for argument in arguments {
        put(&mut made_from, argument.as_bytes());
    }
    put(&mut made_from, ptx.as_bytes());
    Entry::of("cubin", made_from)
}

/// Where PTX goes, by nvcc's names.
pub fn ptx_place(target: Target, build: &Build, folder: &Path, stem: &str) -> PathBuf {
    folder.join(match build.architectures.len() {
        ..=1 => format!("{stem}.ptx"),
        _ => format!("{stem}.compute_{target}.ptx"),
    })
}

/// The PTX version: what the architecture needs, as far as the toolkit has it.
fn isa_feature(target: Target, toolkit: (u32, u32)) -> String {
    let of_toolkit = match toolkit {
        (..=11, _) => 78,
        (12, 0) => 80,
        (12, 1) => 81,
        (12, 2) => 82,
        (12, 3) => 83,
        (12, 4) => 84,
        (12, 5 | 6) => 85,
        (12, 7) => 86,
        (12, 8) => 87,
        (12, _) => 88,
        _ => 90,
    };
    format!("+ptx{}", of_toolkit.min(target.isa_version()))
}

/// Makes all functions code of one processor: clang wrote the one it compiled for into each.
fn retarget(module: &Module, processor: &str, feature: &str) {
    for function in Value::functions(module) {
        if function.string_attribute("target-cpu").is_some() || !function.is_declaration() {
            function.set_string_attribute("target-cpu", processor);
            function.set_string_attribute("target-features", feature);
        }
        function.remove_attribute(FUNCTION_ATTRIBUTES, "optnone");
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), CodegenError> {
    std::fs::write(path, bytes).map_err(CodegenError::write(path))
}
