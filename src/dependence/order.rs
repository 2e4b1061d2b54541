//! Which pairs of operations need an edge of their own.
//!
//! A program of many launches has many more pairs than facts: what is far apart is ordered by what
//! stands in between. [`Past`] holds for one operation those that come before it on a path of edges
//! that always exist and that no fused launch can hold, because the path has an edge that
//! [`Link::Separates`] or more nodes than [`LARGEST_GROUP`]. A group that had both ends of such a
//! path would have to hold all of it: no member moves below an operation that it depends on.
//!
//! Invariant: every operation in between on such a path runs whenever the last one runs, in the same
//! iteration of the loops that it shares with it. Flow graphs are taken to be reducible, as those of
//! structured programs are.

use super::LARGEST_GROUP;
use crate::launch::{BufferId, HostBlockId, LaunchGraph};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Operations that are no further apart than this in host order always have their own edge, so that
/// a graph of a few launches is complete.
pub(super) const NEIGHBOURS: usize = 8;

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NumberSet {
    words: Vec<u64>,
}

impl NumberSet {
    pub(super) fn insert(&mut self, number: usize) {
        let word = number / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.words
            .get(number / 64)
            .is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    pub(super) fn unite(&mut self, other: &Self) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    fn unite_within(&mut self, other: &Self, limit: &Self) {
        let count = other.words.len().min(limit.words.len());
        if count > self.words.len() {
            self.words.resize(count, 0);
        }
        for ((word, more), limit) in self.words.iter_mut().zip(&other.words).zip(&limit.words) {
            *word |= more & limit;
        }
    }

    pub(super) fn keep(&mut self, other: &Self) {
        self.words.truncate(other.words.len());
        for (word, mask) in self.words.iter_mut().zip(&other.words) {
            *word &= mask;
        }
    }

    /// Its numbers, the largest first.
    pub(super) fn descending(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().rev().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = 63_u32.checked_sub(rest.leading_zeros())?;
                rest &= !(1 << bit);
                Some(at * 64 + bit as usize)
            })
        })
    }
}

impl FromIterator<usize> for NumberSet {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut set = Self::default();
        for number in numbers {
            set.insert(number);
        }
        set
    }
}

/// What the edges of a pair say about order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Link {
    /// No edge, or only such as a run may do without.
    Nothing,
    /// An edge that always exists; the two may be in one group.
    Orders,
    /// An edge that always exists, and no group can hold both ends.
    Separates,
}

/// The operations before one, on paths of edges that always exist.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    /// Those on a path that no group can hold.
    separated: NumberSet,
    /// The others, with the number of nodes on the longest path, both ends counted.
    near: HashMap<usize, usize>,
}

impl Past {
    /// Whether a path that no group can hold comes from `earlier`.
    pub(super) fn is_separated(&self, earlier: usize) -> bool {
        self.separated.contains(earlier)
    }

    /// Adds what an edge from `earlier` brings: `earlier` itself, and its own past where that goes
    /// on through it (`through`), as far as it is within `limit`. Edges must come from later
    /// operations first.
    pub(super) fn add(
        &mut self,
        earlier: usize,
        link: Link,
        through: Option<&Self>,
        limit: Option<&NumberSet>,
    ) {
        if link == Link::Nothing || self.is_separated(earlier) {
            return;
        }
        if let Some(past) = through {
            match limit {
                Some(limit) => self.separated.unite_within(&past.separated, limit),
                None => self.separated.unite(&past.separated),
            }
            for (node, length) in &past.near {
                if limit.is_none_or(|limit| limit.contains(*node)) {
                    self.extend_path(*node, length + 1, link);
                }
            }
        }
        self.extend_path(earlier, 2, link);
    }

    /// Adds the past of an operation that an edge leads from, without the operation itself.
    pub(super) fn add_past(&mut self, link: Link, past: &Self) {
        if link == Link::Nothing {
            return;
        }
        self.separated.unite(&past.separated);
        for (node, length) in &past.near {
            self.extend_path(*node, length + 1, link);
        }
    }

    fn extend_path(&mut self, node: usize, length: usize, link: Link) {
        if self.separated.contains(node) {
            return;
        }
        if link == Link::Separates || length > LARGEST_GROUP {
            self.near.remove(&node);
            self.separated.insert(node);
            return;
        }
        let known = self.near.entry(node).or_default();
        *known = length.max(*known);
    }
}

/// The allocations that an operation may touch.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchedBuffers {
    pub(super) reads: BTreeSet<BufferId>,
    pub(super) writes: BTreeSet<BufferId>,
    pub(super) reads_anything: bool,
    pub(super) writes_anything: bool,
}

/// Who touches which allocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Touchers {
    readers: BTreeMap<Option<BufferId>, NumberSet>,
    writers: BTreeMap<Option<BufferId>, NumberSet>,
    all_readers: NumberSet,
    all_writers: NumberSet,
}

impl Touchers {
    pub(super) fn insert(&mut self, node: usize, touched: &TouchedBuffers) {
        let known = |buffers: &BTreeSet<BufferId>, anything: bool| {
            let wild = anything.then_some(None);
            let named = buffers.iter().copied().map(Some);
            wild.into_iter().chain(named).collect::<Vec<_>>()
        };
        for buffer in known(&touched.reads, touched.reads_anything) {
            self.readers.entry(buffer).or_default().insert(node);
            self.all_readers.insert(node);
        }
        for buffer in known(&touched.writes, touched.writes_anything) {
            self.writers.entry(buffer).or_default().insert(node);
            self.all_writers.insert(node);
        }
    }

    /// Who may touch a common byte with what is touched so far, one of both writing.
    pub(super) fn conflicting(&self, touched: &TouchedBuffers) -> NumberSet {
        let mut found = NumberSet::default();
        let mut add = |table: &BTreeMap<Option<BufferId>, NumberSet>, buffer| {
            if let Some(nodes) = table.get(&buffer) {
                found.unite(nodes);
            }
        };
        if !touched.reads.is_empty() {
            add(&self.writers, None);
        }
        if !touched.writes.is_empty() {
            add(&self.writers, None);
            add(&self.readers, None);
        }
        for buffer in &touched.reads {
            add(&self.writers, Some(*buffer));
        }
        for buffer in &touched.writes {
            add(&self.writers, Some(*buffer));
            add(&self.readers, Some(*buffer));
        }
        if touched.reads_anything || touched.writes_anything {
            found.unite(&self.all_writers);
        }
        if touched.writes_anything {
            found.unite(&self.all_readers);
        }
        found
    }
}

/// The host's control flow, as far as it decides what always runs.
pub(super) struct Flow<'a> {
    graph: &'a LaunchGraph,
    /// When a walk over the dominator tree enters and leaves each block; zero where it never does.
    visits: Vec<(usize, usize)>,
    /// The loops around each block, innermost first.
    loops: Vec<Vec<usize>>,
    predecessors: Vec<Vec<HostBlockId>>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(graph: &'a LaunchGraph) -> Self {
        let mut predecessors = vec![Vec::new(); graph.blocks.len()];
        for (index, block) in graph.blocks.iter().enumerate() {
            for next in &block.successors {
                predecessors[next.0].push(HostBlockId(index));
            }
        }
        let mut children = vec![Vec::new(); graph.blocks.len()];
        for (index, block) in graph.blocks.iter().enumerate() {
            if let Some(above) = block.immediate_dominator {
                children[above.0].push(index);
            }
        }
        let mut visits = vec![(0, 0); graph.blocks.len()];
        let mut clock = 0;
        for function in &graph.functions {
            let mut work = vec![(function.entry.0, false)];
            while let Some((block, leave)) = work.pop() {
                clock += 1;
                if leave {
                    visits[block].1 = clock;
                } else if visits[block].0 == 0 {
                    visits[block].0 = clock;
                    work.push((block, true));
                    work.extend(children[block].iter().map(|child| (*child, false)));
                }
            }
        }
        let around = |block: usize| {
            let mut chain = Vec::new();
            let mut next = graph.blocks[block].innermost_loop;
            while let Some(index) = next.filter(|index| !chain.contains(index)) {
                chain.push(index);
                next = graph.loops[index].parent;
            }
            chain
        };
        Self {
            graph,
            visits,
            loops: (0..graph.blocks.len()).map(around).collect(),
            predecessors,
        }
    }

    /// The loops around a block, innermost first.
    pub(super) fn loops_around(&self, block: HostBlockId) -> &[usize] {
        &self.loops[block.0]
    }

    /// Whether `first` is on every way to `second`.
    pub(super) fn dominates(&self, first: HostBlockId, second: HostBlockId) -> bool {
        let (first, second) = (self.visits[first.0], self.visits[second.0]);
        first.0 > 0 && second.0 > 0 && first.0 <= second.0 && second.1 <= first.1
    }

    /// Whether a launch of `first` that waits to be issued with later ones, which run whenever it ran, has been issued
    /// before anything of `second` runs, wherever its group stands: `first` is not on every way to `second`, as it
    /// is to all launches of its group and to all that the launch waits across, and no loop brings the one
    /// after the other again. Members of a group that stand under conditions of their own are
    /// [`super::CONDITIONAL_NEIGHBOURS`].
    pub(super) fn never_waits(&self, first: HostBlockId, second: HostBlockId) -> bool {
        let function = self.graph.blocks[first.0].function;
        let around = &self.loops[second.0];
        !self.graph.functions[function].repeated
            && !self.dominates(first, second)
            && !self.loops[first.0]
                .iter()
                .any(|index| around.contains(index))
    }

    /// Whether what stands in `first` has run whenever what stands in `second` runs, and is in no
    /// loop that `second` is not in.
    pub(super) fn always_before(&self, first: HostBlockId, second: HostBlockId) -> bool {
        let around = &self.loops[second.0];
        self.loops[first.0]
            .iter()
            .all(|index| around.contains(index))
            && self.dominates(first, second)
    }

    /// The blocks from which a loop's next iteration starts.
    fn latches(&self, of_loop: usize) -> Vec<HostBlockId> {
        let header = self.graph.loops[of_loop].header;
        let mut latches = self.predecessors[header.0].clone();
        latches.retain(|block| self.loops[block.0].contains(&of_loop));
        latches
    }

    /// The blocks of a loop from which it is left, other than on ways that never come back to
    /// `header`.
    fn exits(&self, of_loop: usize, header: HostBlockId) -> Vec<HostBlockId> {
        let mut comes_back = vec![false; self.graph.blocks.len()];
        comes_back[header.0] = true;
        let mut work = vec![header];
        while let Some(block) = work.pop() {
            for before in &self.predecessors[block.0] {
                if !std::mem::replace(&mut comes_back[before.0], true) {
                    work.push(*before);
                }
            }
        }
        let mut exits = Vec::new();
        for (index, block) in self.graph.blocks.iter().enumerate() {
            if !self.loops[index].contains(&of_loop) {
                continue;
            }
            let mut left = block.successors.iter();
            if left.any(|next| !self.loops[next.0].contains(&of_loop) && comes_back[next.0]) {
                exits.push(HostBlockId(index));
            }
        }
        exits
    }

    /// Whether what stands in `block` runs in every iteration of `of_loop` that another one
    /// follows, and if it stands deeper, after everything else of its own innermost loop that runs
    /// before it in an iteration. `borders` remembers where iterations end.
    pub(super) fn ends_iterations(
        &self,
        block: HostBlockId,
        of_loop: usize,
        borders: &mut HashMap<(usize, usize), Vec<HostBlockId>>,
    ) -> bool {
        let Some(innermost) = self.loops[block.0].first().copied() else {
            return false;
        };
        let border = borders.entry((innermost, of_loop)).or_insert_with(|| {
            let mut border = self.latches(innermost);
            if innermost != of_loop {
                border.extend(self.exits(innermost, self.graph.loops[of_loop].header));
            }
            border
        });
        let header = self.graph.loops[innermost].header;
        border.iter().all(|end| {
            // A loop that tests at its head is left before anything of the iteration has run.
            self.dominates(block, *end)
                || *end == header && self.graph.blocks[header.0].nodes.is_empty()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        let set: NumberSet = [3, 64, 200, 65].into_iter().collect();
        assert_eq!(set.descending().collect::<Vec<_>>(), [200, 65, 64, 3]);
        assert!(set.contains(64) && !set.contains(63) && !set.contains(5000));
    }

    /// A chain of operations, each linked to the one before.
    fn chain(links: &[Link]) -> Vec<Past> {
        let mut pasts = vec![Past::default()];
        for (earlier, link) in links.iter().enumerate() {
            let mut past = Past::default();
            past.add(earlier, *link, Some(&pasts[earlier]), None);
            pasts.push(past);
        }
        pasts
    }

    #[test]
    fn a_separating_edge_parts_all_before_from_all_after() {
        let pasts = chain(&[Link::Orders, Link::Separates, Link::Orders]);
        let separated = |sink: usize| {
            (0..4)
                .filter(|n| pasts[sink].is_separated(*n))
                .collect::<Vec<_>>()
        };
        assert_eq!(separated(1), [0; 0]);
        assert_eq!(separated(2), [0, 1]);
        assert_eq!(separated(3), [0, 1]);
    }

    #[test]
    fn a_chain_longer_than_a_group_parts_its_ends() {
        let pasts = chain(&[Link::Orders; LARGEST_GROUP + 1]);
        assert!(!pasts[LARGEST_GROUP - 1].is_separated(0));
        assert!(pasts[LARGEST_GROUP].is_separated(0));
        assert!(pasts[LARGEST_GROUP + 1].is_separated(1));
        assert!(!pasts[LARGEST_GROUP + 1].is_separated(2));
    }

    #[test]
    fn conditional_edges_order_nothing() {
        let pasts = chain(&[Link::Separates, Link::Nothing]);
        assert!(pasts[1].is_separated(0));
        assert!(!pasts[2].is_separated(0) && !pasts[2].is_separated(1));
    }

    #[test]
    fn readers_of_one_buffer_do_not_meet() {
        let of = |reads: &[usize], writes: &[usize]| TouchedBuffers {
            reads: reads.iter().copied().map(BufferId).collect(),
            writes: writes.iter().copied().map(BufferId).collect(),
            ..TouchedBuffers::default()
        };
        let mut touchers = Touchers::default();
        touchers.insert(0, &of(&[7], &[1]));
        touchers.insert(1, &of(&[7], &[2]));
        let wild = TouchedBuffers {
            writes_anything: true,
            ..TouchedBuffers::default()
        };
        let meets = |touched: &TouchedBuffers, touchers: &Touchers| -> Vec<usize> {
            touchers.conflicting(touched).descending().collect()
        };
        assert_eq!(meets(&of(&[7], &[3]), &touchers), [0; 0]);
        assert_eq!(meets(&of(&[7, 1], &[2]), &touchers), [1, 0]);
        assert_eq!(meets(&wild, &touchers), [1, 0]);
        touchers.insert(2, &wild);
        assert_eq!(meets(&of(&[9], &[]), &touchers), [2]);
    }
}
