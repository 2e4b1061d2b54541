//! Mathematics that knows no program: values and subscripts as data, sets and relations of integers, graphs with an entry.

pub mod affine;
pub mod expression;
pub mod flow;
pub mod formula;
pub mod isl;
