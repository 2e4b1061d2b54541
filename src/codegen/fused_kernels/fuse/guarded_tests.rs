//! Values that are stored and loaded under conditions: right cases, and such that only look right.

use super::block_tests::{facts, parsed};
use super::control_flow::ControlFlow;
use super::guarded_values::forward_guarded_values;
use super::memory::Effect;
use super::short_loops;
use crate::llvm::Value;
use inkwell::context::Context;

fn loads(kernel: Value) -> usize {
    let instructions = kernel.instructions().into_iter();
    instructions
        .filter(|at| matches!(Effect::of(*at), Effect::Load(_)))
        .count()
}

#[test]
fn loads_under_the_condition_of_a_store_have_its_value() {
    let context = Context::create();
    let module = parsed(&context, include_str!("cases/guarded.ll"));
    for (name, forwarded) in [
        ("same_condition", 1),
        ("one_of_two", 1),
        ("both_ways", 1),
        ("through_disjoint", 1),
        ("loop_elsewhere", 1),
        ("made_twice", 1),
        ("leaves_early", 1),
        ("same_iteration", 1),
        ("bits_cleared_or_set", 1),
        ("too_many_bits_cleared", 0),
        ("a_block_further", 1),
        ("a_block_further_or_around", 0),
        ("a_thread_further", 0),
        ("beside_in_another_array", 0),
        ("same_place_of_another_array", 0),
        ("other_condition", 0),
        ("more_conditions", 0),
        ("negated", 0),
        ("overwritten_through_alias", 0),
        ("overwritten_anywhere", 0),
        ("overwritten_in_part", 0),
        ("overwritten_by_a_loop", 0),
        ("other_type", 0),
        ("other_place", 0),
        ("waits", 0),
        ("atomic_between", 0),
        ("volatile_load", 0),
        ("volatile_store", 0),
        ("place_loaded_again", 0),
        ("earlier_iteration", 0),
        ("condition_of_a_loop", 1),
        ("condition_changes", 0),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        assert_eq!(
            forward_guarded_values(&module, kernel, &facts()),
            forwarded,
            "{name}"
        );
    }
    module.verify().expect("the result is valid IR");
}

fn loops(kernel: Value) -> usize {
    ControlFlow::of(kernel).map_or(0, |flow| flow.loops_with_one_latch().len())
}

#[test]
fn loops_over_tiles_that_meet_are_written_out() {
    let context = Context::create();
    let module = parsed(&context, include_str!("cases/tiles.ll"));
    // Of two nests of two loops, and two that nobody meets in.
    for (name, left, forwarded) in [
        ("tile", 2, 16),
        ("one_column", 2, 4),
        ("other_columns", 4, 0),
        ("waits_between", 6, 0),
        ("waits_inside", 6, 0),
        ("as_the_user_says", 4, 0),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        let stand = loads(kernel);
        if short_loops::has_any(&module, kernel) {
            let run = |passes| kernel.run_passes(passes, None).expect("LLVM knows them");
            run(short_loops::CANONICAL_FORM);
            short_loops::mark(&module, kernel);
            run(short_loops::WRITE_OUT);
            short_loops::release(&module, kernel);
        }
        assert_eq!(loops(kernel), left, "{name}");
        let written_out = loads(kernel);
        assert!(written_out >= stand);
        let count = forward_guarded_values(&module, kernel, &facts());
        assert_eq!(count, forwarded, "{name}");
    }
    module.verify().expect("the result is valid IR");
    let text = module.print_to_string().to_string();
    // As much as before is said of loops that are left.
    assert_eq!(text.matches("llvm.loop.unroll.count").count(), 1);
    assert_eq!(text.matches("llvm.loop.unroll.disable").count(), 1);
    assert!(!text.contains("sirius.") && !text.contains("llvm.loop.unroll.full"));
}
