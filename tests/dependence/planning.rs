//! Which launches become one, and why others do not.

use crate::builder::{Kernel, World, X, actuals, pointwise, row_sum, rows, shape, sum};
use sirius_rs::build::Fusion;
use sirius_rs::dependence::{DependenceKind, Guard, build_dependence_graph};
use sirius_rs::diagnostics::RejectionReason;
use sirius_rs::kernel::{AccessKind, Barrier, Reduction, ReductionOperator};
use sirius_rs::launch::{Awaited, BufferId, NodeId, NodeKind, Pointer, Stream, ValueId};
use sirius_rs::math::affine::Variable;
use sirius_rs::math::expression::Expression;
use sirius_rs::program::KernelId;
use sirius_rs::schedule::occupancy::Limits;
use sirius_rs::schedule::{FusionPlan, Layout, Missed, ScheduleOptions, plan_fusion};
use sirius_rs::verify::verify;

/// Everything that joins launches in the same blocks.
pub const ALL: ScheduleOptions = ScheduleOptions {
    // What stands side by side has cases of its own.
    fusion: Fusion::Local,
    max_fusions: None,
    keep_synchronisations: false,
    launch_batches: false,
    persistent_loops: false,
    grid_barriers: false,
    last_block: false,
    recomputes: true,
    asks_memory: false,
    remaps_threads: true,
    host_constants: false,
    one_base: false,
    graphs: false,
    overlap: false,
    permutes_blocks: true,
    expands_buffers: false,
    reuses_shared_memory: true,
    reserves_memory: true,
    layout: Layout::Auto,
    limits: Limits::LEAST,
};

/// The plan, which the judge accepts.
fn plan(world: &World, options: &ScheduleOptions) -> (FusionPlan, Vec<Missed>) {
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let (plan, missed) = plan_fusion(&world.graph, &world.kernels, &dependences, options);
    if let Err(refusals) = verify(&world.graph, &world.kernels, plan.clone()) {
        panic!("refused: {refusals:#?}\n{plan:#?}");
    }
    (plan, missed)
}

/// Numbers of the launches of each group.
fn groups(plan: &FusionPlan) -> Vec<Vec<u32>> {
    let numbers = |group: &sirius_rs::schedule::FusionGroup| {
        group.members.iter().map(|member| member.launch.0).collect()
    };
    plan.groups.iter().map(numbers).collect()
}

/// A world in which everything is launched with one unknown shape and size.
struct Uniform {
    world: World,
    grid: [ValueId; 3],
    block: [ValueId; 3],
    n: ValueId,
}

impl Uniform {
    fn new() -> Self {
        let mut world = World::new();
        let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
        let (grid, block) = (shape(&mut world, grid), shape(&mut world, block));
        Self {
            world,
            grid,
            block,
            n,
        }
    }

    fn launch(&mut self, kernel: KernelId, from: &Pointer, to: &Pointer) -> NodeId {
        let arguments = actuals(from, to, self.n);
        self.world.launch(kernel, self.grid, self.block, arguments)
    }

    /// x -> y -> z by two pointwise kernels, `between` in the middle; the only missed reason.
    fn split_by(between: impl FnOnce(&mut Self, [&Pointer; 3])) -> (World, Outcome) {
        let mut this = Self::new();
        let scale = this.world.kernel(pointwise("scale", 0));
        let buffers = ["x", "y", "z"].map(|name| this.world.buffer(name));
        let [x, y, z] = &buffers;
        this.launch(scale, x, y);
        between(&mut this, [x, y, z]);
        this.launch(scale, y, z);
        let (plan, missed) = plan(&this.world, &ALL);
        (
            this.world,
            Outcome {
                fused: plan.groups.len(),
                missed,
            },
        )
    }
}

/// What became of two launches.
struct Outcome {
    fused: usize,
    missed: Vec<Missed>,
}

impl Outcome {
    fn reason(&self) -> Option<RejectionReason> {
        assert!(self.missed.len() <= 1);
        self.missed.first().map(|missed| missed.rejection.reason)
    }
}

#[test]
fn a_pointwise_chain_becomes_one_launch() {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let shifted = this.world.kernel(pointwise("shift", 0));
    let [x, y, z, w] = ["x", "y", "z", "w"].map(|name| this.world.buffer(name));
    this.launch(scale, &x, &y);
    this.launch(shifted, &y, &z);
    this.launch(scale, &z, &w);
    let (plan, missed) = plan(&this.world, &ALL);
    assert_eq!(groups(&plan), [[0, 1, 2]]);
    assert!(missed.is_empty());
    let group = &plan.groups[0];
    assert!(group.members.iter().all(|member| !member.barrier_before));
    let configurations = group
        .guards
        .iter()
        .filter(|guard| matches!(guard, Guard::ConfigurationValid { .. }));
    assert_eq!(configurations.count(), 3);
    assert_eq!(
        group.guards.len(),
        4,
        "one precondition: {:#?}",
        group.guards
    );
}

#[test]
fn a_stencil_stays_apart_and_says_why() {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let blur = this.world.kernel(pointwise("blur", 1));
    let [x, y, z] = ["x", "y", "z"].map(|name| this.world.buffer(name));
    this.launch(scale, &x, &y);
    this.launch(blur, &y, &z);
    let (plan, missed) = plan(&this.world, &ALL);
    assert!(plan.groups.is_empty());
    assert_eq!(missed.len(), 1);
    let rejection = &missed[0].rejection;
    assert_eq!(rejection.reason, RejectionReason::GlobalDependence);
    assert!(
        rejection.message.contains("`blur` reads `y["),
        "{}",
        rejection.message
    );
    assert!(
        rejection.message.contains("`scale` writes"),
        "{}",
        rejection.message
    );
    assert_eq!(rejection.location.line, 10);
}

#[test]
fn a_row_reduction_costs_a_barrier() {
    let mut this = Uniform::new();
    let square = this.world.kernel(rows("square"));
    let reduce = this.world.kernel(row_sum("reduce"));
    let [x, y, z] = ["x", "y", "z"].map(|name| this.world.buffer(name));
    this.launch(square, &x, &y);
    this.launch(reduce, &y, &z);
    let (plan, _) = plan(&this.world, &ALL);
    assert_eq!(groups(&plan), [[0, 1]]);
    assert!(!plan.groups[0].members[0].barrier_before);
    assert!(plan.groups[0].members[1].barrier_before);
}

#[test]
fn interleaved_branches_become_a_group_each() {
    let (plan, missed) = branches(&["x", "y", "z"], false);
    assert_eq!(groups(&plan), [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
    assert_eq!(missed.len(), 8);
    assert!(
        missed
            .iter()
            .all(|missed| missed.rejection.reason == RejectionReason::NotSimilar)
    );
}

#[test]
fn branches_that_load_the_same_become_one_group() {
    let (plan, missed) = branches(&["x", "x", "x"], false);
    assert_eq!(groups(&plan), [[0, 1, 2, 3, 4, 5, 6, 7, 8]]);
    assert!(missed.is_empty());
    assert!(plan.groups[0].segments.is_empty(), "nobody waits");
    let (plan, _) = branches(&["x", "y", "x"], false);
    assert_eq!(groups(&plan), [vec![0, 2, 3, 5, 6, 8], vec![1, 4, 7]]);
}

#[test]
fn branches_that_wait_alike_run_interleaved() {
    let (plan, _) = branches(&["x", "x", "x"], true);
    let segments = [&[0, 1, 2][..], &[3], &[6], &[4], &[7], &[5], &[8]];
    assert_eq!(plan.groups[0].segments, segments);
    let members = &plan.groups[0].members;
    assert!(members.iter().all(|member| !member.barrier_before));
}

/// Three branches of three launches, one launch of each in turn; the first ones read `inputs` and,
/// when asked to, wait.
fn branches(inputs: &[&str; 3], wait: bool) -> (FusionPlan, Vec<Missed>) {
    let mut this = Uniform::new();
    let mut models = ["gemm", "bias", "split"].map(|name| pointwise(name, 0));
    if wait {
        models[0].barriers.push(Barrier {
            uniform: true,
            uniform_while_unwritten: Vec::new(),
            reached_if: Vec::new(),
            loops: Vec::new(),
            place: 0,
            location: Default::default(),
        });
    }
    let kernels = models.map(|model| this.world.kernel(model));
    let mut known: Vec<(&str, _)> = Vec::new();
    let inputs = inputs.map(
        |name| match known.iter().find(|(other, _)| *other == name) {
            Some((_, buffer)) => Clone::clone(buffer),
            None => {
                known.push((name, this.world.buffer(name)));
                known[known.len() - 1].1.clone()
            }
        },
    );
    let branches = ["q", "k", "v"]
        .map(|branch| ["1", "2", "3"].map(|stage| this.world.buffer(&format!("{branch}{stage}"))));
    for (stage, kernel) in kernels.into_iter().enumerate() {
        for (branch, input) in branches.iter().zip(&inputs) {
            let from = if stage == 0 {
                input
            } else {
                &branch[stage - 1]
            };
            this.launch(kernel, from, &branch[stage]);
        }
    }
    plan(&this.world, &ALL)
}

#[test]
fn groups_that_meet_become_one() {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let mut add = pointwise("accumulate", 0);
    let mut read = add.accesses[1].clone();
    read.kind = AccessKind::Read;
    read.id.0 = 2;
    add.accesses.push(read);
    let add = this.world.kernel(add);
    let [x, y, a, b] = ["x", "y", "a", "b"].map(|name| this.world.buffer(name));
    this.launch(scale, &x, &a);
    this.launch(scale, &y, &b);
    this.launch(add, &a, &b);
    let (plan, missed) = plan(&this.world, &ALL);
    assert_eq!(groups(&plan), [[0, 1, 2]]);
    assert!(missed.is_empty());
}

/// Two products that wait inside, and what adds them up: one block partition, of which the first two are next at once.
#[test]
fn members_that_one_needs_run_interleaved() {
    let mut this = Uniform::new();
    let mut product = pointwise("product", 0);
    product.barriers.push(Barrier {
        uniform: true,
        uniform_while_unwritten: Vec::new(),
        reached_if: Vec::new(),
        loops: Vec::new(),
        place: 0,
        location: Default::default(),
    });
    let product = this.world.kernel(product);
    let mut add = pointwise("accumulate", 0);
    let mut read = add.accesses[1].clone();
    read.kind = AccessKind::Read;
    read.id.0 = 2;
    add.accesses.push(read);
    let add = this.world.kernel(add);
    let [x, a, b] = ["x", "a", "b"].map(|name| this.world.buffer(name));
    this.launch(product, &x, &a);
    this.launch(product, &x, &b);
    this.launch(add, &a, &b);
    let (plan, _) = plan(&this.world, &ALL);
    assert_eq!(plan.groups[0].segments, [&[0, 1][..], &[2]]);
}

#[test]
fn a_path_through_an_outsider_is_not_convex() {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let blur = this.world.kernel(pointwise("blur", 1));
    let mut join = pointwise("join", 0);
    let mut extra = join.accesses[1].clone();
    extra.kind = AccessKind::Read;
    extra.id.0 = 2;
    join.accesses.push(extra);
    let join = this.world.kernel(join);
    let [x, y, z] = ["x", "y", "z"].map(|name| this.world.buffer(name));
    this.launch(scale, &x, &y);
    this.launch(blur, &y, &z);
    // Reads y and z, writes z: first and last could be one but for the launch in between.
    this.launch(join, &y, &z);
    let (plan, missed) = plan(&this.world, &ALL);
    assert_eq!(groups(&plan), [[1, 2]]);
    assert_eq!(missed.len(), 1);
    assert_eq!(
        missed[0].rejection.reason,
        RejectionReason::GlobalDependence
    );
}

#[test]
fn what_stands_between_decides() {
    let outcome = |between: fn(&mut Uniform, [&Pointer; 3])| Uniform::split_by(between).1;
    let nothing = outcome(|_, _| {});
    assert_eq!((nothing.fused, nothing.reason()), (1, None));
    let seen_through = outcome(|this, _| {
        this.world.node(NodeKind::ErrorCheck);
        this.world.node(NodeKind::Synchronise(Awaited::Device));
        this.world.node(NodeKind::Allocation {
            buffer: BufferId(2),
        });
    });
    assert_eq!((seen_through.fused, seen_through.reason()), (1, None));
    let copied = outcome(|this, [_, y, _]| {
        this.world.copy_to_host(y, 4);
    });
    assert_eq!(copied.reason(), Some(RejectionReason::CopyBetween));
    assert_eq!(copied.missed[0].rejection.location.line, 101);
    let elsewhere = outcome(|this, _| {
        let (other, more) = (this.world.buffer("other"), this.world.buffer("more"));
        this.world.copy_on_device(&other, &more, 64);
        this.world.copy_to_host(&other, 64);
    });
    assert_eq!((elsewhere.fused, elsewhere.reason()), (1, None));
    let host = outcome(|this, _| {
        this.world.node(NodeKind::HostAccess { ordered: true });
    });
    assert_eq!(host.reason(), Some(RejectionReason::HostAccess));
    // The launches touch memory of the device alone.
    let unordered = outcome(|this, _| {
        this.world.node(NodeKind::HostAccess { ordered: false });
    });
    assert_eq!((unordered.fused, unordered.reason()), (1, None));
    let throws = outcome(|this, _| {
        let what = String::from("look_up");
        this.world.node(NodeKind::MayThrow { what });
    });
    assert_eq!((throws.fused, throws.reason()), (1, None));
    let call = outcome(|this, _| {
        let what = String::from("mystery");
        this.world.node(NodeKind::Opaque { what });
    });
    assert_eq!(call.reason(), Some(RejectionReason::Fence));
    let output = outcome(|this, _| {
        let what = String::from("printf");
        this.world.node(NodeKind::Opaque { what });
    });
    assert_eq!(output.reason(), Some(RejectionReason::HostAccess));
    let text = outcome(|this, _| {
        let what = String::from("printf");
        this.world.node(NodeKind::Output { what });
    });
    assert_eq!((text.fused, text.reason()), (1, None));
    let event = outcome(|this, _| {
        this.world.node(NodeKind::StreamOperation);
    });
    assert_eq!(event.reason(), Some(RejectionReason::Fence));
    let library = |same: bool| {
        let (_, outcome) = Uniform::split_by(move |this, [x, y, _]| {
            let other = this.world.buffer("other");
            this.world.library(x, if same { y } else { &other });
        });
        (outcome.fused, outcome.reason())
    };
    assert_eq!(library(true), (0, Some(RejectionReason::NotConvex)));
    assert_eq!(library(false), (1, None));
    let freed = outcome(|this, _| {
        this.world.node(NodeKind::Free { pointer: None });
    });
    assert_eq!(freed.reason(), Some(RejectionReason::Fence));
}

#[test]
fn kept_synchronisations_are_fences() {
    let (world, _) = Uniform::split_by(|this, _| {
        this.world.node(NodeKind::Synchronise(Awaited::Device));
    });
    let options = ScheduleOptions {
        keep_synchronisations: true,
        ..ALL
    };
    let (plan, missed) = plan(&world, &options);
    assert!(plan.groups.is_empty());
    assert_eq!(missed[0].rejection.reason, RejectionReason::Fence);
}

#[test]
fn off_and_a_limit_are_obeyed() {
    let (world, _) = Uniform::split_by(|_, _| {});
    for options in [
        ScheduleOptions {
            fusion: Fusion::Off,
            ..ALL
        },
        ScheduleOptions {
            max_fusions: Some(0),
            ..ALL
        },
    ] {
        let (plan, missed) = plan(&world, &options);
        assert!(plan.groups.is_empty());
        assert_eq!(missed[0].rejection.reason, RejectionReason::Disabled);
    }
}

#[test]
fn properties_of_launches_decide() {
    let outcome = |change: fn(&mut World)| {
        let (mut world, _) = Uniform::split_by(|_, _| {});
        change(&mut world);
        let (plan, missed) = plan(&world, &ALL);
        assert!(plan.groups.is_empty());
        missed[0].rejection.reason
    };
    fn second(world: &mut World) -> &mut sirius_rs::launch::Launch {
        match &mut world.graph.nodes[1].kind {
            NodeKind::Launch(launch) => launch,
            _ => panic!("a launch"),
        }
    }
    let stream = outcome(|world| {
        let handle = world.unknown();
        second(world).stream = Stream::Handle(handle);
        world.graph.made_streams.insert(handle);
    });
    assert_eq!(stream, RejectionReason::Stream);
    let stream = outcome(|world| second(world).stream = Stream::Unknown);
    assert_eq!(stream, RejectionReason::Stream);
    let cooperative = outcome(|world| second(world).special = true);
    assert_eq!(cooperative, RejectionReason::OpaqueKernel);
    let unknown = outcome(|world| second(world).kernel = None);
    assert_eq!(unknown, RejectionReason::OpaqueKernel);
    let printing = outcome(|world| world.kernels[0].prints = true);
    assert_eq!(printing, RejectionReason::HostAccess);
    let divergent = outcome(|world| {
        let location = world.kernels[0].location.clone();
        world.kernels[0].barriers.push(Barrier {
            uniform: false,
            uniform_while_unwritten: Vec::new(),
            reached_if: Vec::new(),
            loops: Vec::new(),
            place: 0,
            location,
        });
    });
    assert_eq!(divergent, RejectionReason::DivergentBarrier);
    let shared = outcome(|world| world.kernels[0].static_shared_bytes = 50_000);
    assert_eq!(shared, RejectionReason::Resources);
    let indirect = outcome(|world| world.kernels[0].accesses[0].subscript = None);
    assert_eq!(indirect, RejectionReason::UnprovenIndex);
    let empty = outcome(|world| {
        let zero = world.number(0);
        second(world).grid[0] = zero;
    });
    assert_eq!(empty, RejectionReason::Resources);
}

#[test]
fn a_stream_that_may_be_the_other_is_compared() {
    let (mut world, _) = Uniform::split_by(|_, _| {});
    let handle = world.unknown();
    let NodeKind::Launch(second) = &mut world.graph.nodes[1].kind else {
        panic!("a launch");
    };
    second.stream = Stream::Handle(handle);
    let (plan, _) = plan(&world, &ALL);
    let compared = |guard: &&Guard| matches!(guard, Guard::SameStream { .. });
    assert_eq!(plan.groups.len(), 1);
    assert_eq!(plan.groups[0].guards.iter().filter(compared).count(), 1);
}

#[test]
fn a_barrier_lets_members_share_storage() {
    let (mut world, _) = Uniform::split_by(|_, _| {});
    let barriers = |world: &World, options: &ScheduleOptions| -> Vec<bool> {
        let (plan, missed) = plan(world, options);
        let Some(group) = plan.groups.first() else {
            assert_eq!(missed[0].rejection.reason, RejectionReason::Resources);
            return Vec::new();
        };
        let members = group.members.iter();
        members.map(|member| member.barrier_before).collect()
    };
    world.kernels[0].static_shared_bytes = 24 << 10;
    assert_eq!(barriers(&world, &ALL), [false, false]);
    world.kernels[0].static_shared_bytes = 25 << 10;
    assert_eq!(barriers(&world, &ALL), [false, true]);
    let apart = ScheduleOptions {
        reuses_shared_memory: false,
        ..ALL
    };
    assert!(barriers(&world, &apart).is_empty());
}

#[test]
fn a_few_threads_do_not_do_what_many_did() {
    let outcome = |blocks: i64| {
        let mut this = Uniform::new();
        let location = sirius_rs::diagnostics::Location::default();
        let mut waits = pointwise("waits", 0);
        waits.barriers.push(Barrier {
            uniform: true,
            uniform_while_unwritten: Vec::new(),
            reached_if: Vec::new(),
            loops: Vec::new(),
            place: 0,
            location,
        });
        let waits = this.world.kernel(waits);
        let scale = this.world.kernel(pointwise("scale", 0));
        let [x, y, z] = ["x", "y", "z"].map(|name| this.world.buffer(name));
        (this.grid[0], this.block[0]) = (this.world.number(2), this.world.number(128));
        this.launch(waits, &x, &y);
        (this.grid[0], this.block[0]) = (this.world.number(blocks), this.world.number(64));
        this.launch(scale, &y, &z);
        let (plan, missed) = plan(&this.world, &ALL);
        assert_eq!(plan.groups.len() + missed.len(), 1);
        missed.first().map(|missed| missed.rejection.clone())
    };
    assert_eq!(outcome(32), None);
    let found = outcome(33).expect("it costs too much");
    assert_eq!(found.reason, RejectionReason::Resources);
    assert!(
        found
            .message
            .contains("the 2112 threads of `scale` would be 256 of `waits`")
    );
}

#[test]
fn pointers_that_may_alias_are_tested_at_run_time() {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let [x, y, z] = [(); 3].map(|()| this.world.stranger());
    this.launch(scale, &x, &y);
    // The same pointer value is passed on.
    this.launch(scale, &y, &z);
    let (plan, _) = plan(&this.world, &ALL);
    assert_eq!(groups(&plan), [[0, 1]]);
    let ranges = plan.groups[0].guards.iter().filter(|guard| {
        matches!(
            guard,
            Guard::RangesDisjoint { .. } | Guard::SameOrDisjoint { .. }
        )
    });
    // x is read before z is written, y written before z.
    assert_eq!(ranges.count(), 2, "{:#?}", plan.groups[0].guards);
}

#[test]
fn may_alias_without_bounds_stays_apart() {
    let mut this = Uniform::new();
    let mut unbounded = pointwise("scale", 0);
    unbounded.footprints.clear();
    let scale = this.world.kernel(unbounded);
    let (y, stranger) = (this.world.buffer("y"), this.world.stranger());
    let x = this.world.buffer("x");
    this.launch(scale, &x, &y);
    this.launch(scale, &y, &stranger);
    let (plan, missed) = plan(&this.world, &ALL);
    assert!(plan.groups.is_empty());
    assert_eq!(missed[0].rejection.reason, RejectionReason::MayAlias);
}

#[test]
fn a_launch_in_a_loop_joins_its_neighbour_only() {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let [x, y, z] = ["x", "y", "z"].map(|name| this.world.buffer(name));
    this.launch(scale, &x, &y);
    this.world.enter_loop();
    this.launch(scale, &y, &z);
    this.launch(scale, &z, &y);
    let (plan, missed) = plan(&this.world, &ALL);
    assert_eq!(groups(&plan), [[1, 2]]);
    assert_eq!(missed[0].rejection.reason, RejectionReason::ControlFlow);
}

#[test]
fn parts_of_one_buffer_do_not_pass_each_other() {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let [x, y, z] = ["x", "y", "z"].map(|name| this.world.buffer(name));
    let mut half = x.clone();
    half.offset_bytes = Some(Expression::Constant(1 << 20));
    this.launch(scale, &x, &y);
    // Writes another part of x, as far as anyone knows.
    this.launch(scale, &z, &half);
    this.launch(scale, &y, &y);
    let (apart, _) = plan(&this.world, &ALL);
    assert_eq!(groups(&apart), Vec::<Vec<u32>>::new());
    // The last one has one pointer twice.
    let one_base = ScheduleOptions {
        one_base: true,
        ..ALL
    };
    let (alone, _) = plan(&this.world, &one_base);
    assert_eq!(groups(&alone), [[2]]);
}

/// Two launches that update one place by these; whether they become one, and why not.
fn two_updates(first: ReductionOperator, second: ReductionOperator) -> Option<Missed> {
    let mut this = Uniform::new();
    let [x, y] = ["x", "y"].map(|name| this.world.buffer(name));
    for operator in [first, second] {
        let mut total = Kernel::new("total", 3);
        let own = sum(&[(4, Variable::Block(X))], 0);
        total.access(AccessKind::Read, 0, own, vec![vec![]]);
        let update = AccessKind::Reduction(Reduction {
            operator,
            cell_bytes: 4,
            within_block: false,
        });
        total.access(update, 1, sum(&[], 0), vec![vec![]]);
        let total = this.world.kernel(total.model);
        this.launch(total, &x, &y);
    }
    let dependences = build_dependence_graph(&this.world.graph, &this.world.kernels);
    let kinds: Vec<_> = dependences.edges().map(|edge| edge.kind).collect();
    let (plan, missed) = plan(&this.world, &ALL);
    if plan.groups.is_empty() {
        use DependenceKind::{Anti, Flow, Output};
        assert_eq!(kinds, [Flow, Anti, Output]);
        return Some(missed[0].clone());
    }
    assert_eq!(kinds, [DependenceKind::Reduction]);
    assert!(!plan.groups[0].members[1].barrier_before);
    None
}

#[test]
fn updates_of_one_exact_operator_need_no_order() {
    assert_eq!(
        two_updates(ReductionOperator::Add, ReductionOperator::Add),
        None
    );
    assert_eq!(
        two_updates(ReductionOperator::Xor, ReductionOperator::Xor),
        None
    );
}

#[test]
fn other_updates_of_one_place_stay_ordered() {
    use ReductionOperator::{Add, FloatingAdd, Xor};
    let pairs = [
        (
            FloatingAdd,
            FloatingAdd,
            "floating-point numbers depend on the order",
        ),
        (Add, Xor, "add and exclusive or do not commute"),
    ];
    for (first, second, why) in pairs {
        let missed = two_updates(first, second).expect("they stay unfused");
        assert_eq!(missed.rejection.reason, RejectionReason::GlobalDependence);
        assert!(
            missed.rejection.message.contains(why),
            "{}",
            missed.rejection.message
        );
    }
}

#[test]
fn a_reduction_does_not_hide_a_plain_store_to_the_same_place() {
    let mut this = Uniform::new();
    let mut both = Kernel::new("both", 3);
    let update = AccessKind::Reduction(Reduction {
        operator: ReductionOperator::Add,
        cell_bytes: 4,
        within_block: false,
    });
    both.access(update, 1, sum(&[], 0), vec![vec![]]);
    both.access(AccessKind::Write, 1, sum(&[], 0), vec![vec![]]);
    let both = this.world.kernel(both.model);
    let [x, y] = ["x", "y"].map(|name| this.world.buffer(name));
    this.launch(both, &x, &y);
    this.launch(both, &x, &y);
    assert!(plan(&this.world, &ALL).0.groups.is_empty());
}

#[test]
fn thousands_of_launches_take_seconds() {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let blur = this.world.kernel(pointwise("blur", 1));
    let mut from = this.world.buffer("first");
    for step in 0..2000 {
        let to = this.world.buffer(&format!("b{step}"));
        this.launch(if step % 8 == 7 { blur } else { scale }, &from, &to);
        from = to;
    }
    let before = std::time::Instant::now();
    let dependences = build_dependence_graph(&this.world.graph, &this.world.kernels);
    let (plan, missed) = plan_fusion(&this.world.graph, &this.world.kernels, &dependences, &ALL);
    let seconds = before.elapsed().as_secs_f64();
    assert_eq!(plan.groups.len(), 250);
    assert_eq!(missed.len(), 250);
    println!("{seconds}");
    assert!(seconds < 60.0, "{seconds}");
}

/// Number of groups of x -> y, synchronise, y -> z, then what `after` adds.
fn groups_before(after: impl FnOnce(&mut Uniform, KernelId, [Pointer; 3])) -> usize {
    let mut this = Uniform::new();
    let scale = this.world.kernel(pointwise("scale", 0));
    let [x, y, z] = ["x", "y", "z"].map(|name| this.world.buffer(name));
    let y = Pointer {
        device_only: false,
        ..y
    };
    this.launch(scale, &x, &y);
    this.world.node(NodeKind::Synchronise(Awaited::Device));
    this.launch(scale, &y, &z);
    after(&mut this, scale, [x, y, z]);
    plan(&this.world, &ALL).0.groups.len()
}

#[test]
fn nobody_may_rely_on_a_wait_that_a_launch_has_passed() {
    assert_eq!(groups_before(|_, _, _| {}), 1);
    // The host reads y, of which it knows that it is done.
    let read = |this: &mut Uniform, _: KernelId, _: [Pointer; 3]| {
        this.world.node(NodeKind::HostAccess { ordered: true });
    };
    assert_eq!(groups_before(read), 0);
    let read_later = |this: &mut Uniform, _: KernelId, _: [Pointer; 3]| {
        this.world.node(NodeKind::Synchronise(Awaited::Device));
        this.world.node(NodeKind::HostAccess { ordered: true });
    };
    assert_eq!(groups_before(read_later), 1);
    // Another stream reads y without an event, since the host has waited.
    let stream = |this: &mut Uniform, kernel: KernelId, [_, y, _]: [Pointer; 3]| {
        let w = this.world.buffer("w");
        let node = this.launch(kernel, &y, &w);
        let other = this.world.unknown();
        if let NodeKind::Launch(launch) = &mut this.world.graph.nodes[node.0].kind {
            launch.stream = Stream::Handle(other);
        }
    };
    assert_eq!(groups_before(stream), 0);
}

#[path = "asked_memory.rs"]
mod asked_memory;
#[path = "shapes.rs"]
mod shapes;
