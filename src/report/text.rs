//! The report for people at a terminal.

use super::{Report, ReportNode};
use std::fmt::Write;

/// What fuses under which tests, and for each pair that stays apart why.
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
            fusion.orientation
        );
        if !fusion.not_written.is_empty() {
            let _ = writeln!(
                text,
                "  without writing {}, which nobody reads afterwards",
                list(&fusion.not_written)
            );
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
    if !report.stages.is_empty() {
        text.push('\n');
    }
    for stage in &report.stages {
        let _ = writeln!(text, "{:>10} {:8.3} s", stage.name, stage.seconds);
    }
    text
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
