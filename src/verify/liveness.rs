//! Allocations that a plan calls unread after a group.
//!
//! Stores to one may be left out of the fused kernel where no load of the kernel needs them, so
//! nothing else may: every operation that may run later and may read a byte of the allocation
//! speaks against it. Where the group can run again, its own originals are such operations, as soon
//! as one run may take them and another the fused kernel; then all that guards compare must be the
//! same in every run.

use super::host_order::reachable;
use super::place::{Overlap, Place, Values};
use super::{Refusal, Site};
use crate::dependence::{Guard, PointerRange};
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{
    BufferId, HostBlockId, Launch, LaunchGraph, MemoryKind, NodeId, NodeKind, Operand, Pointer,
    Root, ValueId,
};
use crate::schedule::FusionGroup;
use std::collections::{BTreeMap, BTreeSet};

/// What speaks against the allocations that a group calls unread.
pub(super) fn refusals(
    readers: &mut Readers<'_>,
    group: &FusionGroup,
    members: &[Site<'_>],
) -> Vec<Refusal> {
    let graph = readers.graph;
    let (Some(first), Some(last)) = (members.first(), members.last()) else {
        return Vec::new();
    };
    let refuse = |buffer: BufferId, what: &str| Refusal::StillRead {
        launch: last.launch.id,
        buffer,
        what: what.to_string(),
    };
    let mut refusals = Vec::new();
    for buffer in &group.unread_afterwards {
        let Some(facts) = graph.buffers.get(buffer.0) else {
            refusals.push(refuse(*buffer, "nothing, it is not in the graph"));
            continue;
        };
        if facts.memory != MemoryKind::Device || facts.escapes || facts.variable.is_some() {
            refusals.push(refuse(*buffer, "code that is not analysed"));
            continue;
        }
        if readers.is_kept_by_a_kernel(*buffer) {
            refusals.push(refuse(*buffer, "who finds a pointer that a kernel keeps"));
            continue;
        }
        let home = graph.nodes[last.node.0].block;
        let repeats = graph.functions[graph.blocks[home.0].function].repeated
            || reachable(graph, home, None).contains(&home);
        if repeats && !decides_the_same(graph, group, members) {
            refusals.push(refuse(*buffer, "its own originals, in another run"));
            continue;
        }
        let values = Values::constants(graph);
        let whole = Place::of_pointer(
            graph,
            &values,
            &Pointer {
                root: Root::Buffer(*buffer),
                offset_bytes: None,
                may_point_to: Some(vec![*buffer]),
                device_only: true,
            },
        );
        let mut later = Later::new(graph, first.node);
        let reader = readers.of(*buffer, &whole).find(|node| {
            members.iter().all(|member| member.node != *node) && (repeats || later.contains(*node))
        });
        if let Some(reader) = reader {
            let what = format!("node {}", reader.0);
            refusals.push(refuse(*buffer, &what));
        }
    }
    refusals
}

/// Who reads which allocation, found out once for all groups.
pub(super) struct Readers<'a> {
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    /// What each node may read, once asked for.
    places: Option<Vec<Vec<Place>>>,
    /// The nodes that may read an allocation, in order; under `None` those that may read any.
    nodes: BTreeMap<Option<BufferId>, Vec<NodeId>>,
    /// The allocations to which some launch passes a pointer that the kernel may store; under `None`
    /// when it may be any.
    kept: Option<BTreeSet<Option<BufferId>>>,
}

impl<'a> Readers<'a> {
    pub(super) fn new(graph: &'a LaunchGraph, kernels: &'a [KernelModel]) -> Self {
        Self {
            graph,
            kernels,
            places: None,
            nodes: BTreeMap::new(),
            kept: None,
        }
    }

    /// The nodes that may read a byte of an allocation, whose place is `whole`.
    fn of<'b>(
        &'b mut self,
        buffer: BufferId,
        whole: &'b Place,
    ) -> impl Iterator<Item = NodeId> + use<'a, 'b> {
        let (graph, kernels, nodes) = (self.graph, self.kernels, &mut self.nodes);
        let places = self.places.get_or_insert_with(|| {
            let values = Values::constants(graph);
            let mut all = Vec::new();
            for node in &graph.nodes {
                let places = read_places(graph, kernels, &values, node.id);
                for place in &places {
                    let candidates = place.candidates().map_or_else(
                        || vec![None],
                        |candidates| candidates.iter().copied().map(Some).collect(),
                    );
                    for candidate in candidates {
                        let readers = nodes.entry(candidate).or_default();
                        if readers.last() != Some(&node.id) {
                            readers.push(node.id);
                        }
                    }
                }
                all.push(places);
            }
            all
        });
        let places: &'b [Vec<Place>] = places;
        let named = nodes.get(&Some(buffer)).into_iter().flatten();
        let any = nodes.get(&None).into_iter().flatten();
        let reads = |node: &NodeId| {
            let mut places = places[node.0].iter();
            places.any(|place| place.overlap(whole) != Overlap::Disjoint)
        };
        named.chain(any).copied().filter(reads)
    }

    /// Whether some launch passes a pointer to the allocation to a kernel that may store the
    /// pointer.
    fn is_kept_by_a_kernel(&mut self, buffer: BufferId) -> bool {
        let (graph, kernels) = (self.graph, self.kernels);
        let kept = self.kept.get_or_insert_with(|| {
            let mut kept = BTreeSet::new();
            for node in &graph.nodes {
                let NodeKind::Launch(launch) = &node.kind else {
                    continue;
                };
                let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
                for (index, known) in launch.arguments.iter().enumerate() {
                    let formal = model.and_then(|model| model.formals.get(index));
                    if formal.is_some_and(|formal| !(formal.is_pointer && formal.captured)) {
                        continue;
                    }
                    for piece in known.pieces.iter().filter(|piece| piece.bits == 64) {
                        let pointer = piece.pointer.as_ref();
                        match pointer.and_then(|pointer| pointer.may_point_to.as_ref()) {
                            Some(candidates) => kept.extend(candidates.iter().copied().map(Some)),
                            None => {
                                kept.insert(None);
                            }
                        }
                    }
                }
            }
            kept
        });
        kept.contains(&None) || kept.contains(&Some(buffer))
    }
}

/// The places that a node may read on the device.
fn read_places(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    values: &Values,
    node: NodeId,
) -> Vec<Place> {
    match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => launch_reads(graph, kernels, values, launch),
        NodeKind::Copy { reads, .. } | NodeKind::Library { reads, .. } => reads
            .iter()
            .map(|read| Place::of_pointer(graph, values, &read.pointer))
            .collect(),
        // Fills and frees read nothing, and the host cannot read device memory; unknown code has
        // no pointer to an allocation that does not escape.
        NodeKind::Set { .. }
        | NodeKind::Allocation { .. }
        | NodeKind::Free { .. }
        | NodeKind::Synchronise
        | NodeKind::ErrorCheck
        | NodeKind::StreamOperation
        | NodeKind::HostAccess
        | NodeKind::Opaque { .. } => Vec::new(),
    }
}

fn launch_reads(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    values: &Values,
    launch: &Launch,
) -> Vec<Place> {
    let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
    match model.filter(|model| model.opaque.is_empty()) {
        // Anywhere.
        None => vec![Place::default()],
        Some(model) => {
            let mut targets: Vec<&Target> = Vec::new();
            for access in &model.accesses {
                let on_chip = matches!(access.target, Target::Shared(_) | Target::UnknownShared);
                let reads = access.kind != AccessKind::Write;
                if reads && !on_chip && !targets.contains(&&access.target) {
                    targets.push(&access.target);
                }
            }
            targets
                .into_iter()
                .map(|target| Place::of_target(graph, values, launch, target))
                .collect()
        }
    }
}

/// What may run after a node has, where its function runs once.
struct Later<'a> {
    graph: &'a LaunchGraph,
    node: NodeId,
    /// The blocks that are reached from the node's own, once asked for.
    blocks: Option<BTreeSet<HostBlockId>>,
}

impl<'a> Later<'a> {
    fn new(graph: &'a LaunchGraph, node: NodeId) -> Self {
        Self {
            graph,
            node,
            blocks: None,
        }
    }

    fn contains(&mut self, node: NodeId) -> bool {
        let graph = self.graph;
        let [from, to] = [self.node, node].map(|node| graph.nodes[node.0].block);
        if graph.blocks[from.0].function != graph.blocks[to.0].function {
            return true;
        }
        let place = |id: NodeId| {
            let nodes = &graph.blocks[from.0].nodes;
            nodes.iter().position(|probe| *probe == id)
        };
        if from == to && place(self.node) < place(node) {
            return true;
        }
        let blocks = self
            .blocks
            .get_or_insert_with(|| reachable(graph, from, None));
        blocks.contains(&to)
    }
}

/// Whether all that the guards compare is computed once in the run of the program.
fn decides_the_same(graph: &LaunchGraph, group: &FusionGroup, members: &[Site<'_>]) -> bool {
    let home = graph.nodes[members[0].node.0].block;
    if graph.functions[graph.blocks[home.0].function].repeated {
        return false;
    }
    let mut compared: BTreeSet<Option<ValueId>> = BTreeSet::new();
    for Site { launch, .. } in members {
        compared.extend(launch.grid.map(Some));
        compared.extend(launch.block.map(Some));
        // The limit of dynamic shared memory is an attribute that the host can change.
        if graph.values[launch.shared_bytes.0].constant != Some(0) {
            return false;
        }
    }
    let mut expressions = Vec::new();
    for guard in &group.guards {
        match guard {
            Guard::ConfigurationValid { .. } => {}
            Guard::Holds { condition, .. } => {
                condition.substitute(&mut |value| {
                    compared.insert(Some(*value));
                    Some(crate::expression::Expression::Leaf(*value))
                });
            }
            Guard::RangesDisjoint { left, right } => {
                for range in [left, right] {
                    compared.insert(passed_pointer(members, range));
                    expressions.extend([&range.low_bytes, &range.high_bytes]);
                }
            }
        }
    }
    for expression in expressions {
        expression.substitute(&mut |value| {
            compared.insert(Some(*value));
            Some(crate::expression::Expression::Leaf(*value))
        });
    }
    compared.iter().all(|value| {
        value.is_some_and(|value| {
            graph
                .values
                .get(value.0)
                .is_some_and(|value| value.varies_in.is_none())
        })
    })
}

fn passed_pointer(members: &[Site<'_>], range: &PointerRange) -> Option<ValueId> {
    let member = members.iter().find(|site| site.launch.id == range.launch)?;
    match range.operand {
        Operand::Argument {
            argument,
            offset_bytes,
            ..
        } => member
            .launch
            .arguments
            .get(argument)?
            .pieces
            .iter()
            .find(|piece| piece.offset_bytes == offset_bytes)
            .map(|piece| piece.value),
        _ => None,
    }
}
