//! Texture and surface references: on the host a structure of settings, on the device the object that is bound now.
//!
//! CUDA 12 dropped them, and our headers `sirius_texture_references.h` and
//! `sirius_surface_references.h` write them over texture and surface objects. clang knows the
//! attributes of their class templates: a variable of one is the structure in the host module and a
//! number of 64 bits in the device module. Here that number becomes an ordinary device variable, read
//! by ordinary loads, so that analysis and fusion see memory that a copy to the symbol changes; the
//! host gets a shadow of it, registered as a variable's, and the structure's first member leads there
//! before anything of the program runs.
//!
//! Invariant: afterwards no module registers a texture or surface, marks a variable as one or asks for its handle.

use crate::llvm::{self, Builder, Linkage, Type, Value};
use inkwell::module::Module;

/// Gives each reference of a host module its shadow. `unit` is its name where device code is linked.
pub(in crate::program) fn settle_host(module: &Module<'_>, unit: Option<&str>) {
    for name in ["__cudaRegisterTexture", "__cudaRegisterSurface"] {
        let Some(register) = Value::function(module, name) else {
            continue;
        };
        for call in register.users() {
            if call.is_call() {
                register_as_variable(module, call, unit);
            }
        }
        if register.users().is_empty() {
            register.delete_function();
        }
    }
}

/// Makes plain variables of a device module's references.
pub(in crate::program) fn settle_device(module: &Module<'_>, unit: Option<&str>) {
    for function in Value::functions(module) {
        let is_handle = function.name().starts_with("llvm.nvvm.texsurf.handle");
        for call in function.users() {
            if is_handle && call.is_call() {
                let handle = call.call_arguments()[0];
                let number = Type::integer(module, 64);
                call.replace_uses_with(Builder::before(call).load(number, handle));
                call.erase();
            }
        }
    }
    let textures = llvm::rename_marks(module, "texture", "sirius.texture");
    let surfaces = llvm::rename_marks(module, "surface", "sirius.texture");
    for variable in textures.into_iter().chain(surfaces) {
        // The host writes into it under its name, also into one that is local to its unit.
        if let (Some(unit), true) = (unit, is_local(variable)) {
            variable.set_name(&local_name(&variable.name(), unit));
        }
        variable.make_external();
        variable.set_initializer(Some(variable.value_type().zero()));
        variable.expect_other_initial_value();
    }
}

/// Handle, structure, name, name, dimensions, (of a texture) normalised, external become those of a variable: handle,
/// shadow, name, name, external, bytes, constant, global.
fn register_as_variable(module: &Module<'_>, call: Value, unit: Option<&str>) {
    let [handle, structure, mut name, mut same_name, ..] = call.call_arguments()[..] else {
        return;
    };
    if let (Some(unit), true, Some(text)) = (unit, is_local(structure), name.c_string()) {
        name = Value::add_text(module, &local_name(&text, unit));
        same_name = name;
    }
    let (pointer, number) = (Type::pointer(module, 0), Type::integer(module, 64));
    let word = Type::integer(module, 32);
    let shadow = Value::add_global(module, "", number, 0);
    shadow.set_initializer(Some(number.zero()));
    shadow.set_linkage(Linkage::LLVMInternalLinkage);
    shadow.set_name(&format!("{}.texture", structure.name()));
    let parameters = [pointer, pointer, pointer, pointer, word, number, word, word];
    let register = llvm::declare(
        module,
        "__cudaRegisterVar",
        Type::function(Type::void(module), &parameters),
    );
    let before = Builder::before(call);
    before.store(shadow, structure);
    before.call_function(
        register,
        &[
            handle,
            shadow,
            name,
            same_name,
            word.zero(),
            number.constant(8),
            word.zero(),
            word.zero(),
        ],
    );
    call.erase();
}

/// Whether other units may have something else of the name.
fn is_local(variable: Value) -> bool {
    use crate::llvm::Linkage::{LLVMInternalLinkage, LLVMPrivateLinkage};
    matches!(variable.linkage(), LLVMInternalLinkage | LLVMPrivateLinkage)
}

/// The name of a unit's own reference among all units whose device code is linked.
fn local_name(name: &str, unit: &str) -> String {
    format!("{name}__static__{unit}")
}
