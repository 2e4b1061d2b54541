//! Allocations that take no memory while only fused kernels run.

use super::Report;
use super::text::place;
use crate::launch::{BufferId, LaunchGraph, NodeKind};
use serde::{Deserialize, Serialize};

/// An allocation of which fused kernels need nothing but the address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportReservation {
    /// Id of the node that makes it.
    pub id: usize,
    /// Its name.
    pub buffer: String,
    /// Its size, where it is known.
    pub bytes: Option<i64>,
}

impl Report {
    /// Adds the allocations for which code generation takes addresses only.
    pub fn add_reservations(&mut self, graph: &LaunchGraph, buffers: &[BufferId]) {
        let made = graph.nodes.iter().filter_map(|node| match node.kind {
            NodeKind::Allocation { buffer } if buffers.contains(&buffer) => Some((node, buffer)),
            _ => None,
        });
        let reservations = made.map(|(node, buffer)| {
            let facts = &graph.buffers[buffer.0];
            ReportReservation {
                id: node.id.0,
                buffer: facts.name.clone(),
                bytes: facts.bytes.as_ref().and_then(|bytes| bytes.as_constant()),
            }
        });
        self.reservations = reservations.collect();
    }
}

impl ReportReservation {
    /// One sentence for people.
    pub(super) fn line(&self, report: &Report) -> String {
        let place = place(report, Some(&self.id));
        let bytes = match self.bytes {
            Some(bytes) => format!("its {bytes} bytes"),
            None => "its memory".to_owned(),
        };
        format!(
            "`{}` ({place}) is not allocated: only original launches need {bytes}",
            self.buffer
        )
    }
}
