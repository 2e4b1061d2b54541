//! How people call an allocation: by the variable that its pointer is stored to.

use super::super::Buffer;
use super::super::host_ir::{HostModule, Opcode, Operand};
use crate::diagnostics::source_name;

/// The name of the place that a pointer to an allocation is written to, as the source has it; `None` where it has none.
/// Names of elements and members that an index or a distance tells are different for different `buffers`.
pub(in crate::launch) fn buffer_name(
    host: &HostModule,
    (function, slot): (usize, Operand),
    buffers: &[Buffer],
) -> Option<String> {
    if let Some(plain) = plain_name(host, function, slot) {
        return Some(plain);
    }
    let name = derived_name(host, function, slot, MOST_STEPS)?;
    let is_taken = |name: &str| buffers.iter().any(|buffer| buffer.name == name);
    if !is_taken(&name) {
        return Some(name);
    }
    let numbered = (2..).map(|number| format!("{name}#{number}"));
    let mut free = numbered.take(buffers.len() + 1);
    free.find(|name| !is_taken(name))
}

/// A path of addresses is followed so far.
const MOST_STEPS: usize = 8;

/// A variable, or a member that the IR still calls by its name.
fn plain_name(host: &HostModule, function: usize, slot: Operand) -> Option<String> {
    let name = match slot {
        Operand::Global(global, 0) => source_name(&host.globals[global].name),
        Operand::Instruction(at) => host.functions[function].instructions[at].name.clone(),
        _ => return None,
    };
    let generic = [
        "__",
        "arrayidx",
        "arraydecay",
        "call",
        "incdec",
        "add.ptr",
        "ref.tmp",
        "retval",
        "tmp",
    ];
    let usable = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && !generic.iter().any(|start| name.starts_with(start));
    // Inlining adds a suffix.
    let plain = name
        .split_once(".i")
        .map_or(name.as_str(), |(plain, _)| plain);
    usable.then(|| plain.to_owned())
}

/// `b[3]` for the fourth pointer of `b`, `b[…]` where the index is not known.
fn derived_name(host: &HostModule, function: usize, slot: Operand, steps: usize) -> Option<String> {
    let element = |base: String, bytes: Option<i64>| match bytes {
        Some(0) => base,
        Some(bytes) if bytes > 0 && bytes % 8 == 0 => format!("{base}[{}]", bytes / 8),
        _ => format!("{base}[…]"),
    };
    match slot {
        Operand::Global(global, bytes) => {
            let base = plain_name(host, function, Operand::Global(global, 0))?;
            Some(element(base, Some(bytes)))
        }
        Operand::Instruction(at) => {
            let instruction = &host.functions[function].instructions[at];
            let Opcode::Address {
                constant, scales, ..
            } = &instruction.opcode
            else {
                return None;
            };
            let base = *instruction.operands.first()?;
            let base = plain_name(host, function, base)
                .or_else(|| derived_name(host, function, base, steps.checked_sub(1)?))?;
            Some(element(base, scales.is_empty().then_some(*constant)))
        }
        _ => None,
    }
}
