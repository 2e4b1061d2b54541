//! `-time`: how long each phase of a build took, as lines of a table with commas.

use crate::files::write_whole;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The table of a build, and where it goes.
#[derive(Clone, Debug)]
pub struct Times {
    /// The file; `-` for standard output.
    pub file: PathBuf,
    rows: Rows,
}

/// Those of a build and of what is derived from it are the same.
#[derive(Clone, Default)]
struct Rows(Arc<Mutex<Vec<Row>>>);

impl fmt::Debug for Rows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("rows")
    }
}

struct Row {
    phase: String,
    output: String,
    took: Duration,
}

/// nvcc's headings.
const HEADINGS: &str = "source file name , phase name , phase input files , phase output file , arch , tool, metric , unit\n";

impl Times {
    /// An empty table for a file.
    pub fn new(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            rows: Rows::default(),
        }
    }

    /// Adds what a phase took.
    pub fn note(&self, phase: &str, output: &str, took: Duration) {
        let mut rows = self.rows.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.push(Row {
            phase: phase.to_owned(),
            output: output.to_owned(),
            took,
        });
    }

    /// The lines of all phases of a build of some sources for some architectures, without headings.
    fn lines(&self, sources: &str, architectures: &str) -> String {
        let rows = self.rows.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |row: &Row| {
            let Row {
                phase,
                output,
                took,
            } = row;
            let milliseconds = took.as_secs_f64() * 1e3;
            format!(
                "{sources} , {phase} , {sources} , {output} , {architectures} , sirius-rs , {milliseconds:.4} , ms\n"
            )
        };
        rows.iter().map(line).collect()
    }

    /// Adds the table to the end of its file, with headings where that is empty; the text for standard output, where it
    /// goes there.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn write(&self, sources: &str, architectures: &str) -> io::Result<Option<String>> {
        let lines = self.lines(sources, architectures);
        if self.file == Path::new("-") {
            return Ok(Some(format!("{HEADINGS}{lines}")));
        }
        let mut text = match std::fs::read(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            before => before.unwrap_or_default(),
        };
        if text.is_empty() {
            text.extend(HEADINGS.bytes());
        }
        text.extend(lines.bytes());
        write_whole(&self.file, &text).map(|()| None)
    }
}
