//! Functions and global variables.

use super::*;
use inkwell::llvm_sys::comdat::*;
use std::ffi::{CStr, CString};

impl<'ctx> Value<'ctx> {
    /// All functions of a module, declarations too.
    pub(crate) fn functions(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
        // SAFETY: the handle is alive by the invariant of this module (so below).
        iterate(
            unsafe { Self::checked(LLVMGetFirstFunction(module.as_mut_ptr())) },
            |at| unsafe { Self::checked(LLVMGetNextFunction(at.0)) },
        )
    }

    /// All global variables of a module, declarations too.
    pub(crate) fn globals(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
        // SAFETY: as above.
        iterate(
            unsafe { Self::checked(LLVMGetFirstGlobal(module.as_mut_ptr())) },
            |at| unsafe { Self::checked(LLVMGetNextGlobal(at.0)) },
        )
    }

    /// The function of this name, declared or defined.
    pub(crate) fn function(module: &Module<'ctx>, name: &str) -> Option<Value<'ctx>> {
        let name = c_string(name);
        // SAFETY: as above.
        unsafe { Self::checked(LLVMGetNamedFunction(module.as_mut_ptr(), name.as_ptr())) }
    }

    /// The global variable of this name.
    #[cfg(test)]
    pub(crate) fn global(module: &Module<'ctx>, name: &str) -> Option<Value<'ctx>> {
        let name = c_string(name);
        // SAFETY: as above.
        unsafe { Self::checked(LLVMGetNamedGlobal(module.as_mut_ptr(), name.as_ptr())) }
    }

    /// Declares a function.
    pub(crate) fn add_function(module: &Module<'ctx>, name: &str, ty: Type<'ctx>) -> Value<'ctx> {
        let name = c_string(name);
        // SAFETY: as above.
        Value::new(unsafe { LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty.0) })
    }

    /// Adds a variable; it is defined elsewhere as long as it has no initial value.
    pub(crate) fn add_global(
        module: &Module<'ctx>,
        name: &str,
        ty: Type<'ctx>,
        address_space: u32,
    ) -> Value<'ctx> {
        let name = c_string(name);
        // SAFETY: as above.
        Value::new(unsafe {
            LLVMAddGlobalInAddressSpace(module.as_mut_ptr(), ty.0, name.as_ptr(), address_space)
        })
    }

    /// A constant structure of these constants.
    pub(crate) fn structure(module: &Module<'ctx>, values: &[Value<'ctx>]) -> Value<'ctx> {
        let context = module.get_context().as_ctx_ref();
        let mut raw: Vec<LLVMValueRef> = values.iter().map(|value| value.0).collect();
        // SAFETY: pointer and length describe `raw`.
        Value::new(unsafe {
            LLVMConstStructInContext(context, raw.as_mut_ptr(), raw.len() as u32, 0)
        })
    }

    /// Adds a constant table of addresses that only its module sees.
    pub(crate) fn add_private_table(
        module: &Module<'ctx>,
        name: &str,
        addresses: &[Value<'ctx>],
    ) -> Value<'ctx> {
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

    /// Whether a function has no body, or a variable no initial value.
    pub(crate) fn is_declaration(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    /// The type of a function or of a global's content.
    pub(crate) fn value_type(self) -> Type<'ctx> {
        // SAFETY: as above.
        Type::new(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    /// LLVM's number of a function's calling convention.
    pub(crate) fn call_convention(self) -> u32 {
        // SAFETY: as above.
        unsafe { LLVMGetFunctionCallConv(self.0) }
    }

    /// Gives a function a calling convention.
    pub(crate) fn set_call_convention(self, convention: u32) {
        // SAFETY: as above.
        unsafe { LLVMSetFunctionCallConv(self.0, convention) }
    }

    /// The parameters of a function.
    pub(crate) fn parameters(self) -> Vec<Value<'ctx>> {
        // SAFETY: as above; the indices are in range.
        unsafe {
            (0..LLVMCountParams(self.0))
                .map(|n| Value::new(LLVMGetParam(self.0, n)))
                .collect()
        }
    }

    /// The blocks of a function, the one that it begins with first.
    pub(crate) fn blocks(self) -> Vec<Block<'ctx>> {
        // SAFETY: as above.
        unsafe {
            let wrap = |raw: LLVMBasicBlockRef| (!raw.is_null()).then_some(Block::new(raw));
            iterate(wrap(LLVMGetFirstBasicBlock(self.0)), |at| {
                wrap(LLVMGetNextBasicBlock(at.0))
            })
        }
    }

    /// All instructions of a function, block by block.
    pub(crate) fn instructions(self) -> Vec<Value<'ctx>> {
        self.blocks()
            .into_iter()
            .flat_map(Block::instructions)
            .collect()
    }

    /// Deletes a function that nothing refers to.
    pub(crate) fn delete_function(self) {
        // SAFETY: as above; callers have replaced all uses.
        unsafe { LLVMDeleteFunction(self.0) }
    }

    /// Deletes a variable that nothing refers to.
    pub(crate) fn delete_global(self) {
        // SAFETY: as above; callers have replaced all uses.
        unsafe { LLVMDeleteGlobal(self.0) }
    }

    /// The initial value of a global variable; other values have none.
    pub(crate) fn initializer(self) -> Option<Value<'ctx>> {
        if !self.is_global_variable() {
            return None;
        }
        // SAFETY: a global variable.
        unsafe { Self::checked(LLVMGetInitializer(self.0)) }
    }

    /// Gives a variable an initial value of its own type, or none.
    pub(crate) fn set_initializer(self, value: Option<Value>) {
        // SAFETY: as above; null removes the initializer.
        unsafe { LLVMSetInitializer(self.0, value.map_or(std::ptr::null_mut(), |v| v.0)) }
    }

    /// Whether nothing writes a variable.
    pub(crate) fn is_constant_global(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    /// A function of the same name, with the body and all but the parameters of this one, which is left without. What
    /// was said of parameters, and their uses, are for the caller to move.
    pub(crate) fn with_parameters(
        self,
        module: &Module<'ctx>,
        types: &[Type<'ctx>],
    ) -> Value<'ctx> {
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
    pub(crate) fn move_subprogram_to(self, other: Value) {
        // SAFETY: as above; the first function loses it so that no two functions share one.
        unsafe {
            let subprogram = LLVMGetSubprogram(self.0);
            if !subprogram.is_null() {
                LLVMSetSubprogram(self.0, std::ptr::null_mut());
                LLVMSetSubprogram(other.0, subprogram);
            }
        }
    }

    /// Gives a function or variable another name, and its comdat, where that has the old one.
    pub(crate) fn rename_with_comdat(self, module: &Module, name: &str) {
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

    /// A constant text with a final zero byte, local to a module.
    pub(crate) fn add_text(module: &Module<'ctx>, text: &str) -> Self {
        // SAFETY: a live module; LLVM copies the bytes, as many as there are.
        let bytes = unsafe {
            let context = module.get_context().as_ctx_ref();
            Self::new(LLVMConstStringInContext2(
                context,
                text.as_ptr().cast(),
                text.len(),
                0,
            ))
        };
        let global = Self::add_global(module, "", bytes.ty(), 0);
        global.set_initializer(Some(bytes));
        global.set_linkage(Linkage::LLVMInternalLinkage);
        global
    }

    /// Says that nothing writes the variable.
    pub(crate) fn make_constant(self) {
        // SAFETY: a live variable.
        unsafe { LLVMSetGlobalConstant(self.0, 1) }
    }

    /// Says that others than the module may set the variable before its code runs.
    pub(crate) fn expect_other_initial_value(self) {
        // SAFETY: a live variable.
        unsafe { LLVMSetExternallyInitialized(self.0, 1) }
    }

    /// The section of a variable, empty when it is in no special one.
    pub(crate) fn section(self) -> String {
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
    pub(crate) fn set_section(self, name: &str) {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: a live variable; LLVM copies the text.
        unsafe { LLVMSetSection(self.0, name.as_ptr()) }
    }

    /// Adds a mark of a variable to those that the back end for PTX reads.
    pub(crate) fn annotate(self, module: &Module, mark: &str) {
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
    pub(crate) fn is_constant_memory(self) -> bool {
        const ADDRESS_SPACE: u32 = 4;
        self.is_constant_global() && self.ty().address_space() == ADDRESS_SPACE
    }

    /// Whether others than its module may set a variable before code runs, or each thread has its own.
    pub(crate) fn is_set_elsewhere(self) -> bool {
        // SAFETY: a live variable.
        unsafe { LLVMIsExternallyInitialized(self.0) != 0 || LLVMIsThreadLocal(self.0) != 0 }
    }
}

/// Makes calls of an alias calls of the function that it stands for, where no other definition can
/// take the alias's place.
pub(crate) fn call_through_aliases(module: &Module) {
    for alias in Value::aliases(module) {
        let function = alias.aliasee();
        if !function.is_function() || alias.is_interposable() {
            continue;
        }
        for call in alias.users() {
            if call.is_call() && call.operands().last() == Some(&alias) {
                call.set_called(function);
            }
        }
    }
}

/// Declares a function, or returns the one that has the name.
pub(crate) fn declare<'ctx>(module: &Module<'ctx>, name: &str, ty: Type<'ctx>) -> Value<'ctx> {
    Value::function(module, name).unwrap_or_else(|| Value::add_function(module, name, ty))
}

/// Changes what the back end for PTX reads as a mark of variables into another word; gives the variables.
pub(crate) fn rename_marks<'ctx>(
    module: &Module<'ctx>,
    mark: &str,
    other: &str,
) -> Vec<Value<'ctx>> {
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
                    renamed_of.extend(parts.first().map(|&variable| Value::new(variable)));
                }
            }
        }
    }
    renamed_of
}

/// Takes away from a list that LLVM keeps (`llvm.compiler.used`) the elements that are not wanted.
pub(crate) fn shorten_list<'ctx>(
    module: &Module<'ctx>,
    list: Value<'ctx>,
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
pub(crate) fn replace_list<'ctx>(
    module: &Module<'ctx>,
    list: Value<'ctx>,
    elements: Vec<Value<'ctx>>,
) {
    let (name, section, linkage) = (list.name(), list.section(), list.linkage());
    list.delete_global();
    if elements.is_empty() {
        return;
    }
    let shorter = Value::constant_array(&elements);
    let list = Value::add_global(module, "", shorter.ty(), 0);
    list.set_initializer(Some(shorter));
    list.set_linkage(linkage);
    list.set_section(&section);
    list.set_name(&name);
}
