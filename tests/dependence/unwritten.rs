//! Graphs whose relations nobody reads: the same edges for less work.

use crate::builder::{
    Kernel, World, X, actuals, int_argument, pointwise, row_sum, rows, shape, sum,
};
use sirius_rs::dependence::{
    DependenceGraph, Edge, Scope, build_dependence_graph, build_dependence_graph_without_relations,
};
use sirius_rs::kernel::{AccessKind, KernelModel, KernelSymbol};
use sirius_rs::math::affine::{Affine, Constraint, Variable};

/// `out[i] = in[i - reach] + … + in[i + reach]`; arguments in, out, n.
fn stencil(name: &str, reach: i64) -> KernelModel {
    let mut kernel = Kernel::new(name, 3);
    let block_size = kernel.parameter(KernelSymbol::BlockSize(X));
    let n = kernel.parameter(int_argument(2));
    let base = kernel.product(Affine::variable(Variable::Block(X)), &block_size);
    let thread = Variable::Thread(X);
    let inside = vec![vec![Constraint::NonNegative(sum(
        &[(1, n), (-1, base.clone()), (-1, thread.clone())],
        -1,
    ))]];
    let index = [(4, base), (4, thread)];
    for shift in -reach..=reach {
        let read = sum(&index, 4 * shift);
        kernel.access(AccessKind::Read, 0, read, inside.clone());
    }
    kernel.access(AccessKind::Write, 1, sum(&index, 0), inside);
    kernel.precondition_no_wrap();
    kernel.model
}

/// A chain over x, y and z of two kernels.
fn chain(first: KernelModel, second: KernelModel) -> World {
    let mut world = World::new();
    let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
    let (first, second) = (world.kernel(first), world.kernel(second));
    world.launch(first, grid, block, actuals(&x, &y, n));
    world.launch(second, grid, block, actuals(&y, &z, n));
    world
}

fn edges(dependences: &DependenceGraph) -> Vec<Edge> {
    dependences.edges().cloned().collect()
}

#[test]
fn an_edge_is_the_same_but_for_its_relation() {
    for (first, second) in [
        (pointwise("first", 0), pointwise("second", 0)),
        (pointwise("first", 0), pointwise("second", 1)),
        (rows("first"), row_sum("second")),
        (pointwise("first", 0), stencil("second", 3)),
        (stencil("first", 1), stencil("second", 2)),
    ] {
        let world = chain(first, second);
        let written = edges(&build_dependence_graph(&world.graph, &world.kernels));
        let unwritten = edges(&build_dependence_graph_without_relations(
            &world.graph,
            &world.kernels,
        ));
        assert!(!written.is_empty());
        let text = |edge: &Edge| edge.relation.clone();
        assert_ne!(
            written.iter().map(text).collect::<Vec<_>>(),
            unwritten.iter().map(text).collect::<Vec<_>>()
        );
        let without = |edge: Edge| Edge {
            relation: "".into(),
            exact: false,
            ..edge
        };
        assert_eq!(
            written.into_iter().map(without).collect::<Vec<_>>(),
            unwritten.into_iter().map(without).collect::<Vec<_>>()
        );
    }
}

#[test]
fn one_proof_of_a_global_scope_is_enough() {
    let problems = |reach: i64| {
        let world = chain(pointwise("first", 0), stencil("second", reach));
        let dependences = build_dependence_graph_without_relations(&world.graph, &world.kernels);
        let scopes: Vec<_> = edges(&dependences).iter().map(|edge| edge.scope).collect();
        assert_eq!(scopes, [Scope::Global]);
        dependences.effort.problems
    };
    assert_eq!(problems(1), problems(5));
}
