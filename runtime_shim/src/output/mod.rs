//! What a run tells: output of kernels, traces, the contents of memory at the end.

pub mod memory_dump;
pub mod printf;
pub mod trace;
