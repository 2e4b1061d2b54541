//! Rows.
use super::Reductions;
use crate::tensor::mapping::Step;
use crate::tensor::program::Function;

/// How a kernel computes rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {}

/// Joins.
pub fn rows<'f>(_function: &'f Function, steps: Vec<Step<'f>>, _reductions: Reductions) -> Vec<Step<'f>> {
    steps
}
