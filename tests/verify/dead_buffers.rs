//! Allocations that a plan calls dead although somebody may need their memory.

use super::*;
use sirius_rs::launch::MemoryKind;
use sirius_rs::schedule::{BatchedRegion, BatchedStatement};

/// A chain whose middle buffer only its members touch, and the plan that says so.
fn dead() -> (Chain, FusionPlan) {
    let mut chain = chain_of(scale, shift);
    let b = chain.buffers[1];
    chain.scene.graph.buffers[b.0].plain_call = Some(0);
    let mut plan = chain.plan();
    plan.groups[0].unread_afterwards.push(b);
    plan.dead_buffers.push(b);
    (chain, plan)
}

#[track_caller]
fn assert_not_dead(scene: &Scene, plan: &FusionPlan) {
    let found = refusals(scene, plan);
    let is_about_it = |refusal: &Refusal| matches!(refusal, Refusal::NotDead { .. });
    assert!(found.iter().any(is_about_it), "{found:#?}");
}

#[test]
fn passes_when_only_members_touch() {
    let (mut chain, plan) = dead();
    let [a, _, c] = chain.buffers;
    chain.scene.copy(&[a], &[c]);
    assert_passes(&chain.scene, &plan);
}

#[test]
fn refuses_when_a_copy_writes() {
    // Which is no harm to a group that does not write it.
    let (mut chain, mut plan) = dead();
    let b = chain.buffers[1];
    chain.scene.copy(&[], &[b]);
    assert_not_dead(&chain.scene, &plan);
    plan.dead_buffers.clear();
    assert_passes(&chain.scene, &plan);
}

#[test]
fn refuses_when_another_launch_writes() {
    let (mut chain, plan) = dead();
    let [a, b, _] = chain.buffers.map(Pass::To);
    let kernel = chain.scene.pointwise("later");
    let n = Pass::Integer(chain.size);
    chain.scene.launch(kernel, chain.shape, &[a, b, n]);
    assert_not_dead(&chain.scene, &plan);
}

#[test]
fn refuses_when_a_launch_writes_anywhere() {
    let (mut chain, plan) = dead();
    let a = Pass::To(chain.buffers[0]);
    let kernel = chain.scene.pointwise("later");
    let anything = Pass::Anything(chain.scene.unknown());
    let n = Pass::Integer(chain.size);
    chain.scene.launch(kernel, chain.shape, &[a, anything, n]);
    assert_not_dead(&chain.scene, &plan);
}

#[test]
fn refuses_when_the_group_does_not_call_it_unread() {
    let (chain, mut plan) = dead();
    plan.groups[0].unread_afterwards.clear();
    assert_not_dead(&chain.scene, &plan);
}

#[test]
fn refuses_when_its_launches_are_in_no_group() {
    let (chain, mut plan) = dead();
    plan.groups.clear();
    assert_not_dead(&chain.scene, &plan);
}

#[test]
fn refuses_when_its_group_waits_for_a_batch() {
    let (chain, mut plan) = dead();
    plan.batched_regions.push(BatchedRegion {
        statements: vec![BatchedStatement {
            launch: chain.launches[1],
            touches: Vec::new(),
            guards: Vec::new(),
            replaced: Vec::new(),
            must_replace: false,
            persistent: None,
            phase_rounds: None,
        }],
        outside_loops: 0,
        drained_before: Vec::new(),
        for_graphs: false,
    });
    assert_not_dead(&chain.scene, &plan);
}

#[test]
fn refuses_when_a_graph_may_touch_it() {
    let (mut chain, plan) = dead();
    let what = "cudaGraphLaunch".to_owned();
    chain.scene.node(NodeKind::Opaque { what });
    assert_passes(&chain.scene, &plan);
    chain.scene.graph.capture.replays = true;
    assert_not_dead(&chain.scene, &plan);
}

#[test]
fn refuses_when_somebody_asks_about_it() {
    let (mut chain, plan) = dead();
    chain.scene.graph.buffers[chain.buffers[1].0].plain_call = None;
    assert_not_dead(&chain.scene, &plan);
}

#[test]
fn refuses_what_others_know_or_is_not_device_memory() {
    let (mut chain, plan) = dead();
    let b = chain.buffers[1];
    chain.scene.graph.buffers[b.0].escapes = true;
    assert_not_dead(&chain.scene, &plan);
    let (mut chain, plan) = dead();
    chain.scene.graph.buffers[b.0].memory = MemoryKind::Managed;
    assert_not_dead(&chain.scene, &plan);
    let (mut chain, plan) = dead();
    chain.scene.kernels[0].formals[1].captured = true;
    assert_not_dead(&chain.scene, &plan);
    let (chain, mut plan) = dead();
    plan.dead_buffers.push(BufferId(77));
    assert_not_dead(&chain.scene, &plan);
}
