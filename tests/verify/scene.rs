//! A small language for launch graphs, kernel models and plans.

use sirius_rs::dependence::{Guard, PointerRange};
use sirius_rs::diagnostics::Location;
use sirius_rs::kernel::{
    Access, AccessId, AccessKind, Barrier, Footprint, Intervals, KernelModel, KernelParameter,
    KernelSymbol, Product, Target,
};
use sirius_rs::launch::{
    Argument, ArgumentPiece, Buffer, BufferId, HostBlock, HostBlockId, HostFunction, HostLoop,
    HostValue, Launch, LaunchGraph, LaunchId, MemoryKind, Node, NodeId, NodeKind, Operand, Pointer,
    Root, Stream, Touch, ValueId,
};
use sirius_rs::math::affine::{Affine, Axis, Constraint, Constraints, Variable};
use sirius_rs::math::expression::{Condition, Expression};
use sirius_rs::program::KernelId;
use sirius_rs::schedule::{FusionGroup, FusionPlan, Member, ThreadMap, Variant};

/// A host program with its kernels, one function, the nodes in one block unless said otherwise.
pub struct Scene {
    pub graph: LaunchGraph,
    pub kernels: Vec<KernelModel>,
    /// The block that new nodes go to.
    pub block: HostBlockId,
}

/// An argument of a launch.
#[derive(Clone)]
pub enum Pass {
    /// A pointer to a buffer's start.
    To(BufferId),
    /// A pointer about which nothing is known but its value.
    Anything(ValueId),
    /// A signed 32-bit integer.
    Integer(ValueId),
}

/// A launch shape on the x axis.
#[derive(Clone, Copy)]
pub struct Shape {
    pub grid: ValueId,
    pub block: ValueId,
}

impl Scene {
    pub fn new() -> Self {
        let block = HostBlock::default();
        let function = HostFunction {
            name: "main".to_string(),
            entry: HostBlockId(0),
            repeated: false,
        };
        let graph = LaunchGraph {
            functions: vec![function],
            blocks: vec![block],
            ..LaunchGraph::default()
        };
        Self {
            graph,
            kernels: Vec::new(),
            block: HostBlockId(0),
        }
    }

    pub fn constant(&mut self, value: i64) -> ValueId {
        self.value(Some(value))
    }

    pub fn unknown(&mut self) -> ValueId {
        self.value(None)
    }

    fn value(&mut self, constant: Option<i64>) -> ValueId {
        self.graph.values.push(HostValue {
            constant,
            holder: (LaunchId(0), Operand::Stream),
            varies_in: None,
        });
        ValueId(self.graph.values.len() - 1)
    }

    /// 40 blocks of 256 threads.
    pub fn known_shape(&mut self) -> Shape {
        let (grid, block) = (self.constant(40), self.constant(256));
        Shape { grid, block }
    }

    pub fn unknown_shape(&mut self) -> Shape {
        let (grid, block) = (self.unknown(), self.unknown());
        Shape { grid, block }
    }

    pub fn buffer(&mut self, name: &str) -> BufferId {
        self.graph.buffers.push(Buffer {
            escapes: false,
            plain_call: None,
            stored_pointers: None,
            name: name.to_string(),
            memory: MemoryKind::Device,
            unique: true,
            bytes: None,
            variable: None,
            location: Location::default(),
        });
        BufferId(self.graph.buffers.len() - 1)
    }

    pub fn node(&mut self, kind: NodeKind) -> NodeId {
        let id = NodeId(self.graph.nodes.len());
        let location = Location {
            file: "app.cu".to_string(),
            line: 10 + id.0 as u32,
            column: 5,
        };
        let block = self.block;
        self.graph.nodes.push(Node {
            id,
            kind,
            block,
            location,
        });
        self.graph.blocks[block.0].nodes.push(id);
        id
    }

    /// Adds a block after `from` and goes on there.
    pub fn block_after(&mut self, from: HostBlockId) -> HostBlockId {
        let id = HostBlockId(self.graph.blocks.len());
        self.graph.blocks.push(HostBlock {
            immediate_dominator: Some(from),
            innermost_loop: self.graph.blocks[from.0].innermost_loop,
            ..HostBlock::default()
        });
        self.edge(from, id);
        self.block = id;
        id
    }

    pub fn edge(&mut self, from: HostBlockId, to: HostBlockId) {
        self.graph.blocks[from.0].successors.push(to);
    }

    /// Makes a block the header, and so far all, of a loop.
    pub fn make_loop(&mut self, header: HostBlockId) {
        self.graph.loops.push(HostLoop {
            parent: None,
            header,
            trip: None,
        });
        self.graph.blocks[header.0].innermost_loop = Some(self.graph.loops.len() - 1);
    }

    pub fn launch(&mut self, kernel: KernelId, shape: Shape, arguments: &[Pass]) -> LaunchId {
        let id = LaunchId(self.graph.nodes.len() as u32);
        let one = self.constant(1);
        let none = self.constant(0);
        let arguments = arguments.iter().map(|pass| self.argument(pass)).collect();
        self.node(NodeKind::Launch(Launch {
            id,
            kernel: Some(kernel),
            grid: [shape.grid, one, one],
            block: [shape.block, one, one],
            shared_bytes: none,
            stream: Stream::Default,
            arguments,
            special: false,
        }));
        id
    }

    fn argument(&mut self, pass: &Pass) -> Argument {
        let (value, bits, pointer) = match pass {
            Pass::To(buffer) => (self.unknown(), 64, Some(start_of(*buffer))),
            Pass::Anything(value) => (*value, 64, Some(anywhere(*value))),
            Pass::Integer(value) => (*value, 32, None),
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
    }

    /// The launch of a number, to change it.
    pub fn launch_mut(&mut self, id: LaunchId) -> &mut Launch {
        let launches = self.graph.nodes.iter_mut();
        let mut launches = launches.filter_map(|node| match &mut node.kind {
            NodeKind::Launch(launch) => Some(launch),
            _ => None,
        });
        launches.find(|launch| launch.id == id).unwrap()
    }

    pub fn copy(&mut self, reads: &[BufferId], writes: &[BufferId]) -> NodeId {
        let touch = |buffer: &BufferId| Touch {
            pointer: start_of(*buffer),
            bytes: None,
        };
        self.node(NodeKind::Copy {
            reads: reads.iter().map(touch).collect(),
            writes: writes.iter().map(touch).collect(),
            stream: Stream::Default,
            host_side: true,
            awaited_call: None,
            from_host: None,
        })
    }

    /// A call of a library on the default stream.
    pub fn library(&mut self, reads: &[BufferId], writes: &[BufferId], host_side: bool) {
        let touch = |buffer: &BufferId| Touch {
            pointer: start_of(*buffer),
            bytes: None,
        };
        self.node(NodeKind::Library {
            reads: reads.iter().map(touch).collect(),
            writes: writes.iter().map(touch).collect(),
            stream: Stream::Default,
            host_side,
            what: "cublasSgemm_v2".into(),
        });
    }

    /// A kernel with the accesses given; arguments are pointers up to the last, which is `n`.
    /// Parameter 0 of its model is `blockDim.x`, parameter 1 is `n`; product 0 is the block base.
    pub fn kernel(&mut self, name: &str, pointers: usize, accesses: Vec<Access>) -> KernelId {
        let id = KernelId(self.kernels.len());
        let pointer = KernelParameter {
            name: String::new(),
            captured: false,
            size_bytes: 8,
            align_bytes: 8,
            is_pointer: true,
        };
        let integer = KernelParameter {
            name: String::new(),
            captured: false,
            size_bytes: 4,
            align_bytes: 4,
            is_pointer: false,
        };
        let mut formals = vec![pointer; pointers];
        formals.push(integer);
        let size = KernelSymbol::Argument {
            argument: pointers,
            offset_bytes: 0,
            bits: 32,
            signed: true,
        };
        let block = KernelSymbol::BlockSize(Axis::X);
        let threads = Expression::Leaf(KernelSymbol::GridSize(Axis::X))
            .multiply(Expression::Leaf(block.clone()));
        let accesses: Vec<_> = accesses
            .into_iter()
            .enumerate()
            .map(|(index, access)| Access {
                id: AccessId(index),
                ..access
            })
            .collect();
        let footprints = (0..pointers)
            .map(|argument| Footprint {
                target: pointer_argument(argument),
                columns: None,
                low_bytes: Some(Expression::Constant(0)),
                high_bytes: Some(Expression::Constant(4).multiply(Expression::Leaf(size.clone()))),
                written: true,
            })
            .collect();
        self.kernels.push(KernelModel {
            exchanges: Vec::new(),
            id,
            iteration_of: None,
            name: format!("_Z{name}"),
            display_name: name.to_string(),
            location: Location::default(),
            formals,
            parameters: vec![Expression::Leaf(block), Expression::Leaf(size)],
            loops: Vec::new(),
            products: vec![Product {
                factor: Affine::variable(Variable::Block(Axis::X)),
                parameter: 0,
            }],
            accesses,
            barriers: Vec::new(),
            footprints,
            block_effects: Vec::new(),
            preconditions: vec![Condition::LessEqual(threads, Expression::Constant(1 << 31))],
            opaque: Vec::new(),
            unfusable: Vec::new(),
            intervals: Intervals::default(),
            asynchronous_copies: false,
            warp_operations: false,
            warp_operation_sites: Vec::new(),
            missed_by_lanes: Vec::new(),
            prints: false,
            reads_addresses: false,
            static_shared_bytes: 0,
            distinguishes_threads: [true; 3],
            dynamic_shared: false,
            max_threads: None,
        });
        id
    }

    /// `argument 1 [i] = argument 0 [i]` for the thread's own element.
    pub fn pointwise(&mut self, name: &str) -> KernelId {
        let accesses = vec![
            access(AccessKind::Read, 0, own_element(0)),
            access(AccessKind::Write, 1, own_element(0)),
        ];
        self.kernel(name, 2, accesses)
    }

    /// `argument 1 [i] = argument 0 [i - 1]`.
    pub fn stencil(&mut self, name: &str) -> KernelId {
        let accesses = vec![
            access(AccessKind::Read, 0, own_element(-1)),
            access(AccessKind::Write, 1, own_element(0)),
        ];
        self.kernel(name, 2, accesses)
    }

    /// Thread 0 writes `argument 1 [blockIdx.x]`, from the block's elements of argument 0.
    pub fn block_sum(&mut self, name: &str) -> KernelId {
        let mut write = access(AccessKind::Write, 1, block_element());
        write.domain = vec![vec![Constraint::Zero(Affine::variable(Variable::Thread(
            Axis::X,
        )))]];
        let accesses = vec![access(AccessKind::Read, 0, own_element(0)), write];
        let id = self.kernel(name, 2, accesses);
        self.kernels[id.0].static_shared_bytes = 1024;
        self.kernels[id.0].barriers = vec![Barrier {
            uniform: true,
            uniform_while_unwritten: Vec::new(),
            reached_if: Vec::new(),
            loops: Vec::new(),
            place: 0,
            location: Location::default(),
        }];
        id
    }

    /// Every thread reads `argument 0 [blockIdx.x]` and writes its own element of argument 1.
    pub fn spread(&mut self, name: &str) -> KernelId {
        let accesses = vec![
            access(AccessKind::Read, 0, block_element()),
            access(AccessKind::Write, 1, own_element(0)),
        ];
        self.kernel(name, 2, accesses)
    }
}

/// An access of four bytes by all threads below `n`.
pub fn access(kind: AccessKind, argument: usize, subscript: Affine) -> Access {
    Access {
        id: AccessId(0),
        kind,
        target: pointer_argument(argument),
        subscript: Some(subscript),
        size_bytes: 4,
        domain: below_size(),
        loops: Vec::new(),
        exact: true,
        why_inexact: String::new(),
        invariant_load: false,
        volatile: false,
        asynchronous: false,
        place: 0,
        location: Location::default(),
    }
}

/// `4 · (blockIdx.x · blockDim.x + threadIdx.x + shift)`.
pub fn own_element(shift: i64) -> Affine {
    index()
        .add(&Affine::constant(shift))
        .unwrap()
        .scale(4)
        .unwrap()
}

/// `4 · blockIdx.x`.
pub fn block_element() -> Affine {
    Affine::variable(Variable::Block(Axis::X)).scale(4).unwrap()
}

fn index() -> Affine {
    Affine::variable(Variable::Product(0))
        .add(&Affine::variable(Variable::Thread(Axis::X)))
        .unwrap()
}

fn below_size() -> Constraints {
    let size = Affine::variable(Variable::Parameter(1));
    let room = size.subtract(&index()).unwrap().add(&Affine::constant(-1));
    vec![vec![Constraint::NonNegative(room.unwrap())]]
}

pub fn pointer_argument(argument: usize) -> Target {
    Target::Argument {
        argument,
        offset_bytes: 0,
    }
}

pub fn start_of(buffer: BufferId) -> Pointer {
    Pointer {
        root: Root::Buffer(buffer),
        offset_bytes: Some(Expression::Constant(0)),
        may_point_to: Some(vec![buffer]),
        device_only: true,
    }
}

pub fn anywhere(value: ValueId) -> Pointer {
    Pointer {
        root: Root::Value(value),
        offset_bytes: Some(Expression::Constant(0)),
        may_point_to: None,
        device_only: false,
    }
}

/// `b = f(a); c = g(b); d = h(c)`, of which as many as asked have one block.
pub fn three(
    second: fn(&mut Scene, &str) -> KernelId,
    of_one_block: usize,
) -> (Scene, Vec<LaunchId>) {
    let mut scene = Scene::new();
    let buffers = ["a", "b", "c", "d"].map(|name| scene.buffer(name));
    let size = scene.unknown();
    let shape = scene.known_shape();
    let one = scene.constant(1);
    let kernels = [
        scene.stencil("f"),
        second(&mut scene, "g"),
        scene.stencil("h"),
    ];
    let launches = kernels.into_iter().enumerate().map(|(at, kernel)| {
        let [from, to] = [buffers[at], buffers[at + 1]].map(Pass::To);
        let launch = scene.launch(kernel, shape, &[from, to, Pass::Integer(size)]);
        if at + of_one_block >= 3 {
            scene.launch_mut(launch).grid[0] = one;
        }
        launch
    });
    let launches = launches.collect();
    (scene, launches)
}

/// A plan of one group; a launch with `true` has a barrier before it.
pub fn plan(members: &[(LaunchId, bool)], guards: Vec<Guard>) -> FusionPlan {
    FusionPlan {
        groups: vec![group(members, guards)],
        ..FusionPlan::default()
    }
}

pub fn group(members: &[(LaunchId, bool)], guards: Vec<Guard>) -> FusionGroup {
    FusionGroup {
        unread_afterwards: Vec::new(),
        awaited_copies: Vec::new(),
        issued_before: Vec::new(),
        partial_guards: Vec::new(),
        segments: Vec::new(),
        variant: Variant::default(),
        grid_barriers: Vec::new(),
        overlap: None,
        last_block: None,
        front_guards: None,
        early_guards: None,
        recomputation: None,
        fallback: Vec::new(),
        tested_loop: None,
        members: members
            .iter()
            .map(|(launch, barrier_before)| Member {
                launch: *launch,
                map: ThreadMap::Identity,
                barrier_before: *barrier_before,
            })
            .collect(),
        layout: "v".to_string(),
        layouts: Vec::new(),
        guards,
    }
}

pub fn valid(launch: LaunchId) -> Guard {
    Guard::ConfigurationValid { launch }
}

pub fn same(left: ValueId, right: ValueId) -> Guard {
    Guard::Holds {
        class: "shape".to_string(),
        condition: Condition::Equal(Expression::Leaf(left), Expression::Leaf(right)),
    }
}

/// `grid · block <= 2^31`.
pub fn no_wrap(shape: Shape) -> Guard {
    let threads = Expression::Leaf(shape.block).multiply(Expression::Leaf(shape.grid));
    Guard::Holds {
        class: "wrap".to_string(),
        condition: Condition::LessEqual(threads, Expression::Constant(1 << 31)),
    }
}

/// Bytes `[0, 4 · n)` of a pointer argument.
pub fn range(launch: LaunchId, argument: usize, size: ValueId) -> PointerRange {
    PointerRange {
        launch,
        operand: Operand::Argument {
            argument,
            offset_bytes: 0,
            bits: 64,
            signed: false,
        },
        low_bytes: Expression::Constant(0),
        high_bytes: Expression::Constant(4).multiply(Expression::Leaf(size)),
    }
}
