//! Members side by side in block ranges of one grid, and ranges that are wrong.

use super::segments::{in_segments, sums_of_two};
use super::*;
use sirius_rs::math::expression::Condition;
use sirius_rs::schedule::{BatchedRegion, BatchedStatement, BlockThreads, ThreadMap};

/// Each member's range: first block, number of blocks.
fn ranges(mut plan: FusionPlan, ranges: &[(i64, i64)], threads: BlockThreads) -> FusionPlan {
    for (member, (first, count)) in plan.groups[0].members.iter_mut().zip(ranges) {
        member.map = ThreadMap::Blocks {
            first: Expression::Constant(*first),
            count: Expression::Constant(*count),
            threads,
        };
    }
    plan
}

fn side_by_side(one: LaunchId, two: LaunchId) -> FusionPlan {
    let both = plan(&[(one, false), (two, false)], Vec::new());
    ranges(both, &[(0, 40), (40, 40)], BlockThreads::Same)
}

/// Changes the blocks of a launch.
fn resize(scene: &mut Scene, launch: LaunchId, grid: i64, block: i64) {
    let (grid, block) = (scene.constant(grid), scene.constant(block));
    let launch = scene.launch_mut(launch);
    (launch.grid[0], launch.block[0]) = (grid, block);
}

fn row(mut plan: FusionPlan, fills: [bool; 2]) -> FusionPlan {
    for (member, fills_block) in plan.groups[0].members.iter_mut().zip(fills) {
        let ThreadMap::Blocks { threads, .. } = &mut member.map else {
            panic!("it has a range");
        };
        *threads = BlockThreads::Row { fills_block };
    }
    plan
}

#[test]
fn passes_independent_launches_of_any_shape() {
    let (mut scene, one, two) = sums_of_two();
    assert_passes(&scene, &side_by_side(one, two));
    resize(&mut scene, two, 7, 256);
    let both = plan(&[(one, false), (two, false)], Vec::new());
    let both = |first, count| ranges(both.clone(), &[(0, 40), (first, count)], BlockThreads::Same);
    assert_passes(&scene, &both(40, 7));
    // In three dimensions, too.
    let (five, two_blocks) = (scene.constant(5), scene.constant(2));
    scene.launch_mut(two).grid = [five, two_blocks, two_blocks];
    assert_passes(&scene, &both(40, 20));
    assert_refused!(scene, both(40, 10), Refusal::BlockRange { .. });
}

#[test]
fn refuses_ranges_that_overlap_leave_gaps_or_have_other_counts() {
    let (scene, one, two) = sums_of_two();
    let both = plan(&[(one, false), (two, false)], Vec::new());
    for wrong in [
        [(0, 40), (39, 40)],
        [(0, 40), (41, 40)],
        [(0, 40), (0, 39)],
        [(1, 40), (41, 40)],
        [(40, 40), (0, 40)],
        [(0, 40), (40, 39)],
        [(0, 40), (40, 41)],
        [(0, 41), (41, 40)],
        [(0, 0), (0, 40)],
        [(-40, 40), (0, 40)],
    ] {
        let plan = ranges(both.clone(), &wrong, BlockThreads::Same);
        assert_refused!(scene, plan, Refusal::BlockRange { .. });
    }
    // One range for both is one block partition, of which the count is right or wrong.
    let stacked = ranges(both.clone(), &[(0, 40), (0, 40)], BlockThreads::Same);
    assert_passes(&scene, &stacked);
    for map in [ThreadMap::Identity, ThreadMap::Clipped] {
        let mut mixed = side_by_side(one, two);
        mixed.groups[0].members[1].map = map;
        assert_refused!(scene, mixed, Refusal::MixedMaps { .. });
    }
}

#[test]
fn refuses_partitions_that_depend_on_each_other() {
    // What one thread reads of what it wrote itself has no order between other blocks either.
    let chain = chain_of(scale, shift);
    let own = side_by_side(chain.launches[0], chain.launches[1]);
    assert_refused!(chain.scene, own, Refusal::DependentPartitions { .. });
    let chain = chain_of(scale, |scene| scene.stencil("blur"));
    let others = side_by_side(chain.launches[0], chain.launches[1]);
    assert_refused!(chain.scene, others, Refusal::DependentPartitions { .. });
}

#[test]
fn partitions_of_pointers_that_may_meet_need_every_test() {
    let (scene, tested) = aliasing_chain();
    let beside = ranges(tested, &[(0, 40), (40, 40)], BlockThreads::Same);
    assert_passes(&scene, &beside);
    for left_out in 0..beside.groups[0].guards.len() {
        let mut less = beside.clone();
        less.groups[0].guards.remove(left_out);
        assert_refused!(
            scene,
            less,
            Refusal::MayAlias { .. } | Refusal::DependentPartitions { .. }
        );
        // Over too few bytes it tells nothing.
        let mut shorter = beside.clone();
        if let Guard::RangesDisjoint { left, .. } = &mut shorter.groups[0].guards[left_out] {
            left.high_bytes = left.high_bytes.clone().subtract(Expression::Constant(4));
        }
        assert_refused!(
            scene,
            shorter,
            Refusal::MayAlias { .. } | Refusal::DependentPartitions { .. }
        );
        // Equal pointers would do for threads that run in turn, which these do not.
        let mut equal = beside.clone();
        let guard = &mut equal.groups[0].guards[left_out];
        if let Guard::RangesDisjoint { left, right } = guard.clone() {
            *guard = Guard::SameOrDisjoint { left, right };
        }
        assert_refused!(
            scene,
            equal,
            Refusal::MayAlias { .. } | Refusal::DependentPartitions { .. }
        );
    }
}

/// Two chains side by side, each of a launch and one that reads its neighbours' elements of a block.
fn two_chains() -> (Scene, [LaunchId; 4]) {
    let mut scene = Scene::new();
    let shape = scene.known_shape();
    let size = scene.unknown();
    let kernels = [scene.pointwise("scale"), scene.block_sum("sum")];
    let mut launches = Vec::new();
    for chain in ["first", "second"] {
        let [a, b, c] = ["a", "b", "c"].map(|name| scene.buffer(&format!("{chain}.{name}")));
        for (kernel, passed) in kernels.into_iter().zip([[a, b], [b, c]]) {
            let [from, to] = passed.map(Pass::To);
            launches.push(scene.launch(kernel, shape, &[from, to, Pass::Integer(size)]));
        }
    }
    let launches = launches.try_into().expect("there are four");
    (scene, launches)
}

#[test]
fn barriers_and_storage_are_those_of_a_partition() {
    let (mut scene, [one, two, three, four]) = two_chains();
    // The sum reads elements of its whole block.
    let read = &mut scene.kernels[1].accesses[0];
    read.subscript = Some(
        Affine::variable(Variable::Product(0))
            .subtract(&Affine::variable(Variable::Thread(Axis::X)))
            .and_then(|sum| sum.add(&Affine::constant(255)))
            .and_then(|sum| sum.scale(4))
            .unwrap(),
    );
    read.domain = vec![Vec::new()];
    scene.kernels[0].accesses[1].domain = vec![Vec::new()];
    let chains = |barriers: [bool; 2]| {
        let members = [
            (one, false),
            (two, barriers[0]),
            (three, false),
            (four, barriers[1]),
        ];
        let places = [(0, 40), (0, 40), (40, 40), (40, 40)];
        ranges(plan(&members, Vec::new()), &places, BlockThreads::Same)
    };
    assert_passes(&scene, &chains([true, true]));
    // In between there is a barrier, which the blocks of the first block partition never meet.
    for plan in [
        chains([false, true]),
        in_segments(chains([false, true]), &[&[0], &[2], &[3], &[1]]),
    ] {
        assert_refused!(scene, plan, Refusal::MissingBarrier { .. });
    }
    let mixed = in_segments(chains([true, true]), &[&[0], &[2], &[3], &[1]]);
    assert_passes(&scene, &mixed);
    // Each block partition needs as much as one of its members, and both what the hungrier one needs.
    for (kibibytes, fits) in [
        ([24, 24], true),
        ([48, 48], true),
        ([1, 49], false),
        ([49, 1], false),
    ] {
        for (kernel, kibibytes) in scene.kernels.iter_mut().zip(kibibytes.iter().cycle()) {
            kernel.static_shared_bytes = kibibytes << 10;
        }
        let found = refusals(&scene, &chains([true, true]));
        let too_much = |refusal: &Refusal| matches!(refusal, Refusal::SharedMemory { .. });
        assert_eq!(found.is_empty(), fits, "{kibibytes:?}: {found:#?}");
        assert_ne!(
            found.iter().any(too_much),
            fits,
            "{kibibytes:?}: {found:#?}"
        );
    }
}

#[test]
fn members_of_one_partition_depend_as_in_any_group() {
    let chain = chain_of(scale, shift);
    let both = ranges(chain.plan(), &[(0, 40), (0, 40)], BlockThreads::Same);
    assert_passes(&chain.scene, &both);
    let turned = in_segments(both, &[&[1], &[0]]);
    assert_refused!(chain.scene, turned, Refusal::OrderLost { .. });
}

#[test]
fn refuses_a_grid_that_is_too_long_or_not_known() {
    let (mut scene, one, two) = sums_of_two();
    resize(&mut scene, one, 2_000_000_000, 1);
    resize(&mut scene, two, 1_000_000_000, 1);
    let both = plan(&[(one, false), (two, false)], Vec::new());
    let wanted = [(0, 2_000_000_000), (2_000_000_000, 1_000_000_000)];
    let both = ranges(both, &wanted, BlockThreads::Same);
    assert_refused!(scene, both, Refusal::GridTooLong { .. });

    let (mut scene, one, two) = sums_of_two();
    let blocks = scene.unknown();
    scene.launch_mut(two).grid[0] = blocks;
    // That indices do not wrap would bound it as well.
    scene.kernels[0].preconditions.clear();
    let leaf = Expression::Leaf(blocks);
    let mut unknown = side_by_side(one, two);
    unknown.groups[0].members[1].map = ThreadMap::Blocks {
        first: Expression::Constant(40),
        count: leaf.clone(),
        threads: BlockThreads::Same,
    };
    unknown.groups[0].guards = vec![valid(one), valid(two)];
    let within = |most| Guard::Holds {
        class: "grid".to_string(),
        condition: Condition::LessEqual(
            Expression::Constant(40).add(leaf.clone()),
            Expression::Constant(most),
        ),
    };
    assert_refused!(scene, unknown, Refusal::GridTooLong { .. });
    let mut tested = unknown.clone();
    tested.groups[0].guards.push(within(0x7fff_ffff));
    assert_passes(&scene, &tested);
    unknown.groups[0].guards.push(within(0x8000_0000));
    assert_refused!(scene, unknown, Refusal::GridTooLong { .. });
}

#[test]
fn barriers_of_smaller_blocks_count_whole_warps() {
    for (threads, passes) in [(64, true), (40, false)] {
        let (mut scene, one, two) = sums_of_two();
        resize(&mut scene, two, 40, threads);
        let both = side_by_side(one, two);
        // One block shape for all, rows that fill the block, and the right answer.
        assert_refused!(scene, both, Refusal::DifferentShape { .. });
        let filled = row(both.clone(), [true, true]);
        assert_refused!(scene, filled, Refusal::BlockRange { .. });
        match passes {
            true => {
                assert_passes(&scene, &row(both.clone(), [true, false]));
                // The larger may count, too.
                assert_passes(&scene, &row(both, [false, false]));
            }
            false => {
                let both = row(both, [true, false]);
                assert_refused!(scene, both, Refusal::PartialWarps { .. });
                scene.kernels[0].barriers.clear();
                assert_passes(&scene, &both);
                scene.kernels[0].warp_operations = true;
                assert_refused!(scene, both, Refusal::PartialWarps { .. });
            }
        }
    }
}

#[test]
fn threads_that_run_in_step_stay_so() {
    let (mut scene, one, two) = sums_of_two();
    let sixteen = scene.constant(16);
    for launch in [one, two] {
        let launch = scene.launch_mut(launch);
        (launch.block[0], launch.block[1]) = (sixteen, sixteen);
    }
    scene.kernels[0].distinguishes_threads = [true, false, false];
    assert_passes(&scene, &side_by_side(one, two));
    // Counted through a row they would be told apart.
    let rows = row(side_by_side(one, two), [true, true]);
    assert_refused!(scene, rows, Refusal::NotInStep { .. });
    let mut mixed = side_by_side(one, two);
    let ThreadMap::Blocks { threads, .. } = &mut mixed.groups[0].members[0].map else {
        panic!("it has a range");
    };
    *threads = BlockThreads::Row { fills_block: true };
    assert_refused!(scene, mixed, Refusal::MixedMaps { .. });
}

#[test]
fn that_there_is_one_thread_along_an_axis_may_be_tested() {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d"].map(|name| Pass::To(scene.buffer(name)));
    let shape = scene.known_shape();
    let n = Pass::Integer(scene.unknown());
    let pointwise = scene.pointwise("pointwise");
    let [a, b, c, d] = buffers;
    let one = scene.launch(pointwise, shape, &[a, b, n.clone()]);
    let two = scene.launch(pointwise, shape, &[c, d, n]);
    scene.kernels[0].distinguishes_threads = [true, true, false];
    let (depth, single) = (scene.unknown(), scene.constant(1));
    scene.launch_mut(two).block[2] = depth;
    let both = |mut guards: Vec<Guard>| {
        guards.push(valid(two));
        let both = plan(&[(one, false), (two, false)], guards);
        let both = ranges(both, &[(0, 40), (40, 40)], BlockThreads::Same);
        row(both, [false, false])
    };
    let is_one = |guards: &mut Vec<Guard>, value| guards.push(same(value, single));
    assert_refused!(scene, both(vec![]), Refusal::NotInStep { .. });
    // A test of another axis says nothing.
    let other = scene.unknown();
    let mut guards = Vec::new();
    is_one(&mut guards, other);
    assert_refused!(scene, both(guards.clone()), Refusal::NotInStep { .. });
    is_one(&mut guards, depth);
    assert_passes(&scene, &both(guards));
}

#[test]
fn segments_do_not_cross_partitions() {
    let (scene, one, two) = sums_of_two();
    let together = in_segments(side_by_side(one, two), &[&[0, 1]]);
    assert_refused!(scene, together, Refusal::Segments { .. });
    // Nothing waits before the first member of a block partition.
    let mut waits = side_by_side(one, two);
    waits.groups[0].members[1].barrier_before = true;
    assert_refused!(scene, waits, Refusal::Segments { .. });
}

#[test]
fn ranges_of_blocks_wait_for_graphs_alone() {
    let (scene, one, two) = sums_of_two();
    let mut plan = side_by_side(one, two);
    let statement = BatchedStatement {
        launch: two,
        touches: Vec::new(),
        guards: Vec::new(),
        replaced: Vec::new(),
        must_replace: false,
        persistent: None,
        phase_rounds: None,
    };
    plan.batched_regions.push(BatchedRegion {
        statements: vec![statement],
        outside_loops: 0,
        drained_before: Vec::new(),
        for_graphs: false,
    });
    let in_blocks = |refusal: &Refusal| matches!(refusal, Refusal::NotBatched { what, .. } if what.contains("ranges of blocks"));
    for for_graphs in [false, true] {
        plan.batched_regions[0].for_graphs = for_graphs;
        let found = refusals(&scene, &plan);
        assert_eq!(found.iter().any(in_blocks), !for_graphs, "{found:?}");
    }
}
