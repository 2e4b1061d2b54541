//! Members whose kernels are one loop over the whole grid, counted by the loop's iterations.

use super::*;
use sirius_rs::launch::Launch;
use sirius_rs::schedule::{ThreadMap, ThreadOrder};

const BLOCKS: ThreadOrder = ThreadOrder::Blocks;

/// A launch of one element a thread, and behind it one of a loop over the whole grid, with less blocks.
struct Loops {
    chain: Chain,
    /// The kernel that runs one iteration.
    iteration: KernelId,
    guards: Vec<Guard>,
}

fn holds(condition: Condition<ValueId>) -> Guard {
    Guard::Holds {
        class: "threads".to_string(),
        condition,
    }
}

fn constant(value: i64) -> Expression<ValueId> {
    Expression::Constant(value)
}

fn at_least_one(size: ValueId) -> Guard {
    holds(Condition::LessEqual(constant(1), Expression::Leaf(size)))
}

/// As many as the threads of the launch that leads.
fn at_most_all(size: ValueId) -> Guard {
    holds(Condition::LessEqual(
        Expression::Leaf(size),
        constant(40 * 256),
    ))
}

/// No counter of 16 blocks of 128 threads wraps around.
fn no_wrap_of(size: ValueId) -> Guard {
    let last = Expression::Leaf(size).add(constant(16 * 128));
    holds(Condition::LessEqual(last, constant((1 << 31) - 1)))
}

fn element(shift: i64) -> Affine {
    let index = Affine::variable(Variable::Block(Axis::X));
    index
        .add(&Affine::constant(shift))
        .unwrap()
        .scale(4)
        .unwrap()
}

fn loops() -> Loops {
    let mut chain = chain_of(scale, |scene| scene.pointwise("strided"));
    let iteration = chain.scene.pointwise("iteration");
    let original = chain.scene.kernels[1].id;
    let model = &mut chain.scene.kernels[iteration.0];
    model.iteration_of = Some(original);
    model.distinguishes_threads = [false; 3];
    model.preconditions.clear();
    let below = Affine::variable(Variable::Parameter(1))
        .subtract(&Affine::variable(Variable::Block(Axis::X)))
        .unwrap()
        .add(&Affine::constant(-1));
    for access in &mut model.accesses {
        access.subscript = Some(element(0));
        access.domain = vec![vec![Constraint::NonNegative(below.clone().unwrap())]];
    }
    let (grid, block) = (chain.scene.constant(16), chain.scene.constant(128));
    let (one, none) = (chain.scene.constant(1), chain.scene.constant(0));
    let size = chain.size;
    let launch = chain.scene.launch_mut(chain.launches[1]);
    (launch.grid[0], launch.block[0]) = (grid, block);
    let counted = Launch {
        kernel: Some(iteration),
        grid: [size, one, one],
        block: [one; 3],
        shared_bytes: none,
        ..launch.clone()
    };
    chain.scene.graph.by_iteration.insert(counted.id, counted);
    let guards = vec![at_least_one(size), at_most_all(size), no_wrap_of(size)];
    Loops {
        chain,
        iteration,
        guards,
    }
}

fn remapped(repeats: bool) -> ThreadMap {
    ThreadMap::Remapped {
        own: ThreadOrder::Iterations,
        fused: BLOCKS,
        repeats,
    }
}

impl Loops {
    fn planned(&self, map: ThreadMap) -> FusionPlan {
        let mut plan = self.chain.plan_with(false, self.guards.clone());
        plan.groups[0].members[1].map = map;
        plan
    }

    fn plan(&self) -> FusionPlan {
        self.planned(remapped(false))
    }

    /// Without one of the guards.
    fn plan_without(&mut self, guard: usize) -> FusionPlan {
        self.guards.remove(guard);
        self.plan()
    }

    fn accesses(&mut self) -> &mut Vec<sirius_rs::kernel::Access> {
        &mut self.chain.scene.kernels[self.iteration.0].accesses
    }

    fn counted(&mut self) -> &mut Launch {
        let id = self.chain.launches[1];
        self.chain.scene.graph.by_iteration.get_mut(&id).unwrap()
    }
}

#[test]
fn each_iteration_runs_in_the_thread_of_its_element() {
    let mut loops = loops();
    assert_passes(&loops.chain.scene, &loops.plan());
    // Threads may take turns, and then any number of iterations is right.
    loops.guards.remove(1);
    assert_passes(&loops.chain.scene, &loops.planned(remapped(true)));
    // Updates of one operator may meet.
    let update = sirius_rs::kernel::Reduction {
        operator: sirius_rs::kernel::ReductionOperator::Add,
        cell_bytes: 4,
        within_block: false,
    };
    let mut write = loops.accesses()[1].clone();
    write.kind = AccessKind::Reduction(update);
    write.subscript = Some(Affine::constant(0));
    loops.accesses()[1] = write;
    assert_passes(&loops.chain.scene, &loops.planned(remapped(true)));
}

#[test]
fn what_the_run_has_to_tell_is_tested() {
    let mut none = loops();
    let plan = none.plan_without(0);
    assert_refused!(none.chain.scene, plan, Refusal::NotByIteration { .. });
    // As many as the counter of the loop does not hold.
    let mut wraps = loops();
    wraps.guards.truncate(1);
    let plan = wraps.planned(remapped(true));
    let found = refusals(&wraps.chain.scene, &plan);
    let not_counted = |refusal: &Refusal| matches!(refusal, Refusal::NotByIteration { .. });
    assert!(found.iter().any(not_counted), "{found:#?}");
    // More iterations than threads, which do not take turns.
    let mut loops = loops();
    let plan = loops.plan_without(1);
    assert_refused!(loops.chain.scene, plan, Refusal::NotRemapped { .. });
}

#[test]
fn the_loop_is_along_x() {
    for axis in [1, 2] {
        for of_block in [false, true] {
            let mut loops = loops();
            let two = loops.chain.scene.constant(2);
            let launch = loops.chain.scene.launch_mut(loops.chain.launches[1]);
            match of_block {
                true => launch.block[axis] = two,
                false => launch.grid[axis] = two,
            }
            assert_refused!(
                loops.chain.scene,
                loops.plan(),
                Refusal::NotByIteration { .. }
            );
        }
    }
}

#[test]
fn an_iteration_is_one_of_the_loop() {
    let mut another = loops();
    let model = &mut another.chain.scene.kernels[another.iteration.0];
    model.iteration_of = Some(KernelId(0));
    assert_refused!(
        another.chain.scene,
        another.plan(),
        Refusal::NotByIteration { .. }
    );
    let mut none = loops();
    none.chain.scene.kernels[none.iteration.0].iteration_of = None;
    assert_refused!(
        none.chain.scene,
        none.plan(),
        Refusal::NotByIteration { .. }
    );
    let mut absent = loops();
    absent.chain.scene.graph.by_iteration.clear();
    assert_refused!(
        absent.chain.scene,
        absent.plan(),
        Refusal::NotByIteration { .. }
    );
}

#[test]
fn iterations_are_launched_as_the_loop_is() {
    let mut arguments = loops();
    arguments.counted().arguments.swap(0, 1);
    assert_refused!(
        arguments.chain.scene,
        arguments.plan(),
        Refusal::NotByIteration { .. }
    );
    for change in [
        |launch: &mut Launch, two| launch.grid[1] = two,
        |launch: &mut Launch, two| launch.block[0] = two,
        |launch: &mut Launch, two| launch.shared_bytes = two,
    ] {
        let mut shape = loops();
        let two = shape.chain.scene.constant(2);
        change(shape.counted(), two);
        assert_refused!(
            shape.chain.scene,
            shape.plan(),
            Refusal::NotByIteration { .. }
        );
    }
}

#[test]
fn all_iterations_are_counted() {
    // One less, or some other number.
    let mut fewer = loops();
    let ten = fewer.chain.scene.constant(10);
    fewer.counted().grid[0] = ten;
    assert_refused!(
        fewer.chain.scene,
        fewer.plan(),
        Refusal::NotByIteration { .. }
    );
    // A write that has no bound, or an alternative that has none, or another one.
    for shift in [0, 1] {
        let mut unbounded = loops();
        let write = &mut unbounded.accesses()[1];
        match shift {
            0 => write.domain.push(Vec::new()),
            _ => {
                let Constraint::NonNegative(room) = write.domain[0][0].clone() else {
                    unreachable!("the scene has it so");
                };
                let room = room.add(&Affine::constant(1)).unwrap();
                write.domain = vec![vec![Constraint::NonNegative(room)]];
            }
        }
        assert_refused!(
            unbounded.chain.scene,
            unbounded.plan(),
            Refusal::NotByIteration { .. }
        );
    }
}

#[test]
fn no_iteration_needs_another() {
    // All write one place; each reads what the next one writes; each writes what one far off writes.
    let mut one_place = loops();
    one_place.accesses()[1].subscript = Some(Affine::constant(0));
    assert_refused!(
        one_place.chain.scene,
        one_place.plan(),
        Refusal::IterationsMeet { .. }
    );
    for shift in [1, -1, 2048] {
        let mut shifted = loops();
        let mut read = shifted.accesses()[1].clone();
        read.kind = AccessKind::Read;
        read.subscript = Some(element(shift));
        read.id.0 = 2;
        shifted.accesses().push(read);
        assert_refused!(
            shifted.chain.scene,
            shifted.plan(),
            Refusal::IterationsMeet { .. }
        );
    }
    // It is not known where.
    let mut anywhere = loops();
    anywhere.accesses()[1].subscript = None;
    let found = refusals(&anywhere.chain.scene, &anywhere.plan());
    let meet = |refusal: &Refusal| matches!(refusal, Refusal::IterationsMeet { .. });
    assert!(found.iter().any(meet), "{found:#?}");
}

#[test]
fn an_iteration_needs_what_its_thread_made() {
    for shift in [1, -1] {
        let mut loops = loops();
        loops.accesses()[0].subscript = Some(element(shift));
        assert_refused!(
            loops.chain.scene,
            loops.plan(),
            Refusal::RemappedConflict { .. }
        );
        assert_refused!(
            loops.chain.scene,
            loops.planned(remapped(true)),
            Refusal::RemappedConflict { .. }
        );
    }
}

#[test]
fn an_iteration_needs_nothing_of_its_block() {
    let mut loops = loops();
    let model = &mut loops.chain.scene.kernels[loops.iteration.0];
    model.barriers = vec![Barrier {
        uniform: true,
        uniform_while_unwritten: Vec::new(),
        reached_if: Vec::new(),
        loops: Vec::new(),
        place: 0,
        location: Location::default(),
    }];
    assert_refused!(loops.chain.scene, loops.plan(), Refusal::NotRemapped { .. });
    let mut unknown = self::loops();
    let model = &mut unknown.chain.scene.kernels[unknown.iteration.0];
    model
        .opaque
        .push(("calls f".to_string(), Location::default()));
    assert_refused!(
        unknown.chain.scene,
        unknown.plan(),
        Refusal::NotByIteration { .. }
    );
}

#[test]
fn the_configuration_is_that_of_the_loop() {
    let mut loops = loops();
    let many = loops.chain.scene.constant(2048);
    loops.chain.scene.launch_mut(loops.chain.launches[1]).block[0] = many;
    let found = refusals(&loops.chain.scene, &loops.plan());
    let invalid = |refusal: &Refusal| matches!(refusal, Refusal::InvalidConfiguration { .. });
    assert!(found.iter().any(invalid), "{found:#?}");
    let unknown = loops.chain.scene.unknown();
    loops.chain.scene.launch_mut(loops.chain.launches[1]).block[0] = unknown;
    let found = refusals(&loops.chain.scene, &loops.plan());
    let unchecked = |refusal: &Refusal| matches!(refusal, Refusal::ConfigurationUnchecked { .. });
    assert!(found.iter().any(unchecked), "{found:#?}");
}

#[test]
fn runs_of_iterations_are_as_long_as_blocks_take() {
    let mut loops = loops();
    let run = |length| ThreadMap::Runs {
        own: ThreadOrder::Iterations,
        length: constant(length),
    };
    let mut plan = loops.planned(run(256));
    plan.groups[0].members[1].barrier_before = true;
    assert_passes(&loops.chain.scene, &plan);
    for length in [128, 255, 257] {
        plan.groups[0].members[1].map = run(length);
        assert_refused!(loops.chain.scene, plan, Refusal::RemappedConflict { .. });
    }
    plan.groups[0].members[1].map = run(256);
    plan.groups[0].members[1].barrier_before = false;
    assert_refused!(loops.chain.scene, plan, Refusal::RemappedConflict { .. });
    // Nobody else tells the shape of the fused launch.
    let mut alone = loops.plan();
    alone.groups[0].members.swap(0, 1);
    alone.groups[0].members.truncate(1);
    assert_refused!(loops.chain.scene, alone, Refusal::MixedMaps { .. });
    loops.guards.clear();
}

/// Two such loops, of which the first leads with its launch.
fn loops_alone() -> Loops {
    let mut loops = loops();
    let first = loops.chain.scene.kernels[0].id;
    let mut model = loops.chain.scene.kernels[loops.iteration.0].clone();
    model.id = KernelId(loops.chain.scene.kernels.len());
    model.iteration_of = Some(first);
    let id = model.id;
    loops.chain.scene.kernels.push(model);
    let counted = loops.counted().clone();
    let original = loops
        .chain
        .scene
        .launch_mut(loops.chain.launches[0])
        .clone();
    let counted = Launch {
        kernel: Some(id),
        grid: counted.grid,
        block: counted.block,
        shared_bytes: counted.shared_bytes,
        ..original
    };
    loops
        .chain
        .scene
        .graph
        .by_iteration
        .insert(counted.id, counted);
    // What the first one's model says of it as it is: anywhere.
    for access in &mut loops.chain.scene.kernels[first.0].accesses {
        access.subscript = None;
    }
    let last = Expression::Leaf(loops.chain.size).add(constant(40 * 256));
    loops.guards[1] = holds(Condition::LessEqual(last, constant((1 << 31) - 1)));
    loops
}

#[test]
fn a_loop_leads_who_takes_its_turns() {
    let loops = loops_alone();
    assert_passes(&loops.chain.scene, &loops.planned(remapped(true)));
    // Its threads are those of one line.
    let mut rows = loops.planned(remapped(true));
    rows.groups[0].members[1].map = ThreadMap::Remapped {
        own: ThreadOrder::Iterations,
        fused: ThreadOrder::Rows,
        repeats: true,
    };
    assert_refused!(loops.chain.scene, rows, Refusal::UnprovenIndex { .. });
    // Runs are no turns.
    let mut runs = loops.planned(ThreadMap::Runs {
        own: ThreadOrder::Iterations,
        length: constant(256),
    });
    runs.groups[0].members[1].barrier_before = true;
    assert_refused!(loops.chain.scene, runs, Refusal::UnprovenIndex { .. });
}

#[test]
fn a_loop_that_leads_is_one() {
    let refused = |loops: &Loops| {
        let found = refusals(&loops.chain.scene, &loops.planned(remapped(true)));
        let unproven = |refusal: &Refusal| matches!(refusal, Refusal::UnprovenIndex { .. });
        assert!(found.iter().any(unproven), "{found:#?}");
    };
    // It may wrap around, has two rows of threads, is no such loop, or hands on what lies elsewhere.
    let mut wraps = loops_alone();
    wraps.guards.remove(1);
    refused(&wraps);
    let mut two = loops_alone();
    let rows = two.chain.scene.constant(2);
    two.chain.scene.launch_mut(two.chain.launches[0]).grid[1] = rows;
    refused(&two);
    let mut none = loops_alone();
    let id = none.chain.launches[0];
    none.chain.scene.graph.by_iteration.remove(&id);
    refused(&none);
    let mut shifted = loops_alone();
    let model = shifted.chain.scene.kernels.last_mut().unwrap();
    model.accesses[1].subscript = Some(element(1));
    refused(&shifted);
    // Not all of it is there, so that its threads are not those of the fused launch.
    let clipped = loops_alone();
    let mut plan = clipped.planned(remapped(true));
    plan.groups[0].members[0].map = ThreadMap::Clipped;
    let found = refusals(&clipped.chain.scene, &plan);
    let unproven = |refusal: &Refusal| matches!(refusal, Refusal::UnprovenIndex { .. });
    assert!(found.iter().any(unproven), "{found:#?}");
}
