//! What a kernel does before it waits for the launch before it (`griddepcontrol`).
//!
//! Invariant: whatever some way through the kernel does to memory that others see before it comes to a wait is told, and
//! what is not understood is told by a few words. This looks at the code that was made, not at what was planned.

use super::super::access::touched_roots;
use super::super::address::Root;
use super::super::body::{BlockRef, Body, Operation, Terminator, ValueRef};
use super::super::features::{Effect, effects};
use super::super::{AccessKind, Target, privacy, read};
use crate::diagnostics::Location;
use inkwell::values::FunctionValue;
use std::collections::BTreeSet;

/// The assembly by which a thread waits until the launches before are done.
pub const WAIT: &str = "griddepcontrol.wait;";

/// The assembly by which a block lets the launch behind begin.
pub const TRIGGER: &str = "griddepcontrol.launch_dependents;";

/// What a kernel does before its wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependencyWaits {
    /// Accesses to memory of the device that may come before it, those of a table of pointers as such.
    pub before: Vec<EarlyAccess>,
    /// What else may come before it that others could notice, as clauses.
    pub other_before: Vec<String>,
    /// A thread may end without having waited.
    pub ends_unwaited: bool,
    /// A thread may let the launch behind begin without having waited.
    pub triggers_before: bool,
}

/// An access that may come before the wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyAccess {
    /// What it touches.
    pub target: Target,
    /// How.
    pub kind: AccessKind,
    /// It is `volatile`.
    pub volatile: bool,
    /// Where it stands.
    pub location: Location,
}

/// Looks at all ways through a kernel up to its waits.
pub fn dependency_waits(function: FunctionValue<'_>) -> DependencyWaits {
    let body = read::read_body(function);
    let privacy = privacy::analyse(&body);
    let mut found = DependencyWaits::default();
    if !privacy.escapes.is_empty() {
        let what = String::from("gives away the address of a variable of its own");
        found.other_before.push(what);
    }
    let mut met = BTreeSet::from([BlockRef(0)]);
    let mut work = vec![BlockRef(0)];
    while let Some(block) = work.pop() {
        let block = body.block(block);
        let mut waited = false;
        for value in &block.instructions {
            match says(&body, *value) {
                Some(text) if text == WAIT => {
                    waited = true;
                    break;
                }
                Some(text) if text == TRIGGER => found.triggers_before = true,
                _ => look_at(&body, &privacy.changed_arguments, *value, &mut found),
            }
        }
        if waited {
            continue;
        }
        match &block.terminator {
            Terminator::Return => found.ends_unwaited = true,
            Terminator::Other(_) => found
                .other_before
                .push(String::from("goes on in a way that is not understood")),
            _ => {}
        }
        let next = block.terminator.successors().into_iter();
        work.extend(next.filter(|next| met.insert(*next)));
    }
    found
}

/// The text of an instruction that is one of ours.
fn says(body: &Body, value: ValueRef) -> Option<&str> {
    match &body.value(value).operation {
        Operation::Assembly { text, .. } => Some(text.as_str()),
        _ => None,
    }
}

fn look_at(
    body: &Body,
    changed_arguments: &BTreeSet<usize>,
    value: ValueRef,
    found: &mut DependencyWaits,
) {
    let location = &body.value(value).location;
    if let Operation::Call(call) = &body.value(value).operation
        && call
            .callee
            .as_ref()
            .is_some_and(|name| name.starts_with(DIVISOR))
    {
        return;
    }
    for effect in effects(body, value) {
        match effect {
            Effect::Touch(touch) => {
                for root in touched_roots(body, changed_arguments, &touch) {
                    let target = match root {
                        // What the block or the thread has for itself.
                        Root::Shared(_) | Root::Local | Root::ByValue(_) | Root::Null => continue,
                        Root::Unknown(SHARED_SPACE | LOCAL_SPACE) => continue,
                        Root::Argument {
                            argument,
                            offset_bytes,
                        } => Target::Argument {
                            argument,
                            offset_bytes,
                        },
                        Root::Global(name) => Target::Global(name),
                        Root::Unknown(_) => Target::Unknown,
                    };
                    found.before.push(EarlyAccess {
                        target,
                        kind: touch.kind,
                        volatile: touch.volatile,
                        location: location.clone(),
                    });
                }
            }
            Effect::Barrier | Effect::WarpOperation => {}
            Effect::AsynchronousCopy | Effect::CopiesComplete => {
                found
                    .other_before
                    .push(String::from("copies asynchronously"));
            }
            Effect::Print => found.other_before.push(String::from("prints or traps")),
            Effect::Unfusable(reason) => found.other_before.push(reason.to_string()),
            Effect::Opaque(reason) => found.other_before.push(reason),
        }
    }
}

/// What passes on the divisor of a division, out of LLVM's sight, while code is generated.
const DIVISOR: &str = "__sirius_divisor_i";
/// LLVM's address space of shared memory.
const SHARED_SPACE: u32 = 3;
/// And that of a thread's own.
const LOCAL_SPACE: u32 = 5;
