//! Quasi-affine expressions and the sets that constraints make of them.
//!
//! These are what the kernel stage writes and the dependence stage renders as isl text. They keep
//! structure where isl strings would lose it: parameters are named by what they are, so that a
//! launch can put its own values in their place, and products of a variable with a parameter are
//! kept as [`Variable::Product`] instead of being given up.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An axis of a grid or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Axis {
    /// The fastest axis.
    X,
    /// The middle axis.
    Y,
    /// The slowest axis.
    Z,
}

impl Axis {
    /// The three axes, fastest first.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// 0, 1 or 2.
    pub fn index(self) -> usize {
        self as usize
    }

    /// `x`, `y` or `z`.
    pub fn name(self) -> &'static str {
        ["x", "y", "z"][self.index()]
    }
}

/// What a quasi-affine expression ranges over, inside one kernel model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Variable {
    /// `blockIdx` on an axis: 0 up to the grid's extent less one.
    Block(Axis),
    /// `threadIdx` on an axis: 0 up to the block's extent less one.
    Thread(Axis),
    /// The trip counter of loop `KernelModel::loops[n]`: 0, 1, 2, …
    Loop(usize),
    /// The value of product `KernelModel::products[n]` at this instance.
    Product(usize),
    /// A uniform value of the launch, `KernelModel::parameters[n]`.
    Parameter(usize),
    /// `floor(expression / divisor)`, the divisor positive.
    Floor(Box<Affine>, i64),
}

/// `constant + Σ coefficient · variable`, in mathematical integers. Terms are sorted by variable,
/// no coefficient is zero and no variable stands twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Affine {
    /// The constant term.
    pub constant: i64,
    /// Coefficient and variable of each other term.
    pub terms: Vec<(i64, Variable)>,
}

impl Constraint {
    /// The same for integers, its coefficients without a common divisor.
    pub fn tightened(self) -> Self {
        let Self::NonNegative(row) = &self else {
            return self;
        };
        let common = row.terms.iter().fold(0, |common, (coefficient, _)| {
            greatest_common_divisor(coefficient.unsigned_abs() as i64, common)
        });
        if common < 2 {
            return self;
        }
        Self::NonNegative(Affine {
            constant: row.constant.div_euclid(common),
            terms: row
                .terms
                .iter()
                .map(|(coefficient, variable)| (coefficient / common, variable.clone()))
                .collect(),
        })
    }
}

impl Affine {
    /// The expression that is always `value`.
    pub fn constant(value: i64) -> Self {
        Self {
            constant: value,
            terms: Vec::new(),
        }
    }

    /// The expression that is one variable.
    pub fn variable(variable: Variable) -> Self {
        Self {
            constant: 0,
            terms: vec![(1, variable)],
        }
    }

    /// The value, when no variable occurs.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + other`; `None` when a coefficient leaves 64 bits.
    pub fn add(&self, other: &Self) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (coefficient, variable) in &other.terms {
            match terms.binary_search_by(|(_, probe)| probe.cmp(variable)) {
                Ok(at) => terms[at].0 = terms[at].0.checked_add(*coefficient)?,
                Err(at) => terms.insert(at, (*coefficient, variable.clone())),
            }
        }
        terms.retain(|(coefficient, _)| *coefficient != 0);
        Some(Self {
            constant: self.constant.checked_add(other.constant)?,
            terms,
        })
    }

    /// `self · factor`; `None` when a coefficient leaves 64 bits.
    pub fn scale(&self, factor: i64) -> Option<Self> {
        if factor == 0 {
            return Some(Self::constant(0));
        }
        let terms = self
            .terms
            .iter()
            .map(|(coefficient, variable)| {
                Some((coefficient.checked_mul(factor)?, variable.clone()))
            })
            .collect::<Option<_>>()?;
        Some(Self {
            constant: self.constant.checked_mul(factor)?,
            terms,
        })
    }

    /// `self - other`; `None` when a coefficient leaves 64 bits.
    pub fn subtract(&self, other: &Self) -> Option<Self> {
        self.add(&other.scale(-1)?)
    }

    /// `floor(self / divisor)` for a positive divisor, in a normal form: whole multiples of the
    /// divisor and common factors are divided out, a floor of a floor is one floor.
    pub fn floor_divide(&self, divisor: i64) -> Self {
        assert!(divisor > 0, "floor_divide needs a positive divisor");
        let mut whole = Self::constant(self.constant.div_euclid(divisor));
        let mut rest = Self::constant(self.constant.rem_euclid(divisor));
        for (coefficient, variable) in &self.terms {
            if coefficient % divisor == 0 {
                whole.terms.push((coefficient / divisor, variable.clone()));
            } else {
                rest.terms.push((*coefficient, variable.clone()));
            }
        }
        if rest.terms.is_empty() {
            return whole;
        }
        // Terms have the factor in common, so a remainder of the constant below it is never felt.
        let common = rest.terms.iter().fold(divisor, |common, (coefficient, _)| {
            greatest_common_divisor(common, coefficient.unsigned_abs() as i64)
        });
        let mut smaller = divisor / common;
        rest.constant = rest.constant.div_euclid(common);
        for (coefficient, _) in &mut rest.terms {
            *coefficient /= common;
        }
        if let [(1, Variable::Floor(inner, by))] = rest.terms.as_slice()
            && let Some(product) = by.checked_mul(smaller)
            && let Some(shift) = by.checked_mul(rest.constant)
            && let Some(inner) = inner.add(&Self::constant(shift))
        {
            smaller = product;
            rest = inner;
        }
        let floor = Self::variable(Variable::Floor(Box::new(rest), smaller));
        whole
            .add(&floor)
            .unwrap_or_else(|| Self::variable(Variable::Floor(Box::new(self.clone()), divisor)))
    }

    /// `self - divisor · floor(self / divisor)`: the remainder in `0 .. divisor`.
    pub fn modulo(&self, divisor: i64) -> Option<Self> {
        self.subtract(&self.floor_divide(divisor).scale(divisor)?)
    }
}

/// The greatest number that divides both, with either sign.
pub(crate) fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// `expression >= 0` or `expression == 0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Constraint {
    /// The expression is at least zero.
    NonNegative(Affine),
    /// The expression is zero.
    Zero(Affine),
}

/// A union of conjunctions: a point belongs when all constraints of at least one conjunction hold.
/// `[[]]` is everything, `[]` is nothing.
pub type Constraints = Vec<Vec<Constraint>>;

impl fmt::Display for Variable {
    /// isl's notation: `bx`, `ty`, `i0` (loop), `q0` (product), `p0` (parameter), `floor((e)/d)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(axis) => write!(formatter, "b{}", axis.name()),
            Self::Thread(axis) => write!(formatter, "t{}", axis.name()),
            Self::Loop(index) => write!(formatter, "i{index}"),
            Self::Product(index) => write!(formatter, "q{index}"),
            Self::Parameter(index) => write!(formatter, "p{index}"),
            Self::Floor(numerator, divisor) => write!(formatter, "floor(({numerator})/{divisor})"),
        }
    }
}

impl fmt::Display for Affine {
    /// isl's notation, variables before the constant: `4q0 + 4tx - 8`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (coefficient, variable) in &self.terms {
            let sign = match (*coefficient < 0, first) {
                (false, true) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (true, false) => " - ",
            };
            formatter.write_str(sign)?;
            match coefficient.unsigned_abs() {
                1 => write!(formatter, "{variable}")?,
                // isl reads `2floor(...)` as one name, so the product is written out there.
                size if matches!(variable, Variable::Floor(..)) => {
                    write!(formatter, "{size}*{variable}")?
                }
                size => write!(formatter, "{size}{variable}")?,
            }
            first = false;
        }
        match (self.constant, first) {
            (value, true) => write!(formatter, "{value}"),
            (0, false) => Ok(()),
            (value, false) if value < 0 => write!(formatter, " - {}", value.unsigned_abs()),
            (value, false) => write!(formatter, " + {value}"),
        }
    }
}

impl fmt::Display for Constraint {
    /// isl's notation: `4tx - 8 >= 0`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NonNegative(expression) => write!(formatter, "{expression} >= 0"),
            Self::Zero(expression) => write!(formatter, "{expression} = 0"),
        }
    }
}

/// Writes constraints in isl's notation: `true`, `false`, or conjunctions joined by `or`.
pub fn write_constraints(
    formatter: &mut fmt::Formatter<'_>,
    constraints: &Constraints,
) -> fmt::Result {
    if constraints.is_empty() {
        return formatter.write_str("false");
    }
    for (index, conjunction) in constraints.iter().enumerate() {
        if index > 0 {
            formatter.write_str(" or ")?;
        }
        if conjunction.is_empty() {
            formatter.write_str("true")?;
        }
        let grouped = constraints.len() > 1 && conjunction.len() > 1;
        if grouped {
            formatter.write_str("(")?;
        }
        for (position, constraint) in conjunction.iter().enumerate() {
            if position > 0 {
                formatter.write_str(" and ")?;
            }
            write!(formatter, "{constraint}")?;
        }
        if grouped {
            formatter.write_str(")")?;
        }
    }
    Ok(())
}
