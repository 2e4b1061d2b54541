//! The static graph against what was seen.

use crate::history::{History, LaunchSeen, Meeting};
use crate::paths::{Paths, Step};
use crate::relations::{Relations, check_map};
use crate::rows::{NeighbourEdge, Rows, kind_name, pair_name};
use crate::values::{Operands, Values};
use serde_json::Value;
use sirius_rs::dependence::{DependenceKind, Edge, Scope};
use sirius_rs::launch::NodeId;
use std::collections::{BTreeSet, HashMap};

/// The edges that a compilation found, and what their names mean in a trace.
pub struct StaticGraph {
    pub edges: Vec<Edge>,
    pub launches: Vec<LaunchNode>,
    /// What the launches' values are called.
    pub operands: Operands,
    /// The nodes that touch device memory, in host order.
    pub operations: Vec<u64>,
}

/// A launch of the static graph.
#[derive(Clone)]
pub struct LaunchNode {
    pub node: usize,
    pub site: u32,
    pub name: String,
    pub line: u64,
}

/// Everything that a comparison found.
#[derive(Default)]
pub struct Comparison {
    /// Each is a dependence that the graph lacks or narrows, in words.
    pub faults: Vec<String>,
    /// The edges between launches that were neighbours in the run.
    pub neighbours: Vec<NeighbourEdge>,
    /// Launches that came one after the other, and the pairs of sites that they are of.
    pub launch_pairs: usize,
    pub site_pairs: usize,
    /// Ordered pairs of launches between which the run shows a dependence, all of them compared with the
    /// graph, and the pairs of sites that they are of.
    pub dependent_pairs: usize,
    pub dependent_sites: usize,
    /// Sampled pairs of threads that were looked up in relations, and in one-to-one maps.
    pub pairs: usize,
    pub mapped_pairs: usize,
    /// Conditions of edges that were asked for, and how many of them the run decides.
    pub conditions: usize,
    pub decided: usize,
}

impl StaticGraph {
    /// From a report in JSON and the `dependence` dump. `None` when one has another form.
    pub fn new(report: &Value, dump: (Vec<Edge>, Operands)) -> Option<Self> {
        let (edges, operands) = dump;
        let mut launches = Vec::new();
        for node in report["nodes"].as_array()? {
            let Some(site) = node["site"].as_u64() else {
                continue;
            };
            launches.push(LaunchNode {
                node: usize::try_from(node["id"].as_u64()?).ok()?,
                site: u32::try_from(site).ok()?,
                name: node["name"].as_str()?.to_owned(),
                line: node["line"].as_u64()?,
            });
        }
        let touches = |node: &&Value| {
            let kind = node["kind"].as_str();
            let listed = ["launch", "copy", "set", "free"];
            let ends = |edge: &Edge| {
                let id = node["id"].as_u64();
                [edge.source, edge.sink]
                    .iter()
                    .any(|end| Some(end.0 as u64) == id)
            };
            kind.is_some_and(|kind| listed.contains(&kind)) || edges.iter().any(ends)
        };
        let operations = report["nodes"].as_array()?.iter().filter(touches);
        let operations = operations.filter_map(|node| node["id"].as_u64()).collect();
        Some(Self {
            edges,
            launches,
            operands,
            operations,
        })
    }

    /// What speaks for dependences between operations that are far apart.
    fn paths(&self) -> Paths {
        let is_launch = |node: NodeId| self.launches.iter().any(|launch| launch.node == node.0);
        let always = self.edges.iter().filter(|edge| edge.absent_if.is_empty());
        let steps = always.map(|edge| Step {
            ends: (edge.source.0 as u64, edge.sink.0 as u64),
            carried: edge.carried,
            separates: edge.scope == Scope::Global && edge.mapped.is_none()
                || !is_launch(edge.source)
                || !is_launch(edge.sink),
        });
        Paths::new(steps, &self.operations)
    }

    /// The edges and operands of the text that `--sirius-dump=dependence` gives.
    pub fn read_dump(text: &str) -> Option<(Vec<Edge>, Operands)> {
        let (_, dump) = text.split_once("; dependence\n")?;
        let mut values = serde_json::Deserializer::from_str(dump).into_iter::<Value>();
        let mut next = || values.next()?.ok();
        let edges = serde_json::from_value(next()?).ok()?;
        Some((edges, serde_json::from_value(next()?).ok()?))
    }
}

/// Launch pairs of two sites whose pairs of threads are looked up in relations.
const DETAILED: usize = 12;

/// Holds the graph against a run of the unfused program.
pub fn compare(graph: &StaticGraph, history: &History) -> Comparison {
    let mut run = Run::new(graph, history);
    for (ends, meeting) in &history.meetings {
        for asked in asked_for(ends.2) {
            run.meeting(*ends, *asked, meeting);
        }
    }
    for (number, seen) in &history.launches {
        let wrong = graph.operands.wrong_constants(seen);
        let faults = wrong
            .iter()
            .map(|wrong| format!("launch {number}: {wrong}"));
        run.comparison.faults.extend(faults);
    }
    run.neighbours();
    run.finish()
}

/// A comparison that is going on.
struct Run<'a> {
    graph: &'a StaticGraph,
    history: &'a History,
    launches: HashMap<u32, &'a LaunchNode>,
    edges: HashMap<(usize, usize), Vec<&'a Edge>>,
    whole_run: Values,
    paths: Paths,
    relations: Relations,
    rows: Rows,
    comparison: Comparison,
    /// How many launch pairs of two sites were looked at, by what is looked at.
    detailed: HashMap<(u32, u32, Option<DependenceKind>), usize>,
    dependent: BTreeSet<(u32, u32)>,
    dependent_sites: BTreeSet<(u32, u32)>,
}

impl<'a> Run<'a> {
    fn new(graph: &'a StaticGraph, history: &'a History) -> Self {
        let mut edges: HashMap<_, Vec<&Edge>> = HashMap::new();
        for edge in &graph.edges {
            let ends = (edge.source.0, edge.sink.0);
            edges.entry(ends).or_default().push(edge);
        }
        let launches = graph.launches.iter().map(|launch| (launch.site, launch));
        Self {
            graph,
            history,
            launches: launches.collect(),
            edges,
            whole_run: graph.operands.of_run(history.launches.values()),
            paths: graph.paths(),
            relations: Relations::default(),
            rows: Rows::default(),
            comparison: Comparison::default(),
            detailed: HashMap::new(),
            dependent: BTreeSet::new(),
            dependent_sites: BTreeSet::new(),
        }
    }

    /// Whether the edges of the kind asked for speak for what was seen between two launches, or those of the
    /// kind that it was seen as.
    fn meeting(
        &mut self,
        (first, second, seen_as): (u32, u32, DependenceKind),
        kind: DependenceKind,
        meeting: &Meeting,
    ) {
        let launches = &self.history.launches;
        let (Some(a), Some(b)) = (launches.get(&first), launches.get(&second)) else {
            return;
        };
        // Launches of a graph are its call's, which is a fence and has no edges.
        if [a.site, b.site].contains(&sirius_runtime::output::trace::REPLAYED) {
            return;
        }
        let (Some(&source), Some(&sink)) = (self.launches.get(&a.site), self.launches.get(&b.site))
        else {
            let text = format!("launch {first} or {second} of the run is not in the graph");
            self.comparison.faults.push(text);
            return;
        };
        self.dependent.insert((first, second));
        self.dependent_sites.insert((a.site, b.site));
        let name = format!("{} {}", pair_name(source, sink), kind_name(kind));
        let adjacent = first + 1 == second;
        let values = self.graph.operands.of_pair(&self.whole_run, a, b);
        let all = self.claims((source, a), (sink, b), &values, adjacent);
        let claims: Vec<Claim> = all
            .into_iter()
            .filter(|claim| claim.edge.kind == kind || claim.edge.kind == seen_as)
            .collect();
        let (from, to) = (source.node as u64, sink.node as u64);
        let Some(predicted) = claims.iter().filter_map(|claim| claim.scope).max() else {
            let issued = claims.is_empty() && self.graph.operands.is_issued_before(from, to);
            if !issued && !self.paths.speak_for(from, to, true) {
                let ruled_out = if claims.is_empty() {
                    "the graph has no such edge"
                } else {
                    "the tests of the graph's edges rule it out"
                };
                let text = format!(
                    "{name}: seen with scope {:?}, but {ruled_out}",
                    meeting.scope
                );
                self.comparison.faults.push(text);
            }
            return;
        };
        // An edge within an iteration says nothing of later ones, for which a path may speak.
        let carried = claims.iter().any(|claim| claim.edge.carried);
        if !carried && !adjacent && self.paths.speak_for(from, to, false) {
            return;
        }
        if predicted < meeting.scope {
            self.comparison.faults.push(format!(
                "{name}: seen with scope {:?}, but the graph says {predicted:?}",
                meeting.scope
            ));
        }
        let times = self
            .detailed
            .entry((a.site, b.site, Some(kind)))
            .or_default();
        *times += 1;
        if *times <= DETAILED {
            self.look_up(&name, &claims, meeting, (a, b), &values);
        }
        if adjacent {
            for claim in claims.iter().filter(|claim| may_be_next(claim.edge)) {
                let row = (claim.edge.kind, meeting.scope);
                self.rows.observe((source, sink), row);
            }
        }
    }

    /// Looks for threads that met in the relations and maps of the edges.
    fn look_up(
        &mut self,
        name: &str,
        claims: &[Claim],
        meeting: &Meeting,
        (a, b): (&LaunchSeen, &LaunchSeen),
        values: &Values,
    ) {
        let present: Vec<Claim> = claims
            .iter()
            .filter(|claim| claim.scope.is_some())
            .copied()
            .collect();
        let (count, lacking) = self.relations.lacking(&present, meeting, (a, b), values);
        self.comparison.pairs += count;
        if let Some((from, to)) = lacking {
            let text = format!("{name}: {from:?} and {to:?} met, but no relation holds them");
            self.comparison.faults.push(text);
        }
        // A map speaks for all conflicts of its edge, so of one edge alone it can be refuted.
        let [
            Claim {
                edge, void: false, ..
            },
        ] = present[..]
        else {
            return;
        };
        if let Some(mapped) = &edge.mapped {
            let (count, fault) = check_map(&self.graph.operands, mapped, meeting, (a, b), values);
            self.comparison.mapped_pairs += count;
            let text = fault.map(|fault| format!("{name}: the map is wrong: {fault}"));
            self.comparison.faults.extend(text);
        }
    }

    /// What the edges that speak of two launches say. Of neighbours in host order, the ones within an
    /// iteration.
    fn claims(
        &mut self,
        (source, a): (&LaunchNode, &LaunchSeen),
        (sink, b): (&LaunchNode, &LaunchSeen),
        values: &Values,
        adjacent: bool,
    ) -> Vec<Claim<'a>> {
        let (from, to) = (source.node, sink.node);
        let edges = self.edges.get(&(from, to)).into_iter().flatten();
        let speaking = edges.filter(|edge| !adjacent || edge.carried == (from >= to));
        let mut claims = Vec::new();
        for edge in speaking {
            let guards = edge.conditions.iter().chain(&edge.absent_if);
            let decided = guards.map(|guard| self.graph.operands.holds(guard, values, [a, b]));
            let decided: Vec<_> = decided.collect();
            self.comparison.conditions += decided.len();
            self.comparison.decided += decided.iter().flatten().count();
            let (conditions, absent_if) = decided.split_at(edge.conditions.len());
            claims.push(Claim::new(edge, conditions, absent_if));
        }
        claims
    }

    /// What the edges say of launches that came one after the other.
    fn neighbours(&mut self) {
        let launches: Vec<_> = self.history.launches.values().collect();
        let mut sites = BTreeSet::new();
        for pair in launches.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let (Some(&source), Some(&sink)) =
                (self.launches.get(&a.site), self.launches.get(&b.site))
            else {
                continue;
            };
            sites.insert((a.site, b.site));
            let values = self.graph.operands.of_pair(&self.whole_run, a, b);
            let mut claims = self.claims((source, a), (sink, b), &values, true);
            claims.retain(|claim| may_be_next(claim.edge));
            let times = self.detailed.entry((a.site, b.site, None)).or_default();
            *times += 1;
            let detailed = *times <= DETAILED;
            let relations = &mut self.relations;
            self.rows
                .predict((source, sink), &claims, |claim| match detailed {
                    true => relations.scope_at_run(claim, (a, b), &values),
                    false => None,
                });
        }
        self.comparison.launch_pairs = launches.len().saturating_sub(1);
        self.comparison.site_pairs = sites.len();
    }

    fn finish(mut self) -> Comparison {
        self.comparison.dependent_pairs = self.dependent.len();
        self.comparison.dependent_sites = self.dependent_sites.len();
        self.comparison.neighbours = self.rows.finish();
        self.comparison
    }
}

/// Whether an edge may be that of a launch and the next one: where both are in several loops, it is
/// the innermost one that goes on, unless the loops around it launch nothing else.
fn may_be_next(edge: &Edge) -> bool {
    let inner = edge.distances.last();
    inner.is_none_or(|distance| distance.least == Some(1))
}

/// The kinds of edges that have to hold what was seen: two atomic updates of a cell are in a
/// reduction, or in all the others.
fn asked_for(seen: DependenceKind) -> &'static [DependenceKind] {
    use DependenceKind::{Anti, Flow, Output, Reduction};
    match seen {
        Flow => &[Flow],
        Anti => &[Anti],
        Output => &[Output],
        Reduction => &[Flow, Anti, Output],
    }
}

/// What an edge says of a pair of launches.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    pub edge: &'a Edge,
    /// Its scope, or global when its conditions do not hold for these launches. `None`: all that
    /// makes it absent holds.
    pub scope: Option<Scope>,
    /// Its conditions do not hold, so that it says nothing.
    pub void: bool,
}

impl<'a> Claim<'a> {
    fn new(edge: &'a Edge, conditions: &[Option<bool>], absent_if: &[Option<bool>]) -> Self {
        let void = conditions.contains(&Some(false));
        let absent = !absent_if.is_empty() && absent_if.iter().all(|it| *it == Some(true));
        let scope = if void { Scope::Global } else { edge.scope };
        Self {
            edge,
            scope: (!absent).then_some(scope),
            void: void && !absent,
        }
    }
}
