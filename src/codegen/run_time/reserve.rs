//! Allocations of which fused kernels need nothing but the address.
//!
//! Invariant: what has no memory is touched by nobody. The plan says of an allocation that only members of
//! some groups touch it; here the kernels of all these groups turned out to have no access to it left, so
//! that what touches it is their originals alone. Each call of an original makes it real before, which does
//! nothing once it is, and gives up with `cudaErrorMemoryAllocation` where there is no memory.

use super::super::host_library::HostLibrary;
use super::super::launch_call::{OPERANDS_BEFORE_ARGUMENTS, by_value_type, declared, operand_slot};
use super::super::{CodegenError, FusedKernel};
use crate::build::{Build, Device};
use crate::launch::{ArgumentPiece, BufferId, Launch, LaunchGraph};
use crate::llvm;
use crate::program::Program;
use crate::schedule::FusionPlan;
use crate::tools::Toolchain;
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue, FunctionValue,
    InstructionValue,
};
use std::collections::BTreeSet;
use std::path::Path;

/// The allocations of a plan that take no memory before an original needs it.
pub(in crate::codegen) struct Reservations {
    buffers: BTreeSet<BufferId>,
    /// What sees to it that one has memory.
    make_real: &'static str,
}

impl Reservations {
    /// Those dead allocations of the plan that no kernel of the groups that touch them touches any more.
    pub(in crate::codegen) fn new(
        plan: &FusionPlan,
        fused: &[FusedKernel],
        device: Device,
    ) -> Self {
        let leaves_alone = |group: usize, buffer: &BufferId| {
            let mut kernels = fused.iter();
            kernels.any(|kernel| kernel.group == group && kernel.untouched.contains(buffer))
        };
        let needs_address_only = |buffer: &&BufferId| {
            let groups = plan.groups.iter().enumerate();
            let mut touching = groups.filter(|(_, group)| group.unread_afterwards.contains(buffer));
            touching.all(|(index, _)| leaves_alone(index, buffer))
        };
        let dead = plan.dead_buffers.iter();
        Self {
            buffers: dead.filter(needs_address_only).copied().collect(),
            make_real: Names::of(device).make_real,
        }
    }

    /// The allocations themselves.
    pub(in crate::codegen) fn buffers(&self) -> impl Iterator<Item = BufferId> {
        self.buffers.iter().copied()
    }

    /// Where pointers that lead to one stand among the operands of a launch.
    pub(in crate::codegen) fn pointers(&self, launch: &Launch) -> Vec<PassedPointer> {
        let leads_there = |piece: &&ArgumentPiece| {
            let targets = piece.pointer.as_ref();
            let targets = targets.and_then(|pointer| pointer.may_point_to.as_ref());
            let mut targets = targets.into_iter().flatten();
            targets.any(|buffer| self.buffers.contains(buffer))
        };
        let arguments = launch.arguments.iter().enumerate();
        arguments
            .flat_map(|(index, argument)| {
                let pieces = argument.pieces.iter().filter(leads_there);
                pieces.map(move |piece| PassedPointer {
                    operand: OPERANDS_BEFORE_ARGUMENTS + index,
                    offset_bytes: piece.offset_bytes,
                })
            })
            .collect()
    }

    /// A function that does what `original` does, after what `pointers` among its parameters lead to has
    /// been made real; one for all that call it so.
    pub(in crate::codegen) fn with_memory<'ctx>(
        &self,
        program: &Program<'ctx>,
        original: FunctionValue<'ctx>,
        pointers: &[PassedPointer],
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let context = program.context;
        let places = pointers.iter();
        let places: Vec<String> = places
            .map(|place| format!("{}+{}", place.operand, place.offset_bytes))
            .collect();
        let name = original.get_name().to_string_lossy();
        let name = format!("sirius.with.memory.{name}.{}", places.join("."));
        if let Some(known) = program.host.get_function(&name) {
            return Ok(known);
        }
        let type_ = original.get_type();
        let function = program
            .host
            .add_function(&name, type_, Some(Linkage::Internal));
        let noinline = Attribute::get_named_enum_kind_id("noinline");
        let noinline = context.create_enum_attribute(noinline, 0);
        function.add_attribute(AttributeLoc::Function, noinline);
        let parameters = function.get_params();
        let (int, pointer) = (
            context.i32_type(),
            context.ptr_type(inkwell::AddressSpace::default()),
        );
        let make_real = declared(
            program,
            self.make_real,
            int.fn_type(&[pointer.into()], false),
        );
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, "entry"));
        for place in pointers {
            let address = place.load(program, &builder, original, &parameters)?;
            let [failed, real] =
                ["failed", "real"].map(|name| context.append_basic_block(function, name));
            let status = builder
                .build_call(make_real, &[address], "status")?
                .try_as_basic_value()
                .unwrap_basic()
                .into_int_value();
            let zero = int.const_zero();
            let is_real = builder.build_int_compare(IntPredicate::EQ, status, zero, "is.real")?;
            builder.build_conditional_branch(is_real, real, failed)?;
            builder.position_at_end(failed);
            builder.build_return(Some(&status))?;
            builder.position_at_end(real);
        }
        let arguments = parameters.iter().copied();
        let arguments: Vec<_> = arguments.map(BasicMetadataValueEnum::from).collect();
        let call = builder.build_call(original, &arguments, "status")?;
        // What is passed in memory is passed on so.
        for index in 0..original.count_params() {
            let place = AttributeLoc::Param(index);
            for attribute in original.attributes(place) {
                function.add_attribute(place, attribute);
                call.add_attribute(place, attribute);
            }
        }
        let status = call.try_as_basic_value().unwrap_basic();
        builder.build_return(Some(&status))?;
        Ok(function)
    }

    /// Lets the calls that make these allocations, and where that is not the runtime's own business those that
    /// free, call what knows of them. Every call in the host module is still the user's.
    pub(in crate::codegen) fn redirect(
        &self,
        program: &Program<'_>,
        graph: &LaunchGraph,
        (build, toolchain): (&Build, &Toolchain),
        folder: &Path,
    ) -> Result<(), CodegenError> {
        if self.buffers.is_empty() {
            return Ok(());
        }
        let names = Names::of(build.device);
        let allocations = calls_of(program, "cudaMalloc");
        for buffer in &self.buffers {
            let ordinal = graph.buffers[buffer.0].plain_call;
            let call = ordinal.and_then(|ordinal| allocations.get(ordinal));
            let call = call.ok_or_else(|| {
                CodegenError::Inconsistent(format!("no allocation makes buffer {}", buffer.0))
            })?;
            call_instead(program, *call, names.reserve)?;
        }
        let Some(release) = names.release else {
            return Ok(());
        };
        for call in calls_of(program, "cudaFree") {
            call_instead(program, call, release)?;
        }
        let library = HostLibrary {
            name: "sirius_reserve",
            source: include_str!("reserve.c"),
            macros: Vec::new(),
            functions: &[names.reserve, names.make_real, release],
        };
        library.link_into(program, (build, toolchain), folder)
    }
}

/// A pointer that a function is given, in a parameter or in a structure that is one.
#[derive(Clone, Copy)]
pub(in crate::codegen) struct PassedPointer {
    /// The position of the parameter; that of the operand after the stub where a launch is asked.
    pub(in crate::codegen) operand: usize,
    /// Where in it the pointer begins.
    pub(in crate::codegen) offset_bytes: u32,
}

impl PassedPointer {
    /// The pointer, in a function with the parameters of `original`.
    fn load<'ctx>(
        self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        original: FunctionValue<'ctx>,
        parameters: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicMetadataValueEnum<'ctx>, CodegenError> {
        let missing = || CodegenError::Inconsistent("no address there".into());
        let value = *parameters.get(self.operand).ok_or_else(missing)?;
        let in_memory = by_value_type(original, self.operand).is_some();
        if value.is_pointer_value() && !in_memory {
            return Ok(value.into());
        }
        let context = program.context;
        let slot = operand_slot(builder, value, in_memory)?;
        let offset = context
            .i64_type()
            .const_int(self.offset_bytes.into(), false);
        let place = llvm::element_address(builder, context.i8_type(), slot, offset, "place")?;
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let address = builder.build_load(pointer, place, "address")?;
        // A packed struct may have it anywhere.
        if let Some(load) = address.as_instruction_value() {
            load.set_alignment(1)
                .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        }
        Ok(address.into())
    }
}

/// What knows of such allocations.
#[derive(Clone, Copy)]
struct Names {
    /// In place of `cudaMalloc`.
    reserve: &'static str,
    make_real: &'static str,
    /// In place of `cudaFree`, where that does not do.
    release: Option<&'static str>,
}

impl Names {
    fn of(device: Device) -> Self {
        match device {
            Device::Cpu => Self {
                reserve: "__sirius_reserve",
                make_real: "__sirius_make_real",
                release: None,
            },
            Device::Cuda => Self {
                reserve: "sirius_reserve",
                make_real: "sirius_make_real",
                release: Some("sirius_release"),
            },
        }
    }
}

/// The calls of a function by its name, in the order of the module.
fn calls_of<'ctx>(program: &Program<'ctx>, name: &str) -> Vec<InstructionValue<'ctx>> {
    let functions = program.host.get_functions();
    let blocks = functions.flat_map(FunctionValue::get_basic_blocks);
    let instructions = blocks.flat_map(|block| block.get_instructions());
    let calls = instructions.filter(|instruction| {
        let call = CallSiteValue::try_from(*instruction).ok();
        let called = call.and_then(CallSiteValue::get_called_fn_value);
        called.is_some_and(|called| called.get_name().to_bytes() == name.as_bytes())
    });
    calls.collect()
}

/// Makes a call one of another function of the same type.
pub(in crate::codegen) fn call_instead<'ctx>(
    program: &Program<'ctx>,
    call: InstructionValue<'ctx>,
    name: &str,
) -> Result<(), CodegenError> {
    let broken = || CodegenError::Inconsistent("a call without a function".into());
    let site = CallSiteValue::try_from(call).map_err(|()| broken())?;
    let called = site.get_called_fn_value().ok_or_else(broken)?;
    let other = declared(program, name, called.get_type());
    // What is called is the last operand.
    let place = call.get_num_operands().checked_sub(1).ok_or_else(broken)?;
    let other = other.as_global_value().as_pointer_value();
    match call.set_operand(place, other) {
        true => Ok(()),
        false => Err(broken()),
    }
}
