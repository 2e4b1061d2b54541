//! The binary interface between programs for the CPU device and the runtime that they link.
//!
//! The compiler writes these structures as LLVM IR, and the runtime reads them. Both take them from here:
//! fields by their names ([`layout`]), functions by their types ([`functions`]). So a side that differs does not
//! compile, or fails in each test that builds a program. A change here is a change of [`ABI_VERSION`].

mod context;
mod functions;
mod image;
mod layout;

pub use context::{BlockContext, Counters, Texel, ThreadContext, access};
pub use functions::{FUNCTIONS, Function};
pub use image::{
    ABI_VERSION, CLUSTER_SHIFT, CpuImage, CpuKernel, CpuVariable, FUSED_KERNEL, IMAGE_MAGIC,
    IN_STEP_SHIFT, MADE_KERNELS, flags,
};
pub use layout::{Field, Layout};
