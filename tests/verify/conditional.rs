//! Members under conditions of their own: what they pass, and where they cannot be one.

use super::*;

/// `b = f(a)` under one condition, `c = f(b)` under another, `d = f(c)` behind both.
struct Conditional {
    scene: Scene,
    launches: [LaunchId; 3],
    /// The block that each launch stands in, and those that stand for it where its condition is false.
    taken: [HostBlockId; 2],
    left_out: [HostBlockId; 2],
}

/// Writes the program. `in_place` and `instead` put something behind a launch, or in the block that runs in its place.
fn conditional(
    in_place: impl Fn(&mut Scene, usize),
    instead: impl Fn(&mut Scene, usize),
) -> Conditional {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d"].map(|name| Pass::To(scene.buffer(name)));
    let shape = scene.known_shape();
    let n = Pass::Integer(scene.unknown());
    let kernel = scene.pointwise("pointwise");
    let mut launches = Vec::new();
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    let mut before = HostBlockId(0);
    for number in 0..2 {
        taken.push(scene.block_after(before));
        let arguments = [
            buffers[number].clone(),
            buffers[number + 1].clone(),
            n.clone(),
        ];
        launches.push(scene.launch(kernel, shape, &arguments));
        in_place(&mut scene, number);
        left_out.push(scene.block_after(before));
        instead(&mut scene, number);
        let join = scene.block_after(taken[number]);
        scene.edge(left_out[number], join);
        scene.graph.blocks[join.0].immediate_dominator = Some(before);
        before = join;
    }
    let arguments = [buffers[2].clone(), buffers[3].clone(), n];
    launches.push(scene.launch(kernel, shape, &arguments));
    Conditional {
        scene,
        launches: launches.try_into().unwrap(),
        taken: taken.try_into().unwrap(),
        left_out: left_out.try_into().unwrap(),
    }
}

fn nothing(_: &mut Scene, _: usize) {}

/// Puts an output of the host behind the launch of this number, or in its place.
fn output_at(number: usize) -> impl Fn(&mut Scene, usize) {
    move |scene, here| {
        if here == number {
            scene.node(NodeKind::Opaque {
                what: "fprintf".to_string(),
            });
        }
    }
}

impl Conditional {
    fn group_of(&self, members: &[usize]) -> FusionPlan {
        let members: Vec<_> = members
            .iter()
            .map(|member| (self.launches[*member], false))
            .collect();
        plan(&members, Vec::new())
    }
}

#[test]
fn members_may_stand_under_conditions() {
    let made = conditional(nothing, nothing);
    for members in [&[0, 1, 2][..], &[0, 1], &[1, 2]] {
        assert_passes(&made.scene, &made.group_of(members));
    }
    // The one between reads what the first wrote, and the last what it wrote.
    assert_refused!(
        made.scene,
        made.group_of(&[0, 2]),
        Refusal::Reordered { .. }
    );
}

#[test]
fn a_member_passes_what_stands_in_the_place_of_another() {
    let made = conditional(nothing, output_at(1));
    assert_refused!(made.scene, made.group_of(&[0, 1, 2]), Refusal::Fence { .. });
    // From there no way leads to the second.
    assert_passes(&made.scene, &made.group_of(&[0, 1]));
    assert_passes(&made.scene, &made.group_of(&[1, 2]));
}

#[test]
fn a_member_passes_nothing_where_it_does_not_run() {
    let made = conditional(nothing, output_at(0));
    assert_passes(&made.scene, &made.group_of(&[0, 1, 2]));
    let made = conditional(output_at(0), nothing);
    assert_refused!(made.scene, made.group_of(&[0, 1, 2]), Refusal::Fence { .. });
    assert_passes(&made.scene, &made.group_of(&[1, 2]));
    let made = conditional(output_at(1), nothing);
    assert_refused!(made.scene, made.group_of(&[0, 1, 2]), Refusal::Fence { .. });
    assert_passes(&made.scene, &made.group_of(&[0, 1]));
}

#[test]
fn a_copy_in_the_place_of_a_member_is_passed() {
    let first = |scene: &mut Scene, number: usize| {
        let read = BufferId(1);
        if number == 1 {
            scene.copy(&[read], &[]);
        }
    };
    let made = conditional(nothing, first);
    assert_refused!(
        made.scene,
        made.group_of(&[0, 1, 2]),
        Refusal::Reordered { .. }
    );
    assert_passes(&made.scene, &made.group_of(&[1, 2]));
}

#[test]
fn refuses_alternatives() {
    // Behind the first comes the end of both conditions: of the two only one runs.
    let mut made = conditional(nothing, nothing);
    let [first, second] = made.taken;
    let join = made.scene.graph.blocks[first.0].successors[0];
    let end = made.scene.graph.blocks[second.0].successors[0];
    made.scene.graph.blocks[first.0].successors = vec![end];
    assert_ne!(join, end);
    assert_refused!(
        made.scene,
        made.group_of(&[0, 1, 2]),
        Refusal::NotOnOnePath { .. }
    );
    assert_refused!(
        made.scene,
        made.group_of(&[0, 1]),
        Refusal::NotOnOnePath { .. }
    );
}

#[test]
fn refuses_members_that_a_circle_meets_again() {
    // What stands in the place of the second leads back before the first: no loop tells of it.
    let mut made = conditional(nothing, nothing);
    let entry = HostBlockId(0);
    made.scene.edge(made.left_out[1], entry);
    assert_refused!(
        made.scene,
        made.group_of(&[0, 1, 2]),
        Refusal::NotOnOnePath { .. }
    );
    // As the header of a loop around all of them, it begins another iteration.
    made.scene.make_loop(entry);
    for block in &mut made.scene.graph.blocks {
        block.innermost_loop = Some(0);
    }
    assert_passes(&made.scene, &made.group_of(&[0, 1, 2]));
}

#[test]
fn refuses_a_beginning_that_is_met_twice() {
    // The block before both conditions repeats itself, without a loop around the launches.
    let mut made = conditional(nothing, nothing);
    let entry = HostBlockId(0);
    made.scene.edge(entry, entry);
    assert_refused!(
        made.scene,
        made.group_of(&[0, 1, 2]),
        Refusal::NotOnOnePath { .. }
    );
}

#[test]
fn refuses_streams_that_only_a_test_finds_equal() {
    let mut made = conditional(nothing, nothing);
    let streams = [made.scene.unknown(), made.scene.unknown()];
    let [first, second, last] = made.launches;
    for (launch, stream) in [first, second].into_iter().zip(streams) {
        made.scene.launch_mut(launch).stream = Stream::Handle(stream);
    }
    made.scene.launch_mut(last).stream = Stream::Handle(streams[0]);
    // Of three one may be missing that would tell; two are compared where both are there.
    let tested = |mut plan: FusionPlan| {
        let guards = &mut plan.groups[0].guards;
        guards.push(Guard::SameStream { first, second });
        plan
    };
    let all = tested(made.group_of(&[0, 1, 2]));
    assert_refused!(made.scene, all, Refusal::NotOnOnePath { .. });
    assert_passes(&made.scene, &tested(made.group_of(&[0, 1])));
    let untested = made.group_of(&[0, 1]);
    assert_refused!(made.scene, untested, Refusal::DifferentStream { .. });
    made.scene.launch_mut(second).stream = Stream::Handle(streams[0]);
    assert_passes(&made.scene, &made.group_of(&[0, 1]));
}
