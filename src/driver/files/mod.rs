//! What a build reads and leaves.

pub(super) mod standard_input;
pub(super) mod tensor_sources;
pub(super) mod ptx_module;
pub(super) mod preprocess;
pub(super) mod outputs;
pub(super) mod artifacts;
pub(super) mod link_cache;
pub(super) mod answers;
pub(super) mod keep;
pub(super) mod save;
