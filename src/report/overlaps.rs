//! Launches that begin before the one before them has ended, in reports.

use super::Report;
use super::text::{list, name_at};
use crate::kernel::{KernelModel, Target};
use crate::launch::{Launch, LaunchGraph, LaunchId, NodeKind};
use crate::schedule::{FusionPlan, Unoverlapped};
use serde::{Deserialize, Serialize};

/// What `--sirius-boundaries=overlap` made of the launches that stay apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportOverlaps {
    /// Why no launch overlaps at all, as a clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// Launches that begin early.
    pub launches: Vec<ReportOverlap>,
    /// Launches that begin in their turn, and why.
    pub in_turn: Vec<ReportInTurn>,
}

/// A launch that begins before the one before it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportOverlap {
    /// Its id.
    pub launch: usize,
    /// Behind which launches it does, where one of them was the last; behind anything else it begins in its turn.
    pub behind: Vec<usize>,
    /// What its kernel may load before it waits, by the names of allocations where they are known. Empty: it waits before
    /// it loads anything.
    pub before_wait: Vec<String>,
}

/// A launch that begins in its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportInTurn {
    /// Its id.
    pub launch: usize,
    /// Why, as a clause.
    pub why: String,
}

impl ReportOverlaps {
    /// Those of a plan.
    pub fn of(
        graph: &LaunchGraph,
        models: &[KernelModel],
        plan: &FusionPlan,
        (obstacle, in_turn): (Option<String>, &[Unoverlapped]),
    ) -> Self {
        let find = |id: LaunchId| {
            graph.nodes.iter().find_map(|node| match &node.kind {
                NodeKind::Launch(launch) if launch.id == id => Some((node.id.0, launch)),
                _ => None,
            })
        };
        let overlaps = plan.groups.iter().filter_map(|group| {
            let overlap = group.overlap.as_ref()?;
            let (node, launch) = find(group.members.first()?.launch)?;
            let behind = overlap.predecessors.iter();
            let behind: Vec<usize> = behind.filter_map(|id| Some(find(*id)?.0)).collect();
            let targets = overlap.untouched.iter();
            (!behind.is_empty()).then(|| ReportOverlap {
                launch: node,
                behind,
                before_wait: targets
                    .map(|target| name_of(graph, models, launch, target))
                    .collect(),
            })
        });
        let in_turn = in_turn.iter().filter_map(|each| {
            Some(ReportInTurn {
                launch: find(each.launch)?.0,
                why: each.why.clone(),
            })
        });
        Self {
            obstacle,
            launches: overlaps.collect(),
            in_turn: in_turn.collect(),
        }
    }
}

/// What a target is called: its allocation, else the parameter.
fn name_of(
    graph: &LaunchGraph,
    models: &[KernelModel],
    launch: &Launch,
    target: &Target,
) -> String {
    match target {
        Target::Argument {
            argument,
            offset_bytes,
        } => {
            let pointer = launch.pointer(*argument, *offset_bytes);
            let buffer = pointer.and_then(|pointer| pointer.root.buffer());
            let model = launch.kernel.and_then(|kernel| models.get(kernel.0));
            let formal = model.and_then(|model| model.formals.get(*argument));
            match (buffer, formal) {
                (Some(buffer), _) => graph.buffers[buffer.0].name.clone(),
                (None, Some(formal)) if !formal.name.is_empty() => formal.name.clone(),
                _ => format!("argument {argument}"),
            }
        }
        Target::Global(name) => crate::diagnostics::source_name(name),
        Target::Shared(_) | Target::Unknown | Target::UnknownShared => String::from("memory"),
    }
}

/// What is said of them, in lines.
pub(super) fn lines(report: &Report, overlaps: &ReportOverlaps) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(why) = &overlaps.obstacle {
        lines.push(format!(
            "no launch begins before the one before it has ended: {why}"
        ));
    }
    for each in &overlaps.launches {
        let behind: Vec<String> = each.behind.iter().map(|id| name_at(report, *id)).collect();
        let loads = match each.before_wait.as_slice() {
            [] => String::from("waits before it loads anything of the device's memory"),
            some => format!("may load {} before it waits", list(some)),
        };
        lines.push(format!(
            "{} begins before {} has ended, and {loads}",
            name_at(report, each.launch),
            behind.join(" or ")
        ));
    }
    for each in &overlaps.in_turn {
        let name = name_at(report, each.launch);
        lines.push(format!("{name} begins in its turn: {}", each.why));
    }
    lines
}
