//! The static graph against what was seen.

use super::history::{History, LaunchSeen, Meeting, Point};
use super::paths::{Paths, Step};
use serde_json::Value;
use sirius_rs::dependence::{DependenceKind, Edge, Guard, Width};
use sirius_rs::expression::{Condition, Expression};
use sirius_rs::isl::Map;
use sirius_rs::launch::{NodeId, ValueId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The edges that a compilation found, and what their names mean in a trace.
pub struct StaticGraph {
    pub edges: Vec<Edge>,
    pub launches: Vec<LaunchNode>,
    /// The nodes that touch device memory, in host order.
    pub operations: Vec<u64>,
}

/// A launch of the static graph.
#[derive(Clone)]
pub struct LaunchNode {
    pub node: usize,
    site: u32,
    name: String,
    line: u64,
    /// Grid and block extents that are values of the run.
    extents: [Option<ValueId>; 6],
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
    /// Sampled pairs of threads that were looked up in relations.
    pub pairs: usize,
}

/// A static edge, or several of one kind, between two sites that ran one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourEdge {
    /// `scale:14 -> shift:15 flow`.
    pub name: String,
    /// What the graph says.
    pub predicted: Width,
    /// What was seen; `None`: no common byte.
    pub observed: Option<Width>,
    /// A test at run time can tell that there is no dependence.
    pub guarded: bool,
    /// Why the graph says so, in its own words.
    pub because: String,
}

impl NeighbourEdge {
    /// The graph says what was seen: the same width, or that a test can tell there is nothing.
    pub fn is_exact(&self) -> bool {
        match self.observed {
            Some(width) => width == self.predicted,
            None => self.guarded,
        }
    }
}

impl StaticGraph {
    /// From a report in JSON and the edges of the `dependence` dump. `None` when the report has
    /// another form.
    pub fn new(report: &Value, edges: Vec<Edge>) -> Option<Self> {
        let mut launches = Vec::new();
        for node in report["nodes"].as_array()? {
            let Some(site) = node["site"].as_u64() else {
                continue;
            };
            let mut extents = [None; 6];
            for (index, extent) in extents.iter_mut().enumerate() {
                let side = if index < 3 { "grid" } else { "block" };
                let name = node[side][index % 3].as_str();
                *extent =
                    name.and_then(|name| Some(ValueId(name.strip_prefix('v')?.parse().ok()?)));
            }
            launches.push(LaunchNode {
                node: usize::try_from(node["id"].as_u64()?).ok()?,
                site: u32::try_from(site).ok()?,
                name: node["name"].as_str()?.to_owned(),
                line: node["line"].as_u64()?,
                extents,
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
            separates: edge.width == Width::Global && edge.mapped.is_none()
                || !is_launch(edge.source)
                || !is_launch(edge.sink),
        });
        Paths::new(steps, &self.operations)
    }

    /// The edges of the text that `--sirius-dump=dependence` gives.
    pub fn edges_of_dump(text: &str) -> Option<Vec<Edge>> {
        let (_, dump) = text.split_once("; dependence\n")?;
        let mut values = serde_json::Deserializer::from_str(dump).into_iter::<Vec<Edge>>();
        values.next()?.ok()
    }

    fn launch(&self, site: u32) -> Option<&LaunchNode> {
        self.launches.iter().find(|launch| launch.site == site)
    }
}

/// Launch pairs of two sites whose pairs of threads are looked up in relations.
const DETAILED: usize = 12;

/// Pairs of threads of each width that are looked up for two launches.
const LOOKED_UP: usize = 6;

/// Holds the graph against a run of the unfused program.
pub fn compare(graph: &StaticGraph, history: &History) -> Comparison {
    let mut comparison = Comparison::default();
    let paths = graph.paths();
    let mut relations = Relations::default();
    let mut rows = Rows::default();
    let mut detailed: HashMap<(u32, u32, DependenceKind), usize> = HashMap::new();
    for ((first, second, kind), meeting) in &history.meetings {
        let (Some(a), Some(b)) = (history.launches.get(first), history.launches.get(second)) else {
            continue;
        };
        let (Some(source), Some(sink)) = (graph.launch(a.site), graph.launch(b.site)) else {
            let text = format!("launch {first} or {second} of the run is not in the graph");
            comparison.faults.push(text);
            continue;
        };
        let name = format!("{} {}", pair_name(source, sink), kind_name(*kind));
        let adjacent = first + 1 == *second;
        let values = values_of_run((source, a), (sink, b));
        let claims: Vec<Claim> = candidates(graph, source, sink, adjacent)
            .filter(|edge| edge.kind == *kind)
            .map(|edge| Claim::new(edge, &values))
            .collect();
        let Some(predicted) = claims.iter().map(|claim| claim.width).max() else {
            if !paths.speak_for(source.node as u64, sink.node as u64, true) {
                comparison.faults.push(format!(
                    "{name}: seen with width {:?}, but the graph has no such edge",
                    meeting.width
                ));
            }
            continue;
        };
        // An edge within an iteration says nothing of later ones, for which a path may speak.
        let carried = claims.iter().any(|claim| claim.edge.carried);
        if !carried && !adjacent && paths.speak_for(source.node as u64, sink.node as u64, false) {
            continue;
        }
        if predicted < meeting.width {
            comparison.faults.push(format!(
                "{name}: seen with width {:?}, but the graph says {predicted:?}",
                meeting.width
            ));
        }
        let times = detailed.entry((a.site, b.site, *kind)).or_default();
        *times += 1;
        if *times <= DETAILED {
            let lacking = relations.lacking(&claims, meeting, (a, b), &values);
            comparison.pairs += lacking.0;
            if let Some((from, to)) = lacking.1 {
                comparison.faults.push(format!(
                    "{name}: {from:?} and {to:?} met, but no relation holds them"
                ));
            }
        }
        if adjacent {
            rows.observe(source, sink, &claims, *kind, meeting.width);
        }
    }
    let launches: Vec<_> = history.launches.iter().collect();
    let mut seen_pairs = BTreeSet::new();
    for pair in launches.windows(2) {
        let ((_, a), (_, b)) = (pair[0], pair[1]);
        let (Some(source), Some(sink)) = (graph.launch(a.site), graph.launch(b.site)) else {
            continue;
        };
        if seen_pairs.insert((a.site, b.site)) {
            let values = values_of_run((source, a), (sink, b));
            for edge in candidates(graph, source, sink, true).filter(|edge| may_be_next(edge)) {
                rows.predict(source, sink, &Claim::new(edge, &values));
            }
        }
    }
    comparison.launch_pairs = launches.len().saturating_sub(1);
    comparison.site_pairs = seen_pairs.len();
    comparison.neighbours = rows.finish();
    comparison
}

/// Whether an edge may be that of a launch and the next one: where both are in several loops, it is
/// the innermost one that goes on, unless the loops around it launch nothing else.
fn may_be_next(edge: &Edge) -> bool {
    let inner = edge.distances.last();
    inner.is_none_or(|distance| distance.least.is_some_and(|least| least == 1))
}

/// What an edge says of a pair of launches.
struct Claim<'a> {
    edge: &'a Edge,
    /// Its width, or global when its conditions do not hold for these launches.
    width: Width,
    /// Its conditions do not hold, so that it says nothing.
    void: bool,
}

impl<'a> Claim<'a> {
    fn new(edge: &'a Edge, values: &Values) -> Self {
        let void = edge
            .conditions
            .iter()
            .any(|guard| holds(guard, values) == Some(false));
        Self {
            edge,
            width: if void { Width::Global } else { edge.width },
            void,
        }
    }
}

/// The edges that speak of two launches. Of neighbours in host order, the ones within an iteration.
fn candidates<'a>(
    graph: &'a StaticGraph,
    source: &LaunchNode,
    sink: &LaunchNode,
    adjacent: bool,
) -> impl Iterator<Item = &'a Edge> {
    let (from, to) = (source.node, sink.node);
    graph.edges.iter().filter(move |edge| {
        edge.source.0 == from && edge.sink.0 == to && (!adjacent || edge.carried == (from >= to))
    })
}

/// Host values that a run shows: the extents of two launches.
type Values = HashMap<ValueId, i64>;

fn values_of_run(
    (source, a): (&LaunchNode, &LaunchSeen),
    (sink, b): (&LaunchNode, &LaunchSeen),
) -> Values {
    let mut values = Values::new();
    let mut differing = Vec::new();
    for (node, seen) in [(source, a), (sink, b)] {
        let extents = seen.grid.iter().chain(&seen.block);
        for (name, extent) in node.extents.iter().zip(extents) {
            let Some(name) = name else { continue };
            let extent = i64::from(*extent);
            if *values.entry(*name).or_insert(extent) != extent {
                differing.push(*name);
            }
        }
    }
    // A value that changes from launch to launch is told by neither.
    values.retain(|name, _| !differing.contains(name));
    values
}

fn holds(guard: &Guard, values: &Values) -> Option<bool> {
    match guard {
        Guard::Holds { condition, .. } => condition_holds(condition, values),
        Guard::RangesDisjoint { .. } => None,
        Guard::ConfigurationValid { .. } => Some(true),
    }
}

fn condition_holds(condition: &Condition<ValueId>, values: &Values) -> Option<bool> {
    match condition {
        Condition::LessEqual(a, b) => Some(evaluate(a, values)? <= evaluate(b, values)?),
        Condition::Equal(a, b) => Some(evaluate(a, values)? == evaluate(b, values)?),
        Condition::All(parts) => {
            let parts: Vec<_> = parts
                .iter()
                .map(|part| condition_holds(part, values))
                .collect();
            let unknown = parts.contains(&None);
            (parts.contains(&Some(false)) || !unknown).then(|| !parts.contains(&Some(false)))
        }
        Condition::Any(parts) => {
            let parts: Vec<_> = parts
                .iter()
                .map(|part| condition_holds(part, values))
                .collect();
            let unknown = parts.contains(&None);
            (parts.contains(&Some(true)) || !unknown).then(|| parts.contains(&Some(true)))
        }
    }
}

fn evaluate(expression: &Expression<ValueId>, values: &Values) -> Option<i64> {
    let both = |a: &Expression<ValueId>, b: &Expression<ValueId>| {
        Some((evaluate(a, values)?, evaluate(b, values)?))
    };
    match expression {
        Expression::Constant(value) => Some(*value),
        Expression::Leaf(value) => values.get(value).copied(),
        Expression::Add(a, b) => both(a, b).and_then(|(a, b)| a.checked_add(b)),
        Expression::Subtract(a, b) => both(a, b).and_then(|(a, b)| a.checked_sub(b)),
        Expression::Multiply(a, b) => both(a, b).and_then(|(a, b)| a.checked_mul(b)),
        Expression::FloorDivide(a, b) => both(a, b).and_then(|(a, b)| a.checked_div_euclid(b)),
        Expression::Minimum(a, b) => both(a, b).map(|(a, b)| a.min(b)),
        Expression::Maximum(a, b) => both(a, b).map(|(a, b)| a.max(b)),
    }
}

/// Relations that were read, by their text.
#[derive(Default)]
struct Relations {
    read: HashMap<String, Option<Map>>,
}

impl Relations {
    /// How many pairs were looked up, and one that is in no relation.
    fn lacking(
        &mut self,
        claims: &[Claim],
        meeting: &Meeting,
        (a, b): (&LaunchSeen, &LaunchSeen),
        values: &Values,
    ) -> (usize, Option<(Point, Point)>) {
        if claims.iter().any(|claim| claim.void) {
            return (0, None);
        }
        let mut count = 0;
        for (source, sink) in meeting
            .pairs
            .iter()
            .flat_map(|sample| sample.values().take(LOOKED_UP))
        {
            let Ok(pair) = Map::parse(&pair_text((*source, a), (*sink, b), values)) else {
                continue;
            };
            count += 1;
            if !claims.iter().any(|claim| self.contains(claim.edge, &pair)) {
                return (count, Some((*source, *sink)));
            }
        }
        (count, None)
    }

    /// Also true when isl gives no answer.
    fn contains(&mut self, edge: &Edge, pair: &Map) -> bool {
        let relation = self
            .read
            .entry(edge.relation.clone())
            .or_insert_with(|| Map::parse(&edge.relation).ok());
        let Some(relation) = relation else {
            return true;
        };
        let empty = relation
            .intersect(pair)
            .and_then(|common| common.is_empty());
        empty != Ok(true)
    }
}

/// A relation of one pair, for any value of the parameters but those that the run shows.
fn pair_text(
    (source, a): (Point, &LaunchSeen),
    (sink, b): (Point, &LaunchSeen),
    values: &Values,
) -> String {
    let place = |point: Point, seen: &LaunchSeen| {
        let [x, y, _] = seen.block.map(|extent| extent.max(1));
        let [bx, by, bz] = point.block;
        let (tx, ty, tz) = (point.thread % x, point.thread / x % y, point.thread / x / y);
        format!("{bx}, {by}, {bz}, {tx}, {ty}, {tz}")
    };
    let values: BTreeMap<usize, i64> = values
        .iter()
        .map(|(name, value)| (name.0, *value))
        .collect();
    let names: Vec<String> = values.keys().map(|name| format!("v{name}")).collect();
    let known: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("v{name} = {value}"))
        .chain([String::from("true")])
        .collect();
    format!(
        "[{}] -> {{ source[{}] -> sink[{}] : {} }}",
        names.join(", "),
        place(source, a),
        place(sink, b),
        known.join(" and ")
    )
}

/// Edges between neighbours by their names.
#[derive(Default)]
struct Rows {
    rows: BTreeMap<String, NeighbourEdge>,
}

impl Rows {
    fn observe(
        &mut self,
        source: &LaunchNode,
        sink: &LaunchNode,
        claims: &[Claim],
        kind: DependenceKind,
        width: Width,
    ) {
        let claims = claims.iter().filter(|claim| claim.edge.kind == kind);
        for claim in claims.filter(|claim| may_be_next(claim.edge)) {
            let row = self.predict(source, sink, claim);
            row.observed = row.observed.max(Some(width));
        }
    }

    fn predict(
        &mut self,
        source: &LaunchNode,
        sink: &LaunchNode,
        claim: &Claim,
    ) -> &mut NeighbourEdge {
        let edge = claim.edge;
        let name = format!("{} {}", pair_name(source, sink), kind_name(edge.kind));
        let row = self.rows.entry(name.clone()).or_insert(NeighbourEdge {
            name,
            predicted: claim.width,
            observed: None,
            guarded: !edge.absent_if.is_empty(),
            because: edge.because.clone(),
        });
        if claim.width > row.predicted {
            row.predicted = claim.width;
            row.because.clone_from(&edge.because);
        }
        row.guarded &= !edge.absent_if.is_empty();
        row
    }

    fn finish(self) -> Vec<NeighbourEdge> {
        self.rows.into_values().collect()
    }
}

fn pair_name(source: &LaunchNode, sink: &LaunchNode) -> String {
    format!(
        "{}:{} -> {}:{}",
        source.name, source.line, sink.name, sink.line
    )
}

fn kind_name(kind: DependenceKind) -> &'static str {
    match kind {
        DependenceKind::Flow => "flow",
        DependenceKind::Anti => "anti",
        DependenceKind::Output => "output",
    }
}
