//! Problems of planners that are files: what a planner makes of one, and the program that trains on them.

use super::outcome::{PipelineError, TRAINER};
use crate::build::Planning;
use crate::planner::{Oracle, PlanOptions, file, plan};
use serde::Serialize;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A plan as `sirius-rs plan` prints it. Times are modelled, launches included.
#[derive(Serialize)]
struct Planned<'a> {
    planner: &'a str,
    nanoseconds: f64,
    unfused_nanoseconds: f64,
    operators: usize,
    kernels: usize,
    /// Of `ilp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_nanoseconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
    /// The budget ran out.
    cut_short: bool,
    /// How long the planner searched.
    seconds: f64,
    /// By names of operators.
    patterns: Vec<Vec<&'a str>>,
}

/// What a planner makes of the problem in a file, as JSON.
///
/// # Errors
/// The file cannot be read, or is no problem.
pub(super) fn planned(
    path: &Path,
    planning: &Planning,
    most_walks: usize,
) -> Result<String, PipelineError> {
    let text = std::fs::read_to_string(path).map_err(|error| PipelineError::Read {
        path: path.to_owned(),
        error,
    })?;
    let problem = file::read(&text).map_err(|error| PipelineError::Problem {
        path: path.to_owned(),
        error,
    })?;
    let options = PlanOptions {
        planner: planning.planner,
        priority: planning.priority,
        policy: planning.policy.clone(),
        budget: planning.budget,
        seed: planning.seed,
        most_walks,
        ..PlanOptions::default()
    };
    let mut oracle = Oracle::of_problem(&problem);
    let begin = Instant::now();
    let found = plan(&mut oracle, &options);
    let seconds = begin.elapsed().as_secs_f64();
    let saved: usize = found.patterns.iter().map(|own| own.len() - 1).sum();
    let names = |pattern: &Vec<usize>| -> Vec<&str> {
        let names = pattern.iter();
        names
            .map(|node| problem.nodes[*node].name.as_str())
            .collect()
    };
    let planned = Planned {
        planner: found.planner.name(),
        nanoseconds: found.nanoseconds,
        unfused_nanoseconds: oracle.nanoseconds_of_plan(&[]),
        operators: problem.nodes.len(),
        kernels: problem.nodes.len() - saved,
        bound_nanoseconds: found.bound_nanoseconds,
        gap: found.gap(),
        cut_short: found.cut_short,
        seconds,
        patterns: found.patterns.iter().map(names).collect(),
    };
    // Plain data of numbers and names.
    let mut text = serde_json::to_string_pretty(&planned).unwrap_or_default();
    text.push('\n');
    Ok(text)
}

/// The trainer, found beside the compiler or in `PATH`, as it is to be run.
///
/// # Errors
/// It is in neither.
pub(super) fn trainer(arguments: &[OsString]) -> Result<Command, PipelineError> {
    let own = std::env::current_exe().ok();
    let beside = own.map(|own| own.with_file_name(TRAINER));
    let beside = beside.filter(|path| path.is_file());
    let path = beside.or_else(|| which::which(TRAINER).ok());
    let mut command = Command::new(path.ok_or(PipelineError::NoTrainer)?);
    command.args(arguments);
    Ok(command)
}
