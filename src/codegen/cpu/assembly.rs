//! Inline PTX: templates of one known instruction are lowered like the intrinsic of the same
//! meaning; all others report themselves when they are executed.

use super::functions::Library;
use crate::codegen::CodegenError;
use crate::codegen::ir::{Builder, Value};
use inkwell::module::Module;

/// Lowers a call of inline assembly.
pub(super) fn lower_assembly(
    module: &Module,
    call: Value,
    template: &str,
    constraints: &str,
    library: &Library,
) -> Result<(), CodegenError> {
    let text = normalise(template);
    if text.is_empty() {
        // A compiler barrier, `asm volatile("" ::: "memory")`, means the same here.
        if call.ty().is_void() && call.call_arguments().is_empty() {
            call.erase();
            return Ok(());
        }
    } else if let Some(definition) = definition_of(&text)
        && let Some(function) = library.find(&definition.name, call.called_type())
    {
        let declared = library.declare(module, &function.name)?;
        let builder = Builder::before(call);
        let mut arguments = vec![call.function_of_instruction().parameters()[0]];
        let given = call.call_arguments();
        if definition.order.iter().any(|index| *index >= given.len()) {
            return library.unsupported(module, call, &describe(template));
        }
        arguments.extend(definition.order.iter().map(|index| given[*index]));
        let new = builder.call(function.ty, declared, &arguments);
        call.replace_uses_with_or_nothing(new);
        call.erase();
        return Ok(());
    }
    let _ = constraints;
    library.unsupported(module, call, &describe(template))
}

struct Definition {
    name: String,
    order: Vec<usize>,
}

/// The definition whose meaning a one-instruction template has: `opcode $0, $1, …;` with all
/// operands in order. Special registers are `mov.u32 $0, %laneid;`.
fn definition_of(text: &str) -> Option<Definition> {
    let statement = text.strip_suffix(';').unwrap_or(text);
    if statement.contains(';') || statement.contains('{') {
        return None;
    }
    let (opcode, operands) = statement.split_once(' ').unwrap_or((statement, ""));
    let operands: Vec<&str> = operands
        .split(',')
        .map(str::trim)
        .filter(|operand| !operand.is_empty())
        .collect();
    if matches!(opcode, "mov.u32" | "mov.b32" | "mov.u64" | "mov.s32")
        && let [_, register] = operands.as_slice()
        && let Some(register) = register.strip_prefix('%')
    {
        return Some(Definition {
            name: format!(
                "llvm.nvvm.read.ptx.sreg.{}",
                register.trim_start_matches('%').replace('_', ".")
            ),
            order: Vec::new(),
        });
    }
    let in_order = operands
        .iter()
        .enumerate()
        .all(|(n, operand)| *operand == format!("${n}"));
    in_order
        .then(|| Definition {
            name: format!("asm.{opcode}"),
            order: (0..operands.len()).collect::<Vec<_>>(),
        })
        .map(|mut definition| {
            // The first operand is the result, except for instructions that have none.
            if !matches!(opcode, "nanosleep.u32" | "bar.sync" | "bar.warp.sync") {
                definition.order = (0..operands.len().saturating_sub(1)).collect();
            }
            definition
        })
}

fn normalise(template: &str) -> String {
    template
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace("$$", "%")
        .replace("%%", "%")
}

fn describe(template: &str) -> String {
    format!("inline PTX `{}`", normalise(template))
}
