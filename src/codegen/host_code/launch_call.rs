//! Folded launches become calls of the runtime again.
//!
//! Invariant: after [`define_launch_functions`] no `sirius.launch.N` is without a body, so the host
//! module links like any other.

use super::super::CodegenError;
use super::super::batches::issue_waiting;
use crate::llvm;
use crate::program::Program;
use inkwell::attributes::AttributeLoc;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, IntValue, PointerValue,
};

/// How launches are spelled for the device that is built for.
pub struct Launcher {
    /// `cudaLaunchKernel`, or its per-thread-default-stream twin.
    pub launch_function: &'static str,
    /// The same of launches whose blocks wait for each other.
    pub cooperative_launch: &'static str,
    /// How launches through the driver's interface are spelled.
    pub driver_launch: DriverLaunch,
    /// The function that is told which launch site follows.
    pub announce_site: Option<&'static str>,
    /// The function that is told that a launch may begin early behind the one that follows.
    pub announce_successor: Option<&'static str>,
    /// The CPU device's statistics are told which side of a guarded launch runs.
    pub announce_side: bool,
}

impl Launcher {
    /// `cudaLaunchKernelExC`, or its per-thread-default-stream twin.
    pub(in crate::codegen) fn launch_with_attributes(&self) -> &'static str {
        match self.launch_function.ends_with("_ptsz") {
            true => "cudaLaunchKernelExC_ptsz",
            false => "cudaLaunchKernelExC",
        }
    }
}

/// A function that launches by a handle.
#[derive(Clone, Copy)]
pub struct DriverLaunch {
    /// `cuLaunchKernel`, its per-thread-default-stream twin, or what stands for them.
    pub function: &'static str,
    /// The runtime's name of the kernel comes before `cuLaunchKernel`'s parameters.
    pub takes_stub: bool,
}

/// Gives every `sirius.launch.N` of the host module its body: arguments into slots, then
/// `cudaLaunchKernel`. After this the module is plain code again.
///
/// # Errors
/// When LLVM refuses to build the code: our bug.
pub fn define_launch_functions(
    program: &Program<'_>,
    launcher: &Launcher,
) -> Result<(), CodegenError> {
    let context = program.context;
    for function in program.host.get_functions() {
        if !is_launch_function(function) || function.count_basic_blocks() > 0 {
            continue;
        }
        drop_attributes(function);
        function.set_linkage(Linkage::Internal);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, "entry"));
        let parameters = function.get_params();
        let slots = (OPERANDS_BEFORE_ARGUMENTS + 2..parameters.len())
            .map(|index| argument_slot(&builder, function, index))
            .collect::<Result<Vec<_>, _>>()?;
        issue_waiting(program, &builder)?;
        announce_site(program, &builder, launcher, parameters[0].into_int_value())?;
        let configuration = &parameters[2..2 + OPERANDS_BEFORE_ARGUMENTS];
        let stub = parameters[1];
        let name = function.get_name().to_string_lossy();
        let status = if name.starts_with(DRIVER_LAUNCH_PREFIX) {
            launch_by_driver(program, &builder, launcher, stub, configuration, &slots)?
        } else {
            launch_kernel(program, &builder, launcher, stub, configuration, &slots)?
        };
        builder.build_return(Some(&status))?;
    }
    Ok(())
}

/// Gives the uses of a function of the runtime or the driver to one of our own, whose name has a prefix, where the program uses
/// it; the name of that.
pub(in crate::codegen) fn redirect(
    program: &Program<'_>,
    name: &str,
    prefix: &str,
) -> Option<String> {
    let function = program.host.get_function(name)?;
    if function.count_basic_blocks() > 0 {
        return None;
    }
    let own = format!("{prefix}{name}");
    let with = declared(program, &own, function.get_type());
    function.replace_all_uses_with(with);
    Some(own)
}

/// What [`crate::program`] calls the launches that were `cuLaunchKernel`.
const DRIVER_LAUNCH_PREFIX: &str = "sirius.launch.driver.";

/// Operands of a folded launch between the stub and the kernel's arguments: grid x and y, grid z,
/// block x and y, block z, shared bytes, stream.
pub(in crate::codegen) const OPERANDS_BEFORE_ARGUMENTS: usize = 6;

pub(in crate::codegen) fn is_launch_function(function: FunctionValue<'_>) -> bool {
    function
        .get_name()
        .to_bytes()
        .starts_with(b"sirius.launch.")
}

/// Whether launches of the host module go through the driver's interface.
pub(in crate::codegen) fn has_driver_launches(program: &Program<'_>) -> bool {
    let prefix = DRIVER_LAUNCH_PREFIX.as_bytes();
    let mut functions = program.host.get_functions();
    functions.any(|function| function.get_name().to_bytes().starts_with(prefix))
}

/// Index of the dynamic shared bytes among the operands of a launch.
pub(in crate::codegen) const SHARED_BYTES: usize = 4;

/// The type behind a `byval` parameter.
pub(in crate::codegen) fn by_value_type<'ctx>(
    function: FunctionValue<'ctx>,
    index: usize,
) -> Option<BasicTypeEnum<'ctx>> {
    let position = llvm::parameter_attributes(u32::try_from(index).ok()?);
    llvm::type_attribute_of(function, position, "byval")
}

/// The address of parameter `index` of a launch function as `cudaLaunchKernel` wants it.
fn argument_slot<'ctx>(
    builder: &Builder<'ctx>,
    function: FunctionValue<'ctx>,
    index: usize,
) -> Result<PointerValue<'ctx>, CodegenError> {
    let value = u32::try_from(index)
        .ok()
        .and_then(|index| function.get_nth_param(index))
        .ok_or_else(|| CodegenError::Inconsistent("missing parameter".into()))?;
    operand_slot(builder, value, by_value_type(function, index).is_some())
}

/// The address of an operand, which is itself one where it is passed in memory.
pub(in crate::codegen) fn operand_slot<'ctx>(
    builder: &Builder<'ctx>,
    value: BasicValueEnum<'ctx>,
    in_memory: bool,
) -> Result<PointerValue<'ctx>, CodegenError> {
    if in_memory {
        return Ok(value.into_pointer_value());
    }
    let slot = builder.build_alloca(value.get_type(), "argument")?;
    builder.build_store(slot, value)?;
    Ok(slot)
}

/// The address of a device variable in a slot, and the status of asking for it.
pub(in crate::codegen) fn variable_address<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    variable: usize,
) -> Result<(PointerValue<'ctx>, IntValue<'ctx>), CodegenError> {
    let missing = || CodegenError::Inconsistent("device variable without shadow".into());
    let variable = program.variables.get(variable).ok_or_else(missing)?;
    let shadow = program
        .host
        .get_global(&variable.shadow)
        .ok_or_else(missing)?;
    let pointer = program.context.ptr_type(inkwell::AddressSpace::default());
    let slot = builder.build_alloca(pointer, "address")?;
    if variable.managed {
        // The runtime has set the host's pointer when the program started.
        let address = builder.build_load(pointer, shadow.as_pointer_value(), "managed")?;
        builder.build_store(slot, address)?;
        return Ok((slot, program.context.i32_type().const_zero()));
    }
    let type_ = program
        .context
        .i32_type()
        .fn_type(&[pointer.into(), pointer.into()], false);
    let function = declared(program, "cudaGetSymbolAddress", type_);
    let status = builder
        .build_call(
            function,
            &[slot.into(), shadow.as_pointer_value().into()],
            "status",
        )?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    Ok((slot, status))
}

/// Asks for the kernel's handle and calls the driver, so that a launch that fails gives the driver's
/// error and leaves the runtime's last one alone.
fn launch_by_driver<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    launcher: &Launcher,
    stub: BasicValueEnum<'ctx>,
    configuration: &[BasicValueEnum<'ctx>],
    slots: &[PointerValue<'ctx>],
) -> Result<IntValue<'ctx>, CodegenError> {
    let context = program.context;
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let (int, long) = (context.i32_type(), context.i64_type());
    let array = address_array(program, builder, slots)?;
    let slot = builder.build_alloca(pointer, "handle")?;
    builder.build_store(slot, pointer.const_null())?;
    let ask = declared(
        program,
        "cudaGetFuncBySymbol",
        int.fn_type(&[pointer.into(), pointer.into()], false),
    );
    builder.build_call(ask, &[slot.into(), stub.into()], "")?;
    let handle = builder.build_load(pointer, slot, "handle")?;
    let missing = || CodegenError::Inconsistent("a launch without a configuration".into());
    let [grid_xy, grid_z, block_xy, block_z, shared_bytes, stream] = configuration else {
        return Err(missing());
    };
    let DriverLaunch {
        function,
        takes_stub,
    } = launcher.driver_launch;
    let stub = takes_stub.then_some(BasicMetadataValueEnum::from(stub));
    let mut arguments: Vec<BasicMetadataValueEnum<'_>> = stub.into_iter().collect();
    arguments.push(handle.into());
    for (xy, z) in [(grid_xy, grid_z), (block_xy, block_z)] {
        let xy = xy.into_int_value();
        let by = long.const_int(32, false);
        let y = builder.build_right_shift(xy, by, false, "y")?;
        arguments.push(builder.build_int_truncate(xy, int, "x")?.into());
        arguments.push(builder.build_int_truncate(y, int, "y")?.into());
        arguments.push((*z).into());
    }
    let bytes = shared_bytes.into_int_value();
    arguments.push(builder.build_int_truncate(bytes, int, "shared")?.into());
    arguments.push((*stream).into());
    arguments.push(array.into());
    arguments.push(pointer.const_null().into());
    let names = if takes_stub { 2 } else { 1 };
    let parameters: Vec<BasicMetadataTypeEnum<'_>> = std::iter::repeat_n(pointer.into(), names)
        .chain([int.into(); 7])
        .chain([pointer.into(); 3])
        .collect();
    let callee = declared(program, function, int.fn_type(&parameters, false));
    Ok(builder
        .build_call(callee, &arguments, "status")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value())
}

/// An array of the slots' addresses.
pub(in crate::codegen) fn address_array<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    slots: &[PointerValue<'ctx>],
) -> Result<PointerValue<'ctx>, CodegenError> {
    let context = program.context;
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let count = u32::try_from(slots.len().max(1))
        .map_err(|_| CodegenError::Inconsistent("too many arguments".into()))?;
    let array = builder.build_alloca(pointer.array_type(count), "arguments")?;
    for (index, slot) in (0_u64..).zip(slots) {
        let index = context.i64_type().const_int(index, false);
        let element = llvm::element_address(builder, pointer, array, index, "argument")?;
        builder.build_store(element, *slot)?;
    }
    Ok(array)
}

/// Stores the slots' addresses into an array and calls the runtime.
pub(in crate::codegen) fn launch_kernel<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    launcher: &Launcher,
    function: BasicValueEnum<'ctx>,
    configuration: &[BasicValueEnum<'ctx>],
    slots: &[PointerValue<'ctx>],
) -> Result<IntValue<'ctx>, CodegenError> {
    let context = program.context;
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let array = address_array(program, builder, slots)?;
    let (int, long) = (context.i32_type(), context.i64_type());
    let type_ = int.fn_type(
        &[
            pointer.into(),
            long.into(),
            int.into(),
            long.into(),
            int.into(),
            pointer.into(),
            long.into(),
            pointer.into(),
        ],
        false,
    );
    let callee = declared(program, launcher.launch_function, type_);
    let arguments: Vec<BasicMetadataValueEnum<'_>> = [function]
        .iter()
        .chain(&configuration[..SHARED_BYTES])
        .copied()
        .chain([array.into()])
        .chain(configuration[SHARED_BYTES..].iter().copied())
        .map(BasicMetadataValueEnum::from)
        .collect();
    Ok(builder
        .build_call(callee, &arguments, "status")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value())
}

/// Tells whom it concerns which launch site follows.
pub(in crate::codegen) fn announce_site<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    launcher: &Launcher,
    site: IntValue<'ctx>,
) -> Result<(), CodegenError> {
    let Some(name) = launcher.announce_site else {
        return Ok(());
    };
    let context = program.context;
    let type_ = context
        .void_type()
        .fn_type(&[context.i32_type().into()], false);
    let function = declared(program, name, type_);
    builder.build_call(function, &[site.into()], "")?;
    Ok(())
}

/// Tells the CPU device's statistics which side of a guarded launch runs.
pub(in crate::codegen) fn announce_side<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    kernel: &str,
    site: IntValue<'ctx>,
    fused: bool,
) -> Result<(), CodegenError> {
    let context = program.context;
    let int = context.i32_type();
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let type_ = context
        .void_type()
        .fn_type(&[pointer.into(), int.into(), int.into()], false);
    let function = declared(program, "__sirius_group_ran", type_);
    let name = format!("sirius.group.name.{kernel}");
    let name = string(program, builder, &name, kernel)?;
    let arguments = [
        name.into(),
        site.into(),
        int.const_int(fused.into(), false).into(),
    ];
    builder.build_call(function, &arguments, "")?;
    Ok(())
}

/// A string of the host module, there once under each name.
pub(in crate::codegen) fn string<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    name: &str,
    text: &str,
) -> Result<PointerValue<'ctx>, CodegenError> {
    let known = match program.host.get_global(name) {
        Some(known) => known,
        None => builder.build_global_string_ptr(text, name)?,
    };
    Ok(known.as_pointer_value())
}

/// The most threads a block with which the kernel behind `stub` can be launched, as a 64-bit value:
/// `cudaFuncAttributes::maxThreadsPerBlock`, which depends on the registers that the kernel was given.
/// It is asked once and remembered; 0 when it cannot be asked.
pub(in crate::codegen) fn thread_limit<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    stub: BasicValueEnum<'ctx>,
) -> Result<IntValue<'ctx>, CodegenError> {
    let context = program.context;
    let (int, long) = (context.i32_type(), context.i64_type());
    let name = stub
        .into_pointer_value()
        .get_name()
        .to_string_lossy()
        .into_owned();
    let name = format!("sirius.thread.limit.{name}");
    let cache = program.host.get_global(&name).unwrap_or_else(|| {
        let cache = program.host.add_global(int, None, &name);
        cache.set_linkage(Linkage::Internal);
        cache.set_initializer(&int.const_zero());
        cache
    });
    let ask = match program.host.get_function("sirius.thread.limit") {
        Some(function) => function,
        None => build_ask_thread_limit(program)?,
    };
    let limit = builder
        .build_call(
            ask,
            &[stub.into(), cache.as_pointer_value().into()],
            "limit",
        )?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    Ok(builder.build_int_z_extend(limit, long, "limit")?)
}

/// `i32 sirius.thread.limit(ptr stub, ptr cache)`.
fn build_ask_thread_limit<'ctx>(
    program: &Program<'ctx>,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    /// `maxThreadsPerBlock` follows three `size_t` in `cudaFuncAttributes`.
    const MAXIMUM_THREADS_OFFSET: u64 = 3;
    let context = program.context;
    let (int, long) = (context.i32_type(), context.i64_type());
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let type_ = int.fn_type(&[pointer.into(), pointer.into()], false);
    let linkage = Some(Linkage::Internal);
    let function = program
        .host
        .add_function("sirius.thread.limit", type_, linkage);
    let parameters = function.get_params();
    let (stub, cache) = (parameters[0], parameters[1].into_pointer_value());
    let builder = context.create_builder();
    let [entry, ask, known] =
        ["entry", "ask", "known"].map(|name| context.append_basic_block(function, name));
    builder.position_at_end(entry);
    let attributes = builder.build_alloca(long.array_type(ATTRIBUTES_WORDS), "attributes")?;
    let remembered = builder
        .build_load(int, cache, "remembered")?
        .into_int_value();
    let zero = int.const_zero();
    let is_new = builder.build_int_compare(inkwell::IntPredicate::EQ, remembered, zero, "new")?;
    builder.build_conditional_branch(is_new, ask, known)?;
    builder.position_at_end(known);
    builder.build_return(Some(&remembered))?;

    builder.position_at_end(ask);
    let inquire = declared(program, "cudaFuncGetAttributes", type_);
    let status = builder
        .build_call(inquire, &[attributes.into(), stub.into()], "status")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    let offset = long.const_int(MAXIMUM_THREADS_OFFSET, false);
    let place = llvm::element_address(&builder, long, attributes, offset, "limit")?;
    let limit = builder.build_load(int, place, "limit")?.into_int_value();
    let good = builder.build_int_compare(inkwell::IntPredicate::EQ, status, zero, "good")?;
    let limit = builder
        .build_select(good, limit, zero, "limit")?
        .into_int_value();
    builder.build_store(cache, limit)?;
    builder.build_return(Some(&limit))?;
    Ok(function)
}

/// The most dynamic shared memory that the kernel behind `stub` may be launched with, as a 64-bit
/// value: `default_bytes`, or what the program has asked for it with `cudaFuncSetAttribute`, which is
/// looked up when `asked` is more than the default.
pub(in crate::codegen) fn shared_limit<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    stub: BasicValueEnum<'ctx>,
    asked: IntValue<'ctx>,
    default_bytes: u64,
) -> Result<IntValue<'ctx>, CodegenError> {
    let long = program.context.i64_type();
    let default = long.const_int(default_bytes, false);
    if let Some(asked) = asked.get_zero_extended_constant()
        && asked <= default_bytes
    {
        return Ok(default);
    }
    let ask = match program.host.get_function("sirius.shared.limit") {
        Some(function) => function,
        None => build_shared_limit(program)?,
    };
    Ok(builder
        .build_call(ask, &[stub.into(), asked.into(), default.into()], "room")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value())
}

/// `i64 sirius.shared.limit(ptr stub, i64 asked, i64 default)`.
fn build_shared_limit<'ctx>(program: &Program<'ctx>) -> Result<FunctionValue<'ctx>, CodegenError> {
    /// `maxDynamicSharedSizeBytes` in 32-bit words of `cudaFuncAttributes`: behind three `size_t` and
    /// five `int`.
    const DYNAMIC_SHARED_OFFSET: u64 = 11;
    let context = program.context;
    let (int, long) = (context.i32_type(), context.i64_type());
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let type_ = long.fn_type(&[pointer.into(), long.into(), long.into()], false);
    let linkage = Some(Linkage::Internal);
    let function = program
        .host
        .add_function("sirius.shared.limit", type_, linkage);
    let parameters = function.get_params();
    let (asked, default) = (
        parameters[1].into_int_value(),
        parameters[2].into_int_value(),
    );
    let builder = context.create_builder();
    let [entry, look, plain] =
        ["entry", "look", "plain"].map(|name| context.append_basic_block(function, name));
    builder.position_at_end(entry);
    let attributes = builder.build_alloca(long.array_type(ATTRIBUTES_WORDS), "attributes")?;
    let small = builder.build_int_compare(inkwell::IntPredicate::ULE, asked, default, "small")?;
    builder.build_conditional_branch(small, plain, look)?;
    builder.position_at_end(plain);
    builder.build_return(Some(&default))?;
    builder.position_at_end(look);
    let inquire = int.fn_type(&[pointer.into(), pointer.into()], false);
    let inquire = declared(program, "cudaFuncGetAttributes", inquire);
    let status = builder
        .build_call(
            inquire,
            &[attributes.into(), parameters[0].into()],
            "status",
        )?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    let offset = long.const_int(DYNAMIC_SHARED_OFFSET, false);
    let place = llvm::element_address(&builder, int, attributes, offset, "bytes")?;
    let bytes = builder.build_load(int, place, "bytes")?.into_int_value();
    let bytes = builder.build_int_z_extend(bytes, long, "bytes")?;
    let zero = int.const_zero();
    let good = builder.build_int_compare(inkwell::IntPredicate::EQ, status, zero, "good")?;
    let limit = builder.build_select(good, bytes, default, "limit")?;
    builder.build_return(Some(&limit))?;
    Ok(function)
}

/// Allows the fused kernel behind `key` that much dynamic shared memory, if the device has as much for
/// a block; whether it did. What a device cannot do is not asked for, so that no error is left behind.
pub(in crate::codegen) fn allow_shared<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    key: BasicValueEnum<'ctx>,
    bytes: IntValue<'ctx>,
    static_bytes: u64,
) -> Result<IntValue<'ctx>, CodegenError> {
    let fixed = program.context.i64_type().const_int(static_bytes, false);
    let allow = match program.host.get_function("sirius.shared.allow") {
        Some(function) => function,
        None => build_allow_shared(program)?,
    };
    Ok(builder
        .build_call(allow, &[key.into(), bytes.into(), fixed.into()], "allowed")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value())
}

/// `i1 sirius.shared.allow(ptr key, i64 bytes, i64 static)`. The attribute belongs to the device that
/// is current, so that nothing is remembered.
fn build_allow_shared<'ctx>(program: &Program<'ctx>) -> Result<FunctionValue<'ctx>, CodegenError> {
    /// `cudaDevAttrMaxSharedMemoryPerBlockOptin`.
    const MOST_SHARED_OF_DEVICE: u64 = 97;
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`.
    const MOST_DYNAMIC_SHARED: u64 = 8;
    let context = program.context;
    let (int, long, bit) = (context.i32_type(), context.i64_type(), context.bool_type());
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let type_ = bit.fn_type(&[pointer.into(), long.into(), long.into()], false);
    let linkage = Some(Linkage::Internal);
    let function = program
        .host
        .add_function("sirius.shared.allow", type_, linkage);
    let parameters = function.get_params();
    let (bytes, fixed) = (
        parameters[1].into_int_value(),
        parameters[2].into_int_value(),
    );
    let builder = context.create_builder();
    let [entry, set, never] =
        ["entry", "set", "never"].map(|name| context.append_basic_block(function, name));
    builder.position_at_end(entry);
    let device = builder.build_alloca(int, "device")?;
    let most = builder.build_alloca(int, "most")?;
    let zero = int.const_zero();
    for place in [device, most] {
        builder.build_store(place, zero)?;
    }
    let get_device = declared(
        program,
        "cudaGetDevice",
        int.fn_type(&[pointer.into()], false),
    );
    builder.build_call(get_device, &[device.into()], "")?;
    let get_limit = declared(
        program,
        "cudaDeviceGetAttribute",
        int.fn_type(&[pointer.into(), int.into(), int.into()], false),
    );
    let number = builder.build_load(int, device, "device")?;
    let which = int.const_int(MOST_SHARED_OF_DEVICE, false);
    builder.build_call(get_limit, &[most.into(), which.into(), number.into()], "")?;
    let most = builder.build_load(int, most, "most")?.into_int_value();
    let most = builder.build_int_z_extend(most, long, "most")?;
    // The sum of both sizes cannot wrap where each is below the limit.
    let total = builder.build_int_add(bytes, fixed, "total")?;
    let alone = builder.build_int_compare(inkwell::IntPredicate::ULE, bytes, most, "alone")?;
    let fits = builder.build_int_compare(inkwell::IntPredicate::ULE, total, most, "fits")?;
    let fits = builder.build_and(alone, fits, "fits")?;
    builder.build_conditional_branch(fits, set, never)?;
    builder.position_at_end(never);
    builder.build_return(Some(&bit.const_zero()))?;
    builder.position_at_end(set);
    let set_attribute = declared(
        program,
        "cudaFuncSetAttribute",
        int.fn_type(&[pointer.into(), int.into(), int.into()], false),
    );
    let which = int.const_int(MOST_DYNAMIC_SHARED, false);
    let value = builder.build_int_truncate(bytes, int, "bytes")?;
    let arguments = [parameters[0].into(), which.into(), value.into()];
    let status = builder
        .build_call(set_attribute, &arguments, "status")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    let good = builder.build_int_compare(inkwell::IntPredicate::EQ, status, zero, "good")?;
    builder.build_return(Some(&good))?;
    Ok(function)
}

/// More 64-bit words than any version of `cudaFuncAttributes` has.
const ATTRIBUTES_WORDS: u32 = 128;

/// The function of this name, declared when the module does not have it.
pub(in crate::codegen) fn declared<'ctx>(
    program: &Program<'ctx>,
    name: &str,
    type_: inkwell::types::FunctionType<'ctx>,
) -> FunctionValue<'ctx> {
    program
        .host
        .get_function(name)
        .unwrap_or_else(|| program.host.add_function(name, type_, None))
}

/// A launch function's declaration promised things about memory that its body does not keep.
fn drop_attributes(function: FunctionValue<'_>) {
    for attribute in function.attributes(AttributeLoc::Function) {
        if attribute.is_enum() {
            function.remove_enum_attribute(AttributeLoc::Function, attribute.get_enum_kind_id());
        }
    }
}
