//! The report as a graph for Graphviz.

use super::super::{Report, ReportNodeKind, kind_name};
use super::text::{details, qualities};
use crate::dependence::Scope;
use std::collections::HashMap;
use std::fmt::Write;

/// Launches as boxes, with two lines where they wait for their batches, fusions as clusters, dependences by scope: solid for thread, dashed for block,
/// bold red for global.
pub fn render_dot(report: &Report) -> String {
    let mut text = String::from("digraph sirius {\n  node [fontname=\"sans-serif\"];\n");
    for (index, fusion) in report.fusions.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{index} {{");
        let mut label = vec![escape(&fusion.kernel), fusion.layout_and_others()];
        label.extend(fusion.map_lines().iter().map(|line| escape(line)));
        let _ = writeln!(text, "    label=\"{}\";", label.join("\\n"));
        for member in &fusion.members {
            let _ = writeln!(text, "    n{member};");
        }
        text.push_str("  }\n");
    }
    let statements = report
        .batched_regions
        .iter()
        .flat_map(|region| &region.statements);
    let waiting: HashMap<usize, Option<usize>> = statements
        .flat_map(|each| each.members.iter().map(|member| (*member, each.batch)))
        .collect();
    for node in &report.nodes {
        let shape = match node.kind {
            ReportNodeKind::Launch => "box",
            _ => "plaintext",
        };
        let place = match node.line {
            0 => String::new(),
            line => format!("\\n{}:{line}", escape(&node.file)),
        };
        let name = escape(&node.name);
        let waits = match waiting.get(&node.id) {
            None => String::new(),
            Some(None) => ", peripheries=2, tooltip=\"waits for its batch\"".to_owned(),
            Some(Some(batch)) => format!(", peripheries=2, tooltip=\"batch {batch}\""),
        };
        let _ = writeln!(
            text,
            "  n{} [shape={shape}{waits}, label=\"{name}{place}\"];",
            node.id
        );
    }
    for edge in &report.edges {
        let style = match edge.scope {
            Scope::Thread => "style=solid",
            Scope::Block => "style=dashed",
            Scope::Global => "style=bold, color=red",
        };
        let mut tooltip = vec![format!("{}, {}", kind_name(edge.kind), qualities(edge))];
        tooltip.extend(details(edge));
        let _ = writeln!(
            text,
            "  n{} -> n{} [{style}, label=\"{}\", tooltip=\"{}\"];",
            edge.src,
            edge.dst,
            escape(&edge.buffer),
            escape(&tooltip.join("\n")).replace('\n', "\\n")
        );
    }
    text.push_str("}\n");
    text
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
