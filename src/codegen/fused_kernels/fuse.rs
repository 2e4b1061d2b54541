//! Members of a group -> one kernel that runs their bodies in the order of the plan's segments.
//!
//! Invariants: a fused kernel does what its members do one after the other, provided that the
//! plan's guards hold; members of one segment depend on each other in nothing and may run interleaved.
//! Each member is the original body, inlined as a call or taken apart as one, so that an early return
//! goes to its end. What a member could assume about memory for itself does not outlive its segment:
//! `__restrict__` of a member holds between its own accesses only, types of memory and what it promises
//! of numbers are its own affair ([`promises`]), and data that an earlier segment may have written is
//! never read through a path that need not see the write (`!invariant.load`, non-coherent loads).
//!
//! What is done to a kernel once its segments are written is a table of passes ([`passes`]); each is a file below
//! [`memory`] or [`control_flow`].

mod specialisation;
mod built;
mod names;
mod segments;
mod segment;
mod thread_map;
mod side_by_side;
mod boundaries;
mod passes;
mod assembly;
mod control_flow;
mod memory;
#[cfg(test)]
mod block_tests;
#[cfg(test)]
mod guarded_tests;
#[cfg(test)]
mod joining_tests;
#[cfg(test)]
mod tests;

use boundaries::{
    at_once, batch_phases, last_block, overlap, persistent, phases, recomputation, tested_loop,
};
use control_flow::{
    barriers, broadcasts, counterparts, counting, implied_branches, loops, short_loops, tiles,
    versions,
};
use memory::{
    aliasing, between_iterations, block_values, buffer_promotion, dead_stores, distances, families,
    forwarding, guarded_values, rows, scopes, shared_memory_reuse, slot_costs,
};
use rearranged::Rearranged;
use side_by_side::{batch, heterogeneous, interleaved, partitions};
use specialisation::{excerpt, fields, host_values, launch_bounds, preparation, promises, wanted};
use thread_map::{clipped, elements, indices, matrix_tiles, rearranged, registers, remapped, runs};

pub(in crate::codegen) use shared_memory_reuse::WAIT_FOR_COPIES;
pub(in crate::codegen) use tested_loop::piece_bytes;

use super::super::device;
use super::super::{BatchKernel, BatchedSite, CodegenError, FusedKernel};
use crate::build::Optimisation;
use crate::kernel::KernelModel;
use crate::llvm::{
    Block, Builder, DebugScope, FUNCTION_ATTRIBUTES, RETURN_ATTRIBUTES, Type, Value,
};
use crate::program::Program;
use crate::schedule::FusionPlan;
use crate::tune::Figures;
use at_once::Keeping;
use batch_phases::InPhases;
use built::Built;

use clipped::leave;
use host_values::Known;
use indices::{Given, Index};
use inkwell::module::Module;
use launch_bounds::Demand;
use memory::KernelFacts;
use partitions::{PartitionFunction, PartitionPosition};
use passes::FusedFunction;
use persistent::Persistent;
use preparation::new_module;
use scopes::AliasScopes;
use segment::Segment;
use segments::{Segments, by_field, form_of, link_all};
use specialisation::SpecialisationKey;
use std::collections::{BTreeMap, BTreeSet};
use wanted::statements_at;

pub(in crate::codegen) use heterogeneous::SLOTS;
pub(in crate::codegen) use partitions::extent;
pub(in crate::codegen) use preparation::Preparation;

/// Which of a plan's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Part {
    /// Those of its groups.
    Groups,
    /// Those that run the launches of a batch, but for groups' own that do.
    Batches,
}

/// A module with kernels of a plan.
pub(in crate::codegen) struct Kernels<'ctx> {
    pub(in crate::codegen) module: Module<'ctx>,
    /// The kernel of each group.
    pub(in crate::codegen) groups: Vec<FusedKernel>,
    /// Those for batches. One of a group that is never launched several at once is its own kernel.
    pub(in crate::codegen) batches: Vec<BatchKernel>,
}

/// Builds one module with a kernel for each group of the plan, or one with those of batches. Groups whose members
/// use a device variable that the host cannot name are left out; their launches stay unfused. What pays is judged by the figures of a
/// device.
///
/// The result is as clang's device modules are, to be run through
/// [`device::optimise_device`] like them.
///
/// # Errors
/// When the plan does not fit the program, or LLVM refuses what was built: our bugs.
pub(in crate::codegen) fn build_kernels<'ctx>(
    program: &Program<'ctx>,
    preparation: &Preparation<'ctx>,
    part: Part,
    models: &[KernelModel],
    (plan, optimisations, figures): (&FusionPlan, &BTreeSet<Optimisation>, &Figures),
) -> Result<Kernels<'ctx>, CodegenError> {
    let Preparation {
        segments,
        sites,
        statements,
        wanted,
    } = preparation;
    let module = new_module(program, "sirius.fused");
    let (first, orders) = wanted.of_part(part);
    let mut built = Vec::new();
    let mut partitions = Vec::new();
    let of_kernels: Vec<BTreeSet<Optimisation>> = orders
        .iter()
        .map(|order| optimisations - &order.specialisation.shape.variant.without)
        .collect();
    let names = names::kernel_names(&wanted.orders, models);
    let builders = names[first..].iter().zip(orders.iter().zip(&of_kernels));
    let builders: Vec<GroupBuilder<'_, 'ctx>> = builders
        .map(|(name, (order, own))| GroupBuilder {
            module: &module,
            name,
            models,
            specialisation: &order.specialisation,
            segments,
            optimisations: own,
        })
        .collect();
    let mut copies = Vec::new();
    for builder in &builders {
        copies.extend(builder.copies()?);
    }
    link_all(&module, copies)?;
    for builder in &builders {
        let (kernel, functions) = builder.build()?;
        built.push(kernel);
        partitions.push(functions);
    }
    if partitions.iter().any(|functions| !functions.is_empty()) {
        let names: Vec<&str> = built.iter().map(|kernel| kernel.name.as_str()).collect();
        let settled = partitions::settle(&module, &names, &partitions)?;
        for (kernel, settled) in built.iter_mut().zip(settled) {
            kernel.is_whole = settled;
        }
    }
    let kernels = built.iter_mut().zip(orders).zip(of_kernels);
    let kernels = kernels.filter(|((kernel, _), _)| kernel.is_whole);
    let mut kernels = kernels
        .map(|((kernel, order), wanted)| {
            let mut remapped = order.specialisation.shape.remapped.iter();
            Ok(FusedFunction {
                versions: vec![function_of(&module, kernel)?],
                built: kernel,
                is_remapped: remapped.any(Option::is_some),
                // Launches of batches bring no memory along.
                brings_memory: part == Part::Groups,
                // Passes know of one block at a time, in which memory is where pointers lead.
                wanted: match order.specialisation.shape.is_plain() {
                    true => wanted,
                    false => BTreeSet::new(),
                },
            })
        })
        .collect::<Result<Vec<FusedFunction>, CodegenError>>()?;
    passes::run(&module, &mut kernels)?;
    let keeping = built
        .iter()
        .zip(orders)
        .filter(|(kernel, order)| kernel.is_whole && order.specialisation.shape.own_reads.any());
    let keeping = keeping.map(|(kernel, order)| {
        Ok(Keeping {
            kernel: function_of(&module, kernel)?,
            facts: &kernel.facts,
            iterates: order.specialisation.shape.tested_loop.is_some(),
            goes_on: part == Part::Batches
                && statements_at(&order.sites, statements, sites)
                    .iter()
                    .any(|(statement, _)| statement.persistent().is_some()),
        })
    });
    let keeping = keeping.collect::<Result<Vec<_>, CodegenError>>()?;
    let mut kept = at_once::keep_values(&module, &keeping, figures)?.into_iter();
    for (kernel, order) in built.iter_mut().zip(orders) {
        if kernel.is_whole && order.specialisation.shape.own_reads.any() {
            kernel.handed_on = kernel.handed_on(&kept.next().unwrap_or_default());
            let function = function_of(&module, kernel)?;
            kernel.static_shared_bytes = shared_memory_reuse::shared_bytes(&module, function);
        }
    }
    if part == Part::Groups {
        at_once::settle(&module);
    }
    for (kernel, order) in built.iter().zip(orders) {
        if kernel.is_whole {
            overlap::check(program, &module, kernel, &order.specialisation.shape)?;
        }
    }
    let of_batches = |kernel: &Built, own: &[usize]| -> Vec<BatchedSite> {
        let own = statements_at(own, statements, sites).into_iter();
        own.map(|(statement, site)| BatchedSite {
            launch: statement.launch(),
            group: statement.group(),
            parameters: kernel.parameters(site),
            members: kernel.members(statement.of_plan(plan), models),
        })
        .collect()
    };
    let mut groups = Vec::new();
    let mut bodies = Vec::new();
    for ((number, kernel), order) in (first..).zip(&built).zip(orders) {
        if !kernel.is_whole {
            continue;
        }
        if part == Part::Batches {
            let own = statements_at(&order.sites, statements, sites).into_iter();
            let mut in_loops = own.filter_map(|(statement, site)| {
                Some((statement.persistent()?, kernel.parameters(site)))
            });
            let persistent = match in_loops.next() {
                None => None,
                Some((plan, parameters)) => match Persistent::of(plan, &parameters) {
                    None => continue,
                    some => some,
                },
            };
            let own = statements_at(&order.sites, statements, sites).into_iter();
            let own: Vec<_> = own.map(|(statement, _)| statement).collect();
            bodies.push(batch::Body {
                kernel,
                statements: of_batches(kernel, &order.sites),
                single: wanted.is_single(number),
                never_batched: false,
                regions: batch::meeting(own.iter().copied()),
                phases: InPhases::of(&own),
                persistent,
            });
            continue;
        }
        let of_kernel = order.sites.iter();
        let of_kernel = of_kernel.filter_map(|group| Some((*group, sites[*group].as_ref()?)));
        groups.extend(of_kernel.map(|(group, site)| kernel.at(group, site)));
        let never_batched = wanted
            .never_batched
            .iter()
            .filter(|(of_group, _)| *of_group == number);
        bodies.extend(never_batched.map(|(_, own)| batch::Body {
            kernel,
            statements: of_batches(kernel, own),
            single: true,
            never_batched: true,
            regions: BTreeMap::new(),
            phases: None,
            persistent: None,
        }));
    }
    groups.sort_by_key(|kernel| kernel.group);
    let batches = batch::build_batches(&module, bodies, optimisations, figures)?;
    if part == Part::Batches {
        at_once::settle(&module);
    }
    module
        .verify()
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;
    Ok(Kernels {
        module,
        groups,
        batches,
    })
}

struct GroupBuilder<'a, 'ctx> {
    module: &'a Module<'ctx>,
    name: &'a str,
    models: &'a [KernelModel],
    specialisation: &'a SpecialisationKey<'ctx>,
    segments: &'a Segments<'ctx>,
    optimisations: &'a BTreeSet<Optimisation>,
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// The kernel, and the functions of its block partitions.
    fn build(&self) -> Result<(Built, Vec<PartitionFunction<'ctx>>), CodegenError> {
        let (shape, facts) = (&self.specialisation.shape, &self.specialisation.facts);
        let bodies = self.bodies()?;
        for (body, extents) in bodies.iter().zip(&facts.extents) {
            host_values::put_extents(body.function, *extents);
        }
        // Block partitions have grids of their own, side by side in that of the kernel.
        let known = self.optimisations.contains(&Optimisation::HostConstants);
        let in_one_grid =
            shape.partitions.is_empty() && shape.phases.is_empty() && shape.last_block.is_none();
        let in_one_grid = in_one_grid && shape.recomputed.is_none();
        let is_whole = self.are_copies_plain(&bodies);
        if known && shape.members.len() > 1 && in_one_grid {
            for body in &bodies {
                host_values::bound_indices(body.function, &facts.largest, &facts.block);
            }
        }
        let function = self.declare(&bodies);
        let functions = match &shape.tested_loop {
            Some(of_loop) => {
                self.write_loop(function, &bodies, of_loop)?;
                Vec::new()
            }
            None => self.write_body(function, &bodies)?,
        };
        let rest = self.write_last_block(function, &bodies)?;
        let (function, passed) = host_values::specialise(self.module, function, &facts.known)?;
        if let Some(rest) = rest {
            host_values::specialise(self.module, rest, &facts.known)?;
        }
        // An allocation is told by the parameters that are left.
        let unread = facts.unread.iter().filter_map(|leading| {
            let mut left = leading
                .iter()
                .map(|parameter| passed[*parameter])
                .collect::<Option<Vec<usize>>>()?;
            left.sort_unstable();
            left.dedup();
            Some((leading.clone(), left))
        });
        let known = facts.known.iter().enumerate();
        let kept: Vec<usize> = known
            .filter(|(_, known)| **known == Known::Nothing)
            .map(|(index, _)| index)
            .collect();
        let (tables, behind) =
            host_values::tables_as_passed(&facts.tables, &facts.known, &passed, kept.len());
        let pointers: Vec<Option<usize>> = passed.iter().copied().chain(behind).collect();
        let count = kept.len() + tables.len();
        let facts = KernelFacts {
            disjoint: host_values::disjoint_as_passed(&facts.disjoint, &pointers, count),
            tables,
            unread: unread.collect(),
            arguments: kept
                .iter()
                .map(|index| shape.parameters[*index].of_body.is_some())
                .collect(),
            block: facts.block,
            // Block partitions have grids of their own, side by side in that of the kernel.
            grid: match in_one_grid {
                true => facts.largest,
                false => [None; 3],
            },
            blocks: host_values::largest_grid(&facts.extents),
            static_shared_bytes: phases::static_shared_bytes(shape, self.models),
            dynamic_shared_bytes: facts.dynamic_shared_bytes,
        };
        let built = Built {
            name: function.name(),
            facts,
            places: shape
                .members
                .iter()
                .map(|member| {
                    let places = member.places.iter();
                    places.map(|parameter| passed[*parameter]).collect()
                })
                .collect(),
            pieces: shape
                .members
                .iter()
                .map(|member| member.pieces.clone())
                .collect(),
            kernels: shape.members.iter().map(|member| member.kernel).collect(),
            kept,
            variant: shape.variant.clone(),
            last_block: shape.last_block.as_ref().map(|last| last.first),
            is_whole,
            promoted: None,
            spare_bytes: 0,
            static_shared_bytes: 0,
            families: families::families(&shape.own_reads),
            handed_on: Vec::new(),
            unwritten: Vec::new(),
            untouched: Vec::new(),
        };
        Ok((built, functions))
    }

    /// What the names of a member's copy begin with.
    fn prefix(&self, position: usize) -> String {
        prefix_of(self.name, position)
    }

    fn model(&self, position: usize) -> &KernelModel {
        &self.models[self.specialisation.shape.members[position].kernel.0]
    }

    /// The body of each member, and what the names of its copy begin with.
    fn members(&self) -> Result<Vec<(&Segment<'ctx>, String)>, CodegenError> {
        let shape = &self.specialisation.shape;
        let members = shape.members.iter().enumerate();
        members
            .map(|(position, member)| {
                let prefix = self.prefix(position);
                let form = form_of(position, &shape.segments, self.optimisations);
                let rearranged = shape.rearranged[position].as_ref();
                let placed_anew = shape.remapped[position].is_some() || rearranged.is_some();
                let given = match (&shape.grids[position], placed_anew) {
                    _ if !shape.phases.is_empty() => shape.given_in_phases(position),
                    _ if shape.recomputed.is_some() && position == 0 => Given::Place,
                    _ if shape
                        .last_block
                        .as_ref()
                        .is_some_and(|last| position >= last.first) =>
                    {
                        Given::Place
                    }
                    (_, true) if rearranged.is_some_and(Rearranged::is_in_warp) => {
                        Given::PlaceInWarp
                    }
                    (_, true) => Given::Place,
                    (Some(_), false) => Given::Grid,
                    (None, false) => Given::Nothing,
                };
                let by_field = by_field(shape.members.len(), self.optimisations);
                let untouched = shape.untouched.clone();
                let key = (member.kernel, form, given, by_field, untouched);
                let segment = self.segments.get(&key);
                let segment =
                    segment.ok_or_else(|| CodegenError::Inconsistent("no body".into()))?;
                Ok((segment, prefix))
            })
            .collect()
    }

    /// Modules with copies of the members' bodies.
    fn copies(&self) -> Result<Vec<Module<'ctx>>, CodegenError> {
        let members = self.members()?.into_iter();
        members
            .map(|(segment, prefix)| segment.copy(&prefix))
            .collect()
    }

    /// The copies of the members' bodies in the fused module.
    fn bodies(&self) -> Result<Vec<segment::Body<'ctx>>, CodegenError> {
        let members = self.members()?.into_iter();
        members
            .map(|(segment, prefix)| segment.body(self.module, &prefix))
            .collect()
    }

    fn declare(&self, bodies: &[segment::Body<'ctx>]) -> Value<'ctx> {
        let (shape, facts) = (&self.specialisation.shape, &self.specialisation.facts);
        let types: Vec<Type> = shape.parameters.iter().map(|shape| shape.ty).collect();
        let ty = Type::function(Type::void(self.module), &types);
        let function = Value::add_function(self.module, self.name, ty);
        function.set_call_convention(device::KERNEL_CALL_CONVENTION);
        if let Some(first) = bodies.first() {
            first
                .function
                .copy_attributes(FUNCTION_ATTRIBUTES, function, FUNCTION_ATTRIBUTES);
        }
        function.remove_attribute(FUNCTION_ATTRIBUTES, "alwaysinline");
        function.add_attribute(FUNCTION_ATTRIBUTES, "convergent", 0);
        // What one body does is not what all of them do.
        for name in ["memory", "nosync", "nofree", "willreturn", "noreturn"] {
            function.remove_attribute(FUNCTION_ATTRIBUTES, name);
        }
        let demands = bodies.iter().map(|body| body.demand);
        let demand = demands.fold(Demand::of_variant(&shape.variant), Demand::and);
        if shape.variant.compact {
            function.add_attribute(FUNCTION_ATTRIBUTES, "optsize", 0);
        }
        let static_shared_bytes = phases::static_shared_bytes(shape, self.models);
        demand.bound(function, facts.most_threads, static_shared_bytes);
        for (index, parameter) in shape.parameters.iter().enumerate() {
            let position = index as u32 + 1;
            if let Some((member, own)) = parameter.of_body {
                let body = bodies[member].function;
                body.copy_attributes(own as u32 + 1, function, position);
                // These were promises of one member about its own accesses.
                for name in ["noalias", "readonly", "readnone", "writeonly", "captures"] {
                    function.remove_attribute(position, name);
                }
            }
            let in_memory = function.has_attribute(position, "byval");
            if parameter.ty.is_pointer() && !in_memory && facts.is_unaliased(index) {
                function.add_attribute(position, "noalias", 0);
            }
        }
        // What holds of two pointers in an iteration holds of others in the next, where they change places.
        let in_place = shape.tested_loop.as_ref();
        let in_place = in_place.is_none_or(|of_loop| !of_loop.turns());
        if self.optimisations.contains(&Optimisation::AliasScopes) && in_place {
            let scopes = AliasScopes::new(
                self.module,
                &function.name(),
                &facts.disjoint,
                &facts.tables,
            );
            for (body, member) in bodies.iter().zip(&shape.members) {
                scopes.mark(self.module, body.function, &member.places);
            }
        }
        function
    }

    fn write_body(
        &self,
        function: Value<'ctx>,
        bodies: &[segment::Body<'ctx>],
    ) -> Result<Vec<PartitionFunction<'ctx>>, CodegenError> {
        let shape = &self.specialisation.shape;
        // Sets of the host have no lines.
        let mut all = bodies.iter();
        let scope = all.find_map(|body| DebugScope::of(self.module, body.function));
        if !shape.partitions.is_empty() {
            let write =
                |partition: &PartitionPosition, function: Value<'ctx>, builder: &Builder<'ctx>| {
                    self.write_segments((function, builder), bodies, &partition.members)
                };
            let (module, partitions) = (self.module, &shape.partitions);
            return partitions::write_partitions(
                module,
                function,
                scope.as_ref(),
                partitions,
                write,
            );
        }
        let builder = Builder::at_end(Block::append(function, "entry"));
        if let Some(scope) = &scope {
            scope.cover(function, &function.name(), &builder);
        }
        if shape.recomputed.is_some() {
            self.write_recomputed((function, &builder), bodies)?;
        } else if shape.phases.is_empty() {
            let last = shape.last_block.as_ref();
            let count = last.map_or(shape.members.len(), |last| last.first);
            let all: Vec<usize> = (0..count).collect();
            self.write_segments((function, &builder), bodies, &all)?;
        } else {
            self.write_forms((function, &builder), bodies, &|form| {
                self.write_once((function, &builder), bodies, form)
            })?;
        }
        builder.ret(None);
        Ok(Vec::new())
    }

    /// What `members` do, segment by segment, where the builder stands.
    fn write_segments(
        &self,
        (function, builder): (Value<'ctx>, &Builder<'ctx>),
        bodies: &[segment::Body<'ctx>],
        members: &[usize],
    ) -> Result<(), CodegenError> {
        let shape = &self.specialisation.shape;
        let grids = &shape.grids;
        let parameters = function.parameters();
        let mut order = shape.segments.clone();
        order.retain(|segment| segment.iter().any(|member| members.contains(member)));
        let last = order.iter().flatten().next_back();
        for (number, segment) in order.iter().enumerate() {
            if number > 0 {
                self.begin_segment(builder, segment);
            }
            let together = self.interleave(function, segment, bodies)?;
            if let Some(together) = together {
                // All of them have the grid of the first.
                let end = self.enter(function, builder, grids[segment[0]].as_ref());
                builder.call(together.value_type(), together, &parameters);
                leave(builder, end);
                continue;
            }
            for position in segment {
                let body = &bodies[*position];
                let grid = grids[*position].as_ref();
                let remapped = shape.remapped[*position].as_ref();
                let remapped = remapped.map(|remapped| self.remap(function, builder, remapped));
                let arranged = shape.rearranged[*position].as_ref();
                let rearranged =
                    arranged.map(|arranged| self.rearrange(function, builder, arranged));
                let first_warp = arranged
                    .and_then(|arranged| self.enter_first_warp(function, builder, arranged));
                let end = self.enter(function, builder, grid);
                let given = |index: Index| match (&remapped, &rearranged) {
                    (Some(place), _) => Ok(place.given(index)),
                    (_, Some(place)) => Ok(place.given(index)),
                    (None, None) => self.given(index, function, grid),
                };
                self.run_member(&parameters, builder, (*position, body), &given)?;
                // The end of a kernel waits for them; what follows may write where they read.
                let copies = self.model(*position).asynchronous_copies;
                if copies && Some(position) != last {
                    self.wait_for_copies(builder);
                }
                leave(builder, end);
                leave(builder, first_warp);
                if let Some(place) = remapped {
                    place.leave(builder);
                }
            }
        }
        Ok(())
    }

    /// What stands in front of a segment that is not the first.
    fn begin_segment(&self, builder: &Builder, segment: &[usize]) {
        let member = |position: &usize| &self.specialisation.shape.members[*position];
        let mut positions = segment.iter();
        if segment
            .iter()
            .any(|position| member(position).barrier_before)
        {
            self.synchronise(builder, BLOCK_BARRIER, 0);
        } else if positions.any(|position| self.model(*position).warp_operations) {
            // Threads may have left the segment before on different ways.
            self.synchronise(builder, "llvm.nvvm.bar.warp.sync", u64::from(u32::MAX));
        }
    }

    /// Calls the body of a member, as it wants to be called, with these values of the kernel's parameters.
    fn run_member(
        &self,
        parameters: &[Value<'ctx>],
        builder: &Builder<'ctx>,
        (position, body): (usize, &segment::Body<'ctx>),
        given: &dyn Fn(Index) -> Result<Value<'ctx>, CodegenError>,
    ) -> Result<(), CodegenError> {
        let arguments = self.arguments_of(parameters, position);
        self.call_member(builder, body, arguments, given)
    }

    /// Calls a body with these arguments, and with the place that it is given.
    fn call_member(
        &self,
        builder: &Builder<'ctx>,
        body: &segment::Body<'ctx>,
        mut arguments: Vec<Value<'ctx>>,
        given: &dyn Fn(Index) -> Result<Value<'ctx>, CodegenError>,
    ) -> Result<(), CodegenError> {
        for index in &body.given {
            arguments.push(given(*index)?);
        }
        let call = builder.call(body.function.value_type(), body.function, &arguments);
        let attributes = 1..=arguments.len() as u32;
        for at in attributes.chain([RETURN_ATTRIBUTES]) {
            body.function.copy_function_attributes_to_call(at, call, at);
        }
        Ok(())
    }

    /// A function that runs the members of a segment interleaved, when that is wanted and possible.
    fn interleave(
        &self,
        kernel: Value<'ctx>,
        segment: &[usize],
        bodies: &[segment::Body<'ctx>],
    ) -> Result<Option<Value<'ctx>>, CodegenError> {
        let given = segment
            .iter()
            .any(|member| !bodies[*member].given.is_empty());
        let wanted = self.optimisations.contains(&Optimisation::CodeMotion);
        if !wanted || given || segment.len() < 2 {
            return Ok(None);
        }
        let name = format!("{}_s{}", self.name, segment[0]);
        let members: Vec<(Value, &[usize])> = segment
            .iter()
            .map(|position| {
                let places = &self.specialisation.shape.members[*position].places;
                (bodies[*position].function, places.as_slice())
            })
            .collect();
        interleaved::interleave(self.module, kernel, &name, &members)
    }

    /// Waits for all asynchronous copies of the calling thread.
    fn wait_for_copies(&self, builder: &Builder) {
        let name = shared_memory_reuse::WAIT_FOR_COPIES;
        let ty = Type::function(Type::void(self.module), &[]);
        let intrinsic = Value::function(self.module, name)
            .unwrap_or_else(|| Value::add_function(self.module, name, ty));
        intrinsic.add_attribute(FUNCTION_ATTRIBUTES, "nounwind", 0);
        builder.call(ty, intrinsic, &[]);
    }

    /// Calls a convergent intrinsic of one 32-bit operand.
    fn synchronise(&self, builder: &Builder, name: &str, operand: u64) {
        let i32 = Type::integer(self.module, 32);
        let ty = Type::function(Type::void(self.module), &[i32]);
        let intrinsic = Value::function(self.module, name)
            .unwrap_or_else(|| Value::add_function(self.module, name, ty));
        for attribute in ["convergent", "nounwind"] {
            intrinsic.add_attribute(FUNCTION_ATTRIBUTES, attribute, 0);
        }
        let call = builder.call(ty, intrinsic, &[i32.constant(operand)]);
        call.add_call_attribute(FUNCTION_ATTRIBUTES, "convergent");
    }
}

/// What the names of a member's copy in a kernel begin with.
fn prefix_of(kernel: &str, position: usize) -> String {
    format!("{kernel}_m{position}_")
}

fn function_of<'ctx>(module: &Module<'ctx>, kernel: &Built) -> Result<Value<'ctx>, CodegenError> {
    Value::function(module, &kernel.name)
        .ok_or_else(|| CodegenError::Inconsistent(format!("no kernel {}", kernel.name)))
}

/// Waits for all threads of the block.
const BLOCK_BARRIER: &str = "llvm.nvvm.barrier.cta.sync.aligned.all";
