//! Tables of pointers: what the host copies into allocations.

use super::*;

/// Functions that pin memory of any other kind.
const PINS: &str = "HostRegister";

impl Builder<'_> {
    /// Fills [`Buffer::stored_pointers`] in, after all buffers are there.
    pub(super) fn stored_pointers(&mut self) {
        // What such functions do is not in the graph.
        if !self.irreducible.is_empty() {
            return;
        }
        let facts = self.facts;
        let copied = facts.points_to.copied_to_device(facts.host, facts.stubs);
        for (object, stored) in copied {
            let (Some(buffer), Some(stored)) = (self.table.buffers.get(&object), stored) else {
                continue;
            };
            let cells = stored.into_iter();
            let cells =
                cells.map(|(at_bytes, targets)| self.table.stored(at_bytes.as_exact(), &targets));
            let cells: Vec<StoredPointer> = cells.collect();
            // A pointer from there is not the one that the allocation gave.
            let led_to = cells
                .iter()
                .flat_map(|cell| cell.may_point_to.iter().flatten());
            self.table.inexact.extend(led_to);
            self.graph.buffers[buffer.0].stored_pointers = Some(cells);
        }
    }

    /// Whether a copy reads memory of the host alone and has read it when it returns: what is not pinned is
    /// staged at the latest, behind all earlier work of the stream.
    pub(super) fn is_read_at_once(
        &self,
        function: usize,
        at: usize,
        source: usize,
        stream: OnStream,
    ) -> bool {
        let facts = self.facts;
        let host = facts.host;
        let operand = host.functions[function].instructions[at].operands[source];
        let targets = facts.points_to.of(host, function, operand);
        let waits = stream == OnStream::Waits;
        let may_be_pinned = |object: usize| {
            let kind = facts.points_to.objects[object].kind;
            let mut names = host.functions.iter().map(|function| &function.name);
            matches!(kind, ObjectKind::Buffer(_)) || names.any(|name| name.contains(PINS))
        };
        !targets.is_empty()
            && targets.iter().all(|target| {
                facts.points_to.is_own_memory(target.object)
                    && (waits || !may_be_pinned(target.object))
            })
    }
}
