//! Allocations that a plan calls unread although somebody may read them.

use super::*;
use sirius_rs::launch::MemoryKind;

/// The plan of a chain that calls its middle buffer unread.
fn unread(chain: &Chain) -> FusionPlan {
    let mut plan = chain.plan();
    plan.groups[0].unread_afterwards.push(chain.buffers[1]);
    plan
}

#[test]
fn passes_when_nobody_reads() {
    let mut chain = chain_of(scale, shift);
    let [a, b, c] = chain.buffers;
    // Reading others, and writing the one, is no harm.
    chain.scene.copy(&[a, c], &[b]);
    assert_passes(&chain.scene, &unread(&chain));
}

#[test]
fn refuses_when_a_copy_reads() {
    let mut chain = chain_of(scale, shift);
    let b = chain.buffers[1];
    chain.scene.copy(&[b], &[]);
    assert_refused!(chain.scene, unread(&chain), Refusal::StillRead { .. });
}

#[test]
fn refuses_when_a_graph_may_read() {
    let mut chain = chain_of(scale, shift);
    let what = "cudaGraphLaunch".to_owned();
    chain.scene.node(NodeKind::Opaque { what });
    assert_passes(&chain.scene, &unread(&chain));
    chain.scene.graph.capture.replays = true;
    assert_refused!(chain.scene, unread(&chain), Refusal::StillRead { .. });
}

#[test]
fn refuses_when_a_launch_reads() {
    let mut chain = chain_of(scale, shift);
    let [_, b, c] = chain.buffers.map(Pass::To);
    let kernel = chain.scene.pointwise("later");
    let n = Pass::Integer(chain.size);
    chain.scene.launch(kernel, chain.shape, &[b, c, n]);
    assert_refused!(chain.scene, unread(&chain), Refusal::StillRead { .. });
}

#[test]
fn refuses_when_a_launch_reads_anything() {
    let mut chain = chain_of(scale, shift);
    let c = Pass::To(chain.buffers[2]);
    let kernel = chain.scene.pointwise("later");
    let anything = Pass::Anything(chain.scene.unknown());
    let n = Pass::Integer(chain.size);
    chain.scene.launch(kernel, chain.shape, &[anything, c, n]);
    assert_refused!(chain.scene, unread(&chain), Refusal::StillRead { .. });
}

#[test]
fn refuses_what_escapes_or_is_not_device_memory() {
    let mut chain = chain_of(scale, shift);
    let b = chain.buffers[1];
    chain.scene.graph.buffers[b.0].escapes = true;
    assert_refused!(chain.scene, unread(&chain), Refusal::StillRead { .. });
    let mut chain = chain_of(scale, shift);
    chain.scene.graph.buffers[b.0].memory = MemoryKind::Pinned;
    assert_refused!(chain.scene, unread(&chain), Refusal::StillRead { .. });
}

#[test]
fn refuses_when_a_kernel_keeps_the_pointer() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[0].formals[1].captured = true;
    assert_refused!(chain.scene, unread(&chain), Refusal::StillRead { .. });
}

#[test]
fn refuses_when_another_round_may_take_the_originals() {
    let mut chain = chain_of(scale, shift);
    chain.scene.make_loop(HostBlockId(0));
    chain.scene.edge(HostBlockId(0), HostBlockId(0));
    assert_passes(&chain.scene, &unread(&chain));
    let varying = chain.scene.launch_mut(chain.launches[0]).grid[0];
    chain.scene.graph.values[varying.0].varies_in = Some(0);
    assert_refused!(chain.scene, unread(&chain), Refusal::StillRead { .. });
}

#[test]
fn refuses_in_a_function_that_runs_again() {
    let mut chain = chain_of(scale, shift);
    chain.scene.graph.functions[0].repeated = true;
    assert_refused!(chain.scene, unread(&chain), Refusal::StillRead { .. });
}

#[test]
fn refuses_a_buffer_that_is_not_there() {
    let chain = chain_of(scale, shift);
    let mut plan = chain.plan();
    plan.groups[0].unread_afterwards.push(BufferId(77));
    assert_refused!(chain.scene, plan, Refusal::StillRead { .. });
}
