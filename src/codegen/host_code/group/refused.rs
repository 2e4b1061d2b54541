//! Why a group ran as its originals, for the statistics of the CPU device.
//!
//! Invariant: what is told is the first reason in the order in which a group asks. Nothing else depends on it.

use super::super::super::CodegenError;
use super::super::guard::{Operands, emit_guards, emit_named_guards};
use super::super::launch_call::{Launcher, declared, string};
use crate::dependence::Guard;
use crate::program::Program;
use inkwell::builder::Builder;
use inkwell::values::{IntValue, PointerValue};

/// A member before the last one was issued at its own place.
pub(super) const ISSUED_BEFORE: &str = "issued_before";
/// The address of a device variable or of a counter cannot be had.
pub(super) const ADDRESS: &str = "address";
/// A block does not get so much shared memory.
pub(super) const SHARED_MEMORY: &str = "shared_memory";
/// The blocks are not on the device at once.
pub(super) const RESIDENCY: &str = "residency";
/// What was fused waits for a launch batch, and the originals stand for what it does not do.
pub(super) const BATCH: &str = "launch_batch";
/// What a guard is computed of leaves 64 bits, or cannot be had.
const ARITHMETIC: &str = "arithmetic";

/// Where the reason is kept until the originals run; nowhere but on the CPU device.
pub(super) struct Refused<'a, 'ctx> {
    program: &'a Program<'ctx>,
    slot: Option<PointerValue<'ctx>>,
}

impl<'a, 'ctx> Refused<'a, 'ctx> {
    pub(super) fn new(
        program: &'a Program<'ctx>,
        builder: &Builder<'ctx>,
        launcher: &Launcher,
    ) -> Result<Self, CodegenError> {
        let pointer = program.context.ptr_type(inkwell::AddressSpace::default());
        let slot = match launcher.announce_side {
            true => Some(builder.build_alloca(pointer, "refused")?),
            false => None,
        };
        Ok(Self { program, slot })
    }

    /// Keeps that this is why, if the originals run before another reason is kept.
    pub(super) fn by(&self, builder: &Builder<'ctx>, why: &str) -> Result<(), CodegenError> {
        if let Some(slot) = self.slot {
            builder.build_store(slot, self.name(builder, why)?)?;
        }
        Ok(())
    }

    /// Whether all guards hold that are asked where a group runs; keeps the first that does not, by its kind and its number
    /// among all, or that something which `is_there` tells of is not.
    pub(super) fn emit(
        &self,
        builder: &Builder<'ctx>,
        operands: &dyn Operands<'ctx>,
        guards: &[Guard],
        is_there: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let (context, host) = (self.program.context, &self.program.host);
        // What memory a launch touches was asked where it was kept.
        // Whether its blocks are on the device at once is asked last.
        let is_asked =
            |guard: &Guard| !matches!(guard, Guard::DeviceMemory { .. } | Guard::Resident { .. });
        let numbered = guards.iter().enumerate();
        let numbered = numbered.filter(|(_, guard)| is_asked(guard));
        let (numbers, asked): (Vec<usize>, Vec<Guard>) = numbered
            .map(|(number, guard)| (number, guard.clone()))
            .unzip();
        let Some(slot) = self.slot else {
            let holds = emit_guards(context, host, builder, operands, &asked)?;
            return Ok(builder.build_and(holds, is_there, "run.fused")?);
        };
        let mut names = Vec::new();
        for (number, guard) in numbers.iter().zip(&asked) {
            names.push(self.name(builder, &format!("{} {number}", guard.kind()))?);
        }
        let otherwise = self.name(builder, ARITHMETIC)?;
        let named = (asked.as_slice(), names.as_slice());
        let (holds, first) = emit_named_guards(context, host, builder, operands, named, otherwise)?;
        let address = self.name(builder, ADDRESS)?;
        let why = builder.build_select(holds, address, first, "why")?;
        builder.build_store(slot, why)?;
        Ok(builder.build_and(holds, is_there, "run.fused")?)
    }

    /// Tells the runtime, where the originals of a group run.
    pub(super) fn tell(
        &self,
        builder: &Builder<'ctx>,
        kernel: &str,
        site: IntValue<'ctx>,
    ) -> Result<(), CodegenError> {
        let Some(slot) = self.slot else {
            return Ok(());
        };
        let context = self.program.context;
        let int = context.i32_type();
        let pointer = context.ptr_type(inkwell::AddressSpace::default());
        let type_ = context
            .void_type()
            .fn_type(&[pointer.into(), int.into(), pointer.into()], false);
        let function = declared(self.program, "__sirius_group_refused", type_);
        let name = string(
            self.program,
            builder,
            &format!("sirius.group.name.{kernel}"),
            kernel,
        )?;
        let why = builder.build_load(pointer, slot, "why")?;
        builder.build_call(function, &[name.into(), site.into(), why.into()], "")?;
        Ok(())
    }

    fn name(&self, builder: &Builder<'ctx>, why: &str) -> Result<PointerValue<'ctx>, CodegenError> {
        string(self.program, builder, &format!("sirius.refused.{why}"), why)
    }
}
