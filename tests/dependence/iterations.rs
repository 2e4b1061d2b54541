//! Dependences between iterations of host loops, by the loops' counters.

use crate::builder::{Kernel, World, X, actuals, int_argument, shape, sum};
use sirius_rs::dependence::{
    DependenceGraph, DependenceKind, Edge, Guard, IterationDistance, Scope, build_dependence_graph,
};
use sirius_rs::kernel::{AccessKind, KernelModel};
use sirius_rs::launch::{Course, NodeId, Place, Pointer, ValueId};
use sirius_rs::math::affine::{Affine, Constraint, Variable};
use sirius_rs::math::expression::Expression;

const ROW: i64 = 1000;

const ALL_KINDS: [DependenceKind; 3] = [
    DependenceKind::Flow,
    DependenceKind::Anti,
    DependenceKind::Output,
];

fn carried(dependences: &DependenceGraph, source: NodeId, sink: NodeId) -> Vec<&Edge> {
    dependences
        .edges()
        .filter(|edge| edge.source == source && edge.sink == sink && edge.carried)
        .collect()
}

fn kinds(edges: &[&Edge]) -> Vec<(DependenceKind, Scope)> {
    let mut kinds: Vec<_> = edges.iter().map(|edge| (edge.kind, edge.scope)).collect();
    kinds.sort();
    kinds
}

/// `out[row * ROW + x] = f(in[(row + before) * ROW + x])` for `x < ROW`; arguments in, out, row.
fn row_kernel(before: i64) -> KernelModel {
    let mut kernel = Kernel::new("row", 3);
    let block_size = kernel.parameter(sirius_rs::kernel::KernelSymbol::BlockSize(X));
    let row = kernel.parameter(int_argument(2));
    let base = kernel.product(Affine::variable(Variable::Block(X)), &block_size);
    let thread = Variable::Thread(X);
    let inside = vec![vec![Constraint::NonNegative(sum(
        &[(-1, base.clone()), (-1, thread.clone())],
        ROW - 1,
    ))]];
    let index = [(4 * ROW, row), (4, base), (4, thread)];
    kernel.access(
        AccessKind::Read,
        0,
        sum(&index, 4 * ROW * before),
        inside.clone(),
    );
    kernel.access(AccessKind::Write, 1, sum(&index, 0), inside);
    kernel.model
}

fn leaf(value: ValueId) -> Expression<ValueId> {
    Expression::Leaf(value)
}

/// A loop of 20 iterations over one launch that reads the row before; with the row told or not.
fn sweep(told: bool) -> (DependenceGraph, NodeId) {
    let mut world = World::new();
    let x = world.buffer("x");
    let (grid, block) = (world.extent(), world.extent());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let kernel = world.kernel(row_kernel(-1));
    let counter = world.count_to(Expression::Constant(20));
    let row = match told {
        true => world.function_of(counter, leaf(counter).add(Expression::Constant(1))),
        false => world.value(None, Some(0)),
    };
    let launch = world.launch(kernel, grid, block, actuals(&x, &x, row));
    (build_dependence_graph(&world.graph, &world.kernels), launch)
}

#[test]
fn rows_that_move_with_a_counter_meet_only_where_they_are_equal() {
    let (dependences, launch) = sweep(true);
    let edges = carried(&dependences, launch, launch);
    assert_eq!(kinds(&edges), [(DependenceKind::Flow, Scope::Thread)]);
    // The next iteration reads what this one writes, and no other does.
    let relation = &edges[0].relation;
    assert!(relation.contains("_sink = 1 + v"), "{relation}");
    let next = IterationDistance {
        host_loop: 0,
        least: Some(1),
        most: None,
    };
    assert_eq!(edges[0].distances, [next]);
}

#[test]
fn rows_of_unknown_course_may_be_the_same() {
    let (dependences, launch) = sweep(false);
    let edges = carried(&dependences, launch, launch);
    assert_eq!(kinds(&edges), ALL_KINDS.map(|kind| (kind, Scope::Thread)));
}

#[test]
fn each_loop_of_a_nest_has_edges_of_its_own() {
    let mut world = World::new();
    let x = world.buffer("x");
    let (grid, block) = (world.extent(), world.extent());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let kernel = world.kernel(row_kernel(-1));
    world.count_to(Expression::Constant(9));
    let counter = world.count_to(Expression::Constant(20));
    let row = world.function_of(counter, leaf(counter).add(Expression::Constant(1)));
    let launch = world.launch(kernel, grid, block, actuals(&x, &x, row));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let (inner, outer): (Vec<&Edge>, Vec<&Edge>) = carried(&dependences, launch, launch)
        .into_iter()
        .partition(|edge| edge.distances[1].least == Some(1));
    assert_eq!(kinds(&inner), [(DependenceKind::Flow, Scope::Thread)]);
    assert_eq!(kinds(&outer), ALL_KINDS.map(|kind| (kind, Scope::Thread)));
    let distances = |edge: &Edge| {
        let parts = edge.distances.iter();
        parts
            .map(|part| (part.host_loop, part.least, part.most))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        distances(inner[0]),
        [(0, Some(0), Some(0)), (1, Some(1), None)]
    );
    assert_eq!(distances(outer[0]), [(0, Some(1), None), (1, None, None)]);
}

/// A launch on `buffer + 4 * size * counter`, of which it touches `touched` elements; sizes that are
/// not told are one unknown number.
fn moving_pointer(size: Option<i64>, touched: Option<i64>) -> (DependenceGraph, NodeId) {
    let mut world = World::new();
    let unknown = world.unknown();
    let (x, y) = (world.buffer("x"), world.buffer("y"));
    let (grid, block) = (world.extent(), world.extent());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let n = touched.map_or(unknown, |touched| world.number(touched));
    let size = size.map_or(leaf(unknown), Expression::Constant);
    let kernel = world.kernel(crate::builder::pointwise("scale", 0));
    let counter = world.count_to(Expression::Constant(8));
    let moving = world.value(None, Some(0));
    let offset = leaf(counter)
        .multiply(Expression::Constant(4))
        .multiply(size);
    world.graph.iterations.courses.insert(
        moving,
        Course {
            turns_in: None,
            places: vec![Place {
                root: y.root.clone(),
                offset_bytes: offset,
            }],
        },
    );
    let pointer = Pointer {
        root: sirius_rs::launch::Root::Value(moving),
        offset_bytes: Some(Expression::Constant(0)),
        may_point_to: y.may_point_to.clone(),
        device_only: true,
    };
    let launch = world.launch(kernel, grid, block, actuals(&x, &pointer, n));
    world.set_argument_value(launch, 1, moving);
    (build_dependence_graph(&world.graph, &world.kernels), launch)
}

#[test]
fn parts_that_a_pointer_moves_over_do_not_meet() {
    let (dependences, launch) = moving_pointer(Some(ROW), Some(ROW));
    let always = carried(&dependences, launch, launch);
    let always: Vec<_> = always
        .iter()
        .filter(|edge| edge.absent_if.is_empty())
        .collect();
    assert!(always.is_empty(), "{always:#?}");
    let (dependences, launch) = moving_pointer(Some(ROW), Some(ROW + 1));
    let edges = carried(&dependences, launch, launch);
    assert_eq!(kinds(&edges), [(DependenceKind::Output, Scope::Global)]);
    let witness = edges[0].witness.as_ref().unwrap();
    let place = "`y[1000]` is written by block 3, thread 232 (app.cu:11) and written by block 0, \
                 thread 0 (app.cu:11) in a later iteration";
    assert!(witness.text.starts_with(place), "{}", witness.text);
}

#[test]
fn parts_of_a_size_that_only_the_run_knows_do_not_meet() {
    let (dependences, launch) = moving_pointer(None, None);
    let edges = carried(&dependences, launch, launch);
    assert!(
        edges.iter().all(|edge| !edge.absent_if.is_empty()),
        "{edges:#?}"
    );
    let (dependences, launch) = moving_pointer(None, Some(ROW));
    let edges = carried(&dependences, launch, launch);
    assert_eq!(kinds(&edges), [(DependenceKind::Output, Scope::Global)]);
}

/// `m[(x + 1 + t) * size + t] = …` for `x < size - 1 - t`, and then reads of that column.
#[test]
fn columns_that_move_with_a_counter_do_not_meet() {
    let mut world = World::new();
    let matrix = world.buffer("m");
    let other = world.buffer("x");
    let (grid, block, size) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let mut kernel = Kernel::new("column", 4);
    let block_size = kernel.parameter(sirius_rs::kernel::KernelSymbol::BlockSize(X));
    let edge = kernel.parameter(int_argument(2));
    let t = kernel.parameter(int_argument(3));
    let base = kernel.product(Affine::variable(Variable::Block(X)), &block_size);
    let x = [(1, base), (1, Variable::Thread(X))];
    let row = sum(&x, 1).add(&Affine::variable(t.clone())).unwrap();
    let inside = vec![vec![Constraint::NonNegative(
        sum(&[(1, edge.clone())], -1).subtract(&row).unwrap(),
    )]];
    let across = kernel.product(row, &edge);
    let element = sum(&[(4, across), (4, t)], 0);
    kernel.access(AccessKind::Write, 0, element, inside);
    let column = world.kernel(kernel.model);
    let passes = leaf(size).subtract(Expression::Constant(1));
    let counter = world.count_to(passes.maximum(Expression::Constant(0)));
    let t = world.function_of(counter, leaf(counter));
    let mut arguments = actuals(&matrix, &other, size);
    arguments.push(crate::builder::Actual::Int(t));
    let launch = world.launch(column, grid, block, arguments);
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let edges = carried(&dependences, launch, launch);
    assert!(edges.is_empty(), "{edges:#?}");
}

/// A launch on row 30, then a loop over rows 0 to `last`.
fn before_a_loop(last: i64) -> (DependenceGraph, NodeId, NodeId) {
    let mut world = World::new();
    let x = world.buffer("x");
    let (grid, block) = (world.extent(), world.extent());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let kernel = world.kernel(row_kernel(0));
    let fixed = world.number(30);
    let first = world.launch(kernel, grid, block, actuals(&x, &x, fixed));
    let counter = world.count_to(Expression::Constant(last + 1));
    let row = world.function_of(counter, leaf(counter));
    let inside = world.launch(kernel, grid, block, actuals(&x, &x, row));
    (
        build_dependence_graph(&world.graph, &world.kernels),
        first,
        inside,
    )
}

#[test]
fn the_domain_of_a_loop_keeps_its_rows_from_others() {
    let forward = |dependences: &DependenceGraph, source, sink| -> Vec<Edge> {
        let edges = dependences.edges();
        let of_pair = |edge: &&Edge| (edge.source, edge.sink) == (source, sink);
        edges.filter(of_pair).cloned().collect()
    };
    let (dependences, first, inside) = before_a_loop(29);
    let edges = forward(&dependences, first, inside);
    assert_eq!(edges.len(), 3);
    for edge in &edges {
        let domain =
            |guard: &Guard| matches!(guard, Guard::Holds { class, .. } if class == "domain");
        assert!(edge.absent_if.iter().any(domain), "{edge:#?}");
        assert!(!edge.conditions.iter().any(domain), "{edge:#?}");
    }
    let (dependences, first, inside) = before_a_loop(30);
    let edges = forward(&dependences, first, inside);
    assert!(
        edges.iter().all(|edge| edge.absent_if.is_empty()),
        "{edges:#?}"
    );
}

/// An allocation made in the outer of two loops, used in the inner one.
#[test]
fn one_allocation_of_an_outer_iteration_is_one_in_the_inner_loop() {
    let mut world = World::new();
    let (x, y) = (world.buffer("x"), world.buffer("y"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let kernel = world.kernel(crate::builder::pointwise("scale", 0));
    world.count_to(Expression::Constant(9));
    let sirius_rs::launch::Root::Buffer(buffer) = y.root else {
        panic!("it is an allocation");
    };
    world.node(sirius_rs::launch::NodeKind::Allocation { buffer });
    world.count_to(Expression::Constant(20));
    let launch = world.launch(kernel, grid, block, actuals(&x, &y, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let (inner, outer): (Vec<&Edge>, Vec<&Edge>) = carried(&dependences, launch, launch)
        .into_iter()
        .partition(|edge| edge.distances[1].least == Some(1));
    assert_eq!(kinds(&inner), [(DependenceKind::Output, Scope::Thread)]);
    // Another iteration of the outer loop may have got the same bytes again, at another place.
    assert_eq!(kinds(&outer), [(DependenceKind::Output, Scope::Global)]);
}
