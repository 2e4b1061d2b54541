//! Which variant of a fused kernel is best: a cost model ranks them, measuring decides.
//!
//! # The terms
//! A *subject* is what is tuned: groups of a plan that are equal in all that matters for speed, or all
//! groups of a region that is issued in batches. Its *key* is a digest of that: kernels, configuration,
//! maps, device, compiler. A *choice* is the name of a variant of it, such as `h -loop-fusion`. A
//! *configuration* gives each subject one choice; a program is built once for each configuration that is
//! measured, and its launch sites are timed where it runs.
//!
//! # Why it cannot change results
//! All that comes back from a measurement, from a file or from a cache, are names of variants by keys. What
//! no subject of the present program has is ignored. A variant is planned as every group is, judged by
//! [`crate::verify`], and guarded at run time.

mod choice;
pub mod definitions;
mod executed;
mod figures;
mod kernel_times;
mod model;
mod phases;
mod problem;
mod records;
mod search;
mod subject;

pub use choice::Choice;
pub use executed::ExecutedKernel;
pub use figures::Figures;
pub use kernel_times::{KernelTimes, KeyOf};
pub use model::{LaunchFigures, Model};
pub use phases::{PhaseWork, pass_nanoseconds};
pub use problem::{LaunchProblem, fusion_problem};
pub use records::{Manifest, Measurements, RecordError, Verdict, read_verdict};
pub use search::{Evaluated, Genome, first_generation, next_generation};
pub use subject::{Space, Subject, key_of};
