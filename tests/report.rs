//! The four views of one report, compared with files in `tests/report`; `SIRIUS_BLESS=1` rewrites
//! these.

#[allow(dead_code, reason = "the language is shared with the tests of plans")]
#[path = "verify/scene.rs"]
mod scene;

use scene::*;
use sirius_rs::build::Device;
use sirius_rs::dependence::{
    CoordinateMap, CoordinateSymbol, DependenceGraph, DependenceKind, Edge, Guard, MappedScope,
    Scope, Witness, WitnessEnd,
};
use sirius_rs::diagnostics::{Location, Rejection, RejectionReason};
use sirius_rs::launch::{LaunchId, NodeId, NodeKind};
use sirius_rs::math::affine::Axis;
use sirius_rs::math::expression::Expression;
use sirius_rs::report::{
    Report, ReportExecuted, build_report, render_dot, render_html, render_json, render_text,
    render_why, summary_line,
};
use sirius_rs::schedule::{FusionPlan, Missed};
use sirius_rs::stage::Stage;
use sirius_rs::tune::Figures;
use std::path::Path;

/// scale, shift (fused, in a loop with a copy) and blur, which stays unfused.
fn example() -> (Scene, FusionPlan, Report) {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d"].map(|name| scene.buffer(name));
    let [a, b, c, d] = buffers.map(Pass::To);
    scene.node(NodeKind::Allocation { buffer: buffers[0] });
    let header = scene.block_after(scene.block);
    scene.make_loop(header);
    scene.graph.loops[0].trip = Some(10);
    let shape = scene.unknown_shape();
    let size = scene.unknown();
    let n = Pass::Integer(size);
    let (scale, shift) = (scene.pointwise("scale"), scene.pointwise("shift<float>"));
    let blur = scene.stencil("blur");
    let known = scene.known_shape();
    let one = scene.launch(scale, shape, &[a, b.clone(), n.clone()]);
    let holder = |operand| (one, operand);
    use sirius_rs::launch::Operand;
    scene.graph.values[shape.grid.0].holder = holder(Operand::Grid(0));
    scene.graph.values[shape.block.0].holder = holder(Operand::Block(0));
    scene.graph.values[size.0].holder = holder(Operand::Argument {
        argument: 2,
        offset_bytes: 0,
        bits: 32,
        signed: true,
    });
    let two = scene.launch(shift, shape, &[b, c.clone(), n.clone()]);
    scene.copy(&[buffers[2]], &[]);
    scene.node(NodeKind::Opaque {
        what: "puts".to_string(),
    });
    let three = scene.launch(blur, known, &[c, d, n]);

    let guards = vec![
        valid(one),
        valid(two),
        no_wrap(shape),
        Guard::RangesDisjoint {
            left: range(one, 0, size),
            right: range(two, 1, size),
        },
    ];
    let mut plan = plan(&[(one, false), (two, false)], guards);
    plan.groups[0].layouts = vec!["v".to_owned(), "h".to_owned()];
    let dependences = graph_of(
        &scene,
        &[
            (one, two, "b", Scope::Thread),
            (two, three, "c", Scope::Global),
        ],
    );
    let missed = Missed {
        source: node_of(two),
        sink: node_of(three),
        carried: false,
        rejection: Rejection {
            reason: RejectionReason::Fence,
            message: "`puts` stands between them".to_string(),
            detail: String::new(),
            location: Location {
                file: "app.cu".to_string(),
                line: 14,
                column: 5,
            },
        },
    };
    let stages = [(Stage::Program, 1.25), (Stage::Launch, 0.5)];
    let report = build_report(
        &scene.graph,
        &scene.kernels,
        &dependences,
        &plan,
        &[missed],
        &stages,
    );
    (scene, plan, report)
}

/// Scenes number launches by their node.
fn node_of(launch: LaunchId) -> NodeId {
    NodeId(launch.0 as usize)
}

fn graph_of(scene: &Scene, edges: &[(LaunchId, LaunchId, &str, Scope)]) -> DependenceGraph {
    let mut dependences = DependenceGraph::default();
    let nodes: Vec<_> = scene
        .graph
        .nodes
        .iter()
        .map(|node| dependences.graph.add_node(node.id))
        .collect();
    for (source, sink, buffer, scope) in edges {
        let (source, sink) = (node_of(*source), node_of(*sink));
        let guards = match scope {
            Scope::Thread => vec![valid(LaunchId(source.0 as u32))],
            _ => Vec::new(),
        };
        let edge = Edge {
            source,
            sink,
            buffer: (*buffer).to_string(),
            kind: DependenceKind::Flow,
            scope: *scope,
            relation: "{ source[bx] -> sink[bx] }".into(),
            exact: *scope == Scope::Thread,
            certain: *scope == Scope::Thread,
            values_differ: false,
            conditions: guards.clone(),
            absent_if: Vec::new(),
            carried: false,
            distances: Vec::new(),
            array: None,
            tiling: None,
            because: match scope {
                Scope::Global => "`blur` reads `c[i - 1]`, which `shift` writes in another block",
                _ => "",
            }
            .into(),
            reason: (*scope == Scope::Global).then_some(RejectionReason::GlobalDependence),
            location: Location::default(),
            witness: (*scope == Scope::Global).then(|| Box::new(witness())),
            mapped: (*scope == Scope::Global).then(|| Box::new(mapped())),
        };
        dependences
            .graph
            .add_edge(nodes[source.0], nodes[sink.0], edge.into());
    }
    dependences
}

fn mapped() -> MappedScope {
    let coordinate = |extent| {
        Expression::Leaf(CoordinateSymbol::Block(Axis::X))
            .multiply(Expression::Constant(extent))
            .add(Expression::Leaf(CoordinateSymbol::Thread(Axis::X)))
    };
    MappedScope {
        scope: Scope::Block,
        map: CoordinateMap {
            source: vec![coordinate(64).floor_divide(Expression::Constant(256))],
            sink: vec![Expression::Leaf(CoordinateSymbol::Block(Axis::X))],
            source_blocks: 4,
            sink_blocks: 1,
        },
        conditions: Vec::new(),
    }
}

fn witness() -> Witness {
    let end = |block, thread, line| WitnessEnd {
        place: Some(([block, 0, 0], [thread, 0, 0])),
        location: Location {
            file: "app.cu".to_string(),
            line,
            column: 1,
        },
    };
    Witness {
        text: "`c[255]` is written by block 0, thread 255 (app.cu:3) and read by block 1, \
               thread 0 (app.cu:7)"
            .to_string(),
        certain: true,
        byte: Some(1020),
        source: end(0, 255, 3),
        sink: end(1, 0, 7),
    }
}

#[track_caller]
fn assert_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/report")
        .join(name);
    if std::env::var_os("SIRIUS_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        found, expected,
        "{name} differs; SIRIUS_BLESS=1 rewrites it"
    );
}

#[test]
fn text_view() {
    let report = example().2;
    assert_golden("example.txt", &render_text(&report, true));
    let short = render_text(&report, false);
    assert!(
        short.contains("\n2 dependences (--dependences lists them)\n"),
        "{short}"
    );
    assert!(!short.contains(" -> app.cu"), "{short}");
}

#[test]
fn one_place_is_answered_in_a_few_lines() {
    let report = example().2;
    let fused = "app.cu:12 `shift<float>`\n  runs as one with app.cu:11 `scale`\n  where 4 tests hold at run time (the \
                 report without --why lists them)\n  not with app.cu:15 `blur`: `puts` stands between them \
                 [fence]\n    it might help: move the call before the first launch or behind the last\n";
    assert_eq!(render_why(&report, "app.cu:12"), Ok(fused.to_owned()));
    let single = render_why(&report, "app.cu:15").unwrap();
    assert!(single.contains("\n  is a launch of its own\n"), "{single}");
    // A copy stands at 13.
    let near = "there is no launch at app.cu:13; the nearest in that file are at 12, 11 and 15";
    assert_eq!(render_why(&report, "app.cu:13"), Err(near.to_owned()));
    let other = "there is no launch in 'p.cu'";
    assert_eq!(render_why(&report, "p.cu:12"), Err(other.to_owned()));
    assert!(render_why(&report, "app.cu").is_err());
}

#[test]
fn executed_launches_are_told_where_statistics_are_given() {
    let folder = tempfile::tempdir().unwrap();
    let [before, after, one, other] = [
        ("before.json", "{\"launches\": 925, \"kernels\": []}"),
        ("after.json", "{\"launches\": 641, \"kernels\": []}"),
        ("one.json", ONE_KERNEL),
        ("other.json", "{\"version\": 2}"),
    ]
    .map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    });
    let figures = Figures::of(Device::Cuda, 90);
    let mut report = example().2;
    report.executed = Some(ReportExecuted::read(&[before.clone(), after], figures).unwrap());
    let text = render_text(&report, false);
    assert!(text.contains("\nexecuted: 925 launches -> 641\n"), "{text}");
    assert!(!text.contains("estimated on"), "{text}");
    assert!(render_html(&report).contains("925 → 641"));
    report.executed = Some(ReportExecuted::read(&[one.clone(), one], figures).unwrap());
    let text = render_text(&report, false);
    assert!(
        text.contains("\nestimated on H100: 10.1 μs -> 10.1 μs\n"),
        "{text}"
    );
    let refused = ReportExecuted::read(&[before, other], figures).unwrap_err();
    assert!(
        refused.to_string().contains("no statistics of a run"),
        "{refused}"
    );
}

/// Three launches of 256 threads, each of which loads and stores a number.
const ONE_KERNEL: &str = r#"{"launches": 3, "kernels": [{"name": "k", "kernel": "k", "launches": 3, "blocks": 3, "threads": 768,
 "instructions": 7680, "global_load_bytes": 3072, "global_store_bytes": 3072, "shared_load_bytes": 0, "shared_store_bytes": 0,
 "barriers": 0}]}"#;

#[test]
fn json_view() {
    let report = example().2;
    let text = render_json(&report);
    assert_golden("example.json", &text);
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}

#[test]
fn dot_view() {
    assert_golden("example.dot", &render_dot(&example().2));
}

#[test]
fn html_view() {
    assert_golden("example.html", &render_html(&example().2));
}

#[test]
fn summary_counts_sites() {
    let (scene, plan, report) = example();
    let line = Some("sirius: 3 launches -> 2".to_string());
    assert_eq!(summary_line(&scene.graph, &plan), line);
    assert_eq!(report.summary_line(), line);
    assert_eq!(summary_line(&scene.graph, &FusionPlan::default()), None);
}

#[test]
fn every_reason_is_documented() {
    let table = include_str!("../docs/reasons.md");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
    let reasons: Vec<_> = RejectionReason::ALL
        .iter()
        .map(|reason| reason.name())
        .collect();
    assert_eq!(documented, reasons);
}

#[test]
fn every_reason_has_a_test_that_triggers_it() {
    let planned = include_str!("dependence/planning.rs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = ["test_programs", "tests/run"]
        .into_iter()
        .flat_map(|folder| {
            let files = std::fs::read_dir(root.join(folder)).expect("the folder is there");
            files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap_or_default())
        });
    let expected: String = programs
        .flat_map(|text| {
            let lines = text
                .lines()
                .filter(|line| line.starts_with("// expect-missed:"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    // What takes a bug of ours, and what is between iterations or alternatives.
    let faults = concat!(include_str!("pipeline.rs"), include_str!("report_forms.rs"));
    for reason in RejectionReason::ALL {
        let in_plan = planned.contains(&format!("RejectionReason::{reason:?}"));
        let name = reason.name();
        let injected = faults.contains(&format!("\"{name}\""));
        assert!(
            in_plan || injected || expected.contains(name),
            "nothing tests {name}"
        );
    }
}
