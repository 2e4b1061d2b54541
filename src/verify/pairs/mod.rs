//! Two accesses: whether they may touch a common byte, and what follows from what is known.

pub(super) mod conflict;
pub(super) mod meeting;
pub(super) mod place;
pub(super) mod one_thread;
pub(super) mod emptiness;
pub(super) mod fixed;
pub(super) mod formula;
pub(super) mod polynomial;
pub(super) mod iterations;
pub(super) mod delinearised;
pub(super) mod products;
pub(super) mod tables;
pub(super) mod targets;
pub(super) mod reduction;
