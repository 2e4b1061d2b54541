//! The grid and block of a fused launch, from those of its members.

use super::GroupOperands;
use crate::codegen::CodegenError;
use crate::codegen::guard::Operands;
use crate::codegen::host::MemberCall;
use crate::launch::Operand;
use crate::program::Program;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::values::BasicValueEnum;

/// Whether the fused launch has a member's shape, or part of it: sets and copies have that of another
/// member, threads that are placed anew have none, and what the last block runs is part of it.
pub(super) fn tells_shape(group: &FusionGroup, member: &MemberCall<'_, '_>) -> bool {
    let mut planned = group.members.iter();
    let moved =
        planned.any(|planned| planned.launch == member.launch.id && planned.map.places_anew());
    let mut behind = group.members[group.of_all_blocks()..].iter();
    let is_behind = behind.any(|planned| planned.launch == member.launch.id);
    !member.is_operation() && !moved && !is_behind
}

/// The fused grid as a launch takes it: x and y in one number, then z.
pub(super) fn largest_grid<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    operands: &GroupOperands<'_, 'ctx>,
    group: &FusionGroup,
) -> Result<[BasicValueEnum<'ctx>; 2], CodegenError> {
    let (int, long) = (program.context.i32_type(), program.context.i64_type());
    let mut largest = [long.const_int(1, false); 3];
    for member in operands
        .members
        .iter()
        .filter(|member| tells_shape(group, member))
    {
        for (axis, largest) in (0_u8..).zip(&mut largest) {
            let extent = operands
                .operand(member.launch.id, Operand::Grid(axis))
                .ok_or_else(|| CodegenError::Inconsistent("missing extent".into()))?;
            let more = builder.build_int_compare(IntPredicate::UGT, extent, *largest, "more")?;
            *largest = builder
                .build_select(more, extent, *largest, "extent")?
                .into_int_value();
        }
    }
    let [x, y, z] = largest;
    let high = builder.build_left_shift(y, long.const_int(32, false), "y")?;
    let packed = builder.build_or(x, high, "grid")?;
    let depth = builder.build_int_truncate(z, int, "z")?;
    Ok([packed.into(), depth.into()])
}
