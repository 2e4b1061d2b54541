//! What is shared in a block, and which of its barriers go: right cases, and such that only look right.

use super::barriers::remove_redundant_barriers;
use super::broadcasts::broadcast_values;
use super::control_flow::is_barrier;
use super::memory::KernelFacts;
use crate::codegen::ir::Value;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

const CASE: &str = include_str!("cases/blocks.ll");

fn module(context: &Context) -> Module<'_> {
    let text = format!("{CASE}\0");
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "blocks.ll");
    context
        .create_module_from_ir(buffer)
        .expect("the case is valid IR")
}

/// Of three parameters, the first two point to allocations of their own.
fn facts() -> KernelFacts {
    let apart = [
        [false, true, true],
        [true, false, false],
        [true, false, false],
    ];
    KernelFacts {
        apart: apart.map(Vec::from).into(),
        ..KernelFacts::default()
    }
}

#[test]
fn values_of_one_thread_are_computed_by_all() {
    let context = Context::create();
    let module = module(&context);
    let replaced = |name: &str| {
        let kernel = Value::function(&module, name).expect("the case has it");
        broadcast_values(kernel, &facts())
    };
    assert_eq!(replaced("shared_result"), 1);
    for name in [
        "own_result",
        "second_thread",
        "never_waits",
        "other_place",
        "changed_meanwhile",
        "changed_before",
        "second_writer",
        "writer_through_alias",
        "calls_unknown",
    ] {
        assert_eq!(replaced(name), 0, "{name}");
    }
    module.verify().expect("the result is valid IR");
}

#[test]
fn barriers_that_order_nothing_go() {
    let context = Context::create();
    let module = module(&context);
    for (name, kept) in [
        ("adjacent", 1),
        ("needed", 1),
        ("anti", 1),
        ("two_loads", 0),
        ("other_variable", 0),
        ("apart", 0),
        ("one_allocation", 1),
        ("chain_of_three", 1),
        ("around", 2),
        ("named", 1),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        remove_redundant_barriers(kernel, &facts());
        let left = kernel.instructions().into_iter();
        let left = left.filter(|instruction| is_barrier(*instruction));
        assert_eq!(left.count(), kept, "{name}");
    }
    module.verify().expect("the result is valid IR");
}
