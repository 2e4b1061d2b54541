//! Runs one tool of a build: clang, ptxas, fatbinary, the linker.
//!
//! Invariant: `-v` shows every command in the same way, as a line that a shell can run, after `#$ `, on
//! standard error.

use crate::build::Build;
use crate::interruption::Running;
use crate::output::tell;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What a tool that succeeded wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Its standard output, as bytes that may be text.
    pub stdout: Vec<u8>,
    /// Its standard error: warnings, to be passed on.
    pub stderr: String,
}

/// A tool did not do its work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It could not be started.
    #[error("Cannot run '{program}': {reason}")]
    NotStarted {
        /// Its path.
        program: String,
        /// What the system says.
        reason: String,
    },
    /// It failed; its own messages say why and are passed on as they are.
    #[error("{stderr}")]
    Failed {
        /// Its file name.
        program: String,
        /// Its exit status; `None` when a signal ended it.
        status: Option<i32>,
        /// Its standard error.
        stderr: String,
    },
}

impl ToolError {
    /// The exit status that nvcc gives: 255 for ptxas, the tool's own for others, 1 when it could not run.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::NotStarted { .. } => 1,
            Self::Failed {
                program, status, ..
            } => match program.as_str() {
                "ptxas" => 255,
                _ => status
                    .and_then(|status| u8::try_from(status).ok())
                    .filter(|&s| s > 0)
                    .unwrap_or(1),
            },
        }
    }
}

/// Who hears what a tool says on standard error while it runs.
pub trait Listener {
    /// The next bytes.
    fn hear(&mut self, bytes: &[u8]);

    /// All that is to be known of it afterwards.
    fn heard(&mut self) -> String;
}

/// Runs `program` with `arguments` and waits for it. With `-v` the command is shown first.
///
/// # Errors
/// The tool cannot be started, or its exit status is not 0.
pub fn run_tool<A: AsRef<OsStr>>(
    program: &Path,
    arguments: &[A],
    build: &Build,
) -> Result<Output, ToolError> {
    run_tool_heard(program, arguments, build, &mut Bounded::default())
}

/// [`run_tool`], with somebody who hears what the tool says.
///
/// # Errors
/// As [`run_tool`].
pub fn run_tool_heard<A: AsRef<OsStr>>(
    program: &Path,
    arguments: &[A],
    build: &Build,
    listener: &mut dyn Listener,
) -> Result<Output, ToolError> {
    if build.verbose {
        tell(format_args!("#$ {}\n", command_line(program, arguments)));
    }
    let started = Instant::now();
    let not_started = |error: std::io::Error| ToolError::NotStarted {
        program: program.display().to_string(),
        reason: error.to_string(),
    };
    let mut tool = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(not_started)?;
    let running = Running::note(&tool);
    let (output, errors) = (tool.stdout.take(), tool.stderr.take());
    let stdout = std::thread::scope(|scope| {
        let stdout = scope.spawn(|| {
            let mut bytes = Vec::new();
            // What breaks off here the exit status tells.
            let _ = output.map(|mut output| output.read_to_end(&mut bytes));
            bytes
        });
        let mut bytes = vec![0; 1 << 16];
        let mut errors = errors;
        while let Some(errors) = &mut errors {
            match errors.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => listener.hear(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        stdout.join().unwrap_or_default()
    });
    let status = tool.wait().map_err(not_started)?;
    drop(running);
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    if let Some(times) = &build.times {
        times.note(&name, &output_of(arguments), started.elapsed());
    }
    let mut stderr = listener.heard();
    if status.success() {
        return Ok(Output { stdout, stderr });
    }
    if let Some(signal) = status.signal() {
        // A tool that a signal ends has often said nothing.
        let why = match signal {
            libc::SIGXFSZ => ": a file is larger than the limit allows (ulimit -f)",
            _ => "",
        };
        stderr.push_str(&format!(
            "sirius-rs: '{name}' was ended by signal {signal}{why}\n"
        ));
    }
    Err(ToolError::Failed {
        program: name.into_owned(),
        status: status.code(),
        stderr,
    })
}

/// What a command says that it makes.
fn output_of<A: AsRef<OsStr>>(arguments: &[A]) -> String {
    let mut words = arguments.iter().map(AsRef::as_ref);
    let output = words.find(|word| *word == "-o").and_then(|_| words.next());
    output.unwrap_or_default().to_string_lossy().into_owned()
}

/// Text of which the middle is left out where it is long: no tool fills the memory with what it says.
#[derive(Debug, Default)]
pub struct Bounded {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

/// So long are the beginning and the end of a [`Bounded`] text.
const BOUND: usize = 512 << 10;

impl Listener for Bounded {
    fn hear(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(BOUND - self.head.len()));
        self.head.extend(head);
        self.tail.extend(rest);
        let more = self.tail.len().saturating_sub(BOUND);
        self.tail.drain(..more);
        self.left_out += more;
    }

    fn heard(&mut self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.left_out > 0 {
            let left_out = self.left_out;
            text.push_str(&format!(
                "\nsirius-rs: {left_out} bytes of messages are left out here\n"
            ));
        }
        text.push_str(&String::from_utf8_lossy(self.tail.make_contiguous()));
        text
    }
}

/// A command as a line for a shell.
pub fn command_line<A: AsRef<OsStr>>(program: &Path, arguments: &[A]) -> String {
    let mut line = quoted(&program.to_string_lossy());
    for argument in arguments {
        line.push(' ');
        line.push_str(&quoted(&argument.as_ref().to_string_lossy()));
    }
    line
}

/// A word as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "-_=+./:,@%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_can_be_pasted_into_a_shell() {
        let arguments = ["-DX=\"a b\"", "it's", "", "-O2"];
        let line = command_line(Path::new("printf"), &arguments);
        assert_eq!(line, r#"printf '-DX="a b"' 'it'\''s' '' -O2"#);
        let shell = format!("printf '%s|' {}", line.strip_prefix("printf ").unwrap());
        let output = Command::new("sh").arg("-c").arg(shell).output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "-DX=\"a b\"|it's||-O2|"
        );
    }

    #[test]
    fn long_texts_keep_their_ends() {
        let mut text = Bounded::default();
        text.hear(&vec![b'a'; BOUND + 10]);
        text.hear(&vec![b'b'; 3 * BOUND]);
        text.hear(b"end");
        let heard = text.heard();
        assert!(heard.starts_with("aaa") && heard.ends_with("bbbend"));
        assert!(heard.len() < 2 * BOUND + 100, "{}", heard.len());
        let mut short = Bounded::default();
        short.hear(b"one ");
        short.hear(b"two");
        assert_eq!(short.heard(), "one two");
    }

    #[test]
    fn exit_statuses_are_those_of_nvcc() {
        let failed = |program: &str, status| {
            let program = program.to_owned();
            ToolError::Failed {
                program,
                status,
                stderr: String::new(),
            }
            .exit_status()
        };
        // As a linker, an assembler or a preprocessor; what it refuses to read is no failure of a tool.
        assert_eq!(failed("clang++-22", Some(1)), 1);
        assert_eq!(failed("ptxas", Some(1)), 255);
        assert_eq!(failed("g++", Some(1)), 1);
        assert_eq!(failed("fatbinary", None), 1);
    }
}
