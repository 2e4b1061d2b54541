//! Results as lines of JSON, and as a table.

use crate::program::Measured;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The results so far; none when there is no such file.
pub fn read_results(path: &Path) -> Result<Vec<Measured>, String> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Ok(Vec::new());
    };
    text.lines()
        .map(|line| {
            serde_json::from_str(line).map_err(|error| format!("{}: {error}", path.display()))
        })
        .collect()
}

/// A table of programs, then the edges that are not exact with their reasons, then the faults.
pub fn markdown(programs: &[&Measured]) -> String {
    let mut text = String::from(
        "| program | neighbours (sites) | dependent pairs (sites) | edges between neighbours | same as the trace | \
         same for these sizes | wider | missing or too narrow | threads looked up (in maps) | note |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut sum = Measured::default();
    for program in programs {
        let note = program.note.trim_end_matches("; ");
        let note = note.replace(['|', '\n'], " ");
        let _ = writeln!(
            text,
            "| {} | {} | {note} |",
            program.program,
            figures(program)
        );
        sum.launch_pairs += program.launch_pairs;
        sum.site_pairs += program.site_pairs;
        sum.dependent_pairs += program.dependent_pairs;
        sum.dependent_sites += program.dependent_sites;
        sum.edges += program.edges;
        sum.exact += program.exact;
        sum.exact_at_run += program.exact_at_run;
        sum.pairs += program.pairs;
        sum.mapped_pairs += program.mapped_pairs;
        sum.conditions += program.conditions;
        sum.decided += program.decided;
        sum.faults.extend(program.faults.iter().cloned());
    }
    let percent = |part: usize| 100.0 * part as f64 / sum.edges.max(1) as f64;
    let _ = writeln!(
        text,
        "| **together** | {} | {:.1} %; {:.1} % for these sizes; runs decide {} of {} conditions |",
        figures(&sum),
        percent(sum.exact),
        percent(sum.exact + sum.exact_at_run),
        sum.decided,
        sum.conditions
    );
    text.push_str("\n| wider edge | graph says | why |\n|---|---|---|\n");
    for program in programs {
        let mut grouped: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for (name, what, because) in &program.wider {
            grouped.entry((what, because)).or_default().push(name);
        }
        for ((what, because), names) in grouped {
            let shown: Vec<&str> = names.iter().copied().take(3).collect();
            let more = match names.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let _ = writeln!(
                text,
                "| {}: {}{more} | {what} | {} |",
                program.program,
                shown.join("; "),
                because.replace('|', "/")
            );
        }
    }
    for program in programs.iter().filter(|program| !program.faults.is_empty()) {
        let _ = writeln!(text, "\nMissing or too narrow in {}:\n", program.program);
        for fault in &program.faults {
            let _ = writeln!(text, "- {fault}");
        }
    }
    text
}

/// The columns of a row that are numbers.
fn figures(program: &Measured) -> String {
    format!(
        "{} ({}) | {} ({}) | {} | {} | {} | {} | {} | {} ({})",
        program.launch_pairs,
        program.site_pairs,
        program.dependent_pairs,
        program.dependent_sites,
        program.edges,
        program.exact,
        program.exact + program.exact_at_run,
        program.edges - program.exact,
        program.faults.len(),
        program.pairs,
        program.mapped_pairs
    )
}
