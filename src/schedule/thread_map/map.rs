//! Over which threads of the fused launch a member's threads run, as plain data.

use crate::launch::ValueId;
use crate::math::affine::Axis;
use crate::math::expression::Expression;
use serde::{Deserialize, Serialize};

/// How a member's (block, thread) becomes one of the fused kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreadMap {
    /// Block b, thread t stay block b, thread t; the fused launch has the member's shape.
    Identity,
    /// Block b, thread t stay block b, thread t; blocks of the fused launch that the member's own
    /// grid does not have leave it out.
    Clipped,
    /// The member's threads are counted, and so are those of the fused launch, of which number n runs
    /// the member's number n: threads of a member that do not meet in blocks need not stay in theirs.
    /// The fused launch has the shape of the members with the maps above.
    Remapped {
        /// How the member's own threads are counted.
        own: ThreadOrder,
        /// How the threads of the fused launch are counted.
        fused: ThreadOrder,
        /// The member may have more threads than the fused launch, of which number n then runs n,
        /// n + the number of its threads, and so on. Else the member has at most as many, and those
        /// beyond its own leave it out.
        repeats: bool,
    },
    /// The member's threads are counted, and block b of the fused launch, counted x fastest, runs those of
    /// them that have the numbers from b · `length` on, `length` of them, its threads in turn; the last block
    /// runs all that are left. The fused launch has the shape of the members with the first two maps.
    Runs {
        /// How the member's own threads are counted.
        own: ThreadOrder,
        /// How many of its threads a block of the fused launch runs.
        length: Expression<ValueId>,
    },
    /// The threads of the fused launch stand for the elements of an array, and so do the member's: a thread runs the
    /// member's thread of its element. Threads of the member that stand for none touch no memory, and run nowhere;
    /// neither does anything run in those of the fused launch that stand for none. The fused launch has the shape of
    /// the members with [`ThreadMap::Identity`].
    Elements {
        /// The axes of the fused launch that are the array's, the fastest first: the element of a thread
        /// has its positions along these, through all blocks.
        axes: Vec<Axis>,
        /// How many elements there are along each.
        extents: Vec<Expression<ValueId>>,
        /// The member's axes in the same order; empty where its threads are counted block after block, and
        /// thread n is element n.
        own: Vec<Axis>,
    },
    /// The member's threads are counted, block after block, as the elements of a matrix, row after row. A block of the fused launch
    /// runs those of a tile, its threads in turn: for its index r along the first axis and c along the second, those of
    /// the rows from r · the first extent on and of the columns from c · the second on, as many as the extents. The last blocks along the
    /// first axis run all rows that are left. So each thread of the member runs once. The fused launch has the shape of the members with [`ThreadMap::Identity`], and one block along
    /// other axes.
    Tiles {
        /// The axis of the grid along which tiles follow each other from row to row, and that from column to column.
        axes: [Axis; 2],
        /// How many rows and columns a tile has.
        extents: [i64; 2],
        /// How many threads of the member are a row.
        pitch: Expression<ValueId>,
    },
    /// The member's blocks are those of the fused launch in another arrangement, and the threads of each
    /// block those of a block of the fused launch: blocks stay whole. The fused launch has the shape of
    /// the members with [`ThreadMap::Identity`].
    Rearranged {
        /// Which blocks are which.
        blocks: Arrangement,
        /// Which threads of a block are which.
        threads: Arrangement,
    },
    /// The member's blocks in linear order (x fastest) are the blocks from `first` on of a grid of
    /// one dimension, `count` of them. Members with one range are a *block partition*: they run one after the
    /// other in the same blocks. The ranges of a group's block partitions follow each other without a gap.
    Blocks {
        /// The first block of the range.
        first: Expression<ValueId>,
        /// How many blocks: as many as the member's grid has.
        count: Expression<ValueId>,
        /// Which threads of such a block run the member.
        threads: BlockThreads,
    },
}

/// An order of all threads of a launch, in which each has a number from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ThreadOrder {
    /// Block after block, x fastest, and in each thread after thread, x fastest.
    Blocks,
    /// Row after row of threads along x through all blocks, then y, then z.
    Rows,
    /// Of a member whose kernel is one loop over the whole grid: its iterations, each of which runs as a thread of its own in
    /// the place of its number ([`LaunchGraph::by_iteration`](crate::launch::LaunchGraph::by_iteration)).
    Iterations,
}

/// How the places of a box, a grid of blocks or a block of threads, are those of another one, each
/// exactly one, or, of a warp, each at most one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Arrangement {
    /// Each place is the same there; the boxes have equal extents.
    Same,
    /// Place (x, y, z) is (y, x, z) there, as are the extents.
    Transposed,
    /// Along x the last place is the first there; the boxes have equal extents.
    Reversed,
    /// Number n, x fastest, is number n there; the boxes have equally many places.
    Renumbered,
    /// Of threads: a block of the member is one warp, 32 threads along x, and these are the first warp of a block of the
    /// fused launch, whose other threads leave the member out. Barriers of the member wait for that warp.
    FirstWarp,
}

/// How the threads of a block of a block partition become threads of the fused kernel; the same variant for all
/// members of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockThreads {
    /// Thread t stays thread t: all members have one block shape, which is the fused kernel's.
    Same,
    /// The fused block has one dimension and as many threads as the largest member. A member's
    /// threads in linear order (x fastest) are the first of them; the others leave at once.
    Row {
        /// The block partition has as many threads as the fused block, so that its barriers stay those of
        /// the block. Else they wait for the block partition's threads alone, by their number, which must be
        /// whole warps.
        fills_block: bool,
    },
}

impl ThreadMap {
    /// Whether threads keep their indices, so that the member's shape is that of the fused launch or
    /// part of it.
    pub fn keeps_indices(&self) -> bool {
        matches!(self, Self::Identity | Self::Clipped)
    }

    /// Whether threads are counted and remapped over those of the fused launch.
    pub fn is_remapped(&self) -> bool {
        matches!(
            self,
            Self::Remapped { .. } | Self::Runs { .. } | Self::Elements { .. } | Self::Tiles { .. }
        )
    }

    /// Whether the member's iterations count as its threads.
    pub fn counts_iterations(&self) -> bool {
        matches!(
            self,
            Self::Remapped {
                own: ThreadOrder::Iterations,
                ..
            } | Self::Runs {
                own: ThreadOrder::Iterations,
                ..
            }
        )
    }

    /// Whether its threads are those of a launch whose shape other members tell.
    pub fn places_anew(&self) -> bool {
        self.is_remapped() || matches!(self, Self::Rearranged { .. })
    }
}
