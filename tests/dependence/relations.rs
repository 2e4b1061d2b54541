//! Scopes and relations of edges.

use crate::builder::{
    Kernel, World, X, Y, actuals, int_argument, pointwise, row_sum, rows, shape, sum,
};
use sirius_rs::dependence::{
    DependenceGraph, DependenceKind, Edge, Guard, Scope, build_dependence_graph,
};
use sirius_rs::kernel::{AccessId, AccessKind, KernelSymbol};
use sirius_rs::launch::NodeId;
use sirius_rs::math::affine::{Affine, Constraint, Variable};
use sirius_rs::math::expression::Expression;
use sirius_rs::math::isl::Map;

fn edges(dependences: &DependenceGraph, source: NodeId, sink: NodeId) -> Vec<&Edge> {
    dependences
        .edges()
        .filter(|edge| edge.source == source && edge.sink == sink && !edge.carried)
        .collect()
}

fn only_edge(dependences: &DependenceGraph, source: NodeId, sink: NodeId) -> &Edge {
    let found = edges(dependences, source, sink);
    assert_eq!(found.len(), 1, "{found:#?}");
    found[0]
}

/// Two pointwise kernels with a read shifted by `shift` in the second, unknown n, grid and block.
fn chain(shift: i64) -> (DependenceGraph, NodeId, NodeId) {
    let mut world = World::new();
    let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let scale = world.kernel(pointwise("scale", 0));
    let second = world.kernel(pointwise("second", shift));
    let first = world.launch(scale, grid, block, actuals(&x, &y, n));
    let last = world.launch(second, grid, block, actuals(&y, &z, n));
    (
        build_dependence_graph(&world.graph, &world.kernels),
        first,
        last,
    )
}

#[test]
fn pointwise_chain_of_unknown_size_is_thread_wide() {
    let (dependences, first, last) = chain(0);
    let edge = only_edge(&dependences, first, last);
    assert_eq!(edge.scope, Scope::Thread, "{}", edge.because);
    assert_eq!(edge.kind, DependenceKind::Flow);
    assert_eq!(edge.buffer, "y");
    assert!(edge.because.is_empty());
    assert_eq!(edge.conditions.len(), 1, "{:?}", edge.conditions);
    let relation = Map::parse(&edge.relation).unwrap();
    let same = Map::parse("{ source[bx,by,bz,tx,ty,tz] -> sink[bx,by,bz,tx,ty,tz] }").unwrap();
    assert!(relation.is_subset(&same).unwrap(), "{}", edge.relation);
    assert!(!relation.is_empty().unwrap());
}

#[test]
fn neighbour_across_the_block_border_is_global() {
    for shift in [-1, 1] {
        let (dependences, first, last) = chain(shift);
        let edge = only_edge(&dependences, first, last);
        assert_eq!(edge.scope, Scope::Global);
        assert!(
            edge.because.contains("`second` reads `y["),
            "{}",
            edge.because
        );
        assert!(edge.because.contains("another block"), "{}", edge.because);
        // Not the scope, but the relation was found for indices that do not wrap.
        let wrap = |guard: &Guard| matches!(guard, Guard::Holds { class, .. } if class == "wrap");
        assert!(!edge.conditions.is_empty() && edge.conditions.iter().all(wrap));
        assert_eq!(edge.location.line, 10);
    }
}

#[test]
fn row_reduction_is_block_wide() {
    let mut world = World::new();
    let (x, y, sums) = (world.buffer("x"), world.buffer("y"), world.buffer("sums"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let rows = world.kernel(rows("square_rows"));
    let reduce = world.kernel(row_sum("sum_rows"));
    let first = world.launch(rows, grid, block, actuals(&x, &y, n));
    let last = world.launch(reduce, grid, block, actuals(&y, &sums, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let edge = only_edge(&dependences, first, last);
    assert_eq!(
        edge.scope,
        Scope::Block,
        "{} {}",
        edge.because,
        edge.relation
    );
    assert!(
        edge.because.contains("another thread of the block"),
        "{}",
        edge.because
    );
}

#[test]
fn transposed_read_is_global() {
    let mut world = World::new();
    let matrix = |name: &str, transposed: bool| {
        let mut kernel = Kernel::new(name, 3);
        let columns = kernel.parameter(int_argument(2));
        let (row, column) = (Variable::Block(Y), Variable::Block(X));
        let across = kernel.product(Affine::variable(row.clone()), &columns);
        let down = kernel.product(Affine::variable(column.clone()), &columns);
        let inside = vec![vec![
            Constraint::NonNegative(sum(&[(1, columns.clone()), (-1, row.clone())], -1)),
            Constraint::NonNegative(sum(&[(1, columns), (-1, column.clone())], -1)),
        ]];
        let straight = sum(&[(4, across), (4, column)], 0);
        let turned = sum(&[(4, down), (4, row)], 0);
        let read = if transposed { turned } else { straight.clone() };
        kernel.access(AccessKind::Read, 0, read, inside.clone());
        kernel.access(AccessKind::Write, 1, straight, inside);
        kernel.model
    };
    let straight = world.kernel(matrix("straight", false));
    let turned = world.kernel(matrix("turned", true));
    let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
    let (width, height, n) = (world.extent(), world.extent(), world.unknown());
    let one = world.number(1);
    let (grid, block) = ([width, height, one], [one, one, one]);
    let first = world.launch(straight, grid, block, actuals(&x, &y, n));
    let middle = world.launch(straight, grid, block, actuals(&y, &x, n));
    let last = world.launch(turned, grid, block, actuals(&y, &z, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    // One thread a block: what stays in the block stays in the thread.
    let flow = edges(&dependences, first, middle)
        .into_iter()
        .find(|edge| edge.buffer == "y")
        .unwrap();
    assert_eq!(flow.scope, Scope::Thread, "{}", flow.because);
    assert_eq!(only_edge(&dependences, first, last).scope, Scope::Global);
}

#[test]
fn disjoint_parts_of_one_buffer_do_not_depend() {
    let mut world = World::new();
    let whole = world.buffer("whole");
    let (z, w) = (world.buffer("z"), world.buffer("w"));
    let grid = world.number(4);
    let block = world.number(256);
    let n = world.number(1000);
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let scale = world.kernel(pointwise("scale", 0));
    let mut upper = whole.clone();
    upper.offset_bytes = Some(Expression::Constant(4000));
    let first = world.launch(scale, grid, block, actuals(&z, &whole, n));
    let second = world.launch(scale, grid, block, actuals(&upper, &w, n));
    let mut touching = whole.clone();
    touching.offset_bytes = Some(Expression::Constant(3996));
    let third = world.launch(scale, grid, block, actuals(&touching, &w, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    assert!(edges(&dependences, first, second).is_empty());
    assert_eq!(only_edge(&dependences, first, third).scope, Scope::Global);
}

#[test]
fn unknown_offset_is_guarded_by_ranges() {
    let mut world = World::new();
    let (a, b) = (world.stranger(), world.stranger());
    let (c, d) = (world.buffer("c"), world.buffer("d"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let scale = world.kernel(pointwise("scale", 0));
    let first = world.launch(scale, grid, block, actuals(&c, &a, n));
    let last = world.launch(scale, grid, block, actuals(&b, &d, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let aliases = edges(&dependences, first, last);
    // a against b, a against d, b against nothing written but a, c against d: known apart.
    assert_eq!(aliases.len(), 2, "{aliases:#?}");
    // Where the pointers are equal each thread meets itself, and where they lead apart nothing is there.
    for edge in aliases {
        assert_eq!(edge.scope, Scope::Thread);
        assert!(
            edge.absent_if
                .iter()
                .any(|guard| matches!(guard, Guard::RangesDisjoint { .. }))
        );
        assert!(edge.allows_equal_pointers());
    }
}

#[test]
fn a_possible_overlap_has_an_edge_of_each_kind() {
    let mut world = World::new();
    let (a, b) = (world.stranger(), world.stranger());
    let (c, d) = (world.buffer("c"), world.buffer("d"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let mut accumulate = pointwise("accumulate", 0);
    let mut read_back = accumulate.accesses[1].clone();
    read_back.id = AccessId(accumulate.accesses.len());
    read_back.kind = AccessKind::Read;
    accumulate.accesses.push(read_back);
    let accumulate = world.kernel(accumulate);
    let first = world.launch(accumulate, grid, block, actuals(&c, &a, n));
    let last = world.launch(accumulate, grid, block, actuals(&d, &b, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    for kind in [
        DependenceKind::Flow,
        DependenceKind::Anti,
        DependenceKind::Output,
    ] {
        let of_kind = edges(&dependences, first, last)
            .into_iter()
            .filter(|edge| edge.kind == kind && !edge.absent_if.is_empty());
        assert!(of_kind.count() > 0, "no {kind:?}");
    }
}

#[test]
fn different_shapes_are_compared_as_they_are() {
    let mut world = World::new();
    let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
    let (grid, n) = (world.extent(), world.unknown());
    let (narrow, wide) = (world.number(128), world.number(256));
    let grid = shape(&mut world, grid);
    let (narrow, wide) = (shape(&mut world, narrow), shape(&mut world, wide));
    let scale = world.kernel(pointwise("scale", 0));
    let first = world.launch(scale, grid, narrow, actuals(&x, &y, n));
    let last = world.launch(scale, grid, wide, actuals(&y, &z, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let edge = only_edge(&dependences, first, last);
    assert_eq!(edge.scope, Scope::Global);
    assert!(
        edge.because.contains("different grids or blocks"),
        "{}",
        edge.because
    );
}

#[test]
fn unknown_blocks_are_equal_under_a_guard_and_grids_need_not_be() {
    for (blocks_differ, conditions) in [(false, 0), (true, 1)] {
        let mut world = World::new();
        let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
        let n = world.unknown();
        let [one_grid, other_grid, one_block, other_block] = [(); 4].map(|()| world.extent());
        let other_block = if blocks_differ {
            other_block
        } else {
            one_block
        };
        let [one_grid, other_grid, one_block, other_block] =
            [one_grid, other_grid, one_block, other_block].map(|x| shape(&mut world, x));
        let scale = world.kernel(pointwise("scale", 0));
        let first = world.launch(scale, one_grid, one_block, actuals(&x, &y, n));
        let last = world.launch(scale, other_grid, other_block, actuals(&y, &z, n));
        let dependences = build_dependence_graph(&world.graph, &world.kernels);
        let edge = only_edge(&dependences, first, last);
        assert_eq!(edge.scope, Scope::Thread, "{}", edge.because);
        let shapes = edge
            .conditions
            .iter()
            .filter(|guard| matches!(guard, Guard::Holds { class, .. } if class == "shape"));
        assert_eq!(shapes.count(), conditions, "{:?}", edge.conditions);
    }
}

#[test]
fn unknown_third_axes_must_be_flat() {
    let mut world = World::new();
    let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
    let (grid, block, depth, n) = (
        world.extent(),
        world.extent(),
        world.extent(),
        world.unknown(),
    );
    let grid = shape(&mut world, grid);
    let one = world.number(1);
    let scale = world.kernel(pointwise("scale", 0));
    let first = world.launch(scale, grid, [block, depth, one], actuals(&x, &y, n));
    let last = world.launch(scale, grid, [block, depth, one], actuals(&y, &z, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let edge = only_edge(&dependences, first, last);
    assert_eq!(edge.scope, Scope::Thread, "{}", edge.because);
    assert_eq!(edge.conditions.len(), 2, "{:?}", edge.conditions);
}

#[test]
fn copies_are_whole_ranges() {
    let mut world = World::new();
    let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
    let (grid, block, n) = (world.number(4), world.number(256), world.number(1000));
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let scale = world.kernel(pointwise("scale", 0));
    let first = world.launch(scale, grid, block, actuals(&x, &y, n));
    let copy = world.copy_to_host(&y, 4000);
    let other = world.copy_on_device(&x, &z, 16);
    let mut beyond = y.clone();
    beyond.offset_bytes = Some(Expression::Constant(4000));
    let apart = world.copy_to_host(&beyond, 4000);
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    assert_eq!(
        only_edge(&dependences, first, copy).kind,
        DependenceKind::Flow
    );
    assert!(edges(&dependences, first, other).is_empty());
    assert!(edges(&dependences, first, apart).is_empty());
}

#[test]
fn a_host_loop_carries_dependences_back() {
    let mut world = World::new();
    let (x, y) = (world.buffer("x"), world.buffer("y"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let scale = world.kernel(pointwise("scale", 0));
    world.enter_loop();
    let first = world.launch(scale, grid, block, actuals(&x, &y, n));
    let last = world.launch(scale, grid, block, actuals(&y, &x, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let carried: Vec<_> = dependences.edges().filter(|edge| edge.carried).collect();
    assert!(
        carried
            .iter()
            .any(|edge| edge.source == last && edge.sink == first)
    );
    assert!(
        carried
            .iter()
            .any(|edge| edge.source == first && edge.sink == last)
    );
    assert!(carried.iter().all(|edge| edge.scope == Scope::Thread));
    assert!(
        edges(&dependences, first, last)
            .iter()
            .all(|edge| edge.scope == Scope::Thread)
    );
}

/// `for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)`.
#[test]
fn grid_stride_loops_are_thread_wide() {
    let mut world = World::new();
    let mut stride = Kernel::new("stride", 3);
    let block_size = stride.parameter(KernelSymbol::BlockSize(X));
    let n = stride.parameter(int_argument(2));
    stride.model.parameters.push(
        Expression::Leaf(KernelSymbol::GridSize(X))
            .multiply(Expression::Leaf(KernelSymbol::BlockSize(X))),
    );
    let all = Variable::Parameter(2);
    let base = stride.product(Affine::variable(Variable::Block(X)), &block_size);
    let step = stride.repeat();
    let far = stride.product(Affine::variable(step), &all);
    let index = sum(&[(1, base), (1, far), (1, Variable::Thread(X))], 0);
    let inside = vec![vec![Constraint::NonNegative(
        sum(&[(1, n)], -1).subtract(&index).unwrap(),
    )]];
    let bytes = index.scale(4).unwrap();
    stride.access(AccessKind::Read, 0, bytes.clone(), inside.clone());
    stride.access(AccessKind::Write, 1, bytes, inside);
    let stride = world.kernel(stride.model);
    let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let first = world.launch(stride, grid, block, actuals(&x, &y, n));
    let last = world.launch(stride, grid, block, actuals(&y, &z, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let edge = only_edge(&dependences, first, last);
    assert_eq!(
        edge.scope,
        Scope::Thread,
        "{} {}",
        edge.because,
        edge.relation
    );
}

#[test]
fn what_a_loop_wrote_is_read_after_it() {
    let mut world = World::new();
    let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let scale = world.kernel(pointwise("scale", 0));
    world.enter_loop();
    let inside = world.launch(scale, grid, block, actuals(&x, &y, n));
    world.leave_loop();
    let after = world.launch(scale, grid, block, actuals(&y, &z, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    assert_eq!(
        only_edge(&dependences, inside, after).kind,
        DependenceKind::Flow
    );
}

#[test]
fn a_witness_names_two_threads_and_the_element() {
    let mut world = World::new();
    let (x, y, z) = (world.buffer("x"), world.buffer("t"), world.buffer("z"));
    let (grid, block) = (world.number(4), world.number(256));
    let n = world.unknown();
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let scale = world.kernel(pointwise("scale", 0));
    let before = world.kernel(pointwise("before", -1));
    let first = world.launch(scale, grid, block, actuals(&x, &y, n));
    let last = world.launch(before, grid, block, actuals(&y, &z, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let edge = only_edge(&dependences, first, last);
    let witness = edge.witness.as_ref().unwrap();
    assert!(witness.certain);
    assert_eq!(
        witness.text,
        "`t[255]` is written by block 0, thread 255 (app.cu:11) and read by block 1, thread 0 \
         (app.cu:10), for instance with argument 0 = 1024"
    );
    assert_eq!(witness.byte, Some(4 * 255));
    assert_eq!(witness.source.place, Some(([0, 0, 0], [255, 0, 0])));
    assert_eq!(witness.sink.place, Some(([1, 0, 0], [0, 0, 0])));
    assert!(edge.explanation().contains(&witness.text));
}

#[test]
fn a_witness_of_a_block_stays_in_the_block() {
    let mut world = World::new();
    let (x, y, sums) = (world.buffer("x"), world.buffer("y"), world.buffer("sums"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let rows = world.kernel(rows("square_rows"));
    let reduce = world.kernel(row_sum("sum_rows"));
    let first = world.launch(rows, grid, block, actuals(&x, &y, n));
    let last = world.launch(reduce, grid, block, actuals(&y, &sums, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let witness = only_edge(&dependences, first, last)
        .witness
        .as_ref()
        .unwrap();
    let (source, sink) = (witness.source.place.unwrap(), witness.sink.place.unwrap());
    assert_eq!(source.0, sink.0, "{}", witness.text);
    assert_ne!(source.1, sink.1, "{}", witness.text);
}

#[test]
fn halves_of_a_size_that_only_the_run_knows_are_apart_behind_a_guard() {
    let guards = |distance: i64| -> Vec<Vec<Guard>> {
        let mut world = World::new();
        let (x, whole) = (world.buffer("x"), world.buffer("whole"));
        let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
        let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
        let scale = world.kernel(pointwise("scale", 0));
        let mut part = whole.clone();
        part.offset_bytes = Some(Expression::Constant(distance));
        let first = world.launch(scale, grid, block, actuals(&x, &whole, n));
        let last = world.launch(scale, grid, block, actuals(&x, &part, n));
        let dependences = build_dependence_graph(&world.graph, &world.kernels);
        let found = edges(&dependences, first, last);
        found.iter().map(|edge| edge.absent_if.clone()).collect()
    };
    let halves = guards(1 << 20);
    let apart = |guard: &Guard| matches!(guard, Guard::RangesDisjoint { .. });
    assert_eq!(halves.len(), 1);
    assert!(halves[0].iter().any(apart), "{halves:#?}");
    // A view of the same elements, shifted by one: no run would pass the test.
    assert_eq!(guards(4), [Vec::new()]);
}

#[test]
fn an_edge_that_may_alias_names_the_accesses() {
    let mut world = World::new();
    let (x, y) = (world.buffer("x"), world.buffer("y"));
    let stranger = world.stranger();
    let (grid, n) = (world.extent(), world.unknown());
    let (narrow, wide) = (world.number(128), world.number(256));
    let grid = shape(&mut world, grid);
    let (narrow, wide) = (shape(&mut world, narrow), shape(&mut world, wide));
    let scale = world.kernel(pointwise("scale", 0));
    let first = world.launch(scale, grid, narrow, actuals(&x, &y, n));
    let last = world.launch(scale, grid, wide, actuals(&stranger, &x, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let found = edges(&dependences, first, last);
    let flow = found.iter().find(|edge| edge.kind == DependenceKind::Flow);
    let witness = flow.unwrap().witness.as_ref().unwrap();
    assert!(!witness.certain);
    assert_eq!(
        witness.text,
        "memory behind a pointer may be written by any thread (app.cu:11) and read by any thread \
         (app.cu:10)"
    );
}
