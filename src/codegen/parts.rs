//! Images of fused kernels, several of which are made at the same time.
//!
//! Invariant: every kernel is in one of them, with all that it calls.

use super::CodegenError;
use super::device;
use super::fuse::Part;
use super::images::Workbench;
use super::ir::Value;
use super::pending::{DeviceCode, PendingImage};
use inkwell::module::Module;
use std::collections::BTreeSet;

/// An image of kernels that a plan asks for.
pub(super) struct KernelImage {
    pub(super) image: PendingImage,
    /// What its kernels are for.
    pub(super) part: Part,
    /// Their names.
    pub(super) kernels: BTreeSet<String>,
}

/// So many kernels become one image: where one of a program's kernels changes, all of its image are made again.
const MOST_KERNELS: usize = 8;

/// Begins with the images of a module's kernels.
///
/// # Errors
/// As [`PendingImage::begin`].
pub(super) fn begin_images(
    module: &Module<'_>,
    part: Part,
    bench: &Workbench<'_>,
) -> Result<Vec<KernelImage>, CodegenError> {
    let name = match part {
        Part::Groups => "fused",
        Part::Waves => "waves",
    };
    let kernels = device::kernels(module);
    let names: Vec<String> = kernels.iter().map(|kernel| kernel.name()).collect();
    // Users look for one file.
    let stays_whole = bench.keeps() || kernels.iter().any(|kernel| kernel.has_uses());
    let most = match stays_whole || has_memory_in_common(module) {
        true => names.len(),
        false => MOST_KERNELS,
    };
    let mut images = Vec::new();
    for kernels in names.chunks(most.max(1)) {
        let module = module.clone();
        let kernels: BTreeSet<String> = kernels.iter().cloned().collect();
        let others = device::kernels(&module).into_iter();
        let others: Vec<Value> = others
            .filter(|kernel| !kernels.contains(&kernel.name()))
            .collect();
        if !others.is_empty() {
            others.into_iter().for_each(Value::delete_function);
            // What only those call would be optimised with each part.
            device::keep_to_module(&module, false);
            let machine = device::machine_of(bench.build().oldest_target())?;
            device::run_passes(&module, "globaldce", &machine)?;
        }
        // Kernels that differ between architectures are in no group.
        let code = DeviceCode::for_all(module);
        let image = PendingImage::begin(&code, &[], bench, (name, name))?;
        images.push(KernelImage {
            image,
            part,
            kernels,
        });
    }
    Ok(images)
}

const SHARED_ADDRESS_SPACE: u32 = 3;

/// Whether a module has memory of its own that all blocks see and may write.
fn has_memory_in_common(module: &Module<'_>) -> bool {
    let mut globals = Value::globals(module).into_iter();
    globals.any(|global| {
        let is_shared = global.ty().address_space() == SHARED_ADDRESS_SPACE;
        !global.is_declaration() && !global.is_constant_global() && !is_shared
    })
}
