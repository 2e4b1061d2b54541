//! How precise the static graph is, as a table: programs are built without fusion, run with a trace,
//! and every edge between neighbouring launches is held against what was seen.
//!
//! Under `cargo test` only the oracle itself is tested, by hand-made cases and by a program whose graph
//! loses one edge at a time. `scripts/precision` makes the table, for test programs, generated ones,
//! and programs from anywhere.

#[expect(dead_code, reason = "a part of the harness compares fused runs")]
mod harness;
#[path = "harness/quick_link.rs"]
mod quick_link;

#[path = "generator/mod.rs"]
#[allow(dead_code, reason = "the fuzzer of launch groups uses the rest")]
mod generator;

#[path = "precision/program.rs"]
mod program;

#[path = "precision/table.rs"]
mod table;

use libtest_mimic::{Arguments, Failed, Trial};
use program::{Measured, Program};
use sirius_oracle::compare::{StaticGraph, compare};
use sirius_rs::dependence::Edge;
use sirius_rs::launch::NodeId;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let Some(list) = std::env::var_os("SIRIUS_PRECISION_LIST") else {
        let arguments = Arguments::from_args();
        let trials = vec![
            Trial::test("oracle", harness::check_oracle),
            Trial::test("lost_edges", every_lost_edge_is_missed),
            Trial::test("generated_pairs", generated_pairs_are_contained),
        ];
        return libtest_mimic::run(&arguments, trials).exit_code();
    };
    match measure_list(Path::new(&list)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(faults) => {
            eprintln!("{faults} dependences are missing or too narrow");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures the programs of a list that the results do not hold yet, appends each result at once,
/// and prints the table of all. Returns the number of faults.
fn measure_list(list: &Path) -> Result<usize, String> {
    let variable = |name: &str| std::env::var(format!("SIRIUS_PRECISION_{name}")).ok();
    let results = PathBuf::from(variable("RESULTS").ok_or("SIRIUS_PRECISION_RESULTS is not set")?);
    let seconds = variable("SECONDS").and_then(|text| text.parse().ok());
    let limit = Duration::from_secs(seconds.unwrap_or(60));
    let shard = variable("SHARD").unwrap_or_else(|| "0/1".to_owned());
    let shard = shard
        .split_once('/')
        .and_then(|(part, of)| Some((part.parse::<usize>().ok()?, of.parse::<usize>().ok()?)))
        .filter(|(part, of)| part < of)
        .ok_or("a shard is written `part/of`, from 0")?;
    let programs = Program::read_list(list)?;
    let done = table::read_results(&results)?;
    for (index, program) in programs.iter().enumerate() {
        let known = done.iter().any(|measured| measured.program == program.name);
        if known || index % shard.1 != shard.0 {
            continue;
        }
        eprintln!("{}", program.name);
        let measured = program.measure(limit);
        append(&results, &measured).map_err(|error| format!("{}: {error}", results.display()))?;
    }
    let all = table::read_results(&results)?;
    let wanted: Vec<&Measured> = programs
        .iter()
        .filter_map(|program| {
            all.iter()
                .rfind(|measured| measured.program == program.name)
        })
        .collect();
    println!("{}", table::markdown(&wanted));
    Ok(wanted.iter().map(|measured| measured.faults.len()).sum())
}

fn append(results: &Path, measured: &Measured) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(results)?;
    writeln!(file, "{}", serde_json::to_string(measured)?)
}

/// Generated launch pairs that continuous integration compares at least.
const GENERATED_PAIRS: usize = 500;

/// No edge is missing or too narrow between generated neighbours, many of them to a program.
fn generated_pairs_are_contained() -> Result<(), Failed> {
    let mut pairs = 0;
    for seed in 1000.. {
        let measured = Program::generated(seed, seed + 1).measure(Duration::from_secs(60));
        if !measured.faults.is_empty() || !measured.note.is_empty() {
            let what = measured.faults.join("\n") + &measured.note;
            return Err(format!("seed {seed}: {what}").into());
        }
        pairs += measured.launch_pairs;
        if pairs >= GENERATED_PAIRS {
            break;
        }
    }
    Ok(())
}

/// A real graph and a real run: without any one of the edges between launches that met, the oracle
/// must object.
fn every_lost_edge_is_missed() -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_programs/stencil_edge.cu");
    let folder = tempfile::tempdir()?;
    let built = program::Built::new(&[source], &[], folder.path(), folder.path())?;
    let (history, note) = built.trace(&["300".to_owned()], Duration::from_secs(60))?;
    if !note.is_empty() {
        return Err(note.into());
    }
    let StaticGraph {
        edges,
        launches,
        operands,
        operations,
    } = built.graph;
    let faults = |edges: &[Edge]| {
        let graph = StaticGraph {
            edges: edges.to_vec(),
            launches: launches.clone(),
            operands: operands.clone(),
            operations: operations.clone(),
        };
        compare(&graph, &history).faults
    };
    if !faults(&edges).is_empty() {
        return Err(faults(&edges).join("\n").into());
    }
    let is_launch = |node: NodeId| launches.iter().any(|launch| launch.node == node.0);
    let mut lost = 0;
    for index in 0..edges.len() {
        let mut edges = edges.clone();
        let edge = edges.remove(index);
        if !is_launch(edge.source) || !is_launch(edge.sink) {
            continue;
        }
        lost += 1;
        if faults(&edges).is_empty() {
            return Err(format!("without this edge nothing is missed: {edge:?}").into());
        }
    }
    if lost < 3 {
        return Err(format!("the program has three edges between launches, not {lost}").into());
    }
    Ok(())
}
