//! The host side of fusion: members move down to the last one's place, behind a guard.
//!
//! Invariants. A launch that moves is never lost: from its old place on it is *pending* (unless CUDA
//! would refuse it, then it is issued there, for its error), and every edge that leaves the region between the first and the last member issues what is pending,
//! unfused and in order, before anything else happens there (DESIGN §2, "Moving"). Its operands are
//! taken at its old place, structs passed in memory by copy. At the last member's place the group
//! function tests the guards and launches either the fused kernel or the originals in order.

use super::group::{build_collect_function, build_flush_function, build_group_function};
use super::launch_call::{Launcher, OPERANDS_BEFORE_ARGUMENTS, by_value_type, is_launch_function};
use super::waves::{self, Waiting};
use super::{CodegenError, FusedKernel, WaveKernel};
use crate::kernel::KernelModel;
use crate::launch::{Launch, LaunchGraph, LaunchId, NodeKind};
use crate::program::{Program, operation_call};
use crate::schedule::FusionGroup;
use crate::verify::VerifiedPlan;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode,
    InstructionValue, IntValue, PointerValue,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Rewrites the launches of every group of `plan` in [`Program::host`]. `fused` names the fused
/// kernel of each group; `keys` the host symbols under which they are registered, by group.
///
/// # Errors
/// When the plan and the host module do not fit together: our bug.
pub fn rewrite_launches(
    program: &Program<'_>,
    graph: &LaunchGraph,
    models: &[KernelModel],
    plan: &VerifiedPlan,
    (fused, waves): (&[FusedKernel], &[WaveKernel]),
    launcher: &Launcher,
) -> Result<(), CodegenError> {
    let waiting = Waiting::all(plan.plan(), waves);
    // Their numbers are those of the calls as they are now.
    let operations = operation_calls(program, graph);
    if !waiting.is_empty() {
        waves::rewrite_regions(program, graph, models, plan.plan(), &waiting)?;
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
    let mut predecessors = HashMap::new();
    let mut flushes: BTreeMap<(usize, usize), Vec<Flush<'_>>> = BTreeMap::new();
    for kernel in fused {
        let group = &plan.plan().groups[kernel.group];
        let members = group
            .members
            .iter()
            .map(|member| {
                let missing =
                    || CodegenError::Inconsistent(format!("no launch {}", member.launch.0));
                let call = *calls.get(&member.launch).ok_or_else(missing)?;
                let (_, launch) = *launches.get(&member.launch).ok_or_else(missing)?;
                match graph.operation_of(member.launch) {
                    Some(_) => MemberCall::of_operation(program, call, launch),
                    None => MemberCall::new(call, launch),
                }
            })
            .collect::<Result<Vec<_>, _>>()?;
        let last = members
            .last()
            .ok_or_else(|| CodegenError::Inconsistent("empty group".into()))?;
        let place = launches[&last.launch.id].0;
        let host = last.block.get_parent();
        let host = host.ok_or_else(|| detached(last.launch))?;
        let before = predecessors
            .entry(host)
            .or_insert_with(|| predecessors_in(host));
        let waiting = waiting.iter().find(|each| each.launch() == last.launch.id);
        let flush = move_group(
            (program, graph, models),
            group,
            kernel,
            &members,
            launcher,
            before,
            waiting,
        )?;
        flushes
            .entry((place, kernel.group))
            .or_default()
            .extend(flush);
    }
    issue_pending(program, flushes.into_values().flatten().collect())
}

/// The call of every launch site.
pub(super) fn launch_calls<'ctx>(
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
    program: &Program<'ctx>,
    graph: &LaunchGraph,
) -> HashMap<LaunchId, InstructionValue<'ctx>> {
    let launches: HashMap<usize, LaunchId> = graph
        .operations
        .iter()
        .filter_map(|operation| Some((operation.ordinal, operation.launch?)))
        .collect();
    let mut calls = HashMap::new();
    if launches.is_empty() {
        return calls;
    }
    let mut ordinal = 0;
    for function in program.host.get_functions() {
        let blocks = function.get_basic_blocks();
        for instruction in blocks.iter().flat_map(|block| block.get_instructions()) {
            let called = CallSiteValue::try_from(instruction)
                .ok()
                .and_then(CallSiteValue::get_called_fn_value);
            let is_operation = called.is_some_and(|called| {
                operation_call(&called.get_name().to_string_lossy()).is_some()
            });
            if is_operation {
                if let Some(launch) = launches.get(&ordinal) {
                    calls.insert(*launch, instruction);
                }
                ordinal += 1;
            }
        }
    }
    calls
}

fn operand_value<'ctx>(
    instruction: InstructionValue<'ctx>,
    index: usize,
) -> Option<BasicValueEnum<'ctx>> {
    instruction.get_operand(u32::try_from(index).ok()?)?.value()
}

/// A member's launch, as found in the host module.
pub(super) struct MemberCall<'a, 'ctx> {
    pub(super) launch: &'a Launch,
    pub(super) call: InstructionValue<'ctx>,
    callee: FunctionValue<'ctx>,
    pub(super) block: BasicBlock<'ctx>,
    form: Form<'ctx>,
    /// Everything after the stub.
    pub(super) operands: Vec<BasicValueEnum<'ctx>>,
    /// The pointee of each operand that is passed in memory.
    pub(super) in_memory: Vec<Option<BasicTypeEnum<'ctx>>>,
}

/// How the original of a member is called.
enum Form<'ctx> {
    /// A folded launch: its site and stub are constants that stay with the call.
    Launch([BasicValueEnum<'ctx>; 2]),
    /// A set or a copy: the operand for each parameter of the called function.
    Operation(Vec<usize>),
}

impl<'a, 'ctx> MemberCall<'a, 'ctx> {
    pub(super) fn new(
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

    /// It is a set or a copy, whose configuration is that of the others.
    pub(super) fn is_operation(&self) -> bool {
        matches!(self.form, Form::Operation(_))
    }

    /// Alignment in bytes of an operand that is passed in memory, at least the stack's.
    fn by_value_alignment(&self, operand: usize) -> u32 {
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
    pub(super) fn stub(&self) -> Option<BasicValueEnum<'ctx>> {
        match &self.form {
            Form::Launch([_, stub]) => Some(*stub),
            Form::Operation(_) => None,
        }
    }

    /// Calls the original launch with other operands.
    pub(super) fn build_call(
        &self,
        builder: &Builder<'ctx>,
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<CallSiteValue<'ctx>, CodegenError> {
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = match &self.form {
            Form::Launch(fixed) => {
                let all = fixed.iter().chain(operands);
                all.map(|value| (*value).into()).collect()
            }
            Form::Operation(places) => {
                let all = places.iter().map(|place| operands[*place]);
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
        Ok(call)
    }
}

/// What x86-64 gives any argument that is passed in memory.
const STACK_ALIGNMENT_BYTES: u32 = 16;

/// A place where pending launches of one group are issued.
struct Flush<'ctx> {
    block: BasicBlock<'ctx>,
    pending: PointerValue<'ctx>,
    slots: Vec<Slot<'ctx>>,
    function: FunctionValue<'ctx>,
}

/// Where an operand of a launch that moves is kept.
#[derive(Clone, Copy)]
enum Slot<'ctx> {
    /// Nowhere: the value itself holds wherever it is needed.
    Value(BasicValueEnum<'ctx>),
    /// On the stack.
    Stored(PointerValue<'ctx>, BasicTypeEnum<'ctx>),
    /// On the stack, and passed in memory.
    Copied(PointerValue<'ctx>),
}

impl<'ctx> Slot<'ctx> {
    /// What stands for an operand that is not known yet.
    fn unknown(&self) -> BasicMetadataValueEnum<'ctx> {
        match self {
            Self::Value(value) => value.get_type().const_zero().into(),
            Self::Stored(_, type_) => type_.const_zero().into(),
            Self::Copied(slot) => (*slot).into(),
        }
    }
}

/// Moves one group; returns where its pending launches have to be issued.
#[allow(clippy::too_many_arguments, reason = "all that a group is moved with")]
fn move_group<'ctx>(
    (program, graph, models): (&Program<'ctx>, &LaunchGraph, &[KernelModel]),
    group: &FusionGroup,
    kernel: &FusedKernel,
    members: &[MemberCall<'_, 'ctx>],
    launcher: &Launcher,
    predecessors: &Predecessors<'ctx>,
    waiting: Option<&Waiting<'_>>,
) -> Result<Vec<Flush<'ctx>>, CodegenError> {
    let context = program.context;
    let host = members[0]
        .block
        .get_parent()
        .ok_or_else(|| detached(members[0].launch))?;
    let entry = host
        .get_first_basic_block()
        .ok_or_else(|| detached(members[0].launch))?;
    let flush_function = build_flush_function(program, kernel, members)?;
    let group_function = build_group_function(
        (program, graph, models),
        group,
        kernel,
        members,
        flush_function,
        launcher,
        waiting,
    )?;
    let exits = exits_of_region(members, predecessors)?;

    // Slots live in the entry block, so that a group inside a loop does not grow the stack.
    let builder = context.create_builder();
    let first = entry
        .get_first_instruction()
        .ok_or_else(|| detached(members[0].launch))?;
    builder.position_before(&first);
    let int = context.i32_type();
    let pending = builder.build_alloca(int, "sirius.pending")?;
    builder.build_store(pending, int.const_zero())?;
    // Between two places of one block nothing leaves the region, and what holds at the first holds
    // at the second.
    let one_block = members
        .iter()
        .all(|member| member.block == members[0].block);
    let mut slots = Vec::new();
    for member in members {
        let operands = member.operands.iter().zip(&member.in_memory);
        for (index, (value, in_memory)) in operands.enumerate() {
            if one_block && in_memory.is_none() {
                slots.push(Slot::Value(*value));
                continue;
            }
            let type_ = in_memory.unwrap_or(value.get_type());
            let slot = builder.build_alloca(type_, "sirius.operand")?;
            if in_memory.is_none() {
                slots.push(Slot::Stored(slot, type_));
                continue;
            }
            if let Some(instruction) = slot.as_instruction() {
                // The callee may rely on the alignment that the parameter declares.
                let align_bytes = member.by_value_alignment(index);
                instruction
                    .set_alignment(align_bytes)
                    .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
            }
            slots.push(Slot::Copied(slot));
        }
    }

    let before_last: usize = members[..members.len() - 1]
        .iter()
        .map(|member| member.operands.len())
        .sum();
    let mut next_slot = 0;
    for (index, member) in members.iter().enumerate() {
        builder.position_before(&member.call);
        for (value, in_memory) in member.operands.iter().zip(&member.in_memory) {
            let slot = slots[next_slot];
            next_slot += 1;
            match (slot, in_memory) {
                (Slot::Value(_), _) => {}
                (Slot::Stored(slot, _), _) => {
                    builder.build_store(slot, *value)?;
                }
                (Slot::Copied(slot), type_) => {
                    let bytes = type_
                        .and_then(|type_| type_.size_of())
                        .ok_or_else(|| CodegenError::Inconsistent("unsized argument".into()))?;
                    builder
                        .build_memcpy(slot, 1, value.into_pointer_value(), 1, bytes)
                        .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
                }
            }
        }
        let is_last = index + 1 == members.len();
        let (function, visible) = if is_last {
            (group_function, slots.len())
        } else {
            let collect =
                build_collect_function(program, models, kernel, members, index, flush_function)?;
            (collect, before_last)
        };
        let first: BasicMetadataValueEnum<'_> = if is_last {
            builder.build_load(int, pending, "pending")?.into()
        } else {
            pending.into()
        };
        let mut arguments = vec![first];
        // Nobody asks for the operands of members that come later.
        let known = visible.min(next_slot);
        arguments.extend(load_slots(&builder, &slots[..known])?);
        arguments.extend(slots[known..visible].iter().map(Slot::unknown));
        let status = builder
            .build_call(function, &arguments, "sirius.status")?
            .try_as_basic_value()
            .unwrap_basic();
        if is_last {
            builder.build_store(pending, int.const_zero())?;
        }
        replace_status(member.call, status.into_int_value());
    }
    // The last member never pends, so its slots are not read by a flush.
    slots.truncate(before_last);
    Ok(exits
        .into_iter()
        .map(|block| Flush {
            block,
            pending,
            slots: slots.clone(),
            function: flush_function,
        })
        .collect())
}

fn detached(launch: &Launch) -> CodegenError {
    CodegenError::Inconsistent(format!(
        "launch {} stands outside of a function",
        launch.id.0
    ))
}

/// A launch that pends reports success at its old place, as an asynchronous launch does; one that
/// CUDA refuses does not pend.
pub(super) fn replace_status<'ctx>(call: InstructionValue<'ctx>, status: IntValue<'ctx>) {
    if let Ok(old) = IntValue::try_from(call) {
        old.replace_all_uses_with(status);
    }
    call.erase_from_basic_block();
}

fn load_slots<'ctx>(
    builder: &Builder<'ctx>,
    slots: &[Slot<'ctx>],
) -> Result<Vec<BasicMetadataValueEnum<'ctx>>, CodegenError> {
    slots
        .iter()
        .map(|slot| {
            Ok(match slot {
                Slot::Value(value) => (*value).into(),
                Slot::Stored(slot, type_) => builder.build_load(*type_, *slot, "operand")?.into(),
                Slot::Copied(slot) => (*slot).into(),
            })
        })
        .collect()
}

/// The blocks from which each block of a function is entered. Groups add instructions only, so that
/// it holds for all of them.
type Predecessors<'ctx> = HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>;

fn predecessors_in(function: FunctionValue<'_>) -> Predecessors<'_> {
    let mut predecessors = Predecessors::new();
    for block in function.get_basic_blocks() {
        for successor in successors(block) {
            predecessors.entry(successor).or_default().push(block);
        }
    }
    predecessors
}

/// Blocks that are entered when the region between the first and the last member is left on
/// another way than through the last member.
fn exits_of_region<'ctx>(
    members: &[MemberCall<'_, 'ctx>],
    predecessors: &Predecessors<'ctx>,
) -> Result<Vec<BasicBlock<'ctx>>, CodegenError> {
    let (first, last) = (members[0].block, members[members.len() - 1].block);
    if first == last {
        return Ok(Vec::new());
    }
    // Every way to the last leads through the first, so that a walk backwards stays in the region.
    let above = reach(last, first, |block| {
        predecessors.get(&block).cloned().unwrap_or_default()
    });
    let mut order = Vec::new();
    let mut region = HashSet::new();
    let mut work = successors(first);
    while let Some(block) = work.pop() {
        if above.contains(&block) && region.insert(block) {
            order.push(block);
            work.extend(successors(block));
        }
    }
    for member in members {
        if member.block != first && member.block != last && !region.contains(&member.block) {
            return Err(CodegenError::Inconsistent(format!(
                "launch {} is not on the way to its group",
                member.launch.id.0
            )));
        }
    }
    let mut exits = Vec::new();
    let mut met = HashSet::new();
    for from in std::iter::once(first).chain(order) {
        for block in successors(from) {
            if block != last && !region.contains(&block) && met.insert(block) {
                exits.push(block);
            }
        }
    }
    Ok(exits)
}

/// Blocks other than `from` and `stop` that are reached from `from` without passing either.
fn reach<'ctx>(
    from: BasicBlock<'ctx>,
    stop: BasicBlock<'ctx>,
    next: impl Fn(BasicBlock<'ctx>) -> Vec<BasicBlock<'ctx>>,
) -> HashSet<BasicBlock<'ctx>> {
    let mut seen = HashSet::new();
    let mut work = next(from);
    while let Some(block) = work.pop() {
        if block != from && block != stop && seen.insert(block) {
            work.extend(next(block));
        }
    }
    seen
}

pub(super) fn successors(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    let Some(terminator) = block.get_terminator() else {
        return Vec::new();
    };
    terminator
        .get_operands()
        .flatten()
        .filter_map(|operand| operand.block())
        .collect()
}

/// Puts calls of the flush functions at the top of exit blocks, groups in the order of their
/// places: dependences between groups run that way.
fn issue_pending(program: &Program<'_>, flushes: Vec<Flush<'_>>) -> Result<(), CodegenError> {
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
        let int = program.context.i32_type();
        for flush in flushes {
            let pending = builder.build_load(int, flush.pending, "pending")?;
            let mut arguments: Vec<BasicMetadataValueEnum<'_>> = vec![pending.into()];
            arguments.extend(load_slots(&builder, &flush.slots)?);
            builder.build_call(flush.function, &arguments, "")?;
            builder.build_store(flush.pending, int.const_zero())?;
        }
    }
    Ok(())
}
