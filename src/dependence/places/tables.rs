//! Tables of pointers in memory of the device: which of the pointers that kernels load from there stay what the
//! host has put there, and where these lead.
//!
//! Invariant: a table is taken only if nothing writes to it but copies from memory of the host, of which the
//! pointers are known. That is shown by induction over the run: as long as all tables hold what the host has put
//! there, a kernel writes where its own pointers lead and where those of the tables do, which is to none of them.

use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{
    ArgumentPiece, BEHIND_POINTER, BufferId, HostValue, Launch, LaunchGraph, MemoryKind, NodeId,
    NodeKind, Operand, Pointer, Root, StoredPointer, ValueId,
};
use crate::math::expression::Expression;
use crate::program::KernelId;
use std::collections::{BTreeMap, BTreeSet};

/// Loads of pointers by kernel: argument, and how far behind it.
pub type TableLoads = BTreeMap<KernelId, BTreeSet<(usize, u32)>>;

/// Whether the host puts pointers into any allocation.
pub fn has_tables(graph: &LaunchGraph) -> bool {
    let stored = |cells: &Vec<StoredPointer>| !cells.is_empty();
    let mut buffers = graph.buffers.iter();
    !graph.capture.replays
        && buffers.any(|buffer| buffer.stored_pointers.as_ref().is_some_and(stored))
}

/// Gives each launch the pointers that its kernel loads from tables. Returns the loads for which that was possible at
/// all launches, of those that `kernels` take for constants: whoever relies on a model has to make those of the others
/// anew.
pub fn take_tables(graph: &mut LaunchGraph, kernels: &[KernelModel]) -> TableLoads {
    let mut loads: TableLoads = kernels
        .iter()
        .map(|model| {
            let targets = model.accesses.iter().map(|access| &access.target);
            (
                model.id,
                targets.filter_map(Target::behind_argument).collect(),
            )
        })
        .collect();
    let launches: Vec<(NodeId, Launch)> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((node.id, launch.clone())),
            _ => None,
        })
        .collect();
    loop {
        let written = Written::of(graph, kernels, &loads);
        let mut dropped = false;
        for (_, launch) in &launches {
            let Some(own) = launch.kernel.and_then(|kernel| loads.get_mut(&kernel)) else {
                continue;
            };
            let before = own.len();
            own.retain(|(argument, distance)| {
                let tables = tables(graph, launch, *argument);
                tables.is_some_and(|tables| !tables.iter().any(|table| written.may_be(*table)))
                    && stored(graph, launch, *argument, *distance).is_some()
            });
            dropped |= own.len() < before;
        }
        if !dropped {
            break;
        }
    }
    for (node, launch) in launches {
        let own = launch.kernel.and_then(|kernel| loads.get(&kernel));
        for (argument, distance) in own.into_iter().flatten() {
            let Some(pointer) = stored(graph, &launch, *argument, *distance) else {
                continue;
            };
            add_piece(graph, node, &launch, (*argument, *distance), pointer);
        }
    }
    loads
}

/// Where a loaded pointer may lead.
struct Led {
    buffers: Vec<BufferId>,
    /// It leads that far into its only allocation, of which there is one.
    exact: Option<i64>,
}

/// The tables that an argument leads to; `None`: not into tables alone.
fn tables<'a>(graph: &LaunchGraph, launch: &'a Launch, argument: usize) -> Option<&'a [BufferId]> {
    let tables = pointer_at(launch, argument, 0)?.may_point_to.as_deref()?;
    let is_table = |table: &BufferId| {
        let buffer = &graph.buffers[table.0];
        buffer.memory == MemoryKind::Device && !buffer.escapes && buffer.stored_pointers.is_some()
    };
    tables.iter().all(is_table).then_some(tables)
}

/// What the host has put so many bytes behind an argument.
fn stored(graph: &LaunchGraph, launch: &Launch, argument: usize, distance: u32) -> Option<Led> {
    let pointer = pointer_at(launch, argument, 0)?;
    let start = match &pointer.root {
        Root::Buffer(buffer) if graph.buffers[buffer.0].unique => pointer
            .offset_bytes
            .as_ref()
            .and_then(Expression::as_constant),
        _ => None,
    };
    let at = start.and_then(|start| start.checked_add(i64::from(distance)));
    let tables = tables(graph, launch, argument)?;
    let mut found: Vec<&StoredPointer> = Vec::new();
    for table in tables {
        let cells = graph.buffers[table.0].stored_pointers.iter().flatten();
        found.extend(cells.filter(|cell| match (cell.at_bytes, at) {
            (Some(cell), Some(at)) => cell < at.saturating_add(8) && at < cell.saturating_add(8),
            _ => true,
        }));
    }
    let mut buffers: BTreeSet<BufferId> = BTreeSet::new();
    for cell in &found {
        buffers.extend(cell.may_point_to.as_ref()?);
    }
    let exact = match (&found[..], tables, buffers.first()) {
        ([cell], [_], Some(buffer))
            if at.is_some() && cell.at_bytes == at && buffers.len() == 1 =>
        {
            cell.offset_bytes.filter(|_| graph.buffers[buffer.0].unique)
        }
        _ => None,
    };
    (!buffers.is_empty()).then_some(Led {
        buffers: buffers.into_iter().collect(),
        exact,
    })
}

fn add_piece(
    graph: &mut LaunchGraph,
    node: NodeId,
    launch: &Launch,
    (argument, distance): (usize, u32),
    led: Led,
) {
    let offset_bytes = BEHIND_POINTER + distance;
    let operand = Operand::Argument {
        argument,
        offset_bytes,
        bits: 64,
        signed: true,
    };
    let value = ValueId(graph.values.len());
    // The table may be another one each time.
    graph.values.push(HostValue {
        constant: None,
        holder: (launch.id, operand),
        varies_in: graph.blocks[graph.nodes[node.0].block.0].innermost_loop,
    });
    let is_device = |buffer: &BufferId| {
        let memory = graph.buffers[buffer.0].memory;
        matches!(memory, MemoryKind::Device | MemoryKind::DeviceVariable)
    };
    let (root, offset) = match (&led.buffers[..], led.exact) {
        ([buffer], Some(offset)) => (Root::Buffer(*buffer), offset),
        _ => (Root::Value(value), 0),
    };
    let pointer = Pointer {
        root,
        offset_bytes: Some(Expression::Constant(offset)),
        device_only: led.buffers.iter().all(is_device),
        may_point_to: Some(led.buffers),
    };
    if let NodeKind::Launch(launch) = &mut graph.nodes[node.0].kind {
        launch.arguments[argument].pieces.push(ArgumentPiece {
            offset_bytes,
            bits: 64,
            value,
            pointer: Some(pointer),
        });
    }
}

fn pointer_at(launch: &Launch, argument: usize, offset_bytes: u32) -> Option<&Pointer> {
    let mut pieces = launch.arguments.get(argument)?.pieces.iter();
    let piece = pieces.find(|piece| piece.offset_bytes == offset_bytes && piece.bits == 64)?;
    piece.pointer.as_ref()
}

/// Allocations that something other than a copy from memory of the host may write.
#[derive(Default)]
struct Written {
    anything: bool,
    buffers: BTreeSet<BufferId>,
}

impl Written {
    /// By all nodes, while the loads in question lead where the host says.
    fn of(graph: &LaunchGraph, kernels: &[KernelModel], loads: &TableLoads) -> Self {
        let mut written = Self::default();
        for node in &graph.nodes {
            match &node.kind {
                NodeKind::Launch(launch) => written.add_launch(graph, kernels, launch, loads),
                NodeKind::Copy {
                    writes, from_host, ..
                } => {
                    for touch in writes {
                        match (from_host, &touch.pointer.may_point_to) {
                            (Some(_), Some(_)) => {}
                            (_, places) => written.add(places.as_deref()),
                        }
                    }
                }
                NodeKind::Library { writes, .. } => {
                    let places = writes.iter().map(|touch| &touch.pointer.may_point_to);
                    places.for_each(|places| written.add(places.as_deref()));
                }
                NodeKind::Set { writes, .. } => written.add(writes.pointer.may_point_to.as_deref()),
                // Code that is not seen has no pointer to a table, and the host cannot write there.
                NodeKind::Opaque { .. }
                | NodeKind::MayThrow { .. }
                | NodeKind::HostAccess { .. }
                | NodeKind::Allocation { .. }
                | NodeKind::Free { .. }
                | NodeKind::Synchronise(_)
                | NodeKind::ErrorCheck
                | NodeKind::StreamOperation
                | NodeKind::Output { .. } => {}
            }
        }
        written
    }

    fn add_launch(
        &mut self,
        graph: &LaunchGraph,
        kernels: &[KernelModel],
        launch: &Launch,
        loads: &TableLoads,
    ) {
        let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
        let Some(model) = model.filter(|model| model.opaque.is_empty()) else {
            self.anything = true;
            return;
        };
        for (argument, formal) in model.formals.iter().enumerate() {
            // Whoever finds it may write there.
            if !formal.captured {
                continue;
            }
            let pieces = launch.arguments.get(argument).map(|known| &known.pieces);
            self.anything |= pieces.is_none_or(Vec::is_empty);
            let pointers = pieces.into_iter().flatten();
            for pointer in pointers.filter_map(|piece| piece.pointer.as_ref()) {
                self.add(pointer.may_point_to.as_deref());
            }
        }
        let mut seen: BTreeSet<&Target> = BTreeSet::new();
        for access in &model.accesses {
            if access.kind == AccessKind::Read || !seen.insert(&access.target) {
                continue;
            }
            match &access.target {
                Target::Shared(_) | Target::UnknownShared | Target::Global(_) => {}
                Target::Unknown => self.anything = true,
                Target::Argument {
                    argument,
                    offset_bytes,
                } => match access.target.behind_argument() {
                    Some(place) => {
                        let holds = loads.get(&model.id).is_some_and(|own| own.contains(&place));
                        let led = stored(graph, launch, place.0, place.1).filter(|_| holds);
                        self.add(led.as_ref().map(|led| &led.buffers[..]));
                    }
                    None => {
                        let pointer = pointer_at(launch, *argument, *offset_bytes);
                        self.add(pointer.and_then(|pointer| pointer.may_point_to.as_deref()));
                    }
                },
            }
        }
    }

    fn add(&mut self, places: Option<&[BufferId]>) {
        match places {
            Some(buffers) => self.buffers.extend(buffers),
            None => self.anything = true,
        }
    }

    fn may_be(&self, table: BufferId) -> bool {
        self.anything || self.buffers.contains(&table)
    }
}
