//! Kernels and launch graph -> models that hold for this program.

use crate::build::Build;
use crate::dependence::{has_tables, take_tables};
use crate::kernel::{KernelModel, Tables, model_kernels, model_of};
use crate::launch::LaunchGraph;

use crate::program::{Program, ProgramError};

/// The models of all kernels, with the pointers that they load from tables of which nothing but the host changes
/// anything.
pub(super) fn models(program: &Program<'_>, graph: &mut LaunchGraph) -> Vec<KernelModel> {
    if !has_tables(graph) {
        return model_kernels(program, &Tables::Unknown);
    }
    let mut models = model_kernels(program, &Tables::Constant);
    for (kernel, loads) in take_tables(graph, &models) {
        let targets = models[kernel.0].accesses.iter();
        let mut used = targets.filter_map(|access| access.target.behind_argument());
        if !used.all(|load| loads.contains(&load)) {
            let kernel = &program.kernels[kernel.0];
            models[kernel.id.0] = model_of(program, kernel, Tables::Only(loads));
        }
    }
    models
}

/// Has threads that have ended wait at the barriers of kernels of which a block may come to them in part, and models these
/// kernels anew. What lanes exchange is to be known by then: it is about the kernels as they are written.
///
/// # Errors
/// As [`Program::let_ended_threads_wait`].
pub(super) fn let_ended_threads_wait(
    program: &mut Program<'_>,
    models: &mut [KernelModel],
    build: &Build,
) -> Result<(), ProgramError> {
    let is_missed = |model: &&KernelModel| model.barriers.iter().any(|barrier| !barrier.uniform);
    let kernels = models.iter().filter(is_missed).map(|model| model.id);
    let architecture = build.oldest_target().number;
    let changed = program.let_ended_threads_wait(&kernels.collect(), architecture)?;
    for model in models
        .iter_mut()
        .filter(|model| changed.contains(&model.id))
    {
        *model = model_of(program, &program.kernels[model.id.0], Tables::Unknown);
    }
    Ok(())
}
