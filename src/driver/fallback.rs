//! What a bug of ours costs: fusion, and not the program.
//!
//! Invariant: whatever nvcc accepts is built. A stage that panics or finds a contradiction in its
//! own work is reported once, and the program is built from its sources without any analysis.

use super::PipelineError;
use crate::stage::Stage;
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
