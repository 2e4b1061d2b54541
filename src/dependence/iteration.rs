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
use crate::expression::{Condition, Expression};
use crate::isl::{self, Set};
use crate::launch::{self, HostBlockId, LaunchGraph, LaunchId, Root, ValueId};
use std::collections::BTreeSet;

/// Budget of one isl call about domains.
const DOMAIN_BUDGET: u64 = 20_000;

/// One iteration of a loop and a later one.
pub(super) struct Later<'a> {
    graph: &'a LaunchGraph,
    carrying: usize,
    /// The loops around it.
    outside: Vec<usize>,
    /// The blocks of source and sink.
    blocks: [HostBlockId; 2],
    /// Extents of the two launches, which keep their names.
    extents: BTreeSet<ValueId>,
}

impl<'a> Later<'a> {
    /// Of two launches in the loop.
    pub(super) fn new(
        graph: &'a LaunchGraph,
        carrying: usize,
        source: &Instance,
        sink: &Instance,
    ) -> Self {
        let mut outside = Vec::new();
        let mut next = graph.loops[carrying].parent;
        while let Some(index) = next.filter(|index| !outside.contains(index)) {
            outside.push(index);
            next = graph.loops[index].parent;
        }
        let launches = [source.launch, sink.launch];
        let extents = launches.map(|launch| launch.grid.into_iter().chain(launch.block));
        Self {
            graph,
            carrying,
            outside,
            blocks: [source, sink].map(|instance| graph.nodes[instance.node.0].block),
            extents: extents.into_iter().flatten().collect(),
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
        let mut facts = Vec::new();
        for index in self.graph.loops_around(self.blocks[side]) {
            facts.extend(domain(self.graph, index, self.blocks[side]));
        }
        let holds = |guard: &Guard| match guard {
            Guard::Holds { condition, .. } => self.follows(&facts, condition),
            Guard::RangesDisjoint { .. }
            | Guard::SameOrDisjoint { .. }
            | Guard::ConfigurationValid { .. }
            | Guard::NotCapturing { .. }
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
            difference(larger, smaller).is_some_and(|slack| is_never_negative(&slack, facts))
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
        for (side, block) in self.blocks.into_iter().enumerate() {
            let mut of_side = Vec::new();
            for index in self.graph.loops_around(block) {
                of_side.extend(domain(self.graph, index, block));
            }
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

/// Whether a polynomial is at least zero wherever the facts are. False when that is not found out.
fn is_never_negative(polynomial: &Polynomial, facts: &[Polynomial]) -> bool {
    if let Some(value) = polynomial.as_constant() {
        return value >= 0;
    }
    let mut monomials: Vec<Monomial> = Vec::new();
    let mut text = |polynomial: &Polynomial| -> String {
        let mut parts = vec![String::from("0")];
        for (monomial, coefficient) in polynomial.terms.iter() {
            let known = monomials.iter().position(|known| known == monomial);
            parts.push(match (monomial.is_empty(), known) {
                (true, _) => coefficient.to_string(),
                (false, Some(index)) => format!("{coefficient}*p{index}"),
                (false, None) => {
                    monomials.push(monomial.clone());
                    format!("{coefficient}*p{}", monomials.len() - 1)
                }
            });
        }
        parts.join(" + ")
    };
    let mut constraints = vec![format!("{} <= -1", text(polynomial))];
    constraints.extend(facts.iter().map(|fact| format!("{} >= 0", text(fact))));
    let names: Vec<_> = (0..monomials.len()).map(|n| format!("p{n}")).collect();
    let set = format!(
        "[{}] -> {{ [] : {} }}",
        names.join(", "),
        constraints.join(" and ")
    );
    isl::with_operation_budget(DOMAIN_BUDGET, || Set::parse(&set)?.is_empty()).unwrap_or(false)
}

/// What an operation in `block` may take for granted of the counter of a loop around it.
fn domain(graph: &LaunchGraph, index: usize, block: HostBlockId) -> Vec<Polynomial> {
    let Some(counter) = graph.iterations.counters.get(index) else {
        return Vec::new();
    };
    let counter = Polynomial::atom(Atom::Value(*counter));
    let mut facts = vec![counter.clone()];
    if let Some(bound) = graph.counter_bound(index, block) {
        let last = host_polynomial(&of_running(&bound))
            .and_then(|bound| bound.subtract(&Polynomial::constant(1)));
        facts.extend(last.and_then(|last| last.subtract(&counter)));
    }
    facts
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
    let block = graph.nodes[instance.node.0].block;
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
        let Some((least, most)) = interval(graph, closed, block) else {
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
    block: HostBlockId,
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
                        let around = graph.loops_around(block).contains(&index);
                        let bound = graph.counter_bound(index, block).filter(|_| around);
                        let last =
                            bound.map(|bound| of_running(&bound).subtract(Expression::Constant(1)));
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
        (host.witness.0 != LaunchId(u32::MAX) && host.varies_in.is_none())
            .then_some(Expression::Leaf(*value))
    })
}
