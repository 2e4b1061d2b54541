//! Two operations in different iterations of the host's loops: their values as functions of the
//! loops' counters, and how the counters of the two lie to each other.
//!
//! The pair is told apart by the loop that *carries* it: the two run in one iteration of every loop
//! around that loop, the sink in a later iteration of the loop itself, and nothing is said of loops
//! inside. Values are replaced by what [`crate::launch::Iterations`] knows of them; what may differ
//! between the two is the sink's own, and the facts say what holds between both.
//!
//! Invariant: the facts hold for every such pair of instances that runs. A value without a closed
//! form that may differ is another, unknown value on the sink's side.

use super::instance::{Base, Instance, Place, host_polynomial};
use super::polynomial::{Atom, Monomial, Polynomial};
use super::relation::Facts;
use super::{Guard, IterationDistance};
use crate::launch::{self, HostBlockId, LaunchGraph, LaunchId, Root, ValueId};
use crate::math::expression::{Condition, Expression};
use crate::math::formula::{Formula, Sum};
use crate::math::isl::{self, Set};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Budget of one isl call about domains.
const DOMAIN_BUDGET: u64 = 20_000;

/// All that operations may take for granted of the counters of the loops around them: what is asked of
/// counters has the same answer for operations of equal domains.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Domain {
    /// The loops, outermost first, each with what its counter stays below, where it is counted.
    loops: Vec<(usize, Option<Expression<ValueId>>)>,
}

impl Domain {
    /// Of operations in a block.
    pub(super) fn of(graph: &LaunchGraph, block: HostBlockId) -> Self {
        let around = graph.loops_around(block).into_iter();
        let loops = around.map(|index| (index, graph.counter_bound(index, block)));
        Self {
            loops: loops.collect(),
        }
    }

    /// What the counter of a loop stays below, where the loop is around and counted.
    fn bound(&self, index: usize) -> Option<&Expression<ValueId>> {
        let mut loops = self.loops.iter();
        let (_, bound) = loops.find(|(around, _)| *around == index)?;
        bound.as_ref()
    }

    /// What holds of the counters.
    fn facts(&self, graph: &LaunchGraph) -> Vec<Polynomial> {
        let mut facts = Vec::new();
        for (index, bound) in &self.loops {
            let Some(counter) = graph.iterations.counters.get(*index) else {
                continue;
            };
            let counter = Polynomial::atom(Atom::Value(*counter));
            facts.push(counter.clone());
            let last = bound.as_ref().and_then(|bound| {
                host_polynomial(&of_running(bound))?.subtract(&Polynomial::constant(1))
            });
            facts.extend(last.and_then(|last| last.subtract(&counter)));
        }
        facts
    }
}

/// What was found out about polynomials over counters, by the text of the question: the same few
/// conditions are asked for each pair of launches in the same loops.
#[derive(Clone, Default)]
pub(super) struct Proofs(Rc<RefCell<HashMap<Formula<usize>, bool>>>);

/// One iteration of a loop and a later one.
pub(super) struct Later<'a> {
    graph: &'a LaunchGraph,
    carrying: usize,
    /// The loops around it.
    outside: Vec<usize>,
    /// The blocks of source and sink, and their domains.
    blocks: [HostBlockId; 2],
    domains: [Domain; 2],
    /// Extents of the two launches, which keep their names.
    extents: BTreeSet<ValueId>,
    proofs: Proofs,
}

impl<'a> Later<'a> {
    /// Of two launches in the loop.
    pub(super) fn new(
        graph: &'a LaunchGraph,
        carrying: usize,
        ends: [&Instance; 2],
        proofs: Proofs,
    ) -> Self {
        let mut outside = Vec::new();
        let mut next = graph.loops[carrying].parent;
        while let Some(index) = next.filter(|index| !outside.contains(index)) {
            outside.push(index);
            next = graph.loops[index].parent;
        }
        let launches = ends.map(|instance| instance.launch);
        let extents = launches.map(|launch| launch.grid.into_iter().chain(launch.block));
        let blocks = ends.map(|instance| graph.nodes[instance.node.0].block);
        Self {
            graph,
            carrying,
            outside,
            blocks,
            domains: blocks.map(|block| Domain::of(graph, block)),
            extents: extents.into_iter().flatten().collect(),
            proofs,
        }
    }

    /// The blocks of source and sink.
    pub(super) fn blocks(&self) -> [HostBlockId; 2] {
        self.blocks
    }

    /// Whether both run in one iteration of a loop.
    pub(super) fn is_one_iteration_of(&self, of_loop: usize) -> bool {
        self.outside.contains(&of_loop)
    }

    /// Whether a value is the same in both instances.
    pub(super) fn is_stable(&self, value: ValueId) -> bool {
        match self.graph.values[value.0].varies_in {
            None => true,
            Some(varies) => self.outside.contains(&varies),
        }
    }

    /// A polynomial over counters where its values have closed forms.
    pub(super) fn closed(&self, polynomial: &Polynomial) -> Polynomial {
        let image = |value: ValueId| {
            let closed = self.graph.iterations.values.get(&value)?;
            match self.extents.contains(&value) {
                true => None,
                false => host_polynomial(closed),
            }
        };
        polynomial
            .substitute(&image)
            .unwrap_or_else(|| polynomial.clone())
    }

    /// The conditions that the domains of the loops around source (0) or sink (1) leave open.
    pub(super) fn open(&self, side: usize, guards: &[Guard]) -> Vec<Guard> {
        let facts = self.domains[side].facts(self.graph);
        let holds = |guard: &Guard| match guard {
            Guard::Holds { condition, .. } => self.follows(&facts, condition),
            Guard::RangesDisjoint { .. }
            | Guard::SameOrDisjoint { .. }
            | Guard::ConfigurationValid { .. }
            | Guard::NotCapturing { .. }
            | Guard::DeviceMemory { .. }
            | Guard::Resident { .. }
            | Guard::SameStream { .. } => false,
        };
        guards
            .iter()
            .filter(|guard| !holds(guard))
            .cloned()
            .collect()
    }

    fn follows(&self, facts: &[Polynomial], condition: &Condition<ValueId>) -> bool {
        let difference = |larger: &Expression<ValueId>, smaller: &Expression<ValueId>| {
            let difference = host_polynomial(larger)?.subtract(&host_polynomial(smaller)?)?;
            Some(self.closed(&difference))
        };
        let at_least = |larger, smaller| {
            difference(larger, smaller)
                .is_some_and(|slack| self.proofs.is_never_negative(&slack, facts))
        };
        match condition {
            Condition::LessEqual(a, b) => at_least(b, a),
            Condition::Equal(a, b) => at_least(a, b) && at_least(b, a),
            Condition::All(parts) => parts.iter().all(|part| self.follows(facts, part)),
            Condition::Any(parts) => parts.iter().any(|part| self.follows(facts, part)),
        }
    }

    /// Domains of both instances, their order, and what varying extents are.
    pub(super) fn facts(&self) -> Facts {
        let mut holding = Vec::new();
        let unstable = |value: ValueId| !self.is_stable(value);
        for (side, domain) in self.domains.iter().enumerate() {
            let mut of_side = domain.facts(self.graph);
            for extent in &self.extents {
                let closed = self.graph.iterations.values.get(extent);
                let Some(closed) = closed.and_then(host_polynomial) else {
                    continue;
                };
                let value = Polynomial::atom(Atom::Value(*extent));
                of_side.extend(value.subtract(&closed));
                of_side.extend(closed.subtract(&value));
            }
            if side == 1 {
                for fact in &mut of_side {
                    *fact = fact.on_sink_side(&unstable);
                }
            }
            holding.extend(of_side);
        }
        let mut counters = BTreeSet::new();
        for counter in &self.graph.iterations.counters {
            let atom = Atom::Value(*counter);
            counters.insert(Atom::SinkSide(Box::new(atom.clone())));
            counters.insert(atom);
        }
        if let Some(counter) = self.graph.iterations.counters.get(self.carrying) {
            let earlier = Polynomial::atom(Atom::Value(*counter));
            let later = earlier.on_sink_side(&unstable);
            let distance = later.subtract(&earlier);
            holding.extend(distance.and_then(|d| d.subtract(&Polynomial::constant(1))));
        }
        Facts { holding, counters }
    }

    /// The places that a pointer may be, over counters; `None` where they are not known.
    pub(super) fn places(&self, place: &Place) -> Vec<Place> {
        let course = place.pointer.filter(|pointer| !self.is_stable(*pointer));
        let course = course.and_then(|pointer| self.graph.iterations.courses.get(&pointer));
        let closed = |offset: Polynomial| self.closed(&offset);
        let Some(course) = course else {
            return vec![Place {
                offset: place.offset.clone().map(closed),
                ..place.clone()
            }];
        };
        let at = |known: &launch::Place| {
            let (base, may_point_to) = match known.root {
                Root::Buffer(buffer) => (Base::Buffer(buffer), Some(vec![buffer])),
                Root::Value(value) => (Base::Value(value), place.may_point_to.clone()),
            };
            Place {
                base,
                may_point_to,
                offset: host_polynomial(&known.offset_bytes).map(closed),
                ..place.clone()
            }
        };
        course.places.iter().map(at).collect()
    }

    /// How many iterations of each loop around both lie between the two.
    pub(super) fn distances(&self) -> Vec<IterationDistance> {
        let around = self.graph.loops_around(self.blocks[0]);
        let of_sink = self.graph.loops_around(self.blocks[1]);
        let common = around.into_iter().filter(|index| of_sink.contains(index));
        common
            .map(|host_loop| {
                let (least, most) = match host_loop {
                    index if self.outside.contains(&index) => (Some(0), Some(0)),
                    index if index == self.carrying => (Some(1), None),
                    _ => (None, None),
                };
                IterationDistance {
                    host_loop,
                    least,
                    most,
                }
            })
            .collect()
    }
}

impl Proofs {
    /// Whether a polynomial is at least zero wherever the facts are. False when that is not found out.
    fn is_never_negative(&self, polynomial: &Polynomial, facts: &[Polynomial]) -> bool {
        if let Some(value) = polynomial.as_constant() {
            return value >= 0;
        }
        let mut monomials: Vec<Monomial> = Vec::new();
        let mut sum = |polynomial: &Polynomial| -> Sum<usize> {
            let terms = polynomial.terms.iter();
            terms.fold(Sum::number(0), |sum, (monomial, coefficient)| {
                let coefficient = i128::from(*coefficient);
                if monomial.is_empty() {
                    return sum + coefficient;
                }
                let known = monomials.iter().position(|known| known == monomial);
                let index = known.unwrap_or_else(|| {
                    monomials.push(monomial.clone());
                    monomials.len() - 1
                });
                sum + Sum::variable(index) * coefficient
            })
        };
        let mut conditions = vec![sum(polynomial).below(Sum::number(0))];
        conditions.extend(facts.iter().map(|fact| Formula::NonNegative(sum(fact))));
        let condition = Formula::All(conditions);
        let parameters: Vec<usize> = (0..monomials.len()).collect();
        let prove = |condition: &Formula<usize>| {
            let is_empty = || Set::of(&parameters, &[], condition)?.is_empty();
            isl::with_operation_budget(DOMAIN_BUDGET, is_empty).unwrap_or(false)
        };
        let mut known = self.0.borrow_mut();
        let proven = known.get(&condition).copied();
        proven.unwrap_or_else(|| {
            let proven = prove(&condition);
            known.insert(condition, proven);
            proven
        })
    }
}

/// A bound that a number of at least zero stays below is itself positive.
fn of_running(bound: &Expression<ValueId>) -> Expression<ValueId> {
    match bound {
        Expression::Maximum(a, b) if b.as_constant().is_some_and(|least| least <= 0) => {
            (**a).clone()
        }
        Expression::Maximum(a, b) if a.as_constant().is_some_and(|least| least <= 0) => {
            (**b).clone()
        }
        other => other.clone(),
    }
}

/// Bounds of the varying scalars of a launch, by the domains of the loops around it, as facts and as
/// conditions that hold in each of its iterations. Only those that a launch can compare.
pub(super) fn bounds(graph: &LaunchGraph, instance: &Instance) -> (Vec<Polynomial>, Vec<Guard>) {
    let domain = Domain::of(graph, graph.nodes[instance.node.0].block);
    let mut values = BTreeSet::new();
    for parameter in instance.inputs(graph) {
        for atom in parameter.atoms() {
            if let Atom::Value(value) = atom {
                values.insert(*value);
            }
        }
    }
    let (mut facts, mut guards) = (Vec::new(), Vec::new());
    for value in values {
        let Some(closed) = graph.iterations.values.get(&value) else {
            continue;
        };
        let Some((least, most)) = interval(graph, closed, &domain) else {
            continue;
        };
        let leaf = || Expression::Leaf(value);
        let conditions = [
            Some(Condition::LessEqual(least, leaf())),
            most.map(|most| Condition::LessEqual(leaf(), most)),
        ];
        for condition in conditions.into_iter().flatten() {
            let Condition::LessEqual(smaller, larger) = &condition else {
                continue;
            };
            let fact = host_polynomial(larger)
                .zip(host_polynomial(smaller))
                .and_then(|(larger, smaller)| larger.subtract(&smaller));
            facts.extend(fact);
            guards.push(Guard::Holds {
                class: String::from("domain"),
                condition,
            });
        }
    }
    (facts, guards)
}

/// Bounds of a sum of multiples of counters; the upper one where all loops are counted.
fn interval(
    graph: &LaunchGraph,
    closed: &Expression<ValueId>,
    domain: &Domain,
) -> Option<(Expression<ValueId>, Option<Expression<ValueId>>)> {
    let polynomial = host_polynomial(closed)?;
    let mut least = Expression::Constant(0);
    let mut most = Some(Expression::Constant(0));
    for (monomial, coefficient) in &polynomial.terms {
        let (low, high) = match monomial.as_slice() {
            [] => (Some(Expression::Constant(1)), Some(Expression::Constant(1))),
            [Atom::Value(value)] => {
                let counters = &graph.iterations.counters;
                match counters.iter().position(|counter| counter == value) {
                    None => {
                        let value = named(graph, &Expression::Leaf(*value));
                        (value.clone(), value)
                    }
                    Some(index) => {
                        let bound = domain.bound(index);
                        let last =
                            bound.map(|bound| of_running(bound).subtract(Expression::Constant(1)));
                        let last = last.and_then(|last| named(graph, &last));
                        (Some(Expression::Constant(0)), last)
                    }
                }
            }
            _ => return None,
        };
        let times = |bound: Expression<ValueId>| bound.multiply(Expression::Constant(*coefficient));
        let (low, high) = match *coefficient > 0 {
            true => (low, high),
            false => (high, low),
        };
        least = least.add(times(low?));
        most = most.zip(high).map(|(most, high)| most.add(times(high)));
    }
    Some((least, most))
}

/// The expression, where a launch takes all its leaves and none is the counter of a loop.
fn named(graph: &LaunchGraph, expression: &Expression<ValueId>) -> Option<Expression<ValueId>> {
    expression.substitute(&mut |value| {
        let host = &graph.values[value.0];
        if let Some(constant) = host.constant {
            return Some(Expression::Constant(constant));
        }
        (host.holder.0 != LaunchId(u32::MAX) && host.varies_in.is_none())
            .then_some(Expression::Leaf(*value))
    })
}
