//! That the oracle objects where it must, and nowhere else: runs and graphs made by hand.

use super::compare::{StaticGraph, compare};
use super::history::History;
use serde_json::json;
use sirius_rs::dependence::{DependenceKind, Edge, Guard, Width};
use sirius_rs::diagnostics::Location;
use sirius_rs::expression::{Condition, Expression};
use sirius_rs::launch::{NodeId, ValueId};
use sirius_runtime::abi::access;
use sirius_runtime::trace::{Access, Record};

/// Two launches of two blocks of two threads: the first writes `y[i]`, the second reads `y[i]` and,
/// with `shift`, `y[i + shift]`.
fn run(shift: u64) -> History {
    let mut records = Vec::new();
    for launch in 0..2 {
        records.push(Record::Launch {
            launch,
            site: 10 + launch,
            grid: [2, 1, 1],
            block: [2, 1, 1],
            kernel: String::from("made"),
        });
        for index in 0..4_u64 {
            let kind = if launch == 0 {
                access::STORE
            } else {
                access::LOAD
            };
            let element = |at: u64| Access {
                thread: (index % 2) as u32,
                interval: 0,
                ordinal: 3,
                offset: 4 * at,
                size: 4,
                kind: kind as u8,
                space: 0,
            };
            let mut accesses = vec![element(index)];
            if launch == 1 && shift > 0 {
                accesses.push(element(index + shift));
            }
            records.push(Record::Accesses {
                launch,
                block: [(index / 2) as u32, 0, 0],
                accesses,
            });
        }
    }
    History::replay(&records)
}

fn edge(kind: DependenceKind, width: Width, relation: &str) -> Edge {
    let edge = json!({
        "source": 0, "sink": 1, "buffer": "y", "kind": kind, "width": width,
        "relation": relation, "exact": true, "conditions": [], "absent_if": [],
        "carried": false, "because": "", "reason": null, "location": Location::default(),
    });
    serde_json::from_value(edge).expect("it has all fields that have no default")
}

fn graph(edges: Vec<Edge>) -> StaticGraph {
    let node = |id: u32| {
        json!({"id": id, "site": 10 + id, "name": "made", "line": id,
               "grid": ["v0", 1, 1], "block": [2, 1, 1]})
    };
    let report = json!({"nodes": [node(0), node(1)]});
    StaticGraph::new(&report, edges).expect("the report is well formed")
}

const EVERYTHING: &str = "{ source[bx, by, bz, tx, ty, tz] -> sink[bx', by', bz', tx', ty', tz'] }";
const SAME_THREAD: &str = "[v0] -> { source[bx, 0, 0, tx, 0, 0] -> sink[bx, 0, 0, tx, 0, 0] : \
                           0 <= bx < v0 and 0 <= tx < 2 }";

/// Each case: what the run does, the graph, and whether the oracle must object.
pub fn check_comparison() -> Result<(), String> {
    let flow = |width, relation| edge(DependenceKind::Flow, width, relation);
    let when = |grid: i64, edge: Edge| Edge {
        conditions: vec![Guard::Holds {
            class: String::from("shape"),
            condition: Condition::Equal(Expression::Leaf(ValueId(0)), Expression::Constant(grid)),
        }],
        ..edge
    };
    let exact = || flow(Width::Thread, SAME_THREAD);
    let one_block = "{ source[0, 0, 0, tx, 0, 0] -> sink[0, 0, 0, tx, 0, 0] }";
    let too_small = "[v0] -> { source[bx, 0, 0, tx, 0, 0] -> sink[bx, 0, 0, tx, 0, 0] : \
                     0 <= bx < v0 and v0 < 2 }";
    let elsewhere = || Edge {
        sink: NodeId(7),
        ..flow(Width::Global, EVERYTHING)
    };
    let carried = Edge {
        carried: true,
        distances: Vec::new(),
        ..flow(Width::Global, EVERYTHING)
    };
    let anti = edge(DependenceKind::Anti, Width::Global, EVERYTHING);
    let cases = [
        ("exact", 0, vec![exact()], false),
        (
            "wider than needed",
            0,
            vec![flow(Width::Global, EVERYTHING)],
            false,
        ),
        ("no edge", 0, vec![], true),
        ("another kind", 0, vec![anti], true),
        ("another sink", 0, vec![elsewhere()], true),
        (
            "only from one iteration to the next",
            0,
            vec![carried],
            true,
        ),
        ("too narrow: thread for block", 1, vec![exact()], true),
        (
            "too narrow: block for global",
            2,
            vec![flow(Width::Block, EVERYTHING)],
            true,
        ),
        (
            "wide enough, but pairs are lacking",
            2,
            vec![flow(Width::Global, SAME_THREAD)],
            true,
        ),
        (
            "one block only",
            0,
            vec![flow(Width::Thread, one_block)],
            true,
        ),
        (
            "not for this grid",
            0,
            vec![flow(Width::Thread, too_small)],
            true,
        ),
        ("a condition that holds", 2, vec![when(2, exact())], true),
        ("a condition that fails", 2, vec![when(3, exact())], false),
        (
            "two edges together",
            0,
            vec![flow(Width::Thread, one_block), exact()],
            false,
        ),
    ];
    for (name, shift, edges, objects) in cases {
        let faults = compare(&graph(edges), &run(shift)).faults;
        if faults.is_empty() == objects {
            return Err(format!("{name}: must object: {objects}; found {faults:?}"));
        }
    }
    Ok(())
}

/// That the width that was seen is found, and counted as exact only where the graph says the same.
pub fn check_precision() -> Result<(), String> {
    for (shift, width) in [(0, Width::Thread), (1, Width::Global), (2, Width::Global)] {
        for predicted in [Width::Thread, Width::Block, Width::Global] {
            let edges = vec![edge(DependenceKind::Flow, predicted, EVERYTHING)];
            let rows = compare(&graph(edges), &run(shift)).neighbours;
            let [row] = &rows[..] else {
                return Err(format!("one edge, but the rows {rows:?}"));
            };
            if row.observed != Some(width) || row.is_exact() != (predicted == width) {
                return Err(format!("shift {shift}, predicted {predicted:?}: {row:?}"));
            }
        }
    }
    Ok(())
}
