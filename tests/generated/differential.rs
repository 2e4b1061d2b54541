//! Differential runs of generated units: fused against unfused, case by case, and the search for the
//! smallest program that still differs.

use crate::generator::groups::{GroupCase, Unit};
use crate::quick_link::QUICK_LINK;
use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sirius_rs::build::Optimisation;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

/// What is wrong with a unit.
#[derive(Clone, Debug)]
pub enum Difference {
    /// A case prints something else.
    Output {
        /// The case.
        case: usize,
        /// The variant of it.
        variant: usize,
        /// Where it was seen: the command line and how the runtime ran.
        run: String,
        /// What the unfused program printed.
        expected: String,
        /// What the fused program printed.
        found: String,
    },
    /// Memory differs at the end, although all cases print the same.
    Memory {
        /// Where it was seen.
        run: String,
    },
    /// A step failed; the text says how.
    Failure(Step, String),
}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    units: usize,
    cases: usize,
    launches: usize,
    launches_after: usize,
    runs: usize,
    /// Members of fused launches by the map that they have, in the order of [`MAPS`].
    members: [usize; MAPS.len()],
    /// Fused launches by the classes of their guards, in the order of [`GUARDS`].
    guarded: [usize; GUARDS.len()],
    /// How often fused kernels or launches have each of [`BESIDES`].
    besides: [usize; BESIDES.len()],
}

/// Kinds of maps of members, as the report names them.
const MAPS: [&str; 8] = [
    "identity",
    "clipped",
    "remapped",
    "runs",
    "iterations",
    "elements",
    "rearranged",
    "blocks",
];

/// Classes of guards, as the report names them.
const GUARDS: [&str; 9] = [
    "array",
    "rows",
    "alias",
    "shape",
    "size",
    "divisible",
    "wrap",
    "stream",
    "configuration",
];

/// What else fused kernels have, by what their text or the report's says of it.
const BESIDES: [&str; 5] = [WINDOWS, ROWS, TABLES, LAST_BLOCKS, RECOMPUTED];
/// Shared memory of a known size for what threads of a block hand to each other.
const WINDOWS: &str = "windows";
/// Shared memory that launches bring along, for rows.
const ROWS: &str = "rows of the run";
/// Guards of pointers that stand in tables.
const TABLES: &str = "pointers in tables";
/// Launches of one block that the last block of others runs.
const LAST_BLOCKS: &str = "last blocks";
/// Launches of one block that each block of the launch behind does by itself.
const RECOMPUTED: &str = "recomputed";

/// What the few units that always run must have; the rest is met in long runs.
const WANTED: [&str; 13] = [
    "identity",
    "clipped",
    "remapped",
    "runs",
    "iterations",
    "rearranged",
    "blocks",
    "alias",
    "stream",
    "configuration",
    WINDOWS,
    TABLES,
    RECOMPUTED,
];

static TOTALS: Mutex<Totals> = Mutex::new(Totals {
    units: 0,
    cases: 0,
    launches: 0,
    launches_after: 0,
    runs: 0,
    members: [0; MAPS.len()],
    guarded: [0; GUARDS.len()],
    besides: [0; BESIDES.len()],
});

impl Totals {
    /// What this process compared so far and found equal.
    pub fn so_far() -> Self {
        *TOTALS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Units, and which of [`WANTED`] none of them has.
    pub fn absent(&self) -> (usize, Vec<&'static str>) {
        let counts = MAPS.iter().zip(self.members);
        let counts = counts.chain(GUARDS.iter().zip(self.guarded));
        let counts = counts.chain(BESIDES.iter().zip(self.besides));
        let absent = counts.filter(|(name, count)| *count == 0 && WANTED.contains(name));
        (self.units, absent.map(|(name, _)| *name).collect())
    }

    /// Adds what a build and its report say of its fused launches.
    fn add_fusions(&mut self, built: &Built, report: &serde_json::Value) {
        self.besides[0] += built.windows;
        self.besides[1] += built.rows;
        let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
        for fusion in list(&report["fusions"]) {
            for map in list(&fusion["maps"]) {
                let kind = MAPS.iter().position(|kind| map["kind"] == **kind);
                if let Some(kind) = kind {
                    self.members[kind] += 1;
                }
            }
            let guards = list(&fusion["guards"]);
            for (kind, count) in GUARDS.iter().zip(&mut self.guarded) {
                *count += usize::from(guards.iter().any(|guard| guard["kind"] == **kind));
            }
            let of_table = |guard: &serde_json::Value| guard.to_string().contains("the pointer at");
            self.besides[2] += usize::from(guards.iter().any(of_table));
            self.besides[3] += usize::from(!fusion["last_block"].is_null());
            self.besides[4] += usize::from(fusion["layout"] == "recomputed");
        }
    }

    /// One line about it, and one about the ways in which launches were made one.
    pub fn line(&self, time: Duration) -> String {
        let seconds = time.as_secs_f64().max(1e-9);
        format!(
            "{} cases without a difference in {seconds:.0} s ({:.1} a second): {} launch groups of {} \
             units, each with {} draws of run-time values; launch sites {} -> {}\n\
             members by map {}; fused launches by guards {}; {}",
            self.runs,
            self.runs as f64 / seconds,
            self.cases,
            self.units,
            FUSED_RUNS.len() * draws(),
            self.launches,
            self.launches_after,
            counts(&MAPS, &self.members),
            counts(&GUARDS, &self.guarded),
            counts(&BESIDES, &self.besides)
        )
    }
}

/// `identity 12, remapped 3`.
fn counts(names: &[&str], counts: &[usize]) -> String {
    let each = names.iter().zip(counts);
    let each: Vec<String> = each
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    each.join(", ")
}

/// A folder for builds and runs.
pub struct Differential {
    folder: tempfile::TempDir,
}

/// Draws of run-time values for each case in a run, unless `SIRIUS_FUZZ_DRAWS` says otherwise: a draw
/// costs a thousandth of what building the case costs.
const DRAWS: usize = 20;

fn draws() -> usize {
    let chosen = std::env::var("SIRIUS_FUZZ_DRAWS").ok();
    chosen.and_then(|text| text.parse().ok()).unwrap_or(DRAWS)
}

/// How the fused program is run, a run with draws of its own each; the unfused one runs blocks in
/// ascending order. In one of them launches with grid barriers are refused.
const FUSED_RUNS: [&[(&str, &str)]; 3] = [
    &[("SIRIUS_CPU_THREADS", "1")],
    &[
        ("SIRIUS_CPU_THREADS", "1"),
        ("SIRIUS_CPU", "fiber"),
        ("SIRIUS_RESIDENT_BLOCKS", "0"),
    ],
    &[("SIRIUS_CPU_THREADS", "2")],
];

/// How the launches of a group are laid out; a unit has one of them.
const LAYOUTS: [&str; 5] = [
    "--sirius-layout=auto",
    "--sirius-layout=v",
    "--sirius-layout=h",
    "--sirius-layout=vmin",
    "--sirius-layout=vmax",
];

/// Who chooses the groups; a unit has one of them.
const PLANNERS: [&str; 4] = [
    "--sirius-planner=auto",
    "--sirius-planner=ilp",
    "--sirius-planner=span",
    "--sirius-planner=priority",
];

/// What is done where launches stay apart; a unit has one of them.
const BOUNDARIES: [&str; 3] = [
    "--sirius-boundaries=none",
    "--sirius-boundaries=last-block",
    "--sirius-boundaries=last-block,grid-barrier",
];

/// What the units of every third number go without, so that optimisations are met in combinations.
fn switched_off(seed: u64, number: u64) -> BTreeSet<Optimisation> {
    if number % 3 != 1 {
        return BTreeSet::new();
    }
    let mut random = StdRng::seed_from_u64(seed);
    let share = [0.1, 0.3, 0.6][random.random_range(0..3)];
    let all = Optimisation::ALL.into_iter();
    all.filter(|_| random.random_bool(share)).collect()
}

/// How far the host's part is optimised: most of a unit is host code, of which the second level takes
/// three times as long as the first.
fn optimisation(unit: &Unit) -> &'static str {
    match unit.seed % 8 {
        0 => "-O2",
        1..=3 => "-O1",
        _ => "-O0",
    }
}

/// Lines of messages that are shown of a build that failed.
const LAST_LINES: usize = 40;

/// The fused program once more, one draw, with every access compared.
const RACE_CHECK: &[(&str, &str)] = &[("SIRIUS_CHECK", "race"), ("SIRIUS_ORDERS_STREAMS", "1")];

impl Differential {
    /// Makes the folder.
    pub fn new() -> Result<Self, Failed> {
        Ok(Self {
            folder: tempfile::tempdir()?,
        })
    }

    /// Builds `unit` with fusion off and `fused` with fusion on, runs both and says how they differ.
    /// Of several cases the first one is named.
    pub fn compare(&self, unit: &Unit, fused: &Unit) -> Result<Option<Difference>, Failed> {
        // What nobody reads need not be written: half of the units compare all memory. Whatever the
        // cost model thinks, launches are also put behind and beside each other.
        let layouts = u64::try_from(LAYOUTS.len())?;
        let mut switched_off = switched_off(unit.seed, unit.seed / layouts);
        if (unit.seed / layouts).is_multiple_of(2) {
            switched_off.insert(Optimisation::DeadStores);
        }
        let all_memory = switched_off.contains(&Optimisation::DeadStores);
        let mut optimisations = "--sirius-opt=all".to_owned();
        for optimisation in switched_off {
            let _ = write!(optimisations, ",-{}", optimisation.name());
        }
        let layout = LAYOUTS[usize::try_from(unit.seed % layouts)?];
        let planner = PLANNERS[usize::try_from(unit.seed)? % PLANNERS.len()];
        let boundaries = BOUNDARIES[usize::try_from(unit.seed)? % BOUNDARIES.len()];
        let report = self.folder.path().join("report.json");
        let options = [
            "--sirius-fusion=all",
            &optimisations,
            layout,
            planner,
            boundaries,
            "--sirius-dump=codegen",
            &format!("--sirius-report={}", report.display()),
        ];
        let failure = |step, message| Ok(Some(Difference::Failure(step, message)));
        let on = match self.build(fused, "on", &options)? {
            Ok(built) => built,
            Err(messages) => return failure(Step::FusedBuild, messages),
        };
        // Without a report and without fusion, nothing of the analysis is done.
        let off = match self.build(unit, "off", &["--sirius-fusion=off"])? {
            Ok(built) => built,
            Err(messages) => return failure(Step::UnfusedBuild, messages),
        };
        for (number, environment) in FUSED_RUNS.iter().enumerate() {
            let arguments = &[(number * draws()).to_string(), draws().to_string()];
            let run = format!("arguments {arguments:?}, {environment:?}");
            let unfused = match off.run(arguments, FUSED_RUNS[0])? {
                Ok(output) => output,
                Err(message) => return failure(Step::UnfusedRun, message),
            };
            let found = match on.run(arguments, environment)? {
                Ok(output) => output,
                Err(message) => return failure(Step::FusedRun, message),
            };
            if let Some(difference) = difference(&unfused, &found, (&run, all_memory)) {
                return Ok(Some(difference));
            }
        }
        // Kernels do not race by themselves, so that a race is one that fusion made.
        if let Err(message) = on.run(&["0".to_owned(), "1".to_owned()], RACE_CHECK)? {
            return failure(Step::RaceCheck, message);
        }
        let mut totals = TOTALS.lock().unwrap_or_else(PoisonError::into_inner);
        totals.units += 1;
        totals.cases += unit.cases.len();
        totals.runs += unit.cases.len() * FUSED_RUNS.len() * draws();
        let launches: usize = unit.cases.iter().map(GroupCase::launches).sum();
        let (before, after) = on.launches.unwrap_or((launches, launches));
        totals.launches += before;
        totals.launches_after += after;
        totals.add_fusions(
            &on,
            &serde_json::from_str(&std::fs::read_to_string(report)?)?,
        );
        Ok(None)
    }

    /// The smallest part of a unit that still differs, and how. `fused` makes the unit that is built
    /// with fusion.
    ///
    /// Cases are halved until one is left; then statements are left out. All ways to leave out one are
    /// variants of the case in one build, where a build works at all.
    pub fn shrink(
        &self,
        unit: &Unit,
        difference: Difference,
        fused: impl Fn(&Unit) -> Unit,
    ) -> Result<(Unit, Difference), Failed> {
        let (mut unit, mut difference) = (unit.clone(), difference);
        if let Difference::Output { case, .. } = &difference {
            let alone = unit.with(
                unit.cases
                    .iter()
                    .filter(|c| c.number == *case)
                    .cloned()
                    .collect(),
            );
            if let Some(found) = self.compare(&alone, &fused(&alone))? {
                (unit, difference) = (alone, found);
            }
        }
        while unit.cases.len() > 1 {
            let (left, right) = unit.cases.split_at(unit.cases.len() / 2);
            let mut smaller = None;
            for half in [left, right] {
                let half = unit.with(half.to_vec());
                if let Some(found) = self.compare(&half, &fused(&half))?
                    && found.is_like(&difference)
                {
                    smaller = Some((half, found));
                    break;
                }
            }
            match smaller {
                Some(found) => (unit, difference) = found,
                None => return Ok((unit, difference)),
            }
        }
        'smaller: loop {
            let mut candidates = unit.cases[0].smaller();
            if matches!(difference, Difference::Output { .. }) {
                for (variant, candidate) in candidates.iter_mut().enumerate() {
                    candidate.variant = variant;
                }
                let all = unit.with(candidates.clone());
                match self.compare(&all, &fused(&all))? {
                    Some(found @ Difference::Output { variant, .. }) => {
                        let mut candidate = candidates.swap_remove(variant);
                        candidate.variant = 0;
                        (unit, difference) = (unit.with(vec![candidate]), found);
                        continue 'smaller;
                    }
                    Some(_) => {}
                    None => return Ok((unit, difference)),
                }
            }
            for candidate in candidates {
                let candidate = unit.with(vec![candidate]);
                if let Some(found) = self.compare(&candidate, &fused(&candidate))?
                    && found.is_like(&difference)
                {
                    (unit, difference) = (candidate, found);
                    continue 'smaller;
                }
            }
            return Ok((unit, difference));
        }
    }

    /// Keeps the program and says where it is, what differs and how to see it again.
    pub fn report(&self, unit: &Unit, difference: &Difference) -> Result<String, Failed> {
        let number = unit.cases.first().map_or(0, |case| case.number);
        let kept = std::env::temp_dir().join(format!("sirius_group_{}_{number}.cu", unit.seed));
        std::fs::write(&kept, unit.text())?;
        let mut report = format!(
            "seed {}, case {number}: the smallest program is kept in {}\n",
            unit.seed,
            kept.display()
        );
        for case in &unit.cases {
            let _ = writeln!(report, "{}", case.lines.join("\n"));
        }
        match difference {
            Difference::Output {
                run,
                expected,
                found,
                ..
            } => {
                let _ = writeln!(
                    report,
                    "with {run}\n--- unfused\n{expected}--- fused\n{found}"
                );
            }
            Difference::Memory { run } => {
                let _ = writeln!(
                    report,
                    "with {run}, the contents of memory differ at the end"
                );
            }
            Difference::Failure(_, message) => report.push_str(message),
        }
        Ok(report)
    }

    fn build(
        &self,
        unit: &Unit,
        name: &str,
        options: &[&str],
    ) -> Result<Result<Built, String>, Failed> {
        // One file that changes only with its text, so that the front end's work serves both programs, and one place to
        // build in, so that objects of the CPU device do.
        let source = self.folder.path().join("unit.cu");
        let made = self.folder.path().join("made");
        let program = self.folder.path().join(name);
        let text = unit.text();
        if std::fs::read_to_string(&source).ok().as_ref() != Some(&text) {
            std::fs::write(&source, text)?;
        }
        let compiler = std::env::var_os("SIRIUS_FUZZ_COMPILER").map_or_else(
            || PathBuf::from(env!("CARGO_BIN_EXE_sirius-rs")),
            PathBuf::from,
        );
        let output = Command::new(compiler)
            .arg(&source)
            .args([optimisation(unit), "-std=c++17", "--sirius-device=cpu"])
            .args(QUICK_LINK)
            .args(options)
            .arg("-o")
            .arg(&made)
            .env("SIRIUS_STRICT", "1")
            // What is used after it was freed does not look as it did.
            .env("MALLOC_PERTURB_", "85")
            .env("SIRIUS_FRONT_END_CACHE", self.folder.path())
            .env("SIRIUS_CACHE", self.folder.path())
            .env_remove("SIRIUS_FLAGS")
            .output()?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines: Vec<&str> = messages.lines().collect();
        let shared = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
        if !output.status.success() {
            // What is dumped stands before what is wrong.
            let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
            return Ok(Err(format!("does not build with {options:?}:\n{last}")));
        }
        std::fs::rename(&made, &program)?;
        Ok(Ok(Built {
            program,
            launches: messages.lines().find_map(launches),
            windows: shared("_block = internal addrspace(3)"),
            rows: shared("_rows = external addrspace(3)"),
        }))
    }
}

/// What failed of a comparison: a program that is broken without fusion, say, tells nothing of one that only fusion breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The compiler, with fusion.
    FusedBuild,
    /// The compiler, without.
    UnfusedBuild,
    /// The program, with fusion.
    FusedRun,
    /// The program, without.
    UnfusedRun,
    /// The race check of the fused program.
    RaceCheck,
}

impl Difference {
    /// Whether it is of the same kind, so that a search does not end at something else.
    fn is_like(&self, other: &Self) -> bool {
        // A statement too few, and clang refuses the source.
        let is_ours = |text: &str| text.contains("internal error");
        match (self, other) {
            (Self::Failure(own, text), Self::Failure(others, told)) => {
                own == others && is_ours(text) == is_ours(told)
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// `sirius: 9 launches -> 3`.
fn launches(line: &str) -> Option<(usize, usize)> {
    let (before, after) = line.strip_prefix("sirius: ")?.split_once(" launches -> ")?;
    let after = after.split(',').next()?;
    Some((before.parse().ok()?, after.parse().ok()?))
}

/// A program that was compiled for the CPU device.
struct Built {
    program: PathBuf,
    /// Launch sites before and after fusion.
    launches: Option<(usize, usize)>,
    /// Shared variables for what threads of a block hand to each other, and for rows.
    windows: usize,
    rows: usize,
}

/// What a run left behind.
struct Run {
    output: String,
    memory: String,
}

impl Built {
    fn run(
        &self,
        arguments: &[String],
        environment: &[(&str, &str)],
    ) -> Result<Result<Run, String>, Failed> {
        let dump: &Path = &self.program.with_extension("memory");
        let output = Command::new(&self.program)
            .args(arguments)
            .env("SIRIUS_DUMP_MEMORY", dump)
            .envs(environment.iter().copied())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            return Ok(Err(format!(
                "{} {arguments:?} {environment:?} ends with {}\n{}\n{}",
                self.program.display(),
                output.status,
                text.lines().last().unwrap_or_default(),
                String::from_utf8_lossy(&output.stderr)
            )));
        }
        Ok(Ok(Run {
            output: text,
            memory: std::fs::read_to_string(dump)?,
        }))
    }
}

/// What differs of two runs: `all_memory`, or that of variables alone.
fn difference(unfused: &Run, fused: &Run, (run, all_memory): (&str, bool)) -> Option<Difference> {
    if unfused.output == fused.output {
        let compared = |line: &&str| all_memory || !line.contains("\"kind\":\"device\"");
        let unfused = unfused.memory.lines().filter(compared);
        let fused = fused.memory.lines().filter(compared);
        return (!unfused.eq(fused)).then(|| Difference::Memory {
            run: run.to_owned(),
        });
    }
    let parts = |output: &str| -> Vec<String> { output.split("\n#").map(str::to_owned).collect() };
    let (expected, found) = (parts(&unfused.output), parts(&fused.output));
    let first = expected
        .iter()
        .zip(&found)
        .position(|(left, right)| left != right)
        .unwrap_or(expected.len().min(found.len()).saturating_sub(1));
    let mut numbers = expected[first]
        .trim_start_matches('#')
        .split_whitespace()
        .map(|number| number.parse().unwrap_or(0));
    Some(Difference::Output {
        case: numbers.next().unwrap_or(0),
        variant: numbers.next().unwrap_or(0),
        run: run.to_owned(),
        expected: format!("{}\n", expected[first]),
        found: found
            .get(first)
            .map(|found| format!("{found}\n"))
            .unwrap_or_default(),
    })
}
