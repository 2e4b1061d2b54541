//! Debug locations for code that we make.

use super::*;
use crate::diagnostics::{Location, source_path};
use inkwell::llvm_sys::LLVMDbgRecordKind;

/// Where the code of a function comes from, for functions that are made to call it.
pub(crate) struct DebugScope<'m> {
    module: PhantomData<&'m ()>,
    context: LLVMContextRef,
    builder: LLVMDIBuilderRef,
    file: LLVMMetadataRef,
    line: u32,
}

impl<'m> DebugScope<'m> {
    /// The place of a function with line information.
    pub(crate) fn of(module: &'m Module, function: Value) -> Option<Self> {
        let kind = LLVMDWARFEmissionKind::LLVMDWARFEmissionKindLineTablesOnly;
        Self::with_kind(module, function, kind)
    }

    /// The same for functions into which variables that a debugger shows may come: those are found by the frame, which
    /// line tables alone do not describe.
    pub(crate) fn with_frame(module: &'m Module, function: Value) -> Option<Self> {
        let kind = LLVMDWARFEmissionKind::LLVMDWARFEmissionKindFull;
        Self::with_kind(module, function, kind)
    }

    fn with_kind(module: &'m Module, function: Value, kind: LLVMDWARFEmissionKind) -> Option<Self> {
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
                module: PhantomData,
                context,
                builder,
                file,
                line,
            })
        }
    }

    /// Gives `function` line information and the instructions that `builder` makes this place.
    pub(crate) fn cover(&self, function: Value, name: &str, builder: &Builder) {
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

impl Drop for DebugScope<'_> {
    fn drop(&mut self) {
        // SAFETY: the builder is ours; finalising resolves its temporary nodes.
        unsafe {
            LLVMDIBuilderFinalize(self.builder);
            LLVMDisposeDIBuilder(self.builder);
        }
    }
}

impl<'ctx> Value<'ctx> {
    /// Whether an instruction says which place of the source it comes from.
    pub(crate) fn has_debug_location(self) -> bool {
        // SAFETY: as in `Value`.
        unsafe { !LLVMInstructionGetDebugLoc(self.0).is_null() }
    }

    /// Gives an instruction the source place of another one of its function; none if that has none.
    pub(crate) fn copy_place(self, from: Self) {
        // SAFETY: as above.
        unsafe { LLVMInstructionSetDebugLoc(self.0, LLVMInstructionGetDebugLoc(from.0)) }
    }

    /// Forgets the source place of an instruction.
    pub(crate) fn clear_place(self) {
        // SAFETY: as above; null means no place.
        unsafe { LLVMInstructionSetDebugLoc(self.0, std::ptr::null_mut()) }
    }

    /// Whether two instructions come from one place of the source, or both say none.
    pub(crate) fn has_place_of(self, other: Self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMInstructionGetDebugLoc(self.0) == LLVMInstructionGetDebugLoc(other.0) }
    }

    /// Where in the source an instruction comes from: the innermost place, and outwards those at which what it stands in
    /// was inlined. A file that debug information does not tell is empty.
    pub(crate) fn source_places(self) -> impl Iterator<Item = Location> {
        let found = |place: LLVMMetadataRef| (!place.is_null()).then_some(place);
        // SAFETY: as above; debug information lives as long as its module.
        let first = found(unsafe { LLVMInstructionGetDebugLoc(self.0) });
        // SAFETY: as above.
        let places = std::iter::successors(first, move |place| {
            found(unsafe { LLVMDILocationGetInlinedAt(*place) })
        });
        // SAFETY: as above.
        places.map(|place| unsafe {
            Location {
                file: file_of(LLVMDILocationGetScope(place)),
                line: LLVMDILocationGetLine(place),
                column: LLVMDILocationGetColumn(place),
            }
        })
    }

    /// Where the source has a function.
    pub(crate) fn source_of_function(self) -> Option<Location> {
        // SAFETY: as above; callers pass functions.
        unsafe {
            let subprogram = LLVMGetSubprogram(self.0);
            (!subprogram.is_null()).then(|| Location {
                file: file_of(subprogram),
                line: LLVMDISubprogramGetLine(subprogram),
                column: 0,
            })
        }
    }

    /// The folder and the file of an instruction's innermost place, as the compiler was given them.
    pub(crate) fn source_file(self) -> [String; 2] {
        let mut lengths = [0; 2];
        // SAFETY: as above; LLVM gives texts of these lengths that live as long as the module.
        unsafe {
            let folder = LLVMGetDebugLocDirectory(self.0, &raw mut lengths[0]);
            let file = LLVMGetDebugLocFilename(self.0, &raw mut lengths[1]);
            [text(folder, lengths[0]), text(file, lengths[1])]
        }
    }

    /// The variables that debug information at an instruction declares, each with the path of its file.
    pub(crate) fn declared_variables(self) -> Vec<(Value<'ctx>, String)> {
        let mut found = Vec::new();
        // SAFETY: walks the records of an instruction of a live module.
        unsafe {
            let mut record = LLVMGetFirstDbgRecord(self.0);
            while !record.is_null() {
                if matches!(
                    LLVMDbgRecordGetKind(record),
                    LLVMDbgRecordKind::LLVMDbgRecordDeclare
                ) {
                    let file = LLVMDIVariableGetFile(LLVMDbgVariableRecordGetVariable(record));
                    let value = LLVMDbgVariableRecordGetValue(record, 0);
                    if !file.is_null() && !value.is_null() {
                        found.push((Value::new(value), path_of(file)));
                    }
                }
                record = LLVMGetNextDbgRecord(record);
            }
        }
        found
    }
}

/// The path of the file that a scope lies in, as the compiler was given it; empty where that is unknown.
///
/// # Safety
/// The scope is one of a live module, or null.
unsafe fn file_of(scope: LLVMMetadataRef) -> String {
    if scope.is_null() {
        return String::new();
    }
    // SAFETY: as promised.
    unsafe {
        match LLVMDIScopeGetFile(scope) {
            file if file.is_null() => String::new(),
            file => path_of(file),
        }
    }
}

/// # Safety
/// The file is one of a live module.
unsafe fn path_of(file: LLVMMetadataRef) -> String {
    let mut length = 0;
    // SAFETY: as promised; texts are read with the length that LLVM gives.
    unsafe {
        let name = LLVMDIFileGetFilename(file, &mut length);
        let name = text(name, length);
        let directory = LLVMDIFileGetDirectory(file, &mut length);
        source_path(&text(directory, length), &name)
    }
}

/// # Safety
/// LLVM gave both.
unsafe fn text(begin: *const std::ffi::c_char, length: u32) -> String {
    // LLVM has no address for an empty text.
    if begin.is_null() {
        return String::new();
    }
    // SAFETY: as promised.
    let bytes = unsafe { std::slice::from_raw_parts(begin.cast::<u8>(), length as usize) };
    String::from_utf8_lossy(bytes).into_owned()
}
