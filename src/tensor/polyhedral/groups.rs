//! Which statements share a kernel: one after the other joins a group before it, if isl then still has a schedule that is
//! parallel enough, can be written, and is proven.
//!
//! This isl's own clustering does not do: it has no strategy that counts parallel dimensions, and nothing forbids it skewed
//! or reversed schedules. So it is asked for each group, with the statement and without.

use super::dependences::Dependences;
use super::nest::Nest;
use super::order::{keeps_order, may_swap};
use super::{Obstacle, Segment, Strategy};
use crate::math::isl::schedule::{Tree, schedule};
use crate::math::isl::{IslError, with_operation_budget};
use crate::tensor::program::{Function, Statement};

/// Statements of one kernel.
pub struct Group {
    /// Their numbers in the segment, in the order of the text.
    pub members: Vec<usize>,
    /// isl's schedule, with the numbers of the segment; none where there is no answer.
    pub tree: Option<Tree>,
    /// Its loops, with the numbers of the members; else why there are none.
    pub nest: Result<Nest, Obstacle>,
    /// Why its loops inside of the threads are not those of the schedule, but of each statement alone.
    pub apart: Option<Obstacle>,
    /// Parallel dimensions that it has to keep.
    needed: usize,
}

/// Most operations of isl for one schedule: for a small one, and besides for each statement and each pair of statements that
/// depend on each other. It does for all definitions of `test_programs`. Where isl does not come to an end, each operation
/// takes longer than the one before.
const SCHEDULE_BUDGET: [u64; 2] = [30_000, 4_000];
/// Most statements that are scheduled together: pairs of them are looked at.
const MOST_STATEMENTS: usize = 48;
/// Most groups that a statement tries to join.
const MOST_TRIALS: usize = 4;

/// Groups of statements that follow each other.
pub fn segment<'f>(
    function: &'f Function,
    statements: Vec<&'f Statement>,
    fusion: Strategy,
) -> Segment<'f> {
    if statements.len() > MOST_STATEMENTS {
        let alone = |number: usize| Group {
            members: vec![number],
            tree: None,
            nest: Err(Obstacle::Many),
            apart: None,
            needed: 0,
        };
        return Segment {
            groups: (0..statements.len()).map(alone).collect(),
            statements,
            refusals: Vec::new(),
        };
    }
    let dependences = Dependences::of(function, statements);
    let mut groups: Vec<Group> = Vec::new();
    let mut refusals = Vec::new();
    for number in 0..dependences.statements.len() {
        let mut alone = group(&dependences, vec![number]);
        alone.needed = match (fusion, &alone.nest) {
            (Strategy::ThreeParallel, Ok(nest)) => nest.threads.min(3),
            (_, Ok(nest)) => nest.threads.min(1),
            (_, Err(_)) => 0,
        };
        if fusion != Strategy::Minimal && alone.nest.is_ok() {
            join(&dependences, &mut groups, alone, &mut refusals);
        } else {
            groups.push(alone);
        }
    }
    Segment {
        groups,
        statements: dependences.statements,
        refusals,
    }
}

/// Puts a statement into the last group that takes it, if it may stand there.
fn join(
    dependences: &Dependences<'_>,
    groups: &mut Vec<Group>,
    alone: Group,
    refusals: &mut Vec<(usize, Vec<usize>, Obstacle)>,
) {
    let number = alone.members[0];
    let mut trials = 0;
    for at in (0..groups.len()).rev() {
        let known = &groups[at];
        let depends = |member: &usize| dependences.depends([*member, number]);
        if known.nest.is_ok() && known.members.iter().any(depends) {
            let together = [known.members.as_slice(), &[number]].concat();
            let mut made = group(dependences, together);
            made.needed = known.needed.max(alone.needed);
            let left = made.nest.as_ref().map(|nest| nest.threads);
            let why = match left {
                Ok(left) if left >= made.needed => {
                    groups[at] = made;
                    return;
                }
                Ok(left) => Obstacle::Parallel(left, made.needed),
                Err(why) => *why,
            };
            refusals.push((number, known.members.clone(), why));
            trials += 1;
        }
        let mut members = known.members.iter();
        let passes = members.all(|member| may_swap(dependences, [*member, number]));
        if !passes || trials == MOST_TRIALS {
            break;
        }
    }
    groups.push(alone);
}

/// What isl says of statements in one kernel.
fn group(dependences: &Dependences<'_>, members: Vec<usize>) -> Group {
    let constraints = dependences.constraints(&members);
    let tree = constraints.and_then(|mut constraints| {
        let size = constraints.domains.len() + constraints.order.len();
        let [least, of_each] = SCHEDULE_BUDGET;
        with_operation_budget(least + of_each * size as u64, || {
            match schedule(&constraints) {
                Err(IslError::Quota) => {
                    // isl may look for shifts without end.
                    constraints.largest_shift = Some(0);
                    schedule(&constraints)
                }
                made => made,
            }
        })
        .ok()
    });
    let of = |shares: bool| match &tree {
        Some(tree) => proven(dependences, &members, tree, shares),
        None => Err(Obstacle::Unknown),
    };
    let (nest, apart) = match of(true) {
        Err(why) if members.len() > 1 => (of(false), Some(why)),
        made => (made, None),
    };
    Group {
        tree: tree.map(|tree| super::renumbered(&tree, &members)),
        members,
        nest,
        apart,
        needed: 0,
    }
}

/// The loops of a schedule, proven.
fn proven(
    dependences: &Dependences<'_>,
    members: &[usize],
    tree: &Tree,
    shares: bool,
) -> Result<Nest, Obstacle> {
    let statements = members.iter().map(|member| dependences.statements[*member]);
    let statements: Vec<&Statement> = statements.collect();
    let nest = Nest::of(&statements, tree, shares)?;
    for (part, statement) in statements.iter().enumerate() {
        let scalar = dependences.function.tensors[statement.target].scalar;
        let is_shared = nest.outermost_reduced(part, statement).is_some();
        if is_shared && scalar.computed() != scalar {
            return Err(Obstacle::Rounded);
        }
    }
    keeps_order(dependences, members, &nest)?;
    Ok(nest)
}
