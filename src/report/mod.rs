//! Text, JSON, DOT and HTML views of what the stages found; reads everything, changes nothing.
//!
//! Invariant: a [`Report`] is stage data, never scraped from messages; every view is a pure function
//! of it. The fields and names of [`Report`] are what the JSON view promises to its readers
//! (version 2; some are still written under their names of version 1, too).
//!
//! A new field is filled in [`build_report`], or in the pipeline's analysis where only code generation
//! knows it; the JSON view then has it. The others are to show it: [`text`], [`html`], perhaps [`dot`].
//! `docs/report.schema.json` describes it.
//!
#![doc = include_str!("../../docs/reasons.md")]

mod condition;
mod counts;
mod formats;
mod effects;
mod executed;
mod fold;
mod former;
mod grid_barriers;
mod handed_on;
mod maps;
mod overlaps;
mod host_loops;
mod planning;
mod reservations;
mod why;
mod batches;

use host_loops::{persistent, rotation};

use formats::{dot, html, text};

pub use batches::{
    ReportBatchCount, ReportBatchedRegion, ReportOrder, ReportOverwritten, ReportWaitingStatement,
};
pub use counts::ReportCounts;
pub use dot::render_dot;
pub use executed::{ReportExecuted, ReportModelled, StatisticsError};
pub use grid_barriers::{ReportGridBarrier, ReportOrdered};
pub use handed_on::ReportHandedOn;
pub use html::render_html;
pub use maps::ReportMap;
pub use overlaps::{ReportInTurn, ReportOverlap, ReportOverlaps};
pub use persistent::{ReportLoopEnd, ReportPersistentLoop};
pub use planning::ReportPlanning;
pub use reservations::ReportReservation;
pub use text::render_text;
pub use why::render_why;

use crate::build::ReportFormat;
use crate::dependence::{
    DependenceGraph, DependenceKind, IterationDistance, Scope, Witness, WitnessEnd,
};
use crate::diagnostics::source_name;
use crate::kernel::KernelModel;
use crate::launch::{HostBlockId, Launch, LaunchGraph, LaunchId, Node, NodeKind, Stream, ValueId};
use crate::schedule::resources::GroupOccupancy;
use crate::schedule::{FusionGroup, FusionPlan, Missed};
use crate::stage::Stage;
use condition::LaunchNames;
use counts::launch_kind;
pub use effects::{ReportBytes, ReportEffect, ReportKernel};
use rotation::Rotated;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The version of [`Report`] in its JSON form.
const VERSION: u32 = 2;

/// Everything about a compilation that users and tools may want to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Version of this format: 2.
    pub version: u32,
    /// Launches before and after.
    #[serde(default)]
    pub counts: ReportCounts,
    /// Launches that runs of the program executed, where their statistics were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed: Option<ReportExecuted>,
    /// The host program's operations, in host order.
    pub nodes: Vec<ReportNode>,
    /// The dependences between them.
    pub edges: Vec<ReportEdge>,
    /// What becomes one launch.
    pub fusions: Vec<ReportFusion>,
    /// Parts whose launches are issued in batches.
    #[serde(default)]
    pub batched_regions: Vec<ReportBatchedRegion>,
    /// Host loops that run inside kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub persistent_loops: Vec<ReportPersistentLoop>,
    /// Allocations that take no memory while only fused kernels run; known once code was generated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<ReportReservation>,
    /// What threads of cooperative launches store and others of their block load in a later phase; known once code was generated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handed_on: Vec<ReportHandedOn>,
    /// Launches that begin before the one before them has ended, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlaps: Option<ReportOverlaps>,
    /// Who chose the groups; `None` where there was nothing to choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planning: Option<ReportPlanning>,
    /// Consecutive launches that stay unfused.
    pub missed: Vec<ReportMissed>,
    /// The kernels that are launched, and their memory effects.
    #[serde(default)]
    pub kernels: Vec<ReportKernel>,
    /// Time by stage.
    pub stages: Vec<ReportStage>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportNodeKind {
    /// A kernel launch.
    Launch,
    /// A copy to, from or on the device.
    Copy,
    /// A fill.
    Set,
    /// An allocation.
    Alloc,
    /// A free.
    Free,
    /// A synchronisation, a stream or event operation, an error check.
    Sync,
    /// A host access to device-visible memory, I/O, an unknown call.
    Opaque,
}

/// An extent of a grid or block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Extent {
    /// Known at compile time.
    Known(i64),
    /// A value of the run; equal names are equal values.
    Named(String),
}

/// The host loop around a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLoop {
    /// How many loops surround it.
    pub depth: usize,
    /// Iterations of the innermost one, where constant.
    pub trip: Option<i64>,
}

/// An operation of the host program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportNode {
    /// Its position in host order.
    pub id: usize,
    /// What it is.
    pub kind: ReportNodeKind,
    /// The kernel's mangled name, for launches of a known kernel.
    pub kernel: Option<String>,
    /// The kernel as the user wrote it, the allocated variable, or what the operation is.
    pub name: String,
    /// Source file as on the command line.
    pub file: String,
    /// Line, 0 when unknown.
    pub line: u32,
    /// The number of a launch site, as traces of the CPU device name it.
    pub site: Option<u32>,
    /// Grid extents x, y, z of a launch.
    pub grid: Option<[Extent; 3]>,
    /// Block extents x, y, z of a launch.
    pub block: Option<[Extent; 3]>,
    /// `default`, `unknown`, or a name of the handle: equal names are equal streams.
    pub stream: Option<String>,
    /// The host loop around it.
    #[serde(rename = "loop")]
    pub host_loop: Option<ReportLoop>,
    /// The compiler put it in front of a host loop, for the first iteration; the source has it in the loop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_iteration: bool,
    /// The compiler wrote it for the last iteration of a host loop; the source has it once, in the loop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last_iteration: bool,
    /// The compiler wrote it for another way past a host loop than by its last iteration; the source has it once, behind the loop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past_loop: bool,
}

/// A dependence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportEdge {
    /// Id of the earlier node.
    pub src: usize,
    /// Id of the later node.
    pub dst: usize,
    /// The buffer, for people.
    pub buffer: String,
    /// Flow, anti, output or reduction.
    pub kind: DependenceKind,
    /// Thread, block or global, when places are compared as they are; what fuses today fuses by it.
    #[serde(flatten, with = "former::scope")]
    pub scope: Scope,
    /// A smaller scope under a one-to-one map, where there is one.
    #[serde(default)]
    pub mapped: Option<ReportMappedScope>,
    /// The relation from (block, thread) to (block, thread), in isl's notation.
    pub relation: Arc<str>,
    /// True for a *must*.
    pub exact: bool,
    /// The sink belongs to a later iteration of a host loop around both.
    #[serde(default)]
    pub carried: bool,
    /// Of a carried edge of one loop, how many iterations of each host loop around both ends lie between
    /// them, outermost loop first. Empty: any number, of any of the loops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<IterationDistance>,
    /// What the scope relies on.
    #[serde(default)]
    pub guards: Vec<ReportGuard>,
    /// When all of these hold there is no dependence; empty: it is always there.
    #[serde(default)]
    pub absent_if: Vec<ReportGuard>,
    /// For a global edge, the class of the reason.
    #[serde(default)]
    pub reason: Option<String>,
    /// Why it is as wide as it is, or not exact; empty for thread scope.
    #[serde(default)]
    pub because: Arc<str>,
    /// For an edge wider than a thread, two threads that show it, where known.
    #[serde(default)]
    pub witness: Option<ReportWitness>,
}

/// A scope under a map: a thread of the source and one of the sink belong together when all
/// coordinates are equal (for block scope: their blocks do).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportMappedScope {
    /// Thread or block.
    #[serde(flatten, with = "former::scope")]
    pub scope: Scope,
    /// The coordinates of a thread of the source.
    pub source: Vec<String>,
    /// The same coordinates of a thread of the sink.
    pub sink: Vec<String>,
    /// How many blocks of the source belong together, at most.
    pub source_blocks: i64,
    /// How many blocks of the sink belong together, at most.
    pub sink_blocks: i64,
    /// What this scope relies on.
    pub guards: Vec<ReportGuard>,
}

/// Two threads that touch a common byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportWitness {
    /// One sentence.
    pub text: String,
    /// False: the two *may* meet, but an access is not exactly known.
    pub certain: bool,
    /// The first common byte, from the start of the buffer.
    pub byte: Option<i64>,
    /// The source's thread.
    pub source: ReportWitnessEnd,
    /// The sink's thread.
    pub sink: ReportWitnessEnd,
}

/// One of the two threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportWitnessEnd {
    /// `blockIdx`, where the place is known.
    pub block: Option<[i64; 3]>,
    /// `threadIdx`, where the place is known.
    pub thread: Option<[i64; 3]>,
    /// File of the access.
    pub file: String,
    /// Its line, 0 when unknown.
    pub line: u32,
}

/// Launches that become one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportFusion {
    /// The members' kernels, joined by `+`.
    pub kernel: String,
    /// Ids of the members' nodes, in order.
    pub members: Vec<usize>,
    /// Name of the layout that was taken, see [`crate::schedule::Layout`].
    #[serde(flatten, with = "former::layout")]
    pub layout: String,
    /// Names of all layouts that these launches have, the most vertical first;
    /// `--sirius-layout` takes one of them.
    #[serde(flatten, with = "former::layouts")]
    pub layouts: Vec<String>,
    /// The layout that was asked for, where these launches do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout_not_there: Option<String>,
    /// The variant that was chosen by measuring or estimating, where one was; see [`crate::tune::Choice`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<String>,
    /// How the blocks and threads of each member are those of the fused launch.
    #[serde(default)]
    pub maps: Vec<ReportMap>,
    /// Where all blocks of the fused launch wait for each other, and what for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grid_barriers: Vec<ReportGridBarrier>,
    /// From which member on the last block of the fused launch goes on alone, and what it needs of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_block: Option<ReportGridBarrier>,
    /// What still runs as one where a launch with grid-wide barriers is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<ReportFallback>,
    /// The members in front of that one also run as one without it, where only what is tested of it does not hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub also_without_last_block: bool,
    /// What is tested at run time.
    pub guards: Vec<ReportGuard>,
    /// Ids of members that are those of the next iteration of the host loop around the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_next_iteration: Vec<usize>,
    /// Ids of members that are those of the last iteration of the host loop behind which the others stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_last_iteration: Vec<usize>,
    /// Members stand under conditions of their own: those that the host comes to run as one, as far as their tests hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Allocations that the members write and the fused kernel does not, because nobody reads them
    /// afterwards; known once code was generated.
    #[serde(default)]
    pub not_written: Vec<String>,
    /// What ptxas says the fused kernel needs, and how many of its warps run at once, on each
    /// architecture; empty where ptxas was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<GroupOccupancy>,
}

impl ReportFusion {
    /// Of each member whose blocks and threads are not as launched, what is done with them.
    fn map_lines(&self) -> Vec<String> {
        let maps = self.maps.iter().filter(|map| map.is_worth_a_line());
        maps.map(ReportMap::line).collect()
    }

    /// The layout that was taken, and the others where there are some: `v of v, v2h2, h`; and the
    /// one that was asked for, where it is not among them.
    fn layout_and_others(&self) -> String {
        let mut text = match self.layouts.len() {
            0 | 1 => self.layout.clone(),
            _ => format!("{} of {}", self.layout, self.layouts.join(", ")),
        };
        if let Some(asked) = &self.layout_not_there {
            text.push_str(&format!("; there is no {asked} here"));
        }
        if let Some(tuned) = &self.tuned {
            text.push_str(&format!("; tuned: {tuned}"));
        }
        text
    }
}

/// Launches that run as one where another launch, with more of them, is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportFallback {
    /// Ids of their nodes, in order.
    pub members: Vec<usize>,
    /// What is tested at run time.
    pub guards: Vec<ReportGuard>,
}

/// A test at run time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportGuard {
    /// `shape`, `wrap`, `alias`, `configuration`, …; `docs/reports.md` lists them.
    pub kind: String,
    /// The condition, for people.
    pub condition: String,
}

/// Two consecutive launches that stay unfused, or the last and the first launch of a host loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportMissed {
    /// Id of the earlier node.
    pub src: usize,
    /// Id of the later node.
    pub dst: usize,
    /// One of the documented reasons.
    pub reason: String,
    /// One sentence.
    pub message: String,
    /// Where the obstacle stands.
    pub file: String,
    /// Its line, 0 when unknown.
    pub line: u32,
    /// The later launch is that of the next iteration of a host loop around both.
    #[serde(default)]
    pub carried: bool,
}

/// Time spent in a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportStage {
    /// Its name.
    pub name: String,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Gathers the results of the stages. `kernels` is indexed by
/// [`KernelId`](crate::program::KernelId); times are wall-clock seconds.
pub fn build_report(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    plan: &FusionPlan,
    missed: &[Missed],
    stages: &[(Stage, f64)],
) -> Report {
    let names = LaunchNames::new(graph, kernels);
    let edges = dependences.edges().map(|edge| ReportEdge {
        src: edge.source.0,
        dst: edge.sink.0,
        buffer: edge.buffer.clone(),
        kind: edge.kind,
        scope: edge.scope,
        mapped: edge.mapped.as_ref().map(|mapped| names.mapped(mapped)),
        relation: edge.relation.clone(),
        exact: edge.exact,
        carried: edge.carried,
        distances: edge.distances.clone(),
        guards: edge.conditions.iter().map(|g| names.guard(g)).collect(),
        absent_if: edge.absent_if.iter().map(|g| names.guard(g)).collect(),
        reason: edge.reason.map(|reason| reason.name().to_string()),
        because: edge.because.clone(),
        witness: edge.witness.as_deref().map(witness),
    });
    let rotated = Rotated::new(graph);
    let groups = plan.groups.iter();
    let groups: Vec<_> = groups
        .map(|group| rotation::members(graph, group))
        .collect();
    let missed = missed.iter().filter_map(|each| {
        let (source, sink) = rotated.as_written(each, missed, &groups)?;
        Some(ReportMissed {
            src: source.0,
            dst: sink.0,
            reason: each.rejection.reason.name().to_string(),
            message: each.rejection.message.clone(),
            file: each.rejection.location.file.clone(),
            line: each.rejection.location.line,
            carried: rotated.is_carried(each),
        })
    });
    let stages = stages.iter().map(|(stage, seconds)| ReportStage {
        name: stage.name().to_string(),
        seconds: *seconds,
    });
    Report {
        version: VERSION,
        counts: ReportCounts::of_plan(graph, plan),
        executed: None,
        nodes: graph
            .nodes
            .iter()
            .map(|node| ReportNode {
                first_iteration: rotated.is_in_front(node.id),
                last_iteration: rotated.is_of_last(node.id),
                past_loop: rotated.is_past(node.id),
                ..describe(graph, kernels, node)
            })
            .collect(),
        edges: edges.collect(),
        overlaps: None,
        planning: None,
        fusions: plan
            .groups
            .iter()
            .filter(|group| group.members.len() > 1)
            .map(|group| ReportFusion {
                of_next_iteration: rotated.of_next_iteration(graph, group),
                of_last_iteration: rotated.of_last_iteration(graph, group),
                ..fusion(graph, (kernels, dependences), &names, group)
            })
            .collect(),
        batched_regions: Vec::new(),
        persistent_loops: persistent::persistent_loops(graph, plan),
        reservations: Vec::new(),
        handed_on: Vec::new(),
        missed: missed.collect(),
        kernels: effects::launched_kernels(graph, kernels),
        stages: stages.collect(),
    }
}

/// The report in the form that was asked for; as text its dependences are listed only where that is wanted,
/// the other forms have them in any case.
pub fn render(report: &Report, format: ReportFormat, dependences: bool) -> String {
    match format {
        ReportFormat::Text => render_text(report, dependences),
        ReportFormat::Json => render_json(report),
        ReportFormat::Dot => render_dot(report),
        ReportFormat::Html => render_html(report),
    }
}

/// The report as JSON, indented, with a final newline.
pub fn render_json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report has only plain data");
    text.push('\n');
    text
}

/// `sirius: 9 launches -> 3`, when something fuses; see [`ReportCounts`].
pub fn summary_line(graph: &LaunchGraph, plan: &FusionPlan) -> Option<String> {
    summary(&ReportCounts::of_plan(graph, plan))
}

impl Report {
    /// Names the files of `inputs` as the command line does, where debug information has another
    /// spelling of the same path.
    pub fn spell_files_as(&mut self, inputs: &[PathBuf]) {
        let spellings: Vec<(PathBuf, String)> = inputs
            .iter()
            .filter_map(|input| {
                Some((
                    std::path::absolute(input).ok()?,
                    input.display().to_string(),
                ))
            })
            .collect();
        let mut respelled = BTreeMap::new();
        let files = self.nodes.iter_mut().map(|node| &mut node.file);
        let missed = self.missed.iter_mut().map(|missed| &mut missed.file);
        let witnesses = self
            .edges
            .iter_mut()
            .filter_map(|edge| edge.witness.as_mut());
        let ends = witnesses.flat_map(|w| [&mut w.source.file, &mut w.sink.file]);
        for file in files.chain(missed).chain(ends) {
            let absolute = std::path::absolute(file.as_str()).unwrap_or_default();
            if let Some((_, spelling)) = spellings.iter().find(|(path, _)| *path == absolute) {
                if file != spelling {
                    respelled.insert(file.clone(), spelling.clone());
                }
                file.clone_from(spelling);
            }
        }
        let witnesses = self
            .edges
            .iter_mut()
            .filter_map(|edge| edge.witness.as_mut());
        let missed = self.missed.iter_mut().map(|missed| &mut missed.message);
        let orders = self
            .batched_regions
            .iter_mut()
            .flat_map(ReportBatchedRegion::explanations);
        let texts = missed.chain(witnesses.map(|witness| &mut witness.text));
        for text in texts.chain(orders) {
            for (file, spelling) in &respelled {
                *text = text.replace(&format!("({file}:"), &format!("({spelling}:"));
            }
        }
    }

    /// The same line as [`summary_line`], from a report.
    pub fn summary_line(&self) -> Option<String> {
        summary(&self.counts)
    }
}

fn witness(witness: &Witness) -> ReportWitness {
    let end = |end: &WitnessEnd| ReportWitnessEnd {
        block: end.place.map(|(block, _)| block),
        thread: end.place.map(|(_, thread)| thread),
        file: end.location.file.clone(),
        line: end.location.line,
    };
    ReportWitness {
        text: witness.text.clone(),
        certain: witness.certain,
        byte: witness.byte,
        source: end(&witness.source),
        sink: end(&witness.sink),
    }
}

/// Thread, block or global, as reports write it.
fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Thread => "thread",
        Scope::Block => "block",
        Scope::Global => "global",
    }
}

/// Flow, anti, output or reduction, as reports write it.
fn kind_name(kind: DependenceKind) -> &'static str {
    match kind {
        DependenceKind::Flow => "flow",
        DependenceKind::Anti => "anti",
        DependenceKind::Output => "output",
        DependenceKind::Reduction => "reduction",
    }
}

fn summary(counts: &ReportCounts) -> Option<String> {
    (counts.something_fuses()).then(|| format!("sirius: {counts}"))
}

fn describe(graph: &LaunchGraph, kernels: &[KernelModel], node: &Node) -> ReportNode {
    let stream = |stream: &Stream| match stream {
        Stream::Default => "default".to_string(),
        Stream::Handle(value) => format!("stream{}", value.0),
        Stream::Unknown => "unknown".to_string(),
    };
    let plain = |kind, name: &str| ReportNode {
        id: node.id.0,
        kind,
        kernel: None,
        name: name.to_string(),
        file: node.location.file.clone(),
        line: node.location.line,
        site: None,
        grid: None,
        block: None,
        stream: None,
        host_loop: host_loop(graph, node.block),
        first_iteration: false,
        last_iteration: false,
        past_loop: false,
    };
    match &node.kind {
        NodeKind::Launch(launch) => {
            let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
            let name = model.map_or("unknown kernel", |model| &model.display_name);
            let kind = launch_kind(graph, launch.id);
            if kind != ReportNodeKind::Launch {
                let name = match kind {
                    ReportNodeKind::Set => "set",
                    _ => "copy",
                };
                return ReportNode {
                    stream: Some(stream(&launch.stream)),
                    ..plain(kind, name)
                };
            }
            ReportNode {
                kernel: model.map(|model| model.name.clone()),
                site: Some(launch.id.0),
                grid: Some(launch.grid.map(|value| extent(graph, value))),
                block: Some(launch.block.map(|value| extent(graph, value))),
                stream: Some(stream(&launch.stream)),
                ..plain(ReportNodeKind::Launch, name)
            }
        }
        NodeKind::Copy { stream: on, .. } => ReportNode {
            stream: Some(stream(on)),
            ..plain(ReportNodeKind::Copy, "copy")
        },
        NodeKind::Set { stream: on, .. } => ReportNode {
            stream: Some(stream(on)),
            ..plain(ReportNodeKind::Set, "set")
        },
        NodeKind::Library {
            stream: on, what, ..
        } => ReportNode {
            stream: Some(stream(on)),
            ..plain(ReportNodeKind::Opaque, what)
        },
        NodeKind::Allocation { buffer } => {
            let buffer = graph.buffers.get(buffer.0);
            plain(
                ReportNodeKind::Alloc,
                buffer.map_or("allocation", |buffer| &buffer.name),
            )
        }
        NodeKind::Free { .. } => plain(ReportNodeKind::Free, "free"),
        NodeKind::Synchronise(_) => plain(ReportNodeKind::Sync, "synchronise"),
        NodeKind::ErrorCheck => plain(ReportNodeKind::Sync, "error check"),
        NodeKind::StreamOperation => plain(ReportNodeKind::Sync, "stream or event operation"),
        NodeKind::HostAccess { .. } => plain(ReportNodeKind::Opaque, "host access"),
        NodeKind::Output { .. } => plain(ReportNodeKind::Opaque, "host output"),
        NodeKind::MayThrow { what } | NodeKind::Opaque { what } => {
            plain(ReportNodeKind::Opaque, &source_name(what))
        }
    }
}

fn extent(graph: &LaunchGraph, value: ValueId) -> Extent {
    match graph.values.get(value.0).and_then(|value| value.constant) {
        Some(constant) => Extent::Known(constant),
        None => Extent::Named(format!("v{}", value.0)),
    }
}

fn host_loop(graph: &LaunchGraph, block: HostBlockId) -> Option<ReportLoop> {
    let innermost = graph.blocks.get(block.0)?.innermost_loop?;
    let trip = graph.loops.get(innermost)?.trip;
    let mut depth = 1;
    let mut current = innermost;
    // A parent is another loop; the bound keeps a malformed graph from holding us up.
    while let Some(parent) = graph
        .loops
        .get(current)
        .and_then(|host_loop| host_loop.parent)
        && depth <= graph.loops.len()
    {
        depth += 1;
        current = parent;
    }
    Some(ReportLoop { depth, trip })
}

fn fusion(
    graph: &LaunchGraph,
    (kernels, dependences): (&[KernelModel], &DependenceGraph),
    names: &LaunchNames<'_>,
    group: &FusionGroup,
) -> ReportFusion {
    let members: Vec<_> = group
        .members
        .iter()
        .filter_map(|member| find_launch(graph, member.launch))
        .collect();
    let kernel: Vec<_> = members
        .iter()
        .map(|(_, launch)| kernel_name(kernels, launch))
        .collect();
    let nodes: Vec<_> = members.iter().map(|(node, _)| node.id).collect();
    ReportFusion {
        kernel: kernel.join("+"),
        members: members.iter().map(|(node, _)| node.id.0).collect(),
        layout: group.layout.clone(),
        layouts: group.layouts.clone(),
        layout_not_there: None,
        tuned: None,
        maps: maps::maps(graph, kernels, names, group),
        grid_barriers: grid_barriers::grid_barriers(dependences, group, &nodes),
        last_block: grid_barriers::last_block(dependences, group, &nodes),
        fallback: fallback(graph, names, group),
        also_without_last_block: group.front_guards.is_some(),
        guards: group
            .guards
            .iter()
            .chain(group.partial_guards.iter().flat_map(|tests| &tests.guards))
            .map(|guard| names.guard(guard))
            .collect(),
        partial: group.is_partial(),
        of_next_iteration: Vec::new(),
        of_last_iteration: Vec::new(),
        not_written: Vec::new(),
        resources: Vec::new(),
    }
}

fn fallback(
    graph: &LaunchGraph,
    names: &LaunchNames<'_>,
    group: &FusionGroup,
) -> Vec<ReportFallback> {
    let parts = group.fallback.iter().map(|part| {
        let members = part.members.iter();
        let nodes = members.filter_map(|member| find_launch(graph, member.launch));
        ReportFallback {
            members: nodes.map(|(node, _)| node.id.0).collect(),
            guards: part.guards.iter().map(|guard| names.guard(guard)).collect(),
        }
    });
    parts.collect()
}

fn kernel_name<'a>(kernels: &'a [KernelModel], launch: &Launch) -> &'a str {
    let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
    model.map_or("?", |model| model.display_name.as_str())
}

fn find_launch(graph: &LaunchGraph, id: LaunchId) -> Option<(&Node, &Launch)> {
    graph.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Launch(launch) if launch.id == id => Some((node, launch)),
        _ => None,
    })
}
