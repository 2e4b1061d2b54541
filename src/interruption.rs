//! Signals that end the compiler: the tools that it runs end with it, and what it was making goes.

use crate::files;
use crate::output::tell;
use libc::SIGXFSZ;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// From now on signals that end the compiler clear up first. With a sentence, that is said then, and the status is
/// what shells give for a signal.
pub(crate) fn watch(sentence: Option<&'static str>) {
    // A limit on files' sizes is an error of writing like any other.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
    // Who waits for figures interrupts what runs in the background, too.
    let wanted = wanted.filter(|signal| {
        ignored & (1 << (signal - 1)) == 0 || (*signal == SIGINT && sentence.is_some())
    });
    let Ok(mut signals) = Signals::new(wanted) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            end(signal, sentence);
        }
    });
}

/// A tool that runs. It ends with the compiler.
pub(crate) struct Running(u32);

impl Running {
    /// Notes a tool that was started.
    pub(crate) fn note(tool: &Child) -> Self {
        tools().insert(tool.id());
        Self(tool.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        tools().remove(&self.0);
        stay_if_ending();
    }
}

/// Comes back only while no signal ends the compiler: what a tool says that was ended is nothing for the user.
pub(crate) fn stay_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

static ENDING: AtomicBool = AtomicBool::new(false);
static TOOLS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn tools() -> MutexGuard<'static, BTreeSet<u32>> {
    // A set of numbers is right after any panic.
    TOOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn end(signal: i32, sentence: Option<&str>) {
    ENDING.store(true, Ordering::SeqCst);
    end_tools();
    if let Some(sentence) = sentence {
        // What the tools had said is passed on by now. What shows how far the compiler is stands in this line.
        let clear = match std::io::stderr().is_terminal() {
            true => "\r\u{1b}[K",
            false => "",
        };
        tell(format_args!("{clear}{sentence}\n"));
    }
    files::remove_all();
    match sentence {
        Some(_) => signal_hook::low_level::exit(128 + signal),
        None => drop(signal_hook::low_level::emulate_default_handler(signal)),
    }
}

/// Ends all tools, which clear up themselves if they are quick.
fn end_tools() {
    let send = |signal: Signal| {
        for tool in tools().iter() {
            if let Some(tool) = i32::try_from(*tool).ok().and_then(Pid::from_raw) {
                let _ = kill_process(tool, signal);
            }
        }
    };
    send(Signal::TERM);
    let asked = Instant::now();
    while !tools().is_empty() && asked.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    send(Signal::KILL);
    while !tools().is_empty() && asked.elapsed() < PATIENCE * 2 {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How long tools have to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// The signals that whoever started the compiler wants ignored (`nohup`), a bit each from the first on.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
