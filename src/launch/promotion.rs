//! Which functions calls through pointers are tested for.
//!
//! Invariant: a call is said to be of no other functions only where the analysis of pointers says so, and a function is
//! said to be called in no other way only if its name and its address are known to code of the module alone, and
//! all calls that it can be the target of are said to be of no others.

use super::handles;
use super::host_ir::Opcode;
use super::host_reader;
use crate::program::{MOST_TARGETS, Program, ProgramError, PromotableCall};
use std::collections::{BTreeSet, HashMap};

/// Makes direct calls, behind tests, of calls through pointers that lead to few functions, one of which drives the device.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses a pipeline.
pub fn promote_calls_through_pointers(program: &Program<'_>) -> Result<bool, ProgramError> {
    let mut chosen = program.promotable_calls();
    if chosen.is_empty() {
        return Ok(false);
    }
    let host = host_reader::read_host_module(&program.host, program.closed);
    let (points_to, stubs) = handles::points_to(program.into(), &host);
    let mut places = Vec::new();
    for (function, body) in host.functions.iter().enumerate() {
        for (at, instruction) in body.instructions.iter().enumerate() {
            if matches!(instruction.opcode, Opcode::Call { callee: None, .. }) {
                places.push((function, at));
            }
        }
    }
    let known: HashMap<usize, (Vec<usize>, bool)> = places
        .iter()
        .enumerate()
        .map(|(ordinal, place)| (ordinal, points_to.callees(&host, *place, &stubs)))
        .collect();
    for call in chosen.iter_mut().filter(|call| !call.is_complete) {
        if let Some((callees, others_too)) = known.get(&call.ordinal) {
            let callees = callees.iter();
            let callees = callees.map(|callee| host.functions[*callee].name.clone());
            narrow(call, callees.collect(), *others_too);
        }
    }
    chosen.retain(|call| !call.targets.is_empty() && call.targets.len() <= MOST_TARGETS);
    let complete: BTreeSet<usize> = chosen
        .iter()
        .filter(|call| call.is_complete)
        .map(|call| call.ordinal)
        .collect();
    let targets = chosen.iter().flat_map(|call| &call.targets);
    let mut removable: BTreeSet<String> = targets.cloned().collect();
    removable.retain(|name| {
        let mut functions = host.functions.iter();
        functions
            .position(|function| function.name == *name)
            .is_some_and(|function| {
                let mut calls = known.iter();
                host.functions[function].internal
                    && !stubs.contains(name)
                    && !points_to.is_function_escaped(function)
                    && calls.all(|(ordinal, (callees, _))| {
                        complete.contains(ordinal) || !callees.contains(&function)
                    })
            })
    });
    program.promote(&chosen, &removable)
}

/// Leaves a call those targets that its pointer can lead to.
fn narrow(call: &mut PromotableCall, callees: Vec<String>, others_too: bool) {
    let (possible, impossible): (Vec<_>, Vec<_>) = std::mem::take(&mut call.targets)
        .into_iter()
        .partition(|target| callees.contains(target));
    call.is_complete = !others_too;
    call.targets = match (others_too, possible.is_empty()) {
        // None of what it calls is worth a test.
        (false, true) => Vec::new(),
        (false, false) => callees,
        // Nothing is known of the pointer.
        (true, true) if call.is_guess => Vec::new(),
        (true, true) => impossible,
        (true, false) => possible,
    };
}
