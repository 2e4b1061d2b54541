//! Path conditions with their obligations discharged: the domain of each block.
//!
//! Facts are discharged in the order in which the machine tests them, each where the facts before
//! it hold, so that a wrapped comparison can never justify itself. A fact whose obligations cannot
//! be discharged is left out, which makes the domain larger.

use super::super::KernelSymbol;
use super::super::body::{BlockRef, Body};
use super::super::cfg::Flow;
use super::super::path_conditions::{Fact, PathCondition, PathConditions};
use super::super::polynomial::Polynomial;
use super::super::ranges::{Context, discharge, previous, upper};
use super::super::space::Space;
use super::super::walk::Obligation;
use crate::math::affine::{Affine, Constraint, Constraints, Variable};
use crate::math::expression::{Condition, Expression};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Conditions, each once.
pub type Conditions = Vec<Condition<KernelSymbol>>;

/// The instances that may execute a block.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Conjunctions of tested constraints.
    pub disjuncts: Vec<Vec<Constraint>>,
    /// Loops around, outermost first.
    pub loops: Vec<usize>,
    /// What the constraints rest on.
    pub conditions: Conditions,
    /// Exactly the instances that execute it.
    pub exact: bool,
    /// When not exact, why.
    pub why: &'static str,
}

/// What is known at the end of each iteration of a loop that is not the last.
#[derive(Clone, Debug, Default)]
struct Continuation {
    /// Constraints that held, each of which has then held in all iterations before.
    held: Vec<Constraint>,
    /// Nothing else decides whether the loop goes on.
    exact: bool,
    /// What `held` rests on.
    conditions: Conditions,
}

/// A domain of as many conjunctions is narrowed no further: each of several choices would double it again.
const MOST_CASES: usize = 32;

/// Domains of a body's blocks, computed on demand.
pub struct Domains<'a> {
    flow: &'a Flow,
    /// Path conditions.
    pub path_conditions: PathConditions<'a>,
    continuations: HashMap<usize, Continuation>,
    blocks: HashMap<BlockRef, Domain>,
}

impl<'a> Domains<'a> {
    /// Nothing computed yet.
    pub fn new(body: &'a Body, flow: &'a Flow, changed_arguments: &'a BTreeSet<usize>) -> Self {
        Self {
            flow,
            path_conditions: PathConditions::new(body, flow, changed_arguments),
            continuations: HashMap::new(),
            blocks: HashMap::new(),
        }
    }

    /// The domain of a block.
    pub fn block(&mut self, space: &mut Space, block: BlockRef) -> Domain {
        if let Some(known) = self.blocks.get(&block) {
            return known.clone();
        }
        let loops = self.flow.loops_of(block);
        let domain = self.node(space, &loops, block);
        self.blocks.insert(block, domain.clone());
        domain
    }

    /// What is known in one disjunct of a domain.
    pub fn context(&self, loops: &[usize], facts: &[Constraint]) -> Context {
        Context {
            facts: facts.to_vec(),
            loops: loops
                .iter()
                .map(|index| {
                    let held = self.continuations.get(index).map(|each| each.held.clone());
                    (*index, held.unwrap_or_default())
                })
                .collect(),
        }
    }

    /// Narrows a domain by further facts, tested in the block itself; not where that makes too many cases of it.
    pub fn narrow(&self, space: &Space, domain: &Domain, by: &PathCondition) -> Domain {
        if domain.disjuncts.len() * by.disjuncts.len() > MOST_CASES {
            let why = match domain.exact {
                true => "its condition has too many cases",
                false => domain.why,
            };
            return Domain {
                exact: false,
                why,
                ..domain.clone()
            };
        }
        let mut result = Domain {
            disjuncts: Vec::new(),
            exact: domain.exact && by.exact,
            why: if domain.exact { by.why } else { domain.why },
            ..domain.clone()
        };
        for known in &domain.disjuncts {
            for facts in &by.disjuncts {
                let mut all = known.clone();
                for fact in facts {
                    self.test(space, fact, &mut all, &mut result);
                }
                // What can never be in mathematical integers could be after a wrap, which the
                // conditions taken on above exclude.
                let first_new = known.len().min(all.len());
                if !all[first_new..].iter().any(|fact| never_holds(space, fact)) {
                    result.disjuncts.push(all);
                }
            }
        }
        result
    }

    /// Adds a fact to a conjunction if its obligations can be met.
    fn test(&self, space: &Space, fact: &Fact, known: &mut Vec<Constraint>, into: &mut Domain) {
        if fact.obligations.is_empty() {
            if !known.contains(&fact.constraint) {
                known.push(fact.constraint.clone());
            }
            return;
        }
        let depth = fact.depth.min(into.loops.len());
        let context = self.context(&into.loops[..depth], known);
        match discharge_all(space, &fact.obligations, &context) {
            Some(conditions) => {
                merge(&mut into.conditions, conditions);
                if !known.contains(&fact.constraint) {
                    known.push(fact.constraint.clone());
                }
            }
            None => {
                into.exact = false;
                into.why = "its condition may wrap around";
            }
        }
    }

    /// The domain of a node of the level inside `loops`.
    fn node(&mut self, space: &mut Space, loops: &[usize], block: BlockRef) -> Domain {
        let mut domain = Domain {
            disjuncts: vec![Vec::new()],
            loops: Vec::new(),
            conditions: Vec::new(),
            exact: true,
            why: "",
        };
        for depth in 0..=loops.len() {
            let level = depth.checked_sub(1).map(|outer| loops[outer]);
            let node = self.flow.representative(block, level);
            let reach = self.path_conditions.within(space, level, node);
            domain.loops = loops[..depth].to_vec();
            domain = self.narrow(space, &domain, &reach);
            if let Some(entered) = loops.get(depth) {
                self.continuation(space, *entered, &domain);
            }
        }
        for index in loops {
            domain = self.iterate(space, domain, *index);
        }
        domain
    }

    /// Adds what follows from a loop having come as far as this iteration.
    fn iterate(&self, space: &Space, mut domain: Domain, index: usize) -> Domain {
        let Some(continuation) = self.continuations.get(&index) else {
            return domain;
        };
        merge(&mut domain.conditions, continuation.conditions.clone());
        if !continuation.exact && domain.exact {
            domain.exact = false;
            domain.why = "it is in a loop whose end is not affine";
        }
        let counter = Affine::variable(Variable::Loop(index));
        let later = counter
            .subtract(&Affine::constant(1))
            .map(Constraint::NonNegative);
        let mut disjuncts = Vec::new();
        for known in &domain.disjuncts {
            // What the instance itself was tested for held before as well.
            let missing: Vec<_> = continuation
                .held
                .iter()
                .filter(|held| !known.contains(held))
                .filter_map(|held| previous(space, held, index))
                .collect();
            if missing.is_empty() {
                disjuncts.push(known.clone());
                continue;
            }
            let mut first = known.clone();
            first.push(Constraint::Zero(counter.clone()));
            let mut rest = known.clone();
            rest.extend(later.clone());
            rest.extend(missing);
            disjuncts.extend([first, rest]);
        }
        if disjuncts.len() <= 8 {
            domain.disjuncts = disjuncts;
        } else if domain.exact {
            domain.exact = false;
            domain.why = "its condition has too many cases";
        }
        domain
    }

    /// Finds out what makes a loop go on, given the domain of its entry.
    fn continuation(&mut self, space: &mut Space, index: usize, entry: &Domain) {
        if self.continuations.contains_key(&index) {
            return;
        }
        let header = self.flow.loops[index].header;
        let latches = self.flow.loops[index].latches.clone();
        let mut again: Option<PathCondition> = None;
        for latch in latches {
            let node = self.flow.representative(latch, Some(index));
            let mut reach = self.path_conditions.within(space, Some(index), node);
            reach = if self.flow.innermost[latch.0] == Some(index) {
                reach.and(&self.path_conditions.edge(space, latch, header))
            } else {
                reach.weakened("its end is inside another loop")
            };
            again = Some(match again {
                Some(known) => known.or(&reach),
                None => reach,
            });
        }
        let mut exact = again.as_ref().is_some_and(|reach| reach.exact);
        let mut facts = match again {
            Some(reach) if reach.disjuncts.len() == 1 => reach.disjuncts[0].clone(),
            _ => {
                exact = false;
                Vec::new()
            }
        };
        let around = self.flow.loops_of(header);
        let before = facts.len();
        facts.retain(|fact| {
            let (Constraint::NonNegative(affine) | Constraint::Zero(affine)) = &fact.constraint;
            let mentioned = space.loops_in(affine);
            let steady = match &fact.constraint {
                Constraint::NonNegative(row) => space.never_grows(row, index),
                Constraint::Zero(_) => !mentioned.contains(&index),
            };
            steady && mentioned.iter().all(|each| around.contains(each))
        });
        exact &= facts.len() == before;
        // All facts are assumed of earlier iterations while each is discharged at this one; when
        // one fails, the rest must do without it.
        let mut conditions = Vec::new();
        while !facts.is_empty() {
            conditions.clear();
            match self.failing(space, index, entry, &facts, &mut conditions) {
                Some(position) => {
                    facts.remove(position);
                    exact = false;
                }
                None => break,
            }
        }
        let held = facts.into_iter().map(|fact| fact.constraint).collect();
        self.continuations.insert(
            index,
            Continuation {
                held,
                exact,
                conditions,
            },
        );
    }

    fn failing(
        &self,
        space: &Space,
        index: usize,
        entry: &Domain,
        facts: &[Fact],
        conditions: &mut Conditions,
    ) -> Option<usize> {
        let held: Vec<_> = facts.iter().map(|fact| fact.constraint.clone()).collect();
        for outer in &entry.disjuncts {
            for (position, fact) in facts.iter().enumerate() {
                let mut known = outer.clone();
                known.extend_from_slice(&held[..position]);
                let mut context = self.context(&entry.loops, &known);
                context.loops.push((index, held.clone()));
                match discharge_all(space, &fact.obligations, &context) {
                    Some(found) => merge(conditions, found),
                    None => return Some(position),
                }
            }
        }
        None
    }
}

impl Domain {
    /// The constraints as the model stores them.
    pub fn constraints(&self) -> Constraints {
        self.disjuncts.clone()
    }
}

/// Whether no instance of any launch satisfies a constraint.
fn never_holds(space: &Space, constraint: &Constraint) -> bool {
    match constraint {
        Constraint::NonNegative(row) => upper(space, row, &[])
            .iter()
            .any(|bound| bound.range().1 < 0),
        Constraint::Zero(_) => false,
    }
}

/// What a launch must satisfy for all obligations; `None`: nothing would do.
pub fn discharge_all(
    space: &Space,
    obligations: &BTreeSet<Obligation>,
    context: &Context,
) -> Option<Conditions> {
    let mut conditions = Vec::new();
    if obligations.is_empty() {
        return Some(conditions);
    }
    let context = with_quotients(space, context);
    for obligation in obligations {
        merge(&mut conditions, discharge(space, obligation, &context)?);
    }
    Some(conditions)
}

/// A context with what the quotients are that its facts speak of: a row that is not the first ends in no element
/// before the first.
fn with_quotients<'c>(space: &Space, context: &'c Context) -> Cow<'c, Context> {
    let rows = context.facts.iter().flat_map(|fact| {
        let (Constraint::NonNegative(row) | Constraint::Zero(row)) = fact;
        space.quotients_in(row)
    });
    let mut facts: Vec<Constraint> = Vec::new();
    for row in rows.flat_map(|quotient| quotient.rows()) {
        let fact = Constraint::NonNegative(row);
        if !context.facts.contains(&fact) && !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    if facts.is_empty() {
        return Cow::Borrowed(context);
    }
    let facts = [context.facts.as_slice(), &facts].concat();
    Cow::Owned(Context {
        facts,
        loops: context.loops.clone(),
    })
}

/// Adds conditions that do not follow from one that is there already. A kernel that is written out or unrolled asks at each
/// access that its place, so many times the number of threads, be no larger than an index may get: the largest is enough.
pub fn merge(into: &mut Conditions, more: Conditions) {
    for condition in more {
        if condition.decided() == Some(true) || into.iter().any(|known| implies(known, &condition))
        {
            continue;
        }
        into.retain(|known| !implies(&condition, known));
        if into.len() < MOST_BY_SIGN {
            if into.iter().any(|known| implies_by_sign(known, &condition)) {
                continue;
            }
            into.retain(|known| !implies_by_sign(&condition, known));
        }
        into.push(condition);
    }
}

/// Longer lists are not gone through for what follows by signs.
const MOST_BY_SIGN: usize = 100;

/// Whether the first of two comparisons with numbers on the same side leaves less room than the second in every launch.
fn implies_by_sign(first: &Condition<KernelSymbol>, second: &Condition<KernelSymbol>) -> bool {
    let (Condition::LessEqual(a, x), Condition::LessEqual(b, y)) = (first, second) else {
        return false;
    };
    let are_numbers =
        |one: &Expression<_>, other: &Expression<_>| one.as_constant().and(other.as_constant());
    if are_numbers(a, b).or_else(|| are_numbers(x, y)).is_none() {
        return false;
    }
    let room = |low: &Expression<_>, high: &Expression<_>| {
        Polynomial::of(high)?.subtract(&Polynomial::of(low)?)
    };
    let more = room(b, y).zip(room(a, x));
    let more = more.and_then(|(second, first)| second.subtract(&first));
    more.is_some_and(|more| more.is_never_negative())
}

/// Whether the first condition plainly implies the second.
fn implies(first: &Condition<KernelSymbol>, second: &Condition<KernelSymbol>) -> bool {
    if first == second {
        return true;
    }
    match (first, second) {
        (Condition::LessEqual(a, x), Condition::LessEqual(b, y)) => {
            let stronger_low = a.as_constant() >= b.as_constant() && b.as_constant().is_some();
            let stronger_high = x.as_constant() <= y.as_constant() && x.as_constant().is_some();
            (x == y && stronger_low) || (a == b && stronger_high)
        }
        (first, Condition::Any(parts)) => parts.iter().any(|part| implies(first, part)),
        _ => false,
    }
}
