//! Relations and maps of edges, asked about the threads of a run.

use crate::compare::Claim;
use crate::history::{LaunchSeen, Meeting, Point};
use crate::values::{NoValue, Operands, Values, evaluate};
use sirius_rs::dependence::{CoordinateSymbol, Edge, MappedScope, Scope};
use sirius_rs::launch::ValueId;
use sirius_rs::math::affine::Axis;
use sirius_rs::math::expression::Expression;
use sirius_rs::math::isl::Map;
use std::collections::HashMap;

/// Pairs of threads of each scope that are looked up for two launches.
const LOOKED_UP: usize = 6;

/// Relations that were read, by their text, and what was asked of them.
#[derive(Default)]
pub struct Relations {
    read: HashMap<String, Option<Map>>,
    scopes: HashMap<(String, String), Option<Scope>>,
}

impl Relations {
    /// How many pairs were looked up, and one that is in no relation.
    pub fn lacking(
        &mut self,
        claims: &[Claim],
        meeting: &Meeting,
        (a, b): (&LaunchSeen, &LaunchSeen),
        values: &Values,
    ) -> (usize, Option<(Point, Point)>) {
        if claims.iter().any(|claim| claim.void) {
            return (0, None);
        }
        let values = &of_interest(values, claims.iter().map(|claim| claim.edge));
        let mut count = 0;
        for (source, sink) in samples(meeting) {
            let Ok(pair) = Map::parse(&pair_text((source, a), (sink, b), values)) else {
                continue;
            };
            count += 1;
            if !claims.iter().any(|claim| self.contains(claim.edge, &pair)) {
                return (count, Some((source, sink)));
            }
        }
        (count, None)
    }

    /// Also true when isl gives no answer.
    fn contains(&mut self, edge: &Edge, pair: &Map) -> bool {
        let Some(relation) = self.read(edge) else {
            return true;
        };
        let empty = relation
            .intersect(pair)
            .and_then(|common| common.is_empty());
        empty != Ok(true)
    }

    fn read(&mut self, edge: &Edge) -> &Option<Map> {
        self.read
            .entry(edge.relation.to_string())
            .or_insert_with(|| Map::parse(&edge.relation).ok())
    }

    /// The scope of an edge's relation between two launches of a run; the edge's own scope where
    /// isl gives no answer.
    pub fn scope_at_run(
        &mut self,
        claim: &Claim,
        (a, b): (&LaunchSeen, &LaunchSeen),
        values: &Values,
    ) -> Option<Scope> {
        if claim.void || claim.scope.is_none() {
            return claim.scope;
        }
        let values = &of_interest(values, [claim.edge]);
        let launched = launched_text(a, b, values);
        let key = (claim.edge.relation.to_string(), launched.clone());
        if let Some(known) = self.scopes.get(&key) {
            return *known;
        }
        let scope = self
            .scope_within(claim.edge, &launched)
            .unwrap_or(claim.scope)
            .min(claim.scope);
        self.scopes.insert(key, scope);
        scope
    }

    /// `None` where isl gives no answer.
    fn scope_within(&mut self, edge: &Edge, launched: &str) -> Option<Option<Scope>> {
        let launched = Map::parse(launched).ok()?;
        let relation = self.read(edge).as_ref()?.intersect(&launched).ok()?;
        if relation.is_empty().ok()? {
            return Some(None);
        }
        let differ = |names: [&str; 3]| {
            let [x, y, z] = names.map(|name| format!("{name} != {name}'"));
            let space = "source[bx,by,bz,tx,ty,tz] -> sink[bx',by',bz',tx',ty',tz']";
            let apart = Map::parse(&format!("{{ {space} : {x} or {y} or {z} }}")).ok()?;
            Some(!relation.intersect(&apart).ok()?.is_empty().ok()?)
        };
        Some(Some(if differ(["bx", "by", "bz"])? {
            Scope::Global
        } else if differ(["tx", "ty", "tz"])? {
            Scope::Block
        } else {
            Scope::Thread
        }))
    }
}

/// The values that relations of edges name.
fn of_interest<'a>(values: &Values, edges: impl IntoIterator<Item = &'a Edge>) -> Values {
    let mut named = Values::new();
    for edge in edges {
        let list = edge
            .relation
            .split_once("] ->")
            .map_or("", |(list, _)| list);
        for name in list.trim_start_matches('[').split(',') {
            let number = name.trim().strip_prefix('v').and_then(|it| it.parse().ok());
            let value = number.map(ValueId).filter(|name| values.contains_key(name));
            named.extend(value.map(|name| (name, values[&name])));
        }
    }
    named
}

fn samples(meeting: &Meeting) -> impl Iterator<Item = (Point, Point)> {
    let pairs = meeting.pairs.iter();
    pairs.flat_map(|sample| sample.values().take(LOOKED_UP).copied())
}

/// The index of a thread on each axis.
fn thread_index(point: Point, seen: &LaunchSeen) -> [u32; 3] {
    let [x, y, _] = seen.block.map(|extent| extent.max(1));
    [point.thread % x, point.thread / x % y, point.thread / x / y]
}

/// A relation of one pair, for any value of the parameters but those that the run shows.
fn pair_text(
    (source, a): (Point, &LaunchSeen),
    (sink, b): (Point, &LaunchSeen),
    values: &Values,
) -> String {
    let place = |point: Point, seen: &LaunchSeen| {
        let indices = point.block.into_iter().chain(thread_index(point, seen));
        let indices: Vec<String> = indices.map(|index| index.to_string()).collect();
        indices.join(", ")
    };
    let (names, known) = parameters(values);
    format!(
        "[{names}] -> {{ source[{}] -> sink[{}] : {known} }}",
        place(source, a),
        place(sink, b)
    )
}

/// All pairs of places of two launches, with the parameters that the run shows.
fn launched_text(a: &LaunchSeen, b: &LaunchSeen, values: &Values) -> String {
    let (names, known) = parameters(values);
    let within = |names: [&str; 6], seen: &LaunchSeen| {
        let extents = seen.grid.into_iter().chain(seen.block);
        let bounds: Vec<String> = names
            .iter()
            .zip(extents)
            .map(|(name, extent)| format!("0 <= {name} < {extent}"))
            .collect();
        bounds.join(" and ")
    };
    format!(
        "[{names}] -> {{ source[bx,by,bz,tx,ty,tz] -> sink[bx',by',bz',tx',ty',tz'] : {known} and {} and {} }}",
        within(["bx", "by", "bz", "tx", "ty", "tz"], a),
        within(["bx'", "by'", "bz'", "tx'", "ty'", "tz'"], b)
    )
}

/// The parameters' names, and what they are.
fn parameters(values: &Values) -> (String, String) {
    let names: Vec<String> = values.keys().map(|name| format!("v{}", name.0)).collect();
    let known: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("v{} = {value}", name.0))
        .chain([String::from("true")])
        .collect();
    (names.join(", "), known.join(" and "))
}

/// Most places of a launch for which it is tried whether a map tells them apart.
const MOST_PLACES: u64 = 4096;

/// What a map says of what was seen: how many pairs it was asked about, and what is wrong with it.
pub fn check_map(
    operands: &Operands,
    mapped: &MappedScope,
    meeting: &Meeting,
    (a, b): (&LaunchSeen, &LaunchSeen),
    values: &Values,
) -> (usize, Option<String>) {
    let mut holds = mapped.conditions.iter();
    if !holds.all(|guard| operands.holds(guard, values, [a, b]) == Some(true)) {
        return (0, None);
    }
    let mut count = 0;
    for (source, sink) in samples(meeting) {
        let left = coordinates(&mapped.map.source, source, a, values);
        let right = coordinates(&mapped.map.sink, sink, b, values);
        let (Some(left), Some(right)) = (left, right) else {
            continue;
        };
        count += 1;
        if left != right {
            let text = format!("{source:?} and {sink:?} met, but are {left:?} and {right:?}");
            return (count, Some(text));
        }
    }
    let sides = [
        (&mapped.map.source, a, mapped.map.source_blocks),
        (&mapped.map.sink, b, mapped.map.sink_blocks),
    ];
    // What is told by runs of threads is in none of its blocks alone.
    for (map, seen, blocks) in sides.into_iter().filter(|(_, _, blocks)| *blocks > 0) {
        if let Some(fault) = not_distinguished(map, mapped.scope, seen, blocks, values) {
            return (count, Some(fault));
        }
    }
    (count, None)
}

/// Places that a map should tell apart and does not.
fn not_distinguished(
    map: &[Expression<CoordinateSymbol>],
    scope: Scope,
    seen: &LaunchSeen,
    most_blocks: i64,
    values: &Values,
) -> Option<String> {
    let product = |extents: [u32; 3]| extents.iter().map(|extent| u64::from(*extent)).product();
    let (blocks, threads): (u64, u64) = (product(seen.grid), product(seen.block));
    let threads = if scope == Scope::Thread { threads } else { 1 };
    if blocks.saturating_mul(threads) > MOST_PLACES {
        return None;
    }
    let mut places: HashMap<Vec<i64>, i64> = HashMap::new();
    let [x, y, _] = seen.grid.map(u64::from);
    for block in 0..blocks {
        let index = [block % x, block / x % y, block / x / y];
        let block = index.map(|index| u32::try_from(index).unwrap_or(u32::MAX));
        for thread in 0..threads {
            let thread = u32::try_from(thread).unwrap_or(u32::MAX);
            let at = coordinates(map, Point { block, thread }, seen, values)?;
            *places.entry(at).or_default() += 1;
        }
    }
    let crowded = places
        .into_iter()
        .find(|(_, places)| *places > most_blocks)?;
    Some(format!(
        "{} places have the coordinates {:?}",
        crowded.1, crowded.0
    ))
}

fn coordinates(
    map: &[Expression<CoordinateSymbol>],
    point: Point,
    seen: &LaunchSeen,
    values: &Values,
) -> Option<Vec<i64>> {
    let thread = thread_index(point, seen);
    let on = |indices: [u32; 3], axis: &Axis| Some(i64::from(indices[axis.index()]));
    let leaf = |symbol: &CoordinateSymbol| match symbol {
        CoordinateSymbol::Block(axis) => on(point.block, axis),
        CoordinateSymbol::Thread(axis) => on(thread, axis),
        CoordinateSymbol::Value(value) => values.get(value).copied(),
    };
    let found: Result<_, NoValue> = map
        .iter()
        .map(|coordinate| evaluate(coordinate, &leaf))
        .collect();
    found.ok()
}
