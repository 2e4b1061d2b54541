//! Which pointer parameters of a fused kernel point to memory that nothing else in it touches: other allocations,
//! ranges that the plan's guards compare, or bytes that are known to be others of one allocation.
//!
//! LLVM takes `noalias` to mean also that no call touches the memory, a barrier included, after
//! which another thread's store must be seen. Where threads of a block synchronise, only memory
//! that the group does not write qualifies.

use crate::codegen::FusedParameter;
use crate::dependence::{Guard, PointerRange, launch_conditions, launch_ranges};
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{
    ArgumentPiece, BEHIND_POINTER, BufferId, Launch, LaunchGraph, LaunchId, NodeKind, Operand,
    Place, Pointer as Led, Root, ValueId,
};
use crate::program::Program;
use crate::schedule::{FusionGroup, PersistentLoop};

/// What is known of the pointers that a group uses.
pub(in crate::codegen::fused_kernels::fuse) struct PointerFacts<'a> {
    graph: &'a LaunchGraph,
    group: &'a FusionGroup,
    pointers: Vec<Pointer>,
    /// Pointers that their launch writes through.
    written: Vec<Use>,
    /// What members touch, where that is known.
    spans: Vec<Span<'a>>,
    /// The parameter that leads to memory which was allocated for this launch.
    rows: Option<usize>,
    /// Threads wait for each other somewhere in the fused kernel.
    synchronises: bool,
    /// Some member reaches memory through a pointer that is not a parameter.
    unknown: bool,
    /// What guards compare is what all launches touch that the kernel runs.
    guards_hold: bool,
}

/// A pointer in memory that members load, and that nobody changes meanwhile.
pub(in crate::codegen::fused_kernels::fuse) struct Table {
    /// The fused kernel's parameter that leads there.
    pub(in crate::codegen::fused_kernels::fuse) parameter: usize,
    /// How far behind that it stands.
    pub(in crate::codegen::fused_kernels::fuse) distance_bytes: u32,
    /// The launches that load it, and by which argument.
    pub(in crate::codegen::fused_kernels::fuse) loads: Vec<(LaunchId, usize)>,
}

/// A pointer that the group uses: one of a parameter's values.
struct Pointer {
    /// Index of the fused kernel's parameter; those of tables come behind all parameters.
    parameter: usize,
    /// What the host knows it as.
    value: Option<ValueId>,
    /// The allocations that it can lead into, when the host knows them.
    leads_to: Option<Vec<BufferId>>,
    /// Launch arguments that are known to have this value.
    uses: Vec<Use>,
}

/// A pointer among the arguments of a launch.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Use {
    launch: LaunchId,
    argument: usize,
    /// Where it begins in its argument.
    offset_bytes: u32,
}

/// Bytes that a launch touches through one of its pointers, at most.
struct Span<'a> {
    through: Use,
    /// What they are counted from.
    root: &'a Root,
    low_bytes: i64,
    high_bytes: i64,
}

impl<'a> PointerFacts<'a> {
    /// Collects the pointers of all parameters and of the tables, in their order.
    pub(in crate::codegen::fused_kernels::fuse) fn of(
        program: &Program,
        (graph, models): (&'a LaunchGraph, &[KernelModel]),
        group: &'a FusionGroup,
        members: &[(&'a Launch, &KernelModel)],
        parameters: &[&FusedParameter],
        tables: &[Table],
    ) -> Self {
        let unknown = members.iter().any(|(launch, model)| {
            let reaches = model.accesses.iter().any(|access| {
                let target = &access.target;
                *target == Target::Unknown || target.behind_argument().is_some()
            });
            reaches || launch.arguments.len() != model.formals.len()
        });
        let written = members
            .iter()
            .flat_map(|(launch, model)| {
                model
                    .accesses
                    .iter()
                    .filter_map(|access| match access.target {
                        Target::Argument {
                            argument,
                            offset_bytes,
                        } if access.kind != AccessKind::Read => Some(Use {
                            launch: launch.id,
                            argument,
                            offset_bytes,
                        }),
                        _ => None,
                    })
            })
            .collect();
        let synchronises = group.members.iter().any(|member| member.barrier_before)
            || members
                .iter()
                .any(|(_, model)| !model.barriers.is_empty() || model.warp_operations);
        let mut pointers = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            match parameter {
                FusedParameter::HostValue { .. }
                | FusedParameter::ArrivalCounter
                | FusedParameter::LoopRows
                | FusedParameter::LoopValue(_) => {}
                FusedParameter::VariableAddress { variable } => {
                    let name = &program.variables[*variable].name;
                    // Two units may each have a variable of this name.
                    let mut named = (0..graph.buffers.len())
                        .filter(|buffer| graph.buffers[*buffer].variable.as_ref() == Some(name));
                    let leads_to = match (named.next(), named.next()) {
                        (Some(buffer), None) => Some(vec![BufferId(buffer)]),
                        _ => None,
                    };
                    pointers.push(Pointer {
                        parameter: index,
                        value: None,
                        leads_to,
                        uses: Vec::new(),
                    });
                }
                FusedParameter::GridSize { .. } => {}
                FusedParameter::Argument { launch, argument } => {
                    let mut all = members.iter();
                    let Some((launch, model)) = all.find(|(member, _)| member.id == *launch) else {
                        continue;
                    };
                    let last = model.formals.len().saturating_sub(1);
                    let formal = &model.formals[(*argument).min(last)];
                    let own = Use {
                        launch: launch.id,
                        argument: *argument,
                        offset_bytes: 0,
                    };
                    let found = match formal.is_pointer {
                        true => vec![pointer_of(index, launch, own, members)],
                        false => pointers_in(index, launch, own, formal.size_bytes),
                    };
                    pointers.extend(found);
                }
                FusedParameter::Field {
                    launch,
                    argument,
                    offset_bytes,
                    bytes,
                } => {
                    let mut all = members.iter();
                    let Some((launch, _)) = all.find(|(member, _)| member.id == *launch) else {
                        continue;
                    };
                    let own = Use {
                        launch: launch.id,
                        argument: *argument,
                        offset_bytes: *offset_bytes,
                    };
                    let is_pointer = own
                        .piece(launch)
                        .is_some_and(|piece| piece.pointer.is_some());
                    let found = match is_pointer && *bytes == POINTER_BYTES {
                        true => vec![pointer_of(index, launch, own, members)],
                        false => pointers_in(index, launch, own, *bytes),
                    };
                    pointers.extend(found);
                }
            }
        }
        for (table, index) in tables.iter().zip(parameters.len()..) {
            let offset_bytes = BEHIND_POINTER.checked_add(table.distance_bytes);
            let loads = table.loads.iter().filter_map(|(launch, argument)| {
                let (launch, _) = members.iter().find(|(member, _)| member.id == *launch)?;
                let own = Use {
                    launch: launch.id,
                    argument: *argument,
                    offset_bytes: offset_bytes?,
                };
                Some(pointer_of(index, launch, own, members))
            });
            // All of them load one pointer.
            let one = loads.reduce(|mut one, other| {
                one.uses.extend(other.uses);
                one
            });
            pointers.extend(one);
        }
        let mut all = parameters.iter();
        Self {
            graph,
            group,
            pointers,
            rows: all.position(|parameter| matches!(parameter, FusedParameter::LoopRows)),
            written,
            spans: spans(graph, models, members),
            synchronises,
            unknown,
            guards_hold: true,
        }
    }

    /// Launches of the group follow each other in the kernel, so that claims have to hold for what one of them touches
    /// and another.
    pub(in crate::codegen::fused_kernels::fuse) fn hold_across_launches(
        &mut self,
        persistent: &PersistentLoop,
    ) {
        self.synchronises |= persistent.barrier;
        self.guards_hold &= persistent.varying.is_empty();
    }

    /// Whether what the parameter points to is reached through no other pointer of the group: all
    /// others have provably different roots, or a guard compares the touched ranges.
    pub(in crate::codegen::fused_kernels::fuse) fn unaliased(&self, parameter: usize) -> bool {
        let (own, others): (Vec<&Pointer>, Vec<&Pointer>) = self
            .pointers
            .iter()
            .partition(|pointer| pointer.parameter == parameter);
        !self.unknown
            && own.len() == 1
            && !(self.synchronises && self.is_written(own[0]))
            && others.iter().all(|other| self.distinct(own[0], other))
    }

    /// Whether two parameters or tables are pointers, and what is reached through the one is never reached
    /// through the other.
    pub(in crate::codegen::fused_kernels::fuse) fn disjoint(
        &self,
        one: usize,
        other: usize,
    ) -> bool {
        let of = |parameter: usize| {
            let mut own = self.pointers.iter();
            let first = own.find(|pointer| pointer.parameter == parameter)?;
            let single = own.all(|pointer| pointer.parameter != parameter);
            single.then_some(first)
        };
        match (of(one), of(other)) {
            (Some(one), Some(other)) => self.distinct(one, other),
            (Some(_), None) => self.rows == Some(other),
            (None, Some(_)) => self.rows == Some(one),
            (None, None) => false,
        }
    }

    /// Variables may be written by anybody.
    fn is_written(&self, pointer: &Pointer) -> bool {
        pointer.uses.is_empty() || pointer.uses.iter().any(|at| self.written.contains(at))
    }

    fn distinct(&self, left: &Pointer, right: &Pointer) -> bool {
        let elsewhere = left
            .leads_to
            .iter()
            .zip(&right.leads_to)
            .any(|(left, right)| {
                let known = |buffer: &BufferId| buffer.0 < self.graph.buffers.len();
                left.iter().chain(right).all(known) && !left.iter().any(|one| right.contains(one))
            });
        elsewhere
            || self.take_turns(left, right)
            || self.guarded(left, right)
            || in_other_bytes(&self.spans, left, right)
    }

    /// Whether two pointers change places in step, so that in no iteration both lead into one allocation.
    fn take_turns(&self, left: &Pointer, right: &Pointer) -> bool {
        let courses = &self.graph.iterations.courses;
        let course = |pointer: &Pointer| courses.get(&pointer.value?);
        let (Some(left), Some(right)) = (course(left), course(right)) else {
            return false;
        };
        let in_step = left.turns_in.is_some()
            && left.turns_in == right.turns_in
            && left.places.len() == right.places.len();
        let apart = |(left, right): (&Place, &Place)| {
            let buffers = left.root.buffer().zip(right.root.buffer());
            buffers.is_some_and(|(left, right)| left != right)
        };
        in_step && left.places.iter().zip(&right.places).all(apart)
    }

    /// Whether the plan compares the touched ranges for every pair of launches that use the two
    /// pointers, a launch with itself included: the claim holds inside a segment, too.
    fn guarded(&self, left: &Pointer, right: &Pointer) -> bool {
        let compared = |one: &Use, two: &Use| {
            self.group.guards.iter().any(|guard| match guard {
                Guard::RangesDisjoint { left, right } => {
                    one.is(left) && two.is(right) || one.is(right) && two.is(left)
                }
                _ => false,
            })
        };
        self.guards_hold
            && !left.uses.is_empty()
            && !right.uses.is_empty()
            && left
                .uses
                .iter()
                .all(|one| right.uses.iter().all(|two| compared(one, two)))
    }
}

impl Use {
    fn is(&self, range: &PointerRange) -> bool {
        let Operand::Argument {
            argument,
            offset_bytes,
            ..
        } = range.operand
        else {
            return false;
        };
        let operand = Self {
            launch: range.launch,
            argument,
            offset_bytes,
        };
        *self == operand
    }

    /// What the host knows of it.
    fn piece(self, launch: &Launch) -> Option<&ArgumentPiece> {
        let mut pieces = launch.arguments.get(self.argument)?.pieces.iter();
        pieces.find(|piece| piece.offset_bytes == self.offset_bytes && piece.bits == POINTER_BITS)
    }
}

/// Whether what all launches touch through the one pointer is known, as is what they touch through the other, and has
/// no byte of it. That stays so where a pointer is led to other memory, as all of the bytes behind it are then.
fn in_other_bytes(spans: &[Span<'_>], left: &Pointer, right: &Pointer) -> bool {
    let of = |pointer: &Pointer| -> Option<Vec<&Span<'_>>> {
        let mut all = Vec::new();
        for at in &pointer.uses {
            let before = all.len();
            all.extend(spans.iter().filter(|span| span.through == *at));
            if all.len() == before {
                return None;
            }
        }
        (!all.is_empty()).then_some(all)
    };
    let (Some(left), Some(right)) = (of(left), of(right)) else {
        return false;
    };
    left.iter().all(|one| {
        right.iter().all(|other| {
            one.root == other.root
                && (one.high_bytes <= other.low_bytes || other.high_bytes <= one.low_bytes)
        })
    })
}

/// What members touch through pointers whose place the host knows.
fn spans<'a>(
    graph: &LaunchGraph,
    models: &[KernelModel],
    members: &[(&'a Launch, &KernelModel)],
) -> Vec<Span<'a>> {
    let mut spans = Vec::new();
    for (launch, _) in members {
        let mut nodes = graph.nodes.iter();
        let node = nodes
            .find(|node| matches!(&node.kind, NodeKind::Launch(other) if other.id == launch.id));
        // Ranges hold under conditions, which the group's guards have.
        let node =
            node.filter(|node| matches!(launch_conditions(graph, models, node.id), Some(Ok(_))));
        let ranges = node.map(|node| launch_ranges(graph, models, node.id));
        let Some(Ok(ranges)) = ranges else {
            continue;
        };
        let touched: Vec<(Use, Option<Span<'a>>)> = ranges
            .iter()
            .filter_map(|touched| {
                let Operand::Argument {
                    argument,
                    offset_bytes,
                    ..
                } = touched.range.operand
                else {
                    return None;
                };
                let through = Use {
                    launch: launch.id,
                    argument,
                    offset_bytes,
                };
                let span = || {
                    let (pointer, begin) = graph.place_of(launch, argument, offset_bytes)?;
                    let bytes = |end: Option<i64>| begin.checked_add(end?);
                    Some(Span {
                        through,
                        root: &pointer.root,
                        low_bytes: bytes(touched.range.low_bytes.as_constant())?,
                        high_bytes: bytes(touched.range.high_bytes.as_constant())?,
                    })
                };
                Some((through, span()))
            })
            .collect();
        let unknown: Vec<Use> = touched
            .iter()
            .filter_map(|(through, span)| span.is_none().then_some(*through))
            .collect();
        let known = touched.into_iter().filter_map(|(_, span)| span);
        spans.extend(known.filter(|span| !unknown.contains(&span.through)));
    }
    spans
}

/// A parameter that is a pointer.
fn pointer_of(
    parameter: usize,
    launch: &Launch,
    own: Use,
    members: &[(&Launch, &KernelModel)],
) -> Pointer {
    let piece = own.piece(launch);
    let value = piece.map(|piece| piece.value);
    let mut uses = Vec::new();
    for (member, _) in members {
        for (argument, other) in member.arguments.iter().enumerate() {
            let pieces = other.pieces.iter();
            let equal =
                pieces.filter(|piece| piece.bits == POINTER_BITS && Some(piece.value) == value);
            uses.extend(equal.map(|piece| Use {
                launch: member.id,
                argument,
                offset_bytes: piece.offset_bytes,
            }));
        }
    }
    if !uses.contains(&own) {
        uses.push(own);
    }
    Pointer {
        parameter,
        value,
        leads_to: piece.and_then(|piece| allocations(piece.pointer.as_ref()?)),
        uses,
    }
}

/// All allocations that a pointer can lead into.
fn allocations(pointer: &Led) -> Option<Vec<BufferId>> {
    match &pointer.root {
        Root::Buffer(buffer) => Some(vec![*buffer]),
        _ => pointer.may_point_to.clone(),
    }
}

/// The pointers inside of so many bytes of an argument that are no pointer themselves. There may be some that the
/// host does not know: one that leads anywhere stands for them.
fn pointers_in(parameter: usize, launch: &Launch, begin: Use, bytes: u32) -> Vec<Pointer> {
    let Some(known) = launch.arguments.get(begin.argument) else {
        return Vec::new();
    };
    let within = begin.offset_bytes..begin.offset_bytes + bytes;
    let is_scalar = |piece: &ArgumentPiece| {
        let all = piece.offset_bytes == begin.offset_bytes && piece.bits == bytes * 8;
        all && piece.pointer.is_none()
    };
    // Scalars hold no pointers; a struct of eight bytes and more may.
    if bytes < POINTER_BYTES || known.pieces.iter().any(is_scalar) {
        return Vec::new();
    }
    let pieces = known.pieces.iter();
    let pointers = pieces.filter(|piece| within.contains(&piece.offset_bytes));
    let pointers = pointers.filter_map(|piece| piece.pointer.as_ref());
    pointers
        .map(allocations)
        .chain([None])
        .map(|leads_to| Pointer {
            parameter,
            value: None,
            leads_to,
            uses: Vec::new(),
        })
        .collect()
}

const POINTER_BYTES: u32 = 8;
const POINTER_BITS: u32 = 8 * POINTER_BYTES;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_one_allocation_are_apart_when_all_uses_are_known_and_share_no_byte() {
        let through = |launch, argument| Use {
            launch: LaunchId(launch),
            argument,
            offset_bytes: 0,
        };
        let roots = [Root::Buffer(BufferId(0)), Root::Buffer(BufferId(1))];
        let span = |through, root: usize, low_bytes, high_bytes| Span {
            through,
            root: &roots[root],
            low_bytes,
            high_bytes,
        };
        let spans = [
            span(through(0, 0), 0, 0, 64),
            span(through(0, 1), 0, 64, 128),
            span(through(1, 0), 0, 64, 128),
            span(through(1, 1), 0, 127, 256),
            // Read and written in different places.
            span(through(2, 0), 0, 128, 160),
            span(through(2, 0), 0, 300, 320),
            span(through(2, 1), 1, 0, 64),
        ];
        let pointer = |uses: &[(u32, usize)]| Pointer {
            value: None,
            parameter: 0,
            leads_to: None,
            uses: uses
                .iter()
                .map(|(launch, argument)| through(*launch, *argument))
                .collect(),
        };
        for (left, right, disjoint) in [
            (&[(0, 0)][..], &[(0, 1), (1, 0)][..], true),
            (&[(0, 0)], &[(1, 1)], true),
            (&[(0, 1), (1, 0)], &[(1, 1)], false),
            (&[(0, 1)], &[(2, 0)], true),
            (&[(1, 1)], &[(2, 0)], false),
            // Another allocation is told by what the pointers lead to.
            (&[(0, 0)], &[(2, 1)], false),
            // Nobody knows what the second launch touches.
            (&[(0, 0)], &[(0, 1), (3, 0)], false),
            (&[(0, 0)], &[], false),
        ] {
            let (left, right) = (pointer(left), pointer(right));
            assert_eq!(in_other_bytes(&spans, &left, &right), disjoint);
            assert_eq!(in_other_bytes(&spans, &right, &left), disjoint);
        }
    }
}
