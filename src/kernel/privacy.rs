//! Memory that only one thread can touch: local variables and copies of by-value arguments.
//!
//! Invariant: when a kernel has no escape, no access through a pointer of another origin touches a
//! local variable or an argument's memory.

use super::AccessKind;
use super::body::{Body, Operation, Type, Value, ValueRef};
use super::features::{Effect, effects};
use crate::diagnostics::Location;
use std::collections::BTreeSet;

/// What the pointers to private memory do.
#[derive(Debug, Default)]
pub struct Privacy {
    /// By-value arguments that the kernel writes.
    pub changed_arguments: BTreeSet<usize>,
    /// Where an address leaves for memory or an unknown function.
    pub escapes: Vec<Location>,
    /// Pointer arguments whose value the kernel may keep in memory, or hand to unknown code: the
    /// host may find it there.
    pub captured_arguments: BTreeSet<usize>,
    /// See [`KernelModel::reads_addresses`](super::KernelModel::reads_addresses).
    pub reads_addresses: bool,
}

/// Follows every pointer to private memory.
pub fn analyse(body: &Body) -> Privacy {
    let mut privacy = Privacy::default();
    let arguments = (0..body.formals.len())
        .map(|argument| (Some(argument), Operation::ByValueArgument(argument)));
    for (argument, origin) in arguments.chain([(None, Operation::Alloca)]) {
        let derived = derived(body, &origin);
        if derived.is_empty() {
            continue;
        }
        for (index, value) in body.values.iter().enumerate() {
            let writes = effects(body, ValueRef(index)).iter().any(|effect| {
                matches!(effect, Effect::Touch(touch) if touch.kind != AccessKind::Read
                    && touch.pointer.is_some_and(|pointer| derived.contains(&pointer)))
            });
            if let Some(argument) = argument
                && writes
            {
                privacy.changed_arguments.insert(argument);
            }
            let escapes = captures(value, &derived);
            if escapes {
                privacy.escapes.push(value.location.clone());
                privacy.changed_arguments.extend(argument);
            }
        }
    }
    for argument in 0..body.formals.len() {
        let derived = derived(body, &Operation::Argument(argument));
        if body.values.iter().any(|value| captures(value, &derived)) {
            privacy.captured_arguments.insert(argument);
        }
    }
    privacy.reads_addresses = body.values.iter().any(|value| reads_addresses(body, value));
    privacy
}

/// Whether a value may be another one when a pointer to the same bytes has another address.
fn reads_addresses(body: &Body, value: &Value) -> bool {
    let is_address = |value: &ValueRef| match body.value(*value).value_type {
        Type::Pointer(space) => ![SHARED_SPACE, LOCAL_SPACE].contains(&space),
        _ => false,
    };
    match &value.operation {
        // Their pointers are places, and they give none of them away.
        Operation::Load { .. } | Operation::Offset { .. } | Operation::Cast { .. } => false,
        Operation::Select { .. } | Operation::Phi(_) | Operation::Freeze(_) => false,
        Operation::Store { value, .. } | Operation::AtomicUpdate { value, .. } => is_address(value),
        Operation::CompareExchange { compare, new, .. } => is_address(compare) || is_address(new),
        Operation::IntegerToPointer(_) => true,
        Operation::Call(call) => {
            let name = call.callee.as_deref().unwrap_or_default();
            let known = name.starts_with("llvm.") || name.starts_with("__nv_");
            !known && call.arguments.iter().any(is_address)
        }
        _ => value.operands().iter().any(is_address),
    }
}

/// LLVM's address space of shared memory.
const SHARED_SPACE: u32 = 3;
/// And that of a thread's own.
const LOCAL_SPACE: u32 = 5;

/// Whether a value lets one of the pointers leave for memory or an unknown function.
pub(super) fn captures(value: &Value, derived: &BTreeSet<ValueRef>) -> bool {
    match &value.operation {
        Operation::Store { value, .. } | Operation::AtomicUpdate { value, .. } => {
            derived.contains(value)
        }
        Operation::CompareExchange { compare, new, .. } => {
            derived.contains(compare) || derived.contains(new)
        }
        Operation::Call(call) => {
            let known = call.pure
                || call.callee.as_deref().is_some_and(|name| {
                    name.starts_with("llvm.") || name.starts_with("__nv_") || name == "vprintf"
                });
            !known && call.arguments.iter().any(|each| derived.contains(each))
        }
        Operation::PointerToInteger(pointer) => derived.contains(pointer),
        Operation::Assembly { arguments, .. }
        | Operation::Other {
            operands: arguments,
            ..
        } => arguments.iter().any(|each| derived.contains(each)),
        _ => false,
    }
}

/// Whether a pointer leads to what one of its operands leads to.
pub(super) fn passes_on(value: &Value) -> bool {
    let passes = matches!(
        value.operation,
        Operation::Offset { .. }
            | Operation::Cast { .. }
            | Operation::Select { .. }
            | Operation::Phi(_)
            | Operation::Freeze(_)
    );
    passes && matches!(value.value_type, Type::Pointer(_))
}

/// All pointers that may be computed from an origin.
fn derived(body: &Body, origin: &Operation) -> BTreeSet<ValueRef> {
    let mut found: BTreeSet<_> = body
        .values
        .iter()
        .enumerate()
        .filter(|(_, value)| value.operation == *origin)
        .map(|(index, _)| ValueRef(index))
        .collect();
    if found.is_empty() {
        return found;
    }
    loop {
        let before = found.len();
        for (index, value) in body.values.iter().enumerate() {
            if passes_on(value) && value.operands().iter().any(|each| found.contains(each)) {
                found.insert(ValueRef(index));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
