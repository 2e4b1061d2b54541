//! Why two launches in sequence stay unfused: of all that keeps them so, what a person would name.
//!
//! First how control gets from one to the other, since alternatives of one `if` never meet; then a kernel of which
//! nothing is known; then data that moves in between, by a copy or by the host; and last what their own code or
//! shapes, a wait or a clock would need.

use super::group::{Judge, may_be_inside};
use super::groups::{Groups, Refusal, stand_beside};
use super::obstacle::{Candidate, modelled, obstacle, rejection};
use crate::build::Fusion;
use crate::diagnostics::{Location, Rejection, RejectionReason};
use crate::launch::{LaunchGraph, NodeId};

/// What of the two could take part in a group by itself.
pub(super) type Both<'b, 'a> = (
    &'b Result<Candidate<'a>, Rejection>,
    &'b Result<Candidate<'a>, Rejection>,
);

/// The reason for a report why two launches in sequence stay unfused.
pub(super) fn why_unfused<'a>(
    judge: &mut Judge<'a>,
    candidates: Both<'_, 'a>,
    (source, sink): (NodeId, NodeId),
    groups: &Groups<'a>,
    refusals: &[Refusal],
) -> Rejection {
    let location = judge.graph.nodes[sink.0].location.clone();
    if judge.options.fusion == Fusion::Off {
        return judge.disabled(&location);
    }
    if let Some(found) = control_flow(judge, (source, sink)) {
        return obstacle_all_the_same(judge, candidates, (source, sink)).unwrap_or(found);
    }
    let opaque = |found: &Rejection| found.reason == RejectionReason::OpaqueKernel;
    for found in [candidates.0, candidates.1] {
        if let Err(found) = found
            && opaque(found)
        {
            return found.clone();
        }
    }
    if judge.order.in_step(source, sink)
        && let Some(between) = judge.order.between(source, sink)
        && let Some(found) = data_moves(judge, source, &between)
    {
        return found;
    }
    let (first, second) = match candidates {
        (Err(found), _) | (_, Err(found)) => return found.clone(),
        (Ok(first), Ok(second)) => (*first, *second),
    };
    let told = |mut found: Rejection| {
        if found.detail.is_empty() {
            found.detail = format!("nodes {} and {}", source.0, sink.0);
        }
        found
    };
    let independent = judge.edges(source, sink).is_empty() && stand_beside(judge.options);
    let verdict = match independent {
        true => judge.may_stand_beside(&[first], &[second], |member| member.node.0),
        false => judge.may_join(&[&[first]], second),
    };
    if let Err(found) = verdict {
        return told(found);
    }
    if independent {
        let whole = [source, sink].map(|launch| groups.group_of(launch));
        let [mut earlier, mut later] = whole;
        if earlier.last().map(|member| member.node) > later.last().map(|member| member.node) {
            std::mem::swap(&mut earlier, &mut later);
        }
        let partition = |member: &Candidate| groups.partition(member.node);
        if let Err(found) = judge.may_stand_beside(earlier, later, partition) {
            return told(found);
        }
        let limit = judge.options.max_fusions;
        if limit.is_some_and(|most| groups.fused() >= most) {
            let message = String::from("the number of fusions is limited on the command line");
            return rejection(RejectionReason::Disabled, message, &location);
        }
        let message = String::from("too many other launches stand between their groups");
        return rejection(RejectionReason::NotConvex, message, &location);
    }
    let local = judge
        .edges(source, sink)
        .iter()
        .any(|edge| may_be_inside(judge.graph, edge))
        || judge.may_meet_by_iteration(source, sink);
    if !local {
        // A dependence across blocks that a test at run time could rule out is still no reason to
        // join two launches that share nothing then.
        let (one, two) = (&first.model.display_name, &second.model.display_name);
        if let Some(edge) = judge.edges(source, sink).first() {
            let (reason, message) = match edge.reason {
                Some(reason) => (reason, edge.because.to_string()),
                None => (
                    RejectionReason::MayAlias,
                    format!(
                        "`{one}` and `{two}` share data only where their pointers are equal, which a run may tell"
                    ),
                ),
            };
            return Rejection {
                reason,
                message,
                detail: edge.relation.to_string(),
                location: edge.location.clone(),
            };
        }
        return rejection(
            RejectionReason::NotSimilar,
            format!("`{one}` and `{two}` do not depend on each other"),
            &location,
        );
    }
    // The two alone could be one; something else of their groups stands against it.
    // Best what was said of the other's group by itself, then of several with it.
    let concerns = |refusal: &&Refusal| {
        let mut places = refusal.places.iter();
        places.any(|place| groups.together(*place, source))
    };
    let alone = |refusal: &&Refusal| refusal.places.len() == 1 && concerns(refusal);
    let refusal = refusals.iter().find(alone);
    let refusal = refusal.or_else(|| refusals.iter().find(concerns));
    match refusal.or(refusals.first()) {
        Some(refusal) => refusal.found.clone(),
        None => rejection(
            RejectionReason::NotConvex,
            String::from("another launch of their groups stands between them"),
            &location,
        ),
    }
}

/// What keeps launches apart that could be one in spite of the conditions that they stand under.
fn obstacle_all_the_same<'a>(
    judge: &mut Judge<'a>,
    candidates: Both<'_, 'a>,
    (source, sink): (NodeId, NodeId),
) -> Option<Rejection> {
    let nodes = [source, sink];
    if !judge.order.follows(source, sink) || !judge.order.have_one_beginning(nodes) {
        return None;
    }
    let (Ok(first), Ok(second)) = candidates else {
        return None;
    };
    let between = judge.order.between(source, sink).unwrap_or_default();
    if let Some(found) = data_moves(judge, source, &between) {
        return Some(found);
    }
    judge.conditional = true;
    let verdict = match judge.edges(source, sink).is_empty() && stand_beside(judge.options) {
        true => judge.may_stand_beside(&[*first], &[*second], |member| member.node.0),
        false => judge.may_join(&[&[*first]], *second),
    };
    judge.conditional = false;
    verdict.err()
}

/// How launches that are not always launched one after the other come to be so.
fn control_flow(judge: &Judge<'_>, (source, sink): (NodeId, NodeId)) -> Option<Rejection> {
    if judge.order.in_step(source, sink) {
        return None;
    }
    let graph = judge.graph;
    let names = [source, sink].map(|node| name(judge, node));
    let [one, two] = [source, sink].map(|node| &graph.blocks[graph.nodes[node.0].block.0]);
    let message = if one.function != two.function {
        format!(
            "{} and {} are launched by different functions of the host",
            names[0], names[1]
        )
    } else if let Some(inner) = loop_of_one(graph, (source, sink)) {
        let names = if inner == source {
            [&names[0], &names[1]]
        } else {
            [&names[1], &names[0]]
        };
        format!(
            "{} is launched in a host loop that {} is not in",
            names[0], names[1]
        )
    } else if !judge.order.leads_to(source, sink) {
        format!(
            "{} and {} are alternatives of one `if` or `switch`: of the two only one is launched",
            names[0], names[1]
        )
    } else if !judge.order.always_before(source, sink) {
        format!(
            "{} stands under a condition that {} does not stand under, so that it is not always launched before it",
            names[0], names[1]
        )
    } else {
        format!(
            "{} and {} are not launched equally often",
            names[0], names[1]
        )
    };
    let location = &graph.nodes[sink.0].location;
    Some(rejection(RejectionReason::ControlFlow, message, location))
}

/// The one of two launches that stands in a loop in which the other does not.
fn loop_of_one(graph: &LaunchGraph, (source, sink): (NodeId, NodeId)) -> Option<NodeId> {
    let loops = |node: NodeId| graph.loops_around(graph.nodes[node.0].block);
    let (own, theirs) = (loops(source), loops(sink));
    if own.iter().any(|each| !theirs.contains(each)) {
        return Some(source);
    }
    theirs
        .iter()
        .any(|each| !own.contains(each))
        .then_some(sink)
}

/// The first of some operations by which data moves that a launch touches: a copy, or the host's own hand.
pub(super) fn data_moves(
    judge: &Judge<'_>,
    launch: NodeId,
    between: &[NodeId],
) -> Option<Rejection> {
    let moves = |found: &Rejection| {
        matches!(
            found.reason,
            RejectionReason::CopyBetween | RejectionReason::HostAccess
        )
    };
    obstacles(judge, launch, between).into_iter().find(moves)
}

/// What of some operations a launch cannot move below.
pub(super) fn obstacles(judge: &Judge<'_>, launch: NodeId, between: &[NodeId]) -> Vec<Rejection> {
    let Some(moved) = modelled(judge.graph, judge.kernels, launch) else {
        return Vec::new();
    };
    let nodes = between.iter();
    let found = nodes.filter_map(|node| {
        obstacle(
            judge.graph,
            judge.kernels,
            judge.memory(),
            judge.options,
            &moved,
            *node,
        )
    });
    found.collect()
}

/// A launch's kernel, for people.
pub(super) fn name(judge: &Judge<'_>, node: NodeId) -> String {
    match modelled(judge.graph, judge.kernels, node) {
        Some(launch) => format!("`{}`", launch.model.display_name),
        None => {
            let location: &Location = &judge.graph.nodes[node.0].location;
            format!("the launch at {location}")
        }
    }
}
