//! Host symbols as the launch graph's values, expressions and pointers.
//!
//! Invariant: a [`Root::Buffer`] is claimed only when the pointer was read from the slot that the
//! allocation wrote, or when points-to leaves one allocation that runs once; whatever else a
//! pointer is, its possible targets are listed or unknown.

use super::host_ir::Operation;
use super::points_to::{ObjectKind, PointsTo, Targets};
use super::values::{Definition, Numbering, Symbol};
use super::{
    BufferId, HostValue, LaunchId, MemoryKind, Operand, Pointer, Root, StoredPointer, ValueId,
};
use crate::math::expression::Expression;
use std::collections::{BTreeSet, HashMap};

/// The launch of a holder that does not exist: the value names a pointer that no launch takes.
const NO_LAUNCH: LaunchId = LaunchId(u32::MAX);

/// Operations that an expression may have; larger ones are of no use in a guard.
const EXPRESSION_SIZE: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ValueKey {
    Literal(i64, u32),
    Symbol(Symbol, bool),
}

/// The values of launches and the buffers, as they are found.
#[derive(Default)]
pub struct ValueTable {
    /// The launch graph's values.
    pub values: Vec<HostValue>,
    index: HashMap<ValueKey, ValueId>,
    /// For each base of pointers: the operand that stands for it, and its distance from the base.
    bases: HashMap<Symbol, (ValueId, i64)>,
    /// Buffer of each memory object that is one.
    pub buffers: HashMap<usize, BufferId>,
    /// Memory objects that are one allocation for the whole run.
    pub runs_once: BTreeSet<usize>,
    /// Buffers that some pointer reaches otherwise than through the slot of this run.
    pub inexact: BTreeSet<BufferId>,
}

impl ValueTable {
    /// The id of a launch operand.
    pub fn register(
        &mut self,
        numbering: &Numbering<'_>,
        symbol: Symbol,
        bits: u32,
        unsigned: bool,
        holder: (LaunchId, Operand),
    ) -> ValueId {
        let constant = numbering.literal(symbol).map(|value| {
            if unsigned && bits < 64 {
                value & ((1_i64 << bits) - 1)
            } else {
                value
            }
        });
        let key = match constant {
            Some(value) => ValueKey::Literal(value, bits),
            None => ValueKey::Symbol(symbol, unsigned && !numbering.range(symbol).1),
        };
        let values = &mut self.values;
        *self.index.entry(key).or_insert_with(|| {
            values.push(HostValue {
                constant,
                holder,
                varies_in: numbering.varies_in(symbol),
            });
            ValueId(values.len() - 1)
        })
    }

    /// The id of a value that equals an operand of some launch.
    pub fn lookup(
        &self,
        numbering: &Numbering<'_>,
        symbol: Symbol,
        unsigned: bool,
    ) -> Option<ValueId> {
        let key = ValueKey::Symbol(symbol, unsigned && !numbering.range(symbol).1);
        let value = self.index.get(&key).copied()?;
        (self.values[value.0].holder.0 != NO_LAUNCH).then_some(value)
    }

    /// The id of a value whether or not a launch uses it: it names what relates iterations.
    pub(super) fn identity(
        &mut self,
        numbering: &Numbering<'_>,
        symbol: Symbol,
        unsigned: bool,
    ) -> ValueId {
        let key = ValueKey::Symbol(symbol, unsigned && !numbering.range(symbol).1);
        let values = &mut self.values;
        *self.index.entry(key).or_insert_with(|| {
            values.push(HostValue {
                constant: None,
                holder: (NO_LAUNCH, Operand::Stream),
                varies_in: numbering.varies_in(symbol),
            });
            ValueId(values.len() - 1)
        })
    }

    /// The id of the counter of a loop.
    pub(super) fn counter(&mut self, index: usize) -> ValueId {
        self.values.push(HostValue {
            constant: None,
            holder: (NO_LAUNCH, Operand::Stream),
            varies_in: Some(index),
        });
        ValueId(self.values.len() - 1)
    }

    /// Values of symbols that vary in a loop, by id; true: in the unsigned reading.
    pub(super) fn varying(&self) -> Vec<(Symbol, bool, ValueId)> {
        let varies = |value: &ValueId| self.values[value.0].varies_in.is_some();
        let mut found: Vec<_> = self
            .index
            .iter()
            .filter(|(_, value)| varies(value))
            .filter_map(|(key, value)| match key {
                ValueKey::Symbol(symbol, unsigned) => Some((*symbol, *unsigned, *value)),
                ValueKey::Literal(..) => None,
            })
            .collect();
        found.sort_by_key(|(_, _, value)| *value);
        found
    }

    /// Remembers a pointer operand as the one that stands for its base.
    pub fn register_base(&mut self, numbering: &Numbering<'_>, symbol: Symbol, value: ValueId) {
        let (base, distance) = constant_distance(numbering, symbol);
        self.bases.entry(base).or_insert((value, distance));
    }

    /// The value, read as signed, in mathematical integers over launch operands.
    pub fn expression(
        &self,
        numbering: &Numbering<'_>,
        symbol: Symbol,
    ) -> Option<Expression<ValueId>> {
        self.expression_within(numbering, symbol, &mut { EXPRESSION_SIZE })
    }

    fn expression_within(
        &self,
        numbering: &Numbering<'_>,
        symbol: Symbol,
        budget: &mut usize,
    ) -> Option<Expression<ValueId>> {
        *budget = budget.checked_sub(1)?;
        if let Some(value) = numbering.literal(symbol) {
            return Some(Expression::Constant(value));
        }
        if let Some(value) = self.lookup(numbering, symbol, false) {
            return Some(Expression::Leaf(value));
        }
        let Definition::Operation {
            operation,
            bits,
            operands,
        } = numbering.definition(symbol)
        else {
            return None;
        };
        let mut part = |index: usize| self.expression_within(numbering, operands[index], budget);
        let range = |index: usize| numbering.range(operands[index]).0;
        let exact = numbering.no_signed_wrap(symbol);
        match operation {
            Operation::SignExtend => part(0),
            Operation::ZeroExtend if exact || numbering.range(operands[0]).1 => part(0),
            Operation::ZeroExtend => self
                .lookup(numbering, operands[0], true)
                .map(Expression::Leaf),
            Operation::Add if exact || range(0).max(range(1)) < *bits => {
                Some(part(0)?.add(part(1)?))
            }
            Operation::Subtract if exact || range(0).max(range(1)) < *bits => {
                Some(part(0)?.subtract(part(1)?))
            }
            Operation::Multiply if exact || range(0) + range(1) <= *bits => {
                Some(part(0)?.multiply(part(1)?))
            }
            Operation::ShiftLeft => {
                let by = numbering
                    .literal(operands[1])
                    .filter(|by| (0..62).contains(by))?;
                (exact || i64::from(range(0)) + by <= i64::from(*bits)).then_some(())?;
                Some(part(0)?.multiply(Expression::Constant(1 << by)))
            }
            _ => None,
        }
    }

    /// A device pointer, from its value and its points-to set.
    pub fn pointer(
        &mut self,
        numbering: &Numbering<'_>,
        points_to: &PointsTo,
        symbol: Symbol,
        targets: &Targets,
    ) -> Pointer {
        let decomposed = self.decompose(numbering, symbol);
        let exact = match numbering.definition(decomposed.base) {
            Definition::Allocation(function, at) => points_to.object_of_site(*function, *at),
            Definition::VariableAddress(global) => Some(points_to.object_of_global(*global)),
            _ => None,
        };
        if let Some(object) = exact
            && let Some(buffer) = self.buffers.get(&object).copied()
        {
            if decomposed.left_loop {
                self.inexact.insert(buffer);
            }
            return Pointer {
                root: Root::Buffer(buffer),
                offset_bytes: decomposed.offset,
                may_point_to: Some(vec![buffer]),
                device_only: is_device_only(points_to.objects[object].kind),
            };
        }
        let may_point_to = self.possible_buffers(numbering, symbol, targets);
        let device_only = !targets.is_empty()
            && targets
                .iter()
                .all(|target| is_device_only(points_to.objects[target.object].kind));
        self.inexact.extend(may_point_to.iter().flatten());
        if let Some([only]) = may_point_to.as_deref()
            && targets
                .iter()
                .all(|target| self.runs_once.contains(&target.object))
        {
            let mut offsets = targets.iter().map(|target| target.offset.as_exact());
            let offset = match (offsets.next(), offsets.next()) {
                (Some(Some(offset)), None) => Some(Expression::Constant(offset)),
                _ => None,
            };
            return Pointer {
                root: Root::Buffer(*only),
                offset_bytes: offset,
                may_point_to: Some(vec![*only]),
                device_only,
            };
        }
        let (root, offset_bytes) = self.value_root(numbering, symbol);
        Pointer {
            root: Root::Value(root),
            offset_bytes,
            may_point_to,
            device_only,
        }
    }

    /// Pointers to places of which no value is known, since a library keeps them; one for each
    /// allocation. `varies_in` is the loop in which they may be others each time.
    pub(super) fn kept_pointers(
        &mut self,
        points_to: &PointsTo,
        places: &Targets,
        varies_in: Option<usize>,
    ) -> Vec<Pointer> {
        let mut pointers = Vec::new();
        let objects: BTreeSet<usize> = places.iter().map(|place| place.object).collect();
        for object in objects {
            let kind = points_to.objects[object].kind;
            let buffer = self.buffers.get(&object).copied();
            let is_host = matches!(
                kind,
                ObjectKind::Stack | ObjectKind::Heap | ObjectKind::Global
            );
            if is_host && buffer.is_none() && !points_to.objects[object].kernel_visible {
                continue;
            }
            self.inexact.extend(buffer);
            let root = match buffer.filter(|_| self.runs_once.contains(&object)) {
                Some(buffer) => Root::Buffer(buffer),
                None => {
                    self.values.push(HostValue {
                        constant: None,
                        holder: (NO_LAUNCH, Operand::Stream),
                        varies_in,
                    });
                    Root::Value(ValueId(self.values.len() - 1))
                }
            };
            pointers.push(Pointer {
                root,
                offset_bytes: None,
                may_point_to: buffer.map(|buffer| vec![buffer]),
                device_only: is_device_only(kind),
            });
        }
        pointers
    }

    /// A pointer that stands in memory of the device.
    pub(super) fn stored(&self, at_bytes: Option<i64>, targets: &Targets) -> StoredPointer {
        let buffers = targets
            .iter()
            .map(|target| self.buffers.get(&target.object));
        let buffers: Option<BTreeSet<BufferId>> =
            buffers.map(Option::<&BufferId>::copied).collect();
        let mut offsets = targets.iter().map(|target| target.offset.as_exact());
        StoredPointer {
            at_bytes,
            may_point_to: buffers.map(|buffers| buffers.into_iter().collect()),
            offset_bytes: match (offsets.next(), offsets.next()) {
                (Some(offset), None) => offset,
                _ => None,
            },
        }
    }

    /// The identity of a pointer into unknown memory, and its distance from that.
    pub(super) fn value_root(
        &mut self,
        numbering: &Numbering<'_>,
        symbol: Symbol,
    ) -> (ValueId, Option<Expression<ValueId>>) {
        let (base, distance) = constant_distance(numbering, symbol);
        if let Some((value, from)) = self.bases.get(&base)
            && let Some(bytes) = distance.checked_sub(*from)
        {
            return (*value, Some(Expression::Constant(bytes)));
        }
        let decomposed = self.decompose(numbering, symbol);
        if let Some((value, from)) = self.bases.get(&decomposed.base)
            && let Some(offset) = &decomposed.offset
        {
            return (
                *value,
                Some(offset.clone().subtract(Expression::Constant(*from))),
            );
        }
        let value = self.identity(numbering, symbol, false);
        (value, Some(Expression::Constant(0)))
    }

    fn possible_buffers(
        &self,
        numbering: &Numbering<'_>,
        symbol: Symbol,
        targets: &Targets,
    ) -> Option<Vec<BufferId>> {
        if targets.is_empty() {
            return (numbering.literal(symbol) == Some(0)).then(Vec::new);
        }
        let buffers: Option<BTreeSet<BufferId>> = targets
            .iter()
            .map(|target| self.buffers.get(&target.object).copied())
            .collect();
        Some(buffers?.into_iter().collect())
    }

    fn decompose(&self, numbering: &Numbering<'_>, symbol: Symbol) -> Decomposed {
        let mut base = symbol;
        let mut offset = Some(Expression::Constant(0));
        let mut left_loop = false;
        loop {
            match numbering.definition(base) {
                Definition::Offset(inner, bytes) => {
                    offset = offset.map(|offset| offset.add(Expression::Constant(*bytes)));
                    base = *inner;
                }
                Definition::Displaced(inner, bytes) => {
                    let displacement = if left_loop {
                        None
                    } else {
                        self.expression(numbering, *bytes)
                    };
                    offset = offset.zip(displacement).map(|(offset, by)| offset.add(by));
                    base = *inner;
                }
                Definition::Exit(inner, _) if leads_to_allocation(numbering, *inner) => {
                    left_loop = true;
                    base = *inner;
                }
                _ => {
                    return Decomposed {
                        base,
                        offset,
                        left_loop,
                    };
                }
            }
        }
    }
}

struct Decomposed {
    base: Symbol,
    offset: Option<Expression<ValueId>>,
    left_loop: bool,
}

/// Only allocations are looked for behind loops: any other base differs from the one inside.
fn leads_to_allocation(numbering: &Numbering<'_>, symbol: Symbol) -> bool {
    match numbering.definition(symbol) {
        Definition::Allocation(..) => true,
        Definition::Offset(inner, _)
        | Definition::Displaced(inner, _)
        | Definition::Exit(inner, _) => leads_to_allocation(numbering, *inner),
        _ => false,
    }
}

fn constant_distance(numbering: &Numbering<'_>, symbol: Symbol) -> (Symbol, i64) {
    match numbering.definition(symbol) {
        Definition::Offset(base, bytes) => (*base, *bytes),
        _ => (symbol, 0),
    }
}

fn is_device_only(kind: ObjectKind) -> bool {
    matches!(
        kind,
        ObjectKind::Buffer(MemoryKind::Device) | ObjectKind::Variable(_)
    )
}
