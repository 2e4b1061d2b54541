//! Host code -> [`LoopTest`]: what the host computes of copied numbers to decide whether a loop goes on.
//!
//! The first launch of the loop, or set or copy within the device, is where somebody may run the loop ahead: what the
//! host does in front of it in the next iteration belongs to the test as well, with the numbers that this iteration hands on.

mod ways;

use super::*;
use crate::launch::host_ir::Operation as HostOperation;
use crate::launch::host_reader::exact;
use crate::launch::loop_tests::*;
use crate::launch::values::Definition;

/// Scalars that a test may have.
const MOST_SCALARS: usize = 128;
/// A copy of more bytes brings no number.
const MOST_COPIED_BYTES: i64 = 64;
/// Operations that an operand is followed through.
const DEPTH: usize = 16;
/// Operands of a folded launch in front of the kernel's arguments: its number, the stub, grid x and y, grid z, block x and y,
/// block z, shared bytes and the stream.
const BEFORE_ARGUMENTS: usize = 8;

impl Builder<'_> {
    /// The tests of all loops in which something is launched and copied to the host.
    pub(super) fn loop_tests(&mut self, functions: &[Analysed]) {
        let copies_to_host = |node: &Node| matches!(&node.kind, NodeKind::Copy { host_side: true, writes, .. } if writes.is_empty());
        let copying = self.graph.nodes.iter().filter(|node| copies_to_host(node));
        let loops: BTreeSet<usize> = copying
            .filter_map(|node| self.graph.blocks[node.block.0].innermost_loop)
            .collect();
        for index in loops {
            let header = self.graph.loops[index].header;
            let function = self.graph.blocks[header.0].function;
            let analysed = &functions[function];
            let Some(mut reader) = TestReader::new(self, analysed, index) else {
                continue;
            };
            let found = reader.read();
            self.graph.loop_tests.insert(index, found);
        }
    }
}

/// Reads the test of one loop.
struct TestReader<'a, 'b> {
    builder: &'a mut Builder<'b>,
    function: usize,
    blocks: &'a HashMap<usize, HostBlockId>,
    index: usize,
    /// Among the loops of the function.
    local: usize,
    latch: usize,
    /// The first launch of the loop.
    first: usize,
    /// Nodes of the loop itself with their instructions.
    nodes: Vec<(NodeId, usize)>,
    copied: Vec<usize>,
    scalars: Vec<Scalar>,
    known: HashMap<(usize, bool), usize>,
    carried: Vec<CarriedScalar>,
    /// Phis of the header by instruction.
    phis: HashMap<usize, usize>,
    /// What is loaded that stands in memory from iteration to iteration, by its symbol.
    kept: HashMap<Symbol, usize>,
    /// Scalars that say whether the host comes to a block.
    reached: HashMap<(usize, bool), usize>,
}

type Found<T> = Result<T, Untold>;

impl<'a, 'b> TestReader<'a, 'b> {
    /// `None` where nothing is launched in the loop.
    fn new(builder: &'a mut Builder<'b>, analysed: &'a Analysed, index: usize) -> Option<Self> {
        let function = analysed.function;
        let (flow, first_loop) = builder.numbering.flows.get(&function)?;
        let local = index - first_loop;
        let natural = &flow.loops[local];
        let predecessors = flow.predecessors[natural.header].iter();
        let mut latches = predecessors.filter(|block| natural.blocks.contains(block));
        let (latch, None) = (*latches.next()?, latches.next()) else {
            return None;
        };
        let nodes: Vec<(NodeId, usize)> = (builder.graph.nodes.iter())
            .filter(|node| builder.graph.blocks[node.block.0].innermost_loop == Some(index))
            .map(|node| (node.id, builder.places[node.id.0].1))
            .collect();
        let launched = |node: &NodeId| {
            let is_launch = matches!(builder.graph.nodes[node.0].kind, NodeKind::Launch(_));
            let mut operations = builder.graph.operations.iter();
            is_launch || operations.any(|operation| operation.node == *node)
        };
        let first = nodes.iter().find(|(node, _)| launched(node))?.1;
        Some(Self {
            builder,
            function,
            blocks: &analysed.blocks,
            index,
            local,
            latch,
            first,
            nodes,
            copied: Vec::new(),
            scalars: Vec::new(),
            known: HashMap::new(),
            carried: Vec::new(),
            phis: HashMap::new(),
            kept: HashMap::new(),
            reached: HashMap::new(),
        })
    }

    fn instruction(&self, at: usize) -> &'b Instruction {
        &self.builder.facts.host.functions[self.function].instructions[at]
    }

    fn flow(&self) -> &ControlFlow {
        &self.builder.numbering.flows[&self.function].0
    }

    fn untold<T>(&self, at: usize, why: impl Into<String>) -> Found<T> {
        let location = self.instruction(at).location.clone();
        Err(Untold {
            why: why.into(),
            location,
        })
    }

    fn read(&mut self) -> Found<LoopTest> {
        let mut copies = Vec::new();
        for (node, at) in self.nodes.clone() {
            let kind = &self.builder.graph.nodes[node.0].kind;
            let of_host =
                matches!(kind, NodeKind::Copy { host_side: true, writes, .. } if writes.is_empty());
            if of_host {
                copies.push(self.copy(node, at)?);
                self.copied.push(at);
            }
        }
        let mut arguments = Vec::new();
        for (node, at) in self.nodes.clone() {
            self.operands(node, at, &mut arguments)?;
        }
        let mut exits = Vec::new();
        for block in self.flow().loops[self.local].exits.clone() {
            exits.push(self.exit(block)?);
        }
        Ok(LoopTest {
            host_loop: self.index,
            scalars: std::mem::take(&mut self.scalars),
            carried: std::mem::take(&mut self.carried),
            exits,
            copies,
            arguments,
        })
    }

    fn copy(&self, node: NodeId, at: usize) -> Found<CopyToHost> {
        let NodeKind::Copy { reads, .. } = &self.builder.graph.nodes[node.0].kind else {
            return self.untold(at, "a copy is none");
        };
        let call = self.builder.operations.get(&(self.function, at));
        let bytes = match reads.as_slice() {
            [read] => read.bytes.as_ref().and_then(Expression::as_constant),
            _ => None,
        };
        let bytes = bytes.filter(|bytes| (1..=MOST_COPIED_BYTES).contains(bytes));
        match (call, bytes) {
            (Some((call, _)), Some(bytes)) => Ok(CopyToHost {
                node,
                call: *call,
                bytes: bytes as u32,
            }),
            _ => self.untold(
                at,
                "the host copies more than a few numbers from the device in each iteration",
            ),
        }
    }

    /// Looks at what a launch or a copy to the host takes: it has to be there in front of the first launch, or be a number that
    /// can be computed.
    fn operands(
        &mut self,
        node: NodeId,
        at: usize,
        arguments: &mut Vec<LoopArgument>,
    ) -> Found<()> {
        let is_launch = matches!(self.builder.graph.nodes[node.0].kind, NodeKind::Launch(_));
        let mut operations = self.builder.graph.operations.iter();
        let is_operation = operations.any(|operation| operation.node == node);
        let to_host = self.copied.contains(&at);
        if !is_launch && !is_operation && !to_host {
            return Ok(());
        }
        let instruction = self.instruction(at);
        let Opcode::Call { by_value, .. } = &instruction.opcode else {
            return self.untold(at, "a launch is no call");
        };
        for (position, operand) in instruction.operands.iter().enumerate() {
            // Where a copy goes is known when it is made.
            if to_host && position != 1 {
                continue;
            }
            let in_memory = by_value.iter().any(|(index, _)| *index == position);
            if at != self.first && in_memory {
                return self.untold(at, "a launch takes a structure by value");
            }
            let available = self.available(*operand, DEPTH);
            let argument = position.checked_sub(BEFORE_ARGUMENTS).filter(|_| is_launch);
            let is_number = !in_memory && argument.is_some() && self.is_number(*operand);
            let (function, block) = (self.function, instruction.block);
            let symbol = self.builder.numbering.operand(function, *operand, block);
            let value = match (available, argument.filter(|_| is_number)) {
                (true, Some(_)) if self.varies(symbol) => {
                    let next = self.scalar(*operand, true, at)?;
                    LoopArgumentValue::HandedOn(next)
                }
                (true, _) => continue,
                (false, Some(_)) => LoopArgumentValue::Computed(self.scalar(*operand, false, at)?),
                (false, None) => {
                    let what =
                        "a launch takes what is only known behind the first one of an iteration";
                    return self.untold(at, what);
                }
            };
            arguments.extend(argument.map(|argument| LoopArgument {
                node,
                argument,
                value,
            }));
        }
        if to_host {
            let source = instruction.operands[1];
            let (function, block) = (self.function, instruction.block);
            let symbol = self.builder.numbering.operand(function, source, block);
            if self.varies(symbol) {
                return self.untold(at, "the host copies from another place in each iteration");
            }
        }
        Ok(())
    }

    fn is_number(&self, operand: HostOperand) -> bool {
        match operand {
            HostOperand::Instruction(at) => matches!(
                self.instruction(at).result,
                Type::Integer(_) | Type::Float(32 | 64)
            ),
            _ => false,
        }
    }

    /// Whether a symbol may differ from iteration to iteration.
    fn varies(&self, symbol: Symbol) -> bool {
        let mut at = self.builder.numbering.varies_in(symbol);
        while let Some(index) = at {
            if index == self.index {
                return true;
            }
            at = self.builder.graph.loops[index].parent;
        }
        false
    }

    /// Whether an operand can be computed in front of the first launch: it has been, or it is computed without effect from
    /// what is there, and from variables that do not change in the loop.
    fn available(&mut self, operand: HostOperand, depth: usize) -> bool {
        let HostOperand::Instruction(at) = operand else {
            return true;
        };
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let instruction = self.instruction(at);
        let first = self.instruction(self.first);
        let before = match instruction.block == first.block {
            true => at < self.first,
            false => self.flow().dominates(instruction.block, first.block),
        };
        if before {
            return true;
        }
        let computed = match &instruction.opcode {
            Opcode::Pure { operation, .. } => match operation {
                HostOperation::DivideSigned | HostOperation::DivideUnsigned => matches!(
                    instruction.operands.get(1),
                    Some(HostOperand::Integer { value: 1.., .. })
                ),
                _ => true,
            },
            Opcode::Address { .. } | Opcode::Extract { .. } | Opcode::Freeze => true,
            Opcode::Load { ordered: false } => {
                let is_variable = match instruction.operands[0] {
                    HostOperand::Instruction(slot) => {
                        matches!(self.instruction(slot).opcode, Opcode::Alloca { .. })
                    }
                    HostOperand::Global(_, 0) => true,
                    _ => false,
                };
                let symbol =
                    self.builder
                        .numbering
                        .operand(self.function, operand, instruction.block);
                is_variable && (!self.varies(symbol) || self.stands_at_first(at, symbol))
            }
            _ => false,
        };
        let mut operands = instruction.operands.iter();
        computed && operands.all(|operand| self.available(*operand, depth))
    }

    /// Whether what a load sees stands there in front of the first launch already.
    fn stands_at_first(&mut self, load: usize, symbol: Symbol) -> bool {
        let facts = self.builder.facts;
        let instruction = self.instruction(load);
        let place = instruction.operands[0];
        let targets = facts.points_to.of(facts.host, self.function, place);
        if facts.points_to.any_kernel_visible(&targets) {
            return false;
        }
        let (function, bytes) = (self.function, instruction.result.bytes());
        let numbering = &mut self.builder.numbering;
        let address = numbering.operand(function, place, instruction.block);
        numbering.load_before(function, self.first, address, &targets, bytes) == symbol
    }

    fn push(&mut self, ty: ScalarType, kind: ScalarKind, at: usize) -> Found<usize> {
        if self.scalars.len() >= MOST_SCALARS {
            return self.untold(at, "the host computes much to decide whether to go on");
        }
        self.scalars.push(Scalar { ty, kind });
        Ok(self.scalars.len() - 1)
    }

    /// A value of this iteration, or with `next` of the next one, in front of the first launch.
    fn scalar(&mut self, operand: HostOperand, next: bool, user: usize) -> Found<usize> {
        match operand {
            HostOperand::Integer { bits, value } => {
                let bits_of = value.cast_unsigned() & (u64::MAX >> (64 - bits.clamp(1, 64)));
                self.push(
                    ScalarType::Integer(bits),
                    ScalarKind::Literal(bits_of),
                    user,
                )
            }
            HostOperand::Float { bits, pattern } => {
                let ty = self.type_of(&Type::Float(bits), user)?;
                self.push(ty, ScalarKind::Literal(pattern), user)
            }
            HostOperand::Parameter(index) => {
                let ty = &self.builder.facts.host.functions[self.function].parameters[index];
                let ty = self.type_of(ty, user)?;
                let place = HostPlace::Parameter(index);
                self.push(ty, ScalarKind::Host(place), user)
            }
            HostOperand::Instruction(at) => {
                if let Some(known) = self.known.get(&(at, next)) {
                    return Ok(*known);
                }
                let scalar = self.value(at, next)?;
                self.known.insert((at, next), scalar);
                Ok(scalar)
            }
            _ => self.untold(user, "the host decides by more than numbers"),
        }
    }

    fn type_of(&self, ty: &Type, at: usize) -> Found<ScalarType> {
        match ty {
            Type::Integer(bits) if (1..=64).contains(bits) => Ok(ScalarType::Integer(*bits)),
            Type::Float(32) if self.builder.graph.flushes_denormals => self.untold(
                at,
                "the host computes with `float`, of which the device flushes small numbers to zero",
            ),
            Type::Float(bits @ (32 | 64)) => Ok(ScalarType::Float(*bits == 64)),
            _ => self.untold(at, "the host decides by more than numbers of up to 64 bits"),
        }
    }

    fn place(&self, at: usize) -> HostPlace {
        let block = self.instruction(at).block;
        let host = self.builder.facts.host;
        let start = host.functions[self.function].blocks[block]
            .instructions
            .start;
        HostPlace::Instruction {
            block,
            index: at - start,
        }
    }

    fn value(&mut self, at: usize, next: bool) -> Found<usize> {
        let instruction = self.instruction(at);
        if instruction.fast_math {
            return self.untold(at, "the host computes with `-ffast-math`");
        }
        if let Opcode::Call { .. } = instruction.opcode {
            return self.called(at, next);
        }
        let ty = self.type_of(&instruction.result, at)?;
        let operand = HostOperand::Instruction(at);
        let symbol = self
            .builder
            .numbering
            .operand(self.function, operand, instruction.block);
        if !self.varies(symbol) && self.available(operand, DEPTH) {
            return self.push(ty, ScalarKind::Host(self.place(at)), at);
        }
        let header = self.flow().loops[self.local].header;
        match &instruction.opcode {
            Opcode::Phi { blocks } if instruction.block == header => {
                let mut incoming = blocks.iter().zip(&instruction.operands);
                let from_latch = incoming.find(|(from, _)| **from == self.latch);
                let Some((_, from_latch)) = from_latch else {
                    return self.untold(at, "a number comes from elsewhere");
                };
                if next {
                    return self.scalar(*from_latch, false, at);
                }
                let number = self.carry(at, ty, *from_latch)?;
                self.push(ty, ScalarKind::Carried(number), at)
            }
            Opcode::Phi { .. } if instruction.operands.len() == 1 => {
                self.scalar(instruction.operands[0], next, at)
            }
            Opcode::Phi { blocks } => {
                let incoming: Vec<(usize, HostOperand)> = blocks
                    .iter()
                    .copied()
                    .zip(instruction.operands.iter().copied())
                    .collect();
                self.by_way(at, (ty, next), &incoming)
            }
            Opcode::Freeze => self.scalar(instruction.operands[0], next, at),
            Opcode::Load { ordered: false } => self.loaded(at, symbol, (ty, next)),
            Opcode::Pure { operation, .. } => {
                let Some(operation) = exact(*operation) else {
                    return self
                        .untold(at, "the host computes what a device may compute otherwise");
                };
                self.computed(at, operation, next)
            }
            _ => self.untold(at, "the host decides by what is no number that it copied"),
        }
    }

    fn computed(&mut self, at: usize, operation: ScalarOperation, next: bool) -> Found<usize> {
        let instruction = self.instruction(at);
        let ty = self.type_of(&instruction.result, at)?;
        let count = instruction.operands.len();
        let taken = instruction.operands.iter().take(match operation {
            ScalarOperation::FloatAbsolute | ScalarOperation::SquareRoot => 1,
            _ => count,
        });
        let operands = taken.map(|operand| self.scalar(*operand, next, at));
        let operands = operands.collect::<Found<Vec<usize>>>()?;
        let kind = ScalarKind::Computed {
            operation,
            operands,
        };
        self.push(ty, kind, at)
    }

    fn carry(&mut self, phi: usize, ty: ScalarType, from_latch: HostOperand) -> Found<usize> {
        if let Some(known) = self.phis.get(&phi) {
            return Ok(*known);
        }
        let number = self.carried.len();
        self.phis.insert(phi, number);
        self.carried.push(CarriedScalar {
            now: self.place(phi),
            next: usize::MAX,
            ty,
        });
        self.carried[number].next = self.scalar(from_latch, false, phi)?;
        Ok(number)
    }

    /// What a load sees that a copy of this iteration brought. In front of the first launch of the next iteration memory is as
    /// it is at the end of this one.
    fn loaded(
        &mut self,
        at: usize,
        symbol: Symbol,
        (ty, next): (ScalarType, bool),
    ) -> Found<usize> {
        let definition = self.builder.numbering.definition(symbol).clone();
        let Definition::Load {
            address,
            bytes,
            version,
        } = definition
        else {
            return self.untold(at, "a number by which the host decides is kept in memory");
        };
        let header = self.flow().loops[self.local].header;
        let writer = match self.builder.numbering.definition(version).clone() {
            Definition::WriteVersion(function, writer) if function == self.function => writer,
            Definition::JoinVersion(function, block)
                if next && function == self.function && block == header =>
            {
                let (numbering, latch) = (&mut self.builder.numbering, self.latch);
                return match numbering.load_at_end(function, latch, address, bytes) {
                    Some(symbol) => self.loaded(at, symbol, (ty, false)),
                    None => self.untold(at, "it is not clear what the host reads there"),
                };
            }
            Definition::JoinVersion(function, block)
                if function == self.function && block == header =>
            {
                return self.kept_in_memory(at, symbol, (ty, address, bytes));
            }
            _ => return self.untold(at, "it is not clear what the host reads there"),
        };
        let Some(copy) = self.copied.iter().position(|copied| *copied == writer) else {
            return match self.awaited(at, writer, address, bytes) {
                Some(symbol) => self.loaded(at, symbol, (ty, false)),
                None => self.untold(at, "the host reads what no copy of this iteration brought"),
            };
        };
        let call = self.instruction(writer);
        let (target, block) = (call.operands[0], call.block);
        let target = self.builder.numbering.operand(self.function, target, block);
        let distance = self.builder.numbering.distance(target, address);
        let copied = match call.operands.get(2) {
            Some(HostOperand::Integer { value, .. }) => *value,
            _ => 0,
        };
        match distance {
            Some(offset) if offset >= 0 && offset + bytes as i64 <= copied => {
                let kind = ScalarKind::Copied {
                    copy,
                    offset_bytes: offset as u32,
                };
                self.push(ty, kind, at)
            }
            _ => self.untold(at, "it is not clear what the host reads there"),
        }
    }

    /// What stands in memory from iteration to iteration.
    fn kept_in_memory(
        &mut self,
        at: usize,
        symbol: Symbol,
        (ty, address, bytes): (ScalarType, Symbol, u64),
    ) -> Found<usize> {
        let number = match self.kept.get(&symbol) {
            Some(number) => *number,
            None => {
                if !self.available(HostOperand::Instruction(at), DEPTH) {
                    return self.untold(at, "it is not clear what the host reads there");
                }
                let number = self.carried.len();
                self.kept.insert(symbol, number);
                self.carried.push(CarriedScalar {
                    now: self.place(at),
                    next: usize::MAX,
                    ty,
                });
                let (numbering, latch) = (&mut self.builder.numbering, self.latch);
                let end = numbering.load_at_end(self.function, latch, address, bytes);
                let Some(end) = end else {
                    return self.untold(at, "it is not clear what the host reads there");
                };
                self.carried[number].next = self.loaded(at, end, (ty, false))?;
                number
            }
        };
        match self.carried[number].ty == ty {
            true => self.push(ty, ScalarKind::Carried(number), at),
            false => self.untold(at, "it is not clear what the host reads there"),
        }
    }

    /// What stands at an address in front of a wait of the loop, which lets copies arrive that were made before.
    fn awaited(&mut self, load: usize, wait: usize, address: Symbol, bytes: u64) -> Option<Symbol> {
        let waits = |(node, at): &(NodeId, usize)| {
            let kind = &self.builder.graph.nodes[node.0].kind;
            *at == wait
                && matches!(
                    kind,
                    NodeKind::Synchronise(Awaited::Device | Awaited::Stream(_))
                )
        };
        self.nodes.iter().find(|each| waits(each))?;
        let facts = self.builder.facts;
        let place = self.instruction(load).operands[0];
        let targets = facts.points_to.of(facts.host, self.function, place);
        let numbering = &mut self.builder.numbering;
        Some(numbering.load_before(self.function, wait, address, &targets, bytes))
    }

    /// What a call yields: statuses of what succeeds, and functions that give the same bits everywhere.
    fn called(&mut self, at: usize, next: bool) -> Found<usize> {
        let instruction = self.instruction(at);
        let name = self.builder.callee(instruction).unwrap_or_default();
        let succeeds = self.nodes.iter().any(|(node, own)| {
            let kind = &self.builder.graph.nodes[node.0].kind;
            *own == at
                && matches!(
                    kind,
                    NodeKind::Launch(_)
                        | NodeKind::Copy { .. }
                        | NodeKind::Set { .. }
                        | NodeKind::Synchronise(Awaited::Device | Awaited::Stream(_))
                )
        });
        if succeeds || ["cudaGetLastError", "cudaPeekAtLastError"].contains(&name) {
            return self.push(ScalarType::Integer(32), ScalarKind::Literal(0), at);
        }
        match name {
            "fabs" | "fabsf" | "llvm.fabs.f32" | "llvm.fabs.f64" => {
                self.computed(at, ScalarOperation::FloatAbsolute, next)
            }
            "sqrt" | "sqrtf" | "llvm.sqrt.f32" | "llvm.sqrt.f64" => {
                self.computed(at, ScalarOperation::SquareRoot, next)
            }
            "llvm.fmuladd.f32" | "llvm.fmuladd.f64" => self.product_and_sum(at, next),
            _ => self.untold(
                at,
                format!("the host decides by a result of `{}`", source_name(name)),
            ),
        }
    }

    /// A product that is added, each rounded by itself unless the host has an instruction for both.
    fn product_and_sum(&mut self, at: usize, next: bool) -> Found<usize> {
        let instruction = self.instruction(at);
        if self.builder.facts.host.functions[self.function].fuses_products {
            return self.untold(at, "the host rounds a product and a sum at once");
        }
        let ty = self.type_of(&instruction.result, at)?;
        let operands = instruction.operands.iter();
        let operands = operands.map(|operand| self.scalar(*operand, next, at));
        let operands = operands.collect::<Found<Vec<usize>>>()?;
        let [left, right, more] = operands[..] else {
            return self.untold(at, "the host computes what a device may compute otherwise");
        };
        let product = ScalarKind::Computed {
            operation: ScalarOperation::FloatMultiply,
            operands: vec![left, right],
        };
        let product = self.push(ty, product, at)?;
        let sum = ScalarKind::Computed {
            operation: ScalarOperation::FloatAdd,
            operands: vec![product, more],
        };
        self.push(ty, sum, at)
    }
}
