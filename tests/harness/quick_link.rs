//! The linker of programs that are built by the hundred.

/// Links with lld, which `scripts/setup` installs: most of the time that GNU ld takes for a small program
/// goes into the CPU device's library. What compilers link by default is tested where objects, archives
/// and build systems are.
pub const QUICK_LINK: [&str; 2] = ["-Xcompiler", "-fuse-ld=lld"];
