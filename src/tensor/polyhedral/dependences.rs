//! What isl is told of statements: their instances, and which of these come before which.
//!
//! An instance of a statement is a term of a reduction, or an element. It comes before an instance of a later statement
//! where both touch one element and one of them writes it; and terms of one element come in the order of the indices.

use crate::math::formula::{Formula, Sum};
use crate::math::isl::Set;
use crate::math::isl::schedule::{Constraints, Pairs};
use crate::tensor::points::{self, Condition, Name, Value};
use crate::tensor::program::{Function, Statement};
use crate::tensor::transform::legality::{self, Access};
use std::collections::BTreeMap;

/// Statements that follow each other, and what is known of them.
pub struct Dependences<'f> {
    /// The definition.
    pub function: &'f Function,
    /// The statements.
    pub statements: Vec<&'f Statement>,
    /// What each of them touches.
    pub accesses: Vec<Vec<Access<'f>>>,
    /// By statement; `None` where isl does not say.
    domains: Vec<Option<Set>>,
    /// By pairs of statements, the later one behind; `None` where isl does not say.
    order: BTreeMap<[usize; 2], Option<Set>>,
}

impl<'f> Dependences<'f> {
    /// Asks isl about all pairs of statements.
    pub fn of(function: &'f Function, statements: Vec<&'f Statement>) -> Self {
        let accesses: Vec<Vec<Access<'f>>> = statements
            .iter()
            .map(|statement| legality::accesses(statement))
            .collect();
        let domains = statements.iter().map(|statement| {
            let mut conditions = legality::inside(statement, 0, true);
            conditions.extend(legality::natural_sizes(function));
            for_some_sizes(points::set(&instance(statement, 0), conditions))
        });
        let mut all = Self {
            function,
            domains: domains.collect(),
            statements,
            accesses,
            order: BTreeMap::new(),
        };
        for second in 0..all.statements.len() {
            if let Some(terms) = all.terms(second) {
                all.order.insert([second, second], terms);
            }
            for first in 0..second {
                let pair = [first, second];
                if all.depends(pair) {
                    let order = all.pairs(pair);
                    all.order.insert(pair, order);
                }
            }
        }
        all
    }

    /// Whether two statements touch a tensor that one of them writes.
    pub fn depends(&self, pair: [usize; 2]) -> bool {
        self.meeting(pair).next().is_some()
    }

    /// Accesses of both statements to one tensor, of which at least one writes.
    pub fn meeting(&self, pair: [usize; 2]) -> impl Iterator<Item = [&Access<'f>; 2]> {
        let [first, second] = pair.map(|statement| &self.accesses[statement]);
        first.iter().flat_map(move |one| {
            let others = second.iter().filter(|other| other.tensor == one.tensor);
            let others = others.filter(|other| one.writes || other.writes);
            others.map(move |other| [one, other])
        })
    }

    /// What isl's scheduler is told of some statements; `None` where something is not known.
    pub fn constraints(&self, members: &[usize]) -> Option<Constraints<'_>> {
        let mut constraints = Constraints::default();
        for (to, second) in members.iter().enumerate() {
            constraints.domains.push(self.domains[*second].as_ref()?);
            for (from, first) in members[..=to].iter().enumerate() {
                let pairs = |set| Pairs {
                    from,
                    to,
                    set,
                    split: self.statements[*first].variables.len(),
                };
                if let Some(order) = self.order.get(&[*first, *second]) {
                    constraints.order.push(pairs(order.as_ref()?));
                    // Without sizes, the distance between terms has no bound, which isl asks for.
                    if from != to {
                        constraints.proximity.push(pairs(order.as_ref()?));
                    }
                }
            }
        }
        Some(constraints)
    }

    /// Pairs of instances that touch one element.
    fn pairs(&self, pair: [usize; 2]) -> Option<Set> {
        let statements = pair.map(|statement| self.statements[statement]);
        let both = [instance(statements[0], 0), instance(statements[1], 1)].concat();
        let mut all: Option<Set> = None;
        for [one, other] in self.meeting(pair) {
            let touched = [(statements[0], one), (statements[1], other)];
            let mut conditions = legality::meeting(self.function, touched);
            for (number, statement) in statements.iter().enumerate() {
                conditions.extend(legality::inside(statement, number, true));
            }
            let set = points::set(&both, conditions)?;
            all = Some(match all {
                Some(others) => others.union(&set).ok()?,
                None => set,
            });
        }
        for_some_sizes(all)
    }

    /// Pairs of terms of one element, where a statement has several.
    fn terms(&self, number: usize) -> Option<Option<Set>> {
        let statement = self.statements[number];
        let index = |instance, index| Value::name(Name::Index(instance, index));
        let same = |number| index(0, number).is(Sum::equal, &index(1, number));
        let mut equal: Vec<Condition> = statement.free().map(same).collect();
        let mut later = Vec::new();
        for number in statement.reduced() {
            let mut case = equal.clone();
            case.push(index(0, number).is(Sum::below, &index(1, number)));
            later.push(Formula::All(case));
            equal.push(same(number));
        }
        if later.is_empty() {
            return None;
        }
        let mut conditions = vec![Formula::Any(later)];
        for instance in 0..2 {
            conditions.extend(legality::inside(statement, instance, true));
        }
        conditions.extend(legality::natural_sizes(self.function));
        let both = [instance(statement, 0), instance(statement, 1)].concat();
        Some(for_some_sizes(points::set(&both, conditions)))
    }
}

fn for_some_sizes(set: Option<Set>) -> Option<Set> {
    set?.project_out_parameters().ok()
}

/// The dimensions of an instance.
fn instance(statement: &Statement, number: usize) -> Vec<Name> {
    let indices = 0..statement.variables.len();
    indices.map(|index| Name::Index(number, index)).collect()
}
