//! How the blocks and threads of each member are those of the fused launch, in words.

use super::condition::LaunchNames;
use super::{find_launch, kernel_name};
use crate::kernel::KernelModel;
use crate::launch::{Launch, LaunchGraph, LaunchId, ValueId};
use crate::math::affine::Axis;
use crate::schedule::{Arrangement, BlockThreads, FusionGroup, Member, ThreadMap, ThreadOrder};
use serde::{Deserialize, Serialize};

/// The map of a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportMap {
    /// Its kernel.
    pub name: String,
    /// `identity`, `clipped`, `remapped`, `runs`, `elements`, `rearranged` or `blocks`, as [`ThreadMap`] has
    /// them.
    pub kind: String,
    /// The same in words: `blocks transposed`.
    pub text: String,
    /// Whether all threads of a block wait for each other before its segment.
    pub barrier_before: bool,
}

impl ReportMap {
    /// Whether it is more than that all stays as it was.
    pub(super) fn is_worth_a_line(&self) -> bool {
        !matches!(self.kind.as_str(), "identity" | "clipped")
    }

    /// `scale: blocks transposed`.
    pub(super) fn line(&self) -> String {
        format!("`{}`: {}", self.name, self.text)
    }
}

/// The maps of a group's members, in their order.
pub(super) fn maps(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    names: &LaunchNames<'_>,
    group: &FusionGroup,
) -> Vec<ReportMap> {
    let launch = |id: LaunchId| find_launch(graph, id).map(|(_, launch)| launch);
    let whole = group
        .members
        .iter()
        .find(|member| member.map.keeps_indices());
    let fused = whole.and_then(|member| launch(member.launch));
    let described = |member: &Member| {
        let own = launch(member.launch)?;
        let (kind, text) = in_words(graph, names, &member.map, own, fused);
        Some(ReportMap {
            name: kernel_name(kernels, own).to_owned(),
            kind: kind.to_owned(),
            text,
            barrier_before: member.barrier_before,
        })
    };
    group.members.iter().filter_map(described).collect()
}

fn in_words(
    graph: &LaunchGraph,
    names: &LaunchNames<'_>,
    map: &ThreadMap,
    own: &Launch,
    fused: Option<&Launch>,
) -> (&'static str, String) {
    match map {
        ThreadMap::Identity => ("identity", String::from("blocks and threads as launched")),
        ThreadMap::Clipped => (
            "clipped",
            String::from("blocks and threads as launched, in as many blocks as it has"),
        ),
        ThreadMap::Remapped {
            own: own_order,
            fused: fused_order,
            repeats,
        } => {
            let rows = |order: &ThreadOrder| *order == ThreadOrder::Rows;
            if map.counts_iterations() {
                let over = match rows(fused_order) {
                    false => "the iterations of its loop remapped over threads block after block",
                    true => "the iterations of its loop remapped over threads row after row",
                };
                let several = if *repeats {
                    ", several to a thread"
                } else {
                    ""
                };
                return ("iterations", format!("{over}{several}"));
            }
            let mut text = String::from(match (rows(own_order), rows(fused_order)) {
                (false, false) => "threads remapped block after block",
                (true, true) => "threads remapped row after row",
                (false, true) => "threads remapped block after block, over rows",
                (true, false) => "threads remapped row after row, over blocks",
            });
            if let (Some(few), Some(many)) = (
                block_threads(graph, own),
                fused.and_then(|fused| block_threads(graph, fused)),
            ) {
                if few < many && many % few == 0 {
                    text.push_str(&format!(", {} blocks to one", many / few));
                } else if many < few && few % many == 0 {
                    text.push_str(&format!(", one block to {}", few / many));
                }
            }
            if *repeats {
                text.push_str(", several to a thread");
            }
            ("remapped", text)
        }
        ThreadMap::Runs { own, length } => {
            let counted = match own {
                ThreadOrder::Blocks => "threads counted block after block",
                ThreadOrder::Rows => "threads counted row after row",
                ThreadOrder::Iterations => "the iterations of its loop",
            };
            let length = names.expression(length, 2);
            let text = format!("{counted}, {length} to a block");
            match map.counts_iterations() {
                false => ("runs", text),
                true => ("iterations", text),
            }
        }
        ThreadMap::Elements { axes, extents, own } => {
            let extents = extents.iter().map(|extent| names.expression(extent, 2));
            let extents = extents.collect::<Vec<_>>().join(" by ");
            let along = |axes: &[Axis]| {
                let names = axes.iter().map(|axis| axis.name().to_string());
                names.collect::<Vec<_>>().join(" and ")
            };
            let mut text = format!(
                "threads along {} run the elements of {extents}",
                along(axes)
            );
            match own.as_slice() {
                [] => text.push_str(", counted block after block"),
                own if own != axes.as_slice() => {
                    text.push_str(&format!(", its own along {}", along(own)));
                }
                _ => {}
            }
            ("elements", text)
        }
        ThreadMap::Tiles {
            extents: [rows, columns],
            pitch,
            ..
        } => {
            let pitch = names.expression(pitch, 2);
            let text = format!(
                "threads counted block after block, as elements of rows of {pitch}, {rows} by {columns} of them to a block"
            );
            ("tiles", text)
        }
        ThreadMap::Rearranged { blocks, threads } => {
            let parts = [("blocks", blocks), ("threads", threads)];
            let parts = parts.into_iter().filter_map(|(what, arrangement)| {
                let how = match arrangement {
                    Arrangement::Same => return None,
                    Arrangement::Transposed => "transposed",
                    Arrangement::Reversed => "from the last on",
                    Arrangement::Renumbered => "counted along other axes",
                    Arrangement::FirstWarp => "in the first warp of a block",
                };
                Some(format!("{what} {how}"))
            });
            ("rearranged", parts.collect::<Vec<_>>().join(", "))
        }
        ThreadMap::Blocks {
            first,
            count,
            threads,
        } => {
            let mut text = format!(
                "{} blocks of its own from {} on",
                names.expression(count, 2),
                names.expression(first, 0)
            );
            match threads {
                BlockThreads::Same | BlockThreads::Row { fills_block: true } => {}
                BlockThreads::Row { fills_block: false } => {
                    text.push_str(", in the first threads of each");
                }
            }
            ("blocks", text)
        }
    }
}

/// How many threads a block has, where constant.
fn block_threads(graph: &LaunchGraph, launch: &Launch) -> Option<i64> {
    let constant = |value: &ValueId| graph.values.get(value.0)?.constant;
    let threads: Option<i64> = launch.block.iter().map(constant).product();
    threads.filter(|threads| *threads > 0)
}
