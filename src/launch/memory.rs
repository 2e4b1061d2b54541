//! What each host instruction may write in host memory, and what calls of host functions amount to.
//!
//! Invariant: a byte of host memory that changes while an instruction runs is covered by
//! [`HostMemory::writes`] of it, unless a kernel changed it (such memory is
//! [`super::points_to::Object::kernel_visible`]).

pub(super) mod versions;
mod libraries;
mod writes;

pub use writes::Writes;

use super::calls::{self, Action, Extent, RuntimeCall};
use super::host_ir::{HostModule, Instruction, Opcode, Operand, Type};
use super::points_to::{PointsTo, Targets, is_analysed};
use libraries::Given;
use petgraph::Graph;
use petgraph::algo::tarjan_scc;
use petgraph::graph::NodeIndex;
use std::collections::HashMap;
use std::rc::Rc;

/// What a call of a host function amounts to for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conduct {
    /// Computes on host memory; nothing that a node would stand for.
    Computes,
    /// Computes, and throws where memory is short or a length is wrong.
    Throws,
    /// Besides asks the runtime for errors and the like.
    Checks,
    /// Besides writes text to streams or files.
    Outputs,
    /// Writes text, and may throw where that fails or as [`Conduct::Throws`].
    OutputsOrThrows,
    /// Anything else.
    Acts,
}

impl Conduct {
    fn and(self, other: Self) -> Self {
        match (self.min(other), self.max(other)) {
            (Self::Throws, Self::Checks) | (Self::Checks, Self::OutputsOrThrows) => Self::Acts,
            (Self::Throws, Self::Outputs) => Self::OutputsOrThrows,
            (_, more) => more,
        }
    }
}

/// Effects of all host functions.
#[derive(Debug)]
pub struct HostMemory {
    summaries: Vec<Rc<Writes>>,
    conducts: Vec<Conduct>,
    /// The functions that read or write memory that a kernel may see, in no particular order to other threads.
    touching: Vec<bool>,
    /// What an unknown call may write.
    unknown_call: Rc<Writes>,
    /// The functions that a call through a pointer (function and instruction) leads to, where all are known.
    through_pointers: HashMap<(usize, usize), Vec<usize>>,
    /// Copies that are still under way.
    asynchronous: Writes,
    /// The exceptions that the module throws have no destructors but the library's.
    plain_exceptions: bool,
    /// What the program gives to libraries for later.
    given: Given,
}

impl HostMemory {
    /// Sums up every function of `host`, callees before their callers.
    pub fn new(host: &HostModule, points_to: &PointsTo, stubs: &[String]) -> Self {
        let count = host.functions.len();
        let mut memory = Self {
            summaries: vec![Rc::default(); count],
            conducts: vec![Conduct::Computes; count],
            touching: vec![false; count],
            unknown_call: Rc::new(Writes::unknown_call()),
            through_pointers: points_to.calls_through_pointers(host, stubs),
            asynchronous: asynchronous_writes(host, points_to, stubs),
            plain_exceptions: throws_plain_exceptions(host),
            given: Given::of(host, points_to),
        };
        let analysed: Vec<bool> = host
            .functions
            .iter()
            .map(|function| is_analysed(function, stubs))
            .collect();
        let callees: Vec<Vec<usize>> = (0..count)
            .map(|index| match analysed[index] {
                true => memory.called(host, index, &analysed),
                false => Vec::new(),
            })
            .collect();
        let mut callers = vec![Vec::new(); count];
        for (caller, callees) in callees.iter().enumerate() {
            callees
                .iter()
                .for_each(|callee| callers[*callee].push(caller));
        }
        // Functions that call each other stand together, and callees come first.
        let components = tarjan_scc(&calls(&callees));
        let mut own = vec![Rc::default(); count];
        for index in (0..count).filter(|index| analysed[*index]) {
            // No callee has a summary yet, so that their writes are left out.
            own[index] = Rc::new(memory.own_writes(host, points_to, stubs, index));
        }
        for (index, conduct) in memory.conducts.iter_mut().enumerate() {
            *conduct = match analysed[index] {
                true => Conduct::Computes,
                false => Conduct::Acts,
            };
        }
        memory.summaries = own;
        memory.spread_writes(host, &analysed, (&callees, &components));
        let order = components.iter().flatten().map(|node| node.index());
        let mut open: Vec<usize> = order.rev().collect();
        while let Some(index) = open.pop() {
            if !analysed[index] {
                continue;
            }
            let instructions = 0..host.functions[index].instructions.len();
            let conduct = instructions
                .clone()
                .map(|at| memory.conduct(host, stubs, index, at))
                .fold(memory.conducts[index], Conduct::and);
            let touches = memory.touching[index]
                || instructions
                    .clone()
                    .any(|at| memory.touches_kernel_visible(host, points_to, index, at));
            if (conduct, touches) != (memory.conducts[index], memory.touching[index]) {
                (memory.conducts[index], memory.touching[index]) = (conduct, touches);
                open.extend(&callers[index]);
            }
        }
        memory
    }

    /// What a function writes by itself, its calls of analysed functions left out.
    fn own_writes(
        &self,
        host: &HostModule,
        points_to: &PointsTo,
        stubs: &[String],
        function: usize,
    ) -> Writes {
        let mut all = Writes::default();
        for at in 0..host.functions[function].instructions.len() {
            all.join(&self.writes(host, points_to, stubs, function, at));
        }
        all
    }

    /// Callees write for their callers, and what code outside may call for every unknown call.
    ///
    /// Functions that call each other write the same, so that what known calls add is found in one walk; then what is
    /// open to the outside is what an unknown call writes.
    fn spread_writes(
        &mut self,
        host: &HostModule,
        analysed: &[bool],
        (callees, components): (&[Vec<usize>], &[Vec<NodeIndex>]),
    ) {
        let from_outside = |index: usize| {
            let function = &host.functions[index];
            (!function.internal && function.name != "main") || function.address_taken
        };
        for component in components {
            let functions = component.iter().map(|node| node.index());
            let functions: Vec<usize> = functions.filter(|index| analysed[*index]).collect();
            let mut writes: Rc<Writes> = Rc::default();
            for index in &functions {
                writes = either(writes, &self.summaries[*index]);
                for callee in &callees[*index] {
                    writes = either(writes, &self.summaries[*callee]);
                }
            }
            for index in functions {
                self.summaries[index] = writes.clone();
            }
        }
        let open = (0..callees.len()).filter(|index| analysed[*index] && from_outside(*index));
        for index in open {
            let unknown = std::mem::take(&mut self.unknown_call);
            self.unknown_call = either(unknown, &self.summaries[index]);
        }
        let before = self.summaries.clone();
        let mut with_unknown: HashMap<*const Writes, Rc<Writes>> = HashMap::new();
        for (summary, before) in self.summaries.iter_mut().zip(&before) {
            if before.calls_unknown {
                let whole = with_unknown.entry(Rc::as_ptr(before));
                let whole = whole.or_insert_with(|| either(before.clone(), &self.unknown_call));
                *summary = whole.clone();
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
    ) -> Rc<Writes> {
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
                writes.add(&targets(1), Some(stored.bytes()));
            }
            Opcode::Atomic | Opcode::Other => return self.unknown_call.clone(),
            Opcode::Call {
                callee: Some(callee),
                effects,
                ..
            } => {
                let called = &host.functions[*callee];
                if called.name.starts_with(calls::FOLDED_LAUNCH) {
                    return Rc::default();
                }
                if let Some(runtime) = calls::runtime_call(&called.name) {
                    return Rc::new(self.runtime_writes(
                        &runtime,
                        instruction.operands.as_slice(),
                        &targets,
                    ));
                }
                if let Some(library) = calls::device_library_call(&called.name) {
                    let outputs = library.outputs.iter().chain(&library.numbers);
                    let outputs = outputs.map(|(output, bytes)| (targets(*output), Some(*bytes)));
                    let slots = library.makes.into_iter();
                    let slots = slots.chain(library.gives.iter().map(|(_, slot, _)| *slot));
                    let slots = slots.map(|slot| (targets(slot), Some(8)));
                    let results = library.writes.iter().map(|(result, extent)| match extent {
                        Extent::Kept(part) => (points_to.kept(&targets(*result), *part), None),
                        _ => (targets(*result), None),
                    });
                    for (place, bytes) in outputs.chain(slots).chain(results) {
                        if !place.is_empty() {
                            writes.add(&place, bytes);
                        }
                    }
                    return Rc::new(writes);
                }
                if let Some(library) = calls::library_call(called) {
                    return Rc::new(self.library_writes(host, points_to, (function, at), &library));
                }
                if is_analysed(called, stubs) {
                    return self.summaries[*callee].clone();
                }
                if effects.writes_error_number {
                    writes.add(&points_to.error_number(), None);
                }
                if effects.writes_elsewhere {
                    // It may reach its arguments even where those never escape otherwise.
                    writes = (*self.unknown_call).clone();
                }
                if effects.writes_arguments || effects.writes_elsewhere {
                    for position in 0..instruction.operands.len() {
                        let place = targets(position);
                        if !place.is_empty() {
                            writes.add(&place, None);
                        }
                    }
                }
            }
            Opcode::Call { effects, .. }
                if effects.writes_elsewhere || effects.writes_arguments =>
            {
                let Some(callees) = self.through_pointers.get(&(function, at)) else {
                    return self.unknown_call.clone();
                };
                for callee in callees {
                    writes.join(&self.summaries[*callee]);
                }
            }
            _ => {}
        }
        Rc::new(writes)
    }

    /// What instruction `at` amounts to, in a function that is called.
    fn conduct(&self, host: &HostModule, stubs: &[String], function: usize, at: usize) -> Conduct {
        let instruction = &host.functions[function].instructions[at];
        match &instruction.opcode {
            Opcode::Load { ordered: true }
            | Opcode::Store { ordered: true, .. }
            | Opcode::Atomic => Conduct::Acts,
            Opcode::Call { .. } => {
                // What a function catches was thrown by what it calls. If all of that is known, the end
                // of the handler destroys a known exception; if not, the function acts already.
                if self.plain_exceptions && calls_named(host, instruction, "__cxa_end_catch") {
                    return Conduct::Computes;
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
            return match self.through_pointers.get(&(function, at)) {
                Some(callees) => {
                    let conducts = callees.iter().map(|callee| self.conducts[*callee]);
                    conducts
                        .fold(Conduct::Computes, Conduct::and)
                        .min(by_attributes)
                }
                None => by_attributes,
            };
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
        if let Some(library) = calls::library_call(called) {
            return self.library_conduct(host, (function, at), &library);
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

    /// The analysed functions that a function calls, each once, unknown ones left out.
    fn called(&self, host: &HostModule, function: usize, analysed: &[bool]) -> Vec<usize> {
        let instructions = host.functions[function].instructions.iter().enumerate();
        let mut found: Vec<usize> = Vec::new();
        for (at, instruction) in instructions {
            let Opcode::Call { callee, .. } = instruction.opcode else {
                continue;
            };
            found.extend(callee.filter(|callee| analysed[*callee]));
            let through = self.through_pointers.get(&(function, at));
            found.extend(through.into_iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// An instruction that reads or writes memory that a kernel may see. Of a call that [acts](Conduct::Acts) this says
    /// nothing.
    pub fn touches_kernel_visible(
        &self,
        host: &HostModule,
        points_to: &PointsTo,
        function: usize,
        at: usize,
    ) -> bool {
        let instruction = &host.functions[function].instructions[at];
        let visible = |position: usize| {
            let place = points_to.of(host, function, instruction.operands[position]);
            points_to.any_kernel_visible(&place)
        };
        let (callee, effects) = match &instruction.opcode {
            Opcode::Load { .. } => return visible(0),
            Opcode::Store { .. } => return visible(1),
            Opcode::Call {
                callee, effects, ..
            } => (*callee, effects),
            _ => return false,
        };
        // What only reads may read what kernels write.
        let reads_unseen = effects.reads && self.given.is_visible;
        let Some(callee) = callee else {
            return match self.through_pointers.get(&(function, at)) {
                Some(callees) => callees.iter().any(|callee| self.touching[*callee]),
                None => reads_unseen,
            };
        };
        let called = &host.functions[callee];
        let name = called.name.as_str();
        let library = calls::library_call(called);
        if calls::is_cuda(name) {
            return false;
        }
        if library.is_none() && !called.blocks.is_empty() {
            return self.touching[callee];
        }
        // The last one takes an exception, of which it is told that it was caught, and ends the program.
        let unrelated = [
            "llvm.lifetime.",
            "llvm.dbg.",
            "llvm.assume",
            "__clang_call_terminate",
        ];
        if unrelated.iter().any(|start| name.starts_with(start)) {
            return false;
        }
        let is_known = library.is_some() || name.starts_with("llvm.");
        (reads_unseen && !is_known)
            || (0..instruction.operands.len()).any(visible)
            || library.is_some_and(|library| {
                self.reads_visible_text(host, points_to, (function, at), &library)
            })
    }

    fn runtime_writes(
        &self,
        runtime: &RuntimeCall,
        operands: &[Operand],
        targets: &dyn Fn(usize) -> Targets,
    ) -> Writes {
        let mut writes = Writes::default();
        for (output, bytes) in runtime.outputs {
            writes.add(&targets(*output), (*bytes > 0).then_some(*bytes));
        }
        match runtime.action {
            Action::Allocate { slot, .. }
            | Action::SymbolAddress { slot, .. }
            | Action::DeviceAddress { slot, .. }
            | Action::Handle { slot, .. } => {
                writes.add(&targets(slot), Some(8));
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
                writes.add(&targets(destination), literal(bytes, operands));
            }
            Action::SymbolCopy {
                other,
                bytes,
                to_symbol: false,
                ..
            } => {
                writes.add(&targets(other), literal(bytes, operands));
            }
            _ => {}
        }
        // What waits, or may tell of it: a copy that was under way has landed at the latest now.
        let waits = match runtime.action {
            Action::Synchronise(_)
            | Action::StreamOperation
            | Action::Free { .. }
            | Action::Fence => true,
            Action::Copy { stream, .. }
            | Action::SymbolCopy { stream, .. }
            | Action::Set { stream, .. } => stream == calls::OnStream::Waits,
            _ => false,
        };
        if waits {
            writes.join(&self.asynchronous);
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

fn calls_named(host: &HostModule, instruction: &Instruction, name: &str) -> bool {
    matches!(instruction.opcode, Opcode::Call { callee: Some(callee), .. }
        if host.functions[callee].name == name)
}

fn throws_plain_exceptions(host: &HostModule) -> bool {
    let instructions = host.functions.iter().flat_map(|body| &body.instructions);
    let mut throws =
        instructions.filter(|instruction| calls_named(host, instruction, "__cxa_throw"));
    throws.all(|throw| match throw.operands.get(2) {
        Some(Operand::Null) => true,
        Some(Operand::Function(destructor)) => {
            host.functions[*destructor].name.starts_with("_ZNSt")
        }
        _ => false,
    })
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
            assert!(instruction.result != Type::Void);
            writes.add(&points_to.of(host, index, *operand), None);
        }
    }
    writes
}

/// All functions, each after those that it calls, as far as calls do not go round.
/// Which function calls which, by number.
fn calls(callees: &[Vec<usize>]) -> Graph<(), ()> {
    let mut calls = Graph::new();
    let functions: Vec<NodeIndex> = callees.iter().map(|_| calls.add_node(())).collect();
    for (caller, callees) in callees.iter().enumerate() {
        for callee in callees {
            calls.add_edge(functions[caller], functions[*callee], ());
        }
    }
    calls
}

/// What is in either set; one of them where it has all of the other.
fn either(mut one: Rc<Writes>, other: &Rc<Writes>) -> Rc<Writes> {
    if Rc::ptr_eq(&one, other) || one.contains(other) {
        return one;
    }
    if other.contains(&one) {
        return other.clone();
    }
    Rc::make_mut(&mut one).join(other);
    one
}
