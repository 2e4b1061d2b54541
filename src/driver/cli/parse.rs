//! A command line -> [`Invocation`]: applies the rows of the option table in order, then settles
//! what depends on several options (phase, inputs, architectures, dependency files).
//!
//! Invariant: an [`Invocation`] that leaves here is complete and consistent; later stages need not
//! look at options again.

use super::Invocation;
use super::architecture;
use super::draft::{Draft, Information, is_host_option};
use super::help;
use super::host_compiler::host_compiler;
use super::manual::manual_page;
use super::options::{Arity, Class, all_options, at_once_below};
use super::shown::options_given;
use super::sirius_options::report_format;
use super::spelling::{Argument, split_arguments, split_list, split_options_file, split_words};
use super::subcommands::{
    AnalysisOptions, Asked, Subcommand, TensorCommand, TuneOptions, commands, completions,
    take_subcommand,
};
use super::values::{instead, nearest};
use crate::build::DependencyOptions;
use crate::build::{
    Build, Device, Input, KernelSymbols, Language, Numerics, Phase, ReportFormat, SiriusOptions,
    TensorForm,
};
use crate::diagnostics::{Diagnostic, Severity};
use crate::tools::command::command_line;
use crate::tools::toolchain;
use crate::tools::toolkit_folder::ToolkitFolder;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A command line that cannot be carried out. The text is one sentence without the program's name;
/// `main` prints it as `sirius-rs fatal   : …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UsageError {
    /// In no row of the table.
    #[error("Unknown option '{option}'{}", did_you_mean(.nearest.as_deref()))]
    UnknownOption {
        /// As it was given.
        option: String,
        /// One that is spelled nearly so.
        nearest: Option<String>,
    },
    /// An option at the end of the line that takes a value.
    #[error("argument expected after '{0}'")]
    MissingValue(String),
    /// A flag with a value.
    #[error("no argument expected after '{0}'")]
    UnexpectedValue(String),
    /// A value that the option does not have.
    #[error("Value '{value}' is not defined for option '{option}'; {instead}")]
    UndefinedValue {
        /// The option's long name.
        option: String,
        /// What was given.
        value: String,
        /// What there is.
        instead: String,
    },
    /// Neither `true` nor `false`.
    #[error("'{0}': expected true or false")]
    NotBoolean(String),
    /// An architecture that the toolkit or LLVM does not know.
    #[error("Unsupported gpu architecture '{name}'; {instead}")]
    UnsupportedArchitecture {
        /// As it was given.
        name: String,
        /// What there is.
        instead: String,
    },
    /// `-code` alone.
    #[error("-arch option not specified")]
    CodeWithoutArchitecture,
    /// `sm_` where only `compute_` may stand.
    #[error("Value of -arch option ('{0}') must be a virtual code architecture")]
    ArchitectureMustBeVirtual(String),
    /// Code of a virtual architecture that is newer, or whose features it does not have.
    #[error("Incompatible code generation requested: arch='{architecture}', code='{code}'")]
    IncompatibleCode {
        /// The virtual architecture.
        architecture: String,
        /// What was to be made of it.
        code: String,
    },
    /// A `-gencode` that is not `arch=…,code=…`.
    #[error(
        "Malformed value '{0}' for option '-gencode', expected arch=compute_NN,code=[sm_NN,...]"
    )]
    MalformedGenerateCode(String),
    /// A `-gencode` that does not say what to make.
    #[error("Option '--generate-code {0}', missing code")]
    MissingCode(String),
    /// A file of device code that holds one piece, asked for several or for what it does not hold.
    #[error("Option '{option}' is not allowed when compiling for {several}")]
    OneArchitecture {
        /// `--ptx (-ptx)` or `--cubin`.
        option: &'static str,
        /// What it is asked for.
        several: &'static str,
    },
    /// A feature that is refused; the sentence says why.
    #[error("{0}")]
    Refused(String),
    /// Nothing to compile.
    #[error("No input files specified; use option --help for more information")]
    NoInput,
    /// An input whose ending says nothing.
    #[error("Don't know what to do with '{word}'{}", command_meant(word))]
    UnknownInput {
        /// The input.
        word: String,
    },
    /// An input that does not exist.
    #[error("Cannot find input file '{0}'")]
    MissingInput(String),
    /// `-c a b -o x`.
    #[error("A single input file is required for a non-link phase when an outputfile is specified")]
    SeveralInputs,
    /// Two phases that end at one place.
    #[error("More than one compilation phase specified: '{0}' and '{1}'")]
    ConflictingPhases(&'static str, &'static str),
    /// An options file that cannot be read.
    #[error("Cannot read options file '{path}': {reason}")]
    OptionsFile {
        /// Its path.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// An options file with a quote that nothing closes.
    #[error("Stray '\"' character")]
    StrayQuote,
    /// An argument that is not UTF-8.
    #[error("Argument '{0}' is not valid UTF-8")]
    NotUtf8(String),
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

/// What a word that is no input may be for: a command, which only the first word can be.
fn command_meant(word: &str) -> String {
    let commands = commands();
    let known = commands.iter().map(String::as_str);
    match known.clone().any(|known| known == word) {
        true => String::from("; as a command it has to be the first word"),
        false => did_you_mean(nearest(word, known)),
    }
}

impl UsageError {
    /// The exit status that nvcc gives for it.
    pub fn exit_status(&self) -> u8 {
        1
    }
}

/// What reading a command line needs to know of the machine.
pub struct Surroundings<'a> {
    /// An environment variable.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// The toolkit's (major, minor), when one is found.
    pub toolkit_version: Option<(u32, u32)>,
    /// The compute capabilities of the GPUs present (80 for 8.0), for `-arch=native`.
    pub installed_gpus: &'a dyn Fn() -> Vec<u32>,
    /// The device of programs for which none is asked.
    pub default_device: Device,
    /// Whether a file exists.
    pub exists: &'a dyn Fn(&Path) -> bool,
}

/// Reads a command line (without the program's name) in this machine's surroundings.
///
/// Gives what is asked, and warnings.
///
/// # Errors
/// One sentence, with nvcc's wording where nvcc has one; see [`UsageError::exit_status`].
pub fn parse(
    arguments: &[OsString],
    environment: &impl Fn(&str) -> Option<String>,
) -> Result<(Invocation, Vec<Diagnostic>), UsageError> {
    let toolkit_version = toolchain::find_toolkit(environment)
        .ok()
        .and_then(|root| toolchain::toolkit_version(&root));
    let surroundings = Surroundings {
        environment,
        toolkit_version,
        installed_gpus: &toolchain::installed_gpus,
        default_device: ToolkitFolder::own().map_or(Device::Cuda, |folder| folder.device),
        exists: &Path::exists,
    };
    parse_command_line(arguments, &surroundings)
}

/// [`parse`] with explicit surroundings.
///
/// # Errors
/// As [`parse`].
pub fn parse_command_line(
    arguments: &[OsString],
    surroundings: &Surroundings<'_>,
) -> Result<(Invocation, Vec<Diagnostic>), UsageError> {
    let mut words = Vec::new();
    for argument in arguments {
        let Some(word) = argument.to_str() else {
            return Err(UsageError::NotUtf8(argument.to_string_lossy().into_owned()));
        };
        words.push(word.to_owned());
    }
    let subcommand = match take_subcommand(&mut words)? {
        Some(Asked::Help(text)) => return Ok((Invocation::Print(text), Vec::new())),
        Some(Asked::Command(Subcommand::Completions { shell })) => {
            return Ok((Invocation::Print(completions(shell)), Vec::new()));
        }
        Some(Asked::Command(Subcommand::Man)) => {
            return Ok((Invocation::Print(manual_page()), Vec::new()));
        }
        Some(Asked::Command(Subcommand::Plan(options))) => {
            return Ok((options.settled()?, Vec::new()));
        }
        Some(Asked::Command(Subcommand::Train(options))) => {
            let arguments = options.arguments();
            return Ok((Invocation::Train { arguments }, Vec::new()));
        }
        Some(Asked::Command(command)) => Some(command),
        None => None,
    };
    let variable = |name: &str| {
        (surroundings.environment)(name)
            .map(|text| split_words(&text))
            .unwrap_or_default()
    };
    let mut line = variable("NVCC_PREPEND_FLAGS");
    line.extend(variable("SIRIUS_FLAGS"));
    let mut files = Vec::new();
    let words = expand_options_files(words, &mut files, 0)?;
    let options = options_given(&words);
    line.extend(words);
    line.extend(variable("NVCC_APPEND_FLAGS"));
    let line = expand_options_files(line, &mut files, 0)?;

    let mut draft = Draft::new(default_build(surroundings)?);
    draft.build.sirius.command = command_line(Path::new("sirius-rs"), &line);
    draft.build.options = options;
    draft.build.options_files = files;
    let inputs = apply(&mut draft, &line)?;
    if let Some(folder) = draft.toolkit_folder {
        let device = draft.build.device;
        return Ok((Invocation::LayOut { folder, device }, Vec::new()));
    }
    if let Some(information) = draft.information {
        return Ok((
            Invocation::Print(print(information, &draft, surroundings)),
            Vec::new(),
        ));
    }
    let host_arguments = &draft.build.host_arguments;
    if host_arguments.iter().any(|word| asks_about_compiler(word)) && !inputs.is_empty() {
        let invocation = Invocation::AskHostCompiler {
            compiler: draft.build.host_compiler,
            arguments: draft.build.host_arguments,
        };
        return Ok((invocation, Vec::new()));
    }
    let (build, warnings) = settle(draft, inputs, surroundings)?;
    let invocation = match subcommand {
        Some(Subcommand::Tune(TuneOptions { pack })) => tune(build, pack)?,
        Some(Subcommand::Tc(command)) => translate(build, &command)?,
        Some(Subcommand::Analyze(AnalysisOptions {
            format,
            dependences,
            why,
            with_stats,
        })) => {
            let output = build.output.clone();
            let ending = output
                .as_deref()
                .and_then(Path::extension)
                .and_then(|ending| report_format(&ending.to_string_lossy()));
            let format = format.or(ending).unwrap_or(ReportFormat::Text);
            Invocation::Analyze {
                build: Build {
                    output: None,
                    ..build
                },
                format,
                dependences,
                why,
                statistics: with_stats,
                output,
            }
        }
        _ => Invocation::Build(build),
    };
    let diagnostics = warnings
        .into_iter()
        .map(|message| Diagnostic {
            severity: Severity::Warning,
            message,
        })
        .collect();
    Ok((invocation, diagnostics))
}

/// `sirius-rs tune`: of a whole program, into a file with a name.
fn tune(build: Build, pack: bool) -> Result<Invocation, UsageError> {
    let refused = |reason: &str| Err(UsageError::Refused(reason.to_owned()));
    if build.phase != Phase::Link || build.shared {
        return refused(
            "'sirius-rs tune' measures whole programs; leave out -c, -shared and the like",
        );
    }
    if build.run.is_some() && pack {
        return refused(
            "'sirius-rs tune --pack' runs nothing; give the program's arguments to what it makes",
        );
    }
    if !build.fuses() {
        return refused("without fusion there is nothing to tune");
    }
    let Some(output) = build.output.clone() else {
        return refused("'sirius-rs tune' needs -o FILE");
    };
    Ok(Invocation::Tune {
        build: Build {
            output: None,
            ..build
        },
        pack,
        output,
    })
}

/// `sirius-rs tc`: of one file of definitions.
fn translate(build: Build, command: &TensorCommand) -> Result<Invocation, UsageError> {
    let is_tensor = |input: &Input| input.language == Language::Tensor;
    if build.inputs.len() != 1 || !build.inputs.iter().all(is_tensor) {
        let reason = "'sirius-rs tc' takes one file of tensor definitions, which ends in .tc";
        return Err(UsageError::Refused(reason.to_owned()));
    }
    if command.emit == TensorForm::Options && command.tuning().is_none() {
        let reason = "'--emit=options' needs '--tune=SIZES'";
        return Err(UsageError::Refused(reason.to_owned()));
    }
    let output = build.output.clone();
    Ok(Invocation::Translate {
        build: Build {
            output: None,
            ..build
        },
        emit: command.emit,
        tuning: command.tuning(),
        output,
    })
}

/// For every front-end run: what nvcc's host compiler accepts in silence, or with a warning, and clang
/// does not. Options of users come later and win.
const FRONT_END_DEFAULTS: [&str; 2] = ["-Wno-register", "-Wno-unknown-warning-option"];

/// The build when no option is given.
fn default_build(surroundings: &Surroundings<'_>) -> Result<Build, UsageError> {
    let device = match (surroundings.environment)("SIRIUS_DEVICE") {
        None => surroundings.default_device,
        Some(name) if name.is_empty() => surroundings.default_device,
        Some(name) => Device::named(&name).ok_or_else(|| {
            UsageError::Refused(format!(
                "The environment variable SIRIUS_DEVICE is '{name}'; {}",
                instead(&name, Device::ALL.map(Device::name))
            ))
        })?,
    };
    let host_compiler = (surroundings.environment)("NVCC_CCBIN")
        .filter(|text| !text.is_empty())
        .map(|text| host_compiler(Path::new(&text)));
    let set = |name: &str| (surroundings.environment)(name).filter(|text| !text.is_empty());
    Ok(Build {
        phase: Phase::Link,
        cxx_form: false,
        clean: false,
        keep_device_functions: false,
        options: Vec::new(),
        inputs: Vec::new(),
        output: None,
        output_directory: PathBuf::new(),
        dependencies: DependencyOptions::default(),
        device,
        optimisation: 2,
        host_overflow_wraps: true,
        host_debug: false,
        device_debug: false,
        device_optimised: true,
        line_info: false,
        shared: false,
        made_of_definitions: Vec::new(),
        front_end_arguments: FRONT_END_DEFAULTS.map(str::to_owned).to_vec(),
        host_arguments: Vec::new(),
        link_arguments: Vec::new(),
        ptxas_arguments: Vec::new(),
        architectures: Vec::new(),
        architectures_named: false,
        relocatable: false,
        kernel_symbols: KernelSymbols::default(),
        numerics: Numerics {
            contract: true,
            fast_math: false,
            flush_to_zero: false,
            precise_division: true,
            precise_square_root: true,
        },
        per_thread_default_stream: false,
        extended_lambda: false,
        relaxed_constexpr: false,
        maximum_registers: None,
        shared_cudart: false,
        host_compiler,
        run: None,
        sources_at_once: at_once_below(set("MAKEFLAGS").as_deref()),
        verbose: false,
        dry_run: false,
        keep_directory: None,
        options_files: Vec::new(),
        times: None,
        sirius: SiriusOptions {
            reference: set("SIRIUS_REFERENCE").is_some_and(|value| value != "0"),
            save_directory: set("SIRIUS_SAVE_DIR").map(PathBuf::from),
            ..SiriusOptions::default()
        },
    })
}

/// Puts the contents of `--options-file` files in place of the option, and those of `@FILE` in its place:
/// nvcc refuses that, the host compiler for which CMake takes this program at a link does not.
fn expand_options_files(
    words: Vec<String>,
    read: &mut Vec<PathBuf>,
    depth: usize,
) -> Result<Vec<String>, UsageError> {
    /// Deep enough for people, and a file that names itself ends.
    const DEEPEST: usize = 16;
    let mut expanded = Vec::new();
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        let files = match word.as_str() {
            "--options-file" | "-optf" => rest
                .next()
                .ok_or_else(|| UsageError::MissingValue(word.clone()))?,
            _ => match word
                .strip_prefix("--options-file=")
                .or(word.strip_prefix("-optf="))
                .or(word.strip_prefix('@'))
            {
                Some(files) => files.to_owned(),
                None => {
                    expanded.push(word);
                    continue;
                }
            },
        };
        for path in split_list(&files) {
            let fail = |reason: String| UsageError::OptionsFile {
                path: path.clone(),
                reason,
            };
            if depth == DEEPEST {
                return Err(fail("options files are nested too deeply".to_owned()));
            }
            let text = std::fs::read_to_string(&path).map_err(|error| fail(error.to_string()))?;
            let inside = match word.starts_with('@') {
                true => split_words(&text),
                false => split_options_file(&text).ok_or(UsageError::StrayQuote)?,
            };
            read.push(path.into());
            expanded.extend(expand_options_files(inside, read, depth + 1)?);
        }
    }
    Ok(expanded)
}

/// Carries out every option in order; gives the inputs.
fn apply(draft: &mut Draft, line: &[String]) -> Result<Vec<String>, UsageError> {
    let mut inputs = Vec::new();
    let mut unknown = Vec::new();
    let mut scalars: BTreeMap<&'static str, String> = BTreeMap::new();
    for argument in split_arguments(line)? {
        let (row, value) = match argument {
            Argument::Input(path) => {
                inputs.push(path.to_owned());
                continue;
            }
            Argument::Unknown(text) if is_host_option(text) => {
                draft.host_argument(text);
                continue;
            }
            Argument::Unknown(text) => {
                unknown.push(text.to_owned());
                continue;
            }
            Argument::Option { row, value } => (row, value.unwrap_or_default()),
        };
        let effect = match &row.class {
            Class::Reject(sentence) => return Err(UsageError::Refused((*sentence).to_owned())),
            Class::Ignore => continue,
            Class::Honour(effect) => effect,
        };
        if row.arity == Arity::List {
            for piece in split_list(&value) {
                effect(draft, &piece)?;
            }
            continue;
        }
        if row.arity == Arity::Scalar {
            let before = scalars.insert(row.long, value.clone());
            // SIRIUS_FLAGS are defaults, which the command line may change in silence.
            if before.is_some_and(|before| before != value) && !row.long.starts_with("sirius-") {
                draft.warnings.push(format!(
                    "incompatible redefinition for option '{}', the last value of this option was \
                     used",
                    row.long
                ));
            }
        }
        effect(draft, &value)?;
    }
    for text in unknown {
        match (draft.forward_to_compiler, draft.forward_to_linker) {
            (false, false) => return Err(unknown_option(text)),
            (true, _) => draft.host_argument(&text),
            (false, true) => draft.build.link_arguments.push(text),
        }
    }
    Ok(inputs)
}

/// Whether an option asks the host compiler about itself: with it, that answers and compiles nothing.
fn asks_about_compiler(option: &str) -> bool {
    const QUESTIONS: [&str; 6] = [
        "--version",
        "-dumpversion",
        "-dumpfullversion",
        "-dumpmachine",
        "-dumpspecs",
        "--target-help",
    ];
    let begins = |prefix: &str| option.starts_with(prefix);
    QUESTIONS.contains(&option) || ["-print-", "--print-", "--help"].into_iter().any(begins)
}

/// The sentence for an option that is in no row, with one that is spelled nearly so.
fn unknown_option(option: String) -> UsageError {
    let name = option.split('=').next().unwrap_or_default();
    let spelled = all_options().flat_map(|row| {
        let short = row.short.iter().map(|short| format!("-{short}"));
        short.chain([format!("--{}", row.long)])
    });
    let spelled: Vec<String> = spelled.collect();
    let near = nearest(name, spelled.iter().map(String::as_str)).map(str::to_owned);
    UsageError::UnknownOption {
        option,
        nearest: near,
    }
}

/// Settles what depends on several options.
fn settle(
    draft: Draft,
    inputs: Vec<String>,
    surroundings: &Surroundings<'_>,
) -> Result<(Build, Vec<String>), UsageError> {
    let Draft {
        mut build,
        phases,
        run_arguments,
        language,
        architecture,
        dependencies,
        keep,
        keep_directory,
        output_directory,
        source,
        mut warnings,
        ..
    } = draft;
    let inputs = source.map_or(inputs, |source| vec![source]);
    if inputs.is_empty() {
        return Err(UsageError::NoInput);
    }
    let only_one = inputs.len() == 1;
    for path in inputs {
        let language = match input_language(&path, language) {
            // `-run PROGRAM`.
            Err(UsageError::UnknownInput { .. }) if only_one && build.run.is_some() => {
                Language::Object
            }
            language => language?,
        };
        // nvcc shows what it would do to files that are not there; scripts learn from that what to link.
        let is_standard_input = path == "-";
        if !build.dry_run && !is_standard_input && !(surroundings.exists)(Path::new(&path)) {
            return Err(UsageError::MissingInput(path));
        }
        build.inputs.push(Input {
            path: path.into(),
            language,
            bitcode: None,
        });
    }
    build.phase = one_phase(&phases)?;
    refuse_ptx(&build)?;
    build.sirius.tuning.arguments.clone_from(&run_arguments);
    if let Some(arguments) = &mut build.run {
        *arguments = run_arguments;
    }
    // Whole-program architecture lists start from the newest toolkit when none is found: the CPU
    // device needs none, and the cuda device says so by itself.
    let toolkit_major = surroundings.toolkit_version.map_or(13, |(major, _)| major);
    build.architectures_named =
        architecture.architecture.is_some() || !architecture.generate_code.is_empty();
    build.architectures = architecture::resolve(
        &architecture,
        toolkit_major,
        surroundings.installed_gpus,
        build.phase,
        &mut warnings,
    )?;
    if keep {
        build.keep_directory = Some(keep_directory.unwrap_or_else(|| PathBuf::from(".")));
    }
    let sources = build
        .inputs
        .iter()
        .filter(|input| input.language != Language::Object)
        .count();
    if dependencies.only.is_some() {
        build.phase = Phase::Preprocess;
    }
    let one_output = matches!(
        build.phase,
        Phase::Link | Phase::Library | Phase::DeviceLink
    );
    if !one_output && build.output.is_some() && build.inputs.len() > 1 {
        return Err(UsageError::SeveralInputs);
    }
    if dependencies.is_asked() {
        build.dependencies = DependencyOptions {
            output: build.output.clone(),
            directory: output_directory.clone().unwrap_or_default(),
            ..dependencies
        };
    }
    // What is only preprocessed goes to standard output wherever objects would go.
    if let Some(directory) = output_directory.filter(|_| build.phase != Phase::Preprocess) {
        match (&build.output, one_output || sources == 1) {
            (Some(_), _) => {}
            (None, true) => build.output = Some(output_in(&directory, &build)),
            (None, false) => build.output_directory = directory,
        }
    }
    Ok((build, warnings))
}

/// What an input is, by its ending, or by `-x` unless it is for the linker.
fn input_language(path: &str, asked: Option<Language>) -> Result<Language, UsageError> {
    let name = Path::new(path);
    let ending = name
        .extension()
        .map(|ending| ending.to_string_lossy().into_owned());
    let shared_object = name
        .file_name()
        .is_some_and(|name| name.to_string_lossy().contains(".so."));
    let by_ending = match ending.as_deref() {
        Some("cu") => Some(Language::Cuda),
        Some("cpp" | "cc" | "cxx" | "C" | "c++" | "ii") => Some(Language::Cxx),
        Some("c" | "i") => Some(Language::C),
        Some("tc") => Some(Language::Tensor),
        Some("ptx") => Some(Language::Ptx),
        Some("o" | "obj" | "a" | "so") => Some(Language::Object),
        _ if shared_object => Some(Language::Object),
        _ => None,
    };
    match (by_ending, asked) {
        (Some(Language::Object), _) => Ok(Language::Object),
        (Some(Language::Tensor), _) => Ok(Language::Tensor),
        (_, Some(asked)) => Ok(asked),
        (Some(found), None) => Ok(found),
        (None, None) => match ending.as_deref() {
            Some("cubin" | "fatbin" | "gpu") => Err(UsageError::Refused(format!(
                "Input '{path}': inputs of this kind are not supported, only sources, objects and libraries"
            ))),
            _ => Err(UsageError::UnknownInput {
                word: path.to_owned(),
            }),
        },
    }
}

/// PTX is a source of kernels that are loaded when a program runs, on the CPU device; elsewhere that is ptxas' work.
fn refuse_ptx(build: &Build) -> Result<(), UsageError> {
    let is_ptx = |input: &&Input| input.language == Language::Ptx;
    let Some(input) = build.inputs.iter().find(is_ptx) else {
        return Ok(());
    };
    let is_file = matches!(build.phase, Phase::Cubin | Phase::Fatbin);
    match (build.device, is_file) {
        (Device::Cpu, true) => Ok(()),
        _ => Err(UsageError::Refused(format!(
            "Input '{}': PTX is compiled for the CPU device alone, with --cubin (-cubin) or --fatbin (-fatbin)",
            input.path.display()
        ))),
    }
}

/// The one phase that was asked for. As in nvcc, of several the one that ends first, but `-run` runs what it links.
fn one_phase(phases: &[(Phase, &'static str)]) -> Result<Phase, UsageError> {
    let end = |phase: &Phase| match phase {
        Phase::Preprocess => 0,
        Phase::Ptx => 1,
        Phase::Cubin => 2,
        Phase::Fatbin => 3,
        Phase::Compile => 4,
        Phase::DeviceLink => 5,
        Phase::Library | Phase::Link => 6,
    };
    let runs = phases.iter().any(|(_, spelled)| *spelled == "-run");
    let asked = || {
        let link = end(&Phase::Link);
        (phases.iter()).filter(move |(phase, _)| !runs || end(phase) == link)
    };
    let Some((first, spelled)) = asked().min_by_key(|(phase, _)| end(phase)) else {
        return Ok(Phase::Link);
    };
    let mut others = asked().filter(|(phase, _)| phase != first);
    match others.find(|(phase, _)| end(phase) == end(first)) {
        Some((_, other)) => Err(UsageError::ConflictingPhases(spelled, other)),
        None => Ok(*first),
    }
}

/// Where `-odir` puts the only output.
fn output_in(directory: &Path, build: &Build) -> PathBuf {
    let is_source = |input: &&Input| input.language != Language::Object;
    let source = build.inputs.iter().find(is_source);
    let ending = match build.phase {
        Phase::Link => return directory.join("a.out"),
        Phase::Library => return directory.join("a.a"),
        Phase::DeviceLink => return directory.join("a_dlink.o"),
        Phase::Compile if build.cxx_form => "cu.cpp.ii",
        Phase::Compile => "o",
        Phase::Ptx => "ptx",
        Phase::Cubin => "cubin",
        Phase::Fatbin => "fatbin",
        Phase::Preprocess => "ii",
    };
    let stem = source.and_then(|source| source.path.file_stem());
    directory.join(Path::new(stem.unwrap_or_default()).with_extension(ending))
}

/// The text of an informational option.
fn print(information: Information, draft: &Draft, surroundings: &Surroundings<'_>) -> String {
    let architectures = |prefix: &str| {
        let major = surroundings.toolkit_version.map_or(13, |(major, _)| major);
        architecture::known_architectures(major)
            .iter()
            .map(|number| format!("{prefix}{number}\n"))
            .collect::<String>()
    };
    match information {
        Information::Help => help::help(),
        Information::Version => help::version(
            toolchain::find_toolkit(surroundings.environment)
                .ok()
                .and_then(|root| toolchain::toolkit_release(&root)),
        ),
        Information::VirtualArchitectures => architectures("compute_"),
        Information::RealArchitectures => architectures("sm_"),
        Information::LinkFlags => toolchain::link_flags(
            draft.build.device,
            match draft.build.device {
                Device::Cuda => draft.build.shared_cudart,
                // Whoever links may make a library, or a program that loads some: all have to have one runtime.
                Device::Cpu => !draft.asks_for_static_cudart,
            },
            surroundings.environment,
        ),
    }
}
