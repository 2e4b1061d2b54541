//! Pointers that kernels load from tables in memory of the device.

use super::*;
use sirius_rs::dependence::RangeTouch;
use sirius_rs::kernel::Footprint;
use sirius_rs::launch::{
    ArgumentPiece, BEHIND_POINTER, Operand, Pointer, Root, StoredPointer, Touch,
};
use sirius_rs::schedule::{BatchedRegion, BatchedStatement};

/// `b = f(a); c = g(*(table + 8))` where the host has put a pointer to `x` into the table.
struct Looked {
    scene: Scene,
    launches: [LaunchId; 2],
    b: BufferId,
    x: BufferId,
    table: BufferId,
    size: ValueId,
    shape: Shape,
}

const DISTANCE: u32 = 8;

impl Looked {
    fn new() -> Self {
        let mut scene = Scene::new();
        let [a, b, c, x, table] = ["a", "b", "c", "x", "table"].map(|name| scene.buffer(name));
        let size = scene.unknown();
        let n = Pass::Integer(size);
        let shape = scene.known_shape();
        let first = scene.pointwise("scale");
        let loaded = Target::Argument {
            argument: 0,
            offset_bytes: BEHIND_POINTER + DISTANCE,
        };
        let mut read = access(AccessKind::Read, 0, own_element(-1));
        read.target = loaded.clone();
        let second = scene.kernel(
            "look",
            2,
            vec![read, access(AccessKind::Write, 1, own_element(0))],
        );
        let footprints = &mut scene.kernels[second.0].footprints;
        let behind = Footprint {
            target: loaded,
            ..footprints[0].clone()
        };
        footprints.push(behind);
        let one = scene.launch(first, shape, &[Pass::To(a), Pass::To(b), n.clone()]);
        let two = scene.launch(second, shape, &[Pass::To(table), Pass::To(c), n]);
        let value = scene.unknown();
        scene.launch_mut(two).arguments[0]
            .pieces
            .push(ArgumentPiece {
                offset_bytes: BEHIND_POINTER + DISTANCE,
                bits: 64,
                value,
                pointer: Some(start_of(x)),
            });
        let mut looked = Self {
            scene,
            launches: [one, two],
            b,
            x,
            table,
            size,
            shape,
        };
        looked.store(vec![looked.stored(Some(8), x, Some(0))]);
        looked
    }

    fn stored(
        &self,
        at_bytes: Option<i64>,
        to: BufferId,
        offset_bytes: Option<i64>,
    ) -> StoredPointer {
        StoredPointer {
            at_bytes,
            may_point_to: Some(vec![to]),
            offset_bytes,
        }
    }

    fn store(&mut self, cells: Vec<StoredPointer>) {
        self.scene.graph.buffers[self.table.0].stored_pointers = Some(cells);
    }

    fn piece(&mut self) -> &mut ArgumentPiece {
        let launch = self.scene.launch_mut(self.launches[1]);
        &mut launch.arguments[0].pieces[1]
    }

    /// Says of the loaded pointer only which allocation it may lead into.
    fn lead_somewhere_in(&mut self, buffers: Vec<BufferId>) {
        let value = self.piece().value;
        self.piece().pointer = Some(Pointer {
            root: Root::Value(value),
            offset_bytes: Some(Expression::Constant(0)),
            may_point_to: Some(buffers),
            device_only: true,
        });
    }

    fn plan(&self) -> FusionPlan {
        plan(
            &[(self.launches[0], false), (self.launches[1], false)],
            Vec::new(),
        )
    }

    #[track_caller]
    fn passes(&self) {
        assert_passes(&self.scene, &self.plan());
    }

    #[track_caller]
    fn is_refused(&self) {
        let launch = self.launches[1];
        let found = refusals(&self.scene, &self.plan());
        let changes = |refusal: &Refusal| matches!(refusal, Refusal::TableChanges { launch: own, .. } if *own == launch);
        assert!(found.iter().any(changes), "{found:#?}");
    }
}

#[test]
fn a_table_that_the_host_alone_fills_tells_where_its_pointers_lead() {
    let mut looked = Looked::new();
    looked.passes();
    looked.lead_somewhere_in(vec![looked.x]);
    looked.passes();
    // Other entries, and the same one again.
    let cells = vec![
        looked.stored(Some(0), looked.b, Some(0)),
        looked.stored(Some(16), looked.b, None),
        looked.stored(Some(8), looked.x, None),
    ];
    looked.store(cells);
    looked.passes();
}

#[test]
fn loaded_pointers_lead_where_the_host_says() {
    let wrong: [fn(&mut Looked); 10] = [
        // Into another allocation.
        |looked| looked.store(vec![looked.stored(Some(8), looked.b, Some(0))]),
        |looked| {
            looked.lead_somewhere_in(vec![looked.x]);
            looked.store(vec![looked.stored(Some(8), looked.b, None)]);
        },
        // Into another one as well, by a copy to anywhere or one that covers half of the entry.
        |looked| {
            looked.lead_somewhere_in(vec![looked.x]);
            let cells = [
                looked.stored(Some(8), looked.x, None),
                looked.stored(None, looked.b, None),
            ];
            looked.store(cells.to_vec());
        },
        |looked| {
            looked.lead_somewhere_in(vec![looked.x]);
            let cells = [
                looked.stored(Some(8), looked.x, None),
                looked.stored(Some(12), looked.b, None),
            ];
            looked.store(cells.to_vec());
        },
        // Elsewhere in the same one.
        |looked| looked.store(vec![looked.stored(Some(8), looked.x, Some(4))]),
        |looked| looked.store(vec![looked.stored(Some(8), looked.x, None)]),
        |looked| looked.store(vec![looked.stored(Some(4), looked.x, Some(0))]),
        // Nobody knows what is there.
        |looked| looked.scene.graph.buffers[looked.table.0].stored_pointers = None,
        |looked| {
            let mut cell = looked.stored(Some(8), looked.x, Some(0));
            cell.may_point_to = None;
            looked.store(vec![cell]);
        },
        |looked| {
            let launch = looked.launches[1];
            looked.scene.launch_mut(launch).arguments[0]
                .pieces
                .truncate(1);
        },
    ];
    for (index, change) in wrong.into_iter().enumerate() {
        let mut looked = Looked::new();
        change(&mut looked);
        let found = refusals(&looked.scene, &looked.plan());
        assert!(!found.is_empty(), "{index}");
        looked.is_refused();
    }
}

#[test]
fn nobody_else_writes_to_a_table() {
    let wrong: [fn(&mut Looked); 8] = [
        |looked| looked.scene.graph.buffers[looked.table.0].escapes = true,
        |looked| {
            looked.scene.copy(&[looked.x], &[looked.table]);
        },
        |looked| looked.scene.library(&[looked.x], &[looked.table], false),
        |looked| {
            let pointer = start_of(looked.table);
            looked.scene.node(NodeKind::Set {
                writes: Touch {
                    pointer,
                    bytes: None,
                },
                stream: Stream::Default,
            });
        },
        // By a kernel: through its argument, or one that may lead there.
        |looked| {
            let (kernel, size) = (looked.scene.pointwise("give"), Pass::Integer(looked.size));
            let arguments = [Pass::To(looked.x), Pass::To(looked.table), size];
            looked.scene.launch(kernel, looked.shape, &arguments);
        },
        |looked| {
            let (kernel, size) = (looked.scene.pointwise("give"), Pass::Integer(looked.size));
            let any = Pass::Anything(looked.scene.unknown());
            looked
                .scene
                .launch(kernel, looked.shape, &[Pass::To(looked.x), any, size]);
        },
        // One that keeps its argument, and one of which nothing is known.
        |looked| {
            let (kernel, size) = (looked.scene.pointwise("keep"), Pass::Integer(looked.size));
            looked.scene.kernels[kernel.0].formals[0].captured = true;
            let arguments = [Pass::To(looked.table), Pass::To(looked.x), size];
            looked.scene.launch(kernel, looked.shape, &arguments);
        },
        |looked| {
            let kernel = looked.scene.kernel("opaque", 0, Vec::new());
            let place = Location::default();
            looked.scene.kernels[kernel.0]
                .opaque
                .push(("does anything".into(), place));
            let size = Pass::Integer(looked.size);
            looked.scene.launch(kernel, looked.shape, &[size]);
        },
    ];
    for change in wrong {
        let mut looked = Looked::new();
        change(&mut looked);
        looked.is_refused();
    }
}

#[test]
fn copies_from_the_host_are_in_the_table() {
    let mut looked = Looked::new();
    let copy = looked.scene.copy(&[], &[looked.table]);
    let NodeKind::Copy {
        from_host, writes, ..
    } = &mut looked.scene.graph.nodes[copy.0].kind
    else {
        panic!("a copy");
    };
    *from_host = Some(0);
    // To anywhere it may bring pointers of which the table knows nothing.
    let mut anywhere = writes.clone();
    anywhere[0].pointer.may_point_to = None;
    looked.passes();
    let NodeKind::Copy { writes, .. } = &mut looked.scene.graph.nodes[copy.0].kind else {
        panic!("a copy");
    };
    *writes = anywhere;
    looked.is_refused();
}

#[test]
fn a_graph_may_run_when_the_table_is_another() {
    let mut looked = Looked::new();
    let what = "cudaGraphLaunch".to_owned();
    looked.scene.node(NodeKind::Opaque { what });
    looked.passes();
    looked.scene.graph.capture.replays = true;
    looked.is_refused();
}

#[test]
fn batches_are_told_of_what_loaded_pointers_lead_to() {
    let looked = Looked::new();
    let launch = looked.launches[1];
    let touches = |operand: Option<Operand>| {
        let touch = |argument, writes| RangeTouch {
            range: range(launch, argument, looked.size),
            columns: None,
            writes,
        };
        let mut touches = vec![touch(0, false), touch(1, true)];
        touches.extend(operand.map(|operand| {
            let mut behind = touch(0, false);
            behind.range.operand = operand;
            behind
        }));
        touches
    };
    let waiting = |touches| FusionPlan {
        batched_regions: vec![BatchedRegion {
            statements: vec![BatchedStatement {
                launch,
                touches,
                guards: vec![valid(launch)],
                replaced: Vec::new(),
                must_replace: false,
                persistent: None,
                phase_rounds: None,
            }],
            outside_loops: 0,
            drained_before: Vec::new(),
            for_graphs: false,
        }],
        ..FusionPlan::default()
    };
    let behind = |distance| Operand::Argument {
        argument: 0,
        offset_bytes: BEHIND_POINTER + distance,
        bits: 64,
        signed: false,
    };
    assert_passes(&looked.scene, &waiting(touches(Some(behind(DISTANCE)))));
    for other in [None, Some(behind(DISTANCE + 8)), Some(behind(0))] {
        let plan = waiting(touches(other));
        assert_refused!(looked.scene, plan, Refusal::BatchedTouchesMore { .. });
    }
}
