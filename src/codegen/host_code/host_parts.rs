//! The host side of a large program in several objects, of which those are kept that an earlier link made of the same.
//!
//! A link has the host code of all sources in one module. To compile it takes longer than anything else where one source of
//! many was changed, and one processor does it. So the module is cut between functions, where their names say so: most
//! parts stay as they were, wherever a change is.
//!
//! Invariant: the parts together define what the module defines. What only the module sees and another part uses is hidden
//! from other objects, under a name that no source has; copies are made of what the linker would drop or merge anyway.

mod cut;

use super::super::CodegenError;
use super::super::cpu::host_target_machine;
use super::super::device::run_passes;
use super::super::link::{compile_host_bitcode, compile_prepared_host, host_options, prepare_host};
use crate::build::{Build, Phase};
use crate::cache::{Entry, put, tools_as_text};
use crate::llvm::{Linkage, Type, Value, copy_unchecked};
use crate::tools::Toolchain;
use cut::{Cut, HEAD, Owners, cut};
use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use std::collections::{BTreeSet, HashSet};
use std::num::NonZero;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Compiles the rewritten host module of a link to objects in a folder. Returns them in the order in which they are to be
/// linked, and what clang said.
///
/// # Errors
/// As [`compile_prepared_host`].
pub(in crate::codegen) fn compile_host_in_parts(
    module: &Module<'_>,
    (build, toolchain): (&Build, &Toolchain),
    folder: &Path,
    keeps: bool,
) -> Result<(Vec<PathBuf>, String), CodegenError> {
    prepare_host(module, build);
    let may_be_cut = build.phase == Phase::Link && !keeps && !build.verbose && allow_parts(build);
    let Some(cut) = may_be_cut.then(|| cut(module)).flatten() else {
        let object = folder.join("host.o");
        let said = compile_prepared_host(module, (build, toolchain), folder, &object)?;
        return Ok((vec![object], said));
    };
    let parts = cut_out(module, cut, folder)?;
    let said = compile_parts(&parts, (build, toolchain))?;
    Ok((parts.into_iter().map(|part| part.object).collect(), said))
}

struct Part {
    bitcode: Vec<u8>,
    object: PathBuf,
}

/// What an option of the host compiler may begin with that says the same of a part as of the whole.
const OF_ANY_CODE: &[&str] = &[
    "-O",
    "-W",
    "-m",
    "-D",
    "-I",
    "-std=",
    "-w",
    "-pipe",
    "-pthread",
    "-fPIC",
    "-fpic",
    "-fPIE",
    "-fpie",
    "-fopenmp",
    "-fno-",
    "-ffast-math",
    "-ffp-contract",
    "-fexceptions",
    "-fvisibility",
    "-fwrapv",
    "-fstrict-",
    "-fstack-protector",
    "-fomit-",
    "-finline-",
    "-funroll-",
    "-fpermissive",
    "-frounding-math",
    "-g0",
];

/// Whether each option of the host compiler says the same of a part as of the whole. Debug information is one whole, and
/// so are files that instrumented code writes.
fn allow_parts(build: &Build) -> bool {
    !build.host_debug
        && build
            .host_arguments
            .iter()
            .all(|option| is_of_any_code(option))
}

/// Whether each option of the host compiler is about code, and so none about how objects are linked.
pub(in crate::codegen) fn options_say_nothing_of_links(build: &Build) -> bool {
    let is_debug = |option: &str| option.starts_with("-g");
    let mut options = build.host_arguments.iter();
    options
        .all(|option| !option.starts_with("-Wl,") && (is_of_any_code(option) || is_debug(option)))
}

fn is_of_any_code(option: &str) -> bool {
    let begins = |start: &&str| option.starts_with(*start);
    !option.starts_with("-Wa,") && OF_ANY_CODE.iter().any(begins)
}

/// Makes the parts of a module. What several of them have in common is copied once: the module is halved, and each half
/// again.
fn cut_out<'ctx>(
    module: &Module<'ctx>,
    cut: Cut<'ctx>,
    folder: &Path,
) -> Result<Vec<Part>, CodegenError> {
    let machine = host_target_machine(OptimizationLevel::None)?;
    let (whole, owners) = copied(module, &cut.owners);
    whole.set_name("host");
    whole.set_source_file_name("host");
    // These bodies serve optimisation, and stay for it.
    let mut available = BTreeSet::new();
    for own in globals(&whole) {
        if own.linkage() == Linkage::LLVMAvailableExternallyLinkage {
            own.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
            available.insert(own.name());
        }
    }
    let mut parts = Vec::new();
    let mut waiting = vec![(whole, owners, HEAD..cut.parts)];
    while let Some((piece, owners, numbers)) = waiting.pop() {
        let middle = numbers.start + numbers.len() / 2;
        if numbers.len() > 1 {
            let (other, others) = copied(&piece, &owners);
            let (low, high) = (numbers.start..middle, middle..numbers.end);
            for (piece, owners, numbers) in [(other, others, high), (piece, owners, low)] {
                let owners = leave_only(&piece, owners, &numbers, &machine)?;
                waiting.push((piece, owners, numbers));
            }
            continue;
        }
        give_names_of_a_part(&piece, &available);
        let bitcode = piece.write_bitcode_to_memory().as_slice().to_vec();
        let object = folder.join(format!("host{}.o", numbers.start));
        parts.push(Part { bitcode, object });
    }
    Ok(parts)
}

/// A copy of a module, with the owners of what it defines.
fn copied<'ctx>(module: &Module<'ctx>, owners: &Owners<'ctx>) -> (Module<'ctx>, Owners<'ctx>) {
    let copy = copy_unchecked(module);
    // A copy has the same in the same order.
    let pairs = globals(module).into_iter().zip(globals(&copy));
    let owners = pairs.filter_map(|(original, own)| Some((own, *owners.get(&original)?)));
    let owners = owners.collect();
    (copy, owners)
}

/// Removes from a module what other parts than these define. Returns the owners of the rest.
fn leave_only<'ctx>(
    piece: &Module<'ctx>,
    owners: Owners<'ctx>,
    numbers: &Range<usize>,
    machine: &TargetMachine,
) -> Result<Owners<'ctx>, CodegenError> {
    if !numbers.contains(&HEAD) {
        Value::aliases(piece)
            .into_iter()
            .for_each(|alias| declare_alias(piece, alias));
    }
    let mut left = Owners::new();
    for own in globals(piece) {
        let Some(owner) = owners.get(&own).filter(|_| !own.is_declaration()) else {
            continue;
        };
        if numbers.contains(owner) {
            left.insert(own, *owner);
        } else if own.linkage() == Linkage::LLVMAppendingLinkage {
            own.delete_global();
        } else {
            own.leave_section_group();
            own.set_linkage(Linkage::LLVMAvailableExternallyLinkage);
        }
    }
    run_passes(piece, "elim-avail-extern,globaldce", machine)?;
    // What the pass removed is nobody's: its address may be another's tomorrow.
    let there: HashSet<Value> = globals(piece).into_iter().collect();
    left.retain(|own, _| there.contains(own));
    Ok(left)
}

/// What numbers tell apart in the whole is numbered anew in a part, so that it does not change with the whole.
fn give_names_of_a_part(part: &Module<'_>, available: &BTreeSet<String>) {
    for own in globals(part).iter().filter(|own| !own.is_declaration()) {
        let name = own.name();
        if available.contains(&name) {
            own.set_linkage(Linkage::LLVMAvailableExternallyLinkage);
        }
        if own.is_local() {
            own.set_name(cut::without_number(&name));
        }
    }
}

/// Functions and variables of a module.
fn globals<'ctx>(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
    let mut all = Value::functions(module);
    all.extend(Value::globals(module));
    all
}

/// Makes a declaration of what is an alias in the head.
fn declare_alias<'ctx>(part: &Module<'ctx>, alias: Value<'ctx>) {
    let name = alias.name();
    let ty: Type = alias.value_type();
    let declaration = Value::add_function(part, "", ty);
    declaration.set_call_convention(cut::function_behind(alias).map_or(0, Value::call_convention));
    alias.replace_uses_with(declaration);
    // Without uses and seen by nobody, it goes with the rest.
    alias.set_linkage(Linkage::LLVMInternalLinkage);
    alias.set_name("");
    declaration.set_name(&name);
}

/// Compiles parts, several at a time, but for those that are kept. Returns what clang said, in their order.
fn compile_parts(
    parts: &[Part],
    (build, toolchain): (&Build, &Toolchain),
) -> Result<String, CodegenError> {
    let at_once = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<String, CodegenError>>>> =
        parts.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(number) else {
                return;
            };
            let compiled = compile_part(part, (build, toolchain));
            if let Ok(mut result) = results[number].lock() {
                *result = Some(compiled);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..at_once.min(parts.len()) {
            scope.spawn(work);
        }
        work();
    });
    let not_done = || CodegenError::Inconsistent("a part of the host side was not compiled".into());
    results
        .into_iter()
        .map(|result| {
            result
                .into_inner()
                .ok()
                .flatten()
                .unwrap_or_else(|| Err(not_done()))
        })
        .collect()
}

/// Compiles a part, or takes what an earlier link made of the same.
fn compile_part(
    part: &Part,
    (build, toolchain): (&Build, &Toolchain),
) -> Result<String, CodegenError> {
    let kept = place_of(part, (build, toolchain));
    if let Some([object, said]) = kept.as_ref().and_then(Entry::take).as_deref()
        && let Ok(said) = String::from_utf8(said.clone())
    {
        std::fs::write(&part.object, object).map_err(CodegenError::write(&part.object))?;
        return Ok(said);
    }
    let bitcode = part.object.with_extension("bc");
    std::fs::write(&bitcode, &part.bitcode).map_err(CodegenError::write(&bitcode))?;
    let said = compile_host_bitcode(&bitcode, build, toolchain, &part.object)?;
    if let (Some(entry), Ok(object)) = (kept, std::fs::read(&part.object)) {
        entry.keep(&[&object, said.as_bytes()]);
    }
    Ok(said)
}

/// Where a part's object is kept.
fn place_of(part: &Part, (build, toolchain): (&Build, &Toolchain)) -> Option<Entry> {
    let mut made_from = Vec::new();
    put(
        &mut made_from,
        tools_as_text([toolchain.clang.as_path()])?.as_bytes(),
    );
    for option in host_options(build) {
        put(&mut made_from, option.as_encoded_bytes());
    }
    put(&mut made_from, &part.bitcode);
    Entry::of("part", made_from)
}
