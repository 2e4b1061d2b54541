//! Kernels whose warps go in lockstep, since their lanes hand each other values in shared memory with nothing that
//! orders them.

use super::outcome::{Outcome, PipelineError};
use crate::build::{Build, Device};
use crate::diagnostics::Severity;
use crate::kernel::{Access, AccessKind, KernelModel, Tables, Target, exchanges_of, model_of};
use crate::output::located;
use crate::program::{KernelId, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Has the program keep the order of what its models' exchanges are, and models these kernels anew. Warns of what may be
/// an exchange, on the device that runs threads one after another.
///
/// # Errors
/// As [`Program::keep_exchanges`].
pub(super) fn keep(
    program: &mut Program<'_>,
    models: &mut [KernelModel],
    build: &Build,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let exchanged = keep_what_they_have(program, models, build, outcome)?;
    let changed = models.iter_mut();
    for model in changed.filter(|model| exchanged.contains(&model.id)) {
        *model = model_of(program, &program.kernels[model.id.0], Tables::Unknown);
    }
    Ok(())
}

/// The kernels whose code is another by that.
fn keep_what_they_have(
    program: &mut Program<'_>,
    models: &[KernelModel],
    build: &Build,
    outcome: &mut Outcome,
) -> Result<BTreeSet<KernelId>, PipelineError> {
    let mut exchanged: BTreeMap<KernelId, BTreeSet<String>> = BTreeMap::new();
    let mut warnings = BTreeSet::new();
    for model in models {
        for exchange in &model.exchanges {
            let [write, other] = [exchange.write, exchange.other].map(|id| &model.accesses[id.0]);
            match (exchange.known, &write.target, &other.target) {
                (true, Target::Shared(one), Target::Shared(two)) => {
                    let names = exchanged.entry(model.id).or_default();
                    names.extend([one.clone(), two.clone()]);
                }
                // Rows whose distance only a call knows look as if they met. Nobody can mend a kernel that the compiler
                // itself has made, so that its user is not warned; the race check of the CPU device runs in spite of that.
                _ if build.made_of_definitions.contains(&write.location.file) => {}
                _ => {
                    warnings.insert(warning(model, write, other));
                }
            }
        }
    }
    let silent = build
        .front_end_arguments
        .iter()
        .any(|argument| argument == "-w");
    // Of what is linked from objects that was said when they were made.
    let is_new = build.inputs.iter().all(|input| input.bitcode.is_none());
    if build.device == Device::Cpu && is_new && !silent {
        outcome.warnings.extend(warnings);
    }
    if !exchanged.is_empty() {
        program.keep_exchanges(&exchanged, build.oldest_target().number)?;
    }
    Ok(exchanged.into_keys().collect())
}

/// [`keep`] of a program that is built without any analysis, for the device that runs threads one after another; on the
/// other one its kernels are as they were written.
///
/// # Errors
/// As [`keep`].
pub(super) fn keep_unfused(
    program: &mut Program<'_>,
    build: &Build,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    if build.device != Device::Cpu {
        return Ok(());
    }
    let kernels = program.kernels.iter();
    let kernels = kernels.filter(|kernel| program.stores_to_shared(kernel));
    let models: Vec<_> = kernels
        .map(|kernel| exchanges_of(program, kernel))
        .collect();
    keep_what_they_have(program, &models, build, outcome)?;
    Ok(())
}

fn warning(model: &KernelModel, write: &Access, other: &Access) -> String {
    let does = match other.kind {
        AccessKind::Read => "reads",
        _ => "writes",
    };
    let message = format!(
        "`{}` writes shared memory here that another thread of its warp may touch at {}, which {does} it, \
         with no barrier between: the CPU device runs one after the other; put __syncwarp() between, or make the memory \
         volatile",
        model.display_name, other.location
    );
    located(&write.location, Severity::Warning, &message)
}
