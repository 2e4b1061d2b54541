//! The host module under a plan: launches moved, guarded and called.

pub(super) mod host;
pub(super) mod group;
pub(super) mod guard;
pub(super) mod frame;
pub(super) mod region;
pub(super) mod leaving;
pub(super) mod launch_call;
pub(super) mod overlap;
pub(super) mod expansion;
pub(super) mod awaited_copies;
pub(super) mod shared_functions;
pub(super) mod host_arithmetic;
pub(super) mod host_library;
pub(super) mod host_parts;
