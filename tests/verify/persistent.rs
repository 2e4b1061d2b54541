//! Host loops that run inside kernels: wrong plans.

use super::*;
use sirius_rs::launch::{Course, LoopDomain, Place, Root};
use sirius_rs::schedule::{BatchedRegion, BatchedStatement, PersistentLoop, ThreadMap};

/// `for (…) a = f(a)`, or `for (…) { b = f(a); a = g(b); }`, in a loop that is a block.
struct Steps {
    scene: Scene,
    buffers: [BufferId; 2],
    size: ValueId,
    shape: Shape,
    launches: Vec<LaunchId>,
}

fn steps(kernels: &[fn(&mut Scene) -> KernelId]) -> Steps {
    let mut scene = Scene::new();
    let buffers = ["a", "b"].map(|name| scene.buffer(name));
    let size = scene.unknown();
    let shape = scene.known_shape();
    let [a, b] = buffers.map(Pass::To);
    let n = Pass::Integer(size);
    let kernels: Vec<KernelId> = kernels.iter().map(|kernel| kernel(&mut scene)).collect();
    let launches = match kernels[..] {
        [one] => vec![scene.launch(one, shape, &[a.clone(), a, n])],
        [one, two] => vec![
            scene.launch(one, shape, &[a.clone(), b.clone(), n.clone()]),
            scene.launch(two, shape, &[b, a, n]),
        ],
        _ => Vec::new(),
    };
    let body = scene.block;
    scene.edge(body, body);
    scene.make_loop(body);
    Steps {
        scene,
        buffers,
        size,
        shape,
        launches,
    }
}

impl Steps {
    fn plan(&self, barrier: bool) -> FusionPlan {
        let members: Vec<_> = self
            .launches
            .iter()
            .map(|launch| (*launch, barrier))
            .collect();
        let mut groups = plan(&members, self.launches.iter().copied().map(valid).collect());
        groups.groups[0].members[0].barrier_before = false;
        FusionPlan {
            batched_regions: vec![BatchedRegion {
                statements: vec![BatchedStatement {
                    launch: *self.launches.last().unwrap(),
                    touches: Vec::new(),
                    guards: Vec::new(),
                    replaced: Vec::new(),
                    must_replace: false,
                    persistent: Some(PersistentLoop {
                        barrier,
                        grid_barrier: false,
                        varying: Vec::new(),
                        turning: Vec::new(),
                    }),
                    phase_rounds: None,
                }],
                outside_loops: 0,
                drained_before: Vec::new(),
                for_graphs: false,
            }],
            ..groups
        }
    }
}

/// `for (…) to = f(from)`, where nothing is known of the two pointers; their values.
fn anything(kernel: fn(&mut Scene) -> KernelId) -> (Steps, [ValueId; 2]) {
    let mut scene = Scene::new();
    let buffers = ["a", "b"].map(|name| scene.buffer(name));
    let [from, to, size] = [(); 3].map(|()| scene.unknown());
    let shape = scene.known_shape();
    let kernel = kernel(&mut scene);
    let arguments = [
        Pass::Anything(from),
        Pass::Anything(to),
        Pass::Integer(size),
    ];
    let launch = scene.launch(kernel, shape, &arguments);
    let body = scene.block;
    scene.edge(body, body);
    scene.make_loop(body);
    scene.graph.blocks[body.0].innermost_loop = Some(0);
    let steps = Steps {
        scene,
        buffers,
        size,
        shape,
        launches: vec![launch],
    };
    (steps, [from, to])
}

fn persistent(plan: &mut FusionPlan) -> &mut PersistentLoop {
    let statement = &mut plan.batched_regions[0].statements[0];
    statement.persistent.as_mut().unwrap()
}

fn stencil(scene: &mut Scene) -> KernelId {
    scene.stencil("stencil")
}

fn block_sum(scene: &mut Scene) -> KernelId {
    scene.block_sum("sum")
}

fn spread(scene: &mut Scene) -> KernelId {
    scene.spread("spread")
}

#[test]
fn passes_steps_of_a_thread() {
    for kernels in [&[scale as fn(&mut Scene) -> _][..], &[scale, shift]] {
        let steps = steps(kernels);
        assert_passes(&steps.scene, &steps.plan(false));
        assert_passes(&steps.scene, &steps.plan(true));
    }
}

#[test]
fn refuses_a_neighbours_value() {
    // In one iteration, too, nobody knows which comes first; what matters is that of the next.
    let steps = steps(&[stencil]);
    for barrier in [false, true] {
        assert_refused!(
            steps.scene,
            steps.plan(barrier),
            Refusal::CrossesBlocks { .. }
        );
    }
}

#[test]
fn refuses_steps_of_a_block_without_a_barrier() {
    let mut steps = steps(&[block_sum, spread]);
    steps.scene.kernels[0].static_shared_bytes = 0;
    assert_passes(&steps.scene, &steps.plan(true));
    let mut plan = steps.plan(true);
    persistent(&mut plan).barrier = false;
    assert_refused!(steps.scene, plan, Refusal::MissingBarrier { .. });
}

#[test]
fn refuses_shared_memory_without_a_barrier() {
    let mut steps = steps(&[scale]);
    steps.scene.kernels[0].static_shared_bytes = 64;
    assert_refused!(
        steps.scene,
        steps.plan(false),
        Refusal::NotPersistent { .. }
    );
    assert_passes(&steps.scene, &steps.plan(true));
    let mut dynamic = self::steps(&[scale]);
    dynamic.scene.kernels[0].dynamic_shared = true;
    assert_refused!(
        dynamic.scene,
        dynamic.plan(false),
        Refusal::SharedMemoryReused { .. }
    );
    assert_passes(&dynamic.scene, &dynamic.plan(true));
}

#[test]
fn refuses_warp_operations_that_start_apart() {
    let mut steps = steps(&[scale]);
    steps.scene.kernels[0].warp_operations = true;
    let apart = refusals(&steps.scene, &steps.plan(false));
    let diverged = |refusal: &Refusal| matches!(refusal, Refusal::WarpOperationsDiverged { .. });
    assert!(apart.iter().all(diverged), "{apart:#?}");
    assert!(!apart.is_empty());
    assert_passes(&steps.scene, &steps.plan(true));
}

#[test]
fn refuses_barriers_that_some_threads_do_not_reach() {
    let mut steps = steps(&[scale]);
    steps.scene.kernels[0].barriers.push(Barrier {
        uniform: false,
        uniform_while_unwritten: Vec::new(),
        reached_if: Vec::new(),
        loops: Vec::new(),
        place: 0,
        location: Location::default(),
    });
    assert_refused!(
        steps.scene,
        steps.plan(true),
        Refusal::DivergentBarrier { .. }
    );
}

#[test]
fn refuses_what_a_launch_leaves_behind() {
    let mut steps = steps(&[scale]);
    steps.scene.kernels[0].asynchronous_copies = true;
    assert_refused!(steps.scene, steps.plan(true), Refusal::NotPersistent { .. });
    let mut printing = self::steps(&[scale]);
    printing.scene.kernels[0].prints = true;
    let found = refusals(&printing.scene, &printing.plan(true));
    assert!(!found.is_empty());
}

#[test]
fn refuses_pointers_that_vary() {
    let steps = steps(&[scale]);
    for argument in [0, 1] {
        let mut plan = steps.plan(false);
        persistent(&mut plan)
            .varying
            .push((steps.launches[0], argument));
        assert_refused!(steps.scene, plan, Refusal::NotPersistent { .. });
    }
    // Nor what does not exist.
    for other in [(steps.launches[0], 7), (LaunchId(99), 0)] {
        let mut plan = steps.plan(false);
        persistent(&mut plan).varying.push(other);
        assert_refused!(steps.scene, plan, Refusal::NotPersistent { .. });
    }
}

#[test]
fn numbers_may_vary_that_move_no_thread() {
    let steps = steps(&[scale]);
    let mut plan = steps.plan(false);
    persistent(&mut plan).varying.push((steps.launches[0], 2));
    assert_passes(&steps.scene, &plan);
}

#[test]
fn refuses_subscripts_that_vary() {
    // `a[i + n]`: the next step of another thread may be at the same place.
    let mut steps = steps(&[scale]);
    let kernel = &mut steps.scene.kernels[0];
    let moved = Affine::variable(Variable::Parameter(kernel.parameters.len()));
    kernel
        .parameters
        .push(Expression::Leaf(KernelSymbol::Argument {
            argument: 2,
            offset_bytes: 0,
            bits: 32,
            signed: true,
        }));
    for access in &mut kernel.accesses {
        let subscript = access.subscript.as_ref().unwrap();
        access.subscript = subscript.add(&moved.scale(4).unwrap());
    }
    assert_passes(&steps.scene, &steps.plan(false));
    let mut plan = steps.plan(false);
    persistent(&mut plan).varying.push((steps.launches[0], 2));
    assert_refused!(steps.scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn what_each_step_relies_on_is_asked_of_each() {
    // `a[i + 10240 n]`, one row for each n, while `n <= 1000`: the steps' rows are others, and threads stay in their columns.
    let mut steps = steps(&[scale]);
    let size = steps.size;
    let number = KernelSymbol::Argument {
        argument: 2,
        offset_bytes: 0,
        bits: 32,
        signed: true,
    };
    let kernel = &mut steps.scene.kernels[0];
    let row = Affine::variable(Variable::Parameter(kernel.parameters.len()));
    kernel.parameters.push(Expression::Leaf(number.clone()));
    for access in &mut kernel.accesses {
        let subscript = access.subscript.as_ref().unwrap();
        access.subscript = subscript.add(&row.scale(4 * 10_240).unwrap());
    }
    let most = 1000;
    kernel.preconditions.push(Condition::LessEqual(
        Expression::Leaf(number),
        Expression::Constant(most),
    ));
    let mut plan = steps.plan(false);
    persistent(&mut plan).varying.push((steps.launches[0], 2));
    assert!(!refusals(&steps.scene, &plan).is_empty());
    let holds = |most| Guard::Holds {
        class: String::from("wrap"),
        condition: Condition::LessEqual(Expression::Leaf(size), Expression::Constant(most)),
    };
    plan.groups[0].guards.push(holds(most + 1));
    assert!(!refusals(&steps.scene, &plan).is_empty());
    plan.groups[0].guards.push(holds(most));
    assert_passes(&steps.scene, &plan);
}

#[test]
fn counters_stay_below_their_bounds() {
    // `a[768 blockIdx.x + 256 n + threadIdx.x]` in iteration `n`: three iterations fill what belongs to a block, and a fourth
    // comes to the next block's.
    let mut steps = steps(&[scale]);
    let number = KernelSymbol::Argument {
        argument: 2,
        offset_bytes: 0,
        bits: 32,
        signed: true,
    };
    let kernel = &mut steps.scene.kernels[0];
    let row = Affine::variable(Variable::Parameter(kernel.parameters.len()));
    kernel.parameters.push(Expression::Leaf(number));
    let [block, thread] =
        [Variable::Block(Axis::X), Variable::Thread(Axis::X)].map(Affine::variable);
    let places = [block.scale(768), row.scale(256)].map(Option::unwrap);
    let place = thread.add(&places[0]).unwrap().add(&places[1]).unwrap();
    for access in &mut kernel.accesses {
        access.subscript = place.scale(4);
        access.domain = vec![Vec::new()];
    }
    let counter = steps.scene.unknown();
    let mut plan = steps.plan(false);
    persistent(&mut plan).varying.push((steps.launches[0], 2));
    let (size, body) = (steps.size, steps.scene.block);
    let mut counted = |passes| {
        let iterations = &mut steps.scene.graph.iterations;
        iterations.counters = vec![counter];
        iterations.domains = vec![Some(LoopDomain {
            test: body,
            passes: Expression::Constant(passes),
            exact: true,
        })];
        iterations.values = [(size, Expression::Leaf(counter))].into();
        refusals(&steps.scene, &plan)
    };
    // The test is at the loop's end.
    assert_eq!(counted(2), []);
    let further = counted(3);
    assert!(
        matches!(further[..], [Refusal::CrossesBlocks { .. }, ..]),
        "{further:?}"
    );
    steps.scene.graph.iterations.values.clear();
    assert_refused!(steps.scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn refuses_guards_that_are_left_out() {
    let steps = steps(&[scale]);
    let mut plan = steps.plan(false);
    plan.groups[0].guards.clear();
    // The shape is known; a precondition is not.
    let mut unknown = self::steps(&[scale]);
    unknown.shape = unknown.scene.unknown_shape();
    let shape = unknown.shape;
    let launch = unknown.scene.launch_mut(unknown.launches[0]);
    launch.grid[0] = shape.grid;
    launch.block[0] = shape.block;
    let mut plan = unknown.plan(false);
    plan.groups[0].guards.clear();
    let found = refusals(&unknown.scene, &plan);
    let unchecked = |refusal: &Refusal| matches!(refusal, Refusal::ConfigurationUnchecked { .. });
    assert!(found.iter().any(unchecked), "{found:#?}");
}

#[test]
fn refuses_pointers_that_may_be_equal() {
    let steps = anything(scale).0;
    let launch = steps.launches[0];
    assert_refused!(steps.scene, steps.plan(false), Refusal::MayAlias { .. });
    let mut plan = steps.plan(false);
    plan.groups[0].guards.push(Guard::RangesDisjoint {
        left: range(launch, 0, steps.size),
        right: range(launch, 1, steps.size),
    });
    assert_passes(&steps.scene, &plan);
    // Of another number of elements each time the test of one launch says nothing of another one.
    persistent(&mut plan).varying.push((launch, 2));
    assert_refused!(steps.scene, plan, Refusal::MayAlias { .. });
}

#[test]
fn refuses_another_statement_in_the_region() {
    let mut steps = steps(&[scale]);
    let n = Pass::Integer(steps.size);
    let [a, b] = steps.buffers.map(Pass::To);
    let kernel = KernelId(0);
    let other = steps.scene.launch(kernel, steps.shape, &[a, b, n]);
    let mut plan = steps.plan(false);
    let mut second = plan.batched_regions[0].statements[0].clone();
    second.launch = other;
    second.persistent = None;
    plan.batched_regions[0].statements.push(second);
    let found = refusals(&steps.scene, &plan);
    let several = |refusal: &Refusal| {
        matches!(
            refusal,
            Refusal::NotPersistent { .. } | Refusal::BatchedTouchesMore { .. }
        )
    };
    assert!(!found.is_empty() && found.iter().all(several), "{found:#?}");
}

#[test]
fn refuses_a_launch_that_is_no_group() {
    let steps = steps(&[scale]);
    let plan = FusionPlan {
        groups: Vec::new(),
        ..steps.plan(false)
    };
    assert_refused!(
        steps.scene,
        plan,
        Refusal::NotPersistent { .. } | Refusal::ConfigurationUnchecked { .. }
    );
}

#[test]
fn refuses_members_that_run_interleaved_or_elsewhere() {
    let steps = steps(&[scale, shift]);
    let mut plan = steps.plan(false);
    plan.groups[0].segments = vec![vec![1], vec![0]];
    assert!(!refusals(&steps.scene, &plan).is_empty());
    let mut single = self::steps(&[scale]).plan(false);
    single.groups[0].members[0].map = ThreadMap::Blocks {
        first: Expression::Constant(0),
        count: Expression::Constant(40),
        threads: sirius_rs::schedule::BlockThreads::Same,
    };
    let scene = self::steps(&[scale]).scene;
    let found = refusals(&scene, &single);
    assert!(!found.is_empty());
}

#[test]
fn refuses_memory_of_versions() {
    let steps = steps(&[scale]);
    let mut plan = steps.plan(false);
    plan.batched_regions[0].statements[0].must_replace = true;
    let found = refusals(&steps.scene, &plan);
    assert!(!found.is_empty());
}

#[test]
fn refuses_what_the_host_does_in_the_loop() {
    for fence in [
        NodeKind::Opaque {
            what: String::from("puts"),
        },
        NodeKind::HostAccess { ordered: true },
        NodeKind::StreamOperation,
        NodeKind::Synchronise(Awaited::Event),
        NodeKind::Free { pointer: None },
    ] {
        let mut steps = steps(&[scale]);
        steps.scene.node(fence);
        assert_refused!(
            steps.scene,
            steps.plan(false),
            Refusal::PassedByBatches { .. }
        );
        // Where an iteration is all of the region, each launch ends with it.
        let mut plan = steps.plan(false);
        plan.batched_regions[0].outside_loops = 1;
        assert_passes(&steps.scene, &plan);
    }
    // The queue makes up for these.
    let mut steps = steps(&[scale]);
    steps.scene.node(NodeKind::Synchronise(Awaited::Device));
    steps.scene.node(NodeKind::ErrorCheck);
    assert_passes(&steps.scene, &steps.plan(false));
}

/// `for (…) { b = f(a); swap(a, b); }`, and its plan.
fn turning(kernel: fn(&mut Scene) -> KernelId) -> (Steps, FusionPlan) {
    let (mut steps, [from, to]) = anything(kernel);
    let (buffers, launch) = (steps.buffers, steps.launches[0]);
    for (value, order) in [(from, [0, 1]), (to, [1, 0])] {
        steps.scene.graph.values[value.0].varies_in = Some(0);
        steps.scene.graph.iterations.courses.insert(
            value,
            Course {
                turns_in: Some(0),
                places: order
                    .map(|which| Place {
                        root: Root::Buffer(buffers[which]),
                        offset_bytes: Expression::Constant(0),
                    })
                    .to_vec(),
            },
        );
    }
    let mut plan = steps.plan(false);
    persistent(&mut plan).turning = vec![[(launch, 0), (launch, 1)], [(launch, 1), (launch, 0)]];
    (steps, plan)
}

#[test]
fn passes_pointers_that_change_places() {
    let (steps, plan) = turning(scale);
    assert_passes(&steps.scene, &plan);
    // What neighbours made stays what neighbours made.
    let (steps, plan) = turning(stencil);
    assert_refused!(steps.scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn refuses_pointers_that_change_places_otherwise() {
    // In one place only; with one that stays; three that never come back in time; twice.
    let (steps, plan) = turning(scale);
    let launch = steps.launches[0];
    let wrong: [&dyn Fn(&mut PersistentLoop); 4] = [
        &|persistent| persistent.turning[1] = [(launch, 1), (launch, 1)],
        &|persistent| persistent.turning[0] = [(launch, 0), (launch, 2)],
        &|persistent| persistent.varying.push((launch, 0)),
        &|persistent| persistent.turning.truncate(1),
    ];
    for spoil in wrong {
        let mut plan = plan.clone();
        spoil(persistent(&mut plan));
        let found = refusals(&steps.scene, &plan);
        assert!(!found.is_empty());
    }
}

#[test]
fn refuses_places_that_are_not_known() {
    let value = |steps: &Steps| match &steps.scene.graph.nodes[0].kind {
        NodeKind::Launch(launch) => launch.arguments[0].pieces[0].value,
        _ => panic!("the launch is the first node"),
    };
    type Spoil = dyn Fn(&mut Scene, ValueId);
    let wrong: [&Spoil; 5] = [
        &|scene, value| {
            scene.graph.iterations.courses.remove(&value);
        },
        &|scene, value| {
            scene
                .graph
                .iterations
                .courses
                .get_mut(&value)
                .unwrap()
                .turns_in = Some(1);
        },
        &|scene, value| {
            let course = scene.graph.iterations.courses.get_mut(&value).unwrap();
            let again = course.places[0].clone();
            course.places.push(again);
        },
        &|scene, value| {
            let course = scene.graph.iterations.courses.get_mut(&value).unwrap();
            course.places[0].root = Root::Value(value);
        },
        &|scene, _| scene.graph.buffers[1].unique = false,
    ];
    for spoil in wrong {
        let (mut steps, plan) = turning(scale);
        let value = value(&steps);
        spoil(&mut steps.scene, value);
        assert_refused!(steps.scene, plan, Refusal::NotPersistent { .. });
    }
}

#[test]
fn refuses_places_that_meet() {
    // Both in one allocation, a few bytes apart.
    let (mut steps, plan) = turning(scale);
    let a = steps.buffers[0];
    for course in steps.scene.graph.iterations.courses.values_mut() {
        for (place, shift) in course.places.iter_mut().zip([0, 4]) {
            place.offset_bytes = Expression::Constant(match place.root {
                Root::Buffer(buffer) if buffer == a => 0,
                _ => 4 + shift,
            });
            place.root = Root::Buffer(a);
        }
    }
    let found = refusals(&steps.scene, &plan);
    assert!(!found.is_empty());
}
