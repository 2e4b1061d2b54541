//! Element types of tensors and values.

use std::fmt;

/// A type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// A truth value, one byte.
    Bool,
    /// Signed, 8 bits.
    Int8,
    /// Unsigned, 8 bits.
    Uint8,
    /// Signed, 16 bits.
    Int16,
    /// Unsigned, 16 bits.
    Uint16,
    /// Signed, 32 bits.
    Int32,
    /// Unsigned, 32 bits.
    Uint32,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 64 bits.
    Uint64,
    /// IEEE half precision.
    Half,
    /// The upper half of single precision.
    Bfloat16,
    /// Single precision.
    Float,
    /// Double precision.
    Double,
}

/// All names, of which the first for each type is the one that messages use.
const NAMES: &[(&str, Scalar)] = &[
    ("bool", Scalar::Bool),
    ("int8", Scalar::Int8),
    ("char", Scalar::Int8),
    ("int8_t", Scalar::Int8),
    ("uint8", Scalar::Uint8),
    ("byte", Scalar::Uint8),
    ("uint8_t", Scalar::Uint8),
    ("int16", Scalar::Int16),
    ("short", Scalar::Int16),
    ("int16_t", Scalar::Int16),
    ("uint16", Scalar::Uint16),
    ("uint16_t", Scalar::Uint16),
    ("int", Scalar::Int32),
    ("int32", Scalar::Int32),
    ("int32_t", Scalar::Int32),
    ("uint32", Scalar::Uint32),
    ("uint", Scalar::Uint32),
    ("uint32_t", Scalar::Uint32),
    ("int64", Scalar::Int64),
    ("long", Scalar::Int64),
    ("int64_t", Scalar::Int64),
    ("uint64", Scalar::Uint64),
    ("uint64_t", Scalar::Uint64),
    ("size_t", Scalar::Uint64),
    ("half", Scalar::Half),
    ("float16", Scalar::Half),
    ("bfloat16", Scalar::Bfloat16),
    ("float", Scalar::Float),
    ("float32", Scalar::Float),
    ("double", Scalar::Double),
    ("float64", Scalar::Double),
];

impl Scalar {
    /// By any of its names.
    pub fn of_name(name: &str) -> Option<Self> {
        let row = NAMES.iter().find(|(known, _)| *known == name);
        row.map(|(_, scalar)| *scalar)
    }

    /// All names of types.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        let row = NAMES.iter().find(|(_, scalar)| *scalar == self);
        row.map_or("", |(name, _)| name)
    }

    /// Its spelling in CUDA C++.
    pub fn cuda(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int8 => "signed char",
            Self::Uint8 => "unsigned char",
            Self::Int16 => "short",
            Self::Uint16 => "unsigned short",
            Self::Int32 => "int",
            Self::Uint32 => "unsigned int",
            Self::Int64 => "long long",
            Self::Uint64 => "unsigned long long",
            Self::Half => "__half",
            Self::Bfloat16 => "__nv_bfloat16",
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    /// The size of an element in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Bool | Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 | Self::Half | Self::Bfloat16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float => 4,
            Self::Int64 | Self::Uint64 | Self::Double => 8,
        }
    }

    /// Whether it has a fraction.
    pub fn is_floating(self) -> bool {
        self >= Self::Half
    }

    /// Whether it is an integer or a truth value.
    pub fn is_integer(self) -> bool {
        !self.is_floating()
    }

    /// Whether it holds negative numbers.
    pub fn is_signed(self) -> bool {
        self.is_floating() || matches!(self, Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64)
    }

    /// The type in which its values are computed and summed up: `float` for both types of 16 bits with a fraction,
    /// `int` for integers that are narrower.
    pub fn computed(self) -> Self {
        match self {
            Self::Half | Self::Bfloat16 => Self::Float,
            Self::Bool | Self::Int8 | Self::Uint8 | Self::Int16 | Self::Uint16 => Self::Int32,
            other => other,
        }
    }

    /// The type of a sum of two values: that of C++, but two values of one 16-bit type with a fraction stay of that
    /// type (and are computed in `float`), and two different ones make a `float`.
    pub fn joined(self, other: Self) -> Self {
        if self.is_floating() || other.is_floating() {
            return match (self, other) {
                (Self::Half, Self::Bfloat16) | (Self::Bfloat16, Self::Half) => Self::Float,
                _ if !self.is_floating() => other,
                _ if !other.is_floating() => self,
                _ => self.max(other),
            };
        }
        self.computed().max(other.computed())
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Scalar::*;

    #[test]
    fn types_join_as_those_of_cxx_and_halves_stay_halves() {
        assert_eq!(Int8.joined(Uint8), Int32);
        assert_eq!(Int32.joined(Uint32), Uint32);
        assert_eq!(Uint32.joined(Int64), Int64);
        assert_eq!(Int64.joined(Float), Float);
        assert_eq!(Half.joined(Half), Half);
        assert_eq!(Half.joined(Bfloat16), Float);
        assert_eq!(Half.joined(Int32), Half);
        assert_eq!(Bfloat16.joined(Double), Double);
    }
}
