//! Memory effects of kernels, summed over threads, blocks and the grid.

use crate::kernel::{Access, KernelModel};
use crate::launch::{LaunchGraph, NodeKind};
use crate::math::expression::Expression;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Display;

/// A kernel and what it does to memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportKernel {
    /// Mangled name.
    pub kernel: String,
    /// Name as the user wrote it.
    pub name: String,
    /// Why it is not known what it touches; the lists below may then lack something.
    pub opaque: Vec<String>,
    /// Why it fuses with nothing, by stable names.
    #[serde(flatten, with = "super::former::unfusable")]
    pub unfusable: Vec<String>,
    /// Per argument, variable and shared variable, reads before writes.
    pub effects: Vec<ReportEffect>,
}

/// What a kernel reads, or writes, of one target. An update does both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportEffect {
    /// `arg0`, `@variable`, `shared @variable`, `anywhere`, `shared anywhere`.
    pub target: String,
    /// Written, rather than read.
    pub writes: bool,
    /// Every byte told is touched, rather than may be.
    pub exact: bool,
    /// What a thread does, access by access, as a model writes them.
    pub thread: Vec<String>,
    /// What a block stays within.
    pub block: ReportBytes,
    /// What all accesses of the kernel to the target stay within, reads and writes; null for shared
    /// memory, which is each block's own.
    pub kernel: Option<ReportBytes>,
}

/// Bytes of a target, relative to its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportBytes {
    /// First byte; null when unbounded.
    pub low: Option<String>,
    /// One past the last byte; null when unbounded.
    pub high: Option<String>,
    /// The bytes themselves, in isl's notation, where they are known better than by the bounds.
    pub set: Option<String>,
}

/// The kernels that the graph launches, in the order of their ids.
pub(super) fn launched_kernels(graph: &LaunchGraph, kernels: &[KernelModel]) -> Vec<ReportKernel> {
    let launched: BTreeSet<usize> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some(launch.kernel?.0),
            _ => None,
        })
        .collect();
    let models = launched.into_iter().filter_map(|index| kernels.get(index));
    models.map(describe).collect()
}

fn describe(model: &KernelModel) -> ReportKernel {
    let effects = model.block_effects.iter().map(|effect| {
        let set = model.block_set(effect);
        let mut footprints = model.footprints.iter();
        let footprint = footprints.find(|footprint| footprint.target == effect.target);
        let accesses = effect.accesses.iter().map(|id| &model.accesses[id.0]);
        ReportEffect {
            target: effect.target.to_string(),
            writes: effect.writes,
            exact: set.as_ref().is_some_and(|set| set.exact),
            thread: accesses.map(Access::to_string).collect(),
            block: ReportBytes {
                low: text(&effect.low_bytes),
                high: text(&effect.high_bytes),
                set: set.and_then(|set| set.text()),
            },
            kernel: footprint.map(|footprint| ReportBytes {
                low: text(&footprint.low_bytes),
                high: text(&footprint.high_bytes),
                set: None,
            }),
        }
    });
    ReportKernel {
        kernel: model.name.clone(),
        name: model.display_name.clone(),
        opaque: model.opaque.iter().map(|(why, _)| why.clone()).collect(),
        unfusable: model
            .unfusable
            .iter()
            .map(|(why, _)| why.name().to_owned())
            .collect(),
        effects: effects.collect(),
    }
}

fn text<L: Display>(bound: &Option<Expression<L>>) -> Option<String> {
    bound.as_ref().map(Expression::to_string)
}
