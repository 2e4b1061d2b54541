//! Loops of the host that allocate or free and run a few times, written out.
//!
//! `for (float **p : {&x, &y}) cudaMalloc(p, bytes);` makes two allocations at one place of the program. What tells
//! allocations apart is their place, so that such loops are written out before anybody looks for places; so are those
//! that free, which then name what they free.
//!
//! Invariant: no loop with a launch is written out, and all others keep what the user says of them. Whether a loop
//! runs as often as it seems to here is for LLVM to prove.

use super::ir::{Block, Value};
use super::{ProgramError, passes};
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use llvm_sys::prelude::*;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, HashSet};

/// LLVM's own form of loops, and the writing out of those that are marked.
const WRITE_OUT: &str = "loop-simplify,lcssa,loop(loop-unroll-full)";

/// So many iterations may a loop have.
const MOST_ITERATIONS: u64 = 32;

/// So many instructions may all iterations of a loop have together.
const MOST_INSTRUCTIONS: u64 = 4_000;

/// Functions that allocate memory of the device, or free it.
const ALLOCATING: [&str; 16] = [
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocAsync_ptsz",
    "cudaMallocPitch",
    "cudaMallocManaged",
    "cudaFree",
    "cudaFreeAsync",
    "cudaFreeAsync_ptsz",
    "cuMemAlloc",
    "cuMemAlloc_v2",
    "cuMemAllocAsync",
    "cuMemAllocAsync_ptsz",
    "cuMemFree",
    "cuMemFree_v2",
    "cuMemFreeAsync",
    "cuMemFreeAsync_ptsz",
];

/// Writes out the short loops of a function that allocate or free; tells whether there were any.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses a pipeline.
pub(super) fn write_out(
    host: &Module<'_>,
    function: Value,
    machine: &TargetMachine,
) -> Result<bool, ProgramError> {
    let Some(defined) = function.as_function() else {
        return Ok(false);
    };
    let flow = Flow::of(function);
    let chosen: Vec<Loop> = flow.loops().into_iter().filter(Loop::is_chosen).collect();
    if chosen.is_empty() {
        return Ok(false);
    }
    for (latch, header) in flow.back_edges() {
        let Some(end) = latch.terminator() else {
            continue;
        };
        let wanted = chosen.iter().any(|of| of.header == header);
        end.mark_loop(host, wanted);
    }
    let written = passes::run_on_function(defined, WRITE_OUT, machine);
    for end in function.blocks().into_iter().filter_map(Block::terminator) {
        end.unmark_loop(host);
    }
    written.map(|()| true)
}

/// The blocks of a function, and what dominates what.
struct Flow {
    blocks: Vec<Block>,
    graph: DiGraph<(), ()>,
    dominators: Dominators<NodeIndex>,
}

impl Flow {
    fn of(function: Value) -> Self {
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

    /// The ends of iterations, each with the block that the next one begins with.
    fn edges_back(&self) -> impl Iterator<Item = (NodeIndex, NodeIndex)> + '_ {
        let ends = self.graph.edge_indices();
        let ends = ends.filter_map(|edge| self.graph.edge_endpoints(edge));
        ends.filter(|(latch, header)| self.dominates(*header, *latch))
    }

    fn back_edges(&self) -> impl Iterator<Item = (Block, Block)> + '_ {
        self.edges_back()
            .map(|(latch, header)| (self.blocks[latch.index()], self.blocks[header.index()]))
    }

    /// The loops with one end.
    fn loops(&self) -> Vec<Loop> {
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
struct Loop {
    header: Block,
    latch: Block,
    blocks: HashSet<Block>,
}

impl Loop {
    /// Whether it allocates or frees, launches nothing, and seems to be short.
    fn is_chosen(&self) -> bool {
        let instructions: Vec<Value> = self
            .blocks
            .iter()
            .flat_map(|block| block.instructions())
            .collect();
        let called = || instructions.iter().filter_map(|call| call.called_name());
        let allocates = called().any(|name| ALLOCATING.contains(&name.as_str()));
        // What is called through a pointer may launch as well.
        let launches = |call: &Value| match call.called_name() {
            Some(name) => may_launch(&name),
            None => call.is_call(),
        };
        let size = instructions.len() as u64;
        allocates
            && !instructions.iter().any(launches)
            && self.iterations().is_some_and(|count| {
                count <= MOST_ITERATIONS && count.saturating_mul(size) <= MOST_INSTRUCTIONS
            })
    }

    /// How often it would run if it were left by a test of a counter alone.
    fn iterations(&self) -> Option<u64> {
        let outside: Vec<Value> = self
            .blocks
            .iter()
            .filter_map(|block| block.terminator())
            .filter(|end| {
                let mut next = end.successors().into_iter();
                next.any(|next| !self.blocks.contains(&next))
            })
            .collect();
        let tests = outside.iter().flat_map(|end| end.operands());
        tests.filter_map(|test| self.counted(test)).min()
    }

    /// How often it runs where this comparison ends it.
    fn counted(&self, test: Value) -> Option<u64> {
        (test.opcode() == Some(LLVMOpcode::LLVMICmp)).then_some(())?;
        let [left, right] = test.operands().try_into().ok()?;
        [(left, right), (right, left)]
            .into_iter()
            .find_map(|(counter, bound)| {
                let counter = Place::of(counter);
                let phi = counter.base.filter(|base| self.is_own_phi(*base))?;
                let (first, next) = self.incoming(phi)?;
                let (first, next, bound) = (Place::of(first), Place::of(next), Place::of(bound));
                let step = next.less(&Place::of(phi))?;
                let distance = bound.less(&first)?;
                let count = distance.unsigned_abs().div_ceil(step.unsigned_abs().max(1));
                (step != 0).then_some(count)
            })
    }

    fn is_own_phi(&self, value: Value) -> bool {
        value.opcode() == Some(LLVMOpcode::LLVMPHI) && value.block() == Some(self.header)
    }

    /// What a value of the header is at first, and after an iteration.
    fn incoming(&self, phi: Value) -> Option<(Value, Value)> {
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

/// Whether a function of this name may launch a kernel.
fn may_launch(name: &str) -> bool {
    name.starts_with("sirius.")
        || name.contains("Launch")
        || super::canonicalise_host::is_device_library(name)
}

/// A value as a constant distance from another; no other: a number.
struct Place {
    base: Option<Value>,
    distance: i64,
}

impl Place {
    fn of(value: Value) -> Self {
        if let Some(number) = value.integer() {
            return Self {
                base: None,
                distance: number,
            };
        }
        let here = Self {
            base: Some(value),
            distance: 0,
        };
        let added = match value.opcode() {
            Some(LLVMOpcode::LLVMAdd) => value.operands().get(1).and_then(|by| by.integer()),
            Some(LLVMOpcode::LLVMGetElementPtr) => bytes_added(value),
            _ => None,
        };
        match (added, value.operands().first()) {
            (Some(added), Some(from)) => {
                let from = Self::of(*from);
                Self {
                    base: from.base,
                    distance: from.distance.wrapping_add(added),
                }
            }
            _ => here,
        }
    }

    fn less(&self, other: &Self) -> Option<i64> {
        let same = self.base == other.base;
        same.then(|| self.distance.checked_sub(other.distance))?
    }
}

/// The bytes that an address in canonical form, one constant index over bytes, adds.
fn bytes_added(address: Value) -> Option<i64> {
    let [_, index] = address.operands().try_into().ok()?;
    // SAFETY: a live instruction or constant that computes an address.
    let element = unsafe { LLVMGetGEPSourceElementType(address.0) };
    // SAFETY: a live type; only that of an integer is asked for its width.
    let bytes = unsafe {
        match LLVMGetTypeKind(element) {
            llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind => {
                i64::from(LLVMGetIntTypeWidth(element)) / 8
            }
            llvm_sys::LLVMTypeKind::LLVMPointerTypeKind => 8,
            _ => return None,
        }
    };
    index.integer()?.checked_mul(bytes)
}

/// What a loop has that is not to be written out for now, and one that is: what LLVM reads, and that it was we
/// who said so.
const MARKS: [[&str; 2]; 2] = [
    ["llvm.loop.unroll.disable", "sirius.held"],
    ["llvm.loop.unroll.full", "sirius.chosen"],
];

impl Value {
    /// Has LLVM write out the loop that this branch ends, or forbids it, until [`Self::unmark_loop`].
    fn mark_loop(self, module: &Module<'_>, wanted: bool) {
        let mut properties = self.loop_properties(module);
        properties.extend(marks(module, wanted));
        self.set_loop_properties(module, &properties);
    }

    /// Takes back what [`Self::mark_loop`] said, where it did.
    fn unmark_loop(self, module: &Module<'_>) {
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
