//! Kernels that run batches one after the other, in the blocks of one cooperative launch.
//!
//! Invariants: a block of the launch goes through those blocks of a batch that have its number, and that number plus
//! the launch's blocks again and again, as blocks of a kernel of several codes do: each sees the indices, the grid and
//! the arguments of its own launch. All its threads have ended one before they begin the next where they share anything.
//! Before the next batch all blocks have ended this one. What a batch is stands in global memory, which the launch alone
//! reads: `struct phase` and `struct phase_slot` of the queue, then records.

use super::super::batch::{Layout, Statement};
use super::super::heterogeneous::{self, Code, REGISTERS, Slice, run_code};
use super::super::launch_bounds::{Demand, MOST_THREADS};
use super::super::phases::link_barrier;
use super::super::{BLOCK_BARRIER, shared_memory_reuse};
use crate::codegen::device::{KERNEL_CALL_CONVENTION, device_target_machine, run_passes};
use crate::codegen::{CodegenError, PhasesKernel};
use crate::llvm::{Block, Builder, DebugScope, FUNCTION_ATTRIBUTES, Linkage, Opcode, Type, Value};
use inkwell::IntPredicate;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet};

/// How statements with one kernel take part in phases.
pub(in crate::codegen::fused_kernels::fuse) struct InPhases {
    /// Their regions, and how many of them each has.
    pub(in crate::codegen::fused_kernels::fuse) regions: BTreeMap<usize, usize>,
    rounds: u32,
}

impl InPhases {
    /// `None` where one of the statements takes no part.
    pub(in crate::codegen::fused_kernels::fuse) fn of(statements: &[&Statement]) -> Option<Self> {
        let rounds = statements.iter().map(|each| each.phase_rounds());
        let rounds = rounds.collect::<Option<Vec<u32>>>()?.into_iter().min()?;
        let mut regions = BTreeMap::new();
        for statement in statements {
            *regions.entry(statement.region()).or_default() += 1;
        }
        Some(Self { regions, rounds })
    }
}

/// Which codes share a kernel: those that may wait in one region, or are met by one another in others. A batch with codes of two
/// kernels is no phase.
pub(in crate::codegen::fused_kernels::fuse) fn choose<'a>(
    codes: impl Iterator<Item = (&'a Code, Option<&'a InPhases>)>,
) -> Vec<Vec<usize>> {
    let in_phases = codes.filter_map(|(code, in_phases)| {
        let regions = in_phases?.regions.clone();
        Some(Code { regions, ..*code })
    });
    let mut in_phases: Vec<Code> = in_phases.collect();
    let regions = in_phases.iter().flat_map(|code| code.regions.keys());
    let mut parts: BTreeMap<usize, usize> = regions.map(|region| (*region, *region)).collect();
    for code in &in_phases {
        let own: BTreeSet<usize> = code.regions.keys().map(|region| parts[region]).collect();
        let Some(first) = own.first().copied() else {
            continue;
        };
        let joined = parts.values_mut().filter(|part| own.contains(*part));
        joined.for_each(|part| *part = first);
    }
    for code in &mut in_phases {
        let mut of_parts = BTreeMap::new();
        for (region, count) in &code.regions {
            *of_parts.entry(parts[region]).or_default() += count;
        }
        code.regions = of_parts;
    }
    heterogeneous::choose(&in_phases, 1)
}

/// A body as a function of where its record and its block are, behind which the threads of the block meet.
pub(in crate::codegen::fused_kernels::fuse) struct Walked<'ctx> {
    slice: Slice<'ctx>,
    meeting: Value<'ctx>,
    rounds: u32,
}

impl<'ctx> Walked<'ctx> {
    /// As [`Slice::build`].
    pub(in crate::codegen::fused_kernels::fuse) fn build(
        module: &Module<'ctx>,
        number: usize,
        code: (Value<'ctx>, Value<'ctx>),
        (layout, in_phases): (&Layout<'ctx>, &InPhases),
    ) -> Self {
        let name = format!("sirius_walked_{number}");
        let slice = Slice::build(module, &name, code, layout);
        let int = Type::integer(module, 32);
        let ty = Type::function(Type::void(module), &[int]);
        let barrier = Value::function(module, BLOCK_BARRIER)
            .unwrap_or_else(|| Value::add_function(module, BLOCK_BARRIER, ty));
        for attribute in ["convergent", "nounwind"] {
            barrier.add_attribute(FUNCTION_ATTRIBUTES, attribute, 0);
        }
        let end = slice.function.blocks().into_iter();
        let end = end.filter_map(Block::terminator).last();
        let builder = match end {
            Some(end) => Builder::before(end),
            None => unreachable!("a slice ends"),
        };
        let meeting = builder.call(ty, barrier, &[int.zero()]);
        meeting.add_call_attribute(FUNCTION_ATTRIBUTES, "convergent");
        Self {
            slice,
            meeting,
            rounds: in_phases.rounds,
        }
    }

    /// After the body has been inlined: threads that share nothing need not meet.
    fn settle(&self, module: &Module<'ctx>) -> bool {
        let function = self.slice.function;
        let instructions = function.instructions();
        let mut others = instructions.iter().filter(|each| **each != self.meeting);
        let meet = others.any(|each| may_meet(*each));
        let share = meet || shared_memory_reuse::is_shared_used(module, function);
        if !share {
            self.meeting.erase();
        }
        self.slice.place()
    }
}

/// Whether the threads of a block may come together at an instruction.
fn may_meet(instruction: Value) -> bool {
    if instruction.opcode() != Some(Opcode::LLVMCall) {
        return false;
    }
    let called = instruction.called();
    !called.is_function() || called.has_attribute(FUNCTION_ATTRIBUTES, "convergent")
}

/// Makes kernels of the chosen codes, whose bodies have been inlined. By the number of a code, the kernel that it is in.
///
/// # Errors
/// When LLVM refuses what was built: our bug.
pub(in crate::codegen::fused_kernels::fuse) fn build<'ctx>(
    module: &Module<'ctx>,
    walked: &BTreeMap<usize, Walked<'ctx>>,
    chosen: &[Vec<usize>],
) -> Result<BTreeMap<usize, PhasesKernel>, CodegenError> {
    let mut kernels = Vec::new();
    for (index, numbers) in chosen.iter().enumerate() {
        let own = numbers.iter().filter_map(|number| {
            let walked = walked.get(number).filter(|each| each.settle(module))?;
            Some((*number, walked))
        });
        let own: Vec<(usize, &Walked)> = own.collect();
        if !own.is_empty() {
            let functions: Vec<Value> = own.iter().map(|(_, each)| each.slice.function).collect();
            let name = format!("sirius_batch_phases_{index}");
            kernels.push((write(module, &name, &functions)?, own));
        }
    }
    for function in walked.values().map(|each| each.slice.function) {
        function.set_linkage(Linkage::LLVMInternalLinkage);
        function.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
    }
    if !walked.is_empty() {
        let passes = "always-inline,globaldce";
        run_passes(module, passes, &device_target_machine("sm_80")?)?;
    }
    let mut of_codes = BTreeMap::new();
    for (kernel, own) in kernels {
        let static_shared_bytes = shared_memory_reuse::shared_bytes(module, kernel);
        if static_shared_bytes > shared_memory_reuse::MOST_SHARED_BYTES {
            kernel.delete_function();
            continue;
        }
        // All blocks are alike, so that each code can have them.
        let threads = own.iter().map(|(_, each)| each.slice.most_threads).min();
        let demands = own.iter().map(|(_, each)| each.slice.demand);
        let demand = demands.fold(Demand::default(), Demand::and);
        demand.bound(kernel, threads.unwrap_or(MOST_THREADS), static_shared_bytes);
        let rounds = own.iter().map(|(_, each)| each.rounds).min();
        let taken = static_shared_bytes.next_multiple_of(MOST_ALIGNMENT);
        let left = shared_memory_reuse::MOST_SHARED_BYTES.saturating_sub(taken);
        for (code, (number, _)) in own.iter().enumerate() {
            let phases = PhasesKernel {
                name: kernel.name(),
                code: code as u32,
                rounds: rounds.unwrap_or_default(),
                dynamic_shared_bytes: left,
            };
            of_codes.insert(*number, phases);
        }
    }
    Ok(of_codes)
}

/// Bytes of `struct phase` and of `struct phase_slot`.
const PHASE_BYTES: u64 = 16;
const SLOT_BYTES: u64 = 32;

/// What a launch brings along begins at a multiple of so many bytes at most.
const MOST_ALIGNMENT: u64 = 1024;

/// The kernel of some codes.
fn write<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    slices: &[Value<'ctx>],
) -> Result<Value<'ctx>, CodegenError> {
    let [byte, int, long] = [8, 32, 64].map(|bits| Type::integer(module, bits));
    let kernel = declare(module, name, slices[0]);
    let block = |name: &str| Block::append(kernel, name);
    let builder = Builder::at_end(block("entry"));
    if let Some(scope) = slices
        .iter()
        .find_map(|slice| DebugScope::of(module, *slice))
    {
        scope.cover(kernel, name, &builder);
    }
    let register = |name: &str| {
        let ty = Type::function(int, &[]);
        let intrinsic =
            Value::function(module, name).unwrap_or_else(|| Value::add_function(module, name, ty));
        builder.call(ty, intrinsic, &[])
    };
    let (memory, count) = (kernel.parameters()[0], kernel.parameters()[1]);
    let (own, resident) = (register(REGISTERS[0]), register(REGISTERS[3]));
    let place = |base: Value<'ctx>, index: Value<'ctx>, bytes: u64| {
        let index = builder.cast(Opcode::LLVMZExt, index, long);
        let at = builder.binary(Opcode::LLVMMul, index, long.constant(bytes));
        builder.element_pointer(byte, base, &[at])
    };
    let behind = |bytes: Value<'ctx>| place(memory, bytes, 1);
    let field = |structure: Value<'ctx>, number: u64| {
        let at = builder.element_pointer(byte, structure, &[long.constant(4 * number)]);
        builder.load_aligned(int, at, 4)
    };
    let one = int.constant(1);
    let names = [
        "phase", "walk", "search", "found", "walked", "done", "again", "end",
    ];
    let [phase, walk, search, found, walked, done, again, end] = names.map(block);
    let entry = builder.block();
    builder.branch(phase);

    builder.continue_in(phase);
    let number = builder.phi(int);
    number.add_incoming(int.zero(), entry);
    let description = place(memory, number, PHASE_BYTES);
    let [slots_at, slots, blocks] = [0, 1, 2].map(|at| field(description, at));
    let first_slot = behind(slots_at);
    builder.branch_if(builder.is_below(own, blocks), walk, done);

    builder.continue_in(walk);
    let linear = builder.phi(int);
    linear.add_incoming(own, phase);
    builder.branch(search);

    // First blocks grow: the last slot that begins before the block is its own.
    builder.continue_in(search);
    let (low, high) = (builder.phi(int), builder.phi(int));
    low.add_incoming(int.zero(), walk);
    high.add_incoming(slots, walk);
    let middle = builder.binary(Opcode::LLVMAdd, low, high);
    let middle = builder.binary(Opcode::LLVMLShr, middle, one);
    let first = field(place(first_slot, middle, SLOT_BYTES), 0);
    let begins = builder.compare(IntPredicate::UGE.into(), linear, first);
    let lower = builder.select(begins, middle, low);
    let upper = builder.select(begins, high, middle);
    let apart = builder.binary(Opcode::LLVMSub, upper, lower);
    builder.branch_if(builder.is_below(one, apart), search, found);
    low.add_incoming(lower, search);
    high.add_incoming(upper, search);

    builder.continue_in(found);
    let slot = place(first_slot, lower, SLOT_BYTES);
    let [first, code, x, y, z, records] = [0, 1, 2, 3, 4, 5].map(|at| field(slot, at));
    let mut rest = builder.binary(Opcode::LLVMSub, linear, first);
    let [column, row, layer] = [x, y, z].map(|extent| {
        let index = builder.binary(Opcode::LLVMURem, rest, extent);
        rest = builder.binary(Opcode::LLVMUDiv, rest, extent);
        index
    });
    let arguments = [behind(records), rest, column, row, layer, x, y, z];
    run_code((kernel, &builder), (code, slices, 0), &arguments, walked);

    builder.continue_in(walked);
    let next = builder.binary(Opcode::LLVMAdd, linear, resident);
    builder.branch_if(builder.is_below(next, blocks), walk, done);
    linear.add_incoming(next, walked);

    builder.continue_in(done);
    let next = builder.binary(Opcode::LLVMAdd, number, one);
    builder.branch_if(builder.is_below(next, count), again, end);

    builder.continue_in(again);
    let barrier = link_barrier(module, &format!("{name}_grid"))?;
    builder.call(barrier.value_type(), barrier, &[]);
    builder.branch(phase);
    number.add_incoming(next, again);

    builder.continue_in(end);
    builder.ret(None);
    Ok(kernel)
}

/// The kernel without what it does, which one of its codes is.
fn declare<'ctx>(module: &Module<'ctx>, name: &str, code: Value<'ctx>) -> Value<'ctx> {
    let int = Type::integer(module, 32);
    let ty = Type::function(Type::void(module), &[Type::pointer(module, 0), int]);
    let kernel = Value::add_function(module, name, ty);
    kernel.set_call_convention(KERNEL_CALL_CONVENTION);
    code.copy_attributes(FUNCTION_ATTRIBUTES, kernel, FUNCTION_ATTRIBUTES);
    kernel.add_attribute(FUNCTION_ATTRIBUTES, "convergent", 0);
    // What one code does is not what all of them do.
    for name in [
        "memory",
        "nosync",
        "nofree",
        "willreturn",
        "noreturn",
        "noinline",
    ] {
        kernel.remove_attribute(FUNCTION_ATTRIBUTES, name);
    }
    kernel
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels of codes with these regions; `None` for one that takes no part.
    fn chosen(codes: &[Option<&[usize]>]) -> Vec<Vec<usize>> {
        let in_phases = codes.iter().map(|regions| {
            let regions = (*regions)?.iter().map(|region| (*region, 1)).collect();
            Some(InPhases { regions, rounds: 8 })
        });
        let in_phases: Vec<Option<InPhases>> = in_phases.collect();
        let code = |number| Code {
            number,
            block: [Some(64), Some(1), Some(1)],
            regions: BTreeMap::new(),
            instructions: 100,
            static_shared_bytes: 0,
        };
        let codes: Vec<Code> = (0..codes.len()).map(code).collect();
        choose(codes.iter().zip(in_phases.iter().map(Option::as_ref)))
    }

    #[test]
    fn regions_with_a_common_code_have_one_kernel() {
        assert_eq!(chosen(&[Some(&[0])]), [[0]]);
        assert_eq!(chosen(&[Some(&[0]), Some(&[1])]), [[0], [1]]);
        assert_eq!(
            chosen(&[Some(&[0]), Some(&[0, 1]), Some(&[1])]),
            [[1, 0, 2]]
        );
        // Regions that others join, whatever comes first.
        let all = [
            Some(&[2, 3][..]),
            Some(&[0, 1]),
            Some(&[1, 2]),
            None,
            Some(&[4]),
        ];
        let mut found = chosen(&all);
        found.iter_mut().for_each(|codes| codes.sort_unstable());
        assert_eq!(found, [vec![0, 1, 2], vec![4]]);
    }
}
