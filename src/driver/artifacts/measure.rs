//! Measuring: the program in several configurations, one program that holds and runs them all, and what it
//! finds.
//!
//! Invariant: the user's program is built by [`super::super::pipeline::compile`] like any other, with names of variants for
//! its groups; nothing of what is measured comes into it but these names.

use super::super::files::outputs::{put_in_place, write_report};
use super::super::outcome::{Outcome, PipelineError, Tunable};
use super::super::replanning::keep_verdicts;
use super::link::link_program;
use crate::build::{Build, Device, SiriusOptions, TuneMode, Tuning};
use crate::files::private_folder;
use crate::interruption::Running;
use crate::output::tell;
use crate::tools::{Toolchain, run_tool};
use crate::tune::{Evaluated, Manifest, Measurements, Verdict, next_generation};
use indicatif::{ProgressBar, ProgressStyle};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The program that runs the others.
const TUNER: &str = include_str!("tuner.c");

/// What the first configuration is.
const AS_PLANNED: &str = "all as planned";

/// So many variants of a kernel are named.
const MOST_NAMED: usize = 12;

/// So many configurations are built at a time.
const MOST_CONFIGURATIONS: usize = 8;

/// Names of choices by keys.
type Configuration = BTreeMap<String, String>;

/// Links a program, and where variants of its groups are to be measured and have not been, measures them
/// and links it with the best.
pub(in crate::driver) fn link_tuned(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let mut first = Outcome::default();
    link_program(build, toolchain, output, &mut first)?;
    let is_known = first.tunables.iter().all(|tunable| tunable.is_known);
    let may_run = build.sirius.stop_after.is_none() && !build.shared;
    if build.sirius.tuning.mode != TuneMode::Measure || is_known || !may_run {
        outcome.append(first);
        return Ok(());
    }
    let choices = measure(build, toolchain, outcome)?;
    if choices.is_empty() {
        outcome.append(first);
        return Ok(());
    }
    let mut tuned = build.clone();
    tuned.sirius.tuning.choices = choices;
    link_program(&tuned, toolchain, output, outcome)
}

/// `sirius-rs tune`: makes the program that measures, or measures and writes what came of it.
///
/// # Errors
/// Those of a build; there is nothing to tune, or nothing was measured.
pub(in crate::driver) fn tune(
    build: &Build,
    toolchain: &Toolchain,
    pack: bool,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let mut session = Session::begin(build, toolchain)?;
    if !pack {
        let measured = session.measure(outcome)?;
        for line in session.winners(&measured) {
            outcome.warnings.push_str(&line);
        }
        return write_report(output, &session.results);
    }
    let made = session.build_first(outcome)?;
    let configurations = session.first_configurations();
    let programs = session.build_others(made, configurations, Duration::ZERO)?;
    let made = session.folder.path().join("packed");
    session.pack(&programs, &made)?;
    put_in_place(&made, output)?;
    let count = programs.len();
    let subjects = session.tunables.len();
    outcome.summary = Some(format!(
        "sirius: {} in {count} configurations",
        counted(subjects, "fused kernel")
    ));
    Ok(())
}

/// `--sirius-tune=measure`: the choices for subjects of which nothing is known yet. What cannot be measured
/// is said, and costs the choices and no more.
///
/// # Errors
/// Those of a build.
fn measure(
    build: &Build,
    toolchain: &Toolchain,
    outcome: &mut Outcome,
) -> Result<Configuration, PipelineError> {
    let mut session = Session::begin(build, toolchain)?;
    let mut quiet = Outcome::default();
    match session.measure(&mut quiet) {
        Err(PipelineError::Tune(reason)) => {
            let text = format!("sirius-rs: nothing was measured: {reason}\n");
            outcome.warnings.push_str(&text);
            Ok(Configuration::new())
        }
        Err(error) => Err(error),
        Ok(measured) => {
            for line in session.winners(&measured) {
                outcome.warnings.push_str(&line);
            }
            let verdicts = measured.verdicts();
            keep_verdicts(&verdicts);
            let choices = verdicts.into_iter();
            Ok(choices.map(|each| (each.key, each.choice)).collect())
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// Building and running configurations of one program.
struct Session<'a> {
    build: &'a Build,
    toolchain: &'a Toolchain,
    folder: tempfile::TempDir,
    begun: Instant,
    bar: ProgressBar,
    tunables: Vec<Tunable>,
    /// Files of results behind each other.
    results: String,
    /// Programs that were built.
    built: usize,
}

/// A program and its configuration.
struct Made {
    program: PathBuf,
    configuration: Configuration,
}

impl<'a> Session<'a> {
    fn begin(build: &'a Build, toolchain: &'a Toolchain) -> Result<Self, PipelineError> {
        let folder = private_folder().map_err(|error| PipelineError::Write {
            path: std::env::temp_dir(),
            error,
        })?;
        let bar = ProgressBar::new(0);
        if let Ok(style) =
            ProgressStyle::with_template("sirius: tune: [{bar:30}] {pos}/{len} {prefix} {wide_msg}")
        {
            bar.set_style(style.progress_chars("##-"));
        }
        bar.set_prefix("building");
        bar.set_message(AS_PLANNED);
        Ok(Self {
            build,
            toolchain,
            folder,
            begun: Instant::now(),
            bar,
            tunables: Vec::new(),
            results: String::new(),
            built: 0,
        })
    }

    fn left(&self) -> Duration {
        let budget = Duration::from_secs(self.build.sirius.tuning.budget_seconds);
        budget.saturating_sub(self.begun.elapsed())
    }

    /// Builds and runs generations of configurations while there is time.
    fn measure(&mut self, outcome: &mut Outcome) -> Result<Measurements, PipelineError> {
        let first = self.build_first(outcome)?;
        let configurations = self.first_configurations();
        // As much time for running as for building.
        let mut programs = self.build_others(first, configurations, self.left() / 2)?;
        let mut random = StdRng::seed_from_u64(self.build.sirius.tuning.seed);
        let mut all: Option<Measurements> = None;
        loop {
            let before = self.left();
            let measured = self.run(&programs)?;
            match &mut all {
                None => all = Some(measured),
                Some(all) => all.merge(measured),
            }
            let configurations = match &all {
                Some(measured) => self.next_configurations(measured, &mut random),
                None => Vec::new(),
            };
            // Another generation takes as long as this one.
            let took = before.saturating_sub(self.left());
            if configurations.is_empty() || self.left() <= took * 2 {
                break;
            }
            let planned = Made {
                program: programs.swap_remove(0).program,
                configuration: Configuration::new(),
            };
            programs = self.build_others(planned, configurations, self.left() / 2)?;
        }
        self.bar.finish_and_clear();
        all.ok_or_else(|| PipelineError::Tune("there was no time".into()))
    }

    /// The program as planned; it tells what there is to tune.
    fn build_first(&mut self, outcome: &mut Outcome) -> Result<Made, PipelineError> {
        let configuration = Configuration::new();
        let program = self.build_one(&configuration, outcome)?;
        // Everybody who asks for measurements asks for the program, too, and hears it then.
        self.tunables = std::mem::take(&mut outcome.tunables);
        self.tunables.retain(|each| each.ranked.len() > 1);
        if self.tunables.is_empty() {
            return Err(PipelineError::Tune(String::from(
                "no launches were fused of which there is another variant",
            )));
        }
        for tunable in &self.tunables {
            let names = tunable
                .ranked
                .iter()
                .map(|each| tunable.subject.space.choice(&each.genome).to_string());
            let names: Vec<String> = names.collect();
            let more = match names.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            self.say(&format!(
                "sirius: tune: {} has the variants {}{more}",
                tunable.subject.kernels.join("+"),
                names[..names.len().min(MOST_NAMED)].join(", ")
            ));
        }
        Ok(Made {
            program,
            configuration,
        })
    }

    /// A line above the bar, or where there is no terminal by itself.
    fn say(&self, line: &str) {
        match self.bar.is_hidden() {
            true => tell(format_args!("{line}\n")),
            false => self.bar.println(line),
        }
    }

    /// What a configuration tries.
    fn label(&self, configuration: &Configuration) -> String {
        let tried = self.tunables.iter().filter_map(|tunable| {
            let name = configuration.get(&tunable.subject.key)?;
            Some(format!("{} as {name}", tunable.subject.kernels.join("+")))
        });
        let tried: Vec<String> = tried.collect();
        match tried.is_empty() {
            true => AS_PLANNED.to_owned(),
            false => tried.join(", "),
        }
    }

    /// Which variant of each subject won, and by how much.
    fn winners(&self, measured: &Measurements) -> Vec<String> {
        let of = |verdict: Verdict| {
            let mut subjects = self.tunables.iter().map(|tunable| &tunable.subject);
            let subject = subjects.find(|subject| subject.key == verdict.key)?;
            let kernels = subject.kernels.join("+");
            let tried = measured.variants(&verdict.key).count();
            let milliseconds = verdict.nanoseconds / 1e6;
            let of_all = format!("of {}", counted(tried, "variant"));
            Some(match verdict.choice == subject.planned {
                true => format!(
                    "sirius: tune: {kernels} stays '{}' as planned: {milliseconds:.3} ms a run, {of_all} none is \
                     faster beyond doubt\n",
                    verdict.choice
                ),
                false => format!(
                    "sirius: tune: {kernels} becomes '{}': {milliseconds:.3} ms a run, {:.0} % less than '{}' as planned \
                     ({:.3} ms), the fastest {of_all}\n",
                    verdict.choice,
                    100.0 * (1.0 - verdict.nanoseconds / verdict.planned_nanoseconds),
                    subject.planned,
                    verdict.planned_nanoseconds / 1e6
                ),
            })
        };
        measured.verdicts().into_iter().filter_map(of).collect()
    }

    /// The best variants of each subject, one of each in a configuration.
    fn first_configurations(&self) -> Vec<Configuration> {
        let mut configurations = Vec::new();
        for number in 1..MOST_CONFIGURATIONS {
            let chosen = self.tunables.iter().filter_map(|tunable| {
                let variant = tunable.ranked.get(number)?;
                let name = tunable.subject.space.choice(&variant.genome);
                Some((tunable.subject.key.clone(), name.to_string()))
            });
            let chosen: Configuration = chosen.collect();
            if !chosen.is_empty() {
                configurations.push(chosen);
            }
        }
        configurations
    }

    /// Variants that follow from what was measured.
    fn next_configurations(
        &mut self,
        measured: &Measurements,
        random: &mut StdRng,
    ) -> Vec<Configuration> {
        let mut configurations = vec![Configuration::new(); MOST_CONFIGURATIONS - 1];
        for tunable in &mut self.tunables {
            let subject = &tunable.subject;
            let name = |each: &Evaluated| subject.space.choice(&each.genome).to_string();
            let known = tunable.ranked.iter().filter_map(|each| {
                Some(Evaluated {
                    genome: each.genome.clone(),
                    nanoseconds: measured.median(&subject.key, &name(each))?,
                })
            });
            let known: Vec<Evaluated> = known.collect();
            let sizes = subject.space.sizes();
            let count = configurations.len();
            let mut next = next_generation(&known, &sizes, count, random);
            // What the model put first and had no place yet comes before what nobody has thought of.
            let waiting = tunable.ranked.iter().filter(|each| {
                known.len() < tunable.ranked.len()
                    && measured.median(&subject.key, &name(each)).is_none()
            });
            let waiting = waiting.map(|each| each.genome.clone());
            next = waiting.take(count / 2).chain(next).collect();
            let mut names = BTreeSet::new();
            let mut places = configurations.iter_mut();
            for genome in next {
                let name = subject.space.choice(&genome).to_string();
                let is_new = measured.median(&subject.key, &name).is_none();
                if !is_new || !names.insert(name.clone()) {
                    continue;
                }
                let Some(configuration) = places.next() else {
                    break;
                };
                configuration.insert(subject.key.clone(), name);
                if !tunable.ranked.iter().any(|each| each.genome == genome) {
                    tunable.ranked.push(Evaluated {
                        genome,
                        nanoseconds: f64::MAX,
                    });
                }
            }
        }
        configurations.retain(|configuration| !configuration.is_empty());
        configurations
    }

    /// The program as planned, and in those configurations for which there is time before so much is left.
    fn build_others(
        &mut self,
        planned: Made,
        configurations: Vec<Configuration>,
        least: Duration,
    ) -> Result<Vec<Made>, PipelineError> {
        self.bar.set_prefix("building");
        self.bar.set_length(configurations.len() as u64);
        self.bar.set_position(0);
        let mut programs = vec![planned];
        for configuration in configurations {
            let left = self.left();
            if programs.len() > 1 && (left.is_zero() || left < least) {
                break;
            }
            let mut quiet = Outcome::default();
            self.bar.set_message(self.label(&configuration));
            let program = self.build_one(&configuration, &mut quiet)?;
            self.bar.inc(1);
            programs.push(Made {
                program,
                configuration,
            });
        }
        Ok(programs)
    }

    fn build_one(
        &mut self,
        configuration: &Configuration,
        outcome: &mut Outcome,
    ) -> Result<PathBuf, PipelineError> {
        let program = self.folder.path().join(format!("program{}", self.built));
        self.built += 1;
        let sirius = &self.build.sirius;
        let timed = Build {
            output: Some(program.clone()),
            run: None,
            keep_directory: None,
            sirius: SiriusOptions {
                report: None,
                dump: Vec::new(),
                save_directory: None,
                reference: false,
                tuning: Tuning {
                    mode: TuneMode::Off,
                    results: None,
                    choices: configuration.clone(),
                    timed: true,
                    ..sirius.tuning.clone()
                },
                ..sirius.clone()
            },
            ..self.build.clone()
        };
        link_program(&timed, self.toolchain, &program, outcome)?;
        outcome.summary = None;
        Ok(program)
    }

    /// Makes one program of all.
    fn pack(&self, programs: &[Made], output: &Path) -> Result<(), PipelineError> {
        let place = |name: &str| self.folder.path().join(name);
        let subjects = self.tunables.iter().map(|each| each.subject.clone());
        let configurations = programs.iter().map(|made| made.configuration.clone());
        let manifest = Manifest::new(subjects.collect(), configurations.collect());
        let manifest = serde_json::to_string(&manifest)
            .map_err(|error| PipelineError::Bug(format!("a manifest: {error}")))?;
        write_report(&place("manifest.json"), &manifest)?;
        let mut header = format!(
            "EMBED(manifest, \"{}\");\n",
            place("manifest.json").display()
        );
        let mut table = Vec::new();
        for (number, made) in programs.iter().enumerate() {
            let program = made.program.display();
            let _ = writeln!(header, "EMBED(program{number}, \"{program}\");");
            table.push(format!("{{program{number}_start, program{number}_end}}"));
        }
        let _ = writeln!(header, "#define SIRIUS_TABLE {}", table.join(", "));
        let labels = programs.iter().map(|made| {
            let label = self.label(&made.configuration);
            format!("\"{}\"", label.escape_default())
        });
        let labels: Vec<String> = labels.collect();
        let _ = writeln!(header, "#define SIRIUS_LABELS {}", labels.join(", "));
        write_report(&place("programs.h"), &header)?;
        write_report(&place("tuner.c"), TUNER)?;
        let arguments = [
            "-x".to_owned(),
            "c".to_owned(),
            "-O1".to_owned(),
            format!("-DSIRIUS_PROGRAMS=\"{}\"", place("programs.h").display()),
            format!(
                "-DSIRIUS_BUDGET={}",
                self.build.sirius.tuning.budget_seconds
            ),
            place("tuner.c").display().to_string(),
            "-o".to_owned(),
            output.display().to_string(),
        ];
        run_tool(&self.toolchain.clang, &arguments, self.build)?;
        Ok(())
    }

    /// Runs programs in turns for as long as there is time.
    fn run(&mut self, programs: &[Made]) -> Result<Measurements, PipelineError> {
        let failed = |reason: String| PipelineError::Tune(reason);
        let place = |name: &str| self.folder.path().join(name);
        let (tuner, results) = (place("tuner"), place("results.json"));
        self.pack(programs, &tuner)?;
        self.bar.set_prefix("running");
        self.bar.set_position(0);
        let mut child = Command::new(&tuner)
            .args(&self.build.sirius.tuning.arguments)
            .env(
                "SIRIUS_TUNE_BUDGET",
                (self.left() / 2).as_secs().to_string(),
            )
            .env("SIRIUS_TUNE_RESULTS", &results)
            // What it leaves when it is ended goes with the folder.
            .env("TMPDIR", self.folder.path())
            .env("SIRIUS_TUNE_PROGRESS", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let running = Running::note(&child);
        let errors = child.stderr.take();
        let said = std::thread::spawn(move || {
            let mut text = String::new();
            if let Some(mut errors) = errors {
                let _ = errors.read_to_string(&mut text);
            }
            text
        });
        for line in child
            .stdout
            .take()
            .into_iter()
            .flat_map(|output| BufReader::new(output).lines())
        {
            let line = line.unwrap_or_default();
            let mut words = line.splitn(3, ' ');
            if let (Some(done), Some(all), Some(label)) = (words.next(), words.next(), words.next())
            {
                self.bar.set_length(all.parse().unwrap_or(0));
                self.bar.set_position(done.parse().unwrap_or(0));
                self.bar.set_message(label.to_owned());
            }
        }
        let status = child.wait().map_err(|error| failed(error.to_string()))?;
        drop(running);
        let said = said.join().unwrap_or_default();
        if !status.success() {
            let last = said.lines().last().unwrap_or("the program failed");
            let last = last.strip_prefix("sirius: tune: ").unwrap_or(last);
            let hint = match self.build.device {
                Device::Cuda => "; 'sirius-rs tune --pack' measures on another machine",
                Device::Cpu => "",
            };
            return Err(failed(format!("{last}{hint}")));
        }
        let text = std::fs::read_to_string(&results).map_err(|error| failed(error.to_string()))?;
        let measured = Measurements::read(&text).map_err(|error| failed(error.to_string()))?;
        self.results.push_str(&text);
        Ok(measured)
    }
}
