//! `sirius-rs-train`: trains the policy of `--sirius-priority=learned`. `sirius-rs train` runs it.
//!
//! It reads problems as `sirius-rs --sirius-dump=problem` writes them, and generates more. The planners themselves are
//! those of the compiler: their module is compiled in from there, so that the trainer needs neither LLVM nor CUDA.
//!
//! Invariant: the output is written as a whole, first beside its place; so is each checkpoint.

#[allow(dead_code, unused_imports, reason = "of the planners, training needs some")]
#[path = "../../src/planner/mod.rs"]
mod planner;

mod generated;
mod network;
#[cfg(test)]
mod tests;
mod training;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use planner::policy::{self, Policy};
use planner::{FusionProblem, Unanswered, file};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use thiserror::Error;
use training::{Settings, Subject, best_known, subject, train};

/// Trains the policy of --sirius-priority=learned
#[derive(Parser)]
#[command(name = "sirius-rs train")]
struct Options {
    /// Where problem files are (*.json, as --sirius-dump=problem writes them)
    folder: PathBuf,
    /// The policy
    #[arg(short, long, value_name = "POLICY")]
    output: PathBuf,
    /// Seed of all that is random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Training ends after so many seconds, with the best policy so far
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    budget: u64,
    /// Rounds of policy optimisation
    #[arg(long, value_name = "N", default_value_t = 150)]
    rounds: usize,
    /// Rounds of imitation before them
    #[arg(long, value_name = "N", default_value_t = 40)]
    imitation: usize,
    /// So many generated problems beside those of the folder
    #[arg(long, value_name = "N", default_value_t = 200)]
    generated: usize,
    /// A policy or checkpoint to go on from, without imitation
    #[arg(long, value_name = "POLICY")]
    from: Option<PathBuf>,
}

#[derive(Debug, Error)]
enum TrainingError {
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: {source}", path.display())]
    Problem {
        path: PathBuf,
        source: file::ProblemError,
    },
    #[error("{}: {source}", path.display())]
    Policy {
        path: PathBuf,
        source: policy::PolicyError,
    },
    #[error("there is nothing to train on: {} has no problem of two operators or more, and none are generated", .0.display())]
    Nothing(PathBuf),
    #[error("{0}")]
    Tensors(#[from] candle_core::Error),
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sirius-rs train: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// So many generated problems are set aside, to choose the best policy by.
const VALIDATION: usize = 40;
/// Kernels of generated problems.
const KERNELS: std::ops::Range<usize> = 8..96;
/// Larger problems of programs are left out: each walk over one takes long.
const MOST_NODES: usize = 160;

fn run(options: &Options) -> Result<(), TrainingError> {
    let from = options.from.as_deref().map(read_policy).transpose()?;
    let mut problems = problems_of(&options.folder)?;
    let mut random = StdRng::seed_from_u64(options.seed);
    let mut more = |number: usize| -> Vec<FusionProblem> {
        let all = (0..number).map(|_| {
            let kernels = random.random_range(KERNELS);
            generated::generated(&mut random, kernels)
        });
        all.collect()
    };
    problems.extend(more(options.generated));
    let validation = more(VALIDATION);
    if problems.is_empty() {
        return Err(TrainingError::Nothing(options.folder.clone()));
    }
    let bar = bar("looking for good plans", problems.len());
    let mut subjects: Vec<Subject> = Vec::new();
    for (number, problem) in problems.into_iter().enumerate() {
        subjects.push(subject(problem, options.seed ^ number as u64)?);
        bar.inc(1);
    }
    bar.finish_with_message(format!(
        "best known plans take {:.2} % of the default order's time",
        100.0 * best_known(&subjects)
    ));
    let settings = Settings {
        seed: options.seed,
        imitation_rounds: options.imitation,
        rounds: options.rounds,
        budget: Duration::from_secs(options.budget),
        from,
    };
    let checkpoint = beside(&options.output, ".checkpoint");
    let mut fault = None;
    let mut bar: Option<(String, ProgressBar)> = None;
    let policy = train(&subjects, &validation, &settings, &mut |progress| {
        let (done, all) = progress.rounds;
        if bar
            .as_ref()
            .is_none_or(|(phase, _)| phase != progress.phase)
        {
            if let Some((_, bar)) = &bar {
                bar.finish();
            }
            bar = Some((progress.phase.to_owned(), self::bar(progress.phase, all)));
        }
        if let Some((_, bar)) = &bar {
            bar.set_position(done as u64);
            bar.set_message(format!(
                "plans take {:.2} % of the default order's time",
                100.0 * progress.validation
            ));
        }
        // Without a terminal, a bar shows nothing.
        let is_shown = bar.as_ref().is_some_and(|(_, bar)| !bar.is_hidden());
        if !is_shown && (progress.is_new || done % 10 == 0 || done == all) {
            eprintln!(
                "{} {done}/{all}: plans take {:.2} % of the default order's time",
                progress.phase,
                100.0 * progress.validation
            );
        }
        if progress.is_new {
            fault = write_whole(&checkpoint, &policy::write(progress.policy)).err();
        }
    })?;
    if let Some((_, bar)) = bar {
        bar.finish();
    }
    if let Some(fault) = fault {
        eprintln!("sirius-rs train: warning: the checkpoint was not written: {fault}");
    }
    write_whole(&options.output, &policy::write(&policy))?;
    // What it was for is there.
    let _ = std::fs::remove_file(&checkpoint);
    Ok(())
}

fn bar(what: &str, steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {elapsed} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(what.to_owned());
    bar
}

/// Problems of programs, in the order of their names. What nobody asked of their patterns is estimated from figures, as
/// training asks about patterns that no planner has come to.
fn problems_of(folder: &Path) -> Result<Vec<FusionProblem>, TrainingError> {
    let fault = |source| TrainingError::File {
        path: folder.to_owned(),
        source,
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut problems = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|source| TrainingError::File {
            path: path.clone(),
            source,
        })?;
        let mut problem = file::read(&text).map_err(|source| TrainingError::Problem {
            path: path.clone(),
            source,
        })?;
        if problem.nodes.len() < 2 || problem.nodes.len() > MOST_NODES {
            continue;
        }
        if problem.unanswered == Unanswered::Refused {
            problem.unanswered = Unanswered::Estimated;
            problem
                .answers
                .retain(|answer| answer.nanoseconds.is_none());
            for node in &mut problem.nodes {
                node.nanoseconds = None;
            }
        }
        problems.push(problem);
    }
    Ok(problems)
}

fn read_policy(path: &Path) -> Result<Policy, TrainingError> {
    let text = std::fs::read_to_string(path).map_err(|source| TrainingError::File {
        path: path.to_owned(),
        source,
    })?;
    policy::read(&text).map_err(|source| TrainingError::Policy {
        path: path.to_owned(),
        source,
    })
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Writes a file that is never there in part.
fn write_whole(path: &Path, text: &str) -> Result<(), TrainingError> {
    let fault = |source| TrainingError::File {
        path: path.to_owned(),
        source,
    };
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    // As other programs make files, for all whom the user's mask lets read.
    let mut file = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(fault)?;
    file.write_all(text.as_bytes()).map_err(fault)?;
    file.persist(path).map_err(|error| fault(error.error))?;
    Ok(())
}
