//! Which independent launches stand side by side.

use crate::builder::{World, actuals, line, pointwise, rows, shape};
use sirius_rs::build::Fusion;
use sirius_rs::dependence::build_dependence_graph;
use sirius_rs::diagnostics::RejectionReason;
use sirius_rs::kernel::{Barrier, KernelModel};
use sirius_rs::schedule::{FusionPlan, Layout, Missed, ScheduleOptions, plan_fusion};
use sirius_rs::verify::verify;

/// Two launches of blocks of 256 and 1024 threads that share nothing, of one kernel or of two.
fn two(blocks: [i64; 2], equal_code: bool, layout: Layout) -> (FusionPlan, Vec<Missed>) {
    let mut world = World::new();
    let one = world.kernel(pointwise("narrow", 0));
    let other = match equal_code {
        true => one,
        false => world.kernel(pointwise("wide", 0)),
    };
    for (kernel, (blocks, threads)) in [one, other]
        .into_iter()
        .zip(blocks.into_iter().zip([256, 1024]))
    {
        let [from, to] = ["from", "to"].map(|name| world.buffer(name));
        let (blocks, threads) = (world.number(blocks), world.number(threads));
        let n = world.unknown();
        let (grid, block) = (shape(&mut world, blocks), shape(&mut world, threads));
        world.launch(kernel, grid, block, actuals(&from, &to, n));
    }
    let options = ScheduleOptions {
        fusion: Fusion::All,
        layout,
        ..crate::planning::ALL
    };
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let (plan, missed) = plan_fusion(&world.graph, &world.kernels, &dependences, &options);
    verify(&world.graph, &world.kernels, plan.clone()).expect("a plan of ours");
    (plan, missed)
}

#[test]
fn large_launches_do_not_cost_each_other_their_blocks() {
    let joined = |blocks, equal_code, layout| -> bool {
        let (plan, _) = two(blocks, equal_code, layout);
        plan.groups.len() == 1
    };
    let auto = Layout::Auto;
    assert!(
        joined([40, 40], false, auto),
        "both fill a part of the device"
    );
    assert!(!joined([100_000, 40], false, auto));
    assert!(joined([100_000, 40], true, auto), "of one kernel");
    assert!(
        joined([100_000, 40], false, Layout::Horizontal),
        "asked for"
    );
    let (_, missed) = two([100_000, 40], false, auto);
    let rejection = &missed[0].rejection;
    assert_eq!(rejection.reason, RejectionReason::Resources);
    assert_eq!(
        rejection.message,
        "`narrow` and `wide` side by side would take about 114.0 μs and unfused 32.0 μs, since a \
         multiprocessor would hold 2 blocks at once and unfused 8 and 2"
    );
}

/// The layout of three launches of a kernel that goes over rows of one buffer, with a barrier in its loop.
fn three_that_load_the_same(blocks: Option<i64>, change: fn(&mut KernelModel)) -> String {
    let mut world = World::new();
    let mut kernel = rows("product");
    kernel.warp_operations = true;
    kernel.barriers.push(Barrier {
        uniform: true,
        uniform_while_unwritten: Vec::new(),
        reached_if: Vec::new(),
        loops: vec![0],
        place: 0,
        location: line(9),
    });
    change(&mut kernel);
    let kernel = world.kernel(kernel);
    let from = world.buffer("from");
    let n = world.unknown();
    let blocks = match blocks {
        Some(blocks) => world.number(blocks),
        None => world.unknown(),
    };
    let threads = world.number(128);
    for name in ["query", "key", "value"] {
        let to = world.buffer(name);
        let (grid, block) = (shape(&mut world, blocks), shape(&mut world, threads));
        world.launch(kernel, grid, block, actuals(&from, &to, n));
    }
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let options = ScheduleOptions {
        fusion: Fusion::All,
        ..crate::planning::ALL
    };
    let (plan, _) = plan_fusion(&world.graph, &world.kernels, &dependences, &options);
    verify(&world.graph, &world.kernels, plan.clone()).expect("a plan of ours");
    let [group] = &plan.groups[..] else {
        panic!("{} groups", plan.groups.len());
    };
    assert_eq!(group.members.len(), 3);
    group.layout.clone()
}

#[test]
fn what_waits_by_itself_fills_the_device_side_by_side() {
    let layout = three_that_load_the_same;
    assert_eq!(layout(Some(72), |_| ()), "h", "a third of the device");
    assert_eq!(layout(Some(100_000), |_| ()), "v", "it is full anyway");
    assert_eq!(layout(None, |_| ()), "v", "nobody knows");
    let interleaved: fn(&mut KernelModel) =
        |kernel: &mut KernelModel| kernel.warp_operations = false;
    assert_eq!(layout(Some(72), interleaved), "v", "they wait together");
    let without_barriers: fn(&mut KernelModel) = |kernel: &mut KernelModel| kernel.barriers.clear();
    assert_eq!(layout(Some(72), without_barriers), "v", "loops join");
}
