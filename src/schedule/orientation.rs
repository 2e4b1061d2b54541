//! How the members of a group are laid out in the fused kernel: on top of each other in the same
//! blocks, or side by side in blocks of their own.
//!
//! # Names
//! A group is a list of *strands* side by side; the members of a strand run one after the other. One
//! strand is `v` (vertical), strands of one member each are `h` (horizontal), and what lies between is
//! told by its longest strand and the number of strands: `v2h3` has three strands, of which the longest
//! has two members.
//!
//! # Which there are
//! Members that depend on each other stay in one strand, so the finest layout has a strand for each
//! connected part of the group. From there two strands at a time become one: first those that the
//! planner brought together, for data that flows or that both load, then those of equal shape that load most in
//! common, until no two are left that may. A group of n parts thus has at most n layouts, with
//! different numbers of strands and therefore with different names.
//!
//! # Which is taken
//! By default the layout in which strands are what the planner brought together: vertical where data
//! flows from one to the other or both load the same, which then stays in registers and caches of one
//! block; horizontal for independent launches that share nothing, or that differ in shape (P3 of the
//! paper), where it only fills the device better and saves the launch.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Orientation {
    /// What the cost model says.
    #[default]
    Auto,
    /// The fewest strands. Launches that could only stand side by side stay apart.
    Vertical,
    /// The most strands.
    Horizontal,
    /// The layout of this name in groups that have it, what the cost model says in others.
    Mixed {
        /// Members of the longest strand.
        longest: usize,
        /// Number of strands.
        strands: usize,
    },
}

impl Orientation {
    /// The orientation of a name. What cannot be the name of one is taken for `auto`: whether there is
    /// such a layout is known when the groups are.
    pub fn named(name: &str) -> Self {
        let mixed = || {
            let (longest, strands) = name.strip_prefix('v')?.split_once('h')?;
            Some(Self::Mixed {
                longest: longest.parse().ok()?,
                strands: strands.parse().ok()?,
            })
        };
        match name {
            "v" => Self::Vertical,
            "h" => Self::Horizontal,
            _ => mixed().unwrap_or(Self::Auto),
        }
    }

    /// Whether a name on the command line means something, given the names that groups have.
    pub fn is_known(name: &str, layouts: &BTreeSet<&str>) -> bool {
        ["auto", "v", "h"].contains(&name) || layouts.contains(name)
    }
}

/// Strands, each as ascending positions of members, by their first ones.
pub(super) type Strands = Vec<Vec<usize>>;

/// The name of a layout.
pub(super) fn name(strands: &Strands) -> String {
    let longest = strands.iter().map(Vec::len).max().unwrap_or(0);
    match (strands.len(), longest) {
        (1, _) => String::from("v"),
        (_, 1) => String::from("h"),
        (count, longest) => format!("v{longest}h{count}"),
    }
}

/// The layouts of a group, the most vertical first.
pub(super) struct Layouts {
    all: Vec<Strands>,
    /// Which one the cost model takes.
    planned: usize,
}

/// What is known of the members of a group.
pub(super) trait Members {
    /// How many there are.
    fn count(&self) -> usize;
    /// Whether one depends on the other.
    fn tied(&self, one: usize, other: usize) -> bool;
    /// The strand in which the planner brought a member together with others.
    fn planned(&self, member: usize) -> usize;
    /// Whether two have one shape.
    fn alike(&self, one: usize, other: usize) -> bool;
    /// How much memory both load.
    fn shared(&self, one: usize, other: usize) -> usize;
    /// Whether a layout can be carried out.
    fn is_legal(&self, strands: &Strands) -> bool;
}

impl Layouts {
    pub(super) fn of(members: &impl Members) -> Self {
        let mut strands = parts(members);
        let mut all = vec![strands.clone()];
        let planned = |strand: &[usize]| members.planned(strand[0]);
        while merge(members, &mut strands, |one, other| {
            planned(one) == planned(other)
        }) {
            all.push(strands.clone());
        }
        let from_planned = all.len() - 1;
        while merge(members, &mut strands, |one, other| {
            members.alike(one[0], other[0])
        }) {
            all.push(strands.clone());
        }
        let wanted = all[from_planned].clone();
        all.retain(|strands| *strands == wanted || members.is_legal(strands));
        all.reverse();
        let planned = all.iter().position(|strands| *strands == wanted);
        Self {
            planned: planned.unwrap_or(0),
            all,
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.all.iter().map(name).collect()
    }

    pub(super) fn take(mut self, orientation: Orientation) -> Strands {
        let taken = match orientation {
            Orientation::Auto => None,
            Orientation::Vertical => Some(0),
            Orientation::Horizontal => Some(self.all.len() - 1),
            Orientation::Mixed { longest, strands } => {
                let wanted = format!("v{longest}h{strands}");
                self.all.iter().position(|layout| name(layout) == wanted)
            }
        };
        self.all.swap_remove(taken.unwrap_or(self.planned))
    }
}

/// The connected parts.
fn parts(members: &impl Members) -> Strands {
    let mut parts: Strands = Vec::new();
    for member in 0..members.count() {
        let (own, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| {
            let mut earlier = part.iter();
            earlier.any(|earlier| members.tied(*earlier, member))
        });
        parts = others;
        let mut part = own.concat();
        part.push(member);
        part.sort_unstable();
        parts.push(part);
    }
    parts.sort_unstable();
    parts
}

/// Makes one strand of the two that share most; of equal ones of the shortest, then of the first.
fn merge(
    members: &impl Members,
    strands: &mut Strands,
    may: impl Fn(&[usize], &[usize]) -> bool,
) -> bool {
    let mut best: Option<((usize, Reverse<usize>), usize, usize)> = None;
    for (place, one) in strands.iter().enumerate() {
        for (distance, other) in strands[place + 1..].iter().enumerate() {
            if !may(one, other) {
                continue;
            }
            let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
            let shared: usize = pairs.map(|(a, b)| members.shared(a, b)).sum();
            let length = Reverse(one.len() + other.len());
            let worth = (shared, length);
            if best.is_none_or(|(found, ..)| worth > found) {
                best = Some((worth, place, place + 1 + distance));
            }
        }
    }
    let Some((_, one, other)) = best else {
        return false;
    };
    let taken = strands.remove(other);
    strands[one].extend(taken);
    strands[one].sort_unstable();
    strands.sort_unstable();
    true
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
        fn shared(&self, one: usize, other: usize) -> usize {
            usize::from(self.loads[one] == self.loads[other])
        }
        fn is_legal(&self, _: &Strands) -> bool {
            true
        }
    }

    #[test]
    fn layouts_go_from_one_strand_to_a_strand_for_each_part() {
        let made = Made {
            chains: vec![0, 1, 0, 2, 3],
            planned: vec![0, 1, 0, 0, 1],
            loads: vec![7, 8, 7, 7, 9],
            shapes: vec![0; 5],
        };
        let layouts = Layouts::of(&made);
        assert_eq!(layouts.names(), ["v", "v3h2", "v3h3", "v2h4"]);
        assert_eq!(layouts.all[layouts.planned], [vec![0, 2, 3], vec![1, 4]]);
        let finest = Layouts::of(&made).take(Orientation::Horizontal);
        assert_eq!(finest, [vec![0, 2], vec![1], vec![3], vec![4]]);
        let mixed = Layouts::of(&made).take(Orientation::named("v3h3"));
        assert_eq!(mixed.len(), 3);
    }

    #[test]
    fn strands_of_unequal_shapes_stay_side_by_side() {
        let made = Made {
            chains: vec![0, 1, 2],
            planned: vec![0, 1, 2],
            loads: vec![0, 0, 0],
            shapes: vec![0, 1, 0],
        };
        let layouts = Layouts::of(&made);
        assert_eq!(layouts.names(), ["v2h2", "h"]);
        assert_eq!(Layouts::of(&made).take(Orientation::Auto).len(), 3);
        assert_eq!(
            Layouts::of(&made).take(Orientation::Vertical),
            [vec![0, 2], vec![1]]
        );
    }

    #[test]
    fn names_are_read_back() {
        assert_eq!(Orientation::named("auto"), Orientation::Auto);
        assert_eq!(
            Orientation::named("v12h3"),
            Orientation::Mixed {
                longest: 12,
                strands: 3
            }
        );
        let layouts = BTreeSet::from(["v2h3"]);
        let known = |name| Orientation::is_known(name, &layouts);
        assert!(known("h") && known("v2h3") && !known("v2h4") && !known("x"));
    }
}
