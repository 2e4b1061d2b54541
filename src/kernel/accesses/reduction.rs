//! Atomic updates whose result nobody uses: what they do to their cell.
//!
//! The model only says what an update is. Whether two of them may change places is asked by the
//! stages that reorder: updates of one cell by one exact operator leave the same bits in any order,
//! since each is a function of the cell's bits that commutes with the others; sums and extrema of
//! floating-point numbers do not (rounding, signed zeros, NaN payloads).

use serde::{Deserialize, Serialize};
use std::fmt;

/// An atomic update whose result nobody uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reduction {
    /// How the cell and the operand become the new value.
    pub operator: ReductionOperator,
    /// Bytes of the cell. Its address is a multiple of them, else the update is an error in CUDA.
    pub cell_bytes: u32,
    /// Atomic for the threads of one block only (`atomicAdd_block`, `.cta`), or of a cluster.
    pub within_block: bool,
}

/// How an update computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReductionOperator {
    /// Sum or difference of integers, modulo the width.
    Add,
    /// The smaller signed integer.
    Minimum,
    /// The larger signed integer.
    Maximum,
    /// The smaller unsigned integer.
    UnsignedMinimum,
    /// The larger unsigned integer.
    UnsignedMaximum,
    /// Bits that both have.
    And,
    /// Bits that one has.
    Or,
    /// Bits that differ.
    Xor,
    /// Plus one, and zero after the limit, which is a literal (`atomicInc`).
    Increment(u64),
    /// Minus one, and the limit, which is a literal, after zero or from above it (`atomicDec`).
    Decrement(u64),
    /// Sum or difference of floating-point numbers, of any width and rounding.
    FloatingAdd,
    /// The smaller or the larger floating-point number.
    FloatingExtremum,
}

impl Reduction {
    /// Whether both leave the same bits in whichever order they are made, whatever their operands.
    /// Cells of one size are the same or disjoint. Threads of different blocks need more: that both
    /// are atomic beyond a block.
    pub fn commutes_with(&self, other: &Self) -> bool {
        let rounds = matches!(
            self.operator,
            ReductionOperator::FloatingAdd | ReductionOperator::FloatingExtremum
        );
        !rounds && self.operator == other.operator && self.cell_bytes == other.cell_bytes
    }
}

impl ReductionOperator {
    /// What it is called, its limit aside.
    fn words(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::UnsignedMinimum => "unsigned minimum",
            Self::UnsignedMaximum => "unsigned maximum",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "exclusive or",
            Self::Increment(_) => "increment",
            Self::Decrement(_) => "decrement",
            Self::FloatingAdd => "floating add",
            Self::FloatingExtremum => "floating extremum",
        }
    }
}

impl fmt::Display for ReductionOperator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.words())?;
        match self {
            Self::Increment(limit) | Self::Decrement(limit) => write!(formatter, " up to {limit}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Reduction {
    /// `add`, or `add for its block`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.operator)?;
        match self.within_block {
            true => formatter.write_str(" for its block"),
            false => Ok(()),
        }
    }
}
