//! What is shared in a block, and which of its barriers go: right cases, and such that only look right.

use super::barriers::remove_redundant_barriers;
use super::broadcasts::broadcast_values;
use super::buffer_promotion::promote_buffers;
use super::control_flow::is_barrier;
use super::loops::join_loops;
use super::memory::{Effect, KernelFacts, Root};
use super::rows::promote_rows;
use super::shared_memory_reuse::reuse_shared_memory;
use crate::kernel::model_kernel;
use crate::llvm::Value;
use crate::program::KernelId;
use crate::verify::{
    JoinedLoops, PromotedBuffer, PromotedStream, RowLength, RowPromotion, SharedPlace, WindowSize,
    buffer_promotion_conflict, is_redundant, join_conflict, row_promotion_conflict,
    shared_memory_reuse_conflict,
};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

const CASE: &str = include_str!("cases/blocks.ll");

fn module(context: &Context) -> Module<'_> {
    parsed(context, CASE)
}

/// The module of a case's text.
pub(super) fn parsed<'context>(context: &'context Context, text: &str) -> Module<'context> {
    let text = format!("{text}\0");
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "case");
    context
        .create_module_from_ir(buffer)
        .expect("the case is valid IR")
}

/// Of three parameters, the first two point to allocations of their own.
pub(super) fn facts() -> KernelFacts {
    let disjoint = [
        [false, true, true],
        [true, false, false],
        [true, false, false],
    ];
    KernelFacts {
        disjoint: disjoint.map(Vec::from).into(),
        arguments: vec![true; 4],
        dynamic_shared_bytes: Some(0),
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
        ("disjoint", 0),
        ("one_allocation", 1),
        ("chain_of_three", 1),
        ("around", 2),
        ("named", 1),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        remove_redundant_barriers(&module, kernel, &facts());
        let left = kernel.instructions().into_iter();
        let left = left.filter(|instruction| is_barrier(*instruction));
        assert_eq!(left.count(), kept, "{name}");
    }
    module.verify().expect("the result is valid IR");
}

#[test]
fn rows_stay_where_that_is_proven() {
    let context = Context::create();
    let text = format!("{}\0", include_str!("cases/rows.ll"));
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "rows.ll");
    let module = context
        .create_module_from_ir(buffer)
        .expect("the case is valid IR");
    let facts = KernelFacts {
        block: [Some(64), Some(1), Some(1)],
        ..facts()
    };
    // Global loads and stores of the version that keeps rows, and whether there is another one.
    for (name, loads, stores, versions) in [
        ("twice", 1, 1, true),
        ("widened_otherwise", 1, 2, true),
        ("other_step", 3, 2, false),
        ("narrow_step", 3, 2, false),
        ("step_of_the_block", 1, 1, true),
        ("other_begin", 3, 2, false),
        ("other_length", 3, 2, false),
        ("written_elsewhere", 2, 3, false),
        ("written_through_alias", 2, 3, false),
        ("neighbour", 2, 2, false),
        ("constant", 1, 1, false),
        ("constant_too_long", 3, 2, false),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        let promoted = promote_rows(&module, kernel, &facts, || 0).expect("LLVM copies it");
        let global = |wanted: fn(Effect) -> bool| {
            let instructions = kernel.instructions().into_iter();
            let accesses = instructions
                .map(Effect::of)
                .filter(|effect| wanted(*effect));
            let roots = accesses.filter_map(|effect| Some(Root::of(kernel, effect.address()?)));
            let global = roots.filter(|root| matches!(root, Root::Parameter(_)));
            global.count()
        };
        let found = (
            global(|effect| matches!(effect, Effect::Load(_))),
            global(|effect| matches!(effect, Effect::Store(_))),
            promoted.general.is_some(),
        );
        assert_eq!(found, (loads, stores, versions), "{name}");
        assert_eq!(promoted.rows.is_some(), versions, "{name}");
    }
    module.verify().expect("the result is valid IR");
}

/// Of blocks of 64 threads.
fn facts_of_blocks() -> KernelFacts {
    KernelFacts {
        block: [Some(64), Some(1), Some(1)],
        ..facts()
    }
}

#[test]
fn what_a_block_hands_on_stays_where_that_is_proven() {
    let context = Context::create();
    let module = parsed(&context, include_str!("cases/buffers_promoted.ll"));
    // Loads that read a window, and whether there is another version.
    for (name, loads, versions) in [
        ("reversed", 1, false),
        ("no_barrier", 0, false),
        ("next_block", 0, false),
        ("written_by_some", 0, false),
        ("written_by_half", 0, false),
        ("overwritten", 1, false),
        ("second_writer", 0, false),
        ("other_sizes", 0, false),
        ("place_in_memory", 0, false),
        ("written_by_two", 0, false),
        ("of_rows", 1, true),
        ("of_half_rows", 0, false),
        ("beyond_rows", 0, false),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        let (facts, mut rows) = (facts_of_blocks(), None);
        let promoted = promote_buffers(&module, kernel, &facts, &mut rows, (0, true));
        let promoted = promoted.expect("LLVM copies it");
        assert_eq!(promoted.loads, loads, "{name}");
        assert_eq!(promoted.general.is_some(), versions, "{name}");
        let elements = rows.map(|rows| (rows.parameter, rows.element_bytes, rows.most_elements));
        assert_eq!(
            elements,
            versions.then_some((3, 4, (49152 - 16) / 4)),
            "{name}"
        );
    }
    module.verify().expect("the result is valid IR");
}

#[test]
fn rows_that_no_launch_brings_memory_for_stay_where_they_are() {
    let context = Context::create();
    let module = parsed(&context, include_str!("cases/buffers_promoted.ll"));
    let kernel = Value::function(&module, "of_rows").expect("the case has it");
    let mut rows = None;
    let promoted = promote_buffers(&module, kernel, &facts_of_blocks(), &mut rows, (0, false));
    assert_eq!(promoted.expect("nothing is copied").loads, 0);
    assert_eq!(rows, None);
    // Nor where nobody knows how many threads write.
    let kernel = Value::function(&module, "reversed").expect("the case has it");
    let promoted = promote_buffers(&module, kernel, &facts(), &mut None, (0, true));
    assert_eq!(promoted.expect("nothing is copied").loads, 0);
}

#[test]
fn the_verifier_refuses_wrong_windows() {
    let context = Context::create();
    let module = parsed(&context, include_str!("cases/buffers_promoted.ll"));
    // Pairs are named by the accesses as they stand in the text: of `kept`, a is loaded (0), b (1) and the window
    // (2) stored to, b (3) and the window (4) loaded, a stored to (5).
    let judge = |name: &str, mirrored: &[[usize; 2]], replaced: &[[usize; 2]], size, block| {
        let kernel = Value::function(&module, name).expect("the case has it");
        let mut accesses = Vec::new();
        let mut place = 0;
        for block in kernel.blocks() {
            for at in block.instructions() {
                if Effect::of(at).address().is_some() {
                    accesses.push(place);
                }
                place += usize::from(Some(at) != block.terminator());
            }
        }
        let named = |pairs: &[[usize; 2]]| {
            let pairs = pairs
                .iter()
                .map(|[one, other]| (accesses[*one], accesses[*other]));
            pairs.collect()
        };
        let promoted = PromotedBuffer {
            variable: "window".to_owned(),
            size,
            mirrored: named(mirrored),
            replaced: named(replaced),
        };
        let function = module.get_function(name).expect("the case has it");
        let model = model_kernel(function, KernelId(0), name);
        let facts = facts();
        buffer_promotion_conflict(&model, &promoted, block, |one, other| {
            facts.are_disjoint(one, other)
        })
    };
    let (whole, block) = (WindowSize::Bytes(256), [Some(64), Some(1), Some(1)]);
    let (stores, loads) = (&[[1, 2]][..], &[[3, 4]][..]);
    assert_eq!(judge("kept", stores, loads, whole, block), None);
    for (what, stores, loads, size, block) in [
        ("nothing", &[][..], &[][..], whole, block),
        ("nobody writes it", &[], loads, whole, block),
        ("a store is not mirrored", &[[5, 2]], loads, whole, block),
        ("no shared half", &[[1, 1]], loads, whole, block),
        ("the wrong way round", loads, stores, whole, block),
        ("crossed", &[[1, 4]], &[[3, 2]], whole, block),
        ("too small", stores, loads, WindowSize::Bytes(252), block),
        ("of a row", stores, loads, WindowSize::Elements(3), block),
        (
            "fewer threads",
            stores,
            loads,
            whole,
            [Some(63), Some(1), Some(1)],
        ),
        (
            "more threads",
            stores,
            loads,
            whole,
            [Some(65), Some(1), Some(1)],
        ),
        (
            "unknown threads",
            stores,
            loads,
            whole,
            [None, Some(1), Some(1)],
        ),
    ] {
        let refused = judge("kept", stores, loads, size, block);
        assert!(refused.is_some(), "{what}");
    }
    for (name, loads) in [
        ("kept_elsewhere", loads),
        ("kept_without_barrier", loads),
        ("kept_by_some", loads),
        ("kept_by_half", loads),
        ("kept_not_always", loads),
        ("kept_and_written", &[[4, 5]][..]),
        ("kept_and_written_through_alias", &[[4, 5]]),
        ("kept_and_touched", loads),
        ("kept_folded", loads),
        ("kept_by_two", loads),
    ] {
        let refused = judge(name, stores, loads, whole, block);
        assert!(refused.is_some(), "{name}");
    }
}

#[test]
fn the_verifier_judges_barriers_by_itself() {
    let context = Context::create();
    let module = module(&context);
    for (name, expected) in [
        ("adjacent", vec![true, true]),
        ("needed", vec![false]),
        ("anti", vec![false]),
        ("two_loads", vec![true]),
        ("other_variable", vec![true]),
        ("disjoint", vec![true]),
        ("one_allocation", vec![false]),
        ("chain_of_three", vec![true, true]),
        ("around", vec![false, false]),
    ] {
        let function = module.get_function(name).expect("the case has it");
        let model = model_kernel(function, KernelId(0), name);
        let facts = facts();
        let judge =
            |place| is_redundant(&model, place, |one, other| facts.are_disjoint(one, other));
        let found: Vec<bool> = (0..model.barriers.len()).map(judge).collect();
        assert_eq!(found, expected, "{name}");
    }
}

fn reuse_cases(context: &Context) -> Module<'_> {
    let text = format!("{}\0", include_str!("cases/shared_memory_reuse.ll"));
    let buffer =
        MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "shared_memory_reuse.ll");
    context
        .create_module_from_ir(buffer)
        .expect("the case is valid IR")
}

#[test]
fn variables_share_storage_one_after_the_other() {
    let context = Context::create();
    let module = reuse_cases(&context);
    for (name, saved) in [
        ("in_turn", 256),
        ("no_barrier_between", 0),
        ("every_second", 256),
        ("around_again", 0),
        ("loop_after_loop", 256),
        ("loop_meets_loop", 0),
        ("threads_apart", 0),
        ("read_at_the_end", 0),
        ("address_leaves", 0),
        ("either", 0),
        ("part_waits", 0),
        ("two_in_one", 224),
        ("two_too_large", 160),
        // Of 64, 48 and 72 floats the most is 72.
        ("beside", 4 * (64 + 48 + 72 - 72)),
        ("parted", 0),
        ("meets_again", 0),
        ("in_rounds", 0),
        ("fixed_rounds", 0),
        ("reads_choice", 0),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        assert_eq!(reuse_shared_memory(&module, kernel), saved, "{name}");
    }
    module.verify().expect("the result is valid IR");
}

#[test]
fn the_verifier_refuses_wrong_reuse() {
    let context = Context::create();
    let module = reuse_cases(&context);
    // Places of variables, and whether they go.
    let at = |variable: &'static str, offset_bytes: u64| (variable, 0, offset_bytes);
    for (name, places, right) in [
        ("in_turn", vec![at("a", 0), at("b", 0)], true),
        ("in_turn", vec![at("a", 0), at("a", 256)], false),
        ("no_barrier_between", vec![at("a", 0), at("b", 0)], false),
        ("no_barrier_between", vec![at("a", 0), at("b", 252)], false),
        ("no_barrier_between", vec![at("a", 252), at("b", 0)], false),
        ("no_barrier_between", vec![at("a", 0), at("b", 256)], true),
        ("no_barrier_between", vec![at("a", 0), ("b", 1, 0)], true),
        (
            "every_second",
            vec![at("a", 0), at("c", 0), at("b", 256)],
            true,
        ),
        (
            "every_second",
            vec![at("a", 0), at("c", 0), at("b", 128)],
            false,
        ),
        ("around_again", vec![at("a", 0), at("b", 0)], false),
        ("loop_after_loop", vec![at("a", 0), at("b", 0)], true),
        ("loop_meets_loop", vec![at("a", 0), at("b", 0)], false),
        ("threads_apart", vec![at("a", 0), at("b", 0)], false),
        ("read_at_the_end", vec![at("a", 0), at("b", 0)], false),
        ("part_waits", vec![at("a", 0), at("b", 0)], false),
        ("beside", vec![at("a", 0), at("b", 0)], true),
        ("beside", vec![at("a", 0), at("b", 64), at("d", 128)], true),
        ("beside", vec![at("c", 0), at("d", 128)], false),
        ("beside", vec![at("c", 0), at("d", 256)], true),
        ("parted", vec![at("a", 0), at("b", 0)], false),
        ("meets_again", vec![at("a", 0), at("b", 0)], false),
        ("in_rounds", vec![at("a", 0), at("b", 0)], false),
        ("fixed_rounds", vec![at("a", 0), at("b", 0)], false),
        ("reads_choice", vec![at("a", 0), at("b", 0)], false),
    ] {
        let function = module.get_function(name).expect("the case has it");
        let model = model_kernel(function, KernelId(0), name);
        let places: Vec<SharedPlace> = places
            .into_iter()
            .map(|(variable, storage, offset_bytes)| SharedPlace {
                name: format!("{name}_{variable}"),
                storage,
                offset_bytes,
                size_bytes: 256,
            })
            .collect();
        let conflict = shared_memory_reuse_conflict(&model, &places);
        assert_eq!(conflict.is_none(), right, "{name}: {places:?}");
    }
}

/// By copy and stream: what is mirrored, what is replaced, what is left out.
type Copies<'a> = &'a [&'a [[&'a [usize]; 3]]];

#[test]
fn the_verifier_refuses_wrong_promotion() {
    let context = Context::create();
    let text = format!("{}\0", include_str!("cases/rows.ll"));
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "rows.ll");
    let module = context
        .create_module_from_ir(buffer)
        .expect("the case is valid IR");
    // Streams are named by the global accesses as they stand in the text: of `twice`, the first loop
    // loads a (0) and stores b (1), the second loads a (2) and b (3) and stores b (4).
    let judge = |name: &str, copies: Copies<'_>, length, threads: Option<u64>| {
        let kernel = Value::function(&module, name).expect("the case has it");
        let mut accesses = Vec::new();
        let mut place = 0;
        for block in kernel.blocks() {
            for at in block.instructions() {
                let address = Effect::of(at).address();
                let root = address.map(|address| Root::of(kernel, address));
                if matches!(root, Some(Root::Parameter(_))) {
                    accesses.push(place);
                }
                place += usize::from(Some(at) != block.terminator());
            }
        }
        let named = |list: &[usize]| list.iter().map(|at| accesses[*at]).collect();
        let stream = |[mirrored, replaced, dead]: &[&[usize]; 3]| PromotedStream {
            mirrored: named(mirrored),
            replaced: named(replaced),
            dead: named(dead),
        };
        let copies = copies.iter();
        let promotion = RowPromotion {
            copies: copies
                .map(|streams| streams.iter().map(stream).collect())
                .collect(),
            length,
        };
        let function = module.get_function(name).expect("the case has it");
        let model = model_kernel(function, KernelId(0), name);
        let facts = facts();
        row_promotion_conflict(
            &model,
            &promotion,
            [threads, Some(1), Some(1)],
            |one, other| facts.are_disjoint(one, other),
        )
    };
    let n = RowLength::Argument(3);
    let right: [&[[&[usize]; 3]]; 2] = [&[[&[0], &[2], &[]]], &[[&[1], &[3], &[1]]]];
    assert_eq!(judge("twice", &right, n, Some(64)), None);
    let wrong: [(&str, Copies<'_>); 9] = [
        ("nobody brings it", &[&[[&[], &[2], &[]]]]),
        ("it comes too late", &[&[[&[2], &[0], &[]]]]),
        ("another place", &[&[[&[0], &[3], &[]]]]),
        ("an old value", &[&[[&[4], &[3], &[]]]]),
        ("a store is not mirrored", &[&[[&[3], &[3], &[]]]]),
        ("the last store", &[&[[&[1], &[3], &[4]]]]),
        ("still looked at", &[&[[&[1], &[], &[1]]]]),
        ("a store is replaced", &[&[[&[0], &[1], &[]]]]),
        (
            "one copy for both",
            &[&[[&[0], &[2], &[]], [&[1], &[3], &[1]]]],
        ),
    ];
    for (what, copies) in wrong {
        assert!(judge("twice", copies, n, Some(64)).is_some(), "{what}");
    }
    for (length, threads) in [
        (RowLength::Argument(2), Some(64)),
        (RowLength::Constant(64), Some(64)),
        (n, Some(65)),
        (n, None),
    ] {
        let refused = judge("twice", &right, length, threads);
        assert!(refused.is_some(), "{length:?}, {threads:?}");
    }
    for name in [
        "other_step",
        "other_begin",
        "other_length",
        "written_elsewhere",
        "written_through_alias",
        "neighbour",
    ] {
        let refused = judge(name, &right, n, Some(64));
        assert!(refused.is_some(), "{name}");
    }
}

#[test]
fn loops_become_one_where_no_order_is_lost() {
    let context = Context::create();
    let text = format!("{}\0", include_str!("cases/rows.ll"));
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "rows.ll");
    let module = context
        .create_module_from_ir(buffer)
        .expect("the case is valid IR");
    for (name, joined) in [
        ("twice", 1),
        ("step_of_the_block", 1),
        ("other_begin", 1),
        ("constant", 1),
        ("neighbour", 1),
        ("parts_of_an_element", 1),
        ("sums_apart", 1),
        ("neighbour_of_a_result", 0),
        ("beyond_an_element", 0),
        ("sum_of_the_first", 0),
        ("waits_between", 0),
        ("waits_inside", 0),
        ("written_between", 0),
        ("other_step", 0),
        ("other_length", 0),
        ("written_elsewhere", 0),
        ("written_through_alias", 0),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        assert_eq!(join_loops(&module, kernel, &facts()), joined, "{name}");
    }
    module.verify().expect("the result is valid IR");
}

#[test]
fn the_verifier_refuses_wrong_joints() {
    let context = Context::create();
    let text = format!("{}\0", include_str!("cases/rows.ll"));
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "rows.ll");
    let module = context
        .create_module_from_ir(buffer)
        .expect("the case is valid IR");
    // By loop, where its accesses stand.
    let loops = |name: &str| -> [Vec<usize>; 2] {
        let kernel = Value::function(&module, name).expect("the case has it");
        let mut place = 0;
        let mut by_block = Vec::new();
        for block in kernel.blocks() {
            let mut own = Vec::new();
            for at in block.instructions() {
                if Effect::of(at).address().is_some() {
                    own.push(place);
                }
                place += usize::from(Some(at) != block.terminator());
            }
            by_block.push(own);
        }
        // Beginning, head, body, end; head, body, end.
        [by_block.swap_remove(2), by_block.swap_remove(5)]
    };
    let judge = |name: &str, [first, second]: [Vec<usize>; 2]| {
        let function = module.get_function(name).expect("the case has it");
        let model = model_kernel(function, KernelId(0), name);
        let loops = JoinedLoops {
            first,
            second,
            between: Vec::new(),
        };
        let facts = facts();
        join_conflict(&model, &loops, [None; 6], |one, other| {
            facts.are_disjoint(one, other)
        })
    };
    for name in ["twice", "step_of_the_block", "parts_of_an_element"] {
        assert_eq!(judge(name, loops(name)), None, "{name}");
    }
    let [first, second] = loops("twice");
    let wrong = [
        ("the other way round", [second.clone(), first.clone()]),
        ("one loop", [first.clone(), first.clone()]),
        ("not all accesses", [first.clone(), second[..2].to_vec()]),
        ("none", [first, Vec::new()]),
    ];
    for (what, places) in wrong {
        assert!(judge("twice", places).is_some(), "{what}");
    }
    for name in [
        "neighbour_of_a_result",
        "beyond_an_element",
        "waits_between",
        "waits_inside",
        "written_between",
        "other_step",
        "other_length",
        "written_elsewhere",
        "written_through_alias",
    ] {
        assert!(judge(name, loops(name)).is_some(), "{name}");
    }
}
