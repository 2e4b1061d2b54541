//! Ranges that a launch is said to replace: wrong plans.

use super::*;
use sirius_rs::dependence::RangeTouch;
use sirius_rs::kernel::Access;
use sirius_rs::schedule::{BatchedRegion, BatchedStatement};

/// `c = stencil(b); b = scale(a)` for `elements` of 10,240 threads: the second launch overwrites what other
/// blocks of the first one still read.
struct Overwrite {
    scene: Scene,
    size: ValueId,
    launches: [LaunchId; 2],
}

fn overwrite_by(kernel: impl Fn(&mut Scene) -> KernelId, elements: i64) -> Overwrite {
    let mut scene = Scene::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| Pass::To(scene.buffer(name)));
    let size = scene.constant(elements);
    let shape = scene.known_shape();
    let n = Pass::Integer(size);
    let (reader, writer) = (scene.stencil("reader"), kernel(&mut scene));
    let one = scene.launch(reader, shape, &[b.clone(), c, n.clone()]);
    let two = scene.launch(writer, shape, &[a, b, n]);
    Overwrite {
        scene,
        size,
        launches: [one, two],
    }
}

fn overwrite() -> Overwrite {
    overwrite_by(scale, 10_000)
}

impl Overwrite {
    fn touch(&self, launch: usize, argument: usize, writes: bool) -> RangeTouch {
        RangeTouch {
            range: range(self.launches[launch], argument, self.size),
            columns: None,
            writes,
        }
    }

    /// Both launches as one that waits, and the second one's result goes elsewhere.
    fn plan(&self) -> FusionPlan {
        let [one, two] = self.launches;
        let statement = BatchedStatement {
            launch: two,
            touches: vec![
                self.touch(0, 0, false),
                self.touch(0, 1, true),
                self.touch(1, 0, false),
                self.touch(1, 1, true),
            ],
            guards: vec![valid(one), valid(two)],
            replaced: vec![3],
            must_replace: true,
            persistent: None,
            phase_rounds: None,
        };
        FusionPlan {
            batched_regions: vec![BatchedRegion {
                statements: vec![statement],
                outside_loops: 0,
                drained_before: Vec::new(),
                for_graphs: false,
            }],
            ..plan(&[(one, false), (two, false)], Vec::new())
        }
    }
}

fn refused(scene: &Scene, plan: &FusionPlan) {
    assert!(!refusals(scene, plan).is_empty(), "it passes: {plan:#?}");
}

#[test]
fn passes_what_is_replaced() {
    for elements in [10_240, 10_000, 1] {
        let overwrite = overwrite_by(scale, elements);
        assert_passes(&overwrite.scene, &overwrite.plan());
    }
}

#[test]
fn refuses_the_group_where_it_does_not_wait() {
    let overwrite = overwrite();
    let mut plan = overwrite.plan();
    plan.batched_regions.clear();
    refused(&overwrite.scene, &plan);
}

#[test]
fn refuses_the_group_where_its_result_may_stay_in_place() {
    let overwrite = overwrite();
    let mut plan = overwrite.plan();
    plan.batched_regions[0].statements[0].must_replace = false;
    refused(&overwrite.scene, &plan);
    let mut plan = overwrite.plan();
    plan.batched_regions[0].statements[0].replaced.clear();
    refused(&overwrite.scene, &plan);
    let mut plan = overwrite.plan();
    plan.batched_regions[0].statements[0].replaced = vec![1];
    refused(&overwrite.scene, &plan);
}

#[test]
fn refuses_segments_in_which_the_writer_is_first_or_beside() {
    for segments in [vec![vec![0, 1]], vec![vec![1], vec![0]]] {
        let overwrite = overwrite();
        let mut plan = overwrite.plan();
        plan.groups[0].segments = segments;
        refused(&overwrite.scene, &plan);
    }
}

#[test]
fn refuses_a_range_that_is_not_written_wholly() {
    // More elements than threads.
    let too_large = overwrite_by(scale, 10_241);
    assert_refused!(
        too_large.scene,
        too_large.plan(),
        Refusal::NotReplaced { .. }
    );
    for change in [
        // Not by the first thread of a block.
        (|access: &mut Access| {
            let positive = Affine::variable(Variable::Thread(Axis::X))
                .add(&Affine::constant(-1))
                .unwrap();
            access.domain[0].push(Constraint::NonNegative(positive));
        }) as fn(&mut Access),
        |access| access.size_bytes = 3,
        |access| access.exact = false,
        |access| access.volatile = true,
        |access| access.asynchronous = true,
        |access| access.kind = AccessKind::Atomic,
        |access| access.domain.clear(),
    ] {
        let mut overwrite = overwrite();
        let kernel = overwrite.scene.kernels.last_mut().unwrap();
        change(&mut kernel.accesses[1]);
        let found = refusals(&overwrite.scene, &overwrite.plan());
        let is_it = |refusal: &Refusal| matches!(refusal, Refusal::NotReplaced { .. });
        assert!(found.iter().any(is_it), "{found:#?}");
    }
}

#[test]
fn refuses_what_is_read_before() {
    let overwrite = overwrite_by(
        |scene| {
            let accesses = vec![
                access(AccessKind::Read, 1, own_element(0)),
                access(AccessKind::Write, 1, own_element(0)),
            ];
            scene.kernel("grow", 2, accesses)
        },
        10_000,
    );
    refused(&overwrite.scene, &overwrite.plan());
}

#[test]
fn refuses_a_size_that_is_not_known() {
    let mut overwrite = overwrite();
    overwrite.scene.graph.values[overwrite.size.0].constant = None;
    let found = refusals(&overwrite.scene, &overwrite.plan());
    let is_it = |refusal: &Refusal| matches!(refusal, Refusal::NotReplaced { .. });
    assert!(found.iter().any(is_it), "{found:#?}");
}

#[test]
fn refuses_kernels_that_read_addresses() {
    for kernel in 0..2 {
        let mut overwrite = overwrite();
        overwrite.scene.kernels[kernel].reads_addresses = true;
        assert_refused!(
            overwrite.scene,
            overwrite.plan(),
            Refusal::NotReplaced { .. }
        );
    }
}

#[test]
fn refuses_ranges_that_are_not_there() {
    let overwrite = overwrite();
    let mut plan = overwrite.plan();
    plan.batched_regions[0].statements[0].replaced = vec![4];
    refused(&overwrite.scene, &plan);
}
