//! Filetests of the program stage: `tests/program/*.cu`.
//!
//! The first line of a case is `// test: program`; a line `// with: FILE` adds a second source, a
//! line `// flags: …` sets numeric options (`no-fmad`, `fast-math`). What the stage made of the
//! source stands in the trailing lines that begin with `//> `; `SIRIUS_BLESS=1` rewrites them.

#[path = "harness/filetests.rs"]
mod filetests;

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::{AnyValue, InstructionOpcode};
use libtest_mimic::{Arguments, Failed};
use sirius_rs::build::{
    Architecture, Build, Device, FeatureSet, Fusion, Input, KernelSymbols, Language, Numerics,
    Phase, SiriusOptions,
};
use sirius_rs::program::{Program, ProgramError, read_program};
use sirius_rs::tools::Toolchain;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn main() {
    let is_case = |path: &Path| {
        path.extension().is_some_and(|ending| ending == "cu")
            && std::fs::read_to_string(path).is_ok_and(|text| text.starts_with("// test: program"))
    };
    libtest_mimic::run(
        &Arguments::from_args(),
        filetests::trials("program", is_case, check),
    )
    .exit()
}

fn check(case: &Path) -> Result<(), Failed> {
    let found = describe(case, &std::fs::read_to_string(case)?)?;
    filetests::compare(case, "//>", &found)
}

fn describe(case: &Path, text: &str) -> Result<String, Failed> {
    let directive = |name: &str| {
        let prefix = format!("// {name}: ");
        text.lines()
            .find_map(move |line| line.strip_prefix(&prefix).map(str::to_owned))
    };
    let mut inputs = vec![case.to_owned()];
    if let Some(other) = directive("with") {
        inputs.push(case.with_file_name(other));
    }
    let flags = directive("flags").unwrap_or_default();
    let numerics = Numerics {
        contract: !flags.contains("no-fmad"),
        fast_math: flags.contains("fast-math"),
        flush_to_zero: flags.contains("fast-math"),
        precise_division: !flags.contains("fast-math"),
        precise_square_root: !flags.contains("fast-math"),
    };
    let context = Context::create();
    let toolchain = toolchain(NO_HEADER.clone())?;
    match read_program(&context, &build(&inputs, numerics), &toolchain) {
        Ok(program) => summary(&program),
        Err(ProgramError::FrontEnd {
            message, status, ..
        }) => {
            let folder = format!("{}/", case.parent().unwrap_or(case).display());
            Ok(format!(
                "status {}\n{}",
                status.unwrap_or(-1),
                message.replace(&folder, "")
            ))
        }
        Err(error) => Err(error.to_string().into()),
    }
}

/// Kernels, variables, those that the host does not register, launches in host order, results of functions that read memory again, and
/// floating-point operations by device function.
fn summary(program: &Program<'_>) -> Result<String, Failed> {
    let mut text = String::new();
    for kernel in &program.kernels {
        // Kernels of sets and copies stand beside the units.
        let Some(unit) = program.units.get(kernel.unit) else {
            writeln!(text, "kernel {} of an operation", kernel.unique_name)?;
            continue;
        };
        let present = unit.device.get_function(&kernel.name).is_some()
            && program.analysis.get_function(&kernel.unique_name).is_some()
            && program.host.get_function(&kernel.stub).is_some();
        writeln!(
            text,
            "kernel {} as {} stub {} unit {} present {present}",
            kernel.name, kernel.unique_name, kernel.stub, kernel.unit
        )?;
    }
    for variable in &program.variables {
        let present = program.host.get_global(&variable.shadow).is_some();
        writeln!(
            text,
            "variable {} as {} shadow {} unit {} bytes {} constant {} present {present}",
            variable.name,
            variable.unique_name,
            variable.shadow,
            variable.unit,
            variable.bytes,
            variable.constant
        )?;
    }
    let visible = format!("{:?}", program.host_visible_memory).to_lowercase();
    writeln!(text, "host-visible memory {visible}")?;
    for unit in &program.units {
        let present = program.host.get_global(&unit.image_global).is_some();
        writeln!(text, "image {} present {present}", unit.image_global)?;
    }
    for unit in &program.units {
        let registered = |name: &str| program.variables.iter().any(|known| known.name == name);
        for variable in unit.device.get_globals() {
            let name = variable.get_name().to_string_lossy();
            let defined = !variable.is_declaration() && !name.starts_with("llvm.");
            if defined && !registered(&name) {
                writeln!(text, "variable {name} of the device alone")?;
            }
        }
    }
    launches(&program.host, &mut text)?;
    for unit in &program.units {
        floating_point(&unit.device, &mut text)?;
    }
    Ok(text)
}

fn launches(host: &Module<'_>, text: &mut String) -> Result<(), Failed> {
    for function in host.get_functions() {
        for block in function.get_basic_block_iter() {
            for instruction in block.get_instructions() {
                let printed = instruction.print_to_string().to_string();
                let name = function.get_name().to_string_lossy();
                if let Some(start) = printed.find("@sirius.launch.") {
                    let end = printed.rfind(')').map_or(printed.len(), |end| end + 1);
                    writeln!(text, "{name}: {}", &printed[start + 1..end])?;
                } else if instruction.get_opcode() == InstructionOpcode::Return
                    && (name.contains("must_be_read_again") || name.contains("nothing_can_change"))
                {
                    let result = printed.split(", !dbg").next().unwrap_or_default();
                    writeln!(text, "{name}:{result}")?;
                } else if printed.contains("@__cudaPushCallConfiguration(") {
                    writeln!(text, "{name}: not folded")?;
                }
            }
        }
    }
    Ok(())
}

fn floating_point(device: &Module<'_>, text: &mut String) -> Result<(), Failed> {
    for function in device.get_functions() {
        let mut operations = Vec::new();
        for block in function.get_basic_block_iter() {
            for instruction in block.get_instructions() {
                let printed = instruction.print_to_string().to_string();
                let words: Vec<_> = printed
                    .split_whitespace()
                    .skip_while(|word| word.starts_with('%') || *word == "=")
                    .collect();
                match instruction.get_opcode() {
                    InstructionOpcode::FAdd
                    | InstructionOpcode::FSub
                    | InstructionOpcode::FMul
                    | InstructionOpcode::FDiv
                    | InstructionOpcode::FNeg => operations.push(
                        words
                            .iter()
                            .take_while(|word| !word.starts_with('%'))
                            .copied()
                            .collect::<Vec<_>>()
                            .join(" "),
                    ),
                    InstructionOpcode::Call => {
                        if let Some(called) = words.iter().find(|word| {
                            word.starts_with("@llvm.fma")
                                || word.starts_with("@__nv_")
                                || word.starts_with("@llvm.nvvm.div")
                                || word.contains("sqrt")
                        }) {
                            let name = called.split('(').next().unwrap_or_default();
                            operations.push(name.trim_start_matches('@').to_owned());
                        }
                    }
                    _ => {}
                }
            }
        }
        if !operations.is_empty() {
            writeln!(
                text,
                "{}: {}",
                function.get_name().to_string_lossy(),
                operations.join(", ")
            )?;
        }
    }
    Ok(())
}

fn build(inputs: &[PathBuf], numerics: Numerics) -> Build {
    Build {
        phase: Phase::Link,
        cxx_form: false,
        clean: false,
        keep_device_functions: false,
        options: Vec::new(),
        options_files: Vec::new(),
        times: None,
        output_directory: PathBuf::new(),
        dependencies: Default::default(),
        inputs: inputs
            .iter()
            .map(|path| Input {
                path: path.clone(),
                language: if path.extension().is_some_and(|ending| ending == "cu") {
                    Language::Cuda
                } else {
                    Language::Cxx
                },
                bitcode: None,
            })
            .collect(),
        output: None,
        device: Device::Cpu,
        optimisation: 2,
        host_overflow_wraps: false,
        host_debug: false,
        device_debug: false,
        device_optimised: true,
        line_info: false,
        shared: false,
        made_of_definitions: Vec::new(),
        front_end_arguments: Vec::new(),
        host_arguments: Vec::new(),
        link_arguments: Vec::new(),
        ptxas_arguments: Vec::new(),
        architectures_named: false,
        architectures: vec![Architecture {
            number: 80,
            features: FeatureSet::Portable,
            machine_code: true,
            ptx: true,
        }],
        numerics,
        per_thread_default_stream: false,
        extended_lambda: false,
        relaxed_constexpr: false,
        relocatable: false,
        kernel_symbols: KernelSymbols::default(),
        maximum_registers: None,
        shared_cudart: false,
        host_compiler: None,
        run: None,
        sources_at_once: 1,
        verbose: false,
        dry_run: false,
        keep_directory: None,
        sirius: SiriusOptions {
            fusion: Fusion::Off,
            boundaries: Default::default(),
            optimisations: Default::default(),
            ..SiriusOptions::default()
        },
    }
}

/// A header with nothing in it, in one place, so that what is precompiled with it serves all cases.
static NO_HEADER: LazyLock<PathBuf> = LazyLock::new(|| {
    let header = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_header.h");
    if !header.exists() {
        std::fs::write(&header, "").expect("the build's folder can be written");
    }
    header
});

fn toolchain(compatibility_header: PathBuf) -> Result<Toolchain, Failed> {
    let clang = which::which("clang++-22")?;
    let toolkit = ["CUDA_PATH", "CUDA_HOME"]
        .iter()
        .filter_map(|name| std::env::var_os(name).map(PathBuf::from))
        .chain(
            std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/lib"))
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path().join("site-packages/nvidia/cu13")),
        )
        .find(|path| path.join("include/cuda_runtime.h").exists())
        .ok_or("no CUDA toolkit found")?;
    Ok(Toolchain {
        objcopy: None,
        archiver: None,
        clang,
        toolkit_include: toolkit.join("include"),
        toolkit_lib: toolkit.join("lib"),
        libdevice: toolkit.join("nvvm/libdevice/libdevice.10.bc"),
        ptxas: None,
        fatbinary: None,
        version: (13, 5),
        compatibility_header,
        runtime_library: None,
        toolkit,
    })
}
