//! Host code made ready: launches as calls, each where it is made.

pub(super) mod canonicalise_host;
pub(super) mod launches;
pub(super) mod handles;
pub(super) mod promotion;
pub(super) mod contexts;
pub(super) mod loops;
pub(super) mod block_copies;
pub(super) mod constant_copies;
pub(super) mod closed;
pub(super) mod runtime_effects;
pub(super) mod streams;
pub(super) mod host_functions;
pub(super) mod registration_order;
pub(super) mod host_arrays;

pub(super) use launches::{graph_nodes, graph_updates};

pub(super) use loops::{allocation_loops, loop_ends, rotation};
