//! The report as a graph for Graphviz.

use super::text::{details, qualities};
use super::{Report, ReportNodeKind, kind_name};
use crate::dependence::Width;
use std::fmt::Write;

/// Launches as boxes, fusions as clusters, dependences by width: solid for thread, dashed for block,
/// bold red for global.
pub fn render_dot(report: &Report) -> String {
    let mut text = String::from("digraph sirius {\n  node [fontname=\"sans-serif\"];\n");
    for (index, fusion) in report.fusions.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{index} {{");
        let layout = fusion.orientation_and_others();
        let _ = writeln!(text, "    label=\"{}\\n{layout}\";", escape(&fusion.kernel));
        for member in &fusion.members {
            let _ = writeln!(text, "    n{member};");
        }
        text.push_str("  }\n");
    }
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
        let _ = writeln!(
            text,
            "  n{} [shape={shape}, label=\"{name}{place}\"];",
            node.id
        );
    }
    for edge in &report.edges {
        let style = match edge.width {
            Width::Thread => "style=solid",
            Width::Block => "style=dashed",
            Width::Global => "style=bold, color=red",
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
