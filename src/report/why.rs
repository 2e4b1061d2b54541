//! What becomes of the launches at one place of the source, in a few lines.

use super::rotation::member_name;
use super::text::{list, name_at};
use super::{Report, ReportFusion, ReportMissed, ReportNodeKind, persistent};
use crate::diagnostics::RejectionReason;
use std::fmt::Write;

/// What `analyze --why` answers for a place `FILE:LINE`, in at most [`MOST_LINES`] lines a launch. The file may be given without
/// the folders that it is in.
///
/// # Errors
/// No launch stands there: the sentence that says so, with the nearest ones of the file.
pub fn render_why(report: &Report, place: &str) -> Result<String, String> {
    let (file, line) = place
        .rsplit_once(':')
        .and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)))
        .ok_or_else(|| format!("'{place}' is no place of a source; it is written FILE:LINE"))?;
    let launches = report
        .nodes
        .iter()
        .filter(|node| node.kind == ReportNodeKind::Launch && is_file(&node.file, file));
    let launches: Vec<_> = launches.collect();
    let here: Vec<usize> = launches
        .iter()
        .filter(|node| node.line == line)
        .map(|node| node.id)
        .collect();
    if here.is_empty() {
        let mut lines: Vec<u32> = launches.iter().map(|node| node.line).collect();
        lines.sort_by_key(|other| (other.abs_diff(line), *other));
        lines.dedup();
        let near: Vec<String> = lines.iter().take(3).map(u32::to_string).collect();
        return Err(match near.is_empty() {
            true => format!("there is no launch in '{file}'"),
            false => format!(
                "there is no launch at {place}; the nearest in that file are at {}",
                list(&near)
            ),
        });
    }
    let mut text = String::new();
    let mut said: Vec<Vec<String>> = Vec::new();
    for id in here {
        let lines = about(report, id);
        // A function that is called in several places has its launches several times.
        if !said.contains(&lines) {
            said.push(lines);
        }
    }
    for lines in &said {
        let _ = writeln!(text, "{}", lines.join("\n"));
    }
    Ok(text)
}

/// How many lines one launch gets.
const MOST_LINES: usize = 10;

fn about(report: &Report, id: usize) -> Vec<String> {
    let mut lines = vec![name_at(report, id)];
    // One launch may begin several of them.
    let fusions = report.fusions.iter();
    let mut fusions = fusions.filter(|fusion| fusion.members.contains(&id));
    let fusion = fusions.next();
    let batched = report.batched_regions.iter().any(|region| {
        let mut statements = region.statements.iter();
        statements.any(|statement| statement.members.contains(&id))
    });
    let others_of = |fusion: &ReportFusion| {
        let others = fusion.members.iter().filter(|member| **member != id);
        let others = others.map(|other| member_name(report, fusion, *other, Some(id)));
        list(&others.collect::<Vec<String>>())
    };
    match fusion {
        Some(fusion) => {
            let which = match fusion.of_last_iteration.contains(&id) {
                true => ", in the last iteration",
                false => "",
            };
            lines.push(format!("  runs as one with {}{which}", others_of(fusion)));
            lines.extend(fusions.map(|other| {
                let others = others_of(other);
                format!("  or with {others}, where the host comes to that first")
            }));
            if fusion.partial {
                lines.push(format!("  {}", super::text::PARTIAL));
            }
            let guards = fusion.guards.len();
            if guards > 0 && !fusion.partial {
                lines.push(format!(
                    "  where {guards} {} at run time (the report without --why lists them)",
                    if guards == 1 {
                        "test holds"
                    } else {
                        "tests hold"
                    }
                ));
            }
        }
        None if report.nodes[id].first_iteration => {
            lines.push(String::from(
                "  is a launch of its own in the first iteration",
            ));
        }
        None if report.nodes[id].past_loop => {
            lines.push(String::from(
                "  is a launch of its own where the host comes past the loop by another way",
            ));
        }
        None if !batched => lines.push(String::from("  is a launch of its own")),
        None => {}
    }
    let mut loops = report.persistent_loops.iter();
    if let Some(found) = loops.find(|found| found.members.contains(&id)) {
        lines.push(format!("  {}", persistent::line(report, found)));
    } else if batched {
        lines.push(String::from(
            "  waits for launches that can run with it, in a launch batch",
        ));
    }
    let missed = report
        .missed
        .iter()
        .filter(|missed| missed.src == id || missed.dst == id);
    for missed in missed {
        lines.push(boundary(report, missed, id));
        lines.extend(advice(missed).map(|advice| format!("    it might help: {advice}")));
    }
    lines.truncate(MOST_LINES);
    lines
}

/// Why a launch and a neighbour stay unfused.
fn boundary(report: &Report, missed: &ReportMissed, id: usize) -> String {
    let other = match missed.src == id {
        true => missed.dst,
        false => missed.src,
    };
    let with = match (missed.carried, missed.src == missed.dst) {
        (true, true) => String::from("itself in the next iteration"),
        (true, false) if missed.src == id => {
            format!("{} of the next iteration", name_at(report, other))
        }
        (true, false) => format!("{} of the iteration before", name_at(report, other)),
        (false, _) => name_at(report, other),
    };
    format!("  not with {with}: {} [{}]", missed.message, missed.reason)
}

fn advice(missed: &ReportMissed) -> Option<&'static str> {
    let reason = RejectionReason::ALL
        .iter()
        .find(|reason| reason.name() == missed.reason)?;
    reason.advice()
}

/// Whether a file is meant, by all of its path or the end of it.
fn is_file(path: &str, asked: &str) -> bool {
    std::path::Path::new(path).ends_with(asked)
}
