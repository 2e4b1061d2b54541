//! What a function writes into the parameters of kernel nodes (`cudaKernelNodeParams`), as far as its code shows.
//!
//! All of this is a guess of what two nodes have in common: what is written here may be written again before it is used. Whoever
//! takes it for true asks when the program runs.

use super::graph_nodes::{Place, place};
use crate::llvm::{Opcode, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A place where a function stores the symbol of a kernel.
pub struct NodeSite<'ctx> {
    /// The symbol.
    pub stub: Value<'ctx>,
    /// Grid x, y, z, block x, y, z.
    pub extents: [Written; 6],
    /// What each argument is, where that is known; what is equal is the same text.
    pub arguments: Vec<Option<String>>,
}

/// What is written into a field.
pub enum Written {
    /// A number.
    Constant(u32),
    /// What this text says, which is the same for equal values.
    As(String),
    /// Nothing that is known.
    Unknown,
}

/// Most kernels of a chain.
const MOST_KERNELS: usize = 8;
/// Most arguments that are looked for.
const MOST_ARGUMENTS: i64 = 64;
/// How deep values are looked into.
const MOST_DEPTH: usize = 8;

/// Where fields of `cudaKernelNodeParams` are, in bytes behind the function.
const EXTENTS_BYTES: i64 = 8;
const ARGUMENTS_BYTES: i64 = 40;
const POINTER_BYTES: i64 = 8;

/// The sites in the order of a function's code.
pub fn node_sites<'ctx>(function: Value<'ctx>, stubs: &BTreeSet<String>) -> Vec<NodeSite<'ctx>> {
    let instructions = function.instructions();
    let is_stub = |value: Value| value.is_function() && stubs.contains(&value.name());
    let is_named =
        |each: &Value| each.opcode() == Some(Opcode::LLVMStore) && is_stub(each.operand(0));
    if !instructions.iter().any(is_named) {
        return Vec::new();
    }
    let mut stores = Stores::default();
    for (at, each) in instructions.iter().enumerate() {
        if each.opcode() == Some(Opcode::LLVMStore)
            && let Some(place) = place(each.operand(1))
        {
            stores
                .by_place
                .entry(place)
                .or_default()
                .push((at, each.operand(0)));
        }
    }
    let mut sites = Vec::new();
    for (at, each) in instructions.iter().enumerate() {
        if !is_named(each) {
            continue;
        }
        let Some((base, begin)) = place(each.operand(1)) else {
            continue;
        };
        let field = |offset: i64| stores.nearest((base, begin + offset), at);
        let extents = std::array::from_fn(|axis| match field(EXTENTS_BYTES + 4 * axis as i64) {
            Some(value) if value.ty().is_integer() && value.ty().integer_bits() == 32 => {
                match value.constant_integer() {
                    Some(extent) => Written::Constant(extent as u32),
                    None => Written::As(stores.text(value, 0)),
                }
            }
            _ => Written::Unknown,
        });
        let array = field(ARGUMENTS_BYTES).and_then(place);
        let argument = |index: i64| {
            let (array, first) = array?;
            let slot = stores.nearest((array, first + POINTER_BYTES * index), at)?;
            let kept = place(slot).and_then(|place| stores.nearest(place, at));
            Some(match kept {
                Some(value) => stores.text(value, 0),
                None => format!("load({})", stores.text(slot, 0)),
            })
        };
        sites.push(NodeSite {
            stub: each.operand(0),
            extents,
            arguments: (0..MOST_ARGUMENTS).map(argument).collect(),
        });
    }
    sites
}

/// Sites that follow each other, each kernel once, as far as nodes of them may be a chain.
pub fn chains_of(sites: Vec<NodeSite>) -> Vec<Vec<NodeSite>> {
    let mut chains: Vec<Vec<NodeSite>> = Vec::new();
    for site in sites {
        match chains.last_mut() {
            Some(chain)
                if chain.len() < MOST_KERNELS
                    && chain.iter().all(|known| known.stub != site.stub) =>
            {
                chain.push(site);
            }
            _ => chains.push(vec![site]),
        }
    }
    chains.retain(|chain| chain.len() > 1);
    chains
}

/// What a function stores into its slots.
#[derive(Default)]
struct Stores<'ctx> {
    /// By place: where in the function, and what.
    by_place: BTreeMap<Place<'ctx>, Vec<(usize, Value<'ctx>)>>,
}

impl<'ctx> Stores<'ctx> {
    /// What is stored there, by the store that is next in the code.
    fn nearest(&self, place: Place<'ctx>, at: usize) -> Option<Value<'ctx>> {
        let stores = self.by_place.get(&place)?.iter();
        let nearest = stores.min_by_key(|(other, _)| other.abs_diff(at));
        nearest.map(|(_, value)| *value)
    }

    /// How a value is computed, as text: equal where it is computed alike of equal values.
    fn text(&self, value: Value<'ctx>, depth: usize) -> String {
        let itself = || format!("{value:?}");
        if depth > MOST_DEPTH || !value.is_instruction() {
            return itself();
        }
        let deeper = |value: Value<'ctx>| self.text(value, depth + 1);
        let Some(opcode) = value.opcode() else {
            return itself();
        };
        match opcode {
            Opcode::LLVMLoad => {
                let pointer = value.operand(0);
                let stores = place(pointer).and_then(|place| self.by_place.get(&place));
                match stores.map(Vec::as_slice) {
                    Some([(_, only)]) => deeper(*only),
                    _ => format!("load({})", deeper(pointer)),
                }
            }
            Opcode::LLVMGetElementPtr
            | Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMSDiv
            | Opcode::LLVMUDiv
            | Opcode::LLVMSExt
            | Opcode::LLVMZExt
            | Opcode::LLVMTrunc
            | Opcode::LLVMSelect => {
                let operands: Vec<String> = value.operands().into_iter().map(deeper).collect();
                format!("{opcode:?}({})", operands.join(", "))
            }
            _ => itself(),
        }
    }
}
