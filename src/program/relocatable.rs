//! Relocatable device code (`-rdc=true`): device code of several units that is linked together.
//!
//! The host side of such a unit keeps the function in which clang registers its kernels and variables
//! as `__sirius_register_NAME`, and calls `__cudaRegisterLinkedBinary_NAME` when the program starts. Both
//! wait for a device link: that defines the second, which does nothing and is there so that nobody
//! forgets the device link, and calls the first with the handle of the one image that all units of a
//! *domain* share.
//!
//! Invariant: numerics are decided in each unit before device code is linked, as they are where units are
//! compiled separately; what a kernel calls in another unit is inlined afterwards.

use super::canonicalise_device::{decide_numerics, inline_linked};
use super::kept_variables::keep_variables;
use super::names::{self, Registrations};
use super::registration_order::REGISTRATION_PRIORITY;
use super::{
    HostVisibleMemory, Program, ProgramError, SourceBitcode, Unit, by_architecture, for_target,
    front_end, passes, unmasked,
};
use crate::build::{Build, Input, Language, Relocatable, Target};
use crate::diagnostics::source_name;
use crate::llvm::{self, Value};
use crate::tools::Toolchain;
use inkwell::GlobalVisibility;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Reads a source whose device code is linked later: its host side alone, and the bitcode of both.
///
/// # Errors
/// As [`super::read_program`]; the source launches kernels from device code.
pub fn read_relocatable_unit<'ctx>(
    context: &'ctx Context,
    input: &Input,
    (build, toolchain): (&Build, &Toolchain),
) -> Result<Program<'ctx>, ProgramError> {
    let unit = front_end::compile(context, input, build, toolchain)?;
    if let Some(relocatable) = &unit.relocatable {
        expose_registration(&unit.host, &relocatable.name);
    }
    let oldest = build.oldest_target().number;
    let oldest = unit.device.iter().map(|device| (oldest, device));
    let newer = unit
        .newer
        .iter()
        .map(|(target, device)| (target.number, device));
    for (architecture, device) in oldest.chain(newer) {
        refuse_device_runtime(&unit.source, undefined(device).iter())?;
        if unmasked::has_unmasked(device) {
            // So that what stands in a header is told of where it is called; the module goes no further.
            decide_numerics(device, build.numerics, architecture)?;
            unmasked::refuse_unmasked(device, architecture, true)?;
        }
    }
    let mut program = without_device(context, unit.host);
    program.bitcode = unit.bitcode;
    program.warnings = unit.warnings;
    Ok(program)
}

/// The device link of a build's relocatable inputs, as a program whose host side only registers the
/// image of each domain.
///
/// # Errors
/// As [`super::read_program`].
pub fn read_device_link<'ctx>(
    context: &'ctx Context,
    (build, toolchain): (&Build, &Toolchain),
) -> Result<Program<'ctx>, ProgramError> {
    let architecture = build.oldest_target().number;
    let mut parts = Vec::new();
    let mut warnings = String::new();
    let relocatable = build.inputs.iter().filter(|input| {
        input.language == Language::Cuda
            && (input.bitcode.as_ref()).is_none_or(|bitcode| bitcode.relocatable.is_some())
    });
    for input in relocatable {
        let unit = front_end::compile(context, input, build, toolchain)?;
        warnings += &unit.warnings;
        let (Some(relocatable), Some(device)) = (unit.relocatable, unit.device) else {
            continue;
        };
        let earlier = input.bitcode.as_ref().map(|bitcode| bitcode.numerics);
        for device in [&device]
            .into_iter()
            .chain(unit.newer.iter().map(|(_, newer)| newer))
        {
            keep_variables(device, build, toolchain);
            decide_numerics(device, earlier.unwrap_or(build.numerics), architecture)?;
        }
        parts.push(Part {
            source: unit.source,
            relocatable,
            device,
            newer: unit.newer,
            registrations: names::registrations(&unit.host),
        });
    }
    let host = context.create_module("device_link");
    let machine = passes::host_machine()?;
    host.set_triple(&machine.get_triple());
    host.set_data_layout(&machine.get_target_data().get_data_layout());
    let mut program = without_device(context, host);
    let mut registered = Vec::new();
    for domain in link_domains(parts, build)? {
        let module = domain.registration_module(context, Hosts::Elsewhere)?;
        (program.host.link_in_module(module)).map_err(|error| ProgramError::Link {
            message: error.to_string(),
        })?;
        program.units.push(domain.unit);
        registered.push(domain.registrations);
    }
    (program.kernels, program.variables) = names::assign(&registered);
    program.warnings = warnings;
    Ok(program)
}

/// What a unit's device code has for others, and what it needs of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSymbols {
    /// Names of functions and variables that it defines for all to see.
    pub defined: BTreeSet<String>,
    /// Names that it uses and does not define.
    pub undefined: BTreeSet<String>,
}

impl DeviceSymbols {
    /// Takes in those of others.
    pub fn add(&mut self, others: Self) {
        self.defined.extend(others.defined);
        self.undefined.extend(others.undefined);
    }

    /// Those of a device module as clang made it.
    ///
    /// # Errors
    /// [`ProgramError::Bitcode`] when it is none.
    pub fn of(bitcode: &[u8], source: &Path) -> Result<Self, ProgramError> {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "device");
        let device = Module::parse_bitcode_from_buffer(&buffer, &context).map_err(|error| {
            ProgramError::Bitcode {
                source_file: source.to_owned(),
                message: error.to_string(),
            }
        })?;
        settle_names(&device);
        let symbols = Value::functions(&device)
            .into_iter()
            .chain(Value::globals(&device));
        let defined = symbols.filter(|symbol| !symbol.is_declaration() && !symbol.is_local());
        Ok(Self {
            defined: defined.map(llvm::Value::name).collect(),
            undefined: undefined(&device),
        })
    }
}

fn without_device<'ctx>(context: &'ctx Context, host: Module<'ctx>) -> Program<'ctx> {
    Program {
        context,
        host,
        units: Vec::new(),
        bitcode: None,
        operations: None,
        iterations: BTreeMap::new(),
        analysis: context.create_module("analysis"),
        kernels: Vec::new(),
        variables: Vec::new(),
        host_visible_memory: HostVisibleMemory::Anything,
        closed: false,
        mapping_function: None,
        graph_chains: Vec::new(),
        warnings: String::new(),
    }
}

/// What tells a unit from all others of a program.
pub(super) fn unit_name(source: &Path, bitcode: &SourceBitcode) -> String {
    let mut hasher = DefaultHasher::new();
    absolute(source).hash(&mut hasher);
    bitcode.host.hash(&mut hasher);
    bitcode.device.hash(&mut hasher);
    for (_, newer) in &bitcode.newer {
        newer.hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// What both sides of a compilation call the unit when they give local variables names for all to see.
pub(super) fn compilation_name(input: &Input, build: &Build) -> String {
    let mut hasher = DefaultHasher::new();
    absolute(&input.path).hash(&mut hasher);
    build.front_end_arguments.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Gives what clang makes for nvcc's device linker the names by which ours finds it.
pub(super) fn expose_registration(host: &Module<'_>, name: &str) {
    // A function that does nothing, in a unit that has nothing to register.
    let register = Value::functions(host)
        .into_iter()
        .flat_map(llvm::Value::instructions)
        .filter(|call| {
            let called = call.called_name();
            called.is_some_and(|called| called.starts_with(LINKED_BINARY))
        })
        .find_map(|call| call.call_arguments().first().copied());
    if let Some(register) = register.and_then(|register| host.get_function(&register.name())) {
        let register = register.as_global_value();
        register.set_name(&register_symbol(name));
        register.set_linkage(Linkage::External);
        register.set_visibility(GlobalVisibility::Hidden);
    }
    let rename = |symbol: llvm::Value, prefix: &str| {
        if symbol.name().starts_with(prefix) {
            symbol.set_name(&format!("{prefix}_{name}"));
        }
    };
    for function in Value::functions(host) {
        rename(function, LINKED_BINARY);
    }
    for alias in Value::aliases(host) {
        rename(alias, "__fatbinwrap");
    }
}

const LINKED_BINARY: &str = "__cudaRegisterLinkedBinary";

fn register_symbol(name: &str) -> String {
    format!("__sirius_register_{name}")
}

/// Settles what clang left to its own linker.
///
/// Variables that are local to a unit and used by its host side get a name for all to see; functions that
/// clang had emitted before it saw that use still name them as before. And there is a list of what the
/// host side uses, which no unit needs.
pub(super) fn settle_names(device: &Module<'_>) {
    for list in ["llvm.compiler.used", "__clang_gpu_used_external"] {
        if let Some(list) = device.get_global(list) {
            // Nothing uses the first, and only the first the second.
            llvm::delete_global(list);
        }
    }
    let globals = Value::globals(device);
    for declared in globals.iter().filter(|global| global.is_declaration()) {
        let renamed = format!("{}__static__", declared.name());
        let local = globals
            .iter()
            .find(|global| !global.is_declaration() && global.name().starts_with(&renamed));
        if let Some(local) = local {
            declared.replace_uses_with(*local);
        }
    }
}

/// A unit before its device code is linked.
pub(super) struct Part<'ctx> {
    pub(super) source: PathBuf,
    pub(super) relocatable: Relocatable,
    /// Numerics are decided.
    pub(super) device: Module<'ctx>,
    /// As [`Unit::newer`].
    pub(super) newer: Vec<(Target, Module<'ctx>)>,
    pub(super) registrations: Registrations,
}

/// Units whose device code is linked.
pub(super) struct Domain<'ctx> {
    pub(super) unit: Unit<'ctx>,
    pub(super) registrations: Registrations,
    /// Of its units.
    names: Vec<String>,
}

/// Where the host sides of a domain's units are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hosts {
    /// In the program that the domain is part of.
    AllHere,
    /// In other objects, not all of which need be in the program: a linker takes few members of a library.
    Elsewhere,
}

/// Links the device code of each domain.
///
/// # Errors
/// [`ProgramError::DeviceLink`] when a name is defined twice or not at all.
pub(super) fn link_domains<'ctx>(
    parts: Vec<Part<'ctx>>,
    build: &Build,
) -> Result<Vec<Domain<'ctx>>, ProgramError> {
    let mut domains: BTreeMap<usize, Vec<Part<'ctx>>> = BTreeMap::new();
    for part in parts {
        let domain = domains.entry(part.relocatable.domain).or_default();
        domain.push(part);
    }
    domains
        .into_iter()
        .map(|(number, parts)| link_domain(number, parts, &build.compiled_targets()))
        .collect()
}

fn link_domain<'ctx>(
    number: usize,
    parts: Vec<Part<'ctx>>,
    targets: &[Target],
) -> Result<Domain<'ctx>, ProgramError> {
    let mut registrations = Registrations {
        image: Some(format!("sirius.placeholder.domain.{number}")),
        ..Registrations::default()
    };
    let (Some(source), [oldest, newer_targets @ ..]) =
        (parts.first().map(|part| part.source.clone()), targets)
    else {
        return Err(ProgramError::DeviceLink("there is nothing to link".into()));
    };
    let device = link_code(&parts, *oldest, oldest.number)?;
    let mut newer: Vec<(Target, Module<'_>)> = Vec::new();
    for target in newer_targets {
        let before = newer.last().map_or(*oldest, |(before, _)| *before);
        let is_other = |part: &Part<'_>| !std::ptr::eq(part.code(*target), part.code(before));
        if parts.iter().any(is_other) {
            newer.push((*target, link_code(&parts, *target, oldest.number)?));
        }
    }
    let mut names = Vec::new();
    for part in parts {
        names.push(part.relocatable.name);
        // A kernel of a template is registered by every unit that launches it.
        for kernel in part.registrations.kernels {
            if !registrations.kernels.contains(&kernel) {
                registrations.kernels.push(kernel);
            }
        }
        for variable in part.registrations.variables {
            let known = |other: &names::RegisteredVariable| other.name == variable.name;
            if !registrations.variables.iter().any(known) {
                registrations.variables.push(variable);
            }
        }
    }
    registrations.keep_defined(&device, &newer);
    Ok(Domain {
        unit: Unit {
            source,
            differing: by_architecture::differing(&device, &newer),
            device,
            newer,
            image_global: registrations.image.clone().unwrap_or_default(),
        },
        registrations,
        names,
    })
}

impl<'ctx> Part<'ctx> {
    fn code(&self, target: Target) -> &Module<'ctx> {
        for_target(&self.device, &self.newer, target)
    }
}

/// Links what units have for one architecture; it is canonicalised for `architecture`, the oldest.
fn link_code<'ctx>(
    parts: &[Part<'ctx>],
    target: Target,
    architecture: u32,
) -> Result<Module<'ctx>, ProgramError> {
    let mut wanted: Vec<(String, &Path)> = Vec::new();
    let mut linked: Option<Module<'ctx>> = None;
    for part in parts {
        let undefined = undefined(part.code(target));
        refuse_device_runtime(&part.source, undefined.iter())?;
        let undefined = undefined.into_iter();
        wanted.extend(undefined.map(|name| (name, part.source.as_path())));
        let code = part.code(target).clone();
        match &linked {
            None => linked = Some(code),
            Some(whole) => whole.link_in_module(code).map_err(|error| {
                let source = part.source.display();
                ProgramError::DeviceLink(format!("'{source}': {}", error.to_string()))
            })?,
        }
    }
    let Some(device) = linked else {
        return Err(ProgramError::DeviceLink("there is nothing to link".into()));
    };
    let missing: BTreeSet<String> = undefined(&device);
    let sentences: Vec<String> = wanted
        .iter()
        .filter(|(name, _)| missing.contains(name))
        .map(|(name, source)| {
            format!(
                "undefined reference to '{}' in '{}'",
                source_name(name),
                source.display()
            )
        })
        .collect();
    if !sentences.is_empty() {
        return Err(ProgramError::DeviceLink(sentences.join("; ")));
    }
    inline_linked(&device, architecture)?;
    Ok(device)
}

/// The names that a device module uses and does not define, those aside that the back end knows.
fn undefined(device: &Module<'_>) -> BTreeSet<String> {
    const KNOWN: [&str; 6] = [
        "vprintf",
        "malloc",
        "free",
        "__assertfail",
        "memcpy",
        "memset",
    ];
    let symbols = Value::functions(device)
        .into_iter()
        .chain(Value::globals(device));
    symbols
        .filter(|symbol| {
            // Dynamic shared memory is only ever declared.
            let is_shared = symbol.ty().text() == "ptr addrspace(3)";
            let is_needed = !symbol.is_weak_reference() && !symbol.users().is_empty();
            symbol.is_declaration() && !is_shared && is_needed
        })
        .map(llvm::Value::name)
        .filter(|name| !name.starts_with("llvm.") && !name.starts_with("__nv_"))
        .filter(|name| !KNOWN.contains(&name.as_str()))
        .collect()
}

/// CUDA's device runtime launches kernels from device code.
fn refuse_device_runtime<'a>(
    source: &Path,
    mut undefined: impl Iterator<Item = &'a String>,
) -> Result<(), ProgramError> {
    let Some(name) = undefined.find_map(|name| name.strip_prefix("__cudaCDP2")) else {
        return Ok(());
    };
    Err(ProgramError::DeviceLink(format!(
        "'{}' calls cuda{name} in device code: launches and runtime calls of kernels (dynamic \
         parallelism) are not supported",
        source.display()
    )))
}

impl Domain<'_> {
    /// A host module that registers the domain's image, and with it what its units have.
    ///
    /// # Errors
    /// Never in practice: the text is ours.
    pub(super) fn registration_module<'ctx>(
        &self,
        context: &'ctx Context,
        hosts: Hosts,
    ) -> Result<Module<'ctx>, ProgramError> {
        let image = &self.unit.image_global;
        let mut text = format!(
            "@\"{image}\" = private constant [1 x i8] zeroinitializer, section \".nv_fatbin\", align 16\n\
             @\"{image}.wrapper\" = internal constant {{ i32, i32, ptr, ptr }} \
             {{ i32 1180844977, i32 1, ptr @\"{image}\", ptr null }}, section \".nvFatBinSegment\", align 8\n\
             @\"{image}.handle\" = internal global ptr null\n\
             @llvm.global_ctors = appending global [1 x {{ i32, ptr, ptr }}] \
             [{{ i32, ptr, ptr }} {{ i32 {REGISTRATION_PRIORITY}, ptr @\"{image}.constructor\", ptr null }}]\n\
             declare ptr @__cudaRegisterFatBinary(ptr)\n\
             declare void @__cudaRegisterFatBinaryEnd(ptr)\n\
             declare void @__cudaUnregisterFatBinary(ptr)\n\
             declare i32 @atexit(ptr)\n\
             define internal void @\"{image}.destructor\"() {{\n\
               %handle = load ptr, ptr @\"{image}.handle\"\n\
               call void @__cudaUnregisterFatBinary(ptr %handle)\n\
               ret void\n\
             }}\n\
             define internal void @\"{image}.constructor\"() {{\n\
               %handle = call ptr @__cudaRegisterFatBinary(ptr @\"{image}.wrapper\")\n\
               store ptr %handle, ptr @\"{image}.handle\"\n"
        );
        for (index, name) in self.names.iter().enumerate() {
            let register = register_symbol(name);
            let _ = match hosts {
                Hosts::AllHere => writeln!(text, "  call void @{register}(ptr %handle)"),
                Hosts::Elsewhere => writeln!(
                    text,
                    "  %there.{index} = icmp ne ptr @{register}, null\n\
                     \x20 br i1 %there.{index}, label %call.{index}, label %next.{index}\n\
                     call.{index}:\n\
                     \x20 call void @{register}(ptr %handle)\n\
                     \x20 br label %next.{index}\n\
                     next.{index}:"
                ),
            };
        }
        // Sets the host's pointers to managed variables.
        let mut managed = "";
        if (self.registrations.variables.iter()).any(|variable| variable.managed) {
            text.insert_str(0, "declare i8 @__cudaInitModule(ptr)\n");
            managed = "  %managed = call i8 @__cudaInitModule(ptr %handle)\n";
        }
        let _ = writeln!(
            text,
            "  call void @__cudaRegisterFatBinaryEnd(ptr %handle)\n\
             {managed}\
             \x20 %unused = call i32 @atexit(ptr @\"{image}.destructor\")\n\
             \x20 ret void\n\
             }}"
        );
        let linkage = match hosts {
            Hosts::AllHere => "hidden",
            Hosts::Elsewhere => "extern_weak",
        };
        for name in &self.names {
            let register = register_symbol(name);
            let _ = writeln!(
                text,
                "declare {linkage} void @{register}(ptr)\n\
                 define hidden void @{LINKED_BINARY}_{name}(ptr, ptr, ptr, ptr) {{ ret void }}"
            );
        }
        text.push('\0');
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "registration");
        context
            .create_module_from_ir(buffer)
            .map_err(|message| ProgramError::Pass {
                pipeline: "the registration of linked device code".into(),
                message: message.to_string(),
            })
    }
}
