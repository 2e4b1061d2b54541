//! Sets and copies within the device -> launches of kernels that do the same, in the shape of a
//! launch nearby.
//!
//! Such a kernel does the same in every shape of one axis, so it takes over the shape of the launch
//! that touches the same memory next, or last; a copy over that of one right before it. Then what both touch, they touch in the
//! same thread.
//!
//! Invariant: an operation becomes a launch only where the call succeeds whenever its pointers are not
//! null: the allocations are known, live and large enough. Elements fill the bytes exactly.

use super::polynomial::{Atom, Polynomial};
use crate::kernel::{KernelModel, Target};
use crate::launch::{
    Argument, ArgumentPiece, BufferId, HostBlockId, HostValue, Launch, LaunchGraph, LaunchId,
    MemoryKind, NodeId, NodeKind, Operand, Pointer, Root, Stream, ValueId,
};
use crate::math::expression::Expression;
use crate::program::{ELEMENT_BYTES, KernelId, OperationKind, operation_kernel};

/// Makes launches of those operations that a launch nearby could hold.
pub fn take_domains(graph: &mut LaunchGraph, kernels: &[KernelModel]) {
    let numbers = graph.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Launch(launch) => Some(launch.id.0),
        _ => None,
    });
    let Some(mut next) = numbers.max().and_then(|last| last.checked_add(1)) else {
        return;
    };
    for index in 0..graph.operations.len() {
        let node = graph.operations[index].node;
        let Some(taken) = Taken::find(graph, kernels, index) else {
            continue;
        };
        let launch = taken.launch(graph, LaunchId(next), node);
        graph.nodes[node.0].kind = NodeKind::Launch(launch);
        graph.operations[index].launch = Some(LaunchId(next));
        next += 1;
    }
}

/// An operation that can be a launch.
struct Taken {
    kind: OperationKind,
    kernel: KernelId,
    /// Destination and, for a copy, source.
    pointers: Vec<Pointer>,
    bytes: Expression<ValueId>,
    /// What a set stores, where that is a constant.
    set_to: Option<i64>,
    stream: Stream,
    shape: Shape,
}

/// The shape of an operation as a launch.
enum Shape {
    /// Grid and block of the launch nearby.
    Of([ValueId; 3], [ValueId; 3]),
    /// One block.
    OneBlock,
}

/// Which launches lend their shapes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shapes {
    OfOneAxis,
    Any,
}

/// So few bytes one block sets or copies, where no launch nearby has a shape of one axis. That is worth it in a loop that ends by
/// what it copies, which may move into a kernel as a whole.
const SMALL_BYTES: i64 = 1024;
/// The threads of that block.
const THREADS_OF_ONE_BLOCK: i64 = 32;

/// So many nodes away a launch is looked for.
const FARTHEST: usize = 16;

impl Taken {
    fn find(graph: &LaunchGraph, kernels: &[KernelModel], index: usize) -> Option<Self> {
        let operation = &graph.operations[index];
        let node = &graph.nodes[operation.node.0];
        let stream = match &node.kind {
            NodeKind::Set { stream, .. } | NodeKind::Copy { stream, .. } => *stream,
            _ => return None,
        };
        let touches = &operation.touches;
        if stream == Stream::Unknown {
            return None;
        }
        let bytes = touches.first()?.bytes.clone()?;
        let mut buffers = Vec::new();
        for touch in touches {
            buffers.push(within_allocation(
                graph,
                operation.node,
                &touch.pointer,
                &bytes,
            )?);
        }
        // A copy within one allocation could overlap.
        if let [to, from] = buffers[..]
            && to == from
        {
            return None;
        }
        let place = (operation.node, operation.kind);
        let near = neighbour(graph, kernels, place, &buffers, stream, Shapes::OfOneAxis);
        let (shape, element_bytes) = match near {
            Some((near, element_bytes)) => (Shape::Of(near.grid, near.block), element_bytes),
            None => {
                let is_small = bytes
                    .as_constant()
                    .is_some_and(|bytes| bytes <= SMALL_BYTES);
                let around = graph.blocks[node.block.0].innermost_loop?;
                if !is_small || !matches!(graph.loop_tests.get(&around), Some(Ok(_))) {
                    return None;
                }
                let near = neighbour(graph, kernels, place, &buffers, stream, Shapes::Any);
                (Shape::OneBlock, near?.1)
            }
        };
        let fits = |size: i64| {
            let offsets = touches
                .iter()
                .map(|touch| touch.pointer.offset_bytes.as_ref());
            let mut all = offsets.chain([Some(&bytes)]);
            all.all(|value| value.is_some_and(|value| is_multiple(graph, value, size)))
        };
        let size = ELEMENT_BYTES
            .into_iter()
            .find(|size| *size <= element_bytes && fits(i64::from(*size)))?;
        let name = operation_kernel(operation.kind, size);
        let kernel = kernels.iter().find(|kernel| kernel.name == name)?.id;
        Some(Self {
            kind: operation.kind,
            kernel,
            pointers: touches.iter().map(|touch| touch.pointer.clone()).collect(),
            bytes,
            set_to: operation.set_to,
            stream,
            shape,
        })
    }

    fn launch(self, graph: &mut LaunchGraph, id: LaunchId, node: NodeId) -> Launch {
        let block = &graph.blocks[graph.nodes[node.0].block.0];
        let varies_in = block.innermost_loop;
        let new = |graph: &mut LaunchGraph, constant: Option<i64>, operand: Operand| {
            graph.values.push(HostValue {
                constant,
                holder: (id, operand),
                varies_in: varies_in.filter(|_| constant.is_none()),
            });
            ValueId(graph.values.len() - 1)
        };
        let mut arguments = Vec::new();
        let mut argument = |graph: &mut LaunchGraph, bits, known: Known| {
            let operand = Operand::Argument {
                argument: arguments.len(),
                offset_bytes: 0,
                bits,
                signed: true,
            };
            let value = match known.value {
                Some(value) => value,
                None => new(graph, known.constant, operand),
            };
            arguments.push(Argument {
                pieces: vec![ArgumentPiece {
                    offset_bytes: 0,
                    bits,
                    value,
                    pointer: known.pointer,
                }],
                identity: Some(value),
            });
        };
        for pointer in self.pointers {
            let value = value_of(graph, &pointer);
            let known = Known {
                value,
                pointer: Some(pointer),
                ..Known::default()
            };
            argument(graph, 64, known);
        }
        if self.kind == OperationKind::Set {
            let known = Known {
                constant: self.set_to,
                ..Known::default()
            };
            argument(graph, 32, known);
        }
        let wide = |value: &ValueId| {
            let (_, operand) = graph.values[value.0].holder;
            matches!(operand, Operand::Argument { bits: 64, .. })
        };
        let known = Known {
            value: match self.bytes {
                Expression::Leaf(value) => Some(value).filter(wide),
                _ => None,
            },
            constant: self.bytes.as_constant(),
            pointer: None,
        };
        argument(graph, 64, known);
        let shared_bytes = new(graph, Some(0), Operand::SharedBytes);
        let (grid, block) = match self.shape {
            Shape::Of(grid, block) => (grid, block),
            Shape::OneBlock => {
                let one = [0, 1, 2].map(|axis| new(graph, Some(1), Operand::Grid(axis)));
                let threads = new(graph, Some(THREADS_OF_ONE_BLOCK), Operand::Block(0));
                (one, [threads, one[1], one[2]])
            }
        };
        Launch {
            id,
            kernel: Some(self.kernel),
            grid,
            block,
            shared_bytes,
            stream: self.stream,
            arguments,
            special: false,
        }
    }
}

/// What is known of an argument.
#[derive(Default)]
struct Known {
    value: Option<ValueId>,
    constant: Option<i64>,
    pointer: Option<Pointer>,
}

/// The value of a pointer that some launch has as well.
fn value_of(graph: &LaunchGraph, pointer: &Pointer) -> Option<ValueId> {
    pointer.offset_bytes.as_ref()?;
    let launches = graph.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Launch(launch) => Some(launch),
        _ => None,
    });
    let mut pieces = launches
        .flat_map(|launch| &launch.arguments)
        .flat_map(|argument| &argument.pieces);
    let same = pieces.find(|piece| piece.bits == 64 && piece.pointer.as_ref() == Some(pointer));
    same.map(|piece| piece.value)
}

/// The allocation of a pointer, where it is alive and holds so many bytes from there whenever it
/// was made.
fn within_allocation(
    graph: &LaunchGraph,
    node: NodeId,
    pointer: &Pointer,
    bytes: &Expression<ValueId>,
) -> Option<BufferId> {
    let Root::Buffer(buffer) = pointer.root else {
        return None;
    };
    let known = graph.buffers.get(buffer.0)?;
    if known.memory != MemoryKind::Device || !known.unique {
        return None;
    }
    let polynomial = |expression: &Expression<ValueId>| {
        Polynomial::from_expression(expression, &mut |value: &ValueId| {
            let known = graph.values.get(value.0)?;
            match (known.constant, known.varies_in) {
                (Some(constant), _) => Some(Polynomial::constant(constant)),
                (None, None) => Some(Polynomial::atom(Atom::Value(*value))),
                // It may have been another one when the allocation was made.
                (None, Some(_)) => None,
            }
        })
    };
    let offset = polynomial(pointer.offset_bytes.as_ref()?)?.as_constant()?;
    let size = polynomial(known.bytes.as_ref()?)?;
    let room = size
        .subtract(&polynomial(bytes)?)?
        .subtract(&Polynomial::constant(offset))?;
    let fits = offset >= 0 && room.as_constant().is_some_and(|room| room >= 0);
    let freed = graph.nodes.iter().any(|free| match &free.kind {
        NodeKind::Free { pointer } => {
            let other = pointer.as_ref().and_then(|free| free.may_point_to.as_ref());
            other.is_none_or(|other| other.contains(&buffer)) && reaches(graph, free.id, node)
        }
        _ => false,
    });
    (fits && !freed).then_some(buffer)
}

/// Whether one node may run before another in one run of the program.
fn reaches(graph: &LaunchGraph, from: NodeId, to: NodeId) -> bool {
    let (start, end) = (graph.nodes[from.0].block, graph.nodes[to.0].block);
    let function = |block: HostBlockId| graph.blocks[block.0].function;
    if function(start) != function(end) || graph.functions[function(start)].repeated {
        return true;
    }
    if start == end && from < to {
        return true;
    }
    let mut seen = vec![false; graph.blocks.len()];
    let mut work = graph.blocks[start.0].successors.clone();
    while let Some(block) = work.pop() {
        if block == end {
            return true;
        }
        if !std::mem::replace(&mut seen[block.0], true) {
            work.extend(&graph.blocks[block.0].successors);
        }
    }
    false
}

/// The launch that touches one of the allocations next, or else last, and the size of its elements there.
fn neighbour<'g>(
    graph: &'g LaunchGraph,
    kernels: &[KernelModel],
    (node, kind): (NodeId, OperationKind),
    buffers: &[BufferId],
    stream: Stream,
    shapes: Shapes,
) -> Option<(&'g Launch, u32)> {
    let place = graph.blocks.get(graph.nodes[node.0].block.0)?;
    let touches = |other: usize| -> Option<(&'g Launch, u32)> {
        let other = &graph.nodes[other];
        let NodeKind::Launch(launch) = &other.kind else {
            return None;
        };
        let block = &graph.blocks[other.block.0];
        let one = |value: &ValueId| graph.values[value.0].constant == Some(1);
        let line = launch.grid[1..].iter().chain(&launch.block[1..]).all(one);
        if graph.operation_of(launch.id).is_some()
            || !line && shapes == Shapes::OfOneAxis
            || launch.special
            || launch.stream != stream
            || block.function != place.function
            || block.innermost_loop != place.innermost_loop
        {
            return None;
        }
        let model = kernels.get(launch.kernel?.0)?;
        let sizes = model.accesses.iter().filter_map(|access| {
            let Target::Argument {
                argument,
                offset_bytes,
            } = access.target
            else {
                return None;
            };
            let mut pieces = launch.arguments.get(argument)?.pieces.iter();
            let piece = pieces.find(|piece| piece.offset_bytes == offset_bytes)?;
            let root = &piece.pointer.as_ref()?.root;
            let ours = buffers.iter().any(|buffer| *root == Root::Buffer(*buffer));
            (ours && access.subscript.is_some()).then_some(access.size_bytes)
        });
        Some((launch, sizes.min()?))
    };
    // What stands right before a copy may run with it, whatever comes in between it and the next.
    let behind = Some(node.0 + 1).filter(|next| *next < graph.nodes.len());
    if kind == OperationKind::Copy
        && behind.and_then(touches).is_none()
        && let Some(near) = node.0.checked_sub(1).and_then(touches)
    {
        return Some(near);
    }
    let after = node.0 + 1..graph.nodes.len().min(node.0 + 1 + FARTHEST);
    let before = node.0.saturating_sub(FARTHEST)..node.0;
    after.chain(before.rev()).find_map(touches)
}

/// Whether a value is a multiple of a number for certain.
fn is_multiple(graph: &LaunchGraph, value: &Expression<ValueId>, of: i64) -> bool {
    let polynomial = Polynomial::from_expression(value, &mut |value: &ValueId| {
        Some(match graph.values.get(value.0)?.constant {
            Some(constant) => Polynomial::constant(constant),
            None => Polynomial::atom(Atom::Value(*value)),
        })
    });
    polynomial.is_some_and(|sum| sum.terms.values().all(|coefficient| coefficient % of == 0))
}
