//! Values as affine expressions, and the bounds of what is not affine.

pub(super) mod walk;
pub(super) mod space;
pub(super) mod polynomial;
pub(super) mod ranges;
pub(super) mod bounded;
pub(super) mod bitwise;
pub(super) mod choices;
pub(super) mod alternation;
pub(super) mod induction;
pub(super) mod exit_values;
