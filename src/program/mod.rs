//! Sources -> [`Program`]: host and device LLVM modules of all translation units, canonicalised.
//!
//! Invariants after this stage:
//! * Every floating-point contraction and fast-math decision has been taken, in each original
//!   kernel by itself: no instruction of a device module carries a fast-math flag.
//! * Every launch in [`Program::host`] whose kernel is known is one call, *by value*, of a function
//!   `sirius.launch.N`: `i32 (i32 site, ptr stub, i64 grid_xy, i32 grid_z, i64 block_xy,
//!   i32 block_z, i64 shared_bytes, ptr stream, …kernel arguments)`, packed like `dim3` (x in the
//!   low, y in the high half). An argument is passed with the type of the slot that the stub
//!   stored it to; structs passed in memory are `ptr byval(T)`. `site` is a constant, unique in
//!   the module: the [`crate::launch::LaunchId`]. Code generation turns these calls back.
//! * [`Program::analysis`] holds a canonical copy of every kernel, everything it calls inlined,
//!   loops simplified and not rotated, unrolled or vectorised.

use inkwell::context::Context;
use inkwell::module::Module;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Index of a kernel in [`Program::kernels`], and of its model in the list of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KernelId(pub usize);

/// All modules of a build; the sole owner of LLVM modules.
pub struct Program<'ctx> {
    /// Where everything lives.
    pub context: &'ctx Context,
    /// Host code of all units, linked into one module.
    pub host: Module<'ctx>,
    /// Device code by unit, as it is emitted for unfused launches.
    pub units: Vec<Unit<'ctx>>,
    /// The canonical copy of all kernels under [`Kernel::unique_name`], for analysis only.
    pub analysis: Module<'ctx>,
    /// All kernels of all units.
    pub kernels: Vec<Kernel>,
    /// All device variables of all units.
    pub variables: Vec<DeviceVariable>,
    /// Some host module calls an API that makes host-visible memory writable by kernels (managed,
    /// pinned, mapped, registered memory).
    pub host_visible_memory: bool,
}

/// The device side of one translation unit.
pub struct Unit<'ctx> {
    /// Its source, as on the command line.
    pub source: PathBuf,
    /// Its device module, numerics decided, otherwise as clang made it.
    pub device: Module<'ctx>,
    /// The name in [`Program::host`] of the global that holds this unit's device image (the dummy
    /// that clang embedded; code generation replaces it).
    pub image_global: String,
}

/// A `__global__` function.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its id: the index in [`Program::kernels`].
    pub id: KernelId,
    /// Name in its unit's device module (mangled).
    pub name: String,
    /// Name in [`Program::analysis`]: `name`, with a suffix where two units have the same.
    pub unique_name: String,
    /// The host symbol that launches name: the stub in [`Program::host`].
    pub stub: String,
    /// Index into [`Program::units`].
    pub unit: usize,
}

/// A `__device__`, `__constant__` or `__managed__` variable.
#[derive(Clone, Debug)]
pub struct DeviceVariable {
    /// Name in its unit's device module.
    pub name: String,
    /// Name in [`Program::analysis`].
    pub unique_name: String,
    /// The host shadow in [`Program::host`].
    pub shadow: String,
    /// Index into [`Program::units`].
    pub unit: usize,
    /// Size.
    pub bytes: u64,
    /// `__constant__`.
    pub constant: bool,
    /// `__managed__`.
    pub managed: bool,
}
