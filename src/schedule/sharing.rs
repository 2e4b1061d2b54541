//! Groups that load from the same memory: one of them that holds both loads it once.

use super::obstacle::Candidate;
use crate::kernel::{Access, AccessKind, Target};
use crate::launch::{BufferId, Root, ValueId};
use crate::math::affine::{Axis, Variable};
use std::collections::{BTreeSet, HashMap};

/// What launches load from, as the host knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Loaded {
    /// An allocation.
    Buffer(BufferId),
    /// What lies behind a pointer of this value.
    Pointer(ValueId),
    /// Lines of what begins at a pointer of this value, of which threads that follow each other take parts so
    /// many bytes apart, with others between them: fields of an array of structs.
    Lines(ValueId, i64),
}

/// Everything that members load from by their arguments and none of them changes, and lines of which they load
/// parts, whoever changes others.
pub(super) fn loaded(members: &[Candidate<'_>]) -> BTreeSet<Loaded> {
    let (mut read, mut changed) = (BTreeSet::new(), BTreeSet::new());
    for member in members {
        for access in &member.model.accesses {
            let Target::Argument {
                argument,
                offset_bytes,
            } = &access.target
            else {
                continue;
            };
            let piece = member.launch.pointer_piece(*argument, *offset_bytes);
            let memory = piece.map(|piece| match &piece.pointer {
                Some(pointer) => match pointer.root {
                    Root::Buffer(buffer) => Loaded::Buffer(buffer),
                    Root::Value(value) => Loaded::Pointer(value),
                },
                None => Loaded::Pointer(piece.value),
            });
            if let (AccessKind::Read, Some(piece), Some(distance)) =
                (access.kind, piece, gapped(access))
            {
                read.insert(Loaded::Lines(piece.value, distance));
            }
            match access.kind {
                AccessKind::Read => read.extend(memory),
                _ => changed.extend(memory),
            }
        }
    }
    read.difference(&changed).copied().collect()
}

/// How far apart threads that follow each other along x are in what they touch, where others are between them.
fn gapped(access: &Access) -> Option<i64> {
    let subscript = access.subscript.as_ref()?;
    let own = |(_, variable): &&(i64, Variable)| *variable == Variable::Thread(Axis::X);
    let (distance, _) = subscript.terms.iter().find(own)?;
    let distance = distance.checked_abs()?;
    (i64::from(access.size_bytes) < distance && distance <= LINE_BYTES).then_some(distance)
}

/// What is farther apart than this shares no line.
const LINE_BYTES: i64 = 128;

/// Groups by what they load.
#[derive(Default)]
pub(super) struct Sharers {
    /// For each memory the groups that load it, the latest last.
    groups: HashMap<Loaded, Vec<usize>>,
}

/// So many groups are tried for each.
const MOST_TRIED: usize = 4;

impl Sharers {
    /// The latest groups that load one of these.
    pub(super) fn nearest(&self, loaded: &BTreeSet<Loaded>) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for memory in loaded {
            let groups = self.groups.get(memory).into_iter().flatten();
            found.extend(groups.rev().take(MOST_TRIED));
        }
        found.sort_unstable_by(|one, other| other.cmp(one));
        found.dedup();
        found.truncate(MOST_TRIED);
        found
    }

    /// Adds a group that is later than all others.
    pub(super) fn enter(&mut self, group: usize, loaded: BTreeSet<Loaded>) {
        for memory in loaded {
            self.groups.entry(memory).or_default().push(group);
        }
    }

    /// Takes a group out that has become part of another.
    pub(super) fn leave(&mut self, group: usize, loaded: &BTreeSet<Loaded>) {
        for memory in loaded {
            if let Some(groups) = self.groups.get_mut(memory) {
                groups.retain(|other| *other != group);
            }
        }
    }
}
