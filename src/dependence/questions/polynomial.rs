//! Integer polynomials over host values: the normal form in which two launches' uniform values are
//! compared.
//!
//! Invariant: two expressions that have equal polynomials have equal values; the converse does not
//! hold. Coefficients that leave 64 bits give `None`, never a wrapped number.

use crate::kernel::KernelSymbol;
use crate::launch::{NodeId, ValueId};
use crate::math::expression::Expression;
use crate::shared::Shared;
use std::collections::BTreeMap;

/// An indeterminate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::dependence) enum Atom {
    /// A host value, in the reading of its witness.
    Value(ValueId),
    /// A value that only one launch knows: its node, and the symbol of its kernel.
    Private(NodeId, KernelSymbol),
    /// Another value of the same name on the sink's side, where source and sink may see different
    /// runs of the loop that it varies in.
    SinkSide(Box<Self>),
    /// `floor(a / b)`.
    FloorDivide(Shared<Polynomial>, Shared<Polynomial>),
    /// `min(a, b)`.
    Minimum(Shared<Polynomial>, Shared<Polynomial>),
    /// `max(a, b)`.
    Maximum(Shared<Polynomial>, Shared<Polynomial>),
}

impl Atom {
    /// Whether it is made of a value of the sink's side.
    pub(in crate::dependence) fn is_of_sink_side(&self) -> bool {
        match self {
            Self::SinkSide(_) => true,
            Self::Value(_) | Self::Private(..) => false,
            Self::FloorDivide(a, b) | Self::Minimum(a, b) | Self::Maximum(a, b) => {
                let mut atoms = a.terms.keys().chain(b.terms.keys()).flatten();
                atoms.any(Self::is_of_sink_side)
            }
        }
    }
}

/// A product of indeterminates, sorted; empty for the constant term.
pub(in crate::dependence) type Monomial = Vec<Atom>;

/// `Σ coefficient · monomial`; no coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::dependence) struct Polynomial {
    /// By monomial.
    pub(in crate::dependence) terms: BTreeMap<Monomial, i64>,
}

impl Polynomial {
    pub(in crate::dependence) fn constant(value: i64) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Self { terms }
    }

    pub(in crate::dependence) fn atom(atom: Atom) -> Self {
        Self {
            terms: BTreeMap::from([(vec![atom], 1)]),
        }
    }

    pub(in crate::dependence) fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    pub(in crate::dependence) fn add(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (monomial, coefficient) in &other.terms {
            let entry = sum.terms.entry(monomial.clone()).or_insert(0);
            *entry = entry.checked_add(*coefficient)?;
        }
        sum.terms.retain(|_, coefficient| *coefficient != 0);
        Some(sum)
    }

    pub(in crate::dependence) fn scale(&self, factor: i64) -> Option<Self> {
        let mut scaled = self.clone();
        for coefficient in scaled.terms.values_mut() {
            *coefficient = coefficient.checked_mul(factor)?;
        }
        scaled.terms.retain(|_, coefficient| *coefficient != 0);
        Some(scaled)
    }

    pub(in crate::dependence) fn subtract(&self, other: &Self) -> Option<Self> {
        self.add(&other.scale(-1)?)
    }

    pub(in crate::dependence) fn multiply(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut monomial = left.clone();
                monomial.extend(right.iter().cloned());
                monomial.sort();
                let entry = product.terms.entry(monomial).or_insert(0);
                *entry = entry.checked_add(a.checked_mul(*b)?)?;
            }
        }
        product.terms.retain(|_, coefficient| *coefficient != 0);
        Some(product)
    }

    /// The greatest positive number that divides every coefficient, and what is left; `(0, 0)` for
    /// zero.
    pub(in crate::dependence) fn split_content(&self) -> (i64, Self) {
        let mut content = 0u64;
        for coefficient in self.terms.values() {
            content = greatest_common_divisor(content, coefficient.unsigned_abs());
        }
        let Ok(content) = i64::try_from(content) else {
            return (1, self.clone());
        };
        if content <= 1 {
            return (content, self.clone());
        }
        let terms = self
            .terms
            .iter()
            .map(|(monomial, coefficient)| (monomial.clone(), coefficient / content))
            .collect();
        (content, Self { terms })
    }

    /// `floor(a / b)`; without a floor where a constant divides every coefficient.
    fn floor_divide(a: Self, b: Self) -> Self {
        match (a.as_constant(), b.as_constant()) {
            (Some(a), Some(b)) if b > 0 => return Self::constant(a.div_euclid(b)),
            (None, Some(divisor)) if divisor > 0 => {
                let divides = |coefficient: &i64| coefficient % divisor == 0;
                if a.terms.values().all(divides) {
                    let terms = a.terms.into_iter();
                    let terms = terms.map(|(monomial, factor)| (monomial, factor / divisor));
                    return Self {
                        terms: terms.collect(),
                    };
                }
            }
            _ => {}
        }
        Self::atom(Atom::FloorDivide(Shared::new(a), Shared::new(b)))
    }

    /// The polynomial of a host expression, each leaf through `leaf`.
    pub(in crate::dependence) fn from_expression<L>(
        expression: &Expression<L>,
        leaf: &mut impl FnMut(&L) -> Option<Self>,
    ) -> Option<Self> {
        let mut both = |a: &Expression<L>, b: &Expression<L>| {
            Some((
                Self::from_expression(a, leaf)?,
                Self::from_expression(b, leaf)?,
            ))
        };
        Some(match expression {
            Expression::Constant(value) => Self::constant(*value),
            Expression::Leaf(symbol) => return leaf(symbol),
            Expression::Add(a, b) => both(a, b).and_then(|(a, b)| a.add(&b))?,
            Expression::Subtract(a, b) => both(a, b).and_then(|(a, b)| a.subtract(&b))?,
            Expression::Multiply(a, b) => both(a, b).and_then(|(a, b)| a.multiply(&b))?,
            Expression::FloorDivide(a, b) => {
                let (a, b) = both(a, b)?;
                Self::floor_divide(a, b)
            }
            Expression::Minimum(a, b) => {
                let (a, b) = both(a, b)?;
                match a.subtract(&b)?.as_constant() {
                    Some(difference) if difference <= 0 => a,
                    Some(_) => b,
                    None => Self::atom(Atom::Minimum(Shared::new(a), Shared::new(b))),
                }
            }
            Expression::Maximum(a, b) => {
                let (a, b) = both(a, b)?;
                match a.subtract(&b)?.as_constant() {
                    Some(difference) if difference >= 0 => a,
                    Some(_) => b,
                    None => Self::atom(Atom::Maximum(Shared::new(a), Shared::new(b))),
                }
            }
        })
    }

    /// The same polynomial with other polynomials in the place of some host values; `None` when a
    /// coefficient leaves 64 bits.
    pub(in crate::dependence) fn substitute(
        &self,
        image: &impl Fn(ValueId) -> Option<Self>,
    ) -> Option<Self> {
        let mut sum = Self::default();
        for (monomial, coefficient) in &self.terms {
            let mut term = Self::constant(*coefficient);
            for atom in monomial {
                term = term.multiply(&atom.substitute(image)?)?;
            }
            sum = sum.add(&term)?;
        }
        Some(sum)
    }

    /// Every atom, those inside of others too.
    pub(in crate::dependence) fn atoms(&self) -> Vec<&Atom> {
        let mut found = Vec::new();
        let mut work: Vec<&Self> = vec![self];
        while let Some(polynomial) = work.pop() {
            for atom in polynomial.terms.keys().flatten() {
                found.push(atom);
                if let Atom::FloorDivide(a, b) | Atom::Minimum(a, b) | Atom::Maximum(a, b) = atom {
                    work.extend([&**a, &**b]);
                }
            }
        }
        found
    }

    /// The same polynomial with every value for which `unstable` holds, and every private value,
    /// as the sink's own.
    pub(in crate::dependence) fn on_sink_side(&self, unstable: &impl Fn(ValueId) -> bool) -> Self {
        let mut image = Self::default();
        for (monomial, coefficient) in &self.terms {
            let mut renamed: Monomial = monomial
                .iter()
                .map(|atom| atom.on_sink_side(unstable))
                .collect();
            renamed.sort();
            image.terms.insert(renamed, *coefficient);
        }
        image
    }
}

impl Atom {
    fn substitute(&self, image: &impl Fn(ValueId) -> Option<Polynomial>) -> Option<Polynomial> {
        let both =
            |a: &Polynomial, b: &Polynomial| Some((a.substitute(image)?, b.substitute(image)?));
        let atom = match self {
            Self::Value(value) => match image(*value) {
                Some(image) => return Some(image),
                None => self.clone(),
            },
            Self::Private(..) | Self::SinkSide(_) => self.clone(),
            Self::FloorDivide(a, b) => {
                let (a, b) = both(a, b)?;
                return Some(Polynomial::floor_divide(a, b));
            }
            Self::Minimum(a, b) => {
                let (a, b) = both(a, b)?;
                Self::Minimum(Shared::new(a), Shared::new(b))
            }
            Self::Maximum(a, b) => {
                let (a, b) = both(a, b)?;
                Self::Maximum(Shared::new(a), Shared::new(b))
            }
        };
        Some(Polynomial::atom(atom))
    }

    fn on_sink_side(&self, unstable: &impl Fn(ValueId) -> bool) -> Self {
        let both = |a: &Polynomial, b: &Polynomial| {
            (
                Shared::new(a.on_sink_side(unstable)),
                Shared::new(b.on_sink_side(unstable)),
            )
        };
        match self {
            Self::Value(value) if unstable(*value) => Self::SinkSide(Box::new(self.clone())),
            Self::Private(..) => Self::SinkSide(Box::new(self.clone())),
            Self::Value(_) | Self::SinkSide(_) => self.clone(),
            Self::FloorDivide(a, b) => {
                let (a, b) = both(a, b);
                Self::FloorDivide(a, b)
            }
            Self::Minimum(a, b) => {
                let (a, b) = both(a, b);
                Self::Minimum(a, b)
            }
            Self::Maximum(a, b) => {
                let (a, b) = both(a, b);
                Self::Maximum(a, b)
            }
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(index: usize) -> Polynomial {
        Polynomial::atom(Atom::Value(ValueId(index)))
    }

    #[test]
    fn equal_values_meet_in_one_form() {
        let (n, b) = (value(0), value(1));
        let left = n.add(&b).unwrap().multiply(&b).unwrap();
        let right = b
            .multiply(&b)
            .unwrap()
            .add(&b.multiply(&n).unwrap())
            .unwrap();
        assert_eq!(left, right);
        assert_eq!(left.subtract(&right).unwrap().as_constant(), Some(0));
        assert_eq!(left.scale(6).unwrap().split_content(), (6, left));
    }

    #[test]
    fn overflow_is_no_answer() {
        assert!(
            Polynomial::constant(i64::MAX)
                .add(&Polynomial::constant(1))
                .is_none()
        );
        assert!(Polynomial::constant(i64::MAX).scale(2).is_none());
    }
}
