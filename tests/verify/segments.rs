//! Members that run interleaved or in another order than they are listed in.

use super::*;

#[test]
fn passes_static_shared_memory_of_one_kernel_twice() {
    let (scene, one, two) = sums_of_two();
    assert_passes(&scene, &plan(&[(one, false), (two, false)], Vec::new()));
}

/// One kernel with a barrier and static shared memory, launched for different buffers.
pub fn sums_of_two() -> (Scene, LaunchId, LaunchId) {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d"].map(|name| Pass::To(scene.buffer(name)));
    let shape = scene.known_shape();
    let n = Pass::Integer(scene.unknown());
    let sum = scene.block_sum("sum");
    let [a, b, c, d] = buffers;
    let one = scene.launch(sum, shape, &[a, b, n.clone()]);
    let two = scene.launch(sum, shape, &[c, d, n]);
    (scene, one, two)
}

pub fn in_segments(mut plan: FusionPlan, segments: &[&[usize]]) -> FusionPlan {
    plan.groups[0].segments = segments.iter().map(|segment| segment.to_vec()).collect();
    plan
}

#[test]
fn passes_interleaved_and_another_order_of_what_is_independent() {
    let (scene, one, two) = sums_of_two();
    let both = plan(&[(one, false), (two, false)], Vec::new());
    assert_passes(&scene, &in_segments(both.clone(), &[&[0, 1]]));
    assert_passes(&scene, &in_segments(both.clone(), &[&[1], &[0]]));
    let barrier = plan(&[(one, true), (two, false)], Vec::new());
    assert_passes(&scene, &in_segments(barrier, &[&[1], &[0]]));
}

#[test]
fn refuses_segments_that_are_not_the_members() {
    let (scene, one, two) = sums_of_two();
    let both = plan(&[(one, false), (two, false)], Vec::new());
    for segments in [
        &[&[0][..]][..],
        &[&[0], &[0]],
        &[&[0, 0], &[1]],
        &[&[0], &[1], &[1]],
        &[&[0], &[2]],
        &[&[0], &[1], &[]],
    ] {
        let plan = in_segments(both.clone(), segments);
        assert_refused!(scene, plan, Refusal::Segments { .. });
    }
    // A barrier before the first segment, and one that only a part of a segment has.
    for barriers in [[true, true], [false, true]] {
        let plan = plan(&[(one, barriers[0]), (two, barriers[1])], Vec::new());
        let plan = in_segments(plan, &[&[0, 1]]);
        assert_refused!(scene, plan, Refusal::Segments { .. });
    }
}

#[test]
fn refuses_interleaved_and_another_order_of_what_depends() {
    // What one thread writes and reads again keeps its order in no other way than in order.
    let chain = chain_of(scale, shift);
    assert_passes(&chain.scene, &in_segments(chain.plan(), &[&[0], &[1]]));
    for segments in [&[&[0, 1][..]][..], &[&[1], &[0]]] {
        let plan = in_segments(chain.plan(), segments);
        assert_refused!(chain.scene, plan, Refusal::OrderLost { .. });
    }
}

#[test]
fn refuses_another_order_across_a_barrier() {
    let (scene, plan) = row_chain(true);
    assert_passes(&scene, &in_segments(plan.clone(), &[&[0], &[1], &[2]]));
    let mut other = in_segments(plan, &[&[1], &[0], &[2]]);
    other.groups[0].members[0].barrier_before = true;
    other.groups[0].members[1].barrier_before = false;
    assert!(!refusals(&scene, &other).is_empty());
}

#[test]
fn refuses_interleaved_of_warp_operations_and_prints() {
    for change in [
        |model: &mut KernelModel| model.warp_operations = true,
        |model: &mut KernelModel| model.asynchronous_copies = true,
        |model: &mut KernelModel| model.prints = true,
        |model: &mut KernelModel| model.dynamic_shared = true,
    ] {
        let (mut scene, one, two) = sums_of_two();
        change(&mut scene.kernels[0]);
        let plan = plan(&[(one, false), (two, false)], Vec::new());
        assert!(!refusals(&scene, &in_segments(plan, &[&[0, 1]])).is_empty());
    }
}
