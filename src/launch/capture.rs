//! Stream capture: launches that are recorded into a graph, to run later and perhaps again.
//!
//! A graph that is only instantiated and launched does what was captured, whether that is one fused
//! kernel or its members: arguments and shapes are recorded, so what a guard found holds in every replay.
//! Two things differ. Launches run where the graph is launched, of which the host code shows nothing but
//! an opaque call: [`StreamCapture::replays`]. And whoever counts the nodes of a graph, changes their
//! arguments or updates an executable graph from another one sees which kernels there are: such launches
//! stay unfused while their stream is captured.

use super::calls;
use super::host_ir::{Function, HostModule, Opcode, Operand};
use super::{Launch, LaunchGraph, NodeId, Stream};
use crate::program::{CHAIN_PREFIX, FINDS_ANYTHING, GRAPH_NODES, ONLY_RUNS};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a program does with captured launches, or code that is not seen may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamCapture {
    /// The program can launch a graph: captured launches run in opaque calls.
    pub replays: bool,
    /// The program looks into graphs that it captures.
    pub looks_inside: bool,
    /// Functions, by their index in [`LaunchGraph::functions`], that code which is not seen can call
    /// while it captures.
    pub entries: BTreeSet<usize>,
    /// Functions, by their index in [`LaunchGraph::functions`], whose launches become nodes of graphs that the program updates:
    /// they stand in for [chains](crate::program::GraphChain).
    #[serde(default)]
    pub nodes: BTreeSet<usize>,
    /// The default stream is one of each thread, which can be captured; the legacy one cannot.
    pub default_stream: bool,
}

impl StreamCapture {
    /// Reads it off the names of the functions that the host module knows; `analysed` are those of the
    /// launch graph, as indices into the module.
    pub(super) fn of(host: &HostModule, analysed: &[usize]) -> Self {
        let begins = |name: &str| FINDS_ANYTHING.contains(&name) || is_about(name, "StreamBegin");
        // What stands for nodes that a program adds is no use of graphs by the program.
        let own = used_by_graph_nodes(host);
        let functions = || host.functions.iter().enumerate();
        let names = || {
            let others = functions().filter(|(index, _)| !own.contains(index));
            others.map(|(_, function)| function.name.as_str())
        };
        // Libraries that know nothing of the program may call a function that they are handed, but capture nothing around that.
        let all_is_seen = host.closed && !names().any(|name| FINDS_ANYTHING.contains(&name));
        let entries = analysed.iter().enumerate().filter(|(_, function)| {
            let function = &host.functions[**function];
            let is_open = !function.internal || function.address_taken;
            function.name != "main" && is_open && !all_is_seen
        });
        Self {
            replays: names()
                .any(|name| FINDS_ANYTHING.contains(&name) || is_about(name, "GraphLaunch")),
            looks_inside: names().any(begins)
                && names().any(|name| FINDS_ANYTHING.contains(&name) || looks_inside(name))
                && !adds_of_its_own(host),
            entries: entries.map(|(index, _)| index).collect(),
            nodes: {
                let analysed = analysed.iter().enumerate();
                let name = |function: usize| host.functions[function].name.as_str();
                let nodes =
                    analysed.filter(|(_, function)| name(**function).starts_with(CHAIN_PREFIX));
                nodes.map(|(index, _)| index).collect()
            },
            default_stream: names().any(|name| {
                calls::is_cuda(name) && (name.ends_with("_ptsz") || name.ends_with("_ptds"))
            }),
        }
    }
}

impl LaunchGraph {
    /// Whether somebody may see, in a graph that captures a launch, which kernels run.
    pub fn is_seen_in_capture(&self, node: NodeId, launch: &Launch) -> bool {
        let capture = &self.capture;
        let may_be_captured = launch.stream != Stream::Default || capture.default_stream;
        let function = self.blocks[self.nodes[node.0].block.0].function;
        may_be_captured && (capture.looks_inside || capture.entries.contains(&function))
    }
    /// Whether a launch becomes a node of a graph, which has a kernel that runs whenever the graph does, and nothing beside.
    pub fn becomes_node(&self, node: NodeId) -> bool {
        let function = self.blocks[self.nodes[node.0].block.0].function;
        self.capture.nodes.contains(&function)
    }
    /// Whether a launch may be captured into a graph that is launched, perhaps several times at once.
    pub fn may_be_replayed(&self, node: NodeId, launch: &Launch) -> bool {
        let capture = &self.capture;
        let may_be_captured = launch.stream != Stream::Default || capture.default_stream;
        let function = self.blocks[self.nodes[node.0].block.0].function;
        let replays = capture.replays || capture.looks_inside;
        may_be_captured && (replays || capture.entries.contains(&function))
    }
}

/// Functions that only the helpers call by which launches stand for nodes of a graph.
fn used_by_graph_nodes(host: &HostModule) -> BTreeSet<usize> {
    let called = |function: &Function| -> Vec<usize> {
        let calls = function.instructions.iter();
        let calls = calls.filter_map(|instruction| match instruction.opcode {
            Opcode::Call { callee, .. } => callee,
            _ => None,
        });
        calls.collect()
    };
    let (helpers, others): (Vec<_>, Vec<_>) = host
        .functions
        .iter()
        .partition(|function| GRAPH_NODES.contains(&function.name.as_str()));
    let mut own: BTreeSet<usize> = helpers.into_iter().flat_map(called).collect();
    for used in others.into_iter().flat_map(called) {
        own.remove(&used);
    }
    own.retain(|function| !host.functions[*function].address_taken);
    own
}

/// Whether all that a program does with graphs beside running them is to add kernels' nodes of its own while it captures, and
/// to give these other parameters. Of captured nodes it has no handle then: who asks behind what the next node comes gets an
/// address of such handles, and passes it on to where nodes are added, unread.
fn adds_of_its_own(host: &HostModule) -> bool {
    let looking = |index: usize| {
        let function = &host.functions[index];
        looks_inside(&function.name) || FINDS_ANYTHING.contains(&function.name.as_str())
    };
    let kind_of = |index: usize| {
        let name = plain(&host.functions[index].name)?;
        OF_OWN_NODES.iter().find(|(own, _)| *own == name)
    };
    let all = 0..host.functions.len();
    let mut looking = all.filter(|index| looking(*index));
    looking.all(|index| kind_of(index).is_some() && !host.functions[index].address_taken)
        && host.functions.iter().all(|function| {
            let instructions = function.instructions.iter().enumerate();
            let mut calls = instructions.filter_map(|(at, instruction)| match instruction.opcode {
                Opcode::Call { callee, .. } => Some((at, kind_of(callee?)?.1)),
                _ => None,
            });
            calls.all(|(at, handles)| match handles {
                Handles::Written(argument) => passes_on(host, function, (at, argument)),
                Handles::Taken(_) | Handles::None => true,
            })
        })
}

/// Whether what a call writes behind an argument is nothing but passed on to where nodes are added.
fn passes_on(host: &HostModule, function: &Function, (call, argument): (usize, usize)) -> bool {
    let slot = match function.instructions[call].operands.get(argument) {
        Some(Operand::Null) => return true,
        Some(Operand::Instruction(slot)) => *slot,
        _ => return false,
    };
    let is_slot = matches!(function.instructions[slot].opcode, Opcode::Alloca { .. });
    let users = |value: usize| {
        let instructions = function.instructions.iter().enumerate();
        instructions.flat_map(move |(at, user)| {
            let operands = user.operands.iter().enumerate();
            let own = operands.filter(move |(_, operand)| **operand == Operand::Instruction(value));
            own.map(move |(position, _)| (at, position))
        })
    };
    let called = |at: usize| match function.instructions[at].opcode {
        Opcode::Call { callee, .. } => callee.map(|callee| host.functions[callee].name.as_str()),
        _ => None,
    };
    let handles = |at: usize| {
        let name = plain(called(at)?)?;
        let known = OF_OWN_NODES.iter().find(|(own, _)| *own == name);
        known.map(|(_, handles)| *handles)
    };
    let is_taken = |(at, position): (usize, usize)| handles(at) == Some(Handles::Taken(position));
    is_slot
        && users(slot).all(|(at, position)| match function.instructions[at].opcode {
            Opcode::Load { ordered: false } => users(at).all(is_taken),
            Opcode::Store { ordered: false, .. } => {
                position == 1 && function.instructions[at].operands[0] == Operand::Null
            }
            _ => {
                handles(at) == Some(Handles::Written(position))
                    || called(at).is_some_and(|name| name.starts_with("llvm.lifetime."))
            }
        })
}

/// What a call about nodes does with handles of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handles {
    /// It writes the address of some, which may be captured nodes', behind this argument.
    Written(usize),
    /// It takes some, behind this argument.
    Taken(usize),
    /// It takes one that the program has, or gives it one of a node that it adds.
    None,
}

/// What programs may call to add nodes of their own to a graph that they capture, and to change those.
const OF_OWN_NODES: [(&str, Handles); 7] = [
    ("GraphAddKernelNode", Handles::Taken(2)),
    ("GraphExecKernelNodeSetParams", Handles::None),
    ("StreamGetCaptureInfo", Handles::Written(4)),
    ("StreamGetCaptureInfo_v2", Handles::Written(4)),
    ("StreamGetCaptureInfo_v3", Handles::Written(4)),
    ("StreamUpdateCaptureDependencies", Handles::Taken(1)),
    ("StreamUpdateCaptureDependencies_v2", Handles::Taken(1)),
];

/// The name of a function of the runtime or the driver without what says which of the two it is.
fn plain(name: &str) -> Option<&str> {
    let name = name.strip_suffix("_ptsz").unwrap_or(name);
    let plain = name
        .strip_prefix("cuda")
        .or_else(|| name.strip_prefix("cu"))?;
    plain
        .starts_with(|first: char| first.is_ascii_uppercase())
        .then_some(plain)
}

fn is_about(name: &str, what: &str) -> bool {
    plain(name).is_some_and(|plain| plain.starts_with(what))
}

fn looks_inside(name: &str) -> bool {
    plain(name).is_some_and(|plain| {
        let of_graph = plain.starts_with("Graph")
            && !plain.starts_with("Graphics")
            && !ONLY_RUNS.contains(&plain);
        of_graph
            || plain.starts_with("StreamGetCaptureInfo")
            || plain.starts_with("StreamUpdateCaptureDependencies")
            || plain.ends_with("CaptureToGraph")
    })
}
