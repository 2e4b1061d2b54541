//! A command line as nvcc reads it, with our own options and subcommands.

pub(super) mod spelling;
pub(super) mod options;
pub(super) mod nvcc_options;
pub(super) mod sirius_options;
pub(super) mod values;
pub(super) mod draft;
pub(super) mod parse;
pub mod architecture;
pub(super) mod optimisation;
pub(super) mod boundaries;
pub(super) mod subcommands;
pub(super) mod descriptions;
pub(super) mod help;
pub(super) mod manual;
