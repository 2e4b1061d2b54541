//! What all kernels of a plan are made from: the bodies of members, what the host knows of each site, and which
//! kernels serve which sites.
//!
//! Invariant: kernels of groups and those of batches come from one preparation, so that both mean the same by a
//! kernel's number.

use super::super::batch::{self, Statement};
use super::super::excerpt::Excerpts;
use super::super::segment::Segment;
use super::super::segments::Segments;
use super::super::specialisation::{Site, SiteReader};
use super::super::wanted::Wanted;
use crate::build::Optimisation;
use crate::codegen::CodegenError;
use crate::kernel::KernelModel;
use crate::launch::{Launch, LaunchGraph, LaunchId, NodeKind};
use crate::program::Program;
use crate::schedule::{BatchedStatement, FusionGroup, FusionPlan};
use crate::verify::OwnReads;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the kernels of a plan are made from.
pub(in crate::codegen) struct Preparation<'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) segments: Segments<'ctx>,
    /// By group, those of fallbacks behind the others, then by statement that waits and is one launch; `None` where a body depends on something that only its own
    /// image has.
    pub(in crate::codegen::fused_kernels::fuse) sites: Vec<Option<Site<'ctx>>>,
    /// What waits for batches.
    pub(in crate::codegen::fused_kernels::fuse) statements: Vec<Statement>,
    pub(in crate::codegen::fused_kernels::fuse) wanted: Wanted<'ctx>,
}

impl<'ctx> Preparation<'ctx> {
    /// Reads the sites of a plan, whose groups need not be verified, and what the verifier found of loads behind grid-wide barriers.
    ///
    /// # Errors
    /// When the plan does not fit the program: our bug.
    pub(in crate::codegen) fn of(
        program: &Program<'ctx>,
        graph: &LaunchGraph,
        models: &[KernelModel],
        (plan, own_reads): (&FusionPlan, &BTreeMap<usize, OwnReads>),
        optimisations: &BTreeSet<Optimisation>,
    ) -> Result<Self, CodegenError> {
        let launches: HashMap<LaunchId, &Launch> = graph
            .nodes
            .iter()
            .filter_map(|node| match &node.kind {
                NodeKind::Launch(launch) => Some((launch.id, launch)),
                _ => None,
            })
            .collect();
        let module = new_module(program, "sirius.sites");
        // What waits for batches is built once more, to be called by the kernels of several launches.
        let statements = batch::statements(graph, plan, &launches);
        let of_site = [
            Optimisation::HostConstants,
            Optimisation::PointerRebasing,
            Optimisation::AliasScopes,
        ];
        let mut of_all_sites = optimisations.clone();
        of_all_sites.retain(|optimisation| !of_site.contains(optimisation));
        let mut segments = Segments::default();
        let mut sites = Vec::new();
        // What may lead elsewhere is a pointer of its own.
        let mut of_moved = optimisations.clone();
        of_moved.remove(&Optimisation::PointerRebasing);
        let waiting = || {
            plan.batched_regions
                .iter()
                .flat_map(|region| &region.statements)
        };
        let moved: BTreeSet<(LaunchId, usize)> = waiting()
            .flat_map(BatchedStatement::replaced_arguments)
            .collect();
        let waits = |group: &FusionGroup| {
            let last = group.members.last().map(|member| member.launch);
            waiting().any(|statement| Some(statement.launch) == last)
        };
        let with_fallbacks = plan.with_fallbacks();
        let groups = with_fallbacks
            .iter()
            .map(|group| match !moved.is_empty() && waits(group) {
                true => (*group, &of_moved),
                false => (*group, optimisations),
            });
        let single = statements.iter().filter_map(Statement::single_launch);
        let persistent = |group: &FusionGroup| {
            let last = group.members.last().map(|member| member.launch);
            let mut waiting = waiting();
            let statement = waiting.find(|statement| Some(statement.launch) == last);
            statement.and_then(|statement| statement.persistent.as_ref())
        };
        let mut read = Vec::new();
        let mut excerpts = Excerpts::default();
        for (group, optimisations) in groups.chain(single.map(|group| (group, &of_all_sites))) {
            let optimisations = optimisations - &group.variant.without;
            let members = group
                .members
                .iter()
                .map(|member| {
                    let launch = launches.get(&member.launch).ok_or_else(|| {
                        CodegenError::Inconsistent(format!("no launch {}", member.launch.0))
                    })?;
                    let launch = match member.map.counts_iterations() {
                        false => launch,
                        true => graph.by_iteration.get(&member.launch).ok_or_else(|| {
                            let number = member.launch.0;
                            CodegenError::Inconsistent(format!("launch {number} has no iterations"))
                        })?,
                    };
                    let kernel = launch.kernel.ok_or_else(|| {
                        CodegenError::Inconsistent(format!("launch {} is unknown", member.launch.0))
                    })?;
                    Ok((launch, &models[kernel.0]))
                })
                .collect::<Result<Vec<_>, CodegenError>>()?;
            // Left out when a kernel depends on something that only its own image has.
            let from = (program, &mut excerpts);
            let keys = segments.of_group(from, (graph, group), &members, &optimisations)?;
            read.push((group, optimisations, members, keys));
        }
        // From here on the units are whole again.
        drop(excerpts);
        for (number, (group, optimisations, members, keys)) in read.iter().enumerate() {
            let site = keys.as_ref().map(|keys| {
                let bodies: Vec<&Segment> =
                    keys.iter().filter_map(|key| segments.get(key)).collect();
                let reader = SiteReader {
                    program,
                    graph,
                    models,
                    module: &module,
                    group,
                    members,
                    bodies: &bodies,
                    optimisations,
                    moved: &moved,
                    // What runs in place of a refused launch does so once.
                    persistent: persistent(group).filter(|_| number < plan.groups.len()),
                    // Those of groups come first.
                    own_reads: own_reads.get(&number),
                };
                reader.read()
            });
            sites.push(site);
        }
        let wanted = Wanted::of(&sites, with_fallbacks.len(), &statements);
        Ok(Self {
            segments,
            sites,
            statements,
            wanted,
        })
    }
}

/// A module for device code like that of the program's units.
pub(in crate::codegen::fused_kernels::fuse) fn new_module<'ctx>(
    program: &Program<'ctx>,
    name: &str,
) -> Module<'ctx> {
    let module = program.context.create_module(name);
    if let Some(unit) = program.units.first() {
        module.set_triple(&unit.device.get_triple());
        module.set_data_layout(&unit.device.get_data_layout());
    }
    module
}
