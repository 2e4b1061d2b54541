//! Batches that are phases of one launch: wrong plans, and right ones beside them.

use super::batches::waiting;
use super::*;
use sirius_rs::kernel::WarpOperation;
use sirius_rs::schedule::PersistentLoop;

/// Both launches of a chain wait, and their batches may be phases.
fn in_phases(chain: &Chain) -> FusionPlan {
    let mut plan = waiting(chain);
    for statement in &mut plan.batched_regions[0].statements {
        statement.phase_rounds = Some(8);
    }
    plan
}

#[track_caller]
fn assert_no_phases(scene: &Scene, plan: &FusionPlan) {
    assert_refused!(*scene, *plan, Refusal::NotInPhases { .. });
    // As batches alone they are right.
    let mut apart = plan.clone();
    for region in &mut apart.batched_regions {
        for statement in &mut region.statements {
            statement.phase_rounds = None;
        }
    }
    assert_passes(scene, &apart);
}

#[test]
fn passes_phases() {
    let chain = chain_of(scale, shift);
    assert_passes(&chain.scene, &in_phases(&chain));
    // One that is none is a batch by itself.
    let mut plan = in_phases(&chain);
    plan.batched_regions[0].statements[0].phase_rounds = None;
    assert_passes(&chain.scene, &plan);
}

#[test]
fn refuses_numbers_of_blocks_that_no_launch_has() {
    let chain = chain_of(scale, shift);
    for rounds in [[0, 0], [8, 0], [0, 8], [8, 4], [1, 2]] {
        let mut plan = in_phases(&chain);
        let statements = &mut plan.batched_regions[0].statements;
        for (statement, rounds) in statements.iter_mut().zip(rounds) {
            statement.phase_rounds = Some(rounds);
        }
        assert_no_phases(&chain.scene, &plan);
    }
}

#[test]
fn refuses_what_waits_for_a_graph() {
    let chain = chain_of(scale, shift);
    let mut plan = in_phases(&chain);
    plan.batched_regions[0].for_graphs = true;
    assert_no_phases(&chain.scene, &plan);
}

#[test]
fn refuses_launches_of_a_loop_in_a_kernel() {
    let chain = chain_of(scale, shift);
    let mut plan = in_phases(&chain);
    plan.batched_regions[0].statements[1].persistent = Some(PersistentLoop::default());
    let found = refusals(&chain.scene, &plan);
    let is_it = |refusal: &Refusal| matches!(refusal, Refusal::NotInPhases { .. });
    assert!(found.iter().any(is_it), "{found:#?}");
}

fn barrier(uniform: bool, relied_on: &[Target]) -> Barrier {
    Barrier {
        uniform,
        uniform_while_unwritten: relied_on.to_vec(),
        reached_if: Vec::new(),
        loops: Vec::new(),
        place: 0,
        location: Location::default(),
    }
}

#[test]
fn refuses_barriers_that_only_some_threads_may_reach() {
    let [read, written] = [0, 1].map(|argument| Target::Argument {
        argument,
        offset_bytes: 0,
    });
    for kernel in 0..2 {
        let with = |barrier: Barrier| {
            let mut chain = chain_of(scale, shift);
            chain.scene.kernels[kernel].barriers.push(barrier);
            chain
        };
        // What it hangs on stays what it is while the launch runs.
        for right in [
            barrier(true, &[]),
            barrier(false, std::slice::from_ref(&read)),
        ] {
            let chain = with(right);
            assert_passes(&chain.scene, &in_phases(&chain));
        }
        let both = [read.clone(), written.clone()];
        for wrong in [
            barrier(false, &[]),
            barrier(false, std::slice::from_ref(&written)),
            barrier(false, &both),
        ] {
            let chain = with(wrong);
            assert_no_phases(&chain.scene, &in_phases(&chain));
        }
    }
}

#[test]
fn refuses_barriers_whose_condition_is_only_said() {
    // That it is reached under a condition is nothing that a statement by itself tests.
    let mut chain = chain_of(scale, shift);
    let never = Condition::LessEqual(Expression::Constant(1), Expression::Constant(0));
    chain.scene.kernels[1].barriers.push(Barrier {
        reached_if: vec![never],
        ..barrier(false, &[])
    });
    assert_no_phases(&chain.scene, &in_phases(&chain));
}

#[test]
fn refuses_operations_of_warps_that_wait_for_lanes_that_have_returned() {
    for kernel in 0..2 {
        for missed in [false, true] {
            let mut chain = chain_of(scale, shift);
            let model = &mut chain.scene.kernels[kernel];
            model.warp_operations = true;
            // Lanes that take no part are waited for by nobody.
            model.warp_operation_sites.push(WarpOperation {
                uniform: false,
                loops: Vec::new(),
                accesses_before: 0,
            });
            if missed {
                model.missed_by_lanes.push(barrier(false, &[]));
            }
            let plan = in_phases(&chain);
            match missed {
                false => assert_passes(&chain.scene, &plan),
                true => assert_no_phases(&chain.scene, &plan),
            }
        }
    }
}

#[test]
fn refuses_copies_that_may_be_under_way() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[0].asynchronous_copies = true;
    assert_no_phases(&chain.scene, &in_phases(&chain));
}

#[test]
fn what_is_wrong_with_one_launch_is_wrong_with_its_group() {
    let group = |change: fn(&mut KernelModel)| {
        let mut chain = chain_of(scale, shift);
        change(&mut chain.scene.kernels[0]);
        let mut plan = in_phases(&chain);
        let mut statement = plan.batched_regions[0].statements.remove(0);
        let last = &mut plan.batched_regions[0].statements[0];
        last.touches.append(&mut statement.touches);
        last.guards.append(&mut statement.guards);
        plan.groups = chain.plan_with(true, Vec::new()).groups;
        (chain, plan)
    };
    let (chain, plan) = group(|_| ());
    assert_passes(&chain.scene, &plan);
    let (chain, plan) = group(|model| model.asynchronous_copies = true);
    assert_no_phases(&chain.scene, &plan);
}
