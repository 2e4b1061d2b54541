//! What a bug of ours costs: fusion, and not the program.
//!
//! Invariant: whatever nvcc accepts is built. A stage that panics or finds a contradiction in its
//! own work is reported once, and the program is built from its sources without any analysis.

use super::facts::Facts;
use super::outcome::{Outcome, PipelineError, as_json};
use crate::build::Build;
use crate::kernel::KernelModel;
use crate::launch::LaunchGraph;
use crate::schedule::FusionPlan;
use crate::stage::Stage;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Runs `work`; a panic becomes [`PipelineError::Bug`], with its place.
///
/// # Errors
/// Those of `work`, and its panic.
pub(super) fn caught<T>(
    work: impl FnOnce() -> Result<T, PipelineError>,
) -> Result<T, PipelineError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if CATCHING.get() {
                LAST_PANIC.set(panic.to_string().replace('\n', " "));
            } else {
                before(panic);
            }
        }));
    });
    let outer = CATCHING.replace(true);
    // Nothing that `work` leaves half done is used again: the caller starts from the sources.
    let result = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    result.unwrap_or_else(|_| Err(PipelineError::Bug(LAST_PANIC.take())))
}

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Whether a bug of ours is fatal, as it is under test.
pub(super) fn is_strict() -> bool {
    std::env::var_os("SIRIUS_STRICT").is_some()
}

/// Makes the stage fail that `SIRIUS_FAULT` names, for tests of what happens then.
pub(super) fn inject_fault(stage: Stage) {
    assert!(
        !is_fault(stage.name()),
        "SIRIUS_FAULT asks the stage {} to fail",
        stage.name()
    );
}

/// Whether `SIRIUS_FAULT` names this.
pub(super) fn is_fault(name: &str) -> bool {
    std::env::var("SIRIUS_FAULT").is_ok_and(|named| named == name)
}

/// What a failed check leads to, mostly.
pub(super) const UNFUSED: &str = "the program is built without fusion";

/// A check of ours that failed.
pub(super) struct FailedCheck<'a> {
    /// Why it did.
    pub(super) reason: &'a str,
    /// What that leads to.
    pub(super) consequence: &'a str,
    /// What it was about.
    pub(super) plan: &'a FusionPlan,
}

impl FailedCheck<'_> {
    /// Says so, and writes down what a developer needs to see it again.
    ///
    /// # Errors
    /// With `SIRIUS_STRICT` set it is fatal.
    pub(super) fn say(
        &self,
        facts: &Facts,
        build: &Build,
        outcome: &mut Outcome,
    ) -> Result<(), PipelineError> {
        #[derive(Serialize)]
        struct Reproducer<'a> {
            reason: &'a str,
            graph: &'a LaunchGraph,
            models: &'a [KernelModel],
            plan: &'a FusionPlan,
        }
        let Self {
            reason,
            consequence,
            plan,
        } = self;
        let folder = build.sirius.save_directory.clone();
        let folder = folder.unwrap_or_else(std::env::temp_dir);
        let path = folder.join(format!("sirius-reproducer-{}.json", std::process::id()));
        let text = as_json(&Reproducer {
            reason,
            graph: &facts.graph,
            models: &facts.models,
            plan,
        });
        let kept = match std::fs::write(&path, text) {
            Ok(()) => format!("a reproducer is in {}", path.display()),
            Err(error) => format!(
                "no reproducer could be written to {}: {error}",
                path.display()
            ),
        };
        if is_strict() {
            return Err(PipelineError::Bug(format!("{reason} ({kept})")));
        }
        outcome.warnings.push_str(&format!(
            "sirius-rs: internal error: {reason}\n\
             sirius-rs: {consequence}; {kept}\n"
        ));
        Ok(())
    }
}
