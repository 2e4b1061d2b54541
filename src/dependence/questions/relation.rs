//! Two accesses that may touch a common byte -> which (block, thread) pairs do, and how wide that is.
//!
//! The conflict of a source and a sink access is an isl set over both sides' blocks, threads, loops
//! and products. A product `q = e · p` with run-time `p` is a free dimension tied to the others by
//! the axioms of [`crate::kernel`]: order of the factors, at distance `p`. Each axiom is a choice
//! between conjunctions.
//!
//! Invariant: the set only ever over-approximates. When isl runs out of its budget the answer is
//! [`Scope::Global`] over all pairs.

use super::super::Scope;
use super::super::arrays::Within;
use super::super::lowered::{Lowered, Point};
use super::super::mapped::Coordinate;
use super::super::polynomial::{Atom, Polynomial};
use super::super::problem::{Condition, PlaceSymbol, Problem, Question, Sum, Symbol};
use super::super::union::{LONGEST_RELATION, Relation, Union, Unions, universal_relation};
use super::super::witness::KnownSamples;
use crate::kernel::{Access, KernelModel};
use crate::math::affine::Axis;
use crate::math::formula::Formula;
use crate::math::isl::{self, Conjunction, IslError, Map, Set};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Extents of a launch, x, y, z.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::dependence) struct Shape {
    pub(in crate::dependence) grid: [Polynomial; 3],
    pub(in crate::dependence) block: [Polynomial; 3],
}

/// One access at one launch.
pub(in crate::dependence) struct Side<'a> {
    pub(in crate::dependence) model: &'a KernelModel,
    pub(in crate::dependence) access: &'a Access,
    /// Values of `KernelModel::parameters`.
    pub(in crate::dependence) parameters: &'a [Polynomial],
    pub(in crate::dependence) shape: &'a Shape,
}

/// What is known about the uniform values.
#[derive(Clone, Debug, Default)]
pub(in crate::dependence) struct Facts {
    /// Each is at least zero.
    pub(in crate::dependence) holding: Vec<Polynomial>,
    /// Counters of host loops that the facts relate: products with them are ordered as they are.
    pub(in crate::dependence) counters: BTreeSet<Atom>,
}

/// How two accesses conflict.
#[derive(Clone, Debug)]
pub(in crate::dependence) struct Conflict {
    /// `None`: they never touch a common byte.
    pub(in crate::dependence) scope: Option<Scope>,
    /// It holds all conflicting pairs.
    pub(in crate::dependence) relation: Relation,
    /// Neither more nor fewer pairs.
    pub(in crate::dependence) exact: bool,
    /// What was compared are exactly the conflicting pairs, whether or not the relation holds no more.
    pub(in crate::dependence) certain: bool,
    /// Some value that it depends on may differ between the runs of source and sink.
    pub(in crate::dependence) values_differ: bool,
    /// False when the places are not known or the question was too expensive: the scope is then
    /// global for want of a proof.
    pub(in crate::dependence) proven: bool,
    /// The question was too expensive.
    pub(in crate::dependence) gave_up: bool,
}

/// Answers by what was asked; programs repeat themselves.
pub(in crate::dependence) struct Solver {
    relations: Relations,
    /// Answers that only relations need, which must not be known to what is decided.
    writer: Option<Box<Solver>>,
    answers: HashMap<Question, Known>,
    pub(in crate::dependence) samples: KnownSamples,
    /// Questions that were not answered from memory.
    pub(in crate::dependence) problems: usize,
    /// What these took, as [`Lowered::spent`] measures it.
    pub(in crate::dependence) spent: u64,
    /// What those of them took that were given up.
    spent_in_vain: u64,
    /// Numbers in the matrices of relations that were written.
    written: usize,
    unions: Unions,
}

/// What is known of a problem.
#[derive(Default)]
struct Known {
    conflict: Option<Conflict>,
    /// Conflicting pairs that were met, a few of them.
    points: Vec<Point>,
    agreements: HashMap<ClaimQuestion, Agreement>,
}

/// Coordinates that are to be equal, and positions with their extents.
type ClaimQuestion = (Vec<[Sum; 2]>, Vec<[Sum; 2]>);

/// Most points that are kept of a problem.
const MOST_POINTS: usize = 16;

/// Whether somebody reads which pairs conflict. To write that down takes isl longer than to decide how far
/// they are apart, so that what is decided, and the work that is counted, is the same in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dependence) enum Relations {
    /// As exactly as they can be.
    Written,
    /// All pairs of the scope stand for them.
    LeftOut,
}

/// Coordinates that are to be equal on both sides, and positions that are to stay below their extents.
pub(in crate::dependence) type Claim<'a> = ((&'a [Coordinate], &'a [Coordinate]), &'a [Within]);

/// What isl says of a coordinate of both sides of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dependence) enum Agreement {
    /// No conflicting pair differs in one.
    Agree,
    /// Some pair may.
    Differ,
    /// The question was too expensive.
    GaveUp,
}

/// Most that is spent on one problem, as [`Lowered::spent`] measures it: half as much again as the largest
/// proof that a program is known to need.
const MOST_SPENT: u64 = 50_000_000;
/// What a program may spend on problems that are given up, after which each gets less.
const MUCH_SPENT_IN_VAIN: u64 = 500_000_000;
/// Most that is spent on one problem then: nearly all proofs take less.
const LITTLE_SPENT: u64 = 15_000_000;

/// Numbers in the matrices of relations after which others are all pairs of their scope: some ten seconds of work.
const MUCH_WRITTEN: usize = 1_000_000;
/// What counts for a relation that is not kept.
const WRITTEN_IN_VAIN: usize = 1_500;

impl Solver {
    pub(in crate::dependence) fn new(relations: Relations) -> Self {
        Self {
            relations,
            writer: None,
            answers: HashMap::new(),
            samples: KnownSamples::default(),
            problems: 0,
            spent: 0,
            spent_in_vain: 0,
            written: 0,
            unions: Unions::default(),
        }
    }

    /// Whether somebody reads which pairs conflict.
    pub(in crate::dependence) fn writes_relations(&self) -> bool {
        self.relations() == Relations::Written
    }

    /// Whether more relations are written: what takes longest is that, and nobody reads so many.
    fn relations(&self) -> Relations {
        let by_others = self.writer.as_ref().map_or(0, |writer| writer.written);
        match self.written + by_others < MUCH_WRITTEN {
            true => self.relations,
            false => Relations::LeftOut,
        }
    }

    /// Who answers what only a relation is asked for, if there are any.
    pub(in crate::dependence) fn writer(&mut self) -> Option<&mut Self> {
        match self.relations() {
            Relations::LeftOut => None,
            Relations::Written => {
                let new = || Box::new(Self::new(Relations::Written));
                Some(self.writer.get_or_insert_with(new))
            }
        }
    }

    /// The union of relations, and whether it is exactly that; see [`Unions::text`].
    pub(in crate::dependence) fn unite(&mut self, union: Union, scope: Scope) -> (Arc<str>, bool) {
        match self.relations() {
            Relations::Written => self.unions.text(union, scope),
            Relations::LeftOut => (universal_relation(scope), false),
        }
    }

    /// Decides one pair. `distance` is the source pointer's offset less the sink pointer's, in
    /// bytes; `None` when unknown.
    pub(in crate::dependence) fn conflict(
        &mut self,
        source: &Side,
        sink: &Side,
        distance: Option<&Polynomial>,
        facts: &Facts,
    ) -> Conflict {
        let Some(problem) = Problem::build(source, sink, distance, facts) else {
            return everything();
        };
        let allowance = self.allowance();
        let relations = self.relations();
        let known = self.answers.entry(problem.question()).or_default();
        let canonical = match &known.conflict {
            Some(conflict) => conflict.clone(),
            None => {
                let (conflict, spent, points) = problem.solve(allowance, relations);
                known.conflict = Some(conflict.clone());
                known.meet(points);
                self.count(spent, conflict.gave_up);
                if relations == Relations::Written && conflict.certain {
                    self.written += match conflict.exact {
                        true => conflict.relation.cells(),
                        false => WRITTEN_IN_VAIN,
                    };
                }
                conflict
            }
        };
        let all_exact = problem.exact && source.access.exact && sink.access.exact;
        let mut atoms = problem.monomials.iter().flatten();
        Conflict {
            relation: canonical.relation.with_real_names(&problem),
            exact: canonical.exact && all_exact,
            certain: canonical.certain && all_exact,
            values_differ: atoms.any(Atom::is_of_sink_side),
            ..canonical
        }
    }
}

impl Solver {
    /// Whether all conflicting pairs agree in all of the coordinates.
    pub(in crate::dependence) fn agree(
        &mut self,
        source: &Side,
        sink: &Side,
        distance: &Polynomial,
        facts: &Facts,
        mapped: (&[Coordinate], &[Coordinate]),
    ) -> Agreement {
        self.agree_within(source, sink, distance, facts, (mapped, &[]))
    }

    /// The same, and whether positions of all conflicting pairs stay below their extents.
    pub(in crate::dependence) fn agree_within(
        &mut self,
        source: &Side,
        sink: &Side,
        distance: &Polynomial,
        facts: &Facts,
        claim: Claim,
    ) -> Agreement {
        let problem = Problem::with_claim(source, sink, Some(distance), facts, claim);
        let Some(problem) = problem.filter(|problem| problem.placed) else {
            return Agreement::Differ;
        };
        let claim = (problem.coordinates.clone(), problem.bounded.clone());
        let allowance = self.allowance();
        let known = self.answers.entry(problem.question()).or_default();
        if let Some(agreement) = known.agreements.get(&claim) {
            return *agreement;
        }
        // A pair that was met before may differ in these coordinates, too: maps are tried by the dozen.
        let met = known.points.iter().any(|point| problem.differs_at(point));
        let (agreement, spent, points) = match met {
            true => (Agreement::Differ, 0, Vec::new()),
            false => problem.coordinates_agree(allowance),
        };
        known.agreements.insert(claim, agreement);
        known.meet(points);
        self.count(spent, agreement == Agreement::GaveUp);
        agreement
    }

    /// Most that the next problem may take.
    fn allowance(&self) -> u64 {
        match self.spent_in_vain < MUCH_SPENT_IN_VAIN {
            true => MOST_SPENT,
            false => LITTLE_SPENT,
        }
    }

    fn count(&mut self, spent: u64, in_vain: bool) {
        self.problems += 1;
        self.spent = self.spent.saturating_add(spent);
        if in_vain {
            self.spent_in_vain = self.spent_in_vain.saturating_add(spent);
        }
    }
}

impl Known {
    fn meet(&mut self, points: Vec<Point>) {
        let left = MOST_POINTS.saturating_sub(self.points.len());
        self.points.extend(points.into_iter().take(left));
    }
}

/// Most ways to choose that a relation is made of.
const MOST_LEAVES: usize = 28;

fn everything() -> Conflict {
    Conflict {
        scope: Some(Scope::Global),
        relation: Relation::All(Scope::Global),
        exact: false,
        certain: false,
        values_differ: false,
        proven: false,
        gave_up: false,
    }
}

/// What all pairs of a scope have in common.
fn same_place(scope: Scope) -> Condition {
    let kinds: &[PlaceSymbol] = match scope {
        Scope::Thread => &[Symbol::Block, Symbol::Thread],
        Scope::Block => &[Symbol::Block],
        Scope::Global => &[],
    };
    let axes = |kind: &PlaceSymbol| Axis::ALL.map(|axis| compared(*kind, axis, Sum::equal));
    Formula::All(kinds.iter().flat_map(axes).collect())
}

/// How both sides' blocks, or threads, compare on an axis.
fn compared(kind: PlaceSymbol, axis: Axis, compare: fn(Sum, Sum) -> Condition) -> Condition {
    let [source, sink] = [0, 1].map(|side| Sum::variable(kind(side, axis)));
    compare(source, sink)
}

impl Problem {
    /// The answer, what it took of `most_spent`, and points of the problem.
    fn solve(&self, most_spent: u64, relations: Relations) -> (Conflict, u64, Vec<Point>) {
        let Ok(mut lowered) = self.lowered(most_spent) else {
            return (everything(), 0, Vec::new());
        };
        let conflict = self.solve_lowered(&mut lowered);
        // The plan has to be the same for all of who reads it.
        let (spent, points) = (lowered.spent(), lowered.points().clone());
        let mut conflict = conflict.unwrap_or_else(|error| Conflict {
            gave_up: error == IslError::Quota,
            ..everything()
        });
        if let Some(scope) = conflict.scope.filter(|_| conflict.certain) {
            let written = match relations {
                Relations::Written => relation_of(scope, &mut lowered),
                Relations::LeftOut => None,
            };
            conflict.exact = written.is_some();
            conflict.relation = written.unwrap_or(Relation::All(scope));
        }
        (conflict, spent, points)
    }

    /// The answer without its relation, which is written where the answer is certain.
    fn solve_lowered(&self, lowered: &mut Lowered) -> isl::Result<Conflict> {
        if !lowered.is_satisfiable(&[])? {
            return Ok(Conflict {
                scope: None,
                relation: Relation::Nothing,
                exact: true,
                certain: true,
                values_differ: false,
                proven: true,
                gave_up: false,
            });
        }
        if !self.placed {
            return Ok(everything());
        }
        let mut scope = Scope::Thread;
        let kinds: [(PlaceSymbol, Scope); 2] = [
            (Symbol::Block, Scope::Global),
            (Symbol::Thread, Scope::Block),
        ];
        for ((kind, wider), free) in kinds.into_iter().zip(self.free_axes) {
            if self.may_differ(lowered, kind, free)? {
                scope = wider;
                break;
            }
        }
        Ok(Conflict {
            scope: Some(scope),
            relation: Relation::All(scope),
            exact: false,
            certain: true,
            values_differ: false,
            proven: true,
            gave_up: false,
        })
    }

    /// Whether a point of the problem shows that the claim does not hold.
    fn differs_at(&self, point: &Point) -> bool {
        let value = |sum: &Sum| self.value_at(point, sum);
        let values = |[left, right]: &[Sum; 2]| Some((value(left)?, value(right)?));
        let differ = |sides| values(sides).is_some_and(|(left, right)| left != right);
        let outside = |sides| values(sides).is_some_and(|(position, extent)| position >= extent);
        self.coordinates.iter().any(differ) || self.bounded.iter().any(outside)
    }

    /// Whether that is proven, what it took of `most_spent`, and points of the problem.
    fn coordinates_agree(&self, most_spent: u64) -> (Agreement, u64, Vec<Point>) {
        let Ok(mut lowered) = self.lowered(most_spent) else {
            return (Agreement::Differ, 0, Vec::new());
        };
        let answer = match self.coordinates_differ(&mut lowered) {
            Ok(false) => Agreement::Agree,
            Ok(true) => Agreement::Differ,
            Err(IslError::Quota) => Agreement::GaveUp,
            Err(_) => Agreement::Differ,
        };
        let points = lowered.points().clone();
        (answer, lowered.spent(), points)
    }

    fn coordinates_differ(&self, lowered: &mut Lowered) -> isl::Result<bool> {
        let mut differences = Vec::new();
        for [left, right] in &self.coordinates {
            for order in [Sum::below, Sum::above] {
                differences.push(lowered.conjunction(&order(left.clone(), right.clone()))?);
            }
        }
        for [position, extent] in &self.bounded {
            let outside = position.clone().at_least(extent.clone());
            differences.push(lowered.conjunction(&outside)?);
        }
        for differs in &differences {
            if lowered.is_satisfiable(&[differs])? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether some conflicting pair differs in its blocks, or threads, on one of those axes.
    fn may_differ(
        &self,
        lowered: &mut Lowered,
        kind: PlaceSymbol,
        free: [bool; 3],
    ) -> isl::Result<bool> {
        let axes = Axis::ALL.into_iter().filter(|axis| free[axis.index()]);
        let met = |axis| {
            let sides = [0, 1].map(|side| Sum::variable(kind(side, axis)));
            let differs =
                |point| self.value_at(point, &sides[0]) != self.value_at(point, &sides[1]);
            lowered.points().iter().any(differs)
        };
        if axes.clone().any(met) {
            return Ok(true);
        }
        for axis in axes {
            for order in [Sum::below, Sum::above] {
                let differs = lowered.conjunction(&compared(kind, axis, order))?;
                if lowered.is_satisfiable(&[&differs])? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// The conflict of a scope over blocks and threads alone, where it is short enough.
fn relation_of(scope: Scope, lowered: &mut Lowered) -> Option<Relation> {
    // What was proven holds for the relation as well, which leaves some axioms out.
    let same = lowered.conjunction(&same_place(scope)).ok()?;
    let map = lowered.within_budget(|| relation(lowered, &same)).ok()?;
    let Some(map) = map else {
        return Some(Relation::All(Scope::Global));
    };
    let relation = lowered.within_budget(|| Relation::of(map)).ok()?;
    (relation.length() <= LONGEST_RELATION).then_some(relation)
}

/// The conflict over blocks and threads alone, in canonical parameters, where `same` holds; `None` where there is none.
fn relation(lowered: &Lowered, same: &Conjunction) -> isl::Result<Option<Map>> {
    let extra = lowered.dimensions() - 12;
    let mut union: Option<Set> = None;
    for leaf in lowered.leaves(&[same], MOST_LEAVES)? {
        let leaf = leaf.project_out(12, extra)?;
        union = Some(match union {
            None => leaf,
            Some(before) => before.union(&leaf)?,
        });
    }
    let Some(union) = union else {
        return Ok(None);
    };
    let pairs = union.coalesce()?.relation(6, ["source", "sink"])?;
    Ok(Some(pairs.coalesce()?))
}
