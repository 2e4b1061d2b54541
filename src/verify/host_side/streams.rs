//! Members on several streams.
//!
//! Launches of one stream run in their order, which is what the proof of a group keeps. Of launches on
//! streams that are only equal where a test says so, the fused kernel runs behind that test. The originals
//! run at the place of the last member where it fails: in the order of the program, which is that of every
//! stream; but what the streams had between them to wait for each other, a wait of the host or an
//! operation of a stream that others wait for, may not have been passed.

use super::super::host::Host;
use super::super::waits::may_order;
use super::super::{Refusal, Site};
use crate::dependence::Guard;
use crate::launch::{NodeId, Stream};

/// What speaks against the streams of a group's members, of which some pass `between`.
pub(in crate::verify) fn refusals(
    host: &Host<'_>,
    guards: &[Guard],
    members: &[Site<'_>],
    between: &[NodeId],
) -> Vec<Refusal> {
    let Some(first) = members.first() else {
        return Vec::new();
    };
    if members
        .iter()
        .any(|site| site.launch.stream == Stream::Unknown)
    {
        let (first, second) = (first.launch.id, first.launch.id);
        return vec![Refusal::DifferentStream { first, second }];
    }
    let stream_of = |launch| {
        let mut sites = members.iter();
        let site = sites.find(|site| site.launch.id == launch);
        site.map(|site| site.launch.stream)
    };
    // Streams that are the first member's, found until no test finds more.
    let mut equal = vec![first.launch.stream];
    loop {
        let found = guards.iter().find_map(|guard| {
            let Guard::SameStream { first, second } = guard else {
                return None;
            };
            let (one, other) = (stream_of(*first)?, stream_of(*second)?);
            match (equal.contains(&one), equal.contains(&other)) {
                (true, false) => Some(other),
                (false, true) => Some(one),
                _ => None,
            }
        });
        match found {
            Some(stream) => equal.push(stream),
            None => break,
        }
    }
    if let Some(other) = members
        .iter()
        .find(|site| !equal.contains(&site.launch.stream))
    {
        let (first, second) = (first.launch.id, other.launch.id);
        return vec![Refusal::DifferentStream { first, second }];
    }
    if equal.len() == 1 {
        return Vec::new();
    }
    let passed = between.iter().copied();
    let ordering = passed.filter(|node| members.iter().any(|site| may_order(host, site, *node)));
    ordering
        .map(|node| Refusal::PassesWait {
            launch: first.launch.id,
            node,
            what: "what one stream may wait for another by".to_string(),
        })
        .collect()
}
