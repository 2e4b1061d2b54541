//! The records of a trace, read where every function on the way is optimised: each access of a run passes through here.

use sirius_runtime::output::trace::{Record, TraceReader};
use std::fs::File;
use std::io::BufReader;

/// The records of a trace in a file, one after the other.
pub struct Records(TraceReader<BufReader<File>>);

impl Records {
    /// Reads the header of a trace.
    ///
    /// # Errors
    /// As [`TraceReader::new`].
    pub fn new(trace: File) -> std::io::Result<Self> {
        let trace = BufReader::with_capacity(BUFFER_BYTES, trace);
        Ok(Self(TraceReader::new(trace)?))
    }
}

const BUFFER_BYTES: usize = 1 << 20;

impl Iterator for Records {
    type Item = std::io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
