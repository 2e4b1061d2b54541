//! What is done at launch boundaries that fusion leaves.
//!
//! Each is planned from the same graph, judged and guarded by itself, and switched by its name in
//! `--sirius-boundaries=LIST`. `docs/boundaries.md` describes each.

/// A way to make launch boundaries cheaper, by its name in `--sirius-boundaries=`.
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

    /// Those that are taken where none is asked for: they never wait, and cost little where they save nothing.
    pub const DEFAULT: [Self; 1] = [Self::LastBlock];

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
