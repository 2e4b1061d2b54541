//! Operations of a warp that do not name their lanes: `__shfl`, `__any` and their kin.
//!
//! GPUs from sm_70 on do not have them, and LLVM's back end ends the whole process where it meets one; so a
//! program that has one for such a GPU is refused before.

use super::super::ProgramError;
use super::super::canonicalise_device::PTX_KERNEL;
use crate::diagnostics::Location;
use crate::llvm::Value;
use inkwell::module::Module;
use std::collections::BTreeSet;

/// Refuses operations without a mask in what kernels of a unit's device module reach; in relocatable code other
/// units may reach anything.
///
/// # Errors
/// [`ProgramError::Unmasked`] for the first of them.
pub(in crate::program) fn refuse_unmasked(
    device: &Module<'_>,
    architecture: u32,
    is_relocatable: bool,
) -> Result<(), ProgramError> {
    if architecture < FIRST_WITHOUT || !has_unmasked(device) {
        return Ok(());
    }
    let functions = Value::functions(device).into_iter();
    let entered = |function: &Value| is_relocatable || function.call_convention() == PTX_KERNEL;
    for function in reached(functions.filter(entered).collect()) {
        for instruction in function.instructions() {
            let called = instruction.called_name();
            let Some(operation) = called.as_deref().and_then(unmasked) else {
                continue;
            };
            return Err(ProgramError::Unmasked {
                location: location_in_own_file(instruction),
                operation: operation.to_owned(),
                architecture,
            });
        }
    }
    Ok(())
}

/// Whether a device module names an operation without a mask at all.
pub(in crate::program) fn has_unmasked(device: &Module<'_>) -> bool {
    let mut functions = Value::functions(device).into_iter();
    functions.any(|function| unmasked(&function.name()).is_some())
}

/// Functions, and all that they name, in instructions or by variables that they name.
fn reached(functions: Vec<Value>) -> Vec<Value> {
    let mut seen: BTreeSet<Value> = functions.iter().copied().collect();
    let mut found = Vec::new();
    let mut pending = functions;
    while let Some(value) = pending.pop() {
        let named: Vec<Value> = if value.is_function() {
            found.push(value);
            let instructions = value.instructions().into_iter();
            instructions.flat_map(Value::operands).collect()
        } else {
            value.operands()
        };
        let named = named.into_iter().filter(|named| named.is_constant());
        pending.extend(named.filter(|named| seen.insert(*named)));
    }
    found
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

/// The innermost place of an instruction that lies in the file of the function that it stands in: of code that
/// was inlined from a header, where that was called.
fn location_in_own_file(instruction: Value) -> Location {
    let places = instruction.source_places();
    let places: Vec<_> = places.take_while(|place| !place.file.is_empty()).collect();
    let own_file = places.last().map(|place| place.file.clone());
    let mut inside = places.into_iter();
    inside
        .find(|place| Some(&place.file) == own_file.as_ref())
        .unwrap_or_default()
}
