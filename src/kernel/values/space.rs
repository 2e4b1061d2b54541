//! Parameters, products and quotients that affine expressions of one kernel mention, each once.
//!
//! A quotient `v = floor(x / w)` by a run-time value w is a dimension of its own, tied to x by
//! `0 <= x - v·w <= w - 1`. Invariant: whoever mentions v or `v·w` also has the obligations
//! `x >= 0` and `w >= 1`, so these rows may be used wherever v is met.

use super::super::body::ValueRef;
use super::super::polynomial::Polynomial;
use super::super::ranges::Level;
use super::super::{KernelSymbol, Product};
use crate::math::affine::{Affine, Axis, Variable};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The parameters and products met so far.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// `Variable::Parameter(n)` is the n-th.
    pub parameters: Vec<Polynomial>,
    /// `Variable::Product(n)` is the n-th; canonical: the factor has no uniform part, its
    /// coefficients have no common divisor and the first is positive.
    pub products: Vec<Product>,
    /// `Variable::Loop(first_quotient + n)` is the n-th.
    pub quotients: Vec<QuotientDimension>,
    /// More than the index of any loop of the kernel.
    pub first_quotient: usize,
    /// `Variable::Loop(first_unknown + n)` is the n-th.
    pub unknowns: Vec<UnknownDimension>,
    /// More than the index of any quotient.
    pub first_unknown: usize,
    /// Values without bounds.
    pub unbounded: BTreeSet<ValueRef>,
    /// Bounds found before, which stay right: what an index stands for never changes.
    pub bounds: RefCell<KnownBounds>,
    /// What expressions mention, directly or through others, by expression; see [`Self::mentioned`].
    pub mentions: RefCell<HashMap<Affine, Mentioned>>,
    /// The bit of each variable in [`Mentioned::variables`].
    pub bits: RefCell<HashMap<Variable, usize>>,
    /// What the searches for them took so far.
    pub visits: Cell<usize>,
}

/// Bounds from above by level and the numbers of the expression and of the facts: kernels ask for tens of
/// thousands of bounds, mostly of what was asked before, and to hash and copy facts would take longer than the searches.
pub type KnownBounds = HashMap<(Level, usize, Vec<usize>), Rc<Vec<Polynomial>>>;

/// What an expression is known by.
#[derive(Clone, Debug)]
pub struct Mentioned {
    /// Its own among all expressions of the kernel.
    pub number: usize,
    /// Its variables, a bit each.
    pub variables: Rc<[u64]>,
}

/// `floor(dividend / divisor)` for a dividend of at least 0 and a divisor of at least 1.
#[derive(Clone, Debug)]
pub struct QuotientDimension {
    /// What is divided.
    pub dividend: Affine,
    /// What it is divided by.
    pub divisor: Affine,
    /// The same in normal form.
    pub parameter: Polynomial,
    /// Quotient times divisor.
    pub multiple: Affine,
}

/// A number that is known by its bounds only: `least + dimension`, the dimension at least 0.
#[derive(Clone, Debug)]
pub struct UnknownDimension {
    /// The value of the kernel's body that it is.
    pub value: ValueRef,
    /// Its bound from below.
    pub least: Affine,
    /// `0 <= row`, which bounds the dimension from above; none: it is unbounded.
    pub row: Option<Affine>,
    /// That bound in normal form, where it is uniform.
    pub extent: Option<Polynomial>,
    /// The loops around it: in another iteration of one of them it is another number.
    pub loops: BTreeSet<usize>,
}

impl QuotientDimension {
    /// `0 <= dividend - multiple <= divisor - 1`, as expressions that are not negative.
    pub fn rows(&self) -> impl Iterator<Item = Affine> {
        let remainder = self.dividend.subtract(&self.multiple);
        let above = remainder
            .as_ref()
            .and_then(|remainder| self.divisor.add(&Affine::constant(-1))?.subtract(remainder));
        remainder.into_iter().chain(above)
    }
}

impl Space {
    /// The index of a parameter, new or known.
    pub fn parameter(&mut self, value: Polynomial) -> usize {
        match self.parameters.iter().position(|known| *known == value) {
            Some(index) => index,
            None => {
                self.parameters.push(value);
                self.parameters.len() - 1
            }
        }
    }

    /// A symbol as an expression.
    pub fn symbol(&mut self, symbol: KernelSymbol) -> Affine {
        let index = self.parameter(Polynomial::symbol(symbol));
        Affine::variable(Variable::Parameter(index))
    }

    /// A uniform value as an expression, one parameter a monomial.
    pub fn uniform(&mut self, value: &Polynomial) -> Option<Affine> {
        let mut sum = Affine::constant(value.constant_term());
        for (coefficient, monomial) in value.monomials() {
            let index = self.parameter(monomial);
            let term = Affine::variable(Variable::Parameter(index)).scale(coefficient)?;
            sum = sum.add(&term)?;
        }
        Some(sum)
    }

    /// The polynomial that an expression is when it mentions parameters only.
    pub fn polynomial(&self, affine: &Affine) -> Option<Polynomial> {
        let mut sum = Polynomial::constant(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let value = match variable {
                Variable::Parameter(index) => self.parameters[*index].clone(),
                Variable::Floor(inner, divisor) => self
                    .polynomial(inner)?
                    .floor_divide(&Polynomial::constant(*divisor)),
                _ => return None,
            };
            sum = sum.add(&value.scale(*coefficient)?)?;
        }
        Some(sum)
    }

    /// The quotient of an expression and a uniform value, and its product with that value.
    pub fn quotient(
        &mut self,
        dividend: &Affine,
        divisor: &Polynomial,
    ) -> Option<(Affine, Affine)> {
        let known = self
            .quotients
            .iter()
            .position(|known| known.dividend == *dividend && known.parameter == *divisor);
        let number = known.unwrap_or(self.quotients.len());
        let quotient = Affine::variable(Variable::Loop(self.first_quotient + number));
        if known.is_none() {
            let uniform = self.uniform(divisor)?;
            let multiple = self.multiply(&quotient, &uniform)?;
            self.quotients.push(QuotientDimension {
                dividend: dividend.clone(),
                divisor: uniform,
                parameter: divisor.clone(),
                multiple,
            });
        }
        Some((quotient, self.quotients[number].multiple.clone()))
    }

    /// The quotient that a variable stands for.
    pub fn as_quotient(&self, variable: &Variable) -> Option<&QuotientDimension> {
        match variable {
            Variable::Loop(index) => self.quotients.get(index.checked_sub(self.first_quotient)?),
            _ => None,
        }
    }

    /// The quotients that an expression mentions, not those inside products.
    pub fn quotients_in(&self, affine: &Affine) -> impl Iterator<Item = &QuotientDimension> {
        let terms: &[(i64, Variable)] = match self.quotients.is_empty() {
            true => &[],
            false => &affine.terms,
        };
        let quotients = terms.iter().map(|(_, variable)| self.as_quotient(variable));
        quotients.flatten().collect::<Vec<_>>().into_iter()
    }

    /// A number that a value of the body is, between bounds.
    pub fn unknown(
        &mut self,
        value: ValueRef,
        least: &Affine,
        most: Option<&Affine>,
        loops: Vec<usize>,
    ) -> Option<Affine> {
        let known = self.unknowns.iter().position(|known| known.value == value);
        let number = known.unwrap_or(self.unknowns.len());
        let dimension = Affine::variable(Variable::Loop(self.first_unknown + number));
        if known.is_none() {
            let (row, extent) = match most {
                Some(most) => {
                    let extent = most.subtract(least)?;
                    (Some(extent.subtract(&dimension)?), self.polynomial(&extent))
                }
                None => (None, None),
            };
            self.unknowns.push(UnknownDimension {
                value,
                least: least.clone(),
                row,
                extent,
                loops: loops.into_iter().collect(),
            });
        }
        self.unknowns[number].least.add(&dimension)
    }

    /// The number of unknown value that a variable stands for.
    pub fn as_unknown(&self, variable: &Variable) -> Option<&UnknownDimension> {
        match variable {
            Variable::Loop(index) => self.unknowns.get(index.checked_sub(self.first_unknown)?),
            _ => None,
        }
    }

    /// Whether an expression mentions a number that is known by its bounds only.
    pub fn mentions_unknown(&self, affine: &Affine) -> bool {
        if self.unknowns.is_empty() {
            return false;
        }
        let mut variables = BTreeSet::new();
        self.variables_in(affine, &mut variables);
        variables
            .iter()
            .any(|variable| self.as_unknown(variable).is_some())
    }

    /// What ties a product to the dividend whose quotient it is a multiple of.
    pub fn quotient_rows(&self, variable: &Variable) -> Vec<Affine> {
        let Variable::Product(index) = variable else {
            return Vec::new();
        };
        let [(1, factor)] = self.products[*index].factor.terms.as_slice() else {
            return Vec::new();
        };
        match self.as_quotient(factor) {
            Some(quotient) if matches!(quotient.multiple.terms.as_slice(), [(_, only)] if only == variable) => {
                quotient.rows().collect()
            }
            _ => Vec::new(),
        }
    }

    /// What rows that keep a product's factor above a uniform value say of the product itself: its parameter is not
    /// negative. Only what known parameters can say.
    pub fn product_rows(&self, variable: &Variable, rows: &[Affine]) -> Vec<Affine> {
        let Variable::Product(index) = variable else {
            return Vec::new();
        };
        let Product { factor, parameter } = &self.products[*index];
        let times = &self.parameters[*parameter];
        let of_row = |row: &Affine| -> Option<Affine> {
            let slack = self.polynomial(&row.subtract(factor)?)?.multiply(times)?;
            let mut bound = Affine::variable(variable.clone());
            bound.constant = slack.constant_term();
            for (coefficient, monomial) in slack.monomials() {
                let known = self.parameters.iter().position(|own| *own == monomial)?;
                let term = Affine::variable(Variable::Parameter(known));
                bound = bound.add(&term.scale(coefficient)?)?;
            }
            Some(bound)
        };
        rows.iter().filter_map(of_row).collect()
    }

    /// The loops whose counters an expression depends on, through products and divisions too.
    pub fn loops_in(&self, affine: &Affine) -> BTreeSet<usize> {
        let mut loops = BTreeSet::new();
        for (_, variable) in &affine.terms {
            match variable {
                Variable::Loop(index) => {
                    match (self.as_quotient(variable), self.as_unknown(variable)) {
                        (Some(quotient), _) => loops.extend(self.loops_in(&quotient.dividend)),
                        (None, Some(unknown)) => loops.extend(&unknown.loops),
                        (None, None) => {
                            loops.insert(*index);
                        }
                    }
                }
                Variable::Product(index) => {
                    loops.extend(self.loops_in(&self.products[*index].factor));
                }
                Variable::Floor(inner, _) => loops.extend(self.loops_in(inner)),
                Variable::Block(_) | Variable::Thread(_) | Variable::Parameter(_) => {}
            }
        }
        loops
    }

    /// As [`Self::variables_in`], remembered: the same facts are looked at for each bound.
    pub fn mentioned(&self, affine: &Affine) -> Mentioned {
        if let Some(known) = self.mentions.borrow().get(affine) {
            return known.clone();
        }
        let mut found = BTreeSet::new();
        self.variables_in(affine, &mut found);
        let mut bits = self.bits.borrow_mut();
        let mut variables = Vec::new();
        for variable in found {
            let next = bits.len();
            let bit = *bits.entry(variable).or_insert(next);
            if variables.len() <= bit / 64 {
                variables.resize(bit / 64 + 1, 0);
            }
            variables[bit / 64] |= 1 << (bit % 64);
        }
        let mut mentions = self.mentions.borrow_mut();
        let mentioned = Mentioned {
            number: mentions.len(),
            variables: variables.into(),
        };
        mentions.insert(affine.clone(), mentioned.clone());
        mentioned
    }

    /// The variables of an expression that are not uniform, with those of factors, numerators and
    /// dividends.
    pub fn variables_in(&self, affine: &Affine, found: &mut BTreeSet<Variable>) {
        for (_, variable) in &affine.terms {
            if matches!(variable, Variable::Parameter(_)) || !found.insert(variable.clone()) {
                continue;
            }
            match variable {
                Variable::Product(index) => self.variables_in(&self.products[*index].factor, found),
                Variable::Floor(inner, _) => self.variables_in(inner, found),
                _ => {
                    if let Some(quotient) = self.as_quotient(variable) {
                        self.variables_in(&quotient.dividend, found);
                        self.variables_in(&quotient.multiple, found);
                    }
                    if let Some(row) = self.as_unknown(variable).and_then(|each| each.row.as_ref())
                    {
                        self.variables_in(row, found);
                    }
                }
            }
        }
    }

    /// The product of two expressions, at least one of them uniform.
    pub fn multiply(&mut self, left: &Affine, right: &Affine) -> Option<Affine> {
        if let Some(factor) = left.as_constant() {
            return right.scale(factor);
        }
        if let Some(factor) = right.as_constant() {
            return left.scale(factor);
        }
        match (self.polynomial(left), self.polynomial(right)) {
            (Some(a), Some(b)) => {
                let product = a.multiply(&b)?;
                self.uniform(&product)
            }
            (Some(uniform), None) => self.product(right, &uniform),
            (None, Some(uniform)) => self.product(left, &uniform),
            (None, None) => None,
        }
    }

    /// `varying · uniform` with the uniform part of `varying` multiplied out.
    fn product(&mut self, varying: &Affine, uniform: &Polynomial) -> Option<Affine> {
        let (fixed, moving): (Vec<_>, Vec<_>) = varying.terms.iter().cloned().partition(|term| {
            let alone = Affine {
                constant: 0,
                terms: vec![term.clone()],
            };
            self.polynomial(&alone).is_some()
        });
        let fixed = Affine {
            constant: varying.constant,
            terms: fixed,
        };
        let fixed = self.polynomial(&fixed)?.multiply(uniform)?;
        let mut result = self.uniform(&fixed)?;

        // One monomial gives up its coefficient; a sum stays one parameter, since a pitch such as
        // `columns + 2` bounds the inner index as a whole.
        let mut monomials = uniform.monomials();
        let (mut scale, parameter) = match (uniform.len(), monomials.next()) {
            (1, Some((coefficient, monomial))) => (coefficient, monomial),
            _ => (1, uniform.clone()),
        };
        drop(monomials);
        let mut divisor = moving.iter().fold(0u64, |divisor, (coefficient, _)| {
            greatest_common_divisor(divisor, coefficient.unsigned_abs())
        }) as i64;
        if moving.first()?.0 < 0 {
            divisor = divisor.checked_neg()?;
        }
        let factor = Affine {
            constant: 0,
            terms: moving
                .into_iter()
                .map(|(coefficient, variable)| (coefficient / divisor, variable))
                .collect(),
        };
        scale = scale.checked_mul(divisor)?;
        // Of a product of a product the whole step is one parameter: the length of a plane bounds what lies
        // inside it, that of a row does not.
        let (factor, parameter) = match factor.terms.as_slice() {
            [(1, Variable::Product(inner))] => {
                let inner = &self.products[*inner];
                let step = self.parameters[inner.parameter].multiply(&parameter)?;
                (inner.factor.clone(), step)
            }
            _ => (factor, parameter),
        };
        let parameter = self.parameter(parameter);
        let product = Product { factor, parameter };
        let index = match self.products.iter().position(|known| *known == product) {
            Some(index) => index,
            None => {
                self.products.push(product);
                self.products.len() - 1
            }
        };
        result = result.add(&Affine::variable(Variable::Product(index)).scale(scale)?)?;
        Some(result)
    }

    /// The expression with a loop's counter replaced.
    pub fn substitute(
        &mut self,
        affine: &Affine,
        index: usize,
        counter: &Affine,
    ) -> Option<Affine> {
        let mut result = Affine::constant(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let alone = Affine::variable(variable.clone());
            let value = if !self.loops_in(&alone).contains(&index) {
                alone
            } else {
                match variable {
                    Variable::Product(at) => {
                        let Product { factor, parameter } = self.products[*at].clone();
                        let factor = self.substitute(&factor, index, counter)?;
                        let parameter = self.parameters[parameter].clone();
                        let parameter = self.uniform(&parameter)?;
                        self.multiply(&factor, &parameter)?
                    }
                    Variable::Floor(inner, divisor) => self
                        .substitute(inner, index, counter)?
                        .floor_divide(*divisor),
                    // Another number altogether.
                    _ if self.as_unknown(variable).is_some() => return None,
                    _ => match self.as_quotient(variable).cloned() {
                        Some(quotient) => {
                            let dividend = self.substitute(&quotient.dividend, index, counter)?;
                            self.quotient(&dividend, &quotient.parameter)?.0
                        }
                        None => counter.clone(),
                    },
                }
            };
            result = result.add(&value.scale(*coefficient)?)?;
        }
        Some(result)
    }

    /// The expression one iteration of `index` earlier.
    pub fn previous_iteration(&self, affine: &Affine, index: usize) -> Option<Affine> {
        let mut result = Affine::constant(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let alone = Affine::variable(variable.clone());
            let earlier = match variable {
                // Another quotient or number altogether.
                Variable::Loop(_)
                    if (self.as_quotient(variable).is_some()
                        || self.as_unknown(variable).is_some())
                        && self.loops_in(&alone).contains(&index) =>
                {
                    return None;
                }
                Variable::Loop(at) if *at == index => Affine {
                    constant: -1,
                    terms: vec![(1, variable.clone())],
                },
                Variable::Product(at) => {
                    let Product { factor, parameter } = &self.products[*at];
                    if !self.loops_in(factor).contains(&index) {
                        result = result.add(&alone.scale(*coefficient)?)?;
                        continue;
                    }
                    let change = factor.subtract(&self.previous_iteration(factor, index)?)?;
                    Affine::variable(variable.clone()).subtract(
                        &Affine::variable(Variable::Parameter(*parameter))
                            .scale(change.as_constant()?)?,
                    )?
                }
                Variable::Floor(inner, divisor) => self
                    .previous_iteration(inner, index)?
                    .floor_divide(*divisor),
                _ => Affine::variable(variable.clone()),
            };
            result = result.add(&earlier.scale(*coefficient)?)?;
        }
        Some(result)
    }

    /// Whether an expression never grows from one iteration of `index` to the next, given that
    /// parameters of products are not negative.
    pub fn never_grows(&self, affine: &Affine, index: usize) -> bool {
        affine.terms.iter().all(|(coefficient, variable)| {
            let alone = Affine::variable(variable.clone());
            if !self.loops_in(&alone).contains(&index) {
                return true;
            }
            match variable {
                Variable::Loop(_) if self.as_unknown(variable).is_some() => false,
                Variable::Loop(_) => match self.as_quotient(variable) {
                    Some(quotient) => quotient
                        .dividend
                        .scale(coefficient.signum())
                        .is_some_and(|dividend| self.never_grows(&dividend, index)),
                    None => *coefficient <= 0,
                },
                Variable::Product(at) => self.products[*at]
                    .factor
                    .scale(coefficient.signum())
                    .is_some_and(|factor| self.never_grows(&factor, index)),
                Variable::Floor(inner, _) => inner
                    .scale(coefficient.signum())
                    .is_some_and(|inner| self.never_grows(&inner, index)),
                _ => true,
            }
        })
    }

    /// Facts that hold at every instance and that follow from no affine constraint: the blocks of
    /// an axis, laid side by side, fill `gridDim · blockDim`. One `expression >= 0` for each
    /// product `blockIdx · blockDim` whose total is a parameter too.
    pub fn extent_fact(&self, product: usize) -> Option<Affine> {
        let Product { factor, parameter } = &self.products[product];
        let axis = Axis::ALL
            .into_iter()
            .find(|axis| *factor == Affine::variable(Variable::Block(*axis)))?;
        let size = &self.parameters[*parameter];
        let total = size.multiply(&Polynomial::symbol(KernelSymbol::GridSize(axis)))?;
        let total = self.parameters.iter().position(|known| *known == total)?;
        Affine::variable(Variable::Parameter(total))
            .subtract(&Affine::variable(Variable::Parameter(*parameter)))?
            .subtract(&Affine::variable(Variable::Product(product)))
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
