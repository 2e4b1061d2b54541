//! Barriers, the intervals between them, and exchanges without any.

pub(super) mod intervals;
pub(super) mod exchange;
pub(super) mod rehearsal;
pub(super) mod emptiness;
pub(super) mod dependency_wait;
