//! Device images as objects, which are linked with the code of the host.
//!
//! Invariant: an object has its image under the symbol that the host's code knows, and shows that to no other program
//! or library. So the host's code is compiled while the image is still being made.

use super::super::cpu::host_target_machine;
use super::super::{CodegenError, DeviceImage};
use inkwell::context::Context;
use inkwell::targets::FileType;
use inkwell::{GlobalVisibility, OptimizationLevel};
use std::path::{Path, PathBuf};

/// The objects of an image that is known by a symbol; files that are made for it go into a folder.
///
/// # Errors
/// A file cannot be written, or an internal error.
pub(in crate::codegen) fn image_objects(
    image: DeviceImage,
    symbol: &str,
    folder: &Path,
) -> Result<Vec<PathBuf>, CodegenError> {
    match image {
        DeviceImage::CpuObjects { objects, .. } => Ok(objects),
        DeviceImage::Fatbin(bytes) => {
            let object = folder.join(format!("{symbol}.o"));
            write_object(&bytes, symbol, &object)?;
            Ok(vec![object])
        }
    }
}

/// An object that holds a fat binary where tools look for one.
fn write_object(bytes: &[u8], symbol: &str, object: &Path) -> Result<(), CodegenError> {
    let context = Context::create();
    let module = context.create_module(symbol);
    let machine = host_target_machine(OptimizationLevel::None)?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let data = context.const_string(bytes, false);
    let global = module.add_global(data.get_type(), None, symbol);
    global.set_constant(true);
    global.set_initializer(&data);
    global.set_section(Some(".nv_fatbin"));
    global.set_alignment(16);
    global.set_visibility(GlobalVisibility::Hidden);
    let code = machine
        .write_to_memory_buffer(&module, FileType::Object)
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;
    std::fs::write(object, code.as_slice()).map_err(CodegenError::write(object))
}
