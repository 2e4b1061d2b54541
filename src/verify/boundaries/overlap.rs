//! Launches that begin before the one before them in their stream has ended.
//!
//! # The theory
//! A stream runs its launches one after the other, but for a launch that is made with leave to begin early: that one may
//! begin as soon as each block of the launch before it has told it to or has ended. What it does before its wait may then
//! come before anything that the launch before it does; behind its wait that launch is done, and all can see what it wrote.
//!
//! *The chain rule.* A wait is for the launch right before, and for no other. But a version waits on every way to its
//! end ([`early_access`]), so that when it is done the launch before it is done as well, and so on up to one that began
//! in its turn. And it tells its successor to begin no sooner than behind its own wait, or not at all, when its blocks have
//! ended. So whoever begins early behind a version finds all done that came before that one, and runs beside the one
//! right before it alone.
//!
//! *Which launch is the one right before* is found here by walking back from the launch on all ways at once up to the first
//! that says something of a stream: a launch that the plan names, or anything else, and the start of the function is
//! anything. Launches that wait for their batch are none that is known, and what waits is issued before any other launch, so
//! that nothing does behind a named one. Launches that wait for their group may be issued anywhere on the way. The program keeps in mind which of the named launches it made last, if CUDA took it, and forgets it at the end of
//! each block of the host that ends with anything else; so it never takes one for the last that was not, unless anything
//! else stands between the two in one block, which the walk finds.
//!
//! *What may come before the wait* are loads from places that the launches named never write, in whatever iteration. They
//! read what they would have read in their turn, as copies, sets and the host stand further up, behind which all
//! of the stream's launches begin in their turn. Stores stay behind the wait, so that no load of the launch before
//! sees them.

use super::super::host::Host;
use super::super::place::{Overlap as Places, Place, Values};
use super::super::{Refusal, Site, Sites};
use crate::kernel::{AccessKind, DependencyWaits, KernelModel, Target};
use crate::launch::{
    BEHIND_POINTER, HostBlockId, Launch, LaunchGraph, LaunchId, NodeId, NodeKind, Stream,
};
use crate::schedule::{FusionGroup, FusionPlan, Overlap};
use std::collections::BTreeSet;

/// What speaks against a group beginning early.
pub(in crate::verify) fn refusals(
    host: &Host<'_>,
    kernels: &[KernelModel],
    sites: &Sites<'_>,
    plan: &FusionPlan,
    (group, members): (&FusionGroup, &[Site<'_>]),
) -> Vec<Refusal> {
    let Some(overlap) = &group.overlap else {
        return Vec::new();
    };
    let graph = host.graph;
    let launch = members[0].launch.id;
    let refuse = |what: &str| {
        let what = what.to_owned();
        vec![Refusal::NotOverlapped { launch, what }]
    };
    let [site] = members else {
        return refuse("its group has other members");
    };
    if graph.operation_of(launch).is_some() {
        return refuse("it is a set or a copy");
    }
    if group.is_cooperative() {
        return refuse("all its blocks are on the device at once");
    }
    if site.model.prints || site.model.asynchronous_copies {
        return refuse("its kernel prints or copies asynchronously");
    }
    let mut waiting = plan
        .batched_regions
        .iter()
        .flat_map(|region| &region.statements);
    if waiting.any(|statement| statement.launch == launch) {
        return refuse("it waits for its batch");
    }
    let stays = match site.launch.stream {
        Stream::Default => true,
        Stream::Handle(value) => graph.values[value.0].varies_in.is_none(),
        Stream::Unknown => false,
    };
    if !stays {
        return refuse("its stream may be another one each time");
    }
    let way = WayBack {
        graph,
        kernels,
        plan,
        own: &overlap.predecessors,
    };
    let mut refusals = Vec::new();
    let met = way.met_before(site.node);
    if way.passes_pending(site.node) {
        return refuse("a member of a group that waits for others may be issued right before it");
    }
    let mut before = Vec::new();
    for predecessor in &overlap.predecessors {
        let predecessor = *predecessor;
        let known = match sites.get(&predecessor).map(Vec::as_slice) {
            Some([(_, known)]) => *known,
            _ => {
                refusals.push(Refusal::UnknownLaunch {
                    launch: predecessor,
                });
                continue;
            }
        };
        if known.stream != site.launch.stream {
            refusals.push(Refusal::DifferentStream {
                first: predecessor,
                second: launch,
            });
        } else if !met.contains(&predecessor) {
            refusals.push(Refusal::NotRightBefore {
                launch,
                predecessor,
            });
        } else {
            before.push(known);
        }
    }
    refusals.extend(loads(graph, kernels, site, overlap, &before));
    refusals
}

/// Targets of a plan from which a launch may not load before these are done.
fn loads(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    site: &Site<'_>,
    overlap: &Overlap,
    before: &[&Launch],
) -> Vec<Refusal> {
    let values = Values::constants(graph);
    let launch = site.launch.id;
    let mut refusals = Vec::new();
    for target in &overlap.untouched {
        let refuse = |what: &str| Refusal::LoadsTooEarly {
            launch,
            target: format!("{target:?}"),
            what: what.to_owned(),
        };
        let named = match target {
            Target::Argument { offset_bytes, .. } => *offset_bytes < BEHIND_POINTER,
            Target::Global(_) => true,
            Target::Shared(_) | Target::Unknown | Target::UnknownShared => false,
        };
        if !named {
            refusals.push(refuse("it is not known where that is"));
            continue;
        }
        let mut own = site.model.accesses.iter();
        if own.any(|access| {
            access.target == *target
                && (access.kind != AccessKind::Read || access.volatile || access.asynchronous)
        }) {
            refusals.push(refuse("it does more there than load"));
        }
        let place = Place::of_target(graph, &values, site.launch, target);
        for earlier in before {
            let model = earlier.kernel.and_then(|kernel| kernels.get(kernel.0));
            let written = model.is_none_or(|model| {
                let mut accesses = model.accesses.iter();
                accesses.any(|access| {
                    access.kind != AccessKind::Read
                        && !matches!(access.target, Target::Shared(_) | Target::UnknownShared)
                        && {
                            let other = Place::of_target(graph, &values, earlier, &access.target);
                            place.overlap(&other) != Places::Disjoint
                        }
                })
            });
            if written {
                let what = format!("launch {} may write there", earlier.id.0);
                refusals.push(refuse(&what));
            }
        }
    }
    refusals
}

/// The ways of the host program back from a launch.
struct WayBack<'a> {
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    plan: &'a FusionPlan,
    own: &'a [LaunchId],
}

impl WayBack<'_> {
    /// The launches that may be the last before a node.
    fn met_before(&self, node: NodeId) -> BTreeSet<LaunchId> {
        let mut met = BTreeSet::new();
        let block = self.graph.nodes[node.0].block;
        let nodes = &self.graph.blocks[block.0].nodes;
        let place = nodes.iter().position(|other| *other == node).unwrap_or(0);
        let mut seen: BTreeSet<HostBlockId> = BTreeSet::new();
        let mut work = vec![(block, place)];
        while let Some((block, end)) = work.pop() {
            let nodes = &self.graph.blocks[block.0].nodes[..end];
            let says = nodes.iter().rev().find(|node| self.says_something(**node));
            if let Some(node) = says {
                if let NodeKind::Launch(launch) = &self.graph.nodes[node.0].kind
                    && self.own.contains(&launch.id)
                    && self.is_issued_there(launch)
                {
                    met.insert(launch.id);
                }
                continue;
            }
            for (index, from) in self.graph.blocks.iter().enumerate() {
                let from_id = HostBlockId(index);
                if from.successors.contains(&block) && seen.insert(from_id) {
                    work.push((from_id, from.nodes.len()));
                }
            }
        }
        met
    }

    /// Whether a node may give a stream something to do, or wait for it.
    fn says_something(&self, node: NodeId) -> bool {
        match &self.graph.nodes[node.0].kind {
            NodeKind::ErrorCheck | NodeKind::Output { .. } | NodeKind::MayThrow { .. } => false,
            NodeKind::Launch(_)
            | NodeKind::Copy { .. }
            | NodeKind::Set { .. }
            | NodeKind::Library { .. }
            | NodeKind::Allocation { .. }
            | NodeKind::Free { .. }
            | NodeKind::Synchronise(_)
            | NodeKind::StreamOperation
            | NodeKind::HostAccess { .. }
            | NodeKind::Opaque { .. } => true,
        }
    }

    /// A plain launch of a kernel that is known, at its own place.
    fn is_issued_there(&self, launch: &Launch) -> bool {
        let model = launch.kernel.and_then(|kernel| self.kernels.get(kernel.0));
        let mut groups = self.plan.groups.iter();
        let mut statements = self
            .plan
            .batched_regions
            .iter()
            .flat_map(|region| &region.statements);
        !launch.special
            && self.graph.operation_of(launch.id).is_none()
            && model.is_some_and(|model| model.opaque.is_empty())
            && !statements.any(|statement| statement.launch == launch.id)
            && !groups.any(|group| {
                let mut members = group.members.iter();
                group.members.len() > 1 && members.any(|member| member.launch == launch.id)
            })
    }

    /// Whether some way back from a node meets a member of a group that has not met the group's last one since.
    fn passes_pending(&self, node: NodeId) -> bool {
        self.plan.groups.iter().any(|group| {
            let Some((last, pending)) = group.members.split_last() else {
                return false;
            };
            let is = |node: &NodeId, id: LaunchId| {
                matches!(&self.graph.nodes[node.0].kind, NodeKind::Launch(launch) if launch.id == id)
            };
            let block = self.graph.nodes[node.0].block;
            let nodes = &self.graph.blocks[block.0].nodes;
            let place = nodes.iter().position(|other| *other == node).unwrap_or(0);
            let mut seen: BTreeSet<HostBlockId> = BTreeSet::new();
            let mut work = vec![(block, place)];
            while let Some((block, end)) = work.pop() {
                let mut settled = false;
                for node in self.graph.blocks[block.0].nodes[..end].iter().rev() {
                    settled = is(node, last.launch);
                    if settled {
                        break;
                    }
                    if pending.iter().any(|member| is(node, member.launch)) {
                        return true;
                    }
                }
                if settled {
                    continue;
                }
                for (index, from) in self.graph.blocks.iter().enumerate() {
                    let from_id = HostBlockId(index);
                    if from.successors.contains(&block) && seen.insert(from_id) {
                        work.push((from_id, from.nodes.len()));
                    }
                }
            }
            false
        })
    }
}

/// What a version of a kernel does too early, or never, by what was found in its code. `may_load` says of what the code
/// loads from whether it may do so before it waits.
pub fn early_access(
    found: &DependencyWaits,
    may_load: impl Fn(&Target) -> bool,
) -> Option<Refusal> {
    if found.ends_unwaited {
        return Some(Refusal::NeverWaits);
    }
    if found.triggers_before {
        return Some(Refusal::TriggersTooEarly);
    }
    if let Some(what) = found.other_before.first() {
        let what = what.clone();
        return Some(Refusal::WaitsTooLate { what });
    }
    let mut before = found.before.iter();
    let early = before.find(|access| {
        access.kind != AccessKind::Read || access.volatile || !may_load(&access.target)
    })?;
    let does = match early.kind {
        AccessKind::Read => "loads from",
        _ => "writes to",
    };
    let what = format!("{does} {:?}", early.target);
    Some(Refusal::WaitsTooLate { what })
}
