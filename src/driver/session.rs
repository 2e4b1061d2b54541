//! What the stages of one run have in common.

use super::clock::Clock;
use super::outcome::Relate;
use crate::build::Build;
use crate::tools::Toolchain;

/// What is built, with which tools, and what watches over it.
#[derive(Clone, Copy)]
pub(in crate::driver) struct Session<'a> {
    pub(in crate::driver) build: &'a Build,
    pub(in crate::driver) toolchain: &'a Toolchain,
    /// Takes the times of stages, shows what they found and says where the run ends.
    pub(in crate::driver) clock: &'a Clock<'a>,
    /// How much is worked out about each edge of the unified graph.
    pub(in crate::driver) relate: Relate,
}
