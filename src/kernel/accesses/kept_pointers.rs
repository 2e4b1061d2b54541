//! Pointers that a thread keeps in variables of its own: a table of stages of a tile, for instance.
//!
//! Invariant: what is loaded from such a variable is one of the pointers that the kernel stores to it. Nobody else
//! writes to it, all that is written are pointers, and all are read and written as they lie beside each other.

use super::super::AccessKind;
use super::super::body::{Body, Operation, Type, ValueRef};
use super::super::features::{Effect, effects};
use super::super::privacy::{captures, passes_on};
use std::collections::{BTreeSet, HashSet};

/// The pointers that a load may find, when all of these are stored by the kernel itself into variables of the
/// thread; `None` where that is not known.
pub(in crate::kernel) fn pointers_kept(
    body: &Body,
    load: ValueRef,
    from: ValueRef,
) -> Option<Vec<ValueRef>> {
    if !matches!(body.value(load).value_type, Type::Pointer(_)) {
        return None;
    }
    let variables = variables_behind(body, from)?;
    let derived = derived(body, &variables)?;
    let mut kept = Vec::new();
    for (index, value) in body.values.iter().enumerate() {
        if captures(value, &derived) {
            return None;
        }
        let touches = effects(body, ValueRef(index)).into_iter();
        let writes = touches.filter(|effect| match effect {
            Effect::Touch(touch) => {
                let here = touch
                    .pointer
                    .is_some_and(|pointer| derived.contains(&pointer));
                here && touch.kind != AccessKind::Read
            }
            _ => false,
        });
        if writes.count() == 0 {
            continue;
        }
        match &value.operation {
            Operation::Store { value, .. }
                if matches!(body.value(*value).value_type, Type::Pointer(_)) =>
            {
                kept.push(*value);
            }
            _ => return None,
        }
    }
    Some(kept)
}

/// The variables of the thread that an address may lead into; `None` where it may lead elsewhere.
fn variables_behind(body: &Body, address: ValueRef) -> Option<BTreeSet<ValueRef>> {
    let mut found = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut pending = vec![address];
    while let Some(at) = pending.pop() {
        if !seen.insert(at) {
            continue;
        }
        match &body.value(at).operation {
            Operation::Alloca => {
                found.insert(at);
            }
            Operation::Offset { base, .. } => pending.push(*base),
            Operation::Cast { operand, .. } => pending.push(*operand),
            _ => return None,
        }
    }
    Some(found)
}

/// All addresses of pointers in these variables; `None` where one may lie between two of them.
fn derived(body: &Body, variables: &BTreeSet<ValueRef>) -> Option<BTreeSet<ValueRef>> {
    let mut found = variables.clone();
    loop {
        let before = found.len();
        for (index, value) in body.values.iter().enumerate() {
            if !passes_on(value) || !value.operands().iter().any(|each| found.contains(each)) {
                continue;
            }
            let whole = |bytes: i64| bytes % POINTER_BYTES == 0;
            if let Operation::Offset {
                constant, terms, ..
            } = &value.operation
                && !(whole(*constant) && terms.iter().all(|(scale, _)| whole(*scale)))
            {
                return None;
            }
            found.insert(ValueRef(index));
        }
        if found.len() == before {
            return Some(found);
        }
    }
}

const POINTER_BYTES: i64 = 8;
