//! Members of other shapes than the fused launch.

use super::*;
use sirius_rs::kernel::AccessId;
use sirius_rs::launch::{MemoryKind, Operation, Touch};
use sirius_rs::program::OperationKind;
use sirius_rs::schedule::ThreadMap;

fn mapped(mut plan: FusionPlan, maps: &[ThreadMap]) -> FusionPlan {
    for (member, map) in plan.groups[0].members.iter_mut().zip(maps) {
        member.map = map.clone();
    }
    plan
}

const CLIPPED: [ThreadMap; 2] = [ThreadMap::Clipped, ThreadMap::Clipped];

/// A chain whose second launch has a grid of so many blocks.
fn of_grids(blocks: i64) -> Chain {
    let mut chain = chain_of(scale, shift);
    let other = chain.scene.constant(blocks);
    chain.scene.launch_mut(chain.launches[1]).grid[0] = other;
    chain
}

#[test]
fn the_largest_grid_need_not_be_clipped() {
    use ThreadMap::{Clipped, Identity};
    for (blocks, maps) in [(41, [Clipped, Identity]), (39, [Identity, Clipped])] {
        let chain = of_grids(blocks);
        assert_passes(&chain.scene, &mapped(chain.plan(), &maps));
        assert_passes(&chain.scene, &mapped(chain.plan(), &CLIPPED));
        let [first, second] = maps;
        let exchanged = mapped(chain.plan(), &[second, first]);
        assert_refused!(chain.scene, exchanged, Refusal::DifferentShape { .. });
    }
}

#[test]
fn unknown_grids_are_clipped_and_unknown_blocks_tested() {
    let (scene, guarded) = guarded_chain();
    let without = |what: usize| {
        let mut plan = mapped(guarded.clone(), &CLIPPED);
        plan.groups[0].guards.remove(what);
        plan
    };
    // The second's own indices must not wrap either, which equal grids would imply.
    assert_refused!(scene, without(0), Refusal::PreconditionUnchecked { .. });
    let NodeKind::Launch(second) = &scene.graph.nodes[1].kind else {
        unreachable!("it is a launch")
    };
    let mut plan = without(0);
    plan.groups[0].guards.push(no_wrap(Shape {
        grid: second.grid[0],
        block: second.block[0],
    }));
    assert_passes(&scene, &plan);
    let one_only = mapped(plan.clone(), &[ThreadMap::Identity, ThreadMap::Clipped]);
    assert_refused!(scene, one_only, Refusal::DifferentShape { .. });
    let found = refusals(&scene, &without(1));
    let shape = |refusal: &Refusal| matches!(refusal, Refusal::DifferentShape { .. });
    assert!(found.iter().any(shape), "{found:#?}");
}

#[test]
fn clipping_is_no_excuse_for_other_blocks() {
    let mut chain = chain_of(scale, shift);
    let half = chain.scene.constant(128);
    chain.scene.launch_mut(chain.launches[1]).block[0] = half;
    let found = refusals(&chain.scene, &mapped(chain.plan(), &CLIPPED));
    let shape = |refusal: &Refusal| matches!(refusal, Refusal::DifferentShape { .. });
    assert!(found.iter().any(shape), "{found:#?}");
}

#[test]
fn a_smaller_grid_still_reaches_other_blocks() {
    // The second reads the next block's elements, from 20 blocks of 40.
    let mut chain = chain_of(scale, shift);
    let fewer = chain.scene.constant(20);
    let second = chain.launches[1];
    chain.scene.launch_mut(second).grid[0] = fewer;
    assert_passes(&chain.scene, &mapped(chain.plan(), &CLIPPED));
    let model = &mut chain.scene.kernels[1];
    for access in &mut model.accesses {
        if access.kind == AccessKind::Read {
            let subscript = access.subscript.as_mut().unwrap();
            subscript.constant += 4 * 256;
        }
    }
    let plan = mapped(chain.plan(), &CLIPPED);
    assert_refused!(chain.scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn what_runs_in_unison_has_one_grid() {
    let (mut scene, one, two) = segments::sums_of_two();
    let fewer = scene.constant(20);
    scene.launch_mut(two).grid[0] = fewer;
    let both = plan(&[(one, false), (two, false)], Vec::new());
    let both = mapped(both, &CLIPPED);
    assert_passes(&scene, &both);
    let unison = segments::in_segments(both, &[&[0, 1]]);
    assert_refused!(scene, unison, Refusal::NotInUnison { .. });
}

/// A set of `bytes` of an allocation of 4 · n bytes, then a pointwise launch over it; the plan of both.
fn set_and_scale(bytes: impl Fn(ValueId) -> Expression<ValueId>) -> (Scene, FusionPlan) {
    let mut scene = Scene::new();
    let buffers = ["a", "b"].map(|name| scene.buffer(name));
    let [a, b] = buffers.map(Pass::To);
    let size = scene.unknown();
    let shape = scene.known_shape();
    let [value, length] = [scene.unknown(), scene.unknown()];
    let set = grid_stride(&mut scene, "set", 0);
    let model = &mut scene.kernels[set.0];
    model.name = "sirius.set.4".to_owned();
    model
        .accesses
        .retain(|access| access.kind != AccessKind::Read);
    for access in &mut model.accesses {
        access.id = AccessId(0);
        access.target = Target::Argument {
            argument: 0,
            offset_bytes: 0,
        };
    }
    let domain = scene.kernels[set.0].accesses[0].domain.clone();
    assert_eq!(
        domain,
        vec![Vec::new()],
        "all threads, as often as it takes"
    );
    let scale = scene.pointwise("scale");
    let passed = [a.clone(), Pass::Integer(value), Pass::Integer(length)];
    let one = scene.launch(set, shape, &passed);
    let two = scene.launch(scale, shape, &[a, b, Pass::Integer(size)]);
    let whole = Expression::Constant(4).multiply(Expression::Leaf(size));
    scene.graph.buffers[buffers[0].0].bytes = Some(whole);
    let pointer = scene.launch_mut(one).arguments[0].pieces[0].pointer.clone();
    let node = scene
        .graph
        .nodes
        .iter()
        .find(|node| matches!(&node.kind, NodeKind::Launch(launch) if launch.id == one));
    let node = node.unwrap().id;
    scene.graph.operations.push(Operation {
        node,
        kind: OperationKind::Set,
        touches: vec![Touch {
            pointer: pointer.unwrap(),
            bytes: Some(bytes(size)),
        }],
        ordinal: 0,
        launch: Some(one),
    });
    let plan = plan(&[(one, false), (two, false)], vec![valid(one), valid(two)]);
    (scene, plan)
}

fn elements(size: ValueId) -> Expression<ValueId> {
    Expression::Constant(4).multiply(Expression::Leaf(size))
}

/// Whether the set is refused as such.
fn refuses_set(scene: &Scene, plan: &FusionPlan) -> bool {
    let found = refusals(scene, plan);
    found
        .iter()
        .any(|refusal| matches!(refusal, Refusal::Operation { .. }))
}

#[test]
fn a_set_within_its_allocation_may_be_a_member() {
    let (mut scene, plan) = set_and_scale(elements);
    assert_passes(&scene, &plan);
    // A part of the elements, of which there may be fewer.
    scene.graph.operations[0].touches[0].bytes = Some(Expression::Constant(1024));
    assert!(refuses_set(&scene, &plan));
    scene.graph.buffers[0].bytes = Some(Expression::Constant(1024));
    assert!(!refuses_set(&scene, &plan));
}

#[test]
fn refuses_sets_that_could_fail() {
    let one_more = |size| elements(size).add(Expression::Constant(4));
    let (scene, plan) = set_and_scale(one_more);
    assert!(refuses_set(&scene, &plan), "beyond the allocation");
    let (scene, plan) = set_and_scale(Expression::Leaf);
    assert!(refuses_set(&scene, &plan), "not known to be within");
    let changes: [fn(&mut Scene, &mut FusionPlan); 8] = [
        |_, plan| plan.groups[0].guards.clear(),
        |scene, _| scene.graph.buffers[0].unique = false,
        |scene, _| scene.graph.buffers[0].memory = MemoryKind::Managed,
        |scene, _| scene.graph.buffers[0].bytes = None,
        |scene, _| {
            let pointer = &mut scene.graph.operations[0].touches[0].pointer;
            pointer.offset_bytes = Some(Expression::Constant(2));
        },
        |scene, _| {
            let launch = scene.graph.operations[0].launch.unwrap();
            let other = scene.constant(39);
            scene.launch_mut(launch).grid[0] = other;
        },
        |scene, _| scene.kernels[0].name = "sirius.copy.4".to_owned(),
        |scene, _| scene.graph.operations[0].kind = OperationKind::Copy,
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let (mut scene, mut plan) = set_and_scale(elements);
        change(&mut scene, &mut plan);
        assert!(refuses_set(&scene, &plan), "change {index}");
    }
}
