//! The tools of a build, and the folders where they are.

pub mod toolchain;
pub mod toolkit_folder;
pub(super) mod versioned_libraries;
pub(super) mod embedded;
pub(super) mod host_compiler;
pub mod command;
pub mod dependencies;
