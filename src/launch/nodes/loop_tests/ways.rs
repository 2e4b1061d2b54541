//! The ways that the host takes through an iteration: where it leaves the loop, whether it comes to a block, and what a number
//! is that depends on that.

use super::*;

impl TestReader<'_, '_> {
    /// Where the host leaves the loop at the end of a block, or does not.
    pub(super) fn exit(&mut self, block: usize) -> Found<LoopExit> {
        let host = self.builder.facts.host;
        let body = &host.functions[self.function];
        let last = body.blocks[block].instructions.end - 1;
        let instruction = self.instruction(last);
        if self.flow().innermost[block] != Some(self.local) {
            return self.untold(last, "the host may leave it out of a loop in it");
        }
        let first = self.instruction(self.first).block;
        // In front of the first launch, it is about the next iteration.
        let next = block != first && !self.flow().dominates(first, block);
        let exit = |stays: Option<usize>, blocks: &HashMap<usize, HostBlockId>| LoopExit {
            block: blocks[&block],
            stays,
            of_next: next,
        };
        let successors = body.blocks[block].successors.as_slice();
        let inside = successors
            .iter()
            .map(|to| self.flow().contains(self.local, *to));
        let inside: Vec<bool> = inside.collect();
        match (&instruction.opcode, inside.as_slice()) {
            (Opcode::Call { .. }, [true, _]) => {
                let name = self.builder.callee(instruction).unwrap_or_default();
                let memory = self.builder.facts.memory;
                let conduct =
                    memory.call_conduct(host, self.builder.facts.stubs, self.function, last);
                // An exception that nobody catches in `main` ends the program.
                let catch = self.blocks[&successors[1]];
                let ends = body.name == "main" && self.builder.graph.blocks[catch.0].dead_end;
                match ends || calls::is_cuda(name) || matches!(conduct, Conduct::Outputs) {
                    true => Ok(exit(None, self.blocks)),
                    false => self.untold(last, "an exception may end it"),
                }
            }
            (Opcode::Terminator, [yes, no]) if instruction.operands.len() == 1 => {
                let condition = self.scalar(instruction.operands[0], next, last)?;
                let stays = match (*yes, *no) {
                    (true, false) => condition,
                    (false, true) => self.not(condition, last)?,
                    _ => return self.untold(last, "the host leaves it on two ways at once"),
                };
                // Where the host does not come there, it does not leave there.
                let stays = match self.reached(block, next)? {
                    Some(reached) => {
                        let elsewhere = self.not(reached, last)?;
                        self.bits(ScalarOperation::Or, [elsewhere, stays], last)?
                    }
                    None => stays,
                };
                Ok(exit(Some(stays), self.blocks))
            }
            _ => self.untold(last, "the host leaves it on several ways at once"),
        }
    }

    /// Whether the host comes to a block of an iteration, as far as it does not leave the loop before; `None`: always.
    fn reached(&mut self, block: usize, next: bool) -> Found<Option<usize>> {
        if self.flow().dominates(block, self.latch) {
            return Ok(None);
        }
        if let Some(known) = self.reached.get(&(block, next)) {
            return Ok(Some(*known));
        }
        let body = &self.builder.facts.host.functions[self.function];
        let last = body.blocks[block].instructions.end - 1;
        if self.flow().innermost[block] != Some(self.local) {
            return self.untold(last, "a loop decides where the host goes on");
        }
        let from = self.flow().predecessors[block].clone();
        let mut any = None;
        for from in from {
            let edge = self.edge(from, block, next)?;
            any = Some(match any {
                Some(any) => self.bits(ScalarOperation::Or, [any, edge], last)?,
                None => edge,
            });
        }
        let Some(any) = any else {
            return self.untold(last, "the host comes from nowhere");
        };
        self.reached.insert((block, next), any);
        Ok(Some(any))
    }

    /// Whether the host goes from one block of an iteration to another one.
    fn edge(&mut self, from: usize, to: usize, next: bool) -> Found<usize> {
        let body = &self.builder.facts.host.functions[self.function];
        let last = body.blocks[from].instructions.end - 1;
        let successors = body.blocks[from].successors.as_slice();
        let instruction = self.instruction(last);
        let reached = self.reached(from, next)?;
        let taken = match (&instruction.opcode, successors) {
            (_, [_]) => None,
            (Opcode::Terminator, [yes, no]) if instruction.operands.len() == 1 && yes != no => {
                let condition = self.scalar(instruction.operands[0], next, last)?;
                Some(match *yes == to {
                    true => condition,
                    false => self.not(condition, last)?,
                })
            }
            _ => return self.untold(last, "the host goes on in several ways at once"),
        };
        match (reached, taken) {
            (Some(reached), Some(taken)) => self.bits(ScalarOperation::And, [reached, taken], last),
            (Some(one), None) | (None, Some(one)) => Ok(one),
            (None, None) => self.push(ScalarType::Integer(1), ScalarKind::Literal(1), last),
        }
    }

    fn not(&mut self, scalar: usize, at: usize) -> Found<usize> {
        let one = self.push(ScalarType::Integer(1), ScalarKind::Literal(1), at)?;
        self.bits(ScalarOperation::Xor, [scalar, one], at)
    }

    fn bits(
        &mut self,
        operation: ScalarOperation,
        operands: [usize; 2],
        at: usize,
    ) -> Found<usize> {
        let operands = operands.to_vec();
        let kind = ScalarKind::Computed {
            operation,
            operands,
        };
        self.push(ScalarType::Integer(1), kind, at)
    }

    /// A number that depends on the way by which the host comes to its block.
    pub(super) fn by_way(
        &mut self,
        at: usize,
        (ty, next): (ScalarType, bool),
        incoming: &[(usize, HostOperand)],
    ) -> Found<usize> {
        let block = self.instruction(at).block;
        let is_inside = |from: &usize| self.flow().innermost[*from] == Some(self.local);
        let inside = incoming.iter().all(|(from, _)| is_inside(from)) && is_inside(&block);
        let Some(((_, first), others)) = incoming.split_first().filter(|_| inside) else {
            return self.untold(at, "a number by which the host decides depends on its way");
        };
        let mut value = self.scalar(*first, next, at)?;
        for (from, other) in others {
            let taken = self.edge(*from, block, next)?;
            let other = self.scalar(*other, next, at)?;
            let kind = ScalarKind::Computed {
                operation: ScalarOperation::Select,
                operands: vec![taken, other, value],
            };
            value = self.push(ty, kind, at)?;
        }
        Ok(value)
    }
}
