//! Two targets of two launches at a known distance -> their edges, by what kernels of one structure
//! share.
//!
//! Invariant: a decision depends on nothing that [`Structure`] does not hold.

use super::super::decision::{Decision, add_guards};
use super::super::describe;
use super::super::disjoint_rows;
use super::super::edges::{
    Answer, Builder, Compared, Decisions, Question, Run, disjoint_while, relied_on,
};
use super::super::instance::{Instance, TargetUse};
use super::super::iteration::{Later, bounds};
use super::super::kinds::sides;
use super::super::pair::{
    PairOfTargets, ShapeEquality, block_equality, shape_equality, shape_on_sink_side,
};
use super::super::polynomial::Polynomial;
use super::super::relation::{Shape, Solver};
use super::super::renaming::{Likeness, Renaming, Template};
use super::super::sizes;
use super::super::{DependenceKind, Edge, Guard, Scope};
use crate::diagnostics::RejectionReason;
use crate::launch::ValueId;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// All that is decided about two targets depends on: kernels of one structure share it.
#[derive(PartialEq, Eq, Hash)]
pub(in crate::dependence) struct Structure {
    /// Numbers of the two uses by [`Builder::form`].
    forms: [usize; 2],
    distance: Polynomial,
    run: Run,
}

/// Whether some accesses meet across blocks.
fn is_global(decision: &Decision) -> bool {
    match decision {
        Decision::Meet(meeting) => meeting.scope == Scope::Global,
        Decision::TooMany | Decision::DisjointIf(_) => false,
    }
}

impl Builder<'_> {
    /// The edges between two targets at a known distance.
    pub(in crate::dependence) fn precise_edges(
        &mut self,
        ends: (&Instance, &Instance, &TargetUse, &TargetUse),
        question: &Question,
        compared: &Compared<impl Fn(ValueId) -> bool>,
    ) -> Vec<Answer> {
        let (source, sink, from, to) = ends;
        let structure = Structure {
            forms: [
                self.form(source, from, question.alike[0], question.uses[0]),
                self.form(sink, to, question.alike[1], question.uses[1]),
            ],
            distance: question.distance.clone(),
            run: question.run,
        };
        let decisions = match self.decisions.get(&structure) {
            Some(known) => Rc::clone(known),
            None => {
                let decided = self.decide_or_take_over(ends, &structure, compared);
                self.decisions.insert(structure, Rc::clone(&decided));
                decided
            }
        };
        let decisions = decisions.iter();
        decisions
            .map(|(kind, decision)| self.answer(ends, *kind, decision, compared.run))
            .collect()
    }

    /// What was decided about two other targets, where these look alike; or what is decided about these.
    fn decide_or_take_over(
        &mut self,
        ends: (&Instance, &Instance, &TargetUse, &TargetUse),
        structure: &Structure,
        compared: &Compared<impl Fn(ValueId) -> bool>,
    ) -> Decisions {
        // Written relations have names of their own.
        let likeness = match self.solver.writes_relations() {
            true => None,
            false => {
                let [source, sink] = structure.forms.map(|form| &self.templates[form]);
                Likeness::of(
                    self.graph,
                    [ends.0, ends.1],
                    [(source.0, &source.1), (sink.0, &sink.1)],
                    &structure.distance,
                    compared,
                )
            }
        };
        let known = likeness.as_ref().and_then(|(likeness, names)| {
            let (others, decided) = self.likenesses.get(likeness)?;
            let renaming = Renaming::between(others, names);
            let decided = decided.iter();
            let renamed = decided.map(|(kind, decision)| {
                let renamed = renaming.decision(decision)?;
                Some((*kind, renamed))
            });
            renamed.collect::<Option<Decisions>>()
        });
        if let Some(known) = known {
            return known;
        }
        let decided: Decisions = self.decide(ends, &structure.distance, compared).into();
        self.dependences.effort.decisions += 1;
        if let Some((likeness, names)) = likeness {
            let decided = Rc::clone(&decided);
            self.likenesses.insert(likeness, (names, decided));
        }
        decided
    }

    /// What the accesses of two targets say, for each kind of conflict that there is.
    fn decide(
        &mut self,
        (source, sink, from, to): (&Instance, &Instance, &TargetUse, &TargetUse),
        distance: &Polynomial,
        compared: &Compared<impl Fn(ValueId) -> bool>,
    ) -> Vec<(DependenceKind, Decision)> {
        let later = compared.later;
        let unstable = |value: ValueId| !(compared.stable)(value);
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
        // The sink's values when its shape is another one, such as the source's.
        let assumed = |equality: &ShapeEquality, shape: &Shape| -> Option<Vec<_>> {
            let unknown = matches!(equality, ShapeEquality::If(_));
            let parameters = unknown.then(|| sink.parameters(self.graph, shape));
            parameters.map(|parameters| parameters.iter().map(in_sink).collect())
        };
        let assumed_parameters = assumed(&equality, &source.shape);
        let conditions = relied_on(source, sink, later);
        let pair = PairOfTargets {
            source,
            sink,
            distance,
            facts: &facts,
            source_parameters: &source_parameters,
            sink_parameters: &sink_parameters,
            sink_shape: &sink_shape,
            assumed_source: None,
            assumed_parameters: assumed_parameters.as_deref(),
            assumed_shape: &source.shape,
            equality: &equality,
            conditions: &conditions,
            one_iteration: later.is_none(),
        };
        // Within one iteration the domains of loops are guards, so that whoever fuses can rely on
        // them without knowing them.
        let mut bounded_facts = facts.clone();
        let mut bounded_conditions = conditions.clone();
        if let Run::Bounded(..) = compared.run {
            let (of_source, guards) = bounds(self.graph, source);
            add_guards(&mut bounded_conditions, &guards);
            bounded_facts.holding.extend(of_source);
            let (of_sink, guards) = bounds(self.graph, sink);
            add_guards(&mut bounded_conditions, &guards);
            bounded_facts.holding.extend(of_sink.iter().map(in_sink));
        }
        let has_bounds = bounded_conditions.len() > conditions.len();
        // A block of the one is the block of that number of the other, where both have it: the grids
        // need not be equal, so that is tried first.
        let of_blocks = block_equality(source, &sink_shape);
        let own_grid = Shape {
            grid: sink_shape.grid.clone(),
            block: source.shape.block.clone(),
        };
        let own_grid_parameters = assumed(&of_blocks, &own_grid);
        let grids_differ = matches!(equality, ShapeEquality::If(_)) && own_grid != source.shape;
        let clipped = (grids_differ && later.is_none()).then_some(PairOfTargets {
            assumed_parameters: own_grid_parameters.as_deref(),
            assumed_shape: &own_grid,
            equality: &of_blocks,
            ..pair
        });
        // Rows that are taken to be disjoint.
        let mut row_facts = facts.clone();
        let mut row_conditions = conditions.clone();
        if later.is_none() {
            let sides = [
                (source, from, source_parameters.as_slice()),
                (sink, to, sink_parameters.as_slice()),
            ];
            for (fact, guard) in disjoint_rows::facts(sides) {
                row_facts.holding.push(fact);
                add_guards(&mut row_conditions, &[guard]);
            }
        }
        // What sizes are taken to be equal, the sink's values then, and what it relies on.
        let shape_guards = match &equality {
            ShapeEquality::Always => Some(Vec::new()),
            ShapeEquality::If(guards) => Some(guards.clone()),
            ShapeEquality::Never => None,
        };
        let tried = shape_guards.filter(|_| later.is_none()).map(|shapes| {
            let likely = sizes::candidates(
                (source, from, &source_parameters),
                (sink, to, &sink_parameters),
            );
            let likely = likely.into_iter().filter_map(|sizes| {
                let own = assumed_parameters.as_ref().unwrap_or(&sink_parameters);
                let parameters = own.iter().map(|value| sizes.applied(value));
                let parameters: Vec<_> = parameters.collect::<Option<_>>()?;
                let of_source = source_parameters.iter().map(|value| sizes.applied(value));
                let of_source: Vec<_> = of_source.collect::<Option<_>>()?;
                let guards = [&shapes[..], &sizes.guards].concat();
                Some((of_source, parameters, ShapeEquality::If(guards)))
            });
            likely.collect::<Vec<_>>()
        });
        let tried = tried.unwrap_or_default();
        let kinds = [
            DependenceKind::Flow,
            DependenceKind::Anti,
            DependenceKind::Output,
            DependenceKind::Reduction,
        ];
        let decisions = kinds.into_iter().filter_map(|kind| {
            let sides = sides(kind, from, to);
            let decide = |solver: &mut Solver, pair: &PairOfTargets| {
                let bounded = PairOfTargets {
                    facts: &bounded_facts,
                    conditions: &bounded_conditions,
                    ..*pair
                };
                let bounded = has_bounds.then_some(&bounded);
                pair.decide_within(bounded, solver, kind, sides)
            };
            if let Some(clipped) = &clipped {
                match decide(&mut self.solver, clipped) {
                    Some(Decision::Meet(meeting)) if meeting.scope == Scope::Global => {}
                    decision => return Some((kind, decision?)),
                }
            }
            let mut decision = decide(&mut self.solver, &pair)?;
            if is_global(&decision) {
                let of_rows = PairOfTargets {
                    facts: &row_facts,
                    conditions: &row_conditions,
                    ..pair
                };
                let has_rows = row_conditions.len() > conditions.len();
                // Launches of other blocks may have the same rows in the same ones.
                if has_rows
                    && let Decision::Meet(plain) = &mut decision
                    && plain.mapped.is_none()
                    && !matches!(equality, ShapeEquality::Always)
                {
                    let (left, right) = sides;
                    let widest = (
                        &source.model.accesses[left[plain.widest[0]]],
                        &sink.model.accesses[right[plain.widest[1]]],
                    );
                    plain.mapped =
                        of_rows.mapped_from_global(&mut self.solver, kind, sides, widest);
                }
                if has_rows
                    && let Some(Decision::Meet(mut better)) =
                        of_rows.decide_all(&mut self.solver, kind, sides)
                    && better.scope < Scope::Global
                    && let Decision::Meet(plain) = &decision
                {
                    better.mapped.clone_from(&plain.mapped);
                    better.array.clone_from(&plain.array);
                    return Some((kind, Decision::Meet(better)));
                }
                for (of_source, parameters, equality) in &tried {
                    let of_sizes = PairOfTargets {
                        assumed_source: Some(of_source),
                        assumed_parameters: Some(parameters),
                        equality,
                        ..pair
                    };
                    if let (Some(Decision::Meet(mut better)), Decision::Meet(plain)) =
                        (decide(&mut self.solver, &of_sizes), &decision)
                        && better.scope < Scope::Global
                    {
                        better.mapped.clone_from(&plain.mapped);
                        better.array.clone_from(&plain.array);
                        return Some((kind, Decision::Meet(better)));
                    }
                }
            }
            Some((kind, decision))
        });
        decisions.collect()
    }

    /// A decision with the names and places of two launches.
    fn answer(
        &self,
        (source, sink, from, to): (&Instance, &Instance, &TargetUse, &TargetUse),
        kind: DependenceKind,
        decision: &Decision,
        run: Run,
    ) -> Answer {
        let names = (
            &source.model.display_name,
            &sink.model.display_name,
            &to.place.name,
        );
        let carried = run.is_carried();
        let widest = |because: String, absent_if: &[Guard]| {
            let because = (because.into(), RejectionReason::UnprovenIndex);
            let ends = (source, sink, from, to);
            Answer {
                edge: self.widest(ends, kind, because, absent_if.to_vec(), carried),
                absent_when_disjoint: false,
            }
        };
        let meeting = match decision {
            Decision::TooMany => {
                let (one, two, buffer) = names;
                let because =
                    format!("`{one}` and `{two}` access `{buffer}` in too many ways to compare");
                return widest(because, &[]);
            }
            Decision::DisjointIf(guards) => {
                return widest(disjoint_while(source, sink, to), guards);
            }
            Decision::Meet(meeting) => meeting,
        };
        let (left, right) = sides(kind, from, to);
        let accesses = (
            &source.model.accesses[left[meeting.widest[0]]],
            &sink.model.accesses[right[meeting.widest[1]]],
        );
        let mut because = match meeting.reason {
            RejectionReason::Shape if meeting.scope == Scope::Global => {
                describe::different_shapes(source.model, sink.model)
            }
            _ if kind == DependenceKind::Reduction => {
                describe::reductions(source.model, sink.model, accesses.0, &to.place.name)
            }
            _ => describe::accesses(
                source.model,
                sink.model,
                accesses,
                &to.place.name,
                meeting.scope,
            ),
        };
        if meeting.gave_up && !because.is_empty() {
            because.push_str("; comparing all accesses was given up as too long");
        }
        let shapes = [&source.shape, &meeting.sink_shape];
        let example = meeting.example.as_ref();
        let place = (&to.place, carried);
        let witness = (meeting.scope != Scope::Thread)
            .then(|| describe::witness(self.graph, accesses, shapes, place, example));
        Answer {
            edge: Edge {
                source: source.node,
                sink: sink.node,
                buffer: to.place.name.clone(),
                kind,
                scope: meeting.scope,
                relation: meeting.relation.clone(),
                exact: meeting.exact,
                certain: meeting.certain,
                values_differ: meeting.values_differ,
                conditions: meeting.conditions.clone(),
                absent_if: meeting.absent_if.clone(),
                carried: false,
                distances: Vec::new(),
                because: because.into(),
                reason: (meeting.scope == Scope::Global).then_some(meeting.reason),
                location: accesses.1.location.clone(),
                witness: witness.map(Box::new),
                mapped: meeting.mapped.clone().map(Box::new),
                array: meeting.array.clone().map(Box::new),
                tiling: meeting.tiling.clone().map(Box::new),
            },
            absent_when_disjoint: meeting.absent_when_disjoint,
        }
    }

    /// The number of a launch's use among those that the same is decided about: what is computed
    /// of a pair of uses may depend on nothing else.
    fn form(
        &mut self,
        instance: &Instance,
        used: &TargetUse,
        alike: usize,
        position: usize,
    ) -> usize {
        if let Some(known) = self.form_of.get(&(alike, position)) {
            return *known;
        }
        let model = instance.model;
        let accesses = |list: &[usize]| -> Vec<_> {
            let list = list.iter().map(|index| &model.accesses[*index]);
            list.map(|access| {
                let (kind, size_bytes) = (access.kind, access.size_bytes);
                let (subscript, domain) = (&access.subscript, &access.domain);
                (kind, subscript, size_bytes, domain, access.exact)
            })
            .collect()
        };
        let text = format!(
            "{:?}",
            (
                accesses(&used.reads),
                accesses(&used.writes),
                &model.products,
                &model.parameters,
                self.own_parameters(instance),
                instance.inputs(self.graph),
                &instance.shape,
                &instance.facts,
                &instance.conditions,
            )
        );
        let next = self.forms.len();
        let number = match self.forms.entry(text) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let template = Template::of(new.key());
                let other = self.template_numbers.len();
                let numbers = &mut self.template_numbers;
                let of_template = *numbers.entry(template.text).or_insert(other);
                self.templates.push((of_template, template.names));
                *new.insert(next)
            }
        };
        self.form_of.insert((alike, position), number);
        number
    }
}
