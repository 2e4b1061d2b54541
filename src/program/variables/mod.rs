//! Variables of both sides, and names.

pub(super) mod names;
pub(super) mod managed;
pub(super) mod mappings;
pub(super) mod read_only;
pub(super) mod kept_variables;
pub(super) mod texture_references;
