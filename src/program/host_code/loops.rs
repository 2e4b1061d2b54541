//! Loops of functions, and the marks by which LLVM is told which of them to write out.
//!
//! Invariant: what the user says of a loop is there again once its mark is taken back.

use super::super::ir::{Block, Value};
use inkwell::module::Module;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use llvm_sys::prelude::*;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, HashSet};

/// The blocks of a function, and what dominates what.
pub(in crate::program) struct Flow {
    blocks: Vec<Block>,
    graph: DiGraph<(), ()>,
    dominators: Dominators<NodeIndex>,
}

impl Flow {
    /// Of a function with a body.
    pub(in crate::program) fn of(function: Value) -> Self {
        let blocks = function.blocks();
        let number: HashMap<Block, usize> = blocks
            .iter()
            .enumerate()
            .map(|(index, block)| (*block, index))
            .collect();
        let mut graph = DiGraph::new();
        blocks.iter().for_each(|_| {
            graph.add_node(());
        });
        for (index, block) in blocks.iter().enumerate() {
            let next = block.terminator().map(Value::successors);
            for next in next.into_iter().flatten() {
                if let Some(next) = number.get(&next) {
                    graph.add_edge(NodeIndex::new(index), NodeIndex::new(*next), ());
                }
            }
        }
        let dominators = simple_fast(&graph, NodeIndex::new(0));
        Self {
            blocks,
            graph,
            dominators,
        }
    }

    fn dominates(&self, one: NodeIndex, other: NodeIndex) -> bool {
        let above = self.dominators.dominators(other);
        above.is_some_and(|mut above| above.any(|block| block == one))
    }

    /// Whether control can come from one block to another without `through`; a block comes to itself.
    pub(in crate::program) fn reaches_without(
        &self,
        from: Block,
        to: Block,
        through: Block,
    ) -> bool {
        let place = |block: Block| self.blocks.iter().position(|each| *each == block);
        let (Some(from), Some(to), Some(through)) = (place(from), place(to), place(through)) else {
            return false;
        };
        let mut seen = HashSet::from([through]);
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if !seen.insert(block) {
                continue;
            }
            if block == to {
                return true;
            }
            let after = self.graph.neighbors(NodeIndex::new(block));
            open.extend(after.map(NodeIndex::index));
        }
        false
    }

    /// The ends of iterations, each with the block that the next one begins with.
    fn edges_back(&self) -> impl Iterator<Item = (NodeIndex, NodeIndex)> + '_ {
        let ends = self.graph.edge_indices();
        let ends = ends.filter_map(|edge| self.graph.edge_endpoints(edge));
        ends.filter(|(latch, header)| self.dominates(*header, *latch))
    }

    /// The same, as blocks.
    pub(in crate::program) fn back_edges(&self) -> impl Iterator<Item = (Block, Block)> + '_ {
        self.edges_back()
            .map(|(latch, header)| (self.blocks[latch.index()], self.blocks[header.index()]))
    }

    /// Whether control comes to one block only through another.
    pub(in crate::program) fn comes_through(&self, block: Block, through: Block) -> bool {
        let place = |block: Block| self.blocks.iter().position(|each| *each == block);
        let ends = place(block).zip(place(through));
        ends.is_some_and(|(block, through)| {
            self.dominates(NodeIndex::new(through), NodeIndex::new(block))
        })
    }

    /// The innermost loop with one end around a block.
    pub(in crate::program) fn innermost(&self, block: Block) -> Option<Loop> {
        let loops = self.loops().into_iter();
        let around = loops.filter(|each| each.blocks.contains(&block));
        around.min_by_key(|each| each.blocks.len())
    }

    /// The loops with one end.
    pub(in crate::program) fn loops(&self) -> Vec<Loop> {
        let mut latches: HashMap<NodeIndex, Vec<NodeIndex>> = HashMap::new();
        for (latch, header) in self.edges_back() {
            latches.entry(header).or_default().push(latch);
        }
        let single = latches
            .into_iter()
            .filter_map(|(header, latches)| match latches.as_slice() {
                [latch] => Some((header, *latch)),
                _ => None,
            });
        single
            .map(|(header, latch)| {
                let mut inside = HashSet::from([header]);
                let mut open = vec![latch];
                while let Some(block) = open.pop() {
                    if inside.insert(block) {
                        let before = self.graph.neighbors_directed(block, petgraph::Incoming);
                        open.extend(before);
                    }
                }
                let block = |index: NodeIndex| self.blocks[index.index()];
                Loop {
                    header: block(header),
                    latch: block(latch),
                    blocks: inside.into_iter().map(block).collect(),
                }
            })
            .collect()
    }
}

/// A loop with one end.
pub(in crate::program) struct Loop {
    /// Its first block, which all others are reached through.
    pub(in crate::program) header: Block,
    /// The one block that goes back to the header.
    pub(in crate::program) latch: Block,
    /// All of them.
    pub(in crate::program) blocks: HashSet<Block>,
}

impl Loop {
    /// Whether a value is a phi of the header.
    pub(in crate::program) fn is_own_phi(&self, value: Value) -> bool {
        value.opcode() == Some(LLVMOpcode::LLVMPHI) && value.block() == Some(self.header)
    }

    /// What a value of the header is at first, and after an iteration.
    pub(in crate::program) fn incoming(&self, phi: Value) -> Option<(Value, Value)> {
        // SAFETY: a phi of a live block has as many values and blocks as it says.
        let from: Vec<(Value, Block)> = unsafe {
            (0..LLVMCountIncoming(phi.0))
                .map(|index| {
                    let value = Value(LLVMGetIncomingValue(phi.0, index));
                    (value, Block(LLVMGetIncomingBlock(phi.0, index)))
                })
                .collect()
        };
        match from.as_slice() {
            [(next, latch), (first, _)] | [(first, _), (next, latch)] if *latch == self.latch => {
                Some((*first, *next))
            }
            _ => None,
        }
    }
}

/// What a loop has that is not to be written out for now, and one that is: what LLVM reads, and that it was we
/// who said so.
const MARKS: [[&str; 2]; 2] = [
    ["llvm.loop.unroll.disable", "sirius.held"],
    ["llvm.loop.unroll.full", "sirius.chosen"],
];

impl Value {
    /// Makes a terminator go to another block wherever it goes to `from`.
    pub(in crate::program) fn redirect(self, from: Block, to: Block) {
        for (index, successor) in self.successors().into_iter().enumerate() {
            if successor == from {
                // SAFETY: callers pass terminators; this one has so many successors.
                unsafe { LLVMSetSuccessor(self.0, index as u32, to.0) }
            }
        }
    }

    /// Has LLVM write out the loop that this branch ends, or forbids it, until [`Self::unmark_loop`].
    pub(in crate::program) fn mark_loop(self, module: &Module<'_>, wanted: bool) {
        let mut properties = self.loop_properties(module);
        properties.extend(marks(module, wanted));
        self.set_loop_properties(module, &properties);
    }

    /// Says nothing of the loop that this branch ends any more, for good.
    pub(in crate::program) fn forget_loop(self, module: &Module<'_>) {
        self.remove_metadata(module, LOOP);
    }

    /// Takes back what [`Self::mark_loop`] said, where it did.
    pub(in crate::program) fn unmark_loop(self, module: &Module<'_>) {
        let properties = self.loop_properties(module);
        for wanted in [false, true] {
            match properties.strip_suffix(&marks(module, wanted)[..]) {
                None => {}
                Some([]) => self.remove_metadata(module, LOOP),
                Some(rest) => self.set_loop_properties(module, rest),
            }
        }
    }

    fn loop_properties(self, module: &Module<'_>) -> Vec<LLVMMetadataRef> {
        // SAFETY: a live instruction; `raw` has room for as many operands as LLVM writes. The first one is the
        // loop's name.
        unsafe {
            let node = LLVMGetMetadata(self.0, loop_kind(module));
            if node.is_null() {
                return Vec::new();
            }
            let mut raw = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, raw.as_mut_ptr());
            let operands = raw.into_iter().skip(1);
            operands
                .map(|operand| LLVMValueAsMetadata(operand))
                .collect()
        }
    }

    fn set_loop_properties(self, module: &Module<'_>, properties: &[LLVMMetadataRef]) {
        // SAFETY: the list has as many elements as is said; the temporary node is replaced by the one that names
        // itself, as a loop's does, and is gone then.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let name = LLVMTemporaryMDNode(context, std::ptr::null_mut(), 0);
            let mut raw = vec![name];
            raw.extend(properties);
            let node = LLVMMDNodeInContext2(context, raw.as_mut_ptr(), raw.len());
            LLVMMetadataReplaceAllUsesWith(name, node);
            let value = LLVMMetadataAsValue(context, node);
            LLVMSetMetadata(self.0, loop_kind(module), value);
        }
    }
}

const LOOP: &str = "llvm.loop";

fn loop_kind(module: &Module<'_>) -> u32 {
    // SAFETY: the context of a live module; pointer and length describe the name.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        LLVMGetMDKindIDInContext(context, LOOP.as_ptr().cast(), LOOP.len() as u32)
    }
}

fn marks(module: &Module<'_>, wanted: bool) -> [LLVMMetadataRef; 2] {
    MARKS[usize::from(wanted)].map(|text| {
        // SAFETY: the context of a live module; pointers and lengths describe the text and the list of one.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let mut text = LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len());
            LLVMMDNodeInContext2(context, &raw mut text, 1)
        }
    })
}
