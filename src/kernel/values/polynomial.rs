//! Uniform values in a normal form: polynomials over kernel symbols.
//!
//! Equal polynomials are equal structures, which is what lets parameters be shared and conditions
//! that cancel (`gridDim·blockDim - blockDim + blockDim - 1`) be seen through. Minimum, maximum and
//! division stay whole, as atoms.

use super::super::KernelSymbol;
use crate::math::affine::Axis;
use crate::math::expression::Expression;
use std::collections::BTreeMap;

/// Something that the normal form does not look into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// A value of the launch.
    Symbol(KernelSymbol),
    /// A minimum, maximum or floor division.
    Compound(Expression<KernelSymbol>),
}

/// A sum of products of atoms with integer coefficients, in mathematical integers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Polynomial {
    /// Coefficient by sorted list of factors; the empty list is the constant. None is zero.
    terms: BTreeMap<Vec<Atom>, i64>,
}

impl Polynomial {
    /// A literal.
    pub fn constant(value: i64) -> Self {
        Self::monomial(Vec::new(), value)
    }

    /// One symbol.
    pub fn symbol(symbol: KernelSymbol) -> Self {
        Self::monomial(vec![Atom::Symbol(symbol)], 1)
    }

    fn monomial(factors: Vec<Atom>, coefficient: i64) -> Self {
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(factors, coefficient);
        }
        Self { terms }
    }

    /// An expression as one atom; literals become literals.
    fn compound(expression: Expression<KernelSymbol>) -> Self {
        match expression {
            Expression::Constant(value) => Self::constant(value),
            Expression::Leaf(symbol) => Self::symbol(symbol),
            other => Self::monomial(vec![Atom::Compound(other)], 1),
        }
    }

    /// The literal value, when there is no symbol.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The constant term.
    pub fn constant_term(&self) -> i64 {
        self.terms.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// Coefficient and unit monomial of every term but the constant.
    pub fn monomials(&self) -> impl Iterator<Item = (i64, Self)> + '_ {
        self.terms
            .iter()
            .filter(|(factors, _)| !factors.is_empty())
            .map(|(factors, coefficient)| (*coefficient, Self::monomial(factors.clone(), 1)))
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Sum; `None` when a coefficient leaves 64 bits.
    pub fn add(&self, other: &Self) -> Option<Self> {
        self.clone().plus(other, 1)
    }

    /// Sum with a multiple of another; `None` when a coefficient leaves 64 bits.
    pub fn plus(mut self, other: &Self, factor: i64) -> Option<Self> {
        for (factors, coefficient) in &other.terms {
            self.accumulate(factors, coefficient.checked_mul(factor)?)?;
        }
        Some(self)
    }

    fn accumulate(&mut self, factors: &Vec<Atom>, coefficient: i64) -> Option<()> {
        let sum = self.terms.get(factors).copied().unwrap_or(0);
        match sum.checked_add(coefficient)? {
            0 => self.terms.remove(factors),
            sum => match self.terms.get_mut(factors) {
                Some(known) => Some(std::mem::replace(known, sum)),
                None => self.terms.insert(factors.clone(), sum),
            },
        };
        Some(())
    }

    /// Whether it lies between two others, whatever the symbols stand for: it is on the line from one to the other.
    pub fn is_between(&self, one: &Self, other: &Self) -> bool {
        let (Some(part), Some(span)) = (self.subtract(one), other.subtract(one)) else {
            return false;
        };
        let coefficient =
            |of: &Self, factors| i128::from(of.terms.get(factors).copied().unwrap_or(0));
        let Some((factors, whole)) = span.terms.first_key_value() else {
            return part.terms.is_empty();
        };
        let (share, whole) = (coefficient(&part, factors), i128::from(*whole));
        let is_within = share * whole.signum() >= 0 && share.abs() <= whole.abs();
        let mut all = part.terms.keys().chain(span.terms.keys());
        is_within
            && all.all(|factors| {
                coefficient(&part, factors) * whole == coefficient(&span, factors) * share
            })
    }

    /// Multiple; `None` when a coefficient leaves 64 bits.
    pub fn scale(&self, factor: i64) -> Option<Self> {
        if factor == 0 {
            return Some(Self::default());
        }
        let mut scaled = self.clone();
        for coefficient in scaled.terms.values_mut() {
            *coefficient = coefficient.checked_mul(factor)?;
        }
        Some(scaled)
    }

    /// Difference; `None` when a coefficient leaves 64 bits.
    pub fn subtract(&self, other: &Self) -> Option<Self> {
        self.clone().plus(other, -1)
    }

    /// Product; `None` when a coefficient leaves 64 bits.
    pub fn multiply(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut factors = left.clone();
                factors.extend(right.iter().cloned());
                factors.sort();
                product.accumulate(&factors, a.checked_mul(*b)?)?;
            }
        }
        Some(product)
    }

    /// `floor(self / divisor)` for a positive divisor.
    pub fn floor_divide(&self, divisor: &Self) -> Self {
        if let Some(literal) = divisor.as_constant()
            && literal > 0
            && self
                .terms
                .values()
                .all(|coefficient| coefficient % literal == 0)
        {
            let terms = self
                .terms
                .iter()
                .map(|(factors, coefficient)| (factors.clone(), coefficient / literal))
                .collect();
            return Self { terms };
        }
        if let Some(literal) = divisor.as_constant()
            && literal > 0
        {
            let (least, most) = self.range();
            let quotient = least.div_euclid(literal.into());
            if quotient == most.div_euclid(literal.into())
                && let Ok(quotient) = i64::try_from(quotient)
            {
                return Self::constant(quotient);
            }
        }
        Self::compound(self.expression().floor_divide(divisor.expression()))
    }

    /// Values at least as large, each with one division by a literal less, where that costs less
    /// than one divisor: `c·floor(e / d) <= (c/d)·e` and `-c·floor(e / d) <= (c/d)·(d - 1 - e)`.
    pub fn without_a_division(&self) -> impl Iterator<Item = Self> + '_ {
        self.terms.iter().filter_map(|(factors, coefficient)| {
            let [Atom::Compound(Expression::FloorDivide(dividend, divisor))] = factors.as_slice()
            else {
                return None;
            };
            let divisor = divisor.as_constant()?;
            if divisor <= 0 || coefficient % divisor != 0 {
                return None;
            }
            let mut dividend = Self::of(dividend)?;
            if *coefficient < 0 {
                dividend = dividend.subtract(&Self::constant(divisor - 1))?;
            }
            let whole = Self::monomial(factors.clone(), *coefficient);
            self.subtract(&whole)?
                .add(&dividend.scale(coefficient / divisor)?)
        })
    }

    /// The normal form of an expression. `None` when a coefficient leaves 64 bits.
    pub fn of(expression: &Expression<KernelSymbol>) -> Option<Self> {
        match expression {
            Expression::Add(a, b) => Self::of(a)?.add(&Self::of(b)?),
            Expression::Subtract(a, b) => Self::of(a)?.subtract(&Self::of(b)?),
            Expression::Multiply(a, b) => Self::of(a)?.multiply(&Self::of(b)?),
            other => Some(Self::compound(other.clone())),
        }
    }

    /// The smaller of two.
    pub fn minimum(&self, other: &Self) -> Self {
        let (low, high) = if self <= other {
            (self, other)
        } else {
            (other, self)
        };
        Self::compound(low.expression().minimum(high.expression()))
    }

    /// The larger of two.
    pub fn maximum(&self, other: &Self) -> Self {
        let (low, high) = if self <= other {
            (self, other)
        } else {
            (other, self)
        };
        Self::compound(low.expression().maximum(high.expression()))
    }

    /// The same value as a tree: positive terms first, the constant last.
    pub fn expression(&self) -> Expression<KernelSymbol> {
        let mut sum: Option<Expression<KernelSymbol>> = None;
        let terms = || self.terms.iter().filter(|(factors, _)| !factors.is_empty());
        let positive = terms().filter(|(_, coefficient)| **coefficient > 0);
        let negative = terms().filter(|(_, coefficient)| **coefficient < 0);
        for (factors, coefficient) in positive.chain(negative) {
            let mut product = Expression::Constant(1);
            for factor in factors {
                product = product.multiply(match factor {
                    Atom::Symbol(symbol) => Expression::Leaf(symbol.clone()),
                    Atom::Compound(expression) => expression.clone(),
                });
            }
            sum = Some(match (sum, coefficient.checked_neg()) {
                (Some(sum), Some(size)) if *coefficient < 0 => {
                    sum.subtract(Expression::Constant(size).multiply(product))
                }
                (Some(sum), _) => sum.add(Expression::Constant(*coefficient).multiply(product)),
                (None, _) => Expression::Constant(*coefficient).multiply(product),
            });
        }
        match (sum, self.constant_term()) {
            (None, value) => Expression::Constant(value),
            (Some(sum), 0) => sum,
            (Some(sum), value) if value < 0 && value != i64::MIN => {
                sum.subtract(Expression::Constant(-value))
            }
            (Some(sum), value) => sum.add(Expression::Constant(value)),
        }
    }

    /// Whether it is at least zero in every launch, as far as its signs tell: what is subtracted is no more than a constant, and
    /// all else grows with symbols that are never negative.
    pub fn is_never_negative(&self) -> bool {
        let mut least = 0i128;
        for (factors, coefficient) in &self.terms {
            let mut product = i128::from(*coefficient);
            for factor in factors {
                let low = match factor {
                    Atom::Symbol(symbol) => symbol_range(symbol).0,
                    Atom::Compound(_) => return false,
                };
                if *coefficient < 0 || low < 0 {
                    return false;
                }
                product = product.saturating_mul(low);
            }
            least = least.saturating_add(product);
        }
        least >= 0
    }

    /// The range of values that it can take in any launch; saturating, hence never too narrow.
    pub fn range(&self) -> (i128, i128) {
        let mut total = (0i128, 0i128);
        for (factors, coefficient) in &self.terms {
            let mut product = (1i128, 1i128);
            for factor in factors {
                let range = match factor {
                    Atom::Symbol(symbol) => symbol_range(symbol),
                    Atom::Compound(expression) => expression_range(expression),
                };
                product = multiply_ranges(product, range);
            }
            let scaled =
                multiply_ranges(product, (i128::from(*coefficient), (*coefficient).into()));
            total = (
                total.0.saturating_add(scaled.0),
                total.1.saturating_add(scaled.1),
            );
        }
        total
    }
}

fn multiply_ranges(left: (i128, i128), right: (i128, i128)) -> (i128, i128) {
    let corners = [
        left.0.saturating_mul(right.0),
        left.0.saturating_mul(right.1),
        left.1.saturating_mul(right.0),
        left.1.saturating_mul(right.1),
    ];
    (
        corners.into_iter().min().unwrap_or(i128::MIN),
        corners.into_iter().max().unwrap_or(i128::MAX),
    )
}

/// What CUDA allows a launch to be (CUDA programming guide, table of technical specifications).
pub fn symbol_range(symbol: &KernelSymbol) -> (i128, i128) {
    match symbol {
        KernelSymbol::GridSize(Axis::X) => (1, (1 << 31) - 1),
        KernelSymbol::GridSize(_) => (1, 65_535),
        KernelSymbol::BlockSize(Axis::Z) => (1, 64),
        KernelSymbol::BlockSize(_) => (1, 1024),
        KernelSymbol::Argument {
            bits, signed: true, ..
        } => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        KernelSymbol::Argument {
            bits,
            signed: false,
            ..
        } => (0, (1 << bits) - 1),
        KernelSymbol::Opaque(_) => (i128::MIN, i128::MAX),
    }
}

fn expression_range(expression: &Expression<KernelSymbol>) -> (i128, i128) {
    let pair = |a: &Expression<_>, b: &Expression<_>| (expression_range(a), expression_range(b));
    match expression {
        Expression::Constant(value) => ((*value).into(), (*value).into()),
        Expression::Leaf(symbol) => symbol_range(symbol),
        Expression::Add(a, b) => {
            let (a, b) = pair(a, b);
            (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
        }
        Expression::Subtract(a, b) => {
            let (a, b) = pair(a, b);
            (a.0.saturating_sub(b.1), a.1.saturating_sub(b.0))
        }
        Expression::Multiply(a, b) => {
            let (a, b) = pair(a, b);
            multiply_ranges(a, b)
        }
        // The divisor is at least one, so the quotient lies between the dividend and zero.
        Expression::FloorDivide(a, b) => match (expression_range(a), b.as_constant()) {
            (range, Some(divisor)) if divisor > 0 => (
                range.0.div_euclid(divisor.into()),
                range.1.div_euclid(divisor.into()),
            ),
            (range, _) => (range.0.min(0), range.1.max(0)),
        },
        Expression::Minimum(a, b) => {
            let (a, b) = pair(a, b);
            (a.0.min(b.0), a.1.min(b.1))
        }
        Expression::Maximum(a, b) => {
            let (a, b) = pair(a, b);
            (a.0.max(b.0), a.1.max(b.1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Polynomial;
    use crate::kernel::KernelSymbol;
    use crate::math::affine::Axis;

    #[test]
    fn what_lies_between() {
        let [n, m] =
            [Axis::X, Axis::Y].map(|axis| Polynomial::symbol(KernelSymbol::GridSize(axis)));
        let of = |of_n, of_m, constant| {
            let sum = n.scale(of_n).and_then(|sum| sum.plus(&m, of_m));
            sum.and_then(|sum| sum.plus(&Polynomial::constant(constant), 1))
                .expect("small")
        };
        let (one, other) = (of(2, 1, 4), of(8, -2, 16));
        for (between, expected) in [
            (of(2, 1, 4), true),
            (of(4, 0, 8), true),
            (of(6, -1, 12), true),
            (of(8, -2, 16), true),
            (of(0, 2, 0), false),
            (of(10, -3, 20), false),
            (of(4, 0, 9), false),
            (of(4, 1, 8), false),
            (of(4, 0, 0), false),
        ] {
            assert_eq!(between.is_between(&one, &other), expected, "{between:?}");
            assert_eq!(between.is_between(&other, &one), expected, "{between:?}");
        }
        assert!(one.is_between(&one, &one) && !other.is_between(&one, &one));
    }
}
