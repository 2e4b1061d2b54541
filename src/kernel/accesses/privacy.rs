//! Memory that only one thread can touch: local variables and copies of by-value arguments.
//!
//! Invariant: when a kernel has no escape, no access through a pointer of another origin touches a
//! local variable or an argument's memory.

use super::super::AccessKind;
use super::super::body::{Body, Call, Operation, Type, Value, ValueRef};
use super::super::features::{Effect, effects};
use crate::diagnostics::Location;
use std::collections::BTreeSet;

/// What the pointers to private memory do.
#[derive(Debug, Default)]
pub struct Privacy {
    /// By-value arguments that the kernel writes.
    pub changed_arguments: BTreeSet<usize>,
    /// Where an address leaves for memory or an unknown function.
    pub escapes: Vec<Location>,
    /// Arguments of which the kernel may keep a pointer in memory, the argument itself or one inside of a structure,
    /// or hand it to unknown code: the host may find it there.
    pub captured_arguments: BTreeSet<usize>,
    /// See [`KernelModel::reads_addresses`](super::super::KernelModel::reads_addresses).
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
        if body.values.iter().any(|value| captures(value, &derived)) || keeps_inner(body, argument)
        {
            privacy.captured_arguments.insert(argument);
        }
    }
    privacy.reads_addresses = body.values.iter().any(|value| reads_addresses(body, value));
    privacy
}

/// Whether a pointer inside of an argument that is passed by value may be kept.
fn keeps_inner(body: &Body, argument: usize) -> bool {
    let places = derived(body, &Operation::ByValueArgument(argument));
    let holds_pointer = |value: &Value, bytes: u32| match value.value_type {
        Type::Pointer(_) => true,
        Type::Integer(bits) => bits >= POINTER_BITS,
        Type::Other => bytes >= POINTER_BITS / 8,
    };
    let mut inner = BTreeSet::new();
    for (index, value) in body.values.iter().enumerate() {
        match &value.operation {
            Operation::Load { pointer, bytes, .. }
                if places.contains(pointer) && holds_pointer(value, *bytes) =>
            {
                inner.insert(ValueRef(index));
            }
            // Copies of the whole.
            Operation::Call(call) if call.arguments.iter().any(|each| places.contains(each)) => {
                return true;
            }
            _ if captures(value, &places) => return true,
            _ => {}
        }
    }
    let inner = with_derived(body, inner);
    body.values.iter().any(|value| captures(value, &inner))
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

const POINTER_BITS: u32 = 64;
/// LLVM's address space of shared memory.
const SHARED_SPACE: u32 = 3;
/// And that of a thread's own.
const LOCAL_SPACE: u32 = 5;

/// Whether an address of shared memory may come back from where it cannot be followed: from memory, out of a number or
/// from a function. Where none does, a pointer that the kernel finds there leads elsewhere: the host and other kernels
/// have no addresses of a block's shared memory.
pub fn gives_shared_away(body: &Body) -> bool {
    let is_shared = |value: &Value| value.value_type == Type::Pointer(SHARED_SPACE);
    let values = body.values.iter().enumerate();
    let shared = values.filter(|(_, value)| is_shared(value));
    let shared = with_derived(body, shared.map(|(index, _)| ValueRef(index)).collect());
    !shared.is_empty()
        && (body.values.iter())
            .any(|value| captures(value, &shared) || makes_shared(value, &shared))
}

/// Whether a value may be an address of shared memory that is none of these: what another function returns, which may
/// have variables of its own, or one that is made of such an address.
fn makes_shared(value: &Value, shared: &BTreeSet<ValueRef>) -> bool {
    match &value.operation {
        Operation::Call(call) => {
            let converts = matches!(value.value_type, Type::Pointer(_))
                && call.arguments.iter().any(|each| shared.contains(each));
            converts || !is_builtin(call)
        }
        Operation::Assembly { text, .. } => text.contains("shared"),
        _ => false,
    }
}

/// Whether a called function is one of LLVM or CUDA that keeps no pointer.
fn is_builtin(call: &Call) -> bool {
    call.callee.as_deref().is_some_and(|name| {
        name.starts_with("llvm.") || name.starts_with("__nv_") || name == "vprintf"
    })
}

/// Whether a value lets one of the pointers leave for memory or an unknown function.
pub(in crate::kernel) fn captures(value: &Value, derived: &BTreeSet<ValueRef>) -> bool {
    match &value.operation {
        Operation::Store { value, .. } | Operation::AtomicUpdate { value, .. } => {
            derived.contains(value)
        }
        Operation::CompareExchange { compare, new, .. } => {
            derived.contains(compare) || derived.contains(new)
        }
        Operation::Call(call) => {
            let known = call.pure || is_builtin(call);
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
pub(in crate::kernel) fn passes_on(value: &Value) -> bool {
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
    let values = body.values.iter().enumerate();
    let origins = values.filter(|(_, value)| value.operation == *origin);
    with_derived(body, origins.map(|(index, _)| ValueRef(index)).collect())
}

/// Some pointers, and all that may be computed from them.
fn with_derived(body: &Body, mut found: BTreeSet<ValueRef>) -> BTreeSet<ValueRef> {
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
