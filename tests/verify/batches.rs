//! Regions whose launches are issued in batches: wrong plans.

use super::*;
use sirius_rs::dependence::RangeTouch;
use sirius_rs::kernel::Columns;
use sirius_rs::launch::Operand;
use sirius_rs::schedule::{BatchedRegion, BatchedStatement};
use std::cell::Cell;

fn touch(chain: &Chain, launch: LaunchId, argument: usize, writes: bool) -> RangeTouch {
    RangeTouch {
        range: range(launch, argument, chain.size),
        columns: None,
        writes,
    }
}

/// Both launches of a chain wait, and say all that they touch.
pub(super) fn waiting(chain: &Chain) -> FusionPlan {
    let statement = |launch: &LaunchId| BatchedStatement {
        launch: *launch,
        touches: vec![
            touch(chain, *launch, 0, false),
            touch(chain, *launch, 1, true),
        ],
        guards: vec![valid(*launch)],
        replaced: Vec::new(),
        must_replace: false,
        persistent: None,
        phase_rounds: None,
    };
    FusionPlan {
        batched_regions: vec![BatchedRegion {
            statements: chain.launches.iter().map(statement).collect(),
            outside_loops: 0,
            drained_before: Vec::new(),
            for_graphs: false,
        }],
        ..FusionPlan::default()
    }
}

fn statement(plan: &mut FusionPlan) -> &mut BatchedStatement {
    &mut plan.batched_regions[0].statements[0]
}

#[test]
fn passes_a_region() {
    let chain = chain_of(scale, shift);
    assert_passes(&chain.scene, &waiting(&chain));
}

#[test]
fn judges_what_waits_for_graphs_like_others() {
    let chain = chain_of(scale, shift);
    let mut plan = waiting(&chain);
    plan.batched_regions[0].for_graphs = true;
    assert_passes(&chain.scene, &plan);
    statement(&mut plan).touches.remove(0);
    assert_refused!(chain.scene, plan, Refusal::BatchedTouchesMore { .. });
}

#[test]
fn refuses_touches_that_are_missing() {
    let chain = chain_of(scale, shift);
    let mut plan = waiting(&chain);
    statement(&mut plan).touches.remove(0);
    assert_refused!(chain.scene, plan, Refusal::BatchedTouchesMore { .. });
}

#[test]
fn refuses_writes_that_are_told_as_reads() {
    let chain = chain_of(scale, shift);
    let mut plan = waiting(&chain);
    statement(&mut plan).touches[1].writes = false;
    assert_refused!(chain.scene, plan, Refusal::BatchedTouchesMore { .. });
}

#[test]
fn refuses_ranges_that_are_too_small() {
    for shrink in [
        |touch: &mut RangeTouch| touch.range.high_bytes = Expression::Constant(4),
        |touch: &mut RangeTouch| touch.range.low_bytes = Expression::Constant(4),
    ] {
        let chain = chain_of(scale, shift);
        let mut plan = waiting(&chain);
        shrink(&mut statement(&mut plan).touches[1]);
        assert_refused!(chain.scene, plan, Refusal::BatchedTouchesMore { .. });
    }
}

fn columns<S>([pitch, low, high]: [i64; 3]) -> Columns<S> {
    Columns {
        pitch_bytes: Expression::Constant(pitch),
        low_bytes: Expression::Constant(low),
        high_bytes: Expression::Constant(high),
    }
}

/// Two launches that wait, of which the first writes columns, and the plan with what it says of them.
fn in_columns(told: [i64; 3]) -> (Chain, FusionPlan) {
    let mut chain = chain_of(scale, shift);
    let written = &mut chain.scene.kernels[0].footprints[1];
    written.columns = Some(columns([256, 8, 40]));
    let mut plan = waiting(&chain);
    statement(&mut plan).touches[1].columns = Some(columns(told));
    (chain, plan)
}

#[test]
fn passes_columns_that_are_no_narrower() {
    for told in [[256, 8, 40], [256, 4, 40], [256, 8, 44], [256, -8, 300]] {
        let (chain, plan) = in_columns(told);
        assert_passes(&chain.scene, &plan);
    }
}

#[test]
fn refuses_columns_that_are_too_narrow_or_of_other_rows() {
    for told in [
        [256, 12, 40],
        [256, 8, 36],
        [256, 264, 296],
        [128, 8, 40],
        [512, 8, 40],
    ] {
        let (chain, plan) = in_columns(told);
        assert_refused!(chain.scene, plan, Refusal::BatchedTouchesMore { .. });
    }
}

#[test]
fn refuses_columns_of_a_kernel_that_may_touch_whole_rows() {
    let (mut chain, plan) = in_columns([256, 8, 40]);
    chain.scene.kernels[0].footprints[1].columns = None;
    assert_refused!(chain.scene, plan, Refusal::BatchedTouchesMore { .. });
    // Nor do those of one argument tell of another.
    let (chain, mut plan) = in_columns([256, 8, 40]);
    let touches = &mut statement(&mut plan).touches;
    touches[0].columns = touches[1].columns.take();
    assert_refused!(chain.scene, plan, Refusal::BatchedTouchesMore { .. });
}

#[test]
fn refuses_ranges_of_another_launch_or_argument() {
    let chain = chain_of(scale, shift);
    let mut plan = waiting(&chain);
    statement(&mut plan).touches[1].range.launch = chain.launches[1];
    assert_refused!(chain.scene, plan, Refusal::BatchedTouchesMore { .. });
    let mut plan = waiting(&chain);
    statement(&mut plan).touches[1] = touch(&chain, chain.launches[0], 0, true);
    assert_refused!(chain.scene, plan, Refusal::BatchedTouchesMore { .. });
}

#[test]
fn refuses_a_footprint_that_is_not_known() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[0].footprints.clear();
    assert_refused!(
        chain.scene,
        waiting(&chain),
        Refusal::BatchedTouchesMore { .. }
    );
}

#[test]
fn refuses_what_must_run_alone() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[1].prints = true;
    assert_refused!(chain.scene, waiting(&chain), Refusal::NotBatched { .. });
    let mut chain = chain_of(scale, shift);
    let place = sirius_rs::diagnostics::Location::default();
    let reason = ("does something unknown".to_owned(), place);
    chain.scene.kernels[0].opaque.push(reason);
    assert_refused!(chain.scene, waiting(&chain), Refusal::NotBatched { .. });
}

#[test]
fn refuses_a_launch_twice() {
    let chain = chain_of(scale, shift);
    let mut plan = waiting(&chain);
    let again = plan.batched_regions[0].clone();
    plan.batched_regions.push(again);
    assert_refused!(chain.scene, plan, Refusal::NotBatched { .. });
}

#[test]
fn refuses_a_member_that_is_not_its_groups_place() {
    let chain = chain_of(scale, shift);
    let plan = FusionPlan {
        groups: chain.plan().groups,
        ..waiting(&chain)
    };
    let found = refusals(&chain.scene, &plan);
    let misplaced = |refusal: &Refusal| matches!(refusal, Refusal::NotBatched { .. });
    assert!(found.iter().any(misplaced), "{found:#?}");
}

#[test]
fn refuses_to_wait_across_what_the_host_could_tell_by() {
    let what = "puts".to_string();
    for fence in [
        NodeKind::Opaque { what },
        NodeKind::HostAccess { ordered: true },
        NodeKind::StreamOperation,
        NodeKind::Synchronise(Awaited::Event),
        NodeKind::Free { pointer: None },
    ] {
        let between = |scene: &mut Scene, _: [BufferId; 3]| {
            scene.node(fence.clone());
        };
        let chain = chain_with(scale, between, shift);
        assert_refused!(
            chain.scene,
            waiting(&chain),
            Refusal::PassedByBatches { .. }
        );
    }
}

#[test]
fn passes_a_fence_after_the_last_statement() {
    let mut chain = chain_of(scale, shift);
    chain.scene.node(NodeKind::HostAccess { ordered: true });
    assert_passes(&chain.scene, &waiting(&chain));
}

#[test]
fn refuses_a_fence_that_a_loop_comes_back_over() {
    // The whole function is the region, and the launches are met again after the host's access.
    let mut chain = chain_of(scale, shift);
    chain.scene.node(NodeKind::HostAccess { ordered: true });
    let body = chain.scene.block;
    chain.scene.edge(body, body);
    chain.scene.make_loop(body);
    assert_refused!(
        chain.scene,
        waiting(&chain),
        Refusal::PassedByBatches { .. }
    );
    // One iteration is the region: the access comes after its end.
    let mut plan = waiting(&chain);
    plan.batched_regions[0].outside_loops = 1;
    assert_passes(&chain.scene, &plan);
}

/// scale, then `between` in a block that the host need not come by, then shift.
fn with_a_switch(between: &NodeKind) -> (Chain, HostBlockId) {
    let switch = Cell::new(HostBlockId(0));
    let add = |scene: &mut Scene, _: [BufferId; 3]| {
        let before = scene.block;
        switch.set(scene.block_after(before));
        scene.node(between.clone());
        let join = scene.block_after(switch.get());
        scene.edge(before, join);
        scene.graph.blocks[join.0].immediate_dominator = Some(before);
    };
    (chain_with(scale, add, shift), switch.get())
}

#[test]
fn passes_a_switch_before_which_all_is_issued() {
    let (chain, switch) = with_a_switch(&NodeKind::StreamOperation);
    assert_refused!(
        chain.scene,
        waiting(&chain),
        Refusal::PassedByBatches { .. }
    );
    let mut plan = waiting(&chain);
    plan.batched_regions[0].drained_before.push(switch);
    assert_passes(&chain.scene, &plan);
    // Issued elsewhere, it waits there all the same.
    for elsewhere in [HostBlockId(0), HostBlockId(99), chain.scene.block] {
        let mut plan = waiting(&chain);
        plan.batched_regions[0].drained_before.push(elsewhere);
        let found = refusals(&chain.scene, &plan);
        assert!(!found.is_empty(), "{elsewhere:?}");
    }
}

#[test]
fn waits_while_the_host_touches_its_own_memory() {
    let access = |scene: &mut Scene, _: [BufferId; 3]| {
        scene.node(NodeKind::HostAccess { ordered: false });
        let what = "at".to_string();
        scene.node(NodeKind::MayThrow { what });
    };
    let mut chain = chain_with(scale, access, shift);
    assert_passes(&chain.scene, &waiting(&chain));
    // Nothing is known of a pointer of the second, which is met again in a loop, say.
    let second = chain.launches[1];
    for argument in &mut chain.scene.launch_mut(second).arguments {
        for piece in &mut argument.pieces {
            if let Some(pointer) = &mut piece.pointer {
                pointer.device_only = false;
            }
        }
    }
    assert_refused!(
        chain.scene,
        waiting(&chain),
        Refusal::PassedByBatches { .. }
    );
    let asked = |argument: usize| Guard::DeviceMemory {
        launch: second,
        operand: Operand::Argument {
            argument,
            offset_bytes: 0,
            bits: 64,
            signed: false,
        },
    };
    let mut plan = waiting(&chain);
    let statement = &mut plan.batched_regions[0].statements[1];
    statement.guards.push(asked(0));
    assert_refused!(chain.scene, plan, Refusal::PassedByBatches { .. });
    plan.batched_regions[0].statements[1].guards.push(asked(1));
    assert_passes(&chain.scene, &plan);
}
