//! Groups that run with those of their members that the host came to: right plans, and wrong ones.

use super::*;
use sirius_rs::schedule::{FusionGroup, PartialGuards, ThreadMap};

/// `b = f(a)`, `c = f(b)` and `d = f(c)`, each under a condition, or the first two as alternatives.
struct Several {
    scene: Scene,
    launches: [LaunchId; 3],
    shapes: [[ValueId; 6]; 3],
}

fn several(alternatives: bool, kernels: [fn(&mut Scene) -> KernelId; 3]) -> Several {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d"].map(|name| Pass::To(scene.buffer(name)));
    let shape = scene.known_shape();
    let n = Pass::Integer(scene.unknown());
    let made: Vec<KernelId> = kernels.iter().map(|kernel| kernel(&mut scene)).collect();
    let mut launches = Vec::new();
    let mut shapes = Vec::new();
    let mut before = HostBlockId(0);
    let mut ends = Vec::new();
    for number in 0..3 {
        let taken = scene.block_after(before);
        let arguments = [
            buffers[number].clone(),
            buffers[number + 1].clone(),
            n.clone(),
        ];
        launches.push(scene.launch(made[number], shape, &arguments));
        let launch = scene.launch_mut(launches[number]);
        shapes.push([launch.grid, launch.block].concat().try_into().unwrap());
        ends.push(taken);
        if alternatives && number == 0 {
            continue;
        }
        let join = scene.block_after(taken);
        for end in ends.drain(..).take_while(|end| *end != taken) {
            scene.edge(end, join);
        }
        scene.edge(before, join);
        scene.graph.blocks[join.0].immediate_dominator = Some(before);
        before = join;
    }
    Several {
        scene,
        launches: launches.try_into().unwrap(),
        shapes: shapes.try_into().unwrap(),
    }
}

fn pointwise(scene: &mut Scene) -> KernelId {
    scene.pointwise("pointwise")
}

fn stencil(scene: &mut Scene) -> KernelId {
    scene.stencil("stencil")
}

fn block_sum(scene: &mut Scene) -> KernelId {
    scene.block_sum("block_sum")
}

fn spread(scene: &mut Scene) -> KernelId {
    scene.spread("spread")
}

impl Several {
    /// All three, each tested by itself.
    fn plan(&self) -> FusionPlan {
        let members: Vec<_> = self
            .launches
            .iter()
            .map(|launch| (*launch, false))
            .collect();
        let mut plan = plan(&members, Vec::new());
        let group = &mut plan.groups[0];
        for member in &mut group.members {
            member.map = ThreadMap::Clipped;
        }
        group.partial_guards = self
            .launches
            .iter()
            .map(|launch| PartialGuards {
                members: vec![*launch],
                guards: vec![valid(*launch)],
            })
            .collect();
        plan
    }

    fn plan_with(&self, change: impl FnOnce(&mut FusionGroup)) -> FusionPlan {
        let mut plan = self.plan();
        change(&mut plan.groups[0]);
        plan
    }
}

#[test]
fn passes_members_that_may_be_absent() {
    let made = several(false, [pointwise; 3]);
    assert_passes(&made.scene, &made.plan());
}

#[test]
fn passes_alternatives_in_front_of_the_last() {
    let made = several(true, [pointwise; 3]);
    assert_passes(&made.scene, &made.plan());
    // As a group that only runs as a whole it never would.
    let plan = made.plan_with(|group| group.partial_guards.clear());
    assert_refused!(made.scene, plan, Refusal::NotOnOnePath { .. });
}

#[test]
fn refuses_a_last_member_that_another_does_not_come_to() {
    let made = several(true, [pointwise; 3]);
    let plan = made.plan_with(|group| {
        group.members.pop();
        group.partial_guards.pop();
    });
    assert_refused!(made.scene, plan, Refusal::NotOnOnePath { .. });
}

#[test]
fn refuses_neighbours_of_any_two() {
    for kernels in [
        [pointwise, stencil, pointwise],
        [pointwise, pointwise, stencil],
    ] {
        let made = several(false, kernels);
        let found = refusals(&made.scene, &made.plan());
        assert!(!found.is_empty());
    }
    // The first of all reads of others what nobody writes.
    let made = several(false, [stencil, pointwise, pointwise]);
    assert_passes(&made.scene, &made.plan());
}

#[test]
fn a_barrier_stands_whoever_is_there() {
    let kernels = [pointwise, block_sum, spread];
    let made = several(false, kernels);
    assert!(!refusals(&made.scene, &made.plan()).is_empty());
    // The second may be absent, but what stands before it would be too early.
    let too_early = made.plan_with(|group| group.members[1].barrier_before = true);
    assert!(!refusals(&made.scene, &too_early).is_empty());
    let right = made.plan_with(|group| group.members[2].barrier_before = true);
    assert_passes(&made.scene, &right);
}

#[test]
fn refuses_configurations_that_are_tested_of_others() {
    let mut made = several(false, [pointwise; 3]);
    let grid = made.scene.unknown();
    let second = made.launches[1];
    made.scene.launch_mut(second).grid[0] = grid;
    let block = made.shapes[1][3];
    let wrap = no_wrap(Shape { grid, block });
    let tests = |members: Vec<LaunchId>, guards: Vec<Guard>| PartialGuards { members, guards };
    let right = made.plan_with(|group| {
        group.partial_guards[1].guards.push(wrap.clone());
    });
    assert_passes(&made.scene, &right);
    // Where the host came to the second and the third, nobody asked.
    let of_two = made.plan_with(|group| {
        group.partial_guards.remove(1);
        let guards = vec![valid(second), wrap.clone()];
        group
            .partial_guards
            .push(tests(vec![made.launches[0], second], guards));
    });
    assert!(!refusals(&made.scene, &of_two).is_empty());
    let nowhere = made.plan_with(|group| {
        group.partial_guards.remove(1);
    });
    assert!(!refusals(&made.scene, &nowhere).is_empty());
}

#[test]
fn refuses_what_relies_on_all_members() {
    let made = several(false, [pointwise; 3]);
    let first = made.launches[0];
    let changes: [&dyn Fn(&mut FusionGroup); 6] = [
        &|group| group.members[1].map = ThreadMap::Identity,
        &|group| group.guards.push(valid(first)),
        &|group| group.unread_afterwards.push(BufferId(1)),
        &|group| group.segments = vec![vec![0, 1], vec![2]],
        &|group| group.partial_guards[0].members = vec![LaunchId(99)],
        &|group| {
            let second = group.members[1].launch;
            let same = Guard::SameStream { first, second };
            group.partial_guards[0].guards.push(same);
        },
    ];
    for change in changes {
        let plan = made.plan_with(change);
        let found = refusals(&made.scene, &plan);
        assert!(
            found
                .iter()
                .any(|refusal| matches!(refusal, Refusal::NotInPart { .. })),
            "{found:#?}"
        );
    }
}

#[test]
fn refuses_streams_that_differ() {
    let mut made = several(false, [pointwise; 3]);
    let stream = made.scene.unknown();
    made.scene.launch_mut(made.launches[1]).stream = Stream::Handle(stream);
    assert_refused!(made.scene, made.plan(), Refusal::NotOnOnePath { .. });
}

#[test]
fn refuses_to_wait_for_a_batch_in_part() {
    use sirius_rs::schedule::{BatchedRegion, BatchedStatement};
    let made = several(false, [pointwise; 3]);
    let mut plan = made.plan();
    plan.batched_regions.push(BatchedRegion {
        statements: vec![BatchedStatement {
            launch: made.launches[2],
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
    let found = refusals(&made.scene, &plan);
    let refused = |refusal: &Refusal| matches!(refusal, Refusal::NotBatched { .. });
    assert!(found.iter().any(refused), "{found:#?}");
}
