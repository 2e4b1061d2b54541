//! Launches that begin before the one before them has ended: wrong plans, and wrong code.

use super::*;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use sirius_rs::kernel::{DependencyWaits, dependency_waits};
use sirius_rs::schedule::{BatchedRegion, BatchedStatement, Overlap};
use sirius_rs::verify::early_access;

/// `fill(x)`, then `y[i] = x[i - 1] * w[i]`, which may load `w` before it waits.
struct Weighing {
    scene: Scene,
    buffers: [BufferId; 3],
    size: ValueId,
    shape: Shape,
    kernels: [KernelId; 2],
    launches: [LaunchId; 2],
}

/// With something in between.
fn weighing_with(between: impl Fn(&mut Scene, [BufferId; 3])) -> Weighing {
    let mut scene = Scene::new();
    let buffers = ["x", "w", "y"].map(|name| scene.buffer(name));
    let size = scene.unknown();
    let shape = scene.known_shape();
    let fill = scene.kernel(
        "fill",
        1,
        vec![access(AccessKind::Write, 0, own_element(0))],
    );
    let accesses = vec![
        access(AccessKind::Read, 0, own_element(-1)),
        access(AccessKind::Read, 1, own_element(0)),
        access(AccessKind::Write, 2, own_element(0)),
    ];
    let weigh = scene.kernel("weigh", 3, accesses);
    let [x, w, y] = buffers.map(Pass::To);
    let n = Pass::Integer(size);
    let first = scene.launch(fill, shape, &[x.clone(), n.clone()]);
    between(&mut scene, buffers);
    let second = scene.launch(weigh, shape, &[x, w, y, n]);
    Weighing {
        scene,
        buffers,
        size,
        shape,
        kernels: [fill, weigh],
        launches: [first, second],
    }
}

fn weighing() -> Weighing {
    weighing_with(|_, _| ())
}

/// A plan of one launch that begins early.
fn early(launch: LaunchId, predecessors: &[LaunchId], untouched: &[usize]) -> FusionPlan {
    let mut plan = plan(&[(launch, false)], vec![valid(launch)]);
    plan.groups[0].overlap = Some(Overlap {
        predecessors: predecessors.to_vec(),
        untouched: untouched
            .iter()
            .map(|argument| pointer_argument(*argument))
            .collect(),
    });
    plan
}

impl Weighing {
    fn plan(&self) -> FusionPlan {
        let [first, second] = self.launches;
        early(second, &[first], &[1])
    }
}

#[test]
fn weights_may_be_loaded_early() {
    let this = weighing();
    assert_passes(&this.scene, &this.plan());
    let [first, second] = this.launches;
    assert_passes(&this.scene, &early(second, &[first], &[]));
    // One that only tells its successor to begin.
    assert_passes(&this.scene, &early(first, &[], &[]));
}

#[test]
fn error_checks_may_stand_between() {
    let this = weighing_with(|scene, _| {
        scene.node(NodeKind::ErrorCheck);
    });
    assert_passes(&this.scene, &this.plan());
}

#[test]
fn what_the_launch_before_writes_is_loaded_behind_the_wait() {
    let this = weighing();
    let [first, second] = this.launches;
    assert_refused!(
        this.scene,
        early(second, &[first], &[0, 1]),
        Refusal::LoadsTooEarly { .. }
    );
}

#[test]
fn weights_in_memory_that_is_not_known_are_loaded_behind_the_wait() {
    let mut this = weighing();
    let stranger = this.scene.unknown();
    let pieces = &mut this.scene.launch_mut(this.launches[1]).arguments[1].pieces;
    pieces[0].pointer = Some(anywhere(stranger));
    assert_refused!(this.scene, this.plan(), Refusal::LoadsTooEarly { .. });
}

#[test]
fn the_launch_before_may_write_anywhere() {
    let mut this = weighing();
    this.scene.kernels[this.kernels[0].0].accesses[0].target = Target::Unknown;
    assert_refused!(this.scene, this.plan(), Refusal::LoadsTooEarly { .. });
}

#[test]
fn stores_are_not_done_early() {
    let this = weighing();
    let [first, second] = this.launches;
    assert_refused!(
        this.scene,
        early(second, &[first], &[2]),
        Refusal::LoadsTooEarly { .. }
    );
}

#[test]
fn volatile_loads_are_not_done_early() {
    let mut this = weighing();
    this.scene.kernels[this.kernels[1].0].accesses[1].volatile = true;
    assert_refused!(this.scene, this.plan(), Refusal::LoadsTooEarly { .. });
}

#[test]
fn pointers_from_memory_are_followed_behind_the_wait() {
    let this = weighing();
    let mut plan = this.plan();
    if let Some(overlap) = &mut plan.groups[0].overlap {
        overlap.untouched = vec![Target::Unknown];
    }
    assert_refused!(this.scene, plan, Refusal::LoadsTooEarly { .. });
}

#[test]
fn what_the_host_copies_in_between_is_seen() {
    let this = weighing_with(|scene, [_, w, _]| {
        scene.copy(&[], &[w]);
    });
    assert_refused!(this.scene, this.plan(), Refusal::NotRightBefore { .. });
}

#[test]
fn another_launch_in_between_is_the_one_right_before() {
    let this = weighing_with(|scene, [_, w, _]| {
        let kernel = scene.kernel(
            "other",
            1,
            vec![access(AccessKind::Write, 0, own_element(0))],
        );
        let (shape, size) = (scene.known_shape(), scene.unknown());
        scene.launch(kernel, shape, &[Pass::To(w), Pass::Integer(size)]);
    });
    assert_refused!(this.scene, this.plan(), Refusal::NotRightBefore { .. });
}

#[test]
fn waits_and_events_in_between_end_what_is_known() {
    let between = [
        NodeKind::Synchronise(Awaited::Device),
        NodeKind::StreamOperation,
        NodeKind::HostAccess { ordered: false },
        NodeKind::Opaque {
            what: String::from("launches_something"),
        },
    ];
    for kind in between {
        let this = weighing_with(|scene, _| {
            scene.node(kind.clone());
        });
        assert_refused!(this.scene, this.plan(), Refusal::NotRightBefore { .. });
    }
}

#[test]
fn a_launch_that_comes_later_is_not_the_one_before() {
    let this = weighing();
    let [first, second] = this.launches;
    assert_refused!(
        this.scene,
        early(first, &[second], &[]),
        Refusal::NotRightBefore { .. }
    );
}

#[test]
fn in_a_loop_the_last_iteration_comes_before() {
    let mut this = weighing();
    let [first, second] = this.launches;
    let body = this.scene.block;
    this.scene.edge(body, body);
    this.scene.make_loop(body);
    assert_passes(&this.scene, &early(first, &[second], &[]));
    // With a copy at its end it does not.
    let [_, w, _] = this.buffers;
    this.scene.copy(&[], &[w]);
    assert_refused!(
        this.scene,
        early(first, &[second], &[]),
        Refusal::NotRightBefore { .. }
    );
}

#[test]
fn a_stream_has_its_own_launches() {
    let mut this = weighing();
    let stream = this.scene.unknown();
    this.scene.launch_mut(this.launches[1]).stream = Stream::Handle(stream);
    assert_refused!(this.scene, this.plan(), Refusal::DifferentStream { .. });
}

#[test]
fn a_stream_that_varies_may_be_another_one() {
    let mut this = weighing();
    let stream = this.scene.unknown();
    let body = this.scene.block;
    this.scene.edge(body, body);
    this.scene.make_loop(body);
    this.scene.graph.values[stream.0].varies_in = Some(0);
    for launch in this.launches {
        this.scene.launch_mut(launch).stream = Stream::Handle(stream);
    }
    assert_refused!(this.scene, this.plan(), Refusal::NotOverlapped { .. });
}

#[test]
fn a_predecessor_is_one_launch_of_a_known_kernel() {
    let this = weighing();
    let [_, second] = this.launches;
    assert_refused!(
        this.scene,
        early(second, &[LaunchId(77)], &[1]),
        Refusal::UnknownLaunch { .. }
    );
    let mut this = weighing();
    let clause = String::from("calls f, whose body is not known");
    let reason = (clause, Location::default());
    this.scene.kernels[this.kernels[0].0].opaque.push(reason);
    assert_refused!(this.scene, this.plan(), Refusal::NotRightBefore { .. });
    let mut this = weighing();
    this.scene.launch_mut(this.launches[0]).special = true;
    assert_refused!(this.scene, this.plan(), Refusal::NotRightBefore { .. });
}

#[test]
fn what_prints_or_copies_asynchronously_begins_in_its_turn() {
    let mut this = weighing();
    this.scene.kernels[this.kernels[1].0].prints = true;
    assert_refused!(this.scene, this.plan(), Refusal::NotOverlapped { .. });
    let mut this = weighing();
    this.scene.kernels[this.kernels[1].0].asynchronous_copies = true;
    assert_refused!(this.scene, this.plan(), Refusal::NotOverlapped { .. });
}

#[test]
fn a_group_of_several_launches_begins_in_its_turn() {
    let chain = chain_of(scale, shift);
    let mut plan = chain.plan();
    plan.groups[0].overlap = Some(Overlap::default());
    assert_refused!(chain.scene, plan, Refusal::NotOverlapped { .. });
}

/// `fill(x)` is fused with a launch behind the one that would begin early.
#[test]
fn a_launch_that_waits_for_its_group_is_not_issued_where_it_stands() {
    let mut this = weighing();
    let [fill, _] = this.kernels;
    let [first, second] = this.launches;
    let other = this.scene.buffer("other");
    let n = Pass::Integer(this.size);
    let third = this
        .scene
        .launch(fill, this.shape, &[Pass::To(other), n.clone()]);
    let fourth = this.scene.launch(fill, this.shape, &[Pass::To(other), n]);
    // Each by itself is right.
    assert_passes(&this.scene, &early(third, &[second], &[]));
    let mut whole = early(fourth, &[third], &[]);
    assert_passes(&this.scene, &whole);
    let group = plan(
        &[(third, false), (fourth, false)],
        vec![valid(third), valid(fourth)],
    );
    whole.groups = early(second, &[first], &[1]).groups;
    whole.groups.extend(group.groups);
    assert_passes(&this.scene, &whole);
    // The first waits for the third, past the second.
    let moved = plan(
        &[(first, false), (third, false)],
        vec![valid(first), valid(third)],
    );
    let mut whole = this.plan();
    whole.groups.extend(moved.groups);
    let found = refusals(&this.scene, &whole);
    assert!(!found.is_empty(), "the first is not issued at its place");
}

#[test]
fn launches_that_wait_for_batches_are_not_in_their_places() {
    let this = weighing();
    for (launch, other) in [(0, false), (1, true)] {
        let mut plan = this.plan();
        plan.batched_regions.push(BatchedRegion {
            statements: vec![BatchedStatement {
                launch: this.launches[launch],
                touches: Vec::new(),
                guards: vec![valid(this.launches[launch])],
                replaced: Vec::new(),
                must_replace: false,
                persistent: None,
                phase_rounds: None,
            }],
            outside_loops: 0,
            drained_before: Vec::new(),
            for_graphs: false,
        });
        let found = refusals(&this.scene, &plan);
        let of_overlap = |refusal: &Refusal| match refusal {
            Refusal::NotOverlapped { .. } => other,
            Refusal::NotRightBefore { .. } => !other,
            _ => false,
        };
        assert!(found.iter().any(of_overlap), "{found:#?}");
    }
}

/// What a kernel of this body does before its wait; it may load from its second argument.
fn found_in(body: &str) -> Option<Refusal> {
    early_access(&waits_in(body), |target| *target == pointer_argument(1))
}

fn waits_in(body: &str) -> DependencyWaits {
    let text = format!(
        "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"\n\
         target triple = \"nvptx64-nvidia-cuda\"\n\
         @tile = internal addrspace(3) global [32 x float] undef\n\
         declare void @llvm.nvvm.barrier0()\n\
         declare void @outside()\n\
         define ptx_kernel void @k(ptr %x, ptr %w, ptr %y, i1 %c) {{\n{body}\n}}\n"
    );
    let text = text
        .replace(
            "WAIT",
            "call void asm sideeffect \"griddepcontrol.wait;\", \"~{memory}\"()",
        )
        .replace(
            "TRIGGER",
            "call void asm sideeffect \"griddepcontrol.launch_dependents;\", \"~{memory}\"()",
        );
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "code");
    let module = context.create_module_from_ir(buffer).expect("valid IR");
    dependency_waits(module.get_function("k").expect("a kernel"))
}

#[test]
fn right_code_passes() {
    let right = "entry:\n %a = load float, ptr %w\n %s = addrspacecast ptr addrspace(3) @tile to ptr\n\
                 store float %a, ptr %s\n br i1 %c, label %work, label %left\n\
                 work:\n WAIT\n TRIGGER\n %b = load float, ptr %x\n store float %b, ptr %y\n ret void\n\
                 left:\n WAIT\n TRIGGER\n ret void";
    assert_eq!(found_in(right), None);
    let waits = waits_in(right);
    assert_eq!(waits.before.len(), 1);
    assert_eq!(waits.before[0].target, pointer_argument(1));
}

#[test]
fn every_way_waits() {
    let left =
        "entry:\n br i1 %c, label %work, label %left\nwork:\n WAIT\n ret void\nleft:\n ret void";
    assert!(matches!(found_in(left), Some(Refusal::NeverWaits)));
    assert!(matches!(found_in("ret void"), Some(Refusal::NeverWaits)));
}

#[test]
fn a_wait_behind_the_load_is_too_late() {
    let late = "%a = load float, ptr %x\n WAIT\n store float %a, ptr %y\n ret void";
    assert!(matches!(found_in(late), Some(Refusal::WaitsTooLate { .. })));
    // Once in a loop.
    let late = "entry:\n br label %loop\nloop:\n %a = load float, ptr %x\n br i1 %c, label %loop, label %end\n\
                end:\n WAIT\n store float %a, ptr %y\n ret void";
    assert!(matches!(found_in(late), Some(Refusal::WaitsTooLate { .. })));
}

#[test]
fn stores_atomics_and_calls_stand_behind_the_wait() {
    let bodies = [
        "store float 1.0, ptr %y\n WAIT\n ret void",
        "store float 1.0, ptr %w\n WAIT\n ret void",
        "%o = atomicrmw add ptr %w, i32 1 monotonic\n WAIT\n ret void",
        "%v = load volatile float, ptr %w\n WAIT\n ret void",
        "call void @outside()\n WAIT\n ret void",
        "%p = load ptr, ptr %w\n %a = load float, ptr %p\n WAIT\n ret void",
    ];
    for body in bodies {
        let found = found_in(body);
        assert!(
            matches!(found, Some(Refusal::WaitsTooLate { .. })),
            "{body}: {found:?}"
        );
    }
}

#[test]
fn a_trigger_before_the_wait_is_too_early() {
    let early = "TRIGGER\n WAIT\n ret void";
    assert!(matches!(found_in(early), Some(Refusal::TriggersTooEarly)));
    let early = "entry:\n br i1 %c, label %one, label %end\none:\n TRIGGER\n br label %end\nend:\n WAIT\n ret void";
    assert!(matches!(found_in(early), Some(Refusal::TriggersTooEarly)));
}
