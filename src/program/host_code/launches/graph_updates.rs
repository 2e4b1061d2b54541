//! Kernel nodes that a program adds to a graph one by one, and gives other parameters before each launch of the graph.
//!
//! Which nodes follow each other, and what they are given, only the run knows. What the code shows is in which order a function
//! names their kernels. A *chain* is some kernels in such an order. For each chain there is a function that launches its
//! kernels one after the other, with configurations and arguments that it loads from the records of nodes. It is planned
//! like any other code. Where launches of it fuse, the program keeps records of its nodes, and before a graph is launched
//! calls the function of each chain that it finds there: what that launches become the parameters of the first nodes
//! of the chain, and the others are switched off (`graph_updates.c` of the code generator).
//!
//! Invariant: only programs are changed of which all code is in the module, and that do nothing with graphs but to make,
//! instantiate and launch them, to add nodes, and to give nodes other parameters. So nobody sees which nodes there are, and a node
//! comes behind what it was added behind.

use super::super::super::{
    HostVisibleMemory, Program, ProgramError, canonicalise_host, launches, runtime_effects,
};
use super::graph_nodes::{FINDS_ANYTHING, MAKES, ONLY_RUNS};
use crate::llvm::{self, Block, Builder, Linkage, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet};

/// What the names of functions that stand for chains begin with.
pub const CHAIN_PREFIX: &str = "sirius.graph.updated.";

/// Kernels that may follow each other in a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphChain {
    /// The function in [`Program::host`] that launches them: it is given a stream, and the records of the nodes.
    pub function: String,
    /// The kernels, in order.
    pub kernels: Vec<GraphKernel>,
    /// Arguments that are loaded from one record for several kernels, each by kernel and position: what the
    /// function launches is right where both are equal.
    pub equal: Vec<[(usize, usize); 2]>,
}

/// A kernel of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphKernel {
    /// The host symbol that stands for it.
    pub stub: String,
    /// The size of each argument, and where in a record it is, both in bytes.
    pub arguments: Vec<(u64, u64)>,
}

/// What the program may do with graphs beside making and running them.
const UPDATES: &str = "GraphExecKernelNodeSetParams";

/// Other functions of which the names speak of graphs or captures, and that show nothing of nodes.
const OF_CAPTURES: [&str; 8] = [
    "StreamBeginCapture",
    "StreamEndCapture",
    "StreamIsCapturing",
    "StreamGetCaptureInfo",
    "StreamGetCaptureInfo_v2",
    "StreamGetCaptureInfo_v3",
    "StreamUpdateCaptureDependencies",
    "StreamUpdateCaptureDependencies_v2",
];

/// Most kernels of a chain.
const MOST_KERNELS: usize = 8;
/// Most chains of a program: each is planned by itself.
const MOST_CHAINS: usize = 16;

/// Where the fields of a record are, in bytes: grid x, y, z and block x, y, z as 32 bits each, dynamic shared bytes, arguments.
const GRID_Z_BYTES: u64 = 8;
const BLOCK_BYTES: u64 = 12;
const BLOCK_Z_BYTES: u64 = 20;
const SHARED_BYTES: u64 = 24;
const ARGUMENTS_BYTES: u64 = 32;

impl Program<'_> {
    /// Makes functions of the chains of kernels whose nodes the program updates; launch sites have new numbers then.
    ///
    /// # Errors
    /// [`ProgramError::Pass`] when LLVM refuses a pipeline or a step made an invalid module.
    pub fn read_graph_updates(&mut self) -> Result<(), ProgramError> {
        if !self.closed || !only_updates(&self.host) {
            return Ok(());
        }
        let mut chains: Vec<Vec<String>> = Vec::new();
        for function in Value::functions(&self.host) {
            let named = self.named_in_order(function);
            for chain in named.chunks(MOST_KERNELS).filter(|chain| chain.len() > 1) {
                if chains.len() < MOST_CHAINS && !chains.iter().any(|known| known == chain) {
                    chains.push(chain.to_vec());
                }
            }
        }
        let (mut changed, mut made) = (Vec::new(), Vec::new());
        for chain in chains {
            let name = format!("{CHAIN_PREFIX}{}", changed.len());
            if let Some((function, chain)) = self.define(&name, &chain) {
                changed.push(function);
                made.push(chain);
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        let visible = self.host_visible_memory != HostVisibleMemory::Nothing;
        runtime_effects::declare(&self.host, visible);
        canonicalise_host::canonicalise_again(&self.host, &changed)?;
        drop(changed);
        self.graph_chains = made;
        Ok(())
    }

    /// The kernels whose symbols a function stores somewhere, in the order of its code, each once in a row.
    fn named_in_order(&self, function: Value) -> Vec<String> {
        let stubs = self.stubs();
        let mut named: Vec<String> = Vec::new();
        for instruction in function.instructions() {
            let values = match instruction.opcode() {
                Some(Opcode::LLVMStore) => vec![instruction.operand(0)],
                Some(Opcode::LLVMSelect | Opcode::LLVMPHI) => instruction.operands(),
                _ => continue,
            };
            for value in values.into_iter().filter(|value| value.is_function()) {
                let name = value.name();
                if stubs.contains(&name) && named.last() != Some(&name) {
                    named.push(name);
                }
            }
        }
        named
    }

    /// The function of a chain; `None` where arguments of a kernel are not understood.
    fn define(&self, name: &str, chain: &[String]) -> Option<(Value<'_>, GraphChain)> {
        let host = &self.host;
        let (int, long) = (Type::integer(host, 32), Type::integer(host, 64));
        let (byte, pointer) = (Type::integer(host, 8), Type::pointer(host, 0));
        let stubs: Option<Vec<Value>> = chain
            .iter()
            .map(|name| Value::function(host, name))
            .collect();
        let stubs = stubs?;
        let types: Option<Vec<_>> = stubs
            .iter()
            .map(|stub| launches::argument_types(*stub))
            .collect();
        let types = types?;
        let function = llvm::declare(
            host,
            name,
            Type::function(Type::void(host), &[pointer, pointer]),
        );
        let builder = Builder::at_end(Block::append(function, "entry"));
        let [stream, records] = function.parameters().try_into().ok()?;
        let mut shared: BTreeMap<(String, String), ((usize, usize), Value)> = BTreeMap::new();
        let (mut kernels, mut equal, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (position, (stub, types)) in stubs.iter().zip(&types).enumerate() {
            let record = builder.load(pointer, builder.element(pointer, records, position as u64));
            let field = |type_: Type<'_>, offset: u64, alignment: u32| {
                builder.load_aligned(type_, builder.element(byte, record, offset), alignment)
            };
            let configuration = [
                field(long, 0, 4),
                field(int, GRID_Z_BYTES, 4),
                field(long, BLOCK_BYTES, 4),
                field(int, BLOCK_Z_BYTES, 4),
                field(long, SHARED_BYTES, 8),
                stream,
            ];
            let names = self.names_of_numbers(stub, types.len());
            let mut end = 0;
            let (mut arguments, mut own) = (Vec::new(), Vec::new());
            for (argument, (contents, _)) in types.iter().enumerate() {
                let bytes = contents.allocation_bytes(host);
                let offset = u64::next_multiple_of(end, ARGUMENT_ALIGNMENT);
                end = offset + bytes;
                arguments.push((bytes, offset));
                let load = || field(*contents, ARGUMENTS_BYTES + offset, 16);
                // Arguments of one name are as a rule one number, which is asked when the graph is launched.
                let name = names.get(argument).filter(|name| !name.is_empty());
                let is_number = !contents.is_pointer() && contents.elements().is_empty();
                let value = match name.filter(|_| is_number) {
                    Some(name) => {
                        let key = (name.clone(), contents.text());
                        let here = (position, argument);
                        let (first, value) = *shared.entry(key).or_insert_with(|| (here, load()));
                        if first != here {
                            equal.push([first, here]);
                        }
                        value
                    }
                    None => load(),
                };
                own.push(value);
            }
            kernels.push(GraphKernel {
                stub: stub.name(),
                arguments,
            });
            values.push((configuration, own));
        }
        for (stub, (configuration, own)) in stubs.iter().zip(&values) {
            launches::build(host, &builder, *stub, (*configuration, own));
        }
        builder.ret(None);
        drop(builder);
        function.set_linkage(Linkage::LLVMExternalLinkage);
        let function_name = name.to_owned();
        Some((
            function,
            GraphChain {
                function: function_name,
                kernels,
                equal,
            },
        ))
    }

    /// The names of a kernel's parameters in its source, where it has as many as the host gives it arguments.
    fn names_of_numbers(&self, stub: &Value, count: usize) -> Vec<String> {
        let name = stub.name();
        let kernel = self.kernels.iter().find(|kernel| kernel.stub == name);
        let module = kernel.and_then(|kernel| Some((kernel, self.module_of(kernel)?)));
        let found = module.and_then(|(kernel, module)| Value::function(module, &kernel.name));
        let parameters = found.map(Value::parameters).unwrap_or_default();
        match parameters.len() == count {
            true => parameters.into_iter().map(|each| each.name()).collect(),
            false => Vec::new(),
        }
    }
}

/// Arguments in records are as far apart as the most aligned one needs.
const ARGUMENT_ALIGNMENT: u64 = 16;

/// Whether the program adds kernels' nodes and updates them, and does nothing else with graphs that shows their nodes.
fn only_updates(host: &Module<'_>) -> bool {
    let mut used: BTreeSet<String> = BTreeSet::new();
    for function in Value::functions(host) {
        if function.is_declaration() && !function.users().is_empty() {
            used.insert(function.name());
        }
    }
    let all = used.iter().all(|name| {
        if FINDS_ANYTHING.contains(&name.as_str()) {
            return false;
        }
        let of_runtime = name.strip_prefix("cuda");
        let plain = of_runtime.or_else(|| name.strip_prefix("cu"));
        let Some(plain) = plain.filter(|plain| plain.starts_with(|c: char| c.is_ascii_uppercase()))
        else {
            return true;
        };
        let is_graphs = plain.starts_with("Graph") && !plain.starts_with("Graphics");
        let is_captures = plain.contains("Capture");
        let plain = plain.strip_suffix("_ptsz").unwrap_or(plain);
        let is_known = [UPDATES].contains(&plain)
            || MAKES.contains(&plain)
            || ONLY_RUNS.contains(&plain)
            || OF_CAPTURES.contains(&plain);
        !is_graphs && !is_captures || of_runtime.is_some() && is_known
    });
    let calls = |name: &str| used.contains(name);
    all && calls("cudaGraphExecKernelNodeSetParams") && calls("cudaGraphAddKernelNode")
}
