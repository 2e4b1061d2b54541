//! Launches under conditions of their own in one group.
//!
//! Such a group runs as one kernel where all conditions held, which the program finds out at its last member;
//! elsewhere its launches run as they are written. So a group is only joined with another where this takes away
//! nothing that fused without it: single launches, and a launch that surely follows a group.

use super::group::Judge;
use super::groups::Groups;
use super::obstacle::Candidate;
use crate::launch::NodeId;

/// Joins what is not in step, the nearest first, but for launches of which `stays` says that they stay as they are.
pub(super) fn join_conditional<'a>(
    groups: &mut Groups<'a>,
    judge: &mut Judge<'a>,
    stays: impl Fn(NodeId) -> bool,
) {
    judge.conditional = true;
    let most = judge.options.max_fusions.unwrap_or(usize::MAX);
    let is_open =
        |group: &[Candidate]| !group.is_empty() && !group.iter().any(|member| stays(member.node));
    let mut order: Vec<usize> = (0..groups.members.len())
        .filter(|group| is_open(&groups.members[*group]))
        .collect();
    order.sort_by_key(|group| groups.members[*group].last().map(|member| member.node));
    let mut before: Vec<usize> = Vec::new();
    for home in order {
        let single = groups.members[home].len() == 1;
        let tried = before.iter().rev().take(MOST_TRIED).copied();
        for source in tried.filter(|_| single).collect::<Vec<usize>>() {
            let earlier = groups.members[source].clone();
            let last = groups.members[home][0];
            let Some(place) = earlier.last() else {
                continue;
            };
            let takes_nothing =
                earlier.len() == 1 || judge.order.surely_follows(place.node, last.node);
            let too_many = earlier.len() == 1 && groups.fused() >= most;
            let near = last.node.0 - place.node.0 <= FARTHEST;
            let new = !judge.order.in_step(place.node, last.node);
            if !takes_nothing || too_many || !near || !new {
                continue;
            }
            let depends = earlier
                .iter()
                .any(|member| !judge.edges(member.node, last.node).is_empty());
            let partition = |member: &Candidate| groups.partition(member.node);
            let in_same_blocks = || {
                earlier
                    .iter()
                    .all(|member| partition(member) == partition(place))
            };
            if depends && in_same_blocks() && judge.may_join(&[&earlier], last).is_ok() {
                groups.join(&[source], home);
                groups.settle_as_one(home);
            } else if !depends && judge.may_stand_beside(&earlier, &[last], partition).is_ok() {
                groups.join(&[source], home);
            } else {
                continue;
            }
            before.retain(|group| *group != source);
            break;
        }
        before.push(home);
    }
    judge.conditional = false;
}

/// So many groups are tried for each launch.
const MOST_TRIED: usize = 4;

/// A launch does not move past more operations than this.
const FARTHEST: usize = 128;
