//! Two targets of two launches at a known distance -> an edge for each kind of conflict.
//!
//! Invariant: an edge holds every pair that conflicts while its conditions hold. Where an absence
//! relies on conditions, an edge stays that they make absent.

use super::edges::{Answer, Builder};
use super::instance::{Instance, TargetUse};
use super::iteration::{Later, bounds};
use super::mapped::mapped_width;
use super::pair::{PairOfTargets, ShapeEquality, shape_equality, shape_on_sink_side};
use super::polynomial::Polynomial;
use super::relation::{unite_relations, universal_relation};
use super::{DependenceKind, Edge, Guard, Width, describe};
use crate::diagnostics::RejectionReason;
use crate::kernel::Access;
use crate::launch::ValueId;

/// Most pairs of accesses that one pair of targets is decided by.
const MOST_ACCESS_PAIRS: usize = 900;
/// After this many pairs a global width ends the search.
const ENOUGH_ACCESS_PAIRS: usize = 64;

/// The verdict over all access pairs of one kind.
struct Merged<'a> {
    /// `None` while no pair conflicts.
    width: Option<Width>,
    relation: String,
    exact: bool,
    widest: (&'a Access, &'a Access),
    assumed: Vec<Guard>,
    /// Some pair is known to cross blocks, rather than not known to stay in one.
    proven_global: bool,
    /// Some pair does not conflict only because the shapes were taken to be equal.
    absence_needs_shape: bool,
}

impl Builder<'_> {
    /// The edges between two targets at a known distance.
    pub(super) fn precise_edges(
        &mut self,
        (source, sink, from, to): (&Instance, &Instance, &TargetUse, &TargetUse),
        distance: &Polynomial,
        (carried, later): (bool, Option<&Later>),
        stable: &impl Fn(ValueId) -> bool,
    ) -> Vec<Answer> {
        let unstable = |value: ValueId| !stable(value);
        let sink_shape = shape_on_sink_side(&sink.shape, &unstable);
        let equality = shape_equality(source, &sink_shape);
        let in_source = |value: &Polynomial| match later {
            Some(later) => later.closed(value),
            None => value.clone(),
        };
        let in_sink = |value: &Polynomial| in_source(value).on_sink_side(&unstable);
        let mut facts = later.map(Later::facts).unwrap_or_default();
        facts.holding.extend(source.facts.iter().map(in_source));
        facts.holding.extend(sink.facts.iter().map(in_sink));
        let source_parameters = self.own_parameters(source);
        let source_parameters: Vec<_> = source_parameters.iter().map(in_source).collect();
        let sink_parameters = self.own_parameters(sink);
        let sink_parameters: Vec<_> = sink_parameters.iter().map(in_sink).collect();
        // The sink's values when its shape is the source's.
        let assumed_parameters: Option<Vec<_>> = match &equality {
            ShapeEquality::If(_) => {
                let assumed = sink.parameters(self.graph, &source.shape);
                Some(assumed.iter().map(in_sink).collect())
            }
            _ => None,
        };
        // Within one iteration the domains of loops are guards, so that whoever fuses can rely on
        // them without knowing them.
        let mut bounded_facts = facts.clone();
        let mut domain = Vec::new();
        if later.is_none() {
            let (of_source, mut guards) = bounds(self.graph, source);
            let (of_sink, more) = bounds(self.graph, sink);
            bounded_facts.holding.extend(of_source);
            let of_sink = of_sink.iter().map(|fact| fact.on_sink_side(&unstable));
            bounded_facts.holding.extend(of_sink);
            add_guards(&mut guards, &more);
            domain = guards;
        }
        let pair = PairOfTargets {
            source,
            sink,
            carried,
            to,
            distance,
            facts: &facts,
            source_parameters: &source_parameters,
            sink_parameters: &sink_parameters,
            sink_shape: &sink_shape,
            assumed_parameters: assumed_parameters.as_deref(),
            equality: &equality,
        };
        let bounded = PairOfTargets {
            facts: &bounded_facts,
            ..pair
        };
        let relied_on = match later {
            None => united(&source.conditions, &sink.conditions),
            Some(later) => {
                let mut open = later.open(0, &source.conditions);
                add_guards(&mut open, &later.open(1, &sink.conditions));
                open
            }
        };
        let conflicts = [
            (DependenceKind::Flow, &from.writes, &to.reads),
            (DependenceKind::Anti, &from.reads, &to.writes),
            (DependenceKind::Output, &from.writes, &to.writes),
        ];
        let mut answers = Vec::new();
        for (kind, left, right) in conflicts {
            if left.is_empty() || right.is_empty() {
                continue;
            }
            let accesses = (left.as_slice(), right.as_slice());
            if left.len() * right.len() > MOST_ACCESS_PAIRS {
                let because = format!(
                    "`{}` and `{}` access `{}` in too many ways to compare",
                    source.model.display_name, sink.model.display_name, to.place.name
                );
                let because = (because, RejectionReason::UnprovenIndex);
                answers.push(Answer {
                    edge: self.widest(source, sink, to, kind, because, Vec::new()),
                    absent_when_apart: false,
                });
                continue;
            }
            let merged = self.merge(&pair, accesses);
            if domain.is_empty() || merged.width.is_none() {
                answers.extend(self.edge(&pair, kind, accesses, merged, &relied_on, later));
                continue;
            }
            let narrower = self.merge(&bounded, accesses);
            let with_domain = united(&relied_on, &domain);
            if narrower.width.is_none() {
                let mut absent_if = with_domain;
                if narrower.absence_needs_shape
                    && let ShapeEquality::If(conditions) = pair.equality
                {
                    add_guards(&mut absent_if, conditions);
                }
                let answer = self.edge(&pair, kind, accesses, merged, &relied_on, later);
                answers.extend(answer.map(|mut answer| {
                    answer.edge.absent_if = absent_if;
                    answer.absent_when_apart = false;
                    answer
                }));
            } else if narrower.width < merged.width {
                let on = &with_domain;
                answers.extend(self.edge(&bounded, kind, accesses, narrower, on, later));
            } else {
                answers.extend(self.edge(&pair, kind, accesses, merged, &relied_on, later));
            }
        }
        answers
    }

    /// All pairs of accesses decided.
    fn merge<'p>(
        &mut self,
        pair: &PairOfTargets<'p>,
        (left, right): (&[usize], &[usize]),
    ) -> Merged<'p> {
        let (source, sink) = (pair.source, pair.sink);
        let mut merged = Merged {
            width: None,
            relation: String::new(),
            exact: true,
            widest: (
                &source.model.accesses[left[0]],
                &sink.model.accesses[right[0]],
            ),
            assumed: Vec::new(),
            proven_global: false,
            absence_needs_shape: false,
        };
        let mut compared = 0;
        for &a in left {
            for &b in right {
                compared += 1;
                let accesses = (&source.model.accesses[a], &sink.model.accesses[b]);
                let verdict = pair.decide(&mut self.solver, accesses);
                merged.absence_needs_shape |= verdict.absence_needs_shape;
                let Some(width) = verdict.conflict.width else {
                    continue;
                };
                let certain = width == Width::Global && verdict.conflict.proven;
                if merged.width < Some(width) || certain && !merged.proven_global {
                    merged.widest = accesses;
                }
                let united = merged.width.map_or(width, |known| known.max(width));
                merged.proven_global |= certain;
                merged.exact &= verdict.conflict.exact;
                add_guards(&mut merged.assumed, &verdict.assumed);
                merged.relation = match merged.width {
                    None => verdict.conflict.relation,
                    Some(_) => {
                        let more = &verdict.conflict.relation;
                        let (relation, exact) = unite_relations(&merged.relation, more, united);
                        merged.exact &= exact;
                        relation
                    }
                };
                merged.width = Some(united);
                if united == Width::Global && compared >= ENOUGH_ACCESS_PAIRS {
                    merged.relation = universal_relation(Width::Global);
                    merged.exact = false;
                    return merged;
                }
            }
        }
        merged
    }

    /// The edge of a verdict that relies on some conditions.
    fn edge(
        &mut self,
        pair: &PairOfTargets,
        kind: DependenceKind,
        accesses: (&[usize], &[usize]),
        mut merged: Merged,
        relied_on: &[Guard],
        later: Option<&Later>,
    ) -> Option<Answer> {
        let (source, sink) = (pair.source, pair.sink);
        let mut conditions = relied_on.to_vec();
        let Some(width) = merged.width else {
            if merged.absence_needs_shape
                && let ShapeEquality::If(equal) = pair.equality
            {
                add_guards(&mut conditions, equal);
            }
            if conditions.is_empty() {
                return None;
            }
            let because = format!(
                "`{}` and `{}` are apart in `{}` only while indices do not wrap",
                source.model.display_name, sink.model.display_name, pair.to.place.name
            );
            let because = (because, RejectionReason::UnprovenIndex);
            return Some(Answer {
                edge: self.widest(source, sink, pair.to, kind, because, conditions),
                absent_when_apart: false,
            });
        };
        let mut absent_when_apart = false;
        if width == Width::Global {
            absent_when_apart = may_be_apart(pair);
            conditions.clear();
            // The pairs were found for equal shapes, which nothing promises of a global edge.
            if matches!(pair.equality, ShapeEquality::If(_)) {
                merged.relation = universal_relation(Width::Global);
                merged.exact = false;
            }
        } else {
            add_guards(&mut conditions, &merged.assumed);
            if let ShapeEquality::If(equal) = pair.equality {
                add_guards(&mut conditions, equal);
            }
        }
        let reason = match pair.equality {
            ShapeEquality::Never => RejectionReason::Shape,
            _ if merged.proven_global => RejectionReason::GlobalDependence,
            _ => RejectionReason::UnprovenIndex,
        };
        let name = &pair.to.place.name;
        let because = match pair.equality {
            ShapeEquality::Never if width == Width::Global => {
                describe::different_shapes(source.model, sink.model)
            }
            _ => describe::accesses(source.model, sink.model, merged.widest, name, width),
        };
        let example = pair.example(&mut self.solver, merged.widest, width);
        let witness = pair.witness(self.graph, merged.widest, width, example.as_ref());
        // A map speaks of places in one fused launch, which two iterations do not share.
        let mapped = match later {
            Some(_) => None,
            None => {
                let solver = &mut self.solver;
                let example = example.as_ref();
                mapped_width(pair, solver, accesses, merged.widest, width, example)
            }
        };
        let edge = Edge {
            source: source.node,
            sink: sink.node,
            buffer: name.clone(),
            kind,
            width,
            relation: merged.relation,
            exact: merged.exact,
            conditions,
            absent_if: Vec::new(),
            carried: false,
            distances: Vec::new(),
            because,
            reason: (width == Width::Global).then_some(reason),
            location: merged.widest.1.location.clone(),
            witness,
            mapped,
        };
        Some(Answer {
            edge,
            absent_when_apart,
        })
    }
}

/// Whether ranges that only a run knows may keep two targets apart.
fn may_be_apart(pair: &PairOfTargets) -> bool {
    pair.distance.as_constant().is_none()
}

fn united(left: &[Guard], right: &[Guard]) -> Vec<Guard> {
    let mut all = left.to_vec();
    add_guards(&mut all, right);
    all
}

fn add_guards(guards: &mut Vec<Guard>, more: &[Guard]) {
    for guard in more {
        if !guards.contains(guard) {
            guards.push(guard.clone());
        }
    }
}
