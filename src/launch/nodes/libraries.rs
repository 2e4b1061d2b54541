//! Calls of CUDA's libraries.

use super::*;
use calls::{DeviceLibraryCall, Extent};

impl Builder<'_> {
    /// The node of a library's function that the table has.
    pub(super) fn library_node(
        &mut self,
        function: usize,
        at: usize,
        name: &str,
        library: &DeviceLibraryCall,
    ) -> NodeKind {
        if library.handle_only {
            return NodeKind::ErrorCheck;
        }
        let host = self.facts.host;
        let calls_one = |predicate: fn(&str) -> bool| {
            let mut called = host.functions.iter();
            called.any(|function| function.blocks.is_empty() && predicate(&function.name))
        };
        // A handle that comes from elsewhere, or that code which is not here sees, may have any memory
        // and stream.
        let made_here = calls_one(|name| {
            name.ends_with("Create_v2") || name.ends_with("Create") || name.contains("CreateGen")
        }) || calls_one(|name| name.starts_with("cufftPlan"));
        let known = made_here && self.host_visible_memory == HostVisibleMemory::Nothing;
        if calls_one(calls::hides_memory) || !known && !library.waits {
            return NodeKind::Opaque {
                what: name.to_owned(),
            };
        }
        let stream = if !library.waits && calls_one(calls::sets_stream) {
            Stream::Unknown
        } else {
            Stream::Default
        };
        let mut host_side = library.waits;
        let mut touched = |this: &mut Self, places: &[(usize, Extent)], writes: bool| {
            let mut touches = Vec::new();
            for (position, extent) in places {
                let bytes = this.extent(function, at, *extent);
                let found = this.touch(function, at, *position, None, &bytes);
                // What it writes on the host, the host waits for.
                host_side |= writes && found.is_empty();
                touches.extend(found);
            }
            touches
        };
        let reads = touched(self, &library.reads, false);
        let writes = touched(self, &library.writes, true);
        // A pointer that may lead to host memory too: the result may be the host's.
        let facts = self.facts;
        host_side |= library.writes.iter().any(|(position, _)| {
            let operand = host.functions[function].instructions[at].operands[*position];
            let targets = facts.points_to.of(host, function, operand);
            let on_device = |target: &points_to::Target| {
                matches!(
                    facts.points_to.objects[target.object].kind,
                    ObjectKind::Buffer(MemoryKind::Device) | ObjectKind::Variable(_)
                )
            };
            targets.is_empty() || !targets.iter().all(on_device)
        });
        NodeKind::Library {
            reads,
            writes,
            stream,
            host_side,
            what: name.to_owned(),
        }
    }

    fn extent(
        &mut self,
        function: usize,
        at: usize,
        extent: Extent,
    ) -> Option<Expression<ValueId>> {
        let instruction = &self.facts.host.functions[function].instructions[at];
        let literal = |position: usize| match instruction.operands.get(position) {
            Some(HostOperand::Integer { value, .. }) => Some(*value),
            _ => None,
        };
        let (size, columns) = extent.factors(&literal)?;
        let bytes = self.size(function, at, size)?;
        match columns {
            None => Some(bytes),
            Some(columns) => {
                let columns = self.size(function, at, Size::Argument(columns))?;
                Some(bytes.multiply(columns))
            }
        }
    }
}
