//! The host side of fusion: members move down to the last one's place, behind a guard.
//!
//! Invariants. A launch that moves is never lost: from its old place on it is *pending* (unless CUDA
//! would refuse it, then it is issued there, for its error), and every edge that leaves the region
//! between the first and the last member issues what is pending, unfused and in order, before anything
//! else happens there. Its operands are taken at its old place, structs passed in memory by copy. At
//! the last member's place the group function tests the guards and launches either the fused kernel or
//! the originals in order.

use super::super::awaited_copies::let_copies_wait;
use super::super::batches::{self, Waiting};
use super::super::frame::{FrameLayout, Passed, STACK_ALIGNMENT_BYTES};
use super::super::group::{GroupFunctions, LoopCalls, LoopValues, Part};
use super::super::launch_call::{
    Launcher, OPERANDS_BEFORE_ARGUMENTS, by_value_type, is_launch_function,
};
use super::super::leaving::{issue, issue_where_left};
use super::super::overlap::keep_last_launches;
use super::super::region::{HostFlow, blocks_of, exits_of_regions};
use super::super::reserve::{PassedPointer, Reservations};
use super::super::shared_functions::SharedFunctions;
use super::super::tables::let_copies_tell;
use super::super::{BatchKernel, CodegenError, FusedKernel};
use crate::dependence::Guard;
use crate::kernel::KernelModel;
use crate::launch::{Launch, LaunchGraph, LaunchId, NodeKind};
use crate::program::{Program, operation_call};
use crate::schedule::{FusionGroup, FusionPlan};
use crate::verify::VerifiedPlan;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode,
    InstructionValue, IntValue, PointerValue,
};
use std::collections::{BTreeMap, HashMap};

/// Rewrites the launches of every group of `plan` in [`Program::host`]. `fused` names the fused
/// kernel of each group; `reservations` the allocations that originals have to make real.
///
/// # Errors
/// When the plan and the host module do not fit together: our bug.
pub fn rewrite_launches(
    program: &Program<'_>,
    graph: &LaunchGraph,
    models: &[KernelModel],
    plan: &VerifiedPlan,
    (fused, batches, reservations): (&[FusedKernel], &[BatchKernel], &Reservations),
    launcher: &Launcher,
) -> Result<(), CodegenError> {
    let values = LoopValues::of(program, graph, plan.plan(), fused)?;
    let waiting = Waiting::all(plan.plan(), batches);
    let of_plan = || {
        let all = plan.plan().groups.as_slice();
        fused.iter().filter_map(|kernel| all.get(kernel.group))
    };
    let follows = keep_last_launches(program, graph, of_plan(), &launch_calls(program), launcher)?;
    // Their numbers are those of the calls as they are now.
    let all_operations = calls_of_operations(program);
    let operations = operation_calls(&all_operations, graph);
    let_copies_wait(program, graph, of_plan(), &all_operations)?;
    let_copies_tell(program, graph, &all_operations)?;
    if !waiting.is_empty() {
        batches::rewrite_regions(program, graph, models, plan.plan(), &waiting)?;
    }
    let mut calls = launch_calls(program);
    calls.extend(operations);
    let launches: HashMap<LaunchId, (usize, &Launch)> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((launch.id, (node.id.0, launch))),
            _ => None,
        })
        .collect();
    let mut moving = Vec::new();
    for kernel in fused {
        // Those of fallbacks stand in the code of the group that may be refused.
        let Some(group) = plan.plan().groups.get(kernel.group) else {
            continue;
        };
        let members = group
            .members
            .iter()
            .map(|member| {
                let missing =
                    || CodegenError::Inconsistent(format!("no launch {}", member.launch.0));
                let call = *calls.get(&member.launch).ok_or_else(missing)?;
                let (_, launch) = *launches.get(&member.launch).ok_or_else(missing)?;
                let call = match graph.operation_of(member.launch) {
                    Some(_) => MemberCall::of_operation(program, call, launch),
                    None => MemberCall::new(call, launch),
                };
                call?.with_memory(program, reservations)
            })
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(of_loop) = loop_calls((graph, &all_operations), group, kernel)? {
            let of_group = GroupFunctions {
                program,
                models,
                number: kernel.group,
                members: &members,
                layout: &FrameLayout::of(program, &members),
            };
            of_group.run_ahead(graph, &of_loop, &values, launcher)?;
            continue;
        }
        let last = group.members.last();
        let last = last.ok_or_else(|| CodegenError::Inconsistent("empty group".into()))?;
        let own = Moving {
            group,
            kernel,
            layout: FrameLayout::of(program, &members),
            members,
            follows: follows.get(&last.launch).copied(),
            waiting: waiting.iter().find(|each| each.launch() == last.launch),
            parts: parts(plan.plan(), kernel.group, fused),
            in_loop: group.members.iter().any(|member| {
                let block = launches
                    .get(&member.launch)
                    .map(|(node, _)| graph.nodes[*node].block);
                block.is_none_or(|block| graph.blocks[block.0].innermost_loop.is_some())
            }),
            others: Vec::new(),
        };
        let mut known = moving.iter_mut();
        match known.find(|known: &&mut Moving<'_, '_>| known.begins_with(own.group)) {
            Some(known) => known.others.push(own),
            None => moving.push(own),
        }
    }
    let frames = frames(program, &moving)?;
    let mut flows = HashMap::new();
    let mut flushes: BTreeMap<(usize, usize), Vec<Flush<'_>>> = BTreeMap::new();
    let mut shared = SharedFunctions::default();
    let place = |moving: &Moving<'_, '_>| {
        let last = &moving.members[moving.members.len() - 1];
        (launches[&last.launch.id].0, moving.kernel.group)
    };
    let mut in_order: Vec<_> = moving.iter().zip(frames).collect();
    // A call that several groups guard issues what pends in the order of their places.
    in_order.sort_by_key(|(moving, _)| place(moving));
    for (moving, frame) in in_order {
        let last = &moving.members[moving.members.len() - 1];
        let host = last.block.get_parent();
        let host = host.ok_or_else(|| detached(last.launch.id))?;
        let flow = flows.entry(host).or_insert_with(|| HostFlow::of(host));
        let stages = (program, graph, models);
        let flush = move_group(stages, moving, frame, launcher, flow, &mut shared)?;
        flushes.entry(place(moving)).or_default().extend(flush);
    }
    shared.leave_seldom_run();
    issue_pending(program, flushes.into_values().flatten().collect())
}

/// The groups of a group's fallback that have kernels.
fn parts<'a>(plan: &'a FusionPlan, group: usize, fused: &'a [FusedKernel]) -> Vec<Part<'a>> {
    let numbered = plan.fallback_of(group).zip(&plan.groups[group].fallback);
    let with_kernel = numbered.filter_map(|(number, group)| {
        let kernel = fused.iter().find(|kernel| kernel.group == number)?;
        Some(Part { group, kernel })
    });
    with_kernel.collect()
}

/// The calls of a group's host loop, where its iterations run ahead.
fn loop_calls<'a, 'ctx>(
    (graph, operations): (&'a LaunchGraph, &[InstructionValue<'ctx>]),
    group: &'a FusionGroup,
    kernel: &'a FusedKernel,
) -> Result<Option<LoopCalls<'a, 'ctx>>, CodegenError> {
    let Some(tested) = &group.tested_loop else {
        return Ok(None);
    };
    let broken = || CodegenError::Inconsistent("a host loop has no test".into());
    let test = graph.loop_tests.get(&tested.host_loop);
    let test = test
        .and_then(|test| test.as_ref().ok())
        .ok_or_else(broken)?;
    let copies = test.copies.iter();
    let copies = copies.map(|copy| operations.get(copy.call).copied());
    Ok(Some(LoopCalls {
        group,
        kernel,
        tested,
        test,
        nodes: graph
            .launches()
            .map(|(launch, node)| (node, launch))
            .collect(),
        copies: copies.collect::<Option<_>>().ok_or_else(broken)?,
    }))
}

/// Memory for the frame of every group, in the entry block, so that a group inside a loop does not grow
/// the stack. Between two places of one block nothing leaves the region, so that there the
/// frames of groups are used anew where the places of one come after those of the other.
fn frames<'ctx>(
    program: &Program<'ctx>,
    moving: &[Moving<'_, 'ctx>],
) -> Result<Vec<PointerValue<'ctx>>, CodegenError> {
    /// A piece of memory of a host function.
    struct Piece {
        bytes: u64,
        align_bytes: u32,
        /// The number of the last call of the last group that has it.
        taken_until: usize,
        groups: Vec<usize>,
    }
    let places = places_of_calls(program);
    let mut order: Vec<(usize, usize, usize)> = Vec::new();
    for (number, group) in moving.iter().enumerate() {
        let calls = group.members.iter().map(|member| places.get(&member.call));
        let calls: Option<Vec<usize>> = calls.map(Option::<&usize>::copied).collect();
        let calls = calls.ok_or_else(|| detached(group.members[0].launch.id))?;
        let (first, last) = (calls.iter().min(), calls.iter().max());
        order.extend(first.zip(last).map(|(first, last)| (*first, *last, number)));
    }
    order.sort_unstable();
    let mut pieces: HashMap<FunctionValue<'ctx>, Vec<Piece>> = HashMap::new();
    for (first, last, number) in order {
        let group = &moving[number];
        let block = group.members[0].block;
        let host = block.get_parent();
        let host = host.ok_or_else(|| detached(group.members[0].launch.id))?;
        let one_block = group.members.iter().all(|member| member.block == block);
        let one_block = one_block && group.others.is_empty();
        let pieces = pieces.entry(host).or_default();
        let mut known = pieces.iter_mut();
        let free = known.find(|piece| one_block && piece.taken_until < first);
        let layouts = group.all().map(|each| each.layout.extent);
        let (bytes, align_bytes) = layouts.fold((0, 1), |(bytes, align_bytes), extent| {
            (bytes.max(extent.bytes), align_bytes.max(extent.align_bytes))
        });
        let taken_until = if one_block { last } else { usize::MAX };
        match free {
            Some(piece) => {
                piece.bytes = piece.bytes.max(bytes);
                piece.align_bytes = piece.align_bytes.max(align_bytes);
                piece.taken_until = taken_until;
                piece.groups.push(number);
            }
            None => pieces.push(Piece {
                bytes,
                align_bytes,
                taken_until,
                groups: vec![number],
            }),
        }
    }
    let mut frames = BTreeMap::new();
    let (byte, int) = (program.context.i8_type(), program.context.i32_type());
    let builder = program.context.create_builder();
    for (host, pieces) in pieces {
        let entry = host.get_first_basic_block();
        let first = entry.and_then(|entry| entry.get_first_instruction());
        let first = first.ok_or_else(|| CodegenError::Inconsistent("empty function".into()))?;
        builder.position_before(&first);
        for piece in pieces {
            let bytes = u32::try_from(piece.bytes)
                .map_err(|_| CodegenError::Inconsistent("too many arguments".into()))?;
            let frame = builder.build_alloca(byte.array_type(bytes), "sirius.pending")?;
            if let Some(instruction) = frame.as_instruction() {
                instruction
                    .set_alignment(piece.align_bytes)
                    .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
            }
            builder.build_store(frame, int.const_zero())?;
            frames.extend(piece.groups.into_iter().map(|number| (number, frame)));
        }
    }
    Ok(frames.into_values().collect())
}

/// A number for every call of the host module, growing within each block.
fn places_of_calls<'ctx>(program: &Program<'ctx>) -> HashMap<InstructionValue<'ctx>, usize> {
    let blocks = program
        .host
        .get_functions()
        .flat_map(FunctionValue::get_basic_blocks);
    let instructions = blocks.flat_map(|block| block.get_instructions());
    let calls = instructions.filter(|each| {
        matches!(
            each.get_opcode(),
            InstructionOpcode::Call | InstructionOpcode::Invoke
        )
    });
    calls.zip(0..).collect()
}

/// The call of every launch site.
pub(in crate::codegen) fn launch_calls<'ctx>(
    program: &Program<'ctx>,
) -> HashMap<LaunchId, InstructionValue<'ctx>> {
    let mut calls = HashMap::new();
    for function in program.host.get_functions() {
        for instruction in function
            .get_basic_blocks()
            .iter()
            .flat_map(|b| b.get_instructions())
        {
            let Ok(call) = CallSiteValue::try_from(instruction) else {
                continue;
            };
            if !call.get_called_fn_value().is_some_and(is_launch_function) {
                continue;
            }
            let site = operand_value(instruction, 0)
                .filter(|site| site.is_int_value())
                .and_then(|site| site.into_int_value().get_zero_extended_constant())
                .and_then(|site| u32::try_from(site).ok());
            if let Some(site) = site {
                calls.insert(LaunchId(site), instruction);
            }
        }
    }
    calls
}

/// The call of every set and copy that the graph has as a launch.
fn operation_calls<'ctx>(
    calls: &[InstructionValue<'ctx>],
    graph: &LaunchGraph,
) -> HashMap<LaunchId, InstructionValue<'ctx>> {
    let operations = graph.operations.iter();
    operations
        .filter_map(|operation| Some((operation.launch?, *calls.get(operation.ordinal)?)))
        .collect()
}

/// The calls of functions that are sets or copies, in the order in which they are numbered.
fn calls_of_operations<'ctx>(program: &Program<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let functions = program.host.get_functions();
    let blocks = functions.flat_map(FunctionValue::get_basic_blocks);
    let instructions = blocks.flat_map(|block| block.get_instructions());
    let calls = instructions.filter(|instruction| {
        let call = CallSiteValue::try_from(*instruction).ok();
        let called = call.and_then(CallSiteValue::get_called_fn_value);
        called.is_some_and(|called| operation_call(&called.get_name().to_string_lossy()).is_some())
    });
    calls.collect()
}

fn operand_value<'ctx>(
    instruction: InstructionValue<'ctx>,
    index: usize,
) -> Option<BasicValueEnum<'ctx>> {
    instruction.get_operand(u32::try_from(index).ok()?)?.value()
}

/// A member's launch, as found in the host module.
pub(in crate::codegen) struct MemberCall<'a, 'ctx> {
    pub(in crate::codegen) launch: &'a Launch,
    pub(in crate::codegen) call: InstructionValue<'ctx>,
    callee: FunctionValue<'ctx>,
    pub(in crate::codegen) block: BasicBlock<'ctx>,
    form: Form<'ctx>,
    /// Everything after the stub.
    pub(in crate::codegen) operands: Vec<BasicValueEnum<'ctx>>,
    /// The pointee of each operand that is passed in memory.
    pub(in crate::codegen) in_memory: Vec<Option<BasicTypeEnum<'ctx>>>,
}

/// How the original of a member is called.
enum Form<'ctx> {
    /// A folded launch: its site and stub are constants that stay with the call.
    Launch([BasicValueEnum<'ctx>; 2]),
    /// A set or a copy: the operand for each parameter of the called function.
    Operation(Vec<usize>),
}

impl<'a, 'ctx> MemberCall<'a, 'ctx> {
    pub(in crate::codegen) fn new(
        instruction: InstructionValue<'ctx>,
        launch: &'a Launch,
    ) -> Result<Self, CodegenError> {
        let broken = || CodegenError::Inconsistent(format!("launch {} is malformed", launch.id.0));
        let callee = CallSiteValue::try_from(instruction)
            .ok()
            .and_then(CallSiteValue::get_called_fn_value)
            .ok_or_else(broken)?;
        let count = callee.count_params() as usize;
        let values = (0..count)
            .map(|index| operand_value(instruction, index).ok_or_else(broken))
            .collect::<Result<Vec<_>, _>>()?;
        if values.len() < 2 + OPERANDS_BEFORE_ARGUMENTS {
            return Err(broken());
        }
        let in_memory = (2..count)
            .map(|index| by_value_type(callee, index))
            .collect();
        Ok(Self {
            launch,
            call: instruction,
            callee,
            block: instruction.get_parent().ok_or_else(broken)?,
            form: Form::Launch([values[0], values[1]]),
            operands: values[2..].to_vec(),
            in_memory,
        })
    }

    /// A set or a copy, with the operands of a launch: it has no configuration of its own, but a
    /// stream.
    fn of_operation(
        program: &Program<'ctx>,
        instruction: InstructionValue<'ctx>,
        launch: &'a Launch,
    ) -> Result<Self, CodegenError> {
        let broken =
            || CodegenError::Inconsistent(format!("operation {} is malformed", launch.id.0));
        let callee = CallSiteValue::try_from(instruction)
            .ok()
            .and_then(CallSiteValue::get_called_fn_value)
            .ok_or_else(broken)?;
        let known = operation_call(&callee.get_name().to_string_lossy()).ok_or_else(broken)?;
        let values = (0..callee.count_params() as usize)
            .map(|index| operand_value(instruction, index).ok_or_else(broken))
            .collect::<Result<Vec<_>, _>>()?;
        let context = program.context;
        let (int, long) = (context.i32_type(), context.i64_type());
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let none = pointer.const_null().into();
        let stream = known.stream.map_or(Some(&none), |at| values.get(at));
        let mut operands: Vec<BasicValueEnum<'ctx>> = vec![
            long.const_zero().into(),
            int.const_zero().into(),
            long.const_zero().into(),
            int.const_zero().into(),
            long.const_zero().into(),
            *stream.ok_or_else(broken)?,
        ];
        let mut places = Vec::new();
        for (index, value) in values.iter().enumerate() {
            if Some(index) == known.stream {
                places.push(OPERANDS_BEFORE_ARGUMENTS - 1);
                continue;
            }
            places.push(operands.len());
            operands.push(*value);
        }
        Ok(Self {
            launch,
            call: instruction,
            callee,
            block: instruction.get_parent().ok_or_else(broken)?,
            form: Form::Operation(places),
            in_memory: vec![None; operands.len()],
            operands,
        })
    }

    /// The same, after what it touches and may have no memory yet has some.
    fn with_memory(
        mut self,
        program: &Program<'ctx>,
        reservations: &Reservations,
    ) -> Result<Self, CodegenError> {
        let passed = reservations.pointers(self.launch).into_iter();
        let parameters = passed.filter_map(|pointer| {
            let operand = match &self.form {
                Form::Launch(fixed) => fixed.len() + pointer.operand,
                Form::Operation(places) => {
                    let mut places = places.iter();
                    places.position(|place| *place == pointer.operand)?
                }
            };
            Some(PassedPointer { operand, ..pointer })
        });
        let pointers: Vec<PassedPointer> = parameters.collect();
        if !pointers.is_empty() {
            self.callee = reservations.with_memory(program, self.callee, &pointers)?;
        }
        Ok(self)
    }

    /// It is a set or a copy, whose configuration is that of the others.
    pub(in crate::codegen) fn is_operation(&self) -> bool {
        matches!(self.form, Form::Operation(_))
    }

    /// The launch's number, as the call has it; an operation has none there.
    pub(in crate::codegen) fn site(&self) -> Option<BasicValueEnum<'ctx>> {
        match &self.form {
            Form::Launch([site, _]) => Some(*site),
            Form::Operation(_) => None,
        }
    }

    /// What its original is called with.
    pub(in crate::codegen) fn passed(&self) -> impl Iterator<Item = BasicMetadataValueEnum<'ctx>> {
        let all = self.site().into_iter().chain(self.operands.iter().copied());
        all.map(BasicMetadataValueEnum::from)
    }

    /// Alignment in bytes on which the callee may rely for an operand that is passed in memory.
    pub(in crate::codegen) fn declared_alignment(&self, operand: usize) -> u32 {
        let kind = Attribute::get_named_enum_kind_id("align");
        let parameter = u32::try_from(operand + 2).unwrap_or(u32::MAX);
        let attribute = self
            .callee
            .get_enum_attribute(AttributeLoc::Param(parameter), kind);
        let declared = attribute.map_or(0, |attribute| attribute.get_enum_value());
        u32::try_from(declared)
            .unwrap_or(0)
            .max(STACK_ALIGNMENT_BYTES)
    }

    /// The host symbol of the kernel; an operation has none.
    pub(in crate::codegen) fn stub(&self) -> Option<BasicValueEnum<'ctx>> {
        match &self.form {
            Form::Launch([_, stub]) => Some(*stub),
            Form::Operation(_) => None,
        }
    }

    /// Calls the original launch as it was passed, wherever that is kept; returns its status.
    pub(in crate::codegen) fn build_call(
        &self,
        builder: &Builder<'ctx>,
        passed: &Passed<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = match &self.form {
            Form::Launch([own, stub]) => {
                let fixed = [passed.site.unwrap_or(*own), *stub];
                let all = fixed.into_iter().chain(passed.operands.iter().copied());
                all.map(BasicMetadataValueEnum::from).collect()
            }
            Form::Operation(places) => {
                let all = places.iter().map(|place| passed.operands[*place]);
                all.map(BasicMetadataValueEnum::from).collect()
            }
        };
        let call = builder.build_call(self.callee, &arguments, "")?;
        for index in 0..self.callee.count_params() {
            let location = AttributeLoc::Param(index);
            for attribute in self.callee.attributes(location) {
                call.add_attribute(location, attribute);
            }
        }
        Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
    }
}

/// A place where pending launches of one group are issued.
struct Flush<'ctx> {
    block: BasicBlock<'ctx>,
    frame: PointerValue<'ctx>,
    function: FunctionValue<'ctx>,
}

/// A group that moves, as the host module has it.
struct Moving<'a, 'ctx> {
    group: &'a FusionGroup,
    kernel: &'a FusedKernel,
    members: Vec<MemberCall<'a, 'ctx>>,
    layout: FrameLayout<'ctx>,
    waiting: Option<&'a Waiting<'a>>,
    /// What runs in place of members where it is refused.
    parts: Vec<Part<'a>>,
    /// Whether it may begin early, where it ever may.
    follows: Option<IntValue<'ctx>>,
    /// A host loop is around some of its launches.
    in_loop: bool,
    /// Groups that begin with the same launch, which the last member takes in that the host comes to first.
    others: Vec<Self>,
}

impl<'a, 'ctx> Moving<'a, 'ctx> {
    /// Whether another group begins with the same launch.
    fn begins_with(&self, other: &FusionGroup) -> bool {
        let first = |group: &FusionGroup| {
            let recomputes = group.recomputation.is_some();
            group
                .members
                .first()
                .filter(|_| recomputes)
                .map(|first| first.launch)
        };
        first(self.group).is_some() && first(self.group) == first(other)
    }

    /// This group, and those that begin with the same launch.
    fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }

    /// What is asked where the first launch is kept, which is the same for all groups that begin with it.
    fn with_questions_of_others(&self) -> FusionGroup {
        let mut group = self.group.clone();
        let others = self.others.iter().flat_map(|other| &other.group.guards);
        let asks = |guard: &&Guard| matches!(guard, Guard::DeviceMemory { .. });
        group.guards.extend(others.filter(asks).cloned());
        group
    }
}

/// Moves one group; returns where its pending launches have to be issued.
fn move_group<'ctx>(
    (program, graph, models): (&Program<'ctx>, &LaunchGraph, &[KernelModel]),
    moving: &Moving<'_, 'ctx>,
    frame: PointerValue<'ctx>,
    launcher: &Launcher,
    flow: &HostFlow<'ctx>,
    shared: &mut SharedFunctions<'ctx>,
) -> Result<Vec<Flush<'ctx>>, CodegenError> {
    let (members, layout) = (moving.members.as_slice(), &moving.layout);
    let all: Vec<_> = moving.all().map(|each| each.members.as_slice()).collect();
    let mut exits = exits_of_regions(&all, flow)?;
    for each in moving.all() {
        exits.extend(blocks_of(graph, each.group, &each.members)?);
    }
    let of_group = GroupFunctions {
        program,
        models,
        number: moving.kernel.group,
        members,
        layout,
    };
    let in_part = match moving.group.is_partial() {
        true => Some(of_group.run_in_part((moving.group, moving.kernel), launcher)?),
        false => None,
    };
    let fallback = match moving.parts.is_empty() {
        true => None,
        false => {
            let run = of_group.run_fallback(graph, &moving.parts, launcher)?;
            Some(shared.one_of(run, moving.in_loop))
        }
    };
    let flush = match in_part.or(fallback) {
        Some(run) => of_group.flush_in_part(run)?,
        None => of_group.flush()?,
    };
    let flush = shared.one_of(flush, moving.in_loop);
    let leave = of_group.leave(graph, (moving.group, moving.kernel), flush, launcher)?;
    let leave = match leave == flush {
        true => flush,
        false => shared.one_of(leave, moving.in_loop),
    };
    for members in all {
        issue_where_left(program, members, (frame, flush), flow, shared)?;
    }
    let int = program.context.i32_type();
    let builder = program.context.create_builder();
    let collecting = moving.with_questions_of_others();
    for (index, member) in members[..members.len() - 1].iter().enumerate() {
        builder.position_before(&member.call);
        let place = layout.place(program, &builder, frame, index)?;
        let number = int.const_int(index as u64, false);
        let flush = flush.as_global_value().as_pointer_value();
        let arguments: [BasicMetadataValueEnum<'_>; 4] =
            [frame.into(), place.into(), number.into(), flush.into()];
        let function = shared.one_of(of_group.collect(&collecting, index)?, true);
        put_call(&builder, member, function, &arguments)?;
    }
    for each in moving.all() {
        let of_group = GroupFunctions {
            number: each.kernel.group,
            members: &each.members,
            layout: &each.layout,
            ..of_group
        };
        let last = &each.members[each.members.len() - 1];
        builder.position_before(&last.call);
        let mut arguments: Vec<BasicMetadataValueEnum<'_>> =
            vec![frame.into(), of_group.first_site().into()];
        arguments.extend(each.follows.map(BasicMetadataValueEnum::from));
        let function = match in_part {
            Some(run) => of_group.last_in_part(run)?,
            None => of_group.fused_or_not(
                graph,
                (each.group, each.kernel),
                (flush, fallback),
                launcher,
                each.waiting,
            )?,
        };
        let function = shared.one_of(function, each.in_loop);
        put_call(&builder, last, function, &arguments)?;
    }
    let flush_at = |block| Flush {
        block,
        frame,
        function: leave,
    };
    Ok(exits.into_iter().map(flush_at).collect())
}

/// Puts a call of a group's function, behind the builder's place, in the place of a member's launch.
fn put_call<'ctx>(
    builder: &Builder<'ctx>,
    member: &MemberCall<'_, 'ctx>,
    function: FunctionValue<'ctx>,
    first: &[BasicMetadataValueEnum<'ctx>],
) -> Result<(), CodegenError> {
    let arguments: Vec<_> = first.iter().copied().chain(member.passed()).collect();
    let status = builder
        .build_call(function, &arguments, "sirius.status")?
        .try_as_basic_value()
        .unwrap_basic();
    replace_status(member.call, status.into_int_value());
    Ok(())
}

pub(in crate::codegen) fn detached(launch: LaunchId) -> CodegenError {
    CodegenError::Inconsistent(format!("launch {} stands outside of a function", launch.0))
}

/// A launch that pends reports success at its old place, as an asynchronous launch does; one that
/// CUDA refuses does not pend.
pub(in crate::codegen) fn replace_status<'ctx>(
    call: InstructionValue<'ctx>,
    status: IntValue<'ctx>,
) {
    if let Ok(old) = IntValue::try_from(call) {
        old.replace_all_uses_with(status);
    }
    call.erase_from_basic_block();
}

/// Puts calls of the flush functions at the top of exit blocks, groups in the order of their
/// places: dependences between groups run that way.
fn issue_pending<'ctx>(
    program: &Program<'ctx>,
    flushes: Vec<Flush<'ctx>>,
) -> Result<(), CodegenError> {
    let builder = program.context.create_builder();
    let mut by_block: HashMap<BasicBlock<'_>, Vec<Flush<'_>>> = HashMap::new();
    for flush in flushes {
        by_block.entry(flush.block).or_default().push(flush);
    }
    for (block, flushes) in by_block {
        let place = block
            .get_instructions()
            .find(|instruction| {
                !matches!(
                    instruction.get_opcode(),
                    InstructionOpcode::Phi | InstructionOpcode::LandingPad
                )
            })
            .ok_or_else(|| CodegenError::Inconsistent("block without end".into()))?;
        builder.position_before(&place);
        for flush in flushes {
            issue(program, &builder, flush.frame, flush.function)?;
        }
    }
    Ok(())
}
