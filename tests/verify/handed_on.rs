//! Stores of a cooperative launch whose values threads of a block may hand to each other: up to which loads nobody writes them anew.

use super::grid_barriers::{persistent, plan_of_sweeps, plan_of_three};
use super::*;
use sirius_rs::launch::{Course, Place, Root};
use sirius_rs::verify::OwnReads;
use std::collections::{BTreeMap, BTreeSet};

/// A member and an argument of stores, and those of a load.
type Pair = ((usize, usize), (usize, usize));

fn pairs(of: &BTreeMap<(usize, usize), BTreeSet<(usize, usize)>>) -> Vec<Pair> {
    let pairs = of.iter();
    let pairs = pairs.flat_map(|(stores, loads)| loads.iter().map(|load| (*stores, *load)));
    pairs.collect()
}

/// What is found where isl is asked about so many conjunctions at most.
fn found(scene: &Scene, plan: FusionPlan, conjunctions: u64) -> OwnReads {
    let verified = verify_within(&scene.graph, &scene.kernels, plan, conjunctions);
    let verified = verified.expect("the plan is right, whatever else is found");
    verified.own_reads().get(&0).cloned().unwrap_or_default()
}

/// More than any of these scenes needs.
const ENOUGH: u64 = 1000;

/// The pairs of `b = f(a); c = g(b); d = h(c); e = last(b)`, with barriers in front of these members.
fn handed_on(
    kernels: [fn(&mut Scene, &str) -> KernelId; 4],
    barriers: &[usize],
    change: impl Fn(&mut Scene, &[LaunchId]),
) -> Vec<Pair> {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d", "e"].map(|name| scene.buffer(name));
    let size = scene.unknown();
    let shape = scene.known_shape();
    let kernels = kernels.map(|kernel| kernel(&mut scene, "kernel"));
    let places = [[0, 1], [1, 2], [2, 3], [1, 4]];
    let launches = kernels.into_iter().zip(places);
    let launches = launches.map(|(kernel, places)| {
        let [from, to] = places.map(|at: usize| Pass::To(buffers[at]));
        scene.launch(kernel, shape, &[from, to, Pass::Integer(size)])
    });
    let launches: Vec<LaunchId> = launches.collect();
    change(&mut scene, &launches);
    let plan = plan_of_three(&launches, barriers);
    pairs(&found(&scene, plan, ENOUGH).in_blocks)
}

const ALL: [((usize, usize), (usize, usize)); 3] =
    [((0, 1), (1, 0)), ((0, 1), (3, 0)), ((1, 1), (2, 0))];

fn stencils() -> [fn(&mut Scene, &str) -> KernelId; 4] {
    [
        Scene::pointwise,
        Scene::stencil,
        Scene::stencil,
        Scene::stencil,
    ]
}

#[test]
fn says_which_loads_find_what_was_stored_in_earlier_phases() {
    let nothing = |_: &mut Scene, _: &[LaunchId]| ();
    assert_eq!(handed_on(stencils(), &[1, 2, 3], nothing), ALL);
    // Within a phase there is no barrier for it.
    let pointwise: fn(&mut Scene, &str) -> KernelId = Scene::pointwise;
    let kernels = [pointwise, pointwise, Scene::stencil, Scene::stencil];
    assert_eq!(handed_on(kernels, &[2, 3], nothing), ALL[1..]);
}

/// Lets the third launch write where the first does.
fn into_first(scene: &mut Scene, launches: &[LaunchId]) {
    let first = scene.launch_mut(launches[0]).arguments[1].clone();
    scene.launch_mut(launches[2]).arguments[1] = first;
}

#[test]
fn what_is_written_anew_is_found_no_more() {
    // The third launch's own stores are handed on to the last one in place of the first's.
    let pairs = [((0, 1), (1, 0)), ((1, 1), (2, 0)), ((2, 1), (3, 0))];
    assert_eq!(handed_on(stencils(), &[1, 2, 3], into_first), pairs);
    // In front of the load, in the same phase, by the thread itself.
    let pointwise: fn(&mut Scene, &str) -> KernelId = Scene::pointwise;
    let kernels = [pointwise, Scene::stencil, pointwise, pointwise];
    let found = handed_on(kernels, &[1, 2], into_first);
    assert!(!found.contains(&((0, 1), (3, 0))), "{found:?}");
}

#[test]
fn stores_of_several_threads_to_one_element_are_not_handed_on() {
    // Any thread may write any element.
    let anywhere = |scene: &mut Scene, _: &[LaunchId]| {
        let accesses = scene.kernels[0].accesses.iter_mut();
        for access in accesses.filter(|access| access.kind == AccessKind::Write) {
            access.subscript = None;
        }
    };
    assert_eq!(handed_on(stencils(), &[1, 2, 3], anywhere), ALL[2..]);
}

#[test]
fn volatile_and_atomic_accesses_are_not_handed_on() {
    let change = |kind: AccessKind, volatile: bool, kernel: usize| {
        move |scene: &mut Scene, _: &[LaunchId]| {
            let accesses = scene.kernels[kernel].accesses.iter_mut();
            for access in accesses.filter(|access| access.kind == kind) {
                access.volatile = volatile;
                if !volatile {
                    access.kind = AccessKind::Atomic;
                }
            }
        }
    };
    let volatile_store = change(AccessKind::Write, true, 0);
    assert_eq!(handed_on(stencils(), &[1, 2, 3], volatile_store), ALL[2..]);
    let volatile_load = change(AccessKind::Read, true, 1);
    assert_eq!(handed_on(stencils(), &[1, 2, 3], volatile_load), ALL[1..]);
    let atomic = change(AccessKind::Write, false, 0);
    assert_eq!(handed_on(stencils(), &[1, 2, 3], atomic), ALL[2..]);
}

/// What is found in `for (…) { b = f(a); a = g(b); }`, or with `turns` in `for (…) { b = f(a); swap(a, b); }`.
fn handed_on_in_loop(
    turns: bool,
    conjunctions: u64,
    change: impl Fn(&mut Scene, &[LaunchId]),
) -> OwnReads {
    let mut scene = Scene::new();
    let buffers = ["a", "b"].map(|name| scene.buffer(name));
    let size = scene.unknown();
    let shape = scene.known_shape();
    let kernel = scene.stencil("f");
    let n = Pass::Integer(size);
    let [from, to] = [scene.unknown(), scene.unknown()];
    let launches = match turns {
        true => {
            let arguments = [Pass::Anything(from), Pass::Anything(to), n];
            vec![scene.launch(kernel, shape, &arguments)]
        }
        false => {
            let [a, b] = buffers.map(Pass::To);
            vec![
                scene.launch(kernel, shape, &[a.clone(), b.clone(), n.clone()]),
                scene.launch(kernel, shape, &[b, a, n]),
            ]
        }
    };
    let body = scene.block;
    scene.edge(body, body);
    scene.make_loop(body);
    let mut plan = plan_of_sweeps(&launches);
    if turns {
        let place = |buffer: BufferId| Place {
            root: Root::Buffer(buffer),
            offset_bytes: Expression::Constant(0),
        };
        let [a, b] = buffers.map(place);
        for (value, places) in [(from, [a.clone(), b.clone()]), (to, [b, a])] {
            scene.graph.values[value.0].varies_in = Some(0);
            let course = Course {
                turns_in: Some(0),
                places: places.to_vec(),
            };
            scene.graph.iterations.courses.insert(value, course);
        }
        let launch = launches[0];
        persistent(&mut plan).turning =
            vec![[(launch, 0), (launch, 1)], [(launch, 1), (launch, 0)]];
    }
    change(&mut scene, &launches);
    found(&scene, plan, conjunctions)
}

#[test]
fn says_which_loads_find_what_the_iteration_before_stored() {
    let nothing = |_: &mut Scene, _: &[LaunchId]| ();
    let own = handed_on_in_loop(false, ENOUGH, nothing);
    assert_eq!(pairs(&own.in_blocks), [((0, 1), (1, 0))]);
    assert_eq!(pairs(&own.in_blocks_across), [((1, 1), (0, 0))]);
    // Arrays that change places.
    let own = handed_on_in_loop(true, ENOUGH, nothing);
    assert_eq!(pairs(&own.in_blocks), []);
    assert_eq!(pairs(&own.in_blocks_across), [((0, 1), (0, 0))]);
}

/// What is found of `b = f(a); c = g(b); d = h(c); e = last(b)` where isl is asked about so many conjunctions at most, by a thread
/// that remembers no answers.
fn found_within(conjunctions: u64) -> OwnReads {
    let asked = std::thread::spawn(move || {
        let mut scene = Scene::new();
        let buffers = ["a", "b", "c", "d", "e"].map(|name| scene.buffer(name));
        let size = scene.unknown();
        let shape = scene.known_shape();
        let places = [[0, 1], [1, 2], [2, 3], [1, 4]];
        let kernels: [fn(&mut Scene, &str) -> KernelId; 4] = [
            Scene::pointwise,
            Scene::stencil,
            Scene::pointwise,
            Scene::pointwise,
        ];
        let launches = kernels.into_iter().zip(places).map(|(kernel, places)| {
            let kernel = kernel(&mut scene, "kernel");
            let [from, to] = places.map(|at: usize| Pass::To(buffers[at]));
            scene.launch(kernel, shape, &[from, to, Pass::Integer(size)])
        });
        let launches: Vec<LaunchId> = launches.collect();
        let plan = plan_of_three(&launches, &[1, 2, 3]);
        found(&scene, plan, conjunctions)
    });
    asked.join().expect("nothing panics")
}

#[test]
fn what_isl_is_not_asked_is_not_found() {
    let all = found_within(ENOUGH);
    assert!(
        !all.within.is_empty() && !all.in_blocks.is_empty(),
        "{all:?}"
    );
    assert_eq!(found_within(0), OwnReads::default());
    let known = pairs(&all.in_blocks);
    let mut parts = 0;
    for conjunctions in 1.. {
        let found = found_within(conjunctions);
        if found == all {
            break;
        }
        assert!(found.within.is_subset(&all.within), "{found:?}");
        let mut own = pairs(&found.in_blocks).into_iter();
        assert!(own.all(|pair| known.contains(&pair)), "{found:?}");
        parts += usize::from(found.any());
    }
    assert!(parts > 0, "all is found at once or nothing is");
}

#[test]
fn what_isl_is_not_asked_of_iterations_is_not_found() {
    let asked = |conjunctions| {
        let ask = move || handed_on_in_loop(false, conjunctions, |_, _| ());
        std::thread::spawn(ask).join().expect("nothing panics")
    };
    assert!(asked(ENOUGH).any());
    assert_eq!(asked(0), OwnReads::default());
}
