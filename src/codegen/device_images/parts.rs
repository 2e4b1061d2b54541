//! Images of fused kernels, several of which are made at the same time.
//!
//! Invariant: every kernel is in one of them, with all that it calls.

use super::super::CodegenError;
use super::super::device;
use super::super::fuse::Part;
use super::super::images::Workbench;
use super::super::pending::{DeviceCode, PendingImage};
use crate::llvm::Value;
use inkwell::module::Module;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// An image of kernels that a plan asks for.
pub(in crate::codegen) struct KernelImage {
    pub(in crate::codegen) image: PendingImage,
    /// What its kernels are for.
    pub(in crate::codegen) part: Part,
    /// Their names.
    pub(in crate::codegen) kernels: BTreeSet<String>,
}

/// At most so many kernels become one image: where one of a program's kernels changes, all of its image are made again.
const MOST_KERNELS: usize = 16;

/// One in so many kernels is the last of its image, which its name alone decides: where a kernel comes or goes, the images
/// before and behind its own stay as they were.
const ONE_IN: u64 = 8;

/// Begins with the images of a module's kernels.
///
/// # Errors
/// As [`PendingImage::begin`].
pub(in crate::codegen) fn begin_images(
    module: &Module<'_>,
    part: Part,
    bench: &Workbench<'_>,
) -> Result<Vec<KernelImage>, CodegenError> {
    let name = match part {
        Part::Groups => "fused",
        Part::Batches => "batches",
    };
    let kernels = device::kernels(module);
    let names: Vec<String> = kernels.iter().map(|kernel| kernel.name()).collect();
    // Users look for one file.
    let stays_whole = bench.keeps() || kernels.iter().any(|kernel| kernel.has_uses());
    let parts = match stays_whole || has_memory_in_common(module) {
        true if names.is_empty() => Vec::new(),
        true => vec![names.as_slice()],
        false => parts(&names),
    };
    let mut images = Vec::new();
    for kernels in parts {
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

/// The kernels of each image.
fn parts(names: &[String]) -> Vec<&[String]> {
    let is_last = |name: &String| {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        hasher.finish().is_multiple_of(ONE_IN)
    };
    let parts = names.split_inclusive(is_last);
    parts.flat_map(|part| part.chunks(MOST_KERNELS)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_more_changes_one_image() {
        let names: Vec<String> = (0..200).map(|number| format!("kernel{number}")).collect();
        let before = parts(&names);
        assert_eq!(before.concat(), names);
        assert!(before.len() > 12, "{}", before.len());
        assert!(before.iter().all(|part| part.len() <= MOST_KERNELS));
        let mut more = names.clone();
        more.insert(100, "another".into());
        let after = parts(&more);
        let new = after.iter().filter(|part| !before.contains(part));
        // A part that is full is cut in two.
        assert!((1..=2).contains(&new.count()), "{after:?}");
    }
}
