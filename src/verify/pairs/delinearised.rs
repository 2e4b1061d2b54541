//! The difference of two subscripts, delinearised: in `4·(row · wide + column)` the columns of two
//! instances differ by less than `wide`, so that equal places are equal columns of equal rows, however both were
//! written.
//!
//! Invariant: whatever two instances meet, the components hold of them. A component is only taken where it was shown for all
//! instances that it is less than its unit: `unit · quotient + component` is then as near to zero as asked only where the
//! quotient is zero.

use super::super::conflict::{ConflictSet, Side};
use super::super::emptiness::{Instance, Sum, is_empty};
use super::super::formula::Assumptions;
use super::super::member::Member;
use super::super::polynomial::Polynomial;
use crate::kernel::Access;
use crate::math::affine::{Affine, Variable};
use std::collections::BTreeMap;

/// What holds of every two instances that touch a common byte.
pub(in crate::verify) struct Delinearised {
    components: Vec<Component>,
}

/// `-below < sum < above`.
struct Component {
    sum: Difference,
    below: i64,
    above: i64,
}

/// A sum over the variables of both instances, first those of the source.
#[derive(Clone, Default)]
struct Difference {
    terms: BTreeMap<(usize, Variable), Polynomial>,
    constant: Polynomial,
}

impl Delinearised {
    /// `None` where no component was found.
    pub(in crate::verify) fn of(
        assumptions: &Assumptions,
        (source, first): (&Member<'_>, &Access),
        (sink, second): (&Member<'_>, &Access),
        difference: &Polynomial,
    ) -> Option<Self> {
        let mut rest = Difference {
            constant: difference.clone(),
            ..Difference::default()
        };
        let members = [source, sink];
        let one = Polynomial::constant(1);
        rest.add(0, source, first.subscript.as_ref()?, &one)?;
        rest.add(1, sink, second.subscript.as_ref()?, &one.scale(-1)?)?;
        let instances = [domain_only(first), domain_only(second)];
        let mut components = Vec::new();
        let (mut below, mut above) = (i64::from(first.size_bytes), i64::from(second.size_bytes));
        while components.len() < MOST_COMPONENTS {
            let found = rest.units(members).into_iter().find_map(|unit| {
                let (quotient, sum) = rest.divide(members, &unit)?;
                let component = Component { sum, below, above };
                let small = component.is_below(&unit, members, &instances, assumptions)?;
                small.then_some((component, quotient))
            });
            let Some((component, quotient)) = found else {
                break;
            };
            components.push(component);
            rest = quotient;
            (below, above) = (1, 1);
        }
        if components.is_empty() {
            return None;
        }
        let sum = rest;
        if sum.is_affine() {
            components.push(Component { sum, below, above });
        }
        Some(Self { components })
    }

    /// Says it of two instances.
    pub(in crate::verify) fn state(
        &self,
        set: &mut ConflictSet,
        sides: &mut [Side<'_>; 2],
    ) -> Option<()> {
        for Component { sum, below, above } in &self.components {
            let sum = sum.sum(set, sides)?;
            set.require(sum.clone().above(Sum::number(-below)));
            set.require(sum.below(Sum::number(*above)));
        }
        Some(())
    }
}

/// The access with its domain, and without its place.
pub(in crate::verify) fn domain_only(access: &Access) -> Access {
    Access {
        subscript: None,
        ..access.clone()
    }
}

impl Component {
    /// Whether no pair of instances has a component that, together with a multiple of the unit other than zero, could be
    /// within the bounds.
    fn is_below(
        &self,
        unit: &Polynomial,
        members: [&Member<'_>; 2],
        instances: &[Access; 2],
        assumptions: &Assumptions,
    ) -> Option<bool> {
        let mut set = ConflictSet::default();
        let mut sides = [
            set.side(Instance::Source, members[0], &instances[0])?,
            set.side(Instance::Sink, members[1], &instances[1])?,
        ];
        let sum = self.sum.sum(&mut set, &mut sides)?;
        let unit = set.polynomial(unit);
        for side in &sides {
            set.products(side)?;
        }
        let (below, above) = (Sum::number(self.below), Sum::number(self.above));
        for too_far in [
            sum.clone().above(unit.clone() - below),
            sum.below(above - unit),
        ] {
            if !is_empty(set.points(assumptions, too_far))? {
                return Some(false);
            }
        }
        Some(true)
    }
}

impl Difference {
    /// Adds an expression of one instance, so many times.
    fn add(
        &mut self,
        at: usize,
        member: &Member<'_>,
        affine: &Affine,
        times: &Polynomial,
    ) -> Option<()> {
        let constant = times.scale(affine.constant)?;
        self.constant = self.constant.add(&constant)?;
        for (coefficient, variable) in &affine.terms {
            let times = times.scale(*coefficient)?;
            if let Variable::Parameter(index) = variable {
                let value = times.multiply(member.parameters.get(*index)?)?;
                self.constant = self.constant.add(&value)?;
                continue;
            }
            // Products with a number hold no components, but sums in which there may be some.
            if let Variable::Product(index) = variable
                && let Some(step) = parameter(member, variable)
                && step.as_constant().is_some()
            {
                let factor = &member.model.products.get(*index)?.factor;
                self.add(at, member, factor, &times.multiply(step)?)?;
                continue;
            }
            self.add_term((at, variable.clone()), &times)?;
        }
        Some(())
    }

    fn add_term(&mut self, key: (usize, Variable), times: &Polynomial) -> Option<()> {
        let known = self.terms.entry(key.clone()).or_default();
        *known = known.add(times)?;
        if known.as_constant() == Some(0) {
            self.terms.remove(&key);
        }
        Some(())
    }

    /// What its terms are multiples of, the simplest first.
    fn units(&self, members: [&Member<'_>; 2]) -> Vec<Polynomial> {
        let mut units = Vec::new();
        for ((at, variable), coefficient) in &self.terms {
            let step = parameter(members[*at], variable);
            let own = coefficient.whole_constant().is_none();
            let multiples = [
                own.then(|| coefficient.clone()),
                step.and_then(|step| coefficient.multiply(step)),
            ];
            for multiple in multiples.into_iter().flatten() {
                units.extend(multiple.positive_factors());
            }
        }
        units.sort_by_key(|unit| (unit.degree(), unit.terms.len()));
        units.dedup();
        units.truncate(MOST_UNITS);
        units
    }

    /// `unit · first + second`; `None` where the first is zero or the second no affine expression.
    fn divide(&self, members: [&Member<'_>; 2], unit: &Polynomial) -> Option<(Self, Self)> {
        let (mut quotient, mut component) = (Self::default(), Self::default());
        (quotient.constant, component.constant) = self.constant.divide(unit)?;
        for (key, coefficient) in &self.terms {
            let (at, variable) = key;
            let (whole, left) = coefficient.divide(unit)?;
            if whole != Polynomial::default() {
                quotient.add_term(key.clone(), &whole)?;
            }
            if left == Polynomial::default() {
                continue;
            }
            if let Variable::Product(index) = variable
                && let Some(step) = parameter(members[*at], variable)
                && let (times, rest) = left.multiply(step)?.divide(unit)?
                && rest == Polynomial::default()
            {
                let factor = &members[*at].model.products.get(*index)?.factor;
                quotient.add(*at, members[*at], factor, &times)?;
                continue;
            }
            component.add_term(key.clone(), &left)?;
        }
        let none = quotient.terms.is_empty() && quotient.constant == Polynomial::default();
        (!none && component.is_affine()).then_some((quotient, component))
    }

    fn is_affine(&self) -> bool {
        let mut coefficients = self.terms.values();
        coefficients.all(|coefficient| coefficient.as_constant().is_some())
    }

    /// As what is asked of isl; `None` where it is not affine.
    fn sum(&self, set: &mut ConflictSet, sides: &mut [Side<'_>; 2]) -> Option<Sum> {
        let mut sum = set.polynomial(&self.constant);
        for ((at, variable), coefficient) in &self.terms {
            let coefficient = coefficient.as_constant()?;
            let side = &mut sides[*at];
            let term = Affine::variable(variable.clone());
            side.mention_all(&term);
            sum = sum + set.affine(side, &term)? * i128::from(coefficient);
        }
        Some(sum)
    }
}

/// By what a product multiplies.
fn parameter<'a>(member: &'a Member<'_>, variable: &Variable) -> Option<&'a Polynomial> {
    let Variable::Product(index) = variable else {
        return None;
    };
    let product = member.model.products.get(*index)?;
    member.parameters.get(product.parameter)
}

/// Most components of a place.
const MOST_COMPONENTS: usize = 6;
/// Most units that a component is looked for with.
const MOST_UNITS: usize = 12;
