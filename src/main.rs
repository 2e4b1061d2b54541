//! argv -> [`sirius_rs::run`] -> exit code.

/// LLVM's and isl's memory, too, comes from here: they ask for so many small pieces that the C library's own
/// allocator takes a sixth of a compilation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    sirius_rs::run(std::env::args_os().skip(1))
}
