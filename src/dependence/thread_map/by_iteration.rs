//! Launches of kernels that are one loop over the whole grid, counted by the loop's iterations: as launches of so many blocks of one
//! thread, each of which runs one iteration.
//!
//! Invariant: a launch has such a form only where the kernel that runs one iteration is modelled, needs nothing of its block, and
//! a bound that an argument or a constant tells stands in the domain of all that it writes.

use super::super::edges::Builder;
use super::super::effect::Effect;
use super::super::instance::host_symbol;
use super::super::order::Flow;
use super::super::relation::Relations;
use super::super::{CONDITIONAL_NEIGHBOURS, Edge, Guard};
use crate::kernel::{AccessKind, KernelModel, KernelSymbol};
use crate::launch::{HostValue, Launch, LaunchGraph, LaunchId, NodeId, NodeKind, Operand, ValueId};
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::{Condition, Expression};
use crate::program::KernelId;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What is known of launches that may be counted by iterations. Edges are those within one iteration of the host's loops.
#[derive(Clone, Debug, Default)]
pub struct ByIteration {
    /// What each relies on.
    pub conditions: BTreeMap<NodeId, Vec<Guard>>,
    /// The edges of each two launches that were compared, the earlier first, where all that can be counted by iterations are;
    /// and of each such launch with itself: those between its iterations.
    pub edges: BTreeMap<(NodeId, NodeId), Vec<Arc<Edge>>>,
}

/// Finds which launches may be counted by iterations: [`LaunchGraph::by_iteration`].
pub fn take_iterations(graph: &mut LaunchGraph, kernels: &[KernelModel]) {
    let made = kernels
        .iter()
        .filter_map(|model| Some((model.iteration_of?, model)));
    let made: HashMap<KernelId, &KernelModel> =
        made.filter(|(_, model)| stands_alone(model)).collect();
    if made.is_empty() {
        return;
    }
    let launches = graph.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Launch(launch) => Some(launch.clone()),
        _ => None,
    });
    for launch in launches.collect::<Vec<Launch>>() {
        let model = launch.kernel.and_then(|kernel| made.get(&kernel));
        if let Some(model) = model.filter(|_| !launch.special)
            && let Some(count) = count(graph, &launch, model)
        {
            let [one, none] = [1, 0].map(|number| constant(graph, number));
            let id = launch.id;
            let counted = Launch {
                kernel: Some(model.id),
                grid: [count, one, one],
                block: [one; 3],
                shared_bytes: none,
                ..launch
            };
            graph.by_iteration.insert(id, counted);
        }
    }
}

/// Whether the threads of a modelled kernel need nothing of each other, as far as its model tells by itself.
fn stands_alone(model: &KernelModel) -> bool {
    let bound = |kind: &AccessKind| match kind {
        AccessKind::Atomic => true,
        AccessKind::Reduction(update) => update.within_block,
        AccessKind::Read | AccessKind::Write => false,
    };
    model.opaque.is_empty()
        && model.unfusable.is_empty()
        && model.barriers.is_empty()
        && !model.warp_operations
        && !model.asynchronous_copies
        && !model.prints
        && !model.dynamic_shared
        && model.static_shared_bytes == 0
        && !model.accesses.iter().any(|access| bound(&access.kind))
}

/// How many iterations there are at a launch.
fn count(graph: &mut LaunchGraph, launch: &Launch, model: &KernelModel) -> Option<ValueId> {
    let bound = bound(model)?;
    // What that relies on the model's parameters do, too.
    let mut readings = Vec::new();
    let mut host = |affine: &Affine| at_launch(graph, launch, model, affine, &mut readings);
    match host(&bound)? {
        Expression::Constant(count) => Some(constant(graph, count)),
        Expression::Leaf(value) => Some(value),
        computed => {
            let value = new_value(graph, None);
            graph.computed.insert(value, computed);
            Some(value)
        }
    }
}

/// A uniform expression of a kernel in host values.
fn at_launch(
    graph: &LaunchGraph,
    launch: &Launch,
    model: &KernelModel,
    affine: &Affine,
    readings: &mut Vec<Condition<ValueId>>,
) -> Option<Expression<ValueId>> {
    let mut sum = Expression::Constant(affine.constant);
    for (coefficient, variable) in &affine.terms {
        let value = match variable {
            Variable::Parameter(index) => {
                let mut symbol = |symbol: &KernelSymbol| match symbol {
                    KernelSymbol::Argument { .. } => host_symbol(graph, launch, symbol, readings),
                    _ => None,
                };
                model.parameters.get(*index)?.substitute(&mut symbol)?
            }
            Variable::Floor(numerator, divisor) => {
                let numerator = at_launch(graph, launch, model, numerator, readings)?;
                numerator.floor_divide(Expression::Constant(*divisor))
            }
            _ => return None,
        };
        sum = sum.add(Expression::Constant(*coefficient).multiply(value));
    }
    Some(sum)
}

/// Below what the number of an iteration is wherever it writes: what a constraint of the first domain says, and all others.
fn bound(model: &KernelModel) -> Option<Affine> {
    let writes = || {
        let accesses = model.accesses.iter();
        accesses.filter(|access| access.kind != AccessKind::Read)
    };
    let bounds = |constraint: &Constraint| {
        let Constraint::NonNegative(affine) = constraint else {
            return None;
        };
        let own = (-1, Variable::Block(Axis::X));
        let rest: Vec<_> = affine
            .terms
            .iter()
            .filter(|term| **term != own)
            .cloned()
            .collect();
        let bound = Affine {
            constant: affine.constant + 1,
            terms: rest,
        };
        (is_uniform(&bound) && bound.terms.len() + 1 == affine.terms.len()).then_some(bound)
    };
    let first = writes().next()?.domain.first()?;
    let everywhere = |bound: &Affine| {
        writes().all(|access| {
            let mut alternatives = access.domain.iter();
            alternatives.all(|all| all.iter().any(|one| bounds(one).as_ref() == Some(bound)))
        })
    };
    first.iter().filter_map(bounds).find(everywhere)
}

fn is_uniform(affine: &Affine) -> bool {
    affine.terms.iter().all(|(_, variable)| match variable {
        Variable::Parameter(_) => true,
        Variable::Floor(numerator, _) => is_uniform(numerator),
        _ => false,
    })
}

fn constant(graph: &mut LaunchGraph, number: i64) -> ValueId {
    new_value(graph, Some(number))
}

fn new_value(graph: &mut LaunchGraph, constant: Option<i64>) -> ValueId {
    graph.values.push(HostValue {
        constant,
        holder: (LaunchId(u32::MAX), Operand::SharedBytes),
        varies_in: None,
    });
    ValueId(graph.values.len() - 1)
}

/// Compares launches that may be counted by iterations with themselves and their neighbours.
pub(in crate::dependence) fn compare(graph: &LaunchGraph, kernels: &[KernelModel]) -> ByIteration {
    let mut found = ByIteration::default();
    if graph.by_iteration.is_empty() {
        return found;
    }
    let mut counted = graph.clone();
    let mut nodes = Vec::new();
    for node in &mut counted.nodes {
        if let NodeKind::Launch(launch) = &mut node.kind {
            if let Some(by_iteration) = graph.by_iteration.get(&launch.id) {
                *launch = by_iteration.clone();
                nodes.push((node.id, true));
            } else {
                nodes.push((node.id, false));
            }
        }
    }
    let mut effects: HashMap<NodeId, Effect> = HashMap::new();
    let flow = Flow::new(&counted);
    let mut builder = Builder::new(&counted, Relations::LeftOut);
    for (place, (sink, is_counted)) in nodes.iter().enumerate() {
        if let Some(effect @ Effect::Modelled(_)) = Effect::of(&counted, kernels, *sink) {
            effects.insert(*sink, effect);
        }
        let Some(Effect::Modelled(instance)) = effects.get(sink) else {
            continue;
        };
        if *is_counted {
            if instance.broken.is_some() {
                continue;
            }
            found.conditions.insert(*sink, instance.conditions.clone());
        }
        let first = place.saturating_sub(CONDITIONAL_NEIGHBOURS);
        for (source, other_is_counted) in &nodes[first..=place] {
            let function = |node: &NodeId| counted.blocks[counted.nodes[node.0].block.0].function;
            if !is_counted && !other_is_counted || function(source) != function(sink) {
                continue;
            }
            if let (Some(from), Some(to)) = (effects.get(source), effects.get(sink)) {
                let before = builder.dependences.graph.edge_count();
                builder.relate(&flow, from, to);
                let edges = builder.dependences.graph.edge_weights().skip(before);
                found
                    .edges
                    .insert((*source, *sink), edges.cloned().collect());
            }
        }
    }
    found
}
