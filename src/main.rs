//! argv -> [`sirius_rs::run`] -> exit code.

/// LLVM's and isl's memory, too, comes from here: they ask for so many small pieces that a program of many launches
/// takes a sixth longer to compile with the C library's own allocator. Large kernels take as long with either.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    sirius_rs::run(std::env::args_os().skip(1))
}
