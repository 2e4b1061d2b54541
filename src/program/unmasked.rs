//! Operations of a warp that do not name their lanes: `__shfl`, `__any` and their kin.
//!
//! GPUs from sm_70 on do not have them, and LLVM's back end ends the whole process where it meets one; so a
//! program that has one for such a GPU is refused before.

use super::ProgramError;
use super::ir;
use crate::diagnostics::Location;
use inkwell::module::Module;

/// Refuses operations without a mask in what a unit's device module calls.
///
/// # Errors
/// [`ProgramError::Unmasked`] for the first of them.
pub(super) fn refuse_unmasked(device: &Module<'_>, architecture: u32) -> Result<(), ProgramError> {
    if architecture < FIRST_WITHOUT {
        return Ok(());
    }
    for function in ir::functions(device) {
        for instruction in function.instructions() {
            let called = instruction.called_name();
            let Some(operation) = called.as_deref().and_then(unmasked) else {
                continue;
            };
            return Err(ProgramError::Unmasked {
                location: instruction.outermost_location(),
                operation: operation.to_owned(),
                architecture,
            });
        }
    }
    Ok(())
}

/// The first architecture whose warps do not run in step.
const FIRST_WITHOUT: u32 = 70;

/// The name in CUDA of an intrinsic that has no mask.
fn unmasked(intrinsic: &str) -> Option<&'static str> {
    let name = intrinsic.strip_prefix("llvm.nvvm.")?;
    let shuffle = || {
        let (mode, kind) = name.strip_prefix("shfl.")?.split_once('.')?;
        let plain = ["i32", "f32", "i32p", "f32p"].contains(&kind);
        let modes = [
            ("idx", "__shfl"),
            ("up", "__shfl_up"),
            ("down", "__shfl_down"),
        ];
        let modes = modes.into_iter().chain([("bfly", "__shfl_xor")]);
        let mut named = modes.filter(|(word, _)| plain && *word == mode);
        named.next().map(|(_, operation)| operation)
    };
    match name {
        "vote.all" => Some("__all"),
        "vote.any" => Some("__any"),
        "vote.uni" => Some("__uni"),
        "vote.ballot" => Some("__ballot"),
        _ => shuffle(),
    }
}

impl ir::Value {
    /// The place of an instruction in the function that it stands in: of code that was inlined, where that was
    /// called.
    fn outermost_location(self) -> Location {
        use llvm_sys::debuginfo::{
            LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDILocationGetInlinedAt,
            LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile,
            LLVMInstructionGetDebugLoc,
        };
        // SAFETY: the value is an instruction of a live module; its debug information is walked as LLVM's
        // verifier has checked it, and texts are read with the length that LLVM gives.
        unsafe {
            let mut place = LLVMInstructionGetDebugLoc(self.0);
            while !place.is_null() && !LLVMDILocationGetInlinedAt(place).is_null() {
                place = LLVMDILocationGetInlinedAt(place);
            }
            if place.is_null() {
                return Location::default();
            }
            let file = LLVMDIScopeGetFile(LLVMDILocationGetScope(place));
            if file.is_null() {
                return Location::default();
            }
            let text = |characters: *const std::ffi::c_char, length: u32| {
                // LLVM has no address for an empty text.
                if characters.is_null() {
                    return String::new();
                }
                let bytes = std::slice::from_raw_parts(characters.cast::<u8>(), length as usize);
                String::from_utf8_lossy(bytes).into_owned()
            };
            let mut length = 0;
            let name = LLVMDIFileGetFilename(file, &mut length);
            let name = text(name, length);
            let directory = LLVMDIFileGetDirectory(file, &mut length);
            let directory = text(directory, length);
            Location {
                file: crate::diagnostics::source_path(&directory, &name),
                line: LLVMDILocationGetLine(place),
                column: 0,
            }
        }
    }
}
