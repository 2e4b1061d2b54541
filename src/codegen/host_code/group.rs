//! The functions that a fused group adds to the host module.
//!
//! Invariant: each member's work is launched exactly once. `sirius.collect.G.I` stands at the old
//! place of a member: it keeps the launch in the group's frame and counts it as pending, or issues it and
//! everything pending there and then. `sirius.group.G` stands at the place of the last member: fused when
//! all others pend and every guard of the group holds, else what is left, by the original launches in
//! order. `sirius.flush.G` issues the first `pending` members, unfused. In place of originals, groups of fewer members may
//! run ([`fallback`]). Groups that are equal but for
//! their sites and operands share these functions, which is why sites are operands.

mod arrivals;
mod fallback;
mod front_alone;
mod operands;
mod partial;
mod refused;
mod residency;
mod shape;
mod shared_memory;
mod tested_loop;

pub(in crate::codegen) use operands::GroupOperands;

use super::super::batches::{Waiting, issue_waiting};
use super::super::common_shape::common_shape;
use super::super::frame::{FrameLayout, Passed};
use super::super::guard::{Operands, emit_expression, emit_guards};
use super::super::host::MemberCall;
use super::super::launch_call::{
    Launcher, OPERANDS_BEFORE_ARGUMENTS, SHARED_BYTES, allow_shared, announce_side, announce_site,
    launch_kernel, variable_address,
};
use super::super::overlap::launch_early;
use super::super::{CodegenError, FusedKernel, FusedParameter};
use crate::dependence::Guard;
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, Operand};
use crate::program::Program;
use crate::schedule::FusionGroup;
use arrivals::counted;
pub(in crate::codegen) use fallback::Part;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PointerValue};
use refused::Refused;
use residency::{cooperative, resident_grid};
use shape::{largest_grid, tells_shape};
use shared_memory::{shared_of, with_rows};
pub(in crate::codegen) use tested_loop::{LoopCalls, LoopValues, link_tested_loops};

/// What the functions of one group are made from.
pub(in crate::codegen) struct GroupFunctions<'a, 'ctx> {
    pub(in crate::codegen) program: &'a Program<'ctx>,
    pub(in crate::codegen) models: &'a [KernelModel],
    /// For names.
    pub(in crate::codegen) number: usize,
    pub(in crate::codegen) members: &'a [MemberCall<'a, 'ctx>],
    pub(in crate::codegen) layout: &'a FrameLayout<'ctx>,
}

impl<'ctx> GroupFunctions<'_, 'ctx> {
    /// The number by which the group is known: that of its first launch. Those of operations are no
    /// sites.
    pub(in crate::codegen) fn first_site(&self) -> IntValue<'ctx> {
        let mut launches = self.members.iter().filter(|member| !member.is_operation());
        let first = launches.next().unwrap_or(&self.members[0]).launch.id.0;
        let int = self.program.context.i32_type();
        int.const_int(first.into(), false)
    }

    /// `i32 sirius.group.G(ptr frame, i32 first site, operands of the last member)`: fused behind its
    /// guard, else the originals. Where it may begin early the third parameter says whether it may now.
    pub(in crate::codegen) fn fused_or_not(
        &self,
        graph: &LaunchGraph,
        (group, kernel): (&FusionGroup, &FusedKernel),
        (flush_function, fallback): (FunctionValue<'ctx>, Option<FunctionValue<'ctx>>),
        launcher: &Launcher,
        waiting: Option<&Waiting<'_>>,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let (program, members, layout) = (self.program, self.members, self.layout);
        let context = program.context;
        let int = context.i32_type();
        let last = members.len() - 1;
        let name = format!("sirius.group.{}", self.number);
        let mut first = vec![
            context.ptr_type(inkwell::AddressSpace::default()).into(),
            int.into(),
        ];
        if group.overlap.is_some() {
            first.push(int.into());
        }
        let function = add_operand_function(program, &name, &first, &members[last]);
        let builder = context.create_builder();
        let [entry, complete, room, ask, fused, separate] =
            ["entry", "complete", "room", "ask", "fused", "separate"]
                .map(|name| context.append_basic_block(function, name));
        builder.position_at_end(entry);
        let parameters = function.get_params();
        let frame = parameters[0].into_pointer_value();
        let first_site = parameters[1].into_int_value();
        let of_last = passed(&parameters[first.len()..], &members[last]);
        let refused = Refused::new(program, &builder, launcher)?;
        refused.by(&builder, refused::ISSUED_BEFORE)?;
        let pending = builder.build_load(int, frame, "pending")?.into_int_value();
        builder.build_store(frame, int.const_zero())?;
        let all = int.const_int(last as u64, false);
        let is_complete = builder.build_int_compare(IntPredicate::EQ, pending, all, "complete")?;
        builder.build_conditional_branch(is_complete, complete, separate)?;

        let side = |builder: &Builder<'ctx>, fused: bool| {
            self.tell_side(builder, launcher, (kernel, first_site), fused)
        };

        builder.position_at_end(complete);
        let place = layout.place(program, &builder, frame, last)?;
        layout.store(program, &builder, place, last, &of_last)?;
        let mut values = Vec::new();
        for member in 0..members.len() {
            values.extend(layout.load(program, &builder, frame, member)?.operands);
        }
        let mut operands = GroupOperands::new(program, self.models, members, &builder, &values)?;
        operands.take_shapes(program, graph)?;
        operands.static_shared_bytes = kernel.static_shared_bytes;

        // Slots for the arguments of the fused kernel, addresses of device variables among them.
        let mut holds = context.bool_type().const_all_ones();
        let mut slots = Vec::new();
        let mut whole = None;
        for parameter in &kernel.parameters {
            slots.push(match (parameter, &group.front_guards) {
                (FusedParameter::ArrivalCounter, Some(_)) => {
                    let counted = counted(program, &builder, launcher, &operands, group)?;
                    whole = Some(counted.1);
                    counted.0
                }
                _ => self.argument(&builder, launcher, frame, &operands, parameter, &mut holds)?,
            });
        }
        let mut record = Vec::new();
        for parameter in waiting.iter().flat_map(|waiting| waiting.parameters()) {
            let mut known = kernel.parameters.iter().zip(&slots);
            record.push(match known.find(|(known, _)| *known == parameter) {
                Some((_, slot)) => *slot,
                None => {
                    self.argument(&builder, launcher, frame, &operands, parameter, &mut holds)?
                }
            });
        }
        let guard = refused.emit(&builder, &operands, group.guards_of_front(), holds)?;
        builder.build_conditional_branch(guard, room, separate)?;

        builder.position_at_end(room);
        refused.by(&builder, refused::SHARED_MEMORY)?;
        let key = key_of(program, kernel)?;
        let ways = [ask, fused, separate];
        let shared = ask_for_room(program, &builder, &operands, (key, group), ways)?;

        builder.position_at_end(fused);
        refused.by(&builder, refused::RESIDENCY)?;
        let of_loop = waiting.and_then(|waiting| waiting.persistent_key(program));
        let keys: Vec<BasicValueEnum<'_>> = [key].into_iter().chain(of_loop).collect();
        let resident = resident_grid(
            program,
            &builder,
            &operands,
            (graph, group),
            (&keys, shared),
        )?;
        if let Some((_, fits)) = resident {
            let launch = context.append_basic_block(function, "resident");
            builder.build_conditional_branch(fits, launch, separate)?;
            builder.position_at_end(launch);
        }
        side(&builder, true)?;
        let of_group = int.const_int(1 << 31, false);
        let site = builder.build_or(first_site, of_group, "site")?;
        let grid = resident.map(|(grid, _)| grid);
        let whole_group = (graph, group, kernel);
        let configuration =
            self.whole_configuration(&builder, &operands, whole_group, grid, shared)?;
        if let Some(waiting) = waiting {
            let key = key.into_pointer_value();
            waiting.submit(
                program,
                &builder,
                &operands,
                key,
                &configuration,
                &record,
                site,
            )?;
        }
        issue_waiting(program, &builder)?;
        if waiting.is_some_and(Waiting::must_replace) {
            refused.by(&builder, refused::BATCH)?;
            builder.build_unconditional_branch(separate)?;
        } else {
            announce_site(program, &builder, launcher, site)?;
            let by = match resident {
                Some(_) => &cooperative(launcher),
                None => launcher,
            };
            let status = match &group.overlap {
                Some(_) => {
                    let early = (key, parameters[2].into_int_value());
                    launch_early(program, &builder, launcher, early, &configuration, &slots)?
                }
                None => launch_kernel(program, &builder, by, key, &configuration, &slots)?,
            };
            if let Some(whole) = whole {
                self.last_as_written(&builder, function, (whole, status), &of_last)?;
            } else {
                builder.build_return(Some(&status))?;
            }
        }

        // Where a member was issued at its own place the others are, too, each at its own.
        builder.position_at_end(separate);
        side(&builder, false)?;
        refused.tell(&builder, &kernel.name, first_site)?;
        if let Some(fallback) = fallback {
            let [parts, alone] =
                ["parts", "alone"].map(|name| context.append_basic_block(function, name));
            builder.build_conditional_branch(is_complete, parts, alone)?;
            builder.position_at_end(parts);
            let count = int.const_int(members.len() as u64, false);
            let arguments = [frame.into(), count.into()];
            let status = builder.build_call(fallback, &arguments, "status")?;
            let status = status.try_as_basic_value().unwrap_basic();
            builder.build_return(Some(&status))?;
            builder.position_at_end(alone);
        }
        builder.build_call(flush_function, &[frame.into(), pending.into()], "")?;
        let status = members[last].build_call(&builder, &of_last)?;
        builder.build_return(Some(&status))?;
        Ok(function)
    }

    /// Tells the runtime of the CPU device which side of a group runs.
    fn tell_side(
        &self,
        builder: &Builder<'ctx>,
        launcher: &Launcher,
        (kernel, first_site): (&FusedKernel, IntValue<'ctx>),
        fused: bool,
    ) -> Result<(), CodegenError> {
        match launcher.announce_side {
            true => announce_side(self.program, builder, &kernel.name, first_site, fused),
            false => Ok(()),
        }
    }

    /// The grid, the block, the dynamic shared memory, of `shared` bytes for the members, and the stream of the fused
    /// launch; `resident` is the grid of a cooperative one.
    fn whole_configuration(
        &self,
        builder: &Builder<'ctx>,
        operands: &GroupOperands<'_, 'ctx>,
        (graph, group, kernel): (&LaunchGraph, &FusionGroup, &FusedKernel),
        resident: Option<[BasicValueEnum<'ctx>; 2]>,
        shared: IntValue<'ctx>,
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CodegenError> {
        let (program, members) = (self.program, self.members);
        let context = program.context;
        let int = context.i32_type();
        let has_shape = |member: &MemberCall<'_, 'ctx>| tells_shape(group, member);
        let own = match group.is_cooperative() {
            true => Some(group.leader_of_blocks(graph)),
            false => members.iter().rposition(has_shape),
        };
        let own = own.ok_or_else(|| CodegenError::Inconsistent("nothing has a shape".into()))?;
        let mut configuration: Vec<BasicValueEnum<'_>> = (0..OPERANDS_BEFORE_ARGUMENTS)
            .map(|index| operands.parameters[operands.starts[own] + index])
            .collect();
        let grid = match resident {
            Some(grid) => grid,
            None => largest_grid(program, builder, operands, group)?,
        };
        configuration[..grid.len()].copy_from_slice(&grid);
        // Rows are kept only where they fit without asking.
        let shared = match &kernel.promoted {
            Some(rows) => with_rows(program, builder, operands, kernel, rows, shared)?,
            None => shared,
        };
        configuration[SHARED_BYTES] = shared.into();
        for (place, extent) in common_shape(graph, group).into_iter().enumerate() {
            let Some(extent) = extent else { continue };
            let (host, one) = (&program.host, int.const_int(1, false));
            let extent = emit_expression(context, host, builder, operands, &extent)?;
            // One row: y is the upper half of the first operand, z the second.
            let packed = context.i64_type().const_int(1 << 32, false);
            configuration[2 * place] = builder.build_or(extent, packed, "row")?.into();
            configuration[2 * place + 1] = one.into();
        }
        Ok(configuration)
    }

    /// Returns what the launch gave, `whole` or behind what the last member gives, which is launched as it is written: of
    /// two errors the first.
    fn last_as_written(
        &self,
        builder: &Builder<'ctx>,
        function: FunctionValue<'ctx>,
        (whole, status): (IntValue<'ctx>, IntValue<'ctx>),
        of_last: &Passed<'ctx>,
    ) -> Result<(), CodegenError> {
        let context = self.program.context;
        let [alone, done] =
            ["alone", "done"].map(|name| context.append_basic_block(function, name));
        builder.build_conditional_branch(whole, done, alone)?;
        builder.position_at_end(alone);
        let zero = context.i32_type().const_zero();
        let of_last = self.members[self.members.len() - 1].build_call(builder, of_last)?;
        let good = builder.build_int_compare(IntPredicate::EQ, status, zero, "good")?;
        let both = builder.build_select(good, of_last, status, "status")?;
        builder.build_return(Some(&both))?;
        builder.position_at_end(done);
        builder.build_return(Some(&status))?;
        Ok(())
    }

    /// The address of what a fused kernel gets for a parameter; `holds` says whether it can be had.
    fn argument(
        &self,
        builder: &Builder<'ctx>,
        launcher: &Launcher,
        frame: PointerValue<'ctx>,
        operands: &GroupOperands<'_, 'ctx>,
        parameter: &FusedParameter,
        holds: &mut IntValue<'ctx>,
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        let (program, members) = (self.program, self.members);
        let context = program.context;
        let int = context.i32_type();
        let missing = |what: &str| CodegenError::Inconsistent(format!("missing {what}"));
        Ok(match parameter {
            FusedParameter::Argument { launch, argument }
            | FusedParameter::Field {
                launch, argument, ..
            } => {
                let member = members
                    .iter()
                    .position(|member| member.launch.id == *launch);
                let operand = OPERANDS_BEFORE_ARGUMENTS + argument;
                let known = member.filter(|member| operand < members[*member].operands.len());
                let member = known.ok_or_else(|| missing("argument"))?;
                let begin = parameter.begin_in_argument();
                self.layout
                    .address(program, builder, frame, (member, operand, begin))?
            }
            FusedParameter::VariableAddress { variable } => {
                let (slot, status) = variable_address(program, builder, *variable)?;
                let zero = int.const_zero();
                let found = builder.build_int_compare(IntPredicate::EQ, status, zero, "found")?;
                *holds = builder.build_and(*holds, found, "holds")?;
                slot
            }
            FusedParameter::HostValue { expression } => {
                let host = &program.host;
                let value = emit_expression(context, host, builder, operands, expression)?;
                let value = builder.build_int_truncate(value, int, "number")?;
                let slot = builder.build_alloca(int, "number")?;
                builder.build_store(slot, value)?;
                slot
            }
            FusedParameter::ArrivalCounter => {
                let (slot, known) = arrivals::counter(program, builder, launcher, operands)?;
                *holds = builder.build_and(*holds, known, "holds")?;
                slot
            }
            FusedParameter::LoopRows | FusedParameter::LoopValue(_) => {
                return Err(missing("loop"));
            }
            FusedParameter::GridSize { launch, axis } => {
                let extent = operands
                    .operand(*launch, Operand::Grid(axis.index() as u8))
                    .ok_or_else(|| missing("extent"))?;
                let slot = builder.build_alloca(int, "extent")?;
                let extent = builder.build_int_truncate(extent, int, "extent")?;
                builder.build_store(slot, extent)?;
                slot
            }
        })
    }

    /// `void sirius.flush.G(ptr frame, i32 pending)`: issues the first `pending` members, unfused.
    pub(in crate::codegen) fn flush(&self) -> Result<FunctionValue<'ctx>, CodegenError> {
        let (program, layout) = (self.program, self.layout);
        let context = program.context;
        let int = context.i32_type();
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let type_ = context
            .void_type()
            .fn_type(&[pointer.into(), int.into()], false);
        let name = format!("sirius.flush.{}", self.number);
        let function = program
            .host
            .add_function(&name, type_, Some(Linkage::Internal));
        let parameters = function.get_params();
        let frame = parameters[0].into_pointer_value();
        let pending = parameters[1].into_int_value();
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, "entry"));
        let done = context.append_basic_block(function, "done");
        let before_last = &self.members[..self.members.len() - 1];
        for (index, member) in before_last.iter().enumerate() {
            let issue = context.append_basic_block(function, "issue");
            let own = int.const_int(index as u64, false);
            let more = builder.build_int_compare(IntPredicate::UGT, pending, own, "more")?;
            builder.build_conditional_branch(more, issue, done)?;
            builder.position_at_end(issue);
            let kept = layout.load(program, &builder, frame, index)?;
            member.build_call(&builder, &kept)?;
        }
        builder.build_unconditional_branch(done)?;
        builder.position_at_end(done);
        builder.build_return(None)?;
        Ok(function)
    }

    /// `i32 sirius.collect.G.I(ptr frame, ptr place of the member, i32 I, ptr flush function, operands of
    /// the member)`: what stands at the place of member I. A valid launch pends, as long as all members
    /// before it do; one that CUDA would refuse is issued here and now, so that the host sees its error
    /// where it looks for it. So is one for which a guard of the group that asks for device memory does not hold, since
    /// what it moves past relies on that. It is the same for all members that launch the same kernel.
    pub(in crate::codegen) fn collect(
        &self,
        group: &FusionGroup,
        index: usize,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let program = self.program;
        let context = program.context;
        let int = context.i32_type();
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let member = &self.members[index];
        let name = format!("sirius.collect.{}.{index}", self.number);
        let first = [pointer.into(), pointer.into(), int.into(), pointer.into()];
        let function = add_operand_function(program, &name, &first, member);
        let builder = context.create_builder();
        let [entry, collect, issue] =
            ["entry", "collect", "issue"].map(|name| context.append_basic_block(function, name));
        builder.position_at_end(entry);
        let parameters = function.get_params();
        let frame = parameters[0].into_pointer_value();
        let place = parameters[1].into_pointer_value();
        let number = parameters[2].into_int_value();
        let flush_function = parameters[3].into_pointer_value();
        let own = passed(&parameters[first.len()..], member);
        let one = std::slice::from_ref(member);
        let operands = GroupOperands::new(program, self.models, one, &builder, &own.operands)?;
        let own_launch = member.launch.id;
        let asks = |guard: &&Guard| matches!(guard, Guard::DeviceMemory { launch, .. } if *launch == own_launch);
        let mut valid = vec![Guard::ConfigurationValid { launch: own_launch }];
        valid.extend(group.guards.iter().filter(asks).cloned());
        let valid = emit_guards(context, &program.host, &builder, &operands, &valid)?;
        let pending = builder.build_load(int, frame, "pending")?.into_int_value();
        let in_step = match group.is_partial() {
            true => partial::comes_next(&builder, pending, number)?,
            false => builder.build_int_compare(IntPredicate::EQ, pending, number, "in.step")?,
        };
        let pends = builder.build_and(valid, in_step, "pends")?;
        builder.build_conditional_branch(pends, collect, issue)?;

        builder.position_at_end(collect);
        self.layout.store(program, &builder, place, index, &own)?;
        let one = int.const_int(1, false);
        let with_it = match group.is_partial() {
            true => partial::with_member(&builder, pending, number)?,
            false => builder.build_int_add(number, one, "with.it")?,
        };
        builder.build_store(frame, with_it)?;
        builder.build_return(Some(&int.const_zero()))?;

        builder.position_at_end(issue);
        let type_ = [pointer.into(), int.into()];
        let type_ = context.void_type().fn_type(&type_, false);
        let arguments = [frame.into(), pending.into()];
        builder.build_indirect_call(type_, flush_function, &arguments, "")?;
        builder.build_store(frame, int.const_zero())?;
        let status = member.build_call(&builder, &own)?;
        builder.build_return(Some(&status))?;
        Ok(function)
    }
}

/// The host symbol that stands for a fused kernel.
pub(in crate::codegen) fn fused_key(kernel: &FusedKernel) -> String {
    format!("sirius.fused.key.{}", kernel.name)
}

/// The host symbol of a fused kernel.
fn key_of<'ctx>(
    program: &Program<'ctx>,
    kernel: &FusedKernel,
) -> Result<BasicValueEnum<'ctx>, CodegenError> {
    let key = program.host.get_global(&fused_key(kernel));
    let key =
        key.ok_or_else(|| CodegenError::Inconsistent("the fused kernel has no key".into()))?;
    Ok(key.as_pointer_value().into())
}

/// Goes on in `fused` where a block may have the dynamic shared memory of the members, whose bytes it returns, else in
/// `separate`; `ask` is where that has to be asked for.
fn ask_for_room<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    operands: &GroupOperands<'_, 'ctx>,
    (key, group): (BasicValueEnum<'ctx>, &FusionGroup),
    [ask, fused, separate]: [BasicBlock<'ctx>; 3],
) -> Result<IntValue<'ctx>, CodegenError> {
    let shared = shared_of(program, builder, operands, group)?;
    let fits = operands.fits_without_asking(builder, shared.into())?;
    builder.build_conditional_branch(fits, fused, ask)?;
    builder.position_at_end(ask);
    let fixed = operands.static_shared_bytes;
    let allowed = allow_shared(program, builder, key, shared, fixed)?;
    builder.build_conditional_branch(allowed, fused, separate)?;
    Ok(shared)
}

/// An internal function that takes what a member's call does, after something else, and gives its
/// status.
pub(in crate::codegen) fn add_operand_function<'ctx>(
    program: &Program<'ctx>,
    name: &str,
    first: &[BasicMetadataTypeEnum<'ctx>],
    member: &MemberCall<'_, 'ctx>,
) -> FunctionValue<'ctx> {
    let int = program.context.i32_type();
    let mut types = first.to_vec();
    types.extend(member.site().map(|_| BasicMetadataTypeEnum::from(int)));
    let operands = member.operands.iter();
    types.extend(operands.map(|value| BasicMetadataTypeEnum::from(value.get_type())));
    let type_ = int.fn_type(&types, false);
    program
        .host
        .add_function(name, type_, Some(Linkage::Internal))
}

/// The parameters of such a function after the first ones.
pub(in crate::codegen) fn passed<'ctx>(
    parameters: &[BasicValueEnum<'ctx>],
    member: &MemberCall<'_, 'ctx>,
) -> Passed<'ctx> {
    let sites = usize::from(member.site().is_some());
    Passed {
        site: parameters.first().filter(|_| sites == 1).copied(),
        operands: parameters[sites..].to_vec(),
    }
}
