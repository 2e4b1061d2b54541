//! How many blocks of a cooperative launch the device has room for at once.
//!
//! Invariant: a launch with grid-wide barriers is made only with as many blocks as are there at once, as the device says
//! at the launch: the others of them would wait for ever.

use super::GroupOperands;
use crate::codegen::CodegenError;
use crate::codegen::guard::Operands;
use crate::codegen::launch_call::{Launcher, declared};
use crate::dependence::Guard;
use crate::launch::{LaunchGraph, Operand};
use crate::program::Program;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue};

/// The grid of a launch with grid-wide barriers, as a launch takes it, and whether it may be made by any of the kernels
/// with these keys: no member has more blocks than each of its blocks may have rounds for. `None` for another group.
pub(super) fn resident_grid<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    operands: &GroupOperands<'_, 'ctx>,
    (graph, group): (&LaunchGraph, &FusionGroup),
    (keys, shared): (&[BasicValueEnum<'ctx>], IntValue<'ctx>),
) -> Result<Option<([BasicValueEnum<'ctx>; 2], IntValue<'ctx>)>, CodegenError> {
    if !group.is_cooperative() {
        return Ok(None);
    }
    let rounds = group.guards.iter().find_map(|guard| match guard {
        Guard::Resident { rounds } => Some(*rounds),
        _ => None,
    });
    let unguarded = || CodegenError::Inconsistent("nobody asks how many blocks fit".into());
    let rounds = rounds.ok_or_else(unguarded)?;
    let (int, long) = (program.context.i32_type(), program.context.i64_type());
    let leader = group.members[group.leader_of_blocks(graph)].launch;
    let product = |launch, operand: fn(u8) -> Operand| -> Result<_, CodegenError> {
        let mut product = long.const_int(1, false);
        for axis in 0..3 {
            let extent = operands.operand(launch, operand(axis));
            let extent =
                extent.ok_or_else(|| CodegenError::Inconsistent("missing extent".into()))?;
            product = builder.build_int_mul(product, extent, "product")?;
        }
        Ok(product)
    };
    let threads = product(leader, Operand::Block)?;
    let mut largest = long.const_int(1, false);
    for phase in group.phases() {
        let blocks = product(group.members[phase.start].launch, Operand::Grid)?;
        let more = builder.build_int_compare(IntPredicate::UGT, blocks, largest, "more")?;
        let chosen = builder.build_select(more, blocks, largest, "blocks")?;
        largest = chosen.into_int_value();
    }
    let ask = match program.host.get_function(RESIDENT_BLOCKS) {
        Some(function) => function,
        None => build_resident_blocks(program)?,
    };
    let mut resident = long.const_int(u32::MAX.into(), false);
    for key in keys {
        let arguments = [(*key).into(), threads.into(), shared.into()];
        let of_kernel = builder
            .build_call(ask, &arguments, "resident")?
            .try_as_basic_value()
            .unwrap_basic()
            .into_int_value();
        let fewer = builder.build_int_compare(IntPredicate::ULT, of_kernel, resident, "fewer")?;
        let least = builder.build_select(fewer, of_kernel, resident, "resident")?;
        resident = least.into_int_value();
    }
    // Neither is 2³² or more.
    let room = long.const_int(rounds.into(), false);
    let room = builder.build_int_mul(resident, room, "room")?;
    let fits = builder.build_int_compare(IntPredicate::ULE, largest, room, "fits")?;
    let fewer = builder.build_int_compare(IntPredicate::ULT, resident, largest, "fewer")?;
    let blocks = builder.build_select(fewer, resident, largest, "blocks")?;
    let row = long.const_int(1 << 32, false);
    let row = builder.build_or(blocks.into_int_value(), row, "row")?;
    Ok(Some(([row.into(), int.const_int(1, false).into()], fits)))
}

/// As [`Launcher::launch_function`], for launches whose blocks wait for each other.
pub(super) fn cooperative(launcher: &Launcher) -> Launcher {
    Launcher {
        launch_function: launcher.cooperative_launch,
        ..*launcher
    }
}

const RESIDENT_BLOCKS: &str = "sirius.resident.blocks";

/// `i64 sirius.resident.blocks(ptr key, i64 threads, i64 shared bytes)`: so many blocks of the kernel are on the current
/// device at once; 0 where it cannot launch cooperatively. What it has room for may change from launch to launch, with
/// the device and what the program asked of it, so that nothing is remembered.
fn build_resident_blocks<'ctx>(
    program: &Program<'ctx>,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    /// `cudaDevAttrMultiProcessorCount`, `cudaDevAttrCooperativeLaunch`.
    const ATTRIBUTES: [u64; 2] = [16, 95];
    let context = program.context;
    let (int, long) = (context.i32_type(), context.i64_type());
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let type_ = long.fn_type(&[pointer.into(), long.into(), long.into()], false);
    let linkage = Some(Linkage::Internal);
    let function = program.host.add_function(RESIDENT_BLOCKS, type_, linkage);
    let parameters = function.get_params();
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    let slot = |name: &str| -> Result<_, CodegenError> {
        let slot = builder.build_alloca(int, name)?;
        builder.build_store(slot, int.const_zero())?;
        Ok(slot)
    };
    let device = slot("device")?;
    let get_device = int.fn_type(&[pointer.into()], false);
    let get_device = declared(program, "cudaGetDevice", get_device);
    builder.build_call(get_device, &[device.into()], "")?;
    let device = builder.build_load(int, device, "device")?;
    let get_attribute = int.fn_type(&[pointer.into(), int.into(), int.into()], false);
    let get_attribute = declared(program, "cudaDeviceGetAttribute", get_attribute);
    let mut answers = Vec::new();
    for attribute in ATTRIBUTES {
        let answer = slot("answer")?;
        let which = int.const_int(attribute, false);
        let arguments = [answer.into(), which.into(), device.into()];
        builder.build_call(get_attribute, &arguments, "")?;
        let answer = builder.build_load(int, answer, "answer")?.into_int_value();
        answers.push(builder.build_int_z_extend(answer, long, "answer")?);
    }
    let blocks = slot("blocks")?;
    let ask = int.fn_type(
        &[pointer.into(), pointer.into(), int.into(), long.into()],
        false,
    );
    let ask = declared(
        program,
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
        ask,
    );
    let threads = parameters[1].into_int_value();
    let threads = builder.build_int_truncate(threads, int, "threads")?;
    let arguments = [
        blocks.into(),
        parameters[0].into(),
        threads.into(),
        parameters[2].into(),
    ];
    builder.build_call(ask, &arguments, "")?;
    let blocks = builder.build_load(int, blocks, "blocks")?.into_int_value();
    let blocks = builder.build_int_z_extend(blocks, long, "blocks")?;
    let all = builder.build_int_mul(blocks, answers[0], "all")?;
    let zero = long.const_zero();
    let able = builder.build_int_compare(IntPredicate::NE, answers[1], zero, "able")?;
    let all = builder.build_select(able, all, zero, "resident")?;
    builder.build_return(Some(&all))?;
    Ok(function)
}
