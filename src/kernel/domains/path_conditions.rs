//! Branch conditions -> path conditions: which instances get to a block.
//!
//! A [`PathCondition`] over-approximates: every instance that executes the block satisfies at least one of
//! its disjuncts, provided that the obligations of the facts hold where the facts before them do.

use super::super::body::{
    BinaryOperator, BlockRef, Body, Cast, Operation, Predicate, Terminator, Type, ValueRef,
};
use super::super::bounded::{ONLY_BOUNDED, Openness};
use super::super::cfg::{Flow, Level};
use super::super::ranges::{lower, may_be_required};
use super::super::space::Space;
use super::super::walk::{Choices, Obligation, Obstacle, Quantity, Reading, Walk};
use crate::math::affine::{Affine, Constraint, Variable};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A constraint that a branch has tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What holds.
    pub constraint: Constraint,
    /// What must hold for the constraint to say what the machine tested.
    pub obligations: BTreeSet<Obligation>,
    /// Number of loops around the test.
    pub depth: usize,
}

/// A path condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathCondition {
    /// A union of conjunctions, facts in the order in which they are tested.
    pub disjuncts: Vec<Vec<Fact>>,
    /// Nothing was left out.
    pub exact: bool,
    /// When not exact: what was not understood.
    pub why: &'static str,
}

/// Larger unions are given up.
const DISJUNCTS: usize = 8;

impl PathCondition {
    /// Always.
    pub fn always() -> Self {
        Self {
            disjuncts: vec![Vec::new()],
            exact: true,
            why: "",
        }
    }

    /// Never.
    fn never() -> Self {
        Self {
            disjuncts: Vec::new(),
            exact: true,
            why: "",
        }
    }

    /// Perhaps.
    pub fn unknown(why: &'static str) -> Self {
        Self {
            disjuncts: vec![Vec::new()],
            exact: false,
            why,
        }
    }

    /// Both, `other` tested after `self`.
    pub fn and(&self, other: &Self) -> Self {
        let mut disjuncts = Vec::new();
        for left in &self.disjuncts {
            for right in &other.disjuncts {
                let mut both = left.clone();
                for fact in right {
                    let known = both.iter().any(|known| {
                        known.constraint == fact.constraint
                            && fact.obligations.is_subset(&known.obligations)
                    });
                    if !known {
                        both.push(fact.clone());
                    }
                }
                disjuncts.push(both);
            }
        }
        let (exact, why) = self.joint(other);
        if disjuncts.len() > DISJUNCTS {
            return Self {
                disjuncts: self.disjuncts.clone(),
                exact: false,
                why: "its condition has too many cases",
            };
        }
        Self {
            disjuncts,
            exact,
            why,
        }
    }

    /// Either.
    pub fn or(&self, other: &Self) -> Self {
        let mut disjuncts = self.disjuncts.clone();
        for each in &other.disjuncts {
            if !disjuncts.contains(each) {
                disjuncts.push(each.clone());
            }
        }
        if disjuncts.iter().any(Vec::is_empty) {
            disjuncts = vec![Vec::new()];
        }
        let (exact, why) = self.joint(other);
        if disjuncts.len() > DISJUNCTS {
            return Self::unknown("its condition has too many cases");
        }
        Self {
            disjuncts,
            exact,
            why,
        }
    }

    /// The same, less exact.
    pub fn weakened(mut self, why: &'static str) -> Self {
        if self.exact {
            self.exact = false;
            self.why = why;
        }
        self
    }

    fn joint(&self, other: &Self) -> (bool, &'static str) {
        let why = if self.exact { other.why } else { self.why };
        (self.exact && other.exact, why)
    }
}

/// Path conditions of a body, computed on demand.
pub struct PathConditions<'a> {
    pub(in crate::kernel) body: &'a Body,
    pub(in crate::kernel) flow: &'a Flow,
    changed_arguments: &'a BTreeSet<usize>,
    levels: BTreeMap<Option<usize>, Level>,
    within_level: HashMap<(Option<usize>, BlockRef), PathCondition>,
    /// Networks of selects ask for the same conditions over and over.
    conditions: RefCell<HashMap<(ValueRef, bool, BlockRef, Choices), PathCondition>>,
    pub(in crate::kernel) ways: RefCell<HashMap<(ValueRef, usize, BlockRef), PathCondition>>,
}

impl<'a> PathConditions<'a> {
    /// Nothing computed yet.
    pub fn new(body: &'a Body, flow: &'a Flow, changed_arguments: &'a BTreeSet<usize>) -> Self {
        let levels = std::iter::once(None)
            .chain((0..flow.loops.len()).map(Some))
            .map(|of| (of, flow.level(body, of)))
            .collect();
        Self {
            body,
            flow,
            changed_arguments,
            levels,
            within_level: HashMap::new(),
            conditions: RefCell::default(),
            ways: RefCell::default(),
        }
    }

    /// When a node of a level is reached, given that the level's entry is.
    pub fn within(
        &mut self,
        space: &mut Space,
        level: Option<usize>,
        node: BlockRef,
    ) -> PathCondition {
        if let Some(known) = self.within_level.get(&(level, node)) {
            return known.clone();
        }
        // Nodes are in topological order, so this never goes deeper than one step.
        for at in self.levels[&level].nodes.clone() {
            if !self.within_level.contains_key(&(level, at)) {
                let reach = self.join(space, level, at);
                self.within_level.insert((level, at), reach);
            }
        }
        self.within_level
            .get(&(level, node))
            .cloned()
            .unwrap_or_else(|| PathCondition::unknown("its control flow is not understood"))
    }

    fn join(&mut self, space: &mut Space, level: Option<usize>, node: BlockRef) -> PathCondition {
        let graph = &self.levels[&level];
        let Some(dominator) = graph.immediate_dominator.get(&node) else {
            return PathCondition::always();
        };
        if graph.always_reached.contains(&node) {
            return self.within_level[&(level, *dominator)].clone();
        }
        let edges = graph.incoming.get(&node).cloned().unwrap_or_default();
        let mut union = PathCondition::never();
        for (from, to) in edges {
            let source = self.flow.representative(from, level);
            let mut reach = self.within_level[&(level, source)].clone();
            if self.flow.innermost[from.0] == level {
                reach = reach.and(&self.edge(space, from, to));
            } else {
                // The way out of an inner loop: certain only when there is no other.
                let inner = self
                    .flow
                    .loops
                    .iter()
                    .find(|each| each.header == source)
                    .map(|each| &each.exits);
                let only_way =
                    inner.is_some_and(|exits| exits.iter().all(|(_, target)| *target == to));
                if !only_way {
                    reach = reach.weakened("it comes after a loop that is left in several ways");
                }
            }
            union = union.or(&reach);
        }
        union
    }

    /// When control takes an edge, given that its block is reached.
    pub fn edge(&self, space: &mut Space, from: BlockRef, to: BlockRef) -> PathCondition {
        match &self.body.block(from).terminator {
            Terminator::Jump(_) => PathCondition::always(),
            Terminator::Branch {
                on_true, on_false, ..
            } if on_true == on_false => PathCondition::always(),
            Terminator::Branch {
                condition, on_true, ..
            } => self
                .until_equal(space, from, to, *condition, *on_true == to)
                .unwrap_or_else(|| self.condition(space, *condition, *on_true == to, from)),
            Terminator::Switch {
                value,
                cases,
                default,
            } => {
                let mut reach = PathCondition::never();
                for (literal, target) in cases {
                    if *target == to {
                        reach = reach.or(&self.matches(space, *value, *literal, true, from));
                    }
                }
                if *default == Some(to) {
                    let mut otherwise = PathCondition::always();
                    for (literal, target) in cases {
                        if *target != to {
                            let differs = self.matches(space, *value, *literal, false, from);
                            otherwise = otherwise.and(&differs);
                        }
                    }
                    reach = if cases.iter().any(|(_, target)| *target == to) {
                        PathCondition::unknown("it is reached by a switch")
                    } else {
                        otherwise
                    };
                }
                reach
            }
            _ => PathCondition::unknown("its control flow is not understood"),
        }
    }

    fn matches(
        &self,
        space: &mut Space,
        value: ValueRef,
        literal: i64,
        equal: bool,
        at: BlockRef,
    ) -> PathCondition {
        let mut walk = self.walk(space, Choices::new());
        match walk.read(value, Reading::Signed) {
            Ok(quantity) if self.visible(walk.space, &quantity.affine, at) => {
                let literal = Quantity::certain(Affine::constant(literal));
                let predicate = if equal {
                    Predicate::Equal
                } else {
                    Predicate::NotEqual
                };
                self.relation(predicate, &quantity, &literal, at)
            }
            _ => PathCondition::unknown("a switch over a value that is not affine"),
        }
    }

    pub(in crate::kernel) fn walk<'b>(
        &'b self,
        space: &'b mut Space,
        choices: Choices,
    ) -> Walk<'b> {
        Walk::new(self.body, self.flow, space, self.changed_arguments, choices)
    }

    /// All loops that an expression mentions are around the block.
    pub(in crate::kernel) fn visible(&self, space: &Space, affine: &Affine, at: BlockRef) -> bool {
        let around = self.flow.loops_of(at);
        space
            .loops_in(affine)
            .iter()
            .all(|index| around.contains(index))
    }

    /// When a boolean value is true (or false, if not `positive`), evaluated in a block.
    pub fn condition(
        &self,
        space: &mut Space,
        value: ValueRef,
        positive: bool,
        at: BlockRef,
    ) -> PathCondition {
        self.condition_under(space, value, positive, at, &Choices::new())
    }

    fn condition_under(
        &self,
        space: &mut Space,
        value: ValueRef,
        positive: bool,
        at: BlockRef,
        choices: &Choices,
    ) -> PathCondition {
        let key = (value, positive, at, choices.clone());
        if let Some(known) = self.conditions.borrow().get(&key) {
            return known.clone();
        }
        let reach = self.condition_anew(space, value, positive, at, choices);
        self.conditions.borrow_mut().insert(key, reach.clone());
        reach
    }

    fn condition_anew(
        &self,
        space: &mut Space,
        value: ValueRef,
        positive: bool,
        at: BlockRef,
        choices: &Choices,
    ) -> PathCondition {
        let mut test = |value, positive| self.condition_under(space, value, positive, at, choices);
        match &self.body.value(value).operation {
            Operation::Constant(literal) => {
                if (*literal != 0) == positive {
                    PathCondition::always()
                } else {
                    PathCondition::never()
                }
            }
            Operation::Freeze(inner) => test(*inner, positive),
            Operation::Compare {
                predicate,
                left,
                right,
                same_sign,
            } => {
                let predicate = if positive {
                    *predicate
                } else {
                    predicate.negated()
                };
                self.compare(space, predicate, (*left, *right), *same_sign, at, choices)
            }
            // The second operand may be poison unless the first lets it decide, hence the first
            // stays as a fact before it.
            Operation::Binary {
                operator: operator @ (BinaryOperator::And | BinaryOperator::Or),
                left,
                right,
                ..
            } => {
                let is_and = *operator == BinaryOperator::And;
                if is_and == positive {
                    test(*left, positive).and(&test(*right, positive))
                } else {
                    let first = test(*left, positive);
                    let second = test(*left, !positive).and(&test(*right, positive));
                    first.or(&second)
                }
            }
            Operation::Binary {
                operator: BinaryOperator::Xor,
                left,
                right,
                ..
            } => match self.body.literal(*right) {
                Some(literal) => test(*left, positive == (literal == 0)),
                None => PathCondition::unknown("its condition is not affine"),
            },
            Operation::Select {
                condition,
                on_true,
                on_false,
            } if self.body.value(value).value_type == Type::Integer(1) => {
                let (condition, on_true, on_false) = (*condition, *on_true, *on_false);
                let first = test(condition, true).and(&test(on_true, positive));
                let second = test(condition, false).and(&test(on_false, positive));
                first.or(&second)
            }
            // What holds in the first iteration and what in later ones, the way LLVM writes a loop
            // of two iterations.
            Operation::Phi(_) => self.first_or_later(space, value, positive, at),
            // The lowest bit, the way LLVM writes `x & 1` as a condition.
            Operation::Cast {
                cast: Cast::Truncate,
                operand,
                ..
            } => {
                let mut walk = self.walk(space, choices.clone());
                match walk.read(*operand, Reading::Modular) {
                    Ok(quantity) if self.visible(walk.space, &quantity.affine, at) => {
                        let Some(bit) = quantity.affine.modulo(2) else {
                            return PathCondition::unknown("its condition is not affine");
                        };
                        let bit = Quantity {
                            affine: bit,
                            obligations: quantity.obligations,
                        };
                        let value = Quantity::certain(Affine::constant(positive.into()));
                        self.relation(Predicate::Equal, &bit, &value, at)
                    }
                    _ => PathCondition::unknown("its condition is not affine"),
                }
            }
            _ => PathCondition::unknown("its condition is not affine"),
        }
    }

    /// A flag that is one literal in a loop's first iteration and another one afterwards.
    fn first_or_later(
        &self,
        space: &mut Space,
        value: ValueRef,
        positive: bool,
        at: BlockRef,
    ) -> PathCondition {
        let unknown = PathCondition::unknown("its condition is not affine");
        let walk = self.walk(space, Choices::new());
        let Some((index, first, later)) = walk.recurrence(value) else {
            return unknown;
        };
        let literals = (self.body.literal(first), self.body.literal(later));
        let (Some(first), Some(later)) = literals else {
            return unknown;
        };
        if !self.flow.loops_of(at).contains(&index) {
            return unknown;
        }
        let row = |sign: i64, constant| Affine {
            constant,
            terms: vec![(sign, Variable::Loop(index))],
        };
        let mut reach = PathCondition::never();
        for (literal, row) in [(first, row(-1, 0)), (later, row(1, -1))] {
            if (literal != 0) == positive {
                reach.disjuncts.push(vec![Fact {
                    constraint: Constraint::NonNegative(row),
                    obligations: BTreeSet::new(),
                    depth: self.flow.loops_of(at).len(),
                }]);
            }
        }
        reach
    }

    pub(in crate::kernel) fn compare(
        &self,
        space: &mut Space,
        predicate: Predicate,
        (left, right): (ValueRef, ValueRef),
        same_sign: bool,
        at: BlockRef,
        choices: &Choices,
    ) -> PathCondition {
        if let Some((both, pairs)) = self.spread(predicate, left, right) {
            let [first, second] =
                pairs.map(|pair| self.compare(space, predicate, pair, false, at, choices));
            return if both {
                first.and(&second)
            } else {
                first.or(&second)
            };
        }
        let mut compare = |openness| {
            let sides = (left, right, same_sign);
            self.compare_walk(space, predicate, sides, at, choices, openness)
        };
        match compare(Openness::Closed) {
            Ok(reach) => reach,
            Err(Obstacle::Unknown(_)) => match compare(Openness::Carried) {
                Ok(reach) => reach.weakened(ONLY_BOUNDED),
                Err(_) => PathCondition::unknown("its condition is not affine"),
            },
            Err(Obstacle::Choice(value, ways)) if choices.len() < 2 && ways <= 3 => {
                let mut union = PathCondition::never();
                for way in 0..ways {
                    let taken = self.choice(space, value, way, at);
                    let mut choices = choices.clone();
                    choices.insert(value, way);
                    let then =
                        self.compare(space, predicate, (left, right), same_sign, at, &choices);
                    union = union.or(&taken.and(&then));
                }
                union
            }
            Err(Obstacle::Choice(..)) => PathCondition::unknown("its condition has too many cases"),
        }
    }

    /// `x < min(a, b)` as `x < a and x < b`, and so on: whether both hold, and the two comparisons.
    fn spread(
        &self,
        predicate: Predicate,
        left: ValueRef,
        right: ValueRef,
    ) -> Option<(bool, [(ValueRef, ValueRef); 2])> {
        use BinaryOperator::*;
        use Predicate::*;
        let less = match predicate {
            SignedLess | SignedLessEqual | UnsignedLess | UnsignedLessEqual => true,
            SignedGreater | SignedGreaterEqual | UnsignedGreater | UnsignedGreaterEqual => false,
            Equal | NotEqual => return None,
        };
        let is_signed = predicate.signed() == predicate;
        for (extreme, on_right) in [(right, true), (left, false)] {
            let Operation::Binary {
                operator,
                left: a,
                right: b,
                ..
            } = &self.body.value(extreme).operation
            else {
                continue;
            };
            let minimum = match (operator, is_signed) {
                (SignedMinimum, true) | (UnsignedMinimum, false) => true,
                (SignedMaximum, true) | (UnsignedMaximum, false) => false,
                _ => continue,
            };
            let pairs = if on_right {
                [(left, *a), (left, *b)]
            } else {
                [(*a, right), (*b, right)]
            };
            return Some(((minimum == less) == on_right, pairs));
        }
        None
    }

    /// `x != y` as the condition under which a loop goes on, when y - x starts at zero or above and
    /// comes down to it in equal steps that do not miss it. Until then it is positive: were it not,
    /// it would have been zero before, and the loop over, whatever wraps in between.
    fn until_equal(
        &self,
        space: &mut Space,
        from: BlockRef,
        to: BlockRef,
        condition: ValueRef,
        positive: bool,
    ) -> Option<PathCondition> {
        let index = self.flow.innermost[from.0]?;
        let natural = &self.flow.loops[index];
        let Operation::Compare {
            predicate,
            left,
            right,
            ..
        } = &self.body.value(condition).operation
        else {
            return None;
        };
        let wanted = if positive {
            Predicate::NotEqual
        } else {
            Predicate::Equal
        };
        let every_time = natural
            .latches
            .iter()
            .all(|latch| self.flow.dominates(from, *latch));
        let leaves = natural
            .exits
            .iter()
            .any(|(at, outside)| *at == from && *outside != to);
        if *predicate != wanted
            || !natural.blocks.contains(&to)
            || !leaves
            || !every_time
            || self.body.value(condition).block != Some(from)
        {
            return None;
        }
        let mut walk = self.walk(space, Choices::new());
        let (a, b, bits) = walk.compared(*left, *right, Reading::Modular).ok()?;
        let a = walk.seen_from(a, from).ok()?;
        let b = walk.seen_from(b, from).ok()?;
        let mut distance = b.affine.subtract(&a.affine)?;
        let counter = Variable::Loop(index);
        let step = distance.terms.iter().find(|(_, at)| *at == counter)?.0;
        if step > 0 {
            distance = distance.scale(-1)?;
        }
        let step = step.checked_abs()?;
        let others = distance.terms.iter().filter(|(_, at)| *at != counter);
        let steady = others.clone().all(|(_, at)| {
            !space
                .loops_in(&Affine::variable(at.clone()))
                .contains(&index)
        });
        let hits = distance.constant % step == 0 && others.clone().all(|(by, _)| by % step == 0);
        if !steady || !hits || !self.visible(space, &distance, from) {
            return None;
        }
        let row = Affine {
            constant: distance.constant / step,
            terms: distance
                .terms
                .iter()
                .map(|(by, at)| (by / step, at.clone()))
                .collect(),
        };
        let start = space.substitute(&distance, index, &Affine::constant(0))?;
        if !may_be_required(space, &start) {
            return None;
        }
        let mut obligations = a.obligations;
        obligations.extend(b.obligations);
        obligations.insert(Obligation {
            affine: start,
            low: 0,
            high: ((1i128 << bits) - 1).min(i64::MAX.into()),
        });
        Some(PathCondition {
            disjuncts: vec![vec![Fact {
                constraint: Constraint::NonNegative(row.add(&Affine::constant(-1))?),
                obligations,
                depth: self.flow.loops_of(from).len(),
            }]],
            exact: true,
            why: "",
        })
    }

    fn compare_walk(
        &self,
        space: &mut Space,
        predicate: Predicate,
        (left, right, same_sign): (ValueRef, ValueRef, bool),
        at: BlockRef,
        choices: &Choices,
        openness: Openness,
    ) -> Result<PathCondition, Obstacle> {
        use Predicate::*;
        let mut walk = self.walk(space, choices.clone()).opened(openness);
        let unsigned = matches!(
            predicate,
            UnsignedLess | UnsignedLessEqual | UnsignedGreater | UnsignedGreaterEqual
        );
        let (a, b, bits) = walk.compared(left, right, Reading::Signed)?;
        let is_pointer = matches!(self.body.value(left).value_type, Type::Pointer(_));
        let mut a = walk.seen_from(a, at)?;
        let mut b = walk.seen_from(b, at)?;
        if !self.visible(walk.space, &a.affine, at) || !self.visible(walk.space, &b.affine, at) {
            return Err(Obstacle::Unknown("it is the last value of a loop"));
        }
        if !unsigned || same_sign || is_pointer {
            return Ok(self.relation(predicate.signed(), &a, &b, at));
        }
        // `a <u b` is `0 <= a < b` when b is not negative and a's signed reading is known.
        let not_negative = |quantity: &mut Quantity| {
            let high = (1i128 << (bits - 1)) - 1;
            match quantity.affine.as_constant() {
                Some(value) if value >= 0 => Ok(()),
                Some(_) => Err(Obstacle::Unknown("it compares with a huge number")),
                None => {
                    quantity.obligations.insert(Obligation {
                        affine: quantity.affine.clone(),
                        low: 0,
                        high,
                    });
                    Ok(())
                }
            }
        };
        let zero = Quantity::certain(Affine::constant(0));
        let small = matches!(predicate, UnsignedLess | UnsignedLessEqual);
        // Which side is asked to be the smaller one; the other must not be negative.
        let left_is_probe = b.affine.as_constant().is_some()
            || walk.space.polynomial(&b.affine).is_some()
            || walk.space.polynomial(&a.affine).is_none();
        let (probe, probe_below) = if left_is_probe {
            not_negative(&mut b)?;
            (a.clone(), small)
        } else {
            not_negative(&mut a)?;
            (b.clone(), !small)
        };
        let order = self.relation(predicate.signed(), &a, &b, at);
        let plainly_positive = lower(walk.space, &probe.affine, &[])
            .iter()
            .any(|bound| bound.range().0 >= 0);
        if plainly_positive {
            return Ok(order);
        }
        let negative = self.relation(SignedLess, &probe, &zero, at);
        let positive = self.relation(SignedGreaterEqual, &probe, &zero, at);
        // A negative probe reads as a huge number: below nothing, above everything.
        Ok(if probe_below {
            positive.and(&order)
        } else {
            negative.or(&positive.and(&order))
        })
    }

    /// A relation of two signed numbers as constraints.
    pub(in crate::kernel) fn relation(
        &self,
        predicate: Predicate,
        a: &Quantity,
        b: &Quantity,
        at: BlockRef,
    ) -> PathCondition {
        let mut obligations = a.obligations.clone();
        obligations.extend(b.obligations.iter().cloned());
        let depth = self.flow.loops_of(at).len();
        let overflow = || PathCondition::unknown("its condition has too large coefficients");
        let Some(difference) = b.affine.subtract(&a.affine) else {
            return overflow();
        };
        let Some(negated) = difference.scale(-1) else {
            return overflow();
        };
        let less = |row: &Affine, slack: i64| row.add(&Affine::constant(-slack));
        let alternatives = match predicate {
            Predicate::Equal => vec![Some(Constraint::Zero(difference.clone()))],
            Predicate::NotEqual => vec![
                less(&difference, 1).map(Constraint::NonNegative),
                less(&negated, 1).map(Constraint::NonNegative),
            ],
            Predicate::SignedLess | Predicate::UnsignedLess => {
                vec![less(&difference, 1).map(Constraint::NonNegative)]
            }
            Predicate::SignedLessEqual | Predicate::UnsignedLessEqual => {
                vec![Some(Constraint::NonNegative(difference.clone()))]
            }
            Predicate::SignedGreater | Predicate::UnsignedGreater => {
                vec![less(&negated, 1).map(Constraint::NonNegative)]
            }
            Predicate::SignedGreaterEqual | Predicate::UnsignedGreaterEqual => {
                vec![Some(Constraint::NonNegative(negated.clone()))]
            }
        };
        let mut reach = PathCondition::never();
        for constraint in alternatives {
            let Some(constraint) = constraint else {
                return overflow();
            };
            let constraint = constraint.tightened();
            let decided = match &constraint {
                Constraint::NonNegative(row) => row.as_constant().map(|value| value >= 0),
                Constraint::Zero(row) => row.as_constant().map(|value| value == 0),
            };
            let each = match decided {
                // A decided relation still rests on its obligations, so it is kept when those
                // could matter.
                Some(true) if obligations.is_empty() => PathCondition::always(),
                Some(false) if obligations.is_empty() => continue,
                Some(_) => {
                    return PathCondition::unknown("its condition is decided by a wrapped value");
                }
                None => PathCondition {
                    disjuncts: vec![vec![Fact {
                        constraint,
                        obligations: obligations.clone(),
                        depth,
                    }]],
                    exact: true,
                    why: "",
                },
            };
            reach = reach.or(&each);
        }
        reach
    }
}
