//! Calls of CUDA's libraries.

use super::*;
use calls::{DeviceLibraryCall, Extent};

impl Builder<'_> {
    /// What is opaque has no pointer to an allocation that does not escape. Calls that only the nodes take for opaque had
    /// their pointers taken for a known call's, so that here every allocation escapes.
    pub(super) fn unanalysed_readers(&mut self) {
        for buffer in &mut self.graph.buffers {
            buffer.escapes |= self.unanalysed_call;
        }
    }

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
        let of = calls::library_of(name);
        let made_here = host.functions.iter().any(|function| {
            let name = function.name.as_str();
            let makes = [
                "Create_v2",
                "Create",
                "CreateGenerator",
                "CreateGeneratorHost",
            ]
            .iter()
            .any(|end| name.ends_with(end))
                || name.starts_with("cufftPlan");
            makes && function.blocks.is_empty() && calls::library_of(name) == of
        });
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
        let [Some(reads), Some(writes)] = [&library.reads, &library.writes].map(|places| {
            let touched = places
                .iter()
                .map(|(position, extent)| self.library_touches(function, at, *position, *extent));
            touched.collect::<Option<Vec<_>>>()
        }) else {
            self.touched.clear();
            return NodeKind::Opaque {
                what: name.to_owned(),
            };
        };
        // What it writes on the host, the host waits for, and what it may write there it may wait for.
        host_side |= writes.iter().any(|place| place.may_be_host);
        let mut values = std::mem::take(&mut self.touched).into_iter();
        // Descriptors keep the same pointers, and one buffer may be many operands.
        let [reads, writes] = [reads, writes].map(|places| {
            let mut distinct: Vec<Touch> = Vec::new();
            for touch in places.into_iter().flat_map(|place| place.touches) {
                let value = values.next().flatten();
                if !distinct.contains(&touch) {
                    distinct.push(touch);
                    self.touched.push(value);
                }
            }
            distinct
        });
        NodeKind::Library {
            reads,
            writes,
            stream,
            host_side,
            what: name.to_owned(),
        }
    }

    /// What a call touches through an argument; `None` when that cannot be told.
    fn library_touches(
        &mut self,
        function: usize,
        at: usize,
        position: usize,
        extent: Extent,
    ) -> Option<LibraryTouches> {
        let facts = self.facts;
        let host = facts.host;
        let instruction = &host.functions[function].instructions[at];
        let operand = *instruction.operands.get(position)?;
        if operand == HostOperand::Null {
            return Some(LibraryTouches::default());
        }
        let targets = facts.points_to.of(host, function, operand);
        let Extent::Kept(part) = extent else {
            let bytes = self.extent(function, at, extent);
            return Some(LibraryTouches {
                may_be_host: !self.are_on_device(&targets),
                touches: self.touch(function, at, position, None, &bytes),
            });
        };
        let objects = &facts.points_to.objects;
        let is_descriptor =
            |target: &points_to::Target| objects[target.object].kind == ObjectKind::Descriptor;
        if targets.is_empty() || !targets.iter().all(is_descriptor) {
            return None;
        }
        let kept = facts.points_to.kept(&targets, part);
        if kept.is_empty() {
            return Some(LibraryTouches::default());
        }
        let varies_in = self.numbering.loop_of(function, instruction.block);
        let pointers = self.table.kept_pointers(facts.points_to, &kept, varies_in);
        let values = pointers.iter().map(|pointer| match pointer.root {
            Root::Value(value) => varies_in.map(|_| value),
            Root::Buffer(_) => None,
        });
        self.touched.extend(values);
        Some(LibraryTouches {
            may_be_host: !self.are_on_device(&kept),
            touches: pointers
                .into_iter()
                .map(|pointer| Touch {
                    pointer,
                    bytes: None,
                })
                .collect(),
        })
    }

    /// All of the places are device memory.
    fn are_on_device(&self, places: &Targets) -> bool {
        let on_device = |target: &points_to::Target| {
            matches!(
                self.facts.points_to.objects[target.object].kind,
                ObjectKind::Buffer(MemoryKind::Device) | ObjectKind::Variable(_)
            )
        };
        !places.is_empty() && places.iter().all(on_device)
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

/// Memory that a call touches by way of one of its arguments.
#[derive(Default)]
struct LibraryTouches {
    /// On the device's side.
    touches: Vec<Touch>,
    /// Some of it may be the host's.
    may_be_host: bool,
}
