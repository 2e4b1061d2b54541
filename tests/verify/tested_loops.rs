//! Host loops that run ahead in a kernel, which computes when the host would end them: wrong plans.

use super::*;
use sirius_rs::launch::{
    CarriedScalar, CopyToHost, FloatComparison, HostPlace, LoopArgument, LoopArgumentValue,
    LoopExit, LoopTest, NodeId, Scalar, ScalarKind, ScalarOperation, ScalarType, Untold,
};
use sirius_rs::schedule::{MOST_ITERATIONS_AHEAD, TestedCopy, TestedLoop, ThreadMap};

/// `do { b = f(a); a = g(b); r = h(a); copy of r to the host } while (what it read is above a bound)`, in a loop that is a
/// block; f and g need what other blocks made.
struct Solver {
    scene: Scene,
    launches: [LaunchId; 3],
    nodes: [NodeId; 3],
    copy: NodeId,
    body: HostBlockId,
    /// a, b and r.
    buffers: [BufferId; 3],
}

fn solver() -> Solver {
    solver_with(|scene| scene.stencil("f"), false)
}

/// With another kernel for f, which writes r as well as b where that is asked for.
fn solver_with(first: fn(&mut Scene) -> KernelId, writes_result: bool) -> Solver {
    let mut scene = Scene::new();
    let [a, b, r] = ["a", "b", "r"].map(|name| scene.buffer(name));
    let size = scene.unknown();
    let shape = scene.known_shape();
    let kernels = [first(&mut scene), scene.stencil("g"), scene.pointwise("h")];
    let entry = scene.block;
    let body = scene.block_after(entry);
    scene.make_loop(body);
    let second = if writes_result { r } else { b };
    let arguments = [[a, second], [second, a], [a, r]];
    let launches = [0, 1, 2].map(|at: usize| {
        let [from, to] = arguments[at].map(Pass::To);
        scene.launch(kernels[at], shape, &[from, to, Pass::Integer(size)])
    });
    let copy = scene.copy(&[r], &[]);
    let NodeKind::Copy { reads, .. } = &mut scene.graph.nodes[copy.0].kind else {
        unreachable!()
    };
    reads[0].bytes = Some(Expression::Constant(4));
    scene.edge(body, body);
    let behind = scene.block_after(body);
    scene.graph.blocks[behind.0].innermost_loop = None;
    let nodes = scene.graph.launches().map(|(_, node)| node);
    let nodes: Vec<NodeId> = nodes.collect();
    scene.graph.loop_tests.insert(0, Ok(test(copy, body)));
    Solver {
        scene,
        launches,
        nodes: [nodes[0], nodes[1], nodes[2]],
        copy,
        body,
        buffers: [a, b, r],
    }
}

/// Goes on as long as the copied number is greater than another one.
fn test(copy: NodeId, body: HostBlockId) -> LoopTest {
    let float = ScalarType::Float(false);
    let greater = FloatComparison {
        equal: false,
        greater: true,
        less: false,
        unordered: false,
    };
    let scalars = vec![
        Scalar {
            ty: float,
            kind: ScalarKind::Copied {
                copy: 0,
                offset_bytes: 0,
            },
        },
        Scalar {
            ty: float,
            kind: ScalarKind::Host(HostPlace::Parameter(0)),
        },
        Scalar {
            ty: ScalarType::Integer(1),
            kind: ScalarKind::Computed {
                operation: ScalarOperation::CompareFloat(greater),
                operands: vec![0, 1],
            },
        },
    ];
    LoopTest {
        host_loop: 0,
        scalars,
        carried: Vec::new(),
        exits: vec![LoopExit {
            block: body,
            stays: Some(2),
            of_next: false,
        }],
        copies: vec![CopyToHost {
            node: copy,
            call: 0,
            bytes: 4,
        }],
        arguments: Vec::new(),
    }
}

impl Solver {
    fn plan(&self) -> FusionPlan {
        self.plan_with(&[1, 2])
    }

    fn plan_with(&self, grid_barriers: &[usize]) -> FusionPlan {
        let members: Vec<_> = self
            .launches
            .iter()
            .map(|launch| (*launch, false))
            .collect();
        let guards = self.launches.iter().copied().map(valid);
        let guards = guards.chain([Guard::Resident { rounds: 4 }]).collect();
        let mut plan = plan(&members, guards);
        plan.groups[0].grid_barriers = grid_barriers.to_vec();
        plan.groups[0].tested_loop = Some(TestedLoop {
            host_loop: 0,
            turning: Vec::new(),
            varying: Vec::new(),
            copies: vec![TestedCopy {
                node: self.copy,
                after: 3,
                barrier_before: true,
                barrier_behind: false,
            }],
            most_iterations: MOST_ITERATIONS_AHEAD,
        });
        plan
    }

    fn test(&mut self) -> &mut LoopTest {
        let test = self.scene.graph.loop_tests.get_mut(&0).unwrap();
        test.as_mut().unwrap()
    }

    /// A value that is another one in each iteration.
    fn varying(&mut self) -> ValueId {
        let value = self.scene.unknown();
        self.scene.graph.values[value.0].varies_in = Some(0);
        value
    }

    /// One more node in the loop, behind all others.
    fn node(&mut self, kind: NodeKind) {
        self.scene.block = self.body;
        self.scene.node(kind);
    }
}

fn tested(plan: &mut FusionPlan) -> &mut TestedLoop {
    plan.groups[0].tested_loop.as_mut().unwrap()
}

/// What stands in the loop besides passes or not.
fn beside(kind: NodeKind) -> Vec<Refusal> {
    let mut solver = solver();
    solver.node(kind);
    refusals(&solver.scene, &solver.plan())
}

#[test]
fn passes_a_loop_that_the_host_ends_by_what_it_copies() {
    let solver = solver();
    assert_passes(&solver.scene, &solver.plan());
}

#[test]
fn no_barrier_stands_in_front_of_what_is_copied() {
    let solver = solver();
    let mut plan = solver.plan();
    tested(&mut plan).copies[0].barrier_before = false;
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
}

#[test]
fn the_next_iteration_writes_what_is_copied() {
    let solver = solver_with(|scene| scene.stencil("f"), true);
    let mut plan = solver.plan();
    assert_refused!(solver.scene, plan.clone(), Refusal::TestedLoop { .. });
    tested(&mut plan).copies[0].barrier_behind = true;
    assert_passes(&solver.scene, &plan);
}

#[test]
fn what_is_copied_may_be_anywhere() {
    let mut solver = solver();
    let unknown = solver.scene.unknown();
    let NodeKind::Copy { reads, .. } = &mut solver.scene.graph.nodes[solver.copy.0].kind else {
        unreachable!()
    };
    reads[0].pointer = anywhere(unknown);
    let mut plan = solver.plan();
    assert_refused!(solver.scene, plan.clone(), Refusal::TestedLoop { .. });
    tested(&mut plan).copies[0].barrier_behind = true;
    assert_passes(&solver.scene, &plan);
}

#[test]
fn a_barrier_is_missing_between_phases() {
    let solver = solver();
    assert_refused!(
        solver.scene,
        solver.plan_with(&[2]),
        Refusal::CrossesBlocks { .. }
    );
}

#[test]
fn there_is_no_room_for_so_many_iterations() {
    let solver = solver();
    for most in [0, MOST_ITERATIONS_AHEAD + 1] {
        let mut plan = solver.plan();
        tested(&mut plan).most_iterations = most;
        assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
    }
}

#[test]
fn copies_are_left_out_or_others() {
    let solver = solver();
    let mut plan = solver.plan();
    tested(&mut plan).copies.clear();
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
    let mut plan = solver.plan();
    tested(&mut plan).copies[0].node = solver.nodes[0];
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
    let mut plan = solver.plan();
    let twice = tested(&mut plan).copies[0];
    tested(&mut plan).copies.push(twice);
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
}

#[test]
fn a_copy_stands_elsewhere_among_the_launches() {
    let solver = solver();
    for after in [0, 1, 2, 4] {
        let mut plan = solver.plan();
        tested(&mut plan).copies[0].after = after;
        assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
    }
}

#[test]
fn a_copy_between_phases_and_one_between_launches_of_a_phase() {
    // r is copied in front of h, which the next one of these may write.
    let mut solver = solver();
    let body = solver.body.0;
    solver.scene.graph.blocks[body].nodes.swap(2, 3);
    let [third, copy] = [solver.nodes[2], solver.copy];
    solver.scene.graph.nodes.swap(third.0, copy.0);
    for at in [third, copy] {
        solver.scene.graph.nodes[at.0].id = at;
    }
    solver.scene.graph.blocks[body].nodes.swap(2, 3);
    solver.nodes[2] = copy;
    solver.copy = third;
    solver.test().copies[0].node = third;
    let mut plan = solver.plan();
    let copy = &mut tested(&mut plan).copies[0];
    copy.node = third;
    copy.after = 2;
    assert_refused!(solver.scene, plan.clone(), Refusal::TestedLoop { .. });
    tested(&mut plan).copies[0].barrier_behind = true;
    assert_passes(&solver.scene, &plan);
    plan.groups[0].grid_barriers = vec![1];
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
}

#[test]
fn nothing_says_by_what_the_host_decides() {
    let mut solver = solver();
    let plan = solver.plan();
    let untold = Untold {
        why: "of something".into(),
        location: Location::default(),
    };
    solver.scene.graph.loop_tests.insert(0, Err(untold));
    assert_refused!(solver.scene, plan.clone(), Refusal::TestedLoop { .. });
    solver.scene.graph.loop_tests.clear();
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
}

#[test]
fn nothing_ends_it() {
    let mut solver = solver();
    solver.test().exits[0].stays = None;
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
    solver.test().exits.clear();
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}

#[test]
fn it_is_another_loop() {
    let solver = solver();
    let mut plan = solver.plan();
    tested(&mut plan).host_loop = 1;
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
}

#[test]
fn the_host_leaves_it_where_nothing_says_so() {
    let mut solver = solver();
    let elsewhere = HostBlockId(0);
    solver.test().exits[0].block = elsewhere;
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}

#[test]
fn a_decision_is_about_another_iteration() {
    let mut solver = solver();
    solver.test().exits[0].of_next = true;
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}

#[test]
fn numbers_come_from_nowhere() {
    let wrong = [
        ScalarKind::Carried(0),
        ScalarKind::Copied {
            copy: 1,
            offset_bytes: 0,
        },
        ScalarKind::Copied {
            copy: 0,
            offset_bytes: 1,
        },
        ScalarKind::Computed {
            operation: ScalarOperation::FloatNegate,
            operands: vec![1],
        },
        ScalarKind::Computed {
            operation: ScalarOperation::FloatNegate,
            operands: vec![7],
        },
    ];
    for kind in wrong {
        let mut solver = solver();
        solver.test().scalars[1].kind = kind;
        assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
    }
}

#[test]
fn the_host_decides_by_what_is_neither_true_nor_false() {
    let mut solver = solver();
    solver.test().exits[0].stays = Some(0);
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
    solver.test().exits[0].stays = Some(9);
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}

#[test]
fn a_number_that_is_handed_on_changes_its_type() {
    let mut solver = solver();
    let carried = |ty, next| CarriedScalar {
        now: HostPlace::Parameter(1),
        next,
        ty,
    };
    solver.test().scalars[1].kind = ScalarKind::Carried(0);
    solver.test().carried = vec![carried(ScalarType::Float(false), 0)];
    assert_passes(&solver.scene, &solver.plan());
    solver.test().carried = vec![carried(ScalarType::Float(true), 0)];
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
    solver.test().carried = vec![carried(ScalarType::Float(false), 17)];
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}

#[test]
fn passes_what_nobody_could_tell() {
    let harmless = [
        NodeKind::ErrorCheck,
        NodeKind::Output {
            what: "printf".into(),
        },
        NodeKind::Synchronise(Awaited::Device),
        NodeKind::Synchronise(Awaited::Stream(Stream::Default)),
    ];
    for kind in harmless {
        assert_eq!(beside(kind), Vec::new());
    }
}

#[test]
fn the_host_does_something_else() {
    let what = "gettimeofday";
    let pointer = start_of(BufferId(1));
    let wrong = [
        NodeKind::HostAccess { ordered: false },
        NodeKind::Opaque { what: what.into() },
        NodeKind::MayThrow { what: what.into() },
        NodeKind::StreamOperation,
        NodeKind::Synchronise(Awaited::Event),
        NodeKind::Free {
            pointer: Some(pointer),
        },
        NodeKind::Allocation {
            buffer: BufferId(0),
        },
    ];
    for kind in wrong {
        let found = beside(kind);
        let mut reasons = found.iter();
        assert!(
            reasons.any(|found| matches!(found, Refusal::TestedLoop { .. })),
            "{found:#?}"
        );
    }
}

#[test]
fn another_launch_or_copy_stands_in_it() {
    let mut solver = solver();
    let kernel = solver.scene.pointwise("other");
    let shape = solver.scene.known_shape();
    let size = solver.scene.unknown();
    let other = ["c", "d"].map(|name| solver.scene.buffer(name));
    let [from, to] = other.map(Pass::To);
    solver.scene.block = solver.body;
    solver
        .scene
        .launch(kernel, shape, &[from, to, Pass::Integer(size)]);
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });

    let mut solver = self::solver();
    solver.scene.block = solver.body;
    let a = solver.buffers[0];
    solver.scene.copy(&[], &[a]);
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}

#[test]
fn it_is_not_known_what_a_copy_reads() {
    for bytes in [None, Some(Expression::Constant(8))] {
        let mut solver = solver();
        let NodeKind::Copy { reads, .. } = &mut solver.scene.graph.nodes[solver.copy.0].kind else {
            unreachable!()
        };
        reads[0].bytes = bytes;
        assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
    }
}

#[test]
fn a_copy_reads_another_place_in_each_iteration() {
    let mut solver = solver();
    let place = solver.varying();
    let touched = &mut solver.scene.graph.iterations.touched;
    touched.insert(solver.copy, vec![Some(place)]);
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}

#[test]
fn a_copy_writes_memory_that_kernels_see() {
    let mut solver = solver();
    let b = solver.buffers[1];
    let NodeKind::Copy { writes, reads, .. } = &mut solver.scene.graph.nodes[solver.copy.0].kind
    else {
        unreachable!()
    };
    let mut touch = reads[0].clone();
    touch.pointer = start_of(b);
    writes.push(touch);
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}

#[test]
fn a_launch_takes_another_number_in_each_iteration() {
    let mut solver = solver();
    let number = solver.varying();
    let second = solver.launches[1];
    let argument = &mut solver.scene.launch_mut(second).arguments[2];
    argument.identity = Some(number);
    argument.pieces[0].value = number;
    // Nothing is known of it.
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
    let mut plan = solver.plan();
    tested(&mut plan).varying = vec![(second, 2)];
    assert_refused!(solver.scene, plan.clone(), Refusal::TestedLoop { .. });
    // It is what the copy of the iteration before brought; or what one brings that is not made yet.
    let node = solver.nodes[1];
    let told = |value| LoopArgument {
        node,
        argument: 2,
        value,
    };
    solver.test().arguments = vec![told(LoopArgumentValue::Computed(0))];
    assert_refused!(solver.scene, plan.clone(), Refusal::TestedLoop { .. });
    solver.test().arguments = vec![told(LoopArgumentValue::HandedOn(33))];
    assert_refused!(solver.scene, plan.clone(), Refusal::TestedLoop { .. });
    solver.test().arguments = vec![told(LoopArgumentValue::HandedOn(0))];
    assert_passes(&solver.scene, &plan);
    // What the plan does not say stays as it is.
    tested(&mut plan).varying.clear();
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
}

#[test]
fn it_is_not_known_whether_a_launch_takes_the_same() {
    let mut solver = solver();
    let first = solver.launches[0];
    solver.scene.launch_mut(first).arguments[2].identity = None;
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}

#[test]
fn a_launch_has_another_shape_in_each_iteration() {
    let mut solver = solver();
    let grid = solver.varying();
    for launch in solver.launches {
        solver.scene.launch_mut(launch).grid[0] = grid;
    }
    let found = refusals(&solver.scene, &solver.plan());
    let mut reasons = found.iter();
    assert!(reasons.any(|found| matches!(found, Refusal::TestedLoop { .. })));
}

#[test]
fn what_is_tested_may_be_otherwise_later() {
    let mut solver = solver();
    let number = solver.varying();
    let mut plan = solver.plan();
    plan.groups[0].guards.push(same(number, number));
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
}

#[test]
fn pointers_change_places_as_nobody_knows() {
    let solver = solver();
    let mut plan = solver.plan();
    let [first, second, _] = solver.launches;
    tested(&mut plan).turning = vec![[(first, 0), (second, 0)], [(second, 0), (first, 0)]];
    assert_refused!(solver.scene, plan, Refusal::TestedLoop { .. });
}

#[test]
fn a_launch_prints() {
    let mut solver = solver();
    solver.scene.kernels[2].prints = true;
    let found = refusals(&solver.scene, &solver.plan());
    assert!(!found.is_empty());
}

#[test]
fn its_blocks_do_not_wait_for_each_other() {
    let solver = solver();
    let mut plan = solver.plan();
    plan.groups[0].grid_barriers.clear();
    plan.groups[0].guards.pop();
    let found = refusals(&solver.scene, &plan);
    let mut reasons = found.iter();
    assert!(reasons.any(|found| matches!(found, Refusal::TestedLoop { .. })));
    let mut plan = solver.plan();
    plan.groups[0].last_block = Some(2);
    let found = refusals(&solver.scene, &plan);
    let mut reasons = found.iter();
    assert!(reasons.any(|found| matches!(found, Refusal::TestedLoop { .. })));
}

#[test]
fn threads_of_a_member_are_elsewhere() {
    let solver = solver();
    let mut plan = solver.plan();
    plan.groups[0].members[1].map = ThreadMap::Clipped;
    let found = refusals(&solver.scene, &plan);
    assert!(!found.is_empty());
}

#[test]
fn a_launch_is_not_in_each_iteration() {
    let mut solver = solver();
    // h and the copy stand in a block of their own, past which another way leads.
    let body = solver.body;
    let graph = &mut solver.scene.graph;
    let moved = graph.blocks[body.0].nodes.split_off(2);
    graph.blocks[body.0].successors.clear();
    let behind = HostBlockId(body.0 + 1);
    solver.scene.block = body;
    let part = solver.scene.block_after(body);
    solver.scene.edge(body, body);
    solver.scene.edge(part, body);
    solver.scene.edge(part, behind);
    for node in &moved {
        solver.scene.graph.nodes[node.0].block = part;
    }
    solver.scene.graph.blocks[part.0].nodes = moved;
    solver.test().exits[0].block = part;
    assert_refused!(solver.scene, solver.plan(), Refusal::TestedLoop { .. });
}
