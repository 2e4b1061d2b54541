//! Block partitions of a group -> functions of their own, which the fused kernel calls by its block index.
//!
//! Invariant: in the function of a block partition every read of `blockIdx`, `gridDim`, `threadIdx` and
//! `blockDim` gives what the member would have seen in its own launch; reads that the function itself
//! makes to find that out stand in its first block. Threads beyond a block partition's leave before anything
//! else, and barriers of a block partition that is smaller than the block wait for its own threads by number.

use super::super::elements;
use super::super::launch_bounds;
use super::super::specialisation::Parameter;
use crate::codegen::device::{device_target_machine, is_block_barrier, run_passes};
use crate::codegen::{CodegenError, FusedParameter};
use crate::launch::{Launch, LaunchGraph, ValueId};
use crate::llvm::{Block, Builder, DebugScope, FUNCTION_ATTRIBUTES, Linkage, Opcode, Type, Value};
use crate::math::expression::Expression;
use crate::schedule::{BlockThreads, FusionGroup, ThreadMap};
use inkwell::IntPredicate;
use inkwell::module::Module;

/// A number that is known, or a parameter of the fused kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) enum Number {
    Constant(u64),
    Parameter(usize),
}

impl Number {
    /// The number of a host value; a new parameter when it is not constant and no member is given it.
    pub(in crate::codegen::fused_kernels::fuse) fn of<'ctx>(
        module: &Module<'ctx>,
        expression: &Expression<ValueId>,
        parameters: &mut Vec<Parameter<'ctx>>,
    ) -> Self {
        if let Some(constant) = expression.as_constant() {
            return Self::Constant(constant.cast_unsigned());
        }
        let source = FusedParameter::HostValue {
            expression: expression.clone(),
        };
        let int = Type::integer(module, 32);
        let known = parameters.iter().position(|before| {
            let given = match expression {
                Expression::Leaf(value) => before.ty == int && before.identity == Some(*value),
                _ => false,
            };
            given || before.source == source
        });
        Self::Parameter(known.unwrap_or_else(|| {
            parameters.push(Parameter::number(module, source));
            parameters.len() - 1
        }))
    }

    /// Its value in a function with the kernel's parameters.
    pub(in crate::codegen::fused_kernels::fuse) fn value<'ctx>(
        self,
        module: &Module<'ctx>,
        function: Value<'ctx>,
    ) -> Value<'ctx> {
        match self {
            Self::Constant(constant) => Type::integer(module, 32).constant(constant),
            Self::Parameter(index) => function.parameters()[index],
        }
    }

    pub(in crate::codegen::fused_kernels::fuse) fn is_one(self) -> bool {
        matches!(self, Self::Constant(1))
    }
}

/// Where a block partition stands in the fused grid, and the shape that its members see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct PartitionPosition {
    /// Positions of its members in the group.
    pub(in crate::codegen::fused_kernels::fuse) members: Vec<usize>,
    first: Number,
    grid: [Number; 3],
    /// The block shape, where threads are counted through a row.
    row: Option<[Number; 3]>,
    /// Barriers wait for fewer threads than the block has.
    counts_barriers: bool,
}

/// The places of a group's block partitions, with parameters for what is known at run time only; none for a
/// group that keeps its members' grid.
pub(in crate::codegen::fused_kernels::fuse) fn places<'ctx>(
    module: &Module<'ctx>,
    graph: &LaunchGraph,
    group: &FusionGroup,
    launches: &[&Launch],
    parameters: &mut Vec<Parameter<'ctx>>,
) -> Vec<PartitionPosition> {
    let mut places = Vec::new();
    for members in group.partitions() {
        let ThreadMap::Blocks { first, threads, .. } = &group.members[members[0]].map else {
            return Vec::new();
        };
        let launch = launches[members[0]];
        let mut numbers = |values: &[ValueId; 3]| {
            values.map(|value| Number::of(module, &extent(graph, value), parameters))
        };
        let grid = numbers(&launch.grid);
        let row = (*threads != BlockThreads::Same).then(|| numbers(&launch.block));
        places.push(PartitionPosition {
            first: Number::of(module, first, parameters),
            grid,
            row,
            counts_barriers: *threads == BlockThreads::Row { fills_block: false },
            members,
        });
    }
    places
}

/// A grid or block extent as guards write it.
pub(in crate::codegen) fn extent(graph: &LaunchGraph, value: ValueId) -> Expression<ValueId> {
    graph.extent(value)
}

/// The function of a block partition while bodies are not yet part of it.
pub(in crate::codegen::fused_kernels::fuse) struct PartitionFunction<'ctx> {
    function: Value<'ctx>,
    /// `ctaid`, `nctaid`, `tid` and `ntid` as the members see them, by axis. Threads stay themselves
    /// where they are `None`.
    registers: [Option<[Value<'ctx>; 3]>; 4],
    /// How many threads barriers wait for.
    barrier_threads: Option<Value<'ctx>>,
}

/// Makes the functions of all block partitions and a kernel body that calls the one whose block it is.
/// `write` puts the segments of a block partition where a builder stands, in a function with the kernel's
/// parameters.
pub(in crate::codegen::fused_kernels::fuse) fn write_partitions<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    scope: Option<&DebugScope>,
    places: &[PartitionPosition],
    write: impl Fn(&PartitionPosition, Value<'ctx>, &Builder<'ctx>) -> Result<(), CodegenError>,
) -> Result<Vec<PartitionFunction<'ctx>>, CodegenError> {
    let mut functions = Vec::new();
    let mut here = Block::append(kernel, "entry");
    let location = |builder: &Builder, function: Value| {
        if let Some(scope) = scope {
            scope.cover(function, &function.name(), builder);
        }
    };
    let entry = Builder::at_end(here);
    location(&entry, kernel);
    let block = read_register(module, &entry, "ctaid.x");
    for (number, place) in places.iter().enumerate() {
        let name = format!("{}_partition{number}", kernel.name());
        let partition = partition_function(module, kernel, &name, place);
        let builder = Builder::at_end(Block::append(partition, "entry"));
        location(&builder, partition);
        let made = place.prologue(module, partition, &builder);
        let inside = Block::append(partition, "partition");
        match made.outside {
            Some(outside) => {
                let leave = Block::append(partition, "leave");
                Builder::at_end(leave).ret(None);
                builder.branch_if(outside, leave, inside);
            }
            None => builder.branch(inside),
        }
        builder.continue_in(inside);
        write(place, partition, &builder)?;
        builder.ret(None);
        functions.push(PartitionFunction {
            function: partition,
            registers: made.registers,
            barrier_threads: made.barrier_threads,
        });

        let calls = Block::append(kernel, "calls");
        entry.continue_in(here);
        match places.get(number + 1) {
            Some(next) => {
                here = Block::append(kernel, "next");
                let end = next.first.value(module, kernel);
                let own = entry.is_below(block, end);
                entry.branch_if(own, calls, here);
            }
            None => entry.branch(calls),
        }
        entry.continue_in(calls);
        entry.call(partition.value_type(), partition, &kernel.parameters());
        entry.ret(None);
    }
    Ok(functions)
}

/// A function with the kernel's parameters, to be made part of it.
fn partition_function<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    name: &str,
    place: &PartitionPosition,
) -> Value<'ctx> {
    let ty = kernel.value_type();
    let ty = Type::function(ty.result(), &ty.parameters());
    let function = Value::add_function(module, name, ty);
    function.set_linkage(Linkage::LLVMInternalLinkage);
    kernel.copy_attributes(FUNCTION_ATTRIBUTES, function, FUNCTION_ATTRIBUTES);
    launch_bounds::take_away(function);
    assert!(!place.members.is_empty());
    function
}

/// Makes bodies part of the functions of block partitions, and these part of their kernels. For each kernel
/// whether that could be done: one whose body reads its place in a way that cannot be changed is
/// deleted.
pub(in crate::codegen::fused_kernels::fuse) fn settle<'ctx>(
    module: &Module<'ctx>,
    kernels: &[&str],
    partitions: &[Vec<PartitionFunction<'ctx>>],
) -> Result<Vec<bool>, CodegenError> {
    let machine = device_target_machine("sm_80")?;
    run_passes(module, "always-inline", &machine)?;
    let mut settled = Vec::new();
    for (kernel, functions) in kernels.iter().zip(partitions) {
        let all: Vec<bool> = functions
            .iter()
            .map(|partition| partition.settle(module))
            .collect();
        let whole = !all.contains(&false);
        if !whole && let Some(function) = Value::function(module, kernel) {
            function.delete_function();
        }
        settled.push(whole);
    }
    run_passes(module, "always-inline,globaldce", &machine)?;
    Ok(settled)
}

/// What stands at the beginning of a block partition's function.
struct Prologue<'ctx> {
    registers: [Option<[Value<'ctx>; 3]>; 4],
    barrier_threads: Option<Value<'ctx>>,
    /// Whether the thread is none of the block partition's.
    outside: Option<Value<'ctx>>,
}

impl PartitionPosition {
    fn prologue<'ctx>(
        &self,
        module: &Module<'ctx>,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
    ) -> Prologue<'ctx> {
        let first = self.first.value(module, function);
        let block = read_register(module, builder, "ctaid.x");
        let linear = match self.first {
            Number::Constant(0) => block,
            _ => builder.binary(Opcode::LLVMSub, block, first),
        };
        // The block partition's own blocks follow its first one; what is computed from their numbers is known to be small, then,
        // as it is of registers.
        linear.promise_no_wrap();
        let mut blocks = self.grid.into_iter().map(|number| match number {
            Number::Constant(count) => Some(count),
            Number::Parameter(_) => None,
        });
        let blocks = blocks.try_fold(1_u64, |all, count| all.checked_mul(count?));
        if let Some(blocks) = blocks.filter(|blocks| *blocks <= MOST_BLOCKS) {
            let count = Type::integer(module, 32).constant(blocks);
            elements::assume(module, builder, IntPredicate::ULT, linear, count);
        }
        let value = |number: Number| number.value(module, function);
        let mut registers = [
            Some(coordinates(module, function, builder, linear, self.grid)),
            Some(self.grid.map(value)),
            None,
            None,
        ];
        let (mut barrier_threads, mut outside) = (None, None);
        if let Some(shape) = self.row {
            let thread = read_register(module, builder, "tid.x");
            let count = shape
                .map(value)
                .into_iter()
                .reduce(|count, extent| builder.binary(Opcode::LLVMMul, count, extent));
            registers[2] = Some(coordinates(module, function, builder, thread, shape));
            registers[3] = Some(shape.map(value));
            if let Some(count) = count.filter(|_| self.counts_barriers) {
                barrier_threads = Some(count);
                let inside = builder.is_below(thread, count);
                let flag = Type::integer(module, 1);
                outside = Some(builder.binary(Opcode::LLVMXor, inside, flag.constant(1)));
            }
        }
        Prologue {
            registers,
            barrier_threads,
            outside,
        }
    }
}

/// The most blocks of a grid.
const MOST_BLOCKS: u64 = (1 << 31) - 1;

/// A linear index as x, y and z, x fastest.
pub(in crate::codegen::fused_kernels::fuse) fn coordinates<'ctx>(
    module: &Module<'ctx>,
    function: Value<'ctx>,
    builder: &Builder<'ctx>,
    linear: Value<'ctx>,
    shape: [Number; 3],
) -> [Value<'ctx>; 3] {
    let zero = Type::integer(module, 32).constant(0);
    let split = |index: Value, by: Number| {
        let by = by.value(module, function);
        let quotient = builder.binary(Opcode::LLVMUDiv, index, by);
        let whole = builder.binary(Opcode::LLVMMul, quotient, by);
        (builder.binary(Opcode::LLVMSub, index, whole), quotient)
    };
    let [width, height, depth] = shape;
    if height.is_one() && depth.is_one() {
        return [linear, zero, zero];
    }
    let (x, rest) = match width.is_one() {
        true => (zero, linear),
        false => split(linear, width),
    };
    match (height.is_one(), depth.is_one()) {
        (_, true) => [x, rest, zero],
        (true, false) => [x, zero, rest],
        (false, false) => {
            let (y, z) = split(rest, height);
            [x, y, z]
        }
    }
}

impl<'ctx> PartitionFunction<'ctx> {
    /// Once bodies are part of the function: their reads of registers and their barriers become the
    /// block partition's. False when one of them cannot.
    fn settle(&self, module: &Module<'ctx>) -> bool {
        let mut blocks = self.function.blocks().into_iter();
        // The first block reads the registers of the fused kernel.
        blocks.next();
        let mut settled = true;
        for instruction in blocks.flat_map(Block::instructions) {
            if instruction.opcode() != Some(Opcode::LLVMCall) {
                continue;
            }
            if let Some((template, _)) = instruction.called().inline_assembly() {
                settled &= self.allows_assembly(&template);
                continue;
            }
            let Some(name) = instruction.called_name() else {
                continue;
            };
            if let Some(register) = name.strip_prefix(REGISTER_PREFIX) {
                match self.register(register) {
                    Some(Some(value)) => {
                        instruction.replace_uses_with(value);
                        instruction.erase();
                    }
                    Some(None) => {}
                    None => settled = false,
                }
            } else if is_block_barrier(&name) {
                settled &= self.count_barrier(module, instruction, &name);
            }
        }
        self.function
            .remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        self.function
            .add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        settled
    }

    /// What stands for a register; `Some(None)` when it is the fused kernel's own.
    fn register(&self, name: &str) -> Option<Option<Value<'ctx>>> {
        let (family, axis) = name.split_once('.').unwrap_or((name, ""));
        let axis = ["x", "y", "z"].iter().position(|known| *known == axis);
        let families = ["ctaid", "nctaid", "tid", "ntid"];
        match families.iter().position(|known| *known == family) {
            Some(family) => Some(match &self.registers[family] {
                Some(values) => Some(values[axis?]),
                None => None,
            }),
            // Lanes are those of the same threads.
            None => matches!(
                family,
                "warpsize" | "laneid" | "lanemask" | "envreg1" | "envreg2"
            )
            .then_some(None),
        }
    }

    /// Whether inline assembly means the same in the block partition.
    fn allows_assembly(&self, template: &str) -> bool {
        let has = |words: &[&str]| words.iter().any(|word| template.contains(word));
        let place = has(&["ctaid"]) || self.registers[2].is_some() && has(&["%tid", "%ntid"]);
        let waits = self.barrier_threads.is_some() && has(&["bar.", "barrier"]);
        !place && !waits
    }

    /// Lets a barrier wait for the block partition's threads only.
    fn count_barrier(&self, module: &Module<'ctx>, barrier: Value<'ctx>, name: &str) -> bool {
        let Some(threads) = self.barrier_threads else {
            return true;
        };
        let Some(counted) = name
            .strip_suffix(".all")
            .filter(|name| name.starts_with("llvm.nvvm.barrier.cta."))
        else {
            return false;
        };
        let mut arguments = barrier.call_arguments();
        arguments.insert(1, threads);
        let types: Vec<Type> = arguments.iter().map(|argument| argument.ty()).collect();
        let ty = Type::function(barrier.ty(), &types);
        let name = format!("{counted}.count");
        let intrinsic = Value::function(module, &name)
            .unwrap_or_else(|| Value::add_function(module, &name, ty));
        for attribute in ["convergent", "nounwind"] {
            intrinsic.add_attribute(FUNCTION_ATTRIBUTES, attribute, 0);
        }
        let call = Builder::before(barrier).call(ty, intrinsic, &arguments);
        call.add_call_attribute(FUNCTION_ATTRIBUTES, "convergent");
        barrier.replace_uses_with_or_nothing(call);
        barrier.erase();
        true
    }
}

/// A call that reads a special register.
fn read_register<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    register: &str,
) -> Value<'ctx> {
    let name = format!("{REGISTER_PREFIX}{register}");
    let ty = Type::function(Type::integer(module, 32), &[]);
    let function =
        Value::function(module, &name).unwrap_or_else(|| Value::add_function(module, &name, ty));
    builder.call(ty, function, &[])
}

const REGISTER_PREFIX: &str = "llvm.nvvm.read.ptx.sreg.";
