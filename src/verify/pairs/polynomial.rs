//! Host expressions in a normal form: integer polynomials over atoms.
//!
//! Two expressions that are equal as polynomials are the same value here whatever tree they came
//! in, so that `blockDim.x * gridDim.x` of one launch meets `gridDim.x * blockDim.x` of another.
//! Invariant: no monomial has coefficient zero, the atoms of a monomial are sorted, and arithmetic
//! that leaves 128 bits gives `None`, which every caller takes as "unknown": conditions on numbers of 64 bits
//! have bounds at the ends of their range, so that differences of two sides need more than 64.

use crate::launch::{LaunchId, ValueId};
use crate::math::expression::Expression;
use crate::shared::Shared;
use std::collections::BTreeMap;

/// A value that the verifier does not look into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::verify) enum Atom {
    /// A host value, as the integer that guards compare (sign-extended).
    Value(ValueId),
    /// The integer of `bits` bits at byte `offset_bytes` of a host value, read `signed` or not, where
    /// that differs from the value itself.
    Reading {
        value: ValueId,
        offset_bytes: u32,
        bits: u32,
        signed: bool,
        /// These are all the bits of the value, read unsigned.
        whole: bool,
    },
    /// Something that only this launch knows, by number.
    Private(LaunchId, usize),
    /// `floor(numerator / divisor)`.
    Floor(Shared<Polynomial>, Shared<Polynomial>),
    /// The smaller of two.
    Minimum(Shared<Polynomial>, Shared<Polynomial>),
    /// The larger of two.
    Maximum(Shared<Polynomial>, Shared<Polynomial>),
}

/// `Σ coefficient · Π atoms`; the empty product is the constant term.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::verify) struct Polynomial {
    pub(in crate::verify) terms: BTreeMap<Vec<Atom>, i128>,
}

impl Polynomial {
    pub(in crate::verify) fn constant(value: i64) -> Self {
        Self::whole(i128::from(value))
    }

    fn whole(value: i128) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Self { terms }
    }

    pub(in crate::verify) fn atom(atom: Atom) -> Self {
        Self {
            terms: BTreeMap::from([(vec![atom], 1)]),
        }
    }

    /// The number that it is; `None` for one that leaves 64 bits, too.
    pub(in crate::verify) fn as_constant(&self) -> Option<i64> {
        self.whole_constant()
            .and_then(|value| value.try_into().ok())
    }

    /// The number that it is.
    pub(in crate::verify) fn whole_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The monomials that are products of two atoms or more.
    pub(in crate::verify) fn products(&self) -> impl Iterator<Item = &Vec<Atom>> {
        self.terms.keys().filter(|monomial| monomial.len() > 1)
    }

    pub(in crate::verify) fn add(&self, other: &Self) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (monomial, coefficient) in &other.terms {
            let sum = terms.entry(monomial.clone()).or_insert(0);
            *sum = sum.checked_add(*coefficient)?;
        }
        terms.retain(|_, coefficient| *coefficient != 0);
        Some(Self { terms })
    }

    pub(in crate::verify) fn scale(&self, factor: i64) -> Option<Self> {
        if factor == 0 {
            return Some(Self::default());
        }
        let terms = self
            .terms
            .iter()
            .map(|(monomial, coefficient)| {
                Some((
                    monomial.clone(),
                    coefficient.checked_mul(i128::from(factor))?,
                ))
            })
            .collect::<Option<_>>()?;
        Some(Self { terms })
    }

    pub(in crate::verify) fn subtract(&self, other: &Self) -> Option<Self> {
        self.add(&other.scale(-1)?)
    }

    pub(in crate::verify) fn multiply(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut monomial: Vec<Atom> = left.iter().chain(right).cloned().collect();
                monomial.sort();
                let sum = product.terms.entry(monomial).or_insert(0);
                *sum = sum.checked_add(a.checked_mul(*b)?)?;
            }
        }
        product.terms.retain(|_, coefficient| *coefficient != 0);
        Some(product)
    }

    /// The greatest number that divides every coefficient, and what is left; 1 for a constant.
    pub(in crate::verify) fn split_content(&self) -> (i128, Self) {
        let mut content = 0_i128;
        for coefficient in self.terms.values() {
            let (mut one, mut other) = (content, coefficient.checked_abs().unwrap_or(1));
            while other != 0 {
                (one, other) = (other, one % other);
            }
            content = one;
        }
        match self.whole_constant().is_some() || content <= 1 {
            true => (1, self.clone()),
            false => (content, self.divide_exactly(content)),
        }
    }

    /// The product of the atoms that every monomial has, and what it is multiplied by; `None` when there are no such
    /// atoms, or nothing else.
    pub(in crate::verify) fn split_factor(&self) -> Option<(Self, Self)> {
        let mut monomials = self.terms.keys();
        let mut common = monomials.next()?.clone();
        for monomial in monomials {
            let mut left = monomial.clone();
            common.retain(|atom| {
                let found = left.iter().position(|other| other == atom);
                found.map(|at| left.remove(at)).is_some()
            });
        }
        if common.is_empty() || self.terms.len() < 2 {
            return None;
        }
        let mut rest = Self::default();
        for (monomial, coefficient) in &self.terms {
            rest.terms.insert(without(monomial, &common)?, *coefficient);
        }
        let factor = Self {
            terms: BTreeMap::from([(common, 1)]),
        };
        Some((factor, rest))
    }

    /// Whether it is one number divided by another that only the run tells.
    pub(in crate::verify) fn is_quotient(&self) -> bool {
        let mut terms = self.terms.iter();
        match (terms.next(), terms.next()) {
            (Some((monomial, 1)), None) => match monomial.as_slice() {
                [Atom::Floor(_, divisor)] => divisor.as_constant().is_none(),
                _ => false,
            },
            _ => false,
        }
    }

    /// The most atoms that a monomial of it has.
    pub(in crate::verify) fn degree(&self) -> usize {
        self.terms.keys().map(Vec::len).max().unwrap_or(0)
    }

    /// Itself where its leading coefficient is positive, else its negative; and, of one monomial, each of its atoms as
    /// often as the number in front of it says. Nothing for a constant.
    pub(in crate::verify) fn positive_factors(&self) -> Vec<Self> {
        let leading = self.leading().map_or(0, |(_, coefficient)| coefficient);
        let positive = match leading < 0 {
            true => self.scale(-1),
            false => Some(self.clone()),
        };
        let Some(positive) = positive.filter(|_| self.degree() > 0) else {
            return Vec::new();
        };
        let mut factors = Vec::new();
        if let (1, Some((monomial, coefficient))) = (positive.terms.len(), positive.leading())
            && monomial.len() > 1
        {
            factors.extend(monomial.iter().map(|atom| Self {
                terms: BTreeMap::from([(vec![atom.clone()], coefficient)]),
            }));
        }
        factors.push(positive);
        factors
    }

    /// `divisor · first + second`: every monomial that the divisor's leading one divides is in the first.
    /// `None` for a divisor of zero, or where numbers grow too large.
    pub(in crate::verify) fn divide(&self, divisor: &Self) -> Option<(Self, Self)> {
        let (leading, by) = divisor.leading()?;
        let (mut quotient, mut left, mut rest) = (Self::default(), self.clone(), Self::default());
        // The leading monomial of what is left falls with each step, of which there are few.
        while let Some((monomial, coefficient)) = left.leading() {
            let term = |monomial: Vec<Atom>, coefficient| Self {
                terms: BTreeMap::from([(monomial, coefficient)]),
            };
            match without(monomial, leading).filter(|_| coefficient % by == 0) {
                Some(factor) => {
                    let step = term(factor, coefficient / by);
                    left = left.subtract(&step.multiply(divisor)?)?;
                    quotient = quotient.add(&step)?;
                }
                None => {
                    let monomial = monomial.clone();
                    left.terms.remove(&monomial);
                    rest.terms.insert(monomial, coefficient);
                }
            }
        }
        Some((quotient, rest))
    }

    /// The largest monomial, of those with most atoms the last one of the alphabet, which is an order that products keep.
    fn leading(&self) -> Option<(&Vec<Atom>, i128)> {
        let largest = self.terms.iter().max_by(|(one, _), (other, _)| {
            one.len().cmp(&other.len()).then_with(|| one.cmp(other))
        });
        largest.map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    /// The same with polynomials in place of host values, also within quotients, minima and maxima.
    /// `None` when a coefficient leaves 128 bits or a divisor is not positive.
    pub(in crate::verify) fn substitute(
        &self,
        value: &mut impl FnMut(ValueId) -> Self,
    ) -> Option<Self> {
        let mut sum = Self::default();
        for (monomial, coefficient) in &self.terms {
            let mut product = Self::whole(*coefficient);
            for atom in monomial {
                product = product.multiply(&atom.substitute(value)?)?;
            }
            sum = sum.add(&product)?;
        }
        Some(sum)
    }

    fn divide_exactly(&self, divisor: i128) -> Self {
        let terms = self.terms.iter();
        let terms = terms.map(|(monomial, factor)| (monomial.clone(), factor / divisor));
        Self {
            terms: terms.collect(),
        }
    }

    pub(in crate::verify) fn floor_divide(&self, divisor: &Self) -> Option<Self> {
        match (self.whole_constant(), divisor.whole_constant()) {
            (_, Some(1)) => Some(self.clone()),
            (Some(a), Some(b)) if b > 0 => Some(Self::whole(a.div_euclid(b))),
            (_, Some(b)) if b <= 0 => None,
            (_, Some(b)) if self.terms.values().all(|coefficient| coefficient % b == 0) => {
                Some(self.divide_exactly(b))
            }
            _ => Some(Self::atom(Atom::Floor(
                Shared::new(self.clone()),
                Shared::new(divisor.clone()),
            ))),
        }
    }

    fn minimum(self, other: Self) -> Self {
        match (self.whole_constant(), other.whole_constant()) {
            (Some(a), Some(b)) => Self::whole(a.min(b)),
            _ if self == other => self,
            _ => Self::atom(Atom::Minimum(Shared::new(self), Shared::new(other))),
        }
    }

    fn maximum(self, other: Self) -> Self {
        match (self.whole_constant(), other.whole_constant()) {
            (Some(a), Some(b)) => Self::whole(a.max(b)),
            _ if self == other => self,
            _ => Self::atom(Atom::Maximum(Shared::new(self), Shared::new(other))),
        }
    }
}

/// A monomial less the atoms of another; `None` where it has not all of them.
fn without(monomial: &[Atom], other: &[Atom]) -> Option<Vec<Atom>> {
    let mut left = monomial.to_vec();
    for atom in other {
        let at = left.iter().position(|own| own == atom)?;
        left.remove(at);
    }
    Some(left)
}

impl Atom {
    /// See [`Polynomial::substitute`].
    fn substitute(&self, value: &mut impl FnMut(ValueId) -> Polynomial) -> Option<Polynomial> {
        let mut both = |a: &Polynomial, b: &Polynomial| {
            let a = a.substitute(value)?;
            Some((a, b.substitute(value)?))
        };
        match self {
            Self::Value(own) => Some(value(*own)),
            Self::Reading { .. } | Self::Private(..) => Some(Polynomial::atom(self.clone())),
            Self::Floor(a, b) => both(a, b).and_then(|(a, b)| a.floor_divide(&b)),
            Self::Minimum(a, b) => both(a, b).map(|(a, b)| a.minimum(b)),
            Self::Maximum(a, b) => both(a, b).map(|(a, b)| a.maximum(b)),
        }
    }
}

/// The normal form of an expression, its leaves given as polynomials.
///
/// # Errors
/// `None` when a leaf has no value, a divisor is not positive, or a coefficient leaves 128 bits.
pub(in crate::verify) fn normal_form<L>(
    expression: &Expression<L>,
    leaf: &mut impl FnMut(&L) -> Option<Polynomial>,
) -> Option<Polynomial> {
    let mut both =
        |a: &Expression<L>, b: &Expression<L>| Some((normal_form(a, leaf)?, normal_form(b, leaf)?));
    match expression {
        Expression::Constant(value) => Some(Polynomial::constant(*value)),
        Expression::Leaf(symbol) => leaf(symbol),
        Expression::Add(a, b) => both(a, b).and_then(|(a, b)| a.add(&b)),
        Expression::Subtract(a, b) => both(a, b).and_then(|(a, b)| a.subtract(&b)),
        Expression::Multiply(a, b) => both(a, b).and_then(|(a, b)| a.multiply(&b)),
        Expression::FloorDivide(a, b) => both(a, b).and_then(|(a, b)| a.floor_divide(&b)),
        Expression::Minimum(a, b) => both(a, b).map(|(a, b)| a.minimum(b)),
        Expression::Maximum(a, b) => both(a, b).map(|(a, b)| a.maximum(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Atom, Polynomial};
    use crate::launch::LaunchId;

    /// `Σ coefficient · Π atoms`, the atoms by number.
    fn polynomial(terms: &[(i64, &[u32])]) -> Polynomial {
        let mut sum = Polynomial::default();
        for (coefficient, atoms) in terms {
            let mut term = Polynomial::constant(*coefficient);
            for atom in *atoms {
                let atom = Polynomial::atom(Atom::Private(LaunchId(0), *atom as usize));
                term = term.multiply(&atom).expect("small");
            }
            sum = sum.add(&term).expect("small");
        }
        sum
    }

    #[test]
    fn quotient_and_rest_make_the_whole() {
        let one_of: [&[(i64, &[u32])]; 9] = [
            &[(1, &[0])],
            &[(4, &[1])],
            &[(-2, &[0, 1])],
            &[(1, &[0]), (2, &[])],
            &[(1, &[0, 1]), (-3, &[1]), (5, &[])],
            &[(6, &[0, 0, 1]), (1, &[2])],
            &[(3, &[])],
            &[(1, &[0]), (1, &[1])],
            &[(1, &[1, 2]), (2, &[0, 2]), (-4, &[0])],
        ];
        for divisor in one_of.map(polynomial) {
            for factor in one_of.map(polynomial) {
                let whole = factor.multiply(&divisor).expect("small");
                assert_eq!(
                    whole.divide(&divisor),
                    Some((factor.clone(), Polynomial::default()))
                );
                for added in one_of.map(polynomial) {
                    let sum = whole.add(&added).expect("small");
                    let (quotient, rest) = sum.divide(&divisor).expect("small");
                    let back = quotient
                        .multiply(&divisor)
                        .and_then(|whole| whole.add(&rest));
                    assert_eq!(back, Some(sum));
                }
            }
        }
        assert_eq!(
            polynomial(&[(1, &[0])]).divide(&Polynomial::default()),
            None
        );
    }

    #[test]
    fn factors_are_positive_multiples() {
        let product = polynomial(&[(-4, &[0, 1])]);
        let factors = product.positive_factors();
        let expected = [&[(4, &[0][..])][..], &[(4, &[1])], &[(4, &[0, 1])]];
        assert_eq!(factors, expected.map(polynomial));
        assert!(Polynomial::constant(3).positive_factors().is_empty());
    }
}
