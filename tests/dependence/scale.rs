//! Many launches: the graph grows with their number, and still tells of every pair.

use crate::builder::{World, actuals, pointwise, shape};
use crate::planning::ALL;
use sirius_oracle::paths::{Paths, Step};
use sirius_rs::build::Fusion;
use sirius_rs::dependence::{
    CONDITIONAL_NEIGHBOURS, DependenceGraph, Edge, Effort, Scope, build_dependence_graph,
    build_dependence_graph_without_relations,
};
use sirius_rs::launch::{NodeId, NodeKind, Pointer};
use sirius_rs::math::expression::Expression;
use sirius_rs::schedule::{Missed, ScheduleOptions, plan_fusion};
use std::collections::BTreeSet;

/// Launches one after the other over two buffers in turn, every `step`th at a distance of one
/// element, so that it crosses blocks.
fn chain(
    launches: usize,
    step: usize,
    around: impl Fn(&mut World),
) -> (DependenceGraph, Vec<NodeId>) {
    let mut world = World::new();
    let (x, y) = (world.buffer("x"), world.buffer("y"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let near = world.kernel(pointwise("near", 0));
    let far = world.kernel(pointwise("far", 1));
    around(&mut world);
    let nodes = (0..launches).map(|index| {
        let kernel = if index % step == step - 1 { far } else { near };
        let (from, to) = if index % 2 == 0 { (&x, &y) } else { (&y, &x) };
        world.launch(kernel, grid, block, actuals(from, to, n))
    });
    let nodes = nodes.collect();
    (build_dependence_graph(&world.graph, &world.kernels), nodes)
}

/// Edges of three chains, each longer than the one before by the same number of launches.
fn growth(step: usize, around: impl Fn(&mut World)) -> [usize; 2] {
    let [short, middle, long] =
        [100, 200, 300].map(|launches| chain(launches, step, &around).0.graph.edge_count());
    [middle - short, long - middle]
}

fn in_a_loop(world: &mut World) {
    world.enter_loop();
}

fn called_again(world: &mut World) {
    world.graph.functions[0].repeated = true;
}

#[test]
fn the_graph_grows_with_the_launches() {
    for (step, most) in [(usize::MAX, 12_000), (10, 6_000)] {
        for around in [|_: &mut World| {}, in_a_loop, called_again] {
            let [first, second] = growth(step, around);
            assert_eq!(first, second);
            assert!(first <= most, "{first} edges for a hundred launches");
        }
    }
}

#[test]
fn a_path_speaks_for_every_pair_without_an_edge() {
    let plain: fn(&mut World) = |_| {};
    for (step, around) in [
        (usize::MAX, plain),
        (10, plain),
        (usize::MAX, in_a_loop),
        (10, in_a_loop),
        (10, called_again),
    ] {
        let (dependences, nodes) = chain(36, step, around);
        let mut direct = BTreeSet::new();
        let mut steps = Vec::new();
        for edge in dependences.edges() {
            direct.insert((edge.source, edge.sink, edge.carried));
            if edge.absent_if.is_empty() {
                steps.push(Step {
                    ends: (edge.source.0 as u64, edge.sink.0 as u64),
                    carried: edge.carried,
                    separates: edge.scope == Scope::Global && edge.mapped.is_none(),
                });
            }
        }
        let carried = steps.iter().any(|step| step.carried);
        let operations: Vec<u64> = nodes.iter().map(|node| node.0 as u64).collect();
        let paths = Paths::new(steps, &operations);
        // Every two of these launches conflict.
        for source in &nodes {
            for sink in &nodes {
                let (from, to) = (source.0 as u64, sink.0 as u64);
                let told = |again| direct.contains(&(*source, *sink, again));
                let within = source >= sink || told(false) || paths.speak_for(from, to, true);
                assert!(within, "{from} -> {to}");
                let later = !carried || told(true) || paths.speak_for(from, to, false);
                assert!(later, "{from} -> {to} in a later iteration");
            }
        }
    }
}

/// A launch that always runs, and so many in branches of their own, each of which uses what those before
/// it write.
fn under_branches(branches: usize) -> (DependenceGraph, Vec<NodeId>) {
    let mut world = World::new();
    let (x, y) = (world.buffer("x"), world.buffer("y"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let near = world.kernel(pointwise("near", 0));
    let mut nodes = vec![world.launch(near, grid, block, actuals(&x, &y, n))];
    for index in 0..branches {
        let meeting = world.enter_branch();
        let (from, to) = if index % 2 == 0 { (&y, &x) } else { (&x, &y) };
        nodes.push(world.launch(near, grid, block, actuals(from, to, n)));
        world.leave_branch(meeting);
    }
    (build_dependence_graph(&world.graph, &world.kernels), nodes)
}

#[test]
fn the_graph_grows_with_the_branches() {
    let [short, middle, long] =
        [100, 200, 300].map(|branches| under_branches(branches).0.graph.edge_count());
    assert_eq!(middle - short, long - middle);
    assert!(
        middle - short <= 4_000,
        "{} edges for a hundred branches",
        middle - short
    );
    // What always runs before is never out of sight, and neither are neighbours.
    let near = CONDITIONAL_NEIGHBOURS;
    let (dependences, nodes) = under_branches(3 * near);
    let has = |source: usize, sink: usize| {
        let mut edges = dependences.edges();
        edges.any(|edge| (edge.source, edge.sink) == (nodes[source], nodes[sink]))
    };
    assert!((1..=3 * near).all(|sink| has(0, sink)));
    let seen = |source| has(source, source + near) && !has(source, source + near + 1);
    assert!((1..2 * near).all(seen));
}

#[test]
fn launches_that_read_one_buffer_have_no_edges() {
    let mut world = World::new();
    let shared = world.buffer("shared");
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let scale = world.kernel(pointwise("scale", 0));
    for index in 0..200 {
        let own = world.buffer(&format!("own{index}"));
        world.launch(scale, grid, block, actuals(&shared, &own, n));
    }
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    assert_eq!(dependences.graph.edge_count(), 0);
}

/// A launch in a loop that reads and writes one place, and its edge to its next iteration.
fn carried_scope(change: impl Fn(&mut World, usize, &mut Pointer)) -> Scope {
    let mut world = World::new();
    let mut x = world.buffer("x");
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let scale = world.kernel(pointwise("scale", 0));
    let of_loop = world.enter_loop();
    change(&mut world, of_loop, &mut x);
    let node = world.launch(scale, grid, block, actuals(&x, &x, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let edges = dependences.edges();
    edges
        .filter(|edge| edge.carried && edge.source == node && edge.sink == node)
        .map(|edge| edge.scope)
        .max()
        .expect("a launch depends on its earlier iterations")
}

#[test]
fn iterations_depend_on_each_other_as_their_launches_do() {
    assert_eq!(carried_scope(|_, _, _| {}), Scope::Thread);
    let other_size = |world: &mut World, of_loop: usize, _: &mut Pointer| {
        for value in &mut world.graph.values {
            value.varies_in = Some(of_loop);
        }
    };
    assert_eq!(carried_scope(other_size), Scope::Global);
    let made_again = |world: &mut World, _: usize, x: &mut Pointer| {
        let buffer = x.may_point_to.as_ref().unwrap()[0];
        world.node(NodeKind::Allocation { buffer });
    };
    assert_eq!(carried_scope(made_again), Scope::Global);
}

/// A chain in which each of many kernels of two structures follows each other one, at several
/// distances in one allocation.
fn many_kernels(kernels: usize, launches: usize) -> Effort {
    let mut world = World::new();
    let whole = world.buffer("whole");
    let (grid, block) = (world.value(Some(16), None), world.value(Some(256), None));
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let n = world.value(Some(4096), None);
    let kernels: Vec<_> = (0..kernels)
        .map(|index| {
            let shift = i64::try_from(index % 2).unwrap();
            world.kernel(pointwise(&format!("kernel{index}"), shift))
        })
        .collect();
    let part = |index: usize| {
        let mut part = whole.clone();
        let offset = i64::try_from(index % 7 * 4 * 4096).unwrap();
        part.offset_bytes = Some(Expression::Constant(offset));
        part
    };
    for index in 0..launches {
        // A walk in which every two kernels follow each other at every distance up to a few.
        let kernel = kernels[index * (1 + index / kernels.len()) % kernels.len()];
        let arguments = actuals(&part(index), &part(index + 1), n);
        world.launch(kernel, grid, block, arguments);
    }
    build_dependence_graph(&world.graph, &world.kernels).effort
}

#[test]
fn what_isl_is_asked_depends_on_structures_and_not_on_launches() {
    let [few, many] = [400, 800].map(|launches| many_kernels(6, launches));
    assert!(few.problems > 0 && few.decisions > 0 && few.questions > few.decisions);
    assert_eq!(few, many);
    let kernels = many_kernels(12, 800);
    assert!(kernels.questions > many.questions);
    let isl = |effort: Effort| (effort.decisions, effort.problems);
    assert_eq!(isl(kernels), isl(many));
}

/// Launches of two kernels over two buffers, each with a grid and a size of its own; every fifth has those of the one before.
fn sizes_of_their_own(launches: usize) -> World {
    let mut world = World::new();
    let (x, y) = (world.buffer("x"), world.buffer("y"));
    let block = world.value(Some(256), None);
    let kernels = [pointwise("own", 0), pointwise("next", 1)].map(|model| world.kernel(model));
    let mut last = None;
    for index in 0..launches {
        let own = || (world.extent(), world.unknown());
        let (grid, n) = last.take().unwrap_or_else(own);
        if index % 5 == 3 {
            last = Some((grid, n));
        }
        let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
        let arguments = match index % 3 {
            0 => actuals(&x, &y, n),
            1 => actuals(&y, &x, n),
            _ => actuals(&y, &y, n),
        };
        world.launch(kernels[index % 2], grid, block, arguments);
    }
    world
}

#[test]
fn launches_that_look_alike_are_decided_about_once() {
    let decided = |launches: usize| {
        let world = sizes_of_their_own(launches);
        build_dependence_graph_without_relations(&world.graph, &world.kernels).effort
    };
    let [few, many] = [60, 120].map(decided);
    assert_eq!(few.decisions, many.decisions);
    assert!(few.questions < many.questions && few.decisions > 4);
}

#[test]
fn what_is_taken_over_is_what_would_have_been_decided() {
    let world = sizes_of_their_own(30);
    let edges = |dependences: DependenceGraph| -> Vec<Edge> {
        let edges = dependences.graph.into_nodes_edges().1.into_iter();
        let unwritten = edges.map(|edge| Edge {
            relation: "".into(),
            exact: false,
            ..(*edge.weight).clone()
        });
        unwritten.collect()
    };
    // Where relations are written, nothing is taken over from what has other names.
    let each = build_dependence_graph(&world.graph, &world.kernels);
    let shared = build_dependence_graph_without_relations(&world.graph, &world.kernels);
    assert!(shared.effort.decisions < each.effort.decisions);
    let (each, shared) = (edges(each), edges(shared));
    assert!(
        each.iter()
            .any(|edge| edge.scope == Scope::Thread && !edge.conditions.is_empty())
    );
    assert!(each.iter().any(|edge| edge.scope == Scope::Global));
    assert_eq!(each, shared);
}

/// Launches of which a loop chooses one each time: each pair has its edges.
fn alternatives(launches: usize) -> (World, DependenceGraph) {
    let mut world = World::new();
    let (x, y) = (world.buffer("x"), world.buffer("y"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let far = world.kernel(pointwise("far", 1));
    in_a_loop(&mut world);
    let meeting = world.enter_branch();
    for _ in 0..launches {
        world.launch(far, grid, block, actuals(&x, &y, n));
        world.enter_another_way(meeting);
    }
    world.leave_branch(meeting);
    let last = [(); 2].map(|()| world.launch(far, grid, block, actuals(&x, &y, n)));
    assert!(last[0] < last[1]);
    let dependences = build_dependence_graph_without_relations(&world.graph, &world.kernels);
    (world, dependences)
}

#[test]
fn of_too_many_edges_nothing_follows() {
    for (launches, cut) in [(30, false), (400, true)] {
        let (world, dependences) = alternatives(launches);
        let edges = dependences.graph.edge_count();
        assert_eq!(dependences.cut_short, cut, "{edges} edges");
        assert!(edges < 400_000, "{edges} edges");
        let (plan, missed) = plan_fusion(&world.graph, &world.kernels, &dependences, &ALL);
        assert_eq!(plan.groups.is_empty(), cut);
        let told = |missed: &Missed| missed.rejection.message.contains("not looked into");
        assert_eq!(missed.iter().any(told), cut);
        // What waits is told apart when the program runs.
        let options = ScheduleOptions {
            fusion: Fusion::All,
            launch_batches: true,
            ..ALL
        };
        let (plan, _) = plan_fusion(&world.graph, &world.kernels, &dependences, &options);
        assert!(!cut || plan.groups.is_empty() && plan.batched_regions.len() == 1);
    }
}
