//! Launches that pass what the host does with memory, for which the program asks what memory theirs is.

use super::*;
use sirius_rs::launch::Operand;

/// scale -> `between` -> shift, where nothing is known of scale's pointers.
fn unknown_pointers(between: &[NodeKind]) -> Chain {
    let add = |scene: &mut Scene, _: [BufferId; 3]| {
        for kind in between {
            scene.node(kind.clone());
        }
    };
    let mut chain = chain_with(scale, add, shift);
    let first = chain.launches[0];
    for argument in &mut chain.scene.launch_mut(first).arguments {
        for piece in &mut argument.pieces {
            if let Some(pointer) = &mut piece.pointer {
                pointer.device_only = false;
            }
        }
    }
    chain
}

fn asked(launch: LaunchId, argument: usize, offset_bytes: u32) -> Guard {
    let operand = Operand::Argument {
        argument,
        offset_bytes,
        bits: 64,
        signed: false,
    };
    Guard::DeviceMemory { launch, operand }
}

/// The chain's plan with some guards more.
fn plan_with(chain: &Chain, guards: &[Guard]) -> FusionPlan {
    let mut plan = chain.plan();
    plan.groups[0].guards.extend(guards.iter().cloned());
    plan
}

const ACCESS: NodeKind = NodeKind::HostAccess { ordered: false };

#[test]
fn passes_accesses_of_the_host_where_each_pointer_is_asked() {
    let chain = unknown_pointers(&[ACCESS]);
    let first = chain.launches[0];
    let both = [asked(first, 0, 0), asked(first, 1, 0)];
    assert_passes(&chain.scene, &plan_with(&chain, &both));
}

#[test]
fn passes_accesses_of_the_host_with_memory_of_the_device() {
    let between = |scene: &mut Scene, _: [BufferId; 3]| {
        scene.node(ACCESS);
    };
    let chain = chain_with(scale, between, shift);
    assert_passes(&chain.scene, &chain.plan());
}

#[test]
fn refuses_where_a_pointer_is_not_asked() {
    let chain = unknown_pointers(&[ACCESS]);
    let [first, second] = chain.launches;
    for guards in [
        vec![],
        vec![asked(first, 0, 0)],
        vec![asked(first, 1, 0)],
        vec![asked(second, 0, 0), asked(second, 1, 0)],
        vec![asked(first, 0, 0), asked(first, 1, 8)],
    ] {
        let plan = plan_with(&chain, &guards);
        assert_refused!(chain.scene, plan, Refusal::Fence { .. });
    }
}

#[test]
fn refuses_accesses_in_order_and_kernels_that_print() {
    let ordered = NodeKind::HostAccess { ordered: true };
    let chain = unknown_pointers(&[ordered]);
    let first = chain.launches[0];
    let both = [asked(first, 0, 0), asked(first, 1, 0)];
    assert_refused!(chain.scene, plan_with(&chain, &both), Refusal::Fence { .. });
    let mut chain = unknown_pointers(&[ACCESS]);
    chain.scene.kernels[0].prints = true;
    assert_refused!(
        chain.scene,
        plan_with(&chain, &both),
        Refusal::PrintingMoves { .. }
    );
}

#[test]
fn passes_a_wait_that_nobody_can_rely_on() {
    // Behind the group the host looks at memory that cannot be the first launch's.
    let mut chain = unknown_pointers(&[NodeKind::Synchronise(Awaited::Device)]);
    chain.scene.node(ACCESS);
    let first = chain.launches[0];
    let both = [asked(first, 0, 0), asked(first, 1, 0)];
    assert_passes(&chain.scene, &plan_with(&chain, &both));
    assert_refused!(
        chain.scene,
        plan_with(&chain, &both[..1]),
        Refusal::PassesWait { .. }
    );
}

#[test]
fn passes_calls_that_may_throw() {
    let throws = || NodeKind::MayThrow {
        what: "look_up".into(),
    };
    let chain = unknown_pointers(&[throws()]);
    assert_passes(&chain.scene, &chain.plan());
}

#[test]
fn refuses_a_call_that_may_throw_behind_a_wait() {
    // Who catches the exception knows that the device is done, and may look at what the first launch wrote.
    let throws = || NodeKind::MayThrow {
        what: "look_up".into(),
    };
    let wait = NodeKind::Synchronise(Awaited::Device);
    let chain = unknown_pointers(&[wait, throws()]);
    assert_refused!(chain.scene, chain.plan(), Refusal::PassesWait { .. });
    let first = chain.launches[0];
    let both = [asked(first, 0, 0), asked(first, 1, 0)];
    assert_passes(&chain.scene, &plan_with(&chain, &both));
    // Behind the group, too.
    let mut chain = unknown_pointers(&[NodeKind::Synchronise(Awaited::Device)]);
    chain.scene.node(throws());
    assert_refused!(chain.scene, chain.plan(), Refusal::PassesWait { .. });
}
