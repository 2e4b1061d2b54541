//! Formulas: comparisons of quasi-affine sums over variables of any kind, joined by "and" and "or".
//!
//! They are what questions about integer points are made of. [`super::isl`] makes rows of one, or a set; equal
//! formulas ask the same, so that answers can be remembered by them. Numbers have 128 bits. Invariant: a sum whose numbers
//! left these is remembered as such, and no set or row is made of it.

use super::affine::{Affine, Variable};

/// `constant + Σ coefficient · term`. Terms are sorted, none stands twice, and no coefficient is zero.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum<V> {
    terms: Vec<(Term<V>, i128)>,
    constant: i128,
    /// The sum is unknown, mostly since some number did not fit.
    overflowed: bool,
}

/// Terms of a sum with their coefficients, in order; and its constant.
pub type Parts<'a, V> = (&'a [(Term<V>, i128)], i128);

/// What a sum is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term<V> {
    /// A parameter or a dimension.
    Variable(V),
    /// The quotient of a sum by a positive number, rounded down.
    Floor(Box<Sum<V>>, i128),
}

/// Comparisons joined by "and" and "or".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Formula<V> {
    /// The sum is at least zero.
    NonNegative(Sum<V>),
    /// The sum is zero.
    Zero(Sum<V>),
    /// All parts hold.
    All(Vec<Self>),
    /// Some part holds.
    Any(Vec<Self>),
}

impl<V> Sum<V> {
    /// Its terms with their coefficients, in order; and the constant. `None` where a number did not fit.
    pub fn parts(&self) -> Option<Parts<'_, V>> {
        (!self.overflowed).then_some((&self.terms, self.constant))
    }
}

impl<V> Sum<V> {
    /// A sum of which no row and no set is made.
    pub fn unknown() -> Self {
        Self {
            terms: Vec::new(),
            constant: 0,
            overflowed: true,
        }
    }

    /// Its value where each variable has one; `None` for an unknown one, or where a number leaves 128 bits.
    pub fn value(&self, of: &impl Fn(&V) -> Option<i128>) -> Option<i128> {
        let (terms, constant) = self.parts()?;
        terms.iter().try_fold(constant, |sum, (term, coefficient)| {
            let value = match term {
                Term::Variable(variable) => of(variable)?,
                Term::Floor(numerator, divisor) => numerator.value(of)?.div_euclid(*divisor),
            };
            sum.checked_add(value.checked_mul(*coefficient)?)
        })
    }

    /// How many quotients there are, or how many terms in all.
    fn count(&self, quotients: bool) -> usize {
        let each = self.terms.iter().map(|(term, _)| match term {
            Term::Variable(_) => usize::from(!quotients),
            Term::Floor(inner, _) => 1 + inner.count(quotients),
        });
        usize::from(!quotients) + each.sum::<usize>()
    }

    fn visit(&self, visit: &mut impl FnMut(&V)) {
        for (term, _) in &self.terms {
            match term {
                Term::Variable(variable) => visit(variable),
                Term::Floor(inner, _) => inner.visit(visit),
            }
        }
    }
}

impl<V: Ord> Sum<V> {
    /// The sum that is always a number.
    pub fn number(number: impl Into<i128>) -> Self {
        Self {
            terms: Vec::new(),
            constant: number.into(),
            overflowed: false,
        }
    }

    /// The sum that is one variable.
    pub fn variable(variable: V) -> Self {
        Self::term(Term::Variable(variable))
    }

    /// The sum divided by a positive number, rounded down.
    pub fn floor(self, divisor: impl Into<i128>) -> Self {
        let divisor = divisor.into();
        let overflowed = self.overflowed || divisor <= 0;
        Self {
            overflowed,
            ..Self::term(Term::Floor(Box::new(self), divisor))
        }
    }

    /// An expression of a kernel's model, `value` being what each of its variables is; `None` where that has none.
    pub fn of_affine(
        affine: &Affine,
        value: &mut impl FnMut(&Variable) -> Option<Self>,
    ) -> Option<Self> {
        let mut sum = Self::number(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let term = match variable {
                Variable::Floor(inner, divisor) => Self::of_affine(inner, value)?.floor(*divisor),
                variable => value(variable)?,
            };
            sum = sum + term * i128::from(*coefficient);
        }
        Some(sum)
    }

    /// `self <= other`.
    pub fn at_most(self, other: Self) -> Formula<V> {
        Formula::NonNegative(other - self)
    }

    /// `self < other`.
    pub fn below(self, other: Self) -> Formula<V> {
        Formula::NonNegative(other - self - Self::number(1))
    }

    /// `self >= other`.
    pub fn at_least(self, other: Self) -> Formula<V> {
        other.at_most(self)
    }

    /// `self > other`.
    pub fn above(self, other: Self) -> Formula<V> {
        other.below(self)
    }

    /// `self = other`.
    pub fn equal(self, other: Self) -> Formula<V> {
        Formula::Zero(self - other)
    }

    fn term(term: Term<V>) -> Self {
        Self {
            terms: vec![(term, 1)],
            constant: 0,
            overflowed: false,
        }
    }

    /// A place for what a sum is whose number did not fit.
    fn checked(&mut self, number: Option<i128>) -> i128 {
        self.overflowed |= number.is_none();
        number.unwrap_or(0)
    }
}

impl<V: Ord> std::ops::Add for Sum<V> {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.overflowed |= other.overflowed;
        let constant = self.constant.checked_add(other.constant);
        self.constant = self.checked(constant);
        for (term, coefficient) in other.terms {
            match self.terms.binary_search_by(|(known, _)| known.cmp(&term)) {
                Ok(at) => {
                    let sum = self.terms[at].1.checked_add(coefficient);
                    self.terms[at].1 = self.checked(sum);
                    if self.terms[at].1 == 0 {
                        self.terms.remove(at);
                    }
                }
                Err(at) => self.terms.insert(at, (term, coefficient)),
            }
        }
        self
    }
}

impl<V: Ord> std::ops::Sub for Sum<V> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + other * -1
    }
}

impl<V: Ord> std::ops::Mul<i128> for Sum<V> {
    type Output = Self;

    fn mul(mut self, factor: i128) -> Self {
        if factor == 0 {
            self.terms.clear();
        }
        let constant = self.constant.checked_mul(factor);
        self.constant = self.checked(constant);
        for at in 0..self.terms.len() {
            let product = self.terms[at].1.checked_mul(factor);
            self.terms[at].1 = self.checked(product);
        }
        self
    }
}

impl<V: Ord> std::ops::Add<i128> for Sum<V> {
    type Output = Self;

    fn add(mut self, number: i128) -> Self {
        let constant = self.constant.checked_add(number);
        self.constant = self.checked(constant);
        self
    }
}

impl<V> Formula<V> {
    /// What always holds.
    pub fn truth() -> Self {
        Self::All(Vec::new())
    }

    /// What never holds.
    pub fn falsehood() -> Self {
        Self::Any(Vec::new())
    }

    /// Calls `visit` with each variable, wherever it stands.
    pub fn visit(&self, visit: &mut impl FnMut(&V)) {
        match self {
            Self::NonNegative(sum) | Self::Zero(sum) => sum.visit(visit),
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().for_each(|part| part.visit(visit));
            }
        }
    }

    /// How many terms the sums of its comparisons have, their constants and those within quotients too.
    pub fn terms(&self) -> usize {
        match self {
            Self::NonNegative(sum) | Self::Zero(sum) => sum.count(false),
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::terms).sum(),
        }
    }

    /// How many quotients there are, each as often as it stands there.
    pub fn quotients(&self) -> usize {
        match self {
            Self::NonNegative(sum) | Self::Zero(sum) => sum.count(true),
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::quotients).sum(),
        }
    }

    /// How many comparisons there are.
    pub fn comparisons(&self) -> usize {
        match self {
            Self::NonNegative(_) | Self::Zero(_) => 1,
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::comparisons).sum(),
        }
    }
}

impl<V: Ord + Clone> Formula<V> {
    /// `least <= sum < end`.
    pub fn within(sum: Sum<V>, least: Sum<V>, end: Sum<V>) -> Self {
        Self::All(vec![sum.clone().at_least(least), sum.below(end)])
    }

    /// One is not the other.
    pub fn differ(one: Sum<V>, other: Sum<V>) -> Self {
        Self::Any(vec![one.clone().below(other.clone()), one.above(other)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sums_are_the_same_value() {
        let [a, b] = ["a", "b"].map(Sum::variable);
        let one = a.clone() * 3 + b.clone() - a.clone() + 4;
        let other = b.clone() + a.clone() + a.clone() + Sum::number(4);
        assert_eq!(one, other);
        assert_eq!(a.clone() - a.clone(), Sum::number(0));
        let none = 0;
        assert_eq!(a.clone() * none, Sum::number(0));
        assert_eq!(a.clone().above(b.clone()), b.below(a));
    }

    #[test]
    fn numbers_that_do_not_fit_are_never_others() {
        let large = Sum::variable("a") * i128::MAX;
        assert!(large.parts().is_some());
        let larger = large + Sum::variable("a");
        assert_eq!(larger.parts(), None);
        assert_eq!((larger.clone() - Sum::number(1)).parts(), None);
        let none = 0;
        assert_eq!((larger * none).parts(), None);
        assert_eq!(Sum::variable("a").floor(0).parts(), None);
        assert_eq!((Sum::<u8>::number(i128::MAX) + 1).parts(), None);
    }

    #[test]
    fn expressions_of_models_become_sums() {
        let tx = Affine::variable(Variable::Thread(crate::math::affine::Axis::X));
        let affine = tx.scale(4).and_then(|four| four.add(&tx.floor_divide(32)));
        let mut value = |variable: &Variable| Some(Sum::variable(variable.to_string()));
        let sum = Sum::of_affine(&affine.unwrap(), &mut value).unwrap();
        let tx = Sum::variable("tx".to_owned());
        assert_eq!(sum, tx.clone() * 4 + tx.floor(32));
    }
}
