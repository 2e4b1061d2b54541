//! `__cluster_dims__`: the extents of the clusters of blocks that a kernel is compiled for.
//!
//! clang knows CUDA's attribute for AMD's devices only and would leave it out. The compatibility header makes it an
//! annotation on the device side, which clang keeps beside the module's functions. Invariant: afterwards the kernels
//! have the attribute by which LLVM's back end for PTX and the CPU device know the extents, and no annotation of ours
//! is left.

use crate::llvm::{Value, shorten_list};
use inkwell::module::Module;

/// Gives a device module's kernels their clusters.
pub(in crate::program) fn settle(device: &Module<'_>) {
    let globals = Value::globals(device);
    let list = globals.into_iter().find(|global| global.name() == LIST);
    let Some(list) = list else { return };
    let annotations = list.initializer().map(Value::operands).unwrap_or_default();
    for annotation in annotations {
        if let Some((kernel, extents)) = of_annotation(annotation)
            && kernel.is_function()
        {
            let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
            kernel.set_string_attribute(ATTRIBUTE, &extents.join(","));
        }
    }
    shorten_list(device, list, |annotation| !is_ours(annotation));
}

/// Where clang keeps annotations: each is what it is of, its text, a file, a line and its arguments.
const LIST: &str = "llvm.global.annotations";

/// The text of ours.
const TEXT: &str = "sirius.cluster_dims";

/// As LLVM has it: the extents on all three axes with commas between.
const ATTRIBUTE: &str = "nvvm.cluster_dim";

fn is_ours(annotation: Value) -> bool {
    let text = annotation
        .operands()
        .get(1)
        .and_then(|text| text.c_string());
    text.as_deref() == Some(TEXT)
}

/// The function that has an annotation of ours, and the extents; an axis that is not named has one block.
fn of_annotation(annotation: Value) -> Option<(Value, [i64; 3])> {
    let parts = annotation.operands();
    if !is_ours(annotation) {
        return None;
    }
    let arguments = parts.get(4)?.initializer()?;
    let mut extents = [1; 3];
    for (extent, argument) in extents.iter_mut().zip(arguments.operands()) {
        *extent = argument.signed_integer()?;
    }
    Some((*parts.first()?, extents))
}
