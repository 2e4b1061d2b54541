//! Device IR -> x86-64 code for the CPU device, as the crate `sirius_abi` describes it.
//!
//! Invariant: the arithmetic is that of the device IR. No flag that allows reassociation or
//! contraction exists there and none is added here; a loop over threads is vectorised only across
//! threads, never by changing the order of one thread's operations.

mod classify;
mod instrument;
mod spins;
mod lockstep;
mod in_step;
pub(super) mod libdevice;
mod image;
mod lower;
mod loads;
mod assembly;
mod functions;
mod entry;
mod masks;
mod long_blocks;

use lower::{shared, tiles};

use assembly::{
    atomics, barriers, carries, copies, exits, integers, matrices, predicates, saturation,
    shared_barrier, statements, textures, video,
};
use functions::{conversions, eight_bits, half_math, packed, rounding};

use super::{CodegenError, DeviceImage, device};
use crate::llvm::{self, FUNCTION_ATTRIBUTES, Linkage, Opcode, Value};
use classify::Features;
use functions::Library;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::{FileType, RelocMode, TargetMachine};
use lower::LoweredKernel;
use shared::SharedLayout;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a CPU image is made from.
#[derive(Clone, Debug)]
pub struct CpuImageRequest {
    /// The symbol under which the object defines its `CpuImage`; also makes its other names unique.
    pub symbol: String,
    /// What the module was compiled for, `__CUDA_ARCH__` over ten.
    pub architecture: u32,
    /// `CUDART_VERSION` of the toolkit that it was compiled with.
    pub toolkit_version: u32,
    /// Names in the device module of `__managed__` variables.
    pub managed: Vec<String>,
    /// The toolkit's `libdevice.10.bc`, for math functions that the C library lacks.
    pub libdevice: PathBuf,
    /// Where the object files go, that which defines the `CpuImage` first.
    pub objects: [PathBuf; 2],
    /// Else code stays in the order of the source, and variables in memory, as a debugger wants it.
    pub optimised: bool,
}

/// The object files of an image, of which the first has this name.
pub(super) fn objects_beside(object: &Path) -> [PathBuf; 2] {
    [object.to_owned(), object.with_extension("instrumented.o")]
}

/// A module of final device IR (see [`device::optimise_device`]) that becomes the object files of a CPU image.
/// It is free of the context that the program's modules live in, so that other threads can carry it out.
pub struct CpuImageWork {
    bitcode: Vec<u8>,
    request: CpuImageRequest,
}

impl CpuImageWork {
    /// Of a module, which nothing happens to.
    pub fn new(module: &Module, request: CpuImageRequest) -> Self {
        let bitcode = module.write_bitcode_to_memory().as_slice().to_vec();
        Self { bitcode, request }
    }

    /// Compiles the module to two host object files, one for each lowering, the first of which
    /// defines a `CpuImage`. Each has a context of its own, and both are made at the same time.
    ///
    /// # Errors
    /// [`CodegenError::Llvm`] when LLVM refuses the lowered module, [`CodegenError::Inconsistent`]
    /// when a construct cannot be expressed, [`CodegenError::Write`] when a file cannot be written.
    pub fn emit(&self) -> Result<DeviceImage, CodegenError> {
        let (plain, instrumented) = std::thread::scope(|scope| {
            let instrumented = scope.spawn(|| self.emit_variant(Variant::Instrumented));
            (self.emit_variant(Variant::Plain), instrumented.join())
        });
        let instrumented = instrumented.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(DeviceImage::CpuObjects {
            objects: vec![plain?, instrumented?],
            symbol: self.request.symbol.clone(),
        })
    }

    /// The object file of one lowering. The two refer to each other by names that begin with the
    /// image's symbol; all others are their own.
    fn emit_variant(&self, variant: Variant) -> Result<PathBuf, CodegenError> {
        let context = Context::create();
        let level = match self.request.optimised {
            true => OptimizationLevel::Aggressive,
            false => OptimizationLevel::None,
        };
        let machine = host_target_machine(level)?;
        let bitcode = MemoryBuffer::create_from_memory_range_copy(&self.bitcode, "device module");
        let module = Module::parse_bitcode_from_buffer(&bitcode, &context)
            .map_err(|message| CodegenError::Llvm(message.to_string()))?;
        let lowered = lowered(module, &self.request, &machine, variant)?;
        let tables = match variant {
            Variant::Plain => Some(image::tables(&lowered, &self.request)?),
            Variant::Instrumented => None,
        };
        let whole = lowered.module;
        if let Some(tables) = tables {
            link(&whole, tables)?;
        }
        for global in Value::functions(&whole)
            .into_iter()
            .chain(Value::globals(&whole))
        {
            if global.is_declaration() || global.is_local() {
                continue;
            }
            match global.name().starts_with(&self.request.symbol) {
                true => global.set_hidden(),
                false => global.set_linkage(Linkage::LLVMInternalLinkage),
            }
        }
        verify(&whole)?;
        device::run_passes(&whole, "globaldce", &machine)?;
        // Only the code generator mentions these, so that they come after everything else.
        link(&whole, rounding_functions(&whole)?)?;
        // Registers for a long block take the square of it, too; what reports its accesses is slow anyway.
        let machine = match variant {
            Variant::Instrumented if longest_block(&whole) > LONGEST_COMBINED_BLOCK => {
                host_target_machine(OptimizationLevel::None)?
            }
            _ => machine,
        };
        long_blocks::cut(&whole);
        let [plain, instrumented] = &self.request.objects;
        let object = match variant {
            Variant::Plain => plain.clone(),
            Variant::Instrumented => instrumented.clone(),
        };
        // LLVM ends the whole run where it cannot write.
        let code = machine
            .write_to_memory_buffer(&whole, FileType::Object)
            .map_err(|message| CodegenError::Llvm(message.to_string()))?;
        std::fs::write(&object, code.as_slice()).map_err(CodegenError::write(&object))?;
        Ok(object)
    }
}

/// The conversions that the code generator calls by name.
fn rounding_functions<'ctx>(whole: &Module<'ctx>) -> Result<Module<'ctx>, CodegenError> {
    let text = concat!(include_str!("rounding.ll"), "\0");
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "rounding");
    let module = whole
        .get_context()
        .create_module_from_ir(buffer)
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;
    module.set_triple(&whole.get_triple());
    module.set_data_layout(&whole.get_data_layout());
    Ok(module)
}

/// Which of the two lowerings of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    /// `thread` and `block_loop`; owns the device variables.
    Plain,
    /// `thread_instrumented`; refers to the variables of the other.
    Instrumented,
}

/// A lowered and optimised module.
struct Lowered<'ctx> {
    module: Module<'ctx>,
    kernels: Vec<image::KernelEntry>,
    variables: Vec<image::VariableEntry>,
}

fn lowered<'ctx>(
    module: Module<'ctx>,
    request: &CpuImageRequest,
    machine: &TargetMachine,
    variant: Variant,
) -> Result<Lowered<'ctx>, CodegenError> {
    shared::place_reserved(&module);
    if variant == Variant::Instrumented {
        instrument::count(&module);
    }
    tiles::expand(&module)?;
    spins::give_way_in_spins(&module);
    lockstep::keep_warps_in_step(&module);
    if variant == Variant::Instrumented {
        // Others run before an access is reported, not between the report and the access.
        instrument::report_accesses(&module);
    }
    let features: BTreeMap<String, Features> = device::kernels(&module)
        .into_iter()
        .map(|kernel| (kernel.name(), Features::of(kernel)))
        .collect();
    let mut library = Library::parse(&module, variant == Variant::Instrumented)?;
    libdevice::link_missing(&module, &library, &request.libdevice)?;
    // Linking removes variables that nothing refers to.
    let shared = SharedLayout::of(&module);
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let variables = image::host_variables(&module, request, variant);
    let kernels = lower::lower(&module, &mut library, &shared)?;
    library.declare(&module, "sirius.run_block")?;
    library.link_into(&module)?;
    let mut entries = Vec::new();
    for LoweredKernel { name, body } in kernels {
        let features = features.get(&name).copied().unwrap_or_default();
        let shared = shared.kernel(&name);
        let entry = entry::make_entries(&module, &request.symbol, &name, body, features, variant)?;
        entries.push(image::KernelEntry::new(
            &module, name, body, features, shared, entry,
        ));
    }
    verify(&module)?;
    match (request.optimised, variant) {
        // Other passes take the places of variables for the values that they hold.
        (false, Variant::Plain) => device::run_passes(&module, "always-inline,globaldce", machine)?,
        _ => optimise(&module, machine, variant)?,
    }
    Ok(Lowered {
        module,
        kernels: entries,
        variables,
    })
}

/// The machine that runs the compiler: programs for the CPU device run where they are built. Instructions that
/// make bfloat16 of numbers are left out, since they take the smallest ones for zero.
pub(super) fn host_target_machine(level: OptimizationLevel) -> Result<TargetMachine, CodegenError> {
    let [name, features] = host_processor();
    llvm::host_machine([&name, &features], level, RelocMode::PIC).map_err(CodegenError::Llvm)
}

/// The name and the features, as LLVM spells them, of the processor that code is made for.
pub(super) fn host_processor() -> [String; 2] {
    const LEFT_OUT: &str = "-avx512bf16,-avxneconvert";
    let features = TargetMachine::get_host_cpu_features();
    [
        TargetMachine::get_host_cpu_name().to_string(),
        format!("{},{LEFT_OUT}", features.to_string()),
    ]
}

/// LLVM asks for each pointer of each call whether it may be null, for which it numbers the whole block anew where
/// that has changed: of blocks of more instructions, calls that report accesses are combined with nothing.
const LONGEST_COMBINED_BLOCK: usize = 4_000;

/// What LLVM looks for in a block to make vectors of takes the square of the calls between, as those of a loop that
/// was unrolled: each is asked for each other whether it touches the same memory.
const MOST_CALLS_BETWEEN_VECTORS: usize = 100;

/// Whether LLVM would take minutes to make vectors of a function: what it considers of a loop takes the square of
/// the instructions, too.
fn is_crowded(function: Value) -> bool {
    most_calls_of_a_block(function) > MOST_CALLS_BETWEEN_VECTORS
        || longest_block_of(function) > LONGEST_COMBINED_BLOCK
}

/// The calls of functions, but of LLVM's own, in the block that has most of them.
fn most_calls_of_a_block(function: Value) -> usize {
    let calls = |instruction: &Value| {
        instruction.opcode() == Some(Opcode::LLVMCall)
            && !instruction
                .called_name()
                .is_some_and(|name| name.starts_with("llvm."))
    };
    let blocks = function.blocks().into_iter();
    let counts = blocks.map(|block| {
        block
            .instructions()
            .iter()
            .filter(|each| calls(each))
            .count()
    });
    counts.max().unwrap_or(0)
}

fn longest_block(module: &Module) -> usize {
    let functions = Value::functions(module).into_iter();
    functions.map(longest_block_of).max().unwrap_or(0)
}

fn longest_block_of(function: Value) -> usize {
    let blocks = function.blocks().into_iter();
    let lengths = blocks.map(|block| block.instructions().len());
    lengths.max().unwrap_or(0)
}

fn optimise(
    module: &Module,
    machine: &TargetMachine,
    variant: Variant,
) -> Result<(), CodegenError> {
    if variant == Variant::Instrumented {
        // Calls that count are most of what it does: loops are left as they are.
        let early = "always-inline,function(sroa<modify-cfg>,early-cse<memssa>)";
        device::run_passes(module, early, machine)?;
        let late = match longest_block(module) > LONGEST_COMBINED_BLOCK {
            true => "function(simplifycfg),globaldce",
            false => "function(instcombine<no-verify-fixpoint>,simplifycfg),globaldce",
        };
        return device::run_passes(module, late, machine);
    }
    let early = "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,\
                 simplifycfg,sroa<modify-cfg>)";
    device::run_passes(module, early, machine)?;
    for function in Value::functions(module) {
        withdraw_parallel_claims(function);
    }
    // Counters of short loops become constants before their masks are hidden.
    let unroll = "function(loop-simplify,lcssa,loop(loop-rotate,indvars,loop-unroll-full),\
                  instcombine<no-verify-fixpoint>,simplifycfg)";
    device::run_passes(module, unroll, machine)?;
    masks::hide_narrow_counters(module);
    // LLVM makes no vectors where it may not use their registers unasked.
    let crowded: Vec<_> = Value::functions(module)
        .into_iter()
        .filter(|function| is_crowded(*function))
        .collect();
    for function in &crowded {
        function.add_attribute(FUNCTION_ATTRIBUTES, "noimplicitfloat", 0);
    }
    device::run_passes(module, "default<O3>", machine)?;
    for function in Value::functions(module) {
        function.remove_attribute(FUNCTION_ATTRIBUTES, "noimplicitfloat");
    }
    Ok(())
}

/// Takes back the claim that the iterations of the loop over threads touch different memory,
/// where a thread has memory of its own (all iterations share one copy), or where threads may
/// communicate.
fn withdraw_parallel_claims(function: Value) {
    let instructions = function.instructions();
    let private = instructions
        .iter()
        .any(|instruction| match instruction.opcode() {
            Some(
                Opcode::LLVMAlloca
                | Opcode::LLVMFence
                | Opcode::LLVMAtomicRMW
                | Opcode::LLVMAtomicCmpXchg,
            ) => true,
            Some(Opcode::LLVMLoad | Opcode::LLVMStore) => {
                instruction.is_atomic() || instruction.is_volatile()
            }
            _ => false,
        });
    if private {
        for instruction in instructions {
            if instruction.has_metadata("llvm.access.group") {
                instruction.remove_metadata("llvm.access.group");
            }
        }
    }
}

fn link<'ctx>(target: &Module<'ctx>, source: Module<'ctx>) -> Result<(), CodegenError> {
    target
        .link_in_module(source)
        .map_err(|message| CodegenError::Llvm(message.to_string()))
}

fn verify(module: &Module) -> Result<(), CodegenError> {
    module
        .verify()
        .map_err(|message| CodegenError::Llvm(message.to_string()))
}

/// Marks a function that the optimiser must inline.
fn always_inline(function: Value) {
    function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
}
