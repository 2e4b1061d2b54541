//! A kernel's body as plain data: what the analyses of this stage walk instead of LLVM's objects.
//!
//! Invariant: every instruction of the LLVM function is a [`Value`] with an operation that says no
//! less about its effects than the instruction does; what has no operation of its own is
//! [`Operation::Other`], which keeps its operands and is treated as unknown.

use super::super::ReductionOperator;
use crate::diagnostics::Location;
use crate::launch::BEHIND_POINTER;
use std::collections::BTreeSet;

/// Index into [`Body::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueRef(pub usize);

/// Index into [`Body::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockRef(pub usize);

/// What kind of value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// An integer of so many bits.
    Integer(u32),
    /// A pointer into an address space.
    Pointer(u32),
    /// Everything else.
    Other,
}

/// Two-operand integer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    UnsignedDivide,
    SignedDivide,
    UnsignedRemainder,
    SignedRemainder,
    ShiftLeft,
    LogicalShiftRight,
    ArithmeticShiftRight,
    And,
    Or,
    Xor,
    SignedMinimum,
    SignedMaximum,
    UnsignedMinimum,
    UnsignedMaximum,
}

/// Integer comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    Equal,
    NotEqual,
    SignedLess,
    SignedLessEqual,
    SignedGreater,
    SignedGreaterEqual,
    UnsignedLess,
    UnsignedLessEqual,
    UnsignedGreater,
    UnsignedGreaterEqual,
}

impl Predicate {
    /// The predicate that holds exactly when this one does not.
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::SignedLess => Self::SignedGreaterEqual,
            Self::SignedLessEqual => Self::SignedGreater,
            Self::SignedGreater => Self::SignedLessEqual,
            Self::SignedGreaterEqual => Self::SignedLess,
            Self::UnsignedLess => Self::UnsignedGreaterEqual,
            Self::UnsignedLessEqual => Self::UnsignedGreater,
            Self::UnsignedGreater => Self::UnsignedLessEqual,
            Self::UnsignedGreaterEqual => Self::UnsignedLess,
        }
    }

    /// The same comparison of signed readings.
    pub fn signed(self) -> Self {
        match self {
            Self::UnsignedLess => Self::SignedLess,
            Self::UnsignedLessEqual => Self::SignedLessEqual,
            Self::UnsignedGreater => Self::SignedGreater,
            Self::UnsignedGreaterEqual => Self::SignedGreaterEqual,
            other => other,
        }
    }
}

/// Integer and pointer conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    SignExtend,
    ZeroExtend,
    Truncate,
    AddressSpace,
    /// Same bits, integer to integer or pointer to pointer.
    Same,
}

/// A global variable or function that is mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalVariable {
    /// Its name in the module.
    pub name: String,
    /// NVPTX address space: 1 global, 3 shared, 4 constant; 0 for functions.
    pub address_space: u32,
    /// Size of its type.
    pub bytes: u64,
    /// Its alignment where the source asks for one, else 0.
    pub align_bytes: u32,
    /// Never written by the device.
    pub constant: bool,
    /// Only declared here: dynamic shared memory when in space 3.
    pub external: bool,
}

/// A direct or indirect call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function's name; `None` for calls through pointers.
    pub callee: Option<String>,
    /// Actual arguments.
    pub arguments: Vec<ValueRef>,
    /// The function is known to touch no memory and to have no other effect.
    pub pure: bool,
    /// Bytes of the result, 0 for none.
    pub result_bytes: u32,
}

/// How a value comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An integer literal, sign-extended. Literals of more than 64 bits are `Other`.
    Constant(i64),
    /// The null pointer.
    Null,
    /// Undefined or poison: may be assumed to be anything.
    Undefined,
    /// The address of a global.
    Global(GlobalVariable),
    /// A scalar or pointer parameter by its position.
    Argument(usize),
    /// The address of a parameter passed by value in memory.
    ByValueArgument(usize),
    Binary {
        operator: BinaryOperator,
        left: ValueRef,
        right: ValueRef,
        /// Signed overflow is undefined.
        no_signed_wrap: bool,
        /// Unsigned overflow is undefined.
        no_unsigned_wrap: bool,
        /// For `or`: no bit is set in both.
        disjoint: bool,
    },
    Compare {
        predicate: Predicate,
        left: ValueRef,
        right: ValueRef,
        /// Both operands have the same sign bit.
        same_sign: bool,
    },
    Cast {
        cast: Cast,
        operand: ValueRef,
        /// The operand is known not to be negative.
        non_negative: bool,
    },
    Select {
        condition: ValueRef,
        on_true: ValueRef,
        on_false: ValueRef,
    },
    Phi(Vec<(ValueRef, BlockRef)>),
    /// Pointer arithmetic: `base + constant + Σ scale · index` bytes, indices read as signed.
    Offset {
        base: ValueRef,
        constant: i64,
        terms: Vec<(i64, ValueRef)>,
    },
    Freeze(ValueRef),
    /// The absolute value of a signed integer; that of the least one is itself or undefined.
    Absolute(ValueRef),
    /// The address in a pointer.
    PointerToInteger(ValueRef),
    /// The pointer with an address.
    IntegerToPointer(ValueRef),
    Load {
        pointer: ValueRef,
        bytes: u32,
        volatile: bool,
        atomic: bool,
        invariant: bool,
    },
    Store {
        pointer: ValueRef,
        value: ValueRef,
        bytes: u32,
        volatile: bool,
        atomic: bool,
    },
    AtomicUpdate {
        pointer: ValueRef,
        value: ValueRef,
        bytes: u32,
        /// How the cell changes; `None`: otherwise than reductions do.
        operator: Option<ReductionOperator>,
        /// Atomic for the threads of one block only.
        within_block: bool,
        volatile: bool,
    },
    CompareExchange {
        pointer: ValueRef,
        compare: ValueRef,
        new: ValueRef,
        bytes: u32,
        volatile: bool,
    },
    Fence,
    /// Memory of this thread alone.
    Alloca,
    Call(Call),
    /// Inline assembly: its text and constraints.
    Assembly {
        text: String,
        constraints: String,
        arguments: Vec<ValueRef>,
    },
    /// Anything else; computes a value from its operands without touching memory, unless
    /// `effects`.
    Other {
        operands: Vec<ValueRef>,
        effects: bool,
    },
}

/// A parameter, literal or instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// How it comes about.
    pub operation: Operation,
    /// Its type.
    pub value_type: Type,
    /// The block that computes it; `None` for parameters and constants.
    pub block: Option<BlockRef>,
    /// Whether anything uses it.
    pub used: bool,
    /// Its place in the source.
    pub location: Location,
}

impl Value {
    /// Every value that this one is computed from.
    pub fn operands(&self) -> Vec<ValueRef> {
        match &self.operation {
            Operation::Constant(_)
            | Operation::Null
            | Operation::Undefined
            | Operation::Global(_)
            | Operation::Argument(_)
            | Operation::ByValueArgument(_)
            | Operation::Fence
            | Operation::Alloca => Vec::new(),
            Operation::Binary { left, right, .. } | Operation::Compare { left, right, .. } => {
                vec![*left, *right]
            }
            Operation::Cast { operand, .. }
            | Operation::Freeze(operand)
            | Operation::Absolute(operand)
            | Operation::PointerToInteger(operand)
            | Operation::IntegerToPointer(operand) => vec![*operand],
            Operation::Select {
                condition,
                on_true,
                on_false,
            } => vec![*condition, *on_true, *on_false],
            Operation::Phi(incoming) => incoming.iter().map(|(value, _)| *value).collect(),
            Operation::Offset { base, terms, .. } => std::iter::once(*base)
                .chain(terms.iter().map(|(_, index)| *index))
                .collect(),
            Operation::Load { pointer, .. } => vec![*pointer],
            Operation::Store { pointer, value, .. }
            | Operation::AtomicUpdate { pointer, value, .. } => vec![*pointer, *value],
            Operation::CompareExchange {
                pointer,
                compare,
                new,
                ..
            } => vec![*pointer, *compare, *new],
            Operation::Call(call) => call.arguments.clone(),
            Operation::Assembly { arguments, .. } => arguments.clone(),
            Operation::Other { operands, .. } => operands.clone(),
        }
    }
}

/// Where control goes at the end of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// The thread ends.
    Return,
    Jump(BlockRef),
    Branch {
        condition: ValueRef,
        on_true: BlockRef,
        on_false: BlockRef,
    },
    Switch {
        value: ValueRef,
        /// Literal and destination; unsigned and signed readings agree on which is taken.
        cases: Vec<(i64, BlockRef)>,
        /// `None` where LLVM says that no other value occurs: its destination is nothing but
        /// `unreachable`.
        default: Option<BlockRef>,
    },
    /// Control never gets here (after a trap, for instance).
    Unreachable,
    /// Indirect or exceptional control flow.
    Other(Vec<BlockRef>),
}

impl Terminator {
    /// All destinations, each once.
    pub fn successors(&self) -> Vec<BlockRef> {
        let mut all = match self {
            Self::Return | Self::Unreachable => Vec::new(),
            Self::Jump(to) => vec![*to],
            Self::Branch {
                on_true, on_false, ..
            } => vec![*on_true, *on_false],
            Self::Switch { cases, default, .. } => {
                cases.iter().map(|(_, to)| *to).chain(*default).collect()
            }
            Self::Other(to) => to.clone(),
        };
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|block| seen.insert(*block));
        all
    }
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its instructions, without the terminator.
    pub instructions: Vec<ValueRef>,
    /// How it ends.
    pub terminator: Terminator,
    /// Where the terminator stands.
    pub location: Location,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formal {
    /// Its name in the source; empty where it has none.
    pub name: String,
    /// Size in parameter space.
    pub bytes: u32,
    /// Alignment in parameter space.
    pub align_bytes: u32,
    /// True for a plain pointer, false for scalars and for aggregates passed in memory.
    pub is_pointer: bool,
}

/// One kernel function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Mangled name.
    pub name: String,
    /// Where the definition stands.
    pub location: Location,
    /// Its parameters.
    pub formals: Vec<Formal>,
    /// All values; instructions among them are listed by block.
    pub values: Vec<Value>,
    /// Its blocks, the entry first.
    pub blocks: Vec<Block>,
    /// `__launch_bounds__`.
    pub max_threads: Option<u32>,
    /// It has `__cluster_dims__`.
    pub is_clustered: bool,
    /// Pointers that it loads from memory of which nothing changes while it runs.
    pub tables: Tables,
}

/// Pointers that a kernel loads from behind its pointer arguments, at a known distance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tables {
    /// None of them is known to stay what it is.
    #[default]
    Unknown,
    /// All of them do.
    Constant,
    /// These do, by argument and distance.
    Only(BTreeSet<(usize, u32)>),
}

impl Body {
    /// The value with that index.
    pub fn value(&self, at: ValueRef) -> &Value {
        &self.values[at.0]
    }

    /// The block with that index.
    pub fn block(&self, at: BlockRef) -> &Block {
        &self.blocks[at.0]
    }

    /// The argument behind which an address is, and how far, where the memory there is a constant table.
    pub fn table_place(&self, address: ValueRef) -> Option<(usize, u32)> {
        let (mut at, mut offset) = (address, 0i64);
        loop {
            match &self.value(at).operation {
                Operation::Offset {
                    base,
                    constant,
                    terms,
                } if terms.is_empty() => {
                    at = *base;
                    offset = offset.checked_add(*constant)?;
                }
                Operation::Cast { operand, .. } => at = *operand,
                Operation::Argument(argument) if self.formals[*argument].is_pointer => {
                    let distance = u32::try_from(offset)
                        .ok()
                        .filter(|at| *at < BEHIND_POINTER)?;
                    let place = (*argument, distance);
                    let known = match &self.tables {
                        Tables::Unknown => false,
                        Tables::Constant => true,
                        Tables::Only(places) => places.contains(&place),
                    };
                    return known.then_some(place);
                }
                _ => return None,
            }
        }
    }

    /// The literal, when the value is one.
    pub fn literal(&self, at: ValueRef) -> Option<i64> {
        match self.value(at).operation {
            Operation::Constant(value) => Some(value),
            _ => None,
        }
    }
}
