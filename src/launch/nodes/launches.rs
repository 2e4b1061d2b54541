//! Launches: their shapes, arguments and places.

use super::*;
use crate::launch::values::Definition;

impl Builder<'_> {
    /// What a call through a pointer is: a launch, where a configuration has just been pushed.
    pub(super) fn call_through_pointer(&self, function: usize, at: usize) -> String {
        let body = &self.facts.host.functions[function];
        let block = body.instructions[at].block;
        let last_call = |block: usize, before: usize| {
            let range = body.blocks[block].instructions.clone();
            let mut calls = range.rev().skip_while(|index| *index >= before);
            calls.find_map(|index| match &body.instructions[index].opcode {
                Opcode::Call { .. } => Some(self.callee(&body.instructions[index])),
                _ => None,
            })
        };
        let mut before = (0..body.blocks.len())
            .filter(|from| body.blocks[*from].successors.contains(&block))
            .peekable();
        let pushed = Some(Some("__cudaPushCallConfiguration"));
        let is_launch = before.peek().is_some()
            && match last_call(block, at) {
                None => before.all(|from| last_call(from, usize::MAX) == pushed),
                call => call == pushed,
            };
        match is_launch {
            true => "a launch of a kernel that only a pointer names",
            false => "a call through a pointer",
        }
        .to_owned()
    }

    /// First pass: all launches give their operands numbers, so that every other value can be
    /// expressed by them.
    pub(super) fn launch_operands(&mut self, functions: &[Analysed]) {
        let host = self.facts.host;
        for analysed in functions {
            if self.irreducible.contains(&analysed.function) {
                continue;
            }
            for block in &analysed.order {
                for at in host.functions[analysed.function].blocks[*block]
                    .instructions
                    .clone()
                {
                    let instruction = &host.functions[analysed.function].instructions[at];
                    let folded = self
                        .callee(instruction)
                        .is_some_and(|name| name.starts_with(calls::FOLDED_LAUNCH));
                    if folded && let Some(pending) = self.launch(analysed.function, at) {
                        self.launches.insert((analysed.function, at), pending);
                    }
                }
            }
        }
    }

    pub(super) fn launch(&mut self, function: usize, at: usize) -> Option<PendingLaunch> {
        let host = self.facts.host;
        let instruction = &host.functions[function].instructions[at];
        let Opcode::Call {
            callee: Some(callee),
            by_value,
            structs,
            ..
        } = &instruction.opcode
        else {
            return None;
        };
        if instruction.operands.len() < calls::FOLDED_LAUNCH_HEAD {
            return None;
        }
        let HostOperand::Integer { value: site, .. } = instruction.operands[0] else {
            return None;
        };
        let id = LaunchId(u32::try_from(site).ok()?);
        let kernel = match instruction.operands[1] {
            HostOperand::Function(stub) => self
                .kernels
                .get(host.functions[stub].name.as_str())
                .copied(),
            _ => None,
        };
        let symbols: Vec<Symbol> = instruction
            .operands
            .iter()
            .map(|operand| {
                self.numbering
                    .operand(function, *operand, instruction.block)
            })
            .collect();
        let mut extents = |xy: Symbol, z: Symbol, axis: fn(u8) -> Operand| {
            let parts = [self.numbering.low(xy), self.numbering.high(xy), z];
            let mut index = 0;
            parts.map(|part| {
                index += 1;
                let holder = (id, axis(index - 1));
                self.table.register(&self.numbering, part, 32, true, holder)
            })
        };
        let grid = extents(symbols[2], symbols[3], Operand::Grid);
        let block = extents(symbols[4], symbols[5], Operand::Block);
        let shared_bytes = self.table.register(
            &self.numbering,
            symbols[6],
            64,
            false,
            (id, Operand::SharedBytes),
        );
        let stream = match self.numbering.literal(symbols[7]) {
            // The legacy and the per-thread stream have handles of their own; which of the
            // two is the default stream is the compiler's option.
            Some(0) => Stream::Default,
            _ => {
                let holder = (id, Operand::Stream);
                let stream = self
                    .table
                    .register(&self.numbering, symbols[7], 64, false, holder);
                if self.is_made_stream(symbols[7]) {
                    self.graph.made_streams.insert(stream);
                }
                Stream::Handle(stream)
            }
        };
        let mut arguments = Vec::new();
        let mut pointers = Vec::new();
        for (position, passed) in symbols
            .iter()
            .copied()
            .enumerate()
            .skip(calls::FOLDED_LAUNCH_HEAD)
        {
            let argument = position - calls::FOLDED_LAUNCH_HEAD;
            let targets = self
                .facts
                .points_to
                .of(host, function, instruction.operands[position]);
            let mut found: Vec<(u64, u32, bool, Symbol, Targets)> = Vec::new();
            let at_position = |list: &Vec<(usize, Vec<Field>)>| {
                list.iter()
                    .find(|(index, _)| *index == position)
                    .map(|(_, fields)| fields.clone())
            };
            let in_memory = at_position(by_value);
            let in_registers = at_position(structs);
            let whole = in_memory.is_none() && in_registers.is_none();
            if whole {
                let ty = host.functions[*callee].parameters.get(position);
                if let Some(bits) = ty.and_then(Type::scalar_bits) {
                    // A `bool` travels in a byte.
                    let bits = bits.next_multiple_of(8);
                    found.push((0, bits, ty == Some(&Type::Pointer), passed, targets.clone()));
                }
            }
            let scalar = |field: &Field| field.ty.scalar_bits().filter(|bits| bits % 8 == 0);
            for field in in_registers.unwrap_or_default() {
                let Some(bits) = scalar(&field) else { continue };
                let symbol = self.numbering.field(
                    function,
                    instruction.operands[position],
                    instruction.block,
                    &field.path,
                    Some((field.offset, field.ty.bytes())),
                );
                found.push((
                    field.offset,
                    bits,
                    field.ty == Type::Pointer,
                    symbol,
                    targets.clone(),
                ));
            }
            for field in in_memory.unwrap_or_default() {
                let Some(bits) = scalar(&field) else { continue };
                if self.facts.points_to.any_kernel_visible(&targets) {
                    continue;
                }
                let distance = i64::try_from(field.offset).ok()?;
                let address = self.numbering.offset(passed, distance);
                let place = moved(&targets, distance);
                let symbol =
                    self.numbering
                        .load_before(function, at, address, &place, field.ty.bytes());
                let pointed = self.facts.points_to.read(&place, field.ty.bytes());
                found.push((
                    field.offset,
                    bits,
                    field.ty == Type::Pointer,
                    symbol,
                    pointed,
                ));
            }
            let mut pieces = Vec::new();
            for (offset, bits, is_pointer, symbol, targets) in found {
                let offset_bytes = u32::try_from(offset).ok()?;
                let operand = Operand::Argument {
                    argument,
                    offset_bytes,
                    bits,
                    signed: true,
                };
                let value =
                    self.table
                        .register(&self.numbering, symbol, bits, false, (id, operand));
                if is_pointer || (bits == 64 && !targets.is_empty()) {
                    self.table.register_base(&self.numbering, symbol, value);
                    pointers.push((argument, pieces.len(), symbol, targets));
                }
                pieces.push(ArgumentPiece {
                    offset_bytes,
                    bits,
                    value,
                    pointer: None,
                });
            }
            let identity = match &pieces[..] {
                [piece] if whole => Some(piece.value),
                _ => None,
            };
            arguments.push(Argument { pieces, identity });
        }
        let launch = Launch {
            id,
            kernel,
            grid,
            block,
            shared_bytes,
            stream,
            arguments,
            special: false,
        };
        Some(PendingLaunch { launch, pointers })
    }

    /// Whether a handle was written by the call that makes its stream.
    fn is_made_stream(&self, handle: Symbol) -> bool {
        let Definition::Load { version, .. } = self.numbering.definition(handle) else {
            return false;
        };
        let Definition::WriteVersion(function, at) = self.numbering.definition(*version) else {
            return false;
        };
        let host = self.facts.host;
        self.callee(&host.functions[*function].instructions[*at])
            .is_some_and(|name| {
                name.starts_with("cudaStreamCreate") || name.starts_with("cuStreamCreate")
            })
    }
}
