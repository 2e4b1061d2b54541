//! Loops of the host that allocate or free and run a few times, written out.
//!
//! `for (float **p : {&x, &y}) cudaMalloc(p, bytes);` makes two allocations at one place of the program. What tells
//! allocations apart is their place, so that such loops are written out before anybody looks for places; so are those
//! that free, which then name what they free.
//!
//! Invariant: no loop with a launch is written out, and all others keep what the user says of them. Whether a loop
//! runs as often as it seems to here is for LLVM to prove.

use super::super::super::loops::{Loop, loops};
use super::super::super::{ProgramError, passes};
use crate::llvm::{Block, ControlFlow, Opcode, Value};
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

/// LLVM's own form of loops, and the writing out of those that are marked.
const WRITE_OUT: &str = "loop-simplify,lcssa,loop(loop-unroll-full)";

/// So many iterations may a loop have.
const MOST_ITERATIONS: u64 = 32;

/// So many instructions may all iterations of a loop have together.
const MOST_INSTRUCTIONS: u64 = 4_000;

/// Functions that allocate memory of the device, or free it.
const ALLOCATING: [&str; 16] = [
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocAsync_ptsz",
    "cudaMallocPitch",
    "cudaMallocManaged",
    "cudaFree",
    "cudaFreeAsync",
    "cudaFreeAsync_ptsz",
    "cuMemAlloc",
    "cuMemAlloc_v2",
    "cuMemAllocAsync",
    "cuMemAllocAsync_ptsz",
    "cuMemFree",
    "cuMemFree_v2",
    "cuMemFreeAsync",
    "cuMemFreeAsync_ptsz",
];

/// Writes out the short loops of a function that allocate or free; tells whether there were any.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses a pipeline.
pub(in crate::program) fn write_out(
    host: &Module<'_>,
    function: Value,
    machine: &TargetMachine,
) -> Result<bool, ProgramError> {
    let Some(flow) = ControlFlow::of(function) else {
        return Ok(false);
    };
    let chosen: Vec<Loop> = loops(&flow).into_iter().filter(Loop::is_chosen).collect();
    if chosen.is_empty() {
        return Ok(false);
    }
    for (latch, header) in flow.back_edges() {
        let Some(end) = latch.terminator() else {
            continue;
        };
        let wanted = chosen.iter().any(|of| of.header == header);
        end.hold_unrolling(host, wanted);
    }
    let written = passes::run_on_function(function, WRITE_OUT, machine);
    for end in function.blocks().into_iter().filter_map(Block::terminator) {
        end.release_unrolling(host);
    }
    written.map(|()| true)
}

impl<'ctx> Loop<'ctx> {
    /// Whether it allocates or frees, launches nothing, and seems to be short.
    fn is_chosen(&self) -> bool {
        let instructions: Vec<Value> = self
            .blocks
            .iter()
            .flat_map(|block| block.instructions())
            .collect();
        let called = || instructions.iter().filter_map(|call| call.called_name());
        let allocates = called().any(|name| ALLOCATING.contains(&name.as_str()));
        // What is called through a pointer may launch as well.
        let launches = |call: &Value| match call.called_name() {
            Some(name) => may_launch(&name),
            None => call.is_call(),
        };
        let size = instructions.len() as u64;
        allocates
            && !instructions.iter().any(launches)
            && self.iterations().is_some_and(|count| {
                count <= MOST_ITERATIONS && count.saturating_mul(size) <= MOST_INSTRUCTIONS
            })
    }

    /// How often it would run if it were left by a test of a counter alone.
    fn iterations(&self) -> Option<u64> {
        let outside: Vec<Value> = self
            .blocks
            .iter()
            .filter_map(|block| block.terminator())
            .filter(|end| {
                let mut next = end.successors().into_iter();
                next.any(|next| !self.blocks.contains(&next))
            })
            .collect();
        let tests = outside.iter().flat_map(|end| end.operands());
        tests.filter_map(|test| self.counted(test)).min()
    }

    /// How often it runs where this comparison ends it.
    fn counted(&self, test: Value) -> Option<u64> {
        (test.opcode() == Some(Opcode::LLVMICmp)).then_some(())?;
        let [left, right] = test.operands().try_into().ok()?;
        [(left, right), (right, left)]
            .into_iter()
            .find_map(|(counter, bound)| {
                let counter = Displacement::of(counter);
                let phi = counter.base.filter(|base| self.is_own_phi(*base))?;
                let (first, next) = self.incoming(phi)?;
                let (first, next, bound) = (
                    Displacement::of(first),
                    Displacement::of(next),
                    Displacement::of(bound),
                );
                let step = next.less(&Displacement::of(phi))?;
                let distance = bound.less(&first)?;
                let count = distance.unsigned_abs().div_ceil(step.unsigned_abs().max(1));
                (step != 0).then_some(count)
            })
    }
}

/// Whether a function of this name may launch a kernel.
fn may_launch(name: &str) -> bool {
    name.starts_with("sirius.")
        || name.contains("Launch")
        || super::super::super::canonicalise_host::is_device_library(name)
}

/// A value as a constant distance from another; no other: a number.
struct Displacement<'ctx> {
    base: Option<Value<'ctx>>,
    distance: i64,
}

impl<'ctx> Displacement<'ctx> {
    fn of(value: Value<'ctx>) -> Self {
        if let Some(number) = value.signed_integer() {
            return Self {
                base: None,
                distance: number,
            };
        }
        let here = Self {
            base: Some(value),
            distance: 0,
        };
        let added = match value.opcode() {
            Some(Opcode::LLVMAdd) => value.operands().get(1).and_then(|by| by.signed_integer()),
            Some(Opcode::LLVMGetElementPtr) => bytes_added(value),
            _ => None,
        };
        match (added, value.operands().first()) {
            (Some(added), Some(from)) => {
                let from = Self::of(*from);
                Self {
                    base: from.base,
                    distance: from.distance.wrapping_add(added),
                }
            }
            _ => here,
        }
    }

    fn less(&self, other: &Self) -> Option<i64> {
        let same = self.base == other.base;
        same.then(|| self.distance.checked_sub(other.distance))?
    }
}

/// The bytes that an address in canonical form, one constant index over bytes, adds.
fn bytes_added(address: Value) -> Option<i64> {
    let [_, index] = address.operands().try_into().ok()?;
    let bytes = address.element_pointer_source_type().word_bytes()?;
    index.signed_integer()?.checked_mul(bytes)
}
