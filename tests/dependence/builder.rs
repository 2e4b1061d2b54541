//! Small launch graphs and kernel models by hand.

use sirius_rs::diagnostics::Location;
use sirius_rs::kernel::{
    Access, AccessId, AccessKind, Footprint, Intervals, KernelModel, KernelParameter, KernelSymbol,
    Loop, Product, Target,
};
use sirius_rs::launch::{
    Argument, ArgumentPiece, Buffer, BufferId, HostBlock, HostBlockId, HostFunction, HostLoop,
    HostValue, Launch, LaunchGraph, LaunchId, LoopDomain, MemoryKind, Node, NodeId, NodeKind,
    Operand, Pointer, Root, Stream, Touch, ValueId,
};
use sirius_rs::math::affine::{Affine, Axis, Constraint, Constraints, Variable};
use sirius_rs::math::expression::{Condition, Expression};
use sirius_rs::program::KernelId;

pub const X: Axis = Axis::X;
pub const Y: Axis = Axis::Y;

/// `Σ coefficient · variable + constant`.
pub fn sum(terms: &[(i64, Variable)], constant: i64) -> Affine {
    terms.iter().fold(
        Affine::constant(constant),
        |sum, (coefficient, variable)| {
            let term = Affine::variable(variable.clone())
                .scale(*coefficient)
                .unwrap();
            sum.add(&term).unwrap()
        },
    )
}

pub fn line(line: u32) -> Location {
    Location {
        file: String::from("app.cu"),
        line,
        column: 1,
    }
}

pub fn int_argument(argument: usize) -> KernelSymbol {
    KernelSymbol::Argument {
        argument,
        offset_bytes: 0,
        bits: 32,
        signed: true,
    }
}

/// An argument of a launch.
pub enum Actual {
    Pointer(Pointer),
    Int(ValueId),
}

pub struct World {
    pub graph: LaunchGraph,
    pub kernels: Vec<KernelModel>,
    block: HostBlockId,
    /// Where control goes on after each open loop.
    onward: Vec<Vec<HostBlockId>>,
}

impl World {
    pub fn new() -> Self {
        let mut graph = LaunchGraph::default();
        graph.functions.push(HostFunction {
            name: String::from("main"),
            entry: HostBlockId(0),
            repeated: false,
        });
        graph.blocks.push(HostBlock::default());
        Self {
            graph,
            kernels: Vec::new(),
            block: HostBlockId(0),
            onward: Vec::new(),
        }
    }

    pub fn number(&mut self, value: i64) -> ValueId {
        self.value(Some(value), None)
    }

    pub fn unknown(&mut self) -> ValueId {
        self.value(None, None)
    }

    pub fn value(&mut self, constant: Option<i64>, varies_in: Option<usize>) -> ValueId {
        self.graph.values.push(HostValue {
            constant,
            holder: (
                LaunchId(0),
                Operand::Argument {
                    argument: 0,
                    offset_bytes: 0,
                    bits: 32,
                    signed: true,
                },
            ),
            varies_in,
        });
        ValueId(self.graph.values.len() - 1)
    }

    /// An unknown extent.
    pub fn extent(&mut self) -> ValueId {
        let value = self.unknown();
        self.graph.values[value.0].holder.1 = Operand::Grid(0);
        value
    }

    pub fn buffer(&mut self, name: &str) -> Pointer {
        self.graph.buffers.push(Buffer {
            escapes: false,
            plain_call: None,
            stored_pointers: None,
            name: name.to_owned(),
            memory: MemoryKind::Device,
            unique: true,
            bytes: None,
            variable: None,
            location: line(1),
        });
        let buffer = BufferId(self.graph.buffers.len() - 1);
        Pointer {
            root: Root::Buffer(buffer),
            offset_bytes: Some(Expression::Constant(0)),
            may_point_to: Some(vec![buffer]),
            device_only: true,
        }
    }

    /// A pointer of which nothing is known.
    pub fn stranger(&mut self) -> Pointer {
        Pointer {
            root: Root::Value(self.unknown()),
            offset_bytes: Some(Expression::Constant(0)),
            may_point_to: None,
            device_only: true,
        }
    }

    pub fn kernel(&mut self, kernel: KernelModel) -> KernelId {
        let id = KernelId(self.kernels.len());
        self.kernels.push(KernelModel { id, ..kernel });
        id
    }

    pub fn launch(
        &mut self,
        kernel: KernelId,
        grid: [ValueId; 3],
        block: [ValueId; 3],
        arguments: Vec<Actual>,
    ) -> NodeId {
        let id = LaunchId(self.graph.nodes.len() as u32);
        let shared_bytes = self.number(0);
        let arguments = arguments
            .into_iter()
            .map(|actual| {
                let (bits, value, pointer) = match actual {
                    Actual::Int(value) => (32, value, None),
                    Actual::Pointer(pointer) => (64, self.unknown(), Some(pointer)),
                };
                Argument {
                    pieces: vec![ArgumentPiece {
                        offset_bytes: 0,
                        bits,
                        value,
                        pointer,
                    }],
                    identity: Some(value),
                }
            })
            .collect();
        self.node(NodeKind::Launch(Launch {
            id,
            kernel: Some(kernel),
            grid,
            block,
            shared_bytes,
            stream: Stream::Default,
            arguments,
            special: false,
        }))
    }

    /// Gives the pointer of an argument its own value.
    pub fn set_argument_value(&mut self, launch: NodeId, argument: usize, value: ValueId) {
        let NodeKind::Launch(launch) = &mut self.graph.nodes[launch.0].kind else {
            panic!("it is a launch");
        };
        launch.arguments[argument].pieces[0].value = value;
        launch.arguments[argument].identity = Some(value);
    }

    pub fn node(&mut self, kind: NodeKind) -> NodeId {
        let id = NodeId(self.graph.nodes.len());
        self.graph.nodes.push(Node {
            id,
            kind,
            block: self.block,
            location: line(100 + id.0 as u32),
        });
        self.graph.blocks[self.block.0].nodes.push(id);
        id
    }

    /// Copies `bytes` from the device to the host.
    pub fn copy_to_host(&mut self, pointer: &Pointer, bytes: i64) -> NodeId {
        self.node(NodeKind::Copy {
            reads: vec![Touch {
                pointer: pointer.clone(),
                bytes: Some(Expression::Constant(bytes)),
            }],
            writes: Vec::new(),
            stream: Stream::Default,
            host_side: true,
            awaited_call: None,
            from_host: None,
        })
    }

    /// Copies within the device.
    pub fn copy_on_device(&mut self, from: &Pointer, to: &Pointer, bytes: i64) -> NodeId {
        let touch = |pointer: &Pointer| Touch {
            pointer: pointer.clone(),
            bytes: Some(Expression::Constant(bytes)),
        };
        self.node(NodeKind::Copy {
            reads: vec![touch(from)],
            writes: vec![touch(to)],
            stream: Stream::Default,
            host_side: false,
            awaited_call: None,
            from_host: None,
        })
    }

    /// A library's function that reads one allocation and writes another, anywhere in them.
    pub fn library(&mut self, from: &Pointer, to: &Pointer) -> NodeId {
        let touch = |pointer: &Pointer| Touch {
            pointer: pointer.clone(),
            bytes: None,
        };
        self.node(NodeKind::Library {
            reads: vec![touch(from)],
            writes: vec![touch(to)],
            stream: Stream::Default,
            host_side: false,
            what: String::from("cublasSgemm_v2"),
        })
    }

    /// Everything from now on stands in a new loop, whose header is empty and whose body is one block.
    pub fn enter_loop(&mut self) -> usize {
        let header = HostBlockId(self.graph.blocks.len());
        let body = HostBlockId(header.0 + 1);
        let index = self.graph.loops.len();
        let parent = self.graph.blocks[self.block.0].innermost_loop;
        self.graph.loops.push(HostLoop {
            parent,
            header,
            trip: None,
        });
        let onward = std::mem::replace(
            &mut self.graph.blocks[self.block.0].successors,
            vec![header],
        );
        self.onward.push(onward);
        for (successor, dominator) in [(body, self.block), (header, header)] {
            self.graph.blocks.push(HostBlock {
                successors: vec![successor],
                immediate_dominator: Some(dominator),
                innermost_loop: Some(index),
                ..HostBlock::default()
            });
        }
        self.block = body;
        index
    }

    /// A new loop that goes round `passes` times; its counter.
    pub fn count_to(&mut self, passes: Expression<ValueId>) -> ValueId {
        let index = self.enter_loop();
        let counter = self.value(None, Some(index));
        self.graph.values[counter.0].holder = (LaunchId(u32::MAX), Operand::Stream);
        let iterations = &mut self.graph.iterations;
        assert_eq!(iterations.counters.len(), index, "count all loops or none");
        iterations.counters.push(counter);
        iterations.domains.push(Some(LoopDomain {
            test: self.graph.loops[index].header,
            passes,
            exact: true,
        }));
        counter
    }

    /// An argument that is a function of counters.
    pub fn function_of(&mut self, counter: ValueId, closed: Expression<ValueId>) -> ValueId {
        let varies_in = self.graph.values[counter.0].varies_in;
        let value = self.value(None, varies_in);
        self.graph.iterations.values.insert(value, closed);
        value
    }

    /// What follows, up to [`World::leave_branch`], runs or not. Returns where the two ways meet.
    pub fn enter_branch(&mut self) -> HostBlockId {
        let inside = HostBlockId(self.graph.blocks.len());
        let meeting = HostBlockId(inside.0 + 1);
        let before = &mut self.graph.blocks[self.block.0];
        let onward = std::mem::replace(&mut before.successors, vec![inside, meeting]);
        let innermost_loop = before.innermost_loop;
        for successors in [vec![meeting], onward] {
            self.graph.blocks.push(HostBlock {
                successors,
                immediate_dominator: Some(self.block),
                innermost_loop,
                ..HostBlock::default()
            });
        }
        self.block = inside;
        meeting
    }

    /// What follows, up to [`World::leave_branch`], is another way of a branch.
    pub fn enter_another_way(&mut self, meeting: HostBlockId) {
        let branch = self.graph.blocks[meeting.0].immediate_dominator.unwrap();
        let inside = HostBlockId(self.graph.blocks.len());
        self.graph.blocks[branch.0].successors.push(inside);
        self.graph.blocks.push(HostBlock {
            successors: vec![meeting],
            immediate_dominator: Some(branch),
            innermost_loop: self.graph.blocks[branch.0].innermost_loop,
            ..HostBlock::default()
        });
        self.block = inside;
    }

    /// The ways meet.
    pub fn leave_branch(&mut self, meeting: HostBlockId) {
        self.block = meeting;
    }

    /// The loop ends; its header leads on.
    pub fn leave_loop(&mut self) {
        let of_loop = self.graph.blocks[self.block.0].innermost_loop.unwrap();
        let HostLoop { header, parent, .. } = self.graph.loops[of_loop];
        let after = HostBlockId(self.graph.blocks.len());
        self.graph.blocks[header.0].successors.push(after);
        self.graph.blocks.push(HostBlock {
            successors: self.onward.pop().unwrap_or_default(),
            immediate_dominator: Some(header),
            innermost_loop: parent,
            ..HostBlock::default()
        });
        self.block = after;
    }
}

/// A kernel model under construction. Arguments are pointers unless said otherwise.
pub struct Kernel {
    pub model: KernelModel,
}

impl Kernel {
    pub fn new(name: &str, arguments: usize) -> Self {
        Self {
            model: KernelModel {
                id: KernelId(0),
                iteration_of: None,
                name: name.to_owned(),
                display_name: name.to_owned(),
                location: line(1),
                formals: vec![
                    KernelParameter {
                        name: String::new(),
                        captured: false,
                        size_bytes: 8,
                        align_bytes: 8,
                        is_pointer: true,
                    };
                    arguments
                ],
                parameters: Vec::new(),
                loops: Vec::new(),
                products: Vec::new(),
                accesses: Vec::new(),
                barriers: Vec::new(),
                footprints: Vec::new(),
                exchanges: Vec::new(),
                block_effects: Vec::new(),
                preconditions: Vec::new(),
                opaque: Vec::new(),
                unfusable: Vec::new(),
                intervals: Intervals::default(),
                warp_operations: false,
                warp_operation_sites: Vec::new(),
                missed_by_lanes: Vec::new(),
                asynchronous_copies: false,
                prints: false,
                reads_addresses: false,
                static_shared_bytes: 0,
                distinguishes_threads: [true; 3],
                dynamic_shared: false,
                max_threads: None,
            },
        }
    }

    pub fn parameter(&mut self, symbol: KernelSymbol) -> Variable {
        self.model.parameters.push(Expression::Leaf(symbol));
        Variable::Parameter(self.model.parameters.len() - 1)
    }

    pub fn product(&mut self, factor: Affine, parameter: &Variable) -> Variable {
        let Variable::Parameter(parameter) = parameter else {
            panic!("a product is with a parameter");
        };
        self.model.products.push(Product {
            factor,
            parameter: *parameter,
        });
        Variable::Product(self.model.products.len() - 1)
    }

    pub fn repeat(&mut self) -> Variable {
        self.model.loops.push(Loop {
            parent: None,
            uniform_in_block: true,
            location: line(2),
            quotient: None,
            unknown: None,
        });
        Variable::Loop(self.model.loops.len() - 1)
    }

    pub fn access(
        &mut self,
        kind: AccessKind,
        argument: usize,
        subscript: Affine,
        domain: Constraints,
    ) {
        let id = AccessId(self.model.accesses.len());
        self.model.accesses.push(Access {
            id,
            kind,
            target: Target::Argument {
                argument,
                offset_bytes: 0,
            },
            subscript: Some(subscript),
            size_bytes: 4,
            domain,
            loops: (0..self.model.loops.len()).collect(),
            exact: true,
            why_inexact: String::new(),
            invariant_load: false,
            volatile: false,
            asynchronous: false,
            place: 0,
            location: line(10 + id.0 as u32),
        });
    }

    pub fn footprint(&mut self, argument: usize, high: Expression<KernelSymbol>, written: bool) {
        self.model.footprints.push(Footprint {
            target: Target::Argument {
                argument,
                offset_bytes: 0,
            },
            columns: None,
            low_bytes: Some(Expression::Constant(0)),
            high_bytes: Some(high),
            written,
        });
    }

    /// The grid does not wrap 32 bits.
    pub fn precondition_no_wrap(&mut self) {
        let threads = Expression::Leaf(KernelSymbol::GridSize(X))
            .multiply(Expression::Leaf(KernelSymbol::BlockSize(X)));
        self.model
            .preconditions
            .push(Condition::LessEqual(threads, Expression::Constant(1 << 31)));
    }
}

/// `out[i] = f(in[i + shift])` for `i = blockIdx.x * blockDim.x + threadIdx.x < n`; arguments
/// in, out, n.
pub fn pointwise(name: &str, shift: i64) -> KernelModel {
    let mut kernel = Kernel::new(name, 3);
    let block_size = kernel.parameter(KernelSymbol::BlockSize(X));
    let n = kernel.parameter(int_argument(2));
    let base = kernel.product(Affine::variable(Variable::Block(X)), &block_size);
    let thread = Variable::Thread(X);
    let inside = vec![vec![Constraint::NonNegative(sum(
        &[(1, n), (-1, base.clone()), (-1, thread.clone())],
        -1,
    ))]];
    let index = [(4, base), (4, thread)];
    kernel.access(AccessKind::Read, 0, sum(&index, 4 * shift), inside.clone());
    kernel.access(AccessKind::Write, 1, sum(&index, 0), inside);
    let bytes = Expression::Leaf(int_argument(2)).multiply(Expression::Constant(4));
    kernel.footprint(0, bytes.clone().add(Expression::Constant(4 * shift)), false);
    kernel.footprint(1, bytes, true);
    kernel.precondition_no_wrap();
    kernel.model
}

/// One block a row of `n` columns, threads by strides: `out[row][i] = f(in[row][i])`; arguments in,
/// out, n.
pub fn rows(name: &str) -> KernelModel {
    let mut kernel = Kernel::new(name, 3);
    let columns = kernel.parameter(int_argument(2));
    let block_size = kernel.parameter(KernelSymbol::BlockSize(X));
    let row = kernel.product(Affine::variable(Variable::Block(X)), &columns);
    let step = kernel.repeat();
    let stride = kernel.product(Affine::variable(step), &block_size);
    let column = sum(&[(1, Variable::Thread(X)), (1, stride)], 0);
    let inside = vec![vec![Constraint::NonNegative(
        sum(&[(1, columns)], -1).subtract(&column).unwrap(),
    )]];
    let index = Affine::variable(row)
        .add(&column)
        .unwrap()
        .scale(4)
        .unwrap();
    kernel.access(AccessKind::Read, 0, index.clone(), inside.clone());
    kernel.access(AccessKind::Write, 1, index, inside);
    kernel.model
}

/// The first thread of each block adds up its row; arguments in, out, n.
pub fn row_sum(name: &str) -> KernelModel {
    let mut kernel = Kernel::new(name, 3);
    let columns = kernel.parameter(int_argument(2));
    let row = kernel.product(Affine::variable(Variable::Block(X)), &columns);
    let k = kernel.repeat();
    let first_thread = Constraint::Zero(Affine::variable(Variable::Thread(X)));
    let inside = vec![
        first_thread.clone(),
        Constraint::NonNegative(sum(&[(1, columns), (-1, k.clone())], -1)),
    ];
    let index = sum(&[(4, row), (4, k)], 0);
    kernel.access(AccessKind::Read, 0, index, vec![inside]);
    let own = sum(&[(4, Variable::Block(X))], 0);
    kernel.access(AccessKind::Write, 1, own, vec![vec![first_thread]]);
    kernel.model
}

/// A one-dimensional shape.
pub fn shape(world: &mut World, extent: ValueId) -> [ValueId; 3] {
    let one = world.number(1);
    [extent, one, one]
}

/// Arguments in, out, n.
pub fn actuals(from: &Pointer, to: &Pointer, n: ValueId) -> Vec<Actual> {
    vec![
        Actual::Pointer(from.clone()),
        Actual::Pointer(to.clone()),
        Actual::Int(n),
    ]
}
