//! The runtime that CUDA programs link on the CPU device.
//!
//! Programs call the CUDA runtime's C functions ([`api`]); compiled kernels call the functions that
//! [`abi`] lists. A launch runs inside the call that issues it, its blocks spread over all cores, so
//! that every stream is in order by construction. What the runtime cannot do it names: an error of
//! CUDA's where CUDA has one, else one sentence and a non-zero status, never a silent guess.
//!
//! Invariants: a pointer that a program got from an allocation call is in the allocation table
//! ([`memory`]) until it is freed; a kernel runs only after its launch was found valid; code of a
//! kernel runs only between [`execution`]'s entry and exit, so that a fault is known to be a kernel's. A module uses
//! only those above it in the list below.

pub use sirius_abi as abi;

pub mod termination;
pub mod environment;
mod mapping;
mod source_lines;
pub mod sums;
pub mod handles;
pub mod error;
pub mod fat_binary;
pub mod compiler;
pub mod allocations;
pub mod output;
pub mod texture;
pub mod execution;
pub mod memory;
pub mod registry;
pub mod dense;
pub mod api;
pub mod library_calls;
pub mod cublas;
pub mod cufft;
pub mod curand;
pub mod cusparse;
pub mod cusolver;
pub mod nvml;
pub mod nvrtc;
