//! Types.

use super::*;
use std::ffi::CStr;

impl<'ctx> Type<'ctx> {
    /// Its kind.
    pub(crate) fn kind(self) -> LLVMTypeKind {
        // SAFETY: the handle is alive by the invariant of this file (so below).
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// `void`.
    pub(crate) fn void(module: &Module<'ctx>) -> Self {
        // SAFETY: the context of a live module is alive.
        Self::new(unsafe { LLVMVoidTypeInContext(module.get_context().as_ctx_ref()) })
    }

    /// `ptr` of an address space.
    pub(crate) fn pointer(module: &Module<'ctx>, address_space: u32) -> Self {
        // SAFETY: as above.
        Self::new(unsafe {
            LLVMPointerTypeInContext(module.get_context().as_ctx_ref(), address_space)
        })
    }

    /// The integer type of so many bits.
    pub(crate) fn integer(module: &Module<'ctx>, bits: u32) -> Self {
        // SAFETY: as above.
        Self::new(unsafe { LLVMIntTypeInContext(module.get_context().as_ctx_ref(), bits) })
    }

    /// The integer type of so many bits in a value's context.
    pub(crate) fn integer_like(value: Value<'ctx>, bits: u32) -> Self {
        // SAFETY: the context of a live value is alive.
        Self::new(unsafe { LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(value.0)), bits) })
    }

    /// `double` or `float`.
    pub(crate) fn float(module: &Module<'ctx>, double: bool) -> Self {
        // SAFETY: as in `Value`.
        unsafe {
            let context = module.get_context().as_ctx_ref();
            Self::new(match double {
                true => LLVMDoubleTypeInContext(context),
                false => LLVMFloatTypeInContext(context),
            })
        }
    }

    /// A type of functions.
    pub(crate) fn function(result: Type<'ctx>, parameters: &[Type<'ctx>]) -> Self {
        let mut raw: Vec<_> = parameters.iter().map(|parameter| parameter.0).collect();
        // SAFETY: pointer and length describe `raw`.
        Self::new(unsafe { LLVMFunctionType(result.0, raw.as_mut_ptr(), raw.len() as u32, 0) })
    }

    /// An array of this type.
    pub(crate) fn array(self, length: u64) -> Type<'ctx> {
        // SAFETY: see `kind`.
        Type::new(unsafe { LLVMArrayType2(self.0, length) })
    }

    /// Parameter types of a function type.
    pub(crate) fn parameters(self) -> Vec<Type<'ctx>> {
        // SAFETY: `raw` has room for as many types as LLVM writes.
        unsafe {
            let mut raw = vec![std::ptr::null_mut(); LLVMCountParamTypes(self.0) as usize];
            LLVMGetParamTypes(self.0, raw.as_mut_ptr());
            raw.into_iter().map(Type::new).collect()
        }
    }

    /// Result of a function type.
    pub(crate) fn result(self) -> Type<'ctx> {
        // SAFETY: see `kind`.
        Type::new(unsafe { LLVMGetReturnType(self.0) })
    }

    /// Whether functions of this type take further arguments.
    pub(crate) fn is_variadic(self) -> bool {
        // SAFETY: see `kind`.
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    /// The address space of a pointer type.
    pub(crate) fn address_space(self) -> u32 {
        // SAFETY: see `kind`.
        unsafe { LLVMGetPointerAddressSpace(self.0) }
    }

    /// The width of an integer type.
    pub(crate) fn integer_bits(self) -> u32 {
        // SAFETY: see `kind`.
        unsafe { LLVMGetIntTypeWidth(self.0) }
    }

    /// Whether it is one integer.
    pub(crate) fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    /// Types of a struct's fields; none for other types.
    pub(crate) fn fields(self) -> Vec<Type<'ctx>> {
        if self.kind() != LLVMTypeKind::LLVMStructTypeKind {
            return Vec::new();
        }
        (0..self.field_count()).map(|n| self.field(n)).collect()
    }

    /// Whether it is one pointer.
    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Whether it is `void`.
    pub(crate) fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// The all-zero value.
    pub(crate) fn zero(self) -> Value<'ctx> {
        // SAFETY: see `kind`.
        Value::new(unsafe { LLVMConstNull(self.0) })
    }

    /// The undefined value.
    pub(crate) fn poison(self) -> Value<'ctx> {
        // SAFETY: see `kind`.
        Value::new(unsafe { LLVMGetPoison(self.0) })
    }

    /// An integer constant of this type.
    pub(crate) fn constant(self, value: u64) -> Value<'ctx> {
        // SAFETY: see `kind`.
        Value::new(unsafe { LLVMConstInt(self.0, value, 0) })
    }

    /// As LLVM prints it.
    pub(crate) fn text(self) -> String {
        // SAFETY: LLVM returns an owned C string, which is copied and disposed.
        unsafe {
            let text = LLVMPrintTypeToString(self.0);
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            copy
        }
    }

    /// The name of a named struct.
    pub(crate) fn struct_name(self) -> Option<String> {
        if self.kind() != LLVMTypeKind::LLVMStructTypeKind {
            return None;
        }
        // SAFETY: a struct type; a literal one has no name (null).
        unsafe {
            let name = LLVMGetStructName(self.0);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        }
    }

    /// The element types of a struct, or the element type of an array and its length.
    pub(crate) fn elements(self) -> Vec<(Self, u64)> {
        match self.kind() {
            LLVMTypeKind::LLVMStructTypeKind => {
                self.fields().into_iter().map(|field| (field, 1)).collect()
            }
            LLVMTypeKind::LLVMArrayTypeKind => vec![(self.element(), self.array_length())],
            _ => Vec::new(),
        }
    }

    /// For a vector its element type, else itself.
    pub(crate) fn scalar(self) -> Self {
        if self.kind() == LLVMTypeKind::LLVMVectorTypeKind {
            return self.element();
        }
        self
    }

    /// The number of elements of a vector type.
    pub(crate) fn vector_length(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMVectorTypeKind).then(|| {
            // SAFETY: a vector type.
            unsafe { LLVMGetVectorSize(self.0) }
        })
    }

    /// The type of functions that take anything.
    pub(crate) fn function_of_any(result: Type<'ctx>) -> Self {
        // SAFETY: there are no parameters to read.
        Self::new(unsafe { LLVMFunctionType(result.0, std::ptr::null_mut(), 0, 1) })
    }

    /// Whether it is a struct or an array.
    pub(crate) fn is_aggregate(self) -> bool {
        use LLVMTypeKind::*;
        matches!(self.kind(), LLVMStructTypeKind | LLVMArrayTypeKind)
    }

    /// Bytes of an integer or, on the host, a pointer; none for other types.
    pub(crate) fn word_bytes(self) -> Option<i64> {
        match self.kind() {
            LLVMTypeKind::LLVMPointerTypeKind => Some(8),
            LLVMTypeKind::LLVMIntegerTypeKind => Some(i64::from(self.integer_bits() / 8)),
            _ => None,
        }
    }

    /// Whether objects of it have a size.
    pub(crate) fn is_sized(self) -> bool {
        // SAFETY: see `kind`.
        unsafe { LLVMTypeIsSized(self.0) != 0 }
    }

    /// How many fields a struct has.
    pub(crate) fn field_count(self) -> u32 {
        // SAFETY: see `kind`; callers pass structs.
        unsafe { LLVMCountStructElementTypes(self.0) }
    }

    /// The type of a struct's field; callers stay below their number.
    pub(crate) fn field(self, field: u32) -> Type<'ctx> {
        // SAFETY: see `kind`; callers pass structs.
        Type::new(unsafe { LLVMStructGetTypeAtIndex(self.0, field) })
    }

    /// The type of an array's or vector's elements.
    pub(crate) fn element(self) -> Type<'ctx> {
        // SAFETY: see `kind`; callers pass arrays and vectors.
        Type::new(unsafe { LLVMGetElementType(self.0) })
    }

    /// How many elements an array has.
    pub(crate) fn array_length(self) -> u64 {
        // SAFETY: see `kind`; callers pass arrays.
        unsafe { LLVMGetArrayLength2(self.0) }
    }
}
