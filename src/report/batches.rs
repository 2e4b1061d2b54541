//! Batches in reports: what waits together, what orders it, and what an overwritten buffer costs.

use super::fold::fold;
use super::text::{list, name_at};
use super::{Report, ReportNodeKind, kind_name};
use crate::dependence::DependenceKind;
use crate::schedule::{BatchCount, BatchOrder, OrderingEdge};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A part of the host program whose launches wait, so that those of one batch with equal code become one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportBatchedRegion {
    /// What waits, in host order.
    pub statements: Vec<ReportWaitingStatement>,
    /// The launches wait for nothing but to be issued as graphs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_graphs: bool,
    /// So many host loops are around this part; an iteration of the innermost of them is one run of it.
    pub outside_loops: usize,
    /// So many host loops are in it, one in another.
    pub inside_loops: usize,
    /// What comes of it.
    pub count: ReportBatchCount,
    /// What orders the launches.
    pub ordered_by: Vec<ReportOrder>,
    /// Buffers that are renamed: what launches replace of them has other memory while it is needed.
    #[serde(default)]
    pub renamed: Vec<String>,
    /// Buffers that cost launches by being overwritten.
    pub overwritten: Vec<ReportOverwritten>,
}

/// A launch or a fusion that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportWaitingStatement {
    /// Ids of the launches that it is.
    pub members: Vec<usize>,
    /// The number of its batch, from 1 on; `None` where the program finds it when it runs.
    pub batch: Option<usize>,
    /// Each run of it waits for the one before.
    pub one_after_the_other: bool,
    /// Batches of its launches may be phases of one launch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_phases: bool,
    /// Why they may not, for people, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_phase: Option<String>,
}

/// What comes of a part's launches; each loop counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportBatchCount {
    /// The number of batches; `None` where the program finds them when it runs.
    pub batches: Option<usize>,
    /// Launches that are left.
    pub launches: usize,
    /// Statements whose runs come one after the other.
    pub one_after_the_other: usize,
}

/// A dependence that orders two launches of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportOrder {
    /// Id of the earlier launch.
    pub src: usize,
    /// Id of the later launch.
    pub dst: usize,
    /// The buffer, for people.
    pub buffer: String,
    /// Flow, anti or output.
    pub kind: DependenceKind,
    /// To a later iteration.
    pub carried: bool,
    /// It may be absent.
    pub maybe: bool,
    /// Who meets, where that is known.
    pub because: String,
}

/// Buffers that keep launches apart only because they are overwritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportOverwritten {
    /// Their names; several where only all of them together matter.
    pub buffers: Vec<String>,
    /// The anti and output edges on them.
    pub edges: Vec<ReportOrder>,
    /// Every launch that overwrites them is known to replace all bytes of a range and to read none of them.
    pub whole: bool,
    /// What would come of the part if each version of these buffers had a buffer of its own.
    pub without: ReportBatchCount,
}

impl Report {
    /// Adds what is known of the plan's batches.
    pub fn add_batched_regions(&mut self, orders: &[BatchOrder]) {
        self.batched_regions = orders.iter().map(region).collect();
    }
}

impl ReportBatchedRegion {
    /// Texts that name files.
    pub(super) fn explanations(&mut self) -> impl Iterator<Item = &mut String> {
        let overwritten = self.overwritten.iter_mut().flat_map(|each| &mut each.edges);
        let edges = self.ordered_by.iter_mut().chain(overwritten);
        edges.map(|edge| &mut edge.because)
    }
}

fn region(order: &BatchOrder) -> ReportBatchedRegion {
    let edges = |edges: &[OrderingEdge]| edges.iter().map(ordering).collect();
    ReportBatchedRegion {
        statements: order
            .statements
            .iter()
            .map(|statement| ReportWaitingStatement {
                members: statement.members.iter().map(|node| node.0).collect(),
                batch: statement.batch,
                one_after_the_other: statement.one_after_the_other,
                in_phases: statement.in_phases,
                no_phase: statement.no_phase.as_ref().map(|why| why.message.clone()),
            })
            .collect(),
        for_graphs: order.for_graphs,
        outside_loops: order.outside_loops,
        inside_loops: order.inside_loops,
        count: count(order.count),
        ordered_by: edges(&order.ordered_by),
        renamed: order.renamed.clone(),
        overwritten: order
            .overwritten
            .iter()
            .map(|overwritten| ReportOverwritten {
                buffers: overwritten.buffers.clone(),
                edges: edges(&overwritten.edges),
                whole: overwritten.whole,
                without: count(overwritten.without),
            })
            .collect(),
    }
}

fn count(count: BatchCount) -> ReportBatchCount {
    ReportBatchCount {
        batches: count.batches,
        launches: count.launches,
        one_after_the_other: count.serial,
    }
}

fn ordering(edge: &OrderingEdge) -> ReportOrder {
    ReportOrder {
        src: edge.source.0,
        dst: edge.sink.0,
        buffer: edge.buffer.clone(),
        kind: edge.kind,
        carried: edge.carried,
        maybe: edge.maybe,
        because: edge.explanation.clone(),
    }
}

/// `6 batches, 6 launches`, or `2 launches in each iteration`.
fn figures(region: &ReportBatchedRegion, count: ReportBatchCount) -> String {
    let plural = |number: usize, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    };
    let mut text = match count.batches {
        Some(batches) => format!("{}, ", plural(batches, "batch", "batches")),
        None => String::new(),
    };
    text.push_str(&plural(count.launches, "launch", "launches"));
    if region.inside_loops > 0 {
        text.push_str(" where each loop runs once");
    }
    if count.one_after_the_other > 0 {
        let _ = write!(
            text,
            ", {} of them one iteration after the other",
            count.one_after_the_other
        );
    }
    text
}

/// What is said of a part's batches, a line each; the first is a heading.
pub(super) fn lines(report: &Report, region: &ReportBatchedRegion) -> Vec<String> {
    let members = region.statements.iter().flat_map(|each| &each.members);
    let kinds: Vec<_> = members
        .filter_map(|id| report.nodes.get(*id))
        .map(|node| node.kind)
        .collect();
    let of_kind = |wanted, one: &str, many: &str| match kinds
        .iter()
        .filter(|kind| **kind == wanted)
        .count()
    {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let parts = [
        of_kind(ReportNodeKind::Launch, "launch", "launches"),
        of_kind(ReportNodeKind::Set, "set", "sets"),
        of_kind(ReportNodeKind::Copy, "copy", "copies"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let found = match (region.count.batches, region.inside_loops) {
        (Some(_), _) => String::new(),
        (None, 0) => String::from(", found when the program runs"),
        (None, 1) => String::from(" in a host loop, found when the program runs"),
        (None, loops) => format!(" in {loops} host loops, found when the program runs"),
    };
    let waiting = match kinds.len() {
        1 if region.for_graphs => format!("{} waits to be issued as a graph", list(&parts)),
        _ if region.for_graphs => format!("{} wait to be issued as graphs", list(&parts)),
        1 => format!("{} waits for its launch batch", list(&parts)),
        _ => format!("{} wait for their launch batches", list(&parts)),
    };
    let mut lines = vec![format!(
        "{waiting}{found}: {}",
        figures(region, region.count)
    )];
    let name = |id: &usize| report.nodes.get(*id).map_or("", |node| &node.name);
    let alike = |statement: &ReportWaitingStatement| {
        let names: Vec<_> = statement.members.iter().map(name).collect();
        (names, statement.one_after_the_other)
    };
    for statements in fold(&region.statements, alike) {
        let members: Vec<_> = statements[0]
            .members
            .iter()
            .map(|id| name_at(report, *id))
            .collect();
        let together = match members.len() {
            1 => "",
            _ => " as one",
        };
        let mut line = format!("{}{together}", list(&members));
        if statements[0].one_after_the_other {
            line.push_str(", one iteration after the other");
        }
        let batches: Vec<_> = statements.iter().filter_map(|each| each.batch).collect();
        if statements.len() > 1 {
            let _ = write!(line, ", and {} more like it", statements.len() - 1);
        }
        if let (Some(first), Some(last)) = (batches.iter().min(), batches.iter().max()) {
            let _ = match first == last {
                true => write!(line, ": batch {first}"),
                false => write!(line, ": batches {first} to {last}"),
            };
        }
        lines.push(line);
    }
    let alike = |edge: &ReportOrder| {
        let ends = [edge.src, edge.dst].map(|id| name(&id));
        (
            ends,
            kind_name(edge.kind),
            edge.carried,
            edge.maybe,
            edge.buffer.clone(),
        )
    };
    let folded = fold(&region.ordered_by, alike);
    for edges in folded.iter().take(MOST_ORDERS) {
        lines.push(format!("ordered by {}", order(report, edges)));
    }
    if folded.len() > MOST_ORDERS {
        let rest = folded.len() - MOST_ORDERS;
        lines.push(format!("and by {rest} more (--format=json lists all)"));
    }
    lines.extend(phases(region));
    if !region.renamed.is_empty() {
        let buffers: Vec<_> = region
            .renamed
            .iter()
            .map(|buffer| format!("`{buffer}`"))
            .collect();
        lines.push(format!(
            "renamed: what replaces {} gets other memory while launches wait for what was there",
            list(&buffers)
        ));
    }
    for overwritten in &region.overwritten {
        let buffers: Vec<_> = overwritten
            .buffers
            .iter()
            .map(|buffer| format!("`{buffer}`"))
            .collect();
        lines.push(format!(
            "overwriting {} costs launches: with a buffer of its own for each version, {} in place of {}",
            list(&buffers),
            figures(region, overwritten.without),
            figures(region, region.count)
        ));
        lines.push(String::from(match overwritten.whole {
            true => "  each launch that writes it replaces a whole range, so that nothing would have to be copied",
            false => "  it is not known that each launch that writes it replaces a whole range",
        }));
        let folded = fold(&overwritten.edges, alike);
        for edges in folded.iter().take(MOST_ORDERS) {
            let because = match edges[0].because.is_empty() {
                true => String::new(),
                false => format!(": {}", edges[0].because),
            };
            lines.push(format!("  {}{because}", order(report, edges)));
        }
    }
    lines
}

/// What is said of batches that are phases of one launch, and of those that are not.
fn phases(region: &ReportBatchedRegion) -> Vec<String> {
    let statements = &region.statements;
    let mut lines = Vec::new();
    if statements.iter().any(|each| each.in_phases) {
        let others = match statements.iter().all(|each| each.in_phases) {
            true => "",
            false => ", but for those of the launches below",
        };
        lines.push(format!(
            "batches that follow each other are one launch where the device has room, with a barrier across the grid between two of them{others}"
        ));
    }
    let whys: BTreeSet<&String> = statements
        .iter()
        .filter_map(|each| each.no_phase.as_ref())
        .collect();
    lines.extend(
        whys.into_iter()
            .map(|why| format!("a batch of its own: {why}")),
    );
    lines
}

/// Most kinds of edges that are listed.
const MOST_ORDERS: usize = 8;

/// ``anti on `h`, app.cu:31 `gemv` -> app.cu:32 `solve`, to a later iteration``.
fn order(report: &Report, edges: &[&ReportOrder]) -> String {
    let edge = edges[0];
    let [from, to] = [edge.src, edge.dst].map(|id| name_at(report, id));
    let mut text = format!(
        "{} on `{}`, {from} -> {to}",
        kind_name(edge.kind),
        edge.buffer
    );
    if edge.carried {
        text.push_str(", to a later iteration");
    }
    if edge.maybe {
        text.push_str(", not surely");
    }
    if edges.len() > 1 {
        let _ = write!(text, ", and {} more like it", edges.len() - 1);
    }
    text
}
