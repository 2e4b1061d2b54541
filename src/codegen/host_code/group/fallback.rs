//! What runs where a cooperative launch is refused: groups of its members in place of originals.
//!
//! Invariant: members run in order, each once, all of them with what was kept at their own places. Those of a part run as one
//! where all of them pend and its own tests hold, else as they are written.

use super::super::super::launch_call::{Launcher, announce_site, launch_kernel};
use super::super::super::{CodegenError, FusedKernel};
use super::super::guard::emit_guards;
use super::{GroupFunctions, GroupOperands, ask_for_room, key_of};
use crate::codegen::batches::issue_waiting;
use crate::dependence::Guard;
use crate::launch::LaunchGraph;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PointerValue};
use std::ops::Range;

/// A group of a fallback.
#[derive(Clone, Copy)]
pub(in crate::codegen) struct Part<'a> {
    pub(in crate::codegen) group: &'a FusionGroup,
    pub(in crate::codegen) kernel: &'a FusedKernel,
}

impl<'ctx> GroupFunctions<'_, 'ctx> {
    /// `i32 sirius.fallback.G(ptr frame, i32 pending)`: issues the first `pending` members, those of parts as one. Returns the
    /// status of the last.
    pub(in crate::codegen) fn run_fallback(
        &self,
        graph: &LaunchGraph,
        parts: &[Part<'_>],
        launcher: &Launcher,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let context = self.program.context;
        let int = context.i32_type();
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let type_ = int.fn_type(&[pointer.into(), int.into()], false);
        let name = format!("sirius.fallback.{}", self.number);
        let host = &self.program.host;
        let function = host.add_function(&name, type_, Some(Linkage::Internal));
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, "entry"));
        let parameters = function.get_params();
        let frame = parameters[0].into_pointer_value();
        let pending = parameters[1].into_int_value();
        let status = builder.build_alloca(int, "status")?;
        builder.build_store(status, int.const_zero())?;
        let done = context.append_basic_block(function, "done");
        let mut next = 0;
        for part in parts {
            let range = self.range_of(part)?;
            self.issue_one_by_one(&builder, next..range.start, (frame, pending), status, done)?;
            next = range.end;
            let [whole, apart, behind] =
                ["whole", "apart", "behind"].map(|name| context.append_basic_block(function, name));
            let count = int.const_int(range.end as u64, false);
            let all = builder.build_int_compare(IntPredicate::UGE, pending, count, "all")?;
            builder.build_conditional_branch(all, whole, apart)?;
            builder.position_at_end(whole);
            let own = self.run_part(
                &builder,
                graph,
                (part, range.clone()),
                launcher,
                (frame, apart),
            )?;
            builder.build_store(status, own)?;
            builder.build_unconditional_branch(behind)?;
            builder.position_at_end(apart);
            self.issue_one_by_one(&builder, range, (frame, pending), status, done)?;
            builder.build_unconditional_branch(behind)?;
            builder.position_at_end(behind);
        }
        let rest = next..self.members.len();
        self.issue_one_by_one(&builder, rest, (frame, pending), status, done)?;
        builder.build_unconditional_branch(done)?;
        builder.position_at_end(done);
        let status = builder.build_load(int, status, "status")?;
        builder.build_return(Some(&status))?;
        Ok(function)
    }

    /// The positions of a part's members.
    fn range_of(&self, part: &Part<'_>) -> Result<Range<usize>, CodegenError> {
        let own = &part.group.members;
        let mut windows = self.members.windows(own.len().max(1));
        let begin = windows.position(|window| {
            let mut pairs = window.iter().zip(own);
            pairs.all(|(member, own)| member.launch.id == own.launch)
        });
        let missing = || CodegenError::Inconsistent("a part has other members".into());
        let begin = begin.ok_or_else(missing)?;
        Ok(begin..begin + own.len())
    }

    /// Issues those of some members that are among the first `pending` as they are written; goes on in `done` where one is not.
    fn issue_one_by_one(
        &self,
        builder: &Builder<'ctx>,
        members: Range<usize>,
        (frame, pending): (PointerValue<'ctx>, IntValue<'ctx>),
        status: PointerValue<'ctx>,
        done: BasicBlock<'ctx>,
    ) -> Result<(), CodegenError> {
        let context = self.program.context;
        let function = done.get_parent();
        let function = function.ok_or_else(|| CodegenError::Inconsistent("no function".into()))?;
        for index in members {
            let issue = context.append_basic_block(function, "issue");
            let own = context.i32_type().const_int(index as u64, false);
            let more = builder.build_int_compare(IntPredicate::UGT, pending, own, "more")?;
            builder.build_conditional_branch(more, issue, done)?;
            builder.position_at_end(issue);
            let kept = self.layout.load(self.program, builder, frame, index)?;
            let own = self.members[index].build_call(builder, &kept)?;
            builder.build_store(status, own)?;
        }
        Ok(())
    }

    /// Launches a part, where its tests hold, and gives the launch's status; goes on in `apart` where one does not.
    fn run_part(
        &self,
        builder: &Builder<'ctx>,
        graph: &LaunchGraph,
        (part, range): (&Part<'_>, Range<usize>),
        launcher: &Launcher,
        (frame, apart): (PointerValue<'ctx>, BasicBlock<'ctx>),
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let (program, layout) = (self.program, self.layout);
        let Part { group, kernel } = *part;
        let context = program.context;
        let int = context.i32_type();
        let function = apart.get_parent();
        let function = function.ok_or_else(|| CodegenError::Inconsistent("no function".into()))?;
        let own = GroupFunctions {
            members: &self.members[range.clone()],
            ..*self
        };
        let (mut values, mut first_site) = (Vec::new(), None);
        for (index, member) in range.zip(own.members) {
            let kept = layout.load(program, builder, frame, index)?;
            values.extend(kept.operands);
            first_site = first_site.or(kept.site.filter(|_| !member.is_operation()));
        }
        let first_site =
            first_site.map_or_else(|| own.first_site(), BasicValueEnum::into_int_value);
        let mut operands = GroupOperands::new(program, self.models, own.members, builder, &values)?;
        operands.take_shapes(program, graph)?;
        operands.static_shared_bytes = kernel.static_shared_bytes;
        let mut holds = context.bool_type().const_all_ones();
        let mut slots = Vec::new();
        for parameter in &kernel.parameters {
            // Its arguments lie where the whole group keeps them.
            let slot = self.argument(builder, launcher, frame, &operands, parameter, &mut holds)?;
            slots.push(slot);
        }
        // What memory a launch touches was asked where it was kept.
        let guards = group.guards.iter();
        let guards = guards.filter(|guard| !matches!(guard, Guard::DeviceMemory { .. }));
        let guards: Vec<Guard> = guards.cloned().collect();
        let guard = emit_guards(context, &program.host, builder, &operands, &guards)?;
        let guard = builder.build_and(guard, holds, "run.fused")?;
        let [room, ask, fused, refused] = ["room", "ask", "fused", "refused"]
            .map(|name| context.append_basic_block(function, name));
        builder.build_conditional_branch(guard, room, refused)?;

        builder.position_at_end(room);
        let key = key_of(program, kernel)?;
        let ways = [ask, fused, refused];
        let shared = ask_for_room(program, builder, &operands, (key, group), ways)?;

        builder.position_at_end(refused);
        own.tell_side(builder, launcher, (kernel, first_site), false)?;
        builder.build_unconditional_branch(apart)?;

        builder.position_at_end(fused);
        own.tell_side(builder, launcher, (kernel, first_site), true)?;
        let of_group = int.const_int(1 << 31, false);
        let site = builder.build_or(first_site, of_group, "site")?;
        let whole = (graph, group, kernel);
        let configuration = own.whole_configuration(builder, &operands, whole, None, shared)?;
        issue_waiting(program, builder)?;
        announce_site(program, builder, launcher, site)?;
        launch_kernel(program, builder, launcher, key, &configuration, &slots)
    }
}
