//! Types and values of the LLVM IR that is written.

use crate::ptx::syntax::{Kind, Scalar};
use std::fmt;

/// A type of LLVM's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// An integer of so many bits.
    Int(u32),
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// A pointer into a space.
    Pointer(u32),
}

impl Type {
    /// What registers and values of this type are: halves are integers.
    pub(super) fn of(scalar: Scalar) -> Self {
        match (scalar.kind, scalar.bits) {
            (Kind::Float, 32) => Self::Float,
            (Kind::Float, 64) => Self::Double,
            (_, bits) => Self::Int(bits),
        }
    }

    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Int(bits) => bits,
            Self::Float => 32,
            Self::Double | Self::Pointer(_) => 64,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(bits) => write!(formatter, "i{bits}"),
            Self::Float => formatter.write_str("float"),
            Self::Double => formatter.write_str("double"),
            Self::Pointer(0) => formatter.write_str("ptr"),
            Self::Pointer(space) => write!(formatter, "ptr addrspace({space})"),
        }
    }
}

/// A value: its type and what stands for it.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) ty: Type,
    pub(super) text: String,
}

impl Value {
    pub(super) fn new(ty: Type, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { ty, text }
    }

    /// An integer constant.
    pub(super) fn constant(bits: u32, value: u64) -> Self {
        let text = match bits {
            1 => (if value & 1 == 1 { "true" } else { "false" }).to_owned(),
            64.. => (value as i64).to_string(),
            _ => (value & ((1 << bits) - 1)).to_string(),
        };
        Self::new(Type::Int(bits), text)
    }
}

/// Its type and the value, as an operand is written.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.ty, self.text)
    }
}

/// A name between quotes, as LLVM reads any name.
pub(super) fn quoted(name: &str) -> String {
    let mut text = String::from("\"");
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' | 0..=31 | 127..=255 => text.push_str(&format!("\\{byte:02X}")),
            _ => text.push(char::from(byte)),
        }
    }
    text.push('"');
    text
}
