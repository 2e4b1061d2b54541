//! Sources -> [`Program`]: host and device LLVM modules of all translation units, canonicalised.
//!
//! Invariants after this stage:
//! * Every floating-point contraction and fast-math decision has been taken, in each original
//!   kernel by itself: no instruction of a device module carries a fast-math flag.
//! * Every launch in [`Program::host`] whose kernel is known is one call, *by value*, of a function
//!   `sirius.launch.N`: `i32 (i32 site, ptr stub, i64 grid_xy, i32 grid_z, i64 block_xy,
//!   i32 block_z, i64 shared_bytes, ptr stream, …kernel arguments)`, packed like `dim3` (x in the
//!   low, y in the high half). An argument is passed with the type of the slot that the stub
//!   stored it to: a struct is a first-class value of its struct type, or `ptr byval(T)` when it is
//!   large or holds a union. `site` is a constant, unique in
//!   the module: the [`crate::launch::LaunchId`]. Code generation turns these calls back.
//! * [`Program::analysis`] holds a canonical copy of every kernel, everything it calls inlined,
//!   loops simplified and not rotated, unrolled or vectorised.

mod clang;
mod host_code;
mod device_code;
mod kernels;
mod variables;
mod passes;
mod ptx_module;
mod relocatable;

use clang::{
    clang_warnings, front_end, front_end_cache, front_end_messages, leading_headers, lean_headers,
    precompiled_headers, source_places, source_repairs,
};
use device_code::{
    assembly_operands, assembly_order, by_architecture, canonicalise_device, device_allocation,
    ended_threads, exchanged, inlining, numerics, shared_offsets, shared_tables, truth_values,
    unmasked,
};
use host_code::{
    allocation_loops, block_copies, canonicalise_host, closed, constant_copies, contexts,
    graph_nodes, graph_updates, handles, host_arrays, host_functions, launches, loop_ends, loops,
    promotion, registration_order, rotation, runtime_effects, streams,
};
use kernels::{cluster_dimensions, grid_stride, operations, own_copies, single_iterations};
use variables::{kept_variables, managed, mappings, names, read_only, texture_references};

pub use canonicalise_device::{DEVICE_FLATTENING, DEVICE_INLINING, DEVICE_PIPELINE, KEPT_STORE};
pub use canonicalise_host::{HOST_PIPELINE, HOST_PROMOTION, LARGEST_INLINED_INSTRUCTIONS};
pub use closed::{is_known_library, is_users};
pub(crate) use ended_threads::let_ended_threads_wait;
pub use exchanged::EXCHANGED;
pub use front_end_messages::pass_on_messages;
pub use graph_nodes::{FINDS_ANYTHING, GRAPH_NODES, ONLY_RUNS};
pub use graph_updates::{CHAIN_PREFIX, GraphChain, GraphKernel, RecordPart};
pub use handles::{ATTRIBUTE_COUNT_OFFSET, FoundLaunch, HandleLaunch, Passing, handle_launch};
pub use operations::{
    DEVICE_TO_DEVICE, ELEMENT_BYTES, OperationKind, operation_call, operation_kernel,
    operation_name,
};
pub use promotion::{MOST_TARGETS, PromotableCall};
pub use ptx_module::{ptx_architecture, read_ptx};
pub use relocatable::{DeviceSymbols, read_device_link, read_relocatable_unit};
pub use rotation::{RotatedHost, SplitSites};
pub use streams::{gives_stream_memory, is_stream_output};

use crate::build::{Boundary, Build, Input, Language, Phase, Target};
use crate::diagnostics::Location;
use crate::llvm::Value;
use crate::tools::Toolchain;
use canonicalise_host::Outside;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::AnyValue;
use kept_variables::keep_variables;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use thiserror::Error;

/// Reads the sources of a build: runs clang, decides numerics, links and canonicalises.
///
/// Objects and libraries among the inputs are left to the linker.
///
/// # Errors
/// [`ProgramError::FrontEnd`] is a user error and carries clang's own text; the others say what
/// failed on this machine or in this compiler.
pub fn read_program<'ctx>(
    context: &'ctx Context,
    build: &Build,
    toolchain: &Toolchain,
) -> Result<Program<'ctx>, ProgramError> {
    let mut warnings = String::new();
    let mut hosts = Vec::new();
    let mut units = Vec::new();
    let mut registered = Vec::new();
    let mut parts = Vec::new();
    let mut bitcode = None;
    let sources: Vec<_> = build
        .inputs
        .iter()
        .filter(|input| input.language != Language::Object)
        .collect();
    let architecture = build.oldest_target().number;
    let alone = [Phase::Ptx, Phase::Cubin, Phase::Fatbin];
    let links_device_code = !alone.contains(&build.phase);
    let made = front_end::run_all(&sources, build, toolchain)?;
    for (index, (input, made)) in sources.iter().zip(made).enumerate() {
        let unit = front_end::read_made(context, input, build, toolchain, made)?;
        warnings += &unit.warnings;
        bitcode = unit.bitcode;
        if let Some(relocatable) = &unit.relocatable {
            relocatable::expose_registration(&unit.host, &relocatable.name);
        }
        names::separate_local_symbols(&unit.host, index, sources.len());
        let mut found = names::registrations(&unit.host);
        if let Some(device) = unit.device {
            found.keep_defined(&device, &unit.newer);
            if !links_device_code && !build.relocatable {
                for device in [&device]
                    .into_iter()
                    .chain(unit.newer.iter().map(|(_, newer)| newer))
                {
                    names::name_local_symbols_plainly(device, &mut found);
                }
            }
            let earlier = input.bitcode.as_ref().map(|bitcode| bitcode.numerics);
            let numerics = earlier.unwrap_or(build.numerics);
            keep_variables(&device, build, toolchain);
            canonicalise_device::decide_numerics(&device, numerics, architecture)?;
            let relocatable = unit.relocatable.is_some();
            unmasked::refuse_unmasked(&device, architecture, relocatable)?;
            for (target, newer) in &unit.newer {
                keep_variables(newer, build, toolchain);
                canonicalise_device::decide_numerics(newer, numerics, architecture)?;
                unmasked::refuse_unmasked(newer, target.number, relocatable)?;
            }
            if let Some(relocatable) = unit.relocatable.filter(|_| links_device_code) {
                parts.push(relocatable::Part {
                    source: unit.source,
                    relocatable,
                    device,
                    newer: unit.newer,
                    registrations: found,
                });
            } else {
                units.push(Unit {
                    source: unit.source,
                    differing: by_architecture::differing(&device, &unit.newer),
                    device,
                    newer: unit.newer,
                    image_global: found.image.clone().unwrap_or_default(),
                });
                registered.push(found);
            }
        }
        hosts.push(unit.host);
    }
    for domain in relocatable::link_domains(parts, build)? {
        hosts.push(domain.registration_module(context, relocatable::Hosts::AllHere)?);
        units.push(domain.unit);
        registered.push(domain.registrations);
    }
    let host = link(context, hosts)?;
    let (mut kernels, variables) = names::assign(&registered);
    let stubs = kernels.iter().map(|kernel| kernel.stub.clone()).collect();
    let outside = Outside {
        code: build.phase != Phase::Link || build.shared || sources.len() != build.inputs.len(),
        lookups: build
            .link_arguments
            .iter()
            .any(|argument| argument.contains("dynamic") || argument == "-Wl,-E"),
        libraries: !closed::make_no_shared_memory(&build.link_arguments),
    };
    let has_main = Value::function(&host, "main").is_some_and(|main| !main.is_declaration());
    let closed = has_main
        && !outside.code
        && !outside.lookups
        && closed::links_known_libraries_only(&build.link_arguments);
    let mut host_visible_memory = canonicalise_host::canonicalise(
        &host,
        &stubs,
        &names::unclear_stubs(&kernels, &variables),
        outside,
    )?;
    if variables.iter().any(|variable| variable.managed) {
        host_visible_memory = HostVisibleMemory::Anything;
    }
    if build.sirius.boundaries.contains(&Boundary::GridBarrier) {
        constant_copies::set_what_is_copied(&host);
    }
    let operations = operations::kernels(context, &host, &units, &mut kernels)?;
    let iterations = grid_stride::kernels(&units, &mut kernels)?;
    let analysis = canonicalise_device::analysis_module(
        context,
        (&units, operations.as_ref(), &iterations),
        &kernels,
        &variables,
        architecture,
    )?;
    Ok(Program {
        context,
        mapping_function: mappings::mapping_function(&host),
        host,
        units,
        bitcode,
        operations,
        iterations,
        analysis,
        kernels,
        variables,
        host_visible_memory,
        closed,
        graph_chains: Vec::new(),
        warnings,
    })
}

/// Reads one source of a build as bitcode, with what clang says of it.
///
/// # Errors
/// As [`read_program`].
pub fn read_source(
    input: &Input,
    build: &Build,
    toolchain: &Toolchain,
) -> Result<(SourceBitcode, String), ProgramError> {
    let kept = Build {
        phase: Phase::Compile,
        ..build.clone()
    };
    let context = Context::create();
    let unit = front_end::compile(&context, input, &kept, toolchain)?;
    let bitcode = unit.bitcode.ok_or_else(|| ProgramError::Bitcode {
        source_file: input.path.clone(),
        message: "it was read before".into(),
    })?;
    Ok((bitcode, unit.warnings))
}

/// The steps in which nvcc reads a source, as far as its exit status tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontEndStep {
    /// The host compiler's preprocessor, over a source with device code.
    Preprocessor,
    /// NVIDIA's front end, over what the preprocessor leaves.
    Cuda,
    /// The device compiler, where nothing is made for the host.
    Device,
    /// The host compiler, over a source of the host alone.
    HostCompiler,
}

/// Why a program could not be read.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// clang refused a source. The user sees `message` as it is.
    #[error("{message}")]
    FrontEnd {
        /// As on the command line.
        source_file: PathBuf,
        /// Which of nvcc's steps refuses it.
        refused_by: FrontEndStep,
        /// clang's standard error.
        message: String,
        /// clang's exit status; `None` when a signal ended it.
        status: Option<i32>,
    },
    /// A file or tool could not be used.
    #[error("{what}: {error}")]
    Files {
        /// What was tried.
        what: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// clang's output is not bitcode that this LLVM reads.
    #[error("cannot read the bitcode of {}: {message}", source_file.display())]
    Bitcode {
        /// Which source it was made from.
        source_file: PathBuf,
        /// LLVM's message.
        message: String,
    },
    /// The address of a managed variable is the initial value of another variable.
    #[error(
        "{}: the address of the __managed__ variable {variable} is the initial value of another variable; \
         it is known only once the program runs, so assign it there",
        source_file.display()
    )]
    ManagedAddress {
        /// As on the command line.
        source_file: PathBuf,
        /// The managed variable, as the linker knows it.
        variable: String,
    },
    /// An operation of a warp does not name its lanes.
    #[error(
        "`{operation}` does not name the lanes that take part, and sm_{architecture} has no such operation: use \
         `{operation}_sync`"
    )]
    Unmasked {
        /// Where it stands, or where what it stands in is called.
        location: Location,
        /// Its name in CUDA.
        operation: String,
        /// The number of the architecture that it was compiled for.
        architecture: u32,
    },
    /// A PTX file cannot be read.
    #[error("{error}")]
    Ptx {
        /// Where.
        location: Location,
        /// Why.
        error: crate::ptx::PtxError,
    },
    /// The units define a symbol twice, or differ in how they were compiled.
    #[error("the translation units do not link: {message}")]
    Link {
        /// LLVM's message.
        message: String,
    },
    /// Relocatable device code does not link.
    #[error("device link: {0}")]
    DeviceLink(String),
    /// A check of ours failed, or LLVM refused a pipeline of ours.
    #[error("internal error in {pipeline}: {message}")]
    Pass {
        /// The step.
        pipeline: String,
        /// What LLVM says.
        message: String,
    },
}

fn link<'ctx>(
    context: &'ctx Context,
    modules: Vec<Module<'ctx>>,
) -> Result<Module<'ctx>, ProgramError> {
    let mut modules = modules.into_iter();
    let whole = modules
        .next()
        .unwrap_or_else(|| context.create_module("host"));
    for module in modules {
        whole
            .link_in_module(module)
            .map_err(|error| ProgramError::Link {
                message: error.to_string(),
            })?;
    }
    Ok(whole)
}

/// Index of a kernel in [`Program::kernels`], and of its model in the list of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KernelId(pub usize);

/// All modules of a build; the sole owner of LLVM modules.
pub struct Program<'ctx> {
    /// Where everything lives.
    pub context: &'ctx Context,
    /// Host code of all units, linked into one module. Functions that drive the device are
    /// canonical (see [`HOST_PIPELINE`]), the others as clang made them: code generation optimises.
    pub host: Module<'ctx>,
    /// Device code by unit, as it is emitted for unfused launches.
    pub units: Vec<Unit<'ctx>>,
    /// With `-c`, what clang made of the source.
    pub bitcode: Option<SourceBitcode>,
    /// Kernels that do what sets and copies within the device do, where the host calls any; in no
    /// image.
    pub operations: Option<Module<'ctx>>,
    /// By unit, its device module with kernels that run one iteration of those kernels that are one loop over the whole grid, in
    /// their places; in no image.
    pub iterations: BTreeMap<usize, Module<'ctx>>,
    /// The canonical copy of all kernels under [`Kernel::unique_name`], for analysis only.
    pub analysis: Module<'ctx>,
    /// All kernels of all units, then those of [`Program::operations`], then those of [`Program::iterations`].
    pub kernels: Vec<Kernel>,
    /// All device variables of all units.
    pub variables: Vec<DeviceVariable>,
    /// Which memory both kernels and the host may write.
    pub host_visible_memory: HostVisibleMemory,
    /// All code that may use a user's function or variable by its name ([`is_users`]) is in [`Program::host`].
    pub closed: bool,
    /// The function by which the host may put one piece of memory at several addresses.
    pub mapping_function: Option<&'static str>,
    /// Kernels that may follow each other in graphs whose nodes the program updates.
    pub graph_chains: Vec<GraphChain>,
    /// What clang warned about, as it printed it, for standard error.
    pub warnings: String,
}

impl<'ctx> Program<'ctx> {
    /// Whether kernels take small single-precision numbers for zero.
    pub fn flushes_denormals(&self) -> bool {
        self.units.iter().any(|unit| {
            let flag = unit.device.get_flag("nvvm-reflect-ftz");
            flag.is_some_and(|flag| {
                !AnyValue::print_to_string(&flag)
                    .to_string()
                    .contains("i32 0")
            })
        })
    }

    /// How many launches are written in the host's code.
    pub fn launch_sites(&self) -> usize {
        launches::sites(&self.host).len()
    }

    /// Whether the host's code has no launch at all: none that is written, and no function that launches or makes graphs.
    pub fn launches_nothing(&self) -> bool {
        let launches = |name: &str| {
            let name = name.trim_start_matches("cuda").trim_start_matches("cu");
            name.starts_with("Launch")
                || name.starts_with("Graph")
                || name.starts_with("GetProcAddress")
        };
        let functions = Value::functions(&self.host);
        self.launch_sites() == 0 && !functions.iter().any(|function| launches(&function.name()))
    }

    /// A copy of the host's code in which innermost loops are rotated behind launch sites, one for each loop; those that
    /// cannot be rotated stay. Of each of `ends`, a launch site in a loop and one behind the loop, the last iteration of the loop
    /// ends with what stands behind it through the other, where that can be. Of each of `sums`, a loop's only launch, the last
    /// iteration stands by itself, behind the one before it or what comes before the loop.
    ///
    /// # Errors
    /// [`ProgramError::Pass`] when LLVM refuses the copy.
    pub fn rotated(
        &self,
        behind: &[u32],
        ends: &[(u32, u32)],
        sums: &[u32],
    ) -> Result<RotatedHost<'ctx>, ProgramError> {
        rotation::rotate(&self.host, behind, ends, sums)
    }

    /// Whether a kernel may store to shared memory, by the copy for analysis.
    pub fn stores_to_shared(&self, kernel: &Kernel) -> bool {
        exchanged::stores_to_shared(&self.analysis, &kernel.unique_name)
    }

    /// Makes accesses of shared variables `volatile` through which lanes of a warp hand each other values with nothing
    /// that orders them: by kernel, the variables' names in the copy for analysis, which is made anew.
    ///
    /// # Errors
    /// [`ProgramError::Pass`] or [`ProgramError::Link`] when LLVM refuses the copy.
    pub fn keep_exchanges(
        &mut self,
        exchanged: &BTreeMap<KernelId, BTreeSet<String>>,
        architecture: u32,
    ) -> Result<(), ProgramError> {
        for (kernel, variables) in exchanged {
            let kernel = &self.kernels[kernel.0];
            let Some(unit) = self.units.get(kernel.unit) else {
                continue;
            };
            let names = variables.iter().map(|name| exchanged::plain_name(name));
            let names = names.map(ToOwned::to_owned).collect();
            let newer = unit.newer.iter().map(|(_, module)| module);
            for module in std::iter::once(&unit.device).chain(newer) {
                exchanged::make_volatile(module, &kernel.name, &names);
            }
        }
        grid_stride::renew(&self.units, &mut self.iterations)?;
        self.renew_analysis(architecture)
    }

    /// Has threads of kernels wait at barriers after they have ended, as [`ended_threads`] says, where some of a block may
    /// miss one. Returns of which kernels the copy for analysis says that now. The units' own kernels stay as they are.
    ///
    /// # Errors
    /// As [`Self::keep_exchanges`].
    pub fn let_ended_threads_wait(
        &mut self,
        kernels: &BTreeSet<KernelId>,
        architecture: u32,
    ) -> Result<BTreeSet<KernelId>, ProgramError> {
        let can = |kernel: &&KernelId| {
            let kernel = &self.kernels[kernel.0];
            let module = self.module_of(kernel);
            let function = module.and_then(|module| Value::function(module, &kernel.name));
            function.is_some_and(ended_threads::may_miss_barriers)
        };
        let changed: BTreeSet<KernelId> = kernels.iter().filter(can).copied().collect();
        for kernel in &changed {
            self.kernels[kernel.0].ended_threads_wait = true;
        }
        if !changed.is_empty() {
            self.renew_analysis(architecture)?;
        }
        Ok(changed)
    }

    fn renew_analysis(&mut self, architecture: u32) -> Result<(), ProgramError> {
        self.analysis = canonicalise_device::analysis_module(
            self.context,
            (&self.units, self.operations.as_ref(), &self.iterations),
            &self.kernels,
            &self.variables,
            architecture,
        )?;
        Ok(())
    }

    /// The device module that a kernel is in.
    pub fn module_of(&self, kernel: &Kernel) -> Option<&Module<'ctx>> {
        if kernel.iteration_of.is_some() {
            return self.iterations.get(&kernel.unit);
        }
        match self.units.get(kernel.unit) {
            Some(unit) => Some(&unit.device),
            None => self.operations.as_ref(),
        }
    }
}

/// Memory of the host that kernels may write, besides what the host is seen to hand to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostVisibleMemory {
    /// None: nothing makes such memory.
    Nothing,
    /// What calls of the runtime allocate for both (managed and pinned memory).
    Allocations,
    /// Any: the program registers host memory or uses an API that is not known to leave it alone,
    /// or part of the program is not here (separate compilation, objects among the inputs).
    Anything,
}

/// A source as clang made it bitcode, with no pass run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceBitcode {
    /// The host module.
    pub host: Vec<u8>,
    /// The device module, of a CUDA source.
    pub device: Option<Vec<u8>>,
    /// Its device modules for newer architectures, see [`Unit::newer`].
    pub newer: Vec<(Target, Vec<u8>)>,
    /// The unit's name in a device link, with `-rdc=true`.
    pub relocatable: Option<String>,
}

/// The device side of one translation unit.
pub struct Unit<'ctx> {
    /// Its source, as on the command line.
    pub source: PathBuf,
    /// Its device module: what kernels call is inlined into them (unless `__noinline__`, recursive
    /// or called through a pointer), numerics are decided, otherwise it is as clang made it. For the oldest
    /// architecture that is built for.
    pub device: Module<'ctx>,
    /// The same for newer architectures, where device code is another for them; ascending. Each serves the
    /// architectures that run it, up to the next.
    pub newer: Vec<(Target, Module<'ctx>)>,
    /// Functions and variables of the device module that are others in one of [`Unit::newer`], with the first
    /// architecture for which they are.
    pub differing: BTreeMap<String, Target>,
    /// The name in [`Program::host`] of the global that holds this unit's device image (the dummy
    /// that clang embedded; code generation replaces it). Empty when the unit registers nothing:
    /// it has no kernel and no device variable, and clang embeds no image.
    pub image_global: String,
}

impl<'ctx> Unit<'ctx> {
    /// The device module for an architecture.
    pub fn device_for(&self, target: Target) -> &Module<'ctx> {
        for_target(&self.device, &self.newer, target)
    }
}

/// Of what was made for the oldest architecture and for newer ones, ascending, what serves `target`.
pub fn for_target<'a, T>(oldest: &'a T, newer: &'a [(Target, T)], target: Target) -> &'a T {
    let newest = newer.iter().rfind(|(made_for, _)| target.runs(*made_for));
    newest.map_or(oldest, |(_, made)| made)
}

/// A `__global__` function.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its id: the index in [`Program::kernels`].
    pub id: KernelId,
    /// Name in its unit's device module (mangled).
    pub name: String,
    /// Name in [`Program::analysis`]: `name`, with a suffix where two units have the same.
    pub unique_name: String,
    /// The host symbol that launches name: the stub in [`Program::host`].
    pub stub: String,
    /// Index into [`Program::units`]; their number for those of [`Program::operations`].
    pub unit: usize,
    /// It runs one iteration of this one, as `grid_stride.rs` has it; it stands in [`Program::iterations`], under
    /// this one's name, and no host symbol leads to it.
    pub iteration_of: Option<KernelId>,
    /// Its threads wait at barriers after they have ended, in [`Program::analysis`] and wherever it runs with others; see
    /// [`Program::let_ended_threads_wait`].
    pub ended_threads_wait: bool,
}

/// A `__device__`, `__constant__` or `__managed__` variable.
#[derive(Clone, Debug)]
pub struct DeviceVariable {
    /// Name in its unit's device module.
    pub name: String,
    /// Name in [`Program::analysis`].
    pub unique_name: String,
    /// The host shadow in [`Program::host`].
    pub shadow: String,
    /// Index into [`Program::units`].
    pub unit: usize,
    /// Size.
    pub bytes: u64,
    /// `__constant__`.
    pub constant: bool,
    /// `__managed__`.
    pub managed: bool,
}
