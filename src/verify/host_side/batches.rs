//! Regions whose launches are issued in batches.
//!
//! Two things are shown. Between a launch that waits and any other point of the host program at which
//! a statement of the region can still be met, the host does nothing that a kernel could see or be
//! seen by; where none can be met, code generation issues what waits. And the ranges that the plan
//! has for a statement hold every byte that its launches may touch outside constant memory, so that
//! the order of conflicting launches is kept by whoever keeps the order of overlapping ranges.

use super::super::device::{assumptions, configuration, guarded_values};
use super::super::formula::{Assumptions, Formula};
use super::super::host::reaches_host_memory;
use super::super::member::Member;
use super::super::place::{Place, Values};
use super::super::polynomial::{Polynomial, normal_form};
use super::super::{Refusal, Site, Sites, batch_phases, capture, expansion};
use crate::dependence::Guard;
use crate::kernel::{AccessKind, Columns, KernelModel, Target};
use crate::launch::{
    Awaited, HostBlockId, LaunchGraph, LaunchId, NodeId, NodeKind, Operand, ValueId,
};
use crate::schedule::{BatchedRegion, BatchedStatement, FusionPlan, ThreadMap};
use std::collections::{BTreeMap, BTreeSet};

/// What speaks against the regions of a plan.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    sites: &Sites<'_>,
    plan: &FusionPlan,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut met = BTreeSet::new();
    for region in &plan.batched_regions {
        for statement in &region.statements {
            let launch = statement.launch;
            let refuse = |what: &str| Refusal::NotBatched {
                launch,
                what: what.to_owned(),
            };
            if !met.insert(launch) {
                refusals.push(refuse("it is in more than one place of the plan"));
            }
            let group = plan.groups.iter().find(|group| {
                let mut members = group.members.iter();
                members.any(|member| member.launch == launch)
            });
            let (launches, group_guards) = match group {
                None => (vec![launch], &[][..]),
                Some(group) => {
                    let mut maps = group.members.iter().map(|member| &member.map);
                    let in_blocks = maps.any(|map| matches!(map, ThreadMap::Blocks { .. }));
                    if in_blocks && !region.for_graphs {
                        refusals.push(refuse("its launches have ranges of blocks"));
                    }
                    if group.is_partial() {
                        refusals.push(refuse("its group may run with some of its launches"));
                    }
                    if group
                        .members
                        .last()
                        .is_none_or(|last| last.launch != launch)
                    {
                        refusals.push(refuse("it is not at the place of its group"));
                    }
                    let members = group.members.iter().map(|member| member.launch);
                    (members.collect(), group.guards.as_slice())
                }
            };
            let mut operations = launches.iter();
            if operations.any(|launch| graph.operation_of(*launch).is_some()) {
                refusals.push(refuse("a set or a copy is part of it"));
            }
            match members(kernels, sites, &launches) {
                Ok(members) => {
                    refusals.extend(untold(graph, statement, group_guards, &members));
                }
                Err(refusal) => refusals.push(refusal),
            }
        }
        refusals.extend(batch_phases::refusals(
            graph,
            kernels,
            sites,
            (plan, region),
        ));
        let mut seen = Vec::new();
        for statement in &region.statements {
            seen.extend(sees_host_memory(graph, kernels, sites, plan, statement));
        }
        refusals.extend(passed(graph, sites, region, seen.first().copied()));
    }
    refusals
}

/// A launch of a statement that may touch memory of the host, whatever the statement asks.
fn sees_host_memory(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    sites: &Sites<'_>,
    plan: &FusionPlan,
    statement: &BatchedStatement,
) -> Option<LaunchId> {
    let mut groups = plan.groups.iter();
    let own = groups.find(|group| {
        let mut members = group.members.iter();
        members.any(|member| member.launch == statement.launch)
    });
    let launches = match own {
        Some(group) => group.members.iter().map(|member| member.launch).collect(),
        None => vec![statement.launch],
    };
    let Ok(members) = members(kernels, sites, &launches) else {
        return Some(statement.launch);
    };
    let mut members = members.iter();
    let found = members.find(|site| reaches_host_memory(graph, site, &statement.guards));
    found.map(|site| site.launch.id)
}

fn members<'a>(
    kernels: &'a [KernelModel],
    sites: &Sites<'a>,
    launches: &[LaunchId],
) -> Result<Vec<Site<'a>>, Refusal> {
    let mut members = Vec::new();
    for id in launches {
        let refuse = |what: String| Refusal::NotBatched { launch: *id, what };
        let Some([(node, launch)]) = sites.get(id).map(Vec::as_slice) else {
            return Err(Refusal::UnknownLaunch { launch: *id });
        };
        let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
        let Some(model) = model.filter(|model| Some(model.id) == launch.kernel) else {
            return Err(Refusal::UnknownKernel { launch: *id });
        };
        if launch.special {
            return Err(Refusal::SpecialLaunch { launch: *id });
        }
        if let Some((reason, _)) = model.opaque.first() {
            return Err(refuse(format!("its kernel {reason}")));
        }
        if let Some((reason, _)) = model.unfusable.first() {
            return Err(refuse(format!("its kernel {reason}")));
        }
        if model.prints {
            return Err(refuse("its kernel prints".to_owned()));
        }
        members.push(Site {
            node: *node,
            launch,
            model,
            by_iteration: None,
        });
    }
    Ok(members)
}

/// Bytes that the launches of a statement may touch and that the plan does not have.
fn untold(
    graph: &LaunchGraph,
    statement: &BatchedStatement,
    group_guards: &[Guard],
    sites: &[Site<'_>],
) -> Vec<Refusal> {
    let guards: Vec<Guard> = statement
        .guards
        .iter()
        .chain(group_guards)
        .cloned()
        .collect();
    let captured = capture::refusal(graph, (&guards, true), sites);
    let values = guarded_values(graph, &guards, sites);
    let members: Vec<_> = sites
        .iter()
        .map(|site| Member::new(graph, &values, site.launch, site.model))
        .collect();
    let invalid = members
        .iter()
        .filter_map(|member| configuration(&guards, member));
    let mut refusals: Vec<_> = captured.into_iter().chain(invalid).collect();
    let assumptions = assumptions(&guards, &values, &members);
    for member in &members {
        let launch = member.launch.id;
        for index in 0..member.model.preconditions.len() {
            let formula = member.precondition(&values, index);
            if !formula.is_some_and(|formula| assumptions.imply(&formula)) {
                refusals.push(Refusal::PreconditionUnchecked { launch, index });
            }
        }
        let mut targets: BTreeMap<&Target, bool> = BTreeMap::new();
        for access in &member.model.accesses {
            *targets.entry(&access.target).or_default() |= access.kind != AccessKind::Read;
        }
        // It is the only one that waits, and in order.
        if statement.persistent.is_some() {
            continue;
        }
        for (target, writes) in targets {
            if matches!(target, Target::Shared(_) | Target::UnknownShared) {
                continue;
            }
            let place = Place::of_target(graph, &values, member.launch, target);
            if place.is_constant_memory(graph) {
                continue;
            }
            let told = statement.touches.iter().any(|touch| {
                let range = &touch.range;
                let same = match (target, range.operand) {
                    (
                        Target::Argument {
                            argument,
                            offset_bytes,
                        },
                        Operand::Argument {
                            argument: told,
                            offset_bytes: at,
                            bits: 64,
                            ..
                        },
                    ) => range.launch == launch && *argument == told && *offset_bytes == at,
                    _ => false,
                };
                let covers = || {
                    let (low, high) = member.footprint(&values, target)?;
                    let mut value = |value: &_| Some(values.resolve(*value));
                    let told_low = normal_form(&range.low_bytes, &mut value)?;
                    let told_high = normal_form(&range.high_bytes, &mut value)?;
                    let below = Formula::less_equal(&told_low, &low)?;
                    let above = Formula::less_equal(&high, &told_high)?;
                    let columns = touch.columns.as_ref();
                    let in_columns = || {
                        columns.is_none_or(|told| {
                            let own = member.columns(&values, target);
                            own.is_some_and(|own| covers_columns(told, &own, &values, &assumptions))
                        })
                    };
                    Some(assumptions.imply(&below) && assumptions.imply(&above) && in_columns())
                };
                same && (touch.writes || !writes) && covers() == Some(true)
            });
            if !told {
                let what = format!("{target:?}");
                refusals.push(Refusal::BatchedTouchesMore { launch, what });
            }
        }
    }
    refusals.extend(expansion::refusals(statement, &members, &values));
    refusals
}

/// Whether columns hold all of those that a kernel keeps to: the rows are the same, and they are no narrower.
fn covers_columns(
    told: &Columns<ValueId>,
    own: &[Polynomial; 3],
    values: &Values<'_>,
    assumptions: &Assumptions,
) -> bool {
    let mut value = |value: &ValueId| Some(values.resolve(*value));
    let told = [&told.pitch_bytes, &told.low_bytes, &told.high_bytes];
    let [Some(pitch), Some(low), Some(high)] = told.map(|each| normal_form(each, &mut value))
    else {
        return false;
    };
    let [own_pitch, own_low, own_high] = own;
    let holds = |bound: Option<Formula>| bound.is_some_and(|bound| assumptions.imply(&bound));
    pitch == *own_pitch
        && holds(Formula::less_equal(&low, own_low))
        && holds(Formula::less_equal(own_high, &high))
}

/// A place of the host program: before the node of this number of a block, or at the block's end.
type Point = (HostBlockId, usize);

/// Nodes between a statement of the region and another that must not be passed. `seen` is a launch that may touch memory
/// of the host.
fn passed(
    graph: &LaunchGraph,
    sites: &Sites<'_>,
    region: &BatchedRegion,
    seen: Option<LaunchId>,
) -> Vec<Refusal> {
    let mut own: BTreeSet<NodeId> = BTreeSet::new();
    let mut scope: Option<(usize, Vec<usize>)> = None;
    for statement in &region.statements {
        let launch = statement.launch;
        let Some([(node, _)]) = sites.get(&launch).map(Vec::as_slice) else {
            continue;
        };
        let block = graph.nodes[node.0].block;
        let mut around = graph.loops_around(block);
        let too_few = around.len() < region.outside_loops;
        around.truncate(region.outside_loops);
        let here = (graph.blocks[block.0].function, around);
        if too_few || scope.as_ref().is_some_and(|scope| *scope != here) {
            let what = "the statements of its region are not in one part of the program".to_owned();
            return vec![Refusal::NotBatched { launch, what }];
        }
        scope = Some(here);
        own.insert(*node);
    }
    let Some((function, around)) = scope else {
        return Vec::new();
    };
    for block in &region.drained_before {
        let known = graph.blocks.get(block.0);
        let apart = known.is_some_and(|known| known.function == function)
            && own.iter().all(|node| graph.nodes[node.0].block != *block);
        if !apart {
            return vec![Refusal::IssuedElsewhere { block: *block }];
        }
    }
    let header = around.last().map(|index| graph.loops[*index].header);
    // Every step from a point to the next, but those that enter the header.
    let mut steps: BTreeMap<Point, Vec<Point>> = BTreeMap::new();
    let mut back: BTreeMap<Point, Vec<Point>> = BTreeMap::new();
    for (index, block) in graph.blocks.iter().enumerate() {
        if block.function != function {
            continue;
        }
        let id = HostBlockId(index);
        let inside = (0..block.nodes.len()).map(|at| ((id, at), (id, at + 1)));
        let next = block
            .successors
            .iter()
            // Nothing waits behind the beginning of a block where all is issued.
            .filter(|next| Some(**next) != header && !region.drained_before.contains(next));
        let outside = next.map(|next| ((id, block.nodes.len()), (*next, 0)));
        for (from, to) in inside.chain(outside) {
            steps.entry(from).or_default().push(to);
            back.entry(to).or_default().push(from);
        }
    }
    let place = |node: &NodeId, after: usize| {
        let block = graph.nodes[node.0].block;
        let mut nodes = graph.blocks[block.0].nodes.iter();
        nodes
            .position(|each| each == node)
            .map(|at| (block, at + after))
    };
    let waiting = closure(own.iter().filter_map(|node| place(node, 1)), &steps);
    let leading = closure(own.iter().filter_map(|node| place(node, 0)), &back);
    let mut refusals = Vec::new();
    for point @ (block, at) in &waiting {
        let Some(node) = graph.blocks[block.0].nodes.get(*at) else {
            continue;
        };
        if !leading.contains(&(*block, at + 1)) || own.contains(node) {
            continue;
        }
        assert!(leading.contains(point), "a step back from a leading point");
        let what = match &graph.nodes[node.0].kind {
            NodeKind::Launch(launch) if graph.operation_of(launch.id).is_some() => {
                "a set or a copy"
            }
            NodeKind::Launch(launch) if !launch.special => continue,
            NodeKind::ErrorCheck => continue,
            // Where an exception leaves the call, what waits is issued.
            NodeKind::MayThrow { .. } => continue,
            // The host cannot touch memory of the device alone.
            NodeKind::HostAccess { ordered: false } if seen.is_none() => continue,
            // The queue makes up for it once it has issued what waits.
            NodeKind::Synchronise(Awaited::Device | Awaited::Stream(_)) => continue,
            NodeKind::Launch(_) => "a launch of a special kind",
            NodeKind::Copy { .. } => "a copy",
            NodeKind::Set { .. } => "a set",
            NodeKind::Library { what, .. }
            | NodeKind::Opaque { what }
            | NodeKind::Output { what } => what,
            NodeKind::Allocation { .. } => "an allocation",
            NodeKind::Free { .. } => "a free",
            NodeKind::Synchronise(_) => "a synchronisation",
            NodeKind::StreamOperation => "a stream or event operation",
            NodeKind::HostAccess { .. } => "an access of the host to memory that kernels may see",
        };
        refusals.push(Refusal::PassedByBatches {
            node: *node,
            what: what.to_owned(),
        });
    }
    refusals
}

/// All points that are met from some.
fn closure(
    from: impl Iterator<Item = Point>,
    steps: &BTreeMap<Point, Vec<Point>>,
) -> BTreeSet<Point> {
    let mut met = BTreeSet::new();
    let mut work: Vec<Point> = from.collect();
    while let Some(point) = work.pop() {
        if met.insert(point) {
            work.extend(steps.get(&point).into_iter().flatten());
        }
    }
    met
}
