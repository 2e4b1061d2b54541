//! Inline PTX that has to stay in its place, told to LLVM as such.
//!
//! clang says of an `asm` without `volatile` that it computes (`memory(none)`): LLVM may take one for another with
//! the same operands, move it or drop it. That is wrong for reads of surfaces, which clang's header writes so although
//! the thread may write in between, and for sums whose carry goes from one `asm` to the next, which no operand shows.

use crate::llvm::{FUNCTION_ATTRIBUTES, Value};
use inkwell::module::Module;

/// Keeps reads of surfaces, and what hands on a carry where some `asm` takes one from another, in order with the rest
/// of a device module's accesses, in place.
///
/// A carry that stays within its `asm` needs no order, so that a module of such alone is left as it is.
pub(in crate::program) fn order_assembly(device: &Module<'_>) {
    let mut calls = Vec::new();
    for function in Value::functions(device) {
        for call in function.instructions() {
            if let Some((template, _)) = call.called_assembly() {
                calls.push((call, Flag::of(&template), is_surface_read(&template)));
            }
        }
    }
    let carried = calls.iter().any(|(_, flag, _)| flag.taken_from_before);
    for (call, flag, read) in calls {
        if read || (carried && (flag.taken_from_before || flag.left)) {
            order(call);
        }
    }
}

/// What a template does with the carry flag.
#[derive(Clone, Copy, Debug, Default)]
struct Flag {
    /// Its first instruction that has to do with the flag takes what another template left.
    taken_from_before: bool,
    /// It leaves a carry.
    left: bool,
}

impl Flag {
    fn of(template: &str) -> Self {
        let mut flag = Self::default();
        let opcodes = template
            .split([';', '{', '}', '\n'])
            .flat_map(str::split_whitespace)
            .filter(|word| word.starts_with(|first: char| first.is_ascii_lowercase()));
        for opcode in opcodes {
            let mut words = opcode.split('.');
            let takes = matches!(words.next(), Some("addc" | "subc" | "madc"));
            flag.taken_from_before |= takes && !flag.left;
            flag.left |= words.any(|word| word == "cc");
        }
        flag
    }
}

fn is_surface_read(template: &str) -> bool {
    template.trim_start().starts_with("suld.")
}

/// Makes the assembly that a call executes `volatile`.
fn order(call: Value) {
    let assembly = call.called();
    if let Some((template, constraints)) = assembly.inline_assembly()
        && !assembly.is_volatile_assembly()
    {
        let ordered = Value::assembly(call.called_type(), &template, &constraints, true);
        call.set_called(ordered);
        call.remove_call_attribute(FUNCTION_ATTRIBUTES, "memory");
    }
}
