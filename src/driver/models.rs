//! Kernels and launch graph -> models that hold for this program.

use crate::dependence::{has_tables, take_tables};
use crate::kernel::{KernelModel, Tables, model_kernels, model_of};
use crate::launch::LaunchGraph;
use crate::program::Program;

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
