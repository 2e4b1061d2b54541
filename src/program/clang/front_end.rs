//! clang as the front end: sources to LLVM bitcode, with no pass run.
//!
//! Invariant: what the user sees of a front-end run is clang's own text, once: warnings of the host
//! side, errors of the side that fails first (the host's when both do).

use super::super::by_architecture::Definitions;
use super::super::front_end_cache::run_front_end;
use super::super::front_end_messages::{Speaker, passes_on, unsaid};
use super::super::{
    FrontEndStep, ProgramError, SourceBitcode, assembly_operands, clang_warnings,
    cluster_dimensions, device_allocation, for_target, host_arrays, host_functions, managed,
    registration_order, relocatable, source_places, source_repairs, texture_references,
};
use crate::build::{Build, Device, Input, KernelSymbols, Language, Phase, Relocatable, Target};
use crate::diagnostics::Location;
use crate::files::{private_folder, write_whole};
use crate::output::colours;
use crate::tools::{Bounded, Listener, ToolError, Toolchain};
use inkwell::context::Context;
use inkwell::module::Module;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// What clang made of one source.
pub(in crate::program) struct FrontEndUnit<'ctx> {
    /// As on the command line.
    pub(in crate::program) source: PathBuf,
    /// Its host module.
    pub(in crate::program) host: Module<'ctx>,
    /// Its device module, for CUDA sources, for the oldest architecture.
    pub(in crate::program) device: Option<Module<'ctx>>,
    /// As [`super::super::Unit::newer`].
    pub(in crate::program) newer: Vec<(Target, Module<'ctx>)>,
    /// Both as clang wrote them, where an object is to keep them.
    pub(in crate::program) bitcode: Option<SourceBitcode>,
    /// How its device code is linked with that of others.
    pub(in crate::program) relocatable: Option<Relocatable>,
    /// clang's warnings.
    pub(in crate::program) warnings: String,
}

/// Runs clang over one source: the two sides of a CUDA source at the same time.
///
/// # Errors
/// [`ProgramError::FrontEnd`] with clang's text and exit status; others when clang cannot be run.
pub(in crate::program) fn compile<'ctx>(
    context: &'ctx Context,
    input: &Input,
    build: &Build,
    toolchain: &Toolchain,
) -> Result<FrontEndUnit<'ctx>, ProgramError> {
    let made = run(input, build, toolchain, passes_on())?;
    read_made(context, input, build, toolchain, made)
}

/// Runs clang over several sources, some of them at the same time, in which case nothing of what clang says is passed on before
/// all is made, or cannot be. What [`read_made`] reads, a part for each source in their order.
///
/// # Errors
/// As [`compile`], for the first source that has one.
pub(in crate::program) fn run_all(
    inputs: &[&Input],
    build: &Build,
    toolchain: &Toolchain,
) -> Result<Vec<Made>, ProgramError> {
    let at_once = build.sources_at_once.min(inputs.len());
    // Commands are printed in the order of the sources.
    if at_once < 2 || build.verbose {
        let made = inputs.iter();
        return made
            .map(|input| run(input, build, toolchain, passes_on()))
            .collect();
    }
    let next = AtomicUsize::new(0);
    // What comes behind a source with errors is not begun.
    let failed = AtomicBool::new(false);
    let made = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(input) = inputs.get(index) else {
                        break;
                    };
                    let result = run(input, build, toolchain, false);
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                    made.insert(index, result);
                }
            });
        }
    });
    let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (mut units, mut warnings) = (Vec::new(), Vec::new());
    for (index, made) in made {
        match made {
            Ok(unit) => {
                let text = unit.0.iter().map(|files| files.warnings.clone());
                warnings.extend(text.map(|text| (inputs[index], text)));
                units.push(unit);
            }
            Err(error) => {
                for (input, text) in warnings.into_iter().filter(|_| passes_on()) {
                    Speaker::of(&input.path).hear(text.as_bytes());
                }
                return Err(error);
            }
        }
    }
    Ok(units)
}

/// What clang made of one source, as files.
pub(in crate::program) struct Made(Option<MadeFiles>);

struct MadeFiles {
    /// It is removed with this.
    _folder: TempDir,
    host: PathBuf,
    device: Vec<(Target, PathBuf)>,
    /// What the source depends on, where that was asked for.
    rule: PathBuf,
    warnings: String,
}

/// Runs clang over one source that no earlier run has read; `passes_on`: what it says is passed on at once.
fn run(
    input: &Input,
    build: &Build,
    toolchain: &Toolchain,
    passes_on: bool,
) -> Result<Made, ProgramError> {
    if input.bitcode.is_some() {
        return Ok(Made(None));
    }
    let folder = private_folder().map_err(|error| ProgramError::Files {
        what: "cannot make a temporary folder".into(),
        error,
    })?;
    let host_bitcode = folder.path().join("host.bc");
    let image = folder.path().join("image");
    std::fs::write(&image, IMAGE_PLACEHOLDER).map_err(|error| ProgramError::Files {
        what: format!("cannot write {}", image.display()),
        error,
    })?;

    let mut host = host_arguments(input, build, toolchain, &image, &host_bitcode);
    let rule = folder.path().join("rule.d");
    if build.dependencies.beside.is_some() {
        let words = build.dependencies.arguments(&input.path, &rule);
        host.extend(words.into_iter().map(OsString::from));
    }
    let targets = match input.language {
        Language::Cuda => build.compiled_targets(),
        _ => Vec::new(),
    };
    let device: Vec<DeviceRun> = targets
        .into_iter()
        .map(|target| {
            let made = folder.path().join(format!("device_{target}.bc"));
            let arguments = device_arguments(input, build, toolchain, target, &made);
            DeviceRun {
                target,
                arguments,
                made,
            }
        })
        .collect();
    let clang = |arguments: &[OsString], made: &Path, listener: &mut dyn Listener| {
        let temporary = [image.as_path(), made];
        run_front_end(toolchain, arguments, &temporary, build, listener)
    };
    let run_both = |host: &[OsString], further: &[OsString], listener: &mut dyn Listener| {
        let with_further = |arguments: &[OsString]| [arguments, further].concat();
        std::thread::scope(|scope| {
            // One after the other, as two processors are enough for.
            let device_runs = scope.spawn(|| {
                device.iter().try_for_each(|run| {
                    let arguments = with_further(&run.arguments);
                    clang(&arguments, &run.made, &mut Bounded::default()).map(drop)
                })
            });
            let host_output = clang(&with_further(host), &host_bitcode, listener);
            let device_output = match device_runs.join() {
                Ok(output) => output,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            let warnings = host_output.and_then(|output| device_output.map(|()| output.stderr))?;
            assembly_operands::are_as_nvcc_takes_them(device.iter().map(|run| run.made.as_path()))?;
            Ok(warnings)
        })
    };
    let both =
        |host: &[OsString], further: &[OsString]| run_both(host, further, &mut Bounded::default());
    // A folder that is to hold all messages gets them from what this gives.
    let passes_on = passes_on && build.sirius.save_directory.is_none();
    let first = match passes_on {
        true => run_both(&host, &[], &mut Speaker::of(&input.path)),
        false => both(&host, &[]),
    };
    let warnings = match first {
        Err(error) if clashes_with_references(&error) => {
            let define = OsString::from(format!("-D{WITHOUT_REFERENCES}"));
            // Where that is no better, the first message is the one about what the user wrote.
            both(&host, &[define]).map_err(|_| error)
        }
        Err(error) if input.language == Language::Cuda => {
            let warns = !build
                .front_end_arguments
                .iter()
                .any(|argument| argument == "-w");
            source_repairs::run_repaired(error, folder.path(), warns, |further| {
                both(&host, further)
            })
        }
        first => first,
    };
    let warnings = warnings.map(|text| unsaid(&input.path, text));
    let warnings = warnings.map_err(|error| {
        let refused_by = match input.language {
            Language::Cuda if both(&host, &["-E".into()]).is_err() => FrontEndStep::Preprocessor,
            Language::Cuda if build.phase.is_device_alone() => FrontEndStep::Device,
            Language::Cuda => FrontEndStep::Cuda,
            _ => FrontEndStep::HostCompiler,
        };
        ProgramError::from_clang(input, refused_by, error)
    })?;
    let device = different_code(device, input)?;
    if keeps_bitcode(build, &device) {
        let made = device.iter().map(|(_, path)| path.as_path());
        for path in made.chain([host_bitcode.as_path()]) {
            source_places::leave_out(path).map_err(|error| ProgramError::Files {
                what: format!("cannot write {}", path.display()),
                error,
            })?;
        }
    }
    Ok(Made(Some(MadeFiles {
        _folder: folder,
        host: host_bitcode,
        device,
        rule,
        warnings,
    })))
}

/// Whether what clang made of a source is kept as it is.
fn keeps_bitcode(build: &Build, device: &[(Target, PathBuf)]) -> bool {
    build.phase == Phase::Compile || (build.relocatable && !device.is_empty())
}

/// Reads what [`run_all`] made of a source, or an earlier run.
///
/// # Errors
/// [`ProgramError::Bitcode`] where it is none, [`ProgramError::Files`] where it cannot be used.
pub(in crate::program) fn read_made<'ctx>(
    context: &'ctx Context,
    input: &Input,
    build: &Build,
    toolchain: &Toolchain,
    made: Made,
) -> Result<FrontEndUnit<'ctx>, ProgramError> {
    if let Some(bitcode) = &input.bitcode {
        let relocatable = bitcode.relocatable.as_ref();
        let symbols = (bitcode.kernel_symbols, toolchain);
        let host = read_host(context, input, &bitcode.host, (relocatable, symbols))?;
        let read = |path: &PathBuf| read_device(context, input, path, (&host, relocatable));
        let newer = bitcode.newer.iter();
        return Ok(FrontEndUnit {
            source: input.path.clone(),
            device: bitcode.device.as_ref().map(read).transpose()?,
            newer: newer
                .map(|(target, path)| Ok((*target, read(path)?)))
                .collect::<Result<_, ProgramError>>()?,
            host,
            bitcode: None,
            relocatable: bitcode.relocatable.clone(),
            warnings: String::new(),
        });
    }
    let Made(Some(MadeFiles {
        _folder,
        host: host_bitcode,
        device,
        rule,
        warnings,
    })) = made
    else {
        return Err(ProgramError::Bitcode {
            source_file: input.path.clone(),
            message: "nothing was made of it".into(),
        });
    };
    if build.dependencies.beside.is_some() {
        keep_rule(&rule, input, build)?;
    }
    let is_relocatable = build.relocatable && !device.is_empty();
    let kept = build.phase == Phase::Compile;
    let bitcode = keeps_bitcode(build, &device)
        .then(|| SourceBitcode::read(&host_bitcode, &device))
        .transpose()?
        .map(|bitcode| SourceBitcode {
            relocatable: is_relocatable.then(|| relocatable::unit_name(&input.path, &bitcode)),
            ..bitcode
        });
    let name = bitcode
        .as_ref()
        .and_then(|bitcode| bitcode.relocatable.clone());
    let relocatable = name.map(|name| Relocatable { name, domain: 0 });
    // The host's first: types of one name are renamed in what is read later.
    let symbols = (build.kernel_symbols, toolchain);
    let host = read_host(
        context,
        input,
        &host_bitcode,
        (relocatable.as_ref(), symbols),
    )?;
    let read = |(target, path): &(Target, PathBuf)| {
        let module = read_device(context, input, path, (&host, relocatable.as_ref()))?;
        Ok((*target, module))
    };
    let device = device.iter().map(read);
    let mut device = device
        .collect::<Result<Vec<_>, ProgramError>>()?
        .into_iter();
    Ok(FrontEndUnit {
        source: input.path.clone(),
        host,
        device: device.next().map(|(_, module)| module),
        newer: device.collect(),
        bitcode: bitcode.filter(|_| kept),
        relocatable,
        warnings,
    })
}

/// Puts a source's rule into the file that the command asks for; those of a link stand in one, as nothing but the
/// whole program is made of them.
fn keep_rule(rule: &Path, input: &Input, build: &Build) -> Result<(), ProgramError> {
    let place = build.dependencies.file_of(&input.path);
    let mut sources = build.inputs.iter();
    let first = sources.find(|input| input.language != Language::Object);
    let is_first = first.is_none_or(|first| first == input);
    let in_one = build.dependencies.output.is_some() || build.dependencies.file.is_some();
    let written = std::fs::read(rule).and_then(|rule| {
        let mut rules = match is_first || !in_one {
            true => Vec::new(),
            false => std::fs::read(&place).unwrap_or_default(),
        };
        rules.extend(rule);
        write_whole(&place, &rules)
    });
    written.map_err(|error| ProgramError::Files {
        what: format!("cannot write {}", place.display()),
        error,
    })
}

/// A run of clang over the device side for one architecture.
struct DeviceRun {
    target: Target,
    arguments: Vec<OsString>,
    /// The file that it makes.
    made: PathBuf,
}

/// What clang made of the device side, without what is the same as for an older architecture.
fn different_code(
    runs: Vec<DeviceRun>,
    input: &Input,
) -> Result<Vec<(Target, PathBuf)>, ProgramError> {
    let mut runs = runs.into_iter();
    let Some(oldest) = runs.next() else {
        return Ok(Vec::new());
    };
    if runs.len() == 0 {
        return Ok(vec![(oldest.target, oldest.made)]);
    }
    let read = |run: DeviceRun| {
        let context = Context::create();
        let definitions = Definitions::of(&read(&context, input, &run.made)?);
        Ok::<_, ProgramError>((run, definitions))
    };
    let oldest = read(oldest)?;
    let mut newer: Vec<(Target, (DeviceRun, Definitions))> = Vec::new();
    for run in runs {
        let made = read(run)?;
        let (_, earlier) = for_target(&oldest, &newer, made.0.target);
        if *earlier != made.1 {
            newer.push((made.0.target, made));
        }
    }
    let newer = newer.into_iter().map(|(_, made)| made);
    let kept = [oldest].into_iter().chain(newer);
    Ok(kept.map(|(run, _)| (run.target, run.made)).collect())
}

/// What our headers leave texture references out for.
const WITHOUT_REFERENCES: &str = "SIRIUS_WITHOUT_REFERENCES";

/// Whether clang speaks of our headers of texture and surface references: a program that is newer than they
/// are may have another use for their names.
fn clashes_with_references(error: &ToolError) -> bool {
    match error {
        ToolError::Failed { stderr, .. } => {
            let headers = ["sirius_texture_references.h", "sirius_surface_references.h"];
            headers.iter().any(|header| stderr.contains(header))
        }
        ToolError::NotStarted { .. } => false,
    }
}

fn read<'ctx>(
    context: &'ctx Context,
    input: &Input,
    path: &Path,
) -> Result<Module<'ctx>, ProgramError> {
    let module = Module::parse_bitcode_from_path(path, context);
    let module = module.map_err(|error| ProgramError::Bitcode {
        source_file: input.path.clone(),
        message: error.to_string(),
    })?;
    source_places::settle(&module);
    Ok(module)
}

fn read_host<'ctx>(
    context: &'ctx Context,
    input: &Input,
    path: &Path,
    (relocatable, (symbols, toolchain)): (Option<&Relocatable>, (KernelSymbols, &Toolchain)),
) -> Result<Module<'ctx>, ProgramError> {
    let host = read(context, input, path)?;
    host_functions::settle_names(&host, symbols, (relocatable.is_some(), toolchain.version));
    registration_order::register_first(&host);
    managed::settle_host(&host, &input.path)?;
    texture_references::settle_host(&host, relocatable.map(unit_name));
    Ok(host)
}

fn read_device<'ctx>(
    context: &'ctx Context,
    input: &Input,
    path: &Path,
    (host, relocatable): (&Module<'ctx>, Option<&Relocatable>),
) -> Result<Module<'ctx>, ProgramError> {
    let device = read(context, input, path)?;
    managed::settle_device(&device);
    cluster_dimensions::settle(&device);
    device_allocation::define(&device, &input.path)?;
    texture_references::settle_device(&device, relocatable.map(unit_name));
    if relocatable.is_some() {
        relocatable::settle_names(&device);
    }
    host_arrays::leave_out(&device, host);
    Ok(device)
}

fn unit_name(relocatable: &Relocatable) -> &str {
    &relocatable.name
}

impl SourceBitcode {
    /// `device` is that of the oldest architecture, then those of newer ones; nothing where there is none.
    fn read(host: &Path, device: &[(Target, PathBuf)]) -> Result<Self, ProgramError> {
        let bytes = |path: &Path| {
            std::fs::read(path).map_err(|error| ProgramError::Files {
                what: format!("cannot read {}", path.display()),
                error,
            })
        };
        let oldest = device.first().map(|(_, path)| bytes(path));
        let newer = device.iter().skip(1);
        Ok(Self {
            host: bytes(host)?,
            device: oldest.transpose()?,
            newer: newer
                .map(|(target, path)| Ok((*target, bytes(path)?)))
                .collect::<Result<_, ProgramError>>()?,
            relocatable: None,
        })
    }
}

/// The contents of the device image that clang embeds; code generation replaces it.
const IMAGE_PLACEHOLDER: &[u8] = b"sirius-image-placeholder";

impl ProgramError {
    fn from_clang(input: &Input, refused_by: FrontEndStep, error: ToolError) -> Self {
        match error {
            ToolError::Failed { status, stderr, .. } => Self::FrontEnd {
                source_file: input.path.clone(),
                refused_by,
                message: unsaid(&input.path, stderr),
                status,
            },
            ToolError::NotStarted { program, reason } => Self::Files {
                what: format!("cannot run {program}"),
                error: std::io::Error::other(reason),
            },
        }
    }

    /// The place in a source that it is about, where it is about one.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Self::Unmasked { location, .. } | Self::Ptx { location, .. } => Some(location),
            _ => None,
        }
    }

    /// The exit status that nvcc gives: 2 when its front end refuses a CUDA source, else 1, that of the host
    /// compiler, which preprocesses such sources as well.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::FrontEnd {
                refused_by: FrontEndStep::Cuda,
                ..
            } => 2,
            // That of nvlink.
            Self::DeviceLink(_) => 255,
            // That of ptxas.
            Self::Ptx { .. } => 255,
            _ => 1,
        }
    }
}

fn host_arguments(
    input: &Input,
    build: &Build,
    toolchain: &Toolchain,
    image: &Path,
    output: &Path,
) -> Vec<OsString> {
    let mut arguments = Arguments::default();
    match input.language {
        Language::Cuda => {
            arguments.cuda(input, build, toolchain, build.oldest_target());
            arguments.add([
                "--cuda-host-only",
                "-Xclang",
                "-fcuda-include-gpubinary",
                "-Xclang",
            ]);
            arguments.0.push(image.into());
        }
        Language::C => arguments.plain("c", toolchain),
        Language::Cxx | Language::Ptx | Language::Object | Language::Tensor => {
            arguments.plain("c++", toolchain);
        }
    }
    arguments.debug_information(build.host_debug);
    // At -O0 clang would mark every function `optnone`; the level that runs is codegen's.
    arguments
        .0
        .push(format!("-O{}", build.optimisation.clamp(1, 3)).into());
    arguments.shared(input, build, toolchain);
    if input.language == Language::C {
        // C is compiled by its own default, as with nvcc, whose host compiler only warns.
        let is_of_other = |argument: &OsString| argument.to_string_lossy().starts_with("-std=");
        arguments.0.retain(|argument| !is_of_other(argument));
        // Old C, of which gcc only warns (before version 14).
        arguments.add([
            "-Wno-error=implicit-function-declaration",
            "-Wno-error=implicit-int",
            "-Wno-error=int-conversion",
            "-Wno-error=incompatible-pointer-types",
            "-Wno-error=incompatible-function-pointer-types",
            "-Wno-error=return-mismatch",
            "-Wno-deprecated-non-prototype",
        ]);
    }
    arguments
        .0
        .extend(build.host_arguments.iter().map(OsString::from));
    // Behind the host compiler's `-Wall`, which would switch them on again.
    let asked: Vec<String> = [&build.front_end_arguments[..], &build.host_arguments].concat();
    arguments.0.extend(clang_warnings::left_off(&asked));
    arguments.input_output(input, output);
    arguments.0
}

fn device_arguments(
    input: &Input,
    build: &Build,
    toolchain: &Toolchain,
    target: Target,
    output: &Path,
) -> Vec<OsString> {
    let mut arguments = Arguments::default();
    arguments.cuda(input, build, toolchain, target);
    arguments.add(["--cuda-device-only"]);
    arguments.0.extend(target.feature_macros().map(Into::into));
    // LLVM ends a run for an architecture that the PTX version which clang takes from the toolkit's does not have.
    let version = format!("+ptx{}", target.isa_version());
    arguments.add(["-Xclang", "-target-feature", "-Xclang", &version]);
    // nvcc optimises device code whatever -O says.
    arguments.debug_information(build.device_debug);
    arguments.add(["-O2"]);
    match build.device_debug {
        // Else clang describes no variables in code that it takes to be optimised later.
        true => arguments.add(["--cuda-noopt-device-debug"]),
        // Else it makes directives for the device's assembler of the lines, which an object for the host cannot have.
        false => arguments.add(["-Xclang", "-debug-info-kind=line-tables-only"]),
    }
    arguments.add([if build.numerics.contract {
        "-ffp-contract=fast"
    } else {
        "-ffp-contract=off"
    }]);
    if build.numerics.flush_to_zero || build.numerics.fast_math {
        arguments.add(["-fgpu-flush-denormals-to-zero"]);
    }
    if build.numerics.fast_math {
        arguments.add(["-fgpu-approx-transcendentals"]);
    }
    arguments.shared(input, build, toolchain);
    arguments.input_output(input, output);
    arguments.0
}

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    /// Debug information as the user asks for it, else what says in which line something stands. No digest of the source
    /// is in that: after a comment was changed below all code, what is made is as it was.
    fn debug_information(&mut self, for_debugger: bool) {
        match for_debugger {
            true => self.add(["-g"]),
            false => self.add(["-gline-tables-only", "-Xclang", "-gsrc-hash=none"]),
        }
    }

    fn add<const N: usize>(&mut self, arguments: [&str; N]) {
        self.0.extend(arguments.map(OsString::from));
    }

    /// A source without device code, which sees nvcc all the same.
    fn plain(&mut self, language: &str, toolchain: &Toolchain) {
        let (major, minor) = toolchain.version;
        self.add(["-x", language, "-D__NVCC__=1", "-D__CUDACC_VER_BUILD__=0"]);
        self.0
            .push(format!("-D__CUDACC_VER_MAJOR__={major}").into());
        self.0
            .push(format!("-D__CUDACC_VER_MINOR__={minor}").into());
        self.add(["-I"]);
        self.0.push(toolchain.clang_view().into());
        self.add(["-isystem"]);
        self.0.push(toolchain.toolkit_include.clone().into());
    }

    fn cuda(&mut self, input: &Input, build: &Build, toolchain: &Toolchain, target: Target) {
        self.add(["-x", "cuda", "-I"]);
        self.0.push(toolchain.clang_view().into());
        self.0.push(toolchain.driver_version().into());
        let mut path = OsString::from("--cuda-path=");
        path.push(&toolchain.toolkit);
        self.0.push(path);
        self.0
            .push(format!("--offload-arch=sm_{}", target.number).into());
        let list = build.architecture_list();
        self.0.extend(list.into_iter().map(OsString::from));
        // The device library stays out, so that mathematics stays as calls. That option drops the
        // version from which clang chooses how launches are configured; it is given back.
        self.add([
            "-nocudalib",
            "-Xclang",
            "-target-sdk-version=12.8",
            "-Wno-unknown-cuda-version",
            // nvcc's front end takes these.
            "-Wno-error=reserved-user-defined-literal",
            "-Wno-error=return-mismatch",
            "-include",
        ]);
        self.0.push(toolchain.compatibility_header.clone().into());
        // Where CUDA 13 keeps cub, thrust and libcu++, which cooperative groups include as well.
        let libraries = toolchain.toolkit_include.join("cccl");
        if libraries.is_dir() {
            self.add(["-isystem"]);
            self.0.push(libraries.into());
        }
        if build.relocatable {
            // The new driver's objects would need clang's own linker.
            self.add(["--no-offload-new-driver", "-fgpu-rdc"]);
            self.0
                .push(format!("-cuid={}", relocatable::compilation_name(input, build)).into());
        }
        if build.per_thread_default_stream {
            self.add(["-Xclang", "-fgpu-default-stream=per-thread"]);
        }
    }

    fn shared(&mut self, input: &Input, build: &Build, toolchain: &Toolchain) {
        let macros = build.mode_macros(input.language);
        self.0.extend(macros.map(OsString::from));
        // Headers of libraries that the toolkit may lack; its own come first.
        self.add(["-idirafter"]);
        self.0.push(toolchain.library_headers().into());
        // Nobody watches the CPU device's ranges, and calls of them would stand between launches.
        if build.device == Device::Cpu {
            self.add(["-DNVTX_DISABLE="]);
        }
        // g++ and nvcc only warn of numbers in braces that may not fit, and say nothing of options for
        // the linker.
        self.add([
            "-Wno-error=c++11-narrowing",
            "-Wno-unused-command-line-argument",
        ]);
        // Names of variables let reports speak of buffers as the program does.
        self.add([
            "-Xclang",
            "-disable-llvm-passes",
            "-fno-discard-value-names",
        ]);
        if colours() {
            self.add(["-fcolor-diagnostics"]);
        }
        self.0
            .extend(build.front_end_arguments.iter().map(OsString::from));
        self.0
            .extend(clang_warnings::left_off(&build.front_end_arguments));
    }

    fn input_output(&mut self, input: &Input, output: &Path) {
        self.add(["-emit-llvm", "-c", "-o"]);
        self.0.push(output.into());
        self.0.push(input.path.clone().into());
    }
}
