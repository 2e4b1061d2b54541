//! Members of other shapes than the fused launch.

use super::*;
use sirius_rs::kernel::AccessId;
use sirius_rs::launch::{MemoryKind, Operation, Touch};
use sirius_rs::math::expression::Condition;
use sirius_rs::program::OperationKind;
use sirius_rs::schedule::{ThreadMap, ThreadOrder};

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
fn what_runs_interleaved_has_one_grid() {
    let (mut scene, one, two) = segments::sums_of_two();
    let fewer = scene.constant(20);
    scene.launch_mut(two).grid[0] = fewer;
    let both = plan(&[(one, false), (two, false)], Vec::new());
    let both = mapped(both, &CLIPPED);
    assert_passes(&scene, &both);
    let interleaved = segments::in_segments(both, &[&[0, 1]]);
    assert_refused!(scene, interleaved, Refusal::NotInterleaved { .. });
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
        set_to: None,
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

/// The same in one launch with a barrier across its grid, the set in one block of 32 threads.
fn set_in_one_block() -> (Scene, FusionPlan) {
    let (mut scene, mut plan) = set_and_scale(elements);
    let (one, block) = (scene.constant(1), scene.constant(32));
    let set = scene.launch_mut(scene.graph.operations[0].launch.unwrap());
    (set.grid[0], set.block[0]) = (one, block);
    let group = &mut plan.groups[0];
    group.grid_barriers = vec![1];
    group.guards.push(Guard::Resident { rounds: 8 });
    (scene, plan)
}

#[test]
fn a_set_in_a_cooperative_launch_may_have_a_constant_shape() {
    let (scene, plan) = set_in_one_block();
    assert_passes(&scene, &plan);
    // In an ordinary launch, nobody hands its extents over.
    let mut ordinary = plan.clone();
    ordinary.groups[0].grid_barriers.clear();
    ordinary.groups[0].guards.pop();
    assert!(refuses_set(&scene, &ordinary));
    let changes: [fn(&mut Scene); 3] = [
        |scene| {
            let unknown = scene.unknown();
            let set = scene.graph.operations[0].launch.unwrap();
            scene.launch_mut(set).grid[0] = unknown;
        },
        |scene| {
            let two = scene.constant(2);
            let set = scene.graph.operations[0].launch.unwrap();
            scene.launch_mut(set).block[1] = two;
        },
        // Its kernel stores another number than the call does.
        |scene| {
            let seven = scene.constant(7);
            let set = scene.graph.operations[0].launch.unwrap();
            scene.launch_mut(set).arguments[1].pieces[0].value = seven;
            scene.graph.operations[0].set_to = Some(0);
        },
    ];
    for (number, change) in changes.iter().enumerate() {
        let (mut scene, plan) = set_in_one_block();
        change(&mut scene);
        assert!(refuses_set(&scene, &plan), "change {number}");
    }
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

const REMAPPED: ThreadMap = ThreadMap::Remapped {
    own: ThreadOrder::Blocks,
    fused: ThreadOrder::Blocks,
    repeats: false,
};
const REPEATED: ThreadMap = ThreadMap::Remapped {
    own: ThreadOrder::Blocks,
    fused: ThreadOrder::Blocks,
    repeats: true,
};

/// A chain whose second launch has a shape of its own; the first one's is 40 blocks of 256 threads.
fn of_shapes(second: fn(&mut Scene) -> KernelId, blocks: i64, threads: i64) -> Chain {
    let mut chain = chain_of(pointwise, second);
    let (grid, block) = (chain.scene.constant(blocks), chain.scene.constant(threads));
    let launch = chain.scene.launch_mut(chain.launches[1]);
    (launch.grid[0], launch.block[0]) = (grid, block);
    chain
}

fn pointwise(scene: &mut Scene) -> KernelId {
    scene.pointwise("first")
}

fn of_halves(blocks: i64) -> Chain {
    of_shapes(pointwise, blocks, 128)
}

#[test]
fn threads_that_need_no_block_are_remapped() {
    let chain = of_halves(80);
    for maps in [
        [ThreadMap::Identity, REMAPPED],
        [REMAPPED, ThreadMap::Identity],
    ] {
        assert_passes(&chain.scene, &mapped(chain.plan(), &maps));
    }
    let kept = refusals(&chain.scene, &mapped(chain.plan(), &CLIPPED));
    let shape = |refusal: &Refusal| matches!(refusal, Refusal::DifferentShape { .. });
    assert!(kept.iter().any(shape), "{kept:#?}");
    let nobody = mapped(chain.plan(), &[REMAPPED, REMAPPED]);
    assert_refused!(chain.scene, nobody, Refusal::MixedMaps { .. });
}

#[test]
fn one_thread_too_many_takes_turns() {
    for (blocks, maps) in [
        (81, [ThreadMap::Identity, REMAPPED]),
        (79, [REMAPPED, ThreadMap::Identity]),
    ] {
        let chain = of_halves(blocks);
        let plan = mapped(chain.plan(), &maps);
        assert_refused!(chain.scene, plan, Refusal::NotRemapped { .. });
        let repeated = maps.map(|map| match map {
            ThreadMap::Identity => ThreadMap::Identity,
            _ => REPEATED,
        });
        assert_passes(&chain.scene, &mapped(chain.plan(), &repeated));
    }
}

#[test]
fn neighbours_are_other_threads_in_any_order() {
    let chain = of_shapes(|scene| scene.stencil("stencil"), 80, 128);
    for map in [REMAPPED, REPEATED] {
        let plan = mapped(chain.plan(), &[ThreadMap::Identity, map]);
        assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    }
}

#[test]
fn blocks_of_several_axes_are_counted_x_first() {
    // 16 by 8 threads are one row of 128, in a kernel that reads x alone of 16.
    let mut chain = of_halves(80);
    let [wide, high] = [chain.scene.constant(16), chain.scene.constant(8)];
    let launch = chain.scene.launch_mut(chain.launches[1]);
    (launch.block[0], launch.block[1]) = (wide, high);
    let plan = mapped(chain.plan(), &[ThreadMap::Identity, REMAPPED]);
    assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    // The row's number is added; the model's product is with the whole block.
    let model = &mut chain.scene.kernels[1];
    for access in &mut model.accesses {
        let subscript = access.subscript.as_mut().unwrap();
        *subscript = subscript
            .add(
                &Affine::variable(Variable::Thread(Axis::Y))
                    .scale(64)
                    .unwrap(),
            )
            .unwrap();
    }
    let area = Expression::Leaf(KernelSymbol::BlockSize(Axis::X))
        .multiply(Expression::Leaf(KernelSymbol::BlockSize(Axis::Y)));
    model.parameters[0] = area;
    assert_passes(&chain.scene, &plan);
    // The other order of the same threads, and the wrong one of the fused launch.
    let exchanged = |own, fused| ThreadMap::Remapped {
        own,
        fused,
        repeats: false,
    };
    use ThreadOrder::{Blocks, Rows};
    let rows = mapped(
        chain.plan(),
        &[ThreadMap::Identity, exchanged(Rows, Blocks)],
    );
    assert_refused!(chain.scene, rows, Refusal::RemappedConflict { .. });
    let line = mapped(
        chain.plan(),
        &[ThreadMap::Identity, exchanged(Blocks, Rows)],
    );
    assert_passes(&chain.scene, &line);
    let leads = mapped(
        chain.plan(),
        &[exchanged(Blocks, Rows), ThreadMap::Identity],
    );
    assert_refused!(chain.scene, leads, Refusal::RemappedConflict { .. });
    let leads = mapped(chain.plan(), &[REMAPPED, ThreadMap::Identity]);
    assert_passes(&chain.scene, &leads);
}

#[test]
fn what_needs_its_block_is_not_remapped() {
    use AccessKind::{Atomic, Read};
    type Change = fn(&mut KernelModel);
    let changes: [Change; 6] = [
        |model| model.warp_operations = true,
        |model| model.static_shared_bytes = 4,
        |model| model.dynamic_shared = true,
        |model| model.asynchronous_copies = true,
        |model| model.prints = true,
        |model| {
            let mut reads = model.accesses.iter_mut();
            reads.find(|access| access.kind == Read).unwrap().kind = Atomic;
        },
    ];
    for change in changes {
        let mut chain = of_halves(80);
        change(&mut chain.scene.kernels[1]);
        let plan = mapped(chain.plan(), &[ThreadMap::Identity, REMAPPED]);
        let found = refusals(&chain.scene, &plan);
        let remapped = |refusal: &Refusal| matches!(refusal, Refusal::NotRemapped { .. });
        assert!(found.iter().any(remapped), "{found:#?}");
    }
    // Threads in step would be told apart.
    for kernel in 0..2 {
        let mut chain = of_halves(80);
        chain.scene.kernels[kernel].distinguishes_threads = [false; 3];
        let plan = mapped(chain.plan(), &[ThreadMap::Identity, REMAPPED]);
        let found = refusals(&chain.scene, &plan);
        let step = |refusal: &Refusal| matches!(refusal, Refusal::NotInStep { .. });
        assert!(found.iter().any(step), "{found:#?}");
    }
}

#[test]
fn a_barrier_stands_between_blocks_of_numbers() {
    // Sums of 256 elements, which the launch of small blocks fills before.
    let sum = |scene: &mut Scene| scene.block_sum("sum");
    let mut chain = of_shapes(sum, 40, 256);
    let (blocks, threads) = (chain.scene.constant(80), chain.scene.constant(128));
    let launch = chain.scene.launch_mut(chain.launches[0]);
    (launch.grid[0], launch.block[0]) = (blocks, threads);
    let maps = [REMAPPED, ThreadMap::Identity];
    assert_passes(&chain.scene, &mapped(chain.plan(), &maps));
    // Each thread reads its neighbour's in a pair.
    let model = &mut chain.scene.kernels[1];
    for access in &mut model.accesses {
        if access.kind == AccessKind::Read {
            let thread = Affine::variable(Variable::Thread(Axis::X));
            let opposite = thread
                .scale(-2)
                .unwrap()
                .add(&Affine::constant(255))
                .unwrap();
            let subscript = access.subscript.as_mut().unwrap();
            *subscript = subscript.add(&opposite.scale(4).unwrap()).unwrap();
        }
    }
    let without = mapped(chain.plan(), &maps);
    assert_refused!(chain.scene, without, Refusal::RemappedConflict { .. });
    let mut with = without.clone();
    with.groups[0].members[1].barrier_before = true;
    assert_passes(&chain.scene, &with);
    // Blocks of 96 threads lie across the border of two of 256.
    let mut chain = of_shapes(sum, 40, 256);
    chain.scene.kernels[1] = {
        let mut model = chain.scene.kernels[1].clone();
        for access in &mut model.accesses {
            if access.kind == AccessKind::Read {
                let subscript = access.subscript.as_mut().unwrap();
                subscript.constant += 4 * 96;
            }
        }
        model
    };
    let (blocks, threads) = (chain.scene.constant(100), chain.scene.constant(96));
    let launch = chain.scene.launch_mut(chain.launches[0]);
    (launch.grid[0], launch.block[0]) = (blocks, threads);
    let mut across = mapped(chain.plan(), &maps);
    across.groups[0].members[1].barrier_before = true;
    assert_refused!(chain.scene, across, Refusal::RemappedConflict { .. });
}

#[test]
fn remapped_members_keep_to_their_segment_and_order() {
    let chain = of_halves(80);
    let maps = [ThreadMap::Identity, REMAPPED];
    let plan = mapped(chain.plan(), &maps);
    let backwards = segments::in_segments(plan.clone(), &[&[1], &[0]]);
    assert_refused!(chain.scene, backwards, Refusal::RemappedConflict { .. });
    let interleaved = segments::in_segments(plan, &[&[0, 1]]);
    let found = refusals(&chain.scene, &interleaved);
    let together = |refusal: &Refusal| matches!(refusal, Refusal::NotInterleaved { .. });
    assert!(found.iter().any(together), "{found:#?}");
}

#[test]
fn unknown_numbers_of_threads_are_tested() {
    let mut chain = of_halves(80);
    let unknown = [chain.scene.unknown(), chain.scene.unknown()];
    for (launch, grid) in chain.launches.into_iter().zip(unknown) {
        chain.scene.launch_mut(launch).grid[0] = grid;
    }
    let threads =
        |at: usize, block: i64| Expression::Leaf(unknown[at]).multiply(Expression::Constant(block));
    let at_most = |left, right| Guard::Holds {
        class: String::from("threads"),
        condition: Condition::LessEqual(left, right),
    };
    let most = || Expression::Constant((1 << 31) - 1);
    let guards = vec![
        at_most(threads(0, 256), most()),
        at_most(threads(1, 128), most()),
        at_most(threads(1, 128), threads(0, 256)),
    ];
    let mut plan = mapped(chain.plan(), &[ThreadMap::Identity, REMAPPED]);
    for launch in chain.launches {
        plan.groups[0]
            .guards
            .push(Guard::ConfigurationValid { launch });
    }
    let with = |guards: &[Guard]| {
        let mut plan = plan.clone();
        plan.groups[0].guards.extend(guards.iter().cloned());
        plan
    };
    assert_passes(&chain.scene, &with(&guards));
    assert_refused!(chain.scene, with(&guards[..2]), Refusal::NotRemapped { .. });
    let unbounded = refusals(&chain.scene, &with(&guards[2..]));
    let too_many = |refusal: &&Refusal| matches!(refusal, Refusal::TooManyThreads { .. });
    assert!(
        unbounded.iter().filter(too_many).count() >= 1,
        "{unbounded:#?}"
    );
    // One block more than fits.
    let more = threads(1, 128).subtract(Expression::Constant(128));
    let off_by_one = [guards[..2].to_vec(), vec![at_most(more, threads(0, 256))]].concat();
    assert_refused!(chain.scene, with(&off_by_one), Refusal::NotRemapped { .. });
}
