//! libdevice's own bodies, for math functions that nothing else defines.

use super::functions::Library;
use crate::codegen::CodegenError;
use crate::codegen::device::{device_target_machine, run_passes};
use crate::llvm::{FUNCTION_ATTRIBUTES, Linkage, Value, read_for_linking};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::path::Path;

/// Links the bodies of the `__nv_` functions that a device module calls and `library` lacks.
pub(super) fn link_missing<'ctx>(
    module: &Module,
    library: &Library<'ctx>,
    path: &Path,
) -> Result<(), CodegenError> {
    let missing = Value::functions(module).into_iter().any(|function| {
        let name = function.name();
        function.is_declaration()
            && function.has_uses()
            && name.starts_with("__nv_")
            && !library.has(&name)
    });
    if !missing {
        return Ok(());
    }
    for name in link_libdevice(module, path)? {
        // Long code is cheaper than calls on this device.
        if let Some(function) = Value::function(module, &name) {
            function.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        }
    }
    for function in Value::functions(module) {
        let name = function.name();
        if name.starts_with("__nv_") && !function.is_declaration() && library.has(&name) {
            // The C library's function is used instead of this body.
            let declared = Value::add_function(module, "", function.value_type());
            function.replace_uses_with(declared);
            function.delete_function();
            declared.set_name(&name);
        }
    }
    let machine = device_target_machine("sm_80")?;
    run_passes(
        module,
        "globaldce,nvvm-reflect,always-inline,globaldce",
        &machine,
    )
}

/// Links what a module calls of libdevice as internal functions. Their memory effects, which a declaration could
/// only assume, are computed anew from the bodies. What libdevice keeps out of line, such as the
/// reduction of large angles, stays there: inlined, it makes the code of a kernel with many sines three times as long.
/// Returns the names of all that libdevice defines.
pub(in crate::codegen) fn link_libdevice(
    module: &Module,
    path: &Path,
) -> Result<Vec<String>, CodegenError> {
    let fails = |message: String| CodegenError::Llvm(format!("{}: {message}", path.display()));
    let bitcode =
        MemoryBuffer::create_from_file(path).map_err(|message| fails(message.to_string()))?;
    let bodies = read_for_linking(bitcode, module.get_context()).map_err(fails)?;
    bodies.set_triple(&module.get_triple());
    bodies.set_data_layout(&module.get_data_layout());
    let mut names = Vec::new();
    for function in Value::functions(&bodies) {
        if !function.is_declaration() {
            names.push(function.name());
            if !function.is_local() {
                // Such a one is linked where it is called.
                function.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
            }
        }
    }
    module
        .link_in_module(bodies)
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;
    for name in &names {
        if let Some(function) = Value::function(module, name)
            && !function.is_declaration()
        {
            function.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    Ok(names)
}
