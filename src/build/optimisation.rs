//! The optimisations of fused kernels, which can be switched off one by one.
//!
//! Code generation asks for most of them in `codegen::fused_kernels::fuse::build_kernels`; those that change plans are
//! fields of [`crate::schedule::ScheduleOptions`]. `docs/options.md` describes each.

use serde::{Deserialize, Serialize};

/// An optimisation of fused kernels, by its name in `--sirius-opt=`. All are on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimisation {
    /// `store-to-load-forwarding`: what one segment stores and the next loads stays in registers.
    StoreToLoadForwarding,
    /// `dead-stores`: allocations that nobody reads after a group are not written by its kernel.
    DeadStores,
    /// `dead-buffers`: allocations that fused kernels have no access to left, and nobody else, take no
    /// memory before original launches need it.
    DeadBuffers,
    /// `code-motion`: members that do not depend on each other wait at common barriers, and loops of
    /// theirs that run equally often become one.
    CodeMotion,
    /// `alias-scopes`: LLVM is told which loads and stores of a fused kernel go to different
    /// allocations of the host program.
    AliasScopes,
    /// `tile-merging`: shared variables of a fused kernel that always hold the same become one.
    TileMerging,
    /// `uniform-recomputation`: what one thread stores for all others of its block is computed by each.
    UniformRecomputation,
    /// `redundant-barriers`: barriers that no dependence needs any more are left out.
    RedundantBarriers,
    /// `row-promotion`: rows that a block walks over several times stay in shared memory.
    RowPromotion,
    /// `buffer-promotion`: what threads of a block hand to each other through a buffer stays in shared memory.
    BufferPromotion,
    /// `shared-memory-reuse`: shared variables that are in use one after the other, or in other blocks, share
    /// storage.
    SharedMemoryReuse,
    /// `loop-fusion`: loops of segments that follow each other and run equally often become one.
    LoopFusion,
    /// `host-constants`: arguments and extents that the host knows are constants of the fused kernel.
    HostConstants,
    /// `pointer-rebasing`: pointers into one allocation at known distances are one parameter.
    PointerRebasing,
    /// `argument-promotion`: of structs that kernels take by value, fields are passed that are read, each as a
    /// parameter of its own.
    ArgumentPromotion,
    /// `launch-batches`: launches of loops and long sequences wait until all that can run together is known.
    LaunchBatches,
    /// `persistent-loops`: launches of a host loop that need only what the same thread or block made follow each other
    /// inside one kernel.
    PersistentLoops,
    /// `loop-rotation`: an iteration of a host loop ends with launches of the next one that run together with its own.
    LoopRotation,
    /// `loop-ends`: the last iteration of a host loop ends with what stands behind the loop and runs together with it.
    LoopEnds,
    /// `asked-memory`: launches move past what the host does with memory where the running program finds that theirs is
    /// memory of the device alone.
    AskedMemory,
    /// `thread-remapping`: kernels of other blocks and grids take over those of their neighbours.
    ThreadRemapping,
    /// `permuted-blocks`: whole blocks of a kernel take over those of a neighbour in another arrangement.
    PermutedBlocks,
    /// `block-recomputation`: what a launch of one block makes each block of the launch behind it computes by itself.
    BlockRecomputation,
    /// `buffer-renaming`: launches that wait get other memory for what they replace, where others still use what
    /// was there.
    BufferRenaming,
    /// `heterogeneous-batches`: launches of different code, or with different grids, that meet in a batch are one.
    HeterogeneousBatches,
}

impl Optimisation {
    /// All of them.
    pub const ALL: [Self; 25] = [
        Self::StoreToLoadForwarding,
        Self::DeadStores,
        Self::DeadBuffers,
        Self::CodeMotion,
        Self::AliasScopes,
        Self::TileMerging,
        Self::UniformRecomputation,
        Self::RedundantBarriers,
        Self::RowPromotion,
        Self::BufferPromotion,
        Self::SharedMemoryReuse,
        Self::LoopFusion,
        Self::HostConstants,
        Self::PointerRebasing,
        Self::ArgumentPromotion,
        Self::LaunchBatches,
        Self::PersistentLoops,
        Self::LoopRotation,
        Self::LoopEnds,
        Self::AskedMemory,
        Self::ThreadRemapping,
        Self::PermutedBlocks,
        Self::BlockRecomputation,
        Self::BufferRenaming,
        Self::HeterogeneousBatches,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::StoreToLoadForwarding => "store-to-load-forwarding",
            Self::DeadStores => "dead-stores",
            Self::DeadBuffers => "dead-buffers",
            Self::CodeMotion => "code-motion",
            Self::AliasScopes => "alias-scopes",
            Self::TileMerging => "tile-merging",
            Self::UniformRecomputation => "uniform-recomputation",
            Self::RedundantBarriers => "redundant-barriers",
            Self::RowPromotion => "row-promotion",
            Self::BufferPromotion => "buffer-promotion",
            Self::SharedMemoryReuse => "shared-memory-reuse",
            Self::LoopFusion => "loop-fusion",
            Self::HostConstants => "host-constants",
            Self::PointerRebasing => "pointer-rebasing",
            Self::ArgumentPromotion => "argument-promotion",
            Self::LaunchBatches => "launch-batches",
            Self::PersistentLoops => "persistent-loops",
            Self::LoopRotation => "loop-rotation",
            Self::LoopEnds => "loop-ends",
            Self::AskedMemory => "asked-memory",
            Self::ThreadRemapping => "thread-remapping",
            Self::PermutedBlocks => "permuted-blocks",
            Self::BlockRecomputation => "block-recomputation",
            Self::BufferRenaming => "buffer-renaming",
            Self::HeterogeneousBatches => "heterogeneous-batches",
        }
    }

    /// The optimisation of a name; what one was called before counts, too.
    pub fn of_name(name: &str) -> Option<Self> {
        let former = FORMER_NAMES.iter().find(|(former, _)| *former == name);
        let name = former.map_or(name, |(_, name)| name);
        let mut all = Self::ALL.into_iter();
        all.find(|optimisation| optimisation.name() == name)
    }

    /// What it does, for people.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::StoreToLoadForwarding => {
                "what one launch stores and the next loads stays in registers"
            }
            Self::DeadStores => "memory that nobody reads afterwards is not written",
            Self::DeadBuffers => "memory that only fused kernels would touch is not allocated",
            Self::CodeMotion => "independent launches wait at common barriers",
            Self::AliasScopes => "LLVM is told which accesses go to different allocations",
            Self::TileMerging => "shared variables that always hold the same are one",
            Self::UniformRecomputation => {
                "what one thread stores for its block is computed by each"
            }
            Self::RedundantBarriers => "barriers that nothing needs any more are left out",
            Self::RowPromotion => {
                "rows that a block walks over several times stay in shared memory"
            }
            Self::BufferPromotion => {
                "what threads of a block hand to each other stays in shared memory"
            }
            Self::SharedMemoryReuse => "shared variables that are in use in turn share storage",
            Self::LoopFusion => "loops that follow each other and run equally often are one",
            Self::HostConstants => "arguments and extents that the host knows are constants",
            Self::PointerRebasing => "pointers into one allocation are one parameter",
            Self::ArgumentPromotion => "of structs only the fields that are read are passed",
            Self::LaunchBatches => {
                "launches of loops wait until all that can run together is known"
            }
            Self::PersistentLoops => {
                "iterations of a host loop that meet in no other block are one launch"
            }
            Self::LoopRotation => {
                "the end of an iteration of a host loop and the beginning of the next are one launch"
            }
            Self::LoopEnds => "the end of a host loop and what stands behind it are one launch",
            Self::AskedMemory => {
                "launches move past accesses of the host to what proves to be other memory"
            }
            Self::ThreadRemapping => {
                "kernels of other blocks and grids take over their neighbours' threads"
            }
            Self::PermutedBlocks => "whole blocks take over a neighbour's in another arrangement",
            Self::BlockRecomputation => {
                "what a launch of one block makes each block behind it computes by itself"
            }
            Self::BufferRenaming => "launches that wait get other memory for what they replace",
            Self::HeterogeneousBatches => {
                "launches of different code that can run together are one"
            }
        }
    }
}

/// What optimisations were called before, and their names now.
const FORMER_NAMES: [(&str, &str); 13] = [
    ("forward-values", "store-to-load-forwarding"),
    ("common-tiles", "tile-merging"),
    ("broadcast-values", "uniform-recomputation"),
    ("staged-rows", "row-promotion"),
    ("staged-blocks", "buffer-promotion"),
    ("shared-overlay", "shared-memory-reuse"),
    ("join-loops", "loop-fusion"),
    ("one-base", "pointer-rebasing"),
    ("struct-fields", "argument-promotion"),
    ("waves", "launch-batches"),
    ("dealt-threads", "thread-remapping"),
    ("expand-buffers", "buffer-renaming"),
    ("mixed-waves", "heterogeneous-batches"),
];
