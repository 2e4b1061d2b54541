//! Members whose whole blocks are those of the fused launch in another arrangement.

use super::*;
use sirius_rs::kernel::Access;
use sirius_rs::schedule::{Arrangement, ThreadMap};

use Arrangement::{FirstWarp, Renumbered, Reversed, Same, Transposed};

fn arranged(blocks: Arrangement, threads: Arrangement) -> ThreadMap {
    ThreadMap::Rearranged { blocks, threads }
}

/// A sum of blocks and threads times elements of four bytes.
fn element(terms: &[(i64, Variable)], constant: i64) -> Affine {
    let terms = terms.iter().map(|(times, variable)| {
        let variable = Affine::variable(variable.clone());
        variable.scale(4 * times).unwrap()
    });
    terms.fold(Affine::constant(4 * constant), |sum, term| {
        sum.add(&term).unwrap()
    })
}

const BX: Variable = Variable::Block(Axis::X);
const BY: Variable = Variable::Block(Axis::Y);
const TX: Variable = Variable::Thread(Axis::X);
const TY: Variable = Variable::Thread(Axis::Y);

/// Tiles of 16 by 16 threads, a matrix with rows of so many tiles: the thread's own element, that which it
/// has when blocks are exchanged, and that when threads are, too.
fn in_tile(tiles: i64) -> Affine {
    let row = 16 * tiles;
    element(&[(16, BX), (1, TX), (16 * row, BY), (row, TY)], 0)
}

fn in_other_tile(tiles: i64) -> Affine {
    let row = 16 * tiles;
    element(&[(16, BY), (1, TX), (16 * row, BX), (row, TY)], 0)
}

fn transposed(tiles: i64) -> Affine {
    let row = 16 * tiles;
    element(&[(16, BY), (1, TY), (16 * row, BX), (row, TX)], 0)
}

/// A group whose first launch writes `first` of the middle buffer and whose second reads `second`, in grids
/// and blocks of these extents.
struct Pair {
    scene: Scene,
    launches: [LaunchId; 2],
}

type Extents = [i64; 4];

fn pair(first: (Affine, Extents), second: (Affine, Extents)) -> Pair {
    let writes = |subscript: &Affine| everywhere(AccessKind::Write, 1, subscript);
    let reads = |subscript: &Affine| everywhere(AccessKind::Read, 0, subscript);
    let mut chain = chain_of(
        |scene| scene.kernel("first", 2, vec![writes(&first.0)]),
        |scene| scene.kernel("second", 2, vec![reads(&second.0)]),
    );
    for (launch, extents) in chain.launches.into_iter().zip([first.1, second.1]) {
        let [gx, gy, bx, by] = extents.map(|extent| chain.scene.constant(extent));
        let launch = chain.scene.launch_mut(launch);
        (launch.grid[0], launch.grid[1]) = (gx, gy);
        (launch.block[0], launch.block[1]) = (bx, by);
    }
    Pair {
        launches: chain.launches,
        scene: chain.scene,
    }
}

/// An access by all threads.
fn everywhere(kind: AccessKind, argument: usize, subscript: &Affine) -> Access {
    let mut access = access(kind, argument, subscript.clone());
    access.domain = vec![Vec::new()];
    access
}

impl Pair {
    fn plan(&self, barrier: bool, maps: [ThreadMap; 2]) -> FusionPlan {
        let members = [(self.launches[0], false), (self.launches[1], barrier)];
        let mut plan = plan(&members, Vec::new());
        for (member, map) in plan.groups[0].members.iter_mut().zip(maps) {
            member.map = map;
        }
        plan
    }

    /// The second member rearranged, and the first one.
    fn both_ways(&self, barrier: bool, map: ThreadMap) -> [FusionPlan; 2] {
        let maps = [ThreadMap::Identity, map];
        let [identity, map] = maps.clone();
        [
            self.plan(barrier, maps),
            self.plan(barrier, [map, identity]),
        ]
    }

    /// Makes a member one that waits in the middle and keeps something in shared memory.
    fn give_barrier(&mut self, member: usize) {
        let model = &mut self.scene.kernels[member];
        model.static_shared_bytes = 1024;
        model.barriers = vec![Barrier {
            uniform: true,
            uniform_while_unwritten: Vec::new(),
            reached_if: Vec::new(),
            loops: Vec::new(),
            place: 0,
            location: Location::default(),
        }];
    }
}

const GRID: Extents = [6, 4, 16, 16];
const TURNED: Extents = [4, 6, 16, 16];

/// Not refused for anything, or for accesses that meet in other blocks or threads alone.
fn keeps_order(scene: &Scene, plan: &FusionPlan) -> bool {
    let found = refusals(scene, plan);
    assert!(
        found.iter().all(|refusal| matches!(
            refusal,
            Refusal::CrossesBlocks { .. } | Refusal::MissingBarrier { .. }
        )),
        "{found:#?}"
    );
    found.is_empty()
}

#[test]
fn transposed_blocks_keep_barriers() {
    let mut pair = pair((in_other_tile(4), GRID), (in_tile(4), TURNED));
    for member in [0, 1] {
        pair.give_barrier(member);
    }
    for plan in pair.both_ways(false, arranged(Transposed, Same)) {
        assert_passes(&pair.scene, &plan);
    }
    for map in [arranged(Same, Same), arranged(Reversed, Same)] {
        for plan in pair.both_ways(true, map) {
            let found = refusals(&pair.scene, &plan);
            let arranged = |refusal: &Refusal| matches!(refusal, Refusal::NotRearranged { .. });
            assert!(found.iter().any(arranged), "{found:#?}");
        }
    }
    // Their blocks are as many, in another order.
    for plan in pair.both_ways(true, arranged(Renumbered, Same)) {
        assert!(!keeps_order(&pair.scene, &plan));
    }
    let nobody = pair.plan(
        true,
        [arranged(Transposed, Same), arranged(Transposed, Same)],
    );
    assert_refused!(pair.scene, nobody, Refusal::MixedMaps { .. });
}

#[test]
fn threads_are_exchanged_where_they_need_nothing_of_their_block() {
    let mut pair = pair((transposed(4), GRID), (in_tile(4), TURNED));
    for plan in pair.both_ways(false, arranged(Transposed, Transposed)) {
        assert_passes(&pair.scene, &plan);
    }
    // With blocks alone exchanged each block still meets itself.
    for plan in pair.both_ways(true, arranged(Transposed, Same)) {
        assert_passes(&pair.scene, &plan);
    }
    for plan in pair.both_ways(false, arranged(Transposed, Same)) {
        assert_refused!(pair.scene, plan, Refusal::MissingBarrier { .. });
    }
    for plan in pair.both_ways(true, arranged(Transposed, Reversed)) {
        assert!(keeps_order(&pair.scene, &plan));
    }
    pair.give_barrier(1);
    let [second, first] = pair.both_ways(false, arranged(Transposed, Transposed));
    assert_refused!(pair.scene, second, Refusal::NotRearranged { .. });
    assert_passes(&pair.scene, &first);
    pair.scene.kernels[0].distinguishes_threads[1] = false;
    assert_refused!(pair.scene, first, Refusal::NotInStep { .. });
}

#[test]
fn the_right_grid_and_the_right_element() {
    for (second, subscript) in [
        ([4, 5, 16, 16], in_tile(4)),
        ([4, 7, 16, 16], in_tile(4)),
        ([6, 4, 16, 16], in_tile(4)),
        ([4, 6, 16, 8], in_tile(4)),
    ] {
        let pair = pair((in_other_tile(4), GRID), (subscript, second));
        for plan in pair.both_ways(true, arranged(Transposed, Same)) {
            let found = refusals(&pair.scene, &plan);
            let arranged = |refusal: &Refusal| matches!(refusal, Refusal::NotRearranged { .. });
            assert!(found.iter().any(arranged), "{found:#?}");
        }
    }
    // The element beside it, the tile beside it, and that of the matrix that is not transposed.
    for (off, kept) in [(0, true), (1, false), (16, false)] {
        let read = in_tile(4).add(&Affine::constant(4 * off)).unwrap();
        let pair = pair((in_other_tile(4), GRID), (read, TURNED));
        for plan in pair.both_ways(true, arranged(Transposed, Same)) {
            assert_eq!(keeps_order(&pair.scene, &plan), kept, "{off}");
        }
    }
    let square: Extents = [4, 4, 16, 16];
    let pair = pair((in_tile(4), square), (in_tile(4), square));
    for plan in pair.both_ways(true, arranged(Transposed, Same)) {
        assert!(!keeps_order(&pair.scene, &plan));
    }
}

#[test]
fn reversed_blocks() {
    let line: Extents = [10, 1, 256, 1];
    let own = element(&[(256, BX), (1, TX)], 0);
    let turned = element(&[(-256, BX), (1, TX)], 9 * 256);
    for (last, kept) in [(9, true), (8, false), (10, false)] {
        let turned = element(&[(-256, BX), (1, TX)], last * 256);
        let mut pair = pair((turned, line), (own.clone(), line));
        pair.give_barrier(1);
        for plan in pair.both_ways(false, arranged(Reversed, Same)) {
            assert_eq!(keeps_order(&pair.scene, &plan), kept, "{last}");
        }
    }
    // Threads as well, one by one.
    let backwards = element(&[(-256, BX), (-1, TX)], 2559);
    let pair = self::pair((backwards, line), (own.clone(), line));
    for plan in pair.both_ways(false, arranged(Reversed, Reversed)) {
        assert_passes(&pair.scene, &plan);
    }
    for plan in pair.both_ways(false, arranged(Reversed, Same)) {
        assert_refused!(pair.scene, plan, Refusal::MissingBarrier { .. });
    }
    // Both in one way are as if none was.
    let mut three = self::pair((turned, line), (own, line));
    let back = element(&[(256, BX), (1, TX)], 0);
    let kernel = three
        .scene
        .kernel("third", 2, vec![everywhere(AccessKind::Write, 0, &back)]);
    let buffer = three.scene.buffer("d");
    let size = three.scene.unknown();
    let [grid, block] = [10, 256].map(|extent| three.scene.constant(extent));
    let passed = [Pass::To(buffer), Pass::To(buffer), Pass::Integer(size)];
    let third = three.scene.launch(kernel, Shape { grid, block }, &passed);
    let [first, second] = three.launches;
    let mut plan = plan(
        &[(first, false), (second, false), (third, false)],
        Vec::new(),
    );
    for (member, map) in plan.groups[0].members.iter_mut().zip([
        ThreadMap::Identity,
        arranged(Reversed, Same),
        arranged(Reversed, Same),
    ]) {
        member.map = map;
    }
    assert_passes(&three.scene, &plan);
    plan.groups[0].segments = vec![vec![0], vec![1, 2]];
    assert_refused!(three.scene, plan, Refusal::NotInterleaved { .. });
}

#[test]
fn blocks_and_threads_are_counted_x_first() {
    let line: Extents = [24, 1, 256, 1];
    let square: Extents = [6, 4, 16, 16];
    let own = element(&[(256, BX), (1, TX)], 0);
    let counted = element(&[(256, BX), (6 * 256, BY), (1, TX), (16, TY)], 0);
    let mut both = pair((own.clone(), line), (counted.clone(), square));
    for member in [0, 1] {
        both.give_barrier(member);
        both.scene.kernels[member].warp_operations = true;
    }
    for plan in both.both_ways(true, arranged(Renumbered, Renumbered)) {
        assert_passes(&both.scene, &plan);
    }
    // Both counted along other axes than the fused launch.
    let other: Extents = [3, 8, 32, 8];
    let counted_so = element(&[(256, BX), (3 * 256, BY), (1, TX), (32, TY)], 0);
    let both = pair((counted.clone(), square), (counted_so, other));
    for plan in both.both_ways(false, arranged(Renumbered, Renumbered)) {
        assert_passes(&both.scene, &plan);
    }
    // Counted y first, and one block too few.
    let columns = element(&[(4 * 256, BX), (256, BY), (1, TX), (16, TY)], 0);
    let wrong = pair((own.clone(), line), (columns, square));
    for plan in wrong.both_ways(true, arranged(Renumbered, Renumbered)) {
        assert!(!keeps_order(&wrong.scene, &plan));
    }
    let fewer = pair((own.clone(), [23, 1, 256, 1]), (counted.clone(), square));
    for plan in fewer.both_ways(true, arranged(Renumbered, Renumbered)) {
        assert_refused!(
            fewer.scene,
            plan,
            Refusal::NotRearranged { .. } | Refusal::CrossesBlocks { .. }
        );
    }
    let threads = pair((own, line), (counted, [6, 4, 16, 8]));
    for plan in threads.both_ways(true, arranged(Renumbered, Renumbered)) {
        assert_refused!(
            threads.scene,
            plan,
            Refusal::NotRearranged { .. } | Refusal::CrossesBlocks { .. }
        );
    }
}

#[test]
fn grids_of_the_run_are_tested() {
    let mut pair = pair((in_other_tile(4), GRID), (in_tile(4), TURNED));
    let [across, down, other] = [
        pair.scene.unknown(),
        pair.scene.unknown(),
        pair.scene.unknown(),
    ];
    let [first, second] = pair.launches;
    (
        pair.scene.launch_mut(first).grid[0],
        pair.scene.launch_mut(first).grid[1],
    ) = (across, down);
    (
        pair.scene.launch_mut(second).grid[0],
        pair.scene.launch_mut(second).grid[1],
    ) = (other, across);
    let guards = vec![valid(first), valid(second), same(down, other)];
    let no_wrap = |launch: LaunchId, pair: &mut Pair| {
        let shape = {
            let launch = pair.scene.launch_mut(launch);
            Shape {
                grid: launch.grid[0],
                block: launch.block[0],
            }
        };
        no_wrap(shape)
    };
    let wraps = [no_wrap(first, &mut pair), no_wrap(second, &mut pair)];
    for plan in pair.both_ways(false, arranged(Transposed, Same)) {
        let mut tested = plan.clone();
        tested.groups[0].guards = [guards.clone(), wraps.to_vec()].concat();
        // A tile belongs to the matrix only below the fourth column, which nothing says of `other`.
        let found = refusals(&pair.scene, &tested);
        assert!(
            found
                .iter()
                .all(|refusal| matches!(refusal, Refusal::CrossesBlocks { .. })),
            "{found:#?}"
        );
        let mut untested = tested.clone();
        untested.groups[0].guards.remove(2);
        let found = refusals(&pair.scene, &untested);
        let arranged = |refusal: &Refusal| matches!(refusal, Refusal::NotRearranged { .. });
        assert!(found.iter().any(arranged), "{found:#?}");
    }
}

/// Elements of rows, a block a row: a warp's threads along x, and those of a block in which others share its elements along y.
fn in_row() -> Affine {
    element(&[(1, TX), (32, BX)], 0)
}

#[test]
fn one_warp_is_the_first_of_a_block() {
    let (warp, wide): (Extents, Extents) = ([6, 1, 32, 1], [6, 1, 32, 8]);
    let mut small_first = pair((in_row(), warp), (in_row(), wide));
    small_first.give_barrier(0);
    let maps = |blocks, threads| [arranged(blocks, threads), ThreadMap::Identity];
    // What a thread wrote others of its block load, so that these wait for the warp.
    assert_passes(
        &small_first.scene,
        &small_first.plan(true, maps(Same, FirstWarp)),
    );
    let no_wait = small_first.plan(false, maps(Same, FirstWarp));
    assert_refused!(small_first.scene, no_wait, Refusal::MissingBarrier { .. });
    for (blocks, threads) in [
        // A warp is no block of threads, and no grid.
        (FirstWarp, FirstWarp),
        (FirstWarp, Same),
        (Same, Same),
        (Same, Renumbered),
    ] {
        let plan = small_first.plan(true, maps(blocks, threads));
        assert_refused!(small_first.scene, plan, Refusal::NotRearranged { .. });
    }
    let other_blocks = small_first.plan(true, maps(Reversed, FirstWarp));
    assert_refused!(
        small_first.scene,
        other_blocks,
        Refusal::CrossesBlocks { .. }
    );
    // The wide one cannot be in a warp, nor can the warp lead.
    let wide_in_warp = small_first.plan(true, [ThreadMap::Identity, arranged(Same, FirstWarp)]);
    assert_refused!(
        small_first.scene,
        wide_in_warp,
        Refusal::NotRearranged { .. }
    );
    let nobody = small_first.plan(true, [arranged(Same, FirstWarp), arranged(Same, FirstWarp)]);
    assert_refused!(small_first.scene, nobody, Refusal::MixedMaps { .. });
    // A barrier that some lanes may not reach.
    small_first.scene.kernels[0].barriers[0].uniform = false;
    let some_lanes = small_first.plan(true, maps(Same, FirstWarp));
    assert_refused!(
        small_first.scene,
        some_lanes,
        Refusal::DivergentBarrier { .. }
    );
}

#[test]
fn no_other_block_is_a_warp() {
    for (small, wide) in [
        // Half a warp, two of them, one in two rows, and blocks of which the first warp has no 32 threads along x.
        ([6, 1, 16, 1], [6, 1, 32, 8]),
        ([6, 1, 64, 1], [6, 1, 64, 8]),
        ([6, 1, 32, 2], [6, 1, 32, 8]),
        ([6, 1, 32, 1], [6, 1, 16, 8]),
        // Other grids.
        ([6, 1, 32, 1], [5, 1, 32, 8]),
        ([6, 1, 32, 1], [3, 2, 32, 8]),
    ] {
        let pair = pair((in_row(), small), (in_row(), wide));
        let plan = pair.plan(true, [arranged(Same, FirstWarp), ThreadMap::Identity]);
        let found = refusals(&pair.scene, &plan);
        let arranged = |refusal: &Refusal| matches!(refusal, Refusal::NotRearranged { .. });
        assert!(found.iter().any(arranged), "{found:#?}");
    }
}
