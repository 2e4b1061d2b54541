//! Value numbering of host code, through memory.
//!
//! Invariant: two uses with the same [`Symbol`] see the same value whenever both are evaluated in
//! one iteration of their innermost common loop. A value that leaves the loop it varies in is
//! another symbol ([`Definition::Exit`]), because the loop has seen many of it.
//!
//! Loads are numbered by address and *version*: the write, join or entry that memory at that
//! address comes from, found as in SSA construction (joins at the iterated dominance frontier of
//! the blocks that may write it).

mod addresses;
mod halves;

use super::calls::{self, Action, RuntimeCall};
use super::cfg::ControlFlow;
use super::host_ir::{HostModule, Opcode, Operand, Operation, Type};
use super::memory::HostMemory;
use super::points_to::{Offset, PointsTo, Target, Targets, is_memory_copy};
use super::versions::{Location, Point, Version, Writers, Written};
use std::collections::HashMap;
use std::rc::Rc;

/// Number of a host value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub usize);

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Definition {
    /// A literal, sign-extended; floating-point numbers as their bits.
    Literal {
        /// Width.
        bits: u32,
        /// Value.
        value: i64,
    },
    /// Address of a global.
    Global(usize),
    /// Address of a function.
    Function(usize),
    /// Another constant of the module.
    Constant(usize),
    /// A parameter of a function.
    Parameter(usize, usize),
    /// Whatever an instruction yields.
    Instruction(usize, usize),
    /// Equal to nothing.
    Unique(usize),
    /// What the allocating call wrote into its slot.
    Allocation(usize, usize),
    /// The device address of a variable, by the global of its shadow.
    VariableAddress(usize),
    /// The handle of the kernel that another value stands for.
    Handle(Symbol),
    /// A pure operation.
    Operation {
        /// Which.
        operation: Operation,
        /// Width of the result.
        bits: u32,
        /// Operands.
        operands: Vec<Symbol>,
    },
    /// A call without effects.
    PureCall(usize, Vec<Symbol>),
    /// A member of an aggregate.
    Extract(Symbol, Vec<u32>),
    /// A pointer moved by a constant; the pointer is none.
    Offset(Symbol, i64),
    /// A pointer moved by a 64-bit value.
    Displaced(Symbol, Symbol),
    /// So many bytes at an address in a state of memory.
    Load {
        /// Address.
        address: Symbol,
        /// Bytes.
        bytes: u64,
        /// State.
        version: Symbol,
    },
    /// Memory when the function was entered.
    EntryVersion(usize),
    /// Memory after an instruction.
    WriteVersion(usize, usize),
    /// Memory at the start of a block.
    JoinVersion(usize, usize),
    /// The value at the end of the loop.
    Exit(Symbol, usize),
    /// The lower 32 bits.
    Low(Symbol),
    /// The upper 32 bits.
    High(Symbol),
}

/// Everything that numbering reads.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The module.
    pub host: &'a HostModule,
    /// Points-to sets.
    pub points_to: &'a PointsTo,
    /// Effects.
    pub memory: &'a HostMemory,
    /// Names of kernel stubs.
    pub stubs: &'a [String],
}

/// The symbols of all analysed functions.
pub struct Numbering<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) flows: HashMap<usize, (ControlFlow, usize)>,
    pub(super) definitions: Vec<Definition>,
    pub(super) varies_in: Vec<Option<usize>>,
    pub(super) no_signed_wrap: Vec<bool>,
    pub(super) index: HashMap<Definition, Symbol>,
    pub(super) values: HashMap<(usize, usize), Symbol>,
    pub(super) halves: HashMap<(Symbol, bool), Symbol>,
    pub(super) writers: HashMap<usize, Writers>,
    pub(super) locations: HashMap<(usize, Symbol, u64), Location>,
    /// Where so many bytes at some places may be written in a function, as far as places tell.
    pub(super) written: HashMap<(usize, Targets, u64), Rc<Written>>,
}

/// Loads of copied structs are followed through so many copies.
const COPIES_FOLLOWED: usize = 4;

/// Operations that a range is followed through.
const RANGE_DEPTH: u32 = 12;

impl<'a> Numbering<'a> {
    /// An empty numbering.
    pub fn new(facts: Facts<'a>) -> Self {
        Self {
            facts,
            flows: HashMap::new(),
            definitions: Vec::new(),
            varies_in: Vec::new(),
            no_signed_wrap: Vec::new(),
            index: HashMap::new(),
            values: HashMap::new(),
            halves: HashMap::new(),
            writers: HashMap::new(),
            locations: HashMap::new(),
            written: HashMap::new(),
        }
    }

    /// Numbers all values of a function, whose loops are numbered from `first_loop`.
    pub fn add_function(&mut self, function: usize, flow: ControlFlow, first_loop: usize) {
        let host = self.facts.host;
        let body = &host.functions[function];
        let writers = (0..body.instructions.len())
            .filter_map(|at| {
                let facts = self.facts;
                let writes = facts
                    .memory
                    .writes(host, facts.points_to, facts.stubs, function, at);
                (!writes.is_empty()).then_some((at, writes))
            })
            .collect();
        self.writers.insert(function, Writers::new(writers));
        let order = flow.order.clone();
        self.flows.insert(function, (flow, first_loop));
        for block in order {
            for at in body.blocks[block].instructions.clone() {
                self.value(function, at);
            }
        }
    }

    /// What a symbol stands for.
    pub fn definition(&self, symbol: Symbol) -> &Definition {
        &self.definitions[symbol.0]
    }

    /// The innermost loop in whose iterations it may differ.
    pub fn varies_in(&self, symbol: Symbol) -> Option<usize> {
        self.varies_in[symbol.0]
    }

    /// The operation was proven (by the front end) not to wrap as signed arithmetic.
    pub fn no_signed_wrap(&self, symbol: Symbol) -> bool {
        self.no_signed_wrap[symbol.0]
    }

    /// The literal that a symbol is.
    pub fn literal(&self, symbol: Symbol) -> Option<i64> {
        match self.definitions[symbol.0] {
            Definition::Literal { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The symbol of `operand` as used in `block` of `function`.
    pub fn operand(&mut self, function: usize, operand: Operand, block: usize) -> Symbol {
        let symbol = match operand {
            Operand::Instruction(at) => self.value(function, at),
            Operand::Parameter(index) => self.intern(Definition::Parameter(function, index), None),
            Operand::Integer { bits, value } => {
                self.intern(Definition::Literal { bits, value }, None)
            }
            Operand::Float { bits, pattern } => {
                let value = if bits == 32 {
                    i64::from(pattern as u32 as i32)
                } else {
                    pattern as i64
                };
                self.intern(Definition::Literal { bits, value }, None)
            }
            Operand::Null => self.intern(Definition::Literal { bits: 64, value: 0 }, None),
            Operand::Undefined => self.unique(),
            Operand::Global(global, offset) => {
                let base = self.intern(Definition::Global(global), None);
                self.offset(base, offset)
            }
            Operand::Function(callee) => self.intern(Definition::Function(callee), None),
            Operand::Constant(index) => self.intern(Definition::Constant(index), None),
        };
        self.leave_loops(symbol, function, block)
    }

    /// The value of `bytes` bytes at `address` just before instruction `at`.
    pub fn load_before(
        &mut self,
        function: usize,
        at: usize,
        address: Symbol,
        targets: &Targets,
        bytes: u64,
    ) -> Symbol {
        let point = self.before(function, at);
        self.load(function, point, address, targets, bytes, COPIES_FOLLOWED)
    }

    fn before(&self, function: usize, at: usize) -> Point {
        Point {
            block: self.facts.host.functions[function].instructions[at].block,
            limit: at,
        }
    }

    /// The value of `bytes` bytes at the end of `block`, at an address that was loaded from before.
    pub(super) fn load_at_end(
        &mut self,
        function: usize,
        block: usize,
        address: Symbol,
        bytes: u64,
    ) -> Option<Symbol> {
        let location = self.locations.get(&(function, address, bytes))?;
        let targets = location.targets.clone();
        let end = Point {
            block,
            limit: usize::MAX,
        };
        Some(self.load(function, end, address, &targets, bytes, COPIES_FOLLOWED))
    }

    /// The symbol of an instruction that is numbered already.
    pub(super) fn known(&self, function: usize, at: usize) -> Option<Symbol> {
        self.values.get(&(function, at)).copied()
    }

    /// The member at `path` of an aggregate as used in `block`; `place` is its offset and
    /// size in bytes, where known.
    pub fn field(
        &mut self,
        function: usize,
        aggregate: Operand,
        block: usize,
        path: &[u32],
        place: Option<(u64, u64)>,
    ) -> Symbol {
        let host = self.facts.host;
        match (aggregate, path) {
            (_, []) => return self.operand(function, aggregate, block),
            (Operand::Undefined, _) => return self.unique(),
            (Operand::Constant(index), [first, rest @ ..]) => {
                let member = host
                    .members
                    .get(&index)
                    .and_then(|members| members.get(*first as usize));
                if let Some(member) = member {
                    return self.field(function, *member, block, rest, None);
                }
            }
            (Operand::Instruction(at), _) => {
                let made = &host.functions[function].instructions[at];
                let symbol = match &made.opcode {
                    Opcode::Insert { indices } => Some(match path.strip_prefix(&indices[..]) {
                        Some(rest) => {
                            self.field(function, made.operands[1], made.block, rest, None)
                        }
                        None => self.field(function, made.operands[0], made.block, path, place),
                    }),
                    Opcode::Load { ordered: false } => {
                        place.and_then(|place| self.loaded_field(function, at, place))
                    }
                    _ => None,
                };
                if let Some(symbol) = symbol {
                    return self.leave_loops(symbol, function, block);
                }
            }
            _ => {}
        }
        let aggregate = self.operand(function, aggregate, block);
        self.derived(Definition::Extract(aggregate, path.to_vec()), &[aggregate])
    }

    /// A scalar of a struct that is loaded whole.
    fn loaded_field(
        &mut self,
        function: usize,
        at: usize,
        (offset, bytes): (u64, u64),
    ) -> Option<Symbol> {
        let host = self.facts.host;
        let load = &host.functions[function].instructions[at];
        let offset = i64::try_from(offset).ok()?;
        let targets = moved(
            &self.facts.points_to.of(host, function, load.operands[0]),
            offset,
        );
        if self.facts.points_to.any_kernel_visible(&targets) {
            return None;
        }
        let start = self.operand(function, load.operands[0], load.block);
        let address = self.offset(start, offset);
        Some(self.load_before(function, at, address, &targets, bytes))
    }

    /// `base + bytes`.
    pub fn offset(&mut self, base: Symbol, bytes: i64) -> Symbol {
        match self.definitions[base.0].clone() {
            _ if bytes == 0 => base,
            Definition::Offset(inner, before) => match before.checked_add(bytes) {
                Some(0) => inner,
                Some(sum) => self.derived(Definition::Offset(inner, sum), &[inner]),
                None => self.unique(),
            },
            _ => self.derived(Definition::Offset(base, bytes), &[base]),
        }
    }

    /// The lower 32 bits of a 64-bit value.
    pub fn low(&mut self, symbol: Symbol) -> Symbol {
        self.half(symbol, false)
    }

    /// The upper 32 bits of a 64-bit value.
    pub fn high(&mut self, symbol: Symbol) -> Symbol {
        self.half(symbol, true)
    }

    fn value(&mut self, function: usize, at: usize) -> Symbol {
        if let Some(symbol) = self.values.get(&(function, at)) {
            return *symbol;
        }
        let host = self.facts.host;
        let instruction = &host.functions[function].instructions[at];
        let block = instruction.block;
        // Whoever asks for it while it is being computed gets something that equals nothing else.
        let own = self.leaf(function, at);
        if matches!(instruction.opcode, Opcode::Phi { .. }) {
            let symbol = self.phi(function, at, own);
            self.values.insert((function, at), symbol);
            return symbol;
        }
        self.values.insert((function, at), own);
        let symbol = match &instruction.opcode {
            Opcode::Pure {
                operation,
                no_signed_wrap,
            } => {
                let operands: Vec<Symbol> = instruction
                    .operands
                    .iter()
                    .map(|operand| self.operand(function, *operand, block))
                    .collect();
                let moved = self.moved_address(function, at, *operation, &operands);
                match instruction.result.scalar_bits() {
                    _ if moved.is_some() => moved.unwrap_or(own),
                    Some(bits) => {
                        let known = self.definitions.len();
                        let symbol = self.operation(*operation, bits, operands);
                        // Congruent operations share a symbol: it may wrap if one of them may.
                        let flag = &mut self.no_signed_wrap[symbol.0];
                        *flag = *no_signed_wrap && (*flag || symbol.0 >= known);
                        symbol
                    }
                    None => own,
                }
            }
            Opcode::Address {
                constant, scales, ..
            } if instruction.result == Type::Pointer => {
                let mut symbol = self.operand(function, instruction.operands[0], block);
                let mut constant = *constant;
                if let Definition::Offset(inner, before) = self.definitions[symbol.0] {
                    match constant.checked_add(before) {
                        Some(sum) => (symbol, constant) = (inner, sum),
                        None => return own,
                    }
                }
                for (operand, scale) in instruction.operands[1..].iter().zip(scales) {
                    let mut index = self.operand(function, *operand, block);
                    if self.width(index) != Some(64) {
                        // Narrow indices are sign-extended.
                        index = self.operation(Operation::SignExtend, 64, vec![index]);
                    }
                    let scale = self.intern(
                        Definition::Literal {
                            bits: 64,
                            value: *scale,
                        },
                        None,
                    );
                    let bytes = self.operation(Operation::Multiply, 64, vec![index, scale]);
                    symbol = self.derived(Definition::Displaced(symbol, bytes), &[symbol, bytes]);
                }
                self.offset(symbol, constant)
            }
            Opcode::Load { ordered: false } if instruction.result.scalar_bits().is_some() => {
                let targets = self
                    .facts
                    .points_to
                    .of(host, function, instruction.operands[0]);
                if self.facts.points_to.any_kernel_visible(&targets) {
                    own
                } else {
                    let address = self.operand(function, instruction.operands[0], block);
                    let bytes = instruction.result.bytes();
                    if instruction.result.scalar_bits() == Some(bytes as u32 * 8) {
                        self.load_before(function, at, address, &targets, bytes)
                    } else {
                        own
                    }
                }
            }
            Opcode::Extract { indices } => {
                self.field(function, instruction.operands[0], block, indices, None)
            }
            Opcode::Call {
                callee: Some(callee),
                effects,
                ..
            } if !effects.reads
                && !effects.writes_arguments
                && !effects.writes_elsewhere
                && effects.will_return =>
            {
                let operands: Vec<Symbol> = instruction
                    .operands
                    .iter()
                    .map(|operand| self.operand(function, *operand, block))
                    .collect();
                self.derived(Definition::PureCall(*callee, operands.clone()), &operands)
            }
            _ => own,
        };
        self.values.insert((function, at), symbol);
        symbol
    }

    /// A join of equal values is that value; every other join is its own.
    fn phi(&mut self, function: usize, at: usize, own: Symbol) -> Symbol {
        let instruction = &self.facts.host.functions[function].instructions[at];
        let Opcode::Phi { blocks } = &instruction.opcode else {
            return own;
        };
        let mut common = None;
        for (operand, from) in instruction.operands.iter().zip(blocks) {
            let symbol = match operand {
                Operand::Instruction(source) => match self.values.get(&(function, *source)) {
                    Some(symbol) => *symbol,
                    None => return own,
                },
                Operand::Undefined => return own,
                other => self.operand(function, *other, *from),
            };
            let symbol = self.leave_loops(symbol, function, instruction.block);
            if common.is_some_and(|common| common != symbol) {
                return own;
            }
            common = Some(symbol);
        }
        common.unwrap_or(own)
    }

    fn load(
        &mut self,
        function: usize,
        point: Point,
        address: Symbol,
        targets: &Targets,
        bytes: u64,
        copies: usize,
    ) -> Symbol {
        let block = point.block;
        let version = self.version_before(function, point, address, targets, bytes);
        if let Version::Write(writer) = version
            && let Some(symbol) = self.written(function, writer, address, bytes, copies)
        {
            return self.leave_loops(symbol, function, block);
        }
        if bytes == 8
            && let Some(symbol) =
                self.load_halves(function, point, address, targets, version, copies)
        {
            return symbol;
        }
        let version = self.version_symbol(function, version);
        let version = self.leave_loops(version, function, block);
        self.derived(
            Definition::Load {
                address,
                bytes,
                version,
            },
            &[address, version],
        )
    }

    /// Eight bytes whose two halves were written one by one, as `dim3` is.
    fn load_halves(
        &mut self,
        function: usize,
        point: Point,
        address: Symbol,
        targets: &Targets,
        whole: Version,
        copies: usize,
    ) -> Option<Symbol> {
        let upper_targets = moved(targets, 4);
        let upper_address = self.offset(address, 4);
        let versions = [
            self.version_before(function, point, address, targets, 4),
            self.version_before(function, point, upper_address, &upper_targets, 4),
        ];
        if versions[0] == whole && versions[1] == whole {
            return None;
        }
        let low = self.load(function, point, address, targets, 4, copies);
        let high = self.load(function, point, upper_address, &upper_targets, 4, copies);
        let low = self.operation(Operation::ZeroExtend, 64, vec![low]);
        let high = self.operation(Operation::ZeroExtend, 64, vec![high]);
        let by = self.intern(
            Definition::Literal {
                bits: 64,
                value: 32,
            },
            None,
        );
        let high = self.operation(Operation::ShiftLeft, 64, vec![high, by]);
        Some(self.operation(Operation::Or, 64, vec![high, low]))
    }

    /// The value that a writer certainly left at exactly this place.
    fn written(
        &mut self,
        function: usize,
        writer: usize,
        address: Symbol,
        bytes: u64,
        copies: usize,
    ) -> Option<Symbol> {
        let host = self.facts.host;
        let instruction = &host.functions[function].instructions[writer];
        match &instruction.opcode {
            Opcode::Store {
                ordered: false,
                stored,
            } if stored.bytes() == bytes => {
                stored
                    .scalar_bits()
                    .filter(|bits| u64::from(*bits) == bytes * 8)?;
                let place = self.operand(function, instruction.operands[1], instruction.block);
                (place == address)
                    .then(|| self.operand(function, instruction.operands[0], instruction.block))
            }
            Opcode::Call {
                callee: Some(callee),
                ..
            } => {
                let name = host.functions[*callee].name.as_str();
                let place_of = |numbering: &mut Self, position: usize| {
                    numbering.operand(function, instruction.operands[position], instruction.block)
                };
                if is_memory_copy(name) && copies > 0 {
                    let (destination, source) = (place_of(self, 0), place_of(self, 1));
                    let Operand::Integer { value: length, .. } = instruction.operands[2] else {
                        return None;
                    };
                    let within = self.distance(destination, address)?;
                    if within < 0 || within.checked_add(i64::try_from(bytes).ok()?)? > length {
                        return None;
                    }
                    let source_targets = moved(
                        &self
                            .facts
                            .points_to
                            .of(host, function, instruction.operands[1]),
                        within,
                    );
                    if self.facts.points_to.any_kernel_visible(&source_targets) {
                        return None;
                    }
                    let from = self.offset(source, within);
                    let point = self.before(function, writer);
                    return Some(self.load(
                        function,
                        point,
                        from,
                        &source_targets,
                        bytes,
                        copies - 1,
                    ));
                }
                if name.starts_with("llvm.memset.") {
                    return self.cleared(function, writer, address, bytes);
                }
                let RuntimeCall { action, .. } = calls::runtime_call(name)?;
                let slot = match action {
                    Action::Allocate { slot, .. }
                    | Action::SymbolAddress { slot, .. }
                    | Action::Handle { slot, .. } => slot,
                    _ => return None,
                };
                if bytes != 8 || place_of(self, slot) != address {
                    return None;
                }
                match action {
                    Action::Handle { kernel, .. } => {
                        let kernel = place_of(self, kernel);
                        if let Definition::Handle(_) = self.definitions[kernel.0] {
                            return Some(kernel);
                        }
                        Some(self.derived(Definition::Handle(kernel), &[kernel]))
                    }
                    Action::SymbolAddress { symbol, .. } => match instruction.operands[symbol] {
                        Operand::Global(global, 0) => {
                            Some(self.intern(Definition::VariableAddress(global), None))
                        }
                        _ => None,
                    },
                    _ => {
                        let varies_in = self.loop_of(function, instruction.block);
                        Some(self.intern(Definition::Allocation(function, writer), varies_in))
                    }
                }
            }
            _ => None,
        }
    }

    /// Bytes from one address to another of the same base.
    pub(super) fn distance(&self, from: Symbol, to: Symbol) -> Option<i64> {
        let split = |symbol: Symbol| match self.definitions[symbol.0] {
            Definition::Offset(base, bytes) => (base, bytes),
            _ => (symbol, 0),
        };
        let ((from_base, from), (to_base, to)) = (split(from), split(to));
        if from_base == to_base {
            to.checked_sub(from)
        } else {
            None
        }
    }

    pub(super) fn operation(
        &mut self,
        operation: Operation,
        bits: u32,
        operands: Vec<Symbol>,
    ) -> Symbol {
        let literals: Vec<Option<i64>> = operands
            .iter()
            .map(|operand| self.literal(*operand))
            .collect();
        let folded = match (operation, &literals[..]) {
            (Operation::Add, [Some(a), Some(b)]) => Some(a.wrapping_add(*b)),
            (Operation::Subtract, [Some(a), Some(b)]) => Some(a.wrapping_sub(*b)),
            (Operation::Multiply, [Some(a), Some(b)]) => Some(a.wrapping_mul(*b)),
            (Operation::Or, [Some(a), Some(b)]) => Some(a | b),
            (Operation::And, [Some(a), Some(b)]) => Some(a & b),
            (Operation::ShiftLeft, [Some(a), Some(b)]) if (0..i64::from(bits)).contains(b) => {
                Some(a.wrapping_shl(*b as u32))
            }
            (Operation::DivideSigned, [Some(a), Some(b)]) if *b > 0 => Some(a / b),
            (Operation::SignExtend | Operation::Truncate | Operation::Reinterpret, [Some(a)]) => {
                Some(*a)
            }
            (Operation::ZeroExtend, [Some(a)]) => match self.width(operands[0]) {
                Some(width) if width < 64 => Some(a & ((1_i64 << width) - 1)),
                _ => None,
            },
            _ => None,
        };
        if let Some(value) = folded {
            let unused = 64 - bits;
            let value = (value << unused) >> unused;
            return self.intern(Definition::Literal { bits, value }, None);
        }
        match (operation, &operands[..]) {
            (Operation::Reinterpret, [inner]) if bits == 64 && self.width(*inner) == Some(64) => {
                return *inner;
            }
            (Operation::Truncate, [inner]) if bits == 32 && self.width(*inner) == Some(64) => {
                return self.half(*inner, false);
            }
            (Operation::Multiply, [inner, one]) if self.literal(*one) == Some(1) => return *inner,
            (Operation::Add | Operation::Or, [inner, zero]) if self.literal(*zero) == Some(0) => {
                return *inner;
            }
            (Operation::Select, [_, a, b]) if a == b => return *a,
            _ => {}
        }
        let from = operands.clone();
        self.derived(
            Definition::Operation {
                operation,
                bits,
                operands,
            },
            &from,
        )
    }

    fn leaf(&mut self, function: usize, at: usize) -> Symbol {
        let block = self.facts.host.functions[function].instructions[at].block;
        let varies_in = self.loop_of(function, block);
        self.intern(Definition::Instruction(function, at), varies_in)
    }

    fn unique(&mut self) -> Symbol {
        let number = self.definitions.len();
        self.intern(Definition::Unique(number), None)
    }

    pub(super) fn loop_of(&self, function: usize, block: usize) -> Option<usize> {
        let (flow, first) = self.flows.get(&function)?;
        flow.innermost[block].map(|index| index + first)
    }

    /// A value used outside the loops that it varies in is their last one.
    pub(super) fn leave_loops(
        &mut self,
        mut symbol: Symbol,
        function: usize,
        block: usize,
    ) -> Symbol {
        while let Some(varies_in) = self.varies_in[symbol.0] {
            let Some((flow, first)) = self.flows.get(&function) else {
                break;
            };
            let index = varies_in - first;
            if flow.contains(index, block) {
                break;
            }
            let parent = flow.loops[index].parent.map(|parent| parent + first);
            symbol = self.intern(Definition::Exit(symbol, varies_in), parent);
        }
        symbol
    }

    /// A value that varies where the innermost of its parts does.
    pub(super) fn derived(&mut self, definition: Definition, parts: &[Symbol]) -> Symbol {
        let loops: Vec<usize> = parts
            .iter()
            .filter_map(|part| self.varies_in[part.0])
            .collect();
        // The loops of the parts of one expression are nested; inner loops have higher numbers.
        let varies_in = loops.into_iter().max();
        self.intern(definition, varies_in)
    }

    pub(super) fn intern(&mut self, definition: Definition, varies_in: Option<usize>) -> Symbol {
        if let Some(symbol) = self.index.get(&definition) {
            return *symbol;
        }
        let symbol = Symbol(self.definitions.len());
        self.definitions.push(definition.clone());
        self.varies_in.push(varies_in);
        self.no_signed_wrap.push(false);
        self.index.insert(definition, symbol);
        symbol
    }
}

/// The same places, so many bytes further.
pub fn moved(targets: &Targets, bytes: i64) -> Targets {
    targets
        .iter()
        .map(|target| Target {
            object: target.object,
            offset: target.offset.plus(Offset::exact(bytes)),
        })
        .collect()
}
