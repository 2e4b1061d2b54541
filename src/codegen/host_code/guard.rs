//! Guards in LLVM IR: what a fused launch tests before it runs.
//!
//! Invariant: the emitted value is true only if every guard holds in mathematical integers. All
//! arithmetic is done in 64 bits with overflow bits collected; an overflow, like a division by
//! something that is not positive, makes the whole test false, and the originals run.

use super::super::CodegenError;
use crate::dependence::{Guard, PointerRange};
use crate::kernel::Columns;
use crate::launch::{LaunchId, Operand, ValueId};
use crate::math::expression::{Condition, Expression};
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicMetadataValueEnum, FunctionValue, IntValue, PointerValue};
use std::collections::HashMap;

/// Where a guard finds its operands: 64-bit values at the place where the guard is evaluated.
pub trait Operands<'ctx> {
    /// The run-time value of a host value, sign-extended to 64 bits.
    fn value(&self, value: ValueId) -> Option<IntValue<'ctx>>;
    /// The run-time value of an operand of a member, as [`Operand`] says it is read.
    fn operand(&self, launch: LaunchId, operand: Operand) -> Option<IntValue<'ctx>>;
    /// Whether some operand could not be had, as an `i1`, where that can be.
    fn unknown(&self) -> Option<IntValue<'ctx>>;
    /// The most dynamic shared memory that a launch of the launch's own kernel may ask for now, in
    /// bytes, as a 64-bit value.
    fn shared_room(&self, launch: LaunchId) -> Option<IntValue<'ctx>>;
    /// The most threads a block that the launch's own kernel accepts, as a 64-bit value.
    fn maximum_threads(&self, launch: LaunchId) -> Option<IntValue<'ctx>>;
    /// For a launch that is a set or a copy in truth: whether that would succeed, as an `i1`. Its
    /// shape is that of another.
    fn operation_succeeds(&self, launch: LaunchId) -> Option<IntValue<'ctx>>;
}

/// Emits the conjunction of `guards` at the builder's position, as an `i1`.
///
/// # Errors
/// When a guard names a value that no member carries: our bug, since plans are verified.
pub fn emit_guards<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    operands: &dyn Operands<'ctx>,
    guards: &[Guard],
) -> Result<IntValue<'ctx>, CodegenError> {
    let mut emitter = Emitter::new(context, module, builder, operands);
    let mut holds = context.bool_type().const_all_ones();
    for guard in strictest(guards) {
        let one = emitter.guard(guard)?;
        holds = builder.build_and(holds, one, "holds")?;
    }
    let clean = builder.build_not(emitter.failed, "exact")?;
    Ok(builder.build_and(holds, clean, "guard")?)
}

/// As [`emit_guards`], with the name of the first guard that does not hold, or `otherwise` where some arithmetic left 64
/// bits or an operand could not be had.
///
/// # Errors
/// As for [`emit_guards`].
pub fn emit_named_guards<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    operands: &dyn Operands<'ctx>,
    (guards, names): (&[Guard], &[PointerValue<'ctx>]),
    otherwise: PointerValue<'ctx>,
) -> Result<(IntValue<'ctx>, PointerValue<'ctx>), CodegenError> {
    let mut emitter = Emitter::new(context, module, builder, operands);
    let mut holds = context.bool_type().const_all_ones();
    let mut first = otherwise;
    for guard in strictest(guards) {
        let place = guards.iter().position(|each| each == guard);
        let name = place.and_then(|place| names.get(place)).copied();
        let one = emitter.guard(guard)?;
        let fails = builder.build_not(one, "fails")?;
        let fails_first = builder.build_and(holds, fails, "fails.first")?;
        first = builder
            .build_select(fails_first, name.unwrap_or(otherwise), first, "first")?
            .into_pointer_value();
        holds = builder.build_and(holds, one, "holds")?;
    }
    let clean = builder.build_not(emitter.failed, "exact")?;
    let guard = builder.build_and(holds, clean, "guard")?;
    Ok((guard, first))
}

/// Emits the ends of ranges as addresses, and whether all could be computed.
///
/// # Errors
/// As for [`emit_guards`].
pub fn emit_ranges<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    operands: &dyn Operands<'ctx>,
    ranges: &[&PointerRange],
) -> Result<(Vec<[IntValue<'ctx>; 2]>, IntValue<'ctx>), CodegenError> {
    let mut emitter = Emitter::new(context, module, builder, operands);
    let mut ends = Vec::new();
    for range in ranges {
        let (low, high) = emitter.range(range)?;
        ends.push([low, high]);
    }
    let exact = builder.build_not(emitter.failed, "exact")?;
    Ok((ends, exact))
}

/// Emits the columns that a range lies in at the builder's position: the pitch of the rows, or 0 where what is computed does not fit into
/// 64 bits, the address where they begin in some row, and their bytes in each row.
///
/// # Errors
/// As for [`emit_guards`].
pub fn emit_columns<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    operands: &dyn Operands<'ctx>,
    (range, columns): (&PointerRange, &Columns<ValueId>),
) -> Result<[IntValue<'ctx>; 3], CodegenError> {
    let mut emitter = Emitter::new(context, module, builder, operands);
    let (low, high) = emitter.range(&PointerRange {
        low_bytes: columns.low_bytes.clone(),
        high_bytes: columns.high_bytes.clone(),
        ..range.clone()
    })?;
    let pitch = emitter.expression(&columns.pitch_bytes)?;
    let bytes = builder.build_int_sub(high, low, "column.bytes")?;
    let none = context.i64_type().const_zero();
    let pitch = builder.build_select(emitter.failed, none, pitch, "pitch")?;
    Ok([pitch.into_int_value(), low, bytes])
}

/// Emits an expression at the builder's position, in 64 bits; what it is where a guard does not hold that
/// bounds it has no meaning.
///
/// # Errors
/// As for [`emit_guards`].
pub fn emit_expression<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    operands: &dyn Operands<'ctx>,
    expression: &Expression<ValueId>,
) -> Result<IntValue<'ctx>, CodegenError> {
    Emitter::new(context, module, builder, operands).expression(expression)
}

/// Guards from which all follow. A kernel that goes through an array in many strides has a bound for the product of
/// each with the same extent, of which the largest is enough.
fn strictest(guards: &[Guard]) -> Vec<&Guard> {
    let mut largest: HashMap<_, i64> = HashMap::new();
    let bounds: Vec<_> = guards.iter().map(bounded_product).collect();
    for (factor, rest) in bounds.iter().flatten() {
        let known = largest.entry(*rest).or_insert(*factor);
        *known = (*known).max(*factor);
    }
    // Of equal ones the first stays.
    let mut kept = Vec::new();
    for (guard, bound) in guards.iter().zip(bounds) {
        match bound {
            Some((factor, rest)) if largest.get(&rest) != Some(&factor) => {}
            Some((_, rest)) => {
                largest.remove(&rest);
                kept.push(guard);
            }
            None => kept.push(guard),
        }
    }
    kept
}

/// A product with a positive number, what is subtracted from it, and what the difference may be at most.
type BoundedProduct<'g> = (i64, (&'g Expression<ValueId>, i64, i64));

/// `factor · product - less <= most`, where `-less <= most`: the larger the factor, the more it says, since where the
/// product is negative it holds for any.
fn bounded_product(guard: &Guard) -> Option<BoundedProduct<'_>> {
    let Guard::Holds {
        condition: Condition::LessEqual(left, Expression::Constant(most)),
        ..
    } = guard
    else {
        return None;
    };
    let (product, less) = match left {
        Expression::Subtract(product, less) => (&**product, less.as_constant()?),
        product => (product, 0),
    };
    let Expression::Multiply(one, other) = product else {
        return None;
    };
    let (factor, product) = match (one.as_constant(), other.as_constant()) {
        (Some(factor), None) => (factor, &**other),
        (None, Some(factor)) => (factor, &**one),
        _ => return None,
    };
    let holds_at_zero = less.checked_neg()? <= *most;
    (factor > 0 && holds_at_zero).then_some((factor, (product, less, *most)))
}

const IS_FREE: &str = "sirius.stream.is.free";

/// `i1 sirius.stream.is.free(i64 stream)`: no capture of it is in progress. A stream that cannot be asked
/// is not free.
fn build_is_free<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    let (int, long, bit) = (context.i32_type(), context.i64_type(), context.bool_type());
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let type_ = bit.fn_type(&[long.into()], false);
    let function = module.add_function(IS_FREE, type_, Some(Linkage::Internal));
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    // Handle 0 is the thread's own stream where the program was compiled so.
    let by_thread = module
        .get_functions()
        .any(|function| function.get_name().to_bytes().ends_with(b"_ptsz"));
    let name = match by_thread {
        true => "cudaStreamIsCapturing_ptsz",
        false => "cudaStreamIsCapturing",
    };
    let ask = module.get_function(name).unwrap_or_else(|| {
        let type_ = int.fn_type(&[pointer.into(), pointer.into()], false);
        module.add_function(name, type_, None)
    });
    let state = builder.build_alloca(int, "state")?;
    builder.build_store(state, int.const_zero())?;
    let stream = function
        .get_nth_param(0)
        .map(|stream| stream.into_int_value());
    let stream = stream.ok_or_else(|| CodegenError::Inconsistent("no stream".into()))?;
    let stream = builder.build_int_to_ptr(stream, pointer, "stream")?;
    let status = builder
        .build_call(ask, &[stream.into(), state.into()], "status")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    let state = builder.build_load(int, state, "state")?.into_int_value();
    let either = builder.build_or(status, state, "either")?;
    let free = builder.build_int_compare(IntPredicate::EQ, either, int.const_zero(), "free")?;
    builder.build_return(Some(&free))?;
    Ok(function)
}

const IS_DEVICE_MEMORY: &str = "sirius.is.device.memory";

/// `i1 sirius.is.device.memory(i64 pointer)`: whether it is null or leads to memory of the device alone.
///
/// A kernel may be given a pointer to the end of an array and go backwards from there. So the byte in front of it must
/// not be memory of the host either.
fn build_is_device_memory<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    const DEVICE: u64 = 2;
    let (int, long, bit) = (context.i32_type(), context.i64_type(), context.bool_type());
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let type_ = bit.fn_type(&[long.into()], false);
    let function = module.add_function(IS_DEVICE_MEMORY, type_, Some(Linkage::Internal));
    let noinline = Attribute::get_named_enum_kind_id("noinline");
    let noinline = context.create_enum_attribute(noinline, 0);
    function.add_attribute(AttributeLoc::Function, noinline);
    let builder = context.create_builder();
    let [entry, ask, in_front, done] =
        ["entry", "ask", "in.front", "done"].map(|name| context.append_basic_block(function, name));
    let question = module
        .get_function("cudaPointerGetAttributes")
        .unwrap_or_else(|| {
            let type_ = int.fn_type(&[pointer.into(), pointer.into()], false);
            module.add_function("cudaPointerGetAttributes", type_, None)
        });
    // `cudaPointerAttributes` begins with the type of the memory, and has fewer bytes in each release so far.
    let answer_type = long.array_type(32);
    let type_of_memory = |answer, address: IntValue<'ctx>| -> Result<_, CodegenError> {
        let address = builder.build_int_to_ptr(address, pointer, "address")?;
        let status = builder
            .build_call(
                question,
                &[BasicMetadataValueEnum::from(answer), address.into()],
                "status",
            )?
            .try_as_basic_value()
            .unwrap_basic()
            .into_int_value();
        let known =
            builder.build_int_compare(IntPredicate::EQ, status, int.const_zero(), "known")?;
        Ok((
            known,
            builder.build_load(int, answer, "type")?.into_int_value(),
        ))
    };

    builder.position_at_end(entry);
    let answer = builder.build_alloca(answer_type, "answer")?;
    let address = function
        .get_nth_param(0)
        .map(|address| address.into_int_value());
    let address = address.ok_or_else(|| CodegenError::Inconsistent("no pointer".into()))?;
    let is_null =
        builder.build_int_compare(IntPredicate::EQ, address, long.const_zero(), "is.null")?;
    builder.build_conditional_branch(is_null, done, ask)?;

    builder.position_at_end(ask);
    let (known, kind) = type_of_memory(answer, address)?;
    let device = int.const_int(DEVICE, false);
    let is_device = builder.build_int_compare(IntPredicate::EQ, kind, device, "is.device")?;
    let is_device = builder.build_and(known, is_device, "is.device")?;
    builder.build_conditional_branch(is_device, in_front, done)?;

    builder.position_at_end(in_front);
    let before = builder.build_int_sub(address, long.const_int(1, false), "before")?;
    let (known, kind) = type_of_memory(answer, before)?;
    let is_device = builder.build_int_compare(IntPredicate::EQ, kind, device, "is.device")?;
    let nothing =
        builder.build_int_compare(IntPredicate::EQ, kind, int.const_zero(), "is.nothing")?;
    let either = builder.build_or(is_device, nothing, "either")?;
    let not_of_host = builder.build_and(known, either, "not.of.host")?;
    builder.build_unconditional_branch(done)?;

    builder.position_at_end(done);
    let result = builder.build_phi(bit, "result")?;
    let (yes, no) = (bit.const_all_ones(), bit.const_zero());
    result.add_incoming(&[(&yes, entry), (&no, ask), (&not_of_host, in_front)]);
    builder.build_return(Some(&result.as_basic_value()))?;
    Ok(function)
}

const IS_VALID: &str = "sirius.configuration.is.valid";

/// `i1 sirius.configuration.is.valid(i64 extents of grid and block, i64 most threads, i64 shared bytes,
/// i64 room for them)`: see [`Emitter::configuration`].
fn build_is_valid<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    const MOST: [u64; 6] = [0x7fff_ffff, 65_535, 65_535, 1024, 1024, 64];
    let (long, bit) = (context.i64_type(), context.bool_type());
    let type_ = bit.fn_type(&[long.into(); MOST.len() + 3], false);
    let function = module.add_function(IS_VALID, type_, Some(Linkage::Internal));
    // Called for every member of every group: a copy at each place would be most of the host code.
    let noinline = Attribute::get_named_enum_kind_id("noinline");
    let noinline = context.create_enum_attribute(noinline, 0);
    function.add_attribute(AttributeLoc::Function, noinline);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    let values = function.get_params();
    let value = |index: usize| values[index].into_int_value();
    let mut holds = bit.const_all_ones();
    let mut both = |one| -> Result<_, CodegenError> {
        holds = builder.build_and(holds, one, "valid")?;
        Ok(holds)
    };
    for (index, most) in MOST.into_iter().enumerate() {
        let (extent, one) = (value(index), long.const_int(1, false));
        let most = long.const_int(most, false);
        both(builder.build_int_compare(IntPredicate::SGE, extent, one, "low")?)?;
        both(builder.build_int_compare(IntPredicate::SLE, extent, most, "high")?)?;
    }
    // No product leaves 64 bits where each extent is as small as this.
    let threads = builder.build_int_mul(value(3), value(4), "threads")?;
    let threads = builder.build_int_mul(threads, value(5), "threads")?;
    let [most, shared, room] = [6, 7, 8].map(value);
    both(builder.build_int_compare(IntPredicate::SLE, threads, most, "few")?)?;
    let holds = both(builder.build_int_compare(IntPredicate::ULE, shared, room, "fits")?)?;
    builder.build_return(Some(&holds))?;
    Ok(function)
}

struct Emitter<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: &'a Builder<'ctx>,
    operands: &'a dyn Operands<'ctx>,
    /// Set when some arithmetic left 64 bits, or an operand could not be had.
    failed: IntValue<'ctx>,
    /// What was computed so far, all of it in one block: guards have much in common.
    computed: HashMap<(Step, IntValue<'ctx>, IntValue<'ctx>), IntValue<'ctx>>,
}

/// Arithmetic that a guard is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Add,
    Subtract,
    Multiply,
    FloorDivide,
}

impl Step {
    /// LLVM's name of what tells of an overflow.
    fn intrinsic(self) -> Option<&'static str> {
        match self {
            Self::Add => Some("llvm.sadd.with.overflow"),
            Self::Subtract => Some("llvm.ssub.with.overflow"),
            Self::Multiply => Some("llvm.smul.with.overflow"),
            Self::FloorDivide => None,
        }
    }
}

impl<'a, 'ctx> Emitter<'a, 'ctx> {
    fn new(
        context: &'ctx Context,
        module: &'a Module<'ctx>,
        builder: &'a Builder<'ctx>,
        operands: &'a dyn Operands<'ctx>,
    ) -> Self {
        Self {
            context,
            module,
            builder,
            operands,
            failed: operands
                .unknown()
                .unwrap_or_else(|| context.bool_type().const_zero()),
            computed: HashMap::new(),
        }
    }

    fn guard(&mut self, guard: &Guard) -> Result<IntValue<'ctx>, CodegenError> {
        match guard {
            Guard::Holds { condition, .. } => self.condition(condition),
            Guard::RangesDisjoint { left, right } => self.disjoint(left, right),
            Guard::SameOrDisjoint { left, right } => {
                let disjoint = self.disjoint(left, right)?;
                let [one, other] =
                    [left, right].map(|side| self.operand(side.launch, side.operand));
                let same = self.compare(IntPredicate::EQ, one?, other?)?;
                Ok(self.builder.build_or(same, disjoint, "same.or.disjoint")?)
            }
            Guard::ConfigurationValid { launch } => self.configuration(*launch),
            Guard::SameStream { first, second } => {
                let first = self.operand(*first, Operand::Stream)?;
                let second = self.operand(*second, Operand::Stream)?;
                self.compare(IntPredicate::EQ, first, second)
            }
            // It is about the kernel that is launched, and asked where that is.
            Guard::Resident { .. } => Err(CodegenError::Inconsistent(
                "residency is no matter of operands".into(),
            )),
            Guard::DeviceMemory { launch, operand } => {
                let pointer = self.operand(*launch, *operand)?;
                let ask = match self.module.get_function(IS_DEVICE_MEMORY) {
                    Some(known) => known,
                    None => build_is_device_memory(self.context, self.module)?,
                };
                let call = self.builder.build_call(ask, &[pointer.into()], "device")?;
                Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
            }
            Guard::NotCapturing { launch } => {
                let stream = self.operand(*launch, Operand::Stream)?;
                let ask = match self.module.get_function(IS_FREE) {
                    Some(known) => known,
                    None => build_is_free(self.context, self.module)?,
                };
                let call = self.builder.build_call(ask, &[stream.into()], "free")?;
                Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
            }
        }
    }

    fn disjoint(
        &mut self,
        left: &PointerRange,
        right: &PointerRange,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let (left_low, left_high) = self.range(left)?;
        let (right_low, right_high) = self.range(right)?;
        let before = self.compare(IntPredicate::SLE, left_high, right_low)?;
        let after = self.compare(IntPredicate::SLE, right_high, left_low)?;
        Ok(self.builder.build_or(before, after, "disjoint")?)
    }

    fn condition(
        &mut self,
        condition: &Condition<ValueId>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        match condition {
            Condition::LessEqual(left, right) => {
                let (left, right) = (self.expression(left)?, self.expression(right)?);
                self.compare(IntPredicate::SLE, left, right)
            }
            Condition::Equal(left, right) => {
                let (left, right) = (self.expression(left)?, self.expression(right)?);
                self.compare(IntPredicate::EQ, left, right)
            }
            Condition::All(parts) => {
                let mut all = self.context.bool_type().const_all_ones();
                for part in parts {
                    let one = self.condition(part)?;
                    all = self.builder.build_and(all, one, "all")?;
                }
                Ok(all)
            }
            Condition::Any(parts) => {
                let mut any = self.context.bool_type().const_zero();
                for part in parts {
                    let one = self.condition(part)?;
                    any = self.builder.build_or(any, one, "any")?;
                }
                Ok(any)
            }
        }
    }

    fn expression(
        &mut self,
        expression: &Expression<ValueId>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let long = self.context.i64_type();
        Ok(match expression {
            Expression::Constant(value) => long.const_int(value.cast_unsigned(), true),
            Expression::Leaf(value) => self
                .operands
                .value(*value)
                .ok_or(CodegenError::GuardOperand(value.0))?,
            Expression::Add(a, b) => self.step(Step::Add, a, b)?,
            Expression::Subtract(a, b) => self.step(Step::Subtract, a, b)?,
            Expression::Multiply(a, b) => self.step(Step::Multiply, a, b)?,
            Expression::FloorDivide(a, b) => self.step(Step::FloorDivide, a, b)?,
            Expression::Minimum(a, b) => self.choose(IntPredicate::SLE, a, b)?,
            Expression::Maximum(a, b) => self.choose(IntPredicate::SGE, a, b)?,
        })
    }

    fn step(
        &mut self,
        step: Step,
        a: &Expression<ValueId>,
        b: &Expression<ValueId>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let (a, b) = (self.expression(a)?, self.expression(b)?);
        self.step_of_values(step, a, b)
    }

    fn step_of_values(
        &mut self,
        step: Step,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        if let Some(known) = self.computed.get(&(step, a, b)) {
            return Ok(*known);
        }
        let value = match step.intrinsic() {
            Some(intrinsic) => self.checked(intrinsic, a, b)?,
            None => self.floor_divide(a, b)?,
        };
        self.computed.insert((step, a, b), value);
        Ok(value)
    }

    fn checked(
        &mut self,
        intrinsic: &str,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let long = self.context.i64_type();
        let function = Intrinsic::find(intrinsic)
            .and_then(|found| found.get_declaration(self.module, &[long.into()]))
            .ok_or_else(|| CodegenError::Inconsistent(format!("{intrinsic} is missing")))?;
        let pair = self
            .builder
            .build_call(function, &[a.into(), b.into()], "checked")?
            .try_as_basic_value()
            .unwrap_basic()
            .into_struct_value();
        let value = self
            .builder
            .build_extract_value(pair, 0, "value")?
            .into_int_value();
        let overflow = self
            .builder
            .build_extract_value(pair, 1, "overflow")?
            .into_int_value();
        self.failed = self.builder.build_or(self.failed, overflow, "failed")?;
        Ok(value)
    }

    /// Rounds towards minus infinity. A divisor that is not positive fails the guard; one is
    /// divided by instead, so that nothing traps.
    fn floor_divide(
        &mut self,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let long = self.context.i64_type();
        let (zero, one) = (long.const_zero(), long.const_int(1, false));
        let builder = self.builder;
        let bad = self.compare(IntPredicate::SLT, b, one)?;
        self.failed = builder.build_or(self.failed, bad, "failed")?;
        let b = builder
            .build_select(bad, one, b, "divisor")?
            .into_int_value();
        let quotient = builder.build_int_signed_div(a, b, "quotient")?;
        let remainder = builder.build_int_signed_rem(a, b, "remainder")?;
        let below = self.compare(IntPredicate::SLT, remainder, zero)?;
        let correction = builder.build_int_s_extend(below, long, "correction")?;
        Ok(builder.build_int_add(quotient, correction, "floor")?)
    }

    fn choose(
        &mut self,
        predicate: IntPredicate,
        a: &Expression<ValueId>,
        b: &Expression<ValueId>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        let (a, b) = (self.expression(a)?, self.expression(b)?);
        let first = self.compare(predicate, a, b)?;
        Ok(self
            .builder
            .build_select(first, a, b, "chosen")?
            .into_int_value())
    }

    fn compare(
        &self,
        predicate: IntPredicate,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CodegenError> {
        Ok(self.builder.build_int_compare(predicate, a, b, "compare")?)
    }

    /// `[low, high)` of a pointer range as addresses.
    fn range(
        &mut self,
        range: &PointerRange,
    ) -> Result<(IntValue<'ctx>, IntValue<'ctx>), CodegenError> {
        let base = self.operand(range.launch, range.operand)?;
        let low = self.expression(&range.low_bytes)?;
        let high = self.expression(&range.high_bytes)?;
        let low = self.step_of_values(Step::Add, base, low)?;
        let high = self.step_of_values(Step::Add, base, high)?;
        Ok((low, high))
    }

    fn operand(&self, launch: LaunchId, operand: Operand) -> Result<IntValue<'ctx>, CodegenError> {
        self.operands.operand(launch, operand).ok_or_else(|| {
            CodegenError::Inconsistent(format!("launch {} has no operand {operand:?}", launch.0))
        })
    }

    /// What CUDA accepts for any launch without opt-in: extents from 1, grid up to 2^31 - 1 and
    /// 65,535, block up to 1024, 1024 and 64 with at most the kernel's own limit of threads, and 48 KiB
    /// of shared memory including the static part of the *fused* kernel.
    fn configuration(&mut self, launch: LaunchId) -> Result<IntValue<'ctx>, CodegenError> {
        if let Some(succeeds) = self.operands.operation_succeeds(launch) {
            return Ok(succeeds);
        }
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        for operand in [Operand::Grid as fn(u8) -> Operand, Operand::Block] {
            for axis in 0..3 {
                arguments.push(self.operand(launch, operand(axis))?.into());
            }
        }
        let most = self.operands.maximum_threads(launch).ok_or_else(|| {
            CodegenError::Inconsistent(format!("launch {} has no limit of threads", launch.0))
        })?;
        let room = self.operands.shared_room(launch).ok_or_else(|| {
            CodegenError::Inconsistent(format!("launch {} has no room", launch.0))
        })?;
        let shared = self.operand(launch, Operand::SharedBytes)?;
        arguments.extend([most, shared, room].map(BasicMetadataValueEnum::from));
        let test = match self.module.get_function(IS_VALID) {
            Some(known) => known,
            None => build_is_valid(self.context, self.module)?,
        };
        let call = self.builder.build_call(test, &arguments, "valid")?;
        Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(factor: i64, less: i64, most: i64) -> Guard {
        let value = Box::new(Expression::Leaf(ValueId(0)));
        let product = Expression::Multiply(Box::new(Expression::Constant(factor)), value);
        let difference =
            Expression::Subtract(Box::new(product), Box::new(Expression::Constant(less)));
        Guard::Holds {
            class: "wrap".into(),
            condition: Condition::LessEqual(difference, Expression::Constant(most)),
        }
    }

    fn holds(guard: &Guard, value: i64) -> bool {
        let (factor, (_, less, most)) = bounded_product(guard).unwrap();
        factor * value - less <= most
    }

    #[test]
    fn the_largest_product_stays_and_says_all() {
        let guards = [
            bound(2, 1, 9),
            bound(5, 1, 9),
            bound(5, 1, 9),
            bound(3, 1, 9),
            bound(7, 2, 9),
        ];
        let kept = strictest(&guards);
        assert_eq!(kept, [&guards[1], &guards[4]]);
        for value in -20..20 {
            let all = guards.iter().all(|guard| holds(guard, value));
            assert_eq!(all, kept.iter().all(|guard| holds(guard, value)), "{value}");
        }
    }

    #[test]
    fn what_does_not_hold_at_zero_is_kept() {
        let guards = [
            bound(2, -10, 9),
            bound(5, -10, 9),
            bound(-5, 1, 9),
            bound(-2, 1, 9),
        ];
        assert_eq!(strictest(&guards).len(), guards.len());
    }
}
