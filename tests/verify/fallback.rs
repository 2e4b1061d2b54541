//! What runs where a launch with grid-wide barriers is refused: wrong plans.

use super::grid_barriers::plan_of_three;
use super::*;
use sirius_rs::launch::Operand;
use sirius_rs::schedule::{FusionGroup, PartialGuards, ThreadMap};

/// Three launches, of which the second needs what its own thread made in the first, and the third what other blocks made; one of
/// them all, and of the first two where it is refused.
fn with_fallback() -> (Scene, Vec<LaunchId>, FusionPlan) {
    let (scene, launches) = three(Scene::pointwise, 0);
    let mut whole = plan_of_three(&launches, &[2]);
    whole.groups[0].fallback = vec![of(&launches[..2])];
    (scene, launches, whole)
}

fn of(launches: &[LaunchId]) -> FusionGroup {
    let members: Vec<_> = launches.iter().map(|launch| (*launch, false)).collect();
    group(&members, launches.iter().copied().map(valid).collect())
}

fn fallback(plan: &mut FusionPlan) -> &mut FusionGroup {
    &mut plan.groups[0].fallback[0]
}

#[test]
fn passes_a_group_of_the_first_two() {
    let (scene, _, plan) = with_fallback();
    assert_passes(&scene, &plan);
}

#[test]
fn what_a_barrier_of_the_grid_ordered() {
    let (scene, launches, mut plan) = with_fallback();
    plan.groups[0].fallback = vec![of(&launches[1..])];
    assert_refused!(scene, plan, Refusal::CrossesBlocks { .. });
    let (scene, launches, mut plan) = with_fallback();
    plan.groups[0].fallback = vec![of(&launches)];
    assert_refused!(scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn what_the_whole_tests_and_it_does_not() {
    let (mut scene, launches, mut plan) = with_fallback();
    let unknown = scene.unknown();
    scene.launch_mut(launches[0]).shared_bytes = unknown;
    assert_passes(&scene, &plan);
    fallback(&mut plan).guards.clear();
    assert_refused!(scene, plan, Refusal::ConfigurationUnchecked { .. });
}

#[test]
fn launches_are_not_neighbours() {
    let (scene, launches, mut plan) = with_fallback();
    plan.groups[0].fallback = vec![of(&[launches[0], launches[2]])];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn launches_come_in_another_order() {
    let (scene, launches, mut plan) = with_fallback();
    plan.groups[0].fallback = vec![of(&[launches[1], launches[0]])];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn a_launch_is_in_two_groups() {
    let (scene, launches, mut plan) = with_fallback();
    plan.groups[0].fallback = vec![of(&launches[..2]), of(&launches[..2])];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
    plan.groups[0].fallback = vec![of(&launches[..2]), of(&launches[1..])];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn a_launch_is_no_member() {
    let (mut scene, launches, mut plan) = with_fallback();
    let kernel = scene.pointwise("other");
    let [from, to] = ["x", "y"].map(|name| Pass::To(scene.buffer(name)));
    let (shape, size) = (scene.known_shape(), scene.unknown());
    let other = scene.launch(kernel, shape, &[from, to, Pass::Integer(size)]);
    plan.groups[0].fallback = vec![of(&[launches[2], other])];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn a_group_of_one_launch() {
    let (scene, launches, mut plan) = with_fallback();
    plan.groups[0].fallback = vec![of(&launches[..1])];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
    plan.groups[0].fallback = vec![of(&[])];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn a_group_that_waits_for_all_blocks_itself() {
    let (scene, _, mut plan) = with_fallback();
    fallback(&mut plan).grid_barriers = vec![1];
    fallback(&mut plan)
        .guards
        .push(Guard::Resident { rounds: 1 });
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn a_group_that_runs_in_part() {
    let (scene, launches, mut plan) = with_fallback();
    fallback(&mut plan).partial_guards = vec![PartialGuards {
        members: launches[..2].to_vec(),
        guards: Vec::new(),
    }];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn a_group_with_a_fallback_of_its_own() {
    let (scene, launches, mut plan) = with_fallback();
    fallback(&mut plan).fallback = vec![of(&launches[..2])];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn a_group_that_runs_without_its_last_block() {
    let (scene, _, mut plan) = with_fallback();
    fallback(&mut plan).front_guards = Some(Vec::new());
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn nothing_is_refused() {
    let (scene, launches) = three(Scene::pointwise, 0);
    let mut plan = FusionPlan {
        groups: vec![of(&launches[..2])],
        ..FusionPlan::default()
    };
    assert_passes(&scene, &plan);
    plan.groups[0].fallback = vec![of(&launches[..2])];
    assert_refused!(scene, plan, Refusal::Fallback { .. });
}

#[test]
fn threads_that_leave_out_some_of_their_own() {
    // A clipped launch runs where its grid is smaller, and every thread must have its own.
    let (mut scene, launches, mut plan) = with_fallback();
    let grid = scene.constant(20);
    scene.launch_mut(launches[1]).grid[0] = grid;
    plan.groups[0].grid_barriers = vec![1, 2];
    assert_refused!(scene, plan.clone(), Refusal::DifferentShape { .. });
    fallback(&mut plan).members[1].map = ThreadMap::Clipped;
    assert_passes(&scene, &plan);
}

#[test]
fn nobody_asks_what_memory_it_is() {
    let (scene, launches, mut plan) = with_fallback();
    let asked = Guard::DeviceMemory {
        launch: launches[0],
        operand: Operand::Argument {
            argument: 0,
            offset_bytes: 0,
            bits: 64,
            signed: false,
        },
    };
    fallback(&mut plan).guards.push(asked.clone());
    assert_refused!(scene, plan.clone(), Refusal::Fallback { .. });
    plan.groups[0].guards.push(asked);
    assert_passes(&scene, &plan);
}
