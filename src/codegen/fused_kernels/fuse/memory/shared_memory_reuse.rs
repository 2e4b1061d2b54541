//! Shared variables of a fused kernel that are in use one after the other share storage.
//!
//! Each member brings its own variables along, and most of them are done with before those of the next
//! begin. A fused kernel then needs as much shared memory as its hungriest part, and not the sum.
//!
//! The proof for two variables, of which every use is known, in a kernel whose barriers all threads of
//! a block meet together: the uses of both are never in one *interval*, between two barriers (or the
//! beginning, or the end) that are the same ones for all threads; and no way leads from a use of the one
//! to a use of the other and, perhaps by another way, back again. Then, in whatever threads, all uses of the
//! one come before all of the other. What the other finds before it writes is undefined in its member,
//! too. What an asynchronous copy writes is in use until the thread has waited for all its copies, which it does
//! at the end of each segment, or ends. Or no block uses both, as no block runs two block partitions that stand side by
//! side: a branch by the block's number, met once, leads to the uses of the one on one side and to those of the
//! other on the other. Variables of block partitions are laid out for each block partition alone, and the layouts put on
//! top of each other. A barrier between the two is kept from then on, since both are one variable for whoever asks. The
//! verifier judges each pair and the layout as a whole, by a model of the kernel that is read anew.

use super::super::control_flow::{ControlFlow, is_barrier};
use super::super::memory::is_remark;
use crate::codegen::expansion::constants_in;
use crate::kernel::{KernelModel, model_shared_accesses};
use crate::llvm::{Block, Linkage, Opcode, Type, Value};
use crate::verify::{SharedPlace, shared_memory_reuse_conflict};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// Lets the shared variables of a kernel share storage. Returns how many bytes less it needs.
pub(in crate::codegen::fused_kernels::fuse) fn reuse_shared_memory<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
) -> u64 {
    let (Some(flow), Some(function)) =
        (ControlFlow::of(kernel), module.get_function(&kernel.name()))
    else {
        return 0;
    };
    let variables: Vec<Variable> = Value::globals(module)
        .into_iter()
        .filter_map(|variable| Variable::of(module, (kernel, &flow), variable))
        .collect();
    if variables.len() < 2 {
        return 0;
    }
    let model = model_shared_accesses(function, &kernel.name());
    let lifetimes = Lifetimes::of(&flow, &variables);
    let beside = |one: usize, other: usize| {
        in_other_blocks(&flow, &variables[one], &variables[other])
            && is_confirmed(&model, &[&variables[one], &variables[other]])
    };
    let disjoint = |one: usize, other: usize| {
        lifetimes.one_by_one(one, other)
            && is_confirmed(&model, &[&variables[one], &variables[other]])
    };
    let of_partitions = partitions_of(variables.len(), beside)
        .into_iter()
        .map(|partition| storages(&variables, partition, disjoint));
    let storages = on_top_of_each_other(of_partitions.collect());
    let places: Vec<SharedPlace> = storages
        .iter()
        .enumerate()
        .flat_map(|(number, storage)| {
            let variables = &variables;
            let placed = storage.variables.iter();
            placed.map(move |(index, offset)| variables[*index].place(number, *offset))
        })
        .collect();
    if shared_memory_reuse_conflict(&model, &places).is_some() {
        return 0;
    }
    let before: u64 = variables.iter().map(|variable| variable.bytes).sum();
    let after: u64 = storages.iter().map(|storage| storage.bytes).sum();
    let shared = storages
        .iter()
        .filter(|storage| storage.variables.len() > 1);
    for (number, storage) in shared.enumerate() {
        storage.carry_out(
            module,
            &variables,
            &format!("{}_reuse{number}", kernel.name()),
        );
    }
    before.saturating_sub(after)
}

/// The static shared memory of a kernel, in bytes, each variable at its worst place.
pub(in crate::codegen::fused_kernels::fuse) fn shared_bytes(module: &Module, kernel: Value) -> u64 {
    let used = constants_in(kernel);
    let shared = Value::globals(module).into_iter().filter(|global| {
        let internal = !global.is_declaration();
        global.ty().address_space() == SHARED_ADDRESS_SPACE && internal && used.contains(global)
    });
    let bytes = shared.map(|global| {
        let ty = global.value_type();
        let alignment = global.alignment().max(ty.alignment(module)).max(1);
        ty.allocation_bytes(module)
            .next_multiple_of(u64::from(alignment))
    });
    bytes.sum()
}

/// Whether a function uses shared memory, static or of the launch.
pub(in crate::codegen::fused_kernels::fuse) fn is_shared_used(
    module: &Module,
    function: Value,
) -> bool {
    let used = constants_in(function);
    let mut globals = Value::globals(module).into_iter();
    globals
        .any(|global| global.ty().address_space() == SHARED_ADDRESS_SPACE && used.contains(&global))
}

/// A static shared variable of which every use is known.
struct Variable<'ctx> {
    global: Value<'ctx>,
    name: String,
    bytes: u64,
    alignment: u32,
    uses: Vec<Value<'ctx>>,
}

impl<'ctx> Variable<'ctx> {
    /// `None` for one that is not used by the kernel alone, or whose address goes astray.
    fn of(
        module: &Module<'ctx>,
        (kernel, flow): (Value<'ctx>, &ControlFlow<'ctx>),
        global: Value<'ctx>,
    ) -> Option<Self> {
        let shared = global.ty().address_space() == SHARED_ADDRESS_SPACE
            && !global.is_declaration()
            && global.is_local();
        if !shared {
            return None;
        }
        let ty = global.value_type();
        let mut uses = HashSet::new();
        note_uses(global, &mut uses, &mut HashSet::new())?;
        let copies = uses.iter().copied().filter(|at| copies_asynchronously(*at));
        let copies: Vec<Value> = copies.collect();
        for copy in copies {
            uses.extend(ends_of_copy(flow, copy));
        }
        let own = |at: &Value| at.function_of_instruction() == kernel;
        (!uses.is_empty() && uses.iter().all(own)).then(|| Self {
            global,
            name: global.name(),
            bytes: ty.allocation_bytes(module),
            alignment: global.alignment().max(ty.alignment(module)).max(1),
            uses: uses.into_iter().collect(),
        })
    }

    fn place(&self, storage: usize, offset_bytes: u64) -> SharedPlace {
        SharedPlace {
            name: self.name.clone(),
            storage,
            offset_bytes,
            size_bytes: self.bytes,
        }
    }
}

/// Collects the instructions that touch what an address leads to.
fn note_uses<'ctx>(
    address: Value<'ctx>,
    uses: &mut HashSet<Value<'ctx>>,
    seen: &mut HashSet<Value<'ctx>>,
) -> Option<()> {
    for user in address.users() {
        match user.operation()? {
            Opcode::LLVMGetElementPtr
            | Opcode::LLVMAddrSpaceCast
            | Opcode::LLVMBitCast
            | Opcode::LLVMPHI
            | Opcode::LLVMSelect => {
                if seen.insert(user) {
                    note_uses(user, uses, seen)?;
                }
            }
            Opcode::LLVMLoad => {
                uses.insert(user);
            }
            Opcode::LLVMStore if user.operand(0) != address => {
                uses.insert(user);
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg if user.operand(0) == address => {
                let operands = user.operands();
                if operands[1..].contains(&address) {
                    return None;
                }
                uses.insert(user);
            }
            // An address in shared memory as a number, for inline PTX.
            Opcode::LLVMPtrToInt | Opcode::LLVMTrunc => {
                if seen.insert(user) {
                    note_uses(user, uses, seen)?;
                }
            }
            Opcode::LLVMCall if copies_asynchronously(user) => {
                let arguments = user.call_arguments();
                if arguments[1..].contains(&address) {
                    return None;
                }
                uses.insert(user);
            }
            Opcode::LLVMCall if is_remark(user) => {}
            Opcode::LLVMCall if touches_at_once(user) => {
                uses.insert(user);
            }
            _ => return None,
        }
    }
    Some(())
}

/// Whether a call begins a copy that its thread must wait for, to the place that its first argument names.
fn copies_asynchronously(at: Value) -> bool {
    const NAMES: [&str; 2] = ["cp.async.ca.shared", "cp.async.cg.shared"];
    if at.opcode() != Some(Opcode::LLVMCall) {
        return false;
    }
    let text = match at.called().inline_assembly() {
        // The destination is the first operand, and nothing else is in the template.
        Some((template, _)) if template.contains("[$0]") && !template.contains('{') => template,
        Some(_) => return false,
        None => match at.called_name() {
            Some(name) => name.replacen("llvm.nvvm.", "", 1),
            None => return false,
        },
    };
    let instruction = text.trim();
    let alone = instruction.matches(';').count() <= 1;
    alone && NAMES.iter().any(|name| instruction.starts_with(name))
}

/// Where a copy that has begun is complete at last: the first waits for all copies on the ways from it, and the
/// ends of the kernel that are reached without.
fn ends_of_copy<'ctx>(flow: &ControlFlow<'ctx>, copy: Value<'ctx>) -> Vec<Value<'ctx>> {
    let waits = |at: &Value| {
        at.opcode() == Some(Opcode::LLVMRet)
            || at.opcode() == Some(Opcode::LLVMCall)
                && at.called_name().is_some_and(|name| name == WAIT_FOR_COPIES)
    };
    flow.until(copy, waits)
}

/// A call that is done with the memory that its pointers lead to when it returns, and keeps none.
fn touches_at_once(call: Value) -> bool {
    const NAMES: [&str; 5] = [
        "llvm.memcpy.",
        "llvm.memmove.",
        "llvm.memset.",
        "llvm.nvvm.wmma.",
        "llvm.nvvm.ldmatrix.",
    ];
    let name = call.called_name();
    name.is_some_and(|name| NAMES.iter().any(|known| name.starts_with(known)))
}

/// When the variables of a kernel are in use.
struct Lifetimes<'a, 'ctx> {
    flow: &'a ControlFlow<'ctx>,
    variables: &'a [Variable<'ctx>],
    spans: HashMap<Value<'ctx>, Span>,
}

/// Where an instruction may stand among the barriers.
#[derive(Default)]
struct Span {
    /// The barriers that may be the last one before it, or the kernel's beginning.
    since: HashSet<usize>,
    /// The barriers that may be the next one, or the kernel's end.
    until: HashSet<usize>,
}

impl<'a, 'ctx> Lifetimes<'a, 'ctx> {
    fn of(flow: &'a ControlFlow<'ctx>, variables: &'a [Variable<'ctx>]) -> Self {
        let uses = variables.iter().flat_map(|variable| &variable.uses);
        let mut spans: HashMap<Value, Span> = uses.map(|at| (*at, Span::default())).collect();
        let mut note = |found: Vec<Value<'ctx>>, number: usize, since: bool| {
            for at in found {
                if let Some(span) = spans.get_mut(&at) {
                    match since {
                        true => span.since.insert(number),
                        false => span.until.insert(number),
                    };
                }
            }
        };
        note(flow.until_first_barrier(), 0, true);
        for at in flow.instructions() {
            if at.opcode() == Some(Opcode::LLVMRet) {
                note(flow.since_barrier(at), 0, false);
            }
        }
        let barriers = flow.instructions().filter(|at| is_barrier(*at));
        for (number, barrier) in barriers.enumerate() {
            note(flow.until_barrier(barrier), number + 1, true);
            note(flow.since_barrier(barrier), number + 1, false);
        }
        Self {
            flow,
            variables,
            spans,
        }
    }

    fn one_by_one(&self, one: usize, other: usize) -> bool {
        let uses = |variable: usize| self.variables[variable].uses.iter();
        let comes_to = |from: usize, to: usize| {
            let later = self.flow.reached_from(&self.variables[from].uses);
            uses(to).any(|at| later.contains(at))
        };
        let meet = |one: &Value, other: &Value| {
            let (one, other) = (&self.spans[one], &self.spans[other]);
            !one.since.is_disjoint(&other.since) && !one.until.is_disjoint(&other.until)
        };
        let comes_back = comes_to(one, other) && comes_to(other, one);
        !comes_back && !uses(one).any(|at| uses(other).any(|with| meet(at, with)))
    }
}

/// Whether no block uses both of two variables.
fn in_other_blocks<'ctx>(
    flow: &ControlFlow<'ctx>,
    one: &Variable<'ctx>,
    other: &Variable<'ctx>,
) -> bool {
    let uses = |variable: &Variable<'ctx>| -> HashSet<Block<'ctx>> {
        variable.uses.iter().map(|at| at.block()).collect()
    };
    let (one, other) = (uses(one), uses(other));
    flow.blocks().any(|branch| {
        let targets = branch.successors();
        let [first, second] = targets[..] else {
            return false;
        };
        let condition = branch.terminator().and_then(Value::branch_condition);
        let whole = condition.is_some_and(|condition| is_of_block(condition, MOST_OPERANDS));
        let leads = |to: Block, uses: &HashSet<Block>| {
            let mut from = flow.predecessors(to).iter().filter(|from| **from != branch);
            uses.iter().all(|at| flow.dominates(to, *at))
                && from.all(|from| flow.dominates(to, *from))
        };
        whole
            && first != second
            && !flow.repeats(branch)
            && (leads(first, &one) && leads(second, &other)
                || leads(first, &other) && leads(second, &one))
    })
}

/// Whether a value is the same in all threads of a block: made of its number, the grid and what the launch
/// gives to the kernel.
fn is_of_block(value: Value, depth: usize) -> bool {
    if !value.is_instruction() {
        return value.constant_integer().is_some() || value.is_parameter();
    }
    match value.opcode() {
        Some(Opcode::LLVMCall) => value.called_name().is_some_and(|name| {
            let register = name.strip_prefix("llvm.nvvm.read.ptx.sreg.");
            register.is_some_and(|name| name.starts_with("ctaid.") || name.starts_with("nctaid."))
        }),
        Some(
            Opcode::LLVMICmp
            | Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMAnd
            | Opcode::LLVMOr
            | Opcode::LLVMXor
            | Opcode::LLVMZExt
            | Opcode::LLVMSExt
            | Opcode::LLVMTrunc,
        ) => {
            let operands = value.operands();
            depth > 0
                && operands
                    .into_iter()
                    .all(|operand| is_of_block(operand, depth - 1))
        }
        _ => false,
    }
}

/// The condition of a branch by the block's number is made of few operations.
const MOST_OPERANDS: usize = 6;

/// Variables that some block may use together, in one list each.
fn partitions_of(variables: usize, beside: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut partitions: Vec<Vec<usize>> = Vec::new();
    for variable in 0..variables {
        let (own, others): (Vec<_>, Vec<_>) = partitions
            .into_iter()
            .partition(|partition| partition.iter().any(|other| !beside(*other, variable)));
        partitions = others;
        let mut partition = own.concat();
        partition.push(variable);
        partition.sort_unstable();
        partitions.push(partition);
    }
    partitions
}

/// Storage that serves for each of several layouts, of which a block uses one. The largest stand on top of each
/// other, so that what was disjoint stays so, unless one after the other in one storage takes less.
fn on_top_of_each_other(mut layouts: Vec<Vec<Storage>>) -> Vec<Storage> {
    if layouts.len() == 1 {
        return layouts.remove(0);
    }
    let mut paired: Vec<Storage> = Vec::new();
    let mut most = 0;
    for layout in &mut layouts {
        layout.sort_by_key(|storage| std::cmp::Reverse(storage.bytes));
        for (number, storage) in layout.iter().enumerate() {
            match paired.get_mut(number) {
                Some(known) => known.take_in(storage, 0),
                None => paired.push(storage.clone()),
            }
        }
        most = most.max(one_after_the_other(layout).bytes);
    }
    let bytes: u64 = paired.iter().map(|storage| storage.bytes).sum();
    if bytes <= most {
        return paired;
    }
    let mut layouts = layouts.iter().map(|layout| one_after_the_other(layout));
    let mut storage = layouts.next().unwrap_or_default();
    layouts.for_each(|layout| storage.take_in(&layout, 0));
    vec![storage]
}

fn one_after_the_other(layout: &[Storage]) -> Storage {
    let mut whole = Storage::default();
    for storage in layout {
        let offset = whole
            .bytes
            .next_multiple_of(u64::from(storage.alignment.max(1)));
        whole.take_in(storage, offset);
    }
    whole
}

/// Whether the verifier finds, too, that these can begin at the same byte.
fn is_confirmed(model: &KernelModel, variables: &[&Variable]) -> bool {
    let places: Vec<SharedPlace> = variables
        .iter()
        .map(|variable| variable.place(0, 0))
        .collect();
    shared_memory_reuse_conflict(model, &places).is_none()
}

/// Memory for variables.
#[derive(Clone, Default)]
struct Storage {
    bytes: u64,
    alignment: u32,
    /// With the first byte of each.
    variables: Vec<(usize, u64)>,
}

/// Places for the variables of `order`: at one begin only such that are disjoint. Where pieces of the storage of a large
/// one can hold several small ones, these stand beside each other there.
fn storages(
    variables: &[Variable],
    mut order: Vec<usize>,
    disjoint: impl Fn(usize, usize) -> bool,
) -> Vec<Storage> {
    order.sort_by_key(|index| std::cmp::Reverse(variables[*index].bytes));
    let mut found: Vec<Storage> = Vec::new();
    for index in order {
        let variable = &variables[index];
        let fitting = found.iter_mut().find_map(|storage| {
            let offset = storage.free_offset(index, variables, &disjoint)?;
            Some((storage, offset))
        });
        match fitting {
            Some((storage, offset)) => {
                storage.alignment = storage.alignment.max(variable.alignment);
                storage.variables.push((index, offset));
            }
            None => found.push(Storage {
                bytes: variable.bytes,
                alignment: variable.alignment,
                variables: vec![(index, 0)],
            }),
        }
    }
    found
}

impl Storage {
    /// The first place at which a variable does not meet those in use at the same time; `None` when it
    /// does not fit, or would stand there alone.
    fn free_offset(
        &self,
        index: usize,
        variables: &[Variable],
        disjoint: &impl Fn(usize, usize) -> bool,
    ) -> Option<u64> {
        let variable = &variables[index];
        let end = |(other, offset): &(usize, u64)| offset + variables[*other].bytes;
        let in_use: Vec<&(usize, u64)> = self
            .variables
            .iter()
            .filter(|(other, _)| !disjoint(index, *other))
            .collect();
        let ends = in_use.iter().map(|other| end(other));
        let mut candidates: Vec<u64> = std::iter::once(0)
            .chain(ends)
            .map(|offset| offset.next_multiple_of(u64::from(variable.alignment)))
            .collect();
        candidates.sort_unstable();
        candidates.into_iter().find(|offset| {
            let free =
                |other: &&(usize, u64)| end(other) <= *offset || offset + variable.bytes <= other.1;
            offset + variable.bytes <= self.bytes && in_use.iter().all(free)
        })
    }

    /// Puts another one's variables here, too.
    fn take_in(&mut self, other: &Self, offset: u64) {
        self.bytes = self.bytes.max(offset + other.bytes);
        self.alignment = self.alignment.max(other.alignment);
        let variables = other.variables.iter();
        self.variables
            .extend(variables.map(|(index, own)| (*index, offset + own)));
    }

    fn carry_out(&self, module: &Module, variables: &[Variable], name: &str) {
        let ty = Type::integer(module, 8).array(self.bytes);
        let storage = Value::add_global(module, name, ty, SHARED_ADDRESS_SPACE);
        storage.set_linkage(Linkage::LLVMInternalLinkage);
        storage.set_initializer(Some(ty.poison()));
        storage.set_alignment(self.alignment);
        for (index, offset) in &self.variables {
            let global = variables[*index].global;
            global.replace_uses_with(storage.constant_offset(module, *offset));
            global.delete_global();
        }
    }
}

/// Waits for all asynchronous copies of the calling thread.
pub(in crate::codegen) const WAIT_FOR_COPIES: &str = "llvm.nvvm.cp.async.wait.all";
/// Static shared memory of a block.
pub(in crate::codegen::fused_kernels::fuse) const MOST_SHARED_BYTES: u64 = 48 * 1024;
const SHARED_ADDRESS_SPACE: u32 = 3;
