//! How long stages take, what they found, and where a run stops.

use super::fallback;
use super::outcome::{Outcome, PipelineError};
use crate::build::Build;
use crate::output::tell;
use crate::stage::Stage;
use std::cell::RefCell;
use std::time::Instant;

/// Times stages and prints what `--sirius-dump` asks for.
pub(super) struct Clock<'a> {
    build: &'a Build,
    seconds: RefCell<Vec<(Stage, f64)>>,
}

impl<'a> Clock<'a> {
    pub(super) fn new(build: &'a Build) -> Self {
        Self {
            build,
            seconds: RefCell::default(),
        }
    }

    pub(super) fn time<T>(&self, stage: Stage, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        fallback::inject_fault(stage);
        let result = run();
        let seconds = start.elapsed().as_secs_f64();
        self.seconds.borrow_mut().push((stage, seconds));
        if let Some(times) = &self.build.times {
            times.note(&format!("stage {}", stage.name()), "", start.elapsed());
        }
        result
    }

    /// A stage took so much longer, since it ran again.
    pub(super) fn add(&self, stage: Stage, seconds: f64) {
        let mut all = self.seconds.borrow_mut();
        match all.iter_mut().find(|(of, _)| *of == stage) {
            Some((_, sum)) => *sum += seconds,
            None => all.push((stage, seconds)),
        }
    }

    /// How long each stage took.
    pub(super) fn seconds(&self) -> Vec<(Stage, f64)> {
        self.seconds.borrow().clone()
    }

    pub(super) fn dump(&self, stage: Stage, text: impl FnOnce() -> String) {
        if self.build.sirius.dump.contains(&stage) {
            tell(format_args!("; {}\n{}\n", stage.name(), text()));
        }
    }

    pub(super) fn stops_after(&self, stage: Stage) -> bool {
        self.build.sirius.stop_after == Some(stage)
    }
}

/// `-time`: writes how long the phases of a build took, also of one that failed.
pub(super) fn write_times(
    build: &Build,
    outcome: Option<&mut Outcome>,
) -> Result<(), PipelineError> {
    let Some(times) = build.times.as_ref().filter(|_| !build.dry_run) else {
        return Ok(());
    };
    let sources = build.inputs.iter().map(|input| input.path.display());
    let sources: Vec<String> = sources.map(|source| source.to_string()).collect();
    let targets = build.compiled_targets();
    let targets: Vec<String> = (targets.iter())
        .map(|target| format!("compute_{target}"))
        .collect();
    let text = times.write(&sources.join(" "), &targets.join(" "));
    let text = text.map_err(|error| PipelineError::Write {
        path: times.file.clone(),
        error,
    })?;
    if let (Some(text), Some(outcome)) = (text, outcome) {
        outcome.standard_output.push_str(&text);
    }
    Ok(())
}
