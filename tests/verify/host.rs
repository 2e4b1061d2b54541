//! The place of a group in the host program: streams, fences, what launches move past.

use super::*;
use sirius_rs::launch::{NodeId, Touch};

#[test]
fn refuses_different_streams() {
    let mut chain = chain_of(scale, shift);
    let [one, two] = chain.launches;
    let stream = chain.scene.unknown();
    chain.scene.launch_mut(two).stream = Stream::Handle(stream);
    assert_refused!(chain.scene, chain.plan(), Refusal::DifferentStream { .. });
    chain.scene.launch_mut(one).stream = Stream::Handle(stream);
    assert_passes(&chain.scene, &chain.plan());
    // Who looks into graphs sees which kernels were captured; the legacy stream cannot be captured.
    chain.scene.graph.capture.looks_inside = true;
    assert_refused!(chain.scene, chain.plan(), Refusal::CaptureUnchecked { .. });
    let mut guarded = chain.plan();
    guarded.groups[0]
        .guards
        .push(Guard::NotCapturing { launch: one });
    assert_passes(&chain.scene, &guarded);
    chain.scene.graph.capture = StreamCapture {
        entries: [0].into(),
        ..StreamCapture::default()
    };
    assert_refused!(chain.scene, chain.plan(), Refusal::CaptureUnchecked { .. });
    for launch in [one, two] {
        chain.scene.launch_mut(launch).stream = Stream::Default;
    }
    assert_passes(&chain.scene, &chain.plan());
    // Nodes of graphs have kernels, and nothing that is launched otherwise or kept beside.
    chain.scene.graph.capture = StreamCapture {
        nodes: [0].into(),
        ..StreamCapture::default()
    };
    assert_passes(&chain.scene, &chain.plan());
    let mut resident = chain.plan();
    resident.groups[0]
        .guards
        .push(Guard::Resident { rounds: 1 });
    let found = refusals(&chain.scene, &resident);
    let more = |refusal: &Refusal| matches!(refusal, Refusal::MoreThanNode { .. });
    assert!(found.iter().any(more), "{found:#?}");
    chain.scene.graph.capture = StreamCapture::default();
    chain.scene.launch_mut(one).stream = Stream::Unknown;
    chain.scene.launch_mut(two).stream = Stream::Unknown;
    assert_refused!(chain.scene, chain.plan(), Refusal::DifferentStream { .. });
}

#[test]
fn streams_that_a_test_finds_equal_are_one() {
    let mut chain = chain_of(scale, shift);
    let [first, second] = chain.launches;
    let streams = [chain.scene.unknown(), chain.scene.unknown()];
    for (launch, stream) in [first, second].into_iter().zip(streams) {
        chain.scene.launch_mut(launch).stream = Stream::Handle(stream);
    }
    let plan = |chain: &Chain, first, second| {
        let mut plan = chain.plan();
        plan.groups[0]
            .guards
            .push(Guard::SameStream { first, second });
        plan
    };
    assert_refused!(chain.scene, chain.plan(), Refusal::DifferentStream { .. });
    assert_passes(&chain.scene, &plan(&chain, first, second));
    assert_passes(&chain.scene, &plan(&chain, second, first));
    // A test of a launch with itself, or with one outside, says nothing.
    let nobody = LaunchId(99);
    for (one, other) in [(first, first), (first, nobody), (nobody, second)] {
        assert_refused!(
            chain.scene,
            plan(&chain, one, other),
            Refusal::DifferentStream { .. }
        );
    }
    chain.scene.launch_mut(first).stream = Stream::Unknown;
    assert_refused!(
        chain.scene,
        plan(&chain, first, second),
        Refusal::DifferentStream { .. }
    );
}

#[test]
fn what_streams_wait_for_each_other_by_is_not_passed() {
    let between = |scene: &mut Scene, _: [BufferId; 3]| {
        scene.node(NodeKind::Synchronise(Awaited::Device));
    };
    let mut chain = chain_with(scale, between, shift);
    let [first, second] = chain.launches;
    assert_passes(&chain.scene, &chain.plan());
    let stream = chain.scene.unknown();
    chain.scene.launch_mut(second).stream = Stream::Handle(stream);
    let mut plan = chain.plan();
    plan.groups[0]
        .guards
        .push(Guard::SameStream { first, second });
    assert_refused!(chain.scene, plan, Refusal::PassesWait { .. });
}

#[test]
fn refuses_fences() {
    let what = "puts".to_string();
    for fence in [
        NodeKind::Opaque { what },
        NodeKind::HostAccess { ordered: true },
        NodeKind::StreamOperation,
        NodeKind::Free { pointer: None },
    ] {
        let between = |scene: &mut Scene, _: [BufferId; 3]| {
            scene.node(fence.clone());
        };
        let chain = chain_with(scale, between, shift);
        assert_refused!(chain.scene, chain.plan(), Refusal::Fence { .. });
    }
}

#[test]
fn passes_what_is_no_fence() {
    let buffer = BufferId(0);
    for node in [
        NodeKind::Synchronise(Awaited::Device),
        NodeKind::ErrorCheck,
        NodeKind::Allocation { buffer },
    ] {
        let between = |scene: &mut Scene, _: [BufferId; 3]| {
            scene.node(node.clone());
        };
        let chain = chain_with(scale, between, shift);
        assert_passes(&chain.scene, &chain.plan());
    }
}

#[test]
fn refuses_conflicting_copies_sets_and_frees() {
    // The first launch reads buffer 0 and writes buffer 1.
    type Between = fn(&mut Scene, [BufferId; 3]);
    let nodes: [Between; 6] = [
        |scene, [a, _, _]| {
            scene.copy(&[], &[a]);
        },
        |scene, [a, _, _]| scene.library(&[], &[a], false),
        |scene, [_, b, _]| scene.library(&[b], &[], true),
        |scene, [_, b, _]| {
            scene.copy(&[b], &[]);
        },
        |scene, [_, b, _]| {
            let writes = sirius_rs::launch::Touch {
                pointer: start_of(b),
                bytes: None,
            };
            scene.node(NodeKind::Set {
                writes,
                stream: Stream::Default,
            });
        },
        |scene, [a, _, _]| {
            scene.node(NodeKind::Free {
                pointer: Some(start_of(a)),
            });
        },
    ];
    for between in nodes {
        let chain = chain_with(scale, between, shift);
        assert_refused!(chain.scene, chain.plan(), Refusal::Reordered { .. });
    }
}

#[test]
fn passes_harmless_copies() {
    let reads_input = |scene: &mut Scene, [a, _, _]: [BufferId; 3]| {
        scene.copy(&[a], &[]);
    };
    let chain = chain_with(scale, reads_input, shift);
    assert_passes(&chain.scene, &chain.plan());
    let elsewhere = |scene: &mut Scene, _: [BufferId; 3]| {
        let other = scene.buffer("other");
        scene.copy(&[other], &[other]);
    };
    let chain = chain_with(scale, elsewhere, shift);
    assert_passes(&chain.scene, &chain.plan());
}

#[test]
fn passes_library_calls_on_other_memory() {
    for waits in [false, true] {
        let chain = match waits {
            false => chain_with(
                scale,
                |scene, [a, _, _]| {
                    let other = scene.buffer("other");
                    scene.library(&[a], &[other], false);
                },
                shift,
            ),
            true => chain_with(
                scale,
                |scene, [a, _, _]| scene.library(&[a], &[], true),
                shift,
            ),
        };
        assert_passes(&chain.scene, &chain.plan());
    }
}

#[test]
fn refuses_copy_through_unknown_pointer() {
    let between = |scene: &mut Scene, _: [BufferId; 3]| {
        let pointer = anywhere(scene.unknown());
        let writes = sirius_rs::launch::Touch {
            pointer,
            bytes: None,
        };
        scene.node(NodeKind::Set {
            writes,
            stream: Stream::Default,
        });
    };
    let chain = chain_with(scale, between, shift);
    assert_refused!(chain.scene, chain.plan(), Refusal::Reordered { .. });
}

#[test]
fn refuses_passing_a_conflicting_launch() {
    // The launch between writes what the first reads; that it is pointwise does not help, since it
    // is not in the group.
    let between = |scene: &mut Scene, [a, _, c]: [BufferId; 3]| {
        let shape = scene.known_shape();
        let size = scene.unknown();
        let kernel = scene.pointwise("overwrite");
        scene.launch(
            kernel,
            shape,
            &[Pass::To(c), Pass::To(a), Pass::Integer(size)],
        );
    };
    let chain = chain_with(scale, between, shift);
    assert_refused!(chain.scene, chain.plan(), Refusal::Reordered { .. });
}

#[test]
fn refuses_passing_an_opaque_launch() {
    let between = |scene: &mut Scene, _: [BufferId; 3]| {
        let shape = scene.known_shape();
        let kernel = scene.pointwise("assembly");
        let reason = ("uses inline assembly".to_string(), Location::default());
        scene.kernels[kernel.0].opaque.push(reason);
        let (x, y) = (scene.buffer("x"), scene.buffer("y"));
        let size = scene.unknown();
        scene.launch(
            kernel,
            shape,
            &[Pass::To(x), Pass::To(y), Pass::Integer(size)],
        );
    };
    let chain = chain_with(scale, between, shift);
    assert_refused!(chain.scene, chain.plan(), Refusal::Reordered { .. });
}

/// Four launches, two chains a-b-c and d-e-f interleaved: 0, 2 and 1, 3.
fn interleaved(second_input: usize) -> (Scene, [LaunchId; 4]) {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d", "e", "f"].map(|name| scene.buffer(name));
    let shape = scene.known_shape();
    let n = Pass::Integer(scene.unknown());
    let kernel = scene.pointwise("pointwise");
    let mut launch = |from: usize, to: usize| {
        let (from, to) = (Pass::To(buffers[from]), Pass::To(buffers[to]));
        scene.launch(kernel, shape, &[from, to, n.clone()])
    };
    let launches = [
        launch(0, 1),
        launch(second_input, 4),
        launch(1, 2),
        launch(4, 5),
    ];
    (scene, launches)
}

#[test]
fn passes_interleaved_groups() {
    let (scene, [p, q, r, s]) = interleaved(3);
    let groups = vec![
        group(&[(p, false), (r, false)], Vec::new()),
        group(&[(q, false), (s, false)], Vec::new()),
    ];
    assert_passes(
        &scene,
        &FusionPlan {
            groups,
            ..FusionPlan::default()
        },
    );
}

#[test]
fn refuses_launch_that_passes_one_that_moves_further() {
    // q reads what p wrote. p moves to r's place, and q below it to s's place: but q is issued at its
    // old place after all when a test of its group fails there.
    let (scene, [p, q, r, s]) = interleaved(1);
    let first = group(&[(p, false), (r, false)], Vec::new());
    let second = group(&[(q, false), (s, false)], Vec::new());
    assert_refused!(
        scene,
        FusionPlan {
            groups: vec![first, second],
            ..FusionPlan::default()
        },
        Refusal::Reordered { .. }
    );
}

#[test]
fn refuses_not_convex() {
    // p -> q -> r with q outside: q would have to run before and after the group.
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d"].map(|name| Pass::To(scene.buffer(name)));
    let shape = scene.known_shape();
    let n = Pass::Integer(scene.unknown());
    let kernel = scene.pointwise("pointwise");
    let stencil = scene.stencil("stencil");
    let [a, b, c, d] = buffers;
    let p = scene.launch(kernel, shape, &[a, b.clone(), n.clone()]);
    scene.launch(stencil, shape, &[b, c.clone(), n.clone()]);
    let r = scene.launch(kernel, shape, &[c, d, n]);
    let plan = plan(&[(p, false), (r, false)], Vec::new());
    assert_refused!(scene, plan, Refusal::Reordered { .. });
}

#[test]
fn passes_error_return_between() {
    // The block after the first launch may return instead of going on.
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c"].map(|name| Pass::To(scene.buffer(name)));
    let shape = scene.known_shape();
    let n = Pass::Integer(scene.unknown());
    let kernel = scene.pointwise("pointwise");
    let [a, b, c] = buffers;
    let one = scene.launch(kernel, shape, &[a, b.clone(), n.clone()]);
    scene.node(NodeKind::ErrorCheck);
    let error = scene.block_after(HostBlockId(0));
    scene.node(NodeKind::Opaque {
        what: "fprintf".to_string(),
    });
    scene.block_after(HostBlockId(0));
    let two = scene.launch(kernel, shape, &[b, c, n]);
    let both = plan(&[(one, false), (two, false)], Vec::new());
    assert_passes(&scene, &both);
    // If the error path goes on to the second launch, what it prints stands between.
    let last = scene.block;
    scene.edge(error, last);
    assert_refused!(scene, both, Refusal::Fence { .. });
}

/// A loop body with two launches, and one launch after the loop.
fn loop_scene() -> (Scene, [LaunchId; 3]) {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c"].map(|name| Pass::To(scene.buffer(name)));
    let shape = scene.known_shape();
    let n = Pass::Integer(scene.unknown());
    let kernel = scene.pointwise("pointwise");
    let [a, b, c] = buffers;
    let header = scene.block_after(HostBlockId(0));
    scene.make_loop(header);
    let one = scene.launch(kernel, shape, &[a.clone(), b.clone(), n.clone()]);
    let latch = scene.block_after(header);
    let two = scene.launch(kernel, shape, &[b.clone(), c.clone(), n.clone()]);
    scene.edge(latch, header);
    let exit = scene.block_after(latch);
    scene.graph.blocks[exit.0].innermost_loop = None;
    let three = scene.launch(kernel, shape, &[c, a, n]);
    (scene, [one, two, three])
}

#[test]
fn passes_same_iteration_of_a_loop() {
    let (scene, [one, two, _]) = loop_scene();
    assert_passes(&scene, &plan(&[(one, false), (two, false)], Vec::new()));
}

#[test]
fn refuses_members_in_and_behind_a_loop() {
    let (scene, [_, two, three]) = loop_scene();
    let plan = plan(&[(two, false), (three, false)], Vec::new());
    assert_refused!(scene, plan, Refusal::NotOnOnePath { .. });
}

#[test]
fn refuses_cycle_that_no_loop_tells_of() {
    let (mut scene, [one, two, _]) = loop_scene();
    for block in &mut scene.graph.blocks {
        block.innermost_loop = None;
    }
    let plan = plan(&[(one, false), (two, false)], Vec::new());
    assert_refused!(scene, plan, Refusal::NotOnOnePath { .. });
}

#[test]
fn refuses_two_that_print() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[1].prints = true;
    assert_passes(&chain.scene, &chain.plan());
    chain.scene.kernels[0].prints = true;
    assert_refused!(chain.scene, chain.plan(), Refusal::PrintsTwice { .. });
}

#[test]
fn refuses_printing_launch_below_synchronisation() {
    let between = |scene: &mut Scene, _: [BufferId; 3]| {
        scene.node(NodeKind::Synchronise(Awaited::Device));
    };
    let mut chain = chain_with(scale, between, shift);
    chain.scene.kernels[1].prints = true;
    assert_passes(&chain.scene, &chain.plan());
    chain.scene.kernels[1].prints = false;
    chain.scene.kernels[0].prints = true;
    assert_refused!(chain.scene, chain.plan(), Refusal::PrintingMoves { .. });
}

#[test]
fn outputs_of_the_host_are_passed_by_what_the_host_does_not_see() {
    let between = |scene: &mut Scene, _: [BufferId; 3]| {
        let what = "puts".to_string();
        scene.node(NodeKind::Output { what });
    };
    let mut chain = chain_with(scale, between, shift);
    chain.scene.kernels[1].prints = true;
    assert_passes(&chain.scene, &chain.plan());
    chain.scene.kernels[1].prints = false;
    chain.scene.kernels[0].prints = true;
    assert_refused!(chain.scene, chain.plan(), Refusal::PrintingMoves { .. });
    chain.scene.kernels[0].prints = false;
    let first = chain.launches[0];
    for argument in &mut chain.scene.launch_mut(first).arguments {
        let pointers = argument.pieces.iter_mut();
        for pointer in pointers.filter_map(|piece| piece.pointer.as_mut()) {
            pointer.device_only = false;
        }
    }
    assert_refused!(chain.scene, chain.plan(), Refusal::Fence { .. });
}

#[test]
fn refuses_to_pass_a_wait_that_somebody_relies_on() {
    // scale -> synchronise -> shift; then the host reads what scale wrote and has waited for.
    let scene = |after: &[NodeKind], device_only: bool| {
        let mut scene = Scene::new();
        let buffers = ["x", "y", "z"].map(|name| scene.buffer(name));
        let shape = scene.known_shape();
        let n = Pass::Integer(scene.unknown());
        let kernel = scene.pointwise("scale");
        let [x, y, z] = buffers.map(Pass::To);
        let first = scene.launch(kernel, shape, &[x, y.clone(), n.clone()]);
        scene.node(NodeKind::Synchronise(Awaited::Device));
        let second = scene.launch(kernel, shape, &[y, z, n]);
        for kind in after {
            scene.node(kind.clone());
        }
        for argument in &mut scene.launch_mut(first).arguments {
            for piece in &mut argument.pieces {
                if let Some(pointer) = &mut piece.pointer {
                    pointer.device_only = device_only;
                }
            }
        }
        let plan = plan(&[(first, false), (second, false)], Vec::new());
        (scene, plan)
    };
    let (relying, plan) = scene(&[NodeKind::HostAccess { ordered: true }], false);
    assert_refused!(relying, plan, Refusal::PassesWait { .. });
    let (waiting, plan) = scene(
        &[
            NodeKind::Synchronise(Awaited::Device),
            NodeKind::HostAccess { ordered: true },
        ],
        false,
    );
    assert_passes(&waiting, &plan);
    let (elsewhere, plan) = scene(&[NodeKind::HostAccess { ordered: true }], true);
    assert_passes(&elsewhere, &plan);
    // With an event somewhere, it depends on what is waited for.
    let waited = |awaited| {
        [
            NodeKind::Synchronise(awaited),
            NodeKind::HostAccess { ordered: true },
        ]
    };
    for (awaited, is_done) in [
        (Awaited::Device, true),
        (Awaited::Stream(Stream::Default), true),
        (Awaited::Stream(Stream::Unknown), false),
        (Awaited::Event, false),
    ] {
        let (mut waiting, plan) = scene(&waited(awaited), false);
        waiting.node(NodeKind::StreamOperation);
        match is_done {
            true => assert_passes(&waiting, &plan),
            false => {
                assert_refused!(waiting, plan, Refusal::PassesWait { .. });
            }
        }
    }
}

#[test]
fn a_copy_is_a_wait_where_the_plan_says_that_it_waits_in_any_case() {
    // scale -> synchronise -> shift; then a copy to the host, then a call that is not known.
    let unknown = NodeKind::Opaque {
        what: "report(double)".to_string(),
    };
    let scene = |awaited_call, stream| {
        let mut scene = Scene::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| scene.buffer(name));
        let shape = scene.known_shape();
        let n = Pass::Integer(scene.unknown());
        let kernel = scene.pointwise("scale");
        let first = scene.launch(kernel, shape, &[Pass::To(x), Pass::To(y), n.clone()]);
        scene.node(NodeKind::Synchronise(Awaited::Device));
        let second = scene.launch(kernel, shape, &[Pass::To(y), Pass::To(z), n]);
        let copy = scene.node(NodeKind::Copy {
            reads: vec![Touch {
                pointer: start_of(z),
                bytes: None,
            }],
            writes: Vec::new(),
            stream,
            host_side: true,
            awaited_call,
            from_host: None,
        });
        scene.node(unknown.clone());
        let plan = plan(&[(first, false), (second, false)], Vec::new());
        (scene, plan, copy)
    };
    let naming = |mut plan: FusionPlan, node: NodeId| {
        plan.groups[0].awaited_copies = vec![node];
        plan
    };
    // Nobody says that it waits with nothing to copy.
    let (copies, plan, copy) = scene(Some(3), Stream::Default);
    assert_refused!(copies, plan, Refusal::PassesWait { .. });
    assert_passes(&copies, &naming(plan.clone(), copy));
    // What the plan names must be such a copy.
    let none = NodeId(copies.graph.nodes.len());
    for node in [NodeId(copy.0 - 1), NodeId(copy.0 + 1), none] {
        let named = naming(plan.clone(), node);
        assert_refused!(copies, named, Refusal::AwaitsNothing { .. });
    }
    let (asynchronous, plan, copy) = scene(None, Stream::Default);
    let named = naming(plan, copy);
    assert_refused!(asynchronous, named, Refusal::AwaitsNothing { .. });
    // A copy on another stream does not wait for the launches.
    let (mut elsewhere, plan, copy) = scene(Some(0), Stream::Unknown);
    elsewhere.node(NodeKind::StreamOperation);
    assert_refused!(elsewhere, naming(plan, copy), Refusal::PassesWait { .. });
    // One that stands before the last member is no wait for what is issued there.
    let (mut before, plan, copy) = scene(Some(0), Stream::Default);
    let nodes = &mut before.graph.blocks[0].nodes;
    let at = nodes.iter().position(|node| *node == copy).unwrap();
    nodes.swap(at, at + 1);
    assert_refused!(before, naming(plan, copy), Refusal::PassesWait { .. });
}
