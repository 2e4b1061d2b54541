//! Plans that must be refused, each for its own reason, and right ones that must pass.
//!
//! A test takes a right scene, such as `chain_of(scale, shift)`, makes one thing wrong in its graph, models
//! or plan, and asks with `assert_refused!` for the `Refusal`. The files of `tests/verify/` have a subject
//! each; what has none stands here.

#[path = "verify/scene.rs"]
mod scene;

use scene::*;
use sirius_rs::dependence::Guard;
use sirius_rs::diagnostics::Location;
use sirius_rs::kernel::{
    AccessKind, Barrier, KernelModel, KernelSymbol, Loop, Product, Target, Unfusable,
};
use sirius_rs::launch::{
    Awaited, BufferId, HostBlockId, LaunchId, NodeKind, Stream, StreamCapture, ValueId,
};
use sirius_rs::math::affine::{Affine, Axis, Constraint, Variable};
use sirius_rs::math::expression::{Condition, Expression};
use sirius_rs::program::KernelId;
use sirius_rs::schedule::FusionPlan;
use sirius_rs::verify::{Refusal, verify, verify_within};

fn refusals(scene: &Scene, plan: &FusionPlan) -> Vec<Refusal> {
    // A plan is judged as it is read back from a file.
    let text = serde_json::to_string(&(&scene.graph, &scene.kernels, plan)).unwrap();
    let (graph, kernels, plan) = serde_json::from_str(&text).unwrap();
    match verify(&graph, &Vec::<_>::clone(&kernels), FusionPlan::clone(&plan)) {
        Ok(verified) => {
            assert_eq!(verified.plan(), &plan);
            Vec::new()
        }
        Err(refusals) => {
            assert!(!refusals.is_empty(), "a refusal has a reason");
            refusals
        }
    }
}

#[track_caller]
fn assert_passes(scene: &Scene, plan: &FusionPlan) {
    assert_eq!(refusals(scene, plan), Vec::new());
}

/// The plan is refused, and for this reason only.
macro_rules! assert_refused {
    ($scene:expr, $plan:expr, $reason:pat) => {
        let found = refusals(&$scene, &$plan);
        assert!(
            !found.is_empty() && found.iter().all(|refusal| matches!(refusal, $reason)),
            "expected only {}, found {found:#?}",
            stringify!($reason)
        );
    };
}

/// `b = f(a); c = g(b)` with constant shapes: the plainest right plan.
struct Chain {
    scene: Scene,
    buffers: [BufferId; 3],
    size: ValueId,
    shape: Shape,
    launches: [LaunchId; 2],
}

fn chain_of(
    first: impl Fn(&mut Scene) -> KernelId,
    second: impl Fn(&mut Scene) -> KernelId,
) -> Chain {
    chain_with(first, |_, _| (), second)
}

fn chain_with(
    first: impl Fn(&mut Scene) -> KernelId,
    between: impl Fn(&mut Scene, [BufferId; 3]),
    second: impl Fn(&mut Scene) -> KernelId,
) -> Chain {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c"].map(|name| scene.buffer(name));
    let [a, b, c] = buffers.map(Pass::To);
    let size = scene.unknown();
    let n = Pass::Integer(size);
    let shape = scene.known_shape();
    let (first, second) = (first(&mut scene), second(&mut scene));
    let one = scene.launch(first, shape, &[a, b.clone(), n.clone()]);
    between(&mut scene, buffers);
    let two = scene.launch(second, shape, &[b, c, n]);
    Chain {
        scene,
        buffers,
        size,
        shape,
        launches: [one, two],
    }
}

fn scale(scene: &mut Scene) -> KernelId {
    scene.pointwise("scale")
}

fn shift(scene: &mut Scene) -> KernelId {
    scene.pointwise("shift")
}

impl Chain {
    fn plan(&self) -> FusionPlan {
        self.plan_with(false, Vec::new())
    }

    fn plan_with(&self, barrier: bool, guards: Vec<Guard>) -> FusionPlan {
        plan(
            &[(self.launches[0], false), (self.launches[1], barrier)],
            guards,
        )
    }
}

#[test]
fn passes_nothing() {
    assert_passes(&Scene::new(), &FusionPlan::default());
}

#[test]
fn passes_anti_dependence_in_one_thread() {
    let mut chain = chain_of(scale, shift);
    // The second launch overwrites what the first reads.
    let [a, b, _] = chain.buffers.map(Pass::To);
    let kernel = chain.scene.pointwise("back");
    let three = chain
        .scene
        .launch(kernel, chain.shape, &[b, a, Pass::Integer(chain.size)]);
    let members = [
        (chain.launches[0], false),
        (chain.launches[1], false),
        (three, false),
    ];
    assert_passes(&chain.scene, &plan(&members, Vec::new()));
}

#[test]
fn refuses_duplicate_member() {
    let chain = chain_of(scale, shift);
    let [one, two] = chain.launches;
    let twice = plan(&[(one, false), (two, false), (two, false)], Vec::new());
    let found = refusals(&chain.scene, &twice);
    assert!(
        found.contains(&Refusal::DuplicateMember { launch: two }),
        "{found:?}"
    );
    let members = [(one, false), (two, false)];
    let groups = vec![group(&members, Vec::new()), group(&members, Vec::new())];
    let found = refusals(
        &chain.scene,
        &FusionPlan {
            groups,
            ..FusionPlan::default()
        },
    );
    assert!(
        found.contains(&Refusal::DuplicateMember { launch: one }),
        "{found:?}"
    );
}

#[test]
fn refuses_no_member() {
    let chain = chain_of(scale, shift);
    let none = plan(&[], Vec::new());
    assert_refused!(chain.scene, none, Refusal::NoMembers { group: 0 });
}

#[test]
fn refuses_unknown_launch() {
    let chain = chain_of(scale, shift);
    let plan = plan(
        &[(chain.launches[0], false), (LaunchId(99), false)],
        Vec::new(),
    );
    assert_refused!(
        chain.scene,
        plan,
        Refusal::UnknownLaunch {
            launch: LaunchId(99)
        }
    );
}

#[test]
fn refuses_unknown_kernel() {
    let mut chain = chain_of(scale, shift);
    let [_, two] = chain.launches;
    chain.scene.launch_mut(two).kernel = None;
    assert_refused!(chain.scene, chain.plan(), Refusal::UnknownKernel { .. });
    chain.scene.launch_mut(two).kernel = Some(KernelId(17));
    assert_refused!(chain.scene, chain.plan(), Refusal::UnknownKernel { .. });
}

#[test]
fn refuses_special_launch() {
    let mut chain = chain_of(scale, shift);
    let [_, two] = chain.launches;
    chain.scene.launch_mut(two).special = true;
    assert_refused!(chain.scene, chain.plan(), Refusal::SpecialLaunch { .. });
}

#[test]
fn refuses_kernel_that_runs_alone() {
    let mut chain = chain_of(scale, shift);
    let reason = (Unfusable::MemoryFence, Location::default());
    chain.scene.kernels[1].unfusable.push(reason);
    assert_refused!(chain.scene, chain.plan(), Refusal::Unfusable { .. });
}

#[test]
fn refuses_barrier_before_first() {
    let chain = chain_of(scale, shift);
    let [one, two] = chain.launches;
    let plan = plan(&[(one, true), (two, false)], Vec::new());
    assert_refused!(chain.scene, plan, Refusal::BarrierFirst { .. });
}

#[test]
fn refuses_divergent_barrier() {
    let with = |relied_on: &[Target]| {
        let mut chain = chain_of(scale, shift);
        chain.scene.kernels[1].barriers.push(Barrier {
            uniform: false,
            uniform_while_unwritten: relied_on.to_vec(),
            reached_if: Vec::new(),
            loops: Vec::new(),
            place: 0,
            location: Location::default(),
        });
        chain
    };
    let chain = with(&[]);
    let plan = chain.plan_with(true, Vec::new());
    assert_refused!(chain.scene, plan, Refusal::DivergentBarrier { .. });
    // What the second one reads stays what it is while it runs; what it writes does not.
    let [read, written] = [0, 1].map(|argument| Target::Argument {
        argument,
        offset_bytes: 0,
    });
    assert_passes(&with(std::slice::from_ref(&read)).scene, &plan);
    for relied_on in [vec![written.clone()], vec![read.clone(), written]] {
        let chain = with(&relied_on);
        assert_refused!(chain.scene, plan, Refusal::DivergentBarrier { .. });
    }
    // Nor does what it reads if it is what it writes.
    let mut chain = with(&[read]);
    if let NodeKind::Launch(launch) = &mut chain.scene.graph.nodes[1].kind {
        launch.arguments[1] = launch.arguments[0].clone();
    }
    let found = refusals(&chain.scene, &plan);
    let diverges = |refusal: &Refusal| matches!(refusal, Refusal::DivergentBarrier { .. });
    assert!(found.iter().any(diverges), "{found:#?}");
}

#[test]
fn refuses_lanes_that_wait_in_vain() {
    for member in [0, 1] {
        let mut chain = chain_of(scale, shift);
        chain.scene.kernels[member].missed_by_lanes.push(Barrier {
            uniform: false,
            uniform_while_unwritten: Vec::new(),
            reached_if: Vec::new(),
            loops: Vec::new(),
            place: 0,
            location: Location::default(),
        });
        let plan = chain.plan_with(true, Vec::new());
        assert_refused!(chain.scene, plan, Refusal::DivergentBarrier { .. });
    }
}

#[test]
fn refuses_barriers_whose_conditions_nothing_tests() {
    // All threads of the second launch reach the barrier if it has no more of them than elements.
    let threads = Expression::Leaf(KernelSymbol::GridSize(Axis::X))
        .multiply(Expression::Leaf(KernelSymbol::BlockSize(Axis::X)));
    let size = KernelSymbol::Argument {
        argument: 2,
        offset_bytes: 0,
        bits: 32,
        signed: true,
    };
    let enough = Condition::LessEqual(threads, Expression::Leaf(size));
    let with = |conditions: &[Condition<KernelSymbol>]| {
        let mut chain = chain_of(scale, shift);
        chain.scene.kernels[1].barriers.push(Barrier {
            uniform: false,
            uniform_while_unwritten: Vec::new(),
            reached_if: conditions.to_vec(),
            loops: Vec::new(),
            place: 0,
            location: Location::default(),
        });
        chain
    };
    let chain = with(std::slice::from_ref(&enough));
    let tests = |threads: i64| Guard::Holds {
        class: String::from("barrier"),
        condition: Condition::LessEqual(
            Expression::Constant(threads),
            Expression::Leaf(chain.size),
        ),
    };
    // Forty blocks of 256.
    let plan = chain.plan_with(true, vec![tests(40 * 256)]);
    assert_passes(&chain.scene, &plan);
    for guards in [Vec::new(), vec![tests(40 * 256 - 1)]] {
        let plan = chain.plan_with(true, guards);
        assert_refused!(chain.scene, plan, Refusal::DivergentBarrier { .. });
    }
    // One of two conditions is not enough, and neither is one that cannot be.
    let never = Condition::LessEqual(Expression::Constant(1), Expression::Constant(0));
    let chain = with(&[enough, never]);
    assert_refused!(chain.scene, plan, Refusal::DivergentBarrier { .. });
}

#[test]
fn refuses_dynamic_shared_memory_without_barrier() {
    let mut chain = chain_of(scale, shift);
    for kernel in &mut chain.scene.kernels {
        kernel.dynamic_shared = true;
    }
    assert_refused!(
        chain.scene,
        chain.plan(),
        Refusal::SharedMemoryReused { .. }
    );
    assert_passes(&chain.scene, &chain.plan_with(true, Vec::new()));
}

#[test]
fn refuses_warp_operations_without_barrier() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[0].warp_operations = true;
    assert_passes(&chain.scene, &chain.plan());
    chain.scene.kernels[1].warp_operations = true;
    assert_refused!(
        chain.scene,
        chain.plan(),
        Refusal::WarpOperationsDiverged { .. }
    );
    assert_passes(&chain.scene, &chain.plan_with(true, Vec::new()));
}

#[test]
fn refuses_too_much_shared_memory() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[0].static_shared_bytes = 24 * 1024;
    chain.scene.kernels[1].static_shared_bytes = 24 * 1024;
    assert_passes(&chain.scene, &chain.plan());
    chain.scene.kernels[1].static_shared_bytes += 4;
    assert_refused!(chain.scene, chain.plan(), Refusal::SharedMemory { .. });
    // After a barrier the second may have the storage of the first, but not more than there is.
    assert_passes(&chain.scene, &chain.plan_with(true, Vec::new()));
    chain.scene.kernels[1].static_shared_bytes = 48 * 1024 + 4;
    let barrier = refusals(&chain.scene, &chain.plan_with(true, Vec::new()));
    let too_much = |refusal: &Refusal| matches!(refusal, Refusal::SharedMemory { .. });
    assert!(barrier.iter().any(too_much), "{barrier:#?}");
}

#[test]
fn dynamic_shared_memory_above_48_kib_is_tested_at_the_launch() {
    for (kibibytes, allowed) in [(48, true), (100, true), (228, false)] {
        let mut chain = chain_of(scale, shift);
        let bytes = chain.scene.constant(kibibytes << 10);
        let mut tested = Vec::new();
        for node in &mut chain.scene.graph.nodes {
            if let NodeKind::Launch(launch) = &mut node.kind {
                launch.shared_bytes = bytes;
                tested.push(valid(launch.id));
            }
        }
        let plan = chain.plan_with(false, tested);
        if !allowed {
            assert_refused!(chain.scene, plan, Refusal::SharedMemory { .. });
            continue;
        }
        assert_passes(&chain.scene, &plan);
        if kibibytes > 48 {
            let untested = chain.plan_with(false, Vec::new());
            assert_refused!(
                chain.scene,
                untested,
                Refusal::ConfigurationUnchecked { .. }
            );
        }
    }
}

#[test]
fn refuses_too_many_parameters() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[0].formals[0].size_bytes = 16_384;
    assert_passes(&chain.scene, &chain.plan());
    chain.scene.kernels[1].formals[0].size_bytes = 16_384;
    assert_refused!(chain.scene, chain.plan(), Refusal::ParameterSpace { .. });
}

#[test]
fn refuses_invalid_configurations() {
    for (grid, block) in [(0, 256), (40, 0), (40, 2048), (1 << 31, 256)] {
        let mut chain = chain_of(scale, shift);
        for launch in chain.launches {
            let (grid, block) = (chain.scene.constant(grid), chain.scene.constant(block));
            let launch = chain.scene.launch_mut(launch);
            (launch.grid[0], launch.block[0]) = (grid, block);
        }
        let found = refusals(&chain.scene, &chain.plan());
        let invalid = |refusal: &Refusal| matches!(refusal, Refusal::InvalidConfiguration { .. });
        assert!(found.iter().any(invalid), "{grid} x {block}: {found:?}");
    }
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[0].max_threads = Some(128);
    assert_refused!(
        chain.scene,
        chain.plan(),
        Refusal::InvalidConfiguration { .. }
    );
}

#[test]
fn members_agree_on_the_threads_that_run_in_step() {
    let judged = |depth: i64| {
        let mut chain = chain_of(scale, shift);
        chain.scene.kernels[0].distinguishes_threads = [true, true, false];
        for launch in chain.launches {
            let extent = chain.scene.constant(depth);
            chain.scene.launch_mut(launch).block[2] = extent;
        }
        refusals(&chain.scene, &chain.plan())
    };
    let in_step = |refusal: &Refusal| matches!(refusal, Refusal::NotInStep { axis: 'z', .. });
    assert!(!judged(1).iter().any(in_step));
    assert!(judged(2).iter().any(in_step));
}

/// Two launches of unknown shapes, all guards needed: shapes, configurations, wrap.
fn guarded_chain() -> (Scene, FusionPlan) {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c"].map(|name| Pass::To(scene.buffer(name)));
    let [a, b, c] = buffers;
    let n = Pass::Integer(scene.unknown());
    let kernel = scene.pointwise("pointwise");
    let (first, second) = (scene.unknown_shape(), scene.unknown_shape());
    let one = scene.launch(kernel, first, &[a, b.clone(), n.clone()]);
    let two = scene.launch(kernel, second, &[b, c, n]);
    let guards = vec![
        same(first.grid, second.grid),
        same(first.block, second.block),
        valid(one),
        valid(two),
        no_wrap(first),
    ];
    let plan = plan(&[(one, false), (two, false)], guards);
    (scene, plan)
}

/// Two launches that got pointers about which nothing is known.
fn aliasing_chain() -> (Scene, FusionPlan) {
    let mut scene = Scene::new();
    let pointers = [(); 4].map(|()| Pass::Anything(scene.unknown()));
    let [a, b, c, d] = pointers;
    let size = scene.unknown();
    let n = Pass::Integer(size);
    let kernel = scene.pointwise("pointwise");
    let shape = scene.known_shape();
    let one = scene.launch(kernel, shape, &[a, b, n.clone()]);
    let two = scene.launch(kernel, shape, &[c, d, n]);
    let disjoint = |left: usize, right: usize| Guard::RangesDisjoint {
        left: range(one, left, size),
        right: range(two, right, size),
    };
    // The write of each against both pointers of the other.
    let guards = vec![disjoint(1, 0), disjoint(1, 1), disjoint(0, 1)];
    let plan = plan(&[(one, false), (two, false)], guards);
    (scene, plan)
}

/// Rows of unknown length, one block each: thread c of block r owns element r · columns + c.
fn row_chain(barrier: bool) -> (Scene, FusionPlan) {
    let mut scene = Scene::new();
    let buffers = ["x", "maximum", "y"].map(|name| Pass::To(scene.buffer(name)));
    let shape = scene.unknown_shape();
    let columns = scene.unknown();
    let n = Pass::Integer(columns);
    // The product is blockIdx.x · columns; columns is parameter 1 of the model.
    let rows = |scene: &mut Scene, kernel: KernelId| {
        let model = &mut scene.kernels[kernel.0];
        model.products[0].parameter = 1;
        let own = Affine::variable(Variable::Parameter(1))
            .subtract(&Affine::variable(Variable::Thread(Axis::X)))
            .and_then(|room| room.add(&Affine::constant(-1)))
            .unwrap();
        for access in &mut model.accesses {
            access.domain[0].push(Constraint::NonNegative(own.clone()));
        }
    };
    let sum = scene.block_sum("row_maximum");
    let spread = scene.spread("subtract");
    rows(&mut scene, sum);
    rows(&mut scene, spread);
    scene.kernels[sum.0].preconditions.clear();
    scene.kernels[spread.0].preconditions.clear();
    let [x, maximum, y] = buffers;
    let one = scene.launch(sum, shape, &[x.clone(), maximum.clone(), n.clone()]);
    let two = scene.launch(spread, shape, &[maximum, y.clone(), n.clone()]);
    let back = scene.pointwise("back");
    rows(&mut scene, back);
    scene.kernels[back.0].preconditions.clear();
    let three = scene.launch(back, shape, &[y, x, n]);
    let members = [(one, false), (two, barrier), (three, false)];
    let plan = plan(&members, vec![valid(one), valid(two), valid(three)]);
    (scene, plan)
}

#[test]
fn refuses_offset_between_the_same_buffer() {
    // The second launch reads b one element further on.
    let mut chain = chain_of(scale, shift);
    let two = chain.scene.launch_mut(chain.launches[1]);
    let pointer = two.arguments[0].pieces[0].pointer.as_mut().unwrap();
    pointer.offset_bytes = Some(Expression::Constant(4));
    assert_refused!(chain.scene, chain.plan(), Refusal::CrossesBlocks { .. });
    let two = chain.scene.launch_mut(chain.launches[1]);
    let pointer = two.arguments[0].pieces[0].pointer.as_mut().unwrap();
    pointer.offset_bytes = None;
    assert_refused!(chain.scene, chain.plan(), Refusal::UnprovenIndex { .. });
}

#[test]
fn refuses_unknown_subscript() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[1].accesses[0].subscript = None;
    assert_refused!(chain.scene, chain.plan(), Refusal::UnprovenIndex { .. });
}

#[test]
fn refuses_unknown_target() {
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[1].accesses[0].target = Target::Unknown;
    assert_refused!(chain.scene, chain.plan(), Refusal::MayAlias { .. });
}

#[test]
fn refuses_wider_access() {
    // Eight bytes at a distance of four: neighbours overlap.
    let mut chain = chain_of(scale, shift);
    chain.scene.kernels[1].accesses[0].size_bytes = 8;
    assert_refused!(chain.scene, chain.plan(), Refusal::CrossesBlocks { .. });
}

/// A grid-stride loop: element blockIdx.x · blockDim.x + threadIdx.x + k · gridDim.x · blockDim.x.
fn grid_stride(scene: &mut Scene, name: &str, shift: i64) -> KernelId {
    let id = scene.pointwise(name);
    let model = &mut scene.kernels[id.0];
    let leaf = |symbol| Box::new(Expression::Leaf(symbol));
    model.parameters.push(Expression::Multiply(
        leaf(KernelSymbol::GridSize(Axis::X)),
        leaf(KernelSymbol::BlockSize(Axis::X)),
    ));
    model.loops.push(Loop {
        parent: None,
        uniform_in_block: false,
        location: Location::default(),
        quotient: None,
        unknown: None,
    });
    model.products.push(Product {
        factor: Affine::variable(Variable::Loop(0)),
        parameter: 2,
    });
    let stride = Affine::variable(Variable::Product(1));
    let index = own_element(0).add(&stride.scale(4).unwrap()).unwrap();
    for access in &mut model.accesses {
        let moved = if access.kind == AccessKind::Read {
            4 * shift
        } else {
            0
        };
        access.subscript = index.add(&Affine::constant(moved));
        access.loops = vec![0];
        access.domain = vec![Vec::new()];
    }
    id
}

#[test]
fn passes_grid_stride_loops_of_unknown_shape() {
    for (shift, passes) in [(0, true), (1, false)] {
        let mut scene = Scene::new();
        let buffers = ["a", "b", "c"].map(|name| Pass::To(scene.buffer(name)));
        let [a, b, c] = buffers;
        let n = Pass::Integer(scene.unknown());
        let first = grid_stride(&mut scene, "scale", 0);
        let second = grid_stride(&mut scene, "shift", shift);
        let shape = scene.unknown_shape();
        let one = scene.launch(first, shape, &[a, b.clone(), n.clone()]);
        let two = scene.launch(second, shape, &[b, c, n]);
        let guards = vec![valid(one), valid(two), no_wrap(shape)];
        let plan = plan(&[(one, false), (two, false)], guards);
        match passes {
            true => assert_passes(&scene, &plan),
            false => {
                assert_refused!(scene, plan, Refusal::CrossesBlocks { .. });
            }
        }
    }
}

/// Element ((column / 32) · 64 + row) · 32 + column % 32 of a 64 × 128 matrix in 16 × 16 blocks.
#[test]
fn passes_head_split() {
    let mut scene = Scene::new();
    let buffers = ["product", "heads", "back"].map(|name| Pass::To(scene.buffer(name)));
    let [product, heads, back] = buffers;
    let n = Pass::Integer(scene.unknown());
    let coordinate = |axis| {
        let block = Affine::variable(Variable::Block(axis)).scale(16).unwrap();
        block
            .add(&Affine::variable(Variable::Thread(axis)))
            .unwrap()
    };
    let (column, row) = (coordinate(Axis::X), coordinate(Axis::Y));
    let plain = row.scale(128).and_then(|start| start.add(&column)).unwrap();
    let head = column.floor_divide(32).scale(64).unwrap();
    let split = head
        .add(&row)
        .and_then(|line| line.scale(32))
        .and_then(|start| start.add(&column.modulo(32)?))
        .unwrap();
    let mut kernel = |name: &str, from: &Affine, to: &Affine| {
        let mut accesses = vec![
            access(AccessKind::Read, 0, from.scale(4).unwrap()),
            access(AccessKind::Write, 1, to.scale(4).unwrap()),
        ];
        for access in &mut accesses {
            access.domain = vec![Vec::new()];
        }
        scene.kernel(name, 2, accesses)
    };
    let (forth, again) = (
        kernel("split", &plain, &split),
        kernel("merge", &split, &plain),
    );
    let wrong = kernel("transposed", &row.scale(128).unwrap(), &plain);
    let shape = scene.known_shape();
    let one = scene.launch(forth, shape, &[product, heads.clone(), n.clone()]);
    let two = scene.launch(again, shape, &[heads.clone(), back.clone(), n.clone()]);
    let three = scene.launch(wrong, shape, &[heads, back, n]);
    for launch in [one, two, three] {
        let [eight, four, sixteen] = [8, 4, 16].map(|extent| scene.constant(extent));
        let launch = scene.launch_mut(launch);
        (launch.grid[0], launch.grid[1]) = (eight, four);
        (launch.block[0], launch.block[1]) = (sixteen, sixteen);
    }
    assert_passes(&scene, &plan(&[(one, false), (two, false)], Vec::new()));
    let members = [(one, false), (two, false), (three, true)];
    let wrong = plan(&members, Vec::new());
    assert_refused!(scene, wrong, Refusal::CrossesBlocks { .. });
}

#[test]
fn passes_null_pointer() {
    let mut chain = chain_of(scale, shift);
    let two = chain.scene.launch_mut(chain.launches[1]);
    let pointer = two.arguments[0].pieces[0].pointer.as_mut().unwrap();
    *pointer = anywhere(ValueId(0));
    pointer.may_point_to = Some(Vec::new());
    assert_passes(&chain.scene, &chain.plan());
    let two = chain.scene.launch_mut(chain.launches[1]);
    let pointer = two.arguments[0].pieces[0].pointer.as_mut().unwrap();
    pointer.may_point_to = None;
    assert_refused!(chain.scene, chain.plan(), Refusal::MayAlias { .. });
}

// Behind the macro that they use.
#[path = "verify/asked_memory.rs"]
mod asked_memory;
#[path = "verify/by_iteration.rs"]
mod by_iteration;
#[path = "verify/elements.rs"]
mod elements;
#[path = "verify/fallback.rs"]
mod fallback;
#[path = "verify/equal_pointers.rs"]
mod equal_pointers;
#[path = "verify/grid_barriers.rs"]
mod grid_barriers;
#[path = "verify/groups_of_steps.rs"]
mod groups_of_steps;
#[path = "verify/handed_on.rs"]
mod handed_on;
#[path = "verify/host.rs"]
mod host;
#[path = "verify/conditional.rs"]
mod conditional;
#[path = "verify/partial.rs"]
mod partial;
#[path = "verify/expansion.rs"]
mod expansion;
#[path = "verify/guards.rs"]
mod guards;
#[path = "verify/batch_phases.rs"]
mod batch_phases;
#[path = "verify/batches.rs"]
mod batches;
#[path = "verify/dead_buffers.rs"]
mod dead_buffers;
#[path = "verify/last_block.rs"]
mod last_block;
#[path = "verify/recomputation.rs"]
mod recomputation;
#[path = "verify/liveness.rs"]
mod liveness;
#[path = "verify/reductions.rs"]
mod reductions;
#[path = "verify/arranged.rs"]
mod arranged;
#[path = "verify/maps.rs"]
mod maps;
#[path = "verify/runs.rs"]
mod runs;
#[path = "verify/segments.rs"]
mod segments;
#[path = "verify/matrix_tiles.rs"]
mod matrix_tiles;
#[path = "verify/overlap.rs"]
mod overlap;
#[path = "verify/partitions.rs"]
mod partitions;
#[path = "verify/persistent.rs"]
mod persistent;
#[path = "verify/planes.rs"]
mod planes;
#[path = "verify/shared_rows.rs"]
mod shared_rows;
#[path = "verify/tables.rs"]
mod tables;
#[path = "verify/tested_loops.rs"]
mod tested_loops;
