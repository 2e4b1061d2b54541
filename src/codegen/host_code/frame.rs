//! Where the launches of a group wait: memory of the host function that holds their operands.
//!
//! Invariant: a frame begins with the number of its group's launches that pend, a 32-bit number, and
//! holds the site and the operands of at least so many of its first members. Where a group runs with some of its members,
//! that number has a bit for each that pends. While nothing pends it
//! belongs to nobody, so that groups whose regions do not overlap use the same memory.

use super::super::CodegenError;
use super::super::host::MemberCall;
use crate::llvm;
use crate::program::Program;
use inkwell::builder::Builder;
use inkwell::targets::TargetData;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicValueEnum, PointerValue};

/// Where in its frame a group has what.
pub(in crate::codegen) struct FrameLayout<'ctx> {
    members: Vec<Member<'ctx>>,
    /// Of the frame.
    pub(in crate::codegen) extent: Extent,
}

/// Memory, and what it is aligned to at least.
#[derive(Clone, Copy, Default)]
pub(in crate::codegen) struct Extent {
    pub(in crate::codegen) bytes: u64,
    pub(in crate::codegen) align_bytes: u32,
}

impl Extent {
    /// The offset of the next so many bytes.
    fn take(&mut self, bytes: u64, align_bytes: u32) -> u64 {
        self.align_bytes = self.align_bytes.max(align_bytes);
        let offset = self.bytes.next_multiple_of(align_bytes.max(1).into());
        self.bytes = offset + bytes;
        offset
    }
}

/// What is kept of a member. Its offsets count from its own place, so that they are the same in every
/// group.
struct Member<'ctx> {
    /// Its place in the frame.
    start: u64,
    /// How many bytes it has there.
    bytes: u64,
    /// Offset of the launch's number; a set or a copy has none.
    site: Option<u64>,
    operands: Vec<Operand<'ctx>>,
}

struct Operand<'ctx> {
    offset_bytes: u64,
    /// Of the value, or of what lies in memory.
    type_: BasicTypeEnum<'ctx>,
    /// It is passed as the address of a copy.
    in_memory: bool,
}

/// A member's operands as its call takes them.
pub(in crate::codegen) struct Passed<'ctx> {
    /// The number of the launch.
    pub(in crate::codegen) site: Option<BasicValueEnum<'ctx>>,
    /// Everything after the stub; addresses for what is passed in memory.
    pub(in crate::codegen) operands: Vec<BasicValueEnum<'ctx>>,
}

/// Bytes of the number of launches that pend.
const PENDING_BYTES: u64 = 4;

/// What x86-64 gives any argument that is passed in memory.
pub(in crate::codegen) const STACK_ALIGNMENT_BYTES: u32 = 16;

impl<'ctx> FrameLayout<'ctx> {
    /// The layout for these members, in their order.
    pub(in crate::codegen) fn of(
        program: &Program<'ctx>,
        members: &[MemberCall<'_, 'ctx>],
    ) -> Self {
        let data = program.host.get_data_layout();
        let data = TargetData::create(&data.as_str().to_string_lossy());
        let mut layout = Self {
            members: Vec::new(),
            extent: Extent {
                bytes: PENDING_BYTES,
                align_bytes: STACK_ALIGNMENT_BYTES,
            },
        };
        for member in members {
            let mut own = Extent::default();
            let site = member.site().map(|_| own.take(4, 4));
            let mut operands = Vec::new();
            let values = member.operands.iter().zip(&member.in_memory);
            for (index, (value, in_memory)) in values.enumerate() {
                let type_ = in_memory.unwrap_or(value.get_type());
                let declared = in_memory.map_or(1, |_| member.declared_alignment(index));
                let align_bytes = data.get_abi_alignment(&type_).max(declared);
                operands.push(Operand {
                    offset_bytes: own.take(data.get_abi_size(&type_), align_bytes),
                    type_,
                    in_memory: in_memory.is_some(),
                });
            }
            let start = layout.extent.take(own.bytes, own.align_bytes);
            layout.members.push(Member {
                start,
                bytes: own.bytes,
                site,
                operands,
            });
        }
        layout
    }

    /// How many bytes are kept of a member.
    pub(in crate::codegen) fn bytes_of(&self, member: usize) -> u64 {
        self.members[member].bytes
    }

    /// The place of a member.
    pub(in crate::codegen) fn place(
        &self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        frame: PointerValue<'ctx>,
        member: usize,
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        field(program, builder, frame, self.members[member].start)
    }

    /// Keeps what a member was called with at its place.
    pub(in crate::codegen) fn store(
        &self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        place_of_member: PointerValue<'ctx>,
        member: usize,
        passed: &Passed<'ctx>,
    ) -> Result<(), CodegenError> {
        let own = &self.members[member];
        if let (Some(offset), Some(site)) = (own.site, passed.site) {
            let place = field(program, builder, place_of_member, offset)?;
            builder.build_store(place, site)?;
        }
        for (operand, value) in own.operands.iter().zip(&passed.operands) {
            let place = field(program, builder, place_of_member, operand.offset_bytes)?;
            if !operand.in_memory {
                builder.build_store(place, *value)?;
                continue;
            }
            let bytes = operand.type_.size_of();
            let bytes =
                bytes.ok_or_else(|| CodegenError::Inconsistent("unsized argument".into()))?;
            builder
                .build_memcpy(place, 1, value.into_pointer_value(), 1, bytes)
                .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        }
        Ok(())
    }

    /// What a member that pends was called with.
    pub(in crate::codegen) fn load(
        &self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        frame: PointerValue<'ctx>,
        member: usize,
    ) -> Result<Passed<'ctx>, CodegenError> {
        let own = &self.members[member];
        let start = self.place(program, builder, frame, member)?;
        let site = match own.site {
            Some(offset) => {
                let place = field(program, builder, start, offset)?;
                Some(builder.build_load(program.context.i32_type(), place, "site")?)
            }
            None => None,
        };
        let mut operands = Vec::new();
        for operand in &own.operands {
            let place = field(program, builder, start, operand.offset_bytes)?;
            operands.push(match operand.in_memory {
                true => place.into(),
                false => builder.build_load(operand.type_, place, "operand")?,
            });
        }
        Ok(Passed { site, operands })
    }

    /// The address of an operand that is kept, or of the copy of what is passed in memory, or so many bytes further.
    pub(in crate::codegen) fn address(
        &self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        frame: PointerValue<'ctx>,
        (member, operand, begin): (usize, usize, u32),
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        let own = &self.members[member];
        let offset = own.start + own.operands[operand].offset_bytes + u64::from(begin);
        field(program, builder, frame, offset)
    }
}

fn field<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    frame: PointerValue<'ctx>,
    offset_bytes: u64,
) -> Result<PointerValue<'ctx>, CodegenError> {
    let offset = program.context.i64_type().const_int(offset_bytes, false);
    let byte = program.context.i8_type();
    Ok(llvm::element_address(
        builder, byte, frame, offset, "field",
    )?)
}
