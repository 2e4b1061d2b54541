//! Debug locations for code that we make.

use super::*;

/// Where the code of a function comes from, for functions that are made to call it.
pub(in crate::codegen) struct DebugScope {
    context: LLVMContextRef,
    builder: LLVMDIBuilderRef,
    file: LLVMMetadataRef,
    line: u32,
}

impl DebugScope {
    /// The place of a function with line information.
    pub(in crate::codegen) fn of(module: &Module, function: Value) -> Option<Self> {
        let kind = LLVMDWARFEmissionKind::LLVMDWARFEmissionKindLineTablesOnly;
        Self::with_kind(module, function, kind)
    }

    /// The same for functions into which variables that a debugger shows may come: those are found by the frame, which
    /// line tables alone do not describe.
    pub(in crate::codegen) fn with_frame(module: &Module, function: Value) -> Option<Self> {
        let kind = LLVMDWARFEmissionKind::LLVMDWARFEmissionKindFull;
        Self::with_kind(module, function, kind)
    }

    fn with_kind(module: &Module, function: Value, kind: LLVMDWARFEmissionKind) -> Option<Self> {
        // SAFETY: the function is alive; the new compile unit lives in its module.
        unsafe {
            let subprogram = LLVMGetSubprogram(function.0);
            if subprogram.is_null() {
                return None;
            }
            let file = LLVMDIScopeGetFile(subprogram);
            let line = LLVMDISubprogramGetLine(subprogram);
            let builder = LLVMCreateDIBuilder(module.as_mut_ptr());
            let producer = "sirius-rs";
            LLVMDIBuilderCreateCompileUnit(
                builder,
                LLVMDWARFSourceLanguage::LLVMDWARFSourceLanguageC_plus_plus,
                file,
                producer.as_ptr().cast(),
                producer.len(),
                1,
                c"".as_ptr(),
                0,
                0,
                c"".as_ptr(),
                0,
                kind,
                0,
                0,
                0,
                c"".as_ptr(),
                0,
                c"".as_ptr(),
                0,
            );
            let context = module.get_context().as_ctx_ref();
            Some(Self {
                context,
                builder,
                file,
                line,
            })
        }
    }

    /// Gives `function` line information and the instructions that `builder` makes this place.
    pub(in crate::codegen) fn cover(&self, function: Value, name: &str, builder: &Builder) {
        // SAFETY: pointers and lengths describe `name`; all handles are alive.
        unsafe {
            let ty = LLVMDIBuilderCreateSubroutineType(
                self.builder,
                self.file,
                std::ptr::null_mut(),
                0,
                0,
            );
            let subprogram = LLVMDIBuilderCreateFunction(
                self.builder,
                self.file,
                name.as_ptr().cast(),
                name.len(),
                name.as_ptr().cast(),
                name.len(),
                self.file,
                self.line,
                ty,
                1,
                1,
                self.line,
                0,
                1,
            );
            LLVMSetSubprogram(function.0, subprogram);
            let location = LLVMDIBuilderCreateDebugLocation(
                self.context,
                self.line,
                0,
                subprogram,
                std::ptr::null_mut(),
            );
            LLVMSetCurrentDebugLocation2(builder.0, location);
        }
    }
}

impl Drop for DebugScope {
    fn drop(&mut self) {
        // SAFETY: the builder is ours; finalising resolves its temporary nodes.
        unsafe {
            LLVMDIBuilderFinalize(self.builder);
            LLVMDisposeDIBuilder(self.builder);
        }
    }
}

impl Value {
    /// Whether an instruction says which place of the source it comes from.
    pub(in crate::codegen) fn has_debug_location(self) -> bool {
        // SAFETY: as in `Value`.
        unsafe { !LLVMInstructionGetDebugLoc(self.0).is_null() }
    }
}
