//! The learned order of [`priority`](super::priority): a small graph network gives each operator one of
//! [`LEVELS`] levels.
//!
//! # Network
//! Zhou et al. (Transferable Graph Optimizers for ML Compilers, §3) learn how operators are fused with neighbour
//! aggregation, attention over all nodes, and a level of priority for each node. This network has the same parts, small enough to be a text in
//! the repository ([`parameters`]). With relu(x) = max(x, 0), H the [`WIDTH`] of a node's state, X the
//! [`mod@features`] of nodes, one row each, and F those of edges:
//!
//! 1. h = relu(X·W + b).
//! 2. [`LAYERS`] times: along each edge from u to v goes relu(h_u·M + f·E + c) to v, and with matrices of its own
//!    relu(h_v·M' + f·E' + c') to u. A node takes the means of what comes along its edges from both sides:
//!    h ← h + relu([h, mean of sources, mean of sinks]·U + d).
//! 3. Attention, so that a node knows of those far away: h ← h + softmax(h·Q·(h·K)ᵀ/√H)·h·V·O.
//! 4. The logits of levels are relu(h·P + p)·R + r.
//!
//! Training is a program of its own (`trainer/`); inference is this module, without a library of tensors.
//!
//! Invariants: features follow from figures and edges of a problem alone, never from names; the file of a policy names the version
//! of its features, and one of another version is refused; the same problem and policy give the same logits.

mod features;
mod inference;

pub use features::{EDGE_FEATURES, EdgeFeatures, Features, NODE_FEATURES, features};
pub use inference::{logits, probabilities};

use super::priority::LEVELS;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use thiserror::Error;

/// Numbers of a node's state.
pub const WIDTH: usize = 24;
/// Rounds of neighbour aggregation.
pub const LAYERS: usize = 3;
/// Of the form of policy files.
pub const VERSION: u32 = 1;
/// Of what [`mod@features`] says: another order, scale or meaning of a feature is another version.
pub const FEATURES_VERSION: u32 = 1;

/// One matrix of parameters; a row of them is a bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As policy files name it.
    pub name: String,
    /// Rows, each an input.
    pub rows: usize,
    /// Columns, each an output.
    pub columns: usize,
    /// Row by row.
    pub values: Vec<f64>,
}

// No value is other than a number.
impl Eq for Parameter {}

/// A trained network.
#[derive(Clone, PartialEq, Eq)]
pub struct Policy {
    /// In the order of [`parameters`].
    pub parameters: Vec<Parameter>,
}

/// Thousands of numbers tell nobody anything; what keys of caches are made from differs where they do.
impl fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hasher = DefaultHasher::new();
        for value in self.parameters.iter().flat_map(|own| &own.values) {
            value.to_bits().hash(&mut hasher);
        }
        write!(formatter, "Policy({:016x})", hasher.finish())
    }
}

/// Names and sizes of all parameters, rows first.
pub fn parameters() -> Vec<(String, usize, usize)> {
    let levels = usize::from(LEVELS);
    let mut all = vec![
        (String::from("input"), NODE_FEATURES, WIDTH),
        (String::from("input_bias"), 1, WIDTH),
    ];
    for layer in 0..LAYERS {
        for side in ["sources", "sinks"] {
            all.push((format!("{side}_{layer}"), WIDTH, WIDTH));
            all.push((format!("{side}_edge_{layer}"), EDGE_FEATURES, WIDTH));
            all.push((format!("{side}_bias_{layer}"), 1, WIDTH));
        }
        all.push((format!("update_{layer}"), 3 * WIDTH, WIDTH));
        all.push((format!("update_bias_{layer}"), 1, WIDTH));
    }
    for name in ["query", "key", "value", "attended"] {
        all.push((String::from(name), WIDTH, WIDTH));
    }
    all.push((String::from("head"), WIDTH, WIDTH));
    all.push((String::from("head_bias"), 1, WIDTH));
    all.push((String::from("levels"), WIDTH, levels));
    all.push((String::from("levels_bias"), 1, levels));
    all
}

/// Why a text is no policy.
#[derive(Debug, Error)]
pub enum PolicyError {
    /// It is no JSON, or has other fields.
    #[error("the policy is not well-formed: {0}")]
    Form(#[from] serde_json::Error),
    /// Of another version.
    #[error("the policy has version {0}, and this program reads version {VERSION}")]
    Version(u32),
    /// Trained on other features.
    #[error(
        "the policy was trained on version {0} of the features, and this program has version {FEATURES_VERSION}; \
         train it anew with 'sirius-rs train'"
    )]
    Features(u32),
    /// Parameters of another network.
    #[error("the policy has no parameter '{name}' of {rows} rows and {columns} columns")]
    Parameter {
        /// Its name.
        name: String,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// A parameter that is none.
    #[error("the policy's parameter '{0}' has a value that is no number")]
    Value(String),
}

/// A policy as text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    features: u32,
    parameters: Vec<WrittenParameter>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenParameter {
    name: String,
    rows: Vec<Vec<f64>>,
}

/// The policy that comes with the compiler.
///
/// # Errors
/// See [`PolicyError`]; none, unless features were changed and no policy was trained since.
pub fn shipped() -> Result<Policy, PolicyError> {
    read(include_str!("shipped.json"))
}

/// Reads a policy.
///
/// # Errors
/// See [`PolicyError`].
pub fn read(text: &str) -> Result<Policy, PolicyError> {
    let written: Written = serde_json::from_str(text)?;
    if written.version != VERSION {
        return Err(PolicyError::Version(written.version));
    }
    if written.features != FEATURES_VERSION {
        return Err(PolicyError::Features(written.features));
    }
    let expected = parameters();
    let mut given = written.parameters.into_iter();
    let mut all = Vec::new();
    for (name, rows, columns) in expected {
        let fits = |own: &WrittenParameter| {
            own.name == name
                && own.rows.len() == rows
                && own.rows.iter().all(|row| row.len() == columns)
        };
        let Some(own) = given.next().filter(fits) else {
            return Err(PolicyError::Parameter {
                name,
                rows,
                columns,
            });
        };
        let values = own.rows.concat();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(PolicyError::Value(name));
        }
        all.push(Parameter {
            name,
            rows,
            columns,
            values,
        });
    }
    Ok(Policy { parameters: all })
}

/// Writes a policy, each value with as many digits as it was kept with.
pub fn write(policy: &Policy) -> String {
    let mut text =
        format!("{{\"version\":{VERSION},\"features\":{FEATURES_VERSION},\"parameters\":[\n");
    for (at, parameter) in policy.parameters.iter().enumerate() {
        let rows: Vec<String> = parameter
            .values
            .chunks(parameter.columns)
            .map(|row| {
                let row: Vec<String> = row.iter().map(ToString::to_string).collect();
                format!("[{}]", row.join(","))
            })
            .collect();
        let end = if at + 1 == policy.parameters.len() {
            ""
        } else {
            ","
        };
        text.push_str(&format!(
            "{{\"name\":\"{}\",\"rows\":[\n{}]}}{end}\n",
            parameter.name,
            rows.join(",\n")
        ));
    }
    text.push_str("]}\n");
    text
}

impl Policy {
    /// A policy of these values of all [`parameters`], one after the other.
    ///
    /// # Panics
    /// Where there are too few values.
    pub fn of_values(values: &[f64]) -> Self {
        let mut at = 0;
        let all = parameters().into_iter().map(|(name, rows, columns)| {
            let own = values[at..at + rows * columns].to_vec();
            at += own.len();
            Parameter {
                name,
                rows,
                columns,
                values: own,
            }
        });
        Self {
            parameters: all.collect(),
        }
    }

    /// The same with values that have four significant digits, so that its text is short.
    pub fn rounded(mut self) -> Self {
        for value in self.parameters.iter_mut().flat_map(|own| &mut own.values) {
            *value = format!("{value:.3e}").parse().unwrap_or(*value);
        }
        self
    }
}
