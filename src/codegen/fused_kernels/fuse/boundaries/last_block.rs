//! Members that one block of the launch runs, the last that has run the members in front of them.
//!
//! Invariants: each block arrives exactly once, whichever way its threads went, with all that it does for the members in front
//! behind it; so whoever finds that all others have arrived runs the members behind, with one block each. Their bodies are
//! given all indices and read none of the launch's. Nothing is said of pointers that held in the members in front alone: these
//! are a function of their own while passes go over them, and the rest comes behind its end afterwards.
//!
//! Blocks are counted in a word of the stream that the launch is made on. Launches of one stream run one after the other,
//! and each leaves the word as it found it, so that no two of them count in one word at a time.

use super::super::indices::Index;
use super::super::partitions::{Number, coordinates, extent};
use super::super::passes::FusedFunction;
use super::super::phases::{link, share_storage};
use super::super::specialisation::{Parameter, SiteReader};
use super::super::{GroupBuilder, segment};
use crate::codegen::device::{device_target_machine, run_passes};
use crate::codegen::expansion::constants_in;
use crate::codegen::{ARRIVAL_COUNTERS, ARRIVALS, CodegenError, FusedParameter};
use crate::dependence::Guard;
use crate::launch::Launch;
use crate::llvm::{Block, Builder, DebugScope, FUNCTION_ATTRIBUTES, Linkage, Opcode, Type, Value};
use crate::math::affine::Axis;
use crate::math::expression::Condition;
use inkwell::module::Module;

/// What the last block runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct LastBlock {
    /// The position of the first member.
    pub(in crate::codegen::fused_kernels::fuse) first: usize,
    /// The parameter that says which word counts.
    counter: usize,
    /// Where that is the number of no word, nothing comes behind the members in front.
    optional: bool,
    /// The blocks of these members.
    blocks: Vec<[Number; 3]>,
    /// What of the launch's block runs each.
    threads: Vec<Threads>,
}

/// Which threads of a block run a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Threads {
    /// All of them, in their places.
    Same,
    /// All of them, in linear order.
    All,
    /// The first of them in linear order.
    First,
}

impl<'ctx> SiteReader<'_, 'ctx> {
    /// What the last block of the group's launch runs; what of it is known at run time only becomes a parameter.
    pub(in crate::codegen::fused_kernels::fuse) fn last_block(
        &self,
        parameters: &mut Vec<Parameter<'ctx>>,
    ) -> Option<LastBlock> {
        let first = self.group.last_block?;
        let mut keepers = self.group.members[..first].iter().zip(self.members);
        let keeper = keepers.find(|(member, _)| member.map.keeps_indices());
        let whole = keeper.map(|(_, (launch, _))| *launch);
        let behind = self.members[first..].iter();
        let threads = behind
            .clone()
            .map(|(launch, _)| whole.map_or(Threads::First, |whole| self.threads(whole, launch)));
        let threads = threads.collect();
        let blocks = behind.map(|(launch, _)| {
            launch
                .block
                .map(|value| Number::of(self.module, &extent(self.graph, value), parameters))
        });
        let blocks = blocks.collect();
        let source = FusedParameter::ArrivalCounter;
        parameters.push(Parameter::number(self.module, source));
        Some(LastBlock {
            first,
            counter: parameters.len() - 1,
            optional: self.group.front_guards.is_some(),
            blocks,
            threads,
        })
    }

    /// Which threads of a block of the first launch are those of the second one's.
    fn threads(&self, whole: &Launch, own: &Launch) -> Threads {
        let [all, own] =
            [whole, own].map(|launch| launch.block.map(|value| extent(self.graph, value)));
        if all == own {
            return Threads::Same;
        }
        let [all, own] = [all, own].map(|[x, y, z]| x.multiply(y).multiply(z));
        let equal = Condition::Equal(all, own);
        let tested = self.group.guards.iter().any(|guard| match guard {
            Guard::Holds { condition, .. } => *condition == equal,
            _ => false,
        });
        match tested || equal.decided() == Some(true) {
            true => Threads::All,
            false => Threads::First,
        }
    }
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// A function of the kernel's parameters that a block calls behind all that its members in front do.
    pub(in crate::codegen::fused_kernels::fuse) fn write_last_block(
        &self,
        kernel: Value<'ctx>,
        bodies: &[segment::Body<'ctx>],
    ) -> Result<Option<Value<'ctx>>, CodegenError> {
        let shape = &self.specialisation.shape;
        let Some(last) = &shape.last_block else {
            return Ok(None);
        };
        let module = self.module;
        let function = Value::add_function(module, &name_of(self.name), kernel.value_type());
        for position in 1..=shape.parameters.len() as u32 {
            kernel.copy_attributes(position, function, position);
            // The kernel passes on where its own is.
            function.remove_attribute(position, "byval");
        }
        for attribute in ["convergent", "nounwind"] {
            function.add_attribute(FUNCTION_ATTRIBUTES, attribute, 0);
        }
        let builder = Builder::at_end(Block::append(function, "entry"));
        let mut all = bodies[last.first..].iter();
        let scope = all.find_map(|body| DebugScope::of(module, body.function));
        if let Some(scope) = &scope {
            scope.cover(function, &function.name(), &builder);
        }
        // Their data is to be there before others read it.
        if (0..last.first).any(|position| self.model(position).asynchronous_copies) {
            self.wait_for_copies(&builder);
        }
        let arrive = link(module, ARRIVE, &format!("{}.arrive", self.name))?;
        let number = function.parameters()[last.counter];
        if last.optional {
            let [counts, without] = ["counts", "without"].map(|name| Block::append(function, name));
            let words = Type::integer(module, 32).constant(ARRIVAL_COUNTERS.into());
            let is_word = builder.is_below(number, words);
            builder.branch_if(is_word, counts, without);
            builder.continue_in(without);
            builder.ret(None);
            builder.continue_in(counts);
        }
        let counter = self.counter(&builder, number);
        let is_last = builder.call(arrive.value_type(), arrive, &[counter]);
        let [run, done] = ["last", "done"].map(|name| Block::append(function, name));
        builder.branch_if(is_last, run, done);
        builder.continue_in(run);
        let threads = self.linear_thread(&builder);
        let int = Type::integer(module, 32);
        let behind = (last.first..).zip(&bodies[last.first..]);
        for ((position, body), (block, own)) in behind.zip(last.blocks.iter().zip(&last.threads)) {
            if position > last.first {
                self.begin_segment(&builder, &[position]);
            }
            let is_part = *own == Threads::First;
            let end = is_part.then(|| self.enter_threads(function, &builder, threads, *block));
            let thread = match own {
                Threads::Same => Axis::ALL.map(|axis| Index::Thread(axis).read(module, &builder)),
                Threads::All | Threads::First => {
                    coordinates(module, function, &builder, threads, *block)
                }
            };
            let given = |index: Index| {
                Ok(match index {
                    Index::Block(_) => int.constant(0),
                    Index::GridSize(_) => int.constant(1),
                    Index::Thread(axis) => thread[axis.index()],
                    Index::BlockSize(axis) => block[axis.index()].value(module, function),
                })
            };
            let parameters = function.parameters();
            self.run_member(&parameters, &builder, (position, body), &given)?;
            if self.model(position).asynchronous_copies && position + 1 < bodies.len() {
                self.wait_for_copies(&builder);
            }
            if let Some(end) = end {
                builder.branch(end);
                builder.continue_in(end);
            }
        }
        builder.branch(done);
        builder.continue_in(done);
        builder.ret(None);
        Ok(Some(function))
    }

    /// The address of a word of those that count.
    fn counter(&self, builder: &Builder<'ctx>, number: Value<'ctx>) -> Value<'ctx> {
        let module = self.module;
        let int = Type::integer(module, 32);
        let words = int.array(ARRIVAL_COUNTERS.into());
        let mut globals = Value::globals(module).into_iter();
        let known = globals.find(|global| global.name() == ARRIVALS);
        let counters = known.unwrap_or_else(|| {
            let counters = Value::add_global(module, ARRIVALS, words, GLOBAL_ADDRESS_SPACE);
            counters.set_linkage(Linkage::LLVMInternalLinkage);
            counters.set_initializer(Some(words.zero()));
            counters.set_alignment(4);
            counters
        });
        let generic = counters.constant_address_space_cast(Type::pointer(module, 0));
        builder.element_pointer(int, generic, &[number])
    }

    /// The number of the calling thread in its block, x fastest.
    pub(in crate::codegen::fused_kernels::fuse) fn linear_thread(
        &self,
        builder: &Builder<'ctx>,
    ) -> Value<'ctx> {
        let read = |index: Index| index.read(self.module, builder);
        let [x, y, z] = Axis::ALL.map(|axis| read(Index::Thread(axis)));
        let [width, height] = [Axis::X, Axis::Y].map(|axis| read(Index::BlockSize(axis)));
        let rows = builder.binary(Opcode::LLVMMul, z, height);
        let rows = builder.binary(Opcode::LLVMAdd, rows, y);
        let before = builder.binary(Opcode::LLVMMul, rows, width);
        builder.binary(Opcode::LLVMAdd, before, x)
    }

    /// Goes on with the threads of a block of this shape; where all go on behind it.
    fn enter_threads(
        &self,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
        thread: Value<'ctx>,
        block: [Number; 3],
    ) -> Block<'ctx> {
        let [x, y, z] = block.map(|extent| extent.value(self.module, function));
        let area = builder.binary(Opcode::LLVMMul, x, y);
        let count = builder.binary(Opcode::LLVMMul, area, z);
        let [inside, end] = ["inside", "outside"].map(|name| Block::append(function, name));
        let below = builder.is_below(thread, count);
        builder.branch_if(below, inside, end);
        builder.continue_in(inside);
        end
    }
}

/// Puts what the last block does behind the end of its kernel, if it has such.
///
/// # Errors
/// When LLVM refuses what was made: our bug.
pub(in crate::codegen::fused_kernels::fuse) fn append(
    module: &Module,
    kernels: &mut [&mut FusedFunction],
) -> Result<(), CodegenError> {
    let mut any = false;
    for kernel in kernels.iter() {
        let function = kernel.versions[0];
        let Some(rest) = Value::function(module, &name_of(&function.name())) else {
            continue;
        };
        any = true;
        share_shared_memory(module, kernel, function);
        rest.set_linkage(Linkage::LLVMInternalLinkage);
        rest.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        let located = function.instructions().into_iter();
        let located = located
            .rev()
            .find(|instruction| instruction.has_debug_location());
        let ends = function.instructions().into_iter();
        let ends: Vec<Value> = ends
            .filter(|at| at.opcode() == Some(Opcode::LLVMRet))
            .collect();
        let end = Block::append(function, "arrive");
        let builder = Builder::at_end(end);
        builder.ret(None);
        let Some(new) = end.terminator() else {
            continue;
        };
        let builder = match located {
            Some(located) => Builder::before_as(new, located),
            None => Builder::before(new),
        };
        builder.call(rest.value_type(), rest, &function.parameters());
        // The place of the call may be that of one of these.
        for old in ends {
            let builder = Builder::before(old);
            builder.branch(end);
            old.erase();
        }
    }
    match any {
        true => run_passes(
            module,
            "always-inline,globaldce,function(simplifycfg)",
            &device_target_machine("sm_80")?,
        ),
        false => Ok(()),
    }
}

/// Puts the shared variables of what the last block does on top of those of the rest of the kernel. All threads wait between the
/// two, and what a member finds before it writes is undefined.
fn share_shared_memory(module: &Module, kernel: &FusedFunction, function: Value) {
    let used = constants_in(function);
    let is_shared = |global: &Value| {
        global.ty().address_space() == SHARED_ADDRESS_SPACE && !global.is_declaration()
    };
    let shared: Vec<Value> = Value::globals(module)
        .into_iter()
        .filter(is_shared)
        .collect();
    let first = kernel
        .built
        .last_block
        .unwrap_or(kernel.built.kernels.len());
    let prefixes: Vec<String> = (first..kernel.built.kernels.len())
        .map(|position| super::super::prefix_of(&kernel.built.name, position))
        .collect();
    let behind = |global: &Value| {
        let name = global.name();
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    let (behind, others): (Vec<Value>, Vec<Value>) = shared.into_iter().partition(behind);
    let front = others.into_iter().filter(|global| used.contains(global));
    share_storage(module, &kernel.built.name, vec![front.collect(), behind]);
}

fn name_of(kernel: &str) -> String {
    format!("{kernel}.last")
}

const ARRIVE: &str = include_str!("../last_block.ll");
const GLOBAL_ADDRESS_SPACE: u32 = 1;
const SHARED_ADDRESS_SPACE: u32 = 3;
