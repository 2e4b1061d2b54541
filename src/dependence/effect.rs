//! What each operation of the host does to device memory.

use super::Guard;
use super::instance::{Instance, Place, TargetUse, host_polynomial, pointer_place};
use super::order::TouchedBuffers;
use super::polynomial::Polynomial;
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, NodeId, NodeKind, Pointer, Touch, ValueId};

/// Bytes from a place, first and one past the last.
pub(super) type ByteRange = (Polynomial, Polynomial);

/// What a node does to device memory.
pub(super) enum Effect<'a> {
    /// A modelled launch.
    Modelled(Box<Instance<'a>>),
    /// Whole ranges: copies, sets, frees, launches of unknown kernels.
    Whole {
        node: NodeId,
        touches: Vec<WholeTouch>,
        is_launch: bool,
    },
}

pub(super) struct WholeTouch {
    pub(super) place: Place,
    /// `None`: anywhere in it.
    pub(super) range: Option<ByteRange>,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

impl<'a> Effect<'a> {
    pub(super) fn of(
        graph: &'a LaunchGraph,
        kernels: &'a [KernelModel],
        node: NodeId,
    ) -> Option<Self> {
        let whole = |mut touches: Vec<WholeTouch>, is_launch| {
            // Pointers that vary with the iterations of a loop have values of their own.
            let values = graph.iterations.touched.get(&node).into_iter().flatten();
            for (touch, value) in touches.iter_mut().zip(values) {
                touch.place.pointer = *value;
            }
            Some(Self::Whole {
                node,
                touches,
                is_launch,
            })
        };
        match &graph.nodes[node.0].kind {
            NodeKind::Launch(launch) => {
                let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
                match model {
                    Some(model) if model.opaque.is_empty() => Some(Self::Modelled(Box::new(
                        Instance::new(graph, node, launch, model),
                    ))),
                    _ => whole(
                        vec![WholeTouch {
                            place: Instance::anywhere(),
                            range: None,
                            reads: true,
                            writes: true,
                        }],
                        true,
                    ),
                }
            }
            NodeKind::Copy { reads, writes, .. } | NodeKind::Library { reads, writes, .. } => {
                let mut touches = Vec::new();
                touches.extend(reads.iter().map(|touch| whole_touch(graph, touch, true)));
                touches.extend(writes.iter().map(|touch| whole_touch(graph, touch, false)));
                whole(touches, false)
            }
            NodeKind::Set { writes, .. } => whole(vec![whole_touch(graph, writes, false)], false),
            NodeKind::Free { pointer } => whole(vec![freed(graph, pointer.as_ref())], false),
            NodeKind::Allocation { .. }
            | NodeKind::Synchronise(_)
            | NodeKind::ErrorCheck
            | NodeKind::Output { .. }
            | NodeKind::StreamOperation
            | NodeKind::HostAccess { .. }
            | NodeKind::MayThrow { .. }
            | NodeKind::Opaque { .. } => None,
        }
    }

    pub(super) fn node(&self) -> NodeId {
        match self {
            Self::Modelled(instance) => instance.node,
            Self::Whole { node, .. } => *node,
        }
    }

    pub(super) fn is_launch(&self) -> bool {
        match self {
            Self::Modelled(_) => true,
            Self::Whole { is_launch, .. } => *is_launch,
        }
    }

    pub(super) fn places(&self) -> Vec<(&Place, bool, bool)> {
        match self {
            Self::Modelled(instance) => instance
                .uses
                .iter()
                .map(|used| (&used.place, !used.reads.is_empty(), !used.writes.is_empty()))
                .collect(),
            Self::Whole { touches, .. } => touches
                .iter()
                .map(|touch| (&touch.place, touch.reads, touch.writes))
                .collect(),
        }
    }

    /// The allocations that it may touch.
    pub(super) fn touched_buffers(&self) -> TouchedBuffers {
        let mut touched = TouchedBuffers::default();
        for (place, reads, writes) in self.places() {
            match &place.may_point_to {
                Some(list) if reads => touched.reads.extend(list),
                None if reads => touched.reads_anything = true,
                _ => {}
            }
            match &place.may_point_to {
                Some(list) if writes => touched.writes.extend(list),
                None if writes => touched.writes_anything = true,
                _ => {}
            }
        }
        touched
    }

    /// The whole ranges that a copy, set or free is compared with.
    pub(super) fn ranges(&self) -> Vec<WholeTouch> {
        match self {
            Self::Modelled(instance) => instance
                .uses
                .iter()
                .map(|used| WholeTouch {
                    place: used.place.clone(),
                    range: footprint_range(instance, used).cloned(),
                    reads: !used.reads.is_empty(),
                    writes: !used.writes.is_empty(),
                })
                .collect(),
            Self::Whole { touches, .. } => touches
                .iter()
                .map(|touch| WholeTouch {
                    place: touch.place.clone(),
                    range: touch.range.clone(),
                    ..*touch
                })
                .collect(),
        }
    }

    /// What is said of it relies on no test at run time.
    pub(super) fn holds_always(&self) -> bool {
        match self {
            Self::Modelled(instance) => {
                instance.broken.is_none() && !instance.conditions.iter().any(Guard::may_fail)
            }
            Self::Whole { .. } => true,
        }
    }

    pub(super) fn conditions(&self) -> &[Guard] {
        match self {
            Self::Modelled(instance) => &instance.conditions,
            Self::Whole { .. } => &[],
        }
    }
}

pub(super) fn whole_touch(graph: &LaunchGraph, touch: &Touch, reads: bool) -> WholeTouch {
    let bytes = touch.bytes.as_ref().and_then(host_polynomial);
    WholeTouch {
        place: pointer_place(graph, &touch.pointer),
        range: bytes.map(|bytes| (Polynomial::default(), bytes)),
        reads,
        writes: !reads,
    }
}

pub(super) fn freed(graph: &LaunchGraph, pointer: Option<&Pointer>) -> WholeTouch {
    WholeTouch {
        place: match pointer {
            Some(pointer) => pointer_place(graph, pointer),
            None => Instance::anywhere(),
        },
        range: None,
        reads: false,
        writes: true,
    }
}

/// The bytes that all accesses of a use stay in, while the launch's conditions hold.
pub(super) fn footprint_range<'a>(
    instance: &Instance,
    used: &'a TargetUse,
) -> Option<&'a ByteRange> {
    used.range.as_ref().filter(|_| instance.broken.is_none())
}

/// Whether two ranges at a known distance are disjoint for all values.
pub(super) fn ranges_disjoint(
    distance: &Polynomial,
    source: Option<&ByteRange>,
    sink: Option<&ByteRange>,
    unstable: &impl Fn(ValueId) -> bool,
) -> bool {
    let (Some((source_low, source_high)), Some((sink_low, sink_high))) = (source, sink) else {
        return false;
    };
    let not_above = |high: Option<Polynomial>, low: Option<Polynomial>| {
        let gap = low.zip(high).and_then(|(low, high)| low.subtract(&high));
        gap.and_then(|gap| gap.as_constant())
            .is_some_and(|gap| gap >= 0)
    };
    let sink_low = sink_low.on_sink_side(unstable);
    let sink_high = sink_high.on_sink_side(unstable);
    not_above(source_high.add(distance), Some(sink_low))
        || not_above(Some(sink_high), source_low.add(distance))
}
