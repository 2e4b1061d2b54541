//! The compiler with the C library's allocator, which valgrind watches: what `scripts/check-memory` builds and runs.

fn main() -> std::process::ExitCode {
    sirius_rs::run(std::env::args_os().skip(1))
}
