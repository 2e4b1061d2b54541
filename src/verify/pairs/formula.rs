//! Conditions over host values, and what follows from what a fused launch tests.
//!
//! Invariant: [`Assumptions`] only ever lose facts on the way to isl (a condition that has no
//! normal form is dropped, a product of two unknowns becomes an unknown of its own), so that
//! whatever is found to follow does follow.

use super::super::emptiness::{Points, is_empty};
use super::super::polynomial::{Atom, Polynomial, normal_form};
use crate::math::expression::Condition;
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
        condition: &Condition<L>,
        leaf: &mut impl FnMut(&L) -> Option<Polynomial>,
    ) -> Option<Self> {
        let all = |parts: &[Condition<L>], leaf: &mut _| {
            parts
                .iter()
                .map(|part| Self::from_condition(part, leaf))
                .collect::<Option<Vec<_>>>()
        };
        Some(match condition {
            Condition::LessEqual(a, b) => {
                let (a, b) = (normal_form(a, leaf)?, normal_form(b, leaf)?);
                Self::NonNegative(b.subtract(&a)?)
            }
            Condition::Equal(a, b) => {
                let (a, b) = (normal_form(a, leaf)?, normal_form(b, leaf)?);
                Self::Zero(a.subtract(&b)?)
            }
            Condition::All(parts) => Self::All(all(parts, leaf)?),
            Condition::Any(parts) => Self::Any(all(parts, leaf)?),
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

    fn text(&self, names: &mut ParameterNames, negated: bool) -> String {
        let joined = |parts: &[Self], names: &mut _, word: &str, none: &str| {
            let parts: Vec<_> = parts.iter().map(|part| part.text(names, negated)).collect();
            match parts.is_empty() {
                true => none.to_string(),
                false => format!("({})", parts.join(word)),
            }
        };
        match (self, negated) {
            (Self::NonNegative(polynomial), false) => format!("{} >= 0", names.text(polynomial)),
            (Self::NonNegative(polynomial), true) => format!("{} <= -1", names.text(polynomial)),
            (Self::Zero(polynomial), false) => format!("{} = 0", names.text(polynomial)),
            (Self::Zero(polynomial), true) => {
                let text = names.text(polynomial);
                format!("({text} >= 1 or {text} <= -1)")
            }
            (Self::All(parts), false) => joined(parts, names, " and ", "0 = 0"),
            (Self::All(parts), true) => joined(parts, names, " or ", "0 = 1"),
            (Self::Any(parts), false) => joined(parts, names, " or ", "0 = 1"),
            (Self::Any(parts), true) => joined(parts, names, " and ", "0 = 0"),
        }
    }
}

/// Names of isl parameters for the monomials of polynomials.
#[derive(Clone, Debug, Default)]
pub(in crate::verify) struct ParameterNames {
    indices: BTreeMap<Vec<Atom>, usize>,
}

impl ParameterNames {
    /// The polynomial in isl's notation, every monomial a parameter.
    pub(in crate::verify) fn text(&mut self, polynomial: &Polynomial) -> String {
        let mut text = String::from("0");
        for (monomial, coefficient) in &polynomial.terms {
            let sign = if *coefficient < 0 { '-' } else { '+' };
            text.push_str(&format!(" {sign} {}", coefficient.unsigned_abs()));
            if !monomial.is_empty() {
                text.push_str(&format!("*{}", self.name(monomial)));
            }
        }
        format!("({text})")
    }

    /// Whether the monomial has a name already.
    pub(in crate::verify) fn knows(&self, monomial: &[Atom]) -> bool {
        self.indices.contains_key(monomial)
    }

    /// `p0`, `p1` and so on.
    pub(in crate::verify) fn all(&self) -> Vec<String> {
        (0..self.indices.len()).map(|n| format!("p{n}")).collect()
    }

    /// What holds for the named atoms by what they are: floors, minima, maxima, readings. May name
    /// further atoms, whose facts are included.
    fn facts(&mut self) -> Vec<String> {
        let mut facts = Vec::new();
        let mut done = Vec::new();
        loop {
            let next = self
                .indices
                .keys()
                .find(|monomial| monomial.len() == 1 && !done.contains(*monomial))
                .cloned();
            let Some(monomial) = next else { break };
            done.push(monomial.clone());
            facts.extend(self.atom_fact(&monomial));
        }
        facts
    }

    fn atom_fact(&mut self, monomial: &[Atom]) -> Option<String> {
        let name = self.name(monomial);
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
                let range = format!("{low} <= {name} and {name} < {high}");
                if *signed || !whole {
                    return Some(range);
                }
                let value = self.name(&[Atom::Value(*value)]);
                Some(format!(
                    "{range} and ({name} = {value} or {name} = {value} + {size})"
                ))
            }
            Atom::Floor(numerator, divisor) => {
                let divisor = divisor.as_constant()?;
                let numerator = self.text(numerator);
                Some(format!(
                    "{divisor}*{name} <= {numerator} and {numerator} < {divisor}*{name} + {divisor}"
                ))
            }
            Atom::Minimum(a, b) => {
                let (a, b) = (self.text(a), self.text(b));
                Some(format!(
                    "(({name} = {a} and {a} <= {b}) or ({name} = {b} and {b} <= {a}))"
                ))
            }
            Atom::Maximum(a, b) => {
                let (a, b) = (self.text(a), self.text(b));
                Some(format!(
                    "(({name} = {a} and {a} >= {b}) or ({name} = {b} and {b} >= {a}))"
                ))
            }
        }
    }

    fn name(&mut self, monomial: &[Atom]) -> String {
        let next = self.indices.len();
        let index = *self.indices.entry(monomial.to_vec()).or_insert(next);
        format!("p{index}")
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

    /// What is known of the named monomials, in isl's notation: the facts that speak of them or of
    /// what those speak of in turn, and what the atoms are. Facts about nothing else are left out,
    /// so that equal questions of different groups have equal texts.
    pub(in crate::verify) fn constraints(&self, names: &mut ParameterNames) -> Vec<String> {
        let mut constraints = Vec::new();
        let mut rest: Vec<&Formula> = self.formulas.iter().collect();
        loop {
            let facts = names.facts();
            let mut grown = false;
            rest.retain(|formula| {
                let speaks = formula.speaks_of(names);
                if speaks {
                    constraints.push(formula.text(names, false));
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
        let mut constraints = vec![formula.text(&mut names, true)];
        constraints.extend(self.constraints(&mut names));
        let points = Points {
            parameters: names.all(),
            variables: Vec::new(),
            condition: constraints.join(" and "),
        };
        is_empty(&points) == Some(true)
    }

    /// Whether two polynomials are equal. False when that could not be found out.
    pub(in crate::verify) fn equal(&self, left: &Polynomial, right: &Polynomial) -> bool {
        left == right
            || left
                .subtract(right)
                .is_some_and(|difference| self.imply(&Formula::Zero(difference)))
    }
}
