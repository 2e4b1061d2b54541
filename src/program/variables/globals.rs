//! Global variables and what constants are made of them.

use super::super::builder::Builder;
use super::super::ir::{Block, Type, Value};
use inkwell::module::Module;
use llvm_sys::LLVMOpcode;
use llvm_sys::comdat::*;
use llvm_sys::core::*;
use std::ffi::{CStr, CString};

/// Changes what the back end for PTX reads as a mark of variables into another word; gives the variables.
pub(in crate::program) fn rename_marks(module: &Module<'_>, mark: &str, other: &str) -> Vec<Value> {
    let mut renamed_of = Vec::new();
    let other_name = CString::new(other).unwrap_or_default();
    const MARKS: &CStr = c"nvvm.annotations";
    // SAFETY: a live module; the nodes are its own, and each has as many operands as it says.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let count = LLVMGetNamedMetadataNumOperands(module.as_mut_ptr(), MARKS.as_ptr());
        let mut nodes = vec![std::ptr::null_mut(); count as usize];
        LLVMGetNamedMetadataOperands(module.as_mut_ptr(), MARKS.as_ptr(), nodes.as_mut_ptr());
        for node in nodes {
            let count = LLVMGetMDNodeNumOperands(node);
            let mut parts = vec![std::ptr::null_mut(); count as usize];
            LLVMGetMDNodeOperands(node, parts.as_mut_ptr());
            for (index, &part) in parts.iter().enumerate() {
                let mut length = 0;
                let text = match part.is_null() {
                    true => std::ptr::null(),
                    false => LLVMGetMDString(part, &mut length),
                };
                if text.is_null() {
                    continue;
                }
                let text = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
                if text == mark.as_bytes() {
                    let renamed = LLVMMDStringInContext2(context, other_name.as_ptr(), other.len());
                    LLVMReplaceMDNodeOperandWith(node, index as u32, renamed);
                    renamed_of.extend(parts.first().map(|&variable| Value(variable)));
                }
            }
        }
    }
    renamed_of
}

/// Takes away from a list that LLVM keeps (`llvm.compiler.used`) the elements that are not wanted.
pub(in crate::program) fn shorten_list(
    module: &Module<'_>,
    list: Value,
    wanted: impl Fn(Value) -> bool,
) {
    let elements = list.initializer().map(Value::operands).unwrap_or_default();
    let kept: Vec<Value> = (elements.iter().copied())
        .filter(|element| wanted(*element))
        .collect();
    if kept.len() < elements.len() {
        replace_list(module, list, kept);
    }
}

/// Gives a list that LLVM keeps other elements, of the type of the old ones; without any it is gone.
pub(in crate::program) fn replace_list(module: &Module<'_>, list: Value, elements: Vec<Value>) {
    let (name, section, linkage) = (list.name(), list.section(), list.linkage());
    list.delete_global();
    if elements.is_empty() {
        return;
    }
    let shorter = Value::constant_array(&elements);
    let list = Value::add_global(module, shorter.type_of());
    list.set_initializer(shorter);
    list.set_linkage(linkage);
    list.set_section(&section);
    list.set_name(&name);
}

impl Value {
    /// Adds a variable without a name; it is defined elsewhere as long as it has no initial value.
    pub(in crate::program) fn add_global(module: &Module<'_>, value_type: Type) -> Self {
        // SAFETY: a live module and a type of its context.
        Self(unsafe { LLVMAddGlobal(module.as_mut_ptr(), value_type.0, c"".as_ptr()) })
    }

    /// A constant array of these elements, of which there are some; all are of the type of the first.
    pub(in crate::program) fn constant_array(elements: &[Self]) -> Self {
        let mut elements: Vec<_> = elements.iter().map(|element| element.0).collect();
        let length = elements.len() as u64;
        // SAFETY: live constants of one type, as many as there are.
        unsafe {
            let element = LLVMTypeOf(elements[0]);
            Self(LLVMConstArray2(element, elements.as_mut_ptr(), length))
        }
    }

    /// A constant structure of these members.
    pub(in crate::program) fn constant_struct(module: &Module<'_>, members: &[Self]) -> Self {
        let mut members: Vec<_> = members.iter().map(|member| member.0).collect();
        // SAFETY: a live module; the members are constants of its context, as many as there are.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let count = members.len() as u32;
            Self(LLVMConstStructInContext(
                context,
                members.as_mut_ptr(),
                count,
                0,
            ))
        }
    }

    /// Gives a function or variable another name, and its comdat, where that has the old one.
    pub(in crate::program) fn rename_with_comdat(self, module: &Module<'_>, name: &str) {
        self.set_name(name);
        let text = CString::new(name).unwrap_or_default();
        // SAFETY: a live global value of the module, which may be in a comdat.
        unsafe {
            let old = LLVMGetComdat(self.0);
            if !old.is_null() {
                let new = LLVMGetOrInsertComdat(module.as_mut_ptr(), text.as_ptr());
                LLVMSetComdatSelectionKind(new, LLVMGetComdatSelectionKind(old));
                LLVMSetComdat(self.0, new);
            }
        }
    }

    /// Lets nobody outside of the program or shared library see it.
    pub(in crate::program) fn hide(self) {
        // SAFETY: a live global value.
        unsafe { LLVMSetVisibility(self.0, llvm_sys::LLVMVisibility::LLVMHiddenVisibility) }
    }

    /// A constant text with a final zero byte, local to a module.
    pub(in crate::program) fn add_text(module: &Module<'_>, text: &str) -> Self {
        // SAFETY: a live module; LLVM copies the bytes, as many as there are.
        let bytes = unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            Self(LLVMConstStringInContext2(
                context,
                text.as_ptr().cast(),
                text.len(),
                0,
            ))
        };
        let global = Self::add_global(module, bytes.type_of());
        global.set_initializer(bytes);
        global.make_internal();
        global
    }

    /// Gives a variable its initial value, of its own type.
    pub(in crate::program) fn set_initializer(self, value: Self) {
        // SAFETY: a live variable and a constant of its context.
        unsafe { LLVMSetInitializer(self.0, value.0) }
    }

    /// Says that nothing writes the variable.
    pub(in crate::program) fn make_constant(self) {
        // SAFETY: a live variable.
        unsafe { LLVMSetGlobalConstant(self.0, 1) }
    }

    /// Says that others than the module may set the variable before its code runs.
    pub(in crate::program) fn expect_other_initial_value(self) {
        // SAFETY: a live variable.
        unsafe { LLVMSetExternallyInitialized(self.0, 1) }
    }

    /// Deletes a variable that has no uses.
    pub(in crate::program) fn delete_global(self) {
        // SAFETY: callers pass variables and do not use them afterwards.
        unsafe { LLVMDeleteGlobal(self.0) }
    }

    /// The section of a variable, empty when it is in no special one.
    pub(in crate::program) fn section(self) -> String {
        // SAFETY: a live variable; the string is its own.
        unsafe {
            let section = LLVMGetSection(self.0);
            if section.is_null() {
                return String::new();
            }
            CStr::from_ptr(section).to_string_lossy().into_owned()
        }
    }

    /// Puts a variable into a section, or with an empty name into none.
    pub(in crate::program) fn set_section(self, name: &str) {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: a live variable; LLVM copies the text.
        unsafe { LLVMSetSection(self.0, name.as_ptr()) }
    }

    /// Adds a mark of a variable to those that the back end for PTX reads.
    pub(in crate::program) fn annotate(self, module: &Module<'_>, mark: &str) {
        let name = CString::new(mark).unwrap_or_default();
        // SAFETY: all metadata is made in the module's own context.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let mut parts = [
                LLVMValueAsMetadata(self.0),
                LLVMMDStringInContext2(context, name.as_ptr(), mark.len()),
                LLVMValueAsMetadata(Type::integer(module, 32).constant(1).0),
            ];
            let node = LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
            let node = LLVMMetadataAsValue(context, node);
            LLVMAddNamedMetadataOperand(module.as_mut_ptr(), c"nvvm.annotations".as_ptr(), node);
        }
    }

    /// Whether it is a variable in constant memory of the device that was written as `const`.
    pub(in crate::program) fn is_constant_memory(self) -> bool {
        const ADDRESS_SPACE: u32 = 4;
        // SAFETY: a live variable, whose value is a pointer.
        unsafe {
            LLVMIsGlobalConstant(self.0) != 0
                && LLVMGetPointerAddressSpace(LLVMTypeOf(self.0)) == ADDRESS_SPACE
        }
    }

    /// Whether it is a variable, a function or another name for one.
    pub(in crate::program) fn is_global_value(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAGlobalValue(self.0).is_null() }
    }

    /// Whether it is an instruction.
    pub(in crate::program) fn is_instruction(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }

    /// Whether it is a constant: a number, a global, or made of such.
    pub(in crate::program) fn is_constant(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// Whether it is an operation on constants.
    pub(in crate::program) fn is_constant_expression(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAConstantExpr(self.0).is_null() }
    }

    /// Where an operand of a phi comes from.
    pub(in crate::program) fn incoming_block(self, operand: u32) -> Option<Block> {
        // SAFETY: a live phi has as many blocks as operands.
        unsafe {
            (!LLVMIsAPHINode(self.0).is_null())
                .then(|| Block(LLVMGetIncomingBlock(self.0, operand)))
        }
    }
}

impl Builder {
    /// The instruction that does what a constant expression does, with these operands in place of its
    /// own; none for an operation that no constant expression of a front end has.
    pub(in crate::program) fn expression(
        &self,
        expression: Value,
        operands: &[Value],
    ) -> Option<Value> {
        let (&first, rest) = operands.split_first()?;
        let name = c"".as_ptr();
        // SAFETY: a live constant expression, whose operands have the types of those given.
        unsafe {
            let kind = LLVMGetConstOpcode(expression.0);
            let made = match kind {
                LLVMOpcode::LLVMGetElementPtr => {
                    let mut indices: Vec<_> = rest.iter().map(|index| index.0).collect();
                    let source = LLVMGetGEPSourceElementType(expression.0);
                    let count = indices.len() as u32;
                    LLVMBuildGEP2(
                        self.raw(),
                        source,
                        first.0,
                        indices.as_mut_ptr(),
                        count,
                        name,
                    )
                }
                LLVMOpcode::LLVMAddrSpaceCast
                | LLVMOpcode::LLVMPtrToInt
                | LLVMOpcode::LLVMIntToPtr
                | LLVMOpcode::LLVMTrunc
                | LLVMOpcode::LLVMBitCast => {
                    LLVMBuildCast(self.raw(), kind, first.0, LLVMTypeOf(expression.0), name)
                }
                LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMXor => {
                    LLVMBuildBinOp(self.raw(), kind, first.0, rest.first()?.0, name)
                }
                _ => return None,
            };
            Some(Value(made))
        }
    }
}
