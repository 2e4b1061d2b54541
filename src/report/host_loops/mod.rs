//! Host loops that run inside kernels or were rewritten, in reports.

pub(super) mod persistent;
pub(super) mod rotation;
