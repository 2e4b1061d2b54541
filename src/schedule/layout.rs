//! How the members of a group are laid out in the fused kernel: on top of each other in the same
//! blocks, or side by side in blocks of their own.
//!
//! # Names
//! A group is a list of *block partitions* side by side; the members of a block partition run one after
//! the other. One block partition is `v` (vertical), block partitions of one member each are `h`
//! (horizontal), and what lies between is told by its longest block partition and the number of block
//! partitions: `v2h3` has three block partitions, of which the longest has two members. Of several of
//! which that is true the one whose block partitions load most in common has the name alone, and the
//! others follow with a number: `v2h3.2`, `v2h3.3`.
//!
//! Where the members' domains differ, a group may also have `vmax` or `vmin`: one block partition over the threads of its
//! largest member, whose others run where an `if` lets them, or over those of its smallest, in which the
//! others run in a `for`. The one that `v` is already has no name of its own.
//!
//! # Which there are
//! Members that depend on each other stay in one block partition, so the finest layout has a block partition for each
//! connected part of the group. Parts may be in one block partition when the planner brought them together, for data that
//! flows or that both load, or when they have equal shapes. A layout is every split of the parts into such
//! block partitions that fits the device, up to [`MOST_PARTS`] parts; of layouts in which only equal launches change
//! places one stands for all. Groups of more parts have one sequence of layouts: two block partitions at a time become
//! one, first those that the planner brought together, then those of equal shape that load most in common,
//! until no two are left that may. No group lists more than [`MOST_LAYOUTS`].
//!
//! # Which is taken
//! By default the layout in which block partitions are what the planner brought together: vertical where data
//! flows from one to the other or both load the same, which then stays in registers and caches of one
//! block; horizontal for independent launches that share nothing, or that differ in shape (P3 of the
//! paper), where it only fills the device better and saves the launch; and horizontal, too, for
//! launches that load the same but could not do so at once, where they fill the device better so
//! (`side_by_side::filling`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// What the cost model says.
    #[default]
    Auto,
    /// One block partition. Launches that could only stand side by side stay unfused.
    Vertical,
    /// The most block partitions.
    Horizontal,
    /// One block partition over the threads of the largest or the smallest member in groups that have that, what the
    /// cost model says in others.
    Aligned(Alignment),
    /// The layout of this name in groups that have it, what the cost model says in others.
    Mixed {
        /// Members of the longest block partition.
        longest: usize,
        /// Number of block partitions.
        partitions: usize,
        /// Which of several such layouts, from 1 on.
        number: usize,
    },
}

/// Over whose threads the members of a block partition run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alignment {
    /// Those of the largest: threads that another member does not have leave it out.
    Largest,
    /// Those of the smallest: each runs several of another member's, in turn.
    Smallest,
}

impl Alignment {
    pub(super) const ALL: [Self; 2] = [Self::Largest, Self::Smallest];

    /// The layout's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Largest => "vmax",
            Self::Smallest => "vmin",
        }
    }
}

impl Layout {
    /// The layout of a name. What cannot be the name of one is taken for `auto`: whether there is
    /// such a layout is known when the groups are.
    pub fn named(name: &str) -> Self {
        let mixed = || {
            let (shape, number) = match name.split_once('.') {
                Some((shape, number)) => (shape, number.parse().ok().filter(|number| *number > 1)?),
                None => (name, 1),
            };
            let (longest, partitions) = shape.strip_prefix('v')?.split_once('h')?;
            Some(Self::Mixed {
                longest: longest.parse().ok()?,
                partitions: partitions.parse().ok()?,
                number,
            })
        };
        let mut alignments = Alignment::ALL.into_iter();
        let mut aligned = || Some(Self::Aligned(alignments.find(|to| to.name() == name)?));
        match name {
            "v" => Self::Vertical,
            "h" => Self::Horizontal,
            _ => aligned().or_else(mixed).unwrap_or(Self::Auto),
        }
    }

    /// Whether a name on the command line means something, given the names that groups have.
    pub fn is_known(name: &str, layouts: &BTreeSet<&str>) -> bool {
        Self::everywhere().any(|known| known == name) || layouts.contains(name)
    }

    /// The names that mean something whatever groups there are.
    pub fn everywhere() -> impl Iterator<Item = &'static str> {
        let aligned = Alignment::ALL.into_iter().map(Alignment::name);
        ["auto", "v", "h"].into_iter().chain(aligned)
    }
}

/// BlockPartitions, each as ascending positions of members, by their first ones.
pub(super) type BlockPartitions = Vec<Vec<usize>>;

/// The name of a layout, the `number`th of its kind.
pub(super) fn name(partitions: &BlockPartitions, number: usize) -> String {
    let longest = partitions.iter().map(Vec::len).max().unwrap_or(0);
    match (partitions.len(), longest, number) {
        (1, ..) => String::from("v"),
        (_, 1, _) => String::from("h"),
        (count, longest, 1) => format!("v{longest}h{count}"),
        (count, longest, number) => format!("v{longest}h{count}.{number}"),
    }
}

/// The layouts of a group, the most vertical first.
pub(super) struct Layouts {
    all: Vec<NamedPartitions>,
    /// Which one the cost model takes.
    planned: usize,
}

/// One of them.
struct NamedPartitions {
    name: String,
    partitions: BlockPartitions,
}

/// What is known of the members of a group.
pub(super) trait Members {
    /// How many there are.
    fn count(&self) -> usize;
    /// Whether one depends on the other.
    fn tied(&self, one: usize, other: usize) -> bool;
    /// The block partition in which the planner brought a member together with others.
    fn planned(&self, member: usize) -> usize;
    /// Whether two have one shape.
    fn alike(&self, one: usize, other: usize) -> bool;
    /// Whether two of one shape run the same code.
    fn equal_code(&self, one: usize, other: usize) -> bool;
    /// How much memory both load.
    fn shared(&self, one: usize, other: usize) -> usize;
    /// Whether a layout can be carried out.
    fn is_legal(&self, partitions: &BlockPartitions) -> bool;
}

/// Groups of more connected parts have one sequence of layouts instead of every split; seven parts have 877.
pub(super) const MOST_PARTS: usize = 7;

/// No group has more layouts.
pub(super) const MOST_LAYOUTS: usize = 64;

impl Layouts {
    pub(super) fn of(members: &impl Members) -> Self {
        let parts = Parts::of(members);
        let mut splits: Vec<Split> =
            vec![(0..parts.members.len()).map(|part| vec![part]).collect()];
        let mut split = splits[0].clone();
        while parts.merge(&mut split, |one, other| {
            parts.planned[one] == parts.planned[other]
        }) {
            splits.push(split.clone());
        }
        let wanted = split.clone();
        while parts.merge(&mut split, |one, other| parts.alike[one][other]) {
            splits.push(split.clone());
        }
        if (3..=MOST_PARTS).contains(&parts.members.len()) {
            parts.every_split(&mut splits);
        }
        let mut seen = BTreeSet::new();
        splits.retain(|split| seen.insert(parts.up_to_equals(split)));
        let mut ranked: Vec<(Rank, Split, BlockPartitions)> = splits
            .into_iter()
            .map(|split| (parts.rank(&split), parts.partitions(&split), split))
            .filter(|(_, partitions, split)| *split == wanted || members.is_legal(partitions))
            .map(|(rank, partitions, split)| (rank, split, partitions))
            .collect();
        ranked.sort();
        let last = ranked.len() - 1;
        let mut numbers: BTreeMap<(usize, Reverse<usize>), usize> = BTreeMap::new();
        let mut numbered = Vec::new();
        for (place, (rank, split, partitions)) in ranked.into_iter().enumerate() {
            let number = numbers.entry((rank.partitions, rank.longest)).or_default();
            *number += 1;
            let name = name(&partitions, *number);
            // The first of each kind before the second of any.
            let optional = split != wanted && place != 0 && place != last;
            numbered.push((
                (optional, *number, place),
                NamedPartitions { name, partitions },
            ));
        }
        numbered.sort_by_key(|(worth, _)| *worth);
        numbered.truncate(MOST_LAYOUTS);
        numbered.sort_by_key(|((.., place), _)| *place);
        let all: Vec<NamedPartitions> = numbered.into_iter().map(|(_, layout)| layout).collect();
        let wanted = parts.partitions(&wanted);
        let planned = all.iter().position(|layout| layout.partitions == wanted);
        Self {
            planned: planned.unwrap_or(0),
            all,
        }
    }

    /// The one layout of members that have no other.
    pub(super) fn single(members: usize) -> Self {
        let partitions = vec![(0..members).collect()];
        let name = name(&partitions, 1);
        Self {
            all: vec![NamedPartitions { name, partitions }],
            planned: 0,
        }
    }

    /// Where each layout stands, and its block partitions.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, &BlockPartitions)> {
        let layouts = self.all.iter().enumerate();
        layouts.map(|(place, layout)| (place, &layout.partitions))
    }

    /// The layout that the cost model takes.
    pub(super) fn planned(&self) -> &BlockPartitions {
        &self.all[self.planned].partitions
    }

    /// Makes the layout at a place the one that the cost model takes.
    pub(super) fn plan(&mut self, place: usize) {
        self.planned = place;
    }

    pub(super) fn names(&self) -> Vec<String> {
        let layouts = self.all.iter();
        layouts.map(|layout| layout.name.clone()).collect()
    }

    /// What the user asked for, as this group has it, and its name.
    pub(super) fn take(mut self, layout: Layout) -> (String, BlockPartitions) {
        let taken = match layout {
            Layout::Auto | Layout::Aligned(_) => None,
            Layout::Vertical => Some(0),
            Layout::Horizontal => Some(self.all.len() - 1),
            Layout::Mixed { .. } => {
                let named = |own: &NamedPartitions| Layout::named(&own.name) == layout;
                self.all.iter().position(named)
            }
        };
        let NamedPartitions { name, partitions } =
            self.all.swap_remove(taken.unwrap_or(self.planned));
        (name, partitions)
    }
}

/// Block partitions as ascending numbers of parts, by their first ones.
type Split = Vec<Vec<usize>>;

/// The order of layouts: the most vertical first, and of several of one kind the one whose block partitions load
/// most in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    partitions: usize,
    longest: Reverse<usize>,
    shared: Reverse<usize>,
}

/// The connected parts of a group, by their first members.
struct Parts {
    /// Positions of members, ascending.
    members: Vec<Vec<usize>>,
    /// By part, the block partition in which the planner brought it together with others.
    planned: Vec<usize>,
    /// By part, the first one that does the same.
    kinds: Vec<usize>,
    /// For each two, whether they have one shape.
    alike: Vec<Vec<bool>>,
    /// For each two, how much memory both load.
    shared: Vec<Vec<usize>>,
}

impl Parts {
    fn of(known: &impl Members) -> Self {
        let mut members: Vec<Vec<usize>> = Vec::new();
        for member in 0..known.count() {
            let (own, others): (Vec<_>, Vec<_>) = members.into_iter().partition(|part| {
                let mut earlier = part.iter();
                earlier.any(|earlier| known.tied(*earlier, member))
            });
            members = others;
            let mut part = own.concat();
            part.push(member);
            part.sort_unstable();
            members.push(part);
        }
        members.sort_unstable();
        let does_the_same = |one: &Vec<usize>, other: &Vec<usize>| {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| known.equal_code(*one, *other))
        };
        let kinds = members.iter().enumerate().map(|(part, own)| {
            let mut earlier = members[..part].iter();
            earlier
                .position(|other| does_the_same(other, own))
                .unwrap_or(part)
        });
        let shared = |one: &[usize], other: &[usize]| -> usize {
            let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
            pairs.map(|(a, b)| known.shared(a, b)).sum()
        };
        let table = |part: &Vec<usize>| -> Vec<usize> {
            members.iter().map(|other| shared(part, other)).collect()
        };
        let shapes = |part: &Vec<usize>| -> Vec<bool> {
            let others = members.iter();
            others.map(|other| known.alike(part[0], other[0])).collect()
        };
        Self {
            planned: members.iter().map(|part| known.planned(part[0])).collect(),
            kinds: kinds.collect(),
            alike: members.iter().map(shapes).collect(),
            shared: members.iter().map(table).collect(),
            members,
        }
    }

    fn partitions(&self, split: &Split) -> BlockPartitions {
        let members = |partition: &Vec<usize>| {
            let mut members: Vec<usize> = Vec::new();
            partition
                .iter()
                .for_each(|part| members.extend(&self.members[*part]));
            members.sort_unstable();
            members
        };
        let mut partitions: BlockPartitions = split.iter().map(members).collect();
        partitions.sort_unstable();
        partitions
    }

    fn rank(&self, split: &Split) -> Rank {
        let longest = split.iter().map(|partition| self.length(partition)).max();
        Rank {
            partitions: split.len(),
            longest: Reverse(longest.unwrap_or(0)),
            shared: Reverse(
                split
                    .iter()
                    .map(|partition| self.shared_within(partition))
                    .sum(),
            ),
        }
    }

    fn length(&self, partition: &[usize]) -> usize {
        partition.iter().map(|part| self.members[*part].len()).sum()
    }

    fn shared_within(&self, partition: &[usize]) -> usize {
        let pairs = partition.iter().enumerate();
        let pairs = pairs
            .flat_map(|(place, one)| partition[place + 1..].iter().map(|other| (*one, *other)));
        pairs.map(|(one, other)| self.shared[one][other]).sum()
    }

    /// What does not change when equal parts change places.
    fn up_to_equals(&self, split: &Split) -> Vec<(Vec<usize>, usize)> {
        let of_partition = |partition: &Vec<usize>| {
            let mut kinds: Vec<usize> = partition.iter().map(|part| self.kinds[*part]).collect();
            kinds.sort_unstable();
            (kinds, self.shared_within(partition))
        };
        let mut all: Vec<_> = split.iter().map(of_partition).collect();
        all.sort_unstable();
        all
    }

    /// Adds every split of the parts into block partitions.
    fn every_split(&self, splits: &mut Vec<Split>) {
        let mut work: Vec<Split> = vec![Vec::new()];
        for part in 0..self.members.len() {
            let mut longer = Vec::new();
            for split in work {
                for partition in 0..=split.len() {
                    let mut split = split.clone();
                    match split.get_mut(partition) {
                        Some(partition) => partition.push(part),
                        None => split.push(vec![part]),
                    }
                    longer.push(split);
                }
            }
            work = longer;
        }
        work.retain(|split| split.iter().all(|partition| self.may_be_one(partition)));
        splits.extend(work);
    }

    /// Whether each part of a block partition came to the others for a reason.
    fn may_be_one(&self, partition: &[usize]) -> bool {
        let mut found = vec![partition[0]];
        let mut next = 0;
        while let Some(part) = found.get(next).copied() {
            for other in partition {
                let together = self.planned[part] == self.planned[*other];
                if (together || self.alike[part][*other]) && !found.contains(other) {
                    found.push(*other);
                }
            }
            next += 1;
        }
        found.len() == partition.len()
    }

    /// Makes one block partition of the two that share most; of equal ones of the shortest, then of the first.
    fn merge(&self, split: &mut Split, may: impl Fn(usize, usize) -> bool) -> bool {
        let mut best: Option<((usize, Reverse<usize>), usize, usize)> = None;
        for (place, one) in split.iter().enumerate() {
            for (distance, other) in split[place + 1..].iter().enumerate() {
                if !may(one[0], other[0]) {
                    continue;
                }
                let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
                let shared: usize = pairs.map(|(a, b)| self.shared[a][b]).sum();
                let length = Reverse(self.length(one) + self.length(other));
                let worth = (shared, length);
                if best.is_none_or(|(found, ..)| worth > found) {
                    best = Some((worth, place, place + 1 + distance));
                }
            }
        }
        let Some((_, one, other)) = best else {
            return false;
        };
        let taken = split.remove(other);
        split[one].extend(taken);
        split[one].sort_unstable();
        split.sort_unstable();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Members by the chain that each belongs to, what each loads, and the shape of each.
    struct Made {
        chains: Vec<usize>,
        planned: Vec<usize>,
        loads: Vec<usize>,
        shapes: Vec<usize>,
        codes: Vec<usize>,
        least_partitions: usize,
    }

    /// Independent launches of one shape.
    fn independent(codes: Vec<usize>, loads: Vec<usize>) -> Made {
        let count = codes.len();
        Made {
            chains: (0..count).collect(),
            planned: vec![0; count],
            shapes: vec![0; count],
            codes,
            loads,
            least_partitions: 0,
        }
    }

    impl Members for Made {
        fn count(&self) -> usize {
            self.chains.len()
        }
        fn tied(&self, one: usize, other: usize) -> bool {
            self.chains[one] == self.chains[other]
        }
        fn planned(&self, member: usize) -> usize {
            self.planned[member]
        }
        fn alike(&self, one: usize, other: usize) -> bool {
            self.shapes[one] == self.shapes[other]
        }
        fn equal_code(&self, one: usize, other: usize) -> bool {
            self.codes[one] == self.codes[other] && self.alike(one, other)
        }
        fn shared(&self, one: usize, other: usize) -> usize {
            usize::from(self.loads[one] == self.loads[other])
        }
        fn is_legal(&self, partitions: &BlockPartitions) -> bool {
            partitions.len() > self.least_partitions
        }
    }

    #[test]
    fn layouts_are_every_split_of_the_parts() {
        let made = Made {
            chains: vec![0, 1, 0, 2, 3],
            planned: vec![0, 1, 0, 0, 1],
            loads: vec![7, 8, 7, 7, 9],
            shapes: vec![0; 5],
            codes: (0..5).collect(),
            least_partitions: 0,
        };
        let layouts = Layouts::of(&made);
        // Four parts have fifteen splits.
        let names = [
            "v", "v4h2", "v4h2.2", "v4h2.3", "v3h2", "v3h2.2", "v3h2.3", "v3h2.4", "v3h3",
            "v3h3.2", "v3h3.3", "v2h3", "v2h3.2", "v2h3.3", "v2h4",
        ];
        assert_eq!(layouts.names(), names);
        let planned = &layouts.all[layouts.planned];
        assert_eq!(planned.partitions, [vec![0, 2, 3], vec![1, 4]]);
        let take = |name| Layouts::of(&made).take(Layout::named(name)).1;
        assert_eq!(take("h"), [vec![0, 2], vec![1], vec![3], vec![4]]);
        // Those that load the same come first.
        assert_eq!(take("v3h3"), [vec![0, 2, 3], vec![1], vec![4]]);
        assert_eq!(take("v3h3.2"), [vec![0, 1, 2], vec![3], vec![4]]);
        for (name, layout) in names.iter().zip(&layouts.all) {
            let found = Layouts::of(&made).take(Layout::named(name));
            assert_eq!(found, (name.to_string(), layout.partitions.clone()));
        }
        assert_eq!(take("v2h7"), planned.partitions, "not there");
    }

    #[test]
    fn equal_launches_may_change_places() {
        let names = |made: &Made| Layouts::of(made).names();
        let six = independent(vec![0; 6], vec![0; 6]);
        // The partitions of the number six.
        let partitions = [
            "v", "v5h2", "v4h2", "v3h2", "v4h3", "v3h3", "v2h3", "v3h4", "v2h4", "v2h5", "h",
        ];
        assert_eq!(names(&six), partitions);
        // Which of them load the same is a difference.
        let three = independent(vec![0; 3], vec![0, 0, 1]);
        assert_eq!(names(&three), ["v", "v2h2", "v2h2.2", "h"]);
    }

    #[test]
    fn there_is_a_bound_to_layouts() {
        let seven = independent((0..7).collect(), vec![0; 7]);
        let layouts = Layouts::of(&seven);
        assert_eq!(layouts.all.len(), MOST_LAYOUTS);
        let names = layouts.names();
        assert_eq!(
            (names[0].as_str(), names[MOST_LAYOUTS - 1].as_str()),
            ("v", "h")
        );
        // Every kind is there.
        assert!(names.contains(&String::from("v3h3")) && names.contains(&String::from("v2h4")));
        let many = independent((0..MOST_PARTS + 1).collect(), vec![0; MOST_PARTS + 1]);
        let sequence = ["v", "v7h2", "v6h3", "v5h4", "v4h5", "v3h6", "v2h7", "h"];
        assert_eq!(names_of(&many), sequence);
    }

    #[test]
    fn what_does_not_fit_is_no_layout() {
        let mut three = independent(vec![0, 1, 2], vec![0; 3]);
        three.planned = vec![0, 1, 2];
        three.least_partitions = 1;
        assert_eq!(names_of(&three), ["v2h2", "v2h2.2", "v2h2.3", "h"]);
        let vertical = Layouts::of(&three).take(Layout::Vertical);
        assert_eq!(vertical.1, [vec![0], vec![1, 2]]);
    }

    fn names_of(made: &Made) -> Vec<String> {
        Layouts::of(made).names()
    }

    #[test]
    fn partitions_of_unequal_shapes_stay_side_by_side() {
        let made = Made {
            chains: vec![0, 1, 2],
            planned: vec![0, 1, 2],
            loads: vec![0, 0, 0],
            shapes: vec![0, 1, 0],
            codes: vec![0; 3],
            least_partitions: 0,
        };
        let layouts = Layouts::of(&made);
        assert_eq!(layouts.names(), ["v2h2", "h"]);
        assert_eq!(Layouts::of(&made).take(Layout::Auto).1.len(), 3);
        assert_eq!(
            Layouts::of(&made).take(Layout::Vertical).1,
            [vec![0, 2], vec![1]]
        );
    }

    #[test]
    fn names_are_read_back() {
        assert_eq!(Layout::named("auto"), Layout::Auto);
        let mixed = |longest, partitions, number| Layout::Mixed {
            longest,
            partitions,
            number,
        };
        assert_eq!(Layout::named("v12h3"), mixed(12, 3, 1));
        assert_eq!(Layout::named("v12h3.4"), mixed(12, 3, 4));
        for to in Alignment::ALL {
            assert_eq!(Layout::named(to.name()), Layout::Aligned(to));
        }
        for wrong in ["vmid", "v2h2.1", "v2h2.0", "v2h2.x", "v2h", "h2", ".2"] {
            assert_eq!(Layout::named(wrong), Layout::Auto, "{wrong}");
        }
        let layouts = BTreeSet::from(["v2h3"]);
        let known = |name| Layout::is_known(name, &layouts);
        assert!(known("h") && known("v2h3") && !known("v2h4") && !known("x"));
    }
}
