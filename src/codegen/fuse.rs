//! Members of a group -> one kernel that runs their bodies in the order of the plan's segments.
//!
//! Invariants: a fused kernel does what its members do one after the other, provided that the
//! plan's guards hold; members of one segment depend on each other in nothing and may run in unison.
//! Each member is the original body, inlined as a call or taken apart as one, so that an early return
//! goes to its end. What a member could assume about memory for itself does
//! not outlive its segment: `__restrict__` of a member holds between its own accesses only, and
//! data that an earlier segment may have written is never read through a path that need not see
//! the write (`!invariant.load`, non-coherent loads).

mod aliasing;
mod barriers;
mod batch;
mod broadcasts;
mod clipped;
mod control_flow;
mod dead_stores;
mod dealt;
mod host_values;
mod indices;
mod memory;
mod registers;
mod rows;
mod scopes;
mod segment;
mod strands;
mod tiles;
mod unison;
mod versions;
#[cfg(test)]
mod block_tests;
#[cfg(test)]
mod tests;

use super::device::{self, device_target_machine, run_passes};
use super::ir::{Block, Builder, DebugScope, FUNCTION_ATTRIBUTES, RETURN_ATTRIBUTES, Type, Value};
use super::{CodegenError, FusedKernel, FusedParameter, WaveKernel};
use crate::cli::Optimisation;
use crate::kernel::KernelModel;
use crate::launch::{BufferId, Launch, LaunchGraph, LaunchId, NodeKind, ValueId};
use crate::program::Program;
use crate::schedule::{BlockThreads, FusionGroup, FusionPlan, ThreadMap};
use crate::verify::VerifiedPlan;
use aliasing::PointerFacts;
use clipped::{Grid, leave};
use dealt::Dealt;
use host_values::Known;
use indices::Index;
use inkwell::module::Module;
use memory::KernelFacts;
use scopes::AliasScopes;
use segment::Segment;
use std::collections::{BTreeSet, HashMap};
use strands::{StrandFunction, StrandPlace};

pub(in crate::codegen) use strands::extent;

/// The module, the kernel of each group, and those that run the launches of a wave.
pub(super) type FusedModule<'ctx> = (Module<'ctx>, Vec<FusedKernel>, Vec<WaveKernel>);

/// Builds one module with a kernel for each group of the plan. Groups whose members use a device
/// variable that the host cannot name are left out; their launches stay apart.
///
/// The result is as clang's device modules are, to be run through
/// [`device::optimise_device`] like them.
///
/// # Errors
/// When the plan does not fit the program, or LLVM refuses what was built: our bugs.
pub(super) fn build_fused_module<'ctx>(
    program: &Program<'ctx>,
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    plan: &VerifiedPlan,
    optimisations: &BTreeSet<Optimisation>,
) -> Result<FusedModule<'ctx>, CodegenError> {
    build_groups(program, graph, kernels, plan.plan(), optimisations)
}

/// As [`build_fused_module`], of groups that nobody has verified: to be measured and thrown away.
///
/// # Errors
/// As [`build_fused_module`].
pub(super) fn build_candidates<'ctx>(
    program: &Program<'ctx>,
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    candidates: &FusionPlan,
    optimisations: &BTreeSet<Optimisation>,
) -> Result<(Module<'ctx>, Vec<FusedKernel>), CodegenError> {
    let (module, fused, _) = build_groups(program, graph, kernels, candidates, optimisations)?;
    Ok((module, fused))
}

fn build_groups<'ctx>(
    program: &Program<'ctx>,
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    plan: &FusionPlan,
    optimisations: &BTreeSet<Optimisation>,
) -> Result<FusedModule<'ctx>, CodegenError> {
    let launches: HashMap<LaunchId, &Launch> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((launch.id, launch)),
            _ => None,
        })
        .collect();
    let module = program.context.create_module("sirius.fused");
    if let Some(unit) = program.units.first() {
        module.set_triple(&unit.device.get_triple());
        module.set_data_layout(&unit.device.get_data_layout());
    }
    let mut fused = Vec::new();
    let mut known = Vec::new();
    let mut strands = Vec::new();
    // What waits for waves is built once more, to be called by the kernels of several launches.
    let statements = batch::statements(plan, &launches);
    let bodies = statements.iter().map(batch::Statement::group);
    let of_site = [
        Optimisation::HostConstants,
        Optimisation::OneBase,
        Optimisation::AliasScopes,
    ];
    let mut of_all_sites = optimisations.clone();
    of_all_sites.retain(|optimisation| !of_site.contains(optimisation));
    for (index, group) in plan.groups.iter().chain(bodies).enumerate() {
        let members = group
            .members
            .iter()
            .map(|member| {
                let launch = launches.get(&member.launch).ok_or_else(|| {
                    CodegenError::Inconsistent(format!("no launch {}", member.launch.0))
                })?;
                let kernel = launch.kernel.ok_or_else(|| {
                    CodegenError::Inconsistent(format!("launch {} is unknown", member.launch.0))
                })?;
                Ok((*launch, &kernels[kernel.0]))
            })
            .collect::<Result<Vec<_>, CodegenError>>()?;
        let builder = GroupBuilder {
            program,
            graph,
            module: &module,
            index,
            group,
            optimisations: match members.len() {
                1 => &of_all_sites,
                _ => optimisations,
            },
            members,
        };
        // Left out when a kernel depends on something that only its own image has.
        if let Some((kernel, facts, functions)) = builder.build()? {
            fused.push(kernel);
            known.push(facts);
            strands.push(functions);
        }
    }
    if strands.iter().any(|functions| !functions.is_empty()) {
        let settled = strands::settle(&module, &fused, &strands)?;
        let mut keep = settled.iter().copied();
        fused.retain(|_| keep.next().unwrap_or(true));
        let mut keep = settled.into_iter();
        known.retain(|_| keep.next().unwrap_or(true));
    }
    if optimisations.contains(&Optimisation::ForwardValues) {
        let dealt = |kernel: &&FusedKernel| {
            let group = plan.groups.get(kernel.group);
            group.is_some_and(|group| {
                let mut members = group.members.iter();
                members.any(|member| matches!(member.map, ThreadMap::Dealt { .. }))
            })
        };
        let dealt = fused.iter().filter(dealt);
        let dealt: Vec<Value> = dealt
            .map(|kernel| function_of(&module, kernel))
            .collect::<Result<_, _>>()?;
        forward_values(&module, &dealt)?;
    }
    for (kernel, facts) in fused.iter_mut().zip(&known) {
        let function = function_of(&module, kernel)?;
        if optimisations.contains(&Optimisation::BroadcastValues) {
            broadcasts::broadcast_values(function, facts);
        }
        let mut versions = vec![function];
        // Launches of waves bring no memory along.
        let of_plan = kernel.group < plan.groups.len();
        if of_plan && optimisations.contains(&Optimisation::StagedRows) {
            let staged = rows::stage_rows(&module, function, facts)?;
            kernel.staged = staged.rows;
            versions.extend(staged.general);
        }
        if optimisations.contains(&Optimisation::DeadStores) {
            kernel.unwritten = remove_dead_stores(&versions, facts);
        }
    }
    tidy(&module)?;
    if optimisations.contains(&Optimisation::CommonTiles) {
        tiles::merge_tiles(&module);
    }
    for (kernel, facts) in fused.iter().zip(&known) {
        let function = function_of(&module, kernel)?;
        if optimisations.contains(&Optimisation::RedundantBarriers) {
            barriers::remove_redundant_barriers(&module, function, facts);
        }
    }
    let of_plan = |kernel: &FusedKernel| kernel.group < plan.groups.len();
    let (fused, bodies): (Vec<_>, Vec<_>) = fused.into_iter().partition(of_plan);
    let bodies = bodies
        .into_iter()
        .map(|kernel| (&statements[kernel.group - plan.groups.len()], kernel));
    let waves = batch::build_batches(&module, bodies.collect())?;
    module
        .verify()
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;
    Ok((module, fused, waves))
}

struct GroupBuilder<'a, 'ctx> {
    program: &'a Program<'ctx>,
    graph: &'a LaunchGraph,
    module: &'a Module<'ctx>,
    index: usize,
    group: &'a FusionGroup,
    members: Vec<(&'a Launch, &'a KernelModel)>,
    optimisations: &'a BTreeSet<Optimisation>,
}

/// Which blocks and threads run each member, by member.
struct Places {
    grids: Vec<Option<Grid>>,
    dealt: Vec<Option<Dealt>>,
}

/// A parameter of a fused kernel while it is being put together.
struct Parameter {
    source: FusedParameter,
    ty: Type,
    identity: Option<ValueId>,
    /// Body and position from which attributes are taken.
    attributes: Option<(Value, u32)>,
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// The kernel, what the host program knows of it, and the functions of its strands.
    fn build(
        &self,
    ) -> Result<Option<(FusedKernel, KernelFacts, Vec<StrandFunction>)>, CodegenError> {
        let mut segments = Vec::new();
        let order = self.group.segments_in_order();
        for (position, (_, model)) in self.members.iter().enumerate() {
            let prefix = format!("sirius_g{}_m{position}_", self.index);
            let kernel = &self.program.kernels[model.id.0];
            let mut order = order.iter();
            let own = order.find(|segment| segment.contains(&position));
            let form = match self.optimisations.contains(&Optimisation::CodeMotion)
                && own.is_some_and(|segment| segment.len() > 1)
            {
                true => unison::CANONICAL_FORM,
                false => "",
            };
            let given: &[Index] = match self.group.members[position].map {
                ThreadMap::Identity | ThreadMap::Blocks { .. } => &[],
                ThreadMap::Clipped => &Index::grid_size(),
                ThreadMap::Dealt { .. } => &Index::all(),
            };
            match Segment::prepare(self.program, kernel, &prefix, form, given)? {
                Some(segment) => segments.push(segment),
                None => return Ok(None),
            }
        }
        let mut bodies = Vec::new();
        for segment in segments {
            bodies.push(segment.link_into(self.module)?);
        }
        if self.optimisations.contains(&Optimisation::HostConstants) {
            for (position, body) in bodies.iter().enumerate() {
                host_values::put_extents(body.function, self.extents(position));
            }
        }
        let (mut parameters, places) = self.parameters(&bodies);
        let launches: Vec<&Launch> = self.members.iter().map(|(launch, _)| *launch).collect();
        let (graph, group) = (self.graph, self.group);
        let strands = strands::places(self.module, graph, group, &launches, &mut parameters);
        let grids = Places {
            grids: self.grids(&mut parameters),
            dealt: self.dealt(&mut parameters),
        };
        let (function, apart) = self.declare(&parameters, &bodies, &places);
        let known = self.known(&parameters);
        let functions = self.write_body(function, &bodies, &places, &strands, &grids)?;
        let (function, passed) = host_values::specialise(self.module, function, &known)?;
        let apart = host_values::apart_as_passed(&apart, &passed);
        let unread = dead_stores::parameters_into(
            &self.group.unread_afterwards,
            &self.members,
            |member, argument| *passed.get(*places.get(member)?.get(argument)?)?,
        );
        let kernel = FusedKernel {
            name: function.name(),
            group: self.index,
            parameters: parameters
                .into_iter()
                .zip(&known)
                .filter(|(_, known)| **known == Known::Nothing)
                .map(|(parameter, _)| parameter.source)
                .collect(),
            unwritten: Vec::new(),
            staged: None,
        };
        let models = || self.members.iter().map(|(_, model)| model);
        let facts = KernelFacts {
            apart,
            unread,
            arguments: kernel.parameters.iter().map(is_argument).collect(),
            block: self.block_extents(),
            static_shared_bytes: models().map(|model| model.static_shared_bytes).sum(),
            dynamic_shared: models().any(|model| model.dynamic_shared),
        };
        Ok(Some((kernel, facts, functions)))
    }

    /// The extents of a member's grid and block that the host knows. Members whose threads stay where
    /// they are have one shape, by the plan's guards.
    fn extents(&self, position: usize) -> [Option<u32>; 6] {
        let (launch, _) = self.members[position];
        let mut own = host_values::extents(self.graph, launch);
        let stays = |member: usize| self.group.members[member].map == ThreadMap::Identity;
        if (0..self.members.len()).all(stays) {
            for (other, _) in &self.members {
                let other = host_values::extents(self.graph, other);
                own.iter_mut()
                    .zip(other)
                    .for_each(|(own, other)| *own = own.or(other));
            }
        }
        own
    }

    /// What the host knows of each parameter.
    fn known(&self, parameters: &[Parameter]) -> Vec<Known> {
        let passed: Vec<_> = parameters
            .iter()
            .map(|parameter| match parameter.source {
                FusedParameter::Argument { launch, argument } => {
                    let mut members = self.members.iter();
                    let (launch, _) = members.find(|(member, _)| member.id == launch)?;
                    // A structure in memory is no pointer, even where its first field is one.
                    let (body, at) = parameter.attributes?;
                    let passed = (*launch, argument, parameter.ty);
                    (!body.has_attribute(at, "byval")).then_some(passed)
                }
                _ => None,
            })
            .collect();
        let on = |optimisation| self.optimisations.contains(&optimisation);
        let constants = on(Optimisation::HostConstants);
        host_values::known(self.graph, &passed, constants, on(Optimisation::OneBase))
    }

    /// The fused kernel's parameters, and for each body which of them it gets. An argument that
    /// is known to be equal to one before it is passed once.
    fn parameters(&self, bodies: &[segment::Body]) -> (Vec<Parameter>, Vec<Vec<usize>>) {
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut places = Vec::new();
        for ((launch, _), body) in self.members.iter().zip(bodies) {
            let types = body.function.value_type().parameters();
            let own = types.len() - body.variables.len() - body.given.len();
            let mut list = Vec::new();
            for (argument, ty) in types[..own].iter().enumerate() {
                let identity = launch
                    .arguments
                    .get(argument)
                    .and_then(|known| known.identity);
                let position = argument as u32 + 1;
                let in_memory = body.function.type_attribute(position, "byval");
                let equal = parameters.iter().position(|before| {
                    self.is_fused()
                        && identity.is_some()
                        && before.identity == identity
                        && before.ty == *ty
                        && before
                            .attributes
                            .and_then(|(function, at)| function.type_attribute(at, "byval"))
                            == in_memory
                });
                list.push(equal.unwrap_or_else(|| {
                    parameters.push(Parameter {
                        source: FusedParameter::Argument {
                            launch: launch.id,
                            argument,
                        },
                        ty: *ty,
                        identity,
                        attributes: Some((body.function, position)),
                    });
                    parameters.len() - 1
                }));
            }
            for variable in &body.variables {
                let source = FusedParameter::VariableAddress {
                    variable: *variable,
                };
                let equal = parameters.iter().position(|before| before.source == source);
                list.push(equal.unwrap_or_else(|| {
                    parameters.push(Parameter {
                        source,
                        ty: Type::pointer(self.module, 0),
                        identity: None,
                        attributes: None,
                    });
                    parameters.len() - 1
                }));
            }
            places.push(list);
        }
        (parameters, places)
    }

    fn declare(
        &self,
        parameters: &[Parameter],
        bodies: &[segment::Body],
        places: &[Vec<usize>],
    ) -> (Value, Vec<Vec<bool>>) {
        let types: Vec<Type> = parameters.iter().map(|parameter| parameter.ty).collect();
        let ty = Type::function(Type::void(self.module), &types);
        let function = Value::add_function(self.module, &self.name(), ty);
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
        function.set_string_attribute("nvvm.maxntid", &self.most_threads().to_string());
        let sources: Vec<&FusedParameter> = parameters
            .iter()
            .map(|parameter| &parameter.source)
            .collect();
        let facts = PointerFacts::of(
            self.program,
            self.graph,
            self.group,
            &self.members,
            &sources,
        );
        for (index, parameter) in parameters.iter().enumerate() {
            let position = index as u32 + 1;
            if let Some((body, from)) = parameter.attributes {
                body.copy_attributes(from, function, position);
                // These were promises of one member about its own accesses.
                for name in ["noalias", "readonly", "readnone", "writeonly", "captures"] {
                    function.remove_attribute(position, name);
                }
            }
            let in_memory = function.has_attribute(position, "byval");
            let alone = self.is_fused() && facts.alone(index);
            if parameter.ty.is_pointer() && !in_memory && alone {
                function.add_attribute(position, "noalias", 0);
            }
        }
        if self.optimisations.contains(&Optimisation::AliasScopes) {
            let name = function.name();
            let scopes = AliasScopes::new(self.module, &name, parameters.len(), &facts);
            for (body, places) in bodies.iter().zip(places) {
                scopes.mark(self.module, body.function, places);
            }
        }
        let all = 0..parameters.len();
        let apart = |one, other| self.is_fused() && facts.apart(one, other);
        let row = |one: usize| all.clone().map(|other| apart(one, other)).collect();
        (function, all.clone().map(row).collect())
    }

    /// The extents of its blocks, where they are known when compiling.
    fn block_extents(&self) -> [Option<u64>; 3] {
        let in_rows = self.group.members.iter().any(|member| match member.map {
            ThreadMap::Blocks { threads, .. } => threads != BlockThreads::Same,
            ThreadMap::Identity | ThreadMap::Clipped | ThreadMap::Dealt { .. } => false,
        });
        if in_rows || !self.is_fused() {
            return [None; 3];
        }
        std::array::from_fn(|axis| {
            let mut members = self.keepers();
            members.find_map(|launch| self.constant_extent(launch.block[axis]))
        })
    }

    /// The launches whose blocks are those of the fused kernel, or some of them.
    fn keepers(&self) -> impl Iterator<Item = &Launch> {
        let members = self.members.iter().zip(&self.group.members);
        let kept = members.filter(|(_, planned)| !matches!(planned.map, ThreadMap::Dealt { .. }));
        kept.map(|((launch, _), _)| *launch)
    }

    /// A single launch is built for all launches of its kernel: nothing of one site is in it.
    fn is_fused(&self) -> bool {
        self.members.len() > 1
    }

    /// The most threads a block with which the guards let the fused kernel run. It is always told,
    /// so that ptxas never gives a thread more registers than such a block has.
    fn most_threads(&self) -> u32 {
        let in_rows = |position: &usize| match self.group.members[*position].map {
            ThreadMap::Blocks { threads, .. } => threads != BlockThreads::Same,
            ThreadMap::Identity | ThreadMap::Clipped | ThreadMap::Dealt { .. } => false,
        };
        let dealt =
            |position: &usize| matches!(self.group.members[*position].map, ThreadMap::Dealt { .. });
        let all: Vec<usize> = (0..self.members.len())
            .filter(|position| !dealt(position))
            .collect();
        // Strands in rows have blocks of their own size each, the others one in common.
        let strands = match all.iter().any(in_rows) {
            true => self.group.strands(),
            false => vec![all],
        };
        let most = strands.iter().map(|strand| self.most_threads_of(strand));
        most.max().unwrap_or(MOST_THREADS)
    }

    fn most_threads_of(&self, members: &[usize]) -> u32 {
        let constant = |axis: usize| {
            members.iter().find_map(|position| {
                let (launch, _) = self.members[*position];
                let value = self.graph.values.get(launch.block[axis].0)?;
                u32::try_from(value.constant? & 0xffff_ffff).ok()
            })
        };
        let known = (0..3).try_fold(1_u32, |threads, axis| threads.checked_mul(constant(axis)?));
        let limits = members
            .iter()
            .filter_map(|position| self.members[*position].1.max_threads);
        let limit = limits.chain(known).min().unwrap_or(MOST_THREADS);
        limit.clamp(1, MOST_THREADS)
    }

    fn write_body(
        &self,
        function: Value,
        bodies: &[segment::Body],
        places: &[Vec<usize>],
        strands: &[StrandPlace],
        grids: &Places,
    ) -> Result<Vec<StrandFunction>, CodegenError> {
        let first = bodies.first();
        let scope = first.and_then(|first| DebugScope::of(self.module, first.function));
        if !strands.is_empty() {
            let write = |strand: &StrandPlace, function: Value, builder: &Builder| {
                let members = &strand.members;
                self.write_segments((function, builder), bodies, places, grids, members)
            };
            return strands::write_strands(self.module, function, scope.as_ref(), strands, write);
        }
        let builder = Builder::at_end(self.module, Block::append(function, "entry"));
        if let Some(scope) = &scope {
            scope.cover(function, &function.name(), &builder);
        }
        let all: Vec<usize> = (0..self.members.len()).collect();
        self.write_segments((function, &builder), bodies, places, grids, &all)?;
        builder.return_void();
        Ok(Vec::new())
    }

    /// What `members` do, segment by segment, where the builder stands.
    fn write_segments(
        &self,
        (function, builder): (Value, &Builder),
        bodies: &[segment::Body],
        places: &[Vec<usize>],
        grids: &Places,
        members: &[usize],
    ) -> Result<(), CodegenError> {
        let parameters = function.parameters();
        let mut order = self.group.segments_in_order();
        order.retain(|segment| segment.iter().any(|member| members.contains(member)));
        let last = order.iter().flatten().next_back();
        for (number, segment) in order.iter().enumerate() {
            let member = |position: &usize| &self.group.members[*position];
            let mut models = segment.iter().map(|position| self.members[*position].1);
            if number > 0
                && segment
                    .iter()
                    .any(|position| member(position).barrier_before)
            {
                self.synchronise(builder, BLOCK_BARRIER, 0);
            } else if number > 0 && models.any(|model| model.warp_operations) {
                // Threads may have left the segment before on different ways.
                self.synchronise(builder, "llvm.nvvm.bar.warp.sync", u64::from(u32::MAX));
            }
            let together = self.in_unison(function, segment, bodies, places)?;
            if let Some(together) = together {
                // All of them have the grid of the first.
                let end = self.enter(function, builder, grids.grids[segment[0]].as_ref());
                builder.call(together.value_type(), together, &parameters);
                leave(builder, end);
                continue;
            }
            for position in segment {
                let body = &bodies[*position];
                let grid = grids.grids[*position].as_ref();
                let dealt = grids.dealt[*position]
                    .as_ref()
                    .map(|dealt| self.deal(function, builder, dealt));
                let end = self.enter(function, builder, grid);
                let mut arguments: Vec<Value> = places[*position]
                    .iter()
                    .map(|index| parameters[*index])
                    .collect();
                for index in &body.given {
                    arguments.push(match &dealt {
                        Some(place) => place.given(*index),
                        None => self.given(*index, function, grid)?,
                    });
                }
                let call = builder.call(body.function.value_type(), body.function, &arguments);
                for at in 1..=arguments.len() as u32 {
                    body.function.copy_function_attributes_to_call(at, call, at);
                }
                body.function.copy_function_attributes_to_call(
                    RETURN_ATTRIBUTES,
                    call,
                    RETURN_ATTRIBUTES,
                );
                // The end of a kernel waits for them; what follows may write where they read.
                let copies = self.members[*position].1.asynchronous_copies;
                if copies && Some(position) != last {
                    self.wait_for_copies(builder);
                }
                leave(builder, end);
                if let Some(place) = dealt {
                    place.leave(builder);
                }
            }
        }
        Ok(())
    }

    /// A function that runs the members of a segment in unison, when that is wanted and possible.
    fn in_unison(
        &self,
        kernel: Value,
        segment: &[usize],
        bodies: &[segment::Body],
        places: &[Vec<usize>],
    ) -> Result<Option<Value>, CodegenError> {
        let given = segment
            .iter()
            .any(|member| !bodies[*member].given.is_empty());
        let wanted = self.optimisations.contains(&Optimisation::CodeMotion);
        if !wanted || given || segment.len() < 2 {
            return Ok(None);
        }
        let name = format!("sirius_g{}_s{}", self.index, segment[0]);
        let members: Vec<(Value, &[usize])> = segment
            .iter()
            .map(|position| (bodies[*position].function, places[*position].as_slice()))
            .collect();
        unison::in_unison(self.module, kernel, &name, &members)
    }

    /// Waits for all asynchronous copies of the calling thread.
    fn wait_for_copies(&self, builder: &Builder) {
        let name = "llvm.nvvm.cp.async.wait.all";
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

    /// `sirius_fused_0_scale_add`: a name that PTX allows and that says what runs.
    fn name(&self) -> String {
        let mut name = format!("sirius_fused_{}", self.index);
        for (_, model) in &self.members {
            name.push('_');
            name.extend(model.display_name.chars().map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '_'
                }
            }));
        }
        name.truncate(200);
        name
    }
}

fn is_argument(parameter: &FusedParameter) -> bool {
    matches!(parameter, FusedParameter::Argument { .. })
}

fn function_of(module: &Module, kernel: &FusedKernel) -> Result<Value, CodegenError> {
    Value::function(module, &kernel.name)
        .ok_or_else(|| CodegenError::Inconsistent(format!("no kernel {}", kernel.name)))
}

/// Leaves stores out whose values nobody reads, in all versions of a kernel, of which the first calls
/// the others. Returns the allocations that they went to.
fn remove_dead_stores(versions: &[Value], facts: &KernelFacts) -> Vec<BufferId> {
    let mut unwritten = Vec::new();
    for (buffer, parameters) in &facts.unread {
        for version in versions {
            let removed = dead_stores::remove_dead_stores(*version, versions, parameters);
            if removed && !unwritten.contains(buffer) {
                unwritten.push(*buffer);
            }
        }
    }
    unwritten
}

/// Inlines the versions of kernels, and removes what only computed values that are not needed any more.
fn tidy(module: &Module) -> Result<(), CodegenError> {
    let before = device::count_barriers(module);
    run_passes(
        module,
        "always-inline,globaldce,function(adce,instcombine<no-verify-fixpoint>,simplifycfg)",
        &device_target_machine("sm_80")?,
    )?;
    before.check_equal_or_fewer(&device::count_barriers(module))
}

/// Waits for all threads of the block.
const BLOCK_BARRIER: &str = "llvm.nvvm.barrier.cta.sync.aligned.all";

/// The most threads that any block has.
const MOST_THREADS: u32 = 1024;

/// Inlines the segments and forwards what one stores and the next loads in the same thread: two
/// segments that test the same condition are threaded together, so that the store dominates the
/// load. Nothing here unrolls, so that the number of barriers may not grow.
///
/// A member that is dealt tests its number besides, which becomes one condition with its own tests. Only
/// LLVM's jump threading takes these apart, which leaves devices alone whose threads may part; it duplicates
/// nothing that threads do together, so that in the kernels `dealt` it may.
fn forward_values(module: &Module, dealt: &[Value]) -> Result<(), CodegenError> {
    device::mark_pure_math(module);
    let machine = device_target_machine("sm_80")?;
    run_passes(module, "always-inline,globaldce", &machine)?;
    device::kernels(module)
        .into_iter()
        .for_each(registers::read_once);
    let before = device::count_barriers(module);
    for kernel in dealt {
        let form = "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>";
        let threads = format!("function({form},early-cse<memssa>,simplifycfg,jump-threading)");
        kernel.run_passes(&threads).map_err(CodegenError::Llvm)?;
    }
    let round = "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
                 jump-threading,correlated-propagation,simplifycfg,gvn<no-pre>,dse";
    run_passes(
        module,
        &format!("function({round},{round},instcombine<no-verify-fixpoint>,simplifycfg)"),
        &machine,
    )?;
    before.check_equal_or_fewer(&device::count_barriers(module))
}
