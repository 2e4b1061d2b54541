//! Inline assembly that accesses memory without saying so: LLVM may move it across writes.
//!
//! The headers' `__ldg` of half-precision numbers is such assembly. By itself a kernel may be
//! written so, but in a fused kernel the segment before may have written what is read. Invariant:
//! whatever a segment reads or writes by assembly is afterwards a load, or assembly with side
//! effects that names memory among what it changes, and no read goes a way that is not coherent.

use crate::kernel::only_computes;
use crate::kernel::ptx::{Instruction, Operand, Statement, read_template};
use crate::llvm::{Builder, FUNCTION_ATTRIBUTES, Opcode, Type, Value};
use inkwell::module::Module;

/// Makes the assembly in a segment's function say what it does.
pub(super) fn declare_memory_accesses<'ctx>(module: &Module<'ctx>, function: Value<'ctx>) {
    let mut declared = false;
    for call in function.instructions() {
        if call.opcode() != Some(Opcode::LLVMCall) {
            continue;
        }
        let Some((template, constraints)) = call.called().inline_assembly() else {
            continue;
        };
        if only_computes(&template) {
            continue;
        }
        declared = true;
        // What is said to have effects may stand in a loop that waits for another thread's write.
        let load = match call.called().assembly_has_effects() {
            true => None,
            false => plain_load(module, call, &template),
        };
        match load {
            Some(load) => {
                call.replace_uses_with(load);
                call.erase();
            }
            None => declare(call, &template, &constraints),
        }
    }
    if declared {
        // It was concluded from assembly that seemed to touch nothing.
        function.remove_attribute(FUNCTION_ATTRIBUTES, "memory");
    }
}

/// The same assembly with side effects, coherent.
fn declare(call: Value, template: &str, constraints: &str) {
    let coherent = template.replace(".nc.", ".").replace("ldu.", "ld.");
    let constraints = match constraints.contains("~{memory}") {
        true => constraints.to_owned(),
        false if constraints.is_empty() => "~{memory}".to_owned(),
        false => format!("{constraints},~{{memory}}"),
    };
    let ty = call.called_type();
    call.set_called(Value::assembly(ty, &coherent, &constraints, true));
    call.remove_call_attribute(FUNCTION_ATTRIBUTES, "memory");
}

/// What loads what `ld.global.nc.b16 $0, [$1];` loads.
fn plain_load<'ctx>(
    module: &Module<'ctx>,
    call: Value<'ctx>,
    template: &str,
) -> Option<Value<'ctx>> {
    let statements = read_template(template)?;
    let [Statement::Instruction(instruction)] = statements.as_slice() else {
        return None;
    };
    let bytes = scalar_load_bytes(instruction)?;
    let [
        Operand::Placeholder(0),
        Operand::Memory { base, offset_bytes },
    ] = instruction.operands.as_slice()
    else {
        return None;
    };
    let Operand::Placeholder(place) = base.as_ref() else {
        return None;
    };
    let ty = call.ty();
    if ty.is_void() || !ty.fields().is_empty() || ty.access_bytes(module) != bytes {
        return None;
    }
    let address = *call.call_arguments().get(place.checked_sub(1)?)?;
    let builder = Builder::before(call);
    let pointer = match address.ty().is_integer() {
        true if address.ty().access_bytes(module) == 8 => {
            builder.cast(Opcode::LLVMIntToPtr, address, Type::pointer(module, 0))
        }
        false if address.ty().is_pointer() && address.ty().address_space() <= 1 => address,
        _ => return None,
    };
    let pointer = match *offset_bytes {
        0 => pointer,
        offset => {
            let [byte, long] = [8, 64].map(|bits| Type::integer(module, bits));
            builder.element_pointer(byte, pointer, &[long.constant(offset as u64)])
        }
    };
    Some(builder.load_aligned(ty, pointer, bytes as u32))
}

/// How many bytes an ordinary load from global memory reads into one register.
fn scalar_load_bytes(instruction: &Instruction) -> Option<u64> {
    let [first, modifiers @ .., last] = instruction.opcode.as_slice() else {
        return None;
    };
    let known = |part: &String| {
        matches!(
            part.as_str(),
            "global" | "weak" | "nc" | "ca" | "cg" | "cs" | "lu"
        ) || part.starts_with("L1::")
            || part.starts_with("L2::")
    };
    let ordinary = matches!(first.as_str(), "ld" | "ldu")
        && instruction.has("global")
        && instruction.predicate.is_none()
        && modifiers.iter().all(known);
    let bits: u64 = last.trim_start_matches(['b', 'u', 's', 'f']).parse().ok()?;
    (ordinary && bits.is_multiple_of(8)).then_some(bits / 8)
}
