//! Conditions over host values, and what follows from what a fused launch tests.
//!
//! Invariant: [`Assumptions`] only ever lose facts on the way to isl (a condition that has no
//! normal form is dropped, a product of two unknowns becomes an unknown of its own), so that
//! whatever is found to follow does follow.

use super::super::emptiness::{Condition, Points, Sum, Symbol, is_empty};
use super::super::polynomial::{Atom, Polynomial, normal_form};
use crate::math::{expression, formula};
use std::collections::BTreeMap;

/// A condition in normal form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::verify) enum Formula {
    /// The polynomial is at least zero.
    NonNegative(Polynomial),
    /// The polynomial is zero.
    Zero(Polynomial),
    /// All hold.
    All(Vec<Self>),
    /// Some holds.
    Any(Vec<Self>),
}

impl Formula {
    /// The normal form of a condition, its leaves given as polynomials; `None` when there is none.
    pub(in crate::verify) fn from_condition<L>(
        condition: &expression::Condition<L>,
        leaf: &mut impl FnMut(&L) -> Option<Polynomial>,
    ) -> Option<Self> {
        let all = |parts: &[expression::Condition<L>], leaf: &mut _| {
            parts
                .iter()
                .map(|part| Self::from_condition(part, leaf))
                .collect::<Option<Vec<_>>>()
        };
        Some(match condition {
            expression::Condition::LessEqual(a, b) => {
                let (a, b) = (normal_form(a, leaf)?, normal_form(b, leaf)?);
                Self::NonNegative(b.subtract(&a)?)
            }
            expression::Condition::Equal(a, b) => {
                let (a, b) = (normal_form(a, leaf)?, normal_form(b, leaf)?);
                Self::Zero(a.subtract(&b)?)
            }
            expression::Condition::All(parts) => Self::All(all(parts, leaf)?),
            expression::Condition::Any(parts) => Self::Any(all(parts, leaf)?),
        })
    }

    /// `left <= right`.
    pub(in crate::verify) fn less_equal(left: &Polynomial, right: &Polynomial) -> Option<Self> {
        Some(Self::NonNegative(right.subtract(left)?))
    }

    /// What follows for one factor of a product that is not negative: it is not negative either, or the other
    /// factor is not positive.
    fn without_factor(&self) -> Option<Self> {
        let Self::NonNegative(polynomial) = self else {
            return None;
        };
        let (factor, rest) = polynomial.split_factor()?;
        let none = factor.scale(-1)?;
        Some(Self::Any(vec![
            Self::NonNegative(none),
            Self::NonNegative(rest),
        ]))
    }

    fn decided(&self) -> Option<bool> {
        match self {
            Self::NonNegative(polynomial) => polynomial.whole_constant().map(|value| value >= 0),
            Self::Zero(polynomial) => polynomial.whole_constant().map(|value| value == 0),
            Self::All(parts) if parts.iter().all(|part| part.decided() == Some(true)) => Some(true),
            Self::Any(parts) if parts.iter().any(|part| part.decided() == Some(true)) => Some(true),
            _ => None,
        }
    }

    /// Whether it speaks of something that has a name.
    fn speaks_of(&self, names: &ParameterNames) -> bool {
        match self {
            Self::NonNegative(polynomial) | Self::Zero(polynomial) => {
                let mut monomials = polynomial.terms.keys();
                monomials.any(|monomial| names.knows(monomial))
            }
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.speaks_of(names)),
        }
    }

    /// As what is asked of isl: that it holds, or that it does not.
    fn condition(&self, names: &mut ParameterNames, negated: bool) -> Condition {
        let all = |parts: &[Self], names: &mut _| {
            let parts = parts.iter();
            parts.map(|part| part.condition(names, negated)).collect()
        };
        match (self, negated) {
            (Self::NonNegative(polynomial), false) => {
                formula::Formula::NonNegative(names.sum(polynomial))
            }
            (Self::NonNegative(polynomial), true) => names.sum(polynomial).at_most(Sum::number(-1)),
            (Self::Zero(polynomial), false) => formula::Formula::Zero(names.sum(polynomial)),
            (Self::Zero(polynomial), true) => {
                formula::Formula::differ(names.sum(polynomial), Sum::number(0))
            }
            (Self::All(parts), false) | (Self::Any(parts), true) => {
                formula::Formula::All(all(parts, names))
            }
            (Self::Any(parts), false) | (Self::All(parts), true) => {
                formula::Formula::Any(all(parts, names))
            }
        }
    }
}

/// Parameters of isl for the monomials of polynomials.
#[derive(Clone, Debug, Default)]
pub(in crate::verify) struct ParameterNames {
    indices: BTreeMap<Vec<Atom>, usize>,
}

impl ParameterNames {
    /// The polynomial as a sum, every monomial a parameter.
    pub(in crate::verify) fn sum(&mut self, polynomial: &Polynomial) -> Sum {
        let mut sum = Sum::number(0);
        for (monomial, coefficient) in &polynomial.terms {
            let term = match monomial.is_empty() {
                true => Sum::number(1),
                false => self.parameter(monomial),
            };
            sum = sum + term * *coefficient;
        }
        sum
    }

    /// Whether the monomial has a name already.
    pub(in crate::verify) fn knows(&self, monomial: &[Atom]) -> bool {
        self.indices.contains_key(monomial)
    }

    /// What monomials that have a name are so many times something as, which is no number.
    pub(in crate::verify) fn quotients(&self, step: &Polynomial) -> Vec<Polynomial> {
        let named = self.indices.keys().filter_map(|monomial| {
            let named = Polynomial {
                terms: BTreeMap::from([(monomial.clone(), 1)]),
            };
            let (quotient, rest) = named.divide(step)?;
            let is_multiple = rest.terms.is_empty() && quotient.degree() > 0;
            is_multiple.then_some(quotient)
        });
        let mut quotients: Vec<Polynomial> = named.collect();
        quotients.sort();
        quotients
    }

    /// All parameters.
    pub(in crate::verify) fn all(&self) -> Vec<Symbol> {
        (0..self.indices.len()).map(Symbol::Parameter).collect()
    }

    /// What holds for the named atoms by what they are: floors, minima, maxima, readings, and for
    /// floors times their divisors. May name further atoms, whose facts are included.
    fn facts(&mut self) -> Vec<Condition> {
        let mut facts = Vec::new();
        let mut done = Vec::new();
        loop {
            let next = self
                .indices
                .keys()
                .find(|monomial| !done.contains(*monomial))
                .cloned();
            let Some(monomial) = next else { break };
            done.push(monomial.clone());
            facts.extend(match monomial.len() {
                1 => self.atom_fact(&monomial),
                _ => self.multiple_fact(&monomial),
            });
        }
        facts
    }

    fn atom_fact(&mut self, monomial: &[Atom]) -> Option<Condition> {
        use formula::Formula::{All, Any};
        let atom = self.parameter(monomial);
        let own = || atom.clone();
        match &monomial[0] {
            Atom::Value(_) | Atom::Private(..) => None,
            Atom::Reading {
                value,
                bits,
                signed,
                whole,
                ..
            } => {
                let size = 1i128 << bits;
                let (low, high) = if *signed {
                    (-size / 2, size / 2)
                } else {
                    (0, size)
                };
                let range = Condition::within(own(), Sum::number(low), Sum::number(high));
                if *signed || !whole {
                    return Some(range);
                }
                let value = self.parameter(&[Atom::Value(*value)]);
                let wrapped = value.clone() + size;
                Some(All(vec![
                    range,
                    Any(vec![own().equal(value), own().equal(wrapped)]),
                ]))
            }
            Atom::Floor(numerator, divisor) => {
                let multiple = own() * i128::from(divisor.as_constant()?);
                let end = multiple.clone() + i128::from(divisor.as_constant()?);
                Some(Condition::within(self.sum(numerator), multiple, end))
            }
            Atom::Minimum(a, b) | Atom::Maximum(a, b) => {
                let compare = match &monomial[0] {
                    Atom::Minimum(..) => Sum::at_most,
                    _ => Sum::at_least,
                };
                let (a, b) = (self.sum(a), self.sum(b));
                let is = |one: &Sum, other: &Sum| {
                    let wins = compare(one.clone(), other.clone());
                    All(vec![own().equal(one.clone()), wins])
                };
                Some(Any(vec![is(&a, &b), is(&b, &a)]))
            }
        }
    }

    /// `n - d < d · floor(n / d) <= n` for a divisor of at least 1, where the monomial is such a multiple.
    fn multiple_fact(&mut self, monomial: &[Atom]) -> Option<Condition> {
        let (numerator, divisor) = monomial.iter().find_map(|atom| match atom {
            Atom::Floor(numerator, divisor) if divisor.as_constant().is_none() => {
                let multiple = Polynomial::atom(atom.clone()).multiply(divisor)?;
                let named = BTreeMap::from([(monomial.to_vec(), 1)]);
                (multiple.terms == named).then_some((numerator, divisor))
            }
            _ => None,
        })?;
        let (multiple, divisor) = (self.parameter(monomial), self.sum(divisor));
        let end = multiple.clone() + divisor.clone();
        let within = Condition::within(self.sum(numerator), multiple, end);
        let undefined = divisor.at_most(Sum::number(0));
        Some(formula::Formula::Any(vec![undefined, within]))
    }

    fn parameter(&mut self, monomial: &[Atom]) -> Sum {
        let next = self.indices.len();
        let index = *self.indices.entry(monomial.to_vec()).or_insert(next);
        Sum::variable(Symbol::Parameter(index))
    }
}

/// What may be taken for granted while a fused launch runs: its guards, and what CUDA itself
/// demands of a configuration that it accepts.
#[derive(Clone, Debug, Default)]
pub(in crate::verify) struct Assumptions {
    formulas: Vec<Formula>,
}

impl Assumptions {
    /// Adds a fact.
    pub(in crate::verify) fn assume(&mut self, formula: Formula) {
        match formula {
            Formula::All(parts) => parts.into_iter().for_each(|part| self.assume(part)),
            formula if formula.decided() == Some(true) || self.formulas.contains(&formula) => {}
            formula => {
                let reduced = formula.without_factor();
                self.formulas.push(formula);
                if let Some(reduced) = reduced {
                    self.assume(reduced);
                }
            }
        }
    }

    /// All facts.
    pub(in crate::verify) fn formulas(&self) -> &[Formula] {
        &self.formulas
    }

    /// What is known of the named monomials: the facts that speak of them or of
    /// what those speak of in turn, and what the atoms are. Facts about nothing else are left out,
    /// so that equal questions of different groups are equal.
    pub(in crate::verify) fn constraints(&self, names: &mut ParameterNames) -> Vec<Condition> {
        let mut constraints = Vec::new();
        let mut rest: Vec<&Formula> = self.formulas.iter().collect();
        loop {
            let facts = names.facts();
            let mut grown = false;
            rest.retain(|formula| {
                let speaks = formula.speaks_of(names);
                if speaks {
                    constraints.push(formula.condition(names, false));
                    grown = true;
                }
                !speaks
            });
            if !grown {
                constraints.extend(facts);
                return constraints;
            }
        }
    }

    /// Whether the formula follows. False when that could not be found out.
    pub(in crate::verify) fn imply(&self, formula: &Formula) -> bool {
        if formula.decided() == Some(true) || self.formulas.contains(formula) {
            return true;
        }
        if let Formula::All(parts) = formula {
            return parts.iter().all(|part| self.imply(part));
        }
        let mut names = ParameterNames::default();
        let mut constraints = vec![formula.condition(&mut names, true)];
        constraints.extend(self.constraints(&mut names));
        is_empty(Points {
            parameters: names.all(),
            variables: Vec::new(),
            condition: formula::Formula::All(constraints),
        }) == Some(true)
    }

    /// Whether two polynomials are equal. False when that could not be found out.
    pub(in crate::verify) fn equal(&self, left: &Polynomial, right: &Polynomial) -> bool {
        left == right
            || left
                .subtract(right)
                .is_some_and(|difference| self.imply(&Formula::Zero(difference)))
    }
}
