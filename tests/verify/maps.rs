//! Members of other shapes than the fused launch.

use super::*;
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
