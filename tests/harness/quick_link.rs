//! How programs are linked that are built by the hundred.

/// Links with lld, which `scripts/setup` installs, and with the CPU device's library as a shared one: most of the time that a
/// linker takes for a small program goes into that library. What compilers link by default is tested where objects, archives
/// and build systems are.
pub const QUICK_LINK: [&str; 4] = ["-Xcompiler", "-fuse-ld=lld", "-cudart", "shared"];
