//! Problems as text.
//!
//! Invariant: a problem that was read is one that every planner can take: edges lead from earlier nodes to later ones,
//! and patterns ascend and name nodes that there are.

use super::FusionProblem;
use thiserror::Error;

/// Of the form of problems.
pub const VERSION: u32 = 1;

/// Why a text is no problem.
#[derive(Debug, Error)]
pub enum ProblemError {
    /// It is no JSON, or has other fields.
    #[error("the problem is not well-formed: {0}")]
    Form(#[from] serde_json::Error),
    /// Of another version.
    #[error("the problem has version {0}, and this program reads version {VERSION}")]
    Version(u32),
    /// An edge that leads nowhere, or back.
    #[error("edge {source_node} -> {sink_node} does not lead from a node to a later one")]
    Edge {
        /// Where it begins.
        source_node: usize,
        /// Where it ends.
        sink_node: usize,
    },
    /// A pattern that is none.
    #[error("pattern {0:?} does not name nodes of the problem in ascending order")]
    Pattern(Vec<usize>),
    /// A figure that is none.
    #[error("node {0} has a figure that is negative or no number")]
    Figure(usize),
}

/// Reads a problem.
///
/// # Errors
/// See [`ProblemError`].
pub fn read(text: &str) -> Result<FusionProblem, ProblemError> {
    let problem: FusionProblem = serde_json::from_str(text)?;
    check(&problem)?;
    Ok(problem)
}

/// Writes a problem.
pub fn write(problem: &FusionProblem) -> String {
    // Plain data of numbers and names.
    let mut text = serde_json::to_string_pretty(problem).unwrap_or_default();
    text.push('\n');
    text
}

fn check(problem: &FusionProblem) -> Result<(), ProblemError> {
    if problem.version != VERSION {
        return Err(ProblemError::Version(problem.version));
    }
    let count = problem.nodes.len();
    for (index, node) in problem.nodes.iter().enumerate() {
        let figures = [node.work, node.bytes, node.block_nanoseconds];
        let mut figures = figures.into_iter().chain(node.nanoseconds);
        if figures.any(|figure| !figure.is_finite() || figure < 0.0) {
            return Err(ProblemError::Figure(index));
        }
    }
    let leads_back = |edge: &&super::Edge| edge.source >= edge.sink || edge.sink >= count;
    if let Some(edge) = problem.edges.iter().find(leads_back) {
        return Err(ProblemError::Edge {
            source_node: edge.source,
            sink_node: edge.sink,
        });
    }
    let answered = problem.answers.iter().map(|answer| &answer.pattern);
    let mut patterns = answered.chain(problem.greedy.iter().flatten());
    let is_strange = |pattern: &&Vec<usize>| {
        let ascends = pattern.windows(2).all(|pair| pair[0] < pair[1]);
        !ascends || pattern.last().is_none_or(|last| *last >= count)
    };
    match patterns.find(is_strange) {
        Some(pattern) => Err(ProblemError::Pattern(pattern.clone())),
        None => Ok(()),
    }
}
