//! What is made by several compilations: programs, libraries, device links, and measurements of variants.

pub(super) mod ptx_module;
pub(super) mod device_code;
pub(super) mod link;
pub(super) mod measure;
pub(super) mod reference;
