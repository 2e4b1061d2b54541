//! What decides whether a host loop goes on, where that is computed from numbers that it copies from the device.
//!
//! Plain data. Invariant: whoever computes the [`scalars`](LoopTest::scalars) of an iteration, from the bytes that its copies
//! bring, gets the bits that the host gets; and the host leaves the loop at the end of a block exactly where that
//! [exit](LoopTest::exits) says so, provided that all calls of CUDA in it succeed.

use super::{HostBlockId, NodeId};
use crate::diagnostics::Location;
use serde::{Deserialize, Serialize};

/// How a host loop decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopTest {
    /// Which loop, an index into [`LaunchGraph::loops`](super::LaunchGraph::loops).
    pub host_loop: usize,
    /// What is computed, each from ones before it.
    pub scalars: Vec<Scalar>,
    /// Numbers that an iteration hands to the next.
    pub carried: Vec<CarriedScalar>,
    /// Where the host leaves the loop.
    pub exits: Vec<LoopExit>,
    /// The copies to the host that an iteration makes, in order.
    pub copies: Vec<CopyToHost>,
    /// Numbers that launches take and that may be others in each iteration.
    pub arguments: Vec<LoopArgument>,
}

/// A block at whose end the host leaves a loop or stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopExit {
    /// Which block.
    pub block: HostBlockId,
    /// The scalar of one bit that is 1 where it stays; `None` where it never leaves there.
    pub stays: Option<usize>,
    /// The block stands in front of the first launch: this is about the next iteration.
    pub of_next: bool,
}

/// A number that a launch takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopArgument {
    /// The launch.
    pub node: NodeId,
    /// Position among the kernel's parameters.
    pub argument: usize,
    /// What it is.
    pub value: LoopArgumentValue,
}

/// What a number is that a launch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopArgumentValue {
    /// The host knows it in front of the iteration's first launch. In the next iteration it is this scalar of this one.
    HandedOn(usize),
    /// This scalar, of the iteration itself.
    Computed(usize),
}

/// A number that the host computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scalar {
    /// Its type.
    pub ty: ScalarType,
    /// What it is.
    pub kind: ScalarKind,
}

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ScalarType {
    /// So many bits, at most 64.
    Integer(u32),
    /// `float`, or with `true` `double`.
    Float(bool),
}

impl ScalarType {
    /// Bytes in memory.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Integer(bits) => bits.div_ceil(8).next_power_of_two(),
            Self::Float(double) => 4 << u32::from(double),
        }
    }
}

/// What a scalar is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ScalarKind {
    /// These bits.
    Literal(u64),
    /// What the host has in front of the loop's first launch; it does not change in the loop.
    Host(HostPlace),
    /// What a copy of this iteration brought.
    Copied {
        /// Which of [`LoopTest::copies`].
        copy: usize,
        /// Where in it.
        offset_bytes: u32,
    },
    /// Which of [`LoopTest::carried`], as it is in this iteration.
    Carried(usize),
    /// Computed from scalars before.
    Computed {
        /// How.
        operation: ScalarOperation,
        /// From what.
        operands: Vec<usize>,
    },
}

/// Operations whose results have the same bits on the host and the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalarOperation {
    /// Sum of integers.
    Add,
    /// Difference of integers.
    Subtract,
    /// Product of integers.
    Multiply,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Zero extension.
    ZeroExtend,
    /// Sign extension.
    SignExtend,
    /// Truncation.
    Truncate,
    /// The second or third, by the first.
    Select,
    /// A comparison of integers.
    Compare(IntegerComparison),
    /// A comparison of floating-point numbers.
    CompareFloat(FloatComparison),
    /// Sum, rounded to nearest even, as all below.
    FloatAdd,
    /// Difference.
    FloatSubtract,
    /// Product.
    FloatMultiply,
    /// Quotient.
    FloatDivide,
    /// The sign turned over.
    FloatNegate,
    /// Without the sign.
    FloatAbsolute,
    /// Square root.
    SquareRoot,
    /// `float` as `double`.
    FloatExtend,
    /// `double` as `float`.
    FloatTruncate,
    /// A signed integer as a floating-point number.
    SignedToFloat,
    /// An unsigned one.
    UnsignedToFloat,
}

/// Comparisons of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum IntegerComparison {
    Equal,
    NotEqual,
    UnsignedGreater,
    UnsignedGreaterEqual,
    UnsignedLess,
    UnsignedLessEqual,
    SignedGreater,
    SignedGreaterEqual,
    SignedLess,
    SignedLessEqual,
}

/// Comparisons of floating-point numbers; `or_unordered`: true with a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FloatComparison {
    /// True where they are equal.
    pub equal: bool,
    /// True where the first is greater.
    pub greater: bool,
    /// True where the first is less.
    pub less: bool,
    /// True where one is a NaN.
    pub unordered: bool,
}

/// A value of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HostPlace {
    /// A parameter of the loop's function.
    Parameter(usize),
    /// What an instruction of it yields.
    Instruction {
        /// Its block, by the place among those of its function.
        block: usize,
        /// Its place in that block.
        index: usize,
    },
}

/// A number that an iteration hands to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedScalar {
    /// What it is in an iteration, in front of the first launch.
    pub now: HostPlace,
    /// The scalar that it is in the next one.
    pub next: usize,
    /// Its type.
    pub ty: ScalarType,
}

/// A copy of a few bytes to the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyToHost {
    /// The copy.
    pub node: NodeId,
    /// Which one of the host module's calls of operations it is, in their order.
    pub call: usize,
    /// How much it copies.
    pub bytes: u32,
}

/// Why nobody but the host can tell whether a loop goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untold {
    /// In words that follow "since".
    pub why: String,
    /// Where.
    pub location: Location,
}
