//! Ends the program, with a reason, when there is no error of CUDA's to return.

use std::io::Write;
use std::sync::OnceLock;

/// Prints `sirius: SENTENCE` to stderr, writes what the host program and the trace have buffered and ends the process
/// with status 1. Exit handlers do not run, since this may be any worker while the host waits for it.
pub fn fail(sentence: &str) -> ! {
    let line = format!("sirius: {sentence}\n");
    if let Some(writes_out) = BEFORE_FAILURE.get() {
        writes_out();
    }
    // SAFETY: fflush(NULL) and _exit have no preconditions; alarm ends a process whose streams are
    // locked by the code that failed, so that a report never becomes a hang.
    unsafe {
        libc::alarm(20);
        libc::fflush(std::ptr::null_mut());
        let _ = std::io::stderr().write_all(line.as_bytes());
        libc::_exit(1)
    }
}

/// What is done before [`fail`] ends the process, set once: it writes out what is buffered, and must not wait for anybody.
pub fn before_failure(writes_out: fn()) {
    let _ = BEFORE_FAILURE.set(writes_out);
}

static BEFORE_FAILURE: OnceLock<fn()> = OnceLock::new();

/// Prints one line that begins with `sirius: ` to stderr.
pub fn notice(sentence: &str) {
    let _ = std::io::stderr().write_all(format!("sirius: {sentence}\n").as_bytes());
}
