//! `SIRIUS_WATCH=ALLOCATION:BYTE`: who wrote a byte of an allocation last. One line on stderr says it when
//! the program ends; allocations have the ordinals of `SIRIUS_DUMP_MEMORY`.

use std::sync::{Mutex, PoisonError};

use super::{Checked, at, place_of};
use crate::environment::{Watch, settings};
use crate::execution::block::BlockState;
use crate::{allocations, termination};

/// A thread accesses memory.
pub(super) fn accessed(watch: &Watch, state: &BlockState, checked: &Checked) {
    let Some(place) = checked.place.filter(|_| checked.writes()) else {
        return;
    };
    if watch.is_in(place.ordinal, checked.address - place.base, checked.bytes) {
        let launch = state.launch();
        remember(format!(
            "written last by launch {} (counted from 0), kernel {}, {}{}",
            launch.ordinal,
            launch.kernel.display_name,
            place_of(state, checked.thread),
            at(checked.instruction),
        ));
    }
}

/// A copy or a set writes.
pub fn moved(address: usize, bytes: usize, what: &str) {
    let Some(watch) = settings().watch else {
        return;
    };
    let place = allocations::place(address);
    if place.is_some_and(|place| watch.is_in(place.ordinal, address - place.base, bytes)) {
        remember(format!("written last by {what}"));
    }
}

/// Says what was seen.
pub fn at_exit() {
    if settings().watch.is_some() {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        termination::notice(last.as_deref().unwrap_or("written by nobody"));
    }
}

static LAST: Mutex<Option<String>> = Mutex::new(None);

fn remember(text: String) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}
