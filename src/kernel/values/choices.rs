//! When a value goes one of its ways: selects, phis, minima and maxima, flags, values that take turns.

use super::super::body::{BinaryOperator, BlockRef, Cast, Operation, Predicate, ValueRef};
use super::super::path_conditions::{Fact, PathCondition, PathConditions};
use super::super::space::Space;
use super::super::walk::{Choices, Quantity, Reading};
use crate::math::affine::{Affine, Constraint, Variable};
use std::collections::BTreeSet;

/// Most branches, one behind the other, that are looked at.
const MOST_BRANCHES: usize = 4;

impl PathConditions<'_> {
    /// When a select, phi, minimum or maximum goes a certain way, as far as a block can tell.
    pub fn choice(
        &self,
        space: &mut Space,
        value: ValueRef,
        way: usize,
        at: BlockRef,
    ) -> PathCondition {
        let key = (value, way, at);
        if let Some(known) = self.ways.borrow().get(&key) {
            return known.clone();
        }
        let reach = self.choice_anew(space, value, way, at);
        self.ways.borrow_mut().insert(key, reach.clone());
        reach
    }

    fn choice_anew(
        &self,
        space: &mut Space,
        value: ValueRef,
        way: usize,
        at: BlockRef,
    ) -> PathCondition {
        let reach = match &self.body.value(value).operation {
            Operation::Select { condition, .. } => self.condition(space, *condition, way == 0, at),
            Operation::Binary {
                operator,
                left,
                right,
                ..
            } => {
                let predicate = match operator {
                    BinaryOperator::SignedMinimum => Predicate::SignedLessEqual,
                    BinaryOperator::SignedMaximum => Predicate::SignedGreaterEqual,
                    BinaryOperator::UnsignedMinimum => Predicate::UnsignedLessEqual,
                    _ => Predicate::UnsignedGreaterEqual,
                };
                let predicate = if way == 0 {
                    predicate
                } else {
                    predicate.negated()
                };
                self.compare(
                    space,
                    predicate,
                    (*left, *right),
                    false,
                    at,
                    &Choices::new(),
                )
            }
            Operation::Absolute(inner) => self.sign(space, *inner, way == 0, at),
            Operation::Cast {
                cast: Cast::SignExtend | Cast::ZeroExtend,
                operand,
                ..
            } => self.condition(space, *operand, way == 0, at),
            Operation::Phi(_) if self.turns(space, value).is_some() => {
                self.turn(space, value, way, at)
            }
            Operation::Phi(_)
                if self
                    .walk(space, Choices::new())
                    .header_loop(value)
                    .is_some() =>
            {
                PathCondition::unknown("it depends on the path taken")
            }
            Operation::Phi(incoming) => {
                let (from, to) = (incoming[way].1, self.body.value(value).block);
                match to {
                    Some(to) if self.flow.predecessors[to.0].len() > 1 => self
                        .way_to(space, from, to)
                        .and(&self.edge(space, from, to))
                        .weakened("it depends on the path taken"),
                    _ => PathCondition::unknown("it depends on the path taken"),
                }
            }
            _ => PathCondition::unknown("its condition is not affine"),
        };
        // Tests inside a loop that is over say nothing about counters out here.
        let hidden = reach.disjuncts.iter().flatten().any(|fact| {
            let (Constraint::NonNegative(affine) | Constraint::Zero(affine)) = &fact.constraint;
            !self.visible(space, affine, at)
        });
        if hidden {
            return PathCondition::unknown("it depends on an earlier loop");
        }
        reach
    }

    /// What must hold where control is in a block, by the branches that alone lead there from a block that every way
    /// to `end` passes.
    fn way_to(&self, space: &mut Space, block: BlockRef, end: BlockRef) -> PathCondition {
        let flow = self.flow;
        let mut reach = PathCondition::always();
        let mut at = block;
        for _ in 0..MOST_BRANCHES {
            let is_header = flow.loops.iter().any(|each| each.header == at);
            let [from] = flow.predecessors[at.0][..] else {
                break;
            };
            let leaves_loop = flow.innermost[from.0] != flow.innermost[at.0];
            if is_header || leaves_loop || flow.dominates(at, end) {
                break;
            }
            // What is tested first stands first.
            reach = self.edge(space, from, at).and(&reach);
            at = from;
        }
        reach
    }

    /// When a number is at least zero, or less.
    fn sign(
        &self,
        space: &mut Space,
        value: ValueRef,
        positive: bool,
        at: BlockRef,
    ) -> PathCondition {
        let mut walk = self.walk(space, Choices::new());
        match walk.read(value, Reading::Signed) {
            Ok(quantity) if self.visible(walk.space, &quantity.affine, at) => {
                let zero = Quantity::certain(Affine::constant(0));
                let predicate = if positive {
                    Predicate::SignedGreaterEqual
                } else {
                    Predicate::SignedLess
                };
                self.relation(predicate, &quantity, &zero, at)
            }
            _ => PathCondition::unknown("its condition is not affine"),
        }
    }

    fn turns(&self, space: &mut Space, phi: ValueRef) -> Option<(usize, usize)> {
        self.walk(space, Choices::new()).turns(phi)
    }

    /// When it is the turn of one of several values that take turns in a loop.
    fn turn(&self, space: &mut Space, phi: ValueRef, way: usize, at: BlockRef) -> PathCondition {
        let row = self.turns(space, phi).and_then(|(index, turns)| {
            Affine::variable(Variable::Loop(index))
                .modulo(turns as i64)?
                .subtract(&Affine::constant(way as i64))
        });
        let Some(row) = row else {
            return PathCondition::unknown("it depends on the path taken");
        };
        PathCondition {
            disjuncts: vec![vec![Fact {
                constraint: Constraint::Zero(row),
                obligations: BTreeSet::new(),
                depth: self.flow.loops_of(at).len(),
            }]],
            exact: true,
            why: "",
        }
    }
}
