//! Device images inside the host module, and their registration with the runtime.
//!
//! Invariant: every unit keeps its own registration, only its dummy image is replaced; the images of fused
//! kernels and of batches' add a wrapper and a registration of their own, run right after the first unit's. Host IR is
//! the same for both devices, only what a wrapper's data pointer points to differs.

use super::super::batches::{batch_key, heterogeneous_key, phases_key};
use super::super::fuse::Part;
use super::super::group::fused_key;
use super::super::launch_call::declared;
use super::super::parts::KernelImage;
use super::super::pending::PendingImage;
use super::super::{BatchKernel, CodegenError, FusedKernel};
use crate::llvm;
use crate::program::Program;
use inkwell::module::Linkage;
use inkwell::values::{
    BasicMetadataValueEnum, CallSiteValue, FunctionValue, GlobalValue, InstructionOpcode,
    PointerValue,
};
use inkwell::{AddressSpace, GlobalVisibility};
use std::collections::BTreeMap;

/// Replaces each unit's dummy image by the real one.
///
/// # Errors
/// When the host module lacks a unit's image global: our bug.
pub fn embed_unit_images(
    program: &Program<'_>,
    images: &[PendingImage],
) -> Result<(), CodegenError> {
    for (index, (unit, image)) in program.units.iter().zip(images).enumerate() {
        // A unit without kernels and device variables registers nothing.
        if unit.image_global.is_empty() {
            continue;
        }
        let Some(dummy) = program.host.get_global(&unit.image_global) else {
            return Err(CodegenError::Inconsistent(format!(
                "no image of unit {index}"
            )));
        };
        let real = image_global(program, image);
        dummy.as_pointer_value().replace_all_uses_with(real);
        llvm::delete_global(dummy);
    }
    Ok(())
}

/// Adds the host symbols that stand for fused kernels and for those of batches.
pub fn add_fused_keys(program: &Program<'_>, fused: &[FusedKernel], batches: &[BatchKernel]) {
    let byte = program.context.i8_type();
    for (symbol, _) in group_keys(fused).into_iter().chain(batch_keys(batches)) {
        let key = program.host.add_global(byte, None, &symbol);
        key.set_linkage(Linkage::Internal);
        key.set_initializer(&byte.const_zero());
    }
}

/// Host symbols and names of kernels.
type Keys<'a> = BTreeMap<String, &'a str>;

/// Those of groups, and of batches for which these are enough.
fn group_keys(fused: &[FusedKernel]) -> Keys<'_> {
    let keys = fused.iter();
    keys.map(|kernel| (fused_key(kernel), kernel.name.as_str()))
        .collect()
}

fn batch_keys(batches: &[BatchKernel]) -> Keys<'_> {
    let built = batches.iter().filter(|batch| batch.is_built());
    let heterogeneous = batches
        .iter()
        .filter_map(|batch| batch.heterogeneous.as_ref());
    let heterogeneous = heterogeneous.map(|heterogeneous| {
        (
            heterogeneous_key(heterogeneous),
            heterogeneous.name.as_str(),
        )
    });
    let phases = batches.iter().filter_map(|batch| batch.phases.as_ref());
    let phases = phases.map(|phases| (phases_key(phases), phases.name.as_str()));
    built
        .map(|batch| (batch_key(batch), batch.name.as_str()))
        .chain(heterogeneous)
        .chain(phases)
        .collect()
}

/// Adds the images of fused kernels and of batches' and registers the kernels under their keys.
///
/// # Errors
/// When the host module has no registration to extend: our bug.
pub fn register_fused_images(
    program: &Program<'_>,
    images: &[KernelImage],
    fused: &[FusedKernel],
    batches: &[BatchKernel],
) -> Result<(), CodegenError> {
    let [of_groups, of_batches] = [group_keys(fused), batch_keys(batches)];
    for (number, image) in images.iter().enumerate() {
        let keys = match image.part {
            Part::Groups => of_groups.iter(),
            Part::Batches => of_batches.iter(),
        };
        let keys = keys.filter(|(_, kernel)| image.kernels.contains(**kernel));
        let keys: Keys<'_> = keys.map(|(key, kernel)| (key.clone(), *kernel)).collect();
        register_image(program, &image.image, &format!("fused{number}"), &keys)?;
    }
    Ok(())
}

/// The function that registers an image of ours.
fn register_name(image: &str) -> String {
    format!("{REGISTERS}{image}")
}

/// What begins its name.
const REGISTERS: &str = "sirius.register.";

fn register_image(
    program: &Program<'_>,
    image: &PendingImage,
    name: &str,
    keys: &Keys<'_>,
) -> Result<(), CodegenError> {
    let context = program.context;
    let host = &program.host;
    let pointer = context.ptr_type(AddressSpace::default());
    let (int, void) = (context.i32_type(), context.void_type());
    let null = pointer.const_null();

    let data = image_global(program, image);
    let wrapper = context.const_struct(
        &[
            int.const_int(FATBIN_WRAPPER_MAGIC, false).into(),
            int.const_int(1, false).into(),
            data.into(),
            null.into(),
        ],
        false,
    );
    let wrapper_global =
        host.add_global(wrapper.get_type(), None, &format!("sirius.{name}.wrapper"));
    wrapper_global.set_linkage(Linkage::Internal);
    wrapper_global.set_constant(true);
    wrapper_global.set_initializer(&wrapper);
    wrapper_global.set_section(Some(".nvFatBinSegment"));
    wrapper_global.set_alignment(8);
    let handle_global = host.add_global(pointer, None, &format!("sirius.{name}.handle"));
    handle_global.set_linkage(Linkage::Internal);
    handle_global.set_initializer(&null);

    let register = host.add_function(
        &register_name(name),
        void.fn_type(&[], false),
        Some(Linkage::Internal),
    );
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(register, "entry"));
    let open = declared(
        program,
        "__cudaRegisterFatBinary",
        pointer.fn_type(&[pointer.into()], false),
    );
    let handle = builder
        .build_call(open, &[wrapper_global.as_pointer_value().into()], "handle")?
        .try_as_basic_value()
        .unwrap_basic();
    builder.build_store(handle_global.as_pointer_value(), handle)?;
    let add_type = int.fn_type(
        &[
            pointer.into(),
            pointer.into(),
            pointer.into(),
            pointer.into(),
            int.into(),
            pointer.into(),
            pointer.into(),
            pointer.into(),
            pointer.into(),
            pointer.into(),
        ],
        false,
    );
    let add = declared(program, "__cudaRegisterFunction", add_type);
    for (symbol, kernel) in keys {
        let key = host
            .get_global(symbol)
            .ok_or_else(|| CodegenError::Inconsistent("fused kernel without key".into()))?;
        let called = builder.build_global_string_ptr(kernel, &format!("sirius.{name}.name"))?;
        let called: BasicMetadataValueEnum<'_> = called.as_pointer_value().into();
        let no_limit = int.const_all_ones();
        builder.build_call(
            add,
            &[
                handle.into(),
                key.as_pointer_value().into(),
                called,
                called,
                no_limit.into(),
                null.into(),
                null.into(),
                null.into(),
                null.into(),
                null.into(),
            ],
            "",
        )?;
    }
    let close = declared(
        program,
        "__cudaRegisterFatBinaryEnd",
        void.fn_type(&[pointer.into()], false),
    );
    builder.build_call(close, &[handle.into()], "")?;
    let unregister = build_unregister(program, name, handle_global)?;
    let at_exit = declared(program, "atexit", int.fn_type(&[pointer.into()], false));
    builder.build_call(
        at_exit,
        &[unregister.as_global_value().as_pointer_value().into()],
        "",
    )?;
    builder.build_return(None)?;
    call_after_unit_registration(program, register)
}

/// First word of the structure that `__cudaRegisterFatBinary` takes.
const FATBIN_WRAPPER_MAGIC: u64 = 0x466_243b1;

/// What stands for an image, which an object of its own defines.
fn image_global<'ctx>(program: &Program<'ctx>, image: &PendingImage) -> PointerValue<'ctx> {
    let byte = program.context.i8_type();
    let global = program.host.add_global(byte, None, image.symbol());
    global.set_constant(true);
    global.set_visibility(GlobalVisibility::Hidden);
    global.as_pointer_value()
}

fn build_unregister<'ctx>(
    program: &Program<'ctx>,
    name: &str,
    handle_global: GlobalValue<'ctx>,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    let context = program.context;
    let pointer = context.ptr_type(AddressSpace::default());
    let type_ = context.void_type().fn_type(&[], false);
    let name = format!("sirius.{name}.unregister");
    let linkage = Some(Linkage::Internal);
    let function = program.host.add_function(&name, type_, linkage);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    let handle = builder.build_load(pointer, handle_global.as_pointer_value(), "handle")?;
    let close = declared(
        program,
        "__cudaUnregisterFatBinary",
        context.void_type().fn_type(&[pointer.into()], false),
    );
    builder.build_call(close, &[handle.into()], "")?;
    builder.build_return(None)?;
    Ok(function)
}

/// Calls `register` before every return of the first function that registers a unit.
fn call_after_unit_registration(
    program: &Program<'_>,
    register: FunctionValue<'_>,
) -> Result<(), CodegenError> {
    let registers = |function: &FunctionValue<'_>| {
        function
            .get_basic_blocks()
            .iter()
            .flat_map(|block| block.get_instructions())
            .any(|instruction| {
                CallSiteValue::try_from(instruction)
                    .ok()
                    .and_then(CallSiteValue::get_called_fn_value)
                    .is_some_and(|f| f.get_name().to_bytes() == b"__cudaRegisterFatBinary")
            })
    };
    let is_ours = |function: &FunctionValue<'_>| {
        let name = function.get_name().to_bytes();
        name.starts_with(REGISTERS.as_bytes())
    };
    let constructor = program
        .host
        .get_functions()
        .find(|function| !is_ours(function) && registers(function))
        .ok_or_else(|| CodegenError::Inconsistent("no unit registers an image".into()))?;
    let builder = program.context.create_builder();
    for block in constructor.get_basic_blocks() {
        if let Some(end) = block.get_terminator()
            && end.get_opcode() == InstructionOpcode::Return
        {
            builder.position_before(&end);
            builder.build_call(register, &[], "")?;
        }
    }
    Ok(())
}
