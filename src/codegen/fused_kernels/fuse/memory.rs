//! What the instructions of a fused kernel do to memory, and which of them may touch a common byte.
//!
//! Invariant: what is not known is [`Effect::Unknown`] or [`Root::Unknown`], which may be anything.
//!
//! The passes that ask this are below: what is kept in registers or shared memory, and what is not stored.

pub(super) mod aliasing;
pub(super) mod between_iterations;
pub(super) mod block_values;
pub(super) mod buffer_promotion;
pub(super) mod dead_stores;
pub(super) mod distances;
pub(super) mod families;
pub(super) mod forwarding;
pub(super) mod guarded_values;
pub(super) mod rows;
pub(super) mod scopes;
pub(super) mod shared_memory_reuse;
pub(super) mod slot_costs;

use super::control_flow::is_barrier;
use crate::kernel::{ArgumentPointer, computes_from_operands};
use crate::launch::BEHIND_POINTER;
use crate::llvm::{FUNCTION_ATTRIBUTES, Opcode, Value};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

const SHARED_ADDRESS_SPACE: u32 = 3;

/// What the host program knows of a fused kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelFacts {
    /// By two pointers, those of the parameters and then those of [`Self::tables`]: what is reached through the one
    /// is never reached through the other.
    pub(super) disjoint: Vec<Vec<bool>>,
    /// Pointers that nobody changes while the kernel runs: so many bytes behind where which parameter leads.
    pub(super) tables: Vec<(usize, u32)>,
    /// Allocations that nobody reads after the kernel: the parameters of its specialisation key that lead there,
    /// and those that it has instead.
    pub(super) unread: Vec<(Vec<usize>, Vec<usize>)>,
    /// By parameter, whether it is an argument of a member's launch.
    pub(super) arguments: Vec<bool>,
    /// Extents of its blocks, where they are known.
    pub(super) block: [Option<u64>; 3],
    /// Extents that its grid does not exceed, where such are known.
    pub(super) grid: [Option<u64>; 3],
    /// Blocks of its largest member, where they are known.
    pub(super) blocks: Option<u64>,
    /// Bytes of static shared memory that its members have.
    pub(super) static_shared_bytes: u64,
    /// Bytes of dynamic shared memory that its members ask for at the most; `None` where only a run tells.
    pub(super) dynamic_shared_bytes: Option<u64>,
}

impl KernelFacts {
    /// Whether what is reached through the one pointer is never reached through the other, by the kernel's model.
    pub(super) fn are_disjoint(&self, one: ArgumentPointer, other: ArgumentPointer) -> bool {
        let pointer = |(argument, offset_bytes): ArgumentPointer| match offset_bytes {
            0 => Some(argument),
            _ => self.table((argument, offset_bytes.checked_sub(BEHIND_POINTER)?)),
        };
        let pair = pointer(one).zip(pointer(other));
        pair.is_some_and(|(one, other)| self.is_disjoint(one, other))
    }

    fn is_disjoint(&self, one: usize, other: usize) -> bool {
        let known = self.disjoint.get(one).and_then(|row| row.get(other));
        known == Some(&true)
    }

    /// The pointer that stands so many bytes behind where a parameter leads.
    fn table(&self, table: (usize, u32)) -> Option<usize> {
        let parameters = self.disjoint.len().checked_sub(self.tables.len())?;
        let at = self.tables.iter().position(|known| *known == table)?;
        Some(parameters + at)
    }
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect<'ctx> {
    /// Nothing that another thread could notice, and nothing that depends on one.
    Nothing,
    /// A plain load from this address.
    Load(Value<'ctx>),
    /// A plain store to this address.
    Store(Value<'ctx>),
    /// An atomic operation on this address.
    Atomic(Value<'ctx>),
    /// A barrier of the whole block.
    Barrier,
    /// Anything else.
    Unknown,
}

impl<'ctx> Effect<'ctx> {
    /// The effect of an instruction.
    pub(super) fn of(instruction: Value<'ctx>) -> Self {
        let plain = || !instruction.is_volatile() && !instruction.is_atomic();
        match instruction.opcode() {
            Some(Opcode::LLVMLoad) if plain() => Self::Load(instruction.operand(0)),
            Some(Opcode::LLVMStore) if plain() => Self::Store(instruction.operand(1)),
            Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg)
                if !instruction.is_volatile() =>
            {
                Self::Atomic(instruction.operand(0))
            }
            Some(Opcode::LLVMCall) if is_barrier(instruction) => Self::Barrier,
            Some(Opcode::LLVMCall) => match is_pure_call(instruction) || is_remark(instruction) {
                true => Self::Nothing,
                false => Self::Unknown,
            },
            Some(
                Opcode::LLVMLoad
                | Opcode::LLVMStore
                | Opcode::LLVMAtomicRMW
                | Opcode::LLVMAtomicCmpXchg
                | Opcode::LLVMFence
                | Opcode::LLVMInvoke
                | Opcode::LLVMCallBr
                | Opcode::LLVMVAArg,
            ) => Self::Unknown,
            _ => Self::Nothing,
        }
    }

    /// The address, for an access.
    pub(super) fn address(self) -> Option<Value<'ctx>> {
        match self {
            Self::Load(address) | Self::Store(address) | Self::Atomic(address) => Some(address),
            Self::Nothing | Self::Barrier | Self::Unknown => None,
        }
    }

    /// Whether memory may be changed.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Store(_) | Self::Atomic(_) | Self::Unknown)
    }
}

/// A call whose result depends on its arguments, or on which thread calls, alone.
pub(super) fn is_pure_call(call: Value) -> bool {
    if call.opcode() != Some(Opcode::LLVMCall) {
        return false;
    }
    let callee = call.called();
    if let Some((template, _)) = callee.inline_assembly() {
        // All of it is called as if threads had to be together.
        return !callee.assembly_has_effects() && computes_from_operands(&template);
    }
    callee.is_function()
        && callee.is_declaration()
        // The encoding of `memory(none)`.
        && callee.integer_attribute(FUNCTION_ATTRIBUTES, "memory") == Some(0)
        && !callee.has_attribute(FUNCTION_ATTRIBUTES, "convergent")
        && callee.has_attribute(FUNCTION_ATTRIBUTES, "willreturn")
}

/// A call that tells LLVM something and does nothing.
pub(super) fn is_remark(call: Value) -> bool {
    let name = call.called_name();
    let remarks = ["llvm.lifetime.", "llvm.assume", "llvm.dbg.", families::MARK];
    name.is_some_and(|name| remarks.iter().any(|remark| name.starts_with(remark)))
}

/// The instructions of a kernel as they stand in its text, ends of blocks left out.
pub(super) fn instructions_in_text(kernel: Value) -> Vec<Value> {
    let blocks = kernel.blocks().into_iter();
    let text = blocks.flat_map(|block| {
        let end = block.terminator();
        let instructions = block.instructions().into_iter();
        instructions.filter(move |at| Some(*at) != end)
    });
    text.collect()
}

/// By instruction, its [place](crate::kernel::Access::place): how many stand before it.
pub(super) fn places_of(kernel: Value) -> HashMap<Value, usize> {
    instructions_in_text(kernel).into_iter().zip(0..).collect()
}

/// What a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Root<'ctx> {
    /// A static shared variable.
    Shared(Value<'ctx>),
    /// Dynamic shared memory.
    DynamicShared,
    /// What the n-th pointer of [`KernelFacts::disjoint`] points into: that in the kernel's n-th parameter, or one that
    /// stands in a table.
    Parameter(usize),
    /// Memory of the thread itself.
    Private,
    /// Anything.
    Unknown,
}

impl<'ctx> Root<'ctx> {
    /// Where an address of a kernel comes from.
    pub(super) fn of(kernel: Value<'ctx>, address: Value<'ctx>) -> Self {
        let mut at = address;
        while let Some(opcode) = at.operation() {
            match opcode {
                Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => {
                    at = at.operand(0);
                }
                Opcode::LLVMAlloca => return Self::Private,
                _ => return Self::Unknown,
            }
        }
        if at.is_global_variable() {
            return match at.ty().address_space() == SHARED_ADDRESS_SPACE {
                true if at.is_declaration() => Self::DynamicShared,
                true => Self::Shared(at),
                false => Self::Unknown,
            };
        }
        let mut parameters = kernel.parameters().into_iter();
        match parameters.position(|parameter| parameter == at) {
            Some(index) if kernel.has_attribute(index as u32 + 1, "byval") => Self::Private,
            Some(index) => Self::Parameter(index),
            None => Self::Unknown,
        }
    }

    /// Where an address of a kernel comes from, by way of tables, too.
    pub(super) fn through_tables(
        module: &Module<'ctx>,
        kernel: Value<'ctx>,
        facts: &KernelFacts,
        address: Value<'ctx>,
    ) -> Self {
        match Self::of(kernel, address) {
            Self::Unknown => {}
            known => return known,
        }
        let led = || {
            let (load, _) = base_of(module, address);
            if !load.is_instruction() {
                return None;
            }
            let Effect::Load(address) = Effect::of(load) else {
                return None;
            };
            let (table, distance_bytes) = base_of(module, address);
            let parameter = kernel
                .parameters()
                .into_iter()
                .position(|own| own == table)?;
            facts.table((parameter, u32::try_from(distance_bytes?).ok()?))
        };
        led().map_or(Self::Unknown, Self::Parameter)
    }

    /// Whether two threads of a block could reach a common byte through the two. Pointers that the
    /// host passes never lead to shared memory.
    pub(super) fn may_share(self, other: Self, facts: &KernelFacts) -> bool {
        match (self, other) {
            (Self::Private, _) | (_, Self::Private) => false,
            (Self::Unknown, _) | (_, Self::Unknown) => true,
            (Self::Parameter(one), Self::Parameter(other)) => {
                one == other || !facts.is_disjoint(one, other)
            }
            (Self::Parameter(_), _) | (_, Self::Parameter(_)) => false,
            (one, other) => one == other,
        }
    }
}

/// What an address is computed from, and how many bytes behind that it is where that is a constant.
pub(super) fn base_of<'ctx>(
    module: &Module<'ctx>,
    address: Value<'ctx>,
) -> (Value<'ctx>, Option<i64>) {
    let (mut at, mut distance_bytes) = (address, Some(0_i64));
    while at.is_instruction() {
        match at.opcode() {
            Some(Opcode::LLVMGetElementPtr) => {
                let own = at.constant_distance(module);
                let sum = distance_bytes.zip(own);
                distance_bytes = sum.and_then(|(one, other)| one.checked_add(other));
            }
            Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => {}
            _ => break,
        }
        at = at.operand(0);
    }
    (at, distance_bytes)
}

/// Whether two values are equal wherever both are known: one value, or made alike from equal ones
/// without looking at memory.
pub(super) fn made_alike(one: Value, other: Value) -> bool {
    compare(one, other, &mut HashMap::new())
}

fn compare<'ctx>(
    one: Value<'ctx>,
    other: Value<'ctx>,
    known: &mut HashMap<(Value<'ctx>, Value<'ctx>), bool>,
) -> bool {
    if one == other {
        return true;
    }
    if !one.is_instruction() || !other.is_instruction() || one.ty() != other.ty() {
        return false;
    }
    if let Some(answer) = known.get(&(one, other)) {
        return *answer;
    }
    let (opcode, operands, others) = (one.opcode(), one.operands(), other.operands());
    let same_kind = opcode == other.opcode()
        && match opcode {
            Some(Opcode::LLVMICmp) => one.integer_predicate() == other.integer_predicate(),
            Some(Opcode::LLVMGetElementPtr) => {
                one.element_pointer_source_type() == other.element_pointer_source_type()
            }
            // The callee is an operand.
            Some(Opcode::LLVMCall) => is_pure_call(one),
            _ => is_computation(one),
        };
    let answer = same_kind
        && operands.len() == others.len()
        && operands
            .into_iter()
            .zip(others)
            .all(|(one, other)| compare(one, other, known));
    known.insert((one, other), answer);
    answer
}

/// Whether an instruction computes a number from its operands alone.
pub(super) fn is_computation(instruction: Value) -> bool {
    (instruction.opcode()).is_some_and(|opcode| COMPUTES.contains(&opcode))
}

/// Whether a value is the same for all threads of a block, whenever they look: made without memory
/// from constants, parameters and registers of the block.
pub(super) fn is_uniform(value: Value) -> bool {
    let mut seen = HashSet::new();
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        // Others are constants, the addresses of variables, and parameters.
        if !value.is_instruction() || !seen.insert(value) {
            continue;
        }
        match value.opcode() {
            Some(Opcode::LLVMCall) if reads_block_register(value) => {}
            Some(Opcode::LLVMGetElementPtr) => work.extend(value.operands()),
            _ if is_computation(value) => work.extend(value.operands()),
            _ => return false,
        }
    }
    true
}

/// Reads a register that all threads of a block find the same.
fn reads_block_register(call: Value) -> bool {
    let name = call.called_name();
    let register = name
        .as_deref()
        .and_then(|name| name.strip_prefix("llvm.nvvm.read.ptx.sreg."));
    register.is_some_and(|register| {
        ["ntid.", "ctaid.", "nctaid."]
            .iter()
            .any(|each| register.starts_with(each))
    })
}

/// Instructions whose result depends on their operands alone.
const COMPUTES: [Opcode; 34] = [
    Opcode::LLVMAdd,
    Opcode::LLVMSub,
    Opcode::LLVMMul,
    Opcode::LLVMUDiv,
    Opcode::LLVMSDiv,
    Opcode::LLVMURem,
    Opcode::LLVMSRem,
    Opcode::LLVMShl,
    Opcode::LLVMLShr,
    Opcode::LLVMAShr,
    Opcode::LLVMAnd,
    Opcode::LLVMOr,
    Opcode::LLVMXor,
    Opcode::LLVMTrunc,
    Opcode::LLVMZExt,
    Opcode::LLVMSExt,
    Opcode::LLVMSelect,
    Opcode::LLVMBitCast,
    Opcode::LLVMAddrSpaceCast,
    Opcode::LLVMFNeg,
    Opcode::LLVMFAdd,
    Opcode::LLVMFSub,
    Opcode::LLVMFMul,
    Opcode::LLVMFDiv,
    Opcode::LLVMFRem,
    Opcode::LLVMFPTrunc,
    Opcode::LLVMFPExt,
    Opcode::LLVMFPToSI,
    Opcode::LLVMFPToUI,
    Opcode::LLVMSIToFP,
    Opcode::LLVMUIToFP,
    Opcode::LLVMExtractElement,
    Opcode::LLVMInsertElement,
    Opcode::LLVMICmp,
];
