//! The launch graph put together: functions, blocks, loops, nodes.

mod allocations;
mod launches;
mod libraries;
mod loop_tests;
mod operations;
mod tables;

use super::buffer_names::buffer_name;
use super::calls::{self, Action, Direction, OnStream, RuntimeCall, Size, Waiting};
use super::cfg::{self, ControlFlow};
use super::handles::{self, DeviceSide};
use super::host_ir::{Field, HostModule, Instruction, Opcode, Operand as HostOperand, Type};
use super::memory::{Conduct, HostMemory};
use super::pointers::ValueTable;
use super::points_to::{ObjectKind, Targets, is_analysed};
use super::recurrences::{Closing, LoopPosition};
use super::values::{Facts, Numbering, Symbol, moved};
use super::*;
use crate::diagnostics::source_name;
use crate::program::{DeviceVariable, HostVisibleMemory, Kernel};
use operations::{operation_calls, operation_touches};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Builds the graph of a host module that has been read.
pub fn assemble(
    host: &HostModule,
    kernels: &[Kernel],
    variables: &[DeviceVariable],
    (host_visible_memory, flushes_denormals): (HostVisibleMemory, bool),
) -> LaunchGraph {
    let device = DeviceSide {
        kernels,
        variables,
        host_visible_memory,
    };
    let (points_to, stubs) = handles::points_to(device, host);
    let memory = HostMemory::new(host, &points_to, &stubs);
    let facts = Facts {
        host,
        points_to: &points_to,
        memory: &memory,
        stubs: &stubs,
    };
    let mut builder = Builder {
        facts,
        kernels: kernels
            .iter()
            .map(|kernel| (kernel.stub.as_str(), kernel.id))
            .collect(),
        numbering: Numbering::new(facts),
        table: ValueTable::default(),
        graph: LaunchGraph {
            flushes_denormals,
            ..LaunchGraph::default()
        },
        launches: HashMap::new(),
        irreducible: BTreeSet::new(),
        host_visible_memory,
        passed: Vec::new(),
        touched: Vec::new(),
        moving: BTreeMap::new(),
        operations: operation_calls(host),
        unanalysed_call: false,
        places: Vec::new(),
    };
    let functions = builder.control_flow();
    builder.launch_operands(&functions);
    builder.buffers(&functions, variables);
    builder.stored_pointers();
    builder.nodes(&functions);
    builder.unanalysed_readers();
    builder.plain_allocations();
    builder.iterations(&functions);
    builder.loop_tests(&functions);
    let analysed: Vec<usize> = functions.iter().map(|analysed| analysed.function).collect();
    builder.graph.capture = StreamCapture::of(host, &analysed);
    builder.finish()
}

struct Builder<'a> {
    facts: Facts<'a>,
    kernels: HashMap<&'a str, KernelId>,
    numbering: Numbering<'a>,
    table: ValueTable,
    graph: LaunchGraph,
    launches: HashMap<(usize, usize), PendingLaunch>,
    irreducible: BTreeSet<usize>,
    host_visible_memory: HostVisibleMemory,
    /// Pointers that launches take, and those that vary of other operations.
    passed: Vec<(ValueId, Symbol)>,
    /// For each pointer that the operation at hand touches memory through, its value if it varies.
    touched: Vec<Option<ValueId>>,
    /// The same of operations that have such pointers.
    moving: BTreeMap<NodeId, Vec<Option<ValueId>>>,
    /// Sets and copies by function and instruction, numbered in the order of the module.
    operations: HashMap<(usize, usize), (usize, OperationKind)>,
    /// A call that points-to takes for a known one, whose pointers then go nowhere, is a node that may do anything.
    unanalysed_call: bool,
    /// By node, its function and instruction.
    places: Vec<(usize, usize)>,
}

/// A launch whose operands have their numbers and whose pointers are not yet known.
struct PendingLaunch {
    launch: Launch,
    /// For each piece that may be a pointer: argument, piece, symbol, targets.
    pointers: Vec<(usize, usize, Symbol, Targets)>,
}

/// An analysed function: its index in the module, and the first of its blocks in the graph.
struct Analysed {
    function: usize,
    blocks: HashMap<usize, HostBlockId>,
    order: Vec<usize>,
}

impl Builder<'_> {
    /// The functions that call the runtime, `main` first.
    fn functions(&self) -> Vec<usize> {
        let host = self.facts.host;
        let calls_runtime = |function: &usize| {
            let function = &host.functions[*function];
            is_analysed(function, self.facts.stubs)
                && function.instructions.iter().any(|instruction| {
                    matches!(&instruction.opcode, Opcode::Call { callee: Some(callee), .. }
                        if calls::is_cuda(&host.functions[*callee].name)
                            || calls::is_device_library(&host.functions[*callee].name))
                })
        };
        let mut found: Vec<usize> = (0..host.functions.len()).filter(calls_runtime).collect();
        found.sort_by_key(|function| host.functions[*function].name != "main");
        found
    }

    /// Blocks and loops of all functions, and the numbering of their values.
    fn control_flow(&mut self) -> Vec<Analysed> {
        let host = self.facts.host;
        let mut analysed = Vec::new();
        for function in self.functions() {
            let body = &host.functions[function];
            let flow = ControlFlow::new(body);
            let first_block = self.graph.blocks.len();
            let first_loop = self.graph.loops.len();
            let blocks: HashMap<usize, HostBlockId> = flow
                .order
                .iter()
                .enumerate()
                .map(|(position, block)| (*block, HostBlockId(first_block + position)))
                .collect();
            let graph_function = self.graph.functions.len();
            let returning = cfg::returning(body);
            for block in &flow.order {
                self.graph.blocks.push(HostBlock {
                    function: graph_function,
                    nodes: Vec::new(),
                    successors: body.blocks[*block]
                        .successors
                        .iter()
                        .map(|to| blocks[to])
                        .collect(),
                    immediate_dominator: flow.immediate_dominator[*block].map(|up| blocks[&up]),
                    innermost_loop: flow.innermost[*block].map(|index| index + first_loop),
                    dead_end: !returning.contains(block),
                    position: *block,
                });
            }
            for natural in &flow.loops {
                self.graph.loops.push(HostLoop {
                    parent: natural.parent.map(|parent| parent + first_loop),
                    header: blocks[&natural.header],
                    trip: None,
                });
            }
            self.graph.functions.push(HostFunction {
                name: body.name.clone(),
                entry: blocks[&0],
                repeated: true,
            });
            analysed.push(Analysed {
                function,
                blocks,
                order: flow.order.clone(),
            });
            if flow.irreducible {
                self.irreducible.insert(function);
            } else {
                self.numbering.add_function(function, flow, first_loop);
            }
        }
        for (index, analysed) in analysed.iter().enumerate() {
            self.graph.functions[index].repeated =
                !self.runs_once(analysed.function, &mut Vec::new());
        }
        analysed
    }

    /// The function is `main`, or called at one place that runs once.
    fn runs_once(&self, function: usize, callers: &mut Vec<usize>) -> bool {
        let host = self.facts.host;
        let body = &host.functions[function];
        if body.address_taken || callers.contains(&function) {
            return false;
        }
        let mut sites = Vec::new();
        for (index, caller) in host.functions.iter().enumerate() {
            for instruction in &caller.instructions {
                if matches!(instruction.opcode, Opcode::Call { callee: Some(callee), .. } if callee == function)
                {
                    sites.push((index, instruction.block));
                }
            }
        }
        if body.name == "main" {
            return sites.is_empty();
        }
        let [(caller, block)] = sites[..] else {
            return false;
        };
        if !body.internal {
            return false;
        }
        let flow = ControlFlow::new(&host.functions[caller]);
        callers.push(function);
        !flow.irreducible && flow.innermost[block].is_none() && self.runs_once(caller, callers)
    }

    fn callee(&self, instruction: &Instruction) -> Option<&str> {
        match &instruction.opcode {
            Opcode::Call {
                callee: Some(callee),
                ..
            } => Some(self.facts.host.functions[*callee].name.as_str()),
            _ => None,
        }
    }

    /// Second pass: every allocation site and device variable becomes a buffer.
    fn buffers(&mut self, functions: &[Analysed], variables: &[DeviceVariable]) {
        let host = self.facts.host;
        for (index, analysed) in functions.iter().enumerate() {
            let body = &host.functions[analysed.function];
            for at in analysed
                .order
                .iter()
                .flat_map(|block| body.blocks[*block].instructions.clone())
            {
                let instruction = &body.instructions[at];
                let Some(object) = self.facts.points_to.object_of_site(analysed.function, at)
                else {
                    continue;
                };
                let ObjectKind::Buffer(memory) = self.facts.points_to.objects[object].kind else {
                    continue;
                };
                let Some(Action::Allocate { slot, bytes, .. }) = self
                    .callee(instruction)
                    .and_then(calls::runtime_call)
                    .map(|call| call.action)
                else {
                    continue;
                };
                let id = BufferId(self.graph.buffers.len());
                let block = analysed.blocks[&instruction.block];
                let once = !self.graph.functions[index].repeated
                    && !self.irreducible.contains(&analysed.function)
                    && self.graph.blocks[block.0].innermost_loop.is_none();
                if once {
                    self.table.runs_once.insert(object);
                }
                let place = (analysed.function, instruction.operands[slot]);
                let name = buffer_name(host, place, &self.graph.buffers)
                    .unwrap_or_else(|| format!("buffer{}", id.0));
                let bytes = self.size(analysed.function, at, bytes);
                self.table.buffers.insert(object, id);
                self.graph.buffers.push(Buffer {
                    name,
                    memory,
                    unique: once,
                    escapes: self.facts.points_to.objects[object].leaked,
                    bytes,
                    plain_call: None,
                    stored_pointers: None,
                    variable: None,
                    location: instruction.location.clone(),
                });
            }
        }
        for variable in variables {
            let id = BufferId(self.graph.buffers.len());
            let shadow = host
                .globals
                .iter()
                .position(|global| global.name == variable.shadow);
            if let Some(shadow) = shadow {
                let object = self.facts.points_to.object_of_variable(shadow);
                self.table.buffers.insert(object, id);
                self.table.runs_once.insert(object);
            }
            let memory = match (variable.constant, variable.managed) {
                (true, _) => MemoryKind::Constant,
                (_, true) => MemoryKind::Managed,
                _ => MemoryKind::DeviceVariable,
            };
            self.graph.buffers.push(Buffer {
                name: source_name(&variable.name),
                memory,
                unique: true,
                escapes: true,
                bytes: i64::try_from(variable.bytes).ok().map(Expression::Constant),
                plain_call: None,
                stored_pointers: None,
                variable: Some(variable.unique_name.clone()),
                location: Location::default(),
            });
        }
    }

    /// The name of the variable that an allocation's slot is.
    fn size(&mut self, function: usize, at: usize, size: Size) -> Option<Expression<ValueId>> {
        let (position, element_bytes) = match size {
            Size::Argument(position) => (position, 1),
            Size::Elements(position, bytes) => (position, bytes),
            Size::Unknown => return None,
        };
        if self.irreducible.contains(&function) {
            return None;
        }
        let instruction = &self.facts.host.functions[function].instructions[at];
        let operand = *instruction.operands.get(position)?;
        let symbol = self.numbering.operand(function, operand, instruction.block);
        let count = self.table.expression(&self.numbering, symbol)?;
        Some(count.multiply(Expression::Constant(element_bytes)))
    }

    /// An operand that is a literal.
    fn literal(&mut self, function: usize, at: usize, position: usize) -> Option<i64> {
        let instruction = &self.facts.host.functions[function].instructions[at];
        let operand = *instruction.operands.get(position)?;
        let symbol = self.numbering.operand(function, operand, instruction.block);
        self.numbering.literal(symbol)
    }

    /// Third pass: the nodes.
    fn nodes(&mut self, functions: &[Analysed]) {
        let host = self.facts.host;
        for analysed in functions {
            let body = &host.functions[analysed.function];
            for block in &analysed.order {
                let id = analysed.blocks[block];
                for at in body.blocks[*block].instructions.clone() {
                    self.touched.clear();
                    let kinds = [
                        self.node(analysed.function, at),
                        self.exception(analysed.function, at),
                    ];
                    for kind in kinds.into_iter().flatten() {
                        let last = self.graph.blocks[id.0].nodes.last();
                        let repeats = matches!(kind, NodeKind::HostAccess { .. })
                            && last.is_some_and(|last| self.graph.nodes[last.0].kind == kind);
                        if repeats {
                            continue;
                        }
                        let node = NodeId(self.graph.nodes.len());
                        if self.touched.iter().any(Option::is_some) {
                            let touched = std::mem::take(&mut self.touched);
                            self.moving.insert(node, touched);
                        }
                        let operation = self.operations.get(&(analysed.function, at)).copied();
                        if let Some((ordinal, does)) = operation
                            && let Some(touches) = operation_touches(&kind)
                        {
                            let set_to = match does {
                                OperationKind::Set => self.literal(analysed.function, at, 1),
                                OperationKind::Copy => None,
                            };
                            self.graph.operations.push(Operation {
                                node,
                                kind: does,
                                touches,
                                ordinal,
                                launch: None,
                                set_to,
                            });
                        }
                        self.places.push((analysed.function, at));
                        self.graph.nodes.push(Node {
                            id: node,
                            kind,
                            block: id,
                            location: body.instructions[at].location.clone(),
                        });
                        self.graph.blocks[id.0].nodes.push(node);
                    }
                }
            }
        }
    }

    fn node(&mut self, function: usize, at: usize) -> Option<NodeKind> {
        let facts = self.facts;
        let instruction = &facts.host.functions[function].instructions[at];
        let visible = |position: usize| {
            let targets = facts
                .points_to
                .of(facts.host, function, instruction.operands[position]);
            facts.points_to.any_kernel_visible(&targets)
        };
        match &instruction.opcode {
            Opcode::Load { ordered: true }
            | Opcode::Store { ordered: true, .. }
            | Opcode::Atomic => Some(NodeKind::HostAccess { ordered: true }),
            Opcode::Load { .. } => visible(0).then_some(NodeKind::HostAccess { ordered: false }),
            Opcode::Store { .. } => visible(1).then_some(NodeKind::HostAccess { ordered: false }),
            Opcode::Call { .. } => self.call_node(function, at),
            _ => None,
        }
    }

    fn call_node(&mut self, function: usize, at: usize) -> Option<NodeKind> {
        let facts = self.facts;
        let instruction = &facts.host.functions[function].instructions[at];
        let name = self
            .callee(instruction)
            .map_or_else(|| self.call_through_pointer(function, at), str::to_owned);
        let irreducible = self.irreducible.contains(&function);
        if let Some(library) = calls::device_library_call(&name) {
            let node = match irreducible {
                true => NodeKind::Opaque { what: name },
                false => self.library_node(function, at, &name, &library),
            };
            self.unanalysed_call |= matches!(node, NodeKind::Opaque { .. });
            return Some(node);
        }
        let runtime = calls::runtime_call(&name);
        if calls::is_cuda(&name) {
            if let Some(pending) = self.launches.remove(&(function, at)) {
                return Some(NodeKind::Launch(self.finish_launch(pending)));
            }
            return Some(match runtime {
                Some(runtime) if !irreducible => self.runtime_node(function, at, &name, &runtime),
                _ => {
                    self.unanalysed_call |= runtime.is_some();
                    NodeKind::Opaque { what: name }
                }
            });
        }
        let name = facts.memory.told_name(facts.host, (function, at), name);
        let (host, memory) = (facts.host, facts.memory);
        match memory.call_conduct(host, facts.stubs, function, at) {
            Conduct::Acts => Some(NodeKind::Opaque { what: name }),
            _ if memory.touches_kernel_visible(host, facts.points_to, function, at) => {
                Some(NodeKind::HostAccess { ordered: false })
            }
            Conduct::Computes | Conduct::Throws => None,
            Conduct::Outputs | Conduct::OutputsOrThrows => Some(NodeKind::Output { what: name }),
            Conduct::Checks => Some(NodeKind::ErrorCheck),
        }
    }

    /// What else a call is that an exception may leave. Out of `main` that ends the program, and into a landing pad it is
    /// an edge.
    fn exception(&self, function: usize, at: usize) -> Option<NodeKind> {
        let facts = self.facts;
        let instruction = &facts.host.functions[function].instructions[at];
        let Opcode::Call { invoke: false, .. } = instruction.opcode else {
            return None;
        };
        let called = self.callee(instruction);
        let name = called.map_or_else(|| self.call_through_pointer(function, at), str::to_owned);
        if facts.host.functions[function].name == "main"
            || calls::is_cuda(&name)
            || calls::device_library_call(&name).is_some()
        {
            return None;
        }
        let memory = facts.memory;
        match memory.call_conduct(facts.host, facts.stubs, function, at) {
            Conduct::Throws | Conduct::OutputsOrThrows => Some(NodeKind::MayThrow {
                what: memory.told_name(facts.host, (function, at), name),
            }),
            _ => None,
        }
    }

    fn finish_launch(&mut self, pending: PendingLaunch) -> Launch {
        let mut launch = pending.launch;
        for (argument, piece, symbol, targets) in pending.pointers {
            let pointer =
                self.table
                    .pointer(&self.numbering, self.facts.points_to, symbol, &targets);
            let piece = &mut launch.arguments[argument].pieces[piece];
            self.passed.push((piece.value, symbol));
            piece.pointer = Some(pointer);
        }
        launch
    }

    fn runtime_node(
        &mut self,
        function: usize,
        at: usize,
        name: &str,
        runtime: &RuntimeCall,
    ) -> NodeKind {
        let instruction = &self.facts.host.functions[function].instructions[at];
        match runtime.action {
            Action::Allocate { .. } => match self.facts.points_to.object_of_site(function, at) {
                Some(object) => NodeKind::Allocation {
                    buffer: self.table.buffers[&object],
                },
                None => NodeKind::Opaque {
                    what: name.to_owned(),
                },
            },
            Action::Free { pointer } => NodeKind::Free {
                pointer: Some(self.pointer(function, at, pointer)),
            },
            Action::Copy {
                destination,
                source,
                bytes,
                direction,
                stream,
            } => {
                let (to_device, from_device) = self.directions(instruction, direction);
                let bytes = self.size(function, at, bytes);
                let reads = self.touch(function, at, source, from_device, &bytes);
                let writes = self.touch(function, at, destination, to_device, &bytes);
                let device_only = to_device == Some(true) && from_device == Some(true);
                let to_host = (to_device, from_device) == (Some(false), Some(true))
                    && writes.is_empty()
                    && stream == OnStream::Waits;
                let ordinal = self.operations.get(&(function, at)).map(|(at, _)| *at);
                let from_host = (to_device, from_device) != (Some(false), Some(false))
                    && self.is_read_at_once(function, at, source, stream);
                NodeKind::Copy {
                    reads,
                    writes,
                    stream: self.stream(function, at, stream),
                    host_side: stream == OnStream::Waits || !device_only,
                    awaited_call: ordinal.filter(|_| to_host),
                    from_host: ordinal.filter(|_| from_host),
                }
            }
            Action::SymbolCopy {
                symbol,
                other,
                bytes,
                offset,
                to_symbol,
                direction,
                stream,
            } => {
                let (to_device, from_device) = self.directions(instruction, direction);
                let bytes = self.size(function, at, bytes);
                let mut pointer = self.pointer(function, at, symbol);
                let place = instruction
                    .operands
                    .get(offset)
                    .copied()
                    .unwrap_or(HostOperand::Undefined);
                let place = self.numbering.operand(function, place, instruction.block);
                let place = self.table.expression(&self.numbering, place);
                pointer.offset_bytes = pointer
                    .offset_bytes
                    .zip(place)
                    .map(|(start, by)| start.add(by));
                let variable = vec![Touch {
                    pointer,
                    bytes: bytes.clone(),
                }];
                let side = if to_symbol { from_device } else { to_device };
                let others = self.touch(function, at, other, side, &bytes);
                if to_symbol && !others.is_empty() {
                    self.touched.swap(0, 1);
                }
                let (reads, writes) = if to_symbol {
                    (others, variable)
                } else {
                    (variable, others)
                };
                NodeKind::Copy {
                    reads,
                    writes,
                    stream: self.stream(function, at, stream),
                    host_side: stream == OnStream::Waits || side != Some(true),
                    awaited_call: None,
                    from_host: None,
                }
            }
            Action::Set {
                pointer,
                bytes,
                stream,
            } => {
                let bytes = self.size(function, at, bytes);
                let pointer = self.pointer(function, at, pointer);
                NodeKind::Set {
                    writes: Touch { pointer, bytes },
                    stream: self.stream(function, at, stream),
                }
            }
            Action::Synchronise(waiting) => NodeKind::Synchronise(match waiting {
                Waiting::Device => Awaited::Device,
                Waiting::Stream(position) => {
                    Awaited::Stream(self.stream(function, at, OnStream::Argument(position)))
                }
                Waiting::Event => Awaited::Event,
            }),
            Action::Check
            | Action::SymbolAddress { .. }
            | Action::DeviceAddress { .. }
            | Action::Handle { .. } => NodeKind::ErrorCheck,
            Action::StreamOperation => NodeKind::StreamOperation,
            Action::Fence | Action::Launch { .. } => NodeKind::Opaque {
                what: name.to_owned(),
            },
        }
    }

    fn pointer(&mut self, function: usize, at: usize, position: usize) -> Pointer {
        let facts = self.facts;
        let instruction = &facts.host.functions[function].instructions[at];
        let operand = instruction
            .operands
            .get(position)
            .copied()
            .unwrap_or(HostOperand::Undefined);
        let targets = facts.points_to.of(facts.host, function, operand);
        let symbol = self.numbering.operand(function, operand, instruction.block);
        // A shadow stands for its variable in symbol copies.
        let pointer = self
            .table
            .pointer(&self.numbering, facts.points_to, symbol, &targets);
        let varies = self.numbering.varies_in(symbol).is_some();
        let value = varies.then(|| self.table.identity(&self.numbering, symbol, false));
        self.passed.extend(value.map(|value| (value, symbol)));
        self.touched.push(value);
        pointer
    }

    /// Whether destination and source are device memory; `None` where the call leaves it open.
    fn directions(
        &self,
        instruction: &Instruction,
        direction: Direction,
    ) -> (Option<bool>, Option<bool>) {
        match direction {
            Direction::HostToDevice => (Some(true), Some(false)),
            Direction::DeviceToHost => (Some(false), Some(true)),
            Direction::DeviceToDevice => (Some(true), Some(true)),
            Direction::Unknown => (None, None),
            Direction::Argument(position) => match instruction.operands.get(position) {
                Some(HostOperand::Integer { value: 0, .. }) => (Some(false), Some(false)),
                Some(HostOperand::Integer { value: 1, .. }) => (Some(true), Some(false)),
                Some(HostOperand::Integer { value: 2, .. }) => (Some(false), Some(true)),
                Some(HostOperand::Integer { value: 3, .. }) => (Some(true), Some(true)),
                _ => (None, None),
            },
        }
    }

    /// One side of a copy, where it may be memory that kernels see.
    fn touch(
        &mut self,
        function: usize,
        at: usize,
        position: usize,
        on_device: Option<bool>,
        bytes: &Option<Expression<ValueId>>,
    ) -> Vec<Touch> {
        let facts = self.facts;
        let operand = facts.host.functions[function].instructions[at].operands[position];
        let targets = facts.points_to.of(facts.host, function, operand);
        let host_only = !targets.is_empty()
            && targets.iter().all(|target| {
                let object = &facts.points_to.objects[target.object];
                matches!(
                    object.kind,
                    ObjectKind::Stack | ObjectKind::Heap | ObjectKind::Global
                ) && !object.kernel_visible
            });
        let touched = match on_device {
            Some(true) => true,
            Some(false) => facts.points_to.any_kernel_visible(&targets),
            None => !host_only,
        };
        if !touched {
            return Vec::new();
        }
        vec![Touch {
            pointer: self.pointer(function, at, position),
            bytes: bytes.clone(),
        }]
    }

    fn stream(&mut self, function: usize, at: usize, stream: OnStream) -> Stream {
        let OnStream::Argument(position) = stream else {
            return Stream::Default;
        };
        let instruction = &self.facts.host.functions[function].instructions[at];
        let Some(operand) = instruction.operands.get(position).copied() else {
            return Stream::Unknown;
        };
        let symbol = self.numbering.operand(function, operand, instruction.block);
        match self.numbering.literal(symbol) {
            // The legacy and the per-thread stream have handles of their own; which of the
            // two is the default stream is the compiler's option.
            Some(0) => Stream::Default,
            _ => self
                .table
                .lookup(&self.numbering, symbol, false)
                .map_or(Stream::Unknown, Stream::Handle),
        }
    }

    /// Last: what changes with the iterations of loops.
    fn iterations(&mut self, functions: &[Analysed]) {
        let mut blocks = HashMap::new();
        let mut places = Vec::new();
        for analysed in functions {
            blocks.extend(
                analysed
                    .blocks
                    .iter()
                    .map(|(block, id)| ((analysed.function, *block), *id)),
            );
            if let Some((flow, first)) = self.numbering.flows.get(&analysed.function) {
                places.extend((0..flow.loops.len()).map(|local| LoopPosition {
                    index: local + first,
                    function: analysed.function,
                    local,
                }));
            }
        }
        let closing = Closing::new(
            &mut self.numbering,
            &mut self.table,
            self.facts.points_to,
            self.graph.loops.len(),
        );
        let block_of = |function: usize, block: usize| blocks[&(function, block)];
        self.graph.iterations = closing.solve(&places, &block_of, &self.passed);
        self.graph.iterations.touched = std::mem::take(&mut self.moving);
        for (natural, domain) in self
            .graph
            .loops
            .iter_mut()
            .zip(&self.graph.iterations.domains)
        {
            let Some(domain) = domain.as_ref().filter(|domain| domain.exact) else {
                continue;
            };
            let successors = &self.graph.blocks[domain.test.0].successors;
            natural.trip = match domain.passes.as_constant() {
                Some(passes) if successors.contains(&natural.header) => Some(passes + 1),
                Some(passes) if domain.test == natural.header => Some(passes),
                _ => None,
            };
        }
    }

    fn finish(mut self) -> LaunchGraph {
        for (index, buffer) in self.graph.buffers.iter_mut().enumerate() {
            // Every pointer to it was read from the slot that the run in question wrote.
            buffer.unique |= !self.table.inexact.contains(&BufferId(index));
        }
        self.graph.values = self.table.values;
        self.graph
    }
}
