//! The report as one self-contained page: a summary, then launches, fusions, pairs that stay unfused and dependences, each
//! row with an anchor that the others link to. A box filters all rows; without scripts everything is there all the same.

use super::super::{
    Extent, Report, ReportExecuted, ReportFusion, ReportNode, ReportNodeKind, batches, kind_name,
};
use super::super::{overlaps, persistent};
use super::text::{details, name_at, place, qualities, resources};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

/// A page with the launches, what fuses, what stays unfused, the dependences and the times.
pub fn render_html(report: &Report) -> String {
    let mut page = String::from(include_str!("page.html"));
    let links = Links::new(report);
    let summary = match report.counts.something_fuses() {
        true => report.counts.to_string(),
        false => "Nothing fuses".to_string(),
    };
    let _ = writeln!(page, "<h1>{}</h1>", escape(&summary));
    summarise(&mut page, report);
    if let Some(planning) = &report.planning {
        let _ = writeln!(
            page,
            "<p class=\"dim\">{}</p>",
            escape(&planning.sentence())
        );
    }
    launches(&mut page, report, &links);
    fusions(&mut page, report);
    regions(&mut page, report);
    persistent_loops(&mut page, report);
    overlapped(&mut page, report);
    reservations(&mut page, report);
    handed_on(&mut page, report);
    unfused(&mut page, report, &links);
    dependences(&mut page, report);
    times(&mut page, report);
    page.push_str(include_str!("page.js"));
    page
}

/// Where rows of the page are that others link to.
struct Links {
    /// By node, its fusion.
    fusions: HashMap<usize, usize>,
    /// By node, its part of the program that is issued in batches, and its batch.
    batches: HashMap<usize, (usize, Option<usize>)>,
    /// By node, the rows of what stays unfused in which it is the earlier one.
    unfused: HashMap<usize, Vec<usize>>,
    /// The first dependence of each pair.
    edges: HashSet<(usize, usize)>,
}

impl Links {
    fn new(report: &Report) -> Self {
        let fusions = report.fusions.iter().enumerate();
        let members =
            fusions.flat_map(|(index, fusion)| fusion.members.iter().map(move |id| (*id, index)));
        let regions = report.batched_regions.iter().enumerate();
        let waiting = regions.flat_map(|(index, region)| {
            let statements = region.statements.iter();
            statements.flat_map(move |statement| {
                let members = statement.members.iter();
                members.map(move |id| (*id, (index, statement.batch)))
            })
        });
        let mut unfused: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, missed) in report.missed.iter().enumerate() {
            unfused.entry(missed.src).or_default().push(index);
        }
        Self {
            fusions: members.collect(),
            batches: waiting.collect(),
            unfused,
            edges: report
                .edges
                .iter()
                .map(|edge| (edge.src, edge.dst))
                .collect(),
        }
    }
}

/// Figures, the reasons that keep launches apart, and the bar with the filter.
fn summarise(page: &mut String, report: &Report) {
    let mut files: Vec<&str> = Vec::new();
    for node in report.nodes.iter().filter(|node| node.line != 0) {
        if !files.contains(&node.file.as_str()) {
            files.push(&node.file);
        }
    }
    let _ = writeln!(
        page,
        "<p class=\"dim\">{} · sirius-rs {}</p>",
        files
            .iter()
            .map(|file| escape(file))
            .collect::<Vec<_>>()
            .join(", "),
        env!("CARGO_PKG_VERSION")
    );
    let counts = &report.counts;
    let of_kind = |kind| report.nodes.iter().filter(|node| node.kind == kind).count();
    let (sets, copies) = (of_kind(ReportNodeKind::Set), of_kind(ReportNodeKind::Copy));
    let seconds: f64 = report.stages.iter().map(|stage| stage.seconds).sum();
    page.push_str("<div class=\"figures\">\n");
    let executed = report.executed.as_ref().map(|executed| {
        let ReportExecuted { before, after, .. } = executed;
        (format!("{before} → {after}"), "launches executed")
    });
    for (figure, what) in executed.into_iter().chain([
        (counts.launches.to_string(), "launches in the source"),
        (counts.launches_after.to_string(), "launches that are left"),
        (report.fusions.len().to_string(), "fused launches"),
        (
            format!("{} of {sets}", counts.sets_in_fusions),
            "sets in fused launches",
        ),
        (
            format!("{} of {copies}", counts.copies_in_fusions),
            "copies in fused launches",
        ),
        (report.missed.len().to_string(), "pairs that stay unfused"),
        (format!("{seconds:.1} s"), "for the analysis"),
    ]) {
        let _ = writeln!(page, "<div><b>{figure}</b>{what}</div>");
    }
    page.push_str("</div>\n");
    let mut reasons: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (index, missed) in report.missed.iter().enumerate() {
        reasons.entry(&missed.reason).or_insert((0, index)).0 += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (count, first))| (std::cmp::Reverse(*count), *first));
    if !reasons.is_empty() {
        page.push_str("<table><thead><tr><th>why pairs stay unfused</th><th>pairs</th><th>the first</th></tr></thead><tbody>\n");
        for (reason, (count, first)) in reasons {
            let missed = &report.missed[first];
            let _ = writeln!(
                page,
                "<tr><td data-head=\"why\"><code>{}</code></td><td data-head=\"pairs\">{count}</td><td data-head=\"the first\"><a href=\"#a{first}\">{}</a>: {}</td></tr>",
                escape(reason),
                escape(&place(report, Some(&missed.dst))),
                escape(&missed.message)
            );
        }
        page.push_str("</tbody></table>\n");
    }
    page.push_str(
        "<nav class=\"bar\"><input id=\"filter\" type=\"search\" aria-label=\"filter\" placeholder=\"filter: kernel, file:line, buffer, reason\"> <span id=\"found\" class=\"dim\"></span>",
    );
    for (id, title, count) in [
        ("launches", "launches", counts.launches),
        ("fusions", "fusions", report.fusions.len()),
        ("batches", "batched regions", report.batched_regions.len()),
        ("loops", "host loops", report.persistent_loops.len()),
        ("memory", "memory", report.reservations.len()),
        ("handed-on", "values between phases", report.handed_on.len()),
        ("unfused", "pairs that are not fused", report.missed.len()),
        ("dependences", "dependences", report.edges.len()),
        ("time", "time", report.stages.len()),
    ] {
        if count > 0 {
            let _ = write!(page, " <a href=\"#{id}\">{title}</a>");
        }
    }
    page.push_str("</nav>\n");
}

/// What is launched, set and copied, and in which launch it runs.
fn launches(page: &mut String, report: &Report, links: &Links) {
    let shape = |extents: &Option<[Extent; 3]>| match extents {
        Some(extents) => {
            let extents = extents.each_ref().map(extent);
            match extents.iter().rposition(|extent| extent != "1") {
                None => extents[0].clone(),
                Some(last) => extents[..=last].join(" × "),
            }
        }
        None => String::new(),
    };
    let is_shown = |node: &&ReportNode| {
        node.kind == ReportNodeKind::Launch || links.fusions.contains_key(&node.id)
    };
    let rows: Vec<_> = report
        .nodes
        .iter()
        .filter(is_shown)
        .map(|node| {
            let host_loop = node.host_loop.map_or_else(String::new, |host_loop| {
                let trip = host_loop.trip.map(|trip| format!(", {trip} times"));
                format!("{} deep{}", host_loop.depth, trip.unwrap_or_default())
            });
            (
                format!("n{}", node.id),
                vec![
                    named(report, node.id),
                    escape(&shape(&node.grid)),
                    escape(&shape(&node.block)),
                    escape(node.stream.as_deref().unwrap_or_default()),
                    host_loop,
                    runs_in(report, links, node.id),
                ],
            )
        })
        .collect();
    let headings = ["launch", "grid", "block", "stream", "host loop", "runs in"];
    let title = match rows.len() == report.counts.launches {
        true => "Launches",
        false => "Launches, and sets and copies that run in them",
    };
    section(page, ("launches", title), &headings, &rows, false);
}

/// Which launch a node is part of, or that it is one by itself, and why not together with the next.
fn runs_in(report: &Report, links: &Links, id: usize) -> String {
    let mut parts = Vec::new();
    match links.fusions.get(&id) {
        Some(fusion) => {
            let others = report.fusions[*fusion].members.len() - 1;
            parts.push(format!(
                "<a href=\"#f{fusion}\">fusion {}</a>, with {others} more",
                fusion + 1
            ));
        }
        None if !links.batches.contains_key(&id) => parts.push(format!(
            "a launch of its own, where it stands ({})",
            escape(&place(report, Some(&id)))
        )),
        None => {}
    }
    if let Some((region, batch)) = links.batches.get(&id) {
        let batch = batch.map_or_else(
            || String::from("a batch that the run finds"),
            |batch| format!("batch {batch}"),
        );
        parts.push(format!(
            "<a href=\"#w{region}\">part {}</a>, in {batch}",
            region + 1
        ));
    }
    for row in links.unfused.get(&id).into_iter().flatten() {
        let missed = &report.missed[*row];
        let next = match missed.carried {
            true => "the next iteration",
            false => "the next launch",
        };
        parts.push(format!(
            "<a href=\"#a{row}\">not fused with {next}</a>: <code>{}</code>",
            escape(&missed.reason)
        ));
    }
    parts.join("<br>")
}

fn fusions(page: &mut String, report: &Report) {
    if report.fusions.is_empty() {
        return;
    }
    open(page, ("fusions", "Fusions"), report.fusions.len());
    for (index, fusion) in report.fusions.iter().enumerate() {
        let _ = writeln!(
            page,
            "<div class=\"card\" id=\"f{index}\" data-row><h3>Fusion {}: {} run as one</h3>\n<ol>",
            index + 1,
            fusion.members.len()
        );
        for member in &fusion.members {
            let which = match () {
                () if fusion.of_next_iteration.contains(member) => " of the next iteration",
                () if fusion.of_last_iteration.contains(member) => " of the last iteration",
                () => "",
            };
            let _ = writeln!(page, "<li>{}{which}</li>", linked(report, *member));
        }
        let _ = writeln!(
            page,
            "</ol>\n<p><span class=\"dim\">layout:</span> {}</p>",
            escape(&fusion.layout_and_others())
        );
        facts(page, report, fusion);
        page.push_str("</div>\n");
    }
    page.push_str("</section>\n");
}

/// What is said of a fusion besides its members.
fn facts(page: &mut String, report: &Report, fusion: &ReportFusion) {
    if fusion.partial {
        let _ = writeln!(page, "<p>{}</p>", escape(super::text::PARTIAL));
    }
    let resources = fusion.resources.iter().map(resources);
    let guards = fusion
        .guards
        .iter()
        .map(|guard| format!("{} [{}]", guard.condition, guard.kind));
    for (title, lines) in [
        (
            "not written, since nobody reads it",
            fusion.not_written.clone(),
        ),
        ("blocks and threads", fusion.map_lines()),
        ("resources", resources.collect()),
        ("tested at run time", guards.collect()),
        (
            "where that is refused",
            super::text::fallback_lines(report, fusion),
        ),
    ] {
        let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
        let _ = match lines.as_slice() {
            [] => Ok(()),
            [one] => writeln!(page, "<p><span class=\"dim\">{title}:</span> {one}</p>"),
            _ => writeln!(
                page,
                "<details><summary>{title} ({})</summary>{}</details>",
                lines.len(),
                lines.join("<br>")
            ),
        };
    }
}

fn regions(page: &mut String, report: &Report) {
    let rows: Vec<_> = report
        .batched_regions
        .iter()
        .enumerate()
        .map(|(index, region)| {
            let mut lines = batches::lines(report, region).into_iter();
            let heading = lines.next().unwrap_or_default();
            let lines: Vec<String> = lines.map(|line| escape(&line)).collect();
            (
                format!("w{index}"),
                vec![
                    format!("part {}: {}", index + 1, escape(&heading)),
                    lines.join("<br>"),
                ],
            )
        })
        .collect();
    let headings = ["launches", "what waits and why"];
    section(page, ("batches", "Launch batches"), &headings, &rows, false);
}

fn persistent_loops(page: &mut String, report: &Report) {
    let all = report.persistent_loops.iter().enumerate();
    let rows: Vec<_> = all
        .map(|(index, each)| {
            let line = escape(&persistent::line(report, each));
            (format!("l{index}"), vec![line])
        })
        .collect();
    let title = ("loops", "Host loops inside kernels");
    section(page, title, &["loop"], &rows, false);
}

fn overlapped(page: &mut String, report: &Report) {
    let all = report.overlaps.iter();
    let lines = all.flat_map(|each| overlaps::lines(report, each));
    let rows: Vec<_> = lines
        .enumerate()
        .map(|(index, line)| (format!("o{index}"), vec![escape(&line)]))
        .collect();
    let title = ("overlaps", "Launches that begin early");
    section(page, title, &["launch"], &rows, false);
}

fn handed_on(page: &mut String, report: &Report) {
    let all = report.handed_on.iter().enumerate();
    let rows: Vec<_> = all
        .map(|(index, each)| (format!("h{index}"), vec![escape(&each.line(report))]))
        .collect();
    let title = ("handed-on", "Values between phases");
    section(page, title, &["stored by"], &rows, false);
}

fn reservations(page: &mut String, report: &Report) {
    let rows: Vec<_> = report
        .reservations
        .iter()
        .map(|reservation| {
            let line = escape(&reservation.line(report));
            (format!("m{}", reservation.id), vec![line])
        })
        .collect();
    section(page, ("memory", "Memory"), &["not allocated"], &rows, false);
}

fn unfused(page: &mut String, report: &Report, links: &Links) {
    let rows: Vec<_> = report
        .missed
        .iter()
        .enumerate()
        .map(|(index, missed)| {
            let mut why = escape(&missed.message);
            if missed.line != 0 {
                let at = format!("{}:{}", missed.file, missed.line);
                let _ = write!(why, " <span class=\"dim\">({})</span>", escape(&at));
            }
            if links.edges.contains(&(missed.src, missed.dst)) {
                let _ = write!(
                    why,
                    " <a href=\"#e{}-{}\">dependences</a>",
                    missed.src, missed.dst
                );
            }
            let mut later = linked(report, missed.dst);
            if missed.carried {
                later.push_str(" <span class=\"dim\">in the next iteration</span>");
            }
            let reason = format!("<code>{}</code>", escape(&missed.reason));
            (
                format!("a{index}"),
                vec![linked(report, missed.src), later, reason, why],
            )
        })
        .collect();
    let headings = ["launch", "and", "reason", "why"];
    section(page, ("unfused", "Not fused"), &headings, &rows, false);
}

fn dependences(page: &mut String, report: &Report) {
    let mut seen = HashSet::new();
    let rows: Vec<_> = report
        .edges
        .iter()
        .map(|edge| {
            let pair = (edge.src, edge.dst);
            // The anchor of a pair is at its first dependence.
            let id = match seen.insert(pair) {
                true => format!("e{}-{}", edge.src, edge.dst),
                false => String::new(),
            };
            let lines: Vec<String> = details(edge).iter().map(|line| escape(line)).collect();
            let mut why = lines.join("<br>");
            if !edge.relation.is_empty() {
                let _ = write!(
                    why,
                    "<details><summary>relation</summary><span class=\"code\">{}</span></details>",
                    escape(&edge.relation)
                );
            }
            let cells = vec![
                linked(report, edge.src),
                linked(report, edge.dst),
                format!("<code>{}</code>", escape(&edge.buffer)),
                kind_name(edge.kind).to_string(),
                escape(&qualities(edge)),
                why,
            ];
            (id, cells)
        })
        .collect();
    let headings = ["from", "to", "buffer", "kind", "scope", "why"];
    section(
        page,
        ("dependences", "Dependences"),
        &headings,
        &rows,
        rows.len() > MOST_OPEN,
    );
}

/// A list of more rows is closed at first.
const MOST_OPEN: usize = 40;

fn times(page: &mut String, report: &Report) {
    let rows: Vec<_> = report
        .stages
        .iter()
        .map(|stage| {
            let cells = vec![escape(&stage.name), format!("{:.3} s", stage.seconds)];
            (String::new(), cells)
        })
        .collect();
    section(page, ("time", "Time"), &["stage", "time"], &rows, false);
}

/// Begins a section whose rows are filtered.
fn open(page: &mut String, (id, title): (&str, &str), count: usize) {
    let _ = writeln!(
        page,
        "<section id=\"{id}\" data-filtered=\"{count}\"><h2>{title} <span class=\"dim count\">{count}</span></h2>"
    );
}

/// A section with one table; a row is its anchor and its cells, which are HTML.
fn section(
    page: &mut String,
    title: (&str, &str),
    headings: &[&str],
    rows: &[(String, Vec<String>)],
    closed: bool,
) {
    if rows.is_empty() {
        return;
    }
    open(page, title, rows.len());
    if closed {
        page.push_str("<details class=\"all\"><summary>show all</summary>\n");
    }
    page.push_str("<table><thead><tr>");
    for heading in headings {
        let _ = write!(page, "<th>{heading}</th>");
    }
    page.push_str("</tr></thead><tbody>\n");
    for (id, cells) in rows {
        let _ = match id.is_empty() {
            true => write!(page, "<tr data-row>"),
            false => write!(page, "<tr id=\"{id}\" data-row>"),
        };
        for (heading, cell) in headings.iter().zip(cells) {
            // The first cell says what the row is about.
            let heading = match *heading == headings[0] {
                true => "",
                false => *heading,
            };
            let _ = write!(page, "<td data-head=\"{heading}\">{cell}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table>\n");
    if closed {
        page.push_str("</details>\n");
    }
    page.push_str("</section>\n");
}

/// A node's name and place.
fn named(report: &Report, id: usize) -> String {
    match report.nodes.get(id) {
        Some(node) if node.line != 0 => format!(
            "<code>{}</code> <span class=\"dim\">{}:{}</span>",
            escape(&node.name),
            escape(&node.file),
            node.line
        ),
        Some(node) => format!("<code>{}</code>", escape(&node.name)),
        None => escape(&name_at(report, id)),
    }
}

/// A node's name and place, as a link to its row where it has one.
fn linked(report: &Report, id: usize) -> String {
    let has_row = report.nodes.get(id).is_some_and(|node| {
        node.kind == ReportNodeKind::Launch
            || (report.fusions.iter()).any(|fusion| fusion.members.contains(&id))
    });
    match has_row {
        true => format!("<a href=\"#n{id}\">{}</a>", named(report, id)),
        false => named(report, id),
    }
}

fn extent(extent: &Extent) -> String {
    match extent {
        Extent::Known(value) => value.to_string(),
        Extent::Named(name) => name.clone(),
    }
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let text = text.replace('>', "&gt;").replace('"', "&quot;");
    text.replace('\n', "<br>")
}
