//! Cooperative launches with grid-wide barriers: wrong plans.

use super::*;
use sirius_rs::launch::{Course, Place, Root};
use sirius_rs::schedule::{BatchedRegion, BatchedStatement, PersistentLoop, ThreadMap};

/// `b = f(a); c = g(b)` where each element needs the one before it, of another block perhaps.
fn neighbours() -> Chain {
    chain_of(|scene| scene.stencil("f"), |scene| scene.stencil("g"))
}

/// The plan of a chain with a grid-wide barrier between its launches.
fn with_barrier(chain: &Chain) -> FusionPlan {
    let mut plan = chain.plan();
    let group = &mut plan.groups[0];
    group.grid_barriers = vec![1];
    group.guards = chain.launches.map(valid).to_vec();
    group.guards.push(Guard::Resident { rounds: 4 });
    plan
}

pub(super) fn plan_of_three(launches: &[LaunchId], grid_barriers: &[usize]) -> FusionPlan {
    let members: Vec<_> = launches.iter().map(|launch| (*launch, false)).collect();
    let guards = launches.iter().copied().map(valid);
    let guards = guards.chain([Guard::Resident { rounds: 1 }]).collect();
    let mut plan = plan(&members, guards);
    plan.groups[0].grid_barriers = grid_barriers.to_vec();
    plan
}

#[test]
fn passes_what_crosses_blocks_behind_a_barrier() {
    let chain = neighbours();
    assert_passes(&chain.scene, &with_barrier(&chain));
}

#[test]
fn passes_phases_of_several_launches() {
    let (scene, launches) = three(Scene::pointwise, 0);
    // The second reads what its own thread wrote.
    assert_passes(&scene, &plan_of_three(&launches, &[2]));
    assert_passes(&scene, &plan_of_three(&launches, &[1, 2]));
}

#[test]
fn a_barrier_is_missing() {
    let chain = neighbours();
    let mut plan = with_barrier(&chain);
    plan.groups[0].grid_barriers.clear();
    plan.groups[0].guards.pop();
    assert_refused!(chain.scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn one_barrier_of_two_is_missing() {
    let (scene, launches) = three(Scene::stencil, 0);
    assert_passes(&scene, &plan_of_three(&launches, &[1, 2]));
    assert_refused!(
        scene,
        plan_of_three(&launches, &[1]),
        Refusal::CrossesBlocks { .. }
    );
    assert_refused!(
        scene,
        plan_of_three(&launches, &[2]),
        Refusal::CrossesBlocks { .. }
    );
}

#[test]
fn a_barrier_stands_elsewhere() {
    let (scene, launches) = three(Scene::pointwise, 0);
    // In front of the second, where only the third needs one.
    assert_refused!(
        scene,
        plan_of_three(&launches, &[1]),
        Refusal::CrossesBlocks { .. }
    );
}

#[test]
fn a_barrier_of_the_block_orders_no_others() {
    let chain = neighbours();
    let mut plan = with_barrier(&chain);
    plan.groups[0].grid_barriers.clear();
    plan.groups[0].guards.pop();
    plan.groups[0].members[1].barrier_before = true;
    assert_refused!(chain.scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn nobody_asks_how_many_blocks_fit() {
    let chain = neighbours();
    let mut plan = with_barrier(&chain);
    plan.groups[0].guards.pop();
    assert_refused!(chain.scene, plan, Refusal::GridBarrier { .. });
}

#[test]
fn no_blocks_fit() {
    let chain = neighbours();
    let mut plan = with_barrier(&chain);
    plan.groups[0].guards.pop();
    plan.groups[0].guards.push(Guard::Resident { rounds: 0 });
    assert_refused!(chain.scene, plan, Refusal::GridBarrier { .. });
}

#[test]
fn two_numbers_of_blocks_fit() {
    let chain = neighbours();
    let mut plan = with_barrier(&chain);
    plan.groups[0].guards.push(Guard::Resident { rounds: 3 });
    assert_refused!(chain.scene, plan, Refusal::GridBarrier { .. });
}

#[test]
fn an_ordinary_group_asks_how_many_blocks_fit() {
    // Then it is cooperative, with threads that stay where they are.
    let chain = chain_of(scale, shift);
    let mut plan = chain.plan();
    plan.groups[0].guards.push(Guard::Resident { rounds: 1 });
    assert_passes(&chain.scene, &plan);
    plan.groups[0].members[1].map = ThreadMap::Clipped;
    assert_refused!(chain.scene, plan, Refusal::GridBarrier { .. });
}

#[test]
fn barriers_stand_in_front_of_no_member() {
    let chain = neighbours();
    for barriers in [vec![0], vec![2], vec![1, 1], vec![0, 1], vec![1, 9]] {
        let mut plan = with_barrier(&chain);
        plan.groups[0].grid_barriers = barriers;
        assert_refused!(chain.scene, plan, Refusal::GridBarrier { .. });
    }
}

#[test]
fn members_come_in_another_order() {
    let chain = neighbours();
    let mut plan = with_barrier(&chain);
    plan.groups[0].members.reverse();
    assert_refused!(chain.scene, plan, Refusal::HostOrder { .. });
}

#[test]
fn segments_put_members_in_another_phase() {
    let (scene, launches) = three(Scene::pointwise, 0);
    let mut plan = plan_of_three(&launches, &[2]);
    plan.groups[0].segments = vec![vec![0], vec![2], vec![1]];
    assert_refused!(scene, plan, Refusal::GridBarrier { .. });
}

#[test]
fn threads_of_a_member_are_elsewhere() {
    let chain = neighbours();
    let mut plan = with_barrier(&chain);
    plan.groups[0].members[1].map = ThreadMap::Clipped;
    assert_refused!(chain.scene, plan, Refusal::GridBarrier { .. });
}

#[test]
fn blocks_of_phases_have_other_shapes() {
    let mut chain = neighbours();
    let block = chain.scene.constant(128);
    chain.scene.launch_mut(chain.launches[1]).block[0] = block;
    assert_passes(&chain.scene, &with_barrier(&chain));
    // Which is larger is not known.
    let unknown = chain.scene.unknown();
    chain.scene.launch_mut(chain.launches[1]).block[0] = unknown;
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::DifferentShape { .. }
    );
}

#[test]
fn threads_of_smaller_blocks_wait_for_each_other() {
    let mut chain = chain_of(|scene| scene.stencil("f"), |scene| scene.block_sum("g"));
    assert_passes(&chain.scene, &with_barrier(&chain));
    let block = chain.scene.constant(128);
    chain.scene.launch_mut(chain.launches[1]).block[0] = block;
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::DifferentShape { .. }
    );
    // As many threads in another shape have no others beside them.
    let two = chain.scene.constant(2);
    chain.scene.launch_mut(chain.launches[1]).block[1] = two;
    assert_passes(&chain.scene, &with_barrier(&chain));
}

#[test]
fn warps_of_smaller_blocks_may_have_others_in_them() {
    let mut chain = neighbours();
    let block = chain.scene.constant(48);
    chain.scene.launch_mut(chain.launches[1]).block[0] = block;
    assert_passes(&chain.scene, &with_barrier(&chain));
    let kernel = chain.scene.launch_mut(chain.launches[1]).kernel.unwrap();
    chain.scene.kernels[kernel.0].warp_operations = true;
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::DifferentShape { .. }
    );
}

#[test]
fn threads_that_are_not_told_apart_have_other_places() {
    let mut chain = neighbours();
    let [wide, two] = [128, 2].map(|extent| chain.scene.constant(extent));
    let launch = chain.scene.launch_mut(chain.launches[1]);
    launch.block[0] = wide;
    launch.block[1] = two;
    let kernel = launch.kernel.unwrap();
    assert_passes(&chain.scene, &with_barrier(&chain));
    chain.scene.kernels[kernel.0].distinguishes_threads[1] = false;
    assert_refused!(chain.scene, with_barrier(&chain), Refusal::NotInStep { .. });
}

#[test]
fn grids_of_phases_may_differ_and_those_of_one_may_not() {
    let mut chain = neighbours();
    let grid = chain.scene.constant(20);
    chain.scene.launch_mut(chain.launches[1]).grid[0] = grid;
    assert_passes(&chain.scene, &with_barrier(&chain));

    let (mut scene, launches) = three(Scene::pointwise, 0);
    let grid = scene.constant(20);
    scene.launch_mut(launches[1]).grid[0] = grid;
    assert_passes(&scene, &plan_of_three(&launches, &[1, 2]));
    assert_refused!(
        scene,
        plan_of_three(&launches, &[2]),
        Refusal::DifferentShape { .. }
    );
}

#[test]
fn shapes_that_nobody_compares() {
    let mut chain = neighbours();
    let block = chain.scene.unknown();
    chain.scene.launch_mut(chain.launches[1]).block[0] = block;
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::DifferentShape { .. } | Refusal::PreconditionUnchecked { .. }
    );
}

#[test]
fn blocks_that_cannot_be_counted() {
    let mut chain = neighbours();
    let [width, height] = [(); 2].map(|()| chain.scene.unknown());
    let launch = chain.scene.launch_mut(chain.launches[0]);
    (launch.grid[1], launch.grid[2]) = (width, height);
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::BlockRange { .. }
    );
    let mut plan = with_barrier(&chain);
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
fn a_configuration_that_nobody_tests() {
    let mut chain = neighbours();
    let depth = chain.scene.unknown();
    chain.scene.launch_mut(chain.launches[1]).shared_bytes = depth;
    let mut plan = with_barrier(&chain);
    plan.groups[0].guards.remove(1);
    assert_refused!(chain.scene, plan, Refusal::ConfigurationUnchecked { .. });
}

#[test]
fn the_host_looks_in_between() {
    let chain = chain_with(
        |scene| scene.stencil("f"),
        |scene, [_, b, _]| {
            scene.copy(&[b], &[]);
        },
        |scene| scene.stencil("g"),
    );
    // The first would write what was copied before.
    let chain = Chain {
        scene: {
            let mut scene = chain.scene;
            let nodes = scene.graph.nodes.iter_mut();
            for node in nodes {
                if let NodeKind::Copy { reads, writes, .. } = &mut node.kind {
                    std::mem::swap(reads, writes);
                }
            }
            scene
        },
        ..chain
    };
    assert_refused!(chain.scene, with_barrier(&chain), Refusal::Reordered { .. });
}

#[test]
fn something_unknown_stands_in_between() {
    let chain = chain_with(
        |scene| scene.stencil("f"),
        |scene, _| {
            scene.node(NodeKind::Opaque {
                what: "a call".into(),
            });
        },
        |scene| scene.stencil("g"),
    );
    assert_refused!(chain.scene, with_barrier(&chain), Refusal::Fence { .. });
}

#[test]
fn streams_that_nobody_compares() {
    let mut chain = neighbours();
    let stream = chain.scene.unknown();
    chain.scene.launch_mut(chain.launches[1]).stream = Stream::Handle(stream);
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::DifferentStream { .. }
    );
}

#[test]
fn a_member_waits_for_a_batch() {
    let chain = neighbours();
    let mut plan = with_barrier(&chain);
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
    let found = refusals(&chain.scene, &plan);
    let is_barrier = |refusal: &Refusal| matches!(refusal, Refusal::GridBarrier { .. });
    assert!(found.iter().any(is_barrier), "{found:#?}");
}

#[test]
fn a_member_prints() {
    let mut chain = neighbours();
    chain.scene.kernels[1].prints = true;
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::GridBarrier { .. }
    );
}

#[test]
fn what_is_written_is_called_unread() {
    let chain = neighbours();
    let mut plan = with_barrier(&chain);
    plan.groups[0].unread_afterwards = vec![chain.buffers[1]];
    let found = refusals(&chain.scene, &plan);
    let is_barrier = |refusal: &Refusal| matches!(refusal, Refusal::GridBarrier { .. });
    assert!(found.iter().any(is_barrier), "{found:#?}");
}

#[test]
fn a_barrier_that_part_of_a_block_reaches() {
    let mut chain = neighbours();
    chain.scene.kernels[1].barriers = vec![Barrier {
        uniform: false,
        uniform_while_unwritten: Vec::new(),
        reached_if: Vec::new(),
        loops: Vec::new(),
        place: 0,
        location: Location::default(),
    }];
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::DivergentBarrier { .. }
    );
}

#[test]
fn threads_in_step_in_one_phase_only() {
    let mut chain = neighbours();
    let depth = chain.scene.constant(2);
    for launch in chain.launches {
        let launch = chain.scene.launch_mut(launch);
        launch.block[1] = depth;
    }
    chain.scene.kernels[1].distinguishes_threads[1] = false;
    let found = refusals(&chain.scene, &with_barrier(&chain));
    let in_step = |refusal: &Refusal| matches!(refusal, Refusal::NotInStep { axis: 'y', .. });
    assert!(found.iter().any(in_step), "{found:#?}");
}

#[test]
fn shared_memory_of_one_phase_is_the_next_ones() {
    let mut chain = neighbours();
    for kernel in &mut chain.scene.kernels {
        kernel.static_shared_bytes = 40 << 10;
    }
    assert_passes(&chain.scene, &with_barrier(&chain));
    chain.scene.kernels[1].static_shared_bytes = 50 << 10;
    let mut plan = with_barrier(&chain);
    plan.groups[0].guards.push(valid(chain.launches[1]));
    assert_refused!(chain.scene, plan, Refusal::SharedMemory { .. });
}

#[test]
fn arguments_of_all_phases_are_too_many() {
    let mut chain = neighbours();
    for kernel in &mut chain.scene.kernels {
        kernel.formals[2].size_bytes = 20_000;
    }
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::ParameterSpace { .. }
    );
}

#[test]
fn a_cooperative_launch_is_no_phase() {
    let mut chain = neighbours();
    chain.scene.launch_mut(chain.launches[0]).special = true;
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::SpecialLaunch { .. }
    );
}

#[test]
fn a_kernel_that_waits_for_others_is_no_phase() {
    let mut chain = neighbours();
    chain.scene.kernels[1].opaque = vec![("spins".into(), Location::default())];
    assert_refused!(
        chain.scene,
        with_barrier(&chain),
        Refusal::OpaqueKernel { .. }
    );
}

/// `for (…) { b = f(a); a = g(b); }` in a loop that is a block, each with elements of other blocks.
fn sweeps() -> (Scene, Vec<LaunchId>, ValueId) {
    let mut scene = Scene::new();
    let [a, b] = ["a", "b"].map(|name| scene.buffer(name));
    let size = scene.unknown();
    let shape = scene.known_shape();
    let kernels = ["f", "g"].map(|name| scene.stencil(name));
    let [a, b] = [a, b].map(Pass::To);
    let n = Pass::Integer(size);
    let launches = vec![
        scene.launch(kernels[0], shape, &[a.clone(), b.clone(), n.clone()]),
        scene.launch(kernels[1], shape, &[b, a, n]),
    ];
    let body = scene.block;
    scene.edge(body, body);
    scene.make_loop(body);
    (scene, launches, size)
}

pub(super) fn plan_of_sweeps(launches: &[LaunchId]) -> FusionPlan {
    let members: Vec<_> = launches.iter().map(|launch| (*launch, false)).collect();
    let guards = launches.iter().copied().map(valid);
    let guards = guards.chain([Guard::Resident { rounds: 1 }]).collect();
    let mut plan = plan(&members, guards);
    plan.groups[0].grid_barriers = (1..launches.len()).collect();
    plan.batched_regions.push(BatchedRegion {
        outside_loops: 0,
        drained_before: Vec::new(),
        for_graphs: false,
        statements: vec![BatchedStatement {
            launch: *launches.last().unwrap(),
            touches: Vec::new(),
            guards: Vec::new(),
            replaced: Vec::new(),
            must_replace: false,
            persistent: Some(PersistentLoop {
                barrier: true,
                grid_barrier: true,
                ..PersistentLoop::default()
            }),
            phase_rounds: None,
        }],
    });
    plan
}

pub(super) fn persistent(plan: &mut FusionPlan) -> &mut PersistentLoop {
    let statement = &mut plan.batched_regions[0].statements[0];
    statement.persistent.as_mut().unwrap()
}

#[test]
fn passes_iterations_behind_a_barrier() {
    let (scene, launches, _) = sweeps();
    assert_passes(&scene, &plan_of_sweeps(&launches));
}

#[test]
fn iterations_wait_for_their_block_alone() {
    let (scene, launches, _) = sweeps();
    let mut plan = plan_of_sweeps(&launches);
    persistent(&mut plan).grid_barrier = false;
    let found = refusals(&scene, &plan);
    let named = |refusal: &Refusal| {
        matches!(
            refusal,
            Refusal::GridBarrier { .. } | Refusal::NotPersistent { .. }
        )
    };
    assert!(!found.is_empty() && found.iter().all(named), "{found:#?}");
}

#[test]
fn iterations_of_an_ordinary_group_wait_for_all_blocks() {
    let (mut scene, launches, _) = sweeps();
    for kernel in 0..2 {
        let accesses = [(AccessKind::Read, 0), (AccessKind::Write, 1)];
        for (access_of, (kind, argument)) in scene.kernels[kernel].accesses.iter_mut().zip(accesses)
        {
            let id = access_of.id;
            *access_of = access(kind, argument, own_element(0));
            access_of.id = id;
        }
    }
    let mut plan = plan_of_sweeps(&launches);
    plan.groups[0].grid_barriers.clear();
    plan.groups[0].guards.pop();
    assert_refused!(scene, plan, Refusal::NotPersistent { .. });
    persistent(&mut plan).grid_barrier = false;
    assert_passes(&scene, &plan);
}

#[test]
fn an_iteration_has_no_barrier_inside() {
    let (scene, launches, _) = sweeps();
    let mut plan = plan_of_sweeps(&launches);
    plan.groups[0].grid_barriers.clear();
    assert_refused!(scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn nobody_asks_how_many_blocks_of_the_iterations_fit() {
    let (scene, launches, _) = sweeps();
    let mut plan = plan_of_sweeps(&launches);
    plan.groups[0].guards.pop();
    assert_refused!(scene, plan, Refusal::GridBarrier { .. });
}

#[test]
fn the_extent_of_a_grid_varies() {
    let (mut scene, launches, size) = sweeps();
    scene.graph.values[size.0].varies_in = Some(0);
    let mut plan = plan_of_sweeps(&launches);
    persistent(&mut plan).varying = launches.iter().map(|launch| (*launch, 2)).collect();
    assert_passes(&scene, &plan);
    scene.launch_mut(launches[1]).grid[1] = size;
    let found = refusals(&scene, &plan);
    let named = |refusal: &Refusal| {
        matches!(
            refusal,
            Refusal::NotPersistent { .. } | Refusal::BlockRange { .. }
        )
    };
    assert!(!found.is_empty() && found.iter().all(named), "{found:#?}");
}

#[test]
fn pointers_that_change_places_are_one_launch() {
    let mut scene = Scene::new();
    let buffers = ["a", "b"].map(|name| scene.buffer(name));
    let [from, to, size] = [(); 3].map(|()| scene.unknown());
    let shape = scene.known_shape();
    let kernel = scene.stencil("f");
    let arguments = [
        Pass::Anything(from),
        Pass::Anything(to),
        Pass::Integer(size),
    ];
    let launch = scene.launch(kernel, shape, &arguments);
    let body = scene.block;
    scene.edge(body, body);
    scene.make_loop(body);
    let place = |buffer: BufferId| Place {
        root: Root::Buffer(buffer),
        offset_bytes: Expression::Constant(0),
    };
    let [a, b] = buffers.map(place);
    for (value, places) in [(from, [a.clone(), b.clone()]), (to, [b, a])] {
        scene.graph.values[value.0].varies_in = Some(0);
        let course = Course {
            turns_in: Some(0),
            places: places.to_vec(),
        };
        scene.graph.iterations.courses.insert(value, course);
    }
    let mut plan = plan_of_sweeps(&[launch]);
    persistent(&mut plan).turning = vec![[(launch, 0), (launch, 1)], [(launch, 1), (launch, 0)]];
    assert_passes(&scene, &plan);
    // Without the barrier an iteration reads what other blocks of the one before have yet to write.
    plan.groups[0].guards.pop();
    persistent(&mut plan).grid_barrier = false;
    let found = refusals(&scene, &plan);
    let crosses = |refusal: &Refusal| matches!(refusal, Refusal::CrossesBlocks { .. });
    assert!(found.iter().any(crosses), "{found:#?}");
}

/// Which loads find what their own thread stored, in `b = f(a); c = g(b); d = h(c)` and then `e = last(b)`, with a barrier in front of
/// each, by member and argument.
fn own_reads_of(
    last: fn(&mut Scene, &str) -> KernelId,
    change: impl Fn(&mut Scene, LaunchId),
) -> Vec<(usize, usize)> {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d", "e"].map(|name| scene.buffer(name));
    let size = scene.unknown();
    let shape = scene.known_shape();
    let kernels = [
        scene.pointwise("f"),
        scene.stencil("g"),
        scene.stencil("h"),
        last(&mut scene, "last"),
    ];
    let places = [[0, 1], [1, 2], [2, 3], [1, 4]];
    let launches = kernels.into_iter().zip(places);
    let launches = launches.map(|(kernel, places)| {
        let [from, to] = places.map(|at: usize| Pass::To(buffers[at]));
        scene.launch(kernel, shape, &[from, to, Pass::Integer(size)])
    });
    let launches: Vec<LaunchId> = launches.collect();
    change(&mut scene, launches[3]);
    let plan = plan_of_three(&launches, &[1, 2, 3]);
    let verified = verify(&scene.graph, &scene.kernels, plan).expect("the plan is right");
    let own = verified.own_reads().get(&0);
    let own = own.into_iter().flat_map(|own| &own.within);
    own.copied().collect()
}

#[test]
fn says_which_loads_read_what_their_thread_stored() {
    let nothing = |_: &mut Scene, _: LaunchId| ();
    assert_eq!(own_reads_of(Scene::pointwise, nothing), [(3, 0)]);
    // Neighbours wrote it.
    assert_eq!(own_reads_of(Scene::stencil, nothing), []);
    // Threads of one block are those of the first block alone, if grids differ.
    let in_one_block = |scene: &mut Scene, launch: LaunchId| {
        let one = scene.constant(1);
        scene.launch_mut(launch).grid[0] = one;
    };
    assert_eq!(own_reads_of(Scene::pointwise, in_one_block), []);
    // Another launch reads through a pointer that may lead anywhere: what it writes does not, what it reads may.
    let somewhere = |scene: &mut Scene, launch: LaunchId| {
        let value = scene.unknown();
        scene.launch_mut(launch).arguments[0].pieces[0].pointer = Some(anywhere(value));
    };
    assert_eq!(own_reads_of(Scene::pointwise, somewhere), []);
}

/// Which loads find what their own thread had in an iteration before, in `for (…) { a = f(a); b = g(a); }`, by member and argument.
fn kept_reads_of(
    kernels: [fn(&mut Scene, &str) -> KernelId; 2],
    change: impl Fn(&mut Scene, [LaunchId; 2], &mut FusionPlan),
) -> Vec<(usize, usize)> {
    let mut scene = Scene::new();
    let buffers = ["a", "b"].map(|name| scene.buffer(name));
    let size = scene.unknown();
    let shape = scene.known_shape();
    let [a, b] = buffers.map(Pass::To);
    let [f, g] = kernels.map(|kernel| kernel(&mut scene, "kernel"));
    let n = Pass::Integer(size);
    let launches = [
        scene.launch(f, shape, &[a.clone(), a.clone(), n.clone()]),
        scene.launch(g, shape, &[a, b, n]),
    ];
    let body = scene.block;
    scene.edge(body, body);
    scene.make_loop(body);
    let mut plan = plan_of_sweeps(&launches);
    change(&mut scene, launches, &mut plan);
    let verified = verify(&scene.graph, &scene.kernels, plan).expect("the plan is right");
    let own = verified.own_reads().get(&0);
    let own = own.into_iter().flat_map(|own| &own.across);
    own.copied().collect()
}

#[test]
fn says_which_loads_read_what_their_thread_had_in_an_iteration_before() {
    let nothing = |_: &mut Scene, _: [LaunchId; 2], _: &mut FusionPlan| ();
    let own: fn(&mut Scene, &str) -> KernelId = Scene::pointwise;
    assert_eq!(kept_reads_of([own, own], nothing), [(0, 0), (1, 0)]);
    // Neighbours wrote it, in this iteration or the one before.
    assert_eq!(kept_reads_of([own, Scene::stencil], nothing), [(0, 0)]);
    // What the one launch reads another block of the other writes, an iteration before.
    let into_first = |scene: &mut Scene, launches: [LaunchId; 2], _: &mut FusionPlan| {
        let first = scene.launch_mut(launches[0]).arguments[0].clone();
        scene.launch_mut(launches[1]).arguments[1] = first;
        let one = scene.constant(1);
        scene.launch_mut(launches[1]).grid[0] = one;
    };
    assert_eq!(kept_reads_of([own, own], into_first), []);
    // Launches of which the queue knows nothing follow each other in no kernel.
    let apart = |_: &mut Scene, _: [LaunchId; 2], plan: &mut FusionPlan| {
        plan.batched_regions.clear();
    };
    assert_eq!(kept_reads_of([own, own], apart), []);
    // Somebody else may look at it, or change it, while the launch runs.
    let volatile = |scene: &mut Scene, _: [LaunchId; 2], _: &mut FusionPlan| {
        let accesses = scene.kernels[0].accesses.iter_mut();
        for access in accesses.filter(|access| access.kind == AccessKind::Read) {
            access.volatile = true;
        }
    };
    assert_eq!(kept_reads_of([own, own], volatile), [(1, 0)]);
}
