//! What threads of a cooperative launch store and others of their block load in a later phase.

use super::Report;
use super::text::name_at;
use crate::codegen::HandedOn;
use crate::launch::{LaunchGraph, LaunchId, NodeKind};
use serde::{Deserialize, Serialize};

/// What a launch stores by one argument, and whether loads of later phases find it in shared memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportHandedOn {
    /// Id of the launch.
    pub launch: usize,
    /// The name of what it stores to; where several are possible or none is known, which argument it is.
    pub buffer: String,
    /// Loads that could find it in shared memory.
    pub loads: usize,
    /// Whether they do.
    pub kept: bool,
    /// Nanoseconds that a pass through the phases is estimated to take without that; left out where there is no shared memory for it, or the
    /// device does not hold all blocks anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<f64>,
    /// The same with it; left out where the device would not hold all blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<f64>,
}

impl Report {
    /// Adds what code generation says, by the launches that store.
    pub fn add_handed_on(&mut self, graph: &LaunchGraph, all: &[(LaunchId, HandedOn)]) {
        let told = all.iter().filter_map(|(id, handed_on)| {
            let mut nodes = graph.nodes.iter();
            let (node, launch) = nodes.find_map(|node| match &node.kind {
                NodeKind::Launch(launch) if launch.id == *id => Some((node.id.0, launch)),
                _ => None,
            })?;
            let passed = launch.arguments.get(handed_on.argument);
            let pieces = passed.map_or(&[][..], |passed| &passed.pieces);
            let known = pieces.iter().find_map(|piece| {
                let buffers = piece.pointer.as_ref()?.may_point_to.as_deref()?;
                match buffers {
                    [buffer] => Some(graph.buffers.get(buffer.0)?.name.clone()),
                    _ => None,
                }
            });
            let [without, with] = handed_on.picoseconds;
            let nanoseconds = |time: u64| time as f64 / 1e3;
            Some(ReportHandedOn {
                launch: node,
                buffer: known.unwrap_or_else(|| format!("argument {}", handed_on.argument + 1)),
                loads: handed_on.loads,
                kept: handed_on.is_kept,
                without: without.map(nanoseconds),
                with: with.map(nanoseconds),
            })
        });
        self.handed_on = told.collect();
    }
}

impl ReportHandedOn {
    /// One sentence for people.
    pub(super) fn line(&self, report: &Report) -> String {
        let loads = match self.loads {
            1 => "a load of a later phase".to_owned(),
            loads => format!("{loads} loads of later phases"),
        };
        let what = format!("`{}` of {}", self.buffer, name_at(report, self.launch));
        let [without, with] = [self.without, self.with].map(|time| time.map(|time| time / 1e3));
        match (without, with) {
            (Some(without), Some(with)) if self.kept => format!(
                "{what}: shared memory is where {loads} can find it; a pass through the phases takes {with:.3} μs so, {without:.3} without \
                 (estimated)"
            ),
            (Some(without), Some(with)) => format!(
                "{what}: global memory is where {loads} can find it; with shared memory a pass through the phases would take {with:.3} μs in \
                 place of {without:.3} (estimated)"
            ),
            (Some(_), None) => format!(
                "{what}: {loads} could find it in shared memory, but the device would not hold all blocks then"
            ),
            (None, _) => format!(
                "{what}: {loads} could find it in shared memory, but there is none left for that, or the device does not hold all blocks anyway"
            ),
        }
    }
}
