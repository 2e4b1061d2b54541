//! The one wrapper over LLVM: handles to its objects, and what inkwell has no call for.
//!
//! Everything that calls LLVM's C interface is here, and so is every `unsafe` towards it. Moving a body into a function
//! of another signature, taking constant expressions apart and copying attributes have no counterpart in inkwell.
//!
//! What the types rule out: a handle (`Value<'ctx>`, `Type<'ctx>`, `Block<'ctx>`, …) outlives no LLVM context, as it has the
//! lifetime of the one whose module it was taken from; [`Layout`] and [`DebugScope`] do not even outlive the borrow of
//! that module. Only this module makes a handle of a pointer, and always of one that LLVM gave it in that context.
//!
//! Invariant, of what no lifetime sees: a handle is not used after its object was erased, by us or by a pass, nor after
//! its module was dropped. Nothing here stores one beyond a transformation, and each module is worked on by one thread at a
//! time. So every `unsafe` here is a call of LLVM's C interface on live objects. `scripts/check-memory` looks for what
//! breaks this.

mod attributes;
mod bitcode;
mod blocks;
mod builder;
mod control_flow;
mod debug;
mod diagnostics;
mod globals;
mod instructions;
mod layout;
mod linkage;
mod metadata;
mod passes;
mod typed;
mod types;

pub(crate) use attributes::{FUNCTION_ATTRIBUTES, RETURN_ATTRIBUTES, parameter_attributes};
pub(crate) use bitcode::read_for_linking;
pub(crate) use blocks::copy_unchecked;
pub(crate) use builder::Builder;
pub(crate) use control_flow::{ControlFlow, NaturalLoop};
pub(crate) use debug::DebugScope;
pub(crate) use diagnostics::hear_errors_only;
pub(crate) use globals::{call_through_aliases, declare, rename_marks, replace_list, shorten_list};
pub(crate) use inkwell::llvm_sys::LLVMAtomicRMWBinOp as AtomicUpdate;
pub(crate) use inkwell::llvm_sys::LLVMIntPredicate as IntegerPredicate;
pub(crate) use inkwell::llvm_sys::LLVMLinkage as Linkage;
pub(crate) use inkwell::llvm_sys::LLVMOpcode as Opcode;
pub(crate) use inkwell::llvm_sys::LLVMRealPredicate as RealPredicate;
pub(crate) use inkwell::llvm_sys::LLVMTypeKind as TypeKind;
pub(crate) use inkwell::llvm_sys::LLVMValueKind as ValueKind;
pub(crate) use instructions::atomics::AtomicOperation;
pub(crate) use layout::Layout;
pub(crate) use linkage::SectionGroup;
pub(crate) use metadata::Metadata;
pub(crate) use passes::{Loops, device_machine, host_machine, run_passes};
pub(crate) use typed::{
    copied, delete_function, delete_global, element_address, type_attribute_of,
};

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use std::ffi::CString;
use std::marker::PhantomData;

/// A value: function, global, constant, argument or instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Value<'ctx>(LLVMValueRef, PhantomData<&'ctx Context>);

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Type<'ctx>(LLVMTypeRef, PhantomData<&'ctx Context>);

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Block<'ctx>(LLVMBasicBlockRef, PhantomData<&'ctx Context>);

impl<'ctx> Value<'ctx> {
    fn new(raw: LLVMValueRef) -> Self {
        Self(raw, PhantomData)
    }
}

impl<'ctx> Type<'ctx> {
    fn new(raw: LLVMTypeRef) -> Self {
        Self(raw, PhantomData)
    }
}

impl<'ctx> Block<'ctx> {
    fn new(raw: LLVMBasicBlockRef) -> Self {
        Self(raw, PhantomData)
    }
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

fn iterate<T: Copy>(first: Option<T>, next: impl Fn(T) -> Option<T>) -> Vec<T> {
    std::iter::successors(first, |item| next(*item)).collect()
}

impl<'ctx> Value<'ctx> {
    /// The handle of inkwell's function.
    pub(crate) fn of_function(function: FunctionValue<'ctx>) -> Self {
        Self::new(function.as_value_ref())
    }

    fn checked(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self::new(raw))
    }

    /// Its name; empty for none.
    pub(crate) fn name(self) -> String {
        let mut length = 0;
        // SAFETY: LLVM returns `length` bytes that live as long as the value keeps its name.
        unsafe {
            let text = LLVMGetValueName2(self.0, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast::<u8>(), length))
                .into_owned()
        }
    }

    /// Renames it; LLVM adds a number where the name is taken.
    pub(crate) fn set_name(self, name: &str) {
        // SAFETY: pointer and length describe `name`.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    /// Its type.
    pub(crate) fn ty(self) -> Type<'ctx> {
        // SAFETY: see `Type::kind`; so in all one-line methods below.
        Type::new(unsafe { LLVMTypeOf(self.0) })
    }

    /// Makes all its uses those of another value of its type.
    pub(crate) fn replace_uses_with(self, other: Value) {
        // SAFETY: as above; callers keep the types equal.
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) }
    }

    /// [`Self::replace_uses_with`] for an instruction that may return nothing.
    pub(crate) fn replace_uses_with_or_nothing(self, other: Value) {
        if !self.ty().is_void() {
            self.replace_uses_with(other);
        }
    }

    /// True for an operand slot that holds no value.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Whether anything uses it.
    pub(crate) fn has_uses(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMGetFirstUse(self.0).is_null() }
    }

    /// The values that use this one, one entry for each use.
    pub(crate) fn users(self) -> Vec<Value<'ctx>> {
        // SAFETY: as above.
        let uses = unsafe {
            let first = LLVMGetFirstUse(self.0);
            iterate((!first.is_null()).then_some(first), |at| {
                let next = LLVMGetNextUse(at);
                (!next.is_null()).then_some(next)
            })
        };
        // SAFETY: as above.
        uses.into_iter()
            .map(|at| Value::new(unsafe { LLVMGetUser(at) }))
            .collect()
    }

    /// The alignment in bytes of an `alloca`, load, store or global.
    pub(crate) fn alignment(self) -> u32 {
        // SAFETY: as above.
        unsafe { LLVMGetAlignment(self.0) }
    }

    /// Gives one of these an alignment in bytes.
    pub(crate) fn set_alignment(self, bytes: u32) {
        // SAFETY: as above.
        unsafe { LLVMSetAlignment(self.0, bytes) }
    }

    /// Whether it is an instruction.
    pub(crate) fn is_instruction(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }

    /// Whether it is a constant: a number, a global, or made of such.
    pub(crate) fn is_constant(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// Whether it is an operation on constants.
    pub(crate) fn is_constant_expression(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAConstantExpr(self.0).is_null() }
    }

    /// Whether it is a global variable.
    pub(crate) fn is_global_variable(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() }
    }

    /// Whether it is a function.
    pub(crate) fn is_function(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAFunction(self.0).is_null() }
    }

    /// Whether it is a value that may be any.
    pub(crate) fn is_undefined(self) -> bool {
        // SAFETY: as above. Poison is undefined, too.
        unsafe { LLVMIsUndef(self.0) != 0 }
    }

    /// Literal aggregate constants: arrays, structs and vectors.
    pub(crate) fn is_aggregate_constant(self) -> bool {
        // SAFETY: as above.
        unsafe {
            !LLVMIsAConstantArray(self.0).is_null()
                || !LLVMIsAConstantStruct(self.0).is_null()
                || !LLVMIsAConstantVector(self.0).is_null()
        }
    }

    /// The value of an integer constant of at most 64 bits.
    pub(crate) fn constant_integer(self) -> Option<u64> {
        // SAFETY: as above; wider constants are excluded.
        unsafe {
            (!LLVMIsAConstantInt(self.0).is_null() && self.ty().integer_bits() <= 64)
                .then(|| LLVMConstIntGetZExtValue(self.0))
        }
    }

    /// All operands of an instruction or constant; other values have none.
    pub(crate) fn operands(self) -> Vec<Value<'ctx>> {
        // SAFETY: as above; operand indices are in range.
        unsafe {
            if LLVMIsAUser(self.0).is_null() {
                return Vec::new();
            }
            let count = LLVMGetNumOperands(self.0).max(0) as u32;
            (0..count)
                .map(|n| Value::new(LLVMGetOperand(self.0, n)))
                .collect()
        }
    }

    /// One operand; callers stay below their number.
    pub(crate) fn operand(self, index: u32) -> Value<'ctx> {
        // SAFETY: as above; callers stay below the number of operands.
        Value::new(unsafe { LLVMGetOperand(self.0, index) })
    }

    /// Replaces an operand by a value of its type.
    pub(crate) fn set_operand(self, index: u32, value: Value) {
        // SAFETY: as above.
        unsafe { LLVMSetOperand(self.0, index, value.0) }
    }

    /// The value of an integer constant, sign-extended.
    pub(crate) fn signed_integer(self) -> Option<i64> {
        // SAFETY: the value is asked of integer constants of at most 64 bits only.
        unsafe {
            (!LLVMIsAConstantInt(self.0).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(self.0)) <= 64)
                .then(|| LLVMConstIntGetSExtValue(self.0))
        }
    }

    /// The text of a global that holds a C string.
    pub(crate) fn c_string(self) -> Option<String> {
        let bytes = self.initializer()?.string_bytes()?;
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// The bytes of a constant that is an array of such.
    pub(crate) fn string_bytes(self) -> Option<Vec<u8>> {
        // SAFETY: the bytes are asked of constant strings only and copied.
        unsafe {
            if LLVMIsAConstantDataSequential(self.0).is_null() || LLVMIsConstantString(self.0) == 0
            {
                return None;
            }
            let mut length = 0;
            let bytes = LLVMGetAsString(self.0, &mut length);
            Some(std::slice::from_raw_parts(bytes.cast::<u8>(), length).to_vec())
        }
    }

    /// The number that is nearest to a floating-point constant, and whether it is that.
    pub(crate) fn constant_float(self) -> (f64, bool) {
        let mut lossy = 0;
        // SAFETY: as above; callers pass such constants.
        let number = unsafe { LLVMConstRealGetDouble(self.0, &raw mut lossy) };
        (number, lossy == 0)
    }

    /// What kind of value it is.
    pub(crate) fn value_kind(self) -> ValueKind {
        // SAFETY: as above.
        unsafe { LLVMGetValueKind(self.0) }
    }

    /// An element of a constant array or struct, where LLVM knows it.
    pub(crate) fn constant_element(self, index: u32) -> Option<Value<'ctx>> {
        // SAFETY: as above; callers stay below its length.
        Self::checked(unsafe { LLVMGetAggregateElement(self.0, index) })
    }

    /// A null pointer, or another constant of zeros.
    pub(crate) fn is_null_constant(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMIsNull(self.0) != 0 }
    }

    /// Whether it is an integer constant of any width.
    pub(crate) fn is_integer_constant(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAConstantInt(self.0).is_null() }
    }

    /// A constant array of these elements, of which there are some; all are of the type of the first.
    pub(crate) fn constant_array(elements: &[Self]) -> Self {
        let mut raw: Vec<_> = elements.iter().map(|element| element.0).collect();
        let length = raw.len() as u64;
        // SAFETY: live constants of one type, as many as there are.
        Self::new(unsafe { LLVMConstArray2(elements[0].ty().0, raw.as_mut_ptr(), length) })
    }

    /// The address so many bytes behind a global.
    pub(crate) fn constant_offset(self, module: &Module, bytes: u64) -> Value<'ctx> {
        let (byte, long) = (Type::integer(module, 8), Type::integer(module, 64));
        let mut index = long.constant(bytes).0;
        match bytes {
            0 => self,
            // SAFETY: there is one index, and the address is a constant.
            _ => Value::new(unsafe { LLVMConstInBoundsGEP2(byte.0, self.0, &raw mut index, 1) }),
        }
    }

    /// `addrspacecast` of a constant.
    pub(crate) fn constant_address_space_cast(self, ty: Type) -> Value<'ctx> {
        // SAFETY: as above.
        Value::new(unsafe { LLVMConstAddrSpaceCast(self.0, ty.0) })
    }
}

fn metadata_kind(value: Value, name: &str) -> u32 {
    // SAFETY: pointer and length describe `name`; the value is alive.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(value.0));
        LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32)
    }
}
