//! Calls between the members of a group, or the statements of a region, that may leave the function by an exception, with
//! no landing pad there.
//!
//! Invariant: whoever catches the exception finds all launches issued that were written before the call. Each such call
//! goes through a function that catches what is thrown, issues what pends of the group or waits in the queue, and throws
//! it on.

use super::super::CodegenError;
use super::super::host::MemberCall;
use super::super::region::{HostFlow, region_of};
use super::super::shared_functions::SharedFunctions;
use crate::launch::is_cuda;
use crate::program::Program;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::types::{BasicMetadataTypeEnum, BasicType, FunctionType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode,
    InstructionValue, PointerValue,
};

/// Lets calls between the first and the last member issue what pends in `frame`, by `flush`, when an exception leaves
/// them.
pub(in crate::codegen) fn issue_where_left<'ctx>(
    program: &Program<'ctx>,
    members: &[MemberCall<'_, 'ctx>],
    (frame, flush): (PointerValue<'ctx>, FunctionValue<'ctx>),
    flow: &HostFlow<'ctx>,
    shared: &mut SharedFunctions<'ctx>,
) -> Result<(), CodegenError> {
    let host = members.first().and_then(|first| first.block.get_parent());
    if host.is_none_or(ends_the_program) {
        return Ok(());
    }
    for call in calls_between(members, flow)? {
        guard_call(program, call, frame, Issued::Pending(flush), shared)?;
    }
    Ok(())
}

/// Lets the calls of some blocks call `drain` when an exception leaves them.
pub(in crate::codegen) fn drain_where_left<'ctx>(
    program: &Program<'ctx>,
    blocks: &[BasicBlock<'ctx>],
    drain: FunctionValue<'ctx>,
    shared: &mut SharedFunctions<'ctx>,
) -> Result<(), CodegenError> {
    let host = blocks.first().and_then(|block| block.get_parent());
    if host.is_none_or(ends_the_program) {
        return Ok(());
    }
    let calls = blocks.iter().flat_map(|block| block.get_instructions());
    let calls: Vec<InstructionValue<'ctx>> = calls.filter(|each| may_throw(*each)).collect();
    let pointer = program.context.ptr_type(inkwell::AddressSpace::default());
    for call in calls {
        let no_frame = pointer.const_null();
        guard_call(program, call, no_frame, Issued::Waiting(drain), shared)?;
    }
    Ok(())
}

/// What leaves `main` ends the program.
fn ends_the_program(host: FunctionValue<'_>) -> bool {
    host.get_name().to_bytes() == b"main"
}

/// What is issued when an exception leaves a call, and by which function.
#[derive(Clone, Copy)]
enum Issued<'ctx> {
    /// What pends in a group's frame.
    Pending(FunctionValue<'ctx>),
    /// What waits in the queue.
    Waiting(FunctionValue<'ctx>),
}

/// The calls that may throw on the ways from the first member to the last.
fn calls_between<'ctx>(
    members: &[MemberCall<'_, 'ctx>],
    flow: &HostFlow<'ctx>,
) -> Result<Vec<InstructionValue<'ctx>>, CodegenError> {
    let last = &members[members.len() - 1];
    let (first_block, region) = region_of(members, flow)?;
    let is_member =
        |call: &InstructionValue<'ctx>| members.iter().any(|member| member.call == *call);
    let of_block = |block: BasicBlock<'ctx>| block.get_instructions().collect::<Vec<_>>();
    let from_first = |block: BasicBlock<'ctx>| {
        let instructions = of_block(block).into_iter();
        // A condition may stand between the block that all come from and the first member.
        match members.iter().any(|member| member.block == block) {
            true => instructions.skip_while(|each| !is_member(each)).collect(),
            false => instructions.collect::<Vec<_>>(),
        }
    };
    let mut instructions = from_first(first_block);
    if first_block != last.block {
        instructions.extend(region.into_iter().flat_map(of_block));
        instructions.extend(of_block(last.block));
    }
    let before_last = instructions
        .iter()
        .position(|each| *each == last.call)
        .unwrap_or(instructions.len());
    instructions.truncate(before_last);
    instructions.retain(|each| !is_member(each) && may_throw(*each));
    Ok(instructions)
}

fn may_throw(instruction: InstructionValue<'_>) -> bool {
    let is_call = instruction.get_opcode() == InstructionOpcode::Call;
    let Some(call) = CallSiteValue::try_from(instruction)
        .ok()
        .filter(|_| is_call)
    else {
        return false;
    };
    let has = |name: &str| {
        let kind = Attribute::get_named_enum_kind_id(name);
        let own = call.get_enum_attribute(AttributeLoc::Function, kind);
        let called = call.get_called_fn_value();
        own.is_some()
            || called.is_some_and(|called| {
                called
                    .get_enum_attribute(AttributeLoc::Function, kind)
                    .is_some()
            })
    };
    let is_ours = call.get_called_fn_value().is_some_and(|called| {
        let name = called.get_name().to_string_lossy();
        let ours = name.starts_with("sirius.") && !name.starts_with(GUARDING);
        ours || name.starts_with("llvm.") || is_cuda(&name)
    });
    let is_assembly = called_pointer(instruction).is_none();
    !is_ours && !is_assembly && !has("nounwind") && !has("returns_twice")
}

fn called_pointer(call: InstructionValue<'_>) -> Option<PointerValue<'_>> {
    let called = call.get_operands().last()??.value()?;
    match called {
        BasicValueEnum::PointerValue(pointer) => Some(pointer),
        _ => None,
    }
}

/// Puts a call of the guarding function in a call's place.
fn guard_call<'ctx>(
    program: &Program<'ctx>,
    instruction: InstructionValue<'ctx>,
    frame: PointerValue<'ctx>,
    issued: Issued<'ctx>,
    shared: &mut SharedFunctions<'ctx>,
) -> Result<(), CodegenError> {
    let unusual = || CodegenError::Inconsistent("a call that may throw is unusual".into());
    let call = CallSiteValue::try_from(instruction).map_err(|()| unusual())?;
    let count = call.count_arguments();
    let arguments: Option<Vec<BasicValueEnum<'ctx>>> = (0..count)
        .map(|index| instruction.get_operand(index)?.value())
        .collect();
    let arguments = arguments.ok_or_else(unusual)?;
    let called = called_pointer(instruction).ok_or_else(unusual)?;
    let guarding = guarding_function(program, call, &arguments, issued)?;
    let guarding = shared.one_of(guarding, true);
    let builder = program.context.create_builder();
    builder.position_before(&instruction);
    let mut passed: Vec<BasicMetadataValueEnum<'ctx>> = vec![frame.into(), called.into()];
    passed.extend(
        arguments
            .iter()
            .map(|argument| BasicMetadataValueEnum::from(*argument)),
    );
    let new = builder.build_call(guarding, &passed, "")?;
    if let (Some(new), Some(old)) = (
        new.try_as_basic_value().basic(),
        call.try_as_basic_value().basic(),
    ) {
        replace(old, new);
    }
    instruction.erase_from_basic_block();
    Ok(())
}

fn replace<'ctx>(old: BasicValueEnum<'ctx>, new: BasicValueEnum<'ctx>) {
    use BasicValueEnum::*;
    match (old, new) {
        (ArrayValue(old), ArrayValue(new)) => old.replace_all_uses_with(new),
        (IntValue(old), IntValue(new)) => old.replace_all_uses_with(new),
        (FloatValue(old), FloatValue(new)) => old.replace_all_uses_with(new),
        (PointerValue(old), PointerValue(new)) => old.replace_all_uses_with(new),
        (StructValue(old), StructValue(new)) => old.replace_all_uses_with(new),
        (VectorValue(old), VectorValue(new)) => old.replace_all_uses_with(new),
        _ => panic!("a call of another type"),
    }
}

/// `sirius.leave(ptr frame, ptr callee, arguments)`: calls, and where that ends with an exception issues what pends or
/// waits.
fn guarding_function<'ctx>(
    program: &Program<'ctx>,
    call: CallSiteValue<'ctx>,
    arguments: &[BasicValueEnum<'ctx>],
    issued: Issued<'ctx>,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    let (context, host) = (program.context, &program.host);
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let int = context.i32_type();
    let mut types: Vec<BasicMetadataTypeEnum<'ctx>> = vec![pointer.into(), pointer.into()];
    types.extend(
        arguments
            .iter()
            .map(|argument| BasicMetadataTypeEnum::from(argument.get_type())),
    );
    let called_type = call.get_called_fn_type();
    let type_: FunctionType<'ctx> = match called_type.get_return_type() {
        Some(result) => result.fn_type(&types, false),
        None => context.void_type().fn_type(&types, false),
    };
    let function = host.add_function(GUARDING, type_, Some(Linkage::Internal));
    let personality = host.get_function(PERSONALITY).unwrap_or_else(|| {
        let type_ = int.fn_type(&[], true);
        host.add_function(PERSONALITY, type_, None)
    });
    function.set_personality_function(personality);
    let [entry, returned, left] =
        ["entry", "returned", "left"].map(|name| context.append_basic_block(function, name));
    let builder = context.create_builder();
    builder.position_at_end(entry);
    let parameters = function.get_params();
    let frame = parameters[0].into_pointer_value();
    let callee = parameters[1].into_pointer_value();
    let invoke =
        builder.build_indirect_invoke(called_type, callee, &parameters[2..], returned, left, "")?;
    invoke.set_call_convention(call.get_call_convention());
    let arguments = (0..arguments.len() as u32).map(AttributeLoc::Param);
    for place in arguments.chain([AttributeLoc::Return]) {
        for attribute in call.attributes(place) {
            invoke.add_attribute(place, attribute);
        }
    }
    builder.position_at_end(returned);
    match invoke.try_as_basic_value().basic() {
        Some(result) => builder.build_return(Some(&result))?,
        None => builder.build_return(None)?,
    };
    builder.position_at_end(left);
    let exception = context.struct_type(&[pointer.into(), int.into()], false);
    let exception = builder.build_landing_pad(exception, personality, &[], true, "exception")?;
    match issued {
        Issued::Pending(flush) => issue(program, &builder, frame, flush)?,
        Issued::Waiting(drain) => {
            builder.build_call(drain, &[], "")?;
        }
    }
    builder.build_resume(exception)?;
    Ok(function)
}

/// Issues what pends of a group.
pub(in crate::codegen) fn issue<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    frame: PointerValue<'ctx>,
    flush: FunctionValue<'ctx>,
) -> Result<(), CodegenError> {
    let int = program.context.i32_type();
    let pending = builder.build_load(int, frame, "pending")?;
    builder.build_call(flush, &[frame.into(), pending.into()], "")?;
    builder.build_store(frame, int.const_zero())?;
    Ok(())
}

/// The name of what a call goes through; several groups may have it guarded.
const GUARDING: &str = "sirius.leave";

const PERSONALITY: &str = "__gxx_personality_v0";
