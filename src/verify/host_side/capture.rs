//! Launches that are captured where somebody looks into the graph.
//!
//! Kernels that a graph has are the program's to count, change and compare, so that a launch which may
//! be among them is fused only behind a test that nothing is captured. Members have one stream, which
//! this presumes.

use super::super::{Refusal, Site};
use crate::dependence::Guard;
use crate::launch::LaunchGraph;

/// The first member that may be seen, where no guard asks; or one that becomes a node of a graph, where what is launched is
/// more than a kernel: it waits in the queue, keeps something from one launch to the next, or has attributes.
pub(in crate::verify) fn refusal(
    graph: &LaunchGraph,
    (guards, is_more_than_a_kernel): (&[Guard], bool),
    members: &[Site<'_>],
) -> Option<Refusal> {
    let asked = members.iter().any(|site| {
        let launch = site.launch.id;
        guards.contains(&Guard::NotCapturing { launch })
    });
    if is_more_than_a_kernel
        && let Some(node) = members.iter().find(|site| graph.becomes_node(site.node))
    {
        let launch = node.launch.id;
        return Some(Refusal::MoreThanNode { launch });
    }
    let mut seen = members.iter();
    let seen = seen.find(|site| graph.is_seen_in_capture(site.node, site.launch))?;
    let launch = seen.launch.id;
    (!asked).then_some(Refusal::CaptureUnchecked { launch })
}
