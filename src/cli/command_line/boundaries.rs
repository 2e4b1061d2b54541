//! What is done at launch boundaries that fusion leaves.
//!
//! Each is planned from the same graph, judged and guarded by itself, and switched by its name in
//! `--sirius-boundaries=LIST`. `docs/boundaries.md` describes each.

use super::super::parse::UsageError;
use super::super::values::undefined;
use std::collections::BTreeSet;

/// A way to make launch boundaries cheaper, by its name in `--sirius-boundaries=`. None is taken unless asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Boundary {
    /// `graph`: launches that wait are issued as graphs where they come again.
    Graph,
    /// `grid-barrier`: launches that need what other blocks made become one cooperative launch with grid-wide barriers.
    GridBarrier,
    /// `last-block`: the last block of a launch runs the launch of one block that needs what all its blocks made.
    LastBlock,
    /// `overlap`: the later of two launches begins before the earlier one has ended.
    Overlap,
}

impl Boundary {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Graph,
        Self::GridBarrier,
        Self::LastBlock,
        Self::Overlap,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::GridBarrier => "grid-barrier",
            Self::LastBlock => "last-block",
            Self::Overlap => "overlap",
        }
    }
}

/// Takes one more word of the list.
///
/// # Errors
/// A name that is none.
pub(in crate::cli) fn add(chosen: &mut BTreeSet<Boundary>, word: &str) -> Result<(), UsageError> {
    match word {
        "none" => chosen.clear(),
        "all" => chosen.extend(Boundary::ALL),
        name => {
            let mut all = Boundary::ALL.into_iter();
            let found = all.find(|boundary| boundary.name() == name);
            let names = Boundary::ALL.map(Boundary::name).into_iter();
            let unknown = || undefined("sirius-boundaries", name, names.chain(["none", "all"]));
            chosen.insert(found.ok_or_else(unknown)?);
        }
    }
    Ok(())
}
