//! argv -> [`sirius_rs::run`] -> exit code.

fn main() -> std::process::ExitCode {
    sirius_rs::run(std::env::args_os().skip(1))
}
