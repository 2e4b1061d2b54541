//! A shared variable beside a buffer, and the accesses to it.

use super::super::super::indices::Index;
use super::super::super::memory::is_uniform;
use super::super::super::rows::rows_name;
use super::super::super::shared_memory_reuse;
use super::{MOST_OPERATIONS, Planned, Work};
use crate::codegen::PromotedRows;
use crate::kernel::{AccessId, BlockSymbol, KernelModel, KernelSymbol, Target};
use crate::llvm::{Builder, Linkage, Opcode, Type, Value};
use crate::math::affine::{Affine, Variable};
use crate::math::expression::Expression;
use crate::math::isl::{IslError, with_operation_budget};
use crate::verify::{PromotedBuffer, WindowSize, buffer_promotion_conflict};
use inkwell::module::Module;
use std::collections::HashMap;

/// No window of its own begins before a multiple of this.
pub(super) const ALIGNMENT: u64 = 16;

/// What stands for the part of a buffer that a block works on.
pub(super) struct Window<'ctx> {
    /// Of all accesses.
    pub(super) element_bytes: u64,
    /// `None` before it is known.
    pub(super) size: Option<Size>,
    /// Stores to the buffer.
    mirrored: Vec<Pair<'ctx>>,
    /// Loads of the buffer that read the window.
    replaced: Vec<Pair<'ctx>>,
    /// The shared variable while the shared accesses are there.
    variable: Option<Value<'ctx>>,
}

/// How large a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// Places begin at `low`, and there are so many bytes.
    Bytes { low: i64, bytes: u64 },
    /// An element for each that the kernel's parameter of this number and width counts.
    Elements { parameter: usize, bits: u32 },
}

/// An access to the buffer, and the one to the window.
struct Pair<'ctx> {
    global: Value<'ctx>,
    shared: Option<Value<'ctx>>,
    /// What all threads of the block have in common there, besides what is seen in the address.
    common: Option<Expression<BlockSymbol>>,
}

/// A model of the kernel, and where its instructions stand.
type Seen<'a, 'ctx> = (&'a KernelModel, &'a HashMap<Value<'ctx>, usize>);

impl<'ctx> Window<'ctx> {
    /// `None` where an address is not understood.
    pub(super) fn of(planned: &Planned, at: &[Value<'ctx>]) -> Option<Self> {
        let pairs = |places: &[usize], opcode: Opcode, operand: u32| {
            let places = places.iter();
            let pairs = places.map(|place| {
                let global = *at.get(*place)?;
                let plain = global.opcode() == Some(opcode);
                (plain && steps_of(global.operand(operand)).is_some()).then_some(Pair {
                    global,
                    shared: None,
                    common: None,
                })
            });
            pairs.collect::<Option<Vec<Pair>>>()
        };
        Some(Self {
            element_bytes: planned.size_bytes,
            size: None,
            mirrored: pairs(&planned.stores, Opcode::LLVMStore, 1)?,
            replaced: pairs(&planned.loads, Opcode::LLVMLoad, 0)?,
            variable: None,
        })
    }

    pub(super) fn is_of_rows(&self) -> bool {
        matches!(self.size, Some(Size::Elements { .. }))
    }

    /// Notes the size. Returns whether there is one.
    pub(super) fn set_size(&mut self, size: Option<Size>) -> bool {
        self.size = size;
        size.is_some()
    }

    /// Puts a shared access beside each global one, to a variable of its own, which is larger than any as long as no
    /// size is known.
    pub(super) fn insert(&mut self, work: &Work<'_, 'ctx>) {
        let module = work.module;
        let name = format!("{}_block", work.kernel.name());
        let byte = Type::integer(module, 8);
        let (low, bytes) = match self.size {
            Some(Size::Bytes { low, bytes }) => (low, bytes),
            Some(Size::Elements { .. }) | None => (0, shared_memory_reuse::MOST_SHARED_BYTES),
        };
        let ty = byte.array(bytes);
        let variable = Value::add_global(module, &name, ty, SHARED_ADDRESS_SPACE);
        variable.set_alignment(ALIGNMENT as u32);
        variable.set_linkage(Linkage::LLVMInternalLinkage);
        variable.set_initializer(Some(ty.poison()));
        self.variable = Some(variable);
        let back = Type::integer(module, 64).constant(low.wrapping_neg() as u64);
        self.insert_at(work, |builder| match low {
            0 => variable,
            _ => builder.element_pointer(byte, variable, &[back]),
        });
    }

    /// The same with memory that is there already.
    pub(super) fn insert_at(
        &mut self,
        work: &Work<'_, 'ctx>,
        start: impl Fn(&Builder<'ctx>) -> Value<'ctx>,
    ) {
        for_each_pair(self, |pair, half| pair.insert(work, half, &start));
    }

    /// Lets the window begin where the places of a block do: at what all accesses have in common for all threads
    /// of a block. Where that is not understood, takes the window out.
    pub(super) fn begin_at_block(&mut self, work: &Work<'_, 'ctx>, seen: Seen<'_, 'ctx>) -> bool {
        let places = self
            .pairs()
            .map(|pair| pair.places(seen).map(|(global, _)| global));
        let places = places.collect::<Option<Vec<&Affine>>>();
        let begins = places.into_iter().flatten();
        // One that goes through a row backwards has its length, too.
        let begin = begins
            .map(|place| common_part(seen.0, place))
            .min_by_key(|part| part.terms.len());
        let mut understood = begin.is_some();
        for_each_pair(self, |pair, _| {
            let known = begin.as_ref();
            understood &= known.is_some_and(|begin| pair.correct(seen, begin).is_some());
        });
        let changed = self.pairs().any(|pair| pair.common.is_some());
        if !understood || changed {
            self.take_out();
        }
        if understood && changed {
            self.insert(work);
        }
        understood
    }

    /// How large the window has to be: so many bytes where that is at most `left_bytes`, or else an element for
    /// each of a row's.
    pub(super) fn size(
        &self,
        work: &Work<'_, 'ctx>,
        seen: Seen<'_, 'ctx>,
        rows: Option<&PromotedRows>,
        left_bytes: u64,
    ) -> Option<Size> {
        let bytes = self
            .bounds(seen.0, work.facts.block)
            .and_then(|(low, high)| {
                let bytes = u64::try_from(high.checked_sub(low)?).ok()?;
                let taken = bytes.checked_next_multiple_of(ALIGNMENT)?;
                (bytes > 0 && taken <= left_bytes).then_some(Size::Bytes { low, bytes })
            });
        if bytes.is_some() {
            return bytes;
        }
        let arguments = work.facts.arguments.iter().enumerate();
        let parameters = work.kernel.parameters();
        let mut sizes = arguments.filter_map(|(parameter, passed)| {
            let ty = parameters.get(parameter)?.ty();
            let bits = ty.is_integer().then(|| ty.integer_bits())?;
            let wanted = rows.is_none_or(|rows| rows.parameter == parameter);
            let counts = *passed && wanted && matches!(bits, 32 | 64);
            counts.then_some(Size::Elements { parameter, bits })
        });
        sizes.find(|size| self.judged(work, seen, *size).is_none())
    }

    /// The first byte of the window that a block touches, and the one behind its last.
    fn bounds(&self, model: &KernelModel, block: [Option<u64>; 3]) -> Option<(i64, i64)> {
        let own = Target::Shared(self.variable?.name());
        let accesses = model.accesses.iter();
        let accesses = accesses.filter(|access| access.target == own);
        let accesses: Vec<AccessId> = accesses.map(|access| access.id).collect();
        let touched = model.bytes_touched(&accesses, block)?;
        let ends = || {
            let bytes = touched.bytes.project_out_parameters()?;
            let (low, high) = (bytes.lexmin()?.sample()?, bytes.lexmax()?.sample()?);
            Ok::<_, IslError>(low.zip(high))
        };
        let (low, high) = with_operation_budget(MOST_OPERATIONS, ends).ok()??;
        Some((*low.first()?, high.first()?.checked_add(1)?))
    }

    /// Whether the verifier finds, too, that nobody notices.
    pub(super) fn is_confirmed(&self, work: &Work<'_, 'ctx>, seen: Seen<'_, 'ctx>) -> bool {
        self.size
            .is_some_and(|size| self.judged(work, seen, size).is_none())
    }

    /// What the verifier has against it.
    fn judged(
        &self,
        work: &Work<'_, 'ctx>,
        (model, places): Seen<'_, 'ctx>,
        size: Size,
    ) -> Option<String> {
        let named = |pairs: &[Pair]| {
            let pairs = pairs.iter().map(|pair| {
                let shared = pair.shared?;
                Some((*places.get(&pair.global)?, *places.get(&shared)?))
            });
            pairs.collect::<Option<Vec<(usize, usize)>>>()
        };
        let (Some(variable), Some(mirrored), Some(replaced)) =
            (self.variable, named(&self.mirrored), named(&self.replaced))
        else {
            return Some("an access is missing".to_owned());
        };
        let promoted = PromotedBuffer {
            variable: variable.name(),
            size: match size {
                Size::Bytes { bytes, .. } => WindowSize::Bytes(bytes),
                Size::Elements { parameter, .. } => WindowSize::Elements(parameter),
            },
            mirrored,
            replaced,
        };
        buffer_promotion_conflict(model, &promoted, work.facts.block, |one, other| {
            work.facts.are_disjoint(one, other)
        })
    }

    /// Lets the loads read the window. Returns how many do.
    pub(super) fn carry_out(self) -> usize {
        let mut loads = 0;
        for pair in self.replaced {
            if let Some(shared) = pair.shared {
                pair.global.replace_uses_with(shared);
                pair.global.erase();
                loads += 1;
            }
        }
        loads
    }

    /// Takes the shared accesses out, with their variable. What computed their places is not needed any more and
    /// goes with the rest of that kind.
    pub(super) fn take_out(&mut self) {
        for_each_pair(self, |pair, _| {
            if let Some(shared) = pair.shared.take() {
                shared.erase();
            }
        });
        if let Some(variable) = self.variable.take() {
            variable.replace_uses_with_or_nothing(variable.ty().poison());
            variable.delete_global();
        }
    }

    fn pairs(&self) -> impl Iterator<Item = &Pair<'ctx>> {
        self.mirrored.iter().chain(&self.replaced)
    }
}

/// Which half of an access is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Store,
    Load,
}

fn for_each_pair<'ctx>(window: &mut Window<'ctx>, mut work: impl FnMut(&mut Pair<'ctx>, Half)) {
    let stores = window.mirrored.iter_mut();
    stores.for_each(|pair| work(pair, Half::Store));
    let loads = window.replaced.iter_mut();
    loads.for_each(|pair| work(pair, Half::Load));
}

impl<'ctx> Pair<'ctx> {
    /// Makes the shared access, the window beginning at `start`.
    fn insert(
        &mut self,
        work: &Work<'_, 'ctx>,
        half: Half,
        start: &impl Fn(&Builder<'ctx>) -> Value<'ctx>,
    ) {
        let global = self.global;
        let builder = match half {
            Half::Store => Builder::after(global),
            Half::Load => Builder::before(global),
        };
        let common = self.common.as_ref().and_then(|common| {
            let values = Values {
                work,
                builder: &builder,
            };
            values.of(common)
        });
        let mut begin = start(&builder);
        if let Some(common) = common {
            let zero = common.ty().zero();
            let back = builder.binary(Opcode::LLVMSub, zero, common);
            let byte = Type::integer(work.module, 8);
            begin = builder.element_pointer(byte, begin, &[back]);
        }
        let alignment = |ty: Type| ty.allocation_bytes(work.module) as u32;
        self.shared = Some(match half {
            Half::Store => {
                let (value, address) = (global.operand(0), global.operand(1));
                let place = within(&builder, begin, address);
                builder.store_aligned(value, place, alignment(value.ty()))
            }
            Half::Load => {
                let place = within(&builder, begin, global.operand(0));
                builder.load_aligned(global.ty(), place, alignment(global.ty()))
            }
        });
    }

    /// Where the two accesses go.
    fn places<'a>(&self, (model, places): Seen<'a, 'ctx>) -> Option<(&'a Affine, &'a Affine)> {
        let subscript = |instruction: Value| {
            let place = places.get(&instruction)?;
            let mut accesses = model.accesses.iter();
            let access = accesses.find(|access| access.place == *place)?;
            access.subscript.as_ref()
        };
        Some((subscript(self.global)?, subscript(self.shared?)?))
    }

    /// Finds by how much the place in the window is to be corrected for the window to begin at `begin`; `None` where
    /// that is not the same for all threads of a block.
    fn correct(&mut self, seen: Seen<'_, 'ctx>, begin: &Affine) -> Option<()> {
        let (global, shared) = self.places(seen)?;
        let wrong = shared.subtract(&global.subtract(begin)?)?;
        let mut common = Expression::Constant(wrong.constant);
        for (coefficient, variable) in &wrong.terms {
            let value = expression_of(seen.0, variable)?;
            common = common.add(value.multiply(Expression::Constant(*coefficient)));
        }
        self.common = (common != Expression::Constant(0)).then_some(common);
        Some(())
    }
}

/// What is the same for all threads of a block in a place, constants apart.
fn common_part(model: &KernelModel, place: &Affine) -> Affine {
    let terms = place.terms.iter();
    let common = terms.filter(|(_, variable)| is_of_block(model, variable));
    Affine {
        constant: 0,
        terms: common.cloned().collect(),
    }
}

const SHARED_ADDRESS_SPACE: u32 = 3;

/// The shared memory that launches bring along for the rows that a kernel keeps.
pub(super) fn memory_of_launch<'ctx>(module: &Module<'ctx>, kernel: Value<'ctx>) -> Value<'ctx> {
    let name = rows_name(kernel);
    let mut globals = Value::globals(module).into_iter();
    let known = globals.find(|global| global.name() == name);
    known.unwrap_or_else(|| {
        let ty = Type::integer(module, 8).array(0);
        let memory = Value::add_global(module, &name, ty, SHARED_ADDRESS_SPACE);
        memory.set_alignment(ALIGNMENT as u32);
        memory
    })
}

/// From the pointer that a parameter holds to an address: the computations of elements, outermost first.
fn steps_of(address: Value) -> Option<Vec<Value>> {
    let mut steps = Vec::new();
    let mut at = address;
    while !at.is_parameter() {
        if !at.is_instruction() || at.opcode() != Some(Opcode::LLVMGetElementPtr) {
            return None;
        }
        steps.push(at);
        at = at.operand(0);
    }
    steps.reverse();
    Some(steps)
}

/// The place in the window of an address in the buffer.
fn within<'ctx>(builder: &Builder<'ctx>, begin: Value<'ctx>, address: Value<'ctx>) -> Value<'ctx> {
    let steps = steps_of(address).unwrap_or_default();
    steps.into_iter().fold(begin, |start, step| {
        let indices = step.operands().split_off(1);
        let indices = indices.into_iter().enumerate().map(|(number, index)| {
            // Only the first counts elements of the whole; others choose within one.
            match number {
                0 => first_of_threads(builder, index),
                _ => index,
            }
        });
        let indices: Vec<Value> = indices.collect();
        builder.element_pointer(step.element_pointer_source_type(), start, &indices)
    })
}

/// A number of elements without what all threads of a block have in common, narrow where it was widened: it is
/// read as signed, and small.
fn first_of_threads<'ctx>(builder: &Builder<'ctx>, index: Value<'ctx>) -> Value<'ctx> {
    let widened = index.is_instruction()
        && matches!(index.opcode(), Some(Opcode::LLVMSExt | Opcode::LLVMZExt))
        && index.operand(0).ty().integer_bits() == 32;
    let inner = match widened {
        true => index.operand(0),
        false => index,
    };
    match of_threads(builder, inner) {
        Some(left) if left == inner => index,
        Some(left) => left,
        None => inner.ty().zero(),
    }
}

/// A number without the summands that all threads of a block have in common, constants apart; `None` when
/// nothing is left.
fn of_threads<'ctx>(builder: &Builder<'ctx>, value: Value<'ctx>) -> Option<Value<'ctx>> {
    if value.constant_integer().is_some() {
        return Some(value);
    }
    if is_uniform(value) {
        return None;
    }
    if !value.is_instruction() {
        return Some(value);
    }
    let inner_of_threads = |opcode: Opcode| {
        let (inner, other) = (value.operand(0), value.operand(1));
        let left = other
            .constant_integer()
            .and_then(|_| of_threads(builder, inner));
        match left {
            Some(left) if left != inner => Some(builder.binary(opcode, left, other)),
            _ => Some(value),
        }
    };
    match value.opcode() {
        Some(Opcode::LLVMAdd) => both_of_threads(builder, value, Opcode::LLVMAdd),
        Some(Opcode::LLVMOr) if value.is_disjoint() => {
            both_of_threads(builder, value, Opcode::LLVMAdd)
        }
        Some(Opcode::LLVMSub) => both_of_threads(builder, value, Opcode::LLVMSub),
        // Of bits, where what is left out are higher ones; the verifier sees whether they are.
        Some(opcode @ (Opcode::LLVMMul | Opcode::LLVMShl | Opcode::LLVMXor)) => {
            inner_of_threads(opcode)
        }
        // What is left may be negative although the whole is not.
        Some(Opcode::LLVMSExt | Opcode::LLVMZExt) => {
            let inner = value.operand(0);
            match of_threads(builder, inner) {
                Some(left) if left != inner => {
                    Some(builder.cast(Opcode::LLVMSExt, left, value.ty()))
                }
                _ => Some(value),
            }
        }
        _ => Some(value),
    }
}

fn both_of_threads<'ctx>(
    builder: &Builder<'ctx>,
    value: Value<'ctx>,
    opcode: Opcode,
) -> Option<Value<'ctx>> {
    let (one, other) = (value.operand(0), value.operand(1));
    match (of_threads(builder, one), of_threads(builder, other)) {
        (Some(first), Some(second)) if first == one && second == other => Some(value),
        (Some(first), Some(second)) => Some(builder.binary(opcode, first, second)),
        (Some(first), None) => Some(first),
        (None, Some(second)) if opcode == Opcode::LLVMSub => {
            let zero = second.ty().zero();
            Some(builder.binary(Opcode::LLVMSub, zero, second))
        }
        (None, second) => second,
    }
}

/// Whether all threads of a block find one value of a variable.
fn is_of_block(model: &KernelModel, variable: &Variable) -> bool {
    let all = |affine: &Affine| {
        let mut variables = affine.terms.iter().map(|(_, variable)| variable);
        variables.all(|variable| is_of_block(model, variable))
    };
    match variable {
        Variable::Block(_) | Variable::Parameter(_) => true,
        Variable::Thread(_) | Variable::Loop(_) => false,
        Variable::Floor(inner, _) => all(inner),
        Variable::Product(index) => all(&model.products[*index].factor),
    }
}

/// A variable that all threads of a block find the same, in terms of the launch and of the block's indices.
fn expression_of(model: &KernelModel, variable: &Variable) -> Option<Expression<BlockSymbol>> {
    let sum = |affine: &Affine| {
        let mut sum = Expression::Constant(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let value = expression_of(model, variable)?;
            sum = sum.add(value.multiply(Expression::Constant(*coefficient)));
        }
        Some(sum)
    };
    let parameter = |index: usize| {
        let leaf = &mut |symbol: &KernelSymbol| {
            Some(Expression::Leaf(BlockSymbol::Launch(symbol.clone())))
        };
        model.parameters.get(index)?.substitute(leaf)
    };
    match variable {
        Variable::Block(axis) => Some(Expression::Leaf(BlockSymbol::Index(*axis))),
        Variable::Parameter(index) => parameter(*index),
        Variable::Product(index) => {
            let product = model.products.get(*index)?;
            Some(sum(&product.factor)?.multiply(parameter(product.parameter)?))
        }
        Variable::Floor(inner, divisor) => {
            Some(sum(inner)?.floor_divide(Expression::Constant(*divisor)))
        }
        Variable::Thread(_) | Variable::Loop(_) => None,
    }
}

/// Computes what a model speaks of.
struct Values<'a, 'ctx> {
    work: &'a Work<'a, 'ctx>,
    builder: &'a Builder<'ctx>,
}

impl<'ctx> Values<'_, 'ctx> {
    /// A number of 64 bits; `None` where that would take more than sums and products.
    fn of(&self, expression: &Expression<BlockSymbol>) -> Option<Value<'ctx>> {
        let long = Type::integer(self.work.module, 64);
        let both = |opcode, one, other| {
            let (one, other) = (self.of(one)?, self.of(other)?);
            Some(self.builder.binary(opcode, one, other))
        };
        match expression {
            Expression::Constant(value) => Some(long.constant(*value as u64)),
            Expression::Leaf(BlockSymbol::Index(axis)) => Some(self.register(Index::Block(*axis))),
            Expression::Leaf(BlockSymbol::Launch(symbol)) => self.of_launch(symbol),
            Expression::Add(one, other) => both(Opcode::LLVMAdd, one, other),
            Expression::Subtract(one, other) => both(Opcode::LLVMSub, one, other),
            Expression::Multiply(one, other) => both(Opcode::LLVMMul, one, other),
            Expression::FloorDivide(..) | Expression::Minimum(..) | Expression::Maximum(..) => None,
        }
    }

    fn register(&self, index: Index) -> Value<'ctx> {
        let value = index.read(self.work.module, self.builder);
        let long = Type::integer(self.work.module, 64);
        self.builder.cast(Opcode::LLVMZExt, value, long)
    }

    fn of_launch(&self, symbol: &KernelSymbol) -> Option<Value<'ctx>> {
        let long = Type::integer(self.work.module, 64);
        match symbol {
            KernelSymbol::GridSize(axis) => Some(self.register(Index::GridSize(*axis))),
            KernelSymbol::BlockSize(axis) => Some(self.register(Index::BlockSize(*axis))),
            KernelSymbol::Argument {
                argument,
                offset_bytes: 0,
                bits,
                signed,
            } => {
                let value = *self.work.kernel.parameters().get(*argument)?;
                let whole = value.ty().is_integer() && value.ty().integer_bits() == *bits;
                let extend = match (*bits < 64, signed) {
                    (false, _) => return whole.then_some(value),
                    (true, true) => Opcode::LLVMSExt,
                    (true, false) => Opcode::LLVMZExt,
                };
                whole.then(|| self.builder.cast(extend, value, long))
            }
            KernelSymbol::Argument { .. } | KernelSymbol::Opaque(_) => None,
        }
    }
}
