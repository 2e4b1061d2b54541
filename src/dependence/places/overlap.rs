//! Whether two places may have a common byte, by what they point to alone.

use super::super::effect::{Effect, WholeTouch, ranges_disjoint};
use super::super::instance::{Base, Instance, Place, host_polynomial};
use super::super::polynomial::{Atom, Polynomial};
use super::super::{Guard, PointerRange};
use crate::kernel::{Columns, KernelModel};
use crate::launch::{BufferId, LaunchGraph, MemoryKind, NodeId, ValueId};
use serde::{Deserialize, Serialize};

/// How two places lie to each other.
pub(in crate::dependence) enum Overlap {
    /// No common byte.
    Never,
    /// The first less the second, in bytes.
    Distance(Polynomial),
    /// Cannot tell.
    Unknown,
}

pub(in crate::dependence) fn overlap(
    graph: &LaunchGraph,
    source: &Place,
    sink: &Place,
    stable: &impl Fn(ValueId) -> bool,
) -> Overlap {
    if let (Some(left), Some(right)) = (source.pointer, sink.pointer)
        && left == right
        && stable(left)
    {
        return Overlap::Distance(Polynomial::default());
    }
    let distance = || {
        let sink_offset = sink.offset.as_ref()?.on_sink_side(&|value| !stable(value));
        source.offset.as_ref()?.subtract(&sink_offset)
    };
    let same = || {
        let known = distance().or_else(|| distance_on_courses(graph, source, sink, stable));
        known.map_or(Overlap::Unknown, Overlap::Distance)
    };
    let is_variable = |buffer: &BufferId| graph.buffers[buffer.0].variable.is_some();
    match (&source.base, &sink.base) {
        (Base::Buffer(a), Base::Buffer(b)) if a == b => return same(),
        (Base::Value(a), Base::Value(b)) if a == b && stable(*a) => return same(),
        (Base::Variable(a), Base::Variable(b)) => {
            return if a == b { same() } else { Overlap::Never };
        }
        (Base::Variable(_), _) | (_, Base::Variable(_)) => {
            let other = if matches!(source.base, Base::Variable(_)) {
                sink
            } else {
                source
            };
            return match &other.may_point_to {
                Some(buffers) if !buffers.iter().any(is_variable) => Overlap::Never,
                _ => Overlap::Unknown,
            };
        }
        _ => {}
    }
    match (&source.may_point_to, &sink.may_point_to) {
        (Some(left), Some(right)) if !left.iter().any(|buffer| right.contains(buffer)) => {
            Overlap::Never
        }
        _ => Overlap::Unknown,
    }
}

/// The distance of two pointers that move with the iterations of a loop alike, in one iteration: a
/// constant, since what the pointers are made of cannot be named at run time.
fn distance_on_courses(
    graph: &LaunchGraph,
    source: &Place,
    sink: &Place,
    stable: &impl Fn(ValueId) -> bool,
) -> Option<Polynomial> {
    let offset = |place: &Place| {
        if let Some(offset) = &place.offset {
            return Some(offset.clone());
        }
        let course = graph.iterations.courses.get(&place.pointer?)?;
        match (course.turns_in, course.places.as_slice()) {
            (None, [only]) if Base::Buffer(only.root.buffer()?) == place.base => {
                host_polynomial(&only.offset_bytes)
            }
            _ => None,
        }
    };
    let offsets = [offset(source)?, offset(sink)?];
    let mut atoms = offsets.iter().flat_map(Polynomial::atoms);
    let moves_alike = atoms.all(|atom| match atom {
        Atom::Value(value) => stable(*value),
        _ => false,
    });
    let distance = offsets[0].subtract(&offsets[1])?;
    (moves_alike && distance.as_constant().is_some()).then_some(distance)
}

/// Which operations may touch common memory, by places and by ranges that hold without any test at
/// run time; and what launches touch by ranges of their operands.
pub struct SharedMemory<'a> {
    graph: &'a LaunchGraph,
    touches: Vec<Option<Vec<WholeTouch>>>,
    /// What [`launch_conditions`] and [`launch_ranges`] say, so that who asks often need not look at a launch again.
    launches: Vec<Option<LaunchSaid>>,
}

/// What is said of a modelled launch.
struct LaunchSaid {
    conditions: Result<Vec<Guard>, String>,
    ranges: Result<Vec<RangeTouch>, String>,
}

impl<'a> SharedMemory<'a> {
    /// Looks at all operations.
    pub fn new(graph: &'a LaunchGraph, kernels: &[KernelModel]) -> Self {
        let (mut touches, mut launches) = (Vec::new(), Vec::new());
        for node in &graph.nodes {
            let effect = Effect::of(graph, kernels, node.id);
            touches.push(effect.as_ref().map(|effect| {
                let mut touches = effect.ranges();
                if !effect.holds_always() {
                    touches.iter_mut().for_each(|touch| touch.range = None);
                }
                touches
            }));
            launches.push(match effect {
                Some(Effect::Modelled(instance)) => Some(LaunchSaid {
                    ranges: ranges_of(graph, &instance),
                    conditions: conditions_of(*instance),
                }),
                _ => None,
            });
        }
        Self {
            graph,
            touches,
            launches,
        }
    }

    /// See [`launch_conditions`].
    pub fn conditions(&self, node: NodeId) -> Option<&Result<Vec<Guard>, String>> {
        let said = self.launches[node.0].as_ref();
        said.map(|said| &said.conditions)
    }

    /// The ranges of [`launch_ranges`]; `None` where not all can be told.
    pub fn ranges(&self, node: NodeId) -> Option<&[RangeTouch]> {
        let said = self.launches[node.0].as_ref()?;
        said.ranges.as_deref().ok()
    }

    /// Whether an operation may touch memory that the host can touch too.
    pub fn is_host_visible(&self, node: NodeId) -> bool {
        self.touches[node.0]
            .as_ref()
            .is_some_and(|touches| touches.iter().any(|touch| !touch.place.device_only))
    }

    /// Whether two operations of one iteration may touch a common byte that one writes. False for
    /// fences and synchronisations, which touch nothing that is listed.
    pub fn may_conflict(&self, first: NodeId, second: NodeId) -> bool {
        self.may_conflict_where(first, second, |_| false)
    }

    /// The same of two operations of which neither runs again before the other: what varies in the
    /// loops around both is the same.
    pub fn may_conflict_in_step(&self, first: NodeId, second: NodeId) -> bool {
        let blocks = [first, second].map(|node| self.graph.nodes[node.0].block);
        let [around, other] = blocks.map(|block| self.graph.loops_around(block));
        self.may_conflict_where(first, second, |index| {
            around == other && around.contains(&index)
        })
    }

    fn may_conflict_where(
        &self,
        first: NodeId,
        second: NodeId,
        is_one_iteration: impl Fn(usize) -> bool,
    ) -> bool {
        let (Some(left), Some(right)) = (&self.touches[first.0], &self.touches[second.0]) else {
            return false;
        };
        // Neither runs again before the other, but a value of a loop may be another one there.
        let varies = |value: ValueId| {
            let varies = self.graph.values[value.0].varies_in;
            varies.is_some_and(|index| !is_one_iteration(index))
        };
        left.iter().any(|touch| {
            right.iter().any(|other| {
                (touch.writes || other.writes)
                    && match overlap(self.graph, &touch.place, &other.place, &|value| {
                        !varies(value)
                    }) {
                        Overlap::Never => false,
                        Overlap::Distance(distance) => !ranges_disjoint(
                            &distance,
                            touch.range.as_ref(),
                            other.range.as_ref(),
                            &varies,
                        ),
                        Overlap::Unknown => true,
                    }
            })
        })
    }
}

/// What must hold at run time for the model of a launch to be right, or why nothing can make it so.
/// `None` for nodes that are no modelled launch.
pub fn launch_conditions(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    node: NodeId,
) -> Option<Result<Vec<Guard>, String>> {
    match Effect::of(graph, kernels, node)? {
        Effect::Modelled(instance) => Some(conditions_of(*instance)),
        Effect::Whole { .. } => None,
    }
}

fn conditions_of(instance: Instance<'_>) -> Result<Vec<Guard>, String> {
    match instance.broken {
        Some(reason) => Err(reason),
        None => Ok(instance.conditions),
    }
}

/// Bytes that a launch touches behind one of its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeTouch {
    /// Which bytes.
    pub range: PointerRange,
    /// The columns of a matrix that they lie in, from the pointer's run-time value, where rows were found.
    pub columns: Option<Columns<ValueId>>,
    /// At least one of them may be written.
    pub writes: bool,
}

/// All that a launch touches and that a kernel may write, as ranges that its operands give when it is
/// issued, under its [`launch_conditions`].
///
/// # Errors
/// Why not all of it can be told.
pub fn launch_ranges(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    node: NodeId,
) -> Result<Vec<RangeTouch>, String> {
    let Some(Effect::Modelled(instance)) = Effect::of(graph, kernels, node) else {
        return Err(String::from("its kernel is not modelled"));
    };
    ranges_of(graph, &instance)
}

fn ranges_of(graph: &LaunchGraph, instance: &Instance<'_>) -> Result<Vec<RangeTouch>, String> {
    let mut ranges = Vec::new();
    for used in &instance.uses {
        if is_constant_memory(graph, &used.place) {
            continue;
        }
        let Some(operand) = used.place.operand else {
            let place = &used.place.name;
            return Err(format!("it touches {place} other than by an argument"));
        };
        let Some((low_bytes, high_bytes)) = used.footprint.clone() else {
            let place = &used.place.name;
            return Err(format!("it is not bounded what it touches of `{place}`"));
        };
        ranges.push(RangeTouch {
            range: PointerRange {
                launch: instance.launch.id,
                operand,
                low_bytes,
                high_bytes,
            },
            columns: used.columns.clone(),
            writes: !used.writes.is_empty(),
        });
    }
    Ok(ranges)
}

/// Bytes of an allocation that a launch touches, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownSpan {
    /// The allocation.
    pub buffer: BufferId,
    /// First byte, from the allocation's start.
    pub low_bytes: i64,
    /// One past the last byte.
    pub high_bytes: i64,
    /// The columns of a matrix that they lie in: the pitch of the rows, first byte and one past the last, from the
    /// allocation's start.
    pub columns: Option<[i64; 3]>,
    /// At least one of them may be written.
    pub writes: bool,
}

impl KnownSpan {
    /// Whether a byte of one allocation may be touched by both.
    pub fn may_meet(&self, other: &Self) -> bool {
        let beside = |[pitch, low, high]: [i64; 3], from: i64, to: i64| {
            let behind = (from - low).rem_euclid(pitch);
            behind >= high - low && to - from <= pitch - behind
        };
        let apart = match (self.columns, other.columns) {
            (Some(own), Some([pitch, low, high])) if own[0] == pitch => beside(own, low, high),
            _ => false,
        };
        let beside_all = |span: &Self, all: &Self| {
            let columns = span.columns;
            columns.is_some_and(|columns| beside(columns, all.low_bytes, all.high_bytes))
        };
        self.low_bytes < other.high_bytes
            && other.low_bytes < self.high_bytes
            && !apart
            && !beside_all(self, other)
            && !beside_all(other, self)
    }
}

/// What [`launch_ranges`] come to, where every pointer is a known place in a known allocation.
pub fn known_spans(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    node: NodeId,
) -> Option<Vec<KnownSpan>> {
    let Some(Effect::Modelled(instance)) = Effect::of(graph, kernels, node) else {
        return None;
    };
    let mut spans = Vec::new();
    for used in &instance.uses {
        if is_constant_memory(graph, &used.place) {
            continue;
        }
        let Base::Buffer(buffer) = used.place.base else {
            return None;
        };
        let offset = used.place.offset.as_ref()?.as_constant()?;
        let (low, high) = used.range.as_ref()?;
        spans.push(KnownSpan {
            buffer,
            low_bytes: offset.checked_add(low.as_constant()?)?,
            high_bytes: offset.checked_add(high.as_constant()?)?,
            columns: used.columns.as_ref().and_then(|columns| {
                let pitch = columns.pitch_bytes.as_constant()?;
                let low = columns.low_bytes.as_constant()?.checked_add(offset)?;
                let high = columns.high_bytes.as_constant()?.checked_add(offset)?;
                let narrow = (1..=pitch).contains(&high.checked_sub(low)?);
                narrow.then_some([pitch, low, high])
            }),
            writes: !used.writes.is_empty(),
        });
    }
    Some(spans)
}

pub(in crate::dependence) fn is_constant_memory(graph: &LaunchGraph, place: &Place) -> bool {
    matches!(place.base, Base::Buffer(buffer)
        if graph.buffers[buffer.0].memory == MemoryKind::Constant)
}
