//! Launches with other grids or blocks than their neighbours.

use super::*;
use sirius_rs::schedule::{ThreadMap, ThreadOrder};

#[test]
fn other_extents_are_a_shape() {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let [x, y, z] = ["x", "y", "z"].map(|name| this.world.buffer(name));
    let (narrow, wide) = (this.world.number(128), this.world.number(256));
    this.block[0] = narrow;
    this.launch(scale, &x, &y);
    this.block[0] = wide;
    this.launch(scale, &y, &z);
    let off = ScheduleOptions {
        remaps_threads: false,
        permutes_blocks: false,
        reuses_shared_memory: false,
        ..ALL
    };
    let (apart, missed) = plan(&this.world, &off);
    assert!(apart.groups.is_empty());
    assert_eq!(missed[0].rejection.reason, RejectionReason::Shape);
    // The launch of larger blocks leads, since nobody knows how many there are.
    let (together, _) = plan(&this.world, &ALL);
    let group = &together.groups[0];
    let maps: Vec<_> = group.members.iter().map(|member| &member.map).collect();
    let remapped = ThreadMap::Remapped {
        own: ThreadOrder::Blocks,
        fused: ThreadOrder::Blocks,
        repeats: false,
    };
    assert_eq!(maps, [&remapped, &ThreadMap::Identity]);
    let threads =
        |guard: &&Guard| matches!(guard, Guard::Holds { class, .. } if class == "threads");
    assert_eq!(group.guards.iter().filter(threads).count(), 3);
}

/// The plan for two pointwise launches that `change` makes different, and its shape guards.
fn of_two_shapes(change: impl Fn(&mut Uniform)) -> (FusionPlan, usize) {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let [x, y, z] = ["x", "y", "z"].map(|name| this.world.buffer(name));
    this.launch(scale, &x, &y);
    change(&mut this);
    this.launch(scale, &y, &z);
    let (plan, _) = plan(&this.world, &ALL);
    assert_eq!(groups(&plan), [[0, 1]]);
    let shapes = plan.groups[0]
        .guards
        .iter()
        .filter(|guard| matches!(guard, Guard::Holds { class, .. } if class == "shape"));
    let shapes = shapes.count();
    (plan, shapes)
}

fn maps(plan: &FusionPlan) -> Vec<ThreadMap> {
    let members = plan.groups[0].members.iter();
    members.map(|member| member.map.clone()).collect()
}

#[test]
fn unknown_blocks_are_tested_at_run_time() {
    let (plan, shapes) = of_two_shapes(|this| this.block[0] = this.world.extent());
    assert_eq!(shapes, 1);
    assert_eq!(maps(&plan), [ThreadMap::Identity, ThreadMap::Identity]);
}

#[test]
fn different_grids_are_clipped() {
    let (plan, shapes) = of_two_shapes(|this| this.grid[0] = this.world.extent());
    assert_eq!(shapes, 0, "nothing has to be equal");
    assert_eq!(maps(&plan), [ThreadMap::Clipped, ThreadMap::Clipped]);
    let (plan, _) = of_two_shapes(|this| this.grid[0] = this.world.number(1));
    assert_eq!(maps(&plan), [ThreadMap::Identity, ThreadMap::Clipped]);
}
