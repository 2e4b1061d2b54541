//! The host module as plain data: what the analyses of this stage need of LLVM's IR and no more.
//!
//! Invariant: anything that is not understood is [`Opcode::Other`], [`Operand::Constant`] or
//! [`Operand::Undefined`], which every analysis treats as unknown.

pub(super) mod cfg;
pub(super) mod host_reader;

use crate::diagnostics::Location;
use std::collections::HashMap;

/// Functions and globals of the host side.
#[derive(Debug, Default)]
pub struct HostModule {
    /// All functions, declarations too.
    pub functions: Vec<Function>,
    /// All global variables.
    pub globals: Vec<Global>,
    /// What each [`Operand::Constant`] mentions.
    pub constants: Vec<Vec<Operand>>,
    /// The members of those constants that are structs.
    pub members: HashMap<usize, Vec<Operand>>,
    /// All code of the program is in the module, but for libraries that know nothing of it.
    pub closed: bool,
}

/// A host function.
#[derive(Debug, Default)]
pub struct Function {
    /// Mangled name.
    pub name: String,
    /// Types of its parameters.
    pub parameters: Vec<Type>,
    /// Its name is not seen outside the module.
    pub internal: bool,
    /// Every unit that uses it may have a copy (an inline function or template).
    pub inline: bool,
    /// Its address is used other than as a callee.
    pub address_taken: bool,
    /// It is compiled for a processor that adds a product to a number with one rounding.
    pub fuses_products: bool,
    /// Its blocks, the entry first; empty for a declaration.
    pub blocks: Vec<Block>,
    /// Its instructions, in block order.
    pub instructions: Vec<Instruction>,
}

/// A host basic block.
#[derive(Debug, Default)]
pub struct Block {
    /// Its instructions: a range of [`Function::instructions`].
    pub instructions: std::ops::Range<usize>,
    /// Where control goes.
    pub successors: Vec<usize>,
    /// It ends with a return.
    pub returns: bool,
}

/// A host global variable.
#[derive(Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Its name is not seen outside the module.
    pub internal: bool,
    /// It is never written.
    pub constant: bool,
    /// The bytes of a constant text.
    pub text: Option<Vec<u8>>,
    /// What its initialiser mentions, each with the byte that it stands at (`None`: anywhere); `None`: defined
    /// elsewhere.
    pub initializer: Option<Vec<(Option<i64>, Operand)>>,
}

/// What an attribute list promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// May read memory through its arguments or elsewhere.
    pub reads: bool,
    /// May write memory that its arguments point to.
    pub writes_arguments: bool,
    /// May write other memory, or do what is not memory at all (I/O).
    pub writes_elsewhere: bool,
    /// May write `errno`.
    pub writes_error_number: bool,
    /// Does not unwind.
    pub no_unwind: bool,
    /// Returns.
    pub will_return: bool,
}

impl Default for Effects {
    fn default() -> Self {
        Self {
            reads: true,
            writes_arguments: true,
            writes_elsewhere: true,
            writes_error_number: true,
            no_unwind: false,
            will_return: false,
        }
    }
}

/// The type of a value, as far as it matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Type {
    /// Nothing.
    #[default]
    Void,
    /// An integer of so many bits.
    Integer(u32),
    /// A binary floating-point number of so many bits.
    Float(u32),
    /// A pointer.
    Pointer,
    /// Anything else, with its size in bytes.
    Other(u64),
}

impl Type {
    /// Bytes that a store of it writes.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Void => 0,
            Self::Integer(bits) | Self::Float(bits) => u64::from(bits.div_ceil(8)),
            Self::Pointer => 8,
            Self::Other(bytes) => *bytes,
        }
    }

    /// Width in bits of a scalar of at most 64 bits.
    pub fn scalar_bits(&self) -> Option<u32> {
        match self {
            Self::Integer(bits) | Self::Float(bits) if *bits <= 64 => Some(*bits),
            Self::Pointer => Some(64),
            _ => None,
        }
    }
}

/// A value as an instruction names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operand {
    /// Result of an instruction of the same function.
    Instruction(usize),
    /// A parameter of the same function.
    Parameter(usize),
    /// An integer literal of at most 64 bits, sign-extended.
    Integer {
        /// Width.
        bits: u32,
        /// Value.
        value: i64,
    },
    /// A floating-point literal.
    Float {
        /// Width, 32 or 64.
        bits: u32,
        /// Its bits.
        pattern: u64,
    },
    /// The null pointer.
    Null,
    /// `undef` or `poison`: every use may see another value.
    Undefined,
    /// The address of a global, and bytes past it.
    Global(usize, i64),
    /// The address of a function.
    Function(usize),
    /// Another constant; the same index is the same constant.
    Constant(usize),
}

/// A pure operation with operands only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Left shift.
    ShiftLeft,
    /// Logical right shift.
    ShiftRightLogical,
    /// Bitwise or.
    Or,
    /// Bitwise and.
    And,
    /// Signed quotient.
    DivideSigned,
    /// Unsigned quotient.
    DivideUnsigned,
    /// Zero extension.
    ZeroExtend,
    /// Sign extension.
    SignExtend,
    /// Truncation.
    Truncate,
    /// A choice by the first operand.
    Select,
    /// A conversion that keeps 64 bits as they are (pointer to integer and back).
    Reinterpret,
    /// Another pure instruction, by opcode and predicate.
    Other(u32, u32),
}

/// A scalar field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Offset in bytes.
    pub offset: u64,
    /// Path of indices.
    pub path: Vec<u32>,
    /// Its type.
    pub ty: Type,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// A pure operation; `no_signed_wrap` is the flag `nsw`, or `nneg` of a zero extension.
    Pure {
        /// Which.
        operation: Operation,
        /// No signed wrap.
        no_signed_wrap: bool,
    },
    /// `operands[i]` when control came from `blocks[i]`.
    Phi {
        /// Predecessors.
        blocks: Vec<usize>,
    },
    /// Reads `*operands[0]`.
    Load {
        /// Volatile or atomic.
        ordered: bool,
    },
    /// `*operands[1] = operands[0]`.
    Store {
        /// Volatile or atomic.
        ordered: bool,
        /// Type of the value.
        stored: Type,
    },
    /// Read-modify-write, compare-exchange, fence.
    Atomic,
    /// A stack slot of so many bytes (where constant).
    Alloca {
        /// Size.
        bytes: Option<u64>,
    },
    /// `operands[0] + constant + Σ operands[i] * scales[i - 1]`.
    Address {
        /// Constant part in bytes.
        constant: i64,
        /// Bytes for each further operand.
        scales: Vec<i64>,
        /// It stays within one object, and neither the products nor the sums wrap.
        in_bounds: bool,
    },
    /// A call or invoke; operands are the arguments.
    Call {
        /// The called function, when direct.
        callee: Option<usize>,
        /// The called value, when not.
        through: Option<Operand>,
        /// Effects by attributes of call and callee.
        effects: Effects,
        /// It is an invoke: exceptions go to a landing pad.
        invoke: bool,
        /// Arguments passed `byval` and the scalar fields of their types.
        by_value: Vec<(usize, Vec<Field>)>,
        /// Arguments that are first-class structs, and their scalar fields.
        structs: Vec<(usize, Vec<Field>)>,
    },
    /// A member of an aggregate.
    Extract {
        /// Path of indices.
        indices: Vec<u32>,
    },
    /// An aggregate made of its operands.
    Combine,
    /// The aggregate `operands[0]` with `operands[1]` at a path of indices.
    Insert {
        /// Path of indices.
        indices: Vec<u32>,
    },
    /// `freeze`: an arbitrary but fixed value where the operand is undefined.
    Freeze,
    /// The function returns `operands[0]`.
    Return,
    /// The path ends.
    Unreachable,
    /// Another terminator.
    Terminator,
    /// Anything else.
    Other,
}

/// A host instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// What it does.
    pub opcode: Opcode,
    /// Its operands.
    pub operands: Vec<Operand>,
    /// Type of its result.
    pub result: Type,
    /// Its arithmetic may be done otherwise than it is written.
    pub fast_math: bool,
    /// Its block.
    pub block: usize,
    /// Its name in the IR, where it has one.
    pub name: String,
    /// Its place in the source.
    pub location: Location,
}
