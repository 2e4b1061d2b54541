//! Plans, missed pairs and refusals as text, launches by the names that a scene gives them.

use super::program::Text;
use sirius_rs::dependence::{Guard, PointerRange};
use sirius_rs::launch::{LaunchId, NodeId, NodeKind, Operand, ValueId};
use sirius_rs::math::expression::Expression;
use sirius_rs::schedule::{FusionGroup, FusionPlan, Missed, ThreadMap};
use sirius_rs::verify::Refusal;
use std::fmt::Write;

/// A line for each group and each of its guards, and for each pair that stays apart.
pub fn plan(text: &Text, plan: &FusionPlan, missed: &[Missed]) -> String {
    let mut lines = String::new();
    for group in &plan.groups {
        let _ = writeln!(lines, "group {}", members(text, group));
        for each in group.guards.iter().filter(|guard| guard.may_fail()) {
            let _ = writeln!(lines, "  requires {}", guard(text, each));
        }
    }
    for each in missed {
        let [source, sink] = [each.source, each.sink].map(|node| launch_at(text, node));
        let carried = if each.carried {
            " of the next iteration"
        } else {
            ""
        };
        let rejection = &each.rejection;
        let _ = writeln!(
            lines,
            "apart {source}, {sink}{carried}: {:?}: {}",
            rejection.reason, rejection.message
        );
    }
    if lines.is_empty() {
        "nothing is fused".to_owned()
    } else {
        lines
    }
}

/// A line for each reason: its kind, and its sentence.
pub fn refusals(refusals: &[Refusal]) -> String {
    let lines = refusals.iter().map(|refusal| {
        let debug = format!("{refusal:?}");
        let kind = debug.split([' ', '{']).next().unwrap_or_default();
        format!("refused: {kind}: {refusal}\n")
    });
    lines.collect()
}

fn members(text: &Text, group: &FusionGroup) -> String {
    let mut line = String::new();
    for (at, member) in group.members.iter().enumerate() {
        let separator = match (at, member.barrier_before) {
            (0, _) => "",
            _ if group.grid_barriers.contains(&at) => " || ",
            (_, true) => " | ",
            (_, false) => ", ",
        };
        let map = format!("{:?}", member.map);
        let map = match &member.map {
            ThreadMap::Identity => String::new(),
            _ => format!(" ({})", map.split([' ', '{']).next().unwrap_or_default()),
        };
        let _ = write!(line, "{separator}{}{map}", label(text, member.launch));
    }
    line
}

fn guard(text: &Text, guard: &Guard) -> String {
    match guard {
        Guard::Holds { class, condition } => {
            let named =
                condition.substitute(&mut |value| Some(Expression::Leaf(value_name(text, *value))));
            format!(
                "{class}: {}",
                named.map_or_else(String::new, |named| named.to_string())
            )
        }
        Guard::RangesDisjoint { left, right } => {
            format!("disjoint {}, {}", range(text, left), range(text, right))
        }
        Guard::SameOrDisjoint { left, right } => {
            format!(
                "same_or_disjoint {}, {}",
                range(text, left),
                range(text, right)
            )
        }
        Guard::ConfigurationValid { launch } => format!("valid {}", label(text, *launch)),
        Guard::DeviceMemory { launch, operand } => {
            format!("device_memory {}", argument(text, *launch, *operand))
        }
        Guard::NotCapturing { launch } => format!("no_capture {}", label(text, *launch)),
        Guard::SameStream { first, second } => {
            format!(
                "one_stream {}, {}",
                label(text, *first),
                label(text, *second)
            )
        }
        Guard::Resident { rounds } => format!("resident {rounds}"),
    }
}

fn range(text: &Text, range: &PointerRange) -> String {
    argument(text, range.launch, range.operand)
}

fn argument(text: &Text, launch: LaunchId, operand: Operand) -> String {
    let label = label(text, launch);
    match operand {
        Operand::Argument { argument, .. } => format!("{label}[{argument}]"),
        other => format!("{label} {other:?}"),
    }
}

/// What the text calls a value, or which extent of which launch it is.
fn value_name(text: &Text, value: ValueId) -> String {
    if let Some(name) = text.values.get(&value) {
        return name.clone();
    }
    let (launch, operand) = text.scene.graph.values[value.0].holder;
    format!("{} {operand:?}", label(text, launch))
}

fn label(text: &Text, launch: LaunchId) -> String {
    let label = text.labels.get(&launch);
    label
        .cloned()
        .unwrap_or_else(|| format!("launch {}", launch.0))
}

fn launch_at(text: &Text, node: NodeId) -> String {
    match &text.scene.graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => label(text, launch.id),
        _ => format!("node {}", node.0),
    }
}
