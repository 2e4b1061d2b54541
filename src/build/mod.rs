//! What is to be built, and how: what a command line comes to, as the stages see it.
//!
//! Only types, and what follows from them. `driver::cli` makes them; nothing else looks at `argv`, or at the environment
//! for what an option can say as well. Stages read only variables of their own: where caches lie, `SIRIUS_STRICT`,
//! `NO_COLOR`.

mod boundaries;
mod dependencies;
mod optimisation;
mod times;

pub use boundaries::Boundary;
pub use dependencies::DependencyOptions;
pub use optimisation::Optimisation;
pub use times::Times;

use crate::planner::policy::Policy;
use crate::planner::{Planner, Priority, Score};
use crate::stage::Stage;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// For which device the program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Device {
    /// PTX and machine code for NVIDIA GPUs, linked with the CUDA runtime.
    Cuda,
    /// Host code, linked with our own runtime.
    Cpu,
}

impl Device {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Cuda, Self::Cpu];

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|device| device.name() == name)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Cpu => "cpu",
        }
    }
}

/// Where a build stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// An executable (or with [`Build::shared`] a shared library).
    Link,
    /// `-c`: one object an input.
    Compile,
    /// `-dlink`: one object with the device code of all inputs that were compiled with `-rdc=true`.
    DeviceLink,
    /// `-lib`: an archive of the objects of all inputs.
    Library,
    /// `-ptx`: one PTX file an input.
    Ptx,
    /// `-cubin`: one cubin an input.
    Cubin,
    /// `-fatbin`: one fat binary an input.
    Fatbin,
    /// `-E`: preprocessed text.
    Preprocess,
}

impl Phase {
    /// Whether device code alone is made: a file of it for each source.
    pub fn is_device_alone(self) -> bool {
        matches!(self, Self::Ptx | Self::Cubin | Self::Fatbin)
    }
}

/// What an input file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// `.cu`, or `-x cu`.
    Cuda,
    /// `.cpp .cc .cxx`, or `-x c++`.
    Cxx,
    /// `.c`, or `-x c`.
    C,
    /// `.tc`: tensor definitions, of which [`crate::tensor`] makes CUDA.
    Tensor,
    /// `.ptx`.
    Ptx,
    /// `.o .obj .a .so`: for the linker.
    Object,
}

/// One input of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// As on the command line.
    pub path: PathBuf,
    /// What it is.
    pub language: Language,
    /// What an earlier run made of it, where that is read in its place.
    pub bitcode: Option<UnitBitcode>,
}

/// A source as clang left it in an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitBitcode {
    /// The host module.
    pub host: PathBuf,
    /// The device module, of a CUDA source, for the oldest architecture that it was compiled for.
    pub device: Option<PathBuf>,
    /// Its device modules for newer ones, see [`crate::program::Unit::newer`].
    pub newer: Vec<(Target, PathBuf)>,
    /// Under which numeric options.
    pub numerics: Numerics,
    /// How its device code is linked with that of others; `None`: not at all.
    pub relocatable: Option<Relocatable>,
    /// How the host functions of its kernels are seen.
    pub kernel_symbols: KernelSymbols,
    /// Whether it comes from an object in which nothing is fused, so that the object itself will do where the program
    /// fuses nothing either.
    pub unfused_object: bool,
}

/// How the host functions of kernels are seen by other objects; `None`: as the toolkit's nvcc has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSymbols {
    /// `-device-entity-has-hidden-visibility`: not outside of the program or shared library that they are in.
    pub hidden: Option<bool>,
    /// `-static-global-template-stub`: those of templates not outside of their source, unless device code is linked.
    pub local_templates: Option<bool>,
}

/// A unit whose device code is linked with that of others (`-rdc=true`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relocatable {
    /// A word that no other unit of a program has; part of the names of host symbols.
    pub name: String,
    /// Device code of one domain is linked together, that of different ones is not (each `-dlink` makes one).
    pub domain: usize,
}

/// One target of `-gencode`/`-arch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Architecture {
    /// `80` for `sm_80`/`compute_80`, already mapped up to what the toolkit knows.
    pub number: u32,
    /// What its code may use that later architectures lack.
    #[serde(default)]
    pub features: FeatureSet,
    /// Machine code for it (`sm_`).
    pub machine_code: bool,
    /// PTX for it (`compute_`).
    pub ptx: bool,
}

/// What code of an architecture may use: `sm_100`, `sm_100f` and `sm_100a`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum FeatureSet {
    /// What all later architectures have.
    #[default]
    Portable,
    /// What later ones of the same family have.
    Family,
    /// What this one has.
    Specific,
}

/// An architecture as tools name it: `90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Target {
    /// `90` for `sm_90a`.
    pub number: u32,
    /// `a` of `sm_90a`.
    pub features: FeatureSet,
}

impl Architecture {
    /// Without what is made for it.
    pub fn target(&self) -> Target {
        Target {
            number: self.number,
            features: self.features,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.features {
            FeatureSet::Portable => "",
            FeatureSet::Family => "f",
            FeatureSet::Specific => "a",
        };
        write!(formatter, "{}{suffix}", self.number)
    }
}

/// nvcc's numeric options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numerics {
    /// `-fmad` (default true): multiply and add contract.
    pub contract: bool,
    /// `-use_fast_math`.
    pub fast_math: bool,
    /// `-ftz`: single-precision denormals become zero.
    pub flush_to_zero: bool,
    /// `-prec-div` (default true).
    pub precise_division: bool,
    /// `-prec-sqrt` (default true).
    pub precise_square_root: bool,
}

/// Form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// For people.
    Text,
    /// For tools.
    Json,
    /// Graphviz.
    Dot,
    /// A page.
    Html,
}

/// `sirius-rs tc --emit=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TensorForm {
    /// Kernels and launchers.
    #[default]
    Cuda,
    /// The declarations that programs include.
    Header,
    /// What is inferred: types, ranges, checks.
    Ir,
    /// How statements become kernels: a tree for each definition.
    Schedule,
    /// The implementation template of each definition, which can be changed and given back.
    Template,
    /// What a caller passes, as JSON: sizes, tensors with their extents, and what has to hold of them.
    Signature,
    /// Which options `--tune` chose for each definition, as JSON.
    Options,
}

/// What `sirius-rs tc --tune=` is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorTuning {
    /// Numbers for sizes, by name.
    pub sizes: Vec<(String, i64)>,
    /// `--known=`: a file of what is known, to which what is found is added.
    pub known: Option<PathBuf>,
}

/// Where options stand that were found best for tensor definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KnownOptions {
    /// In the cache, if it has some.
    #[default]
    Cache,
    /// In a file.
    File(PathBuf),
    /// Nowhere.
    Off,
}

/// `--sirius-fusion=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// Nothing is fused; everything else is the same.
    Off,
    /// Fusion along dependences of thread and block scope (P1).
    Local,
    /// All that is built.
    All,
}

/// `--sirius-tune=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuneMode {
    /// Groups are made as they are planned.
    Off,
    /// The variant that a cost model finds best.
    Model,
    /// The variant that proved best; what was not measured before is measured now.
    Measure,
}

/// How variants of groups are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// `--sirius-tune=off|model|measure`.
    pub mode: TuneMode,
    /// `--sirius-tune-budget=SECONDS`: building and running variants may take so long.
    pub budget_seconds: u64,
    /// `--sirius-tune-seed=N`, for the search where there are many variants.
    pub seed: u64,
    /// `--sirius-tune-results=FILE`: what was measured elsewhere.
    pub results: Option<PathBuf>,
    /// The name of the variant that groups are to have, by the groups' keys.
    pub choices: BTreeMap<String, String>,
    /// `-run-args`: what the program gets where it is measured.
    pub arguments: Vec<String>,
    /// The program is built to be measured.
    pub timed: bool,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            mode: TuneMode::Off,
            budget_seconds: 60,
            seed: 0,
            results: None,
            choices: BTreeMap::new(),
            arguments: Vec::new(),
            timed: false,
        }
    }
}

/// How groups are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planning {
    /// `--sirius-planner=auto|greedy|ilp|span|priority|xla`.
    pub planner: Planner,
    /// `--sirius-priority=default|annealing|learned`.
    pub priority: Priority,
    /// `--sirius-policy=FILE`; `None`: the compiler's own.
    pub policy: Option<Arc<Policy>>,
    /// `--sirius-plan-score=model|measured|bytes`.
    pub score: Score,
    /// `--sirius-plan-budget=SECONDS`: the search ends then, with the best plan so far.
    pub budget: Duration,
    /// `--sirius-plan-seed=N`, for annealing and the learned order.
    pub seed: u64,
}

impl Default for Planning {
    fn default() -> Self {
        Self {
            planner: Planner::Auto,
            priority: Priority::Default,
            policy: None,
            score: Score::Model,
            budget: Duration::from_secs(10),
            seed: 0,
        }
    }
}

/// The options that begin with `--sirius-`.
///
/// What plans depend on goes on into [`crate::schedule::ScheduleOptions`]. What code depends on is named in
/// `driver::files::preprocess`, too, so that compiler caches see what the environment adds; the cache of links takes all.
#[derive(Clone, Debug)]
pub struct SiriusOptions {
    /// `--sirius-fusion=off|local|all`.
    pub fusion: Fusion,
    /// `--sirius-report=FILE`, form by its ending.
    pub report: Option<(PathBuf, ReportFormat)>,
    /// `--sirius-stop-after=STAGE`.
    pub stop_after: Option<Stage>,
    /// `--sirius-dump=STAGE` (may be given several times), to standard error.
    pub dump: Vec<Stage>,
    /// `--sirius-max-fusions=N`.
    pub max_fusions: Option<usize>,
    /// `--sirius-keep-syncs`.
    pub keep_synchronisations: bool,
    /// `--sirius-layout=NAME`, `auto` by default.
    pub layout: String,
    /// `--sirius-opt=LIST`: those that are on.
    pub optimisations: BTreeSet<Optimisation>,
    /// `--sirius-boundaries=LIST`: what is done at launch boundaries that stay.
    pub boundaries: BTreeSet<Boundary>,
    /// `--sirius-planner` and what belongs to it.
    pub planning: Planning,
    /// `--sirius-dump=problem`: what planners are given, to standard error.
    pub dump_problem: bool,
    /// `--sirius-tune…`.
    pub tuning: Tuning,
    /// `--sirius-tc-mapping=`, `--sirius-tc-scatter=`, `--sirius-tc-fusion=`, `--sirius-tc-reductions=`, `--sirius-tc-tile=`.
    pub tensor: crate::tensor::Options,
    /// `--sirius-template=FILE|TEXT`: implementation templates of tensor definitions.
    pub tensor_template: Option<String>,
    /// `--sirius-tc-known=FILE|off`.
    pub tensor_known: KnownOptions,
    /// `--sirius-tc-emit=DIR`: where the CUDA of tensor definitions is shown.
    pub tensor_emit: Option<PathBuf>,
    /// `SIRIUS_REFERENCE=1`: the program compares itself with what it is without fusion.
    pub reference: bool,
    /// `SIRIUS_SAVE_DIR`: where everything goes that a report of a bug needs.
    pub save_directory: Option<PathBuf>,
    /// The command that was given, as a line for a shell.
    pub command: String,
}

/// What is done where nobody says otherwise.
impl Default for SiriusOptions {
    fn default() -> Self {
        Self {
            fusion: Fusion::All,
            report: None,
            stop_after: None,
            dump: Vec::new(),
            max_fusions: None,
            keep_synchronisations: false,
            layout: "auto".to_owned(),
            optimisations: Optimisation::ALL.into(),
            boundaries: Boundary::DEFAULT.into(),
            planning: Planning::default(),
            dump_problem: false,
            tuning: Tuning::default(),
            tensor: crate::tensor::Options::default(),
            tensor_template: None,
            tensor_known: KnownOptions::default(),
            tensor_emit: None,
            reference: false,
            save_directory: None,
            command: String::new(),
        }
    }
}

/// A compilation as the stages see it.
#[derive(Clone, Debug)]
pub struct Build {
    /// Where it stops.
    pub phase: Phase,
    /// `-cuda`: objects are written as C++ sources.
    pub cxx_form: bool,
    /// `-clean`: what it would make is removed.
    pub clean: bool,
    /// `--keep-device-functions`: device functions that others could call stay in PTX.
    pub keep_device_functions: bool,
    /// The options as they were given, spelled out; without inputs and output.
    pub options: Vec<String>,
    /// Its inputs, in order.
    pub inputs: Vec<Input>,
    /// The sources that were made of tensor definitions, as locations name them: of what may be an exchange between
    /// their lanes nobody is warned.
    pub made_of_definitions: Vec<String>,
    /// `-o`.
    pub output: Option<PathBuf>,
    /// `-odir`: where outputs without a name go; empty for the folder of the run.
    pub output_directory: PathBuf,
    /// `-M…` where there are several sources; of a single one the host arguments have it already.
    pub dependencies: DependencyOptions,
    /// `--sirius-device`.
    pub device: Device,
    /// `-O0` to `-O3` (host code; nvcc's device code is always optimised unless `-G`).
    pub optimisation: u8,
    /// Without `-O`, or with `-O0`; see [`Build::lets_host_overflow_wrap`].
    pub host_overflow_wraps: bool,
    /// `-g`.
    pub host_debug: bool,
    /// `-G`: what a debugger asks of device code is kept.
    pub device_debug: bool,
    /// Neither `-G` nor `--Ofast-compile=max`, which switch the optimisation of device code and fusion off.
    pub device_optimised: bool,
    /// `-lineinfo`.
    pub line_info: bool,
    /// `-shared`.
    pub shared: bool,
    /// Arguments for every clang front-end run, already in clang's spelling: `-I -D -U -std -include
    /// -isystem -w …`.
    pub front_end_arguments: Vec<String>,
    /// `-Xcompiler` arguments and other ones for host compilation only (`-Wall -fPIC -fopenmp`).
    pub host_arguments: Vec<String>,
    /// Arguments for the final link, in order: `-L -l -Wl,…`.
    pub link_arguments: Vec<String>,
    /// `-Xptxas` arguments.
    pub ptxas_arguments: Vec<String>,
    /// Targets, at least one.
    pub architectures: Vec<Architecture>,
    /// The command line names them (`-arch`, `-gencode`); else there is the default one.
    pub architectures_named: bool,
    /// `-rdc=true`: device code of a unit may use that of others.
    pub relocatable: bool,
    /// How the host functions of kernels are seen.
    pub kernel_symbols: KernelSymbols,
    /// Numeric options.
    pub numerics: Numerics,
    /// `-default-stream per-thread`.
    pub per_thread_default_stream: bool,
    /// `--extended-lambda`.
    pub extended_lambda: bool,
    /// `--expt-relaxed-constexpr`.
    pub relaxed_constexpr: bool,
    /// `-maxrregcount`.
    pub maximum_registers: Option<u32>,
    /// `-cudart` shared instead of static.
    pub shared_cudart: bool,
    /// `-ccbin`: the host compiler that links; `None`: clang++ or g++ as found.
    pub host_compiler: Option<PathBuf>,
    /// `-run`: the program is run afterwards, with these arguments.
    pub run: Option<Vec<String>>,
    /// `-t`: so many sources are read at the same time at most.
    pub sources_at_once: usize,
    /// `-v`: print each command to standard error with `#$ ` before it.
    pub verbose: bool,
    /// `-dryrun`: print, run nothing.
    pub dry_run: bool,
    /// `-keep`/`-save-temps`: where intermediate files stay.
    pub keep_directory: Option<PathBuf>,
    /// Files besides the inputs that are read: those with options.
    pub options_files: Vec<PathBuf>,
    /// `-time`: the table of times.
    pub times: Option<Times>,
    /// Our own options.
    pub sirius: SiriusOptions,
}

/// The compute capability that the CPU device reports, unless a program is for newer ones only; a GPU
/// of this one takes the newest code that is no newer.
const CPU_DEVICE_CAPABILITY: u32 = 80;

/// The architectures that device code is compiled for, each with its own `__CUDA_ARCH__`, ascending: all that are
/// asked for; on the CPU device the one that a GPU of its compute capability would choose.
pub fn compiled_targets(device: Device, architectures: &[Architecture]) -> Vec<Target> {
    let mut targets: Vec<Target> = architectures.iter().map(Architecture::target).collect();
    targets.sort();
    targets.dedup();
    if device == Device::Cpu {
        let mut known = targets.iter();
        let chosen = known.rfind(|target| target.number <= CPU_DEVICE_CAPABILITY);
        targets = chosen.or(targets.first()).copied().into_iter().collect();
    }
    if targets.is_empty() {
        targets.push(Target {
            number: CPU_DEVICE_CAPABILITY,
            features: FeatureSet::Portable,
        });
    }
    targets
}

impl Target {
    /// Whether it runs code that was made for `other`.
    pub fn runs(self, other: Self) -> bool {
        match other.features {
            FeatureSet::Portable => other.number <= self.number,
            FeatureSet::Family => {
                other.number <= self.number && other.number / 10 == self.number / 10
            }
            FeatureSet::Specific => other == self,
        }
    }

    /// The PTX version that its code is written in, 88 for 8.8: the oldest that serves all intrinsics of the headers
    /// also runs on older drivers, and what came later needs a later one.
    pub fn isa_version(self) -> u32 {
        match self.number {
            88 | 110..120 => 90,
            _ => 88,
        }
    }

    /// What the device side of a source sees of the features of this architecture, as options.
    pub fn feature_macros(self) -> impl Iterator<Item = String> {
        let number = self.number;
        let of_family = self.features >= FeatureSet::Family;
        let specific = self.features == FeatureSet::Specific;
        let macros = [
            (specific, format!("-D__CUDA_ARCH_FEAT_SM{number}_ALL")),
            (specific, format!("-D__CUDA_ARCH_SPECIFIC__={number}0")),
            (
                of_family,
                format!("-D__CUDA_ARCH_FAMILY_SPECIFIC__={number}0"),
            ),
        ];
        let seen = macros.into_iter().filter(|(seen, _)| *seen);
        seen.map(|(_, definition)| definition)
    }
}

impl Build {
    /// Whether host code is compiled so that a signed number which overflows wraps around: no option, not even one of
    /// the host compiler, asks for optimisation.
    pub fn lets_host_overflow_wrap(&self) -> bool {
        let asks = |argument: &String| argument.starts_with("-O") && argument != "-O0";
        self.host_overflow_wraps && !self.host_arguments.iter().any(asks)
    }

    /// Whether launches may become one.
    pub fn fuses(&self) -> bool {
        self.device_optimised && self.sirius.fusion != Fusion::Off
    }

    /// The architectures that its device code is compiled for, ascending, at least one.
    pub fn compiled_targets(&self) -> Vec<Target> {
        compiled_targets(self.device, &self.architectures)
    }

    /// The oldest of them: what launches and kernels are analysed in.
    pub fn oldest_target(&self) -> Target {
        self.compiled_targets()[0]
    }

    /// Makes `__CUDA_ARCH_LIST__` name all architectures that are asked for, as options, where clang, which compiles
    /// for one, would name that: headers derive names of kernels from the list, and choose how to launch them.
    pub fn architecture_list(&self) -> Vec<String> {
        let mut numbers: Vec<_> = (self.architectures.iter())
            .map(|architecture| architecture.target().number)
            .collect();
        numbers.sort();
        numbers.dedup();
        let numbers: Vec<String> = numbers.iter().map(|number| format!("{number}0")).collect();
        match numbers.as_slice() {
            [] | [_] => Vec::new(),
            several => vec![
                "-U__CUDA_ARCH_LIST__".to_owned(),
                format!("-D__CUDA_ARCH_LIST__={}", several.join(",")),
            ],
        }
    }

    /// What tells sources of a language of the options that they are compiled with, as options of clang.
    pub fn mode_macros(&self, language: Language) -> impl Iterator<Item = &'static str> {
        let is_cuda = language == Language::Cuda;
        let macros = [
            (
                self.per_thread_default_stream,
                "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1",
            ),
            (is_cuda && self.relocatable, "-D__CUDACC_RDC__=1"),
            (is_cuda && self.device_debug, "-D__CUDACC_DEBUG__=1"),
            // Our header defines nvcc's name, behind clang's: `cuda_runtime.h` includes `<functional>` for it, and
            // that `<new>`, before clang has told of `malloc` for devices.
            (
                is_cuda && self.extended_lambda,
                "-DSIRIUS_EXTENDED_LAMBDA=1",
            ),
            (
                is_cuda && self.relaxed_constexpr,
                "-D__CUDACC_RELAXED_CONSTEXPR__=1",
            ),
        ];
        let seen = macros.into_iter().filter(|(seen, _)| *seen);
        seen.map(|(_, definition)| definition)
    }

    /// The part of a build that makes something of one source, where each source makes one.
    pub fn of_one(&self, input: &Input) -> Self {
        Self {
            inputs: vec![input.clone()],
            ..self.clone()
        }
    }
}
