//! Pointers that the host copies into memory of the device.
//!
//! Invariant: a pointer that some copy of the module brings into an allocation from memory of the host is told,
//! with the place where it then stands; where one may come from elsewhere, nothing is told of the allocation.

use super::*;

/// Pointers by the byte at which they begin.
pub type Stored = BTreeMap<Offset, Targets>;

impl PointsTo {
    /// What is copied into each allocation of the device; `None` where that is not known.
    pub fn copied_to_device(
        &self,
        host: &HostModule,
        stubs: &[String],
    ) -> BTreeMap<usize, Option<Stored>> {
        let mut stored: BTreeMap<usize, Option<Stored>> = BTreeMap::new();
        for (index, function) in host.functions.iter().enumerate() {
            if !is_analysed(function, stubs) {
                continue;
            }
            for instruction in &function.instructions {
                let Opcode::Call {
                    callee: Some(callee),
                    ..
                } = instruction.opcode
                else {
                    continue;
                };
                let runtime = calls::runtime_call(&host.functions[callee].name);
                let Some(Action::Copy {
                    destination,
                    source,
                    ..
                }) = runtime.map(|call| call.action)
                else {
                    continue;
                };
                let source = self.of(host, index, instruction.operands[source]);
                let bytes = match instruction.operands.get(2) {
                    Some(Operand::Integer { value, .. }) => Some(*value),
                    _ => None,
                };
                for to in self.of(host, index, instruction.operands[destination]) {
                    if self.objects[to.object].kind != ObjectKind::Buffer(MemoryKind::Device) {
                        continue;
                    }
                    let known = stored
                        .entry(to.object)
                        .or_insert_with(|| Some(Stored::new()));
                    let whole = known.as_mut().is_some_and(|known| {
                        !source.is_empty()
                            && source
                                .iter()
                                .all(|from| self.add_copied(known, *from, to, bytes))
                    });
                    if !whole {
                        *known = None;
                    }
                }
            }
        }
        stored
    }

    /// Adds the pointers that stand behind `from` in an object of the host, as they stand behind `to` then.
    /// False: others may stand there.
    fn add_copied(
        &self,
        stored: &mut Stored,
        from: Target,
        to: Target,
        bytes: Option<i64>,
    ) -> bool {
        let object = self.merged(from.object);
        if !self.is_own_memory(object) {
            return false;
        }
        for (cell, targets) in &self.contents[object] {
            if targets.is_empty() {
                continue;
            }
            let bytes = bytes.map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
            if !from.offset.meets(bytes, *cell, Some(8)) {
                continue;
            }
            let moved = cell.minus(from.offset).plus(to.offset);
            let targets = targets.iter().map(|target| self.merging.rename(*target));
            stored.entry(moved).or_default().extend(targets);
        }
        true
    }

    /// Memory of the host of which all stores are seen: no other code and no kernel reaches it.
    pub fn is_own_memory(&self, object: usize) -> bool {
        let object = &self.objects[self.merged(object)];
        let is_host = matches!(
            object.kind,
            ObjectKind::Stack
                | ObjectKind::Heap
                | ObjectKind::Global
                | ObjectKind::Buffer(MemoryKind::Pinned)
        );
        is_host && !object.escaped && !object.kernel_visible
    }
}
