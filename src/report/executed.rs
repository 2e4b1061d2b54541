//! How many launches runs of a program executed, from the statistics that the CPU device writes.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Launches that two runs of a program executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportExecuted {
    /// Without fusion.
    pub before: u64,
    /// With fusion.
    pub after: u64,
}

/// Why a file is no statistics of a run.
#[derive(Debug, thiserror::Error)]
pub enum StatisticsError {
    /// It cannot be read.
    #[error("Cannot read the statistics '{path}': {error}", path = .0.display(), error = .1)]
    Read(PathBuf, std::io::Error),
    /// Something else stands in it.
    #[error("'{path}' has no statistics of a run; SIRIUS_STATS={path} lets a program of the CPU device write them", path = .0.display())]
    Other(PathBuf),
}

impl ReportExecuted {
    /// Reads what a run without fusion and one with it left behind.
    ///
    /// # Errors
    /// A file cannot be read or has something else in it.
    pub fn read([before, after]: &[PathBuf; 2]) -> Result<Self, StatisticsError> {
        Ok(Self {
            before: launches(before)?,
            after: launches(after)?,
        })
    }
}

fn launches(path: &Path) -> Result<u64, StatisticsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| StatisticsError::Read(path.to_owned(), error))?;
    let read: Option<Statistics> = serde_json::from_str(&text).ok();
    read.map(|read| read.launches)
        .ok_or_else(|| StatisticsError::Other(path.to_owned()))
}

/// What is read of the file.
#[derive(Deserialize)]
struct Statistics {
    launches: u64,
}
