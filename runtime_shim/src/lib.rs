//! The runtime that CUDA programs link on the CPU device.
pub mod abi;
