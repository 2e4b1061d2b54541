//! The dynamic shared memory of a fused launch.

use super::GroupOperands;
use crate::codegen::guard::emit_expression;
use crate::codegen::launch_call::{OPERANDS_BEFORE_ARGUMENTS, SHARED_BYTES};
use crate::codegen::{CodegenError, FusedKernel, PromotedRows};
use crate::program::Program;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::values::IntValue;

/// Segments reuse their dynamic shared memory, so the fused launch needs the most of any member.
pub(super) fn largest_shared<'ctx>(
    builder: &Builder<'ctx>,
    operands: &GroupOperands<'_, 'ctx>,
) -> Result<IntValue<'ctx>, CodegenError> {
    let mut largest: Option<IntValue<'ctx>> = None;
    for start in &operands.starts {
        let bytes = operands.parameters[start + SHARED_BYTES].into_int_value();
        largest = Some(match largest {
            None => bytes,
            Some(other) => {
                let more = builder.build_int_compare(IntPredicate::UGT, bytes, other, "more")?;
                builder
                    .build_select(more, bytes, other, "shared")?
                    .into_int_value()
            }
        });
    }
    largest.ok_or_else(|| CodegenError::Inconsistent("empty group".into()))
}

/// The dynamic shared memory of a group's launch: that, and what each block keeps of what it computes by itself.
pub(super) fn shared_of<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    operands: &GroupOperands<'_, 'ctx>,
    group: &FusionGroup,
) -> Result<IntValue<'ctx>, CodegenError> {
    let largest = largest_shared(builder, operands)?;
    let Some(recomputation) = &group.recomputation else {
        return Ok(largest);
    };
    let (context, host) = (program.context, &program.host);
    let bytes = recomputation.begin(recomputation.copies.len());
    let bytes = emit_expression(context, host, builder, operands, &bytes)?;
    let more = builder.build_int_compare(IntPredicate::UGT, bytes, largest, "more")?;
    Ok(builder
        .build_select(more, bytes, largest, "shared")?
        .into_int_value())
}

/// As much dynamic shared memory as a kernel needs that keeps rows, and as its members ask for.
pub(super) fn with_rows<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    operands: &GroupOperands<'_, 'ctx>,
    kernel: &FusedKernel,
    rows: &PromotedRows,
    asked: IntValue<'ctx>,
) -> Result<IntValue<'ctx>, CodegenError> {
    let unknown = || CodegenError::Inconsistent("the length of a row is no argument".into());
    let parameter = kernel.parameters.get(rows.parameter);
    let parameter = parameter.ok_or_else(unknown)?;
    let (launch, argument) = parameter.argument().ok_or_else(unknown)?;
    let begin = parameter.begin_in_argument();
    let at = operands.position(launch, OPERANDS_BEFORE_ARGUMENTS + argument);
    let elements = operands
        .piece(program, builder, at.ok_or_else(unknown)?, begin, rows.bits)?
        .ok_or_else(unknown)?;
    let ty = asked.get_type();
    let elements = builder.build_int_z_extend_or_bit_cast(elements, ty, "elements")?;
    let most = ty.const_int(rows.most_elements, false);
    let fits = builder.build_int_compare(IntPredicate::ULE, elements, most, "fits")?;
    let each = ty.const_int(rows.element_bytes, false);
    let bytes = builder.build_int_mul(elements, each, "rows")?;
    let behind = ty.const_int(rows.behind_bytes, false);
    let bytes = builder.build_int_add(behind, bytes, "rows.end")?;
    let bytes = builder.build_select(fits, bytes, ty.const_zero(), "rows")?;
    let bytes = bytes.into_int_value();
    let more = builder.build_int_compare(IntPredicate::UGT, bytes, asked, "more")?;
    Ok(builder
        .build_select(more, bytes, asked, "shared")?
        .into_int_value())
}
