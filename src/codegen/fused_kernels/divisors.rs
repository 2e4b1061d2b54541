//! Numbers that integers are divided by, out of LLVM's sight.
//!
//! LLVM takes it that nobody divides by zero. GPUs do so without a stop, and what other kernels compute of
//! the same number stays right. In a fused kernel the number is one value for all members, and from a
//! member's division LLVM would conclude for the others that it is not zero. So it goes through a call that
//! nothing is known of, from [`hide_divisors`] until LLVM's optimiser is done: on GPUs then through a move that
//! ptxas sees through, on the CPU device through one with a number that only the runtime knows to be zero
//! (`arithmetic.ll`).

use crate::llvm::{Builder, FUNCTION_ATTRIBUTES, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::HashMap;

/// How the names of the functions begin that pass a divisor on; the width in bits follows.
pub(in crate::codegen) const DIVISOR: &str = "__sirius_divisor_i";

/// Hides what a function divides by, where LLVM does not see by itself that it is not zero.
pub(in crate::codegen) fn hide_divisors<'ctx>(module: &Module<'ctx>, function: Value<'ctx>) {
    let mut hidden = HashMap::new();
    for division in function.instructions() {
        let divides = matches!(
            division.opcode(),
            Some(Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem)
        );
        let ty = division.ty();
        if !divides || !ty.is_integer() || !matches!(ty.integer_bits(), 16 | 32 | 64) {
            continue;
        }
        let divisor = division.operand(1);
        if is_surely_not_zero(divisor) {
            continue;
        }
        let block = division.block();
        let passed = *hidden.entry((divisor, block)).or_insert_with(|| {
            let pass_on = declare(module, ty);
            Builder::before(division).call(pass_on.value_type(), pass_on, &[divisor])
        });
        division.set_operand(1, passed);
    }
}

/// Passes constants on as they are: what is known by now need not be hidden. 0 and -1 stay out of sight, so that
/// a division by them gives what it gives where nobody knows of them.
pub(in crate::codegen) fn show_constant_divisors(module: &Module) {
    for call in calls(module) {
        let divisor = call.call_arguments()[0];
        let ones = u64::MAX >> (64 - divisor.ty().integer_bits());
        if divisor
            .constant_integer()
            .is_some_and(|number| number != 0 && number != ones)
        {
            call.replace_uses_with(divisor);
            call.erase();
        }
    }
}

/// Turns the calls into moves of PTX.
pub(in crate::codegen) fn move_divisors(module: &Module) {
    for call in calls(module) {
        let letter = match call.ty().integer_bits() {
            16 => 'h',
            32 => 'r',
            _ => 'l',
        };
        let template = format!("mov.b{} $0, $1;", call.ty().integer_bits());
        let ty = call.called_type();
        let copy = Value::assembly(ty, &template, &format!("={letter},{letter}"), false);
        let moved = Builder::before(call).call(ty, copy, &call.call_arguments());
        call.replace_uses_with(moved);
        call.erase();
    }
}

fn calls<'ctx>(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
    let functions = Value::functions(module).into_iter();
    functions
        .filter(|function| function.name().starts_with(DIVISOR))
        .flat_map(Value::users)
        .collect()
}

fn declare<'ctx>(module: &Module<'ctx>, ty: Type<'ctx>) -> Value<'ctx> {
    let name = format!("{DIVISOR}{}", ty.integer_bits());
    if let Some(function) = Value::function(module, &name) {
        return function;
    }
    let function = Value::add_function(module, &name, Type::function(ty, &[ty]));
    // The encoding 0 of `memory` is `memory(none)`; the others have no value.
    for name in [
        "memory",
        "nounwind",
        "willreturn",
        "nosync",
        "nofree",
        "nocallback",
        "speculatable",
    ] {
        function.add_attribute(FUNCTION_ATTRIBUTES, name, 0);
    }
    function
}

/// Whether a number is made such that it is not zero whatever the kernel is given.
pub(in crate::codegen) fn is_surely_not_zero(value: Value) -> bool {
    if value.is_constant() {
        return value.constant_integer().is_some_and(|number| number != 0);
    }
    if !value.is_instruction() {
        return false;
    }
    match value.opcode() {
        Some(Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMFreeze) => {
            is_surely_not_zero(value.operand(0))
        }
        Some(Opcode::LLVMOr) => (0..2).any(|side| is_surely_not_zero(value.operand(side))),
        Some(Opcode::LLVMSelect) => (1..3).all(|side| is_surely_not_zero(value.operand(side))),
        // Extents of blocks and grids.
        Some(Opcode::LLVMCall) => value.called_name().is_some_and(|name| {
            let register = name.strip_prefix("llvm.nvvm.read.ptx.sreg.");
            register.is_some_and(|of| of.starts_with("ntid.") || of.starts_with("nctaid."))
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::device::{device_target_machine, optimise_device};
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// One member tells whether a number is zero, the next one divides by it.
    const CASE: &str = "
        target triple = \"nvptx64-nvidia-cuda\"
        define ptx_kernel void @both(ptr %zero, ptr %quotient, i32 noundef %n, i32 %x) {
            %is = icmp eq i32 %n, 0
            %told = zext i1 %is to i32
            store i32 %told, ptr %zero
            %q = sdiv i32 %x, %n
            store i32 %q, ptr %quotient
            ret void
        }\0";

    fn optimised(context: &Context, hide: bool, constant: bool) -> Module<'_> {
        let text = MemoryBuffer::create_from_memory_range_copy(CASE.as_bytes(), "case");
        let module = context.create_module_from_ir(text).expect("it is IR");
        let function = Value::function(&module, "both").expect("it is there");
        if hide {
            hide_divisors(&module, function);
        }
        if constant {
            let n = function.parameters()[2];
            n.replace_uses_with(n.ty().constant(7));
        }
        let machine = device_target_machine("sm_80").expect("LLVM has it");
        optimise_device(&module, &machine).expect("LLVM takes it");
        module
    }

    fn count(module: &Module, wanted: Opcode) -> usize {
        let functions = Value::functions(module).into_iter();
        let instructions = functions.flat_map(Value::instructions);
        instructions
            .filter(|at| at.opcode() == Some(wanted))
            .count()
    }

    #[test]
    fn a_division_says_nothing_of_its_divisor() {
        let context = Context::create();
        let seen = optimised(&context, false, false);
        assert_eq!(count(&seen, Opcode::LLVMICmp), 0, "why it is hidden");
        let hidden = optimised(&context, true, false);
        assert_eq!(count(&hidden, Opcode::LLVMICmp), 1);
        move_divisors(&hidden);
        let text = hidden.print_to_string().to_string();
        assert!(text.contains("mov.b32 $0, $1;"), "{text}");
    }

    #[test]
    fn a_constant_divisor_becomes_what_it_would_have_been() {
        let context = Context::create();
        let hidden = optimised(&context, true, true);
        assert_eq!(count(&hidden, Opcode::LLVMCall), 0);
    }
}
