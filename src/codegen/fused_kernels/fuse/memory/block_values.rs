//! Values that threads of a block hand to each other from one phase of a cooperative launch to a later one, in shared memory.
//!
//! What a thread stores in a phase it also puts into a *slot* of its own, together with the address. A load of a later phase guesses which
//! thread of its block has stored what it reads, and takes the value from that thread's slot where the address there is its own; else it
//! loads. The barrier between the phases, which is one of the block, too, is the one that the slots need.
//!
//! Invariants: what a slot says stands at its address: from the store to the load nobody writes there but the thread itself, by stores
//! of the same family, each of which fills the slot. The verifier says so ([`OwnReads::in_blocks`](crate::verify::OwnReads)). Where a phase
//! begins each thread empties its slot: all threads have come to a barrier since they last looked at it. The guess tells how often values are
//! found, and nothing else. What a thread has stored itself it looks for in variables of its own, in the same way.
//!
//! Where iterations of a host's loop follow each other in the kernel, a load may also look for what the iteration before stored. It
//! finds these slots as they were if the phase that fills them anew comes later. If it does not, there are two sets of slots, which
//! are filled by turns.
//!
//! Values are kept so where the cost model says that the launch takes less time then (`slot_costs`).

use super::super::at_once::{is_kept_read, is_own_read};
use super::super::control_flow::ControlFlow;
use super::super::distances::{Guess, guess};
use super::super::families::{Family, Marks, Since, reads_since};
use super::super::indices::Index;
use super::super::memory::{Effect, KernelFacts};
use super::super::shared_memory_reuse::{MOST_SHARED_BYTES, shared_bytes};
use super::super::slot_costs::{Counted, Setting, SlotCost, Verdict, judge};
use crate::llvm::{Block, Builder, Linkage, Opcode, Type, Value};
use crate::math::affine::Axis;
use crate::tune::Figures;
use inkwell::IntPredicate;
use inkwell::module::Module;
use std::iter;

const SHARED_ADDRESS_SPACE: u32 = 3;

/// Slots begin at multiples of so many bytes.
const ALIGNMENT: u64 = 16;

/// To count rounds, and to find the own slot.
const INSTRUCTIONS_OF_BEGIN: f64 = 3.0;
/// To find where address and value go, and to put them there.
const INSTRUCTIONS_OF_STORE: f64 = 4.0;
/// To find a slot, to compare, and to choose.
const INSTRUCTIONS_OF_LOAD: f64 = 8.0;
/// To count how far away the slot is.
const INSTRUCTIONS_OF_COUNT: f64 = 7.0;
/// To compare with a variable of the thread.
const INSTRUCTIONS_OF_OWN: f64 = 3.0;
/// So often, it is assumed, the thread that is counted to be asked is one of the block.
const COUNTED_ARE_FOUND: f64 = 0.5;

/// Slots of a thread have so many bytes at most: blocks of 2,048 threads together then have 96 KB on a multiprocessor.
const MOST_BYTES_OF_THREAD: u64 = 48;

/// What became of a family of which threads of a block could take values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::codegen::fused_kernels::fuse) struct Kept {
    pub(in crate::codegen::fused_kernels::fuse) family: usize,
    /// Loads that look into slots, or would.
    pub(in crate::codegen::fused_kernels::fuse) loads: usize,
    /// What the cost model says; `None` where there is no shared memory for it, or the device does not hold all blocks anyway.
    pub(in crate::codegen::fused_kernels::fuse) verdict: Option<Verdict>,
}

impl Kept {
    /// Whether its loads look into slots.
    pub(in crate::codegen::fused_kernels::fuse) fn is_kept(&self) -> bool {
        self.verdict.is_some_and(|verdict| verdict.pays)
    }
}

/// Lets threads of a kernel take from shared memory what others of their block have stored, where that pays on a device, and takes
/// the marks of that out of the kernel. Says what became of each family that has such loads.
pub(in crate::codegen::fused_kernels::fuse) fn hand_on<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
    figures: &Figures,
) -> Vec<Kept> {
    let marks = Marks::of(kernel);
    let mut planned: Vec<Handing> = Vec::new();
    let mut kept: Vec<Kept> = Vec::new();
    if let Some(flow) = ControlFlow::of(kernel)
        && let [Some(x), Some(y), Some(z)] = facts.block
        && let Some(dynamic) = facts.dynamic_shared_bytes
    {
        let block = [x, y, z];
        let threads: u64 = block.iter().product();
        let mut left = MOST_SHARED_BYTES
            .saturating_sub(shared_bytes(module, kernel) + dynamic)
            .min(MOST_BYTES_OF_THREAD * threads);
        for (number, family) in &marks.families {
            let is_free = |load: Value| {
                let mut all = planned.iter();
                !all.any(|other| other.loads.iter().any(|taken| taken.load == load))
            };
            let family = (*number, family);
            let found = Handing::of(module, &flow, &marks.forms, family, block, is_free);
            let Some(found) = found else {
                continue;
            };
            match left.checked_sub(found.bytes(module)) {
                Some(rest) => {
                    left = rest;
                    planned.push(found);
                }
                None => kept.push(found.with(None)),
            }
        }
        let begins = marks.families.values().flat_map(|family| &family.begins);
        let counted = Counted::of(&flow, &begins.copied().collect::<Vec<_>>());
        let shared = shared_bytes(module, kernel) + dynamic;
        let work = counted.work(module, (kernel, &flow), &marks.forms, shared);
        let costs = planned
            .iter()
            .map(|handing| handing.cost(module, &counted))
            .collect::<Vec<_>>();
        let setting = Setting {
            figures,
            blocks: facts.blocks,
            threads,
        };
        let verdicts = judge(setting, work, &costs).unwrap_or_default();
        let verdicts = verdicts.into_iter().map(Some).chain(iter::repeat(None));
        planned = planned
            .into_iter()
            .zip(verdicts)
            .filter_map(|(handing, verdict)| {
                let own = handing.with(verdict);
                kept.push(own);
                own.is_kept().then_some(handing)
            })
            .collect();
    }
    for handing in planned {
        handing.write(module, kernel);
    }
    marks.take_out();
    kept
}

/// What is to be done for one family of stores.
struct Handing<'a, 'ctx> {
    number: usize,
    family: &'a Family<'ctx>,
    /// The calls behind its stores.
    stores: Vec<Value<'ctx>>,
    block: [u64; 3],
    address: Type<'ctx>,
    value: Type<'ctx>,
    loads: Vec<Taking<'ctx>>,
}

/// A load that looks into slots first.
struct Taking<'ctx> {
    load: Value<'ctx>,
    since: Since,
    guess: Guess,
}

impl Taking<'_> {
    /// Whether what it looks for is the thread's own, of the same iteration.
    fn is_own(&self) -> bool {
        self.since == Since::Within && self.guess == Guess::Constant([0; 3])
    }
}

impl<'a, 'ctx> Handing<'a, 'ctx> {
    fn of(
        module: &Module<'ctx>,
        flow: &ControlFlow<'ctx>,
        forms: &[Value<'ctx>],
        (number, family): (usize, &'a Family<'ctx>),
        block: [u64; 3],
        is_free: impl Fn(Value<'ctx>) -> bool,
    ) -> Option<Self> {
        let is_at_once = |at: Value<'ctx>| forms.iter().any(|form| flow.precedes(*form, at));
        let stores = family.stores.iter().copied();
        let stores: Vec<Value> = stores.filter(|store| is_at_once(*store)).collect();
        let [stored, value] = stores.first()?.call_arguments()[..] else {
            return None;
        };
        let (address, value) = (stored.ty(), value.ty());
        let bytes = value.allocation_bytes(module);
        if !bytes.is_power_of_two() || bytes > ALIGNMENT || value.access_bytes(module) != bytes {
            return None;
        }
        let loops = flow.natural_loops();
        // What a phase loads again and again is in the first cache, which is no farther away.
        let is_again = |load: Value<'ctx>| {
            let mut loops = loops
                .iter()
                .filter(|own| own.blocks.contains(&load.block()));
            loops.any(|own| {
                !family
                    .begins
                    .iter()
                    .any(|begin| own.blocks.contains(&begin.block()))
            })
        };
        let mut begins = family.begins.iter();
        let repeats = begins.any(|begin| flow.repeats(begin.block()));
        let mut loads = Vec::new();
        for load in flow.instructions() {
            let Effect::Load(loaded) = Effect::of(load) else {
                continue;
            };
            let Some(since) = reads_since(load, number) else {
                continue;
            };
            let is_alike = load.ty() == value && loaded.ty() == address;
            let kept = is_own_read(load) || is_kept_read(load);
            // Where launches do not follow each other there is no iteration before.
            let may_be = since == Since::Within || repeats;
            if is_alike
                && !kept
                && may_be
                && is_at_once(load)
                && is_free(load)
                && let Some(guess) = guess(module, (stored, loaded), bytes, block)
                && (matches!(guess, Guess::Constant(_)) || !is_again(load))
            {
                loads.push(Taking { load, since, guess });
            }
        }
        (!loads.is_empty()).then_some(Self {
            number,
            family,
            stores,
            block,
            address,
            value,
            loads,
        })
    }

    fn threads(&self) -> u64 {
        self.block.iter().product()
    }

    /// Whether some load looks into slots.
    fn needs_slots(&self) -> bool {
        !self.loads.iter().all(Taking::is_own)
    }

    /// Slots are filled by turns.
    fn has_turns(&self) -> bool {
        let mut loads = self.loads.iter();
        loads.any(|taking| taking.since == Since::AcrossOwnPhase)
    }

    /// The shared memory that it takes.
    fn bytes(&self, module: &Module<'ctx>) -> u64 {
        if !self.needs_slots() {
            return 0;
        }
        let of_slot = self.address.allocation_bytes(module) + self.value.allocation_bytes(module);
        let sets = 1 + u64::from(self.has_turns());
        of_slot * self.threads() * sets + 2 * ALIGNMENT
    }

    /// What became of it.
    fn with(&self, verdict: Option<Verdict>) -> Kept {
        Kept {
            family: self.number,
            loads: self.loads.len(),
            verdict,
        }
    }

    /// What its slots cost a thread, and what they save, in a pass through the phases.
    fn cost(&self, module: &Module<'ctx>, counted: &Counted<'ctx>) -> SlotCost {
        let times = |at: Value<'ctx>| counted.times(at.block());
        let words = |ty: Type<'ctx>| ty.allocation_bytes(module).div_ceil(4) as f64;
        let bytes = self.value.allocation_bytes(module) as f64;
        let in_shared = f64::from(self.needs_slots());
        let (address, both) = (words(self.address), words(self.address) + words(self.value));
        let mut cost = SlotCost {
            shared_bytes: self.bytes(module),
            ..SlotCost::default()
        };
        for begin in &self.family.begins {
            cost.instructions += times(*begin) * INSTRUCTIONS_OF_BEGIN;
            cost.shared_words += times(*begin) * address * in_shared;
        }
        // A slot has what was stored last.
        let mut stored = 0.0;
        for store in &self.stores {
            cost.instructions += times(*store) * INSTRUCTIONS_OF_STORE;
            cost.shared_words += times(*store) * both * in_shared;
            stored += times(*store);
        }
        for taking in &self.loads {
            let (instructions, shared_words, found) = match taking.guess {
                _ if taking.is_own() => (INSTRUCTIONS_OF_OWN, 0.0, 1.0),
                Guess::Constant(distances) => {
                    let inside = self.block.iter().zip(distances).map(|(extent, distance)| {
                        1.0 - distance.unsigned_abs() as f64 / *extent as f64
                    });
                    (INSTRUCTIONS_OF_LOAD, both, inside.product())
                }
                // The thread first looks where it stored itself.
                Guess::Counted(_) => {
                    let instructions = INSTRUCTIONS_OF_LOAD + INSTRUCTIONS_OF_COUNT;
                    (instructions, address + both, COUNTED_ARE_FOUND)
                }
            };
            let times = times(taking.load);
            cost.instructions += times * instructions;
            cost.shared_words += times * shared_words;
            cost.saved_bytes += times * bytes * found / f64::max(stored, 1.0);
        }
        cost
    }

    fn write(&self, module: &Module<'ctx>, kernel: Value<'ctx>) {
        let sets = 1 + u64::from(self.has_turns());
        let variable = |what: &str, ty: Type<'ctx>| {
            let name = format!("{}_{what}{}", kernel.name(), self.number);
            let ty = ty.array(self.threads() * sets);
            let variable = Value::add_global(module, &name, ty, SHARED_ADDRESS_SPACE);
            variable.set_linkage(Linkage::LLVMInternalLinkage);
            variable.set_initializer(Some(ty.poison()));
            variable.set_alignment(ALIGNMENT as u32);
            variable
        };
        let entry = Builder::before(kernel.blocks()[0].instructions()[0]);
        let int = Type::integer(module, 32);
        let rounds = entry.alloca(int);
        entry.store_aligned(int.constant(0), rounds, 4);
        let needs_slots = self.needs_slots();
        let shared = needs_slots.then(|| {
            (
                variable("addresses", self.address),
                variable("values", self.value),
            )
        });
        let has_own = self.loads.iter().any(Taking::is_own);
        let own = has_own.then(|| (entry.alloca(self.address), entry.alloca(self.value)));
        let slots = Slots {
            handing: self,
            module,
            shared,
            own,
            rounds,
        };
        for begin in &self.family.begins {
            slots.empty(*begin);
        }
        for store in &self.stores {
            slots.fill(*store);
        }
        for taking in &self.loads {
            slots.take(taking);
        }
    }
}

/// The slots of a family, in a kernel.
struct Slots<'a, 'ctx> {
    handing: &'a Handing<'a, 'ctx>,
    module: &'a Module<'ctx>,
    /// Addresses and values, by thread.
    shared: Option<(Value<'ctx>, Value<'ctx>)>,
    /// Variables of the thread with its own address and value.
    own: Option<(Value<'ctx>, Value<'ctx>)>,
    /// A variable of the thread: how often the phase has begun.
    rounds: Value<'ctx>,
}

impl<'ctx> Slots<'_, 'ctx> {
    /// Where the phase begins.
    fn empty(&self, begin: Value<'ctx>) {
        let builder = Builder::before(begin);
        let rounds = builder.add_number(self.rounds(&builder), 1);
        builder.store_aligned(rounds, self.rounds, 4);
        let nowhere = self.handing.address.zero();
        for (addresses, _) in self.filled(&builder) {
            builder.store_aligned(nowhere, addresses, nowhere.ty().alignment(self.module));
        }
    }

    /// Behind a store.
    fn fill(&self, store: Value<'ctx>) {
        let builder = Builder::before(store);
        let [address, value] = store.call_arguments()[..] else {
            return;
        };
        for (addresses, values) in self.filled(&builder) {
            builder.store_aligned(address, addresses, address.ty().alignment(self.module));
            builder.store_aligned(value, values, value.ty().alignment(self.module));
        }
    }

    /// Where address and value of what the thread stores go.
    fn filled(&self, builder: &Builder<'ctx>) -> Vec<(Value<'ctx>, Value<'ctx>)> {
        let own = own_thread(self.module, builder);
        let slot = self.shared.map(|_| {
            let index = self.index(builder, own, 1);
            self.places(builder, index)
        });
        slot.into_iter().flatten().chain(self.own).collect()
    }

    /// In place of a load.
    fn take(&self, taking: &Taking<'ctx>) {
        let load = taking.load;
        let rest = load.block();
        let mut instructions = rest.instructions().into_iter();
        let Some(place) = instructions.position(|at| at == load) else {
            return;
        };
        let before = rest.split_head(place);
        let loading = rest.split_head(1);
        let [look, take] = ["look", "take"].map(|name| Block::append(rest.function(), name));
        let Some(end) = before.terminator() else {
            return;
        };
        let builder = Builder::before_as(end, load);
        if let Some(own) = self.own.filter(|_| taking.is_own()) {
            builder.branch(look);
            end.erase();
            builder.continue_in(look);
            self.compare(&builder, taking, own, [take, loading]);
            return;
        }
        let own = own_thread(self.module, &builder);
        // How many beginnings of the phase ago the slots were filled.
        let ago = match taking.since {
            Since::Within | Since::Across => 1,
            Since::AcrossOwnPhase => 2,
        };
        let filled = (taking.since != Since::Within).then(|| {
            let rounds = self.rounds(&builder);
            let least = rounds.ty().constant(ago - 1);
            builder.is_below(least, rounds)
        });
        let (asked, inside) = match taking.guess {
            Guess::Constant(distances) => self.at(&builder, own, distances),
            Guess::Counted(axis) => {
                let is_there = filled.unwrap_or(Type::integer(self.module, 1).constant(1));
                let count = Block::append(rest.function(), "count");
                builder.branch_if(is_there, count, loading);
                builder.continue_in(count);
                let at = self.index(&builder, own, ago);
                self.counted(&builder, (own, axis), at, load.operand(0))
            }
        };
        let inside = match filled {
            Some(filled) => builder.binary(Opcode::LLVMAnd, filled, inside),
            None => inside,
        };
        builder.branch_if(inside, look, loading);
        end.erase();

        builder.continue_in(look);
        let asked = self.index(&builder, asked, ago);
        if let Some(places) = self.places(&builder, asked) {
            self.compare(&builder, taking, places, [take, loading]);
        }
    }

    /// Takes the value from there if the address is that of the load, which else is in the second block.
    fn compare(
        &self,
        builder: &Builder<'ctx>,
        taking: &Taking<'ctx>,
        (addresses, values): (Value<'ctx>, Value<'ctx>),
        [take, loading]: [Block<'ctx>; 2],
    ) {
        let (address, value) = (self.handing.address, self.handing.value);
        let load = taking.load;
        let stored = builder.load_aligned(address, addresses, address.alignment(self.module));
        let same = builder.compare(IntPredicate::EQ.into(), stored, load.operand(0));
        builder.branch_if(same, take, loading);

        builder.continue_in(take);
        let taken = builder.load_aligned(value, values, value.alignment(self.module));
        let rest = loading.successors()[0];
        builder.branch(rest);

        let builder = Builder::before(rest.instructions()[0]);
        let found = builder.phi(value);
        load.replace_uses_with(found);
        found.add_incoming(taken, take);
        found.add_incoming(load, loading);
    }

    /// The thread that is so far away, or any other one, and whether it is one of the block.
    fn at(
        &self,
        builder: &Builder<'ctx>,
        own: [Value<'ctx>; 3],
        distances: [i64; 3],
    ) -> ([Value<'ctx>; 3], Value<'ctx>) {
        let mut inside = Type::integer(self.module, 1).constant(1);
        let asked = [0, 1, 2].map(|axis| {
            if distances[axis] == 0 {
                return own[axis];
            }
            let asked = builder.add_number(own[axis], distances[axis]);
            let extent = self.handing.block[axis];
            let number = |number: u64| asked.ty().constant(number);
            if extent.is_power_of_two() {
                // Beyond the end is the slot of another thread, whose address is another one.
                return builder.binary(Opcode::LLVMAnd, asked, number(extent - 1));
            }
            let is_there = builder.is_below(asked, number(extent));
            inside = builder.binary(Opcode::LLVMAnd, inside, is_there);
            asked
        });
        (asked, inside)
    }

    /// The thread that is as many elements away along an axis as what the thread itself stored is from what it loads, and whether there is
    /// one.
    fn counted(
        &self,
        builder: &Builder<'ctx>,
        (own, axis): ([Value<'ctx>; 3], usize),
        at: Value<'ctx>,
        loaded: Value<'ctx>,
    ) -> ([Value<'ctx>; 3], Value<'ctx>) {
        let long = Type::integer(self.module, 64);
        let address = self.handing.address;
        let stored = match self.places(builder, at) {
            Some((place, _)) => {
                builder.load_aligned(address, place, address.alignment(self.module))
            }
            None => address.zero(),
        };
        let [stored, loaded] =
            [stored, loaded].map(|at| builder.cast(Opcode::LLVMPtrToInt, at, long));
        let bytes = builder.binary(Opcode::LLVMSub, loaded, stored);
        let size = self.handing.value.allocation_bytes(self.module);
        let shift = long.constant(size.trailing_zeros().into());
        let distance = builder.binary(Opcode::LLVMAShr, bytes, shift);
        let number = builder.cast(Opcode::LLVMZExt, own[axis], long);
        let asked = builder.binary(Opcode::LLVMAdd, number, distance);
        let inside = builder.is_below(asked, long.constant(self.handing.block[axis]));
        let mut all = own;
        all[axis] = builder.cast(Opcode::LLVMTrunc, asked, own[axis].ty());
        (all, inside)
    }

    fn rounds(&self, builder: &Builder<'ctx>) -> Value<'ctx> {
        builder.load_aligned(Type::integer(self.module, 32), self.rounds, 4)
    }

    /// Where the slot of a thread is, among those that were filled so many beginnings of the phase ago.
    fn index(&self, builder: &Builder<'ctx>, [x, y, z]: [Value<'ctx>; 3], ago: u64) -> Value<'ctx> {
        let int = Type::integer(self.module, 32);
        let [width, height, depth] = self.handing.block;
        let behind = |others: Value<'ctx>, extent: u64, own: Value<'ctx>| {
            let others = builder.binary(Opcode::LLVMMul, others, int.constant(extent));
            builder.binary(Opcode::LLVMAdd, others, own)
        };
        let row = match depth {
            1 => y,
            _ => behind(z, height, y),
        };
        let own = match (height, depth) {
            (1, 1) => x,
            _ => behind(row, width, x),
        };
        if !self.handing.has_turns() {
            return own;
        }
        let rounds = builder.add_number(self.rounds(builder), -(ago as i64));
        let set = builder.binary(Opcode::LLVMAnd, rounds, int.constant(1));
        behind(set, self.handing.threads(), own)
    }

    /// Where address and value of a slot are.
    fn places(
        &self,
        builder: &Builder<'ctx>,
        index: Value<'ctx>,
    ) -> Option<(Value<'ctx>, Value<'ctx>)> {
        let (addresses, values) = self.shared?;
        let place =
            |variable: Value<'ctx>, ty: Type<'ctx>| builder.element_pointer(ty, variable, &[index]);
        Some((
            place(addresses, self.handing.address),
            place(values, self.handing.value),
        ))
    }
}

/// The thread's own place in its block.
fn own_thread<'ctx>(module: &Module<'ctx>, builder: &Builder<'ctx>) -> [Value<'ctx>; 3] {
    Axis::ALL.map(|axis| Index::Thread(axis).read(module, builder))
}
