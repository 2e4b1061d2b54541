//! The bodies of all kernels that fused kernels are made from.

use super::excerpt::Excerpts;
use super::indices::Given;
use super::interleaved;
use super::segment::Segment;
use crate::build::Optimisation;
use crate::codegen::CodegenError;
use crate::kernel::{KernelModel, Target};
use crate::launch::{Launch, LaunchGraph};
use crate::program::{KernelId, Program};
use crate::schedule::{Arrangement, FusionGroup, ThreadMap};
use inkwell::module::Module;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// The bodies of kernels, each prepared once.
#[derive(Default)]
pub(super) struct Segments<'ctx> {
    /// `None` for one that depends on something that only its own image has.
    prepared: HashMap<SegmentKey, Option<Segment<'ctx>>>,
}

/// A kernel, the passes that its body went through, what it is given, whether its structs are taken apart, and what it
/// may load from before it waits, where it begins early.
pub(super) type SegmentKey = (KernelId, &'static str, Given, bool, Option<Vec<Target>>);

impl<'ctx> Segments<'ctx> {
    /// The bodies of a group's members; `None` when one cannot be had.
    pub(super) fn of_group<'p>(
        &mut self,
        (program, excerpts): (&'p Program<'ctx>, &mut Excerpts<'p, 'ctx>),
        (graph, group): (&LaunchGraph, &FusionGroup),
        members: &[(&Launch, &KernelModel)],
        optimisations: &BTreeSet<Optimisation>,
    ) -> Result<Option<Vec<SegmentKey>>, CodegenError> {
        let order = group.segments_in_order();
        let by_field = by_field(members.len(), optimisations);
        let mut keys = Vec::new();
        for (position, (_, model)) in members.iter().enumerate() {
            let form = form_of(position, &order, optimisations);
            let given = match group.members[position].map {
                _ if group.own_block(graph, position).is_some() => Given::Place,
                _ if group.is_cooperative() => Given::Block,
                _ if position >= group.of_all_blocks() => Given::Place,
                _ if group.recomputation.is_some() && position == 0 => Given::Place,
                ThreadMap::Identity | ThreadMap::Blocks { .. } => Given::Nothing,
                ThreadMap::Clipped => Given::Grid,
                ThreadMap::Rearranged {
                    threads: Arrangement::FirstWarp,
                    ..
                } => Given::PlaceInWarp,
                ThreadMap::Remapped { .. }
                | ThreadMap::Runs { .. }
                | ThreadMap::Elements { .. }
                | ThreadMap::Tiles { .. }
                | ThreadMap::Rearranged { .. } => Given::Place,
            };
            let untouched = group.overlap.as_ref();
            let untouched = untouched.map(|overlap| overlap.untouched.clone());
            let key = (model.id, form, given, by_field, untouched);
            if let Entry::Vacant(entry) = self.prepared.entry(key.clone()) {
                let kernel = &program.kernels[model.id.0];
                let untouched = key.4.as_deref();
                let from = (program, &mut *excerpts);
                let segment = Segment::prepare(from, kernel, form, given, by_field, untouched);
                entry.insert(segment?);
            }
            if self.get(&key).is_none() {
                return Ok(None);
            }
            keys.push(key);
        }
        Ok(Some(keys))
    }

    pub(super) fn get(&self, key: &SegmentKey) -> Option<&Segment<'ctx>> {
        self.prepared.get(key)?.as_ref()
    }
}

/// Whether the structs of a group's members are taken apart. A launch by itself is one of the kernel as it is, too.
pub(super) fn by_field(members: usize, optimisations: &BTreeSet<Optimisation>) -> bool {
    members > 1 && optimisations.contains(&Optimisation::ArgumentPromotion)
}

/// Passes that make bodies alike which shall run interleaved.
pub(super) fn form_of(
    position: usize,
    segments: &[Vec<usize>],
    optimisations: &BTreeSet<Optimisation>,
) -> &'static str {
    let mut segments = segments.iter();
    let own = segments.find(|segment| segment.contains(&position));
    match optimisations.contains(&Optimisation::CodeMotion)
        && own.is_some_and(|segment| segment.len() > 1)
    {
        true => interleaved::CANONICAL_FORM,
        false => "",
    }
}

/// Links modules into another one. To link takes as long as both modules are large, so that neighbours of
/// equal size come together first.
pub(super) fn link_all<'ctx>(
    module: &Module<'ctx>,
    mut all: Vec<Module<'ctx>>,
) -> Result<(), CodegenError> {
    let llvm = |message: inkwell::support::LLVMString| CodegenError::Llvm(message.to_string());
    while all.len() > 1 {
        let mut pairs = all.into_iter();
        let mut linked = Vec::new();
        while let Some(first) = pairs.next() {
            if let Some(second) = pairs.next() {
                first.link_in_module(second).map_err(llvm)?;
            }
            linked.push(first);
        }
        all = linked;
    }
    let last = all.into_iter().next();
    last.map_or(Ok(()), |last| module.link_in_module(last).map_err(llvm))
}
