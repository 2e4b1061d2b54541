//! Allocations of which the graph shows all that the program does with them.

use super::*;
use crate::program::operation_call;

/// The call that a program may be given memory by later than it asks.
const PLAIN_ALLOCATION: &str = "cudaMalloc";

/// What gives such memory back.
const PLAIN_FREE: &str = "cudaFree";

impl Builder<'_> {
    /// Fills [`Buffer::plain_call`] in, after all nodes are there.
    pub(super) fn plain_allocations(&mut self) {
        let host = self.facts.host;
        let in_graph: BTreeSet<usize> = self.graph.operations.iter().map(|of| of.ordinal).collect();
        let (mut operations, mut allocations) = (0, 0);
        let mut made = Vec::new();
        let mut told: BTreeSet<usize> = BTreeSet::new();
        for (index, function) in host.functions.iter().enumerate() {
            for (at, instruction) in function.instructions.iter().enumerate() {
                let Some(name) = self.callee(instruction) else {
                    continue;
                };
                if name == PLAIN_ALLOCATION {
                    let object = self.facts.points_to.object_of_site(index, at);
                    made.extend(object.map(|object| (object, allocations)));
                    allocations += 1;
                    continue;
                }
                let is_operation = operation_call(name).is_some();
                let is_shown = name == PLAIN_FREE
                    || name.starts_with(calls::FOLDED_LAUNCH)
                    || is_operation && in_graph.contains(&operations);
                operations += usize::from(is_operation);
                // A question about a pointer, or a copy in rows, is no node that names what it is about.
                if !is_shown && (calls::is_cuda(name) || calls::is_device_library(name)) {
                    for operand in &instruction.operands {
                        let targets = self.facts.points_to.of(host, index, *operand);
                        told.extend(targets.iter().map(|target| target.object));
                    }
                }
            }
        }
        for (object, ordinal) in made {
            if let Some(buffer) = self.table.buffers.get(&object)
                && !told.contains(&object)
            {
                self.graph.buffers[buffer.0].plain_call = Some(ordinal);
            }
        }
    }
}
