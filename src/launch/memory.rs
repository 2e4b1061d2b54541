//! What each host instruction may write in host memory, and what calls of host functions amount to.
//!
//! Invariant: a byte of host memory that changes while an instruction runs is covered by
//! [`HostMemory::writes`] of it, unless a kernel changed it (such memory is
//! [`super::points_to::Object::kernel_visible`]).

use super::calls::{self, Action, RuntimeCall};
use super::host_ir::{HostModule, Opcode, Operand, Type};
use super::points_to::{PointsTo, Targets, is_analysed};
use std::collections::BTreeSet;

/// Ranges that an instruction may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// Where, and how many bytes from there (`None`: any number).
    pub places: BTreeSet<(Targets, Option<u64>)>,
    /// Everything that escaped too.
    pub escaped: bool,
}

impl Writes {
    /// No write at all.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && !self.escaped
    }
}

/// What a call of a host function amounts to for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conduct {
    /// Computes on host memory; nothing that a node would stand for.
    Computes,
    /// Computes, and throws where memory is short or a length is wrong.
    Throws,
    /// Besides asks the runtime for errors and the like.
    Checks,
    /// Anything else.
    Acts,
}

impl Conduct {
    fn and(self, other: Self) -> Self {
        match (self.min(other), self.max(other)) {
            (Self::Throws, Self::Checks) => Self::Acts,
            (_, more) => more,
        }
    }
}

/// Effects of all host functions.
#[derive(Debug)]
pub struct HostMemory {
    summaries: Vec<Writes>,
    conducts: Vec<Conduct>,
    callbacks: Writes,
    asynchronous: Writes,
}

impl HostMemory {
    /// Sums up every function of `host`.
    pub fn new(host: &HostModule, points_to: &PointsTo, stubs: &[String]) -> Self {
        let mut memory = Self {
            summaries: vec![Writes::default(); host.functions.len()],
            conducts: vec![Conduct::Computes; host.functions.len()],
            callbacks: Writes::default(),
            asynchronous: Writes::default(),
        };
        memory.asynchronous = asynchronous_writes(host, points_to, stubs);
        loop {
            let before = (
                memory.summaries.clone(),
                memory.conducts.clone(),
                memory.callbacks.clone(),
            );
            for (index, function) in host.functions.iter().enumerate() {
                if !is_analysed(function, stubs) {
                    memory.conducts[index] = Conduct::Acts;
                    continue;
                }
                for at in 0..function.instructions.len() {
                    let writes = memory.writes(host, points_to, stubs, index, at);
                    let conduct = memory.conduct(host, points_to, stubs, index, at);
                    memory.summaries[index].places.extend(writes.places);
                    memory.summaries[index].escaped |= writes.escaped;
                    memory.conducts[index] = memory.conducts[index].and(conduct);
                }
                if (!function.internal && function.name != "main") || function.address_taken {
                    let summary = memory.summaries[index].clone();
                    memory.callbacks.places.extend(summary.places);
                }
            }
            if before
                == (
                    memory.summaries.clone(),
                    memory.conducts.clone(),
                    memory.callbacks.clone(),
                )
            {
                return memory;
            }
        }
    }

    /// What instruction `at` of function `function` may write.
    pub fn writes(
        &self,
        host: &HostModule,
        points_to: &PointsTo,
        stubs: &[String],
        function: usize,
        at: usize,
    ) -> Writes {
        let instruction = &host.functions[function].instructions[at];
        let targets = |position: usize| {
            let operand = instruction
                .operands
                .get(position)
                .copied()
                .unwrap_or(Operand::Undefined);
            points_to.of(host, function, operand)
        };
        let mut writes = Writes::default();
        match &instruction.opcode {
            Opcode::Store { stored, .. } => {
                writes.places.insert((targets(1), Some(stored.bytes())));
            }
            Opcode::Atomic | Opcode::Other => writes = self.unknown_call(),
            Opcode::Call {
                callee: Some(callee),
                effects,
                ..
            } => {
                let called = &host.functions[*callee];
                if called.name.starts_with(calls::FOLDED_LAUNCH) {
                    return writes;
                }
                if let Some(runtime) = calls::runtime_call(&called.name) {
                    return self.runtime_writes(
                        &runtime,
                        instruction.operands.as_slice(),
                        &targets,
                    );
                }
                if let Some(library) = calls::device_library_call(&called.name) {
                    let outputs = library.outputs.iter();
                    let outputs = outputs.map(|(output, bytes)| (*output, Some(*bytes)));
                    let results = library.writes.iter().map(|(result, _)| (*result, None));
                    for (position, bytes) in outputs.chain(results) {
                        let place = targets(position);
                        if !place.is_empty() {
                            writes.places.insert((place, bytes));
                        }
                    }
                    return writes;
                }
                if let Some(library) = calls::library_call(&called.name) {
                    let length = match instruction.operands.get(2) {
                        Some(Operand::Integer { value, .. }) if is_memory_fill(&called.name) => {
                            u64::try_from(*value).ok()
                        }
                        _ => None,
                    };
                    let all = library.writes.iter().copied();
                    let from = library.writes_from.unwrap_or(usize::MAX);
                    for position in all.chain(from..instruction.operands.len()) {
                        let place = targets(position);
                        if !place.is_empty() || length.is_some() {
                            writes.places.insert((place, length));
                        }
                    }
                    return writes;
                }
                if is_analysed(called, stubs) {
                    return self.summaries[*callee].clone();
                }
                if effects.writes_elsewhere {
                    // It may reach its arguments even where those never escape otherwise.
                    writes = self.unknown_call();
                }
                if effects.writes_arguments || effects.writes_elsewhere {
                    for position in 0..instruction.operands.len() {
                        let place = targets(position);
                        if !place.is_empty() {
                            writes.places.insert((place, None));
                        }
                    }
                }
            }
            Opcode::Call { effects, .. }
                if effects.writes_elsewhere || effects.writes_arguments =>
            {
                writes = self.unknown_call();
            }
            _ => {}
        }
        writes
    }

    /// What instruction `at` amounts to, in a function that is called.
    fn conduct(
        &self,
        host: &HostModule,
        points_to: &PointsTo,
        stubs: &[String],
        function: usize,
        at: usize,
    ) -> Conduct {
        let instruction = &host.functions[function].instructions[at];
        match &instruction.opcode {
            Opcode::Load { ordered } => {
                let place = points_to.of(host, function, instruction.operands[0]);
                if *ordered || points_to.any_kernel_visible(&place) {
                    Conduct::Acts
                } else {
                    Conduct::Computes
                }
            }
            Opcode::Store { ordered, .. } => {
                let place = points_to.of(host, function, instruction.operands[1]);
                if *ordered || points_to.any_kernel_visible(&place) {
                    Conduct::Acts
                } else {
                    Conduct::Computes
                }
            }
            Opcode::Atomic => Conduct::Acts,
            Opcode::Call { .. } => {
                if self.touches_kernel_visible(host, points_to, function, at) {
                    return Conduct::Acts;
                }
                self.call_conduct(host, stubs, function, at)
            }
            _ => Conduct::Computes,
        }
    }

    /// What a call amounts to; calls of the runtime that are more than questions act.
    pub fn call_conduct(
        &self,
        host: &HostModule,
        stubs: &[String],
        function: usize,
        at: usize,
    ) -> Conduct {
        let Opcode::Call {
            callee, effects, ..
        } = &host.functions[function].instructions[at].opcode
        else {
            return Conduct::Computes;
        };
        let quiet = !effects.writes_elsewhere && effects.no_unwind && effects.will_return;
        let by_attributes = if quiet {
            Conduct::Computes
        } else {
            Conduct::Acts
        };
        let Some(callee) = *callee else {
            return by_attributes;
        };
        let called = &host.functions[callee];
        if let Some(runtime) = calls::runtime_call(&called.name) {
            return if runtime.action == Action::Check {
                Conduct::Checks
            } else {
                Conduct::Acts
            };
        }
        if calls::device_library_call(&called.name).is_some_and(|library| library.handle_only) {
            return Conduct::Checks;
        }
        if calls::is_cuda(&called.name) || calls::is_device_library(&called.name) {
            return Conduct::Acts;
        }
        if let Some(library) = calls::library_call(&called.name) {
            return match (library.fence, library.throws) {
                (true, _) => Conduct::Acts,
                (_, true) => Conduct::Throws,
                _ => Conduct::Computes,
            };
        }
        if is_analysed(called, stubs) {
            return self.conducts[callee];
        }
        if !called.blocks.is_empty() {
            // A kernel's stub, called directly: a launch that was not folded.
            return Conduct::Acts;
        }
        if called.name.starts_with("llvm.") {
            Conduct::Computes
        } else {
            by_attributes
        }
    }

    /// A library call that reads or writes, through a pointer, memory that a kernel may see.
    pub fn touches_kernel_visible(
        &self,
        host: &HostModule,
        points_to: &PointsTo,
        function: usize,
        at: usize,
    ) -> bool {
        let instruction = &host.functions[function].instructions[at];
        let Opcode::Call {
            callee: Some(callee),
            ..
        } = &instruction.opcode
        else {
            return false;
        };
        let name = host.functions[*callee].name.as_str();
        if calls::is_cuda(name) || !host.functions[*callee].blocks.is_empty() {
            return false;
        }
        let unrelated = ["llvm.lifetime.", "llvm.dbg.", "llvm.assume"];
        if unrelated.iter().any(|start| name.starts_with(start)) {
            return false;
        }
        instruction
            .operands
            .iter()
            .any(|operand| points_to.any_kernel_visible(&points_to.of(host, function, *operand)))
    }

    fn unknown_call(&self) -> Writes {
        Writes {
            places: self.callbacks.places.clone(),
            escaped: true,
        }
    }

    fn runtime_writes(
        &self,
        runtime: &RuntimeCall,
        operands: &[Operand],
        targets: &dyn Fn(usize) -> Targets,
    ) -> Writes {
        let mut writes = Writes::default();
        for (output, bytes) in runtime.outputs {
            writes
                .places
                .insert((targets(*output), (*bytes > 0).then_some(*bytes)));
        }
        match runtime.action {
            Action::Allocate { slot, .. }
            | Action::SymbolAddress { slot, .. }
            | Action::DeviceAddress { slot, .. }
            | Action::Handle { slot, .. } => {
                writes.places.insert((targets(slot), Some(8)));
            }
            // A copy to the device changes no host memory but what kernels see as well.
            Action::Copy {
                direction: calls::Direction::DeviceToDevice | calls::Direction::HostToDevice,
                ..
            } => {}
            Action::Copy {
                direction: calls::Direction::Argument(kind),
                ..
            } if matches!(
                operands.get(kind),
                Some(Operand::Integer { value: 1 | 3, .. })
            ) => {}
            Action::Copy {
                destination, bytes, ..
            } => {
                writes
                    .places
                    .insert((targets(destination), literal(bytes, operands)));
            }
            Action::SymbolCopy {
                other,
                bytes,
                to_symbol: false,
                ..
            } => {
                writes
                    .places
                    .insert((targets(other), literal(bytes, operands)));
            }
            // A copy that was under way has landed at the latest now.
            Action::Synchronise | Action::StreamOperation => {
                writes.places.extend(self.asynchronous.places.clone());
            }
            _ => {}
        }
        writes
    }
}

fn literal(size: calls::Size, operands: &[Operand]) -> Option<u64> {
    match size {
        calls::Size::Argument(position) => match operands.get(position) {
            Some(Operand::Integer { value, .. }) => u64::try_from(*value).ok(),
            _ => None,
        },
        calls::Size::Elements(..) | calls::Size::Unknown => None,
    }
}

fn is_memory_fill(name: &str) -> bool {
    super::points_to::is_memory_copy(name) || name == "memset" || name.starts_with("llvm.memset.")
}

fn asynchronous_writes(host: &HostModule, points_to: &PointsTo, stubs: &[String]) -> Writes {
    let mut writes = Writes::default();
    for (index, function) in host.functions.iter().enumerate() {
        if !is_analysed(function, stubs) {
            continue;
        }
        for instruction in &function.instructions {
            let Opcode::Call {
                callee: Some(callee),
                ..
            } = &instruction.opcode
            else {
                continue;
            };
            let Some(runtime) = calls::runtime_call(&host.functions[*callee].name) else {
                continue;
            };
            let destination = match runtime.action {
                Action::Copy {
                    destination,
                    stream: calls::OnStream::Argument(_),
                    ..
                } => destination,
                Action::SymbolCopy {
                    other,
                    to_symbol: false,
                    stream: calls::OnStream::Argument(_),
                    ..
                } => other,
                _ => continue,
            };
            let Some(operand) = instruction.operands.get(destination) else {
                continue;
            };
            debug_assert!(instruction.result != Type::Void);
            writes
                .places
                .insert((points_to.of(host, index, *operand), None));
        }
    }
    writes
}
