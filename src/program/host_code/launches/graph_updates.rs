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
use super::super::handles;
use super::graph_nodes::{MAKES, ONLY_RUNS, uses_graphs_for};
use super::node_sites::{NodeSite, Written, chains_of, node_sites};
use crate::llvm::{self, Block, Builder, Linkage, Type, Value};
use inkwell::module::Module;
use std::collections::BTreeMap;

/// What the names of functions that stand for chains begin with.
pub const CHAIN_PREFIX: &str = "sirius.graph.updated.";

/// Kernels that may follow each other in a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphChain {
    /// The function in [`Program::host`] that launches them: it is given a stream, and the records of the nodes.
    pub function: String,
    /// The kernels, in order.
    pub kernels: Vec<GraphKernel>,
    /// Parts of two records that are loaded from the first, with their size in bytes: what the function launches is right where
    /// both are equal.
    pub equal: Vec<([RecordPart; 2], u64)>,
    /// Extents that the function takes for these numbers.
    pub constant: Vec<(RecordPart, u32)>,
}

/// A kernel of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphKernel {
    /// The host symbol that stands for it.
    pub stub: String,
    /// The size of each argument, and where in a record it is, both in bytes.
    pub arguments: Vec<(u64, u64)>,
}

/// A part of the record of a kernel's node: the kernel's number in the chain, and where the part begins, in bytes.
pub type RecordPart = (usize, u64);

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

/// Most chains of a program: each is planned by itself.
const MOST_CHAINS: usize = 16;

/// Where the fields of a record are, in bytes: grid x, y, z and block x, y, z as 32 bits each, dynamic shared bytes, arguments.
const SHARED_BYTES: u64 = 24;
const ARGUMENTS_BYTES: u64 = 32;

impl<'ctx> Program<'ctx> {
    /// Makes functions of the chains of kernels whose nodes the program updates; launch sites have new numbers then.
    ///
    /// # Errors
    /// [`ProgramError::Pass`] when LLVM refuses a pipeline or a step made an invalid module.
    pub fn read_graph_updates(&mut self) -> Result<(), ProgramError> {
        if !self.closed || !only_updates(&self.host) {
            return Ok(());
        }
        let stubs = self.stubs();
        let mut chains: Vec<Vec<NodeSite>> = Vec::new();
        for function in Value::functions(&self.host) {
            for chain in chains_of(node_sites(function, &stubs)) {
                if chains.len() < MOST_CHAINS
                    && !chains.iter().any(|known| same_kernels(known, &chain))
                {
                    chains.push(chain);
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

    /// The function of a chain; `None` where arguments of a kernel are not understood.
    fn define(&self, name: &str, chain: &[NodeSite<'ctx>]) -> Option<(Value<'ctx>, GraphChain)> {
        let host = &self.host;
        let (int, long) = (Type::integer(host, 32), Type::integer(host, 64));
        let (byte, pointer) = (Type::integer(host, 8), Type::pointer(host, 0));
        let types: Option<Vec<_>> = chain
            .iter()
            .map(|site| launches::argument_types(site.stub))
            .collect();
        let types = types?;
        let records = Type::function(Type::void(host), &[pointer, pointer]);
        let function = llvm::declare(host, name, records);
        let builder = Builder::at_end(Block::append(function, "entry"));
        let [stream, records] = function.parameters().try_into().ok()?;
        // What was loaded, by what the program writes into the records and its type.
        let mut loaded: BTreeMap<(String, String), (RecordPart, Value)> = BTreeMap::new();
        let mut made = GraphChain {
            function: name.to_owned(),
            kernels: Vec::new(),
            equal: Vec::new(),
            constant: Vec::new(),
        };
        let mut values = Vec::new();
        for (position, (site, types)) in chain.iter().zip(&types).enumerate() {
            let record = builder.load(pointer, builder.element(pointer, records, position as u64));
            let mut part = |type_: Type<'ctx>,
                            offset: u64,
                            alignment: u32,
                            written: Option<&String>| {
                let here = (position, offset);
                let load = || {
                    builder.load_aligned(type_, builder.element(byte, record, offset), alignment)
                };
                let Some(written) = written else {
                    return load();
                };
                let key = (written.clone(), type_.text());
                let (first, value) = *loaded.entry(key).or_insert_with(|| (here, load()));
                if first != here {
                    made.equal
                        .push(([first, here], type_.allocation_bytes(host)));
                }
                value
            };
            let mut extents = Vec::new();
            for (axis, written) in site.extents.iter().enumerate() {
                let offset = 4 * axis as u64;
                extents.push(match written {
                    Written::Constant(extent) => {
                        made.constant.push(((position, offset), *extent));
                        int.constant(u64::from(*extent))
                    }
                    Written::As(key) => part(int, offset, 4, Some(key)),
                    Written::Unknown => part(int, offset, 4, None),
                });
            }
            let shared = part(long, SHARED_BYTES, 8, None);
            let mut end = ARGUMENTS_BYTES;
            let (mut arguments, mut own) = (Vec::new(), Vec::new());
            for (argument, (contents, _)) in types.iter().enumerate() {
                let bytes = contents.allocation_bytes(host);
                let offset = u64::next_multiple_of(end, ARGUMENT_ALIGNMENT);
                end = offset + bytes;
                arguments.push((bytes, offset - ARGUMENTS_BYTES));
                let written = site.arguments.get(argument).and_then(Option::as_ref);
                own.push(part(*contents, offset, 16, written));
            }
            let packed = |low, high| handles::packed(host, &builder, low, high);
            let configuration = [
                packed(extents[0], extents[1]),
                extents[2],
                packed(extents[3], extents[4]),
                extents[5],
                shared,
                stream,
            ];
            made.kernels.push(GraphKernel {
                stub: site.stub.name(),
                arguments,
            });
            values.push((configuration, own));
        }
        for (site, (configuration, own)) in chain.iter().zip(&values) {
            launches::build(host, &builder, site.stub, (*configuration, own));
        }
        builder.ret(None);
        drop(builder);
        function.set_linkage(Linkage::LLVMExternalLinkage);
        Some((function, made))
    }
}

/// Whether two chains are of the same kernels.
fn same_kernels(one: &[NodeSite], other: &[NodeSite]) -> bool {
    let mut pairs = one.iter().zip(other);
    one.len() == other.len() && pairs.all(|(one, other)| one.stub.name() == other.stub.name())
}

/// Arguments in records are as far apart as the most aligned one needs.
const ARGUMENT_ALIGNMENT: u64 = 16;

/// Whether the program adds kernels' nodes and updates them, and does nothing else with graphs that shows their nodes.
fn only_updates(host: &Module<'_>) -> bool {
    let calls = |name: &str| {
        Value::function(host, name).is_some_and(|function| !function.users().is_empty())
    };
    calls("cudaGraphExecKernelNodeSetParams")
        && calls("cudaGraphAddKernelNode")
        && uses_graphs_for(host, &[&[UPDATES], &MAKES, &ONLY_RUNS, &OF_CAPTURES])
}
