//! A kernel as plain data, and what its instructions do.

pub(super) mod body;
pub(super) mod read;
pub(super) mod cfg;
pub(super) mod features;
pub(super) mod assembly;
pub mod ptx;
pub(super) mod tensor;
