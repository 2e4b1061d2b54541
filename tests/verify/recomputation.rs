//! Launches whose blocks each do the work of one block by themselves: wrong plans.

use super::*;
use sirius_rs::kernel::AccessId;
use sirius_rs::schedule::{BlockCopy, Overlap, Recomputation, ThreadMap, ThreadOrder};

/// `b = f(a)` by one block, in strides; `c[i] = b[i]`, each element by the thread of its number.
fn one_block_in_front() -> Chain {
    let mut chain = chain_of(strided, |scene| scene.pointwise("g"));
    let one = chain.scene.constant(1);
    chain.scene.launch_mut(chain.launches[0]).grid[0] = one;
    chain
}

/// `argument 1 [i] = argument 0 [i]` for all elements, by the threads of a block.
fn strided(scene: &mut Scene) -> KernelId {
    let accesses = vec![in_loop(AccessKind::Read, 0), in_loop(AccessKind::Write, 1)];
    let kernel = scene.kernel("f", 2, accesses);
    let model = &mut scene.kernels[kernel.0];
    model.loops = vec![Loop {
        parent: None,
        uniform_in_block: false,
        location: Location::default(),
        quotient: None,
        unknown: None,
    }];
    model.products.push(Product {
        factor: Affine::variable(Variable::Loop(0)),
        parameter: 0,
    });
    kernel
}

/// An access to the element of each iteration.
fn in_loop(kind: AccessKind, argument: usize) -> sirius_rs::kernel::Access {
    sirius_rs::kernel::Access {
        loops: vec![0],
        domain: below_n(),
        ..access(kind, argument, in_strides())
    }
}

/// `4 · (threadIdx.x + counter · blockDim.x)`.
fn in_strides() -> Affine {
    Affine {
        constant: 0,
        terms: vec![(4, Variable::Thread(Axis::X)), (4, Variable::Product(1))],
    }
}

/// The element is below `n`.
fn below_n() -> Vec<Vec<Constraint>> {
    let row = Affine {
        constant: -1,
        terms: vec![
            (-1, Variable::Thread(Axis::X)),
            (-1, Variable::Product(1)),
            (1, Variable::Parameter(1)),
        ],
    };
    vec![vec![Constraint::NonNegative(row)]]
}

/// The value that both launches get as their last argument.
fn length(chain: &Chain) -> ValueId {
    chain.size
}

/// The second launch gets the first one's pointer, and what is stored there is copied.
fn recomputed(chain: &mut Chain) -> FusionPlan {
    let [first, second] = chain.launches;
    let stored = chain.scene.launch_mut(first).arguments[1].clone();
    chain.scene.launch_mut(second).arguments[0] = stored;
    let n = Expression::Leaf(length(chain));
    let bytes = Expression::Constant(4).multiply(n);
    let mut plan = chain.plan();
    let group = &mut plan.groups[0];
    group.members[0].map = ThreadMap::Identity;
    group.members[0].barrier_before = false;
    group.members[1].map = ThreadMap::Identity;
    group.members[1].barrier_before = true;
    group.guards = chain.launches.map(valid).to_vec();
    let all = |condition| Guard::Holds {
        class: String::from("test"),
        condition,
    };
    group.guards.push(all(Condition::LessEqual(
        Expression::Constant(1),
        bytes.clone(),
    )));
    let recomputation = Recomputation {
        copies: vec![BlockCopy {
            stored: 1,
            loaded: vec![0],
            bytes,
        }],
    };
    let room = Expression::Constant(48 * 1024);
    let needed = recomputation.begin(1);
    group.guards.push(all(Condition::LessEqual(needed, room)));
    group.recomputation = Some(recomputation);
    plan
}

fn copy(plan: &mut FusionPlan) -> &mut BlockCopy {
    &mut plan.groups[0].recomputation.as_mut().unwrap().copies[0]
}

fn is_refused(scene: &Scene, plan: &FusionPlan, what: &str) {
    let found = refusals(scene, plan);
    let says = |refusal: &Refusal| match refusal {
        Refusal::Recomputed { what: own, .. } => own.contains(what),
        _ => false,
    };
    assert!(found.iter().any(says), "{found:#?}");
}

#[test]
fn passes_what_each_block_computes_by_itself() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    assert_passes(&chain.scene, &plan);
}

#[test]
fn nobody_says_that_blocks_compute_it() {
    let mut chain = one_block_in_front();
    let mut plan = recomputed(&mut chain);
    plan.groups[0].recomputation = None;
    plan.groups[0].members[0].map = ThreadMap::Clipped;
    assert_refused!(chain.scene, plan, Refusal::CrossesBlocks { .. });
}

#[test]
fn the_first_launch_has_two_blocks() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    for extent in [Some(2), None] {
        let grid = match extent {
            Some(extent) => chain.scene.constant(extent),
            None => chain.scene.unknown(),
        };
        chain.scene.launch_mut(chain.launches[0]).grid[0] = grid;
        is_refused(&chain.scene, &plan, "more than one block");
    }
}

#[test]
fn threads_do_not_wait_in_between() {
    let mut chain = one_block_in_front();
    let mut plan = recomputed(&mut chain);
    plan.groups[0].members[1].barrier_before = false;
    is_refused(&chain.scene, &plan, "wait");
}

#[test]
fn the_copy_is_longer_or_shorter_than_what_is_stored() {
    let mut chain = one_block_in_front();
    let mut plan = recomputed(&mut chain);
    let bytes = copy(&mut plan).bytes.clone();
    for change in [-4, 4] {
        copy(&mut plan).bytes = bytes.clone().add(Expression::Constant(change));
        let some = Condition::LessEqual(Expression::Constant(1), copy(&mut plan).bytes.clone());
        plan.groups[0].guards.push(Guard::Holds {
            class: String::from("test"),
            condition: some,
        });
        is_refused(&chain.scene, &plan, "may not be stored");
    }
}

#[test]
fn every_other_element_is_stored() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let write = &mut chain.scene.kernels[0].accesses[1];
    for term in &mut write.subscript.as_mut().unwrap().terms {
        term.0 *= 2;
    }
    is_refused(&chain.scene, &plan, "may not be stored");
}

#[test]
fn what_is_stored_is_not_known_exactly() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    chain.scene.kernels[0].accesses[1].exact = false;
    is_refused(&chain.scene, &plan, "may not be stored");
}

#[test]
fn a_further_condition_keeps_elements_from_being_stored() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let further = Constraint::NonNegative(Affine {
        constant: 8,
        terms: vec![(-1, Variable::Thread(Axis::X))],
    });
    chain.scene.kernels[0].accesses[1].domain[0].push(further);
    is_refused(&chain.scene, &plan, "may not be stored");
}

#[test]
fn elements_of_one_iteration_are_stored_alone() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let write = &mut chain.scene.kernels[0].accesses[1];
    write.loops = Vec::new();
    write.subscript = Some(Affine {
        constant: 0,
        terms: vec![(4, Variable::Thread(Axis::X))],
    });
    write.domain = vec![vec![Constraint::NonNegative(Affine {
        constant: -1,
        terms: vec![(-1, Variable::Thread(Axis::X)), (1, Variable::Parameter(1))],
    })]];
    is_refused(&chain.scene, &plan, "may not be stored");
}

#[test]
fn the_first_launch_stores_elsewhere_too() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let mut write = in_loop(AccessKind::Write, 0);
    write.id = AccessId(2);
    chain.scene.kernels[0].accesses.push(write);
    is_refused(&chain.scene, &plan, "stores elsewhere");
}

#[test]
fn the_first_launch_updates_memory() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    chain.scene.kernels[0].accesses[0].kind = AccessKind::Atomic;
    is_refused(&chain.scene, &plan, "updates memory");
}

#[test]
fn the_first_launch_reads_what_it_stores() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let mut read = in_loop(AccessKind::Read, 1);
    read.id = AccessId(2);
    chain.scene.kernels[0].accesses.push(read);
    is_refused(&chain.scene, &plan, "looked at before");
}

#[test]
fn the_first_launch_works_in_place() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let own = chain.scene.launch_mut(chain.launches[0]);
    own.arguments[0] = own.arguments[1].clone();
    assert_refused!(chain.scene, plan, Refusal::DependentPartitions { .. });
}

#[test]
fn the_second_launch_writes_what_the_first_reads() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let input = chain.scene.launch_mut(chain.launches[0]).arguments[0].clone();
    chain.scene.launch_mut(chain.launches[1]).arguments[1] = input;
    assert_refused!(chain.scene, plan, Refusal::DependentPartitions { .. });
}

#[test]
fn the_second_launch_writes_what_the_first_stores() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let stored = chain.scene.launch_mut(chain.launches[0]).arguments[1].clone();
    chain.scene.launch_mut(chain.launches[1]).arguments[1] = stored;
    assert_refused!(chain.scene, plan, Refusal::DependentPartitions { .. });
}

#[test]
fn the_second_launch_loads_by_another_pointer() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let other = chain.scene.unknown();
    let own = &mut chain.scene.launch_mut(chain.launches[1]).arguments[0];
    own.pieces[0].value = other;
    is_refused(&chain.scene, &plan, "another pointer");
}

#[test]
fn the_second_launch_loads_the_copy_and_memory() {
    let mut chain = one_block_in_front();
    let mut plan = recomputed(&mut chain);
    copy(&mut plan).loaded.clear();
    assert_refused!(chain.scene, plan, Refusal::DependentPartitions { .. });
}

#[test]
fn the_second_launch_loads_more_than_is_stored() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let n = KernelSymbol::Argument {
        argument: 2,
        offset_bytes: 0,
        bits: 32,
        signed: true,
    };
    let more = Expression::Constant(4)
        .multiply(Expression::Leaf(n))
        .add(Expression::Constant(4));
    chain.scene.kernels[1].footprints[0].high_bytes = Some(more);
    is_refused(&chain.scene, &plan, "more may be loaded");
}

#[test]
fn the_second_launch_writes_through_the_pointer() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    chain.scene.kernels[1].accesses[0].kind = AccessKind::Write;
    is_refused(&chain.scene, &plan, "may be written");
}

#[test]
fn nobody_tests_whether_there_is_room() {
    let mut chain = one_block_in_front();
    let mut plan = recomputed(&mut chain);
    plan.groups[0].guards.pop();
    is_refused(&chain.scene, &plan, "room");
}

#[test]
fn a_copy_may_be_empty() {
    let mut chain = one_block_in_front();
    let mut plan = recomputed(&mut chain);
    let at = plan.groups[0].guards.len() - 2;
    plan.groups[0].guards.remove(at);
    is_refused(&chain.scene, &plan, "empty");
}

#[test]
fn blocks_are_of_other_sizes() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let smaller = chain.scene.constant(64);
    chain.scene.launch_mut(chain.launches[1]).block[0] = smaller;
    is_refused(&chain.scene, &plan, "other blocks");
}

#[test]
fn threads_of_smaller_blocks_are_counted() {
    let mut chain = one_block_in_front();
    let mut plan = recomputed(&mut chain);
    let smaller = chain.scene.constant(64);
    chain.scene.launch_mut(chain.launches[1]).block[0] = smaller;
    plan.groups[0].members[1].map = ThreadMap::Remapped {
        own: ThreadOrder::Blocks,
        fused: ThreadOrder::Blocks,
        repeats: false,
    };
    assert_passes(&chain.scene, &plan);
    let model = &mut chain.scene.kernels[1];
    model.warp_operations = true;
    assert_passes(&chain.scene, &plan);
    let odd = chain.scene.constant(48);
    chain.scene.launch_mut(chain.launches[1]).block[0] = odd;
    is_refused(&chain.scene, &plan, "taken apart");
    chain.scene.launch_mut(chain.launches[1]).block[0] = smaller;
    chain.scene.kernels[1].max_threads = Some(64);
    is_refused(&chain.scene, &plan, "smaller blocks");
    chain.scene.kernels[1].max_threads = None;
    chain.scene.kernels[1].barriers.push(Barrier {
        uniform: true,
        uniform_while_unwritten: Vec::new(),
        reached_if: Vec::new(),
        loops: Vec::new(),
        place: 0,
        location: Location::default(),
    });
    is_refused(&chain.scene, &plan, "meet");
}

#[test]
fn somebody_looks_at_addresses() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    for kernel in 0..2 {
        chain.scene.kernels[kernel].reads_addresses = true;
        is_refused(&chain.scene, &plan, "addresses");
        chain.scene.kernels[kernel].reads_addresses = false;
        chain.scene.kernels[kernel].dynamic_shared = true;
        is_refused(&chain.scene, &plan, "dynamic shared memory");
        chain.scene.kernels[kernel].dynamic_shared = false;
        chain.scene.kernels[kernel].prints = true;
        is_refused(&chain.scene, &plan, "prints");
        chain.scene.kernels[kernel].prints = false;
    }
}

#[test]
fn the_launch_is_made_in_another_way_too() {
    let mut chain = one_block_in_front();
    let plan = recomputed(&mut chain);
    let mut last = plan.clone();
    last.groups[0].last_block = Some(1);
    let refused = verify(&chain.scene.graph, &chain.scene.kernels, last).is_err();
    assert!(refused);
    let mut early = plan.clone();
    early.groups[0].overlap = Some(Overlap {
        predecessors: Vec::new(),
        untouched: Vec::new(),
    });
    is_refused(&chain.scene, &early, "begins before");
    let mut kept = plan;
    kept.groups[0].members[0].map = ThreadMap::Clipped;
    is_refused(&chain.scene, &kept, "keep its threads");
}

/// What one block makes, and two launches of which the host makes one.
struct Either {
    chain: Chain,
    other: LaunchId,
}

impl Either {
    /// The second one stands in a block of its own, or behind the first one.
    fn of(alternatives: bool) -> Self {
        let between = |scene: &mut Scene, _: [BufferId; 3]| {
            scene.block_after(HostBlockId(0));
        };
        let mut chain = chain_with(strided, between, |scene| scene.pointwise("g"));
        let one = chain.scene.constant(1);
        let [first, second] = chain.launches;
        chain.scene.launch_mut(first).grid[0] = one;
        if alternatives {
            chain.scene.block_after(HostBlockId(0));
        }
        let kernel = chain.scene.launch_mut(second).kernel.unwrap();
        let passed = [Pass::To(chain.buffers[1]), Pass::To(chain.buffers[2])];
        let [b, c] = passed;
        let n = Pass::Integer(chain.size);
        let other = chain.scene.launch(kernel, chain.shape, &[b, c, n]);
        Self { chain, other }
    }

    /// Each of the two has a group with the first launch.
    fn plan(&mut self) -> FusionPlan {
        let mut plan = recomputed(&mut self.chain);
        let [first, second] = self.chain.launches;
        let stored = self.chain.scene.launch_mut(first).arguments[1].clone();
        self.chain.scene.launch_mut(self.other).arguments[0] = stored;
        let mut group = plan.groups[0].clone();
        group.members[1].launch = self.other;
        for guard in &mut group.guards {
            if *guard == valid(second) {
                *guard = valid(self.other);
            }
        }
        plan.groups.push(group);
        plan
    }
}

#[test]
fn passes_what_either_of_two_launches_takes_in() {
    let mut either = Either::of(true);
    let plan = either.plan();
    assert_passes(&either.chain.scene, &plan);
}

#[test]
fn the_later_of_two_launches_needs_the_launch_too() {
    let mut either = Either::of(false);
    let plan = either.plan();
    assert_refused!(either.chain.scene, plan, Refusal::Reordered { .. });
}

#[test]
fn one_group_of_two_takes_the_launch_in_in_another_way() {
    let mut either = Either::of(true);
    let plan = either.plan();
    let [first, _] = either.chain.launches;
    for group in 0..2 {
        let mut plan = plan.clone();
        plan.groups[group].recomputation = None;
        let found = refusals(&either.chain.scene, &plan);
        let twice = Refusal::DuplicateMember { launch: first };
        assert!(found.contains(&twice), "{found:#?}");
    }
}

#[test]
fn two_groups_end_with_one_launch() {
    let mut either = Either::of(true);
    let mut plan = either.plan();
    plan.groups[1] = plan.groups[0].clone();
    let [_, second] = either.chain.launches;
    let found = refusals(&either.chain.scene, &plan);
    let twice = Refusal::DuplicateMember { launch: second };
    assert!(found.contains(&twice), "{found:#?}");
}

#[test]
fn what_one_group_begins_with_is_the_end_of_another() {
    let mut either = Either::of(true);
    let mut plan = either.plan();
    let [first, second] = either.chain.launches;
    plan.groups[1].members[0].launch = second;
    plan.groups[1].members[1].launch = first;
    let found = refusals(&either.chain.scene, &plan);
    for launch in [first, second] {
        let twice = Refusal::DuplicateMember { launch };
        assert!(found.contains(&twice), "{found:#?}");
    }
}
