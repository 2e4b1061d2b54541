//! sirius-rs compiles CUDA programs with nvcc's command line and fuses their kernels.

pub mod affine;
pub mod cli;
pub mod codegen;
pub mod dependence;
pub mod diagnostics;
pub mod expression;
pub mod isl;
pub mod kernel;
pub mod launch;
pub mod pipeline;
pub mod program;
pub mod report;
pub mod schedule;
pub mod verify;
