//! How many launches runs of a program executed, from the statistics that the CPU device writes.

use crate::tune::{ExecutedKernel, Figures};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Launches that two runs of a program executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportExecuted {
    /// Without fusion.
    pub before: u64,
    /// With fusion.
    pub after: u64,
    /// What these launches are estimated to take on a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modelled: Option<ReportModelled>,
}

/// What the launches of both runs are estimated to take, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportModelled {
    /// The GPU whose figures count.
    pub device: String,
    /// Nanoseconds without fusion.
    pub before: f64,
    /// Nanoseconds with fusion.
    pub after: f64,
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
    /// Reads what a run without fusion and one with it left behind, and estimates what their launches take.
    ///
    /// # Errors
    /// A file cannot be read or has something else in it.
    pub fn read(
        [before, after]: &[PathBuf; 2],
        figures: &Figures,
    ) -> Result<Self, StatisticsError> {
        let [before, after] = [statistics(before)?, statistics(after)?];
        let nanoseconds = |run: &Statistics| -> f64 {
            let each = run.kernels.iter();
            each.map(|kernel| kernel.nanoseconds(figures)).sum()
        };
        let is_known = !before.kernels.is_empty() && !after.kernels.is_empty();
        Ok(Self {
            before: before.launches,
            after: after.launches,
            modelled: is_known.then(|| ReportModelled {
                device: figures.name.to_owned(),
                before: nanoseconds(&before),
                after: nanoseconds(&after),
            }),
        })
    }
}

fn statistics(path: &Path) -> Result<Statistics, StatisticsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| StatisticsError::Read(path.to_owned(), error))?;
    let read: Option<Statistics> = serde_json::from_str(&text).ok();
    read.ok_or_else(|| StatisticsError::Other(path.to_owned()))
}

/// What is read of the file.
#[derive(Deserialize)]
struct Statistics {
    launches: u64,
    #[serde(default)]
    kernels: Vec<ExecutedKernel>,
}
