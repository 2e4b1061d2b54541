//! Constants that hold addresses of shared variables, which clang makes of `float *tiles[2] = {even, odd};`.
//!
//! The address of a shared variable is one only where a block runs: NVIDIA's assembler takes no such constant, and on
//! a CPU each block has its variables elsewhere. Invariant: behind this step each function that read such a constant
//! reads a variable of the thread's own, in which it has stored the same.

use crate::llvm::{Builder, Type, Value};
use inkwell::module::Module;

/// Address space of shared memory.
const SHARED: u32 = 3;

/// Makes such constants of a device module variables of the threads, in place.
pub(in crate::program) fn settle_shared_tables(device: &Module<'_>) {
    for table in Value::globals(device) {
        let Some(initializer) = table.initializer() else {
            continue;
        };
        if !table.is_constant_global() || !table.is_local() || !mentions_shared(initializer) {
            continue;
        }
        for function in Value::functions(device) {
            if !function.is_declaration() {
                replace_in(function, table, initializer);
            }
        }
        if table.users().is_empty() {
            table.delete_global();
        }
    }
}

fn mentions_shared(constant: Value) -> bool {
    if constant.is_global_variable() {
        return constant.ty().address_space() == SHARED;
    }
    constant.is_constant() && constant.operands().into_iter().any(mentions_shared)
}

/// Makes the uses of a constant in one function uses of a variable with the same in it.
fn replace_in(function: Value, table: Value, initializer: Value) {
    let instructions = function.instructions();
    let Some(first) = instructions.first().copied() else {
        return;
    };
    let mut variable = None;
    for instruction in instructions {
        for (position, operand) in (0..).zip(instruction.operands()) {
            if !mentions(operand, table) {
                continue;
            }
            // A phi's operand is computed where it comes from.
            let place = match instruction.incoming_block(position) {
                Some(block) => block.terminator(),
                None => Some(instruction),
            };
            let variable = *variable.get_or_insert_with(|| filled(first, table, initializer));
            if let Some(place) = place
                && let Some(address) = address_in(&Builder::before(place), operand, table, variable)
            {
                instruction.set_operand(position, address);
            }
        }
    }
}

/// Whether a constant is made of the table, without those that other variables hold.
fn mentions(constant: Value, table: Value) -> bool {
    let made_of = || constant.operands().into_iter();
    constant == table
        || constant.is_constant()
            && !constant.is_global()
            && made_of().any(|part| mentions(part, table))
}

/// The constant with the variable in place of the table.
fn address_in<'ctx>(
    builder: &Builder<'ctx>,
    constant: Value<'ctx>,
    table: Value<'ctx>,
    variable: Value<'ctx>,
) -> Option<Value<'ctx>> {
    if constant == table {
        return Some(variable);
    }
    if !mentions(constant, table) {
        return Some(constant);
    }
    let operands = constant.operands().into_iter();
    let operands: Option<Vec<_>> = operands
        .map(|operand| address_in(builder, operand, table, variable))
        .collect();
    match constant.is_constant_expression() {
        true => builder.expression(constant, &operands?),
        false => None,
    }
}

/// A variable of the thread that holds what the table does, made before the function's first instruction.
fn filled<'ctx>(first: Value<'ctx>, table: Value<'ctx>, initializer: Value<'ctx>) -> Value<'ctx> {
    let builder = Builder::before(first);
    let shape = table.value_type();
    let variable = builder.alloca(shape);
    variable.set_alignment(table.alignment().max(1));
    fill(&builder, variable, initializer);
    // The table's own address may be in another space than the thread's memory.
    builder.to_pointer_type(variable, table.ty())
}

/// Stores a constant, an aggregate element by element.
fn fill(builder: &Builder, place: Value, constant: Value) {
    let shape = constant.ty();
    let elements: u64 = shape.elements().iter().map(|(_, times)| times).sum();
    if !shape.is_aggregate() {
        builder.store(constant, place);
        return;
    }
    let index_type = Type::integer_like(constant, 32);
    for index in 0..elements {
        let indices = [0, index].map(|index| index_type.constant(index));
        if let Some(element) = constant.constant_element(index as u32) {
            let at = builder.element_pointer(shape, place, &indices);
            fill(builder, at, element);
        }
    }
}
