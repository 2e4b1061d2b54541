//! Members of which each block of the fused launch runs a part.

use super::*;
use sirius_rs::kernel::{Barrier, Product};
use sirius_rs::math::expression::Condition;
use sirius_rs::schedule::{ThreadMap, ThreadOrder};

const BLOCKS: ThreadOrder = ThreadOrder::Blocks;

/// A block for each row: every thread passes over its elements, as many as parameter 1.
fn of_rows(scene: &mut Scene) -> KernelId {
    of_many_rows(scene, 1)
}

/// The same with so many rows a block.
fn of_many_rows(scene: &mut Scene, rows: i64) -> KernelId {
    let id = scene.pointwise("rows");
    let model = &mut scene.kernels[id.0];
    let [row, column] = [Variable::Loop(0), Variable::Loop(1)].map(Affine::variable);
    let block = Affine::variable(Variable::Block(Axis::X));
    model.products.push(Product {
        factor: block.scale(rows).unwrap().add(&row).unwrap(),
        parameter: 1,
    });
    let below = |value: Affine, limit: Affine| {
        let room = limit.subtract(&value).unwrap();
        Constraint::NonNegative(room.add(&Affine::constant(-1)).unwrap())
    };
    let width = Affine::variable(Variable::Parameter(1));
    for access in &mut model.accesses {
        let first = Affine::variable(Variable::Product(1));
        access.subscript = first.add(&column).unwrap().scale(4);
        let inside = below(column.clone(), width.clone());
        access.domain = vec![vec![below(row.clone(), Affine::constant(rows)), inside]];
    }
    model.barriers = vec![Barrier {
        uniform: true,
        uniform_while_unwritten: Vec::new(),
        reached_if: Vec::new(),
        loops: Vec::new(),
        place: 0,
        location: Location::default(),
    }];
    id
}

fn of_columns(columns: i64) -> impl Fn(&mut Scene) -> KernelId {
    move |scene| {
        let id = of_rows(scene);
        scene.kernels[id.0].parameters[1] = Expression::Constant(columns);
        id
    }
}

/// Every thread, whatever its number.
fn pointwise(scene: &mut Scene) -> KernelId {
    let id = scene.pointwise("elements");
    for access in &mut scene.kernels[id.0].accesses {
        access.domain = vec![Vec::new()];
    }
    id
}

fn runs(length: Expression<ValueId>) -> ThreadMap {
    let own = BLOCKS;
    ThreadMap::Runs { own, length }
}

fn of(length: i64) -> ThreadMap {
    runs(Expression::Constant(length))
}

/// The chain's launches with these maps, a barrier between.
fn planned(chain: &Chain, maps: [ThreadMap; 2], guards: Vec<Guard>) -> FusionPlan {
    let mut plan = chain.plan_with(true, guards);
    for (member, map) in plan.groups[0].members.iter_mut().zip(maps) {
        member.map = map;
    }
    plan
}

/// Gives one of the launches so many blocks of so many threads.
fn reshape(chain: &mut Chain, launch: usize, blocks: i64, threads: i64) {
    let (grid, block) = (chain.scene.constant(blocks), chain.scene.constant(threads));
    let launch = chain.scene.launch_mut(chain.launches[launch]);
    (launch.grid[0], launch.block[0]) = (grid, block);
}

/// Elements and then rows of 192, 40 of them and as many elements.
fn elements_and_rows() -> Chain {
    let mut chain = chain_of(pointwise, of_columns(192));
    reshape(&mut chain, 0, 30, 256);
    chain
}

#[test]
fn a_block_runs_what_its_row_has() {
    let mut chain = elements_and_rows();
    let plan = planned(&chain, [of(192), ThreadMap::Identity], Vec::new());
    assert_passes(&chain.scene, &plan);
    // The last block runs what is left, whatever it is, and there may be less than all have.
    for blocks in [29, 31, 400] {
        reshape(&mut chain, 0, blocks, 256);
        assert_passes(&chain.scene, &plan);
    }
    let mut chain = chain_of(of_columns(192), pointwise);
    reshape(&mut chain, 1, 60, 128);
    let plan = planned(&chain, [ThreadMap::Identity, of(192)], Vec::new());
    assert_passes(&chain.scene, &plan);
}

#[test]
fn a_run_is_as_long_as_a_row() {
    let chain = elements_and_rows();
    for length in [1, 96, 191, 193, 384] {
        let plan = planned(&chain, [of(length), ThreadMap::Identity], Vec::new());
        assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    }
    for length in [0, -192, i64::MAX] {
        let plan = planned(&chain, [of(length), ThreadMap::Identity], Vec::new());
        let found = refusals(&chain.scene, &plan);
        let wraps = |refusal: &Refusal| matches!(refusal, Refusal::TooManyThreads { .. });
        assert!(found.iter().any(wraps), "{length}: {found:#?}");
    }
    // 40 runs that end where 32 bits do.
    let plan = planned(&chain, [of(1 << 26), ThreadMap::Identity], Vec::new());
    let found = refusals(&chain.scene, &plan);
    let wraps = |refusal: &Refusal| matches!(refusal, Refusal::TooManyThreads { .. });
    assert!(found.iter().any(wraps), "{found:#?}");
}

#[test]
fn rows_that_reach_into_others_are_no_runs() {
    for (scale, shift) in [(4, 4), (4, -4), (2, 0)] {
        let mut chain = elements_and_rows();
        for access in &mut chain.scene.kernels[1].accesses {
            let subscript = access.subscript.take().unwrap().scale(scale);
            let subscript = subscript
                .unwrap()
                .add(&Affine::constant(4 * shift))
                .unwrap();
            access.subscript = Some(subscript);
        }
        let plan = planned(&chain, [of(192), ThreadMap::Identity], Vec::new());
        assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    }
}

#[test]
fn a_barrier_stands_between_a_run_and_a_row() {
    let chain = elements_and_rows();
    let mut plan = planned(&chain, [of(192), ThreadMap::Identity], Vec::new());
    plan.groups[0].members[1].barrier_before = false;
    assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
}

#[test]
fn who_needs_a_block_has_no_run() {
    let chain = elements_and_rows();
    let plan = planned(&chain, [ThreadMap::Identity, of(192)], Vec::new());
    let found = refusals(&chain.scene, &plan);
    let barriers = |refusal: &Refusal| matches!(refusal, Refusal::NotRemapped { .. });
    assert!(found.iter().any(barriers), "{found:#?}");
    let nobody = planned(&chain, [of(192), of(192)], Vec::new());
    assert_refused!(chain.scene, nobody, Refusal::MixedMaps { .. });
}

/// Elements, elements of other blocks, and rows of 192.
fn twice_and_rows() -> (Scene, [LaunchId; 3]) {
    let mut scene = Scene::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| Pass::To(scene.buffer(name)));
    let n = Pass::Integer(scene.unknown());
    let (pointwise, rows) = (pointwise(&mut scene), of_columns(192)(&mut scene));
    let mut shape = |blocks, threads| Shape {
        grid: scene.constant(blocks),
        block: scene.constant(threads),
    };
    let [large, small, of_rows] = [shape(30, 256), shape(120, 64), shape(40, 96)];
    let one = scene.launch(pointwise, large, &[a, b.clone(), n.clone()]);
    let two = scene.launch(pointwise, small, &[b, c.clone(), n.clone()]);
    let three = scene.launch(rows, of_rows, &[c, d, n]);
    (scene, [one, two, three])
}

#[test]
fn runs_of_one_length_meet_in_their_threads() {
    let (scene, [one, two, three]) = twice_and_rows();
    let of_maps = |maps: [ThreadMap; 2], barrier| {
        let mut plan = plan(&[(one, false), (two, barrier), (three, true)], Vec::new());
        for (member, map) in plan.groups[0].members.iter_mut().zip(maps) {
            member.map = map;
        }
        plan
    };
    assert_passes(&scene, &of_maps([of(192), of(192)], false));
    for barrier in [false, true] {
        let other = of_maps([of(96), of(192)], barrier);
        assert_refused!(scene, other, Refusal::RemappedConflict { .. });
        let remapped = |repeats| ThreadMap::Remapped {
            own: BLOCKS,
            fused: BLOCKS,
            repeats,
        };
        let mixed = of_maps([remapped(true), of(192)], barrier);
        assert_refused!(scene, mixed, Refusal::RemappedConflict { .. });
    }
}

/// What begins anew with the first block and what stays in the last are in one block for no reason.
#[test]
fn turns_and_runs_have_no_blocks_in_common() {
    let (mut scene, [one, two, three]) = twice_and_rows();
    let fewer = scene.constant(20);
    scene.launch_mut(three).grid[0] = fewer;
    let mut plan = plan(&[(one, false), (two, true), (three, true)], Vec::new());
    let members = &mut plan.groups[0].members;
    members[0].map = ThreadMap::Remapped {
        own: BLOCKS,
        fused: BLOCKS,
        repeats: true,
    };
    members[1].map = of(96);
    let found = refusals(&scene, &plan);
    let between = |refusal: &Refusal| matches!(refusal, Refusal::RemappedConflict { first, second, .. } if (*first, *second) == (one, two));
    assert!(found.iter().any(between), "{found:#?}");
}

/// A chain with rows of as many elements as the run says, its size, and the guards of both.
fn of_unknown_rows(rows: i64) -> (Chain, Vec<Guard>) {
    let mut chain = chain_of(pointwise, |scene| of_many_rows(scene, rows));
    reshape(&mut chain, 0, 30, 256);
    let size = Expression::Leaf(chain.size);
    let least = Condition::LessEqual(Expression::Constant(1), size.clone());
    let end = size.multiply(Expression::Constant(40 * rows));
    let most = Condition::LessEqual(end, Expression::Constant((1 << 31) - 1));
    let guards = [least, most].map(|condition| Guard::Holds {
        class: String::from("threads"),
        condition,
    });
    (chain, guards.to_vec())
}

#[test]
fn rows_may_be_as_long_as_the_run_says() {
    for rows in [1, 4] {
        let (chain, guards) = of_unknown_rows(rows);
        let size = || Expression::Leaf(chain.size);
        let times = |count: i64| runs(size().multiply(Expression::Constant(count)));
        let plan = planned(&chain, [times(rows), ThreadMap::Identity], guards.clone());
        assert_passes(&chain.scene, &plan);
        for guard in 0..2 {
            let mut unguarded = plan.clone();
            unguarded.groups[0].guards.remove(guard);
            let found = refusals(&chain.scene, &unguarded);
            let wraps = |refusal: &Refusal| matches!(refusal, Refusal::TooManyThreads { .. });
            assert!(found.iter().any(wraps), "{found:#?}");
        }
        let mut others = vec![times(rows + 1), runs(size().add(Expression::Constant(1)))];
        others.extend((rows > 1).then(|| times(rows - 1)));
        let another = Condition::LessEqual(
            size().multiply(Expression::Constant(6)),
            Expression::Constant(1 << 20),
        );
        let mut more = guards.clone();
        more.push(Guard::Holds {
            class: String::from("threads"),
            condition: another,
        });
        for other in others {
            let plan = planned(&chain, [other, ThreadMap::Identity], more.clone());
            assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
        }
        let mut without = plan.clone();
        without.groups[0].members[1].barrier_before = false;
        assert_refused!(chain.scene, without, Refusal::RemappedConflict { .. });
    }
}

/// Each block its own element of strided memory, at a length that the second launch has as another value; the
/// kernel reads lengths as they are signed or not.
fn of_strides(signed: bool) -> (Chain, ValueId) {
    let strided = |scene: &mut Scene| {
        let id = of_rows(scene);
        let model = &mut scene.kernels[id.0];
        model.barriers.clear();
        model.products[1].factor = Affine::variable(Variable::Block(Axis::X));
        let first = Affine::variable(Variable::Thread(Axis::X));
        for access in &mut model.accesses {
            access.subscript = Affine::variable(Variable::Product(1)).scale(4);
            access.domain = vec![vec![Constraint::Zero(first.clone())]];
        }
        let Expression::Leaf(KernelSymbol::Argument {
            signed: as_read, ..
        }) = &mut model.parameters[1]
        else {
            unreachable!("the length is an argument")
        };
        *as_read = signed;
        id
    };
    let mut chain = chain_of(strided, strided);
    let length = chain.scene.unknown();
    let second = chain.scene.launch_mut(chain.launches[1]);
    let argument = second.arguments.last_mut().unwrap();
    argument.pieces[0].value = length;
    argument.identity = Some(length);
    (chain, length)
}

#[test]
fn a_multiple_of_a_length_is_another_length() {
    for signed in [true, false] {
        let (chain, length) = of_strides(signed);
        let with = |times: i64| {
            let multiple = Expression::Constant(times).multiply(Expression::Leaf(chain.size));
            let condition = Condition::Equal(Expression::Leaf(length), multiple);
            let positive =
                Condition::LessEqual(Expression::Constant(1), Expression::Leaf(chain.size));
            let guards = [condition, positive].map(|condition| Guard::Holds {
                class: String::from("divisible"),
                condition,
            });
            let identity = || ThreadMap::Identity;
            planned(&chain, [identity(), identity()], guards.to_vec())
        };
        assert_passes(&chain.scene, &with(1));
        assert_refused!(chain.scene, with(4), Refusal::CrossesBlocks { .. });
    }
}
