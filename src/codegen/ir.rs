//! Handles to LLVM's own objects, for the transformations of code generation.
//!
//! This module is the place of code generation that calls LLVM's C interface directly: moving
//! a body into a function of another signature, taking constant expressions apart and copying
//! attributes have no counterpart in inkwell. Invariant: a handle is used only while the
//! [`Module`] from which it was taken lives, and not after the object was erased; nothing here
//! stores one beyond a transformation.

mod atomics;
mod attributes;
mod blocks;
mod builder;
mod debug;
mod diagnostics;
mod layout;
mod linkage;
mod metadata;
mod passes;
mod promises;

pub(super) use atomics::AtomicOperation;
pub(super) use blocks::copy_unchecked;
pub(super) use builder::Builder;
pub(super) use debug::DebugScope;
pub(super) use diagnostics::hear_errors_only;
pub(super) use metadata::Metadata;

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMInlineAsmDialect, LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use inkwell::module::Module;
use std::ffi::CString;

pub(super) use inkwell::llvm_sys::LLVMIntPredicate as IntegerPredicate;
pub(super) use inkwell::llvm_sys::LLVMLinkage as Linkage;
pub(super) use inkwell::llvm_sys::LLVMOpcode as Opcode;
pub(super) use inkwell::llvm_sys::LLVMRealPredicate as RealPredicate;

/// A value: function, global, constant, argument or instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(LLVMValueRef);

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Type(LLVMTypeRef);

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Block(LLVMBasicBlockRef);

/// Position of a function attribute list.
pub(super) const RETURN_ATTRIBUTES: u32 = 0;
/// Position of the attributes of the function itself.
pub(super) const FUNCTION_ATTRIBUTES: u32 = u32::MAX;

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

fn iterate<T: Copy>(first: Option<T>, next: impl Fn(T) -> Option<T>) -> Vec<T> {
    std::iter::successors(first, |item| next(*item)).collect()
}

impl Type {
    /// The raw handle.
    fn raw(self) -> LLVMTypeRef {
        self.0
    }

    pub(super) fn kind(self) -> LLVMTypeKind {
        // SAFETY: the handle is alive by the invariant of this file (so below).
        unsafe { LLVMGetTypeKind(self.0) }
    }

    pub(super) fn void(module: &Module) -> Self {
        // SAFETY: the context of a live module is alive.
        Self(unsafe { LLVMVoidTypeInContext(module.get_context().as_ctx_ref()) })
    }

    pub(super) fn pointer(module: &Module, address_space: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { LLVMPointerTypeInContext(module.get_context().as_ctx_ref(), address_space) })
    }

    pub(super) fn integer(module: &Module, bits: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { LLVMIntTypeInContext(module.get_context().as_ctx_ref(), bits) })
    }

    /// `double` or `float`.
    pub(super) fn float(module: &Module, double: bool) -> Self {
        // SAFETY: as in `Value`.
        unsafe {
            let context = module.get_context().as_ctx_ref();
            Self(match double {
                true => LLVMDoubleTypeInContext(context),
                false => LLVMFloatTypeInContext(context),
            })
        }
    }

    pub(super) fn function(result: Type, parameters: &[Type]) -> Self {
        let mut raw: Vec<_> = parameters.iter().map(|parameter| parameter.0).collect();
        // SAFETY: pointer and length describe `raw`.
        Self(unsafe { LLVMFunctionType(result.raw(), raw.as_mut_ptr(), raw.len() as u32, 0) })
    }

    /// An array of this type.
    pub(super) fn array(self, length: u64) -> Type {
        // SAFETY: see `kind`.
        Type(unsafe { LLVMArrayType2(self.0, length) })
    }

    /// Parameter types of a function type.
    pub(super) fn parameters(self) -> Vec<Type> {
        // SAFETY: `raw` has room for as many types as LLVM writes.
        unsafe {
            let mut raw = vec![std::ptr::null_mut(); LLVMCountParamTypes(self.0) as usize];
            LLVMGetParamTypes(self.0, raw.as_mut_ptr());
            raw.into_iter().map(Type).collect()
        }
    }

    /// Result of a function type.
    pub(super) fn result(self) -> Type {
        // SAFETY: see `kind`.
        Type(unsafe { LLVMGetReturnType(self.0) })
    }

    pub(super) fn is_variadic(self) -> bool {
        // SAFETY: see `kind`.
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    pub(super) fn address_space(self) -> u32 {
        // SAFETY: see `kind`.
        unsafe { LLVMGetPointerAddressSpace(self.0) }
    }

    pub(super) fn integer_bits(self) -> u32 {
        // SAFETY: see `kind`.
        unsafe { LLVMGetIntTypeWidth(self.0) }
    }

    pub(super) fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    /// Types of a struct's fields; none for other types.
    pub(super) fn elements(self) -> Vec<Type> {
        if self.kind() != LLVMTypeKind::LLVMStructTypeKind {
            return Vec::new();
        }
        // SAFETY: as in `Value`; positions are below the struct's length.
        unsafe {
            (0..LLVMCountStructElementTypes(self.0))
                .map(|position| Type(LLVMStructGetTypeAtIndex(self.0, position)))
                .collect()
        }
    }

    pub(super) fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    pub(super) fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// The all-zero value.
    pub(super) fn zero(self) -> Value {
        // SAFETY: see `kind`.
        Value(unsafe { LLVMConstNull(self.0) })
    }

    /// The undefined value.
    pub(super) fn poison(self) -> Value {
        // SAFETY: see `kind`.
        Value(unsafe { LLVMGetPoison(self.0) })
    }

    /// An integer constant of this type.
    pub(super) fn constant(self, value: u64) -> Value {
        // SAFETY: see `kind`.
        Value(unsafe { LLVMConstInt(self.0, value, 0) })
    }
}

impl Block {
    pub(super) fn append(function: Value, name: &str) -> Self {
        let name = c_string(name);
        // SAFETY: the function is alive; a block is made in its context.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(function.0));
            Self(LLVMAppendBasicBlockInContext(
                context,
                function.0,
                name.as_ptr(),
            ))
        }
    }

    pub(super) fn instructions(self) -> Vec<Value> {
        // SAFETY: see `Type::kind`; so below.
        iterate(
            unsafe { Value::checked(LLVMGetFirstInstruction(self.0)) },
            |at| unsafe { Value::checked(LLVMGetNextInstruction(at.0)) },
        )
    }

    pub(super) fn terminator(self) -> Option<Value> {
        // SAFETY: see `Type::kind`.
        unsafe { Value::checked(LLVMGetBasicBlockTerminator(self.0)) }
    }

    pub(super) fn successors(self) -> Vec<Block> {
        let Some(terminator) = self.terminator() else {
            return Vec::new();
        };
        // SAFETY: the indices are in range.
        unsafe {
            (0..LLVMGetNumSuccessors(terminator.0))
                .map(|n| Block(LLVMGetSuccessor(terminator.0, n)))
                .collect()
        }
    }

    /// Takes the block out of its function and puts it at the end of another.
    pub(super) fn move_to(self, function: Value) {
        // SAFETY: the block has a parent before and another afterwards.
        unsafe {
            LLVMRemoveBasicBlockFromParent(self.0);
            LLVMAppendExistingBasicBlock(function.0, self.0);
        }
    }
}

impl Value {
    fn checked(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self(raw))
    }

    pub(super) fn name(self) -> String {
        let mut length = 0;
        // SAFETY: LLVM returns `length` bytes that live as long as the value keeps its name.
        unsafe {
            let text = LLVMGetValueName2(self.0, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast::<u8>(), length))
                .into_owned()
        }
    }

    pub(super) fn set_name(self, name: &str) {
        // SAFETY: pointer and length describe `name`.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    pub(super) fn ty(self) -> Type {
        // SAFETY: see `Type::kind`; so in all one-line methods below.
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    pub(super) fn replace_uses_with(self, other: Value) {
        // SAFETY: as above; callers keep the types equal.
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) }
    }

    /// [`Self::replace_uses_with`] for an instruction that may return nothing.
    pub(super) fn replace_uses_with_or_nothing(self, other: Value) {
        if !self.ty().is_void() {
            self.replace_uses_with(other);
        }
    }

    /// True for an operand slot that holds no value.
    pub(super) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(super) fn has_uses(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMGetFirstUse(self.0).is_null() }
    }

    /// The values that use this one, one entry for each use.
    pub(super) fn users(self) -> Vec<Value> {
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
            .map(|at| Value(unsafe { LLVMGetUser(at) }))
            .collect()
    }

    // Functions and globals.

    pub(super) fn functions(module: &Module) -> Vec<Value> {
        // SAFETY: as above.
        iterate(
            unsafe { Self::checked(LLVMGetFirstFunction(module.as_mut_ptr())) },
            |at| unsafe { Self::checked(LLVMGetNextFunction(at.0)) },
        )
    }

    pub(super) fn globals(module: &Module) -> Vec<Value> {
        // SAFETY: as above.
        iterate(
            unsafe { Self::checked(LLVMGetFirstGlobal(module.as_mut_ptr())) },
            |at| unsafe { Self::checked(LLVMGetNextGlobal(at.0)) },
        )
    }

    pub(super) fn function(module: &Module, name: &str) -> Option<Value> {
        let name = c_string(name);
        // SAFETY: as above.
        unsafe { Self::checked(LLVMGetNamedFunction(module.as_mut_ptr(), name.as_ptr())) }
    }

    #[cfg(test)]
    pub(super) fn global(module: &Module, name: &str) -> Option<Value> {
        let name = c_string(name);
        // SAFETY: as above.
        unsafe { Self::checked(LLVMGetNamedGlobal(module.as_mut_ptr(), name.as_ptr())) }
    }

    pub(super) fn add_function(module: &Module, name: &str, ty: Type) -> Value {
        let name = c_string(name);
        // SAFETY: as above.
        Value(unsafe { LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty.0) })
    }

    pub(super) fn add_global(module: &Module, name: &str, ty: Type, address_space: u32) -> Value {
        let name = c_string(name);
        // SAFETY: as above.
        Value(unsafe {
            LLVMAddGlobalInAddressSpace(module.as_mut_ptr(), ty.0, name.as_ptr(), address_space)
        })
    }

    /// A constant structure of these constants.
    pub(super) fn structure(module: &Module, values: &[Value]) -> Value {
        let context = module.get_context().as_ctx_ref();
        let mut raw: Vec<LLVMValueRef> = values.iter().map(|value| value.0).collect();
        // SAFETY: pointer and length describe `raw`.
        Value(unsafe { LLVMConstStructInContext(context, raw.as_mut_ptr(), raw.len() as u32, 0) })
    }

    /// Adds a constant table of addresses that only its module sees.
    pub(super) fn add_private_table(module: &Module, name: &str, addresses: &[Value]) -> Value {
        let element = Type::pointer(module, 0);
        let count = addresses.len() as u64;
        let table = Value::add_global(module, name, element.array(count), 0);
        let mut raw: Vec<LLVMValueRef> = addresses.iter().map(|address| address.0).collect();
        // SAFETY: all are constants of the element's type, and so many.
        unsafe {
            let values = LLVMConstArray2(element.0, raw.as_mut_ptr(), count);
            LLVMSetInitializer(table.0, values);
            LLVMSetGlobalConstant(table.0, 1);
        }
        table.set_linkage(LLVMLinkage::LLVMPrivateLinkage);
        table
    }

    pub(super) fn is_declaration(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    /// The type of a function or of a global's content.
    pub(super) fn value_type(self) -> Type {
        // SAFETY: as above.
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    pub(super) fn call_convention(self) -> u32 {
        // SAFETY: as above.
        unsafe { LLVMGetFunctionCallConv(self.0) }
    }

    pub(super) fn set_call_convention(self, convention: u32) {
        // SAFETY: as above.
        unsafe { LLVMSetFunctionCallConv(self.0, convention) }
    }

    pub(super) fn parameters(self) -> Vec<Value> {
        // SAFETY: as above; the indices are in range.
        unsafe {
            (0..LLVMCountParams(self.0))
                .map(|n| Value(LLVMGetParam(self.0, n)))
                .collect()
        }
    }

    pub(super) fn blocks(self) -> Vec<Block> {
        // SAFETY: as above.
        unsafe {
            let wrap = |raw: LLVMBasicBlockRef| (!raw.is_null()).then_some(Block(raw));
            iterate(wrap(LLVMGetFirstBasicBlock(self.0)), |at| {
                wrap(LLVMGetNextBasicBlock(at.0))
            })
        }
    }

    pub(super) fn instructions(self) -> Vec<Value> {
        self.blocks()
            .into_iter()
            .flat_map(Block::instructions)
            .collect()
    }

    pub(super) fn delete_function(self) {
        // SAFETY: as above; callers have replaced all uses.
        unsafe { LLVMDeleteFunction(self.0) }
    }

    pub(super) fn delete_global(self) {
        // SAFETY: as above; callers have replaced all uses.
        unsafe { LLVMDeleteGlobal(self.0) }
    }

    pub(super) fn initializer(self) -> Option<Value> {
        // SAFETY: as above.
        unsafe { Self::checked(LLVMGetInitializer(self.0)) }
    }

    pub(super) fn set_initializer(self, value: Option<Value>) {
        // SAFETY: as above; null removes the initializer.
        unsafe { LLVMSetInitializer(self.0, value.map_or(std::ptr::null_mut(), |v| v.0)) }
    }

    pub(super) fn is_constant_global(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    pub(super) fn alignment(self) -> u32 {
        // SAFETY: as above.
        unsafe { LLVMGetAlignment(self.0) }
    }

    pub(super) fn set_alignment(self, bytes: u32) {
        // SAFETY: as above.
        unsafe { LLVMSetAlignment(self.0, bytes) }
    }

    /// A function of the same name, with the body and all but the parameters of this one, which is left without. What
    /// was said of parameters, and their uses, are for the caller to move.
    pub(super) fn with_parameters(self, module: &Module<'_>, types: &[Type]) -> Value {
        let name = self.name();
        self.set_name("");
        let result = self.value_type().result();
        let function = Value::add_function(module, &name, Type::function(result, types));
        function.set_linkage(self.linkage());
        function.set_call_convention(self.call_convention());
        for position in [FUNCTION_ATTRIBUTES, RETURN_ATTRIBUTES] {
            self.copy_attributes(position, function, position);
        }
        for block in self.blocks() {
            block.move_to(function);
        }
        self.move_subprogram_to(function);
        function
    }

    /// Moves the debug information of a function to another.
    pub(super) fn move_subprogram_to(self, other: Value) {
        // SAFETY: as above; the first function loses it so that no two functions share one.
        unsafe {
            let subprogram = LLVMGetSubprogram(self.0);
            if !subprogram.is_null() {
                LLVMSetSubprogram(self.0, std::ptr::null_mut());
                LLVMSetSubprogram(other.0, subprogram);
            }
        }
    }

    // Attributes.

    fn attributes(self, position: u32) -> Vec<LLVMAttributeRef> {
        // SAFETY: `raw` has room for as many attributes as LLVM writes.
        unsafe {
            let count = LLVMGetAttributeCountAtIndex(self.0, position) as usize;
            let mut raw = vec![std::ptr::null_mut(); count];
            LLVMGetAttributesAtIndex(self.0, position, raw.as_mut_ptr());
            raw
        }
    }

    fn call_attributes(self, position: u32) -> Vec<LLVMAttributeRef> {
        // SAFETY: as above.
        unsafe {
            let count = LLVMGetCallSiteAttributeCount(self.0, position) as usize;
            let mut raw = vec![std::ptr::null_mut(); count];
            LLVMGetCallSiteAttributes(self.0, position, raw.as_mut_ptr());
            raw
        }
    }

    pub(super) fn opcode(self) -> LLVMOpcode {
        // SAFETY: as above; callers pass instructions.
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    pub(super) fn is_instruction(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }

    pub(super) fn is_constant(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    pub(super) fn is_constant_expression(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAConstantExpr(self.0).is_null() }
    }

    pub(super) fn is_global_variable(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() }
    }

    pub(super) fn is_function(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAFunction(self.0).is_null() }
    }

    pub(super) fn is_undefined(self) -> bool {
        // SAFETY: as above. Poison is undefined, too.
        unsafe { LLVMIsUndef(self.0) != 0 }
    }

    /// Literal aggregate constants: arrays, structs and vectors.
    pub(super) fn is_aggregate_constant(self) -> bool {
        // SAFETY: as above.
        unsafe {
            !LLVMIsAConstantArray(self.0).is_null()
                || !LLVMIsAConstantStruct(self.0).is_null()
                || !LLVMIsAConstantVector(self.0).is_null()
        }
    }

    pub(super) fn constant_opcode(self) -> LLVMOpcode {
        // SAFETY: as above; callers pass constant expressions.
        unsafe { LLVMGetConstOpcode(self.0) }
    }

    /// The value of an integer constant of at most 64 bits.
    pub(super) fn constant_integer(self) -> Option<u64> {
        // SAFETY: as above; wider constants are excluded.
        unsafe {
            (!LLVMIsAConstantInt(self.0).is_null() && self.ty().integer_bits() <= 64)
                .then(|| LLVMConstIntGetZExtValue(self.0))
        }
    }

    pub(super) fn operands(self) -> Vec<Value> {
        // SAFETY: as above; an operand that is no value (a block) is skipped by callers' use.
        unsafe {
            let count = LLVMGetNumOperands(self.0).max(0) as u32;
            (0..count)
                .map(|n| Value(LLVMGetOperand(self.0, n)))
                .collect()
        }
    }

    pub(super) fn operand(self, index: u32) -> Value {
        // SAFETY: as above; callers stay below the number of operands.
        Value(unsafe { LLVMGetOperand(self.0, index) })
    }

    pub(super) fn set_operand(self, index: u32, value: Value) {
        // SAFETY: as above.
        unsafe { LLVMSetOperand(self.0, index, value.0) }
    }

    pub(super) fn called(self) -> Value {
        // SAFETY: as above; callers pass calls.
        Value(unsafe { LLVMGetCalledValue(self.0) })
    }

    /// Makes a call without operand bundles call something else of the same type.
    pub(super) fn set_called(self, callee: Value) {
        // SAFETY: as above; what is called is the last operand of a call.
        unsafe { LLVMSetOperand(self.0, LLVMGetNumArgOperands(self.0), callee.0) }
    }

    pub(super) fn called_type(self) -> Type {
        // SAFETY: as above.
        Type(unsafe { LLVMGetCalledFunctionType(self.0) })
    }

    pub(super) fn call_arguments(self) -> Vec<Value> {
        // SAFETY: as above.
        unsafe {
            (0..LLVMGetNumArgOperands(self.0))
                .map(|n| Value(LLVMGetOperand(self.0, n)))
                .collect()
        }
    }

    /// Name of the function that a call names directly.
    pub(super) fn called_name(self) -> Option<String> {
        (self.opcode() == LLVMOpcode::LLVMCall && self.called().is_function())
            .then(|| self.called().name())
    }

    /// Template and constraints of inline assembly.
    pub(super) fn inline_assembly(self) -> Option<(String, String)> {
        // SAFETY: LLVM returns bytes that live as long as the value.
        unsafe {
            if LLVMIsAInlineAsm(self.0).is_null() {
                return None;
            }
            let read = |text: *const std::ffi::c_char, length: usize| {
                String::from_utf8_lossy(std::slice::from_raw_parts(text.cast::<u8>(), length))
                    .into_owned()
            };
            let (mut template_length, mut constraint_length) = (0, 0);
            let template = LLVMGetInlineAsmAsmString(self.0, &mut template_length);
            let constraints = LLVMGetInlineAsmConstraintString(self.0, &mut constraint_length);
            Some((
                read(template, template_length),
                read(constraints, constraint_length),
            ))
        }
    }

    /// Whether inline assembly is said to have side effects, or to change memory.
    pub(super) fn assembly_has_effects(self) -> bool {
        // SAFETY: as above; callers pass inline assembly.
        let volatile = unsafe { LLVMGetInlineAsmHasSideEffects(self.0) != 0 };
        let said = self.inline_assembly();
        volatile || said.is_some_and(|(_, constraints)| constraints.contains("~{memory}"))
    }

    /// Inline assembly, to be called.
    pub(super) fn assembly(
        ty: Type,
        template: &str,
        constraints: &str,
        side_effects: bool,
    ) -> Value {
        // SAFETY: LLVM copies both texts; callers match the constraints to the type.
        Value(unsafe {
            LLVMGetInlineAsm(
                ty.0,
                template.as_ptr().cast(),
                template.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                side_effects.into(),
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            )
        })
    }

    pub(super) fn element_pointer_source_type(self) -> Type {
        // SAFETY: as above; callers pass a getelementptr.
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }

    /// Whether an addition, subtraction, multiplication or shift is said never to wrap as a signed one.
    pub(super) fn has_no_signed_wrap(self) -> bool {
        // SAFETY: as above; callers pass one of these.
        unsafe { LLVMGetNSW(self.0) != 0 }
    }

    /// Whether a sum, product or shift is said not to wrap around, its operands read without sign.
    pub(super) fn has_no_unsigned_wrap(self) -> bool {
        // SAFETY: as above; callers pass one of these.
        unsafe { LLVMGetNUW(self.0) != 0 }
    }

    /// Whether the operands of an `or` are said to have no bit in common.
    pub(super) fn is_disjoint(self) -> bool {
        // SAFETY: as above; callers pass an `or`.
        unsafe { LLVMGetIsDisjoint(self.0) != 0 }
    }

    /// Whether what a `zext` widens is said never to be negative.
    pub(super) fn is_of_no_negative(self) -> bool {
        // SAFETY: as above; callers pass a `zext`.
        unsafe { LLVMGetNNeg(self.0) != 0 }
    }

    pub(super) fn is_volatile(self) -> bool {
        // SAFETY: as above; callers pass a load, store or atomic.
        unsafe { LLVMGetVolatile(self.0) != 0 }
    }

    pub(super) fn is_atomic(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMIsAtomic(self.0) != 0 }
    }

    /// Makes an atomic operation or fence one of the whole system.
    pub(super) fn set_system_scope(self) {
        // SAFETY: as above; scope 1 is LLVM's `System`.
        unsafe { LLVMSetAtomicSyncScopeID(self.0, 1) }
    }

    pub(super) fn function_of_instruction(self) -> Value {
        // SAFETY: as above; the instruction is in a block of a function.
        unsafe { Value(LLVMGetBasicBlockParent(LLVMGetInstructionParent(self.0))) }
    }

    pub(super) fn has_metadata(self, kind: &str) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMGetMetadata(self.0, metadata_kind(self, kind)).is_null() }
    }

    pub(super) fn remove_metadata(self, kind: &str) {
        // SAFETY: as above; null removes.
        unsafe { LLVMSetMetadata(self.0, metadata_kind(self, kind), std::ptr::null_mut()) }
    }

    /// Removes an instruction; it has no uses.
    pub(super) fn erase(self) {
        // SAFETY: as above.
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    /// The address so many bytes behind a global.
    pub(super) fn constant_offset(self, module: &Module, bytes: u64) -> Value {
        let (byte, long) = (Type::integer(module, 8), Type::integer(module, 64));
        let mut index = long.constant(bytes).0;
        match bytes {
            0 => self,
            // SAFETY: there is one index, and the address is a constant.
            _ => Value(unsafe { LLVMConstInBoundsGEP2(byte.0, self.0, &raw mut index, 1) }),
        }
    }

    /// `addrspacecast` of a constant.
    pub(super) fn constant_address_space_cast(self, ty: Type) -> Value {
        // SAFETY: as above.
        Value(unsafe { LLVMConstAddrSpaceCast(self.0, ty.0) })
    }
}

fn metadata_kind(value: Value, name: &str) -> u32 {
    // SAFETY: pointer and length describe `name`; the value is alive.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(value.0));
        LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32)
    }
}
