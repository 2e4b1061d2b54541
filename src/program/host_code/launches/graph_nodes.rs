//! Kernel nodes that a program adds to a graph one after the other become launches.
//!
//! A *chain* is nodes of known kernels of which each is the only one behind the one before, and comes behind no other. All
//! but its last one are added as they are written. In the place of the last one, the launches of the whole chain are
//! captured into a graph of their own, which becomes a child of the program's graph in the place of all
//! nodes of the chain. What is captured may be one fused kernel. Where anything of that fails, the last node is added as
//! it is written.
//!
//! Invariant: only programs that do nothing with graphs but make, add, instantiate and launch are changed, and nobody uses
//! the handles of a chain's nodes but as what another node comes behind. So nobody sees which nodes there
//! are. All code is in the module. A chain's earlier nodes are added each time before its last one is.

use super::super::super::{
    HostVisibleMemory, Program, ProgramError, canonicalise_host, launches, runtime_effects,
};
use super::super::handles;
use super::calls_of;
use crate::llvm::{self, Block, Builder, FUNCTION_ATTRIBUTES, Linkage, Opcode, Type, Value};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet};

/// The function that adds a kernel's node: place of the handle, graph, nodes that it comes behind, how many, parameters.
const ADD: &str = "cudaGraphAddKernelNode";
/// Keeps the parameters of a node where simplification sees them.
const PARAMETERS: &str = "sirius.graph.parameters";
/// Begins what stands for a chain.
const OPEN: &str = "sirius.graph.open";
/// Ends what stands for a chain.
const CLOSE: &str = "sirius.graph.close";

/// The functions that are made for what stands for chains, and call CUDA by themselves.
pub const GRAPH_NODES: [&str; 2] = [OPEN, CLOSE];

/// Most nodes of a chain, and most nodes that its first one comes behind.
const MOST_NODES: usize = 16;

/// What gives the address of any function.
pub const FINDS_ANYTHING: [&str; 6] = [
    "cudaGetDriverEntryPoint",
    "cudaGetDriverEntryPointByVersion",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
    "dlsym",
    "dlvsym",
];

/// What graphs are for, where nobody looks inside: functions of the runtime or the driver, without what says of which.
pub const ONLY_RUNS: [&str; 10] = [
    "GraphInstantiate",
    "GraphInstantiateWithFlags",
    "GraphInstantiateWithParams",
    "GraphInstantiate_v2",
    "GraphLaunch",
    "GraphUpload",
    "GraphDestroy",
    "GraphExecDestroy",
    "GraphRetainUserObject",
    "GraphReleaseUserObject",
];

/// What makes graphs and their nodes.
pub(super) const MAKES: [&str; 12] = [
    "GraphCreate",
    "GraphAddKernelNode",
    "GraphAddMemcpyNode",
    "GraphAddMemcpyNode1D",
    "GraphAddMemcpyNodeToSymbol",
    "GraphAddMemcpyNodeFromSymbol",
    "GraphAddMemsetNode",
    "GraphAddHostNode",
    "GraphAddEmptyNode",
    "GraphAddChildGraphNode",
    "GraphAddEventRecordNode",
    "GraphAddEventWaitNode",
];

/// Where fields of `cudaKernelNodeParams` are, in bytes.
const FUNCTION_BYTES: u64 = 0;
const EXTENTS_BYTES: u64 = 8;
const SHARED_BYTES: u64 = 32;
const ARGUMENTS_BYTES: u64 = 40;
const EXTRA_BYTES: u64 = 48;

/// A call that adds a node of a known kernel.
#[derive(Clone)]
struct Node<'ctx> {
    function: Value<'ctx>,
    call: Value<'ctx>,
    stub: Value<'ctx>,
    /// Grid x, y, z, block x, y, z.
    extents: Vec<Value<'ctx>>,
    shared_bytes: Value<'ctx>,
    arguments: Value<'ctx>,
}

/// A slot on the stack, and so many bytes of it.
pub(super) type Place<'ctx> = (Value<'ctx>, i64);

impl Program<'_> {
    /// Makes launches of chains of nodes; returns whether there are any. The functions that they are in are canonical
    /// again, and all launch sites have new numbers.
    ///
    /// # Errors
    /// [`ProgramError::Pass`] when LLVM refuses a pipeline or a step made an invalid module.
    pub fn read_graph_nodes(&self) -> Result<bool, ProgramError> {
        let host = &self.host;
        if !self.closed || !only_makes_and_launches(host) {
            return Ok(false);
        }
        let calls = added(host);
        if calls.len() < 2 {
            return Ok(false);
        }
        for (_, call) in &calls {
            show_parameters(host, *call);
        }
        let mut changed: Vec<Value> = calls.into_iter().map(|(function, _)| function).collect();
        changed.dedup();
        self.canonicalise_again(&changed)?;
        let nodes = shown_nodes(host, &self.stubs());
        let chains = chains(&nodes);
        if !chains.is_empty() {
            define_helpers(self.context, host)?;
        }
        let mut made = 0;
        for chain in &chains {
            made += usize::from(replace(host, chain, made));
        }
        remove_shown(host);
        canonicalise_host::inline_marked(host)?;
        self.canonicalise_again(&changed)?;
        Ok(made > 0)
    }

    fn canonicalise_again(&self, functions: &[Value]) -> Result<(), ProgramError> {
        let visible = self.host_visible_memory != HostVisibleMemory::Nothing;
        runtime_effects::declare(&self.host, visible);
        canonicalise_host::canonicalise_again(&self.host, functions)
    }
}

/// Whether the program uses graphs for nothing but to launch them.
fn only_makes_and_launches(host: &Module<'_>) -> bool {
    uses_graphs_for(host, &[&MAKES, &ONLY_RUNS])
}

/// Whether all that the program calls about graphs and captures are these functions of the runtime, by their names without what
/// says of which stream they are, and it finds no function by its name.
pub(super) fn uses_graphs_for(host: &Module<'_>, known: &[&[&str]]) -> bool {
    Value::functions(host).into_iter().all(|function| {
        let name = function.name();
        let is_harmless = || {
            let of_runtime = name.strip_prefix("cuda");
            let plain = of_runtime.or_else(|| name.strip_prefix("cu"));
            let Some(plain) =
                plain.filter(|plain| plain.starts_with(|first: char| first.is_ascii_uppercase()))
            else {
                return true;
            };
            let is_graphs = plain.starts_with("Graph") && !plain.starts_with("Graphics");
            let is_captures = plain.contains("Capture");
            let plain = plain.strip_suffix("_ptsz").unwrap_or(plain);
            let is_known = known.iter().any(|names| names.contains(&plain));
            !is_graphs && !is_captures || of_runtime.is_some() && is_known
        };
        function.users().is_empty() || !FINDS_ANYTHING.contains(&name.as_str()) && is_harmless()
    })
}

/// The calls that add kernels' nodes, each with its function.
fn added<'ctx>(host: &Module<'ctx>) -> Vec<(Value<'ctx>, Value<'ctx>)> {
    let calls = calls_of(host, Value::function(host, ADD)).into_iter();
    calls
        .map(|call| (call.function_of_instruction(), call))
        .collect()
}

/// Loads the parameters of a node before it is added.
fn show_parameters<'ctx>(host: &Module<'ctx>, call: Value<'ctx>) {
    let (byte, int) = (Type::integer(host, 8), Type::integer(host, 32));
    let pointer = Type::pointer(host, 0);
    let builder = Builder::before(call);
    let structure = call.call_arguments()[4];
    let field = |type_: Type, offset: u64| {
        builder.load_aligned(type_, builder.element(byte, structure, offset), 1)
    };
    let mut shown = vec![field(pointer, FUNCTION_BYTES)];
    shown.extend((0..6).map(|axis| field(int, EXTENTS_BYTES + 4 * axis)));
    shown.push(field(int, SHARED_BYTES));
    shown.push(field(pointer, ARGUMENTS_BYTES));
    shown.push(field(pointer, EXTRA_BYTES));
    let types: Vec<Type> = shown.iter().map(|value| value.ty()).collect();
    let keeper = llvm::declare(host, PARAMETERS, Type::function(Type::void(host), &types));
    for attribute in ["nounwind", "willreturn"] {
        keeper.add_attribute(FUNCTION_ATTRIBUTES, attribute, 0);
    }
    keeper.add_attribute(
        FUNCTION_ATTRIBUTES,
        "memory",
        runtime_effects::INACCESSIBLE_READ_WRITE,
    );
    builder.call_function(keeper, &shown);
}

/// The nodes whose kernels are known after simplification.
fn shown_nodes<'ctx>(host: &Module<'ctx>, stubs: &BTreeSet<String>) -> Vec<Node<'ctx>> {
    let mut nodes = Vec::new();
    for (function, call) in added(host) {
        let Some(block) = call.parent_block() else {
            continue;
        };
        let before = block.instructions().into_iter();
        let before = before.take_while(|instruction| *instruction != call);
        let shown = before.filter(|each| each.called_name().as_deref() == Some(PARAMETERS));
        let Some(shown) = shown.last().map(Value::call_arguments) else {
            continue;
        };
        let no_extra = shown[9] == Type::pointer(host, 0).zero();
        if no_extra && stubs.contains(&shown[0].name()) && shown[0].is_function() {
            nodes.push(Node {
                function,
                call,
                stub: shown[0],
                extents: shown[1..7].to_vec(),
                shared_bytes: shown[7],
                arguments: shown[8],
            });
        }
    }
    nodes
}

fn remove_shown(host: &Module<'_>) {
    let Some(keeper) = Value::function(host, PARAMETERS) else {
        return;
    };
    keeper.users().into_iter().for_each(Value::erase);
    keeper.delete_function();
}

/// What becomes of the handle of a node.
#[derive(Default)]
struct Handle<'ctx> {
    /// Calls that write it.
    written_by: Vec<Value<'ctx>>,
    /// Calls that add a node behind it.
    before: Vec<Value<'ctx>>,
}

/// The chains of two nodes and more.
fn chains<'ctx>(nodes: &[Node<'ctx>]) -> Vec<Vec<Node<'ctx>>> {
    let mut handles = BTreeMap::<Place, Handle>::new();
    let mut seen = BTreeSet::new();
    let mut unclear = BTreeSet::new();
    for node in nodes {
        if let Some((slot, _)) = place(node.call.call_arguments()[0])
            && seen.insert(slot)
            && handles_in(slot, &mut handles).is_none()
        {
            unclear.insert(slot);
        }
    }
    let handle = |pointer: Value<'ctx>| {
        let place = place(pointer).filter(|(slot, _)| !unclear.contains(slot))?;
        handles.get(&place)
    };
    // The handle of a node, where only its call writes it.
    let own = |node: &Node<'ctx>| {
        handle(node.call.call_arguments()[0]).filter(|handle| handle.written_by == [node.call])
    };
    let next = |node: &Node<'ctx>| -> Option<&Node<'ctx>> {
        let &[behind] = own(node)?.before.as_slice() else {
            return None;
        };
        let next = nodes.iter().find(|next| next.call == behind)?;
        let (one, other) = (node.call.call_arguments(), next.call.call_arguments());
        let is_alone = other[3].signed_integer() == Some(1) && place(other[2]) == place(one[0]);
        let is_fit = own(next).is_some() && one[1] == other[1] && node.function == next.function;
        (is_alone && is_fit && comes_right_before(node.call, next.call)).then_some(next)
    };
    let follows: BTreeSet<Value> = nodes
        .iter()
        .filter_map(next)
        .map(|node| node.call)
        .collect();
    let mut chains = Vec::new();
    for first in nodes.iter().filter(|node| !follows.contains(&node.call)) {
        let mut chain = vec![first.clone()];
        let mut last = first;
        while chain.len() < MOST_NODES
            && let Some(node) = next(last)
        {
            chain.push(node.clone());
            last = node;
        }
        let behind = first.call.call_arguments()[3].signed_integer();
        let is_counted = behind.is_some_and(|count| (0..=MOST_NODES as i64).contains(&count));
        if chain.len() > 1 && is_counted {
            chains.push(chain);
        }
    }
    chains
}

/// Whether one call is made each time before the other is, with neither in between.
fn comes_right_before(one: Value, other: Value) -> bool {
    let (Some(from), Some(mut block)) = (one.parent_block(), other.parent_block()) else {
        return false;
    };
    if from == block {
        let order = block.instructions();
        let position = |call| order.iter().position(|each| *each == call);
        return position(one) < position(other);
    }
    let mut seen = BTreeSet::new();
    while seen.insert(block)
        && let &[before] = block.predecessors().as_slice()
    {
        if before == from {
            return true;
        }
        block = before;
    }
    false
}

/// A slot on the stack that a pointer leads into, and how far.
pub(super) fn place(pointer: Value) -> Option<Place> {
    match pointer.opcode()? {
        Opcode::LLVMAlloca => Some((pointer, 0)),
        Opcode::LLVMGetElementPtr => {
            let &[base, index] = pointer.operands().as_slice() else {
                return None;
            };
            let element_bytes = pointer.element_pointer_source_type().word_bytes()?;
            let (slot, offset_bytes) = place(base)?;
            let distance = index.signed_integer()?.checked_mul(element_bytes)?;
            Some((slot, offset_bytes.checked_add(distance)?))
        }
        _ => None,
    }
}

/// What becomes of the handles in a slot; `None` where they are used for anything but to add nodes behind them.
fn handles_in<'ctx>(
    slot: Value<'ctx>,
    handles: &mut BTreeMap<Place<'ctx>, Handle<'ctx>>,
) -> Option<()> {
    const HANDLE_BYTES: i64 = 8;
    let mut open = vec![slot];
    while let Some(pointer) = open.pop() {
        let place = place(pointer)?;
        for user in pointer.users() {
            if user.opcode() == Some(Opcode::LLVMGetElementPtr) {
                open.push(user);
                continue;
            }
            let name = user.called_name()?;
            if name.starts_with("llvm.lifetime.") {
                continue;
            }
            if !(name.starts_with("cudaGraphAdd") && MAKES.contains(&&name[4..])) {
                return None;
            }
            let arguments = user.call_arguments();
            let positions = (0..arguments.len()).filter(|at| arguments[*at] == pointer);
            for position in positions {
                match position {
                    0 => handles.entry(place).or_default().written_by.push(user),
                    2 => {
                        let count = arguments[3].signed_integer().filter(|count| *count <= 64)?;
                        for index in 0..count {
                            let at = (place.0, place.1 + HANDLE_BYTES * index);
                            handles.entry(at).or_default().before.push(user);
                        }
                    }
                    _ => return None,
                }
            }
        }
    }
    Some(())
}

/// Puts a function that captures the whole chain in the place of its last call; false where that cannot be.
fn replace<'ctx>(host: &Module<'ctx>, chain: &[Node<'ctx>], number: usize) -> bool {
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
        return false;
    };
    let kernels: Option<Vec<_>> = chain
        .iter()
        .map(|node| launches::argument_types(node.stub))
        .collect();
    let Some(kernels) = kernels else {
        return false;
    };
    let pointer = Type::pointer(host, 0);
    // All that the function is given: as the call, the nodes that the first one comes behind, the nodes of the chain, what
    // adding them said, and the launches' values.
    let mut given = last.call.call_arguments();
    let builder = Builder::before(first.call);
    let behind = first.call.call_arguments();
    let count = behind[3].signed_integer().unwrap_or(0) as u64;
    for index in 0..count {
        given.push(builder.load(pointer, builder.element(pointer, behind[2], index)));
    }
    drop(builder);
    let builder = Builder::before(last.call);
    let earlier = &chain[..chain.len() - 1];
    for node in earlier {
        given.push(builder.load(pointer, node.call.call_arguments()[0]));
    }
    drop(builder);
    given.extend(earlier.iter().map(|node| node.call));
    let mut values = Vec::new();
    for (node, types) in chain.iter().zip(&kernels) {
        let builder = Builder::before(node.call);
        let mut own = configuration(host, &builder, node);
        for (index, (contents, _)) in types.iter().enumerate() {
            let entry = builder.element(pointer, node.arguments, index as u64);
            let address = builder.load(pointer, entry);
            own.push(builder.load_aligned(*contents, address, 1));
        }
        values.push(own);
    }
    given.extend(values.iter().flatten());
    let types: Vec<Type> = given.iter().map(|value| value.ty()).collect();
    let int = Type::integer(host, 32);
    let name = format!("sirius.graph.chain.{number}");
    let adder = llvm::declare(host, &name, Type::function(int, &types));
    adder.set_linkage(Linkage::LLVMInternalLinkage);
    adder.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
    let sizes: Vec<usize> = values.iter().map(Vec::len).collect();
    fill(host, adder, chain, (count as usize, &sizes));
    let builder = Builder::before(last.call);
    let added = match last.call.invoke_destinations() {
        Some(destinations) => builder.invoke(adder, &given, destinations),
        None => builder.call_function(adder, &given),
    };
    drop(builder);
    last.call.replace_uses_with(added);
    last.call.erase();
    true
}

/// Grid x and y, grid z, block x and y, block z and shared bytes of a node.
fn configuration<'ctx>(
    host: &Module<'ctx>,
    builder: &Builder<'ctx>,
    node: &Node<'ctx>,
) -> Vec<Value<'ctx>> {
    let long = Type::integer(host, 64);
    let packed = |low: Value<'ctx>, high: Value<'ctx>| handles::packed(host, builder, low, high);
    let extents = &node.extents;
    vec![
        packed(extents[0], extents[1]),
        extents[2],
        packed(extents[3], extents[4]),
        extents[5],
        builder.cast(Opcode::LLVMZExt, node.shared_bytes, long),
    ]
}

/// The body of the function that stands for a chain, whose first node comes behind `count` others.
fn fill<'ctx>(
    host: &Module<'ctx>,
    adder: Value<'ctx>,
    chain: &[Node<'ctx>],
    (count, sizes): (usize, &[usize]),
) {
    let (int, long) = (Type::integer(host, 32), Type::integer(host, 64));
    let pointer = Type::pointer(host, 0);
    let (Some(add), Some(open), Some(close)) = (
        Value::function(host, ADD),
        Value::function(host, OPEN),
        Value::function(host, CLOSE),
    ) else {
        return;
    };
    let mut parameters = adder.parameters().into_iter();
    let mut take = |count: usize| -> Vec<Value> { parameters.by_ref().take(count).collect() };
    let call = take(5);
    let behind = take(count);
    let earlier = take(chain.len() - 1);
    let said = take(chain.len() - 1);
    let values: Vec<Vec<Value>> = sizes.iter().map(|size| take(*size)).collect();
    let blocks: [Block; 4] = std::array::from_fn(|_| Block::append(adder, ""));
    let [entry, captured, done, plain] = blocks;

    let builder = Builder::at_end(entry);
    let list = |of: &[Value]| {
        let array = builder.alloca(pointer.array(of.len().max(1) as u64));
        for (index, value) in of.iter().enumerate() {
            builder.store(*value, builder.element(pointer, array, index as u64));
        }
        array
    };
    let (behind_list, earlier_list) = (list(&behind), list(&earlier));
    let failed = said.iter().fold(int.zero(), |all, one| {
        builder.binary(Opcode::LLVMOr, all, *one)
    });
    let stream = builder.call_function(open, &[failed]);
    builder.branch_if_equal(stream, pointer.zero(), plain, captured);
    drop(builder);

    let builder = Builder::at_end(captured);
    for (node, own) in chain.iter().zip(&values) {
        let configuration = [own[0], own[1], own[2], own[3], own[4], stream];
        launches::build(host, &builder, node.stub, (configuration, &own[5..]));
    }
    let lengths = [behind.len(), earlier.len()].map(|length| long.constant(length as u64));
    let result = builder.call_function(
        close,
        &[
            stream,
            call[0],
            call[1],
            behind_list,
            lengths[0],
            earlier_list,
            lengths[1],
        ],
    );
    builder.branch_if_equal(result, int.zero(), done, plain);
    drop(builder);

    Builder::at_end(done).ret(Some(int.zero()));
    let builder = Builder::at_end(plain);
    let result = builder.call_function(add, &call);
    builder.ret(Some(result));
}

/// The functions around what is captured.
///
/// # Errors
/// [`ProgramError::Pass`] where LLVM does not take them.
fn define_helpers<'ctx>(context: &'ctx Context, host: &Module<'ctx>) -> Result<(), ProgramError> {
    let failed = |message: String| ProgramError::Pass {
        pipeline: String::from("graphs' nodes"),
        message,
    };
    let text = include_str!("graph_nodes.ll");
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "graph nodes");
    let module = context
        .create_module_from_ir(buffer)
        .map_err(|error| failed(error.to_string()))?;
    module.set_triple(&host.get_triple());
    module.set_data_layout(&host.get_data_layout());
    host.link_in_module(module)
        .map_err(|error| failed(error.to_string()))?;
    for name in GRAPH_NODES {
        if let Some(helper) = Value::function(host, name) {
            helper.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    Ok(())
}
