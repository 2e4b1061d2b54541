//! What is tuned, and which variants it has.

use super::choice::Choice;
use super::search::Genome;
use crate::build::Optimisation;
use crate::kernel::KernelModel;
use crate::launch::{Launch, LaunchGraph, ValueId};
use crate::schedule::{FusionGroup, ThreadMap, Variant};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Groups of a plan that are tuned as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// A digest of all that is known to matter for its speed.
    pub key: String,
    /// The kernels of the first of its groups, for people.
    pub kernels: Vec<String>,
    /// The launch sites of all its groups.
    pub sites: Vec<u32>,
    /// The name of the variant as it was planned.
    pub planned: String,
    /// Its groups, by their places in the plan.
    #[serde(skip)]
    pub groups: Vec<usize>,
    /// Its variants.
    #[serde(skip)]
    pub space: Space,
}

/// The variants of a subject, one axis for each thing that can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Names of layouts, the planned one first.
    pub layouts: Vec<String>,
    /// The launches can also stay unfused.
    pub unfused: bool,
    /// They have barriers across the grid, and can do without.
    pub without_grid_barriers: bool,
    /// Optimisations that it can go without.
    pub without: Vec<Optimisation>,
    /// Threads that may be asked for at once on a multiprocessor.
    pub resident_threads: Vec<u32>,
    /// Loops can be left as they are.
    pub compact: bool,
    /// So many times the bodies of innermost loops may stand in the code.
    pub unrolled: Vec<u32>,
}

impl Space {
    /// How many values each axis has: the layout, each optimisation, threads, loops. Value 0 is as
    /// planned.
    pub fn sizes(&self) -> Vec<usize> {
        let others = usize::from(self.without_grid_barriers) + usize::from(self.unfused);
        let mut sizes = vec![self.layouts.len() + others];
        sizes.extend(self.without.iter().map(|_| 2));
        sizes.push(1 + self.resident_threads.len());
        sizes.push(1 + usize::from(self.compact) + self.unrolled.len());
        sizes
    }

    /// The variant of a value on each axis. Launches that are not fused have nothing else to choose.
    pub fn choice(&self, genome: &Genome) -> Choice {
        let value = |axis: usize| genome.get(axis).copied().unwrap_or(0);
        let Some(layout) = self.layouts.get(value(0)) else {
            return match self.without_grid_barriers && value(0) == self.layouts.len() {
                true => Choice::WithoutGridBarriers,
                false => Choice::Unfused,
            };
        };
        let switches = self.without.iter().enumerate();
        let without = switches
            .filter(|(axis, _)| value(1 + axis) == 1)
            .map(|(_, optimisation)| *optimisation);
        let after = 1 + self.without.len();
        let threads = value(after).checked_sub(1);
        let loops = value(after + 1);
        let times = loops.checked_sub(1 + usize::from(self.compact));
        Choice::Fused {
            layout: layout.clone(),
            variant: Variant {
                without: without.collect(),
                resident_threads: threads.and_then(|at| self.resident_threads.get(at).copied()),
                compact: self.compact && loops == 1,
                unrolled: times.and_then(|at| self.unrolled.get(at).copied()),
            },
        }
    }

    /// Whether this is one of the variants.
    pub fn has(&self, choice: &Choice) -> bool {
        match choice {
            Choice::Unfused => self.unfused,
            Choice::WithoutGridBarriers => self.without_grid_barriers,
            Choice::Fused { layout, variant } => {
                let threads = variant.resident_threads;
                self.layouts.contains(layout)
                    && variant.without.iter().all(|off| self.without.contains(off))
                    && threads.is_none_or(|threads| self.resident_threads.contains(&threads))
                    && (self.compact || !variant.compact)
                    && variant
                        .unrolled
                        .is_none_or(|times| self.unrolled.contains(&times))
            }
        }
    }
}

/// The key of groups that are tuned as one. `texts` are the bodies of kernels, indexed as `models` are;
/// `made_for` names the device, its architectures and the options.
pub fn key_of(
    graph: &LaunchGraph,
    models: &[KernelModel],
    texts: &[String],
    groups: &[&FusionGroup],
    made_for: &str,
) -> String {
    let mut text = format!("{} {made_for}\n", env!("CARGO_PKG_VERSION"));
    for group in groups {
        describe(graph, models, texts, group, &mut text);
    }
    // Two of 64 bits, since equal digests of different groups would only cost speed.
    let [one, other] =
        [0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15].map(|seed| digest(seed, &text));
    format!("{one:016x}{other:016x}")
}

/// Writes what a group is, with host values numbered as they come, so that the rest of the program has no
/// say in it.
fn describe(
    graph: &LaunchGraph,
    models: &[KernelModel],
    texts: &[String],
    group: &FusionGroup,
    text: &mut String,
) {
    let mut numbers: BTreeMap<ValueId, usize> = BTreeMap::new();
    let mut number = |value: ValueId| {
        let next = numbers.len();
        *numbers.entry(value).or_insert(next)
    };
    let constant = |value: ValueId| graph.values.get(value.0).and_then(|known| known.constant);
    let _ = writeln!(text, "group {:?} {:?}", group.layouts, group.segments);
    if group.is_cooperative() {
        let _ = writeln!(text, "grid barriers {:?}", group.grid_barriers);
    }
    for member in &group.members {
        let launch = graph.nodes.iter().find_map(|node| match &node.kind {
            crate::launch::NodeKind::Launch(launch) if launch.id == member.launch => Some(launch),
            _ => None,
        });
        let Some(launch) = launch else { continue };
        let _ = writeln!(
            text,
            "{} barrier {} unread {}",
            map_name(&member.map),
            member.barrier_before,
            group.unread_afterwards.len()
        );
        for value in extents(launch) {
            let _ = match constant(value) {
                Some(constant) => write!(text, " {constant}"),
                None => write!(text, " v{}", number(value)),
            };
        }
        for argument in &launch.arguments {
            let _ = match (argument.identity, argument.pieces.as_slice()) {
                (_, [piece]) if constant(piece.value).is_some() => {
                    write!(text, " ({:?})", constant(piece.value))
                }
                (Some(identity), _) => write!(text, " (v{})", number(identity)),
                (None, _) => write!(text, " ()"),
            };
        }
        let kernel = launch.kernel.map_or(usize::MAX, |kernel| kernel.0);
        let name = models.get(kernel).map_or("", |model| model.name.as_str());
        let body = texts.get(kernel).map_or("", String::as_str);
        let _ = writeln!(text, "\n{name}\n{body}");
    }
}

fn extents(launch: &Launch) -> impl Iterator<Item = ValueId> + '_ {
    let own = launch.grid.iter().chain(&launch.block);
    own.copied().chain([launch.shared_bytes])
}

fn map_name(map: &ThreadMap) -> &'static str {
    match map {
        ThreadMap::Identity => "identity",
        ThreadMap::Clipped => "clipped",
        _ if map.counts_iterations() => "iterations",
        ThreadMap::Remapped { .. } => "remapped",
        ThreadMap::Runs { .. } => "runs",
        ThreadMap::Elements { .. } => "elements",
        ThreadMap::Tiles { .. } => "tiles",
        ThreadMap::Rearranged { .. } => "rearranged",
        // Which of them is the layout, not the subject.
        ThreadMap::Blocks { .. } => "identity",
    }
}

/// FNV-1a with a final mix: equal on every machine and in every version of the compiler's compiler.
fn digest(seed: u64, text: &str) -> u64 {
    let mixed = text.bytes().fold(seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_of_each_axis_is_another_variant() {
        let space = Space {
            layouts: vec!["v".into(), "h".into()],
            unfused: true,
            without_grid_barriers: false,
            without: vec![Optimisation::LoopFusion, Optimisation::RowPromotion],
            resident_threads: vec![1024],
            compact: true,
            unrolled: vec![2, 4],
        };
        assert_eq!(space.sizes(), [3, 2, 2, 2, 4]);
        let name = |genome: [usize; 5]| space.choice(&genome.to_vec()).to_string();
        assert_eq!(name([0; 5]), "v");
        assert_eq!(name([1, 1, 0, 1, 1]), "h -loop-fusion threads=1024 compact");
        assert_eq!(name([0, 0, 1, 0, 3]), "v -row-promotion unroll=4");
        assert_eq!(name([2, 1, 1, 1, 1]), "unfused");
        let has = |name: &str| space.has(&Choice::named(name).unwrap());
        assert!(has("unfused") && has("h -row-promotion") && has("v compact"));
        assert!(has("v unroll=2") && !has("v unroll=8"));
        assert!(!has("v2h2") && !has("v -launch-batches") && !has("v threads=512"));
        assert!(!has("without-grid-barriers"));
    }

    #[test]
    fn phases_can_do_without_their_barriers_or_stay_unfused() {
        let space = Space {
            layouts: vec!["phases".into()],
            unfused: true,
            without_grid_barriers: true,
            ..Space::default()
        };
        assert_eq!(space.sizes(), [3, 1, 1]);
        let named = |value| space.choice(&vec![value, 0, 0]).to_string();
        assert_eq!(
            [0, 1, 2].map(named),
            ["phases", "without-grid-barriers", "unfused"]
        );
        let has = |name: &str| space.has(&Choice::named(name).unwrap());
        assert!(has("without-grid-barriers") && has("unfused") && !has("phases compact"));
    }
}
