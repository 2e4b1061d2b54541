//! What the program asks of a launch's memory before it keeps the launch for its group.

use super::*;

const ASKS: ScheduleOptions = ScheduleOptions {
    asks_memory: true,
    ..ALL
};

/// Two launches that are given pointers of which nothing is known, with an operation between them, and one behind.
fn unknown_pointers(between: NodeKind, behind: Option<NodeKind>) -> Uniform {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let [x, y, z] = [(); 3].map(|()| Pointer {
        device_only: false,
        ..this.world.stranger()
    });
    this.launch(scale, &x, &y);
    this.world.node(between);
    this.launch(scale, &y, &z);
    if let Some(behind) = behind {
        this.world.node(behind);
    }
    this
}

/// Groups of a plan, and how many pointers are asked about.
fn asked(plan: &FusionPlan) -> (usize, usize) {
    let guards = plan.groups.iter().flat_map(|group| &group.guards);
    let questions = guards.filter(|guard| matches!(guard, Guard::DeviceMemory { .. }));
    (plan.groups.len(), questions.count())
}

const ACCESS: NodeKind = NodeKind::HostAccess { ordered: false };

#[test]
fn a_launch_that_passes_the_host_is_asked_for_its_memory() {
    let this = unknown_pointers(ACCESS, None);
    // Both pointers of the launch that moves, and none of the other.
    assert_eq!(asked(&plan(&this.world, &ASKS).0), (1, 2));
    let (not_asked, missed) = plan(&this.world, &ALL);
    assert!(not_asked.groups.is_empty());
    assert_eq!(missed[0].rejection.reason, RejectionReason::HostAccess);
}

#[test]
fn a_launch_that_passes_what_may_wait_is_asked_for_its_memory() {
    // The host reads behind the group, and may rely on an allocation in between that waits for the device.
    let buffer = BufferId(0);
    for waits in [
        NodeKind::Allocation { buffer },
        NodeKind::Synchronise(Awaited::Device),
    ] {
        let this = unknown_pointers(waits, Some(ACCESS));
        assert_eq!(asked(&plan(&this.world, &ASKS).0), (1, 2));
        assert_eq!(asked(&plan(&this.world, &ALL).0), (0, 0));
    }
}

#[test]
fn a_launch_that_passes_nothing_of_the_host_is_not_asked() {
    let this = unknown_pointers(NodeKind::ErrorCheck, None);
    assert_eq!(asked(&plan(&this.world, &ASKS).0), (1, 0));
}
