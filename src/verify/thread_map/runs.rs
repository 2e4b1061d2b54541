//! Runs of a member's numbers, one a block of the fused launch.
//!
//! A map by runs of length K lets block b, counted x fastest, run the numbers from b · K on, K of them, and the
//! last block all that are left. So each number runs once, in block floor(n / K) or in the last, if that is
//! before; and two instances are in one block where their quotients, of the number by K or of the number of a
//! thread of the fused launch by the threads of its blocks, are equal: a quotient that is
//! beyond the last block is that of no thread of the fused launch, and of two such by runs both are
//! in the last block. Members whose numbers begin anew with the first block there are not compared so. Two
//! members that are remapped by runs of one length have equal numbers in one thread.
//!
//! A quotient r by a value that only the run knows, K = c · p for a number c, is introduced with the product
//! q = c · r · p: then q <= n < q + c · p. A product e · p of a member lies to q as its
//! factor e does to c · r.
//!
//! Every length is at least 1, and the end of the last block's run below 2³¹, so that no index of the fused
//! kernel wraps around.

use super::super::conflict::{ConflictSet, Side};
use super::super::emptiness::{Sum, Symbol};
use super::super::formula::{Assumptions, Formula};
use super::super::place::Values;
use super::super::polynomial::{Polynomial, normal_form};
use crate::launch::ValueId;
use crate::math::expression::Expression;
use crate::math::formula::{
    self,
    Formula::{All, Any, NonNegative, Zero},
};

/// The length of a map's runs.
pub(in crate::verify) fn length(
    expression: &Expression<ValueId>,
    values: &Values<'_>,
) -> Option<Polynomial> {
    normal_form(expression, &mut |value| Some(values.resolve(*value)))
}

/// Whether runs of a length that is at least 1 end below `most` in a launch that has as many blocks as the
/// largest of `block_counts`.
pub(in crate::verify) fn fit(
    length: &Polynomial,
    block_counts: &[Polynomial],
    most: &Polynomial,
    assumptions: &Assumptions,
) -> bool {
    let at_most = |left: &Polynomial, right: &Polynomial| {
        Formula::less_equal(left, right).is_some_and(|bound| assumptions.imply(&bound))
    };
    let mut counts = block_counts.iter();
    at_most(&Polynomial::constant(1), length)
        && counts.all(|count| {
            let end = count.multiply(length);
            end.is_some_and(|end| at_most(&end, most))
        })
}

/// A number of one side divided by a length that is not constant, rounded down.
pub(in crate::verify) struct Quotient {
    /// The variable that stands for it.
    pub(in crate::verify) run: Sum,
    /// The variable that stands for its product with the length.
    begin: Sum,
    /// What the length is, a number times a value.
    factor: i64,
    value: Polynomial,
}

impl Quotient {
    /// The quotient of a number, which is not negative, by a length of at least 1.
    pub(in crate::verify) fn of(
        set: &mut ConflictSet,
        side: &Side<'_>,
        number: &Sum,
        length: &Polynomial,
    ) -> Option<Self> {
        let coefficients = length.terms.values().map(|value| value.unsigned_abs());
        let factor = coefficients.reduce(greatest_common_divisor)?;
        let factor = i64::try_from(factor).ok().filter(|factor| *factor >= 1)?;
        let terms = length.terms.iter();
        let value = Polynomial {
            terms: terms
                .map(|(monomial, coefficient)| (monomial.clone(), coefficient / i128::from(factor)))
                .collect(),
        };
        let run = set.variable(Symbol::Run(side.instance));
        let begin = set.variable(Symbol::Begin(side.instance));
        let (length, step) = (set.polynomial(length), set.polynomial(&value));
        let end = begin.clone() + length.clone();
        set.require(NonNegative(run.clone()));
        set.require(step.at_least(Sum::number(1)));
        set.require(formula::Formula::within(number.clone(), begin.clone(), end));
        set.require(Any(vec![
            All(vec![Zero(run.clone()), Zero(begin.clone())]),
            All(vec![
                run.clone().at_least(Sum::number(1)),
                begin.clone().at_least(length),
            ]),
        ]));
        Some(Self {
            run,
            begin,
            factor,
            value,
        })
    }

    /// States how the products of a side with the same value lie to it.
    pub(in crate::verify) fn lie_to_products(
        &self,
        set: &mut ConflictSet,
        assumptions: &Assumptions,
        side: &Side<'_>,
    ) -> Option<()> {
        for index in side.products.iter().copied() {
            let product = &side.member.model.products[index];
            let parameter = side.member.parameters.get(product.parameter)?;
            if parameter.as_constant().is_some() || !assumptions.equal(parameter, &self.value) {
                continue;
            }
            let q = set.product(side, index);
            let e = set.affine(side, &product.factor)?;
            let step = set.polynomial(&self.value);
            let length = set.polynomial(&self.value.scale(self.factor)?);
            let (begin, end) = (self.begin.clone(), self.begin.clone() + length);
            let low = self.run.clone() * i128::from(self.factor);
            let high = low.clone() + i128::from(self.factor);
            let next = q.clone() + step;
            set.require(Any(vec![
                All(vec![
                    e.clone().below(low.clone()),
                    next.clone().at_most(begin.clone()),
                ]),
                All(vec![
                    formula::Formula::within(e.clone(), low, high.clone()),
                    begin.at_most(q.clone()),
                    next.at_most(end.clone()),
                ]),
                All(vec![e.at_least(high), q.at_least(end)]),
            ]));
        }
        Some(())
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
