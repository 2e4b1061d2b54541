//! Pointers -> what they point into and how far.
//!
//! Two views: [`Walk::address`] gives root and offset under the walk's choices; [`roots`] gives every
//! object that a pointer may be derived from, and never fails.

use super::super::assembly::converted_address;
use super::super::body::{BinaryOperator, Body, Cast, Operation, Type, ValueRef};
use super::super::induction::Way;
use super::super::kept_pointers::pointers_kept;
use super::super::walk::{OVERFLOW, Obstacle, Outcome, Quantity, Reading, Walk, scaled};
use crate::launch::BEHIND_POINTER;
use crate::math::affine::Affine;
use std::collections::{BTreeSet, HashSet};

/// What a pointer is derived from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// The pointer in an argument, or in a table behind one.
    Argument { argument: usize, offset_bytes: u32 },
    /// The memory of an argument passed by value.
    ByValue(usize),
    /// A global or constant variable.
    Global(String),
    /// A shared variable.
    Shared(String),
    /// Memory of this thread.
    Local,
    /// No object: touching it is undefined.
    Null,
    /// Anything in an address space (0: generic).
    Unknown(u32),
}

/// A pointer as root and byte offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What it points into.
    pub root: Root,
    /// Bytes from the root's start.
    pub offset: Quantity,
}

/// Offsets beyond this are no addresses of any object.
const FARTHEST_BYTE: i128 = 1 << 62;

impl Walk<'_> {
    /// Where a pointer points.
    pub fn address(&mut self, pointer: ValueRef) -> Outcome<Address> {
        if !self.active.insert(pointer) {
            return Err(Obstacle::Unknown("it is carried around a loop"));
        }
        let mut outcome = self.address_of(pointer);
        self.active.remove(&pointer);
        if let (Ok(address), Some(block)) = (&outcome, self.body.value(pointer).block) {
            outcome = self
                .seen_from(address.offset.clone(), block)
                .map(|offset| Address {
                    root: address.root.clone(),
                    offset,
                });
        }
        outcome
    }

    fn address_of(&mut self, pointer: ValueRef) -> Outcome<Address> {
        let body = self.body;
        let start = |root| {
            Ok(Address {
                root,
                offset: Quantity::certain(Affine::constant(0)),
            })
        };
        if is_number(body, pointer) {
            return Err(Obstacle::Unknown("its origin is not known"));
        }
        match &body.value(pointer).operation {
            Operation::Offset {
                base,
                constant,
                terms,
            } => {
                let mut address = self.address(*base)?;
                let change = self.displacement(*constant, terms)?;
                address.offset = address
                    .offset
                    .combine(change, Affine::add)
                    .ok_or(OVERFLOW)?;
                Ok(address)
            }
            Operation::Cast { operand, .. } => self.address(*operand),
            Operation::Freeze(inner)
            | Operation::PointerToInteger(inner)
            | Operation::IntegerToPointer(inner) => self.address(*inner),
            Operation::Assembly { .. } => match converted_address(body, pointer) {
                Some(from) => self.address(from),
                None => Err(Obstacle::Unknown("its origin is not known")),
            },
            Operation::Binary {
                operator,
                left,
                right,
                disjoint,
                ..
            } => self.integer_address(*operator, *disjoint, *left, *right),
            Operation::Select {
                on_true, on_false, ..
            } => self.choose_address(pointer, &[*on_true, *on_false]),
            Operation::Phi(incoming) => {
                if self.rotation(pointer).is_none()
                    && self.passed_on(pointer).is_none()
                    && let Some((index, first, next)) = self.recurrence(pointer)
                {
                    let step = self.in_step(index, |walk| walk.pointer_step(pointer, next, 0))?;
                    let first = self.address(first)?;
                    return Ok(Address {
                        root: first.root,
                        offset: self.progression(index, first.offset, step)?,
                    });
                }
                if let Some((_, starts)) = self.rotation(pointer) {
                    return self.choose_address(pointer, &starts);
                }
                if self.header_loop(pointer).is_some() {
                    return match self.passed_on(pointer) {
                        Some(values) => self.choose_address(pointer, &values),
                        None => Err(Obstacle::Unknown("it changes irregularly in a loop")),
                    };
                }
                let alternatives: Vec<_> = incoming.iter().map(|(value, _)| *value).collect();
                self.choose_address(pointer, &alternatives)
            }
            Operation::Load { pointer: from, .. } => {
                if let Some(root) = table_root(body, pointer, *from) {
                    return start(root);
                }
                let address = self.address(*from)?;
                match (&address.root, address.offset.affine.as_constant()) {
                    (Root::ByValue(argument), Some(offset))
                        if !self.changed_arguments.contains(argument)
                            && offset >= 0
                            && offset + 8 <= i64::from(body.formals[*argument].bytes) =>
                    {
                        start(Root::Argument {
                            argument: *argument,
                            offset_bytes: offset as u32,
                        })
                    }
                    _ => Err(Obstacle::Unknown("it is read from memory")),
                }
            }
            _ => match direct_root(body, pointer) {
                Some(root) => start(root),
                None => Err(Obstacle::Unknown("its origin is not known")),
            },
        }
    }

    /// How far a pointer moves on the way from a loop's phi to its next value.
    fn pointer_step(&mut self, phi: ValueRef, at: ValueRef, depth: usize) -> Outcome<Quantity> {
        const IRREGULAR: Obstacle = Obstacle::Unknown("it changes irregularly in a loop");
        if at == phi {
            return Ok(Quantity::certain(Affine::constant(0)));
        }
        if depth > 64 {
            return Err(IRREGULAR);
        }
        let body = self.body;
        let (before, change) = match &body.value(at).operation {
            Operation::Offset {
                base,
                constant,
                terms,
            } => (*base, self.displacement(*constant, terms)?),
            Operation::Phi(_) => match self.way_through(phi, at).ok_or(IRREGULAR)? {
                Way::Same(value) => return self.pointer_step(phi, value, depth + 1),
                Way::Loop(inner, start, next) => {
                    let once =
                        self.in_step(inner, |walk| walk.pointer_step(at, next, depth + 1))?;
                    (start, self.repeated(inner, once)?)
                }
            },
            _ => return Err(IRREGULAR),
        };
        self.pointer_step(phi, before, depth + 1)?
            .combine(change, Affine::add)
            .ok_or(OVERFLOW)
    }

    /// The sum or difference of an address and a number. Addresses lie within an object, so that no
    /// sum of machine integers wraps when the number is read as signed.
    fn integer_address(
        &mut self,
        operator: BinaryOperator,
        disjoint: bool,
        left: ValueRef,
        right: ValueRef,
    ) -> Outcome<Address> {
        let body = self.body;
        let leads = (leads_to_pointer(body, left), leads_to_pointer(body, right));
        let (base, change, factor) = match (operator, leads) {
            (BinaryOperator::Add, (true, false)) => (left, right, 1),
            (BinaryOperator::Or, (true, false)) if disjoint => (left, right, 1),
            (BinaryOperator::Add, (false, true)) => (right, left, 1),
            (BinaryOperator::Or, (false, true)) if disjoint => (right, left, 1),
            (BinaryOperator::Subtract, (true, false)) => (left, right, -1),
            _ => return Err(Obstacle::Unknown("its address is computed irregularly")),
        };
        let mut address = self.address(base)?;
        let change = scaled(self.read(change, Reading::Signed)?, factor)?
            .within(-FARTHEST_BYTE, FARTHEST_BYTE);
        address.offset = address
            .offset
            .combine(change, Affine::add)
            .ok_or(OVERFLOW)?;
        Ok(address)
    }

    fn choose_address(&mut self, pointer: ValueRef, alternatives: &[ValueRef]) -> Outcome<Address> {
        if let Some(way) = self.chosen(pointer)? {
            return self.address(alternatives[way]);
        }
        let first = alternatives[0];
        if alternatives.iter().all(|each| *each == first) {
            return self.address(first);
        }
        Err(Obstacle::Choice(pointer, alternatives.len()))
    }

    fn displacement(&mut self, constant: i64, terms: &[(i64, ValueRef)]) -> Outcome<Quantity> {
        let mut sum = Quantity::certain(Affine::constant(constant));
        for (scale, index) in terms {
            let mut term = scaled(self.read(*index, Reading::Signed)?, *scale)?;
            if !self.fits_32_bits(*index) {
                term = term.within(-FARTHEST_BYTE, FARTHEST_BYTE);
            }
            sum = sum.combine(term, Affine::add).ok_or(OVERFLOW)?;
        }
        Ok(sum)
    }

    fn fits_32_bits(&self, index: ValueRef) -> bool {
        match &self.body.value(index).operation {
            Operation::Cast {
                cast: Cast::SignExtend | Cast::ZeroExtend,
                operand,
                ..
            } => self.bits(*operand).is_some_and(|bits| bits <= 32),
            _ => self.bits(index).is_some_and(|bits| bits <= 32),
        }
    }
}

/// Everything a pointer may be derived from, without regard to offsets.
pub fn roots(
    body: &Body,
    changed_arguments: &BTreeSet<usize>,
    pointer: ValueRef,
) -> BTreeSet<Root> {
    let mut found = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut pending = vec![pointer];
    while let Some(at) = pending.pop() {
        if !seen.insert(at) {
            continue;
        }
        if is_number(body, at) {
            found.insert(Root::Unknown(0));
            continue;
        }
        match &body.value(at).operation {
            Operation::Offset { base, .. } => pending.push(*base),
            Operation::Cast { operand, .. }
            | Operation::Freeze(operand)
            | Operation::PointerToInteger(operand)
            | Operation::IntegerToPointer(operand) => pending.push(*operand),
            // An integer that an address went into is based on that address. A difference of two
            // is a number, and what it is added to cannot be told.
            Operation::Binary {
                operator,
                left,
                right,
                ..
            } => {
                let leads = (
                    leads_to_pointer(body, *left),
                    leads_to_pointer(body, *right),
                );
                if *operator == BinaryOperator::Subtract && leads.1 {
                    found.insert(Root::Unknown(0));
                } else {
                    pending.extend(leads.0.then_some(*left));
                    pending.extend(leads.1.then_some(*right));
                }
            }
            Operation::Assembly { .. } => match converted_address(body, at) {
                Some(from) => pending.push(from),
                None => {
                    found.insert(Root::Unknown(space_of(body, at)));
                }
            },
            Operation::Select {
                on_true, on_false, ..
            } => pending.extend([*on_true, *on_false]),
            Operation::Phi(incoming) => pending.extend(incoming.iter().map(|(value, _)| *value)),
            Operation::Load { pointer, .. } => match pointers_kept(body, at, *pointer) {
                Some(kept) => {
                    if kept.is_empty() {
                        found.insert(Root::Null);
                    }
                    pending.extend(kept);
                }
                None => {
                    found.insert(loaded_root(body, changed_arguments, at, *pointer));
                }
            },
            _ => {
                found.insert(direct_root(body, at).unwrap_or(Root::Unknown(space_of(body, at))));
            }
        }
    }
    // A pointer that went through an address space keeps to it.
    let space = space_of(body, pointer);
    found
        .into_iter()
        .map(|root| match root {
            Root::Unknown(0) => Root::Unknown(space),
            other => other,
        })
        .collect()
}

/// Whether a value is an integer that no address went into.
fn is_number(body: &Body, value: ValueRef) -> bool {
    matches!(body.value(value).value_type, Type::Integer(_)) && !leads_to_pointer(body, value)
}

/// Whether an integer is computed from the address in a pointer.
fn leads_to_pointer(body: &Body, value: ValueRef) -> bool {
    let mut seen = HashSet::new();
    let mut pending = vec![value];
    while let Some(at) = pending.pop() {
        if !seen.insert(at) {
            continue;
        }
        match &body.value(at).operation {
            Operation::PointerToInteger(_) => return true,
            Operation::Assembly { .. } if converted_address(body, at).is_some() => return true,
            Operation::Binary { .. }
            | Operation::Cast { .. }
            | Operation::Freeze(_)
            | Operation::Select { .. }
            | Operation::Phi(_) => pending.extend(body.value(at).operands()),
            _ => {}
        }
    }
    false
}

/// What a pointer leads to that is loaded from a constant table.
fn table_root(body: &Body, loaded: ValueRef, from: ValueRef) -> Option<Root> {
    if !matches!(body.value(loaded).value_type, Type::Pointer(0 | 1)) {
        return None;
    }
    let (argument, distance) = body.table_place(from)?;
    Some(Root::Argument {
        argument,
        offset_bytes: BEHIND_POINTER + distance,
    })
}

fn loaded_root(
    body: &Body,
    changed_arguments: &BTreeSet<usize>,
    loaded: ValueRef,
    from: ValueRef,
) -> Root {
    if let Some(root) = table_root(body, loaded, from) {
        return root;
    }
    let (mut at, mut offset) = (from, 0i64);
    loop {
        match &body.value(at).operation {
            Operation::Offset {
                base,
                constant,
                terms,
            } if terms.is_empty() => {
                at = *base;
                offset = offset.wrapping_add(*constant);
            }
            Operation::Cast { operand, .. } => at = *operand,
            Operation::ByValueArgument(argument)
                if !changed_arguments.contains(argument)
                    && offset >= 0
                    && offset.saturating_add(8) <= i64::from(body.formals[*argument].bytes) =>
            {
                return Root::Argument {
                    argument: *argument,
                    offset_bytes: offset as u32,
                };
            }
            _ => return Root::Unknown(space_of(body, loaded)),
        }
    }
}

fn space_of(body: &Body, value: ValueRef) -> u32 {
    match body.value(value).value_type {
        Type::Pointer(space) => space,
        _ => 0,
    }
}

fn direct_root(body: &Body, pointer: ValueRef) -> Option<Root> {
    match &body.value(pointer).operation {
        Operation::Argument(argument) => Some(Root::Argument {
            argument: *argument,
            offset_bytes: 0,
        }),
        Operation::ByValueArgument(argument) => Some(Root::ByValue(*argument)),
        Operation::Global(variable) if variable.address_space == 3 => {
            Some(Root::Shared(variable.name.clone()))
        }
        Operation::Global(variable) => Some(Root::Global(variable.name.clone())),
        Operation::Alloca => Some(Root::Local),
        Operation::Null | Operation::Undefined => Some(Root::Null),
        _ => None,
    }
}
