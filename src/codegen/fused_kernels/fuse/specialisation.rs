//! What a fused kernel is made from, without the launches that it is made for.
//!
//! Invariant: a kernel is a function of its specialisation key alone, so that groups with equal specialisation keys share
//! one. The *shape* says which bodies run where and which of them get the same parameter; the *facts*
//! are claims about parameters and extents that hold at every site the kernel is used for. Facts of
//! several sites have a greatest common part, [`Facts::meet`]: what each of them claims.
//!
//! Below is what goes into that: what the host knows of arguments and extents, and what kernels promise.

pub(super) mod excerpt;
pub(super) mod fields;
pub(super) mod host_values;
pub(super) mod launch_bounds;
pub(super) mod preparation;
pub(super) mod promises;
pub(super) mod wanted;

use super::aliasing::{PointerFacts, Table};
use super::clipped::{self, Grid};
use super::dead_stores;
use super::fields::Piece;
use super::last_block::LastBlock;
use super::partitions::{self, PartitionPosition};
use super::phases::Phase;
use super::rearranged::Rearranged;
use super::recomputation::Recomputed;
use super::remapped::Remapped;
use super::segment::Segment;
use super::tested_loop::LoopShape;
use crate::build::Optimisation;
use crate::codegen::FusedParameter;
use crate::dependence::Guard;
use crate::kernel::{KernelModel, Target};
use crate::launch::{BufferId, Launch, LaunchGraph, LaunchId, ValueId};
use crate::llvm::Type;
use crate::math::expression::{Condition, Expression};
use crate::program::{KernelId, Program};
use crate::schedule::{BlockThreads, FusionGroup, PersistentLoop, ThreadMap, Variant};
use crate::verify::OwnReads;
use host_values::Known;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet};

/// All that a fused kernel depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SpecialisationKey<'ctx> {
    pub(super) shape: Shape<'ctx>,
    pub(super) facts: Facts,
}

/// What has to be equal for sites to run one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape<'ctx> {
    pub(super) members: Vec<MemberShape>,
    /// The segments in order, as positions of members.
    pub(super) segments: Vec<Vec<usize>>,
    pub(super) parameters: Vec<ParameterShape<'ctx>>,
    /// Where members stand that have blocks of their own; empty when all keep their grid.
    pub(super) partitions: Vec<PartitionPosition>,
    /// By member, the grid of one that is clipped.
    pub(super) grids: Vec<Option<Grid>>,
    /// By member, how one is remapped.
    pub(super) remapped: Vec<Option<Remapped>>,
    /// By member, how one is rearranged.
    pub(super) rearranged: Vec<Option<Rearranged>>,
    /// The members between grid-wide barriers, where there are such.
    pub(super) phases: Vec<Phase>,
    /// By which parameters of which members' bodies loads read only what their own thread writes.
    pub(super) own_reads: OwnReads,
    /// What the last block of a launch runs.
    pub(super) last_block: Option<LastBlock>,
    /// What each block does of the first member's work, where each does all of it.
    pub(super) recomputed: Option<Recomputed>,
    /// How iterations of a host loop follow each other in it.
    pub(super) tested_loop: Option<LoopShape>,
    /// How the kernel is made.
    pub(super) variant: Variant,
    /// What it may load from before it waits, where it begins early.
    pub(super) untouched: Option<Vec<Target>>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct MemberShape {
    pub(super) kernel: KernelId,
    pub(super) barrier_before: bool,
    /// What the body's first parameters are of the arguments; addresses of variables come after them.
    pub(super) pieces: Vec<Piece>,
    /// The kernel's parameter that each parameter of the body is.
    pub(super) places: Vec<usize>,
}

/// A parameter of a fused kernel before it is specialised.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ParameterShape<'ctx> {
    pub(super) ty: Type<'ctx>,
    /// The member and the parameter of its body that attributes are taken from; `None` for a number or an
    /// address that is no argument.
    pub(super) of_body: Option<(usize, usize)>,
    /// It is the address of this device variable.
    pub(super) variable: Option<usize>,
}

/// What the host knows of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Facts {
    /// By member, extents of its grid and block.
    pub(super) extents: Vec<[Option<u32>; 6]>,
    /// By parameter.
    pub(super) known: Vec<Known>,
    /// By parameter, whether nothing else in the kernel reaches what it points to; those that are computed from it are
    /// others ([`Self::is_unaliased`]).
    pub(super) unaliased: Vec<bool>,
    /// By two pointers, those of the parameters and then those of the tables, whether what is reached through the one
    /// is never reached through the other.
    pub(super) disjoint: Vec<Vec<bool>>,
    /// Pointers in memory that nobody changes while the kernel runs: so many bytes behind where which parameter leads.
    /// Sites of one shape have the same.
    pub(super) tables: Vec<(usize, u32)>,
    /// The parameters that lead to each allocation that nobody reads afterwards.
    pub(super) unread: Vec<Vec<usize>>,
    /// No block has more threads.
    pub(super) most_threads: u32,
    /// Extents of the fused blocks.
    pub(super) block: [Option<u64>; 3],
    /// The largest extents of any member's grid.
    pub(super) largest: [Option<u64>; 3],
    /// The most dynamic shared memory that the launch of a member with such asks for, in bytes; `None` where only a
    /// run tells.
    pub(super) dynamic_shared_bytes: Option<u64>,
}

impl<'ctx> Shape<'ctx> {
    /// Whether its members run one after the other, all in their own blocks and with the memory that they are given.
    pub(super) fn is_plain(&self) -> bool {
        self.phases.is_empty() && self.recomputed.is_none()
    }
}

impl Facts {
    /// Whether nothing else in the kernel reaches what is reached through a parameter, or through those that are
    /// computed from it, which LLVM takes for the same pointer.
    pub(super) fn is_unaliased(&self, parameter: usize) -> bool {
        let computed =
            |known: &Known| matches!(known, Known::Distance { base, .. } if *base == parameter);
        let mut all = self.unaliased.iter().zip(&self.known).enumerate();
        all.all(|(index, (unaliased, known))| *unaliased || index != parameter && !computed(known))
    }

    /// What both claim, of sites of one shape.
    pub(super) fn meet(&self, other: &Self) -> Self {
        fn equal<T: PartialEq + Copy, const N: usize>(
            one: &[Option<T>; N],
            other: &[Option<T>; N],
        ) -> [Option<T>; N] {
            std::array::from_fn(|index| one[index].filter(|_| one[index] == other[index]))
        }
        let both = |(one, other): (&bool, &bool)| *one && *other;
        Self {
            extents: self
                .extents
                .iter()
                .zip(&other.extents)
                .map(|(one, other)| equal(one, other))
                .collect(),
            known: host_values::known_by_both(&self.known, &other.known),
            unaliased: self
                .unaliased
                .iter()
                .zip(&other.unaliased)
                .map(both)
                .collect(),
            disjoint: self
                .disjoint
                .iter()
                .zip(&other.disjoint)
                .map(|(one, other)| one.iter().zip(other).map(both).collect())
                .collect(),
            tables: self.tables.clone(),
            unread: self
                .unread
                .iter()
                .filter(|parameters| other.unread.contains(parameters))
                .cloned()
                .collect(),
            most_threads: self.most_threads.max(other.most_threads),
            block: equal(&self.block, &other.block),
            largest: equal(&self.largest, &other.largest),
            dynamic_shared_bytes: (self.dynamic_shared_bytes)
                .zip(other.dynamic_shared_bytes)
                .map(|(one, other)| one.max(other)),
        }
    }
}

/// A group of the plan, or a launch that waits, with what it passes to the kernel of its specialisation key.
#[derive(Clone, Debug)]
pub(super) struct Site<'ctx> {
    pub(super) specialisation: SpecialisationKey<'ctx>,
    /// Where the host takes each parameter from.
    pub(super) sources: Vec<FusedParameter>,
    /// The allocations that nobody reads afterwards, with the parameters that lead there.
    pub(super) unread: Vec<(BufferId, Vec<usize>)>,
}

/// A parameter while the specialisation key is being put together.
pub(super) struct Parameter<'ctx> {
    pub(super) source: FusedParameter,
    pub(super) ty: Type<'ctx>,
    pub(super) identity: Option<ValueId>,
    /// See [`ParameterShape::of_body`].
    pub(super) of_body: Option<(usize, usize)>,
}

impl<'ctx> Parameter<'ctx> {
    /// A 32-bit number that the host computes.
    pub(super) fn number(module: &Module<'ctx>, source: FusedParameter) -> Self {
        Self {
            source,
            ty: Type::integer(module, 32),
            identity: None,
            of_body: None,
        }
    }
}

/// What specialisation keys are written from.
#[derive(Clone, Copy)]
pub(super) struct SiteReader<'a, 'ctx> {
    pub(super) program: &'a Program<'ctx>,
    pub(super) graph: &'a LaunchGraph,
    pub(super) models: &'a [KernelModel],
    pub(super) module: &'a Module<'ctx>,
    pub(super) group: &'a FusionGroup,
    pub(super) members: &'a [(&'a Launch, &'a KernelModel)],
    /// The members' bodies.
    pub(super) bodies: &'a [&'a Segment<'ctx>],
    pub(super) optimisations: &'a BTreeSet<Optimisation>,
    /// Arguments that the queue may lead elsewhere: each is a parameter of its own.
    pub(super) moved: &'a BTreeSet<(LaunchId, usize)>,
    /// Launches of the group follow each other in one kernel.
    pub(super) persistent: Option<&'a PersistentLoop>,
    /// By which arguments of which members loads read only what their own thread writes.
    pub(super) own_reads: Option<&'a OwnReads>,
}

impl<'ctx> SiteReader<'_, 'ctx> {
    /// The site of the group.
    pub(super) fn read(&self) -> Site<'ctx> {
        let (mut parameters, places) = self.parameters();
        let launches: Vec<&Launch> = self.members.iter().map(|(launch, _)| *launch).collect();
        let (graph, group) = (self.graph, self.group);
        let partitions = partitions::places(self.module, graph, group, &launches, &mut parameters);
        let grids = self.grids(&mut parameters);
        let remapped = self.remapped(&mut parameters);
        let rearranged = self.rearranged(&mut parameters);
        let phases = self.phases(&mut parameters);
        let last_block = self.last_block(&mut parameters);
        let recomputed = self.recomputed(&mut parameters);
        let tested_loop = self.tested_loop(&mut parameters);
        let sources: Vec<&FusedParameter> = parameters
            .iter()
            .map(|parameter| &parameter.source)
            .collect();
        let tables = self.tables(&places);
        let members = self.members;
        let mut facts = PointerFacts::of(
            self.program,
            (graph, self.models),
            group,
            members,
            &sources,
            &tables,
        );
        if let Some(persistent) = self.persistent {
            facts.hold_across_launches(persistent);
        }
        let all = 0..parameters.len();
        let pointers = 0..parameters.len() + tables.len();
        // Of what is written before a grid-wide barrier LLVM is to know nothing behind it.
        let in_shared = group.recomputation.is_some();
        let tells_apart = self.is_fused() && !group.is_cooperative() && !in_shared;
        let own_reads = self.own_reads_of_bodies();
        // That two pointers lead apart holds on both sides of a barrier, but in a loop not for the next iteration's.
        let leads_apart = tells_apart || own_reads.any();
        let disjoint = |one, other| leads_apart && facts.disjoint(one, other);
        let unread = dead_stores::parameters_into(
            &group.unread_afterwards,
            self.members,
            |member, argument, offset_bytes| {
                let pieces = self.bodies.get(member)?.pieces().iter();
                let own =
                    |piece: &Piece| piece.argument == argument && piece.begin() == offset_bytes;
                let own = pieces.copied().enumerate().find(|(_, piece)| own(piece));
                let (own, piece) = own?;
                let formal = self.members[member].1.formals.get(argument)?;
                // What a struct that is passed whole leads to is not told by it.
                let told = formal.is_pointer || !piece.is_whole();
                told.then(|| places[member][own])
            },
        );
        let mut led_to: Vec<Vec<usize>> = Vec::new();
        for (_, parameters) in &unread {
            if !led_to.contains(parameters) {
                led_to.push(parameters.clone());
            }
        }
        let facts = Facts {
            extents: match self.optimisations.contains(&Optimisation::HostConstants) {
                true => (0..self.members.len()).map(|at| self.extents(at)).collect(),
                false => vec![[None; 6]; self.members.len()],
            },
            known: self.known(&parameters),
            // The last block loads what others stored.
            unaliased: all
                .clone()
                .map(|index| tells_apart && group.last_block.is_none() && facts.unaliased(index))
                .collect(),
            disjoint: pointers
                .clone()
                .map(|one| pointers.clone().map(|other| disjoint(one, other)).collect())
                .collect(),
            tables: tables
                .iter()
                .map(|table| (table.parameter, table.distance_bytes))
                .collect(),
            unread: led_to,
            most_threads: self.most_threads(),
            block: self.block_extents(),
            largest: match group.is_cooperative() || group.is_partial() || in_shared {
                false => clipped::largest_extents(graph, &self.keepers()),
                true => [None; 3],
            },
            dynamic_shared_bytes: self.dynamic_shared_bytes(),
        };
        let bodies = self.bodies.iter().zip(places);
        let members = self.members.iter().zip(&group.members).zip(bodies);
        let shape = Shape {
            members: members
                .map(|(((_, model), member), (body, places))| MemberShape {
                    kernel: model.id,
                    barrier_before: member.barrier_before,
                    pieces: body.pieces().to_vec(),
                    places,
                })
                .collect(),
            segments: group.segments_in_order(),
            parameters: parameters
                .iter()
                .map(|parameter| ParameterShape {
                    ty: parameter.ty,
                    of_body: parameter.of_body,
                    variable: match parameter.source {
                        FusedParameter::VariableAddress { variable } => Some(variable),
                        _ => None,
                    },
                })
                .collect(),
            partitions,
            grids,
            remapped,
            rearranged,
            phases,
            own_reads,
            last_block,
            recomputed,
            tested_loop,
            variant: group.variant.clone(),
            untouched: group
                .overlap
                .as_ref()
                .map(|overlap| overlap.untouched.clone()),
        };
        Site {
            specialisation: SpecialisationKey { shape, facts },
            sources: parameters
                .into_iter()
                .map(|parameter| parameter.source)
                .collect(),
            unread,
        }
    }

    /// The extents of a member's grid and block that the host knows. Members whose threads stay where
    /// they are have one shape, by the plan's guards.
    fn extents(&self, position: usize) -> [Option<u32>; 6] {
        let (launch, _) = self.members[position];
        let mut own = host_values::extents(self.graph, launch);
        let stays = |member: usize| self.group.members[member].map == ThreadMap::Identity;
        // Phases have grids of their own.
        let common = match self.group.is_cooperative() {
            false => 0..6,
            true => 3..6,
        };
        let of_all_blocks = self.group.of_all_blocks();
        if self.has_several_blocks() || self.group.recomputation.is_some() {
            return own;
        }
        if position < of_all_blocks && (0..of_all_blocks).all(stays) {
            for (other, _) in &self.members[..of_all_blocks] {
                let other = host_values::extents(self.graph, other);
                own[common.clone()]
                    .iter_mut()
                    .zip(other[common.clone()].iter().copied())
                    .for_each(|(own, other)| *own = own.or(other));
            }
        }
        own
    }

    /// Phases have blocks of several shapes, all of which are known.
    fn has_several_blocks(&self) -> bool {
        (0..self.members.len()).any(|position| self.group.own_block(self.graph, position).is_some())
    }

    /// The most dynamic shared memory that a member with such asks for.
    fn dynamic_shared_bytes(&self) -> Option<u64> {
        let members = self.members.iter();
        let asked = members.filter(|(_, model)| model.dynamic_shared);
        let mut bytes = asked.map(|(launch, _)| {
            let bytes = self.graph.values[launch.shared_bytes.0].constant?;
            u64::try_from(bytes).ok()
        });
        bytes.try_fold(0, |most, bytes| Some(most.max(bytes?)))
    }

    /// What the host knows of each parameter.
    fn known(&self, parameters: &[Parameter]) -> Vec<Known> {
        let passed: Vec<_> = parameters
            .iter()
            .map(|parameter| {
                let (member, own) = parameter.of_body?;
                // A structure in memory is no pointer, even where its first field is one.
                let in_memory = self.bodies[member].in_memory(own).is_some();
                let piece = self.bodies[member].pieces()[own];
                let passed = (self.members[member].0, piece, parameter.ty);
                (!in_memory).then_some(passed)
            })
            .collect();
        let on = |optimisation| self.optimisations.contains(&optimisation);
        let constants = on(Optimisation::HostConstants);
        host_values::known(
            self.graph,
            &passed,
            constants,
            // What others are computed from is always there.
            on(Optimisation::PointerRebasing) && !self.group.is_partial(),
        )
    }

    /// The fused kernel's parameters, and for each body which of them it gets. An argument that
    /// is known to be equal to one before it is passed once.
    fn parameters(&self) -> (Vec<Parameter<'ctx>>, Vec<Vec<usize>>) {
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut places = Vec::new();
        for (member, ((launch, _), body)) in self.members.iter().zip(self.bodies).enumerate() {
            let mut list = Vec::new();
            let own = body.pieces().iter().zip(body.own_types());
            for (own, (piece, ty)) in own.enumerate() {
                let identity = self.identity(launch, *piece, ty);
                let in_memory = body.in_memory(own);
                let equal = parameters.iter().position(|before| {
                    let pointee = |(member, at): (usize, usize)| self.bodies[member].in_memory(at);
                    self.is_fused()
                        && !self.group.is_partial()
                        && identity.is_some()
                        && before.identity == identity
                        && before.ty == ty
                        && before.of_body.and_then(pointee) == in_memory
                        && self.may_be_one(before, *piece)
                });
                list.push(equal.unwrap_or_else(|| {
                    parameters.push(Parameter {
                        source: self.source(launch.id, *piece, ty),
                        ty,
                        identity,
                        of_body: Some((member, own)),
                    });
                    parameters.len() - 1
                }));
            }
            for variable in body.variables() {
                let source = FusedParameter::VariableAddress {
                    variable: *variable,
                };
                let equal = parameters.iter().position(|before| before.source == source);
                list.push(equal.unwrap_or_else(|| {
                    parameters.push(Parameter {
                        source,
                        ty: Type::pointer(self.module, 0),
                        identity: None,
                        of_body: None,
                    });
                    parameters.len() - 1
                }));
            }
            places.push(list);
        }
        (parameters, places)
    }

    /// The pointers that members load from behind their pointers, each once.
    fn tables(&self, places: &[Vec<usize>]) -> Vec<Table> {
        let mut tables: BTreeMap<(usize, u32), Vec<(LaunchId, usize)>> = BTreeMap::new();
        let members = self.members.iter().zip(self.bodies).zip(places);
        for (((launch, model), body), places) in members {
            let targets = model.accesses.iter();
            let loads: BTreeSet<(usize, u32)> = targets
                .filter_map(|access| access.target.behind_argument())
                .collect();
            for (argument, distance_bytes) in loads {
                let mut formals = model.formals.iter().skip(argument);
                let is_pointer = formals.next().is_some_and(|formal| formal.is_pointer);
                let mut pieces = body.pieces().iter();
                let own = pieces.position(|piece| piece.argument == argument);
                if let Some(own) = own.filter(|_| is_pointer) {
                    let table = tables.entry((places[own], distance_bytes)).or_default();
                    table.push((launch.id, argument));
                }
            }
        }
        let tables = tables.into_iter();
        tables
            .map(|((parameter, distance_bytes), loads)| Table {
                parameter,
                distance_bytes,
                loads,
            })
            .collect()
    }

    /// Equal ids mean bit-equal parameters of one type.
    fn identity(&self, launch: &Launch, piece: Piece, ty: Type) -> Option<ValueId> {
        let known = launch.arguments.get(piece.argument)?;
        let identity = match piece.offset_bytes {
            None => known.identity,
            Some(offset_bytes) => {
                let bits = 8 * ty.access_bytes(self.module);
                let mut pieces = known.pieces.iter();
                let field = pieces.find(|field| {
                    field.offset_bytes == offset_bytes && u64::from(field.bits) == bits
                });
                field.map(|field| field.value)
            }
        };
        identity.filter(|_| !self.moved.contains(&(launch.id, piece.argument)))
    }

    /// Whether a parameter may stand for one more piece of its value. The queue may lead the pointers elsewhere that
    /// are arguments, and not those in structs.
    fn may_be_one(&self, before: &Parameter, piece: Piece) -> bool {
        let field = |(member, own): (usize, usize)| !self.bodies[member].pieces()[own].is_whole();
        self.moved.is_empty() || before.of_body.is_some_and(field) != piece.is_whole()
    }

    /// Where the host takes a piece of an argument from.
    fn source(&self, launch: LaunchId, piece: Piece, ty: Type) -> FusedParameter {
        let argument = piece.argument;
        match piece.offset_bytes {
            None => FusedParameter::Argument { launch, argument },
            Some(offset_bytes) => FusedParameter::Field {
                launch,
                argument,
                offset_bytes,
                bytes: ty.access_bytes(self.module) as u32,
            },
        }
    }

    /// The extents of its blocks, where they are known when compiling.
    fn block_extents(&self) -> [Option<u64>; 3] {
        let in_rows = self.group.members.iter().any(|member| match member.map {
            ThreadMap::Blocks { threads, .. } => threads != BlockThreads::Same,
            ThreadMap::Identity
            | ThreadMap::Clipped
            | ThreadMap::Remapped { .. }
            | ThreadMap::Runs { .. }
            | ThreadMap::Elements { .. }
            | ThreadMap::Tiles { .. }
            | ThreadMap::Rearranged { .. } => false,
        });
        if in_rows || !self.is_fused() {
            return [None; 3];
        }
        let keepers = self.keepers();
        if self.has_several_blocks() {
            let leader = self.members[self.group.leader_of_blocks(self.graph)].0;
            return leader
                .block
                .map(|extent| clipped::constant_extent(self.graph, extent));
        }
        if self.group.is_partial() {
            // Of whichever members are there.
            return std::array::from_fn(|axis| {
                let extent =
                    |launch: &&Launch| clipped::constant_extent(self.graph, launch.block[axis]);
                let first = keepers.first().and_then(extent);
                first.filter(|_| keepers.iter().all(|launch| extent(launch) == first))
            });
        }
        std::array::from_fn(|axis| {
            let mut launches = keepers.iter();
            launches.find_map(|launch| clipped::constant_extent(self.graph, launch.block[axis]))
        })
    }

    /// The launches whose blocks are those of the fused kernel, or some of them.
    fn keepers(&self) -> Vec<&Launch> {
        let members = self.members.iter().zip(&self.group.members);
        let members = members.take(self.group.of_all_blocks());
        let kept = members.filter(|(_, planned)| !planned.map.places_anew());
        kept.map(|((launch, _), _)| *launch).collect()
    }

    /// A single launch is built for all launches of its kernel, so that nothing of one site is in it, unless those of a
    /// loop follow each other in one kernel.
    fn is_fused(&self) -> bool {
        self.members.len() > 1 || self.persistent.is_some() || self.group.tested_loop.is_some()
    }

    /// The most threads a block with which the guards let the fused kernel run. It is always told,
    /// so that ptxas never gives a thread more registers than such a block has.
    fn most_threads(&self) -> u32 {
        let in_rows = |position: &usize| match self.group.members[*position].map {
            ThreadMap::Blocks { threads, .. } => threads != BlockThreads::Same,
            ThreadMap::Identity
            | ThreadMap::Clipped
            | ThreadMap::Remapped { .. }
            | ThreadMap::Runs { .. }
            | ThreadMap::Elements { .. }
            | ThreadMap::Tiles { .. }
            | ThreadMap::Rearranged { .. } => false,
        };
        let moved = |position: &usize| self.group.members[*position].map.places_anew();
        let all: Vec<usize> = (0..self.group.of_all_blocks())
            .filter(|position| !moved(position))
            .collect();
        // Block partitions in rows have blocks of their own size each, the others one in common, of which any may be absent
        // in part of the groups.
        let partitions = match all.iter().any(in_rows) {
            _ if self.group.is_partial() => all.iter().map(|member| vec![*member]).collect(),
            true => self.group.partitions(),
            false => vec![all],
        };
        let partitions = match self.has_several_blocks() {
            true => vec![vec![self.group.leader_of_blocks(self.graph)]],
            false => partitions,
        };
        let most = partitions
            .iter()
            .map(|partition| self.most_threads_of(partition));
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
        let tested = members.iter().filter_map(|position| {
            let threads = self.graph.block_threads(self.members[*position].0);
            most_tested(&self.group.guards, &threads)
        });
        let limits = members
            .iter()
            .filter_map(|position| self.members[*position].1.max_threads);
        let limit = limits.chain(known).chain(tested).min();
        limit.unwrap_or(MOST_THREADS).clamp(1, MOST_THREADS)
    }
}

/// The most threads of a block with which guards let a group run.
fn most_tested(guards: &[Guard], threads: &Expression<ValueId>) -> Option<u32> {
    guards.iter().find_map(|guard| match guard {
        Guard::Holds {
            condition: Condition::LessEqual(left, Expression::Constant(most)),
            ..
        } if left == threads => u32::try_from(*most).ok(),
        _ => None,
    })
}

/// The most threads that any block has.
const MOST_THREADS: u32 = 1024;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A site of a kernel with so many threads a block.
    pub(in crate::codegen::fused_kernels::fuse) fn site(most_threads: u32) -> Site<'static> {
        let shape = Shape {
            members: Vec::new(),
            segments: Vec::new(),
            parameters: Vec::new(),
            partitions: Vec::new(),
            grids: Vec::new(),
            remapped: Vec::new(),
            rearranged: Vec::new(),
            phases: Vec::new(),
            own_reads: OwnReads::default(),
            last_block: None,
            recomputed: None,
            tested_loop: None,
            variant: Variant::default(),
            untouched: None,
        };
        let facts = Facts {
            extents: Vec::new(),
            known: Vec::new(),
            unaliased: Vec::new(),
            disjoint: Vec::new(),
            tables: Vec::new(),
            unread: Vec::new(),
            most_threads,
            block: [None; 3],
            largest: [None; 3],
            dynamic_shared_bytes: Some(0),
        };
        let specialisation = SpecialisationKey { shape, facts };
        Site {
            specialisation,
            sources: Vec::new(),
            unread: Vec::new(),
        }
    }

    #[test]
    fn a_base_is_unaliased_where_all_that_are_computed_from_it_are() {
        let from = |base| Known::Distance { base, bytes: 64 };
        let mut facts = site(32).specialisation.facts;
        facts.known = vec![Known::Nothing, from(0), Known::Nothing, from(2), from(2)];
        facts.unaliased = vec![true, false, true, true, true];
        let unaliased: Vec<bool> = (0..5)
            .map(|parameter| facts.is_unaliased(parameter))
            .collect();
        // The first is read only, say, and what is written behind it is looked at by other threads.
        assert_eq!(unaliased, [false, false, true, true, true]);
    }
}
