//! Values that the host can compute: trees of integer arithmetic over leaves.
//!
//! A kernel's uniform values (arguments, `gridDim`, `blockDim` and what it computes from them) are
//! [`Expression`]s over [`crate::kernel::KernelSymbol`]; after instantiation at a launch they are
//! expressions over [`crate::launch::ValueId`], which is also the language of guards. The meaning
//! is that of mathematical integers: whoever evaluates one at run time treats overflow of 64 bits
//! as "the guard does not hold".

use serde::{Deserialize, Serialize};
use std::fmt;

/// An integer expression over leaves of type `L`, in mathematical integers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Expression<L> {
    /// A literal.
    Constant(i64),
    /// A leaf: a kernel symbol or a host value.
    Leaf(L),
    /// Sum.
    Add(Box<Self>, Box<Self>),
    /// Difference.
    Subtract(Box<Self>, Box<Self>),
    /// Product.
    Multiply(Box<Self>, Box<Self>),
    /// Quotient rounded towards minus infinity; the divisor is positive wherever it is evaluated.
    FloorDivide(Box<Self>, Box<Self>),
    /// The smaller one.
    Minimum(Box<Self>, Box<Self>),
    /// The larger one.
    Maximum(Box<Self>, Box<Self>),
}

/// What must hold for a model or a fused launch to be valid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Condition<L> {
    /// `left <= right`.
    LessEqual(Expression<L>, Expression<L>),
    /// `left == right`.
    Equal(Expression<L>, Expression<L>),
    /// Every one holds (none: true).
    All(Vec<Self>),
    /// At least one holds (none: false).
    Any(Vec<Self>),
}

impl<L: Clone + PartialEq> Expression<L> {
    /// The literal value, when the tree is one.
    pub fn as_constant(&self) -> Option<i64> {
        match self {
            Self::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// `self + other`, folded where both are literals or one is zero.
    #[expect(
        clippy::should_implement_trait,
        reason = "folding differs from building the sum, as for the methods below"
    )]
    pub fn add(self, other: Self) -> Self {
        match (self.as_constant(), other.as_constant()) {
            (Some(0), _) => other,
            (_, Some(0)) => self,
            (Some(a), Some(b)) if a.checked_add(b).is_some() => Self::Constant(a + b),
            _ => Self::Add(Box::new(self), Box::new(other)),
        }
    }

    /// `self - other`, folded where possible.
    pub fn subtract(self, other: Self) -> Self {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(0)) => self,
            (Some(a), Some(b)) if a.checked_sub(b).is_some() => Self::Constant(a - b),
            _ => Self::Subtract(Box::new(self), Box::new(other)),
        }
    }

    /// `self * other`, folded where possible.
    pub fn multiply(self, other: Self) -> Self {
        match (self.as_constant(), other.as_constant()) {
            (Some(1), _) => other,
            (_, Some(1)) => self,
            (Some(0), _) | (_, Some(0)) => Self::Constant(0),
            (Some(a), Some(b)) if a.checked_mul(b).is_some() => Self::Constant(a * b),
            _ => Self::Multiply(Box::new(self), Box::new(other)),
        }
    }

    /// `floor(self / other)`, folded where both are literals and the divisor is positive.
    pub fn floor_divide(self, other: Self) -> Self {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(1)) => self,
            (Some(a), Some(b)) if b > 0 => Self::Constant(a.div_euclid(b)),
            _ => Self::FloorDivide(Box::new(self), Box::new(other)),
        }
    }

    /// The smaller of two, folded where possible.
    pub fn minimum(self, other: Self) -> Self {
        match (self.as_constant(), other.as_constant()) {
            (Some(a), Some(b)) => Self::Constant(a.min(b)),
            _ if self == other => self,
            _ => Self::Minimum(Box::new(self), Box::new(other)),
        }
    }

    /// The larger of two, folded where possible.
    pub fn maximum(self, other: Self) -> Self {
        match (self.as_constant(), other.as_constant()) {
            (Some(a), Some(b)) => Self::Constant(a.max(b)),
            _ if self == other => self,
            _ => Self::Maximum(Box::new(self), Box::new(other)),
        }
    }

    /// The same tree over other leaves, folded again. `None` when a leaf has no image.
    pub fn substitute<M: Clone + PartialEq>(
        &self,
        leaf: &mut impl FnMut(&L) -> Option<Expression<M>>,
    ) -> Option<Expression<M>> {
        let mut both = |a: &Self, b: &Self| Some((a.substitute(leaf)?, b.substitute(leaf)?));
        Some(match self {
            Self::Constant(value) => Expression::Constant(*value),
            Self::Leaf(symbol) => return leaf(symbol),
            Self::Add(a, b) => both(a, b).map(|(a, b)| a.add(b))?,
            Self::Subtract(a, b) => both(a, b).map(|(a, b)| a.subtract(b))?,
            Self::Multiply(a, b) => both(a, b).map(|(a, b)| a.multiply(b))?,
            Self::FloorDivide(a, b) => both(a, b).map(|(a, b)| a.floor_divide(b))?,
            Self::Minimum(a, b) => both(a, b).map(|(a, b)| a.minimum(b))?,
            Self::Maximum(a, b) => both(a, b).map(|(a, b)| a.maximum(b))?,
        })
    }
}

impl<L: Clone + PartialEq> Condition<L> {
    /// `Some` when the truth is known without run-time values.
    pub fn decided(&self) -> Option<bool> {
        match self {
            Self::LessEqual(a, b) => match (a.as_constant(), b.as_constant()) {
                (Some(a), Some(b)) => Some(a <= b),
                _ if a == b => Some(true),
                _ => None,
            },
            Self::Equal(a, b) => match (a.as_constant(), b.as_constant()) {
                (Some(a), Some(b)) => Some(a == b),
                _ if a == b => Some(true),
                _ => None,
            },
            Self::All(parts) => {
                let decided: Vec<_> = parts.iter().map(Self::decided).collect();
                if decided.contains(&Some(false)) {
                    return Some(false);
                }
                decided
                    .iter()
                    .all(|part| *part == Some(true))
                    .then_some(true)
            }
            Self::Any(parts) => {
                let decided: Vec<_> = parts.iter().map(Self::decided).collect();
                if decided.contains(&Some(true)) {
                    return Some(true);
                }
                decided
                    .iter()
                    .all(|part| *part == Some(false))
                    .then_some(false)
            }
        }
    }

    /// The same condition over other leaves. `None` when a leaf has no image.
    pub fn substitute<M: Clone + PartialEq>(
        &self,
        leaf: &mut impl FnMut(&L) -> Option<Expression<M>>,
    ) -> Option<Condition<M>> {
        Some(match self {
            Self::LessEqual(a, b) => Condition::LessEqual(a.substitute(leaf)?, b.substitute(leaf)?),
            Self::Equal(a, b) => Condition::Equal(a.substitute(leaf)?, b.substitute(leaf)?),
            Self::All(parts) => Condition::All(
                parts
                    .iter()
                    .map(|part| part.substitute(leaf))
                    .collect::<Option<_>>()?,
            ),
            Self::Any(parts) => Condition::Any(
                parts
                    .iter()
                    .map(|part| part.substitute(leaf))
                    .collect::<Option<_>>()?,
            ),
        })
    }
}

impl<L: fmt::Display> fmt::Display for Expression<L> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Factors: sums and differences in parentheses.
        struct Factor<'a, L>(&'a Expression<L>);
        impl<L: fmt::Display> fmt::Display for Factor<'_, L> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    Expression::Add(..) | Expression::Subtract(..) => {
                        write!(formatter, "({})", self.0)
                    }
                    other => write!(formatter, "{other}"),
                }
            }
        }
        match self {
            Self::Constant(value) => write!(formatter, "{value}"),
            Self::Leaf(leaf) => write!(formatter, "{leaf}"),
            Self::Add(a, b) => write!(formatter, "{a} + {b}"),
            Self::Subtract(a, b) => write!(formatter, "{a} - {}", Factor(b)),
            Self::Multiply(a, b) => write!(formatter, "{}*{}", Factor(a), Factor(b)),
            Self::FloorDivide(a, b) => write!(formatter, "floor(({a})/{})", Factor(b)),
            Self::Minimum(a, b) => write!(formatter, "min({a}, {b})"),
            Self::Maximum(a, b) => write!(formatter, "max({a}, {b})"),
        }
    }
}

impl<L: fmt::Display> fmt::Display for Condition<L> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, empty, word) = match self {
            Self::LessEqual(a, b) => return write!(formatter, "{a} <= {b}"),
            Self::Equal(a, b) => return write!(formatter, "{a} = {b}"),
            Self::All(parts) => (parts, "true", " and "),
            Self::Any(parts) => (parts, "false", " or "),
        };
        if parts.is_empty() {
            return formatter.write_str(empty);
        }
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                formatter.write_str(word)?;
            }
            match part {
                Self::All(_) | Self::Any(_) => write!(formatter, "({part})")?,
                other => write!(formatter, "{other}")?,
            }
        }
        Ok(())
    }
}
