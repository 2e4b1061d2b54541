//! Launches whose last block runs what one block does behind all of them: wrong plans.

use super::*;
use sirius_rs::schedule::{BatchedRegion, BatchedStatement, Overlap, ThreadMap};

/// `argument 1 [i] = argument 0 [i + 300]`, which is another block's.
fn far(scene: &mut Scene, name: &str) -> KernelId {
    let accesses = vec![
        access(AccessKind::Read, 0, own_element(300)),
        access(AccessKind::Write, 1, own_element(0)),
    ];
    scene.kernel(name, 2, accesses)
}

/// `b = f(a); c = g(b)` where `g` has one block, and its elements need some of other blocks.
fn one_block_behind() -> Chain {
    let mut chain = chain_of(|scene| scene.stencil("f"), |scene| far(scene, "g"));
    let one = chain.scene.constant(1);
    chain.scene.launch_mut(chain.launches[1]).grid[0] = one;
    chain
}

/// The plan of a chain whose last block runs the second launch.
fn by_last_block(chain: &Chain) -> FusionPlan {
    let mut plan = chain.plan();
    let group = &mut plan.groups[0];
    group.last_block = Some(1);
    group.guards = chain.launches.map(valid).to_vec();
    plan
}

fn plan_of_three(launches: &[LaunchId], last_block: usize, barriers: [bool; 2]) -> FusionPlan {
    let barriers = [false, barriers[0], barriers[1]];
    let members: Vec<_> = launches.iter().copied().zip(barriers).collect();
    let mut plan = plan(&members, launches.iter().copied().map(valid).collect());
    plan.groups[0].last_block = Some(last_block);
    plan
}

fn is_refused(scene: &Scene, plan: &FusionPlan) {
    let found = refusals(scene, plan);
    let is_last = |refusal: &Refusal| matches!(refusal, Refusal::LastBlock { .. });
    assert!(found.iter().any(is_last), "{found:#?}");
}

#[test]
fn passes_what_crosses_blocks_behind_all_of_them() {
    let chain = one_block_behind();
    assert_passes(&chain.scene, &by_last_block(&chain));
}

#[test]
fn passes_several_launches_before_and_behind() {
    let (scene, launches) = three(Scene::pointwise, 1);
    assert_passes(&scene, &plan_of_three(&launches, 2, [false, false]));
    let (scene, launches) = three(Scene::stencil, 2);
    assert_passes(&scene, &plan_of_three(&launches, 1, [false, true]));
}

#[test]
fn nobody_says_that_the_last_block_does_it() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].last_block = None;
    plan.groups[0].members[1].map = ThreadMap::Clipped;
    assert_refused!(chain.scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn a_barrier_of_the_last_block_is_missing() {
    let (scene, launches) = three(Scene::stencil, 2);
    assert_refused!(
        scene,
        plan_of_three(&launches, 1, [false, false]),
        Refusal::MissingBarrier { .. }
    );
}

#[test]
fn launches_in_front_need_each_other_across_blocks() {
    let (scene, launches) = three(Scene::stencil, 1);
    assert_refused!(
        scene,
        plan_of_three(&launches, 2, [true, false]),
        Refusal::CrossesBlocks { .. }
    );
}

#[test]
fn what_is_behind_has_two_blocks() {
    let mut chain = one_block_behind();
    let two = chain.scene.constant(2);
    chain.scene.launch_mut(chain.launches[1]).grid[0] = two;
    assert_refused!(
        chain.scene,
        by_last_block(&chain),
        Refusal::LastBlock { .. }
    );
}

#[test]
fn how_many_blocks_are_behind_nobody_tests() {
    let mut chain = one_block_behind();
    let depth = chain.scene.unknown();
    chain.scene.launch_mut(chain.launches[1]).grid[2] = depth;
    let mut plan = by_last_block(&chain);
    assert_refused!(chain.scene, plan, Refusal::LastBlock { .. });
    let one = chain.scene.constant(1);
    plan.groups[0].guards.push(same(depth, one));
    assert_passes(&chain.scene, &plan);
}

#[test]
fn another_grid_is_tested_than_the_one_behind() {
    let mut chain = one_block_behind();
    let [width, other] = [(); 2].map(|()| chain.scene.unknown());
    chain.scene.launch_mut(chain.launches[1]).grid[0] = width;
    let mut plan = by_last_block(&chain);
    let [one, two] = [1, 2].map(|extent| chain.scene.constant(extent));
    for guard in [same(other, one), same(width, two), same(width, other)] {
        plan.groups[0].guards.push(guard);
        is_refused(&chain.scene, &plan);
        plan.groups[0].guards.pop();
    }
    plan.groups[0].guards.push(same(width, one));
    assert_passes(&chain.scene, &plan);
}

#[test]
fn one_of_two_launches_behind_has_more_blocks() {
    let (scene, launches) = three(Scene::pointwise, 1);
    is_refused(&scene, &plan_of_three(&launches, 1, [false, true]));
}

#[test]
fn what_is_behind_has_more_threads() {
    let mut chain = one_block_behind();
    let block = chain.scene.constant(512);
    chain.scene.launch_mut(chain.launches[1]).block[0] = block;
    assert_refused!(
        chain.scene,
        by_last_block(&chain),
        Refusal::LastBlock { .. }
    );
}

#[test]
fn fewer_threads_behind_must_not_wait_for_each_other() {
    let mut chain = one_block_behind();
    let block = chain.scene.constant(32);
    chain.scene.launch_mut(chain.launches[1]).block[0] = block;
    assert_passes(&chain.scene, &by_last_block(&chain));
    chain.scene.kernels[1].warp_operations = true;
    assert_refused!(
        chain.scene,
        by_last_block(&chain),
        Refusal::LastBlock { .. }
    );
}

#[test]
fn as_many_threads_in_another_shape() {
    let mut chain = one_block_behind();
    let [width, height] = [64, 4].map(|extent| chain.scene.constant(extent));
    chain.scene.kernels[1].distinguishes_threads = [true, true, false];
    let launch = chain.scene.launch_mut(chain.launches[1]);
    (launch.block[0], launch.block[1]) = (width, height);
    chain.scene.kernels[1].warp_operations = true;
    assert_passes(&chain.scene, &by_last_block(&chain));
}

#[test]
fn how_many_threads_are_behind_nobody_tests() {
    let mut chain = one_block_behind();
    let block = chain.scene.unknown();
    chain.scene.launch_mut(chain.launches[1]).block[0] = block;
    let mut plan = by_last_block(&chain);
    assert_refused!(
        chain.scene,
        plan,
        Refusal::LastBlock { .. } | Refusal::PreconditionUnchecked { .. }
    );
    let many = chain.scene.constant(256);
    plan.groups[0].guards.push(same(block, many));
    assert_passes(&chain.scene, &plan);
}

#[test]
fn threads_run_in_step() {
    let mut chain = one_block_behind();
    let height = chain.scene.constant(2);
    for launch in chain.launches {
        chain.scene.launch_mut(launch).block[1] = height;
    }
    for kernel in &mut chain.scene.kernels {
        kernel.distinguishes_threads = [true, false, true];
    }
    is_refused(&chain.scene, &by_last_block(&chain));
}

#[test]
fn nothing_stands_in_front_or_behind() {
    let chain = one_block_behind();
    for last_block in [0, 2, 9] {
        let mut plan = by_last_block(&chain);
        plan.groups[0].last_block = Some(last_block);
        assert_refused!(chain.scene, plan, Refusal::LastBlock { .. });
    }
}

#[test]
fn members_come_in_another_order() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].members.reverse();
    assert_refused!(chain.scene, plan, Refusal::HostOrder { .. });
}

#[test]
fn segments_mix_what_is_in_front_and_behind() {
    let (scene, launches) = three(Scene::pointwise, 1);
    for segments in [
        vec![vec![0], vec![2], vec![1]],
        vec![vec![0], vec![1, 2]],
        vec![vec![2], vec![0], vec![1]],
    ] {
        let mut plan = plan_of_three(&launches, 2, [false, false]);
        plan.groups[0].segments = segments;
        let found = refusals(&scene, &plan);
        assert!(!found.is_empty());
    }
    let mut plan = plan_of_three(&launches, 2, [false, false]);
    plan.groups[0].segments = vec![vec![0], vec![1], vec![2]];
    assert_passes(&scene, &plan);
}

#[test]
fn threads_behind_are_elsewhere() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].members[1].map = ThreadMap::Clipped;
    assert_refused!(chain.scene, plan, Refusal::LastBlock { .. });
}

#[test]
fn no_member_in_front_has_all_blocks() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].members[0].map = ThreadMap::Clipped;
    assert_refused!(chain.scene, plan, Refusal::LastBlock { .. });
}

#[test]
fn a_barrier_stands_where_blocks_arrive() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].members[1].barrier_before = true;
    assert_refused!(chain.scene, plan, Refusal::LastBlock { .. });
}

#[test]
fn all_blocks_wait_for_each_other_too() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].grid_barriers = vec![1];
    assert_refused!(chain.scene, plan, Refusal::LastBlock { .. });
    let mut plan = by_last_block(&chain);
    plan.groups[0].guards.push(Guard::Resident { rounds: 1 });
    assert_refused!(chain.scene, plan, Refusal::LastBlock { .. });
}

#[test]
fn it_begins_before_the_launch_before_it_has_ended() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].overlap = Some(Overlap {
        predecessors: vec![chain.launches[0]],
        untouched: Vec::new(),
    });
    is_refused(&chain.scene, &plan);
}

#[test]
fn blocks_that_cannot_be_counted() {
    let mut chain = one_block_behind();
    let [width, height] = [(); 2].map(|()| chain.scene.unknown());
    let launch = chain.scene.launch_mut(chain.launches[0]);
    (launch.grid[1], launch.grid[2]) = (width, height);
    let mut plan = by_last_block(&chain);
    assert_refused!(chain.scene, plan, Refusal::LastBlock { .. });
    let blocks = Expression::Constant(40)
        .multiply(Expression::Leaf(width))
        .multiply(Expression::Leaf(height));
    plan.groups[0].guards.push(Guard::Holds {
        class: "range".into(),
        condition: Condition::LessEqual(blocks, Expression::Constant(1 << 30)),
    });
    assert_passes(&chain.scene, &plan);
}

#[test]
fn a_grid_that_may_be_empty() {
    let mut chain = one_block_behind();
    let grid = chain.scene.unknown();
    chain.scene.launch_mut(chain.launches[0]).grid[0] = grid;
    let mut plan = by_last_block(&chain);
    plan.groups[0].guards.push(Guard::Holds {
        class: "range".into(),
        condition: Condition::LessEqual(Expression::Leaf(grid), Expression::Constant(1 << 20)),
    });
    assert_passes(&chain.scene, &plan);
    plan.groups[0].guards.remove(0);
    assert_refused!(chain.scene, plan, Refusal::ConfigurationUnchecked { .. });
}

#[test]
fn a_graph_with_it_may_run_twice_at_a_time() {
    let mut chain = one_block_behind();
    let stream = chain.scene.unknown();
    for launch in chain.launches {
        chain.scene.launch_mut(launch).stream = Stream::Handle(stream);
    }
    let mut plan = by_last_block(&chain);
    assert_passes(&chain.scene, &plan);
    chain.scene.graph.capture.replays = true;
    assert_refused!(chain.scene, plan, Refusal::LastBlock { .. });
    let launch = chain.launches[0];
    plan.groups[0].guards.push(Guard::NotCapturing { launch });
    assert_passes(&chain.scene, &plan);
}

#[test]
fn another_launch_feeds_what_is_behind() {
    let chain = chain_with(
        |scene| scene.stencil("f"),
        |scene, [a, b, _]| {
            let size = scene.unknown();
            let shape = scene.known_shape();
            let kernel = scene.pointwise("between");
            scene.launch(
                kernel,
                shape,
                &[Pass::To(a), Pass::To(b), Pass::Integer(size)],
            );
        },
        |scene| scene.stencil("g"),
    );
    let mut chain = chain;
    let one = chain.scene.constant(1);
    chain.scene.launch_mut(chain.launches[1]).grid[0] = one;
    assert_refused!(
        chain.scene,
        by_last_block(&chain),
        Refusal::Reordered { .. }
    );
}

#[test]
fn something_unknown_stands_in_between() {
    let mut chain = chain_with(
        |scene| scene.stencil("f"),
        |scene, _| {
            scene.node(NodeKind::Opaque {
                what: "a call".into(),
            });
        },
        |scene| scene.stencil("g"),
    );
    let one = chain.scene.constant(1);
    chain.scene.launch_mut(chain.launches[1]).grid[0] = one;
    assert_refused!(chain.scene, by_last_block(&chain), Refusal::Fence { .. });
}

#[test]
fn streams_that_nobody_compares() {
    let mut chain = one_block_behind();
    let stream = chain.scene.unknown();
    chain.scene.launch_mut(chain.launches[1]).stream = Stream::Handle(stream);
    assert_refused!(
        chain.scene,
        by_last_block(&chain),
        Refusal::DifferentStream { .. }
    );
}

#[test]
fn a_member_waits_for_a_batch() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.batched_regions.push(BatchedRegion {
        outside_loops: 0,
        drained_before: Vec::new(),
        for_graphs: false,
        statements: vec![BatchedStatement {
            launch: chain.launches[1],
            touches: Vec::new(),
            guards: Vec::new(),
            replaced: Vec::new(),
            must_replace: false,
            persistent: None,
            phase_rounds: None,
        }],
    });
    is_refused(&chain.scene, &plan);
}

#[test]
fn a_member_prints() {
    let mut chain = one_block_behind();
    chain.scene.kernels[1].prints = true;
    is_refused(&chain.scene, &by_last_block(&chain));
}

#[test]
fn what_is_written_is_called_unread() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].unread_afterwards = vec![chain.buffers[1]];
    is_refused(&chain.scene, &plan);
}

/// Two launches in front of one of one block, which may also run as one launch without it.
fn two_in_front() -> (Scene, FusionPlan) {
    let (scene, launches) = three(Scene::pointwise, 1);
    let mut plan = plan_of_three(&launches, 2, [false, false]);
    plan.groups[0].front_guards = Some(launches[..2].iter().copied().map(valid).collect());
    (scene, plan)
}

#[test]
fn passes_those_in_front_without_the_last_block() {
    let (scene, plan) = two_in_front();
    assert_passes(&scene, &plan);
}

#[test]
fn what_those_in_front_need_is_tested_with_the_last_block_alone() {
    let (mut scene, mut plan) = two_in_front();
    let width = scene.unknown();
    let [first, second] = [0, 1].map(|at| plan.groups[0].members[at].launch);
    scene.launch_mut(second).grid[0] = width;
    let one_grid = same(width, scene.launch_mut(first).grid[0]);
    plan.groups[0].guards.push(one_grid.clone());
    assert!(!refusals(&scene, &plan).is_empty());
    plan.groups[0].front_guards.as_mut().unwrap().push(one_grid);
    assert_passes(&scene, &plan);
}

#[test]
fn streams_are_compared_with_the_last_block_alone() {
    let (mut scene, mut plan) = two_in_front();
    let stream = Stream::Handle(scene.unknown());
    let launches: Vec<LaunchId> = plan.groups[0]
        .members
        .iter()
        .map(|member| member.launch)
        .collect();
    scene.launch_mut(launches[2]).stream = stream;
    let compared = Guard::SameStream {
        first: launches[0],
        second: launches[2],
    };
    plan.groups[0].guards.push(compared.clone());
    assert_refused!(scene, plan, Refusal::DifferentStream { .. });
    plan.groups[0].front_guards.as_mut().unwrap().push(compared);
    assert_passes(&scene, &plan);
}

#[test]
fn without_the_last_block_there_is_nothing_in_front_or_more_than_one_behind() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].front_guards = Some(chain.launches.map(valid).to_vec());
    is_refused(&chain.scene, &plan);
    let (scene, launches) = three(Scene::stencil, 2);
    let mut plan = plan_of_three(&launches, 1, [false, true]);
    plan.groups[0].front_guards = Some(launches.iter().copied().map(valid).collect());
    is_refused(&scene, &plan);
    // Of a group that has no last block, too.
    let (scene, mut plan) = two_in_front();
    plan.groups[0].last_block = None;
    is_refused(&scene, &plan);
}

#[test]
fn where_the_host_does_not_come_to_it_those_in_front_are_judged_alone() {
    let (mut scene, mut plan) = two_in_front();
    let launches: Vec<LaunchId> = plan.groups[0]
        .members
        .iter()
        .map(|member| member.launch)
        .collect();
    plan.groups[0].early_guards = plan.groups[0].front_guards.clone();
    assert_passes(&scene, &plan);
    // What keeps the first two in one stream, or their grids equal, is asked of all three only.
    let stream = Stream::Handle(scene.unknown());
    scene.launch_mut(launches[1]).stream = stream;
    let first = launches[0];
    for second in [launches[1], launches[2]] {
        let compared = Guard::SameStream { first, second };
        plan.groups[0].guards.push(compared.clone());
        plan.groups[0].front_guards.as_mut().unwrap().push(compared);
    }
    assert_refused!(scene, plan, Refusal::DifferentStream { .. });
    let compared = Guard::SameStream {
        first,
        second: launches[1],
    };
    plan.groups[0].early_guards.as_mut().unwrap().push(compared);
    assert_passes(&scene, &plan);
    let width = scene.unknown();
    scene.launch_mut(launches[1]).grid[0] = width;
    let one_grid = same(width, scene.launch_mut(first).grid[0]);
    plan.groups[0].guards.push(one_grid.clone());
    plan.groups[0]
        .front_guards
        .as_mut()
        .unwrap()
        .push(one_grid.clone());
    assert!(!refusals(&scene, &plan).is_empty());
    plan.groups[0].early_guards.as_mut().unwrap().push(one_grid);
    assert_passes(&scene, &plan);
}

#[test]
fn those_in_front_run_early_of_a_group_that_has_none() {
    let chain = one_block_behind();
    let mut plan = by_last_block(&chain);
    plan.groups[0].early_guards = Some(chain.launches.map(valid).to_vec());
    is_refused(&chain.scene, &plan);
    let (scene, mut plan) = two_in_front();
    plan.groups[0].early_guards = plan.groups[0].front_guards.take();
    plan.groups[0].last_block = None;
    is_refused(&scene, &plan);
}
