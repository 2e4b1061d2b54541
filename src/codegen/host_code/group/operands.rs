//! The operands of a group's members where its functions need them: for guards, and for the fused launch.

use crate::codegen::CodegenError;
use crate::codegen::guard::Operands;
use crate::codegen::host::MemberCall;
use crate::codegen::launch_call::{
    OPERANDS_BEFORE_ARGUMENTS, SHARED_BYTES, shared_limit, thread_limit,
};
use crate::codegen::tables::pointer_behind;
use crate::kernel::KernelModel;
use crate::launch::{BEHIND_POINTER, LaunchGraph, LaunchId, Operand, ValueId};
use crate::llvm;
use crate::program::Program;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::types::{BasicTypeEnum, IntType};
use inkwell::values::{BasicValue, BasicValueEnum, IntValue, PointerValue};
use std::collections::HashMap;

/// The operands of a group function, for its guards and its launches.
pub(in crate::codegen) struct GroupOperands<'a, 'ctx> {
    pub(super) members: &'a [MemberCall<'a, 'ctx>],
    /// The group function's parameters.
    pub(super) parameters: Vec<BasicValueEnum<'ctx>>,
    in_memory: Vec<Option<BasicTypeEnum<'ctx>>>,
    /// Where each member's operands begin.
    pub(super) starts: Vec<usize>,
    values: HashMap<ValueId, IntValue<'ctx>>,
    /// The same by the member that has it.
    of_members: HashMap<(LaunchId, ValueId), IntValue<'ctx>>,
    pieces: HashMap<(LaunchId, Operand), IntValue<'ctx>>,
    maximum_threads: HashMap<LaunchId, IntValue<'ctx>>,
    shared_room: HashMap<LaunchId, IntValue<'ctx>>,
    /// Whether each set and copy would succeed.
    succeeds: HashMap<LaunchId, IntValue<'ctx>>,
    /// Of all members together.
    pub(super) static_shared_bytes: u64,
    /// Whether a pointer in a table is not known, where there are any.
    unknown: Option<IntValue<'ctx>>,
}

impl<'a, 'ctx> GroupOperands<'a, 'ctx> {
    pub(in crate::codegen) fn new(
        program: &Program<'ctx>,
        models: &[KernelModel],
        members: &'a [MemberCall<'a, 'ctx>],
        builder: &Builder<'ctx>,
        parameters: &[BasicValueEnum<'ctx>],
    ) -> Result<Self, CodegenError> {
        let mut operands = Self {
            members,
            parameters: parameters.to_vec(),
            in_memory: members
                .iter()
                .flat_map(|member| member.in_memory.iter().copied())
                .collect(),
            starts: Vec::new(),
            values: HashMap::new(),
            of_members: HashMap::new(),
            pieces: HashMap::new(),
            maximum_threads: HashMap::new(),
            shared_room: HashMap::new(),
            succeeds: HashMap::new(),
            static_shared_bytes: 0,
            unknown: None,
        };
        let mut start = 0;
        for member in members {
            operands.starts.push(start);
            operands.add_member(program, builder, member, start)?;
            start += member.operands.len();
            let model = member.launch.kernel.and_then(|kernel| models.get(kernel.0));
            let model = model.ok_or_else(|| CodegenError::Inconsistent("unknown kernel".into()))?;
            operands.static_shared_bytes += model.static_shared_bytes;
            let limit = model.max_threads.unwrap_or(1024).min(1024);
            let most = program.context.i64_type().const_int(limit.into(), false);
            let Some(stub) = member.stub() else {
                continue;
            };
            let asked = thread_limit(program, builder, stub)?;
            let fewer = builder.build_int_compare(IntPredicate::ULT, asked, most, "fewer")?;
            let most = builder
                .build_select(fewer, asked, most, "most")?
                .into_int_value();
            operands.maximum_threads.insert(member.launch.id, most);
            let asked =
                operands.parameters[operands.starts[operands.starts.len() - 1] + SHARED_BYTES];
            let free = SHARED_BYTES_WITHOUT_ASKING.saturating_sub(model.static_shared_bytes);
            let asked = asked.into_int_value();
            let room = shared_limit(program, builder, stub, asked, free)?;
            operands.shared_room.insert(member.launch.id, room);
        }
        Ok(operands)
    }

    /// Whether a kernel of all members gets so much dynamic shared memory as it is.
    pub(in crate::codegen) fn fits_without_asking(
        &self,
        builder: &Builder<'ctx>,
        dynamic_bytes: BasicValueEnum<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let bytes = dynamic_bytes.into_int_value();
        let free = SHARED_BYTES_WITHOUT_ASKING.saturating_sub(self.static_shared_bytes);
        let free = bytes.get_type().const_int(free, false);
        Ok(builder.build_int_compare(IntPredicate::ULE, bytes, free, "fits")?)
    }

    /// The shape of an operation is that of a launch of the group.
    pub(super) fn take_shapes(
        &mut self,
        program: &Program<'ctx>,
        graph: &LaunchGraph,
    ) -> Result<(), CodegenError> {
        let long = program.context.i64_type();
        for member in self.members.iter().filter(|member| member.is_operation()) {
            let launch = member.launch;
            let grid = (&launch.grid, Operand::Grid as fn(u8) -> Operand);
            for (ids, operand) in [grid, (&launch.block, Operand::Block)] {
                for (axis, id) in (0_u8..).zip(ids) {
                    let known = graph.values.get(id.0).and_then(|value| value.constant);
                    let constant = known.map(|value| {
                        long.const_int(value.cast_unsigned() & u64::from(u32::MAX), false)
                    });
                    let value = self.values.get(id).copied().or(constant);
                    let value = value.ok_or(CodegenError::GuardOperand(id.0))?;
                    self.pieces.insert((launch.id, operand(axis)), value);
                }
            }
        }
        Ok(())
    }

    /// An operation succeeds when none of its pointers is null.
    fn pointers_are_set(
        &mut self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        member: &MemberCall<'_, 'ctx>,
        start: usize,
    ) -> Result<(), CodegenError> {
        let long = program.context.i64_type();
        let mut succeeds = program.context.bool_type().const_all_ones();
        for (index, argument) in member.launch.arguments.iter().enumerate() {
            if argument.pieces.iter().all(|piece| piece.pointer.is_none()) {
                continue;
            }
            let value = self.parameters[start + OPERANDS_BEFORE_ARGUMENTS + index];
            let address = match value {
                BasicValueEnum::PointerValue(pointer) => {
                    builder.build_ptr_to_int(pointer, long, "address")?
                }
                value => value.into_int_value(),
            };
            let zero = address.get_type().const_zero();
            let is_set = builder.build_int_compare(IntPredicate::NE, address, zero, "set")?;
            succeeds = builder.build_and(succeeds, is_set, "succeeds")?;
        }
        self.succeeds.insert(member.launch.id, succeeds);
        Ok(())
    }

    pub(super) fn position(&self, launch: LaunchId, index: usize) -> Option<usize> {
        let member = self
            .members
            .iter()
            .position(|member| member.launch.id == launch)?;
        (index < self.members[member].operands.len()).then(|| self.starts[member] + index)
    }

    fn add_member(
        &mut self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        member: &MemberCall<'_, 'ctx>,
        start: usize,
    ) -> Result<(), CodegenError> {
        let context = program.context;
        let (int, long) = (context.i32_type(), context.i64_type());
        let launch = member.launch;
        let parameters = self.parameters.clone();
        type Extents<'a> = (usize, &'a [ValueId; 3], fn(u8) -> Operand);
        let shapes: [Extents<'_>; 2] = [
            (start, &launch.grid, Operand::Grid),
            (start + 2, &launch.block, Operand::Block),
        ];
        for (at, ids, operand) in shapes {
            if member.is_operation() {
                break;
            }
            let packed = parameters[at].into_int_value();
            let low = builder.build_int_truncate(packed, int, "x")?;
            let high = builder.build_right_shift(packed, long.const_int(32, false), false, "y")?;
            let depth = parameters[at + 1].into_int_value();
            let extents = [
                builder.build_int_z_extend(low, long, "x")?,
                high,
                builder.build_int_z_extend(depth, long, "z")?,
            ];
            for (axis, (extent, id)) in (0_u8..).zip(extents.into_iter().zip(ids)) {
                self.set_value(launch.id, *id, extent);
                self.pieces.insert((launch.id, operand(axis)), extent);
            }
        }
        if member.is_operation() {
            self.pointers_are_set(program, builder, member, start)?;
        }
        let stream = builder.build_ptr_to_int(
            parameters[start + OPERANDS_BEFORE_ARGUMENTS - 1].into_pointer_value(),
            long,
            "stream",
        )?;
        self.pieces.insert((launch.id, Operand::Stream), stream);
        let shared = parameters[start + SHARED_BYTES].into_int_value();
        self.set_value(launch.id, launch.shared_bytes, shared);
        self.pieces
            .insert((launch.id, Operand::SharedBytes), shared);
        for (index, argument) in launch.arguments.iter().enumerate() {
            let at = start + OPERANDS_BEFORE_ARGUMENTS + index;
            for piece in &argument.pieces {
                let value = match piece.offset_bytes.checked_sub(BEHIND_POINTER) {
                    Some(distance) => self.stored_pointer(program, builder, at, distance)?,
                    None => self.piece(program, builder, at, piece.offset_bytes, piece.bits)?,
                };
                let Some(value) = value else { continue };
                for signed in [true, false] {
                    let operand = Operand::Argument {
                        argument: index,
                        offset_bytes: piece.offset_bytes,
                        bits: piece.bits,
                        signed,
                    };
                    let wide = builder.build_int_cast_sign_flag(value, long, signed, "wide")?;
                    self.pieces.insert((launch.id, operand), wide);
                    if signed {
                        self.set_value(launch.id, piece.value, wide);
                    }
                }
            }
        }
        Ok(())
    }

    fn set_value(&mut self, launch: LaunchId, id: ValueId, value: IntValue<'ctx>) {
        self.values.entry(id).or_insert(value);
        self.of_members.entry((launch, id)).or_insert(value);
    }

    /// The pointer that stands so many bytes behind the place that the operand at `at` leads to.
    fn stored_pointer(
        &mut self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        at: usize,
        distance: u32,
    ) -> Result<Option<IntValue<'ctx>>, CodegenError> {
        let Some(address) = self.piece(program, builder, at, 0, u64::BITS)? else {
            return Ok(None);
        };
        let (pointer, known) = pointer_behind(program, builder, address, distance)?;
        let unknown = builder.build_not(known, "unknown")?;
        self.unknown = Some(match self.unknown {
            Some(before) => builder.build_or(before, unknown, "unknown")?,
            None => unknown,
        });
        Ok(Some(pointer))
    }

    /// An integer of `bits` bits at `offset_bytes` of the operand at `at`; `None` when the operand
    /// is no integer or pointer there.
    pub(super) fn piece(
        &self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        at: usize,
        offset_bytes: u32,
        bits: u32,
    ) -> Result<Option<IntValue<'ctx>>, CodegenError> {
        let context = program.context;
        let Some(bits) = std::num::NonZeroU32::new(bits).filter(|bits| bits.get() <= 64) else {
            return Ok(None);
        };
        let type_ = context
            .custom_width_int_type(bits)
            .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        let value = self.parameters[at];
        if self.in_memory[at].is_some() {
            let memory = value.into_pointer_value();
            return Ok(Some(self.load_field(
                program,
                builder,
                memory,
                offset_bytes,
                type_,
            )?));
        }
        Ok(match value {
            BasicValueEnum::PointerValue(pointer) if bits.get() == 64 && offset_bytes == 0 => {
                Some(builder.build_ptr_to_int(pointer, type_, "address")?)
            }
            BasicValueEnum::IntValue(integer) => {
                let width = integer.get_type().get_bit_width();
                let shift = u64::from(offset_bytes) * 8;
                if shift + u64::from(bits.get()) > u64::from(width) {
                    return Ok(None);
                }
                let shift = integer.get_type().const_int(shift, false);
                let shifted = builder.build_right_shift(integer, shift, false, "field")?;
                Some(if bits.get() == width {
                    shifted
                } else {
                    builder.build_int_truncate(shifted, type_, "field")?
                })
            }
            // A struct passed as a value: its memory image has the field.
            BasicValueEnum::StructValue(_) => {
                let memory = builder.build_alloca(value.get_type(), "argument")?;
                builder.build_store(memory, value)?;
                Some(self.load_field(program, builder, memory, offset_bytes, type_)?)
            }
            _ => None,
        })
    }

    fn load_field(
        &self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        memory: PointerValue<'ctx>,
        offset_bytes: u32,
        type_: IntType<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let context = program.context;
        let offset = context.i64_type().const_int(offset_bytes.into(), false);
        let address = llvm::element_address(builder, context.i8_type(), memory, offset, "field")?;
        let field = builder.build_load(type_, address, "field")?;
        // A packed struct may have it anywhere.
        if let Some(load) = field.as_instruction_value() {
            load.set_alignment(1)
                .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        }
        Ok(field.into_int_value())
    }
}

impl<'ctx> Operands<'ctx> for GroupOperands<'_, 'ctx> {
    fn value(&self, value: ValueId) -> Option<IntValue<'ctx>> {
        self.values.get(&value).copied()
    }

    fn operand(&self, launch: LaunchId, operand: Operand) -> Option<IntValue<'ctx>> {
        self.pieces.get(&(launch, operand)).copied()
    }

    fn unknown(&self) -> Option<IntValue<'ctx>> {
        self.unknown
    }

    fn shared_room(&self, launch: LaunchId) -> Option<IntValue<'ctx>> {
        self.shared_room.get(&launch).copied()
    }

    fn maximum_threads(&self, launch: LaunchId) -> Option<IntValue<'ctx>> {
        self.maximum_threads.get(&launch).copied()
    }

    fn operation_succeeds(&self, launch: LaunchId) -> Option<IntValue<'ctx>> {
        self.succeeds.get(&launch).copied()
    }
}

/// The operands of some members of a group alone: nothing is known of the others.
pub(super) struct OperandsOfSome<'a, 'ctx> {
    pub(super) all: &'a GroupOperands<'a, 'ctx>,
    pub(super) members: &'a [LaunchId],
}

impl<'ctx> OperandsOfSome<'_, 'ctx> {
    fn of<T>(&self, launch: LaunchId, value: Option<T>) -> Option<T> {
        value.filter(|_| self.members.contains(&launch))
    }
}

impl<'ctx> Operands<'ctx> for OperandsOfSome<'_, 'ctx> {
    fn value(&self, value: ValueId) -> Option<IntValue<'ctx>> {
        let mut members = self.members.iter();
        members.find_map(|member| self.all.of_members.get(&(*member, value)).copied())
    }

    fn operand(&self, launch: LaunchId, operand: Operand) -> Option<IntValue<'ctx>> {
        self.of(launch, self.all.operand(launch, operand))
    }

    fn unknown(&self) -> Option<IntValue<'ctx>> {
        self.all.unknown()
    }

    fn shared_room(&self, launch: LaunchId) -> Option<IntValue<'ctx>> {
        self.of(launch, self.all.shared_room(launch))
    }

    fn maximum_threads(&self, launch: LaunchId) -> Option<IntValue<'ctx>> {
        self.of(launch, self.all.maximum_threads(launch))
    }

    fn operation_succeeds(&self, launch: LaunchId) -> Option<IntValue<'ctx>> {
        self.of(launch, self.all.operation_succeeds(launch))
    }
}

/// Shared memory that every block gets, static and dynamic together.
const SHARED_BYTES_WITHOUT_ASKING: u64 = 48 << 10;
