//! The functions that a fused group adds to the host module.
//!
//! Invariant: each member's work is launched exactly once. `sirius.collect.G.I` stands at the old
//! place of a member: it keeps the launch in the group's frame and counts it as pending, or issues it and
//! everything pending there and then. `sirius.group.G` stands at the place of the last member: fused when
//! all others pend and every guard of the group holds, else what is left, by the original launches in
//! order. `sirius.flush.G` issues the first `pending` members, unfused. Groups that are equal but for
//! their sites and operands share these functions, which is why sites are operands.

mod residency;
mod shape;
mod shared_memory;

use super::batches::{Waiting, issue_waiting};
use super::common_shape::common_shape;
use super::frame::{FrameLayout, Passed};
use super::guard::{Operands, emit_expression, emit_guards};
use super::host::MemberCall;
use super::launch_call::{
    Launcher, OPERANDS_BEFORE_ARGUMENTS, SHARED_BYTES, allow_shared, announce_side, announce_site,
    launch_kernel, shared_limit, thread_limit, variable_address,
};
use super::tables::pointer_behind;
use super::{CodegenError, FusedKernel, FusedParameter};
use crate::dependence::Guard;
use crate::kernel::KernelModel;
use crate::launch::{BEHIND_POINTER, LaunchGraph, LaunchId, Operand, ValueId};
use crate::program::Program;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum, IntType};
use inkwell::values::{BasicValue, BasicValueEnum, FunctionValue, IntValue, PointerValue};
pub(super) use residency::cooperative_launch;
use residency::{cooperative, resident_grid};
use shape::{largest_grid, tells_shape};
use shared_memory::{largest_shared, with_rows};
use std::collections::HashMap;

/// What the functions of one group are made from.
pub(super) struct GroupFunctions<'a, 'ctx> {
    pub(super) program: &'a Program<'ctx>,
    pub(super) models: &'a [KernelModel],
    /// For names.
    pub(super) number: usize,
    pub(super) members: &'a [MemberCall<'a, 'ctx>],
    pub(super) layout: &'a FrameLayout<'ctx>,
}

impl<'ctx> GroupFunctions<'_, 'ctx> {
    /// The number by which the group is known: that of its first launch. Those of operations are no
    /// sites.
    pub(super) fn first_site(&self) -> IntValue<'ctx> {
        let mut launches = self.members.iter().filter(|member| !member.is_operation());
        let first = launches.next().unwrap_or(&self.members[0]).launch.id.0;
        let int = self.program.context.i32_type();
        int.const_int(first.into(), false)
    }

    /// `i32 sirius.group.G(ptr frame, i32 first site, operands of the last member)`: fused behind its
    /// guard, else the originals.
    pub(super) fn fused_or_not(
        &self,
        graph: &LaunchGraph,
        (group, kernel): (&FusionGroup, &FusedKernel),
        flush_function: FunctionValue<'ctx>,
        launcher: &Launcher,
        waiting: Option<&Waiting<'_>>,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let (program, members, layout) = (self.program, self.members, self.layout);
        let context = program.context;
        let int = context.i32_type();
        let last = members.len() - 1;
        let name = format!("sirius.group.{}", self.number);
        let first = [
            context.ptr_type(inkwell::AddressSpace::default()).into(),
            int.into(),
        ];
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
        let pending = builder.build_load(int, frame, "pending")?.into_int_value();
        builder.build_store(frame, int.const_zero())?;
        let all = int.const_int(last as u64, false);
        let is_complete = builder.build_int_compare(IntPredicate::EQ, pending, all, "complete")?;
        builder.build_conditional_branch(is_complete, complete, separate)?;

        let side = |builder: &Builder<'ctx>, fused: bool| match launcher.announce_side {
            true => announce_side(program, builder, &kernel.name, first_site, fused),
            false => Ok(()),
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
        for parameter in &kernel.parameters {
            slots.push(self.argument(&builder, frame, &operands, parameter, &mut holds)?);
        }
        let mut record = Vec::new();
        for parameter in waiting.iter().flat_map(|waiting| waiting.parameters()) {
            let mut known = kernel.parameters.iter().zip(&slots);
            record.push(match known.find(|(known, _)| *known == parameter) {
                Some((_, slot)) => *slot,
                None => self.argument(&builder, frame, &operands, parameter, &mut holds)?,
            });
        }
        // What memory a launch touches was asked where it was kept.
        // Whether its blocks are on the device at once is asked last.
        let asked =
            |guard: &&Guard| matches!(guard, Guard::DeviceMemory { .. } | Guard::Resident { .. });
        let guards = group.guards.iter().filter(|guard| !asked(guard)).cloned();
        let guards: Vec<Guard> = guards.collect();
        let guard = emit_guards(context, &program.host, &builder, &operands, &guards)?;
        let guard = builder.build_and(guard, holds, "run.fused")?;
        builder.build_conditional_branch(guard, room, separate)?;

        let key = program
            .host
            .get_global(&fused_key(kernel))
            .ok_or_else(|| CodegenError::Inconsistent("the fused kernel has no key".into()))?;
        let key: BasicValueEnum<'_> = key.as_pointer_value().into();
        builder.position_at_end(room);
        let shared = largest_shared(&builder, &operands)?;
        let fits = operands.fits_without_asking(&builder, shared.into())?;
        builder.build_conditional_branch(fits, fused, ask)?;
        builder.position_at_end(ask);
        let fixed = operands.static_shared_bytes;
        let allowed = allow_shared(program, &builder, key, shared, fixed)?;
        builder.build_conditional_branch(allowed, fused, separate)?;

        builder.position_at_end(fused);
        let of_loop = waiting.and_then(|waiting| waiting.persistent_key(program));
        let keys: Vec<BasicValueEnum<'_>> = [key].into_iter().chain(of_loop).collect();
        let resident = resident_grid(program, &builder, &operands, group, (&keys, shared))?;
        if let Some((_, fits)) = resident {
            let launch = context.append_basic_block(function, "resident");
            builder.build_conditional_branch(fits, launch, separate)?;
            builder.position_at_end(launch);
        }
        side(&builder, true)?;
        let of_group = int.const_int(1 << 31, false);
        let site = builder.build_or(first_site, of_group, "site")?;
        let has_shape = |member: &MemberCall<'_, 'ctx>| tells_shape(group, member);
        let own = members.iter().rposition(has_shape);
        let own = own.ok_or_else(|| CodegenError::Inconsistent("nothing has a shape".into()))?;
        let mut configuration: Vec<BasicValueEnum<'_>> = (0..OPERANDS_BEFORE_ARGUMENTS)
            .map(|index| operands.parameters[operands.starts[own] + index])
            .collect();
        let grid = match resident {
            Some((grid, _)) => grid,
            None => largest_grid(program, &builder, &operands, group)?,
        };
        configuration[..grid.len()].copy_from_slice(&grid);
        // Rows are kept only where they fit without asking.
        let shared = match &kernel.promoted {
            Some(rows) => with_rows(program, &builder, &operands, kernel, rows, shared)?,
            None => shared,
        };
        configuration[SHARED_BYTES] = shared.into();
        for (place, extent) in common_shape(graph, group).into_iter().enumerate() {
            let Some(extent) = extent else { continue };
            let (host, one) = (&program.host, int.const_int(1, false));
            let extent = emit_expression(context, host, &builder, &operands, &extent)?;
            // One row: y is the upper half of the first operand, z the second.
            let packed = context.i64_type().const_int(1 << 32, false);
            configuration[2 * place] = builder.build_or(extent, packed, "row")?.into();
            configuration[2 * place + 1] = one.into();
        }
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
            builder.build_unconditional_branch(separate)?;
        } else {
            announce_site(program, &builder, launcher, site)?;
            let by = match resident {
                Some(_) => &cooperative(launcher),
                None => launcher,
            };
            let status = launch_kernel(program, &builder, by, key, &configuration, &slots)?;
            builder.build_return(Some(&status))?;
        }

        // Where a member was issued at its own place the others are, too, each at its own.
        builder.position_at_end(separate);
        side(&builder, false)?;
        builder.build_call(flush_function, &[frame.into(), pending.into()], "")?;
        let status = members[last].build_call(&builder, &of_last)?;
        builder.build_return(Some(&status))?;
        Ok(function)
    }

    /// The address of what a fused kernel gets for a parameter; `holds` says whether it can be had.
    fn argument(
        &self,
        builder: &Builder<'ctx>,
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
    pub(super) fn flush(&self) -> Result<FunctionValue<'ctx>, CodegenError> {
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
    pub(super) fn collect(
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
        let in_step = builder.build_int_compare(IntPredicate::EQ, pending, number, "in.step")?;
        let pends = builder.build_and(valid, in_step, "pends")?;
        builder.build_conditional_branch(pends, collect, issue)?;

        builder.position_at_end(collect);
        self.layout.store(program, &builder, place, index, &own)?;
        let with_it = builder.build_int_add(number, int.const_int(1, false), "with.it")?;
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

/// Shared memory that every block gets, static and dynamic together.
const SHARED_BYTES_WITHOUT_ASKING: u64 = 48 << 10;

/// The host symbol that stands for a fused kernel.
pub(super) fn fused_key(kernel: &FusedKernel) -> String {
    format!("sirius.fused.key.{}", kernel.name)
}

/// An internal function that takes what a member's call does, after something else, and gives its
/// status.
pub(super) fn add_operand_function<'ctx>(
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
pub(super) fn passed<'ctx>(
    parameters: &[BasicValueEnum<'ctx>],
    member: &MemberCall<'_, 'ctx>,
) -> Passed<'ctx> {
    let sites = usize::from(member.site().is_some());
    Passed {
        site: parameters.first().filter(|_| sites == 1).copied(),
        operands: parameters[sites..].to_vec(),
    }
}

/// The operands of a group function, for its guards and its launches.
pub(super) struct GroupOperands<'a, 'ctx> {
    members: &'a [MemberCall<'a, 'ctx>],
    /// The group function's parameters.
    pub(super) parameters: Vec<BasicValueEnum<'ctx>>,
    in_memory: Vec<Option<BasicTypeEnum<'ctx>>>,
    /// Where each member's operands begin.
    starts: Vec<usize>,
    values: HashMap<ValueId, IntValue<'ctx>>,
    pieces: HashMap<(LaunchId, Operand), IntValue<'ctx>>,
    maximum_threads: HashMap<LaunchId, IntValue<'ctx>>,
    shared_room: HashMap<LaunchId, IntValue<'ctx>>,
    /// Whether each set and copy would succeed.
    succeeds: HashMap<LaunchId, IntValue<'ctx>>,
    /// Of all members together.
    static_shared_bytes: u64,
    /// Whether a pointer in a table is not known, where there are any.
    unknown: Option<IntValue<'ctx>>,
}

impl<'a, 'ctx> GroupOperands<'a, 'ctx> {
    pub(super) fn new(
        program: &Program<'ctx>,
        models: &[KernelModel],
        members: &'a [MemberCall<'a, 'ctx>],
        builder: &Builder<'ctx>,
        parameters: &[BasicValueEnum<'ctx>],
    ) -> Result<Self, CodegenError> {
        let mut operands = Self {
            members,
            parameters: parameters.to_vec(),
            in_memory: members
                .iter()
                .flat_map(|member| member.in_memory.iter().copied())
                .collect(),
            starts: Vec::new(),
            values: HashMap::new(),
            pieces: HashMap::new(),
            maximum_threads: HashMap::new(),
            shared_room: HashMap::new(),
            succeeds: HashMap::new(),
            static_shared_bytes: 0,
            unknown: None,
        };
        let mut start = 0;
        for member in members {
            operands.starts.push(start);
            operands.add_member(program, builder, member, start)?;
            start += member.operands.len();
            let model = member.launch.kernel.and_then(|kernel| models.get(kernel.0));
            let model = model.ok_or_else(|| CodegenError::Inconsistent("unknown kernel".into()))?;
            operands.static_shared_bytes += model.static_shared_bytes;
            let limit = model.max_threads.unwrap_or(1024).min(1024);
            let most = program.context.i64_type().const_int(limit.into(), false);
            let Some(stub) = member.stub() else {
                continue;
            };
            let asked = thread_limit(program, builder, stub)?;
            let fewer = builder.build_int_compare(IntPredicate::ULT, asked, most, "fewer")?;
            let most = builder
                .build_select(fewer, asked, most, "most")?
                .into_int_value();
            operands.maximum_threads.insert(member.launch.id, most);
            let asked =
                operands.parameters[operands.starts[operands.starts.len() - 1] + SHARED_BYTES];
            let free = SHARED_BYTES_WITHOUT_ASKING.saturating_sub(model.static_shared_bytes);
            let asked = asked.into_int_value();
            let room = shared_limit(program, builder, stub, asked, free)?;
            operands.shared_room.insert(member.launch.id, room);
        }
        Ok(operands)
    }

    /// Whether a kernel of all members gets so much dynamic shared memory as it is.
    pub(super) fn fits_without_asking(
        &self,
        builder: &Builder<'ctx>,
        dynamic_bytes: BasicValueEnum<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let bytes = dynamic_bytes.into_int_value();
        let free = SHARED_BYTES_WITHOUT_ASKING.saturating_sub(self.static_shared_bytes);
        let free = bytes.get_type().const_int(free, false);
        Ok(builder.build_int_compare(IntPredicate::ULE, bytes, free, "fits")?)
    }

    /// The shape of an operation is that of a launch of the group.
    fn take_shapes(
        &mut self,
        program: &Program<'ctx>,
        graph: &LaunchGraph,
    ) -> Result<(), CodegenError> {
        let long = program.context.i64_type();
        for member in self.members.iter().filter(|member| member.is_operation()) {
            let launch = member.launch;
            let grid = (&launch.grid, Operand::Grid as fn(u8) -> Operand);
            for (ids, operand) in [grid, (&launch.block, Operand::Block)] {
                for (axis, id) in (0_u8..).zip(ids) {
                    let known = graph.values.get(id.0).and_then(|value| value.constant);
                    let constant = known.map(|value| {
                        long.const_int(value.cast_unsigned() & u64::from(u32::MAX), false)
                    });
                    let value = self.values.get(id).copied().or(constant);
                    let value = value.ok_or(CodegenError::GuardOperand(id.0))?;
                    self.pieces.insert((launch.id, operand(axis)), value);
                }
            }
        }
        Ok(())
    }

    /// An operation succeeds when none of its pointers is null.
    fn pointers_are_set(
        &mut self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        member: &MemberCall<'_, 'ctx>,
        start: usize,
    ) -> Result<(), CodegenError> {
        let long = program.context.i64_type();
        let mut succeeds = program.context.bool_type().const_all_ones();
        for (index, argument) in member.launch.arguments.iter().enumerate() {
            if argument.pieces.iter().all(|piece| piece.pointer.is_none()) {
                continue;
            }
            let value = self.parameters[start + OPERANDS_BEFORE_ARGUMENTS + index];
            let address = match value {
                BasicValueEnum::PointerValue(pointer) => {
                    builder.build_ptr_to_int(pointer, long, "address")?
                }
                value => value.into_int_value(),
            };
            let zero = address.get_type().const_zero();
            let is_set = builder.build_int_compare(IntPredicate::NE, address, zero, "set")?;
            succeeds = builder.build_and(succeeds, is_set, "succeeds")?;
        }
        self.succeeds.insert(member.launch.id, succeeds);
        Ok(())
    }

    fn position(&self, launch: LaunchId, index: usize) -> Option<usize> {
        let member = self
            .members
            .iter()
            .position(|member| member.launch.id == launch)?;
        (index < self.members[member].operands.len()).then(|| self.starts[member] + index)
    }

    fn add_member(
        &mut self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        member: &MemberCall<'_, 'ctx>,
        start: usize,
    ) -> Result<(), CodegenError> {
        let context = program.context;
        let (int, long) = (context.i32_type(), context.i64_type());
        let launch = member.launch;
        let parameters = self.parameters.clone();
        type Extents<'a> = (usize, &'a [ValueId; 3], fn(u8) -> Operand);
        let shapes: [Extents<'_>; 2] = [
            (start, &launch.grid, Operand::Grid),
            (start + 2, &launch.block, Operand::Block),
        ];
        for (at, ids, operand) in shapes {
            if member.is_operation() {
                break;
            }
            let packed = parameters[at].into_int_value();
            let low = builder.build_int_truncate(packed, int, "x")?;
            let high = builder.build_right_shift(packed, long.const_int(32, false), false, "y")?;
            let depth = parameters[at + 1].into_int_value();
            let extents = [
                builder.build_int_z_extend(low, long, "x")?,
                high,
                builder.build_int_z_extend(depth, long, "z")?,
            ];
            for (axis, (extent, id)) in (0_u8..).zip(extents.into_iter().zip(ids)) {
                self.values.entry(*id).or_insert(extent);
                self.pieces.insert((launch.id, operand(axis)), extent);
            }
        }
        if member.is_operation() {
            self.pointers_are_set(program, builder, member, start)?;
        }
        let stream = builder.build_ptr_to_int(
            parameters[start + OPERANDS_BEFORE_ARGUMENTS - 1].into_pointer_value(),
            long,
            "stream",
        )?;
        self.pieces.insert((launch.id, Operand::Stream), stream);
        let shared = parameters[start + SHARED_BYTES].into_int_value();
        self.values.entry(launch.shared_bytes).or_insert(shared);
        self.pieces
            .insert((launch.id, Operand::SharedBytes), shared);
        for (index, argument) in launch.arguments.iter().enumerate() {
            let at = start + OPERANDS_BEFORE_ARGUMENTS + index;
            for piece in &argument.pieces {
                let value = match piece.offset_bytes.checked_sub(BEHIND_POINTER) {
                    Some(distance) => self.stored_pointer(program, builder, at, distance)?,
                    None => self.piece(program, builder, at, piece.offset_bytes, piece.bits)?,
                };
                let Some(value) = value else { continue };
                for signed in [true, false] {
                    let operand = Operand::Argument {
                        argument: index,
                        offset_bytes: piece.offset_bytes,
                        bits: piece.bits,
                        signed,
                    };
                    let wide = builder.build_int_cast_sign_flag(value, long, signed, "wide")?;
                    self.pieces.insert((launch.id, operand), wide);
                    if signed {
                        self.values.entry(piece.value).or_insert(wide);
                    }
                }
            }
        }
        Ok(())
    }

    /// The pointer that stands so many bytes behind the place that the operand at `at` leads to.
    fn stored_pointer(
        &mut self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        at: usize,
        distance: u32,
    ) -> Result<Option<IntValue<'ctx>>, CodegenError> {
        let Some(address) = self.piece(program, builder, at, 0, u64::BITS)? else {
            return Ok(None);
        };
        let (pointer, known) = pointer_behind(program, builder, address, distance)?;
        let unknown = builder.build_not(known, "unknown")?;
        self.unknown = Some(match self.unknown {
            Some(before) => builder.build_or(before, unknown, "unknown")?,
            None => unknown,
        });
        Ok(Some(pointer))
    }

    /// An integer of `bits` bits at `offset_bytes` of the operand at `at`; `None` when the operand
    /// is no integer or pointer there.
    fn piece(
        &self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        at: usize,
        offset_bytes: u32,
        bits: u32,
    ) -> Result<Option<IntValue<'ctx>>, CodegenError> {
        let context = program.context;
        let Some(bits) = std::num::NonZeroU32::new(bits).filter(|bits| bits.get() <= 64) else {
            return Ok(None);
        };
        let type_ = context
            .custom_width_int_type(bits)
            .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        let value = self.parameters[at];
        if self.in_memory[at].is_some() {
            let memory = value.into_pointer_value();
            return Ok(Some(self.load_field(
                program,
                builder,
                memory,
                offset_bytes,
                type_,
            )?));
        }
        Ok(match value {
            BasicValueEnum::PointerValue(pointer) if bits.get() == 64 && offset_bytes == 0 => {
                Some(builder.build_ptr_to_int(pointer, type_, "address")?)
            }
            BasicValueEnum::IntValue(integer) => {
                let width = integer.get_type().get_bit_width();
                let shift = u64::from(offset_bytes) * 8;
                if shift + u64::from(bits.get()) > u64::from(width) {
                    return Ok(None);
                }
                let shift = integer.get_type().const_int(shift, false);
                let shifted = builder.build_right_shift(integer, shift, false, "field")?;
                Some(if bits.get() == width {
                    shifted
                } else {
                    builder.build_int_truncate(shifted, type_, "field")?
                })
            }
            // A struct passed as a value: its memory image has the field.
            BasicValueEnum::StructValue(_) => {
                let memory = builder.build_alloca(value.get_type(), "argument")?;
                builder.build_store(memory, value)?;
                Some(self.load_field(program, builder, memory, offset_bytes, type_)?)
            }
            _ => None,
        })
    }

    fn load_field(
        &self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        memory: PointerValue<'ctx>,
        offset_bytes: u32,
        type_: IntType<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let context = program.context;
        let offset = context.i64_type().const_int(offset_bytes.into(), false);
        // SAFETY: the offset lies within the argument, by the launch graph's invariant.
        let address = unsafe { builder.build_gep(context.i8_type(), memory, &[offset], "field")? };
        let field = builder.build_load(type_, address, "field")?;
        // A packed struct may have it anywhere.
        if let Some(load) = field.as_instruction_value() {
            load.set_alignment(1)
                .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        }
        Ok(field.into_int_value())
    }
}

impl<'ctx> Operands<'ctx> for GroupOperands<'_, 'ctx> {
    fn value(&self, value: ValueId) -> Option<IntValue<'ctx>> {
        self.values.get(&value).copied()
    }

    fn operand(&self, launch: LaunchId, operand: Operand) -> Option<IntValue<'ctx>> {
        self.pieces.get(&(launch, operand)).copied()
    }

    fn unknown(&self) -> Option<IntValue<'ctx>> {
        self.unknown
    }

    fn shared_room(&self, launch: LaunchId) -> Option<IntValue<'ctx>> {
        self.shared_room.get(&launch).copied()
    }

    fn maximum_threads(&self, launch: LaunchId) -> Option<IntValue<'ctx>> {
        self.maximum_threads.get(&launch).copied()
    }

    fn operation_succeeds(&self, launch: LaunchId) -> Option<IntValue<'ctx>> {
        self.succeeds.get(&launch).copied()
    }
}
