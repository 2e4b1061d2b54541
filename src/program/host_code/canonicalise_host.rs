//! Host modules: launches folded, units linked, what launches inlined into its callers, simplified.
//!
//! What the pipelines guarantee: every launch whose kernel is known is a call of
//! `sirius.launch.N`; functions that launch or call the CUDA runtime are inlined into the functions
//! that call them, up to [`LARGEST_INLINED_INSTRUCTIONS`], as are small helpers that they use, so
//! that a grid size, a pointer or a loop bound is one SSA value at all its uses; larger ones are cloned
//! by context ([`super::super::contexts`]). Loops are in
//! simplified, closed form; none is rotated or vectorised, only short ones that allocate or free and launch
//! nothing are unrolled ([`super::super::allocation_loops`]), and no launch is duplicated, hoisted or sunk.
//! Functions that neither launch nor call the runtime stay as clang made them.

use super::super::inlining::recursive_functions;
use super::super::launches;
use super::super::runtime_effects;
use super::super::streams::{gives_stream_memory, is_stream_output};
use super::super::{
    HostVisibleMemory, ProgramError, allocation_loops, contexts, passes, promotion,
};
use crate::llvm::{self, FUNCTION_ATTRIBUTES, Linkage, Value};
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What brings stubs and arguments of launches together, before the second round of folding.
pub const HOST_PROMOTION: &str = "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>";

/// What makes clear which function a pointer is, where the function itself tells.
pub const HOST_DEVIRTUALISATION: &str =
    "sroa,early-cse<memssa>,gvn,instcombine<no-verify-fixpoint>,simplifycfg";

/// What makes functions of coroutines, one for each way into them. Until then a suspended coroutine looks like a function
/// that goes on at once.
const HOST_COROUTINES: &str = "coro-early,cgscc(coro-split),coro-cleanup";

/// What makes the host code that drives the device canonical.
pub const HOST_PIPELINE: &str = "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,\
    simplifycfg,sroa,early-cse<memssa>,gvn,instcombine<no-verify-fixpoint>,simplifycfg,\
    adce,loop-simplify,lcssa";

/// A function is inlined as long as it stays below this many instructions, all its own inlined
/// calls counted; its copies together may have ten times as many.
pub const LARGEST_INLINED_INSTRUCTIONS: usize = 4_000;

/// Rounds in which calls through pointers become direct ones.
const DEVIRTUALISATION_ROUNDS: usize = 6;

/// A helper that neither launches nor calls the runtime is inlined below this size.
const LARGEST_HELPER_INSTRUCTIONS: usize = 200;

/// Makes the linked host module canonical, in place. Launches of `unclear_stubs`, whose kernel
/// depends on which unit's image the runtime takes, are not folded. Returns which memory the device
/// may write and the host read.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses a pipeline or a step made an invalid module.
pub(in crate::program) fn canonicalise(
    host: &Module<'_>,
    stubs: &BTreeSet<String>,
    unclear_stubs: &BTreeSet<String>,
    outside: Outside,
) -> Result<HostVisibleMemory, ProgramError> {
    let machine = passes::host_machine()?;
    if has_coroutines(host) {
        passes::run(host, HOST_COROUTINES, &machine)?;
    }
    // clang makes complete-object destructors aliases of base-object ones.
    llvm::call_through_aliases(host);
    if outside.code {
        keep_launching_instances(host, stubs);
    }
    let clear_stubs = stubs.difference(unclear_stubs).cloned().collect();
    let wrappers = launches::make_wrappers(host, &clear_stubs);
    launches::fold(host, &wrappers);
    inline_drivers(host, stubs);
    passes::run(host, "always-inline", &machine)?;
    passes::verify_step(host, "folding launches")?;
    let drivers = direct_drivers(host, stubs);
    let mut promoted = Simplified::default();
    for driver in &drivers {
        promoted.run(*driver, HOST_PROMOTION, &machine)?;
    }
    // A kernel that was handed to a helper function is known only now.
    if launches::fold(host, &wrappers) + launches::fold_direct(host, &wrappers) > 0 {
        passes::run(host, "always-inline", &machine)?;
        for driver in &drivers {
            promoted.run(*driver, HOST_PROMOTION, &machine)?;
        }
    }
    let is_visible = || visible_memory(host, outside) != HostVisibleMemory::Nothing;
    devirtualise(
        host,
        stubs,
        &wrappers,
        &is_visible,
        Simplified::default(),
        &machine,
    )?;
    launches::remove_wrappers(host);
    let has_main = Value::function(host, "main").is_some_and(|main| !main.is_declaration());
    let is_whole = has_main && !outside.code && !outside.lookups;
    if is_whole {
        remove_inlined(host, stubs);
    }
    let large = large_drivers(host, stubs);
    let is_removable = |function: Value| is_whole && may_go(function);
    if contexts::clone_by_context(host, &large, &is_removable, &machine)? > 0 && is_whole {
        remove_inlined(host, stubs);
    }
    // Code that is not here may allocate what this code is given.
    let visible = visible_memory(host, outside);
    runtime_effects::declare(host, visible != HostVisibleMemory::Nothing);
    make_drivers_canonical(host, stubs, Simplified::default(), &machine)?;
    passes::verify(host, "the host pipeline")?;
    Ok(visible)
}

fn has_coroutines(host: &Module<'_>) -> bool {
    let mut functions = host.get_functions();
    functions.any(|function| function.get_name().to_bytes().starts_with(b"llvm.coro."))
}

/// Makes a canonical module canonical again in which calls through pointers were promoted, after `remove` took out
/// what is called no more. `is_visible`: the device may write memory that the host reads. What is as it was when it was
/// `canonical` stays so.
///
/// # Errors
/// As [`canonicalise`].
pub(in crate::program) fn canonicalise_promoted<'ctx>(
    host: &Module<'ctx>,
    stubs: &BTreeSet<String>,
    unclear_stubs: &BTreeSet<String>,
    is_visible: bool,
    canonical: Simplified<'ctx>,
    remove: impl FnOnce(),
) -> Result<(), ProgramError> {
    let machine = passes::host_machine()?;
    let clear_stubs = stubs.difference(unclear_stubs).cloned().collect();
    let wrappers = launches::make_wrappers(host, &clear_stubs);
    launches::fold(host, &wrappers);
    inline_drivers(host, stubs);
    passes::run(host, "always-inline", &machine)?;
    let before = canonical.clone();
    devirtualise(host, stubs, &wrappers, &|| is_visible, before, &machine)?;
    launches::remove_wrappers(host);
    remove();
    runtime_effects::declare(host, is_visible);
    make_drivers_canonical(host, stubs, canonical, &machine)?;
    passes::verify(host, "promoting calls through pointers")
}

/// What functions were when a pipeline last went over them: it need not go over those again that are the same.
#[derive(Clone, Default)]
pub(in crate::program) struct Simplified<'ctx>(HashMap<Value<'ctx>, u64>);

impl<'ctx> Simplified<'ctx> {
    /// What drives the device in a canonical module.
    pub(in crate::program) fn canonical(host: &Module<'ctx>, stubs: &BTreeSet<String>) -> Self {
        let drivers = direct_drivers(host, stubs).into_iter();
        Self(drivers.map(|driver| (driver, outline(driver))).collect())
    }

    /// Runs a pipeline over a function that is not as the pipeline left it.
    fn run(
        &mut self,
        function: Value<'ctx>,
        pipeline: &str,
        machine: &TargetMachine,
    ) -> Result<(), ProgramError> {
        if self.0.get(&function) != Some(&outline(function)) {
            passes::run_on_function(function, pipeline, machine)?;
            self.0.insert(function, outline(function));
        }
        Ok(())
    }
}

/// A number for what a function does, in its order, and what it calls: another one where a call was inlined, promoted or
/// folded.
fn outline(function: Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    for block in function.blocks() {
        for instruction in block.instructions() {
            instruction.opcode().map(|is| is as u32).hash(&mut hasher);
            instruction.called_function().hash(&mut hasher);
        }
        0xffff_u32.hash(&mut hasher);
    }
    hasher.finish()
}

/// The functions of a module by what they do with the device.
pub(in crate::program) fn functions<'ctx>(
    host: &Module<'ctx>,
    stubs: &BTreeSet<String>,
) -> promotion::Functions<'ctx> {
    let launches = |name: &str| is_device_library(name) || name.starts_with("sirius.launch.");
    let calls = calls(host, stubs);
    promotion::Functions {
        drivers: transitive_drivers(&calls, stubs, &drives_device),
        launching: transitive_drivers(&calls, stubs, &launches),
        calls,
    }
}

/// Inlines what is marked for it.
pub(in crate::program) fn inline_marked(host: &Module<'_>) -> Result<(), ProgramError> {
    passes::run(host, "always-inline", &passes::host_machine()?)
}

fn make_drivers_canonical<'ctx>(
    host: &Module<'ctx>,
    stubs: &BTreeSet<String>,
    mut canonical: Simplified<'ctx>,
    machine: &TargetMachine,
) -> Result<(), ProgramError> {
    for driver in direct_drivers(host, stubs) {
        canonical.run(driver, HOST_PIPELINE, machine)?;
        if allocation_loops::write_out(host, driver, machine)? {
            run(driver, HOST_PIPELINE, machine)?;
        }
    }
    launches::number_sites(host);
    Ok(())
}

/// Keeps instances of templates that launch, where code outside may call them: units that only see
/// the declaration rely on an instance that another one used. `g++` behind nvcc leaves it there, as it
/// inlines nothing of that size that nobody has declared `inline`; LLVM would inline its one call and
/// drop it.
fn keep_launching_instances(host: &Module<'_>, stubs: &BTreeSet<String>) {
    for function in Value::functions(host) {
        let is_instance = !function.is_declaration()
            && function.linkage() == Linkage::LLVMLinkOnceODRLinkage
            && !stubs.contains(&function.name())
            && !function.has_attribute(FUNCTION_ATTRIBUTES, "inlinehint")
            && !function.has_attribute(FUNCTION_ATTRIBUTES, "alwaysinline");
        let launches = |call: Value| {
            let called = call.called_name();
            called.is_some_and(|called| stubs.contains(&called))
        };
        if is_instance && function.instructions().into_iter().any(launches) {
            function.set_linkage(Linkage::LLVMWeakODRLinkage);
        }
    }
}

fn visible_memory(host: &Module<'_>, outside: Outside) -> HostVisibleMemory {
    match outside.code || outside.libraries {
        true => HostVisibleMemory::Anything,
        false => runtime_effects::host_visible_memory(host),
    }
}

/// Inlines what is called through a pointer (a virtual method, the target of a `std::function`) as
/// soon as it is clear what that is. One such call may hide the next, so this goes in rounds.
fn devirtualise<'ctx>(
    host: &Module<'ctx>,
    stubs: &BTreeSet<String>,
    wrappers: &launches::Wrappers,
    is_visible: &dyn Fn() -> bool,
    mut simplified: Simplified<'ctx>,
    machine: &TargetMachine,
) -> Result<(), ProgramError> {
    let mut before = (0, 0);
    for _ in 0..DEVIRTUALISATION_ROUNDS {
        // What was inlined may hand a host pointer to a kernel.
        runtime_effects::declare(host, is_visible());
        let mut through_pointers = 0;
        for driver in direct_drivers(host, stubs) {
            if calls_through_pointers(driver) > 0 || before != (0, 0) {
                simplified.run(driver, HOST_DEVIRTUALISATION, machine)?;
                through_pointers += calls_through_pointers(driver);
            }
        }
        let to_inline = inline_drivers(host, stubs);
        if to_inline == 0 {
            break;
        }
        // What is marked is inlined, even in the last round: the same number may be other calls.
        passes::run(host, "always-inline", machine)?;
        if launches::fold(host, wrappers) + launches::fold_direct(host, wrappers) > 0 {
            passes::run(host, "always-inline", machine)?;
        }
        if before == (to_inline, through_pointers) {
            break;
        }
        before = (to_inline, through_pointers);
    }
    Ok(())
}

fn calls_through_pointers(function: Value) -> usize {
    let instructions = function.instructions().into_iter();
    instructions
        .filter(|call| call.is_call() && call.called_function().is_none())
        .count()
}

/// Makes functions canonical again in which launches were folded later.
pub(in crate::program) fn canonicalise_again(
    host: &Module<'_>,
    functions: &[Value],
) -> Result<(), ProgramError> {
    let machine = passes::host_machine()?;
    for function in functions {
        run(*function, HOST_PIPELINE, &machine)?;
    }
    launches::number_sites(host);
    match functions
        .iter()
        .all(|function| function.is_valid_function())
    {
        true => Ok(()),
        // It says what is wrong.
        false => passes::verify(host, "folding launches by handles"),
    }
}

/// Makes a function canonical in which code was put elsewhere. What is computed in each iteration of a loop is not taken over
/// from the one before.
pub(in crate::program) fn make_canonical_as_computed(
    function: Value,
    machine: &TargetMachine,
) -> Result<(), ProgramError> {
    let pipeline = HOST_PIPELINE.replace("gvn", "gvn<no-pre;no-load-pre>");
    run(function, &pipeline, machine)
}

fn run(function: Value, pipeline: &str, machine: &TargetMachine) -> Result<(), ProgramError> {
    passes::run_on_function(function, pipeline, machine)
}

/// What of the program is not in the host module.
#[derive(Clone, Copy, Debug)]
pub(in crate::program) struct Outside {
    /// Objects, or units that are compiled separately: they may call anything here.
    pub(in crate::program) code: bool,
    /// Symbols are exported to be found by name at run time.
    pub(in crate::program) lookups: bool,
    /// Libraries that may allocate what both kernels and the host see.
    pub(in crate::program) libraries: bool,
}

/// Removes functions that drive the device and that nothing refers to any more: all their calls
/// were inlined, and their launches would be counted twice. Only C++ functions, since libraries
/// call those of C by well-known names.
fn remove_inlined(host: &Module<'_>, stubs: &BTreeSet<String>) {
    loop {
        let unused: Vec<_> = direct_drivers(host, stubs)
            .into_iter()
            .filter(|function| function.users().is_empty() && may_go(*function))
            .collect();
        if unused.is_empty() {
            return;
        }
        for function in unused {
            function.delete_function();
        }
    }
}

/// Nothing finds the function by its name.
fn may_go(function: Value) -> bool {
    function.name().starts_with("_Z") || function.is_local()
}

/// The functions with launches that were too large to be inlined, callers before what they call.
fn large_drivers<'ctx>(host: &Module<'ctx>, stubs: &BTreeSet<String>) -> Vec<Value<'ctx>> {
    let calls = calls(host, stubs);
    let recursive = recursive_functions(host);
    let driving = transitive_drivers(&calls, stubs, &drives_device);
    // In the order of the module, as what is made of them must not depend on where they stand in memory.
    let mut drivers = Value::functions(host);
    drivers.retain(|function| {
        driving.contains(function)
            && !recursive.contains(function)
            && !function.is_interposable()
            && !function.has_attribute(FUNCTION_ATTRIBUTES, "returns_twice")
            // LLVM inlines it wherever it can, and calls go with that.
            && !function.has_attribute(FUNCTION_ATTRIBUTES, "alwaysinline")
            && function.name() != "main"
    });
    contexts::callers_first(&drivers, &calls)
}

/// What each defined function calls directly. Functions are few beside instructions, so that their uses are gone through.
fn calls<'ctx>(
    host: &Module<'ctx>,
    stubs: &BTreeSet<String>,
) -> HashMap<Value<'ctx>, Vec<Value<'ctx>>> {
    let functions = Value::functions(host);
    let defined = functions
        .iter()
        .filter(|function| !function.is_declaration() && !is_scaffolding(**function, stubs));
    let mut calls: HashMap<Value, Vec<Value>> =
        defined.map(|function| (*function, Vec::new())).collect();
    for called in functions {
        for call in called.direct_calls() {
            if let Some(calls) = calls.get_mut(&call.block().function()) {
                calls.push(called);
            }
        }
    }
    calls
}

/// True for a function of the CUDA runtime's or driver's interface, or a folded launch.
fn drives_device(name: &str) -> bool {
    let capital = |rest: &str| rest.starts_with(|first: char| first.is_ascii_uppercase());
    is_device_library(name)
        || name.starts_with("sirius.")
        || name.strip_prefix("cuda").is_some_and(capital)
        || name.strip_prefix("cu").is_some_and(capital)
        || name.starts_with("__cudaPushCallConfiguration")
}

/// True for a function of a CUDA library, which drives the device by itself.
pub(in crate::program) fn is_device_library(name: &str) -> bool {
    const LIBRARIES: [&str; 8] = [
        "cublasLt", "cublas", "cudnn", "cufft", "curand", "cusolver", "cusparse", "nccl",
    ];
    LIBRARIES.iter().any(|library| {
        name.strip_prefix(library)
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
    })
}

/// Registration code and stubs stay as clang made them.
fn is_scaffolding(function: Value, stubs: &BTreeSet<String>) -> bool {
    let name = function.name();
    name.starts_with("__cuda_") || name.starts_with("sirius.") || stubs.contains(&name)
}

/// The functions that call the device interface themselves, in the module's order.
fn direct_drivers<'ctx>(host: &Module<'ctx>, stubs: &BTreeSet<String>) -> Vec<Value<'ctx>> {
    let functions = Value::functions(host);
    let of_device = functions.iter().filter(|called| {
        let name = called.name();
        called.is_declaration() && drives_device(&name) || stubs.contains(&name)
    });
    let calls = of_device.flat_map(|called| called.direct_calls());
    let drivers: HashSet<Value> = calls.map(|call| call.block().function()).collect();
    functions
        .into_iter()
        .filter(|function| drivers.contains(function) && !is_scaffolding(*function, stubs))
        .collect()
}

/// Marks for inlining what launches or calls the runtime, and the small helpers around; returns how
/// many calls there are of what is marked.
fn inline_drivers(host: &Module<'_>, stubs: &BTreeSet<String>) -> usize {
    let recursive = recursive_functions(host);
    let calls = calls(host, stubs);
    let drivers = transitive_drivers(&calls, stubs, &drives_device);
    let mut sizes = Sizes {
        calls: &calls,
        drivers: &drivers,
        recursive: &recursive,
        memory: HashMap::new(),
        decided: HashMap::new(),
    };
    // What drivers call, transitively: only there do helpers matter.
    let mut near = drivers.clone();
    let mut open: Vec<_> = drivers.iter().copied().collect();
    while let Some(function) = open.pop() {
        for called in calls.get(&function).into_iter().flatten() {
            if calls.contains_key(called) && near.insert(*called) {
                open.push(*called);
            }
        }
    }
    let mut called = 0;
    for function in near {
        if sizes.inlined(function) {
            function.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
            function.remove_attribute(FUNCTION_ATTRIBUTES, "optnone");
            function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
            called += function.direct_calls().len();
        }
    }
    called
}

/// Functions that reach a stub or a function outside that `drives` the device through direct calls.
fn transitive_drivers<'ctx>(
    calls: &HashMap<Value<'ctx>, Vec<Value<'ctx>>>,
    stubs: &BTreeSet<String>,
    drives: &dyn Fn(&str) -> bool,
) -> BTreeSet<Value<'ctx>> {
    let mut callers: HashMap<Value<'ctx>, Vec<Value<'ctx>>> = HashMap::new();
    for (function, called) in calls {
        for called in called {
            callers.entry(*called).or_default().push(*function);
        }
    }
    let is_device = |called: &Value| {
        stubs.contains(&called.name()) || (!calls.contains_key(called) && drives(&called.name()))
    };
    let mut open: Vec<Value> = callers.keys().copied().filter(is_device).collect();
    let mut drivers = BTreeSet::new();
    while let Some(reached) = open.pop() {
        for caller in callers.get(&reached).into_iter().flatten() {
            if drivers.insert(*caller) {
                open.push(*caller);
            }
        }
    }
    drivers
}

/// Sizes of functions with their inlined calls, computed once each.
struct Sizes<'a, 'ctx> {
    calls: &'a HashMap<Value<'ctx>, Vec<Value<'ctx>>>,
    drivers: &'a BTreeSet<Value<'ctx>>,
    recursive: &'a BTreeSet<Value<'ctx>>,
    memory: HashMap<Value<'ctx>, usize>,
    /// By function, whether its calls are inlined.
    decided: HashMap<Value<'ctx>, bool>,
}

impl<'ctx> Sizes<'_, 'ctx> {
    /// Whether calls of the function are inlined. It is asked for every call.
    fn inlined(&mut self, function: Value<'ctx>) -> bool {
        if let Some(inlined) = self.decided.get(&function) {
            return *inlined;
        }
        let inlined = self.decide(function);
        self.decided.insert(function, inlined);
        inlined
    }

    fn decide(&mut self, function: Value<'ctx>) -> bool {
        if self.recursive.contains(&function)
            || !self.calls.contains_key(&function)
            || function.is_interposable()
            || function.name() == "main"
            || is_stream_output(&function.name())
            || gives_stream_memory(&function.name())
            || function.has_attribute(FUNCTION_ATTRIBUTES, "returns_twice")
        {
            return false;
        }
        let driver = self.drivers.contains(&function);
        if !driver && function.has_attribute(FUNCTION_ATTRIBUTES, "noinline") {
            return false;
        }
        let limit = if driver {
            LARGEST_INLINED_INSTRUCTIONS
        } else {
            LARGEST_HELPER_INSTRUCTIONS
        };
        let size = self.of(function);
        let copies = function.users().len();
        size <= limit
            && (size <= LARGEST_HELPER_INSTRUCTIONS
                || size.saturating_mul(copies) <= 10 * LARGEST_INLINED_INSTRUCTIONS)
    }

    /// Instructions of the function once its calls are inlined.
    fn of(&mut self, function: Value<'ctx>) -> usize {
        if let Some(size) = self.memory.get(&function) {
            return *size;
        }
        let mut size = function.instructions().len();
        // Recursive functions are never inlined, so this ends.
        let calls = self.calls;
        for called in calls.get(&function).into_iter().flatten() {
            if self.inlined(*called) {
                size = size.saturating_add(self.of(*called));
            }
        }
        self.memory.insert(function, size);
        size
    }
}
