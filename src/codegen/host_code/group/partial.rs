//! The functions of a group that runs with those of its members that the host came to.
//!
//! Invariant: bit I of the group's pending launches is member I, which pends; the bits come one after the other, so that
//! all of them are of one iteration. Members run in order, in one launch or several, of which each has only members whose
//! tests held. A member that is not in a launch has operands of zeros where that takes them from: an empty grid, no
//! shared memory, and arguments that no thread looks at.

use super::operands::{GroupOperands, OperandsOfSome};
use super::shape::largest_grid;
use super::{GroupFunctions, add_operand_function, ask_for_room, key_of, passed};
use crate::codegen::batches::issue_waiting;
use crate::codegen::guard::emit_guards;
use crate::codegen::launch_call::{
    Launcher, OPERANDS_BEFORE_ARGUMENTS, SHARED_BYTES, announce_side, announce_site, launch_kernel,
};
use crate::codegen::{CodegenError, FusedKernel};
use crate::launch::LaunchId;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PointerValue};

/// Whether no member pends that comes after member `number`, nor that one itself.
pub(super) fn comes_next<'ctx>(
    builder: &Builder<'ctx>,
    pending: IntValue<'ctx>,
    number: IntValue<'ctx>,
) -> Result<IntValue<'ctx>, CodegenError> {
    let later = builder.build_right_shift(pending, number, false, "later")?;
    let none = later.get_type().const_zero();
    Ok(builder.build_int_compare(IntPredicate::EQ, later, none, "comes.next")?)
}

/// What pends with member `number`, too.
pub(super) fn with_member<'ctx>(
    builder: &Builder<'ctx>,
    pending: IntValue<'ctx>,
    number: IntValue<'ctx>,
) -> Result<IntValue<'ctx>, CodegenError> {
    let one = number.get_type().const_int(1, false);
    let own = builder.build_left_shift(one, number, "own")?;
    Ok(builder.build_or(pending, own, "with.it")?)
}

impl<'ctx> GroupFunctions<'_, 'ctx> {
    /// `i32 sirius.group.G(ptr frame, i32 first site, operands of the last member)`: runs the last member with those that
    /// pend.
    pub(in crate::codegen) fn last_in_part(
        &self,
        run: FunctionValue<'ctx>,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let (program, members) = (self.program, self.members);
        let context = program.context;
        let int = context.i32_type();
        let last = members.len() - 1;
        let name = format!("sirius.group.{}", self.number);
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let first = [pointer.into(), int.into()];
        let function = add_operand_function(program, &name, &first, &members[last]);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, "entry"));
        let parameters = function.get_params();
        let frame = parameters[0].into_pointer_value();
        let of_last = passed(&parameters[first.len()..], &members[last]);
        let pending = builder.build_load(int, frame, "pending")?.into_int_value();
        builder.build_store(frame, int.const_zero())?;
        let place = self.layout.place(program, &builder, frame, last)?;
        self.layout
            .store(program, &builder, place, last, &of_last)?;
        let number = int.const_int(last as u64, false);
        let all = with_member(&builder, pending, number)?;
        let status = builder
            .build_call(run, &[frame.into(), all.into()], "status")?
            .try_as_basic_value()
            .unwrap_basic();
        builder.build_return(Some(&status))?;
        Ok(function)
    }

    /// `void sirius.flush.G(ptr frame, i32 pending)`: issues what pends.
    pub(in crate::codegen) fn flush_in_part(
        &self,
        run: FunctionValue<'ctx>,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let context = self.program.context;
        let int = context.i32_type();
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let type_ = context
            .void_type()
            .fn_type(&[pointer.into(), int.into()], false);
        let name = format!("sirius.flush.{}", self.number);
        let host = &self.program.host;
        let function = host.add_function(&name, type_, Some(Linkage::Internal));
        let builder = context.create_builder();
        let [entry, some, done] =
            ["entry", "some", "done"].map(|name| context.append_basic_block(function, name));
        builder.position_at_end(entry);
        let parameters = function.get_params();
        let pending = parameters[1].into_int_value();
        let none =
            builder.build_int_compare(IntPredicate::EQ, pending, int.const_zero(), "none")?;
        builder.build_conditional_branch(none, done, some)?;
        builder.position_at_end(some);
        builder.build_call(run, &[parameters[0].into(), pending.into()], "")?;
        builder.build_unconditional_branch(done)?;
        builder.position_at_end(done);
        builder.build_return(None)?;
        Ok(function)
    }

    /// `i32 sirius.part.G(ptr frame, i32 pending)`: runs what pends, in order, as few launches: a member for which a test
    /// fails, or one with an earlier member, begins the next. Returns the status of the last.
    pub(in crate::codegen) fn run_in_part(
        &self,
        (group, kernel): (&FusionGroup, &FusedKernel),
        launcher: &Launcher,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let (program, members, layout) = (self.program, self.members, self.layout);
        let launch_set = self.launch_set((group, kernel), launcher)?;
        let context = program.context;
        let int = context.i32_type();
        let function = self.function_of_set("part");
        let builder = context.create_builder();
        let [entry, several, single] =
            ["entry", "several", "single"].map(|name| context.append_basic_block(function, name));
        let parameters = function.get_params();
        let frame = parameters[0].into_pointer_value();
        let pending = parameters[1].into_int_value();
        let launch = |set: IntValue<'ctx>| -> Result<IntValue<'ctx>, CodegenError> {
            let call = builder.build_call(launch_set, &[frame.into(), set.into()], "status")?;
            Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
        };

        builder.position_at_end(entry);
        let is_single = has_one_bit(&builder, pending)?;
        builder.build_conditional_branch(is_single, single, several)?;
        builder.position_at_end(single);
        let status = launch(pending)?;
        builder.build_return(Some(&status))?;

        builder.position_at_end(several);
        // Nobody has written what is kept of a member that the host did not come to yet.
        for member in 0..members.len() {
            self.clear_unless_present(&builder, function, (frame, pending), member)?;
        }
        let mut values = Vec::new();
        for member in 0..members.len() {
            values.extend(layout.load(program, &builder, frame, member)?.operands);
        }
        let operands = GroupOperands::new(program, self.models, members, &builder, &values)?;
        let apart = self.failed_tests(&builder, function, group, &operands, pending)?;
        let mut set = int.const_zero();
        let mut status = int.const_zero();
        for (member, apart) in apart.into_iter().enumerate() {
            let before = block_of(&builder)?;
            let present = is_in(&builder, pending, member)?;
            let [join, begin, joined, next] = ["join", "begin", "joined", "next"]
                .map(|name| context.append_basic_block(function, name));
            builder.build_conditional_branch(present, join, next)?;
            builder.position_at_end(join);
            let conflicts = builder.build_and(set, apart, "conflicts")?;
            let fits =
                builder.build_int_compare(IntPredicate::EQ, conflicts, int.const_zero(), "fits")?;
            builder.build_conditional_branch(fits, joined, begin)?;
            builder.position_at_end(begin);
            let launched = launch(set)?;
            builder.build_unconditional_branch(joined)?;
            builder.position_at_end(joined);
            let kept = builder.build_phi(int, "kept")?;
            kept.add_incoming(&[(&set, join), (&int.const_zero(), begin)]);
            let so_far = builder.build_phi(int, "status")?;
            so_far.add_incoming(&[(&status, join), (&launched, begin)]);
            let own = int.const_int(1 << member, false);
            let with_it = builder.build_or(kept.as_basic_value().into_int_value(), own, "set")?;
            builder.build_unconditional_branch(next)?;
            builder.position_at_end(next);
            let merged = builder.build_phi(int, "set")?;
            merged.add_incoming(&[(&set, before), (&with_it, joined)]);
            let of_last = builder.build_phi(int, "status")?;
            of_last.add_incoming(&[(&status, before), (&so_far.as_basic_value(), joined)]);
            set = merged.as_basic_value().into_int_value();
            status = of_last.as_basic_value().into_int_value();
        }
        let status = launch(set)?;
        builder.build_return(Some(&status))?;
        Ok(function)
    }

    /// `i32 sirius.KIND.G(ptr frame, i32 members)`, without a body.
    fn function_of_set(&self, kind: &str) -> FunctionValue<'ctx> {
        let context = self.program.context;
        let int = context.i32_type();
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let type_ = int.fn_type(&[pointer.into(), int.into()], false);
        let name = format!("sirius.{kind}.{}", self.number);
        let host = &self.program.host;
        host.add_function(&name, type_, Some(Linkage::Internal))
    }

    /// For each member the earlier ones that it may not be one launch with. A test is made where all of its members pend;
    /// a member for which one fails stays apart from all.
    fn failed_tests(
        &self,
        builder: &Builder<'ctx>,
        function: FunctionValue<'ctx>,
        group: &FusionGroup,
        operands: &GroupOperands<'_, 'ctx>,
        pending: IntValue<'ctx>,
    ) -> Result<Vec<IntValue<'ctx>>, CodegenError> {
        let context = self.program.context;
        let int = context.i32_type();
        let missing = |launch: &LaunchId| {
            CodegenError::Inconsistent(format!("launch {} is not in its group", launch.0))
        };
        let position = |launch: &LaunchId| {
            let mut members = self.members.iter();
            let found = members.position(|member| member.launch.id == *launch);
            found.ok_or_else(|| missing(launch))
        };
        let mut apart = vec![int.const_zero(); self.members.len()];
        for tests in &group.partial_guards {
            let members = tests
                .members
                .iter()
                .map(position)
                .collect::<Result<Vec<usize>, _>>()?;
            let before = block_of(builder)?;
            let [test, next] =
                ["test", "next"].map(|name| context.append_basic_block(function, name));
            let own = members.iter().fold(0, |bits, member| bits | 1 << member);
            let own = int.const_int(own, false);
            let there = builder.build_and(pending, own, "there")?;
            let all = builder.build_int_compare(IntPredicate::EQ, there, own, "all")?;
            builder.build_conditional_branch(all, test, next)?;
            builder.position_at_end(test);
            let of_these = OperandsOfSome {
                all: operands,
                members: &tests.members,
            };
            let host = &self.program.host;
            let holds = emit_guards(context, host, builder, &of_these, &tests.guards)?;
            let fails = builder.build_not(holds, "fails")?;
            let fails = builder.build_int_s_extend(fails, int, "fails")?;
            let after = block_of(builder)?;
            builder.build_unconditional_branch(next)?;
            builder.position_at_end(next);
            let failed = builder.build_phi(int, "failed")?;
            failed.add_incoming(&[(&int.const_zero(), before), (&fails, after)]);
            let failed = failed.as_basic_value().into_int_value();
            let [single] = members.as_slice() else {
                let (earlier, later) = match (members.iter().min(), members.iter().max()) {
                    (Some(earlier), Some(later)) if members.len() == 2 => (*earlier, *later),
                    _ => return Err(CodegenError::Inconsistent("a test of many members".into())),
                };
                let bit = int.const_int(1 << earlier, false);
                let bit = builder.build_and(failed, bit, "apart")?;
                apart[later] = builder.build_or(apart[later], bit, "apart")?;
                continue;
            };
            apart[*single] = builder.build_or(apart[*single], failed, "apart")?;
            let bit = builder.build_and(failed, int.const_int(1 << single, false), "apart")?;
            for later in &mut apart[single + 1..] {
                *later = builder.build_or(*later, bit, "apart")?;
            }
        }
        Ok(apart)
    }

    /// `i32 sirius.set.G(ptr frame, i32 members)`: runs these as one kernel where they are two or more and a block may have
    /// as much shared memory, else the originals in order. Returns the status of the last.
    fn launch_set(
        &self,
        (group, kernel): (&FusionGroup, &FusedKernel),
        launcher: &Launcher,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let (program, members, layout) = (self.program, self.members, self.layout);
        let context = program.context;
        let int = context.i32_type();
        let function = self.function_of_set("set");
        let builder = context.create_builder();
        let block = |name: &str| context.append_basic_block(function, name);
        let [entry, several, room, ask, fused, separate] =
            ["entry", "several", "room", "ask", "fused", "separate"].map(block);
        let parameters = function.get_params();
        let kept = parameters[0].into_pointer_value();
        let set = parameters[1].into_int_value();
        let first_site = self.first_site();

        builder.position_at_end(entry);
        // Other members may run in a launch of their own.
        let bytes = context.i64_type().const_int(layout.extent.bytes, false);
        let frame = builder.build_array_alloca(context.i8_type(), bytes, "frame")?;
        if let Some(instruction) = frame.as_instruction() {
            let alignment = instruction.set_alignment(layout.extent.align_bytes);
            alignment.map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        }
        let is_single = has_one_bit(&builder, set)?;
        builder.build_conditional_branch(is_single, separate, several)?;

        builder.position_at_end(several);
        let align_bytes = layout.extent.align_bytes;
        builder
            .build_memcpy(frame, align_bytes, kept, align_bytes, bytes)
            .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        let mut present = Vec::new();
        for member in 0..members.len() {
            present.push(self.clear_unless_present(&builder, function, (frame, set), member)?);
        }
        let mut values = Vec::new();
        for member in 0..members.len() {
            values.extend(layout.load(program, &builder, frame, member)?.operands);
        }
        let mut operands = GroupOperands::new(program, self.models, members, &builder, &values)?;
        operands.static_shared_bytes = kernel.static_shared_bytes;
        let mut holds = context.bool_type().const_all_ones();
        let mut slots = Vec::new();
        for parameter in &kernel.parameters {
            slots.push(self.argument(&builder, launcher, frame, &operands, parameter, &mut holds)?);
        }
        builder.build_conditional_branch(holds, room, separate)?;

        builder.position_at_end(room);
        let key = key_of(program, kernel)?;
        let ways = [ask, fused, separate];
        let shared = ask_for_room(program, &builder, &operands, (key, group), ways)?;

        builder.position_at_end(fused);
        if launcher.announce_side {
            announce_side(program, &builder, &kernel.name, first_site, true)?;
        }
        let site = builder.build_or(first_site, int.const_int(1 << 31, false), "site")?;
        let mut configuration = self.configuration(&builder, &operands, &present)?;
        let grid = largest_grid(program, &builder, &operands, group)?;
        configuration[..grid.len()].copy_from_slice(&grid);
        configuration[SHARED_BYTES] = shared.into();
        issue_waiting(program, &builder)?;
        announce_site(program, &builder, launcher, site)?;
        let status = launch_kernel(program, &builder, launcher, key, &configuration, &slots)?;
        builder.build_return(Some(&status))?;

        builder.position_at_end(separate);
        if launcher.announce_side {
            announce_side(program, &builder, &kernel.name, first_site, false)?;
        }
        let status = self.issue_originals(&builder, function, (kept, set))?;
        builder.build_return(Some(&status))?;
        Ok(function)
    }

    /// Whether a member is one of a set; where it is not its operands become zeros.
    fn clear_unless_present(
        &self,
        builder: &Builder<'ctx>,
        function: FunctionValue<'ctx>,
        (frame, set): (PointerValue<'ctx>, IntValue<'ctx>),
        member: usize,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let (program, layout) = (self.program, self.layout);
        let context = program.context;
        let present = is_in(builder, set, member)?;
        let [absent, next] =
            ["absent", "next"].map(|name| context.append_basic_block(function, name));
        builder.build_conditional_branch(present, next, absent)?;
        builder.position_at_end(absent);
        let place = layout.place(program, builder, frame, member)?;
        let bytes = context.i64_type().const_int(layout.bytes_of(member), false);
        builder
            .build_memset(place, 1, context.i8_type().const_zero(), bytes)
            .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        builder.build_unconditional_branch(next)?;
        builder.position_at_end(next);
        Ok(present)
    }

    /// What a launch is configured with, as a member that pends has it.
    fn configuration(
        &self,
        builder: &Builder<'ctx>,
        operands: &GroupOperands<'_, 'ctx>,
        present: &[IntValue<'ctx>],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CodegenError> {
        let of_member = |member: usize, index: usize| {
            let start = operands.starts[member];
            operands.parameters[start + index]
        };
        let mut configuration = Vec::new();
        for index in 0..OPERANDS_BEFORE_ARGUMENTS {
            let mut value = of_member(0, index);
            for (member, present) in present.iter().enumerate().skip(1) {
                let own = of_member(member, index);
                value = builder.build_select(*present, own, value, "configuration")?;
            }
            configuration.push(value);
        }
        Ok(configuration)
    }

    /// Issues the members of a set as they are written; returns the status of the last.
    fn issue_originals(
        &self,
        builder: &Builder<'ctx>,
        function: FunctionValue<'ctx>,
        (frame, set): (PointerValue<'ctx>, IntValue<'ctx>),
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let program = self.program;
        let context = program.context;
        let int = context.i32_type();
        let mut status = int.const_zero();
        for (index, member) in self.members.iter().enumerate() {
            let before = block_of(builder)?;
            let present = is_in(builder, set, index)?;
            let [issue, next] =
                ["issue", "next"].map(|name| context.append_basic_block(function, name));
            builder.build_conditional_branch(present, issue, next)?;
            builder.position_at_end(issue);
            let kept = self.layout.load(program, builder, frame, index)?;
            let own = member.build_call(builder, &kept)?;
            builder.build_unconditional_branch(next)?;
            builder.position_at_end(next);
            let either = builder.build_phi(int, "status")?;
            either.add_incoming(&[(&status, before), (&own, issue)]);
            status = either.as_basic_value().into_int_value();
        }
        Ok(status)
    }
}

fn block_of<'ctx>(builder: &Builder<'ctx>) -> Result<BasicBlock<'ctx>, CodegenError> {
    let block = builder.get_insert_block();
    block.ok_or_else(|| CodegenError::Inconsistent("a function without a block".into()))
}

/// Whether a set that is not empty has one member.
fn has_one_bit<'ctx>(
    builder: &Builder<'ctx>,
    set: IntValue<'ctx>,
) -> Result<IntValue<'ctx>, CodegenError> {
    let int = set.get_type();
    let less = builder.build_int_sub(set, int.const_int(1, false), "less")?;
    let others = builder.build_and(set, less, "others")?;
    Ok(builder.build_int_compare(IntPredicate::EQ, others, int.const_zero(), "single")?)
}

fn is_in<'ctx>(
    builder: &Builder<'ctx>,
    set: IntValue<'ctx>,
    member: usize,
) -> Result<IntValue<'ctx>, CodegenError> {
    let int = set.get_type();
    let bit = builder.build_and(set, int.const_int(1 << member, false), "bit")?;
    Ok(builder.build_int_compare(IntPredicate::NE, bit, int.const_zero(), "present")?)
}
