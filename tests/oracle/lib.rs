//! What really happened, from a trace, and whether the static graph says so.
//!
//! The oracle knows nothing of how the compiler finds dependences. [`history`] replays the accesses
//! of an unfused run and derives which threads of which launches met in a byte that one of them
//! wrote; [`compare`] holds that against the edges of the unified graph: an edge that is missing, too
//! narrow, or whose relation or one-to-one map lacks a pair that met, is a fault, and an edge wider
//! than what was seen is a loss of precision. Conditions of edges are evaluated with the shapes and
//! arguments of the launches ([`values`]). [`races`] finds the races of a run: a fused run without races whose
//! final memory is that of the unfused run has, on this input, the unfused meaning in every schedule.
//!
//! Invariant: every two neighbouring launches are compared in full (all bytes that both touch), launches
//! further apart by last writers and the reads since; what only a path of edges orders is accepted
//! where [`paths`] says that it may be.

pub mod cases;
pub mod compare;
pub mod history;
pub mod paths;
pub mod races;
pub mod reading;
pub mod relations;
pub mod rows;
pub mod values;
