//! Loops with something between them that become one: right cases, and such that only look right.

use super::block_tests::{facts, parsed};
use super::loops::join_loops;
use super::memory::KernelFacts;
use crate::kernel::{Tables, model_kernel, model_kernel_with_tables};
use crate::llvm::{Opcode, Value};
use crate::program::KernelId;
use crate::verify::{JoinedLoops, join_conflict};
use inkwell::context::Context;
use inkwell::module::Module;

fn module(context: &Context) -> Module<'_> {
    parsed(context, include_str!("cases/sums.ll"))
}

#[test]
fn what_stands_between_comes_behind_both_loops() {
    let context = Context::create();
    let module = module(&context);
    for (name, joined) in [
        ("stored_between", 1),
        ("read_between", 1),
        ("branch_between", 1),
        ("number_between", 1),
        ("atomic_between", 1),
        ("three", 2),
        ("begins_elsewhere", 1),
        ("bound_inside", 1),
        ("bound_changes", 0),
        ("bound_may_wrap", 0),
        ("one_more", 0),
        ("other_element", 0),
        ("read_behind", 0),
        ("read_through_alias", 0),
        ("overwritten_behind", 0),
        ("begins_with_what_is_read", 0),
        ("begins_with_the_sum", 0),
        ("number_of_the_first", 0),
        ("volatile_between", 0),
        ("leaves_between", 0),
        ("own_memory_between", 0),
        ("lives_from_between", 0),
        ("waits_behind_the_store", 0),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        assert_eq!(join_loops(&module, kernel, &facts()), joined, "{name}");
    }
    module.verify().expect("the result is valid IR");
}

/// Where the accesses of the two loops of a kernel stand, and those between. Its blocks are the beginning, head,
/// body and end of the first loop, others, head, body and end of the second.
fn loops(module: &Module, name: &str) -> JoinedLoops {
    let kernel = Value::function(module, name).expect("the case has it");
    let function = module.get_function(name).expect("the case has it");
    let model = model_kernel(function, KernelId(0), name);
    let mut loops = JoinedLoops::default();
    let mut place = 0;
    let blocks = kernel.blocks();
    let last = blocks.len() - 2;
    for (number, block) in blocks.into_iter().enumerate() {
        for at in block.instructions() {
            if Some(at) == block.terminator() {
                continue;
            }
            if model.accesses.iter().any(|access| access.place == place) {
                match number {
                    2 => loops.first.push(place),
                    _ if number == last => loops.second.push(place),
                    _ if (3..last).contains(&number) => loops.between.push(place),
                    _ => {}
                }
            }
            place += 1;
        }
    }
    loops
}

#[test]
fn the_verifier_refuses_what_may_not_pass_a_loop() {
    let context = Context::create();
    let module = module(&context);
    let judge = |name: &str, loops: &JoinedLoops| {
        let function = module.get_function(name).expect("the case has it");
        let model = model_kernel(function, KernelId(0), name);
        let facts = facts();
        join_conflict(&model, loops, [None; 6], |one, other| {
            facts.are_disjoint(one, other)
        })
    };
    for name in [
        "stored_between",
        "read_between",
        "branch_between",
        "number_between",
        "atomic_between",
        "begins_elsewhere",
    ] {
        let right = loops(&module, name);
        assert_eq!(judge(name, &right), None, "{name}");
        // Something that is touched there is kept quiet, or is said to be where it is not.
        let mut silent = right.clone();
        silent.between.pop();
        assert!(judge(name, &silent).is_some(), "{name}");
        let mut early = right.clone();
        early.between.extend(early.first.pop());
        assert!(judge(name, &early).is_some(), "{name}");
        let turned = JoinedLoops {
            first: right.second,
            second: right.first,
            between: right.between,
        };
        assert!(judge(name, &turned).is_some(), "{name}");
    }
    for name in [
        "read_behind",
        "read_through_alias",
        "overwritten_behind",
        "volatile_between",
        "waits_behind_the_store",
        "one_more",
        "other_element",
    ] {
        assert!(judge(name, &loops(&module, name)).is_some(), "{name}");
    }
}

fn results(context: &Context) -> Module<'_> {
    parsed(context, include_str!("cases/results.ll"))
}

#[test]
fn rows_that_one_loop_writes_are_found_by_the_next() {
    let context = Context::create();
    let module = results(&context);
    for (name, joined) in [
        ("same_rows", 1),
        ("copies_end_between", 1),
        ("an_element_on", 1),
        ("counters_stay_below", 1),
        ("rows_may_wrap", 0),
        ("two_rows_on", 0),
        ("rows_of_another_block", 0),
        ("copy_begins_inside", 0),
        ("effect_between", 0),
        ("threads_meet_between", 0),
        ("threads_meet_inside", 0),
        ("counter_may_wrap", 0),
    ] {
        let kernel = Value::function(&module, name).expect("the case has it");
        assert_eq!(join_loops(&module, kernel, &facts()), joined, "{name}");
        let addresses = |opcode| {
            let all = kernel.instructions().into_iter();
            let of = all.filter(|at| at.opcode() == Some(opcode));
            of.map(|at| at.operand(u32::from(opcode == Opcode::LLVMStore)))
                .collect::<Vec<_>>()
        };
        let (loads, stores) = (addresses(Opcode::LLVMLoad), addresses(Opcode::LLVMStore));
        // The second loop takes the first's address where it is the same.
        let same = joined == 1 && name != "an_element_on";
        assert_eq!(stores[0] == stores[1], same, "{name}");
        assert_eq!(loads[1] == stores[0], same, "{name}");
    }
    module.verify().expect("the result is valid IR");
}

#[test]
fn copies_are_awaited_before_both_loops() {
    let context = Context::create();
    let module = results(&context);
    let kernel = Value::function(&module, "copies_end_between").expect("the case has it");
    assert_eq!(join_loops(&module, kernel, &facts()), 1);
    let wait = kernel.instructions().into_iter().find(|at| {
        at.opcode() == Some(Opcode::LLVMCall)
            && at.called_name().as_deref() == Some("llvm.nvvm.cp.async.wait.all")
    });
    assert_eq!(wait.map(Value::block), Some(kernel.blocks()[0]));
}

#[test]
fn the_verifier_refuses_what_warps_and_copies_forbid() {
    let context = Context::create();
    let module = results(&context);
    let judge = |name: &str| {
        let function = module.get_function(name).expect("the case has it");
        let model = model_kernel(function, KernelId(0), name);
        let facts = facts();
        join_conflict(&model, &loops(&module, name), [None; 6], |one, other| {
            facts.are_disjoint(one, other)
        })
    };
    for name in [
        "same_rows",
        "copies_end_between",
        "an_element_on",
        "counters_stay_below",
    ] {
        assert_eq!(judge(name), None, "{name}");
    }
    for name in [
        "two_rows_on",
        "rows_of_another_block",
        "copy_begins_inside",
        "threads_meet_between",
        "threads_meet_inside",
    ] {
        assert!(judge(name).is_some(), "{name}");
    }
}

/// The pointer at byte 8 of what the first parameter leads to leads elsewhere than the others.
fn facts_of_tables() -> KernelFacts {
    let disjoint = [
        [false, true, true, true],
        [true, false, true, true],
        [true, true, false, true],
        [true, true, true, false],
    ];
    KernelFacts {
        disjoint: disjoint.map(Vec::from).into(),
        tables: vec![(0, 8)],
        block: [Some(64), Some(1), Some(1)],
        ..facts()
    }
}

/// What may be one loop by tables and by parts of one thing, and what may not.
const BY_TABLES: [(&str, bool); 8] = [
    ("parts_of_one", true),
    ("next_to_each_other", true),
    ("threads_of_any_number", false),
    ("parts_meet", false),
    // That comes behind the second loop, which reads other parts, and stays behind the first.
    ("meets_the_first", true),
    ("meets_itself", true),
    ("other_pointer", false),
    ("result_is_used", false),
];

#[test]
fn loops_over_tables_and_parts_of_one_thing_become_one() {
    let context = Context::create();
    let module = parsed(&context, include_str!("cases/tables.ll"));
    for (name, joins) in BY_TABLES {
        let kernel = Value::function(&module, name).expect("the case has it");
        let joined = join_loops(&module, kernel, &facts_of_tables());
        assert_eq!(joined, usize::from(joins), "{name}");
    }
    module.verify().expect("the result is valid IR");
}

#[test]
fn the_verifier_tells_tables_and_parts_of_one_thing() {
    let context = Context::create();
    let module = parsed(&context, include_str!("cases/tables.ll"));
    let facts = facts_of_tables();
    let judge = |name: &str, known: &[(usize, u32)], block: [Option<u64>; 3]| {
        let function = module.get_function(name).expect("the case has it");
        let tables = Tables::Only(known.iter().copied().collect());
        let model = model_kernel_with_tables(function, KernelId(0), name, tables);
        let [x, y, z] = block;
        let extents = [None, None, None, x, y, z];
        join_conflict(&model, &loops(&module, name), extents, |one, other| {
            facts.are_disjoint(one, other)
        })
    };
    for (name, joins) in BY_TABLES {
        // Threads whose counters begin at the bound or behind it run neither loop.
        let joins = joins || name == "threads_of_any_number";
        let conflict = judge(name, &facts.tables, facts.block);
        assert_eq!(conflict.is_none(), joins, "{name}: {conflict:?}");
        assert!(judge(name, &[], facts.block).is_some(), "{name}: no tables");
    }
}
