//! Values that are stored and loaded under conditions: right cases, and such that only look right.

use super::block_tests::{facts, parsed};
use super::control_flow::ControlFlow;
use super::guarded_values::{forward_guarded_values, keep_guarded_values};
use super::memory::{Effect, KernelFacts, Root, places_of};
use super::short_loops;
use crate::kernel::model_kernel;
use crate::llvm::Value;
use crate::program::KernelId;
use crate::verify::own_value_conflict;
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

#[test]
fn values_are_kept_from_iteration_to_iteration() {
    let context = Context::create();
    let module = parsed(&context, include_str!("cases/kept.ll"));
    for (name, kept) in [
        ("state_in_place", 1),
        ("never_written", 1),
        ("stored_behind_another_barrier", 1),
        ("stored_now_and_then", 1),
        ("loaded_in_a_loop", 1),
        ("stored_under_the_other_name", 1),
        ("stored_under_its_own_name", 0),
        ("stored_beside_the_other_name", 0),
        ("stored_through_a_third_name", 0),
        ("by_others", 0),
        ("later_than_first", 0),
        ("another_condition", 0),
        ("another_place", 0),
        ("overwritten", 0),
        ("another_barrier", 0),
        ("two_iterations_before", 0),
        ("no_loop", 0),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        let before = loads(kernel);
        let found = keep_guarded_values(&module, kernel, &facts(), &|_| None);
        assert_eq!(found, kept, "{name}");
        // That of the first iteration stays, and the thread's own variables are loaded.
        assert_eq!(loads(kernel) > before, kept > 0, "{name}");
    }
    module.verify().expect("the result is valid IR");
}

/// Kernels, and whether other threads of a block may write what is loaded: in a row of threads, in a square of them.
const ACROSS_BARRIERS: [(&str, bool, bool); 18] = [
    ("own", false, true),
    ("own_twice", false, true),
    ("beyond_all", false, true),
    ("of_two_words", false, true),
    ("own_in_rows", false, false),
    ("rows_meet", false, true),
    ("others_before", true, true),
    ("others_between", true, true),
    ("others_after", true, true),
    ("through_alias", false, true),
    ("all_have_one", true, true),
    ("every_second", true, true),
    ("updated", true, true),
    ("wide_store", true, true),
    ("anywhere", true, true),
    ("volatile_store", true, true),
    ("given_later", false, true),
    ("given_in_a_loop", true, true),
];
const ROW: [Option<u64>; 3] = [Some(64), Some(1), Some(1)];
const SQUARE: [Option<u64>; 3] = [Some(8), Some(8), Some(1)];

#[test]
fn what_only_its_thread_writes_is_kept_across_barriers() {
    for block in [ROW, SQUARE, [None; 3]] {
        let context = Context::create();
        let module = parsed(&context, include_str!("cases/own_values.ll"));
        let facts = KernelFacts { block, ..facts() };
        for (name, in_a_row, in_a_square) in ACROSS_BARRIERS {
            let others = match block {
                ROW => in_a_row,
                SQUARE => in_a_square,
                _ => true,
            };
            let kernel = Value::function(&module, name).expect("the case has it");
            let forwarded = forward_guarded_values(&module, kernel, &facts);
            assert_eq!(forwarded, usize::from(!others), "{name} in {block:?}");
        }
        module.verify().expect("the result is valid IR");
    }
}

#[test]
fn the_verifier_says_whose_a_value_is() {
    let context = Context::create();
    let module = parsed(&context, include_str!("cases/own_values.ll"));
    let facts = facts();
    for (name, others, _) in ACROSS_BARRIERS {
        let function = module.get_function(name).expect("the case has it");
        let model = model_kernel(function, KernelId(0), name);
        let judge = |place, block| {
            let disjoint = |one, other| facts.are_disjoint(one, other);
            own_value_conflict(&model, place, block, disjoint)
        };
        let kernel = Value::function(&module, name).expect("the case has it");
        let places = places_of(kernel);
        for (instruction, place) in &places {
            let refused = judge(*place, ROW).is_some();
            match Effect::of(*instruction) {
                // The load in question reads a.
                Effect::Load(address) if Root::of(kernel, address) == Root::Parameter(0) => {
                    assert_eq!(refused, others, "{name}");
                }
                Effect::Load(_) => {}
                _ => assert!(refused, "{name}: what is no load"),
            }
        }
        assert!(
            judge(places.len(), ROW).is_some(),
            "{name}: what is not there"
        );
    }
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
