//! A member's body -> its skeleton: what runs one after the other in every thread, as far as barriers
//! are concerned.
//!
//! Every way through a body passes the blocks that dominate its end. What lies between two of them is
//! a *region*, with one way in and one way out, whatever happens inside. The blocks themselves are cut
//! at their barriers. A loop on that way which has one exit and tests it in every iteration is taken
//! apart in the same manner.
//!
//! Invariant: cutting a body changes nothing that it does. Each part begins without phis and ends with
//! an unconditional branch, so that parts can be put into another order by changing branches alone.

use crate::codegen::device::is_block_barrier;
use crate::llvm::{self, Block, NaturalLoop, Opcode, Value};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// A part of a body.
pub(super) enum Part<'ctx> {
    /// Anything that is left as it is.
    Region {
        /// Where it begins.
        entry: Block<'ctx>,
        /// Where it ends.
        exit: Block<'ctx>,
    },
    /// A block that is a barrier of the whole block of threads.
    Barrier(Block<'ctx>),
    /// A loop that is left in one place.
    Loop(Box<SingleExitLoop<'ctx>>),
}

/// Which loops are taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loops {
    /// All that have the form for it.
    All,
    /// Of these the ones with barriers inside.
    WithBarriers,
}

/// A loop: `preheader`, then `header`, `before`, `test`, `after`, `latch` and back to `header`.
pub(super) struct SingleExitLoop<'ctx> {
    /// Leads to the header; does nothing.
    pub(super) preheader: Block<'ctx>,
    /// Phis only.
    pub(super) header: Block<'ctx>,
    /// What runs in every iteration, the last one included.
    pub(super) before: Vec<Part<'ctx>>,
    /// A conditional branch only.
    pub(super) test: Block<'ctx>,
    /// Which of the test's two ways leaves the loop.
    pub(super) leaving: u32,
    /// What runs in every iteration but the last one.
    pub(super) after: Vec<Part<'ctx>>,
    /// Leads to the header; does nothing.
    pub(super) latch: Block<'ctx>,
    /// Where the loop is left to; does nothing.
    pub(super) exit: Block<'ctx>,
    /// Whether threads wait for each other inside.
    pub(super) waits: bool,
    /// How many loops of members it is.
    pub(super) joined: usize,
}

impl<'ctx> Part<'ctx> {
    pub(super) fn entry(&self) -> Block<'ctx> {
        match self {
            Self::Region { entry, .. } => *entry,
            Self::Barrier(block) => *block,
            Self::Loop(parts) => parts.preheader,
        }
    }

    pub(super) fn exit(&self) -> Block<'ctx> {
        match self {
            Self::Region { exit, .. } => *exit,
            Self::Barrier(block) => *block,
            Self::Loop(parts) => parts.exit,
        }
    }
}

/// Cuts the blocks of one member, which begin with `entry`, do not branch back to it and are left from
/// `end` alone. `None`, with nothing changed but blocks cut in two, when they have a form that is not
/// understood.
pub(super) fn cut<'ctx>(
    module: &Module<'ctx>,
    blocks: &[Block<'ctx>],
    entry: Block<'ctx>,
    end: Block<'ctx>,
    loops: Loops,
) -> Option<Vec<Part<'ctx>>> {
    let flow = ControlFlow::of(blocks, entry, loops)?;
    let path = flow.path(entry, end)?;
    let mut parts = Vec::new();
    flow.sequence(module, &path, None, &mut parts)?;
    let (exit, _) = flow.pieces(end, false, &mut parts);
    parts.push(Part::Region {
        entry: exit,
        exit: end,
    });
    Some(parts)
}

/// Control flow as it was before anything was cut.
struct ControlFlow<'ctx> {
    flow: llvm::ControlFlow<'ctx>,
    /// Where each block led to.
    successors: HashMap<Block<'ctx>, Vec<Block<'ctx>>>,
    /// By header.
    loops: HashMap<Block<'ctx>, NaturalLoop<'ctx>>,
    taken_apart: Loops,
}

impl<'ctx> ControlFlow<'ctx> {
    /// `None` for control flow that is not reducible.
    fn of(blocks: &[Block<'ctx>], entry: Block<'ctx>, taken_apart: Loops) -> Option<Self> {
        let own: HashSet<Block> = blocks.iter().copied().collect();
        let flow = llvm::ControlFlow::among(entry, |block| own.contains(&block));
        let after = |block: &Block<'ctx>| {
            let next = block.successors().into_iter();
            (*block, next.filter(|to| own.contains(to)).collect())
        };
        let loops = flow.natural_loops().into_iter();
        flow.is_reducible().then(|| Self {
            successors: blocks.iter().map(after).collect(),
            loops: loops.map(|found| (found.header, found)).collect(),
            flow,
            taken_apart,
        })
    }

    /// The blocks on every way from one to another, both included.
    fn path(&self, from: Block<'ctx>, to: Block<'ctx>) -> Option<Vec<Block<'ctx>>> {
        let mut path = Vec::new();
        for block in self.flow.dominators(to) {
            path.push(block);
            if block == from {
                path.reverse();
                return Some(path);
            }
        }
        None
    }

    /// The parts along a path, up to where the last block begins, phis excluded.
    fn sequence(
        &self,
        module: &Module<'ctx>,
        path: &[Block<'ctx>],
        scope: Option<&NaturalLoop<'ctx>>,
        parts: &mut Vec<Part<'ctx>>,
    ) -> Option<()> {
        let mut at = 0;
        while at + 1 < path.len() {
            let block = path[at];
            // Where the region that begins here ends: loops that are left whole belong to it.
            let mut next = at + 1;
            let mut inner = None;
            while let Some(own) = self.loops.get(path.get(next)?) {
                inner = self.shape(own);
                let last = path.iter().rposition(|block| own.blocks.contains(block))?;
                if inner.is_some() {
                    break;
                }
                next = last + 1;
            }
            let to = path[next];
            if inner.is_some() && next != at + 1 {
                return None;
            }
            self.check_region(block, to, scope)?;
            let (entry, _) = self.pieces(block, false, parts);
            match inner {
                None => {
                    let exit = to.split_head(to.phis().len());
                    parts.push(Part::Region { entry, exit });
                    at = next;
                }
                Some(inner) => {
                    parts.push(Part::Region { entry, exit: block });
                    let after = inner.exit;
                    parts.push(Part::Loop(Box::new(self.take_loop(module, &inner)?)));
                    at = path.iter().position(|block| *block == after)?;
                }
            }
        }
        Some(())
    }

    /// Cuts a block at its barriers, and before its terminator when that is to be alone. Returns the
    /// block that holds what comes after the last barrier, and whether anything does.
    fn pieces(
        &self,
        block: Block<'ctx>,
        terminator_alone: bool,
        parts: &mut Vec<Part<'ctx>>,
    ) -> (Block<'ctx>, bool) {
        while let Some(place) = block.instructions().into_iter().position(is_plain_barrier) {
            if place > 0 {
                let head = block.split_head(place);
                parts.push(Part::Region {
                    entry: head,
                    exit: head,
                });
            }
            let barrier = block.split_head(1);
            parts.push(Part::Barrier(barrier));
        }
        let rest = block.instructions().len();
        if terminator_alone && rest > 1 {
            let head = block.split_head(rest - 1);
            parts.push(Part::Region {
                entry: head,
                exit: head,
            });
        }
        (block, rest > 1)
    }

    /// What is dominated by `from` and not by `to` is entered at `from` and left to `to` alone.
    fn check_region(&self, from: Block, to: Block, scope: Option<&NaturalLoop>) -> Option<()> {
        let inside = |block: &Block| {
            scope.is_none_or(|scope| scope.blocks.contains(block))
                && self.flow.dominates(from, *block)
                && !self.flow.dominates(to, *block)
        };
        for block in self.flow.blocks().filter(inside) {
            let mut successors = self.successors[&block].iter();
            if !successors.all(|next| inside(next) && *next != from || *next == to) {
                return None;
            }
        }
        Some(())
    }

    /// The loop in the form that is taken apart, when it has it and shall be.
    fn shape<'a>(&self, own: &'a NaturalLoop<'ctx>) -> Option<Shape<'a, 'ctx>> {
        let [latch] = own.latches[..] else {
            return None;
        };
        let mut outside = self.flow.predecessors(own.header).iter();
        let before = *outside.find(|block| !own.blocks.contains(*block))?;
        if outside.any(|block| !own.blocks.contains(block)) || self.successors[&before].len() != 1 {
            return None;
        }
        let mut leaving = Vec::new();
        for block in &own.blocks {
            for (index, next) in (0..).zip(&self.successors[block]) {
                if !own.blocks.contains(next) {
                    leaving.push((*block, index, *next));
                }
            }
        }
        let [(test, leaving, exit)] = leaving[..] else {
            return None;
        };
        test.terminator()?.branch_condition()?;
        let alone = self.flow.predecessors(exit).len() == 1;
        let mut instructions = own.blocks.iter().flat_map(|block| block.instructions());
        let waits = instructions.any(|instruction| {
            let name = instruction.called_name();
            name.is_some_and(|name| is_block_barrier(&name))
        });
        let wanted = waits || self.taken_apart == Loops::All;
        (alone && wanted && self.flow.dominates(test, latch)).then_some(Shape {
            own,
            before,
            test,
            leaving,
            latch,
            exit,
            waits,
        })
    }

    fn take_loop(
        &self,
        module: &Module<'ctx>,
        shape: &Shape<'_, 'ctx>,
    ) -> Option<SingleExitLoop<'ctx>> {
        let Shape {
            own,
            test,
            latch: last,
            ..
        } = *shape;
        let header = own.header.split_head(own.header.phis().len());
        let preheader = between(shape.before, header);
        let mut before = Vec::new();
        let path = self.path(own.header, test)?;
        self.sequence(module, &path, Some(own), &mut before)?;
        self.pieces(test, true, &mut before);
        let mut after = Vec::new();
        if test != last {
            let next = self.successors[&test][1 - shape.leaving as usize];
            let begin = next.split_head(next.phis().len());
            fold_phis(begin);
            after.push(Part::Region {
                entry: begin,
                exit: begin,
            });
            let path = self.path(next, last)?;
            self.sequence(module, &path, Some(own), &mut after)?;
            let (entry, _) = self.pieces(last, false, &mut after);
            after.push(Part::Region { entry, exit: last });
        }
        let latch = between(last, header);
        let exit = shape.exit.split_head(shape.exit.phis().len());
        fold_phis(exit);
        Some(SingleExitLoop {
            preheader,
            header,
            before,
            test,
            leaving: shape.leaving,
            after,
            latch,
            exit,
            waits: shape.waits,
            joined: 1,
        })
    }
}

struct Shape<'a, 'ctx> {
    own: &'a NaturalLoop<'ctx>,
    /// The block from which the loop is entered.
    before: Block<'ctx>,
    test: Block<'ctx>,
    leaving: u32,
    latch: Block<'ctx>,
    exit: Block<'ctx>,
    waits: bool,
}

/// A block of its own between two.
fn between<'ctx>(from: Block<'ctx>, to: Block<'ctx>) -> Block<'ctx> {
    let block = Block::append(to.function(), "");
    block.branch_to(to);
    from.redirect(to, block);
    for phi in to.phis() {
        let incoming: Vec<_> = phi
            .incoming()
            .into_iter()
            .map(|(value, source)| (value, if source == from { block } else { source }))
            .collect();
        phi.replace_phi(to, &incoming);
    }
    block
}

/// Replaces phis of one incoming value by it.
fn fold_phis(block: Block) {
    for phi in block.phis() {
        if let [(value, _)] = phi.incoming()[..] {
            phi.replace_uses_with(value);
            phi.erase();
        }
    }
}

/// A barrier of all threads of the block and nothing else.
fn is_plain_barrier(instruction: Value) -> bool {
    instruction.opcode() == Some(Opcode::LLVMCall)
        && instruction.called_name().as_deref() == Some(BARRIER)
        && instruction.call_arguments()[0].constant_integer() == Some(0)
}

const BARRIER: &str = "llvm.nvvm.barrier.cta.sync.aligned.all";
