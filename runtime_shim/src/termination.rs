//! Ends the program, with a reason, when there is no error of CUDA's to return.

use std::io::Write;

/// Prints `sirius: SENTENCE` to stderr, writes what the host program and the trace have buffered and ends the process
/// with status 1. Exit handlers do not run, since this may be any worker while the host waits for it.
pub fn fail(sentence: &str) -> ! {
    let line = format!("sirius: {sentence}\n");
    crate::trace::before_failure();
    // SAFETY: fflush(NULL) and _exit have no preconditions; alarm ends a process whose streams are
    // locked by the code that failed, so that a report never becomes a hang.
    unsafe {
        libc::alarm(20);
        libc::fflush(std::ptr::null_mut());
        let _ = std::io::stderr().write_all(line.as_bytes());
        libc::_exit(1)
    }
}

/// Prints one line that begins with `sirius: ` to stderr.
pub fn notice(sentence: &str) {
    let _ = std::io::stderr().write_all(format!("sirius: {sentence}\n").as_bytes());
}
