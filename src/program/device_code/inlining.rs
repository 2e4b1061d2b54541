//! Which device functions are put into their callers.
//!
//! Analysis looks at kernels as one body each, so everything that a kernel calls goes into it, without
//! end: a function that calls another eight times, which calls a third one eight times, is there 64
//! times. Field arithmetic and ciphers are written so.
//!
//! Invariant: what is inlined calls itself in no way, and no function grows beyond
//! [`LARGEST_FUNCTION`] instructions by it. The rest stays a call, which analysis does not look behind.

use crate::llvm::Value;
use inkwell::module::Module;
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most instructions, as the front end writes them, that a function has with those of what it calls.
/// Kernels of real programs that are written by hand have up to twenty thousand.
pub(in crate::program) const LARGEST_FUNCTION: usize = 60_000;

/// The functions of a module that are put into their callers, of those that `may_be`; neither
/// declarations nor such as can call themselves.
pub(in crate::program) fn inlined_functions<'ctx>(
    module: &Module<'ctx>,
    may_be: impl Fn(Value<'ctx>) -> bool,
) -> BTreeSet<Value<'ctx>> {
    let (graph, recursive) = call_graph(module);
    let mut inlined = BTreeSet::new();
    let mut sizes = HashMap::<Value, usize>::new();
    // Without the recursive functions there is no cycle; callees come first.
    let acyclic = graph.filter_map(
        |_, function| (!recursive.contains(function)).then_some(*function),
        |_, calls| Some(*calls),
    );
    for node in toposort(&acyclic, None)
        .unwrap_or_default()
        .into_iter()
        .rev()
    {
        let function = acyclic[node];
        // By their place in the module, so that ties are decided in one way.
        let mut callees = BTreeMap::new();
        for edge in acyclic.edges(node) {
            let callee = acyclic[edge.target()];
            if inlined.contains(&callee) {
                callees.insert(edge.target(), sizes[&callee].saturating_mul(*edge.weight()));
            }
        }
        let own = function.instructions().len();
        let with_own = |callees: &BTreeMap<NodeIndex, usize>| {
            let parts = callees.values();
            parts.fold(own, |sum, part| sum.saturating_add(*part))
        };
        let mut size = with_own(&callees);
        // What makes it largest stays a call, here and everywhere.
        while size > LARGEST_FUNCTION {
            let Some((largest, _)) = callees.iter().max_by_key(|(_, part)| **part) else {
                break;
            };
            let largest = *largest;
            callees.remove(&largest);
            inlined.remove(&acyclic[largest]);
            size = with_own(&callees);
        }
        sizes.insert(function, size);
        if !function.is_declaration() && may_be(function) {
            inlined.insert(function);
        }
    }
    inlined
}

/// Functions that can call themselves through direct calls.
pub(in crate::program) fn recursive_functions<'ctx>(
    module: &Module<'ctx>,
) -> BTreeSet<Value<'ctx>> {
    call_graph(module).1
}

/// How often each function calls which other one, directly, and those that can call themselves.
fn call_graph<'ctx>(module: &Module<'ctx>) -> (DiGraph<Value<'ctx>, usize>, BTreeSet<Value<'ctx>>) {
    let mut graph = DiGraph::<Value, usize>::new();
    let functions = Value::functions(module);
    let nodes: HashMap<Value, _> = functions
        .iter()
        .map(|function| (*function, graph.add_node(*function)))
        .collect();
    let mut recursive = BTreeSet::new();
    for function in functions {
        let mut calls = BTreeMap::<NodeIndex, usize>::new();
        for called in function
            .instructions()
            .into_iter()
            .filter_map(Value::called_function)
        {
            *calls.entry(nodes[&called]).or_default() += 1;
        }
        let node = nodes[&function];
        if calls.contains_key(&node) {
            recursive.insert(function);
        }
        for (called, count) in calls {
            graph.add_edge(node, called, count);
        }
    }
    for component in petgraph::algo::tarjan_scc(&graph) {
        if component.len() > 1 {
            recursive.extend(component.into_iter().map(|node| graph[node]));
        }
    }
    (graph, recursive)
}
