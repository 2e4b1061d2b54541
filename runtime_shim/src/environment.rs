//! What the user sets through environment variables, read once.

use std::path::PathBuf;
use std::sync::OnceLock;

/// The runtime's settings.
#[derive(Debug)]
pub struct Settings {
    /// Workers that run blocks (`SIRIUS_CPU_THREADS`, else the number of cores). With 1, blocks run in
    /// ascending order on the thread that launches.
    pub worker_threads: usize,
    /// `SIRIUS_CPU=fiber`: never use a kernel's block loop.
    pub thread_entries_only: bool,
    /// `SIRIUS_STATS`: where counters go at exit.
    pub statistics: Option<PathBuf>,
    /// `SIRIUS_STATS_ONCE`: of launches that are alike only the first one runs, where counters are asked for.
    pub runs_once: bool,
    /// `SIRIUS_TRACE`: where the access trace goes.
    pub trace: Option<PathBuf>,
    /// `SIRIUS_CHECK`: what every access of a kernel is checked for. Blocks then run one after the other.
    pub checks: Checks,
    /// `SIRIUS_DUMP_MEMORY`: where the final contents of allocations go.
    pub memory_dump: Option<PathBuf>,
    /// `SIRIUS_DUMP_WHOLE`: contents of any size, not only of small allocations.
    pub whole_dump: bool,
    /// `SIRIUS_OVERLAP`: from which block on the blocks are chosen that begin before the launch before them has ended;
    /// `None` for `late`: each begins in its turn.
    pub overlap: Option<u64>,
    /// `SIRIUS_RESIDENT_BLOCKS`: so many blocks are on a multiprocessor at once, at most.
    pub resident_blocks: Option<u32>,
    /// `SIRIUS_WATCH`: the byte whose last writer is told. Blocks then run one after the other.
    pub watch: Option<Watch>,
}

impl Settings {
    /// Whether kernels run their instrumented functions.
    pub fn instrumented(&self) -> bool {
        self.statistics.is_some()
            || self.trace.is_some()
            || self.checks.any()
            || self.watch.is_some()
    }
}

/// What `SIRIUS_CHECK` asks for: its words, with commas between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// `memory`.
    pub memory: bool,
    /// `race`.
    pub race: bool,
}

impl Checks {
    /// Reads the words; nothing for a word that is none.
    pub fn read(text: &str) -> Option<Self> {
        let mut checks = Self::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            match word {
                "memory" => checks.memory = true,
                "race" => checks.race = true,
                _ => return None,
            }
        }
        Some(checks)
    }

    /// Whether accesses are checked at all.
    pub fn any(self) -> bool {
        self.memory || self.race
    }
}

/// A byte of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The allocation's ordinal.
    pub allocation: u32,
    /// The byte's distance from its start.
    pub byte: usize,
}

impl Watch {
    /// Reads `ALLOCATION:BYTE`.
    pub fn read(text: &str) -> Option<Self> {
        let (allocation, byte) = text.split_once(':')?;
        Some(Self {
            allocation: allocation.parse().ok()?,
            byte: byte.parse().ok()?,
        })
    }

    /// Whether it is one of so many bytes of an allocation.
    pub fn is_in(&self, allocation: u32, from: usize, bytes: usize) -> bool {
        self.allocation == allocation && (from..from.saturating_add(bytes)).contains(&self.byte)
    }
}

/// The settings; the first call reads the environment. A value that makes no sense ends the program
/// with one sentence.
pub fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| match read(|name| std::env::var_os(name)) {
        Ok(settings) => settings,
        Err(sentence) => crate::termination::fail(&sentence),
    })
}

fn read(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Result<Settings, String> {
    let worker_threads = match variable("SIRIUS_CPU_THREADS") {
        None => std::thread::available_parallelism().map_or(1, usize::from),
        Some(text) => match text.to_str().and_then(|text| text.trim().parse().ok()) {
            Some(count @ 1..=4096) => count,
            _ => {
                return Err(format!(
                    "SIRIUS_CPU_THREADS is {text:?}, but must be a number from 1 to 4096"
                ));
            }
        },
    };
    let thread_entries_only = match variable("SIRIUS_CPU") {
        None => false,
        Some(text) if text.is_empty() || text == "loop" => false,
        Some(text) if text == "fiber" => true,
        Some(text) => {
            return Err(format!(
                "SIRIUS_CPU is {text:?}, but knows only `fiber` and `loop`"
            ));
        }
    };
    let checks = match variable("SIRIUS_CHECK") {
        None => Checks::default(),
        Some(text) => match text.to_str().and_then(Checks::read) {
            Some(checks) => checks,
            None => {
                return Err(format!(
                    "SIRIUS_CHECK is {text:?}, but knows only `memory` and `race`, and both with a comma between them"
                ));
            }
        },
    };
    let watch = match variable("SIRIUS_WATCH") {
        None => None,
        Some(text) => match text.to_str().and_then(Watch::read) {
            Some(watch) => Some(watch),
            None => {
                return Err(format!(
                    "SIRIUS_WATCH is {text:?}, but must be `ALLOCATION:BYTE`, two numbers"
                ));
            }
        },
    };
    let overlap = match variable("SIRIUS_OVERLAP") {
        None => Some(0),
        Some(text) if text == "late" => None,
        Some(text) => match text.to_str().and_then(|text| text.trim().parse().ok()) {
            Some(first) => Some(first),
            None => {
                return Err(format!(
                    "SIRIUS_OVERLAP is {text:?}, but must be `late` or a number"
                ));
            }
        },
    };
    let resident_blocks = match variable("SIRIUS_RESIDENT_BLOCKS") {
        None => None,
        Some(text) => match text.to_str().and_then(|text| text.trim().parse().ok()) {
            Some(most) => Some(most),
            None => {
                return Err(format!(
                    "SIRIUS_RESIDENT_BLOCKS is {text:?}, but must be a number"
                ));
            }
        },
    };
    let path = |name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    Ok(Settings {
        worker_threads: match checks.any() || watch.is_some() {
            true => 1,
            false => worker_threads,
        },
        thread_entries_only,
        checks,
        statistics: path("SIRIUS_STATS"),
        runs_once: path("SIRIUS_STATS_ONCE").is_some(),
        trace: path("SIRIUS_TRACE"),
        memory_dump: path("SIRIUS_DUMP_MEMORY"),
        whole_dump: path("SIRIUS_DUMP_WHOLE").is_some(),
        overlap,
        resident_blocks,
        watch,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_threads_and_mode() {
        let settings = read(|name| match name {
            "SIRIUS_CPU_THREADS" => Some("3".into()),
            "SIRIUS_CPU" => Some("fiber".into()),
            _ => None,
        })
        .unwrap();
        assert_eq!(settings.worker_threads, 3);
        assert!(settings.thread_entries_only);
        assert!(!settings.instrumented());
    }

    #[test]
    fn refuses_nonsense() {
        assert!(read(|name| (name == "SIRIUS_CPU_THREADS").then(|| "0".into())).is_err());
        assert!(read(|name| (name == "SIRIUS_CPU").then(|| "gpu".into())).is_err());
        assert!(read(|name| (name == "SIRIUS_CHECK").then(|| "all".into())).is_err());
        assert_eq!(
            Checks::read("memory,race"),
            Some(Checks {
                memory: true,
                race: true
            })
        );
        assert!(read(|name| (name == "SIRIUS_WATCH").then(|| "3".into())).is_err());
        assert!(read(|name| (name == "SIRIUS_OVERLAP").then(|| "soon".into())).is_err());
        assert!(read(|name| (name == "SIRIUS_RESIDENT_BLOCKS").then(|| "-1".into())).is_err());
    }

    #[test]
    fn checks_run_one_block_after_the_other() {
        let settings = read(|name| match name {
            "SIRIUS_CPU_THREADS" => Some("3".into()),
            "SIRIUS_CHECK" => Some("race".into()),
            _ => None,
        })
        .unwrap();
        assert!(settings.checks.race && !settings.checks.memory);
        assert_eq!(settings.worker_threads, 1);
        assert!(settings.instrumented());
    }
}
