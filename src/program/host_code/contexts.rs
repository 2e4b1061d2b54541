//! Functions that drive the device and are too large to be inlined, cloned by context.
//!
//! A context is what a call passes: calls of a function that pass the same values have one clone, others
//! have clones of their own, so that the launches in it are launch sites of their own with one buffer,
//! grid and size each. Callers come before callees, so a clone's calls are contexts again (a call string).
//! Recursive functions and calls through pointers keep the function as it is, a summary of all contexts.
//!
//! Invariant: a clone has the function's instructions and is called in place of it with the same
//! arguments; it shares its static variables. Functions that cannot be copied are left alone.

use super::super::{ProgramError, passes};
use crate::llvm::{self, Block, Builder, FUNCTION_ATTRIBUTES, Linkage, Opcode, Value};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// Clones of one function.
const CONTEXTS_OF_FUNCTION: usize = 16;

/// Instructions of all clones together.
const CLONED_INSTRUCTIONS: usize = 60_000;

/// What a call passes, argument by argument.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Passed<'ctx> {
    /// This value.
    Value(Value<'ctx>),
    /// What stands at this address.
    LoadedFrom(Value<'ctx>),
}

/// Clones each of `functions`, callers first, for the contexts in which it is called directly. What
/// nobody calls any more goes if `is_removable` says so. Returns the number of clones.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses to inline or makes an invalid module.
pub(in crate::program) fn clone_by_context<'ctx>(
    host: &Module<'ctx>,
    functions: &[Value<'ctx>],
    is_removable: &dyn Fn(Value<'ctx>) -> bool,
    machine: &inkwell::targets::TargetMachine,
) -> Result<usize, ProgramError> {
    let mut budget = CLONED_INSTRUCTIONS;
    let mut clones = 0;
    for function in functions {
        let mut contexts: Vec<(Vec<Passed>, Vec<Value>)> = Vec::new();
        let mut others = !function.is_local();
        for user in function.users() {
            if user.called_function() != Some(*function) {
                others = true;
                continue;
            }
            let passed: Vec<Passed> = user.call_arguments().into_iter().map(passed).collect();
            match contexts.iter_mut().find(|(known, _)| *known == passed) {
                Some((_, calls)) => calls.push(user),
                None => contexts.push((passed, vec![user])),
            }
        }
        // Where there is one context, the function is its clone already.
        if contexts.is_empty() || contexts.len() == 1 && !others {
            continue;
        }
        let cost = function.instructions().len() * contexts.len();
        if contexts.len() > CONTEXTS_OF_FUNCTION || cost > budget {
            continue;
        }
        budget -= cost;
        let first = clones;
        clones += contexts.len();
        let made: Vec<_> = contexts
            .iter()
            .zip(first..)
            .map(|((_, calls), number)| (calls, caller_of(host, *function, number)))
            .collect();
        passes::run(host, "always-inline", machine)?;
        for (calls, clone) in made {
            // What LLVM does not copy stays one summary.
            if clone
                .instructions()
                .iter()
                .any(|call| call.called_function() == Some(*function))
            {
                clone.delete_function();
                continue;
            }
            for call in calls {
                call.set_called(clone);
            }
        }
        if function.users().is_empty() && is_removable(*function) {
            function.delete_function();
        }
    }
    passes::verify_step(host, "cloning by context")?;
    Ok(clones)
}

/// The functions in an order in which callers come before what they call, as far as calls do not go
/// round.
pub(in crate::program) fn callers_first<'ctx>(
    functions: &[Value<'ctx>],
    calls: &HashMap<Value<'ctx>, Vec<Value<'ctx>>>,
) -> Vec<Value<'ctx>> {
    let mut order = Vec::new();
    let among: HashSet<Value> = functions.iter().copied().collect();
    let mut seen = HashSet::new();
    for root in functions {
        let mut stack = vec![(*root, 0)];
        while let Some((function, next)) = stack.pop() {
            if next == 0 && !seen.insert(function) {
                continue;
            }
            let called = calls.get(&function).and_then(|called| called.get(next));
            match called {
                Some(called) => {
                    stack.push((function, next + 1));
                    if among.contains(called) {
                        stack.push((*called, 0));
                    }
                }
                None => order.push(function),
            }
        }
    }
    order.reverse();
    order
}

fn passed(argument: Value) -> Passed {
    match argument.opcode() {
        Some(Opcode::LLVMLoad) => Passed::LoadedFrom(argument.operands()[0]),
        _ => Passed::Value(argument),
    }
}

/// A new function that calls `function` with its own arguments, the call to be inlined.
fn caller_of<'ctx>(host: &Module<'ctx>, function: Value<'ctx>, number: usize) -> Value<'ctx> {
    let name = format!("{}.context.{number}", function.name());
    let clone = llvm::declare(host, &name, function.value_type());
    clone.set_linkage(Linkage::LLVMInternalLinkage);
    clone.copy_attributes_of(function);
    for inlining in ["alwaysinline", "noinline", "optnone", "inlinehint"] {
        clone.remove_attribute(FUNCTION_ATTRIBUTES, inlining);
    }
    let builder = Builder::at_end(Block::append(clone, ""));
    let call = builder.call_function(function, &clone.parameters());
    call.call_as(function);
    call.add_call_attribute(FUNCTION_ATTRIBUTES, "alwaysinline");
    let result = function.value_type().result();
    builder.ret((!result.is_void()).then_some(call));
    clone
}
