//! Runs one tool of a build: clang, ptxas, fatbinary, the linker.
//!
//! Invariant: `-v` shows every command in the same way, as a line that a shell can run, after `#$ `, on
//! standard error.

use super::Build;
use crate::output::tell;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

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

/// Runs `program` with `arguments` and waits for it. With `-v` the command is shown first.
///
/// # Errors
/// The tool cannot be started, or its exit status is not 0.
pub fn run_tool<A: AsRef<OsStr>>(
    program: &Path,
    arguments: &[A],
    build: &Build,
) -> Result<Output, ToolError> {
    if build.verbose {
        tell(format_args!("#$ {}\n", command_line(program, arguments)));
    }
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| ToolError::NotStarted {
            program: program.display().to_string(),
            reason: error.to_string(),
        })?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        return Ok(Output {
            stdout: output.stdout,
            stderr,
        });
    }
    Err(ToolError::Failed {
        program: program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        status: output.status.code(),
        stderr,
    })
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
pub(super) fn quoted(word: &str) -> String {
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
