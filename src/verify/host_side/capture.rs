//! Launches that are captured where somebody looks into the graph.
//!
//! Kernels that a graph has are the program's to count, change and compare, so that a launch which may
//! be among them is fused only behind a test that nothing is captured. Members have one stream, which
//! this presumes.

use super::super::{Refusal, Site};
use crate::dependence::Guard;
use crate::launch::LaunchGraph;

/// The first member that may be seen, where no guard asks.
pub(in crate::verify) fn refusal(
    graph: &LaunchGraph,
    guards: &[Guard],
    members: &[Site<'_>],
) -> Option<Refusal> {
    let asked = members.iter().any(|site| {
        let launch = site.launch.id;
        guards.contains(&Guard::NotCapturing { launch })
    });
    let mut seen = members.iter();
    let seen = seen.find(|site| graph.is_seen_in_capture(site.node, site.launch))?;
    let launch = seen.launch.id;
    (!asked).then_some(Refusal::CaptureUnchecked { launch })
}
