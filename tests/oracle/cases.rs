//! That the oracle objects where it must, and nowhere else: runs and graphs made by hand.

use crate::compare::{StaticGraph, compare};
use crate::history::History;
use crate::values::Operands;
use serde_json::json;
use sirius_rs::dependence::{
    CoordinateMap, CoordinateSymbol, DependenceKind, Edge, Guard, MappedScope, PointerRange, Scope,
};
use sirius_rs::diagnostics::Location;
use sirius_rs::launch::{LaunchId, NodeId, Operand, ValueId};
use sirius_rs::math::affine::Axis;
use sirius_rs::math::expression::{Condition, Expression};
use sirius_runtime::abi::access;
use sirius_runtime::output::trace::{Access, Record};

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
            shared_bytes: 0,
            kernel: String::from("made"),
            arguments: vec![address_of(launch).to_le_bytes().to_vec(), vec![7, 0, 0, 0]],
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

/// What the two launches take for a pointer: bytes that lie 16 apart.
fn address_of(launch: u32) -> i64 {
    4096 + 16 * i64::from(launch)
}

fn edge(kind: DependenceKind, scope: Scope, relation: &str) -> Edge {
    let edge = json!({
        "source": 0, "sink": 1, "buffer": "y", "kind": kind, "scope": scope,
        "relation": relation, "exact": true, "certain": true, "values_differ": false, "conditions": [], "absent_if": [],
        "carried": false, "because": "", "reason": null, "location": Location::default(),
    });
    serde_json::from_value(edge).expect("it has all fields that have no default")
}

fn graph(edges: Vec<Edge>) -> StaticGraph {
    let node = |id: u32| json!({"id": id, "site": 10 + id, "name": "made", "line": id});
    let report = json!({"nodes": [node(0), node(1)]});
    StaticGraph::new(&report, (edges, operands(Some(7)))).expect("the report is well formed")
}

/// Two launches of `v0` blocks that take a pointer of their own, `v3` and `v4`, and one number, `v5`.
fn operands(number: Option<i64>) -> Operands {
    let value = |id: u32, operand: Operand, constant: Option<i64>| json!({"constant": constant, "holder": [10 + id, operand], "varies_in": null});
    let argument = |argument, bits| Operand::Argument {
        argument,
        offset_bytes: 0,
        bits,
        signed: true,
    };
    let launch = |id: usize| {
        let piece = |value: usize, bits: u32| {
            json!({"pieces": [{"offset_bytes": 0, "bits": bits, "value": value, "pointer": null}],
                   "identity": value})
        };
        json!([id, {"id": 10 + id, "kernel": 0, "grid": [0, 1, 1], "block": [2, 1, 1],
                    "shared_bytes": 6, "stream": "Default",
                    "arguments": [piece(3 + id, 64), piece(5, 32)], "special": false}])
    };
    let values = [
        value(0, Operand::Grid(0), None),
        value(0, Operand::Grid(1), Some(1)),
        value(0, Operand::Block(0), Some(2)),
        value(0, argument(0, 64), None),
        value(1, argument(0, 64), None),
        value(0, argument(1, 32), number),
        value(0, Operand::SharedBytes, Some(0)),
    ];
    let operands = json!({"launches": [launch(0), launch(1)], "values": values});
    serde_json::from_value(operands).expect("the operands are well formed")
}

const EVERYTHING: &str = "{ source[bx, by, bz, tx, ty, tz] -> sink[bx', by', bz', tx', ty', tz'] }";
const SAME_THREAD: &str = "[v0] -> { source[bx, 0, 0, tx, 0, 0] -> sink[bx, 0, 0, tx, 0, 0] : \
                           0 <= bx < v0 and 0 <= tx < 2 }";

/// That control flow speaks for what has been issued, and for nothing else: block 0 with a branch to 1, both
/// to 2, from there a loop of 3 and 4; each with a node of its number.
pub fn check_control_flow() -> Result<(), String> {
    let block =
        |number: usize, successors: &[usize], above: Option<usize>, inside: Option<usize>| {
            json!({"function": 0, "nodes": [number], "successors": successors,
               "immediate_dominator": above, "innermost_loop": inside,
               "dead_end": false})
        };
    let blocks = [
        block(0, &[1, 2], None, None),
        block(1, &[2], Some(0), None),
        block(2, &[3], Some(0), None),
        block(3, &[4], Some(2), Some(0)),
        block(4, &[3], Some(3), Some(0)),
    ];
    for repeated in [false, true] {
        let operands = json!({"launches": [], "values": [], "blocks": blocks,
            "functions": [{"name": "main", "entry": 0, "repeated": repeated}],
            "loops": [{"parent": null, "header": 3, "trip": null}]});
        let operands: Operands =
            serde_json::from_value(operands).map_err(|error| error.to_string())?;
        for (earlier, later) in (0..5).flat_map(|first| (0..5).map(move |second| (first, second))) {
            // What follows the branch, and what a loop that is over by then held.
            let issued = [(1, 0), (1, 2), (1, 3), (1, 4), (2, 0), (2, 1)];
            let issued = [
                &issued[..],
                &[(3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2)],
            ]
            .concat();
            let expected = !repeated && issued.contains(&(earlier, later));
            if operands.is_issued_before(earlier, later) != expected {
                return Err(format!(
                    "control flow, {earlier} to {later}: expected {expected}"
                ));
            }
        }
    }
    Ok(())
}

/// Each case: what the run does, the graph, and whether the oracle must object.
pub fn check_comparison() -> Result<(), String> {
    let flow = |scope, relation| edge(DependenceKind::Flow, scope, relation);
    let equal = |value: usize, constant: i64| Guard::Holds {
        class: String::from("shape"),
        condition: Condition::Equal(
            Expression::Leaf(ValueId(value)),
            Expression::Constant(constant),
        ),
    };
    let when = |value: usize, constant: i64, edge: Edge| Edge {
        conditions: vec![equal(value, constant)],
        ..edge
    };
    // The launches' pointers lie 16 bytes apart.
    let apart = |bytes: i64, edge: Edge| {
        let range = |launch: u32| PointerRange {
            launch: LaunchId(10 + launch),
            operand: Operand::Argument {
                argument: 0,
                offset_bytes: 0,
                bits: 64,
                signed: true,
            },
            low_bytes: Expression::Constant(0),
            high_bytes: Expression::Constant(bytes),
        };
        let guard = Guard::RangesDisjoint {
            left: range(0),
            right: range(1),
        };
        Edge {
            absent_if: vec![guard],
            ..edge
        }
    };
    // Thread t of block b at `scale·b + t` on both sides, the sink's moved on.
    let by_map = |scale: i64, moved: i64, edge: Edge| {
        let place = |moved: i64| {
            let block = Expression::Leaf(CoordinateSymbol::Block(Axis::X));
            let block = Expression::Constant(scale).multiply(block);
            let thread = Expression::Leaf(CoordinateSymbol::Thread(Axis::X));
            vec![block.add(thread).add(Expression::Constant(moved))]
        };
        Edge {
            mapped: Some(Box::new(MappedScope {
                scope: Scope::Thread,
                map: CoordinateMap {
                    source: place(0),
                    sink: place(moved),
                    source_blocks: 1,
                    sink_blocks: 1,
                },
                conditions: vec![equal(0, 2)],
            })),
            ..edge
        }
    };
    let exact = || flow(Scope::Thread, SAME_THREAD);
    let one_block = "{ source[0, 0, 0, tx, 0, 0] -> sink[0, 0, 0, tx, 0, 0] }";
    let too_small = "[v0] -> { source[bx, 0, 0, tx, 0, 0] -> sink[bx, 0, 0, tx, 0, 0] : \
                     0 <= bx < v0 and v0 < 2 }";
    let elsewhere = || Edge {
        sink: NodeId(7),
        ..flow(Scope::Global, EVERYTHING)
    };
    let carried = Edge {
        carried: true,
        distances: Vec::new(),
        ..flow(Scope::Global, EVERYTHING)
    };
    let anti = edge(DependenceKind::Anti, Scope::Global, EVERYTHING);
    let cases = [
        ("exact", 0, vec![exact()], false),
        (
            "wider than needed",
            0,
            vec![flow(Scope::Global, EVERYTHING)],
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
            vec![flow(Scope::Block, EVERYTHING)],
            true,
        ),
        (
            "wide enough, but pairs are lacking",
            2,
            vec![flow(Scope::Global, SAME_THREAD)],
            true,
        ),
        (
            "one block only",
            0,
            vec![flow(Scope::Thread, one_block)],
            true,
        ),
        (
            "not for this grid",
            0,
            vec![flow(Scope::Thread, too_small)],
            true,
        ),
        ("a shape that holds", 2, vec![when(0, 2, exact())], true),
        ("a shape that fails", 2, vec![when(0, 3, exact())], false),
        ("an argument that holds", 2, vec![when(5, 7, exact())], true),
        (
            "an argument that fails",
            2,
            vec![when(5, 8, exact())],
            false,
        ),
        ("a test that fails", 0, vec![apart(17, exact())], false),
        ("a test that holds", 0, vec![apart(16, exact())], true),
        ("a map", 0, vec![by_map(2, 0, exact())], false),
        ("a map that misses", 0, vec![by_map(2, 1, exact())], true),
        (
            "a map that is not one to one",
            0,
            vec![by_map(1, 0, exact())],
            true,
        ),
        (
            "two edges together",
            0,
            vec![flow(Scope::Thread, one_block), exact()],
            false,
        ),
    ];
    for (name, shift, edges, objects) in cases {
        let faults = compare(&graph(edges), &run(shift)).faults;
        if faults.is_empty() == objects {
            return Err(format!("{name}: must object: {objects}; found {faults:?}"));
        }
    }
    let wrong = StaticGraph {
        operands: operands(Some(6)),
        ..graph(vec![exact()])
    };
    match compare(&wrong, &run(0)).faults.is_empty() {
        true => Err("a wrong constant is not seen".to_owned()),
        false => Ok(()),
    }
}

/// That the scope that was seen is found, and counted as exact only where the graph says the same.
pub fn check_precision() -> Result<(), String> {
    for (shift, scope) in [(0, Scope::Thread), (1, Scope::Global), (2, Scope::Global)] {
        for predicted in [Scope::Thread, Scope::Block, Scope::Global] {
            let edges = vec![edge(DependenceKind::Flow, predicted, EVERYTHING)];
            let rows = compare(&graph(edges), &run(shift)).neighbours;
            let [row] = &rows[..] else {
                return Err(format!("one edge, but the rows {rows:?}"));
            };
            if row.observed != Some(scope) || row.is_exact() != (predicted == scope) {
                return Err(format!("shift {shift}, predicted {predicted:?}: {row:?}"));
            }
        }
    }
    // Relation of an edge that is global for all sizes, and its scope where there are two blocks.
    let relations = [
        (EVERYTHING, Some(Scope::Global)),
        (SAME_THREAD, Some(Scope::Thread)),
        (
            "[v0] -> { source[bx, by, bz, tx, ty, tz] -> sink[bx, by, bz, tx', ty, tz] : v0 = 2 }",
            Some(Scope::Block),
        ),
        (
            "[v0] -> { source[bx, by, bz, tx, ty, tz] -> sink[bx', by, bz, tx, ty, tz] : v0 >= 3 }",
            None,
        ),
        (
            "[v5] -> { source[bx, by, bz, tx, ty, tz] -> sink[bx + v5, by, bz, tx, ty, tz] }",
            None,
        ),
    ];
    for (relation, scope) in relations {
        let edges = vec![edge(DependenceKind::Flow, Scope::Global, relation)];
        let rows = compare(&graph(edges), &run(0)).neighbours;
        if rows.len() != 1 || rows[0].at_run != scope {
            return Err(format!("{relation}: {rows:?}"));
        }
    }
    Ok(())
}
