//! Groups that run in place of members of a cooperative launch that a run refuses.
//!
//! Where a test of a group fails, its members run at the place of the last one, in host order, or in part where the host leaves the
//! group before that one; that much is judged of every group (`host`). What they are called with was kept at their own
//! places. So there the launches of the program as it is written follow each other with nothing in between, and a group of
//! some that are neighbours is right in their place if it is a right group of the program, whatever the guards of the refused
//! one say. Each is judged as one: all of them together are a plan, without anything else that the plan at hand has.
//!
//! What is left to be asked here is that they are neighbours, and that such a group is one launch or its originals and
//! nothing else: nothing of it waits in the queue, runs without other members of its own, or where the host leaves it.

use super::super::{Refusal, verify_within};
use crate::dependence::Guard;
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId};
use crate::schedule::{FusionGroup, FusionPlan};

/// What speaks against the fallbacks of a plan's groups.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    plan: &FusionPlan,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut instead = FusionPlan::default();
    for group in &plan.groups {
        if let (Some(what), Some(first)) = (malformed(group), group.members.first()) {
            let (first, what) = (first.launch, what.to_owned());
            refusals.push(Refusal::Fallback { first, what });
        }
        instead.groups.extend(group.fallback.iter().cloned());
    }
    if !refusals.is_empty() || instead.groups.is_empty() {
        return refusals;
    }
    match verify_within(graph, kernels, instead, 0) {
        Ok(_) => Vec::new(),
        Err(refusals) => refusals,
    }
}

/// What a fallback cannot be.
fn malformed(whole: &FusionGroup) -> Option<&'static str> {
    if whole.fallback.is_empty() {
        return None;
    }
    if !whole.is_cooperative() {
        return Some("there is no launch with grid-wide barriers that may be refused");
    }
    if whole.tested_loop.is_some() {
        return Some("launches of a loop that runs ahead do not move");
    }
    if whole.is_partial() {
        return Some("the launch runs with some of its members");
    }
    let launches = |group: &FusionGroup| group.members.iter().map(|member| member.launch).collect();
    let all: Vec<LaunchId> = launches(whole);
    let mut from = 0;
    for group in &whole.fallback {
        let own: Vec<LaunchId> = launches(group);
        if own.len() < 2 {
            return Some("a group of one launch stands for it");
        }
        let behind = all.get(from..).unwrap_or_default();
        let begin = behind.windows(own.len()).position(|window| window == own);
        let Some(begin) = begin else {
            return Some("members do not follow each other in the launch that may be refused");
        };
        from += begin + own.len();
        let is_one_launch = !group.is_cooperative()
            && !group.is_partial()
            && !group.names_front()
            && group.issued_before.is_empty()
            && group.overlap.is_none()
            && group.tested_loop.is_none()
            && group.fallback.is_empty();
        if !is_one_launch {
            return Some("a group is more than one launch or its originals");
        }
        // That is asked where a launch is kept, of the guards of the whole.
        let asks = |guard: &&Guard| matches!(guard, Guard::DeviceMemory { .. });
        let mut questions = group.guards.iter().filter(asks);
        if !questions.all(|question| whole.guards.contains(question)) {
            return Some("nobody asks what memory a launch touches where it is kept");
        }
    }
    None
}
