//! What is known of the values that a problem has for parameters: extents, and what quotients, minima and maxima are.
//!
//! Invariant: only what holds in every launch that runs is added.

use super::super::polynomial::{Atom, Polynomial};
use super::super::problem::{Builder, Sum, Symbol, divide, written};
use super::super::relation::Facts;
use crate::math::formula::Formula;
use std::collections::HashSet;

impl Builder<'_> {
    /// What is known about the parameters that occur: extents are positive, facts that mention
    /// nothing else hold.
    pub(in crate::dependence) fn parameter_facts(&mut self, facts: &Facts) {
        let extents: HashSet<usize> = (0..self.monomials.len())
            .filter(|index| {
                self.monomials[*index]
                    .iter()
                    .all(|atom| self.is_extent(atom))
            })
            .collect();
        for index in &self.ordered(&extents) {
            let parameter = Sum::variable(Symbol::Parameter(*index));
            self.base.push(parameter.at_least(Sum::number(1)));
        }
        for larger in 0..self.monomials.len() {
            for smaller in 0..self.monomials.len() {
                let quotient = divide(&self.monomials[larger], &self.monomials[smaller]);
                let grows = quotient.is_some_and(|rest| {
                    !rest.is_empty() && rest.iter().all(|atom| self.is_extent(atom))
                });
                if grows && extents.contains(&smaller) {
                    let [larger, smaller] =
                        [larger, smaller].map(|index| Sum::variable(Symbol::Parameter(index)));
                    self.base.push(larger.at_least(smaller));
                }
            }
        }
        let mut known = facts.holding.clone();
        for monomial in &self.monomials {
            match monomial.as_slice() {
                [atom] => known.extend(atom_facts(atom)),
                atoms => known.extend(atoms.iter().flat_map(|atom| self.facts_of_multiple(atom))),
            }
        }
        for fact in &known {
            if let Some(sum) = written(&self.monomial_index, fact) {
                self.base.push(Formula::NonNegative(sum));
            }
        }
    }

    /// `a - b < b · floor(a / b) <= a`, where the divisor is an extent.
    fn facts_of_multiple(&self, atom: &Atom) -> Vec<Polynomial> {
        let Atom::FloorDivide(a, b) = atom else {
            return Vec::new();
        };
        if !self.is_positive(b) {
            return Vec::new();
        }
        let multiple = Polynomial::atom(atom.clone()).multiply(b);
        let rest = multiple.and_then(|multiple| a.subtract(&multiple));
        let one = Polynomial::constant(1);
        let slack = (rest.as_ref()).and_then(|rest| b.subtract(rest)?.subtract(&one));
        [rest, slack].into_iter().flatten().collect()
    }

    fn ordered(&self, set: &HashSet<usize>) -> Vec<usize> {
        (0..self.monomials.len())
            .filter(|index| set.contains(index))
            .collect()
    }
}

/// What the definition of a compound atom says about it, each at least zero.
fn atom_facts(atom: &Atom) -> Vec<Polynomial> {
    let value = Polynomial::atom(atom.clone());
    let facts = match atom {
        Atom::Minimum(a, b) => vec![a.subtract(&value), b.subtract(&value)],
        Atom::Maximum(a, b) => vec![value.subtract(a), value.subtract(b)],
        Atom::FloorDivide(a, b) => match b.as_constant() {
            Some(divisor) if divisor > 0 => {
                let multiple = value.scale(divisor);
                let rest = multiple.and_then(|multiple| a.subtract(&multiple));
                let slack = rest
                    .as_ref()
                    .and_then(|rest| Polynomial::constant(divisor - 1).subtract(rest));
                vec![rest, slack]
            }
            _ => Vec::new(),
        },
        Atom::Value(_) | Atom::Private(..) | Atom::SinkSide(_) => Vec::new(),
    };
    facts.into_iter().flatten().collect()
}
