//! Structures by the names of their fields, as LLVM IR lays them out.

use super::context::Texel;
use std::mem::offset_of;

/// A field of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in Rust.
    pub name: &'static str,
    /// Its type in LLVM IR.
    pub ty: &'static str,
    /// Where it lies.
    pub offset_bytes: usize,
}

/// A structure that compiler and runtime share.
///
/// LLVM lays out a structure of these types without padding bytes of its own exactly as `repr(C)` does.
pub trait Layout {
    /// Its name in Rust.
    const NAME: &'static str;
    /// Its fields, in their order.
    const FIELDS: &'static [Field];

    /// Its type in LLVM IR.
    fn llvm_type() -> String {
        let types: Vec<&str> = Self::FIELDS.iter().map(|field| field.ty).collect();
        format!("{{ {} }}", types.join(", "))
    }

    /// A constant of it in LLVM IR. `values` are constants without their types, by the names of the fields; `None`
    /// when that are not all fields.
    fn llvm_constant(values: &[(&str, String)]) -> Option<String> {
        let value = |field: &Field| {
            let (_, value) = values.iter().find(|(name, _)| *name == field.name)?;
            Some(format!("{} {value}", field.ty))
        };
        let fields: Option<Vec<String>> = Self::FIELDS.iter().map(value).collect();
        let known = values.len() == Self::FIELDS.len();
        fields.filter(|_| known).map(|fields| {
            let ty = Self::llvm_type();
            format!("{ty} {{ {} }}", fields.join(", "))
        })
    }
}

/// A type that has one in LLVM IR.
pub(super) trait InLlvm {
    /// That type.
    const TYPE: &'static str;
}

macro_rules! in_llvm {
    ($($ty:ty: $name:literal;)*) => {
        $(impl InLlvm for $ty {
            const TYPE: &'static str = $name;
        })*
    };
}

in_llvm! {
    (): "void";
    i32: "i32";
    u32: "i32";
    u64: "i64";
    [u32; 3]: "[3 x i32]";
    Texel: "{ i64, i64 }";
}

impl<T> InLlvm for *const T {
    const TYPE: &'static str = "ptr";
}

impl<T> InLlvm for *mut T {
    const TYPE: &'static str = "ptr";
}

impl<A, B> InLlvm for unsafe extern "C" fn(A, B) {
    const TYPE: &'static str = "ptr";
}

impl<A, B> InLlvm for Option<unsafe extern "C" fn(A, B)> {
    const TYPE: &'static str = "ptr";
}

/// Defines a structure with its [`Layout`].
macro_rules! structure {
    ($(#[$of_structure:meta])* pub struct $name:ident { $($(#[$of_field:meta])* pub $field:ident: $ty:ty,)* }) => {
        $(#[$of_structure])*
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name {
            $($(#[$of_field])* pub $field: $ty,)*
        }

        impl $crate::Layout for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [$crate::Field] = &[$($crate::Field {
                name: stringify!($field),
                ty: <$ty as $crate::layout::InLlvm>::TYPE,
                offset_bytes: std::mem::offset_of!($name, $field),
            },)*];
        }
    };
}
pub(super) use structure;

// A texel is what LLVM calls two words.
const _: () = assert!(offset_of!(Texel, high) == 8 && size_of::<Texel>() == 16);

#[cfg(test)]
mod tests {
    use super::Layout;
    use crate::Counters;

    #[test]
    fn constants_have_all_fields_in_their_order() {
        let fields = Counters::FIELDS.iter().rev();
        let mut values: Vec<(&str, String)> = fields
            .map(|field| (field.name, field.offset_bytes.to_string()))
            .collect();
        assert_eq!(
            Counters::llvm_constant(&values).unwrap(),
            "{ i64, i64, i64, i64, i64, i64 } { i64 0, i64 8, i64 16, i64 24, i64 32, i64 40 }"
        );
        values.pop();
        assert_eq!(Counters::llvm_constant(&values), None);
    }
}
