//! The functions of a group that runs with those of its members that the host came to.
//!
//! Invariant: bit I of the group's pending launches is member I, which pends; the bits come one after the other, so that
//! all of them are of one iteration. A member that does not pend has operands of zeros where the fused launch
//! takes them from: an empty grid, no shared memory, and arguments that no thread looks at.

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

    /// `i32 sirius.part.G(ptr frame, i32 pending)`: runs what pends as one kernel where these are two or more and all
    /// that is to be tested of them holds, else the originals in order. Returns the status of the last.
    pub(in crate::codegen) fn run_in_part(
        &self,
        (group, kernel): (&FusionGroup, &FusedKernel),
        launcher: &Launcher,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let (program, members, layout) = (self.program, self.members, self.layout);
        let context = program.context;
        let int = context.i32_type();
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let type_ = int.fn_type(&[pointer.into(), int.into()], false);
        let name = format!("sirius.part.{}", self.number);
        let host = &program.host;
        let function = host.add_function(&name, type_, Some(Linkage::Internal));
        let builder = context.create_builder();
        let block = |name: &str| context.append_basic_block(function, name);
        let [entry, several, room, ask, fused, separate] =
            ["entry", "several", "room", "ask", "fused", "separate"].map(block);
        let parameters = function.get_params();
        let frame = parameters[0].into_pointer_value();
        let pending = parameters[1].into_int_value();
        let first_site = self.first_site();

        builder.position_at_end(entry);
        let one = int.const_int(1, false);
        let less = builder.build_int_sub(pending, one, "less")?;
        let others = builder.build_and(pending, less, "others")?;
        let single =
            builder.build_int_compare(IntPredicate::EQ, others, int.const_zero(), "single")?;
        builder.build_conditional_branch(single, separate, several)?;

        builder.position_at_end(several);
        let mut present = Vec::new();
        for member in 0..members.len() {
            present.push(self.clear_unless_pending(
                &builder,
                function,
                (frame, pending),
                member,
            )?);
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
            slots.push(self.argument(&builder, frame, &operands, parameter, &mut holds)?);
        }
        self.test_those_present(&builder, function, group, &operands, &present, separate)?;
        builder.build_conditional_branch(holds, room, separate)?;

        builder.position_at_end(room);
        let key = key_of(program, kernel)?;
        let shared = ask_for_room(program, &builder, &operands, key, [ask, fused, separate])?;

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
        let status = self.issue_originals(&builder, function, (frame, pending))?;
        builder.build_return(Some(&status))?;
        Ok(function)
    }

    /// Whether a member pends; where it does not its operands become zeros.
    fn clear_unless_pending(
        &self,
        builder: &Builder<'ctx>,
        function: FunctionValue<'ctx>,
        (frame, pending): (PointerValue<'ctx>, IntValue<'ctx>),
        member: usize,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let (program, layout) = (self.program, self.layout);
        let context = program.context;
        let present = is_pending(builder, pending, member)?;
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

    /// Makes each test whose members all pend, and goes to `separate` where one fails.
    fn test_those_present(
        &self,
        builder: &Builder<'ctx>,
        function: FunctionValue<'ctx>,
        group: &FusionGroup,
        operands: &GroupOperands<'_, 'ctx>,
        present: &[IntValue<'ctx>],
        separate: BasicBlock<'ctx>,
    ) -> Result<(), CodegenError> {
        let context = self.program.context;
        let missing = |launch: &LaunchId| {
            CodegenError::Inconsistent(format!("launch {} is not in its group", launch.0))
        };
        for tests in &group.partial_guards {
            let mut all = context.bool_type().const_all_ones();
            for launch in &tests.members {
                let mut members = self.members.iter();
                let member = members.position(|member| member.launch.id == *launch);
                let member = member.ok_or_else(|| missing(launch))?;
                all = builder.build_and(all, present[member], "all")?;
            }
            let [test, next] =
                ["test", "next"].map(|name| context.append_basic_block(function, name));
            builder.build_conditional_branch(all, test, next)?;
            builder.position_at_end(test);
            let own = OperandsOfSome {
                all: operands,
                members: &tests.members,
            };
            let host = &self.program.host;
            let holds = emit_guards(context, host, builder, &own, &tests.guards)?;
            builder.build_conditional_branch(holds, next, separate)?;
            builder.position_at_end(next);
        }
        Ok(())
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

    /// Issues the members that pend as they are written; returns the status of the last.
    fn issue_originals(
        &self,
        builder: &Builder<'ctx>,
        function: FunctionValue<'ctx>,
        (frame, pending): (PointerValue<'ctx>, IntValue<'ctx>),
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let program = self.program;
        let context = program.context;
        let int = context.i32_type();
        let broken = || CodegenError::Inconsistent("a function without a block".into());
        let mut status = int.const_zero();
        for (index, member) in self.members.iter().enumerate() {
            let before = builder.get_insert_block().ok_or_else(broken)?;
            let present = is_pending(builder, pending, index)?;
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

fn is_pending<'ctx>(
    builder: &Builder<'ctx>,
    pending: IntValue<'ctx>,
    member: usize,
) -> Result<IntValue<'ctx>, CodegenError> {
    let int = pending.get_type();
    let bit = builder.build_and(pending, int.const_int(1 << member, false), "bit")?;
    Ok(builder.build_int_compare(IntPredicate::NE, bit, int.const_zero(), "present")?)
}
