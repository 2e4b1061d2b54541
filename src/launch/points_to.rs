//! Inclusion-based points-to analysis (Andersen) of the whole host module: field-sensitive by byte
//! offset, insensitive to flow and context.
//!
//! Invariant: if in some run a pointer value points into a memory object, its set has that object
//! (with that offset, or with an unknown one), or it has [`UNKNOWN`] and the object is marked as
//! escaped. Integers carry pointers too, so casts lose nothing. Work is bounded: sets that still
//! grow after many rounds stop telling offsets apart, and when the budget is spent every set
//! becomes unknown.

pub(super) mod buffer_names;
mod bounds;
mod calls_through_pointers;
mod contents;
mod descriptors;
mod escape;
mod libraries;
mod merging;
mod offsets;
mod places;
mod progress;
mod tables;

use super::MemoryKind;
use super::calls::{self, Action, RuntimeCall};
use super::host_ir::{Function, HostModule, Instruction, Opcode, Operand, Operation, Type};
use crate::program::HostVisibleMemory;
use bounds::insert;
pub use offsets::Offset;
pub use places::Targets;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The object that stands for all memory that the module cannot see.
pub const UNKNOWN: usize = 0;

/// The object that is `errno`.
const ERROR_NUMBER: usize = 1;

/// The object that is what a `FILE` points to.
const STREAM: usize = 2;

/// A place in a memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// Index into [`PointsTo::objects`].
    pub object: usize,
    /// Which byte of it.
    pub offset: Offset,
}

/// What a memory object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// Memory outside the module's sight.
    Unknown,
    /// A stack slot.
    Stack,
    /// Host heap.
    Heap,
    /// A host global.
    Global,
    /// Made by a CUDA allocation call.
    Buffer(MemoryKind),
    /// Device variable number n of the program.
    Variable(usize),
    /// A descriptor of a CUDA library, which keeps device pointers.
    Descriptor,
    /// Function number n of the host module: a place to call, not memory.
    Function(usize),
    /// `errno`.
    ErrorNumber,
    /// A stream of a library, or what it keeps.
    Stream,
}

impl ObjectKind {
    /// The host may read and write it too.
    fn is_seen_by_host(self) -> bool {
        !matches!(
            self,
            Self::Buffer(MemoryKind::Device)
                | Self::Variable(_)
                | Self::Descriptor
                | Self::Function(_)
                | Self::Stream
        )
    }
}

/// A memory object: a variable or an allocation site.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Code outside the module, or a kernel, may reach it.
    pub escaped: bool,
    /// Host code outside the module may have a pointer to it, other than through what a kernel
    /// keeps of its plain arguments.
    pub leaked: bool,
    /// A kernel may reach it, and the host too.
    pub kernel_visible: bool,
}

/// The result for a whole module.
#[derive(Debug)]
pub struct PointsTo {
    /// All memory objects; the first is [`UNKNOWN`].
    pub objects: Vec<Object>,
    sites: HashMap<(usize, usize), usize>,
    globals: Vec<usize>,
    /// The memory of managed variables, by the global of the shadow that leads to it.
    managed: BTreeMap<usize, usize>,
    /// The objects of functions whose addresses are used.
    functions: HashMap<usize, usize>,
    values: Vec<Vec<Targets>>,
    parameters: Vec<Vec<Targets>>,
    returns: Vec<Targets>,
    contents: Vec<BTreeMap<Offset, Targets>>,
    changed: bool,
    progress: progress::Progress,
    /// What whole objects hold, as of their last change.
    wholes: RefCell<HashMap<usize, (u64, Rc<Targets>)>>,
    /// What loads gave, as of the last change of what they read.
    loads: RefCell<contents::Loads>,
    limits: bounds::Limits,
    merging: merging::Merging,
    calls: calls_through_pointers::Calls,
    /// A kernel may reach something that escaped.
    unknown_visible: bool,
    /// Set elements looked at so far.
    work: usize,
}

/// What the analysis needs to know of the program besides its host module.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Shadow globals of device variables: name, index, managed.
    pub variables: &'a [(String, usize, bool)],
    /// Names of kernel stubs, whose bodies are not looked at.
    pub stubs: &'a [String],
    /// Memory of the host that kernels may write.
    pub host_visible_memory: HostVisibleMemory,
}

impl PointsTo {
    /// Solves the constraints of `host`.
    pub fn solve(host: &HostModule, surroundings: Surroundings<'_>) -> Self {
        Self::solve_within(host, surroundings, bounds::WORK)
    }

    /// Where an operand of an instruction of function `function` may point.
    pub fn of(&self, host: &HostModule, function: usize, operand: Operand) -> Targets {
        match operand {
            Operand::Instruction(index) => self.values[function][index].clone(),
            Operand::Parameter(index) => self.parameters[function][index].clone(),
            Operand::Global(global, offset) => Targets::from([Target {
                object: self.globals[global],
                offset: Offset::exact(offset),
            }]),
            Operand::Function(function) => self.function_object(function).into_iter().collect(),
            Operand::Constant(index) => self.mentioned(&host.constants[index]),
            _ => Targets::new(),
        }
    }

    /// The object that a CUDA or library call allocates.
    pub fn object_of_site(&self, function: usize, instruction: usize) -> Option<usize> {
        self.sites.get(&(function, instruction)).copied()
    }

    /// The object of a global variable.
    pub fn object_of_global(&self, global: usize) -> usize {
        self.globals[global]
    }

    /// The object of a device variable, by the global of its shadow.
    pub fn object_of_variable(&self, shadow: usize) -> usize {
        let managed = self.managed.get(&shadow).copied();
        managed.unwrap_or_else(|| self.object_of_global(shadow))
    }

    /// Where a pointer of `bytes` bytes that is stored at `address` may point.
    pub fn read(&self, address: &Targets, bytes: u64) -> Targets {
        self.load(address, bytes)
    }

    /// Code outside the module may reach one of the targets.
    pub fn any_escaped(&self, targets: &Targets) -> bool {
        targets.is_empty() || targets.iter().any(|target| self.is_escaped(target.object))
    }

    /// A kernel may reach one of the targets at any time.
    pub fn any_kernel_visible(&self, targets: &Targets) -> bool {
        targets.iter().any(|target| {
            self.objects[target.object].kernel_visible
                || (target.object == UNKNOWN && self.unknown_visible)
        })
    }

    /// Code outside the module may reach the object.
    pub fn is_escaped(&self, object: usize) -> bool {
        object == UNKNOWN || self.objects[self.merged(object)].escaped
    }

    fn initial(host: &HostModule, surroundings: Surroundings<'_>) -> Self {
        let mut solver = Self {
            objects: Vec::new(),
            sites: HashMap::new(),
            globals: Vec::new(),
            managed: BTreeMap::new(),
            functions: HashMap::new(),
            calls: calls_through_pointers::Calls::of(host),
            values: host
                .functions
                .iter()
                .map(|function| vec![Targets::new(); function.instructions.len()])
                .collect(),
            parameters: host
                .functions
                .iter()
                .map(|function| vec![Targets::new(); function.parameters.len()])
                .collect(),
            returns: vec![Targets::new(); host.functions.len()],
            contents: Vec::new(),
            changed: false,
            progress: progress::Progress::of(host.functions.len()),
            wholes: RefCell::default(),
            loads: RefCell::default(),
            limits: bounds::Limits::PRECISE,
            merging: merging::Merging::default(),
            unknown_visible: false,
            work: 0,
        };
        solver.add_object(ObjectKind::Unknown);
        // Libraries know where it is, and no one else who is not told.
        let error_number = solver.add_object(ObjectKind::ErrorNumber);
        solver.objects[error_number].escaped = true;
        let stream = solver.add_object(ObjectKind::Stream);
        solver.objects[stream].escaped = true;
        assert_eq!((error_number, stream), (ERROR_NUMBER, STREAM));
        solver.contents[UNKNOWN].insert(Offset::ANY, unknown());
        for (index, global) in host.globals.iter().enumerate() {
            let variable = surroundings
                .variables
                .iter()
                .find(|(shadow, _, _)| *shadow == global.name);
            if let Some((_, _, true)) = variable {
                solver.add_managed(index);
                continue;
            }
            let is_stream = calls::is_stream(&global.name) && global.initializer.is_none();
            let object = match variable {
                Some((_, index, _)) => solver.add_object(ObjectKind::Variable(*index)),
                None if is_stream => solver.add_object(ObjectKind::Stream),
                None => solver.add_object(ObjectKind::Global),
            };
            solver.globals.push(object);
            if is_stream && !global.name.starts_with("_Z") {
                let stream = solver.stream();
                solver.contents[object].insert(Offset::ANY, stream);
                continue;
            }
            let outside = !global.internal || global.initializer.is_none();
            solver.objects[object].escaped = outside && !global.constant;
            solver.objects[object].leaked = solver.objects[object].escaped;
            if global.initializer.is_none() {
                solver.contents[object].insert(Offset::ANY, unknown());
            }
        }
        for (index, function) in host.functions.iter().enumerate() {
            if function.address_taken {
                let object = solver.add_object(ObjectKind::Function(index));
                solver.functions.insert(index, object);
            }
        }
        for (index, global) in host.globals.iter().enumerate() {
            for (place, mentioned) in global.initializer.iter().flatten() {
                let targets = solver.of(host, 0, *mentioned);
                let place = place.map_or(Offset::ANY, Offset::exact);
                solver.add_content(solver.globals[index], place, &targets);
            }
        }
        for (index, function) in host.functions.iter().enumerate() {
            if !is_analysed(function, surroundings.stubs) {
                continue;
            }
            for (at, instruction) in function.instructions.iter().enumerate() {
                let kind = match &instruction.opcode {
                    Opcode::Alloca { .. } => Some(ObjectKind::Stack),
                    Opcode::Call {
                        callee: Some(callee),
                        ..
                    } => {
                        let name = host.functions[*callee].name.as_str();
                        match calls::runtime_call(name) {
                            Some(RuntimeCall {
                                action: Action::Allocate { memory, .. },
                                ..
                            }) => Some(ObjectKind::Buffer(memory)),
                            Some(_) => None,
                            None if descriptors::is_made_by(name) => Some(ObjectKind::Descriptor),
                            None => calls::library_call(&host.functions[*callee])
                                .filter(|library| library.allocates)
                                .map(|_| ObjectKind::Heap),
                        }
                    }
                    _ => None,
                };
                if let Some(kind) = kind {
                    let object = solver.add_object(kind);
                    solver.sites.insert((index, at), object);
                }
            }
        }
        solver
    }

    /// A managed variable: before anything of the program runs the runtime writes its address into its shadow, and
    /// nobody writes that again. Kernels know the variable by its name.
    fn add_managed(&mut self, shadow: usize) {
        let pointer = self.add_object(ObjectKind::Global);
        self.globals.push(pointer);
        let memory = self.add_object(ObjectKind::Buffer(MemoryKind::Managed));
        self.objects[memory].escaped = true;
        self.objects[memory].leaked = true;
        self.managed.insert(shadow, memory);
        let address = Target {
            object: memory,
            offset: Offset::exact(0),
        };
        self.contents[pointer].insert(Offset::exact(0), Targets::from([address]));
    }

    fn add_object(&mut self, kind: ObjectKind) -> usize {
        self.objects.push(Object {
            kind,
            escaped: kind == ObjectKind::Unknown,
            leaked: kind == ObjectKind::Unknown,
            kernel_visible: false,
        });
        self.contents.push(BTreeMap::new());
        self.merging.add_object();
        self.progress.add_object();
        self.objects.len() - 1
    }

    fn mentioned(&self, operands: &[Operand]) -> Targets {
        operands
            .iter()
            .filter_map(|operand| match operand {
                Operand::Global(global, _) => Some(Target {
                    object: *self.globals.get(*global)?,
                    offset: Offset::ANY,
                }),
                Operand::Function(function) => self.function_object(*function),
                _ => None,
            })
            .collect()
    }

    fn function_object(&self, function: usize) -> Option<Target> {
        let object = *self.functions.get(&function)?;
        Some(Target {
            object,
            offset: Offset::ANY,
        })
    }

    fn function(&mut self, host: &HostModule, index: usize, stubs: &[String]) {
        let function = &host.functions[index];
        for (at, instruction) in function.instructions.iter().enumerate() {
            let operand = |solver: &Self, position: usize| {
                instruction
                    .operands
                    .get(position)
                    .map_or_else(Targets::new, |operand| solver.of(host, index, *operand))
            };
            match &instruction.opcode {
                Opcode::Pure { operation, .. } => {
                    let targets = self.pure(host, index, instruction, *operation);
                    self.add_value(index, at, targets);
                }
                Opcode::Phi { .. }
                | Opcode::Insert { .. }
                | Opcode::Combine
                | Opcode::Extract { .. }
                | Opcode::Freeze => {
                    for position in 0..instruction.operands.len() {
                        let targets = operand(self, position);
                        self.add_value(index, at, targets);
                    }
                }
                Opcode::Load { .. } => {
                    let address = operand(self, 0);
                    self.count_cells(&address);
                    let loaded = self.load(&address, instruction.result.bytes());
                    self.add_value(index, at, loaded);
                }
                Opcode::Store { stored, .. } => {
                    let (value, address) = (operand(self, 0), operand(self, 1));
                    self.store(&address, &value, stored.bytes());
                }
                Opcode::Alloca { .. } => {
                    let object = self.sites[&(index, at)];
                    self.add_value(
                        index,
                        at,
                        Targets::from([Target {
                            object,
                            offset: Offset::exact(0),
                        }]),
                    );
                }
                Opcode::Address {
                    constant,
                    scales,
                    in_bounds,
                } => {
                    let shifted = shift(&operand(self, 0), distance(*constant, scales, *in_bounds));
                    self.add_value(index, at, shifted);
                    // An index that is itself a pointer difference may carry the base, where the result may leave
                    // the object.
                    let indices = if *in_bounds {
                        1..1
                    } else {
                        1..instruction.operands.len()
                    };
                    for position in indices {
                        let targets = shift(&operand(self, position), Offset::ANY);
                        self.add_value(index, at, targets);
                    }
                }
                Opcode::Call { .. } => self.call(host, index, at, stubs),
                Opcode::Return => {
                    let targets = operand(self, 0);
                    // A copy of an inline function elsewhere has its own objects.
                    if !(function.internal || function.inline) || self.is_function_escaped(index) {
                        self.escape(&targets);
                    }
                    self.add_return(index, &targets);
                }
                Opcode::Atomic | Opcode::Other => {
                    for position in 0..instruction.operands.len() {
                        let targets = operand(self, position);
                        self.escape(&targets);
                    }
                    if instruction.result != Type::Void {
                        self.add_value(index, at, unknown());
                    }
                }
                Opcode::Unreachable | Opcode::Terminator => {}
            }
        }
    }

    fn pure(
        &self,
        host: &HostModule,
        function: usize,
        instruction: &Instruction,
        operation: Operation,
    ) -> Targets {
        let exact = match operation {
            Operation::Reinterpret => true,
            Operation::Select => true,
            Operation::Other(..) if matches!(instruction.result, Type::Integer(1)) => {
                return Targets::new();
            }
            _ => false,
        };
        let skip = usize::from(operation == Operation::Select);
        let mut all = Targets::new();
        for operand in &instruction.operands[skip..] {
            let targets = self.of(host, function, *operand);
            all.extend(if exact {
                targets
            } else {
                shift(&targets, Offset::ANY)
            });
        }
        all
    }

    fn call(&mut self, host: &HostModule, function: usize, at: usize, stubs: &[String]) {
        let instruction = &host.functions[function].instructions[at];
        let Opcode::Call {
            callee,
            through,
            by_value,
            effects,
            ..
        } = &instruction.opcode
        else {
            return;
        };
        let arguments: Vec<Targets> = instruction
            .operands
            .iter()
            .map(|operand| self.of(host, function, *operand))
            .collect();
        let argument = |position: usize| arguments.get(position).cloned().unwrap_or_default();
        let Some(callee) = *callee else {
            let through = through.unwrap_or(Operand::Undefined);
            return self.call_through(host, (function, at), through, arguments, stubs);
        };
        let called = &host.functions[callee];
        if !is_analysed(called, stubs) {
            // What it calls back, it calls with anything.
            for targets in &arguments {
                self.escape_functions(targets);
            }
        }
        if called.name.starts_with(calls::FOLDED_LAUNCH) {
            for (position, targets) in arguments.iter().enumerate() {
                if by_value.iter().any(|(index, _)| *index == position) {
                    self.escape_contents(targets);
                } else {
                    self.give_to_kernel(targets);
                }
            }
        } else if let Some(runtime) = calls::runtime_call(&called.name) {
            if is_lookup_of_variables(&called.name) {
                self.escape_variables();
            }
            for (output, bytes) in runtime.outputs {
                // Handles point to memory of the runtime; a question about a pointer may be answered by
                // a pointer into the same memory.
                if *bytes == 8 || *bytes == 0 {
                    let place = match bytes {
                        8 => argument(*output),
                        _ => shift(&argument(*output), Offset::ANY),
                    };
                    self.store(&place, &unknown(), 8);
                    for (position, targets) in arguments.iter().enumerate() {
                        let asked = runtime.action == Action::Check
                            && !runtime
                                .outputs
                                .iter()
                                .any(|(output, _)| *output == position);
                        if asked {
                            self.store(&place, &shift(targets, Offset::ANY), 8);
                        }
                    }
                }
            }
            match runtime.action {
                Action::Allocate { slot, .. } => {
                    let object = self.sites[&(function, at)];
                    self.store(
                        &argument(slot),
                        &Targets::from([Target {
                            object,
                            offset: Offset::exact(0),
                        }]),
                        8,
                    );
                }
                Action::SymbolAddress { slot, symbol } => {
                    self.store(&argument(slot), &argument(symbol), 8)
                }
                Action::DeviceAddress { slot, host } => {
                    self.store(&argument(slot), &argument(host), 8)
                }
                Action::Handle { slot, .. } => self.store(&argument(slot), &unknown(), 8),
                Action::Launch { arguments } => {
                    for position in arguments {
                        let given = self.given_to_kernel(&argument(*position));
                        self.escape(&given);
                    }
                }
                Action::Copy {
                    destination,
                    source,
                    ..
                } => self.device_copy(&argument(destination), &argument(source)),
                Action::SymbolCopy {
                    symbol,
                    other,
                    to_symbol,
                    ..
                } => {
                    let (symbol, other) = (argument(symbol), argument(other));
                    if to_symbol {
                        self.device_copy(&symbol, &other);
                    } else {
                        self.device_copy(&other, &symbol);
                    }
                }
                Action::Check if instruction.result == Type::Pointer => {
                    self.add_value(function, at, unknown());
                }
                _ => {}
            }
        } else if let Some(library) = calls::device_library_call(&called.name) {
            self.device_library_call(function, at, &library, &arguments);
        } else if let Some(library) = calls::library_call(called) {
            self.library_call(host, function, at, &library, &arguments);
        } else if is_analysed(called, stubs) {
            for (position, targets) in arguments.into_iter().enumerate() {
                match self.parameters[callee].get(position) {
                    Some(_) => self.add_parameter(callee, position, targets),
                    None => self.escape(&targets),
                }
            }
            self.progress.reads_return(callee);
            let targets = self.returns[callee].clone();
            self.add_value(function, at, targets);
        } else {
            // What only reads and tells nobody keeps no pointer, but may return one.
            if effects.writes_elsewhere || effects.writes_arguments {
                arguments.iter().for_each(|targets| self.escape(targets));
            }
            // Intrinsic functions compute numbers of numbers.
            let computes = called.name.starts_with("llvm.")
                && matches!(instruction.result, Type::Integer(_) | Type::Float(_));
            if !computes {
                self.add_value(function, at, unknown());
            }
            for targets in &arguments {
                self.add_value(function, at, shift(targets, Offset::ANY));
            }
        }
    }

    fn store(&mut self, address: &Targets, value: &Targets, bytes: u64) {
        if value.is_empty() {
            return;
        }
        for target in address {
            self.follow(target.object, value);
            let mut cells = vec![target.offset];
            if bytes > 8 {
                cells = match bytes {
                    ..=64 => (0..bytes as i64)
                        .step_by(8)
                        .map(|step| target.offset.plus(Offset::exact(step)))
                        .collect(),
                    _ => vec![Offset::ANY],
                };
            }
            for cell in cells {
                self.add_content(target.object, cell, value);
            }
        }
    }

    /// Whatever passes through device memory comes back as unknown.
    fn device_copy(&mut self, destination: &Targets, source: &Targets) {
        self.escape_contents(source);
        for target in destination {
            self.add_content(target.object, Offset::ANY, &unknown());
        }
    }

    fn add_content(&mut self, object: usize, cell: Offset, targets: &Targets) {
        if object == UNKNOWN {
            return self.escape(targets);
        }
        let place = self.merging.rename(Target {
            object,
            offset: cell,
        });
        let cells = &mut self.contents[place.object];
        // Too many cells: one for all others.
        let full = cells.len() > self.limits.cells_per_object && !cells.contains_key(&place.offset);
        let cell = if full { Offset::ANY } else { place.offset };
        let mut present = std::mem::take(cells.entry(cell).or_default());
        if self.add(&mut present, targets) {
            self.progress.object_changed(place.object);
        }
        // The object may have been merged with what it holds.
        let place = self.merging.rename(Target {
            object: place.object,
            offset: cell,
        });
        let cells = &mut self.contents[place.object];
        cells.entry(place.offset).or_default().extend(present);
    }

    fn add_value(&mut self, function: usize, at: usize, targets: Targets) {
        let mut present = std::mem::take(&mut self.values[function][at]);
        if self.add(&mut present, &targets) {
            self.progress.input_changed(function);
        }
        self.values[function][at] = present;
    }

    fn add_parameter(&mut self, function: usize, at: usize, targets: Targets) {
        let mut present = std::mem::take(&mut self.parameters[function][at]);
        if self.add(&mut present, &targets) {
            self.progress.input_changed(function);
        }
        self.parameters[function][at] = present;
    }

    fn add_return(&mut self, function: usize, targets: &Targets) {
        let mut present = std::mem::take(&mut self.returns[function]);
        if self.add(&mut present, targets) {
            self.progress.return_changed(function);
        }
        self.returns[function] = present;
    }

    /// True when the set grew.
    fn add(&mut self, present: &mut Targets, targets: &Targets) -> bool {
        self.work += targets.len() + 1;
        let grew = insert(present, targets, self.limits, &self.merging);
        if grew {
            self.changed = true;
            self.merge_large(present);
        }
        grew
    }
}

/// Functions that find device variables by name.
fn is_lookup_of_variables(name: &str) -> bool {
    name.starts_with("cuModuleGetGlobal") || name.starts_with("cuLibraryGet")
}

/// A function whose body counts: not a declaration, a kernel stub or registration code.
pub fn is_analysed(function: &Function, stubs: &[String]) -> bool {
    !function.blocks.is_empty()
        && !function.name.starts_with("__cuda_")
        && !stubs.contains(&function.name)
}

/// True for functions that copy bytes as they are.
pub fn is_memory_copy(name: &str) -> bool {
    name == "memcpy"
        || name == "memmove"
        || name.starts_with("llvm.memcpy.")
        || name.starts_with("llvm.memmove.")
}

fn unknown() -> Targets {
    Targets::from([Target {
        object: UNKNOWN,
        offset: Offset::ANY,
    }])
}

fn shift(targets: &Targets, by: Offset) -> Targets {
    targets
        .iter()
        .map(|target| Target {
            object: target.object,
            offset: target.offset.plus(by),
        })
        .collect()
}

/// How far an address computation may go. Where it may wrap, a multiple stays one of a power of two only.
fn distance(constant: i64, scales: &[i64], in_bounds: bool) -> Offset {
    let step = |scale: &i64| match (in_bounds, scale) {
        (false, 1..) => Offset::multiple(1 << scale.trailing_zeros()),
        (false, _) => Offset::ANY,
        (true, _) => Offset::multiple(*scale),
    };
    scales
        .iter()
        .map(step)
        .fold(Offset::exact(constant), Offset::plus)
}
