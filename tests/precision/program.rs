//! Programs of a list: built without fusion, run with a trace, compared.

use crate::generator;
use crate::quick_link::QUICK_LINK;
use serde::{Deserialize, Serialize};
use sirius_oracle::compare::{Comparison, StaticGraph, compare};
use sirius_oracle::history::History;
use sirius_oracle::reading::Records;
use sirius_oracle::rows::NeighbourEdge;
use sirius_rs::dependence::Scope;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A line of a list.
pub struct Program {
    pub name: String,
    kind: Kind,
}

enum Kind {
    /// Folder, sources and compiler options, and the words to run it with.
    Real(PathBuf, Vec<String>, Vec<Vec<String>>),
    /// The programs of these seeds together.
    Generated(u64, u64),
}

/// What is known of a program afterwards.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    pub program: String,
    /// Launches that came one after the other, in all runs.
    pub launch_pairs: usize,
    /// Ordered pairs of launches with a dependence between them, in all runs, and the pairs of sites
    /// that they are of, in the run that has most.
    #[serde(default)]
    pub dependent_pairs: usize,
    #[serde(default)]
    pub dependent_sites: usize,
    /// The pairs of sites that they are of, in the run that has most.
    pub site_pairs: usize,
    /// Edges between launches that were neighbours: exact ones, and all.
    pub exact: usize,
    pub edges: usize,
    /// Edges that are not exact for all sizes, but whose relation is for the sizes of the run.
    #[serde(default)]
    pub exact_at_run: usize,
    /// Pairs of threads that were looked up in relations, and in one-to-one maps.
    pub pairs: usize,
    #[serde(default)]
    pub mapped_pairs: usize,
    /// Conditions of edges, and how many of them the runs decide.
    #[serde(default)]
    pub conditions: usize,
    #[serde(default)]
    pub decided: usize,
    /// How each edge that is not exact is called, what was predicted and seen, and why.
    pub wider: Vec<(String, String, String)>,
    pub faults: Vec<String>,
    /// Why the program was not measured, or not to its end.
    pub note: String,
    pub seconds: f64,
}

impl Program {
    /// Reads a list: one program a line, `name | folder | sources and options | arguments [| …]`, or
    /// `file.cu` alone, or `generated from..to`. Folders are relative to the list.
    pub fn read_list(list: &Path) -> Result<Vec<Self>, String> {
        let text = std::fs::read_to_string(list)
            .map_err(|error| format!("{}: {error}", list.display()))?;
        let root = list.parent().unwrap_or(Path::new("."));
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| Self::read(line, root).ok_or_else(|| format!("cannot read {line:?}")))
            .collect()
    }

    fn read(line: &str, root: &Path) -> Option<Self> {
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        if let Some(range) = line.strip_prefix("generated ") {
            let (from, to) = range.trim().split_once("..")?;
            return Some(Self::generated(from.parse().ok()?, to.parse().ok()?));
        }
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let kind = match parts[..] {
            [file] => {
                let text = std::fs::read_to_string(root.join(file)).ok()?;
                Kind::Real(root.to_owned(), words(file), arguments_of(&text))
            }
            [_, folder, sources, ref runs @ ..] => {
                let runs = runs.iter().map(|run| words(run)).collect();
                Kind::Real(root.join(folder), words(sources), runs)
            }
            _ => return None,
        };
        let name = parts[0].trim_end_matches(".cu").to_owned();
        Some(Self { name, kind })
    }

    /// The random programs of some seeds, with many cases each.
    pub fn generated(from: u64, to: u64) -> Self {
        Self {
            name: format!("generated {from}..{to}"),
            kind: Kind::Generated(from, to),
        }
    }

    /// Builds, runs and compares; never longer than the limit for each run.
    pub fn measure(&self, limit: Duration) -> Measured {
        let started = Instant::now();
        let mut total = Measured {
            program: self.name.clone(),
            ..Measured::default()
        };
        let note = |found: Result<(), String>, total: &mut Measured| {
            if let Err(error) = found {
                total.note.push_str(&error);
            }
        };
        match &self.kind {
            Kind::Real(folder, words, runs) => {
                let found = measure_sources(folder, words, runs, limit, &mut total);
                note(found, &mut total);
            }
            Kind::Generated(from, to) => {
                for seed in *from..*to {
                    let text = generator::program(seed, MANY_CASES);
                    let mut runs = arguments_of(&text);
                    runs.extend(
                        SIZES.map(|(size, stride)| vec![size.to_string(), stride.to_string()]),
                    );
                    let found = tempfile::tempdir()
                        .map_err(|error| error.to_string())
                        .and_then(|folder| {
                            std::fs::write(folder.path().join("generated.cu"), &text)
                                .map_err(|error| error.to_string())?;
                            let words = ["generated.cu".to_owned()];
                            measure_sources(folder.path(), &words, &runs, limit, &mut total)
                        });
                    note(
                        found.map_err(|error| format!("seed {seed}: {error}")),
                        &mut total,
                    );
                }
            }
        }
        total.seconds = started.elapsed().as_secs_f64();
        total
    }
}

/// Sizes and strides that a generated program is run with, beside those that it asks for.
const SIZES: [(u32, u32); 15] = [
    (2, 1),
    (7, 1),
    (17, 3),
    (33, 1),
    (64, 1),
    (96, 1),
    (127, 5),
    (200, 1),
    (255, 1),
    (320, 1),
    (513, 7),
    (700, 1),
    (833, 1),
    (1024, 1),
    (1201, 9),
];

/// Cases of a generated program that is only compared with its trace.
const MANY_CASES: usize = 32;

/// The argument lists that a program's leading comments name.
fn arguments_of(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .filter_map(|line| line.strip_prefix("// arguments:"))
        .map(|rest| rest.split_whitespace().map(str::to_owned).collect())
        .collect()
}

fn measure_sources(
    folder: &Path,
    words: &[String],
    runs: &[Vec<String>],
    limit: Duration,
    total: &mut Measured,
) -> Result<(), String> {
    let build = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (sources, options): (Vec<_>, Vec<_>) =
        words.iter().cloned().partition(|word| is_source(word));
    let sources: Vec<PathBuf> = sources.iter().map(PathBuf::from).collect();
    let built = Built::new(&sources, &options, folder, build.path())?;
    let mut edges: BTreeMap<String, NeighbourEdge> = BTreeMap::new();
    let (mut site_pairs, mut dependent_sites) = (0, 0);
    let once = [Vec::new()];
    let runs = if runs.is_empty() { &once[..] } else { runs };
    for arguments in runs {
        let (history, note) = built.trace(arguments, limit)?;
        if !note.is_empty() {
            total.note.push_str(&format!("{arguments:?}: {note}; "));
        }
        let comparison = compare(&built.graph, &history);
        total.launch_pairs += comparison.launch_pairs;
        site_pairs = site_pairs.max(comparison.site_pairs);
        total.dependent_pairs += comparison.dependent_pairs;
        dependent_sites = dependent_sites.max(comparison.dependent_sites);
        total.pairs += comparison.pairs;
        total.mapped_pairs += comparison.mapped_pairs;
        total.conditions += comparison.conditions;
        total.decided += comparison.decided;
        merge(&mut edges, &comparison);
        total.faults.extend(comparison.faults);
    }
    total.site_pairs += site_pairs;
    total.dependent_sites += dependent_sites;
    for edge in edges.into_values() {
        total.edges += 1;
        if edge.is_exact() {
            total.exact += 1;
            continue;
        }
        // What makes the difference: for these sizes the relation says what was seen; the data
        // decided an access that the relation must cover; or the analysis knows no better.
        let difference = if edge.observed == edge.at_run {
            total.exact_at_run += 1;
            "sizes"
        } else if edge.may {
            "data"
        } else {
            "analysis"
        };
        let (says, seen) = (name_of(edge.predicted), name_of(edge.observed));
        let what = format!("{says}, seen {seen} ({difference})");
        total.wider.push((edge.name, what, edge.because));
    }
    Ok(())
}

/// An edge was seen as wide as in the run that shows it widest.
fn merge(edges: &mut BTreeMap<String, NeighbourEdge>, comparison: &Comparison) {
    for edge in &comparison.neighbours {
        edges
            .entry(edge.name.clone())
            .and_modify(|known| add(known, edge))
            .or_insert_with(|| edge.clone());
    }
}

fn add(known: &mut NeighbourEdge, edge: &NeighbourEdge) {
    known.observed = known.observed.max(edge.observed);
    known.at_run = known.at_run.max(edge.at_run);
    known.may |= edge.may;
    if edge.predicted > known.predicted {
        known.predicted = edge.predicted;
        known.because.clone_from(&edge.because);
    }
}

fn name_of(scope: Option<Scope>) -> String {
    scope.map_or("none".to_owned(), |scope| {
        format!("{scope:?}").to_lowercase()
    })
}

fn is_source(word: &str) -> bool {
    let extensions = [".cu", ".cpp", ".cc", ".c"];
    !word.starts_with('-') && extensions.iter().any(|extension| word.ends_with(extension))
}

/// A program for the CPU device, not fused, with its graph.
pub struct Built {
    pub graph: StaticGraph,
    program: PathBuf,
    folder: PathBuf,
    build: PathBuf,
}

/// A build that takes longer is given up.
const LONGEST_BUILD: Duration = Duration::from_secs(240);

impl Built {
    /// Compiles in `folder`, into `build`.
    pub fn new(
        sources: &[PathBuf],
        options: &[String],
        folder: &Path,
        build: &Path,
    ) -> Result<Self, String> {
        let (program, report) = (build.join("program"), build.join("report.json"));
        let said = build.join("said");
        let file = std::fs::File::create(&said).map_err(|error| error.to_string())?;
        let compiler = std::env::var_os("SIRIUS_PRECISION_COMPILER");
        let compiler = compiler.unwrap_or_else(|| env!("CARGO_BIN_EXE_sirius-rs").into());
        let compiler = Command::new(compiler)
            .current_dir(folder)
            .args(sources)
            .args(["-O2", "-w", "--sirius-device=cpu", "--sirius-fusion=off"])
            .args(QUICK_LINK)
            .args(options)
            .arg("--sirius-dump=dependence")
            .arg(format!("--sirius-report={}", report.display()))
            .arg("-o")
            .arg(&program)
            .env_remove("SIRIUS_FLAGS")
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .map_err(|error| error.to_string())?;
        let in_time = ended_in_time(compiler, LONGEST_BUILD);
        let text = std::fs::read(&said).map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&text);
        match in_time {
            Some(true) => {}
            Some(false) => return Err(format!("does not compile: {}", first_error(&text))),
            None => return Err("the compiler does not end in time".to_owned()),
        }
        let report = std::fs::read_to_string(&report).map_err(|error| error.to_string())?;
        let report = serde_json::from_str(&report).map_err(|error| error.to_string())?;
        let dump = StaticGraph::read_dump(&text).ok_or("the dump has no edges and operands")?;
        let graph = StaticGraph::new(&report, dump).ok_or("the report has no nodes")?;
        Ok(Self {
            graph,
            program,
            folder: folder.to_owned(),
            build: build.to_owned(),
        })
    }

    /// What a run shows, and a note when it was not a whole one. The trace goes through a pipe, so
    /// that it needs no room; after the limit the run is ended, and what came until then counts.
    pub fn trace(
        &self,
        arguments: &[String],
        limit: Duration,
    ) -> Result<(History, String), String> {
        let pipe = self.build.join("trace");
        let _ = std::fs::remove_file(&pipe);
        let made = Command::new("mkfifo").arg(&pipe).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err("mkfifo fails".to_owned());
        }
        // This end keeps the pipe open until the program has ended, whether it opens it or not.
        let kept_open = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&pipe)
            .map_err(|error| error.to_string())?;
        let file = std::fs::File::open(&pipe).map_err(|error| error.to_string())?;
        let child = Command::new(&self.program)
            .current_dir(&self.folder)
            .args(arguments)
            .env("SIRIUS_CPU_THREADS", "1")
            .env("SIRIUS_TRACE", &pipe)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let waiter = std::thread::spawn(move || {
            let ended = ended_in_time(child, limit);
            drop(kept_open);
            ended
        });
        let mut history = History::default();
        let mut note = String::new();
        match Records::new(file) {
            Ok(records) => {
                for record in records {
                    match record {
                        Ok(record) => history.add(&record),
                        Err(_) => break,
                    }
                }
            }
            Err(_) => note.push_str("no trace"),
        }
        match waiter.join() {
            Ok(Some(true)) => {}
            Ok(Some(false)) => note.push_str("the program fails"),
            _ => note.push_str("ended after the time limit"),
        }
        Ok((history, note))
    }
}

/// Whether a process succeeds; `None` when it had to be ended.
fn ended_in_time(mut child: Child, limit: Duration) -> Option<bool> {
    let started = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status.success());
        }
        if started.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn first_error(text: &str) -> String {
    let error = text.lines().find(|line| line.contains("error"));
    error
        .or(text.lines().next())
        .unwrap_or_default()
        .chars()
        .take(160)
        .collect()
}
