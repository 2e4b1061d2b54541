//! Whether two accesses of two launches meet, as a question to isl.

pub(super) mod problem;
pub(super) mod instance;
pub(super) mod polynomial;
pub(super) mod lowered;
pub(super) mod contradiction;
pub(super) mod renaming;
pub(super) mod kinds;
pub(super) mod relation;
mod parameter_facts;
mod shared_rows;
pub(super) mod union;
pub(super) mod witness;
