//! The report for people at a terminal.

use super::super::fold::{again, fold};
use super::super::rotation::member_name;
use super::super::{
    Report, ReportEdge, ReportFusion, ReportMissed, ReportNode, batches, kind_name, scope_name,
};
use super::super::{grid_barriers, overlaps, persistent};
use crate::schedule::resources::GroupOccupancy;
use std::fmt::Write;

/// What fuses under which tests, for each pair that stays unfused why, and where they are wanted the dependences.
pub fn render_text(report: &Report, dependences: bool) -> String {
    let mut text = match report.summary_line() {
        Some(line) => format!("{line}\n"),
        None => "sirius: nothing fuses\n".to_string(),
    };
    if let Some(executed) = &report.executed {
        let _ = writeln!(
            text,
            "executed: {} launches -> {}",
            executed.before, executed.after
        );
        if let Some(modelled) = &executed.modelled {
            let _ = writeln!(
                text,
                "estimated on {}: {:.1} μs -> {:.1} μs",
                modelled.device,
                modelled.before / 1e3,
                modelled.after / 1e3
            );
        }
    }
    let alike = |fusion: &ReportFusion| {
        let names: Vec<_> = fusion
            .members
            .iter()
            .map(|id| bare_name(report, *id))
            .collect();
        (names, said_of(fusion))
    };
    for fusions in fold(&report.fusions, alike) {
        let members: Vec<_> = fusions[0]
            .members
            .iter()
            .map(|id| member_name(report, fusions[0], *id, None))
            .collect();
        let _ = writeln!(
            text,
            "\n{} run as one (layout {})",
            list(&members),
            fusions[0].layout_and_others()
        );
        for barrier in &fusions[0].grid_barriers {
            let _ = writeln!(text, "  {}", grid_barriers::line(report, barrier));
        }
        if let Some(last) = &fusions[0].last_block {
            let _ = writeln!(text, "  {}", grid_barriers::last_block_line(report, last));
        }
        for line in fallback_lines(report, fusions[0]) {
            let _ = writeln!(text, "  {line}");
        }
        text.push_str(&said_of(fusions[0]));
        let first = |fusion: &&ReportFusion| place(report, fusion.members.first());
        let places: Vec<_> = fusions.iter().map(first).collect();
        if let Some(line) = again(&places) {
            let _ = writeln!(text, "  {line}");
        }
    }
    for region in &report.batched_regions {
        let lines = batches::lines(report, region);
        let _ = writeln!(text, "\n{}", lines.join("\n  "));
    }
    if !report.persistent_loops.is_empty() {
        text.push('\n');
    }
    for each in &report.persistent_loops {
        let _ = writeln!(text, "{}", persistent::line(report, each));
    }
    if !report.reservations.is_empty() {
        text.push('\n');
    }
    for reservation in &report.reservations {
        let _ = writeln!(text, "{}", reservation.line(report));
    }
    if !report.handed_on.is_empty() {
        text.push('\n');
    }
    for handed_on in &report.handed_on {
        let _ = writeln!(text, "{}", handed_on.line(report));
    }
    if let Some(overlaps) = &report.overlaps {
        let lines = overlaps::lines(report, overlaps);
        let _ = writeln!(text, "\n{}", lines.join("\n"));
    }
    if let Some(planning) = &report.planning {
        let _ = writeln!(text, "\n{}", planning.sentence());
    }
    if !report.missed.is_empty() {
        text.push('\n');
    }
    let alike = |missed: &ReportMissed| {
        let ends = [missed.src, missed.dst].map(|id| bare_name(report, id));
        let place = (missed.file.clone(), missed.line);
        (
            (ends, missed.carried),
            missed.message.clone(),
            missed.reason.clone(),
            stands_elsewhere(report, missed).then_some(place),
        )
    };
    for all in fold(&report.missed, alike) {
        let missed = all[0];
        let (source, sink) = (name_at(report, missed.src), name_at(report, missed.dst));
        let both = match (missed.carried, missed.src == missed.dst) {
            (false, _) => format!("{source} and {sink} stay unfused"),
            (true, true) => format!("{source} and itself in the next iteration stay unfused"),
            (true, false) => format!("{source} and {sink} of the next iteration stay unfused"),
        };
        let _ = writeln!(text, "{both}: {} [{}]", missed.message, missed.reason);
        if stands_elsewhere(report, missed) {
            let _ = writeln!(
                text,
                "  {}:{}: the obstacle stands here",
                missed.file, missed.line
            );
        }
        let ends = |missed: &&ReportMissed| pair(report, (missed.src, missed.dst));
        if let Some(line) = again(&all.iter().map(ends).collect::<Vec<_>>()) {
            let _ = writeln!(text, "  {line}");
        }
    }
    match report.edges.len() {
        0 => {}
        _ if dependences => write_edges(&mut text, report),
        1 => text.push_str("\n1 dependence (--dependences shows it)\n"),
        count => {
            let _ = writeln!(text, "\n{count} dependences (--dependences lists them)");
        }
    }
    if !report.stages.is_empty() {
        text.push('\n');
    }
    for stage in &report.stages {
        let _ = writeln!(text, "{:>10} {:8.3} s", stage.name, stage.seconds);
    }
    text
}

/// What is said of a fusion besides its members, a line each.
fn said_of(fusion: &ReportFusion) -> String {
    let mut text = String::new();
    if fusion.partial {
        let _ = writeln!(text, "  {PARTIAL}");
    }
    if !fusion.not_written.is_empty() {
        let _ = writeln!(
            text,
            "  without writing {}, which nobody reads afterwards",
            list(&fusion.not_written)
        );
    }
    for line in fusion.map_lines() {
        let _ = writeln!(text, "  {line}");
    }
    for line in &fusion.resources {
        let _ = writeln!(text, "  {}", resources(line));
    }
    if !fusion.guards.is_empty() {
        let _ = writeln!(text, "  if, at run time,");
    }
    for guard in &fusion.guards {
        let _ = writeln!(text, "    {} [{}]", guard.condition, guard.kind);
    }
    if fusion.also_without_last_block {
        let _ = writeln!(text, "  {ALSO_WITHOUT}");
    }
    text
}

/// What is said of launches that run as one where a launch of more is refused.
pub(in crate::report) fn fallback_lines(report: &Report, fusion: &ReportFusion) -> Vec<String> {
    let parts = fusion.fallback.iter().map(|part| {
        let members = part.members.iter().map(|id| name_at(report, *id));
        let members: Vec<String> = members.collect();
        let tested = match part.guards.len() {
            0 => String::new(),
            1 => String::from(", if one test of their own holds"),
            number => format!(", if {number} tests of their own hold"),
        };
        format!(
            "where that is refused, {} run as one{tested}",
            list(&members)
        )
    });
    parts.collect()
}

/// What is said of launches that fuse in front of one that the last block runs.
const ALSO_WITHOUT: &str = "where only what is tested for the last block does not hold, the launches before it run as one, and it follows as it is written";

/// What is said of members under conditions of their own.
pub(in crate::report) const PARTIAL: &str =
    "of these, those that the host comes to; one for which a test fails begins a launch of its own";

/// Whether what keeps two launches apart stands elsewhere than they do.
fn stands_elsewhere(report: &Report, missed: &ReportMissed) -> bool {
    let ends = [missed.src, missed.dst].map(|id| report.nodes.get(id));
    let mut ends = ends.iter().flatten();
    missed.line != 0 && !ends.any(|node| node.file == missed.file && node.line == missed.line)
}

/// `sm_80: 32 registers a thread, 0 bytes spilled, …`.
pub(in crate::report) fn resources(figures: &GroupOccupancy) -> String {
    let mut text = format!(
        "sm_{}: {} registers a thread, {} bytes spilled, {} bytes of static shared memory; {} of {} \
         warps at once with {} threads a block",
        figures.architecture,
        figures.fused.registers,
        figures.fused.spill_bytes(),
        figures.fused.shared_bytes,
        figures.warps,
        figures.most_warps,
        figures.threads_per_block
    );
    if let Some(least) = figures.least_member_warps {
        let _ = write!(text, ", at least {least} of each unfused");
    }
    text
}

/// Most dependences that are written out; the other forms have all.
const MOST_EDGES: usize = 200;

/// The dependences, each with what its scope relies on and two threads that show it.
fn write_edges(text: &mut String, report: &Report) {
    text.push_str("\ndependences\n");
    let alike = |edge: &ReportEdge| {
        let ends = [edge.src, edge.dst].map(|id| bare_name(report, id));
        let said = (qualities(edge), details(edge));
        (ends, kind_name(edge.kind), edge.buffer.clone(), said)
    };
    let folded = fold(&report.edges, alike);
    for edges in folded.iter().take(MOST_EDGES) {
        let edge = edges[0];
        let (source, sink) = (name_at(report, edge.src), name_at(report, edge.dst));
        let _ = writeln!(
            text,
            "  {source} -> {sink}: {} on `{}`, {}",
            kind_name(edge.kind),
            edge.buffer,
            qualities(edge)
        );
        for line in details(edge) {
            let _ = writeln!(text, "    {line}");
        }
        let ends = |edge: &&ReportEdge| pair(report, (edge.src, edge.dst));
        if let Some(line) = again(&edges.iter().map(ends).collect::<Vec<_>>()) {
            let _ = writeln!(text, "    {line}");
        }
    }
    let rest: usize = folded.iter().skip(MOST_EDGES).map(Vec::len).sum();
    if rest > 0 {
        let _ = writeln!(text, "  and {rest} more (--format=json lists all)");
    }
}

/// `thread scope`, `block scope, not exact`, ….
pub(in crate::report) fn qualities(edge: &ReportEdge) -> String {
    let mut text = format!("{} scope", scope_name(edge.scope));
    if !edge.exact {
        text.push_str(", not exact");
    }
    if edge.carried {
        text.push_str(", to a later iteration");
    }
    text
}

/// Why the scope is what it is, what it relies on and who shows it, a line each.
pub(in crate::report) fn details(edge: &ReportEdge) -> Vec<String> {
    let mut lines = Vec::new();
    if !edge.because.is_empty() {
        let reason = edge.reason.as_ref();
        let reason = reason.map_or_else(String::new, |reason| format!(" [{reason}]"));
        lines.push(format!("{}{reason}", edge.because));
    }
    lines.extend(edge.witness.as_ref().map(|witness| witness.text.clone()));
    if let Some(mapped) = &edge.mapped {
        let mut line = format!(
            "{} scope where ({}) of one is ({}) of the other",
            scope_name(mapped.scope),
            mapped.source.join(", "),
            mapped.sink.join(", ")
        );
        let many = mapped.source_blocks.max(mapped.sink_blocks);
        if many > 1 {
            let _ = write!(line, ", {many} blocks for one");
        }
        for guard in &mapped.guards {
            let _ = write!(line, "; if {} [{}]", guard.condition, guard.kind);
        }
        lines.push(line);
    }
    for guard in &edge.guards {
        lines.push(format!("if {} [{}]", guard.condition, guard.kind));
    }
    for guard in &edge.absent_if {
        lines.push(format!("unless {} [{}]", guard.condition, guard.kind));
    }
    lines
}

/// ``app.cu:31 `scale` ``.
pub(in crate::report) fn name_at(report: &Report, id: usize) -> String {
    match report.nodes.get(id) {
        Some(ReportNode { name, line: 0, .. }) => format!("`{name}`"),
        Some(ReportNode {
            name, file, line, ..
        }) => format!("{file}:{line} `{name}`"),
        None => format!("node {id}"),
    }
}

/// A node's name without its place.
fn bare_name(report: &Report, id: usize) -> &str {
    report.nodes.get(id).map_or("", |node| &node.name)
}

/// `app.cu:31`, or `node 7` where it is not known.
pub(in crate::report) fn place(report: &Report, id: Option<&usize>) -> String {
    let node = id.and_then(|id| report.nodes.get(*id));
    match node.filter(|node| node.line != 0) {
        Some(node) => format!("{}:{}", node.file, node.line),
        None => format!("node {}", id.copied().unwrap_or_default()),
    }
}

/// `app.cu:31 and 32`.
fn pair(report: &Report, (source, sink): (usize, usize)) -> String {
    let [from, to] = [source, sink].map(|id| place(report, Some(&id)));
    let line = |text: &str| {
        text.rsplit_once(':')
            .map(|(file, line)| (file.to_owned(), line.to_owned()))
    };
    match (line(&from), line(&to)) {
        (Some((file, _)), Some((other, line))) if file == other => format!("{from} and {line}"),
        _ => format!("{from} and {to}"),
    }
}

pub(in crate::report) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
