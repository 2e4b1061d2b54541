//! Rows that a block walks over several times: brought to shared memory once.
//!
//! A normalisation is several strided loops over the same row: each thread walks over elements of its own, in
//! every strided loop the same ones. What one strided loop loads or stores the next one loads again from global memory,
//! since a row has no place in registers. Here it stays in shared memory, in the element of the row where
//! the thread finds it again, no barrier needed; a store that a later strided loop overwrites is left out.
//!
//! Invariant: at every load that is replaced, the thread's element of the copy holds what the byte in
//! global memory would hold. The proof:
//! - A *strided loop* is a loop that is not inside another, whose counter begins at `threadIdx.x`, advances by
//!   at least the threads of the (one-dimensional) block, and stays below a bound. Strided loops of equal begin,
//!   step and bound give a thread the same counters, so that element `counter` of the copy is the
//!   thread's own in all of them. The counter is below the bound, and the bound is at most what fits:
//!   else the kernel goes the old way, of which a copy is kept.
//! - A *stream* are accesses of these strided loops to one place, as a function of the counter, of one type. No
//!   other access of the kernel writes to what it reads or writes. Places of different counters do not
//!   overlap, so that a thread's own iterations do not disturb each other; that two threads meet in a
//!   place would be a race in the kernel, or both read.
//! - Every store of a stream also goes to the copy, and so does a load that all iterations of an earlier
//!   strided loop, or of the same one before, execute.
//! - A store goes when nothing in the kernel loads what it writes any more, and all iterations of a later
//!   strided loop, to which every way leads, store to the same place.
//!
//! The verifier judges what is planned by itself, by a model of the kernel that is read anew.

use super::super::control_flow::ControlFlow;
use super::super::memory::{Effect, KernelFacts, Root, is_uniform, made_alike};
use super::super::versions::{self, Entry};
use crate::codegen::{CodegenError, PromotedRows};
use crate::kernel::{Tables, model_accesses};
use crate::llvm::{Block, Builder, IntegerPredicate, Linkage, Opcode, Type, Value};
use crate::verify::{PromotedStream, RowLength, RowPromotion, row_promotion_conflict};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// A kernel that keeps rows.
#[derive(Default)]
pub(in crate::codegen::fused_kernels::fuse) struct Promoted<'ctx> {
    /// What each launch has to bring along for that.
    pub(in crate::codegen::fused_kernels::fuse) rows: Option<PromotedRows>,
    /// The version without, which the kernel calls where they do not fit.
    pub(in crate::codegen::fused_kernels::fuse) general: Option<Value<'ctx>>,
    /// Bytes for each element of a row that launches could bring along besides.
    pub(in crate::codegen::fused_kernels::fuse) spare_bytes: u64,
}

/// Keeps rows in shared memory, where there are any. Where launches bring that along, they could bring
/// as many bytes more for each element as `spare_bytes` says.
///
/// # Errors
/// When LLVM refuses a copy of the kernel.
pub(in crate::codegen::fused_kernels::fuse) fn promote_rows<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
    spare_bytes: impl FnOnce() -> u64,
) -> Result<Promoted<'ctx>, CodegenError> {
    let Some(plan) = Plan::of(module, kernel, facts, spare_bytes) else {
        return Ok(Promoted::default());
    };
    if !plan.is_confirmed(module, kernel, facts) {
        return Ok(Promoted::default());
    }
    let mut promoted = Promoted {
        spare_bytes: plan.spare_bytes,
        ..Promoted::default()
    };
    if plan.is_conditional() {
        let Some(entry) = versions::split(module, kernel)? else {
            return Ok(promoted);
        };
        plan.test(module, &entry);
        promoted.general = Some(entry.copy);
    }
    plan.carry_out(module, kernel);
    if let Length::Parameter { index, bits } = plan.length {
        promoted.rows = Some(PromotedRows {
            parameter: index,
            bits,
            element_bytes: plan.element_bytes(),
            most_elements: plan.most_elements,
            behind_bytes: plan.behind_bytes,
        });
    }
    Ok(promoted)
}

/// The shared variable in which a kernel keeps rows.
pub(in crate::codegen::fused_kernels::fuse) fn rows_name(kernel: Value) -> String {
    format!("{}_rows", kernel.name())
}

/// The shared memory that any device gives a block.
const MOST_SHARED_BYTES: u64 = 48 << 10;

/// No copy begins before a multiple of this.
const ALIGNMENT: u64 = 16;

/// A loop in which each thread walks over elements of its own.
struct StridedLoop<'ctx> {
    header: Block<'ctx>,
    latch: Block<'ctx>,
    blocks: HashSet<Block<'ctx>>,
    counter: Value<'ctx>,
    step: Value<'ctx>,
    bound: Value<'ctx>,
}

/// A place in global memory as a function of a strided loop's counter: `base[extended(uniform + counter)]`.
#[derive(Clone, Copy)]
pub(in crate::codegen::fused_kernels::fuse) struct Place<'ctx> {
    base: Value<'ctx>,
    pub(in crate::codegen::fused_kernels::fuse) element: Type<'ctx>,
    /// What is added to the counter.
    uniform: Option<Value<'ctx>>,
    /// How the counter is widened before that.
    inner: Widening,
    /// How the sum is widened.
    outer: Widening,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Widening {
    None,
    Signed,
    Unsigned,
}

#[derive(Clone, Copy)]
struct Access<'ctx> {
    instruction: Value<'ctx>,
    /// Index of its strided loop.
    strided_loop: usize,
    place: Place<'ctx>,
    stores: bool,
    ty: Type<'ctx>,
    /// Every iteration executes it.
    always: bool,
}

#[derive(Default)]
struct Stream<'ctx> {
    accesses: Vec<Access<'ctx>>,
    /// Loads that read the copy.
    replaced: Vec<Access<'ctx>>,
    /// What also goes to the copy.
    mirrored: Vec<Access<'ctx>>,
    /// Stores that are left out.
    dead: Vec<Value<'ctx>>,
    /// Sums that must not be negative, as 32-bit numbers, for the places to be equal.
    non_negative: Vec<Value<'ctx>>,
}

struct Plan<'ctx> {
    /// By copy: bytes of an element, and the streams that have it one after the other.
    copies: Vec<(u64, Vec<Stream<'ctx>>)>,
    strided_loops: Vec<StridedLoop<'ctx>>,
    bound: Value<'ctx>,
    length: Length,
    most_elements: u64,
    spare_bytes: u64,
    /// What launches bring along for the members comes before.
    behind_bytes: u64,
}

/// How many elements a row has.
#[derive(Clone, Copy)]
enum Length {
    Constant(u64),
    /// The kernel's parameter of this number says so.
    Parameter {
        index: usize,
        bits: u32,
    },
}

impl<'ctx> Plan<'ctx> {
    fn of(
        module: &Module<'ctx>,
        kernel: Value<'ctx>,
        facts: &KernelFacts,
        spare_bytes: impl FnOnce() -> u64,
    ) -> Option<Self> {
        let behind_bytes = facts.dynamic_shared_bytes?.next_multiple_of(ALIGNMENT);
        let flow = ControlFlow::of(kernel)?;
        let mut instructions = flow.instructions();
        if instructions.any(|at| Effect::of(at) == Effect::Unknown) {
            return None;
        }
        let strided_loops = strided_loops(&flow, facts);
        let bound = strided_loops.first()?.bound;
        let mut parameters = kernel.parameters().into_iter();
        let length = match bound.constant_integer() {
            Some(length) => Length::Constant(length),
            None => Length::Parameter {
                index: parameters.position(|parameter| parameter == bound)?,
                bits: bound.ty().integer_bits(),
            },
        };
        if let Length::Parameter { index, .. } = length
            && facts.arguments.get(index) != Some(&true)
        {
            return None;
        }
        let finder = Finder {
            module,
            kernel,
            facts,
            flow: &flow,
            strided_loops: &strided_loops,
        };
        let mut copies: Vec<(u64, Vec<Stream>)> = Vec::new();
        for stream in finder.streams() {
            let bytes = stream.accesses[0].ty.allocation_bytes(module);
            let free = copies.iter_mut().find(|(size, before)| {
                let mut before = before.iter();
                *size == bytes && before.all(|before| finder.ends_before(before, &stream))
            });
            match free {
                Some((_, streams)) => streams.push(stream),
                None => copies.push((bytes, vec![stream])),
            }
        }
        if copies.is_empty() {
            return None;
        }
        // Larger elements first, so that each copy is aligned.
        copies.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        let mut plan = Self {
            copies,
            strided_loops,
            bound,
            length,
            most_elements: 0,
            spare_bytes: 0,
            behind_bytes,
        };
        let taken = facts.static_shared_bytes + behind_bytes + ALIGNMENT;
        let left = MOST_SHARED_BYTES.checked_sub(taken)?;
        let spare = match length {
            Length::Constant(_) => 0,
            Length::Parameter { .. } => spare_bytes(),
        };
        plan.spare_bytes = spare;
        plan.most_elements = left.checked_div(plan.element_bytes() + spare)?;
        let least = match length {
            Length::Constant(length) => length,
            Length::Parameter { .. } => 1,
        };
        (plan.most_elements >= least).then_some(plan)
    }

    /// Whether the verifier finds, too, that nobody notices.
    fn is_confirmed(&self, module: &Module, kernel: Value, facts: &KernelFacts) -> bool {
        let Some(function) = module.get_function(&kernel.name()) else {
            return false;
        };
        let model = model_accesses(function, &kernel.name(), Tables::Unknown);
        let conflict = row_promotion_conflict(
            &model,
            &self.promotion(kernel),
            facts.block,
            |one, other| facts.are_disjoint(one, other),
        );
        conflict.is_none()
    }

    /// What is to be done, as the verifier is told.
    fn promotion(&self, kernel: Value) -> RowPromotion {
        let blocks = kernel.blocks().into_iter();
        let text = blocks.flat_map(|block| {
            let end = block.terminator();
            let instructions = block.instructions().into_iter();
            instructions.filter(move |at| Some(*at) != end)
        });
        let places: HashMap<Value, usize> = text.zip(0..).collect();
        let of = |instructions: &mut dyn Iterator<Item = Value>| -> Vec<usize> {
            instructions
                .filter_map(|at| places.get(&at).copied())
                .collect()
        };
        let stream = |stream: &Stream| PromotedStream {
            mirrored: of(&mut stream.mirrored.iter().map(|each| each.instruction)),
            replaced: of(&mut stream.replaced.iter().map(|each| each.instruction)),
            dead: of(&mut stream.dead.iter().copied()),
        };
        let copies = self.copies.iter();
        RowPromotion {
            copies: copies
                .map(|(_, streams)| streams.iter().map(stream).collect())
                .collect(),
            length: match self.length {
                Length::Constant(length) => RowLength::Constant(length),
                Length::Parameter { index, .. } => RowLength::Argument(index),
            },
        }
    }

    /// For each element of a row, over all copies.
    fn element_bytes(&self) -> u64 {
        self.copies.iter().map(|(bytes, _)| bytes).sum()
    }

    fn streams(&self) -> impl Iterator<Item = &Stream<'ctx>> {
        self.copies.iter().flat_map(|(_, streams)| streams)
    }

    /// Whether it depends on the launch that rows can be kept.
    fn is_conditional(&self) -> bool {
        let always = |stream: &Stream| stream.non_negative.is_empty();
        matches!(self.length, Length::Parameter { .. }) || !self.streams().all(always)
    }

    /// Chooses the version at the beginning of the kernel.
    fn test(&self, module: &Module, entry: &Entry) {
        let long = Type::integer(module, 64);
        let builder = Builder::at_end(entry.block);
        let bound = widest(&builder, self.bound, long);
        let most = long.constant(self.most_elements);
        let mut fits = builder.compare(IntegerPredicate::LLVMIntULE, bound, most);
        for sum in self.streams().flat_map(|stream| &stream.non_negative) {
            let first = widest(&builder, versions::computed_again(&builder, *sum), long);
            let end = builder.binary(Opcode::LLVMAdd, first, bound);
            let limit = long.constant(1 << 31);
            let holds = builder.compare(IntegerPredicate::LLVMIntULE, end, limit);
            fits = builder.binary(Opcode::LLVMAnd, fits, holds);
        }
        builder.branch_if(fits, entry.special, entry.general);
    }

    fn carry_out(&self, module: &Module<'ctx>, kernel: Value<'ctx>) {
        let name = rows_name(kernel);
        let (byte, long) = (Type::integer(module, 8), Type::integer(module, 64));
        let bytes = match self.length {
            Length::Constant(length) => length * self.element_bytes(),
            Length::Parameter { .. } => 0,
        };
        let ty = byte.array(bytes);
        let memory = Value::add_global(module, &name, ty, SHARED_ADDRESS_SPACE);
        memory.set_alignment(ALIGNMENT as u32);
        let memory = match self.length {
            Length::Constant(_) => {
                memory.set_linkage(Linkage::LLVMInternalLinkage);
                memory.set_initializer(Some(ty.poison()));
                memory
            }
            Length::Parameter { .. } => memory.constant_offset(module, self.behind_bytes),
        };
        let mut before = 0;
        for (bytes, streams) in &self.copies {
            let alignment = (*bytes).min(ALIGNMENT) as u32;
            let place = |builder: &Builder<'ctx>, access: &Access<'ctx>| {
                let mut start = memory;
                if before > 0 {
                    let bound = widest(builder, self.bound, long);
                    let skipped = builder.binary(Opcode::LLVMMul, bound, long.constant(before));
                    start = builder.element_pointer(byte, start, &[skipped]);
                }
                let counter = widest(
                    builder,
                    self.strided_loops[access.strided_loop].counter,
                    long,
                );
                builder.element_pointer(access.ty, start, &[counter])
            };
            for stream in streams {
                for access in &stream.mirrored {
                    let builder = Builder::after(access.instruction);
                    let value = match access.stores {
                        true => access.instruction.operand(0),
                        false => access.instruction,
                    };
                    builder.store_aligned(value, place(&builder, access), alignment);
                }
                for access in &stream.replaced {
                    let builder = Builder::before(access.instruction);
                    let load = builder.load_aligned(access.ty, place(&builder, access), alignment);
                    access.instruction.replace_uses_with(load);
                }
            }
            before += bytes;
        }
        for stream in self.streams() {
            let replaced = stream.replaced.iter().map(|access| access.instruction);
            replaced
                .chain(stream.dead.iter().copied())
                .for_each(Value::erase);
        }
    }
}

/// A number that is not negative, as one of 64 bits.
fn widest<'ctx>(builder: &Builder<'ctx>, value: Value<'ctx>, long: Type<'ctx>) -> Value<'ctx> {
    match value.ty().integer_bits() < 64 {
        true => builder.cast(Opcode::LLVMZExt, value, long),
        false => value,
    }
}

const SHARED_ADDRESS_SPACE: u32 = 3;

/// The strided loops of a kernel of one length, each on every way to the next; of the longest such chain.
fn strided_loops<'ctx>(flow: &ControlFlow<'ctx>, facts: &KernelFacts) -> Vec<StridedLoop<'ctx>> {
    let mut chains: Vec<Vec<StridedLoop>> = Vec::new();
    let mut found: Vec<StridedLoop> = flow
        .loops_with_one_latch()
        .into_iter()
        .filter_map(|(header, latch, blocks)| StridedLoop::of(flow, facts, header, latch, blocks))
        .collect();
    found.sort_by_key(|strided_loop| flow.depth(strided_loop.header));
    for strided_loop in found {
        let chain = chains.iter_mut().find(|chain| {
            chain.last().is_some_and(|last| {
                made_alike(last.bound, strided_loop.bound)
                    && made_alike(last.step, strided_loop.step)
                    && last.counter.ty() == strided_loop.counter.ty()
                    && flow.dominates(last.header, strided_loop.header)
            })
        });
        match chain {
            Some(chain) => chain.push(strided_loop),
            None => chains.push(vec![strided_loop]),
        }
    }
    chains.into_iter().max_by_key(Vec::len).unwrap_or_default()
}

impl<'ctx> StridedLoop<'ctx> {
    fn of(
        flow: &ControlFlow<'ctx>,
        facts: &KernelFacts,
        header: Block<'ctx>,
        latch: Block<'ctx>,
        blocks: HashSet<Block<'ctx>>,
    ) -> Option<Self> {
        let before = flow.entered_from(header, latch)?;
        if blocks.contains(&before) || flow.repeats(before) {
            return None;
        }
        let leaves = |block: &&Block| {
            let mut successors = block.successors().into_iter();
            successors.any(|to| !blocks.contains(&to))
        };
        let mut exits = blocks.iter().filter(leaves);
        if exits.next() != Some(&header) || exits.next().is_some() {
            return None;
        }
        let mut inside = blocks.iter().flat_map(|block| block.instructions());
        if inside.any(|at| Effect::of(at) == Effect::Barrier) {
            return None;
        }
        let condition = header.terminator()?.branch_condition()?;
        if !condition.is_instruction() || condition.opcode() != Some(Opcode::LLVMICmp) {
            return None;
        }
        let goes_on = header.successors().first().copied()?;
        let below = matches!(
            condition.integer_predicate(),
            Some(IntegerPredicate::LLVMIntSLT | IntegerPredicate::LLVMIntULT)
        );
        let (counter, bound) = (condition.operand(0), condition.operand(1));
        if !below || !blocks.contains(&goes_on) || !header.phis().contains(&counter) {
            return None;
        }
        let incoming = counter.incoming();
        let from = |block: Block| incoming.iter().find(|(_, source)| *source == block);
        let (begin, next) = (from(before)?.0, from(latch)?.0);
        let advances = next.is_instruction() && next.opcode() == Some(Opcode::LLVMAdd);
        if !advances || !is_register(begin, "tid.x") || facts.block[1..] != [Some(1), Some(1)] {
            return None;
        }
        let step = match (next.operand(0), next.operand(1)) {
            (one, step) | (step, one) if one == counter => step,
            _ => return None,
        };
        let wide_enough = match step.constant_integer() {
            // As a signed number of its width it is small and positive.
            Some(step) => facts.block[0].is_some_and(|threads| (threads..1 << 20).contains(&step)),
            None => is_register(step, "ntid.x"),
        };
        wide_enough.then_some(Self {
            header,
            latch,
            blocks,
            counter,
            step,
            bound,
        })
    }
}

/// A read of a register, widened perhaps. Extents and indices of threads are never negative.
fn is_register(value: Value, register: &str) -> bool {
    if !value.is_instruction() {
        return false;
    }
    match value.opcode() {
        Some(Opcode::LLVMZExt | Opcode::LLVMSExt) => is_register(value.operand(0), register),
        _ => {
            let name = value.called_name();
            let found = name.as_deref();
            found.and_then(|name| name.strip_prefix("llvm.nvvm.read.ptx.sreg.")) == Some(register)
        }
    }
}

struct Finder<'a, 'ctx> {
    module: &'a Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &'a KernelFacts,
    flow: &'a ControlFlow<'ctx>,
    strided_loops: &'a [StridedLoop<'ctx>],
}

impl<'ctx> Finder<'_, 'ctx> {
    /// Streams of which a load can be replaced, in the order in which they begin.
    fn streams(&self) -> Vec<Stream<'ctx>> {
        let mut streams: Vec<Stream> = Vec::new();
        for access in self.accesses() {
            let home = streams.iter_mut().find_map(|stream| {
                let conditions = self.same_place(&stream.accesses[0], &access)?;
                Some((stream, conditions))
            });
            match home {
                Some((stream, conditions)) => {
                    stream.accesses.push(access);
                    stream.non_negative.extend(conditions);
                }
                None => streams.push(Stream {
                    accesses: vec![access],
                    ..Stream::default()
                }),
            }
        }
        let mut useful: Vec<Stream> = streams
            .into_iter()
            .filter_map(|stream| self.complete(stream))
            .collect();
        self.note_dead_stores(&mut useful);
        useful
    }

    /// The loads and stores whose place is a function of the counter, strided loop by strided loop.
    fn accesses(&self) -> Vec<Access<'ctx>> {
        let mut found = Vec::new();
        for (index, strided_loop) in self.strided_loops.iter().enumerate() {
            for instruction in self.flow.instructions() {
                let effect = Effect::of(instruction);
                let address = match effect {
                    Effect::Load(address) | Effect::Store(address) => address,
                    _ => continue,
                };
                let inside = strided_loop.blocks.contains(&instruction.block());
                if !inside || !matches!(self.root(instruction), Root::Parameter(_)) {
                    continue;
                }
                let Some(place) = Place::of(address, strided_loop.counter) else {
                    continue;
                };
                let stores = effect.writes();
                let ty = match stores {
                    true => instruction.operand(0).ty(),
                    false => instruction.ty(),
                };
                let bytes = ty.allocation_bytes(self.module);
                let fits = bytes.is_power_of_two()
                    && bytes <= ALIGNMENT
                    && ty.access_bytes(self.module) == bytes
                    && place.element.allocation_bytes(self.module) >= bytes;
                if fits {
                    found.push(Access {
                        instruction,
                        strided_loop: index,
                        place,
                        stores,
                        ty,
                        always: self.flow.dominates(instruction.block(), strided_loop.latch),
                    });
                }
            }
        }
        found
    }

    fn root(&self, instruction: Value<'ctx>) -> Root<'ctx> {
        match Effect::of(instruction).address() {
            Some(address) => Root::of(self.kernel, address),
            None => Root::Unknown,
        }
    }

    /// Whether two accesses go to the same place in iterations of equal counters, with what must not
    /// be negative for that.
    fn same_place(&self, one: &Access<'ctx>, other: &Access<'ctx>) -> Option<Vec<Value<'ctx>>> {
        let (a, b) = (&one.place, &other.place);
        let alike = match (a.uniform, b.uniform) {
            (None, None) => true,
            (Some(a), Some(b)) => made_alike(a, b),
            _ => false,
        };
        let same = alike
            && one.ty == other.ty
            && a.element == b.element
            && made_alike(a.base, b.base)
            // A counter is not negative, so that either widening gives the same.
            && (a.inner == Widening::None) == (b.inner == Widening::None)
            && (a.outer == Widening::None) == (b.outer == Widening::None);
        match a.uniform {
            _ if !same => None,
            Some(sum) if a.outer != b.outer => {
                let narrow = sum.ty().integer_bits() == 32;
                (narrow && versions::can_be_computed_again(sum)).then(|| vec![sum])
            }
            _ => Some(Vec::new()),
        }
    }

    /// Which accesses of a stream use the copy; `None` when nothing is gained, or something else writes
    /// there.
    fn complete(&self, mut stream: Stream<'ctx>) -> Option<Stream<'ctx>> {
        let root = self.root(stream.accesses[0].instruction);
        let own: HashSet<Value> = stream
            .accesses
            .iter()
            .map(|each| each.instruction)
            .collect();
        let disturbed = self.flow.instructions().any(|other| {
            Effect::of(other).writes()
                && !own.contains(&other)
                && self.root(other).may_share(root, self.facts)
        });
        if disturbed {
            return None;
        }
        let is_known_at = |load: &Access| {
            let mut before = stream.accesses.iter();
            before.any(|before| before.always && self.comes_before(before, load))
        };
        let loads = stream.accesses.iter().filter(|access| !access.stores);
        let replaced: Vec<Access> = loads.filter(|load| is_known_at(load)).copied().collect();
        let mirrored = stream.accesses.iter().filter(|access| {
            let is_replaced = replaced
                .iter()
                .any(|load| load.instruction == access.instruction);
            let kept = access.stores || access.always && !is_replaced;
            kept && replaced.iter().any(|load| !self.comes_after(access, load))
        });
        let mirrored = mirrored.copied().collect();
        stream.mirrored = mirrored;
        stream.replaced = replaced;
        (!stream.replaced.is_empty()).then_some(stream)
    }

    /// Whether one access happens in an earlier strided loop, or on every way before another of the same
    /// iteration.
    fn comes_before(&self, one: &Access, other: &Access) -> bool {
        one.strided_loop < other.strided_loop
            || one.strided_loop == other.strided_loop
                && self.flow.precedes(one.instruction, other.instruction)
    }

    fn comes_after(&self, one: &Access, other: &Access) -> bool {
        self.comes_before(other, one)
    }

    /// Whether the copy of a stream is looked at for the last time before that of another is made.
    fn ends_before(&self, one: &Stream, other: &Stream) -> bool {
        let mut last = one.replaced.iter().chain(&one.mirrored);
        last.all(|last| {
            let mut first = other.mirrored.iter().chain(&other.replaced);
            first.all(|first| self.comes_before(last, first))
        })
    }

    /// Finds stores that nothing looks at and that a later strided loop overwrites.
    fn note_dead_stores(&self, streams: &mut [Stream<'ctx>]) {
        let replaced: HashSet<Value> = streams
            .iter()
            .flat_map(|stream| &stream.replaced)
            .map(|load| load.instruction)
            .collect();
        for stream in streams {
            let root = self.root(stream.accesses[0].instruction);
            let looked_at = self.flow.instructions().any(|other| {
                let reads = match Effect::of(other) {
                    Effect::Load(_) => !replaced.contains(&other),
                    Effect::Atomic(_) | Effect::Unknown => true,
                    Effect::Nothing | Effect::Store(_) | Effect::Barrier => false,
                };
                reads && self.root(other).may_share(root, self.facts)
            });
            if looked_at {
                continue;
            }
            let stores = || stream.accesses.iter().filter(|access| access.stores);
            let overwritten = |store: &&Access| {
                stores().any(|later| {
                    let (from, to) = (
                        self.strided_loops[store.strided_loop].header,
                        &self.strided_loops[later.strided_loop],
                    );
                    later.always
                        && later.strided_loop > store.strided_loop
                        && self.flow.always_leads(from, to.header)
                })
            };
            stream.dead = stores()
                .filter(overwritten)
                .map(|each| each.instruction)
                .collect();
        }
    }
}

impl<'ctx> Place<'ctx> {
    /// Whether two places are one wherever the counters are equal.
    pub(in crate::codegen::fused_kernels::fuse) fn is_exactly(&self, other: &Self) -> bool {
        let same_sum = match (self.uniform, other.uniform) {
            (None, None) => true,
            (Some(one), Some(other)) => made_alike(one, other),
            _ => false,
        };
        same_sum
            && self.element == other.element
            && (self.inner, self.outer) == (other.inner, other.outer)
            && made_alike(self.base, other.base)
    }

    /// The place of an address in a loop with this counter.
    pub(in crate::codegen::fused_kernels::fuse) fn of(
        address: Value<'ctx>,
        counter: Value<'ctx>,
    ) -> Option<Self> {
        if !address.is_instruction() || address.opcode() != Some(Opcode::LLVMGetElementPtr) {
            return None;
        }
        let [base, index] = address.operands()[..] else {
            return None;
        };
        if !is_uniform(base) {
            return None;
        }
        let (outer, sum) = match widened(index) {
            // A narrow index is read as signed.
            (Widening::None, sum) if sum.ty().integer_bits() < 64 => (Widening::Signed, sum),
            other => other,
        };
        let (inner, uniform) = match widened(sum) {
            (inner, value) if value == counter => (inner, None),
            _ if sum.is_instruction() && sum.opcode() == Some(Opcode::LLVMAdd) => {
                let (one, other) = (sum.operand(0), sum.operand(1));
                match (widened(one), widened(other)) {
                    ((inner, value), _) if value == counter => (inner, Some(other)),
                    (_, (inner, value)) if value == counter => (inner, Some(one)),
                    _ => return None,
                }
            }
            _ => return None,
        };
        if uniform.is_some_and(|uniform| !is_uniform(uniform)) {
            return None;
        }
        // Without a sum there is one widening.
        let (inner, outer) = match (uniform, inner, outer) {
            (None, Widening::None, outer) => (outer, Widening::None),
            (None, inner, Widening::None) => (inner, Widening::None),
            (None, ..) => return None,
            (Some(_), inner, outer) => (inner, outer),
        };
        Some(Self {
            base,
            element: address.element_pointer_source_type(),
            uniform,
            inner,
            outer,
        })
    }
}

/// What a value is the widening of.
fn widened(value: Value) -> (Widening, Value) {
    if !value.is_instruction() {
        return (Widening::None, value);
    }
    match value.opcode() {
        Some(Opcode::LLVMSExt) => (Widening::Signed, value.operand(0)),
        Some(Opcode::LLVMZExt) => (Widening::Unsigned, value.operand(0)),
        _ => (Widening::None, value),
    }
}
