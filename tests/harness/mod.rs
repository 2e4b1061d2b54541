//! Builds a program for the CPU device with fusion off and on, runs both, and compares.

use crate::quick_link::QUICK_LINK;
use libtest_mimic::Failed;
use serde_json::Value;
use sirius_oracle::compare::{Comparison, StaticGraph, compare};
use sirius_oracle::history::History;
use sirius_oracle::races::Races;
use sirius_oracle::reading::Records;
use sirius_rs::dependence::Scope;
use sirius_runtime::output::trace::Record;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Runs one program both ways and compares.
pub fn check(source: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(source)?;
    let folder = tempfile::tempdir()?;
    let expectations = Expectations::read(&text)?;

    let off = Built::with(source, folder.path(), "off", &[])?;
    let on = Built::new(source, folder.path(), "all", &[], true)?;
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&on.report)?)?;
    expectations.check(&report, &on.messages)?;

    // What nobody reads afterwards need not be written, so memory is compared without that.
    let writes_less = report["fusions"].as_array().is_some_and(|fusions| {
        let not_written = |fusion: &Value| fusion["not_written"].as_array().map_or(0, Vec::len);
        fusions.iter().any(|fusion| not_written(fusion) > 0)
    });
    let complete = match writes_less {
        true => Some(Built::with(source, folder.path(), "all", KEEP_ALL_STORES)?),
        false => None,
    };
    let unfused = expectations.runs().map(|arguments| {
        let unfused = Unfused::run(&off, arguments, folder.path());
        unfused.map_err(|error| format!("with arguments {arguments:?}: {}", message_of(&error)))
    });
    let unfused: Vec<Unfused> = unfused.collect::<Result<_, _>>()?;
    let layouts = expectations.layouts(&report);
    let mut work: BTreeMap<String, &String> = BTreeMap::new();
    for layout in &layouts {
        let name = format!("--sirius-layout={layout}");
        let more = [name.as_str(), KEEP_ALL_STORES[0]];
        let laid_out = Built::with(source, folder.path(), "all", &more)?;
        for (arguments, unfused) in expectations.runs().zip(&unfused) {
            same_runs(&text, unfused, &laid_out, arguments, folder.path()).map_err(|error| {
                let what = format!("layout {layout} with arguments {arguments:?}");
                format!("{what}: {}", message_of(&error))
            })?;
        }
        let first = expectations.runs().next().unwrap_or_default();
        if expectations.layouts_differ
            && let Some(same) = work.insert(laid_out.work(first, folder.path())?, layout)
        {
            return Err(format!("layouts {same} and {layout} execute the same").into());
        }
    }
    // A trace is that of the program as it is written: where host loops are rotated, the graph of that is asked for.
    let is_rotated = on.messages.matches(DEPENDENCE_DUMP).count() > 1;
    let graph = match is_rotated {
        true => Built::new(source, folder.path(), "all", UNROTATED, true)?.graph()?,
        false => on.graph()?,
    };
    let mut counted = Vec::new();
    for (arguments, unfused) in expectations.runs().zip(&unfused) {
        let counts = compare_runs(
            &text,
            unfused,
            &on,
            complete.as_ref(),
            &graph,
            arguments,
            folder.path(),
        )
        .map_err(|error| format!("with arguments {arguments:?}: {}", message_of(&error)))?;
        counted.push((arguments, unfused, counts));
    }
    for options in &expectations.options {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let built = Built::with(source, folder.path(), "all", &options)?;
        let run = built.run(&[], ONE_THREAD)?;
        if !String::from_utf8_lossy(&run.output.stdout).contains("PASS") {
            return Err(format!("built with {options:?} it does not say PASS").into());
        }
    }
    for ((arguments, _, counts), expected) in counted.iter().zip(&expectations.loaded) {
        let loaded = loaded(counts).ok_or("no bytes")?;
        if loaded != *expected {
            let what = format!("{loaded} bytes are loaded, not {expected}");
            return Err(format!("with arguments {arguments:?}: {what}").into());
        }
    }
    for ((arguments, _, counts), expected) in counted.iter().zip(&expectations.executed) {
        let executed = counts["launches"].as_u64().ok_or("no launches")?;
        if executed != *expected {
            let what = format!("{executed} launches are executed, not {expected}");
            return Err(format!("with arguments {arguments:?}: {what}").into());
        }
    }
    for ((arguments, unfused, counts), expected) in counted.iter().zip(&expectations.graphs) {
        let own = off.graphs(arguments, "", folder.path())?;
        let by_default = graphs(counts);
        let switched_off = on.graphs(arguments, "off", folder.path())?;
        for (mode, launched, expected) in [("", by_default, *expected), ("off", switched_off, own)]
        {
            if launched != expected {
                let what = format!("{launched} graphs are launched, not {expected}");
                return Err(format!("with arguments {arguments:?}, {mode:?}: {what}").into());
            }
        }
        let unfused = &unfused.run;
        for environment in GRAPHS_AND_CHECKS {
            let run = on.run(arguments, environment)?;
            if (&run.output.stdout, &run.memory) != (&unfused.output.stdout, &unfused.memory) {
                let what = format!("{environment:?} changes what it prints or leaves");
                return Err(format!("with arguments {arguments:?}: {what}").into());
            }
        }
    }
    if !expectations.memory.is_empty() {
        let without = Built::with(source, folder.path(), "all", WITHOUT_RESERVATIONS)?;
        for ((arguments, _, counts), memory) in counted.iter().zip(&expectations.memory) {
            let [allocated, reserved] = *memory;
            let unreserved = without.statistics(arguments, &[], folder.path())?;
            for (counts, expected) in [(counts, *memory), (&unreserved, [allocated + reserved, 0])]
            {
                let found = memory_of(counts).ok_or("no memory")?;
                if found != expected {
                    let what = format!("allocates and reserves {found:?} bytes, not {expected:?}");
                    return Err(format!("with arguments {arguments:?}: it {what}").into());
                }
            }
        }
    }
    Ok(())
}

/// What a failure says.
fn message_of(error: &Failed) -> String {
    error.message().unwrap_or("failed").to_owned()
}

/// What begins a dump of the unified graph; there is a second one where host loops were rotated.
const DEPENDENCE_DUMP: &str = "; dependence\n";

/// Ways to run a program of which the file says how many graphs it launches.
const GRAPHS_AND_CHECKS: [Environment<'static>; 2] = [
    &[("SIRIUS_GRAPHS", "always")],
    &[("SIRIUS_GRAPHS", "always"), ("SIRIUS_CHECK", "race,memory")],
];

const UNROTATED: &[&str] = &["--sirius-opt=-loop-rotation,-loop-ends"];

/// What the unfused program did, to which the others are compared.
struct Unfused {
    run: Run,
    history: History,
    /// Two of its threads race somewhere.
    races: bool,
}

impl Unfused {
    fn run(off: &Built, arguments: &[String], folder: &Path) -> Result<Self, Failed> {
        let mut history = History::default();
        let trace = folder.join("off.trace");
        let (run, found) = off.races(arguments, &trace, |record| history.add(record))?;
        Ok(Self {
            run,
            history,
            races: !found.is_empty(),
        })
    }
}

/// Runs the fused program as the unfused one was run and compares output, memory and traces. What the fused one counts of itself,
/// where all threads of this machine run its blocks.
fn compare_runs(
    text: &str,
    unfused: &Unfused,
    on: &Built,
    complete: Option<&Built>,
    graph: &StaticGraph,
    arguments: &[String],
    folder: &Path,
) -> Result<Value, Failed> {
    let Unfused {
        run: unfused,
        history,
        races,
    } = unfused;
    let fused = on.run(arguments, ONE_THREAD)?;
    if unfused.output.stdout != fused.output.stdout {
        return Err(format!(
            "fusion changes the output\n--- off\n{}\n--- on\n{}",
            String::from_utf8_lossy(&unfused.output.stdout),
            String::from_utf8_lossy(&fused.output.stdout)
        )
        .into());
    }
    if !String::from_utf8_lossy(&unfused.output.stdout).contains("PASS") {
        return Err("the program does not say PASS".into());
    }
    let fiber: Environment = &[("SIRIUS_CPU_THREADS", "1"), ("SIRIUS_CPU", "fiber")];
    let fused_on_fibers = on.run(arguments, fiber)?;
    let (fused_on_threads, counts) = on.run_and_count(arguments, &[], folder)?;
    // Blocks in any order change the roundings of float atomics that meet in one place.
    let ordered = !text.contains("atomicAdd") || text.contains(ORDERED_ATOMICS);
    match complete {
        None => {
            same_memory(unfused, &fused, "fusion")?;
            same_memory(unfused, &fused_on_fibers, "fusion on fibers")?;
            if ordered {
                same_memory(unfused, &fused_on_threads, "fusion on many threads")?;
            }
        }
        Some(complete) => {
            let written = complete.run(arguments, ONE_THREAD)?;
            same_memory(unfused, &written, "fusion with all stores")?;
            let written = complete.run(arguments, fiber)?;
            same_memory(unfused, &written, "fusion with all stores on fibers")?;
            if ordered {
                let written = complete.run(arguments, &[])?;
                same_memory(unfused, &written, "fusion with all stores on many threads")?;
            }
            for other in [&fused_on_fibers, &fused_on_threads] {
                if ordered && other.output.stdout != unfused.output.stdout {
                    return Err("the way in which threads run changes the output".into());
                }
            }
        }
    }
    no_new_races(*races, on, arguments, folder)?;
    let comparison = compare(graph, history);
    count(&comparison);
    match &comparison.faults[..] {
        [] => Ok(counts),
        faults => Err(faults.join("\n").into()),
    }
}

/// That a program fused in another way, which writes all that the unfused one writes, has the same output
/// and memory however its threads run, and no race that the unfused one does not have.
fn same_runs(
    text: &str,
    unfused: &Unfused,
    on: &Built,
    arguments: &[String],
    folder: &Path,
) -> Result<(), Failed> {
    let (races, unfused) = (unfused.races, &unfused.run);
    let ordered = !text.contains("atomicAdd") || text.contains(ORDERED_ATOMICS);
    let fibers: Environment = &[("SIRIUS_CPU_THREADS", "1"), ("SIRIUS_CPU", "fiber")];
    let threads: Environment = &[];
    for (environment, what) in [
        (ONE_THREAD, "it"),
        (fibers, "it on fibers"),
        (threads, "it on many threads"),
    ] {
        if environment.is_empty() && !ordered {
            continue;
        }
        let fused = on.run(arguments, environment)?;
        if unfused.output.stdout != fused.output.stdout {
            return Err(format!(
                "{what} changes the output\n--- off\n{}\n--- on\n{}",
                String::from_utf8_lossy(&unfused.output.stdout),
                String::from_utf8_lossy(&fused.output.stdout)
            )
            .into());
        }
        same_memory(unfused, &fused, what)?;
    }
    no_new_races(races, on, arguments, folder)
}

/// An error when fused launches race, and unfused ones do not.
fn no_new_races(
    unfused_race: bool,
    on: &Built,
    arguments: &[String],
    folder: &Path,
) -> Result<(), Failed> {
    if unfused_race {
        return Ok(());
    }
    let (_, found) = on.races(arguments, &folder.join("on.trace"), |_| {})?;
    // A trace tells barriers of blocks. Where a member waits by warps, the device itself says what these order.
    let by_warps = found.iter().all(|(_, what)| *what == "shared memory") && on.waits_by_warps();
    if by_warps && !found.is_empty() {
        on.run(arguments, &[("SIRIUS_CHECK", "race")])?;
    } else if !found.is_empty() {
        return Err(format!("fused launches race (site, where): {found:?}").into());
    }
    Ok(())
}

/// Checks the oracle itself.
pub fn check_oracle() -> Result<(), Failed> {
    sirius_oracle::races::check_races()?;
    sirius_oracle::paths::check_paths()?;
    sirius_oracle::cases::check_control_flow()?;
    sirius_oracle::cases::check_precision()?;
    Ok(sirius_oracle::cases::check_comparison()?)
}

/// The headers that most programs begin with.
const LEADING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/harness/leading.h");

/// Blocks in ascending order, one at a time.
const ONE_THREAD: Environment = &[("SIRIUS_CPU_THREADS", "1")];

/// What stands in sources some of whose launches are found by the analysis.
const NUMBERED_LATER: [&str; 5] = [
    "cuLaunchKernel(",
    "virtual ",
    "std::function",
    "(*",
    "cudaGraphAddKernelNode(",
];

/// A fused program that writes all that the unfused one writes.
const KEEP_ALL_STORES: &[&str] = &["--sirius-opt=all,-dead-stores"];

/// What a program says whose float atomics never meet in one place.
const ORDERED_ATOMICS: &str = "// float atomics do not meet";

/// A fused program that allocates what its kernels do not need.
const WITHOUT_RESERVATIONS: &[&str] = &["--sirius-opt=all,-dead-buffers"];

type Environment<'a> = &'a [(&'a str, &'a str)];

fn same_memory(expected: &Run, found: &Run, what: &str) -> Result<(), Failed> {
    if expected.memory == found.memory {
        return Ok(());
    }
    Err(format!(
        "{what} changes memory\n--- off\n{}\n--- on\n{}",
        expected.memory, found.memory
    )
    .into())
}

/// How often the graph says of neighbouring launches what was seen, by the latter; over all
/// programs checked so far.
static PRECISION: Mutex<BTreeMap<Option<Scope>, (usize, usize)>> = Mutex::new(BTreeMap::new());

fn count(comparison: &Comparison) {
    let mut precision = PRECISION.lock().unwrap_or_else(PoisonError::into_inner);
    for edge in &comparison.neighbours {
        let (exact, total) = precision.entry(edge.observed).or_default();
        *exact += usize::from(edge.is_exact());
        *total += 1;
    }
}

/// The precision of the graph as a table, one line a scope.
pub fn precision_table() -> String {
    let precision = PRECISION.lock().unwrap_or_else(PoisonError::into_inner);
    let mut table = String::from("observed scope  exact  edges between neighbours\n");
    for (scope, (exact, total)) in precision.iter() {
        let scope = scope.map_or("none".to_owned(), |scope| format!("{scope:?}"));
        let _ = writeln!(table, "{scope:<14} {exact:>6} {total:>12}");
    }
    table
}

/// What a program's leading comments promise.
struct Expectations {
    /// Launch sites before and after.
    launches: Option<(u64, u64)>,
    /// Host loops that run inside kernels.
    loops: Option<u64>,
    /// Reasons of consecutive pairs that stay unfused; `None` when the file does not say.
    missed: Option<Vec<String>>,
    /// Launches that the fused program executes, by run; empty when the file does not say.
    executed: Vec<u64>,
    /// Bytes of global memory that the fused program loads, by run; empty when the file does not say.
    loaded: Vec<u64>,
    /// Graphs that the fused program launches, by run; empty when the file does not say.
    graphs: Vec<u64>,
    /// Bytes that the fused program allocates, and bytes of which it takes only the addresses, by run; empty
    /// when the file does not say.
    memory: Vec<[u64; 2]>,
    /// Command lines to run the program with; none: once without arguments.
    arguments: Vec<Vec<String>>,
    /// Options to build the program with as well, by build.
    options: Vec<Vec<String>>,
    /// Layouts to try beside the default one; `all` stands for each that the report lists.
    layouts: Vec<String>,
    /// Each layout executes other blocks, barriers or instructions than the others.
    layouts_differ: bool,
}

impl Expectations {
    fn read(text: &str) -> Result<Self, Failed> {
        let mut expectations = Self {
            launches: None,
            loops: None,
            missed: None,
            arguments: Vec::new(),
            options: Vec::new(),
            layouts: Vec::new(),
            layouts_differ: false,
            executed: Vec::new(),
            loaded: Vec::new(),
            graphs: Vec::new(),
            memory: Vec::new(),
        };
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("// expect:") {
                let numbers: Vec<u64> = rest
                    .split_whitespace()
                    .filter_map(|word| word.trim_end_matches(',').parse().ok())
                    .collect();
                let (before, after) = match numbers[..] {
                    [before, after] => (before, after),
                    [before, after, loops] => {
                        expectations.loops = Some(loops);
                        (before, after)
                    }
                    _ => return Err(format!("cannot read {line:?}").into()),
                };
                expectations.launches = Some((before, after));
            } else if let Some(rest) = line.strip_prefix("// expect-missed:") {
                let reasons = rest.split([',', ' ']).filter(|word| !word.is_empty());
                expectations
                    .missed
                    .get_or_insert_default()
                    .extend(reasons.map(str::to_owned).filter(|reason| reason != "none"));
            } else if let Some(rest) = line.strip_prefix("// executes:") {
                let numbers = rest.split_whitespace().map(str::parse::<u64>);
                expectations.executed.extend(numbers.filter_map(Result::ok));
            } else if let Some(rest) = line.strip_prefix("// loads:") {
                let numbers = rest.split_whitespace().map(str::parse::<u64>);
                expectations.loaded.extend(numbers.filter_map(Result::ok));
            } else if let Some(rest) = line.strip_prefix("// graphs:") {
                let numbers = rest.split_whitespace().map(str::parse::<u64>);
                expectations.graphs.extend(numbers.filter_map(Result::ok));
            } else if let Some(rest) = line.strip_prefix("// allocates:") {
                let numbers = rest.split_whitespace().map(str::parse::<u64>);
                let numbers: Vec<u64> = numbers.filter_map(Result::ok).collect();
                let memory = numbers.try_into();
                expectations
                    .memory
                    .push(memory.map_err(|_| format!("cannot read {line:?}"))?);
            } else if let Some(rest) = line.strip_prefix("// options:") {
                let words = rest.split_whitespace().map(str::to_owned).collect();
                expectations.options.push(words);
            } else if let Some(rest) = line.strip_prefix("// layouts:") {
                let names = rest.split_whitespace().map(str::to_owned);
                expectations.layouts.extend(names);
            } else if line.starts_with("// layouts differ") {
                expectations.layouts_differ = true;
            } else if let Some(rest) = line.strip_prefix("// arguments:") {
                let words = rest.split_whitespace().map(str::to_owned).collect();
                expectations.arguments.push(words);
            }
        }
        Ok(expectations)
    }

    fn runs(&self) -> impl Iterator<Item = &[String]> {
        let default = self.arguments.is_empty().then_some(&[][..]);
        default
            .into_iter()
            .chain(self.arguments.iter().map(Vec::as_slice))
    }

    /// The names of the layouts to try.
    fn layouts(&self, report: &Value) -> BTreeSet<String> {
        let listed = || {
            let fusions = report["fusions"].as_array().into_iter().flatten();
            let names = fusions.filter_map(|fusion| fusion["layouts"].as_array());
            let names = names.flatten().filter_map(Value::as_str);
            names.map(str::to_owned)
        };
        let named = self.layouts.iter();
        named
            .flat_map(|name| match name.as_str() {
                // What stands apart by default may stand side by side.
                "all" => listed().chain(["v".to_owned(), "h".to_owned()]).collect(),
                _ => vec![name.clone()],
            })
            .collect()
    }

    fn check(&self, report: &Value, messages: &str) -> Result<(), Failed> {
        let count = |name: &str| report["counts"][name].as_u64().unwrap_or_default();
        let (launches, left) = (count("launches"), count("launches_after"));
        let missed: Vec<String> = report["missed"]
            .as_array()
            .ok_or("a report has missed pairs")?
            .iter()
            .filter(|pair| pair["carried"] != true)
            .filter_map(|pair| Some(pair["reason"].as_str()?.to_owned()))
            .collect();
        let (before, after) = self.launches.unwrap_or((launches, left));
        if (launches, left) != (before, after) {
            return Err(format!(
                "expected {before} launches -> {after}, found {launches} -> {left}; missed: {:#}",
                report["missed"]
            )
            .into());
        }
        if let Some(expected) = &self.missed
            && *expected != missed
        {
            return Err(format!(
                "expected the reasons {expected:?}, found {missed:?}: {:#}",
                report["missed"]
            )
            .into());
        }
        let loops = count("loops_in_kernels");
        if self.loops.is_some_and(|expected| expected != loops) {
            return Err(format!("{loops} host loops run inside kernels: {report:#}").into());
        }
        let line = format!("sirius: {before} launches -> {after}");
        let taken_in = count("sets_in_fusions") + count("copies_in_fusions") + loops;
        let says = |message: &str| {
            let rest = message.strip_prefix(&line);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
        };
        if (before != after || taken_in > 0) != messages.lines().any(says) {
            return Err(format!(
                "expected the line {line:?} only when something fused, found:\n{messages}"
            )
            .into());
        }
        Ok(())
    }
}

/// A program that was compiled for the CPU device.
struct Built {
    program: PathBuf,
    report: PathBuf,
    /// What the compiler said on standard error.
    messages: String,
}

/// The launch sites that race, and in which memory.
type RacingSites = BTreeSet<(u32, &'static str)>;

/// What a run left behind.
struct Run {
    output: Output,
    /// The final contents of all allocations, as text.
    memory: String,
}

/// The cache of all programs of this run of the tests: each needs our own libraries as bitcode, and what it asks twice.
fn cache() -> Result<PathBuf, Failed> {
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = match cache.take() {
        Some(folder) => folder,
        None => tempfile::tempdir()?,
    };
    Ok(cache.insert(folder).path().to_owned())
}

static CACHE: Mutex<Option<TempDir>> = Mutex::new(None);

/// Removes what was kept for later programs.
pub fn remove_cache() {
    drop(CACHE.lock().unwrap_or_else(PoisonError::into_inner).take());
}

impl Built {
    /// A program alone.
    fn with(source: &Path, folder: &Path, fusion: &str, more: &[&str]) -> Result<Self, Failed> {
        Self::new(source, folder, fusion, more, false)
    }

    /// A program; where it `is_described`, with a report and with a dump of its graph.
    fn new(
        source: &Path,
        folder: &Path,
        fusion: &str,
        more: &[&str],
        is_described: bool,
    ) -> Result<Self, Failed> {
        let name = format!(
            "{fusion}{}",
            more.concat().replace(['=', ',', '-', '[', ']'], "_")
        );
        let program = folder.join(&name);
        // Objects for the CPU device are the same for programs that are built in one place.
        let output = folder.join("program");
        let report = folder.join(format!("{name}.json"));
        let text = std::fs::read_to_string(source)?;
        // Launches by the driver's interface, and those that are called through pointers, have their numbers in a trace
        // only where somebody asks what they are.
        let is_described = is_described || NUMBERED_LATER.iter().any(|part| text.contains(part));
        let mut named = text.lines();
        let named = named.find_map(|line| line.strip_prefix("// architecture: "));
        let architecture = format!("-arch={}", named.unwrap_or("sm_80"));
        // What the program is about may have to be switched on.
        let mut lines = text.lines();
        let always = lines.find_map(|line| line.strip_prefix("// built with: "));
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .arg(source)
            .args(["-O2", "-std=c++17", "--sirius-device=cpu"])
            .args(always.unwrap_or_default().split_whitespace())
            .args(QUICK_LINK)
            .args(["-include", LEADING])
            // What most of the programs need, unless they are about architectures.
            .args(
                (!more
                    .iter()
                    .any(|option| option.starts_with("-arch") || *option == "-gencode"))
                .then_some(architecture),
            )
            .args(more)
            .arg(format!("--sirius-fusion={fusion}"))
            .args(is_described.then_some("--sirius-dump=dependence"))
            .args(is_described.then(|| format!("--sirius-report={}", report.display())))
            .arg("-o")
            .arg(&output)
            .env("SIRIUS_STRICT", "1")
            // What is used after it was freed does not look as it did.
            .env("MALLOC_PERTURB_", "85")
            .env("SIRIUS_FRONT_END_CACHE", folder.join("front_end"))
            .env("SIRIUS_CACHE", cache()?)
            .env_remove("SIRIUS_FLAGS")
            .output()?;
        let messages = String::from_utf8_lossy(&built.stderr).into_owned();
        if !built.status.success() {
            let status = built.status;
            return Err(
                format!("does not compile with fusion {fusion} ({status}):\n{messages}").into(),
            );
        }
        std::fs::rename(&output, &program)?;
        Ok(Self {
            program,
            report,
            messages,
        })
    }

    /// What the compiler found out about the program, where it is described.
    fn graph(&self) -> Result<StaticGraph, Failed> {
        let report = serde_json::from_str(&std::fs::read_to_string(&self.report)?)?;
        let dump = StaticGraph::read_dump(&self.messages).ok_or("a dump has edges and operands")?;
        Ok(StaticGraph::new(&report, dump).ok_or("a report has nodes")?)
    }

    fn run(&self, arguments: &[String], environment: Environment) -> Result<Run, Failed> {
        let dump = self.program.with_extension("memory");
        let _ = std::fs::remove_file(&dump);
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("SIRIUS_DUMP_MEMORY", &dump)
            .envs(environment.iter().copied());
        let output = command.output()?;
        if !output.status.success() {
            return Err(format!(
                "{} ends with {}\n{}\n{}",
                self.program.display(),
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )
            .into());
        }
        let memory = std::fs::read_to_string(&dump)?;
        Ok(Run { output, memory })
    }

    /// Whether the report tells of a member that is the first warp of each block.
    fn waits_by_warps(&self) -> bool {
        let report = std::fs::read_to_string(&self.report);
        report.is_ok_and(|report| report.contains("in the first warp of a block"))
    }

    /// A run on one thread, and the launch sites that race in it, and where; its trace goes to a file, and what is in it to
    /// `see`.
    fn races(
        &self,
        arguments: &[String],
        trace: &Path,
        mut see: impl FnMut(&Record),
    ) -> Result<(Run, RacingSites), Failed> {
        let file = trace.to_string_lossy().into_owned();
        let run = self.run(
            arguments,
            &[("SIRIUS_CPU_THREADS", "1"), ("SIRIUS_TRACE", &file)],
        )?;
        let mut races = Races::default();
        for record in Records::new(File::open(trace)?)? {
            let record = record?;
            see(&record);
            races.add(record);
        }
        Ok((run, races.found()))
    }

    /// How many graphs a run launches.
    fn graphs(&self, arguments: &[String], mode: &str, folder: &Path) -> Result<u64, Failed> {
        let statistics = self.statistics(arguments, &[("SIRIUS_GRAPHS", mode)], folder)?;
        Ok(graphs(&statistics))
    }

    /// What all kernels together execute.
    fn work(&self, arguments: &[String], folder: &Path) -> Result<String, Failed> {
        let statistics = self.statistics(arguments, &[], folder)?;
        let kernels = statistics["kernels"].as_array().ok_or("no kernels")?;
        let counters = [
            "launches",
            "blocks",
            "barriers",
            "instructions",
            "global_load_bytes",
        ];
        let sums = counters.map(|counter| {
            let of_kernels = kernels.iter().filter_map(|kernel| kernel[counter].as_u64());
            format!("{} {counter}", of_kernels.sum::<u64>())
        });
        Ok(sums.join(", "))
    }

    /// What a run counts.
    fn statistics(
        &self,
        arguments: &[String],
        environment: Environment,
        folder: &Path,
    ) -> Result<Value, Failed> {
        let (_, counts) = self.run_and_count(arguments, environment, folder)?;
        Ok(counts)
    }

    fn run_and_count(
        &self,
        arguments: &[String],
        environment: Environment,
        folder: &Path,
    ) -> Result<(Run, Value), Failed> {
        let path = folder.join("executed.json");
        let file = path.to_string_lossy().into_owned();
        let environment = [environment, &[("SIRIUS_STATS", &file)]].concat();
        let run = self.run(arguments, &environment)?;
        Ok((run, serde_json::from_str(&std::fs::read_to_string(&path)?)?))
    }
}

/// How many bytes of global memory a run loaded, by what it counted.
fn loaded(counts: &Value) -> Option<u64> {
    let kernels = counts["kernels"].as_array()?.iter();
    kernels
        .map(|kernel| kernel["global_load_bytes"].as_u64())
        .sum()
}

/// How many graphs a run launched.
fn graphs(counts: &Value) -> u64 {
    counts["graph_launches"].as_u64().unwrap_or_default()
}

/// Bytes that a run allocated, and bytes of which it took only the addresses.
fn memory_of(counts: &Value) -> Option<[u64; 2]> {
    let bytes = |name: &str| counts["memory"][name].as_u64();
    Some([bytes("allocated_bytes")?, bytes("reserved_bytes")?])
}
