//! What runs of a group where the host does not come to the launch that the last block runs.
//!
//! Invariant: the members in front run as one launch only where all of them pend and what is tested of them alone holds. No
//! operand of the member behind is read: it has none yet.

use super::super::super::launch_call::{Launcher, announce_site, launch_kernel};
use super::super::super::{CodegenError, FusedKernel, FusedParameter};
use super::super::guard::{Operands, emit_guards};
use super::{GroupFunctions, GroupOperands, ask_for_room, key_of};
use crate::codegen::batches::issue_waiting;
use crate::codegen::common_shape::common_shape;
use crate::dependence::Guard;
use crate::launch::{LaunchGraph, ValueId};
use crate::math::expression::Expression;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::values::{BasicValueEnum, FunctionValue, PointerValue};

impl<'ctx> GroupFunctions<'_, 'ctx> {
    /// `void sirius.leave.G(ptr frame, i32 pending)`: issues the first `pending` members where the host leaves the group,
    /// those in front of the last block as one. It is `flush` where they have no kernel without the member behind.
    pub(in crate::codegen) fn leave(
        &self,
        graph: &LaunchGraph,
        (group, kernel): (&FusionGroup, &FusedKernel),
        flush: FunctionValue<'ctx>,
        launcher: &Launcher,
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let Some(guards) = &group.early_guards else {
            return Ok(flush);
        };
        let (program, layout) = (self.program, self.layout);
        let context = program.context;
        let int = context.i32_type();
        let count = group.of_all_blocks();
        let front = GroupFunctions {
            members: &self.members[..count],
            ..*self
        };
        let name = format!("sirius.leave.{}", self.number);
        let host = &program.host;
        let function = host.add_function(&name, flush.get_type(), Some(Linkage::Internal));
        let builder = context.create_builder();
        let blocks = ["entry", "complete", "room", "ask", "fused", "separate"];
        let [entry, complete, room, ask, fused, separate] =
            blocks.map(|name| context.append_basic_block(function, name));
        builder.position_at_end(entry);
        let parameters = function.get_params();
        let frame = parameters[0].into_pointer_value();
        let pending = parameters[1].into_int_value();
        let all = int.const_int(count as u64, false);
        let is_complete = builder.build_int_compare(IntPredicate::EQ, pending, all, "complete")?;
        builder.build_conditional_branch(is_complete, complete, separate)?;

        builder.position_at_end(complete);
        let (mut values, mut first_site) = (Vec::new(), None);
        for (index, member) in front.members.iter().enumerate() {
            let kept = layout.load(program, &builder, frame, index)?;
            values.extend(kept.operands);
            first_site = first_site.or(kept.site.filter(|_| !member.is_operation()));
        }
        let first_site =
            first_site.map_or_else(|| front.first_site(), BasicValueEnum::into_int_value);
        let mut operands =
            GroupOperands::new(program, self.models, front.members, &builder, &values)?;
        operands.take_shapes(program, graph)?;
        operands.static_shared_bytes = kernel.static_shared_bytes;
        if !reads_front_alone(graph, group, kernel, &operands) {
            // Nothing calls what has been begun.
            crate::llvm::delete_function(function);
            return Ok(flush);
        }
        let mut holds = context.bool_type().const_all_ones();
        let mut slots = Vec::new();
        for parameter in &kernel.parameters {
            let known = match parameter {
                FusedParameter::ArrivalCounter => None,
                FusedParameter::HostValue { expression } => {
                    knows(&operands, expression).then_some(parameter)
                }
                FusedParameter::GridSize { launch, .. } => {
                    let mut own = front.members.iter();
                    own.any(|member| member.launch.id == *launch)
                        .then_some(parameter)
                }
                _ => Some(parameter),
            };
            slots.push(match known {
                Some(known) => {
                    self.argument(&builder, launcher, frame, &operands, known, &mut holds)?
                }
                None => self.number_of_none(&builder)?,
            });
        }
        // What memory a launch touches was asked where it was kept.
        let asked = guards
            .iter()
            .filter(|guard| !matches!(guard, Guard::DeviceMemory { .. }));
        let asked: Vec<Guard> = asked.cloned().collect();
        let guard = emit_guards(context, host, &builder, &operands, &asked)?;
        let guard = builder.build_and(guard, holds, "run.fused")?;
        builder.build_conditional_branch(guard, room, separate)?;

        builder.position_at_end(room);
        let key = key_of(program, kernel)?;
        let ways = [ask, fused, separate];
        let shared = ask_for_room(program, &builder, &operands, (key, group), ways)?;

        builder.position_at_end(fused);
        front.tell_side(&builder, launcher, (kernel, first_site), true)?;
        let of_group = int.const_int(1 << 31, false);
        let site = builder.build_or(first_site, of_group, "site")?;
        let configuration =
            front.whole_configuration(&builder, &operands, (graph, group, kernel), None, shared)?;
        issue_waiting(program, &builder)?;
        announce_site(program, &builder, launcher, site)?;
        launch_kernel(program, &builder, launcher, key, &configuration, &slots)?;
        builder.build_return(None)?;

        builder.position_at_end(separate);
        builder.build_call(flush, &[frame.into(), pending.into()], "")?;
        builder.build_return(None)?;
        Ok(function)
    }

    /// What the kernel gets for a number of the member behind, and for the word that counts: no such one.
    fn number_of_none(&self, builder: &Builder<'ctx>) -> Result<PointerValue<'ctx>, CodegenError> {
        let int = self.program.context.i32_type();
        let slot = builder.build_alloca(int, "none")?;
        builder.build_store(slot, int.const_all_ones())?;
        Ok(slot)
    }
}

/// Whether the shape and the shared memory of the launch are told by the members in front.
fn reads_front_alone(
    graph: &LaunchGraph,
    group: &FusionGroup,
    kernel: &FusedKernel,
    operands: &GroupOperands<'_, '_>,
) -> bool {
    let mut extents = common_shape(graph, group).into_iter().flatten();
    let of_rows = kernel.promoted.as_ref().map(|rows| {
        let parameter = kernel.parameters.get(rows.parameter);
        parameter.and_then(FusedParameter::argument)
    });
    let is_own = |of: Option<(crate::launch::LaunchId, usize)>| {
        let mut members = operands.members.iter();
        of.is_some_and(|(launch, _)| members.any(|member| member.launch.id == launch))
    };
    extents.all(|extent| knows(operands, &extent)) && of_rows.is_none_or(is_own)
}

/// Whether all that an expression is made of is at hand.
fn knows(operands: &GroupOperands<'_, '_>, expression: &Expression<ValueId>) -> bool {
    let leaf = |value: &ValueId| {
        let known = operands.value(*value);
        known.map(|_| Expression::Leaf(*value))
    };
    expression.substitute(&mut { leaf }).is_some()
}
