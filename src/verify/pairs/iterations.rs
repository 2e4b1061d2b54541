//! Subscripts and domains of accesses in loops, in a form in which those of two loops can be compared.
//!
//! Invariant: the counter of whichever loop is read as [`COUNTER`], and products are written out, so that
//! equal sums are equal numbers in iterations of equal number of the two loops, in one thread.

use crate::kernel::{Access, KernelModel};
use crate::math::affine::{Affine, Constraint, Variable};
use std::collections::BTreeSet;

/// Stands for the counter of whichever loop.
pub(in crate::verify) const COUNTER: usize = usize::MAX;

/// An affine expression with its products written out, so that those of two loops can be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::verify) struct Sum {
    pub(in crate::verify) constant: i64,
    pub(in crate::verify) terms: Vec<(i64, Term)>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::verify) enum Term {
    /// No product, and no quotient.
    Variable(Variable),
    /// The factor, and which parameter it is multiplied by.
    Product(Box<Sum>, usize),
    /// `floor(sum / divisor)`.
    Floor(Box<Sum>, i64),
}

/// A constraint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::verify) enum Row {
    NonNegative(Sum),
    Zero(Sum),
}

impl Sum {
    pub(in crate::verify) fn constant(constant: i64) -> Self {
        Self {
            constant,
            terms: Vec::new(),
        }
    }

    pub(in crate::verify) fn term(term: Term) -> Self {
        Self {
            constant: 0,
            terms: vec![(1, term)],
        }
    }

    pub(in crate::verify) fn add(&self, other: &Self) -> Option<Self> {
        let mut sum = Self {
            constant: self.constant.checked_add(other.constant)?,
            terms: self.terms.clone(),
        };
        for (coefficient, term) in &other.terms {
            match sum.terms.iter_mut().find(|(_, known)| known == term) {
                Some((known, _)) => *known = known.checked_add(*coefficient)?,
                None => sum.terms.push((*coefficient, term.clone())),
            }
        }
        sum.terms.retain(|(coefficient, _)| *coefficient != 0);
        sum.terms.sort_by(|(_, one), (_, other)| one.cmp(other));
        Some(sum)
    }

    pub(in crate::verify) fn scale(&self, factor: i64) -> Option<Self> {
        let terms = self.terms.iter();
        let terms =
            terms.map(|(coefficient, term)| Some((coefficient.checked_mul(factor)?, term.clone())));
        let mut sum = Self {
            constant: self.constant.checked_mul(factor)?,
            terms: terms.collect::<Option<_>>()?,
        };
        sum.terms.retain(|(coefficient, _)| *coefficient != 0);
        Some(sum)
    }

    pub(in crate::verify) fn subtract(&self, other: &Self) -> Option<Self> {
        self.add(&other.scale(-1)?)
    }

    /// The number, when no variable occurs.
    pub(in crate::verify) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub(in crate::verify) fn coefficient(&self, term: &Term) -> i64 {
        let mut terms = self.terms.iter();
        let found = terms.find(|(_, known)| known == term);
        found.map_or(0, |(coefficient, _)| *coefficient)
    }

    /// The same for all threads of a block, in all iterations.
    pub(in crate::verify) fn is_uniform(&self) -> bool {
        self.terms.iter().all(|(_, term)| match term {
            Term::Variable(variable) => {
                matches!(variable, Variable::Block(_) | Variable::Parameter(_))
            }
            Term::Product(factor, _) | Term::Floor(factor, _) => factor.is_uniform(),
        })
    }
}

/// Reads what is said of a loop.
pub(in crate::verify) struct Reader<'a> {
    pub(in crate::verify) kernel: &'a KernelModel,
    /// The loop.
    pub(in crate::verify) of: usize,
}

impl Reader<'_> {
    /// `None` where another loop has a say.
    pub(in crate::verify) fn sum(&self, affine: &Affine) -> Option<Sum> {
        let mut sum = Sum::constant(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let term = match variable {
                Variable::Loop(index) if *index == self.of => {
                    Term::Variable(Variable::Loop(COUNTER))
                }
                // Of another loop, or a quotient.
                Variable::Loop(_) => return None,
                Variable::Product(index) => {
                    let product = self.kernel.products.get(*index)?;
                    Term::Product(Box::new(self.sum(&product.factor)?), product.parameter)
                }
                Variable::Floor(numerator, divisor) => {
                    Term::Floor(Box::new(self.sum(numerator)?), *divisor)
                }
                other => Term::Variable(other.clone()),
            };
            sum = sum.add(&Sum::term(term).scale(*coefficient)?)?;
        }
        Some(sum)
    }

    /// The iterations, and whether that is all that is known of them: what cannot be read is left out,
    /// so that they may seem more.
    pub(in crate::verify) fn domain(&self, access: &Access) -> (Vec<BTreeSet<Row>>, bool) {
        let row = |constraint: &Constraint| match constraint {
            Constraint::NonNegative(affine) => self.sum(affine).map(Row::NonNegative),
            Constraint::Zero(affine) => self.sum(affine).map(Row::Zero),
        };
        let mut constraints = access.domain.iter().flatten();
        let whole = constraints.all(|constraint| row(constraint).is_some());
        let conjunctions = access.domain.iter();
        let read = conjunctions
            .map(|conjunction| conjunction.iter().filter_map(row).collect())
            .collect();
        (read, whole)
    }
}
