//! The report as one self-contained page.

use super::text::{details, name_at, qualities};
use super::{Extent, Report, ReportNodeKind, kind_name, waves};
use std::fmt::Write;

/// A page with the launches, what fuses, what stays apart, the dependences and the times.
pub fn render_html(report: &Report) -> String {
    let mut page = String::from(HEAD);
    let summary = report.summary_line();
    let summary = summary.unwrap_or_else(|| "sirius: nothing fuses".to_string());
    let _ = writeln!(page, "<h1>{}</h1>", escape(&summary));

    let launches = report
        .nodes
        .iter()
        .filter(|node| node.kind == ReportNodeKind::Launch);
    let launches = launches.map(|node| {
        let shape = |extents: &Option<[Extent; 3]>| match extents {
            Some(extents) => extents.each_ref().map(extent).join(" × "),
            None => String::new(),
        };
        let fusion = report
            .fusions
            .iter()
            .position(|fusion| fusion.members.contains(&node.id));
        vec![
            name_at(report, node.id),
            shape(&node.grid),
            shape(&node.block),
            node.stream.clone().unwrap_or_default(),
            fusion.map_or_else(String::new, |index| format!("fusion {}", index + 1)),
        ]
    });
    table(
        &mut page,
        "Launches",
        &["launch", "grid", "block", "stream", "runs in"],
        launches,
    );

    let fusions = report.fusions.iter().enumerate().map(|(index, fusion)| {
        let guards = fusion.guards.iter();
        let guards: Vec<_> = guards
            .map(|guard| format!("{} [{}]", guard.condition, guard.kind))
            .collect();
        vec![
            format!("fusion {}", index + 1),
            fusion.kernel.clone(),
            fusion.orientation_and_others(),
            fusion.map_lines().join("\n"),
            guards.join("\n"),
        ]
    });
    table(
        &mut page,
        "Fusions",
        &[
            "",
            "kernels",
            "orientation",
            "blocks and threads",
            "tested at run time",
        ],
        fusions,
    );

    let waves = report.waves.iter().map(|region| {
        let mut lines = waves::lines(report, region).into_iter();
        let heading = lines.next().unwrap_or_default();
        vec![heading, lines.collect::<Vec<_>>().join("\n")]
    });
    table(
        &mut page,
        "Waves",
        &["launches", "what waits and why"],
        waves,
    );

    if !report.reservations.is_empty() {
        let reservations = report.reservations.iter();
        let lines = reservations.map(|reservation| vec![reservation.line(report)]);
        table(&mut page, "Memory", &["not allocated"], lines);
    }

    let missed = report.missed.iter().map(|missed| {
        vec![
            name_at(report, missed.src),
            name_at(report, missed.dst),
            missed.reason.clone(),
            missed.message.clone(),
        ]
    });
    table(
        &mut page,
        "Staying apart",
        &["launch", "launch", "reason", "why"],
        missed,
    );

    let edges = report.edges.iter().map(|edge| {
        vec![
            name_at(report, edge.src),
            name_at(report, edge.dst),
            edge.buffer.clone(),
            kind_name(edge.kind).to_string(),
            qualities(edge),
            details(edge).join("\n"),
            edge.relation.clone(),
        ]
    });
    let headings = ["from", "to", "buffer", "kind", "width", "why", "relation"];
    table(&mut page, "Dependences", &headings, edges);

    let stages = report.stages.iter();
    let stages = stages.map(|stage| vec![stage.name.clone(), format!("{:.3} s", stage.seconds)]);
    table(&mut page, "Time", &["stage", "time"], stages);
    page.push_str("</body></html>\n");
    page
}

fn table(
    page: &mut String,
    title: &str,
    headings: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    let _ = writeln!(page, "<h2>{title}</h2>\n<table>");
    let row = |page: &mut String, tag: &str, cells: &mut dyn Iterator<Item = String>| {
        page.push_str("<tr>");
        for cell in cells {
            let _ = write!(page, "<{tag}>{}</{tag}>", escape(&cell));
        }
        page.push_str("</tr>\n");
    };
    row(
        page,
        "th",
        &mut headings.iter().map(|heading| (*heading).to_string()),
    );
    for cells in rows {
        row(page, "td", &mut cells.into_iter());
    }
    page.push_str("</table>\n");
}

fn extent(extent: &Extent) -> String {
    match extent {
        Extent::Known(value) => value.to_string(),
        Extent::Named(name) => name.clone(),
    }
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('\n', "<br>")
}

const HEAD: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>sirius report</title>
<style>
body { font-family: sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { border: 1px solid #ccc; padding: 0.3em 0.6em; text-align: left; vertical-align: top; }
td:last-child { font-family: monospace; }
</style></head><body>
";
