//! Structs that a kernel takes by value -> a parameter for each field that it reads.
//!
//! A struct in memory hides from a fused kernel what it knows of plain parameters: that a number is a constant of
//! the host, that two members have the same pointer, where a pointer leads. Field by field they are plain
//! parameters, and what nobody reads is not passed.
//!
//! Invariants: a kernel is taken apart only where each of its accesses to the struct is seen, at an offset that
//! is known, and no two of them share some bytes but not all. It may write its copy, which is each thread's own.
//! A field begins where it can stand by itself, so that the fields of a struct take no more parameter space than the
//! struct.

use crate::codegen::CodegenError;
use crate::codegen::expansion::entry_place;
use crate::llvm::{Builder, FUNCTION_ATTRIBUTES, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::BTreeMap;

/// What a parameter of a body is of the kernel's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct Piece {
    /// The position of the argument.
    pub(in crate::codegen::fused_kernels::fuse) argument: usize,
    /// Where the field begins that it is, in bytes; `None`: it is the whole argument.
    pub(in crate::codegen::fused_kernels::fuse) offset_bytes: Option<u32>,
}

impl Piece {
    /// Those of a kernel that takes its arguments whole.
    pub(in crate::codegen::fused_kernels::fuse) fn all(kernel: Value) -> Vec<Self> {
        let arguments = 0..kernel.value_type().parameters().len();
        arguments.map(Self::whole).collect()
    }

    fn whole(argument: usize) -> Self {
        Self {
            argument,
            offset_bytes: None,
        }
    }

    pub(in crate::codegen::fused_kernels::fuse) fn is_whole(self) -> bool {
        self.offset_bytes.is_none()
    }

    /// Where it begins in its argument, in bytes.
    pub(in crate::codegen::fused_kernels::fuse) fn begin(self) -> u32 {
        self.offset_bytes.unwrap_or(0)
    }
}

/// Gives a kernel, which keeps its name, a parameter for each field of the structs that can be taken apart. Returns it,
/// and what its parameters are.
pub(in crate::codegen::fused_kernels::fuse) fn take_apart<'ctx>(
    module: &Module<'ctx>,
    general: Value<'ctx>,
) -> Result<(Value<'ctx>, Vec<Piece>), CodegenError> {
    let structs: Vec<Option<Struct>> = general
        .parameters()
        .into_iter()
        .enumerate()
        .map(|(index, parameter)| {
            let position = index as u32 + 1;
            let ty = general.type_attribute(position, "byval")?;
            let declared = general.integer_attribute(position, "align");
            Struct::read(module, parameter, ty, declared.unwrap_or(1))
        })
        .collect();
    if structs.iter().all(Option::is_none) {
        return Ok((general, Piece::all(general)));
    }
    let (mut types, mut pieces) = (Vec::new(), Vec::new());
    for (argument, (ty, found)) in (general.value_type().parameters().into_iter())
        .zip(&structs)
        .enumerate()
    {
        let Some(found) = found else {
            types.push(ty);
            pieces.push(Piece::whole(argument));
            continue;
        };
        for (offset, ty) in &found.fields {
            types.push(*ty);
            pieces.push(Piece {
                argument,
                offset_bytes: Some(*offset),
            });
        }
    }
    let function = general.with_parameters(module, &types);
    // What was said of arguments did not count what pointers inside of them lead to.
    function.remove_attribute(FUNCTION_ATTRIBUTES, "memory");
    let name = function.name();
    let start = entry_place(function)
        .ok_or_else(|| CodegenError::Inconsistent(format!("'{name}' has no body")))?;
    let builder = Builder::before(start);
    let [byte, long] = [8, 64].map(|bits| Type::integer(module, bits));
    let mut parameters = (1..).zip(function.parameters());
    for (index, (old, found)) in (1..).zip(general.parameters().into_iter().zip(&structs)) {
        let mut next = || {
            let parameter = parameters.next();
            parameter.ok_or_else(|| CodegenError::Inconsistent(format!("fields of '{name}'")))
        };
        let Some(found) = found else {
            let (position, parameter) = next()?;
            general.copy_attributes(index, function, position);
            old.replace_uses_with_or_nothing(parameter);
            continue;
        };
        let copy = builder.alloca(found.ty);
        for (offset, ty) in &found.fields {
            let (_, parameter) = next()?;
            let distance = long.constant(u64::from(*offset));
            let place = builder.element_pointer(byte, copy, &[distance]);
            builder.store_aligned(parameter, place, ty.alignment(module));
        }
        old.replace_uses_with_or_nothing(copy);
    }
    general.delete_function();
    // All copies become registers by that.
    function
        .run_passes("sroa<modify-cfg>", None)
        .map_err(CodegenError::Llvm)?;
    Ok((function, pieces))
}

/// A struct that can be taken apart.
struct Struct<'ctx> {
    ty: Type<'ctx>,
    /// The fields that are read, by where they begin.
    fields: BTreeMap<u32, Type<'ctx>>,
}

impl<'ctx> Struct<'ctx> {
    /// The struct behind a parameter, of which an alignment is declared, when it can be taken apart.
    fn read(
        module: &Module<'ctx>,
        parameter: Value<'ctx>,
        ty: Type<'ctx>,
        declared: u64,
    ) -> Option<Self> {
        let mut accesses = Vec::new();
        collect(module, parameter, 0, &mut accesses)?;
        let end = ty.allocation_bytes(module);
        // Vectors are loaded in one piece, and where the host keeps the struct only its type is told for certain.
        let own = u64::from(ty.alignment(module));
        let aligned = |bytes: u64| bytes <= own || bytes <= declared.min(LARGEST_SCALAR_BYTES);
        let mut extents: BTreeMap<u64, u64> = BTreeMap::new();
        let mut fields = BTreeMap::new();
        for access in &accesses {
            let offset = u64::try_from(access.offset).ok()?;
            let bytes = access.ty.access_bytes(module);
            let alignment = u64::from(access.ty.alignment(module));
            let stands = access.ty.is_passed_in_registers()
                && bytes == access.ty.allocation_bytes(module)
                && offset.is_multiple_of(alignment)
                && aligned(alignment)
                && offset.checked_add(bytes)? <= end;
            let alike = *extents.entry(offset).or_insert(bytes) == bytes;
            if !stands || !alike {
                return None;
            }
            if access.reads {
                // What else is read there has as many bytes.
                fields
                    .entry(u32::try_from(offset).ok()?)
                    .or_insert(access.ty);
            }
        }
        let mut reached = 0;
        for (offset, bytes) in extents {
            if offset < reached {
                return None;
            }
            reached = offset + bytes;
        }
        Some(Self { ty, fields })
    }
}

const LARGEST_SCALAR_BYTES: u64 = 8;

/// An access to a struct.
struct Access<'ctx> {
    offset: i64,
    ty: Type<'ctx>,
    reads: bool,
}

/// All accesses by way of a pointer that leads `offset` bytes into a struct; `None` when something else may be done
/// with it.
fn collect<'ctx>(
    module: &Module<'ctx>,
    pointer: Value<'ctx>,
    offset: i64,
    found: &mut Vec<Access<'ctx>>,
) -> Option<()> {
    for user in pointer.users() {
        if !user.is_instruction() {
            return None;
        }
        let plain = || !user.is_volatile() && !user.is_atomic();
        match user.opcode() {
            Some(Opcode::LLVMGetElementPtr) if user.ty().is_pointer() => {
                let offset = offset.checked_add(user.constant_distance(module)?)?;
                collect(module, user, offset, found)?;
            }
            Some(Opcode::LLVMLoad) if plain() => found.push(Access {
                offset,
                ty: user.ty(),
                reads: true,
            }),
            Some(Opcode::LLVMStore) if plain() && user.operand(0) != pointer => {
                found.push(Access {
                    offset,
                    ty: user.operand(0).ty(),
                    reads: false,
                })
            }
            _ => return None,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;
    use inkwell::values::AnyValue;

    const CASE: &str = include_str!("../cases/fields.ll");

    /// The parameters that a kernel of the case has when it is taken apart, and what of its body is left.
    fn taken_apart(name: &str) -> (Vec<String>, String) {
        let context = Context::create();
        let text = format!("{CASE}\0");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "fields.ll");
        let module = context.create_module_from_ir(buffer);
        let module = module.expect("the case is valid IR");
        let kernel = Value::function(&module, name).expect("the case has it");
        let (function, pieces) = take_apart(&module, kernel).expect("it can be taken apart");
        module.verify().expect("what comes of it is valid IR");
        let of_function = module.get_function(name).expect("it keeps its name");
        let shown = |(piece, ty): (&Piece, Type)| {
            let bits = ty.access_bytes(&module) * 8;
            match piece.offset_bytes {
                Some(offset) => format!("{}+{offset}: {bits}", piece.argument),
                None => format!("{}", piece.argument),
            }
        };
        let types = function.value_type().parameters();
        let parameters = pieces.iter().zip(types).map(shown).collect();
        (parameters, of_function.print_to_string().to_string())
    }

    #[test]
    fn fields_that_are_read_are_parameters() {
        let (parameters, body) = taken_apart("views");
        assert_eq!(
            parameters,
            ["0+0: 64", "0+8: 32", "1", "2+0: 64", "2+12: 32"]
        );
        assert!(!body.contains("alloca"), "{body}");
        assert!(!body.contains("memory("), "{body}");
    }

    #[test]
    fn what_a_kernel_writes_is_its_own_copy() {
        let (parameters, body) = taken_apart("moves_on");
        assert_eq!(parameters, ["0+0: 64", "0+8: 32"]);
        assert!(!body.contains("alloca"), "{body}");
    }

    #[test]
    fn nothing_is_passed_of_what_nobody_reads() {
        assert_eq!(taken_apart("unread").0, ["1"]);
    }

    #[test]
    fn fields_have_the_type_of_their_first_access() {
        let (parameters, body) = taken_apart("united");
        assert_eq!(parameters, ["0+0: 32", "0+4: 8", "0+6: 16", "0+16: 128"]);
        assert!(!body.contains("alloca"), "{body}");
    }

    #[test]
    fn the_alignment_of_a_parameter_counts() {
        assert_eq!(taken_apart("spaced").0, ["0+8: 64"]);
    }

    #[test]
    fn structs_that_are_not_wholly_seen_stay_whole() {
        for name in [
            "indexed", "escapes", "stored", "chosen", "copied", "overlaps", "volatile", "packed",
            "outside", "vector",
        ] {
            let (parameters, _) = taken_apart(name);
            assert_eq!(parameters[0], "0", "{name}: {parameters:?}");
        }
    }
}
