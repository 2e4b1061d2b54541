//! What this stage needs of LLVM and inkwell has no call for, safe to use from its other files; some of
//! them add what they alone need.
//!
//! Invariant: a [`Value`] or [`Block`] is only made from a live module of this stage, and used only
//! while that module lives and before the instruction is erased. The stage owns its modules and
//! works on one thread, so every `unsafe` here is a call of LLVM's C interface on live objects.

use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMFastMathAllowContract, LLVMFastMathNone, LLVMLinkage,
    LLVMOpcode, LLVMTypeKind,
};
use std::ffi::{CStr, CString};

/// An LLVM value: a function, global, argument, constant or instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(pub(super) LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Block(pub(super) LLVMBasicBlockRef);

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Type(pub(super) LLVMTypeRef);

/// Where an attribute of a function or call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributePosition {
    /// The function itself.
    Function,
    /// A parameter, counted from 0.
    Parameter(u32),
}

impl AttributePosition {
    fn index(self) -> u32 {
        match self {
            Self::Function => LLVMAttributeFunctionIndex,
            Self::Parameter(number) => number + 1,
        }
    }
}

fn wrap(value: LLVMValueRef) -> Option<Value> {
    (!value.is_null()).then_some(Value(value))
}

/// All functions of a module, declarations too.
pub(super) fn functions(module: &Module<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: walks the function list of a live module.
    let mut next = unsafe { LLVMGetFirstFunction(module.as_mut_ptr()) };
    while !next.is_null() {
        found.push(Value(next));
        // SAFETY: `next` is a function of a live module.
        next = unsafe { LLVMGetNextFunction(next) };
    }
    found
}

/// All global variables of a module.
pub(super) fn globals(module: &Module<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: walks the global list of a live module.
    let mut next = unsafe { LLVMGetFirstGlobal(module.as_mut_ptr()) };
    while !next.is_null() {
        found.push(Value(next));
        // SAFETY: `next` is a global of a live module.
        next = unsafe { LLVMGetNextGlobal(next) };
    }
    found
}

/// The function of this name, declared or defined.
pub(super) fn function(module: &Module<'_>, name: &str) -> Option<Value> {
    module
        .get_function(name)
        .map(|function| Value(function.as_value_ref()))
}

/// A module's aliases.
pub(super) fn aliases(module: &Module<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    // SAFETY: walks the alias list of a live module.
    unsafe {
        let mut next = LLVMGetFirstGlobalAlias(module.as_mut_ptr());
        while !next.is_null() {
            found.push(Value(next));
            next = LLVMGetNextGlobalAlias(next);
        }
    }
    found
}

/// Makes calls of an alias calls of the function that it stands for, where no other definition can
/// take the alias's place.
pub(super) fn call_through_aliases(module: &Module<'_>) {
    for alias in aliases(module) {
        // SAFETY: an alias has an aliasee; it counts only when it is a function itself.
        let function = wrap(unsafe { LLVMIsAFunction(LLVMAliasGetAliasee(alias.0)) });
        if let Some(function) = function
            && !alias.is_interposable()
        {
            for call in alias.users() {
                if call.is_call() && call.operands().last() == Some(&alias) {
                    call.set_operand(call.operands().len() as u32 - 1, function);
                }
            }
        }
    }
}

/// Declares a function, or returns the one that has the name.
pub(super) fn declare(module: &Module<'_>, name: &str, function_type: Type) -> Value {
    function(module, name).unwrap_or_else(|| {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: a live module and a function type of its context.
        Value(unsafe { LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), function_type.0) })
    })
}

impl Type {
    /// A function type.
    pub(super) fn function(result: Self, parameters: &[Self]) -> Self {
        let mut parameters: Vec<_> = parameters.iter().map(|parameter| parameter.0).collect();
        // SAFETY: all types are of one live context.
        Self(unsafe {
            LLVMFunctionType(
                result.0,
                parameters.as_mut_ptr(),
                parameters.len() as u32,
                0,
            )
        })
    }

    /// The integer type of `bits` bits.
    pub(super) fn integer(module: &Module<'_>, bits: u32) -> Self {
        // SAFETY: the module's context is alive.
        Self(unsafe { LLVMIntTypeInContext(LLVMGetModuleContext(module.as_mut_ptr()), bits) })
    }

    /// `void`.
    pub(super) fn void(module: &Module<'_>) -> Self {
        // SAFETY: the module's context is alive.
        Self(unsafe { LLVMVoidTypeInContext(LLVMGetModuleContext(module.as_mut_ptr())) })
    }

    /// `ptr` in address space 0.
    pub(super) fn pointer(module: &Module<'_>) -> Self {
        // SAFETY: the module's context is alive.
        Self(unsafe { LLVMPointerTypeInContext(LLVMGetModuleContext(module.as_mut_ptr()), 0) })
    }

    /// Its kind.
    pub(super) fn kind(self) -> LLVMTypeKind {
        // SAFETY: a live type.
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// As LLVM prints it.
    pub(super) fn text(self) -> String {
        // SAFETY: LLVM returns an owned C string, which is copied and disposed.
        unsafe {
            let text = LLVMPrintTypeToString(self.0);
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            copy
        }
    }

    /// The name of a named struct.
    pub(super) fn struct_name(self) -> Option<String> {
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
    pub(super) fn elements(self) -> Vec<(Self, u64)> {
        // SAFETY: each query is made on the kind it belongs to.
        unsafe {
            match self.kind() {
                LLVMTypeKind::LLVMStructTypeKind => (0..LLVMCountStructElementTypes(self.0))
                    .map(|index| (Self(LLVMStructGetTypeAtIndex(self.0, index)), 1))
                    .collect(),
                LLVMTypeKind::LLVMArrayTypeKind => {
                    vec![(
                        Self(LLVMGetElementType(self.0)),
                        LLVMGetArrayLength2(self.0),
                    )]
                }
                _ => Vec::new(),
            }
        }
    }

    /// For a vector its element type, else itself.
    pub(super) fn scalar(self) -> Self {
        if self.kind() == LLVMTypeKind::LLVMVectorTypeKind {
            // SAFETY: a vector type.
            return Self(unsafe { LLVMGetElementType(self.0) });
        }
        self
    }

    /// The number of elements of a vector type.
    pub(super) fn vector_length(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMVectorTypeKind).then(|| {
            // SAFETY: a vector type.
            unsafe { LLVMGetVectorSize(self.0) }
        })
    }

    /// Bytes that a store of it writes.
    pub(super) fn store_bytes(self, module: &Module<'_>) -> u64 {
        // SAFETY: a sized type of the module's context; the layout is the module's own.
        unsafe {
            let layout = llvm_sys::target::LLVMGetModuleDataLayout(module.as_mut_ptr());
            llvm_sys::target::LLVMStoreSizeOfType(layout, self.0)
        }
    }

    /// The zero of this type.
    pub(super) fn zero(self) -> Value {
        // SAFETY: a live first-class type.
        Value(unsafe { LLVMConstNull(self.0) })
    }

    /// An integer constant.
    pub(super) fn constant(self, value: u64) -> Value {
        // SAFETY: callers use integer types only.
        Value(unsafe { LLVMConstInt(self.0, value, 0) })
    }
}

impl Value {
    /// Its name; empty for none.
    pub(super) fn name(self) -> String {
        let mut length = 0;
        // SAFETY: LLVM returns a pointer to `length` bytes that live as long as the name.
        unsafe {
            let name = LLVMGetValueName2(self.0, &mut length);
            let bytes = std::slice::from_raw_parts(name.cast::<u8>(), length);
            String::from_utf8_lossy(bytes).into_owned()
        }
    }

    /// Renames it; LLVM adds a number if the name is taken.
    pub(super) fn set_name(self, name: &str) {
        // SAFETY: a live value; LLVM copies the bytes.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    /// Its type.
    pub(super) fn type_of(self) -> Type {
        // SAFETY: a live value.
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    /// The type of a global's contents or a function's signature.
    pub(super) fn global_value_type(self) -> Type {
        // SAFETY: callers pass globals and functions.
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    /// The type of a function's or function type's result and of its parameters.
    pub(super) fn signature(self) -> (Type, Vec<Type>) {
        let function_type = self.global_value_type();
        // SAFETY: callers pass functions.
        unsafe {
            let mut parameters =
                vec![std::ptr::null_mut(); LLVMCountParamTypes(function_type.0) as usize];
            LLVMGetParamTypes(function_type.0, parameters.as_mut_ptr());
            (
                Type(LLVMGetReturnType(function_type.0)),
                parameters.into_iter().map(Type).collect(),
            )
        }
    }

    /// The parameters of a function.
    pub(super) fn parameters(self) -> Vec<Self> {
        // SAFETY: callers pass functions.
        unsafe {
            (0..LLVMCountParams(self.0))
                .map(|index| Self(LLVMGetParam(self.0, index)))
                .collect()
        }
    }

    /// The blocks of a function.
    pub(super) fn blocks(self) -> Vec<Block> {
        // SAFETY: callers pass functions; the buffer has the length that LLVM asks for.
        unsafe {
            let mut blocks = vec![std::ptr::null_mut(); LLVMCountBasicBlocks(self.0) as usize];
            LLVMGetBasicBlocks(self.0, blocks.as_mut_ptr());
            blocks.into_iter().map(Block).collect()
        }
    }

    /// All instructions of a function, block by block.
    pub(super) fn instructions(self) -> Vec<Self> {
        self.blocks()
            .into_iter()
            .flat_map(Block::instructions)
            .collect()
    }

    /// True without a body (functions) or initialiser (globals).
    pub(super) fn is_declaration(self) -> bool {
        // SAFETY: callers pass global values.
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    /// Whether nothing needs to define it.
    pub(super) fn is_weak_reference(self) -> bool {
        self.linkage() == LLVMLinkage::LLVMExternalWeakLinkage
    }

    /// Its linkage.
    pub(super) fn linkage(self) -> LLVMLinkage {
        // SAFETY: callers pass global values.
        unsafe { LLVMGetLinkage(self.0) }
    }

    /// Sets its linkage.
    pub(super) fn set_linkage(self, linkage: LLVMLinkage) {
        // SAFETY: callers pass global values.
        unsafe { LLVMSetLinkage(self.0, linkage) }
    }

    /// True when another definition may take its place at link time.
    pub(super) fn is_interposable(self) -> bool {
        matches!(
            self.linkage(),
            LLVMLinkage::LLVMWeakAnyLinkage
                | LLVMLinkage::LLVMLinkOnceAnyLinkage
                | LLVMLinkage::LLVMExternalWeakLinkage
                | LLVMLinkage::LLVMCommonLinkage
        )
    }

    /// Makes it visible in its module only, and takes it out of its comdat.
    pub(super) fn make_internal(self) {
        // SAFETY: callers pass defined global values; a null comdat removes.
        unsafe {
            llvm_sys::comdat::LLVMSetComdat(self.0, std::ptr::null_mut());
            LLVMSetVisibility(self.0, llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
            LLVMSetLinkage(self.0, LLVMLinkage::LLVMInternalLinkage);
        }
    }

    /// Makes it an ordinary external definition without a comdat.
    pub(super) fn make_external(self) {
        // SAFETY: callers pass defined global values; a null comdat removes.
        unsafe {
            llvm_sys::comdat::LLVMSetComdat(self.0, std::ptr::null_mut());
            LLVMSetLinkage(self.0, LLVMLinkage::LLVMExternalLinkage);
        }
    }

    /// Visible in its module only.
    pub(super) fn is_local(self) -> bool {
        matches!(
            self.linkage(),
            LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
        )
    }

    /// The calling convention of a function.
    pub(super) fn calling_convention(self) -> u32 {
        // SAFETY: callers pass functions.
        unsafe { LLVMGetFunctionCallConv(self.0) }
    }

    /// The opcode, when it is an instruction.
    pub(super) fn opcode(self) -> Option<LLVMOpcode> {
        // SAFETY: the opcode is asked of instructions only.
        unsafe { (!LLVMIsAInstruction(self.0).is_null()).then(|| LLVMGetInstructionOpcode(self.0)) }
    }

    /// True for a call, invoke or callbr.
    pub(super) fn is_call(self) -> bool {
        matches!(
            self.opcode(),
            Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr)
        )
    }

    /// The function that a call names directly.
    pub(super) fn called_function(self) -> Option<Self> {
        if !self.is_call() {
            return None;
        }
        // SAFETY: a call site.
        unsafe { wrap(LLVMIsAFunction(LLVMGetCalledValue(self.0))) }
    }

    /// Text and constraints of the inline assembly that a call executes.
    pub(super) fn inline_assembly(self) -> Option<(String, String)> {
        let called = self.operands().last().copied()?;
        type Text = unsafe extern "C" fn(LLVMValueRef, *mut usize) -> *const std::ffi::c_char;
        let read = |text: Text| {
            let mut length = 0;
            // SAFETY: what a live call calls is assembly, whose texts live as long, and are copied.
            let bytes = unsafe {
                let begin = text(called.0, &raw mut length);
                std::slice::from_raw_parts(begin.cast::<u8>(), length)
            };
            String::from_utf8_lossy(bytes).into_owned()
        };
        // SAFETY: what a live call calls.
        let is_assembly = unsafe { !LLVMIsAInlineAsm(called.0).is_null() };
        is_assembly.then(|| {
            (
                read(LLVMGetInlineAsmAsmString),
                read(LLVMGetInlineAsmConstraintString),
            )
        })
    }

    /// The name of the function that a call names directly.
    pub(super) fn called_name(self) -> Option<String> {
        self.called_function().map(Self::name)
    }

    /// The arguments of a call.
    pub(super) fn arguments(self) -> Vec<Self> {
        // SAFETY: callers pass call sites.
        unsafe {
            (0..LLVMGetNumArgOperands(self.0))
                .map(|index| Self(LLVMGetOperand(self.0, index)))
                .collect()
        }
    }

    /// All operands of an instruction or constant.
    pub(super) fn operands(self) -> Vec<Self> {
        // SAFETY: a user; operand indices are in range.
        unsafe {
            if LLVMIsAUser(self.0).is_null() {
                return Vec::new();
            }
            (0..LLVMGetNumOperands(self.0) as u32)
                .map(|index| Self(LLVMGetOperand(self.0, index)))
                .collect()
        }
    }

    /// Replaces an operand.
    pub(super) fn set_operand(self, index: u32, value: Self) {
        // SAFETY: callers pass an index in range and a value of the same type.
        unsafe { LLVMSetOperand(self.0, index, value.0) }
    }

    /// Who uses it.
    pub(super) fn users(self) -> Vec<Self> {
        let mut found = Vec::new();
        // SAFETY: walks the use list of a live value.
        unsafe {
            let mut next = LLVMGetFirstUse(self.0);
            while !next.is_null() {
                found.push(Self(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        found
    }

    /// All uses become uses of `other`.
    pub(super) fn replace_all_uses(self, other: Self) {
        // SAFETY: both are live values of one type.
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) }
    }

    /// Erases an instruction that has no uses.
    pub(super) fn erase(self) {
        // SAFETY: callers pass instructions and do not use them afterwards.
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    /// Deletes a function or its body's module entry; it has no uses.
    pub(super) fn delete_function(self) {
        // SAFETY: callers pass functions without uses and do not use them afterwards.
        unsafe { LLVMDeleteFunction(self.0) }
    }

    /// A copy of an instruction, in no block.
    pub(super) fn clone_instruction(self) -> Self {
        // SAFETY: callers pass instructions.
        Self(unsafe { LLVMInstructionClone(self.0) })
    }

    /// The block of an instruction.
    pub(super) fn block(self) -> Option<Block> {
        self.opcode()?;
        // SAFETY: an instruction.
        let block = unsafe { LLVMGetInstructionParent(self.0) };
        (!block.is_null()).then_some(Block(block))
    }

    /// The value of an integer constant, sign-extended.
    pub(super) fn integer(self) -> Option<i64> {
        // SAFETY: the value is asked of integer constants of at most 64 bits only.
        unsafe {
            (!LLVMIsAConstantInt(self.0).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(self.0)) <= 64)
                .then(|| LLVMConstIntGetSExtValue(self.0))
        }
    }

    /// True for a function's parameter.
    pub(super) fn is_parameter(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAArgument(self.0).is_null() }
    }

    /// True for a global variable.
    pub(super) fn is_global_variable(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() }
    }

    /// The initialiser of a global variable.
    pub(super) fn initializer(self) -> Option<Self> {
        if !self.is_global_variable() {
            return None;
        }
        // SAFETY: a global variable.
        wrap(unsafe { LLVMGetInitializer(self.0) })
    }

    /// The text of a global that holds a C string.
    pub(super) fn c_string(self) -> Option<String> {
        let data = self.initializer()?;
        // SAFETY: the bytes are asked of constant strings only and copied.
        unsafe {
            if LLVMIsAConstantDataSequential(data.0).is_null() || LLVMIsConstantString(data.0) == 0
            {
                return None;
            }
            let mut length = 0;
            let bytes = LLVMGetAsString(data.0, &mut length);
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
            let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }

    /// What an `alloca` makes, and how many.
    pub(super) fn allocated(self) -> Option<(Type, Self)> {
        (self.opcode() == Some(LLVMOpcode::LLVMAlloca)).then(|| {
            // SAFETY: an alloca.
            unsafe {
                (
                    Type(LLVMGetAllocatedType(self.0)),
                    Self(LLVMGetOperand(self.0, 0)),
                )
            }
        })
    }

    /// The alignment in bytes of an alloca, load, store or global.
    pub(super) fn alignment(self) -> u32 {
        // SAFETY: callers pass instructions or globals that have one.
        unsafe { LLVMGetAlignment(self.0) }
    }

    /// The destinations of a terminator.
    pub(super) fn successors(self) -> Vec<Block> {
        // SAFETY: callers pass terminators.
        unsafe {
            (0..LLVMGetNumSuccessors(self.0))
                .map(|index| Block(LLVMGetSuccessor(self.0, index)))
                .collect()
        }
    }

    /// The normal and the unwind destination of an invoke.
    pub(super) fn invoke_destinations(self) -> Option<(Block, Block)> {
        (self.opcode() == Some(LLVMOpcode::LLVMInvoke)).then(|| {
            // SAFETY: an invoke.
            unsafe {
                (
                    Block(LLVMGetNormalDest(self.0)),
                    Block(LLVMGetUnwindDest(self.0)),
                )
            }
        })
    }

    /// The predicate of an integer comparison.
    pub(super) fn integer_predicate(self) -> Option<llvm_sys::LLVMIntPredicate> {
        (self.opcode() == Some(LLVMOpcode::LLVMICmp)).then(|| {
            // SAFETY: an integer comparison.
            unsafe { LLVMGetICmpPredicate(self.0) }
        })
    }

    /// True when the instruction carries the `contract` flag.
    pub(super) fn may_contract(self) -> bool {
        // SAFETY: flags are asked of instructions that can have them.
        unsafe {
            LLVMCanValueUseFastMathFlags(self.0) != 0
                && LLVMGetFastMathFlags(self.0) & LLVMFastMathAllowContract != 0
        }
    }

    /// Removes every fast-math flag. LLVM's C interface can only add flags, so an instruction that
    /// carries some is made again without them.
    pub(super) fn strip_fast_math(self) {
        // SAFETY: flags are asked of instructions that can have them.
        let flagged = unsafe {
            LLVMCanValueUseFastMathFlags(self.0) != 0
                && LLVMGetFastMathFlags(self.0) != LLVMFastMathNone
        };
        if flagged {
            super::remake::without_fast_math(self);
        }
    }

    /// Whether a load or store is `volatile`.
    pub(super) fn is_volatile(self) -> bool {
        // SAFETY: callers pass loads and stores.
        unsafe { LLVMGetVolatile(self.0) != 0 }
    }

    /// Makes a load or store `volatile`.
    pub(super) fn make_volatile(self) {
        // SAFETY: callers pass loads and stores.
        unsafe { LLVMSetVolatile(self.0, 1) }
    }

    /// Gives an instruction the source place of another one (none if that has none).
    pub(super) fn copy_place(self, from: Self) {
        // SAFETY: both are live instructions of one function.
        unsafe {
            llvm_sys::debuginfo::LLVMInstructionSetDebugLoc(
                self.0,
                llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(from.0),
            );
        }
    }

    /// Forgets the source place of an instruction.
    pub(super) fn clear_place(self) {
        // SAFETY: a live instruction; null means no location.
        unsafe {
            llvm_sys::debuginfo::LLVMInstructionSetDebugLoc(self.0, std::ptr::null_mut());
        }
    }

    /// Adds an enum attribute (`nounwind`, `memory` with its bits, …) to a function.
    pub(super) fn add_attribute(self, place: AttributePosition, name: &str, value: u64) {
        // SAFETY: a live function; the attribute is made in its context.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            assert_ne!(kind, 0, "LLVM has no attribute {name}");
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, kind, value);
            LLVMAddAttributeAtIndex(self.0, place.index(), attribute);
        }
    }

    /// Adds `byval(T)` and an alignment to a parameter of a function or call.
    pub(super) fn add_by_value(self, parameter: u32, pointee: Type, align_bytes: u64) {
        let index = AttributePosition::Parameter(parameter).index();
        // SAFETY: a live function or call; attributes are made in its context.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let make =
                |name: &str| LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let by_value = LLVMCreateTypeAttribute(context, make("byval"), pointee.0);
            let align = LLVMCreateEnumAttribute(context, make("align"), align_bytes);
            for attribute in [by_value, align] {
                if self.is_call() {
                    LLVMAddCallSiteAttribute(self.0, index, attribute);
                } else {
                    LLVMAddAttributeAtIndex(self.0, index, attribute);
                }
            }
        }
    }

    /// The type and alignment of a `byval` parameter of a function.
    pub(super) fn by_value(self, parameter: u32) -> Option<(Type, u64)> {
        let index = AttributePosition::Parameter(parameter).index();
        // SAFETY: a live function; a missing attribute is null.
        unsafe {
            let kind =
                |name: &str| LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let by_value = LLVMGetEnumAttributeAtIndex(self.0, index, kind("byval"));
            if by_value.is_null() {
                return None;
            }
            let align = LLVMGetEnumAttributeAtIndex(self.0, index, kind("align"));
            let align_bytes = if align.is_null() {
                1
            } else {
                LLVMGetEnumAttributeValue(align)
            };
            Some((Type(LLVMGetTypeAttributeValue(by_value)), align_bytes))
        }
    }

    /// True when a function has the attribute.
    pub(super) fn has_attribute(self, name: &str) -> bool {
        // SAFETY: a live function; a missing attribute is null.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            !LLVMGetEnumAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, kind).is_null()
        }
    }

    /// Removes an attribute from a function.
    pub(super) fn remove_attribute(self, name: &str) {
        // SAFETY: a live function.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMRemoveEnumAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, kind);
        }
    }

    /// Copies the attributes of one call's parameters to another's, `shift` places further on.
    pub(super) fn copy_parameter_attributes(self, from: Self, shift: u32) {
        // SAFETY: both are live calls; the buffer has the length that LLVM asks for.
        unsafe {
            for argument in 0..LLVMGetNumArgOperands(from.0) {
                let index = AttributePosition::Parameter(argument).index();
                let count = LLVMGetCallSiteAttributeCount(from.0, index) as usize;
                let mut attributes = vec![std::ptr::null_mut(); count];
                LLVMGetCallSiteAttributes(from.0, index, attributes.as_mut_ptr());
                for attribute in attributes {
                    LLVMAddCallSiteAttribute(self.0, index + shift, attribute);
                }
            }
        }
    }

    /// It as inkwell's function.
    pub(super) fn as_function<'ctx>(self) -> Option<FunctionValue<'ctx>> {
        // SAFETY: inkwell checks that it is a function.
        unsafe { FunctionValue::new(LLVMIsAFunction(self.0)) }
    }
}

impl Block {
    /// Its instructions, in order.
    pub(super) fn instructions(self) -> Vec<Value> {
        let mut found = Vec::new();
        // SAFETY: walks the instruction list of a live block.
        let mut next = unsafe { LLVMGetFirstInstruction(self.0) };
        while !next.is_null() {
            found.push(Value(next));
            // SAFETY: `next` is an instruction of a live block.
            next = unsafe { LLVMGetNextInstruction(next) };
        }
        found
    }

    /// Its terminator.
    pub(super) fn terminator(self) -> Option<Value> {
        // SAFETY: a live block.
        wrap(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    /// A new block at the end of a function.
    pub(super) fn append(function: Value) -> Self {
        // SAFETY: callers pass functions.
        Self(unsafe {
            LLVMAppendBasicBlockInContext(
                LLVMGetTypeContext(LLVMTypeOf(function.0)),
                function.0,
                c"".as_ptr(),
            )
        })
    }

    /// The blocks that branch here.
    pub(super) fn predecessors(self) -> Vec<Self> {
        // SAFETY: a block is a value; its users that are terminators are its predecessors.
        let value = Value(unsafe { LLVMBasicBlockAsValue(self.0) });
        let mut found: Vec<_> = value.users().into_iter().filter_map(Value::block).collect();
        found.sort();
        found.dedup();
        found
    }
}
