//! Device IR -> [`KernelModel`]: iteration domain, access relations, barriers, features.
//!
//! A model over-approximates what one launch of the kernel may do to memory. Invariant: every
//! byte that an execution reads or writes through global, constant or shared memory is covered by
//! an [`Access`] of the model at that block, thread and loop iteration, *provided that* all of the
//! model's [`KernelModel::preconditions`] hold for the launch. What is not understood is an access
//! with `subscript: None` (anywhere in the buffer) or `target: Target::Unknown` (anywhere), or a
//! reason in [`KernelModel::opaque`]; never silence. A kernel whose accesses are complete, but whose
//! other effects a fused kernel could not be proven to keep (fences, clocks, named barriers, …), has
//! a reason in [`KernelModel::unfusable`]: its neighbours see what it really touches.
//!
//! Inline PTX is read instruction by instruction. Tiles that a warp loads or stores together
//! (`wmma`) are ranges of rows that each of its threads may touch: a loop of the model, behind those
//! of the control flow, counts the rows.
//!
//! Barriers cut a kernel into *intervals* ([`Intervals`]): each access has the set of those that it
//! may be in, in loops an over-approximation. [`KernelModel::virtual_dependences`] order statements
//! around barriers, and [`KernelModel::local_dependences`] are what the barriers are for: pairs of
//! accesses of different threads of one block, with the barrier that keeps them apart.
//!
//! Memory effects are summed bottom-up: the accesses are those of a thread, [`BlockEffect`]s those of
//! a block, [`Footprint`]s those of the kernel, each with the bytes that it stays within.
//!
//! Products of a variable with a run-time parameter (`blockIdx.x * blockDim.x`, `row * columns`,
//! `iteration * gridDim.x * blockDim.x`) are not affine. They are kept as [`Product`]s: an extra
//! dimension `q = e · p`, about which the dependence stage knows, for two instances with the same
//! parameter value p ≥ 0, that `e < e'` implies `q + p <= q'`, `e = e'` implies `q = q'` and
//! `e > e'` implies `q >= q' + p`. This is the block base of the design and delinearisation alike.
//!
//! [`read`] reads LLVM's function. [`walk`] makes affine expressions of values, [`path_conditions`] domains of branches,
//! [`access`] accesses; what calls, fences and inline PTX do stands in [`features`] and [`assembly`].

mod values;
mod domains;
mod accesses;
mod barriers;
mod reading;
mod unfusable;
mod class;
mod display;
mod model;
#[cfg(test)]
mod soundness;

use accesses::{access, address, effects, footprint, kept_pointers, privacy, reduction};
use barriers::{dependency_wait, emptiness, exchange, intervals, rehearsal};
use domains::{domain, in_step, lanes, never_taken, path_conditions, sides, uniformity};
pub use reading::ptx;
use reading::{assembly, body, cfg, features, read, tensor};
use values::{bitwise, bounded, induction, polynomial, ranges, space, walk};

pub use assembly::{computes_from_operands, only_computes};
pub use body::Tables;
pub use class::class_of;
pub use dependency_wait::{DependencyWaits, EarlyAccess, TRIGGER, WAIT, dependency_waits};
pub use effects::BlockSet;
pub use exchange::Exchange;
pub use intervals::{Hazard, Intervals, LocalDependence, Span, Statement};
pub use reduction::{Reduction, ReductionOperator};
pub use sides::Side;
pub use unfusable::Unfusable;

use crate::diagnostics::Location;
use crate::launch::BEHIND_POINTER;
use crate::math::affine::{Affine, Axis, Constraints};
use crate::math::expression::{Condition, Expression};
use crate::program::{Kernel, KernelId, Program, ProgramError, operation_name};
use body::Body;
use inkwell::values::FunctionValue;
use serde::{Deserialize, Serialize};

/// Models every kernel of a program, in the order of [`Program::kernels`]. `tables` says which pointers that they load
/// are taken for constants; whoever relies on the models has to see to that.
pub fn model_kernels(program: &Program<'_>, tables: &Tables) -> Vec<KernelModel> {
    let kernels = program.kernels.iter();
    kernels
        .map(|kernel| model_of(program, kernel, tables.clone()))
        .collect()
}

/// Has threads that have ended wait at the barriers of kernels of which a block may come to them in part, and models these
/// kernels anew. What lanes exchange is to be known by then: it is about the kernels as they are written.
///
/// # Errors
/// As [`Program::let_ended_threads_wait`].
pub fn let_ended_threads_wait(
    program: &mut Program<'_>,
    models: &mut [KernelModel],
    architecture: u32,
) -> Result<(), ProgramError> {
    // Lanes that have ended would wait at a barrier for those that wait for them elsewhere.
    let is_missed = |model: &&KernelModel| {
        model.barriers.iter().any(|barrier| !barrier.uniform) && model.missed_by_lanes.is_empty()
    };
    let kernels = models.iter().filter(is_missed).map(|model| model.id);
    let changed = program.let_ended_threads_wait(&kernels.collect(), architecture)?;
    for model in models {
        if changed.contains(&model.id) {
            *model = model_of(program, &program.kernels[model.id.0], Tables::Unknown);
        }
    }
    Ok(())
}

/// The model of one kernel of a program, as [`model_kernels`] has it.
pub fn model_of(program: &Program<'_>, kernel: &Kernel, tables: Tables) -> KernelModel {
    let Some(body) = body_of(program, kernel) else {
        return model::absent(kernel.id, &kernel.name);
    };
    let body = Body { tables, ..body };
    let mut model = model::model_written_body(&body, kernel.id, &kernel.name);
    model.iteration_of = kernel.iteration_of;
    if let Some(name) = operation_name(&kernel.name) {
        model.display_name = name.to_owned();
    }
    model.opaque.extend(hidden_variable(program, &model));
    model.opaque.extend(other_code(program, kernel, &model));
    model.opaque.extend(mapped_memory(program, &model));
    model
}

/// The exchanges of one kernel of a program, in a model that has its accesses to shared memory alone, and nothing that sums
/// them up. It takes a small part of the time of [`model_of`].
pub fn exchanges_of(program: &Program<'_>, kernel: &Kernel) -> KernelModel {
    let mut model = match body_of(program, kernel) {
        Some(body) => model::exchanges_of_body(&body, kernel.id, &kernel.name),
        None => model::absent(kernel.id, &kernel.name),
    };
    if let Some(name) = operation_name(&kernel.name) {
        model.display_name = name.to_owned();
    }
    model
}

/// What a kernel does, where the program has it.
fn body_of(program: &Program<'_>, kernel: &Kernel) -> Option<Body> {
    let function = program.analysis.get_function(&kernel.unique_name);
    let function = function.filter(|function| function.count_basic_blocks() > 0)?;
    Some(read::read_body(function))
}

/// In a program that may put one piece of memory at several addresses no place that a kernel touches is known.
fn mapped_memory(program: &Program<'_>, model: &KernelModel) -> Option<(String, Location)> {
    let function = program.mapping_function?;
    let clause =
        format!("may touch memory that has several addresses, as the program calls {function}");
    Some((clause, model.location.clone()))
}

/// A kernel whose code is another for a newer architecture: this model is that of the oldest.
fn other_code(
    program: &Program<'_>,
    kernel: &Kernel,
    model: &KernelModel,
) -> Option<(String, Location)> {
    let unit = program.units.get(kernel.unit)?;
    let target = unit.differing.get(&kernel.name)?;
    let clause = format!("is other code for sm_{target} (it asks for __CUDA_ARCH__)");
    Some((clause, model.location.clone()))
}

/// A device variable without a shadow on the host: its address cannot be given to another image,
/// so its kernels stay in theirs.
fn hidden_variable(program: &Program<'_>, model: &KernelModel) -> Option<(String, Location)> {
    model.accesses.iter().find_map(|access| {
        let Target::Global(name) = &access.target else {
            return None;
        };
        let known = program
            .variables
            .iter()
            .any(|variable| variable.unique_name == *name);
        let fixed = program
            .analysis
            .get_global(name)
            .is_some_and(|global| global.is_constant() && global.get_initializer().is_some());
        (!known && !fixed).then(|| {
            let clause = format!("uses the device variable `{name}`, which the host cannot name");
            (clause, access.location.clone())
        })
    })
}

/// Models one kernel function in canonical form, but for its exchanges; `name` is the mangled name in its unit.
pub fn model_kernel(function: FunctionValue<'_>, id: KernelId, name: &str) -> KernelModel {
    model_kernel_with_tables(function, id, name, Tables::Unknown)
}

/// The same where something is known of pointers that the kernel loads.
pub fn model_kernel_with_tables(
    function: FunctionValue<'_>,
    id: KernelId,
    name: &str,
    tables: Tables,
) -> KernelModel {
    let body = Body {
        tables,
        ..read::read_body(function)
    };
    model::model_body(&body, id, name)
}

/// The same, of a kernel of no program, without [`KernelModel::footprints`] and [`KernelModel::block_effects`], which take most of the
/// time. What is changed within a kernel is judged by single accesses, and anew with each change.
pub fn model_accesses(function: FunctionValue<'_>, name: &str, tables: Tables) -> KernelModel {
    let body = Body {
        tables,
        ..read::read_body(function)
    };
    model::accesses_of_body(&body, KernelId(0), name)
}

/// The same with accesses to shared memory alone, for what is judged by these: most of the rest is spent on other memory.
pub fn model_shared_accesses(function: FunctionValue<'_>, name: &str) -> KernelModel {
    model::shared_accesses_of_body(&read::read_body(function), KernelId(0), name)
}

/// A pointer of a kernel, as [`Target::Argument`] has it: position among the parameters, and bytes behind its begin.
pub type ArgumentPointer = (usize, u32);

/// Index of an access in [`KernelModel::accesses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AccessId(pub usize);

/// A uniform value that a launch gives to a kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum KernelSymbol {
    /// `gridDim` on an axis, at least 1.
    GridSize(Axis),
    /// `blockDim` on an axis, at least 1.
    BlockSize(Axis),
    /// The integer of `bits` bits at byte `offset_bytes` of kernel argument `argument`, read as
    /// `signed` or unsigned. Scalars have offset 0; fields of structs passed by value have theirs.
    Argument {
        /// Position among the kernel's parameters.
        argument: usize,
        /// Byte offset within the argument.
        offset_bytes: u32,
        /// Width, 8 to 64.
        bits: u32,
        /// Two's complement or unsigned reading.
        signed: bool,
    },
    /// Some value that is the same for all threads of one launch, and unknown. Two launches never
    /// share one.
    Opaque(usize),
}

/// `q = factor · parameter`, evaluated at each instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// The multiplied expression; may mention products of smaller index.
    pub factor: Affine,
    /// Index into [`KernelModel::parameters`]. Negative values are excluded by a precondition.
    pub parameter: usize,
}

/// A dimension inside a thread: `Variable::Loop(n)` counts the iterations of a natural loop from 0,
/// or is a quotient by a run-time value, which is at least 0 too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// The enclosing loop, always of smaller index.
    pub parent: Option<usize>,
    /// True when all threads of a block run the same number of iterations.
    pub uniform_in_block: bool,
    /// The loop's place in the source.
    pub location: Location,
    /// For a dimension that is no loop: what it is. Domains that mention it say as much.
    pub quotient: Option<Quotient>,
    /// For a dimension that is a number of which only bounds are known.
    #[serde(default)]
    pub unknown: Option<Unknown>,
}

/// A number that is `least + dimension`, the dimension at least 0 and otherwise bounded by the
/// domains that mention it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// Which value of the kernel's body it is, for messages and tests.
    pub value: usize,
    /// Its bound from below.
    pub least: Affine,
}

/// `floor(dividend / divisor)`, of a dividend that is not negative and a uniform positive divisor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quotient {
    /// What is divided.
    pub dividend: Affine,
    /// What it is divided by.
    pub divisor: Affine,
}

/// What an access touches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Target {
    /// Memory reached from the pointer at `offset_bytes` of kernel argument `argument`.
    Argument {
        /// Position among the kernel's parameters.
        argument: usize,
        /// Byte offset of the pointer within the argument (structs by value), else 0; from
        /// [`BEHIND_POINTER`] on the pointer stands in memory, so many bytes behind the place that the argument
        /// leads to, and nobody changes it while the kernel runs.
        offset_bytes: u32,
    },
    /// A `__device__`, `__managed__` or `__constant__` variable, by its name in the device module.
    Global(String),
    /// A shared variable, by its name in the device module; dynamic shared memory is one variable.
    Shared(String),
    /// Could be any global memory.
    Unknown,
    /// Could be any shared memory of the block.
    UnknownShared,
}

impl Target {
    /// The argument behind which the pointer to it stands in a table, and how far.
    pub fn behind_argument(&self) -> Option<(usize, u32)> {
        match self {
            Self::Argument {
                argument,
                offset_bytes,
            } => Some((*argument, offset_bytes.checked_sub(BEHIND_POINTER)?)),
            _ => None,
        }
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AccessKind {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// An atomic update whose result is unused, by an operator that takes part of the cell's value
    /// along: reads and writes, but the order among those of one exact operator does not matter.
    Reduction(Reduction),
    /// Any other atomic: reads and writes.
    Atomic,
}

/// One load, store, atomic or memory intrinsic of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Its index. Of two accesses in one iteration of the loops around both, the one with the larger
    /// index never comes before the other.
    pub id: AccessId,
    /// Read, write, or both.
    pub kind: AccessKind,
    /// What it touches.
    pub target: Target,
    /// First byte touched, relative to the target's start; `None`: anywhere in it.
    pub subscript: Option<Affine>,
    /// Bytes touched from there; meaningless without a subscript.
    pub size_bytes: u32,
    /// The instances that may execute it (over-approximation when not `exact`), over block, thread,
    /// the loops in `loops`, products and parameters.
    pub domain: Constraints,
    /// Enclosing loops, outermost first, then the quotients that are mentioned.
    pub loops: Vec<usize>,
    /// True when domain and subscript are exactly what is executed.
    pub exact: bool,
    /// For an inexact access: what was not understood, in a few words; else empty.
    pub why_inexact: String,
    /// A load that the device may serve from a non-coherent path (`!invariant.load`).
    pub invariant_load: bool,
    /// A `volatile` access.
    pub volatile: bool,
    /// Half of an asynchronous copy (`cp.async`): it happens at any time between the place where it
    /// stands and the thread's next wait for all its copies, or the end of the kernel.
    #[serde(default)]
    pub asynchronous: bool,
    /// How many instructions stand before it in the function's text, ends of blocks left out.
    #[serde(default)]
    pub place: usize,
    /// Its place in the source.
    pub location: Location,
}

/// A block-wide barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Barrier {
    /// Proven that all live threads of a block reach it together, and that no thread has returned
    /// before it.
    pub uniform: bool,
    /// Where that is not proven: it holds of a launch that does not write to what these targets lead to, since it
    /// hangs on loads from there that all threads of a block make alike. Empty: that does not help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uniform_while_unwritten: Vec<Target>,
    /// Where it is not proven: it holds of a launch that satisfies all of these. Empty: none is known to be enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached_if: Vec<Condition<KernelSymbol>>,
    /// Enclosing loops, outermost first.
    pub loops: Vec<usize>,
    /// How many barriers stand before it in the function's text, whatever runs first.
    #[serde(default)]
    pub place: usize,
    /// Its place in the source.
    pub location: Location,
}

/// An operation of the threads of a warp together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpOperation {
    /// Proven to be reached by all threads of the block together.
    pub uniform: bool,
    /// Enclosing loops, outermost first.
    pub loops: Vec<usize>,
    /// How many of the kernel's accesses stand before it, in program order.
    pub accesses_before: usize,
}

impl KernelModel {
    /// Where threads wait that are not to go on without others: barriers, then operations of warps that lanes may miss.
    pub fn waits(&self) -> impl Iterator<Item = &Barrier> {
        self.barriers.iter().chain(&self.missed_by_lanes)
    }
}

/// A parameter of the kernel function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelParameter {
    /// Its name in the source; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Size in parameter space.
    pub size_bytes: u32,
    /// Alignment in parameter space.
    pub align_bytes: u32,
    /// True for a plain pointer.
    pub is_pointer: bool,
    /// The kernel may keep the pointer itself in memory, or one inside of it, where others find it.
    #[serde(default)]
    pub captured: bool,
}

/// The uniform bounds within which an access stays, relative to its target's start: what a guard
/// compares when two pointers may overlap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// The argument or global that is touched.
    pub target: Target,
    /// First byte that may be touched, `None` when unbounded.
    pub low_bytes: Option<Expression<KernelSymbol>>,
    /// One past the last byte that may be touched, `None` when unbounded.
    pub high_bytes: Option<Expression<KernelSymbol>>,
    /// The columns of a matrix that the bytes lie in, where rows were found.
    pub columns: Option<Columns>,
    /// Whether any access to the target writes.
    pub written: bool,
}

/// Columns of a matrix: rows begin at each multiple of the pitch, from the target's start, and each byte lies
/// between the bounds from the start of some row. The bounds need not lie inside the row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns<S = KernelSymbol> {
    /// How many bytes lie between the beginnings of rows that follow each other. It may turn out not to be positive: then
    /// nothing is said.
    pub pitch_bytes: Expression<S>,
    /// First byte of the columns, from the start of a row.
    pub low_bytes: Expression<S>,
    /// One past their last byte, from the start of the same row.
    pub high_bytes: Expression<S>,
}

/// A value that is the same for all threads of a block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BlockSymbol {
    /// `blockIdx` on an axis.
    Index(Axis),
    /// A value of the launch.
    Launch(KernelSymbol),
}

/// What one block reads, or writes, of one buffer or shared variable: the sum over its threads.
/// Updates read and write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockEffect {
    /// What is touched.
    pub target: Target,
    /// It is written, rather than read.
    pub writes: bool,
    /// By which accesses.
    pub accesses: Vec<AccessId>,
    /// A lower bound of the bytes that may be touched, relative to the target's start; `None` when
    /// unbounded.
    pub low_bytes: Option<Expression<BlockSymbol>>,
    /// An upper bound, one past the last byte; `None` when unbounded.
    pub high_bytes: Option<Expression<BlockSymbol>>,
    /// All accesses are exact: [`KernelModel::block_set`] tells what *is* touched, otherwise what
    /// may be.
    pub exact: bool,
}

/// Everything the rest of the compiler knows about a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelModel {
    /// Its id.
    pub id: KernelId,
    /// The kernel of which it runs one iteration, `blockIdx.x`, where the compiler made it so ([`Kernel::iteration_of`]): in
    /// launches along x alone, that runs all those from 0 to below the bound that stands in the domains of all that this one
    /// writes, each once and in any order, and does nothing else but loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration_of: Option<KernelId>,
    /// Mangled name.
    pub name: String,
    /// Name as the user wrote it, demangled, without parameters.
    pub display_name: String,
    /// Where its definition stands.
    pub location: Location,
    /// Its formal parameters.
    pub formals: Vec<KernelParameter>,
    /// The uniform values that expressions mention; `Variable::Parameter(n)` is the n-th.
    pub parameters: Vec<Expression<KernelSymbol>>,
    /// Its loops, outer before inner, then its quotients.
    pub loops: Vec<Loop>,
    /// Its products.
    pub products: Vec<Product>,
    /// Its accesses to global, constant and shared memory, in program order.
    pub accesses: Vec<Access>,
    /// Its block-wide barriers, in program order.
    pub barriers: Vec<Barrier>,
    /// Between which barriers each access and barrier may stand.
    pub intervals: Intervals,
    /// Per argument or global that is accessed, where: effects of the whole kernel.
    pub footprints: Vec<Footprint>,
    /// Per target, what a block reads and what it writes: effects of a block.
    #[serde(default)]
    pub block_effects: Vec<BlockEffect>,
    /// What a launch must satisfy for the model to hold: no wrap of 32-bit indices, no negative
    /// product parameter, …. Each is needed.
    pub preconditions: Vec<Condition<KernelSymbol>>,
    /// Reasons why it is not known what the kernel touches (each a short clause: "calls f, whose
    /// body is not known"), with their places. Empty for a modelled kernel; others are never fused
    /// and may touch anything.
    pub opaque: Vec<(String, Location)>,
    /// Reasons why the kernel fuses with nothing although its accesses are complete, with their places.
    pub unfusable: Vec<(Unfusable, Location)>,
    /// Executes warp-collective operations.
    pub warp_operations: bool,
    /// Where these stand.
    #[serde(default)]
    pub warp_operation_sites: Vec<WarpOperation>,
    /// Those of them for which lanes may wait that have ended, or never come: to them a kernel whose threads go on is as to a
    /// barrier that some threads miss. How they are reached is said as of barriers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed_by_lanes: Vec<Barrier>,
    /// What the lanes of a warp hand to each other in shared memory with nothing that orders them.
    #[serde(default)]
    pub exchanges: Vec<Exchange>,
    /// Starts copies that may be under way when the last statement has been executed; the end of
    /// the kernel waits for them.
    pub asynchronous_copies: bool,
    /// Prints, asserts or traps: an effect that the host can see.
    pub prints: bool,
    /// What it does may depend on addresses, beside which bytes it touches: it compares pointers, makes integers
    /// of them or stores them.
    pub reads_addresses: bool,
    /// For x, y and z: whether threads that differ only in this index may do different things.
    /// Where not, the kernel never reads the index and nothing in it counts threads: such threads
    /// run in step, and a racy `x[i] += a` adds once for all of them.
    pub distinguishes_threads: [bool; 3],
    /// Bytes of static shared memory.
    pub static_shared_bytes: u64,
    /// Uses dynamic shared memory.
    pub dynamic_shared: bool,
    /// `__launch_bounds__` maximum of threads a block, when given.
    pub max_threads: Option<u32>,
}
