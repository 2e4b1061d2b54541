//! The report for people at a terminal.

use super::{Report, ReportEdge, ReportNode, kind_name, width_name};
use crate::schedule::resources::GroupOccupancy;
use std::fmt::Write;

/// What fuses under which tests, for each pair that stays apart why, and the dependences.
pub fn render_text(report: &Report) -> String {
    let mut text = match report.summary_line() {
        Some(line) => format!("{line}\n"),
        None => "sirius: nothing fuses\n".to_string(),
    };
    for fusion in &report.fusions {
        let members: Vec<_> = fusion
            .members
            .iter()
            .map(|id| name_at(report, *id))
            .collect();
        let _ = writeln!(
            text,
            "\n{} run as one (orientation {})",
            list(&members),
            fusion.orientation_and_others()
        );
        if !fusion.not_written.is_empty() {
            let _ = writeln!(
                text,
                "  without writing {}, which nobody reads afterwards",
                list(&fusion.not_written)
            );
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
    }
    if !report.missed.is_empty() {
        text.push('\n');
    }
    for missed in &report.missed {
        let (source, sink) = (name_at(report, missed.src), name_at(report, missed.dst));
        let _ = writeln!(
            text,
            "{source} and {sink} stay apart: {} [{}]",
            missed.message, missed.reason
        );
        let ends = [missed.src, missed.dst].map(|id| report.nodes.get(id));
        let told = ends
            .iter()
            .flatten()
            .any(|node| node.file == missed.file && node.line == missed.line);
        if missed.line != 0 && !told {
            let _ = writeln!(
                text,
                "  {}:{}: the obstacle stands here",
                missed.file, missed.line
            );
        }
    }
    write_edges(&mut text, report);
    if !report.stages.is_empty() {
        text.push('\n');
    }
    for stage in &report.stages {
        let _ = writeln!(text, "{:>10} {:8.3} s", stage.name, stage.seconds);
    }
    text
}

/// `sm_80: 32 registers a thread, 0 bytes spilled, …`.
pub(super) fn resources(figures: &GroupOccupancy) -> String {
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
        let _ = write!(text, ", at least {least} of each apart");
    }
    text
}

/// Most dependences that are written out; the other forms have all.
const MOST_EDGES: usize = 200;

/// The dependences, each with what its width relies on and two threads that show it.
fn write_edges(text: &mut String, report: &Report) {
    if !report.edges.is_empty() {
        text.push_str("\ndependences\n");
    }
    for edge in report.edges.iter().take(MOST_EDGES) {
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
    }
    if report.edges.len() > MOST_EDGES {
        let rest = report.edges.len() - MOST_EDGES;
        let _ = writeln!(text, "  and {rest} more (--format=json lists all)");
    }
}

/// `thread width`, `block width, not exact`, ….
pub(super) fn qualities(edge: &ReportEdge) -> String {
    let mut text = format!("{} width", width_name(edge.width));
    if !edge.exact {
        text.push_str(", not exact");
    }
    if edge.carried {
        text.push_str(", to a later iteration");
    }
    text
}

/// Why the width is what it is, what it relies on and who shows it, a line each.
pub(super) fn details(edge: &ReportEdge) -> Vec<String> {
    let mut lines = Vec::new();
    if !edge.because.is_empty() {
        let reason = edge.reason.as_ref();
        let reason = reason.map_or_else(String::new, |reason| format!(" [{reason}]"));
        lines.push(format!("{}{reason}", edge.because));
    }
    lines.extend(edge.witness.as_ref().map(|witness| witness.text.clone()));
    if let Some(mapped) = &edge.mapped {
        let mut line = format!(
            "{} width where ({}) of one is ({}) of the other",
            width_name(mapped.width),
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
pub(super) fn name_at(report: &Report, id: usize) -> String {
    match report.nodes.get(id) {
        Some(ReportNode { name, line: 0, .. }) => format!("`{name}`"),
        Some(ReportNode {
            name, file, line, ..
        }) => format!("{file}:{line} `{name}`"),
        None => format!("node {id}"),
    }
}

fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
